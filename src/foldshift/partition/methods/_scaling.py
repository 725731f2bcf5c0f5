"""Shared by the cuts that others propose: complete inputs of mean 0 and standard deviation 1, nominal columns coded; and one
partition under many names of its folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.gate.targets import numeric_target, one_column
from foldshift.partition._inputs import measurable
from foldshift.partition.fold_numbers import fold_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, Task, UnsignedArray

CLASSES, NUMBERS = "classification", "regression"


def complete(X: FloatArray, categorical_features: ArrayLike | None) -> tuple[FloatArray, BoolArray]:
    """Convert inputs to numbers; raise ValueError where values are missing."""
    X, nominal = measurable(X, categorical_features)
    if np.isnan(X).any():
        row, column = np.argwhere(np.isnan(X))[0]
        raise ValueError(
            f"Input X contains NaN (row {row}, column {column}); drop or impute missing values first, or cut by CB-CV"
        )
    return X, nominal


def scaled(X: Array, nominal: Array, contrasts: Callable[..., Any] = np.eye) -> FloatArray:
    """Scale columns to mean 0 and standard deviation 1, nominal ones coded; constant columns are left out (all: one of zeros).

    ``contrasts(c)`` is the table of shape (c, n_codes) that codes c categories; by default, a column for each.
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


def renamed(dealt: Array, n_folds: int, rngs: Iterable[np.random.Generator]) -> UnsignedArray:
    """Permute the fold numbers of one partition, once per generator."""
    return np.array([rng.permutation(n_folds)[dealt] for rng in rngs], dtype=fold_dtype(n_folds)).reshape(-1, len(dealt))


def target_column(y: ArrayLike, task: Task | None = None) -> tuple[Array, bool]:
    """Convert a target to one more column: numbers, or codes of classes from 0; and report which."""
    if task not in (None, CLASSES, NUMBERS):
        raise ValueError(f"task={task!r} must be {CLASSES!r} or {NUMBERS!r}, or None where the target's values decide")
    y = one_column(y)
    is_class = task == CLASSES if task else y.dtype.kind != "f" or bool((y == np.floor(y)).all())
    return (np.unique(y, return_inverse=True)[1] if is_class else numeric_target(y)), is_class
