"""Moments of cross-validated losses of many partitions of one sample, and true errors with their standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.estimators import shares_work
from foldshift.evaluation.cross_validate import evaluate_folds
from foldshift.inference.fit_losses import Sample, fold_predictor, held_out_moments, losses_by_fold, squared_error, zero_one_loss
from foldshift.inference.intervals.moments import LossMoments, loss_moments
from foldshift.studies.common.samples import attempt

if TYPE_CHECKING:
    from foldshift.core.types import Estimator, FloatArray, Rows, UnsignedArray
    from foldshift.inference.fit_losses import FoldPredictor, Loss

    Key = tuple[str, int, int]  # cut, number of folds, repetition
    Partitions = dict[Key, UnsignedArray]

TRUTHS = ("truth_parts", "truth_parts_noise", "truth_whole", "truth_whole_noise")
NUMBERS = (*LossMoments._fields, *TRUTHS)


def measure_partitions(
    estimator: Estimator, sample: Sample, partitions: Partitions, part_rows: int, rng: np.random.Generator
) -> Rows:
    """Compute `NUMBERS` and ``message`` for every partition, in their order.

    ``truth_whole`` is the mean error on the held-out rows of the model trained on the whole sample, ``truth_parts`` that of the
    models of the folds on the first `part_rows` of them, for the first repetition. Those ending in ``_noise`` are their standard
    errors. Errors are 0/1 for integer targets (classes), else squared. Fold i has the same random state in all partitions. If a
    fit failed, numbers are NaN and ``message`` is what the learner raised.
    """
    loss = zero_one_loss if sample.y.dtype.kind == "i" else squared_error
    near = sample._replace(X_rest=sample.X_rest[:part_rows], y_rest=sample.y_rest[:part_rows])
    n_states = max(int(folds.max()) + 1 for folds in partitions.values())
    states = (rng.random(n_states + 1) * 2**32).astype(np.uint32)
    whole, whole_message = attempt(held_out_moments, estimator, sample, int(states[-1]), loss)
    together = _shared_losses(estimator, near, partitions, states, loss)
    predict, _ = attempt(fold_predictor, estimator, near)
    found: Rows = []
    for key, folds in partitions.items():
        rest = near if key[-1] == 0 else near._replace(X_rest=near.X_rest[:0], y_rest=near.y_rest[:0])
        own = states[: int(folds.max()) + 1].tolist()
        result, message = attempt(_moments, estimator, rest, folds, own, loss, together.get(key), predict)
        numbers = dict.fromkeys(NUMBERS, np.nan) | (result or {})
        numbers |= dict(zip(TRUTHS[2:], (np.nan, np.nan) if whole is None else whole))
        found.append(numbers | {"message": message or whole_message})
    return found


def _shared_losses(
    estimator: Estimator, sample: Sample, partitions: Partitions, states: UnsignedArray, loss: Loss
) -> dict[Key, FloatArray]:
    """Losses of every row by partition, for a learner that shares work between partitions; none where a fit fails."""
    found: dict[Key, FloatArray] = {}
    if not shares_work(estimator) or not hasattr(estimator, "predict_folds"):
        return found
    for k in dict.fromkeys(int(folds.max()) + 1 for folds in partitions.values()):
        own = {key: folds for key, folds in partitions.items() if int(folds.max()) + 1 == k}
        stacked, seeds = np.stack(list(own.values())), np.broadcast_to(states[:k], (len(own), k)).copy()
        losses, _ = attempt(_losses_of_all, estimator, sample, stacked, seeds, loss)
        found |= {} if losses is None else dict(zip(own, losses))
    return found


def _losses_of_all(estimator: Estimator, sample: Sample, folds: UnsignedArray, states: UnsignedArray, loss: Loss) -> FloatArray:
    """Losses of every row by partition; refuses predictions that are not finite."""
    losses = loss(sample.y, evaluate_folds(estimator, sample.X, sample.y, folds, random_states=states, shared="always"))
    if not np.isfinite(losses).all():
        raise ValueError("predictions are NaN or infinite")
    return losses


def _moments(
    estimator: Estimator,
    sample: Sample,
    folds: UnsignedArray,
    states: list[int],
    loss: Loss,
    losses: FloatArray | None,
    predict: FoldPredictor | None,
) -> dict[str, Any]:
    """Moments of one partition, with the error of its models on the held-out rows if there are any; `losses` if known."""
    has_rest = len(sample.y_rest) > 0
    inside = None if losses is None else [losses[folds == fold] for fold in range(len(states))]
    outside: list[FloatArray] = []
    if inside is not None and has_rest and predict is not None:
        outside = [loss(sample.y_rest, predicted) for predicted in predict(folds)]
    elif inside is None or has_rest:
        pairs = list(losses_by_fold(estimator, sample, folds, states, loss))
        inside, outside = [own for own, _ in pairs], [other for _, other in pairs]
    numbers: dict[str, Any] = loss_moments(inside)._asdict()
    if has_rest:
        rows = np.mean(outside, axis=0)  # models share the rows: the spread of their mean loss is that of the rows
        numbers |= {"truth_parts": rows.mean(), "truth_parts_noise": rows.std(ddof=1) / np.sqrt(len(rows))}
    return numbers
