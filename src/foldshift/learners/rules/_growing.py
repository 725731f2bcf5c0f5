"""Growing one rule: the search for the condition that gains most."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.rules._rules import EQ, GE, GT, LE, Columns, Work, mark_covered, meets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray, IntArray, UnsignedArray

MIN_POSITIVES = 2  # a condition must keep so many rows of the class
ROUNDING = 1e-9  # bits; logarithms are more exact than that
_CLASS = 32  # a weight counts rows in the bits below, and rows of the class from here on
_ROWS = (1 << _CLASS) - 1


class _Covered(NamedTuple):
    """Rows that a rule covers before a condition is added: all, those of the class, the logarithm of their share."""

    n: int
    n_positive: int
    before: float
    plus: int  # added to every count: 1, or 0 as in KEEL
    log2: FloatArray


class _Value(NamedTuple):
    """Rows of the class, and all rows, below a value and at it."""

    below_p: int
    below: int
    here_p: int
    here: int


class _Condition(NamedTuple):
    """A condition, what it gains, and the rows of the class that it keeps; column -1: none."""

    gain: float
    column: int
    kind: int
    code: int | np.int64  # always int64 in kernels: numba unifies no records of different types
    n_positive: int


@compiled
def count_rows(rows: UnsignedArray, positive: NDArray[np.int8], columns: Columns, counts: IntArray, sign: int) -> None:
    """Add rows to the counts by bucket, or take them away with the sign -1.

    Row by row, not column by column: one column after the other would often wait for the sum in the same bucket.
    """
    cells = columns.buckets.cells
    for row in rows:
        here, buckets = sign * _weight(positive[row]), cells[row]
        for f in range(len(buckets)):
            counts[buckets[f]] += here


@compiled
def take_away(gone: UnsignedArray, kept: UnsignedArray, positive: NDArray[np.int8], columns: Columns, counts: IntArray) -> None:
    """Turn the counts by bucket of rows gone and rows kept into those of the rows kept."""
    if len(gone) < len(kept):
        count_rows(gone, positive, columns, counts, -1)
    else:
        counts[:] = 0
        count_rows(kept, positive, columns, counts, 1)


@compiled
def counts_of_part(
    counts: IntArray, gone: UnsignedArray, kept: UnsignedArray, positive: NDArray[np.int8], columns: Columns
) -> IntArray:
    """Return the counts by bucket of the rows kept, from those of the rows gone and kept."""
    out = counts.copy()
    take_away(gone, kept, positive, columns, out)
    return out


@compiled(inline="always")
def _weight(is_positive: np.int8) -> np.int64:
    return (np.int64(is_positive) << _CLASS) + 1


@compiled
def grow(
    rule: IntArray, rows: UnsignedArray, counts: IntArray, positive: NDArray[np.int8], columns: Columns, work: Work, once: bool
) -> IntArray:
    """Add conditions to a rule, the one with the largest information gain first.

    FOIL's gain of a condition that keeps p of P rows of the class and t of T rows is p (log2(p / t) - log2(P / T)), with
    Laplace-like counts (p + 1) / (t + 1). Growing ends when only rows of the class are covered, when nothing is gained,
    or when the best condition keeps fewer than `MIN_POSITIVES` rows of the class. A nominal column is used at most once.

    With `once`, growing is KEEL's: plain counts, every column at most once, and on while rows of other classes are
    covered and columns are left, whether anything is gained or not. The first column wins ties; in KEEL, the last one takes
    the place of the one used.

    `counts` are those of the rows by bucket, see `count_rows`.
    """
    codes, nominal = columns.codes, columns.nominal
    removed, active, weight, table, mask = work.removed, work.active, work.weight, work.counts, work.mask
    free = np.ones(len(codes), np.bool_)
    for j in range(len(rule)):
        free[rule[j, 0]] = not (once or nominal[rule[j, 0]])
    usable = np.flatnonzero(free)
    n_usable = len(usable)
    n, n_positive = 0, 0
    mark_covered(rule, codes, mask)
    for row in rows:
        active[n] = row
        n += mask[row]
        n_positive += mask[row] & positive[row]
    new = np.empty((8, 3), np.int64)
    n_new = 0
    if 0 < n_positive < n:
        for row in active[:n]:
            weight[row] = _weight(positive[row])
        if n == len(rows):
            table[:] = counts
        else:
            table[:] = 0
            count_rows(active[:n], positive, columns, table, 1)
    while 0 < n_positive < n:
        best = _best_condition(usable[:n_usable], n, n_positive, columns, work, once)
        f, kind, bound, p = best.column, best.kind, best.code, best.n_positive
        if f < 0 or (not once and p < MIN_POSITIVES):
            break
        if n_new == len(new):
            new = np.concatenate((new, np.empty_like(new)))
        new[n_new, 0], new[n_new, 1], new[n_new, 2] = f, kind, bound
        n_new += 1
        if once or nominal[f]:
            n_usable -= 1
            place = 0
            while usable[place] != f:
                place += 1
            if once:
                usable[place] = usable[n_usable]
            else:
                usable[place:n_usable] = usable[place + 1 : n_usable + 1].copy()
        kept, n_removed = 0, 0
        code = codes[f]
        for i in range(n):
            row = active[i]
            active[kept] = removed[n_removed] = row
            met = meets(kind, code[row], bound)
            kept += met
            n_removed += not met
        n, n_positive = kept, p
        if n_positive < n:
            take_away(removed[:n_removed], active[:n], positive, columns, table)
        for row in removed[:n_removed]:
            weight[row] = 0
    for row in active[:n]:
        weight[row] = 0
    return np.concatenate((rule, new[:n_new]))


@compiled
def _best_condition(usable: IntArray, n: int, n_positive: int, columns: Columns, work: Work, once: bool) -> _Condition:
    """Condition on one of the usable columns that gains most.

    A bucket of several values is looked into only if a limit within it may gain as much as `floor`, the most that is known to be
    gained by some condition. A limit within a bucket keeps at most the rows of the class up to the end of the bucket, and at
    least the others up to its start; or the same from above.
    """
    table, codes, log2 = work.counts, columns.codes, columns.log2
    first, lows = columns.buckets.first, columns.buckets.lows
    plus = 0 if once else 1
    covered = _Covered(n, n_positive, log2[n_positive + plus] - log2[n + plus], plus, log2)
    best = _Condition(-1.0 if once else 0.0, -1, 0, 0, 0)
    floor = best.gain
    for f in usable:
        begin, end = first[f], first[f + 1] - 1
        if columns.nominal[f]:
            for b in range(begin, end):
                p = table[b] >> _CLASS
                if p > 0:
                    gain = _gain(p, table[b] & _ROWS, covered)
                    if gain > best.gain:
                        best = _Condition(gain, f, EQ, b - begin, p)
            floor = max(floor, best.gain)
            continue
        if end - begin < columns.n_codes[f]:
            is_promising, floor = _floor_between(table[begin:end], covered, floor)
            if not is_promising:
                continue
        least = _least_share(floor, covered)
        below_p, below = 0, 0
        for b in range(begin, end):
            here_p, here = table[b] >> _CLASS, table[b] & _ROWS
            if here_p > 0:
                low_p, high_p = below_p + here_p, n_positive - below_p
                low, high = below + here_p, n - below - here + here_p
                if low_p + plus >= least * (low + plus) or high_p + plus >= least * (high + plus):
                    bucket = _Value(below_p, below, here_p, here)
                    if lows[b] + 1 == lows[b + 1]:
                        best = _better(best, f, lows[b], bucket, covered)
                    elif (
                        floor < 0 or _gain_at_most(low_p, low, covered) >= floor or _gain_at_most(high_p, high, covered) >= floor
                    ):
                        best = _best_within(best, f, b, bucket, covered, columns, work.weight)
                    if best.gain > floor:
                        floor = best.gain
                        least = _least_share(floor, covered)
            below_p += here_p
            below += here
    if best.kind == GT:
        code = _value_before(best.code, columns.order[best.column], codes[best.column], work.weight)
        return _Condition(best.gain, best.column, best.kind, np.int64(code), best.n_positive)
    return best


@compiled
def _best_within(
    best: _Condition, f: int, b: int, bucket: _Value, covered: _Covered, columns: Columns, weight: IntArray
) -> _Condition:
    """Weigh the conditions at every value within a bucket against the best so far."""
    code, listed = columns.codes[f], columns.order[f]
    below_p, below = bucket.below_p, bucket.below
    i, stop = columns.buckets.starts[b], columns.buckets.starts[b + 1]
    while i < stop:
        v = code[listed[i]]
        total = 0
        while i < stop and code[listed[i]] == v:
            total += weight[listed[i]]
            i += 1
        here_p, here = total >> _CLASS, total & _ROWS
        if here_p > 0:
            best = _better(best, f, np.int64(v), _Value(below_p, below, here_p, here), covered)
        below_p += here_p
        below += here
    return best


@compiled
def _floor_between(counts: IntArray, covered: _Covered, floor: float) -> tuple[bool, float]:
    """Check whether any limit in a column may gain as much as `floor`; raise the floor by the limits between its buckets.

    The best condition gains as much as such a limit: at the value of the class that is next to it.
    """
    n, n_positive, plus = covered.n, covered.n_positive, covered.plus
    least = _least_share(floor, covered)
    is_promising = False
    below_p, below = 0, 0
    for count in counts:
        here_p, here = count >> _CLASS, count & _ROWS
        if here_p > 0:
            low_p, high_p = below_p + here_p, n_positive - below_p
            low, high = below + here_p, n - below - here + here_p
            if low_p + plus >= least * (low + plus) or high_p + plus >= least * (high + plus):
                is_promising = True
                gain = max(_gain(low_p, below + here, covered), _gain(high_p, n - below, covered))
                if gain > max(floor, 0.0):  # with plain counts a limit behind all rows, which gains 0, is no condition
                    floor = gain
                    least = _least_share(floor, covered)
        below_p += here_p
        below += here
    return is_promising, floor


@compiled
def _least_share(floor: float, covered: _Covered) -> float:
    """Share of the class that a condition must reach to gain `floor`: it keeps at most all rows of the class."""
    return 0.0 if floor < 0 else 2.0 ** (covered.before + floor / covered.n_positive - ROUNDING)


@compiled(inline="always")
def _gain(p: int, n: int, covered: _Covered) -> float:
    """Gain of a condition that keeps n rows, p of them of the class."""
    return p * (covered.log2[p + covered.plus] - covered.log2[n + covered.plus] - covered.before)


@compiled(inline="always")
def _gain_at_most(p: int, n: int, covered: _Covered) -> float:
    """`_gain`, with room for rounding."""
    return p * (covered.log2[p + covered.plus] - covered.log2[n + covered.plus] - (covered.before - ROUNDING))


@compiled
def _value_before(v: int, listed: UnsignedArray, code: NDArray[np.int32], weight: IntArray) -> int:
    """The largest code below one, among the rows with weight."""
    i, end = 0, len(listed)
    while i < end:
        middle = (i + end) // 2
        if code[listed[middle]] < v:
            i = middle + 1
        else:
            end = middle
    i -= 1
    while weight[listed[i]] == 0:
        i -= 1
    return code[listed[i]]


@compiled(inline="always")
def _better(best: _Condition, f: int, v: int | np.int64, value: _Value, covered: _Covered) -> _Condition:
    """Weigh the two conditions at a value: at most it, and at least it (KEEL's: above the value before it, see `_value_before`).

    Values without rows of the class are left out: the condition that starts or ends beside them gains more.
    """
    low_p, low = value.below_p + value.here_p, value.below + value.here
    high_p, high = covered.n_positive - value.below_p, covered.n - value.below
    at_most, at_least = _gain(low_p, low, covered), _gain(high_p, high, covered)
    if covered.plus == 1:
        if at_most > at_least:
            if at_most > best.gain:
                best = _Condition(at_most, f, LE, v, low_p)
        elif at_least > best.gain:
            best = _Condition(at_least, f, GE, v, high_p)
    elif value.here == covered.n:
        if best.gain < 0:
            best = _Condition(0.0, f, EQ, v, covered.n_positive)
    else:
        if low < covered.n and at_most > best.gain:
            best = _Condition(at_most, f, LE, v, low_p)
        if value.below > 0 and at_least > best.gain:
            best = _Condition(at_least, f, GT, v, high_p)
    return best
