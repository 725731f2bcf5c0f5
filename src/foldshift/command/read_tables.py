"""The user's tables, for the commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError, unknown
from foldshift.core.remedies import Given, Message, Remedy, at
from foldshift.datasets.own_files import bytes_of, read_bytes, task_of_numbers
from foldshift.datasets.readers.columns.joint_reading import read_together
from foldshift.datasets.readers.infer import MANY_LABELS
from foldshift.datasets.readers.raw_table import RawTable, missing_counts
from foldshift.datasets.readers.read_options import make_options

if TYPE_CHECKING:
    from foldshift.command.table_options import Structure, TableOptions
    from foldshift.core.types import Array, Task
    from foldshift.shift.report.drift_report import DriftReport


def read(file: str, options: TableOptions, has_target: bool = True) -> RawTable:
    """Read a user's table: a path, compressed or not, or ``-`` for standard input."""
    return read_bytes(*given(file), options.reading, task=options.task or "", has_target=has_target)


def given(file: str) -> tuple[bytes, str]:
    """Bytes and name of a file, or of standard input for ``-``."""
    return (sys.stdin.buffer.read(), "standard input") if file == "-" else (bytes_of(file), file)


def read_all_columns(file: str, options: TableOptions) -> RawTable:
    """Read a table without a target, and with all of its columns, whatever they look like."""
    data, name = given(file)
    table = read_bytes(data, name, options.reading, has_target=False)
    return read_bytes(data, name, options.reading | {"keep": (*table.frame.columns, *table.left_out)}, has_target=False)


def read_with_structure(file: str, options: TableOptions, structure: Structure) -> RawTable:
    """Read a user's table, with the columns of its structure, whatever they look like: dates become days since 1970."""
    data, name = given(file)
    table = read_bytes(data, name, options.reading, task=options.task or "")
    known = [*map(str, table.frame.columns), *map(str, table.left_out)]
    if len(set(structure.space_on)) < len(structure.space_on):
        raise DataError(
            Given("space_on", structure.space_on), " names one column twice; name two, such as those of east and north"
        )
    for option, column in structure.named:
        if column in options.reading["drop"]:
            raise DataError(
                Given(option, structure.words(option)), f": {column!r} is among the dropped columns; drop another one"
            )
        if column not in known:
            raise DataError(Given(option, structure.words(option)), f": {unknown('column', column, known)}")
    wanted = [column for _, column in structure.named if column in table.left_out]
    if not wanted:
        return table
    keep = dict.fromkeys((*options.reading["keep"], *wanted))
    return read_bytes(data, name, {**options.reading, "keep": tuple(keep)}, task=options.task or "")


class TargetAndInputs(NamedTuple):
    """Inputs, target and groups of a table, the task, and notes on how it was read."""

    X: pd.DataFrame
    y: pd.Series
    groups: Array | None
    task: Task
    notes: list[str]


def target_and_inputs(table: RawTable, task: Task | None = None) -> TargetAndInputs:
    """Take a table apart; without a task, texts are classes, and so are a few whole numbers that are not counts."""
    frame, notes = table.frame, list(table.notes)
    gone = frame[table.target].isna().to_numpy()
    if table.groups:
        without = frame[table.groups].isna().to_numpy() & ~gone
        if without.any():
            raise DataError(f"{int(without.sum())} rows have no value of {table.groups!r}; every row belongs to a group")
    if gone.all():
        about = [part for note in notes if note.startswith(f"{table.target}: ") for part in (note, "; ")]
        raise DataError(
            f"the target {table.target!r} has no value in any row; ",
            *about,
            "fill it in",
            *([", or name another: ", Remedy("target", table.features[-1])] if table.features else []),
        )
    if gone.any():
        notes.append(f"{int(gone.sum())} rows without a value of {table.target!r} were left out")
        frame = frame.loc[~gone].reset_index(drop=True)
    if not table.features:
        raise DataError(f"the table has no column but {table.target!r}; there is nothing to predict it from")
    _check_finite(table.frame)
    column = frame[table.target]
    labels = column.dtype.kind == "O" or isinstance(column.dtype, pd.CategoricalDtype)
    if task is None:
        task = "classification" if labels else task_of_numbers(column.to_numpy(), table, notes)
    if len(column) > 1 and column.nunique() < 2:
        what = f"the target {table.target!r} is {column.iloc[0]!r} in every row; there is nothing to predict; "
        raise DataError(what, "name another: ", Remedy("target", table.features[-1]))
    if task == "classification" and column.nunique() > MANY_LABELS * len(column) >= 1:
        about = [part for note in notes if note.startswith(f"{table.target}: ") for part in ("; ", note)]
        shown = ", ".join(repr(value) for value in column.unique()[:2])
        what = (
            f"the target {table.target!r} names rows, not classes: {column.nunique()} labels in {len(column)} rows ({shown}, ...)"
        )
        raise DataError(what, *about, "; or take another target" if about else "; take another target")
    y = column.astype(object).to_numpy() if labels else column.to_numpy()
    y = np.asarray([str(value) for value in y]) if task == "classification" and labels else np.asarray(y)
    if task == "regression" and y.dtype.kind not in "iuf":
        other = Remedy("task", "classification")
        raise DataError(f"{table.target!r} holds {y[0]!r}, which is not a number; take ", other, ", or another target")
    if task == "classification" and y.dtype.kind == "f" and (y % 1 == 0).all():
        y = y.astype(np.int64)
    groups = frame[table.groups].astype(object).to_numpy() if table.groups else None
    return TargetAndInputs(frame[table.features], pd.Series(y, name=table.target), groups, task, notes)


