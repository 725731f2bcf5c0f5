"""Covariate shift between the training and the test part of every fold: of the inputs alone, without the target."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled, form_for
from foldshift.core.counting import bincount
from foldshift.core.gate.categorical import nominal_columns
from foldshift.core.seeding import as_generator
from foldshift.partition.fold_numbers import fold_dtype
from foldshift.partition.folds import given_folds
from foldshift.partition.neighbours.metric import make_space
from foldshift.shift.columns import matched_columns
from foldshift.shift.measures import in_numpy
from foldshift.shift.measures.hellinger import bin_codes
from foldshift.shift.measures.ks import fold_ks
from foldshift.shift.measures.nearest_auc import squared_distances, two_sample_auc
from foldshift.shift.table_versions import FEWEST_ROWS, as_numbers, as_table, is_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, IntArray, TableLike, UnsignedArray

MEASURES = ("ks_mean", "ks_max", "hellinger", "energy", "two_sample_auc")
ROWS_SEED = 0  # of the subset of a large data set, where the caller gives no generator
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
        "two_sample_auc": two_sample_auc(coordinates, is_nominal, folds, n_parts, n_neighbors)[:, :n_folds],
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
        squared_distances(columns, is_nominal, i, i + 1, squared)
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
