"""Losses of a learner by fold and on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, UnsignedArray

    Loss = Callable[[Array, Array], FloatArray]  # of targets and predictions, one number for every row
    FoldPredictor = Callable[[UnsignedArray], Iterable[Array]]  # of folds, the predictions of every fold's model


class Sample(NamedTuple):
    """Inputs and targets of a sample, and of held-out rows of the same population."""

    X: Array
    y: Array
    X_rest: Array
    y_rest: Array


def zero_one_loss(y: Array, predicted: Array) -> FloatArray:
    """1.0 where a prediction is wrong, 0.0 where it is right."""
    return (predicted != y).astype(np.float64)


def squared_error(y: Array, predicted: Array) -> FloatArray:
    """Squared difference of prediction and target."""
    return (predicted - y) ** 2


def fold_predictor(estimator: Estimator, sample: Sample) -> FoldPredictor | None:
    """Return a function that predicts held-out rows by the models of all folds; None for a learner that shares no work there."""
    from foldshift.core.estimators import shares_work

    share = getattr(estimator, "fold_predictor", None) if shares_work(estimator) else None
    return share and share(sample.X, sample.y, sample.X_rest)


def fold_losses(
    estimator: Estimator,
    sample: Sample,
    folds: UnsignedArray,
    states: Sequence[int] | UnsignedArray,
    loss: Loss,
    predict: FoldPredictor | None = None,
) -> tuple[list[FloatArray], float]:
    """Cross-validated losses by fold, and the mean true error of the models; `predict` gives the same losses sooner.

    ``states`` holds the `random_state` of every fit; it is used if the estimator's own is None.
    """
    found = [(inside, outside.mean()) for inside, outside in losses_by_fold(estimator, sample, folds, states, loss, predict)]
    return [inside for inside, _ in found], float(np.mean([truth for _, truth in found]))


def losses_by_fold(
    estimator: Estimator,
    sample: Sample,
    folds: UnsignedArray,
    states: Sequence[int] | UnsignedArray,
    loss: Loss,
    predict: FoldPredictor | None = None,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the losses of every fold's model on its test part and on the held-out rows; arguments as in `fold_losses`."""
    X, y, X_rest, y_rest = sample
    if predict:
        own = _checked(loss(y, estimator.predict_folds(X, y, folds[None])[0]))
        for fold, predicted in enumerate(predict(folds)):
            yield own[folds == fold], _checked(loss(y_rest, predicted))
        return
    for fold, state in enumerate(states):
        test = folds == fold
        inside, outside = losses_after_fit(estimator, X[~test], y[~test], [(X[test], y[test]), (X_rest, y_rest)], state, loss)
        yield inside, outside


def held_out_loss(estimator: Estimator, sample: Sample, state: int, loss: Loss) -> float:
    """Mean loss on the held-out rows after training on the whole sample."""
    return float(losses_after_fit(estimator, sample.X, sample.y, [(sample.X_rest, sample.y_rest)], state, loss)[0].mean())


def held_out_moments(estimator: Estimator, sample: Sample, state: int, loss: Loss, block: int = 20_000) -> tuple[float, float]:
    """Mean loss on the held-out rows after training on the whole sample, and its standard error; `block` rows at a time."""
    from foldshift.core.estimators import clone_with_state
    from foldshift.core.user_code.answers import predictions_after_fit, predictions_of

    X, y, X_rest, y_rest = sample
    model, classes = clone_with_state(estimator, state), np.concatenate([y, np.unique(y_rest)])
    losses = [_checked(loss(y_rest[:block], predictions_after_fit(model, X, y, X_rest[:block], classes)))]
    for start in range(block, len(y_rest), block):
        part = slice(start, start + block)
        losses.append(_checked(loss(y_rest[part], predictions_of(model, X_rest[part], classes))))
    found = np.concatenate(losses)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else np.nan


def losses_after_fit(
    estimator: Estimator, X: Array, y: Array, parts: list[tuple[Array, Array]], state: int, loss: Loss
) -> list[FloatArray]:
    """Losses on each part (inputs and targets) after one fit; refuses predictions that are not finite."""
    from foldshift.core.estimators import clone_with_state
    from foldshift.core.user_code.answers import predictions_after_fit

    # Predicted at once, as every call of predict has a price beside that of its rows.
    truth = np.concatenate([truth for _, truth in parts])
    rows, target = np.concatenate([part for part, _ in parts]), np.concatenate([y, truth])
    losses = _checked(loss(truth, predictions_after_fit(clone_with_state(estimator, state), X, y, rows, target)))
    return np.split(losses, np.cumsum([len(truth) for _, truth in parts])[:-1])


def _checked(losses: FloatArray) -> FloatArray:
    if np.ndim(losses) != 1:
        raise ValueError(f"loss returned shape {np.shape(losses)}; expected the loss of every row")
    if not np.isfinite(losses).all():
        raise ValueError(f"{int((~np.isfinite(losses)).sum())} of {len(losses)} predictions are NaN or infinite")
    return losses
