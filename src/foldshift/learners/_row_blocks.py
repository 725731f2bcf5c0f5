"""Checks of data sets that are given as rows of one matrix, block after block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

    from foldshift.core.types import Array, IntArray, TableLike


def checked_blocks(X: TableLike, y: Sequence[Any] | Array, rows: ArrayLike, sizes: ArrayLike) -> tuple[Array, Array]:
    """Check data sets given as rows of `X`, block after block; return `rows` and `sizes` as arrays.

    `rows` has shape (n_datasets, n), and `sizes`, of shape (n_blocks,), sums to n.
    """
    rows, sizes = np.asarray(rows), np.asarray(sizes)
    if len(y) != np.shape(X)[0]:
        raise ValueError(f"X has {np.shape(X)[0]} rows and y {len(y)}; expected the same number")
    if rows.ndim != 2 or rows.dtype.kind not in "ui" or rows.shape[1] != sizes.sum():
        raise ValueError(
            f"rows has shape {rows.shape} and dtype {rows.dtype}; expected integers of shape (n_datasets, {sizes.sum()})"
        )
    if (sizes > 0).sum() < 2:
        raise ValueError(
            f"only {(sizes > 0).sum()} block has rows; expected two or more, because a model is trained on the others"
        )
    if rows.size and (rows.min() < 0 or rows.max() >= np.shape(X)[0]):
        raise ValueError(f"rows holds numbers from {rows.min()} to {rows.max()}; expected 0 to {np.shape(X)[0] - 1}")
    return rows, sizes


def checked_partitions(
    X: csr_array, y: NDArray[np.int8], rows: IntArray, blocks: ArrayLike, new_rows: ArrayLike
) -> tuple[IntArray, IntArray, IntArray]:
    """Check rows, their partitions and new rows; return them as arrays of int64.

    `rows` has shape (n_datasets, n), `blocks` (n_datasets, n_partitions, n), and `new_rows`, which are in no training part, shape
    (n_datasets, m); m may be 0.
    """
    rows, blocks, new_rows = np.asarray(rows), np.asarray(blocks, dtype=np.int64), np.asarray(new_rows)
    if len(y) != np.shape(X)[0]:
        raise ValueError(f"X has {np.shape(X)[0]} rows and y {len(y)}; expected the same number")
    if blocks.ndim != 3 or rows.shape != (blocks.shape[0], blocks.shape[2]) or blocks.min(initial=0) < 0:
        raise ValueError(
            f"blocks has shape {blocks.shape} for rows of shape {rows.shape}; expected (n_datasets, n_partitions, n), from 0"
        )
    if new_rows.ndim != 2 or len(new_rows) != len(rows):
        raise ValueError(f"new_rows has shape {new_rows.shape} for {len(rows)} data sets; expected ({len(rows)}, m)")
    for name, some in (("rows", rows), ("new_rows", new_rows)):
        if some.size and (some.min() < 0 or some.max() >= np.shape(X)[0]):
            raise ValueError(f"{name} holds numbers from {some.min()} to {some.max()}; expected 0 to {np.shape(X)[0] - 1}")
    return rows.astype(np.int64, copy=False), blocks, new_rows.astype(np.int64, copy=False)
