"""Pairs of rows that are equal by chance, from those that differ in one column and in two: a null for related columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray

    Codes = NDArray[np.uint64]

MOST_ROWS, MOST_PAIRS = 5000, 200  # rows, and pairs of columns, that are looked at
SEED = 0  # the same table has the same null


def equal_pairs(values: FloatArray) -> tuple[float, float]:
    """Count the pairs of equal rows, and those that chance allows.

    Where columns have nothing to do with each other, ``N_0 * N_ij = N_i * N_j`` for the pairs that differ in no column, in i, in
    j and in both: what differs in few columns says what differs in none. Rows of one kind, such as voters of one party, raise all
    of them alike; copies of rows raise the first one alone.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> votes = rng.integers(0, 2, (200, 10)).astype(float)
    >>> found, by_chance = equal_pairs(votes)
    >>> found < 2 * by_chance
    True
    >>> found, by_chance = equal_pairs(np.vstack([votes, votes[:100]]))
    >>> found > 2 * by_chance
    True
    """
    rng = np.random.default_rng(SEED)
    if len(values) > MOST_ROWS:
        values = values[rng.permutation(len(values))[:MOST_ROWS]]
    hashed = [_hashed(column, place) for place, column in enumerate(values.T)]
    whole: Codes = np.sum(hashed, axis=0, dtype=np.uint64)
    none = _n_pairs(whole)
    by_column = np.array([_n_pairs(whole - column) for column in hashed]) - none
    first, second = np.triu_indices(len(hashed), 1)
    some = rng.permutation(len(first))[:MOST_PAIRS]
    without_two = sum(_n_pairs(whole - hashed[first[j]] - hashed[second[j]]) for j in some) * len(first) / max(len(some), 1)
    one = float(by_column.sum())
    two = without_two - (len(hashed) - 1) * one - len(first) * none
    # Where fewer pairs differ in two columns than in one, these are no chance either: copies with a changed value, say.
    return none, (one**2 - float((by_column**2).sum())) / (2 * two) if 0 < one <= two else 0.0


def _hashed(column: FloatArray, place: int) -> Codes:
    """Random numbers for the values of a column, which add up to one for the row."""
    with np.errstate(over="ignore"):
        mixed: Codes = pd.util.hash_array(np.ascontiguousarray(column + 0.0)) ^ np.uint64(
            0x9E3779B97F4A7C15 * (place + 1) % 2**64
        )
        return pd.util.hash_array(mixed.astype(np.uint64))


def _n_pairs(codes: Codes) -> float:
    sizes = np.unique(codes, return_counts=True)[1].astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / 2)
