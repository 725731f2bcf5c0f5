"""Fast reader of large texts without oddities, by pandas; what it is not sure of is left to `own_text`, with the same values."""

from __future__ import annotations

import csv
import io
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.datasets.readers.column_kinds import Columns, find_position
from foldshift.datasets.readers.columns.dressed_numbers import is_numeric
from foldshift.datasets.readers.columns.text_values import LONG, Coded, different_texts
from foldshift.datasets.readers.header import Layout, find_layout
from foldshift.datasets.readers.own_text import Plan, find_plan, is_ruler, without_line_quotes
from foldshift.datasets.readers.rows import as_columns, cut_totals
from foldshift.datasets.readers.text_fields import MAX_CELLS, MAX_COLUMNS, own_field

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.columns.text_values import Cells
    from foldshift.datasets.readers.read_options import ReadOptions

LARGE = 2**20  # bytes; smaller texts are read in no time
HEAD = 2**18  # bytes that the plan is made from
CHUNK = 2**22  # bytes that are searched at once for leading zeros
# Newer versions of pandas read all decimals exactly, and warn of the argument that older ones need for it.
EXACT: dict[str, Any] = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}


class Plain(NamedTuple):
    """Columns of a text, and the plan by which it was cut."""

    columns: Columns
    plan: Plan


def read_plain(data: bytes, options: ReadOptions, task: TaskIfKnown, target: str, usual: str) -> Plain | None:
    """Read a large text by pandas; None if it is small or holds anything that asks for a closer look."""
    if len(data) < LARGE or options.map or options.decimal or options.thousands:
        return None
    if task == "classification" and not (options.target or target):  # which column it is depends on its values
        return None
    if b"\0" in data or not (data.isascii() or data.find(b"\xef\xbb\xbf", 3) < 0):  # marks of files that were cut or put together
        return None
    head = data[:HEAD].removeprefix(b"\xef\xbb\xbf")
    text = head[: head.rfind(b"\n") + 1].decode("utf-8", errors="replace")
    lines = text.replace("\r\n", "\n").split("\n")[:-1]
    if "\r" in text.replace("\r\n", "") or len(lines) < options.n_skipped + 3:
        return None
    if (
        without_line_quotes(lines) is not lines
        or any(map(is_ruler, lines))
        or is_ruler(data[-HEAD:].rstrip().rpartition(b"\n")[2].decode("utf-8", errors="replace"))
    ):
        return None
    plan = find_plan(lines, options, usual)
    if plan.separator in ("", "&") or plan.inner_comments or plan.name_line or plan.quote != '"':
        return None
    found = _layout(lines, plan, options, target)
    if found is None:
        return None
    layout, first = found
    frame = _frame(data, plan.separator, first)
    if frame is None or (layout.names is not None and len(layout.names) != frame.shape[1]):
        return None
    if frame.shape[1] > MAX_COLUMNS or frame.size > MAX_CELLS or not _is_whole(frame, data, plan.separator, first):
        return None
    values = _cells(frame, data, plan.separator, first)
    if any(_has_commas(cells) for cells in values):  # which may tell how points in other columns are meant
        return None
    if layout.names is not None and any(name in different_texts(cells) for name, cells in zip(layout.names, values)):
        return None  # names that are repeated
    columns = as_columns(layout.names, values, range(first + 1, first + 1 + len(frame)), layout)
    _as_texts(columns, data, plan.separator, first, _wanted_as_texts(columns, options, task, target))
    if options.skip_rows is None:
        cut_totals(columns)
    return Plain(columns, plan)


def _layout(lines: list[str], plan: Plan, options: ReadOptions, target: str) -> tuple[Layout, int] | None:
    """Find the header by the first lines, and the number of lines above the first row of data."""
    texts = lines[plan.start :][:400]
    try:
        rows = [
            [own_field(cell) for cell in row]
            for row in csv.reader(texts, delimiter=plan.separator, skipinitialspace=plan.separator != " ", strict=True)
        ]
    except csv.Error:
        return None
    if len(rows) != len(texts):  # a field of several lines
        return None
    kept = [(row, line) for line, row in enumerate(rows, plan.start + 1) if any(row)]
    if len(kept) < 3:
        return None
    if options.header and options.header > kept[-1][1]:
        return None
    layout = find_layout([row for row, _ in kept], [line for _, line in kept], options, target)
    return None if layout.start >= len(kept) else (layout, kept[layout.start][1] - 1)


