"""Cross-validate samples of one large population with every partitioner, and measure what the classifiers reach on the rest of it."""

import logging
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from foldshift.datasets.dataset import read_prepared
from foldshift.datasets.populations import draw_population
from foldshift.errors import DataError
from foldshift.evaluation.heldout import heldout_replicate, sample_and_rest, scale_by_sample, training_parts
from foldshift.evaluation.isolation import Lost, run_cells
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.storage import TEXT, write_rows
from foldshift.importing import import_object
from foldshift.jobs import run
from foldshift.partition.registry import make_folds
from foldshift.seeding import generator, seed_sequence

MOST_HELD_OUT = 5000  # rows: a standard error of the truth near .005 in a single sample, and nearest neighbours stay fast
SCHEMA = pa.schema(
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


def draw(job, name, data, replicate):
    """Population, sample and held-out rows of one replicate; a generated population is drawn anew."""
    n_sample = job.params.n_sample
    rng = generator(job.params.master_seed, "held-out", name, "rows", replicate)
    if data is None:
        data = draw_population(name, n_sample + MOST_HELD_OUT, rng)
    sample, rest = sample_and_rest(len(data.y), n_sample, MOST_HELD_OUT, rng)
    return replace(data, X=scale_by_sample(data.X, sample, data.categorical_features), scaling="global"), sample, rest


def cut(job, data, sample, replicate):
    """Folds of one experiment of every scheme and partitioner, and the training parts of every k."""
    seed, names = job.params.master_seed, ("held-out", data.name)
    X, y = data.X[sample], data.y[sample]
    partitions, parts = {}, {}
    for k, n_runs in job.params.schemes.items():
        for partitioner, choice in job.params.partitioners.items():
            options = dict(choice["options"])
            if "metric" in options:
                options["categorical_features"] = data.categorical_features
            sequences = [seed_sequence(seed, *names, "folds", partitioner, k, replicate, i) for i in range(n_runs)]
            try:
                function = import_object(choice["import"], partitioner) if "import" in choice else choice["partitioner"]
                partitions[partitioner, k] = make_folds(function, X, y, k, sequences, **options)
            except ValueError as error:
                raise DataError(f"population {data.name}, partitioner {partitioner}, k={k}: {error}") from error
        parts[k] = training_parts(y, k, job.params.n_parts, generator(seed, *names, "parts", k, replicate))
    return partitions, parts


def main(job):
    """Write one row per replicate, learner, partitioner and k; numbers of a learner that fails or is lost are NaN."""
    ((source, name),) = job.params.population.items()
    data = read_prepared(job.input.data) if source == "dataset" else None
    if data is not None and len(data.y) < 2 * job.params.n_sample:
        raise DataError(
            f"population {name}: {len(data.y)} rows are too few for samples of {job.params.n_sample}, at least twice as many are needed; "
            "lower held_out.n_sample or take the data set out of held_out.populations"
        )

    @lru_cache(maxsize=1)  # the learners of a replicate come one after the other
    def drawn(replicate):
        population, sample, rest = draw(job, name, data, replicate)
        return population, sample, rest, *cut(job, population, sample, replicate)

    def measure(cell):
        learner, replicate = cell
        population, sample, rest, partitions, parts = drawn(replicate)
        spec = job.params.learners[learner]
        try:
            estimator = build_learner(spec, categorical_features=population.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(population, spec["nominal"])
        rng = generator(job.params.master_seed, "held-out", name, "fits", learner, replicate)
        return heldout_replicate(estimator, X, population.y, sample, rest, partitions, parts, rng)

    rows = []
    schemes, partitioners = job.params.schemes, job.params.partitioners
    cells = [(learner, replicate) for replicate in range(job.params.n_replicates) for learner in job.params.learners]
    for (learner, replicate), result in run_cells(measure, cells, **job.params.limits):
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
    columns = {column: list(values) for column, values in zip(SCHEMA.names, zip(*rows))}
    n_failed = int(np.isnan([columns[column] for column in ("estimate", "truth_part", "truth_whole")]).any(axis=0).sum())
    logging.info("%s: %d rows, %d with a failed fit", name, len(rows), n_failed)
    write_rows(job.output.rows, columns, SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
