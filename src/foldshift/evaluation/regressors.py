"""Score a regressor for many partitions; a fit that fails becomes a row and does not end the job."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.errors import LearnerError
from foldshift.core.estimators import title
from foldshift.core.user_code.answers import as_column, as_numbers, one_line
from foldshift.evaluation.cross_validate import check_inputs, evaluate_folds, fit_predict, iterate_fits
from foldshift.evaluation.regression_scores import METRICS, regression_scores
from foldshift.evaluation.tasks import FAILED, OK, Task

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, ObjectArray, UnsignedArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.learners.base import FoldRegressor


def predict_with_failures(
    estimator: Estimator, X: FloatArray, y: FloatArray, folds: UnsignedArray, random_states: UnsignedArray | None = None
) -> tuple[FloatArray, dict[tuple[int, int], str], float]:
    """Predict by cross-validation (NaN where a fit failed); add the message of every failed fit and the mean seconds of a fit.

    Failures are keyed by ``(seed row, fold)``. The shared path is tried first. If it raises, every fit is done alone, so that
    only the failing ones are lost.
    """
    name = title(estimator)
    n_fits = sum(len(np.unique(row)) for row in folds)
    start = time.perf_counter()
    if hasattr(estimator, "predict_folds"):
        try:
            predictions = evaluate_folds(estimator, X, y, folds, random_states=random_states)
            return *_refuse_infinite(predictions, folds), (time.perf_counter() - start) / n_fits
        except (Exception, SystemExit) as error:  # whatever a learner raises costs no more than its own fits
            logging.warning("the fits do not share work (%s); one by one now", one_line(error))
            start = time.perf_counter()
    predictions = np.full(folds.shape, np.nan)
    failures: dict[tuple[int, int], str] = {}
    for s, fold, test in iterate_fits(folds):
        try:
            answer = fit_predict(estimator, X, y, test, None if random_states is None else random_states[s, fold])
            predictions[s, test] = as_numbers(as_column(answer, name), name, finite=False)
        except MemoryError:  # the other fits train on as many samples, and would fail one by one
            raise
        except LearnerError as error:  # the row names the learner: what it raised is enough
            failures[s, fold] = one_line(error)
    predictions, infinite = _refuse_infinite(predictions, folds)
    return predictions, infinite | failures, (time.perf_counter() - start) / n_fits


def _refuse_infinite(predictions: FloatArray, folds: UnsignedArray) -> tuple[FloatArray, dict[tuple[int, int], str]]:
    """Count a fit as failed if any of its predictions is not finite."""
    failures = {}
    for s in np.flatnonzero(~np.isfinite(predictions).all(axis=1)):
        for fold in np.unique(folds[s][~np.isfinite(predictions[s]) & (folds[s] >= 0)]):
            failures[int(s), int(fold)] = "predictions are not finite"
    return predictions, failures


def evaluate_cell(
    estimator: Estimator,
    X: FloatArray,
    y: FloatArray,
    folds: UnsignedArray,
    *,
    random_states: UnsignedArray | None = None,
    unit: float = 1.0,
) -> dict[str, Array]:
    """Score one regressor on one data set for many partitions; a fit that fails is reported in its row.

    Parameters
    ----------
    estimator : scikit-learn regressor
        Not changed; every fit uses a clone.
    X : ndarray of shape (n_samples, n_features), dtype float64
        Inputs.
    y : ndarray of shape (n_samples,), dtype float64
        Target.
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
        Fold of every sample, one row per seed.
    random_states : ndarray of shape (n_seeds, n_folds), dtype uint32, optional
        The `random_state` of every fit, as in `foldshift.evaluation.evaluate_folds`.
    unit : float, default=1.0
        Unit of the errors, see `regression_scores`.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_seeds, n_folds)
        `METRICS` (NaN where the fit failed), ``n_train``, ``n_test`` (int64), ``status`` and ``message`` (text), ``fit_seconds``
        (mean over the call: fits that share work have no time of their own).

    Raises
    ------
    MemoryError
        If a fit alone needs more memory than there is.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from foldshift.evaluation import evaluate_cell
    >>> from foldshift.partition import make_folds
    >>> X, y = load_diabetes(return_X_y=True)
    >>> scores = evaluate_cell(Ridge(), X, y, make_folds("TSCV", X, y, n_folds=5, seeds=range(2)))
    >>> scores["rmse"].shape, scores["status"][0, 0]
    ((2, 5), 'ok')
    """
    X, y, folds = check_inputs(X, y, folds)
    n_folds = int(folds.max()) + 1
    status = np.full((len(folds), n_folds), OK, dtype=object)
    message = np.full((len(folds), n_folds), "", dtype=object)
    predictions, failures, seconds = predict_with_failures(estimator, X, y, folds, random_states)
    for where, text in failures.items():
        status[where], message[where] = FAILED, text
    return score_columns(regression_scores(y, predictions, folds, n_folds, unit), folds, status, message, seconds)


def _evaluate(
    estimator: FoldRegressor, X: FloatArray, data: Dataset, folds: UnsignedArray, random_states: UnsignedArray
) -> tuple[None, dict[str, Array]]:
    return None, evaluate_cell(estimator, X, data.y, folds, random_states=random_states, unit=data.unit)


REGRESSION = Task(METRICS, _evaluate)


def score_columns(
    metrics: dict[str, Array], folds: UnsignedArray, status: ObjectArray, message: ObjectArray, seconds: float
) -> dict[str, Array]:
    """Put together the columns of a score file, (n_seeds, n_folds) each; metrics of failed fits become NaN."""
    n_test = np.array([bincount(row[row >= 0], minlength=status.shape[1]) for row in folds])
    return {name: np.where(status == OK, values, np.nan) for name, values in metrics.items()} | {
        "n_train": folds.shape[1] - n_test,
        "n_test": n_test,
        "status": status,
        "message": message,
        "fit_seconds": np.full(status.shape, seconds),
    }


def lost_scores(
    folds: UnsignedArray, metrics: Sequence[str], status: Literal["failed", "timeout"], message: str
) -> dict[str, Array]:
    """Make the scores of a cell that was lost as a whole: metrics and ``fit_seconds`` are NaN, sizes are right."""
    shape = (len(folds), int(folds.max()) + 1)
    values: dict[str, Array] = dict.fromkeys(metrics, np.full(shape, np.nan))
    return score_columns(values, folds, np.full(shape, status, dtype=object), np.full(shape, message, dtype=object), np.nan)
