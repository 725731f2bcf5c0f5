"""One row per partitioner, k and seed from the target shift of one data set: the mean of D_n over the folds."""

from foldshift.evaluation.storage import read_columns, write_rows
from foldshift.evaluation.summary import SEED_SHIFT_SCHEMA, summarise_shift
from foldshift.jobs import run

COLUMNS = ("dataset", "partitioner", "k", "seed", "d_n")


def main(job):
    """Read the files of all blocks, write one table."""
    parts = [rows for path in job.input.shift for rows in summarise_shift(read_columns(path, COLUMNS))]
    write_rows(job.output.shift, parts, SEED_SHIFT_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
