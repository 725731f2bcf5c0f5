"""Figures 1 to 4 of the classification study: how the partitioners cut."""

from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.moreno_torres_2012_figures import draw_artificial, draw_db_scv, draw_dob_scv, draw_extreme_shift


def main(job):
    """Draw and save."""
    save_figure(job.output.figure1, draw_extreme_shift())
    save_figure(job.output.figure2, draw_artificial())
    save_figure(job.output.figure3, draw_db_scv())
    save_figure(job.output.figure4, draw_dob_scv())


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
