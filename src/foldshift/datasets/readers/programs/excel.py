"""Reader of Excel workbooks."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.core.errors import DataError
from foldshift.core.remedies import Message, Remedy
from foldshift.datasets.readers.column_kinds import Columns, build_table
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.receipt import Decision, Sure
from foldshift.datasets.readers.rows import own_columns, row_columns
from foldshift.datasets.readers.text_fields import MAX_CELLS, cell_text
from foldshift.datasets.sources.download import check_archive, one_line

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable

MAX_SHEET_ROWS = 2**20  # the limit of Excel; a row number in a damaged sheet can be anything
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP_SIGNATURE = b"PK\x03\x04"
MAX_MERGED = 100_000  # areas of merged cells
LEAST_CELLS = 4  # of a sheet that holds a table


class _Sheet(NamedTuple):
    """One sheet of a workbook."""

    name: str
    is_hidden: bool
    rows: Callable[[], list[list[str]]]  # texts of its cells
    has_formula: Callable[[int, int], bool]  # whether the cell in a row and a column holds a formula
    merged: list[int]  # number of areas of merged cells, once its rows were read


def read_excel(data: bytes, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read a sheet of an Excel workbook, `.xls` or `.xlsx`, without empty rows and columns.

    Of a workbook of the catalogue it is the first sheet; of a user's, the first visible one with a table.
    """
    options = options or ReadOptions()
    if data.startswith(OLE_SIGNATURE):
        sheets = _xls_sheets
    elif data.startswith(ZIP_SIGNATURE):
        sheets = _xlsx_sheets
    else:
        raise DataError("not an Excel file (neither .xls nor .xlsx by its first bytes); check the file, or save the sheet as csv")
    try:
        found = sheets(data, options.own)
        if not options.own:
            rows = found[0].rows()
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"{error.name} is not installed: pip install {error.name}, or convert the sheet to csv") from error
    except Exception as error:  # damaged files make the libraries raise errors of any kind
        raise _damaged(error) from error
    if options.own:
        return build_table(_own_sheet(found, options, target), options, task, target)
    lines = range(options.n_skipped + 1, len(rows) + 1)
    return build_table(row_columns(rows[options.n_skipped :], lines, options, header=True), options, task, target)


def _damaged(error: Exception) -> DataError:
    return DataError(f"damaged Excel file ({type(error).__name__}: {one_line(error)}); copy or save it once more")


def is_workbook(data: bytes) -> bool:
    """Report whether bytes are an Excel workbook."""
    if data.startswith(ZIP_SIGNATURE):
        try:
            return "xl/workbook.xml" in zipfile.ZipFile(io.BytesIO(data)).namelist()
        except Exception:  # zipfile raises errors of many kinds for damaged files
            return False
    return data.startswith(OLE_SIGNATURE)


def _own_sheet(sheets: list[_Sheet], options: ReadOptions, target: str) -> Columns:
    """Choose the sheet of a user's workbook and turn it into columns."""
    try:
        sheet, rows, decision = _chosen(sheets, options)
    except DataError:
        raise
    except Exception as error:  # damaged files make the libraries raise errors of any kind
        raise _damaged(error) from error
    lines = range(options.n_skipped + 1, len(rows) + 1)
    columns = own_columns(rows[options.n_skipped :], lines, options, options.target or target)
    columns.receipt.decisions.insert(0, decision)
    if any(sheet.merged):
        n = sheet.merged[0]
        columns.notes.insert(0, f"the value of {n} area{'s' * (n > 1)} of merged cells is read in all rows that they span")
    if len(sheets) > 1 and not options.sheet:
        names = ", ".join(repr(one.name[:40]) + " (hidden)" * one.is_hidden for one in sheets[:12])
        others = [one.name for one in sheets if one.name != sheet.name and _holds_table(one.rows())]
        remedy: list[str | Remedy] = ["; another: ", Remedy("sheet", others[0])] if others else []
        columns.notes.insert(0, Message(f"{decision.read_as} of {names}", *remedy))
    _note_formulas(columns, sheet)
    return columns


def _chosen(sheets: list[_Sheet], options: ReadOptions) -> tuple[_Sheet, list[list[str]], Decision]:
    """Find the sheet that the user names, else the first visible one that holds a table."""
    if options.sheet:
        for position, sheet in enumerate(sheets, 1):
            if options.sheet in (sheet.name, str(position)):
                return sheet, sheet.rows(), Decision("sheet", repr(sheet.name), "given")
        raise DataError(
            f"there is no sheet {options.sheet[:40]!r}; sheets are {', '.join(repr(one.name[:40]) for one in sheets[:12])}"
        )
    for sheet in [one for one in sheets if not one.is_hidden] + [one for one in sheets if one.is_hidden]:
        rows = sheet.rows()
        if _holds_table(rows):
            sure: Sure = "likely" if len(sheets) > 1 else "sure"
            return sheet, rows, Decision("sheet", f"sheet {sheet.name!r}", sure, (Remedy("sheet", sheet.name),))
    return sheets[0], sheets[0].rows(), Decision("sheet", f"sheet {sheets[0].name!r}", "unsure")


def _holds_table(rows: list[list[str]]) -> bool:
    full = [sum(map(bool, row)) for row in rows]
    return sum(width > 1 for width in full) > 1 and sum(full) >= LEAST_CELLS


