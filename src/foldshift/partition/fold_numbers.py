"""Fold numbers: their type and range, and the rows of every class. All partitioners use this: an edit cuts everything again."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.gate.folds import fold_dtype as fold_dtype  # offered by this module as well

if TYPE_CHECKING:
    from foldshift.core.types import IntArray


def check_n_folds(n_folds: int, n_samples: int) -> None:
    """Raise ValueError if the number of folds is outside ``2 .. n_samples``, or not a whole number."""
    if isinstance(n_folds, bool) or not isinstance(n_folds, numbers.Integral):
        raise ValueError(f"n_folds={n_folds!r} must be a whole number between 2 and the number of samples, {n_samples}")
    if not 2 <= n_folds <= n_samples:
        raise ValueError(f"n_folds={n_folds} must be between 2 and the number of samples, {n_samples}")


def rows_by_class(codes: IntArray) -> list[IntArray]:
    """List the rows of every class, ascending, from the codes ``0, 1, ...`` of all samples."""
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(bincount(codes))[:-1])
