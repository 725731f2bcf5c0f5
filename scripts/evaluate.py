"""Evaluate learners on one data set, for all partitions of a block of seeds: scores and, of classifiers, the predictions of every
sample."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.imports import import_object
from foldshift.core.seeding import fit_states
from foldshift.core.types import Estimator
from foldshift.datasets.dataset import Dataset, read_prepared
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.jobs.run_job import run
from foldshift.engine.jobs.user_code import LEARNER, call_own
from foldshift.engine.storage.fold_files import part_of_block, read_folds
from foldshift.engine.storage.prediction_files import write_predictions
from foldshift.engine.storage.score_files import fold_rows, score_schema, write_rows
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.regressors import lost_scores
from foldshift.evaluation.task_objects import TASK_OBJECTS
from foldshift.evaluation.tasks import OK


def estimator(spec: dict[str, Any], data: Dataset) -> Estimator:
    """The estimator of a learner's entry; what one of the user's own raises is told as its fault."""
    return call_own(spec["import"], LEARNER, build_learner, spec, data.scaling, data.categorical_features)


def _alike(learners: dict[str, dict[str, Any]]) -> Iterable[list[str]]:
    """Learners of one class beside each other: for the same folds they may share work."""
    found = {}
    for name, spec in learners.items():
        found.setdefault((spec["import"], spec["nominal"]), []).append(name)
    return found.values()


def main(job: Any) -> None:
    """Write one row per learner, partitioner, k, seed and fold; a fit that fails or is lost is a row with its message."""
    data = read_prepared(job.input.data)
    task = import_object(TASK_OBJECTS[job.params.task], "task")
    held = Path(job.input.folds).stem  # the block of the file, which may hold more seeds than this job's
    folds, seeds = part_of_block(*read_folds(job.input.folds), held, job.wildcards.block)
    folds = {cut: folds[cut] for cut in map(tuple, job.params.cuts)}
    learners = job.params.learners
    try:
        estimators = {name: estimator(spec, data) for name, spec in learners.items()}
    except ValueError as error:
        raise DataError(str(error)) from error
    matrices = {nominal: design_matrix(data, nominal) for nominal in {spec["nominal"] for spec in learners.values()}}

    def evaluate(cell: tuple[str, str, int]) -> Any:
        learner, partitioner, k = cell
        states = fit_states(job.params.master_seed, (data.name, partitioner, k), seeds[k], k)
        spec = learners[learner]
        X = matrices[spec["nominal"]]
        return task.evaluate(estimators[learner], X, data, folds[partitioner, k], states)

    parts, predictions = [], {}
    cells = [(learner, *cut) for alike in _alike(learners) for cut in folds for learner in alike]
    for (learner, partitioner, k), result in run_cells(evaluate, cells, **job.params.limits):
        if isinstance(result, Lost):
            logging.warning("%s, %s, k=%d: %s: %s", learner, partitioner, k, result.status, result.message)
            cut = folds[partitioner, k]
            codes = np.zeros(cut.shape, dtype=np.int64)  # as where a fit fails: the status tells that they mean nothing
            scores = lost_scores(cut, task.metrics, result.status, result.message)
        else:
            codes, scores = result
        predictions[learner, partitioner, k] = codes
        n_failed = int((scores["status"] != OK).sum())
        per_fit = 1000 * scores["fit_seconds"][0, 0]
        done = (learner, partitioner, k, scores["status"].size, n_failed, per_fit)
        logging.info("%s, %s, k=%d: %d fits, %d failed, %.3f ms each", *done)
        parts.append(fold_rows(scores, seeds[k], dataset=data.name, learner=learner, partitioner=partitioner, k=k))
    write_rows(job.output.scores, parts, score_schema(task.metrics))
    if hasattr(job.output, "predictions"):
        write_predictions(job.output.predictions, predictions, len(data.classes))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
