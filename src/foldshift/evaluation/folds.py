"""Predict every sample from the folds it is not in, for many partitions of the same data."""

import numpy as np
from sklearn.base import clone, is_classifier

from foldshift.estimators import clone_with_state


def evaluate_folds(estimator, X, y, folds, *, random_states=None, shared=True):
    """Cross-validated predictions of an estimator for many partitions.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not changed; every fit uses a clone. An estimator with a method ``predict_folds(X, y, folds, random_states)`` shares
        between the fits what does not depend on the partition.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Target.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), unsigned integer
        Fold of every sample, one row per seed, as `foldshift.partition.make_folds` makes them.
    random_states : ndarray of shape (n_seeds, n_folds), dtype uint32, optional
        The `random_state` of every fit, where the estimator (or one inside it) has one that is None; one that the user has set
        stays.
    shared : bool, default=True
        Whether to use the shared path where there is one. Both give the same predictions.

    Returns
    -------
    predictions : ndarray of shape (n_seeds, n_samples)
        Prediction of every sample by the model fitted on the other folds.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from foldshift.partition import make_folds
    >>> X, y = load_diabetes(return_X_y=True)
    >>> evaluate_folds(Ridge(), X, y, make_folds("TSCV", X, y, n_folds=5, seeds=range(3))).shape
    (3, 442)
    """
    X, y, folds = np.asarray(X), np.asarray(y), np.atleast_2d(folds)
    if len(X) != len(y) or folds.shape[1] != len(y):
        raise ValueError(f"X, y and folds have {len(X)}, {len(y)} and {folds.shape[1]} samples; expected the same number")
    if shared and hasattr(estimator, "predict_folds"):
        return clone(estimator).predict_folds(X, y, folds, random_states=random_states)
    predictions = np.empty(folds.shape, dtype=y.dtype if is_classifier(estimator) else np.float64)
    for s, fold, test in iterate_fits(folds):
        state = None if random_states is None else random_states[s, fold]
        predictions[s, test] = fit_predict(estimator, X, y, test, state)
    return predictions


def iterate_fits(folds):
    """Yield ``(seed row, fold, test mask)`` of every fit; folds without samples are left out."""
    for s, row in enumerate(folds):
        for fold in range(int(row.max()) + 1):
            test = row == fold
            if test.any():
                yield s, fold, test


def fit_predict(estimator, X, y, test, random_state=None):
    """Fit a clone outside the test mask and predict inside it: the plain path.

    Parameters
    ----------
    estimator : scikit-learn estimator
    X, y : ndarray of shape (n_samples, n_features), (n_samples,)
    test : ndarray of shape (n_samples,), bool
    random_state : int, optional
        Set on the clone, and on the estimators inside it, where theirs is None.

    Returns
    -------
    predictions : ndarray of shape (n_test,)
    """
    return clone_with_state(estimator, random_state).fit(X[~test], y[~test]).predict(X[test])
