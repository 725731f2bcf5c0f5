import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, ttest_1samp, ttest_ind, ttest_rel
from scipy.stats import t as student

from foldshift.inference.comparisons.accuracy_tests import (
    check_frequencies,
    compare_independent,
    compare_matched,
    correctness_phi,
    feasible_frequencies,
    loo_matched,
    loo_matched_frequencies,
)
from foldshift.inference.intervals.accuracy import METHODS, accuracy_interval, large_sample, loo_interval
from foldshift.inference.simulation.wong_partitions import fold_of_uniform, wong_partition
from foldshift.studies.wong_2015.worked_examples import TEXTBOOKS, matched_frequencies, worked_examples

FOLDS = [32, 28, 30, 30, 32]
OTHER = [32, 28, 30, 32, 28]


def vectors(n_minus, n_zero, n_plus, both_right):
    """Correctness of two learners with these frequencies of differences."""
    both_wrong = n_zero - both_right
    a = [0] * n_minus + [1] * both_right + [0] * both_wrong + [1] * n_plus
    b = [1] * n_minus + [1] * both_right + [0] * both_wrong + [0] * n_plus
    return np.array(a), np.array(b)


def test_the_conditions_ask_for_five_right_and_five_wrong():
    assert large_sample(42, 50) and not large_sample(47, 50)
    assert not large_sample(0.9 * 40, 40)
    assert large_sample([4, 5, 45, 46], 50).tolist() == [False, True, True, False]


def test_the_three_ways_of_cutting_203_instances_into_five_folds():
    rng = np.random.default_rng(0)
    assert wong_partition(203, 5, 2, rng).sizes.tolist() == [40, 40, 40, 40, 43]
    assert wong_partition(203, 5, 3, rng).sizes.tolist() == [40, 40, 41, 41, 41]
    assert fold_of_uniform(0.26, 5) == 1  # the second
    assert fold_of_uniform(np.array([1e-9, 0.2, 0.2000001, 1.0]), 5).tolist() == [0, 0, 1, 4]


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(2, 60), st.integers(2, 60), st.sampled_from([1, 2, 3]), st.integers(0, 9))
def test_folds_have_the_sizes_that_are_reported(n, k, scheme, seed):
    n, k = max(n, k), min(n, k)
    sizes, folds = wong_partition(n, k, scheme, np.random.default_rng(seed))
    assert folds.dtype == np.uint8 and len(folds) == n
    assert np.bincount(folds, minlength=k).tolist() == sizes.tolist()
    if scheme == 3:
        assert np.ptp(sizes) <= 1


@pytest.mark.parametrize("scheme", [1, 2, 3])
def test_every_instance_is_as_likely_in_any_fold_as_the_sizes_say(scheme):
    rng = np.random.default_rng(1)
    cuts = [wong_partition(23, 5, scheme, rng) for _ in range(4000)]
    share = np.stack([cut.folds[:, None] == np.arange(5) for cut in cuts]).mean(axis=0)
    expected = np.mean([cut.sizes for cut in cuts], axis=0) / 23
    assert np.abs(share - expected).max() < 4.5 * np.sqrt(0.25 / 4000)


def test_example_1_over_the_data_set():
    interval = accuracy_interval(FOLDS, 40)
    assert interval.estimate == pytest.approx(0.76, rel=1e-12)
    assert interval.standard_error**2 == pytest.approx(0.000912, rel=1e-9)
    assert f"{interval.standard_error:.6f}" == "0.030199"
    assert (f"{interval.low:.4f}", f"{interval.high:.4f}") == ("0.7008", "0.8192")
    assert interval.df == np.inf and interval.note == "" and interval.name == "Wong, data set, z"
    half = norm.ppf(0.975) * np.sqrt(0.76 * 0.24 / 200)
    assert (interval.low, interval.high) == (pytest.approx(0.76 - half, rel=1e-9), pytest.approx(0.76 + half, rel=1e-9))