def _note_formulas(columns: Columns, sheet: _Sheet) -> None:
    """Note columns whose cells are formulas without values, which a spreadsheet program has yet to compute."""
    for position, values in enumerate(columns.values):
        empty = [line for line, cell in zip(columns.lines, values) if cell == ""]
        n_formulas = sum(sheet.has_formula(line, position) for line in empty) if empty else 0
        if n_formulas:
            name = columns.names[position] if columns.names is not None else str(position + 1)
            columns.notes.append(
                f"{one_line(name, 60)}: {n_formulas} of {len(columns.lines)} cells hold formulas without stored values, read as "
                "missing; open the workbook in a spreadsheet program and save it, or save the values only"
            )
            columns.receipt.add(f"column {name}", f"{n_formulas} formulas without stored values are missing", "sure")


def _sheet_rows(rows: Iterable[Iterable[Any]]) -> list[list[str]]:
    """Convert the rows of a sheet to texts, all rows of the same length."""
    texts: list[list[str]] = []
    cells = 0
    for values in rows:
        row = list(values)
        cells += len(row)
        if cells > MAX_CELLS or len(texts) > MAX_SHEET_ROWS:
            raise DataError(f"more than {MAX_CELLS} cells or {MAX_SHEET_ROWS} rows; cut the sheet down")
        while row and row[-1] in (None, ""):  # first of all: most of a damaged sheet is empty
            row.pop()
        row = [_cell(value) for value in row]
        while row and not row[-1]:
            row.pop()
        texts.append(row)
    width = max(map(len, texts), default=0)
    if width * len(texts) > MAX_CELLS:
        raise DataError(f"more than {MAX_CELLS} cells; cut the sheet down")
    return [row + [""] * (width - len(row)) for row in texts]


def _fill_merged(rows: list[list[str]], areas: Iterable[tuple[int, int, int]]) -> int:
    """Write the value of merged cells into all rows that they span, by column, first and last row from 0; count the areas."""
    count = 0
    for column, first, last in areas:
        if first < last < len(rows) and column < len(rows[first]) and rows[first][column]:
            for row in rows[first + 1 : last + 1]:
                row[column] = rows[first][column]
            count += 1
    return count


def _merged_areas(book: zipfile.ZipFile, path: str) -> list[tuple[int, int, int]]:
    """Read which cells of a sheet are merged over several rows: column, first and last row from 0."""
    from openpyxl.utils import range_boundaries

    with book.open(path) as content:
        found = re.findall(rb'<(?:\w+:)?mergeCell [^>]*ref="([A-Z]+\d+:[A-Z]+\d+)"', content.read())
    bounds = [range_boundaries(area.decode()) for area in found[:MAX_MERGED]]
    return [(left - 1, top - 1, bottom - 1) for left, top, _, bottom in bounds if top < bottom]


def _cell(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return cell_text(value)


def _xlsx_sheets(data: bytes, own: bool) -> list[_Sheet]:
    """Open an `.xlsx` file; of the catalogue's, the first sheet."""
    import openpyxl

    check_archive(data)

    def opened(values: bool) -> Any:
        return openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=values)

    book = opened(True)
    formulas: dict[str, set[tuple[int, int]]] = {}

    def formulas_of(name: str) -> set[tuple[int, int]]:
        if name not in formulas:
            sheet = opened(False)[name]
            sheet.reset_dimensions()
            rows = enumerate(sheet.iter_rows(values_only=True), 1)
            formulas[name] = {
                (line, at)
                for line, row in rows
                for at, value in enumerate(row)
                if (isinstance(value, str) and value.startswith("="))
                or type(value).__name__ in ("ArrayFormula", "DataTableFormula")
            }
        return formulas[name]

    def sheet_of(sheet: Any) -> _Sheet:
        merged: list[int] = []

        def rows() -> list[list[str]]:
            sheet.reset_dimensions()  # the declared size of a sheet is often wrong
            texts = _sheet_rows(sheet.iter_rows(values_only=True))
            if own and (path := getattr(sheet, "_worksheet_path", "")):
                merged[:] = [_fill_merged(texts, _merged_areas(zipfile.ZipFile(io.BytesIO(data)), path))]
            return texts

        is_hidden = sheet.sheet_state != "visible"
        return _Sheet(sheet.title, is_hidden, rows, lambda line, at: (line, at) in formulas_of(sheet.title), merged)

    return [sheet_of(sheet) for sheet in (book.worksheets if own else book.worksheets[:1])]


def _xls_sheets(data: bytes, own: bool) -> list[_Sheet]:
    """Open an `.xls` file; of a user's, every cell has its type."""
    import xlrd

    book = xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), ragged_rows=True)

    def typed(kind: int, value: Any) -> Any:
        if not own:
            return value
        if kind == xlrd.XL_CELL_ERROR:
            return xlrd.error_text_from_code.get(value, "#N/A")
        if kind == xlrd.XL_CELL_BOOLEAN:
            return bool(value)
        if kind == xlrd.XL_CELL_DATE:
            return _date(value, book.datemode)
        return value

    def sheet_of(sheet: Any) -> _Sheet:
        def rows() -> list[list[str]]:
            return _sheet_rows(map(typed, sheet.row_types(row), sheet.row_values(row)) for row in range(sheet.nrows))

        return _Sheet(sheet.name, sheet.visibility != 0, rows, lambda line, at: False, [])

    return [sheet_of(book.sheet_by_index(position)) for position in range(book.nsheets if own else 1)]


def _date(value: float, datemode: int) -> Any:
    """Convert the number of a date cell to a date and time, or a time of day; the number itself where there is no such date."""
    import xlrd

    try:
        found = xlrd.xldate.xldate_as_datetime(value, datemode)
    except (ValueError, OverflowError, xlrd.xldate.XLDateError):
        return value
    if 0 <= value < 1:
        return found.time()
    return found.date() if found.time() == datetime.time() else found
