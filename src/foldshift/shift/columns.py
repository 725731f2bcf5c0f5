"""Columns of a training and a test table: numbers with NaN, or codes of categories."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.categorical import nominal_columns
from foldshift.shift.table_versions import FEWEST_ROWS, as_table, is_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, TableLike, Task

MISSING_LABEL = "missing"
NEARLY_ALL = 0.95  # of the rows: a text with so many values is an identifier
FEWEST_OF_INDEX = 20  # rows from which whole numbers, all unlike, can be an index and no chance
IDENTIFIER = re.compile(r"(^|[^A-Za-z])([iI][dD]s?|[iI]ndex|INDEX|[uU][uU][iI][dD]|[kK]ey)$|[a-z]I[dD]$|^[uU]nnamed")
MOST_CLASSES = 20  # a whole-numbered target of more values is a quantity


class Column(NamedTuple):
    """Values of one column: floats with NaN, or the numbers of `categories`.

    Its kind is ``numeric``, ``nominal``, ``date`` (in days) or ``identifier`` (numbers or categories).
    """

    name: str
    kind: str
    train: Array
    test: Array
    categories: list[Any]


def _names(table: pd.DataFrame, role: str) -> list[str]:
    names = [str(name) for name in table.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the {role} table has more than one column {', '.join(map(repr, twice))}; names must differ")
    return names


def matched_columns(
    train: TableLike, test: TableLike, categorical_features: ArrayLike | None, feature_names: Sequence[str] | None
) -> list[Column]:
    """Columns of both tables, matched by name where both have names."""
    tables = [as_table(table, role) for table, role in ((train, "training"), (test, "test"))]
    frames = [is_frame(table) for table in tables]
    for role, table in zip(("training", "test"), tables):
        if len(table.shape) != 2 or table.shape[1] == 0:
            raise ValueError(f"the {role} table has shape {table.shape}; expected (n_samples, n_features)")
        if len(table) < FEWEST_ROWS:
            raise ValueError(f"the {role} table has {len(table)} rows; a comparison needs at least {FEWEST_ROWS}")
    order = None
    if all(frames):
        names, test_names = _names(tables[0], "training"), _names(tables[1], "test")
        absent, extra = [name for name in names if name not in test_names], [name for name in test_names if name not in names]
        if absent or extra:
            parts = [
                f"{what} {', '.join(map(repr, some))}" for what, some in (("lacks", absent), ("has in addition", extra)) if some
            ]
            raise ValueError(f"the tables have different columns: the test table {' and '.join(parts)}; give both the same")
        order = [test_names.index(name) for name in names]
    elif tables[0].shape[1] != tables[1].shape[1]:
        raise ValueError(
            f"the training table has {tables[0].shape[1]} columns, the test table {tables[1].shape[1]}; give both the same"
        )
    else:
        given = [_names(table, "given") for table in tables if is_frame(table)]
        names = given[0] if given else [f"feature {j}" for j in range(tables[0].shape[1])]
    if feature_names is not None:
        if any(frames) or len(feature_names) != len(names) or len(set(map(str, feature_names))) != len(names):
            raise ValueError(
                f"feature_names has {len(feature_names)} names; expected {len(names)} that differ, for arrays only "
                "(data frames have their own)"
            )
        names = [str(name) for name in feature_names]
    nominal = _nominal(categorical_features, names)
    columns = []
    for j, name in enumerate(names):
        a, b = column_values(tables[0], j), column_values(tables[1], j if order is None else order[j])
        if nominal is not None and nominal[j]:
            columns.append(nominal_column(name, a, b))
        elif all(_are_dates(values) for values, _ in (a, b)):
            columns.append(Column(name, "date", *(_days(*part) for part in (a, b)), []))
        elif nominal is None and any(frames) and not all(_holds_numbers(values[~missing]) for values, missing in (a, b)):
            columns.append(_or_identifier(nominal_column(name, a, b)))
        else:
            column = numeric_column(name, a, b)
            columns.append(_or_identifier(column) if any(frames) else column)
    return columns


def without_left_out(
    columns: list[Column], keep: Sequence[str], dates: Literal["leave out", "keep"]
) -> tuple[list[Column], list[str]]:
    """The columns to be tested: neither identifiers nor, if `dates` is "leave out", dates; and what was left out, in words."""
    names = [column.name for column in columns]
    if isinstance(keep, str) or any(str(name) not in names for name in keep):
        raise ValueError(f"keep={keep!r} must be a list of names of columns; columns are {', '.join(map(repr, names))}")
    kept, notes = [], []
    for column in columns:
        wanted = column.name in map(str, keep)
        if column.kind == "identifier" and not wanted:
            notes.append(
                f"{column.name!r} was left out: it looks like an identifier (as many values as rows); to test it, say "
                f"keep=[{column.name!r}]."
            )
        elif column.kind == "date" and dates == "leave out" and not wanted:
            ranges = [_range(part) for part in (column.train, column.test)]
            notes.append(
                f"{column.name!r} was left out: it holds dates ({ranges[0]} in the training table, {ranges[1]} in the test "
                f"table), and that they differ is no news; to test it as a quantity in time, say keep=[{column.name!r}]."
            )
        else:
            kept.append(column._replace(kind="nominal" if column.categories else "numeric"))
    return kept, notes


def _range(days: FloatArray) -> str:
    days = days[~np.isnan(days)]
    if not len(days):
        return "none"
    ends = [str(np.datetime64(int(np.floor(end)), "D")) for end in (days.min(), days.max())]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _or_identifier(column: Column) -> Column:
    """The column, as an identifier if it looks like one: (nearly) as many texts as rows, or whole numbers all unlike.

    Whole numbers must besides fill half of their range or more, as those of an index do, or the name must say so: a price can be
    unlike in every row too.
    """
    parts = [column.train, column.test]
    if column.categories:
        gone = column.categories.index(MISSING_LABEL) if MISSING_LABEL in column.categories else -1
        shares = [len(np.unique(part[part != gone])) / len(part) for part in parts]
        return column._replace(kind="identifier") if min(shares) >= NEARLY_ALL else column
    if min(map(len, parts)) < FEWEST_OF_INDEX or any(np.isnan(part).any() or (part % 1 != 0).any() for part in parts):
        return column
    if any(len(np.unique(part)) < len(part) for part in parts):
        return column
    together = np.unique(np.concatenate(parts))
    dense = len(together) >= (together[-1] - together[0] + 1) / 2
    return column._replace(kind="identifier") if dense or IDENTIFIER.search(column.name) else column


def _are_dates(values: Array) -> bool:
    """Whether a column holds dates: by its type, or, of objects, each of them that is not missing."""
    if values.dtype.kind == "M":
        return True
    values = [value for value in values if value is not None and value == value] if values.dtype.kind == "O" else []
    return bool(values) and all(isinstance(value, date | pd.Period) for value in values)


def _days(values: Array, missing: BoolArray) -> FloatArray:
    """Dates as days since 1970, NaN where missing; of a time zone, in UTC."""
    if values.dtype.kind == "O":
        given = [value.to_timestamp() if isinstance(value, pd.Period) else value for value in values[~missing]]
        known = pd.to_datetime(pd.Series(given, dtype=object), utc=True).dt.tz_localize(None).to_numpy()
    else:
        known = values[~missing]
    out = np.full(len(values), np.nan)
    out[~missing] = (known - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    return out


def _nominal(categorical_features: ArrayLike | None, names: list[str]) -> BoolArray | None:
    """Mask of the nominal columns from names, positions or a mask; None where the types decide."""
    if categorical_features is None:
        return None
    given = np.asarray(categorical_features)
    if given.dtype.kind in "UO" and given.size:
        absent = [name for name in map(str, given) if name not in names]
        if absent:
            raise ValueError(
                f"categorical_features names {', '.join(map(repr, absent))}; columns are {', '.join(map(repr, names))}"
            )
        return np.isin(names, [str(name) for name in given])
    return nominal_columns(given if given.size else None, len(names))


def column_values(table: TableLike, j: int) -> tuple[Array, BoolArray]:
    """Values of a column as an array, and which are missing."""
    if is_frame(table):
        column = table.iloc[:, j]
        missing = np.asarray(column.isna(), dtype=bool)
        return (np.asarray(column.astype(object)) if column.dtype.kind not in "fiuMm" else np.asarray(column)), missing
    values = table[:, j]
    return values, np.asarray(pd.isna(values), dtype=bool)


def _holds_numbers(values: Array) -> bool:
    """Whether a column is one of numbers, or of durations; dates count, to be refused by name if the other table has none."""
    if values.dtype.kind in "fiuMm":
        return True
    return values.dtype.kind == "O" and all(
        isinstance(value, (int, float, np.integer, np.floating, Decimal)) and not isinstance(value, bool) for value in values
    )  # fmt: skip


def numeric_column(name: str, *parts: Any) -> Column:
    """A column of numbers."""
    arrays = []
    for (values, missing), role in zip(parts, ("training", "test")):
        if _are_dates(values):
            raise ValueError(f"column {name!r} of the {role} table holds dates, that of the other table none; give both the same")
        if values.dtype.kind == "m":
            values = values / np.timedelta64(1, "D")
        out = np.full(len(values), np.nan)
        try:
            out[~missing] = values[~missing].astype(np.float64)
        except (TypeError, ValueError):
            wrong = next(value for value in values[~missing].tolist() if not _is_number(value))
            raise ValueError(
                f"column {name!r} of the {role} table holds {wrong!r}, which is no number; name it in "
                "categorical_features if it is nominal"
            ) from None
        if np.isinf(out).any():
            raise ValueError(f"column {name!r} of the {role} table holds infinite values; replace them or mark them as missing")
        arrays.append(out)
    return Column(name, "numeric", *arrays, [])


def _is_number(value: str) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def nominal_column(name: str, *parts: Any) -> Column:
    """A column of categories, of which missing is one; parameters as of `numeric_column`."""
    labels = [[MISSING_LABEL if gone else value for value, gone in zip(values.tolist(), missing)] for values, missing in parts]

    def place(label: str | float) -> tuple[int, str, float]:  # numbers before texts before others
        if isinstance(label, str):
            return 1, label, 0
        return (0, "", label) if isinstance(label, numbers.Real) else (2, str(label), 0)

    try:
        categories = sorted(set(labels[0]) | set(labels[1]), key=place)
    except TypeError:
        raise ValueError(
            f"column {name!r} holds neither numbers nor categories, but e.g. {labels[0][0]!r}; leave it out"
        ) from None
    number = {label: code for code, label in enumerate(categories)}
    return Column(name, "nominal", *(np.array([number[label] for label in some], np.int64) for some in labels), categories)


def target_column(parts: Sequence[tuple[Array, BoolArray]], task: Task | None = None) -> Column:
    """A target as a column: ``numeric`` for a quantity, ``nominal`` for classes."""
    if task not in (None, "regression", "classification"):
        raise ValueError(f"task={task!r} must be 'regression', 'classification' or None (by the values)")
    quantity = task == "regression"
    if task is None and all(_holds_numbers(values[~missing]) and values.dtype.kind not in "Mm" for values, missing in parts):
        together = np.concatenate([values[~missing].astype(np.float64) for values, missing in parts])
        quantity = (together % 1 != 0).any() or len(np.unique(together)) > MOST_CLASSES
    return numeric_column("target", *parts) if quantity else nominal_column("target", *parts)


def target_values(y: TableLike, n: int, role: str = "y") -> tuple[Array, BoolArray]:
    """Values of a target and which are missing, of a table of n rows."""
    y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"{role} has shape {y.shape}; the table has {n} rows")
    values, missing = column_values(y[:, None], 0)
    if missing.any():
        raise ValueError(f"{role} holds {missing.sum()} missing values; drop those rows")
    return values, missing
