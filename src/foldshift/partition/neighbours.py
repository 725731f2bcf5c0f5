"""Nearest unassigned samples of a class: a k-d tree that forgets samples as they are assigned, and neighbour lists shared by
seeds."""

from typing import NamedTuple

import numpy as np

from foldshift.compiling import compiled

METRICS = ("heom", "euclidean", "keel")
DUPLICATES = ("neighbours", "skipped")
LEAF_SIZE = 8  # distinct points in a leaf of the tree, at most
LIST_LENGTH = 64  # neighbours listed per distinct point: beyond, the tree is asked, when few samples are left anyway
MOST_LISTED = 1 << 24  # entries of all lists of a class together (64 MB)
FEWEST_SEEDS = 10  # below, lists cost more than they save


class Space(NamedTuple):
    """Samples in the coordinates of a metric.

    Attributes
    ----------
    coordinates : ndarray of shape (n_samples, n_features), dtype float64
        Numeric columns in the metric's scaling; positions of the categories, from 0, in nominal columns.
    weights : ndarray of shape (n_features,), dtype float64
        ``keel``: standard deviation of every numeric column. Not used otherwise.
    gaps : ndarray of shape (n_entries,), dtype float64
        ``keel``: distance between two categories of a nominal column, one square table after the other.
    starts, n_codes : ndarray of shape (n_features,), dtype int64
        Where the table of a column starts in `gaps`; its number of categories, 0 for numeric columns.
    is_keel : bool
        Whether distances are those of ``keel``; squared Euclidean ones with overlap otherwise.
    """

    coordinates: np.ndarray
    weights: np.ndarray
    gaps: np.ndarray
    starts: np.ndarray
    n_codes: np.ndarray
    is_keel: bool


class ClassNeighbours(NamedTuple):
    """The samples of one class, ready for queries; members are numbered from 0 in the order of the rows.

    Attributes
    ----------
    space : Space
        Distinct points, in the order of the leaves of the tree, in place of the samples.
    members, firsts : ndarray of int32
        Members at every point, ascending: those of point u are ``members[firsts[u] : firsts[u + 1]]``.
    point_of : ndarray of shape (n_members,), dtype int32
        Point of every member.
    low, high : ndarray of shape (2 * n_leaves, n_features), dtype float64
        Box around the points of every node. Node 1 is the root, those below node i are 2i and 2i + 1, the leaves the last half.
    lists : ndarray of shape (n_points, length), dtype int32
        Nearest members of every point, near to far, ties in row order; -1 behind the last. Length 0: no lists.
    skips_duplicates : bool
        Whether members at distance exactly 0 are no neighbours.
    """

    space: Space
    members: np.ndarray
    firsts: np.ndarray
    point_of: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lists: np.ndarray
    skips_duplicates: bool


