import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

from foldshift.inference import (
    bayesian_signed_ranks,
    equivalence_signed_ranks,
    equivalence_test,
    sign_test,
    wilcoxon_signed_ranks,
)
from foldshift.inference.comparisons.compare import compare
from foldshift.inference.comparisons.paired import bayesian_correlated_t, f_5x2cv, mcnemar, nadeau_bengio, t_5x2cv
from foldshift.inference.comparisons.ranks import friedman
from foldshift.inference.comparisons.wilcoxon import hodges_lehmann
from foldshift.inference.corrections import adjust_p

FOLD_TESTS = {
    "paired t over folds",
    "Wong's matched t over folds",
    "Nadeau-Bengio corrected t",
    "Bayesian correlated t",
    "equivalence (two one-sided corrected t)",
    "5x2cv t",
    "5x2cv F",
    "McNemar",
    "Wong's matched t over rows",
    "Wilcoxon signed ranks",
    "sign test",
    "Friedman",
    "Iman-Davenport F",
}


LONG = pd.DataFrame(
    [(name, fold, 0.5 + 0.01 * fold * place) for place, name in enumerate("xy") for fold in range(6)],
    columns=["model", "fold", "accuracy"],
)


def scores(r, k, seed=0):
    return np.random.default_rng(seed).normal(0.8, 0.05, (2, r, k))


def rights(r, n, seed=0):
    rng = np.random.default_rng(seed)
    x_a = rng.random((r, n)) < 0.7
    return x_a, np.where(rng.random((r, n)) < 0.25, ~x_a, x_a)


def applying(comparison):
    return {row.test for row in comparison.rows if row.applies}


@pytest.mark.parametrize(
    ("r", "k", "more", "expected"),
    [
        (1, 10, {}, {"Nadeau-Bengio corrected t", "Bayesian correlated t"}),
        (10, 10, {}, {"Nadeau-Bengio corrected t", "Bayesian correlated t"}),
        (5, 2, {}, {"Nadeau-Bengio corrected t", "Bayesian correlated t", "5x2cv t", "5x2cv F"}),
        (2, 5, {}, {"Nadeau-Bengio corrected t", "Bayesian correlated t"}),
        (10, 1, {"n_train": 90, "n_test": 10}, {"Nadeau-Bengio corrected t", "Bayesian correlated t"}),
        (1, 1, {}, set()),
        (3, 5, {"same_folds": False}, set()),
    ],
)
def test_what_applies_follows_from_the_design(r, k, more, expected):
    a, b = scores(r, k)
    comparison = compare(a, b, design="folds", **more)
    assert applying(comparison) == expected
    assert {row.test for row in comparison.rows} == FOLD_TESTS
    x_a, x_b = rights(r, 60)
    assert applying(compare(a, b, design="folds", correct_a=x_a, correct_b=x_b, **more)) == expected | {"McNemar"}


def test_every_row_gives_a_reason_and_the_text_says_all_of_it():
    for arguments in (
        {"scores_a": scores(10, 10)[0], "scores_b": scores(10, 10)[1], "design": "folds"},
        {"scores_a": scores(5, 2)[0], "scores_b": scores(5, 2)[1], "design": "folds", "same_folds": False},
        {"scores_a": scores(8, 3)[0], "design": "datasets"},
        {"scores_a": scores(8, 2)[0], "design": "sources"},
    ):
        comparison = compare(**arguments)
        text = " ".join(str(comparison).split())
        for row in comparison.rows:
            assert len(row.reason) > 20 and " ".join(row.reason.split()) in text and row.test in text
        assert max(map(len, str(comparison).splitlines())) <= 170


