"""Columns of a training and a test table: numbers with NaN, or codes of categories."""

from typing import NamedTuple

import numpy as np

from foldshift.nominal import nominal_columns
from foldshift.shift.two_sample import FEWEST_ROWS

MISSING_LABEL = "missing"


class Column(NamedTuple):
    """Values of one column: floats with NaN, or the numbers of `categories`."""

    name: str
    kind: str
    train: np.ndarray
    test: np.ndarray
    categories: list


def _is_frame(table):
    return hasattr(table, "columns") and hasattr(table, "iloc")


def _names(table, role):
    names = [str(name) for name in table.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the {role} table has more than one column {', '.join(map(repr, twice))}; names must differ")
    return names


def matched_columns(train, test, categorical_features, feature_names):
    """Columns of both tables, matched by name where both have names.

    Parameters
    ----------
    train, test : DataFrame or array-like of shape (n_samples, n_features)
    categorical_features, feature_names
        As of `foldshift.shift.drift.DriftReport`.

    Returns
    -------
    columns : list of Column
        In the order of `train`.

    Raises
    ------
    ValueError
        If the tables do not have the same columns, one is too small, or a column of numbers holds anything else.
    """
    frames = [_is_frame(table) for table in (train, test)]
    tables = [table if is_frame else np.asarray(table) for table, is_frame in zip((train, test), frames)]
    for role, table in zip(("training", "test"), tables):
        if len(table.shape) != 2 or table.shape[1] == 0:
            raise ValueError(f"the {role} table has shape {table.shape}; expected (n_samples, n_features)")
        if len(table) < FEWEST_ROWS:
            raise ValueError(f"the {role} table has {len(table)} rows; a comparison needs at least {FEWEST_ROWS}")
    order = None
    if all(frames):
        names, test_names = _names(train, "training"), _names(test, "test")
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
        framed = [_names(table, "given") for table, is_frame in zip((train, test), frames) if is_frame]
        names = framed[0] if framed else [f"feature {j}" for j in range(tables[0].shape[1])]
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
        given = nominal is not None and nominal[j]
        by_type = nominal is None and any(frames) and not all(_holds_numbers(values[~missing]) for values, missing in (a, b))
        columns.append(nominal_column(name, a, b) if given or by_type else numeric_column(name, a, b))
    return columns


def _nominal(categorical_features, names):
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


def column_values(table, j):
    """Values of a column as an array, and which are missing."""
    if _is_frame(table):
        column = table.iloc[:, j]
        missing = np.asarray(column.isna(), dtype=bool)
        return (np.asarray(column.astype(object)) if column.dtype.kind not in "fiuMm" else np.asarray(column)), missing
    values = table[:, j]
    if values.dtype.kind == "O":
        return values, np.array([value is None or value != value for value in values], dtype=bool)
    return values, np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def _holds_numbers(values):
    """Whether a column of a data frame is one of numbers; dates count, to be refused by name."""
    if values.dtype.kind in "fiuMm":
        return True
    return values.dtype.kind == "O" and all(
        isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) for value in values
    )  # fmt: skip


def numeric_column(name, *parts):
    """A column of numbers.

    Parameters
    ----------
    name : str
    *parts : tuple of (ndarray, ndarray of bool)
        Values of the training and of the test table, and which are missing; see `column_values`.

    Returns
    -------
    column : Column
        NaN where a value is missing.

    Raises
    ------
    ValueError
        If a value is no number, or infinite.
    """
    arrays = []
    for (values, missing), role in zip(parts, ("training", "test")):
        if values.dtype.kind in "Mm":
            raise ValueError(f"column {name!r} of the {role} table holds dates; turn them into numbers, e.g. days")
        out = np.full(len(values), np.nan)
        try:
            out[~missing] = values[~missing].astype(np.float64)
        except (TypeError, ValueError):
            wrong = next(value for value in values[~missing] if not _is_number(value))
            raise ValueError(
                f"column {name!r} of the {role} table holds {wrong!r}, which is no number; name it in "
                "categorical_features if it is nominal"
            ) from None
        if np.isinf(out).any():
            raise ValueError(f"column {name!r} of the {role} table holds infinite values; replace them or mark them as missing")
        arrays.append(out)
    return Column(name, "numeric", *arrays, [])


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def nominal_column(name, *parts):
    """A column of categories, of which missing is one; parameters as of `numeric_column`."""
    labels = [[MISSING_LABEL if gone else value for value, gone in zip(values.tolist(), missing)] for values, missing in parts]

    def place(label):  # numbers before texts
        return (True, label, 0) if isinstance(label, str) else (False, 0, label)

    categories = sorted(set(labels[0]) | set(labels[1]), key=place)
    number = {label: code for code, label in enumerate(categories)}
    return Column(name, "nominal", *(np.array([number[label] for label in some], np.int64) for some in labels), categories)


def is_quantity(parts):
    """Whether a target is a quantity and not classes: numbers that are not all whole."""
    return all(values.dtype.kind in "fiu" for values, _ in parts) and any((values % 1 != 0).any() for values, _ in parts)
