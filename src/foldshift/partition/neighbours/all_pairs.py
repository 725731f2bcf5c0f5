"""Nearest unassigned samples of a class from all of its distances, in NumPy: for small classes, and where numba is not installed.

The same groups as from `foldshift.partition.neighbours.search`: distances are the same sums in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray
    from foldshift.partition.neighbours.metric import Space

MOST_KEPT = 4_000_000  # neighbours of a class in memory


class AllPairs:
    """Samples of one class, ascending `rows` of a table, with the order in which each has the others as neighbours."""

    def __init__(self, space: Space, rows: IntArray, skips_duplicates: bool) -> None:
        self._space, self._columns = space, np.ascontiguousarray(space.coordinates[rows].T)
        self.members, self._skips = rows, skips_duplicates
        self._orders: dict[int, IntArray] = {}

    def order_of(self, member: int) -> IntArray:
        """Neighbours of a member, near to far, ties in the order of the rows."""
        if member not in self._orders:
            distances = self._distances(member)
            order = np.argsort(distances, kind="stable")
            if self._skips:
                order = order[np.searchsorted(distances[order], 0.0, side="right") :]
            if len(self._orders) * len(self.members) >= MOST_KEPT:
                self._orders.clear()
            self._orders[member] = order
        return self._orders[member]

    def _distances(self, member: int) -> FloatArray:
        """Distances (`keel`) or their squares from a member to all, column by column."""
        space, out = self._space, np.zeros(len(self.members))
        for j, column in enumerate(self._columns):
            value, n_codes = column[member], space.n_codes[j]
            if n_codes > 0 and space.is_keel:
                out += space.gaps[space.starts[j] + int(value) * n_codes + column.astype(np.int64)]
            elif n_codes > 0:
                out += column != value
            elif space.is_keel:
                out += np.abs(value - column) / 4 * space.weights[j]
            else:
                gap = value - column
                out += np.where(np.isnan(gap), 1.0, gap * gap)
        return np.sqrt(out) if space.is_keel else out


def assign_all_pairs(pairs: AllPairs, starts: IntArray, group_size: int, hops: bool) -> tuple[IntArray, IntArray]:
    """Assign all members of a class, group by group; see `foldshift.partition.neighbours.search.assign_in_groups`."""
    n_members = len(starts)
    group, place = np.empty(n_members, np.int64), np.empty(n_members, np.int64)
    is_free: BoolArray = np.ones(n_members, dtype=bool)
    n_groups = 0
    for start in starts.tolist():
        if not is_free[start]:
            continue
        is_free[start] = False
        group[start], place[start] = n_groups, 0
        if hops:
            last, n_placed = start, 1
            while n_placed < group_size:
                order = pairs.order_of(last)
                first = int(is_free[order].argmax()) if len(order) else 0
                if not len(order) or not is_free[order[first]]:
                    break
                last = int(order[first])
                is_free[last] = False
                group[last], place[last] = n_groups, n_placed
                n_placed += 1
        else:
            order = pairs.order_of(start)
            found = order[is_free[order]][: group_size - 1]
            is_free[found] = False
            group[found], place[found] = n_groups, np.arange(1, len(found) + 1)
        n_groups += 1
    return group, place
