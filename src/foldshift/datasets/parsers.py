"""Parsers of the file formats in which data sets are distributed. Bytes in, `RawTable` out, nothing but `DataError` raised."""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from foldshift.datasets.download import check_archive, one_line
from foldshift.datasets.options import ReadOptions
from foldshift.datasets.table import RawTable
from foldshift.errors import DataError, unknown

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".arff": "arff",
    ".xls": "excel",
    ".xlsx": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
}
ALWAYS_MISSING = {"?", "<null>"}
USUALLY_MISSING = {"", "na", "nan"}  # unless the header declares them as a label
MAX_COLUMNS = 20_000  # a line of commas must not become millions of columns, each with an array of its own
MAX_CELLS = 50_000_000  # more than any data set here; a forged sheet or parquet file can claim 10^10
MAX_SHEET_ROWS = 2**20  # of Excel itself; a row number in a damaged sheet may be anything
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_UNPACKED = 2**30  # bytes of a parquet file as its header counts them
ZIP_SIGNATURE = b"PK\x03\x04"


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


def read_table(data, name, options=None, *, task="", target=""):
    """Read a file in any of the known formats.

    Parameters
    ----------
    data : bytes
        Content of the file.
    name : str
        Name of the file; its ending tells the format, and messages name it.
    options : ReadOptions or None, default=None
        How to read it.
    task : {"", "regression", "classification"}, default=""
        With ``"classification"`` the target becomes nominal, labels as in the file; with ``"regression"`` it must be numeric.
    target : str, default=""
        Name of the target column, used if neither the options nor the file name one.

    Returns
    -------
    table : RawTable
        The table.

    Raises
    ------
    DataError
        If the file cannot be read; one line that begins with `name`.
    """
    options = options or ReadOptions()
    try:
        if not data.strip():
            raise DataError("the file is empty; fetch it again")
        if looks_like_html(data):
            raise DataError("this is an HTML page, not data; open the address in a browser to see what it says")
        kind = options.format or format_of(data, name)
        if kind == "":
            kind, options = _guess(data, options)
        return _PARSERS[kind](data, options, task=task, target=target)
    except DataError as error:
        raise DataError(f"{one_line(name)}: {one_line(error, 500)}") from error


def format_of(data, name):
    """Format of a file by its ending; a file of another ending is ``keel`` if it begins with a header line or comment.

    Parameters
    ----------
    data : bytes
        Content of the file.
    name : str
        Its name.

    Returns
    -------
    kind : str
        One of `foldshift.datasets.options.FORMATS`, or empty: plain text, comma- or blank-separated.
    """
    dot = name.rfind(".")
    ending = name[dot:].lower() if dot >= 0 else ""
    if ending in ENDINGS:
        return ENDINGS[ending]
    start = data[:3].replace(b"\xef\xbb\xbf", b"") + data[3:4096]
    return "keel" if start.lstrip()[:1] in (b"@", b"%") else ""


def looks_like_html(data):
    """Whether bytes are a web page, as servers send it instead of a file.

    Parameters
    ----------
    data : bytes
        Content of a file.

    Returns
    -------
    html : bool
        True for a page.
    """
    start = data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html")) or (start.startswith((b"<?xml", b"<!--")) and b"<html" in start)


def read_keel(data, options=None, *, task="", target=""):
    """Read a KEEL `.dat` file.

    Parameters
    ----------
    data : bytes or str
        Content of the file; bytes are Latin-1 after an optional UTF-8 byte-order mark.
    options, task, target
        As in `read_table`.

    Returns
    -------
    table : RawTable
        Kinds and labels as in the header; values outside a declared range become notes.

    Raises
    ------
    DataError
        If the header is damaged or disagrees with the rows, or a label is not declared.

    References
    ----------
    KEEL Software Suite user manual, "Data files format"; `@input` and `@output` for `@inputs` and `@outputs`, missing
    `@inputs` or `@outputs`, and nominal attributes without a list occur in the distributed files.
    """
    return _build(_header_columns(_text(data, "latin-1"), options, quoted=False), options, task, target)


def read_arff(data, options=None, *, task="", target=""):
    """Read a dense ARFF file.

    Parameters
    ----------
    data : bytes or str
        Content of the file; bytes are UTF-8, else Latin-1.
    options, task, target
        As in `read_table`.

    Returns
    -------
    table : RawTable
        ``numeric`` is integer if all values are whole numbers, else real; string and date attributes are nominal.

    Raises
    ------
    DataError
        If the file is damaged, sparse or relational.

    References
    ----------
    Weka, "Attribute-Relation File Format (ARFF)", stable version.
    """
    return _build(_header_columns(_text(data), options, quoted=True), options, task, target)