def _frame(data: bytes, separator: str, first: int, **how: Any) -> pd.DataFrame | None:
    """Read the rows below the first lines; None if they do not fit together."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.BytesIO(data), sep=separator, header=None, skiprows=first, keep_default_na=False, na_values=[""],
                skipinitialspace=separator != " ", low_memory=False, encoding="utf-8", **EXACT, **how,
            )  # fmt: skip
    except (ValueError, pd.errors.ParserWarning):  # `ParserError` and `UnicodeDecodeError` are ValueErrors
        return None


def _is_whole(frame: pd.DataFrame, data: bytes, separator: str, first: int) -> bool:
    """Report whether every line is a row and no row is short."""
    start = 0
    for _ in range(first):
        start = data.find(b"\n", start) + 1
    end = len(data.rstrip())
    n_returns = data.count(b"\r", start, end)
    if data.count(b"\n", start, end) + 1 != len(frame) or (n_returns and n_returns != data.count(b"\r\n", start, end)):
        return False
    last = frame.iloc[-1].notna()
    if frame.shape[1] > 2 and last.iloc[0] and last.sum() == 1:  # a line below the table
        return False
    if frame.iloc[:, 0].isna().any() and frame.isna().all(axis=1).any():
        return False
    if not frame.iloc[:, -1].isna().any():
        return True
    no_quotes = data.find(b'"', start, end) < 0
    return no_quotes and data.count(separator.encode(), start, end) == (frame.shape[1] - 1) * len(frame)


def _cells(frame: pd.DataFrame, data: bytes, separator: str, first: int) -> list[Cells]:
    """Return numbers as float64, and all other columns by their different texts."""
    numeric = [at for at in range(frame.shape[1]) if frame.dtypes.iloc[at].kind in "iuf"]
    cells: list[Cells] = [
        frame.iloc[:, at].to_numpy(dtype=np.float64, na_value=np.nan) if at in set(numeric) else np.empty(0)
        for at in range(frame.shape[1])
    ]
    whole = [at for at in numeric if _are_whole(np.asarray(cells[at]))]
    has_zeros = bool(whole) and _has_leading_zeros(data, separator)
    again = [at for at in whole if has_zeros or np.nanmax(np.abs(np.asarray(cells[at])), initial=0) >= 10.0**LONG]
    again += [at for at in numeric if at not in whole and _may_be_thousands(np.asarray(cells[at]))]
    texts = [at for at in range(frame.shape[1]) if frame.dtypes.iloc[at].kind not in "iufb"]
    for at in texts:
        cells[at] = _coded(frame.iloc[:, at])
    booleans = [at for at in range(frame.shape[1]) if frame.dtypes.iloc[at].kind == "b"]
    for at, column in _texts_of(data, separator, first, [*again, *booleans]).items():
        cells[at] = column
    return cells


def _may_be_thousands(values: np.ndarray) -> bool:
    """Report whether all numbers may be written with three decimals, as thousands are in some languages."""
    finite = np.abs(values[np.isfinite(values)])
    if not finite.size or (finite[:1000] < 1).any() or finite.max() >= 1000 or finite.min() < 1:
        return False
    return bool(np.isclose(finite * 1000, np.round(finite * 1000), rtol=0, atol=1e-6).all())


def _has_commas(cells: Cells) -> bool:
    """Report whether a column may hold numbers with commas."""
    return isinstance(cells, Coded) and any("," in text and is_numeric(text) for text in cells.texts)


def _are_whole(values: np.ndarray) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite[:1000] == np.floor(finite[:1000])).all() and (finite == np.floor(finite)).all())


def _texts_of(data: bytes, separator: str, first: int, positions: list[int]) -> dict[int, Coded]:
    """Read some columns again, as texts."""
    if not positions:
        return {}
    frame = _frame(data, separator, first, usecols=positions, dtype=object)
    if frame is None:
        raise DataError("the file cannot be read twice; copy it once more")
    return {at: _coded(frame[at]) for at in positions}


def _coded(column: pd.Series) -> Coded:
    codes, texts = pd.factorize(column.to_numpy(dtype=object, na_value=None))
    return Coded(codes.astype(np.int64), [own_field(str(text)) for text in texts])


def _has_leading_zeros(data: bytes, separator: str) -> bool:
    """Report whether a field of a text may begin with a zero and another digit."""
    before = np.zeros(256, dtype=bool)
    before[[*separator.encode(), *b"\n\r\" '"]] = True
    digit = np.zeros(256, dtype=bool)
    digit[[*b"0123456789"]] = True
    for start in range(0, len(data), CHUNK):
        part = np.frombuffer(data, dtype=np.uint8, count=min(CHUNK + 2, len(data) - start), offset=start)
        zeros = np.flatnonzero(part[1:-1] == ord("0")) + 1
        if (before[part[zeros - 1]] & digit[part[zeros + 1]]).any():
            return True
    return False


def _wanted_as_texts(columns: Columns, options: ReadOptions, task: TaskIfKnown, target: str) -> list[int]:
    """Find the columns that the options want as labels."""
    names = [*options.nominal, *options.types, *filter(None, [options.groups, options.subset_on])]
    if task == "classification":
        names += [options.target or target]
    found = []
    for name in names:
        try:
            found.append(find_position(name, columns))
        except DataError:  # said where the roles of the columns are found
            continue
    return sorted(set(found))


def _as_texts(columns: Columns, data: bytes, separator: str, first: int, positions: list[int]) -> None:
    """Replace numbers by texts in columns that are wanted as labels."""
    numeric = [at for at in positions if not isinstance(columns.values[at], Coded)]
    values = list(columns.values)
    for at, column in _texts_of(data, separator, first, numeric).items():
        values[at] = column
    columns.values = values
