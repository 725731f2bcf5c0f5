"""Extreme learning machine: a random hidden layer, and output weights by pseudo-inverse."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from foldshift.core.compiling import compiled
from foldshift.learners.base import FoldRegressor

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray, RandomState, UnsignedArray
    from foldshift.learners._states import Cuts

# Sums over rows are kept as 64-bit integers, in units of 2**-44. Integer sums do not depend on the order of the
# rows, so the sums over the folds of a training set are exactly the sums over its rows, and both paths give the
# same bits. The rounding (at most 2**-45 per product) is of the size of what a double-precision sum loses.
_UNITS = 2.0**44
_MAX_ROWS = 2**18
_BLOCK = 128
_EPS = np.finfo(np.float64).eps


class ELMRegressor(FoldRegressor):
    """Extreme learning machine with radial hidden units and no bias.

    The hidden layer is ``H = exp(-(X W)**2)`` with random weights ``W ~ N(0, 1)``; the output weights are
    ``pinv(H) y``. This is what R's ``elmNNRcpp`` computes with ``act = "radbas"``, ``bias = FALSE``,
    ``init_weights = "normal_gaussian"`` and ``moore_penrose_tol = tolerance``, up to the draw of ``W``.

    Parameters
    ----------
    n_hidden : int, default=20
        Number of hidden units.
    tolerance : float, default=0.01
        Singular values of the training rows of ``H`` that are not greater than this are taken as zero by the
        pseudo-inverse. It is absolute, not relative to the largest one.
    random_state : int, RandomState or None, default=0
        Draws ``W``. An int gives the same ``W`` in every fit on the same number of features, as that package does.

    Attributes
    ----------
    hidden_weights_ : ndarray of shape (n_features, n_hidden)
        ``W``.
    output_weights_ : ndarray of shape (n_hidden,)
        ``pinv(H) y``.

    Notes
    -----
    ``pinv(H) y`` is computed as ``V diag(1 / l) V' (H' y)`` from the eigenvalues ``l`` of ``H' H`` with
    ``sqrt(l) > tolerance``. Eigenvalues up to ``n_hidden * eps * trace(H' H)`` are rounding noise and always
    dropped; for 20 units and the largest number of rows (2^18) that is 2e-8, below the default ``tolerance**2``.

    References
    ----------
    G.-B. Huang, Q.-Y. Zhu, C.-K. Siew (2006). Extreme learning machine: theory and applications.
    Neurocomputing 70, 489-501, section 3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from foldshift.learners import ELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ELMRegressor().fit(X, y)
    >>> model.hidden_weights_.shape
    (10, 20)
    """

    def __init__(self, n_hidden: int = 20, tolerance: float = 0.01, random_state: RandomState = 0) -> None:
        self.n_hidden = n_hidden
        self.tolerance = tolerance
        self.random_state = random_state

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        self._check_parameters(X)
        self.hidden_weights_ = self._draw_weights(X.shape[1], self.random_state)
        exponent = int(_exponents(np.abs(y).max()))
        sums = _products(_hidden(X, self.hidden_weights_), y, exponent).sum(axis=0, dtype=np.int64)
        weights = _output_weights(sums[None, None], self.n_hidden, self.tolerance, np.array([[exponent]]))
        self.output_weights_ = weights[0, 0]

    def _predict(self, X: FloatArray) -> FloatArray:
        fold = np.zeros((1, len(X)), dtype=np.uint16)
        return _combine(_hidden(X, self.hidden_weights_), self.output_weights_[None, None], fold)[0]

    def _predict_folds(self, X: FloatArray, y: FloatArray, cuts: Cuts) -> FloatArray:
        """Predict from the other folds; see `FoldRegressor.predict_folds`.

        An int as `random_state` fixes ``W`` for all fits; the hidden layer and the products of its columns are then computed
        once for all of them.
        """
        folds, n_folds, _ = cuts
        self._check_parameters(X)
        if not isinstance(self.random_state, numbers.Integral):
            return self._predict_folds_one_by_one(X, y, cuts)
        hidden = _hidden(X, self._draw_weights(X.shape[1], self.random_state))
        exponent = int(_exponents(np.abs(y).max()))
        sums = _train_sums(_products(hidden, y, exponent), folds, n_folds)
        exponents = _exponents(_largest_in_training(y, folds, n_folds))
        # With the largest |y| in the test fold, the plain path may use finer units: sum its rows in the same.
        for seed, test in np.argwhere(exponents != exponent):
            train = folds[seed] != test
            own_products = _products(hidden[train], y[train], exponents[seed, test])
            sums[seed, test] = own_products.sum(axis=0, dtype=np.int64)
        return _combine(hidden, _output_weights(sums, self.n_hidden, self.tolerance, exponents), folds)

    def _predict_folds_one_by_one(self, X: FloatArray, y: FloatArray, cuts: Cuts) -> FloatArray:
        folds, n_folds, random_states = cuts
        random_state = check_random_state(self.random_state)
        predictions = np.empty(folds.shape)
        for row, fold in enumerate(folds):
            for test in range(n_folds):
                own = random_state if random_states is None else int(random_states[row, test])
                model = ELMRegressor(self.n_hidden, self.tolerance, own)
                model._fit(X[fold != test], y[fold != test])
                predictions[row, fold == test] = model._predict(X[fold == test])
        return predictions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The units are even functions of x: on inputs centred at 0 they cannot show a linear trend.
        tags.regressor_tags.poor_score = True
        return tags

    def _draw_weights(self, n_features: int, random_state: RandomState) -> FloatArray:
        return check_random_state(random_state).standard_normal((n_features, self.n_hidden))

    def _check_parameters(self, X: FloatArray) -> None:
        if not isinstance(self.n_hidden, numbers.Integral) or self.n_hidden < 1:
            raise ValueError(f"n_hidden={self.n_hidden!r} must be an integer of at least 1")
        if not isinstance(self.tolerance, numbers.Real) or not 0 <= self.tolerance < np.inf:
            raise ValueError(f"tolerance={self.tolerance!r} must be a finite number of at least 0")
        if len(X) > _MAX_ROWS:
            raise ValueError(f"X has {len(X):,} rows; ELMRegressor takes at most {_MAX_ROWS:,}: sample fewer")


def _hidden(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Hidden layer exp(-(X W)^2), shape (n_samples, n_hidden)."""
    projections = _project(X, weights)
    return np.exp(-(projections**2))


@compiled
def _project(X: FloatArray, weights: FloatArray) -> FloatArray:
    # Not X @ W: a BLAS product may round a row differently with the number of rows it comes with.
    projections = np.zeros((X.shape[0], weights.shape[1]))
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            for unit in range(weights.shape[1]):
                projections[i, unit] += X[i, j] * weights[j, unit]
    return projections


def _exponents(largest: float | FloatArray) -> IntArray:
    """Find the smallest e with |y| <= 2^e, so that y / 2^e lies in [-1, 1], from the largest |y|; 0 for y = 0."""
    fractions, exponents = np.frexp(largest)
    return np.where(fractions == 0.5, exponents - 1, np.minimum(exponents, 1023)).astype(np.int64)


@compiled
def _largest_in_training(y: FloatArray, folds: UnsignedArray, n_folds: int) -> FloatArray:
    """Largest |y| outside each fold, shape (n_seeds, n_folds)."""
    largest = np.zeros((folds.shape[0], n_folds))
    for seed in range(folds.shape[0]):
        of_fold = np.zeros(n_folds)
        for i in range(folds.shape[1]):
            of_fold[folds[seed, i]] = max(of_fold[folds[seed, i]], abs(y[i]))
        for test in range(n_folds):
            for fold in range(n_folds):
                if fold != test:
                    largest[seed, test] = max(largest[seed, test], of_fold[fold])
    return largest


@compiled
def _products(hidden: FloatArray, y: FloatArray, exponent: int) -> IntArray:
    """Multiply hidden columns (upper triangle), and hidden columns with y, row by row, as integers.

    Returns an int64 array of shape (n_samples, n_hidden * (n_hidden + 1) / 2 + n_hidden) in units of 2^-44,
    the last ``n_hidden`` columns in units of 2^(exponent - 44).
    """
    n_samples, n_hidden = hidden.shape
    scale = np.ldexp(1.0, -exponent)
    products = np.empty((n_samples, n_hidden * (n_hidden + 1) // 2 + n_hidden), dtype=np.int64)
    for i in range(n_samples):
        column = 0
        for a in range(n_hidden):
            for b in range(a, n_hidden):
                products[i, column] = np.int64(np.rint(hidden[i, a] * hidden[i, b] * _UNITS))
                column += 1
        for a in range(n_hidden):
            products[i, column] = np.int64(np.rint(hidden[i, a] * (y[i] * scale) * _UNITS))
            column += 1
    return products


@compiled
def _train_sums(products: IntArray, folds: UnsignedArray, n_folds: int) -> IntArray:
    """Sum the rows outside each fold, shape (n_seeds, n_folds, n_products)."""
    n_samples, n_products = products.shape
    n_seeds = folds.shape[0]
    sums = np.zeros((n_seeds, n_folds, n_products), dtype=np.int64)
    # Seeds inside blocks of rows: a block comes from main memory once for all seeds. Fold 0 is total minus others.
    for start in range(0, n_samples, _BLOCK):
        for seed in range(n_seeds):
            for i in range(start, min(start + _BLOCK, n_samples)):
                fold = folds[seed, i]
                if fold > 0:
                    for column in range(n_products):
                        sums[seed, fold, column] += products[i, column]
    total = np.zeros(n_products, dtype=np.int64)
    for i in range(n_samples):
        for column in range(n_products):
            total[column] += products[i, column]
    for seed in range(n_seeds):
        for fold in range(1, n_folds):
            for column in range(n_products):
                sums[seed, 0, column] += sums[seed, fold, column]
                sums[seed, fold, column] = total[column] - sums[seed, fold, column]
    return sums


@compiled
def _output_weights(sums: IntArray, n_hidden: int, tolerance: float, exponents: IntArray) -> FloatArray:
    """Output weights of every fit, shape (n_seeds, n_folds, n_hidden), from its sums of `_products`."""
    n_seeds, n_folds, _ = sums.shape
    weights = np.empty((n_seeds, n_folds, n_hidden))
    gram = np.empty((n_hidden, n_hidden))
    moments = np.empty(n_hidden)
    for seed in range(n_seeds):
        for fold in range(n_folds):
            column = 0
            for a in range(n_hidden):
                for b in range(a, n_hidden):
                    gram[a, b] = gram[b, a] = sums[seed, fold, column] / _UNITS
                    column += 1
            for a in range(n_hidden):
                moments[a] = np.ldexp(sums[seed, fold, column + a] / _UNITS, exponents[seed, fold])
            weights[seed, fold] = _solve(gram, moments, tolerance)
    return weights


@compiled
def _solve(gram: FloatArray, moments: FloatArray, tolerance: float) -> FloatArray:
    """Compute pinv(gram) moments, keeping the eigenvalues whose square root is greater than the tolerance."""
    n_hidden = len(moments)
    least = max(tolerance**2, n_hidden * _EPS * np.trace(gram))
    # gram - least * I has a Cholesky factor exactly if every eigenvalue is above `least`: then nothing is dropped,
    # and the system is solved without eigenvectors, which would take ten times as long.
    if _cholesky(gram - least * np.eye(n_hidden))[0]:
        lower = _cholesky(gram)[1]
        solution = moments.copy()
        for i in range(n_hidden):
            for j in range(i):
                solution[i] -= lower[i, j] * solution[j]
            solution[i] /= lower[i, i]
        for i in range(n_hidden - 1, -1, -1):
            for j in range(i + 1, n_hidden):
                solution[i] -= lower[j, i] * solution[j]
            solution[i] /= lower[i, i]
        return solution
    values, vectors = np.linalg.eigh(gram)
    solution = np.zeros(n_hidden)
    for which in range(n_hidden):
        if values[which] > least:
            solution += vectors[:, which] * (np.sum(vectors[:, which] * moments) / values[which])
    return solution


@compiled
def _cholesky(matrix: FloatArray) -> tuple[bool, FloatArray]:
    """Check whether a symmetric matrix is positive definite; return its lower Cholesky factor, too, if so."""
    size = len(matrix)
    lower = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            if j < i:
                lower[i, j] = rest / lower[j, j]
            elif rest > 0:
                lower[i, i] = np.sqrt(rest)
            else:
                return False, lower
    return True, lower


@compiled
def _combine(hidden: FloatArray, weights: FloatArray, folds: UnsignedArray) -> FloatArray:
    """Output of every row with the output weights of its fold, shape (n_seeds, n_samples)."""
    n_seeds, n_samples = folds.shape
    output = np.zeros((n_seeds, n_samples))
    for seed in range(n_seeds):
        for i in range(n_samples):
            for unit in range(hidden.shape[1]):
                output[seed, i] += hidden[i, unit] * weights[seed, folds[seed, i], unit]
    return output
