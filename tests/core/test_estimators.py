"""Estimators of any kind: those that predict no target are refused."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldshift.core.estimators import check_predictor, title_in_full
from foldshift.inference import bootstrap_632plus, coverage_audit


class Fits:
    """Fits, and cannot be copied."""

    def fit(self, X, y):
        return self


class Named(LogisticRegression):
    """Estimator whose inner one is a parameter, or absent."""

    def __init__(self, estimator=None):
        super().__init__()
        self.estimator = estimator


@pytest.mark.parametrize(
    "inner, title", [(None, "Named"), ("ridge", "Named"), (LogisticRegression(), "Named of LogisticRegression")]
)
def test_the_full_title_names_an_inner_learner_that_is_one(inner, title):
    assert title_in_full(Named(inner)) == title


def test_a_forest_is_not_said_to_be_of_the_trees_that_nobody_chose():
    assert title_in_full(RandomForestClassifier()) == "RandomForestClassifier"


REFUSED = {
    "a class": (LogisticRegression, "estimator is the class LogisticRegression; give an instance, LogisticRegression()"),
    "a name": ("ridge", "estimator is 'ridge', which has no fit"),
    "none": (None, "estimator is None, which has no fit"),
    "no copy": (Fits(), "estimator: Fits cannot be copied for every fold"),
    "clusterer": (KMeans(), "estimator: KMeans is a clusterer, which predicts no target"),
    "outliers": (IsolationForest(), "estimator: IsolationForest is a detector of outliers"),
    "in a pipeline": (make_pipeline(StandardScaler(), KMeans()), "estimator: KMeans is a clusterer"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_predicts_no_target_is_refused_in_one_line(case):
    estimator, words = REFUSED[case]
    with pytest.raises(ValueError) as told:
        check_predictor(estimator)
    assert str(told.value).startswith(words) and "\n" not in str(told.value)


def test_classifiers_and_pipelines_of_them_pass():
    check_predictor(LogisticRegression())
    check_predictor(make_pipeline(StandardScaler(), LogisticRegression()))


def test_numbers_of_clusters_are_not_scored_as_predictions():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match="KMeans is a clusterer"):
        bootstrap_632plus(KMeans(2), X, y, rng=0)
    with pytest.raises(ValueError, match="KMeans is a clusterer"):
        coverage_audit(lambda rng: (X, y, X, y), KMeans(2), rng=0)