def test_example_1_over_folds():
    interval = accuracy_interval(FOLDS, 40, "fold")
    assert 5 * interval.standard_error**2 == pytest.approx(0.00175, rel=1e-9)
    assert f"{interval.standard_error:.6f}" == "0.018708"
    assert (f"{interval.low:.4f}", f"{interval.high:.4f}") == ("0.7081", "0.8119")
    expected = ttest_1samp(np.array(FOLDS) / 40, 0).confidence_interval(0.95)
    assert (interval.low, interval.high) == (pytest.approx(expected.low, rel=1e-9), pytest.approx(expected.high, rel=1e-9))
    assert interval.df == 4


@pytest.mark.parametrize(("r", "m"), [([0], 30), ([3, 0], [20, 31]), ([30], 30), ([7, 9, 4], 10)])
@pytest.mark.parametrize(("method", "scipys"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
def test_wilson_and_clopper_pearson_are_scipys(r, m, method, scipys):
    interval = accuracy_interval(r, m, method=method, confidence=0.9)
    total = int(np.broadcast_to(m, len(r)).sum())
    expected = binomtest(sum(r), total).proportion_ci(0.9, method=scipys)
    assert (interval.low, interval.high) == (pytest.approx(expected.low, abs=1e-9), pytest.approx(expected.high, abs=1e-9))


def test_folds_that_fail_the_conditions_are_kept_and_change_the_method():
    kept = accuracy_interval([38, 30, 30], 40)
    assert kept.name == "data set, Wilson" and kept.note == "1 of 3 folds fail the large-sample conditions"
    assert kept.estimate == pytest.approx(98 / 120, rel=1e-12)
    dropped = accuracy_interval([38, 30, 30], 40, small_folds="drop")
    assert (
        dropped.estimate == 0.75
        and dropped.name == "Wong, data set, z"
        and dropped.note.endswith("fail the large-sample conditions, dropped")
    )
    assert dropped.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 80), rel=1e-12)
    folds = accuracy_interval([38, 30, 32], 40, "fold", small_folds="drop")
    assert folds.estimate == 0.775 and folds.df == 1
    assert folds.standard_error == pytest.approx(0.025, rel=1e-9)


def test_dropping_all_folds_leaves_no_estimate_and_a_note():
    over_data_set = [("dataset", method, "no fold is left") for method in METHODS]
    for level, method, note in [*over_data_set, ("fold", "auto", "fewer than 2 folds are left")]:
        interval = accuracy_interval([39, 40], 40, level, method=method, small_folds="drop")
        assert np.isnan([interval.estimate, interval.low, interval.high]).all()
        assert note in interval.note


def test_many_data_sets_at_once_are_the_same_as_one_by_one():
    r = np.random.default_rng(0).integers(0, 21, (6, 4))
    m = np.array([20, 20, 21, 25])
    for arguments in (
        {"level": "fold"},
        {"method": "normal"},
        {"method": "wilson"},
        {"method": "clopper-pearson"},
        {"level": "fold", "small_folds": "drop"},
        {"small_folds": "drop"},
        {"small_folds": "drop", "method": "wilson"},
    ):
        many = accuracy_interval(r, m, **arguments)
        for i, row in enumerate(r):
            one = accuracy_interval(row, m, **arguments)
            for field in ("estimate", "low", "high", "standard_error"):
                assert getattr(many, field)[i] == pytest.approx(getattr(one, field), rel=1e-12, nan_ok=True)


def test_unequal_folds_weigh_predictions_over_the_data_set_and_folds_over_folds():
    assert accuracy_interval([10, 30], [20, 40]).estimate == pytest.approx(40 / 60, rel=1e-12)
    assert accuracy_interval([10, 30], [20, 40], "fold").estimate == pytest.approx(0.625, rel=1e-12)


def test_the_matched_test_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.integers(10, 30, (2, 7, 10))
    test = compare_matched(a, b, 40, confidence=0.9)
    expected = ttest_rel(a / 40, b / 40, axis=1)
    np.testing.assert_allclose(test.statistic, expected.statistic, rtol=1e-9)
    np.testing.assert_allclose(test.p_value, expected.pvalue, rtol=1e-9)
    interval = expected.confidence_interval(0.9)
    np.testing.assert_allclose([test.low, test.high], [interval.low, interval.high], rtol=1e-9)
    assert test.df == 9


