"""Equivalence tests and the conservative Z: by hand, against other programs, and their levels."""

import numpy as np
import pytest
from scipy import stats

from foldshift.inference import (
    conservative_z,
    equivalence_signed_ranks,
    equivalence_test,
    nadeau_bengio,
    paired_t,
    wilcoxon_signed_ranks,
)


def test_it_is_two_one_sided_tests():
    d = np.random.default_rng(0).normal(0.01, 0.05, 25)
    result = equivalence_test(paired_t(d), (-0.02, 0.04))
    below = stats.ttest_1samp(d, -0.02, alternative="greater").pvalue
    above = stats.ttest_1samp(d, 0.04, alternative="less").pvalue
    assert (result.p_below, result.p_above, result.p_value) == pytest.approx((below, above, max(below, above)), rel=1e-9)


def test_it_agrees_with_statsmodels(oracle):
    ttost_paired = oracle("statsmodels.stats.weightstats").ttost_paired
    a, b = np.random.default_rng(1).normal(0.8, 0.05, (2, 30))
    p, _, _ = ttost_paired(a, b, -0.03, 0.03)
    assert equivalence_test(paired_t(a - b), 0.03).p_value == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_equivalence_is_shown_where_the_interval_lies_within_the_margin(alpha):
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(40):
        d = rng.normal(0, 0.05, (2, 5))
        result = equivalence_test(nadeau_bengio(d, 4, 1), 0.05, alpha=alpha)
        assert result.equivalent == (result.low > -0.05 and result.high < 0.05)
        assert (result.low, result.high) == pytest.approx(nadeau_bengio(d, 4, 1, confidence=1 - 2 * alpha)[4:6], rel=1e-9)
        seen.add(result.equivalent)
    assert seen == {True, False}


def test_its_level_at_the_edge_of_the_margin_is_alpha():
    rng = np.random.default_rng(3)
    d = rng.normal(0.05, 0.02, (600, 12))
    share = np.mean([equivalence_test(paired_t(one), 0.05).equivalent for one in d])
    assert share == pytest.approx(0.05, abs=3 * (0.05 * 0.95 / 600) ** 0.5)
    share = np.mean([equivalence_signed_ranks(one, 0 * one, 0.05).equivalent for one in d])
    assert 0.02 < share < 0.05 + 3 * (0.05 * 0.95 / 600) ** 0.5


def test_signed_ranks_shift_the_samples_by_the_margin():
    a, b = np.random.default_rng(4).normal(0.8, 0.02, (2, 15))
    result = equivalence_signed_ranks(a, b, 0.05)
    assert result.p_below == wilcoxon_signed_ranks(a, b - 0.05).p_value / 2
    assert result.p_above == wilcoxon_signed_ranks(a, b + 0.05).p_value / 2 and result.equivalent
    assert equivalence_signed_ranks(a, b + 1, 0.05).p_value == 1
    assert equivalence_signed_ranks([0.8] * 4, [0.8] * 4, 0.1).p_value == 1 / 16


def test_differences_that_are_all_the_same():
    assert equivalence_test(paired_t(np.zeros(5)), 0.01).p_value == 0
    assert equivalence_test(paired_t(np.full(5, 0.25)), 0.01).p_value == 1


def test_they_read_as_sentences():
    text = str(equivalence_test(paired_t([0.01, -0.01, 0.02, 0.0]), 0.1))
    assert text.startswith("The two are shown to differ by less than the margin -0.1 to 0.1: p = ")
    assert "are not shown to be equivalent within" in str(equivalence_signed_ranks([1, 2], [2, 1], 0.1))


def test_conservative_z_by_hand():
    test = conservative_z([0.1, 0.3], [[0.2, 0.0], [0.1, 0.4]], confidence=0.9)
    error = ((0.04 + 0.09) / 4) ** 0.5
    assert (test.statistic, test.standard_error, test.df) == (pytest.approx(0.2 / error), pytest.approx(error), np.inf)
    assert test.p_value == pytest.approx(2 * stats.norm.sf(0.2 / error), rel=1e-12)
    assert test.high - test.low == pytest.approx(2 * 1.6448536 * error, rel=1e-6)
    assert conservative_z([0.0], [[1, 1]]).p_value == 1 and conservative_z([0.5], [[1, 1]]).statistic == np.inf
    for scale in (1e-170, 1e160):
        scaled = conservative_z(scale * np.array([0.1, 0.3]), scale * np.array([[0.2, 0.0], [0.1, 0.4]]))
        assert scaled.p_value == pytest.approx(test.p_value, rel=1e-12)


def test_conservative_z_finds_too_little_and_its_variance_is_that_of_half_the_rows():
    """Means of rows in place of learners: the variance of a half's mean is 2 / n, twice that of all rows."""
    rng = np.random.default_rng(5)
    found, variance = [], []
    for _ in range(600):
        rows = rng.normal(size=40)
        halves = [rng.permutation(rows).reshape(2, 20).mean(axis=1) for _ in range(10)]
        test = conservative_z([rows.mean()], halves)
        found.append(test.p_value <= 0.05)
        variance.append(test.standard_error**2)
    assert np.mean(variance) == pytest.approx(2 / 40, rel=0.03)
    assert np.mean(found) < 0.03


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equivalence_test(paired_t([0.1, 0.2]), 0), "margin=0 must be a positive number"),
        (lambda: equivalence_test(paired_t([0.1, 0.2]), (2, 1)), r"margin=\(2, 1\) must be"),
        (lambda: equivalence_test(paired_t([0.1, 0.2]), 1, alpha=0.5), "alpha=0.5 must be between 0 and 0.5"),
        (lambda: equivalence_test(paired_t(np.ones((2, 3, 4))), 1), "test holds 2 tests; pass one"),
        (lambda: equivalence_signed_ranks([[1]], [[1]], 1), r"a has shape \(1, 1\); expected \(n,\)"),
        (lambda: conservative_z([], [[1, 2]]), r"shapes \(0,\) and \(1, 2\)"),
        (lambda: conservative_z([1], [1, 2]), r"shapes \(1,\) and \(2,\); expected \(J,\) and \(M, 2\)"),
        (lambda: conservative_z([np.nan], [[1, 2]]), "finite"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
