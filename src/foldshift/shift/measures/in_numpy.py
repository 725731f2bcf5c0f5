"""Kernels of shift in NumPy, for small calls and where numba is not installed: the same bytes, without compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.counting import bincount, repeat

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray

AT_ONCE = 4_000_000  # numbers in memory at the same time
STEP, FIRST, SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
LOW_HALF, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def fold_sizes(folds: Array, n: int, n_folds: int) -> IntArray:
    """Count the samples of every fold among the first n, (n_cuts, n_folds)."""
    codes = folds[:, :n] + n_folds * np.arange(len(folds))[:, None]
    return bincount(codes.ravel(), minlength=len(folds) * n_folds).reshape(-1, n_folds)


def fold_weights(folds: Array, n: int, n_folds: int) -> FloatArray:
    """Compute m (n - m) / n for every fold, which holds m of the first n samples."""
    size = fold_sizes(folds, n, n_folds)
    return (n - size) * size / n


def fold_ks(folds: Array, ends: IntArray, n_folds: int) -> FloatArray:
    """Compute the Kolmogorov-Smirnov distance of every fold; see `foldshift.shift.measures.ks.fold_ks_in_order`.

    With j samples so far, c of them in a fold of m, the distance is the largest ``|j m - c n|`` at the end of a group of equal
    values: whole numbers, and one division.
    """
    n = int(ends[-1])
    out = np.empty((len(folds), n_folds))
    step = max(1, AT_ONCE // max(n, 1))
    has_ties = len(ends) < n
    for first in range(0, len(folds), step):
        part = folds[first : first + step, :n]
        for f in range(n_folds):
            so_far = np.cumsum(part == f, axis=1, dtype=np.int64)
            size = so_far[:, -1:]
            apart = (so_far[:, ends - 1] if has_ties else so_far) * -n
            apart += ends * size
            scale = (size * (n - size))[:, 0]
            largest = np.maximum(apart.max(axis=1), -apart.min(axis=1))
            with np.errstate(invalid="ignore"):
                out[first : first + step, f] = np.where(scale > 0, largest / np.maximum(scale, 1), np.nan)
    return out


def fold_shares(folds: Array, ends: IntArray, n_folds: int) -> tuple[FloatArray, FloatArray]:
    """Compute total variation and chi-square of every fold; NaN where a part is empty."""
    n, sizes = int(ends[-1]), np.diff(ends, prepend=0)
    size = fold_sizes(folds, n, n_folds)
    apart, squares = np.zeros(size.shape, np.int64), np.zeros(size.shape)
    start = 0
    for end, group in zip(ends.tolist(), sizes.tolist()):
        gap = fold_sizes(folds[:, start:end], group, n_folds) * n - group * size
        apart += np.abs(gap)
        squares += gap.astype(np.float64) * gap / group
        start = end
    scale = size * (n - size)
    there = scale > 0
    scale = np.where(there, scale, 1)
    return np.where(there, apart / (2 * scale), np.nan), np.where(there, squares / scale, np.nan)


def shuffle(cuts: UnsignedArray, states: UnsignedArray) -> None:
    """Shuffle every row in place, all rows at once; see `foldshift.shift.measures.random_splits`."""
    state, columns, rows = states.copy(), np.ascontiguousarray(cuts.T), np.arange(len(cuts))
    for i in range(len(columns) - 1, 0, -1):
        bound = np.uint64(i + 1)
        product = _next(state) * bound
        least = (LOW_HALF - bound + np.uint64(1)) % bound
        while True:
            low = product & LOW_HALF
            again = np.flatnonzero((low < bound) & (low < least))
            if not len(again):
                break
            some = state[again]
            product[again] = _next(some) * bound
            state[again] = some
        j = (product >> HALF).astype(np.int64)
        there = columns[j, rows]
        columns[j, rows] = columns[i]
        columns[i] = there
    cuts[:] = columns.T


def _next(state: UnsignedArray) -> UnsignedArray:
    """Move states of SplitMix64 on, in place; return the upper halves of the numbers."""
    state += STEP
    mixed = (state ^ (state >> np.uint64(30))) * FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND
    return mixed >> HALF


def distance_sums(
    columns: FloatArray, is_nominal: BoolArray, folds: UnsignedArray, n_folds: int
) -> tuple[FloatArray, FloatArray]:
    """Sum distances within every fold and from every sample; see `foldshift.shift.measures.covariates`.

    Sums run from the first sample to the last, as `cumsum` has them: the same bytes.
    """
    n, n_seeds = folds.shape
    within, from_row = np.zeros((n_seeds, n_folds)), np.zeros(n)
    cuts, seeds = np.ascontiguousarray(folds.T), np.arange(n_seeds)
    for i in range(n):
        distance = np.sqrt(squared_distances(columns, is_nominal, i))
        from_row[i] = np.cumsum(distance)[-1]
        if i + 1 < n:
            together = np.where(cuts[:, i + 1 :] == cuts[:, [i]], distance[i + 1 :], 0.0)
            within[seeds, cuts[:, i]] += np.cumsum(together, axis=1)[:, -1]
    return within, from_row


def squared_distances(columns: FloatArray, is_nominal: BoolArray, i: int) -> FloatArray:
    """Compute squared distances of sample i to all, column by column."""
    out = np.zeros(columns.shape[1])
    for column, nominal in zip(columns, is_nominal):
        if nominal:
            out += column != column[i]
        else:
            gap = column - column[i]
            out += gap * gap
    return out


def tied_neighbours(
    columns: FloatArray, is_nominal: BoolArray, sizes: IntArray, n_neighbors: int, tie: float
) -> tuple[IntArray, IntArray, IntArray]:
    """List the points within the distance of the n-th nearest other sample; see `foldshift.shift.measures.nearest_auc`."""
    near_and_tied: list[IntArray] = []
    for u in range(len(sizes)):
        squared = squared_distances(columns, is_nominal, u)
        farthest = _reach(squared, sizes, u, n_neighbors)
        is_near = squared < farthest * (1 - tie)
        near_and_tied += [np.flatnonzero(is_near), np.flatnonzero((squared <= farthest * (1 + tie)) & ~is_near)]
    ends = np.cumsum([0, *map(len, near_and_tied)])
    return ends[::2], ends[1::2], np.concatenate(near_and_tied)


def _reach(squared: FloatArray, sizes: IntArray, u: int, n_neighbors: int) -> float:
    """Find the squared distance of the n-th nearest other sample of point u; infinite if there are fewer."""
    wanted = n_neighbors - (int(sizes[u]) - 1)
    if wanted <= 0:
        return 0.0
    others = squared.copy()
    others[u] = np.inf
    held = np.argpartition(others, min(wanted, len(others)) - 1)[:wanted]
    held = held[np.argsort(others[held])]
    is_enough = np.cumsum(sizes[held]) >= wanted
    return float(others[held[is_enough.argmax()]]) if is_enough.any() else np.inf


def expected_scores(
    point_of: IntArray,
    neighbours: tuple[IntArray, IntArray, Array],
    n_neighbors: int,
    folds: Array,
    n_folds: int,
    drawn: Callable[[int, int, int, FloatArray], tuple[int, int]],
) -> tuple[FloatArray, FloatArray]:
    """Expected numbers of test and of training rows of one cut by score, each (n_folds, n_neighbors + 1).

    `drawn` fills in the chances of the tied, see `foldshift.shift.measures.nearest_auc`.
    """
    starts, middles, listed = neighbours
    counts = bincount(point_of * n_folds + folds, minlength=len(middles) * n_folds).reshape(-1, n_folds)
    so_far = np.concatenate([np.zeros((1, n_folds), np.int64), np.cumsum(counts[listed], axis=0)])
    near, tied = so_far[middles] - so_far[starts[:-1]], so_far[starts[1:]] - so_far[middles]
    is_near = (middles > starts[:-1]).astype(np.int64)
    n_tied, places = tied.sum(axis=1) - (1 - is_near), n_neighbors - (near.sum(axis=1) - is_near)
    # Every point, the fold of its samples, the fold that is scored: the order in which the compiled form adds.
    u, f = (repeat(part, n_folds) for part in np.nonzero(counts))
    g = np.tile(np.arange(n_folds), len(u) // n_folds)
    itself = (f == g).astype(np.int64)
    lowest = near[u, g] - itself * is_near[u]
    draws, which = np.unique(
        np.column_stack([n_tied[u], tied[u, g] - itself * (1 - is_near[u]), places[u]]), axis=0, return_inverse=True
    )
    chances, ends = np.zeros((len(draws), n_neighbors + 1)), np.empty((len(draws), 2), np.int64)
    for row, end, draw in zip(chances, ends, draws.tolist()):
        end[:] = drawn(draw[0], draw[1], draw[2], row)
    low, n_scores = ends[which, 0], ends[which, 1] - ends[which, 0] + 1
    case = repeat(np.arange(len(u)), n_scores)
    tied_drawn = low[case] + np.arange(len(case)) - repeat(np.cumsum(n_scores) - n_scores, n_scores)
    cell = (itself[case] * n_folds + g[case]) * (n_neighbors + 1) + lowest[case] + tied_drawn
    weights = counts[u, f][case] * chances[which[case], tied_drawn]
    trains, tests = bincount(cell, weights=weights, minlength=2 * n_folds * (n_neighbors + 1)).reshape(2, n_folds, -1)
    return tests, trains
