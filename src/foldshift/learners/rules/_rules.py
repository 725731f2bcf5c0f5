"""Shared by the rule learners: inputs, the rows that a rule covers, and pruning it.

`_growing` grows rules, `_rulesets` makes rule sets of them.

A rule is an int64 array of shape (n_conditions, 3): column, kind (`LE`, `GE`, `EQ`, `GT`), rank code of the value. Codes
come from `foldshift.learners.trees._presort.presort`, over the whole data set; comparing codes is comparing values.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.core.gate.categorical import nominal_columns
from foldshift.learners.trees._presort import presort
from foldshift.learners.trees.gbm import leave_out

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, StrArray, UnsignedArray
    from foldshift.learners.base import FoldClassifier

LE, GE, EQ, GT = 0, 1, 2, 3
SYMBOLS = ("<=", ">=", "=", ">")
N_BUCKETS = 64  # a numeric column with more values is counted in at most so many stretches
TOLERANCE = 1e-6  # bits; description lengths this close count as equal


class Buckets(NamedTuple):
    """Stretches of about as many rows into which the values of every column are parted, to count in."""

    cells: UnsignedArray  # (n_samples, n_features): bucket of every value; the buckets of all columns are numbered through
    first: IntArray  # (n_features + 1,): first bucket of every column; its last bucket holds nothing and ends the one before
    lows: IntArray  # (n_buckets,): lowest code of every bucket
    starts: IntArray  # (n_buckets,): place in the order of the column where it starts


class Columns(NamedTuple):
    """A data set, sorted, coded and parted into buckets once for all its folds."""

    order: NDArray[np.uint32]  # (n_features, n_samples): rows by ascending value
    codes: NDArray[np.int32]  # (n_features, n_samples): rank code of every value
    values: FloatArray  # (n_features, n_samples): distinct values by code
    n_codes: IntArray  # (n_features,): number of distinct values
    nominal: BoolArray  # (n_features,)
    log2: FloatArray  # (n_samples + 2,): logarithms of 0 (as 0), 1, 2, ...
    buckets: Buckets


class Work(NamedTuple):
    """Arrays that every fit overwrites."""

    order: NDArray[np.uint32]  # (n_features, n_samples): `Columns.order` of the training rows
    removed: NDArray[np.uint32]  # (n_samples,): rows that a new condition does not cover
    active: NDArray[np.uint32]  # (n_samples,): rows that the rule covers
    weight: IntArray  # (n_samples,): of these rows, 0 for others; zeros between rules
    counts: IntArray  # (n_buckets,)
    mask: NDArray[np.int8]  # (n_samples,): 1 for samples that a rule covers
    positive: NDArray[np.int8]  # (n_samples,): 1 for training rows of the class that is learnt


class Target(NamedTuple):
    """A class to learn rules for, against the others."""

    rows: NDArray[np.uint32]  # to learn from
    positive: NDArray[np.int8]  # (n_samples,): 1 for rows of the class
    strata: IntArray  # (n_samples,): rows are split class by class, in the order of these numbers
    n_conditions: float  # number of possible conditions
    rate: float  # expected share of false positives among the exceptions to a rule set


class Settings(NamedTuple):
    """Parameters of the rule learners as the kernels take them."""

    prune_first: bool  # grow on a part and prune on the rest when a rule set is built (RIPPER); optimisation always does
    grow_share: float  # share of the rows to grow on
    n_optimisations: int
    slack_bits: float  # building stops when the description length exceeds the least one so far by more
    polish: bool
    once: bool  # a column is used at most once in a rule
    greedy: bool  # pruning drops the last condition as long as that raises the worth
    on_remaining_rows: bool  # KEEL's bookkeeping, see `RIPPERClassifier`


class RuleList(list[Any]):
    """Rules in the order in which they are tried; prints one per line."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def prepare(X: FloatArray, categorical_features: ArrayLike | None) -> Columns:
    """Sort, code and bucket the columns of a data set once."""
    order, codes, values = presort(X)
    n_codes = codes.max(axis=1).astype(np.int64) + 1
    nominal = nominal_columns(categorical_features, X.shape[1])
    log2 = np.log2(np.maximum(np.arange(len(X) + 2), 1))
    return Columns(order, codes, values, n_codes, nominal, log2, make_buckets(order, codes, n_codes, nominal))


