"""Inference about user-defined files: encoding, separator, header, decimal mark, missing values, columns that are not inputs.

Every assumption becomes a note. Data sets of the catalogue have a checksum and are read without any inference.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np

from foldshift.core.errors import DataError
from foldshift.datasets.readers.dates import days_of
from foldshift.datasets.readers.text_fields import as_number, split_lines
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import ColumnKind, DecimalMark, FloatArray
    from foldshift.datasets.readers.read_options import ReadOptions

NULL_MARKS = {"null", "n/a", "#n/a"}  # missing in any column
PLAIN_MARKS = NULL_MARKS | {"none", "-", "--", "."}  # missing in a column of numbers; among labels they may be labels
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas"}
SAMPLE = 200  # lines that the separator is inferred from
MOST_CLASSES = 20  # different numbers; more are a quantity
FEW = 10  # rows; with fewer, no column is taken for names of rows
NAMES_ROWS = 0.9  # labels per row; from here a column names rows
MANY_LABELS = 0.5  # labels per row; above, a column may name rows
_IDENTIFIER = re.compile(
    r"(?i:id|idx|index|nr|no|number|row[ ._-]?(id|nr|no|number|names?)?|unnamed: \d+|uuid|guid|.*[ ._-]id)|.*[a-z](Id|ID)"
)


def decoded(data: bytes) -> tuple[str, str]:
    """Decode a file of unknown encoding; return its text and a note on what was assumed, empty if nothing was.

    UTF-8 first; UTF-16 or UTF-32 if a byte-order mark or zeros at every other byte show it; else Windows-1252.

    Examples
    --------
    >>> from foldshift.datasets.readers.infer import decoded
    >>> decoded("Köln".encode("cp1252"))
    ('Köln', "not UTF-8: read as Windows-1252, e.g. 'Köln'; if that is wrong, save the file as UTF-8")
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            text = _try(data, encoding)
            break
    else:
        encoding = _utf_16(data)
        text = _try(data, encoding or "utf-8")
    if text is None and b"\0" not in data:
        encoding = "cp1252"
        text = _try(data, encoding)
        text = data.decode("latin-1") if text is None else text
    if text is None or "\0" in text:
        raise DataError("not a text file (it holds zero bytes); check the file or set format")
    if encoding == "cp1252" and (letter := re.search(r"[^\x00-\x7f]", text)):
        # The letter first, then the word around it: a search for the whole word takes the square of its length.
        at = letter.start()
        before = re.findall(r"\w*\Z", text[max(at - 60, 0) : at])[0]
        word = before + re.findall(r"\A.\w*", text[at : at + 60], re.DOTALL)[0]
        shown = f"Windows-1252, e.g. {one_line(word, 40)!r}"
        return text, f"not UTF-8: read as {shown}; if that is wrong, save the file as UTF-8"
    if encoding in ("utf-16-le", "utf-16-be"):
        return text, "every other byte is zero: read as UTF-16; if that is wrong, save the file as UTF-8"
    return text, ""


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _utf_16(data: bytes) -> str:
    """Recognise UTF-16 without a mark: in European languages nearly every other byte is zero."""
    head = data[: 2**12]
    for encoding, zeros, others in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if len(zeros) > 3 and zeros.count(0) > 0.8 * len(zeros) and not others.count(0):
            return encoding
    return ""


def find_separator(lines: list[str], usual: str) -> str:
    """Find the separator that cuts most lines into as many fields as the first, at least two.

    The comma is tried last, because it may be a decimal mark.

    Examples
    --------
    >>> from foldshift.datasets.readers.infer import find_separator
    >>> find_separator(["a;b", "1,5;2,5", "2,0;3,5"], ",")
    ';'
    """
    lines = [line for line in lines if line.strip()][:SAMPLE]
    best, most = usual, 0.5
    for mark in SEPARATORS:
        if not lines or mark not in lines[0]:
            continue
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=mark, skipinitialspace=True) if row]
        except csv.Error:
            continue
        share = sum(width == widths[0] for width in widths) / len(widths) if widths and widths[0] > 1 else 0
        if share > most:
            best, most = mark, share
    return best


def guess_rows(text: str, options: ReadOptions, target: str) -> tuple[str, bool]:
    """Guess the separator of a text without a known ending, and whether its first row holds names."""
    lines = [line for line in split_lines(text)[options.skip :] if line.strip()][:SAMPLE]
    separator = options.sep or find_separator(lines, "")
    if options.header is not None or not lines:
        return separator, bool(options.header)
    fields = [field.strip().strip("\"'").strip() for field in (lines[0].split(separator) if separator else lines[0].split())]
    return separator, target in fields


def decimal_of(texts: Iterable[str], decimal: DecimalMark, separator: str) -> DecimalMark:
    """Infer the decimal mark of a column: a comma if all its decimal numbers have one and commas do not separate fields."""
    if decimal != "." or separator == ",":
        return decimal
    texts = [text for text in texts if text and text != "?" and text.lower() not in PLAIN_MARKS]
    commas = any("," in text for text in texts) and not any("." in text for text in texts)
    return "," if commas and all(as_number(text, ",") is not None for text in texts) else decimal


