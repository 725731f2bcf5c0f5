"""Intervals of scores: estimates of scikit-learn, ends by hand, influences by differences, domains, odd tables, refusals."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics

from foldshift.core.errors import DataError
from foldshift.inference import mcnemar, score_difference_interval, score_interval
from foldshift.inference.intervals.mean_loss import DEPENDENT
from foldshift.inference.intervals.score_difference import PAIRED
from foldshift.inference.intervals.score_ends import Spread, area_ends, area_variance, quantile_of
from foldshift.inference.intervals.score_names import SCORES, score_name
from foldshift.inference.intervals.score_parts import area, average_precision, label_score, table_of, table_score
from foldshift.inference.proportions import wilson_interval

RNG = np.random.default_rng(0)
N = 120
BINARY = (RNG.random(N) < 0.3).astype(int)
LABELS = np.where(RNG.random((2, N)) < 0.8, BINARY, 1 - BINARY)
RANKS = (BINARY + RNG.standard_normal((2, N))).round(1)  # with ties
NUMBERS = RNG.standard_normal(N)
PREDICTED = 0.5 * NUMBERS + RNG.standard_normal((2, N)) / 2
OTHER = 0.4 * NUMBERS + RNG.standard_normal((2, N)) / 2
FOLDS, GROUPS = np.arange(N) % 5, np.arange(N) // 6
SKLEARN = {
    "error": lambda y, p: 1 - metrics.accuracy_score(y, p),
    "specificity": lambda y, p: metrics.recall_score(y, p, pos_label=0),
    "cohen_kappa": metrics.cohen_kappa_score,
    "roc_auc": metrics.roc_auc_score,
    "brier_score": metrics.brier_score_loss,
    "log_loss": metrics.log_loss,
    "root_mean_squared_error": metrics.root_mean_squared_error,
    "matthews_corrcoef": metrics.matthews_corrcoef,
}


def case(name):
    """Target and predictions (2, n) that a score needs, and those of another learner."""
    other = np.where(RNG.random((2, N)) < 0.75, BINARY, 1 - BINARY)
    return {
        "labels": (BINARY, LABELS, other),
        "ranks": (BINARY, RANKS, RANKS + 0.5 * np.random.default_rng(1).standard_normal((2, N))),
        "probabilities": (BINARY, 1 / (1 + np.exp(-RANKS)), 1 / (1 + np.exp(-0.5 * RANKS))),
        "numbers": (NUMBERS, PREDICTED, OTHER),
    }[score_name(name).needs]


def of_sklearn(name, y, predicted):
    if name in SKLEARN:
        return SKLEARN[name](y, predicted)
    if score_name(name).needs == "labels":
        if "_" in name and name.split("_")[-1] in ("macro", "weighted", "micro"):
            return getattr(metrics, f"{name.rsplit('_', 1)[0]}_score")(y, predicted, average=name.rsplit("_", 1)[1])
        return getattr(metrics, f"{name}_score")(y, predicted)
    return getattr(metrics, name if hasattr(metrics, name) else f"{name}_score")(y, predicted)


@pytest.mark.parametrize("name", SCORES)
def test_estimates_are_those_of_scikit_learn(name):
    y, predicted, other = case(name)
    wanted = np.mean([of_sklearn(name, y, one) for one in predicted])
    assert score_interval(y, predicted, name).estimate == pytest.approx(wanted, abs=1e-12)
    less = np.mean([of_sklearn(name, y, one) for one in other])
    assert score_difference_interval(y, predicted, other, name).estimate == pytest.approx(wanted - less, abs=1e-12)


def test_scores_of_several_classes_are_those_of_scikit_learn():
    y = RNG.integers(4, size=90)
    predicted = np.where(RNG.random(90) < 0.6, y, RNG.integers(3, size=90))  # the last class is predicted where it is right only
    for name in ("balanced_accuracy", "f1_macro", "f1_weighted", "precision_macro", "jaccard_weighted", "cohen_kappa"):
        assert score_interval(y, predicted, name).estimate == pytest.approx(of_sklearn(name, y, predicted)), name
    text = np.array(list("abcd"))
    assert score_interval(text[y], text[predicted], "f1_macro")[2:5] == score_interval(y, predicted, "f1_macro")[2:5]


@pytest.mark.parametrize("name", SCORES)
def test_ends_stay_in_the_domain_with_groups_repetitions_and_few_rows(name):
    score = SCORES[name]
    for size in (8, 20, N):
        y, predicted, other = (np.asarray(one)[..., :size] for one in case(name))
        for options in ({}, {"groups": np.arange(size) // 2}, {"folds": np.arange(size) % 2}):
            found = score_interval(y, predicted, name, **options)
            assert score.low <= found.low <= found.estimate <= found.high <= score.high, (name, size, options)
            gap = score_difference_interval(y, predicted, other, name, **options)
            assert gap.low < gap.estimate < gap.high, (name, size, options)
            assert max(abs(gap.low), abs(gap.high)) <= score.high - score.low
            back = score_difference_interval(y, other, predicted, name, **options)
            assert (back.low, back.high) == pytest.approx((-gap.high, -gap.low), abs=1e-9)


def test_accuracy_is_wilson_s_with_fewer_rows():
    y = np.zeros(50, dtype=int)
    predicted = (np.arange(50) < 8).astype(int)
    found = score_interval(y, predicted, "accuracy")
    assert (found.low, found.high) == pytest.approx(tuple(map(float, wilson_interval(42 / 50, 50 / DEPENDENT))))


def test_f1_is_the_mapped_jaccard_index():
    y, predicted = np.repeat([1, 1, 0, 0], [12, 5, 3, 80]), np.repeat([1, 0, 1, 0], [12, 5, 3, 80])
    found = score_interval(y, predicted, "f1")
    low, high = wilson_interval(12 / 20, 20 / DEPENDENT)
    assert found.estimate == pytest.approx(24 / 32)
    assert (found.low, found.high) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))


def test_balanced_accuracy_joins_the_recalls_by_mover():
    y, predicted = np.repeat([1, 1, 0, 0], [6, 2, 80, 12]), np.repeat([1, 0, 0, 1], [6, 2, 80, 12])
    found = score_interval(y, predicted, "balanced_accuracy")
    shares, sizes = np.array([6 / 8, 80 / 92]), np.array([8, 92])
    low, high = wilson_interval(shares, sizes / DEPENDENT)
    ends = shares.mean() - np.hypot(*(shares - low)) / 2, shares.mean() + np.hypot(*(high - shares)) / 2
    assert (found.low, found.high) == pytest.approx(ends)


@pytest.mark.parametrize("name", ["matthews_corrcoef", "cohen_kappa"])
def test_gradients_of_tables_are_those_of_small_steps(name):
    table = np.array([[20.0, 4, 1], [3, 15, 2], [0, 5, 9]])
    value, gradient = table_score(name, table)
    for place in np.ndindex(3, 3):
        moved = table / table.sum()
        moved[place] += 1e-6
        step = (table_score(name, moved)[0] - value) / 1e-6
        assert step == pytest.approx(gradient[place] - (gradient * table / table.sum()).sum(), abs=1e-4)


@pytest.mark.parametrize("name", [one for one, score in SCORES.items() if score.needs == "labels"])
def test_influences_of_labels_are_those_of_rows_counted_twice(name):
    score, table = SCORES[name], table_of(BINARY, LABELS[0], 2)
    value, influence = label_score(score, table, 1)
    assert (influence * table).sum() == pytest.approx(0, abs=1e-9)
    if score.average == "weighted":
        return  # the weights of classes are held fixed
    for place in np.ndindex(2, 2):
        more = 1000 * table
        more[place] += 1
        assert (label_score(score, more, 1)[0] - value) * more.sum() == pytest.approx(influence[place], abs=0.01)


def test_influences_of_average_precision_are_those_of_the_jackknife():
    positive, scores = BINARY == 1, RANKS[0]
    found = average_precision(positive, scores)
    without = [average_precision(np.delete(positive, i), np.delete(scores, i)).estimate for i in range(N)]
    assert np.corrcoef(found.influence, -np.array(without))[0, 1] > 0.999


def ledell(y, scores, folds):
    """Estimate and variance of LeDell et al. (2015), by their formulas: means over folds, class shares of the fold."""
    areas, parts = [], []
    for fold in np.unique(folds):
        up, down = scores[(folds == fold) & (y == 1)], scores[(folds == fold) & (y == 0)]
        wins = (up[:, None] > down) + 0.5 * (up[:, None] == down)
        share, value = len(up) / (len(up) + len(down)), wins.mean()
        of_up, of_down = (wins.mean(axis=1) - value) / share, (wins.mean(axis=0) - value) / (1 - share)
        areas.append(value)
        parts.append((np.concatenate([of_up, of_down]) ** 2).mean())
    return np.mean(areas), np.mean(parts) / len(y)


def test_area_over_equal_folds_has_the_variance_of_ledell():
    y, folds = np.arange(200) % 4 // 3, np.arange(200) // 4 % 5  # ten positive rows and thirty others in every fold
    scores = y + RNG.standard_normal(200)
    found = area(y == 1, scores, folds)
    estimate, _ = ledell(y, scores, folds)
    assert found.estimate == pytest.approx(estimate)
    plain = found.influence * np.where(y == 1, np.sqrt(45 / 50), np.sqrt(145 / 150))  # theirs counts no mean that is estimated
    assert (plain**2).sum() / 200**2 == pytest.approx(ledell(y, scores, folds)[1])


def test_area_of_one_test_set_has_the_variance_of_delong():
    found = area(BINARY == 1, RANKS[0], np.zeros(N, dtype=int))
    up, down = RANKS[0][BINARY == 1], RANKS[0][BINARY == 0]
    wins = (up[:, None] > down) + 0.5 * (up[:, None] == down)
    wanted = wins.mean(axis=1).var(ddof=1) / len(up) + wins.mean(axis=0).var(ddof=1) / len(down)
    assert area_variance(found.influence[None], BINARY == 1, None)[0] == pytest.approx(wanted)


def test_ends_of_an_area_are_as_far_off_as_their_own_variance_allows():
    positive = np.repeat([True, False], [10, 40])
    found = area(positive, np.r_[np.linspace(0, 1, 10) + 0.4, np.linspace(0, 1, 40)], np.zeros(50, dtype=int))
    ends = area_ends([found], positive, Spread(None, 1.0, 0.95))

    def exponential(one):
        return one * (1 - one) / 400 * (1 + 24 * ((1 - one) / (2 - one) + one / (1 + one)))

    ratio = ends.standard_error**2 / exponential(ends.estimate)
    assert ratio > 0.5  # above the least one
    for end in (ends.low, ends.high):
        assert (end - ends.estimate) ** 2 == pytest.approx(quantile_of(0.95, 9) ** 2 * ratio * exponential(end), rel=1e-6)


@pytest.mark.parametrize(
    ("y", "predicted", "name"),
    [
        *(([0, 1] * 10, [0, 1] * 10, name) for name, one in SCORES.items() if one.needs != "numbers"),
        *((np.arange(20.0), np.arange(20.0), name) for name, one in SCORES.items() if one.needs == "numbers"),
        ([0, 0, 0, 1], [0, 0, 0, 0], "f1"),
        ([0, 0, 0, 1], [0, 0, 0, 0], "matthews_corrcoef"),
        ([1], [1], "accuracy"),
    ],
)
def test_perfect_and_empty_tables_have_an_interval_that_is_no_point(y, predicted, name):
    found = score_interval(y, predicted, name)
    assert found.low < found.high and found.low <= found.estimate <= found.high
    if len(y) > 1:
        gap = score_difference_interval(y, predicted, predicted, name)
        assert gap.estimate == 0 and gap.low < 0 < gap.high


def test_precision_without_a_positive_prediction_is_not_defined():
    found = score_interval([0, 1, 0, 1], [0, 0, 0, 0], "precision")
    assert np.isnan(found.estimate) and (found.low, found.high) == (0, 1) and "not defined" in found.note
    gap = score_difference_interval([0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1], "precision")
    assert np.isnan(gap.estimate) and -1 <= gap.low < gap.high <= 1


def test_differences_of_accuracies_are_bonett_and_price_s():
    y, a, b = np.zeros(60, dtype=int), (np.arange(60) < 9).astype(int), (np.arange(60) >= 53).astype(int)
    found, wanted = score_difference_interval(y, a, b, "accuracy"), mcnemar(a == y, b == y)
    middle = (wanted.low + wanted.high) / 2
    half = (wanted.high - wanted.low) / 2 * PAIRED**0.5
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half))


def test_repetitions_of_the_same_predictions_change_nothing():
    for name in SCORES:
        y, predicted, _ = case(name)
        once, often = (score_interval(y, np.repeat(predicted[:1], r, axis=0), name) for r in (1, 4))
        assert often[2:6] == pytest.approx(once[2:6]), name


def test_rows_in_groups_count_as_groups():
    y, right = np.repeat(RNG.integers(2, size=20), 6), np.repeat(RNG.random(20) < 0.7, 6)
    predicted = np.where(right, y, 1 - y)
    alone, together = (score_interval(y, predicted, "accuracy", groups=groups) for groups in (None, GROUPS))
    assert together.high - together.low > 1.8 * (alone.high - alone.low)
    assert together.df == 19
    one_each = score_interval(y, predicted, "accuracy", groups=np.arange(120))
    assert one_each.high - one_each.low == pytest.approx(alone.high - alone.low, rel=0.05)


def test_rows_that_are_not_tested_are_left_out():
    folds = np.where(np.arange(N) < 20, -1, FOLDS)
    found = score_interval(BINARY, LABELS[0], "f1", folds=folds)
    assert found[2:5] == score_interval(BINARY[20:], LABELS[0][20:], "f1")[2:5] and "20 rows" in found.note


def test_cautions_are_said():
    y = np.r_[np.ones(3, dtype=int), np.zeros(60, dtype=int)]
    assert "3 rows" in score_interval(y, y, "recall").note
    assert "holds" in score_interval(np.r_[np.arange(50.0), 50], np.r_[np.arange(50.0) + 0.1, 90], "rmse").note
    found = score_interval(y, np.r_[0.0, np.full(62, 0.5)], "log_loss")
    assert "1 row" in found.note and found.estimate == pytest.approx((-np.log(1e-3) + 62 * np.log(2)) / 63)
    assert "too high" in score_interval(y, y + RNG.random(63), "average_precision").note
    assert "5 groups" in score_interval(BINARY, LABELS[0], "error", groups=np.arange(N) % 5).note
    assert "unstable" in score_interval(BINARY, LABELS, "error").note


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 1] * 5, [0, 1] * 4, "accuracy"), "shape (8,) for 10 rows"),
        (([0, 1] * 5, [0.2, 0.7] * 5, "f1"), "(probability > 0.5)"),
        ((["a", "b"] * 5, [0, 1] * 5, "f1"), "needs labels"),
        (([0, 1, 2] * 5, [0, 1, 2] * 5, "f1"), "pos_label=2"),
        (([0, 1] * 5, [0, 1] * 5, "f2"), "f1"),
        (([0, 1] * 5, [0, np.nan] * 5, "accuracy"), "NaN"),
        (([0, None] * 5, [0, 1] * 5, "accuracy"), "None"),
        ((np.ma.masked_equal([0, 1] * 5, 1), [0, 1] * 5, "accuracy"), "masked"),
        (([0, 1] * 5, [2.0, 1] * 5, "brier_score"), "from 0 to 1"),
        (([0, 1] * 5, np.zeros((10, 3)), "accuracy"), "predictions.T"),
        (([0, 1, 2] * 5, np.full(15, 0.5), "log_loss"), "(15, 3)"),
        (([0, 1] * 5, list("xy") * 5, "roc_auc"), "not a number"),
        (([0, 1] * 5, [1j, 0] * 5, "roc_auc"), "complex"),
        (([1.0, 2.0], [1.0, 2.0], len), "scorers of your own"),
    ],
)
def test_mistakes_are_named_with_a_remedy(arguments, words):
    with pytest.raises(DataError) as error:
        score_interval(*arguments)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_series_in_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    y = pd.Series(BINARY)
    with pytest.raises(ValueError, match="labels in another order"):
        score_interval(y, pd.Series(LABELS[0]).iloc[::-1], "accuracy")


def test_a_wider_confidence_has_a_wider_interval():
    for name in SCORES:
        y, predicted, other = case(name)
        widths = []
        for confidence in (0.8, 0.95, 0.99):
            one = score_interval(y, predicted, name, confidence=confidence)
            two = score_difference_interval(y, predicted, other, name, confidence=confidence)
            widths.append((one.high - one.low, two.high - two.low))
        assert np.all(np.diff(widths, axis=0) > 0), name
    assert quantile_of(0.95, np.inf) == pytest.approx(norm.isf(0.025))


def test_heavy_tails_are_said_where_no_row_holds_much_of_the_loss():
    rng = np.random.default_rng(3)
    heavy, normal = rng.standard_t(2.2, 400), rng.standard_normal(400)
    heavy[np.abs(heavy) > 12] = 3.0  # the largest ones are not in the sample
    for metric in ("root_mean_squared_error", "mean_absolute_error"):
        assert "heavy tails" not in score_interval(normal, np.zeros(400), metric).note
    assert "heavy tails: the mean square" in score_interval(heavy, np.zeros(400), "root_mean_squared_error").note
    y = np.arange(400) % 100 == 0  # a bounded loss has no such tail
    assert "heavy tails" not in score_interval(y.astype(int), np.full(400, 0.01), "brier_score").note


def test_few_groups_with_positive_rows_widen_the_interval_of_ranks_and_are_said():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(30), 8)
    y = np.isin(groups, (0, 1, 2)).astype(int) * (rng.random(240) < 0.5)
    predicted = y + rng.normal(size=240)
    for metric in ("average_precision", "roc_auc"):
        found = score_interval(y, predicted, metric, groups=groups)
        assert "only 3 groups hold one of the classes" in found.note and found.df == 2
        assert "groups hold" not in score_interval(np.arange(240) % 2, predicted, metric, groups=groups).note


def chances(labels=BINARY):
    """Probabilities of both classes, as predict_proba gives them."""
    up = np.clip(0.5 + 0.3 * (labels - 0.5) + np.random.default_rng(2).normal(0, 0.3, len(labels)), 0.01, 0.99)
    return np.column_stack([1 - up, up])


@pytest.mark.parametrize(
    ("metric", "predictions", "options", "remedy"),
    [
        ("roc_auc", chances(), {}, "pass predictions[:, 1]"),
        ("roc_auc", chances(), {"pos_label": 0}, "pass predictions[:, 0]"),
        ("average_precision", chances().T, {}, "pass predictions[1]"),
        ("accuracy", chances(), {}, "pass np.unique(y)[predictions.argmax(axis=1)]"),
        ("f1", np.eye(2, dtype=int)[LABELS[0]], {}, "pass np.unique(y)[predictions.argmax(axis=1)]"),
        ("brier_score", chances().T, {}, "pass predictions.T"),
        ("roc_auc", RANKS.T, {}, "if its columns are repetitions, pass predictions.T"),
    ],
)
def test_columns_of_predict_proba_are_no_repetitions_and_the_remedy_works(metric, predictions, options, remedy):
    with pytest.raises(DataError) as refused:
        score_interval(BINARY, predictions, metric, **options)
    assert str(refused.value).endswith(remedy)
    again = eval(remedy.partition("pass ")[2], {"np": np, "predictions": predictions, "y": BINARY})
    assert np.isfinite(score_interval(BINARY, again, metric, **options).low)
    with pytest.raises(DataError, match="predictions_a has shape"):
        score_difference_interval(BINARY, predictions, predictions, metric, **options)


def test_labels_in_the_place_of_scores_and_the_other_class_are_said():
    up = chances()[:, 1]
    assert score_interval(BINARY, up, "roc_auc").note == ""
    assert "of labels this is the score of a single threshold" in score_interval(BINARY, LABELS[0], "roc_auc").note
    assert "predictions_b holds two values" in score_difference_interval(BINARY, up, LABELS[0], "roc_auc").note
    assert "0 and 1 only" in score_interval(BINARY, LABELS[0], "brier_score").note
    turned = score_interval(BINARY, 1 - up, "roc_auc")
    assert f"of the other class it is {1 - turned.estimate:.4g}" in turned.note
    words = np.where(BINARY, "sick", "healthy")
    assert score_interval(words, up, "roc_auc").note == "the positive class is 'sick'; pos_label= names another"
    assert score_interval(words, up, "roc_auc", pos_label="sick").note == ""
    assert "'sick'" in score_interval(words, up, "brier_score").note
    assert score_interval(words, chances(), "brier_score").note == score_interval(words, words, "accuracy").note == ""


@pytest.mark.parametrize("name", SCORES)
def test_one_group_has_no_interval(name):
    y, predictions, other = case(name)
    one = np.zeros(N, dtype=int)
    for found in (
        score_interval(y, predictions, name, groups=one),
        score_difference_interval(y, predictions, other, name, groups=one),
    ):
        assert np.isnan([found.low, found.high, found.standard_error]).all() and np.isfinite(found.estimate)
        assert "one group only" in found.note


def test_mistakes_have_messages_of_their_own():
    up = chances()[:, 1]
    with pytest.raises(DataError, match="exchanged"):
        score_interval(up, BINARY, "roc_auc")
    with pytest.raises(DataError, match="y has one class, 1; roc_auc needs rows of two"):
        score_interval(np.ones(N, dtype=int), up, "roc_auc")
    with pytest.raises(ValueError, match="folds=5 is one number"):
        score_interval(BINARY, up, "roc_auc", folds=5)
    assert score_interval(np.ones(N), NUMBERS, "r2").note == "y has the same value in all rows: r2 is not defined"
    with pytest.raises(ValueError, match="mcnemar takes which rows each learner gets right"):
        mcnemar(BINARY, *LABELS)


@pytest.mark.parametrize(
    ("given", "name"),
    [("AUC", "roc_auc"), ("ROC AUC", "roc_auc"), ("f1_score", "f1"), ("R2", "r2"), ("Brier-Score", "brier_score")],
)
def test_names_of_scores_as_people_write_them(given, name):
    assert score_name(given).name == name
