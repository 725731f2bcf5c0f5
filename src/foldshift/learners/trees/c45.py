"""C4.5 decision trees as Quinlan's release 8 and Weka's J48 grow and prune them, with columns sorted once per data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    add_children,
    best_split,
    check_parameters,
    count_values,
    fill_lists,
    is_splittable,
    leaf_errors,
    make_tables,
    make_work,
    part_rows,
    prepare,
    set_node,
    upper_quantile,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray


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

    Table III of [5]_ comes from a KEEL that sets this number to 25 where it exceeds 5 (a slip that later versions mend): with
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

    def _settings(self) -> tuple[float, ...]:
        check_parameters(self.confidence, self.min_samples)
        return (
            float(self.confidence),
            upper_quantile(self.confidence),
            int(self.min_samples),
            bool(self.pruned),
            bool(self.collapse),
            bool(self.subtree_raising),
            bool(self.mdl_correction),
            bool(self.cut_above_5_needs_25),
        )

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        settings = self._settings()
        data = prepare(X, codes, self.categorical_features)
        tables = make_tables(256, n_classes)
        tables = _build(np.ones(len(X), bool), data, n_classes, settings, make_work(data, n_classes), tables)
        self.tree_ = ClassificationTree.from_tables(*tables[:3], data[1], self.classes_)

    def _scores(self, X: FloatArray) -> FloatArray:
        tree = self.tree_
        return _score_rows(
            X,
            tree.feature,
            tree.threshold,
            tree.first_child,
            tree.n_children,
            tree.is_nominal,
            tree.class_counts,
            bool(self.laplace),
        )

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
        data = prepare(X, codes, self.categorical_features)
        return _fit_and_score(X, data, n_classes, folds, n_folds, settings, bool(self.laplace))


class ClassificationTree:
    """Nodes of a decision tree, parents before children, the children of a node next to each other.

    Parameters
    ----------
    feature : ndarray of shape (n_nodes,), dtype int64
        Column the node splits on; -1 for a leaf.
    threshold : ndarray of shape (n_nodes,), dtype float64
        Samples up to this value go to the first child, the others to the second; NaN for leaves and nominal splits.
    first_child, n_children : ndarray of shape (n_nodes,), dtype int64
        The children of a nominal split belong to the categories 0, 1, ...; -1 and 0 for a leaf.
    class_counts : ndarray of shape (n_nodes, n_classes), dtype int64
        Training samples of each class in the node.
    is_nominal : ndarray of shape (n_features,), dtype bool
        Nominal columns.
    classes : ndarray of shape (n_classes,)
        Class labels.
    """

    def __init__(
        self,
        feature: IntArray,
        threshold: FloatArray,
        first_child: IntArray,
        n_children: IntArray,
        class_counts: IntArray,
        is_nominal: BoolArray,
        classes: Array,
    ) -> None:
        self.feature = feature
        self.threshold = threshold
        self.first_child = first_child
        self.n_children = n_children
        self.class_counts = class_counts
        self.is_nominal = is_nominal
        self.classes = classes

    @classmethod
    def from_tables(
        cls, table: IntArray, thresholds: FloatArray, counts: IntArray, is_nominal: BoolArray, classes: Array
    ) -> ClassificationTree:
        """Drop the nodes that pruning cut off and number the others afresh, level by level."""
        kept, first = [0], []
        for node in kept:
            n_children = table[node, N_CHILDREN] if table[node, FEATURE] >= 0 else 0
            first.append(len(kept) if n_children else -1)
            kept += range(table[node, FIRST], table[node, FIRST] + n_children)
        table, leaf = table[kept], table[kept, FEATURE] < 0
        return cls(
            feature=table[:, FEATURE].copy(),
            threshold=np.where(leaf, np.nan, thresholds[kept]),
            first_child=np.array(first),
            n_children=np.where(leaf, 0, table[:, N_CHILDREN]),
            class_counts=counts[kept],
            is_nominal=is_nominal,
            classes=classes,
        )

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
    X: FloatArray,
    data: tuple[Array, ...],
    n_classes: int,
    folds: UnsignedArray,
    n_folds: int,
    settings: tuple[float, ...],
    laplace: bool,
) -> FloatArray:
    n_seeds, n = folds.shape
    is_nominal = data[1]
    scores = np.empty((n_seeds, n, n_classes))
    work = make_work(data, n_classes)
    tables = make_tables(256, n_classes)
    in_training = np.empty(n, np.bool_)
    for seed in range(n_seeds):
        for fold in range(n_folds):
            for i in range(n):
                in_training[i] = folds[seed, i] != fold
            tables = _build(in_training, data, n_classes, settings, work, tables)
            table, thresholds, counts, _ = tables
            for i in range(n):
                if not in_training[i]:
                    _score(
                        X[i],
                        table[:, FEATURE],
                        thresholds,
                        table[:, FIRST],
                        table[:, N_CHILDREN],
                        is_nominal,
                        counts,
                        laplace,
                        scores[seed, i],
                    )
    return scores


@compiled
def _score_rows(
    X: FloatArray,
    feature: IntArray,
    threshold: FloatArray,
    first_child: IntArray,
    n_children: IntArray,
    is_nominal: BoolArray,
    counts: IntArray,
    laplace: bool,
) -> FloatArray:
    scores = np.empty((len(X), counts.shape[1]))
    for i in range(len(X)):
        _score(X[i], feature, threshold, first_child, n_children, is_nominal, counts, laplace, scores[i])
    return scores


@compiled
def _score(
    x: FloatArray,
    feature: IntArray,
    threshold: FloatArray,
    first_child: IntArray,
    n_children: IntArray,
    is_nominal: BoolArray,
    counts: IntArray,
    laplace: bool,
    out: FloatArray,
) -> None:
    """Walk down to a leaf, or to the last node with training samples, and write the class shares there."""
    node = 0
    while feature[node] >= 0:
        f = feature[node]
        if is_nominal[f]:
            known = 0 <= x[f] < n_children[node] and x[f] == np.floor(x[f])
            child = first_child[node] + int(x[f]) if known else -1
        else:
            child = first_child[node] + (x[f] > threshold[node])
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
def _build(
    in_training: BoolArray,
    data: tuple[Array, ...],
    n_classes: int,
    settings: tuple[float, ...],
    work: tuple[Array, ...],
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Grow, collapse and prune one tree; return its tables."""
    confidence, quantile, min_samples, pruned, collapse, raising, mdl_correction, jump = settings
    tables, n_nodes = _grow(in_training, data, n_classes, min_samples, mdl_correction, jump, work, tables)
    if collapse:
        _collapse(n_nodes, tables)
    if pruned:
        _prune(confidence, quantile, raising, data, work, tables)
    return tables


