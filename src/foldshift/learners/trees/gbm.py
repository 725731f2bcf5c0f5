"""Gradient boosting of one-split trees as R's gbm does it, with columns sorted once per data set."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners._states import fit_seeds
from foldshift.learners.base import FoldRegressor
from foldshift.learners.trees._presort import presort, to_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, RandomState, UnsignedArray

_BLOCK = 128  # positions scanned with one bound


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
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(f"{name}={value!r} must be an integer of at least 1")
        for name in ("learning_rate", "bag_fraction"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value <= 1:
                raise ValueError(f"{name}={value!r} must be a number above 0 and at most 1")
        if isinstance(self.max_depth, bool) or self.max_depth != 1:
            raise ValueError(f"max_depth={self.max_depth!r} must be 1: GBMRegressor boosts trees of one split only")

    def _settings(self) -> tuple[int, float, float, int]:
        return int(self.n_trees), float(self.learning_rate), float(self.bag_fraction), int(self.min_node)

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        self._check()
        seed = fit_seeds(self.random_state, (1, 1))[0, 0]
        self.features_, self.thresholds_, self.steps_, self.init_ = _fit_one(*presort(X), y, seed, *self._settings())

    def _predict(self, X: FloatArray) -> FloatArray:
        return self.init_ + _add_steps(X, self.features_, self.thresholds_, self.steps_)

    def _predict_folds(
        self, X: FloatArray, y: FloatArray, folds: UnsignedArray, n_folds: int, random_states: UnsignedArray | None
    ) -> FloatArray:
        """Predict from the other folds; see `FoldRegressor.predict_folds`."""
        self._check()
        if random_states is None:
            random_states = fit_seeds(self.random_state, (len(folds), n_folds))
        return _fit_and_predict(*presort(X), y, folds, random_states.astype(np.uint64), *self._settings())


@compiled
def _work(n_features: int, n_samples: int, n_trees: int) -> tuple[Array, ...]:
    """Arrays that every fit overwrites: lists, training rows, residuals, bag, and the trees."""
    return (
        np.empty((n_features, n_samples), np.uint32),
        np.empty(n_samples, np.uint32),
        np.empty(n_samples, np.int64),
        np.empty((n_samples, 2), np.int64),
        np.empty(n_trees, np.int64),
        np.empty(n_trees, np.float64),
        np.empty((n_trees, 2), np.float64),
    )


def _fit_one(
    order: UnsignedArray,
    codes: NDArray[np.int32],
    values: FloatArray,
    y: FloatArray,
    seed: int,
    n_trees: int,
    learning_rate: float,
    bag_fraction: float,
    min_node: int,
) -> tuple[IntArray, FloatArray, FloatArray, float]:
    work = _work(codes.shape[0], codes.shape[1], n_trees)
    in_training = np.ones(len(y), np.bool_)
    init, _ = _boost(order, codes, values, y, in_training, seed, learning_rate, bag_fraction, min_node, work)
    return work[4], work[5], work[6], init


@compiled
def _fit_and_predict(
    order: UnsignedArray,
    codes: NDArray[np.int32],
    values: FloatArray,
    y: FloatArray,
    folds: UnsignedArray,
    seeds: UnsignedArray,
    n_trees: int,
    learning_rate: float,
    bag_fraction: float,
    min_node: int,
) -> FloatArray:
    n_seeds, n = folds.shape
    predictions = np.empty((n_seeds, n))
    work = _work(codes.shape[0], n, n_trees)
    residuals = work[2]
    in_training = np.empty(n, np.bool_)
    for row in range(n_seeds):
        for fold in range(seeds.shape[1]):
            for i in range(n):
                in_training[i] = folds[row, i] != fold
            seed = seeds[row, fold]
            init, unit = _boost(order, codes, values, y, in_training, seed, learning_rate, bag_fraction, min_node, work)
            for i in range(n):
                if not in_training[i]:
                    predictions[row, i] = init + -residuals[i] * unit
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
    order: UnsignedArray,
    codes: NDArray[np.int32],
    values: FloatArray,
    y: FloatArray,
    in_training: BoolArray,
    seed: int,
    learning_rate: float,
    bag_fraction: float,
    min_node: int,
    work: tuple[Array, ...],
) -> tuple[float, float]:
    """Fit all trees into `work`; return the mean training target and the unit of the residuals.

    The residuals of rows outside training start from 0 instead of the target: what the trees leave there is
    minus their prediction.
    """
    lists, rows, residuals, bag, features, thresholds, steps = work
    low, unit = to_units(y, in_training, residuals)
    n = 0
    for f in range(len(order)):
        n = 0
        for i in range(order.shape[1]):
            # Write always, step on only for training rows: a branch would be mispredicted at many test rows.
            lists[f, n] = order[f, i]
            n += in_training[order[f, i]]
    n = 0
    total = 0
    for i in range(len(y)):
        if in_training[i]:
            rows[n] = i
            n += 1
            total += residuals[i]
    mean = np.int64(np.rint(total / n))
    total -= n * mean  # from here on the sum of the training residuals
    for i in range(len(y)):
        residuals[i] = residuals[i] - mean if in_training[i] else 0
    n_bag = max(1, int(bag_fraction * n))
    state = np.uint64(seed)
    feature = np.int64(-1)  # typed: with the literal, numba would compile `_best_split` twice
    for tree in range(len(features)):
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
        feature, at, n_left, left_sum = _best_split(lists[:, :n], codes, bag, n_bag, rest, min_node, feature)
        features[tree] = feature
        if feature < 0:
            step = np.int64(np.rint(learning_rate * (in_bag / n_bag)))
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
        left_step = np.int64(np.rint(learning_rate * (centre + left_sum / n_left)))
        right_step = np.int64(np.rint(learning_rate * (centre + (rest - left_sum) / (n_bag - n_left))))
        thresholds[tree] = threshold
        steps[tree, 0], steps[tree, 1] = left_step * unit, right_step * unit
        total -= n_left_all * left_step + (n - n_left_all) * right_step
        for i in range(len(y)):
            residuals[i] -= left_step if code[i] <= last_left else right_step
    return low + mean * unit, unit


@compiled
def leave_out(rows: Array, n_out: int, state: int) -> int:
    """Draw rows without replacement into the first `n_out` places (Fisher-Yates); return the generator's new state.

    Random bits come from splitmix64 [1]_. A place is the upper half of a 64-bit product; its relative bias is
    below 2**-32 times the number of rows.

    References
    ----------
    .. [1] Steele, Lea, Flood (2014). Fast splittable pseudorandom number generators. OOPSLA, figure 17.
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
) -> tuple[int, int, int, int]:
    """Best split: feature (-1 if none), last left position in its list, drawn samples on the left, their sum.

    `bag` holds, per row, the residual around the mean of the drawn samples and a count of 1, or twice 0 for rows
    left out. With L the left sum, the gain is L**2 n / (n_left n_right). A running sum is therefore compared with
    the |L| that could still win, taken over a block of positions, and little else is done at most positions. The
    `likely` feature goes first, to have a high bound for the others.
    """
    n = lists.shape[1]
    best_feature, best_at, best_left, best_sum, best_gain = -1, 0, 0, 0, 0.0
    if n_bag < 2 * min_node:
        return best_feature, best_at, best_left, best_sum
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
                    if gain > best_gain or (gain == best_gain and f < best_feature):
                        best_feature, best_at, best_left, best_sum, best_gain = f, block + i, n_left, left_sum, gain
                        bound = np.int64(np.sqrt(best_gain * sides / n_bag) * (1 - 1e-9)) - rest - 1
            block = block_end
    return best_feature, best_at, best_left, best_sum
