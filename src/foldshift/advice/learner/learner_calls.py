"""Fits of the learners of an advice, in a process of their own: one that hangs or crashes ends the advice, not Python."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import parallel_config
from sklearn.base import clone

from foldshift.advice.learner.preprocessing import has_gaps_or_texts
from foldshift.core.errors import DataError, LearnerError, StoppedError
from foldshift.core.estimators import rows_of, title
from foldshift.core.remedies import Remedy
from foldshift.core.user_code.answers import as_answer, as_column, as_numbers, as_probabilities, check_labels
from foldshift.core.user_code.guarded_process import (
    DONE,
    LATE,
    MEMORY,
    RAISED,
    CallHere,
    CallInChild,
    can_isolate,
    free_memory_mb,
    no_copies,
)

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.planned_cv import Clock
    from foldshift.advice.score import Score
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray

OVER = "over"  # kind of a call that is not made, as the budget is used up
# Scores of the class 1, and those that ask the same of all classes, or of any names.
ONE_CLASS = {one: f"{one}_macro" for one in ("f1", "precision", "recall", "jaccard")} | {"average_precision": "roc_auc"}
LEAST = 0.05  # share of the budget that a fit may take in any case


class Scored(NamedTuple):
    """Scores of a fitted learner on some rows."""

    # losses of the rows, or their predictions for a pooled score; None for a score of folds
    losses: FloatArray | None
    score: float  # mean of the losses, or the score


class LearnerCalls:
    """Fits and predictions of learners on one table.

    A fit may take what is left of the budget of `clock`, and at least `LEAST` of it. If `isolated`, fits run in a copy of this
    process where the system has such copies (Linux). Only there a learner is stopped.
    """

    def __init__(self, learners: dict[str, Estimator], data: Data, score: Score, clock: Clock, isolated: bool = True) -> None:
        self._learners, self._data, self._score, self._clock = learners, data, score, clock
        self._isolated = isolated and can_isolate()
        self._process: CallInChild | CallHere | None = None
        self._numbers = itertools.count(1)

    def __call__(self, name: str, train: IntArray, *tests: IntArray) -> list[Scored]:
        """Fit a learner on some rows, score it on others; raise LearnerError if it fails, StoppedError if it takes too long."""
        if self._clock.is_over:
            raise self._lost(title(self._learners[name]), OVER, "", self._clock.spent)
        if not self._isolated:
            return fit_and_score(self._learners[name], self._data, self._score, train, *tests)
        if self._process is None:
            self._process = CallInChild(self._answer, free_memory_mb(), quiet=True)
        seconds = max(self._clock.left, LEAST * self._clock.budget)
        kind, value, _ = self._process.run((name, train, tests), seconds)
        if kind == RAISED:
            raise value
        if kind != DONE:
            self.end()
            raise self._lost(title(self._learners[name]), kind, value, seconds)
        found, heard = value
        for category, text in heard:
            # Of the other process: only its name is known here. Another line each time, or Python would show it once.
            warnings.warn_explicit(text, type(category, (Warning,), {}), "learner", next(self._numbers))
        return found

    def _answer(self, call: tuple[Any, ...]) -> tuple[list[Scored], list[tuple[str, str]]]:
        """Make one call, in the other process; also return the warnings that it gave."""
        name, train, tests = call
        with warnings.catch_warnings(record=True) as heard:
            found = fit_and_score(self._learners[name], self._data, self._score, train, *tests)
        return found, [(one.category.__name__, str(one.message)) for one in heard]

    def _lost(self, learner: str, kind: str, text: str, seconds: float) -> DataError:
        if kind in (LATE, OVER):
            where = f"after {seconds:.0f} s in one fit" if kind == LATE else "before a fit"
            return StoppedError(
                f"{learner} was stopped {where}: the budget of {self._clock.budget:g} s is used up; "
                "give a faster learner or more time: ",
                Remedy("budget", f"{math.ceil(max(10 * self._clock.budget, 60) / 60)}min"),
            )
        if kind == MEMORY:
            return LearnerError(f"{learner} needs more memory than is free ({text}); give fewer rows or another learner")
        return LearnerError(
            f"{learner} ended in the middle of a fit: {text}; it must return from fit and predict, or raise an error"
        )

    def __enter__(self) -> LearnerCalls:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the other process, with all that it started."""
        if self._process is not None:
            self._process.end()
            self._process = None


def fit_and_score(learner: Estimator, data: Data, score: Score, train: IntArray, *tests: IntArray) -> list[Scored]:
    """Fit a clone of a learner on some rows, and score it on others, in this process."""
    model = fit(learner, data, train)
    return [_scored(model, data, score, rows) for rows in tests]


