"""Samples of populations, and how cross-validated estimates of them stand beside true errors: what several studies measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.datasets.synthetic.populations import draw_population
from foldshift.evaluation.held_out import sample_and_rest, scale_by_sample
from foldshift.inference.fit_losses import Sample, fold_losses, fold_predictor, held_out_loss, squared_error, zero_one_loss
from foldshift.inference.intervals.moments import LossMoments, loss_moments

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, UnsignedArray
    from foldshift.datasets.dataset import Dataset

SCALE_ROWS = 100_000  # of a generated population, for the standard deviation of its target
NUMBERS = (*LossMoments._fields, "truth_parts", "truth_whole")


def target_scale(name: str, data: Dataset | None, rng: np.random.Generator) -> float:
    """What a target is divided by: its standard deviation in the population, so that predicting the mean has an error of 1.

    Parameters
    ----------
    name : str
        Name of the population.
    data : foldshift.datasets.Dataset or None
        None for a generated one.
    rng : numpy.random.Generator
        Draws rows of a generated population.

    Returns
    -------
    scale : float
        In the target's own units; 1 for a constant target.
    """
    y = draw_population(name, SCALE_ROWS, rng).y if data is None else data.y
    return y.std() or 1.0


def draw_sample(
    name: str, data: Dataset | None, scale: float, n_sample: int, most_held_out: int, rng: np.random.Generator
) -> tuple[Dataset, Array, Array]:
    """Draw a sample, and rows held out; a generated population is drawn anew.

    Parameters
    ----------
    name, data
        As in `target_scale`.
    scale : float
        From `target_scale`; not used for classes.
    n_sample, most_held_out : int
        Rows of the sample, and rows held out at most.
    rng : numpy.random.Generator

    Returns
    -------
    population : foldshift.datasets.Dataset
        Numeric inputs scaled to [0, 1] over the sample, the target divided by `scale`.
    sample, rest : ndarray of int
        Rows of the population, without a common one.
    """
    if data is None:
        data = draw_population(name, n_sample + most_held_out, rng)
    sample, rest = sample_and_rest(len(data.y), n_sample, most_held_out, rng)
    y = data.y if data.task == "classification" else data.y / scale
    return replace(data, X=scale_by_sample(data.X, sample, data.categorical_features), y=y, scaling="global"), sample, rest


def measure_folds(
    estimator: Estimator,
    X: Array,
    y: Array,
    sample: Array,
    rest: Array,
    folds: dict[Any, UnsignedArray],
    rng: np.random.Generator,
) -> dict[Any, dict[str, Any]]:
    """Moments of cross-validated losses, and the true errors that they estimate.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not changed.
    X, y : ndarray of shape (n_rows, n_columns), (n_rows,)
        The population; integer targets are classes, with 0/1 loss, others have squared error.
    sample, rest : ndarray of int
        Rows that are cross-validated, rows held out.
    folds : dict of object to ndarray of shape (n_sample,), unsigned integer
        Folds of the sample, by any key.
    rng : numpy.random.Generator
        Of the fits: fold i has the same state in all of `folds`.

    Returns
    -------
    found : dict of object to dict
        By key `NUMBERS` and ``message``. ``truth_parts``: mean error on the rows held out of the models of the folds;
        ``truth_whole``: that of the model trained on the whole sample. NaN, and what the learner raised, where a fit failed.
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
    """Call what trains a learner, which may raise anything.

    Parameters
    ----------
    function : callable
    *args
        Its arguments.

    Returns
    -------
    result : object or None
        None where it raised.
    message : str
        What it raised; empty where it did not.
    """
    try:
        return function(*args), ""
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # whatever else a learner raises costs no more than this number
        return None, f"{type(error).__name__}: {' '.join(str(error).split())}"
