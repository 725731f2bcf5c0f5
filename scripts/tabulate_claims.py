"""The claims of Wong (2015) against simulation, and the share of the variance that his formula counts against coverage."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.tables import write_table
from foldshift.reporting.wong_2015 import claims_grid, claims_table
from foldshift.reporting.wong_2015_figures import draw_sigma_share

COLUMNS = ("model", "claim", "n_folds", "n_points", "quantity", "value", "standard_error", "expected")


def main(job):
    """Join the models, judge the claims, write the table and the figure."""
    level = job.params.settings["level"]
    rows = pd.concat([pd.DataFrame(read_columns(path, COLUMNS)) for path in job.input.rows], ignore_index=True)
    table = claims_table(rows, level)
    write_table(job.output.claims, table, claims_grid(table))
    save_figure(job.output.share, draw_sigma_share(rows, level))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
