"""Folds as files: one for a data set and a block of seeds, with one array for every way of cutting."""

import numpy as np

from foldshift.core.files import atomic_path
from foldshift.engine.layout.file_names import cells_wanted, held_folds, in_order, runs_wanted
from foldshift.engine.layout.seed_blocks import block_range


def write_folds(path, folds, seeds):
    """Write the folds of a block of seeds.

    Parameters
    ----------
    path : path-like
        File in NumPy's ``.npz`` format, compressed: an array ``<partitioner>/k<k>`` for every way of cutting, and ``seeds/k<k>``.
    folds : dict of (str, int) to ndarray of shape (n_seeds, n_samples), unsigned integer
        Fold of every sample, by partitioner and k.
    seeds : dict of int to array-like of shape (n_seeds,)
        The seeds that made them, by k.
    """
    arrays = {f"{partitioner}/k{k}": array for (partitioner, k), array in folds.items()}
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **{f"seeds/k{k}": np.asarray(values, dtype=np.int64) for k, values in seeds.items()}, **arrays)


def read_folds(path):
    """Read folds that `write_folds` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    folds : dict of (str, int) to ndarray of shape (n_seeds, n_samples), unsigned integer
        By partitioner and k, in the order they were written.
    seeds : dict of int to ndarray of shape (n_seeds,), dtype int64
        By k.
    """
    seeds, folds = {}, {}
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            partitioner, _, k = name.rpartition("/k")
            if partitioner == "seeds":
                seeds[int(k)] = archive[name]
            else:
                folds[partitioner, int(k)] = archive[name]
    return folds, seeds


def join_folds(paths, wanted, n_seeds=None):
    """Folds of every partitioner and k that are wanted, the files one after the other in the order of their seeds.

    Parameters
    ----------
    paths : iterable of path-like
        Files of folds, in any order; they may hold more than is wanted.
    wanted : dict
        See `foldshift.engine.layout.file_names.runs_wanted`.
    n_seeds : int, optional
        Only the first seeds (experiments) of every partitioner and k.

    Returns
    -------
    folds : dict of (str, int) to ndarray of shape (n_runs, n_samples), unsigned integer
        In the order of `wanted`.
    seeds : dict of (str, int) to ndarray of shape (n_runs,), dtype int64
    """
    if n_seeds is not None:
        wanted = wanted | {"seeds": {cell: min(n, n_seeds) for cell, n in wanted["seeds"].items()}}
    parts = {}
    for path in in_order(paths):
        folds, seeds = read_folds(path)
        for (partitioner, k), n_runs in runs_wanted(held_folds(path), wanted).items():
            parts.setdefault((partitioner, k), []).append((folds[partitioner, k][:n_runs], seeds[k][:n_runs]))
    order = [cell for cell in cells_wanted(wanted) if cell in parts]
    return tuple({cell: np.concatenate([part[i] for part in parts[cell]]) for cell in order} for i in (0, 1))


def part_of_block(folds, seeds, held, wanted):
    """Folds of the seeds that a job works through, from those of a file that may hold more.

    Parameters
    ----------
    folds : dict of (str, int) to ndarray of shape (n_runs, n_samples), unsigned integer
        By partitioner and k, as `foldshift.engine.storage.fold_files.read_folds` reads them.
    seeds : dict of int to ndarray of shape (n_runs,)
        By k; a run is one of the equally many partitions of a seed of the block.
    held, wanted : str
        Names of the block in the file and of one within it, see `foldshift.engine.layout.seed_blocks.block_names`.

    Returns
    -------
    folds, seeds : dict, dict
        The same, of the block that is wanted.
    """
    (first, n_held), (start, n_wanted) = block_range(held), block_range(wanted)
    part = {}
    for k, values in seeds.items():
        runs = len(values) // n_held
        part[k] = slice((start - first) * runs, (start - first + n_wanted) * runs)
    return {name: cut[part[name[1]]] for name, cut in folds.items()}, {k: values[part[k]] for k, values in seeds.items()}
