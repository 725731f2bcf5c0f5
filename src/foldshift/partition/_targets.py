"""Checks of targets to stratify on, the same for splitters and array functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, TableLike


def is_missing(value: float | str) -> bool:
    """Check whether a value is missing: None, NaN, or pandas' NA and NaT."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA has no truth
        return True


def one_column(y: TableLike, name: str = "y") -> Array:
    """Convert a target to one dimension, objects that are numbers to numbers; raise ValueError for missing or infinite values."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(
            f"{name} has shape {y.shape}; expected one column, (n_samples,): stratify on one output, such as y[:, 0]"
        )
    if y.dtype.kind in "OmM":
        missing = np.array([is_missing(value) for value in y.tolist()], dtype=bool)
    elif y.dtype.kind in "fc":
        missing = np.isnan(y)
    else:
        missing = np.zeros(len(y), dtype=bool)
    if missing.any():
        raise ValueError(
            f"{name} contains NaN: {missing.sum()} of {len(y)} rows (the first is row {missing.argmax()}) have no target; "
            "drop them before cutting"
        )
    if y.dtype.kind == "O" and all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in y.tolist()):
        y = np.array(y.tolist())
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{name} contains infinity in row {np.isinf(y).argmax()}; expected finite numbers")
    return y


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
    if y.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in y.tolist()})
        if len(kinds) > 1:
            raise ValueError(f"y mixes labels of type {' and '.join(kinds)}; make them all text: [str(label) for label in y]")
    return y
