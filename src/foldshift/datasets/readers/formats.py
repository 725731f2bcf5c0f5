"""Reader of files in any known format: find the format, then read the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from foldshift.core.errors import DataError
from foldshift.datasets.readers.arff import read_arff, read_keel
from foldshift.datasets.readers.delimited import read_csv, read_space, read_tsv
from foldshift.datasets.readers.excel import is_workbook, read_excel
from foldshift.datasets.readers.infer import decoded, guess_rows
from foldshift.datasets.readers.parquet import read_parquet
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".arff": "arff",
    ".xls": "excel",
    ".xlsx": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
}
BINARY = ("excel", "parquet")
_PARSERS: dict[str, Callable[..., RawTable]] = {
    "keel": read_keel,
    "arff": read_arff,
    "csv": read_csv,
    "tsv": read_tsv,
    "space": read_space,
    "excel": read_excel,
    "parquet": read_parquet,
}


def read_table(
    data: bytes,
    name: str,
    options: ReadOptions | None = None,
    *,
    task: TaskIfKnown = "",
    target: str = "",
) -> RawTable:
    """Read a file in any of the known formats.

    For a classification the target becomes nominal, with the labels of the file; for a regression it must be numeric. The name
    `target` is used if neither the options nor the file name a target.
    """
    options = options or ReadOptions()
    try:
        if not data.strip():
            raise DataError("the file is empty; fetch it again")
        if looks_like_html(data):
            raise DataError("this is an HTML page, not data; open the address in a browser to see what it says")
        kind = options.format or format_of(data, name)
        if options.own and kind not in BINARY:
            return _read_own(data, kind, options, task, target)
        if kind == "":
            kind, options = _guess(data, options)
        return _PARSERS[kind](data, options, task=task, target=target)
    except DataError as error:
        raise DataError(f"{one_line(name)}: {one_line(error, 500)}") from error


def _read_own(data: bytes, kind: str, options: ReadOptions, task: TaskIfKnown, target: str) -> RawTable:
    """Read a user-defined text file: infer its encoding, and its separator and header if its ending does not say."""
    text, note = decoded(data)
    if kind == "":
        kind = "keel" if text.lstrip()[:1] in ("@", "%") else ""
    if kind == "":
        separator, header = guess_rows(text, options, target)
        kind, options = ("csv" if separator else "space"), replace(options, sep=separator, header=header)
    elif kind == "space" and options.header is None:
        options = replace(options, header=guess_rows(text, replace(options, sep=""), target)[1])
    table = _PARSERS[kind](text, options, task=task, target=target)
    table.notes[:0] = [note] if note else []
    return table


def format_of(data: bytes, name: str) -> str:
    """Find the format of a file by its ending, else by its first bytes; empty if it is text of unknown format."""
    dot = name.rfind(".")
    ending = name[dot:].lower() if dot >= 0 else ""
    if ending in ENDINGS:
        return ENDINGS[ending]
    if is_workbook(data):
        return "excel"
    if data[:4] == data[-4:] == b"PAR1":
        return "parquet"
    start = data[:3].replace(b"\xef\xbb\xbf", b"") + data[3:4096]
    return "keel" if start.lstrip()[:1] in (b"@", b"%") else ""


def looks_like_html(data: bytes) -> bool:
    """Report whether bytes are a web page, which servers may send instead of a file."""
    start = data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html")) or (start.startswith((b"<?xml", b"<!--")) and b"<html" in start)


def _guess(data: bytes, options: ReadOptions) -> tuple[str, ReadOptions]:
    """Guess the separator of a text without a known ending by its first row; such files have no header."""
    first = next((line for line in data.split(b"\n")[options.skip :] if line.strip()), b"")
    header = bool(options.header)
    separator = options.sep or next((mark for mark in (";", ",") if mark.encode() in first), "")
    if options.decimal == "," and separator == ",":
        separator = ""
    return ("csv" if separator else "space"), replace(options, header=header, sep=separator)
