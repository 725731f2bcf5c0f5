"""PART: a list of rules, each the widest leaf of a partial C4.5 tree grown on the samples that the earlier rules leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.base import FoldClassifier
from foldshift.learners.trees._c45_splits import (
    FEATURE,
    FIRST,
    N_CHILDREN,
    NEXT,
    ORDER,
    PARENT,
    PRUNING_SLACK,
    START,
    STOP,
    TOLERANCE,
    WIDEST,
    Columns,
    ErrorLimit,
    Nodes,
    Present,
    SplitRules,
    Work,
    add_children,
    best_split,
    check_parameters,
    count_values,
    error_limit,
    fill_lists,
    is_splittable,
    leaf_errors,
    make_nodes,
    make_work,
    prepare,
    set_root,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray
    from foldshift.learners._states import Cuts

# Columns of the table of conditions. A condition belongs to a rule and asks for `value <= threshold`, `>` or a category.
_RULE, _COLUMN, _TEST = range(3)
_AT_MOST, _ABOVE, _EQUAL = range(3)
# Values of the column NEXT of a partial tree: not looked at, a leaf, or the number of children looked at.
_UNKNOWN, _LEAF = -2, -1


class _Settings(NamedTuple):
    """Parameters of `PARTClassifier` as the kernels take them; `rules.cut_above_5_needs_25` says whether to do as KEEL does."""

    limit: ErrorLimit
    rules: SplitRules


class _Rules(NamedTuple):
    """Tables of the rules; only the first `n_conditions` and `n_rules` rows are in use. See `RuleList`."""

    conditions: IntArray
    values: FloatArray
    class_counts: IntArray
    n_conditions: int
    n_rules: int


class PARTClassifier(FoldClassifier):
    """Rules from partial decision trees.

    Gives the rules of Weka's PART with ``-C confidence -M min_samples``.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence of the upper limit of a leaf's error rate, above 0 and at most 0.5; less prunes more.
    min_samples : int, default=2
        Fewest samples that at least two branches of a split must have.
    stop_when_first_leaf_widest : bool, default=False
        Whether to do what the tool behind Moreno-Torres et al. (2012) does, see Notes.
    categorical_features : None, array-like of bool or of int, default=None
        Nominal columns, as a mask or as positions; they hold category codes 0, 1, ... None: all columns are numeric.

    Attributes
    ----------
    rules_ : RuleList
        ``print(model.rules_)`` shows the rules in the order in which they are tried.

    Notes
    -----
    Every rule is the widest leaf of a partial tree, grown on the samples that the rules before it do not cover. A partial tree
    follows the branches of a split in order of increasing entropy, each with its own branches, up to the first that does not
    end as a leaf. A split whose branches are all leaves becomes a leaf itself where error-based pruning allows it. Splits are
    chosen as in `C45Classifier`; thresholds are values of the whole training data.

    KEEL's PART, which gave the numbers of [2]_, differs, and with `stop_when_first_leaf_widest` this estimator does as KEEL
    does (facts from its public source). What decides the numbers: KEEL makes a rule of the widest leaf only if this is not also
    the first leaf of the partial tree from the left. Otherwise it stops, and all samples left go to their most frequent class;
    where that happens at the first rule, one class is all that is ever predicted. The other differences:

    - it also stops when no more than ``2 * min_samples + 1`` samples are left;
    - a split whose branches are all leaves becomes a leaf only if that costs no training error, so `confidence` has no influence;
    - a numeric split that would need more than 5 samples on either side needs 25;
    - branches of equal entropy are followed from right to left; the entropy of a branch without samples is not a number, and the
      branch comes wherever a merge sort leaves it whose comparisons with it all fail;
    - thresholds, and the number of samples that a many-valued column is judged by, are those of the samples left.

    A sample whose category no rule names goes on to the next rule; the last rule has no condition. Categories and classes that do
    not occur in training have no influence on the rules; only with the switch, unused codes below the highest one in training are
    branches without samples, whose place in the order matters.

    References
    ----------
    .. [1] Frank, Witten (1998). Generating accurate rule sets without global optimization. ICML, 144-151.
    .. [2] Moreno-Torres, Saez, Herrera (2012). Study on the impact of partition-induced dataset shift on k-fold cross-validation.
       IEEE TNNLS 23, 1304-1312. Table III.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import PARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = PARTClassifier().fit(X, y)
    >>> model.predict(X.iloc[[0, 60, 120]]).tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        confidence: float = 0.25,
        min_samples: int = 2,
        stop_when_first_leaf_widest: bool = False,
        categorical_features: ArrayLike | None = None,
    ) -> None:
        self.confidence = confidence
        self.min_samples = min_samples
        self.stop_when_first_leaf_widest = stop_when_first_leaf_widest
        self.categorical_features = categorical_features

    def _settings(self) -> _Settings:
        check_parameters(self.confidence, self.min_samples)
        rules = SplitRules(int(self.min_samples), True, bool(self.stop_when_first_leaf_widest))
        return _Settings(error_limit(self.confidence), rules)

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        settings = self._settings()
        columns = prepare(X, codes, self.categorical_features)
        work = make_work(columns, n_classes)
        lists_left, nodes = np.empty_like(work.lists), make_nodes(256, n_classes)
        _, rules = _learn(np.ones(len(X), bool), columns, settings, work, lists_left, nodes, _make_rules(64, 16, n_classes))
        in_use = slice(rules.n_conditions)
        self.rules_ = RuleList(rules.conditions[in_use], rules.values[in_use], rules.class_counts[: rules.n_rules], self.classes_)

    def _scores(self, X: FloatArray) -> FloatArray:
        rules = self.rules_
        return _score_rows(X, rules.conditions, rules.values, rules.class_counts)

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        settings = self._settings()
        return _fit_and_score(X, prepare(X, codes, self.categorical_features), n_classes, cuts.folds, cuts.n_folds, settings)


