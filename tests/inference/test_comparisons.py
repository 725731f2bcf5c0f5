import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from foldshift.inference.comparisons.paired import bayesian_correlated_t, f_5x2cv, mcnemar, nadeau_bengio, paired_t, t_5x2cv

few = settings(deadline=None, max_examples=40, derandomize=True)
differences = st.lists(st.integers(-50, 50), min_size=10, max_size=10).map(lambda d: np.array(d).reshape(5, 2) / 100)


def test_nadeau_bengio_is_the_formula_with_its_overlap_term():
    d = np.array([[0.01, 0.03, -0.02, 0.02, 0.06]])
    mean, s2 = 0.02, (0.01**2 + 0.01**2 + 0.04**2 + 0 + 0.04**2) / 4
    test = nadeau_bengio(d, n_train=80, n_test=20)
    error = (s2 * (1 / 5 + 1 / 4)) ** 0.5
    assert test.statistic == pytest.approx(mean / error, rel=1e-12)
    assert (test.df, test.standard_error) == (4, pytest.approx(error, rel=1e-12))
    assert test.p_value == pytest.approx(2 * stats.t.sf(mean / error, 4), rel=1e-12)
    assert (test.low, test.high) == pytest.approx((mean - 2.7764451052 * error, mean + 2.7764451052 * error), rel=1e-9)
    assert all(type(value) is float for value in test[:1] + test[2:])


def test_the_uncorrected_test_is_scipys():
    d = np.random.default_rng(0).normal(0.1, 1, (3, 10))
    expected = stats.ttest_1samp(d.ravel(), 0)
    test = paired_t(d)
    assert (test.statistic, test.p_value, test.df) == pytest.approx((expected.statistic, expected.pvalue, expected.df), rel=1e-12)
    assert (test.low, test.high) == pytest.approx(tuple(expected.confidence_interval()), rel=1e-12)


@given(differences, st.floats(0.01, 1000))
@few
def test_swapping_the_learners_changes_signs_and_the_unit_changes_nothing(d, unit):
    for test in (paired_t, lambda d: nadeau_bengio(d, 2, 1), t_5x2cv, f_5x2cv):
        one, swapped, scaled = test(d), test(-d), test(unit * d)
        sign = 1 if test is f_5x2cv else -1
        assert swapped.statistic == sign * one.statistic and swapped.p_value == one.p_value and swapped.estimate == -one.estimate
        assert scaled.statistic == pytest.approx(one.statistic, rel=1e-9)
        assert scaled.p_value == pytest.approx(one.p_value, rel=1e-9)
    one, swapped, scaled = (bayesian_correlated_t(x, 0.5, r) for x, r in ((d, 0.05), (-d, 0.05), (unit * d, unit * 0.05)))
    assert one[:3] == pytest.approx(swapped[2::-1], abs=1e-12) and sum(one[:3]) == pytest.approx(1, abs=1e-12)
    if one.scale > 0:  # a point on the border of the region may fall to either side when the unit changes
        assert one[:3] == pytest.approx(scaled[:3], rel=1e-9, abs=1e-12)


@given(differences)
@few
def test_the_corrected_test_never_finds_more_than_the_uncorrected(d):
    assert nadeau_bengio(d, 9, 1).p_value >= paired_t(d).p_value


def test_repeating_cannot_shrink_the_corrected_error_below_the_overlap():
    d = np.tile([[-0.1, 0.1]], (500, 1))
    assert nadeau_bengio(d, 9, 1).standard_error > (0.01 / 9) ** 0.5
    assert paired_t(d).standard_error < 0.1 * (0.01 / 9) ** 0.5


def test_bayes_and_nadeau_bengio_are_the_same_distribution():
    d = np.random.default_rng(1).normal(0.02, 0.05, (10, 10))
    posterior, test = bayesian_correlated_t(d, 1 / 10, 0.0), nadeau_bengio(d, 9, 1)
    assert posterior.interval() == pytest.approx((test.low, test.high), rel=1e-12)
    assert 2 * min(posterior.left, posterior.right) == pytest.approx(test.p_value, rel=1e-10)
    assert posterior.rope == 0


