"""Table 4 and D_n per data set of the regression study."""

from foldshift.jobs import run
from foldshift.reporting.rows import read_cells
from foldshift.reporting.saez_2022 import shift_by_dataset, shift_grid, shift_table
from foldshift.reporting.tables import plain_grid, write_table

CAPTION = (
    "Target shift that cross-validation itself induces: the Kolmogorov-Smirnov distance D_n between the target's distributions in training and test part, "
    "mean over folds, seeds and data sets. CV cuts at random; SCVt first sorts by target into t strata and spreads each over the folds; TSCV is the "
    "extreme, one stratum per sample. Smaller is better."
)
BY_DATASET = (
    "D_n of every data set: mean over folds and seeds, its Monte Carlo standard error, and the standard deviation over seeds."
)


def main(job):
    """Arrange the seeds, test, write both tables."""
    settings = job.params.settings
    folds, partitioners, datasets = settings["n_folds"], settings["partitioners"], settings["datasets"]
    cells = [(k, name) for k in folds for name in partitioners]
    (shift,) = read_cells(job.input.shift, ("k", "partitioner"), ("d_n",), datasets, cells)
    table = shift_table(shift, folds, partitioners)
    write_table(job.output.html, table, shift_grid(table, settings["alpha"], CAPTION))
    table = shift_by_dataset(shift, folds, partitioners, datasets)
    write_table(job.output.by_dataset, table, plain_grid(table, BY_DATASET))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
