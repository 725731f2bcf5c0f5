"""Linear discriminant analysis from sums that leave the test fold out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.base import FoldClassifier

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray, UnsignedArray
    from foldshift.learners._states import Cuts

SINGULAR = ("pseudo_inverse", "first_class")
# Share of a column's variance (within classes) that the columns before it must leave unexplained; eigenvalue of the correlation
# matrix taken as 0.
TOLERANCE = 1e-8
_ZERO = 1e-20  # share of the variance within classes in a column's sum of squares that is rounding
_CANCELLED = 1e-4  # share of the whole data set's sum of squares below which a difference of sums is not trusted


class LDAClassifier(FoldClassifier):
    """Linear discriminant analysis with the maximum-likelihood covariance matrix within classes and the training part's class
    frequencies.

    Gives the decisions of scikit-learn's ``LinearDiscriminantAnalysis(solver="lsqr")`` where the covariance matrix is regular.

    Parameters
    ----------
    singular : {"pseudo_inverse", "first_class"}, default="pseudo_inverse"
        What to do when a column is constant within classes, or a linear function of the others: the pseudo-inverse of the
        correlation matrix within classes, or all samples to the first class of the training part (the `paper` setting, as in
        KEEL).

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the linear discriminants, for inputs minus `origin_`; NaN where all samples go to the first class.
    intercept_ : ndarray of shape (n_classes,)
        Constants of the linear discriminants.
    origin_ : ndarray of shape (n_features,)
        What is subtracted from the inputs.

    Notes
    -----
    Columns are used as they are; the codes of nominal columns are numbers. Without the pseudo-inverse the scale of the columns
    makes no difference. Classes whose scores differ by less than 1e-9 are a tie, which the lower code wins, so that the order of
    the sums does not decide it.

    The shared path subtracts the test fold's sums and products from the whole data set's. Where a column loses nearly all its
    variance in this way, the sums of the training part are taken again.

    References
    ----------
    .. [1] Hastie, Tibshirani, Friedman (2009). The Elements of Statistical Learning, 2nd edition, section 4.3, equation 4.10.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import LDAClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LDAClassifier().fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _tie = 1e-9

    def __init__(self, singular: Literal["pseudo_inverse", "first_class"] = "pseudo_inverse") -> None:
        self.singular = singular

    def _first_class(self) -> bool:
        if self.singular not in SINGULAR:
            raise ValueError(f"singular={self.singular!r} is not known; allowed: {', '.join(SINGULAR)}")
        return self.singular == "first_class"

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        self.coef_, self.intercept_, self.origin_ = _fit_sums(X, codes, n_classes, self._first_class())

    def _scores(self, X: FloatArray) -> FloatArray:
        return _posterior(X - self.origin_, self.coef_, self.intercept_)

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        constant = X.max(axis=0) == X.min(axis=0)
        centred = np.ascontiguousarray(X - np.where(constant, X[0], X.mean(axis=0)))
        return _fold_scores(X, centred, codes, n_classes, cuts.folds, cuts.n_folds, self._first_class())


