"""Predict classes and score a classifier for many partitions; a fit that fails becomes a row and does not end the job."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.estimators import clone_with_state, title
from foldshift.core.user_code.answers import as_answer, as_codes, as_probabilities, one_line
from foldshift.core.user_code.guarded_process import no_copies
from foldshift.evaluation.class_scores import classification_scores
from foldshift.evaluation.cross_validate import iterate_fits
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS
from foldshift.evaluation.regressors import score_columns
from foldshift.evaluation.tasks import FAILED, OK, Task

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, UnsignedArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.learners.base import FoldClassifier


def predict_classes(
    estimator: Estimator, X: Array, codes: IntArray, folds: UnsignedArray, random_states: UnsignedArray | None = None
) -> tuple[IntArray, FloatArray | None, dict[tuple[int, int], str]]:
    """Predict class codes (0 where the fit failed) and scores; return them with the message of every fit that failed.

    Failures are keyed by ``(seed row, fold)``. The shared path (`scores_folds`) is tried first where there is one. If it raises,
    every fit is done alone, so that only the failing ones are lost.
    """
    if hasattr(estimator, "scores_folds"):
        try:
            scores = estimator.scores_folds(X, codes, folds, random_states)
            if np.isfinite(scores).all():
                return estimator.decide(scores), scores, {}
            logging.warning("the fits that share work give class scores that are not finite; one by one now")
        except (Exception, SystemExit) as error:  # whatever a learner raises costs no more than its own fits
            logging.warning("the fits do not share work (%s); one by one now", one_line(error))
    n_classes, name = int(codes.max()) + 1, title(estimator)
    predictions = np.zeros(folds.shape, dtype=np.int64)
    scores = np.zeros((*folds.shape, n_classes)) if hasattr(estimator, "predict_proba") else None
    failures = {}
    for s, fold, test in iterate_fits(folds):
        try:
            rows = X[test]
            with no_copies():
                model = clone_with_state(estimator, None if random_states is None else random_states[s, fold])
                model.fit(X[~test], codes[~test])
            predictions[s, test] = as_codes(as_answer(model.predict(rows), rows, name), n_classes, name)
            if scores is not None:
                answer = as_answer(model.predict_proba(rows), rows, name, "predict_proba")
                held = getattr(model, "classes_", np.unique(codes[~test]))
                proba = np.zeros((len(rows), n_classes))  # a class that the training part lacks has no chance
                proba[:, as_codes(np.asarray(held), n_classes, name)] = as_probabilities(answer, len(held), name)
                scores[s, test] = proba
        except MemoryError:  # the other fits train on as many samples, and would fail one by one
            raise
        except (Exception, SystemExit) as error:
            predictions[s, test] = 0
            failures[s, fold] = one_line(error)
    return predictions, scores, failures


def evaluate_class_cell(
    estimator: Estimator, X: FloatArray, codes: IntArray, folds: UnsignedArray, *, random_states: UnsignedArray | None = None
) -> tuple[IntArray, dict[str, Array]]:
    """Predict and score one classifier on one data set for many partitions; scores have the columns of `score_columns`."""
    n_folds = int(folds.max()) + 1
    start = time.perf_counter()
    predictions, class_scores, failures = predict_classes(estimator, X, codes, folds, random_states)
    seconds = (time.perf_counter() - start) / (len(folds) * n_folds)
    status = np.full((len(folds), n_folds), OK, dtype=object)
    message = np.full((len(folds), n_folds), "", dtype=object)
    for where, text in failures.items():
        status[where], message[where] = FAILED, text
    metrics = classification_scores(codes, predictions, class_scores, folds, n_folds)
    return predictions, score_columns(metrics, folds, status, message, seconds)


def _evaluate(
    estimator: FoldClassifier, X: FloatArray, data: Dataset, folds: UnsignedArray, random_states: UnsignedArray
) -> tuple[IntArray, dict[str, Array]]:
    return evaluate_class_cell(estimator, X, data.y, folds, random_states=random_states)


CLASSIFICATION = Task(CLASSIFICATION_METRICS, _evaluate)
