"""Signed ranks and sums of ranks against all signs and orders written out, published tables and simulation."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import rankdata, wilcoxon

from foldshift.inference import critical_difference, friedman, wilcoxon_signed_ranks
from foldshift.inference.comparisons.wilcoxon import _table, rank_sums

few = settings(deadline=None, max_examples=25, derandomize=True)
small_tables = st.sampled_from([(2, 2), (5, 2), (2, 3), (4, 3), (3, 4)]).flatmap(
    lambda shape: st.lists(st.integers(0, 3), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
        lambda values: np.array(values, dtype=float).reshape(shape)
    )
)


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


def every_order(scores):
    """Sums of ranks, the best with rank 1, for every order of every block."""
    ranks = stats.rankdata(-scores, axis=1)
    return ranks.sum(axis=0), np.array(
        [sum(map(np.array, rows)) for rows in itertools.product(*map(itertools.permutations, ranks))]
    )


def reached(values, observed):
    return (values >= observed - 1e-9).mean()


@given(small_tables)
@few
def test_p_is_the_share_of_all_orders(scores):
    k = scores.shape[1]
    names = [str(i) for i in range(k)]
    observed, sums = every_order(scores)
    spread = ((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    test = friedman(scores)
    expected = reached(spread, ((observed - observed.mean()) ** 2).sum())
    assert (test.p_chi2, test.p_f, test.distribution) == (pytest.approx(expected, rel=1e-9), test.p_chi2, "exact")
    pairs = critical_difference(scores, names)
    control = critical_difference(scores, names, method="bonferroni_dunn", control="0")
    for i, j in itertools.combinations(range(k), 2):
        one, other = int(pairs.names[i]), int(pairs.names[j])
        apart = abs(observed[one] - observed[other])
        assert pairs.p_values[i, j] == pytest.approx(reached(np.ptp(sums, axis=1), apart), rel=1e-9)
        expected = reached(np.abs(sums - sums[:, :1]).max(axis=1), apart) if 0 in (one, other) else np.nan
        assert control.p_values[i, j] == pytest.approx(expected, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("n", "k", "chi2", "p"),
    [(3, 3, 6.0, 0.028), (4, 3, 6.5, 0.042), (5, 3, 6.4, 0.039), (6, 3, 7.0, 0.029), (9, 3, 6.222, 0.048), (3, 4, 7.4, 0.033),
     (4, 4, 7.8, 0.036), (10, 3, 6.2, 0.046)],
)  # fmt: skip
def test_friedmans_table(n, k, chi2, p):
    """Upper tails of the exact distribution as printed in textbooks (Hollander and Wolfe; Siegel), to three decimals."""
    null = rank_sums(np.tile(np.arange(1, k + 1), (n, 1)))
    found = 12 * ((null.sums / 2 - n * (k + 1) / 2) ** 2).sum(axis=1) / (n * k * (k + 1))
    assert null.exact and null.probabilities.sum() == pytest.approx(1, rel=1e-12)
    assert null.probabilities[found >= chi2 - 1e-3].sum() == pytest.approx(p, abs=0.00055)


def test_agreement_of_all_blocks_is_the_sign_test_for_two_and_never_p_0():
    for n in (2, 5, 12, 500):
        test = friedman(np.tile([2.0, 1], (n, 1)))
        assert test.p_chi2 == test.p_f == pytest.approx(2.0 ** (1 - n), rel=1e-9) and test.f == np.inf
    for n, k in ((3, 3), (10, 6), (40, 5), (400, 20)):
        result = critical_difference(np.tile(np.arange(k, 0, -1.0), (n, 1)), range(k))
        assert result.friedman.p_f > 0 and result.friedman.p_chi2 > 0 and (result.p_values > 0).all()
    assert friedman(np.tile([3.0, 2, 1], (40, 1))).p_f == pytest.approx(6.0**-39, rel=1e-9)
    assert friedman(np.tile([2.0, 2, 1], (40, 1))).p_f == pytest.approx(3.0**-39, rel=1e-9)


def test_draws_agree_with_the_count_and_are_the_same_every_time(monkeypatch):
    scores = np.random.default_rng(4).normal([0, 0.4, 0.8, 1.2], 1, (8, 4))
    counted = critical_difference(scores, "abcd")
    monkeypatch.setattr("foldshift.inference.comparisons.wilcoxon._counted", lambda blocks: None)
    drawn = [critical_difference(scores, "abcd") for _ in range(2)]
    assert (counted.distribution, drawn[0].distribution, drawn[0].friedman.distribution) == (
        "exact",
        "Monte Carlo",
        "Monte Carlo",
    )
    assert drawn[0].friedman.p_f == drawn[1].friedman.p_f
    error = 4 * np.sqrt(counted.p_values * (1 - counted.p_values) / 99_999) + 2e-5
    assert (np.abs(drawn[0].p_values - counted.p_values) <= error).all()
    assert drawn[0].difference == counted.difference


def test_all_the_same_order_has_the_smallest_p_of_the_draws():
    test = friedman(np.tile(np.arange(6.0), (10, 1)))
    assert test.distribution == "Monte Carlo" and test.p_f == 1 / 100_000


def test_above_60_scores_the_limits_are_taken():
    scores = np.random.default_rng(5).random((16, 4))
    assert friedman(scores).distribution == "approximation" and friedman(scores[:15]).distribution == "exact"
    assert friedman(scores).p_chi2 == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue, rel=1e-9)


def level(n, k, alpha, draw, n_studies, seed):
    """Shares of null studies in which Friedman, F, Nemenyi, and their approximations find something."""
    rng = np.random.default_rng(seed)
    found = np.zeros(4)
    for _ in range(n_studies):
        scores = draw(rng, (n, k))
        result, old = (critical_difference(scores, range(k), alpha=alpha, distribution=d) for d in ("auto", "approximation"))
        off = ~np.eye(k, dtype=bool)
        found += (result.friedman.p_f <= alpha, (result.p_values[off] <= alpha).any(), old.friedman.p_f <= alpha,
                  (old.p_values[off] <= alpha).any())  # fmt: skip
    return found / n_studies


@pytest.mark.parametrize(("n", "k", "broken", "level_of_it"), [(3, 3, 2, 0.194), (4, 2, 3, 0.125)])
@pytest.mark.parametrize("ties", [False, True])
def test_small_studies_keep_the_level_that_the_approximations_break(n, k, broken, level_of_it, ties):
    def draw(rng, shape):
        return rng.integers(0, 3, shape).astype(float) if ties else rng.random(shape)

    found = level(n, k, 0.05, draw, 400, 1)
    error = (0.05 * 0.95 / 400) ** 0.5
    assert (found[:2] <= 0.05 + 3 * error).all()
    if not ties:
        assert found[broken] == pytest.approx(level_of_it, abs=0.05)


def test_scores_that_differ_by_rounding_are_tied():
    a = np.array([[0.1 + 0.2, 0.3, 0.5], [0.7 - 0.6, 0.1, 0.0], [0.5, 0.4, 0.6]])
    assert a[0, 0] != a[0, 1] and friedman(a).average_ranks.tolist() == friedman(a.round(9)).average_ranks.tolist()


def test_results_read_as_sentences_and_tables():
    result = critical_difference(np.tile([3.0, 2, 1], (5, 1)), ["tree", "forest", "<b>"])
    text = str(result)
    assert "Average ranks over 5 blocks, 1 is best: tree 1.00, forest 2.00, <b> 3.00." in text
    assert "counted exactly" in text and "tree from <b>" in text and "&lt;b&gt;" in result._repr_html_()
    frame = result.to_frame()
    assert frame.shape == (3, 5) and frame["told_apart"].tolist() == [False, True, False]
    assert str(result.friedman).startswith("Friedman's test of 3 methods over 5 blocks: chi-square = 10, p = 0.000772")
    none = critical_difference(np.tile([2.0, 1], (4, 1)), "ab")
    assert none.difference == np.inf and "With 4 blocks no difference of ranks can reach that level." in str(none)
    against = critical_difference(np.tile([3.0, 2, 1], (6, 1)), "abc", method="bonferroni_dunn", control="a")
    assert len(against.to_frame()) == 2 and against.groups == ((0, 1),)


def test_the_diagram_needs_no_figure_of_the_house():
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot as plt

    for method in ({}, {"method": "bonferroni_dunn", "control": "b"}, {"method": "holm"}):
        result = critical_difference(np.random.default_rng(0).random((7, 3)), "abc", **method)
        ax = result.plot()
        shown = " ".join(text.get_text() for text in ax.texts)
        assert "a (" in shown and "Average ranks over 7 data sets" in shown.replace("\n", " ")
        _, given = plt.subplots()
        assert result.plot(given, blocks="sources") is given


def test_nemenyi_and_friedman_agree_with_scikit_posthocs(oracle):
    posthocs = oracle("scikit_posthocs")
    scores = np.random.default_rng(6).normal([0, 0.5, 1, 1.2], 1, (40, 4))
    ours = critical_difference(scores, [0, 1, 2, 3])
    theirs = posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    order = [int(name) for name in ours.names]
    assert ours.p_values == pytest.approx(theirs[np.ix_(order, order)], abs=2e-6)
