"""Cross-validate samples of a large population with every partitioner, and measure the true AUC on the rest of it."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.core.imports import import_object
from foldshift.core.seeding import generator, seed_sequence
from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.held_out import SampledPopulation, heldout_replicate, sample_and_rest, scale_by_sample, training_parts
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.partition.registry import make_folds, options_of

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, IntArray, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset
    from foldshift.evaluation.held_out import Replicate as HeldOutEstimates

MAX_HELD_OUT = 5000  # rows: a standard error of the truth near .005 in a single sample, and nearest neighbours stay fast
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


class Replicate(NamedTuple):
    """A sample of a population, and its folds and training parts."""

    population: Dataset
    sample: IntArray
    rest: IntArray  # rows held out
    partitions: dict[tuple[str, int], UnsignedArray]  # by partitioner and k, (n_runs, n_sample)
    parts: dict[int, list[IntArray]]  # by k


def draw_replicate(
    name: str, data: Dataset | None, n_sample: int, replicate: int, master_seed: int
) -> tuple[Dataset, IntArray, IntArray]:
    """Draw a sample and held-out rows of a population; a generated one (`data` is None) is drawn as well."""
    rng = generator(master_seed, "held-out", name, "rows", replicate)
    if data is None:
        data = draw_population(name, n_sample + MAX_HELD_OUT, rng)
    sample, rest = sample_and_rest(len(data.y), n_sample, MAX_HELD_OUT, rng)
    return replace(data, X=scale_by_sample(data.X, sample, data.categorical_features), scaling="global"), sample, rest


def cut_sample(
    population: Dataset,
    sample: IntArray,
    schemes: dict[int, int],
    partitioners: dict[str, dict[str, Any]],
    replicate: int,
    master_seed: int,
) -> dict[tuple[str, int], UnsignedArray]:
    """Cut a sample into folds, for one experiment of every scheme and partitioner."""
    X, y = population.X[sample], population.y[sample]
    partitions = {}
    for k, n_runs in schemes.items():
        for partitioner, choice in partitioners.items():
            names = "held-out", population.name, "folds", partitioner, k, replicate
            sequences = [seed_sequence(master_seed, *names, i) for i in range(n_runs)]
            try:
                function = import_object(choice["import"], partitioner) if "import" in choice else choice["partitioner"]
                options = options_of(function, categorical_features=population.categorical_features, task=population.task)
                partitions[partitioner, k] = make_folds(function, X, y, k, sequences, **options | choice["options"])
            except ValueError as error:
                raise DataError(f"population {population.name}, partitioner {partitioner}, k={k}: {error}") from error
    return partitions


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
    """Measure cross-validated estimates on samples of a population, and what the classifiers reach on the rest of it.

    ``inputs.data`` is empty for a generated population. `schemes` maps k to the partitions of an experiment; the mean over
    `n_parts` training parts of every k is the truth that k folds estimate. Numbers of a learner that fails are NaN.
    """
    name = cell["population"]
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        raise DataError(
            f"population {name}: {len(data.y)} rows are too few for samples of {n_sample}, at least twice as many are needed; "
            "lower held_out.n_sample or take the data set out of held_out.populations"
        )

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate: int) -> Replicate:
        population, sample, rest = draw_replicate(name, data, n_sample, replicate, master_seed)
        partitions = cut_sample(population, sample, schemes, partitioners, replicate, master_seed)
        parts = {}
        for k in schemes:
            rng = generator(master_seed, "held-out", population.name, "parts", k, replicate)
            parts[k] = training_parts(population.y[sample], k, n_parts, rng)
        return Replicate(population, sample, rest, partitions, parts)

    def measure(fitted: tuple[str, int]) -> HeldOutEstimates:
        learner, replicate = fitted
        one = drawn(replicate)
        spec = learners[learner]
        try:
            estimator = build_learner(spec, categorical_features=one.population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(one.population, spec["nominal"])
        rng = generator(master_seed, "held-out", name, "fits", learner, replicate)
        sampled = SampledPopulation(X, one.population.y, one.sample, one.rest)
        return heldout_replicate(estimator, sampled, one.partitions, one.parts, rng)

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
