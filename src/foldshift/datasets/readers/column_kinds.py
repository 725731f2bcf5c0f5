"""From columns of texts, as a format reads them, to a table with kinds and labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError, unknown
from foldshift.datasets.readers.infer import check_classes, decimal_of, listed, many_labels, marks_among, no_input
from foldshift.datasets.readers.raw_table import RawTable
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.text_fields import as_number, check_width
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray

ALWAYS_MISSING = {"?", "<null>"}
MOST_NAMED = 8  # columns in one line
USUALLY_MISSING = {"", "na", "nan"}  # unless the header declares them as a label


@dataclass
class Columns:
    """What a format says: columns of text, still as in the file.

    Attributes
    ----------
    names : list of str or None
        Column names; None if the file gives none.
    values : list of sequence of str
        One sequence of texts per column, blanks stripped.
    lines : sequence of int
        The line (or row) of the file that each row was read from, for messages.
    kinds : list of {"real", "integer", "numeric", "nominal", ""}
        Declared kind of every column; ``numeric``: real or integer by the values; empty: not declared.
    categories : list of (list of str or None)
        Declared labels of nominal columns; None: not declared.
    target : int or None
        Position of the declared target.
    others : set of int
        Positions of columns that are neither inputs nor target.
    ranges : dict of int to tuple of float
        Declared range of numeric columns.
    unnamed : set of int
        Positions of columns whose name in the file is empty.
    notes : list of str
        What was assumed in reading.
    """

    names: list[str] | None
    values: list[Sequence[str]]
    lines: Sequence[int]
    kinds: list[Literal["real", "integer", "numeric", "nominal", ""]]
    categories: list[list[str] | None]
    target: int | None = None
    others: set[int] = field(default_factory=set)
    ranges: dict[int, tuple[float, ...]] = field(default_factory=dict)
    unnamed: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def _shown(texts: list[str]) -> str:
    """Some of a list of texts from a file, for messages."""
    return ", ".join(repr(text[:30]) for text in texts[:12]) + (", ..." if len(texts) > 12 else "")


def _listed(names: list[str]) -> str:
    return ", ".join(one_line(name, 60) for name in names[:12]) + (", ..." if len(names) > 12 else "")


def row_columns(rows: list[list[str]], lines: Sequence[int], options: ReadOptions, header: bool) -> Columns:
    """Columns from rows of texts, of a format whose header has names at most."""
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


def _position(reference: str, columns: Columns) -> int:
    """Position of a column given by name or by 1-based or negative position."""
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
    """Position of the target: option, declaration, catalogue, last column."""
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
    """Position of the target that the user names; nothing stands in for it."""
    if columns.names is None and target == "y" and columns.target is None:
        return len(columns.values) - 1  # as tables without names call their last column
    try:
        where = _position(target, columns)
    except DataError as error:
        hint = "" if columns.names is not None else "; the file has no column names: give a position, -1 for the last column"
        raise DataError(f"target: {error}{hint}") from error
    if columns.target not in (None, where):
        declared = one_line(columns.names[columns.target], 60)
        columns.notes.append(f"the file declares {declared!r} as its output; as another target was asked for, it is an input")
    return where


def build_table(columns: Columns, options: ReadOptions | None, task: str, target: str) -> RawTable:
    """Make a table of columns of text."""
    options = options or ReadOptions()
    if not columns.values or not columns.lines:
        raise DataError("no rows or no columns; the file is empty or truncated")
    check_width(columns.values)
    if columns.names is not None:
        repeated = [name for name, count in Counter(columns.names).items() if count > 1]
        if repeated:
            raise DataError(f"column name {repeated[0][:60]!r} occurs more than once; make the names in the header distinct")
    dropped = {_position(reference, columns) for reference in options.drop}
    where = _target(columns, options, target, dropped)
    if where in dropped:
        raise DataError(f"the target column {options.target or where + 1!r} is among the dropped columns; change target or drop")
    together = _position(options.groups, columns) if options.groups else None
    if together is not None and together in dropped | {where}:
        what = "the target" if together == where else "among the dropped columns"
        raise DataError(f"the column of groups, {options.groups!r}, is {what}; change groups")
    others = sorted(columns.others - dropped - {where, together})
    kept = [p for p in range(len(columns.values)) if p not in dropped and p not in others]
    names = columns.names
    if names is None:
        inputs = iter(range(1, len(kept) + 1))
        names = {p: "y" if p == where else f"x{next(inputs)}" for p in kept}
    groups = "" if together is None else names[together]
    table = RawTable(frame=None, target=names[where], kinds={}, notes=[*columns.notes], own=options.own, groups=groups)
    if others:
        table.notes.append(f"left out, neither input nor target: {_listed([names[p] for p in others])}")
    recode = {_position(reference, columns): texts for reference, texts in options.map.items()}
    digits = {_position(reference, columns): n for reference, n in options.round.items()}
    labels = {_position(reference, columns) for reference in options.nominal} | {together}
    wanted = {_position(reference, columns) for reference in options.keep}
    series, commas = {}, {}
    for p in kept:
        column = _Column(
            name=names[p],
            texts=columns.values[p],
            lines=columns.lines,
            kind=columns.kinds[p],
            categories=columns.categories[p],
            decimal=options.decimal,
            missing=options.missing,
            notes=table.notes,
        )
        is_class, numeric = p == where and task == "classification", p == where and task == "regression"
        if options.own:
            as_labels = is_class or p in labels or (column.kind == "nominal" and not numeric)
            column.look(False if as_labels else numeric or bool(column.kind) or None, options.sep)
            if column.decimal != options.decimal:
                commas[names[p]] = next(text for text in column.texts if text and "," in text)
            if is_class and p not in labels and columns.categories[p] is None:
                check_classes(names[p], [text for text in column.texts if text is not None], options.decimal, options.sep)
        if p in recode:
            column.recode(recode[p])
        if p in labels or is_class:
            column.kind = "nominal"
        if numeric and column.kind == "nominal":
            column.kind, column.categories = "", None
        kind, content = column.content(numeric)
        if p in digits:
            if kind == "nominal":
                raise DataError(f"column {names[p][:60]!r} is nominal and cannot be rounded; change round")
            content = np.array([round(value, digits[p]) for value in content.tolist()])
        if p in columns.ranges and kind != "nominal":
            low, high = columns.ranges[p]
            outside = int(((content < low) | (content > high)).sum())
            if outside:
                table.notes.append(f"{one_line(names[p], 60)}: {outside} values outside the declared range [{low:g}, {high:g}]")
        if options.own and p != where and p not in labels:
            why, days = no_input(names[p], kind, content, p in columns.unnamed)
            if why and p not in wanted:
                table.left_out[names[p]] = why
                continue
            if days:
                kind, content = "real", np.array([days.get(value, np.nan) for value in content])
                table.notes.append(f"{one_line(names[p], 60)}: {why}, read as days since 1970")
            elif not why and (crowded := many_labels(kind, content)):
                table.notes.append(
                    f"{one_line(names[p], 60)}: {crowded[0]} labels in {crowded[1]} rows; leave it out (drop) if it names rows"
                )
        table.kinds[names[p]], series[names[p]] = kind, content
    if commas:
        name, text = next(iter(commas.items()))
        read = f"{text[:30]!r} of {one_line(name, 60)} is read as {text.replace(',', '.')[:30]}"
        table.notes.append(f"decimal commas in {_listed(list(commas))}: {read}")
    if table.left_out:
        _say_left_out(table)
    table.frame = pd.DataFrame(series)
    if options.ranges:
        table.ranges = {
            names[p]: columns.ranges[p] for p in kept if p in columns.ranges and table.kinds.get(names[p]) != "nominal"
        }
        table.ranges.pop(table.target, None)
        if not table.ranges:
            raise DataError("the file declares no range of a numeric input; leave out ranges=declared")
    return table


def _say_left_out(table: RawTable) -> None:
    """One line on what is no input, and how it becomes one; an error where nothing else is left."""
    whys = "; ".join(f"{one_line(name, 30)} ({why})" for name, why in list(table.left_out.items())[:MOST_NAMED])
    whys += f"; and {len(table.left_out) - MOST_NAMED} more" if len(table.left_out) > MOST_NAMED else ""
    advice = f"keep={listed(list(table.left_out), 3)} in the source takes them in"
    if len(table.kinds) == 1:
        raise DataError(f"no inputs: every column but the target would be left out, {whys}; {advice}")
    table.notes.append(f"left out of the inputs: {whys}; {advice}")


@dataclass
class _Column:
    """Texts of one column on their way to numbers or labels."""

    name: str
    texts: tuple[Any, ...]
    lines: list[Any]
    kind: str
    categories: list | None
    decimal: str
    missing: tuple[Any, ...]
    notes: list[Any]
    own: bool = False

    def __post_init__(self) -> None:
        declared = set(self.categories or ())
        absent = {
            text
            for text in set(self.texts)
            if text.lower() in ALWAYS_MISSING
            or text in self.missing
            or (text.lower() in USUALLY_MISSING and text not in declared)
        }
        self.texts = [None if text in absent else text for text in self.texts]

    def look(self, numeric: bool | None, separator: str) -> None:
        """Find decimal commas and marks of missing values in a column of the user's own; `numeric` as in `marks_among`."""
        texts = {text for text in set(self.texts) if text is not None}
        if numeric is not False:
            self.decimal = decimal_of(texts, self.decimal, separator)
        absent = marks_among(texts, numeric, self.decimal) - set(self.categories or ())
        if absent:
            counts = Counter(text for text in self.texts if text in absent)
            shown = ", ".join(f"{text!r} ({count})" for text, count in counts.most_common())
            self.notes.append(f"{one_line(self.name, 60)}: read as missing: {shown}")
            self.texts = [None if text in absent else text for text in self.texts]
        self.own = True

    def bad(self, text: str, problem: str) -> DataError:
        line = self.lines[self.texts.index(text)]
        return DataError(f"line {line}: column {self.name[:60]!r} holds {text[:60]!r}, {problem}")

    def recode(self, new: dict[str, str]) -> None:
        for text in dict.fromkeys(self.texts):
            if text is not None and text not in new:
                raise self.bad(text, f"which map does not recode; it knows {_shown(list(new))}")
        known = self.categories if self.categories is not None else list(new)
        self.texts = [None if text is None else new[text] for text in self.texts]
        self.kind = ""
        self.categories = list(dict.fromkeys(new[text] for text in known if text in new))

    def content(self, numeric: bool) -> tuple[str, FloatArray | pd.Categorical]:
        """Kind and values: float64 array or `pandas.Categorical`."""
        if self.kind == "nominal":
            return "nominal", self._labels()
        numbers = {text: as_number(text, self.decimal) for text in set(self.texts) - {None}}
        wrong = next((text for text in self.texts if text is not None and numbers[text] is None), None)
        if wrong is not None and (numeric or self.kind):
            raise self.bad(wrong, "where a number is expected; correct it, or list it under missing or map")
        if wrong is not None:
            odd = [text for text, number in numbers.items() if number is None]
            if self.own and len(odd) < len(numbers):
                self.notes.append(self._why_nominal(set(odd)))
            elif len(odd) * 2 < len(numbers):
                line = self.lines[self.texts.index(wrong)]
                self.notes.append(f"{one_line(self.name, 60)}: read as nominal because of {wrong[:60]!r} in line {line}")
            return "nominal", self._labels()
        numbers[None] = np.nan
        values = np.array([numbers[text] for text in self.texts], dtype=np.float64)
        finite = values[np.isfinite(values)]
        whole = finite.size > 0 and np.isfinite(values[~np.isnan(values)]).all() and (finite == np.floor(finite)).all()
        if self.kind == "integer" and not whole and finite.size:
            self.notes.append(f"{one_line(self.name, 60)}: declared integer, but holds fractions; read as real")
        if self.kind == "real" or not whole:
            return "real", values
        return "integer", values

    def _why_nominal(self, odd: set[str]) -> str:
        """Which values are no numbers in a column that has numbers."""
        first: dict[Any, Any] = {}
        for text, line in zip(self.texts, self.lines):
            if text in odd:
                first.setdefault(text, line)
        shown = ", ".join(f"{text[:30]!r} (line {line})" for text, line in list(first.items())[:5])
        more = f" and {len(first) - 5} more" if len(first) > 5 else ""
        return (
            f"{one_line(self.name, 60)}: read as labels, for {shown}{more} is no number; list under missing what stands for none"
        )

    def _labels(self) -> pd.Categorical:
        present = dict.fromkeys(text for text in self.texts if text is not None)
        categories = self.categories if self.categories is not None else sorted(present)
        codes = {text: code for code, text in enumerate(categories)}
        for text in present:
            if text not in codes:
                raise self.bad(text, f"a label that the header does not declare; it declares {_shown(categories)}")
        codes[None] = -1
        return pd.Categorical.from_codes([codes[text] for text in self.texts], categories=categories)
