"""Arrays of folds, made from anything that scikit-learn takes as ``cv=``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.gate.folds import UNTESTED, is_pairs, is_splitter
from foldshift.core.gate.folds import check_folds as check_folds  # offered by this module as well
from foldshift.core.gate.rows import check_rows, check_same_rows, count_rows
from foldshift.core.gate.targets import group_labels
from foldshift.partition.user_cuts import iterate_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, Splitter, TableLike


class PartialTrainingError(ValueError):
    """A training part is not all that its test part leaves: an array of folds cannot say that."""


class GivenFolds(NamedTuple):
    """Folds with numbers from 0: rows that are never tested, -1 when given, are a part of their own behind the folds."""

    folds: Array
    n_folds: int
    n_parts: int  # one more than the folds where a row is never tested; results of that part are to be dropped


def given_folds(folds: ArrayLike, n_folds: int | None, X: TableLike, y: ArrayLike | None = None, *, least: int = 1) -> GivenFolds:
    """Check folds that a user gives, an array or a splitter, for the rows of X and y; `least` is the least number of parts."""
    folds = as_folds(folds, X, y) if is_splitter(folds) or is_pairs(folds) else folds
    check_same_rows(X=X, y=y, folds=folds)
    n_samples = count_rows(X, "X")
    folds = check_folds(folds, n_samples, untested=True)
    if not folds.size:
        raise ValueError(f"folds have shape {folds.shape}; expected at least one partition of at least one sample")
    largest, untested = int(folds.max()), bool(folds.min() == UNTESTED)
    n_folds = largest + 1 if n_folds is None else n_folds
    if isinstance(n_folds, bool) or not isinstance(n_folds, int | np.integer) or n_folds < max(largest + 1, least - untested):
        raise ValueError(f"n_folds={n_folds!r} must be an integer of at least {least} and above the largest fold, {largest}")
    if untested:
        return GivenFolds(np.where(folds == UNTESTED, n_folds, folds), int(n_folds), int(n_folds) + 1)
    return GivenFolds(folds, int(n_folds), int(n_folds))


def labels_or_places(groups: TableLike, n_samples: int) -> TableLike:
    """Check the groups for a splitter; a table of several columns, such as coordinates, is checked by the splitter itself."""
    if groups is None or (np.ndim(groups) == 2 and np.shape(groups)[1] > 1):
        return groups
    return group_labels(groups, n_samples)


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
    groups : array-like of shape (n_samples,) or (n_samples, n_columns), optional
        Groups, or coordinates, for splitters that need them.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples)
        Fold of every sample; a new row begins with the first test part that holds a sample tested before, so that a repeated
        splitter gives one row per repetition. -1 where a sample is never tested, as with `ShuffleSplit` or `PredefinedSplit`.

    Raises
    ------
    PartialTrainingError, a ValueError
        If a training part is not all that its test part leaves, as with `TimeSeriesSplit`: an array of folds cannot say that.
    LearnerError, a ValueError
        If the splitter raises anything, or if a part holds numbers that are no rows, a row twice, no row to test, or a row that
        trains and is tested.

    Notes
    -----
    A user-defined splitter is given read-only arrays, or copies of data frames.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import RepeatedKFold
    >>> from foldshift.partition import as_folds
    >>> as_folds(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), np.zeros((6, 1))).shape
    (2, 6)
    """
    check_rows(X=X, y=y, groups=groups)
    n_samples = count_rows(X, "X")
    groups = labels_or_places(groups, n_samples)
    rows: list[Array] = []
    tested = np.ones(n_samples, dtype=bool)
    for is_train, is_test in iterate_pairs(cv, X, y, groups, n_samples):
        if (is_train == is_test).any():
            raise PartialTrainingError(
                f"{type(cv).__name__} trains on {is_train.sum()} of the {n_samples - is_test.sum()} rows outside a test part; an "
                "array of folds stands for training on all of them: use as_splits, or scikit-learn's cross_validate"
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
