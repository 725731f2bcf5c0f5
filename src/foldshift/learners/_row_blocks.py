"""Data sets given as rows of one matrix, block after block: what learners that predict all blocks are handed."""

import numpy as np


def checked_blocks(X, y, rows, sizes):
    """Rows and sizes as arrays, where they fit the data.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        Inputs of all rows.
    y : sequence of length n_rows
        Class labels.
    rows : array-like of shape (n_datasets, n), integer
        Every data set as rows of `X`, block after block.
    sizes : array-like of shape (n_blocks,), integer
        Number of rows of every block; they sum to n.

    Returns
    -------
    rows, sizes : ndarray

    Raises
    ------
    ValueError
        If there are fewer than two blocks with rows, the shapes do not fit, or a row does not exist.
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


def checked_partitions(X, y, rows, blocks, new_rows):
    """Rows, partitions of them and new rows as arrays, where they fit the data.

    Parameters
    ----------
    X, y, rows
        As in `checked_blocks`, the rows in any order.
    blocks : array-like of shape (n_datasets, n_partitions, n), integer
        Block of every row, 0 and up.
    new_rows : array-like of shape (n_datasets, m), integer
        Rows of `X` that are in no training part; m may be 0.

    Returns
    -------
    rows, blocks, new_rows : ndarray, int64

    Raises
    ------
    ValueError
        If the shapes do not fit, or a row does not exist.
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
