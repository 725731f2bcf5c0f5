"""Missing results (a failed fit, a method that was not run), which are NaN everywhere in the library."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray


def mean_present(values: FloatArray, axis: int = -1) -> FloatArray:
    """Mean of the values that are not NaN; NaN, without a warning, if there is none."""
    present = ~np.isnan(values)
    counts = present.sum(axis=axis)
    return np.where(counts > 0, np.where(present, values, 0.0).sum(axis=axis) / np.maximum(counts, 1), np.nan)


def std_present(values: FloatArray, axis: int = -1) -> FloatArray:
    """Standard deviation (n - 1) of the values that are not NaN; NaN, without a warning, for fewer than two."""
    present = ~np.isnan(values)
    counts = present.sum(axis=axis)
    means = np.expand_dims(mean_present(values, axis), axis)
    squares = np.where(present, values - means, 0.0) ** 2
    return np.where(counts > 1, np.sqrt(squares.sum(axis=axis) / np.maximum(counts - 1, 1)), np.nan)


def common_results(values: dict[Hashable, Array]) -> dict[Hashable, Array]:
    """Set to NaN, in all methods, the repetitions (last axis) that one of them lacks, so that like is compared with like.

    A method without any result is ignored; a cell of the leading axes is NaN if one method has no repetition left there.
    """
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
