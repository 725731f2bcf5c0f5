"""Checks of arguments of intervals and tests, and helpers for their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, Floats


def fold_counts(r: ArrayLike, m: ArrayLike, name: str) -> tuple[FloatArray, FloatArray]:
    """Check correct predictions and fold sizes per fold; return both as float64, with one size per fold."""
    r, m = np.asarray(r, dtype=np.float64), np.asarray(m, dtype=np.float64)
    if r.ndim == 0 or r.shape[-1] == 0:
        raise ValueError(f"{name} has shape {r.shape}; expected correct predictions per fold, shape (..., k)")
    if m.ndim > 0 and m.shape != r.shape[-1:]:
        raise ValueError(f"fold sizes have shape {m.shape}; expected one number or one per fold, shape {r.shape[-1:]}")
    if not ((m >= 1) & (m == np.floor(m)) & np.isfinite(m)).all():
        raise ValueError(f"fold sizes must be whole numbers from 1, got {m.tolist()}")
    m = np.broadcast_to(m, r.shape[-1:])
    bad = ~((r >= 0) & (r <= m) & (r == np.floor(r)))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        position = ", ".join(map(str, where))
        raise ValueError(
            f"{name}[{position}]={r[where]:g} must be a whole number from 0 to the size of its fold, {m[where[-1]]:g}"
        )
    return r, m


def checked_correctness(x: Array, name: str) -> FloatArray:
    """Check that the correctness of every instance is 1 (right) or 0 (wrong); return it as float64."""
    x = np.asarray(x, dtype=np.float64)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError(f"{name} has shape {x.shape}; expected the correctness of every instance, shape (..., n)")
    if not ((x == 0) | (x == 1)).all():
        raise ValueError(f"{name} must hold 1 (right) and 0 (wrong) only, got {x[(x != 0) & (x != 1)][0]:g}")
    return x


def check_confidence(confidence: float) -> None:
    """Raise an error if a confidence level is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1, e.g. 0.95")


def check_finite(values: FloatArray, name: str, remedy: str) -> None:
    """Refuse NaN and infinite values, with the place of the first one and a remedy."""
    bad = ~np.isfinite(values)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} has {bad.sum()} NaN or infinite values, the first at {first}; {remedy}")


def check_one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise an error if a value is not one of those allowed."""
    if value not in allowed:
        *rest, last = (repr(item) for item in allowed)
        raise ValueError(f"{name}={value!r} must be {', '.join(rest)} or {last}")


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
