"""Cut that the caller states for a table of scores of folds: which fold and repetition every row belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.core.remedies import Given, Number, Remedy
from foldshift.inference._fold_scores import fold_scores
from foldshift.inference.score_tables.score_columns import Columns, TableColumns, find_columns
from foldshift.inference.score_tables.score_forms import measured, named_columns

if TYPE_CHECKING:
    from foldshift.core.types import IntArray

FOLD, REPEAT = "fold of the cut", "repetition of the cut"
Sizes = tuple[float | None, float | None]  # rows of a training and of a test part


class CutTable(NamedTuple):
    """Table of scores whose columns say the fold and the repetition of every row."""

    frame: pd.DataFrame
    columns: TableColumns
    sizes: Sizes


def with_stated_cut(frame: pd.DataFrame, columns: TableColumns, sizes: Sizes, cut: dict[str, Any]) -> CutTable:
    """Add the fold and the repetition of every row of a table, as `cut` states: `cv`, or `n_splits` and `n_repeats`.

    Rows of a learner that no column names are in the order of `cross_val_score`: the folds of the first repetition first.
    """
    if all(value is None for value in cut.values()):
        return CutTable(frame, columns, sizes)
    said = _said(cut)
    frame = named_columns(frame)
    given = {key: str(value) for key, value in columns.items() if value is not None and key not in ("unit", "better")}
    found = find_columns(list(frame.columns), given, measured(frame))
    if columns.get("unit") not in (None, "fold"):
        given_unit = Given("unit", str(columns.get("unit")))
        raise DataError(*said, " says that rows are folds, and ", given_unit, " that they are not; say ", Remedy("unit", "fold"))
    for role, name in (("item", found.item), ("dataset", found.dataset)):
        if name is not None and frame[name].nunique() > 1:
            what = f" says that rows are folds of one data set, but column {name!r} holds the {role}; leave one of them out"
            raise DataError(*said, what)
    for name, value in cut.items():
        if name != "cv" and value is not None and not (isinstance(value, int | np.integer) and value is not True and value >= 1):
            raise DataError(f"{name}={value!r} must be a whole number from 1")
    keys = [name for name in (found.learner, found.repeat, found.fold) if name is not None]
    if frame[keys].isna().any().any():
        return CutTable(frame, columns, sizes)  # refused where tables without a stated cut are
    own = _own_keys(frame, found)
    place = pd.MultiIndex.from_arrays(own).remove_unused_levels()
    splits = pd.MultiIndex.from_tuples(sorted(set(place)))
    try:
        scores, overlap = fold_scores(np.arange(len(splits)), name="every learner", **cut)
    except ValueError as error:
        if cut.get("cv") is not None:
            raise
        both = Number("n_splits", "FOLDS"), " ", Number("n_repeats", "REPETITIONS")
        raise DataError(*said, f" does not fit the {len(splits)} scores of every learner; say ", *both) from error
    r, k = scores.shape
    shape = tuple(len(np.unique(part)) for part in own)
    if min(shape) > 1 and shape != (r, k):
        remedy = Number("n_splits", str(shape[1])), " ", Number("n_repeats", str(shape[0]))
        what = f" makes {r} x {k} repetitions x folds, but the table names {shape[0]} x {shape[1]}; leave it out, or say "
        raise DataError(*said, what, *remedy)
    at = splits.get_indexer(place)
    frame = frame.drop(columns=[name for name in (found.fold, found.repeat) if name is not None])
    frame = frame.assign(**{REPEAT: at // k} | ({FOLD: at % k} if k > 1 else {}))
    named = {key: value for key, value in columns.items() if key not in ("fold", "repeat")}
    named |= {"unit": "fold", "repeat": REPEAT} | ({"fold": FOLD} if k > 1 else {})
    if sizes == (None, None) and k == 1 and overlap is not None and found.n_train is None:
        sizes = (1.0, overlap)
    return CutTable(frame, TableColumns(**named), sizes)  # type: ignore[typeddict-item]


def _said(cut: dict[str, Any]) -> tuple[str | Remedy, ...]:
    """Write the cut as it was given."""
    if cut.get("cv") is not None:
        return ("cv",)
    given = [Given(name, str(value)) for name, value in cut.items() if value is not None]
    return (given[0],) if len(given) == 1 else (given[0], " ", given[1])


def _own_keys(frame: pd.DataFrame, found: Columns) -> tuple[IntArray, IntArray]:
    """Repetition and fold of every row, by the columns of the table; what no column says, by the order of the rows."""
    by = [name for name in (found.learner, found.metric) if name is not None]
    keys = [name for name in (found.repeat, found.fold) if name is not None]
    apart = [*by, *keys]
    order = frame.groupby(apart, observed=True, dropna=False).cumcount().to_numpy() if apart else np.arange(len(frame))
    if by and not keys:
        counts = frame.groupby(by, observed=True, dropna=False).size()
        if counts.nunique() > 1:
            most, least = counts.idxmax(), counts.idxmin()
            what = f"{most!r} has {counts.max()} rows and {least!r} {counts.min()}; to pair them, name the column of folds: "
            raise DataError(what, Remedy("fold", "COLUMN"))
    first = np.zeros_like(order) if found.repeat is None and found.fold is None else order
    return (
        first if found.repeat is None else _codes(frame[found.repeat]),
        order if found.fold is None else _codes(frame[found.fold]),
    )


def _codes(column: pd.Series) -> IntArray:
    """Code labels by their order: of numbers by size, of texts as they come."""
    return pd.factorize(column, sort=bool(pd.api.types.is_numeric_dtype(column)))[0].astype(np.int64)