def make_space(X, codes, metric, nominal):
    """Coordinates in which a metric measures.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype float64
        Inputs, finite, or NaN where missing under ``heom``. Nominal columns hold any numbers, one for each category.
    codes : ndarray of shape (n_samples,), dtype int64
        Classes ``0 .. n_classes - 1``.
    metric : {"heom", "euclidean", "keel"}
        ``heom``: numeric columns scaled to [0, 1], nominal ones 0 or 1 (equal or not), 1 where a value is missing [1]_.
        ``euclidean``: the numbers as they are, nominal or not. ``keel``: root of the sum of ``|a - b| / 4 * sd`` over numeric
        columns and of ``sqrt(sum over classes of (P(class | a) - P(class | b))**2)`` over nominal ones.
    nominal : ndarray of shape (n_features,), dtype bool
        Which columns are nominal.

    Returns
    -------
    space : Space

    Notes
    -----
    Ranges, standard deviations (population) and class frequencies come from all samples.

    References
    ----------
    .. [1] Wilson, Martinez (1997). Improved heterogeneous distance functions. Journal of Artificial Intelligence Research 6,
    1-34,
       section 2.3.
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
    return Space(coordinates, X.std(axis=0), np.concatenate(tables) if tables else np.empty(0), starts, n_codes, metric == "keel")


def class_neighbours(space, rows, duplicates, with_lists):
    """Prepare the samples of one class for queries.

    Parameters
    ----------
    space : Space
        All samples.
    rows : ndarray of shape (n_members,), dtype int64
        Samples of the class, ascending.
    duplicates : {"neighbours", "skipped"}
        Whether members at distance exactly 0 are neighbours.
    with_lists : bool
        Whether to list the nearest neighbours of every point, which pays when many partitions are made. The answers are the same.

    Returns
    -------
    neighbours : ClassNeighbours
    """
    coordinates = space.coordinates[rows]
    by_value = np.lexsort(coordinates.T)  # stable: members with equal values stay in row order
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (coordinates[by_value[1:]] != coordinates[by_value[:-1]]).any(axis=1)
    firsts = np.flatnonzero(is_new)
    sizes = np.diff(np.append(firsts, len(rows)))
    space = space._replace(coordinates=coordinates[by_value[firsts]])
    n_leaves = 1
    while n_leaves * LEAF_SIZE < len(firsts):
        n_leaves *= 2
    order, low, high = _build(space, n_leaves)
    starts = np.append(0, np.cumsum(sizes[order]))
    # The members of every point, in the points' new order.
    members = by_value[np.repeat(firsts[order] - starts[:-1], sizes[order]) + np.arange(len(rows))].astype(np.int32)
    point_of = np.empty(len(rows), np.int32)
    point_of[members] = np.repeat(np.arange(len(order)), sizes[order])
    neighbours = ClassNeighbours(
        space._replace(coordinates=space.coordinates[order]),
        members,
        starts.astype(np.int32),
        point_of,
        low,
        high,
        np.empty((len(order), 0), np.int32),
        duplicates == "skipped",
    )
    if with_lists:
        length = min(LIST_LENGTH, len(rows), MOST_LISTED // len(order))
        neighbours = neighbours._replace(lists=_make_lists(neighbours, length))
    return neighbours


@compiled
def assign_in_groups(neighbours, starts, group_size, hops):
    """Assign all members of a class, group by group.

    Parameters
    ----------
    neighbours : ClassNeighbours
        The class.
    starts : ndarray of shape (n_members,), dtype int64
        A permutation of the members: a group starts at the first one in it that is unassigned.
    group_size : int
        Members in a group, at most.
    hops : bool
        True: every further member of a group is the nearest unassigned neighbour of the one assigned just before. False: the
        further members are the nearest unassigned neighbours of the start, near to far. A group also ends where no neighbour is
        left.

    Returns
    -------
    group, place : ndarray of shape (n_members,), dtype int64
        Number of each member's group, and its place in the group, both from 0.

    Notes
    -----
    Neighbours at equal distance are taken in the order of the rows.
    """
    n_members = len(starts)
    group = np.empty(n_members, np.int64)
    place = np.empty(n_members, np.int64)
    used = np.zeros(n_members, np.bool_)
    heads = neighbours.firsts[:-1].copy()
    cursors = np.zeros(len(heads), np.int32)
    alive = _count_points(len(heads), len(neighbours.low))
    n_wanted = 1 if hops else group_size - 1
    found = np.empty(n_wanted, np.int32)
    distances = np.empty(n_wanted)
    n_groups = 0
    for start in starts:
        if used[start]:
            continue
        group[start], place[start] = n_groups, 0
        _remove(neighbours, start, used, heads, alive)
        last, n_placed = start, 1
        while n_placed < group_size:
            n_found = _unassigned(neighbours, last, n_wanted, used, heads, cursors, alive, distances, found)
            for member in found[:n_found]:
                group[member], place[member] = n_groups, n_placed
                _remove(neighbours, member, used, heads, alive)
                last = member
                n_placed += 1
            if n_found == 0 or not hops:
                break
        n_groups += 1
    return group, place


@compiled
def _unassigned(neighbours, member, n_wanted, used, heads, cursors, alive, distances, found):
    """Nearest unassigned neighbours of a member into `found`; return how many there are, up to `n_wanted`."""
    point = neighbours.point_of[member]
    listed = neighbours.lists[point]
    # What the cursor has passed is assigned for good.
    while cursors[point] < len(listed) and (listed[cursors[point]] < 0 or used[listed[cursors[point]]]):
        cursors[point] += 1
    n_found = 0
    for t in range(cursors[point], len(listed)):
        if listed[t] >= 0 and not used[listed[t]]:
            found[n_found] = listed[t]
            n_found += 1
            if n_found == n_wanted:
                return n_found
    return _search(neighbours, point, used, heads, alive, distances, found)


@compiled
def _search(neighbours, point, used, heads, alive, distances, found):
    """Nearest unassigned members of a point from the tree: into `found`, near to far, ties in row order; return how many."""
    space, members, firsts = neighbours.space, neighbours.members, neighbours.firsts
    query = space.coordinates[point]
    n_points, n_leaves = len(firsts) - 1, len(neighbours.low) // 2
    n_wanted = len(found)
    nodes = np.empty(64, np.int64)
    bounds = np.empty(64)
    nodes[0], bounds[0] = 1, 0.0
    n_open, n_held = 1, 0
    while n_open > 0:
        n_open -= 1
        node = nodes[n_open]
        farthest = distances[n_wanted - 1] if n_held == n_wanted else np.inf
        # A node as far as the farthest neighbour held may hold a lower row at that distance.
        if alive[node] == 0 or bounds[n_open] > farthest:
            continue
        if node < n_leaves:
            left = _box_distance(space, query, neighbours.low[2 * node], neighbours.high[2 * node])
            right = _box_distance(space, query, neighbours.low[2 * node + 1], neighbours.high[2 * node + 1])
            near = 0 if left <= right else 1
            nodes[n_open], bounds[n_open] = 2 * node + 1 - near, right if near == 0 else left
            nodes[n_open + 1], bounds[n_open + 1] = 2 * node + near, left if near == 0 else right
            n_open += 2
            continue
        leaf = node - n_leaves
        for other in range(n_points * leaf // n_leaves, n_points * (leaf + 1) // n_leaves):
            if heads[other] == firsts[other + 1]:
                continue
            farthest = distances[n_wanted - 1] if n_held == n_wanted else np.inf
            distance = _distance(space, query, space.coordinates[other], farthest)
            if distance > farthest or (neighbours.skips_duplicates and distance == 0):
                continue
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
def _insert(distances, found, n_held, distance, member):
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


@compiled(inline="always")
def _distance(space, a, b, farthest):
    """Distance (``keel``) or its square; infinity as soon as a square exceeds `farthest`."""
    total = 0.0
    if space.is_keel:
        for j in range(len(a)):
            if space.n_codes[j] > 0:
                total += space.gaps[space.starts[j] + int(a[j]) * space.n_codes[j] + int(b[j])]
            else:
                total += abs(a[j] - b[j]) / 4 * space.weights[j]
        return np.sqrt(total)
    for j in range(len(a)):
        if space.n_codes[j] > 0:
            total += 1.0 if a[j] != b[j] else 0.0
        else:
            gap = a[j] - b[j]
            total += 1.0 if np.isnan(gap) else gap * gap
        if total > farthest:
            return np.inf
    return total


@compiled(inline="always")
def _box_distance(space, a, low, high):
    """No more than the distance to any point in a box: the same sum with smaller terms, so that rounding keeps the order too."""
    total = 0.0
    for j in range(len(a)):
        if space.n_codes[j] > 0:
            if not space.is_keel:
                total += 1.0 if a[j] < low[j] or a[j] > high[j] else 0.0
            elif low[j] == high[j]:
                total += space.gaps[space.starts[j] + int(a[j]) * space.n_codes[j] + int(low[j])]
            continue
        gap = low[j] - a[j] if a[j] < low[j] else a[j] - high[j] if a[j] > high[j] else 0.0
        total += gap / 4 * space.weights[j] if space.is_keel else gap * gap
    return np.sqrt(total) if space.is_keel else total


@compiled
def _remove(neighbours, member, used, heads, alive):
    """Mark a member as assigned; a point whose members are all assigned leaves the tree's counts."""
    used[member] = True
    point = neighbours.point_of[member]
    end = neighbours.firsts[point + 1]
    while heads[point] < end and used[neighbours.members[heads[point]]]:
        heads[point] += 1
    if heads[point] == end:
        n_points, n_leaves = len(heads), len(neighbours.low) // 2
        # The leaf whose points, from n_points * leaf // n_leaves on, hold this one.
        node = n_leaves + ((point + 1) * n_leaves - 1) // n_points
        while node > 0:
            alive[node] -= 1
            node //= 2


