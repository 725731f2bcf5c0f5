"""Area under the ROC curve of a classifier by nearest neighbours that tells test rows from training rows, for many cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import as_written, compiled, form_for
from foldshift.core.kdtree import MOST_FEATURES, nearest_candidates
from foldshift.shift.measures import in_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, UnsignedArray

MANY_ROWS = 30_000  # distinct rows from which on a tree finds the neighbours faster than a comparison of all pairs
TIE = 1e-12  # squared distances with a smaller relative difference are equal: the order of a sum decides their last bits


class _Neighbours(NamedTuple):
    """Neighbours of distinct points, one list after the other.

    Points nearer to point u than its n-th neighbour, u itself included, are ``listed[starts[u] : middles[u]]``, those at the same
    distance ``listed[middles[u] : starts[u + 1]]``. A point with more than n samples has itself alone, in the second part.
    """

    starts: IntArray
    middles: IntArray
    listed: IntArray | NDArray[np.int32]


def two_sample_auc(
    coordinates: FloatArray, is_nominal: BoolArray, folds: UnsignedArray, n_folds: int, n_neighbors: int
) -> FloatArray:
    """Area of every fold of every cut, expected over the order among ties; see `foldshift.shift.fold_covariates`."""
    points, point_of, sizes = np.unique(coordinates, axis=0, return_inverse=True, return_counts=True)
    if len(coordinates) == 1:
        return np.full((len(folds), n_folds), np.nan)
    n_neighbors = min(n_neighbors, len(coordinates) - 1)
    columns = np.ascontiguousarray(points.T)
    if form_for(_auc, _auc_in_numpy, float(points.size) * len(points) + folds.size * n_folds**2) is _auc_in_numpy:
        near = _Neighbours(*in_numpy.tied_neighbours(columns, is_nominal, sizes, n_neighbors, TIE))
        return _auc_in_numpy(point_of.ravel(), near, n_neighbors, folds, n_folds)
    candidates = np.empty((len(points), 0), np.int32)
    if len(points) >= MANY_ROWS and not is_nominal.any() and points.shape[1] <= MOST_FEATURES:
        # One more than wanted and the point itself, to see where they end; in row order, as in a comparison of all points.
        candidates = np.sort(nearest_candidates(points, points, min(n_neighbors + 3, len(points))), axis=1)
    near = _Neighbours(*_tied_neighbours(columns, is_nominal, sizes, n_neighbors, candidates))
    return _auc(point_of.ravel(), near, n_neighbors, folds, n_folds)


def _auc_in_numpy(
    point_of: IntArray, neighbours: _Neighbours, n_neighbors: int, folds: UnsignedArray, n_folds: int
) -> FloatArray:
    """Compute what `_auc` does, one cut at a time."""
    drawn, area = as_written(_drawn), as_written(_area)
    cuts = (in_numpy.expected_scores(point_of, neighbours, n_neighbors, cut, n_folds, drawn) for cut in folds)
    return np.array([[area(*parts) for parts in zip(tests, trains)] for tests, trains in cuts])


@compiled
def squared_distances(columns: FloatArray, is_nominal: BoolArray, i: int, first: int, out: FloatArray) -> None:
    """Compute squared distances of sample i to those from `first` on, column by column so that the loop runs over samples."""
    out[first:] = 0.0
    for c in range(len(columns)):
        column = columns[c]
        here = column[i]
        if is_nominal[c]:
            for j in range(first, len(column)):
                out[j] += 1.0 if column[j] != here else 0.0
        else:
            for j in range(first, len(column)):
                gap = column[j] - here
                out[j] += gap * gap


@compiled
def _tied_neighbours(
    columns: FloatArray, is_nominal: BoolArray, sizes: IntArray, n_neighbors: int, candidates: NDArray[np.int32]
) -> tuple[IntArray, IntArray, NDArray[np.int32]]:
    """List the points within the distance of the n-th nearest other sample of every point, as `_Neighbours`.

    Points are distinct; `sizes` holds the number of samples at each. `candidates` holds some nearest points of each in row order,
    or has no columns. Then, and where candidates end at that distance, all points are compared.
    """
    n_points, width = candidates.shape
    starts = np.zeros(n_points + 1, np.int64)
    middles = np.empty(n_points, np.int64)
    listed = np.empty(2 * (n_neighbors + 2) * n_points, np.int32)
    everyone = np.arange(n_points).astype(np.int32)
    squared = np.empty(n_points)
    nearest = np.empty(n_neighbors)
    rows = np.empty(n_neighbors, np.int64)
    for u in range(n_points):
        among, farthest, is_all = candidates[u], 0.0, width == 0
        if not is_all:
            _some_squared_distances(columns, u, among, squared)
            farthest = _reach(squared, among, sizes, u, nearest, rows)
            is_all = farthest * (1 + 4 * TIE) >= squared[:width].max() or not (among == u).any()
        if is_all:
            among = everyone
            squared_distances(columns, is_nominal, u, 0, squared)
            farthest = _reach(squared, among, sizes, u, nearest, rows)
        n_near, n_tied = 0, 0
        for t in range(len(among)):
            n_near += squared[t] < farthest * (1 - TIE)
            n_tied += squared[t] <= farthest * (1 + TIE)
        end = starts[u] + n_tied
        while end > len(listed):
            listed = np.concatenate((listed, np.empty_like(listed)))
        near, tied = starts[u], starts[u] + n_near
        middles[u], starts[u + 1] = tied, end
        for t in range(len(among)):
            if squared[t] < farthest * (1 - TIE):
                listed[near] = among[t]
                near += 1
            elif squared[t] <= farthest * (1 + TIE):
                listed[tied] = among[t]
                tied += 1
    return starts, middles, listed[: starts[n_points]]


@compiled
def _some_squared_distances(columns: FloatArray, i: int, among: NDArray[np.int32], out: FloatArray) -> None:
    """Compute squared distances of point i to some others, numeric columns only: the same sums in the same order as for all."""
    out[: len(among)] = 0.0
    for c in range(len(columns)):
        column = columns[c]
        for t in range(len(among)):
            gap = column[among[t]] - column[i]
            out[t] += gap * gap


@compiled
def _reach(squared: FloatArray, among: NDArray[np.int32], sizes: IntArray, u: int, nearest: FloatArray, rows: IntArray) -> float:
    """Find the squared distance of the n-th nearest other sample of point u among some points; infinite if there are fewer."""
    wanted = len(nearest) - (sizes[u] - 1)
    if wanted <= 0:
        return 0.0
    n_held, n_wanted = 0, wanted
    for t in range(len(among)):
        if among[t] == u or (n_held == n_wanted and squared[t] >= nearest[n_held - 1]):
            continue
        at = n_held - 1 if n_held == n_wanted else n_held
        n_held = at + 1
        while at > 0 and nearest[at - 1] > squared[t]:
            nearest[at], rows[at] = nearest[at - 1], rows[at - 1]
            at -= 1
        nearest[at], rows[at] = squared[t], among[t]
    for t in range(n_held):
        wanted -= sizes[rows[t]]
        if wanted <= 0:
            return nearest[t]
    return np.inf


@compiled
def _auc(point_of: IntArray, neighbours: _Neighbours, n_neighbors: int, folds: UnsignedArray, n_folds: int) -> FloatArray:
    """Compute the area under the ROC curve of every fold, expected over the order among ties, from the chance of each score."""
    starts, middles, listed = neighbours
    n_seeds, n = folds.shape
    n_points = len(middles)
    out = np.empty((n_seeds, n_folds))
    counts = np.empty((n_points, n_folds), np.int64)
    near = np.empty(n_folds, np.int64)
    tied = np.empty(n_folds, np.int64)
    # Of every fold, the expected number of its rows, and of the others, with a score of 0, 1, ... neighbours in it.
    tests = np.empty((n_folds, n_neighbors + 1))
    trains = np.empty((n_folds, n_neighbors + 1))
    probability = np.empty(n_neighbors + 1)
    for s in range(n_seeds):
        counts[:] = 0
        for i in range(n):
            counts[point_of[i], folds[s, i]] += 1
        tests[:] = 0.0
        trains[:] = 0.0
        for u in range(n_points):
            near[:] = 0
            tied[:] = 0
            for t in range(starts[u], middles[u]):
                near += counts[listed[t]]
            for t in range(middles[u], starts[u + 1]):
                tied += counts[listed[t]]
            is_near = middles[u] > starts[u]  # the sample itself, not its own neighbour, was counted there, not among the tied
            n_tied = tied.sum() - (not is_near)
            places = n_neighbors - (near.sum() - is_near)
            for f in range(n_folds):
                n_alike = counts[u, f]  # samples of one point in one fold have the same neighbours
                if n_alike == 0:
                    continue
                for g in range(n_folds):
                    itself = 1 if f == g else 0
                    score = near[g] - itself * is_near
                    tied_here = tied[g] - itself * (not is_near)
                    low, high = _drawn(n_tied, tied_here, places, probability)
                    scores = tests[g] if f == g else trains[g]
                    for h in range(low, high + 1):
                        scores[score + h] += n_alike * probability[h]
        for g in range(n_folds):
            out[s, g] = _area(tests[g], trains[g])
    return out


@compiled
def _drawn(n: int, n_marked: int, n_drawn: int, probability: FloatArray) -> tuple[int, int]:
    """Fill `probability` with the hypergeometric distribution of the marked among `n_drawn` out of `n`; return its ends.

    It is filled from the mode to both sides, so that nothing overflows.
    """
    low, high = max(0, n_drawn + n_marked - n), min(n_drawn, n_marked)
    mode = (n_drawn + 1) * (n_marked + 1) // (n + 2)
    probability[mode] = 1.0
    total = 1.0
    for h in range(mode, high):
        probability[h + 1] = probability[h] * (n_marked - h) * (n_drawn - h) / ((h + 1) * (n - n_marked - n_drawn + h + 1))
        total += probability[h + 1]
    for h in range(mode, low, -1):
        probability[h - 1] = probability[h] * h * (n - n_marked - n_drawn + h) / ((n_marked - h + 1) * (n_drawn - h + 1))
        total += probability[h - 1]
    probability[low : high + 1] /= total
    return low, high


@compiled
def _area(positives: FloatArray, negatives: FloatArray) -> float:
    """Compute the area under the ROC curve from the numbers of either class at every score; NaN where a class is missing.

    Ties count one half. Numbers are fractions here (neighbours drawn at random), which `foldshift.inference.roc.roc_area` does
    not take.
    """
    won, below, n_positive = 0.0, 0.0, 0.0
    for positive, negative in zip(positives, negatives):
        won += positive * (below + negative / 2)
        below += negative
        n_positive += positive
    return won / (n_positive * below) if n_positive * below > 0 else np.nan
