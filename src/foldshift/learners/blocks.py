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
    if len(y) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y {len(y)}; expected the same number")
    if rows.ndim != 2 or rows.dtype.kind not in "ui" or rows.shape[1] != sizes.sum():
        raise ValueError(
            f"rows has shape {rows.shape} and dtype {rows.dtype}; expected integers of shape (n_datasets, {sizes.sum()})"
        )
    if (sizes > 0).sum() < 2:
        raise ValueError(
            f"only {(sizes > 0).sum()} block has rows; expected two or more, because a model is trained on the others"
        )
    if rows.size and (rows.min() < 0 or rows.max() >= X.shape[0]):
        raise ValueError(f"rows holds numbers from {rows.min()} to {rows.max()}; expected 0 to {X.shape[0] - 1}")
    return rows, sizes
