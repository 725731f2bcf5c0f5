"""A training table and many versions of a test table, checked, in the form that the measures take."""

from typing import NamedTuple

import numpy as np

FEWEST_ROWS = 5  # of a table, or values of a column, that can be compared


class VersionPlan(NamedTuple):
    """Versions in the form the kernels take; rows has one row where all versions have the same rows."""

    rows: np.ndarray
    feature: np.ndarray
    offset: np.ndarray
    masked: bool


def plan_versions(versions, n, n_features):
    """Versions of a test table in the form the kernels take.

    Parameters
    ----------
    versions : None, Versions, or array-like of int of shape (n_versions, n_kept)
        As of `foldshift.shift.ks.ks_features`.
    n, n_features : int
        Shape of the test table.

    Returns
    -------
    plan : VersionPlan

    Raises
    ------
    ValueError
        If there is no version or no row, or a row or feature does not exist.
    """
    if versions is None:
        return VersionPlan(np.arange(n)[None], np.array([-1]), np.zeros(1), False)
    if hasattr(versions, "rows"):
        rows, feature, offset, masked = versions.rows, versions.feature, versions.offset, versions.masked
        if len(feature) and feature.max() >= n_features:
            raise ValueError(f"versions are of feature {feature.max()}; the tables have {n_features} features")
    else:
        rows = np.asarray(versions)
        if rows.ndim != 2 or rows.dtype.kind not in "ui":
            raise ValueError(f"versions has shape {rows.shape} and type {rows.dtype}; expected (n_versions, n_kept) row numbers")
        feature, offset, masked = np.full(len(rows), -1), np.zeros(len(rows)), False
    if 0 in rows.shape:
        raise ValueError(f"versions has shape {rows.shape}; expected a version and a row at least")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"versions holds rows from {rows.min()} to {rows.max()}; the test table has rows 0 to {n - 1}")
    return VersionPlan(rows[:1] if rows.strides[0] == 0 else rows, feature, offset, masked)


def numeric_tables(train, test):
    """Training and test table as float64, checked: as many features, at least one row each, nothing infinite.

    Parameters
    ----------
    train, test : array-like of shape (n_train, n_features), (n_test, n_features)

    Returns
    -------
    train, test : ndarray, dtype float64

    Raises
    ------
    ValueError
        If the tables have different numbers of features or none, no rows, or a value is infinite.
    """
    train, test = np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64)
    if train.ndim != 2 or test.ndim != 2 or train.shape[1] != test.shape[1] or 0 in train.shape or 0 in test.shape:
        raise ValueError(
            f"train has shape {train.shape} and test {test.shape}; expected (n_train, n_features) and (n_test, n_features), "
            "none of them 0"
        )
    for name, table in (("train", train), ("test", test)):
        if np.isinf(table).any():
            raise ValueError(f"{name} holds infinite values; drop them, or mark them as missing with NaN")
    return train, test


def scaled(values):
    """Values divided by the power of two above the largest magnitude, so that no square of them overflows or is lost.

    Parameters
    ----------
    values : ndarray of float64
        Finite, or NaN.

    Returns
    -------
    scaled : ndarray of the same shape
        In [-1, 1]; a power of two rounds nothing, so that what is computed next is the same for all scales.

    Examples
    --------
    >>> scaled(np.array([3e-170, -1.5e-170])) / scaled(np.array([3e160, -1.5e160])) > 0
    array([ True,  True])
    """
    largest = np.max(np.abs(values), initial=0.0, where=~np.isnan(values))
    return np.ldexp(values, -int(np.frexp(largest)[1]))
