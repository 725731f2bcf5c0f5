from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from foldshift.shift import hellinger, ks_statistic
from foldshift.shift.detectors.monitoring_tests import (
    adjust_p,
    category_counts,
    chi_square,
    friedman_bootstrap,
    kruskal_wallis,
    skew,
    two_proportion,
)
from foldshift.shift.inject.injectors import feature_scale, versions
from foldshift.shift.measures import ks
from foldshift.shift.measures.hellinger import expected_hellinger, hellinger_features
from foldshift.shift.measures.ks import ks_features, ks_method, ks_p_value, tie_sizes

# Section 5.3 of the paper, A and B
A = [0.34, 0.94, 0.24, 1.26, 6.98, 0.95, 0.15, -2.08, 0.17, 1.55, 3.20, 0.50, 0.70, 4.55, 0.10, 0.49, 0.38, 0.42, 1.37, 1.75]
B = [
    0.15,
    -0.62,
    -0.17,
    -0.31,
    -0.50,
    0.38,
    2.30,
    0.37,
    -1.79,
    -0.87,
    1.72,
    -0.09,
    -1.54,
    0.30,
    -2.39,
    -0.74,
    0.22,
    1.28,
    0.19,
    -1.10,
]
TABLE_5 = [[7, 0, 0], [0, 10, 2]]
RNG = np.random.default_rng(0)
TRAIN = np.column_stack([RNG.normal(size=90), RNG.integers(0, 5, 90), np.ones(90), RNG.normal(size=90).round(1)])
TEST = np.column_stack([RNG.normal(size=61) + 0.3, RNG.integers(0, 7, 61), np.ones(61), RNG.normal(size=61).round(1)])
Y = RNG.integers(0, 2, 61)


def column(values):
    return np.asarray(values, dtype=float)[:, None]


def some_versions(kind, severity=30, table=TEST):
    return versions(table, Y, kind, severity, rng=np.random.default_rng(4), scale=feature_scale(TRAIN))


def test_the_papers_example_has_d_one_half_and_its_four_p_values():
    found = ks_features(column(A), column(B))
    assert found.statistic.tolist() == [0.5] and found.greater.tolist() == [0]  # nowhere is A's function above B's
    assert ks_features(column(B), column(A)).greater.tolist() == [0.5]
    assert ks_p_value(0.5, 20, 20, "paper") == pytest.approx(np.exp(-5), rel=1e-15) == pytest.approx(0.006738, abs=5e-7)
    assert ks_p_value(0.5, 20, 20, "asymptotic") == pytest.approx(0.013476, abs=5e-7)
    assert ks_p_value(0.5, 20, 20, "exact") == pytest.approx(0.0122986, abs=5e-8)
    assert ks_p_value(0.5, 20, 20, "exact") == pytest.approx(
        stats.ks_2samp(range(20), np.arange(20) + 9.5, method="exact").pvalue, rel=1e-12
    )
    # A and B share .15 and .38; given these ties fewer divisions are as far apart.
    assert sorted(tie_sizes(A, B).tolist())[-3:] == [1, 2, 2] and tie_sizes(A, B).sum() == 40
    assert 0.005 < ks_p_value(0.5, 20, 20, "permutation", tie_sizes(A, B)) < ks_p_value(0.5, 20, 20, "exact")
    assert stats.chi2.sf(10.0, 2) == pytest.approx(ks_p_value(0.5, 20, 20, "paper"), rel=1e-12)