def test_bayes_agrees_with_baycomp(oracle):
    two_on_single = oracle("baycomp").two_on_single
    rng = np.random.default_rng(2)
    for runs, k, rope in ((1, 10, 0.01), (10, 10, 0.02), (5, 2, 0.01), (1, 5, 0.2)):
        a, b = rng.normal(0.8, 0.05, (2, runs, k))
        posterior = bayesian_correlated_t(b - a, 1 / k, rope)
        assert posterior[:3] == pytest.approx(two_on_single(a.ravel(), b.ravel(), rope=rope, runs=runs), rel=1e-9, abs=1e-13)
        statistics = oracle("baycomp").CorrelatedTTest.compute_statistics(a.ravel(), b.ravel(), runs)
        test = nadeau_bengio(b - a, k - 1, 1)
        assert (test.estimate, test.standard_error**2, test.df) == pytest.approx(statistics, rel=1e-12)


def test_mcnemar_agrees_with_mlxtend(oracle):
    theirs = oracle("mlxtend.evaluate").mcnemar
    rng = np.random.default_rng(3)
    for n in (20, 60, 400):
        x_a, x_b = rng.random((2, n)) < [[0.8], [0.7]]
        table = np.array([[(x_a & x_b).sum(), (x_a & ~x_b).sum()], [(~x_a & x_b).sum(), (~x_a & ~x_b).sum()]])
        assert table[0, 1] != table[1, 0]  # equal counts: theirs subtracts 1 from 0 and squares it
        assert mcnemar(x_a, x_b).p_value == pytest.approx(theirs(table, exact=True)[1], rel=1e-12)
        for method, corrected in (("asymptotic", False), ("corrected", True)):
            test = mcnemar(x_a, x_b, method)
            assert (test.statistic, test.p_value) == pytest.approx(theirs(table, corrected=corrected), rel=1e-12)


class Halves:
    """Model whose score is looked up, so that the other program's resampling gives the differences wanted."""

    def __init__(self, scores):
        self.scores = iter(scores)
        self._estimator_type = "classifier"

    def fit(self, X, y):
        return self


def test_the_5x2cv_tests_agree_with_mlxtend(oracle):
    evaluate = oracle("mlxtend.evaluate")
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    for _ in range(5):
        a, b = rng.random((2, 5, 2))
        for ours, theirs in ((t_5x2cv, evaluate.paired_ttest_5x2cv), (f_5x2cv, evaluate.combined_ftest_5x2cv)):
            test = ours(a - b)
            expected = theirs(
                Halves(a.ravel()), Halves(b.ravel()), X, y, scoring=lambda model, X, y: next(model.scores), random_seed=0
            )
            assert (test.statistic, test.p_value) == pytest.approx(expected, rel=1e-10)


def test_5x2cv_by_hand():
    d = np.array([[0.03, 0.01], [0.02, 0.04], [0.0, 0.02], [0.01, 0.01], [0.05, 0.01]])
    s2 = [0.0002, 0.0002, 0.0002, 0.0, 0.0008]
    t, f = t_5x2cv(d), f_5x2cv(d)
    assert (t.statistic, t.df) == (pytest.approx(0.03 / (sum(s2) / 5) ** 0.5, rel=1e-12), 5)
    assert (f.statistic, f.df) == (pytest.approx((d**2).sum() / (2 * sum(s2)), rel=1e-12), (10, 5))
    assert (t.estimate, f.estimate) == (pytest.approx(0.02), pytest.approx(0.02))
    assert np.isnan([t.low, t.high]).all()


def test_the_f_of_5x2cv_does_not_depend_on_the_order_and_the_t_does():
    d = np.array([[0.03, 0.01], [0.02, 0.04], [0.0, 0.02], [0.01, 0.01], [0.05, 0.01]])
    assert f_5x2cv(d[::-1, ::-1]).statistic == pytest.approx(f_5x2cv(d).statistic, rel=1e-12)
    assert t_5x2cv(d[::-1]).statistic == pytest.approx(5 / 3 * t_5x2cv(d).statistic, rel=1e-12)


