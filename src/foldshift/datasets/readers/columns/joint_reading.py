"""Two tables that are compared, read as one: a column has one kind, one form of numbers and one set of labels in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.core.remedies import Remedy
from foldshift.datasets.readers.column_kinds import Columns, build_table, file_marks, find_position
from foldshift.datasets.readers.columns.dressed_numbers import equal_numbers, signs_of
from foldshift.datasets.readers.columns.text_values import FEW_ODD, Coded, different_texts, first_names
from foldshift.datasets.readers.raw_table import RawTable
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.datasets.readers.column_kinds import Source
    from foldshift.datasets.readers.columns.text_values import Cells, DeclaredKind
    from foldshift.datasets.readers.read_options import ReadOptions


class Place(int):
    """Number of a line, written with the name of its file."""

    file: str

    def __str__(self) -> str:
        return f"{int(self)} of {self.file}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Places(Sequence[int]):
    """Lines that the rows of several files were read from."""

    def __init__(self, lines: Sequence[Sequence[int]], files: Sequence[str]) -> None:
        self.lines, self.files = lines, files

    def __len__(self) -> int:
        return sum(map(len, self.lines))

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        """Return the line of one row, or of several."""
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        for lines, file in zip(self.lines, self.files):
            if at < len(lines):
                place = Place(lines[at])
                place.file = file
                return place
            at -= len(lines)
        raise IndexError(at)


class Together(NamedTuple):
    """Tables with the same columns in the same order, the columns that were left out and why, and notes on columns."""

    frames: list[pd.DataFrame]
    left_out: dict[str, str]
    notes: list[str]


def read_together(tables: Sequence[RawTable], files: Sequence[str], options: ReadOptions) -> Together:
    """Read two tables of the same columns as one.

    `tables` were read each by itself, without a target, with the same options, but for columns to drop. `files` are their names
    for messages. Columns that one table leaves out are left out of both: ids that go on in the next table do not look like row
    numbers.
    """
    tables, notes = _with_names(tables, files)
    sources = [_source(table) for table in tables]
    dropped = _dropped(sources, options)
    positions = _matched(sources, files, dropped)
    names = list(positions[0])
    separators = {source.options.sep for source in sources}
    options = replace(options, own=True, has_target=False, sep=separators.pop() if len(separators) == 1 else "")
    options = _by_name(options, sources[0].columns)
    changed = [name for name in names if {_is_labels(table, name) for table in tables} == {True, False}]
    options = replace(options, keep=(*options.keep, *changed))
    alone = _of_two_styles(names, tables, sources)
    whole = _read(names, alone, options, sources, positions, files)
    alone += [name for name in names if name not in alone and _is_read_alone(name, tables, sources, whole)]
    labels = [name for name in changed if name in whole.kinds and _loses_values(whole, tables, name)]
    if alone or labels:
        options = replace(options, types={**options.types, **dict.fromkeys(labels, "nominal")})
        whole = _read(names, alone, options, sources, positions, files)
    left_out = _left_out(names, tables, whole, files)
    frames: list[dict[str, pd.Series]] = [{}, {}]
    for name in names:
        if name in left_out:
            continue
        if name in alone:
            parts = [table.frame[name] for table in tables]
            notes.append(f"{one_line(name, 60)}: the files write its values in different ways, and each is read in its own")
        else:
            parts = [whole.frame[name].iloc[: len(tables[0].frame)], whole.frame[name].iloc[len(tables[0].frame) :]]
            parts = _with_equal_numbers(name, parts, notes) if whole.kinds[name] == "nominal" else parts
        notes += _unit_note(name, sources, files) if whole.kinds.get(name) != "nominal" else []
        if name in changed and whole.kinds[name] == "nominal":
            notes.append(_changed_note(name, tables, files))
        is_date = all(name in source.dates for source in (sources if name in alone else [_source(whole)]))
        for frame, part in zip(frames, parts):
            part = part.reset_index(drop=True)
            frame[name] = pd.to_datetime(part, unit="D") if is_date else part
    # The columns that are left out are said in another place, with the reason of each table.
    unwanted = ("left out of the inputs", *(f"{one_line(name, 60)}: " for name in left_out))
    notes += [note for note in whole.notes if not note.startswith(unwanted)]
    return Together([pd.DataFrame(frame) for frame in frames], left_out, notes)


def _read(
    names: list[str],
    alone: list[str],
    options: ReadOptions,
    sources: Sequence[Source],
    positions: Sequence[dict[str, int]],
    files: Sequence[str],
) -> RawTable:
    """Read both tables as one, without the columns that each table reads alone."""
    together = [name for name in names if name not in alone]
    if not together:
        return RawTable(pd.DataFrame(), "", {})
    options = replace(
        options,
        keep=tuple(name for name in options.keep if name in together),
        types={name: kind for name, kind in options.types.items() if name in together},
    )
    return build_table(_joined(sources, [{name: some[name] for name in together} for some in positions], files), options, "", "")


def _by_name(options: ReadOptions, columns: Columns) -> ReadOptions:
    """Write the columns of the options by their names, in place of positions, and without those to drop."""
    names = columns.names or []

    def name_of(reference: str) -> str:
        return names[find_position(reference, columns)]

    kinds = {**dict.fromkeys(options.nominal, "nominal"), **options.types}
    types = {name_of(reference): kind for reference, kind in kinds.items()}
    return replace(options, drop=(), nominal=(), keep=tuple(map(name_of, options.keep)), types=types)


def _with_names(tables: Sequence[RawTable], files: Sequence[str]) -> tuple[list[RawTable], list[str]]:
    """Give a table without names those of the other one, if it has as many columns; also return notes."""
    columns = [_source(table).columns for table in tables]
    named, notes = list(tables), list[str]()
    for i, (one, other) in enumerate(zip(columns, columns[::-1])):
        if one.names is None and other.names is not None and len(one.values) == len(other.values):
            named[i] = build_table(replace(one, names=list(other.names), notes=[]), _source(tables[i]).options, "", "")
            notes.append(f"{files[i]} has no names of columns: they are taken in the order of {files[1 - i]}")
    for table in named:
        one = _source(table).columns
        one.names = one.names or [f"x{position}" for position in range(1, len(one.values) + 1)]
    return named, notes


def _dropped(sources: Sequence[Source], options: ReadOptions) -> set[str]:
    """Return the names of the columns to drop, which need not be in both tables."""
    names = [source.columns.names or [] for source in sources]
    dropped = set()
    for reference in options.drop:
        where = [some for some in names if reference in some]
        dropped.add(reference if where else names[0][find_position(reference, sources[0].columns)])
    return dropped


def _matched(sources: Sequence[Source], files: Sequence[str], dropped: set[str]) -> list[dict[str, int]]:
    """Return the position of every column to compare by name, for each table in the order of the first one."""
    found = [
        {
            name: at
            for at, name in enumerate(source.columns.names or [])
            if name not in dropped and at not in source.columns.others
        }
        for source in sources
    ]
    only = [[name for name in found[i] if name not in found[1 - i]] for i in (0, 1)]
    common = [name for name in found[0] if name in found[1]]
    if not common:
        raise DataError(
            f"the tables have no column in common: {first_names(found[0])} in {files[0]}, {first_names(found[1])} in {files[1]}; "
            + ("rename them in one of the files" if len(found[0]) == len(found[1]) else "compare tables of the same columns")
        )
    if any(only):
        parts = [f"only {file} has {first_names(some)}" for file, some in zip(files, only) if some]
        extra = tuple(name for some in only for name in some)
        raise DataError(
            f"the tables have different columns: {' and '.join(parts)}; give both the same, or leave out what only one has: ",
            Remedy("drop", extra),
        )
    return [{name: some[name] for name in common} for some in found]


def _joined(sources: Sequence[Source], positions: Sequence[dict[str, int]], files: Sequence[str]) -> Columns:
    """Put the rows of the second table below those of the first."""
    first, second = (source.columns for source in sources)
    pairs = [(positions[0][name], positions[1][name]) for name in positions[0]]
    kinds = [_joint_kind(first.kinds[a], second.kinds[b]) for a, b in pairs]
    labels = [(first.categories[a], second.categories[b]) for a, b in pairs]
    return Columns(
        names=list(positions[0]),
        values=[_cells(first.values[a], second.values[b]) for a, b in pairs],
        lines=Places([first.lines, second.lines], files),
        kinds=kinds,
        categories=[None if a is None or b is None else list(dict.fromkeys([*a, *b])) for a, b in labels],
        unnamed={at for at, (a, b) in enumerate(pairs) if a in first.unnamed and b in second.unnamed},
    )


def _joint_kind(one: DeclaredKind, other: DeclaredKind) -> DeclaredKind:
    """Join what two files declare about a column; labels in one are labels in both."""
    if one == other:
        return one
    if "nominal" in (one, other):
        return "nominal"
    return "numeric" if one and other else ""


def _cells(one: Cells, other: Cells) -> Cells:
    """Join the cells of a column: numbers if both are, else texts."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype.kind == other.dtype.kind == "f":
        return np.concatenate([one, other])
    codes, texts = [], list[str]()
    for part in (_coded(one), _coded(other)):
        codes.append(np.where(part.codes >= 0, part.codes + len(texts), -1))
        texts += part.texts
    numbers, distinct = pd.factorize(np.array([*texts, ""], dtype=object))
    return Coded(np.append(numbers[:-1], -1)[np.concatenate(codes)], distinct.tolist())


