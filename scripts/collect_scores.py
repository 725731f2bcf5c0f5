"""One row per seed from the scores of one data set: the mean over the folds, and how many fits failed."""

from foldshift.evaluation.metrics import CLASSIFICATION_METRICS, METRICS
from foldshift.evaluation.storage import read_columns, write_rows
from foldshift.evaluation.summary import seed_schema, split_cells, summarise_scores
from foldshift.jobs import run

KEYS = ("dataset", "learner", "partitioner", "k", "seed")


def main(job):
    """Read the files of all learners, write one table."""
    metrics = CLASSIFICATION_METRICS if job.params.task == "classification" else METRICS
    columns = (*KEYS, *metrics, "status")
    cells = (cell for path in job.input.scores for cell in split_cells(read_columns(path, columns)))
    write_rows(job.output.seeds, [summarise_scores(cell, metrics) for cell in cells], seed_schema(metrics))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
