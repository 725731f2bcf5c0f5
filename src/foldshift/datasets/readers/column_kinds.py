"""Columns of text from any file format, and the table of numbers and labels that is made from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError, unknown
from foldshift.datasets.readers.infer import (
    check_classes,
    count_labels,
    decimal_of,
    exclusion_of,
    listed,
    missing_marks,
)
from foldshift.datasets.readers.raw_table import RawTable
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.text_fields import as_number, check_width
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.core.types import ColumnKind, DecimalMark, FloatArray, TaskIfKnown

DeclaredKind = Literal["real", "integer", "numeric", "nominal", ""]

ALWAYS_MISSING = {"?", "<null>"}
USUALLY_MISSING = {"", "na", "nan"}  # unless the header declares them as a label
MOST_NAMED = 8  # columns in one line


@dataclass
class Columns:
    """Columns of text as a format reads them, before their values are interpreted."""

    names: list[str] | None  # column names; None if the file gives none
    values: Sequence[Sequence[str]]  # one sequence of texts per column, blanks stripped
    lines: Sequence[int]  # the line (or row) of the file that each row was read from, for messages
    # declared kind of every column; ``numeric``: real or integer by the values; empty: not declared
    kinds: Sequence[DeclaredKind]
    categories: Sequence[list[str] | None]  # declared labels of nominal columns; None: not declared
    target: int | None = None  # position of the declared target
    others: set[int] = field(default_factory=set)  # positions of columns that are neither inputs nor target
    # declared smallest and largest value of numeric columns, by position
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict)
    unnamed: set[int] = field(default_factory=set)  # positions of columns whose name in the file is empty
    notes: list[str] = field(default_factory=list)  # what the reader assumed


def row_columns(rows: list[list[str]], lines: Sequence[int], options: ReadOptions, header: bool) -> Columns:
    """Turn rows of texts into columns; `header` is used where the options do not say whether there is a row of names."""
    # Rows without any text, and unnamed columns without any text at the end, do not count.
    kept = [(row, line) for row, line in zip(rows, lines) if any(row)]
    if not kept:
        raise DataError("no rows; the file is empty or truncated")
    rows, lines = [row for row, _ in kept], [line for _, line in kept]
    names = None
    if options.header or (options.header is None and header):
        names, first = rows.pop(0), lines.pop(0)
        if not rows:
            raise DataError("a header but no rows; the file is truncated, or set header=no")
        if options.header is None and all(as_number(name, options.decimal) is not None for name in names):
            raise DataError(f"line {first}: the first row holds only numbers where column names are expected; set header=no")
    width = len(names) if names is not None else len(rows[0])
    what = "the header has" if names is not None else "the first row has"
    for row, line in zip(rows, lines):
        if len(row) != width:
            raise DataError(
                f"line {line}: {len(row)} fields where {what} {width}; the file is damaged, or set sep, skip or header"
            )
    values = list(zip(*rows))
    while values and not any(values[-1]) and (names is None or not names[-1]):
        values.pop()
        if names is not None:
            names.pop()
    unnamed = set()
    if names is not None:
        unnamed = {position for position, name in enumerate(names) if not name}
        names = [name or f"x{position}" for position, name in enumerate(names, 1)]
    return Columns(names, values, lines, [""] * len(values), [None] * len(values), unnamed=unnamed)


def build_table(columns: Columns, options: ReadOptions | None, task: TaskIfKnown, target: str) -> RawTable:
    """Build a table from columns of text: give each column its role, read its values, leave out what is not an input."""
    options = options or ReadOptions()
    _check_shape_and_names(columns)
    roles = _find_roles(columns, options, target)
    requests = _find_requests(columns, options, task, roles)
    notes = [*columns.notes]
    if roles.neither:
        notes.append(f"left out, neither input nor target: {_first_names([roles.names[p] for p in roles.neither])}")
    kinds: dict[str, str] = {}
    values: dict[str, FloatArray | pd.Categorical] = {}
    left_out: dict[str, str] = {}
    commas: dict[str, str] = {}  # column to one of its numbers with a decimal comma
    for position, request in requests.items():
        name = roles.names[position]
        column = _Column(
            name=name,
            texts=columns.values[position],
            lines=columns.lines,
            kind=columns.kinds[position],
            categories=columns.categories[position],
            decimal=options.decimal,
            missing=options.missing,
            notes=notes,
        )
        if options.own:
            _infer_format(column, request, options)
            if column.decimal != options.decimal:
                commas[name] = next(text for text in column.texts if text and "," in text)
        content = _read_content(column, request)
        if position in columns.ranges:
            _note_values_outside(column, content, columns.ranges[position])
        if options.own and not request.is_target and not request.is_labels:
            reason, content = _as_input(column, content, position in columns.unnamed, request.is_kept)
            if reason:
                left_out[name] = reason
                continue
        kinds[name], values[name] = content
    if commas:
        name, text = next(iter(commas.items()))
        read = f"{text[:30]!r} of {one_line(name, 60)} is read as {text.replace(',', '.')[:30]}"
        notes.append(f"decimal commas in {_first_names(list(commas))}: {read}")
    if left_out:
        notes.append(_left_out_note(left_out, n_left=len(kinds)))
    return RawTable(
        frame=pd.DataFrame(values),
        target=roles.names[roles.target],
        kinds=kinds,
        notes=notes,
        left_out=left_out,
        own=options.own,
        groups="" if roles.groups is None else roles.names[roles.groups],
        ranges=_scaling_ranges(columns, roles, kinds) if options.ranges else {},
    )


# ---- the role of every column ----


class _Roles(NamedTuple):
    """Positions of columns by role, and the names of those that have one."""

    target: int
    groups: int | None
    kept: list[int]  # target, groups and inputs, in the order of the file
    neither: list[int]  # declared as neither input nor target
    names: dict[int, str]


class _Request(NamedTuple):
    """Request of the task and the options for how to read one column."""

    is_target: bool
    is_classes: bool  # target of a classification
    is_quantity: bool  # target of a regression
    is_labels: bool  # nominal by the options, or the column of groups
    is_kept: bool  # an input even if it does not look like one
    new_texts: dict[str, str] | None  # from the option `map`
    digits: int | None  # to round to


def _check_shape_and_names(columns: Columns) -> None:
    """Refuse a table without rows or columns, too many columns, and names that occur twice."""
    if not columns.values or not columns.lines:
        raise DataError("no rows or no columns; the file is empty or truncated")
    check_width(columns.values)
    repeated = [name for name, count in Counter(columns.names or ()).items() if count > 1]
    if repeated:
        raise DataError(f"column name {repeated[0][:60]!r} occurs more than once; make the names in the header distinct")


def _find_roles(columns: Columns, options: ReadOptions, target: str) -> _Roles:
    """Find the target, the column of groups and the columns to keep; name the columns if the file does not."""
    dropped = {_position(reference, columns) for reference in options.drop}
    where = _target(columns, options, target, dropped)
    if where in dropped:
        raise DataError(f"the target column {options.target or where + 1!r} is among the dropped columns; change target or drop")
    groups = _position(options.groups, columns) if options.groups else None
    if groups is not None and groups in dropped | {where}:
        what = "the target" if groups == where else "among the dropped columns"
        raise DataError(f"the column of groups, {options.groups!r}, is {what}; change groups")
    neither = sorted(columns.others - dropped - {where} - ({groups} if groups is not None else set()))
    kept = [p for p in range(len(columns.values)) if p not in dropped and p not in neither]
    if columns.names is not None:
        names = dict(enumerate(columns.names))
    else:
        inputs = iter(range(1, len(kept) + 1))
        names = {p: "y" if p == where else f"x{next(inputs)}" for p in kept}
    return _Roles(where, groups, kept, neither, names)


def _find_requests(columns: Columns, options: ReadOptions, task: TaskIfKnown, roles: _Roles) -> dict[int, _Request]:
    """Collect for every column that is kept, by position, how it is to be read."""
    new_texts = {_position(reference, columns): texts for reference, texts in options.map.items()}
    digits = {_position(reference, columns): n for reference, n in options.round.items()}
    labels = {_position(reference, columns) for reference in options.nominal}
    wanted = {_position(reference, columns) for reference in options.keep}
    return {
        p: _Request(
            is_target=p == roles.target,
            is_classes=p == roles.target and task == "classification",
            is_quantity=p == roles.target and task == "regression",
            is_labels=p in labels or p == roles.groups,
            is_kept=p in wanted,
            new_texts=new_texts.get(p),
            digits=digits.get(p),
        )
        for p in roles.kept
    }


def _position(reference: str, columns: Columns) -> int:
    """Find the position of a column given by name or by 1-based or negative position."""
    if columns.names is not None and reference in columns.names:
        return columns.names.index(reference)
    count = len(columns.values)
    if re.fullmatch(r"-?[0-9]{1,6}", reference):
        number = int(reference)
        if 1 <= number <= count:
            return number - 1
        if -count <= number <= -1:
            return count + number
        raise DataError(f"there is no column {number}: the file has {count} columns")
    known = columns.names or range(1, count + 1)
    raise DataError(unknown("column", reference, [one_line(name, 60) for name in known[:1000]]))


def _target(columns: Columns, options: ReadOptions, target: str, dropped: set[int]) -> int:
    """Find the position of the target: by option, declaration, catalogue, else the last column."""
    if options.target:
        return _position(options.target, columns)
    if options.own and target:
        return _own_target(columns, target)
    if columns.target is not None:
        return columns.target
    if columns.names is not None and target in columns.names:
        return columns.names.index(target)
    left = [p for p in range(len(columns.values)) if p not in dropped and p not in columns.others]
    if columns.others or not left:
        raise DataError("the file declares no single output column; set target to one of its columns")
    return left[-1]


def _own_target(columns: Columns, target: str) -> int:
    """Find the position of the target that the user names; no other column replaces it."""
    if columns.names is None and target == "y" and columns.target is None:
        return len(columns.values) - 1  # as tables without names call their last column
    try:
        where = _position(target, columns)
    except DataError as error:
        hint = "" if columns.names is not None else "; the file has no column names: give a position, -1 for the last column"
        raise DataError(f"target: {error}{hint}") from error
    if columns.target not in (None, where) and columns.names is not None:
        declared = one_line(columns.names[columns.target], 60)
        columns.notes.append(f"the file declares {declared!r} as its output; as another target was asked for, it is an input")
    return where


# ---- the content of one column ----


class _Content(NamedTuple):
    """Kind and values of a column: float64 array, or labels with their codes."""

    kind: ColumnKind
    values: FloatArray | pd.Categorical


def _infer_format(column: _Column, request: _Request, options: ReadOptions) -> None:
    """Infer missing values and the decimal mark in a column of a user-defined file; check that a target of classes is one."""
    numeric: bool | None = True if request.is_quantity or column.kind else None
    if request.is_classes or request.is_labels or (column.kind == "nominal" and not request.is_quantity):
        numeric = False
    column.infer_marks(numeric, options.sep)
    if request.is_classes and not request.is_labels and column.categories is None:
        check_classes(column.name, [text for text in column.texts if text is not None], options.decimal, options.sep)


def _read_content(column: _Column, request: _Request) -> _Content:
    """Read the values of a column, recoded and rounded as requested."""
    if request.new_texts is not None:
        column.recode(request.new_texts)
    if request.is_labels or request.is_classes:
        column.kind = "nominal"
    if request.is_quantity and column.kind == "nominal":
        column.kind, column.categories = "", None
    kind, values = column.content(request.is_quantity)
    if request.digits is None:
        return _Content(kind, values)
    if kind == "nominal":
        raise DataError(f"column {column.name[:60]!r} is nominal and cannot be rounded; change round")
    return _Content(kind, np.array([round(value, request.digits) for value in values.tolist()]))


def _note_values_outside(column: _Column, content: _Content, limits: tuple[float, float]) -> None:
    """Note how many values are outside the declared range of a numeric column."""
    if content.kind == "nominal":
        return
    low, high = limits
    outside = int(((content.values < low) | (content.values > high)).sum())
    if outside:
        column.note(f"{outside} values outside the declared range [{low:g}, {high:g}]")


def _as_input(column: _Column, content: _Content, unnamed: bool, is_kept: bool) -> tuple[str, _Content]:
    """Return the reason to leave a column out of the inputs (empty: none), and its content, dates as numbers."""
    reason, days = exclusion_of(column.name, content.kind, content.values, unnamed)
    if reason and not is_kept:
        return reason, content
    if days:
        column.note(f"{reason}, read as days since 1970")
        return "", _Content("real", np.array([days.get(value, np.nan) for value in content.values]))
    if not reason and content.kind == "nominal":
        n_labels, n_rows, are_many = count_labels(content.values)
        if are_many:
            column.note(f"{n_labels} labels in {n_rows} rows; leave it out (drop) if it names rows")
    return "", content


def _left_out_note(left_out: dict[str, str], n_left: int) -> str:
    """Write which columns are left out and how to keep them; raise an error if only the target is left."""
    reasons = "; ".join(f"{one_line(name, 30)} ({reason})" for name, reason in list(left_out.items())[:MOST_NAMED])
    reasons += f"; and {len(left_out) - MOST_NAMED} more" if len(left_out) > MOST_NAMED else ""
    advice = f"keep={listed(list(left_out), 3)} in the source takes them in"
    if n_left == 1:
        raise DataError(f"no inputs: every column but the target would be left out, {reasons}; {advice}")
    return f"left out of the inputs: {reasons}; {advice}"


def _scaling_ranges(columns: Columns, roles: _Roles, kinds: dict[str, str]) -> dict[str, tuple[float, float]]:
    """Collect the declared ranges of numeric inputs, by name."""
    ranges = {
        roles.names[p]: columns.ranges[p]
        for p in roles.kept
        if p in columns.ranges and p != roles.target and kinds.get(roles.names[p]) != "nominal"
    }
    if not ranges:
        raise DataError("the file declares no range of a numeric input; leave out ranges=declared")
    return ranges


@dataclass
class _Column:
    """Texts of one column while they are turned into numbers or labels; a missing value is None."""

    name: str
    texts: Sequence[str | None]
    lines: Sequence[int]
    kind: DeclaredKind
    categories: list[str] | None
    decimal: DecimalMark
    missing: tuple[str, ...]
    notes: list[str]  # of the whole table
    is_inferred: bool = False  # whether `infer_marks` looked at it

    def __post_init__(self) -> None:
        declared = set(self.categories or ())
        self._set_missing(
            {
                text
                for text in set(self.texts)
                if text is not None
                and (
                    text.lower() in ALWAYS_MISSING
                    or text in self.missing
                    or (text.lower() in USUALLY_MISSING and text not in declared)
                )
            }
        )

    def _set_missing(self, absent: set[str]) -> None:
        """Replace some texts by None."""
        self.texts = [None if text in absent else text for text in self.texts]

    def note(self, text: str) -> None:
        """Add a note that begins with the name of the column."""
        self.notes.append(f"{one_line(self.name, 60)}: {text}")

    def infer_marks(self, numeric: bool | None, separator: str) -> None:
        """Infer the decimal mark and the marks of missing values; `numeric` as in `missing_marks`."""
        texts = {text for text in self.texts if text is not None}
        if numeric is not False:
            self.decimal = decimal_of(texts, self.decimal, separator)
        absent = missing_marks(texts, numeric, self.decimal) - set(self.categories or ())
        if absent:
            counts = Counter(text for text in self.texts if text in absent)
            self.note(f"read as missing: {', '.join(f'{text!r} ({count})' for text, count in counts.most_common())}")
            self._set_missing(absent)
        self.is_inferred = True

    def error(self, text: str, problem: str) -> DataError:
        """Make the error that reports the first line with a text."""
        line = self.lines[self.texts.index(text)]
        return DataError(f"line {line}: column {self.name[:60]!r} holds {text[:60]!r}, {problem}")

    def recode(self, new: dict[str, str]) -> None:
        """Replace every text by a new one, and the declared labels with them."""
        for text in dict.fromkeys(self.texts):
            if text is not None and text not in new:
                raise self.error(text, f"which map does not recode; it knows {_first_texts(list(new))}")
        known = self.categories if self.categories is not None else list(new)
        self.texts = [None if text is None else new[text] for text in self.texts]
        self.kind = ""
        self.categories = list(dict.fromkeys(new[text] for text in known if text in new))

    def content(self, must_be_numeric: bool) -> _Content:
        """Read the texts as numbers if all are numbers, else as labels."""
        if self.kind == "nominal":
            return self._labels()
        numbers = {text: as_number(text, self.decimal) for text in set(self.texts) if text is not None}
        wrong = next((text for text in self.texts if text is not None and numbers[text] is None), None)
        if wrong is None:
            return self._numbers(numbers)
        if must_be_numeric or self.kind:
            raise self.error(wrong, "where a number is expected; correct it, or list it under missing or map")
        not_numbers = {text for text, number in numbers.items() if number is None}
        if self.is_inferred and len(not_numbers) < len(numbers):
            self._note_labels(not_numbers)
        elif len(not_numbers) * 2 < len(numbers):
            line = self.lines[self.texts.index(wrong)]
            self.note(f"read as nominal because of {wrong[:60]!r} in line {line}")
        return self._labels()

    def _numbers(self, numbers: dict[str, float | None]) -> _Content:
        """Numbers as float64, NaN where missing; the kind is integer if all are whole."""
        values = np.array([np.nan if text is None else numbers[text] for text in self.texts], dtype=np.float64)
        finite = values[np.isfinite(values)]
        whole = finite.size > 0 and np.isfinite(values[~np.isnan(values)]).all() and (finite == np.floor(finite)).all()
        if self.kind == "integer" and not whole and finite.size:
            self.note("declared integer, but holds fractions; read as real")
        return _Content("real" if self.kind == "real" or not whole else "integer", values)

    def _note_labels(self, not_numbers: set[str]) -> None:
        """Note which texts keep a column from being read as numbers, each with its first line."""
        first: dict[str, int] = {}
        for text, line in zip(self.texts, self.lines):
            if text in not_numbers:
                first.setdefault(text, line)
        shown = ", ".join(f"{text[:30]!r} (line {line})" for text, line in list(first.items())[:5])
        more = f" and {len(first) - 5} more" if len(first) > 5 else ""
        are = "is not a number" if len(first) == 1 else "are not numbers"
        self.note(f"read as labels, because {shown}{more} {are}; list texts that mean a missing value under missing")

    def _labels(self) -> _Content:
        """Labels in the declared order, else sorted; an undeclared label is an error."""
        present = dict.fromkeys(text for text in self.texts if text is not None)
        categories = self.categories if self.categories is not None else sorted(present)
        codes: dict[str | None, int] = {text: code for code, text in enumerate(categories)}
        for text in present:
            if text not in codes:
                raise self.error(text, f"a label that the header does not declare; it declares {_first_texts(categories)}")
        codes[None] = -1
        return _Content("nominal", pd.Categorical.from_codes([codes[text] for text in self.texts], categories=categories))


def _first_texts(texts: list[str]) -> str:
    """Join the first texts of a list, quoted, for messages."""
    return ", ".join(repr(text[:30]) for text in texts[:12]) + (", ..." if len(texts) > 12 else "")


def _first_names(names: list[str]) -> str:
    """Join the first names of a list, for messages."""
    return ", ".join(one_line(name, 60) for name in names[:12]) + (", ..." if len(names) > 12 else "")
