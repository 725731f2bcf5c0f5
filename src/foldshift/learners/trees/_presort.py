"""Shared by the tree learners: the order and rank codes of every column, and targets as integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray

MOST_BITS = 46  # a target in units of range / 2^46 is within 1e-14 of the range


class Presorted(NamedTuple):
    """Columns of a data set in order, each array of shape (n_features, n_samples)."""

    order: NDArray[np.uint32]  # rows by ascending value, ties in row order; unsigned: numba need not test for negative rows
    codes: NDArray[np.int32]  # rank of every row's value among the distinct values of the column, from 0
    values: FloatArray  # distinct values by code, ascending; NaN behind the last one


class Scale(NamedTuple):
    """Lowest training target, and the unit in which the distances to it are counted."""

    low: float
    unit: float


def presort(X: FloatArray) -> Presorted:
    """Sort every column once."""
    columns = np.ascontiguousarray(X.T)
    order = np.argsort(columns, axis=1, kind="stable")
    ascending = np.take_along_axis(columns, order, axis=1)
    ranks = np.zeros(columns.shape, dtype=np.int32)
    ranks[:, 1:] = np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1)
    codes = np.empty_like(ranks)
    np.put_along_axis(codes, order, ranks, axis=1)
    values = np.full(columns.shape, np.nan)
    np.put_along_axis(values, ranks, ascending, axis=1)
    return Presorted(order.astype(np.uint32), codes, values)


@compiled
def list_training_rows(order: NDArray[np.uint32], in_training: BoolArray, lists: NDArray[np.uint32]) -> int:
    """Write the training rows into the list of every column, in its order; return their number."""
    n = 0
    for f in range(len(order)):
        n = 0
        for i in range(order.shape[1]):
            # Write always, step on only for training rows: a branch would be mispredicted at many test rows.
            lists[f, n] = order[f, i]
            n += in_training[order[f, i]]
    return n


@compiled
def to_units(y: FloatArray, in_training: BoolArray, units: IntArray) -> Scale:
    """Write the targets of the training rows as ``(y - low) / unit``, rounded: sums then do not depend on the order of the rows.

    Splits that part the rows alike then have exactly equal gains, whatever the variable and the direction, and
    the first variable wins, as the rule wants; with floating-point sums rounding would choose.
    """
    low = np.inf
    high = -np.inf
    n_training = 0
    for i in range(len(y)):
        if in_training[i]:
            low = min(low, y[i])
            high = max(high, y[i])
            n_training += 1
    # Room for the sum of all rows in 61 bits.
    bits = MOST_BITS
    while n_training >> (60 - bits) > 0:
        bits -= 1
    unit = 0.0
    if high > low:
        # At least the smallest normal number: its reciprocal and its powers must not overflow.
        exponent = int(np.ceil(np.log2(high - low))) - bits
        unit = 2.0 ** max(exponent, -1022)
    for i in range(len(y)):
        if in_training[i]:
            units[i] = 0 if unit == 0 else np.int64(np.rint((y[i] - low) / unit))
    return Scale(low, unit)
