"""Arrays of folds: checked in one way wherever one comes in, and made from anything that scikit-learn takes as ``cv=``."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from foldshift.partition.fold_numbers import fold_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, IntArray, Splitter, TableLike

UNTESTED = -1  # as in scikit-learn's PredefinedSplit: the row is in every training part and in no test part


class PartialTrainingError(ValueError):
    """A training part is not all that its test part leaves: an array of folds cannot say that."""


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
        If the shape differs, or a number is out of range or not whole; the message names it.

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
    given = np.asarray(folds)
    array = np.atleast_2d(given)
    if array.ndim != 2 or array.shape[1] != n_samples or n_seeds not in (None, len(array)):
        wanted = f"(n_seeds, n_samples) = {('n_seeds' if n_seeds is None else n_seeds, n_samples)}".replace("'", "")
        raise ValueError(f"folds have shape {given.shape}; expected {wanted}")
    if array.dtype.kind not in "ui":
        array = _whole_numbers(array)
    if not array.size:
        return array
    low, high = int(array.min()), int(array.max())
    most = n_samples if n_folds is None else n_folds  # a number from n_samples on leaves an empty fold for certain
    if low < (UNTESTED if untested else 0) or high >= most:
        also = ", or -1 for a row that is never tested" if untested else ""
        raise ValueError(f"folds hold numbers from {low} to {high}; expected 0 to {most - 1}{also}")
    if n_folds is not None:
        for row, cut in enumerate(array):
            empty = np.flatnonzero(np.bincount(cut[cut >= 0], minlength=n_folds) == 0)
            if len(empty):
                raise ValueError(f"fold {empty[0]} of partition {row} is empty")
    if not isinstance(folds, np.ndarray):
        array = array.astype(fold_dtype(high + 1) if low >= 0 else np.int64)
    return array


def is_splitter(folds: ArrayLike) -> bool:
    """Check whether this is a splitter and not an array of folds."""
    return hasattr(folds, "split") and not isinstance(folds, str | bytes | np.ndarray)


def refuse_splitter(folds: ArrayLike) -> None:
    """Raise ValueError for a splitter; the message says how it becomes an array of folds."""
    if is_splitter(folds):
        raise ValueError(
            f"folds={folds!r} is a splitter; foldshift.partition.as_folds(cv, X, y) makes the array of its folds, a row for each "
            "repetition"
        )


def given_folds(
    folds: ArrayLike, n_folds: int | None, X: TableLike, y: ArrayLike | None = None, *, least: int = 1
) -> tuple[Array, int]:
    """Check folds that a user gives, an array or a splitter; return the array and the number of folds (at least `least`)."""
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    folds = check_folds(as_folds(folds, X, y) if is_splitter(folds) else folds, n_samples)
    if not folds.size:
        raise ValueError(f"folds have shape {folds.shape}; expected at least one partition of at least one sample")
    largest = int(folds.max())
    n_folds = largest + 1 if n_folds is None else n_folds
    if isinstance(n_folds, bool) or not isinstance(n_folds, int | np.integer) or n_folds < max(largest + 1, least):
        raise ValueError(f"n_folds={n_folds!r} must be an integer of at least {least} and above the largest fold, {largest}")
    return folds, int(n_folds)


def _whole_numbers(array: Array) -> IntArray:
    """Convert floats or objects, such as those of a nullable column, to int64; raise ValueError for any that is not whole."""
    if array.dtype.kind not in "fO":
        raise ValueError(f"folds have dtype {array.dtype}; expected an integer type")
    for value in array.ravel().tolist():
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real) or value % 1 != 0:
            raise ValueError(f"folds hold {value!r}; expected whole numbers, the fold of every sample")
    return array.astype(np.int64)


def as_folds(
    cv: Splitter | Iterable[tuple[Array, Array]], X: TableLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
) -> Array:
    """Convert the folds of a scikit-learn splitter to an array.

    Parameters
    ----------
    cv : splitter, or iterable of (train, test)
        Anything with a method ``split(X, y, groups)``, or the pairs of index arrays that it would give.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,), optional
        Target.
    groups : array-like of shape (n_samples,), optional
        Groups, for splitters that need them.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples)
        Fold of every sample; a new row begins with the first test part that holds a sample tested before, so that a repeated
        splitter gives one row per repetition. -1 where a sample is never tested, as with `ShuffleSplit` or `PredefinedSplit`.

    Raises
    ------
    PartialTrainingError, a ValueError
        If a training part is not all that its test part leaves, as with `TimeSeriesSplit`: an array of folds cannot say that.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import RepeatedKFold
    >>> from foldshift.partition import as_folds
    >>> as_folds(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), np.zeros((6, 1))).shape
    (2, 6)
    """
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    rows: list[Array] = []
    tested = np.ones(n_samples, dtype=bool)
    for train, test in cv.split(X, y, groups) if hasattr(cv, "split") else cv:
        is_train, is_test = np.zeros((2, n_samples), dtype=bool)
        is_train[train], is_test[test] = True, True
        if not is_test.any():
            continue
        if (is_train == is_test).any():
            raise PartialTrainingError(
                f"{type(cv).__name__} trains on {is_train.sum()} of the {n_samples - is_test.sum()} rows outside a test part; an "
                "array of folds stands for training on all of them: use scikit-learn's cross_validate"
            )
        if (tested & is_test).any():
            rows.append(np.full(n_samples, UNTESTED, dtype=np.int64))
            tested, fold = np.zeros(n_samples, dtype=bool), 0
        rows[-1][is_test] = fold
        tested |= is_test
        fold += 1
    if not rows:
        raise ValueError(f"{type(cv).__name__} makes no test part")
    return check_folds(np.array(rows), n_samples, untested=True)
