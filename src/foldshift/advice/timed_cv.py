"""Cross-validation within a budget of time: as many repetitions as fit, all learners on the same folds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import parallel_config
from sklearn.base import clone

from foldshift.core.errors import DataError
from foldshift.core.estimators import rows_of

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.score import Score
    from foldshift.core.types import Array, BoolArray, Estimator, FloatArray, IntArray

FOR_EVER = 1e9  # seconds of no budget
QUICK = 2.0  # seconds, up to which a fit is timed twice


class Fits(NamedTuple):
    """What came out of cross-validation.

    Attributes
    ----------
    folds : ndarray of shape (r, n)
        Folds of the repetitions that were finished.
    losses : dict of str to ndarray of shape (r, n)
        Loss of every row by learner; empty for a score of folds. NaN for rows that are never tested.
    scores : dict of str to ndarray of shape (r, k)
        Mean loss, or score, of every fold by learner.
    seconds : float
        Of all fits and predictions.
    n_fits : int
        Of the first learner.
    seconds_per_fit : float
        Of the first learner, with the prediction of its test part.
    """

    folds: Array
    losses: dict[str, Array]
    scores: dict[str, Array]
    seconds: float
    n_fits: int
    seconds_per_fit: float


class Clock:
    """A budget of seconds, from now on."""

    def __init__(self, seconds: float) -> None:
        self.begun, self.budget = time.perf_counter(), float(seconds)

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.begun

    @property
    def said(self) -> str:
        """Seconds spent, and the budget where there is one."""
        return f"{self.spent:.0f}{f' of {self.budget:.0f}' if self.budget < FOR_EVER else ''} s"

    @property
    def left(self) -> float:
        """Seconds left; below 0 when it is used up."""
        return self.budget - self.spent


def first_fit(learner: Estimator, data: Data, score: Score) -> float:
    """Seconds that a fit on nine tenths of the rows takes, and that the learner and the score can do with these data at all."""
    test = np.zeros(data.n, dtype=bool)
    # Every tenth row of the rows in order of the target: no class with ten rows or more is left out of either part.
    test[np.argsort(data.target, kind="stable")[::10]] = True
    seconds = []
    for _ in range(2):
        begun = time.perf_counter()
        _one(learner, data, score, test)
        seconds.append(time.perf_counter() - begun)
        if seconds[0] > QUICK:
            break
    return min(seconds)  # the first one may have loaded or compiled something


def cross_validate(
    learners: dict[str, Estimator],
    data: Data,
    score: Score,
    folds: Array,
    clock: Clock,
    *,
    reserve: float = 0.0,
    least: int = 1,
    seconds: float = 0.0,
    tell: Callable[..., Any] | None = None,
) -> Fits:
    """Cross-validate learners on the same folds, repetition by repetition, until the budget is used up."""
    k = int(folds.max()) + 1
    losses, scores = {name: [] for name in learners}, {name: [] for name in learners}
    first, total, n_fits, of_first = next(iter(learners)), 0.0, 0, 0.0
    for repetition, row in enumerate(folds):
        if repetition >= least and clock.left - reserve < seconds:
            break
        begun = time.perf_counter()
        found = {name: np.full(data.n, np.nan) for name in learners}
        of_folds = {name: np.full(k, np.nan) for name in learners}
        for fold in range(k):
            test = row == fold
            if not test.any():
                continue
            for name, learner in learners.items():
                start = time.perf_counter()
                values, mean = _one(learner, data, score, test)
                if name == first:
                    n_fits, of_first = n_fits + 1, of_first + time.perf_counter() - start
                of_folds[name][fold] = mean
                if values is not None:
                    found[name][test] = values
            if tell is not None:
                tell(repetition * k + fold + 1, len(folds) * k)
        for name in learners:
            losses[name].append(found[name])
            scores[name].append(of_folds[name])
        taken = time.perf_counter() - begun
        total, seconds = total + taken, max(seconds * 0.5, taken * 1.05)
    done = len(scores[first])
    rows = {} if score.kind == "folds" else {name: np.array(values) for name, values in losses.items()}
    return Fits(folds[:done], rows, {name: np.array(values) for name, values in scores.items()}, total, n_fits, of_first / n_fits)


def fit(learner: Estimator, data: Data, train: IntArray) -> Estimator:
    """A clone of the learner, fitted on some rows; every failure is told in one line."""
    try:
        return clone(learner).fit(rows_of(data.X, train), data.y[train])
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0].rstrip(".")
        raise DataError(
            f"{type(learner).__name__} could not be fitted: {type(error).__name__}: {said}. Texts, dates and missing values need "
            "a pipeline that codes and fills them: foldshift.advice.preprocessing.prepared(learner, X) makes a plain one"
        ) from error


def losses_on(model: Estimator, data: Data, score: Score, rows: IntArray) -> FloatArray:
    """Losses of a fitted learner on some rows; ndarray."""
    if not hasattr(model, score.method):
        raise DataError(f"{type(model).__name__} has no {score.method}, which {score.name} needs; take another scoring")
    with parallel_config(n_jobs=1):  # sums over trees in one order, so that the same seed gives the same bytes
        predicted = np.asarray(getattr(model, score.method)(rows_of(data.X, rows)))
    classes = getattr(model, "classes_", None)
    if score.method == "predict_proba":
        predicted = _all_classes(predicted, classes, data)
        classes = np.unique(data.y)
    elif predicted.ndim == 2 and predicted.shape[1] == 1:
        predicted = predicted[:, 0]
    losses = np.asarray(score.losses(data.y[rows], predicted, classes), dtype=np.float64)
    if not np.isfinite(losses).all():
        raise DataError(
            f"{type(model).__name__} predicts values that are NaN or infinite for {int((~np.isfinite(losses)).sum())} of "
            f"{len(losses)} rows; mend the learner, or scale its inputs"
        )
    return losses


def _all_classes(predicted: FloatArray, classes: IntArray, data: Data) -> FloatArray:
    """Probabilities with a column for every class of the table: 0 for those that the training part lacked."""
    every = np.unique(data.y)
    out = np.zeros((len(predicted), len(every)))
    out[:, np.searchsorted(every, classes)] = predicted
    return out


def _one(learner: Estimator, data: Data, score: Score, test: BoolArray) -> tuple[FloatArray | None, float]:
    """Losses of the rows of a test part (None for a score of folds), and their mean, or the score."""
    rows = np.flatnonzero(test)
    model = fit(learner, data, np.flatnonzero(~test))
    if score.kind != "folds":
        values = losses_on(model, data, score, rows)
        return values, values.mean()
    try:
        with parallel_config(n_jobs=1):
            mean = float(score.scorer(model, rows_of(data.X, rows), data.y[rows]))
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0].rstrip(".")
        raise DataError(f"{score.name} could not be worked out: {type(error).__name__}: {said}; take another scoring") from error
    return None, mean
