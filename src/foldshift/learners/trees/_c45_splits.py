"""Shared by C4.5 and PART: columns sorted once per data set, the choice of a split, the parting of rows, pessimistic errors."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from foldshift.core.compiling import compiled
from foldshift.core.gate.categorical import nominal_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, UnsignedArray

SAME_VALUE = 1e-5  # two values this near are never parted (Quinlan's release 8, and J48)
TOLERANCE = 1e-6  # gains, gain ratios and errors this near count as equal (J48)
GAIN_SLACK = 1e-3  # a split may gain this much less than the mean gain (release 8)
PRUNING_SLACK = 0.1  # a simpler tree may have this many estimated errors more (release 8)
MOST_CUT_SAMPLES = 25.0  # most samples that a numeric split needs on either side (release 8)

# Columns of the table that describes a tree while it grows, one row per node. Children of a node are neighbours.
FEATURE, FIRST, N_CHILDREN, START, STOP, PARENT, NEXT, WIDEST, ORDER = range(9)


class Columns(NamedTuple):
    """A data set, sorted and coded once for all fits."""

    values: FloatArray  # (n_features, n_samples); nominal columns hold category codes
    is_nominal: BoolArray  # (n_features,)
    slots: IntArray  # (n_features,): row of a numeric column in `order`, of a nominal one in `codes`
    order: NDArray[np.uint32]  # (n_numeric, n_samples): rows by ascending value, ties in row order
    codes: NDArray[np.int32]  # (n_nominal, n_samples)
    labels: NDArray[np.int32]  # (n_samples,): class codes


class Work(NamedTuple):
    """Arrays that every fit overwrites."""

    # Training rows in ascending order of every numeric column and, in the last row, in any order; (n_numeric + 1, n_samples).
    # A node owns the same stretch of all of them.
    lists: NDArray[np.uint32]
    buffer: NDArray[np.uint32]  # (n_samples,)
    branch: NDArray[np.int32]  # (n_samples,): branch that every row takes
    terms: FloatArray  # (n_samples + 1,): k log2(k)
    by_value: IntArray  # (n_values, n_classes): counts by category and class
    offsets: IntArray  # (n_values + 1,)
    gains: FloatArray  # (n_features,): negative where a column has no split
    ratios: FloatArray  # (n_features,): gain ratios
    cuts: IntArray  # (n_features,): rows on the left of the best cut
    n_values: IntArray  # (2, n_features): highest category code + 1, and number of categories, in training


class Nodes(NamedTuple):
    """Tables of a tree, one row per node; the columns of `table` are named above."""

    table: IntArray  # (n_nodes, 9)
    thresholds: FloatArray  # (n_nodes,)
    counts: IntArray  # (n_nodes, n_classes)
    errors: FloatArray  # (n_nodes,)


class Present(NamedTuple):
    """Number of classes and of rows in training."""

    n_classes: int
    n_rows: int


class SplitRules(NamedTuple):
    """Rules for choosing a split; see the parameters of `C45Classifier`."""

    min_samples: int
    mdl_correction: bool
    cut_above_5_needs_25: bool


class ErrorLimit(NamedTuple):
    """Confidence of the upper limit of an error rate, and the standard normal quantile that is exceeded with this probability."""

    confidence: float
    quantile: float


class _Classes(NamedTuple):
    """Classes of the rows of a node: their labels by row, their counts, their entropy times their number, its terms k log2(k)."""

    labels: NDArray[np.int32]
    counts: IntArray
    entropy: float
    terms: FloatArray


def check_parameters(confidence: float, min_samples: int) -> None:
    """Raise ValueError for a `confidence` outside ]0, 0.5] and a `min_samples` that is not an integer of at least 1."""
    if isinstance(confidence, bool) or not isinstance(confidence, numbers.Real) or not 0 < confidence <= 0.5:
        raise ValueError(f"confidence={confidence!r} must be a number above 0 and at most 0.5")
    if isinstance(min_samples, bool) or not isinstance(min_samples, numbers.Integral) or min_samples < 1:
        raise ValueError(f"min_samples={min_samples!r} must be an integer of at least 1")


def error_limit(confidence: float) -> ErrorLimit:
    """Look up the normal quantile of a confidence."""
    return ErrorLimit(float(confidence), float(-ndtri(confidence)))


def prepare(X: FloatArray, labels: IntArray, categorical_features: ArrayLike | None) -> Columns:
    """Sort and code the columns of a data set once."""
    is_nominal = nominal_columns(categorical_features, X.shape[1])
    slots = np.where(is_nominal, np.cumsum(is_nominal), np.cumsum(~is_nominal)) - 1
    columns = np.ascontiguousarray(X.T)
    for f in np.flatnonzero(is_nominal):
        wrong = (columns[f] < 0) | (columns[f] != np.floor(columns[f])) | (columns[f] > np.iinfo(np.int32).max - 1)
        if wrong.any():
            raise ValueError(
                f"nominal column {f} holds {columns[f][wrong][0]}; categories must be coded 0, 1, 2, ... (or leave the column "
                "out of categorical_features)"
            )
    order = np.argsort(columns[~is_nominal], axis=1, kind="stable").astype(np.uint32)
    return Columns(columns, is_nominal, slots, order, columns[is_nominal].astype(np.int32), labels.astype(np.int32))


@compiled
def make_work(columns: Columns, n_classes: int) -> Work:
    """Allocate what every fit overwrites."""
    n_features, n = columns.values.shape
    codes = columns.codes
    most_values = 2
    for s in range(len(codes)):
        for i in range(n):
            most_values = max(most_values, codes[s, i] + 1)
    terms = np.zeros(n + 1)
    for k in range(2, n + 1):
        terms[k] = k * np.log2(k)
    return Work(
        lists=np.empty((len(columns.order) + 1, n), np.uint32),
        buffer=np.empty(n, np.uint32),
        branch=np.empty(n, np.int32),
        terms=terms,
        by_value=np.empty((most_values, n_classes), np.int64),
        offsets=np.empty(most_values + 1, np.int64),
        gains=np.empty(n_features),
        ratios=np.empty(n_features),
        cuts=np.empty(n_features, np.int64),
        n_values=np.empty((2, n_features), np.int64),
    )


@compiled
def make_nodes(n_nodes: int, n_classes: int) -> Nodes:
    """Allocate the tables of a tree."""
    return Nodes(
        table=np.empty((n_nodes, 9), np.int64),
        thresholds=np.empty(n_nodes),
        counts=np.empty((n_nodes, n_classes), np.int64),
        errors=np.empty(n_nodes),
    )


@compiled
def with_room(nodes: Nodes, n_nodes: int, n_more: int) -> Nodes:
    """Move the tables to larger ones if `n_more` nodes do not fit behind the first `n_nodes`."""
    if n_nodes + n_more <= len(nodes.table):
        return nodes
    larger = make_nodes(2 * (n_nodes + n_more), nodes.counts.shape[1])
    larger.table[:n_nodes] = nodes.table[:n_nodes]
    larger.thresholds[:n_nodes] = nodes.thresholds[:n_nodes]
    larger.counts[:n_nodes] = nodes.counts[:n_nodes]
    larger.errors[:n_nodes] = nodes.errors[:n_nodes]
    return larger


@compiled
def set_node(node: int, parent: int, start: int, stop: int, nodes: Nodes) -> None:
    """Enter a leaf; the caller fills its class counts."""
    table = nodes.table
    table[node, FEATURE], table[node, FIRST], table[node, N_CHILDREN], table[node, NEXT] = -1, -1, 0, 0
    table[node, START], table[node, STOP], table[node, PARENT] = start, stop, parent


@compiled
def set_root(n: int, chosen: BoolArray, columns: Columns, nodes: Nodes) -> None:
    """Enter a root of the n rows chosen, with its class counts."""
    labels = columns.labels
    set_node(0, -1, 0, n, nodes)
    nodes.counts[0] = 0
    for i in range(len(labels)):
        if chosen[i]:
            nodes.counts[0, labels[i]] += 1


@compiled
def count_values(columns: Columns, in_training: BoolArray, n_classes: int, work: Work) -> Present:
    """Count the categories of every nominal column in training, and the classes and rows there.

    Categories and classes without a training row must not matter: a model must not depend on what the rest of the data hold.
    """
    is_nominal, labels = columns.is_nominal, columns.labels
    n_values, seen = work.n_values, work.offsets
    n_training = 0
    in_use = np.zeros(n_classes, np.bool_)
    for i in range(len(labels)):
        if in_training[i]:
            n_training += 1
            in_use[labels[i]] = True
    for f in range(len(is_nominal)):
        n_values[:, f] = 0
        if is_nominal[f]:
            code = columns.codes[columns.slots[f]]
            seen[:] = 0
            for i in range(len(labels)):
                if in_training[i]:
                    seen[code[i]] = 1
            for v in range(len(seen) - 1):
                if seen[v]:
                    n_values[0, f] = v + 1
                    n_values[1, f] += 1
    return Present(in_use.sum(), n_training)


@compiled
def fill_lists(order: UnsignedArray, chosen: BoolArray, lists: UnsignedArray) -> int:
    """Write the chosen rows into every list."""
    n = 0
    for s in range(len(order)):
        rows, wanted = order[s], lists[s]
        n = 0
        for i in range(len(rows)):
            # Write always, step on only for chosen rows: a branch would often be mispredicted.
            wanted[n] = rows[i]
            n += chosen[rows[i]]
    n = 0
    for i in range(len(chosen)):
        lists[-1, n] = i
        n += chosen[i]
    return n


@compiled
def is_splittable(counts: IntArray, min_samples: int) -> bool:
    """Check whether a node has enough samples for two sides, and more than one class."""
    n = counts.sum()
    return n >= 2 * min_samples and counts.max() < n


@compiled
def best_split(node: int, nodes: Nodes, present: Present, columns: Columns, work: Work, rules: SplitRules) -> tuple[int, int]:
    """Choose the split of a splittable node with the best gain ratio among those with about average gain or more.

    Returns its feature (-1 if there is none), and the rows on the left of a numeric split.
    """
    counts, terms = nodes.counts[node], work.terms
    gains, ratios, n_values, lists = work.gains, work.ratios, work.n_values, work.lists
    start, stop = nodes.table[node, START], nodes.table[node, STOP]
    entropy = terms[stop - start]
    for k in range(len(counts)):
        entropy -= terms[counts[k]]
    classes = _Classes(columns.labels, counts, entropy, terms)
    cut_samples = _cut_samples(stop - start, present.n_classes, rules)
    is_nominal, slots = columns.is_nominal, columns.slots
    many = 0.3 * present.n_rows  # a column with as many categories does not count in the mean, unless all are like that
    all_many_valued = True
    for f in range(len(slots)):
        if not is_nominal[f] or n_values[1, f] < many:
            all_many_valued = False
    total_gain, n_models = 0.0, 0
    for f in range(len(slots)):
        if is_nominal[f]:
            by_value = work.by_value[: n_values[0, f]]
            gains[f], ratios[f] = _nominal_gain(
                columns.codes[slots[f]], lists[-1, start:stop], classes, by_value, rules.min_samples
            )
        else:
            gains[f], ratios[f], work.cuts[f] = _numeric_gain(
                columns.values[f], lists[slots[f], start:stop], classes, cut_samples, rules.mdl_correction, work.by_value[0]
            )
        if gains[f] >= 0 and (not is_nominal[f] or all_many_valued or n_values[1, f] < many):
            total_gain += gains[f]
            n_models += 1
    best, best_ratio = -1, 0.0
    if n_models > 0:
        for f in range(len(is_nominal)):
            if gains[f] >= 0 and gains[f] >= total_gain / n_models - GAIN_SLACK and ratios[f] > best_ratio + TOLERANCE:
                best, best_ratio = f, ratios[f]
    return best, 0 if best < 0 or is_nominal[best] else work.cuts[best]


@compiled
def _cut_samples(n: int, n_classes: int, rules: SplitRules) -> float:
    """Samples that a numeric split needs on either side: a tenth of the mean class size, within limits."""
    needed = 0.1 * n / n_classes
    if needed <= rules.min_samples:
        return float(rules.min_samples)
    if needed > MOST_CUT_SAMPLES or (rules.cut_above_5_needs_25 and needed > 5):
        return MOST_CUT_SAMPLES
    return needed


@compiled
def _nominal_gain(
    code: NDArray[np.int32], rows: UnsignedArray, classes: _Classes, by_value: IntArray, min_samples: int
) -> tuple[float, float]:
    """Gain of the split by category, -1 if there is none, and gain ratio; `by_value` is overwritten."""
    terms, n = classes.terms, len(rows)
    by_value[:] = 0
    for row in rows:
        by_value[code[row], classes.labels[row]] += 1
    n_large = 0
    after = 0.0
    information = terms[n]
    for v in range(len(by_value)):
        n_here = 0
        for k in range(by_value.shape[1]):
            n_here += by_value[v, k]
            after -= terms[by_value[v, k]]
        after += terms[n_here]
        information -= terms[n_here]
        n_large += n_here >= min_samples
    if n_large < 2:
        return -1.0, 0.0
    gain = (classes.entropy - after) / n if classes.entropy - after >= TOLERANCE else 0.0
    return gain, gain * n / information


@compiled
def _numeric_gain(
    column: FloatArray, rows: UnsignedArray, classes: _Classes, cut_samples: float, mdl_correction: bool, left: IntArray
) -> tuple[float, float, int]:
    """Gain of the best cut of a numeric column, -1 if there is none, gain ratio, and rows on the left of it."""
    terms, n = classes.terms, len(rows)
    if n < 2 * cut_samples or column[rows[0]] + SAME_VALUE >= column[rows[n - 1]]:
        return -1.0, 0.0, 0
    least = int(np.ceil(cut_samples))
    first = least
    if column[rows[least]] == column[rows[0]]:
        first = _n_equal(column, rows)  # often most of them: zeros
    if len(left) == 2:
        n_left, after, n_cuts = _best_cut_of_two(column, rows, classes, first, n - least)
    else:
        n_left, after, n_cuts = _best_cut(column, rows, classes, first, n - least, left)
    if n_cuts == 0:
        return -1.0, 0.0, 0
    gain = (classes.entropy - after) / n
    if mdl_correction:
        gain -= np.log2(n_cuts) / n
    if gain <= TOLERANCE:
        return -1.0, 0.0, 0
    return gain, gain * n / (terms[n] - terms[n_left] - terms[n - n_left]), n_left


@compiled
def _best_cut_of_two(column: FloatArray, rows: UnsignedArray, classes: _Classes, first: int, last: int) -> tuple[int, float, int]:
    """Cut, between `first` and `last` rows on the left, that leaves least entropy of two classes; number of possible cuts."""
    labels, terms = classes.labels, classes.terms
    n, n_ones = len(rows), classes.counts[1]
    best, best_after, n_cuts = 0, classes.entropy, 0
    ones = 0
    if 2 * first < n:
        for i in range(first - 1):
            ones += labels[rows[i]]
    else:
        ones = n_ones
        for i in range(first - 1, n):
            ones -= labels[rows[i]]
    value = column[rows[first - 1]]
    for n_left in range(first, last + 1):
        ones += labels[rows[n_left - 1]]
        next_value = column[rows[n_left]]
        if value + SAME_VALUE < next_value:
            n_cuts += 1
            right, right_ones = n - n_left, n_ones - ones
            after = terms[n_left] - terms[ones] - terms[n_left - ones]
            after += terms[right] - terms[right_ones] - terms[right - right_ones]
            if after < best_after - TOLERANCE * n:
                best_after = after
                best = n_left
        value = next_value
    return best, best_after, n_cuts


@compiled
def _best_cut(
    column: FloatArray, rows: UnsignedArray, classes: _Classes, first: int, last: int, left: IntArray
) -> tuple[int, float, int]:
    """Cut that leaves least entropy of any number of classes; otherwise as `_best_cut_of_two`. `left` is overwritten."""
    labels, counts, terms = classes.labels, classes.counts, classes.terms
    n = len(rows)
    best, best_after, n_cuts = 0, classes.entropy, 0
    left[:] = 0
    for i in range(first - 1):
        left[labels[rows[i]]] += 1
    value = column[rows[first - 1]]
    for n_left in range(first, last + 1):
        left[labels[rows[n_left - 1]]] += 1
        next_value = column[rows[n_left]]
        if value + SAME_VALUE < next_value:
            n_cuts += 1
            after = terms[n_left] + terms[n - n_left]
            for k in range(len(left)):
                after -= terms[left[k]] + terms[counts[k] - left[k]]
            if after < best_after - TOLERANCE * n:
                best_after = after
                best = n_left
        value = next_value
    return best, best_after, n_cuts


@compiled
def _n_equal(column: FloatArray, rows: UnsignedArray) -> int:
    """Number of rows that have the value of the first, which is the smallest."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if column[rows[middle]] == column[rows[0]]:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _threshold_between(low: float, high: float, column: FloatArray, rows: UnsignedArray, known: BoolArray) -> float:
    """Largest known value of a column that is not above the middle of two values, of which `low` is known."""
    middle = (low + high) / 2
    if middle >= high or not middle >= low:  # neighbouring floats; an overflow
        middle = low
    lo, hi = 0, len(rows)
    while lo < hi:
        at = (lo + hi) // 2
        if column[rows[at]] <= middle:
            lo = at + 1
        else:
            hi = at
    at = lo - 1
    while not known[rows[at]]:
        at -= 1
    return column[rows[at]]


