"""FURIA: unordered fuzzy rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners._states import fit_seeds
from foldshift.learners.base import FoldClassifier
from foldshift.learners.rules._rules import (
    EQ,
    LE,
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
    prepare,
    start_fold,
)
from foldshift.learners.rules._rulesets import rules_of_class

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, RandomState, UnsignedArray
    from foldshift.learners._states import Cuts

SLACK_BITS = 64.0
M = 2.0  # weight of the class prior in a certainty factor


class _Model(NamedTuple):
    """Fuzzy rules of all classes."""

    conditions: IntArray  # (n_conditions, 2): column and kind
    limits: FloatArray  # (n_conditions, 2): where membership ceases to be 1, and where it becomes 0; a category, twice
    starts: IntArray  # (n_rules + 1,): first condition of every rule, and the number of conditions
    classes: IntArray  # (n_rules,)
    certainties: FloatArray  # (n_conditions,): certainty factor of the rule up to and with a condition
    priors: FloatArray  # (n_classes,): shares of the classes in training


@dataclass(frozen=True)
class FuriaRule:
    """One fuzzy rule."""

    # trapezoids ``[a, b, c, d]`` (membership rises from a to b and falls from c to d) and tests for a category
    conditions: tuple[str, ...]
    label: Any  # class that the rule supports
    certainty: float  # certainty factor

    def __str__(self) -> str:
        return f"{' and '.join(self.conditions)} => {self.label} (CF = {self.certainty:.2f})"


class FURIAClassifier(FoldClassifier):
    """Fuzzy unordered rule induction (FURIA).

    RIPPER's rules for every class against all others, without order and default rule. The limits of numeric conditions
    are made fuzzy, every rule gets a certainty factor, and a sample goes to the class whose rules support it most. Where no
    rule covers a sample, rules are shortened until they do.

    Parameters
    ----------
    n_optimisations : int, default=2
        Rounds of optimisation.
    n_folds : int, default=3
        In optimisation, rules are grown on all but one of so many parts of the rows, and pruned on that one; at least 2.
    categorical_features : None, array-like of bool or of int, default=None
        Nominal columns, as a mask or as positions; they hold category codes 0, 1, ... None: all columns are numeric.
    random_state : int, RandomState or None, default=None
        Draws the parts.

    Attributes
    ----------
    rules_ : list of FuriaRule
        By class; ``print(model.rules_)`` shows one per line.

    Notes
    -----
    Rules are learnt as by `RIPPERClassifier`, but for all classes, on all rows, and without pruning until optimisation. Of
    conditions on the same column in the same direction only the tightest stays, in the place of the first.

    A fuzzy limit falls from 1 at the limit to 0 at another training value of the column. Condition by condition, the one
    first whose best fuzzy limit is purest, that value is chosen for which the membership-weighted share of the class is
    largest among the rows with positive membership in the other conditions; the farthest one wins ties. A condition that is
    left over falls to 0 at the next training value; one without a training value beyond its limit stays crisp. Tests
    for a category are always crisp.

    The membership of a sample in a rule is the product over its conditions. The certainty factor of a rule for class k is
    (membership of the training rows of k + 2 prior of k) / (membership of all training rows + 2). Scores are the sums,
    over the rules of a class, of membership times certainty factor, divided by the total.

    A sample that no rule covers is scored by stretched rules: each is cut before its first condition that does not
    cover the sample, and a class scores the maximum over its rules of membership times the certainty factor of the cut rule
    times (conditions left + 1) / (conditions + 2). If nothing is left of any rule, scores are the class priors. The more
    frequent class wins ties: its score is lifted by one unit in the last place.

    A category that is absent from training occurs in no rule; a sample that has it fails every test of the column.

    References
    ----------
    .. [1] Huehn, Huellermeier (2009). FURIA: an algorithm for unordered fuzzy rule induction. Data Mining and Knowledge
       Discovery 19, 293-319.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import FURIAClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = FURIAClassifier(random_state=0).fit(X, y)
    >>> model.predict(X.iloc[[0, 60, 120]]).tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        n_optimisations: int = 2,
        n_folds: int = 3,
        categorical_features: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_optimisations = n_optimisations
        self.n_folds = n_folds
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _settings(self) -> Settings:
        n_folds = checked_count("n_folds", self.n_folds, 2)
        return Settings(
            prune_first=False,
            grow_share=(n_folds - 1) / n_folds,
            n_optimisations=checked_count("n_optimisations", self.n_optimisations, 0),
            slack_bits=SLACK_BITS,
            polish=True,
            once=False,
            greedy=False,
            on_remaining_rows=False,
        )

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        settings = self._settings()
        columns = prepare(X, self.categorical_features)
        seed = fit_seeds(self.random_state, (1, 1))[0, 0]
        model = _learn(columns, codes, n_classes, np.ones(len(codes), np.bool_), seed, settings, make_work(columns))
        self._model, conditions, limits, starts = model, model.conditions, model.limits, model.starts
        names = names_of(self)
        self.rules_ = RuleList(
            FuriaRule(
                tuple(_text(names[f], kind, *limit) for (f, kind), limit in zip(conditions[a:b].tolist(), limits[a:b].tolist())),
                self.classes_[c],
                float(model.certainties[b - 1]),
            )
            for a, b, c in zip(starts[:-1], starts[1:], model.classes)
        )

    def _scores(self, X: FloatArray) -> FloatArray:
        return _apply(X, self._model)

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        settings = self._settings()
        columns = prepare(X, self.categorical_features)
        return _fit_and_score(X, columns, codes, n_classes, cuts.folds, cuts.seeds(self.random_state), settings)