@compiled
def _grow(
    in_training: BoolArray,
    data: tuple[Array, ...],
    n_classes: int,
    min_samples: int,
    mdl_correction: bool,
    jump: bool,
    work: tuple[Array, ...],
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
) -> tuple[Any, ...]:
    """Grow in full, level by level, so that children have larger numbers than their parents."""
    order, labels = data[3], data[5]
    n_in_use, n_training = count_values(data, in_training, n_classes, work)
    fill_lists(order, in_training, work[0])
    set_node(0, -1, 0, n_training, tables)
    tables[2][0] = 0
    for i in range(len(labels)):
        if in_training[i]:
            tables[2][0, labels[i]] += 1
    n_nodes = np.int64(1)  # typed: with the literal, numba would compile every function it is given to twice
    node = np.int64(0)
    while node < n_nodes:
        table, _, counts, _ = tables
        if is_splittable(counts[node], min_samples):
            feature, n_left = best_split(
                table[node, START],
                table[node, STOP],
                counts[node],
                n_in_use,
                n_training,
                data,
                work,
                min_samples,
                mdl_correction,
                jump,
            )
            if feature >= 0:
                tables = add_children(node, n_nodes, feature, n_left, in_training, data, work, tables, min_samples, True)
                n_nodes += tables[0][node, N_CHILDREN]
        node += 1
    return tables, n_nodes