def test_the_figures_are_those_of_the_tests():
    a, b = scores(5, 2)
    x_a, x_b = rights(5, 80)
    comparison = compare(a, b, design="folds", correct_a=x_a, correct_b=x_b, rope=0.01, confidence=0.9)
    corrected = comparison.row("Nadeau-Bengio corrected t")
    assert corrected[3:9] == tuple(nadeau_bengio(a - b, 1, 1, confidence=0.9)[:6])
    posterior = bayesian_correlated_t(a - b, 0.5, 0.01)
    row = comparison.row("Bayesian correlated t")
    assert row.probabilities == posterior[:3] and np.isnan(row.p_value)
    assert (row.low, row.high) == pytest.approx((corrected.low, corrected.high), rel=1e-12)
    for test, expected in (("5x2cv t", t_5x2cv(a - b)), ("5x2cv F", f_5x2cv(a - b))):
        assert comparison.row(test)[3:7] == (expected.statistic, expected.df, expected.p_value, expected.estimate)
    expected = mcnemar(x_a[0], x_b[0], confidence=0.9)
    row = comparison.row("McNemar")
    assert (row.p_value, row.estimate, row.low, row.high) == (expected.p_value, expected.estimate, expected.low, expected.high)


def test_the_sizes_change_the_correction_and_default_to_those_of_k_folds():
    a, b = scores(1, 10)
    default = compare(a, b, design="folds").row("Nadeau-Bengio corrected t")
    assert default == compare(a, b, design="folds", n_train=90, n_test=10).row("Nadeau-Bengio corrected t")
    assert compare(a, b, design="folds", n_train=10, n_test=90).row("Nadeau-Bengio corrected t").p_value > default.p_value


def test_swapping_the_learners_turns_the_differences_round():
    a, b = scores(5, 2)
    x_a, x_b = rights(5, 80)
    one = compare(a, b, design="folds", correct_a=x_a, correct_b=x_b)
    other = compare(b, a, design="folds", correct_a=x_b, correct_b=x_a)
    for row, swapped in zip(one.rows, other.rows):
        assert (row.test, row.applies) == (swapped.test, swapped.applies)
        assert swapped.p_value == pytest.approx(row.p_value, nan_ok=True, rel=1e-12)
        assert [swapped.estimate, swapped.low, swapped.high] == pytest.approx([-row.estimate, -row.high, -row.low], nan_ok=True)


def test_repetitions_are_said_not_to_be_independent():
    a, b = scores(10, 5)
    x_a, x_b = rights(10, 60)
    many = compare(a, b, design="folds", correct_a=x_a, correct_b=x_b)
    assert "would be counted as independent" in many.row("paired t over folds").reason
    assert "10 repetitions are not 10 independent experiments" in many.row("Nadeau-Bengio corrected t").reason
    assert "adding them up would count every row 10 times" in many.row("McNemar").reason
    once = compare(a[:1], b[:1], design="folds", correct_a=x_a[:1], correct_b=x_b[:1])
    assert "repetition" not in "".join(row.reason for row in once.rows if "5x2cv" not in row.test)
    assert many.row("paired t over folds").p_value < many.row("Nadeau-Bengio corrected t").p_value


def test_the_uncorrected_test_rejects_too_often_and_the_corrected_does_not():
    """Two learners that are equally good: differences of folds share the training rows, correlation 1/k by Nadeau and Bengio's
    model."""
    rng = np.random.default_rng(1)
    rejected = {"paired t over folds": 0, "Nadeau-Bengio corrected t": 0}
    for _ in range(300):
        d = rng.normal(0, 0.1**0.5) + rng.normal(0, 0.9**0.5, (5, 10))
        comparison = compare(d, np.zeros_like(d), design="folds")
        for test in rejected:
            rejected[test] += comparison.row(test).p_value < 0.05
    assert rejected["paired t over folds"] / 300 > 0.25
    assert rejected["Nadeau-Bengio corrected t"] / 300 < 0.08


def test_different_folds_leave_nothing_to_pair():
    comparison = compare(scores(3, 5)[0], scores(2, 10)[1], design="folds", same_folds=False)
    row = comparison.row("paired t over folds")
    assert "nothing to pair" in row.reason and np.isnan(row.p_value)
    assert row.estimate == pytest.approx(scores(3, 5)[0].mean() - scores(2, 10)[1].mean())


