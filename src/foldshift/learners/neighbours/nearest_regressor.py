"""Nearest-neighbour regression, with one neighbour order for all partitions of a data set."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.core.kdtree import MOST_FEATURES, nearest_candidates
from foldshift.learners.base import FoldRegressor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import Array, FloatArray, IntArray, TableLike, UnsignedArray
    from foldshift.learners._states import Cuts

# Neighbours listed per sample: a training part almost never lacks the k nearest of them (2 folds, k = 3: once in 8 million).
LIST_LENGTH = 32
NEW_LENGTH = 12  # the same of samples that are in no fold: all but one of the folds are a training part

# Up to so many points, times the root of 2 for every column, all of them are looked at: a tree takes longer. With uniform numbers
# both take as long at some 2,000 points in 2 columns, 4,000 in 5, 14,000 in 8, and more than 16,000 in 10.
FEW_POINTS = 1000


class NNRegressor(FoldRegressor):
    """Unweighted mean of the nearest training samples, Euclidean distance.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbours k. A training part with fewer samples uses all of them.

    Notes
    -----
    Samples at equal distance are taken in the order of the training data, so that the prediction is defined under ties;
    scikit-learn's `KNeighborsRegressor` gives the same prediction where there are none. The mean sums the neighbours from near to
    far.

    The shared path lists the nearest neighbours of every sample once per data set; a fit is then a walk along the list that skips
    the samples of its own fold. Where the list is too short (it almost never is) all samples are scanned.

    References
    ----------
    .. [1] Saez, Romero-Bejar (2022), Table 2: k = 3, distance Euclidean.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from foldshift.learners import NNRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NNRegressor(n_neighbors=3).fit(X, y)
    >>> model.predict(X[:2]).round(1).tolist()
    [172.3, 78.0]
    """

    def __init__(self, n_neighbors: int = 3) -> None:
        self.n_neighbors = n_neighbors

    def _check(self) -> None:
        if isinstance(self.n_neighbors, bool) or not isinstance(self.n_neighbors, numbers.Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be an integer of at least 1; got {self.n_neighbors!r}")

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        self._check()
        self.X_, self.y_ = X, y

    def _predict(self, X: FloatArray) -> FloatArray:
        nearest = nearest_rows(X, self.X_, min(self.n_neighbors, len(self.X_)))
        return _means(self.y_, nearest)

    def _predict_folds(self, X: FloatArray, y: FloatArray, cuts: Cuts) -> FloatArray:
        self._check()
        listed = nearest_rows(X, X, min(max(LIST_LENGTH, 4 * self.n_neighbors), len(X) - 1), skip_self=True)
        return _walk(X, y, cuts.folds, cuts.n_folds, listed, self.n_neighbors)

    def fold_predictor(self, X: TableLike, y: TableLike, X_new: TableLike) -> Callable[..., Any]:
        """Make a function that predicts new samples by the models of all folds, (n_folds, n_new), from one list of neighbours."""
        self._check()
        X, X_new, y = self._numbers(X), self._numbers(X_new), np.ascontiguousarray(y, dtype=np.float64)
        listed = nearest_rows(X_new, X, min(max(NEW_LENGTH, 4 * self.n_neighbors), len(X)))
        return lambda folds: _walk_new(X_new, listed, X, y, folds.astype(np.int64), int(folds.max()) + 1, self.n_neighbors)


def nearest_rows(queries: FloatArray, points: FloatArray, length: int, skip_self: bool = False) -> NDArray[np.int32]:
    """Find the nearest points of every query, Euclidean distance, near to far, ties in row order: (n_queries, length).

    With `skip_self`, the queries are the points, and a point is not its own neighbour.
    """
    if tree_pays(points, length):
        # One more than wanted, to see whether the list ends inside a tie; and the point itself.
        candidates = nearest_candidates(queries, points, length + 1 + skip_self)
    else:
        candidates = np.empty((len(queries), 0), np.int32)
    return _nearest(queries, points, candidates, length, skip_self)


def tree_pays(points: FloatArray, length: int) -> bool:
    """Return True if a tree finds so many nearest points sooner than a look at all of them."""
    n, n_features = points.shape
    return n > FEW_POINTS * 2 ** (n_features / 2) and n_features <= MOST_FEATURES and length + 2 <= n


@compiled
def _nearest(
    queries: FloatArray, points: FloatArray, candidates: NDArray[np.int32], length: int, skip_self: bool
) -> NDArray[np.int32]:
    """Order a tree's candidates exactly; where there are none, they end inside a tie or miss the point itself, all points.

    Of all points, columns stand one after the other, so that a processor works on several points at a time; each sum still runs
    over the columns in their order, and is the same to the last bit as that of `_distance`.
    """
    width = candidates.shape[1]
    out = np.empty((len(queries), length), np.int32)
    distances = np.empty(max(width, length))
    rows = np.empty(max(width, length), np.int32)
    columns = np.ascontiguousarray(points.T)
    squares = np.empty(len(points))
    for i in range(len(queries)):
        n_held = 0
        for j in np.sort(candidates[i]):
            if not (skip_self and i == j):
                n_held = insert(distances, rows, n_held, _distance(queries, i, points, j), j)
        # The tree may round a distance otherwise than we do: a gap in the last few units counts as a tie.
        if width == 0 or n_held > length + 1 or distances[length - 1] >= distances[length] * (1 - 1e-12):
            squares[:] = 0.0
            for c in range(len(columns)):
                value, column = queries[i, c], columns[c]
                for j in range(len(squares)):
                    gap = value - column[j]
                    squares[j] += gap * gap
            n_held = 0
            farthest = np.inf
            for j in range(len(squares)):
                if (n_held < length or squares[j] < farthest) and not (skip_self and i == j):
                    n_held = insert(distances[:length], rows[:length], n_held, squares[j], j)
                    farthest = distances[n_held - 1]
        out[i] = rows[:length]
    return out


@compiled(inline="always")
def insert(distances: FloatArray, rows: Array, n_held: Any, distance: float, row: Any) -> Any:
    """Insert into a list sorted by distance; a later row goes behind an equal distance."""
    if n_held == len(rows):
        if distance >= distances[n_held - 1]:
            return n_held
        at = n_held - 1
    else:
        at = n_held
        n_held += 1
    while at > 0 and distances[at - 1] > distance:
        distances[at] = distances[at - 1]
        rows[at] = rows[at - 1]
        at -= 1
    distances[at] = distance
    rows[at] = row
    return n_held


@compiled(inline="always")
def _distance(a: FloatArray, i: int, b: FloatArray, j: Any) -> float:
    total = 0.0
    for c in range(a.shape[1]):
        gap = a[i, c] - b[j, c]
        total += gap * gap
    return total


@compiled
def _means(y: FloatArray, nearest: NDArray[np.int32]) -> FloatArray:
    n, k = nearest.shape
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        for t in range(k):
            total += y[nearest[i, t]]
        out[i] = total / k
    return out


@compiled
def _walk_new(
    queries: FloatArray, listed: NDArray[np.int32], X: FloatArray, y: FloatArray, folds: IntArray, n_folds: int, n_neighbors: int
) -> FloatArray:
    """Predict new samples by the models of all folds: (n_folds, n_new)."""
    n_new, length = listed.shape
    out = np.empty((n_folds, n_new))
    distances, rows = np.empty(n_neighbors), np.empty(n_neighbors, np.int32)
    for fold in range(n_folds):
        wanted = min(n_neighbors, np.sum(folds != fold))
        for i in range(n_new):
            found, total, t = 0, 0.0, 0
            while found < wanted and t < length:
                if folds[listed[i, t]] != fold:
                    total += y[listed[i, t]]
                    found += 1
                t += 1
            if found < wanted:
                found, total = 0, 0.0
                for j in range(len(X)):
                    if folds[j] != fold:
                        found = insert(distances[:wanted], rows[:wanted], found, _distance(queries, i, X, j), j)
                for t in range(wanted):
                    total += y[rows[t]]
            out[fold, i] = total / wanted
    return out


@compiled
def _walk(
    X: FloatArray, y: FloatArray, folds: UnsignedArray, n_folds: int, listed: NDArray[np.int32], n_neighbors: int
) -> FloatArray:
    n_seeds, n = folds.shape
    out = np.empty((n_seeds, n))
    sizes = np.empty(n_folds, np.int64)
    distances = np.empty(n_neighbors)
    rows = np.empty(n_neighbors, np.int32)
    for s in range(n_seeds):
        sizes[:] = 0
        for i in range(n):
            sizes[folds[s, i]] += 1
        for i in range(n):
            own = folds[s, i]
            wanted = min(n_neighbors, n - sizes[own])
            found = 0
            total = 0.0
            for t in range(listed.shape[1]):
                j = listed[i, t]
                if folds[s, j] != own:
                    total += y[j]
                    found += 1
                    if found == wanted:
                        break
            if found < wanted:
                found = 0
                for j in range(n):
                    if folds[s, j] != own:
                        found = insert(distances[:wanted], rows[:wanted], found, _distance(X, i, X, j), j)
                total = 0.0
                for t in range(wanted):
                    total += y[rows[t]]
            out[s, i] = total / wanted
    return out
