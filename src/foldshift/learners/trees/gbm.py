"""Gradient boosting of one-split trees as R's gbm does it, with columns sorted once per data set."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners._states import fit_seeds
from foldshift.learners.base import FoldRegressor
from foldshift.learners.trees._presort import Presorted, list_training_rows, presort, to_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, RandomState, UnsignedArray
    from foldshift.learners._states import Cuts

_BLOCK = 128  # positions scanned with one bound


class _Settings(NamedTuple):
    """Parameters of `GBMRegressor` as the kernels take them."""

    n_trees: int
    learning_rate: float
    bag_fraction: float
    min_node: int


class _Work(NamedTuple):
    """Arrays that every fit overwrites, and the trees that it leaves."""

    lists: NDArray[np.uint32]  # (n_features, n_samples): training rows in the order of every column
    rows: NDArray[np.uint32]  # (n_samples,): training rows
    residuals: IntArray  # (n_samples,), in units
    bag: IntArray  # (n_samples, 2): residual around the mean of the drawn rows and 1; twice 0 for rows left out
    features: IntArray  # (n_trees,)
    thresholds: FloatArray  # (n_trees,)
    steps: FloatArray  # (n_trees, 2)


class _Split(NamedTuple):
    """Best split of a tree: feature (-1 if none), last left position in its list, drawn rows on the left, their sum."""

    feature: int
    at: int
    n_left: int
    left_sum: int


class GBMRegressor(FoldRegressor):
    """Stochastic gradient boosting of squared error with one-split trees.

    Gives the model of R's ``gbm(distribution = "gaussian", interaction.depth = 1, n.trees = n_trees,
    shrinkage = learning_rate, bag.fraction = bag_fraction, n.minobsinnode = min_node)``: the same model for
    ``bag_fraction=1``, where nothing is drawn, and otherwise a model with the same distribution.

    Parameters
    ----------
    n_trees : int, default=100
        Number of trees.
    learning_rate : float, default=0.1
        Shrinkage: the share of every tree's prediction that is added; in (0, 1].
    bag_fraction : float, default=0.8
        Share of the samples drawn without replacement for every tree, in (0, 1]:
        ``floor(bag_fraction * n_samples)`` of them, at least one.
    max_depth : int, default=1
        Splits per tree; only 1 is implemented.
    min_node : int, default=10
        Fewest drawn samples on either side of a split. Without a permitted split, a tree predicts the mean
        of the drawn samples.
    random_state : int, RandomState or None, default=None
        Draws the samples.

    Attributes
    ----------
    init_ : float
        Mean of the training target, the prediction before the first tree.
    features_ : ndarray of shape (n_trees,), dtype int64
        Column every tree splits on; -1 for a tree without a split.
    thresholds_ : ndarray of shape (n_trees,), dtype float64
        Samples with a smaller value go left, the others right; NaN for a tree without a split.
    steps_ : ndarray of shape (n_trees, 2), dtype float64
        What every tree adds to the prediction of the samples on its left and right, shrinkage included.

    Notes
    -----
    The split with the largest drop in squared error wins; the first variable and the lowest threshold win ties.
    Thresholds lie midway between neighbouring values of the drawn samples. Residuals are integers in units of at
    most 2**-45 of the target's range (for fewer than 2**14 samples; one bit less for each doubling). Their sums are
    exact, so that two splits which part the samples alike tie exactly; in R the rounding of the sums decides
    between them.

    References
    ----------
    .. [1] Friedman (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis
       38, 367-378, algorithm 2.
    .. [2] Ridgeway (2020). Generalized boosted models: a guide to the gbm package. Section 2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from foldshift.learners import GBMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GBMRegressor(random_state=0).fit(X, y)
    >>> model.predict(X[:2]).round().tolist()
    [191.0, 81.0]
    """

    def __init__(
        self,
        n_trees: int = 100,
        learning_rate: float = 0.1,
        bag_fraction: float = 0.8,
        max_depth: int = 1,
        min_node: int = 10,
        random_state: RandomState = None,
    ) -> None:
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.bag_fraction = bag_fraction
        self.max_depth = max_depth
        self.min_node = min_node
        self.random_state = random_state

    def _check(self) -> None:
        for name in ("n_trees", "min_node"):
            count: int = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 1:
                raise ValueError(f"{name}={count!r} must be an integer of at least 1")
        for name in ("learning_rate", "bag_fraction"):
            value: float = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value <= 1:
                raise ValueError(f"{name}={value!r} must be a number above 0 and at most 1")
        if isinstance(self.max_depth, bool) or self.max_depth != 1:
            raise ValueError(f"max_depth={self.max_depth!r} must be 1: GBMRegressor boosts trees of one split only")

    def _settings(self) -> _Settings:
        return _Settings(int(self.n_trees), float(self.learning_rate), float(self.bag_fraction), int(self.min_node))

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        self._check()
        seed = fit_seeds(self.random_state, (1, 1))[0, 0]
        columns, settings = presort(X), self._settings()
        work = _make_work(*columns.codes.shape, settings.n_trees)
        self.init_, _ = _boost(columns, y, np.ones(len(y), np.bool_), seed, settings, work)
        self.features_, self.thresholds_, self.steps_ = work.features, work.thresholds, work.steps

    def _predict(self, X: FloatArray) -> FloatArray:
        return self.init_ + _add_steps(X, self.features_, self.thresholds_, self.steps_)

    def _predict_folds(self, X: FloatArray, y: FloatArray, cuts: Cuts) -> FloatArray:
        """Predict from the other folds; see `FoldRegressor.predict_folds`."""
        self._check()
        return _fit_and_predict(presort(X), y, cuts.folds, cuts.seeds(self.random_state), self._settings())


@compiled
def _make_work(n_features: int, n_samples: int, n_trees: int) -> _Work:
    """Allocate what every fit overwrites."""
    return _Work(
        lists=np.empty((n_features, n_samples), np.uint32),
        rows=np.empty(n_samples, np.uint32),
        residuals=np.empty(n_samples, np.int64),
        bag=np.empty((n_samples, 2), np.int64),
        features=np.empty(n_trees, np.int64),
        thresholds=np.empty(n_trees, np.float64),
        steps=np.empty((n_trees, 2), np.float64),
    )


@compiled
def _fit_and_predict(
    columns: Presorted, y: FloatArray, folds: UnsignedArray, seeds: NDArray[np.uint64], settings: _Settings
) -> FloatArray:
    """Predict every sample by the model of the other folds: (n_seeds, n_samples)."""
    n_seeds, n = folds.shape
    predictions = np.empty((n_seeds, n))
    work = _make_work(columns.codes.shape[0], n, settings.n_trees)
    in_training = np.empty(n, np.bool_)
    for row in range(n_seeds):
        for fold in range(seeds.shape[1]):
            for i in range(n):
                in_training[i] = folds[row, i] != fold
            init, unit = _boost(columns, y, in_training, seeds[row, fold], settings, work)
            for i in range(n):
                if not in_training[i]:
                    predictions[row, i] = init + -work.residuals[i] * unit
    return predictions


@compiled
def _add_steps(X: FloatArray, features: IntArray, thresholds: FloatArray, steps: FloatArray) -> FloatArray:
    """Sum of all trees' steps. They are multiples of one power of two, so the sum is exact in any order."""
    out = np.zeros(len(X))
    for tree in range(len(features)):
        left, right = steps[tree]
        for i in range(len(X)):
            out[i] += left if features[tree] < 0 or X[i, features[tree]] < thresholds[tree] else right
    return out


@compiled
def _boost(
    columns: Presorted, y: FloatArray, in_training: BoolArray, seed: np.uint64, settings: _Settings, work: _Work
) -> tuple[float, float]:
    """Fit all trees into `work`; return the mean training target and the unit of the residuals.

    The residuals of rows outside training start from 0 instead of the target: what the trees leave there is
    minus their prediction.
    """
    codes, values = columns.codes, columns.values
    lists, rows, residuals, bag = work.lists, work.rows, work.residuals, work.bag
    thresholds, steps, learning_rate = work.thresholds, work.steps, settings.learning_rate
    scale = to_units(y, in_training, residuals)
    unit = scale.unit
    list_training_rows(columns.order, in_training, lists)
    n = 0
    total = 0
    for i in range(len(y)):
        if in_training[i]:
            rows[n] = i
            n += 1
            total += residuals[i]
    mean = int(np.rint(total / n))
    total -= n * mean  # from here on the sum of the training residuals
    for i in range(len(y)):
        residuals[i] = residuals[i] - mean if in_training[i] else 0
    n_bag = max(1, int(settings.bag_fraction * n))
    state = np.uint64(seed)
    split = _Split(-1, 0, 0, 0)
    for tree in range(settings.n_trees):
        state = leave_out(rows[:n], n - n_bag, state)
        in_bag = total
        for i in range(n - n_bag):
            in_bag -= residuals[rows[i]]
        centre = in_bag // n_bag
        rest = in_bag - n_bag * centre
        for i in range(len(y)):
            bag[i, 0] = residuals[i] - centre
            bag[i, 1] = 1
        for i in range(n - n_bag):
            bag[rows[i], 0] = 0
            bag[rows[i], 1] = 0
        split = _best_split(lists[:, :n], codes, bag, n_bag, rest, settings.min_node, split.feature)
        feature, at = split.feature, split.at
        work.features[tree] = feature
        if feature < 0:
            step = int(np.rint(learning_rate * (in_bag / n_bag)))
            thresholds[tree] = np.nan
            steps[tree] = step * unit
            total -= n * step
            for i in range(len(y)):
                residuals[i] -= step
            continue
        # The drawn neighbours of the gap; rows left out may lie between them.
        code, listed = codes[feature], lists[feature]
        right = at + 1
        while bag[listed[right], 1] == 0:
            right += 1
        a, b = values[feature, code[listed[at]]], values[feature, code[listed[right]]]
        # Between neighbouring floats the middle may round down to the left value, which would then go right.
        threshold = (a + b) / 2 if (a + b) / 2 > a else b
        last_left = code[listed[at]]
        while values[feature, last_left + 1] < threshold:
            last_left += 1
        n_left_all = at + 1
        while code[listed[n_left_all]] <= last_left:
            n_left_all += 1
        left_step = int(np.rint(learning_rate * (centre + split.left_sum / split.n_left)))
        right_mean = (rest - split.left_sum) / (n_bag - split.n_left)
        right_step = int(np.rint(learning_rate * (centre + right_mean)))
        thresholds[tree] = threshold
        steps[tree, 0], steps[tree, 1] = left_step * unit, right_step * unit
        total -= n_left_all * left_step + (n - n_left_all) * right_step
        for i in range(len(y)):
            residuals[i] -= left_step if code[i] <= last_left else right_step
    return scale.low + mean * unit, unit


@compiled
def leave_out(rows: UnsignedArray | IntArray, n_out: int, state: np.uint64) -> np.uint64:
    """Draw rows without replacement into the first `n_out` places (Fisher-Yates); return the generator's new state.

    Random bits come from splitmix64. A place is the upper half of a 64-bit product; its relative bias is below 2**-32 times the
    number of rows. Source: Steele, Lea, Flood (2014). Fast splittable pseudorandom number generators. OOPSLA, figure 17.
    """
    for i in range(n_out):
        state += np.uint64(0x9E3779B97F4A7C15)
        bits = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits ^= bits >> np.uint64(31)
        j = i + np.int64(((bits >> np.uint64(32)) * np.uint64(len(rows) - i)) >> np.uint64(32))
        rows[i], rows[j] = rows[j], rows[i]
    return state


@compiled
def _best_split(
    lists: UnsignedArray, codes: NDArray[np.int32], bag: IntArray, n_bag: int, rest: int, min_node: int, likely: int
) -> _Split:
    """Find the split with the largest gain.

    With L the left sum, the gain is L**2 n / (n_left n_right). A running sum is therefore compared with
    the |L| that could still win, taken over a block of positions, and little else is done at most positions. The
    `likely` feature goes first, to have a high bound for the others.
    """
    n = lists.shape[1]
    best, best_gain = _Split(-1, 0, 0, 0), 0.0
    if n_bag < 2 * min_node:
        return best
    for turn in range(-1, len(lists)):
        f = likely if turn < 0 else turn
        if f < 0 or (turn >= 0 and f == likely):
            continue
        listed, code = lists[f], codes[f]
        if code[listed[0]] == code[listed[n - 1]]:
            continue
        left_sum, n_left, block = 0, 0, 0
        while block < n - 1 and n_left <= n_bag - min_node:
            block_end = min(block + _BLOCK, n - 1)
            # Where a split is permitted, n_left lies between these two; n_left * n_right is least at one of them.
            least, most = max(n_left, min_node), min(n_left + _BLOCK, n_bag - min_node)
            sides = float(min(least * (n_bag - least), most * (n_bag - most)))
            bound = np.int64(np.sqrt(best_gain * sides / n_bag) * (1 - 1e-9)) - rest - 1
            part = listed[block : block_end + 1]
            for i in range(block_end - block):
                left_sum += bag[part[i], 0]
                n_left += bag[part[i], 1]
                if (left_sum > bound or left_sum < -bound) and code[part[i]] != code[part[i + 1]]:
                    n_right = n_bag - n_left
                    if n_left < min_node or n_right < min_node:
                        continue
                    # n_right L - n_left R: to the last bit, only the sign changes when the sides change places.
                    gap = n_right * float(left_sum) - n_left * float(rest - left_sum)
                    gain = gap * gap / (float(n_left * n_right) * n_bag)
                    if gain > best_gain or (gain == best_gain and f < best.feature):
                        best, best_gain = _Split(f, block + i, n_left, left_sum), gain
                        bound = np.int64(np.sqrt(best_gain * sides / n_bag) * (1 - 1e-9)) - rest - 1
            block = block_end
    return best