def test_wongs_matched_t_is_for_leave_one_out_with_enough_of_every_difference():
    """Specification 4.2: frequencies (10, 84, 6) of -1, 0, 1 give a mean of -.04, s2 of .16 and t = -1.0, p .3197."""
    x_a, x_b = np.repeat([0, 1, 1, 0], [10, 6, 74, 10]), np.repeat([1, 0, 1, 0], [10, 6, 74, 10])
    row = compare(x_a, x_b, design="folds", n_splits=100, correct_a=x_a, correct_b=x_b).row("Wong's matched t over rows")
    assert row.applies and row.statistic == pytest.approx(-1.0, abs=5e-5) and row.df == 99 and round(row.p_value, 4) == 0.3197
    assert row.estimate == pytest.approx(-0.04)
    few = np.repeat([1, 0], [99, 1])
    row = compare(few, np.ones(100), design="folds", cv=LeaveOneOut(), correct_a=few, correct_b=np.ones(100)).row(
        "Wong's matched t over rows"
    )
    assert not row.applies and "here are 1, 99, 0" in row.reason
    row = compare(*scores(1, 10), design="folds", correct_a=x_a, correct_b=x_b).row("Wong's matched t over rows")
    assert not row.applies and "k = 10 and n = 100" in row.reason


def test_folds_that_all_differ_alike_are_said_to():
    comparison = compare(np.full((1, 5), 0.75), np.full((1, 5), 0.5), design="folds")
    assert "p says nothing" in comparison.row("Nadeau-Bengio corrected t").reason
    same = compare(np.full((1, 5), 0.75), np.full((1, 5), 0.75), design="folds")
    assert same.row("Nadeau-Bengio corrected t").p_value == 1


@pytest.mark.parametrize(("design", "blocks"), [("datasets", "data sets"), ("sources", "sources")])
def test_two_learners_over_blocks_are_compared_by_wilcoxon(design, blocks):
    a, b = np.random.default_rng(2).normal([[0.5], [0]], 1, (2, 14))
    comparison = compare(a, b, design=design, names=("CV", "DOB-SCV"))
    row = comparison.row("Wilcoxon signed ranks")
    expected = wilcoxon_signed_ranks(a, b)
    assert row.applies and (row.statistic, row.p_value) == (expected.r_plus, expected.p_value)
    t = comparison.row(f"paired t over {blocks}")
    assert (t.statistic, t.p_value) == pytest.approx(tuple(stats.ttest_rel(a, b)), rel=1e-10)
    assert t.applies == (design == "sources")
    assert applying(comparison) - {f"paired t over {blocks}"} == {
        "Wilcoxon signed ranks",
        "sign test",
        "Friedman",
        "Iman-Davenport F",
    }
    assert str(comparison).startswith(f"CV - DOB-SCV: 2 learners on 14 {blocks}")
    assert str(compare(np.stack([a, b], axis=1), design=design, names=("CV", "DOB-SCV"))) == str(comparison)


def test_several_learners_are_compared_by_friedman_and_pairs_with_holm():
    table = np.random.default_rng(3).normal([0, 0.5, 1], 1, (12, 3))
    comparison = compare(table, design="datasets", names=["x", "y", "z"])
    rows = [comparison.row(f"Wilcoxon signed ranks: {pair}") for pair in ("x - y", "x - z", "y - z")]
    raw = [wilcoxon_signed_ranks(table[:, i], table[:, j]).p_value for i, j in ((0, 1), (0, 2), (1, 2))]
    assert [row.p_value for row in rows] == pytest.approx(adjust_p(raw, "holm"), rel=1e-12)
    expected = friedman(table)
    row = comparison.row("Friedman")
    together = hodges_lehmann(table[:, 0] - table[:, 2], confidence=1 - 0.05 / 3)
    assert (rows[1].estimate, rows[1].low, rows[1].high) == pytest.approx(together, rel=1e-12)
    assert "hold for all of them together" in rows[1].reason
    assert (row.statistic, row.df, row.p_value) == (expected.chi2, 2, expected.p_chi2)
    assert comparison.row("Iman-Davenport F")[3:6] == (expected.f, (2, 22), expected.p_f)
    assert not comparison.row("paired t over data sets").applies


