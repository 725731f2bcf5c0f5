"""Cross-validate samples of one population with every partitioner, and measure the true errors that intervals may cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.core.seeding import seed_sequence
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.storage.score_files import TEXT
from foldshift.partition.registry import find_partitioner, make_folds, options_of
from foldshift.studies.common.measure_samples import Population, SampleMeasure, SharedSettings, measure_samples
from foldshift.studies.common.samples import NUMBERS, measure_folds

if TYPE_CHECKING:
    import numpy as np

    from foldshift.core.types import Estimator, FloatArray, Inputs, IntArray, Rows, Task, UnsignedArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.studies.common.measure_samples import Names, Sample

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

    def labels(cuts: list[str]) -> Rows:
        return [{"partitioner": one} for one in cuts]

    def cut(population: Dataset, rows: IntArray, cuts: list[str], replicate: int, names: Names) -> dict[str, UnsignedArray]:
        seeds = {one: seed_sequence(master_seed, "audit", population.name, "folds", one, n_folds, replicate) for one in cuts}
        return cut_sample(population, rows, n_folds, seeds)

    def measure(estimator: Estimator, X: FloatArray, sample: Sample, rng: np.random.Generator) -> Rows:
        return list(measure_folds(estimator, X, sample.population.y, sample.rows, sample.rest, sample.partitions, rng).values())

    samples = Population(name, data, n_sample, range(n_replicates), (master_seed, "audit", name), MOST_HELD_OUT)
    work = SampleMeasure("audit", SCHEMAS["audit"], labels, cut, measure)
    return {"audit": measure_samples(samples, work, SharedSettings(partitioners, learners, master_seed, limits), suits)}


def suits(partitioner: str, task: Task) -> bool:
    """True if a partitioner is made for a task."""
    try:
        return task in find_partitioner(partitioner).tasks
    except ValueError as error:
        raise DataError(f"audit.partitioners: {error}") from None


def cut_sample(
    data: Dataset, sample: IntArray, n_folds: int, seeds: dict[str, np.random.SeedSequence]
) -> dict[str, UnsignedArray]:
    """Cut a sample by every partitioner that has a seed."""
    folds = {}
    for name, seed in seeds.items():
        options = options_of(name, categorical_features=data.categorical_features, task=data.task)
        try:
            folds[name] = make_folds(name, data.X[sample], data.y[sample], n_folds, [seed], **options)[0]
        except ValueError as error:
            raise DataError(f"population {data.name}, partitioner {name}, k={n_folds}: {error}") from error
    return folds
