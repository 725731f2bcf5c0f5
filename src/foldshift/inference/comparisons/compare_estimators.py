"""Comparison of two learners on data: both are cross-validated on the same folds, and scored by row where the score allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from foldshift.core.errors import DataError
from foldshift.core.estimators import check_predictor, rows_of, title
from foldshift.core.gate.rows import check_rows
from foldshift.core.user_code.answers import one_line
from foldshift.inference.comparisons.comparison import Row
from foldshift.inference.fit_predictions import OF_FOLDS, check_task, fitted, predictions_of, score_of
from foldshift.inference.intervals.score_difference import score_difference_interval
from foldshift.inference.intervals.score_names import score_name

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray
    from foldshift.inference.intervals.score_names import ScoreName

FOLDS_SEED = 0  # of the folds, where no splitter is given
POOLED_TEST = "difference from pooled predictions"
N_FOLDS, N_REPEATS = 10, 1  # by default


class ScoredFolds(NamedTuple):
    """Scores of two learners on the same folds, and the row of a comparison that rests on all rows."""

    scores: FloatArray  # shape (2, n_splits)
    splits: list[tuple[Array, Array]]
    names: tuple[str, str]
    pooled: Row


def scored_folds(
    models: tuple[Any, Any], X: Any, y: Any, cv: Any, metric: Any, groups: Any, confidence: float
) -> ScoredFolds:  # fmt: skip
    """Cross-validate two learners on the same folds."""
    for name, model in zip(("scores_a", "scores_b"), models):
        check_predictor(model, name)
    if X is None or y is None:
        raise DataError(f"{'X' if X is None else 'y'} is missing; learners are compared on the rows of X and y")
    check_rows(X=X, y=y, groups=groups)
    target = np.asarray(y)
    classifies = is_classifier(models[0])
    metric = metric if metric is not None else "accuracy" if classifies else "root_mean_squared_error"
    score = None if callable(metric) else score_name(metric)
    for model in models:
        if score is not None:
            check_task(model, score)
    splits = _splits(cv, X, target, groups, classifies)
    classes = np.unique(target) if classifies else np.empty(0)
    made = [_of_model(model, X, target, splits, score or metric, classes) for model in models]
    scores = np.array([one for one, _ in made])
    if np.isnan(scores).any():
        where = int(np.isnan(scores).any(axis=0).argmax())
        raise DataError(
            f"the score is not defined in split {where}, whose test part lacks a class; use stratified folds, or fewer"
        )
    titles = (title(models[0]), title(models[1]))
    names = titles if titles[0] != titles[1] else (f"{titles[0]} (first)", f"{titles[1]} (second)")
    return ScoredFolds(scores, splits, names, _pooled_row(score, target, [one for _, one in made], splits, groups, confidence))


def _splits(cv: Any, X: Any, y: Array, groups: Any, classifies: bool) -> list[tuple[Array, Array]]:
    """Rows of every training and test part, the same for both learners."""
    if cv is None or isinstance(cv, int | np.integer):
        cut = RepeatedStratifiedKFold if classifies else RepeatedKFold
        if groups is not None:
            raise DataError("groups needs a splitter that keeps them together; give one, such as cv=CovariateBalancedKFold(5)")
        cv = cut(n_splits=N_FOLDS if cv is None else int(cv), n_repeats=N_REPEATS, random_state=FOLDS_SEED)
    found = list(cv.split(X, y, groups)) if hasattr(cv, "split") else list(cv)
    if len(found) < 2:
        raise DataError(f"cv makes {len(found)} split; a comparison needs two or more")
    return [(np.asarray(train), np.asarray(test)) for train, test in found]


def _of_model(
    model: Estimator, X: Any, y: Array, splits: list[tuple[Array, Array]], score: Any, classes: Array
) -> tuple[list[float], list[Array]]:
    """Scores and predictions of one learner in every split."""
    scores, predictions = [], []
    for state, (train, test) in enumerate(splits):
        fit = fitted(model, rows_of(X, train), y[train], float(state))
        if callable(score):
            try:
                scores.append(float(score(fit, rows_of(X, test), y[test])))
            except (Exception, SystemExit) as error:
                raise DataError(f"the scorer failed in split {state}: {one_line(error)}") from error
            continue
        predictions.append(predictions_of(fit, score, rows_of(X, test), classes))
        scores.append(score_of(y[test], predictions[-1], score, len(classes)))
    return scores, predictions


def _pooled_row(
    score: ScoreName | None, y: Array, predictions: list[list[Array]], splits: list[tuple[Array, Array]], groups: Any,
    confidence: float,
) -> Row:  # fmt: skip
    """Row of the difference that rests on all rows; it does not apply to a scorer of the user's own."""
    if score is None:
        return Row(POOLED_TEST, False, OF_FOLDS)
    repetitions = _repetitions([test for _, test in splits], len(y))
    if repetitions is None:
        return Row(POOLED_TEST, False, "it needs every row to be tested once in each repetition, as by repeated k-fold")
    both = []
    folds = np.empty((len(repetitions), len(y)), dtype=np.int64)
    for of_model in predictions:
        rows = np.empty((len(repetitions), len(y), *of_model[0].shape[1:]), dtype=np.result_type(*of_model))
        for r, of_repetition in enumerate(repetitions):
            for fold, place in enumerate(of_repetition):
                rows[r, splits[place][1]] = of_model[place]
                folds[r, splits[place][1]] = fold
        both.append(rows)
    found = score_difference_interval(y, both[0], both[1], score.name, folds=folds, groups=groups, confidence=confidence)
    reason = f"{score.name} from the out-of-fold predictions of all rows, paired row by row; it is about models such as these"
    reason += f"; {found.note}" if found.note else ""
    return Row(POOLED_TEST, True, reason, estimate=float(found.estimate), low=float(found.low), high=float(found.high))


def _repetitions(tests: list[Array], n: int) -> list[list[int]] | None:
    """Splits of every repetition, each of which tests every row once; None if there are no such ones."""
    found: list[list[int]] = [[]]
    seen = np.zeros(n, dtype=np.int64)
    for place, test in enumerate(tests):
        np.add.at(seen, test, 1)
        found[-1].append(place)
        if seen.max() > 1:
            return None
        if seen.all():
            found.append([])
            seen[:] = 0
    return None if found.pop() else found
