"""Reader of files in any known format: find the format, then read the table."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldshift.core.errors import DataError, message_of
from foldshift.core.remedies import Given, Message, Remedy
from foldshift.datasets.readers.arff import read_arff, read_keel
from foldshift.datasets.readers.delimited import read_csv, read_space, read_tsv
from foldshift.datasets.readers.infer import decoded
from foldshift.datasets.readers.own_text import read_own_text, table_of
from foldshift.datasets.readers.parquet import read_parquet
from foldshift.datasets.readers.plain_text import read_plain
from foldshift.datasets.readers.programs.excel import is_workbook, read_excel
from foldshift.datasets.readers.programs.foreign_formats import looks_like_html
from foldshift.datasets.readers.programs.frame_files import FRAME_FORMATS, frame_format, read_frame_file
from foldshift.datasets.readers.read_options import NO_HEADER, ReadOptions
from foldshift.datasets.readers.receipt import Decision, Sure
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
BINARY = ("excel", "parquet", *FRAME_FORMATS)
USUAL_SEPARATORS = {"csv": ",", "tsv": "\t"}
FORMAT_WORDS = {
    "csv": "text",
    "tsv": "text",
    "space": "text",
    "keel": "KEEL",
    "arff": "ARFF",
    "excel": "Excel",
    "parquet": "Parquet",
    "json": "JSON",
    "feather": "Feather",
    "stata": "Stata",
    "sas": "SAS",
}
_PARSERS: dict[str, Callable[..., RawTable]] = {
    "keel": read_keel,
    "arff": read_arff,
    "csv": read_csv,
    "tsv": read_tsv,
    "space": read_space,
    "excel": read_excel,
    "parquet": read_parquet,
    **{kind: partial(read_frame_file, kind) for kind in FRAME_FORMATS},
}


def read_table(
    data: bytes, name: str, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = ""
) -> RawTable:
    """Read a file in any of the known formats.

    For a classification the target becomes nominal, with the labels of the file; for a regression it must be numeric. The name
    `target` is used if neither the options nor the file name a target.
    """
    options = options or ReadOptions()
    try:
        if not data.strip():
            raise DataError("the file is empty; check where it was saved or copied from")
        if looks_like_html(data):
            raise DataError("this is an HTML page, not data; open the address in a browser to see what it says")
        if options.own:
            return _read_own(data, name, options, task, target)
        kind = options.format or format_of(data, name)
        if kind == "":
            kind, options = _guess(data, options)
        return _PARSERS[kind](data, options, task=task, target=target)
    except DataError as error:
        parts = (part if isinstance(part, Remedy) else tidy(part) for part in message_of(error).parts)
        raise DataError(f"{one_line(name)}: ", *parts) from error


def _read_own(data: bytes, name: str, options: ReadOptions, task: TaskIfKnown, target: str) -> RawTable:
    """Read a user-defined file: its format, and for texts the encoding, by content."""
    kind = options.format or own_format(data, name)
    if kind in BINARY:
        table = _PARSERS[kind](data, options, task=task, target=target)
        table.receipt.decisions.insert(0, Decision("format", FORMAT_WORDS[kind], "given" if options.format else "sure"))
        _note_unused(table, options, kind)
        return table
    usual = options.sep or USUAL_SEPARATORS.get(ENDINGS.get(_ending(name), ""), "")
    if kind == "" and options.encoding.lower() in ("", "utf-8", "utf8"):
        plain = read_plain(data, options, task, options.target or target, usual)
        if plain is not None:
            encoding = options.encoding or ("utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8")
            return _with_receipt(table_of(*plain, options, task, target), "", encoding, "", options)
    text, encoding, note = decoded(data, options.encoding)
    kind = kind or _header_format(text, name)
    if kind in ("keel", "arff"):
        table = _PARSERS[kind](text, options, task=task, target=target)
    else:
        options = replace(options, sep=options.sep or {"tsv": "\t", "space": " "}.get(kind, ""))
        table = read_own_text(text, options, task=task, target=target, usual=usual)
    return _with_receipt(table, kind, encoding, note, options)


def _with_receipt(table: RawTable, kind: str, encoding: str, note: str, options: ReadOptions) -> RawTable:
    """Add format and encoding to the receipt of a table."""
    table.notes[:0] = [note] if note else []
    _note_unused(table, options, kind)
    sure: Sure = "given" if options.encoding else "likely" if note else "sure"
    table.receipt.decisions[:0] = [
        Decision("format", FORMAT_WORDS[kind or "csv"], "given" if options.format else "sure"),
        Decision("encoding", encoding, sure, () if options.encoding else (Remedy("encoding", "cp1250"),)),
    ]
    return table


def _note_unused(table: RawTable, options: ReadOptions, kind: str) -> None:
    """Note options that have no meaning for the format of a file."""
    of_frames = ("sep", "encoding", "sheet", "skip_rows", "header")
    meaningless = {"excel": ("sep", "encoding"), **dict.fromkeys(("parquet", *FRAME_FORMATS), of_frames)}
    for name in meaningless.get(kind, ("sheet",)):
        value = getattr(options, name)
        if value not in ("", None):
            table.notes.append(Message(Given(name, str(value)), f" has no meaning for this file ({FORMAT_WORDS[kind or 'csv']})"))


def own_format(data: bytes, name: str) -> str:
    """Find the format of a user-defined file by its first bytes; empty if it is a text."""
    if is_workbook(data):
        return "excel"
    if data[:4] == b"PAR1":
        return "parquet"
    if found := frame_format(data, name):
        return found
    kind = ENDINGS.get(_ending(name), "")
    if kind in BINARY and b"\0" in data[:4096]:
        return kind
    return ""


def _header_format(text: str, name: str) -> str:
    """Report whether a text is of ARFF or KEEL format; empty if it is neither."""
    head = text[: 2**16]
    if not re.search(r"^\s*@attribute\b", head, re.IGNORECASE | re.MULTILINE) or text.lstrip()[:1] not in ("@", "%", "#"):
        return ""
    is_keel = _ending(name) == ".dat" or re.search(r"^\s*#?@(?:in|out)puts?\b", head, re.IGNORECASE | re.MULTILINE)
    return "keel" if is_keel else "arff"


def _ending(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:].lower() if dot >= 0 else ""


def tidy(text: str, most: int = 500) -> str:
    """Make one line of a part of a message, with the blanks at its ends."""
    before, after = text[:1].isspace() * " ", text[-1:].isspace() * " "
    return f"{before}{one_line(text, most)}{after}" if text.strip() else before


def format_of(data: bytes, name: str) -> str:
    """Find the format of a file by its ending, else by its first bytes; empty if it is text of unknown format."""
    if _ending(name) in ENDINGS:
        return ENDINGS[_ending(name)]
    if is_workbook(data):
        return "excel"
    if data[:4] == data[-4:] == b"PAR1":
        return "parquet"
    start = data[:3].replace(b"\xef\xbb\xbf", b"") + data[3:4096]
    return "keel" if start.lstrip()[:1] in (b"@", b"%") else ""


def _guess(data: bytes, options: ReadOptions) -> tuple[str, ReadOptions]:
    """Guess the separator of a text without a known ending by its first row; such files have no header."""
    first = next((line for line in data.split(b"\n")[options.n_skipped :] if line.strip()), b"")
    header = options.header or NO_HEADER
    separator = options.sep or next((mark for mark in (";", ",") if mark.encode() in first), "")
    if options.decimal_mark == "," and separator == ",":
        separator = ""
    return ("csv" if separator else "space"), replace(options, header=header, sep=separator)
