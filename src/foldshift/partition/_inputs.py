"""Inputs of the partitioners that look at them: numbers, NaN where a value is missing, and a mask of the nominal columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.errors import unknown
from foldshift.core.gate.arrays import as_array, is_missing
from foldshift.core.gate.categorical import nominal_columns

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, TableLike

FROM_DTYPE = "from_dtype"
_NUMBERS = (bool, int, float, np.number, np.bool_)


def measurable(
    X: TableLike, categorical_features: TableLike = None, what: str = "measuring distances"
) -> tuple[FloatArray, BoolArray]:
    """Convert inputs to float64 in C order, and find the nominal columns.

    Nominal columns may hold anything: other things than numbers become codes from 0; a missing value is NaN. `what` says in
    messages what the inputs are needed for.
    """
    if hasattr(X, "tocsr"):
        raise ValueError(
            f"X is a sparse matrix of shape {X.shape}; {what} needs a dense table: pass X.toarray(), or a few columns made "
            "of it (TruncatedSVD), or use SCV, which does not look at X"
        )
    names = list(X.columns) if hasattr(X, "columns") else None
    # The layout decides the last bit of a sum, and what numba compiles.
    if names is None:
        X = as_array(X, "X")
        if X.dtype.kind == "c":
            raise ValueError(f"X holds complex numbers; {what} needs real ones: give real and imaginary parts as two columns")
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array: X has shape {X.shape}; expected (n_samples, n_features)")
    n_features = X.shape[1] if names is None else len(names)
    if len(X) == 0:
        raise ValueError(f"X has no rows; {what} needs at least one")
    if n_features == 0:
        raise ValueError(f"X has no columns; {what} needs at least one")
    if names is None and X.dtype.kind in "buif":
        table, text = np.array(X, dtype=np.float64, order="C"), np.zeros(n_features, dtype=bool)
        nominal = _nominal(categorical_features, n_features, names, text)
    else:
        columns = [X[:, j] for j in range(n_features)] if names is None else _columns(X)
        text = np.array([_is_text(column) for column in columns], dtype=bool)
        nominal = _nominal(categorical_features, n_features, names, text)
        table = np.empty((len(columns[0]) if columns else 0, n_features))
        for j, column in enumerate(columns):
            label = j if names is None else repr(names[j])
            table[:, j] = _codes(column) if nominal[j] and text[j] else _numbers(column, label, bool(text[j]))
    if np.isinf(table).any():
        row, j = np.argwhere(np.isinf(table))[0]
        label = j if names is None else repr(names[j])
        raise ValueError(f"Input X contains infinity (row {row}, column {label}); {what} needs finite numbers")
    return table, nominal


def column_mask(X: TableLike, columns: TableLike, argument: str) -> BoolArray:
    """Mask of the columns that are given by mask, positions or names; None: no column."""
    names = list(X.columns) if hasattr(X, "columns") else None
    return _mask(columns, np.shape(X)[1] if names is None else len(names), names, argument)


def _nominal(
    categorical_features: BoolArray | str | None, n_features: int, names: list[str] | None, text: BoolArray
) -> BoolArray:
    if isinstance(categorical_features, str):
        if categorical_features != FROM_DTYPE:
            raise ValueError(
                f"categorical_features={categorical_features!r} must be {FROM_DTYPE!r}, or a list of names, positions or truth "
                "values"
            )
        return text
    return _mask(categorical_features, n_features, names, "categorical_features")


def _mask(columns: BoolArray | None, n_features: int, names: list[str] | None, argument: str) -> BoolArray:
    if isinstance(columns, str):
        raise ValueError(f"{argument}={columns!r} must be a list of names, positions or truth values, such as [{columns!r}]")
    if columns is not None:
        wanted = list(columns)
        if wanted and all(isinstance(name, str) for name in wanted):
            if names is None:
                raise ValueError(
                    f"{argument} names a column, {wanted[0]!r}; X is not a data frame and has no names: give positions"
                )
            for name in wanted:
                if name not in names:
                    raise ValueError(f"{argument}: {unknown('column', name, names)}")
            return np.isin(names, wanted)
    return nominal_columns(columns, n_features, argument)


def _columns(frame: pd.DataFrame) -> list[pd.Series]:
    """List the columns of a pandas or polars data frame."""
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, j] for j in range(frame.shape[1])]
    return [frame[:, j] for j in range(frame.shape[1])]


def _is_text(column: ArrayLike) -> bool:
    """Check whether a column is of a categorical type or holds anything that is not a number."""
    if _is_categorical(column):
        return True
    values = np.asarray(column)
    if values.dtype.kind in "buif":
        return False
    return values.dtype.kind != "O" or any(not isinstance(v, _NUMBERS) for v in values.tolist() if not is_missing(v))


def _is_categorical(column: TableLike) -> bool:
    return any(word in str(column.dtype).lower() for word in ("categor", "enum"))


def _codes(column: pd.Series) -> Array:
    """Number the values of a column in the order in which they appear; NaN where one is missing."""
    seen: dict[Any, Any] = {}
    return np.array([np.nan if is_missing(v) else seen.setdefault(v, len(seen)) for v in np.asarray(column).tolist()])


def _numbers(column: pd.Series, label: Any, is_text: bool) -> FloatArray:
    values = np.asarray(column)
    if is_text:
        example = next((v for v in values.tolist() if not is_missing(v)), None)
        what = "dates or times" if values.dtype.kind in "mM" else f"{example!r}"
        what = f"is of the type {column.dtype}" if _is_categorical(column) else f"holds {what}"
        if values.dtype.kind in "mM":
            raise ValueError(f"column {label} of X {what}, not numbers: drop it, or turn it into numbers, such as days")
        raise ValueError(
            f"column {label} of X {what}, not numbers: name it in categorical_features, or say "
            f"categorical_features={FROM_DTYPE!r} for all such columns"
        )
    if values.dtype.kind == "O":
        values = np.array([np.nan if is_missing(v) else v for v in values.tolist()], dtype=np.float64)
    return values.astype(np.float64)
