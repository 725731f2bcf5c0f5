"""How one data set is cut: training, validation and test part, and which class is positive."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray
    from foldshift.datasets.dataset import Dataset

SMALLEST_CLASS = 4  # rows: one or more in every part


class Split(NamedTuple):
    """Rows of the three parts, each in random order."""

    train: Array
    validation: Array
    test: Array


def split_sizes(n: int) -> tuple[int, ...]:
    """Rows of training, validation and test part: 50, 20 and 30 % of the rows of a class, the first two rounded up.

    Summed over classes they are Table 1 of the paper to 0.2 % of the rows (but for Compustat, which is a split by time).
    """
    if n < SMALLEST_CLASS:
        raise ValueError(
            f"a class has {n} rows; {SMALLEST_CLASS} or more are needed for a training, a validation and a test part"
        )
    n_train, n_validation = -(-n // 2), -(-n // 5)
    return n_train, n_validation, n - n_train - n_validation


def split(y: Array, rng: np.random.Generator) -> Split:
    """Random training, validation and test part with the same share of every class."""
    parts = [[], [], []]
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        for part, piece in zip(parts, np.split(rows, np.cumsum(split_sizes(len(rows)))[:2])):
            part.append(piece)
    return Split(*(rng.permutation(np.concatenate(part)) for part in parts))


def positive_class(data: Dataset, label: str | None = None) -> BoolArray:
    """Which rows are positive: those of one class, against all others."""
    if label is None:
        counts = np.bincount(data.y, minlength=len(data.classes))
        return data.y == len(counts) - 1 - np.argmin(counts[::-1])
    if str(label) not in data.classes:
        raise ValueError(f"positive_class={label!r} must be a class of data set {data.name}: {', '.join(data.classes)}")
    return data.y == data.classes.index(str(label))
