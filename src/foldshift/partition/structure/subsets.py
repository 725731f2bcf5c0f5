"""Splits that ask whether subsets may be pooled: train on the same subset, on the others, or on all (SOAK)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.partition.methods.scv import scv_folds
from foldshift.partition.methods.stratified import stratified_folds

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, IntArray

TrainedOn = Literal["same", "other", "all"]
PARTS: tuple[TrainedOn, ...] = ("same", "other", "all")


class SubsetSplit(NamedTuple):
    """Name of one split."""

    subset: Any  # label of the subset that is tested
    fold: int  # number of its fold, from 0
    trained_on: TrainedOn  # the subset itself, the others, or all of them; never rows of the same fold


def subset_splits(labels: Array, n_splits: int) -> list[SubsetSplit]:
    """Name all splits in their order: by subset, fold, and what is trained on."""
    subsets = np.unique(labels)
    names = list(subsets) if subsets.dtype.kind in "mM" else subsets.tolist()
    return [SubsetSplit(name, fold, part) for name in names for fold in range(n_splits) for part in PARTS]


def folds_within_subsets(labels: Array, y: Array | None, n_splits: int, rng: np.random.Generator) -> IntArray:
    """Cut every subset into folds whose sizes differ by at most one, stratified on the target if it holds classes."""
    subsets, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(subsets) < 2:
        raise ValueError(f"subsets are {len(subsets)}, {subsets.tolist()}; expected at least two, to train on the others")
    if counts.min() < n_splits:
        small = subsets[counts.argmin() : counts.argmin() + 1].tolist()[0]
        raise ValueError(
            f"subset {small!r} has {counts.min()} sample{'s' * int(counts.min() > 1)}, fewer than the {n_splits} folds; "
            "take fewer folds, or leave this subset out"
        )
    classes = y is not None and not (y.dtype.kind == "f" and (y != np.floor(y)).any())
    folds = np.empty(len(labels), dtype=np.int64)
    for code in range(len(subsets)):
        rows = np.flatnonzero(codes == code)
        folds[rows] = (
            scv_folds(None, y[rows], n_splits, [rng])[0]
            if classes and y is not None
            else stratified_folds(np.zeros(len(rows)), n_splits, 1, [rng])[0]
        )
    return folds


def same_other_all(labels: Array, folds: IntArray, n_splits: int) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Yield training and test rows as masks, in the order of `subset_splits`."""
    codes = np.unique(labels, return_inverse=True)[1]
    everything = np.ones(len(labels), dtype=bool)
    for code in range(codes.max() + 1):
        same = codes == code
        for fold in range(n_splits):
            tested = folds == fold
            for pool in (same, ~same, everything):
                yield pool & ~tested, same & tested