@dataclass(frozen=True, eq=False, repr=False)
class RuleList:
    """Rules in the order in which they are tried; the last one has no condition."""

    # number of the rule, column, and kind of test (0: value at most, 1: above, 2: equal to the one in `values`), in order of the
    # rules; shape (n_conditions, 3)
    conditions: IntArray
    values: FloatArray  # thresholds and category codes; shape (n_conditions,)
    # training samples of each class for which the rule is the first that holds; shape (n_rules, n_classes)
    class_counts: IntArray
    classes: Array  # class labels; shape (n_classes,)

    def __len__(self) -> int:
        return len(self.class_counts)

    def __str__(self) -> str:
        tests: list[list[str]] = [[] for _ in self.class_counts]
        for (rule, column, test), value in zip(self.conditions, self.values):
            tests[rule].append(f"x{column} {('<=', '>', '=')[test]} {value:.6g}")
        lines = []
        for parts, counts in zip(tests, self.class_counts):
            n, right = counts.sum(), counts.max()
            left = " AND ".join(parts) or "otherwise"
            lines.append(f"{left}: {self.classes[counts.argmax()]} ({n:.1f}{f'/{n - right:.1f}' if n > right else ''})")
        return "\n".join(lines)


@compiled
def _fit_and_score(
    X: FloatArray, columns: Columns, n_classes: int, folds: UnsignedArray, n_folds: int, settings: _Settings
) -> FloatArray:
    """Score every sample by the rules of the other folds: (n_seeds, n_samples, n_classes)."""
    n_seeds, n = folds.shape
    scores = np.empty((n_seeds, n, n_classes))
    work = make_work(columns, n_classes)
    lists_left = np.empty_like(work.lists)
    nodes, rules = make_nodes(256, n_classes), _make_rules(64, 16, n_classes)
    in_training = np.empty(n, np.bool_)
    for seed in range(n_seeds):
        for fold in range(n_folds):
            for i in range(n):
                in_training[i] = folds[seed, i] != fold
            nodes, rules = _learn(in_training, columns, settings, work, lists_left, nodes, rules)
            conditions, counts = rules.conditions[: rules.n_conditions], rules.class_counts[: rules.n_rules]
            for i in range(n):
                if not in_training[i]:
                    _score(X[i], conditions, rules.values, counts, scores[seed, i])
    return scores


