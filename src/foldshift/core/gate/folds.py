"""Arrays of folds: checked in one way wherever one comes in, with one meaning of -1."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.gate.arrays import as_array, missing
from foldshift.core.gate.numbers import whole_numbers
from foldshift.core.gate.targets import check_one_type

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, TableLike

UNTESTED = -1  # as in scikit-learn's PredefinedSplit: the row is in every training part and in no test part


def fold_dtype(n_folds: int) -> type[np.unsignedinteger[Any]]:
    """Choose the smallest unsigned integer type that holds the fold numbers ``0 .. n_folds - 1``."""
    return np.uint8 if n_folds <= 256 else np.uint16 if n_folds <= 65536 else np.uint32


def check_folds(
    folds: ArrayLike, n_samples: int, *, n_seeds: int | None = None, n_folds: int | None = None, untested: bool = False
) -> Array:
    """Check folds and return them as an array.

    Parameters
    ----------
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer
        Fold of every sample, from 0, one row per seed.
    n_samples : int
        Number of samples that the folds must have.
    n_seeds : int, optional
        Number of rows that they must have.
    n_folds : int, optional
        Number of folds, none of which may be empty in any row. By default fold numbers may be left out.
    untested : bool, default=False
        Whether -1 is allowed: a row that is never tested, and in every training part.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples)
        Of the dtype received; if `folds` is not an array, unsigned, or int64 where -1 is in it.

    Raises
    ------
    ValueError
        If the shape differs, or a number is missing, masked, out of range or not whole; the message names it.

    Examples
    --------
    >>> from foldshift.partition import check_folds
    >>> check_folds([0, 1, 0, 1], n_samples=4)
    array([[0, 1, 0, 1]], dtype=uint8)
    >>> check_folds([0.5, 1, 0, 1], n_samples=4)
    Traceback (most recent call last):
        ...
    ValueError: folds hold 0.5; expected whole numbers, the fold of every sample
    """
    refuse_splitter(folds)
    given = as_array(folds, "folds")
    array = np.atleast_2d(given)
    if array.ndim != 2 or array.shape[1] != n_samples or n_seeds not in (None, len(array)):
        wanted = f"(n_seeds, n_samples) = {('n_seeds' if n_seeds is None else n_seeds, n_samples)}".replace("'", "")
        raise ValueError(f"folds have shape {given.shape}; expected {wanted}")
    array = whole_numbers(array, "folds", "the fold of every sample")
    if not array.size:
        return array
    low, high = int(array.min()), int(array.max())
    most = n_samples if n_folds is None else n_folds  # a number from n_samples on leaves an empty fold for certain
    if low < (UNTESTED if untested else 0) or high >= most:
        also = ", or -1 for a row that is never tested" if untested else ""
        raise ValueError(f"folds hold numbers from {low} to {high}; expected 0 to {most - 1}{also}")
    if n_folds is not None:
        for row, cut in enumerate(array):
            empty = np.flatnonzero(bincount(cut[cut >= 0], minlength=n_folds) == 0)
            if len(empty):
                raise ValueError(f"fold {empty[0]} of partition {row} is empty")
    if not isinstance(folds, np.ndarray):
        array = array.astype(fold_dtype(high + 1) if low >= 0 else np.int64)
    return array


def is_splitter(folds: ArrayLike) -> bool:
    """Check whether this is a splitter and not an array of folds."""
    return hasattr(folds, "split") and not isinstance(folds, str | bytes | np.ndarray)


def is_pairs(folds: Any) -> bool:
    """Check whether these are the pairs of training and test rows that a splitter gives, and not an array of folds."""
    if hasattr(folds, "__array__") or not isinstance(folds, list | tuple):
        return isinstance(folds, Iterator)
    first = folds[0] if len(folds) else None
    return isinstance(first, list | tuple) and len(first) == 2 and all(np.ndim(part) == 1 for part in first)


def refuse_splitter(folds: ArrayLike) -> None:
    """Raise ValueError for a splitter, its pairs or a number of folds; the message says how it becomes an array of folds."""
    if is_pairs(folds):
        raise ValueError(
            "folds are pairs of training and test rows; foldshift.partition.as_folds(pairs, X, y) makes the array of folds, a "
            "row for each repetition"
        )
    if isinstance(folds, numbers.Integral):
        raise ValueError(
            f"folds={folds!r} is one number; expected the fold of every row, as make_folds(..., n_folds={folds!r}, seeds=[0]) of "
            "foldshift.partition gives them"
        )
    if is_splitter(folds):
        raise ValueError(
            f"folds={folds!r} is a splitter; foldshift.partition.as_folds(cv, X, y) makes the array of its folds, a row for each "
            "repetition"
        )


def named_folds(folds: TableLike) -> Array:
    """Check the fold of every row where folds are only told apart: whole numbers from 0, -1 for rows never tested, or names.

    The array keeps its shape. Raise ValueError for missing or masked ones, other negative numbers, and numbers that are not
    whole.
    """
    refuse_splitter(folds)
    array = as_array(folds, "folds")
    gone = missing(array)
    if gone.any():
        raise ValueError(
            f"folds have no value for {int(gone.sum())} rows; give every row its fold, or -1 where it is never tested"
        )
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and any(isinstance(fold, str) for fold in array.ravel())):
        check_one_type(array.ravel(), "folds")
        return array
    array = whole_numbers(array, "folds", "the fold of every sample")
    if array.size and array.min() < UNTESTED:
        raise ValueError(f"folds hold {int(array.min())}; expected numbers from 0, or -1 for a row that is never tested")
    return array


def is_tested(folds: Array) -> BoolArray:
    """Mask of the rows that a fold tests, by folds that `named_folds` returned; raise ValueError if there is none."""
    tested = np.ones(folds.shape, dtype=bool) if folds.dtype.kind in "OUS" else folds != UNTESTED
    if not tested.any():
        raise ValueError("folds hold -1 in every row: no row is tested")
    return tested
