"""Shared by the rule learners: description lengths of rule sets, and the rules of one class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.rules._growing import count_rows, counts_of_part, grow, take_away
from foldshift.learners.rules._rules import TOLERANCE, Columns, Settings, Target, Work, mark_covered, part_rows, prune, split_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray, IntArray, UnsignedArray


class _Turn(NamedTuple):
    """A rule in turn for optimisation. Counts have three columns: rows covered, false and true positives."""

    at: int
    left: UnsignedArray  # rows that no rule before covers
    follower: IntArray  # (n_samples,): the rule after this one that covers a row; the last number for none
    later: FloatArray  # (n_rules + 1, 3): counts of `left` by the rule that covers them without this one
    stats: FloatArray  # (n_rules, 3): counts of the rules before, of the rows that no rule before them covers


@compiled
def subset_bits(n: float, k: float, p: float) -> float:
    """Bits that say which k of n elements, if each is expected with probability p."""
    p = min(max(p, 0.0), 1.0 - 1e-12)
    bits = -k * np.log2(p) if p > 0 else 0.0
    return bits - (n - k) * np.log2(1.0 - p) if n > k else bits


@compiled
def data_bits(rate: float, n_covered: float, n_other: float, n_false: float, n_missed: float) -> float:
    """Bits that describe the exceptions to a rule set; `rate` is the expected share of false positives among them."""
    bits = np.log2(n_covered + n_other + 1.0)
    if n_covered > n_other:
        bits += subset_bits(n_covered, n_false, rate * (n_false + n_missed) / n_covered)
        return bits + (subset_bits(n_other, n_missed, n_missed / n_other) if n_other > 0 else 0.0)
    if n_covered > 0:
        bits += subset_bits(n_covered, n_false, n_false / n_covered)
    return bits + (subset_bits(n_other, n_missed, (1.0 - rate) * (n_false + n_missed) / n_other) if n_other > 0 else 0.0)


@compiled
def rule_bits(k: int, n_conditions: float, keel: bool = False) -> float:
    """Bits that describe a rule of k conditions, halved because conditions may be redundant (Cohen 1995).

    `keel` counts as KEEL does: the number of conditions in natural logarithms, by a slip.
    """
    if k == 0:
        return 0.0
    bits = np.log(k) if keel else np.log2(k)
    if k > 1:
        bits += 2.0 * (np.log(bits) if keel else np.log2(bits))
    return 0.5 * (bits + subset_bits(n_conditions, k, k / n_conditions))


@compiled
def rules_of_class(
    columns: Columns, target: Target, work: Work, settings: Settings, state: np.uint64
) -> tuple[list[IntArray], np.uint64]:
    """Build rules for one class against the others, then optimise them.

    Source: Cohen (1995). Fast effective rule induction. ICML, 115-123, figure 1 and section 3.
    """
    rules = [np.empty((0, 3), np.int64)]
    rules.pop()
    state = _build(rules, columns, target, work, settings, state)
    for _ in range(settings.n_optimisations):
        rules, state = _optimise(rules, columns, target, work, settings, state)
    return rules, state


@compiled
def _build(
    rules: list[IntArray], columns: Columns, target: Target, work: Work, settings: Settings, state: np.uint64
) -> np.uint64:
    """Add rules until the class is covered, a rule errs on half of its rows, or the description gets too long.

    Returns the generator's new state.
    """
    rows, positive, n_conditions, rate = target.rows, target.positive, target.n_conditions, target.rate
    once, codes, mask = settings.once, columns.codes, work.mask
    nothing = np.empty((0, 3), np.int64)
    n_all, p_all = float(len(rows)), 0.0
    for row in rows:
        p_all += positive[row]
    left = rows
    n_covered, n_false, n_missed = 0.0, 0.0, p_all
    for rule in rules:
        mark_covered(rule, codes, mask)
        covered, left, p = part_rows(left, positive, mask)
        n_covered, n_false, n_missed = n_covered + len(covered), n_false + len(covered) - p, n_missed - p
    bits = least = 0.0  # relative to the start
    counts = np.zeros_like(work.counts)
    if n_missed > 0:
        count_rows(left, positive, columns, counts, 1)
    while n_missed > 0:
        if settings.prune_first:
            growing, pruning, state = split_rows(left, target.strata, settings.grow_share, state)
            some = counts_of_part(counts, pruning, growing, positive, columns)
            rule = grow(nothing, growing, some, positive, columns, work, once)
            rule = prune(rule, pruning, positive, codes, np.bool_(False), settings.greedy)
        else:
            rule = grow(nothing, left, counts, positive, columns, work, once)
        mark_covered(rule, codes, mask)
        covered, others, p = part_rows(left, positive, mask)
        n = len(covered)
        bits += rule_bits(len(rule), n_conditions) - data_bits(rate, n_covered, n_all - n_covered, n_false, n_missed)
        n_covered, n_false, n_missed = n_covered + n, n_false + n - p, n_missed - p
        bits += data_bits(rate, n_covered, n_all - n_covered, n_false, n_missed)
        least = min(least, bits)
        if bits > least + settings.slack_bits or p == 0 or 2 * (n - p) >= n:
            break
        rules.append(rule)
        left = others
        take_away(covered, left, positive, columns, counts)
    return state


@compiled
def _optimise(
    rules: list[IntArray], columns: Columns, target: Target, work: Work, settings: Settings, state: np.uint64
) -> tuple[list[IntArray], np.uint64]:
    """Weigh every rule against a replacement and a revision, cover what is left, drop what does not pay."""
    positive, once, codes, mask = target.positive, settings.once, columns.codes, work.mask
    nothing = np.empty((0, 3), np.int64)
    n_rules, n_missed = len(rules), 0.0
    for row in target.rows:
        n_missed += positive[row]
    p_all = n_missed
    old = np.empty((n_rules + 1, codes.shape[1]), np.int8)
    for r in range(n_rules):
        mark_covered(rules[r], codes, old[r])
    old[n_rules] = 1
    follower = np.zeros(codes.shape[1], np.int64)  # the rule after the present one that covers a row; none, the last
    stats = np.zeros((n_rules, 3))  # covered, false positives, true positives, of the rows that no rule before covers
    done = [nothing]
    done.pop()
    left = target.rows
    counts = np.zeros_like(work.counts)
    count_rows(left, positive, columns, counts, 1)
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
            growing, pruning, state = split_rows(left, target.strata, settings.grow_share, state)
            some = counts_of_part(counts, pruning, growing, positive, columns)
            later = np.zeros((n_rules + 1, 3))
            for row in left:
                r = follower[row]
                if r <= at:
                    r = at + 1
                    while not old[r, row]:
                        r += 1
                    follower[row] = r
                later[r, 0] += 1
                later[r, 1 + positive[row]] += 1
            n = 0
            for row in pruning:
                pruning[n] = row
                n += follower[row] == n_rules
            pruning = pruning[:n]
            replacement = grow(nothing, growing, some, positive, columns, work, once)
            revision = grow(rule, growing, some, positive, columns, work, once)
            turn = _Turn(at, left, follower, later, stats)
            least = np.inf
            for candidate in (
                rule,
                prune(revision, pruning, positive, codes, np.bool_(True), settings.greedy),
                prune(replacement, pruning, positive, codes, np.bool_(True), settings.greedy),
            ):
                mark_covered(candidate, codes, mask)
                bits = _bits_with(candidate, rules, turn, target, mask, p_all)
                if bits < least:
                    least, rule = bits, candidate
            mark_covered(rule, codes, mask)
            covered, left, p = part_rows(left, positive, mask)
            take_away(covered, left, positive, columns, counts)
            stats[at, 0], stats[at, 1], stats[at, 2] = len(covered), len(covered) - p, p
            n_missed -= p
        done.append(rule)
    if not settings.polish:
        for r in range(len(done), n_rules):
            done.append(rules[r])
    # Otherwise: rules not reached cover no row of the class that is left, so that polishing would drop them.
    state = _build(done, columns, target, work, settings, state)
    if settings.polish:
        _polish(done, target, codes, mask, p_all)
    return done, state


@compiled
def _polish(rules: list[IntArray], target: Target, codes: NDArray[np.int32], mask: NDArray[np.int8], p_all: float) -> None:
    """Drop, from the last to the first, every rule that does not shorten the description, or that mostly errs."""
    stats = np.zeros((len(rules), 3))
    left = target.rows
    for r in range(len(rules)):
        mark_covered(rules[r], codes, mask)
        covered, left, p = part_rows(left, target.positive, mask)
        stats[r, 0], stats[r, 1], stats[r, 2] = len(covered), len(covered) - p, p
    totals = np.array([stats[:, 0].sum(), float(len(left)), stats[:, 1].sum(), p_all - stats[:, 2].sum()])
    for r in range(len(rules) - 1, -1, -1):
        if _drop(target.rate, totals, rules[r], stats[r], target.n_conditions)[0]:
            rules.pop(r)


@compiled
def _bits_with(rule: IntArray, rules: list[IntArray], turn: _Turn, target: Target, mask: NDArray[np.int8], p_all: float) -> float:
    """Least description length with a rule in its turn, up to what does not depend on the rule.

    Every later rule that does not pay is taken as dropped. The rows that `mask` marks move to this rule.
    """
    at, stats, later = turn.at, turn.stats, turn.later.copy()
    covered = np.empty(len(turn.left), np.uint32)
    n_covered = 0
    for row in turn.left:
        covered[n_covered] = row
        n_covered += mask[row]
    for row in covered[:n_covered]:
        for column in (0, 1 + target.positive[row]):
            later[at, column] += 1
            later[turn.follower[row], column] -= 1
    n = stats[:at, 0].sum() + later[at:-1, 0].sum()
    n_false = stats[:at, 1].sum() + later[at:-1, 1].sum()
    p = stats[:at, 2].sum() + later[at:-1, 2].sum()
    totals = np.array([n, len(target.rows) - n, n_false, p_all - p])
    saved = 0.0
    for r in range(at + 1, len(rules)):
        saved += _drop(target.rate, totals, rules[r], later[r], target.n_conditions)[1]
    bits = data_bits(target.rate, totals[0], totals[1], totals[2], totals[3])
    return bits - saved + rule_bits(len(rule), target.n_conditions)


@compiled
def _drop(rate: float, totals: FloatArray, rule: IntArray, stats: FloatArray, n_conditions: float) -> tuple[bool, float]:
    """Decide whether to drop a rule, as if no other covered its rows; return that and the bits saved, and update `totals`.

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
