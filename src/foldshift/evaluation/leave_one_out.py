"""Leave-one-out predictions: in one pass where the learner allows it, else by one fit per sample."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from foldshift.core.estimators import check_instance, shares_work
from foldshift.evaluation.cross_validate import check_table, evaluate_folds, fit_predict, put_together, work_through
from foldshift.learners.linear.lda import LDAClassifier
from foldshift.learners.linear.naive_bayes import NaiveBayesClassifier
from foldshift.learners.neighbours.nearest_classifier import NNClassifier
from foldshift.learners.neighbours.nearest_regressor import NNRegressor

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, TableLike

CHEAP = (LDAClassifier, NaiveBayesClassifier, NNClassifier, NNRegressor)
MOST_ROWS = 65_535  # folds are uint16
INTERVAL = 10.0  # seconds between two lines of progress


def is_cheap(estimator: Estimator) -> bool:
    """Return True if leave-one-out needs no fits: nearest neighbours, linear discriminant analysis, naive Bayes.

    Their shared path leaves a sample out by skipping it among the neighbours, or by subtracting it from sums. All other
    estimators, such as trees, rules, support vector machines, boosting, and pipelines around one of the above, are fitted once
    per sample.

    One case is slower: where a column hardly varies within classes compared with between them, linear discriminant analysis does
    not trust differences of sums and sums again for every sample.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from foldshift.learners import LDAClassifier
    >>> is_cheap(LDAClassifier()), is_cheap(DecisionTreeClassifier())
    (True, False)
    """
    return isinstance(estimator, CHEAP) and shares_work(estimator)


def leave_one_out(
    estimator: Estimator,
    X: TableLike,
    y: TableLike,
    *,
    shared: bool = True,
    progress: Callable[..., Any] | None = None,
    response_method: str = "predict",
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Predict every sample by a model fitted on all others.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not changed; every fit uses a clone. A randomised one needs its own `random_state` for the same predictions every time.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), or list
        Inputs, of any kind that the estimator takes; 2 to 65,535 samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        Target.
    shared : bool, default=True
        Whether to use the shared path where `is_cheap`. Both ways give the same predictions.
    progress : callable, optional
        Called with a line of text every 10 seconds while fits are made one by one; by default it goes to standard error.
    response_method, params, n_jobs
        As in `foldshift.evaluation.evaluate_folds`.

    Returns
    -------
    predictions : ndarray of shape (n_samples,) or (n_samples, n_columns)
        As one row of `foldshift.evaluation.evaluate_folds`.

    Raises
    ------
    ValueError
        If there are fewer than 2 samples or more than 65,535, or `X` and `y` have different numbers of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.evaluation import leave_one_out
    >>> from foldshift.learners import NNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> int((leave_one_out(NNClassifier(), X, y) != y).sum())
    6
    """
    check_instance(estimator)
    X, y = check_table(X, y)
    n = _num_samples(X)
    if y is not None and _num_samples(y) != n:
        raise ValueError(f"X and y have {n} and {_num_samples(y)} samples; expected the same number")
    if not 2 <= n <= MOST_ROWS:
        raise ValueError(f"leave-one-out of {n} samples is not possible; 2 to {MOST_ROWS} are, above use k-fold cross-validation")
    folds = np.arange(n, dtype=np.uint16)
    if shared and is_cheap(estimator):
        return evaluate_folds(estimator, X, y, folds, response_method=response_method, params=params, n_jobs=n_jobs)[0]
    answers = []
    start = reported = time.monotonic()
    tasks = ((estimator, X, y, folds == i, None, response_method, params) for i in range(n))
    for i, answer in enumerate(work_through(fit_predict, tasks, n_jobs)):
        answers.append((0, i, answer))
        now = time.monotonic()
        if now - reported >= INTERVAL:
            reported = now
            left = (now - start) / (i + 1) * (n - i - 1)
            line = f"leave-one-out of {type(estimator).__name__}: {i + 1} of {n} fits, about {left:.0f} s left"
            (progress or _to_stderr)(line)
    return put_together(estimator, y, folds[None], answers, response_method, "raise")[0]


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
