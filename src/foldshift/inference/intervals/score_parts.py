"""Parts of scores by row: shares of a confusion table, influences on a score, losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import rankdata

from foldshift.core.counting import bincount

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray
    from foldshift.inference.intervals.score_names import ScoreName


ROWS_FOR_FOLD_MEANS = 4


class Shares(NamedTuple):
    """Shares that a score is a mean of: the rows counted, and those among them that are hits; bool of shape (parts, n)."""

    inside: BoolArray
    hits: BoolArray
    weights: FloatArray  # of the parts; shape (parts,)


class Scored(NamedTuple):
    """Score of one repetition, and the influence of every row on it."""

    estimate: float
    influence: FloatArray  # mean 0, so that the variance of the score is that of their mean; shape (n,)


def shares_of(score: ScoreName, y: IntArray, predicted: IntArray, positive: int, n_classes: int) -> Shares:
    """Make the parts of a score of labels, from codes of classes; a class that does not count has no weight."""
    if score.part in ("right", "wrong"):
        right = (y == predicted) == (score.part == "right")
        return Shares(np.ones((1, len(y)), dtype=bool), right[None], np.ones(1))
    classes = np.array([positive]) if score.one_class else np.arange(n_classes)
    of_class, said = y == classes[:, None], predicted == classes[:, None]
    if score.one_class:
        weights = np.ones(1)
    elif score.average == "weighted":
        weights = of_class.mean(axis=1)
    else:  # a class that is predicted only counts where it has a score
        counts = of_class.any(axis=1) if score.part == "recall" else (of_class | said).any(axis=1)
        weights = counts / counts.sum()
    if score.part == "specificity":
        return Shares(~of_class, ~of_class & ~said, weights)
    inside = {"recall": of_class, "precision": said}.get(score.part, of_class | said)
    return Shares(inside, of_class & said, weights)


def table_of(y: IntArray, predicted: IntArray, n_classes: int) -> FloatArray:
    """Count rows by class (axis 0) and predicted class (axis 1)."""
    return bincount(y * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes).astype(float)


def table_score(name: str, table: FloatArray) -> tuple[float, FloatArray]:
    """Matthews correlation or Cohen's kappa of a confusion table, and its gradient by the shares of the table.

    0 where all rows are predicted to be of one class, or are of one. Sources: [1] Gorodkin, J. (2004). Comparing two K-category
    assignments by a K-category correlation coefficient. Computational Biology and Chemistry 28, 367-374. [2] Fleiss, J.L., Cohen,
    J., Everitt, B.S. (1969). Large sample standard errors of kappa. Psychological Bulletin 72, 323-327.
    """
    shares = table / table.sum()
    true, said, agreed = shares.sum(axis=1), shares.sum(axis=0), float(np.trace(shares))
    chance = float(true @ said)
    d_agreed, d_chance = np.eye(len(table)), said[:, None] + true[None, :]
    if name == "cohen_kappa":
        if chance >= 1:
            return 0.0, np.zeros_like(shares)
        value = (agreed - chance) / (1 - chance)
        return value, (d_agreed - d_chance) / (1 - chance) + value / (1 - chance) * d_chance
    spread_true, spread_said = 1 - float(true @ true), 1 - float(said @ said)
    if spread_true <= 0 or spread_said <= 0:
        return 0.0, np.zeros_like(shares)
    root = np.sqrt(spread_true * spread_said)
    value = (agreed - chance) / root
    d_spread = -2 * true[:, None] / spread_true - 2 * said[None, :] / spread_said
    return value, (d_agreed - d_chance) / root - value / 2 * d_spread


def area(positive: BoolArray, scores: FloatArray, folds: IntArray) -> Scored:
    """Share of the pairs of either class within a fold that are in the right order, ties one half; NaN without a pair.

    A fold weighs by its pairs. The influence of a row is its own share of pairs less the mean, times its pairs: the mean of its
    class in its fold, as DeLong's and LeDell's, where folds have `ROWS_FOR_FOLD_MEANS` rows of the class, else the estimate. Its
    squares are corrected for the means.
    """
    n, wins, pairs, kept = len(positive), 0.0, 0, 0
    of_row, others = np.zeros(n), np.zeros(n)
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        of_fold, value = positive[rows], scores[rows]
        n_up, n_down = int(of_fold.sum()), int((~of_fold).sum())
        if not n_up or not n_down:
            continue
        ranks = rankdata(value)
        above = np.empty(len(rows))
        above[of_fold] = ranks[of_fold] - rankdata(value[of_fold])
        above[~of_fold] = n_up - (ranks[~of_fold] - rankdata(value[~of_fold]))
        of_row[rows], others[rows] = above, np.where(of_fold, n_down, n_up)
        wins, pairs, kept = wins + above[of_fold].sum(), pairs + n_up * n_down, kept + 1
    if not pairs:
        return Scored(np.nan, np.zeros(n))
    estimate = wins / pairs
    influence = n * (of_row - estimate * others) / pairs
    for of_class in (positive, ~positive):
        size, means = int(of_class.sum()), 1
        if size >= ROWS_FOR_FOLD_MEANS * kept:
            codes = np.unique(folds[of_class], return_inverse=True)[1].ravel()
            influence[of_class] -= (bincount(codes, influence[of_class]) / bincount(codes))[codes]
            means = kept
        influence[of_class] *= np.sqrt(size / max(size - means, 1))
    return Scored(float(estimate), influence)


def average_precision(positive: BoolArray, scores: FloatArray) -> Scored:
    """Mean precision at the scores of the positive rows; NaN without a positive row."""
    n, n_positive = len(positive), int(positive.sum())
    if not n_positive:
        return Scored(np.nan, np.zeros(n))
    order = np.argsort(-scores, kind="stable")
    ordered, y = scores[order], positive[order].astype(float)
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # end of every run of ties
    run = np.searchsorted(last, np.arange(n))
    above, above_positive = last[run] + 1.0, np.cumsum(y)[last[run]]
    precision = above_positive / above
    estimate = float((y * precision).sum() / n_positive)
    # a row moves the precision at its own score and at all lower ones
    weight, moved = y / above, y * precision / above
    first = np.append(0, last[:-1] + 1)[run]
    from_here = np.cumsum(weight[::-1])[::-1][first], np.cumsum(moved[::-1])[::-1][first]
    influence = np.empty(n)
    influence[order] = n / n_positive * (y * (precision - estimate) + y * from_here[0] - from_here[1])
    return Scored(estimate, influence)


def row_losses(score: ScoreName, y: FloatArray, predicted: FloatArray, clip: float) -> FloatArray:
    """Loss of every row: squared or absolute error, Brier score, or log loss; `y` codes of classes for probabilities (n, C)."""
    if score.name == "log_loss":
        return -np.log(np.clip(predicted[np.arange(len(y)), y.astype(int)], clip, 1.0))
    if score.name == "brier_score":
        wanted = np.eye(predicted.shape[1])[y.astype(int)]
        return ((predicted - wanted) ** 2).sum(axis=1) / (2 if predicted.shape[1] == 2 else 1)
    return np.abs(predicted - y) if score.name == "mean_absolute_error" else (predicted - y) ** 2


def label_score(score: ScoreName, table: FloatArray, positive: int) -> tuple[float, FloatArray]:
    """Score of a confusion table, and the influence of a row by its true class (axis 0) and predicted class (axis 1)."""
    n_classes, shares = len(table), table / table.sum()
    if score.family == "table":
        value, gradient = table_score(score.name, table)
        return value, gradient - (gradient * shares).sum()
    true, said = np.indices((n_classes, n_classes)).reshape(2, -1)
    every = shares_of(score, true, said, positive, n_classes)
    y, predicted = (np.repeat(axis, table.ravel().astype(int)) for axis in (true, said))
    weights = shares_of(score, y, predicted, positive, n_classes).weights
    inside, hits = every.inside @ shares.ravel(), (every.inside & every.hits) @ shares.ravel()
    of_part = np.divide(hits, inside, out=np.zeros_like(hits), where=inside > 0)
    rest = (every.hits & every.inside) - of_part[:, None] * every.inside
    slope = np.divide(weights, inside, out=np.zeros_like(inside), where=inside > 0)
    value = of_part
    if score.part == "f1":
        slope, value = slope * 2 / (1 + of_part) ** 2, 2 * of_part / (1 + of_part)
    return float(weights @ value), (slope @ rest).reshape(n_classes, n_classes)
