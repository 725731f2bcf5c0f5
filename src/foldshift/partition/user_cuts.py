"""Partitioners and splitters of users: called with inputs that they cannot change, and what they return is checked."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.errors import FoldshiftError, LearnerError

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, TableLike

KNOWN = ("sklearn", "foldshift")  # packages whose splitters leave what they are given as it is


def is_known(splitter: Any) -> bool:
    """Return True if a splitter is of scikit-learn or of this library."""
    return type(splitter).__module__.partition(".")[0] in KNOWN


def shielded(values: TableLike | None) -> TableLike | None:
    """Return inputs that cannot be changed: arrays as they are but read-only, data frames and series as copies.

    A copy of every array would double the memory of large tables, and a change of one would stay unseen. Code that writes into
    its inputs says so by an error, and makes its own copy.
    """
    if isinstance(values, np.ndarray):
        values = values.view()
        values.flags.writeable = False
        return values
    return values.copy() if values is not None and hasattr(values, "iloc") else values


def call_user(what: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call code of a user; raise LearnerError, with one line, for whatever it raises."""
    try:
        return function(*arguments, **options)
    except (FoldshiftError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        hint = "; X and y are read-only: change a copy, X = X.copy()" if "read-only" in str(error) else ""
        raise LearnerError(f"{what} raised {type(error).__name__}: {' '.join(str(error).split())}{hint}") from error


def folds_by(
    partitioner: Callable[..., Any],
    X: TableLike,
    y: TableLike,
    n_folds: int,
    rngs: Sequence[np.random.Generator],
    options: dict[str, Any],
) -> Array:
    """Cut with a function of a user, twice for the last generator, which must give the same folds; LearnerError if it fails."""
    what = f"partitioner {getattr(partitioner, '__name__', type(partitioner).__name__)}"
    X, y, again = shielded(X), shielded(y), copy.deepcopy(rngs[-1:])
    folds = array_of_folds(what, call_user(what, partitioner, X, y, n_folds, rngs, **options))
    if again and folds.ndim == 2 and len(folds) == len(rngs):
        alone = array_of_folds(what, call_user(what, partitioner, X, y, n_folds, again, **options))
        if alone.shape != folds[-1:].shape or (alone != folds[-1:]).any():
            raise LearnerError(
                f"{what} gives other folds when it is called again with the same generator; row i must depend on rngs[i] alone, "
                "and not on numpy.random, the other generators or earlier calls"
            )
    return folds


def array_of_folds(what: str, folds: Any) -> Array:
    """Return what a partitioner returned as an array; raise LearnerError for what is none."""
    if isinstance(folds, np.ma.MaskedArray) and np.ma.getmaskarray(folds).any():
        raise LearnerError(f"{what} returned a masked array with gaps; every row has a fold")
    if not isinstance(folds, list | tuple) and not hasattr(folds, "__array__"):
        raise LearnerError(f"{what} returned an object of type {type(folds).__name__}; expected folds, (n_seeds, n)")
    try:
        return np.asarray(folds)
    except ValueError as error:
        raise LearnerError(f"{what} returned rows of different lengths; expected folds, (n_seeds, n)") from error


def iterate_pairs(cv: Any, X: TableLike, y: Any, groups: Any, n: int) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Yield the training and test rows of a splitter as masks; refuse rows that are none of the `n`, or are there twice."""
    what = type(cv).__name__
    for number, pair in enumerate(_pairs(cv, X, y, groups, what)):
        try:
            train, test = pair
        except (TypeError, ValueError) as error:
            raise LearnerError(f"{what}: part {number} is {str(pair)[:60]}; expected (train, test)") from error
        is_train = _mask(train, n, f"{what}: training part {number}")
        is_test = _mask(test, n, f"{what}: test part {number}")
        if not is_test.any():
            raise LearnerError(f"{what}: test part {number} is empty; leave it out, or make fewer parts")
        if (is_train & is_test).any():
            row = int(np.flatnonzero(is_train & is_test)[0])
            raise LearnerError(f"{what}: row {row} is in training and test part {number}; a row that is tested must not train")
        yield is_train, is_test


def _pairs(cv: Any, X: TableLike, y: Any, groups: Any, what: str) -> Iterable[Any]:
    """Training and test rows, as the splitter gives them."""
    if isinstance(cv, str | bytes) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ValueError(f"cv={cv!r} is no splitter; expected one, such as sklearn.model_selection.KFold(5), or pairs of parts")
    if not hasattr(cv, "split"):
        return cv
    if is_known(cv):
        return cv.split(X, y, groups)
    return call_user(f"{what}.split", lambda: list(cv.split(shielded(X), shielded(y), shielded(groups))))


def _mask(rows: Any, n: int, what: str) -> BoolArray:
    rows = np.asarray(rows)
    if rows.dtype.kind == "b" and rows.shape == (n,):
        return rows
    if rows.ndim != 1 or (rows.dtype.kind not in "ui" and rows.size):
        raise LearnerError(f"{what} has shape {rows.shape} and type {rows.dtype}; expected numbers of rows, 0 to {n - 1}")
    mask = np.zeros(n, dtype=bool)
    if rows.size:
        if rows.min() < 0 or rows.max() >= n:
            raise LearnerError(f"{what} holds row {rows.min() if rows.min() < 0 else rows.max()}; rows are 0 to {n - 1}")
        mask[rows] = True
        if mask.sum() < len(rows):
            row = int(np.flatnonzero(bincount(rows) > 1)[0])
            raise LearnerError(f"{what} holds row {row} more than once; an array of folds cannot say that")
    return mask
