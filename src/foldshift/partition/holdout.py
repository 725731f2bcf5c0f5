"""One training and test part, with a validation part if wanted: strata of classes or numbers, groups kept together."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils.multiclass import type_of_target

from foldshift.core.gate.rows import check_rows, count_rows
from foldshift.core.gate.targets import one_column
from foldshift.partition.methods.cosine_features import sums_by_group, terms_of
from foldshift.partition.methods.leave_group_out import group_codes
from foldshift.partition.splitters.regression_splitters import make_rngs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, IntArray, RandomState, TableLike

FEWEST_DRAWS, MOST_DRAWS = 10, 200  # of groups, of which the one with the best balanced strata is taken
MOST_PLACES = 4_000_000  # numbers in all draws together
SLACK = 0.02  # share of the rows by which a draw may miss the wanted size to be better balanced


class Holdout(NamedTuple):
    """Rows of each part, ascending."""

    train: IntArray
    validation: IntArray  # empty if none was asked for
    test: IntArray


class _Strata(NamedTuple):
    """Values to stratify on: class codes, or numbers."""

    values: FloatArray  # (n_samples,)
    are_classes: bool


def holdout(
    X: TableLike,
    *,
    test_size: float = 0.2,
    validation_size: float | None = None,
    stratify: ArrayLike | None = None,
    groups: TableLike = None,
    random_state: RandomState = None,
) -> Holdout:
    """Cut rows into a training, a test and, if wanted, a validation part.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Anything with a row for every sample; only their number is used.
    test_size, validation_size : float or int
        Share of all rows, between 0 and 1, or a number of rows. Shares are rounded up. None: no validation part.
    stratify : array-like of shape (n_samples,), optional
        Target that has the same distribution in all parts. Classes: every part holds each class by its share, up to one row.
        Numbers that are not all whole: one row of each run of neighbours in size goes to the smaller part.
    groups : array-like of shape (n_samples,), optional
        Group of every sample; none is in two parts. Sizes are then met as nearly as groups allow.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same parts in every call.

    Returns
    -------
    parts : Holdout
        ``train, validation, test``: three arrays of row numbers, ascending; `validation` is empty if none was asked for.

    Raises
    ------
    ValueError
        If a size is out of range, a part stays empty, or a target or group is missing.

    Notes
    -----
    With groups, 200 draws of whole groups are made (fewer of more than 20,000 groups). Of those that meet the wanted size best,
    within 2 % of the rows, the one with the most equal distribution of the target is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import holdout
    >>> y = np.arange(100) / 7
    >>> parts = holdout(y, test_size=0.2, validation_size=0.1, stratify=y, random_state=0)
    >>> [len(part) for part in parts]
    [70, 10, 20]
    >>> bool((np.diff(parts.test) < 10).all())  # a row of each run of five
    True
    """
    check_rows(X=X, stratify=stratify, groups=groups)
    n_samples = count_rows(X, "X")
    strata = None if stratify is None else _strata_of(stratify)
    codes = None if groups is None else group_codes(groups, n_samples)
    sizes = [_n_rows(name, size, n_samples) for name, size in (("test_size", test_size), ("validation_size", validation_size))]
    if sum(sizes) >= n_samples:
        raise ValueError(
            f"test_size={test_size} and validation_size={validation_size} are {sum(sizes)} of {n_samples} rows; leave at least "
            "one to train on"
        )
    rng = make_rngs(random_state)[0]
    left, parts = np.arange(n_samples), []
    for size, n_more in zip(sizes, (1 + bool(sizes[1]), 1)):
        chosen = np.zeros(len(left), dtype=bool)
        if size:
            some = None if strata is None else strata._replace(values=strata.values[left])
            chosen = _rows(len(left), size, some, rng) if codes is None else _groups(codes[left], size, some, n_more, rng)
        parts.append(left[chosen])
        left = left[~chosen]
    return Holdout(left, parts[1], parts[0])


def _n_rows(name: str, size: float | None, n_samples: int) -> int:
    """Convert a share or number of rows to a number of rows."""
    if size is None and name == "validation_size":
        return 0
    if isinstance(size, numbers.Integral) and not isinstance(size, bool) and 1 <= size < n_samples:
        return int(size)
    if isinstance(size, numbers.Real) and not isinstance(size, numbers.Integral) and 0 < size < 1:
        return int(np.ceil(size * n_samples - 1e-9))
    raise ValueError(f"{name}={size!r} must be a share between 0 and 1, or a number of rows from 1 to {n_samples - 1}")


def _strata_of(stratify: ArrayLike) -> _Strata:
    values = one_column(stratify, "stratify")
    if type_of_target(values) == "continuous":
        return _Strata(values.astype(np.float64), False)
    return _Strata(np.unique(values, return_inverse=True)[1].astype(np.float64), True)


def _rows(n_samples: int, size: int, strata: _Strata | None, rng: np.random.Generator) -> BoolArray:
    """Draw rows: by chance, every n-th one of each class, or one of each run of neighbours in size."""
    chosen = np.zeros(n_samples, dtype=bool)
    if strata is None:
        chosen[rng.permutation(n_samples)[:size]] = True
        return chosen
    order = np.lexsort((rng.random(n_samples), strata.values))
    if strata.are_classes:
        places = (np.arange(size) * n_samples + rng.integers(n_samples)) // size
    else:
        bounds = np.arange(size + 1) * n_samples // size
        places = rng.integers(bounds[:-1], bounds[1:])
    chosen[order[places]] = True
    return chosen


def _groups(codes: IntArray, size: int, strata: _Strata | None, n_left: int, rng: np.random.Generator) -> BoolArray:
    """Draw whole groups of about `size` rows, and leave at least `n_left` groups."""
    members, counts = np.unique(codes, return_inverse=True, return_counts=True)[1:]
    if len(counts) <= n_left:
        raise ValueError(f"groups are {len(counts)}, too few for the parts, which share none; take fewer parts, or row by row")
    n_draws = max(FEWEST_DRAWS, min(MOST_DRAWS, MOST_PLACES // len(counts)))
    orders = np.argsort(rng.random((n_draws, len(counts))), axis=1)
    reached = counts[orders].cumsum(axis=1)[:, : len(counts) - n_left]
    missed = np.abs(reached - size)
    n_taken = missed.argmin(axis=1) + 1
    able = np.flatnonzero(missed.min(axis=1) <= missed.min() + SLACK * len(codes))
    draws = [orders[draw, : n_taken[draw]] for draw in able]
    best = draws[0]
    if strata is not None:
        terms = terms_of(strata.values[:, None], np.array([strata.are_classes]))
        sums = sums_by_group(terms, members, len(counts)) / len(codes)
        best = min(draws, key=lambda draw: float((sums[draw].sum(axis=0) ** 2).sum()))
    return np.isin(members, best)
