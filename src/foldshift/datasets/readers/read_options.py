"""Options of reading a file: one vocabulary for the command, for Python and for the sources of the workflow."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from foldshift.core.errors import SourceError, unknown
from foldshift.core.remedies import Given

if TYPE_CHECKING:
    from foldshift.core.types import DecimalMark

FORMATS = ("keel", "csv", "tsv", "space", "arff", "excel", "parquet", "json", "feather", "stata", "sas")
TYPES = ("number", "nominal", "date")
NO_HEADER, FIRST_ROW = 0, -1  # values of `header` besides the number of a line
ALIASES = {"skip": "skip_rows", "skip-rows": "skip_rows", "group_on": "groups"}  # other words for a setting
THOUSANDS = {",": ",", ".": ".", "'": "'", "blank": " ", " ": " ", "none": "none"}


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading one file. Columns are given by name, 1-based position or negative position (-1 is the last)."""

    format: str = ""  # one of `FORMATS`; empty: by the content
    sep: str = ""  # field separator of a text, one character; empty: by the content
    header: int | None = None  # number of the line with the names, `NO_HEADER` or `FIRST_ROW`; None: by the content
    names: tuple[str, ...] = ()  # names of the columns, instead of those of the file
    encoding: str = ""  # encoding of a text; empty: by the content
    decimal: DecimalMark | str = ""  # decimal mark; empty: by the content, else a point
    thousands: str = ""  # mark between thousands, or ``none``; empty: by the content
    missing: tuple[str, ...] = ()  # further texts that mean a missing value
    sheet: str = ""  # name or number of the sheet of a workbook; empty: by the content, else the first
    skip_rows: int | None = None  # lines to leave out at the beginning, of every member; None: by the content, else 0
    keep: tuple[str, ...] = ()  # columns that are inputs although they do not look like it: row numbers, dates, names of rows
    drop: tuple[str, ...] = ()  # columns to leave out
    types: dict[str, str] = field(default_factory=dict)  # column to one of `TYPES`
    nominal: tuple[str, ...] = ()  # columns whose values are labels although they look like numbers
    target: str = ""  # the target column; empty: the declared one, else the catalogue's target, else the last column
    groups: str = ""  # the column that says which rows belong together (persons, sites, days); it is not an input
    time_on: str = ""  # the column of the time of every row, dates or numbers; it is not an input
    space_on: tuple[str, ...] = ()  # columns of numbers that give the place of every row; they stay inputs
    subset_on: str = ""  # the column of the subset of every row, such as a site that is asked about; it is not an input
    member: tuple[str, ...] = ()  # files of an archive, by base name, joined in this order
    map: dict[str, dict[str, str]] = field(default_factory=dict)  # column to old text to new text
    round: dict[str, int] = field(default_factory=dict)  # column to decimal digits
    ranges: str = ""  # ``declared``: inputs are scaled by the ranges that the file declares, not by those of its complete rows
    # Not settings: whether the file is user-defined, with nothing known about it (see `foldshift.datasets.readers.infer`), and
    # whether it has a target.
    own: bool = False
    has_target: bool = True

    @property
    def n_skipped(self) -> int:
        """Number of lines to leave out at the beginning."""
        return self.skip_rows or 0

    @property
    def decimal_mark(self) -> DecimalMark:
        """Decimal mark, a point unless it is chosen."""
        return "," if self.decimal == "," else "."


class Setting(NamedTuple):
    """One word of the vocabulary: how its value is read, what the command calls the value, and what it means."""

    read: Callable[[str, Any], Any]
    metavar: str
    meaning: str
    several: bool = False  # whether the option of the command can be given again


def make_options(given: Mapping[str, Any], allowed: Iterable[str] | None = None) -> ReadOptions:
    """Make options from values as users give them at any door: texts, or lists and dictionaries in Python.

    None, empty lists and empty texts count as not given.

    >>> from foldshift.datasets.readers.read_options import make_options
    >>> options = make_options({"header": "none", "names": "a,b", "types": {"a": "nominal"}})
    >>> options.header, options.names, options.types
    (0, ('a', 'b'), {'a': 'nominal'})
    """
    names = sorted(SETTINGS if allowed is None else allowed)
    values: dict[str, Any] = {}
    for name, value in given.items():
        name = ALIASES.get(name, name)
        if name not in names:
            raise SourceError(unknown("reading option", name, names))
        if value is not None and value != () and value != [] and value != "":
            values[name] = SETTINGS[name].read(name, value)
    return ReadOptions(**values)