def test_swapping_the_learners_changes_the_sign_and_nothing_else():
    x_a, x_b = vectors(10, 84, 6, 70)
    pairs = [
        (compare_matched(FOLDS, OTHER, 40), compare_matched(OTHER, FOLDS, 40)),
        (compare_independent(FOLDS, 40, OTHER, 41), compare_independent(OTHER, 41, FOLDS, 40)),
        (compare_independent(FOLDS, 40, OTHER, 41, test="t"), compare_independent(OTHER, 41, FOLDS, 40, test="t")),
        (loo_matched(x_a, x_b), loo_matched(x_b, x_a)),
    ]
    for there, back in pairs:
        assert there.statistic == pytest.approx(-back.statistic, rel=1e-12)
        assert there.p_value == pytest.approx(back.p_value, rel=1e-12)
        assert there.low == pytest.approx(-back.high, rel=1e-12)


def test_equal_differences_have_no_spread():
    same = compare_matched([30, 30, 31], [30, 30, 31], 40)
    assert (same.statistic, same.p_value, same.standard_error) == (0, 1, 0)
    better = compare_matched([33, 30, 31], [30, 27, 28], 40)
    assert (better.statistic, better.p_value) == (np.inf, 0)


def test_the_z_of_two_proportions_pools_by_the_number_of_predictions():
    test = compare_independent([40, 45], 50, [30, 24], [35, 30])
    p = 139 / 165
    expected = (85 / 100 - 54 / 65) / np.sqrt(p * (1 - p) * (1 / 100 + 1 / 65))
    assert test.statistic == pytest.approx(expected, rel=1e-9)
    assert test.p_value == pytest.approx(2 * norm.sf(abs(expected)), rel=1e-9)
    half = norm.ppf(0.975) * np.sqrt(0.85 * 0.15 / 100 + (54 / 65) * (11 / 65) / 65)  # an interval does not suppose equality
    assert (test.high - test.low) / 2 == pytest.approx(half, rel=1e-9)
    with pytest.raises(ValueError, match="n_A=100 and n_B=65 differ"):
        compare_independent([40, 45], 50, [30, 24], [35, 30], formula="paper")


def test_the_independent_t_is_welchs_with_the_root_and_not_without():
    corrected = compare_independent(FOLDS, 40, [*OTHER, 33], 40, test="t")
    expected = ttest_ind(np.array(FOLDS) / 40, np.array([*OTHER, 33]) / 40, equal_var=False)
    assert corrected.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert corrected.df == pytest.approx(expected.df, rel=1e-9)
    assert corrected.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    paper = compare_independent(FOLDS, 40, [*OTHER, 33], 40, test="t", formula="paper")
    assert paper.statistic == pytest.approx(expected.statistic / corrected.standard_error, rel=1e-9)
    assert "square root is missing" in paper.note


def test_example_2_independent():
    for formula in ("paper", "corrected"):
        test = compare_independent([80], 100, [84], 100, formula=formula)
        assert (f"{test.statistic:.4f}", f"{test.statistic:.5f}", f"{test.p_value:.4f}") == ("-0.7362", "-0.73621", "0.4616")
        assert test.statistic == pytest.approx(-0.04 / np.sqrt(2 * 0.82 * 0.18 / 100), rel=1e-9)


def test_example_2_matched():
    test = loo_matched_frequencies(10, 84, 6, r_a=80, r_b=84)
    assert test.estimate == -0.04 and 100 * test.standard_error**2 == pytest.approx(0.16, rel=1e-9)
    assert test.statistic == pytest.approx(-1, rel=1e-9) and test.df == 99
    assert f"{test.p_value:.4f}" == "0.3197"
    assert test.p_value == pytest.approx(2 * student.sf(1, 99), rel=1e-9)
    printed = loo_matched_frequencies(30, 44, 26)
    assert (f"{100 * printed.standard_error**2:.5f}", f"{printed.statistic:.4f}") == ("0.56404", "-0.5326")
    y = np.repeat([-1, 0, 1], (30, 44, 26))
    assert printed.statistic == pytest.approx(ttest_1samp(y, 0).statistic, rel=1e-9)


