"""Intervals of cross-validated areas under the ROC curve: DeLong's as an oracle of one fold, pairs counted by hand, coverage."""

import numpy as np
import pytest
from scipy.special import logit, ndtr
from scipy.stats import t as student_t
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from foldshift.inference.intervals.auc import auc_interval


def _data(n=200, seed=0, r=1):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    scores = np.round(y + rng.standard_normal((r, n)), 1)  # with ties
    return y, scores, np.stack([rng.permutation(n) % 5 for _ in range(r)])


def delong(y, scores, ddof=0):
    """DeLong's placements; the number of rows of a class is the divisor, as in influence curves, or one less, as in DeLong's."""
    a, b = scores[y == 1], scores[y == 0]
    wins = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    return wins.mean(), wins.mean(axis=1).var(ddof=ddof) / len(a) + wins.mean(axis=0).var(ddof=ddof) / len(b)


def test_one_fold_is_delong_s():
    y, scores, _ = _data()
    found = auc_interval(y, scores[0], np.zeros(200, dtype=int), ends="normal")
    area, variance = delong(y, scores[0], ddof=1)
    assert found.estimate == pytest.approx(area) == roc_auc_score(y, scores[0])
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((area - 1.959964 * variance**0.5, area + 1.959964 * variance**0.5), rel=1e-6)


def test_folds_are_averaged_and_their_variances_added():
    y, scores, folds = _data()
    found = auc_interval(y, scores[0], folds[0], variance="plain", ends="normal")
    parts = [delong(y[folds[0] == k], scores[0][folds[0] == k]) for k in range(5)]
    assert found.estimate == pytest.approx(np.mean([area for area, _ in parts]))
    assert found.standard_error == pytest.approx(np.sqrt(np.sum([variance for _, variance in parts])) / 5, rel=1e-12)


def test_stratified_folds_have_the_influence_curve_of_the_authors_program():
    """Weights from the class shares of all rows, the mean over folds of the mean square, over the number of rows."""
    rng = np.random.default_rng(1)
    y, folds = np.tile([1, 0, 0], 50), np.repeat(np.arange(5), 30)
    scores = y + rng.standard_normal(150)
    squares = []
    for k in range(5):
        a, b = (scores[(folds == k) & (y == label)] for label in (1, 0))
        wins = (a[:, None] > b).astype(float)
        curve = np.r_[3 * (wins.mean(axis=1) - wins.mean()), 1.5 * (wins.mean(axis=0) - wins.mean())]
        squares.append((curve**2).mean())
    found = auc_interval(y, scores, folds, variance="plain", ends="normal")
    assert found.standard_error == pytest.approx(np.sqrt(np.mean(squares) / 150), rel=1e-12)


def test_the_variance_is_right_on_average_where_a_fold_has_two_rows_of_a_class():
    """The area of a fixed score is a mean over folds of known variance; influences about a fold's own mean fall short of it."""
    y, folds = np.tile(np.arange(10) < 2, 10), np.repeat(np.arange(10), 10)
    found = {"unbiased": [], "plain": []}
    estimates = []
    for seed in range(1500):
        scores = y + np.random.default_rng(seed).standard_normal(100)
        for variance, squares in found.items():
            one = auc_interval(y, scores, folds, variance=variance)
            squares.append(one.standard_error**2)
        estimates.append(one.estimate)
    ratio = {variance: np.mean(squares) / np.var(estimates, ddof=1) for variance, squares in found.items()}
    assert abs(ratio["unbiased"] - 1) < 0.12 and ratio["plain"] < 0.75, ratio
    once = np.repeat([True, False], [10, 90])  # one row of the class in each fold: nothing tells how much they vary
    alone = auc_interval(once, scores, np.arange(100) % 10)
    assert alone.standard_error > auc_interval(once, scores, np.arange(100) % 10, variance="plain").standard_error


def test_repetitions_are_not_more_rows():
    y, scores, folds = _data(r=3)
    same = auc_interval(y, np.repeat(scores[:1], 3, axis=0), np.repeat(folds[:1], 3, axis=0))
    one = auc_interval(y, scores[0], folds[0])
    assert same[:4] == pytest.approx(one[:4]) and (same.n_repetitions, same.n_folds) == (3, 15)
    each = [auc_interval(y, *pair).estimate for pair in zip(scores, folds)]
    assert auc_interval(y, scores, folds).estimate == pytest.approx(np.mean(each))


