"""Cut one prepared data set into folds: some partitioners, every k, once per seed of a block."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from foldshift.core.errors import DataError, LearnerError
from foldshift.core.imports import import_object
from foldshift.core.seeding import draw_seeds, seed_sequence
from foldshift.core.types import UnsignedArray
from foldshift.datasets.dataset import Dataset, read_prepared
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.jobs.run_job import run
from foldshift.engine.jobs.user_code import PARTITIONER, OwnCodeError, call_own
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.storage.fold_files import write_folds
from foldshift.partition.folds import check_folds
from foldshift.partition.registry import make_folds, options_of
from foldshift.partition.user_cuts import array_of_folds


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
            options = options_of(function, **known, coordinates=data.coordinates) | options
        return make_folds(function, data.X, data.y, k, sequences, **options)
    except ValueError as error:
        remedy = (
            "" if isinstance(error, OwnCodeError | LearnerError) else "; take this data set, partitioner or k out of the study"
        )
        raise DataError(f"data set {data.name}, partitioner {name}, k={k}: {error}{remedy}") from error


def own_function(name: str, path: str) -> Callable[..., UnsignedArray]:
    """A partitioner of the user's own; what it raises is told as its fault."""
    function = import_object(path, f"partitioner {name}")

    def cut(X: Any, y: Any, n_folds: int, rngs: Sequence[Any], **options: Any) -> UnsignedArray:
        folds = call_own(path, PARTITIONER, function, X, y, n_folds, rngs, **options)
        try:
            return check_folds(array_of_folds("it", folds), len(y), n_seeds=len(rngs), n_folds=n_folds)
        except ValueError as error:
            raise OwnCodeError(f"your {path} returned what is no partition: {error}; {PARTITIONER}") from error

    cut.__name__ = name
    return cut


def guarded(
    cut: Callable[..., Any], choices: dict[str, Any], cells: Sequence[tuple[str, int]], limits: dict[str, Any], dataset: str
) -> dict[tuple[str, int], UnsignedArray]:
    """Folds by partitioners of the user's own, in a process of their own, as learners are."""
    folds = {}
    for (name, k), found in run_cells(cut, cells, **limits):
        if isinstance(found, Lost):
            what = f"data set {dataset}, partitioner {name}, k={k}: your {choices[name]['import']}"
            raise OwnCodeError(f"{what} did not return: {found.message}; {PARTITIONER}")
        folds[name, k] = found
    return folds


def main(job: Any) -> None:
    """Make the folds of every seed of the block, write them."""
    data = read_prepared(job.input.data)
    start, n_seeds = block_range(job.wildcards.block)
    all_seeds = draw_seeds(job.params.master_seed, (start + n_seeds) * max(job.params.iterations.values()))
    seeds = {k: all_seeds[start * r : (start + n_seeds) * r] for k, r in job.params.iterations.items()}
    choices = job.params.partitioners
    folds = {}

    def cell(of: tuple[str, int]) -> UnsignedArray:
        return cut(data, of[0], of[1], seeds[of[1]], job.params.master_seed, choices[of[0]])

    own = guarded(
        cell, choices, [(name, k) for name in choices for k in seeds if "import" in choices[name]], job.params.limits, data.name
    )
    for k in seeds:
        for name in choices:
            folds[name, k] = own[name, k] if (name, k) in own else cell((name, k))
    for (name, k), found in folds.items():
        logging.info("%s, k=%d: %d partitions of %d samples", name, k, *found.shape)
    write_folds(job.output.folds, folds, seeds)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
