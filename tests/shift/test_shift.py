import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from foldshift.partition import make_folds
from foldshift.shift import fold_ks, ks_statistic


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(4, 50), st.integers(2, 4), st.integers(0, 3), st.integers(0, 100))
def test_every_fold_has_the_statistic_of_its_two_samples_under_ties(n, k, digits, seed):
    y = np.round(np.random.default_rng(seed).random(n), digits)
    folds = make_folds("CV", None, y, k, range(3))
    d_n = fold_ks(y, folds)
    assert d_n.shape == (3, k)
    for s in range(3):
        for fold in range(k):
            test, train = y[folds[s] == fold], y[folds[s] != fold]
            assert d_n[s, fold] == ks_statistic(test, train)
            assert d_n[s, fold] == pytest.approx(ks_2samp(test, train).statistic, abs=1e-12)


def test_worked_examples():
    assert ks_statistic([1, 2, 3, 4], [5, 6, 7, 8]) == 1.0
    assert ks_statistic([1, 1, 2], [1, 2, 2]) == pytest.approx(1 / 3)
    assert ks_statistic([1, 2, 3], [3, 2, 1]) == 0.0
    # Targets 1, 2, 3, 4 in folds 0, 0, 1, 1: the parts do not overlap. In folds 0, 1, 0, 1 they are one step apart.
    assert fold_ks([1, 2, 3, 4], np.array([[0, 0, 1, 1], [0, 1, 0, 1]])).tolist() == [[1, 1], [0.5, 0.5]]


def test_ties_are_not_a_shift():
    assert (fold_ks(np.ones(10), make_folds("CV", None, np.arange(10.0), 2, [0])) == 0).all()


def test_a_fold_without_a_training_part_has_no_statistic():
    assert np.isnan(fold_ks([1.0, 2.0], np.zeros((1, 2), dtype=np.uint8))).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ks_statistic([], [1]), r"sample a has shape \(0,\)"),
        (lambda: ks_statistic([1], [np.nan]), "sample b holds NaN"),
        (lambda: fold_ks([1.0, np.inf], [[0, 1]]), "y holds NaN or infinite values"),
        (lambda: fold_ks([1.0, 2.0, 3.0], [[0, 1]]), r"folds have shape \(1, 2\); expected .* \(n_seeds, 3\)"),
    ],
)
def test_bad_samples_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