@pytest.mark.parametrize("kind", ["mcar", "mar", "mnar", "translation", "prior"])
def test_every_feature_of_every_version_has_the_statistic_of_scipy(kind):
    which = some_versions(kind, 0.4 if kind == "prior" else 30)
    found = ks_features(TRAIN, TEST, which)
    for v in range(len(which.rows)):
        table = which.injected(TEST, Y, v).X
        for j in range(4):
            if np.isnan(table[:, j]).all():
                assert np.isnan(found.statistic[v, j]) and np.isnan(found.greater[v, j]) and found.n_test[v, j] == 0
            else:
                one_sided = stats.ks_2samp(TRAIN[:, j], table[:, j], alternative="greater").statistic
                assert found.greater[v, j] == pytest.approx(one_sided, abs=1e-12)
                assert found.statistic[v, j] == pytest.approx(stats.ks_2samp(TRAIN[:, j], table[:, j]).statistic, abs=1e-12)
                assert found.n_test[v, j] == len(table) and found.n_train[j] == 90


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2), st.integers(0, 999))
def test_ties_missing_values_and_repeated_rows_are_those_of_two_plain_samples(n, m, digits, seed):
    rng = np.random.default_rng(seed)
    train, test = (np.where(rng.random((size, 2)) < 0.2, np.nan, rng.normal(size=(size, 2)).round(digits)) for size in (n, m))
    rows = rng.integers(0, m, (3, 8))
    found = ks_features(train, test, rows)
    for v, j in np.ndindex(3, 2):
        a, b = (part[~np.isnan(part)] for part in (train[:, j], test[rows[v], j]))
        assert found.n_test[v, j] == len(b) and found.n_train[j] == len(a)
        if len(a) and len(b):
            strictly, upto = (max(abs(np.mean(c(a, x)) - np.mean(c(b, x))) for x in [*a, *b]) for c in (np.less, np.less_equal))
            assert found.statistic[v, j] == pytest.approx(upto, abs=1e-12) == pytest.approx(strictly, abs=1e-12)
            above = max(0, *(np.mean(np.less_equal(a, x)) - np.mean(np.less_equal(b, x)) for x in [*a, *b]))
            assert found.greater[v, j] == pytest.approx(above, abs=1e-12)
        else:
            assert np.isnan(found.statistic[v, j]) and np.isnan(found.greater[v, j])


def test_neither_blocks_of_versions_nor_large_tables_change_a_statistic(monkeypatch):
    rows = RNG.integers(0, 61, (10, 40))
    whole = ks_features(TRAIN, TEST, rows).statistic
    monkeypatch.setattr(ks, "CELLS_AT_ONCE", 61 * 3)
    assert (ks_features(TRAIN, TEST, rows).statistic == whole).all()
    a, b = RNG.normal(size=50_000), RNG.normal(size=45_000).round(2)  # the product of the sizes is above 2**31
    assert ks_features(column(a), column(b)).statistic[0] == ks_statistic(a, b)


def test_constant_and_missing_features_have_documented_values():
    train, test = np.ones((3, 3)), np.ones((2, 3))
    test[:, 1], test[:, 2] = 2, np.nan
    found = ks_features(train, test)
    assert found.statistic[:2].tolist() == [0, 1] and np.isnan(found.statistic[2]) and found.n_test.tolist() == [2, 2, 0]
    p = ks_p_value(found.statistic, found.n_train, found.n_test)
    assert p[:2] == pytest.approx([1, 0.2]) and np.isnan(p[2])  # one value above three others, or below: 2 of 10 orders
    distance = hellinger_features(train, test).distance
    assert distance[:2] == pytest.approx([0, np.sqrt(2)]) and np.isnan(distance[2])


def distances(pooled, n):
    """D of every division of a pooled sample into n and the rest, by enumeration."""
    for chosen in combinations(range(len(pooled)), n):
        a, b = pooled[list(chosen)], np.delete(pooled, chosen)
        yield max(abs(np.mean(a <= x) - np.mean(b <= x)) for x in pooled)


@settings(deadline=None, max_examples=15, derandomize=True)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 20), st.integers(0, 99))
def test_the_permutation_p_value_is_the_share_of_all_divisions(n, m, n_values, seed):
    pooled = np.random.default_rng(seed).integers(0, n_values, n + m)
    ties = np.unique(pooled, return_counts=True)[1]
    found = np.array(list(distances(pooled, n)))
    for D in np.unique(found.round(12)):
        assert ks_p_value(D, n, m, "permutation", ties) == pytest.approx(np.mean(found >= D - 1e-9), rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(7, 12), (30, 50), (100, 80), (9, 9), (200, 120), (1, 1)])
