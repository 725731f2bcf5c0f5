"""One row per seed from the scores of one data set: the mean over the folds, and how many fits failed."""

from foldshift.evaluation.metrics import METRICS
from foldshift.evaluation.storage import read_columns, write_rows
from foldshift.evaluation.summary import ERROR_SCHEMA, split_cells, summarise_scores
from foldshift.jobs import run

COLUMNS = ("dataset", "learner", "partitioner", "k", "seed", *METRICS, "status")


def main(job):
    """Read the files of all learners, write one table."""
    cells = (cell for path in job.input.scores for cell in split_cells(read_columns(path, COLUMNS)))
    write_rows(job.output.errors, [summarise_scores(cell) for cell in cells], ERROR_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
