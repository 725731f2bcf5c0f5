"""Evaluate one learner on one data set, for all partitions of a block of seeds."""

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
    """Write one row per partitioner, k, seed and fold; a fit that fails is a row with its message."""
    data = read_prepared(job.input.data)
    folds, seeds = read_folds(job.input.folds)
    learner, spec = job.wildcards.learner, job.params.learner
    try:
        estimator = build_learner(spec, data.scaling, data.categorical_features)
    except ValueError as error:
        raise DataError(str(error)) from error
    X = design_matrix(data, spec["nominal"])
    parts = []
    for (partitioner, k), cut in folds.items():
        scores = evaluate_cell(
            estimator,
            X,
            data.y,
            cut,
            random_states=fit_states(job.params.master_seed, (data.name, partitioner, k), seeds[k], k),
            unit=data.unit,
            replicates=spec["replicates"],
        )
        n_failed = int((scores["status"] != OK).sum())
        per_fit = 1000 * scores["fit_seconds"][0, 0]
        logging.info("%s, k=%d: %d fits, %d failed, %.3f ms each", partitioner, k, scores["status"].size, n_failed, per_fit)
        parts.append(fold_rows(scores, seeds[k], dataset=data.name, learner=learner, partitioner=partitioner, k=k))
    write_rows(job.output.scores, parts, SCORE_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
