"""Growing one rule: the search for the condition that gains most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.rules._rules import EQ, GE, GT, LE, mark_covered, meets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import Array, FloatArray, IntArray, UnsignedArray

MIN_POSITIVES = 2  # a condition must keep so many rows of the class
ROUNDING = 1e-9  # bits; logarithms are more exact than that
_CLASS = 32  # a weight counts rows in the bits below, and rows of the class from here on
_ROWS = (1 << _CLASS) - 1


@compiled
def count_rows(rows: UnsignedArray, positive: NDArray[np.int8], data: tuple[Any, ...], counts: IntArray, sign: int) -> None:
    """Add rows to the counts by bucket, or take them away with the sign -1.

    Row by row, not column by column: one column after the other would often wait for the sum in the same bucket.
    """
    cells = data[6][0]
    for row in rows:
        here, buckets = sign * _weight(positive[row]), cells[row]
        for f in range(len(buckets)):
            counts[buckets[f]] += here


@compiled
def take_away(
    gone: UnsignedArray, kept: UnsignedArray, positive: NDArray[np.int8], data: tuple[Any, ...], counts: IntArray
) -> None:
    """Turn the counts by bucket of rows gone and rows kept into those of the rows kept."""
    if len(gone) < len(kept):
        count_rows(gone, positive, data, counts, -1)
    else:
        counts[:] = 0
        count_rows(kept, positive, data, counts, 1)


@compiled
def counts_of_part(
    counts: IntArray, gone: UnsignedArray, kept: UnsignedArray, positive: NDArray[np.int8], data: tuple[Any, ...]
) -> IntArray:
    """Counts by bucket of the rows kept, from those of the rows gone and rows kept."""
    out = counts.copy()
    take_away(gone, kept, positive, data, out)
    return out


@compiled(inline="always")
def _weight(is_positive: Any) -> Any:
    return (np.int64(is_positive) << _CLASS) + 1


@compiled
def grow(
    rule: IntArray,
    rows: UnsignedArray,
    counts: IntArray,
    positive: NDArray[np.int8],
    data: tuple[Any, ...],
    work: tuple[Array, ...],
    once: bool,
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
    codes, nominal = data[1], data[4]
    _, removed, active, weight, table, mask = work
    free = np.ones(len(codes), np.bool_)
    for j in range(len(rule)):
        free[rule[j, 0]] = not (once or nominal[rule[j, 0]])
    columns = np.flatnonzero(free)
    n_columns = len(columns)
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
            count_rows(active[:n], positive, data, table, 1)
    while 0 < n_positive < n:
        f, kind, bound, p = _best_condition(columns[:n_columns], n, n_positive, weight, table, data, once)
        if f < 0 or (not once and p < MIN_POSITIVES):
            break
        if n_new == len(new):
            new = np.concatenate((new, np.empty_like(new)))
        new[n_new, 0], new[n_new, 1], new[n_new, 2] = f, kind, bound
        n_new += 1
        if once or nominal[f]:
            n_columns -= 1
            place = 0
            while columns[place] != f:
                place += 1
            if once:
                columns[place] = columns[n_columns]
            else:
                columns[place:n_columns] = columns[place + 1 : n_columns + 1].copy()
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
            take_away(removed[:n_removed], active[:n], positive, data, table)
        for row in removed[:n_removed]:
            weight[row] = 0
    for row in active[:n]:
        weight[row] = 0
    return np.concatenate((rule, new[:n_new]))


@compiled
def _best_condition(
    columns: IntArray, n: int, n_positive: int, weight: IntArray, table: IntArray, data: tuple[Any, ...], once: bool
) -> tuple[int, int, int, int]:
    """Column, kind, code and rows of the class kept of the condition that gains most; column -1 if none gains.

    A bucket of several values is looked into only if a limit within it may gain as much as `floor`, the most that is known to be
    gained by some condition. A limit within a bucket keeps at most the rows of the class up to the end of the bucket, and at
    least the others up to its start; or the same from above.
    """
    order, codes, _, n_codes, nominal, log2, (_, first, lows, starts) = data
    plus = 0 if once else 1
    before = log2[n_positive + plus] - log2[n + plus]
    best = floor = -1.0 if once else 0.0
    best_f, best_kind, best_code, best_p = -1, 0, 0, 0
    for f in columns:
        begin, end = first[f], first[f + 1] - 1
        if nominal[f]:
            for b in range(begin, end):
                p = table[b] >> _CLASS
                if p > 0:
                    gain = _gain(p, table[b] & _ROWS, plus, before, log2)
                    if gain > best:
                        best, best_f, best_kind, best_code, best_p = gain, f, EQ, b - begin, p
            floor = max(floor, best)
            continue
        if end - begin < n_codes[f]:
            is_promising, floor = _floor_between(table[begin:end], n, n_positive, floor, plus, before, log2)
            if not is_promising:
                continue
        least = _least_share(floor, before, n_positive)
        below_p, below = 0, 0
        for b in range(begin, end):
            here_p, here = table[b] >> _CLASS, table[b] & _ROWS
            if here_p > 0:
                low_p, high_p = below_p + here_p, n_positive - below_p
                low, high = below + here_p, n - below - here + here_p
                if low_p + plus >= least * (low + plus) or high_p + plus >= least * (high + plus):
                    if lows[b] + 1 == lows[b + 1]:
                        best, best_f, best_kind, best_code, best_p = _better(
                            best, best_f, best_kind, best_code, best_p,
                            f, lows[b], below_p, below, here_p, here, n_positive, n, plus, before, log2,
                        )  # fmt: skip
                    elif (
                        floor < 0
                        or _gain(low_p, low, plus, before - ROUNDING, log2) >= floor
                        or _gain(high_p, high, plus, before - ROUNDING, log2) >= floor
                    ):
                        code, listed = codes[f], order[f]
                        inner_p, inner = below_p, below
                        i, stop = starts[b], starts[b + 1]
                        while i < stop:
                            v = code[listed[i]]
                            total = 0
                            while i < stop and code[listed[i]] == v:
                                total += weight[listed[i]]
                                i += 1
                            value_p, value = total >> _CLASS, total & _ROWS
                            if value_p > 0:
                                best, best_f, best_kind, best_code, best_p = _better(
                                    best, best_f, best_kind, best_code, best_p,
                                    f, v, inner_p, inner, value_p, value, n_positive, n, plus, before, log2,
                                )  # fmt: skip
                            inner_p += value_p
                            inner += value
                    if best > floor:
                        floor = best
                        least = _least_share(floor, before, n_positive)
            below_p += here_p
            below += here
    if best_kind == GT:
        best_code = _value_before(best_code, order[best_f], codes[best_f], weight)
    return best_f, best_kind, best_code, best_p


@compiled
def _floor_between(
    counts: IntArray, n: int, n_positive: int, floor: float, plus: int, before: float, log2: FloatArray
) -> tuple[bool, float]:
    """Whether any limit in a column may gain as much as `floor`, and the floor raised by the limits between its buckets.

    The best condition gains as much as such a limit: at the value of the class that is next to it.
    """
    least = _least_share(floor, before, n_positive)
    is_promising = False
    below_p, below = 0, 0
    for count in counts:
        here_p, here = count >> _CLASS, count & _ROWS
        if here_p > 0:
            low_p, high_p = below_p + here_p, n_positive - below_p
            low, high = below + here_p, n - below - here + here_p
            if low_p + plus >= least * (low + plus) or high_p + plus >= least * (high + plus):
                is_promising = True
                gain = max(_gain(low_p, below + here, plus, before, log2), _gain(high_p, n - below, plus, before, log2))
                if gain > max(floor, 0.0):  # with plain counts a limit behind all rows, which gains 0, is no condition
                    floor = gain
                    least = _least_share(floor, before, n_positive)
        below_p += here_p
        below += here
    return is_promising, floor


@compiled
def _least_share(floor: float, before: float, n_positive: int) -> float:
    """Share of the class that a condition must reach to gain `floor`: it keeps at most all rows of the class."""
    return 0.0 if floor < 0 else 2.0 ** (before + floor / n_positive - ROUNDING)


@compiled(inline="always")
def _gain(p: Any, n: int, plus: int, before: float, log2: FloatArray) -> Any:
    return p * (log2[p + plus] - log2[n + plus] - before)


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
def _better(
    best: Any,
    best_f: Any,
    best_kind: Any,
    best_code: Any,
    best_p: Any,
    f: Any,
    v: Any,
    below_p: Any,
    below: Any,
    here_p: Any,
    here: Any,
    n_positive: int,
    n: int,
    plus: int,
    before: Any,
    log2: Any,
) -> tuple[Any, Any, Any, Any, Any]:
    """Weigh the two conditions at a value: at most it, and at least it (KEEL's: above the value before it, see `_value_before`).

    Values without rows of the class are left out: the condition that starts or ends beside them gains more.
    """
    low_p, low = below_p + here_p, below + here
    high_p, high = n_positive - below_p, n - below
    at_most, at_least = _gain(low_p, low, plus, before, log2), _gain(high_p, high, plus, before, log2)
    if plus == 1:
        if at_most > at_least:
            if at_most > best:
                best, best_f, best_kind, best_code, best_p = at_most, f, LE, v, low_p
        elif at_least > best:
            best, best_f, best_kind, best_code, best_p = at_least, f, GE, v, high_p
    elif here == n:
        if best < 0:
            best, best_f, best_kind, best_code, best_p = 0.0, f, EQ, v, n_positive
    else:
        if low < n and at_most > best:
            best, best_f, best_kind, best_code, best_p = at_most, f, LE, v, low_p
        if below > 0 and at_least > best:
            best, best_f, best_kind, best_code, best_p = at_least, f, GT, v, high_p
    return best, best_f, best_kind, best_code, best_p
