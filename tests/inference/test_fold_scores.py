"""Scores of folds are read in one way or refused: arrays, what scikit-learn returns, splitters."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

from foldshift.inference._fold_scores import fold_scores
from foldshift.partition.splitters.regression_splitters import RepeatedContinuousStratifiedKFold

TREE = DecisionTreeClassifier(max_depth=1, random_state=0)


@pytest.mark.parametrize(
    ("cv", "shape", "overlap"),
    [
        (10, (1, 10), 1 / 9),
        (KFold(4), (1, 4), 1 / 3),
        (StratifiedKFold(4), (1, 4), 1 / 3),
        (GroupKFold(3), (1, 3), 1 / 2),
        (RepeatedKFold(n_splits=5, n_repeats=2), (2, 5), 1 / 4),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=5), (5, 2), 1),
        (RepeatedContinuousStratifiedKFold(3, 4), (4, 3), 1 / 2),
        (PredefinedSplit([0, 1, 2, 0, 1, 2]), (1, 3), 1 / 2),
        (LeaveOneOut(), (1, 12), 1 / 11),
        (ShuffleSplit(6), (6, 1), 1 / 9),
        (ShuffleSplit(6, train_size=0.6), (6, 1), 2 / 3),
        (ShuffleSplit(6, test_size=20, train_size=50), (6, 1), 0.4),
        (ShuffleSplit(6, test_size=20), (6, 1), None),
        (ShuffleSplit(6, test_size=0.2, train_size=50), (6, 1), None),
        (GroupShuffleSplit(6), (6, 1), 1 / 4),
        (list(RepeatedKFold(n_splits=3, n_repeats=2).split(np.zeros(30))), (2, 3), 1 / 2),
        (list(ShuffleSplit(4, test_size=0.25, random_state=0).split(np.zeros(40))), (4, 1), 1 / 3),
        ([(np.arange(10) >= 5, np.arange(10) < 5), (np.arange(10) < 5, np.arange(10) >= 5)], (1, 2), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_splitter_says_what_flat_scores_are(cv, shape, overlap):
    values = np.arange(np.prod(shape), dtype=float)
    read = fold_scores(values, cv=cv)
    assert np.array_equal(read.scores, values.reshape(shape))
    assert read.overlap == pytest.approx(overlap)
    assert np.array_equal(fold_scores(values.reshape(shape), cv=cv).scores, read.scores)


def test_what_scikit_learn_returns_is_read_in_its_own_order():
    X, y = load_iris(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=1)
    flat = cross_val_score(TREE, X, y, cv=cv)
    one = cross_validate(TREE, X, y, cv=cv)
    several = cross_validate(TREE, X, y, cv=cv, scoring=["accuracy", "f1_macro"], return_train_score=True)
    for read in (
        fold_scores(flat, cv=cv),
        fold_scores(one, cv=cv),
        fold_scores(one, n_splits=5),
        fold_scores(several, n_repeats=3, metric="accuracy"),
        fold_scores(pd.DataFrame(several), n_splits=5, n_repeats=3, metric="test_accuracy"),
        fold_scores(pd.Series(flat), cv=list(cv.split(X, y))),
    ):
        assert np.array_equal(read.scores, flat.reshape(3, 5)) and read.overlap == 0.25
    again = fold_scores(several, cv=cv, metric="f1_macro").scores
    assert np.array_equal(again.ravel(), several["test_f1_macro"])


def test_what_cannot_be_misread_needs_no_splitter():
    assert fold_scores(np.ones(7)).scores.shape == (1, 7)
    assert fold_scores(np.ones((3, 4))).overlap == 1 / 3
    assert fold_scores(np.ones(10), n_train=89.5, n_test=10).scores.shape == (1, 10)
    assert fold_scores(np.ones(6), n_splits=1, n_train=2, n_test=1)[1] == 0.5
    assert fold_scores([[0.5], [0.6]]).overlap is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fold_scores(np.ones(100), name="scores_a"), r"^scores_a has 100 scores in a row: 100 folds .* n_repeats=$"),
        (lambda: fold_scores(np.ones(10)), "10 folds of one partition, or 5 x 2, 2 x 5 repetitions x folds"),
        (lambda: fold_scores(np.ones(10), n_train=50, n_test=50), "10 scores in a row"),
        (lambda: fold_scores(np.ones((5, 10)), cv=RepeatedKFold(n_splits=5)), r"other way round: pass scores.T"),
        (lambda: fold_scores(np.ones((5, 10)), n_splits=5), r"\(5, 10\), but n_splits=5 makes \(r, 5\)"),
        (lambda: fold_scores(np.ones((1, 100)), cv=RepeatedKFold(n_splits=10)), r"makes \(10, 10\), repetitions by folds$"),
        (lambda: fold_scores(np.ones(100), cv=10), "has 100 scores, but cv=10 makes 10"),
        (lambda: fold_scores(np.ones(9), n_repeats=2), "9 scores, which n_repeats=2 does not divide"),
        (lambda: fold_scores(np.ones(9), cv=3, n_splits=3), "cv= already says"),
        (lambda: fold_scores(np.ones(9), cv=1), "cv=1 must be 2 folds or more"),
        (lambda: fold_scores(np.ones(9), cv="ten"), "got a str"),
        (lambda: fold_scores(np.ones(9), cv=iter(())), "a generator that was used"),
        (lambda: fold_scores(np.ones(9), cv=TimeSeriesSplit(9)), "cv=TimeSeriesSplit has test parts that are not k folds"),
        (lambda: fold_scores(np.ones(9), cv=LeavePOut(2)), "cv=LeavePOut"),
        (lambda: fold_scores(np.ones(9), n_splits=2.5), "n_splits=2.5 must be a whole number"),
        (lambda: fold_scores(np.ones((2, 2)), n_train=5), "n_train=5 and n_test=None must both"),
        (lambda: fold_scores(np.ones((2, 2)), n_train=5, n_test=-1), "n_test=-1 must be a positive"),
        (lambda: fold_scores([[1, np.nan]]), r"1 NaN or infinite values, the first at \(0, 1\) \(a fit that failed"),
        (lambda: fold_scores([[1, 2], [3]]), "scores is a list that makes no array of one shape"),
        (lambda: fold_scores(["a", "b"]), "scores holds 'a', which is no number"),
        (lambda: fold_scores([]), r"shape \(0,\); expected"),
        (lambda: fold_scores(np.ones((2, 2, 2))), r"shape \(2, 2, 2\); expected"),
        (lambda: fold_scores({"fit_time": [1]}), "no key that begins with 'test_'"),
        (lambda: fold_scores({"test_a": [1], "test_b": [2]}), "several metrics; say which with metric=, one of 'a', 'b'"),
        (lambda: fold_scores({"test_a": [1]}, metric="b"), "metric='b' is not in scores; it has 'a'"),
        (lambda: fold_scores([1], metric="b"), "metric='b' is for what cross_validate returns"),
    ],
)
def test_bad_input_is_told_in_one_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
