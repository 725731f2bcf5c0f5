"""Figures of D_n: box plots over the data sets, and every data set by itself."""

import pandas as pd

from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.saez_2022_figures import draw_shift_boxes, draw_shift_by_dataset


def main(job):
    """Draw both from the table per data set."""
    table, partitioners = pd.read_csv(job.input.table), job.params.settings["partitioners"]
    sizes = pd.read_csv(job.input.datasets).set_index("dataset")["samples"].to_dict()
    save_figure(job.output.boxes, draw_shift_boxes(table, partitioners))
    save_figure(job.output.by_dataset, draw_shift_by_dataset(table, partitioners, sizes))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
