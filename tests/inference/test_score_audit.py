"""Audit of intervals of any score, and comparison of learners on data: by rows where a score allows it, else by folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from foldshift.core.errors import DataError, LearnerError
from foldshift.inference import compare, coverage_audit, nadeau_bengio, score_difference_interval
from foldshift.inference.comparisons.compare_estimators import POOLED_TEST
from foldshift.inference.fit_predictions import COST
from foldshift.inference.simulation.score_audit import POOLED


def draw(rng):
    y = (rng.random(500) < 0.3).astype(int)
    X = rng.standard_normal((500, 2)) + y[:, None]
    return X[:80], y[:80], X[80:], y[80:]


def own_scorer(model, X, y):
    return f1_score(y, model.predict(X))


RNG = np.random.default_rng(0)
Y = (RNG.random(90) < 0.4).astype(int)
X = RNG.standard_normal((90, 3)) + Y[:, None]


def test_a_named_score_is_audited_by_rows_and_by_folds():
    audit = coverage_audit(draw, GaussianNB(), n_folds=5, n_replicates=12, metric="f1", rng=0)
    assert [row.interval for row in audit.rows[:2]] == [POOLED, "Nadeau-Bengio"] and audit.metric == "f1"
    assert all(row.n == 12 and 0.4 < row.truth < 0.9 for row in audit.rows) and audit.rows[2].coverage >= 0.75
    again = coverage_audit(draw, GaussianNB(), n_folds=5, n_replicates=12, metric="f1", rng=0)
    assert again == audit and "true f1" in str(audit)


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss", "accuracy"])
def test_scores_of_ranks_and_probabilities_are_audited(metric):
    audit = coverage_audit(draw, LogisticRegression(), n_folds=5, n_replicates=3, n_repetitions=2, metric=metric, rng=1)
    assert all(np.isfinite(row.width) and row.n == 3 for row in audit.rows)


def test_a_scorer_of_the_users_own_rests_on_folds_and_the_cost_is_said():
    audit = coverage_audit(draw, GaussianNB(), n_folds=5, n_replicates=3, metric=own_scorer, rng=0)
    assert {row.interval for row in audit.rows} == {"Nadeau-Bengio"} and "rests on the scores of the folds" in str(audit)


def test_the_error_is_audited_as_before():
    audit = coverage_audit(draw, GaussianNB(), n_folds=5, n_replicates=3, rng=0)
    assert audit.metric == "error" and not audit.notes and "true error" in str(audit)


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (Ridge(), {"metric": "f1"}, "Ridge is a regressor"),
        (GaussianNB(), {"metric": "r2"}, "GaussianNB is a classifier"),
        (GaussianNB(), {"metric": "f2"}, "unknown metric 'f2'"),
        (GaussianNB(), {"metric": "f1", "n_nested": 2}, "n_nested=2"),
    ],
)
def test_mistakes_of_an_audit_are_refused(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        coverage_audit(draw, estimator, n_replicates=3, rng=0, **options)


def test_the_cost_is_that_of_the_table(root):
    row = pd.read_csv(root / "validation" / "tables" / "score_intervals.csv").query("kind == 'rows' and score == 'f1'").iloc[0]
    assert {
        "pooled": round(row.coverage, 2), "folds": round(row.covered_before, 2), "times_as_wide": round(1 / row.width_ratio, 1),
    } == COST  # fmt: skip


def test_learners_are_compared_on_data_by_the_predictions_of_all_rows():
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    found = compare(GaussianNB(), LogisticRegression(), X=X, y=Y, cv=cv, metric="f1")
    assert found.names == ("GaussianNB", "LogisticRegression") and found.rows[0].test == POOLED_TEST and found.rows[0].applies
    predictions = np.empty((2, 2, len(Y)), dtype=int)
    scores = np.empty((2, 10))
    for place, (train, test) in enumerate(cv.split(X, Y)):
        for i, model in enumerate((GaussianNB(), LogisticRegression())):
            said = model.fit(X[train], Y[train]).predict(X[test])
            predictions[i, place // 5, test], scores[i, place] = said, f1_score(Y[test], said)
    expected = score_difference_interval(Y, *predictions, "f1")
    assert (found.rows[0].estimate, found.rows[0].low) == (expected.estimate, expected.low)
    t = nadeau_bengio((scores[0] - scores[1]).reshape(2, 5), 4, 1)
    assert found.row("Nadeau-Bengio corrected t").p_value == pytest.approx(t.p_value)


def test_own_scorers_and_hold_outs_have_folds_alone_and_say_so():
    own = compare(GaussianNB(), LogisticRegression(), X=X, y=Y, cv=5, metric=own_scorer)
    assert not own.row(POOLED_TEST).applies and "rests on the scores of the folds" in own.row(POOLED_TEST).reason
    cv = ShuffleSplit(6, random_state=0)
    held_out = compare(GaussianNB(), LogisticRegression(), X=X, y=Y, cv=cv, metric="accuracy")
    assert "tested once in each repetition" in held_out.row(POOLED_TEST).reason
    assert held_out.row("Nadeau-Bengio corrected t").applies


def test_groups_and_frames_and_equal_learners():
    groups = np.arange(90) // 6
    frame = pd.DataFrame(X, columns=list("abc"))
    found = compare(GaussianNB(), GaussianNB(), X=frame, y=pd.Series(Y), cv=GroupKFold(5), groups=groups, metric="roc_auc")
    assert found.names == ("GaussianNB (first)", "GaussianNB (second)") and found.rows[0].low < 0 < found.rows[0].high
    numbers = compare(Ridge(), Ridge(100.0), X=X, y=X[:, 0] + RNG.normal(size=90), cv=5)
    assert numbers.rows[0].applies and "root_mean_squared_error" in numbers.rows[0].reason


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no luck")


@pytest.mark.parametrize(
    ("models", "options", "error", "message"),
    [
        ((GaussianNB, GaussianNB()), {}, ValueError, "is the class GaussianNB"),
        ((GaussianNB(), [0.1, 0.2]), {}, ValueError, "no fit"),
        ((GaussianNB(), Ridge()), {"metric": "f1"}, DataError, "Ridge is a regressor"),
        ((GaussianNB(), Broken()), {}, LearnerError, "Broken could not be fitted: RuntimeError: no luck"),
        ((GaussianNB(), GaussianNB()), {"y": None}, DataError, "y is missing"),
        ((GaussianNB(), GaussianNB()), {"y": Y[:50]}, ValueError, "expected the same number"),
        ((GaussianNB(), GaussianNB()), {"groups": np.arange(90)}, DataError, "groups needs a splitter"),
        (
            (GaussianNB(), GaussianNB()),
            {"cv": StratifiedKFold(2).split(X[:4], [0, 1, 0, 1]), "y": None},
            DataError,
            "y is missing",
        ),
    ],
)
def test_mistakes_with_learners_are_refused(models, options, error, message):
    with pytest.raises(error, match=message):
        compare(*models, **({"X": X, "y": Y} | options))
