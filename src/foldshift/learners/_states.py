"""Partitions that a learner predicts at once, and the seeds of its fits."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from foldshift.core.types import RandomState, UnsignedArray


class Cuts(NamedTuple):
    """Partitions of one data set; every row of `folds` has all the folds."""

    folds: UnsignedArray  # (n_seeds, n_samples)
    n_folds: int
    random_states: UnsignedArray | None  # (n_seeds, n_folds), of the fits; None: those of the learner's own random state

    def seeds(self, random_state: RandomState) -> UnsignedArray:
        """Seeds (n_seeds, n_folds), uint64, of the fits of a learner with a random state."""
        shape = len(self.folds), self.n_folds
        return fit_seeds(random_state, shape) if self.random_states is None else self.random_states.astype(np.uint64)


def fit_seeds(random_state: RandomState, shape: tuple[int, int]) -> UnsignedArray:
    """Make the seeds of single fits (uint64): the int itself for every fit, or else one draw after the other."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        check_random_state(random_state)  # refuses a negative or too large seed as everywhere in scikit-learn
        return np.full(shape, random_state, dtype=np.uint64)
    generator = check_random_state(random_state)
    draws = [generator.randint(2**32, dtype=np.uint32) for _ in range(shape[0] * shape[1])]
    return np.array(draws, dtype=np.uint64).reshape(shape)
