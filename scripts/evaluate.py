"""Evaluate one learner on one data set, for one partitioner, k and block of seeds."""

import logging

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.scores import OK, evaluate_cell
from foldshift.evaluation.storage import SCORE_SCHEMA, fold_rows, write_rows
from foldshift.jobs import run
from foldshift.partition.storage import read_folds
from foldshift.seeding import fit_states


def main(job):
    """Write one row per seed and fold; a fit that fails is a row with its message."""
    data = read_prepared(job.input.data)
    folds, seeds = read_folds(job.input.folds)
    where, spec = job.wildcards, job.params.learner
    try:
        estimator = build_learner(spec, data.scaling)
    except ValueError as error:
        raise DataError(str(error)) from error
    scores = evaluate_cell(
        estimator,
        design_matrix(data, spec["nominal"]),
        data.y,
        folds,
        random_states=fit_states(job.params.master_seed, (data.name, where.partitioner, where.k), seeds, int(where.k)),
        unit=data.target_range[1] - data.target_range[0] if data.scaling == "fold" else 1.0,
        replicates=spec["replicates"],
    )
    n_failed = int((scores["status"] != OK).sum())
    logging.info(
        "%d fits, %d failed, %.3f ms each", folds.size and scores["status"].size, n_failed, 1000 * scores["fit_seconds"][0, 0]
    )
    keys = {"dataset": data.name, "learner": where.learner, "partitioner": where.partitioner, "k": int(where.k)}
    write_rows(job.output.scores, fold_rows(scores, seeds, **keys), SCORE_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
