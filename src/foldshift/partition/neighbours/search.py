"""Nearest unassigned samples of a class: from a tree that drops samples as they are assigned, and from neighbour lists that seeds
share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.core.counting import repeat
from foldshift.partition.neighbours.metric import (
    BLOCK,
    Space,
    block_distances,
    box_distances,
    plain_block_distances,
    plain_box_distances,
)
from foldshift.partition.neighbours.shrinking_tree import (
    MOST_LEVELS,
    N_LEVELS,
    N_SLOTS,
    leave,
    none_assigned,
    order_in_space,
    thin_out,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray
    from foldshift.partition.neighbours.shrinking_tree import Unassigned

DUPLICATES = ("neighbours", "skipped")
LIST_LENGTH = 64  # neighbours listed per distinct point: beyond, the tree is asked, when few samples are left anyway
MOST_LISTED = 1 << 24  # entries of all lists of a class together (64 MB)
FEWEST_SEEDS = 10  # below, lists cost more than they save
OWN_LEAF = -1
MOST_OPEN = MOST_LEVELS * BLOCK  # nodes of the tree that a search has still to look at


class _Progress(NamedTuple):
    """Members that are assigned already."""

    used: BoolArray  # (n_members,)
    heads: NDArray[np.int32]  # (n_points,): place in `ClassNeighbours.members` of the first unassigned member of every point
    unassigned: Unassigned


class ClassNeighbours(NamedTuple):
    """The samples of one class, ready for queries; members are numbered from 0 in the order of the rows."""

    space: Space  # distinct points in place of the samples, in an order in which neighbours in space stand near one another
    # members, firsts: Members at every point, ascending: those of point u are ``members[firsts[u] : firsts[u + 1]]``
    members: NDArray[np.int32]
    firsts: NDArray[np.int32]
    point_of: NDArray[np.int32]  # point of every member; shape (n_members,)
    # nearest members of every point, near to far, ties in row order; -1 behind the last. Length 0: no lists; shape (n_points,
    # length)
    lists: NDArray[np.int32]
    skips_duplicates: bool  # whether members at distance exactly 0 are no neighbours


def class_neighbours(
    space: Space, rows: IntArray, duplicates: Literal["neighbours", "skipped"], with_lists: bool
) -> ClassNeighbours:
    """Prepare the samples of one class for queries."""
    coordinates = space.coordinates[rows]
    by_value = np.lexsort(coordinates.T)  # stable: members with equal values stay in row order
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (coordinates[by_value[1:]] != coordinates[by_value[:-1]]).any(axis=1)
    firsts = np.flatnonzero(is_new)
    sizes = np.diff(np.append(firsts, len(rows)))
    space = space._replace(coordinates=coordinates[by_value[firsts]])
    order = order_in_space(space)
    starts = np.append(0, np.cumsum(sizes[order]))
    # The members of every point, in the points' new order.
    members = by_value[repeat(firsts[order] - starts[:-1], sizes[order]) + np.arange(len(rows))].astype(np.int32)
    point_of = np.empty(len(rows), np.int32)
    point_of[members] = repeat(np.arange(len(order)), sizes[order])
    neighbours = ClassNeighbours(
        space._replace(coordinates=space.coordinates[order]),
        members,
        starts.astype(np.int32),
        point_of,
        np.empty((len(order), 0), np.int32),
        duplicates == "skipped",
    )
    if with_lists:
        length = min(LIST_LENGTH, len(rows), MOST_LISTED // len(order))
        neighbours = neighbours._replace(lists=_make_lists(neighbours, length))
    return neighbours


@compiled
def assign_in_groups(neighbours: ClassNeighbours, starts: IntArray, group_size: int, hops: bool) -> tuple[IntArray, IntArray]:
    """Assign all members of a class, group by group; return the group of every member and its place there.

    Neighbours at equal distance are taken in the order of the rows.
    """
    n_members = len(starts)
    group = np.empty(n_members, np.int64)
    place = np.empty(n_members, np.int64)
    progress = _start(neighbours)
    cursors = np.zeros(len(neighbours.firsts) - 1, np.int32)  # in the lists: those before it are assigned for good
    n_wanted = 1 if hops else group_size - 1
    found = np.empty(n_wanted, np.int32)
    distances = np.empty(n_wanted)
    n_groups = 0
    for start in starts:
        if progress.used[start]:
            continue
        group[start], place[start] = n_groups, 0
        _remove(neighbours, start, progress)
        last, n_placed = start, 1
        while n_placed < group_size:
            n_found = _unassigned(neighbours, last, progress, cursors, distances, found)
            for member in found[:n_found]:
                group[member], place[member] = n_groups, n_placed
                _remove(neighbours, member, progress)
                last = member
                n_placed += 1
            if n_found == 0 or not hops:
                break
        n_groups += 1
    return group, place


@compiled
def _start(neighbours: ClassNeighbours) -> _Progress:
    """Nothing is assigned yet."""
    used = np.zeros(len(neighbours.members), np.bool_)
    return _Progress(used, neighbours.firsts[:-1].copy(), none_assigned(neighbours.space))


@compiled
def _unassigned(
    neighbours: ClassNeighbours,
    member: int,
    progress: _Progress,
    cursors: NDArray[np.int32],
    distances: FloatArray,
    found: NDArray[np.int32],
) -> int:
    """Find the nearest unassigned neighbours of a member; return how many there are, up to the length of `found`."""
    used = progress.used
    point = neighbours.point_of[member]
    listed = neighbours.lists[point]
    while cursors[point] < len(listed) and (listed[cursors[point]] < 0 or used[listed[cursors[point]]]):
        cursors[point] += 1
    n_found = 0
    for t in range(cursors[point], len(listed)):
        if listed[t] >= 0 and not used[listed[t]]:
            found[n_found] = listed[t]
            n_found += 1
            if n_found == len(found):
                return n_found
    return _search(neighbours, point, progress, distances, found)


@compiled
def _search(neighbours: ClassNeighbours, point: int, progress: _Progress, distances: FloatArray, found: NDArray[np.int32]) -> int:
    """Find the nearest unassigned members of a point in the tree, near to far, ties in row order; return how many there are."""
    used, heads, unassigned = progress.used, progress.heads, progress.unassigned
    space, members, firsts = neighbours.space, neighbours.members, neighbours.firsts
    thin_out(unassigned, space, heads, firsts)
    query, is_plain, skips = space.coordinates[point], space.is_plain, neighbours.skips_duplicates
    points, blocks, low, high, alive = unassigned.points, unassigned.blocks, unassigned.low, unassigned.high, unassigned.alive
    counts, offsets = unassigned.counts, unassigned.offsets
    n_slots, top = unassigned.extent[N_SLOTS], unassigned.extent[N_LEVELS] - 1
    n_wanted = len(found)
    levels, nodes, bounds = np.empty(MOST_OPEN, np.int64), np.empty(MOST_OPEN, np.int64), np.empty(MOST_OPEN)
    of_block = np.empty(BLOCK)
    levels[0], nodes[0], bounds[0] = top, 0, 0.0
    n_open, n_held, own = 1, 0, -1
    # First the leaf that the point itself is in: what is near bounds the search.
    slot = unassigned.slot_of[point]
    if slot < n_slots and points[slot] == point:
        own = slot // BLOCK
        levels[1], nodes[1], bounds[1] = OWN_LEAF, own, 0.0
        n_open = 2
    while n_open > 0:
        n_open -= 1
        level, node = levels[n_open], nodes[n_open]
        farthest = distances[n_wanted - 1] if n_held == n_wanted else np.inf
        # A node as far as the farthest neighbour held may hold a lower row at that distance.
        if bounds[n_open] > farthest or (level == 0 and node == own):
            continue
        start = node * BLOCK
        if level > 0:
            group = offsets[level] - offsets[1] + node
            if is_plain:
                plain_box_distances(query, low, high, group, farthest, of_block)
            else:
                box_distances(space, query, low[group], high[group], of_block)
            first = n_open
            for i in range(min(BLOCK, counts[level - 1] - start)):
                bound = of_block[i]
                if bound <= farthest and alive[offsets[level - 1] + start + i] > 0:
                    at = n_open  # the nearest is looked at first
                    while at > first and bounds[at - 1] < bound:
                        levels[at], nodes[at], bounds[at] = levels[at - 1], nodes[at - 1], bounds[at - 1]
                        at -= 1
                    levels[at], nodes[at], bounds[at] = level - 1, start + i, bound
                    n_open += 1
            continue
        if is_plain:
            plain_block_distances(query, blocks, node, farthest, of_block)
        else:
            block_distances(space, query, blocks[node], farthest, of_block)
        for i in range(min(BLOCK, n_slots - start)):
            farthest = distances[n_wanted - 1] if n_held == n_wanted else np.inf
            distance = of_block[i]
            if distance > farthest or (skips and distance == 0):
                continue
            other = points[start + i]
            for at in range(heads[other], firsts[other + 1]):
                member = members[at]
                if used[member]:
                    continue
                if n_held == n_wanted and (
                    distance > distances[n_held - 1] or (distance == distances[n_held - 1] and member > found[n_held - 1])
                ):
                    break
                n_held = _insert(distances, found, n_held, distance, member)
    return n_held


@compiled(inline="always")
def _insert(distances: FloatArray, found: NDArray[np.int32], n_held: int, distance: float, member: int) -> int:
    """Insert into a list in the order of distance and row; a full list loses its last entry."""
    at = n_held
    if n_held == len(found):
        at -= 1
    else:
        n_held += 1
    while at > 0 and (distances[at - 1] > distance or (distances[at - 1] == distance and found[at - 1] > member)):
        distances[at] = distances[at - 1]
        found[at] = found[at - 1]
        at -= 1
    distances[at] = distance
    found[at] = member
    return n_held


@compiled
def _remove(neighbours: ClassNeighbours, member: int, progress: _Progress) -> None:
    """Mark a member as assigned; a point whose members are all assigned leaves the tree's counts."""
    used, heads = progress.used, progress.heads
    used[member] = True
    point = neighbours.point_of[member]
    end = neighbours.firsts[point + 1]
    while heads[point] < end and used[neighbours.members[heads[point]]]:
        heads[point] += 1
    if heads[point] == end:
        leave(progress.unassigned, point)


@compiled
def _make_lists(neighbours: ClassNeighbours, length: int) -> NDArray[np.int32]:
    """List the nearest members of every point, its own among them unless duplicates are skipped; -1 behind the last."""
    n_points = len(neighbours.firsts) - 1
    lists = np.full((n_points, length), -1, np.int32)
    progress = _start(neighbours)
    distances = np.empty(length)
    for point in range(n_points):
        _search(neighbours, point, progress, distances, lists[point])
    return lists
