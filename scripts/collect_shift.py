"""One row per seed from the target shift of one data set: the mean of D_n over the folds."""

from typing import Any

from foldshift.engine.jobs.run_job import run
from foldshift.engine.layout.file_names import cells_wanted, held_folds, in_order, runs_wanted
from foldshift.engine.storage.score_files import SHIFT_SCHEMA, read_columns, write_rows
from foldshift.engine.storage.seed_results import SEED_SHIFT_SCHEMA, select_cells, summarise_shift


def main(job: Any) -> None:
    """Read the files that hold what is wanted; write it in the order of the configuration, whatever files it stands in."""
    wanted, found = job.params.wanted, {}
    for path in in_order(job.input.shift):
        columns = read_columns(path, SHIFT_SCHEMA.names)
        for cell, rows in select_cells(columns, ("partitioner", "k"), runs_wanted(held_folds(path), wanted)).items():
            found.setdefault(cell, []).append(summarise_shift({name: values[rows] for name, values in columns.items()}))
    write_rows(job.output.seeds, [part for cell in cells_wanted(wanted) for part in found[cell]], SEED_SHIFT_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
