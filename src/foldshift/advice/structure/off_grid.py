"""Rows that lie beside the few values that columns take otherwise, as copies with small errors of rows of whole numbers do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray

OFTEN = 3  # rows with a value that belongs to the grid
ON_GRID = 0.4  # share of the rows that lie on the grid, at least
BESIDE = 0.2  # of the smallest step of the grid, within which nine in ten of the other values lie
FEWEST_COLUMNS, FEWEST_ROWS = 2, 5  # on a grid; rows beside it in all of these columns
IN_PART = 0.1  # of these rows, as many as may lie beside the grid in some columns only


class OffGrid(NamedTuple):
    """Rows beside the grid, and the nearest values on it."""

    rows: BoolArray  # shape (n,)
    nearest: FloatArray  # shape (n, n_columns)


def rows_off_grid(values: FloatArray) -> OffGrid | None:
    """Find rows that are beside the grid in all columns; None if some column has no grid, or there are no such rows."""
    columns = [_beside(column) for column in values.T if np.ptp(column) > 0]
    if len(columns) < FEWEST_COLUMNS or any(column is None for column in columns):
        return None
    off = np.column_stack([column[0] for column in columns if column is not None])
    nearest = np.column_stack([column[1] for column in columns if column is not None])
    rows: BoolArray = np.asarray(off.all(axis=1))
    in_part = int(off.any(axis=1).sum() - rows.sum())
    if rows.sum() < FEWEST_ROWS or in_part > IN_PART * rows.sum():
        return None
    return OffGrid(rows, nearest)


def _beside(column: FloatArray) -> tuple[BoolArray, FloatArray] | None:
    """Mask of the values beside the grid, and the nearest value on it; None without a grid."""
    values, counts = np.unique(column, return_counts=True)
    grid = values[counts >= OFTEN]
    if len(grid) < 2 or counts[counts >= OFTEN].sum() < ON_GRID * len(column):
        return None
    above = np.clip(np.searchsorted(grid, column), 1, len(grid) - 1)
    nearest = np.where(column - grid[above - 1] <= grid[above] - column, grid[above - 1], grid[above])
    away = np.abs(column - nearest)
    off: BoolArray = away > 0
    if not off.any() or np.quantile(away[off], 0.9) > BESIDE * np.diff(grid).min():
        return None
    return off, nearest
