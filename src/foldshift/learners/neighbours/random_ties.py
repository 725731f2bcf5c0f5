"""Nearest-neighbour regression in which chance decides between samples at equal distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners._states import fit_seeds
from foldshift.learners.neighbours.nearest_regressor import LIST_LENGTH, NNRegressor, insert, nearest_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, RandomState, TableLike, UnsignedArray
    from foldshift.learners._states import Cuts

MOST_LISTED = 50_000_000  # neighbours that are kept in all, 200 MB; samples with more are compared anew in every fit


class Lists(NamedTuple):
    """Nearest samples of every sample, near to far, whole groups of equal distance; one sample after the other."""

    ends: IntArray  # (n_samples + 1,): where the list of every sample begins, and the last one ends
    rows: NDArray[np.int32]
    distances: FloatArray
    whole: BoolArray  # (n_samples,): False where the list ends inside a group, for want of memory


class RandomTiesNNRegressor(NNRegressor):
    """Unweighted mean of the nearest training samples, Euclidean distance; ties at random.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbours k. A training part with fewer samples uses all of them.
    random_state : int, RandomState or None, default=None
        Decides between samples at equal distance.

    Notes
    -----
    Every fit puts its training samples in a random order; where more samples are equally far than are needed, the first in that
    order are taken. So nothing depends on the order of the rows. Without ties, predictions are those of `NNRegressor`.

    The shared path lists the nearest samples of every sample once per data set. The random order depends on the state of the fit
    and on the place of a sample in its training part alone, so that both paths decide alike.

    Examples
    --------
    >>> from foldshift.learners import RandomTiesNNRegressor
    >>> X, y = [[0.0], [2.0], [2.0], [0.0]], [1.0, 2.0, 4.0, 8.0]
    >>> [RandomTiesNNRegressor(1, random_state=seed).fit(X, y).predict([[1.0]]).item() for seed in range(4)]
    [4.0, 2.0, 2.0, 8.0]
    """

    def __init__(self, n_neighbors: int = 3, random_state: RandomState = None) -> None:
        super().__init__(n_neighbors)
        self.random_state = random_state

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        super()._fit(X, y)
        self.seed_ = fit_seeds(self.random_state, (1, 1))[0, 0]

    def _predict(self, X: FloatArray) -> FloatArray:
        wanted = min(self.n_neighbors, len(self.X_))
        listed = nearest_rows(X, self.X_, min(wanted + 1, len(self.X_)))
        return _predict_new(X, self.X_, self.y_, listed, wanted, self.seed_)

    def _predict_folds(self, X: FloatArray, y: FloatArray, cuts: Cuts) -> FloatArray:
        self._check()
        length = min(max(LIST_LENGTH, 4 * self.n_neighbors) + 1, len(X) - 1)
        lists = _whole_groups(X, nearest_rows(X, X, length, skip_self=True), MOST_LISTED)
        return _walk(X, y, cuts.folds, lists, cuts.seeds(self.random_state), self.n_neighbors)

    def fold_predictor(self, X: TableLike, y: TableLike, X_new: TableLike) -> None:  # type: ignore[override]
        """Return None: every fit has a random order of its own."""
        return None


@compiled(inline="always")
def _distance(X: FloatArray, i: int, points: FloatArray, j: int) -> float:
    total = 0.0
    for c in range(X.shape[1]):
        gap = X[i, c] - points[j, c]
        total += gap * gap
    return total


@compiled
def _chance(seed: int, place: int) -> float:
    """Number in [0, 1) of a training sample, by the state of the fit and its place in the training part (SplitMix64)."""
    z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(place + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * 2.0**-53


@compiled
def _whole_groups(X: FloatArray, listed: IntArray, most: int) -> Lists:
    """Extend lists of neighbours to the end of the group of equal distance in which they end."""
    n, length = listed.shape
    ends, whole = np.zeros(n + 1, np.int64), np.ones(n, np.bool_)
    for i in range(n):
        farthest, size = _distance(X, i, X, listed[i, length - 1]), length
        if length < n - 1 and _distance(X, i, X, listed[i, length - 2]) < farthest:
            size = length - 1  # the last one is there to show where the group before it ends
        elif length < n - 1:
            size = 0
            for j in range(n):
                size += j != i and _distance(X, i, X, j) <= farthest
            whole[i] = ends[i] + size + (n - i) * length <= most
            size = size if whole[i] else length
        ends[i + 1] = ends[i] + size
    rows, distances = np.empty(ends[n], np.int32), np.empty(ends[n])
    for i in range(n):
        t = ends[i]
        for j in listed[i, : ends[i + 1] - ends[i]]:
            rows[t], distances[t] = j, _distance(X, i, X, j)
            t += 1
        j = rows[t - 1] + 1  # equally far samples are listed in the order of the rows
        while t < ends[i + 1]:
            if j != i and _distance(X, i, X, j) == distances[t - 1]:
                rows[t], distances[t] = j, distances[t - 1]
                t += 1
            j += 1
    return Lists(ends, rows, distances, whole)


@compiled
def _sum_tied(y: FloatArray, tied: IntArray, places: IntArray, n_wanted: int, seed: int) -> float:
    """Sum the targets of as many equally far samples as are wanted, in the random order of the fit."""
    if len(tied) == n_wanted:
        order = tied
    else:
        keys, order = np.empty(n_wanted), np.empty(n_wanted, np.int64)
        n_held = 0
        for t in range(len(tied)):
            n_held = insert(keys, order, n_held, _chance(seed, places[t]), tied[t])
    total = 0.0
    for row in order:
        total += y[row]
    return total


@compiled
def _predict_new(
    queries: FloatArray, points: FloatArray, y: FloatArray, listed: IntArray, n_wanted: int, seed: int
) -> FloatArray:
    """Predict new samples by one training part, whose nearest samples and one more are listed."""
    out, n = np.empty(len(queries)), len(points)
    tied = np.empty(n, np.int64)
    for i in range(len(queries)):
        farthest = _distance(queries, i, points, listed[i, n_wanted - 1])
        is_tied = listed.shape[1] > n_wanted and _distance(queries, i, points, listed[i, n_wanted]) == farthest
        total, n_nearer, n_tied = 0.0, 0, 0
        for t in range(n_wanted):
            if _distance(queries, i, points, listed[i, t]) < farthest:
                total += y[listed[i, t]]
                n_nearer += 1
            else:
                tied[n_tied] = listed[i, t]
                n_tied += 1
        if is_tied:
            n_tied = 0
            for j in range(n):
                if _distance(queries, i, points, j) == farthest:
                    tied[n_tied] = j
                    n_tied += 1
        total += _sum_tied(y, tied[:n_tied], tied[:n_tied], n_wanted - n_nearer, seed)
        out[i] = total / n_wanted
    return out


@compiled
def _walk(X: FloatArray, y: FloatArray, folds: UnsignedArray, lists: Lists, seeds: UnsignedArray, n_neighbors: int) -> FloatArray:
    """Predict every sample from the other folds, by the lists of its nearest samples."""
    (n_seeds, n), n_folds = folds.shape, seeds.shape[1]
    out, sizes = np.empty((n_seeds, n)), np.empty(n_folds, np.int64)
    before = np.empty((n_folds, n), np.int64)  # samples of a fold in the rows above
    tied, places = np.empty(n, np.int64), np.empty(n, np.int64)
    held, held_distances = np.empty(n_neighbors, np.int32), np.empty(n_neighbors)
    for s in range(n_seeds):
        sizes[:] = 0
        for i in range(n):
            before[:, i] = sizes
            sizes[folds[s, i]] += 1
        for i in range(n):
            own = folds[s, i]
            n_wanted = min(n_neighbors, n - sizes[own])
            rows, far = lists.rows[lists.ends[i] : lists.ends[i + 1]], lists.distances[lists.ends[i] : lists.ends[i + 1]]
            found, t = 0, 0
            while found < n_wanted and t < len(rows):
                found += folds[s, rows[t]] != own
                t += 1
            is_listed = found == n_wanted and (lists.whole[i] or far[t - 1] < far[-1])
            if not is_listed:
                n_held = 0
                for j in range(n):
                    if folds[s, j] != own:
                        n_held = insert(held_distances[:n_wanted], held[:n_wanted], n_held, _distance(X, i, X, j), j)
                rows, far, t = held, held_distances, n_wanted
            farthest = far[t - 1]
            total, n_nearer, n_tied, u = 0.0, 0, 0, 0
            while far[u] < farthest:
                if folds[s, rows[u]] != own:
                    total += y[rows[u]]
                    n_nearer += 1
                u += 1
            if is_listed:
                while u < len(rows) and far[u] == farthest:
                    if folds[s, rows[u]] != own:
                        tied[n_tied] = rows[u]
                        n_tied += 1
                    u += 1
            else:
                for j in range(n):
                    if folds[s, j] != own and _distance(X, i, X, j) == farthest:
                        tied[n_tied] = j
                        n_tied += 1
            for u in range(n_tied):
                places[u] = tied[u] - before[own, tied[u]]
            total += _sum_tied(y, tied[:n_tied], places[:n_tied], n_wanted - n_nearer, seeds[s, own])
            out[s, i] = total / n_wanted
    return out
