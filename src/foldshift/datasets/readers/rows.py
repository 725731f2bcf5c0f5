"""Rows of texts, from a text or a sheet, turned into columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.remedies import Remedy
from foldshift.datasets.readers.column_kinds import Columns
from foldshift.datasets.readers.columns.column_values import Cells, Coded, different_texts
from foldshift.datasets.readers.columns.dressed_numbers import find_dress, is_numeric
from foldshift.datasets.readers.columns.marks import may_be_missing
from foldshift.datasets.readers.header import Layout, find_layout
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.receipt import Decision, note_of
from foldshift.datasets.readers.text_fields import as_number

_TOTAL = re.compile(
    r"(?:grand |sub)?totals?|sums?|overall|summe|gesamt(?:summe)?|insgesamt|somme|totale|suma|average|mean|mittelwert"
    r"|durchschnitt|moyenne"
)


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
            raise DataError("a header but no rows; the file is truncated, or ", Remedy("header", "none"))
        if options.header is None and all(as_number(name, options.decimal_mark) is not None for name in names):
            where = f"line {first}: the first row holds only numbers where column names are expected; "
            raise DataError(where, Remedy("header", "none"))
    width = len(names) if names is not None else len(rows[0])
    what = "the header has" if names is not None else "the first row has"
    for row, line in zip(rows, lines):
        if len(row) != width:
            raise DataError(
                f"line {line}: {len(row)} fields where {what} {width}; the file is damaged, or its separator is another one"
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


def own_columns(rows: list[list[str]], lines: Sequence[int], options: ReadOptions, target: str) -> Columns:
    """Turn rows of a user-defined table into columns: find its header, leave out titles, footers and totals."""
    kept = [(row, line) for row, line in zip(rows, lines) if any(row)]
    if not kept:
        raise DataError("no rows; the file is empty or truncated")
    rows, lines = [row for row, _ in kept], [line for _, line in kept]
    layout = find_layout(rows, lines, options, target)
    names, body, lines = layout.names, rows[layout.start :], lines[layout.start :]
    if not body:
        raise DataError("a header but no rows; the file is truncated, or ", Remedy("header", "none"), " if it is a row of data")
    if options.skip_rows is None:
        _cut_footers(body, lines, layout)
    _cut_repeated_names(names, body, lines, layout)
    names = fit_widths(names, body, lines)
    columns = as_columns(names, list(zip(*body)), lines, layout)
    if options.skip_rows is None:
        cut_totals(columns)
    return columns


def as_columns(names: list[str] | None, values: Sequence[Cells], lines: Sequence[int], layout: Layout) -> Columns:
    """Name the columns, leave out those at the end that have neither name nor text, and note what was decided."""
    values = list(values)
    while values and not _has_cells(values[-1]) and (names is None or not names[-1]):
        values.pop()
        if names is not None:
            names = names[:-1]
    unnamed = set() if names is None else {position for position, name in enumerate(names) if not name}
    if names is not None:
        names = [name or f"x{position}" for position, name in enumerate(names, 1)]
    columns = Columns(names, values, lines, [""] * len(values), [None] * len(values), unnamed=unnamed)
    for decision in layout.decisions:
        columns.receipt.decisions.append(decision)
    columns.notes += [note_of(decision) for decision in layout.said]
    return columns


def _has_cells(cells: Cells) -> bool:
    """Report whether a column has any value."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        return not np.isnan(cells).all()
    return bool(different_texts(cells))


def fit_widths(names: list[str] | None, body: list[list[str]], lines: Sequence[int]) -> list[str] | None:
    """Give all rows the same number of fields: without an empty field at their ends, and with a name for the names of rows."""
    if names is not None and len(names) > 1 and not names[-1] and any(len(row) < len(names) for row in body):
        names = names[:-1]
    width = len(names) if names is not None else _usual_width(body)
    longer = [row for row in body if len(row) == width + 1]
    if longer and all(len(row) in (width, width + 1) for row in body):
        if not any(row[-1] for row in longer):
            for row in longer:
                row.pop()
        elif names is not None and len(longer) == len(body):  # as R writes a table with names of rows
            names, width = ["", *names], width + 1
    what = "the header has" if names is not None else "most rows have"
    for row, line in zip(body, lines):
        if len(row) != width:
            raise DataError(f"line {line}: {len(row)} fields where {what} {width}; correct this line of the file")
    return names