def test_the_frequencies_of_example_2_are_refused():
    message = r"\(30, 44, 26\) are impossible for 80 and 84 right of 100: n_plus must be at most 16 and n_minus at most 20"
    with pytest.raises(ValueError, match=message):
        loo_matched_frequencies(30, 44, 26, r_a=80, r_b=84)
    with pytest.raises(ValueError, match="n_plus - n_minus = -4 must be r_a - r_b = -5"):
        check_frequencies(10, 84, 6, 80, 85)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=12))
def test_frequencies_that_occur_are_feasible(pairs):
    a, b = np.array(pairs).astype(int).T
    counts = tuple(int((a - b == value).sum()) for value in (-1, 0, 1))
    check_frequencies(*counts, a.sum(), b.sum())
    assert counts in feasible_frequencies(int(a.sum()), int(b.sum()), len(a))


@pytest.mark.parametrize(("r_a", "r_b", "n"), [(80, 84, 100), (3, 1, 5), (0, 4, 4), (5, 5, 5)])
def test_what_is_feasible_is_what_two_vectors_can_do(r_a, r_b, n):
    """Two vectors differ from another pair with the same totals by how many instances both get right."""
    possible = set()
    for both in range(n + 1):
        plus, minus = r_a - both, r_b - both
        if plus >= 0 and minus >= 0 and both + plus + minus <= n:
            possible.add((minus, n - plus - minus, plus))
    assert set(feasible_frequencies(r_a, r_b, n)) == possible
    for plus in range(n + 1):
        minus = plus - r_a + r_b
        frequencies = (minus, n - plus - minus, plus)
        if min(frequencies) >= 0 and frequencies not in possible:
            with pytest.raises(ValueError, match="impossible"):
                check_frequencies(*frequencies, r_a, r_b)


def test_the_printed_variance_without_the_square_is_zero_for_every_data_set():
    test = loo_matched_frequencies(30, 44, 26, formula="paper")
    assert (test.standard_error, test.statistic, test.p_value) == (0, -np.inf, 0)
    assert "square is missing" in test.note
    assert loo_matched_frequencies(3, 4, 3, formula="paper").p_value == 1


def test_the_matched_test_over_instances_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    x_a, x_b = rng.random((2, 5, 60)) < 0.7
    test = loo_matched(x_a, x_b)
    expected = ttest_rel(x_a.astype(int), x_b.astype(int), axis=1)
    np.testing.assert_allclose(test.statistic, expected.statistic, rtol=1e-9)
    np.testing.assert_allclose(test.p_value, expected.pvalue, rtol=1e-9)


def test_leave_one_out_is_one_fold_of_all_instances():
    x = np.repeat([1, 0], (42, 8))
    assert loo_interval(x) == accuracy_interval([42], 50)
    assert loo_interval(x).name == "Wong, data set, z"
    assert loo_interval(np.repeat([1, 0], (47, 3))).name == "data set, Wilson"


def test_phi_is_the_correlation_of_being_right():
    x_a, x_b = vectors(10, 84, 6, 74)
    assert correctness_phi(x_a, x_b) == pytest.approx(np.corrcoef(x_a, x_b)[0, 1], rel=1e-9)
    assert correctness_phi(x_a, x_a) == pytest.approx(1) and correctness_phi(x_a, 1 - x_a) == pytest.approx(-1)
    assert np.isnan(correctness_phi(x_a, np.ones(100)))
    assert correctness_phi(np.stack([x_a, x_b]), np.stack([x_b, x_b])).shape == (2,)


