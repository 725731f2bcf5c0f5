"""Masks of columns that hold categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.gate.arrays import as_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray


def nominal_columns(categorical_features: ArrayLike | None, n_features: int, argument: str = "categorical_features") -> BoolArray:
    """Mask of the nominal columns, given as a mask or as 0-based positions; messages name the `argument`."""
    nominal = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return nominal
    given = as_array(categorical_features, argument)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(f"{argument} is a mask of shape {given.shape}; X has {n_features} features")
        return given.copy()
    if given.size and (given.dtype.kind not in "ui" or given.min() < 0 or given.max() >= n_features):
        raise ValueError(f"{argument}={categorical_features!r} must be a mask or positions between 0 and {n_features - 1}")
    nominal[given.astype(np.int64)] = True
    return nominal
