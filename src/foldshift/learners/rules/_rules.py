"""What the rule learners share about one rule: what it covers, and pruning it.

`foldshift.learners.rules._growing` grows rules, `foldshift.learners.rules._rulesets` makes rule sets of them.

A rule is an int64 array of shape (n_conditions, 3): column, kind (`LE`, `GE`, `EQ`, `GT`), rank code of the value. Codes
come from `foldshift.learners.trees._presort.presort` over the whole data set; comparing codes is comparing values.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.categorical import nominal_columns
from foldshift.core.compiling import compiled
from foldshift.learners.trees._presort import presort
from foldshift.learners.trees.gbm import leave_out

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, TableLike, UnsignedArray
    from foldshift.learners.base import FoldClassifier

LE, GE, EQ, GT = 0, 1, 2, 3
SYMBOLS = ("<=", ">=", "=", ">")
N_BUCKETS = 64  # a numeric column with more values is counted in at most so many stretches
TOLERANCE = 1e-6  # bits; description lengths this close count as equal


class RuleList(list):
    """Rules in the order in which they are tried; prints one per line."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def prepare(
    X: FloatArray, categorical_features: ArrayLike | None
) -> tuple[UnsignedArray, NDArray[np.int32], FloatArray, IntArray, BoolArray, FloatArray, tuple[Any, ...]]:
    """What the learners need of a data set, once for all its folds."""
    order, codes, values = presort(X)
    n_codes = codes.max(axis=1).astype(np.int64) + 1
    nominal = nominal_columns(categorical_features, X.shape[1])
    log2 = np.log2(np.maximum(np.arange(len(X) + 2), 1))
    return order, codes, values, n_codes, nominal, log2, make_buckets(order, codes, n_codes, nominal)


def make_buckets(
    order: UnsignedArray, codes: NDArray[np.int32], n_codes: IntArray, nominal: BoolArray
) -> tuple[Array, IntArray, IntArray, IntArray]:
    """Part the values of every column into buckets, stretches of about as many rows, in which growing counts.

    Nominal columns, and numeric ones with few values, have one bucket per value.
    """
    n = codes.shape[1]
    n_buckets = min(int(np.sqrt(n)), N_BUCKETS)
    first, lows, starts, bucket_of = [0], [], [], []
    for column, code, m, is_nominal in zip(order, codes, n_codes, nominal):
        places = np.searchsorted(code[column], np.arange(m))
        wanted = np.arange(m) if is_nominal or m <= N_BUCKETS else places * n_buckets // n
        opens = np.diff(wanted, prepend=-1) > 0
        bucket_of.append(first[-1] + np.cumsum(opens) - 1)
        lows += [np.flatnonzero(opens), [m]]
        starts += [places[opens], [n]]
        first.append(first[-1] + opens.sum() + 1)
    cells = np.empty(codes.shape[::-1], np.uint16 if first[-1] <= 1 << 16 else np.uint32)
    for f, buckets in enumerate(bucket_of):
        cells[:, f] = buckets[codes[f]]
    return cells, np.array(first), np.concatenate(lows).astype(np.int64), np.concatenate(starts).astype(np.int64)


