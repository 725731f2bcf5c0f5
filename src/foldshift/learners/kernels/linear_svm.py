"""Linear support vector machine of texts: the fits of all blocks of a data set at once."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from foldshift.core.compiling import compiled
from foldshift.learners._lanes import add_product, load, store
from foldshift.learners._row_blocks import checked_blocks, checked_partitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import Array, FloatArray, IntArray, RandomState, TableLike, UnsignedArray

LANES = 16  # fits side by side are a multiple of this: a line of the processor's cache in single precision
ORDER_STATE = 0  # of the order in which rows are visited: of no consequence but for the last digits
MOST_LANES = 32  # at most so many share a pass over the rows; their weights should stay in the processor's cache
SINGLE = 1e-4  # smallest tolerance of fits in single precision, for rows whose squares sum to 0; more for longer ones
MOMENTUM = 0.4  # share of the last pass by which a pass is begun ahead
MOMENTUM_PASSES = 100  # so many passes have momentum; later ones have none, and descent without it always converges
ABSENT = np.uint32(2**32 - 1)  # place of a feature that does not occur


class _Matrix(NamedTuple):
    """Sparse matrix by rows; unsigned, so that no index is tested for being negative."""

    starts: NDArray[np.uint64]
    columns: NDArray[np.uint32]
    values: Array  # float32 or float64


class _Problem(NamedTuple):
    """Rows of one data set, for one class against the others."""

    place: NDArray[np.uint32]  # (n_features,): place of a feature among those that occur
    rows: IntArray  # (n,)
    signs: Array  # (n,): 1 or -1
    left_out: IntArray  # (n, n_partitions): fits that a row has no part in, -1 for none


class _Stopping(NamedTuple):
    """Conditions that end descent."""

    tolerance: float
    max_passes: int


class LinearSVMClassifier(LinearSVC):
    """scikit-learn's ``LinearSVC`` by the dual, with the fits of all blocks of a data set in step.

    `tol` is the largest difference between two projected gradients at which a fit ends, `max_iter` the most passes over the rows,
    which are visited in the order of `random_state`.

    Fits that leave out one block each have most of their rows in common. The shared path visits the rows of the data set in one
    random order for all of them; every row is read once for all fits, whose weights stand beside each other, and each fit makes
    its own step of dual coordinate descent [1], or none where the row is in the block that it leaves out. Nothing goes from one
    fit to another. Rows are not set aside between passes.

    A pass does not begin where the one before it ended, but ahead, as in Nesterov's method [2]: with a the dual variables,
    ``a_t + 0.4 (a_t - a_(t-1))`` for the first hundred passes, which takes two thirds of the passes that descent alone takes.
    Where `tol` is far above the rounding of single precision, as by default, the shared path counts in it. Both paths end at the
    same tolerance of the same problem, in another order of steps, so that their decision values differ by about `tol`.

    Give it rows of length 1 (`foldshift.learners.linear.text.unit_rows`): on the counts of words themselves it takes fifteen
    times as long and need not converge, and the primal problem takes twice as long as the dual one.
    Sources: [1] Hsieh, Chang, Lin, Keerthi, Sundararajan (2008). A dual coordinate descent method for large-scale linear SVM.
    ICML, algorithm 1 and equation 9. [2] Nesterov (1983). A method of solving a convex programming problem with convergence rate
    O(1/k^2). Soviet Mathematics Doklady 27, equation 4.
    """

    def __init__(
        self, *, C: float = 1.0, tol: float = 1e-3, max_iter: int = 10_000, random_state: RandomState = ORDER_STATE
    ) -> None:
        super().__init__(C=C, tol=tol, max_iter=max_iter, random_state=random_state, loss="squared_hinge", dual=True)

    def predict_blocks(self, X: TableLike, y: Array, rows: IntArray, sizes: IntArray, first: int = 0) -> Array:
        """Predict the class of every row by the model trained on the other blocks of its data set.

        Training rows of one class predict that class. `rows` (n_datasets, n) are the rows of `X` in every data set, block after
        block, `sizes` (n_blocks,) those of the blocks. Blocks before `first` are training data only: predictions have the shape
        (n_datasets, n_predicted).
        """
        rows, sizes = checked_blocks(X, y, rows, sizes)
        left_out = np.repeat(np.arange(len(sizes)) - first, sizes)[None]
        n_before = int(sizes[:first].sum())
        classes, scores = self._scores(X, y)
        found = [scores(chosen, left_out, len(sizes) - first)[0][0, n_before:].argmax(axis=-1) for chosen in rows]
        return classes[np.array(found, dtype=np.intp).reshape(len(rows), int(sizes[first:].sum()))]

    def predict_partitions(
        self, X: csr_array, y: NDArray[np.int8], rows: IntArray, blocks: IntArray, new_rows: IntArray
    ) -> tuple[Array, ...]:
        """Predict the class of every row in several partitions of its data set, and of new rows by the model of all.

        `blocks` (n_datasets, n_partitions, n) are the blocks of `rows` (n_datasets, n), rows of `X`, from 0; `new_rows`
        (n_datasets, m) are in no training part, and m may be 0. Predictions have the shapes of `blocks` and of `new_rows`.
        """
        rows, blocks, new_rows = checked_partitions(X, y, rows, blocks, new_rows)
        n_blocks = blocks.max(initial=0) + 1
        classes, scores = self._scores(X, y)
        first = np.arange(blocks.shape[1])[:, None] * n_blocks
        found = [
            [one.argmax(axis=-1) for one in scores(chosen, first + cut, n_blocks * len(first), new)]
            for chosen, cut, new in zip(rows, blocks, new_rows)
        ]
        return tuple(classes[np.array(parts)] for parts in zip(*found))

    def _scores(self, X: csr_array, y: NDArray[np.int8]) -> tuple[NDArray[np.int8], Callable[..., Any]]:
        """Prepare the inputs once; return the classes, and the function that fits one data set and scores its rows."""
        X = csr_array(X, dtype=np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        # The features that occur most often first: their weights are next to each other in memory.
        often = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
        place = np.empty(X.shape[1], dtype=np.uint32)
        place[often] = np.arange(X.shape[1], dtype=np.uint32)
        # Single precision where its rounding is far below the tolerance: twice the lanes per instruction, half the memory.
        squares = csr_array((X.data**2, X.indices, X.indptr), shape=X.shape).sum(axis=1)
        largest = max(1.0, self.C) * (1.0 + squares.max(initial=0.0))
        dtype = np.float32 if self.tol >= SINGLE * largest else np.float64
        matrix = _Matrix(X.indptr.astype(np.uint64), place[X.indices], X.data.astype(dtype))
        classes, codes = np.unique(y, return_inverse=True)
        seed = np.uint64(check_random_state(self.random_state).randint(2**31))
        return classes, lambda rows, left_out, n_fits, new=(): self._data_set(
            matrix, X.shape[1], codes, len(classes), seed, rows, left_out, n_fits, np.array(new, dtype=np.int64)
        )

    def _data_set(
        self,
        matrix: _Matrix,
        n_features: int,
        codes: IntArray,
        n_classes: int,
        seed: Any,
        rows: IntArray,
        left_out: IntArray,
        n_fits: int,
        new: IntArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Compute the decision values of the classes for every row and for new rows.

        A row is decided by the fit that leaves it out (-1: none does), new rows by a fit of all rows. Shapes are
        (n_partitions, n, n_classes) and (n_new, n_classes).
        """
        whole = len(new) > 0
        place, n_used = _features(matrix, rows, n_features)
        used = np.ones((len(rows), n_fits + whole), dtype=bool)
        for held in left_out:
            some = np.flatnonzero(held >= 0)
            used[some, held[some]] = False
        own = codes[rows]
        seen = np.stack([used[own == c].any(axis=0) for c in range(n_classes)], axis=1)
        scores = np.full((*left_out.shape, n_classes), -np.inf)
        new_scores = np.full((len(new), n_classes), -np.inf)
        two = n_classes == 2
        for start in range(0, used.shape[1], MOST_LANES):
            stop = min(start + MOST_LANES, used.shape[1])
            lanes = np.where((left_out >= start) & (left_out < stop), left_out - start, -1).T.copy()
            for c in range(1, 2) if two else range(n_classes):
                signs = np.where(own == c, 1, -1).astype(matrix.values.dtype)
                weights = self._weights(matrix, _Problem(place, rows, signs, lanes), n_used, seed, stop - start)
                for p, held in enumerate(lanes.T):
                    at = np.flatnonzero(held >= 0)
                    decided = _decide(matrix, place, weights, rows[at], held[at])
                    scores[p, at, c] = decided
                    if two:
                        scores[p, at, 0] = -decided
                if whole and stop == used.shape[1]:
                    last = np.full(len(new), stop - start - 1)
                    new_scores[:, c] = _decide(matrix, place, weights, new, last)
                    if two:
                        new_scores[:, 0] = -new_scores[:, 1]
        scores[~seen[left_out]] = -np.inf  # a class that the training part lacks; a fit of one class ends with it
        new_scores[:, ~seen[-1]] = -np.inf
        return scores, new_scores

    def _weights(self, matrix: _Matrix, problem: _Problem, n_used: int, seed: np.uint64, n_fits: int) -> Array:
        """Weights of the features that occur, the constant last, shape (n_used + 1, n_lanes)."""
        lanes = (0,) * (-(-n_fits // LANES) * LANES)
        dtype = problem.signs.dtype
        weights = _aligned((n_used + 1, len(lanes)), dtype)
        ridge, stopping = dtype.type(0.5 / self.C), _Stopping(self.tol, self.max_iter)
        n_passes = _descend(matrix, problem, ridge, stopping, seed, weights, lanes)
        if n_passes > self.max_iter:
            warnings.warn(
                f"a linear SVM did not converge in max_iter={self.max_iter} passes; raise max_iter or tol, or scale the inputs",
                ConvergenceWarning,
                stacklevel=2,
            )
        return weights


def _aligned(shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """Allocate zeros that begin with a line of the processor's cache, so that no row shares a line with another."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


@compiled
def _features(matrix: _Matrix, rows: IntArray, n_features: int) -> tuple[UnsignedArray, int]:
    """Number the features that occur in the rows, `ABSENT` for all others; return how many occur, too."""
    starts, columns = matrix.starts, matrix.columns
    place = np.zeros(n_features, dtype=np.uint32)
    for i in rows:
        for q in range(starts[i], starts[i + 1]):
            place[columns[q]] = 1
    n_used = 0
    for j in range(n_features):
        if place[j]:
            place[j] = n_used
            n_used += 1
        else:
            place[j] = ABSENT
    return place, n_used


@compiled
def _descend(
    matrix: _Matrix, problem: _Problem, ridge: float, stopping: _Stopping, seed: np.uint64, weights: Array, lanes: tuple[int, ...]
) -> int:
    """Fit by dual coordinate descent, many fits side by side; their weights (the constant last) go into `weights`.

    Minimise ``|w|^2 / 2 + C sum max(0, 1 - y w.x)^2``; `ridge` is 1 / (2 C). `lanes` is a tuple as long as a row of `weights`.
    Returns the number of passes, ``max_passes + 1`` if the tolerance was not reached.
    """
    starts, columns, values = matrix
    place, rows, signs, left_out = problem
    n, n_fits = len(signs), weights.shape[1]
    one, zero = values.dtype.type(1.0), values.dtype.type(0.0)
    last = np.uint64(len(weights) - 1)
    # The rows of this data set, one after the other, by the features that occur in them.
    begin = np.zeros(n + 1, dtype=np.uint64)
    for i in range(n):
        begin[i + 1] = begin[i] + (starts[rows[i] + 1] - starts[rows[i]])
    feature, value = np.empty(begin[n], dtype=np.uint64), np.empty(begin[n], dtype=values.dtype)
    norms = np.full(n, one + ridge)
    for i in range(n):
        source = starts[rows[i]]
        for q in range(begin[i], begin[i + 1]):
            feature[q], value[q] = place[columns[source]], values[source]
            norms[i] += value[q] * value[q]
            source += np.uint64(1)
    alpha, change = np.zeros((n, n_fits), values.dtype), np.zeros((n, n_fits), values.dtype)
    earlier = np.zeros_like(weights)
    table = np.empty((1, n_fits), values.dtype)
    row = table[0]  # gradients of all fits, then their steps
    order = np.arange(n).astype(np.uint64)
    highest, lowest = np.empty(n_fits, values.dtype), np.empty(n_fits, values.dtype)
    for number in range(stopping.max_passes):
        for last_left in range(n - 1, 0, -1):  # Knuth's generator of MMIX; its high bits
            seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            drawn = ((seed >> np.uint64(32)) * np.uint64(last_left + 1)) >> np.uint64(32)
            order[last_left], order[drawn] = order[drawn], order[last_left]
        pull = values.dtype.type(MOMENTUM if number < MOMENTUM_PASSES else 0.0)
        for j in range(len(weights)):
            for f in range(n_fits):
                now = weights[j, f]
                weights[j, f] = now + pull * (now - earlier[j, f])
                earlier[j, f] = now
        highest[:] = zero
        lowest[:] = zero
        for at in order:
            total = load(weights, last, lanes)
            for q in range(begin[at], begin[at + np.uint64(1)]):
                total = add_product(total, value[q], load(weights, feature[q], lanes))
            store(table, np.uint64(0), total)
            sign, norm = signs[at], norms[at]
            for f in range(n_fits):
                row[f] = sign * row[f] - one + ridge * (alpha[at, f] + pull * change[at, f])
            for f in left_out[at]:
                if f >= 0:
                    row[f] = zero
            for f in range(n_fits):
                before, g = alpha[at, f] + pull * change[at, f], row[f]
                # Where momentum went below 0, the way back counts.
                projected = g if before > zero else min(g, norm * before)
                highest[f] = max(highest[f], projected)
                lowest[f] = min(lowest[f], projected)
                after = max(before - g / norm, zero)
                row[f] = (after - before) * sign
                change[at, f] = after - alpha[at, f]
                alpha[at, f] = after
            f = 0
            while f < n_fits and row[f] == zero:
                f += 1
            if f < n_fits:
                step = load(table, np.uint64(0), lanes)
                for q in range(begin[at], begin[at + np.uint64(1)]):
                    store(weights, feature[q], add_product(load(weights, feature[q], lanes), value[q], step))
                store(weights, last, add_product(load(weights, last, lanes), one, step))
        if (highest - lowest).max() <= stopping.tolerance:
            return number + 1
    return stopping.max_passes + 1


@compiled
def _decide(matrix: _Matrix, place: UnsignedArray, weights: Array, rows: IntArray, fits: IntArray) -> FloatArray:
    """Decision value of some rows, each by one of the fits; features that occur in no training part have no weight."""
    starts, columns, values = matrix
    found = np.empty(len(rows))
    for t in range(len(rows)):
        i, f = rows[t], fits[t]
        score = np.float64(weights[len(weights) - 1, f])
        for q in range(starts[i], starts[i + 1]):
            j = place[columns[q]]
            if j != ABSENT:
                score += values[q] * weights[j, f]
        found[t] = score
    return found
