"""Predictions of a fitted learner of the kind that a score needs, and the score of some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier

from foldshift.core.errors import DataError, LearnerError
from foldshift.core.estimators import clone_with_state, title
from foldshift.core.user_code.answers import as_answer, as_column, as_numbers, as_probabilities, check_labels, one_line
from foldshift.core.user_code.guarded_process import no_copies
from foldshift.inference.intervals.score_interval import score_interval

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, TableLike
    from foldshift.inference.intervals.score_names import ScoreName


COST = {"pooled": 0.95, "folds": 0.78, "times_as_wide": 1.7}
"""Coverage of .95 intervals of F1 by pooled predictions and by folds, and how many times as wide the latter are: row f1 of
``validation/tables/score_intervals.csv``."""
OF_FOLDS = (
    "a scorer of your own has no formula for rows, so that its interval rests on the scores of the folds; for F1 such intervals "
    f"covered {COST['folds']:.2f} where those of rows covered {COST['pooled']:.2f}, and were {COST['times_as_wide']:g} times as "
    "wide"
)


def fitted(estimator: Estimator, X: TableLike, y: Array, state: float | None) -> Estimator:
    """Fit a clone; whatever it raises is an error that names it."""
    try:
        with no_copies():
            return clone_with_state(estimator, state).fit(X, y)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{title(estimator)} could not be fitted: {one_line(error)}") from error


def check_task(estimator: Estimator, score: ScoreName) -> None:
    """Refuse a score of classes for a regressor, and of numbers for a classifier."""
    if is_classifier(estimator) != (score.needs != "numbers"):
        kind, other = ("classifier", "numbers") if is_classifier(estimator) else ("regressor", "classes")
        raise DataError(
            f"metric={score.name!r} is a score of {other}, and {title(estimator)} is a {kind}; name a score of its kind"
        )


def predictions_of(model: Estimator, score: ScoreName, rows: TableLike, classes: Array) -> Array:
    """Predictions of a fitted learner: labels, numbers, scores of the larger class, or probabilities of all `classes`."""
    name = title(model)
    method = {"labels": "predict", "numbers": "predict", "probabilities": "predict_proba"}.get(score.needs, "decision_function")
    if score.needs == "ranks" and not hasattr(model, method):
        method = "predict_proba"
    if not hasattr(model, method):
        raise LearnerError(f"{name} has no {method}, which {score.name} needs; take a score of labels, such as 'f1'")
    try:
        answer = as_answer(getattr(model, method)(rows), rows, name, method)
    except MemoryError:
        raise
    except LearnerError:
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{name} could not predict: {one_line(error)}") from error
    if method == "predict_proba":
        own = as_probabilities(answer, len(model.classes_), name)
        found = np.zeros((len(own), len(classes)))
        found[:, np.searchsorted(classes, model.classes_)] = own
        return found if score.needs == "probabilities" else found[:, -1]
    column = as_column(answer, name)
    if score.needs == "labels":
        check_labels(column, classes.tolist(), name)
        return column
    return as_numbers(column, name)


def score_of(y: Array, predictions: Array, score: ScoreName, n_classes: int) -> float:
    """Score of some rows; NaN where it is not defined, as for a fold without positive rows."""
    one_class = score.needs != "numbers" and n_classes > 1 and len(np.unique(y)) < 2
    if one_class and (score.needs != "labels" or score.one_class):
        return float("nan")
    return float(score_interval(y, predictions, score.name).estimate)
