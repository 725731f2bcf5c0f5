"""Numbers in dress: marks between thousands, decimal commas, signs of currencies, per cent and units."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

_GROUPS = r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?"  # the last as in India
_PLAIN = r"\d+(?:[.,]\d*)?(?:[eEdD][+-]?\d{1,3})?|[.,]\d+"
_CURRENCY = r"[$€£¥₹₽₩₺₪₫฿]|(?:US|CA|AU|NZ|HK|R)\$|(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|CNY)"
_UNIT = r"[%‰°]?(?:[A-Za-zµμΩ]{1,8}[²³23]?(?:[/·*^-][A-Za-zµμΩ]{1,4}[²³23]?)?)?"
_DRESSED = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−–]?)\s?(?P<before>(?:{_CURRENCY})?)\s?(?P<inner>[-+−–]?)(?P<number>{_GROUPS}|{_PLAIN})\s?"
    rf"(?P<after>(?:{_CURRENCY}|{_UNIT})?)(?P<behind>-?)(?(open)\))"
)
_AMERICAN = re.compile(
    r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d*)?|\d+(?:\.\d*)?(?:[eEdD][+-]?\d+)?|\.\d+"
)
_GERMAN = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?|\d+(?:,\d*)?(?:[eEdD][+-]?\d+)?|,\d+")
_POINT_GROUPS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_CODE = re.compile(r"[+-]?0\d+")
LEAST_WITH_UNITS = 3  # different numbers; with fewer, `2D` and `3D` are labels
MOST_HAVE_UNITS = 0.5  # share of the different numbers; with fewer, `5more` and `1.2k` among plain numbers are labels
BLANKS = " \u00a0\u202f"


class Dress(NamedTuple):
    """Form of the numbers of a column."""

    decimal: str = "."
    thousands: str = ""  # mark between thousands; empty: none
    signs: tuple[str, ...] = ()  # currency, unit or per cent, taken off
    is_certain: bool = True  # whether no other reading is possible

    @property
    def is_plain(self) -> bool:
        """True if Python reads the numbers as they are."""
        return self[:3] == PLAIN[:3]

    def number(self, text: str) -> float | None:
        """Convert a text to a number, or None."""
        plain = plain_number(text)
        if plain is not None and (self.is_plain or "." not in text):
            return plain
        found = _DRESSED.fullmatch(text)
        if found is None or any(found[part] and found[part] not in self.signs for part in ("before", "after")):
            return None
        digits = found["number"]
        for mark in BLANKS if self.thousands == " " else "'’" if self.thousands == "'" else self.thousands:
            digits = digits.replace(mark, "")
        digits = digits.replace(self.decimal, ".") if self.decimal != "." else digits
        number = plain_number(digits.replace("D", "e").replace("d", "e"))  # 1.5D+02 is what Fortran writes
        is_negative = (found["open"] or "") + found["sign"] + found["inner"] + found["behind"]
        return number if number is None or not is_negative.strip("+") else -number


PLAIN = Dress()


def plain_number(text: str) -> float | None:
    """Convert a text to a number as Python does, or None; underscores are refused."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def equal_numbers(labels: Collection[str], others: Collection[str]) -> dict[str, str]:
    """Return which of the other labels are the same number as a label, written in another way; codes with leading zeros are not.

    >>> from foldshift.datasets.readers.columns.dressed_numbers import equal_numbers
    >>> equal_numbers({"0.0", "low", "07"}, {"0", "7", "low"})
    {'0': '0.0'}
    """
    numbers = [
        {text: number for text in sorted(set(some)) if not _CODE.fullmatch(text) and (number := plain_number(text)) is not None}
        for some in (labels, others)
    ]
    known = {number: text for text, number in numbers[0].items()}
    return {text: known[number] for text, number in numbers[1].items() if number in known and text not in numbers[0]}


def are_plain(texts: Collection[str]) -> bool:
    """Report whether Python reads all texts as numbers."""
    try:
        for _ in map(float, texts):
            pass
    except ValueError:
        return False
    return "_" not in "".join(texts)


def is_numeric(text: str) -> bool:
    """Report whether a text is a number, dressed or not.

    >>> from foldshift.datasets.readers.columns.dressed_numbers import is_numeric
    >>> [is_numeric(text) for text in ("1e3", "1,200.50", "$15", "5.1 %", "12.3 cm", "(7)", "A1", "v2")]
    [True, True, True, True, True, True, False, False]
    """
    return plain_number(text) is not None or _DRESSED.fullmatch(text) is not None


def signs_of(text: str) -> list[str]:
    """Return the currency and the unit of a number."""
    found = _DRESSED.fullmatch(text)
    return [] if found is None else [found[part] for part in ("before", "after") if found[part]]