@compiled
def _count_points(n_points, n_nodes):
    """Points in every node of the tree."""
    n_leaves = n_nodes // 2
    counts = np.zeros(n_nodes, np.int64)
    for leaf in range(n_leaves):
        counts[n_leaves + leaf] = n_points * (leaf + 1) // n_leaves - n_points * leaf // n_leaves
    for node in range(n_leaves - 1, 0, -1):
        counts[node] = counts[2 * node] + counts[2 * node + 1]
    return counts


@compiled
def _build(space, n_leaves):
    """Order of the points along the leaves, and the box of every node; a node is cut at its middle, across its widest column."""
    n_points, n_features = space.coordinates.shape
    order = np.arange(n_points)
    low = np.full((2 * n_leaves, n_features), np.inf)
    high = np.full((2 * n_leaves, n_features), -np.inf)
    level = 1  # nodes at the level, and number of its first
    while level <= n_leaves:
        for i in range(level):
            # Whole numbers rounded down once: the ends agree with those of the leaves below.
            start = n_points * (i * (n_leaves // level)) // n_leaves
            stop = n_points * ((i + 1) * (n_leaves // level)) // n_leaves
            for t in range(start, stop):
                for j in range(n_features):
                    value = space.coordinates[order[t], j]
                    # A missing value is as far away as any value can be, so that the box may do without it.
                    if not np.isnan(value):
                        low[level + i, j] = min(low[level + i, j], value)
                        high[level + i, j] = max(high[level + i, j], value)
            if level < n_leaves:
                widest, width = 0, -1.0
                for j in range(n_features):
                    extent = high[level + i, j] - low[level + i, j]
                    if space.n_codes[j] > 0:
                        extent = min(extent, 1.0)
                    elif space.is_keel:
                        extent *= space.weights[j]
                    if extent > width:
                        widest, width = j, extent
                values = np.empty(stop - start)
                for t in range(start, stop):
                    values[t - start] = space.coordinates[order[t], widest]
                order[start:stop] = order[start:stop][np.argsort(values, kind="mergesort")]
            for j in range(n_features):
                if low[level + i, j] > high[level + i, j] and space.n_codes[j] == 0:  # no value at all: the box says nothing
                    low[level + i, j], high[level + i, j] = -np.inf, np.inf
        level *= 2
    return order, low, high


@compiled
def _make_lists(neighbours, length):
    """Nearest members of every point, its own among them unless duplicates are skipped; -1 behind the last."""
    n_points = len(neighbours.firsts) - 1
    lists = np.full((n_points, length), -1, np.int32)
    used = np.zeros(len(neighbours.members), np.bool_)
    heads = neighbours.firsts[:-1].copy()
    alive = _count_points(n_points, len(neighbours.low))
    distances = np.empty(length)
    for point in range(n_points):
        _search(neighbours, point, used, heads, alive, distances, lists[point])
    return lists
