"""The user's tables, for the commands."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import numpy as np
import pandas as pd

from foldshift.command.table_options import TableOptions
from foldshift.core.errors import DataError
from foldshift.datasets.readers.compression import opened
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.read_options import ReadOptions

if TYPE_CHECKING:
    from foldshift.core.types import Array, Task
    from foldshift.datasets.readers.raw_table import RawTable

MOST_CLASSES = 20  # whole numbers up to which a target is taken for classes
MOST_BYTES = 2**30  # of a decompressed table; the user trusts it, so more than for a download
_REMEDY = re.compile(r"\b(keep|drop|nominal)=([^\s,]+(?:,[^\s,]+)*)(, \.\.\.)? in the source")
_ARGUMENT = re.compile(r"\bkeep=\[(['\"])(.*?)\1\]")
_WORDS = {
    "take a study of regression": "say --task regression",
    "set target to another column": "take another --target",
    "write nominal=": "say nominal=",
    "leave it out (drop)": "leave it out (--drop)",
    "name one with member=": "pack one alone",
}


def read(file: str, options: TableOptions) -> RawTable:
    """Read a user's table: a path, compressed or not, or ``-`` for standard input."""
    target = options.target or ""
    how = ReadOptions(
        own=True, target=target, groups=options.groups or "", drop=options.drop, keep=options.keep, nominal=options.nominal
    )
    name = "standard input" if file == "-" else file
    try:
        name, data, how = opened(_content(file), name, how, MOST_BYTES)
        table = read_table(data, name, how, task=options.task or "", target=target)
    except DataError as error:
        raise DataError(as_options(str(error))) from error
    table.notes[:] = [as_options(note) for note in table.notes]
    return table


def as_options(text: str) -> str:
    """Rewrite remedies for the source of a study, or for Python, as options of a command.

    Examples
    --------
    >>> as_options("write nominal=built%20in,b in the source if they are labels")
    "say --nominal 'built in' --nominal b if they are labels"
    """
    for written, said in _WORDS.items():
        text = text.replace(written, said)
    return _ARGUMENT.sub(lambda found: f"--keep {shlex.quote(found[2])}", _REMEDY.sub(_options, text))


def _options(found: re.Match[str]) -> str:
    names = [f"--{found[1]} {shlex.quote(unquote(name))}" for name in found[2].split(",")]
    return " ".join([*names, "..."] if found[3] else names)


