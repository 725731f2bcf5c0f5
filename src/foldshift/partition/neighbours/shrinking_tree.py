"""Tree of the points that have unassigned samples.

As points leave, it is built again from those that are left: it stays small, its boxes tight and its leaves full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.partition.neighbours.metric import BLOCK

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, IntArray
    from foldshift.partition.neighbours.metric import Space

N_LEVELS, N_SLOTS, N_LEFT = range(3)  # of `Unassigned.extent`
MOST_LEVELS = 9
THINNED = 7, 8  # the tree is built again when this share of its points is left


class Unassigned(NamedTuple):
    """Points that have unassigned samples, and a few that had, in a tree of which every node has `BLOCK` nodes, or points,
    below."""

    # levels of the tree; slots, which points stand in; points that are left. No levels: the tree is not built yet; shape (3,)
    extent: IntArray
    # point in each slot. Those of leaf i are in the slots from ``BLOCK * i`` on; the nodes of a level that are below node i of
    # the next are those from ``BLOCK * i`` on; shape (n_points,)
    points: IntArray
    slot_of: IntArray  # slot of each point; shape (n_points,)
    blocks: FloatArray  # coordinates of the points of every leaf; shape (most_leaves, n_features, BLOCK)
    # counts, offsets: Nodes of every level, the leaves being level 0; number of the first of them among the nodes of all levels;
    # shape (MOST_LEVELS,)
    counts: IntArray
    offsets: IntArray
    # low, high: Boxes around the points of the nodes of every level, `BLOCK` at a time: those of one node of the next level
    # together; shape (most_groups, n_features, BLOCK)
    low: FloatArray
    high: FloatArray
    alive: IntArray  # points of every node that are left; shape (most_nodes,)


@compiled
def none_assigned(space: Space) -> Unassigned:
    """Start with all points of a space; the tree is built when it is first asked."""
    n_points, n_features = space.coordinates.shape
    most_leaves = (n_points + BLOCK - 1) // BLOCK
    most_groups = most_leaves // (BLOCK - 1) + MOST_LEVELS
    return Unassigned(
        np.array([0, n_points, n_points]),
        np.arange(n_points),
        np.arange(n_points),
        np.empty((most_leaves, n_features, BLOCK)),
        np.zeros(MOST_LEVELS, np.int64),
        np.zeros(MOST_LEVELS, np.int64),
        np.empty((most_groups, n_features, BLOCK)),
        np.empty((most_groups, n_features, BLOCK)),
        np.zeros(most_leaves + most_groups, np.int64),
    )


@compiled
def leave(unassigned: Unassigned, point: int) -> None:
    """Remove a point that has no unassigned samples any more."""
    extent = unassigned.extent
    extent[N_LEFT] -= 1
    node = unassigned.slot_of[point]
    for level in range(extent[N_LEVELS]):
        node //= BLOCK
        unassigned.alive[unassigned.offsets[level] + node] -= 1


@compiled
def group_of(unassigned: Unassigned, level: int, node: int) -> int:
    """Position in `Unassigned.low` of the boxes of the nodes below a node: groups of level 1 come first."""
    return unassigned.offsets[level] - unassigned.offsets[1] + node


@compiled
def thin_out(unassigned: Unassigned, space: Space, heads: Array, firsts: Array) -> None:
    """Build the tree, or build it again where many of its points have left."""
    extent = unassigned.extent
    if extent[N_LEVELS] > 0 and (THINNED[1] * extent[N_LEFT] > THINNED[0] * extent[N_SLOTS] or extent[N_SLOTS] <= BLOCK):
        return
    n_left = 0
    for slot in range(extent[N_SLOTS]):  # in their order, which keeps near points together
        point = unassigned.points[slot]
        if heads[point] < firsts[point + 1]:
            unassigned.points[n_left] = point
            unassigned.slot_of[point] = n_left
            n_left += 1
    counts, offsets, alive = unassigned.counts, unassigned.offsets, unassigned.alive
    counts[0] = max((n_left + BLOCK - 1) // BLOCK, 1)
    offsets[0], level = 0, 0
    # A tree of one leaf has a root above it as well.
    while level == 0 or counts[level] > 1:
        level += 1
        counts[level] = (counts[level - 1] + BLOCK - 1) // BLOCK
        offsets[level] = offsets[level - 1] + counts[level - 1]
    extent[N_LEVELS], extent[N_SLOTS] = level + 1, n_left
    alive[: offsets[level] + 1] = 0
    n_features = space.coordinates.shape[1]
    for leaf in range(counts[0]):
        unassigned.blocks[leaf] = 0.0
        for slot in range(leaf * BLOCK, min((leaf + 1) * BLOCK, n_left)):
            alive[leaf] += 1
            for j in range(n_features):
                unassigned.blocks[leaf, j, slot - leaf * BLOCK] = space.coordinates[unassigned.points[slot], j]
    low, high = unassigned.low, unassigned.high
    for above in range(1, level + 1):
        for node in range(counts[above]):
            group = group_of(unassigned, above, node)
            low[group], high[group] = np.inf, -np.inf
            for child in range(node * BLOCK, min((node + 1) * BLOCK, counts[above - 1])):
                alive[offsets[above] + node] += alive[offsets[above - 1] + child]
                i = child - node * BLOCK
                for j in range(n_features):
                    if above == 1:
                        _box_of_points(unassigned.blocks[child, j, : alive[child]], low[group, j], high[group, j], i)
                    else:
                        below = group_of(unassigned, above - 1, child)
                        low[group, j, i], high[group, j, i] = low[below, j].min(), high[below, j].max()
    for group in range(offsets[level] - offsets[1] + 1):
        for j in range(n_features):
            for i in range(BLOCK):
                if low[group, j, i] > high[group, j, i] and space.n_codes[j] == 0:  # no value at all: the box says nothing
                    low[group, j, i], high[group, j, i] = -np.inf, np.inf


@compiled
def _box_of_points(values: FloatArray, low: FloatArray, high: FloatArray, i: int) -> None:
    # A missing value is as far away as any value can be, so that the box may do without it.
    for value in values:
        if not np.isnan(value):
            low[i] = min(low[i], value)
            high[i] = max(high[i], value)


@compiled
def order_in_space(space: Space) -> IntArray:
    """Order the points so that neighbours are near one another: a node is cut at its middle, across its widest column."""
    n_points = len(space.coordinates)
    order = np.arange(n_points)
    values = np.empty(n_points)
    starts, stops = np.empty(64, np.int64), np.empty(64, np.int64)
    starts[0], stops[0], n_open = 0, n_points, 1
    while n_open > 0:
        n_open -= 1
        start, stop = starts[n_open], stops[n_open]
        if stop - start <= BLOCK:
            continue
        # Whole blocks to the left.
        middle = start + BLOCK * max((stop - start) // (2 * BLOCK), 1)
        widest = _widest(space, order[start:stop])
        for t in range(start, stop):
            value = space.coordinates[order[t], widest]
            values[t] = np.inf if np.isnan(value) else value
        _part(values, order, start, middle, stop)
        starts[n_open], stops[n_open] = start, middle
        starts[n_open + 1], stops[n_open + 1] = middle, stop
        n_open += 2
    return order


@compiled
def _widest(space: Space, points: IntArray) -> int:
    """Find the column across which some points are farthest apart."""
    widest, width = 0, -1.0
    for j in range(space.coordinates.shape[1]):
        low, high = np.inf, -np.inf
        for point in points:
            value = space.coordinates[point, j]
            if not np.isnan(value):
                low, high = min(low, value), max(high, value)
        extent = high - low
        if space.n_codes[j] > 0:
            extent = min(extent, 1.0)
        elif space.is_keel:
            extent *= space.weights[j]
        if extent > width:
            widest, width = j, extent
    return widest


@compiled
def _part(values: FloatArray, order: IntArray, start: int, middle: int, stop: int) -> None:
    """Bring the smallest values of a stretch before its middle, and `order` with them: Hoare's selection."""
    first, last = start, stop - 1
    while first < last:
        pivot = values[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            last = j
        elif middle >= i:
            first = i
        else:
            return
