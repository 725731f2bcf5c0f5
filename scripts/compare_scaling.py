"""How much scaling on the whole data set leaks: the learners on one data set, with scaling fitted on each training part beside it."""

import logging

import numpy as np
import pandas as pd

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.evaluation.isolation import Lost, run_cells
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.scores import evaluate_cell
from foldshift.files import write_text
from foldshift.jobs import run
from foldshift.partition.storage import join_folds
from foldshift.reporting.tables import to_csv
from foldshift.seeding import fit_states


def main(job):
    """One row per learner and partitioner: the error with both kinds of scaling, on the same folds with the same random states; NaN where a fit fails."""
    whole, raw = read_prepared(job.input.scaled), read_prepared(job.input.raw)
    k, n_seeds = job.params.k, job.params.n_seeds
    folds, seeds = join_folds(job.input.folds, job.params.wanted, n_seeds)

    def mean_errors(cell):
        """Mean RMSE over folds and seeds, in units of the target's range, scaled as a whole and per training part."""
        learner, name = cell
        spec = job.params.learners[learner]
        states = fit_states(job.params.master_seed, (whole.name, name, k), seeds[name, k], k)
        errors = []
        for data in (whole, raw):
            try:
                estimator = build_learner(spec, data.scaling, data.categorical_features)
            except ValueError as error:
                raise DataError(f"learner {learner}: {error}") from error
            X, cut = design_matrix(data, spec["nominal"]), folds[name, k]
            scores = evaluate_cell(estimator, X, data.y, cut, random_states=states, unit=data.unit)
            errors.append(float(np.mean(scores["rmse"])))
        return errors

    rows = []
    cells = [(learner, name) for learner in job.params.learners for name in job.params.partitioners]
    for (learner, name), result in run_cells(mean_errors, cells, **job.params.limits):
        if isinstance(result, Lost):
            logging.warning("%s, %s: %s: %s", learner, name, result.status, result.message)
            result = (np.nan, np.nan)
        rows.append((whole.name, learner, name, k, len(seeds[name, k]), *result))
    columns = ["dataset", "regressor", "partitioner", "k", "n_seeds", "rmse_global", "rmse_fold"]
    write_text(job.output.rows, to_csv(pd.DataFrame(rows, columns=columns)))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
