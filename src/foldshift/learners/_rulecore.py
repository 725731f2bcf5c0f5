"""What the rule learners share: growing and pruning one rule, description lengths, the rule set of one class.

A rule is an int64 array of shape (n_conditions, 3): column, kind (`LE`, `GE`, `EQ`, `GT`), rank code of the value. Codes
come from `foldshift.learners._presort.presort` over the whole data set; comparing codes is comparing values.
"""

import numbers

import numpy as np

from foldshift.compiling import compiled
from foldshift.learners._presort import presort
from foldshift.learners.gbm import _leave_out
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
        state = _leave_out(part, k, state)
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


@compiled
def subset_bits(n, k, p):
    """Bits that tell which k of n elements, if each is expected with probability p."""
    p = min(max(p, 0.0), 1.0 - 1e-12)
    bits = -k * np.log2(p) if p > 0 else 0.0
    return bits - (n - k) * np.log2(1.0 - p) if n > k else bits


@compiled
def data_bits(rate, n_covered, n_other, n_false, n_missed):
    """Bits that tell the exceptions to a rule set; `rate` is the expected share of false positives among them."""
    bits = np.log2(n_covered + n_other + 1.0)
    if n_covered > n_other:
        bits += subset_bits(n_covered, n_false, rate * (n_false + n_missed) / n_covered)
        return bits + (subset_bits(n_other, n_missed, n_missed / n_other) if n_other > 0 else 0.0)
    if n_covered > 0:
        bits += subset_bits(n_covered, n_false, n_false / n_covered)
    return bits + (subset_bits(n_other, n_missed, (1.0 - rate) * (n_false + n_missed) / n_other) if n_other > 0 else 0.0)


@compiled
def rule_bits(k, n_conditions):
    """Bits that tell a rule of k conditions, halved because conditions may be redundant (Cohen 1995)."""
    if k == 0:
        return 0.0
    bits = np.log2(k)
    if k > 1:
        bits += 2.0 * np.log2(bits)
    return 0.5 * (bits + subset_bits(n_conditions, k, k / n_conditions))


@compiled
def _count(rule, rows, positive, codes):
    """Covered rows, and those of them in the class."""
    n, p = 0, 0
    for row in rows:
        if covers(rule, codes, row):
            n += 1
            p += positive[row]
    return n, p


@compiled
def _uncovered(rule, rows, codes):
    """Rows that a rule does not cover, in order."""
    out = np.empty(len(rows), np.uint32)
    n = 0
    for row in rows:
        out[n] = row
        n += not covers(rule, codes, row)
    return out[:n]


@compiled
def rules_of_class(data, target, work, settings, state):
    """Rules for one class against the others: build, then optimise [1]_.

    Parameters
    ----------
    data, work : tuple
        From `prepare` and `make_work`; `work` after `start_fold`.
    target : tuple
        rows : ndarray of shape (n,), dtype uint32
            Rows to learn from.
        positive : ndarray of shape (n_samples,), dtype int8
            1 for rows of the class.
        strata : ndarray of shape (n_samples,), dtype int64
            Rows are split class by class, in the order of these numbers.
        n_conditions : float
            Number of possible conditions.
    settings : tuple
        prune_first : bool
            Whether rules are grown on a part and pruned on the rest when a rule set is built (RIPPER) or grown on all
            rows and left as they are (FURIA). Optimisation always prunes.
        share : float
            Share of the rows to grow on.
        n_optimisations : int
        slack_bits : float
            Building stops when the description length exceeds the least one so far by more.
        polish : bool
            Whether rules that raise the description length are dropped after each optimisation.
        once, greedy : bool
            Ways of `grow` and `prune`.
    state : uint64
        State of the random generator.

    Returns
    -------
    rules : list of ndarray
        In the order in which they are tried.
    state : uint64

    References
    ----------
    .. [1] Cohen (1995). Fast effective rule induction. ICML, 115-123, figure 1 and section 3.
    """
    rules = [np.empty((0, 3), np.int64)]
    rules.pop()
    state = _build(rules, data, target, work, settings, state)
    for _ in range(settings[2]):
        rules, state = _optimise(rules, data, target, work, settings, state)
    return rules, state


@compiled
def _build(rules, data, target, work, settings, state):
    """Add rules until the class is covered, a rule errs on half of its rows, or the description gets too long.

    Returns the generator's new state.
    """
    rows, positive, strata, n_conditions = target
    prune_first, share, _, slack_bits, _, once, greedy = settings
    codes = data[1]
    nothing = np.empty((0, 3), np.int64)
    n_all, p_all = float(len(rows)), 0.0
    for row in rows:
        p_all += positive[row]
    rate = p_all / n_all
    left = rows
    n_covered, n_false, n_missed = 0.0, 0.0, p_all
    for rule in rules:
        n, p = _count(rule, left, positive, codes)
        n_covered, n_false, n_missed = n_covered + n, n_false + n - p, n_missed - p
        left = _uncovered(rule, left, codes)
    bits = least = 0.0  # relative to the start
    while n_missed > 0:
        if prune_first:
            growing, pruning, state = split_rows(left, strata, share, state)
            rule = prune(grow(nothing, growing, positive, data, work, once), pruning, positive, codes, np.bool_(False), greedy)
        else:
            rule = grow(nothing, left, positive, data, work, once)
        n, p = _count(rule, left, positive, codes)
        bits += rule_bits(len(rule), n_conditions) - data_bits(rate, n_covered, n_all - n_covered, n_false, n_missed)
        n_covered, n_false, n_missed = n_covered + n, n_false + n - p, n_missed - p
        bits += data_bits(rate, n_covered, n_all - n_covered, n_false, n_missed)
        least = min(least, bits)
        if bits > least + slack_bits or p == 0 or 2 * (n - p) >= n:
            break
        rules.append(rule)
        left = _uncovered(rule, left, codes)
    return state