def test_few_blocks_cannot_be_significant_and_that_is_said():
    row = compare(np.arange(10.0).reshape(5, 2) * [[1, 2]], design="datasets").row("Wilcoxon signed ranks")
    assert "with 5 data sets p cannot be below 0.0625" in row.reason and row.p_value >= 0.0625
    assert (row.low, row.high) == (-np.inf, np.inf)
    assert (
        "cannot be below"
        not in compare(np.random.default_rng(0).random((6, 2)), design="datasets").row("Wilcoxon signed ranks").reason
    )


def test_the_interval_of_wilcoxon_is_rs():
    """wilcox.test(d, conf.int = TRUE, exact = TRUE) of R."""
    d = np.array([0.12, -0.3, 0.45, 0.2, 0.9, -0.05, 0.33, 0.71, 0.18, 0.02])
    assert hodges_lehmann(d) == pytest.approx((0.225, 0.015, 0.52), rel=1e-12)
    assert wilcoxon_signed_ranks(d, 0 * d).p_value == 0.048828125
    rng = np.random.default_rng(4)
    for _ in range(100):  # it leaves 0 out exactly where the test rejects
        d = rng.normal(0.6, 1, 11)
        _, low, high = hodges_lehmann(d)
        assert (low > 0 or high < 0) == (wilcoxon_signed_ranks(d, 0 * d).p_value <= 0.05)


def test_the_interval_of_wilcoxon_never_contradicts_the_test_of_rounded_tables():
    rng = np.random.default_rng(6)
    for _ in range(300):
        n = int(rng.integers(4, 20))
        a = np.round(0.8 + 0.05 * rng.standard_normal(n), 2)
        b = np.round(a + rng.choice([0, 0.02, 0.03]) + 0.03 * rng.standard_normal(n), 2)
        estimate, low, high = hodges_lehmann(a - b)
        assert low <= estimate <= high
        assert (low <= 0 <= high) == (wilcoxon_signed_ranks(a, b).p_value > 0.05), (a, b)
    many = np.round(rng.standard_normal(200) + 0.1, 1)  # ends of many differences are found by halves
    _, low, high = hodges_lehmann(many)
    assert low < 0.1 < high and high - low < 0.4


def test_scores_that_can_only_be_of_folds_need_no_design():
    a, b = scores(3, 5)
    cv = RepeatedKFold(n_splits=5, n_repeats=3, random_state=0)
    results = [{"test_score": one.ravel(), "fit_time": one.ravel()} for one in (a, b)]
    expected = compare(a, b, design="folds").rows
    for found in (
        compare(a, b),
        compare(a.ravel(), b.ravel(), cv=cv),
        compare(a.ravel().tolist(), b.ravel().tolist(), n_splits=5),
        compare(a.ravel(), b.ravel(), n_repeats=3),
        compare(*results, cv=cv),
        compare(*map(pd.DataFrame, results), n_splits=5),
        compare({"x": results[0], "y": results[1]}, cv=cv),
        compare({"x": a, "y": b}),
        compare(pd.DataFrame({"x": a.ravel(), "y": b.ravel()}), design="folds", cv=cv),
    ):
        assert found.design == "folds" and found.shape == "one data set, 3 x 5 folds"
        assert found.to_frame().equals(compare(a, b, design="folds").to_frame()) and len(found.rows) == len(expected)
    by_fold = [pd.Series(one[0], pd.RangeIndex(5, name="fold")) for one in (a, b)]
    assert compare(*by_fold).shape == "one data set, 5 folds"
    by_set = [pd.Series(one[0], pd.Index(list("pqrst"), name="dataset")) for one in (a, b)]
    assert compare(*by_set).design == "datasets"