def test_the_exact_p_value_is_that_of_scipy(n, m):
    a = np.arange(n) + 0.5
    for b in (np.linspace(-1, n - 2.2, m), np.linspace(-1, n / 1.3, m), np.linspace(n + 1, n + 2, m)):
        test = stats.ks_2samp(a, b, method="exact")
        assert ks_p_value(test.statistic, n, m, "exact") == pytest.approx(test.pvalue, rel=1e-9)


def test_p_values_of_many_statistics_are_those_of_each_alone_and_auto_says_what_it_takes():
    D = np.array([[0.1, 0.5, np.nan], [0.0, 1.0, 0.5]])
    sizes = np.array([20, 20, 30])
    together = ks_p_value(D, sizes, 50)
    for i, j in np.ndindex(2, 3):
        assert together[i, j] == pytest.approx(ks_p_value(D[i, j], int(sizes[j]), 50, "exact"), nan_ok=True, rel=1e-12)
    assert together[1, 0] == 1
    assert ks_method(100, 101) == "exact" and ks_method(10_000, 10_001) == "asymptotic" and ks_method(5, 5, "paper") == "paper"
    assert ks_method(2, 1, ties=[1, 1, 1]) == "exact" and ks_method(2, 1, ties=[1, 2]) == "permutation"
    assert ks_method(100, 101, largest_exact=10_000) == "asymptotic"
    assert ks_method(50, 10_000_000) == "exact" and ks_method(51, 10_000_000) == "asymptotic"


def test_without_and_with_ties_p_is_counted_up_to_the_same_size():
    for n, m in ((8, 2000), (100, 101), (10_000, 10_000), (10_000, 10_001), (8, 100_000_000)):
        methods = {"exact": "counted", "permutation": "counted"}
        plain, tied = (methods.get(ks_method(n, m, ties=ties), "limit") for ties in (None, [2, n + m - 2]))
        assert plain == tied


def test_p_of_8_values_against_2000_keeps_its_level():
    """The limit of large samples rejects a third as often as it says."""
    rng = np.random.default_rng(0)
    D = np.array([ks_statistic(rng.random(8), rng.random(2000)) for _ in range(20_000)])
    for level in (0.05, 0.005):
        error = np.sqrt(level * (1 - level) / len(D))
        assert abs(np.mean(ks_p_value(D, 8, 2000) <= level) - level) <= 3 * error
    assert np.mean(ks_p_value(D, 8, 2000, "asymptotic") <= 0.005) < 0.003
    assert ks_p_value(0.5, 8, 2000) == pytest.approx(stats.kstwo.sf(0.5, 8), rel=0.03)


def test_p_of_samples_of_thousands_is_exact_and_never_0():
    for n, m in ((3000, 40), (1500, 900)):
        test = stats.ks_2samp(RNG.random(n), RNG.random(m) + 0.02, method="exact")
        assert ks_p_value(test.statistic, n, m) == pytest.approx(test.pvalue, rel=1e-9)
    assert 0 < ks_p_value(1.0, 3000, 3000) < 1e-300 > ks_p_value(1.0, 10**7, 10**7) > 0


def test_the_papers_p_value_rejects_too_often_without_a_shift():
    rng = np.random.default_rng(0)
    found = ks_features(rng.normal(size=(500, 1000)), rng.normal(size=(300, 1000)))
    one_sided = (ks_p_value(found.greater, 500, 300, "paper") < 0.05).mean()
    assert one_sided == pytest.approx(0.045, abs=0.015)  # of the one-sided D equation 7 is right
    rates = [np.mean(ks_p_value(found.statistic, 500, 300, method) < 0.05) for method in ("paper", "asymptotic")]
    assert rates[0] == pytest.approx(0.088, abs=0.027) and rates[1] == pytest.approx(0.041, abs=0.019)  # three standard errors


