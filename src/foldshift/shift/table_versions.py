"""Check a training table and many versions of a test table, and bring them into the form that the measures take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.numbers import as_numbers as numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, IntArray, TableLike
    from foldshift.shift.inject.injectors import Versions

FEWEST_ROWS = 5  # rows of a table, or values of a column, for a comparison


class VersionPlan(NamedTuple):
    """Versions in the form that the kernels take."""

    rows: IntArray  # rows kept; one row where all versions keep the same; shape (n_versions, n_kept)
    feature: IntArray  # biased feature of every version, -1 for none; shape (n_versions,)
    offset: FloatArray  # added to that feature; shape (n_versions,)
    masked: bool  # whether that feature is masked


def plan_versions(versions: Versions | ArrayLike | None, n: int, n_features: int) -> VersionPlan:
    """Bring versions of a test table of shape (n, n_features) into the form that the kernels take."""
    if versions is None:
        return VersionPlan(np.arange(n)[None], np.array([-1]), np.zeros(1), False)
    if _has_rows(versions):
        plan = VersionPlan(versions.rows, versions.feature, versions.offset, versions.masked)
        if len(plan.feature) and plan.feature.max() >= n_features:
            raise ValueError(f"versions are of feature {plan.feature.max()}; the tables have {n_features} features")
    else:
        rows = as_array(versions, "versions")
        if rows.ndim != 2 or rows.dtype.kind not in "ui":
            raise ValueError(f"versions has shape {rows.shape} and type {rows.dtype}; expected (n_versions, n_kept) row numbers")
        plan = VersionPlan(rows, np.full(len(rows), -1), np.zeros(len(rows)), False)
    rows = plan.rows
    if 0 in rows.shape:
        raise ValueError(f"versions has shape {rows.shape}; expected a version and a row at least")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"versions holds rows from {rows.min()} to {rows.max()}; the test table has rows 0 to {n - 1}")
    return plan._replace(rows=rows[:1]) if rows.strides[0] == 0 else plan


def _has_rows(versions: Versions | ArrayLike | None) -> TypeGuard[Versions]:
    # Not by class: `Versions` is defined above this module, and other programs may bring their own.
    return hasattr(versions, "rows")


def numeric_tables(train: ArrayLike, test: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Convert both tables to float64; raise unless they have equally many features, a row each, and no infinite value."""
    train, test = as_numbers(train, "train"), as_numbers(test, "test")
    if train.ndim != 2 or test.ndim != 2 or train.shape[1] != test.shape[1] or 0 in train.shape or 0 in test.shape:
        raise ValueError(
            f"train has shape {train.shape} and test {test.shape}; expected (n_train, n_features) and (n_test, n_features), "
            "none of them 0"
        )
    for name, table in (("train", train), ("test", test)):
        if np.isinf(table).any():
            raise ValueError(f"{name} holds infinite values; drop them, or mark them as missing with NaN")
    return train, test


def as_table(table: TableLike, role: str) -> pd.DataFrame | Array:
    """Convert a table to a pandas data frame if its columns have names, else to an array.

    >>> as_table([[1, 2]], "training")
    array([[1, 2]])
    """
    if is_frame(table):
        return table
    if issparse(table):
        raise ValueError(f"the {role} table is sparse; give the columns to be compared as an array: table.toarray()")
    names = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if names is not None and hasattr(table, "__getitem__") and not isinstance(table, np.ndarray):
        names = [str(name) for name in names]
        columns = [table[name] for name in names]
        columns = [np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column) for column in columns]
        return pd.DataFrame(dict(enumerate(columns))).set_axis(names, axis="columns")
    array = as_array(table, f"the {role} table")
    if array.dtype.kind == "c":
        raise ValueError(f"the {role} table holds complex numbers; give real and imaginary parts as two columns")
    if array.ndim == 0:
        raise ValueError(f"the {role} table is a {type(table).__name__}; expected a data frame or an array of rows and columns")
    return array


def is_frame(table: TableLike) -> bool:
    """Return True for a pandas data frame, or an object like one."""
    return hasattr(table, "columns") and hasattr(table, "iloc")


def as_numbers(values: TableLike, name: str) -> FloatArray:
    """Convert a table or a column to float64, NaN where missing; raise with the first value that is not a number."""
    return numbers(as_table(values, name) if hasattr(values, "columns") or issparse(values) else values, name)


def features_frame(**columns: Any) -> pd.DataFrame:
    """Write arrays of shape (n_features,) or (n_versions, n_features) as a table: one row per feature, of each version."""
    shape = next(iter(columns.values())).shape
    keys = dict(zip(("version", "feature")[-len(shape) :], np.indices(shape).reshape(len(shape), -1)))
    return pd.DataFrame(keys | {name: np.ravel(values) for name, values in columns.items()})


def features_in_words(what: str, distance: FloatArray) -> str:
    """Write a sentence on the distances of features, (n_features,) or (n_versions, n_features)."""
    versions = f" in {len(distance)} versions" if distance.ndim == 2 else ""
    features = f"{distance.shape[-1]} feature{'s' * (distance.shape[-1] != 1)}{versions}"
    if np.isnan(distance).all():
        return f"{what} of {features}: none has values in both tables."
    most = int(np.unravel_index(np.nanargmax(distance), distance.shape)[-1])
    return f"{what} of {features}: {np.nanmean(distance):.3g} on average, {np.nanmax(distance):.3g} at most (feature {most})."


def scaled(values: FloatArray) -> FloatArray:
    """Divide values by the power of two above the largest magnitude, so that no square overflows and no digit is lost.

    >>> scaled(np.array([3e-170, -1.5e-170])) / scaled(np.array([3e160, -1.5e160])) > 0
    array([ True,  True])
    """
    largest = np.max(np.abs(values), initial=0.0, where=~np.isnan(values))
    return np.ldexp(values, -int(np.frexp(largest)[1]))
