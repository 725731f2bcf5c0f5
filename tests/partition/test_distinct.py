"""Different partitions among repetitions are counted, and so are those that there can be."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn import model_selection as ms

from foldshift.partition import (
    RepeatedContinuousStratifiedKFold,
    RepeatedCovariateBalancedKFold,
    RepeatedSCV,
    as_folds,
    distinct_partitions,
    fold_fingerprints,
    make_folds,
)


def splits(n, sizes):
    """All partitions of n things into sets of these sizes, by trying every way."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return {frozenset(frozenset(np.flatnonzero(np.array(way) == k)) for k in set(way)) for way in itertools.permutations(labels)}


def test_fingerprints_see_partitions_and_not_numbers_of_folds():
    rng = np.random.default_rng(0)
    folds = rng.integers(0, 3, (200, 6))
    folds[:, 0] -= folds[:, 1] == 0  # some rows are never tested
    as_sets = [
        (frozenset(np.flatnonzero(row < 0)), frozenset(frozenset(np.flatnonzero(row == k)) for k in set(row) - {-1}))
        for row in folds
    ]
    found = fold_fingerprints(folds)
    for (a, one), (b, other) in itertools.combinations(zip(as_sets, found), 2):
        assert (a == b) == (one == other)
    assert fold_fingerprints(folds[0]) == found[:1] and fold_fingerprints(folds.astype(np.int16)) == found
    with pytest.raises(ValueError, match=r"folds hold 0\.5"):
        fold_fingerprints([0.5, 1, 0])


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3), (3, 2, 2), (1, 1, 1, 1), (4, 2)])
def test_possible_partitions_are_those_that_trying_all_finds(sizes):
    n = len(splits(sum(sizes), sizes))
    folds = np.repeat(np.arange(len(sizes)), sizes)
    assert distinct_partitions(folds).n_possible == n
    groups = np.repeat(np.arange(sum(sizes)), 3)
    assert distinct_partitions(np.repeat(folds, 3), groups=groups).n_possible == n
    assert distinct_partitions(np.repeat(folds, 3), groups=[f"g{one}" for one in groups]).n_possible == n


def test_possible_partitions_of_classes_that_folds_share_equally():
    folds, classes = np.tile([0, 1], 4), np.repeat([0, 1], 4)
    rows = splits(8, (4, 4))
    even = [one for one in rows if all(len(part & {0, 1, 2, 3}) == 2 for part in one)]
    assert distinct_partitions(folds, classes=classes).n_possible == len(even) == 18
    assert distinct_partitions(folds, classes=[0, 0, 0, 1, 1, 1, 1, 1]).n_possible is None
    assert distinct_partitions(np.arange(4), classes=[0, 0, 1, 1]).n_possible == 1
    assert distinct_partitions(folds, groups=[0, 0, 0, 1, 1, 2, 2, 2]).n_possible is None
    assert distinct_partitions([-1, 0, 1]).n_possible is None
    with pytest.raises(ValueError, match=r"groups has shape \(3,\); the folds have 8 samples"):
        distinct_partitions(folds, groups=[1, 2, 3])


@pytest.mark.parametrize(
    "cv",
    [
        ms.KFold(4),
        ms.GroupKFold(4),
        ms.StratifiedKFold(2),
        ms.LeaveOneOut(),
        ms.PredefinedSplit([0, 0, 1, 1] * 3),
        ms.LeaveOneGroupOut(),
    ],
    ids=repr,
)
def test_repetitions_of_cuts_without_chance_are_one_partition(cv):
    X, y, groups = np.zeros((12, 1)), np.tile([0, 1], 6), np.repeat(np.arange(6), 2)
    folds = np.concatenate([as_folds(cv, X, y, groups) for _ in range(10)])
    made = distinct_partitions(folds)
    assert (made.n_made, made.n_different, made.first) == (10, 1, (0,)) and made.are_one and not made.all_differ
    assert made.in_words().startswith("the same partition")
    if isinstance(cv, ms.LeaveOneOut):
        assert made.n_possible == 1 and made.in_words().endswith(", the only one there is")


def test_repeated_splitters_warn_of_equal_repetitions():
    X, y, groups = np.zeros((60, 1)), np.arange(60.0), np.repeat(np.arange(12), 5)
    cv = RepeatedCovariateBalancedKFold(n_splits=4, n_repeats=8, random_state=0)
    with pytest.warns(UserWarning, match="8 repetitions gave the same partition, one of the 15,400 that there are"):
        list(cv.split(X, y, groups))
    few = np.repeat([0, 1], 2)  # two ways to give each fold a row of each class
    with pytest.warns(UserWarning, match="9 repetitions gave 2 different partitions"):
        list(RepeatedSCV(n_splits=2, n_repeats=9, random_state=0).split(np.zeros((4, 1)), few))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(RepeatedContinuousStratifiedKFold(n_splits=4, n_repeats=8, random_state=0).split(X, y))


def test_cuts_of_few_groups_and_of_classes_of_k_rows_are_counted():
    groups = np.repeat(np.arange(12), 5)
    folds = make_folds("CB-CV", np.zeros((60, 1)), None, n_folds=4, seeds=range(8), groups=groups)
    made = distinct_partitions(folds, groups=groups)
    by_sets = {frozenset(frozenset(groups[row == fold]) for fold in range(4)) for row in folds}
    assert (made.n_possible, made.n_different) == (15_400, len(by_sets))
    y = np.repeat([0, 1], 3)  # three folds of one row of each class
    made = distinct_partitions(make_folds("SCV", None, y, n_folds=3, seeds=range(50)), classes=y)
    assert (made.n_different, made.n_possible) == (6, 6)
    assert distinct_partitions(make_folds("LOSO", np.zeros((60, 1)), None, seeds=range(3), groups=groups), groups=groups)[:3] == (
        3,
        1,
        1,
    )
