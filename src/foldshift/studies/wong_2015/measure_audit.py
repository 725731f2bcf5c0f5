"""Cross-validate samples of one population with every partitioner, and measure the true errors that intervals may cover."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator, seed_sequence
from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.tasks import FAILED, OK
from foldshift.partition.registry import find_partitioner, make_folds, options_of
from foldshift.studies.common.samples import NUMBERS, draw_sample, measure_folds, target_scale

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, IntArray, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset

MOST_HELD_OUT = 5000  # rows: with samples of 200, a tenth in the variance of estimate less truth at most
SCHEMAS = {
    "audit": pa.schema(
        [
            ("population", TEXT),
            ("task", TEXT),
            ("learner", TEXT),
            ("partitioner", TEXT),
            ("replicate", pa.int32()),
            *[(name, pa.float64()) for name in NUMBERS],
            ("status", TEXT),
            ("message", TEXT),
        ]
    )
}


def audit_coverage(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    n_sample: int,
    n_folds: int,
    n_replicates: int,
    partitioners: Sequence[str],
    learners: dict[str, dict[str, Any]],
    master_seed: int,
    limits: dict[str, float | None],
) -> dict[str, Rows]:
    """Measure moments of the losses and the true errors of every learner, partitioner and sample of a population.

    `limits` holds ``minutes`` and ``memory_mb`` of a learner on a sample; numbers of a learner that fails or is lost are NaN.
    """
    name, data = cell["population"], read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        raise DataError(
            f"population {name}: {len(data.y)} rows are too few for samples of {n_sample}, at least twice as many are needed; "
            "lower audit.n_sample or take the data set out of audit.populations"
        )
    task = data.task if data is not None else draw_population(name, 2, generator(master_seed, "audit", name)).task
    scale = target_scale(name, data, generator(master_seed, "audit", name, "scale")) if task == "regression" else 1.0
    fitting = {learner: spec for learner, spec in learners.items() if task in spec["tasks"]}
    partitioners = [one for one in partitioners if suits(one, task)]
    if not fitting or not partitioners:
        logging.warning("%s: no learner or no partitioner of the audit is one of %s; there is nothing to measure", name, task)

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate: int) -> tuple[Dataset, IntArray, IntArray, dict[str, UnsignedArray]]:
        rng = generator(master_seed, "audit", name, "rows", replicate)
        population, sample, rest = draw_sample(name, data, scale, n_sample, MOST_HELD_OUT, rng)
        return population, sample, rest, cut(population, sample, replicate, partitioners, n_folds, master_seed)

    def cell_result(cell: tuple[str, int]) -> dict[str, dict[str, Any]]:
        learner, replicate = cell
        population, sample, rest, folds = drawn(replicate)
        try:
            estimator = build_learner(fitting[learner], categorical_features=population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        rng = generator(master_seed, "audit", name, "fits", learner, replicate)
        return measure_folds(
            estimator, design_matrix(population, fitting[learner]["nominal"]), population.y, sample, rest, folds, rng
        )

    rows = []
    cells = [(learner, replicate) for replicate in range(n_replicates) for learner in fitting if partitioners]
    for (learner, replicate), result in run_cells(cell_result, cells, **limits):
        lost = isinstance(result, Lost)
        if lost:
            logging.warning("%s, replicate %d: %s: %s", learner, replicate, result.status, result.message)
        for partitioner in partitioners:
            numbers = {"message": result.message} if lost else result[partitioner]
            status = result.status if lost else FAILED if numbers["message"] else OK
            keys = {"population": name, "task": task, "learner": learner, "partitioner": partitioner, "replicate": replicate}
            rows.append(keys | numbers | {"status": status})
    logging.info("%s: %d rows, %d with a failed fit", name, len(rows), sum(row["status"] != OK for row in rows))
    return {"audit": [{column: [row.get(column, np.nan) for row in rows] for column in SCHEMAS["audit"].names}]}


def suits(partitioner: str, task: str) -> bool:
    """True if a partitioner is made for a task."""
    try:
        return task in find_partitioner(partitioner).tasks
    except ValueError as error:
        raise DataError(f"audit.partitioners: {error}") from None


def cut(
    data: Dataset, sample: IntArray, replicate: int, partitioners: Sequence[str], n_folds: int, master_seed: int
) -> dict[str, UnsignedArray]:
    """Cut a sample by every partitioner."""
    folds = {}
    for name in partitioners:
        options = options_of(name, categorical_features=data.categorical_features, task=data.task)
        sequence = seed_sequence(master_seed, "audit", data.name, "folds", name, n_folds, replicate)
        try:
            folds[name] = make_folds(name, data.X[sample], data.y[sample], n_folds, [sequence], **options)[0]
        except ValueError as error:
            raise DataError(f"population {data.name}, partitioner {name}, k={n_folds}: {error}") from error
    return folds