def _coded(cells: Cells) -> Coded:
    """Convert cells to coded texts; whole numbers are written without a point."""
    if isinstance(cells, Coded):
        return cells
    codes, different = pd.factorize(
        np.asarray(cells) if isinstance(cells, np.ndarray) else np.array([*cells, None], dtype=object)[:-1]
    )
    texts = [repr(one).removesuffix(".0") if isinstance(one, float) else one for one in different.tolist()]
    return Coded(codes.astype(np.int64), texts)


# ---- decisions that the two readings do not share ----


def _is_labels(table: RawTable, name: str) -> bool | None:
    """Report whether a table by itself reads a column as labels; None if it has no values or is left out."""
    if name not in table.kinds or table.frame[name].isna().all():
        return None
    return table.kinds[name] == "nominal"


def _source(table: RawTable) -> Source:
    if table.source is None:
        raise ValueError("read the table with has_target=False to compare it with another one")
    return table.source


def _of_two_styles(names: list[str], tables: Sequence[RawTable], sources: Sequence[Source]) -> list[str]:
    """Select the columns of numbers in dress, if one file has decimal commas and the other has points."""
    if {_decimal_mark(source) for source in sources} != {",", "."}:
        return []
    dressed = [name for name in names if any(_texts(source, name) for source in sources)]
    return [name for name in dressed if all(_is_labels(table, name) is False for table in tables)]