def make_buckets(order: UnsignedArray, codes: NDArray[np.int32], n_codes: IntArray, nominal: BoolArray) -> Buckets:
    """Part the values of every column into buckets.

    Nominal columns, and numeric ones with few values, have one bucket per value.
    """
    n = codes.shape[1]
    n_buckets = min(int(np.sqrt(n)), N_BUCKETS)
    first = [0]
    lows: list[IntArray] = []
    starts: list[IntArray] = []
    bucket_of = []
    for column, code, m, is_nominal in zip(order, codes, n_codes, nominal):
        places = np.searchsorted(code[column], np.arange(m))
        wanted = np.arange(m) if is_nominal or m <= N_BUCKETS else places * n_buckets // n
        opens = np.diff(wanted, prepend=-1) > 0
        bucket_of.append(first[-1] + np.cumsum(opens) - 1)
        lows += [np.flatnonzero(opens), np.array([m])]
        starts += [places[opens], np.array([n])]
        first.append(first[-1] + opens.sum() + 1)
    cells = np.empty(codes.shape[::-1], np.uint16 if first[-1] <= 1 << 16 else np.uint32)
    for f, buckets in enumerate(bucket_of):
        cells[:, f] = buckets[codes[f]]
    return Buckets(cells, np.array(first), np.concatenate(lows).astype(np.int64), np.concatenate(starts).astype(np.int64))


def checked_count(name: str, value: int, least: int) -> int:
    """Return the value as an int; raise ValueError if it is not an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    return int(value)


def condition_text(name: str, kind: int, value: float) -> str:
    """Write a condition, such as ``x2 <= 1.5``."""
    return f"{name} {SYMBOLS[kind]} {value:.12g}"


def names_of(estimator: FoldClassifier) -> StrArray | list[str]:
    """Column names of a fitted estimator: those of the data frame, or x0, x1, ..."""
    return getattr(estimator, "feature_names_in_", [f"x{f}" for f in range(estimator.n_features_in_)])


@compiled
def make_work(columns: Columns) -> Work:
    """Allocate what every fit overwrites."""
    n_features, n_samples = columns.codes.shape
    return Work(
        order=np.empty((n_features, n_samples), np.uint32),
        removed=np.empty(n_samples, np.uint32),
        active=np.empty(n_samples, np.uint32),
        weight=np.zeros(n_samples, np.int64),
        counts=np.zeros(columns.buckets.first[-1], np.int64),
        mask=np.empty(n_samples, np.int8),
        positive=np.zeros(n_samples, np.int8),
    )


@compiled
def start_fold(columns: Columns, in_training: BoolArray, work: Work) -> tuple[NDArray[np.uint32], float]:
    """Filter the sorted columns to the training rows; return these rows and the number of possible conditions.

    Conditions are counted over the values present in training: one per category, two per number.
    """
    order, codes = columns.order, columns.codes
    n_conditions = 0
    n = 0
    for f in range(len(order)):
        n = 0
        last = -1
        distinct = 0
        for i in range(order.shape[1]):
            row = order[f, i]
            if in_training[row]:
                work.order[f, n] = row
                n += 1
                distinct += codes[f, row] != last
                last = codes[f, row]
        n_conditions += distinct if columns.nominal[f] else 2 * distinct
    rows = np.empty(n, np.uint32)
    n = 0
    for i in range(len(in_training)):
        if in_training[i]:
            rows[n] = i
            n += 1
    return rows, float(n_conditions)


@compiled(inline="always")
def meets(kind: int, code: float, bound: float) -> bool:
    """Check whether a code, or a value, meets a condition."""
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
    """Return the rows marked and those not marked, both in order, and the number of marked ones in the class."""
    marked, others = np.empty(len(rows), np.uint32), np.empty(len(rows), np.uint32)
    n, n_others, p = 0, 0, 0
    for row in rows:
        marked[n] = others[n_others] = row
        n += mask[row]
        n_others += 1 - mask[row]
        p += mask[row] & positive[row]
    return marked[:n], others[:n_others], p


@compiled
def split_rows(
    rows: UnsignedArray, strata: IntArray, share: float, state: np.uint64
) -> tuple[UnsignedArray, UnsignedArray, np.uint64]:
    """Split rows at random, stratum by stratum, into rows to grow on and rows to prune on; return the generator's new state, too.

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
