"""Metrics: coordinates of samples, and distances to a block of points and to a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray, Metric

METRICS = ("heom", "euclidean", "keel")
BLOCK = 16  # points whose distances are worked out side by side
STRIDE = 8  # columns after which a block that is too far is given up


class Space(NamedTuple):
    """Samples in the coordinates of a metric."""

    # numeric columns in the metric's scaling; positions of the categories, from 0, in nominal columns; shape (n_samples,
    # n_features)
    coordinates: FloatArray
    weights: FloatArray  # ``keel``: standard deviation of every numeric column. Not used otherwise; shape (n_features,)
    # ``keel``: distance between two categories of a nominal column, one square table after the other; shape (n_entries,)
    gaps: FloatArray
    # starts, n_codes: Where the table of a column starts in `gaps`; its number of categories, 0 for numeric columns; shape
    # (n_features,)
    starts: IntArray
    n_codes: IntArray
    is_keel: bool  # whether distances are those of ``keel``; squared Euclidean ones with overlap otherwise
    is_plain: bool  # whether distances are squared Euclidean ones of numbers, none of them missing


def make_space(X: FloatArray, codes: IntArray, metric: Metric, nominal: BoolArray) -> Space:
    """Transform inputs to the coordinates in which a metric measures.

    Ranges, standard deviations (population) and class frequencies come from all samples. Source: Wilson, Martinez (1997).
    Improved heterogeneous distance functions. Journal of Artificial Intelligence Research 6, 1-34, section 2.3.
    """
    coordinates = X.copy()
    n_features = X.shape[1]
    n_codes = np.zeros(n_features, np.int64)
    tables = []
    for j in np.flatnonzero(nominal) if metric != "euclidean" else ():
        categories, positions = np.unique(coordinates[:, j], return_inverse=True)
        coordinates[:, j] = np.where(np.isnan(coordinates[:, j]), np.nan, positions)
        n_codes[j] = len(categories)
        if metric == "keel":
            counts = np.zeros((len(categories), codes.max() + 1))
            np.add.at(counts, (positions, codes), 1)
            shares = counts / counts.sum(axis=1, keepdims=True)
            tables.append(np.sqrt(((shares[:, None] - shares[None]) ** 2).sum(axis=2)).ravel())
    if metric == "heom":
        numeric = n_codes == 0
        low = np.fmin.reduce(coordinates[:, numeric], axis=0)  # of the values that are there
        width = np.fmax.reduce(coordinates[:, numeric], axis=0) - low
        coordinates[:, numeric] = (coordinates[:, numeric] - low) / np.where(width > 0, width, 1)
    starts = np.concatenate([[0], np.cumsum(n_codes**2)[:-1]]).astype(np.int64)
    gaps = np.concatenate(tables) if tables else np.empty(0)
    is_plain = metric != "keel" and not n_codes.any() and not np.isnan(coordinates).any()
    return Space(coordinates, X.std(axis=0), gaps, starts, n_codes, metric == "keel", bool(is_plain))


@compiled
def block_distances(space: Space, a: FloatArray, block: FloatArray, farthest: float, distances: FloatArray) -> None:
    """Compute distances (``keel``) or their squares from a point to the points of a block, column by column."""
    distances[:] = 0.0
    if space.is_keel:
        for j in range(len(a)):
            if space.n_codes[j] > 0:
                row = space.starts[j] + int(a[j]) * space.n_codes[j]
                for i in range(BLOCK):
                    distances[i] += space.gaps[row + int(block[j, i])]
            else:
                for i in range(BLOCK):
                    distances[i] += abs(a[j] - block[j, i]) / 4 * space.weights[j]
        for i in range(BLOCK):
            distances[i] = np.sqrt(distances[i])
        return
    for j in range(len(a)):
        value = a[j]
        if space.n_codes[j] > 0:
            for i in range(BLOCK):
                distances[i] += 1.0 if value != block[j, i] else 0.0
        elif np.isnan(value):
            for i in range(BLOCK):
                distances[i] += 1.0
        else:
            for i in range(BLOCK):
                gap = value - block[j, i]
                distances[i] += 1.0 if np.isnan(gap) else gap * gap
        if j % STRIDE == STRIDE - 1:
            least = distances[0]
            for i in range(1, BLOCK):
                least = min(least, distances[i])
            if least > farthest:
                return


@compiled
def box_distances(space: Space, a: FloatArray, low: FloatArray, high: FloatArray, distances: FloatArray) -> None:
    """Compute lower bounds of the distances to any point in each of some boxes.

    They are the same sums with smaller terms, so that rounding keeps the order too.
    """
    distances[:] = 0.0
    for j in range(len(a)):
        value = a[j]
        if space.n_codes[j] > 0:
            if space.is_keel:
                row = space.starts[j] + int(value) * space.n_codes[j]
                for i in range(BLOCK):
                    if low[j, i] == high[j, i]:
                        distances[i] += space.gaps[row + int(low[j, i])]
            else:
                for i in range(BLOCK):
                    distances[i] += 1.0 if value < low[j, i] or value > high[j, i] else 0.0
            continue
        for i in range(BLOCK):
            gap = low[j, i] - value if value < low[j, i] else value - high[j, i] if value > high[j, i] else 0.0
            distances[i] += gap / 4 * space.weights[j] if space.is_keel else gap * gap
    if space.is_keel:
        for i in range(BLOCK):
            distances[i] = np.sqrt(distances[i])


# The same for plain spaces: the innermost loops of all. Whole arrays and a place in them, for every view of an array costs; eight
# sums by name, so that they stand side by side in registers.
@compiled(inline="always")
def plain_block_distances(a: FloatArray, blocks: FloatArray, leaf: int, farthest: float, squares: FloatArray) -> None:
    """Compute `block_distances` to the points of a leaf."""
    for first in range(0, BLOCK, 8):
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for start in range(0, len(a), STRIDE):
            for j in range(start, min(start + STRIDE, len(a))):
                value = a[j]
                g0, g1 = value - blocks[leaf, j, first], value - blocks[leaf, j, first + 1]
                g2, g3 = value - blocks[leaf, j, first + 2], value - blocks[leaf, j, first + 3]
                g4, g5 = value - blocks[leaf, j, first + 4], value - blocks[leaf, j, first + 5]
                g6, g7 = value - blocks[leaf, j, first + 6], value - blocks[leaf, j, first + 7]
                s0, s1, s2, s3 = s0 + g0 * g0, s1 + g1 * g1, s2 + g2 * g2, s3 + g3 * g3
                s4, s5, s6, s7 = s4 + g4 * g4, s5 + g5 * g5, s6 + g6 * g6, s7 + g7 * g7
            if min(min(min(s0, s1), min(s2, s3)), min(min(s4, s5), min(s6, s7))) > farthest:
                break
        squares[first], squares[first + 1], squares[first + 2], squares[first + 3] = s0, s1, s2, s3
        squares[first + 4], squares[first + 5], squares[first + 6], squares[first + 7] = s4, s5, s6, s7


@compiled(inline="always")
def plain_box_distances(
    a: FloatArray, low: FloatArray, high: FloatArray, group: int, farthest: float, squares: FloatArray
) -> None:
    """Compute `box_distances` to the boxes of a group."""
    for i in range(0, BLOCK, 8):
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for start in range(0, len(a), STRIDE):
            for j in range(start, min(start + STRIDE, len(a))):
                value = a[j]
                g0 = max(max(low[group, j, i] - value, value - high[group, j, i]), 0.0)
                g1 = max(max(low[group, j, i + 1] - value, value - high[group, j, i + 1]), 0.0)
                g2 = max(max(low[group, j, i + 2] - value, value - high[group, j, i + 2]), 0.0)
                g3 = max(max(low[group, j, i + 3] - value, value - high[group, j, i + 3]), 0.0)
                g4 = max(max(low[group, j, i + 4] - value, value - high[group, j, i + 4]), 0.0)
                g5 = max(max(low[group, j, i + 5] - value, value - high[group, j, i + 5]), 0.0)
                g6 = max(max(low[group, j, i + 6] - value, value - high[group, j, i + 6]), 0.0)
                g7 = max(max(low[group, j, i + 7] - value, value - high[group, j, i + 7]), 0.0)
                s0, s1, s2, s3 = s0 + g0 * g0, s1 + g1 * g1, s2 + g2 * g2, s3 + g3 * g3
                s4, s5, s6, s7 = s4 + g4 * g4, s5 + g5 * g5, s6 + g6 * g6, s7 + g7 * g7
            if min(min(min(s0, s1), min(s2, s3)), min(min(s4, s5), min(s6, s7))) > farthest:
                break
        squares[i], squares[i + 1], squares[i + 2], squares[i + 3] = s0, s1, s2, s3
        squares[i + 4], squares[i + 5], squares[i + 6], squares[i + 7] = s4, s5, s6, s7