def test_the_table_of_textbooks_is_the_papers():
    assert [book.averaging for book in TEXTBOOKS] == ["fold", "data set", "fold", "fold", "data set", "fold"]
    assert [book.folds for book in TEXTBOOKS] == ["10 or 30", "10", "-", "-", "large", "10"]
    assert [book.fold_size for book in TEXTBOOKS] == ["np >= 5 and n(1 - p) >= 5", "-", "-", "30", "-", "100"]
    assert [book.repetition for book in TEXTBOOKS] == ["suggested", "suggested", "-", "-", "-", "suggested"]
    assert {book.leave_one_out for book in TEXTBOOKS} == {"-"}


EXAMPLES = {(row.example, row.item): row for row in worked_examples()}


@pytest.mark.parametrize(
    ("example", "item", "printed", "digits", "corrected"),
    [
        ("Example 1", "correct predictions", "32, 28, 30, 32, 28", "{:.0f}", "152"),
        ("Example 1", "mean, data set", "0.76", "{:.2f}", "0.76"),
        ("Example 1", "variance, data set", ".000912", "{:.6f}", "0.000912"),
        ("Example 1", "standard error, data set", "0.030", "{:.6f}", "0.030199"),
        ("Example 1", "lower limit 95 %, data set", "-", "{:.4f}", "0.7008"),
        ("Example 1", "upper limit 95 %, data set", "-", "{:.4f}", "0.8192"),
        ("Example 1", "variance, folds", "0.0007", "{:.5f}", "0.00175"),
        ("Example 1", "standard error, folds", "0.012", "{:.6f}", "0.018708"),
        ("Example 1", "lower limit 95 %, folds", "-", "{:.4f}", "0.7081"),
        ("Example 1", "upper limit 95 %, folds", "-", "{:.4f}", "0.8119"),
        ("Example 2", "z, independent", "-0.7362", "{:.5f}", "-0.73621"),
        ("Example 2", "p of z", "-", "{:.4f}", "0.4616"),
        ("Example 2", "frequencies of -1, 0, +1", "30, 44, 26", "{}", "10, 84, 6"),
        ("Example 2", "s^2", "0.16", "{:.5f}", "0.16000"),
        ("Example 2", "t, matched", "-1.0", "{:.4f}", "-1.0000"),
        ("Example 2", "p of t", "-", "{:.4f}", "0.3197"),
        ("Example 2", "s^2 of the printed frequencies, squared", "0.16", "{:.5f}", "0.56404"),
        ("Example 2", "t of the printed frequencies, squared", "-1.0", "{:.4f}", "-0.5326"),
        ("Example 2", "McNemar z", "-", "{:.1f}", "-1.0"),
        ("Example 2", "McNemar exact p", "-", "{:.4f}", "0.4545"),
    ],
)
def test_the_worked_examples_are_right_to_the_last_digit(example, item, printed, digits, corrected):
    row = EXAMPLES[example, item]
    assert row.printed == printed and digits.format(row.corrected) == corrected


def test_the_printed_side_of_the_examples_shows_the_errors():
    assert EXAMPLES["Example 1", "correct predictions"].paper == 150
    assert EXAMPLES["Example 1", "mean of the folds listed first"].paper == pytest.approx(0.75, rel=1e-12)
    assert EXAMPLES["Example 1", "variance over the folds listed first"].paper == pytest.approx(0.0025, rel=1e-9)
    assert EXAMPLES["Example 1", "mean, data set"].paper == pytest.approx(30.4, rel=1e-12)
    assert EXAMPLES["Example 2", "frequencies of -1, 0, +1"].paper.startswith("refused: ")
    assert EXAMPLES["Example 2", "frequencies if schemes were independent"].paper == "16.8, 70.4, 12.8"
    assert EXAMPLES["Example 2", "s^2"].paper == 0 and EXAMPLES["Example 2", "t, matched"].paper == -np.inf
    root = EXAMPLES["Theorem 3", "t of the two listings of Example 1"]
    assert root.corrected == pytest.approx(0.01 / np.sqrt(0.00175 / 5 + 0.0025 / 5), rel=1e-9)
    assert root.paper == pytest.approx(0.01 / (0.00175 / 5 + 0.0025 / 5), rel=1e-9)
    for row in EXAMPLES.values():
        if row.example in ("Section 2", "Section 4.3.2"):
            assert row.printed == row.paper == row.corrected


