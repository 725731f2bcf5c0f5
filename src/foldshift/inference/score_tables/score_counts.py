"""Scores that whole numbers of right rows can give: pooled over all rows, or as means over folds, exactly."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldshift.core.types import FloatArray

MOST_SUMS = 2_000_000  # sums of one score that are listed; more are not
MOST_COUNTS = 300_000  # the same for sums of several scores
EXACT = 1e-9  # rounding of sums


class FoldKind(NamedTuple):
    """Folds of the same size: rows of the negative and of the positive class in each, and how many such folds there are."""

    negative: int
    positive: int
    n_folds: int


def stratified_kinds(negative: int, positive: int, k: int, repeats: int) -> list[list[FoldKind]]:
    """List all ways in which stratified folds can share out two classes: folds differ by at most a row of either class.

    Splitters that also level the sizes of the folds, as scikit-learn's, make one of them; others make any.
    """
    (n, more_n), (p, more_p) = divmod(negative, k), divmod(positive, k)
    ways = []
    for both in range(max(0, more_n + more_p - k), min(more_n, more_p) + 1):
        counts = {(n + 1, p + 1): both, (n + 1, p): more_n - both, (n, p + 1): more_p - both}
        counts[n, p] = k - sum(counts.values())
        ways.append([FoldKind(*size, count * repeats) for size, count in counts.items() if count])
    return ways


def plain_kinds(n: int, k: int, repeats: int) -> list[list[FoldKind]]:
    """Folds of n rows of no known class, as equal in size as can be."""
    size, more = divmod(n, k)
    kinds = [FoldKind(0, size + 1, more * repeats), FoldKind(0, size, (k - more) * repeats)]
    return [[kind for kind in kinds if kind.n_folds]]


class Linear(NamedTuple):
    """Scores that are sums over folds of right rows with weights: the right rows of a class in the folds of one size."""

    positive: FloatArray  # shape (n_ways, n_scores): what the right positive rows add to every score, for every way
    negative: FloatArray


def linear_sums(kinds: list[FoldKind], scores: tuple[str, ...]) -> Linear | None:
    """Add up what right rows of either class can add to the means over folds; None if there are too many ways.

    Scores are accuracy, sensitivity, specificity and balanced accuracy.
    """
    n_folds = sum(kind.n_folds for kind in kinds)
    sides = []
    for positive in (True, False):
        total = np.zeros((1, len(scores)))
        for kind in kinds:
            rows = kind.positive if positive else kind.negative
            weights = np.array([_weight(score, kind, positive) for score in scores]) / n_folds
            if len(total) * (rows * kind.n_folds + 1) > MOST_COUNTS:
                return None
            total = (total[:, None, :] + np.arange(rows * kind.n_folds + 1)[None, :, None] * weights).reshape(-1, len(scores))
            total = np.unique(total.round(12), axis=0)
        sides.append(total)
    return Linear(*sides)


def _weight(score: str, kind: FoldKind, positive: bool) -> float:
    """Compute what a right row of a class adds to the score of its fold."""
    if score == "accuracy":
        return 1 / (kind.negative + kind.positive)
    own = kind.positive if positive else kind.negative
    share = 1 / own if own else 0.0
    if score == "balanced_accuracy":
        return share / 2
    return share if positive == (score == "sensitivity") else 0.0


def reach_together(sums: Linear, low: FloatArray, high: FloatArray) -> bool:
    """Report whether some counts give all scores at once, each between its ends."""
    order = np.argsort(sums.negative[:, 0], kind="stable")
    other = sums.negative[order]
    begin = np.searchsorted(other[:, 0], low[0] - sums.positive[:, 0] - EXACT)
    end = np.searchsorted(other[:, 0], high[0] - sums.positive[:, 0] + EXACT)
    for one, i, j in zip(sums.positive, begin, end):
        both = one + other[i:j]
        if ((both >= low - EXACT) & (both <= high + EXACT)).all(axis=1).any():
            return True
    return False


def nearest_sum(first: FloatArray, second: FloatArray, target: float) -> float:
    """Sum of one value of either list that is nearest to the target."""
    second = np.sort(second)
    wanted = target - first
    place = np.clip(np.searchsorted(second, wanted), 0, len(second) - 1)
    sums = np.concatenate([first + second[place], first + second[np.maximum(place - 1, 0)]])
    return float(sums[np.abs(sums - target).argmin()])


def pooled_scores(negative: int, positive: int, scores: tuple[str, ...], tp: np.ndarray, tn: np.ndarray) -> FloatArray:
    """Scores of counts of right rows, shape (n_counts, n_scores); 0 where a score is not defined, as in scikit-learn."""
    fp, fn, n = negative - tn, positive - tp, negative + positive
    shares = tp / max(positive, 1), tn / max(negative, 1)
    found = {
        "accuracy": (tp + tn) / n,
        "sensitivity": shares[0],
        "specificity": shares[1],
        "balanced_accuracy": (shares[0] + shares[1]) / ((positive > 0) + (negative > 0)),
        "precision": tp / np.maximum(tp + fp, 1),
        "f1": 2 * tp / np.maximum(tp + fp + positive, 1),
        "mcc": (tp * tn - fp * fn) / np.sqrt(np.maximum(1.0 * (tp + fp) * (tn + fn) * positive * negative, 1)),
    }
    return np.stack([found[score] for score in scores], axis=-1)


def fold_points(kind: FoldKind, scores: tuple[str, ...]) -> FloatArray:
    """Distinct values of several scores that one confusion matrix of a fold can give together, shape (n_points, n_scores)."""
    tp, tn = (side.ravel() for side in np.meshgrid(np.arange(kind.positive + 1), np.arange(kind.negative + 1)))
    return np.unique(pooled_scores(kind.negative, kind.positive, scores, tp, tn).round(12), axis=0)


def fold_values(kind: FoldKind, score: str) -> FloatArray:
    """Distinct values of a score in one fold; precision without positive predictions counts as 0, as in scikit-learn."""
    return fold_points(kind, (score,))[:, 0]


def mean_of_fold_values(kinds: list[FoldKind], score: str, target: float) -> tuple[float, bool]:
    """Mean over folds of a score that is nearest to the target, and whether all means were looked at."""
    each = [fold_values(kind, score) for kind in kinds for _ in range(kind.n_folds)]
    n_folds, complete = len(each), True
    halves = []
    for half in (each[::2], each[1::2]):
        sums, whole = _sums_of(half)
        halves.append(sums)
        complete &= whole
    return nearest_sum(halves[0], halves[1], target * n_folds) / n_folds, complete


def _sums_of(values: Iterable[FloatArray]) -> tuple[FloatArray, bool]:
    """Sums of one value of every list; where they are too many, a part of them that is spread over all."""
    by_list: dict[bytes, tuple[FloatArray, int]] = {}
    for one in values:
        by_list[one.tobytes()] = (one, by_list.get(one.tobytes(), (one, 0))[1] + 1)
    sums, complete = np.zeros(1), True
    sizes = [comb(len(one) + count - 1, count) for one, count in by_list.values()]
    if prod(sizes) <= MOST_SUMS:
        for one, count in by_list.values():
            own = np.array([sum(chosen) for chosen in combinations_with_replacement(one.tolist(), count)])
            sums = np.unique((sums[:, None] + own).ravel().round(12))
        return sums, True
    for one, count in by_list.values():
        for _ in range(count):
            most = max(MOST_SUMS // 4 // len(one), 100)
            if len(sums) > most:
                complete = False
                sums = sums[np.unique(np.linspace(0, len(sums) - 1, most).astype(np.int64))]
            sums = np.unique((sums[:, None] + one).ravel().round(12))
    return sums, complete
