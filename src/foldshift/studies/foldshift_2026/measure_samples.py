"""Work through samples of one population and size, learner by learner; both measures of the study share it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

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
from foldshift.studies.foldshift_2026.partitioners import fits

if TYPE_CHECKING:
    import pyarrow as pa

    from foldshift.core.types import Estimator, FloatArray, Inputs, IntArray, Rows
    from foldshift.datasets.dataset import Dataset

    Names = tuple[int, str, str, int]  # of all randomness: master seed, measure, population, rows of a sample

MOST_HELD_OUT = 4000  # rows that represent the population


class SharedSettings(NamedTuple):
    """Settings that both measures have.

    `learners` are entries by name; `limits` holds ``minutes`` and ``memory_mb`` of a learner on a sample.
    """

    cuts: Sequence[str]
    learners: dict[str, dict[str, Any]]
    master_seed: int
    limits: dict[str, float | None]


class Sample(NamedTuple):
    """A sample of a population, the rows held out, and partitions of the sample as the measure made them."""

    population: Dataset
    rows: IntArray
    rest: IntArray
    partitions: Any


class SampleMeasure(NamedTuple):
    """A measure of the study."""

    name: str  # one of the names that randomness is derived from
    schema: pa.Schema  # columns of its rows
    labels: Callable[[list[str]], Rows]  # ``labels(cuts)``: keys of the rows of one learner and sample
    # ``cut(population, rows, cuts, replicate, names)``: partitions of a sample
    cut: Callable[[Dataset, IntArray, list[str], int, Names], Any]
    # ``measure(estimator, X, sample, rng)``: for each of `labels`, in their order, a dictionary of numbers and ``message``, empty
    # where nothing failed
    measure: Callable[[Estimator, FloatArray, Sample, np.random.Generator], Rows]


def measure_samples(inputs: Inputs, cell: dict[str, str], work: SampleMeasure, settings: SharedSettings) -> Rows:
    """Cut every sample of a block, and measure every learner on it; a learner that fails or is lost has rows that say so.

    A data set with fewer than twice the rows of a sample has no rows.
    """
    name, n_sample = cell["population"], int(cell["n_sample"])
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        logging.warning("%s: %d rows are too few for samples of %d; left out", name, len(data.y), n_sample)
        return []
    names = (settings.master_seed, work.name, name, n_sample)
    task = data.task if data is not None else draw_population(name, 2, generator(*names)).task
    scale = target_scale(name, data, generator(*names, "scale")) if task == "regression" else 1.0
    fitting = {learner: spec for learner, spec in settings.learners.items() if task in spec["tasks"]}
    cuts = [one for one in settings.cuts if fits(one, task)]
    labels = work.labels(cuts)
    start, n_replicates = block_range(cell["block"])

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate: int) -> Sample:
        rng = generator(*names, "rows", replicate)
        population, rows, rest = draw_sample(name, data, scale, n_sample, MOST_HELD_OUT, rng)
        return Sample(population, rows, rest, work.cut(population, rows, cuts, replicate, names))

    def result_of(cell: tuple[str, int]) -> Rows:
        learner, replicate = cell
        sample = drawn(replicate)
        try:
            estimator = build_learner(fitting[learner], categorical_features=sample.population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(sample.population, fitting[learner]["nominal"])
        return work.measure(estimator, X, sample, generator(*names, "fits", learner, replicate))

    rows: Rows = []
    cells = [(learner, replicate) for replicate in range(start, start + n_replicates) for learner in fitting if labels]
    for (learner, replicate), result in run_cells(result_of, cells, **settings.limits):
        common = {"population": name, "task": task, "learner": learner, "n_sample": n_sample, "replicate": replicate}
        lost = isinstance(result, Lost)
        if lost:
            logging.warning("%s, replicate %d: %s: %s", learner, replicate, result.status, result.message)
        for i, label in enumerate(labels):
            numbers = {"message": result.message} if lost else result[i]
            status = result.status if lost else FAILED if numbers["message"] else OK
            rows.append(common | label | numbers | {"status": status})
    logging.info("%s, n=%d: %d rows, %d with a failed fit", name, n_sample, len(rows), sum(row["status"] != OK for row in rows))
    return [{column: [row.get(column, np.nan) for row in rows] for column in work.schema.names}]
