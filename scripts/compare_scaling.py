"""How much scaling on the whole data set leaks: one learner on one data set, with scaling fitted on each training part beside it."""

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
    k = int(folds.max()) + 1
    scores = evaluate_cell(
        build_learner(spec, data.scaling),
        design_matrix(data, spec["nominal"]),
        data.y,
        folds,
        random_states=fit_states(master_seed, names, seeds, k),
        unit=data.target_range[1] - data.target_range[0] if data.scaling == "fold" else 1.0,
    )
    return float(np.mean(scores["rmse"]))


def main(job):
    """One row per partitioner: the error with both kinds of scaling, on the same folds with the same random states."""
    whole, raw = read_prepared(job.input.scaled), read_prepared(job.input.raw)
    spec, n_seeds = job.params.learner, job.params.n_seeds
    rows = []
    for name, path in zip(job.params.partitioners, job.input.folds):
        folds, seeds = read_folds(path)
        folds, seeds = folds[:n_seeds], seeds[:n_seeds]
        names = (whole.name, name, job.params.k)
        try:
            errors = [mean_error(data, folds, seeds, spec, job.params.master_seed, names) for data in (whole, raw)]
        except ValueError as error:
            raise DataError(f"learner {job.wildcards.learner}: {error}") from error
        rows.append((whole.name, job.wildcards.learner, name, job.params.k, len(seeds), *errors))
    columns = ["dataset", "regressor", "partitioner", "k", "n_seeds", "rmse_global", "rmse_fold"]
    write_text(job.output.rows, to_csv(pd.DataFrame(rows, columns=columns)))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
