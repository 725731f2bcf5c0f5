"""Splits that go forward in time: each trains on earlier rows only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Array, IntArray


def forward_splits(
    times: Array, n_splits: int, gap: float | np.timedelta64, max_train_size: int | None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield training and test rows of every block after the first, in order of time; rows of one time stay together.

    `times` are datetime64, with a `gap` of timedelta64 or 0, or numbers, with a `gap` in their unit.
    """
    _check_gap(times, gap)
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    firsts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    starts = _block_starts(firsts, len(times), n_splits)
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(times)])):
        last = start if not gap else int(np.searchsorted(ordered, ordered[start] - gap, side="left"))
        if last == 0:
            raise ValueError(
                f"a gap of {_shown(gap)} leaves no row to train on before split {number}, whose test part begins "
                f"{_shown(ordered[start] - ordered[0])} after the first row; take a smaller gap, or fewer blocks"
            )
        first = 0 if max_train_size is None else _whole_times(firsts, last, max_train_size, ordered)
        yield np.sort(order[first:last]), np.sort(order[start:end])


def _shown(span: Any) -> str:
    """Write a number without zeros, and a duration in words."""
    return str(span) if isinstance(span, np.timedelta64) else f"{span:g}"


def _check_gap(times: Array, gap: float | np.timedelta64) -> None:
    """Refuse a gap in another unit than that of the times."""
    if times.dtype.kind in "mM" and gap and not isinstance(gap, np.timedelta64):
        raise ValueError(f"gap={gap} is a number, and the times are dates or durations; give such a one: gap='{gap}D' for days")
    if times.dtype.kind not in "mM" and isinstance(gap, np.timedelta64):
        raise ValueError(f"gap={gap} is a duration, and the times are numbers, or the order of rows; give a number in their unit")


def _block_starts(firsts: IntArray, n_samples: int, n_splits: int) -> list[int]:
    """Place the beginning of every test block at a new time, the nearest to blocks of equal size."""
    if n_splits + 1 > len(firsts):
        raise ValueError(
            f"{n_splits} test blocks need at least {n_splits + 1} different times, the first to train on; the "
            f"{n_samples} rows have {len(firsts)}; take fewer blocks"
        )
    wanted = n_samples - n_samples // (n_splits + 1) * np.arange(n_splits, 0, -1)
    above = np.clip(np.searchsorted(firsts, wanted), 1, len(firsts) - 1)
    nearest = np.where(wanted - firsts[above - 1] <= firsts[above] - wanted, above - 1, above)
    number = np.arange(n_splits)
    rising = np.maximum.accumulate(np.maximum(nearest, 1) - number) + number
    return firsts[np.minimum(rising, len(firsts) - n_splits + number)].tolist()


def _whole_times(firsts: IntArray, last: int, max_train_size: int, ordered: Array) -> int:
    """Find where the latest whole times begin that are at most `max_train_size` rows."""
    at = int(np.searchsorted(firsts, last - max_train_size, side="left"))
    if at == len(firsts) or firsts[at] >= last:
        begin = int(firsts[np.searchsorted(firsts, last, side="left") - 1])
        raise ValueError(
            f"max_train_size={max_train_size} is less than the {last - begin} rows of the time {ordered[begin]}, which stay "
            f"together; take at least {last - begin}"
        )
    return int(firsts[at])