def find_dress(texts: Collection[str], decimal: str = "", thousands: str = "", file_decimal: str = "") -> Dress | None:
    """Find how the numbers of a column are written; None if it does not hold numbers of one dress.

    `decimal` and `thousands` are those that the user chose; `file_decimal` is the decimal mark of other columns or of the kind of
    file, for texts such as ``4,528`` that can be read both ways.

    >>> from foldshift.datasets.readers.columns.dressed_numbers import find_dress
    >>> find_dress({"1,200", "950"}).number("1,200"), find_dress({"1,2", "3,75"}).number("3,75")
    (1200.0, 3.75)
    >>> find_dress({"4,528"}, file_decimal=",").number("4,528"), find_dress({"1.234,50"}).number("1.234,50")
    (4.528, 1234.5)
    >>> find_dress({"5 cm", "6 cm", "7 cm"}).signs, find_dress({"5 cm", "6 cm", "7 m"})
    (('cm',), None)
    """
    if are_plain(texts):
        groups = thousands == "." or ((not thousands and decimal == ",") or (not decimal and file_decimal == ","))
        pointed = [text.lstrip("+-") for text in texts if "." in text]
        if not (pointed and all(map(_POINT_GROUPS.fullmatch, pointed))):
            return PLAIN
        if not groups:  # 1.200 may be meant as 1200
            return PLAIN._replace(is_certain=bool(decimal or thousands or file_decimal))
        return Dress(",", ".", is_certain=bool(decimal or thousands))
    found = [_DRESSED.fullmatch(text) for text in texts]
    matches = [match for match in found if match is not None]
    if len(matches) < len(found):
        return None
    before, after = ({match[part] for match in matches if match[part]} for part in ("before", "after"))
    if len(before) > 1 or len(after) > 1:
        return None
    dressed = [match["number"] for match in matches if match["after"]]
    if any(sign.isalpha() for sign in after) and (
        len(set(dressed)) < LEAST_WITH_UNITS or len(set(dressed)) < MOST_HAVE_UNITS * len({match["number"] for match in matches})
    ):
        return None
    written = _marks([match["number"] for match in matches], decimal, thousands, file_decimal)
    return None if written is None else written._replace(signs=(*before, *after))


def _marks(numbers: list[str], decimal: str, thousands: str, file_decimal: str) -> Dress | None:
    """Find decimal mark and mark between thousands of numbers without signs."""
    blank = "'" if any(mark in number for number in numbers for mark in "'’") else ""
    blank = " " if any(mark in number for number in numbers for mark in BLANKS) else blank
    if blank:
        numbers = [re.sub(rf"['’{BLANKS}]", "", number) for number in numbers]
        if thousands not in ("", blank):
            return None
    comma, point = (any(mark in number for number in numbers) for mark in ",.")
    american = all(map(_AMERICAN.fullmatch, numbers)) and decimal != "," and thousands not in (".",)
    german = all(map(_GERMAN.fullmatch, numbers)) and decimal != "." and thousands not in (",",)
    if thousands in ("none", "'", " ") and comma and point:
        return None
    american = american and not (thousands in ("none", "'", " ") and comma)
    german = german and not (thousands in ("none", "'", " ") and point)
    if not (american or german):
        return None
    if not comma and not point:
        return Dress(".", blank)
    both = american and german
    if not american or (both and (file_decimal == "," or _breaks_groups(numbers))):
        return Dress(",", blank or ("." if point else ""), is_certain=not both)
    return Dress(".", blank or ("," if comma else ""), is_certain=not both)


def _breaks_groups(numbers: list[str]) -> bool:
    """Report whether a number of four digits without a mark shows that commas do not separate thousands."""
    return any("," in number for number in numbers) and any(number.isdecimal() and len(number) > 3 for number in numbers)


def decimal_of_file(columns: Iterable[Collection[str]]) -> str:
    """Find the decimal mark of a file by the columns that can be read in one way only; empty if none can, or they disagree."""
    found = set()
    for texts in columns:
        marked = [text for text in texts if "," in text or "." in text]
        if not marked:
            continue
        dress = find_dress(texts)
        if dress is None or not dress.is_certain:
            continue
        if dress.decimal == "," or not all(_POINT_GROUPS.fullmatch(text.lstrip("+-")) for text in marked):
            found.add(dress.decimal)
    return found.pop() if len(found) == 1 else ""


def in_words(dress: Dress) -> str:
    """Write what is taken off or read in another way."""
    parts = [f"{sign} taken off" for sign in dress.signs]
    names = {",": "commas", ".": "points", "'": "apostrophes", " ": "blanks"}
    parts += [f"{names[dress.thousands]} between thousands"] if dress.thousands else []
    parts += ["decimal commas"] if dress.decimal == "," else []
    return ", ".join(parts) or "a minus sign of its own kind"
