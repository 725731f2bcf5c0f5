"""Cut one prepared data set into folds: some partitioners, every k, once per seed of a block."""

import logging

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.importing import import_object
from foldshift.jobs import run
from foldshift.partition.registry import make_folds
from foldshift.partition.storage import write_folds
from foldshift.planning.blocks import block_range
from foldshift.seeding import draw_seeds, seed_sequence


def cut(data, partitioner, k, seeds, master_seed, own=None):
    """Folds of one partitioner and k; a partition that cannot be made is a `DataError` that names all three.

    Parameters
    ----------
    data : foldshift.datasets.Dataset
    partitioner : str
    k : int
    seeds : sequence of int
    master_seed : int
    own : dict, optional
        Configuration of a partitioner of the user's own: ``import`` and ``params``.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
    """
    sequences = [seed_sequence(master_seed, "folds", data.name, partitioner, k, seed) for seed in seeds]
    try:
        function = import_object(own["import"], f"partitioner {partitioner}") if own else partitioner
        return make_folds(function, data.X, data.y, k, sequences, **(own or {}).get("params", {}))
    except ValueError as error:
        raise DataError(f"data set {data.name}, partitioner {partitioner}, k={k}: {error}") from error


def main(job):
    """Make the folds of every seed of the block, write them."""
    data = read_prepared(job.input.data)
    start, n_seeds = block_range(job.wildcards.block)
    seeds = draw_seeds(job.params.master_seed, start + n_seeds)[start:]
    own = job.params.own_partitioners
    folds = {}
    for name, k in job.params.cells:
        folds[name, k] = cut(data, name, k, seeds, job.params.master_seed, own.get(name))
        logging.info("%s, k=%d: %d partitions of %d samples", name, k, *folds[name, k].shape)
    write_folds(job.output.folds, folds, seeds)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
