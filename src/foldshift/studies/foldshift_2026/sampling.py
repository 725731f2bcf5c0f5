"""Samples of one population and size, worked through learner by learner: what both measures of the study share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator
from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.tasks import FAILED, OK
from foldshift.studies.common.samples import draw_sample, target_scale
from foldshift.studies.foldshift_2026.partitioners import cut_sample, fits

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from foldshift.core.types import Inputs, Rows, UnsignedArray

MOST_HELD_OUT = 4000  # rows that stand for the population


def measure_samples(
    inputs: Inputs,
    cell: dict[str, str],
    schema: pa.Schema,
    *,
    word: str,
    cuts: Sequence[str],
    learners: dict[str, dict[str, Any]],
    keys: Callable[..., Any],
    cut: Callable[..., Any],
    measure: Callable[..., Any],
    master_seed: int,
    limits: dict[str, None],
) -> Rows:
    """Cut every sample of a block, and measure every learner on it; a learner that fails or is lost has rows that say so."""
    name, n_sample = cell["population"], int(cell["n_sample"])
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        logging.warning("%s: %d rows are too few for samples of %d; left out", name, len(data.y), n_sample)
        return []
    names = (master_seed, word, name, n_sample)
    task = data.task if data is not None else draw_population(name, 2, generator(*names)).task
    scale = target_scale(name, data, generator(*names, "scale")) if task == "regression" else 1.0
    fitting = {learner: spec for learner, spec in learners.items() if task in spec["tasks"]}
    used = [one for one in cuts if fits(one, task)]
    labels = keys(used)
    start, n_replicates = block_range(cell["block"])

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate: Any) -> tuple[Any, Any, Any, Any]:
        population, sample, rest = draw_sample(name, data, scale, n_sample, MOST_HELD_OUT, generator(*names, "rows", replicate))
        return population, sample, rest, cut(population, sample, used, replicate, names)

    def result_of(cell: dict[str, Any]) -> Any:
        learner, replicate = cell
        population, sample, rest, partitions = drawn(replicate)
        try:
            estimator = build_learner(fitting[learner], categorical_features=population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(population, fitting[learner]["nominal"])
        rng = generator(*names, "fits", learner, replicate)
        return measure(estimator, X, population, sample, rest, partitions, rng)

    rows = []
    cells = [(learner, replicate) for replicate in range(start, start + n_replicates) for learner in fitting if labels]
    for (learner, replicate), result in run_cells(result_of, cells, **limits):
        common = {"population": name, "task": task, "learner": learner, "n_sample": n_sample, "replicate": replicate}
        lost = isinstance(result, Lost)
        if lost:
            logging.warning("%s, replicate %d: %s: %s", learner, replicate, result.status, result.message)
        for i, label in enumerate(labels):
            numbers = {"message": result.message} if lost else result[i]
            status = result.status if lost else FAILED if numbers["message"] else OK
            rows.append(common | label | numbers | {"status": status})
    logging.info("%s, n=%d: %d rows, %d with a failed fit", name, n_sample, len(rows), sum(row["status"] != OK for row in rows))
    return [{column: [row.get(column, np.nan) for row in rows] for column in schema.names}]


def cut_rows(data: Any, rows: pd.DataFrame, cut: Any, n_folds: int, seeds: list[np.random.SeedSequence]) -> UnsignedArray:
    """Partitions of some rows of a population, one for each seed: ndarray of shape (n_seeds, n_rows); an error names them."""
    try:
        return cut_sample(cut, data.X[rows], data.y[rows], n_folds, seeds, data.task, data.categorical_features)
    except ValueError as error:
        raise DataError(f"population {data.name}, cut {cut}, k={n_folds}: {error}") from error
