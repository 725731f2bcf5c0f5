"""Means over folds of several scores at once: can one confusion matrix for each fold give all of them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import cKDTree

from foldshift.inference.score_tables.score_counts import EXACT, FoldKind, fold_points

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray

MOST_ROWS = 250_000  # sums of points that are listed at a time
MOST_POINTS = 20_000  # points of all kinds of folds whose hull is looked at
SLACK = 1e-6  # of the hull, above the tolerance of the solver
INFEASIBLE = 2  # status of `linprog`


def means_together(
    kinds: list[FoldKind], scores: tuple[str, ...], values: FloatArray, half: float
) -> Literal["possible", "impossible", "not decided"]:
    """Decide whether means over folds reach all values at once, each within `half`.

    Impossible where the values lie outside the hull of what folds can give. Otherwise the sums of two halves of the folds are
    listed and joined, which is exact; too many of them are not listed.
    """
    if sum((kind.negative + 1) * (kind.positive + 1) for kind in kinds) > MOST_POINTS:
        return "not decided"
    points = [fold_points(kind, scores) for kind in kinds]
    counts = [kind.n_folds for kind in kinds]
    if not _hull_reaches(points, counts, values, half):
        return "impossible"
    extra, parts = 0, (list[int](), list[int]())
    for count in counts:  # odd folds go to either half in turn
        less, more = sorted((count // 2, count - count // 2))
        parts[0].append(more if extra == 0 else less)
        parts[1].append(less if extra == 0 else more)
        extra = (extra + more - less) % 2
    sums = [_sums(points, part) for part in parts]
    if sums[0] is None or sums[1] is None:
        return "not decided"
    n = sum(counts)
    apart, _ = cKDTree(sums[0] / n).query(values - sums[1] / n, p=np.inf, distance_upper_bound=half + 2 * EXACT)
    return "possible" if np.isfinite(apart).any() else "impossible"


def _hull_reaches(points: list[FloatArray], counts: list[int], values: FloatArray, half: float) -> bool:
    """Say whether the mean of points of all folds can be near the values if points may be mixed in any shares."""
    n = sum(counts)
    every = np.concatenate(points).T
    own = np.repeat(np.arange(len(points)), [len(one) for one in points])
    shares = (own == np.arange(len(points))[:, None]).astype(float)
    solved = linprog(
        np.zeros(every.shape[1]), np.concatenate([every, -every]),
        np.concatenate([values + half + SLACK, -(values - half - SLACK)]), shares, np.array(counts) / n, method="highs",
    )  # fmt: skip
    return bool(solved.status != INFEASIBLE)


def _sums(points: list[FloatArray], counts: list[int]) -> FloatArray | None:
    """Distinct sums of so many points of every kind; None if they are too many."""
    sums = np.zeros((1, points[0].shape[1]))
    for own, count in zip(points, counts):
        for _ in range(count):
            if len(sums) * len(own) > MOST_ROWS:
                return None
            sums = (sums[:, None] + own).reshape(-1, own.shape[1]).round(10)
            order = np.lexsort(sums.T)
            sums = sums[order][np.concatenate([[True], (np.diff(sums[order], axis=0) != 0).any(axis=1)])]
    return sums
