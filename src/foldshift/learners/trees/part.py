"""PART: a list of rules, each the widest leaf of a partial C4.5 tree grown on the samples that the earlier rules leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    add_children,
    best_split,
    check_parameters,
    count_values,
    fill_lists,
    is_splittable,
    leaf_errors,
    make_tables,
    make_work,
    prepare,
    set_node,
    upper_quantile,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray

# Columns of the table of conditions. A condition belongs to a rule and asks for `value <= threshold`, `>` or a category.
_RULE, _COLUMN, _TEST = range(3)
_AT_MOST, _ABOVE, _EQUAL = range(3)
# What the column NEXT says of a node of a partial tree: not looked at, a leaf, or the number of children looked at.
_UNKNOWN, _LEAF = -2, -1


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

    def _settings(self) -> tuple[float, float, int, bool]:
        check_parameters(self.confidence, self.min_samples)
        return (
            float(self.confidence),
            upper_quantile(self.confidence),
            int(self.min_samples),
            bool(self.stop_when_first_leaf_widest),
        )

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        settings = self._settings()
        data = prepare(X, codes, self.categorical_features)
        work, tables = make_work(data, n_classes), make_tables(256, n_classes)
        rules = _make_rules(64, 16, n_classes)
        _, rules, n_conditions, n_rules = _learn(
            np.ones(len(X), bool), data, n_classes, settings, work, np.empty_like(work[0]), tables, rules
        )
        self.rules_ = RuleList(rules[0][:n_conditions], rules[1][:n_conditions], rules[2][:n_rules], self.classes_)

    def _scores(self, X: FloatArray) -> FloatArray:
        rules = self.rules_
        return _score_rows(X, rules.conditions, rules.values, rules.class_counts)

    def _scores_folds(
        self,
        X: FloatArray,
        codes: IntArray,
        n_classes: int,
        folds: UnsignedArray,
        n_folds: int,
        random_states: UnsignedArray | None,
    ) -> FloatArray:
        settings = self._settings()
        return _fit_and_score(X, prepare(X, codes, self.categorical_features), n_classes, folds, n_folds, settings)


class RuleList:
    """Rules in the order in which they are tried; the last one has no condition.

    Parameters
    ----------
    conditions : ndarray of shape (n_conditions, 3), dtype int64
        Number of the rule, column, and kind of test (0: value at most, 1: above, 2: equal to the one in `values`), in order
        of the rules.
    values : ndarray of shape (n_conditions,), dtype float64
        Thresholds and category codes.
    class_counts : ndarray of shape (n_rules, n_classes), dtype int64
        Training samples of each class for which the rule is the first that holds.
    classes : ndarray of shape (n_classes,)
        Class labels.
    """

    def __init__(self, conditions: IntArray, values: FloatArray, class_counts: IntArray, classes: Array) -> None:
        self.conditions = conditions
        self.values = values
        self.class_counts = class_counts
        self.classes = classes

    def __len__(self) -> int:
        return len(self.class_counts)

    def __str__(self) -> str:
        tests = [[] for _ in self.class_counts]
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
    X: FloatArray,
    data: tuple[Array, ...],
    n_classes: int,
    folds: UnsignedArray,
    n_folds: int,
    settings: tuple[float, float, int, bool],
) -> FloatArray:
    n_seeds, n = folds.shape
    scores = np.empty((n_seeds, n, n_classes))
    work = make_work(data, n_classes)
    lists_left = np.empty_like(work[0])
    tables, rules = make_tables(256, n_classes), _make_rules(64, 16, n_classes)
    in_training = np.empty(n, np.bool_)
    for seed in range(n_seeds):
        for fold in range(n_folds):
            for i in range(n):
                in_training[i] = folds[seed, i] != fold
            tables, rules, n_conditions, n_rules = _learn(in_training, data, n_classes, settings, work, lists_left, tables, rules)
            conditions, values, counts = rules
            for i in range(n):
                if not in_training[i]:
                    _score(X[i], conditions[:n_conditions], values, counts[:n_rules], scores[seed, i])
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
def _make_rules(n_conditions: int, n_rules: int, n_classes: int) -> tuple[IntArray, FloatArray, IntArray]:
    """Empty tables: conditions, their values, class counts of the rules."""
    return np.empty((n_conditions, 3), np.int64), np.empty(n_conditions), np.empty((n_rules, n_classes), np.int64)


@compiled
def _learn(
    in_training: BoolArray,
    data: tuple[Array, ...],
    n_classes: int,
    settings: tuple[float, float, int, bool],
    work: tuple[Array, ...],
    lists_left: UnsignedArray,
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
    rules: tuple[IntArray, FloatArray, IntArray],
) -> tuple[tuple[IntArray, FloatArray, IntArray, FloatArray], tuple[IntArray, FloatArray, IntArray], int, int]:
    """Learn the rules of one training part; return the tables, and the numbers of conditions and rules.

    `lists_left` keeps the rows that are left in ascending order, as a tree puts its own lists in another.
    """
    stop_early, min_samples = settings[3], settings[2]
    order, labels, lists = data[3], data[5], work[0]
    n_in_use, n_training = count_values(data, in_training, n_classes, work)
    left = in_training.copy()
    n_left = n_training
    fill_lists(order, left, lists_left)
    n_conditions, n_rules = 0, 0
    while True:
        if n_rules == len(rules[2]):
            larger = _make_rules(len(rules[1]), 2 * n_rules, n_classes)
            larger[0][:n_conditions], larger[1][:n_conditions] = rules[0][:n_conditions], rules[1][:n_conditions]
            larger[2][:n_rules] = rules[2]
            rules = larger
        lists[:, :n_left] = lists_left[:, :n_left]
        set_node(0, -1, 0, n_left, tables)
        tables[2][0] = 0
        for i in range(len(left)):
            if left[i]:
                tables[2][0, labels[i]] += 1
        rule_leaf = 0
        if not stop_early:
            tables = _grow_partially(in_training, n_in_use, n_training, data, settings, work, tables)
            rule_leaf = tables[0][0, WIDEST]
        elif n_left > 2 * min_samples + 1:
            tables = _grow_partially(left, n_in_use, n_left, data, settings, work, tables)
            rule_leaf = tables[0][0, WIDEST] if tables[0][0, WIDEST] != _first_leaf(tables) else 0
        table, thresholds, counts, _ = tables
        rules[2][n_rules] = counts[rule_leaf]
        if rule_leaf == 0:
            return tables, rules, n_conditions, n_rules + 1
        depth = 0
        node = rule_leaf
        while node > 0:
            depth += 1
            node = table[node, PARENT]
        if n_conditions + depth > len(rules[1]):
            larger = _make_rules(2 * (n_conditions + depth), len(rules[2]), n_classes)
            larger[0][:n_conditions], larger[1][:n_conditions] = rules[0][:n_conditions], rules[1][:n_conditions]
            larger[2][: n_rules + 1] = rules[2][: n_rules + 1]
            rules = larger
        n_conditions += depth
        at = n_conditions - 1
        node = rule_leaf
        while node > 0:
            parent = table[node, PARENT]
            f, branch = table[parent, FEATURE], node - table[parent, FIRST]
            rules[0][at, _RULE], rules[0][at, _COLUMN] = n_rules, f
            if data[1][f]:
                rules[0][at, _TEST], rules[1][at] = _EQUAL, branch
            else:
                rules[0][at, _TEST], rules[1][at] = _ABOVE if branch else _AT_MOST, thresholds[parent]
            at -= 1
            node = parent
        n_rules += 1
        for i in range(table[rule_leaf, START], table[rule_leaf, STOP]):
            left[lists[-1, i]] = False
        fill_lists(lists_left[:-1, :n_left], left, lists_left)  # in place: a row never moves back
        n_left -= table[rule_leaf, STOP] - table[rule_leaf, START]


@compiled
def _grow_partially(
    known: BoolArray,
    n_in_use: int,
    n_known: int,
    data: tuple[Array, ...],
    settings: tuple[float, float, int, bool],
    work: tuple[Array, ...],
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Grow one partial tree on the rows in the lists; return its tables.

    Thresholds are values of the `n_known` rows marked in `known`.
    """
    confidence, quantile, min_samples, stop_early = settings
    n_nodes = np.int64(1)  # typed: with the literal, numba would compile every function it is given to twice
    node = np.int64(0)
    tables[0][0, NEXT] = _UNKNOWN
    while node >= 0:
        table, _, counts, _ = tables
        if table[node, NEXT] == _UNKNOWN:
            feature, n_left_side = -1, 0
            if is_splittable(counts[node], min_samples):
                feature, n_left_side = best_split(
                    table[node, START],
                    table[node, STOP],
                    counts[node],
                    n_in_use,
                    n_known,
                    data,
                    work,
                    min_samples,
                    np.bool_(True),  # typed, as what C4.5 gives: one compiled version for both
                    stop_early,
                )
            if feature < 0:
                table[node, NEXT], table[node, WIDEST] = _LEAF, node
                node = table[node, PARENT]
                continue
            tables = add_children(node, n_nodes, feature, n_left_side, known, data, work, tables, min_samples, True)
            table, _, counts, _ = tables
            table[node, NEXT] = 0
            first, n_children = table[node, FIRST], table[node, N_CHILDREN]
            table[first : first + n_children, NEXT] = _UNKNOWN
            n_nodes += n_children
            if stop_early:
                _rank_branches(first, n_children, work[3], tables)
        first, n_children, n_seen = table[node, FIRST], table[node, N_CHILDREN], table[node, NEXT]
        has_inner = False
        for child in range(first, first + n_children):
            has_inner |= table[child, NEXT] >= 0
        if not has_inner and n_seen < n_children:
            if stop_early:
                child = first + table[first + n_seen, ORDER]
            else:
                child = _next_branch(first, n_children, min_samples, work[3], tables)
            if child >= 0:
                table[node, NEXT] += 1
                node = child
                continue
            # All other branches are too small to be looked at.
            for c in range(first, first + n_children):
                table[c, NEXT] = _LEAF
        if not has_inner and _is_leaf_better(node, confidence, quantile, stop_early, tables):
            table[node, NEXT], table[node, WIDEST], table[node, FEATURE] = _LEAF, node, -1
        else:
            table[node, WIDEST] = _widest_leaf(node, 0 if stop_early else min_samples, tables)
        node = table[node, PARENT]
    return tables


