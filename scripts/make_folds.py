"""Cut one prepared data set into folds, once per seed of a block."""

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.importing import import_object
from foldshift.jobs import run
from foldshift.partition.registry import make_folds
from foldshift.partition.storage import write_folds
from foldshift.planning.blocks import block_range
from foldshift.seeding import draw_seeds, seed_sequence


def main(job):
    """Make the folds of every seed of the block, write them."""
    data = read_prepared(job.input.data)
    name, k = job.wildcards.partitioner, int(job.wildcards.k)
    start, n_seeds = block_range(job.wildcards.block)
    seeds = draw_seeds(job.params.master_seed, start + n_seeds)[start:]
    own = job.params.own_partitioner
    sequences = [seed_sequence(job.params.master_seed, "folds", data.name, name, k, seed) for seed in seeds]
    try:
        partitioner = import_object(own["import"], f"partitioner {name}") if own else name
        folds = make_folds(partitioner, data.X, data.y, k, sequences, **(own or {}).get("params", {}))
    except ValueError as error:
        raise DataError(f"data set {data.name}, partitioner {name}, k={k}: {error}") from error
    write_folds(job.output.folds, folds, seeds)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