def read_csv(data, options=None, *, task="", target=""):
    """Read rows of separated fields, RFC 4180 with any one-character separator.

    Parameters
    ----------
    data : bytes or str
        Content of the file; bytes are UTF-8, else Latin-1.
    options, task, target
        As in `read_table`; the first row is a header unless ``header`` is False.

    Returns
    -------
    table : RawTable
        Kinds from the values: integer if all are whole numbers, real if all are numbers, else nominal.

    Raises
    ------
    DataError
        If rows differ in length, or the header is missing.
    """
    options = options or ReadOptions()
    text = "\n".join(_split_lines(_text(data))[options.skip :])
    separator = options.sep or ("\t" if options.format == "tsv" else ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=separator != " ", strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            _check_width(row, f"line {options.skip + reader.line_num}: ")
            rows.append([_unquoted(value) for value in row])
            lines.append(options.skip + reader.line_num)
    except csv.Error as error:
        raise DataError(f"line {options.skip + reader.line_num}: {error}; check sep and the quotes") from error
    return _build(_row_columns(rows, lines, options, header=True), options, task, target)


def read_tsv(data, options=None, *, task="", target=""):
    """Read rows of fields separated by tabs; see `read_csv`."""
    options = options or ReadOptions()
    return read_csv(data, ReadOptions(**{**vars(options), "sep": options.sep or "\t"}), task=task, target=target)


def read_space(data, options=None, *, task="", target=""):
    """Read rows of fields separated by any number of blanks; a field in double quotes may hold blanks.

    Parameters
    ----------
    data : bytes or str
        Content of the file; bytes are UTF-8, else Latin-1.
    options, task, target
        As in `read_table`; there is no header unless ``header`` is True.

    Returns
    -------
    table : RawTable
        Kinds from the values.

    Raises
    ------
    DataError
        If rows differ in length.
    """
    options = options or ReadOptions()
    texts = _split_lines(_text(data))[options.skip :]
    rows = [[_unquoted(value) for value in re.findall(r'"[^"]*"|[^\s"]+|"', line)] for line in texts]
    lines = range(options.skip + 1, options.skip + 1 + len(rows))
    return _build(_row_columns(rows, lines, options, header=False), options, task, target)


def read_excel(data, options=None, *, task="", target=""):
    """Read the first sheet of an Excel workbook, `.xls` or `.xlsx`. Empty rows, and columns without name and value, are left out.

    Parameters
    ----------
    data : bytes
        Content of the file.
    options, task, target
        As in `read_table`; the first row is a header unless ``header`` is False.

    Returns
    -------
    table : RawTable
        Kinds from the values.

    Raises
    ------
    DataError
        If this is not a workbook, or openpyxl (`.xlsx`) or xlrd (`.xls`) is not installed.
    """
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
        raise DataError(f"{error.name} is not installed; install it or convert the sheet to csv") from error
    except Exception as error:  # the libraries raise whatever a damaged file makes them stumble over
        raise DataError(f"damaged Excel file ({type(error).__name__}: {one_line(error)}); fetch it again") from error
    lines = range(options.skip + 1, len(rows) + 1)
    return _build(_row_columns(rows[options.skip :], lines, options, header=True), options, task, target)


def read_parquet(data, options=None, *, task="", target=""):
    """Read a parquet file.

    Parameters
    ----------
    data : bytes
        Content of the file.
    options, task, target
        As in `read_table`.

    Returns
    -------
    table : RawTable
        Labels of dictionary columns in the order of the dictionary; other kinds from the values.

    Raises
    ------
    DataError
        If this is not a parquet file, or pyarrow is not installed.
    """
    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise DataError("not a parquet file (the letters PAR1 are missing at its ends); check the file or set format")
    try:
        columns = _frame_columns(_parquet_frame(data))
    except DataError:
        raise
    except ImportError as error:
        raise DataError("pyarrow is not installed; install it or convert the table to csv") from error
    except Exception as error:  # damaged files raise OSError, ValueError, Arrow's own errors, MemoryError, texts even when used
        raise DataError(f"damaged parquet file ({type(error).__name__}: {one_line(error)}); fetch it again") from error
    return _build(columns, options, task, target)


def _parquet_frame(data):
    """Data frame of a parquet file. Its texts are read as they are stored, each once, so that few bytes cannot become many."""
    import pyarrow.parquet

    about = pyarrow.parquet.read_metadata(io.BytesIO(data))
    if about.num_rows * about.num_columns > MAX_CELLS or about.num_columns > MAX_COLUMNS:
        raise DataError(f"more than {MAX_CELLS} cells or {MAX_COLUMNS} columns; cut the table down")
    if sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups)) > MAX_UNPACKED:
        raise DataError(f"more than {MAX_UNPACKED} bytes when unpacked; cut the table down")
    labels = set()
    for column in about.schema.to_arrow_schema():
        if pyarrow.types.is_nested(column.type):
            raise DataError(f"column {column.name[:60]!r} holds lists or records; drop it from the table")
        if pyarrow.types.is_dictionary(column.type):
            labels.add(column.name)
    texts = [column.path for column in map(about.schema.column, range(about.num_columns)) if column.physical_type == "BYTE_ARRAY"]
    frame = pyarrow.parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts).read().to_pandas()
    for position, name in enumerate(frame.columns):
        if isinstance(frame.dtypes.iloc[position], pd.CategoricalDtype) and str(name) not in labels:
            frame.isetitem(position, frame.iloc[:, position].astype(object))
    return frame


