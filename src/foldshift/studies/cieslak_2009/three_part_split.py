"""Cut one data set into training, validation and test part, and say which class is positive."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.seeding import generator
from foldshift.shift.inject.injectors import feature_scale

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray
    from foldshift.datasets.dataset import Dataset

STUDY = "cieslak_2009"
SMALLEST_CLASS = 4  # rows: one or more in every part


class Split(NamedTuple):
    """Rows of the three parts, each in random order."""

    train: IntArray
    validation: IntArray
    test: IntArray


class Repeat(NamedTuple):
    """A random split of a data set."""

    data: Dataset  # classification data set, not scaled
    # master_seed, number: All randomness is derived from both, with the names of data set, condition and learner: rows do not
    # depend on what else is measured
    master_seed: int
    number: int
    y: BoolArray  # true for positive rows; shape (n_samples,)
    parts: Split  # rows of the parts
    # standard deviations in the training part, the unit of a translation; 0 for nominal features, which are not moved; shape
    # (n_features,)
    scale: FloatArray

    def generator(self, purpose: str, *names: str | float) -> np.random.Generator:
        """Make the generator of one purpose."""
        return generator(self.master_seed, STUDY, self.data.name, purpose, self.number, *names)


def draw_repeat(data: Dataset, master_seed: int, number: int, positive: str | None = None) -> Repeat:
    """Split a data set at random into training, validation and test part; `positive` as for `positive_class`."""
    y = positive_class(data, positive)
    parts = split(y, generator(master_seed, STUDY, data.name, "split", number))
    scale = np.where(data.categorical_features, 0.0, feature_scale(data.X[parts.train]))
    return Repeat(data, master_seed, number, y, parts, scale)


def split_sizes(n: int) -> tuple[int, int, int]:
    """Rows of training, validation and test part: 50, 20 and 30 % of the rows of a class, the first two rounded up.

    Summed over classes they are Table 1 of the paper to 0.2 % of the rows (but for Compustat, which is a split by time).
    """
    if n < SMALLEST_CLASS:
        raise ValueError(
            f"a class has {n} rows; {SMALLEST_CLASS} or more are needed for a training, a validation and a test part"
        )
    n_train, n_validation = -(-n // 2), -(-n // 5)
    return n_train, n_validation, n - n_train - n_validation


def split(y: BoolArray, rng: np.random.Generator) -> Split:
    """Draw training, validation and test part with the same share of every class."""
    parts: tuple[list[IntArray], ...] = ([], [], [])
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        for part, piece in zip(parts, np.split(rows, np.cumsum(split_sizes(len(rows)))[:2])):
            part.append(piece)
    return Split(*(rng.permutation(np.concatenate(part)) for part in parts))


def positive_class(data: Dataset, label: str | None = None) -> BoolArray:
    """Mark the rows of the positive class: `label`, or the rarest class (of several the last)."""
    if label is None:
        counts = np.bincount(data.y, minlength=len(data.classes))
        return data.y == len(counts) - 1 - np.argmin(counts[::-1])
    if str(label) not in data.classes:
        raise ValueError(f"positive_class={label!r} must be a class of data set {data.name}: {', '.join(data.classes)}")
    return data.y == data.classes.index(str(label))
