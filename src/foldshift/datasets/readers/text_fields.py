"""Text of a file: its lines, fields and numbers, and the limits on how many are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import DataError

if TYPE_CHECKING:
    from foldshift.core.types import DecimalMark

MAX_COLUMNS = 20_000  # a line of commas must not become millions of columns, each with its own array
MAX_CELLS = 50_000_000  # more than any data set here; a forged sheet or parquet file can claim 10^10


def text_of(data: bytes | str, fallback: str = "utf-8") -> str:
    """Decode a file as UTF-8, or as Latin-1 if it is not UTF-8 or `fallback` is Latin-1; drop a byte-order mark."""
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
    """Split a text at LF, CRLF and CR only; `str.splitlines` would also split at characters such as U+0085."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def unquoted(value: str) -> str:
    """Strip blanks and quotes around a field."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].strip()
    return value


def own_field(value: str) -> str:
    """Strip blanks and quotes around a field of a user-defined text, and the marks by which spreadsheets keep codes as texts.

    >>> from foldshift.datasets.readers.text_fields import own_field
    >>> own_field(' "red" '), own_field('="001"'), own_field("'001"), own_field("'90s")
    ('red', '001', '001', "'90s")
    """
    value = unquoted(value)
    if value[:2] == '="' and value[-1] == '"':
        return value[2:-1].strip() if len(value) > 2 else value
    return value[1:] if value[:1] == "'" and value[1:].replace(".", "", 1).isdecimal() else value


def as_number(text: str, decimal: DecimalMark = ".") -> float | None:
    """Convert a text to a number, or None. Underscores, which Python accepts, are refused."""
    if decimal != ".":
        text = text.replace(decimal, ".")
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def check_width(fields: Sequence[Any], where: str = "") -> None:
    """Refuse more than `MAX_COLUMNS` columns; the message begins with `where`."""
    if len(fields) > MAX_COLUMNS:
        raise DataError(f"{where}more than {MAX_COLUMNS} columns; the file is damaged, or cut the table down")


def cell_text(value: Any) -> str:
    """Convert a cell to text without blanks around it."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("latin-1").strip()
    if isinstance(value, float):
        return repr(value)
    return str(value).strip()
