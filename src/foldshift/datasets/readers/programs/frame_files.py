"""Readers of tables that other programs write: JSON, Feather, Stata, SAS."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.core.errors import DataError
from foldshift.datasets.readers.parquet import read_frame
from foldshift.datasets.readers.text_fields import MAX_CELLS, check_width
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable
    from foldshift.datasets.readers.read_options import ReadOptions

_SAS_7 = bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf"
_SAS_TRANSPORT = b"HEADER RECORD*******LIBRARY HEADER RECORD"


def frame_format(data: bytes, name: str) -> str:
    """Find the format of a file by its first bytes; empty if it is none of these."""
    if data.startswith((b"ARROW1", b"FEA1")):
        return "feather"
    if data.startswith(b"<stata_dta>") or (
        name.lower().endswith(".dta") and data[:1] in (b"\x69", b"\x6c", b"\x6f", b"\x71", b"\x72", b"\x73")
    ):
        return "stata"
    if data.startswith((_SAS_7, _SAS_TRANSPORT)):
        return "sas"
    start = data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] == b"{" or (start[:1] == b"[" and start[1:].lstrip()[:1] in (b"{", b"[", b"]")):
        return "json"
    return "json" if name.lower().endswith((".json", ".jsonl", ".ndjson")) and start[:1] in (b"[", b'"') else ""


def read_frame_file(kind: str, data: bytes, options: ReadOptions, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read a file of one of these formats."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on names and types that the formats do not share
            frame = _READERS[kind](data)
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"{error.name} is not installed: pip install {error.name}, or convert the table to csv") from error
    except Exception as error:  # damaged files make the libraries raise errors of any kind
        raise DataError(f"damaged {kind} file ({type(error).__name__}: {one_line(error)}); copy or save it once more") from error
    check_width(frame.columns)
    if frame.size > MAX_CELLS:
        raise DataError(f"more than {MAX_CELLS} cells; cut the table down")
    for name in frame.columns:
        if frame[name].dtype == object and any(isinstance(value, dict | list | bytes) for value in frame[name]):
            raise DataError(f"column {str(name)[:60]!r} holds lists or records; write one value in every cell")
    return read_frame(frame, options, task=task, target=target)


def _feather(data: bytes) -> pd.DataFrame:
    import pyarrow.feather

    return pyarrow.feather.read_table(io.BytesIO(data)).to_pandas()


def _stata(data: bytes) -> pd.DataFrame:
    return pd.read_stata(io.BytesIO(data))


def _sas(data: bytes) -> pd.DataFrame:
    if data.startswith(_SAS_7):
        return pd.read_sas(io.BytesIO(data), format="sas7bdat", encoding="infer")
    return pd.read_sas(io.BytesIO(data), format="xport", encoding="cp1252")


def _json(data: bytes) -> pd.DataFrame:
    """Read records, one in a list or in a line; or columns by name."""
    try:
        text = data.decode("utf-8-sig")
        content = json.loads(text)
    except UnicodeDecodeError as error:
        raise DataError("a JSON file that is not UTF-8; save it as UTF-8") from error
    except RecursionError as error:
        raise DataError("JSON that is nested too deep for a table; write a list of records") from error
    except json.JSONDecodeError as error:
        content = _records_by_line(text, error)
    if isinstance(content, dict) and isinstance(content.get("data"), list):
        names = content.get("columns")
        content = content["data"] if not isinstance(names, list) else [dict(zip(map(str, names), row)) for row in content["data"]]
    if isinstance(content, dict) and content and all(isinstance(one, list | dict) for one in content.values()):
        columns = [list(one.values()) if isinstance(one, dict) else one for one in content.values()]
        if len({len(one) for one in columns}) == 1 and columns[0]:
            return pd.DataFrame({name: pd.Series(one, dtype=object) for name, one in zip(content, columns)})
    if isinstance(content, list) and content and all(isinstance(one, dict) for one in content):
        names = list(dict.fromkeys(name for record in content for name in record))
        return pd.DataFrame({name: pd.Series([record.get(name) for record in content], dtype=object) for name in names})
    if isinstance(content, list) and len(content) > 1 and all(isinstance(one, list) for one in content):
        names, rows = [str(name) for name in content[0]], content[1:]
        if all(len(row) == len(names) for row in rows):
            return pd.DataFrame({name: pd.Series(list(one), dtype=object) for name, one in zip(names, zip(*rows))})
    raise DataError(
        "JSON without a table: a list of records is read, one record in every line, or lists by the name of their column"
    )


def _records_by_line(text: str, error: json.JSONDecodeError) -> list[Any]:
    """Read JSON with one record in every line."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2 or not lines[0][1].strip().endswith("}"):
        raise DataError(f"JSON that is damaged in line {error.lineno} ({error.msg}); copy or save it once more") from error
    records = []
    for number, line in lines:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as one:
            raise DataError(f"JSON that is damaged in line {number} ({one.msg}); correct this line") from one
    return records


_READERS: dict[str, Callable[[bytes], pd.DataFrame]] = {"feather": _feather, "stata": _stata, "sas": _sas, "json": _json}
FRAME_FORMATS = tuple(_READERS)
