"""Training and test part of every split: for cuts that an array of folds cannot show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.gate.folds import check_folds, is_pairs, is_splitter
from foldshift.core.gate.rows import check_rows, check_same_rows, count_rows
from foldshift.partition.folds import labels_or_places
from foldshift.partition.user_cuts import iterate_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, IntArray, TableLike


class Splits(NamedTuple):
    """Splits of the same rows, in their order."""

    train: BoolArray  # (n_splits, n_samples): whether the row is trained on
    test: BoolArray  # (n_splits, n_samples): whether it is tested; rows of neither part are left out
    repeat: IntArray  # (n_splits,): number of the repetition; a new one begins where a row is tested again
    fold: IntArray  # (n_splits,): number of the test part within the repetition

    @property
    def folds(self) -> Array | None:
        """Array of folds, as `foldshift.partition.as_folds` gives it; None where a training part is not all other rows."""
        if (self.train == self.test).any():
            return None
        rows = np.full((int(self.repeat[-1]) + 1, self.test.shape[1]), -1, dtype=np.int64)
        for repeat, fold, test in zip(self.repeat, self.fold, self.test):
            rows[repeat, test] = fold
        return check_folds(rows, rows.shape[1], untested=True)


def as_splits(cv: Any, X: TableLike, y: ArrayLike | None = None, groups: TableLike = None) -> Splits:
    """Convert any splitter, or an array of folds, to masks of training and test parts.

    Parameters
    ----------
    cv : splitter, iterable of (train, test), or array-like of shape (n_seeds, n_samples)
        Anything that scikit-learn takes as ``cv=``, or folds: each is tested once, by what the others hold.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,), optional
        Target.
    groups : array-like of shape (n_samples,) or (n_samples, n_columns), optional
        Groups, times, coordinates or subsets, for splitters that need them.

    Returns
    -------
    splits : Splits
        ``train, test, repeat, fold``: two masks of shape (n_splits, n_samples), and two numbers for every split.

    Raises
    ------
    LearnerError, a ValueError
        If the splitter raises anything, or if a part holds numbers that are no rows, a row twice, no row to test, or a row that
        trains and is tested.
    ValueError
        If the arrays differ in length, there is no split, or an array of folds holds other things than folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from foldshift.partition import as_splits
    >>> splits = as_splits(TimeSeriesSplit(n_splits=2), np.zeros((6, 1)))
    >>> splits.train.astype(int).tolist()
    [[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0]]
    >>> splits.folds is None
    True
    """
    check_rows(X=X, y=y, groups=groups)
    check_same_rows(X=X, cv=cv)
    n_samples = count_rows(X, "X")
    groups = labels_or_places(groups, n_samples)
    is_array = (hasattr(cv, "__array__") or isinstance(cv, list | tuple)) and not (is_splitter(cv) or is_pairs(cv))
    given: Any = _pairs_of(cv, n_samples) if is_array else cv
    pairs = list(iterate_pairs(given, X, y, groups, n_samples))
    if not pairs:
        raise ValueError(f"{type(cv).__name__} makes no test part")
    train, test = (np.array(part) for part in zip(*pairs))
    return Splits(train, test, *_numbered(test))


def join_splits(cuts: Sequence[Splits]) -> Splits:
    """Join splits of the same rows, one after the other, as repetitions."""
    begin = np.cumsum([0, *(int(one.repeat[-1]) + 1 for one in cuts[:-1])])
    repeat = np.concatenate([one.repeat + first for one, first in zip(cuts, begin)])
    return Splits(
        np.concatenate([one.train for one in cuts]),
        np.concatenate([one.test for one in cuts]),
        repeat,
        np.concatenate([one.fold for one in cuts]),
    )


def _pairs_of(folds: Any, n_samples: int) -> list[tuple[BoolArray, BoolArray]]:
    """List training and test parts of an array of folds, row by row."""
    rows = check_folds(folds, n_samples, untested=True)
    return [(row != fold, row == fold) for row in rows for fold in np.unique(row[row >= 0])]


def _numbered(test: BoolArray) -> tuple[IntArray, IntArray]:
    """Number repetitions, and test parts within them."""
    repeat, fold = np.zeros((2, len(test)), dtype=np.int64)
    tested = np.zeros(test.shape[1], dtype=bool)
    for number, part in enumerate(test):
        again = bool((tested & part).any())
        if number:
            repeat[number] = repeat[number - 1] + again
            fold[number] = 0 if again else fold[number - 1] + 1
        tested = part.copy() if again else tested | part
    return repeat, fold
