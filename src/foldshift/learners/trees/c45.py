"""C4.5 decision trees as Quinlan's release 8 and Weka's J48 grow and prune them, with columns sorted once per data set."""

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
    PARENT,
    PRUNING_SLACK,
    START,
    STOP,
    TOLERANCE,
    Columns,
    ErrorLimit,
    Nodes,
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
    part_rows,
    prepare,
    set_root,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray
    from foldshift.learners._states import Cuts


class _Settings(NamedTuple):
    """Parameters of `C45Classifier` as the kernels take them."""

    limit: ErrorLimit
    rules: SplitRules
    pruned: bool
    collapse: bool
    raising: bool


class _Tree(NamedTuple):
    """A tree as scoring takes it; see `ClassificationTree`."""

    feature: IntArray
    threshold: FloatArray
    first_child: IntArray
    n_children: IntArray
    is_nominal: BoolArray
    class_counts: IntArray


class C45Classifier(FoldClassifier):
    """Decision tree by gain ratio, with error-based pruning.

    Gives the tree of Weka's J48 with ``-C confidence -M min_samples``; ``pruned=False`` is its ``-U``, ``collapse=False`` its
    ``-O``, ``subtree_raising=False`` its ``-S``, ``mdl_correction=False`` its ``-J`` and ``laplace=True`` its ``-A``. A
    probability estimation tree is ``C45Classifier(pruned=False, collapse=False, laplace=True)``.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence of the upper limit of a leaf's error rate, above 0 and at most 0.5; less prunes more.
    min_samples : int, default=2
        Fewest samples that at least two branches of a split must have.
    pruned : bool, default=True
        Whether to replace subtrees by leaves or by their largest branches where the estimated errors allow it.
    collapse : bool, default=True
        Whether to replace subtrees that make no fewer training errors than a leaf, before pruning.
    subtree_raising : bool, default=True
        Whether pruning may replace a subtree by its largest branch.
    mdl_correction : bool, default=True
        Whether the gain of a numeric split is lowered by log2(number of possible cuts) / n.
    cut_above_5_needs_25 : bool, default=False
        Whether a numeric split that would need more than 5 samples on either side needs 25, as in the KEEL of 2011; the C4.5 of
        Moreno-Torres et al. (2012).
    laplace : bool, default=False
        Whether a leaf's scores are (n_class + 1) / (n + n_classes) instead of n_class / n.
    categorical_features : None, array-like of bool or of int, default=None
        Nominal columns, as a mask or as positions; they hold category codes 0, 1, ... None: all columns are numeric.

    Attributes
    ----------
    tree_ : ClassificationTree
        ``print(model.tree_)`` shows it as J48 does.

    Notes
    -----
    A nominal split has one branch per category, a numeric one two. Of the splits that gain at least about as much as the mean of
    all, the one with the best gain ratio wins; the first column and the lowest cut win ties. A numeric threshold is
    the largest training value that is not above the middle of the two values it parts; values within 1e-5 of each other are not
    parted. A numeric split needs, on either side, a tenth of the mean class size, but at least `min_samples` and at most 25
    samples. All these are rules of release 8.

    Table III of [5]_ comes from a KEEL that sets this number to 25 where it exceeds 5 (a slip that later versions correct): with
    `cut_above_5_needs_25`, balanced accuracies agree with it.

    A category with no training sample at a split, whether it occurs elsewhere in training or is new, is scored by the
    samples of the split as a whole. Categories and classes that do not occur in training have no influence on the tree.

    References
    ----------
    .. [1] Quinlan (1993). C4.5: Programs for Machine Learning. Chapters 2 to 4.
    .. [2] Quinlan (1996). Improved use of continuous attributes in C4.5. JAIR 4, 77-90.
    .. [3] Witten, Frank, Hall, Pal (2016). Data Mining, 4th ed. Section 6.1 (J48).
    .. [4] Provost, Domingos (2003). Tree induction for probability-based ranking. Machine Learning 52, 199-215.
    .. [5] Moreno-Torres, Saez, Herrera (2012). Study on the impact of partition-induced dataset shift on k-fold cross-validation.
       IEEE TNNLS 23, 1304-1312.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import C45Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = C45Classifier().fit(X, y)
    >>> model.predict(X.iloc[[0, 60, 120]]).tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        confidence: float = 0.25,
        min_samples: int = 2,
        pruned: bool = True,
        collapse: bool = True,
        subtree_raising: bool = True,
        mdl_correction: bool = True,
        cut_above_5_needs_25: bool = False,
        laplace: bool = False,
        categorical_features: ArrayLike | None = None,
    ) -> None:
        self.confidence = confidence
        self.min_samples = min_samples
        self.pruned = pruned
        self.collapse = collapse
        self.subtree_raising = subtree_raising
        self.mdl_correction = mdl_correction
        self.cut_above_5_needs_25 = cut_above_5_needs_25
        self.laplace = laplace
        self.categorical_features = categorical_features

    def _settings(self) -> _Settings:
        check_parameters(self.confidence, self.min_samples)
        return _Settings(
            error_limit(self.confidence),
            SplitRules(int(self.min_samples), bool(self.mdl_correction), bool(self.cut_above_5_needs_25)),
            bool(self.pruned),
            bool(self.collapse),
            bool(self.subtree_raising),
        )

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        settings = self._settings()
        columns = prepare(X, codes, self.categorical_features)
        work = make_work(columns, n_classes)
        nodes = _build(np.ones(len(X), bool), columns, settings, work, make_nodes(256, n_classes))
        self.tree_ = ClassificationTree.from_nodes(nodes, columns.is_nominal, self.classes_)

    def _scores(self, X: FloatArray) -> FloatArray:
        return _score_rows(X, self.tree_.arrays(), bool(self.laplace))

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        settings = self._settings()
        columns = prepare(X, codes, self.categorical_features)
        return _fit_and_score(X, columns, n_classes, cuts.folds, cuts.n_folds, settings, bool(self.laplace))


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationTree:
    """Nodes of a decision tree, parents before children, the children of a node next to each other."""

    feature: IntArray  # column the node splits on; -1 for a leaf; shape (n_nodes,)
    # samples up to this value go to the first child, the others to the second; NaN for leaves and nominal splits; shape
    # (n_nodes,)
    threshold: FloatArray
    # first_child, n_children: The children of a nominal split belong to the categories 0, 1, ...; -1 and 0 for a leaf; shape
    # (n_nodes,)
    first_child: IntArray
    n_children: IntArray
    class_counts: IntArray  # training samples of each class in the node; shape (n_nodes, n_classes)
    is_nominal: BoolArray  # nominal columns; shape (n_features,)
    classes: Array  # class labels; shape (n_classes,)

    @classmethod
    def from_nodes(cls, nodes: Nodes, is_nominal: BoolArray, classes: Array) -> ClassificationTree:
        """Drop the nodes that pruning cut off and number the others again, level by level."""
        table = nodes.table
        kept, first = [0], []
        for node in kept:  # grows on the way
            n_children = table[node, N_CHILDREN] if table[node, FEATURE] >= 0 else 0
            first.append(len(kept) if n_children else -1)
            kept += range(table[node, FIRST], table[node, FIRST] + n_children)
        table, leaf = table[kept], table[kept, FEATURE] < 0
        return cls(
            feature=table[:, FEATURE].copy(),
            threshold=np.where(leaf, np.nan, nodes.thresholds[kept]),
            first_child=np.array(first),
            n_children=np.where(leaf, 0, table[:, N_CHILDREN]),
            class_counts=nodes.counts[kept],
            is_nominal=is_nominal,
            classes=classes,
        )

    def arrays(self) -> _Tree:
        """Arrays that scoring takes."""
        return _Tree(self.feature, self.threshold, self.first_child, self.n_children, self.is_nominal, self.class_counts)

    def __str__(self) -> str:
        lines = []
        waiting = [(0, -1, "")]
        while waiting:
            node, depth, condition = waiting.pop()
            ending = ""
            if self.feature[node] < 0:
                n, right = self.class_counts[node].sum(), self.class_counts[node].max()
                source = node if n else self._parent(node)
                label = self.classes[self.class_counts[source].argmax()]
                ending = f": {label} ({n:.1f}{f'/{n - right:.1f}' if n > right else ''})"
            if depth >= 0 or ending:
                lines.append("|   " * depth + condition + ending)
            for c in reversed(range(self.n_children[node])):
                f = self.feature[node]
                test = f"= {c}" if self.is_nominal[f] else f"{'<=' if c == 0 else '>'} {self.threshold[node]:.6g}"
                waiting.append((self.first_child[node] + c, depth + 1, f"x{f} {test}"))
        return "\n".join(lines)

    def _parent(self, node: int) -> int:
        return int(np.flatnonzero((self.first_child <= node) & (node < self.first_child + self.n_children))[0])


@compiled
def _fit_and_score(
    X: FloatArray, columns: Columns, n_classes: int, folds: UnsignedArray, n_folds: int, settings: _Settings, laplace: bool
) -> FloatArray:
    """Score every sample by the tree of the other folds: (n_seeds, n_samples, n_classes)."""
    n_seeds, n = folds.shape
    scores = np.empty((n_seeds, n, n_classes))
    work = make_work(columns, n_classes)
    nodes = make_nodes(256, n_classes)
    in_training = np.empty(n, np.bool_)
    for seed in range(n_seeds):
        for fold in range(n_folds):
            for i in range(n):
                in_training[i] = folds[seed, i] != fold
            nodes = _build(in_training, columns, settings, work, nodes)
            table = nodes.table
            tree = _Tree(
                table[:, FEATURE], nodes.thresholds, table[:, FIRST], table[:, N_CHILDREN], columns.is_nominal, nodes.counts
            )
            for i in range(n):
                if not in_training[i]:
                    _score(X[i], tree, laplace, scores[seed, i])
    return scores


@compiled
def _score_rows(X: FloatArray, tree: _Tree, laplace: bool) -> FloatArray:
    scores = np.empty((len(X), tree.class_counts.shape[1]))
    for i in range(len(X)):
        _score(X[i], tree, laplace, scores[i])
    return scores


@compiled
def _score(x: FloatArray, tree: _Tree, laplace: bool, out: FloatArray) -> None:
    """Walk down to a leaf, or to the last node with training samples, and write the class shares there."""
    feature, first_child, counts = tree.feature, tree.first_child, tree.class_counts
    node = 0
    while feature[node] >= 0:
        f = feature[node]
        if tree.is_nominal[f]:
            known = 0 <= x[f] < tree.n_children[node] and x[f] == np.floor(x[f])
            child = first_child[node] + int(x[f]) if known else -1
        else:
            child = first_child[node] + (x[f] > tree.threshold[node])
        if child < 0 or counts[child].sum() == 0:
            break
        node = child
    n = counts[node].sum()
    n_in_use = 0
    for k in range(len(out)):
        n_in_use += counts[0, k] > 0
    for k in range(len(out)):
        if laplace:
            out[k] = (counts[node, k] + 1) / (n + n_in_use) if counts[0, k] > 0 else 0.0
        else:
            out[k] = counts[node, k] / n


@compiled
def _build(in_training: BoolArray, columns: Columns, settings: _Settings, work: Work, nodes: Nodes) -> Nodes:
    """Grow, collapse and prune one tree; return its tables."""
    nodes, n_nodes = _grow(in_training, columns, settings.rules, work, nodes)
    if settings.collapse:
        _collapse(n_nodes, nodes)
    if settings.pruned:
        _prune(settings.limit, settings.raising, columns, work, nodes)
    return nodes


@compiled
def _grow(in_training: BoolArray, columns: Columns, rules: SplitRules, work: Work, nodes: Nodes) -> tuple[Nodes, np.int64]:
    """Grow in full, level by level, so that children have larger numbers than their parents."""
    present = count_values(columns, in_training, nodes.counts.shape[1], work)
    fill_lists(columns.order, in_training, work.lists)
    set_root(present.n_rows, in_training, columns, nodes)
    n_nodes = np.int64(1)  # typed: with the literal, numba would compile every function it is given to twice
    node = np.int64(0)
    while node < n_nodes:
        if is_splittable(nodes.counts[node], rules.min_samples):
            split = best_split(node, nodes, present, columns, work, rules)
            if split[0] >= 0:
                nodes = add_children(node, n_nodes, split, in_training, columns, work, nodes, rules.min_samples)
                n_nodes += nodes.table[node, N_CHILDREN]
        node += 1
    return nodes, n_nodes


@compiled
def _collapse(n_nodes: int, nodes: Nodes) -> None:
    """Make leaves of the nodes whose subtrees err as often in training."""
    table, counts, errors = nodes.table, nodes.counts, nodes.errors
    for node in range(n_nodes - 1, -1, -1):
        own = counts[node].sum() - counts[node].max()
        below = 0.0
        for child in range(table[node, FIRST], table[node, FIRST] + table[node, N_CHILDREN]):
            below += errors[child]
        if below >= own:
            table[node, FEATURE], table[node, N_CHILDREN] = -1, 0
        errors[node] = below if table[node, FEATURE] >= 0 else own


@compiled
def _prune(limit: ErrorLimit, raising: bool, columns: Columns, work: Work, nodes: Nodes) -> None:
    """Replace nodes by leaves or largest branches from the bottom up; a raised branch is pruned again."""
    table, counts, errors = nodes.table, nodes.counts, nodes.errors
    visited = np.empty(len(table), np.int64)
    extra = np.zeros(counts.shape, np.int64)
    node = np.int64(0)  # typed, as in `_grow`
    table[node, NEXT] = 0
    while node >= 0:
        if table[node, FEATURE] < 0:
            errors[node] = leaf_errors(counts[node], limit)
            node = table[node, PARENT]
            continue
        first, n_children = table[node, FIRST], table[node, N_CHILDREN]
        if table[node, NEXT] < n_children:
            child = first + table[node, NEXT]
            table[node, NEXT] += 1
            table[child, NEXT] = 0
            node = child
            continue
        errors_tree, largest = 0.0, first
        for child in range(first, first + n_children):
            errors_tree += errors[child]
            if table[child, STOP] - table[child, START] >= table[largest, STOP] - table[largest, START]:
                largest = child
        errors_leaf = leaf_errors(counts[node], limit)
        errors_branch = np.inf
        if raising:
            errors_branch = _branch_errors(node, largest, limit, columns, work, nodes, visited, extra)
        slack = PRUNING_SLACK + TOLERANCE
        if errors_leaf <= errors_tree + slack and errors_leaf <= errors_branch + slack:
            table[node, FEATURE], table[node, N_CHILDREN] = -1, 0
            errors[node] = errors_leaf
        elif errors_branch <= errors_tree + slack:
            _raise(node, largest, columns, work, nodes, visited)
            continue
        else:
            errors[node] = errors_tree
        node = table[node, PARENT]


@compiled(inline="always")
def _child_of(node: int, row: int, columns: Columns, nodes: Nodes) -> int:
    """Child that a training row goes to."""
    f = nodes.table[node, FEATURE]
    if columns.is_nominal[f]:
        return nodes.table[node, FIRST] + columns.codes[columns.slots[f], row]
    return nodes.table[node, FIRST] + (columns.values[f, row] > nodes.thresholds[node])


@compiled
def _branch_errors(
    node: int, branch: int, limit: ErrorLimit, columns: Columns, work: Work, nodes: Nodes, visited: IntArray, extra: IntArray
) -> float:
    """Estimated errors of a branch if all rows of the node went into it; `visited` and `extra` (zeros) are overwritten."""
    rows, labels = work.lists[-1], columns.labels
    table, counts, errors = nodes.table, nodes.counts, nodes.errors
    total = errors[branch]
    n_visited = 0
    for i in range(table[node, START], table[node, STOP]):
        if table[branch, START] <= i < table[branch, STOP]:
            continue
        leaf = branch
        while table[leaf, FEATURE] >= 0:
            leaf = _child_of(leaf, rows[i], columns, nodes)
        if extra[leaf].sum() == 0:
            visited[n_visited] = leaf
            n_visited += 1
        extra[leaf, labels[rows[i]]] += 1
    for i in range(n_visited):
        leaf = visited[i]
        total += leaf_errors(counts[leaf] + extra[leaf], limit) - errors[leaf]
        extra[leaf] = 0
    return total


@compiled
def _raise(node: int, branch: int, columns: Columns, work: Work, nodes: Nodes, visited: IntArray) -> None:
    """Put a branch into its parent's place and send all rows of the parent down."""
    rows, row_branch, labels = work.lists[-1], work.branch, columns.labels
    table, thresholds, counts = nodes.table, nodes.thresholds, nodes.counts
    for column in (FEATURE, FIRST, N_CHILDREN):
        table[node, column] = table[branch, column]
    thresholds[node] = thresholds[branch]
    table[node, NEXT] = 0
    visited[0] = node
    n_visited = 1
    while n_visited > 0:
        n_visited -= 1
        at_node = visited[n_visited]
        if table[at_node, FEATURE] < 0:
            continue
        start, stop, first = table[at_node, START], table[at_node, STOP], table[at_node, FIRST]
        last = first + table[at_node, N_CHILDREN]
        counts[first:last] = 0
        for i in range(start, stop):
            child = _child_of(at_node, rows[i], columns, nodes)
            row_branch[rows[i]] = child - first
            counts[child, labels[rows[i]]] += 1
        at = start
        for child in range(first, last):
            table[child, PARENT] = at_node
            table[child, START] = at
            at += counts[child].sum()
            table[child, STOP] = at
            visited[n_visited] = child
            n_visited += 1
        part_rows(rows, start, stop, table[first:last, START], work)