def parse_options(query: str, allowed: Iterable[str] | None = None) -> ReadOptions:
    """Parse the text after the `?` of a source: ``option=value`` pairs joined by ``&``.

    Lists are separated by commas, columns of `map` and `round` by semicolons; a separator inside a name or label is
    percent-encoded. By default all options are allowed.
    """
    names = sorted(SETTINGS) if allowed is None else sorted(allowed)
    values: dict[str, Any] = {}
    for part in query.split("&") if query else []:
        name, equals, value = part.partition("=")
        name = ALIASES.get(name, name)
        if name not in names:
            raise SourceError(unknown("reading option", name, names))
        if not equals or not value:
            raise SourceError(f"reading option {name!r} has no value; write {name}=value")
        if name in values:
            raise SourceError(f"reading option {name!r} is given twice; give it once")
        values[name] = _SPLIT[name](name, value) if name in _SPLIT else unquote(value)
    return make_options(values, names)


def _one_of(choices: tuple[str, ...]) -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        if value not in choices:
            shown = " or ".join(map(repr, choices)) if max(map(len, choices)) == 1 else ", ".join(choices)
            raise SourceError("reading option ", Given(name, str(value)), f" must be {'one of ' * (len(choices) > 2)}{shown}")
        return value

    return read


def _separator(name: str, value: Any) -> str:
    found = {"tab": "\t", "\\t": "\t", "blank": " "}.get(value, value)
    if not isinstance(found, str) or len(found) != 1 or found in '"\r\n\0':
        raise SourceError("reading option ", Given(name, str(value)), " is not a separator; give one character, tab or blank")
    return found


def _header(name: str, value: Any) -> int:
    if value is False or value in ("none", "no"):
        return NO_HEADER
    if value is True or value == "yes":
        return FIRST_ROW
    if str(value).isascii() and str(value).isdigit() and 0 < int(value) < 10**7:
        return int(value)
    raise SourceError("reading option ", Given(name, str(value)), " must be none, or the number of the line that holds the names")


def _count(name: str, value: Any) -> int:
    if not (str(value).isascii() and str(value).isdigit() and len(str(value)) < 7):
        raise SourceError("reading option ", Given(name, str(value)), " is not a number of lines or digits; give 0, 1, 2, ...")
    return int(value)


def _encoding(name: str, value: Any) -> str:
    try:
        if codecs.lookup(value)._is_text_encoding and isinstance("".encode(value), bytes):
            return value
    except (LookupError, TypeError, ValueError):
        pass
    raise SourceError("reading option ", Given(name, str(value)), " is not a known encoding; utf-8, cp1252, utf-16 are some")


def _thousands(name: str, value: Any) -> str:
    if value not in THOUSANDS:
        raise SourceError("reading option ", Given(name, str(value)), " must be a comma, a point, an apostrophe, blank or none")
    return THOUSANDS[value]


def _plain(name: str, value: Any) -> str:
    return str(value)


