"""Intervals, comparisons, repetitions and average ranks from the counts of correct predictions."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting.figures import save_figure
from foldshift.reporting.tables import write_table
from foldshift.reporting.wong_2015 import (
    agreement_grid,
    agreement_table,
    comparisons_grid,
    comparisons_table,
    intervals_grid,
    intervals_table,
    ranks_grid,
    ranks_table,
    repetitions_grid,
    repetitions_table,
)
from foldshift.reporting.wong_2015_figures import draw_intervals, draw_ranks, draw_repetitions

FOLDS = ("dataset", "learner", "k", "repetition", "fold", "n_correct", "n_test", "status", "message")
PAIRS = ("dataset", "learner_a", "learner_b", "k", "repetition", "both", "only_a", "only_b", "neither")


def join(paths, columns):
    """Rows of all data sets."""
    return pd.concat([pd.DataFrame(read_columns(path, columns)) for path in paths], ignore_index=True)


def main(job):
    """Join the data sets, test, write tables and figures."""
    settings = job.params.settings
    level = settings["level"]
    folds, pairs = join(job.input.folds, FOLDS), join(job.input.pairs, PAIRS)
    intervals = intervals_table(folds, level)
    write_table(job.output.intervals, intervals, intervals_grid(intervals, level))
    save_figure(job.output.intervals_figure, draw_intervals(intervals, settings["learners"][0], level))
    comparisons = comparisons_table(folds, pairs, level)
    write_table(job.output.comparisons, comparisons, comparisons_grid(comparisons, level))
    table = agreement_table(comparisons, level)
    write_table(job.output.agreement, table, agreement_grid(table, level))
    table = repetitions_table(folds, level)
    write_table(job.output.repetitions, table, repetitions_grid(table))
    save_figure(job.output.repetitions_figure, draw_repetitions(table))
    table, result = ranks_table(intervals, level)
    write_table(job.output.ranks, table, ranks_grid(table, level))
    save_figure(job.output.difference_figure, draw_ranks(result))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
