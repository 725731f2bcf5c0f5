"""Regression tree as R's rpart grows and prunes it, with columns sorted once per data set."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.base import FoldRegressor
from foldshift.learners.trees._presort import Presorted, Scale, list_training_rows, presort, to_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, UnsignedArray
    from foldshift.learners._states import Cuts

# A split counts only if its improvement exceeds this fraction of the largest one seen in the tree.
LEAST_IMPROVEMENT = 1e-10
_BLOCK = 64  # positions scanned with one bound

# Columns of the tables that describe a tree while it grows: one of integers, one of floats, one row per node.
_START, _STOP, _SUM, _DEPTH, _PARENT, _LEFT, _RIGHT, _FEATURE, _STAGE, _N_SPLITS = range(10)
_RISK, _THRESHOLD, _VALUE, _PRUNED_RISK, _NEEDED = range(5)


class _Limits(NamedTuple):
    """Parameters of `RPARTRegressor` as the kernels take them."""

    min_split: int
    min_leaf: int
    complexity: float
    max_depth: int


class _Work(NamedTuple):
    """Arrays that every fit overwrites, with the tables of the tree."""

    lists: NDArray[np.uint32]  # (n_features, n_samples): training rows in the order of every column
    units: IntArray  # (n_samples,): targets as integers
    centred: IntArray  # (n_samples,): the same around the mean of a node
    flags: NDArray[np.uint8]  # (n_samples,)
    buffer: NDArray[np.uint32]  # (n_samples,)
    counts: IntArray  # (2 n_samples, 10)
    measures: FloatArray  # (2 n_samples, 5)


class _Bounds(NamedTuple):
    """Bounds on what a subtree can earn."""

    least_gain: float  # what every split must earn
    smallest: int  # rows of the smallest node that can be split
    max_depth: int


class _Sides(NamedTuple):
    """Stretch of the lists of a node, and where its right side begins."""

    start: int
    middle: int
    stop: int


class RPARTRegressor(FoldRegressor):
    """Regression tree by recursive partitioning and cost-complexity pruning.

    Gives the tree of R's ``rpart(method = "anova")`` without surrogate splits and cross-validation, with
    ``rpart.control(minsplit = min_split, minbucket = min_leaf, cp = complexity, maxdepth = max_depth)``.

    Parameters
    ----------
    min_split : int, default=20
        Fewest samples a node must have to be split.
    min_leaf : int, default=6
        Fewest samples on either side of a split.
    complexity : float, default=0.01
        A subtree stays only if it lowers the sum of squared errors by more than this fraction of the root's,
        per split.
    max_depth : int, default=30
        Most splits between the root and a leaf.

    Attributes
    ----------
    tree_ : RegressionTree
        The pruned tree. ``print(model.tree_)`` shows it.

    Notes
    -----
    The split with the largest drop in squared error wins; the first variable and the lowest threshold win ties.
    Thresholds lie midway between neighbouring values. Targets are summed as integers, in units of at most 2**-45 of
    their range (for fewer than 2**14 samples; one bit less for each doubling). The sums are exact, so that two
    splits which part the samples alike tie exactly; in R the rounding of the sums decides between them.

    Growth stops at a node as soon as no subtree below it, however good, could save it or a node above it from
    pruning. A subtree lowers the squared error by at most all of it and must earn `complexity` times the root's
    error for each split, so the result is the same as after growing in full.

    References
    ----------
    .. [1] Breiman, Friedman, Olshen, Stone (1984). Classification and Regression Trees. Sections 3.3, 8.5.
    .. [2] Therneau, Atkinson (2022). An introduction to recursive partitioning using the rpart routines.
       Sections 3, 4, 7.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from foldshift.learners import RPARTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RPARTRegressor().fit(X, y)
    >>> model.predict(X[:2]).round(1).tolist()
    [231.3, 83.4]
    """

    def __init__(self, min_split: int = 20, min_leaf: int = 6, complexity: float = 0.01, max_depth: int = 30) -> None:
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.complexity = complexity
        self.max_depth = max_depth

    def _check(self) -> None:
        for name in ("min_split", "min_leaf", "max_depth"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(f"{name}={value!r} must be an integer of at least 1")
        value = self.complexity
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value < np.inf:
            raise ValueError(f"complexity={value!r} must be a finite number of at least 0")

    def _limits(self) -> _Limits:
        return _Limits(int(self.min_split), int(self.min_leaf), float(self.complexity), int(self.max_depth))

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        self._check()
        columns = presort(X)
        work = _make_work(*columns.codes.shape)
        n_nodes, scale = _grow(columns, y, np.ones(len(y), np.bool_), self._limits(), work)
        self.tree_ = RegressionTree.from_tables(work.counts[:n_nodes], work.measures[:n_nodes], scale.unit)

    def _predict(self, X: FloatArray) -> FloatArray:
        tree = self.tree_
        return _predict_rows(X, tree.feature, tree.threshold, tree.left, tree.right, tree.value)

    def _predict_folds(self, X: FloatArray, y: FloatArray, cuts: Cuts) -> FloatArray:
        self._check()
        return _fit_and_predict(X, presort(X), y, cuts.folds, cuts.n_folds, self._limits())


@dataclass(frozen=True, eq=False, repr=False)
class RegressionTree:
    """Nodes of a binary regression tree, parents before children, left before right."""

    feature: IntArray  # column the node splits on; -1 for a leaf; shape (n_nodes,)
    threshold: FloatArray  # samples with a smaller value go left, the others right; NaN for a leaf; shape (n_nodes,)
    left: IntArray  # left, right: Children; -1 for a leaf; shape (n_nodes,)
    right: IntArray
    n_samples: IntArray  # training samples in the node; shape (n_nodes,)
    deviance: FloatArray  # their sum of squared deviations from the mean, in squared units of the target; shape (n_nodes,)
    value: FloatArray  # their mean target; shape (n_nodes,)

    @classmethod
    def from_tables(cls, counts: IntArray, measures: FloatArray, unit: float) -> RegressionTree:
        """Drop the pruned nodes from the tables of `_grow` and number the others again."""
        kept, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            kept.append(node)
            if counts[node, _FEATURE] >= 0:
                waiting += [counts[node, _RIGHT], counts[node, _LEFT]]
        new_number = np.full(len(counts), -1)
        new_number[kept] = np.arange(len(kept))
        counts, measures = counts[kept], measures[kept]
        leaf = counts[:, _FEATURE] < 0
        return cls(
            feature=counts[:, _FEATURE].copy(),
            threshold=np.where(leaf, np.nan, measures[:, _THRESHOLD]),
            left=np.where(leaf, -1, new_number[counts[:, _LEFT]]),
            right=np.where(leaf, -1, new_number[counts[:, _RIGHT]]),
            n_samples=counts[:, _STOP] - counts[:, _START],
            deviance=measures[:, _RISK] * unit**2,
            value=measures[:, _VALUE],
        )

    def __str__(self) -> str:
        lines = ["node) split n deviance mean (* leaf)"]
        waiting = [(0, 1, 0, "root")]
        while waiting:
            node, number, depth, label = waiting.pop()
            leaf = self.feature[node] < 0
            figures = f"{self.n_samples[node]} {self.deviance[node]:.6g} {self.value[node]:.6g}"
            lines.append(f"{'  ' * depth}{number}) {label} {figures}{' *' if leaf else ''}")
            if not leaf:
                name, threshold = f"x{self.feature[node]}", f"{self.threshold[node]:.6g}"
                waiting.append((self.right[node], 2 * number + 1, depth + 1, f"{name} >= {threshold}"))
                waiting.append((self.left[node], 2 * number, depth + 1, f"{name} < {threshold}"))
        return "\n".join(lines)


@compiled
def _make_work(n_features: int, n_samples: int) -> _Work:
    """Allocate what every fit overwrites."""
    return _Work(
        lists=np.empty((n_features, n_samples), np.uint32),
        units=np.empty(n_samples, np.int64),
        centred=np.empty(n_samples, np.int64),
        flags=np.empty(n_samples, np.uint8),
        buffer=np.empty(n_samples, np.uint32),
        counts=np.empty((2 * n_samples, 10), np.int64),
        measures=np.empty((2 * n_samples, 5), np.float64),
    )


@compiled
def _fit_and_predict(
    X: FloatArray, columns: Presorted, y: FloatArray, folds: UnsignedArray, n_folds: int, limits: _Limits
) -> FloatArray:
    """Predict every sample by the tree of the other folds: (n_seeds, n_samples)."""
    n_seeds, n = folds.shape
    predictions = np.empty((n_seeds, n))
    work = _make_work(*columns.codes.shape)
    counts, measures = work.counts, work.measures
    in_training = np.empty(n, np.bool_)
    for seed in range(n_seeds):
        for fold in range(n_folds):
            for i in range(n):
                in_training[i] = folds[seed, i] != fold
            _grow(columns, y, in_training, limits, work)
            for i in range(n):
                if not in_training[i]:
                    node = 0
                    while counts[node, _FEATURE] >= 0:
                        goes_left = X[i, counts[node, _FEATURE]] < measures[node, _THRESHOLD]
                        node = counts[node, _LEFT] if goes_left else counts[node, _RIGHT]
                    predictions[seed, i] = measures[node, _VALUE]
    return predictions


@compiled
def _predict_rows(
    X: FloatArray, feature: IntArray, threshold: FloatArray, left: IntArray, right: IntArray, value: FloatArray
) -> FloatArray:
    out = np.empty(len(X))
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            node = left[node] if X[i, feature[node]] < threshold[node] else right[node]
        out[i] = value[node]
    return out


@compiled
def _grow(columns: Presorted, y: FloatArray, in_training: BoolArray, limits: _Limits, work: _Work) -> tuple[np.int64, Scale]:
    """Grow and prune one tree into the tables of `work`; return the number of nodes, and the scale of the targets.

    Depth first, left before right. Each feature's list holds the training rows in ascending order of the feature, and every node
    owns the same stretch of all lists. Pruned nodes have no feature; their children stay in the tables, unreachable.

    `_NEEDED` is what a subtree must earn beyond the cost of its splits, or else a node above is pruned whatever happens
    elsewhere: what that node lacks, with the most that its other side could give.
    """
    codes, values = columns.codes, columns.values
    lists, counts, measures = work.lists, work.counts, work.measures
    scale = to_units(y, in_training, work.units)
    n = list_training_rows(columns.order, in_training, lists)
    root = np.int64(0)
    _describe(root, np.int64(-1), root, np.int64(n), lists[0], work, scale)
    bounds = _Bounds(limits.complexity * measures[0, _RISK], max(limits.min_split, 2 * limits.min_leaf), limits.max_depth)
    least_gain = bounds.least_gain
    slack = 1e-12 * measures[0, _RISK]  # far above the rounding of the bounds
    largest_improvement = 0.0
    n_nodes = np.int64(1)  # typed: with the literal, numba would compile every function it is given to twice
    node = root
    while node >= 0:
        parent, stage = counts[node, _PARENT], counts[node, _STAGE]
        risk, needed = measures[node, _RISK], measures[node, _NEEDED]
        if stage == 0:
            possible = _possible_gain(node, counts, measures, bounds)
            if possible <= 0 or possible + slack < needed:
                node = parent
                continue
            feature, n_left, gain = _best_split(node, codes, limits.min_leaf, work)
            if feature < 0 or gain / risk <= largest_improvement * LEAST_IMPROVEMENT:
                node = parent
                continue
            largest_improvement = max(largest_improvement, gain / risk)
            start, stop = counts[node, _START], counts[node, _STOP]
            middle = start + n_left
            left, right = n_nodes, n_nodes + 1
            _describe(left, node, start, middle, lists[feature], work, scale)
            _describe(right, node, middle, stop, lists[feature], work, scale)
            possible_left = _possible_gain(left, counts, measures, bounds)
            possible_right = _possible_gain(right, counts, measures, bounds)
            net = risk - measures[left, _RISK] - measures[right, _RISK] - least_gain
            if net + possible_left + possible_right + slack < needed:
                node = parent
                continue
            n_nodes += 2
            a = values[feature, codes[feature, lists[feature, middle - 1]]]
            b = values[feature, codes[feature, lists[feature, middle]]]
            # Between neighbouring floats the middle may round to the left value, which would then go right.
            measures[node, _THRESHOLD] = (a + b) / 2 if (a + b) / 2 > a else b
            counts[node, _FEATURE], counts[node, _LEFT], counts[node, _RIGHT] = feature, left, right
            counts[node, _STAGE] = 1
            if possible_left > 0 or possible_right > 0:
                _part(_Sides(start, middle, stop), feature, work, possible_left > 0, possible_right > 0)
            measures[left, _NEEDED] = needed - net - possible_right
            node = left
        elif stage == 1:
            left, right = counts[node, _LEFT], counts[node, _RIGHT]
            cost = least_gain * (counts[left, _N_SPLITS] + 1)
            net = risk - measures[left, _PRUNED_RISK] - measures[right, _RISK] - cost
            measures[right, _NEEDED] = needed - net
            counts[node, _STAGE] = 2
            node = right
        else:
            left, right = counts[node, _LEFT], counts[node, _RIGHT]
            pruned_risk = measures[left, _PRUNED_RISK] + measures[right, _PRUNED_RISK]
            n_splits = counts[left, _N_SPLITS] + counts[right, _N_SPLITS] + 1
            if (risk - pruned_risk) / n_splits > least_gain:
                measures[node, _PRUNED_RISK] = pruned_risk
                counts[node, _N_SPLITS] = n_splits
            else:
                counts[node, _FEATURE] = -1
            node = parent
    return n_nodes, scale


@compiled
def _describe(node: int, parent: int, start: int, stop: int, rows: UnsignedArray, work: _Work, scale: Scale) -> None:
    """Enter a new leaf into the tables."""
    units, counts, measures = work.units, work.counts, work.measures
    total = 0
    for i in range(start, stop):
        total += units[rows[i]]
    mean = total / (stop - start)
    risk = 0.0
    for i in range(start, stop):
        gap = units[rows[i]] - mean
        risk += gap * gap
    counts[node, _START], counts[node, _STOP], counts[node, _SUM] = start, stop, total
    counts[node, _PARENT], counts[node, _DEPTH] = parent, 0 if parent < 0 else counts[parent, _DEPTH] + 1
    counts[node, _LEFT], counts[node, _RIGHT], counts[node, _FEATURE] = -1, -1, -1
    counts[node, _STAGE], counts[node, _N_SPLITS] = 0, 0
    measures[node, _RISK] = measures[node, _PRUNED_RISK] = risk
    measures[node, _VALUE] = scale.low + mean * scale.unit
    measures[node, _NEEDED] = 0.0


@compiled(inline="always")
def _possible_gain(node: int, counts: IntArray, measures: FloatArray, bounds: _Bounds) -> float:
    """Most that a subtree below the node can earn beyond what its splits cost."""
    if counts[node, _STOP] - counts[node, _START] < bounds.smallest or counts[node, _DEPTH] >= bounds.max_depth:
        return 0.0
    return max(0.0, measures[node, _RISK] - bounds.least_gain)


@compiled
def _best_split(node: int, codes: NDArray[np.int32], min_leaf: int, work: _Work) -> tuple[int, int, float]:
    """Best split of a node: feature (-1 if none), number of samples on the left, and gain in squared units.

    With L the left sum of n_left targets around the node's mean, the gain is L**2 n / (n_left n_right). A running
    sum is therefore compared with the |L| that could still win, taken over a block of positions, and little else is
    done at most positions.
    """
    lists, units, centred, counts = work.lists, work.units, work.centred, work.counts
    start, stop = counts[node, _START], counts[node, _STOP]
    n = stop - start
    mean = counts[node, _SUM] // n
    rest = counts[node, _SUM] - n * mean
    for i in range(start, stop):
        centred[lists[0, i]] = units[lists[0, i]] - mean
    best_feature, best_left, best_gain = -1, 0, 0.0
    for f in range(len(lists)):
        rows, code = lists[f, start:stop], codes[f]
        if code[rows[0]] == code[rows[n - 1]]:
            continue
        left_sum = 0
        for i in range(min_leaf - 1):
            left_sum += centred[rows[i]]
        block = min_leaf - 1
        while block < n - min_leaf:
            block_end = min(block + _BLOCK, n - min_leaf)
            # n_left runs from block + 1 to block_end, and n_left * n_right is least at one of the ends.
            sides = float(min((block + 1) * (n - block - 1), block_end * (n - block_end)))
            bound = np.int64(np.sqrt(best_gain * sides / n) * (1 - 1e-9)) - rest - 1
            part = rows[block : block_end + 1]
            for i in range(block_end - block):
                left_sum += centred[part[i]]
                if (left_sum > bound or left_sum < -bound) and code[part[i]] != code[part[i + 1]]:
                    n_left = block + i + 1
                    # n_right L - n_left R: to the last bit, only the sign changes when the sides change places.
                    gap = (n - n_left) * float(left_sum) - n_left * float(rest - left_sum)
                    gain = gap * gap / (float(n_left * (n - n_left)) * n)
                    if gain > best_gain:
                        best_feature, best_left, best_gain = f, n_left, gain
                        bound = np.int64(np.sqrt(best_gain * sides / n) * (1 - 1e-9)) - rest - 1
            block = block_end
    return best_feature, best_left, best_gain


@compiled
def _part(sides: _Sides, feature: int, work: _Work, left_needed: bool, right_needed: bool) -> None:
    """Part a node's stretch of every list into left and right rows; a side that stays a leaf may be left out."""
    start, middle, stop = sides.start, sides.middle, sides.stop
    lists, flags, buffer = work.lists, work.flags, work.buffer
    for i in range(start, stop):
        flags[lists[feature, i]] = i < middle
    for f in range(len(lists)):
        if f == feature:
            continue
        rows = lists[f]
        if not right_needed:
            at = start
            for i in range(start, stop):
                row = rows[i]
                rows[at] = row
                at += flags[row]
        elif not left_needed:
            at = stop - 1
            for i in range(stop - 1, start - 1, -1):
                row = rows[i]
                rows[at] = row
                at -= 1 - flags[row]
        else:
            at, n_right = start, 0
            for i in range(start, stop):
                row = rows[i]
                rows[at] = row
                buffer[n_right] = row
                at += flags[row]
                n_right += 1 - flags[row]
            rows[middle:stop] = buffer[:n_right]
