"""The interval of a difference of two learners' losses: formulas of Bayle et al. 2020, level where nothing differs."""

import numpy as np
import pytest
from scipy.stats import norm, ttest_rel
from sklearn.model_selection import KFold

from foldshift.inference.intervals.cross_validation import cv_intervals
from foldshift.inference.intervals.difference import loss_difference_interval


def _losses(seed=0, K=5, M=12):
    rng = np.random.default_rng(seed)
    return rng.random((K, M)), rng.random((K, M))


def test_both_variances_are_those_of_a_single_learner_s_interval_on_the_differences():
    a, b = _losses()
    single = cv_intervals(losses=a - b)
    for variance, name in (("within", "theta_A"), ("all pairs", "all pairs")):
        found = loss_difference_interval(a, b, variance=variance)
        expected = single[name]
        assert found[:4] == pytest.approx((expected.estimate, expected.low, expected.high, expected.standard_error))
        assert found.p_value == pytest.approx(2 * norm.sf(abs(found.estimate) / found.standard_error))
    d = (a - b).ravel()
    assert loss_difference_interval(a, b, variance="all pairs").standard_error == pytest.approx(d.std() / np.sqrt(60))
    assert loss_difference_interval(a, b, variance="all pairs").p_value == pytest.approx(
        ttest_rel(a.ravel(), b.ravel())[1], abs=0.02
    )


def test_rows_with_their_folds_are_the_same_as_losses_by_fold():
    a, b = _losses()
    folds = np.repeat(np.arange(5), 12)
    order = np.random.default_rng(1).permutation(60)
    found = loss_difference_interval(a.ravel()[order], b.ravel()[order], folds[order])
    assert found[:5] == pytest.approx(loss_difference_interval(a, b)[:5])


def test_unequal_folds_weigh_by_their_rows():
    a, b = _losses()
    a, b = [a[0, :5], *a[1:]], [b[0, :5], *b[1:]]
    every = np.concatenate(a) - np.concatenate(b)
    found = loss_difference_interval(a, b, variance="all pairs")
    assert found.estimate == pytest.approx(every.mean()) and found.standard_error == pytest.approx(every.std() / np.sqrt(53))
    assert (found.n_rows, found.n_folds) == (53, 5)


def test_learners_that_do_not_differ_are_told_apart_at_the_level():
    found = [loss_difference_interval(*_losses(seed, 10, 15)) for seed in range(800)]
    assert np.mean([one.p_value <= 0.05 for one in found]) == pytest.approx(0.05, abs=0.02)
    assert np.mean([one.low <= 0 <= one.high for one in found]) == pytest.approx(0.95, abs=0.02)


def test_equal_losses_are_no_difference_and_the_text_says_what_it_is_about():
    a, _ = _losses()
    same = loss_difference_interval(a, a)
    assert (same.estimate, same.standard_error, same.p_value) == (0, 0, 1)
    text = str(loss_difference_interval(a, a + 0.5))
    assert "the first is shown to be better" in text and "not about other training sets" in text


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.ones((5, 4)), np.ones((5, 3))), {}, "expected the same rows"),
        (
            (np.ones(5), np.ones(5)),
            {},
            "one loss for every row; say in which fold each row is: folds=",
        ),
        ((np.ones(5), np.ones(5), KFold(5)), {}, r"is a splitter; foldshift\.partition\.as_folds"),
        ((np.ones(5), np.ones(5), np.ones(4)), {}, "one value for every row"),
        ((np.ones((5, 1)), np.ones((5, 1))), {}, "say variance='all pairs'"),
        ((np.ones((5, 4)), np.ones((5, 4))), {"variance": "loo"}, "variance='loo' must be 'within' or 'all pairs'"),
        ((np.ones((1, 4)), np.ones((1, 4))), {}, "at least two folds"),
        ((np.full((2, 4), np.nan), np.ones((2, 4))), {}, "NaN or infinite"),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        loss_difference_interval(*arguments, **options)
