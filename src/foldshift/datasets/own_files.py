"""User-defined files: one reader for the command, for Python and for the workflow."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.files import check_is_path
from foldshift.core.remedies import Message, Remedy
from foldshift.datasets.readers.compression import opened
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.read_options import make_options

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, PathLike, Scaling, Task, TaskIfKnown
    from foldshift.datasets.dataset import Dataset
    from foldshift.datasets.readers.raw_table import RawTable

_ADDRESS = re.compile(r"(?i)[a-z][a-z0-9+.-]+:/{1,2}")
MOST_BYTES = 2**30  # of an unpacked table; the user trusts it, so more than for a download
MOST_CLASSES = 20  # whole numbers up to which a target may hold classes
SURELY_CLASSES = 4  # whole numbers up to which it does
RARE = 0.5  # of an equal share; whole numbers of which one is rarer are counts


def read_file(file: PathLike, *, task: TaskIfKnown = "", has_target: bool = True, **options: Any) -> RawTable:
    """Read a table from a file, packed or not: csv, tsv, other text, ARFF, KEEL, Excel or Parquet.

    What the options do not say is decided by the content, and said in the receipt.

    Parameters
    ----------
    file : path-like
        Path of the file.
    task : {"", "regression", "classification"}, default=""
        Kind of the target; empty: by its values.
    has_target : bool, default=True
        Whether one column is the target; by default the last one that can be.
    **options
        ``target``, ``groups``, and the options of reading: ``sep, header, names, encoding, decimal, thousands, missing, sheet,
        skip_rows, keep, drop, types, nominal, member``. They are those of the command and of a source in the workflow.

    Returns
    -------
    table : foldshift.datasets.readers.raw_table.RawTable
        ``frame``, ``target``, ``kinds``, ``notes``, ``left_out`` and ``receipt``, the record of every decision.

    Raises
    ------
    DataError
        If the file cannot be read; the message names file, line or column, and what to change.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from foldshift.datasets import read_file
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "flats.csv")
    ...     _ = file.write_text("area;price\\n70,5;1.200\\n32;950\\n48;1.100\\n")
    ...     table = read_file(file, target="price")
    >>> table.frame["price"].tolist(), table.frame["area"].tolist()
    ([1200.0, 950.0, 1100.0], [70.5, 32.0, 48.0])
    >>> [(row["about"], row["read_as"]) for row in table.receipt.rows("python")][2:4]
    [('separator', 'fields are separated by semicolons'), ('names', 'the names of the columns are in line 1')]
    """
    return read_bytes(bytes_of(file), str(file), options, task=task, has_target=has_target)


def read_bytes(
    data: bytes, name: str, options: Mapping[str, Any], *, task: TaskIfKnown = "", has_target: bool = True
) -> RawTable:
    """Read a table from the bytes of a file; see `read_file`."""
    how = replace(make_options(options), own=True, has_target=has_target)
    name, data, how = opened(data, name, how, MOST_BYTES)
    return read_table(data, name, how, task=task, target=how.target)


def bytes_of(file: PathLike) -> bytes:
    """Read the bytes of a file; the error says what is there instead."""
    check_is_path(file)
    path = Path(file)
    if _ADDRESS.match(str(file)) and not path.exists():
        raise DataError(f"{file} is an address, not a file; fetch it first, such as by `curl -LO {file}`, and give the file")
    if path.is_dir():
        raise DataError(f"{file} is a folder; give a file, such as {path / 'data.csv'}")
    if not path.exists():
        beside = sorted(one.name for one in path.parent.iterdir() if one.is_file()) if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, beside, n=3)
        alike = [name for name in beside if name.endswith(path.suffix)][:5]
        hint = (
            f"; did you mean {', '.join(near)}?" if near else f"; beside it: {', '.join(alike)}" if alike else "; check its name"
        )
        raise DataError(f"there is no file {file}{hint}")
    return path.read_bytes()


def task_of_numbers(values: FloatArray, table: RawTable, notes: list[str]) -> Task:
    """Decide whether numbers are classes, and say so: up to `SURELY_CLASSES` whole numbers, or more of about equal shares."""
    distinct, counts = np.unique(values, return_counts=True)
    shown = f"{table.target!r} holds {len(distinct)} whole numbers and was taken for "
    if not (np.isfinite(distinct).all() and (distinct % 1 == 0).all()) or len(distinct) > MOST_CLASSES:
        return "regression"
    even = counts.min() >= RARE * len(values) / len(distinct)
    if len(distinct) <= SURELY_CLASSES or (even and len(distinct) <= MOST_CLASSES // 2):
        other, task, words = Remedy("task", "regression"), "classification", "classes"
    else:
        other, task, words = Remedy("task", "classification"), "regression", "a quantity"
    notes.append(Message(shown, words, "; else say ", other))
    table.receipt.add("task", task, "likely", other)
    return "classification" if words == "classes" else "regression"


def load_file(file: PathLike, scaling: Scaling, **options: Any) -> Dataset:
    """Read and prepare a user-defined file; without a task, the values of the target decide."""
    from foldshift.datasets.prepare import prepare

    table = read_file(file, **options)
    task = options.get("task")
    if not task:
        values, notes = table.frame[table.target].dropna(), list[str]()
        is_nominal = table.kinds[table.target] == "nominal"
        task = "classification" if is_nominal else task_of_numbers(values.to_numpy(), table, notes)
        table = read_file(file, **options, task=task)
        table.notes += notes
    return prepare(table, Path(file).stem, task, scaling=scaling)
