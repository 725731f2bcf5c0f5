"""Options of reading a file, as written after the `?` of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from foldshift.core.errors import SourceError, unknown

if TYPE_CHECKING:
    from foldshift.core.types import DecimalMark

FORMATS = ("keel", "csv", "tsv", "space", "arff", "excel", "parquet")


@dataclass(frozen=True)
class ReadOptions:
    """Reading options of one source. Columns are given by name, 1-based position or negative position (-1 is the last)."""

    format: str = ""  # one of `FORMATS`; empty: by the ending of the file name, else by the first bytes
    sep: str = ""  # field separator of a csv file, one character; empty: comma, for tsv a tab
    decimal: DecimalMark = "."  # decimal mark
    header: bool | None = None  # whether the first row holds column names; None: as usual for the format
    skip: int = 0  # lines to leave out at the beginning, of every member
    member: tuple[str, ...] = ()  # files of an archive, by base name, joined in this order
    target: str = ""  # the target column; empty: the declared one, else the catalogue's target, else the last column
    drop: tuple[str, ...] = ()  # columns to leave out
    map: dict[str, dict[str, str]] = field(default_factory=dict)  # column to old text to new text
    round: dict[str, int] = field(default_factory=dict)  # column to decimal digits
    ranges: str = ""  # ``declared``: inputs are scaled by the ranges that the file declares, not by those of its complete rows
    missing: tuple[str, ...] = ()  # further texts that mean a missing value
    nominal: tuple[str, ...] = ()  # columns whose values are labels although they look like numbers
    # columns of a user-defined file that are inputs although they do not look like it: row numbers, dates, names of rows
    keep: tuple[str, ...] = ()
    groups: str = ""  # the column that says which rows belong together (persons, sites, days); it is not an input
    # whether the file is user-defined, with nothing known about it: see `foldshift.datasets.readers.infer`. Not an option of a
    # source
    own: bool = False


def parse_options(query: str, allowed: Iterable[str] | None = None) -> ReadOptions:
    """Parse the text after the `?` of a source: ``option=value`` pairs joined by ``&``.

    Lists are separated by commas, columns of `map` and `round` by semicolons; a separator inside a name or label is
    percent-encoded. By default all options are allowed.
    """
    names = sorted(_READERS) if allowed is None else sorted(allowed)
    values: dict[str, Any] = {}
    for part in query.split("&") if query else []:
        name, equals, value = part.partition("=")
        if name not in names:
            raise SourceError(unknown("reading option", name, names))
        if not equals or not value:
            raise SourceError(f"reading option {name!r} has no value; write {name}=value")
        if name in values:
            raise SourceError(f"reading option {name!r} is given twice; give it once")
        values[name] = _READERS[name](name, value)
    return ReadOptions(**values)


def _one_of(choices: tuple[str, ...]) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value not in choices:
            raise SourceError(unknown(f"value of {name}", value, choices))
        return value

    return read


def _separator(name: str, value: str) -> str:
    value = {"tab": "\t", "\\t": "\t"}.get(unquote(value), unquote(value))
    if len(value) != 1 or value in '"\r\n\0':
        raise SourceError(f"reading option {name}={value!r} is not a separator; give one character, or tab")
    return value


def _yes_no(name: str, value: str) -> bool:
    return _one_of(("yes", "no"))(name, value) == "yes"


def _count(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 7):
        raise SourceError(f"reading option {name}={value!r} is not a number of lines or digits; give 0, 1, 2, ...")
    return int(value)


def _plain(name: str, value: str) -> str:
    return unquote(value)


def _list(name: str, value: str) -> tuple[str, ...]:
    return tuple(unquote(item) for item in value.split(","))


def _by_column(name: str, value: str) -> dict[str, str]:
    columns = {}
    for part in value.split(";"):
        column, colon, rest = part.partition(":")
        if not colon or not column or not rest:
            raise SourceError(f"reading option {name}: {part!r} is not of the form column:value")
        columns[unquote(column)] = rest
    return columns


def _map(name: str, value: str) -> dict[str, dict[str, str]]:
    return {column: dict(_pair(name, pair) for pair in rest.split(",")) for column, rest in _by_column(name, value).items()}


def _pair(name: str, text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old or not new:
        raise SourceError(f"reading option {name}: {text!r} is not of the form old=new")
    return unquote(old), unquote(new)


def _round(name: str, value: str) -> dict[str, int]:
    return {column: _count(name, digits) for column, digits in _by_column(name, value).items()}


_READERS: dict[str, Callable[[str, str], Any]] = {
    "format": _one_of(FORMATS),
    "sep": _separator,
    "decimal": _one_of((".", ",")),
    "header": _yes_no,
    "skip": _count,
    "member": _list,
    "target": _plain,
    "drop": _list,
    "map": _map,
    "round": _round,
    "ranges": _one_of(("declared",)),
    "missing": _list,
    "nominal": _list,
    "keep": _list,
    "groups": _plain,
}
