"""Naive Bayes for mixed data from counts and sums that leave the test fold out."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.core.gate.categorical import nominal_columns
from foldshift.learners.base import FoldClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, IntArray, UnsignedArray
    from foldshift.learners._states import Cuts

_CANCELLED = 1e-4  # share of the whole data set's sum of squares below which a difference of sums is not trusted
_LARGEST = 1e150  # numbers whose squares do not overflow
_LOG_2_PI = math.log(2 * math.pi)


class _Totals(NamedTuple):
    """Sums over the samples of every class; shape (n_classes, n_columns) but for `counts`."""

    counts: FloatArray  # (n_classes,): samples
    seen: FloatArray  # values that are not missing
    origin: FloatArray  # near the means
    sums: FloatArray  # of the distances to the origin
    squares: FloatArray  # of their squares


class _Model(NamedTuple):
    """Fitted model; arrays have shape (n_classes, n_columns) unless another is given."""

    counts: FloatArray  # (n_classes,)
    origin: FloatArray
    shift: FloatArray  # means, from the origin
    scale: FloatArray  # reciprocal standard deviations; 0 for columns that are left out
    constant: FloatArray  # logarithms of the largest densities
    table: FloatArray  # (sum of n_codes, n_classes): samples with every category
    known: FloatArray  # (n_nominal, n_classes): samples whose category is known
    n_codes: IntArray  # (n_nominal,): codes in `table`
    n_categories: IntArray  # (n_nominal,): categories of the training part
    alpha: float


class NaiveBayesClassifier(FoldClassifier):
    """Naive Bayes: normal densities for numeric columns, smoothed frequencies for nominal ones, class frequencies of the training
    part as priors.

    Gives the probabilities of scikit-learn's ``GaussianNB`` where all columns are numeric, of ``CategoricalNB`` where all are
    nominal, and for mixed data the product of both with one prior.

    Parameters
    ----------
    categorical_features : None, array-like of bool or of int, default=None
        Mask or positions of the nominal columns, which hold category codes 0, 1, ...
    var_smoothing : float, default=1e-9
        Share of the largest variance of a numeric column of the training part that is added to all variances; above 0.
    alpha : float, default=1.0
        Added to the number of samples of every class with every category; above 0.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Training samples of every class.
    theta_, var_ : ndarray of shape (n_classes, n_numeric_features)
        Means, and variances (n in the denominator) with what `var_smoothing` adds.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        Training samples of every class with every category, one array per nominal column.

    Notes
    -----
    A NaN is ignored, in training and after it: it is left out of counts, means and variances, and the factor of its column is
    left out of the product. A numeric column of which a class has no value is left out for all classes.

    A nominal column has as many categories as its highest code in the training part says, as in ``CategoricalNB``. A higher code
    in `predict` counts as a category without training samples. Where all numeric columns are constant in the training part they
    are left out, since then all classes have the same density, however wide.

    Classes whose scores differ by less than 1e-9 are a tie, which the lower code wins, so that the order of the sums does not
    decide it.

    The shared path counts and sums every fold once, about the class means of the whole data set, and subtracts. Where a column
    loses nearly all its variance in a class in this way, the sums of the training part are taken again.

    References
    ----------
    .. [1] Hastie, Tibshirani, Friedman (2009). The Elements of Statistical Learning, 2nd edition, section 6.6.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import NaiveBayesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NaiveBayesClassifier().fit(X, y)
    >>> model.predict_proba([[5.9, float("nan"), 4.4, float("nan")]]).round(2)
    array([[0.  , 0.96, 0.04]])
    """

    _finite = "allow-nan"

    _tie = 1e-9

    def __init__(self, categorical_features: ArrayLike | None = None, var_smoothing: float = 1e-9, alpha: float = 1.0) -> None:
        self.categorical_features = categorical_features
        self.var_smoothing = var_smoothing
        self.alpha = alpha

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        values, categories, n_codes = self._split_training(X)
        totals = _totals(values, codes, n_classes)
        self.class_count_ = totals.counts
        shift, variance = _moments(totals.seen, totals.sums, totals.squares)
        added = self.var_smoothing * _largest_variance(totals.seen, totals.origin, shift, variance)
        table = _count(categories, codes, n_classes, n_codes)
        scale, constant = _densities(totals.counts, totals.seen, variance, added)
        known = _known(table, n_codes)
        self._model = _Model(
            totals.counts, totals.origin, shift, scale, constant, table, known, n_codes, n_codes, float(self.alpha)
        )
        self.theta_, self.var_ = totals.origin + shift, variance + added
        self.category_count_ = [part.T.copy() for part in np.split(table, np.cumsum(n_codes)[:-1])] if len(n_codes) else []

    def _scores(self, X: FloatArray) -> FloatArray:
        nominal = nominal_columns(self.categorical_features, X.shape[1])
        categories = _categories(X[:, nominal], self._model.n_categories)
        return _posteriors(np.ascontiguousarray(X[:, ~nominal]), categories, self._model)

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        if np.isinf(X).any():  # the plain path refuses it in `fit`
            raise ValueError(
                f"NaiveBayesClassifier: X has {np.isinf(X).sum()} infinite values; give finite numbers, or NaN for none"
            )
        values, categories, n_codes = self._split_training(X)
        smoothing, alpha = float(self.var_smoothing), float(self.alpha)
        return _fold_scores(values, categories, codes, n_classes, n_codes, cuts.folds, cuts.n_folds, smoothing, alpha)

    def _split_training(self, X: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Part the inputs into numeric columns, category codes, and the number of codes of every nominal column."""
        for name in ("var_smoothing", "alpha"):
            value: float = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value < np.inf:
                raise ValueError(f"{name}={value!r} must be a number above 0")
        nominal = nominal_columns(self.categorical_features, X.shape[1])
        values = np.ascontiguousarray(X[:, ~nominal])
        largest = np.fmax.reduce(np.abs(values), axis=None, initial=0.0)
        if largest > _LARGEST:
            raise ValueError(
                f"NaiveBayesClassifier: the largest number is {largest:g}; scale numeric columns to at most {_LARGEST:g}"
            )
        categories = _categories(X[:, nominal])
        return values, categories, categories.max(axis=0) + 1 if categories.size else np.zeros(categories.shape[1], np.int64)


