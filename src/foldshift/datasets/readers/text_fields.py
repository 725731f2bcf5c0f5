"""Texts of a file: its lines, its fields, the numbers they stand for, and how many are read."""

from __future__ import annotations

from typing import Any, Literal

from foldshift.core.errors import DataError

MAX_COLUMNS = 20_000  # a line of commas must not become millions of columns, each with an array of its own
MAX_CELLS = 50_000_000  # more than any data set here; a forged sheet or parquet file can claim 10^10


def text_of(data: bytes | str, fallback: str = "utf-8") -> str:
    """Text of a file: UTF-8 if it has a byte-order mark or `fallback` says so, else Latin-1."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    if b"\0" in data:
        raise DataError("not a text file (it holds zero bytes); check the file or set format")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if fallback == "utf-8":
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return data.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """Lines ended by LF, CRLF or CR only; `str.splitlines` would also split at characters such as U+0085."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def unquoted(value: str) -> str:
    """A field without blanks and quotes around it."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].strip()
    return value


def as_number(text: str, decimal: Literal[".", ","] = ".") -> float | None:
    """The number a text stands for, or None. Python would also accept underscores."""
    if decimal != ".":
        text = text.replace(decimal, ".")
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def check_width(fields: list[Any], where: str = "") -> None:
    """Refuse more columns than any table has; `where` begins the message."""
    if len(fields) > MAX_COLUMNS:
        raise DataError(f"{where}more than {MAX_COLUMNS} columns; the file is damaged, or cut the table down")


def cell_text(value: float | str) -> str:
    """Text of a cell as the user sees it: whole numbers of a workbook without ``.0``."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("latin-1").strip()
    if isinstance(value, float):
        return repr(value)
    return str(value).strip()
