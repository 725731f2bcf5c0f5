"""Situations from public bug reports, by number: each gives the right value or says why it cannot."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

import foldshift.learners as learners
from foldshift import advise
from foldshift.inference import compare, critical_difference, friedman, mcnemar, recommend_repetitions
from foldshift.partition import (
    SCV,
    CovariateBalancedKFold,
    RepeatedContinuousStratifiedKFold,
    RepeatedCovariateBalancedKFold,
    make_folds,
)
from foldshift.shift import DriftReport

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)
SCORES = np.array([0.8, 0.82, 0.79, 0.85, 0.81] * 2)
OTHERS = SCORES + RNG.normal(0.02, 0.01, 10)
TRAIN = pd.DataFrame({"a": RNG.normal(size=80), "b": RNG.integers(0, 9, 80)})
TEST = pd.DataFrame({"a": RNG.normal(size=70), "b": RNG.integers(0, 9, 70)})
ODD = np.arange(70) % 2 == 1
CLASSIFIERS = [name for name in learners.__all__ if name.endswith("Classifier")]
REGRESSORS = [name for name in learners.__all__ if name.endswith("Regressor")]


def folds_of(splitter, x, y, groups=None):
    """Folds (n,) of a splitter."""
    folds = np.full(len(x), -1)
    for number, (_, test) in enumerate(splitter.split(x, y, groups)):
        folds[test] = number
    return folds


REFUSED = {
    "1 fewer groups than folds": (
        lambda: folds_of(CovariateBalancedKFold(5), X, Y, np.repeat([0, 1, 2, 3], 20)),
        "n_folds=5 is greater than the number of groups, 4",
    ),
    "6 a group without a name, pandas": (
        lambda: folds_of(CovariateBalancedKFold(2), X[:4], Y[:4], pd.array(["a", None, "b", "b"], dtype="string")),
        "1 of 4 rows .* have no group",
    ),
    "7 a group without a name, None": (
        lambda: folds_of(CovariateBalancedKFold(2), X[:4], Y[:4], ["a", None, "b", "b"]),
        "1 of 4 rows .* have no group",
    ),
    "8 more folds than rows of any class": (lambda: folds_of(SCV(6), X[:10], [0, 1] * 5), "n_splits=6 cannot be greater"),
    "9 a quantity for classes": (lambda: folds_of(SCV(2), X, X[:, 0]), "For a continuous target use ContinuousStratifiedKFold"),
    "10 one class": (lambda: advise(X, np.zeros(80, int)), "holds one class, 0; there is nothing to predict"),
    "12 more folds than rows": (
        lambda: make_folds("SCV", X[:9], Y[:9], n_folds=10, seeds=[0]),
        "n_folds=10 must be between 2 and the number of samples, 9",
    ),
    "16 no target": (
        lambda: folds_of(SCV(3), X[:10], pd.array([1, 0, 1, 0, None, 1, 0, 1, 0, 1], dtype="Int64")),
        "1 of 10 rows .* have no target",
    ),
    "17 two targets": (lambda: folds_of(SCV(3), X, np.c_[Y, 1 - Y]), "stratify on one output, such as"),
    "24 too few groups": (lambda: advise(X, Y, groups=Y[:50]), r"groups have shape \(50,\); expected"),
    "27 a metric beside an array": (
        lambda: compare(SCORES, SCORES - 0.01, design="folds", n_splits=10, n_repeats=1, metric="accuracy"),
        "is for what cross_validate returns",
    ),
    "28 scores of failed fits": (
        lambda: recommend_repetitions(np.where(np.arange(50).reshape(10, 5) == 7, np.nan, 0.5)),
        r"the first at \(1, 2\) \(a fit that failed\?\); leave that repetition out",
    ),
    "29 folds or repetitions": (lambda: compare(SCORES, OTHERS, design="folds"), "Say so with cv="),
    "32 a missing score": (
        lambda: friedman(np.where(np.arange(30).reshape(10, 3) == 4, np.nan, 1.0)),
        r"the first at \(1, 1\); leave that block or that method out",
    ),
    "47 an infinite input, drift": (
        lambda: DriftReport(TRAIN, TEST.assign(a=np.where(ODD, np.inf, TEST["a"]))),
        "column 'a' of the test table holds infinite values",
    ),
    "47 an infinite input, advice": (
        lambda: advise(np.where(np.arange(240).reshape(80, 3) == 3, np.inf, X), Y),
        "column 'feature 0' of X holds 1 infinite value, the first in row 2",
    ),
    "47 an infinite target, advice": (
        lambda: advise(X, pd.Series(np.r_[np.inf, X[1:, 0]], name="price")),
        "price is infinite in 1 of 80 rows, the first in row 1; drop them",
    ),
    "97 columns in another order": (
        lambda: (
            learners.C45Classifier().fit(pd.DataFrame(X, columns=list("abc")), Y).predict(pd.DataFrame(X, columns=list("bca")))
        ),
        "feature names should match",
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_cuts_of_few_rows_and_groups():
    four = np.repeat([0, 1, 2, 3], 20)
    assert all(
        np.bincount(folds_of(CovariateBalancedKFold(4, random_state=s), X, Y, four)).tolist() == [20] * 4 for s in range(9)
    )
    subjects = np.repeat(np.arange(31), 10)
    inputs, classes = RNG.normal(size=(310, 1)), subjects % 2
    for seed in range(5):
        folds = folds_of(CovariateBalancedKFold(10, random_state=seed), inputs, classes, subjects)
        assert all(0.3 < classes[folds == fold].mean() < 0.7 for fold in range(10))
    folds = folds_of(SCV(3), X[:10], [0] * 7 + [1] * 3)
    assert sorted(folds[7:]) == [0, 1, 2]
    for cut in ("CV", "SCV10", "TSCV", "CB-TSCV"):
        assert set(np.bincount(make_folds(cut, X[:17], X[:17, 0], n_folds=10, seeds=[0])[0])) == {1, 2}
    for n_folds, n_groups in ((10, 10), (15, 20)):
        folds = folds_of(CovariateBalancedKFold(n_folds), X, Y, np.repeat(np.arange(n_groups), 80 // n_groups))
        assert len(np.unique(folds)) == n_folds
    assert len(list(RepeatedContinuousStratifiedKFold(n_splits=5, n_repeats=1, random_state=0).split(X, X[:, 0]))) == 5


def test_repetitions_that_are_the_same_partition_are_said():
    splitter = RepeatedCovariateBalancedKFold(n_splits=4, n_repeats=8, random_state=0)
    with pytest.warns(UserWarning, match="8 repetitions gave the same partition"):
        list(splitter.split(np.ones((48, 1)), np.zeros(48), np.repeat(np.arange(12), 4)))


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string", "Float64"])
def test_targets_of_pandas_types_are_cut_as_plain_ones(kind):
    assert (folds_of(SCV(3, random_state=0), X, pd.Series(Y, dtype=kind)) == folds_of(SCV(3, random_state=0), X, Y)).all()


def test_comparisons_at_their_bounds():
    same = compare(SCORES, SCORES, design="folds", cv=KFold(10), n_train=72, n_test=8)
    assert "difference 0 [0, 0]" in str(same) and "all differences are the same, so p says" in " ".join(str(same).split())
    seeded, unseeded = (ShuffleSplit(10, test_size=0.25, random_state=seed) for seed in (0, None))
    assert "(1/10 + 0.3333)" in str(compare(SCORES, OTHERS, design="folds", cv=seeded))
    assert "different ones" in str(compare(SCORES, OTHERS, design="folds", cv=unseeded))
    assert compare({"A": SCORES, "B": OTHERS}, design="folds", n_splits=10, n_repeats=1).to_frame()["estimate"].iloc[0] < 0
    assert friedman(np.ones((10, 3))).to_frame()["p_value"].tolist() == [1, 1]
    assert mcnemar(Y, Y).p_value == 1
    ranks = critical_difference(pd.DataFrame({"z": np.arange(10.0), "a": np.arange(10.0) + 3, "m": np.arange(10.0) + 1}))
    assert "1 is best: a 1.00, m 2.00, z 3.00" in str(ranks)


DRIFT = {
    "37 a column without values": ({"c": np.nan}, {"c": np.nan}, "No shift found"),
    "38 whole numbers and floats": ({"b": TRAIN["b"]}, {"b": TEST["b"].astype(float)}, "No shift found"),
    "40 missing values appear": ({}, {"a": np.where(ODD, TEST["a"], np.nan)}, "a (missing) (missing: 0 % to 50 %)"),
    "41 a constant label": ({"c": "x"}, {"c": "x"}, "No shift found"),
    "42 two constants": ({"c": 5}, {"c": 6}, "c (5 in training, 6 in the test table)"),
    "43 a new category": ({"c": "p"}, {"c": np.where(ODD, "p", "q")}, "c ('p' from 100 % to 50 %)"),
    "44 predictions of 0 and 1": ({"c": np.arange(80) % 5 == 0}, {"c": np.arange(70) % 5 > 1}, "moved: c"),
    "45 sixty postcodes": (
        {"c": RNG.integers(1000, 1060, 80).astype(str)},
        {"c": RNG.integers(1000, 1060, 70).astype(str)},
        "No shift found",
    ),
    "46 dates": (
        {"d": pd.date_range("2020-01-01", periods=80)},
        {"d": pd.date_range("2020-01-01", periods=70)},
        "No shift found",
    ),
}


@pytest.mark.parametrize(("train", "test", "words"), DRIFT.values(), ids=DRIFT)
def test_drift_of_odd_columns(train, test, words):
    assert words in " ".join(DriftReport(TRAIN.assign(**train), TEST.assign(**test)).verdict.split())


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_take_one_column_few_values_one_target_and_one_row(name):
    learner = getattr(learners, name)
    for inputs, target in ((X[:, :1], X[:, 1]), (X.round(), X[:, 1]), (X, np.ones(80)), (X[:1], X[:1, 0])):
        assert np.isfinite(learner().fit(inputs, target).predict(inputs)).all()
    with pytest.raises(ValueError, match="NaN"):
        learner().fit(X, X[:, 0]).predict(np.where(X > 0, X, np.nan))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_take_one_class_one_row_and_inputs_far_away(name):
    learner = getattr(learners, name)
    assert set(learner().fit(X, np.ones(80)).predict(X)) == {1}
    assert set(learner().fit(X[:1], Y[:1]).predict(X)) == {Y[0]}
    fitted = learner().fit(X, Y)
    assert set(fitted.predict(X + 100)) <= {0, 1}
    if name != "NaiveBayesClassifier":
        with pytest.raises(ValueError, match="NaN"):
            fitted.predict(np.where(X > 0, X, np.nan))
