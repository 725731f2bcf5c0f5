"""RIPPER: ordered rules, grown, pruned and optimised class by class."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners._states import fit_seeds
from foldshift.learners.base import FoldClassifier
from foldshift.learners.rules._growing import count_rows, counts_of_part, grow, take_away
from foldshift.learners.rules._rules import (
    Columns,
    RuleList,
    Settings,
    Target,
    Work,
    checked_count,
    condition_text,
    make_work,
    mark_covered,
    meets,
    names_of,
    part_rows,
    prepare,
    prune,
    split_rows,
    start_fold,
)
from foldshift.learners.rules._rulesets import data_bits, rule_bits, rules_of_class
from foldshift.learners.trees.gbm import leave_out

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, RandomState, UnsignedArray
    from foldshift.learners._states import Cuts


class _Model(NamedTuple):
    """Rules in the order in which they are tried; the last one has no condition."""

    conditions: IntArray  # (n_conditions, 2): column and kind
    thresholds: FloatArray  # (n_conditions,): values; category codes
    starts: IntArray  # (n_rules + 1,): first condition of every rule, and the number of conditions
    classes: IntArray  # (n_rules,): class that a rule predicts
    counts: IntArray  # (n_rules, n_classes): training rows that reach the rule and meet it, by class


class _Coverage(NamedTuple):
    """Rules so far: how many cover a sample, the rows of the class, and all rows counted by bucket."""

    times: NDArray[np.int32]  # (n_samples,), in training or not
    n_positive: int
    counts: IntArray


@dataclass(frozen=True)
class RipperRule:
    """One rule of an ordered list."""

    conditions: tuple[str, ...]  # all must hold; none in the default rule
    label: Any  # class that the rule predicts
    n_covered: int  # n_covered, n_correct: Training rows that reach the rule and meet it, and those of them in its class
    n_correct: int

    def __str__(self) -> str:
        premise = " and ".join(self.conditions) or "otherwise"
        return f"{premise} => {self.label} ({self.n_correct}/{self.n_covered})"


class RIPPERClassifier(FoldClassifier):
    """Ordered rules by repeated incremental pruning to produce error reduction (RIPPER).

    For every class but the most frequent, from the rarest on, rules are learnt against the classes that are left. A rule is
    grown on a part of the rows by information gain and pruned on the rest; the next one is learnt on the rows that are not
    covered. The set is then optimised: every rule is weighed, by description length, against one learnt from scratch and
    against a longer and re-pruned version of itself.

    Parameters
    ----------
    grow_fraction : float, default=0.66
        Share of the rows, of the class and of the others, on which a rule is grown; above 0 and below 1.
    n_optimisations : int, default=2
        Rounds of optimisation.
    slack_bits : float, default=64
        A class gets no more rules once the description length exceeds the least one so far by more than that.
    remaining_rows_mdl : bool, default=False
        KEEL's bookkeeping: a new rule is judged by the description length of the set on the rows that were not covered
        before, which almost always shrinks, and not by its error rate; optimisation learns on all rows, not on
        those that earlier rules leave; rules added afterwards see all rows of the other classes. The bits of a rule's length
        are counted in natural logarithms, by a slip. Classes of the same size come in the order of their labels.
    final_polish : bool, default=True
        Whether rules that raise the description length are dropped after optimisation. KEEL means to, but a slip keeps
        all of them.
    columns_once : bool, default=False
        KEEL's growing: a column is used at most once in a rule, information gain is not corrected for small counts, and
        a rule grows as long as it covers rows of other classes and columns are left. A rule with one condition per
        column cannot cut out an interval.
    greedy_pruning : bool, default=False
        KEEL's pruning: the last condition goes as long as that raises the worth, instead of cutting behind the best.
    categorical_features : None, array-like of bool or of int, default=None
        Nominal columns, as a mask or as positions; they hold category codes 0, 1, ... None: all columns are numeric.
    random_state : int, RandomState or None, default=None
        Draws the rows to grow on, and the order of classes of the same size.

    Attributes
    ----------
    rules_ : list of RipperRule
        In the order in which they are tried; the last one is the default rule. ``print(model.rules_)`` shows one per line.

    Notes
    -----
    The four switches off give the algorithm as Weka's JRip has it (with ``grow_fraction=2/3``); ``remaining_rows_mdl=True,
    final_polish=False, columns_once=True, greedy_pruning=True`` gives KEEL's. Gain is p (log2(p / t) - log2(P / T)), for
    p of P rows of the class and t of T rows kept, with 1 added to each count; the first column, the lowest value and
    "at least" before "at most" win ties. A condition must keep two rows of the class and gain something. Pruning takes the
    precision (p + 1) / (p + n + 2), in optimisation the accuracy. A new rule must err on less than half of what it covers.
    Classes of the same size come in random order. Rows are drawn class by class, the parts filled in turn (KEEL rounds the share
    of either side instead). The share of false positives that a description of exceptions expects is the share of the class in
    the training rows of all classes that are not learnt yet, itself included.

    The first rule that covers a sample scores it by the class shares of the training rows that reached that rule. The
    class of the rule always has the largest score; where it has not the largest share (KEEL's rules may err on most rows),
    it is lifted to just above it.

    A nominal condition is a test for one category. A category that is absent from training occurs in no rule and counts
    nothing in the description length; a sample that has it fails every test of the column.

    References
    ----------
    .. [1] Cohen (1995). Fast effective rule induction. ICML, 115-123.
    .. [2] Witten, Frank, Hall, Pal (2016). Data Mining, 4th ed. Figure 6.4 (JRip).
    .. [3] Quinlan (1995). MDL and categorical theories (continued). ICML, 464-470.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import RIPPERClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RIPPERClassifier(random_state=0).fit(X, y)
    >>> print(model.rules_)
    petal width (cm) >= 1.7 => 2 (46/48)
    petal length (cm) >= 5 => 2 (4/5)
    petal length (cm) >= 3 => 1 (47/47)
    otherwise => 0 (50/50)
    """

    def __init__(
        self,
        grow_fraction: float = 0.66,
        n_optimisations: int = 2,
        slack_bits: float = 64,
        remaining_rows_mdl: bool = False,
        final_polish: bool = True,
        columns_once: bool = False,
        greedy_pruning: bool = False,
        categorical_features: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.grow_fraction = grow_fraction
        self.n_optimisations = n_optimisations
        self.slack_bits = slack_bits
        self.remaining_rows_mdl = remaining_rows_mdl
        self.final_polish = final_polish
        self.columns_once = columns_once
        self.greedy_pruning = greedy_pruning
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _settings(self) -> Settings:
        share, slack = self.grow_fraction, self.slack_bits
        if isinstance(share, bool) or not isinstance(share, numbers.Real) or not 0 < share < 1:
            raise ValueError(f"grow_fraction={share!r} must be a number above 0 and below 1")
        if isinstance(slack, bool) or not isinstance(slack, numbers.Real) or not slack >= 0:
            raise ValueError(f"slack_bits={slack!r} must be a number of at least 0")
        return Settings(
            prune_first=True,
            grow_share=float(share),
            n_optimisations=checked_count("n_optimisations", self.n_optimisations, 0),
            slack_bits=float(slack),
            polish=bool(self.final_polish),
            once=bool(self.columns_once),
            greedy=bool(self.greedy_pruning),
            on_remaining_rows=bool(self.remaining_rows_mdl),
        )

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        settings = self._settings()
        columns = prepare(X, self.categorical_features)
        seed = fit_seeds(self.random_state, (1, 1))[0, 0]
        self._model = _learn(columns, codes, n_classes, np.ones(len(codes), np.bool_), seed, settings, make_work(columns))
        conditions, thresholds, starts = self._model.conditions, self._model.thresholds, self._model.starts
        names = names_of(self)
        self.rules_ = RuleList(
            RipperRule(
                tuple(
                    condition_text(names[f], kind, value)
                    for (f, kind), value in zip(conditions[a:b].tolist(), thresholds[a:b].tolist())
                ),
                self.classes_[c],
                int(count.sum()),
                int(count[c]),
            )
            for a, b, c, count in zip(starts[:-1], starts[1:], self._model.classes, self._model.counts)
        )

    def _scores(self, X: FloatArray) -> FloatArray:
        return _apply(X, self._model)

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        settings = self._settings()
        columns = prepare(X, self.categorical_features)
        return _fit_and_score(X, columns, codes, n_classes, cuts.folds, cuts.seeds(self.random_state), settings)


@compiled
def _fit_and_score(
    X: FloatArray,
    columns: Columns,
    y: IntArray,
    n_classes: int,
    folds: UnsignedArray,
    seeds: NDArray[np.uint64],
    settings: Settings,
) -> FloatArray:
    """Score every sample by the rules of the other folds: (n_seeds, n_samples, n_classes)."""
    n_seeds, n = folds.shape
    scores = np.empty((n_seeds, n, n_classes))
    work = make_work(columns)
    in_training = np.empty(n, np.bool_)
    for s in range(n_seeds):
        for fold in range(seeds.shape[1]):
            for i in range(n):
                in_training[i] = folds[s, i] != fold
            model = _learn(columns, y, n_classes, in_training, seeds[s, fold], settings, work)
            shares = _shares(model.classes, model.counts)
            for i in range(n):
                if not in_training[i]:
                    scores[s, i] = shares[_first(X[i], model.conditions, model.thresholds, model.starts)]
    return scores


@compiled
def _apply(X: FloatArray, model: _Model) -> FloatArray:
    shares = _shares(model.classes, model.counts)
    scores = np.empty((len(X), model.counts.shape[1]))
    for i in range(len(X)):
        scores[i] = shares[_first(X[i], model.conditions, model.thresholds, model.starts)]
    return scores


@compiled
def _first(x: FloatArray, conditions: IntArray, thresholds: FloatArray, starts: IntArray) -> int:
    """First rule that covers a row; the last one has no conditions."""
    for r in range(len(starts) - 1):
        met = True
        for j in range(starts[r], starts[r + 1]):
            if not meets(conditions[j, 1], x[conditions[j, 0]], thresholds[j]):
                met = False
                break
        if met:
            return r
    return -1


@compiled
def _shares(classes: IntArray, counts: IntArray) -> FloatArray:
    """Class shares of the training rows of every rule, its own class just above the others if it is not."""
    out = np.empty(counts.shape)
    for r in range(len(counts)):
        total = counts[r].sum()
        if total == 0:
            out[r] = 0.0
            out[r, classes[r]] = 1.0
            continue
        most = counts[r].max()
        for c in range(counts.shape[1]):
            out[r, c] = counts[r, c] / total
        if out[r].argmax() != classes[r]:
            out[r, classes[r]] = most / total * (1 + 1e-9)
            out[r] /= out[r].sum()
    return out


@compiled
def _learn(
    columns: Columns, y: IntArray, n_classes: int, in_training: BoolArray, seed: np.uint64, settings: Settings, work: Work
) -> _Model:
    """Learn rules of all classes but the most frequent, then the default rule."""
    values, positive, mask = columns.values, work.positive, work.mask
    rows, n_conditions = start_fold(columns, in_training, work)
    state = np.uint64(seed)
    sizes = np.zeros(n_classes, np.int64)
    for row in rows:
        sizes[y[row]] += 1
    ranked = np.argsort(sizes, kind="mergesort")
    if not settings.on_remaining_rows:
        state = _shuffle_equal(ranked, sizes, state)
    rank = np.argsort(ranked, kind="mergesort")
    strata = np.empty(len(y), np.int64)
    for row in rows:
        strata[row] = rank[y[row]]
    rules = [np.empty((0, 3), np.int64)]
    rules.pop()
    classes = np.empty(0, np.int64)
    counts = np.empty((0, n_classes), np.int64)
    left = rows
    for turn in range(n_classes - 1):
        target = ranked[turn]
        if sizes[target] == 0:
            continue
        n_positive = 0
        for row in rows:
            positive[row] = y[row] == target
        for row in left:
            n_positive += positive[row]
        if n_positive == 0:
            continue
        task = Target(left, positive, strata, n_conditions, sizes[target] / sizes[ranked[turn:]].sum())
        if settings.on_remaining_rows:
            found, state = _rules_of_class_on_remaining_rows(columns, task, work, settings, state)
        else:
            found, state = rules_of_class(columns, task, work, settings, state)
        for rule in found:
            count = np.zeros((1, n_classes), np.int64)
            mark_covered(rule, columns.codes, mask)
            for row in left:
                count[0, y[row]] += mask[row]
            _, left, _ = part_rows(left, positive, mask)
            rules.append(rule)
            classes = np.append(classes, target)
            counts = np.concatenate((counts, count))
    count = np.zeros((1, n_classes), np.int64)
    for row in left:
        count[0, y[row]] += 1
    rules.append(np.empty((0, 3), np.int64))
    classes = np.append(classes, ranked[-1])
    counts = np.concatenate((counts, count))

    starts = np.zeros(len(rules) + 1, np.int64)
    for r in range(len(rules)):
        starts[r + 1] = starts[r] + len(rules[r])
    conditions, thresholds = np.empty((starts[-1], 2), np.int64), np.empty(starts[-1])
    for r in range(len(rules)):
        for j in range(len(rules[r])):
            at = starts[r] + j
            conditions[at] = rules[r][j, :2]
            thresholds[at] = values[rules[r][j, 0], rules[r][j, 2]]
    return _Model(conditions, thresholds, starts, classes, counts)


@compiled
def _shuffle_equal(ranked: IntArray, sizes: IntArray, state: np.uint64) -> np.uint64:
    """Put classes of the same size in random order; return the generator's new state, the old one if there are none."""
    start = 0
    for end in range(1, len(ranked) + 1):
        if end == len(ranked) or sizes[ranked[end]] != sizes[ranked[start]]:
            if sizes[ranked[start]] > 0:
                state = leave_out(ranked[start:end], end - start - 1, state)
            start = end
    return state


@compiled
def _rules_of_class_on_remaining_rows(
    columns: Columns, target: Target, work: Work, settings: Settings, state: np.uint64
) -> tuple[list[IntArray], np.uint64]:
    """Build rules for one class against the others as KEEL does.

    A new rule is judged by the description length of the whole set on the rows that no rule covered before it. An
    optimised rule is judged by that of the whole set on all rows. After each optimisation, the rows of the class that
    are not covered are learnt against all rows of other classes.
    """
    rows, positive, n_conditions = target.rows, target.positive, target.n_conditions
    codes, mask = columns.codes, work.mask
    nothing = np.empty((0, 3), np.int64)
    rules = [nothing]
    rules.pop()
    times = np.zeros(codes.shape[1], np.int32)  # how many rules cover a sample, in training or not
    n_positive = np.int64(0)  # typed: with the literal, numba would compile every function it is given to twice
    for row in rows:
        n_positive += positive[row]
    all_counts = np.zeros_like(work.counts)
    count_rows(rows, positive, columns, all_counts, 1)
    coverage = _Coverage(times, int(n_positive), all_counts)
    for turn in range(settings.n_optimisations + 1):
        if turn > 0:
            for at in range(len(rules)):
                state = _optimise_one(rules, at, coverage, columns, target, work, settings, state)
        left, covered = _not_covered(rows, positive, times)
        counts = counts_of_part(all_counts, covered, left, positive, columns)
        theory = _rules_bits(rules, n_conditions)
        n_missed = 0
        for row in left:
            n_missed += positive[row]
        least = np.inf
        while n_missed > 0:
            growing, pruning, state = split_rows(left, target.strata, settings.grow_share, state)
            some = counts_of_part(counts, pruning, growing, positive, columns)
            rule = grow(nothing, growing, some, positive, columns, work, settings.once)
            rule = prune(rule, pruning, positive, codes, np.bool_(False), settings.greedy)
            theory += rule_bits(len(rule), n_conditions, True)
            mark_covered(rule, codes, mask)
            bits = theory + _exception_bits(mask, times, left, positive, n_missed)
            if bits > least + settings.slack_bits:
                break
            least = min(least, bits)
            rules.append(rule)
            covered, left, p = part_rows(left, positive, mask)
            take_away(covered, left, positive, columns, counts)
            n_missed -= p
        times[:] = 0
        for rule in rules:
            mark_covered(rule, codes, mask)
            times += mask
    if settings.polish:
        _polish(rules, coverage, target, codes, mask)
    kept = [nothing]
    kept.pop()
    for rule in rules:
        if len(rule) > 0:
            kept.append(rule)
    return kept, state


@compiled
def _optimise_one(
    rules: list[IntArray],
    at: int,
    coverage: _Coverage,
    columns: Columns,
    target: Target,
    work: Work,
    settings: Settings,
    state: np.uint64,
) -> np.uint64:
    """Put the best of rule, replacement and revision in place; return the generator's new state."""
    rows, positive, n_conditions = target.rows, target.positive, target.n_conditions
    times, codes, mask = coverage.times, columns.codes, work.mask
    old = rules[at]
    growing, pruning, state = split_rows(rows, target.strata, settings.grow_share, state)
    some = counts_of_part(coverage.counts, pruning, growing, positive, columns)
    mark_covered(old, codes, mask)
    times -= mask
    n = 0
    for row in pruning:
        pruning[n] = row
        n += times[row] == 0
    pruning = pruning[:n]
    replacement = grow(np.empty((0, 3), np.int64), growing, some, positive, columns, work, settings.once)
    revision = grow(old, growing, some, positive, columns, work, settings.once)
    least = np.inf
    for candidate in (
        old,
        prune(replacement, pruning, positive, codes, np.bool_(True), settings.greedy),
        prune(revision, pruning, positive, codes, np.bool_(True), settings.greedy),
    ):
        mark_covered(candidate, codes, mask)
        bits = rule_bits(len(candidate), n_conditions, True)
        bits += _exception_bits(mask, times, rows, positive, coverage.n_positive)
        if bits < least:
            least = bits
            rules[at] = candidate
    mark_covered(rules[at], codes, mask)
    times += mask
    return state


@compiled
def _not_covered(
    rows: UnsignedArray, positive: NDArray[np.int8], times: NDArray[np.int32]
) -> tuple[UnsignedArray, UnsignedArray]:
    """Part the rows of other classes and those of the class that no rule covers from the rest, both in order."""
    out, rest = np.empty(len(rows), np.uint32), np.empty(len(rows), np.uint32)
    n, n_rest = 0, 0
    for row in rows:
        out[n] = rest[n_rest] = row
        learnt = positive[row] == 1 and times[row] > 0
        n += not learnt
        n_rest += learnt
    return out[:n], rest[:n_rest]


@compiled
def _rules_bits(rules: list[IntArray], n_conditions: float) -> float:
    bits = 0.0
    for rule in rules:
        bits += rule_bits(len(rule), n_conditions, True)
    return bits


@compiled
def _exception_bits(
    mask: NDArray[np.int8], times: NDArray[np.int32], rows: UnsignedArray, positive: NDArray[np.int8], n_positive: int
) -> float:
    """Bits that describe the exceptions to a marked rule and those counted in `times`, errors expected on either side alike."""
    n, p = 0, 0
    for row in rows:
        met = (times[row] + mask[row]) > 0
        n += met
        p += met & positive[row]
    return data_bits(0.5, float(n), float(len(rows) - n), float(n - p), float(n_positive - p))


@compiled
def _polish(rules: list[IntArray], coverage: _Coverage, target: Target, codes: NDArray[np.int32], mask: NDArray[np.int8]) -> None:
    """Drop, from the first to the last, every rule without which the description is shorter."""
    times, rows, positive, n_positive = coverage.times, target.rows, target.positive, coverage.n_positive
    at = 0
    while at < len(rules):
        mark_covered(rules[at], codes, mask)
        times -= mask
        without = _exception_bits(np.zeros_like(mask), times, rows, positive, n_positive)
        own_bits = rule_bits(len(rules[at]), target.n_conditions, True)
        if without < _exception_bits(mask, times, rows, positive, n_positive) + own_bits:
            rules.pop(at)
        else:
            times += mask
            at += 1
