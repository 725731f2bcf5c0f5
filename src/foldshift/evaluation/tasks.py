"""What differs between the evaluation of regressors and of classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Task(NamedTuple):
    """How the learners of a task are evaluated.

    Attributes
    ----------
    metrics : tuple of str
        Metrics of every fold.
    evaluate : callable
        ``evaluate(estimator, X, data, folds, random_states)``: predicted class codes, an array of shape (n_runs, n_samples), or
        None where predictions are not kept; and the scores, as `foldshift.evaluation.regressors.evaluate_cell` returns them.
    """

    metrics: tuple[str, ...]
    evaluate: Callable[..., Any]
