"""What C4.5 and PART share: columns sorted once per data set, the choice of a split, the parting of rows, pessimistic errors."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from foldshift.core.categorical import nominal_columns
from foldshift.core.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray

SAME_VALUE = 1e-5  # two values this near are never parted (Quinlan's release 8, and J48)
TOLERANCE = 1e-6  # gains, gain ratios and errors this near count as equal (J48)
GAIN_SLACK = 1e-3  # a split may gain this much less than the mean gain (release 8)
PRUNING_SLACK = 0.1  # a simpler tree may have this many estimated errors more (release 8)
MOST_CUT_SAMPLES = 25.0  # most samples that a numeric split needs on either side (release 8)

# Columns of the table that describes a tree while it grows, one row per node. Children of a node are neighbours.
FEATURE, FIRST, N_CHILDREN, START, STOP, PARENT, NEXT, WIDEST, ORDER = range(9)


def check_parameters(confidence: float, min_samples: int) -> None:
    """Raise ValueError for a `confidence` outside ]0, 0.5] and a `min_samples` that is no integer of at least 1."""
    if isinstance(confidence, bool) or not isinstance(confidence, numbers.Real) or not 0 < confidence <= 0.5:
        raise ValueError(f"confidence={confidence!r} must be a number above 0 and at most 0.5")
    if isinstance(min_samples, bool) or not isinstance(min_samples, numbers.Integral) or min_samples < 1:
        raise ValueError(f"min_samples={min_samples!r} must be an integer of at least 1")


def upper_quantile(confidence: float) -> float:
    """Standard normal quantile that is exceeded with probability `confidence`."""
    return float(-ndtri(confidence))


def prepare(X: FloatArray, labels: IntArray, categorical_features: ArrayLike | None) -> tuple[Array, ...]:
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
    return columns, is_nominal, slots, order, columns[is_nominal].astype(np.int32), labels.astype(np.int32)


@compiled
def make_work(data: tuple[Array, ...], n_classes: int) -> tuple[Array, ...]:
    """Arrays that every fit overwrites.

    ``lists`` holds, for every numeric column, the training rows in ascending order, and in its last row the training rows in any
    order; a node owns the same stretch of all of them. The others: buffer and branch of every row, k log2(k), counts by category
    and class, offsets, gains, gain ratios, positions of the best cuts, and number of categories (highest code + 1, and
    those that occur) in the training rows.
    """
    columns, _, _, order, codes, _ = data
    n_features, n = columns.shape
    most_values = 2
    for s in range(len(codes)):
        for i in range(n):
            most_values = max(most_values, codes[s, i] + 1)
    entropy_terms = np.zeros(n + 1)
    for k in range(2, n + 1):
        entropy_terms[k] = k * np.log2(k)
    return (
        np.empty((len(order) + 1, n), np.uint32),
        np.empty(n, np.uint32),
        np.empty(n, np.int32),
        entropy_terms,
        np.empty((most_values, n_classes), np.int64),
        np.empty(most_values + 1, np.int64),
        np.empty(n_features),
        np.empty(n_features),
        np.empty(n_features, np.int64),
        np.empty((2, n_features), np.int64),
    )


@compiled
def make_tables(n_nodes: int, n_classes: int) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Empty tables of a tree: integers, thresholds, class counts, estimated errors."""
    return (
        np.empty((n_nodes, 9), np.int64),
        np.empty(n_nodes),
        np.empty((n_nodes, n_classes), np.int64),
        np.empty(n_nodes),
    )


@compiled
def with_room(
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray], n_nodes: int, n_more: int
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """The tables, moved to larger ones if `n_more` nodes do not fit behind the first `n_nodes`."""
    table, thresholds, counts, errors = tables
    if n_nodes + n_more <= len(table):
        return tables
    larger = make_tables(2 * (n_nodes + n_more), counts.shape[1])
    larger[0][:n_nodes] = table[:n_nodes]
    larger[1][:n_nodes] = thresholds[:n_nodes]
    larger[2][:n_nodes] = counts[:n_nodes]
    larger[3][:n_nodes] = errors[:n_nodes]
    return larger


@compiled
def set_node(node: int, parent: int, start: int, stop: int, tables: tuple[IntArray, FloatArray, IntArray, FloatArray]) -> None:
    """Enter a leaf; its class counts are the caller's to fill."""
    table = tables[0]
    table[node, FEATURE], table[node, FIRST], table[node, N_CHILDREN], table[node, NEXT] = -1, -1, 0, 0
    table[node, START], table[node, STOP], table[node, PARENT] = start, stop, parent


