"""Scores of every fold of every seed; a fit that fails is a row, not the end of the job."""

import time

import numpy as np
from sklearn.base import clone

from foldshift.evaluation.folds import evaluate_folds, fit_predict, iterate_fits
from foldshift.evaluation.metrics import METRICS, regression_scores

OK, FAILED = "ok", "failed"


def predict_with_failures(estimator, X, y, folds, random_states=None):
    """Cross-validated predictions, and the message of every fit that failed.

    The shared path is tried first. If it raises, every fit is done alone, so that only the failing ones are lost.

    Parameters
    ----------
    estimator, X, y, folds, random_states
        As in `foldshift.evaluation.evaluate_folds`.

    Returns
    -------
    predictions : ndarray of shape (n_seeds, n_samples), dtype float64
        NaN where the fit failed.
    failures : dict of (int, int) to str
        ``(seed row, fold)`` to the message, one line.
    seconds : float
        Mean time of one fit and its predictions, in seconds of wall time.
    """
    n_fits = sum(len(np.unique(row)) for row in folds)
    start = time.perf_counter()
    if hasattr(estimator, "predict_folds"):
        try:
            predictions = evaluate_folds(estimator, X, y, folds, random_states=random_states)
            return *_refuse_infinite(predictions, folds), (time.perf_counter() - start) / n_fits
        except Exception:  # whatever a learner raises costs no more than its own fits
            start = time.perf_counter()
    predictions = np.full(folds.shape, np.nan)
    failures = {}
    for s, fold, test in iterate_fits(folds):
        try:
            predictions[s, test] = fit_predict(estimator, X, y, test, None if random_states is None else random_states[s, fold])
        except Exception as error:
            failures[s, fold] = " ".join(f"{type(error).__name__}: {error}".split())
    predictions, infinite = _refuse_infinite(predictions, folds)
    return predictions, infinite | failures, (time.perf_counter() - start) / n_fits


def _refuse_infinite(predictions, folds):
    """A fit whose predictions are not all finite numbers has failed."""
    failures = {}
    for s in np.flatnonzero(~np.isfinite(predictions).all(axis=1)):
        for fold in np.unique(folds[s][~np.isfinite(predictions[s])]):
            failures[int(s), int(fold)] = "predictions are not finite"
    return predictions, failures


def evaluate_cell(estimator, X, y, folds, *, random_states=None, unit=1.0, replicates=1):
    """Scores of one learner on one data set, for many partitions.

    Parameters
    ----------
    estimator, X, y, folds, random_states
        As in `foldshift.evaluation.evaluate_folds`.
    unit : float, default=1.0
        Unit of the errors, see `regression_scores`.
    replicates : int, default=1
        Above 1, the estimator is evaluated with ``random_state = 0 .. replicates - 1``, the same for every fit, and the scores are averaged:
        for learners whose level depends on one random draw, such as the input weights of an extreme learning machine.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_seeds, n_folds)
        `METRICS` (NaN where the fit failed), ``n_train``, ``n_test`` (int64), ``status`` and ``message`` (text), ``fit_seconds`` (mean
        over the call: fits that share work have no time of their own).
    """
    n_folds = int(folds.max()) + 1
    estimators = [estimator] if replicates == 1 else [clone(estimator).set_params(random_state=r) for r in range(replicates)]
    totals = dict.fromkeys(METRICS, 0.0)
    status = np.full((len(folds), n_folds), OK, dtype=object)
    message = np.full((len(folds), n_folds), "", dtype=object)
    seconds = 0.0
    for one in estimators:
        states = random_states if replicates == 1 else None
        predictions, failures, fit_seconds = predict_with_failures(one, X, y, folds, states)
        seconds += fit_seconds
        for name, values in regression_scores(y, predictions, folds, n_folds, unit).items():
            totals[name] = totals[name] + values
        for where, text in failures.items():
            status[where], message[where] = FAILED, text
    n_test = np.array([np.bincount(row, minlength=n_folds) for row in folds])
    scores = {name: np.where(status == OK, total / len(estimators), np.nan) for name, total in totals.items()}
    return scores | {
        "n_train": folds.shape[1] - n_test,
        "n_test": n_test,
        "status": status,
        "message": message,
        "fit_seconds": np.full(status.shape, seconds),
    }
