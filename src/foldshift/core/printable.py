"""Texts made harmless for the place where they are shown: a terminal, a spreadsheet.

Names of columns, classes, files and learners come from users' files. A terminal obeys escape codes, a spreadsheet formulas.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

JOINERS = "\u200c\u200d"  # without them some scripts and emoji read otherwise
FORMULA = re.compile(r"[=+\-@\t\n]")  # first characters that make a cell a formula (OWASP, CSV injection)


def printable(text: object, kept: str = "") -> str:
    r"""Return a text in which nothing moves the cursor, changes colours or breaks the line: other characters as escapes.

    `kept` are characters that stay nevertheless, such as line feeds.

    >>> from foldshift.core.printable import printable
    >>> print(printable("price\x1b[2J\n(EUR)"))
    price\x1b[2J\n(EUR)
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(one if _is_harmless(one) or one in kept else one.encode("unicode_escape").decode() for one in text)


def printable_lines(text: object) -> str:
    """Return a text of several lines in which nothing but line feeds and tabs moves the cursor."""
    return printable(text, kept="\n\t")


def printable_json(text: str) -> str:
    r"""Return a text of JSON, of the same values, that a terminal can show.

    >>> print(printable_json('{"Größe": "\x9b2J"}'))
    {"Größe": "\u009b2J"}
    """
    return "".join(one if one in "\n\t" or _is_harmless(one) else json.dumps(one)[1:-1] for one in text)


def harmless_cell(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would take for a formula; numbers stay as they are.

    A carriage return, which would end a row of a CSV file, becomes a line feed.

    >>> harmless_cell("=1+2"), harmless_cell("-0.5"), harmless_cell("-"), harmless_cell(-0.5)
    ("'=1+2", '-0.5', '-', -0.5)
    """
    if not isinstance(value, str):
        return value
    value = value.replace("\r", "\n") if "\r" in value else value
    if len(value) < 2 or not FORMULA.match(value):
        return value
    return value if _begins_with_numbers(value) else f"'{value}"


def _begins_with_numbers(text: str) -> bool:
    """Report whether a text is a number, or a list of numbers and words that no spreadsheet evaluates."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return bool(re.fullmatch(r"[-+][\d.]+(?: [\w.]+)?(?:, [-+]?[\w.]+ [\w.]+)*", text))
    return not text[0].isspace()


def _is_harmless(one: str) -> bool:
    return one.isprintable() or one in JOINERS or unicodedata.category(one) == "Zs"