class Declared(NamedTuple):
    """Columns of a table that say how its rows belong together, of the rows that have a target; None for those not named."""

    times: pd.Series | None
    coordinates: pd.DataFrame | None
    subsets: Array | None
    row_names: pd.Series | None = None  # of the first column that was left out since it names rows


def declared(table: RawTable, found: TargetAndInputs, structure: Structure) -> tuple[TargetAndInputs, Declared]:
    """Take times, coordinates and subsets out of a table; times and subsets are then no inputs, like groups."""
    has_target = table.frame[table.target].notna().to_numpy()
    frame = table.frame.loc[has_target].reset_index(drop=True)
    names = next((pd.Series(labels[has_target], name=name) for name, labels in table.row_names.items()), None)
    for option, column in structure.named:
        if column == table.target:
            raise DataError(Given(option, structure.words(option)), f": {column!r} is the target; name another column")
        if frame[column].isna().any():
            n = int(frame[column].isna().sum())
            rows = f"{n} row{' has' if n == 1 else 's have'}"
            raise DataError(Given(option, structure.words(option)), f": {rows} no value of {column!r}; fill it in")
        if option == "time_on" and frame[column].dtype.kind not in "iufMm":
            shown = f": {column!r} holds {frame[column].iloc[0]!r}, which is no date and no number; name another column"
            raise DataError(Given(option, structure.words(option)), shown)
        if option == "space_on" and frame[column].dtype.kind not in "iuf":
            raise DataError(Given(option, structure.words(option)), f": {column!r} holds {frame[column].iloc[0]!r}, not numbers")
    gone = [one for one in (structure.time_on, structure.subset_on) if one is not None and one in found.X.columns]
    X = found.X.drop(columns=gone)
    if not X.shape[1]:
        raise DataError(
            f"the table has no column but {', '.join(map(repr, [*gone, table.target]))}; nothing is left to predict from"
        )
    return found._replace(X=X), Declared(
        None if structure.time_on is None else frame[structure.time_on],
        frame[list(structure.space_on)] if structure.space_on else None,
        None if structure.subset_on is None else frame[structure.subset_on].astype(object).to_numpy(),
        names,
    )


def _check_finite(frame: pd.DataFrame, file: str = "") -> None:
    """Refuse infinite numbers, with their column and row."""
    for name in frame.columns:
        if frame[name].dtype.kind != "f":
            continue
        infinite = np.isinf(frame[name].to_numpy())
        if infinite.any():
            n, row = int(infinite.sum()), int(infinite.argmax()) + 1
            begin = f"{file}: " if file else ""
            what = f"{begin}column {name!r} holds {n} infinite value{'s' * (n > 1)}, the first in row {row}; "
            remedy = Remedy("missing", ("inf", "-inf", "Infinity", "-Infinity"))
            raise DataError(what, "correct the file, or read them as missing: ", remedy)


def predicted(table: RawTable, found: TargetAndInputs) -> str:
    """Say what is predicted, for the first line of an answer."""
    n = len(found.y)
    what = f"{found.y.nunique()} classes" if found.task == "classification" else "a quantity"
    return f"The target is {table.target!r} ({what}), the last column that can be one, in {n} rows of {found.X.shape[1]} inputs."


