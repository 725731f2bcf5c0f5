"""Warnings of learners while advice is worked out: one issue that counts them."""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ParamSpec

from foldshift.advice.issues import Issue, issue_of
from foldshift.advice.wording import verdict
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.result import Advice

P = ParamSpec("P")


def with_warnings_as_an_issue(function: Callable[P, Advice]) -> Callable[P, Advice]:
    """Turn the warnings of a thousand fits into one issue of the advice, so that they do not drown the verdict."""

    @functools.wraps(function)
    def advise(*args: P.args, **kwargs: P.kwargs) -> Advice:
        with warnings.catch_warnings(record=True) as heard:
            advice = function(*args, **kwargs)
        if not heard:
            return advice
        issues = (*advice.faults, *warned((one.category.__name__, str(one.message)) for one in heard))
        advice = replace(advice, faults=issues)
        return replace(advice, verdict=verdict(advice))

    return advise


def warned(heard: Iterable[tuple[str, str]], most: int = 3) -> tuple[Issue, ...]:
    """Make one issue of warnings, each a category and a text; the `most` frequent kinds are named, the others counted."""
    kinds = Counter((category, (text.strip().splitlines() or [""])[0].strip().rstrip(".:")) for category, text in heard)
    if not kinds:
        return ()
    named = [f"{category}, {counted(times, 'time')}{text and f': {text}'}" for (category, text), times in kinds.most_common(most)]
    others = f" {counted(len(kinds) - most, 'other warning')} too." if len(kinds) > most else ""
    return (issue_of("warnings", heard="; ".join(named), others=others),)
