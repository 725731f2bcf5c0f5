"""Measure the shift of cuts that heed how rows belong together: by time, place, group and subset."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from foldshift.core.counting import bincount
from foldshift.core.seeding import draw_seeds, generator
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.storage.score_files import TEXT
from foldshift.partition.methods.stratified import stratified_folds
from foldshift.partition.structure.forward import forward_splits
from foldshift.partition.structure.spatial_blocks import block_folds
from foldshift.partition.structure.subsets import PARTS, folds_within_subsets, same_other_all
from foldshift.shift.measures.covariates import MEASURES, fold_covariates
from foldshift.shift.measures.ks import fold_ks

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Inputs, IntArray, Rows
    from foldshift.datasets.dataset import Dataset

AT_RANDOM = "CV"
SHIFTS = ("target", *MEASURES)

SCHEMAS = {
    "structured_cuts": pa.schema(
        [
            ("dataset", TEXT),
            ("cut", TEXT),
            ("k", pa.int32()),
            ("run", pa.int32()),
            ("n_parts", pa.int32()),  # test parts
            ("train_share", pa.float64()),  # of all rows, mean over the test parts
            ("test_share", pa.float64()),
            *[(name, pa.float64()) for name in SHIFTS],
            *[(f"{name}_chance", pa.float64()) for name in SHIFTS],
            ("problem", TEXT),  # why there is no such cut; empty if there is one
        ]
    )
}


class Cut(NamedTuple):
    """Some rows of a data set and their folds: -1 is a row that always trains."""

    rows: IntArray  # (n_rows,)
    folds: IntArray  # (n_rows,)


Cutting = Callable[["Dataset", int, np.random.Generator], Iterator[Cut]]


def measure_structured_cuts(
    inputs: Inputs, cell: dict[str, str], *, n_folds: Sequence[int], n_runs: int, master_seed: int
) -> dict[str, Rows]:
    """Measure target shift and shift of the inputs of every cut by structure, of a random cut, and what chance gives.

    Chance is a cut of the same rows into parts of the same sizes, at random.
    """
    data = read_prepared(inputs.data)
    rows: Rows = []
    for name, cutting in cuts_of(data).items():
        for k in n_folds:
            logging.info("%s, k=%d", name, k)
            rows += _rows_of_cut(data, name, cutting, k, n_runs, master_seed)
    return {"structured_cuts": rows}


def cuts_of(data: Dataset) -> dict[str, Cutting]:
    """Cuts by name that the structure of a data set allows; the random one is first."""
    found: dict[str, Cutting] = {AT_RANDOM: _at_random}
    if data.groups is not None:
        found["GROUPS"] = _by_groups
    if data.times is not None:
        found["FORWARD"] = _forward
    if data.coordinates is not None:
        found["BLOCKS"] = _blocks
    if data.subsets is not None:
        found |= {part.upper(): _of_subsets(number) for number, part in enumerate(PARTS)}
    return found


def _rows_of_cut(data: Dataset, name: str, cutting: Cutting, k: int, n_runs: int, master_seed: int) -> Rows:
    """Measure the runs of one cut; a cut forward in time is the same in every run, and has one."""
    runs = 1 if cutting is _forward else n_runs
    rows: Rows = []
    for run, seed in enumerate(draw_seeds(master_seed, runs).tolist()):
        keys: dict[str, Any] = {"dataset": [data.name], "cut": [name], "k": [k], "run": [run]}
        rng = generator(master_seed, "structured cuts", data.name, name, k, seed)
        try:
            measured = _mean_over_parts(data, list(cutting(data, k, rng)), n_runs // runs, rng)
        except ValueError as error:
            empty: dict[str, Any] = {column: [None] for column in SCHEMAS["structured_cuts"].names[4:-1]}
            return [keys | empty | {"n_parts": [0], "problem": [str(error)]}]
        rows.append(keys | {column: [value] for column, value in measured.items()} | {"problem": [""]})
    return rows


def _mean_over_parts(data: Dataset, cuts: list[Cut], n_random: int, rng: np.random.Generator) -> dict[str, float]:
    """Average the shift over all test parts, of the cut and of random ones."""
    found, chance, sizes = [], [], []
    for cut in cuts:
        folds = np.stack([cut.folds, *(rng.permutation(cut.folds) for _ in range(n_random))])
        k = int(cut.folds.max()) + 1
        shift = {"target": _target_shift(data, cut.rows, folds, k)}
        shift |= fold_covariates(data.X[cut.rows], folds, k, categorical_features=data.categorical_features)
        values = np.stack([shift[name] for name in SHIFTS])  # (n_shifts, 1 + n_random, k)
        found.append(values[:, 0])
        chance.append(values[:, 1:].mean(axis=1))
        tested = bincount(cut.folds[cut.folds >= 0], minlength=k)
        sizes.append(np.stack([len(cut.rows) - tested, tested]) / len(data.y))
    train, test = np.concatenate(sizes, axis=1)
    means = [np.nanmean(np.concatenate(parts, axis=1), axis=1).tolist() for parts in (found, chance)]
    return (
        {"n_parts": len(train), "train_share": float(train.mean()), "test_share": float(test.mean())}
        | dict(zip(SHIFTS, means[0]))
        | {f"{name}_chance": value for name, value in zip(SHIFTS, means[1])}
    )


def _target_shift(data: Dataset, rows: IntArray, folds: IntArray, k: int) -> FloatArray:
    """Compute D_n of a target of numbers, or the total variation of classes, of every fold, (n_cuts, k)."""
    y = data.y[rows]
    if not data.classes:
        return fold_ks(y, folds, k)
    counts = np.zeros((len(folds), k, len(data.classes)))
    for cut, row in zip(counts, folds):
        tested = row >= 0
        np.add.at(cut, (row[tested], y[tested]), 1)
    others = bincount(y, minlength=len(data.classes)) - counts
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = counts / counts.sum(axis=2, keepdims=True) - others / others.sum(axis=2, keepdims=True)
    return np.abs(gap).sum(axis=2) / 2


# ---- the cuts ----


def _at_random(data: Dataset, k: int, rng: np.random.Generator) -> Iterator[Cut]:
    n = len(data.y)
    yield Cut(np.arange(n), stratified_folds(np.zeros(n), k, 1, [rng])[0].astype(np.int64))


def _by_groups(data: Dataset, k: int, rng: np.random.Generator) -> Iterator[Cut]:
    """Leave out whole groups: in random order, each goes to the fold with the fewest rows so far."""
    assert data.groups is not None
    codes, sizes = np.unique(data.groups, return_inverse=True, return_counts=True)[1:]
    if len(sizes) < k:
        raise ValueError(f"{len(sizes)} groups are too few for {k} folds")
    fold_of, filled = np.empty(len(sizes), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for group in rng.permutation(len(sizes)):
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    yield Cut(np.arange(len(codes)), fold_of[codes])


def _forward(data: Dataset, k: int, rng: np.random.Generator) -> Iterator[Cut]:
    """Test every block of times after the first by all earlier rows."""
    assert data.times is not None
    for train, test in forward_splits(data.times, k, 0, None):
        rows = np.concatenate([train, test])
        yield Cut(rows, np.repeat([-1, 0], [len(train), len(test)]))


def _blocks(data: Dataset, k: int, rng: np.random.Generator) -> Iterator[Cut]:
    yield Cut(np.arange(len(data.y)), block_folds(data.X, data.y, k, [rng], coordinates=data.coordinates)[0].astype(np.int64))


def _of_subsets(number: int) -> Cutting:
    """Make the cut that trains on the same subset, on the others, or on all, by its number among `PARTS`."""

    def cut(data: Dataset, k: int, rng: np.random.Generator) -> Iterator[Cut]:
        assert data.subsets is not None
        folds = folds_within_subsets(data.subsets, data.y if data.classes else None, k, rng)
        for at, (train, test) in enumerate(same_other_all(data.subsets, folds, k)):
            if at % len(PARTS) == number:
                rows = np.flatnonzero(train | test)
                yield Cut(rows, np.where(test[rows], 0, -1))

    return cut


def first_call() -> None:
    """Call the compiled functions of this module on three columns of made-up data."""
    X, folds = np.column_stack([np.arange(40.0), np.arange(40.0) % 3, np.arange(40.0) % 2]), np.arange(80).reshape(2, 40) % 4
    fold_covariates(X, folds, 4, categorical_features=np.array([False, False, True]))
    fold_ks(X[:, 1], folds, 4)
