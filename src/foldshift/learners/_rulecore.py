"""What the rule learners share about one rule: growing and pruning it; `foldshift.learners._rulesets` makes rule sets of them.

A rule is an int64 array of shape (n_conditions, 3): column, kind (`LE`, `GE`, `EQ`, `GT`), rank code of the value. Codes
come from `foldshift.learners._presort.presort` over the whole data set; comparing codes is comparing values.
"""

import numbers

import numpy as np

from foldshift.compiling import compiled
from foldshift.learners._presort import presort
from foldshift.learners.gbm import leave_out
from foldshift.nominal import nominal_columns

LE, GE, EQ, GT = 0, 1, 2, 3
SYMBOLS = ("<=", ">=", "=", ">")
MOST_COUNTED = 64  # columns with at most so many values are counted by value, the others scanned in sorted order
MIN_POSITIVES = 2  # a condition must keep so many rows of the class
TOLERANCE = 1e-6  # bits; description lengths this close count as equal


class RuleList(list):
    """Rules in the order in which they are tried; prints one per line."""

    def __str__(self):
        return "\n".join(map(str, self))


def prepare(X, categorical_features):
    """What the learners need of a data set, once for all its folds.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype float64
        Inputs; finite.
    categorical_features : None, mask or positions
        As in `foldshift.nominal.nominal_columns`.

    Returns
    -------
    order : ndarray of shape (n_features, n_samples), dtype uint32
        Rows by ascending value.
    codes : ndarray of shape (n_features, n_samples), dtype int32
        Rank code of every value.
    values : ndarray of shape (n_features, n_samples), dtype float64
        Distinct values by code.
    n_codes : ndarray of shape (n_features,), dtype int64
        Number of distinct values.
    nominal : ndarray of shape (n_features,), dtype bool
    log2 : ndarray of shape (n_samples + 2,), dtype float64
        Logarithms of 0 (as 0), 1, 2, ...
    """
    order, codes, values = presort(X)
    n_codes = codes.max(axis=1).astype(np.int64) + 1
    log2 = np.log2(np.maximum(np.arange(len(X) + 2), 1))
    return order, codes, values, n_codes, nominal_columns(categorical_features, X.shape[1]), log2