@compiled
def _fit_sums(X: FloatArray, codes: IntArray, n_classes: int, first_class: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit discriminants to the training samples themselves; return coefficients, constants, origin."""
    n, p = X.shape
    origin = X[0].copy()  # a constant column becomes exactly 0
    counts, means = np.zeros(n_classes), np.zeros((n_classes, p))
    for i in range(n):
        counts[codes[i]] += 1
        means[codes[i]] += X[i] - origin
    for c in range(n_classes):
        if counts[c] > 0:
            means[c] /= counts[c]
    residuals = np.empty_like(X)
    for i in range(n):
        residuals[i] = X[i] - origin - means[codes[i]]
    coef, intercept = _discriminants(np.dot(residuals.T, residuals), counts, means, first_class)
    return coef, intercept, origin


@compiled
def _discriminants(within: FloatArray, counts: FloatArray, means: FloatArray, first_class: bool) -> tuple[FloatArray, FloatArray]:
    """Compute linear discriminants from the sum of squares within classes and the class means, equation 4.10 of [1]_."""
    n_classes, p = means.shape
    n = counts.sum()
    scales = np.zeros(p)
    regular = True
    centre = np.zeros(p)
    for c in range(n_classes):
        centre += counts[c] / n * means[c]
    for j in range(p):
        total = within[j, j]
        for c in range(n_classes):
            total += counts[c] * (means[c, j] - centre[j]) ** 2
        if within[j, j] > _ZERO * total:
            scales[j] = 1 / math.sqrt(within[j, j] / n)
        else:
            regular = False
    correlation = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            correlation[i, j] = within[i, j] / n * scales[i] * scales[j]
    coef, intercept = np.full((n_classes, p), np.nan), np.full(n_classes, -np.inf)
    scaled = means * scales
    if regular:
        regular = _cholesky(correlation)  # from here on the lower triangle is the factor
    if regular:
        for c in range(n_classes):
            _substitute(correlation, scaled[c], coef[c])
    elif first_class:
        for c in range(n_classes):
            if counts[c] > 0:
                intercept[c] = 0.0
                break
        return coef, intercept
    else:
        for i in range(p):
            for j in range(i + 1):
                correlation[i, j] = within[i, j] / n * scales[i] * scales[j]
        values, vectors = np.linalg.eigh(correlation)
        for k in range(p):
            values[k] = 1 / values[k] if values[k] > TOLERANCE else 0.0
        coef = np.dot(np.dot(scaled, vectors) * values, vectors.T)
    coef *= scales
    for c in range(n_classes):
        if counts[c] > 0:
            intercept[c] = math.log(counts[c] / n) - 0.5 * (means[c] * coef[c]).sum()
    return coef, intercept


@compiled
def _cholesky(a: FloatArray) -> bool:
    """Factor in place, into the lower triangle; False if a pivot, the unexplained share of a column's variance, is too small."""
    for j in range(len(a)):
        pivot = a[j, j]
        for k in range(j):
            pivot -= a[j, k] * a[j, k]
        if pivot <= TOLERANCE:
            return False
        a[j, j] = math.sqrt(pivot)
        for i in range(j + 1, len(a)):
            total = a[j, i]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            a[i, j] = total / a[j, j]
    return True


@compiled
def _substitute(factor: FloatArray, right: FloatArray, out: FloatArray) -> None:
    """Solve with a Cholesky factor."""
    p = len(right)
    for i in range(p):
        total = right[i]
        for k in range(i):
            total -= factor[i, k] * out[k]
        out[i] = total / factor[i, i]
    for i in range(p - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, p):
            total -= factor[k, i] * out[k]
        out[i] = total / factor[i, i]


@compiled
def _posterior(X: FloatArray, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Compute class probabilities; those of a class with constant minus infinity are 0."""
    n_classes = len(intercept)
    undefined = np.isnan(coef[0]).any()
    scores = np.zeros((len(X), n_classes)) if undefined else np.dot(X, coef.T)
    for i in range(len(X)):
        scores[i] += intercept
        largest = scores[i].max()
        for c in range(n_classes):
            scores[i, c] = math.exp(scores[i, c] - largest)
        scores[i] /= scores[i].sum()
    return scores


@compiled
def _fold_scores(
    X: FloatArray, centred: FloatArray, codes: IntArray, n_classes: int, folds: UnsignedArray, n_folds: int, first_class: bool
) -> FloatArray:
    n_seeds, n = folds.shape
    p = X.shape[1]
    out = np.empty((n_seeds, n, n_classes))
    all_products = np.dot(centred.T, centred)
    all_counts, all_sums = np.zeros(n_classes), np.zeros((n_classes, p))
    for i in range(n):
        all_counts[codes[i]] += 1
        all_sums[codes[i]] += centred[i]
    means = np.empty((n_classes, p))
    for s in range(n_seeds):
        for fold in range(n_folds):
            test = np.flatnonzero(folds[s] == fold)
            rows = centred[test]
            counts, sums = all_counts.copy(), all_sums.copy()
            for t in range(len(test)):
                counts[codes[test[t]]] -= 1
                sums[codes[test[t]]] -= rows[t]
            within = all_products - np.dot(rows.T, rows)
            for c in range(n_classes):
                means[c] = sums[c] / max(counts[c], 1.0)
                for i in range(p):
                    for j in range(p):
                        within[i, j] -= sums[c, i] * means[c, j]
            trusted = True
            for j in range(p):
                trusted &= all_products[j, j] == 0 or within[j, j] > _CANCELLED * all_products[j, j]
            if trusted:
                coef, intercept = _discriminants(within, counts, means, first_class)
                scores = _posterior(rows, coef, intercept)
            else:
                training = np.flatnonzero(folds[s] != fold)
                coef, intercept, origin = _fit_sums(X[training], codes[training], n_classes, first_class)
                scores = _posterior(X[test] - origin, coef, intercept)
            for t in range(len(test)):
                out[s, test[t]] = scores[t]
    return out