def _text(name: str, kind: int, core: float, support: float) -> str:
    if kind == EQ:
        return condition_text(name, kind, core)
    ends = ("-inf", "-inf", f"{core:.12g}", f"{support:.12g}")
    return f"{name} in [{', '.join(ends if kind == LE else (f'{support:.12g}', f'{core:.12g}', 'inf', 'inf'))}]"


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
            for i in range(n):
                if not in_training[i]:
                    _score(X[i], model, scores[s, i])
    return scores


@compiled
def _apply(X: FloatArray, model: _Model) -> FloatArray:
    scores = np.empty((len(X), len(model.priors)))
    for i in range(len(X)):
        _score(X[i], model, scores[i])
    return scores


@compiled
def _membership(kind: int, core: float, support: float, x: float) -> float:
    """Degree to which a value meets a condition; a support equal to the core is crisp."""
    if kind == EQ:
        return 1.0 if x == core else 0.0
    if kind == LE:
        if x <= core:
            return 1.0
        return 1.0 - (x - core) / (support - core) if x < support else 0.0
    if x >= core:
        return 1.0
    return 1.0 - (core - x) / (core - support) if x > support else 0.0


@compiled
def _score(x: FloatArray, model: _Model, out: FloatArray) -> None:
    """Write the class scores of one sample."""
    conditions, limits, starts, classes = model.conditions, model.limits, model.starts, model.classes
    certainties, priors = model.certainties, model.priors
    out[:] = 0.0
    covered = False
    for r in range(len(classes)):
        degree = 1.0
        for j in range(starts[r], starts[r + 1]):
            degree *= _membership(conditions[j, 1], limits[j, 0], limits[j, 1], x[conditions[j, 0]])
            if degree == 0:
                break
        if degree > 0:
            covered = True
            out[classes[r]] += degree * certainties[starts[r + 1] - 1]
    if not covered:
        for r in range(len(classes)):
            kept, degree = 0, 1.0
            for j in range(starts[r], starts[r + 1]):
                here = _membership(conditions[j, 1], limits[j, 0], limits[j, 1], x[conditions[j, 0]])
                if degree * here == 0:
                    break
                degree *= here
                kept += 1
            if kept > 0:
                weight = degree * certainties[starts[r] + kept - 1] * (kept + 1) / (starts[r + 1] - starts[r] + 2)
                out[classes[r]] = max(out[classes[r]], weight)
    total = out.sum()
    if total == 0:
        out[:] = priors
        return
    out /= total
    best = out.max()
    winner = -1
    for c in range(len(out)):
        if out[c] == best and (winner < 0 or priors[c] > priors[winner]):
            winner = c
    if out.argmax() != winner:
        out[winner] = np.nextafter(best, 2.0)


