"""What the cuts that others propose share: inputs complete, of mean 0 and standard deviation 1, nominal columns coded; and one
partition under many names of its folds."""

import numpy as np

from foldshift.partition._inputs import measurable
from foldshift.partition._targets import numeric_target, one_column
from foldshift.partition.fold_numbers import fold_dtype

CLASSES, NUMBERS = "classification", "regression"


def complete(X, categorical_features):
    """Inputs as numbers; an error where values are missing.

    Parameters
    ----------
    X, categorical_features
        As in `foldshift.partition._inputs.measurable`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype float64
    nominal : ndarray of shape (n_features,), dtype bool

    Raises
    ------
    ValueError
        As `measurable`, and if a value is missing.
    """
    X, nominal = measurable(X, categorical_features)
    if np.isnan(X).any():
        row, column = np.argwhere(np.isnan(X))[0]
        raise ValueError(
            f"Input X contains NaN (row {row}, column {column}); drop or impute missing values first, or cut by CB-CV"
        )
    return X, nominal


def scaled(X, nominal, contrasts=np.eye):
    """Numbers of mean 0 and standard deviation 1, nominal columns coded; constant columns are left out.

    Parameters
    ----------
    X, nominal : ndarray
        From `complete`.
    contrasts : callable
        Table of shape (c, n_codes) that codes c categories. The default: a column for each.

    Returns
    -------
    points : ndarray of shape (n_samples, n_columns), dtype float64, C order
        One column of zeros where all columns are constant.
    """
    columns = []
    for column, is_nominal in zip(X.T, nominal):
        if is_nominal:
            codes = np.unique(column, return_inverse=True)[1]
            columns += list(contrasts(codes.max() + 1)[codes].T)
        else:
            columns.append(column)
    table = np.column_stack([column for column in columns if (column != column[0]).any()] or [np.zeros(len(X))])
    spread = table.std(axis=0)
    return np.ascontiguousarray((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def renamed(dealt, n_folds, rngs):
    """One partition, with the names of its folds drawn once per generator.

    Parameters
    ----------
    dealt : ndarray of shape (n_samples,), integer
        Fold of every sample.
    n_folds : int
    rngs : iterable of numpy.random.Generator

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
    """
    return np.array([rng.permutation(n_folds)[dealt] for rng in rngs], dtype=fold_dtype(n_folds)).reshape(-1, len(dealt))


def target_column(y, task=None):
    """A target as one more column.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    task : {None, "classification", "regression"}
        What it is; None: classes where it holds text, truth values or whole numbers.

    Returns
    -------
    column : ndarray of shape (n_samples,)
        Numbers, or codes of classes from 0.
    is_class : bool
        Whether it holds classes.

    Raises
    ------
    ValueError
        If it has no such task, or is text where numbers are said.
    """
    if task not in (None, CLASSES, NUMBERS):
        raise ValueError(f"task={task!r} must be {CLASSES!r} or {NUMBERS!r}, or None where the target's values tell")
    y = one_column(y)
    is_class = task == CLASSES if task else y.dtype.kind != "f" or bool((y == np.floor(y)).all())
    return (np.unique(y, return_inverse=True)[1] if is_class else numeric_target(y)), is_class
