"""How much scaling on the whole data set leaks: the learners on one data set, with scaling fitted on each training part beside it."""

import numpy as np
import pandas as pd

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.scores import evaluate_cell
from foldshift.files import write_text
from foldshift.jobs import run
from foldshift.partition.storage import read_folds
from foldshift.reporting.tables import to_csv
from foldshift.seeding import fit_states


def mean_error(data, folds, seeds, spec, master_seed, names):
    """Mean RMSE over folds and seeds, in units of the target's range."""
    k = names[-1]
    scores = evaluate_cell(
        build_learner(spec, data.scaling, data.categorical_features),
        design_matrix(data, spec["nominal"]),
        data.y,
        folds,
        random_states=fit_states(master_seed, names, seeds, k),
        unit=data.unit,
    )
    return float(np.mean(scores["rmse"]))


def main(job):
    """One row per learner and partitioner: the error with both kinds of scaling, on the same folds with the same random states."""
    whole, raw = read_prepared(job.input.scaled), read_prepared(job.input.raw)
    k, n_seeds = job.params.k, job.params.n_seeds
    folds = {name: [] for name in job.params.partitioners}
    seeds = {name: [] for name in job.params.partitioners}
    for path in job.input.folds:  # blocks stand in the order of their seeds
        block, block_seeds = read_folds(path)
        for name in folds:
            if (name, k) in block:
                folds[name].extend(block[name, k])
                seeds[name].extend(block_seeds[k])
    rows = []
    for learner, spec in job.params.learners.items():
        for name in job.params.partitioners:
            cut, chosen = np.array(folds[name][:n_seeds]), seeds[name][:n_seeds]
            try:
                both = [
                    mean_error(data, cut, chosen, spec, job.params.master_seed, (whole.name, name, k)) for data in (whole, raw)
                ]
            except ValueError as error:
                raise DataError(f"learner {learner}: {error}") from error
            rows.append((whole.name, learner, name, k, len(chosen), *both))
    columns = ["dataset", "regressor", "partitioner", "k", "n_seeds", "rmse_global", "rmse_fold"]
    write_text(job.output.rows, to_csv(pd.DataFrame(rows, columns=columns)))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