def _list(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(str(item) for item in value)
    return (str(value),)


def _place(name: str, value: Any) -> tuple[str, ...]:
    """Two or three different columns."""
    found = _list(name, value)
    if len(found) not in (2, 3) or len(set(found)) < len(found):
        raise SourceError("reading option ", Given(name, found), " must name two or three different columns")
    return found


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Names in one text, separated by commas, or in a list of them."""
    texts = _list(name, value)
    found = tuple(next(csv.reader(texts, skipinitialspace=True))) if len(texts) == 1 else texts
    if not all(found) or len(set(found)) < len(found):
        raise SourceError("reading option ", Given(name, ",".join(found)), ": every column needs a name of its own")
    return found


def _types(name: str, value: Any) -> dict[str, str]:
    pairs = value.items() if isinstance(value, Mapping) else [str(one).rpartition("=")[::2] for one in _list(name, value)]
    found = dict(pairs)
    for column, kind in found.items():
        if not column:
            raise SourceError("reading option ", Given(name, kind), " is not of the form COLUMN=TYPE")
        if kind not in TYPES:
            raise SourceError("reading option ", Given(name, ((column, kind),)), f": the type must be one of {', '.join(TYPES)}")
    return found


def _mapping(name: str, value: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise SourceError(f"reading option {name} must be a dictionary by column, got {value!r}")
    return dict(value)


# ---- lists and dictionaries as a source writes them ----


def _split_list(name: str, value: str) -> tuple[str, ...]:
    return tuple(unquote(item) for item in value.split(","))


def _by_column(name: str, value: str) -> dict[str, str]:
    columns = {}
    for part in value.split(";"):
        column, colon, rest = part.partition(":")
        if not colon or not column or not rest:
            raise SourceError(f"reading option {name}: {part!r} is not of the form column:value")
        columns[unquote(column)] = rest
    return columns


def _split_map(name: str, value: str) -> dict[str, dict[str, str]]:
    return {column: dict(_pair(name, pair) for pair in rest.split(",")) for column, rest in _by_column(name, value).items()}


def _pair(name: str, text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old or not new:
        raise SourceError(f"reading option {name}: {text!r} is not of the form old=new")
    return unquote(old), unquote(new)


def _split_round(name: str, value: str) -> dict[str, int]:
    return {column: _count(name, digits) for column, digits in _by_column(name, value).items()}


def _split_types(name: str, value: str) -> dict[str, str]:
    return _by_column(name, ";".join(value.split(",")))


_SPLIT: dict[str, Callable[[str, str], Any]] = {
    **dict.fromkeys(("member", "space_on", "drop", "keep", "nominal", "missing", "names"), _split_list),
    "map": _split_map,
    "round": _split_round,
    "types": _split_types,
}

SETTINGS = {
    "sep": Setting(_separator, "MARK", "Separator of fields: one character, tab or blank."),
    "header": Setting(_header, "LINE", "Line that holds the names of the columns; none: there are no names."),
    "names": Setting(_names, "A,B,...", "Names of the columns, instead of those of the file."),
    "encoding": Setting(_encoding, "NAME", "Encoding of a text, such as cp1252."),
    "decimal": Setting(_one_of((".", ",")), "MARK", "Decimal mark, a point or a comma."),
    "thousands": Setting(_thousands, "MARK", "Mark between thousands: , . ' or blank; none: there is none."),
    "missing": Setting(_list, "TEXT", "A text that means a missing value.", several=True),
    "sheet": Setting(_plain, "NAME", "Sheet of a workbook, by name or by number from 1."),
    "skip_rows": Setting(_count, "N", "Leave out the first N lines; 0: leave out none, whatever they look like."),
    "keep": Setting(
        _list, "COLUMN", "Keep a column that does not look like an input; dates become days since 1970.", several=True
    ),
    "drop": Setting(_list, "COLUMN", "Leave out a column.", several=True),
    "types": Setting(_types, "COLUMN=TYPE", "Read a column as number, nominal (labels as they are) or date.", several=True),
    "nominal": Setting(_list, "COLUMN", "Read the values of a column as labels; short for types.", several=True),
    "target": Setting(_plain, "COLUMN", "The column to predict."),
    "groups": Setting(_plain, "COLUMN", "The column that says which rows belong together."),
    "time_on": Setting(_plain, "COLUMN", "The column of the time of every row, dates or numbers."),
    "space_on": Setting(_place, "COLUMN", "The two or three columns that give the place of every row.", several=True),
    "subset_on": Setting(_plain, "COLUMN", "The column of the subset of every row: may subsets be pooled?"),
    "format": Setting(_one_of(FORMATS), "FORMAT", f"Format of the file: {', '.join(FORMATS)}."),
    "member": Setting(_list, "FILE", "File of a zip archive; several are joined.", several=True),
    "map": Setting(_mapping, "MAP", "New texts for the labels of columns."),
    "round": Setting(_mapping, "DIGITS", "Digits that columns are rounded to."),
    "ranges": Setting(_one_of(("declared",)), "declared", "Scale inputs by the ranges that a KEEL file declares."),
}