def _categories(values: FloatArray, n_codes: float | IntArray = np.inf) -> IntArray:
    """Convert category codes to int64: -1 for NaN, `n_codes` for higher codes."""
    known = ~np.isnan(values)
    if (values[known] < 0).any() or (values[known] != np.floor(values[known])).any():
        raise ValueError("nominal columns must hold category codes 0, 1, ...; got a negative number or a fraction")
    return np.where(known, np.minimum(values, n_codes), -1).astype(np.int64)


@compiled
def _totals(values: FloatArray, codes: IntArray, n_classes: int) -> _Totals:
    """Sum over the samples of every class."""
    n, p = values.shape
    counts, seen, sums = np.zeros(n_classes), np.zeros((n_classes, p)), np.zeros((n_classes, p))
    origin, squares = np.zeros((n_classes, p)), np.zeros((n_classes, p))
    for i in range(n):
        c = codes[i]
        counts[c] += 1
        for j in range(p):
            if not math.isnan(values[i, j]):
                if seen[c, j] == 0:
                    origin[c, j] = values[i, j]  # a column that is constant in the class becomes exactly 0
                seen[c, j] += 1
                sums[c, j] += values[i, j] - origin[c, j]
    for c in range(n_classes):
        for j in range(p):
            if seen[c, j] > 0:
                origin[c, j] += sums[c, j] / seen[c, j]
    sums[:] = 0.0
    for i in range(n):
        _add(values[i], origin[codes[i]], sums[codes[i]], squares[codes[i]])
    return _Totals(counts, seen, origin, sums, squares)


@compiled
def _add(row: FloatArray, origin: FloatArray, sums: FloatArray, squares: FloatArray) -> None:
    for j in range(len(row)):
        if not math.isnan(row[j]):
            gap = row[j] - origin[j]
            sums[j] += gap
            squares[j] += gap * gap


