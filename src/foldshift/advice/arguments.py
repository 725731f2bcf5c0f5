"""Checks of arguments of `foldshift.advise` that are no table: numbers, reasons, switches."""

from __future__ import annotations

import math
import numbers
from typing import Any


def check_numbers(rope: Any, most_repetitions: Any, random_state: Any) -> None:
    """Refuse what is not a whole number, or no width."""
    for name, value, least in (("random_state", random_state, 0), ("most_repetitions", most_repetitions, 1)):
        if value is None and name == "most_repetitions":
            continue
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")
    is_number = isinstance(rope, numbers.Real) and not isinstance(rope, bool)
    if rope is not None and not (is_number and 0 <= rope < math.inf):
        raise ValueError(f"rope={rope!r} must be a difference of 0 or more")


def check_others(left_out: Any, tell: Any, isolate: Any) -> None:
    """Refuse reasons that are not texts, what cannot be called, and a switch that is neither on nor off."""
    reasons = left_out.values() if isinstance(left_out, dict) else ()
    if left_out is not None and not (isinstance(left_out, dict) and all(isinstance(reason, str) for reason in reasons)):
        raise ValueError(f"left_out={left_out!r} must map columns to reasons, such as {{'day': 'a date'}}")
    if tell is not None and not callable(tell):
        raise ValueError(f"tell={tell!r} must be a function of one text, such as print")
    if not isinstance(isolate, bool):
        raise ValueError(f"isolate={isolate!r} must be True or False")