def read_frame(frame, options=None, *, task="", target=""):
    """Bring a data frame into the form of a parsed file.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of numbers, texts, truth values or categories.
    options, task, target
        As in `read_table`.

    Returns
    -------
    table : RawTable
        Labels of categorical columns in the order of their categories; other kinds from the values.

    Raises
    ------
    DataError
        If the frame has no rows or no columns, or column names repeat.
    """
    return _build(_frame_columns(frame), options, task, target)


def _frame_columns(frame):
    """Columns of text of a data frame."""
    names = [str(name) for name in frame.columns]
    values, categories = [], []
    for position in range(len(names)):
        column = frame.iloc[:, position]
        labels = None
        if isinstance(column.dtype, pd.CategoricalDtype):
            labels = list(dict.fromkeys(_cell_text(label) for label in column.cat.categories))
        categories.append(labels)
        values.append(["?" if missing else _cell_text(value) for value, missing in zip(column.tolist(), column.isna())])
    kinds = ["nominal" if labels is not None else "" for labels in categories]
    return Columns(names, values, range(1, len(frame) + 1), kinds, categories)


_PARSERS = {
    "keel": read_keel,
    "arff": read_arff,
    "csv": read_csv,
    "tsv": read_tsv,
    "space": read_space,
    "excel": read_excel,
    "parquet": read_parquet,
}


def _shown(texts):
    """Some of a list of texts from a file, for messages."""
    return ", ".join(repr(text[:30]) for text in texts[:12]) + (", ..." if len(texts) > 12 else "")


def _listed(names):
    return ", ".join(one_line(name, 60) for name in names[:12]) + (", ..." if len(names) > 12 else "")


def _guess(data, options):
    """Plain text of unknown ending: the separator of its first row; such files have no header."""
    first = next((line for line in data.split(b"\n")[options.skip :] if line.strip()), b"")
    header = bool(options.header)
    separator = options.sep or next((mark for mark in (";", ",") if mark.encode() in first), "")
    if options.decimal == "," and separator == ",":
        separator = ""
    changed = ReadOptions(**{**vars(options), "header": header, "sep": separator})
    return ("csv" if separator else "space"), changed


def _text(data, fallback="utf-8"):
    """Text of a file: UTF-8 if it has a byte-order mark or `fallback` says so, else Latin-1."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    if b"\0" in data:
        raise DataError("not a text file (it holds zero bytes); check the file or set format")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if fallback == "utf-8":
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return data.decode("latin-1")


def _split_lines(text):
    """Lines ended by LF, CRLF or CR only; `str.splitlines` would also split at characters such as U+0085."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unquoted(value):
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].strip()
    return value


def _number(text, decimal="."):
    """The number a text stands for, or None. Python would also accept underscores."""
    if decimal != ".":
        text = text.replace(decimal, ".")
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


# ---- header formats: KEEL and ARFF ----


