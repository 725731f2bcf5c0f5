"""Cuts that others propose, as they describe them, to compare with: assignment-based anticlustering and Twinning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.compiling import compiled, form_for
from foldshift.core.gate.rows import check_rows
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype
from foldshift.partition.methods import deal_in_numpy
from foldshift.partition.methods._assignment import assign
from foldshift.partition.methods._scaling import complete, renamed, scaled, target_column

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, IntArray, TableLike, Task, UnsignedArray


def aba_folds(
    X: TableLike, y: Any, n_folds: int, rngs: Iterable[np.random.Generator], *, categorical_features: TableLike = None
) -> UnsignedArray:
    """Assign samples to folds by assignment-based anticlustering (ABA), once per generator.

    The samples are sorted by their distance from the centre of the data, the farthest first. Every run of k goes to k different
    folds, by the assignment with the greatest sum of squared distances from the centres that the folds have so far.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs without missing values.
    y : object
        Not looked at.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Nominal columns, coded as a column for each category.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``. Fold sizes differ by at most one.

    Raises
    ------
    ValueError
        If `n_folds` is out of range, or X is not a dense table of numbers, or values are missing.

    Notes
    -----
    Columns are scaled to mean 0 and standard deviation 1. There is one partition: seeds differ in the names of the folds alone.

    References
    ----------
    .. [1] Papenberg, M., Klau, G.W. (2021). Using anticlustering to partition data sets into equivalent parts. Psychological
       Methods 26(2), 161-174. The objective.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import aba_folds
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> (folds,) = aba_folds(X, None, 2, [np.random.default_rng(0)])
    >>> bool(folds[0] == folds[2] and folds[1] == folds[3])  # means 5 and 6
    True
    """
    check_rows(X=X, y=y)
    points = scaled(*complete(X, categorical_features))
    check_n_folds(n_folds, len(points))
    far = -np.einsum("ij,ij->i", points, points)  # the centre is 0
    dealt = form_for(_anticluster, deal_in_numpy.anticluster, points.size * n_folds)(
        points, np.argsort(far, kind="stable"), n_folds
    )
    return renamed(dealt, n_folds, rngs)


def twinning_folds(
    X: TableLike,
    y: ArrayLike | None,
    n_folds: int,
    rngs: list[np.random.Generator],
    *,
    categorical_features: list[int] | None = None,
    task: Task | None = None,
) -> UnsignedArray:
    """Assign samples to folds by Twinning, once per generator.

    Fold after fold is taken out of what is left: from a random sample on, the sample goes to the fold, its r - 1 nearest stay, r
    the number of folds that are still to come; the walk goes on from the sample that is nearest to the farthest of them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs without missing values.
    y : array-like of shape (n_samples,) or None
        Target: one more column, of categories where it holds classes. None: inputs only.
    n_folds, rngs, categorical_features
        As in `aba_folds`.
    task : {None, "classification", "regression"}
        What the target is; None: classes where it holds text, truth values or whole numbers.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``.

    Raises
    ------
    ValueError
        As in `aba_folds`.

    Notes
    -----
    Nominal columns are coded by Helmert contrasts; all columns are scaled to mean 0 and standard deviation 1. This is the first
    of the three strategies of [1]_ for more than two parts. Time grows with the square of the number of samples.

    References
    ----------
    .. [1] Vakayil, A., Joseph, V.R. (2022). Data Twinning. Statistical Analysis and Data Mining 15(5), 598-610.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import twinning_folds
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> folds = twinning_folds(X, None, 2, [np.random.default_rng(seed) for seed in range(9)])
    >>> bool((folds[:, 0] != folds[:, 1]).all())  # near samples go to different folds
    True
    """
    check_rows(X=X, y=y)
    table, nominal = complete(X, categorical_features)
    if y is not None:
        column, is_class = target_column(y, task)
        table, nominal = np.column_stack([table, column]), np.append(nominal, is_class)
    points = scaled(table, nominal, _helmert)
    check_n_folds(n_folds, len(points))
    rngs = list(rngs)
    folds = np.empty((len(rngs), len(points)), dtype=fold_dtype(n_folds))
    twin = form_for(_twin, deal_in_numpy.twin, float(points.size) * len(points) * len(rngs))
    for row, rng in zip(folds, rngs):
        left = np.arange(len(points))
        row[:] = n_folds - 1
        for fold in range(n_folds - 1):
            taken = twin(points[left], n_folds - fold, rng.integers(len(left)))
            row[left[taken]] = fold
            left = np.delete(left, taken)
    return folds


def _helmert(n_categories: int) -> FloatArray:
    """Contrast every category with the mean of those before it, one column each."""
    table = np.zeros((n_categories, n_categories - 1))
    for j in range(n_categories - 1):
        table[: j + 1, j], table[j + 1, j] = -1.0, j + 1.0
    return table


@compiled
def _anticluster(points: FloatArray, order: IntArray, n_folds: int) -> IntArray:
    folds = np.empty(len(points), np.int64)
    sums, counts = np.zeros((n_folds, points.shape[1])), np.zeros(n_folds)
    costs = np.empty((n_folds, n_folds))
    for start in range(0, len(order), n_folds):
        size = min(n_folds, len(order) - start)
        for i in range(n_folds):
            costs[i] = 0.0
            if i < size and start > 0:
                for fold in range(n_folds):
                    for j in range(points.shape[1]):
                        gap = points[order[start + i], j] - sums[fold, j] / counts[fold]
                        costs[i, fold] -= gap * gap
        chosen = assign(costs, n_folds)
        for i in range(size):
            folds[order[start + i]] = chosen[i]
            sums[chosen[i]] += points[order[start + i]]
            counts[chosen[i]] += 1
    return folds


@compiled
def _twin(points: FloatArray, n_parts: int, start: int) -> IntArray:
    """Choose the samples of the first of `n_parts` parts: one of each neighbourhood, the walk beginning at `start`."""
    n_points = len(points)
    left = np.arange(n_points)
    n_left = n_points
    taken = np.empty(-(-n_points // n_parts), np.int64)
    distances, places = np.empty(n_parts), np.empty(n_parts, np.int64)
    at = start
    for turn in range(len(taken)):
        n_wanted = min(n_parts, n_left)
        # `at` is among the points left, at distance 0, and is the first of its neighbourhood.
        _nearest(points, at, left, n_left, n_wanted, distances, places)
        taken[turn] = left[places[0]]
        farthest = left[places[n_wanted - 1]]
        for place in np.sort(places[:n_wanted])[::-1]:
            n_left -= 1
            left[place] = left[n_left]
        if n_left == 0:
            break
        _nearest(points, farthest, left, n_left, 1, distances, places)
        at = left[places[0]]
    return taken


@compiled
def _nearest(
    points: FloatArray, at: int, left: IntArray, n_left: int, n_wanted: int, distances: FloatArray, places: IntArray
) -> None:
    """Find the nearest of the points that are left, near to far: their places in `left`."""
    n_held = 0
    for place in range(n_left):
        farthest = distances[n_wanted - 1] if n_held == n_wanted else np.inf
        total = 0.0
        for j in range(points.shape[1]):
            gap = points[at, j] - points[left[place], j]
            total += gap * gap
            if total >= farthest:
                break
        if total >= farthest:
            continue
        here = n_held if n_held < n_wanted else n_wanted - 1
        n_held = min(n_held + 1, n_wanted)
        while here > 0 and distances[here - 1] > total:
            distances[here], places[here] = distances[here - 1], places[here - 1]
            here -= 1
        distances[here], places[here] = total, place
