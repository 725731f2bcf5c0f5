"""Counts and repeats of arrays of any integer type, on builds whose own integers have 32 bits, too, and totals.

In a browser NumPy's functions refuse integers of 64 bits, which this library uses throughout.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, IntArray


def _places(numbers: ArrayLike) -> Any:
    """Turn int64 into the integers that count places of an array here; anything else stays as it is."""
    array = np.asarray(numbers)
    return array.astype(np.intp, copy=False) if array.dtype == np.int64 else array


@overload
def bincount(codes: ArrayLike, weights: None = None, minlength: int | np.integer[Any] = 0) -> IntArray: ...
@overload
def bincount(codes: ArrayLike, weights: ArrayLike, minlength: int | np.integer[Any] = 0) -> FloatArray: ...


def bincount(codes: ArrayLike, weights: ArrayLike | None = None, minlength: int | np.integer[Any] = 0) -> Any:
    """Count every code, or sum the weights of its rows, as `numpy.bincount` does; counts are int64 everywhere."""
    counts = np.bincount(_places(codes), weights, minlength)
    return counts.astype(np.int64, copy=False) if weights is None else counts


def repeat(values: ArrayLike, times: ArrayLike, axis: int | None = None) -> Array:
    """Repeat values, as `numpy.repeat` does."""
    return cast("Array", np.repeat(values, _places(times), axis))


def add_up(values: Iterable[Any]) -> Any:
    """Add numbers one after the other: from Python 3.12 on `sum` corrects the rounding of floats, with other last bits.

    >>> add_up([0.1] * 10)
    0.9999999999999999
    """
    return functools.reduce(operator.add, values, 0)
