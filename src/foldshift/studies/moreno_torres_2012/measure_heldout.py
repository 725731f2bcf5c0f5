"""Cross-validate samples of a large population with every partitioner; measure what the classifiers reach on the rest of it."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.core.imports import import_object
from foldshift.core.seeding import generator, seed_sequence
from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.held_out import (
    Replicate,
    SampledPopulation,
    heldout_replicate,
    sample_and_rest,
    scale_by_sample,
    training_parts,
)
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.partition.registry import make_folds, options_of

if TYPE_CHECKING:
    from foldshift.core.types import Array, Inputs, Rows
    from foldshift.datasets.dataset import Dataset

MOST_HELD_OUT = 5000  # rows: a standard error of the truth near .005 in a single sample, and nearest neighbours stay fast
SCHEMAS = {
    "held_out": pa.schema(
        [
            ("population", TEXT),
            ("replicate", pa.int32()),
            ("learner", TEXT),
            ("partitioner", TEXT),
            ("k", pa.int32()),
            ("estimate", pa.float64()),
            ("truth_part", pa.float64()),
            ("truth_whole", pa.float64()),
        ]
    )
}


def draw(name: str, data: Dataset | None, n_sample: int, replicate: Any, master_seed: int) -> tuple[Any, Any, Any]:
    """Population, sample and held-out rows of one replicate; a generated population (`data` is None) is drawn anew."""
    rng = generator(master_seed, "held-out", name, "rows", replicate)
    if data is None:
        data = draw_population(name, n_sample + MOST_HELD_OUT, rng)
    sample, rest = sample_and_rest(len(data.y), n_sample, MOST_HELD_OUT, rng)
    return replace(data, X=scale_by_sample(data.X, sample, data.categorical_features), scaling="global"), sample, rest


def cut(
    data: Any,
    sample: Array,
    schemes: dict[int, int],
    partitioners: dict[str, dict[str, Any]],
    n_parts: int,
    replicate: Any,
    master_seed: int,
) -> tuple[Any, Any]:
    """Folds of one experiment of every scheme and partitioner, and the training parts of every k."""
    names = "held-out", data.name
    X, y = data.X[sample], data.y[sample]
    partitions, parts = {}, {}
    for k, n_runs in schemes.items():
        for partitioner, choice in partitioners.items():
            sequences = [seed_sequence(master_seed, *names, "folds", partitioner, k, replicate, i) for i in range(n_runs)]
            try:
                function = import_object(choice["import"], partitioner) if "import" in choice else choice["partitioner"]
                options = options_of(function, categorical_features=data.categorical_features, task=data.task)
                partitions[partitioner, k] = make_folds(function, X, y, k, sequences, **options | choice["options"])
            except ValueError as error:
                raise DataError(f"population {data.name}, partitioner {partitioner}, k={k}: {error}") from error
        parts[k] = training_parts(y, k, n_parts, generator(master_seed, *names, "parts", k, replicate))
    return partitions, parts


def measure_heldout(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    n_sample: int,
    n_replicates: int,
    n_parts: int,
    schemes: dict[int, int],
    partitioners: dict[str, dict[str, Any]],
    learners: dict[str, dict[str, Any]],
    master_seed: int,
    limits: dict[str, float | None],
) -> dict[str, Rows]:
    """Cross-validated estimates on samples of a population, and what the classifiers reach on the rest of it."""
    name = cell["population"]
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        raise DataError(
            f"population {name}: {len(data.y)} rows are too few for samples of {n_sample}, at least twice as many are needed; "
            "lower held_out.n_sample or take the data set out of held_out.populations"
        )

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate: Any) -> tuple[Any, ...]:
        population, sample, rest = draw(name, data, n_sample, replicate, master_seed)
        return population, sample, rest, *cut(population, sample, schemes, partitioners, n_parts, replicate, master_seed)

    def measure(fitted: Any) -> Replicate:
        learner, replicate = fitted
        population, sample, rest, partitions, parts = drawn(replicate)
        spec = learners[learner]
        try:
            estimator = build_learner(spec, categorical_features=population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(population, spec["nominal"])
        rng = generator(master_seed, "held-out", name, "fits", learner, replicate)
        return heldout_replicate(estimator, SampledPopulation(X, population.y, sample, rest), partitions, parts, rng)

    rows = []
    pairs = [(learner, replicate) for replicate in range(n_replicates) for learner in learners]
    for (learner, replicate), result in run_cells(measure, pairs, **limits):
        if isinstance(result, Lost):
            logging.warning("%s, replicate %d: %s: %s", learner, replicate, result.status, result.message)
            estimates = {(partitioner, k): np.nan for k in schemes for partitioner in partitioners}
            truth_part, truth_whole = dict.fromkeys(schemes, np.nan), np.nan
        else:
            estimates, truth_part, truth_whole = result
        rows += [
            (name, replicate, learner, partitioner, k, estimate, truth_part[k], truth_whole)
            for (partitioner, k), estimate in estimates.items()
        ]
    columns = {column: list(values) for column, values in zip(SCHEMAS["held_out"].names, zip(*rows))}
    n_failed = int(np.isnan([columns[column] for column in ("estimate", "truth_part", "truth_whole")]).any(axis=0).sum())
    logging.info("%s: %d rows, %d with a failed fit", name, len(rows), n_failed)
    return {"held_out": [columns]}