def test_ends_are_symmetric_about_the_log_odds_and_within_0_and_1():
    y, scores, folds = _data()
    found = auc_interval(y, scores[0], folds[0])
    assert found[0] == auc_interval(y, scores[0], folds[0], ends="normal")[0]
    low, middle, high = logit([found.low, found.estimate, found.high])
    df = min((y == 0).sum(), (y == 1).sum()) - found.n_folds
    half = student_t.isf(0.025, df) * found.standard_error / (found.estimate * (1 - found.estimate))
    assert (middle - low, high - middle) == pytest.approx((half, half))
    perfect = auc_interval(y, y + 0.0, folds[0])
    assert (perfect.low, perfect.estimate, perfect.high) == (1, 1, 1)
    few = np.arange(40) < 3
    wide = auc_interval(few, few + np.random.default_rng(0).standard_normal(40), np.zeros(40, dtype=int))
    assert 0 < wide.low < wide.estimate < wide.high < 1


def test_either_class_may_be_positive_and_labels_may_be_words():
    y, scores, folds = _data()
    found = auc_interval(y, scores, folds)
    words = auc_interval(np.where(y, "ill", "well"), scores, folds, pos_label="ill")
    assert words == found
    turned = auc_interval(y, -scores, folds, pos_label=0)
    assert turned[:4] == pytest.approx(found[:4])


def test_a_fold_with_one_class_is_left_out_and_counted():
    y, scores, folds = _data()
    folds[0, y == 1] = folds[0, y == 1] % 4
    found = auc_interval(y, scores, folds)
    assert (found.n_folds, found.n_folds_left_out) == (4, 1) and "1 folds hold one class only" in str(found)
    with pytest.raises(ValueError, match="no fold holds both classes"):
        auc_interval(y, scores[0], y)


def test_the_interval_covers_the_area_of_a_fixed_score():
    """Normal scores a distance of 1 apart: the area is Phi(1 / sqrt 2)."""
    truth, hits = ndtr(1 / np.sqrt(2)), []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        y = np.arange(150) % 3 == 0
        found = auc_interval(y, y + rng.standard_normal(150), rng.permutation(150) % 5)
        hits.append(found.low <= truth <= found.high)
    assert abs(np.mean(hits) - 0.94) < 0.03


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.arange(200) % 3}, "y has shape .* and 3 classes"),
        ({"scores": np.zeros(3)}, "scores and folds have shapes"),
        ({"folds": KFold(5)}, r"folds=KFold\(.*\) is a splitter; foldshift.partition.as_folds\(cv, X, y\) makes the array"),
        ({"scores": np.full(200, np.nan)}, "scores has 200 NaN or infinite values"),
        ({"pos_label": 7}, "pos_label=7 is not one of the classes"),
        ({"confidence": 95}, "confidence=95 must be between"),
        ({"ends": "wald"}, "ends='wald' must be 'logit' or 'normal'"),
    ],
)
def test_bad_input_is_named(change, message):
    y, scores, folds = _data()
    with pytest.raises(ValueError, match=message):
        auc_interval(**({"y": y, "scores": scores[0], "folds": folds[0]} | change))


def test_predict_proba_labels_and_the_other_class_are_said():
    rng = np.random.default_rng(0)
    y, folds = np.arange(200) % 2, rng.integers(5, size=200)
    up = np.clip(0.5 + 0.3 * (y - 0.5) + rng.normal(0, 0.3, 200), 0, 1)
    with pytest.raises(ValueError, match=r"pass scores\[:, 1\]"):
        auc_interval(y, np.column_stack([1 - up, up]), folds)
    assert "two values only" in auc_interval(y, (up > 0.5).astype(int), folds).note
    assert "are these its scores?" in str(auc_interval(y, -up, folds))
    assert "'b'" in auc_interval(np.where(y, "b", "a"), up, folds).note and auc_interval(y, up, folds).note == ""
