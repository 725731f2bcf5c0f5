"""Columns of dates: recognise them and convert each text to days since 1970."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import NamedTuple

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
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
        "month year": rf"{_MONTH_NAME}[-/., ]+(?P<year>\d{{4}}|\d\d)",
        "yyyymmdd": r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    }.items()
}
_SAMPLE = 50  # texts by which labels are told from dates
_EPOCH = datetime.date(1970, 1, 1).toordinal()


class Dates(NamedTuple):
    """Days since 1970-01-01 of every text (None: not all are dates), the time of day as a fraction, and their form in words."""

    days: dict[str, float] | None
    form: str


def days_of(texts: Iterable[str]) -> Dates:
    """Convert texts to days since 1970-01-01 if all of them are dates of one form.

    Numbers of eight digits are dates only if there are at least three different ones.

    >>> from foldshift.datasets.readers.columns.dates import days_of
    >>> days_of(["1970-01-02", "1970-02-01 12:00"])
    Dates(days={'1970-01-02': 1.0, '1970-02-01 12:00': 31.5}, form='year-month-day')
    >>> days_of(["31/12/1969", "1/2/1970"]).form, days_of(["12/31/1969"]).form, days_of(["red"]).days
    ('day.month.year', 'month/day/year', None)
    """
    texts = list(dict.fromkeys(texts))
    for words in _FORMS:
        if words == "yyyymmdd" and len(texts) < 3:
            continue
        days = {}
        for text in texts:
            day = _day_of(text, words)
            if day is None:
                break
            days[text] = day
        else:
            if days:
                return Dates(days, words)
    return Dates(None, "")


def _day_of(text: str, form: str) -> float | None:
    match = _FORMS[form].fullmatch(text)
    return None if match is None else _day(match.groupdict())


def odd_dates_of(texts: Iterable[str], most_odd: float) -> Dates:
    """Convert the texts that are dates of one form if few are not, by the share `most_odd`.

    Without days, the form says whether all texts are dates, of several forms; it is empty if they are not.

    >>> from foldshift.datasets.readers.columns.dates import odd_dates_of
    >>> odd_dates_of([*(f"2020-01-{day:02}" for day in range(1, 20)), "unknown"], 0.1).form
    "year-month-day, but for 'unknown'"
    >>> odd_dates_of(["2020-01-31", "31.1.2020", "1 May 2020"], 0.1)
    Dates(days=None, form='of several forms')
    """
    texts = list(dict.fromkeys(texts))
    forms = [one for one in _FORMS if one != "yyyymmdd"]
    sample = [any(_day_of(text, form) is not None for form in forms) for text in texts[:_SAMPLE]]
    if sum(sample) < (1 - 2 * most_odd) * len(sample):
        return Dates(None, "")
    found = {form: {text: day for text in texts if (day := _day_of(text, form)) is not None} for form in forms}
    words, days = max(found.items(), key=lambda pair: len(pair[1]))
    odd = [text for text in texts if text not in days]
    if days and len(odd) <= most_odd * len(texts):
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        return Dates(days, f"{words}, but for {odd[0][:30]!r}{more}")
    is_date = set().union(*found.values())
    return Dates(None, "of several forms" if texts and all(text in is_date for text in texts) else "")


def _day(parts: dict[str, str | None]) -> float | None:
    """Convert the parts of a date, named as in the forms, to days since 1970; None if there is no such day or time."""
    year, month, day = parts["year"] or "", parts.get("month") or "", parts.get("day") or "1"
    if name := parts.get("name"):
        found = [number for number, one in enumerate(_MONTHS, 1) if one.startswith(name.lower())]
        if not found:
            return None
        month = str(found[0])
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