def test_table_5_has_chi_square_19_and_the_largest_hellinger_distance():
    test = chi_square(TABLE_5)
    assert test.statistic == pytest.approx(19.0, rel=1e-14) and test.df == 2 and test.p_value == pytest.approx(7.485e-5, rel=1e-4)
    a, b = np.repeat([0, 1, 2], TABLE_5[0]), np.repeat([0, 1, 2], TABLE_5[1])
    counts, values = category_counts(a, b)
    assert counts.tolist() == TABLE_5 and values.tolist() == [0, 1, 2]
    assert hellinger_features(column(a), column(b), categorical_features=[0]).distance == pytest.approx([np.sqrt(2)], rel=1e-15)


def test_chi_square_is_that_of_scipy_without_the_columns_nobody_has():
    for table in (RNG.integers(1, 30, (2, 5)), RNG.integers(1, 9, (4, 3))):
        expected = stats.chi2_contingency(table, correction=False)
        for ours in (chi_square(table), chi_square(np.insert(table, 1, 0, axis=1))):
            assert ours[:3] == pytest.approx((expected.statistic, expected.dof, expected.pvalue), rel=1e-12)
            assert ours.expected == pytest.approx(expected.expected_freq)
    assert chi_square([[4, 0], [2, 0]])[:3] == (0, 0, 1)


