"""Measure the experiments until every estimate on a data set is stable, by every criterion and in several random orders."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.layout.file_names import held_scores, in_order, runs_wanted
from foldshift.engine.storage.fold_files import join_folds
from foldshift.engine.storage.prediction_files import read_predictions
from foldshift.engine.storage.score_files import TEXT, read_columns
from foldshift.inference.repetitions.convergence import CRITERIA, EXPECTED, RULES, THRESHOLDS, CellConvergence, converge_cell
from foldshift.inference.repetitions.recall_convergence import RECALL_CRITERIA, converge_by_recall

if TYPE_CHECKING:
    from pathlib import Path

    from foldshift.core.types import Array, Inputs, Rows, UnsignedArray

    Key = tuple[str, str, int]  # learner, partitioner and number of folds k

ALL_CRITERIA = (*CRITERIA, *RECALL_CRITERIA)
CELL = [("dataset", TEXT), ("learner", TEXT), ("partitioner", TEXT), ("k", pa.int32())]
SCHEMAS = {
    "convergence": pa.schema(
        [
            *CELL,
            ("criterion", TEXT),
            ("threshold", pa.float64()),
            ("rule", TEXT),
            ("order", pa.int32()),
            # Until the criterion is met; all that there are if it is not (``cut_off``), NaN if a fit failed.
            ("experiments", pa.float64()),
            ("cut_off", pa.bool_()),
            ("n_experiments", pa.int32()),
        ]
    ),
    "convergence_curves": pa.schema([*CELL, ("experiments", pa.int32()), ("correlation", pa.float64())]),
}
POINTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)  # experiments at which curves are kept


def complete_cells(
    paths: list[Path], wanted: dict[str, dict[str, Any]], folds: dict[tuple[str, int], UnsignedArray]
) -> Iterator[tuple[Key, UnsignedArray]]:
    """Yield the wanted predictions of every learner, partitioner and k in the order of their seeds, once all runs are read."""
    waiting: dict[Key, list[UnsignedArray]] = {}
    for path in in_order(paths):
        read = read_predictions(path)
        for key, n_wanted in runs_wanted(held_scores(path), wanted).items():
            blocks = waiting.setdefault(key, [])
            blocks.append(read[key][:n_wanted])
            n_runs = len(folds.get(key[1:], ()))
            if sum(map(len, blocks)) >= n_runs:
                predictions = np.concatenate(waiting.pop(key))
                if len(predictions) != n_runs:
                    raise DataError(_mismatch(key, len(predictions), n_runs))
                yield key, predictions
    for key, blocks in waiting.items():
        raise DataError(_mismatch(key, sum(map(len, blocks)), len(folds[key[1:]])))


def _mismatch(key: Key, n_predictions: int, n_folds: int) -> str:
    learner, partitioner, k = key
    runs = f"{n_predictions} runs, but folds of {n_folds}"
    return f"predictions of {learner}, {partitioner}, k={k}: {runs}; delete the predictions and run again"


def failed_cells(path: Path) -> set[Key]:
    """Read from the rows of seeds the cells with a failed fit."""
    columns = read_columns(path, ("learner", "partitioner", "k", "n_failed"))
    lost = columns["n_failed"] > 0
    return set(zip(*(columns[name][lost].tolist() for name in ("learner", "partitioner", "k"))))


def unknown(n_orders: int, n_runs: int) -> CellConvergence:
    """Return the result of a cell with a failed fit, all NaN: missing predictions do not show how predictions settle."""
    experiments = dict.fromkeys(ALL_CRITERIA, np.full((n_orders, len(THRESHOLDS), len(RULES)), np.nan))
    return CellConvergence(experiments, np.full(len(THRESHOLDS), np.nan), np.full((n_orders, n_runs - 1), np.nan))


def cell_rows(found: CellConvergence, n_experiments: int, *, failed: bool = False) -> dict[str, Array]:
    """Make the columns of all criteria of a cell; where one is not met, it gets the number of experiments, a failed cell NaN."""
    n_orders = len(found.correlations)
    values = np.stack([found.experiments[name] for name in ALL_CRITERIA])  # criterion, order, threshold, rule
    criterion, order, threshold, rule = (index.ravel() for index in np.indices(values.shape))
    cut_off = np.isnan(values).ravel() & (not failed)
    n_expected = len(THRESHOLDS)
    return {
        "criterion": np.append(np.array(ALL_CRITERIA, dtype=object)[criterion], [EXPECTED] * n_expected),
        "threshold": np.append(np.array(THRESHOLDS)[threshold], THRESHOLDS),
        "rule": np.append(np.array(RULES, dtype=object)[rule], [RULES[0]] * n_expected),
        "order": np.append(order, [0] * n_expected),
        "experiments": np.append(np.where(cut_off, n_experiments, values.ravel()), found.expected),
        "cut_off": np.append(cut_off, [False] * n_expected),
        "n_experiments": np.full(n_orders * len(ALL_CRITERIA) * len(THRESHOLDS) * len(RULES) + n_expected, n_experiments),
    }


def with_keys(columns: dict[str, Array], keys: dict[str, Any]) -> dict[str, Array]:
    """Put columns that are the same in all rows before the others."""
    n = len(columns["experiments"])
    return {name: np.full(n, value, dtype=object if isinstance(value, str) else None) for name, value in keys.items()} | columns


def measure_convergence(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    wanted: dict[str, dict[str, Any]],
    iterations: dict[int, int],
    n_orders: int,
    master_seed: int,
) -> dict[str, Rows]:
    """Measure the experiments until every estimate on a data set is stable, and the curves of the primary criterion.

    `iterations` maps k to the partitions of an experiment; `n_orders` is the number of random orders of the experiments.
    """
    data = read_prepared(inputs.data)
    folds, _ = join_folds(inputs.folds, wanted)
    failed = failed_cells(inputs.scores)
    # The folds of a cut come in one random order, the same for all learners; more runs go on where fewer end.
    fold_orders = {
        (name, k): np.argsort(
            generator(master_seed, "order of folds", data.name, name, k).random((len(cut), int(cut.max()) + 1)), axis=1
        )
        for (name, k), cut in folds.items()
    }
    rows, curves = {}, {}
    for (learner, partitioner, k), predictions in complete_cells(inputs.predictions, wanted, folds):
        n_iterations = iterations[k]
        n_experiments = len(predictions) // n_iterations
        rng = generator(master_seed, "orders", data.name, learner, partitioner, k)
        orders = np.argsort(rng.random((n_orders, n_experiments)), axis=1)
        lost = (learner, partitioner, k) in failed
        if lost:
            found = unknown(len(orders), len(predictions))
        else:
            found = converge_cell(data.y, predictions, folds[partitioner, k], n_iterations, orders)
            by_recall = converge_by_recall(
                data.y, predictions, folds[partitioner, k], n_iterations, orders, fold_orders[partitioner, k]
            )
            found = found._replace(experiments=found.experiments | by_recall)
        keys = {"dataset": data.name, "learner": learner, "partitioner": partitioner, "k": k}
        rows[learner, partitioner, k] = with_keys(cell_rows(found, n_experiments, failed=lost), keys)
        points = [n for n in sorted({*POINTS, n_experiments}) if n <= n_experiments and n * n_iterations >= 2]
        ends = np.array(points, dtype=np.int64) * n_iterations - 2
        curve = {"experiments": np.array(points, dtype=np.int64), "correlation": found.correlations[:, ends].mean(axis=0)}
        curves[learner, partitioner, k] = with_keys(curve, keys)
        cut_off = rows[learner, partitioner, k]["cut_off"]
        status = "left out: a fit failed" if lost else f"{int(cut_off.sum())} of {len(cut_off)} rows cut off"
        logging.info("%s, %s, k=%d: %d experiments, %s", learner, partitioner, k, n_experiments, status)
    # In the order of the configuration, not in that of the files of predictions.
    cells = [(learner, *cut) for learner in wanted["learners"].values() for cut in folds]
    return {"convergence": [rows[one] for one in cells], "convergence_curves": [curves[one] for one in cells]}
