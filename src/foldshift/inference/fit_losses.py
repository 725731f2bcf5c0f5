"""Losses of a learner by fold and on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, UnsignedArray


def zero_one_loss(y: IntArray, predicted: IntArray) -> FloatArray:
    """1.0 where a prediction is wrong, 0.0 where it is right."""
    return (predicted != y).astype(np.float64)


def squared_error(y: Array, predicted: FloatArray) -> FloatArray:
    """Squared difference of prediction and target."""
    return (predicted - y) ** 2


def fold_predictor(estimator: Estimator, X: Any, y: Array, X_rest: Any) -> Callable[..., Any] | None:
    """What predicts held-out rows by the models of all folds of a partition, or None for a learner that shares no work there."""
    share = getattr(estimator, "fold_predictor", None)
    return share and share(X, y, X_rest)


def fold_losses(
    estimator: Estimator,
    X: Array,
    y: Array,
    X_rest: Array,
    y_rest: Array,
    folds: UnsignedArray,
    states: Array,
    loss: Callable[..., Any],
    predict: Callable[..., Any] | None = None,
) -> tuple[list[Array], float]:
    """Cross-validated losses of a sample, and the mean true error of the models of the folds."""
    if predict:
        inside = loss(y, estimator.predict_folds(X, y, folds[None])[0])
        truths = [_checked(loss(y_rest, predicted)).mean() for predicted in predict(folds)]
        return [_checked(inside[folds == fold]) for fold in range(len(states))], float(np.mean(truths))
    losses, truths = [], []
    for fold, state in enumerate(states):
        test = folds == fold
        inside, outside = losses_after_fit(estimator, X[~test], y[~test], [(X[test], y[test]), (X_rest, y_rest)], state, loss)
        losses.append(inside)
        truths.append(outside.mean())
    return losses, float(np.mean(truths))


def held_out_loss(
    estimator: Estimator, X: FloatArray, y: Array, X_rest: FloatArray, y_rest: Array, state: int, loss: Callable[..., Any]
) -> float:
    """Mean loss on held-out rows after training on the whole sample; parameters as in `fold_losses`."""
    return float(losses_after_fit(estimator, X, y, [(X_rest, y_rest)], state, loss)[0].mean())


def losses_after_fit(
    estimator: Estimator, X: FloatArray, y: IntArray, parts: list[tuple[Array, Array]], state: int, loss: Callable[..., Any]
) -> list[Array]:
    """Losses on each of some parts of one fit."""
    from foldshift.core.estimators import clone_with_state

    predicted = clone_with_state(estimator, state).fit(X, y).predict(np.concatenate([part for part, _ in parts]))
    losses = _checked(loss(np.concatenate([truth for _, truth in parts]), predicted))
    return np.split(losses, np.cumsum([len(truth) for _, truth in parts])[:-1])


def _checked(losses: FloatArray) -> FloatArray:
    if not np.isfinite(losses).all():
        raise ValueError(f"{int((~np.isfinite(losses)).sum())} of {len(losses)} predictions are NaN or infinite")
    return losses
