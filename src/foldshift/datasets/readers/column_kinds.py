"""Columns of text from any file format, and the table of numbers and labels that is made from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError, message_of, unknown
from foldshift.core.remedies import Message, Remedy
from foldshift.datasets.readers.columns.dressed_numbers import are_plain, decimal_of_file, find_dress
from foldshift.datasets.readers.columns.marks import USUAL, may_be_missing
from foldshift.datasets.readers.columns.text_values import (
    Cells,
    Column,
    Content,
    DeclaredKind,
    FileMarks,
    different_texts,
    first_names,
)
from foldshift.datasets.readers.infer import begins_blocks, check_classes, count_labels, counts_rows, exclusion_of, names_rows
from foldshift.datasets.readers.raw_table import RawTable
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.receipt import Receipt
from foldshift.datasets.readers.text_fields import check_width
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, TaskIfKnown

NO_VALUES = "no values"  # reason to leave out a column
LEAST_COLUMNS = 2  # with so few, a column that counts the rows may be the input
MOST_NAMED = 8  # columns in one line


@dataclass
class Columns:
    """Columns as a format reads them, before their values are interpreted."""

    names: list[str] | None  # column names; None if the file gives none
    values: Sequence[Cells]  # one sequence of texts per column, blanks stripped, or an array of numbers
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
    receipt: Receipt = field(default_factory=Receipt)  # every decision


class Source(NamedTuple):
    """Columns before their values are read, and what was then found out about them."""

    columns: Columns
    options: ReadOptions
    notes: list[str]  # on single columns
    dates: list[str]  # columns of dates that were read as days


def build_table(columns: Columns, options: ReadOptions | None, task: TaskIfKnown, target: str) -> RawTable:
    """Build a table from columns of text: give each column its role, read its values, leave out what is not an input."""
    options = options or ReadOptions()
    _rename(columns, options)
    _check_shape_and_names(columns, options)
    notes, dates = columns.notes, list[str]()
    source = None
    if options.own and not options.has_target:
        source = Source(replace(columns, notes=[], receipt=Receipt()), options, [], dates)
    n_said = len(notes)
    marks = file_marks(columns, options) if options.own else FileMarks()
    roles = _find_roles(columns, options, target, marks)
    requests = _find_requests(columns, options, task, roles)
    if roles.neither:
        notes.append(f"left out, neither input nor target: {first_names([roles.names[p] for p in roles.neither])}")
    kinds: dict[str, str] = {}
    values: dict[str, FloatArray | pd.Categorical] = {}
    left_out: dict[str, str] = {}
    row_names: dict[str, pd.Categorical] = {}
    commas: dict[str, str] = {}  # column to one of its numbers with a decimal comma
    for position, request in requests.items():
        name = roles.names[position]
        column = _column(columns, position, name, options, request, notes)
        if options.own:
            _infer_format(column, request, marks)
            if column.dress.decimal == "," and not column.dress.signs and not column.dress.thousands:
                commas[name] = next(text for text in column.texts if "," in text)
        content = _read_content(column, request)
        if position in columns.ranges:
            _note_values_outside(column, content, columns.ranges[position])
        if options.own and not request.is_target and not request.is_labels:
            reason, content, is_date = _as_input(column, content, position in columns.unnamed, request)
            dates += [name] if is_date else []
            if not reason and not request.is_kept and counts_rows(*content):
                if columns.names is None and position == 0 and len(columns.values) > LEAST_COLUMNS:
                    reason = "numbers the rows"
                else:
                    column.note(
                        "counts the rows; if it is no input: ",
                        Remedy("drop", (str(position + 1),) if columns.names is None else (name,)),
                    )
            if reason:
                left_out[name] = reason
                if isinstance(content.values, pd.Categorical) and names_rows(content.values):
                    row_names[name] = content.values
                continue
            if position in columns.unnamed and not request.is_kept:
                column.note("an input without a name in the file; if it is no input: ", Remedy("drop", (name,)))
        kinds[name], values[name] = content
    if commas:
        name, text = next(iter(commas.items()))
        read = f"{text[:30]!r} of {one_line(name, 60)} is read as {text.replace(',', '.')[:30]}"
        notes.append(f"decimal commas in {first_names(list(commas))}: {read}")
        columns.receipt.add("decimal mark", f"a comma, {read}", "sure", Remedy("decimal", "."))
    if left_out:
        if options.has_target and len(kinds) == (roles.target is not None):
            raise _no_inputs(left_out, notes)
        notes.append(_left_out_note(left_out))
    if source is not None:
        source.notes.extend(notes[n_said:])
    return RawTable(
        frame=pd.DataFrame(values, copy=False),
        target=roles.name(roles.target),
        kinds=kinds,
        notes=notes,
        left_out=left_out,
        row_names=row_names,
        own=options.own,
        groups=roles.name(roles.groups),
        time_on=_time_column(roles, kinds),
        subset_on=roles.name(roles.subset),
        space_on=_place_columns(roles, kinds),
        ranges=_scaling_ranges(columns, roles, kinds) if options.ranges else {},
        receipt=columns.receipt,
        source=source,
    )


def _rename(columns: Columns, options: ReadOptions) -> None:
    """Give the columns the names that the user chose."""
    if not options.names:
        return
    if len(options.names) != len(columns.values):
        raise DataError(
            f"{len(options.names)} names for {len(columns.values)} columns ({', '.join(options.names[:12])}); give one for each"
        )
    columns.names, columns.unnamed = list(options.names), set()


def file_marks(columns: Columns, options: ReadOptions) -> FileMarks:
    """Find the decimal mark of a file, and the marks for missing values among its numbers."""
    numeric: list[set[str]] = []
    missing: set[str] = set()
    for cells, categories, kind in zip(columns.values, columns.categories, columns.kinds):
        texts = set() if categories is not None or kind == "nominal" else different_texts(cells)
        plain = texts if are_plain(texts) else {text for text in texts if not may_be_missing(text)}
        if plain and find_dress(plain, options.decimal, options.thousands) is not None:
            numeric.append(plain)
            missing |= {text for text in texts if text.lower() in USUAL}
    return FileMarks(decimal_of_file(numeric), frozenset(missing))


def _column(
    columns: Columns, position: int, name: str, options: ReadOptions, request: _Request | None, notes: list[str]
) -> Column:
    """Take one column out of those of a file."""
    return Column(
        name=name,
        cells=columns.values[position],
        lines=columns.lines,
        kind=columns.kinds[position],
        categories=columns.categories[position],
        options=options,
        notes=notes,
        wish=request.wish if request is not None else "",
    )


# ---- the role of every column ----


class _Roles(NamedTuple):
    """Positions of columns by role, and the names of those that have one."""

    target: int | None  # None: the table has no target
    groups: int | None
    time: int | None
    subset: int | None
    kept: list[int]  # target, groups, time, subset and inputs, in the order of the file
    place: list[int]  # inputs that give the place of every row
    neither: list[int]  # declared as neither input nor target
    names: dict[int, str]

    def name(self, position: int | None) -> str:
        """Name of the column of a role; empty if there is none."""
        return "" if position is None else self.names[position]


class _Request(NamedTuple):
    """Request of the task and the options for how to read one column."""

    is_target: bool
    is_classes: bool  # target of a classification
    is_quantity: bool  # target of a regression, or a column of numbers by the options
    is_labels: bool  # nominal by the options, or the column of groups or subsets
    is_kept: bool  # an input even if it does not look like one
    new_texts: dict[str, str] | None  # from the option `map`
    digits: int | None  # to round to
    wish: str  # type by the options


def _check_shape_and_names(columns: Columns, options: ReadOptions) -> None:
    """Refuse a table without rows or columns, too many columns, and names that occur twice."""
    if not columns.values or not columns.lines:
        raise DataError("no rows or no columns; the file is empty or truncated")
    check_width(columns.values)
    repeated = [name for name, count in Counter(columns.names or ()).items() if count > 1]
    if repeated and not options.own:
        raise DataError(f"column name {repeated[0][:60]!r} occurs more than once; make the names in the header distinct")
    if repeated and columns.names is not None:
        given, columns.names = columns.names, _distinct(columns.names)
        shown = ", ".join(new for old, new in zip(given, columns.names) if old != new)
        what = f"the names {first_names(repeated)} occur more than once, read as {shown[:100]}; to name the columns: "
        columns.notes.append(Message(what, Remedy("names", tuple(columns.names))))


def _distinct(names: list[str]) -> list[str]:
    """Number the names that occur again, from 2."""
    seen, distinct = set[str](), list[str]()
    for name in names:
        new, number = name, 1
        while new in seen or (number > 1 and new in names):
            number += 1
            new = f"{name}.{number}"
        seen.add(new)
        distinct.append(new)
    return distinct


def _find_roles(columns: Columns, options: ReadOptions, target: str, marks: FileMarks) -> _Roles:
    """Find the target, the column of groups and the columns to keep; name the columns if the file does not."""
    dropped = {_position("drop", reference, columns) for reference in options.drop}
    where = _target(columns, options, target, dropped, marks) if options.has_target else None
    if where is not None and where in dropped:
        raise DataError(
            f"the target column {options.target or where + 1!r} is among the dropped columns; drop another, or name "
            "another target"
        )
    taken = dict.fromkeys(dropped, "among the dropped columns") | {where: "the target"}
    groups = _role("groups", options.groups, "groups", columns, taken)
    time = _role("time_on", options.time_on, "times", columns, taken)
    subset = _role("subset_on", options.subset_on, "subsets", columns, taken)
    neither = sorted(columns.others - dropped - {where, groups, time, subset})
    kept = [p for p in range(len(columns.values)) if p not in dropped and p not in neither]
    if columns.names is not None:
        names = dict(enumerate(columns.names))
    elif options.own:  # by position, so that a column keeps its name when others are dropped
        names = {p: "y" if p == where else f"x{p + 1}" for p in kept}
    else:
        inputs = iter(range(1, len(kept) + 1))
        names = {p: "y" if p == where else f"x{next(inputs)}" for p in kept}
    place = [_role("space_on", reference, "the place", columns, taken) for reference in options.space_on]
    return _Roles(where, groups, time, subset, kept, [p for p in place if p is not None], neither, names)


def _role(setting: str, reference: str, of_what: str, columns: Columns, taken: dict[int | None, str]) -> int | None:
    """Find the column that a setting names, and mark it as `taken`; refuse one that has another role. None if none is named."""
    if not reference:
        return None
    position = _position(setting, reference, columns)
    if position in taken:
        what = f"the column of {of_what}, {reference!r}, is {taken[position]}"
        raise DataError(f"{what}; name another column of {of_what}, or none")
    taken[position] = f"the column of {of_what}"
    return position


def _time_column(roles: _Roles, kinds: dict[str, str]) -> str:
    """Name of the column of times, or nothing; refuse one that holds neither dates nor numbers."""
    name = roles.name(roles.time)
    if name and kinds.get(name, "nominal") == "nominal":
        raise DataError(f"the column of times, {name!r}, holds neither dates of one form nor numbers; name another column")
    return name


def _place_columns(roles: _Roles, kinds: dict[str, str]) -> tuple[str, ...]:
    """Names of the columns of the place; refuse those that hold no numbers."""
    names = tuple(roles.names[p] for p in roles.place)
    for name in names:
        if kinds.get(name, "nominal") == "nominal":
            remedy = Remedy("types", ((name, "number"),))
            raise DataError(f"the column of the place, {name!r}, holds no numbers; name another column, or take ", remedy)
    return names


def _find_requests(columns: Columns, options: ReadOptions, task: TaskIfKnown, roles: _Roles) -> dict[int, _Request]:
    """Collect for every column that is kept, by position, how it is to be read."""
    new_texts = {_position("map", reference, columns): texts for reference, texts in options.map.items()}
    digits = {_position("round", reference, columns): n for reference, n in options.round.items()}
    wishes = dict.fromkeys((_position("nominal", reference, columns) for reference in options.nominal), "nominal")
    wishes |= {_position("types", reference, columns): kind for reference, kind in options.types.items()}
    wanted = {_position("keep", reference, columns) for reference in options.keep}
    return {
        p: _Request(
            is_target=p == roles.target,
            is_classes=p == roles.target and task == "classification",
            is_quantity=(p == roles.target and task == "regression") or wishes.get(p) == "number",
            is_labels=wishes.get(p) == "nominal" or p in (roles.groups, roles.subset),
            is_kept=p in wanted or p in wishes or p in (*roles.place, roles.time),
            new_texts=new_texts.get(p),
            digits=digits.get(p),
            wish=wishes.get(p, ""),
        )
        for p in roles.kept
    }


def _position(setting: str, reference: str, columns: Columns) -> int:
    """Find the position of a column that a setting names; the error names the setting."""
    try:
        return find_position(reference, columns)
    except DataError as error:
        raise DataError(f"{setting}: ", message_of(error)) from error


def find_position(reference: str, columns: Columns) -> int:
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
        raise DataError(f"there is no column {number}: the file has {count} columns, 1 to {count} or -1 to -{count}")
    if columns.names is None and (found := re.fullmatch(r"x([1-9][0-9]{0,5})", reference)) and int(found[1]) <= count:
        return int(found[1]) - 1  # as tables without names call their columns
    known = columns.names or range(1, count + 1)
    raise DataError(unknown("column", reference, [one_line(name, 60) for name in known[:1000]]))


def _target(columns: Columns, options: ReadOptions, target: str, dropped: set[int], marks: FileMarks) -> int:
    """Find the position of the target: by option, declaration, catalogue, else the last column."""
    if options.own and options.target:
        return _own_target(columns, options.target)
    if options.target:
        return find_position(options.target, columns)
    if options.own and target:
        return _own_target(columns, target)
    if columns.target is not None:
        return columns.target
    if columns.names is not None and target in columns.names:
        return columns.names.index(target)
    left = [p for p in range(len(columns.values)) if p not in dropped and p not in columns.others]
    if columns.others or not left:
        raise DataError("the file declares no single output column; set target to one of its columns")
    return _usual_target(columns, options, left, marks) if options.own else left[-1]


def _usual_target(columns: Columns, options: ReadOptions, left: list[int], marks: FileMarks) -> int:
    """Find the last column that is not a date and does not number or name the rows, and say that it is the target."""
    where = left[-1]
    for position in reversed(left):
        name = columns.names[position] if columns.names is not None else ""
        column = _column(columns, position, name, options, None, [])
        column.infer(False if column.kind == "nominal" else None, marks)
        kind, values = column.content(False)
        if len(left) == 1 or not exclusion_of(name, kind, values, position in columns.unnamed).reason:
            where = position
            break
    shown = "y" if columns.names is None else columns.names[where]
    which = "the last column" if where == len(columns.values) - 1 else "the last column that can be one"
    remedy = Remedy("target", str(where + 1) if columns.names is None else shown)
    columns.notes.insert(0, Message(f"the target is {one_line(shown, 60)!r}, {which}, as none was named; to say so: ", remedy))
    columns.receipt.add("target", f"{shown!r}, {which}", "unsure", remedy)
    return where


def _own_target(columns: Columns, target: str) -> int:
    """Find the position of the target that the user names; no other column replaces it."""
    if columns.names is None and target == "y" and columns.target is None:
        return len(columns.values) - 1  # as tables without names call their last column
    try:
        where = find_position(target, columns)
    except DataError as error:
        hint = "" if columns.names is not None else " The file has no column names: give a position, -1 for the last column"
        raise DataError("target: ", message_of(error), hint) from error
    if columns.target not in (None, where) and columns.names is not None:
        declared = one_line(columns.names[columns.target], 60)
        columns.notes.append(f"the file declares {declared!r} as its output; as another target was asked for, it is an input")
    return where


# ---- the content of one column ----


def _infer_format(column: Column, request: _Request, marks: FileMarks) -> None:
    """Infer missing values and the dress of numbers in a column; check that a target of classes is one."""
    numeric: bool | None = True if request.is_quantity or column.kind else None
    if request.is_classes or request.is_labels or (column.kind == "nominal" and not request.is_quantity):
        numeric = False
    if request.is_quantity and column.kind == "nominal":
        column.kind, column.categories = "", None
    column.infer(numeric, marks, merge=not request.is_labels)
    if request.is_classes and not request.is_labels and column.categories is None:
        check_classes(column, marks.decimal)


def _read_content(column: Column, request: _Request) -> Content:
    """Read the values of a column, recoded and rounded as requested."""
    if request.new_texts is not None:
        column.recode(request.new_texts)
    if request.is_labels or request.is_classes:
        column.kind = "nominal"
    if request.is_quantity and column.kind == "nominal":
        column.kind, column.categories = "", None
    kind, values = column.content(request.is_quantity)
    if request.digits is None:
        return Content(kind, values)
    if kind == "nominal":
        raise DataError(f"column {column.name[:60]!r} is nominal and cannot be rounded; change round")
    return Content(kind, np.array([round(value, request.digits) for value in values.tolist()]))


def _note_values_outside(column: Column, content: Content, limits: tuple[float, float]) -> None:
    """Note how many values are outside the declared range of a numeric column."""
    if content.kind == "nominal":
        return
    low, high = limits
    outside = int(((content.values < low) | (content.values > high)).sum())
    if outside:
        column.note(f"{outside} values outside the declared range [{low:g}, {high:g}]")


def _as_input(column: Column, content: Content, unnamed: bool, request: _Request) -> tuple[str, Content, bool]:
    """Return the reason to leave a column out of the inputs (empty: none), its content, and whether dates became numbers."""
    if pd.isna(content.values).all() and not request.is_kept and column.options.has_target:
        return NO_VALUES, content, False
    reason, days = exclusion_of(column.name, content.kind, content.values, unnamed)
    if reason and not request.is_kept:
        return reason, content, False
    if request.wish == "date" and not days:
        raise DataError(f"column {column.name[:60]!r} does not hold dates of one form; leave out its type")
    if days and request.wish != "number":
        column.note(f"{reason}, read as days since 1970")
        return "", Content("real", np.array([days.get(value, np.nan) for value in content.values])), True
    if not reason and content.kind == "nominal":
        n_labels, n_rows, are_many = count_labels(content.values)
        if begins_blocks(content.values):
            column.note(
                f"{len(content.values) - n_rows} of {len(content.values)} cells are empty, as if a label were written in the "
                "first of a block of rows only; if so, fill it down in the file"
            )
        if are_many:
            column.note(f"{n_labels} labels in {n_rows} rows; if it names rows: ", Remedy("drop", (column.name,)))
    return "", content, False


def _left_out_note(left_out: dict[str, str]) -> Message:
    """Write which columns are left out and how to keep them."""
    return Message(f"left out of the inputs: {_reasons(left_out)}", *_way_back(left_out))


def _no_inputs(left_out: dict[str, str], notes: list[str]) -> DataError:
    """Make the error for a table of which only the target would be left."""
    about = [part for name in left_out for note in notes if note.startswith(f"{one_line(name, 60)}: ") for part in ("; ", note)]
    return DataError(
        f"no inputs: every column but the target would be left out, {_reasons(left_out)}", *_way_back(left_out), *about
    )


def _reasons(left_out: dict[str, str]) -> str:
    shown = "; ".join(f"{one_line(name, 30)} ({reason})" for name, reason in list(left_out.items())[:MOST_NAMED])
    return shown + (f"; and {len(left_out) - MOST_NAMED} more" if len(left_out) > MOST_NAMED else "")


def _way_back(left_out: dict[str, str]) -> list[str | Remedy]:
    wanted = tuple(name for name, reason in left_out.items() if reason != NO_VALUES)
    return ["; ", Remedy("keep", wanted), " takes them in"] if wanted else []


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