def checked_count(name: str, value: int, least: int) -> int:
    """The value as an int, or a ValueError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    return int(value)


def condition_text(name: str, kind: int, value: float) -> str:
    """A condition in words, such as ``x2 <= 1.5``."""
    return f"{name} {SYMBOLS[kind]} {value:.12g}"


def names_of(estimator: FoldClassifier) -> TableLike:
    """Column names of a fitted estimator: those of the data frame, or x0, x1, ..."""
    return getattr(estimator, "feature_names_in_", [f"x{f}" for f in range(estimator.n_features_in_)])


@compiled
def make_work(data: tuple[Any, ...]) -> tuple[Array, ...]:
    """Arrays that every fit overwrites: training order, rows removed, rows covered, their weights, counts by bucket, mask."""
    n_features, n_samples = data[1].shape
    return (
        np.empty((n_features, n_samples), np.uint32),
        np.empty(n_samples, np.uint32),
        np.empty(n_samples, np.uint32),
        np.zeros(n_samples, np.int64),
        np.zeros(data[6][1][-1], np.int64),
        np.empty(n_samples, np.int8),
    )


@compiled
def start_fold(data: tuple[Any, ...], in_training: BoolArray, work: tuple[Array, ...]) -> tuple[UnsignedArray, float]:
    """Filter the sorted columns to the training rows; return these rows and the number of possible conditions.

    Conditions are counted over the values present in training: one per category, two per number.
    """
    order, codes, nominal = data[0], data[1], data[4]
    base = work[0]
    n_conditions = 0
    n = 0
    for f in range(len(order)):
        n = 0
        last = -1
        distinct = 0
        for i in range(order.shape[1]):
            row = order[f, i]
            if in_training[row]:
                base[f, n] = row
                n += 1
                distinct += codes[f, row] != last
                last = codes[f, row]
        n_conditions += distinct if nominal[f] else 2 * distinct
    rows = np.empty(n, np.uint32)
    n = 0
    for i in range(len(in_training)):
        if in_training[i]:
            rows[n] = i
            n += 1
    return rows, float(n_conditions)


@compiled(inline="always")
def meets(kind: int, code: NDArray[np.int32], bound: int) -> Any:
    """Whether a code meets a condition."""
    if kind == LE:
        return code <= bound
    if kind == GE:
        return code >= bound
    if kind == EQ:
        return code == bound
    return code > bound


@compiled
def mark_covered(rule: IntArray, codes: NDArray[np.int32], mask: NDArray[np.int8]) -> None:
    """Write for every sample, in training or not, whether a rule covers it.

    Condition by condition, as one column after the other can be compared many rows at a time.
    """
    mask[:] = 1
    for j in range(len(rule)):
        kind, bound, code = rule[j, 1], np.int32(rule[j, 2]), codes[rule[j, 0]]
        if kind == LE:
            for i in range(len(mask)):
                mask[i] &= code[i] <= bound
        elif kind == GE:
            for i in range(len(mask)):
                mask[i] &= code[i] >= bound
        elif kind == EQ:
            for i in range(len(mask)):
                mask[i] &= code[i] == bound
        else:
            for i in range(len(mask)):
                mask[i] &= code[i] > bound


@compiled
def part_rows(
    rows: UnsignedArray, positive: NDArray[np.int8], mask: NDArray[np.int8]
) -> tuple[UnsignedArray, UnsignedArray, int]:
    """Rows marked, rows not marked, both in order, and the number of marked ones in the class."""
    marked, others = np.empty(len(rows), np.uint32), np.empty(len(rows), np.uint32)
    n, n_others, p = 0, 0, 0
    for row in rows:
        marked[n] = others[n_others] = row
        n += mask[row]
        n_others += 1 - mask[row]
        p += mask[row] & positive[row]
    return marked[:n], others[:n_others], p


@compiled
def split_rows(rows: UnsignedArray, strata: IntArray, share: float, state: int) -> tuple[UnsignedArray, UnsignedArray, int]:
    """Stratified random split into rows to grow on and rows to prune on.

    The rows of the strata, one stratum after the other, are dealt in turn: with a share of 2/3, every third row is one to
    prune on. Few rows of the first stratum are therefore rather grown on.
    """
    n, n_strata = len(rows), 0
    for row in rows:
        n_strata = max(n_strata, strata[row] + 1)
    ends = np.zeros(n_strata + 1, np.int64)
    for row in rows:
        ends[strata[row] + 1] += 1
    for c in range(n_strata):
        ends[c + 1] += ends[c]
    sorted_rows = np.empty(n, np.uint32)
    filled = ends.copy()
    for row in rows:
        sorted_rows[filled[strata[row]]] = row
        filled[strata[row]] += 1
    n_pruning = int((1.0 - share) * n + TOLERANCE)
    growing, pruning = np.empty(n - n_pruning, np.uint32), np.empty(n_pruning, np.uint32)
    p = 0
    for c in range(n_strata):
        part = sorted_rows[ends[c] : ends[c + 1]]
        k = int((1.0 - share) * ends[c + 1] + TOLERANCE) - p
        state = leave_out(part, k, state)
        pruning[p : p + k] = part[:k]
        growing[ends[c] - p : ends[c + 1] - p - k] = part[k:]
        p += k
    return growing, pruning, state


@compiled
def prune(
    rule: IntArray, rows: UnsignedArray, positive: NDArray[np.int8], codes: NDArray[np.int32], whole: bool, greedy: bool
) -> IntArray:
    """Cut a rule behind its best condition, or leave it whole if no cut beats the empty rule.

    The worth of a cut rule is its precision on the pruning rows, (p + 1) / (p + n + 2): Cohen's (p - n) / (p + n) in the
    same order, corrected for few rows. With `whole`, it is the accuracy over all pruning rows. With `greedy`, pruning is
    KEEL's: the last condition goes as long as that raises the worth, and the first one stays.
    """
    k, total = len(rule), len(rows)
    if total == 0 or k == 0:
        return rule
    n_positive = 0
    for row in rows:
        n_positive += positive[row]
    left, m = rows.copy(), total
    worth = np.empty(k)
    for j in range(k):
        kind, bound, code = rule[j, 1], rule[j, 2], codes[rule[j, 0]]
        kept, p = 0, 0
        for i in range(m):
            row = left[i]
            left[kept] = row
            met = meets(kind, code[row], bound)
            kept += met
            p += met & positive[row]
        m, n = kept, kept - p
        worth[j] = (p + total - n_positive - n) / total if whole else (p + 1.0) / (p + n + 2.0)
    if greedy:
        keep = k
        while keep > 1 and worth[keep - 2] > worth[keep - 1]:
            keep -= 1
        return rule[:keep]
    best, keep = (n_positive + 1.0) / (total + 2.0), k
    for j in range(k):
        if worth[j] > best:
            best, keep = worth[j], j + 1
    return rule[:keep]