@compiled
def _learn(
    columns: Columns, y: IntArray, n_classes: int, in_training: BoolArray, seed: np.uint64, settings: Settings, work: Work
) -> _Model:
    """Learn fuzzy rules of all classes."""
    positive = work.positive
    rows, n_conditions = start_fold(columns, in_training, work)
    order = work.order[:, : len(rows)]
    state = np.uint64(seed)
    priors = np.zeros(n_classes)
    for row in rows:
        priors[y[row]] += 1
    priors /= len(rows)
    rules = [np.empty((0, 3), np.int64)]
    rules.pop()
    classes = np.empty(0, np.int64)
    starts = np.zeros(1, np.int64)
    for c in range(n_classes):
        if priors[c] == 0:
            continue
        for row in rows:
            positive[row] = y[row] == c
        found, state = rules_of_class(columns, Target(rows, positive, y, n_conditions, priors[c]), work, settings, state)
        for rule in found:
            rule = _tightest(rule)
            if len(rule) > 0:
                rules.append(rule)
                classes = np.append(classes, c)
                starts = np.append(starts, starts[-1] + len(rule))
    conditions, limits = np.empty((starts[-1], 2), np.int64), np.empty((starts[-1], 2))
    certainties = np.empty(starts[-1])
    degrees = np.empty((8, in_training.size))
    for r in range(len(rules)):
        a, b = starts[r], starts[r + 1]
        if b - a > len(degrees):
            degrees = np.empty((b - a, in_training.size))
        conditions[a:b] = rules[r][:, :2]
        for row in rows:
            positive[row] = y[row] == classes[r]
        _fuzzify(rules[r], columns, rows, positive, order, degrees, limits[a:b])
        _certainties(degrees[: b - a], rows, positive, priors[classes[r]], certainties[a:b])
    return _Model(conditions, limits, starts, classes, certainties, priors)


@compiled
def _tightest(rule: IntArray) -> IntArray:
    """Keep the last of the conditions on one column in one direction, in the place of the first."""
    out = rule.copy()
    n = 0
    for j in range(len(rule)):
        at = n
        for k in range(n):
            if out[k, 0] == rule[j, 0] and out[k, 1] == rule[j, 1]:
                at = k
        out[at] = rule[j]
        n += at == n
    return out[:n]


@compiled
def _fuzzify(
    rule: IntArray,
    columns: Columns,
    rows: UnsignedArray,
    positive: NDArray[np.int8],
    order: UnsignedArray,
    degrees: FloatArray,
    limits: FloatArray,
) -> None:
    """Choose where the membership of every condition becomes 0.

    Writes `limits`, and the memberships of the samples by condition into `degrees`; only those of the training rows count.
    """
    codes, values = columns.codes, columns.values
    k, n = len(rule), codes.shape[1]
    zeros = np.zeros(n, np.int32)  # conditions that a row does not meet at all
    mask, relevant = np.empty(n, np.int8), np.empty(n, np.int8)
    purities, supports = np.full(k, -1.0), np.empty(k)
    open_ = rule[:, 1] != EQ
    for j in range(k):
        limits[j] = values[rule[j, 0], rule[j, 2]]
        mark_covered(rule[j : j + 1], codes, mask)
        for i in range(n):
            degrees[j, i] = mask[i]
            zeros[i] += 1 - mask[i]
    reached = -1.0
    while True:
        best, best_j = -1.0, -1
        for j in range(k):
            if open_[j]:
                f, kind = rule[j, 0], rule[j, 1]
                for i in range(n):
                    relevant[i] = zeros[i] == (degrees[j, i] == 0)
                purities[j], supports[j] = _best_support(kind, limits[j, 0], order[f], codes[f], values[f], positive, relevant)
                if purities[j] > best:
                    best, best_j = purities[j], j
        if best_j < 0 or best < reached:
            break  # the others that are open are no purer
        open_[best_j] = False
        reached = best
        limits[best_j, 1] = supports[best_j]
        f, kind, core, support = rule[best_j, 0], rule[best_j, 1], limits[best_j, 0], limits[best_j, 1]
        for i in range(_first_beyond(kind, rule[best_j, 2], order[f], codes[f]), order.shape[1]):
            row = order[f, i] if kind == LE else order[f, order.shape[1] - 1 - i]
            degree = _membership(kind, core, support, values[f, codes[f, row]])
            if degree == 0:
                break
            degrees[best_j, row] = degree
            zeros[row] -= 1
    for j in range(k):
        f, kind = rule[j, 0], rule[j, 1]
        if kind != EQ and limits[j, 1] == limits[j, 0]:
            i = _first_beyond(kind, rule[j, 2], order[f], codes[f])
            if i < order.shape[1]:
                limits[j, 1] = values[f, codes[f, order[f, i] if kind == LE else order[f, order.shape[1] - 1 - i]]]


