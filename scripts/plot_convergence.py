"""Figure 2 of the regression study: p-value against the number of repetitions."""

import pandas as pd

from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.saez_2022_figures import draw_convergence


def main(job):
    """Draw the table and save."""
    settings = job.params.settings
    save_figure(job.output.svg, draw_convergence(pd.read_csv(job.input.table), settings["partitioners"], settings["alpha"]))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
