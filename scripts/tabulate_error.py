"""Table 5, its order from CV to TSCV, the error per data set, and the p-values behind Figure 2 of the regression study."""

import pandas as pd

from foldshift.inference.missing import common_results, mean_present, std_present
from foldshift.jobs import run
from foldshift.reporting.rows import read_cells
from foldshift.reporting.saez_2022 import convergence_table, error_grid, error_table, order_table
from foldshift.reporting.tables import EMPTY, plain_grid, write_table

CAPTION = (
    "Estimated error of the regressors by way of cutting: root mean squared error on the target scaled to [0, 1], mean over folds, seeds and data sets (left), "
    "and its standard deviation over seeds, averaged over data sets (right). If target shift harms the estimate, both fall from left to right."
)
ORDER = (
    "Does the error fall from CV to TSCV? Every pair of neighbouring partitioners: difference of the means, its Monte Carlo standard error, and whether the "
    "result falls (yes), rises by at most two standard errors (within error) or by more (no)."
)
BY_DATASET = (
    "Error of every data set: mean over folds and seeds and standard deviation over seeds of the root mean squared error."
)
CONVERGENCE = (
    "How many repetitions show the difference: Wilcoxon's p of every stratified partitioner against CV when r repetitions are drawn from the seeds, mean and "
    "standard deviation over the draws."
)


def by_dataset(errors, datasets, learners, folds, partitioners):
    """Error of every data set, learner, k and partitioner, on the seeds that all partitioners with results on the data set have."""
    rows = []
    for i, dataset in enumerate(datasets):
        for learner in learners:
            for k in folds:
                for name, values in common_results({name: errors[learner, k, name][i] for name in partitioners}).items():
                    keys = (dataset, learner, k, name)
                    rows.append((*keys, float(mean_present(values)), float(std_present(values)), int((values == values).sum())))
    return pd.DataFrame(rows, columns=["dataset", "regressor", "k", "partitioner", "rmse", "std", "n_seeds"])


def main(job):
    """Arrange the seeds, test, write the four tables."""
    settings = job.params.settings
    learners, folds, partitioners = settings["learners"], settings["n_folds"], settings["partitioners"]
    cells = [(learner, k, name) for learner in learners for k in folds for name in partitioners]
    errors, failed = read_cells(
        job.input.errors, ("learner", "k", "partitioner"), ("rmse", "n_failed"), settings["datasets"], cells
    )
    table = error_table(errors, failed, learners, folds, partitioners)
    write_table(job.output.html, table, error_grid(table, settings["alpha"], CAPTION))
    order = order_table(table, "rmse", "rmse_standard_error", ["regressor", "k"])
    write_table(job.output.order, order, plain_grid(order, ORDER, empty=EMPTY))
    each = by_dataset(errors, settings["datasets"], learners, folds, partitioners)
    write_table(job.output.by_dataset, each, plain_grid(each, BY_DATASET, empty=EMPTY))
    curves = convergence_table(
        errors, learners, folds, partitioners, master_seed=job.config["master_seed"], **settings["convergence"]
    )
    write_table(job.output.convergence, curves, plain_grid(curves, CONVERGENCE, empty=EMPTY))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