@compiled
def count_values(data: tuple[Array, ...], in_training: BoolArray, n_classes: int, work: tuple[Array, ...]) -> tuple[int, int]:
    """Count the categories of every nominal column in training; return the number of classes and of rows there.

    Categories and classes without a training row must not matter: a model must not depend on what the rest of the data hold.
    """
    _, is_nominal, slots, _, codes, labels = data
    n_values, seen = work[9], work[5]
    n_training = 0
    in_use = np.zeros(n_classes, np.bool_)
    for i in range(len(labels)):
        if in_training[i]:
            n_training += 1
            in_use[labels[i]] = True
    for f in range(len(is_nominal)):
        n_values[:, f] = 0
        if is_nominal[f]:
            seen[:] = 0
            for i in range(len(labels)):
                if in_training[i]:
                    seen[codes[slots[f], i]] = 1
            for v in range(len(seen) - 1):
                if seen[v]:
                    n_values[0, f] = v + 1
                    n_values[1, f] += 1
    return in_use.sum(), n_training


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
    """Whether a node has samples enough for two sides, and more than one class."""
    n = counts.sum()
    return n >= 2 * min_samples and counts.max() < n


@compiled
def best_split(
    start: int,
    stop: int,
    node_counts: IntArray,
    n_in_use: int,
    n_training: int,
    data: tuple[Array, ...],
    work: tuple[Array, ...],
    min_samples: int,
    mdl_correction: bool,
    jump: bool,
) -> tuple[int, int]:
    """Split of a node with the best gain ratio among those with about average gain or more."""
    columns, is_nominal, slots, _, codes, labels = data
    lists, _, _, terms, by_value, _, gains, ratios, positions, n_values = work
    n, n_classes = stop - start, len(node_counts)
    before = terms[n]
    for k in range(n_classes):
        before -= terms[node_counts[k]]
    n_cut = 0.1 * n / n_in_use
    if n_cut <= min_samples:
        n_cut = float(min_samples)
    elif n_cut > MOST_CUT_SAMPLES or (jump and n_cut > 5):
        n_cut = MOST_CUT_SAMPLES
    least = int(np.ceil(n_cut))
    all_many_valued = True
    for f in range(len(slots)):
        if not is_nominal[f] or n_values[1, f] < 0.3 * n_training:
            all_many_valued = False
    total_gain, n_models = 0.0, 0
    left = by_value[0]
    for f in range(len(slots)):
        gains[f] = -1.0
        gain = 0.0
        if is_nominal[f]:
            m = n_values[0, f]
            by_value[:m] = 0
            code = codes[slots[f]]
            for i in range(start, stop):
                row = lists[-1, i]
                by_value[code[row], labels[row]] += 1
            n_large = 0
            after = 0.0
            information = terms[n]
            for v in range(m):
                n_here = 0
                for k in range(n_classes):
                    n_here += by_value[v, k]
                    after -= terms[by_value[v, k]]
                after += terms[n_here]
                information -= terms[n_here]
                n_large += n_here >= min_samples
            if n_large < 2:
                continue
            gain = (before - after) / n if before - after >= TOLERANCE else 0.0
            ratios[f] = gain * n / information
        else:
            column, rows = columns[f], lists[slots[f]]
            if n < 2 * n_cut or column[rows[start]] + SAME_VALUE >= column[rows[stop - 1]]:
                continue
            n_cuts = 0
            best_after = before
            from_ = least
            if column[rows[start + least]] == column[rows[start]]:
                from_ = _n_equal(column, rows[start:stop])  # often most of them: zeros
            value = column[rows[start + from_ - 1]]
            if n_classes == 2:
                ones, n_ones = 0, node_counts[1]
                if 2 * from_ < n:
                    for i in range(start, start + from_ - 1):
                        ones += labels[rows[i]]
                else:
                    ones = n_ones
                    for i in range(start + from_ - 1, stop):
                        ones -= labels[rows[i]]
                for n_left in range(from_, n - least + 1):
                    ones += labels[rows[start + n_left - 1]]
                    next_value = column[rows[start + n_left]]
                    if value + SAME_VALUE < next_value:
                        n_cuts += 1
                        right, right_ones = n - n_left, n_ones - ones
                        after = terms[n_left] - terms[ones] - terms[n_left - ones]
                        after += terms[right] - terms[right_ones] - terms[right - right_ones]
                        if after < best_after - TOLERANCE * n:
                            best_after = after
                            positions[f] = n_left
                    value = next_value
            else:
                left[:] = 0
                for i in range(start, start + from_ - 1):
                    left[labels[rows[i]]] += 1
                for n_left in range(from_, n - least + 1):
                    left[labels[rows[start + n_left - 1]]] += 1
                    next_value = column[rows[start + n_left]]
                    if value + SAME_VALUE < next_value:
                        n_cuts += 1
                        after = terms[n_left] + terms[n - n_left]
                        for k in range(n_classes):
                            after -= terms[left[k]] + terms[node_counts[k] - left[k]]
                        if after < best_after - TOLERANCE * n:
                            best_after = after
                            positions[f] = n_left
                    value = next_value
            if n_cuts == 0:
                continue
            gain = (before - best_after) / n
            if mdl_correction:
                gain -= np.log2(n_cuts) / n
            if gain <= TOLERANCE:
                continue
            n_left = positions[f]
            ratios[f] = gain * n / (terms[n] - terms[n_left] - terms[n - n_left])
        gains[f] = gain
        if not is_nominal[f] or all_many_valued or n_values[1, f] < 0.3 * n_training:
            total_gain += gain
            n_models += 1
    best, best_ratio = -1, 0.0
    if n_models > 0:
        for f in range(len(slots)):
            if gains[f] >= 0 and gains[f] >= total_gain / n_models - GAIN_SLACK and ratios[f] > best_ratio + TOLERANCE:
                best, best_ratio = f, ratios[f]
    return best, 0 if best < 0 or is_nominal[best] else positions[best]


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
def threshold_between(
    slot: int, low: float, high: float, columns_row: FloatArray, order: UnsignedArray, known: BoolArray
) -> float:
    """Largest known value of a column that is not above the middle of two values, of which `low` is known."""
    middle = (low + high) / 2
    if middle >= high or not middle >= low:  # neighbouring floats; an overflow
        middle = low
    rows = order[slot]
    lo, hi = 0, len(rows)
    while lo < hi:
        at = (lo + hi) // 2
        if columns_row[rows[at]] <= middle:
            lo = at + 1
        else:
            hi = at
    at = lo - 1
    while not known[rows[at]]:
        at -= 1
    return columns_row[rows[at]]