@compiled
def add_children(
    node: int,
    n_nodes: int,
    split: tuple[int, int],
    known: BoolArray,
    columns: Columns,
    work: Work,
    nodes: Nodes,
    min_samples: int,
) -> Nodes:
    """Split a node: enter its children behind the first `n_nodes` nodes, part its rows; return the tables.

    `split` comes from `best_split`. The sorted lists are parted only if a child can be split again.
    """
    feature, n_left = split
    lists, branch, labels, buffer = work.lists, work.branch, columns.labels, work.buffer
    is_nominal, slot = columns.is_nominal[feature], columns.slots[feature]
    n_children = work.n_values[0, feature] if is_nominal else 2
    nodes = with_room(nodes, n_nodes, n_children)
    table, counts = nodes.table, nodes.counts
    start, stop = table[node, START], table[node, STOP]
    nodes.thresholds[node] = np.nan
    if is_nominal:
        code = columns.codes[slot]
        for i in range(start, stop):
            branch[lists[-1, i]] = code[lists[-1, i]]
    else:
        rows, column = lists[slot], columns.values[feature]
        for i in range(start, stop):
            branch[rows[i]] = i >= start + n_left
        low, high = column[rows[start + n_left - 1]], column[rows[start + n_left]]
        nodes.thresholds[node] = _threshold_between(low, high, column, columns.order[slot], known)
    counts[n_nodes : n_nodes + n_children] = 0
    for i in range(start, stop):
        row = lists[-1, i]
        counts[n_nodes + branch[row], labels[row]] += 1
    at = start
    needed = False
    for c in range(n_children):
        child = n_nodes + c
        size = counts[child].sum()
        set_node(child, node, at, at + size, nodes)
        at += size
        needed |= is_splittable(counts[child], min_samples)
    table[node, FEATURE], table[node, FIRST], table[node, N_CHILDREN] = feature, n_nodes, n_children
    for s in range(0 if needed else len(lists) - 1, len(lists)):
        if s == slot and not is_nominal:
            continue
        rows = lists[s]
        if n_children == 2:
            at, n_right = start, 0
            for i in range(start, stop):
                row = rows[i]
                rows[at] = row
                buffer[n_right] = row
                at += 1 - branch[row]
                n_right += branch[row]
            rows[at:stop] = buffer[:n_right]
        else:
            part_rows(rows, start, stop, table[n_nodes : n_nodes + n_children, START], work)
    return nodes


