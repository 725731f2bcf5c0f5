"""Rows of texts, from a text or a sheet, turned into columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.remedies import Remedy
from foldshift.datasets.readers.column_kinds import Columns
from foldshift.datasets.readers.columns.dressed_numbers import find_dress, is_numeric
from foldshift.datasets.readers.columns.marks import may_be_missing
from foldshift.datasets.readers.columns.text_values import Cells, Coded, different_texts
from foldshift.datasets.readers.header import SAMPLE, Layout, find_layout, holds_names
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.receipt import Decision, note_of
from foldshift.datasets.readers.text_fields import as_number

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray

_TOTAL = re.compile(
    r"(?:grand |sub)?totals?|sums?|overall|summe|gesamt(?:summe)?|insgesamt|somme|totale|suma|average|avg|mean|mittelwert"
    r"|durchschnitt|moyenne"
)
_STATISTIC = re.compile(
    r"min(?:imum)?|max(?:imum)?|median|count|n|std(?:ev|\.? ?dev)?|s\.?d|standard deviation|standardabweichung"
)
_SUBTOTAL = re.compile(
    r"sub[- ]?totals?|zwischensumme|sous[- ]total|subtotale|(?!grand |sub).+ totals?"
)  # `North Total`, as Excel


LEAST_ROWS = 4  # of a table with a row of totals
MOST_TOTALS = 8  # rows of totals and statistics at the end
_BREAKS = re.compile(r"\s*[\r\n\t]\s*")  # of lines, in a name
MOST_GAPS = 20  # between rows, below which another table is looked for
MOST_FOOTERS = 10  # lines


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
    _check_one_table(body, lines, layout)
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
        names = [_BREAKS.sub(" ", name) or f"x{position}" for position, name in enumerate(names, 1)]
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


def _check_one_table(body: list[list[str]], lines: list[int], layout: Layout) -> None:
    """Refuse a second table with names of its own below an empty line."""
    gaps = [at for at in range(2, len(body) - 1) if lines[at] - lines[at - 1] > 1]
    for at in gaps if len(gaps) <= MOST_GAPS else ():
        if len(set(body[at])) < len(body[at]) or len(body[at]) < 2 or not all(body[at]):
            continue
        if any(map(is_numeric, body[at])) or {*body[at]} & {cell for row in body[:at] for cell in row}:
            continue
        if holds_names(body[at], body[at + 1 :][:SAMPLE], len(body[at]), "")[1] == "sure":
            shown = ", ".join(body[at])[:60]
            raise DataError(
                f"line {lines[at]}: a second table begins here, with the names {shown}; save every table in its own file"
            )


def _cut_footers(body: list[list[str]], lines: list[int], layout: Layout) -> None:
    """Leave out lines of one text below a table of three columns and more."""
    end = len(body)
    while (
        end > max(2, len(body) - MOST_FOOTERS - 1)
        and layout.width > 2
        and sum(map(bool, body[end - 1])) == 1
        and body[end - 1][0]
        and not is_numeric(body[end - 1][0])
    ):
        end -= 1
    if end == len(body) or sum(map(bool, body[end - 1])) < 2:
        return
    cells = [[cell.strip() for cell in body[end][0].split(mark)] for mark in ",;\t|"]
    if any(len(row) == layout.width and any(map(is_numeric, row)) for row in cells):  # a row with another separator
        return
    shown = f"line {lines[end]} below the table left out, {body[end][0][:40]!r}"
    layout.decisions.append(Decision("footer", shown, "likely"))
    layout.said.append(layout.decisions[-1])
    del body[end:], lines[end:]


def cut_totals(columns: Columns) -> None:
    """Leave out rows of sums, means and other statistics: the first row, the last ones, and subtotals between the rows."""
    if len(columns.lines) < LEAST_ROWS:
        return
    _leave_out(columns, _subtotals(columns))
    n = len(columns.lines)
    names = columns.values[:2]
    above = [at for at in (0,) if _total_word(names, at)]
    below = list(range(n - 1, max(n - 1 - MOST_TOTALS, LEAST_ROWS), -1))
    below = below[: next((i for i, at in enumerate(below) if not _total_word(names, at)), len(below))]
    besides = {*above, *below}
    found = {at for at in besides if _is_total_row(columns.values, at, besides, names)}
    if not found and not above and not below and _has_no_label(columns.values) and _is_total_row(columns.values, n - 1, {n - 1}):
        found = {n - 1}
    _leave_out(columns, found)


def _leave_out(columns: Columns, found: set[int]) -> None:
    """Take rows of totals out of a table, and say so."""
    if not found:
        return
    where = ", ".join(str(columns.lines[at]) for at in sorted(found)[:MOST_TOTALS]) + ", ..." * (len(found) > MOST_TOTALS)
    labels = dict.fromkeys(label[:30] for at in sorted(found) if (label := _label(columns.values[:2], at)))
    words = ", ".join(map(repr, [*labels][:MOST_TOTALS])) or "sums"
    what = f"line{'s' * (len(found) > 1)} {where} left out, with {words} of the rows {'below' if found == {0} else 'above'}"
    decision = Decision("total", what, "likely", (Remedy("skip_rows", "0"),))
    columns.receipt.decisions.append(decision)
    columns.notes.append(note_of(decision))
    kept = np.array([at for at in range(len(columns.lines)) if at not in found])
    columns.values = [_rows_of(cells, kept) for cells in columns.values]
    columns.lines = [columns.lines[at] for at in kept]


def _subtotals(columns: Columns) -> set[int]:
    """Find rows of subtotals: each is the sum or the mean of the rows since the one before it, in a column of numbers."""
    for cells in columns.values[:2]:
        if _are_numbers(cells):
            continue
        words = {text for text in different_texts(cells) if _SUBTOTAL.fullmatch(_plain(text))}
        if not words:
            continue
        found = [at for at, text in enumerate(_all_texts(cells)) if text in words]
        blocks = list(zip([-1, *found], found))
        numbers = [read for other in columns.values if (read := _numbers(other)) is not None]
        if len(found) > 1 and all(any(_is_whole(read[at], read[start + 1 : at], 1) for read in numbers) for start, at in blocks):
            return set(found)
    return set()


def _are_numbers(cells: Cells) -> bool:
    return isinstance(cells, np.ndarray) and cells.dtype.kind == "f"


def _text(cells: Cells, at: int) -> str:
    """Return the text of a row; empty for a gap, and for a number of a column of numbers."""
    if _are_numbers(cells):
        return ""
    if isinstance(cells, Coded):
        return cells.texts[cells.codes[at]] if cells.codes[at] >= 0 else ""
    return str(cells[at] or "")


def _plain(text: str) -> str:
    return text.lower().rstrip(":. ")


def _label(names: Sequence[Cells], at: int) -> str:
    """Return the text in the first columns that names the totals of a row."""
    texts = (_text(cells, at) for cells in names)
    return next((text for text in texts if any(kind.fullmatch(_plain(text)) for kind in (_TOTAL, _STATISTIC, _SUBTOTAL))), "")


def _total_word(names: Sequence[Cells], at: int) -> str:
    """Return the word in the first columns that says that a row holds totals, if no more than a few rows have it."""
    for cells in names:
        text = _text(cells, at)
        if not text or not (_TOTAL.fullmatch(_plain(text)) or _STATISTIC.fullmatch(_plain(text))):
            continue
        count = int((cells.codes == cells.codes[at]).sum()) if isinstance(cells, Coded) else list(cells).count(text)
        if count == 1:
            return text
    return ""


def _has_no_label(values: Sequence[Cells]) -> bool:
    """Report whether the last row is the only one without a label, in the first column."""
    if _are_numbers(values[0]) or _text(values[0], -1):
        return False
    texts = _all_texts(values[0])
    return all(texts[:-1]) and not any(map(is_numeric, set(texts[:-1])))


def _all_texts(cells: Cells) -> list[str]:
    if isinstance(cells, Coded):
        return [cells.texts[code] if code >= 0 else "" for code in cells.codes]
    return [str(cell or "") for cell in cells]


def _rows_of(cells: Cells, kept: np.ndarray) -> Cells:
    """Take some rows of a column."""
    if isinstance(cells, np.ndarray):
        return cells[kept]
    if not isinstance(cells, Coded):
        return [cells[at] for at in kept]
    used, codes = np.unique(cells.codes[kept], return_inverse=True)
    n_missing = int(used[0] < 0)
    return Coded(codes - n_missing, [cells.texts[code] for code in used[n_missing:]])


def _is_total_row(values: Sequence[Cells], at: int, besides: set[int], names: Sequence[Cells] = ()) -> bool:
    """Report whether a row holds totals of other rows: in one column of numbers if `names` call it a total, else in all."""
    is_total = bool(names) and bool(_TOTAL.fullmatch(_plain(_label(names, at))))
    found = [
        _is_whole(numbers[at], np.delete(numbers, list(besides)), statistics=bool(names) and not is_total)
        for cells in values
        if (numbers := _numbers(cells)) is not None
    ]
    return bool(found) and (any(found) if is_total else all(found))


def _numbers(cells: Cells) -> FloatArray | None:
    """Read a column as numbers, NaN where there are none; None if it does not hold numbers."""
    if _are_numbers(cells):
        return np.asarray(cells)
    texts = {text for text in different_texts(cells) if not may_be_missing(text)}
    dress = find_dress(texts) if texts else None
    if dress is None:
        return None
    read = {text: dress.number(text) for text in texts}
    return np.array([read.get(text, np.nan) for text in _all_texts(cells)], dtype=np.float64)


def _is_whole(one: float, others: FloatArray, least: int = 3, statistics: bool = False) -> bool:
    """Report whether a value is the sum or the mean of at least so many others, or another of their `statistics`."""
    rest = others[~np.isnan(others)]
    if np.isnan(one) or rest.size < least or not rest.any():
        return False
    wholes = [rest.sum(), rest.mean()]
    if statistics:
        wholes += [rest.std(), rest.std(ddof=1), rest.min(), rest.max(), np.median(rest), float(rest.size)]
    return any(abs(one - whole) <= 0.005 * abs(whole) for whole in wholes)