@compiled
def _score_rows(X: FloatArray, conditions: IntArray, values: FloatArray, counts: IntArray) -> FloatArray:
    scores = np.empty((len(X), counts.shape[1]))
    for i in range(len(X)):
        _score(X[i], conditions, values, counts, scores[i])
    return scores


@compiled
def _score(x: FloatArray, conditions: IntArray, values: FloatArray, counts: IntArray, out: FloatArray) -> None:
    """Write the class shares of the first rule that holds."""
    rule, holds = 0, True
    for c in range(len(conditions)):
        if conditions[c, _RULE] > rule:
            if holds:
                break
            rule, holds = conditions[c, _RULE], True
        elif not holds:
            continue
        value, test = x[conditions[c, _COLUMN]], conditions[c, _TEST]
        if test == _AT_MOST:
            holds = value <= values[c]
        elif test == _ABOVE:
            holds = value > values[c]
        else:
            holds = value == values[c]
    if not holds:
        rule += 1
    out[:] = counts[rule] / counts[rule].sum()


@compiled
def _make_rules(n_conditions: int, n_rules: int, n_classes: int) -> _Rules:
    """Allocate the tables of the rules."""
    return _Rules(
        conditions=np.empty((n_conditions, 3), np.int64),
        values=np.empty(n_conditions),
        class_counts=np.empty((n_rules, n_classes), np.int64),
        n_conditions=0,
        n_rules=0,
    )


@compiled
def _learn(
    in_training: BoolArray,
    columns: Columns,
    settings: _Settings,
    work: Work,
    lists_left: UnsignedArray,
    nodes: Nodes,
    rules: _Rules,
) -> tuple[Nodes, _Rules]:
    """Learn the rules of one training part; return the tables.

    `lists_left` keeps the rows that are left in ascending order, as a tree puts its own lists in another.
    """
    like_keel, min_samples = settings.rules.cut_above_5_needs_25, settings.rules.min_samples
    present = count_values(columns, in_training, nodes.counts.shape[1], work)
    left = in_training.copy()
    n_left = present.n_rows
    fill_lists(columns.order, left, lists_left)
    n_conditions, n_rules = 0, 0
    while True:
        work.lists[:, :n_left] = lists_left[:, :n_left]
        set_root(n_left, left, columns, nodes)
        rule_leaf = 0
        if not like_keel:
            nodes = _grow_partially(in_training, present, columns, settings, work, nodes)
            rule_leaf = nodes.table[0, WIDEST]
        elif n_left > 2 * min_samples + 1:
            nodes = _grow_partially(left, Present(present.n_classes, n_left), columns, settings, work, nodes)
            rule_leaf = nodes.table[0, WIDEST] if nodes.table[0, WIDEST] != _first_leaf(nodes) else 0
        depth, node = 0, rule_leaf
        while node > 0:
            depth += 1
            node = nodes.table[node, PARENT]
        rules = _with_room(rules, n_conditions + depth, n_rules + 1)
        rules.class_counts[n_rules] = nodes.counts[rule_leaf]
        if rule_leaf == 0:
            return nodes, _Rules(rules.conditions, rules.values, rules.class_counts, n_conditions, n_rules + 1)
        n_conditions += depth
        _write_conditions(n_rules, rule_leaf, n_conditions, columns.is_nominal, nodes, rules)
        n_rules += 1
        start, stop = nodes.table[rule_leaf, START], nodes.table[rule_leaf, STOP]
        for i in range(start, stop):
            left[work.lists[-1, i]] = False
        fill_lists(lists_left[:-1, :n_left], left, lists_left)  # in place: a row never moves back
        n_left -= stop - start


