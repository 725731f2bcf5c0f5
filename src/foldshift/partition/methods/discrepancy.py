"""The partition along a sequence of least discrepancy, to compare with: best-discrepancy systematic cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.gate.rows import check_rows
from foldshift.partition.fold_numbers import check_n_folds
from foldshift.partition.methods._scaling import complete, renamed, scaled

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, TableLike, UnsignedArray

DECIMALS = 9  # of places along the component: what is equal stays so on every machine


def bdscv_folds(
    X: TableLike, y: Any, n_folds: int, rngs: Iterable[np.random.Generator], *, categorical_features: TableLike = None
) -> UnsignedArray:
    """Assign samples to folds by best-discrepancy systematic sampling (BDSCV), once per generator.

    The samples are sorted along the first principal component of the inputs. They are then taken in the order in which the
    fractional parts of ``i e``, i = 1 .. n, visit the ranks; every fold is a run of this order.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs without missing values.
    y : object
        Not looked at.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Nominal columns, coded as a column for each category.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``. Fold sizes differ by at most one.

    Raises
    ------
    ValueError
        If `n_folds` is out of range, or X is not a dense table of numbers, or values are missing.

    Notes
    -----
    There is one partition: seeds differ in the names of the folds alone. Columns are scaled to [0, 1] before the component is
    taken, which points to where its largest loading is positive; equal values stay in the order of the rows. The steps are those
    of a public program that thins clouds of points by the same sequence, equation 3 of [1]_; the paper leaves the choice of the
    one dimension to the user.

    References
    ----------
    .. [1] Guo, L., Liu, J., Lu, R. (2019). Subsampling bias and the best-discrepancy systematic cross validation. Science China
       Mathematics 64(1), 197-210; arXiv 1907.02437.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import bdscv_folds
    >>> X = np.arange(6.0)[:, None]
    >>> (folds,) = bdscv_folds(X, None, 2, [np.random.default_rng(0)])
    >>> bool(folds[0] == folds[2] == folds[4])  # ranks 4, 2, 0 and then 5, 3, 1
    True
    """
    check_rows(X=X, y=y)
    points = scaled(*complete(X, categorical_features))
    check_n_folds(n_folds, len(points))
    n_samples = len(points)
    along = np.argsort(_first_component(points).round(DECIMALS), kind="stable")
    visits = np.argsort(np.argsort(np.arange(1, n_samples + 1) * np.e % 1.0, kind="stable"))
    dealt = np.empty(n_samples, dtype=np.int64)
    dealt[along[visits]] = np.arange(n_samples) * n_folds // n_samples
    return renamed(dealt, n_folds, rngs)


def _first_component(points: FloatArray) -> FloatArray:
    """Place of every sample along the direction of the largest variance of columns scaled to [0, 1]."""
    width = np.ptp(points, axis=0)
    points = (points - points.mean(axis=0)) / np.where(width > 0, width, 1.0)
    loadings = np.linalg.eigh(points.T @ points)[1][:, -1]
    return points @ (loadings * np.sign(loadings[np.abs(loadings).argmax()]))
