"""Leave-one-out predictions: in one pass where the learner allows it, else by as many fits as there are samples."""

import sys
import time

import numpy as np
from sklearn.base import is_classifier

from foldshift.evaluation.folds import evaluate_folds, fit_predict
from foldshift.learners.lda import LDAClassifier
from foldshift.learners.naive_bayes import NaiveBayesClassifier
from foldshift.learners.nearest import NNRegressor
from foldshift.learners.nearest_classifier import NNClassifier

CHEAP = (LDAClassifier, NaiveBayesClassifier, NNClassifier, NNRegressor)
MOST_ROWS = 65_535  # folds are uint16
INTERVAL = 10.0  # seconds between two lines of progress


def is_cheap(estimator):
    """Whether leave-one-out needs no fits: nearest neighbours, linear discriminant analysis, naive Bayes.

    Their shared path leaves a sample out by skipping it among the neighbours, or by subtracting it from sums. All other
    estimators, such as trees, rules, support vector machines, boosting, and pipelines around one of the above, are fitted once
    per sample.

    One case is slower: where a column hardly varies within classes compared with between them, linear discriminant analysis does
    not trust differences of sums and takes them afresh for every sample.

    Parameters
    ----------
    estimator : scikit-learn estimator

    Returns
    -------
    cheap : bool
    """
    return isinstance(estimator, CHEAP)


def leave_one_out(estimator, X, y, *, shared=True, progress=None):
    """Predict every sample by the model fitted on all others.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not changed; every fit uses a clone. A randomised one needs its own `random_state` for the same predictions every time.
    X : array-like of shape (n_samples, n_features)
        Inputs; 2 to 65,535 samples.
    y : array-like of shape (n_samples,)
        Target.
    shared : bool, default=True
        Whether to use the shared path where `is_cheap`. Both ways give the same predictions.
    progress : callable, optional
        Receives a line of text every 10 seconds while fits are made one by one; by default it goes to standard error.

    Returns
    -------
    predictions : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If there are fewer than 2 samples or more than 65,535, or `X` and `y` have different numbers of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import NNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> int((leave_one_out(NNClassifier(), X, y) != y).sum())
    6
    """
    X, y = np.asarray(X), np.asarray(y)
    n = len(y)
    if len(X) != n:
        raise ValueError(f"X and y have {len(X)} and {n} samples; expected the same number")
    if not 2 <= n <= MOST_ROWS:
        raise ValueError(f"leave-one-out of {n} samples is not possible; 2 to {MOST_ROWS} are, above use k-fold cross-validation")
    if shared and is_cheap(estimator):
        return evaluate_folds(estimator, X, y, np.arange(n, dtype=np.uint16))[0]
    predictions = np.empty(n, dtype=y.dtype if is_classifier(estimator) else np.float64)
    test = np.zeros(n, dtype=bool)
    start = told = time.monotonic()
    for i in range(n):
        test[i] = True
        predictions[i] = fit_predict(estimator, X, y, test)[0]
        test[i] = False
        now = time.monotonic()
        if now - told >= INTERVAL:
            told = now
            left = (now - start) / (i + 1) * (n - i - 1)
            line = f"leave-one-out of {type(estimator).__name__}: {i + 1} of {n} fits, about {left:.0f} s left"
            (progress or _to_stderr)(line)
    return predictions


def _to_stderr(line):
    print(line, file=sys.stderr, flush=True)
