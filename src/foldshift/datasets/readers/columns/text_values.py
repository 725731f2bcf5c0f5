"""Values of one column: texts, of which each different one is looked at once, become numbers or labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.counting import bincount
from foldshift.core.errors import DataError
from foldshift.core.remedies import Message, Remedy
from foldshift.datasets.readers.columns.dressed_numbers import PLAIN, Dress, are_plain, find_dress, in_words, is_numeric, signs_of
from foldshift.datasets.readers.columns.marks import (
    ALWAYS,
    ERRORS,
    MARKS,
    USUAL,
    WORDS,
    marks_among_labels,
    marks_among_numbers,
    may_be_missing,
)
from foldshift.datasets.readers.columns.spellings import by_word
from foldshift.datasets.readers.text_fields import as_number
from foldshift.datasets.sources.download import one_line

if TYPE_CHECKING:
    from foldshift.core.types import ColumnKind, FloatArray, IntArray
    from foldshift.datasets.readers.read_options import ReadOptions

DeclaredKind = Literal["real", "integer", "numeric", "nominal", ""]

FEW_ODD = 0.1  # share of values that are not numbers; up to here a column of numbers has odd values
FAR = 5  # times the largest other value; from here a number may mean a missing value
MOST_SENTINELS = 3  # numbers below zero in a column without others
MOST_LOOKED_AT = 10_000  # values
QUANTITY = 10  # different numbers; more are a quantity
LONG = 15  # digits; longer numbers are not exact in double precision
_CODE = re.compile(rf"0\d+|\d{{{LONG + 1},}}")
_NINES = re.compile(r"-?99+(?:\.[90]*)?")


class Coded(NamedTuple):
    """Texts of a column, by the different ones: the position of every row's text, -1 for a missing value."""

    codes: IntArray
    texts: list[str]


# Texts, None for a missing value; the same by different texts; or numbers, NaN for a missing value.
Cells = Sequence[str | None] | Coded | np.ndarray


