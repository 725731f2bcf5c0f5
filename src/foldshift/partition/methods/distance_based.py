"""Folds stratified on classes and guided by neighbours: DB-SCV, DOB-SCV, MS-SCV."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.compiling import form_for
from foldshift.core.counting import bincount, repeat
from foldshift.core.gate.rows import check_rows
from foldshift.core.gate.targets import class_target
from foldshift.partition._inputs import measurable
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype, rows_by_class
from foldshift.partition.neighbours.all_pairs import AllPairs, assign_all_pairs
from foldshift.partition.neighbours.metric import METRICS, make_space
from foldshift.partition.neighbours.search import DUPLICATES, FEWEST_SEEDS, assign_in_groups, class_neighbours

if TYPE_CHECKING:
    from foldshift.core.types import IntArray, Metric, TableLike, UnsignedArray

REMAINDERS = ("spread", "restart")


class Options(NamedTuple):
    """Options that the three cuts share; see `db_scv_folds`."""

    metric: Metric = "heom"
    duplicates: Literal["neighbours", "skipped"] | None = None
    remainders: Literal["spread", "restart"] | None = None
    categorical_features: TableLike = None


class Walk(NamedTuple):
    """Rule that turns a walk through a class into folds."""

    # ``folds_of(group, place, n_folds, turn)``: fold from the group of a sample and its place in it. `turn` counts the samples of
    # the classes before; None: every class begins with fold 0.
    folds_of: Callable[[IntArray, IntArray, int, int | None], IntArray]
    hops: bool  # whether the walk goes on from the sample just assigned, or returns to its start


def db_scv_folds(
    X: TableLike,
    y: TableLike,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    *,
    metric: Metric = "heom",
    duplicates: Literal["neighbours", "skipped"] | None = None,
    remainders: Literal["spread", "restart"] | None = None,
    categorical_features: TableLike = None,
) -> UnsignedArray:
    """Assign samples to folds along a path of near neighbours (distribution-balanced SCV, DB-SCV), once per generator.

    Class by class: from a random sample on, hop to the nearest unassigned sample of the class, and give every sample on the way
    to the next fold.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs: an array or a data frame (pandas, polars) of numbers, and of anything in nominal columns. ``heom`` takes missing
        values.
    y : array-like of shape (n_samples,)
        Class labels of any type that sorts; the classes are taken in sorted order.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.
    metric : {"heom", "euclidean", "keel"}, default="heom"
        Which samples are near; see Notes.
    duplicates : None or {"neighbours", "skipped"}, default=None
        Whether samples at distance exactly 0 are neighbours like all others, or none: where only such are left, the path goes on
        from a random one. None: ``skipped`` for ``keel``, as the KEEL tool has it, ``neighbours`` otherwise.
    remainders : None or {"spread", "restart"}, default=None
        Whether the fold that is next runs on across classes, or every class begins with fold 0. None: ``restart`` for ``keel``,
        as the KEEL tool has it, ``spread`` otherwise.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Mask, positions or names of the nominal columns; ``from_dtype``: those of a categorical type or of text. ``euclidean``
        takes them as numbers.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of each sample, in ``0 .. k - 1``. Class counts differ by at most one, and if remainders are spread fold sizes too.
        A class with fewer samples than folds is missing in some folds.

    Raises
    ------
    ValueError
        If `n_folds` is out of range, an option is unknown, X is not a dense table with as many rows as y has samples, a column
        holds text and is not nominal, a value is infinite, or missing under another metric than ``heom``, y is continuous or
        missing somewhere, or ``restart`` leaves a fold empty.

    Notes
    -----
    ``heom`` is the Euclidean distance of numeric columns scaled to [0, 1], nominal ones adding 0 or 1 (equal or not) to the sum
    of squares, and a missing value 1, to whatever it is compared with [2]_; ``euclidean`` takes the inputs as they are. Ranges
    are those of the whole data set.

    ``keel`` orders neighbours as the KEEL tool does: by the root of the sum of ``|a - b| / 4 * sd`` over numeric columns, which
    weights wide columns more, and of ``sqrt(sum over classes of (P(class | a) - P(class | b))**2)`` over nominal ones;
    standard deviation (population) and frequencies are those of the whole data set.

    Under all metrics, neighbours at equal distance are taken in the order of the rows.

    The neighbours are worked out once for all seeds. Memory is proportional to the number of samples; with few columns, so is
    time, but for a logarithm, and with many (beyond twenty, say) it grows to the square of a class.

    References
    ----------
    .. [1] Moreno-Torres, J.G., Saez, J.A., Herrera, F. (2012). Study on the impact of partition-induced dataset shift on k-fold
       cross-validation. IEEE Transactions on Neural Networks and Learning Systems 23(8), 1304-1312. Algorithm 2.
    .. [2] Wilson, D.R., Martinez, T.R. (1997). Improved heterogeneous distance functions. Journal of Artificial Intelligence
       Research 6, 1-34. Section 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import db_scv_folds
    >>> X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), [0, 0, 0, 0]
    >>> folds = db_scv_folds(X, y, 2, [np.random.default_rng(seed) for seed in range(20)])
    >>> bool((folds[:, 0] != folds[:, 1]).all())  # neighbours go to different folds
    True
    """
    options = Options(metric, duplicates, remainders, categorical_features)
    return cut_by_neighbours(X, y, n_folds, rngs, options, WALKS["DB-SCV"])


def dob_scv_folds(
    X: TableLike,
    y: TableLike,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    *,
    metric: Metric = "heom",
    duplicates: Literal["neighbours", "skipped"] | None = None,
    remainders: Literal["spread", "restart"] | None = None,
    categorical_features: TableLike = None,
) -> UnsignedArray:
    """Assign samples to folds in groups of near neighbours (distribution optimally balanced SCV, DOB-SCV), once per generator.

    Class by class: a random unassigned sample and its k - 1 nearest unassigned samples of the class go to k different folds,
    until none are left.

    Parameters
    ----------
    X, y, n_folds, rngs, metric, duplicates, remainders, categorical_features
        As in `db_scv_folds`.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of each sample, in ``0 .. k - 1``. If remainders are spread, class counts and fold sizes differ by at most one.

    Raises
    ------
    ValueError
        As in `db_scv_folds`.

    Notes
    -----
    Metrics are described in `db_scv_folds`. A group is smaller than k at the end of its class and, if duplicates are ``skipped``,
    where only duplicates of its start are left.

    ``spread``: the fold that receives the start of a group moves on by one from group to group, and a smaller group goes to the
    folds that are next in turn among all such groups. ``restart``: every group begins with fold 0, so that the low folds receive
    more samples of every class, many more where many duplicates are skipped.

    References
    ----------
    .. [1] Moreno-Torres, J.G., Saez, J.A., Herrera, F. (2012). Study on the impact of partition-induced dataset shift on k-fold
       cross-validation. IEEE Transactions on Neural Networks and Learning Systems 23(8), 1304-1312. Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import dob_scv_folds
    >>> X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), [0, 0, 0, 0]
    >>> folds = dob_scv_folds(X, y, 2, [np.random.default_rng(seed) for seed in range(20)])
    >>> bool((folds[:, 0] != folds[:, 1]).all())  # neighbours go to different folds
    True
    """
    options = Options(metric, duplicates, remainders, categorical_features)
    return cut_by_neighbours(X, y, n_folds, rngs, options, WALKS["DOB-SCV"])


def ms_scv_folds(
    X: TableLike,
    y: TableLike,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    *,
    metric: Metric = "heom",
    duplicates: Literal["neighbours", "skipped"] | None = None,
    remainders: Literal["spread", "restart"] | None = None,
    categorical_features: TableLike = None,
) -> UnsignedArray:
    """Assign samples to folds region by region (maximally shifted SCV, MS-SCV), once per generator.

    Class by class: walk as in `db_scv_folds`, but fill a fold with its share of the class before the next one.

    Parameters
    ----------
    X, y, n_folds, rngs, metric, duplicates, remainders, categorical_features
        As in `db_scv_folds`.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of each sample, in ``0 .. k - 1``. Class counts differ by at most one, and if remainders are spread fold sizes too.

    Raises
    ------
    ValueError
        As in `db_scv_folds`.

    Notes
    -----
    Metrics are described in `db_scv_folds`. Of a class of n samples, the first n mod k folds receive one more than the others;
    the paper's pseudo-code leaves these samples out. If remainders are spread, the first fold is the next in turn for such a
    sample.

    References
    ----------
    .. [1] Moreno-Torres, J.G., Saez, J.A., Herrera, F. (2012). Study on the impact of partition-induced dataset shift on k-fold
       cross-validation. IEEE Transactions on Neural Networks and Learning Systems 23(8), 1304-1312. Algorithm 4.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import ms_scv_folds
    >>> X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), [0, 0, 0, 0]
    >>> folds = ms_scv_folds(X, y, 2, [np.random.default_rng(seed) for seed in range(20)])
    >>> bool((folds[:, 0] == folds[:, 1]).all())  # neighbours go to the same fold
    True
    """
    options = Options(metric, duplicates, remainders, categorical_features)
    return cut_by_neighbours(X, y, n_folds, rngs, options, WALKS["MS-SCV"])


def check_rules(metric: str, duplicates: str | None, remainders: str | None) -> None:
    """Raise ValueError for values of these options that are not known."""
    for name, value, allowed in (
        ("metric", metric, METRICS),
        ("duplicates", duplicates, (None, *DUPLICATES)),
        ("remainders", remainders, (None, *REMAINDERS)),
    ):
        if value not in allowed:
            raise ValueError(f"{name}={value!r} is not known; allowed: {', '.join(filter(None, allowed))}")


def cut_by_neighbours(
    X: TableLike, y: TableLike, n_folds: int, rngs: Iterable[np.random.Generator], options: Options, walk: Walk
) -> UnsignedArray:
    """Cut once per generator, by a walk through the neighbours of every class."""
    check_rows(X=X, y=y)
    metric = options.metric
    X, nominal = measurable(X, options.categorical_features)
    _, codes = np.unique(class_target(y), return_inverse=True)
    check_n_folds(n_folds, len(codes))
    check_rules(metric, options.duplicates, options.remainders)
    duplicates = options.duplicates or ("skipped" if metric == "keel" else "neighbours")
    remainders = options.remainders or ("restart" if metric == "keel" else "spread")
    if metric != "heom" and np.isnan(X).any():
        raise ValueError(
            f"Input X contains NaN, for which metric={metric!r} has no rule; use metric='heom', where a missing value is at "
            "distance 1 from all others, or drop or impute missing values first"
        )
    space = make_space(X, codes, metric, nominal)
    rngs = list(rngs)
    folds = np.empty((len(rngs), len(codes)), dtype=fold_dtype(n_folds))
    turn = 0
    # All distances of a class, some steps a number, and once per seed a look at what is free.
    pairs = float((bincount(codes) ** 2.0).sum())
    assign_of_class = form_for(assign_in_groups, assign_all_pairs, pairs * (X.shape[1] + 5 + len(rngs)))
    neighbours: Any
    for rows in rows_by_class(codes):
        if assign_of_class is assign_in_groups:
            neighbours = class_neighbours(space, rows, duplicates, with_lists=len(rngs) >= FEWEST_SEEDS)
        else:
            neighbours = AllPairs(space, rows, duplicates == "skipped")
        for row, rng in zip(folds, rngs):
            group, place = _walk(partial(assign_of_class, neighbours), len(rows), rng, n_folds, walk.hops)
            row[rows] = walk.folds_of(group, place, n_folds, turn if remainders == "spread" else None)
        turn += len(rows)
    if remainders == "restart":
        _refuse_empty(folds, n_folds, metric, ends_early=not walk.hops and duplicates == "skipped")
    return folds


def _walk(
    assign: Callable[[IntArray, int, bool], tuple[IntArray, IntArray]],
    n_members: int,
    rng: np.random.Generator,
    n_folds: int,
    hops: bool,
) -> tuple[IntArray, IntArray]:
    """Return group and place of every member; the places of a path that starts again go on counting."""
    # The first unassigned sample of a random permutation is a random one among the unassigned.
    starts = rng.permutation(n_members)
    if not hops:
        return assign(starts, n_folds, False)
    group, place = assign(starts, n_members, True)
    sizes = bincount(group)
    return group, place + (np.cumsum(sizes) - sizes)[group]


def in_turn(group: IntArray, place: IntArray, n_folds: int, turn: int | None) -> IntArray:
    """Deal one sample to every fold, again and again: DB-SCV."""
    return ((turn or 0) + place) % n_folds


def group_by_group(group: IntArray, place: IntArray, n_folds: int, turn: int | None) -> IntArray:
    """Deal the members of every group to different folds: DOB-SCV."""
    if turn is None:
        return place
    sizes = bincount(group)
    # A full group changes no balance wherever it begins; the others go on where the one before them ended.
    smaller = np.where(sizes < n_folds, sizes, 0)
    first = np.where(sizes < n_folds, np.cumsum(smaller) - smaller, np.arange(len(sizes)))
    return (turn + place + first[group]) % n_folds


def one_after_the_other(group: IntArray, place: IntArray, n_folds: int, turn: int | None) -> IntArray:
    """Fill one fold before the next: MS-SCV."""
    sizes = np.full(n_folds, len(place) // n_folds)
    sizes[: len(place) % n_folds] += 1
    return ((turn or 0) + repeat(np.arange(n_folds), sizes)[place]) % n_folds


WALKS = {
    "DB-SCV": Walk(in_turn, hops=True),
    "DOB-SCV": Walk(group_by_group, hops=False),
    "MS-SCV": Walk(one_after_the_other, hops=True),
}


def _refuse_empty(folds: UnsignedArray, n_folds: int, metric: str, ends_early: bool) -> None:
    """Raise ValueError if a fold is empty."""
    rule = "group begins with fold 0 and ends where only duplicates are left" if ends_early else "class begins with fold 0"
    for cut in folds:
        empty = np.flatnonzero(bincount(cut, minlength=n_folds) == 0)
        if len(empty):
            raise ValueError(
                f"metric={metric!r} with remainders='restart' leaves fold {empty[0]} of {n_folds} empty, since every {rule}; use "
                "remainders='spread'"
            )
