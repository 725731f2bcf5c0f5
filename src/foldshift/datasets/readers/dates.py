"""Dates among texts: which columns hold nothing else, and the day that each stands for."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import Any

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = (
    r"(?:(?:T|\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d{1,9})?))?\s?(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_MONTH_NAME = r"(?P<name>[A-Za-z]{3,9})"
# Each form with its name for messages; where two fit, day before month comes first. A column is of one form throughout.
_FORMS = {
    words: re.compile(pattern + _CLOCK)
    for words, pattern in {
        "year-month-day": r"(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})",
        "year-month": r"(?P<year>\d{4})-(?P<month>\d\d)",
        "day.month.year": r"(?P<day>\d{1,2})([-/.])(?P<month>\d{1,2})\2(?P<year>\d{4}|\d\d)",
        "month/day/year": r"(?P<month>\d{1,2})([-/.])(?P<day>\d{1,2})\2(?P<year>\d{4}|\d\d)",
        "day month year": rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[-/. ]+{_MONTH_NAME}[-/., ]+(?P<year>\d{{4}}|\d\d)",
        "month day, year": rf"{_MONTH_NAME}[-/. ]+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[-/., ]+(?P<year>\d{{4}})",
        "yyyymmdd": r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    }.items()
}
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def days_of(texts: Iterable[str]) -> tuple[Any, ...]:
    """Days that texts stand for, if all of them are dates of one form.

    Examples
    --------
    >>> from foldshift.datasets.readers.dates import days_of
    >>> days_of(["1970-01-02", "1970-02-01 12:00"])
    ({'1970-01-02': 1.0, '1970-02-01 12:00': 31.5}, 'year-month-day')
    >>> days_of(["31/12/1969", "1/2/1970"])[1], days_of(["12/31/1969"])[1], days_of(["red"])
    ('day.month.year', 'month/day/year', (None, ''))
    """
    texts = list(dict.fromkeys(texts))
    for words, form in _FORMS.items():
        if words == "yyyymmdd" and len(texts) < 3:
            continue
        days = {}
        for text in texts:
            match = form.fullmatch(text)
            days[text] = None if match is None else _day(**match.groupdict())
            if days[text] is None:
                break
        else:
            if days:
                return days, words
    return None, ""


def _day(
    year: str,
    month: str | None = None,
    day: str = "1",
    name: str | None = None,
    hour: str | None = None,
    minute: str | None = None,
    second: str | None = None,
    half: Any = None,
    zone: str | None = None,
) -> float | None:
    """Days since 1970 of the parts of a date, or None if there is no such day or time."""
    if name is not None:
        if name[:3].lower() not in _MONTHS:
            return None
        month = _MONTHS.index(name[:3].lower()) + 1
    if len(year) == 2:
        year = ("19" if year > "68" else "20") + year  # as POSIX does
    try:
        days = datetime.date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:
        return None
    if hour is None:
        return float(days)
    hours, seconds = int(hour), float((second or "0").replace(",", "."))
    if half:
        hours = hours % 12 + (12 if half[0] in "pP" else 0)
    if hours > 24 or int(minute) > 59 or seconds >= 61:
        return None
    offset = 0
    if zone and zone[0] in "+-":
        offset = (1 if zone[0] == "+" else -1) * (int(zone[1:3]) * 60 + int(zone[-2:]))
    return days + (hours * 60 + int(minute) - offset) / 1440 + seconds / 86400
