"""Cross-validate samples of one population and size with every cut and learner, and measure the true errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from foldshift.core.seeding import seed_sequence
from foldshift.engine.storage.score_files import TEXT
from foldshift.studies.common.samples import NUMBERS, measure_folds
from foldshift.studies.foldshift_2026.measure_samples import cut_rows, measure_samples

if TYPE_CHECKING:
    import numpy as np

    from foldshift.core.types import Array, Estimator, Inputs, Rows

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
    limits: dict[str, None],
) -> dict[str, Rows]:
    """Moments of the losses, and two true errors, of every learner, cut, k, sample and repetition."""
    ks = [k for k in folds if k <= int(cell["n_sample"]) // 2]

    def keys(used: list[str]) -> Rows:
        return [{"cut": one, "k": k, "repetition": repetition} for one in used for k in ks for repetition in range(n_repetitions)]

    def cut(population: Any, sample: Array, used: Any, replicate: Any, names: Any) -> dict[str, Any]:
        partitions: dict[Any, Any] = {}
        for one in used:
            for k in ks:
                seeds = [seed_sequence(*names, "folds", replicate, one, k, repetition) for repetition in range(n_repetitions)]
                partitions |= {(one, k, i): row for i, row in enumerate(cut_rows(population, sample, one, k, seeds))}
        return partitions

    def measure(
        estimator: Estimator, X: Any, population: Any, sample: Array, rest: Any, partitions: Any, rng: np.random.Generator
    ) -> list[Any]:
        return list(measure_folds(estimator, X, population.y, sample, rest, partitions, rng).values())

    shared = {"cuts": cuts, "learners": learners, "master_seed": master_seed, "limits": limits}
    schema = SCHEMAS["estimates"]
    return {"estimates": measure_samples(inputs, cell, schema, word="honesty", keys=keys, cut=cut, measure=measure, **shared)}