@compiled
def _optimise(rules, data, target, work, settings, state):
    """Weigh every rule against a replacement and a revision, cover what is left, drop what does not pay."""
    rows, positive, strata, n_conditions = target
    _, share, _, _, polish, once, greedy = settings
    codes = data[1]
    nothing = np.empty((0, 3), np.int64)
    n_rules, n_missed = len(rules), 0.0
    for row in rows:
        n_missed += positive[row]
    p_all = n_missed
    old = np.zeros((n_rules, codes.shape[1]), np.bool_)
    for r in range(n_rules):
        for row in rows:
            old[r, row] = covers(rules[r], codes, row)
    follower = np.empty(codes.shape[1], np.int64)  # the rule after the present one that covers a row
    stats = np.zeros((n_rules, 3))  # covered, false positives, true positives, of the rows that no rule before covers
    done = [nothing]
    done.pop()
    left = rows
    for at in range(n_rules):
        if n_missed == 0:
            break
        rule = rules[at]
        met = False
        for row in left:
            if old[at, row]:
                met = True
                break
        if met:
            growing, pruning, state = split_rows(left, strata, share, state)
            for row in left:
                follower[row] = n_rules
                for r in range(at + 1, n_rules):
                    if old[r, row]:
                        follower[row] = r
                        break
            n = 0
            for row in pruning:
                pruning[n] = row
                n += follower[row] == n_rules
            pruning = pruning[:n]
            replacement = grow(nothing, growing, positive, data, work, once)
            revision = grow(rule, growing, positive, data, work, once)
            least = np.inf
            for candidate in (
                rule,
                prune(revision, pruning, positive, codes, np.bool_(True), greedy),
                prune(replacement, pruning, positive, codes, np.bool_(True), greedy),
            ):
                bits = _bits_with(candidate, at, rules, left, follower, stats, positive, codes, len(rows), p_all, n_conditions)
                if bits < least:
                    least, rule = bits, candidate
            n, p = _count(rule, left, positive, codes)
            stats[at, 0], stats[at, 1], stats[at, 2] = n, n - p, p
            n_missed -= p
            left = _uncovered(rule, left, codes)
        done.append(rule)
    if not polish:
        for r in range(len(done), n_rules):
            done.append(rules[r])
    # Otherwise: rules not reached cover no row of the class that is left, so that polishing would drop them.
    state = _build(done, data, target, work, settings, state)
    if polish:
        _polish(done, rows, positive, codes, p_all, n_conditions)
    return done, state


@compiled
def _polish(rules, rows, positive, codes, p_all, n_conditions):
    """Drop, from the last to the first, every rule that does not shorten the description, or that mostly errs."""
    stats = np.zeros((len(rules), 3))
    left = rows
    for r in range(len(rules)):
        n, p = _count(rules[r], left, positive, codes)
        stats[r, 0], stats[r, 1], stats[r, 2] = n, n - p, p
        left = _uncovered(rules[r], left, codes)
    totals = np.array([stats[:, 0].sum(), float(len(left)), stats[:, 1].sum(), p_all - stats[:, 2].sum()])
    for r in range(len(rules) - 1, -1, -1):
        if _drop(p_all / len(rows), totals, rules[r], stats[r], n_conditions)[0]:
            rules.pop(r)


@compiled
def _bits_with(rule, at, rules, left, follower, stats, positive, codes, n_all, p_all, n_conditions):
    """Least description length with a rule in place `at`, up to what does not depend on the rule.

    Every later rule that does not pay is taken as dropped.
    """
    later = np.zeros((len(rules) + 1, 3))
    for row in left:
        r = at if covers(rule, codes, row) else follower[row]
        later[r, 0] += 1
        later[r, 1 + positive[row]] += 1
    n = stats[:at, 0].sum() + later[at:-1, 0].sum()
    n_false = stats[:at, 1].sum() + later[at:-1, 1].sum()
    p = stats[:at, 2].sum() + later[at:-1, 2].sum()
    rate = p_all / n_all
    totals = np.array([n, n_all - n, n_false, p_all - p])
    saved = 0.0
    for r in range(at + 1, len(rules)):
        saved += _drop(rate, totals, rules[r], later[r], n_conditions)[1]
    return data_bits(rate, totals[0], totals[1], totals[2], totals[3]) - saved + rule_bits(len(rule), n_conditions)


@compiled
def _drop(rate, totals, rule, stats, n_conditions):
    """Whether to drop a rule, as if no other covered its rows, and the bits that saves; then update `totals`.

    `totals` holds rows covered and not covered by the set, false positives, missed rows of the class; `stats` rows covered by
    the rule, false and true positives.
    """
    n, n_other, n_false, n_missed = totals[0] - stats[0], totals[1] + stats[0], totals[2] - stats[1], totals[3] + stats[2]
    saved = rule_bits(len(rule), n_conditions) + data_bits(rate, totals[0], totals[1], totals[2], totals[3])
    saved -= data_bits(rate, n, n_other, n_false, n_missed)
    if saved <= -TOLERANCE and 2 * stats[1] < max(stats[0], 1.0):
        return False, 0.0
    totals[0], totals[1], totals[2], totals[3] = n, n_other, n_false, n_missed
    return True, saved