@compiled
def _moments(seen: FloatArray, sums: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute means, from the origin, and variances of every class and column."""
    shift, variance = np.zeros_like(sums), np.zeros_like(sums)
    for c in range(len(seen)):
        for j in range(sums.shape[1]):
            if seen[c, j] > 0:
                shift[c, j] = sums[c, j] / seen[c, j]
                variance[c, j] = max(squares[c, j] / seen[c, j] - shift[c, j] * shift[c, j], 0.0)
    return shift, variance


@compiled
def _largest_variance(seen: FloatArray, origin: FloatArray, shift: FloatArray, variance: FloatArray) -> float:
    """Largest variance of a column over all classes together."""
    n_classes, p = shift.shape
    largest = 0.0
    for j in range(p):
        n, first = 0.0, 0
        for c in range(n_classes - 1, -1, -1):
            n += seen[c, j]
            if seen[c, j] > 0:
                first = c
        if n == 0:
            continue
        centre, total = 0.0, 0.0
        for c in range(n_classes):
            if seen[c, j] > 0:
                centre += seen[c, j] * (origin[c, j] - origin[first, j] + shift[c, j])
        centre /= n
        for c in range(n_classes):
            if seen[c, j] > 0:
                gap = origin[c, j] - origin[first, j] + shift[c, j] - centre
                total += seen[c, j] * (variance[c, j] + gap * gap)
        largest = max(largest, total / n)
    return largest


@compiled
def _densities(counts: FloatArray, seen: FloatArray, variance: FloatArray, added: float) -> tuple[FloatArray, FloatArray]:
    """Compute the reciprocal standard deviation and the logarithm of the largest density of every class and column.

    They are 0 where all columns are constant, and for a column of which a class has no value.
    """
    scale, constant = np.zeros_like(variance), np.zeros_like(variance)
    if added > 0:
        for c in range(len(variance)):
            for j in range(variance.shape[1]):
                scale[c, j] = 1 / math.sqrt(variance[c, j] + added)
                constant[c, j] = -0.5 * (_LOG_2_PI + math.log(variance[c, j] + added))
        for c in range(len(variance)):
            for j in range(variance.shape[1]):
                if counts[c] > 0 and seen[c, j] == 0:
                    scale[:, j] = 0.0
    return scale, constant


@compiled
def _count(categories: IntArray, codes: IntArray, n_classes: int, n_codes: IntArray) -> FloatArray:
    """Count samples by category and class, the categories of all columns one below the other: (sum of n_codes, n_classes)."""
    table = np.zeros((n_codes.sum(), n_classes))
    for i in range(len(categories)):
        _count_row(categories[i], codes[i], n_codes, 1.0, table)
    return table


@compiled
def _count_row(row: IntArray, code: int, n_codes: IntArray, change: float, table: FloatArray) -> None:
    start = 0
    for j in range(len(n_codes)):
        if row[j] >= 0:
            table[start + row[j], code] += change
        start += n_codes[j]


@compiled
def _known(table: FloatArray, n_codes: IntArray) -> FloatArray:
    """Count the samples of every class whose category in a column is known: (n_columns, n_classes)."""
    known = np.zeros((len(n_codes), table.shape[1]))
    start = 0
    for j in range(len(n_codes)):
        for code in range(start, start + n_codes[j]):
            known[j] += table[code]
        start += n_codes[j]
    return known


@compiled(inline="always")  # a call for every row would hand over the arrays of the model
def _posterior(row: FloatArray, categories: IntArray, model: _Model, out: FloatArray) -> None:
    """Write the class probabilities of one sample: class frequencies times densities times frequencies of categories."""
    counts, origin, shift, scale, constant = model.counts, model.origin, model.shift, model.scale, model.constant
    n_codes, n_categories, alpha = model.n_codes, model.n_categories, model.alpha
    n = counts.sum()
    for c in range(len(counts)):
        if counts[c] == 0:
            out[c] = -np.inf
            continue
        out[c] = math.log(counts[c] / n)
        for j in range(len(row)):
            if scale[c, j] > 0 and not math.isnan(row[j]):
                gap = min(abs(row[j] - origin[c, j] - shift[c, j]) * scale[c, j], _LARGEST)
                out[c] += constant[c, j] - 0.5 * gap * gap
        start = 0
        for j in range(len(categories)):
            code = categories[j]
            if code >= 0 and n_categories[j] > 0:
                seen = model.table[start + code, c] if code < n_codes[j] else 0.0
                out[c] += math.log((seen + alpha) / (model.known[j, c] + alpha * n_categories[j]))
            start += n_codes[j]
    largest = out.max()
    for c in range(len(counts)):
        out[c] = math.exp(out[c] - largest)
    out /= out.sum()


@compiled
def _posteriors(values: FloatArray, categories: IntArray, model: _Model) -> FloatArray:
    out = np.empty((len(values), len(model.counts)))
    for i in range(len(values)):
        _posterior(values[i], categories[i], model, out[i])
    return out


@compiled
def _fold_scores(
    values: FloatArray,
    categories: IntArray,
    codes: IntArray,
    n_classes: int,
    n_codes: IntArray,
    folds: UnsignedArray,
    n_folds: int,
    var_smoothing: float,
    alpha: float,
) -> FloatArray:
    n_seeds, n = folds.shape
    out = np.empty((n_seeds, n, n_classes))
    whole = _totals(values, codes, n_classes)
    table = _count(categories, codes, n_classes, n_codes)
    n_categories = n_codes.copy()
    for s in range(n_seeds):
        order = np.argsort(folds[s], kind="mergesort")
        sizes = np.bincount(folds[s], minlength=n_folds)
        if sizes.max() == n:
            raise ValueError("one fold holds all samples, so that none are left for training; make at least two folds")
        start = 0
        for fold in range(n_folds):
            test = order[start : start + sizes[fold]]
            start += sizes[fold]
            if len(test) == 0:
                continue
            counts, seen = whole.counts.copy(), whole.seen.copy()
            sums, squares = np.zeros_like(whole.sums), np.zeros_like(whole.squares)
            for i in test:
                counts[codes[i]] -= 1
                for j in range(values.shape[1]):
                    seen[codes[i], j] -= not math.isnan(values[i, j])
                _add(values[i], whole.origin[codes[i]], sums[codes[i]], squares[codes[i]])
                _count_row(categories[i], codes[i], n_codes, -1.0, table)
            origin = whole.origin
            shift, variance = _moments(seen, whole.sums - sums, whole.squares - squares)
            if not _trusted(seen, variance, whole.squares):
                training = np.flatnonzero(folds[s] != fold)
                part = _totals(values[training], codes[training], n_classes)
                origin = part.origin
                shift, variance = _moments(seen, part.sums, part.squares)
            added = var_smoothing * _largest_variance(seen, origin, shift, variance)
            scale, constant = _densities(counts, seen, variance, added)
            known = _known(table, n_codes)
            _highest(table, n_codes, n_categories)
            model = _Model(counts, origin, shift, scale, constant, table, known, n_codes, n_categories, alpha)
            for i in test:
                _posterior(values[i], categories[i], model, out[s, i])
            for i in test:
                _count_row(categories[i], codes[i], n_codes, 1.0, table)
    return out


@compiled
def _trusted(seen: FloatArray, variance: FloatArray, all_squares: FloatArray) -> bool:
    """Check whether enough of every sum of squares is left for its difference to be precise."""
    for c in range(len(seen)):
        for j in range(variance.shape[1]):
            if seen[c, j] > 0 and all_squares[c, j] > 0 and seen[c, j] * variance[c, j] <= _CANCELLED * all_squares[c, j]:
                return False
    return True


@compiled
def _highest(table: FloatArray, n_codes: IntArray, n_categories: IntArray) -> None:
    """Write the number of categories of every column: one more than the highest code with a sample."""
    start = 0
    for j in range(len(n_codes)):
        n_categories[j] = n_codes[j]
        while n_categories[j] > 0 and table[start + n_categories[j] - 1].sum() == 0:
            n_categories[j] -= 1
        start += n_codes[j]
