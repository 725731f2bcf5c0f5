"""Covariate shift between the training and the test part of every fold: of the inputs alone, without the target."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import as_written, compiled, form_for
from foldshift.core.counting import bincount
from foldshift.core.gate.categorical import nominal_columns
from foldshift.core.kdtree import MOST_FEATURES, nearest_candidates
from foldshift.core.seeding import as_generator
from foldshift.partition.fold_numbers import fold_dtype
from foldshift.partition.folds import given_folds
from foldshift.partition.neighbours.metric import make_space
from foldshift.shift.columns import matched_columns
from foldshift.shift.measures import in_numpy
from foldshift.shift.measures.hellinger import bin_codes
from foldshift.shift.measures.ks import fold_ks
from foldshift.shift.table_versions import FEWEST_ROWS, as_numbers, as_table, is_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, TableLike, UnsignedArray

MEASURES = ("ks_mean", "ks_max", "hellinger", "energy", "two_sample_auc")
ROWS_SEED = 0  # of the subset of a large data set, where the caller gives no generator
MANY_ROWS = 30_000  # distinct rows from which on a tree finds the neighbours faster than a comparison of all pairs
TIE = 1e-12  # squared distances with a smaller relative difference are equal: the order of a sum decides their last bits
HELLINGER_BINS = 30


def fold_covariates(
    X: TableLike,
    folds: TableLike,
    n_folds: int | None = None,
    *,
    categorical_features: TableLike = None,
    n_neighbors: int = 5,
    max_rows: int = 6000,
    rng: np.random.Generator | None = None,
) -> dict[str, FloatArray]:
    """Measure the covariate shift of every fold of every seed in five ways.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Inputs without missing numbers. Columns of a data frame that hold no numbers are nominal, missing is a category; in arrays
        a nominal column holds a number for each category.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer; or splitter
        Fold of every sample, one row per seed; -1 is a sample that is in every training part and never tested.
    n_folds : int, optional
        Number of folds k; by default the largest fold number plus one.
    categorical_features : None, array-like of bool of shape (n_features,), of int, or of str, default=None
        Mask, positions or (of a data frame) names of the nominal columns.
    n_neighbors : int, default=5
        Number of neighbours of the two-sample classifier; all other samples where there are fewer.
    max_rows : int, default=6000
        ``energy`` compares every pair of samples. For more samples than this it uses a random subset of this size, the same for
        all seeds.
    rng : numpy.random.Generator, optional
        Source of that subset; by default one with a fixed seed.

    Returns
    -------
    shift : dict of str to ndarray of shape (n_seeds, n_folds), dtype float64
        NaN for a fold that is empty or holds all samples.

        ``ks_mean``, ``ks_max``
            Mean and maximum over the attributes of `fold_ks_attributes`, in [0, 1].
        ``hellinger``
            Mean over the attributes of `fold_hellinger_attributes`, in [0, sqrt(2)].
        ``energy``
            Energy distance ``sqrt(2 E|X - Y| - E|X - X'| - E|Y - Y'|)`` of training part X and test part Y, all attributes at
            once [1]_: the root of the V-statistic (a sample's distance 0 to itself counts), as in `scipy.stats.energy_distance`.
        ``two_sample_auc``
            How well a classifier tells test rows from training rows: area under the ROC curve, in [0, 1], of the share of a
            sample's nearest neighbours among all other samples that are in the test part [2]_.

    Raises
    ------
    ValueError
        If the shapes do not fit, X holds NaN or infinity, a fold number is out of range, or an argument is below 1.

    Notes
    -----
    Distances are those of HEOM: numeric attributes scaled to [0, 1] over all samples, nominal ones 0 or 1 (equal or not), root of
    the sum of squares. This is the Euclidean distance after coding categories, so that the energy distance is never negative.

    Even parts drawn at random from one distribution differ: the first four measures are above 0, and larger for a smaller test
    part. So compare partitions with the same k. For ``two_sample_auc`` chance is .5, less about ``2 / n_samples`` since a sample
    is not its own neighbour. Far below that, test and training part are more alike than in a random cut, as the neighbours of a
    test row are in the training part.

    Ties among neighbours at the same distance are broken at random, independently for every sample; ``two_sample_auc`` is the
    expected area over these draws, computed and not simulated, so that the order of the rows does not matter. An attribute with
    one value has no shift, and counts in the means.

    Time grows with the square of the number of samples, once for all seeds for the neighbours; from 30,000 distinct rows of up to
    20 numeric columns a tree finds them. Memory is linear. The results of a seed are the same bits for any other seeds in the
    call.

    References
    ----------
    .. [1] Szekely, G.J., Rizzo, M.L. (2013). Energy statistics: a class of statistics based on distances. Journal of Statistical
       Planning and Inference 143(8), 1249-1272.
    .. [2] Lopez-Paz, D., Oquab, M. (2017). Revisiting classifier two-sample tests. International Conference on Learning
       Representations.

    Examples
    --------
    >>> X, folds = np.arange(8.0)[:, None], np.arange(8)[None] // 4
    >>> {name: float(values[0, 0]) for name, values in fold_covariates(X, folds).items() if name.startswith("ks")}
    {'ks_mean': 1.0, 'ks_max': 1.0}
    """
    checked = _checked(X, folds, n_folds, categorical_features)
    X, folds, n_folds, n_parts, nominal = checked
    for name, value in (("n_neighbors", n_neighbors), ("max_rows", max_rows)):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name} must be an integer of at least 1; got {value!r}")
    ks = _ks_attributes(checked)
    space = make_space(X, np.zeros(len(X), np.int64), "heom", nominal)
    coordinates, is_nominal = space.coordinates, space.n_codes > 0
    rows: slice | IntArray = slice(None)
    if len(X) > max_rows:
        rows = np.sort(as_generator(ROWS_SEED if rng is None else rng).permutation(len(X))[:max_rows])
    return {
        "ks_mean": ks.mean(axis=2),
        "ks_max": ks.max(axis=2),
        "hellinger": _hellinger_attributes(checked, HELLINGER_BINS).mean(axis=2),
        "energy": _energy(coordinates[rows], is_nominal, folds[:, rows], n_parts)[:, :n_folds],
        "two_sample_auc": _two_sample_auc(coordinates, is_nominal, folds, n_parts, n_neighbors)[:, :n_folds],
    }


def fold_ks_attributes(
    X: TableLike, folds: TableLike, n_folds: int | None = None, *, categorical_features: ArrayLike | None = None
) -> FloatArray:
    """Measure the shift of every attribute by itself: Kolmogorov-Smirnov distance, or total variation for a nominal one.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Inputs without missing numbers, as in `fold_covariates`.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer; or splitter
        Fold of every sample, one row per seed; -1 is a sample that is in every training part and never tested.
    n_folds : int, optional
        Number of folds k; by default the largest fold number plus one.
    categorical_features : None, array-like of bool of shape (n_features,), of int, or of str, default=None
        Mask, positions or (of a data frame) names of the nominal columns.

    Returns
    -------
    distance : ndarray of shape (n_seeds, n_folds, n_features), dtype float64
        In [0, 1], exact under ties; NaN for a fold that is empty or holds all samples.

    Raises
    ------
    ValueError
        If the shapes do not fit, X holds NaN or infinity, or a fold number is out of range.

    Notes
    -----
    Kolmogorov-Smirnov needs an order, and categories have none: another numbering would give another distance. Total variation is
    the largest difference in probability over all sets of categories, as Kolmogorov-Smirnov is over all half-lines; with two
    categories they are the same.

    Examples
    --------
    >>> fold_ks_attributes(np.column_stack([np.arange(4), [0, 1, 0, 1]]), np.array([[0, 0, 1, 1]]))[0, 0]
    array([1., 0.])
    """
    return _ks_attributes(_checked(X, folds, n_folds, categorical_features))


def fold_hellinger_attributes(
    X: TableLike,
    folds: TableLike,
    n_folds: int | None = None,
    *,
    categorical_features: ArrayLike | None = None,
    bins: int = HELLINGER_BINS,
) -> FloatArray:
    """Compute the Hellinger distance of every attribute between training and test part; see `foldshift.shift.hellinger`.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Inputs without missing numbers, as in `fold_covariates`.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer; or splitter
        Fold of every sample, one row per seed; -1 is a sample that is in every training part and never tested.
    n_folds : int, optional
        Number of folds k; by default the largest fold number plus one.
    categorical_features : None, array-like of bool of shape (n_features,), of int, or of str, default=None
        Mask, positions or (of a data frame) names of the nominal columns.
    bins : int, default=30
        Number of bins of equal width between the smallest and the largest value of the data set; each category is a bin.

    Returns
    -------
    distance : ndarray of shape (n_seeds, n_folds, n_features), dtype float64
        In [0, sqrt(2)]; NaN for a fold that is empty or holds all samples.

    Raises
    ------
    ValueError
        If the shapes do not fit, X holds NaN or infinity, a fold number is out of range, or `bins` is below 1.

    Examples
    --------
    >>> fold_hellinger_attributes(np.arange(4)[:, None], np.array([[0, 0, 1, 1]])).round(3)[0, :, 0]
    array([1.414, 1.414])
    """
    return _hellinger_attributes(_checked(X, folds, n_folds, categorical_features), bins)


class _Checked(NamedTuple):
    """Inputs and folds in the types that the kernels take, the number of folds, and the mask of the nominal columns.

    Samples that are never tested are a part behind the folds.
    """

    X: FloatArray
    folds: UnsignedArray
    n_folds: int
    n_parts: int
    nominal: BoolArray


def _checked(X: TableLike, folds: TableLike, n_folds: int | None, categorical_features: ArrayLike | None) -> _Checked:
    """Check and convert the arguments of `fold_covariates`."""
    table = as_table(X, "given")
    if is_frame(table):
        columns = matched_columns(table, table, categorical_features, None) if len(table) >= FEWEST_ROWS else []
        X = np.column_stack([column.train for column in columns]).astype(np.float64) if columns else as_numbers(X, "X")
        categorical_features = np.array([bool(column.categories) for column in columns]) if columns else categorical_features
    X = np.ascontiguousarray(as_numbers(X, "X"))
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}; expected (n_samples, n_features)")
    if not np.isfinite(X).all():
        raise ValueError("X contains NaN or infinity: distances need finite numbers; drop or impute missing values first")
    folds, n_folds, n_parts = given_folds(folds, n_folds, table)
    return _Checked(X, folds.astype(fold_dtype(n_parts)), n_folds, n_parts, nominal_columns(categorical_features, X.shape[1]))


def _ks_attributes(data: _Checked) -> FloatArray:
    X, folds, n_folds, n_parts, nominal = data
    out = np.empty((len(folds), n_parts, X.shape[1]))
    for j in range(X.shape[1]):
        if nominal[j]:
            codes, n_codes = bin_codes(X[:, j], 1, True)
            out[:, :, j] = _by_seed(codes, n_codes, folds, n_parts, _total_variation)
        else:
            out[:, :, j] = fold_ks(X[:, j], folds, n_parts)
    return out[:, :n_folds]


def _hellinger_attributes(data: _Checked, bins: int) -> FloatArray:
    X, folds, n_folds, n_parts, nominal = data
    out = np.empty((len(folds), n_parts, X.shape[1]))
    for j in range(X.shape[1]):
        codes, n_codes = bin_codes(X[:, j], bins, nominal[j])
        out[:, :, j] = _by_seed(codes, n_codes, folds, n_parts, _hellinger)
    return out[:, :n_folds]


def _by_seed(
    codes: IntArray,
    n_codes: int,
    folds: UnsignedArray,
    n_folds: int,
    statistic: Callable[[IntArray, IntArray, IntArray, int], FloatArray],
) -> FloatArray:
    """Compute a statistic of the counts of every fold (n_folds, n_codes) and of all samples, by seed; NaN for an empty part."""
    out = np.full((len(folds), n_folds), np.nan)
    totals = bincount(codes, minlength=n_codes)
    for row, cut in zip(out, folds):
        counts = bincount(cut * np.int64(n_codes) + codes, minlength=n_folds * n_codes).reshape(n_folds, n_codes)
        sizes = counts.sum(axis=1)
        two_parts = (sizes > 0) & (sizes < len(codes))
        row[two_parts] = statistic(counts[two_parts], totals, sizes[two_parts, None], len(codes))
    return out


class _Neighbours(NamedTuple):
    """Neighbours of distinct points, one list after the other.

    Points nearer to point u than its n-th neighbour, u itself included, are ``listed[starts[u] : middles[u]]``, those at the same
    distance ``listed[middles[u] : starts[u + 1]]``. A point with more than n samples has itself alone, in the second part.
    """

    starts: IntArray
    middles: IntArray
    listed: IntArray | NDArray[np.int32]


def _total_variation(counts: IntArray, totals: IntArray, sizes: IntArray, n: int) -> FloatArray:
    # c / m - (N - c) / (n - m) on a common denominator: integers until the last division.
    return np.abs(counts * n - totals * sizes).sum(axis=1) / (2 * sizes * (n - sizes))[:, 0]


def _hellinger(counts: IntArray, totals: IntArray, sizes: IntArray, n: int) -> FloatArray:
    return np.sqrt(((np.sqrt(counts / sizes) - np.sqrt((totals - counts) / (n - sizes))) ** 2).sum(axis=1))


def _energy(coordinates: FloatArray, is_nominal: BoolArray, folds: UnsignedArray, n_folds: int) -> FloatArray:
    """Compute the energy distance of every fold from sums of distances over all pairs, pairs touching the fold, pairs within."""
    n = len(coordinates)
    sums = form_for(_distance_sums, in_numpy.distance_sums, n * folds.size)
    within, from_row = sums(np.ascontiguousarray(coordinates.T), is_nominal, np.ascontiguousarray(folds.T), n_folds)
    out = np.empty((len(folds), n_folds))
    for row, cut, tests in zip(out, folds, 2 * within):
        m = bincount(cut, minlength=n_folds)
        touching = bincount(cut, weights=from_row, minlength=n_folds)
        trains = from_row.sum() - 2 * touching + tests
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = 2 * (touching - tests) / (m * (n - m)) - tests / m**2 - trains / (n - m) ** 2
        row[:] = np.sqrt(np.maximum(squared, 0))
        row[(m == 0) | (m == n)] = np.nan
    return out


def _two_sample_auc(
    coordinates: FloatArray, is_nominal: BoolArray, folds: UnsignedArray, n_folds: int, n_neighbors: int
) -> FloatArray:
    points, point_of, sizes = np.unique(coordinates, axis=0, return_inverse=True, return_counts=True)
    if len(coordinates) == 1:
        return np.full((len(folds), n_folds), np.nan)
    n_neighbors = min(n_neighbors, len(coordinates) - 1)
    columns = np.ascontiguousarray(points.T)
    if form_for(_auc, _auc_in_numpy, float(points.size) * len(points) + folds.size * n_folds**2) is _auc_in_numpy:
        near = _Neighbours(*in_numpy.tied_neighbours(columns, is_nominal, sizes, n_neighbors, TIE))
        return _auc_in_numpy(point_of.ravel(), near, n_neighbors, folds, n_folds)
    candidates = np.empty((len(points), 0), np.int32)
    if len(points) >= MANY_ROWS and not is_nominal.any() and points.shape[1] <= MOST_FEATURES:
        # One more than wanted and the point itself, to see where they end; in row order, as in a comparison of all points.
        candidates = np.sort(nearest_candidates(points, points, min(n_neighbors + 3, len(points))), axis=1)
    near = _Neighbours(*_tied_neighbours(columns, is_nominal, sizes, n_neighbors, candidates))
    return _auc(point_of.ravel(), near, n_neighbors, folds, n_folds)


def _auc_in_numpy(
    point_of: IntArray, neighbours: _Neighbours, n_neighbors: int, folds: UnsignedArray, n_folds: int
) -> FloatArray:
    """Compute what `_auc` does, one cut at a time."""
    drawn, area = as_written(_drawn), as_written(_area)
    cuts = (in_numpy.expected_scores(point_of, neighbours, n_neighbors, cut, n_folds, drawn) for cut in folds)
    return np.array([[area(*parts) for parts in zip(tests, trains)] for tests, trains in cuts])


@compiled
def _squared_distances(columns: FloatArray, is_nominal: BoolArray, i: int, first: int, out: FloatArray) -> None:
    """Compute squared distances of sample i to those from `first` on, column by column so that the loop runs over samples."""
    out[first:] = 0.0
    for c in range(len(columns)):
        column = columns[c]
        here = column[i]
        if is_nominal[c]:
            for j in range(first, len(column)):
                out[j] += 1.0 if column[j] != here else 0.0
        else:
            for j in range(first, len(column)):
                gap = column[j] - here
                out[j] += gap * gap


@compiled
def _distance_sums(
    columns: FloatArray, is_nominal: BoolArray, folds: UnsignedArray, n_folds: int
) -> tuple[FloatArray, FloatArray]:
    """Sum distances within every fold, each pair once (n_seeds, n_folds), and from every sample to all others (n_samples,).

    One row of distances at a time, for all seeds at once: `folds` is (n_samples, n_seeds), so that the innermost loop runs over
    seeds.
    """
    n, n_seeds = folds.shape
    within = np.zeros((n_seeds, n_folds))
    from_row = np.zeros(n)
    squared = np.empty(n)
    together = np.empty(n_seeds)
    for i in range(n):
        _squared_distances(columns, is_nominal, i, i + 1, squared)
        here = folds[i]
        together[:] = 0.0
        for j in range(i + 1, n):
            distance = np.sqrt(squared[j])
            from_row[i] += distance
            from_row[j] += distance
            there = folds[j]
            for s in range(n_seeds):
                together[s] += distance if here[s] == there[s] else 0.0
        for s in range(n_seeds):
            within[s, here[s]] += together[s]
    return within, from_row


@compiled
def _tied_neighbours(
    columns: FloatArray, is_nominal: BoolArray, sizes: IntArray, n_neighbors: int, candidates: NDArray[np.int32]
) -> tuple[IntArray, IntArray, NDArray[np.int32]]:
    """List the points within the distance of the n-th nearest other sample of every point, as `_Neighbours`.

    Points are distinct; `sizes` holds the number of samples at each. `candidates` holds some nearest points of each in row order,
    or has no columns. Then, and where candidates end at that distance, all points are compared.
    """
    n_points, width = candidates.shape
    starts = np.zeros(n_points + 1, np.int64)
    middles = np.empty(n_points, np.int64)
    listed = np.empty(2 * (n_neighbors + 2) * n_points, np.int32)
    everyone = np.arange(n_points).astype(np.int32)
    squared = np.empty(n_points)
    nearest = np.empty(n_neighbors)
    rows = np.empty(n_neighbors, np.int64)
    for u in range(n_points):
        among, farthest, is_all = candidates[u], 0.0, width == 0
        if not is_all:
            _some_squared_distances(columns, u, among, squared)
            farthest = _reach(squared, among, sizes, u, nearest, rows)
            is_all = farthest * (1 + 4 * TIE) >= squared[:width].max() or not (among == u).any()
        if is_all:
            among = everyone
            _squared_distances(columns, is_nominal, u, 0, squared)
            farthest = _reach(squared, among, sizes, u, nearest, rows)
        n_near, n_tied = 0, 0
        for t in range(len(among)):
            n_near += squared[t] < farthest * (1 - TIE)
            n_tied += squared[t] <= farthest * (1 + TIE)
        end = starts[u] + n_tied
        while end > len(listed):
            listed = np.concatenate((listed, np.empty_like(listed)))
        near, tied = starts[u], starts[u] + n_near
        middles[u], starts[u + 1] = tied, end
        for t in range(len(among)):
            if squared[t] < farthest * (1 - TIE):
                listed[near] = among[t]
                near += 1
            elif squared[t] <= farthest * (1 + TIE):
                listed[tied] = among[t]
                tied += 1
    return starts, middles, listed[: starts[n_points]]


@compiled
def _some_squared_distances(columns: FloatArray, i: int, among: NDArray[np.int32], out: FloatArray) -> None:
    """Compute squared distances of point i to some others, numeric columns only: the same sums in the same order as for all."""
    out[: len(among)] = 0.0
    for c in range(len(columns)):
        column = columns[c]
        for t in range(len(among)):
            gap = column[among[t]] - column[i]
            out[t] += gap * gap


@compiled
def _reach(squared: FloatArray, among: NDArray[np.int32], sizes: IntArray, u: int, nearest: FloatArray, rows: IntArray) -> float:
    """Find the squared distance of the n-th nearest other sample of point u among some points; infinite if there are fewer."""
    wanted = len(nearest) - (sizes[u] - 1)
    if wanted <= 0:
        return 0.0
    n_held, n_wanted = 0, wanted
    for t in range(len(among)):
        if among[t] == u or (n_held == n_wanted and squared[t] >= nearest[n_held - 1]):
            continue
        at = n_held - 1 if n_held == n_wanted else n_held
        n_held = at + 1
        while at > 0 and nearest[at - 1] > squared[t]:
            nearest[at], rows[at] = nearest[at - 1], rows[at - 1]
            at -= 1
        nearest[at], rows[at] = squared[t], among[t]
    for t in range(n_held):
        wanted -= sizes[rows[t]]
        if wanted <= 0:
            return nearest[t]
    return np.inf


@compiled
def _auc(point_of: IntArray, neighbours: _Neighbours, n_neighbors: int, folds: UnsignedArray, n_folds: int) -> FloatArray:
    """Compute the area under the ROC curve of every fold, expected over the order among ties, from the chance of each score."""
    starts, middles, listed = neighbours
    n_seeds, n = folds.shape
    n_points = len(middles)
    out = np.empty((n_seeds, n_folds))
    counts = np.empty((n_points, n_folds), np.int64)
    near = np.empty(n_folds, np.int64)
    tied = np.empty(n_folds, np.int64)
    # Of every fold, the expected number of its rows, and of the others, with a score of 0, 1, ... neighbours in it.
    tests = np.empty((n_folds, n_neighbors + 1))
    trains = np.empty((n_folds, n_neighbors + 1))
    probability = np.empty(n_neighbors + 1)
    for s in range(n_seeds):
        counts[:] = 0
        for i in range(n):
            counts[point_of[i], folds[s, i]] += 1
        tests[:] = 0.0
        trains[:] = 0.0
        for u in range(n_points):
            near[:] = 0
            tied[:] = 0
            for t in range(starts[u], middles[u]):
                near += counts[listed[t]]
            for t in range(middles[u], starts[u + 1]):
                tied += counts[listed[t]]
            is_near = middles[u] > starts[u]  # the sample itself, not its own neighbour, was counted there, not among the tied
            n_tied = tied.sum() - (not is_near)
            places = n_neighbors - (near.sum() - is_near)
            for f in range(n_folds):
                n_alike = counts[u, f]  # samples of one point in one fold have the same neighbours
                if n_alike == 0:
                    continue
                for g in range(n_folds):
                    itself = 1 if f == g else 0
                    score = near[g] - itself * is_near
                    tied_here = tied[g] - itself * (not is_near)
                    low, high = _drawn(n_tied, tied_here, places, probability)
                    scores = tests[g] if f == g else trains[g]
                    for h in range(low, high + 1):
                        scores[score + h] += n_alike * probability[h]
        for g in range(n_folds):
            out[s, g] = _area(tests[g], trains[g])
    return out


@compiled
def _drawn(n: int, n_marked: int, n_drawn: int, probability: FloatArray) -> tuple[int, int]:
    """Fill `probability` with the hypergeometric distribution of the marked among `n_drawn` out of `n`; return its ends.

    It is filled from the mode to both sides, so that nothing overflows.
    """
    low, high = max(0, n_drawn + n_marked - n), min(n_drawn, n_marked)
    mode = (n_drawn + 1) * (n_marked + 1) // (n + 2)
    probability[mode] = 1.0
    total = 1.0
    for h in range(mode, high):
        probability[h + 1] = probability[h] * (n_marked - h) * (n_drawn - h) / ((h + 1) * (n - n_marked - n_drawn + h + 1))
        total += probability[h + 1]
    for h in range(mode, low, -1):
        probability[h - 1] = probability[h] * h * (n - n_marked - n_drawn + h) / ((n_marked - h + 1) * (n_drawn - h + 1))
        total += probability[h - 1]
    probability[low : high + 1] /= total
    return low, high


@compiled
def _area(positives: FloatArray, negatives: FloatArray) -> float:
    """Compute the area under the ROC curve from the numbers of either class at every score; NaN where a class is missing.

    Ties count one half. Numbers are fractions here (neighbours drawn at random), which `foldshift.inference.roc.roc_area` does
    not take.
    """
    won, below, n_positive = 0.0, 0.0, 0.0
    for positive, negative in zip(positives, negatives):
        won += positive * (below + negative / 2)
        below += negative
        n_positive += positive
    return won / (n_positive * below) if n_positive * below > 0 else np.nan