@pytest.mark.parametrize("design", ["folds", "datasets"])
def test_names_come_with_the_scores(design):
    rng = np.random.default_rng(5)
    a, b = rng.random((2, 3, 4)) if design == "folds" else rng.random((2, 8))
    expected = str(compare(a, b, design=design, names=["ridge", "forest"]))
    assert str(compare({"ridge": a, "forest": b}, design=design)) == expected
    assert "ridge - forest" in expected
    if design == "datasets":
        frame = pd.DataFrame({"ridge": a, "forest": b})
        assert str(compare(frame, design=design)) == expected
        assert "a - b" in str(compare(frame.to_numpy(), design=design))
        assert "a - b" in str(compare(frame.set_axis([0, 1], axis=1), design=design))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: compare(a[0], a[1]), "have 4 numbers each; say what one is for.*n_splits=FOLDS.*design='datasets'"),
        (lambda a: compare({"x": a[0], "y": a[1]}), "x and y have 4 numbers each"),
        (lambda a: compare(a[0] > 1, a[1] > 4), "right or wrong for each item: .*unit='item'"),
        (lambda a: compare(a), "scores_b is missing.*design='datasets'"),
        (lambda a: compare(None), "scores_a is None"),
        (lambda a: compare([], []), r"scores_a has shape \(0,\)"),
        (lambda a: compare(list("xyz"), list("xyz")), "scores_a holds 'x', which is no number"),
        (lambda a: compare(iter(a[0]), iter(a[0])), r"can be read once; give a list: list\(scores_a\)"),
        (lambda a: compare({"x": a[0]}), "the scores of one learner, 'x'"),
        (lambda a: compare({"x": a[0]}, cv=4), "the scores of one learner, 'x'"),
        (lambda a: compare(0.9, 0.8), "one number has no spread"),
        (lambda a: compare("scores.csv"), r"pd.read_csv\('scores.csv'\)"),
        (lambda a: compare(GaussianNB(), GaussianNB(), cv=5), "scores_a is a learner, GaussianNB; .* give X= and y="),
        (lambda a: compare({"params": [], "split0_test_score": a[0]}, a[0]), "cv_results_ of a search"),
        (lambda a: compare(pd.DataFrame({"params": [{}], "split0_test_score": 1.0})), "cv_results_ of a search"),
        (lambda a: compare(LONG, design="folds"), "leave design='folds' out, or say unit='fold'"),
        (lambda a: compare(LONG, design="sources"), "scores_a.pivot"),
        (
            lambda a: compare(*(LONG[LONG.model == name] for name in "xy"), cv=5),
            r"compare\(pd.concat\(\[scores_a, scores_b\]\)\)",
        ),
        (lambda a: compare(a, a, n_splits=5), r"shape \(3, 4\), but n_splits=5 makes \(r, 5\)"),
        (lambda a: compare({"x": a, "y": a, "z": a}, n_splits=4), r"compare\(pd.DataFrame\(scores_a\), n_splits=FOLDS"),
        (lambda a: compare(a, a, design="fold"), "design='fold' must say what a score stands for: 'folds'"),
        (lambda a: compare({"x": a, "y": a, "z": a}, design="folds"), "scores_a holds 3 learners; design='folds' compares two"),
        (lambda a: compare({"x": a[0], "y": a[0, :2]}, design="datasets"), r"shapes \{'x': \(4,\), 'y': \(2,\)\}; expected"),
        (lambda a: compare(a, design="folds"), "scores_b is missing"),
        (lambda a: compare(a, a[:2], design="folds"), r"shapes \(3, 4\) and \(2, 4\); on the same folds"),
        (lambda a: compare(a[None], a[None], design="folds"), r"scores_a has shape \(1, 3, 4\); expected \(r, k\)"),
        (lambda a: compare(a, np.where(a > 0, a, np.nan), design="folds"), r"scores_b has 1 NaN .* first at \(0, 0\)"),
        (lambda a: compare(a[:, :1], a[:, :1], design="folds"), "repeated hold-out"),
        (lambda a: compare(a, a, design="folds", n_train=3), "n_train=3 and n_test=None must both"),
        (lambda a: compare(a, a, design="folds", n_train=3, n_test=-1), "n_test=-1 must be a positive"),
        (lambda a: compare(a, a, design="folds", correct_a=np.ones((3, 9))), "correct_b is missing"),
        (lambda a: compare(a, a, design="folds", correct_a=np.ones(9), correct_b=np.ones(9)), r"expected \(3, n\)"),
        (lambda a: compare(a, a, design="folds", rope=-1), "rope=-1 must be"),
        (lambda a: compare(a, a, design="folds", confidence=95), "confidence=95 must be between"),
        (lambda a: compare(a, a, design="folds", names=["x", "x"]), "names has 2 names, 1 of them different; expected 2"),
        (lambda a: compare(a, a, design="datasets"), r"expected \(n_blocks,\) twice.*repetitions, which are not blocks"),
        (lambda a: compare(a[None], design="datasets"), r"\(1, 3, 4\); expected \(n_blocks, n_learners\)"),
        (lambda a: compare(a[:1], design="sources"), r"\(1, 4\); expected \(n_blocks, n_learners\)"),
        (lambda a: compare(a, design="sources", n_test=3), "n_test cannot be used with design='sources'"),
        (lambda a: compare(a, design="datasets", cv=3), "cv cannot be used with design='datasets'"),
        (lambda a: compare(a, design="datasets", rope=-1), "rope=-1 must be"),
        (lambda a: compare(a.ravel(), a.ravel(), design="folds"), "scores_a has 12 scores in a row: 12 folds of one partition"),
        (lambda a: compare(a, a, design="folds", cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=4)), "other way round: pass"),
        (lambda a: compare(a, a, design="folds").row("t"), "test='t' is not in this comparison; it has paired t"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.arange(12.0).reshape(3, 4))