@compiled
def _first_beyond(kind: int, bound: int, listed: UnsignedArray, code: NDArray[np.int32]) -> int:
    """Place of the first row that does not meet a condition, in ascending order for `LE`, in descending order for `GE`."""
    n = len(listed)
    i, end = 0, n
    while i < end:
        middle = (i + end) // 2
        if meets(kind, code[listed[middle] if kind == LE else listed[n - 1 - middle]], bound):
            i = middle + 1
        else:
            end = middle
    return i


@compiled
def _best_support(
    kind: int,
    core: float,
    listed: UnsignedArray,
    code: NDArray[np.int32],
    values: FloatArray,
    positive: NDArray[np.int8],
    relevant: NDArray[np.int8],
) -> tuple[float, float]:
    """Purest place for membership to become 0, and its purity; -1 if no row meets the other conditions.

    Going outwards from the core, the rows passed have membership 1 - (distance to the core) / (distance of the support):
    their number and the sum of their distances give the membership of all of them for any support. `relevant` marks the rows that
    meet the other conditions.
    """
    n = len(listed)
    chosen = np.empty(n, np.uint32)
    m = 0
    for i in range(n):
        row = listed[i] if kind == LE else listed[n - 1 - i]
        chosen[m] = row
        m += relevant[row]
    inside_p, inside, near_p, near = 0, 0, 0.0, 0.0
    best, support = -1.0, core
    i = 0
    while i < m:
        first = code[chosen[i]]
        distance = values[first] - core if kind == LE else core - values[first]
        here_p, start = 0, i
        while i < m and code[chosen[i]] == first:
            here_p += positive[chosen[i]]
            i += 1
        here = i - start
        if distance > 0 and inside > 0:
            total = inside - near / distance
            purity = (inside_p - near_p / distance) / total
            if purity >= best:
                best, support = purity, values[first]
        inside_p += here_p
        inside += here
        if distance > 0:
            near_p += here_p * distance
            near += here * distance
        elif best < 0:
            best = 0.0
    return best, support


@compiled
def _certainties(degrees: FloatArray, rows: UnsignedArray, positive: NDArray[np.int8], prior: float, out: FloatArray) -> None:
    """Certainty factor of every beginning of a rule."""
    left, products = rows.copy(), np.ones(degrees.shape[1])
    n = len(left)
    for j in range(len(degrees)):
        kept = 0
        for i in range(n):
            row = left[i]
            products[row] *= degrees[j, row]
            left[kept] = row
            kept += products[row] != 0
        n = kept
        mine, all_ = 0.0, 0.0
        for row in left[:n]:
            all_ += products[row]
            mine += products[row] * positive[row]
        out[j] = (mine + M * prior) / (all_ + M)
