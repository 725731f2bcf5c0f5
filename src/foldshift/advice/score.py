"""Scores: a loss of every row if there is one, so that intervals can be made of rows, or a score of every fold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from foldshift.core.counting import bincount
from foldshift.core.errors import DataError, unknown
from foldshift.core.remedies import Given
from foldshift.core.repr import figures
from foldshift.inference.intervals.score_names import score_name

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import Array, Estimator, FloatArray, Floats, IntArray, Task

    Losses = Callable[[Array, FloatArray, Array], FloatArray]  # losses(y, predicted, classes)
    Show = Callable[[Floats], Floats]
    Scorer = Callable[[Estimator, Any, Array], float]

Kind = Literal["share", "loss", "pooled", "folds"]

RARE = 0.05  # share of the rows below which a class is rare
SMALLEST = 1e-15  # probabilities are raised to this before the logarithm


class Score(NamedTuple):
    """A way of scoring predictions."""

    name: str  # in words, such as ``error rate``
    # ``share``: a loss of 0 or 1 for every row; ``loss``: a loss of 0 or more for every row; ``pooled``: a score of the
    # predictions of all rows; ``folds``: one score for every fold, and nothing for the single row
    kind: Kind
    method: str  # method of the fitted learner: ``predict``, ``predict_proba``, ``ranks``; empty for ``folds``
    losses: Losses | None  # ``losses(y, predicted, classes)``: loss of every row; None for ``folds``
    show: Show  # monotone function from a mean loss to the score that is printed
    higher_is_better: bool  # direction of the score that is printed
    scorer: Scorer | None = None  # scorer of scikit-learn for ``folds``, else None
    percent: bool = False  # whether the score is a share that is printed in per cent
    metric: str = ""  # name of a ``pooled`` score for `foldshift.inference.score_interval`

    def text(self, value: float | None, digits: int = 3) -> str:
        """Format a value of the score, or of a difference."""
        if value is None or not np.isfinite(value):
            return "–"
        return f"{100 * value:.1f} %" if self.percent else figures(value, digits)


def _wrong(y: Array, predicted: Array, classes: Array) -> FloatArray:
    return (predicted != y).astype(np.float64)


def _squared(y: FloatArray, predicted: FloatArray, classes: Array) -> FloatArray:
    return (predicted - y) ** 2


def _absolute(y: FloatArray, predicted: FloatArray, classes: Array) -> FloatArray:
    return np.abs(predicted - y)


def _codes(y: Array, classes: Array) -> IntArray:
    return np.searchsorted(classes, y)


def _log_loss(y: Array, predicted: FloatArray, classes: Array) -> FloatArray:
    return -np.log(np.clip(predicted[np.arange(len(y)), _codes(y, classes)], SMALLEST, 1))


def _brier(y: Array, predicted: FloatArray, classes: Array) -> FloatArray:
    wanted = np.eye(len(classes))[_codes(y, classes)]
    return ((predicted - wanted) ** 2).sum(axis=1) / (2 if len(classes) == 2 else 1)


def _same(mean: Floats) -> Floats:
    return mean


def _one_less(mean: Floats) -> Floats:
    return 1 - mean


def _negative(mean: Floats) -> Floats:
    return -mean


ERROR = Score("error rate", "share", "predict", _wrong, _same, False, percent=True)
ROOT = Score("root mean squared error", "loss", "predict", _squared, np.sqrt, False)
ROWS: dict[Task, dict[str, Score]] = {
    "classification": {
        "error": ERROR,
        "accuracy": Score("accuracy", "share", "predict", _wrong, _one_less, True, percent=True),
        "neg_log_loss": Score("log loss", "loss", "predict_proba", _log_loss, _same, False),
        "neg_brier_score": Score("Brier score", "loss", "predict_proba", _brier, _same, False),
    },
    "regression": {
        "rmse": ROOT,
        "neg_root_mean_squared_error": ROOT,
        "neg_mean_squared_error": Score("mean squared error", "loss", "predict", _squared, _same, False),
        "neg_mean_absolute_error": Score("mean absolute error", "loss", "predict", _absolute, _same, False),
    },
}
FOR_OTHER_TASK: dict[Task, set[str]] = {
    "classification": {*ROWS["regression"], "r2", "explained_variance", "max_error"},
    "regression": {
        *ROWS["classification"], "roc_auc", "balanced_accuracy", "f1", "precision", "recall", "average_precision", "jaccard",
        "matthews_corrcoef",
    },
}  # fmt: skip


POOLED: dict[Task, tuple[str, ...]] = {
    "classification": (
        "balanced_accuracy", "f1", "recall", "precision", "jaccard", "f1_macro", "f1_weighted", "recall_macro", "precision_macro",
        "precision_weighted", "jaccard_macro", "jaccard_weighted", "matthews_corrcoef", "roc_auc", "average_precision",
    ),
    "regression": ("r2",),
}  # fmt: skip
"""Scorers of scikit-learn whose intervals rest on the predictions of all rows."""
WORDS = {"f1": "F1 score", "r2": "R2", "roc_auc": "area under the ROC curve", "matthews_corrcoef": "Matthews correlation"}


def usual_scoring(data: Data, learner: Estimator) -> str | None:
    """Name the scorer for a target with a rare class, of which an error rate says nothing; None for the default."""
    if data.task != "classification" or bincount(data.target.astype(int)).min() >= RARE * data.n:
        return None
    ranks = hasattr(learner, "decision_function") or hasattr(learner, "predict_proba")
    return "roc_auc" if len(data.classes) == 2 and ranks else "balanced_accuracy"


def as_score(scoring: str | Scorer | None, task: Task, n_classes: int = 2) -> Score:
    """Make a score of a name or a scorer of scikit-learn; by default the error rate, or the root mean squared error."""
    if scoring is None:
        return ERROR if task == "classification" else ROOT
    if callable(scoring):
        name = getattr(scoring, "__name__", None) or str(scoring)
        return Score(name, "folds", "", None, _same, True, scoring)
    if not isinstance(scoring, str):
        raise DataError(f"scoring={scoring!r} must be one name of scikit-learn's scorers or one scorer(estimator, X, y)")
    if scoring in ROWS[task]:
        return ROWS[task][scoring]
    names = [*ROWS[task], *(name for name in get_scorer_names() if name not in FOR_OTHER_TASK[task])]
    if scoring in FOR_OTHER_TASK[task]:
        other = "regression" if task == "classification" else "classification"
        known = ", ".join(list(ROWS[task])[:3])
        raise DataError(Given("scoring", scoring), f" is for {other}, and the target is one of {task}; e.g. {known}")
    if scoring not in get_scorer_names():
        raise DataError(unknown("scoring", scoring, dict.fromkeys(names)))
    words = scoring.removeprefix("neg_").replace("_", " ")
    if scoring.startswith("neg_"):
        return Score(words, "folds", "", None, _negative, False, get_scorer(scoring))
    if scoring in POOLED[task] and (n_classes == 2 or not score_name(scoring).one_class):
        method = "ranks" if score_name(scoring).needs == "ranks" else "predict"
        return Score(WORDS.get(scoring, words), "pooled", method, None, _same, True, get_scorer(scoring), metric=scoring)
    return Score(words, "folds", "", None, _same, True, get_scorer(scoring))
