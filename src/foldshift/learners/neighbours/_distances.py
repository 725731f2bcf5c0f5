"""Distances of mixed data, and the nearest samples under them: the kernels of `NNClassifier`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.neighbours.nearest_regressor import insert

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray

METRICS = ("heom", "euclidean", "manhattan", "keel_hvdm")
MANHATTAN, HVDM = METRICS.index("manhattan"), METRICS.index("keel_hvdm")


class Settings(NamedTuple):
    """Parameters of `NNClassifier` as the kernels take them."""

    n_neighbors: int
    metric: int  # position in `METRICS`
    skip_zero: bool  # whether samples at distance 0 are no neighbours
    nominal: BoolArray  # (n_features,)
    n_codes: IntArray  # (n_features,): category codes, 0 for numeric columns


class Measure(NamedTuple):
    """A metric with what it takes from the training part, and from the query."""

    metric: int
    nominal: BoolArray
    n_codes: IntArray
    scales: FloatArray  # (n_features,): see `scales_of`
    gaps: FloatArray  # (sum of n_codes,): nominal parts of `keel_hvdm` between the query and all categories


@compiled(error_model="numpy")
def scales_of(columns: FloatArray, metric: int, n_codes: IntArray) -> FloatArray:
    """Four standard deviations of every numeric column; NaN for a constant one."""
    p, n = columns.shape
    scales = np.full(p, np.nan)
    if metric != HVDM:
        return scales
    for j in range(p):
        if n_codes[j] > 0:
            continue
        total, squares, low, high = 0.0, 0.0, columns[j, 0], columns[j, 0]
        for value in columns[j]:
            total += value
            squares += value * value
            low, high = min(low, value), max(high, value)
        variance = squares / n - (total / n) * (total / n)
        if low < high and variance > 0:
            scales[j] = 4 * math.sqrt(variance)
    return scales


@compiled(error_model="numpy")
def frequencies_of(columns: FloatArray, codes: IntArray, n_classes: int, metric: int, n_codes: IntArray) -> FloatArray:
    """Share of every class among the training samples with every category, a (n_codes, n_classes) block per nominal column; NaN
    where there are none."""
    shares = np.zeros((n_codes.sum(), n_classes))
    if metric != HVDM:
        return shares
    start = 0
    for j in range(len(columns)):
        if n_codes[j] > 0:
            for i in range(len(codes)):
                shares[start + np.int64(columns[j, i]), codes[i]] += 1
        start += n_codes[j]
    for v in range(len(shares)):
        shares[v] /= shares[v].sum()
    return shares


@compiled
def gaps_of(code: float, shares: FloatArray, gaps: FloatArray) -> None:
    """Nominal part of `keel_hvdm` between a category and all of a column; NaN where one is not in the training part."""
    known = code >= 0 and code < len(shares) and code == np.floor(code)
    for v in range(len(shares)):
        total = 0.0
        for c in range(shares.shape[1]):
            gap = shares[np.int64(code), c] - shares[v, c] if known else np.nan
            total += gap * gap
        gaps[v] = math.sqrt(total)


@compiled
def query_gaps_of(query: FloatArray, shares: FloatArray, metric: int, n_codes: IntArray, gaps: FloatArray) -> None:
    """Nominal parts of `keel_hvdm` between a query and all categories, column after column."""
    start = 0
    for j in range(len(query)):
        end = start + n_codes[j]
        if metric == HVDM and end > start:
            gaps_of(query[j], shares[start:end], gaps[start:end])
        start = end


@compiled(error_model="numpy")
def distances_to(query: FloatArray, columns: FloatArray, measure: Measure, out: FloatArray) -> None:
    """Distances between a query and all samples, before the root; column after column, so that the sums run side by side."""
    metric, nominal, n_codes = measure.metric, measure.nominal, measure.n_codes
    n = columns.shape[1]
    out[:n] = 0.0
    start = 0
    for j in range(len(query)):
        value, column = query[j], columns[j]
        if nominal[j] and metric == HVDM:
            part = measure.gaps[start : start + n_codes[j]]
            start += n_codes[j]
            for i in range(n):
                out[i] += part[np.int64(column[i])]
        elif nominal[j]:
            for i in range(n):
                out[i] += 1.0 if column[i] != value else 0.0
        elif metric == HVDM:
            scale = measure.scales[j]
            for i in range(n):
                out[i] += abs(value - column[i]) / scale
        elif metric == MANHATTAN:
            for i in range(n):
                out[i] += abs(value - column[i])
        else:
            for i in range(n):
                out[i] += (value - column[i]) * (value - column[i])


@compiled(inline="always", error_model="numpy")
def distance_to(query: FloatArray, sample: FloatArray, measure: Measure, bound: float) -> float:
    """One distance of `distances_to`, the same sum in the same order; beyond `bound` any number above it."""
    metric, nominal = measure.metric, measure.nominal
    total, start = 0.0, 0
    for j in range(len(query)):
        if nominal[j] and metric == HVDM:
            total += measure.gaps[start + np.int64(sample[j])]
            start += measure.n_codes[j]
        elif nominal[j]:
            total += 1.0 if sample[j] != query[j] else 0.0
        elif metric == HVDM:
            total += abs(query[j] - sample[j]) / measure.scales[j]
        elif metric == MANHATTAN:
            total += abs(query[j] - sample[j])
        else:
            total += (query[j] - sample[j]) * (query[j] - sample[j])
        if total > bound:
            break
    return total


@compiled(inline="always")
def bound_of(farthest: Any, rooted: bool) -> Any:
    """Largest sum that can be as near as the farthest neighbour."""
    # The root may round a slightly larger sum to the same distance, never one beyond the factor.
    return farthest * farthest * (1 + 1e-12) if rooted else farthest


@compiled
def nearest_of(totals: FloatArray, skipped: int, rooted: bool, skip_zero: bool, distances: FloatArray, rows: IntArray) -> int:
    """Nearest samples into `rows`, ties in row order; return how many there are. The row `skipped` is left out."""
    n_held, bound = 0, np.inf
    for i in range(len(totals)):
        if totals[i] <= bound and i != skipped and not (skip_zero and totals[i] == 0):
            n_held = insert(distances, rows, n_held, math.sqrt(totals[i]) if rooted else totals[i], i)
            if n_held == len(rows):
                bound = bound_of(distances[n_held - 1], rooted)
    return n_held
