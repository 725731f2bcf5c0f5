"""Bias of cross-validated estimates against held-out rows, and agreement of single experiments with the held-out truth."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.heldout import agreement_grid, agreement_table, bias_grid, bias_table, draw_bias
from foldshift.reporting.tables import write_table

COLUMNS = ("population", "replicate", "learner", "partitioner", "k", "estimate", "truth_part", "truth_whole")


def main(job):
    """Join the populations, write both tables, draw the bias."""
    rows = pd.concat([pd.DataFrame(read_columns(path, COLUMNS)) for path in job.input.rows], ignore_index=True)
    keys = job.params.schemes, list(job.params.partitioners), list(job.params.learners)
    table = bias_table(rows, *keys)
    write_table(job.output.html, table, bias_grid(table))
    agreement = agreement_table(rows, *keys)
    write_table(job.output.agreement, agreement, agreement_grid(agreement))
    save_figure(job.output.figure, draw_bias(table))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
