"""Kernels of shift in NumPy, for small calls and where numba is not installed: the same bytes, without compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.counting import bincount

if TYPE_CHECKING:
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
