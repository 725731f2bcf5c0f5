"""Notes on two tables that no test makes: rows that are in both, and columns that may be in another unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import ks_2samp

if TYPE_CHECKING:
    from collections.abc import Collection

    from foldshift.shift.columns import Column

REPEATS = 3.0  # times more test rows in the training table than that repeats its own
AS_BEFORE = 0.5  # of the distance that a change of unit must take away
MOST_POWERS = 9  # of ten


def rows_in_both(columns: list[Column]) -> list[str]:
    """Note rows of the test table that are in the training table, unless rows repeat in that nearly as often."""
    if not columns:
        return []
    tables = [np.column_stack([getattr(column, role) for column in columns]) for role in ("train", "test")]
    train, test = ({row.tobytes() for row in np.ascontiguousarray(table + 0.0)} for table in tables)
    n, n_repeated = len(train & test), len(tables[0]) - len(train)
    if n / len(tables[1]) <= REPEATS * n_repeated / len(tables[0]):
        return []
    twice = "; both tables may be the same" if n == len(tables[0]) == len(tables[1]) else ""
    return [f"{n} of {len(tables[1])} test rows {'is' if n == 1 else 'are'} in the training table as well{twice}."]


def other_units(columns: list[Column], moved: Collection[str]) -> list[str]:
    """Note columns of numbers that moved and would hardly have if the test values were a power of ten smaller or larger."""
    notes = []
    for column in columns:
        if column.name not in moved or column.categories or column.is_date:
            continue
        train, test = (part[~np.isnan(part)] for part in (column.train, column.test))
        spreads = [np.subtract(*np.percentile(part, [75, 25])) for part in (train, test)]
        power = int(np.rint(np.log10(spreads[1] / spreads[0]))) if min(spreads) > 0 else 0
        if not 1 <= abs(power) <= MOST_POWERS:
            continue
        before, after = (float(ks_2samp(train, part).statistic) for part in (test, test / 10.0**power))
        if after <= AS_BEFORE * before:
            times = f"{10 ** abs(power):,} times as {'large' if power > 0 else 'small'}"
            notes.append(f"{column.name}: test values are some {times} as training values; are they in another unit?")
    return notes
