"""Columns of a training and a test table, as numbers with NaN or as codes of categories."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.gate.arrays import as_array, is_missing
from foldshift.core.gate.categorical import nominal_columns
from foldshift.core.remedies import Message, Remedy
from foldshift.datasets.readers.infer import are_parts, number_folds
from foldshift.shift.column_values import Values, read_alike
from foldshift.shift.table_versions import FEWEST_ROWS, as_table, is_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, TableLike, Task

MISSING_LABEL = "missing"
NEARLY_ALL = 0.95  # of the rows; a column of texts with so many distinct values is an identifier
FEWEST_OF_INDEX = 20  # rows; in fewer, whole numbers can all differ by chance, without being an index
IDENTIFIER = re.compile(r"(^|[^A-Za-z])([iI][dD]s?|[iI]ndex|INDEX|[uU][uU][iI][dD]|[kK]ey)$|[a-z]I[dD]$|^[uU]nnamed")
MOST_CLASSES = 20  # a target of whole numbers with more distinct values is a quantity


class Column(NamedTuple):
    """One column of both tables: floats with NaN, or the codes of `categories`.

    Dates are numbers of days; an identifier holds numbers or categories.
    """

    name: str
    kind: Literal["numeric", "nominal", "date", "identifier"]
    train: Array
    test: Array
    categories: list[Any]
    is_date: bool = False  # whether the numbers are days since 1970
    note: str = ""  # how the values of both tables were read as one; empty if they are alike
    is_cut: bool = False  # whether it is called an identifier since it says how the rows were cut


def matched_columns(
    train: TableLike, test: TableLike, categorical_features: ArrayLike | None, feature_names: Sequence[str] | None
) -> list[Column]:
    """Match the columns of both tables: by name where both have names, else by position."""
    tables = [as_table(table, role) for table, role in ((train, "training"), (test, "test"))]
    for role, table in zip(("training", "test"), tables):
        if len(table.shape) != 2 or table.shape[1] == 0:
            raise ValueError(f"the {role} table has shape {table.shape}; expected (n_samples, n_features)")
        if len(table) < FEWEST_ROWS:
            raise ValueError(f"the {role} table has {len(table)} rows; a comparison needs at least {FEWEST_ROWS}")
    names, order = _match(*tables)
    named = any(map(is_frame, tables))
    if feature_names is not None:
        if named or len(feature_names) != len(names) or len(set(map(str, feature_names))) != len(names):
            raise ValueError(
                f"feature_names has {len(feature_names)} names; expected {len(names)} that differ, for arrays only "
                "(data frames have their own)"
            )
        names = [str(name) for name in feature_names]
    nominal = _nominal(categorical_features, names)
    columns = []
    for j, name in enumerate(names):
        a, b = column_values(tables[0], j), column_values(tables[1], order[j])
        columns.append(_column(name, a, b, None if nominal is None else nominal[j], named))
    return columns


def _match(train: TableLike, test: TableLike) -> tuple[list[str], Sequence[int]]:
    """Return the names of the columns of the training table, and the position of each in the test table."""
    if is_frame(train) and is_frame(test):
        names, test_names = _names(train, "training"), _names(test, "test")
        absent, extra = [name for name in names if name not in test_names], [name for name in test_names if name not in names]
        if absent or extra:
            parts = [
                f"{what} {', '.join(map(repr, some))}" for what, some in (("lacks", absent), ("has in addition", extra)) if some
            ]
            raise ValueError(f"the tables have different columns: the test table {' and '.join(parts)}; give both the same")
        return names, [test_names.index(name) for name in names]
    n_features = train.shape[1]
    if n_features != test.shape[1]:
        raise ValueError(f"the training table has {n_features} columns, the test table {test.shape[1]}; give both the same")
    given = [_names(table, "given") for table in (train, test) if is_frame(table)]
    return given[0] if given else [f"feature {j}" for j in range(n_features)], range(n_features)


def _names(table: pd.DataFrame, role: str) -> list[str]:
    names = [str(name) for name in table.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the {role} table has more than one column {', '.join(map(repr, twice))}; names must differ")
    return names


def _column(name: str, train: Values, test: Values, nominal: bool | None, named: bool) -> Column:
    """Make a column of the kind that it was declared or, if `nominal` is None, that the values of both tables show."""
    if named and nominal is not False:
        train, test, note = read_alike(train, test)
        if note:
            return _column(name, train, test, nominal, named)._replace(note=note)
    if nominal:
        return nominal_column(name, train, test)
    if _are_dates(train.values) and _are_dates(test.values):
        return Column(name, "date", _days(train), _days(test), [])
    if nominal is None and named and not (_holds_numbers(train.present()) and _holds_numbers(test.present())):
        return _or_identifier(nominal_column(name, train, test))
    column = numeric_column(name, train, test)
    return _or_identifier(column) if named else column


def without_left_out(
    columns: list[Column], keep: Sequence[str], dates: Literal["leave out", "keep"]
) -> tuple[list[Column], list[str]]:
    """Select the columns to test, without identifiers and (if `dates` is "leave out") dates; add a note for each one left out."""
    names = [column.name for column in columns]
    if isinstance(keep, str) or any(str(name) not in names for name in keep):
        raise ValueError(f"keep={keep!r} must be a list of names of columns; columns are {', '.join(map(repr, names))}")
    kept, notes = [], list[str]()
    for column in columns:
        wanted = column.name in map(str, keep)
        notes += [f"{column.name!r} {column.note}."] if column.note else []
        if column.kind == "identifier" and not wanted:
            why = "says how the rows were cut" if column.is_cut else "looks like an identifier (as many values as rows)"
            what = f"{column.name!r} was left out: it {why}; to test it, say "
            notes.append(Message(what, Remedy("keep", (column.name,)), "."))
        elif column.kind == "date" and dates == "leave out" and not wanted:
            ranges = [_range(part) for part in (column.train, column.test)]
            what = (
                f"{column.name!r} was left out: it holds dates ({ranges[0]} in the training table, {ranges[1]} in the test "
                "table), and that they differ is no news; to test it as a quantity in time, say "
            )
            notes.append(Message(what, Remedy("keep", (column.name,)), "."))
        else:
            kept.append(column._replace(kind="nominal" if column.categories else "numeric", is_date=column.kind == "date"))
    return kept, notes


def _range(days: FloatArray) -> str:
    days = days[~np.isnan(days)]
    if not len(days):
        return "none"
    ends = [str(np.datetime64(int(np.floor(end)), "D")) for end in (days.min(), days.max())]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _or_identifier(column: Column) -> Column:
    """Mark a column as an identifier if it looks like one: (nearly) as many texts as rows, or whole numbers that differ.

    Whole numbers must also fill at least half of their range, as an index does, or have the name of an identifier: prices can
    differ in every row too. Folds and parts of a split are identifiers, too.
    """
    parts = [column.train, column.test]
    if column.categories:
        gone = column.categories.index(MISSING_LABEL) if MISSING_LABEL in column.categories else -1
        if are_parts(label for code, label in enumerate(column.categories) if code != gone):
            return column._replace(kind="identifier", is_cut=True)
        shares = [len(np.unique(part[part != gone])) / len(part) for part in parts]
        return column._replace(kind="identifier") if min(shares) >= NEARLY_ALL else column
    if number_folds(column.name, np.concatenate(parts)):
        return column._replace(kind="identifier", is_cut=True)
    if min(map(len, parts)) < FEWEST_OF_INDEX or any(np.isnan(part).any() or (part % 1 != 0).any() for part in parts):
        return column
    if any(len(np.unique(part)) < len(part) for part in parts):
        return column
    together = np.unique(np.concatenate(parts))
    dense = len(together) >= (together[-1] - together[0] + 1) / 2
    return column._replace(kind="identifier") if dense or IDENTIFIER.search(column.name) else column


def _are_dates(values: Array) -> bool:
    """Return True for dates: by the type of the column, or, in a column of objects, of every object that is not missing."""
    if values.dtype.kind == "M":
        return True
    present = [value for value in values if not is_missing(value)] if values.dtype.kind == "O" else []
    return bool(present) and all(isinstance(value, date | pd.Period) for value in present)


def _days(column: Values) -> FloatArray:
    """Convert dates to days since 1970, NaN where missing; those with a time zone in UTC."""
    values, missing = column
    if values.dtype.kind == "O":
        given = [value.to_timestamp() if isinstance(value, pd.Period) else value for value in values[~missing]]
        known = pd.to_datetime(pd.Series(given, dtype=object), utc=True).dt.tz_localize(None).to_numpy()
    else:
        known = values[~missing]
    out = np.full(len(values), np.nan)
    out[~missing] = (known - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    return out


def _nominal(categorical_features: ArrayLike | None, names: list[str]) -> BoolArray | None:
    """Make the mask of the nominal columns from names, positions or a mask; None where the types decide."""
    if categorical_features is None:
        return None
    given = as_array(categorical_features, "categorical_features")
    if given.dtype.kind in "UO" and given.size:
        absent = [name for name in map(str, given) if name not in names]
        if absent:
            raise ValueError(
                f"categorical_features names {', '.join(map(repr, absent))}; columns are {', '.join(map(repr, names))}"
            )
        return np.isin(names, [str(name) for name in given])
    return nominal_columns(given if given.size else None, len(names))


def column_values(table: TableLike, j: int) -> Values:
    """Get the values of the column at position `j`."""
    if is_frame(table):
        column = table.iloc[:, j]
        if column.dtype.kind == "c":
            raise ValueError(
                f"column {str(table.columns[j])!r} holds complex numbers; give real and imaginary parts as two columns"
            )
        missing = np.asarray(column.isna(), dtype=bool)
        return Values(np.asarray(column.astype(object)) if column.dtype.kind not in "fiuMm" else np.asarray(column), missing)
    values = table[:, j]
    return Values(values, np.asarray(pd.isna(values), dtype=bool))


def _holds_numbers(values: Array) -> bool:
    """Return True for numbers and durations; and for dates, which are refused by name if the other table has none."""
    if values.dtype.kind in "fiuMm":
        return True
    return values.dtype.kind == "O" and all(
        isinstance(value, (int, float, np.integer, np.floating, Decimal)) and not isinstance(value, bool) for value in values
    )  # fmt: skip


def numeric_column(name: str, train: Values, test: Values) -> Column:
    """Make a column of numbers; durations are days."""
    return Column(name, "numeric", _as_floats(name, train, "training"), _as_floats(name, test, "test"), [])


def _as_floats(name: str, column: Values, role: str) -> FloatArray:
    values, missing = column
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
    return out


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def nominal_column(name: str, train: Values, test: Values) -> Column:
    """Make a column of categories; missing is one of them."""
    labels = [
        [MISSING_LABEL if gone else value for value, gone in zip(values.tolist(), missing)] for values, missing in (train, test)
    ]

    def place(label: Any) -> tuple[int, str, Any]:  # numbers before texts before others
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
    codes = [np.array([number[label] for label in some], np.int64) for some in labels]
    return Column(name, "nominal", codes[0], codes[1], categories)


def target_column(train: Values, test: Values, task: Task | None = None) -> Column:
    """Make the column of a target: ``numeric`` for a quantity, ``nominal`` for classes."""
    if task not in (None, "regression", "classification"):
        raise ValueError(f"task={task!r} must be 'regression', 'classification' or None (by the values)")
    quantity = task == "regression"
    parts = (train, test)
    if task is None and all(_holds_numbers(part.present()) and part.values.dtype.kind not in "Mm" for part in parts):
        together = np.concatenate([part.present().astype(np.float64) for part in parts])
        quantity = bool((together % 1 != 0).any()) or len(np.unique(together)) > MOST_CLASSES
    return numeric_column("target", train, test) if quantity else nominal_column("target", train, test)


def target_values(y: TableLike, n: int, role: str = "y") -> Values:
    """Get the values of the target of a table with n rows; raise if one is missing."""
    y = as_array(y, role)
    if y.dtype.kind == "c":
        raise ValueError(f"{role} holds complex numbers; give the real part, or labels")
    if y.shape != (n,):
        raise ValueError(f"{role} has shape {y.shape}; the table has {n} rows")
    column = column_values(y[:, None], 0)
    if column.missing.any():
        raise ValueError(f"{role} holds {column.missing.sum()} missing values; drop those rows")
    return column
