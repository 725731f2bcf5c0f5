"""Compare cross-validated estimates of a sample with the true performance on rows outside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.estimators import clone_with_state, title
from foldshift.core.user_code.answers import as_answer, as_codes
from foldshift.evaluation.class_scores import classification_scores
from foldshift.evaluation.cross_validate import evaluate_folds
from foldshift.partition.methods.scv import scv_folds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, UnsignedArray


class SampledPopulation(NamedTuple):
    """A population as a learner sees it, and the rows drawn from it."""

    X: FloatArray  # shape (n_rows, n_columns)
    y: IntArray  # class codes ``0, 1, ...``; shape (n_rows,)
    sample_rows: Array  # sample_rows, rest_rows: Rows of the sample, and held-out rows
    rest_rows: Array


class Replicate(NamedTuple):
    """Crisp AUC of one learner on one sample: estimates, and the truths that they can be compared with."""

    estimates: dict[tuple[str, int], float]  # by partitioner and k: mean over folds and runs, as in the paper
    # by k: on the held-out rows after training on a part, mean over the parts. This is what k folds estimate
    truth_part: dict[int, float]
    truth_whole: float  # the same after training on the whole sample, the number that a user needs


def sample_and_rest(n_rows: int, n_sample: int, most_rest: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw a simple random sample, and a simple random part (at most `most_rest`) of the rows left."""
    order = rng.permutation(n_rows)
    return order[:n_sample], order[n_sample : n_sample + most_rest]


def scale_by_sample(X: FloatArray, sample_rows: Array, categorical_features: ArrayLike) -> FloatArray:
    """Scale numeric columns to [0, 1] over the sample; held-out rows may lie outside, constant columns are only shifted."""
    scaled = np.array(X, dtype=np.float64, order="C")
    numeric = ~np.asarray(categorical_features, dtype=bool)
    low, high = scaled[np.ix_(sample_rows, numeric)].min(axis=0), scaled[np.ix_(sample_rows, numeric)].max(axis=0)
    scaled[:, numeric] = (scaled[:, numeric] - low) / np.where(high > low, high - low, 1)
    return scaled


def training_parts(y: Array, n_folds: int, n_parts: int, rng: np.random.Generator) -> list[Array]:
    """Draw random stratified parts of a sample, of the size that k-fold cross-validation trains on.

    Each `n_folds` of them leave out the folds of one SCV partition, beginning with a random one. A part holds positions in the
    sample in the order of KEEL's training files: fold after fold, inside a fold class after class.
    """
    folds = scv_folds(None, y, n_folds, [rng] * -(-n_parts // n_folds))
    first = np.floor(n_folds * rng.random(len(folds))).astype(np.int64)
    parts = []
    for i in range(n_parts):
        partition, turn = divmod(i, n_folds)
        order = np.lexsort((y, folds[partition]))
        parts.append(order[folds[partition][order] != (first[partition] + turn) % n_folds])
    return parts


def held_out_auc(
    estimator: Estimator, X: Array, y: IntArray, train_rows: Array, rest_rows: Array, random_state: int | None = None
) -> float:
    """Compute the crisp AUC on all held-out rows after training on some rows of the sample; NaN if the fit fails."""
    try:
        rows, name = X[rest_rows], title(estimator)
        answer = clone_with_state(estimator, random_state).fit(X[train_rows], y[train_rows]).predict(rows)
        predicted = as_codes(as_answer(answer, rows, name), int(y.max()) + 1, name)
    except MemoryError:
        raise
    except (Exception, SystemExit):  # any other error of a learner costs no more than this number
        return np.nan
    return _crisp_aucs(y[rest_rows], predicted[None], np.zeros((1, len(rest_rows)), dtype=np.uint8), 1)[0, 0]


def heldout_replicate(
    estimator: Estimator,
    population: SampledPopulation,
    partitions: dict[tuple[str, int], UnsignedArray],
    parts: dict[int, list[Array]],
    rng: np.random.Generator,
) -> Replicate:
    """Estimate the AUC of one learner on one sample by cross-validation, and measure it on the held-out rows.

    `partitions` holds folds of the sample, a row per run, by partitioner and k; `parts` what `training_parts` makes, by k. A
    classifier whose ``tie_order`` is ``fold`` gets the rows of a part in that order, any other in the order of the sample.

    A number is NaN if one of its fits fails. A random stratified cut makes training and test parts that are draws of the same
    kind as a training part and the held-out rows, so that SCV has no bias against `truth_part`: a check of the measurement, not a
    result.
    """
    X, y, sample_rows, rest_rows = population
    X_sample, y_sample = np.ascontiguousarray(X[sample_rows]), y[sample_rows]
    estimates: dict[tuple[str, int], float] = {}
    for (name, k), folds in partitions.items():
        try:
            predicted = evaluate_folds(
                estimator, X_sample, y_sample, folds, random_states=_states(rng, (len(folds), k)), shared="always"
            )
            areas = _crisp_aucs(y_sample, predicted, folds, k)
            areas = areas[~np.isnan(areas)]  # a test part with one class has none
            estimates[name, k] = float(areas.mean()) if len(areas) else np.nan
        except MemoryError:
            raise
        except (Exception, SystemExit):  # as in held_out_auc
            estimates[name, k] = np.nan
    by_fold = getattr(estimator, "tie_order", None) == "fold"
    truth_part = {}
    for k, positions in parts.items():
        trains = [sample_rows[part if by_fold else np.sort(part)] for part in positions]
        states = _states(rng, len(trains))
        aucs = [held_out_auc(estimator, X, y, train, rest_rows, state) for train, state in zip(trains, states)]
        truth_part[k] = float(np.mean(aucs))
    truth_whole = float(held_out_auc(estimator, X, y, sample_rows, rest_rows, _states(rng, 1)[0]))
    return Replicate(estimates, truth_part, truth_whole)


def _states(rng: np.random.Generator, shape: int | tuple[int, int]) -> UnsignedArray:
    return (rng.random(shape) * 2**32).astype(np.uint32)


def _crisp_aucs(codes: IntArray, predictions: IntArray, folds: UnsignedArray, n_folds: int) -> FloatArray:
    return classification_scores(codes, predictions, None, folds, n_folds)["auc_corrected"]
