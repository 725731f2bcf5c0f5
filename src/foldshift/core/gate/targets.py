"""Targets, classes and groups: one dimension, nothing missing, one type of label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.gate.arrays import as_array, missing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, TableLike


def one_column(y: TableLike, name: str = "y") -> Array:
    """Convert a target to one dimension, objects that are numbers to numbers; raise ValueError for missing or infinite values."""
    y = as_array(y, name)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        one_hot = y.ndim == 2 and y.dtype.kind in "iufb" and np.isin(y, (0, 1)).all() and (y.sum(axis=1) == 1).all()
        more = f"; if its columns are one class each, {name}.argmax(axis=1)" if one_hot else ""
        raise ValueError(
            f"{name} has shape {y.shape}; expected one column, (n_samples,): stratify on one output, such as {name}[:, 0]{more}"
        )
    check_present(y, name)
    y = numbers_if_all(y)
    if y.dtype.kind == "f" and y.dtype.itemsize > 8:
        y = y.astype(np.float64)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{name} contains infinity in row {np.isinf(y).argmax()}; expected finite numbers")
    return y


def numbers_if_all(y: Array) -> Array:
    """Convert an array of objects that are all numbers to one of numbers; return any other array as it is."""
    if y.dtype.kind == "O" and all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in y.ravel()):
        return np.array(y.tolist())
    return y


def check_present(y: TableLike, name: str = "y") -> None:
    """Refuse a target with missing or masked values, of any type and shape, and complex numbers."""
    array = as_array(y, name)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers, such as {array.ravel()[0]}; give the real part, or labels")
    gone = missing(array)
    if gone.any():
        rows: BoolArray = np.atleast_1d(gone.reshape(len(gone), -1).any(axis=1))
        raise ValueError(
            f"{name} contains NaN: {rows.sum()} of {len(rows)} rows (the first is row {rows.argmax()}) have no target; "
            "drop them first"
        )


def numeric_target(y: ArrayLike) -> Array:
    """Check a target that is sorted by size, to be stratified on."""
    y = one_column(y)
    if y.dtype.kind not in "buif":
        example = f" (such as {y.tolist()[0]!r})" if len(y) else ""
        raise ValueError(
            f"y must hold numbers to be stratified on; got dtype {y.dtype}{example}. For classes use SCV or StratifiedKFold."
        )
    return y


def class_target(y: ArrayLike) -> Array:
    """Check a target that holds classes: text, truth values, or whole numbers of any type."""
    y = one_column(y)
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError(
            "Supported target types are: ('binary', 'multiclass'). Got 'continuous' instead. For a continuous target use "
            f"ContinuousStratifiedKFold, or make_folds('TSCV', ...); y holds {y[y != np.floor(y)][0]:g}."
        )
    check_one_type(y, "y")
    return y


def check_one_type(labels: Array, name: str, mixes: str = "mixes") -> None:
    """Refuse labels of several types, which have no order."""
    if labels.dtype.kind == "O":
        types = sorted({type(value).__name__ for value in labels.tolist()})
        if len(types) > 1:
            raise ValueError(
                f"{name} {mixes} labels of type {' and '.join(types)}; make them all text: [str(label) for label in {name}]"
            )


def check_no_name(values: Any, name: str) -> None:
    """Refuse one text, such as the name of a column, and a dictionary, in place of a value for each sample."""
    if isinstance(values, str):
        raise ValueError(
            f"{name}={values!r} is a text, not a value for each sample; if it is a column of X: {name}=X[{values!r}]"
        )
    if isinstance(values, dict):
        raise ValueError(f"{name} is a dict; give a value for each sample, in the order of the rows")


def group_labels(groups: TableLike, n_samples: int, name: str = "groups") -> Array:
    """Check the group of every sample: labels of any one type that sorts, none missing."""
    check_no_name(groups, name)
    array = as_array(groups, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n_samples,):
        raise ValueError(f"{name} have shape {array.shape}; expected (n_samples,) = {(n_samples,)}, one label for each sample")
    gone = missing(array)
    if gone.any():
        raise ValueError(
            f"{name} contain NaN: {gone.sum()} of {n_samples} rows (the first is row {gone.argmax()}) have no group; drop "
            "them, or give each a group of its own"
        )
    if array.dtype.kind == "c":
        raise ValueError(f"{name} hold complex numbers; give labels")
    check_one_type(array, name, "mix")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def class_labels(labels: TableLike, name: str) -> Array:
    """Check labels of any shape, of classes or groups, that must be present and of one type."""
    array = as_array(labels, name)
    check_present(array, name)
    array = numbers_if_all(array)
    check_one_type(array.ravel(), name)
    return array