def missing_marks(texts: set[str], numeric: bool | None, decimal: DecimalMark) -> set[str]:
    """Find the texts of a column that mean a missing value: `PLAIN_MARKS` among numbers, `NULL_MARKS` in any column.

    `numeric` says whether the column must hold numbers (True), must hold labels (False), or the texts decide (None).

    Examples
    --------
    >>> from foldshift.datasets.readers.infer import missing_marks
    >>> missing_marks({"1", "2.5", "-"}, None, "."), missing_marks({"a", "b", "-"}, None, ".")
    ({'-'}, set())
    """
    plain = {text for text in texts if text.lower() in PLAIN_MARKS}
    others = texts - plain
    if numeric or (numeric is None and others and all(as_number(text, decimal) is not None for text in others)):
        return plain
    return {text for text in plain if text.lower() in NULL_MARKS}


class Exclusion(NamedTuple):
    """Reason to leave a column out of the inputs (empty: none) and, for dates, the days since 1970 of every value."""

    reason: str
    days: dict[Any, float] | None = None


def exclusion_of(name: str, kind: ColumnKind, values: FloatArray | pd.Categorical, unnamed: bool) -> Exclusion:
    """Find out whether a column of a user-defined file is an input; dates and names or numbers of rows are not."""
    return _excluded_labels(values) if kind == "nominal" else _excluded_numbers(name, kind, values, unnamed)


def _excluded_labels(values: pd.Categorical) -> Exclusion:
    """Recognise dates, and labels of which nearly every row has its own."""
    codes = np.asarray(values.codes)
    present = np.unique(codes[codes >= 0])
    days, form = days_of(values.categories[present])
    if days:
        return Exclusion(f"dates, {form}", days)
    n = int((codes >= 0).sum())
    if n >= FEW and len(present) >= NAMES_ROWS * n:
        return Exclusion(f"{len(present)} labels in {n} rows")
    return Exclusion("")


def _excluded_numbers(name: str, kind: ColumnKind, values: FloatArray, unnamed: bool) -> Exclusion:
    """Recognise dates of eight digits, and numbers of rows by their name."""
    if kind != "integer":
        return Exclusion("")
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if distinct[0] >= 19000101 and distinct[-1] <= 20991231:
        days, form = days_of([f"{value:.0f}" for value in distinct])
        if days:
            return Exclusion(f"dates, {form}", {float(text): day for text, day in days.items()})
    if (unnamed or _IDENTIFIER.fullmatch(name)) and len(present) == len(distinct) >= FEW:
        whole = distinct[-1] - distinct[0] == len(distinct) - 1
        reason = "numbers the rows" if whole else "a number of its own in every row"
        return Exclusion(f"without a name, {reason}" if unnamed else reason)
    return Exclusion("")


class LabelCount(NamedTuple):
    """Number of different labels, of rows that have one, and whether there are fewer than two rows to a label."""

    n_labels: int
    n_rows: int
    are_many: bool


def count_labels(values: pd.Categorical) -> LabelCount:
    """Count the labels of a column and the rows that have one."""
    codes = np.asarray(values.codes)
    present = codes[codes >= 0]
    n_rows, n_labels = len(present), len(np.unique(present))
    return LabelCount(n_labels, n_rows, n_rows >= FEW and n_labels > MANY_LABELS * n_rows)


def check_classes(name: str, texts: Sequence[str], decimal: DecimalMark, separator: str) -> None:
    """Refuse a target of classes that is a quantity or names rows.

    A quantity has numbers only, more than `MOST_CLASSES` different ones or more than one for two rows.
    """
    distinct = dict.fromkeys(texts)
    decimal = decimal_of(distinct, decimal, separator)
    crowded = len(texts) >= FEW and len(distinct) > MANY_LABELS * len(texts)
    numbers = {as_number(text, decimal) for text in distinct}
    name, shown = one_line(name, 60), ", ".join(one_line(text, 20) for text in list(distinct)[:3])
    if None not in numbers and (crowded or len(numbers) > MOST_CLASSES):
        raise DataError(
            f"the target {name!r} looks like a quantity, not like classes: {len(numbers)} different numbers in {len(texts)} rows "
            f"({shown}, ...); take a study of regression, or write nominal={listed([name])} in the source if they are labels"
        )
    if crowded:
        raise DataError(
            f"the target {name!r} names rows, not classes: {len(distinct)} different labels in {len(texts)} rows ({shown}, ...); "
            f"set target to another column, or write nominal={listed([name])} in the source if they are classes"
        )


def listed(names: list[str], most: int = 5) -> str:
    """Write names of columns for a message, as in the options of a source: with percent-encoding.

    Examples
    --------
    >>> from foldshift.datasets.readers.infer import listed
    >>> listed(["größe", "built in"])
    'größe,built%20in'
    """
    written = [re.sub(r"[\s%&?,;:=]", lambda match: quote(match.group()), one_line(name, 40)) for name in names[:most]]
    return ",".join(written) + (", ..." if len(names) > most else "")
