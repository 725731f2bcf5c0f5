"""Checks of the options of intervals and tests, and helpers for their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, Floats


def check_confidence(confidence: float) -> None:
    """Raise an error if a confidence level is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1, e.g. 0.95")


def check_one_of(name: str, value: str, allowed: Iterable[str]) -> None:
    """Raise an error if a value, which may be an array by mistake, is not one of those allowed."""
    *rest, last = allowed
    if not isinstance(value, str) or value not in (*rest, last):
        shown = f"={value!r}" if np.ndim(value) == 0 else f" has shape {np.shape(value)}; it"
        raise ValueError(f"{name}{shown} must be {', '.join(map(repr, rest))} or {last!r}")


def column_names(scores: ArrayLike) -> list[str] | None:
    """Names of the columns of a data frame; None if there are none or they are not texts."""
    columns = list(getattr(scores, "columns", ()))
    return columns if columns and all(isinstance(column, str) for column in columns) else None


def condition_note(large: BoolArray, small_folds: str) -> str:
    """Write how many folds (or totals) fail the large-sample conditions; empty if none."""
    failing = int((~large).sum())
    if not failing:
        return ""
    counted = "folds" if large.shape[-1] > 2 else "totals"
    return f"{failing} of {large.size} {counted} fail the large-sample conditions" + (
        ", dropped" if small_folds == "drop" else ""
    )


def joined_notes(note: str, more: str) -> str:
    """Join two notes, of which the first may be empty."""
    return f"{note}; {more}" if note else more


def plain(value: float | Array) -> Floats:
    """Convert an array without dimensions to a Python number; return other arrays unchanged."""
    value = np.asarray(value)
    return value.item() if value.ndim == 0 else value