@compiled
def add_children(
    node: int,
    n_nodes: int,
    feature: int,
    n_left: int,
    known: BoolArray,
    data: tuple[Array, ...],
    work: tuple[Array, ...],
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
    min_samples: int,
    only_needed: bool,
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Split a node: enter its children behind the first `n_nodes` nodes, part its rows; return the tables.

    With `only_needed`, the sorted lists are parted only if a child can be split again.
    """
    columns, is_nominal, slots, order, codes, labels = data
    lists, buffer, branch, _, _, offsets, _, _, _, n_values = work
    n_children = n_values[0, feature] if is_nominal[feature] else 2
    tables = with_room(tables, n_nodes, n_children)
    table, thresholds, counts, _ = tables
    start, stop = table[node, START], table[node, STOP]
    slot = slots[feature]
    thresholds[node] = np.nan
    if is_nominal[feature]:
        for i in range(start, stop):
            branch[lists[-1, i]] = codes[slot, lists[-1, i]]
    else:
        rows = lists[slot]
        for i in range(start, stop):
            branch[rows[i]] = i >= start + n_left
        low, high = columns[feature, rows[start + n_left - 1]], columns[feature, rows[start + n_left]]
        thresholds[node] = threshold_between(slot, low, high, columns[feature], order, known)
    counts[n_nodes : n_nodes + n_children] = 0
    for i in range(start, stop):
        row = lists[-1, i]
        counts[n_nodes + branch[row], labels[row]] += 1
    at = start
    needed = not only_needed
    for c in range(n_children):
        child = n_nodes + c
        size = counts[child].sum()
        set_node(child, node, at, at + size, tables)
        at += size
        needed |= is_splittable(counts[child], min_samples)
    table[node, FEATURE], table[node, FIRST], table[node, N_CHILDREN] = feature, n_nodes, n_children
    for s in range(0 if needed else len(lists) - 1, len(lists)):
        if s == slot and not is_nominal[feature]:
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
            part_rows(rows, start, stop, branch, table[n_nodes : n_nodes + n_children, START], offsets, buffer)
    return tables


@compiled
def part_rows(
    rows: UnsignedArray,
    start: int,
    stop: int,
    branch: NDArray[np.int32],
    starts: IntArray,
    offsets: IntArray,
    buffer: UnsignedArray,
) -> None:
    """Bring the rows of each branch together, in their order."""
    offsets[: len(starts)] = starts
    for i in range(start, stop):
        b = branch[rows[i]]
        buffer[offsets[b]] = rows[i]
        offsets[b] += 1
    rows[start:stop] = buffer[start:stop]


@compiled
def leaf_errors(counts: IntArray, confidence: float, quantile: float) -> float:
    """Errors of a leaf, with the addition that makes them pessimistic (Quinlan's, in J48's form).

    The addition brings the observed errors to the upper limit of their binomial proportion at `confidence`: exactly for none, by
    the normal approximation with continuity correction for one or more.
    """
    n = counts.sum()
    if n == 0:
        return 0.0
    n_errors = n - counts.max()
    if n_errors == 0:
        return n * (1.0 - confidence ** (1.0 / n))
    if n_errors + 0.5 >= n:
        return float(n)
    f = (n_errors + 0.5) / n
    z2 = quantile * quantile
    return n * (f + z2 / (2 * n) + quantile * np.sqrt(f / n - f * f / n + z2 / (4.0 * n * n))) / (1 + z2 / n)
