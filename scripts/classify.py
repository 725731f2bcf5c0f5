"""Evaluate classifiers on one data set, for all partitions of a block of experiments: scores, and the predictions of every sample."""

import logging

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.evaluation.classes import evaluate_class_cell
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.predictions import write_predictions
from foldshift.evaluation.scores import OK
from foldshift.evaluation.storage import CLASS_SCORE_SCHEMA, fold_rows, write_rows
from foldshift.jobs import run
from foldshift.partition.storage import read_folds
from foldshift.seeding import fit_states


def main(job):
    """Write one row per classifier, partitioner, k, seed and fold; a fit that fails is a row with its message."""
    data = read_prepared(job.input.data)
    folds, seeds = read_folds(job.input.folds)
    parts, predictions = [], {}
    for learner, spec in job.params.learners.items():
        try:
            estimator = build_learner(spec, data.scaling, data.categorical_features)
        except ValueError as error:
            raise DataError(str(error)) from error
        X = design_matrix(data, spec["nominal"])
        for (partitioner, k), cut in folds.items():
            states = fit_states(job.params.master_seed, (data.name, partitioner, k), seeds[k], k)
            codes, scores = evaluate_class_cell(estimator, X, data.y, cut, random_states=states)
            predictions[learner, partitioner, k] = codes
            n_failed = int((scores["status"] != OK).sum())
            per_fit = 1000 * scores["fit_seconds"][0, 0]
            done = (learner, partitioner, k, scores["status"].size, n_failed, per_fit)
            logging.info("%s, %s, k=%d: %d fits, %d failed, %.3f ms each", *done)
            parts.append(fold_rows(scores, seeds[k], dataset=data.name, learner=learner, partitioner=partitioner, k=k))
    write_rows(job.output.scores, parts, CLASS_SCORE_SCHEMA)
    write_predictions(job.output.predictions, predictions, len(data.classes))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
