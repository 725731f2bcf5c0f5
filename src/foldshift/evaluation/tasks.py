"""Status of a fit, and the record of what regression and classification do differently; light, for modules that only count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

OK, FAILED, TIMEOUT = "ok", "failed", "timeout"


class Task(NamedTuple):
    """Metrics of a task, and the function that evaluates its learners."""

    metrics: tuple[str, ...]  # metrics of every fold
    # ``evaluate(estimator, X, data, folds, random_states)``: predicted class codes, an array of shape (n_runs, n_samples), or
    # None where predictions are not kept; and the scores, as `foldshift.evaluation.regressors.evaluate_cell` returns them
    evaluate: Callable[..., Any]
