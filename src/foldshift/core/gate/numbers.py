"""Numbers of any type as float64, counts of correct predictions, and right or wrong as 1 and 0."""

from __future__ import annotations

import numbers as kinds
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.gate.arrays import as_array, is_missing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray


def as_numbers(values: Any, name: str) -> FloatArray:
    """Convert values to float64, NaN where missing or masked; raise ValueError with the first one that is not a number.

    >>> as_numbers([1, None, 2], "a")
    array([ 1., nan,  2.])
    >>> as_numbers(["1", "2"], "a")
    Traceback (most recent call last):
    ...
    ValueError: a holds '1', which is no number; give numbers
    """
    array = as_array(values, name)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False)
    flat = array.ravel().tolist() if array.dtype.kind not in "Mm" else list(array.ravel()[:1])
    for value in flat:
        if not (is_number(value) or is_missing(value)):
            raise ValueError(f"{name} holds {_shown(value)}, which is no number; give numbers")
    try:
        plain = [np.nan if is_missing(value) else float(value) for value in flat]
    except OverflowError:
        raise ValueError(f"{name} holds a number that is too large for 64 bits; give numbers below 1e308") from None
    return np.array(plain, dtype=np.float64).reshape(array.shape)


def is_number(value: Any) -> bool:
    """Check whether a value is a real number, or True or False."""
    return isinstance(value, kinds.Real | Decimal | np.bool_) and not isinstance(value, np.timedelta64)


def finite_numbers(values: Any, name: str, remedy: str = "leave them out or correct them") -> FloatArray:
    """Convert values to float64; raise ValueError for missing and infinite ones, too."""
    array = as_numbers(values, name)
    check_finite(array, name, remedy)
    return array


def check_finite(values: FloatArray, name: str, remedy: str) -> None:
    """Refuse NaN and infinite values, with the place of the first one and a remedy."""
    bad = ~np.isfinite(values)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} has {bad.sum()} NaN or infinite values, the first at {first}; {remedy}")


def whole_numbers(values: Any, name: str, meaning: str) -> Array:
    """Return an array of an integer type; whole numbers of another type become int64. Raise ValueError for other values.

    `name` is a plural, and `meaning` says in the message what the numbers are.
    """
    array = as_array(values, name)
    if array.dtype.kind in "ui":
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind not in "fO":
        raise ValueError(f"{name} have dtype {array.dtype}; expected an integer type")
    for value in array.ravel().tolist():
        whole = isinstance(value, kinds.Real) and not isinstance(value, bool | np.bool_) and value % 1 == 0
        if not whole:
            raise ValueError(f"{name} hold {_shown(value)}; expected whole numbers, {meaning}")
    return array.astype(np.int64)


def fold_counts(r: ArrayLike, m: ArrayLike, name: str) -> tuple[FloatArray, FloatArray]:
    """Check correct predictions and fold sizes per fold; return both as float64, with one size per fold."""
    r, m = as_numbers(r, name), as_numbers(m, "fold sizes")
    if r.ndim == 0 or r.shape[-1] == 0:
        raise ValueError(f"{name} has shape {r.shape}; expected correct predictions per fold, shape (..., k)")
    if m.ndim > 0 and m.shape != r.shape[-1:]:
        raise ValueError(f"fold sizes have shape {m.shape}; expected one number or one per fold, shape {r.shape[-1:]}")
    if not ((m >= 1) & (m == np.floor(m)) & np.isfinite(m)).all():
        raise ValueError(f"fold sizes must be whole numbers from 1, got {m.tolist()}")
    m = np.broadcast_to(m, r.shape[-1:])
    bad = ~((r >= 0) & (r <= m) & (r == np.floor(r)))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        position = ", ".join(map(str, where))
        raise ValueError(
            f"{name}[{position}]={r[where]:g} must be a whole number from 0 to the size of its fold, {m[where[-1]]:g}"
        )
    return r, m


def correctness(x: Any, name: str) -> FloatArray:
    """Check that the correctness of every instance is 1 (right) or 0 (wrong), in shape (..., n); return it as float64."""
    x = as_numbers(x, name)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError(f"{name} has shape {x.shape}; expected the correctness of every instance, shape (..., n)")
    if not ((x == 0) | (x == 1)).all():
        raise ValueError(f"{name} must hold 1 (right) and 0 (wrong) only, got {x[(x != 0) & (x != 1)][0]:g}")
    return x


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, np.datetime64 | np.timedelta64) else repr(value)
