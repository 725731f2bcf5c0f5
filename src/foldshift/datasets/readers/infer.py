"""Inference about user-defined files: encoding, separator, columns that are not inputs, targets that are not classes.

Every assumption becomes a note. Data sets of the catalogue have a checksum and are read without any inference.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.core.remedies import Message, Remedy
from foldshift.datasets.readers.columns.dates import days_of, odd_dates_of
from foldshift.datasets.readers.columns.dressed_numbers import find_dress
from foldshift.datasets.readers.columns.text_values import FEW_ODD
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldshift.core.types import ColumnKind, FloatArray
    from foldshift.datasets.readers.columns.text_values import Column

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas"}
SAMPLE = 200  # lines that the separator is inferred from
MOST_CLASSES = 20  # different numbers; more are a quantity
FEW = 10  # rows; with fewer, no column is taken for names of rows
NAMES_ROWS = 0.9  # labels per row; from here a column names rows
MANY_LABELS = 0.5  # labels per row; above, a column may name rows
WORDS_OF_TEXT = 3  # words in a label on average; from here it is free text
_PARTS = {"train", "training", "test", "testing", "valid", "validation", "val", "dev", "holdout", "heldout"}  # of a split
_FOLD = re.compile(r"(cv|k)?[\W_]*folds?[\W_]*(id|no|nr|number|index)?", re.IGNORECASE)
MOST_FOLDS = 100
_IDENTIFIER = re.compile(
    r"(?i:id|idx|index|nr|no|number|row[ ._-]?(id|nr|no|number|names?)?|unnamed: \d+|uuid|guid|.*[ ._-]id)|.*[a-z](Id|ID)"
)


class Decoded(NamedTuple):
    """Text of a file, its encoding, and a note on what was assumed (empty: nothing)."""

    text: str
    encoding: str
    note: str


def decoded(data: bytes, encoding: str = "") -> Decoded:
    """Decode a file, by content unless the encoding is chosen.

    UTF-8 first; UTF-16 or UTF-32 if a byte-order mark or zeros at every other byte show it; else Windows-1252.

    >>> from foldshift.datasets.readers.infer import decoded
    >>> decoded("Köln".encode("cp1252")).text, str(decoded("Köln".encode("cp1252")).note)
    ('Köln', "not UTF-8: read as Windows-1252, e.g. 'Köln'; if that is wrong: encoding='cp1250' or another one")
    """
    if encoding:
        text = _try(data, encoding)
        if re.match(r"utf.?(?:16|32)", codecs.lookup(encoding).name) and b"\0" not in data:
            raise DataError(
                f"it cannot be read as {encoding}: it has no zero bytes, as every such text has; leave the encoding out"
            )
        if text is None:
            where = _first_undecodable(data, encoding)
            raise DataError(f"it cannot be read as {encoding}: {where}; leave the encoding out, or name another one")
        return Decoded(text.removeprefix("\ufeff"), encoding, "")
    for mark, found in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            text, encoding = _try(data, found), found
            break
    else:
        encoding = _utf_16(data) or "utf-8"
        text = _try(data, encoding)
    padding = len(data) - len(data.rstrip(b"\0"))
    if text is not None and padding and b"\0" not in data[:-padding] and data[:-padding].strip():
        cut = decoded(data[:-padding])
        shown = f"{padding} zero bytes at the end left out; the file may not have been written whole"
        return cut._replace(note=Message(shown, *(["; ", cut.note] if cut.note else [])))
    if text is None and b"\0" not in data:
        if (mixed := _line_by_line(data)) is not None:
            return mixed
        encoding = "cp1252"
        text = _try(data, encoding)
        if text is None:
            encoding, text = "latin-1", data.decode("latin-1")
    if text is None or "\0" in text:
        raise DataError("not a text file (it holds zero bytes); check the file, or save the table as csv")
    if encoding in ("cp1252", "latin-1") and (letter := re.search(r"[^\x00-\x7f]", text)):
        # The letter first, then the word around it: a search for the whole word takes the square of its length.
        at = letter.start()
        before = re.findall(r"\w*\Z", text[max(at - 60, 0) : at])[0]
        word = before + re.findall(r"\A.\w*", text[at : at + 60], re.DOTALL)[0]
        shown = f"not UTF-8: read as Windows-1252, e.g. {one_line(word, 40)!r}; if that is wrong: "
        return Decoded(text, encoding, Message(shown, Remedy("encoding", "cp1250"), " or another one"))
    if encoding in ("utf-16-le", "utf-16-be"):
        return Decoded(text, encoding, "every other byte is zero: read as UTF-16; if that is wrong, save the file as UTF-8")
    return Decoded(text.replace("\ufeff", ""), encoding, "")  # marks inside come from files that were put together


def _line_by_line(data: bytes) -> Decoded | None:
    """Decode a text of which some lines are UTF-8 and others are not; None if no other line has letters beyond ASCII."""
    lines = data.split(b"\n")
    odd = [at for at, line in enumerate(lines) if _try(line, "utf-8") is None]
    wrong = set(odd)
    if all(line.isascii() for at, line in enumerate(lines) if at not in wrong):
        return None
    texts = [(_try(line, "cp1252") or line.decode("latin-1")) if at in wrong else line.decode() for at, line in enumerate(lines)]
    what = f"line {odd[0] + 1}" + (f" and {len(odd) - 1} more" if len(odd) > 1 else "")
    note = f"the lines have two encodings: {what} read as Windows-1252, all others as UTF-8; if that is wrong: "
    return Decoded("\n".join(texts), "utf-8 and cp1252", Message(note, Remedy("encoding", "cp1252")))


def _first_undecodable(data: bytes, encoding: str) -> str:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return f"byte {error.start} ({data[error.start]:#04x}) has no meaning"
    return "it holds no text"


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, ValueError):
        return None


def _utf_16(data: bytes) -> str:
    """Recognise UTF-16 without a mark: in European languages nearly every other byte is zero."""
    head = data[: 2**12]
    for encoding, zeros, others in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if len(zeros) > 3 and zeros.count(0) > 0.8 * len(zeros) and not others.count(0):
            return encoding
    return ""


def find_separator(lines: list[str], usual: str, quote: str = '"') -> str:
    """Find the separator that cuts most lines into the same number of fields, at least two; else `usual`.

    The comma is tried last, because it may be a decimal mark.

    >>> from foldshift.datasets.readers.infer import find_separator
    >>> find_separator(["a;b", "1,5;2,5", "2,0;3,5"], ",")
    ';'
    """
    lines = [line for line in lines if line.strip()][:SAMPLE]
    best, most = usual, 0.5
    for mark in SEPARATORS:
        if not any(mark in line for line in lines):
            continue
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark, quotechar=quote, skipinitialspace=True) if row)
        except csv.Error:
            continue
        share = max((count for width, count in widths.items() if width > 1), default=0) / max(1, widths.total())
        if share > most:
            best, most = mark, share
    return best


class Exclusion(NamedTuple):
    """Reason to leave a column out of the inputs (empty: none) and, for dates, the days since 1970 of every value."""

    reason: str
    days: dict[Any, float] | None = None


def exclusion_of(name: str, kind: ColumnKind, values: FloatArray | pd.Categorical, unnamed: bool) -> Exclusion:
    """Find out whether a column of a user-defined file is an input; dates and names or numbers of rows are not."""
    if unnamed and len(values) >= FEW and (n_present := int((~np.asarray(pd.isna(values))).sum())) < FEW_ODD * len(values):
        return Exclusion(f"without a name, {n_present} value{'s' * (n_present > 1)} beside the table")
    if _is_cut(name, kind, values):
        return Exclusion("says how the rows were cut")
    return _excluded_labels(values) if kind == "nominal" else _excluded_numbers(name, kind, values, unnamed)


def _is_cut(name: str, kind: ColumnKind, values: FloatArray | pd.Categorical) -> bool:
    """Say whether a column holds the parts of a split, such as train and test, or numbers of folds of alike sizes."""
    if isinstance(values, pd.Categorical):
        codes = np.asarray(values.codes)
        return are_parts(values.categories[np.unique(codes[codes >= 0])])
    return kind == "integer" and number_folds(name, np.asarray(values))


def are_parts(labels: Iterable[object]) -> bool:
    """Report whether labels are parts of a split, or names of folds.

    >>> from foldshift.datasets.readers.infer import are_parts
    >>> [are_parts(labels) for labels in (["train", "Test"], ["fold 1", "fold 2"], ["train", "bus"])]
    [True, True, False]
    """
    plain = {re.sub(r"[^a-z0-9]", "", str(label).lower()) for label in labels}
    return len(plain) > 1 and (plain <= _PARTS or all(re.fullmatch(r"fold\d+", label) for label in plain))


def number_folds(name: str, values: FloatArray) -> bool:
    """Report whether whole numbers, NaN where missing, are those of folds of alike sizes, by name and values."""
    if not _FOLD.fullmatch(name):
        return False
    numbers, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if not 1 < len(numbers) <= MOST_FOLDS or numbers[0] not in (0, 1):
        return False
    return bool((np.diff(numbers) == 1).all() and counts.max() <= 1.5 * counts.min() + 1)


def _excluded_labels(values: pd.Categorical) -> Exclusion:
    """Recognise dates, and labels of which nearly every row has its own."""
    codes = np.asarray(values.codes)
    present = np.unique(codes[codes >= 0])
    days, form = days_of(values.categories[present])
    if days:
        return Exclusion(f"dates, {form}", days)
    if len(present) >= FEW:
        days, form = odd_dates_of(values.categories[present], FEW_ODD)
        if form:
            return Exclusion(f"dates, {form}" if days else f"dates {form}", days)
    n = int((codes >= 0).sum())
    if names_rows(values):
        words = sum(len(str(text).split()) for text in values.categories[present[:SAMPLE]]) / min(SAMPLE, len(present))
        return Exclusion(f"{'free text, ' if words >= WORDS_OF_TEXT else ''}{len(present)} labels in {n} rows")
    return Exclusion("")


def names_rows(values: pd.Categorical) -> bool:
    """Report whether nearly every row has a label of its own."""
    codes = np.asarray(values.codes)
    n = int((codes >= 0).sum())
    return n >= FEW and len(np.unique(codes[codes >= 0])) >= NAMES_ROWS * n


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


def counts_rows(content_kind: ColumnKind, values: FloatArray | pd.Categorical) -> bool:
    """Report whether a column counts the rows in their order, in steps of one."""
    if content_kind != "integer" or len(values) < FEW:
        return False
    numbers = np.asarray(values)
    return bool((np.diff(numbers) == 1).all())


def begins_blocks(values: pd.Categorical) -> bool:
    """Report whether labels may be written in the first row of every block only: most rows have none, the first one has."""
    codes = np.asarray(values.codes)
    present = codes[codes >= 0]
    return bool(len(codes) >= FEW and codes[0] >= 0 and len(present) < MANY_LABELS * len(codes) and (np.diff(present) != 0).all())


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


def check_classes(column: Column, file_decimal: str) -> None:
    """Refuse a target of classes that is a quantity or names rows.

    A quantity has numbers only, more than `MOST_CLASSES` different ones or more than one for two rows.
    """
    n_rows, distinct = int(column.counts.sum()), column.texts
    crowded = n_rows >= FEW and len(distinct) > MANY_LABELS * n_rows
    dress = find_dress(distinct, column.options.decimal, column.options.thousands, file_decimal) if distinct else None
    n_numbers = 0 if dress is None else len({dress.number(text) for text in distinct})
    name, shown = one_line(column.name, 60), ", ".join(one_line(text, 20) for text in distinct[:3])
    as_labels = Remedy("types", ((column.name, "nominal"),))
    if n_numbers and (crowded or n_numbers > MOST_CLASSES):
        raise DataError(
            f"the target {name!r} looks like a quantity, not like classes: {n_numbers} different numbers in {n_rows} rows "
            f"({shown}, ...); take ", Remedy("task", "regression"), ", or ", as_labels, " if they are labels"
        )  # fmt: skip
    if crowded:
        raise DataError(
            f"the target {name!r} names rows, not classes: {len(distinct)} different labels in {n_rows} rows ({shown}, ...); "
            "name another column as the target, or ", as_labels, " if they are classes"
        )  # fmt: skip
