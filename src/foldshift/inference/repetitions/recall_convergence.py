"""Experiments until the recall of every fold and class no longer changes: the reading of Table VII that its numbers speak for.

Moreno-Torres et al. name neither the vector that they correlate nor what of an experiment enters it. The vector `RECALL` has the
share of every class that is found in every fold, 2k numbers for two classes; the other criteria change one thing each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.inference.repetitions.convergence import DECIMALS, THRESHOLDS, crossings, fold_rates, integer_products

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, IntArray, UnsignedArray

RECALL = "recall"
RECALL_CRITERIA = {
    RECALL: "recall of every fold and class, the folds of a run in random order, mean over the runs of an experiment; with two "
    "folds an experiment is its first run",
    "recall, all runs": "the same, but with two folds all runs are averaged as well",
    "recall, one run": "the same, but with any number of folds an experiment is its first run",
    "recall, folds in order": "the same as recall, but the folds of every run in the order they are cut in",
    "recall, runs apart": "the same as recall, but the runs of an experiment stand one after the other",
    "recall and area": "the same as recall, with the AUC of every fold",
    "true and false positives": "the same as recall, but true and false positive rates: the share of the first class that is "
    "missed in place of its recall",
}


def runs_of_experiment(n_folds: int, n_iterations: int) -> int:
    """Count the runs of an experiment that the printed numbers rest on: 2x5 fits print as a single run of two folds."""
    return 1 if n_folds == 2 else n_iterations


def converge_by_recall(
    codes: Array, predictions: Array, folds: UnsignedArray, n_iterations: int, orders: Array, fold_order: IntArray
) -> dict[str, FloatArray]:
    """Experiments until convergence by the criteria of recall, each of shape (n_orders, n_thresholds, 2); NaN if not met.

    Arguments are those of `converge_cell`; `fold_order` (n_runs, n_folds) has the order in which the folds of every run enter the
    vector. Steps are experiments.
    """
    n_runs, n_folds = fold_order.shape
    n_classes = int(max(codes.max(), predictions.max())) + 1
    rates, areas = fold_rates(codes, predictions, folds, n_classes)
    shape = (n_runs // n_iterations, n_iterations, n_folds, -1)
    in_order = rates.reshape(shape)
    shuffled, shuffled_areas = (
        np.take_along_axis(one.reshape(n_runs, n_folds, -1), fold_order[:, :, None], axis=1).reshape(shape)
        for one in (rates, areas)
    )
    first_missed = np.concatenate([10**DECIMALS - shuffled[..., :1], shuffled[..., 1:]], axis=3)
    used = runs_of_experiment(n_folds, n_iterations)
    vectors = {
        RECALL: shuffled[:, :used].sum(axis=1),
        "recall, all runs": shuffled.sum(axis=1),
        "recall, one run": shuffled[:, 0],
        "recall, folds in order": in_order[:, :used].sum(axis=1),
        "recall, runs apart": shuffled[:, :used],
        "recall and area": np.concatenate([shuffled, shuffled_areas], axis=3)[:, :used].sum(axis=1),
        "true and false positives": first_missed[:, :used].sum(axis=1),
    }
    products = {name: integer_products(one.reshape(shape[0], -1)) for name, one in vectors.items()}
    return {name: crossings(products[name], orders, THRESHOLDS) for name in RECALL_CRITERIA}
