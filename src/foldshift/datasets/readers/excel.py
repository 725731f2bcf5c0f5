"""Reader of Excel workbooks."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import DataError
from foldshift.datasets.readers.column_kinds import build_table, row_columns
from foldshift.datasets.readers.read_options import ReadOptions
from foldshift.datasets.readers.text_fields import MAX_CELLS, cell_text
from foldshift.datasets.sources.download import check_archive, one_line

if TYPE_CHECKING:
    from foldshift.core.types import TaskIfKnown
    from foldshift.datasets.readers.raw_table import RawTable

MAX_SHEET_ROWS = 2**20  # the limit of Excel; a row number in a damaged sheet can be anything
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP_SIGNATURE = b"PK\x03\x04"


def read_excel(data: bytes, options: ReadOptions | None = None, *, task: TaskIfKnown = "", target: str = "") -> RawTable:
    """Read the first sheet of an Excel workbook, `.xls` or `.xlsx`, without empty rows and columns."""
    options = options or ReadOptions()
    if data.startswith(OLE_SIGNATURE):
        read = _xls_rows
    elif data.startswith(ZIP_SIGNATURE):
        read = _xlsx_rows
    else:
        raise DataError("not an Excel file (neither .xls nor .xlsx by its first bytes); check the file or set format")
    try:
        rows = read(data)
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"{error.name} is not installed: pip install foldshift[workflow], or convert the sheet to csv") from error
    except Exception as error:  # damaged files make the libraries raise errors of any kind
        raise DataError(f"damaged Excel file ({type(error).__name__}: {one_line(error)}); fetch it again") from error
    lines = range(options.skip + 1, len(rows) + 1)
    return build_table(row_columns(rows[options.skip :], lines, options, header=True), options, task, target)


def is_workbook(data: bytes) -> bool:
    """Report whether bytes are an Excel workbook."""
    if data.startswith(ZIP_SIGNATURE):
        try:
            return "xl/workbook.xml" in zipfile.ZipFile(io.BytesIO(data)).namelist()
        except Exception:  # zipfile raises errors of many kinds for damaged files
            return False
    return data.startswith(OLE_SIGNATURE)


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
        row = [str(int(v)) if isinstance(v, float) and v.is_integer() and abs(v) < 2**53 else cell_text(v) for v in row]
        while row and not row[-1]:
            row.pop()
        texts.append(row)
    width = max(map(len, texts), default=0)
    if width * len(texts) > MAX_CELLS:
        raise DataError(f"more than {MAX_CELLS} cells; cut the sheet down")
    return [row + [""] * (width - len(row)) for row in texts]


def _xlsx_rows(data: bytes) -> list[list[str]]:
    """Read the first sheet of an `.xlsx` file."""
    import openpyxl

    check_archive(data)
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    sheet = book.worksheets[0]
    sheet.reset_dimensions()  # the declared size of a sheet is often wrong
    return _sheet_rows(sheet.iter_rows(values_only=True))


def _xls_rows(data: bytes) -> list[list[str]]:
    """Read the first sheet of an `.xls` file."""
    import xlrd

    book = xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), ragged_rows=True)
    sheet = book.sheet_by_index(0)
    return _sheet_rows(sheet.row_values(row) for row in range(sheet.nrows))
