"""Measure the target shift between training and test part of every fold: D_n of one data set, for the partitions of one file of
folds."""

from typing import Any

from foldshift.datasets.dataset import read_prepared
from foldshift.engine.jobs.run_job import run
from foldshift.engine.storage.fold_files import read_folds
from foldshift.engine.storage.score_files import SHIFT_SCHEMA, fold_rows, write_rows
from foldshift.shift.measures.ks import fold_ks


def main(job: Any) -> None:
    """One row per partitioner, k, seed and fold."""
    data = read_prepared(job.input.data)
    folds, seeds = read_folds(job.input.folds)
    parts = [
        fold_rows({"d_n": fold_ks(data.y, cut, k)}, seeds[k], dataset=data.name, partitioner=partitioner, k=k)
        for (partitioner, k), cut in folds.items()
    ]
    write_rows(job.output.shift, parts, SHIFT_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
