"""Cut one prepared data set into folds: some partitioners, every k, once per seed of a block."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from foldshift.core.errors import DataError
from foldshift.core.imports import import_object
from foldshift.core.seeding import draw_seeds, seed_sequence
from foldshift.core.types import UnsignedArray
from foldshift.datasets.dataset import Dataset, read_prepared
from foldshift.engine.jobs.run_job import run
from foldshift.engine.jobs.user_code import PARTITIONER, OwnCodeError, call_own
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.storage.fold_files import write_folds
from foldshift.partition.folds import check_folds
from foldshift.partition.registry import make_folds, options_of


def cut(data: Dataset, name: str, k: int, seeds: Sequence[int], master_seed: int, choice: dict[str, Any]) -> UnsignedArray:
    """Folds of one way of cutting; a partition that cannot be made is a `DataError` that names data set, partitioner and k.

    Parameters
    ----------
    data : foldshift.datasets.Dataset
    name : str
        Id of the partitioner, which its randomness is derived from.
    k : int
    seeds : sequence of int
    master_seed : int
    choice : dict
        ``partitioner`` or ``import`` (the function of one of the user's own), and ``options`` for it.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
    """
    sequences = [seed_sequence(master_seed, "folds", data.name, name, k, seed) for seed in seeds]
    options = dict(choice["options"])
    try:
        if "import" in choice:
            function = own_function(name, choice["import"])
        else:
            function = choice["partitioner"]
            known = {"categorical_features": data.categorical_features, "groups": data.groups, "task": data.task}
            options = options_of(function, **known) | options
        return make_folds(function, data.X, data.y, k, sequences, **options)
    except ValueError as error:
        remedy = "" if isinstance(error, OwnCodeError) else "; take this data set, partitioner or k out of the study"
        raise DataError(f"data set {data.name}, partitioner {name}, k={k}: {error}{remedy}") from error


def own_function(name: str, path: str) -> Callable[..., UnsignedArray]:
    """A partitioner of the user's own; what it raises is told as its fault."""
    function = import_object(path, f"partitioner {name}")

    def cut(X: Any, y: Any, n_folds: int, rngs: Sequence[Any], **options: Any) -> UnsignedArray:
        folds = call_own(path, PARTITIONER, function, X, y, n_folds, rngs, **options)
        try:
            return check_folds(folds, len(y), n_seeds=len(rngs), n_folds=n_folds)
        except ValueError as error:
            raise OwnCodeError(f"your {path} returned what is no partition: {error}; {PARTITIONER}") from error

    return cut


def main(job: Any) -> None:
    """Make the folds of every seed of the block, write them."""
    data = read_prepared(job.input.data)
    start, n_seeds = block_range(job.wildcards.block)
    all_seeds = draw_seeds(job.params.master_seed, (start + n_seeds) * max(job.params.iterations.values()))
    seeds = {k: all_seeds[start * r : (start + n_seeds) * r] for k, r in job.params.iterations.items()}
    folds = {}
    for k in seeds:
        for name, choice in job.params.partitioners.items():
            folds[name, k] = cut(data, name, k, seeds[k], job.params.master_seed, choice)
            logging.info("%s, k=%d: %d partitions of %d samples", name, k, *folds[name, k].shape)
    write_folds(job.output.folds, folds, seeds)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
