"""Cross-validate samples of one population and size with every cut and learner, and measure the true errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from foldshift.core.seeding import seed_sequence
from foldshift.engine.storage.score_files import TEXT
from foldshift.studies.common.samples import NUMBERS, measure_folds
from foldshift.studies.foldshift_2026.measure_samples import SampleMeasure, SharedSettings, measure_samples
from foldshift.studies.foldshift_2026.partitioners import cut_sample

if TYPE_CHECKING:
    import numpy as np

    from foldshift.core.types import Estimator, FloatArray, Inputs, IntArray, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.studies.foldshift_2026.measure_samples import Names, Sample

KEYS = ("population", "task", "learner", "cut", "n_sample", "k", "replicate", "repetition")
SCHEMAS = {
    "estimates": pa.schema(
        [
            *[(name, TEXT) for name in KEYS[:4]],
            *[(name, pa.int32()) for name in KEYS[4:]],
            *[(name, pa.float64()) for name in NUMBERS],
            ("status", TEXT),
            ("message", TEXT),
        ]
    )
}


def cross_validate(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    folds: Sequence[int],
    n_repetitions: int,
    cuts: Sequence[str],
    learners: dict[str, dict[str, Any]],
    master_seed: int,
    limits: dict[str, float | None],
) -> dict[str, Rows]:
    """Measure the moments of the losses, and two true errors, of every learner, cut, k, sample and repetition.

    ``truth_parts`` is the mean error outside the sample of the models of this cross-validation, ``truth_whole`` that of the model
    trained on the whole sample. Errors are 0/1 for classes, and for numbers the squared error as a share of the variance of the
    target; NaN where a fit failed.
    """
    ks = [k for k in folds if k <= int(cell["n_sample"]) // 2]

    def labels(cuts: list[str]) -> Rows:
        return [{"cut": one, "k": k, "repetition": repetition} for one in cuts for k in ks for repetition in range(n_repetitions)]

    def cut(population: Dataset, rows: IntArray, cuts: list[str], replicate: int, names: Names) -> dict[Any, UnsignedArray]:
        partitions: dict[Any, UnsignedArray] = {}
        for one in cuts:
            for k in ks:
                seeds = [seed_sequence(*names, "folds", replicate, one, k, repetition) for repetition in range(n_repetitions)]
                partitions |= {(one, k, i): row for i, row in enumerate(cut_sample(one, population, rows, k, seeds))}
        return partitions

    def measure(estimator: Estimator, X: FloatArray, sample: Sample, rng: np.random.Generator) -> Rows:
        return list(measure_folds(estimator, X, sample.population.y, sample.rows, sample.rest, sample.partitions, rng).values())

    work = SampleMeasure("honesty", SCHEMAS["estimates"], labels, cut, measure)
    return {"estimates": measure_samples(inputs, cell, work, SharedSettings(cuts, learners, master_seed, limits))}