def test_unseen_categories_are_values_of_their_own_and_missing_ones_are_none():
    counts, values = category_counts([1.0, 1, np.nan, 2], [3.0, 1, np.nan])
    assert counts.tolist() == [[2, 1, 0], [1, 0, 1]] and values.tolist() == [1, 2, 3]
    assert category_counts(["b", "a"], ["c"])[0].tolist() == [[1, 1, 0], [0, 0, 1]]


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(1, 20), st.integers(2, 20), st.integers(0, 3), st.integers(0, 999))
def test_kruskal_wallis_is_that_of_scipy_under_ties(n, m, digits, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random((3, n)).round(digits), rng.random((3, m)).round(digits)
    b[:, 0], b[:, 1] = 0, 1  # not all equal
    test = kruskal_wallis(a, b)
    for i in range(3):
        assert (test.statistic[i], test.p_value[i]) == pytest.approx(tuple(stats.kruskal(a[i], b[i])), rel=1e-10, abs=1e-12)
    assert kruskal_wallis(a[0], b).statistic[1] == pytest.approx(kruskal_wallis(a[0], b[1]).statistic)


def test_kruskal_wallis_of_equal_scores_finds_nothing():
    assert kruskal_wallis([0.5, 0.5], [0.5]) == (0, 1, 1) and kruskal_wallis([1.0], [1.0]) == (0, 1, 1)


def null_rates(n_bootstraps, n_simulations):
    """Rejections at 5 % with accuracy .85 on 2000 validation and 3000 test rows, by the paper's test and by the valid one."""
    rng = np.random.default_rng(1)
    val, test = (rng.random((n_simulations, n), dtype=np.float32) < 0.85 for n in (2000, 3000))
    friedman = [friedman_bootstrap(a, b, n_bootstraps, rng).p_value for a, b in zip(val, test)]
    return np.mean(np.array(friedman) < 0.05), np.mean(two_proportion(val, test).p_value < 0.05)


def test_without_a_shift_the_papers_friedman_test_rejects_in_81_percent_and_two_proportions_in_5():
    friedman, two = null_rates(100, 2500)
    assert friedman == pytest.approx(0.81, abs=0.03) and two == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(("n_bootstraps", "rate"), [(30, 0.66), (1000, 0.94)])
def test_the_papers_test_rejects_the_more_the_more_bootstraps_there_are(n_bootstraps, rate):
    assert null_rates(n_bootstraps, 1000)[0] == pytest.approx(rate, abs=3 * np.sqrt(rate * (1 - rate) / 1000))


def test_a_bootstrap_is_a_draw_of_rows_with_replacement():
    rng = np.random.default_rng(0)
    val, test = rng.random(40) < 0.7, rng.random(60) < 0.9
    accuracies = friedman_bootstrap(val, test, 20_000, rng).accuracies
    for sample, found in zip((val, test), accuracies.T):
        drawn = sample[rng.integers(0, len(sample), (20_000, len(sample)))].mean(axis=1)
        assert found.mean() == pytest.approx(drawn.mean(), abs=0.003) and found.std() == pytest.approx(drawn.std(), rel=0.03)
    constant = friedman_bootstrap([1, 1, 1], [True], 5, rng)
    assert (constant.statistic, constant.df, constant.p_value) == (0, 1, 1) and (constant.accuracies == 1).all()


def test_two_proportions_by_hand():
    val, test = np.repeat([1, 0], [170, 30]), np.repeat([1, 0], [160, 40])
    found = two_proportion(val, test)
    z = 0.05 / np.sqrt(0.825 * 0.175 * 2 / 200)
    assert found.statistic == pytest.approx(z) and found.p_value == pytest.approx(2 * stats.norm.sf(z)) and found.method == "z"
    assert found.drop == pytest.approx(0.05) and found.statistic**2 == pytest.approx(chi_square([[170, 30], [160, 40]]).statistic)
    # Newcombe (1998), Table II, method 10: 56/70 against 48/80, and the extreme 10/10 against 0/10
    found = two_proportion(np.repeat([1, 0], [56, 14]), np.repeat([1, 0], [48, 32]))
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    found = two_proportion(np.ones(10), np.zeros(10))
    assert (found.low, found.high) == pytest.approx((0.6075, 1.0), abs=5e-5)


def test_small_counts_take_fishers_test_and_leading_axes_are_tests_of_their_own():
    val, test = np.array([[1] * 9 + [0], [1] * 10]), np.array([1] * 4 + [0] * 4)
    found = two_proportion(val, test)
    assert found.method.tolist() == ["fisher", "fisher"]
    assert found.p_value == pytest.approx([stats.fisher_exact(table)[1] for table in ([[9, 1], [4, 4]], [[10, 0], [4, 4]])])
    same = two_proportion([1], [1, 1])
    assert same[:3] == (0, 1, 0) and same.method == "fisher" and -1 <= same.low < 0 < same.high <= 1
    many = two_proportion(np.ones((3, 50), bool), RNG.random((3, 60)) < 0.5)
    assert many.statistic.shape == many.low.shape == (3,) and (many.method == "z").all()


@pytest.mark.parametrize("kind", ["mcar", "mar", "mnar", "translation"])
def test_every_version_has_the_hellinger_distance_of_its_two_samples_and_bins(kind):
    which = some_versions(kind)
    found = hellinger_features(TRAIN, TEST, which, n_bins=7, categorical_features=[1])
    for v in range(4):
        table = which.injected(TEST, Y, v).X
        for j in range(4):
            if np.isnan(table[:, j]).all():
                assert np.isnan([found.distance[v, j], found.expected[v, j], found.excess[v, j]]).all()
            else:
                alone = hellinger(TRAIN[:, j], table[:, j], bins=7, categorical=j == 1)
                assert found.distance[v, j] == pytest.approx(alone, abs=1e-12)
    assert found.excess == pytest.approx(found.distance - found.expected, nan_ok=True) and np.isnan(found.p_value).all()


def test_missing_values_do_not_count_for_hellinger():
    holes = TEST.copy()
    holes[::3, 0] = np.nan
    ours = hellinger_features(TRAIN, holes).distance[0]
    assert ours == pytest.approx(hellinger(TRAIN[:, 0], holes[~np.isnan(holes[:, 0]), 0]), abs=1e-12)


def test_the_expected_distance_is_exact():
    values = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    squared = []
    for chosen in combinations(range(9), 4):
        p, q = (np.bincount(part, minlength=3) / len(part) for part in (values[list(chosen)], np.delete(values, chosen)))
        squared.append(((np.sqrt(p) - np.sqrt(q)) ** 2).sum())
    totals = np.bincount(values)
    assert expected_hellinger(totals, 4) == pytest.approx(np.sqrt(np.mean(squared)), rel=1e-12)
    assert expected_hellinger([totals, [0, 9, 0]], [4, 4]) == pytest.approx([np.sqrt(np.mean(squared)), 0], rel=1e-12)
    assert np.isnan(expected_hellinger(totals, 0)) and np.isnan(expected_hellinger(totals, 9, formula="approximate"))
    large = np.full(30, 1000)
    approximate = expected_hellinger(large, 10_000, formula="approximate")
    assert approximate == pytest.approx(np.sqrt(29 / 4 * (1 / 20_000 + 1 / 10_000)), rel=1e-12)
    assert expected_hellinger(large, 10_000) == pytest.approx(approximate, rel=2e-3)


def test_removing_rows_alone_makes_the_distance_larger_as_the_formula_says_but_not_the_excess():
    rng = np.random.default_rng(0)
    train, test = rng.random((5000, 300)), rng.random((3000, 300))
    base = hellinger_features(train, test)
    for severity, change in ((25, 1.10), (50, 1.275)):
        which = versions(test, np.zeros(3000), "mcar", severity, rng=rng, n_versions=2)
        fewer = hellinger_features(train, test, which)
        assert fewer.expected.mean() / base.expected.mean() == pytest.approx(change, abs=0.005)
        assert fewer.distance.mean() / base.distance.mean() == pytest.approx(change, abs=0.02)
        # The mean is a little below the root mean square, by half its variance over the mean.
        excess = fewer.excess[0] + fewer.distance[0].var() / (2 * fewer.expected[0].mean())
        assert abs(excess.mean()) < 3 * excess.std() / np.sqrt(300)


def test_the_permutation_null_is_that_of_permuted_rows_and_holds_its_level():
    rng = np.random.default_rng(0)
    pooled = np.concatenate([TRAIN, TEST])
    drawn = hellinger_features(TRAIN, TEST, rng=rng, n_permutations=2000)
    orders = (rng.permutation(151) for _ in range(1000))
    permuted = np.array([[hellinger(pooled[o[:90], j], pooled[o[90:], j]) for j in (0, 1)] for o in orders])
    assert drawn.expected[:2] == pytest.approx(permuted.mean(axis=0), rel=0.02)
    assert drawn.p_value[:2] == pytest.approx((permuted >= drawn.distance[:2] - 1e-12).mean(axis=0), abs=0.05)
    assert (drawn.expected[2], drawn.excess[2], drawn.p_value[2]) == (0, 0, 1)
    exact = hellinger_features(TRAIN, TEST).expected
    assert (drawn.expected <= exact + 0.002).all() and drawn.expected[0] == pytest.approx(exact[0], rel=0.05)
    null = hellinger_features(rng.normal(size=(60, 300)), rng.normal(size=(40, 300)), rng=rng, n_permutations=99)
    assert np.mean(null.p_value <= 0.05) == pytest.approx(0.05, abs=0.038)  # three standard errors
    assert hellinger_features(TRAIN, TEST + 9, rng=rng, n_permutations=99).p_value[0] == 0.01


def test_adjusted_p_values_by_hand():
    p = [0.01, 0.04, 0.03, 0.005]
    assert adjust_p(p) == pytest.approx([0.02, 0.04, 0.04, 0.02]) and adjust_p(p, "holm") == pytest.approx(
        [0.03, 0.06, 0.06, 0.02]
    )
    assert adjust_p(p, "none").tolist() == p
    with_nan = adjust_p([[np.nan, 0.01, 0.5], [np.nan] * 3], "holm")
    assert with_nan[0, 1:] == pytest.approx([0.02, 0.5]) and np.isnan(with_nan[0, 0]) and np.isnan(with_nan[1]).all()
    assert adjust_p([0.9, 0.8], "holm").tolist() == [1, 1]
    assert adjust_p([0.5, 0.01, np.nan]) == pytest.approx([0.5, 0.02, np.nan], nan_ok=True)


def test_skewness_is_the_biased_one_and_needs_three_values():
    values = [1.0, 2, 3, 10]
    centred = np.array(values) - 4
    assert (
        skew(values)
        == pytest.approx(np.mean(centred**3) / np.mean(centred**2) ** 1.5)
        == pytest.approx(stats.skew(values, bias=True))
    )
    assert skew([values, [np.nan, 1, 2, np.nan]]) == pytest.approx([skew(values), np.nan], nan_ok=True)
    assert np.isnan(skew([1.0, 1, 1])) and np.isnan(skew([])) and skew([-10.0, 1, 2, 3]) < 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ks_features(TRAIN, TEST[:, :2]), r"train has shape \(90, 4\) and test \(61, 2\)"),
        (lambda: ks_features(TRAIN, TEST[:0]), r"test \(0, 4\)"),
        (lambda: ks_features(TRAIN, np.full((3, 4), np.inf)), "test holds infinite values"),
        (lambda: ks_features(TRAIN, TEST, [[0, 61]]), "versions holds rows from 0 to 61; the test table has rows 0 to 60"),
        (lambda: ks_features(TRAIN, TEST, [0, 1]), r"versions has shape \(2,\)"),
        (lambda: ks_features(TRAIN, TEST, np.zeros((0, 3), int)), r"versions has shape \(0, 3\)"),
        (
            lambda: ks_features(TRAIN[:, :2], TEST[:, :2], some_versions("mar")),
            "versions are of feature 3; the tables have 2 features",
        ),
        (lambda: ks_p_value(1.5, 5, 5), "D=1.5 must be from 0 to 1"),
        (lambda: ks_p_value(0.5, 5, 5, "asymp"), "method='asymp' must be 'auto', 'exact'"),
        (lambda: ks_p_value(0.5, 5, 5.5), "n2 hold 5.5; expected whole numbers"),
        (lambda: ks_p_value(0.5, 5, 5, "permutation"), "ties is None; method='permutation' needs"),
        (lambda: ks_p_value(0.5, 5, 5, "permutation", [5, 4]), "with sum n1 \\+ n2 = 10"),
        (lambda: chi_square([[1, 2]]), r"table has shape \(1, 2\)"),
        (lambda: chi_square([[1, 2], [0, 0]]), "population 1 of table has no rows"),
        (lambda: chi_square([[1, -2], [0, 1]]), "table holds -2"),
        (lambda: kruskal_wallis([], [1.0]), r"scores_a has shape \(0,\)"),
        (lambda: kruskal_wallis([1.0], [np.nan]), "scores_b holds NaN"),
        (lambda: friedman_bootstrap([1, 0], [1], 1, RNG), "n_bootstraps=1 must be an integer of at least 2"),
        (lambda: friedman_bootstrap([[1, 0]], [1], 2, RNG), "one axis each"),
        (lambda: friedman_bootstrap([1, 2], [1], 2, RNG), "correct_val must hold 1 .right. and 0 .wrong. only, got 2"),
        (lambda: two_proportion([1], []), r"correct_test has shape \(0,\)"),
        (lambda: two_proportion([1], [1], confidence=95), "confidence=95 must be between 0 and 1"),
        (lambda: hellinger_features(TRAIN, TEST, n_permutations=9), "rng is None; n_permutations=9 needs"),
        (lambda: hellinger_features(TRAIN, TEST, n_bins=0), "n_bins=0 must be an integer of at least 1"),
        (lambda: expected_hellinger([1.0, 2.0], 1), "integers of at least 0"),
        (lambda: expected_hellinger([1, 2], 4), "n_test must be from 0 to the sum of totals"),
        (lambda: expected_hellinger([1, 2], 1, formula="paper"), "formula='paper' must be 'exact' or 'approximate'"),
        (lambda: adjust_p([0.1], "bonferroni"), "method='bonferroni' must be 'bh', 'holm' or 'none'"),
        (lambda: adjust_p([1.1]), "holds 1.1; expected"),
        (lambda: skew(1.0), "values must have an axis"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