@compiled
def _collapse(n_nodes: int, tables: tuple[IntArray, FloatArray, IntArray, FloatArray]) -> None:
    """Make leaves of the nodes whose subtrees err as often in training."""
    table, _, counts, errors = tables
    for node in range(n_nodes - 1, -1, -1):
        own = counts[node].sum() - counts[node].max()
        below = 0.0
        for child in range(table[node, FIRST], table[node, FIRST] + table[node, N_CHILDREN]):
            below += errors[child]
        if below >= own:
            table[node, FEATURE], table[node, N_CHILDREN] = -1, 0
        errors[node] = below if table[node, FEATURE] >= 0 else own


@compiled
def _prune(
    confidence: float,
    quantile: float,
    raising: bool,
    data: tuple[Array, ...],
    work: tuple[Array, ...],
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
) -> None:
    """Replace nodes by leaves or largest branches from the bottom up; a raised branch is pruned again."""
    table, _, counts, errors = tables
    visited = np.empty(len(table), np.int64)
    extra = np.zeros(counts.shape, np.int64)
    node = np.int64(0)  # typed, as in `_grow`
    table[node, NEXT] = 0
    while node >= 0:
        if table[node, FEATURE] < 0:
            errors[node] = leaf_errors(counts[node], confidence, quantile)
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
        errors_leaf = leaf_errors(counts[node], confidence, quantile)
        errors_branch = np.inf
        if raising:
            errors_branch = _branch_errors(node, largest, confidence, quantile, data, work, tables, visited, extra)
        slack = PRUNING_SLACK + TOLERANCE
        if errors_leaf <= errors_tree + slack and errors_leaf <= errors_branch + slack:
            table[node, FEATURE], table[node, N_CHILDREN] = -1, 0
            errors[node] = errors_leaf
        elif errors_branch <= errors_tree + slack:
            _raise(node, largest, data, work, tables, visited)
            continue
        else:
            errors[node] = errors_tree
        node = table[node, PARENT]


@compiled(inline="always")
def _child_of(node: int, row: Any, data: tuple[Array, ...], tables: tuple[IntArray, FloatArray, IntArray, FloatArray]) -> Any:
    """Child that a training row goes to."""
    columns, is_nominal, slots, _, codes, _ = data
    table, thresholds = tables[0], tables[1]
    f = table[node, FEATURE]
    if is_nominal[f]:
        return table[node, FIRST] + codes[slots[f], row]
    return table[node, FIRST] + (columns[f, row] > thresholds[node])


@compiled
def _branch_errors(
    node: int,
    branch: int,
    confidence: float,
    quantile: float,
    data: tuple[Array, ...],
    work: tuple[Array, ...],
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
    visited: IntArray,
    extra: IntArray,
) -> float:
    """Estimated errors of a branch if all rows of the node went into it."""
    rows, labels = work[0][-1], data[5]
    table, _, counts, errors = tables
    total = errors[branch]
    n_visited = 0
    for i in range(table[node, START], table[node, STOP]):
        if table[branch, START] <= i < table[branch, STOP]:
            continue
        leaf = branch
        while table[leaf, FEATURE] >= 0:
            leaf = _child_of(leaf, rows[i], data, tables)
        if extra[leaf].sum() == 0:
            visited[n_visited] = leaf
            n_visited += 1
        extra[leaf, labels[rows[i]]] += 1
    for i in range(n_visited):
        leaf = visited[i]
        total += leaf_errors(counts[leaf] + extra[leaf], confidence, quantile) - errors[leaf]
        extra[leaf] = 0
    return total


@compiled
def _raise(
    node: int,
    branch: int,
    data: tuple[Array, ...],
    work: tuple[Array, ...],
    tables: tuple[IntArray, FloatArray, IntArray, FloatArray],
    visited: IntArray,
) -> None:
    """Put a branch into its parent's place and send all rows of the parent down."""
    rows, row_branch, offsets, labels = work[0][-1], work[2], work[5], data[5]
    table, thresholds, counts, _ = tables
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
            child = _child_of(at_node, rows[i], data, tables)
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
        part_rows(rows, start, stop, row_branch, table[first:last, START], offsets, work[1])