def test_only_one_possible_triple_has_the_printed_variance():
    assert matched_frequencies(80, 84, 100, 0.16) == (10, 84, 6)
    variances = [100 * loo_matched_frequencies(*f).standard_error ** 2 for f in feasible_frequencies(80, 84, 100)]
    assert sum(f"{variance:.2f}" == "0.16" for variance in variances) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: accuracy_interval([41], 40), r"r\[0\]=41 must be a whole number from 0 to the size of its fold, 40"),
        (lambda: accuracy_interval([[3, 2.5]], 40), r"r\[0, 1\]=2.5 must be a whole number"),
        (lambda: accuracy_interval([3, np.nan], 40), r"r\[1\]=nan must be a whole number"),
        (
            lambda: accuracy_interval([3, 4], [10, 10, 10]),
            r"fold sizes have shape \(3,\); expected one number or one per fold, shape \(2,\)",
        ),
        (lambda: accuracy_interval([3, 0], [10, 0]), r"fold sizes must be whole numbers from 1, got \[10.0, 0.0\]"),
        (lambda: accuracy_interval([], 10), r"r has shape \(0,\)"),
        (lambda: accuracy_interval([3], 10, "fold"), "level='fold' needs at least 2 folds, got 1"),
        (lambda: accuracy_interval([3], 10, "row"), "level='row' must be 'dataset' or 'fold'"),
        (lambda: accuracy_interval([3, 4], 10, "fold", method="wilson"), "method='wilson' needs level='dataset'"),
        (
            lambda: accuracy_interval([3], 10, method="wald"),
            "method='wald' must be 'auto', 'normal', 'wilson' or 'clopper-pearson'",
        ),
        (lambda: accuracy_interval([3], 10, small_folds="no"), "small_folds='no' must be 'keep' or 'drop'"),
        (lambda: accuracy_interval([3], 10, confidence=95), "confidence=95 must be between 0 and 1"),
        (lambda: large_sample(41, 40), "r=41 must be from 0 to m=40"),
        (lambda: large_sample([3, np.nan], 40), "r=nan must be from 0 to m=40"),
        (lambda: wong_partition(10, 3, 4, None), "scheme=4 must be 1, 2 or 3"),
        (lambda: wong_partition(10, 11, 3, None), "k=11 folds must be from 2 to the number of instances, n=10"),
        (lambda: compare_matched([3, 4], [3, 4, 5], 10), r"r_a and r_b have shapes \(2,\) and \(3,\)"),
        (lambda: compare_matched([3], [4], 10), "r_a has 1 fold; a t test over folds needs at least 2"),
        (lambda: compare_independent([3], 10, [4], 10, test="t"), "r_a has 1 fold"),
        (lambda: compare_independent([3], 10, [4], 10, test="f"), "test='f' must be 'z' or 't'"),
        (lambda: compare_independent([3], 10, [4], 10, formula="papre"), "formula='papre' must be 'corrected' or 'paper'"),
        (lambda: loo_interval([0, 1, 2]), r"x must hold 1 \(right\) and 0 \(wrong\) only, got 2"),
        (lambda: loo_matched([0, 1, np.nan], [0, 1, 1]), r"x_a must hold 1 \(right\) and 0 \(wrong\) only, got nan"),
        (lambda: loo_matched([0, 1], [0, 1, 1]), r"x_a and x_b have shapes \(2,\) and \(3,\)"),
        (lambda: correctness_phi([0, 1], [0, 1, 1]), r"x_a and x_b have shapes \(2,\) and \(3,\)"),
        (lambda: loo_matched_frequencies(-1, 4, 5), "n_minus=-1.0 must be a whole number from 0"),
        (lambda: loo_matched_frequencies(0, 1, 0), "1 instances; the matched test needs at least 2"),
        (lambda: loo_matched_frequencies(10, 84, 6, r_a=80), "only one of r_a and r_b is given"),
        (lambda: feasible_frequencies(80, 101, 100), r"\(r_a, r_b\)\[1\]=101"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
