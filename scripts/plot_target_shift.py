"""Figure 1 of the regression study: what target shift looks like."""

from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.saez_2022_figures import draw_target_shift


def main(job):
    """Draw and save."""
    save_figure(job.output.svg, draw_target_shift())


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