@pytest.fixture(scope="module")
def tenfold():
    X, y = load_breast_cancer(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
    models = LinearDiscriminantAnalysis(), GaussianNB()
    return cv, [cross_validate(model, X[:150], y[:150], cv=cv, scoring=["accuracy", "roc_auc"]) for model in models]


def test_what_scikit_learn_returns_is_read_in_its_right_shape(tenfold):
    """Read as one run of 20 folds, the overlap was 1/19 instead of 1/4."""
    cv, results = tenfold
    flat = [result["test_accuracy"] for result in results]
    d = (flat[0] - flat[1]).reshape(4, 5)
    right = nadeau_bengio(d, 4, 1)
    for comparison in (
        compare(*results, design="folds", cv=cv, metric="accuracy"),
        compare(*flat, design="folds", cv=cv),
        compare(*flat, design="folds", n_splits=5, n_repeats=4),
        compare(*(scores.reshape(4, 5) for scores in flat), design="folds"),
    ):
        row = comparison.row("Nadeau-Bengio corrected t")
        assert (row.statistic, row.p_value) == (
            right.statistic,
            right.p_value,
        ) and comparison.shape == "one data set, 4 x 5 folds"
    assert right.p_value > nadeau_bengio(d.ravel(), 19, 1).p_value
    with pytest.raises(ValueError, match="several metrics; say which with metric=, one of 'accuracy', 'roc_auc'"):
        compare(*results, design="folds", cv=cv)
    with pytest.raises(ValueError, match="scores_a has 20 scores in a row"):
        compare(*flat, design="folds")


def test_repeated_subsampling_takes_its_sizes_from_the_splitter():
    a, b = scores(15, 1)
    expected = nadeau_bengio(a - b, 80, 20)
    cv = ShuffleSplit(15, random_state=0, test_size=0.2)
    for comparison in (
        compare(a.ravel(), b.ravel(), design="folds", cv=cv),
        compare(a, b, design="folds", n_train=80, n_test=20),
        compare(a.ravel(), b.ravel(), design="folds", n_splits=1, n_train=80, n_test=20),
    ):
        row = comparison.row("Nadeau-Bengio corrected t")
        assert row.applies and row.p_value == pytest.approx(expected.p_value, rel=1e-12) and "15 hold-outs" in row.reason


def test_beside_the_corrected_t_stands_how_well_it_holds():
    for shape, words in (((1, 10), "with 10 folds of"), ((10, 10), "with 10 x 10 folds of")):
        reason = compare(*scores(*shape), design="folds").row("Nadeau-Bengio corrected t").reason
        assert words in reason and "(5 nearest neighbours)" in reason and "between two equally good learners" in reason
    assert "with 5 x 2 folds of" in compare(*scores(5, 2), design="folds").row("5x2cv F").reason


def test_equivalence_and_bayes_take_the_region():
    a, b = scores(5, 4)
    comparison = compare(a, b, design="folds", rope=0.1)
    row = comparison.row("equivalence (two one-sided corrected t)")
    expected = equivalence_test(nadeau_bengio(a - b, 3, 1), 0.1)
    assert row.applies and row.p_value == expected.p_value
    assert not compare(a, b, design="folds").row("equivalence (two one-sided corrected t)").applies
    a, b = np.random.default_rng(5).normal(0.8, 0.01, (2, 12))
    comparison = compare(a, b, design="datasets", rope=0.02)
    assert comparison.row("equivalence (two one-sided signed ranks)").p_value == equivalence_signed_ranks(a, b, 0.02).p_value
    assert comparison.row("Bayesian signed ranks").probabilities == bayesian_signed_ranks(a, b, rope=0.02)[:3]
    assert comparison.row("sign test").p_value == sign_test(a, b).p_value
    assert "give rope=" in compare(a, b, design="datasets").row("Bayesian signed ranks").reason


def test_it_reads_as_sentences_a_table_and_a_page():
    comparison = compare(*scores(10, 10), design="folds", names=["<tree>", "forest"], rope=0.01)
    told = comparison.sentences()
    assert told[0] == "<tree> - forest: one data set, 10 x 10 folds." and told[-1].startswith("These do not apply")
    frame = comparison.to_frame()
    assert len(frame) == len(comparison.rows) and frame["applies"].is_monotonic_decreasing
    assert frame.set_index("test").loc["Bayesian correlated t", ["p_smaller", "p_within", "p_larger"]].sum() == pytest.approx(1)
    page = comparison._repr_html_()
    assert "&lt;tree&gt; - forest" in page and "<table" in page
    assert str(comparison).startswith("<tree> - forest: one data set, 10 x 10 folds\n\nThese apply:")


@pytest.mark.parametrize("rope", [0.0, 0.02])
def test_the_plot_shows_the_intervals_of_the_tests_that_apply(rope):
    plt = pytest.importorskip("matplotlib.pyplot")
    for comparison in (
        compare(*scores(10, 10), design="folds", names=["$a", "b"], rope=rope),
        compare(scores(4, 3)[0], design="datasets", rope=rope),
        compare(*scores(3, 4), design="folds", same_folds=False, rope=rope),
    ):
        _, given = plt.subplots()
        ax = comparison.plot(given)
        assert ax is given
        shown = [row.test for row in comparison.rows if row.applies and not np.isnan(row.low)]
        assert [label.get_text() for label in ax.get_yticklabels()] == shown[::-1]
        assert len(ax.patches) == (rope > 0)
        ax.figure.canvas.draw()
    assert comparison.plot().texts[0].get_text() == "no test that applies has an interval"


def test_the_wrong_shape_found_what_is_not_there():
    """Equally good learners, folds correlated by 1/10: 100 scores in a row were one run of 100 folds, which rejected in half."""
    rng = np.random.default_rng(2)
    d = rng.normal(0, 0.1**0.5, (400, 1, 1)) + rng.normal(0, 0.9**0.5, (400, 10, 10))
    assert (nadeau_bengio(d.reshape(400, 1, 100), 99, 1).p_value < 0.05).mean() > 0.3
    assert (nadeau_bengio(d, 9, 1).p_value < 0.05).mean() < 0.08
    zeros = np.zeros(100)
    p = [compare(one.ravel(), zeros, design="folds", n_splits=10).row("Nadeau-Bengio corrected t").p_value for one in d[:50]]
    assert p == pytest.approx(nadeau_bengio(d[:50], 9, 1).p_value, rel=1e-12)


# Folds that are the same, or are not


def scored(cv, seed=0, **options):
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.repeat([0, 1], 30)
    model = DummyClassifier(strategy="uniform", random_state=seed)
    return cross_validate(model, X, y, cv=cv, **options), X, y


def test_a_splitter_that_cuts_anew_makes_nothing_to_pair():
    a, b = np.random.default_rng(0).random((2, 20))
    for cv in (
        RepeatedKFold(n_splits=5, n_repeats=4),
        RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=np.random.RandomState(0)),
    ):
        found = compare(a, b, cv=cv, design="folds")
        assert not any(row.applies for row in found.rows) and "different ones" in found.shape
        assert "has no random state" in found.rows[0].reason and "same_folds=True" in found.rows[0].reason
        assert compare(a, b, cv=cv, design="folds", same_folds=True).row("Nadeau-Bengio corrected t").applies
    for cv in (RepeatedKFold(n_splits=5, n_repeats=4, random_state=0), KFold(20), 20):
        assert compare(a, b, cv=cv, design="folds").row("Nadeau-Bengio corrected t").applies