def fit(learner: Estimator, data: Data, train: IntArray) -> Estimator:
    """Fit a clone of the learner on some rows; raise LearnerError with one line if that fails."""
    try:
        with no_copies():
            return clone(learner).fit(rows_of(data.X, train), data.y[train])
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{title(learner)} could not be fitted: {_first_line(error)}{_what_helps(data, train)}") from error


def _what_helps(data: Data, train: IntArray) -> str:
    """Say what helps a learner that could not be fitted on some rows: another declaration, or a pipeline."""
    if data.task == "classification" and len(np.unique(data.y[train])) == 1:
        rows = f"The {len(train)} rows trained on are all {data.y[train][:1].tolist()[0]!r}"
        return f". {rows}: groups, times or places part the classes; declare others, or add rows"
    if has_gaps_or_texts(data.X):
        return (
            ". Texts, dates and missing values need a pipeline that codes and fills them: "
            "foldshift.advice.learner.preprocessing.prepared(learner, X) makes a plain one"
        )
    return "; give another learner, or other settings of this one"


def losses_on(model: Estimator, data: Data, score: Score, rows: IntArray) -> FloatArray:
    """Losses of a fitted learner on some rows; shape (n_rows,)."""
    if score.losses is None:
        raise TypeError(f"{score.name} is a score of whole folds; it has no loss of a row")
    name = title(model)
    if not hasattr(model, score.method):
        raise DataError(f"{name} has no {score.method}, which {score.name} needs; take another scoring")
    X = rows_of(data.X, rows)
    try:
        with no_copies(), parallel_config(n_jobs=1):  # sums over trees in one order, so that the same seed gives the same bytes
            answer = getattr(model, score.method)(X)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{name}.{score.method} failed: {_first_line(error)}; fix the learner") from error
    predicted, every = as_answer(answer, X, name, score.method), np.unique(data.y)
    if score.method == "predict_proba":
        held = np.asarray(getattr(model, "classes_", every))
        check_labels(held, every.tolist(), name)
        predicted = _all_classes(as_probabilities(predicted, len(held), name), np.searchsorted(every, held), len(every))
    elif data.task == "regression":
        predicted = as_numbers(as_column(predicted, name), name)
    else:
        predicted = as_column(predicted, name)
        check_labels(predicted, every.tolist(), name)
    losses = np.asarray(score.losses(data.y[rows], predicted, every), dtype=np.float64)
    if not np.isfinite(losses).all():
        raise LearnerError(f"{name} predicts values so large that their loss is infinite; fix the learner, or scale its inputs")
    return losses


def _all_classes(predicted: FloatArray, codes: IntArray, n_classes: int) -> FloatArray:
    """Probabilities with a column for every class of the table: 0 for those that the training part lacked."""
    out = np.zeros((len(predicted), n_classes))
    out[:, codes] = predicted
    return out


def _first_line(error: BaseException) -> str:
    """Type and first line of an error."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0].rstrip('.')}"


def _scored(model: Estimator, data: Data, score: Score, rows: IntArray) -> Scored:
    if score.scorer is None:
        losses = losses_on(model, data, score, rows)
        return Scored(losses, float(losses.mean()))
    target: Array = data.y[rows]
    try:
        with no_copies(), parallel_config(n_jobs=1):
            value = float(score.scorer(model, rows_of(data.X, rows), target))
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{score.name} of {title(model)} could not be computed: {_first_line(error)}"
        if score.metric in ONE_CLASS and data.task == "classification" and 1 not in data.y:
            another = Remedy("scoring", ONE_CLASS[score.metric])
            raise LearnerError(f"{what}; no class is called 1; take ", another, ", or call the class that counts 1") from error
        if isinstance(error, TypeError):
            what += "; a scorer is called with a learner, X and y, and sklearn.metrics.make_scorer makes one of a function of y"
        raise LearnerError(f"{what}; take another scoring") from error
    return Scored(predictions_on(model, data, score, rows) if score.kind == "pooled" else None, value)


def predictions_on(model: Estimator, data: Data, score: Score, rows: IntArray) -> FloatArray:
    """Predictions of a fitted learner for a pooled score: codes of classes, scores of the larger class, or numbers."""
    X, name, every = rows_of(data.X, rows), title(model), np.unique(data.y)
    usual = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    method = "predict" if score.method == "predict" else usual
    try:
        with no_copies(), parallel_config(n_jobs=1):
            answer = as_answer(getattr(model, method)(X), X, name, method)
    except (MemoryError, LearnerError):
        raise
    except (Exception, SystemExit) as error:
        raise LearnerError(f"{name}.{method} failed: {_first_line(error)}; fix the learner") from error
    if method == "predict_proba":
        return as_probabilities(answer, answer.shape[-1], name)[:, -1]
    predicted = as_column(answer, name)
    if method == "predict" and data.task == "classification":
        check_labels(predicted, every.tolist(), name)
        return np.searchsorted(every, predicted).astype(np.float64)
    return as_numbers(predicted, name)
