"""Cross-validate samples of one population and size with every cut and learner, and measure the true errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from foldshift.core.seeding import seed_sequence
from foldshift.engine.storage.score_files import TEXT
from foldshift.inference.fit_losses import Sample as Drawn
from foldshift.studies.foldshift_2026.estimates import NUMBERS, measure_partitions
from foldshift.studies.foldshift_2026.measure_samples import SampleMeasure, SharedSettings, measure_samples
from foldshift.studies.foldshift_2026.partitioners import cut_sample

if TYPE_CHECKING:
    from foldshift.core.types import Estimator, FloatArray, Inputs, IntArray, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.studies.foldshift_2026.measure_samples import Names, Sample

KEYS = ("population", "task", "learner", "cut", "n_sample", "k", "replicate", "repetition")
SCHEMA = pa.schema(
    [
        *[(name, TEXT) for name in KEYS[:4]],
        *[(name, pa.int32()) for name in KEYS[4:]],
        *[(name, pa.float64()) for name in NUMBERS],
        ("status", TEXT),
        ("message", TEXT),
    ]
)
SCHEMAS = {"estimates": SCHEMA, "intervals": SCHEMA}


def cross_validate(inputs: Inputs, cell: dict[str, str], *, n_repetitions: int, **settings: Any) -> dict[str, Rows]:
    """Measure the moments of the losses, and two true errors, of every learner, cut, k, sample and repetition.

    ``truth_parts`` is the mean error outside the sample of the models of this cross-validation, of the first repetition alone,
    ``truth_whole`` that of the model trained on the whole sample; ``_noise`` ends the names of their standard errors. Errors are
    0/1 for classes, and for numbers the squared error as a share of the variance of the target; NaN where a fit failed.
    """
    return {"estimates": _measure("honesty", inputs, cell, n_repetitions=n_repetitions, **settings)}


def measure_intervals(inputs: Inputs, cell: dict[str, str], **settings: Any) -> dict[str, Rows]:
    """Measure the same with a single repetition of few cuts, on the many samples that coverage needs."""
    return {"intervals": _measure("intervals", inputs, cell, n_repetitions=1, **settings)}


def _measure(
    name: str,
    inputs: Inputs,
    cell: dict[str, str],
    *,
    folds: Sequence[int],
    n_repetitions: int,
    cuts: Sequence[str],
    truth_rows: int,
    part_rows: int,
    learners: dict[str, dict[str, Any]],
    master_seed: int,
    limits: dict[str, float | None],
) -> Rows:
    """Cut and measure every sample of a block."""
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
        y, rows, rest = sample.population.y, sample.rows, sample.rest
        drawn = Drawn(np.ascontiguousarray(X[rows]), y[rows], X[rest], y[rest])
        return measure_partitions(estimator, drawn, sample.partitions, part_rows, rng)

    work = SampleMeasure(name, SCHEMA, labels, cut, measure)
    return measure_samples(inputs, cell, work, SharedSettings(cuts, learners, master_seed, limits), truth_rows)