@compiled
def _next_branch(
    first: int, n_children: int, min_samples: int, terms: FloatArray, tables: tuple[IntArray, FloatArray, IntArray, FloatArray]
) -> int:
    """Branch to look at next: of those with `min_samples` samples the first pure one, else the one of least entropy; -1: none."""
    table, _, counts, _ = tables
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
def _is_leaf_better(
    node: int, confidence: float, quantile: float, stop_early: bool, tables: tuple[IntArray, FloatArray, IntArray, FloatArray]
) -> bool:
    """Whether a node whose branches are all leaves should be one itself."""
    table, _, counts, _ = tables
    first, n_children = table[node, FIRST], table[node, N_CHILDREN]
    below = 0.0
    for child in range(first, first + n_children):
        below += counts[child].sum() - counts[child].max() if stop_early else leaf_errors(counts[child], confidence, quantile)
    if stop_early:
        return below >= counts[node].sum() - counts[node].max()
    return leaf_errors(counts[node], confidence, quantile) <= below + PRUNING_SLACK + TOLERANCE


@compiled
def _widest_leaf(node: int, min_samples: int, tables: tuple[IntArray, FloatArray, IntArray, FloatArray]) -> int:
    """Widest leaf below a node, the first of equals, among the branches looked at that have `min_samples` samples."""
    table = tables[0]
    widest, most = -1, -1
    for child in range(table[node, FIRST], table[node, FIRST] + table[node, N_CHILDREN]):
        if table[child, NEXT] == _UNKNOWN or table[child, STOP] - table[child, START] < min_samples:
            continue
        leaf = child if table[child, NEXT] == _LEAF else table[child, WIDEST]
        if table[leaf, STOP] - table[leaf, START] > most:
            widest, most = leaf, table[leaf, STOP] - table[leaf, START]
    return widest


@compiled
def _first_leaf(tables: tuple[IntArray, FloatArray, IntArray, FloatArray]) -> int:
    """First leaf from the left among the branches looked at."""
    table = tables[0]
    node = 0
    while table[node, NEXT] != _LEAF:
        node = table[node, FIRST]
        while table[node, NEXT] == _UNKNOWN:
            node += 1
    return node


@compiled
def _rank_branches(
    first: int, n_children: int, terms: FloatArray, tables: tuple[IntArray, FloatArray, IntArray, FloatArray]
) -> None:
    """Order branches by entropy as KEEL does: a merge sort that takes from the right half unless the left is smaller.

    The entropy of a branch without samples is not a number, so no comparison with it holds.
    """
    table, _, counts, _ = tables
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
