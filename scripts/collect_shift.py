"""One row per partitioner, k and seed from the target shift of one data set: the mean of D_n over the folds."""

from foldshift.evaluation.storage import read_columns, write_rows
from foldshift.evaluation.summary import SEED_SHIFT_SCHEMA, split_cells, summarise_shift
from foldshift.jobs import run

COLUMNS = ("dataset", "partitioner", "k", "seed", "d_n")


def main(job):
    """Read the files of all blocks, write one table."""
    cells = (cell for path in job.input.shift for cell in split_cells(read_columns(path, COLUMNS)))
    write_rows(job.output.shift, [summarise_shift(cell) for cell in cells], SEED_SHIFT_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
