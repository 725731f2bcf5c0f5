"""Finding the row of names of a user-defined table by its cells: titles, names, units and data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from foldshift.core.errors import DataError
from foldshift.core.remedies import Given, Remedy
from foldshift.datasets.readers.columns.dressed_numbers import is_numeric
from foldshift.datasets.readers.columns.marks import may_be_missing
from foldshift.datasets.readers.read_options import FIRST_ROW, NO_HEADER, ReadOptions
from foldshift.datasets.readers.receipt import Decision, Sure
from foldshift.datasets.sources.download import one_line

SAMPLE = 200  # rows that the decision is based on
NUMBERS = 0.8  # share of numbers in a column of numbers
REPEATED = 0.5  # labels per row; up to here the labels of a column repeat
Rows = Sequence[Sequence[str]]


@dataclass
class Layout:
    """Parts of a table of rows."""

    names: list[str] | None  # names of the columns; None: the table has none
    start: int  # position of the first row of data
    width: int  # number of fields of a row
    decisions: list[Decision] = field(default_factory=list)
    said: list[Decision] = field(default_factory=list)  # those that the user is told without asking


class _Evidence(NamedTuple):
    """Counts of columns that speak for names or for data in the first row."""

    words_above_numbers: int
    numbers_above_numbers: int
    labels_again: int  # labels that come again below
    new_words: int  # words that do not, above labels that repeat


def find_layout(rows: Rows, lines: Sequence[int], options: ReadOptions, target: str = "") -> Layout:
    """Find titles, the row of names and the row of units of a table.

    `rows` are the first rows, without empty ones, and `lines` their numbers in the file.

    >>> from foldshift.datasets.readers.header import find_layout
    >>> from foldshift.datasets.readers.read_options import ReadOptions
    >>> find_layout([["1", "a"], ["2", "b"], ["3", "a"]], [1, 2, 3], ReadOptions()).names is None
    True
    >>> find_layout([["x", "k"], ["2", "b"], ["3", "a"]], [1, 2, 3], ReadOptions()).names
    ['x', 'k']
    """
    if options.header is not None:
        return _as_asked(rows, lines, options, _usual_width(rows[:SAMPLE]))
    rows = sample = [list(row) for row in rows[:SAMPLE]]
    width = _usual_width(rows)
    start = 0 if options.skip_rows is not None else _count_titles(rows, width)
    layout = Layout(None, start, width)
    if start:
        where = f"line {lines[0]}" if start == 1 else f"lines {lines[0]} to {lines[start - 1]}"
        shown = " ".join(cell for cell in rows[0] if cell)[:40]
        title = Decision(
            "title", f"{where} above the table left out, {shown!r}", "likely", (Remedy("skip_rows", str(lines[start] - 1)),)
        )
        layout.decisions.append(title)
        layout.said.append(title)
    first = rows[start]
    body = [row for row in rows[start + 1 :] if row != first]  # names come again in files that were put together
    is_names, sure = holds_names(first, body, width, target)
    where = f"line {lines[start]}"
    if not is_names:
        decision = Decision(
            "names", f"{where} is a row of data: the table has no names", sure, (Remedy("header", str(lines[start])),)
        )
        layout.decisions.append(decision)
        layout.said.append(decision)
        return layout
    start = _below_group_titles(rows, start, width)
    layout.names, layout.start = sample[start], start + 1
    layout.decisions.append(
        Decision("names", f"the names of the columns are in line {lines[start]}", sure, (Remedy("header", "none"),))
    )
    if sure == "unsure":
        layout.said.append(layout.decisions[-1])
    if _holds_units(rows[start + 1], rows[start + 2 :], width) if len(rows) > start + 3 else False:
        shown = ", ".join(cell for cell in rows[start + 1] if cell)[:40]
        units = Decision(
            "units",
            f"line {lines[start + 1]} below the names left out, it holds no data: {one_line(shown, 40)}",
            "likely",
            (Remedy("header", str(lines[start])),),
        )
        layout.start += 1
        layout.decisions.append(units)
        layout.said.append(units)
    return layout


def _as_asked(rows: Rows, lines: Sequence[int], options: ReadOptions, width: int) -> Layout:
    """Take the names from the row that the user names."""
    if options.header == NO_HEADER:
        return Layout(None, 0, width, [Decision("names", "there are none", "given")])
    at = 0
    if options.header != FIRST_ROW:
        at = next((position for position, line in enumerate(lines) if line >= (options.header or 0)), -1)
        if at < 0:
            raise DataError(
                Given("header", str(options.header)), f" is below the last line, {lines[-1]}; name the line of the names"
            )
    return Layout(list(rows[at]), at + 1, width, [Decision("names", f"in line {lines[at]}", "given")])


def _usual_width(rows: Rows) -> int:
    """Find the number of fields that most rows have, without empty fields at the end of all."""
    widths = Counter(len(row) for row in rows)
    most = max(widths.values())
    return max(width for width, count in widths.items() if count == most)


def _count_titles(rows: Rows, width: int) -> int:
    """Count the rows above the table that hold one text."""
    count = 0
    for row in rows[:-1]:
        texts = [cell for cell in row if cell]
        is_short = len(texts) == 1 and not is_numeric(texts[0]) and row[0] != ""
        if not is_short or not (width > 2 or (width > 1 and len(row) == 1 and " " in texts[0])):
            break
        count += 1
    below = rows[count] if count else []
    return count if sum(map(bool, below)) > 1 else 0


def _column(rows: Rows, position: int) -> list[str]:
    return [row[position] for row in rows if position < len(row) and row[position] and not may_be_missing(row[position])]


def _has_numbers(cells: list[str]) -> bool:
    return bool(cells) and sum(map(is_numeric, cells)) >= NUMBERS * len(cells)


def _weigh(first: Sequence[str], body: Rows, width: int) -> _Evidence:
    """Compare every cell of a row with the column below it."""
    words = numbers = again = new = 0
    shift = 1 if len(first) == width - 1 else 0  # R writes one name fewer than there are fields
    for position, cell in enumerate(first[:width]):
        below = _column(body, position + shift)
        if not cell or may_be_missing(cell) or not below:
            continue
        if _has_numbers(below):
            words, numbers = words + (not is_numeric(cell)), numbers + is_numeric(cell)
        elif cell in set(below):
            again += 1
        elif len(set(below)) <= REPEATED * len(below):
            new += 1
    return _Evidence(words, numbers, again, new)


def holds_names(first: Sequence[str], body: Rows, width: int, target: str) -> tuple[bool, Sure]:
    """Report whether a row holds names, and how sure that is."""
    if target and target in first and not is_numeric(target):
        return True, "sure"
    if not body:
        return not any(map(is_numeric, first)), "unsure"
    found = _weigh(first, body, width)
    if _counts(first) and not found.labels_again and not any(map(_counts, body)):
        return True, "unsure"
    if found.numbers_above_numbers:
        if found.words_above_numbers or found.new_words:
            if _are_years(first) and not found.labels_again:
                return True, "likely"
            is_names = found.words_above_numbers > found.numbers_above_numbers + found.labels_again
            return is_names, "unsure"
        return (True, "likely") if _are_years(first) and not found.labels_again else (False, "sure")
    if found.words_above_numbers:
        return found.words_above_numbers >= found.labels_again, "sure" if not found.labels_again else "unsure"
    if found.labels_again:
        return found.new_words > found.labels_again, "sure" if not found.new_words else "unsure"
    return True, "likely" if found.new_words else "unsure"


def _counts(row: Sequence[str]) -> bool:
    """Report whether the numbers of a row count from 0 or 1, as a program names columns that have no names."""
    numbers = [cell for cell in row if is_numeric(cell)]
    return len(numbers) > 2 and numbers in ([str(n) for n in range(len(numbers))], [str(n + 1) for n in range(len(numbers))])


def _are_years(row: Sequence[str]) -> bool:
    """Report whether the numbers of a row are years in steps, as they stand above columns."""
    years = [int(cell) for cell in row if len(cell) == 4 and cell.isdecimal() and 1800 <= int(cell) <= 2100]
    steps = {after - before for before, after in pairwise(years)}
    return len(years) > 1 and len(steps) == 1 and steps != {0} and len(years) == sum(map(is_numeric, row))


def _below_group_titles(rows: Rows, start: int, width: int) -> int:
    """Find the row of names below titles of groups of columns, which leave fields empty."""
    if len(rows) < start + 3:
        return start
    first, second, body = rows[start], rows[start + 1], rows[start + 2 :]
    found = _weigh(second, body, width)
    has_gaps = not all(first[1:])
    complete = all(second) and len(set(second)) == len(second) == width
    return start + 1 if has_gaps and complete and found.words_above_numbers and not found.numbers_above_numbers else start


def _holds_units(row: Sequence[str], body: Rows, width: int) -> bool:
    """Report whether a row below the names holds no number where all rows below it do."""
    found = _weigh(row, body, width)
    n_numeric = sum(_has_numbers(_column(body, position)) for position in range(width))
    return not found.numbers_above_numbers and not found.labels_again and found.words_above_numbers > 0.5 * n_numeric
