"""Values of one column of two data frames, read as one: texts that are numbers or dates, and labels written in two ways."""

from __future__ import annotations

import numbers
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.datasets.readers.columns.dates import days_of
from foldshift.datasets.readers.columns.dressed_numbers import are_plain, equal_numbers
from foldshift.datasets.readers.columns.spellings import same_words

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray

ROLES = ("training", "test")


class Values(NamedTuple):
    """Values of one column of one table, and which of them are missing."""

    values: Array
    missing: BoolArray

    def present(self) -> Array:
        """Values that are not missing."""
        return self.values[~self.missing]


class Alike(NamedTuple):
    """Values of both tables, and a note on how they were made alike; empty if nothing was to do."""

    train: Values
    test: Values
    note: str


def read_alike(train: Values, test: Values) -> Alike:
    """Read the values of both tables as one.

    Blanks around texts and capitals in words do not count. Texts are numbers or dates if the other table has numbers or dates,
    and dates if both hold nothing else. Labels that are the same number, such as 0 and 0.0, are one label. A second call changes
    nothing.
    """
    parts = [train, test]
    found = [list(part.present()) for part in parts]
    texts = [{one for one in some if isinstance(one, str)} for some in found]
    whole = [bool(some) and all(isinstance(one, str) for one in some) for some in found]
    if not any(whole):
        return Alike(train, test, "")
    if all(whole) or any(_are_days(some) for some in found):
        days = days_of(one.strip() for some in texts for one in some).days
        if days is not None:
            parts = [_as_dates(part, days) if is_text else part for part, is_text in zip(parts, whole)]
            return Alike(parts[0], parts[1], "holds texts that are dates, read as dates")
    if all(whole):
        return _labels_alike(train, test, texts)
    i = 0 if whole[0] else 1
    if not found[1 - i] or not _are_numbers(found[1 - i]):
        return Alike(train, test, "")
    if are_plain(texts[i]):
        parts[i] = _replaced(parts[i], {text: float(text) for text in texts[i]})
        return Alike(parts[0], parts[1], f"holds numbers as texts in the {ROLES[i]} table, read as numbers")
    parts[1 - i] = _replaced(parts[1 - i], {one: repr(float(one)).removesuffix(".0") for one in parts[1 - i].present().tolist()})
    what = f"numbers in the {ROLES[1 - i]} table, text in the {ROLES[i]} table, such as {found[i][0][:30]!r}"
    return Alike(parts[0], parts[1], f"holds {what}; compared as labels")


def _labels_alike(train: Values, test: Values, texts: list[set[str]]) -> Alike:
    """Give labels that are written in two ways one spelling, that of the training table."""
    stripped = [{text: text.strip() for text in some} for some in texts]
    labels = [set(some.values()) for some in stripped]
    same = same_words(*labels) | equal_numbers(*labels)
    stripped[1] = {text: same.get(label, label) for text, label in stripped[1].items()}
    if all(text == label for some in stripped for text, label in some.items()):
        return Alike(train, test, "")
    return Alike(_replaced(train, stripped[0]), _replaced(test, stripped[1]), "holds labels written in two ways, read as one")


def _are_days(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(one, date | np.datetime64 | pd.Period) for one in values)


def _are_numbers(values: list[Any]) -> bool:
    return all(
        isinstance(one, numbers.Real | np.number) and not isinstance(one, bool | np.bool_ | np.timedelta64) for one in values
    )


def _replaced(values: Values, new: dict[Any, Any]) -> Values:
    """Replace the values that are not missing."""
    out = np.full(len(values.values), None, dtype=object)
    out[~values.missing] = [new[one] for one in values.present().tolist()]
    return Values(out, values.missing)


def _as_dates(values: Values, days: dict[str, float]) -> Values:
    """Convert texts to dates."""
    out = np.full(len(values.values), np.datetime64("NaT", "s"))
    out[~values.missing] = [np.datetime64(round(days[text.strip()] * 86400), "s") for text in values.present()]
    return Values(out, values.missing)
