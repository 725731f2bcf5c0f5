"""Results that are missing, because a fit failed or a method was not run: NaN everywhere in the library."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray


def mean_present(values: FloatArray, axis: int = -1) -> FloatArray:
    """Mean of the values that are not NaN; NaN, without a warning, where there is none."""
    present = ~np.isnan(values)
    counts = present.sum(axis=axis)
    return np.where(counts > 0, np.where(present, values, 0.0).sum(axis=axis) / np.maximum(counts, 1), np.nan)


def std_present(values: FloatArray, axis: int = -1) -> FloatArray:
    """Standard deviation (n - 1) of the values that are not NaN; NaN, without a warning, below two values."""
    present = ~np.isnan(values)
    counts = present.sum(axis=axis)
    means = np.expand_dims(mean_present(values, axis), axis)
    squares = np.where(present, values - means, 0.0) ** 2
    return np.where(counts > 1, np.sqrt(squares.sum(axis=axis) / np.maximum(counts - 1, 1)), np.nan)


def common_results(values: dict[Hashable, Array]) -> dict[Hashable, Array]:
    """Leave out of every method what one of them lacks, so that like is compared with like."""
    found = {name: array for name, array in values.items() if not np.isnan(array).all()}
    if not found:
        return dict(values)
    leading = next(iter(found.values())).shape[:-1]
    missing = np.zeros((*leading, max(array.shape[-1] for array in found.values())), dtype=bool)
    for array in found.values():
        missing[..., : array.shape[-1]] |= np.isnan(array)
    common = {name: np.where(missing[..., : array.shape[-1]], np.nan, array) for name, array in values.items()}
    lost = np.any([np.isnan(common[name]).all(axis=-1) for name in found], axis=0)
    return {name: np.where(lost[..., None], np.nan, array) for name, array in common.items()}
