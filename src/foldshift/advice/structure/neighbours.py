"""Nearest rows of some rows among all, with exact distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.kdtree import nearest_candidates

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray

FEW_COLUMNS = 6  # up to which a tree is faster than comparing all pairs
PAIRS_AT_ONCE = 4_000_000


def nearest_rows(points: FloatArray, queries: IntArray, width: int) -> tuple[FloatArray, IntArray]:
    """Find the `width` nearest other rows of the rows `queries`: distances, ascending, and rows; shape (n_queries, width)."""
    if points.shape[1] <= FEW_COLUMNS:
        found = nearest_candidates(points[queries], points, width + 1).astype(np.int64)
    else:
        found = _by_products(points, queries, width + 1)
    found = np.where(found == queries[:, None], -1, found)
    found[(found >= 0).all(axis=1), -1] = -1  # a row that is not among its own candidates, as copies crowd it out
    found = found[found >= 0].reshape(len(queries), width)
    distances = np.empty(found.shape)
    for j in range(width):  # exact, as products lose the digits that tell copies apart
        distances[:, j] = np.sqrt(((points[found[:, j]] - points[queries]) ** 2).sum(axis=1))
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(found, order, axis=1)


def _by_products(points: FloatArray, queries: IntArray, width: int) -> IntArray:
    """Find candidates by matrix products in single precision, some queries at a time."""
    small = points.astype(np.float32)
    lengths = (small**2).sum(axis=1)
    found = np.empty((len(queries), width), np.int64)
    step = max(1, PAIRS_AT_ONCE // len(points))
    for start in range(0, len(queries), step):
        chosen = queries[start : start + step]
        far = lengths - 2 * (small[chosen] @ small.T)
        far[np.arange(len(chosen)), chosen] = -np.inf
        found[start : start + step] = np.argpartition(far, width - 1, axis=1)[:, :width]
    return found
