"""Samples of populations, and their cross-validated estimates beside true errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from foldshift.core.user_code.answers import one_line
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.evaluation.held_out import sample_and_rest, scale_by_sample
from foldshift.inference.fit_losses import Sample, fold_losses, fold_predictor, held_out_loss, squared_error, zero_one_loss
from foldshift.inference.intervals.moments import LossMoments, loss_moments

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, UnsignedArray
    from foldshift.datasets.dataset import Dataset

SCALE_ROWS = 100_000  # of a generated population, for the standard deviation of its target
Key = TypeVar("Key")
NUMBERS = (*LossMoments._fields, "truth_parts", "truth_whole")


def target_scale(name: str, data: Dataset | None, rng: np.random.Generator) -> float:
    """Return the standard deviation of a target in the population; divided by it, predicting the mean has an error of 1.

    A generated population (`data` is None) is drawn by `rng`; a constant target has 1.
    """
    y = draw_population(name, SCALE_ROWS, rng).y if data is None else data.y
    return y.std() or 1.0


def draw_sample(
    name: str, data: Dataset | None, scale: float, n_sample: int, most_held_out: int, rng: np.random.Generator
) -> tuple[Dataset, IntArray, IntArray]:
    """Draw the rows of a sample and rows held out, from a population that is drawn as well if it is generated (`data` is None).

    In the population that is returned, numeric inputs are scaled to [0, 1] over the sample, and a continuous target is divided by
    `scale`.
    """
    if data is None:
        data = draw_population(name, n_sample + most_held_out, rng)
    sample, rest = sample_and_rest(len(data.y), n_sample, most_held_out, rng)
    y = data.y if data.task == "classification" else data.y / scale
    return replace(data, X=scale_by_sample(data.X, sample, data.categorical_features), y=y, scaling="global"), sample, rest


def measure_folds(
    estimator: Estimator,
    X: FloatArray,
    y: Array,
    sample: IntArray,
    rest: IntArray,
    folds: dict[Key, UnsignedArray],
    rng: np.random.Generator,
) -> dict[Key, dict[str, Any]]:
    """Compute the moments of cross-validated losses, and the true errors that they estimate, for every key of `folds`.

    Integer targets are classes, with 0/1 loss; others have squared error. `folds` holds arrays of shape (n_sample,); fold i has
    the same random state in all of them. ``truth_parts`` is the mean error on `rest` of the models of the folds, ``truth_whole``
    that of the model trained on the whole sample. If a fit failed, numbers are NaN and ``message`` is what the learner raised.
    """
    loss = zero_one_loss if y.dtype.kind == "i" else squared_error
    drawn = Sample(np.ascontiguousarray(X[sample]), y[sample], X[rest], y[rest])
    n_folds = {key: int(row.max()) + 1 for key, row in folds.items()}
    *states, whole_state = (rng.random(max(n_folds.values()) + 1) * 2**32).astype(np.uint32).tolist()
    whole, whole_message = attempt(held_out_loss, estimator, drawn, whole_state, loss)
    predict, _ = attempt(fold_predictor, estimator, drawn)
    found = {}
    for key, row in folds.items():
        result, message = attempt(fold_losses, estimator, drawn, row, states[: n_folds[key]], loss, predict)
        numbers = dict.fromkeys(NUMBERS, np.nan)
        if result is not None:
            numbers |= loss_moments(result[0])._asdict() | {"truth_parts": result[1]}
        found[key] = numbers | {"truth_whole": np.nan if whole is None else whole, "message": message or whole_message}
    return found


def attempt(function: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """Call a function that trains a learner, which may raise anything; return None and the error as text if it raises."""
    try:
        return function(*args), ""
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # any other error of a learner costs no more than this number
        return None, one_line(error)
