"""Cuts through clusters, as others propose them, to compare with: CBDSCV, and SCBCV within the classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.gate.rows import check_rows
from foldshift.core.gate.targets import class_target
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype, rows_by_class
from foldshift.partition.methods._scaling import complete, scaled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, IntArray, TableLike, UnsignedArray


def cbdscv_folds(
    X: TableLike, y: Any, n_folds: int, rngs: Iterable[np.random.Generator], *, categorical_features: TableLike = None
) -> UnsignedArray:
    """Assign samples to folds so that each has its share of every cluster (CBDSCV), once per generator.

    The inputs are clustered by k-means, as many clusters as folds. The samples, cluster after cluster and within a cluster by
    their distance from its centre, are dealt to the folds in turn.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs without missing values.
    y : object
        Not looked at.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed: the starts of k-means, and the names of the folds.
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
    Columns are scaled to mean 0 and standard deviation 1. Seeds for which k-means ends in the same clusters differ in the names
    of the folds alone.

    References
    ----------
    .. [1] Fontanari, T., Froes, T.C., Recamonde-Mendoza, M. (2022). Cross-validation strategies for balanced and imbalanced
       datasets. BRACIS 2022, 626-640.
    .. [2] Spezia, A.M., Fontanari, T., Recamonde-Mendoza, M. (2025). Comparing cluster-based cross-validation strategies for
       machine learning model evaluation. arXiv 2507.22299.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import cbdscv_folds
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> (folds,) = cbdscv_folds(X, None, 2, [np.random.default_rng(0)])
    >>> bool(folds[0] != folds[1] and folds[2] != folds[3])
    True
    """
    check_rows(X=X, y=y)
    points = scaled(*complete(X, categorical_features))
    check_n_folds(n_folds, len(points))
    return _deal([np.arange(len(points))], points, n_folds, rngs)


def scbcv_folds(
    X: FloatArray, y: ArrayLike, n_folds: int, rngs: list[np.random.Generator], *, categorical_features: list[int] | None = None
) -> UnsignedArray:
    """Assign samples to folds so that each has its share of every cluster of every class (SCBCV), once per generator.

    As `cbdscv_folds`, class after class: each is clustered by itself, and the turn runs on across clusters and classes.

    Parameters
    ----------
    X, n_folds, rngs, categorical_features
        As in `cbdscv_folds`.
    y : array-like of shape (n_samples,)
        Class labels of any type that sorts.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``. Class counts and fold sizes differ by at most one.

    Raises
    ------
    ValueError
        As in `cbdscv_folds`, and if y is missing somewhere or continuous.

    Notes
    -----
    A class with fewer different samples than folds has as many clusters as different samples.

    References
    ----------
    .. [1] Spezia, A.M., Fontanari, T., Recamonde-Mendoza, M. (2025). Comparing cluster-based cross-validation strategies for
       machine learning model evaluation. arXiv 2507.22299. Clusters there are by mini-batch k-means, here by k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import scbcv_folds
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> (folds,) = scbcv_folds(X, ["a", "b", "a", "b"], 2, [np.random.default_rng(0)])
    >>> sorted(folds[::2].tolist()), sorted(folds[1::2].tolist())
    ([0, 1], [0, 1])
    """
    check_rows(X=X, y=y)
    _, codes = np.unique(class_target(y), return_inverse=True)
    points = scaled(*complete(X, categorical_features))
    check_n_folds(n_folds, len(points))
    return _deal(rows_by_class(codes), points, n_folds, rngs)


def _deal(parts: list[IntArray], points: FloatArray, n_folds: int, rngs: Any) -> UnsignedArray:
    """Deal the rows of every part to the folds in turn, by cluster and distance from its centre."""
    rngs = list(rngs)
    folds = np.empty((len(rngs), len(points)), dtype=fold_dtype(n_folds))
    for row, rng in zip(folds, rngs):
        order = np.concatenate([rows[_order(points[rows], n_folds, rng)] for rows in parts])
        row[order] = rng.permutation(n_folds)[np.arange(len(order)) % n_folds]
    return folds


def _order(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """Sort positions by cluster, and within a cluster by distance from its centre."""
    from sklearn.cluster import KMeans  # takes half a second to load

    n_clusters = min(n_clusters, len(np.unique(points, axis=0)))
    found = KMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31))).fit(points)
    distances = np.linalg.norm(points - found.cluster_centers_[found.labels_], axis=1)
    return np.lexsort((distances, found.labels_))
