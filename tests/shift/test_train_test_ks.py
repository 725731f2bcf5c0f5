"""Shift between training and test part of splits that leave rows out."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from foldshift.partition import ForwardBlockKFold, SpatialBlockKFold, as_splits, make_folds
from foldshift.shift import fold_ks, split_ks

RNG = np.random.default_rng(0)
X = RNG.integers(0, 9, (60, 3)) / 4


def test_it_is_that_of_scipy_for_every_split_and_column():
    splits = as_splits(SpatialBlockKFold(3, block_size=0.2, buffer=0.1, random_state=0), X, groups=RNG.random((60, 2)))
    expected = [
        [ks_2samp(X[train, j], X[test, j], method="asymp").statistic for j in range(3)]
        for train, test in zip(splits.train, splits.test)
    ]
    assert split_ks(X, splits) == pytest.approx(np.array(expected))
    assert split_ks(X[:, 1], splits) == pytest.approx(np.array(expected)[:, 1])
    assert split_ks(pd.DataFrame(X), splits) == pytest.approx(np.array(expected))


def test_it_is_fold_ks_where_an_array_of_folds_says_the_cut():
    folds = make_folds("CV", X, None, 4, seeds=range(3))
    assert split_ks(X[:, 0], folds) == pytest.approx(fold_ks(X[:, 0], folds).ravel())


def test_a_trend_is_a_shift_of_forward_blocks_and_missing_values_do_not_count():
    times = RNG.permutation(60)
    y = times + 0.0
    assert (split_ks(y, ForwardBlockKFold(3), groups=times) == 1).all()
    y[::7] = np.nan
    assert (split_ks(y, ForwardBlockKFold(3), groups=times) == 1).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [(X[:50], "50 rows"), (np.zeros((2, 2, 2)), "shape"), (["a"] * 60, "no number"), (np.full(60, np.inf), "inf")],
)
def test_what_cannot_be_measured_is_refused(values, words):
    splits = as_splits(ForwardBlockKFold(3), X)
    with pytest.raises(ValueError, match=words):
        split_ks(values, splits)
