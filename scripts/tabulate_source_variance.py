"""Variance of cross-validation over all domains: its decomposition, and how good its estimators are (Figures 4 to 6)."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.inference.variance import ESTIMATORS
from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.geras_2013 import (
    decomposition_grid,
    decomposition_table,
    estimators_grid,
    estimators_table,
    figure6_grid,
    figure6_table,
)
from foldshift.reporting.geras_2013_figures import draw_covariances, draw_coverage, draw_decomposition, draw_estimators
from foldshift.reporting.tables import write_table

KEYS = ("learner", "sampling", "n_points", "design")
ESTIMATES = (*KEYS, "mean", "S2", *ESTIMATORS)
COMPONENTS = (*KEYS, "kind", "k", "l", "value")


def main(job):
    """Join the cells, write three tables, draw four figures."""
    estimates, components = (
        pd.concat([pd.DataFrame(read_columns(path, columns)) for path in paths], ignore_index=True)
        for paths, columns in ((job.input.estimates, ESTIMATES), (job.input.components, COMPONENTS))
    )
    n_datasets = job.params.settings["n_truth"]
    decomposition, figure6 = decomposition_table(components, n_datasets), figure6_table(estimates)
    estimators = estimators_table(estimates)
    write_table(job.output.decomposition, decomposition, decomposition_grid(decomposition))
    write_table(job.output.figure6, figure6, figure6_grid(figure6))
    write_table(job.output.estimators, estimators, estimators_grid(estimators))
    save_figure(job.output.decomposition_figure, draw_decomposition(decomposition))
    save_figure(job.output.covariances_figure, draw_covariances(components, n_datasets))
    save_figure(job.output.figure6_figure, draw_estimators(figure6))
    save_figure(job.output.coverage_figure, draw_coverage(estimators))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