def tables_to_compare(files: Sequence[str], options: TableOptions) -> tuple[list[pd.DataFrame], list[str]]:
    """Read two tables with the same columns as one, without a target; also return notes on how they were read."""
    if list(files) == ["-", "-"]:
        raise DataError("both tables are standard input, which is read once; give a file for one of them")
    each = options._replace(reading={**options.reading, "drop": ()})
    tables = [read(file, each, has_target=False) for file in files]
    notes = list[str]()
    for file, table in zip(files, tables):
        of_columns = [] if table.source is None else table.source.notes
        notes += [Message(f"{file}: ", note) for note in table.notes if not any(note is one for one in of_columns)]
    frames, left_out, more = read_together(tables, files, make_options(options.reading))
    if left_out:
        reasons = "; ".join(f"{name} ({why})" for name, why in left_out.items())
        if not len(frames[0].columns):
            what = f"there is nothing to compare: every column was left out: {reasons}; to compare them: "
            raise DataError(what, Remedy("keep", tuple(left_out)))
        more.append(Message(f"left out: {reasons}; to compare them: ", Remedy("keep", tuple(left_out))))
    return frames, notes + more


def drift_of(files: Sequence[str], options: TableOptions, **how: Any) -> tuple[DriftReport, list[str]]:
    """Compare two tables; also return notes on how they were read."""
    from foldshift.shift.columns import FEWEST_ROWS
    from foldshift.shift.report.drift_report import DriftReport

    frames, notes = tables_to_compare(files, options)
    for file, frame in zip(files, frames):
        _check_finite(frame, file)
        if len(frame) < FEWEST_ROWS:
            rows = f"{len(frame)} row{'s' * (len(frame) != 1)}"
            raise DataError(f"{file} has {rows}; a comparison needs at least {FEWEST_ROWS} in each table; collect more first")
    dates = [name for name in frames[0] if frames[0][name].dtype.kind == "M"]
    keep = [*dates, *(name for name in options.reading["keep"] if name in frames[0])]
    report = DriftReport(*frames, keep=keep, **how)
    report.notes[:] = [at(note, "command") for note in report.notes]
    if _same_rows(*frames):
        notes.append("both tables hold the same rows, as if one file was given twice")
    return report, notes


def _same_rows(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Say whether two tables of the same columns hold the same rows, in any order."""
    one, other = (np.sort(pd.util.hash_pandas_object(frame[list(first)], index=False)) for frame in (first, second))
    return np.array_equal(one, other)


def receipt_of(file: str, options: TableOptions, as_json: bool) -> str:
    """Write how a file is read: every decision, how sure it is, and the option that overrules it."""
    table = read(file, options)
    missing = missing_counts(table)
    rows = table.receipt.rows("command")
    for name in [*table.frame.columns, *table.left_out]:
        rows.append(_column_row(str(name), table, missing))
    if as_json:
        about = {"file": file, "n_rows": len(table.frame), "target": table.target, "decisions": rows, "notes": []}
        return json.dumps(about | {"notes": [at(note, "command") for note in table.notes]}, indent=1, ensure_ascii=False)
    width = [max(len(row[key]) for row in rows) for key in ("about", "read_as")]
    lines = [f"{file}: {len(table.frame)} rows, {len(table.features)} inputs, target {table.target!r}"]
    for row in rows:
        options_text = ", or ".join(row["overrule"])
        line = f"  {row['about']:<{width[0]}}  {row['read_as']:<{min(width[1], 60)}}  {row['sure']:<6}  {options_text}"
        lines.append(line.rstrip())
    return "\n".join([*lines, *(f"Note: {at(note, 'command').rstrip('.')}." for note in table.notes)])


def _column_row(name: str, table: RawTable, missing: dict[str, int]) -> dict[str, Any]:
    """Describe how one column is read."""
    if name in table.left_out:
        words, overrule = f"left out: {table.left_out[name]}", [Remedy("keep", (name,)).at("command")]
    else:
        kind = table.kinds[name]
        words = ("target, " if name == table.target else "groups, " if name == table.groups else "") + kind
        words += f", {table.frame[name].nunique()} labels" if kind == "nominal" else ""
        words += f", {missing[name]} missing" if name in missing else ""
        overrule = [] if kind == "nominal" else [Remedy("types", ((name, "nominal"),)).at("command")]
    return {"about": f"column {name}", "read_as": words, "sure": "likely", "overrule": overrule}