def checked_count(name, value, least):
    """The value as an int, or a ValueError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    return int(value)


def condition_text(name, kind, value):
    """A condition in words, such as ``x2 <= 1.5``."""
    return f"{name} {SYMBOLS[kind]} {value:.12g}"


def names_of(estimator):
    """Column names of a fitted estimator: those of the data frame, or x0, x1, ..."""
    return getattr(estimator, "feature_names_in_", [f"x{f}" for f in range(estimator.n_features_in_)])


@compiled
def make_work(n_features, n_samples):
    """Arrays that every fit overwrites: training order, active order, active rows, mask, counts by value."""
    return (
        np.empty((n_features, n_samples), np.uint32),
        np.empty((n_features, n_samples), np.uint32),
        np.empty(n_samples, np.uint32),
        np.zeros(n_samples, np.bool_),
        np.zeros((MOST_COUNTED, 2), np.int64),
    )


@compiled
def start_fold(data, in_training, work):
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
def meets(kind, code, bound):
    """Whether a code meets a condition."""
    if kind == LE:
        return code <= bound
    if kind == GE:
        return code >= bound
    if kind == EQ:
        return code == bound
    return code > bound


@compiled
def covers(rule, codes, row):
    """Whether a rule covers a row."""
    for j in range(len(rule)):  # noqa: SIM110 -- numba compiles a loop with a flag, or all(), to code three times as slow
        if not meets(rule[j, 1], codes[rule[j, 0], row], rule[j, 2]):
            return False
    return True


@compiled
def split_rows(rows, strata, share, state):
    """Stratified random split into rows to grow on and rows to prune on.

    The rows of the strata, one stratum after the other, are dealt in turn: with a share of 2/3, every third row is one to
    prune on. Few rows of the first stratum are therefore rather grown on.

    Parameters
    ----------
    rows : ndarray of shape (n,), dtype uint32
    strata : ndarray of shape (n_samples,), dtype int64
        Stratum of every row, from 0.
    share : float
        Share of the rows to grow on.
    state : uint64
        State of the random generator.

    Returns
    -------
    growing, pruning : ndarray, dtype uint32
    state : uint64
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
def grow(rule, rows, positive, data, work, once):
    """Add conditions to a rule, the one with the largest information gain first.

    FOIL's gain of a condition that keeps p of P rows of the class and t of T rows is p (log2(p / t) - log2(P / T)), with
    Laplace-like counts (p + 1) / (t + 1). Growing ends when only rows of the class are covered, when nothing is gained,
    or when the best condition keeps fewer than `MIN_POSITIVES` rows of the class. A nominal column is used at most once.

    With `once`, growing is KEEL's: plain counts, every column at most once, and on while rows of other classes are
    covered and columns are left, whether anything is gained or not. The first column wins ties; in KEEL, the last one takes
    the place of the one used.
    """
    _, codes, _, n_codes, nominal, log2 = data
    base, lists, active, mask, counts = work
    n_features = len(codes)
    plus = 0 if once else 1
    free = np.ones(n_features, np.bool_)
    for j in range(len(rule)):
        free[rule[j, 0]] = not (once or nominal[rule[j, 0]])
    columns = np.flatnonzero(free)
    n_columns = len(columns)
    n, n_positive = 0, 0
    for row in rows:
        if covers(rule, codes, row):
            active[n] = row
            n += 1
            mask[row] = True
            n_positive += positive[row]
    new = np.empty((8, 3), np.int64)
    n_new = 0
    if 0 < n_positive < n:
        for f in columns:
            if n_codes[f] > MOST_COUNTED and not nominal[f]:
                m = 0
                i = 0
                while m < n:
                    lists[f, m] = base[f, i]
                    m += mask[base[f, i]]
                    i += 1
    while 0 < n_positive < n:
        before = log2[n_positive + plus] - log2[n + plus]
        best = -1.0 if once else 0.0
        best_f, best_kind, best_code, best_p = -1, 0, 0, 0
        for f in columns[:n_columns]:
            if nominal[f] or n_codes[f] <= MOST_COUNTED:
                table = counts if n_codes[f] <= MOST_COUNTED else np.zeros((n_codes[f], 2), np.int64)
                table[: n_codes[f]] = 0
                code = codes[f]
                for i in range(n):
                    row = active[i]
                    table[code[row], 0] += positive[row]
                    table[code[row], 1] += 1
                if nominal[f]:
                    for v in range(n_codes[f]):
                        p = table[v, 0]
                        if p > 0:
                            gain = p * (log2[p + plus] - log2[table[v, 1] + plus] - before)
                            if gain > best:
                                best, best_f, best_kind, best_code, best_p = gain, f, EQ, v, p
                    continue
                below_p, below, last = 0, 0, -1
                for v in range(n_codes[f]):
                    if table[v, 1] == 0:
                        continue
                    here_p, here = table[v, 0], table[v, 1]
                    if here_p > 0:
                        best, best_f, best_kind, best_code, best_p = _better(
                            best, best_f, best_kind, best_code, best_p,
                            f, v, last, below_p, below, here_p, here, n_positive, n, plus, before, log2,
                        )  # fmt: skip
                    below_p += here_p
                    below += here
                    last = v
            else:
                code, listed_f = codes[f], lists[f]
                below_p, below, last = 0, 0, -1
                i = 0
                while i < n:
                    v = code[listed_f[i]]
                    here_p, start = 0, i
                    while i < n and code[listed_f[i]] == v:
                        here_p += positive[listed_f[i]]
                        i += 1
                    if here_p > 0:
                        best, best_f, best_kind, best_code, best_p = _better(
                            best, best_f, best_kind, best_code, best_p,
                            f, v, last, below_p, below, here_p, i - start, n_positive, n, plus, before, log2,
                        )  # fmt: skip
                    below_p += here_p
                    below = i
                    last = v
        if best_f < 0 or (not once and best_p < MIN_POSITIVES):
            break
        if n_new == len(new):
            new = np.concatenate((new, np.empty_like(new)))
        new[n_new, 0], new[n_new, 1], new[n_new, 2] = best_f, best_kind, best_code
        n_new += 1
        if once or nominal[best_f]:
            n_columns -= 1
            place = 0
            while columns[place] != best_f:
                place += 1
            if once:
                columns[place] = columns[n_columns]
            else:
                columns[place:n_columns] = columns[place + 1 : n_columns + 1].copy()
        kept, n_positive = 0, 0
        code = codes[best_f]
        for i in range(n):
            row = active[i]
            if meets(best_kind, code[row], best_code):
                active[kept] = row
                kept += 1
                n_positive += positive[row]
            else:
                mask[row] = False
        if kept < n:
            for f in columns[:n_columns]:
                if n_codes[f] > MOST_COUNTED and not nominal[f]:
                    m = 0
                    for i in range(n):
                        row = lists[f, i]
                        lists[f, m] = row
                        m += mask[row]
        n = kept
    for i in range(n):
        mask[active[i]] = False
    return np.concatenate((rule, new[:n_new]))


@compiled(inline="always")
def _better(
    best, best_f, best_kind, best_code, best_p, f, v, last, below_p, below, here_p, here, n_positive, n, plus, before, log2
):
    """Weigh the two conditions at one value: at most it, and at least it (KEEL's: above the value before it).

    Values without rows of the class are left out: the condition that starts or ends beside them gains more.
    """
    low_p, low = below_p + here_p, below + here
    high_p, high = n_positive - below_p, n - below
    at_most = low_p * (log2[low_p + plus] - log2[low + plus] - before)
    at_least = high_p * (log2[high_p + plus] - log2[high + plus] - before)
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
            best, best_f, best_kind, best_code, best_p = at_least, f, GT, last, high_p
    return best, best_f, best_kind, best_code, best_p


@compiled
def prune(rule, rows, positive, codes, whole, greedy):
    """Cut a rule behind its best condition, or leave it whole if no cut beats the empty rule.

    The worth of a cut rule is its precision on the pruning rows, (p + 1) / (p + n + 2): Cohen's (p - n) / (p + n) in the
    same order, corrected for few rows. With `whole`, it is the accuracy over all pruning rows. With `greedy`, pruning is
    KEEL's: the last condition goes as long as that raises the worth, and the first one stays.
    """
    k, total = len(rule), len(rows)
    if total == 0 or k == 0:
        return rule
    covered = np.zeros((k, 2), np.int64)  # rows that meet conditions 0 .. j: of other classes, of the class
    n_positive = 0
    for row in rows:
        n_positive += positive[row]
        for j in range(k):
            if not meets(rule[j, 1], codes[rule[j, 0], row], rule[j, 2]):
                break
            covered[j, positive[row]] += 1
    worth = np.empty(k)
    for j in range(k):
        n, p = covered[j]
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