def test_mcnemar_on_wongs_second_example():
    """80 and 84 of 100 right, frequencies (10, 84, 6) of -1, 0, +1: z = -1.0, exact p .4545 (specification 4.2)."""
    x_a = np.repeat([0, 1, 1, 0], [10, 6, 74, 10])
    x_b = np.repeat([1, 0, 1, 0], [10, 6, 74, 10])
    assert (x_a.sum(), x_b.sum()) == (80, 84)
    test = mcnemar(x_a, x_b, "asymptotic")
    assert (test.only_a, test.only_b, test.statistic, test.estimate) == (6, 10, 1.0, -0.04)
    assert test.p_value == pytest.approx(2 * stats.norm.sf(1), rel=1e-12)
    exact = mcnemar(x_a, x_b)
    assert round(exact.p_value, 4) == 0.4545 and exact.p_value == pytest.approx(stats.binomtest(6, 16).pvalue, rel=1e-12)
    assert mcnemar(x_a, x_b, "mid_p").p_value == pytest.approx(exact.p_value - stats.binom.pmf(6, 16, 0.5), rel=1e-12)
    assert mcnemar(x_a, x_b, "corrected").statistic == 9 / 16
    low, high = (-4 / 102) + np.array([-1, 1]) * 1.959963985 * ((18 / 102 - (4 / 102) ** 2) / 102) ** 0.5
    assert (exact.low, exact.high) == pytest.approx((low, high), rel=1e-9)


def test_mid_p_is_half_the_weight_of_what_is_as_extreme():
    for b in range(9):
        x_a, x_b = np.repeat([1, 0], [b, 8 - b]), np.repeat([0, 1], [b, 8 - b])
        distance = np.abs(np.arange(9) - 4)
        weight = np.where(distance > abs(b - 4), 1.0, np.where(distance == abs(b - 4), 0.5, 0.0))
        assert mcnemar(x_a, x_b, "mid_p").p_value == pytest.approx(weight @ stats.binom.pmf(np.arange(9), 8, 0.5), rel=1e-12)


def test_learners_that_are_right_on_the_same_rows_do_not_differ():
    x = np.array([1, 0, 1, 1, 0])
    for method in ("exact", "mid_p", "asymptotic", "corrected"):
        test = mcnemar(x, x, method)
        assert (test.statistic, test.p_value, test.estimate) == (0, 1, 0) and test.low < 0 < test.high
    assert mcnemar([1, 0], [0, 1], "corrected").statistic == 0


def test_differences_that_are_all_the_same_have_the_documented_result():
    for test in (paired_t(np.zeros(5)), nadeau_bengio(np.zeros((2, 5)), 4, 1), t_5x2cv(np.zeros((5, 2)))):
        assert (test.statistic, test.p_value, test.estimate, test.standard_error) == (0, 1, 0, 0)
    assert (f_5x2cv(np.zeros((5, 2))).statistic, f_5x2cv(np.zeros((5, 2))).p_value) == (0, 1)
    constant = np.array([0.8, 0.7, 0.6, 0.3]) - np.array([0.9, 0.8, 0.7, 0.4])  # the last bits differ
    assert len(set(constant)) > 1
    test = nadeau_bengio(constant, 3, 1)
    assert (test.statistic, test.p_value) == (-np.inf, 0) and test.low == test.high == test.estimate
    assert bayesian_correlated_t(constant, 0.25, 0.01)[:3] == (1, 0, 0)
    assert bayesian_correlated_t(constant, 0.25, 0.2)[:3] == (0, 1, 0)
    assert bayesian_correlated_t(np.zeros(4), 0.25, 0)[:3] == (0, 1, 0)
    assert f_5x2cv(np.full((5, 2), 0.1)).statistic == np.inf


