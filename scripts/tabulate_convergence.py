"""Table 7, what it depends on, and convergence against the number of experiments, as a table and a figure."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting.convergence import (
    KEYS,
    convergence_curves,
    convergence_grid,
    convergence_table,
    curves_grid,
    draw_convergence_curves,
    pair_means,
    primary_rows,
    sensitivity_grid,
    sensitivity_table,
)
from foldshift.reporting.figures import save_figure
from foldshift.reporting.tables import write_table

COLUMNS = (*KEYS, "order", "experiments", "cut_off", "n_experiments")
CURVES = ("dataset", "learner", "partitioner", "k", "experiments", "correlation")


def main(job):
    """Average the orders data set by data set, write three tables and the figure."""
    settings = job.params.settings
    keys = settings["ids"], settings["iterations"], list(settings["partitioners"]), list(settings["datasets"])
    pairs, primary = [], []
    for path in job.input.rows:
        rows = pd.DataFrame(read_columns(path, COLUMNS))
        rows = rows[rows["partitioner"].isin(keys[2])]
        pairs.append(pair_means(rows))
        primary.append(primary_rows(rows))
    pairs = pd.concat(pairs, ignore_index=True)
    table = convergence_table(pairs, *keys)
    write_table(job.output.html, table, convergence_grid(table))
    sensitivity = sensitivity_table(pairs, *keys)
    write_table(job.output.sensitivity, sensitivity, sensitivity_grid(sensitivity))
    points = pd.concat([pd.DataFrame(read_columns(path, CURVES)) for path in job.input.curves], ignore_index=True)
    curves = convergence_curves(pd.concat(primary, ignore_index=True), points, *keys)
    write_table(job.output.curves, curves, curves_grid(curves))
    save_figure(job.output.figure, draw_convergence_curves(curves))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
