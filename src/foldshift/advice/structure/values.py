"""Rare classes, and numbers that stand for missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.advice.structure.record import Sentinel
from foldshift.core.counting import bincount

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import FloatArray

RARE = 0.05  # share of the rows below which a class is rare
USUAL = (0.0, -1.0, *(sign * (10.0**digits - 1) for digits in (2, 3, 4, 5, 6) for sign in (1, -1)),
         *(sign * float(str(nine) * digits) for nine in (7, 8) for digits in (2, 3, 4) for sign in (1, -1)))  # fmt: skip
AWAY = 1.5  # standard deviations of the other values, between a sentinel and the nearest of them
FEWEST = 3  # rows with a sentinel
LARGE = 50  # sentinels above may stand among other values
SPIKE = 5  # times as many rows as the next most frequent value, for a sentinel among other values
FEWEST_VALUES = 8  # different other values; in a column of fewer, a sentinel is farther away than the others from each other


def find_rare(data: Data) -> tuple[tuple[Any, int], ...]:
    """Find classes with less than 5 % of the rows."""
    if data.task != "classification":
        return ()
    counts = bincount(data.target.astype(int), minlength=len(data.classes))
    return tuple((label, int(count)) for label, count in zip(data.classes, counts) if count < RARE * data.n)


def find_sentinels(data: Data) -> tuple[Sentinel, ...]:
    """Find numbers such as -999 that repeat and have no other value near."""
    found = list[Sentinel]()
    for column in data.columns:
        if column.categories or column.kind != "numeric":
            continue
        values, counts = np.unique(column.train[~np.isnan(column.train)], return_counts=True)
        found += [Sentinel(column.name, value, n) for value in USUAL if (n := _rows_with(value, values, counts))]
    return tuple(found)


def _rows_with(value: float, values: FloatArray, counts: Any) -> int:
    """Number of rows with a sentinel; 0 if it is none."""
    place = int(np.searchsorted(values, value))
    if place == len(values) or values[place] != value or counts[place] < FEWEST:
        return 0
    others, sizes = np.delete(values, place), np.delete(counts, place)
    if len(others) < 2:
        return 0
    mean = np.average(others, weights=sizes)
    spread = float(np.sqrt(np.average((others - mean) ** 2, weights=sizes)))
    scale = spread if len(others) >= FEWEST_VALUES else float(np.ptp(others))
    beyond = value < others[0] or value > others[-1]
    is_spike = abs(value) > LARGE and counts[place] >= SPIKE * max(sizes.max(), 1) and len(others) >= FEWEST_VALUES
    return int(counts[place]) if (beyond and np.abs(others - value).min() >= AWAY * scale) or is_spike else 0