def _header_columns(text, options, quoted):
    """Columns of a KEEL file or (`quoted`) of an ARFF file: both have `@attribute` lines, then `@data` and rows."""
    options = options or ReadOptions()
    lines = _split_lines(text)
    names, kinds, categories, ranges, roles = [], [], [], {}, {}
    start = None
    for number, line in enumerate(lines[options.skip :], options.skip + 1):
        line = line.strip()
        if not line or line.startswith(("%", "#")):  # distributed files comment out @inputs with #
            continue
        keyword, _, rest = line.replace("\t", " ").partition(" ")
        keyword, rest = keyword.lower(), rest.strip()
        if keyword == "@data":
            start = number
            break
        if keyword == "@attribute":
            try:
                name, kind, labels, limits = _attribute(rest, quoted)
            except DataError as error:
                raise DataError(f"line {number}: {error}") from error
            if limits is not None:
                ranges[len(names)] = limits
            names.append(name)
            _check_width(names, f"line {number}: ")
            kinds.append(kind)
            categories.append(labels)
        elif keyword in ("@inputs", "@input", "@outputs", "@output") and not quoted:
            roles[keyword.rstrip("s")] = (number, [_unquoted(name) for name in rest.split(",") if name.strip()])
        elif keyword != "@relation":
            raise DataError(
                f"line {number}: {line[:40]!r} is not a header line; expected @relation, @attribute, @inputs, @outputs or @data"
            )
    if start is None:
        raise DataError("the header has no @data line; the file is truncated or of another format")
    if not names:
        raise DataError("the header declares no @attribute; the file is damaged or of another format")
    rows, numbers = [], []
    for number, line in enumerate(lines[start:], start + 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        row = _fields(line, number) if quoted else [value.strip() for value in line.split(",")]
        if len(row) != len(names):
            raise DataError(f"line {number}: {len(row)} fields where the header declares {len(names)} attributes; fetch it again")
        rows.append(row)
        numbers.append(number)
    if not rows:
        raise DataError("no rows after @data; the file is truncated")
    target, others = _roles(names, roles)
    return Columns(names, list(zip(*rows)), numbers, kinds, categories, target, others, ranges)


def _check_width(fields, where=""):
    if len(fields) > MAX_COLUMNS:
        raise DataError(f"{where}more than {MAX_COLUMNS} columns; the file is damaged, or cut the table down")


def _attribute(text, quoted):
    """Name, kind, labels and range of one `@attribute` line, without its keyword."""
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        if end < 0:
            raise DataError(f"attribute name {text[:40]!r} has no closing quote")
        name, rest = text[1:end], text[end + 1 :].strip()
    else:
        name = re.match(r"[^\s{]*", text).group()
        rest = text[len(name) :].strip()
    if not name:
        raise DataError("an @attribute without a name")
    if rest[:1] in ("{", "["):
        closing = {"{": "}", "[": "]"}[rest[0]]
        if not rest.endswith(closing):
            raise DataError(f"the labels of attribute {name[:60]!r} have no closing {closing!r}")
        inner = rest[1:-1].strip()
        labels = _fields(inner, None) if quoted else [_unquoted(label) for label in inner.split(",")]
        labels = list(dict.fromkeys(label for label in labels if label))
        if not labels:
            raise DataError(f"attribute {name[:60]!r} declares no labels")
        return name, "nominal", labels, None
    word = re.match(r"[A-Za-z]*", rest).group().lower()
    after = rest[len(word) :].strip()
    kind = {"integer": "integer", "real": "real", "numeric": "numeric", "": "nominal", "nominal": "nominal"}.get(word)
    if quoted:
        kind = "nominal" if word in ("string", "date") else kind if word else None
    if kind is None:
        raise DataError(f"attribute {name[:60]!r} has the type {rest[:40]!r}; allowed are integer, real, numeric and {{labels}}")
    limits = None
    if after.startswith("[") and kind != "nominal":
        bounds = [_number(bound) for bound in after.rstrip("]").lstrip("[").split(",")]
        if len(bounds) != 2 or None in bounds:
            raise DataError(f"attribute {name[:60]!r} has the range {after[:40]!r}; expected [min, max]")
        limits = tuple(bounds)
    return name, kind, None, limits


# possessive quantifiers (*+): no way back, so a hostile line costs no more than its length
_QUOTED_FIELD = re.compile(r"""\s*+(?:'((?:[^'\\]|\\.)*+)'\s*+|"((?:[^"\\]|\\.)*+)"\s*+|([^,'"]*+))(,|$)""")


def _fields(line, number):
    """Fields of an ARFF row or label list, with quotes and backslash escapes."""
    if "'" not in line and '"' not in line:
        if line.startswith("{"):
            raise DataError(f"line {number}: sparse ARFF rows are not supported; convert the file to dense ARFF or csv")
        return [value.strip() for value in line.split(",")]
    fields, position = [], 0
    while True:
        match = _QUOTED_FIELD.match(line, position)
        if match is None:
            where = f"line {number}: " if number else ""
            raise DataError(
                f"{where}cannot read {line[position : position + 40]!r}: a quote is not closed or stands inside a field"
            )
        single, double, bare = match.group(1, 2, 3)
        if bare is not None:
            fields.append(bare.strip())
        else:
            fields.append(re.sub(r"\\(.)", r"\1", single if single is not None else double))
        position = match.end()
        _check_width(fields, f"line {number}: " if number else "")
        if not match.group(4):
            return fields


def _roles(names, roles):
    """Position of the target and of the columns that are neither inputs nor target, from @inputs and @outputs."""
    where = {name: position for position, name in enumerate(names)}
    positions = {}
    for role, (number, given) in roles.items():
        for name in given:
            if name not in where:
                raise DataError(
                    f"line {number}: {role}s names {name[:60]!r}, which no @attribute declares; the header is damaged"
                )
        positions[role] = {where[name] for name in given}
    everything = set(where.values())
    inputs, outputs = positions.get("@input"), positions.get("@output")
    if inputs is None and outputs is None:
        return None, set()
    if outputs is None:
        outputs = everything - inputs
    if inputs is None:
        inputs = everything - outputs
    target = next(iter(outputs)) if len(outputs) == 1 else None
    return target, everything - inputs - {target}


# ---- rows without a header of kinds: csv, blanks, Excel ----


def _row_columns(rows, lines, options, header):
    """Columns from rows of texts; rows without any text and unnamed columns without any text do not count."""
    kept = [(row, line) for row, line in zip(rows, lines) if any(row)]
    if not kept:
        raise DataError("no rows; the file is empty or truncated")
    rows, lines = [row for row, _ in kept], [line for _, line in kept]
    names = None
    if options.header or (options.header is None and header):
        names, first = rows.pop(0), lines.pop(0)
        if not rows:
            raise DataError("a header but no rows; the file is truncated, or set header=no")
        if options.header is None and all(_number(name, options.decimal) is not None for name in names):
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


def _cell_text(value):
    """Text of a cell as the user sees it: whole numbers of a workbook without ``.0``."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("latin-1").strip()
    if isinstance(value, float):
        return repr(value)
    return str(value).strip()


def _sheet_rows(rows):
    """Rows of a sheet as texts, all of the same length."""
    texts, cells = [], 0
    for row in rows:
        row = list(row)
        cells += len(row)
        if cells > MAX_CELLS or len(texts) > MAX_SHEET_ROWS:
            raise DataError(f"more than {MAX_CELLS} cells or {MAX_SHEET_ROWS} rows; cut the sheet down")
        while row and row[-1] in (None, ""):  # before anything is done with each: most of a damaged sheet is empty
            row.pop()
        row = [str(int(v)) if isinstance(v, float) and v.is_integer() and abs(v) < 2**53 else _cell_text(v) for v in row]
        while row and not row[-1]:
            row.pop()
        texts.append(row)
    width = max(map(len, texts), default=0)
    if width * len(texts) > MAX_CELLS:
        raise DataError(f"more than {MAX_CELLS} cells; cut the sheet down")
    return [row + [""] * (width - len(row)) for row in texts]


def _xlsx_rows(data):
    import openpyxl

    check_archive(data)
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    sheet = book.worksheets[0]
    sheet.reset_dimensions()  # the declared size of a sheet is often wrong
    return _sheet_rows(sheet.iter_rows(values_only=True))


def _xls_rows(data):
    import xlrd

    book = xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), ragged_rows=True)
    sheet = book.sheet_by_index(0)
    return _sheet_rows(sheet.row_values(row) for row in range(sheet.nrows))


# ---- from texts to a table ----


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


def _build(columns, options, task, target):
    """`RawTable` from columns of text and reading options."""
    options = options or ReadOptions()
    if not columns.values or not columns.lines:
        raise DataError("no rows or no columns; the file is empty or truncated")
    _check_width(columns.values)
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
        numbers = {text: _number(text, self.decimal) for text in set(self.texts) - {None}}
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