def test_folds_in_the_scores_decide_whether_they_are_paired():
    cv = KFold(5, shuffle=True)
    (a, X, y), (b, *_) = scored(cv, return_indices=True), scored(cv, 1, return_indices=True)
    with pytest.raises(ValueError, match="the two learners have different folds"):
        compare(a, b, cv=cv, design="folds")
    assert not compare(a, b, cv=cv, design="folds", same_folds=False).row("Nadeau-Bengio corrected t").applies
    once = list(cv.split(X, y))
    (a, *_), (b, *_) = scored(once, return_indices=True), scored(once, 1, return_indices=True)
    assert compare(a, b, cv=cv, design="folds").row("Nadeau-Bengio corrected t").applies


def test_repetitions_of_one_partition_count_once():
    X = np.zeros((20, 1))
    cut = list(KFold(5).split(X))
    a, b = np.random.default_rng(0).random((2, 15))
    found = compare(a, b, cv=cut * 3, design="folds")
    once = compare(a[:5], b[:5], cv=cut, design="folds")
    assert found.shape == "one data set, 5 folds (3 repetitions, of which 2 repeat a partition and do not count)"
    assert found.row("Nadeau-Bengio corrected t").p_value == once.row("Nadeau-Bengio corrected t").p_value
    turned = cut[2:] + cut[:2]  # the same partition, its folds in another order
    assert compare(
        a, b, cv=cut + turned + list(KFold(5, shuffle=True, random_state=0).split(X)), design="folds"
    ).shape.startswith("one data set, 2 x 5")


def test_shares_beside_percents_are_refused_in_arrays_as_in_tables():
    a = np.linspace(0.7, 0.9, 10)
    for options in ({"design": "folds", "cv": 10}, {"design": "datasets"}):
        with pytest.raises(ValueError, match="some scores are shares and others percents"):
            compare(a, 100 * a, **options)
        assert compare(100 * a, 90 * a, **options).rows  # all in percent
        assert compare(a, 3 * a, **options).rows  # losses


def test_two_learners_in_the_place_of_differences_are_told_what_to_do():
    with pytest.raises(ValueError, match=r"nadeau_bengio\(scores_a - scores_b, n_train, n_test\)"):
        nadeau_bengio(np.ones((2, 5)), np.ones((2, 5)), 90)
