"""Lists of the nearest samples of `NNClassifier`, and walks along them, where distances are the same in all training parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.neighbours._distances import (
    HVDM,
    METRICS,
    Measure,
    Settings,
    distances_to,
    frequencies_of,
    nearest_of,
    query_gaps_of,
    scales_of,
)
from foldshift.learners.neighbours.nearest_regressor import tree_pays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray, IntArray, UnsignedArray


def takes_tree(points: FloatArray, length: int, settings: Settings) -> bool:
    """Return True if `nearest_rows` gives the same neighbours sooner: numbers alone, Euclidean, and many points."""
    is_euclidean = settings.metric in (METRICS.index("heom"), METRICS.index("euclidean")) and not settings.nominal.any()
    return is_euclidean and not settings.skip_zero and tree_pays(points, length)


@compiled
def scan(
    queries: FloatArray,
    columns: FloatArray,
    codes: IntArray,
    n_classes: int,
    settings: Settings,
) -> FloatArray:
    """Shares of votes for every query, from all samples; these are given column by column, (n_features, n_samples)."""
    n, metric, n_codes = len(codes), settings.metric, settings.n_codes
    out = np.zeros((len(queries), n_classes))
    shares = frequencies_of(columns, codes, n_classes, metric, n_codes)
    measure = Measure(metric, settings.nominal, n_codes, scales_of(columns, metric, n_codes), np.empty(len(shares)))
    totals, size = np.empty(n), min(settings.n_neighbors, n)
    distances, rows = np.empty(size), np.empty(size, np.int64)
    for q in range(len(queries)):
        query_gaps_of(queries[q], shares, metric, n_codes, measure.gaps)
        distances_to(queries[q], columns, measure, totals)
        n_held = nearest_of(totals, -1, metric == HVDM, settings.skip_zero, distances, rows)
        for t in range(len(rows)):
            out[q, codes[rows[t] if t < n_held else 0]] += 1.0 / len(rows)
    return out


@compiled
def lists(
    X: FloatArray,
    length: int,
    skip_self: bool,
    settings: Settings,
    scales: FloatArray,
    gaps: FloatArray,
) -> tuple[NDArray[np.int32], FloatArray]:
    """Nearest samples of every sample, near to far, ties in row order, and their distances before the root; -1 and infinity
    behind the last: (n_samples, length) int32 and float64. The gaps are as `_lower_metric` has them."""
    metric, n_codes = settings.metric, settings.n_codes
    out, far = np.full((len(X), length), -1, np.int32), np.full((len(X), length), np.inf)
    columns, totals, own_gaps = np.ascontiguousarray(X.T), np.empty(len(X)), np.empty(n_codes.sum())
    measure = Measure(metric, settings.nominal, n_codes, scales, own_gaps)
    distances, rows = np.empty(length), np.empty(length, np.int64)
    for i in range(len(X)):
        start, at = 0, 0
        for j in range(len(n_codes) if metric == HVDM else 0):
            c = n_codes[j]
            if c > 0:
                first = at + np.int64(X[i, j]) * c
                own_gaps[start : start + c] = gaps[first : first + c]
            start, at = start + c, at + c * c
        distances_to(X[i], columns, measure, totals)
        n_held = nearest_of(totals, i if skip_self else -1, False, settings.skip_zero, distances, rows)
        for t in range(n_held):
            out[i, t], far[i, t] = rows[t], distances[t]
    return out, far


@compiled
def lists_of_new(queries: FloatArray, columns: FloatArray, length: int, settings: Settings) -> NDArray[np.int32]:
    """Nearest samples of new ones, near to far, ties in row order; -1 behind the last: (n_new, length) int32."""
    out = np.full((len(queries), length), -1, np.int32)
    totals, scales = np.empty(columns.shape[1]), np.full(len(columns), np.nan)
    measure = Measure(settings.metric, settings.nominal, settings.n_codes, scales, np.empty(0))
    distances, rows = np.empty(length), np.empty(length, np.int64)
    for i in range(len(queries)):
        distances_to(queries[i], columns, measure, totals)
        n_held = nearest_of(totals, -1, False, settings.skip_zero, distances, rows)
        out[i, :n_held] = rows[:n_held]
    return out


@compiled
def walk(
    X: FloatArray,
    codes: IntArray,
    n_classes: int,
    folds: UnsignedArray,
    n_folds: int,
    listed: NDArray[np.int32],
    settings: Settings,
) -> FloatArray:
    """Walk along the lists, skipping samples of the own fold; scan the training part where a list is too short."""
    n_seeds, n = folds.shape
    out = np.zeros((n_seeds, n, n_classes))
    for s in range(n_seeds):
        sizes = np.bincount(folds[s], minlength=n_folds)
        for i in range(n):
            own = folds[s, i]
            wanted = min(settings.n_neighbors, n - sizes[own])
            found = 0
            for t in range(listed.shape[1]):
                j = listed[i, t]
                if j >= 0 and folds[s, j] != own:
                    out[s, i, codes[j]] += 1.0 / wanted
                    found += 1
                    if found == wanted:
                        break
            if found < wanted:
                rows = np.flatnonzero(folds[s] != own)
                columns = np.ascontiguousarray(X[rows].T)
                out[s, i] = scan(X[i : i + 1], columns, codes[rows], n_classes, settings)[0]
    return out


@compiled
def walk_new(
    queries: FloatArray,
    listed: NDArray[np.int32],
    X: FloatArray,
    codes: IntArray,
    n_classes: int,
    folds: IntArray,
    n_folds: int,
    settings: Settings,
) -> IntArray:
    """Class codes that the models of all folds give to new samples: (n_folds, n_new)."""
    n_new, length = listed.shape
    out, votes = np.empty((n_folds, n_new), np.int64), np.empty(n_classes)
    for fold in range(n_folds):
        rows = np.flatnonzero(folds != fold)
        columns, wanted = np.ascontiguousarray(X[rows].T), min(settings.n_neighbors, len(rows))
        for i in range(n_new):
            found, t = 0, 0
            votes[:] = 0.0
            while found < wanted and t < length and listed[i, t] >= 0:
                if folds[listed[i, t]] != fold:
                    votes[codes[listed[i, t]]] += 1.0 / wanted
                    found += 1
                t += 1
            if found < wanted:
                query = queries[i : i + 1]
                votes[:] = scan(query, columns, codes[rows], n_classes, settings)[0]
            out[fold, i] = votes.argmax()
    return out
