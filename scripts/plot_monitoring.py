"""Figures of the monitoring study."""

import pandas as pd

from foldshift.jobs import run
from foldshift.reporting.cieslak_2009_figures import FIGURES, draw
from foldshift.reporting.figures import save_figure


def main(job):
    """Draw the tables, and what needs none."""
    alpha = job.params.settings["alpha"]
    p_values, prior, hellinger = (pd.read_csv(path) for path in (job.input.p_values, job.input.ks_by_prior, job.input.hellinger))
    for name in FIGURES:
        save_figure(getattr(job.output, name), draw(name, p_values, prior, hellinger, alpha))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
