"""Work through samples of one population and size, learner by learner, for the measures of several studies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.tasks import FAILED, OK
from foldshift.studies.common.samples import draw_sample, target_scale

if TYPE_CHECKING:
    import pyarrow as pa

    from foldshift.core.types import Estimator, FloatArray, IntArray, Rows, Task
    from foldshift.datasets.dataset import Dataset

    Names = tuple[Any, ...]  # of all randomness: master seed, measure, population, and what else tells cells apart


class Population(NamedTuple):
    """A population, and the samples of it that a job draws; `data` is None where it is generated."""

    name: str
    data: Dataset | None
    n_sample: int
    replicates: range
    names: Names
    most_held_out: int  # rows that represent the population


class SharedSettings(NamedTuple):
    """Settings that all measures on samples have.

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
    """A measure on samples."""

    name: str  # one of the names that randomness is derived from
    schema: pa.Schema  # columns of its rows
    labels: Callable[[list[str]], Rows]  # ``labels(cuts)``: keys of the rows of one learner and sample
    # ``cut(population, rows, cuts, replicate, names)``: partitions of a sample
    cut: Callable[[Dataset, IntArray, list[str], int, Names], Any]
    # ``measure(estimator, X, sample, rng)``: for each of `labels`, in their order, a dictionary of numbers and ``message``, empty
    # where nothing failed
    measure: Callable[[Estimator, FloatArray, Sample, np.random.Generator], Rows]


def measure_samples(of: Population, work: SampleMeasure, settings: SharedSettings, fits: Callable[[str, Task], bool]) -> Rows:
    """Cut every sample, and measure every learner on it; a learner that fails or is lost has rows that say so.

    ``fits(cut, task)`` says whether a cut is made for a task.
    """
    name, data, n_sample, replicates, names, most_held_out = of
    task = data.task if data is not None else draw_population(name, 2, generator(*names)).task
    scale = target_scale(name, data, generator(*names, "scale")) if task == "regression" else 1.0
    fitting = {learner: spec for learner, spec in settings.learners.items() if task in spec["tasks"]}
    cuts = [one for one in settings.cuts if fits(one, task)]
    labels = work.labels(cuts)
    if not fitting or not labels:
        logging.warning("%s: no learner or no cut is one of %s; there is nothing to measure", name, task)

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate: int) -> Sample:
        rng = generator(*names, "rows", replicate)
        population, rows, rest = draw_sample(name, data, scale, n_sample, most_held_out, rng)
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
    cells = [(learner, replicate) for replicate in replicates for learner in fitting if labels]
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