@compiled
def part_rows(rows: UnsignedArray, start: int, stop: int, starts: IntArray, work: Work) -> None:
    """Bring the rows of each branch together, in their order; `starts` says where each branch begins."""
    branch, offsets, buffer = work.branch, work.offsets, work.buffer
    offsets[: len(starts)] = starts
    for i in range(start, stop):
        b = branch[rows[i]]
        buffer[offsets[b]] = rows[i]
        offsets[b] += 1
    rows[start:stop] = buffer[start:stop]


@compiled
def leaf_errors(counts: IntArray, limit: ErrorLimit) -> float:
    """Errors of a leaf, with the addition that makes them pessimistic (Quinlan's, in J48's form).

    The addition brings the observed errors to the upper limit of their binomial proportion: exactly for none, by the normal
    approximation with continuity correction for one or more.
    """
    n = counts.sum()
    if n == 0:
        return 0.0
    n_errors = n - counts.max()
    if n_errors == 0:
        return n * (1.0 - limit.confidence ** (1.0 / n))
    if n_errors + 0.5 >= n:
        return float(n)
    f = (n_errors + 0.5) / n
    z2 = limit.quantile * limit.quantile
    return n * (f + z2 / (2 * n) + limit.quantile * np.sqrt(f / n - f * f / n + z2 / (4.0 * n * n))) / (1 + z2 / n)
