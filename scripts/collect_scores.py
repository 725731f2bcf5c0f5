"""One row per seed from the scores of one data set: the mean over the folds, and how many fits failed."""

from foldshift.evaluation.metrics import METRICS
from foldshift.evaluation.storage import read_columns, write_rows
from foldshift.evaluation.summary import ERROR_SCHEMA, summarise_scores
from foldshift.jobs import run

COLUMNS = ("dataset", "learner", "partitioner", "k", "seed", *METRICS, "status")


def main(job):
    """Read the files of all cells, write one table."""
    parts = []
    for path in job.input.scores:
        columns = read_columns(path, COLUMNS)
        parts.append(summarise_scores(columns, int(columns["k"][0])))
    write_rows(job.output.errors, parts, ERROR_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
