"""Time: dates, columns that count, and rows whose target is like that of the rows before."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from foldshift.advice.structure.record import Part
from foldshift.core.counting import bincount
from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import Array, FloatArray, IntArray
    from foldshift.shift.columns import Column

TIME_NAME = re.compile(
    r"(^|[ _-])(date|time|timestamp|datetime|when|year|month|day|week|hour|datum|jahr|tag|woche)($|[ _-])", re.IGNORECASE
)
DAY = 86_400_000_000  # microseconds
LAGS = 5  # rows before, whose targets are compared
LEAST_Z = 5.0  # standard errors of the autocorrelation from which rows follow each other: one table in three million
LEAST_CORRELATION = 0.1  # mean autocorrelation, below which it does not matter in large tables
ALL_DIFFER = 0.9  # share of different values from which a column can stand for the order of rows
ORDERED = 0.9  # rank correlation of the target with the row number


def find_times(data: Data, groups: IntArray | None = None) -> Part | None:
    """Find an order of the rows along which targets are alike; groups of rows are compared by what is left of their means."""
    target = _centred(data, groups)
    for column in filter(tells_time, data.columns):
        values = column.train.astype(np.float64)
        order = np.argsort(values, kind="stable")
        if np.isnan(values).any():
            continue
        z = autocorrelation_z(target[order])
        if z >= LEAST_Z:
            times = (values * DAY).round().astype("M8[us]") if column.kind == "date" else values
            return Part(times, f"found: column {column.name!r}", (column.name,), "T2", strength=z)
    z = 0.0 if is_sorted_by_target(data) or is_design(data) else autocorrelation_z(target)
    if z >= LEAST_Z:
        return Part(np.arange(data.n, dtype=np.float64), "found: the order of the rows", (), "T2", True, z)
    return None


def tells_time(column: Column) -> bool:
    """Return True for dates, for numbers with such a name that differ or never fall, and for numbers of rows."""
    if column.kind == "date":
        return len(np.unique(column.train[~np.isnan(column.train)])) > LAGS
    if column.categories:
        return False
    differ = len(np.unique(column.train)) >= ALL_DIFFER * len(column.train)
    named = bool(TIME_NAME.search(column.name))
    return (column.kind == "identifier" and differ) or (named and (differ or never_falls(column.train)))


def never_falls(values: Array) -> bool:
    """Return True if numbers grow with the number of the row."""
    known = values[~np.isnan(values.astype(np.float64))]
    return len(known) > 1 and len(np.unique(known)) > 1 and bool((np.diff(known) >= 0).all())


def is_sorted_by_target(data: Data) -> bool:
    """Return True if the rows stand in order of the target."""
    if data.task == "regression":
        ranks = data.target.argsort(kind="stable").argsort()
        return bool(abs(np.corrcoef(np.arange(data.n), ranks)[0, 1]) >= ORDERED)
    changes = int((np.diff(data.target) != 0).sum())
    expected = (1 - ((bincount(data.target.astype(int)) / data.n) ** 2).sum()) * (data.n - 1)
    return bool(expected >= 10 and changes <= (1 - ORDERED) * expected)


def is_design(data: Data) -> bool:
    """Return True if every combination of the values of all columns stands in one row: the order is that of the design."""
    columns = [column.train for column in data.columns]
    n_values = [len(np.unique(column)) for column in columns]
    if len(n_values) < 2 or math.prod(n_values) != data.n or any(np.isnan(column.astype(np.float64)).any() for column in columns):
        return False
    return len(np.unique(np.column_stack(columns).astype(np.float64), axis=0)) == data.n


def autocorrelation_z(target: FloatArray) -> float:
    """Mean autocorrelation of the columns of `target` at lags 1 to 5, in standard errors of rows in random order; 0 if small."""
    n = len(target)
    if n < 4 * LAGS:
        return 0.0
    centred = target - target.mean(axis=0)
    total = (centred**2).sum()
    if total <= 0:
        return 0.0
    mean = float(np.mean([(centred[lag:] * centred[:-lag]).sum() / total for lag in range(1, LAGS + 1)]))
    # Of k indicators, k - 1 are free: their products average over as many.
    free = max(1, target.shape[1] - 1)
    return 0.0 if mean < LEAST_CORRELATION else (mean + 1 / n) * float(np.sqrt(n * LAGS * free))


def _centred(data: Data, groups: IntArray | None) -> FloatArray:
    """Ranks of a quantity, or indicators of classes, less the means of the groups; shape (n, n_columns)."""
    if data.task == "regression":
        target = mid_ranks(data.target)[:, None].astype(np.float64)
    else:
        target = np.eye(len(data.classes))[data.target.astype(int)]
    if groups is None:
        return target
    sizes = np.maximum(bincount(groups), 1)
    means = np.column_stack([bincount(groups, column) / sizes for column in target.T])
    return target - means[groups]