def different_texts(cells: Cells) -> set[str]:
    """Return the different texts of a column, without empty ones; none of a column of numbers."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        return set()
    return {text for text in (cells.texts if isinstance(cells, Coded) else cells) if text}


def n_cells(cells: Cells) -> int:
    """Count the cells of a column."""
    return len(cells.codes) if isinstance(cells, Coded) else len(cells)


class Content(NamedTuple):
    """Kind and values of a column: float64 array, or labels with their codes."""

    kind: ColumnKind
    values: FloatArray | pd.Categorical


class FileMarks(NamedTuple):
    """Findings of all columns that decide how one is read: the decimal mark, and marks for missing among numbers."""

    decimal: str = ""
    missing: frozenset[str] = frozenset()


@dataclass
class Column:
    """One column while its texts are turned into numbers or labels."""

    name: str
    cells: Cells
    lines: Sequence[int]
    kind: DeclaredKind
    categories: list[str] | None  # declared labels
    options: ReadOptions
    notes: list[str]  # of the whole table
    texts: list[str] = field(default_factory=list)  # different texts in the order of the file
    codes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # position of every row's text; -1: missing
    dress: Dress = PLAIN
    is_own: bool = False
    is_explained: bool = False  # whether a note says why numbers are read as labels
    wish: str = ""  # the type that the user asks for, see `foldshift.datasets.readers.read_options.TYPES`

    def __post_init__(self) -> None:
        if isinstance(self.cells, np.ndarray) and self.cells.dtype.kind == "f":
            return
        if isinstance(self.cells, Coded):
            self.codes = self.cells.codes
            self._recode(self.cells.texts)
        else:
            codes, texts = pd.factorize(np.asarray(self.cells, dtype=object))
            self.codes, self.texts = codes.astype(np.int64), texts.tolist()
        declared = set(self.categories or ())
        self.set_missing({text for text in self.texts if self._is_missing(text, declared)})

    @property
    def numbers(self) -> FloatArray | None:
        """Values that the format gave as numbers, or None."""
        return self.cells if isinstance(self.cells, np.ndarray) and self.cells.dtype.kind == "f" else None

    def _is_missing(self, text: str, declared: set[str]) -> bool:
        lower = text.lower()
        if self.options.own:
            if text == "" or text in self.options.missing or lower in ALWAYS:
                return text not in declared or text in self.options.missing
            if text in declared:
                return False
            number = as_number(text)
            return lower == "nan" or (number is not None and number in {as_number(mark) for mark in self.options.missing})
        return lower in ALWAYS or text in self.options.missing or (lower in USUAL and text not in declared)

    @property
    def present(self) -> list[str]:
        """Different texts that are not missing, in the order of the file."""
        return self.texts

    @property
    def counts(self) -> IntArray:
        """Number of rows of every text."""
        return bincount(self.codes[self.codes >= 0], minlength=len(self.texts)).astype(np.int64)

    @property
    def row_texts(self) -> list[str]:
        """Texts of all rows that have one."""
        return [self.texts[code] for code in self.codes if code >= 0]

    def first_line(self, text: str) -> int:
        """Find the first line that holds a text."""
        return self.lines[int(np.argmax(self.codes == self.texts.index(text)))]

    def set_missing(self, absent: Collection[str]) -> None:
        """Let some texts mean a missing value."""
        if absent:
            self._recode([None if text in absent else text for text in self.texts])

    def _recode(self, new: Sequence[str | None]) -> None:
        """Replace every different text."""
        texts = list(dict.fromkeys(text for text in new if text is not None))
        where: dict[str | None, int] = {text: code for code, text in enumerate(texts)}
        where[None] = -1
        self.codes = np.array([*(where[text] for text in new), -1], dtype=np.int64)[self.codes]
        self.texts = texts

    def note(self, *parts: str | Remedy) -> None:
        """Add a note that begins with the name of the column."""
        self.notes.append(Message(f"{one_line(self.name, 60)}: ", *parts))

    def error(self, text: str, *problem: str | Remedy) -> DataError:
        """Make the error that reports the first line with a text."""
        where = f"line {self.first_line(text)}: column {self.name[:60]!r} holds {text[:60]!r}, "
        return DataError(where, *problem)

    # ---- decisions about columns of user-defined files ----

    def infer(self, numeric: bool | None, marks: FileMarks, merge: bool = True) -> None:
        """Decide by the texts what means a missing value and how numbers are written.

        `numeric` says whether the column must hold numbers (True), must hold labels (False), or the texts decide (None); `merge`,
        whether spellings of one label become one.
        """
        self.is_own = True
        if self.numbers is not None:
            return
        if not self.texts and numeric is None:
            return
        numeric = self._holds_numbers(numeric, marks)
        declared = set(self.categories or ())
        literal = self.wish == "nominal"
        if numeric:
            absent = set() if are_plain(self.texts) else marks_among_numbers(self.texts) | self._odd_texts(marks)
        else:
            absent = set() if literal else marks_among_labels(self.texts, marks.missing)
        self._note_missing(absent - declared, bool(numeric))
        self.set_missing(absent - declared)
        if not numeric and not literal and self.categories is None:
            self._note_marks_kept()
            if merge:
                self._merge_spellings()

    def _holds_numbers(self, numeric: bool | None, marks: FileMarks) -> bool:
        """Decide whether the column holds numbers, and in which dress."""
        if numeric is False:
            return False
        is_plain = are_plain(self.texts)
        texts = set(self.texts) if is_plain else {text for text in self.texts if not may_be_missing(text)}
        odd = self._odd_texts(marks)
        options = self.options
        mark = marks.decimal or ("," if options.sep == ";" and any("," in text for text in texts) else "")
        dress = find_dress(texts - odd, options.decimal, options.thousands, mark) if texts - odd else None
        wanted = numeric or self.wish == "number"
        if dress is not None and not wanted and not options.decimal and any(map(_CODE.fullmatch, texts - odd)):
            code = next(text for text in self.texts if _CODE.fullmatch(text))
            kind = "leading zeros" if code[0] == "0" else f"more than {LONG} digits"
            self.note(f"read as labels: whole numbers with {kind}, such as {code[:30]!r}; ", self._as("number"), " reads numbers")
            self.kind = "nominal"
            return True
        if dress is None:
            self._note_units(texts)
            return bool(numeric)
        self.dress = dress
        if is_plain and dress.is_plain and not dress.is_certain:
            first = next(one for one in self.texts if "." in one)
            self.note(f"{first!r} is read as {float(first):g}; if points separate thousands: ", Remedy("thousands", "."))
        if (dress.decimal == "." and not is_plain) or dress.signs or dress.thousands:
            text = next(
                (one for one in self.texts if dress.number(one) is not None and as_number(one) != dress.number(one)), None
            )
            if text is None:
                return True
            self.note(
                f"{text[:30]!r} is read as {dress.number(text):.15g} ({in_words(dress)}); if that is wrong: ", *self._other_ways()
            )
        return True

    def _note_units(self, texts: set[str]) -> None:
        """Note that numbers are read as labels because their units, or their decimal marks, differ."""
        if not all(map(is_numeric, texts)):
            return
        by_sign = {sign: text for text in sorted(texts) for sign in signs_of(text)}
        if len(by_sign) > 1:
            shown = " and ".join(repr(text[:30]) for text in list(by_sign.values())[:2])
            self._explain(f"{shown} have different units; write all numbers in one unit to have them read")
            return
        marked = [next((text for text in sorted(texts) if one in text and other not in text), "") for one, other in (",.", ".,")]
        if all(marked):
            shown = " and ".join(repr(text[:30]) for text in marked)
            self._explain(f"{shown} have different decimal marks; write all numbers with one to have them read")

    def _explain(self, why: str) -> None:
        """Note why numbers are read as labels."""
        self.is_explained = True
        self.note(f"read as labels, because {why}")

    def _other_ways(self) -> list[str | Remedy]:
        """Settings that overrule the dress of the numbers."""
        other = {",": ",", ".": "."}.get(self.dress.thousands)
        ways: list[str | Remedy] = [self._as("nominal")]
        if other and not self.dress.is_certain:
            ways = [Remedy("decimal", other), ", or ", *ways]
        return ways

    def _as(self, kind: str) -> Remedy:
        return Remedy("types", ((self.name, kind),))

    def _odd_texts(self, marks: FileMarks) -> set[str]:
        """Find the few texts that are not numbers among many that are."""
        if self.categories is not None or self.kind == "nominal" or are_plain(self.texts):
            return set()
        texts = [text for text in self.texts if not may_be_missing(text)]
        numbers = [text for text in texts if as_number(text) is not None or find_dress({text}) is not None]
        odd = set(texts) - set(numbers)
        if not odd or len(numbers) <= QUANTITY or find_dress(set(numbers), file_decimal=marks.decimal) is None:
            return set()
        counts = self.counts
        n_odd = sum(int(counts[code]) for code, text in enumerate(self.texts) if text in odd)
        return odd if n_odd <= FEW_ODD * int(counts.sum()) else set()

    def _note_missing(self, absent: set[str], among_numbers: bool) -> None:
        """Note which texts are read as missing, and how to keep them."""
        counts = self.counts
        shown = sorted((code for code, text in enumerate(self.texts) if text in absent), key=lambda code: -counts[code])
        usual = {"na"} if among_numbers else set()
        if not [code for code in shown if self.texts[code].lower() not in usual]:
            return
        words = ", ".join(f"{self.texts[code][:30]!r} ({counts[code]})" for code in shown[:5])
        words += f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        errors = [code for code in shown if self.texts[code].lower() in ERRORS]
        what = "read as missing, with error values of a spreadsheet" if errors else "read as missing"
        odd = [code for code in shown if self.texts[code].lower() not in MARKS or self.texts[code].lower() in WORDS]
        where = f", the first in line {min(self.first_line(self.texts[code]) for code in odd)}" if odd else ""
        if among_numbers and not odd:
            self.note(f"{what}: {words}")
        else:
            self.note(f"{what}: {words}{where}; ", self._as("nominal"), " reads labels")

    def _note_marks_kept(self) -> None:
        """Note marks that other files use for missing values and that are read as labels here."""
        counts = self.counts
        for code, text in enumerate(self.texts):
            if text.lower() in USUAL:
                self.note(f"{text!r} ({counts[code]}) is read as a label; ", Remedy("missing", (text,)), " reads it as missing")

    def _merge_spellings(self) -> None:
        """Give labels that differ in capitals and blanks only the most frequent spelling."""
        counts, codes_of = self.counts, {text: code for code, text in enumerate(self.texts)}
        several = [[codes_of[text] for text in texts] for texts in by_word(self.texts).values() if len(texts) > 1]
        if not several:
            return
        new: list[str | None] = list(self.texts)
        said = []
        for codes in several:
            best = max(codes, key=lambda code: (counts[code], -code))
            others = [code for code in codes if code != best]
            said += [f"{self.texts[code][:30]!r} ({counts[code]}) as {self.texts[best][:30]!r}" for code in others]
            for code in others:
                new[code] = self.texts[best]
        self._recode(new)
        self.note(f"spellings read as one label: {', '.join(said[:5])}; ", self._as("nominal"), " keeps them apart")

    # ---- values ----

    def recode(self, new: dict[str, str]) -> None:
        """Replace every text by a new one, and the declared labels with them."""
        for text in self.texts:
            if text not in new:
                raise self.error(text, f"which map does not recode; it knows {first_texts(list(new))}")
        known = self.categories if self.categories is not None else list(new)
        self._recode([new[text] for text in self.texts])
        self.kind = ""
        self.categories = list(dict.fromkeys(new[text] for text in known if text in new))

    def content(self, must_be_numeric: bool) -> Content:
        """Read the texts as numbers if all are numbers, else as labels."""
        if self.numbers is not None:
            marks = [number for number in map(as_number, self.options.missing) if number is not None]
            return self._numeric(np.where(np.isin(self.numbers, marks), np.nan, self.numbers) if marks else self.numbers)
        if self.kind == "nominal":
            return self._labels()
        decimal = self.options.decimal_mark
        read = [self.dress.number(text) if self.is_own else as_number(text, decimal) for text in self.texts]
        wrong = [text for text, number in zip(self.texts, read) if number is None]
        if not wrong:
            values = np.array([*(np.nan if number is None else number for number in read), np.nan])
            return self._numeric(values[self.codes])
        if must_be_numeric or self.kind:
            raise self.error(wrong[0], "where a number is expected; ", *self._remedy_for(wrong))
        if self.is_own and len(wrong) < len(read):
            self._note_labels(wrong)
        elif not self.is_own and len(wrong) * 2 < len(read):
            self.note(f"read as nominal because of {wrong[0][:60]!r} in line {self.first_line(wrong[0])}")
        return self._labels()

    def _remedy_for(self, wrong: list[str]) -> list[str | Remedy]:
        """Say what to do about texts in a column of numbers: a few mean missing values, many are labels."""
        if 2 * len(wrong) <= len(self.texts):
            return ["correct it, or ", Remedy("missing", tuple(wrong))]
        if self.kind or self.wish:
            return ["if the column holds labels: ", self._as("nominal")]
        return ["if they are classes: ", Remedy("task", "classification")]

    def _numeric(self, values: FloatArray) -> Content:
        """Numbers as float64, NaN where missing; the kind is integer if all are whole."""
        if self.is_own and self.wish != "number":
            values = self._without_sentinels(values)
        finite = values[np.isfinite(values)]
        whole = finite.size > 0 and np.isfinite(values[~np.isnan(values)]).all() and bool((finite == np.floor(finite)).all())
        if self.kind == "integer" and not whole and finite.size:
            self.note("declared integer, but holds fractions; read as real")
        return Content("real" if self.kind == "real" or not whole else "integer", values)

    def _without_sentinels(self, values: FloatArray) -> FloatArray:
        """Read negative nines far from all others, such as -999, as missing; note other numbers that may mean it."""
        finite = values[np.isfinite(values)]
        for extreme, count, is_far in _sentinels(finite):
            is_nines = _NINES.fullmatch(f"{extreme:.15g}") is not None
            if extreme < 0 and is_nines:
                self.note(f"read as missing: {extreme:g} ({count}), far from all other values; ", self._as("number"), " keeps it")
                values = np.where(values == extreme, np.nan, values)
            elif count > 1:
                mark = Remedy("missing", (f"{extreme:.15g}",))
                which = "is far from all other values" if is_far else "is below zero, as no other value is"
                self.note(f"{extreme:g} ({count}) {which}; if it means a missing value: ", mark)
        return values

    def _note_labels(self, wrong: list[str]) -> None:
        """Note which texts keep a column from being read as numbers, each with its first line."""
        if self.is_explained:
            return
        shown = ", ".join(f"{text[:30]!r} (line {self.first_line(text)})" for text in wrong[:5])
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        are = "is not a number" if len(wrong) == 1 else "are not numbers"
        self.note(
            f"read as labels, because {shown}{more} {are}; if that means a missing value: ", Remedy("missing", tuple(wrong))
        )

    def _labels(self) -> Content:
        """Labels in the declared order, else sorted; an undeclared label is an error."""
        categories = self.categories if self.categories is not None else sorted(self.texts)
        where = {text: code for code, text in enumerate(categories)}
        for text in self.texts:
            if text not in where:
                raise self.error(text, f"a label that the header does not declare; it declares {first_texts(categories)}")
        codes = np.array([*(where[text] for text in self.texts), -1], dtype=np.int64)[self.codes]
        return Content("nominal", pd.Categorical.from_codes(codes, categories=categories))


def _sentinels(finite: FloatArray) -> list[tuple[float, int, bool]]:
    """Find the numbers that may mean a missing value: value, number of rows, and whether it is far from all others.

    They are few numbers below zero where no other is, or a whole number far from all others.
    """
    if not finite.size:
        return []
    low, high = float(finite.min()), float(finite.max())
    head = finite[:MOST_LOOKED_AT]
    if low < 0 and low % 1 == 0 and np.unique(head[head < 0]).size <= MOST_SENTINELS:
        negative, rest = finite[finite < 0], finite[finite >= 0]
        below = np.unique(negative)
        if below.size <= MOST_SENTINELS and (below % 1 == 0).all() and np.unique(rest[:MOST_LOOKED_AT]).size > QUANTITY:
            return [(float(one), int((negative == one).sum()), bool(-one > FAR * rest.max())) for one in below]
    found = []
    for extreme in sorted({low, high}):
        is_nines = extreme < 0 and _NINES.fullmatch(f"{extreme:.15g}") is not None
        if extreme % 1 or (abs(extreme) < FAR and not is_nines):
            continue
        is_it = finite == extreme
        count = int(is_it.sum())
        n_large = int((finite >= abs(extreme) / FAR).sum()) + int((finite <= -abs(extreme) / FAR).sum())
        is_far = n_large == count < finite.size and bool(finite[~is_it].any())
        alone = is_nines and count < finite.size and bool(finite[~is_it].min() >= 0)
        if alone or (is_far and count > 1):
            found.append((extreme, count, is_far))
    return found


def first_texts(texts: list[str]) -> str:
    """Join the first texts of a list, quoted, for messages."""
    return ", ".join(repr(text[:30]) for text in texts[:12]) + (", ..." if len(texts) > 12 else "")


def first_names(names: Iterable[str]) -> str:
    """Join the first names of a list, for messages."""
    names = list(names)
    return ", ".join(one_line(name, 60) for name in names[:12]) + (", ..." if len(names) > 12 else "")
