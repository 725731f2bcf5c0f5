"""Files of folds: one for a data set and a block of seeds, with one array for every way of cutting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.files import atomic_path
from foldshift.datasets.array_files import read_arrays
from foldshift.engine.layout.file_names import cells_wanted, held_folds, in_order, runs_wanted
from foldshift.engine.layout.seed_blocks import block_range

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, IntArray, PathLike, UnsignedArray


def write_folds(path: PathLike, folds: dict[tuple[str, int], UnsignedArray], seeds: dict[int, ArrayLike]) -> None:
    """Write the folds of a block of seeds."""
    arrays: dict[str, Any] = {f"seeds/k{k}": np.asarray(values, dtype=np.int64) for k, values in seeds.items()}
    arrays |= {f"{partitioner}/k{k}": array for (partitioner, k), array in folds.items()}
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)


def read_folds(path: PathLike) -> tuple[dict[tuple[str, int], UnsignedArray], dict[int, IntArray]]:
    """Read folds that `write_folds` wrote."""
    seeds: dict[int, IntArray] = {}
    folds: dict[tuple[str, int], UnsignedArray] = {}
    for name, array in read_arrays(path).items():
        partitioner, _, k = name.rpartition("/k")
        if partitioner == "seeds":
            seeds[int(k)] = array
        else:
            folds[partitioner, int(k)] = array
    return folds, seeds


def join_folds(
    paths: Iterable[PathLike], wanted: dict[str, dict[str, Any]], n_seeds: int | None = None
) -> tuple[dict[tuple[str, int], Any], ...]:
    """Folds of every partitioner and k that are wanted, the files one after the other in the order of their seeds."""
    if n_seeds is not None:
        wanted = wanted | {"seeds": {cell: min(n, n_seeds) for cell, n in wanted["seeds"].items()}}
    parts: dict[tuple[str, int], list[tuple[Array, Array]]] = {}
    for path in in_order(paths):
        folds, seeds = read_folds(path)
        for (partitioner, k), n_runs in runs_wanted(held_folds(path), wanted).items():
            parts.setdefault((partitioner, k), []).append((folds[partitioner, k][:n_runs], seeds[k][:n_runs]))
    order = [cell for cell in cells_wanted(wanted) if cell in parts]
    return tuple({cell: np.concatenate([part[i] for part in parts[cell]]) for cell in order} for i in (0, 1))


def part_of_block(
    folds: dict[tuple[str, int], UnsignedArray], seeds: dict[int, Array], held: str, wanted: str
) -> tuple[dict[tuple[str, int], UnsignedArray], dict[int, Array]]:
    """Select the folds of the seeds that a job evaluates, from a file that may hold more."""
    (first, n_held), (start, n_wanted) = block_range(held), block_range(wanted)
    part = {}
    for k, values in seeds.items():
        runs = len(values) // n_held
        part[k] = slice((start - first) * runs, (start - first + n_wanted) * runs)
    return {name: cut[part[name[1]]] for name, cut in folds.items()}, {k: values[part[k]] for k, values in seeds.items()}