def _is_read_alone(name: str, tables: Sequence[RawTable], sources: Sequence[Source], whole: RawTable) -> bool:
    """Report whether each table by itself holds numbers or dates, in the same unit, but both together do not."""
    if whole.kinds.get(name, "nominal") != "nominal" or any(_is_labels(table, name) is not False for table in tables):
        return False
    units = [{sign for text in _texts(source, name) for sign in signs_of(text)} for source in sources]
    return units[0] == units[1]


def _left_out(names: list[str], tables: Sequence[RawTable], whole: RawTable, files: Sequence[str]) -> dict[str, str]:
    """Collect the columns that one table by itself or both together leave out, with the reason."""
    words = {True: "labels", False: "numbers", None: "no values"}
    left_out = {}
    for name in names:
        reasons = [table.left_out.get(name, "") for table in tables]
        if all(reasons):
            left_out[name] = " and ".join(dict.fromkeys(reasons))
        elif any(reasons):
            one = 0 if reasons[0] else 1
            other = words[_is_labels(tables[1 - one], name)]
            left_out[name] = f"{reasons[one]}, in {files[one]}, {other} in {files[1 - one]}"
        elif name in whole.left_out:
            left_out[name] = whole.left_out[name]
    return left_out


def _unit_note(name: str, sources: Sequence[Source], files: Sequence[str]) -> list[str]:
    """Say that numbers have a unit in one file and none in the other."""
    signs = [sorted({sign for text in _texts(source, name) for sign in signs_of(text)}) for source in sources]
    if signs[0] == signs[1]:
        return []
    shown = [f"{'and '.join(some) or 'no unit'} in {file}" for some, file in zip(signs, files)]
    return [f"{one_line(name, 60)}: {shown[0]}, {shown[1]}; the numbers are compared as they are"]


def _decimal_mark(source: Source) -> str:
    """Return the decimal mark that a file shows; a comma where semicolons separate fields and numbers have commas."""
    found = source.options.decimal or file_marks(source.columns, source.options).decimal
    if found or source.options.sep != ";":
        return found
    return "," if any("," in text for cells in source.columns.values for text in different_texts(cells)) else ""


def _texts(source: Source, name: str) -> set[str]:
    return different_texts(source.columns.values[(source.columns.names or []).index(name)])


def _loses_values(whole: RawTable, tables: Sequence[RawTable], name: str) -> bool:
    """Report whether reading a column as numbers takes many texts of one table for missing values."""
    if whole.kinds[name] == "nominal":
        return False
    parts = np.split(whole.frame[name].isna().to_numpy(), [len(tables[0].frame)])
    lost = [part.sum() - table.frame[name].isna().sum() for part, table in zip(parts, tables)]
    return any(n > FEW_ODD * table.frame[name].notna().sum() for n, table in zip(lost, tables))


def _with_equal_numbers(name: str, parts: list[pd.Series], notes: list[str]) -> list[pd.Series]:
    """Give labels of the second table that are the same number as one of the first, such as 0 and 0.0, its spelling."""
    new = equal_numbers(*(set(part.dropna().unique()) for part in parts))
    if not new:
        return parts
    shown = ", ".join(f"{text[:30]!r} as {label[:30]!r}" for text, label in list(new.items())[:5])
    notes.append(f"{one_line(name, 60)}: labels that are the same number read as one: {shown}")
    return [parts[0], parts[1].astype(object).replace(new)]


def _changed_note(name: str, tables: Sequence[RawTable], files: Sequence[str]) -> str:
    """Say that a column holds numbers in one file and text in the other."""
    text = 0 if _is_labels(tables[0], name) else 1
    label = tables[text].frame[name].dropna().iloc[0]
    shown = f"numbers in {files[1 - text]}, text in {files[text]}, such as {str(label)[:30]!r}"
    return f"{one_line(name, 60)}: {shown}; compared as labels"