def _content(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    path = Path(file)
    if path.is_dir():
        raise DataError(f"{file} is a folder; give a file, such as {file.rstrip('/')}/data.csv")
    if not path.exists():
        near = sorted(path.parent.glob(f"*{path.suffix}"))[:5] if path.parent.is_dir() else []
        raise DataError(f"there is no file {file}" + (f"; beside it: {', '.join(one.name for one in near)}" if near else ""))
    return path.read_bytes()


class TargetAndInputs(NamedTuple):
    """Inputs, target and groups of a table, the task, and notes on how it was read."""

    X: pd.DataFrame
    y: pd.Series
    groups: Array | None
    task: Task
    notes: list[str]


def target_and_inputs(table: RawTable, task: Task | None = None) -> TargetAndInputs:
    """Take a table apart; without a task, texts are classes, and so are whole numbers of at most 20 different values."""
    frame, notes = table.frame, list(table.notes)
    gone = frame[table.target].isna().to_numpy()
    if table.groups:
        without = frame[table.groups].isna().to_numpy() & ~gone
        if without.any():
            raise DataError(f"{int(without.sum())} rows have no value of {table.groups!r}; every row belongs to a group")
    if gone.any():
        notes.append(f"{int(gone.sum())} rows without a value of {table.target!r} were left out")
        frame = frame.loc[~gone].reset_index(drop=True)
    if not table.features:
        raise DataError(f"the table has no column but {table.target!r}; there is nothing to predict it from")
    column = frame[table.target]
    labels = column.dtype.kind == "O" or isinstance(column.dtype, pd.CategoricalDtype)
    if task is None:
        task = "classification"
        if not labels:
            values = np.unique(column.to_numpy())
            if (values % 1 == 0).all() and len(values) <= MOST_CLASSES:
                notes.append(
                    f"{table.target!r} holds {len(values)} whole numbers and was taken for classes; else say --task regression"
                )
            else:
                task = "regression"
    y = column.astype(object).to_numpy() if labels else column.to_numpy()
    y = np.asarray([str(value) for value in y]) if task == "classification" and labels else np.asarray(y)
    if task == "regression" and y.dtype.kind not in "iuf":
        raise DataError(f"{table.target!r} holds {y[0]!r}, which is not a number; say --task classification, or another --target")
    if task == "classification" and y.dtype.kind == "f" and (y % 1 == 0).all():
        y = y.astype(np.int64)
    groups = frame[table.groups].astype(object).to_numpy() if table.groups else None
    return TargetAndInputs(frame[table.features], pd.Series(y, name=table.target), groups, task, notes)


def frames_of(files: Sequence[str], drop: Sequence[str] = (), keep: Sequence[str] = ()) -> tuple[list[pd.DataFrame], list[str]]:
    """Read tables with the same columns, none of which is a target; also return notes on columns that were left out."""
    tables = [read(file, TableOptions(keep=tuple(keep))) for file in files]
    left_out = {name: why for table in tables for name, why in table.left_out.items() if name not in drop}
    frames, notes = [], []
    for file, table in zip(files, tables):
        names = [*map(str, table.frame.columns), *table.left_out]
        absent = [name for name in drop if name not in names]
        if absent:
            raise DataError(f"{file}: there is no column {absent[0]!r} to drop; columns are {', '.join(names)}")
        # Columns that one table leaves out are left out of all: ids that go on in the next table do not look like row numbers.
        frames.append(table.frame.drop(columns=[name for name in (*drop, *left_out) if name in table.frame]))
        notes += [f"{file}: {note}" for note in table.notes if not note.startswith("left out of the inputs")]
    if left_out:
        options = " ".join(f"--keep {shlex.quote(name)}" for name in left_out)
        notes.append(f"left out: {'; '.join(f'{name} ({why})' for name, why in left_out.items())}; to compare them: {options}")
    return frames, notes


def folds_of(table: RawTable, task: Task | None, partitioner: str | None, n_folds: int, n_seeds: int) -> tuple[str, list[str]]:
    """Cut a table into folds: csv (the row in the file from 1, folds from 0 for every seed), and notes on how it was read."""
    from foldshift.advice.data import as_data
    from foldshift.partition.registry import PARTITIONERS, find_partitioner, make_folds, options_of

    X, y, groups, task, notes = target_and_inputs(table, task)
    data = as_data(X, y.to_numpy(), task=task, groups=groups)
    name = partitioner or ("SCV" if task == "classification" else "TSCV")
    if groups is not None and partitioner is None:
        name = "CB-SCV" if task == "classification" else "CB-TSCV"
    known, codes = find_partitioner(name), data.codes
    if groups is not None and "groups" not in known.takes:
        able = [one for one, about in PARTITIONERS.items() if "groups" in about.takes]
        raise DataError(f"--partitioner {name} does not keep groups together; those that do: {', '.join(able)}")
    options = options_of(name, categorical_features=data.nominal, groups=data.groups, task=task)
    if known.looks_at_inputs and np.isnan(codes).any() and not name.startswith("CB-"):
        raise DataError(f"--partitioner {name} needs inputs without missing values; CB-SCV, CB-TSCV and CB-CV take them")
    target = data.target.astype(np.int64) if task == "classification" else data.target
    folds = make_folds(name, codes, target, n_folds=n_folds, seeds=range(n_seeds), **options)
    rows = np.flatnonzero(~table.frame[table.target].isna().to_numpy()) + 1
    out = pd.DataFrame(folds.T, columns=[f"seed_{seed}" for seed in range(n_seeds)])
    out.insert(0, "row", rows)
    text = io.StringIO()
    out.to_csv(text, index=False, lineterminator="\n")
    return text.getvalue(), notes
