"""Covariate shift of every partitioner, by feature too, and its correlation with the error of the estimate: tables and figures."""

import pandas as pd

from foldshift.errors import DataError
from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting.covariate_shift import (
    correlation_grid,
    draw_covariate_shift,
    draw_shift_against_error,
    drift_by_cell,
    error_by_cell,
    feature_table,
    run_errors,
    shift_and_error,
    shift_by_cell,
    shift_grid,
    shift_summary,
    shifted_grid,
)
from foldshift.reporting.figures import save_figure
from foldshift.reporting.tables import plain_grid, write_table
from foldshift.shift.covariates import MEASURES
from foldshift.shift.folds import FoldFeature

CAPTION = (
    "Covariate shift that cross-validation itself induces: how different the inputs of training and test part are, classes aside. Smaller is better. "
    "SCV cuts at random within each class; DB-SCV and DOB-SCV spread near neighbours over the folds; MS-SCV puts them together, to shift as much as it can. "
    "KS: largest difference between the distribution functions of an attribute (nominal ones: total variation), mean and largest over "
    "the attributes. Hellinger: distance between the histograms of an attribute, mean over the attributes, at most the root of 2. Energy: energy distance of all "
    "attributes at once. Two-sample AUC: how well a row's five nearest neighbours tell whether it is a test row. 5x2 means five folds, iterated twice."
)
FEATURES = (
    "Which features the folds shift: inputs whose values in training and test part differ more than in random cuts of the same sizes (shifted), or less "
    "(balanced), for every data set, scheme and partitioner. A classifier that relies on a shifted feature is tested on other values than it was trained on. "
    "5x2 means five folds, iterated twice. The CSV file has every feature."
)
BY_DATASET = (
    "Covariate shift of every data set, scheme and partitioner: mean over folds and partitions, with its Monte Carlo standard error; and the error of the "
    "estimated AUC against the truth over classifiers and partitions: root-mean-square error, bias (mean) and spread (standard deviation over partitions). "
    "Against random cuts of the same sizes: share of the inputs that are shifted (features_more) and balanced (features_less), whether the "
    "target is (more, less, as chance), and the distance between training and test part as a multiple of that of random cuts, mean over the inputs. "
    "The shifted features are named in the table shifted_features and in the CSV file."
)
CORRELATION = (
    "Does covariate shift harm the estimate? Rank correlation of each measure of the shift between training and test part with the error of the AUC that "
    "cross-validation estimates. The block on partitioners is given with and without MS-SCV, which is made to shift and orders any measure by itself."
)
SHIFT_COLUMNS = ("dataset", "partitioner", "k", "run", *MEASURES)
FEATURE_COLUMNS = ("dataset", "partitioner", "k", "n_runs", "feature", *FoldFeature._fields[1:])
SCORE_COLUMNS = ("dataset", "learner", "partitioner", "k", "auc_crisp")


def read_frame(paths, names):
    """Rows of all data sets."""
    return pd.concat([pd.DataFrame(read_columns(path, names)) for path in paths], ignore_index=True)


def main(job):
    """Read runs, features and errors, write four tables and two figures."""
    schemes, partitioners = job.params.schemes, job.params.partitioners
    rows = read_frame(job.input.shift, SHIFT_COLUMNS)
    rows = rows[rows["partitioner"].isin(partitioners)]
    features = read_frame(job.input.features, FEATURE_COLUMNS)
    features = features[features["partitioner"].isin(partitioners)]
    scores = read_frame(job.input.errors, SCORE_COLUMNS)
    try:
        errors = run_errors(scores[scores["k"].isin(schemes)], partitioners, job.params.learners)
    except ValueError as error:
        raise DataError(str(error)) from error
    cell = ["dataset", "scheme", "partitioner"]
    by_cell = shift_by_cell(rows, schemes).merge(drift_by_cell(features, schemes), on=cell, how="left")
    cell_errors = error_by_cell(errors, schemes)
    summary = shift_summary(by_cell, partitioners)
    write_table(job.output.html, summary, shift_grid(summary, job.params.alpha, CAPTION))
    by_dataset = by_cell.merge(cell_errors, on=cell, how="left")
    printed = by_dataset.drop(columns="shifted_features")  # too long for print; the table below names them
    write_table(job.output.by_dataset, by_dataset, plain_grid(printed, BY_DATASET))
    by_feature = feature_table(features, schemes)
    write_table(job.output.features, by_feature, shifted_grid(by_feature, partitioners, FEATURES))
    table = shift_and_error(rows, errors, schemes, partitioners, master_seed=job.config["master_seed"])
    write_table(job.output.correlation, table, correlation_grid(table, CORRELATION))
    names = [f"{k}x{r}" for k, r in schemes.items()]
    save_figure(job.output.figure, draw_covariate_shift(by_cell, partitioners, names))
    save_figure(job.output.scatter, draw_shift_against_error(by_cell, cell_errors, partitioners, names))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
