"""Texts that mean a missing value, and which of them do so in a column of a user-defined file."""

from __future__ import annotations

from collections.abc import Collection

ALWAYS = {"?", "<null>"}
USUAL = {"", "na", "nan"}  # unless the header declares them as a label
NULL_MARKS = {"null", "n/a", "#n/a", "\\n"}  # missing in any column of a user-defined file
PLAIN_MARKS = NULL_MARKS | {
    "none",
    "-",
    "--",
    "---",
    "–",
    "—",
    ".",
}  # missing in a column of numbers; among labels they may be labels
ERRORS = {"#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"}  # of spreadsheets
WORDS = {
    "unknown", "unk", "missing", "not available", "not applicable", "not recorded", "n.a.", "n.a", "n. a.", "nil", "undefined",
    "no data", "nodata", "n.d.", "nd", "tbd", "unbekannt", "k.a.", "k. a.", "k.a", "keine angabe", "<na>", "#n/a n/a", "(null)",
    "*", "**", "***", "…", "...",
}  # fmt: skip  # missing in a column of numbers
MARKS = ALWAYS | USUAL | PLAIN_MARKS | ERRORS | WORDS


def may_be_missing(text: str) -> bool:
    """Report whether a text may mean a missing value.

    >>> from foldshift.datasets.readers.columns.marks import may_be_missing
    >>> [may_be_missing(text) for text in ("?", "NA", "#DIV/0!", "red")]
    [True, True, True, False]
    """
    return text.lower() in MARKS


def marks_among_numbers(texts: Collection[str]) -> set[str]:
    """Select the texts that mean a missing value in a column of numbers."""
    return {text for text in texts if may_be_missing(text)}


def marks_among_labels(texts: Collection[str], marks: Collection[str] = ()) -> set[str]:
    """Select the texts that mean a missing value in a column of labels; `marks` are those that the file has among numbers."""
    return {text for text in texts if text.lower() in NULL_MARKS | ERRORS or text in marks}
