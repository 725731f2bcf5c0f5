"""Splits as masks: the same parts as the splitter gives, and folds where an array of folds can say them."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, PredefinedSplit, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from foldshift.partition import SpatialBlockKFold, as_folds, as_splits, make_folds

X = np.random.default_rng(0).random((24, 2))
SPLITTERS = [
    KFold(4),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ShuffleSplit(3, random_state=0),
    TimeSeriesSplit(3),
    LeaveOneOut(),
    PredefinedSplit(np.repeat([-1, 0, 1], 8)),
    SpatialBlockKFold(3, block_size=0.2, buffer=0.05, random_state=0),
]


def groups_for(cv):
    return X if isinstance(cv, SpatialBlockKFold) else None


@pytest.mark.parametrize("cv", SPLITTERS)
def test_masks_are_the_parts_that_the_splitter_gives(cv):
    splits = as_splits(cv, X, groups=groups_for(cv))
    for train, test, (rows, held) in zip(splits.train, splits.test, cv.split(X, groups=groups_for(cv)), strict=True):
        assert np.flatnonzero(train).tolist() == sorted(rows) and np.flatnonzero(test).tolist() == sorted(held)
    for repeat in range(splits.repeat.max() + 1):
        of_it = splits.repeat == repeat
        assert splits.test[of_it].sum(axis=0).max() == 1 and splits.fold[of_it].tolist() == list(range(of_it.sum()))


@pytest.mark.parametrize("cv", SPLITTERS)
def test_folds_are_those_of_as_folds_or_none(cv):
    splits = as_splits(cv, X, groups=groups_for(cv))
    try:
        expected = as_folds(cv, X, groups=groups_for(cv))
    except ValueError as error:
        assert "as_splits" in str(error) and splits.folds is None
    else:
        assert (splits.folds == expected).all()


def test_an_array_of_folds_and_pairs_are_splits_too():
    folds = make_folds("CV", X, None, 4, seeds=range(3))
    splits = as_splits(folds, X)
    assert (splits.folds == folds).all() and splits.repeat.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    listed = as_splits(folds.tolist(), X)
    assert all((a == b).all() for a, b in zip(splits, listed))
    pairs = list(TimeSeriesSplit(3).split(X))
    for given in (pairs, iter(pairs), [(train.tolist(), test.tolist()) for train, test in pairs]):
        assert (as_splits(given, X).train.sum(axis=1) == [6, 12, 18]).all()
    untested = as_splits(np.repeat([-1, 0, 1], 8), X)
    assert untested.test.sum() == 16 and untested.train[:, :8].all()


@pytest.mark.parametrize("wrong", [[], np.zeros((2, 3)), [(np.arange(4), np.arange(4))], [([0, 1], [30])], "KFold", None, 5])
def test_what_is_no_splits_is_refused(wrong):
    with pytest.raises(ValueError, match=r"folds|row|test part|expected"):
        as_splits(wrong, X)
