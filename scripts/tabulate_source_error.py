"""Cross-validation over several sources against the error on a source held out: bias and spread (Figures 2 and 3)."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.geras_2013 import error_grid, error_table, spread_grid, spread_table
from foldshift.reporting.geras_2013_figures import draw_error, draw_spread
from foldshift.reporting.tables import write_table

COLUMNS = ("learner", "sampling", "n_sources", "n_points", "draw", "cvs", "cvr", "out_of_source", "sd_cvs", "sd_cvr")


def main(job):
    """Join the blocks of draws, write both tables, draw both figures."""
    rows = pd.concat([pd.DataFrame(read_columns(path, COLUMNS)) for path in job.input.rows], ignore_index=True)
    grid = {name: job.params.settings[name] for name in ("n_sources", "n_points", "held_fixed")}
    error, spread = error_table(rows, **grid), spread_table(rows, **grid)
    write_table(job.output.error, error, error_grid(error))
    write_table(job.output.spread, spread, spread_grid(spread))
    save_figure(job.output.error_figure, draw_error(error))
    save_figure(job.output.spread_figure, draw_spread(spread))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
