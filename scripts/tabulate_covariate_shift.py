"""Covariate shift of every partitioner, and its correlation with the error of the estimate: tables and figures."""

import pandas as pd

from foldshift.errors import DataError
from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting.covariate_shift import (
    correlation_grid,
    draw_covariate_shift,
    draw_shift_against_error,
    error_by_cell,
    run_errors,
    shift_and_error,
    shift_by_cell,
    shift_grid,
    shift_summary,
)
from foldshift.reporting.figures import save_figure
from foldshift.reporting.tables import EMPTY, plain_grid, write_table
from foldshift.shift.covariates import MEASURES

CAPTION = (
    "Covariate shift that cross-validation itself induces: how different the inputs of training and test part are, classes aside. Smaller is better. "
    "SCV cuts at random within each class; DB-SCV and DOB-SCV spread near neighbours over the folds; MS-SCV puts them together, to shift as much as it can. "
    "KS: largest difference between the distribution functions of an attribute (nominal ones: total variation), mean and largest over "
    "the attributes. Hellinger: distance between the histograms of an attribute, mean over the attributes, at most the root of 2. Energy: energy distance of all "
    "attributes at once. Two-sample AUC: how well a row's five nearest neighbours tell whether it is a test row. 5x2 means five folds, iterated twice."
)
BY_DATASET = (
    "Covariate shift of every data set, scheme and partitioner: mean over folds and partitions, with its Monte Carlo standard error; and the error of the "
    "estimated AUC against the truth over classifiers and partitions: root-mean-square error, bias (mean) and spread (standard deviation over partitions)."
)
CORRELATION = (
    "Does covariate shift harm the estimate? Rank correlation of each measure of the shift between training and test part with the error of the AUC that "
    "cross-validation estimates. The block on partitioners is given with and without MS-SCV, which is made to shift and orders any measure by itself."
)
SHIFT_COLUMNS = ("dataset", "partitioner", "k", "run", *MEASURES)
SCORE_COLUMNS = ("dataset", "learner", "partitioner", "k", "auc_crisp")


def read_frame(paths, names):
    """Rows of all data sets."""
    return pd.concat([pd.DataFrame(read_columns(path, names)) for path in paths], ignore_index=True)


def main(job):
    """Read runs and errors, write three tables and two figures."""
    schemes, partitioners = job.params.schemes, job.params.partitioners
    rows = read_frame(job.input.shift, SHIFT_COLUMNS)
    rows = rows[rows["partitioner"].isin(partitioners)]
    scores = read_frame(job.input.errors, SCORE_COLUMNS)
    try:
        errors = run_errors(scores[scores["k"].isin(schemes)], partitioners, job.params.learners)
    except ValueError as error:
        raise DataError(str(error)) from error
    by_cell, cell_errors = shift_by_cell(rows, schemes), error_by_cell(errors, schemes)
    summary = shift_summary(by_cell, partitioners)
    write_table(job.output.html, summary, shift_grid(summary, job.params.alpha, CAPTION))
    by_dataset = by_cell.merge(cell_errors, on=["dataset", "scheme", "partitioner"], how="left")
    write_table(job.output.by_dataset, by_dataset, plain_grid(by_dataset, BY_DATASET, empty=EMPTY))
    table = shift_and_error(rows, errors, schemes, partitioners)
    write_table(job.output.correlation, table, correlation_grid(table, CORRELATION))
    names = [f"{k}x{r}" for k, r in schemes.items()]
    save_figure(job.output.figure, draw_covariate_shift(by_cell, partitioners, names))
    save_figure(job.output.scatter, draw_shift_against_error(by_cell, cell_errors, partitioners, names))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