@compiled
def _with_room(rules: _Rules, n_conditions: int, n_rules: int) -> _Rules:
    """Move the rules to larger tables if there is no room for so many."""
    old_conditions, old_rules = len(rules.values), len(rules.class_counts)
    if n_conditions <= old_conditions and n_rules <= old_rules:
        return rules
    larger = _make_rules(max(2 * n_conditions, old_conditions), max(2 * n_rules, old_rules), rules.class_counts.shape[1])
    larger.conditions[:old_conditions], larger.values[:old_conditions] = rules.conditions, rules.values
    larger.class_counts[:old_rules] = rules.class_counts
    return larger


@compiled
def _write_conditions(rule: int, leaf: int, end: int, is_nominal: BoolArray, nodes: Nodes, rules: _Rules) -> None:
    """Write the conditions on the way to a leaf, the first one at the root, into the places before `end`."""
    at, node = end - 1, leaf
    while node > 0:
        parent = nodes.table[node, PARENT]
        f, branch = nodes.table[parent, FEATURE], node - nodes.table[parent, FIRST]
        rules.conditions[at, _RULE], rules.conditions[at, _COLUMN] = rule, f
        if is_nominal[f]:
            rules.conditions[at, _TEST], rules.values[at] = _EQUAL, branch
        else:
            rules.conditions[at, _TEST], rules.values[at] = _ABOVE if branch else _AT_MOST, nodes.thresholds[parent]
        at -= 1
        node = parent


@compiled
def _grow_partially(known: BoolArray, present: Present, columns: Columns, settings: _Settings, work: Work, nodes: Nodes) -> Nodes:
    """Grow one partial tree on the rows in the lists; return its tables.

    Thresholds are values of the rows marked in `known`, which `present` counts.
    """
    rules = settings.rules
    like_keel, min_samples = rules.cut_above_5_needs_25, rules.min_samples
    n_nodes = np.int64(1)  # typed: with the literal, numba would compile every function it is given to twice
    node = np.int64(0)
    nodes.table[0, NEXT] = _UNKNOWN
    while node >= 0:
        table = nodes.table
        if table[node, NEXT] == _UNKNOWN:
            split = (-1, 0)
            if is_splittable(nodes.counts[node], min_samples):
                split = best_split(node, nodes, present, columns, work, rules)
            if split[0] < 0:
                table[node, NEXT], table[node, WIDEST] = _LEAF, node
                node = table[node, PARENT]
                continue
            nodes = add_children(node, n_nodes, split, known, columns, work, nodes, min_samples)
            table = nodes.table
            table[node, NEXT] = 0
            first, n_children = table[node, FIRST], table[node, N_CHILDREN]
            table[first : first + n_children, NEXT] = _UNKNOWN
            n_nodes += n_children
            if like_keel:
                _rank_branches(first, n_children, work.terms, nodes)
        first, n_children, n_seen = table[node, FIRST], table[node, N_CHILDREN], table[node, NEXT]
        has_inner = False
        for child in range(first, first + n_children):
            has_inner |= table[child, NEXT] >= 0
        if not has_inner and n_seen < n_children:
            if like_keel:
                child = first + table[first + n_seen, ORDER]
            else:
                child = _next_branch(first, n_children, min_samples, work.terms, nodes)
            if child >= 0:
                table[node, NEXT] += 1
                node = child
                continue
            # All other branches are too small to be looked at.
            for c in range(first, first + n_children):
                table[c, NEXT] = _LEAF
        if not has_inner and _is_leaf_better(node, settings.limit, like_keel, nodes):
            table[node, NEXT], table[node, WIDEST], table[node, FEATURE] = _LEAF, node, -1
        else:
            table[node, WIDEST] = _widest_leaf(node, 0 if like_keel else min_samples, nodes)
        node = table[node, PARENT]
    return nodes


