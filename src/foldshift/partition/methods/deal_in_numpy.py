"""Kernels of the balanced cuts in NumPy, for small calls and where numba is not installed: the same bytes, without compiling.

Terms are whole numbers, so that their sums are exact in any order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray, IntArray


def assign(costs: list[list[float]]) -> list[int]:
    """Solve the assignment problem as `foldshift.partition.methods._assignment.assign` does, with lists: ties fall alike."""
    n = len(costs)
    if n == 2:
        first = 0 if costs[0][0] + costs[1][1] <= costs[0][1] + costs[1][0] else 1
        return [first, 1 - first]
    of_row, of_column, row_at, before = [0.0] * n, [0.0] * (n + 1), [-1] * (n + 1), [0] * (n + 1)
    for row in range(n):
        row_at[n], column = row, n
        reach, left, visited = [math.inf] * n, list(range(n)), []
        while row_at[column] >= 0:
            visited.append(column)
            if column < n:
                left.remove(column)
            here = row_at[column]
            base, line = of_row[here], costs[here]
            nearest, step = -1, math.inf
            for j in left:
                reduced = line[j] - base - of_column[j]
                if reduced < reach[j]:
                    reach[j], before[j] = reduced, column
                if reach[j] < step:
                    nearest, step = j, reach[j]
            for j in visited:
                of_row[row_at[j]] += step
                of_column[j] -= step
            for j in left:
                reach[j] -= step
            column = nearest
        while column != n:
            row_at[column] = row_at[before[column]]
            column = before[column]
    columns = [0] * n
    for j in range(n):
        columns[row_at[j]] = j
    return columns


def deal(terms: NDArray[np.int16], runs: Any, orders: IntArray, n_folds: int) -> IntArray:
    """Assign every sample to a fold; see `foldshift.partition.methods.balanced`."""
    rows, starts, firsts = runs
    numbers = terms.astype(np.float64)
    folds = np.empty(len(terms), np.int64)
    totals = np.zeros((n_folds, terms.shape[1]))
    parts = [rows[start:end] for start, end in zip(starts[:-1].tolist(), starts[1:].tolist())]
    places = [(first + np.arange(len(part))) % n_folds for part, first in zip(parts, firsts.tolist())]
    for sweep, order in enumerate(orders.tolist()):
        for run in order:
            part, place = parts[run], places[run]
            own = numbers[part]
            if sweep > 0:
                totals[folds[part]] -= own
            chosen = place[assign((own @ totals[place].T).tolist())]
            folds[part] = chosen
            totals[chosen] += own
    return folds


def exchange(all_groups: Any, tuples: IntArray, visits: IntArray, dealt: Any, is_dealt: bool) -> None:
    """Assign each tuple of groups again; see `foldshift.partition.methods.grouped`."""
    folds, totals, in_fold = dealt.folds, dealt.totals, dealt.in_fold
    n_folds, largest = len(in_fold), all_groups.sizes.max()
    everyone = np.arange(n_folds)
    for groups in tuples[visits]:
        there = groups >= 0
        sums = np.where(there[:, None], all_groups.sums[groups], 0.0)
        sizes = np.where(there, all_groups.sizes[groups], 0)
        if is_dealt:
            totals -= sums.T
        chosen = np.array(assign((sums @ totals).tolist()))
        if is_dealt:
            after = in_fold - sizes
            after[chosen] += sizes
            if after.max() - after.min() > largest or after.min() == 0:
                chosen = everyone
            in_fold -= sizes
        in_fold[chosen] += sizes
        folds[groups[there]] = chosen[there]
        totals[:, chosen] += sums.T


def fill_waves(terms: NDArray[np.int16], start: int, waves: int, places: FloatArray, scale: float) -> None:
    """Write the cosines of one column; see `foldshift.partition.methods.cosine_features`."""
    heights = scale / np.sqrt(np.arange(1, waves + 1))
    # As the compiled form has it, number by number: NumPy's cosine of a whole array may differ in the last bit.
    first = np.array([math.cos(math.pi * place) if place == place else 0.0 for place in places.tolist()])
    is_missing = np.isnan(places)
    before, now = np.ones(len(places)), first
    for j in range(waves):
        terms[:, start + j] = np.where(is_missing, 0, np.rint(heights[j] * now)).astype(np.int16)
        before, now = now, 2 * first * now - before


def sums_by_group(terms: NDArray[np.int16], groups: IntArray, n_groups: int) -> FloatArray:
    """Sum the terms of every group, exactly: shape (n_groups, n_terms)."""
    sums = np.zeros((n_groups, terms.shape[1]))
    np.add.at(sums, groups, terms)
    return sums


def anticluster(points: FloatArray, order: IntArray, n_folds: int) -> IntArray:
    """Deal runs of samples to the folds with the farthest centres; see `foldshift.partition.methods.anticlustering`."""
    folds = np.empty(len(points), np.int64)
    sums, counts = np.zeros((n_folds, points.shape[1])), np.zeros(n_folds)
    for start in range(0, len(order), n_folds):
        run = order[start : start + n_folds]
        costs = np.zeros((n_folds, n_folds))
        if start > 0:
            for column, centre in zip(points[run].T, (sums / counts[:, None]).T):  # column by column: sums in the same order
                gap = column[:, None] - centre
                costs[: len(run)] -= gap * gap
        chosen = np.array(assign(costs.tolist())[: len(run)])
        folds[run] = chosen
        sums[chosen] += points[run]
        counts[chosen] += 1
    return folds


def twin(points: FloatArray, n_parts: int, start: int) -> IntArray:
    """Choose the samples of the first of some parts; see `foldshift.partition.methods.anticlustering`."""
    columns, n_left = np.ascontiguousarray(points.T), len(points)
    left = np.arange(n_left)
    taken = np.empty(-(-n_left // n_parts), np.int64)

    def nearest(at: int, n_wanted: int) -> IntArray:
        total = np.zeros(n_left)
        for column in columns:
            gap = column[at] - column[left[:n_left]]
            total += gap * gap
        return np.argsort(total, kind="stable")[:n_wanted]

    at = start
    for turn in range(len(taken)):
        places = nearest(at, min(n_parts, n_left))
        taken[turn], farthest = left[places[0]], left[places[-1]]
        for place in np.sort(places)[::-1]:
            n_left -= 1
            left[place] = left[n_left]
        if n_left == 0:
            break
        at = left[nearest(farthest, 1)[0]]
    return taken
