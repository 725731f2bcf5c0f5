"""Columns of dates: recognise them and convert each text to days since 1970."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = (
    r"(?:(?:T|\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d{1,9})?))?\s?(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_MONTH_NAME = r"(?P<name>[A-Za-z]{3,9})"
# Each form with its name for messages. All texts of a column have the same form; if two fit, day before month is taken.
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


class Dates(NamedTuple):
    """Days since 1970-01-01 of every text (None: not all are dates), the time of day as a fraction, and their form in words."""

    days: dict[str, float] | None
    form: str


def days_of(texts: Iterable[str]) -> Dates:
    """Convert texts to days since 1970-01-01 if all of them are dates of one form.

    Numbers of eight digits are dates only if there are at least three different ones.

    Examples
    --------
    >>> from foldshift.datasets.readers.columns.dates import days_of
    >>> days_of(["1970-01-02", "1970-02-01 12:00"])
    Dates(days={'1970-01-02': 1.0, '1970-02-01 12:00': 31.5}, form='year-month-day')
    >>> days_of(["31/12/1969", "1/2/1970"]).form, days_of(["12/31/1969"]).form, days_of(["red"]).days
    ('day.month.year', 'month/day/year', None)
    """
    texts = list(dict.fromkeys(texts))
    for words, form in _FORMS.items():
        if words == "yyyymmdd" and len(texts) < 3:
            continue
        days = {}
        for text in texts:
            match = form.fullmatch(text)
            day = None if match is None else _day(match.groupdict())
            if day is None:
                break
            days[text] = day
        else:
            if days:
                return Dates(days, words)
    return Dates(None, "")


def _day(parts: dict[str, str | None]) -> float | None:
    """Convert the parts of a date, named as in the forms, to days since 1970; None if there is no such day or time."""
    year, month, day = parts["year"] or "", parts.get("month") or "", parts.get("day") or "1"
    if name := parts.get("name"):
        if name[:3].lower() not in _MONTHS:
            return None
        month = str(_MONTHS.index(name[:3].lower()) + 1)
    if len(year) == 2:
        year = ("19" if year > "68" else "20") + year  # as POSIX does
    try:
        days = datetime.date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:
        return None
    hour, minute, second = parts["hour"], parts["minute"], parts["second"] or "0"
    if hour is None or minute is None:
        return float(days)
    hours, minutes, seconds = int(hour), int(minute), float(second.replace(",", "."))
    if half := parts["half"]:
        hours = hours % 12 + (12 if half[0] in "pP" else 0)
    if hours > 24 or minutes > 59 or seconds >= 61:
        return None
    offset, zone = 0, parts["zone"]  # minutes east of Greenwich
    if zone and zone[0] in "+-":
        offset = (1 if zone[0] == "+" else -1) * (int(zone[1:3]) * 60 + int(zone[-2:]))
    return days + (hours * 60 + minutes - offset) / 1440 + seconds / 86400
