"""What learners warn of while advice is worked out: one finding, counted."""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from foldshift.advice.issues import Fault
from foldshift.advice.wording import verdict
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.result import Advice


def with_warnings_as_a_fault(function: Callable[..., Any]) -> Callable[..., Any]:
    """A learner may warn in each of a thousand fits: what was said is one finding, and the verdict is not drowned in it."""

    @functools.wraps(function)
    def advise(*args: Any, **kwargs: Any) -> Advice:
        with warnings.catch_warnings(record=True) as heard:
            advice = function(*args, **kwargs)
        if not heard:
            return advice
        faults = (*advice.faults, *warned([(one.category.__name__, str(one.message)) for one in heard]))
        advice = replace(advice, faults=faults)
        return replace(advice, verdict=verdict(advice))

    return advise


def warned(heard: list[tuple[str, str]], most: int = 3) -> tuple[Fault, ...]:
    """What learners warned of while they were fitted, as one fault; nothing if they did not."""
    kinds = Counter((category, (text.strip().splitlines() or [""])[0].strip().rstrip(".:")) for category, text in heard)
    if not kinds:
        return ()
    told = [f"{category}, {counted(times, 'time')}{text and f': {text}'}" for (category, text), times in kinds.most_common(most)]
    rest = f" {counted(len(kinds) - most, 'other warning')} too." if len(kinds) > most else ""
    return (
        Fault(
            "warnings",
            "note",
            f"While models were fitted: {'; '.join(told)}.{rest}",
            "The warnings of Python were counted.",
            "What a learner warns of can make its models worse than they need be, in every fold, or its score another one.",
            "Do what the warning says, e.g. scale the inputs in a pipeline or allow more iterations.",
        ),
    )