def test_many_tests_at_once_are_the_same_as_one_by_one():
    d = np.random.default_rng(5).normal(0.1, 1, (3, 4, 5, 2))
    many = [nadeau_bengio(d, 3, 2), paired_t(d), t_5x2cv(d), f_5x2cv(d), bayesian_correlated_t(d, 0.5, 0.1)]
    for i, j in np.ndindex(3, 4):
        one = d[i, j]
        single = [nadeau_bengio(one, 3, 2), paired_t(one), t_5x2cv(one), f_5x2cv(one), bayesian_correlated_t(one, 0.5, 0.1)]
        for all_at_once, alone in zip(many, single):
            for values, value in zip(all_at_once, alone):
                if isinstance(value, float):
                    assert values.shape == (3, 4) and values[i, j] == pytest.approx(value, rel=1e-12, nan_ok=True)
    x_a, x_b = np.random.default_rng(6).integers(0, 2, (2, 3, 30))
    for method in ("exact", "mid_p", "asymptotic", "corrected"):
        many = mcnemar(x_a, x_b, method)
        assert [tuple(v[i] for v in many[:-1]) for i in range(3)] == [
            pytest.approx(mcnemar(*x, method)[:-1]) for x in zip(x_a, x_b)
        ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nadeau_bengio([0.1], 9, 1), r"shape \(1,\); expected \(r, k\)"),
        (lambda: nadeau_bengio(0.1, 9, 1), r"shape \(\); expected \(r, k\)"),
        (lambda: nadeau_bengio([[0.1, np.nan], [np.nan, 0]], 9, 1), r"2 NaN or infinite values, the first at \(0, 1\)"),
        (lambda: nadeau_bengio([0.1, 0.2], 9, 0), "n_test=0 must be a positive"),
        (lambda: nadeau_bengio([0.1, 0.2], [9, 8], 1), r"n_train=\[9, 8\] must be a positive"),
        (lambda: paired_t([0.1, 0.2], confidence=95), "confidence=95 must be between"),
        (lambda: bayesian_correlated_t([0.1, 0.2], 1, 0), r"rho=1 must be in \[0, 1\)"),
        (lambda: bayesian_correlated_t([0.1, 0.2], 0.1, -1), "rope=-1 must be 0 or"),
        (lambda: t_5x2cv(np.zeros((2, 5))), r"shape \(2, 5\); the 5x2cv"),
        (lambda: f_5x2cv(np.zeros(10)), r"shape \(10,\); the 5x2cv"),
        (lambda: mcnemar([1, 0], [1, 0, 1]), r"shapes \(2,\) and \(3,\)"),
        (lambda: mcnemar([], []), "expected the correctness of every instance"),
        (lambda: mcnemar([1, 2], [1, 0]), "x_a must hold 1 .right. and 0 .wrong. only, got 2"),
        (lambda: mcnemar([1, 0], [1, np.nan]), "x_b must hold 1 .right. and 0 .wrong. only, got nan"),
        (lambda: mcnemar([1, 0], [1, 0], "chi2"), "method='chi2' must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-9, 1e160, 1e300])
def test_the_scale_of_the_scores_does_not_count(scale):
    d = np.random.default_rng(6).normal(0.02, 0.05, (3, 5, 2))
    for test in (paired_t, lambda d: nadeau_bengio(d, 9, 1), t_5x2cv, f_5x2cv):
        one, scaled = test(d), test(scale * d)
        assert scaled.statistic == pytest.approx(one.statistic, rel=1e-9) and scaled.p_value == pytest.approx(
            one.p_value, rel=1e-9
        )
        assert scaled.estimate / scale == pytest.approx(one.estimate, rel=1e-9)
    one, scaled = (bayesian_correlated_t(s * d, 0.1, s * 0.01) for s in (1, scale))
    assert np.array(scaled[:3]) == pytest.approx(np.array(one[:3]), rel=1e-9)


def test_repeated_subsampling_is_corrected_by_its_own_sizes():
    """Hold-out, 60 rows to train and 30 to test: t = mean / sqrt(s2 (1 / J + 1/2))."""
    d = np.random.default_rng(7).normal(0.03, 0.05, (15, 1))
    test = nadeau_bengio(d, n_train=60, n_test=30)
    assert test.statistic == pytest.approx(d.mean() / (d.var(ddof=1) * (1 / 15 + 1 / 2)) ** 0.5, rel=1e-12) and test.df == 14
    assert nadeau_bengio(d.ravel(), n_train=60, n_test=30) == test


def test_results_read_as_sentences_and_tables():
    d = np.random.default_rng(8).normal(0.03, 0.05, (5, 2))
    for test, words in (
        (nadeau_bengio(d, 1, 1), "Mean difference, first minus second: "),
        (t_5x2cv(d), "t = "),
        (f_5x2cv(d), "F = "),
        (bayesian_correlated_t(d, 0.5, 0.01), "within the region of practical equivalence"),
        (mcnemar([1, 0, 1], [0, 0, 1]), "1 rows only the first got right, 0 only the second"),
    ):
        assert words in str(test) and "<table" in test._repr_html_() and len(test.to_frame()) == 1
    many = nadeau_bengio(np.stack([d, -d]), 1, 1)
    assert "2 t tests" in str(many) and len(many.to_frame()) == 2
