"""From columns of texts, as a format reads them, to a table with kinds and labels."""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from foldshift.datasets.download import one_line
from foldshift.datasets.options import ReadOptions
from foldshift.datasets.table import RawTable
from foldshift.datasets.texts import as_number, check_width
from foldshift.errors import DataError, unknown

ALWAYS_MISSING = {"?", "<null>"}
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
    """

    names: list | None
    values: list
    lines: list
    kinds: list
    categories: list
    target: int | None = None
    others: set = field(default_factory=set)
    ranges: dict = field(default_factory=dict)


def _shown(texts):
    """Some of a list of texts from a file, for messages."""
    return ", ".join(repr(text[:30]) for text in texts[:12]) + (", ..." if len(texts) > 12 else "")


def _listed(names):
    return ", ".join(one_line(name, 60) for name in names[:12]) + (", ..." if len(names) > 12 else "")


def row_columns(rows, lines, options, header):
    """Columns from rows of texts, of a format whose header has names at most.

    Parameters
    ----------
    rows : list of list of str
        Texts, blanks stripped. Rows without any text, and unnamed columns without any text at the end, do not count.
    lines : sequence of int
        Line of every row.
    options : ReadOptions
    header : bool
        Whether such files have a row of names where the options do not say.

    Returns
    -------
    columns : Columns

    Raises
    ------
    DataError
        If there are no rows, they differ in length, or the header is missing.
    """
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
    if names is not None:
        names = [name or f"x{position}" for position, name in enumerate(names, 1)]
    return Columns(names, values, lines, [""] * len(values), [None] * len(values))


def _position(reference, columns):
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


def _target(columns, options, target, dropped):
    """Position of the target: option, declaration, catalogue, last column."""
    if options.target:
        return _position(options.target, columns)
    if columns.target is not None:
        return columns.target
    if columns.names is not None and target in columns.names:
        return columns.names.index(target)
    left = [p for p in range(len(columns.values)) if p not in dropped and p not in columns.others]
    if columns.others or not left:
        raise DataError("the file declares no single output column; set target to one of its columns")
    return left[-1]


def build_table(columns, options, task, target):
    """Make a table of columns of text.

    Parameters
    ----------
    columns : Columns
        As a format reads them.
    options : ReadOptions or None
        How to read them.
    task, target : str
        As in `foldshift.datasets.parsers.read_table`.

    Returns
    -------
    table : RawTable

    Raises
    ------
    DataError
        If there is nothing to read, a column that is asked for does not exist, or a text does not fit its column.
    """
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
    others = sorted(columns.others - dropped - {where})
    kept = [p for p in range(len(columns.values)) if p not in dropped and p not in others]
    names = columns.names
    if names is None:
        inputs = iter(range(1, len(kept) + 1))
        names = {p: "y" if p == where else f"x{next(inputs)}" for p in kept}
    table = RawTable(frame=None, target=names[where], kinds={})
    if others:
        table.notes.append(f"left out, neither input nor target: {_listed([names[p] for p in others])}")
    recode = {_position(reference, columns): texts for reference, texts in options.map.items()}
    digits = {_position(reference, columns): n for reference, n in options.round.items()}
    labels = {_position(reference, columns) for reference in options.nominal}
    series = {}
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
        if p in recode:
            column.recode(recode[p])
        if p in labels or (p == where and task == "classification"):
            column.kind = "nominal"
        numeric = p == where and task == "regression"
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
        table.kinds[names[p]], series[names[p]] = kind, content
    table.frame = pd.DataFrame(series)
    return table


@dataclass
class _Column:
    """Texts of one column on their way to numbers or labels."""

    name: str
    texts: tuple
    lines: list
    kind: str
    categories: list | None
    decimal: str
    missing: tuple
    notes: list

    def __post_init__(self):
        declared = set(self.categories or ())
        absent = {
            text
            for text in set(self.texts)
            if text.lower() in ALWAYS_MISSING
            or text in self.missing
            or (text.lower() in USUALLY_MISSING and text not in declared)
        }
        self.texts = [None if text in absent else text for text in self.texts]

    def bad(self, text, problem):
        line = self.lines[self.texts.index(text)]
        return DataError(f"line {line}: column {self.name[:60]!r} holds {text[:60]!r}, {problem}")

    def recode(self, new):
        for text in dict.fromkeys(self.texts):
            if text is not None and text not in new:
                raise self.bad(text, f"which map does not recode; it knows {_shown(list(new))}")
        known = self.categories if self.categories is not None else list(new)
        self.texts = [None if text is None else new[text] for text in self.texts]
        self.kind = ""
        self.categories = list(dict.fromkeys(new[text] for text in known if text in new))

    def content(self, numeric):
        """Kind and values: float64 array or `pandas.Categorical`."""
        if self.kind == "nominal":
            return "nominal", self._labels()
        numbers = {text: as_number(text, self.decimal) for text in set(self.texts) - {None}}
        wrong = next((text for text in self.texts if text is not None and numbers[text] is None), None)
        if wrong is not None and (numeric or self.kind):
            raise self.bad(wrong, "where a number is expected; correct it, or list it under missing or map")
        if wrong is not None:
            odd = sum(number is None for number in numbers.values())
            if odd * 2 < len(numbers):
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

    def _labels(self):
        present = dict.fromkeys(text for text in self.texts if text is not None)
        categories = self.categories if self.categories is not None else sorted(present)
        codes = {text: code for code, text in enumerate(categories)}
        for text in present:
            if text not in codes:
                raise self.bad(text, f"a label that the header does not declare; it declares {_shown(categories)}")
        codes[None] = -1
        return pd.Categorical.from_codes([codes[text] for text in self.texts], categories=categories)
