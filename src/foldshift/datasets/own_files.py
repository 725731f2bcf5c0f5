"""User-defined files: one reader for the command, for Python and for the workflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import DataError
from foldshift.datasets.readers.compression import opened
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.read_options import make_options

if TYPE_CHECKING:
    from foldshift.core.types import PathLike, TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable

MOST_BYTES = 2**30  # of an unpacked table; the user trusts it, so more than for a download


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
    return read_bytes(content_of(file), str(file), options, task=task, has_target=has_target)


def read_bytes(
    data: bytes, name: str, options: Mapping[str, Any], *, task: TaskIfKnown = "", has_target: bool = True
) -> RawTable:
    """Read a table from the bytes of a file; see `read_file`."""
    how = replace(make_options(options), own=True, has_target=has_target)
    name, data, how = opened(data, name, how, MOST_BYTES)
    return read_table(data, name, how, task=task, target=how.target)


def content_of(file: PathLike) -> bytes:
    """Read the bytes of a file; the error says what is there instead."""
    path = Path(file)
    if path.is_dir():
        raise DataError(f"{file} is a folder; give a file, such as {path / 'data.csv'}")
    if not path.exists():
        near = sorted(path.parent.glob(f"*{path.suffix}"))[:5] if path.parent.is_dir() else []
        raise DataError(f"there is no file {file}" + (f"; beside it: {', '.join(one.name for one in near)}" if near else ""))
    return path.read_bytes()
