"""Which columns hold categories."""

import numpy as np


def nominal_columns(categorical_features, n_features, argument="categorical_features"):
    """Boolean mask of the nominal columns.

    Parameters
    ----------
    categorical_features : None, array-like of bool of shape (n_features,) or of int
        None: no column is nominal; a mask, or the positions of the nominal columns.
    n_features : int
    argument : str, default="categorical_features"
        What the columns came as, for messages.

    Returns
    -------
    nominal : ndarray of shape (n_features,), dtype bool

    Raises
    ------
    ValueError
        If the mask has another length or a position is out of range.
    """
    nominal = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return nominal
    given = np.asarray(categorical_features)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(f"{argument} is a mask of shape {given.shape}; X has {n_features} features")
        return given.copy()
    if given.size and (given.dtype.kind not in "ui" or given.min() < 0 or given.max() >= n_features):
        raise ValueError(f"{argument}={categorical_features!r} must be a mask or positions between 0 and {n_features - 1}")
    nominal[given.astype(np.int64)] = True
    return nominal
