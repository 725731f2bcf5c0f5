"""Estimators of the variance on models in which everything is known, exact and simulated; the diagram of the covariances (Figure 1)."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.inference.variance import ESTIMATORS
from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.geras_2013 import mean_predictor_grid, mean_predictor_table, models_grid, models_table
from foldshift.reporting.geras_2013_figures import draw_blocks
from foldshift.reporting.tables import write_table

COLUMNS = ("model", "sources", "n_points", "design", "out_of_source", "sigma_term", "mean", "S2", *ESTIMATORS)


def main(job):
    """Write the exact table, that of the models if there are any, and draw the diagram."""
    exact = mean_predictor_table()
    write_table(job.output.exact, exact, mean_predictor_grid(exact))
    if job.params.settings["models"]:
        rows = pd.concat([pd.DataFrame(read_columns(path, COLUMNS)) for path in job.input.rows], ignore_index=True)
        models = models_table(rows)
        write_table(job.output.models, models, models_grid(models))
    save_figure(job.output.blocks, draw_blocks())


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
