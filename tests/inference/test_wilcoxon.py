import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from foldshift.inference import wilcoxon_signed_ranks
from foldshift.inference.comparisons.wilcoxon import _table


def by_enumeration(d):
    """Exact two-sided p given the ranks: all signs of the differences that are not zero."""
    ranks = rankdata(np.abs(d))
    zeros = ranks[d == 0].sum() / 2
    varying = ranks[d != 0]
    sums = np.array([np.dot(signs, varying) for signs in itertools.product((0, 1), repeat=len(varying))]) + zeros
    observed = min(ranks[d > 0].sum() + zeros, ranks[d < 0].sum() + zeros)
    return min(1.0, 2 * (sums <= observed + 1e-9).mean())


@settings(deadline=None, max_examples=80, derandomize=True)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_p_is_exact_under_ties_and_zeros(d):
    d = np.array(d, dtype=float)
    test = wilcoxon_signed_ranks(d, np.zeros_like(d))
    assert test.p_value == pytest.approx(by_enumeration(d), abs=1e-12)
    assert test.r_plus + test.r_minus == len(d) * (len(d) + 1) / 2


def test_without_ties_it_is_scipys_exact_test():
    rng = np.random.default_rng(0)
    for n in (5, 12, 28, 60):
        a, b = rng.random((2, n))
        test = wilcoxon_signed_ranks(a, b)
        assert test.method == "exact"
        assert test.p_value == pytest.approx(wilcoxon(a, b, method="exact").pvalue, rel=1e-12)


def test_the_smallest_p_of_28_data_sets_is_the_one_the_paper_prints():
    test = wilcoxon_signed_ranks(np.arange(1.0, 29), np.zeros(28))
    assert test.p_value == 2 / 2**28 and f"{test.p_value:.2E}" == "7.45E-09"
    assert (test.r_plus, test.r_minus) == (406, 0)


def test_the_papers_way_with_half_integers_takes_the_mean_of_the_neighbours():
    d = np.array([0.0, 1, -2, 3, 4])  # ranks 1 to 5, the zero's rank split: R- = 3.5
    test = wilcoxon_signed_ranks(d, np.zeros(5), formula="paper")
    assert (test.r_plus, test.r_minus, test.method) == (11.5, 3.5, "exact, ties averaged")
    assert test.p_value == (_table(5)[3] + _table(5)[4]) / 2


def test_many_tests_at_once_are_the_same_as_one_by_one():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (2, 3, 4, 10)).astype(float)
    many = wilcoxon_signed_ranks(a, b)
    assert many.p_value.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            one = wilcoxon_signed_ranks(a[i, j], b[i, j])
            assert (one.r_plus, one.p_value) == (many.r_plus[i, j], pytest.approx(many.p_value[i, j], abs=1e-15))


def test_no_difference_at_all_is_no_evidence():
    assert wilcoxon_signed_ranks(np.ones(5), np.ones(5)).p_value == 1.0


def test_large_samples_take_the_normal_approximation_and_say_so():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 500))
    test = wilcoxon_signed_ranks(a, b)
    assert test.method == "normal approximation"
    assert test.p_value == pytest.approx(wilcoxon(a, b, method="asymptotic", correction=False).pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "formula", "message"),
    [
        ([1, 2], [1], "paper", r"shapes \(2,\) and \(1,\)"),
        ([], [], "paper", "at least one pair"),
        ([1, np.nan], [1, 2], "paper", "finite"),
        ([1, 2], [1, 2], "papre", "formula='papre' must be 'corrected' or 'paper'"),
    ],
)
def test_bad_samples_are_refused(a, b, formula, message):
    with pytest.raises(ValueError, match=message):
        wilcoxon_signed_ranks(a, b, formula=formula)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=9), st.sampled_from([1, 10, 100, 1000]))
def test_decimal_ties_hold_whatever_their_last_bits(pairs, unit):
    """.8 - .7 and .3 - .2 are a tie: the same p as of whole numbers."""
    a, b = np.array(pairs, dtype=float).T
    whole, decimal = wilcoxon_signed_ranks(a, b), wilcoxon_signed_ranks(a / unit, b / unit)
    assert (decimal.r_plus, decimal.p_value, decimal.method) == (whole.r_plus, whole.p_value, whole.method)


def test_two_decimals_gave_another_p_by_rounding():
    rng = np.random.default_rng(0)
    for _ in range(100):
        a, b = rng.integers(50, 100, (2, 12))
        assert wilcoxon_signed_ranks(a / 100, b / 100).p_value == wilcoxon_signed_ranks(a, b).p_value


def test_the_scale_of_the_inputs_does_not_count():
    a, b = np.random.default_rng(1).integers(0, 9, (2, 3, 11)).astype(float)
    one = wilcoxon_signed_ranks(a, b)
    for scale in (1e-300, 1e-170, 1e160, 1.9e307):
        scaled = wilcoxon_signed_ranks(scale * a, -scale * -b)
        assert np.array_equal(scaled.p_value, one.p_value) and np.array_equal(scaled.r_plus, one.r_plus)


def test_p_of_many_pairs_is_never_0():
    assert 0 < wilcoxon_signed_ranks(np.arange(1, 5001.0), np.zeros(5000)).p_value < 1e-300


def test_it_reads_as_a_sentence():
    text = str(wilcoxon_signed_ranks([1.0, 2, 3, 4], np.zeros(4)))
    assert text.startswith(
        "Wilcoxon's signed ranks: R+ = 10 where the first is larger, R- = 0 where the second is; two-sided p ="
    )
    assert str(wilcoxon_signed_ranks(np.ones((2, 4)), np.zeros((2, 4)))).startswith("2 signed-ranks tests")