def _usual_width(rows: list[list[str]]) -> int:
    widths = Counter(map(len, rows))
    most = max(widths.values())
    return min(width for width, count in widths.items() if count == most)


def _cut_repeated_names(names: list[str] | None, body: list[list[str]], lines: list[int], layout: Layout) -> None:
    """Leave out rows that repeat the names, as in files that were put together."""
    where = [at for at, row in enumerate(body) if row == names]
    if not where:
        return
    n = len(where)
    what = f"{n} row{'s' * (n > 1)} that repeat{'s' * (n == 1)} the names left out, the first is line {lines[where[0]]}"
    layout.decisions.append(Decision("names", what, "sure"))
    layout.said.append(layout.decisions[-1])
    for at in reversed(where):
        del body[at], lines[at]


def _cut_footers(body: list[list[str]], lines: list[int], layout: Layout) -> None:
    """Leave out lines of one text below a table of three columns and more."""
    end = len(body)
    while (
        end > 2
        and layout.width > 2
        and sum(map(bool, body[end - 1])) == 1
        and body[end - 1][0]
        and not is_numeric(body[end - 1][0])
    ):
        end -= 1
    if end == len(body) or sum(map(bool, body[end - 1])) < 2:
        return
    shown = f"line {lines[end]} below the table left out, {body[end][0][:40]!r}"
    layout.decisions.append(Decision("footer", shown, "likely"))
    layout.said.append(layout.decisions[-1])
    del body[end:], lines[end:]


def cut_totals(columns: Columns) -> None:
    """Leave out a last row of sums or means."""
    last = [_last_text(cells) or "" for cells in columns.values[:2]]
    at, text = next(((at, text) for at, text in enumerate(last) if _TOTAL.fullmatch(text.lower().rstrip(":. "))), (0, ""))
    if (
        not text
        or len(columns.lines) < 4
        or not any(_is_total(cells) for position, cells in enumerate(columns.values) if position != at)
    ):
        return
    what = f"line {columns.lines[-1]} left out, it holds {text[:30]!r} of the rows above"
    decision = Decision("total", what, "likely", (Remedy("skip_rows", "0"),))
    columns.receipt.decisions.append(decision)
    columns.notes.append(note_of(decision))
    columns.values = [_without_last(cells) for cells in columns.values]
    columns.lines = columns.lines[:-1]


def _last_text(cells: Cells) -> str | None:
    """Return the text of the last row, if no other row has it."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        return None
    if isinstance(cells, Coded):
        last = cells.codes[-1]
        return cells.texts[last] if last >= 0 and not (cells.codes[:-1] == last).any() else None
    return cells[-1] if cells[-1] and cells[-1] not in cells[:-1] else None


def _without_last(cells: Cells) -> Cells:
    if not isinstance(cells, Coded):
        return cells[:-1]
    used, codes = np.unique(cells.codes[:-1], return_inverse=True)
    n_missing = int(used[0] < 0)
    return Coded(codes - n_missing, [cells.texts[code] for code in used[n_missing:]])


def _is_total(cells: Cells) -> bool:
    """Report whether the last value of a column is the sum or the mean of the others."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        numbers = cells
    else:
        texts = {text for text in different_texts(cells) if not may_be_missing(text)}
        dress = find_dress(texts) if texts else None
        if dress is None:
            return False
        read = {text: dress.number(text) for text in texts}
        every = [cells.texts[code] if code >= 0 else "" for code in cells.codes] if isinstance(cells, Coded) else cells
        numbers = np.array([read.get(text or "", np.nan) for text in every], dtype=np.float64)
    last, rest = numbers[-1], numbers[:-1][~np.isnan(numbers[:-1])]
    if np.isnan(last) or rest.size < 3 or not rest.any():
        return False
    return any(abs(last - whole) <= 0.005 * abs(whole) for whole in (rest.sum(), rest.mean()))
