"""Conversion of any array-like to an array and the mask of its missing values."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray


def is_missing(value: Any) -> bool:
    """Check whether a value is missing: None, NaN, masked, or pandas' NA and NaT."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA has no truth
        return True


def as_array(values: Any, name: str) -> Array:
    """Convert an array-like to an array in which nothing is masked; a masked value becomes NaN, or None among objects.

    Raise ValueError for a sparse matrix, and for lists of unequal lengths.
    """
    if hasattr(values, "tocsr"):
        raise ValueError(f"{name} is a sparse matrix of shape {values.shape}; give an array: {name}.toarray()")
    if isinstance(values, np.ma.MaskedArray) or (isinstance(values, list | tuple) and _holds_masks(values)):
        return _filled(np.ma.asarray(values))
    if type(values) is np.ndarray:
        return values
    if isinstance(values, set | frozenset) or hasattr(values, "__next__"):
        raise ValueError(f"{name} is a {type(values).__name__}; expected an array or a list, in a certain order")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.VisibleDeprecationWarning)
            return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is a {type(values).__name__} that makes no array of one shape ({error})") from None


def as_list(values: Any, name: str) -> list[Any]:
    """List the parts of a sequence, such as the losses of every fold; of a dictionary, its values."""
    if isinstance(values, dict):
        return list(values.values())
    if isinstance(values, list | tuple):
        return list(values)
    array = as_array(values, name)
    if array.ndim == 0:
        raise ValueError(f"{name} is {values!r}; expected a sequence of arrays")
    return list(array)


def refuse_masks(X: Any, name: str = "X") -> None:
    """Refuse a masked array that goes to a learner as it is: learners read what is under the mask."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        count = int(np.ma.getmaskarray(X).sum())
        raise ValueError(
            f"{name} has {count} masked values, which a learner would read all the same; give {name}.filled(np.nan), and a "
            "learner that takes missing values, or drop these rows"
        )


def na_as_nan(X: Any) -> Any:
    """Write NaN for pandas' NA and None in a frame, or in an array or list of objects, as the conversion to floats needs it."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return X.astype(object).where(X.notna(), np.nan) if X.isna().to_numpy().any() else X
    array = X if isinstance(X, np.ndarray) else as_array(X, "X") if isinstance(X, list | tuple) else None
    if array is None or array.dtype.kind != "O":
        return X
    gone = missing(array)
    return np.where(gone, np.nan, array) if gone.any() else X


def refuse_dates(X: Any, name: str = "X") -> None:
    """Refuse dates, durations and complex numbers, which some conversions turn into numbers."""
    types = list(X.dtypes) if hasattr(X, "dtypes") and hasattr(X, "columns") else [getattr(X, "dtype", None)]
    for kind in (getattr(one, "kind", "") for one in types):
        if isinstance(kind, str) and kind in tuple("mMc"):
            if kind == "c":
                raise ValueError(f"Complex data not supported: {name} holds complex numbers; give the real part, or the size")
            raise ValueError(f"{name} holds dates or times, which this learner does not take; give numbers, such as days")


def missing(array: Array) -> BoolArray:
    """Mask of the missing values of an array of any type."""
    if array.dtype.kind in "fc":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind == "O":
        return np.array([is_missing(value) for value in array.ravel()], dtype=bool).reshape(array.shape)
    return np.zeros(array.shape, dtype=bool)


def _holds_masks(values: Any) -> bool:
    return any(value is np.ma.masked or isinstance(value, np.ma.MaskedArray) for value in values)


def _filled(values: Any) -> Array:
    """Write NaN, NaT or None where a value is masked."""
    if not np.ma.getmaskarray(values).any():
        return np.asarray(values.data)
    kind = values.dtype.kind
    if kind in "fc":
        return values.filled(np.nan)
    if kind in "biu":
        return values.astype(np.float64).filled(np.nan)
    if kind in "mM":
        return values.filled("NaT")
    objects = values.data.astype(object)
    objects[np.ma.getmaskarray(values)] = None
    return objects
