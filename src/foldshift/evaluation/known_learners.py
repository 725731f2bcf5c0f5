"""Shared paths for learners of scikit-learn, recognised by exact type and parameters: what a partition does not change, once.

Predictions are those of separate fits: the same labels, numbers up to rounding. Where that cannot be promised, the path gives
None, and every model is fitted by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from foldshift.core.counting import bincount

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, UnsignedArray

    SharedPath = Callable[[Estimator, FloatArray, Array, UnsignedArray], Array | None]

MOST_PAIRS = 9_000_000  # of rows, whose distances are held in memory (72 MB)
MOST_COLUMNS = 1000  # of a ridge regression
WINDOW = 30  # nearest rows looked at beside twice those that are needed; more where a fold holds most of them
TIE = 1e-9  # relative difference of squared distances that another order of sums can make
LEAST_DIRECTION = 1e-3  # least spread in a direction, relative: scikit-learn drops directions below its tolerance, 1e-4
NEAR_TIE = 1e-9  # relative difference of the scores of two classes that rounding can make
LEAST_PIVOT = 1e-7  # smallest over largest pivot: below, rounding shows in the predictions


def is_known(estimator: Estimator) -> bool:
    """Return True if a learner of this type has a shared path here."""
    return _name(estimator) in PATHS


def _name(estimator: Estimator) -> str:
    room = ".".join(type(estimator).__module__.split(".")[:2])
    return f"{room}.{type(estimator).__qualname__}"


def predict_known(estimator: Estimator, X: Any, y: Array, folds: UnsignedArray) -> Array | None:
    """Predict every row from the other folds by the shared path of a learner; None where it has none that is the same."""
    if not is_known(estimator):
        return None
    path, allowed = PATHS[_name(estimator)]
    params = estimator.get_params()
    if any(not _is_one_of(params.get(key), values) for key, values in allowed.items()):
        return None
    if not _are_doubles(X):
        return None
    return path(estimator, np.ascontiguousarray(X, dtype=np.float64), np.asarray(y), folds)


def _is_one_of(value: Any, allowed: tuple[Any, ...]) -> bool:
    return any(value is one or (type(value) is type(one) and value == one) for one in allowed)


def _are_doubles(X: Any) -> bool:
    """Report whether scikit-learn computes with these inputs in double precision, all of them finite."""
    types = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype] if type(X) is np.ndarray else []
    if not types or any(not isinstance(one, np.dtype) or one.kind not in "iuf" or one == np.float32 for one in types):
        return False
    values = np.asarray(X)
    return values.ndim == 2 and values.size > 0 and values.dtype.itemsize == 8 and bool(np.isfinite(values).all())


# ---- linear and ridge regression ----


def _ridge(estimator: Estimator, X: FloatArray, y: Array, folds: UnsignedArray) -> FloatArray | None:
    """Share the work of ridge regression, with one penalty above 0."""
    alpha = estimator.alpha
    if not isinstance(alpha, int | float) or not alpha > 0:
        return None
    return _least_squares(X, y, folds, float(alpha), estimator.fit_intercept)


def _linear(estimator: Estimator, X: FloatArray, y: Array, folds: UnsignedArray) -> FloatArray | None:
    """Share the work of linear regression; the least pivot keeps far from where scikit-learn drops directions, 1e-12."""
    return _least_squares(X, y, folds, 0.0, estimator.fit_intercept)


def _least_squares(X: FloatArray, y: Array, folds: UnsignedArray, alpha: float, fit_intercept: bool) -> FloatArray | None:
    """Solve the normal equations of every training part, whose sums are those of the other folds.

    Inputs and target are centred over all rows first, so that the sums are of small numbers.
    """
    if X.shape[1] > MOST_COLUMNS or y.dtype.kind not in "iuf" or y.dtype == np.float32:
        return None
    y = y.astype(np.float64)
    if not np.isfinite(y).all():
        return None
    middle, centre = (X.mean(axis=0), y.mean()) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    X, y = X - middle, y - centre
    predictions = np.empty(folds.shape)
    penalty = alpha * np.eye(X.shape[1])
    for row, predicted in zip(folds, predictions):
        tests = [np.flatnonzero(row == fold) for fold in range(int(row.max()) + 1)]
        parts = [X[test] for test in tests]
        grams, products = (
            np.array([part.T @ part for part in parts]),
            np.array([part.T @ y[test] for part, test in zip(parts, tests)]),
        )
        sums, targets = np.array([part.sum(axis=0) for part in parts]), np.array([y[test].sum() for test in tests])
        for fold, test in enumerate(tests):
            others = np.arange(len(tests)) != fold
            n = len(y) - len(test)
            gram, product = grams[others].sum(axis=0), products[others].sum(axis=0)
            mean, target = sums[others].sum(axis=0) / n, targets[others].sum() / n
            if fit_intercept:
                gram, product = gram - n * np.outer(mean, mean), product - n * mean * target
            try:
                factor = cho_factor(gram + penalty, lower=True, check_finite=False)
            except LinAlgError:
                return None
            pivots = np.diag(factor[0]) ** 2
            if pivots.min() < LEAST_PIVOT * pivots.max():
                return None
            weights = cho_solve(factor, product, check_finite=False)
            shift = target - mean @ weights if fit_intercept else 0.0
            predicted[test] = parts[fold] @ weights + shift + centre
    return predictions


# ---- Gaussian naive Bayes ----


def _naive_bayes(estimator: Estimator, X: FloatArray, y: Array, folds: UnsignedArray) -> Array | None:
    """Take the moments of every class in a training part from the sums of the other folds.

    None where a training part lacks a class, or where two classes score alike.
    """
    classes, codes = np.unique(y, return_inverse=True)
    X = X - X.mean(axis=0)
    squares = X * X
    predictions = np.empty(folds.shape, dtype=classes.dtype)
    for row, predicted in zip(folds, predictions):
        counts, sums, powers = _sums_by_class(row, codes, X, squares)
        k = len(counts)
        for fold in range(k):
            others = np.arange(k) != fold
            n = counts[others].sum(axis=0)
            if n.min() < 1:
                return None
            total, power = sums[others].sum(axis=0), powers[others].sum(axis=0)
            spread = (power.sum(axis=0) / n.sum() - (total.sum(axis=0) / n.sum()) ** 2).max()
            mean = total / n[:, None]
            variance = np.maximum(power / n[:, None] - mean**2, 0.0) + estimator.var_smoothing * spread
            test = row == fold
            gaps = X[test][:, None, :] - mean
            scores = np.log(n / n.sum()) - 0.5 * (np.log(2 * np.pi * variance).sum(axis=1) + (gaps**2 / variance).sum(axis=2))
            if _is_near_tie(scores):
                return None
            predicted[test] = classes[scores.argmax(axis=1)]
    return predictions


def _is_near_tie(scores: FloatArray) -> bool:
    """Report whether rounding decides between the two best classes of a row, (n, n_classes)."""
    if scores.shape[1] < 2:
        return False
    best = np.partition(scores, -2, axis=1)[:, -2:]
    return bool((best[:, 1] - best[:, 0] <= NEAR_TIE * (1 + np.abs(best[:, 1]))).any())


def _sums_by_class(row: UnsignedArray, codes: IntArray, *columns: FloatArray) -> list[FloatArray]:
    """Count rows by fold and class, (k, n_classes), and sum columns over them, (k, n_classes, n_columns)."""
    shape = int(row.max()) + 1, int(codes.max()) + 1
    cells = row.astype(np.int64) * shape[1] + codes
    found: list[FloatArray] = [bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)]
    for values in columns:
        sums = np.zeros((shape[0] * shape[1], values.shape[1]))
        np.add.at(sums, cells, values)
        found.append(sums.reshape(*shape, -1))
    return found


# ---- linear discriminant analysis ----


def _discriminant(estimator: Estimator, X: FloatArray, y: Array, folds: UnsignedArray) -> Array | None:
    """Take the class means and the scatter within classes of a training part from the sums of the other folds.

    None where scikit-learn may drop a direction by its tolerance, or where two classes score alike.
    """
    if X.shape[1] > MOST_COLUMNS:
        return None
    classes, codes = np.unique(y, return_inverse=True)
    lost = len(classes) * _loses_one_of_each_class(type(estimator))
    X = X - X.mean(axis=0)
    predictions = np.empty(folds.shape, dtype=classes.dtype)
    for row, predicted in zip(folds, predictions):
        counts, sums = _sums_by_class(row, codes, X)
        k, n_classes = counts.shape
        parts = [X[row == fold] for fold in range(k)]
        grams = np.array([part.T @ part for part in parts])
        for fold in range(k):
            others = np.arange(k) != fold
            n = counts[others].sum(axis=0)
            if n_classes < 2 or n.min() < 1 or n.sum() <= n_classes:
                return None
            means = sums[others].sum(axis=0) / n[:, None]
            within = (grams[others].sum(axis=0) - (means.T * n) @ means) / (n.sum() - lost)
            spread = np.sqrt(np.maximum(np.diag(within), 0))
            if not (spread > TIE * np.abs(X).max(axis=0)).all():
                return None
            variances, directions = np.linalg.eigh(within / np.outer(spread, spread))
            if variances[0] < LEAST_DIRECTION**2 * max(variances[-1], 1):
                return None
            whiten = directions / np.sqrt(variances) / spread[:, None]
            middles = (means - n @ means / n.sum()) @ whiten
            between = np.linalg.svd(np.sqrt(n)[:, None] * middles, compute_uv=False)[: n_classes - 1]
            if between[-1] < LEAST_DIRECTION * between[0] or between[0] == 0:
                return None
            gaps = (parts[fold] - n @ means / n.sum()) @ whiten
            scores = gaps @ middles.T - 0.5 * (middles**2).sum(axis=1) + np.log(n / n.sum())
            if _is_near_tie(scores):
                return None
            predicted[row == fold] = classes[scores.argmax(axis=1)]
    return predictions


def _loses_one_of_each_class(discriminant: Callable[[], Estimator]) -> bool:
    """Report whether this release of scikit-learn divides the scatter by the rows less the classes, not by the rows."""
    slope = discriminant().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).coef_[0, 0]  # 4 / (1 / 4), or 4 / (1 / 2)
    return bool(slope < 12)


# ---- nearest neighbours ----


def _neighbours(estimator: Estimator, X: FloatArray, y: Array, folds: UnsignedArray) -> Array | None:
    """Order the nearest rows of every row once; neighbours in a training part are the first that are not of its fold.

    None where rows at the same distance compete for the last place: which of them scikit-learn takes is its own affair.
    """
    n, wanted = len(y), estimator.n_neighbors
    largest = max(int(bincount(row).max()) for row in folds)
    if n * n > MOST_PAIRS or n - largest <= wanted:
        return None
    is_classifier = hasattr(estimator, "predict_proba")
    if not is_classifier and (y.dtype.kind not in "iuf" or y.dtype == np.float32):
        return None
    X = X - X.mean(axis=0)
    norms = (X * X).sum(axis=1)
    distance = norms[:, None] + norms - 2 * (X @ X.T)
    slack = TIE * (norms + norms.max())
    classes, codes = np.unique(y, return_inverse=True)
    predictions = np.empty(folds.shape, dtype=y.dtype if is_classifier else np.float64)
    places = np.arange(n)[:, None]
    order = _nearest(distance, min(n, 2 * (wanted + 1) + WINDOW))
    for row, predicted in zip(folds, predictions):
        rank = _ranks(row, order)
        if rank[:, -1].min() <= wanted:
            order = _nearest(distance, n)
            rank = _ranks(row, order)
        others = np.diff(rank, axis=1, prepend=0) > 0
        near = order[others & (rank <= wanted)].reshape(n, wanted)
        following = order[others & (rank == wanted + 1)]
        if (distance[places[:, 0], following] - distance[places[:, 0], near[:, -1]] <= slack).any():
            return None
        if is_classifier:
            votes = np.zeros((n, len(classes)), dtype=np.int64)
            np.add.at(votes, (places, codes[near]), 1)
            predicted[:] = classes[votes.argmax(axis=1)]
        else:
            predicted[:] = y[near].mean(axis=1)
    return predictions


def _nearest(distance: FloatArray, n_near: int) -> IntArray:
    """Find the nearest rows of every row, in order, (n, n_near)."""
    if n_near == len(distance):
        return distance.argsort(axis=1, kind="stable")
    found = np.argpartition(distance, n_near - 1, axis=1)[:, :n_near]
    return np.take_along_axis(found, np.take_along_axis(distance, found, axis=1).argsort(axis=1, kind="stable"), axis=1)


def _ranks(row: Array, order: IntArray) -> IntArray:
    """Count the rows of other folds up to every place of the order."""
    return (row[order] != row[:, None]).cumsum(axis=1)


NEAREST: dict[str, tuple[Any, ...]] = {
    "weights": ("uniform",),
    "p": (2, 2.0),
    "metric": ("minkowski", "euclidean"),
    "metric_params": (None,),
}
# Not here, as their predictions would not be the same: forests (the draws are scikit-learn's own), logistic regression (it stops
# between steps), SVC and SVR (from one matrix of distances .6 to 1.7 times as fast, and one label of 24,708 differed).
PATHS: dict[str, tuple[SharedPath, dict[str, tuple[Any, ...]]]] = {
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": (
        _discriminant,
        {"solver": ("svd",), "shrinkage": (None,), "priors": (None,), "covariance_estimator": (None,), "tol": (1e-4,)},
    ),
    "sklearn.linear_model.LinearRegression": (_linear, {"positive": (False,), "tol": (None, 1e-6)}),
    "sklearn.linear_model.Ridge": (_ridge, {"solver": ("auto", "cholesky"), "positive": (False,)}),
    "sklearn.naive_bayes.GaussianNB": (_naive_bayes, {"priors": (None,)}),
    "sklearn.neighbors.KNeighborsClassifier": (_neighbours, NEAREST),
    "sklearn.neighbors.KNeighborsRegressor": (_neighbours, NEAREST),
}