@compiled
def _next_branch(first: int, n_children: int, min_samples: int, terms: FloatArray, nodes: Nodes) -> int:
    """Branch to look at next: of those with `min_samples` samples the first pure one, else the one of least entropy; -1: none."""
    table, counts = nodes.table, nodes.counts
    best, least = -1, np.inf
    for child in range(first, first + n_children):
        n = counts[child].sum()
        if table[child, NEXT] != _UNKNOWN or n < min_samples:
            continue
        entropy = _entropy(counts[child], n, terms)
        if entropy <= TOLERANCE:
            return child
        if entropy < least - TOLERANCE:
            best, least = child, entropy
    return best


@compiled
def _entropy(counts: IntArray, n: int, terms: FloatArray) -> float:
    total = terms[n]
    for k in range(len(counts)):
        total -= terms[counts[k]]
    return total / n


@compiled
def _is_leaf_better(node: int, limit: ErrorLimit, like_keel: bool, nodes: Nodes) -> bool:
    """Decide whether a node whose branches are all leaves should be one itself."""
    table, counts = nodes.table, nodes.counts
    first, n_children = table[node, FIRST], table[node, N_CHILDREN]
    below = 0.0
    for child in range(first, first + n_children):
        below += counts[child].sum() - counts[child].max() if like_keel else leaf_errors(counts[child], limit)
    if like_keel:
        return below >= counts[node].sum() - counts[node].max()
    return leaf_errors(counts[node], limit) <= below + PRUNING_SLACK + TOLERANCE


@compiled
def _widest_leaf(node: int, min_samples: int, nodes: Nodes) -> int:
    """Widest leaf below a node, the first of equals, among the branches looked at that have `min_samples` samples."""
    table = nodes.table
    widest, most = -1, -1
    for child in range(table[node, FIRST], table[node, FIRST] + table[node, N_CHILDREN]):
        if table[child, NEXT] == _UNKNOWN or table[child, STOP] - table[child, START] < min_samples:
            continue
        leaf = child if table[child, NEXT] == _LEAF else table[child, WIDEST]
        if table[leaf, STOP] - table[leaf, START] > most:
            widest, most = leaf, table[leaf, STOP] - table[leaf, START]
    return widest


@compiled
def _first_leaf(nodes: Nodes) -> int:
    """First leaf from the left among the branches looked at."""
    table = nodes.table
    node = 0
    while table[node, NEXT] != _LEAF:
        node = table[node, FIRST]
        while table[node, NEXT] == _UNKNOWN:
            node += 1
    return node


@compiled
def _rank_branches(first: int, n_children: int, terms: FloatArray, nodes: Nodes) -> None:
    """Order branches by entropy as KEEL does: a merge sort that takes from the right half unless the left is smaller.

    The entropy of a branch without samples is not a number, so no comparison with it holds.
    """
    table, counts = nodes.table, nodes.counts
    entropies = np.full(n_children, np.nan)
    for c in range(n_children):
        n = counts[first + c].sum()
        if n > 0:
            entropies[c] = _entropy(counts[first + c], n, terms)
    ranked, merged = np.arange(n_children), np.empty(n_children, np.int64)
    # Halves of halves, listed from the whole down and merged from the end of the list.
    ranges = np.empty((2 * n_children, 2), np.int64)
    ranges[0] = 0, n_children - 1
    n_ranges = 1
    at = 0
    while at < n_ranges:
        low, high = ranges[at]
        if low < high:
            ranges[n_ranges] = low, (low + high) // 2
            ranges[n_ranges + 1] = (low + high) // 2 + 1, high
            n_ranges += 2
        at += 1
    for at in range(n_ranges - 1, -1, -1):
        low, high = ranges[at]
        middle = (low + high) // 2
        i, j = low, middle + 1
        for k in range(low, high + 1):
            if j > high or (i <= middle and entropies[ranked[i]] < entropies[ranked[j]]):
                merged[k] = ranked[i]
                i += 1
            else:
                merged[k] = ranked[j]
                j += 1
        ranked[low : high + 1] = merged[low : high + 1]
    table[first : first + n_children, ORDER] = ranked
