"""Tests of two tables, all columns at once: by a classifier, by the maximum mean discrepancy, by the energy distance."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from scipy.stats import mannwhitneyu

from foldshift.core.gate.categorical import nominal_columns
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.inference.roc import roc_area
from foldshift.shift.columns import matched_columns
from foldshift.shift.report.drift_text import p_in_words
from foldshift.shift.table_versions import FEWEST_ROWS, as_numbers, as_table, is_frame, scaled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, Estimator, FloatArray, IntArray, TableLike

ROUNDING = 1e-12  # statistics this close are equal: the order of a sum decides their last bits


@readable
class TwoSampleTest(NamedTuple):
    """Result of a test of two tables."""

    statistic: float  # statistic of the test, which rejects for large values
    p_value: float  # in (0, 1]
    effect: float  # distance of the tables on a scale that does not grow with the number of rows
    n_rows: tuple[int, int]  # number of rows of A and of B that were used
    method: str  # origin of p
    # classifier only: mean of the shares of A and of B that are classified correctly; .5 is chance. Otherwise NaN
    accuracy: float = np.nan

    def sentences(self) -> list[str]:
        """Return the result in words."""
        says = "told apart" if self.p_value < 0.05 else "not told apart"
        right = "" if np.isnan(self.accuracy) else f"; {self.accuracy:.1%} of the rows were told rightly, .5 is chance"
        return [
            f"Tables of {self.n_rows[0]} and {self.n_rows[1]} rows are {says} at .05: p {p_in_words(self.p_value)} "
            f"({self.method}), statistic {self.statistic:.4g}, effect {self.effect:.4g}{right}."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        return pd.DataFrame([self._asdict()])


def classifier_two_sample(
    A: TableLike,
    B: TableLike,
    rng: np.random.Generator | int,
    estimator: Estimator = None,
    n_folds: int = 5,
    n_permutations: int | None = None,
    *,
    categorical_features: ArrayLike | None = None,
) -> TwoSampleTest:
    """Test whether a classifier can tell rows of B from rows of A (classifier two-sample test).

    Parameters
    ----------
    A, B : DataFrame or array-like of shape (n, n_features), (m, n_features)
        Tables of at least 5 rows each, without missing values. Columns of data frames are matched by name, and those that hold no
        numbers are nominal; in arrays a nominal column holds a number for each category.
    rng : numpy.random.Generator or int
        Source of folds and permutations.
    estimator : scikit-learn classifier, optional
        With ``predict_proba`` or ``decision_function``; cloned. By default nearest neighbours, as many as the root of the number
        of training rows [1]_.
    n_folds : int, default=5
        Folds of the cross-validation, stratified by table; at most the rows of the smaller one.
    n_permutations : int, optional
        Number of permutations of the labels, within folds, each of which trains the classifier again. By default 200 for nearest
        neighbours, where training again costs next to nothing, and 0 for another estimator. 0: no cross-validation; trained on
        one half of each table, tested on the other, p of the one-sided Mann-Whitney test.
    categorical_features : None, array-like of bool of shape (n_features,), of int, or of str, default=None
        Mask, positions or (of data frames) names of the nominal columns.

    Returns
    -------
    result : TwoSampleTest
        ``statistic`` and ``effect`` are the area under the ROC curve, the mean over the folds; .5 is chance.

    Raises
    ------
    ValueError
        If the tables do not fit, are too small, or hold NaN or infinity.

    Notes
    -----
    Permuting labels under fixed out-of-fold predictions is not a valid test, nor is a binomial test of their accuracy: every row
    is in the training part of all other folds, so that the areas of the folds rise and fall together. For a linear rule the
    variance is about twice that assumed by these tests, and they reject 11 % of equal tables at 5 % (80 rows, 20 columns). So
    the classifier is trained again for every permutation, which is exact, or tested on rows it has not seen.

    The p-value and the statistic do not depend on the order of the rows.

    References
    ----------
    .. [1] Lopez-Paz, D., Oquab, M. (2017). Revisiting classifier two-sample tests. International Conference on Learning
       Representations.

    Examples
    --------
    >>> A, B = np.random.default_rng(0).normal(size=(2, 40, 3))
    >>> found = classifier_two_sample(A, B + 1, np.random.default_rng(0))
    >>> found.effect > 0.7, found.p_value
    (True, 0.004975124378109453)
    """
    rng = as_generator(rng)
    check_count("n_folds", n_folds, 2)
    if n_permutations is None:
        n_permutations = 200 if estimator is None else 0
    check_count("n_permutations", n_permutations, 0)
    points, in_b = _pooled(A, B, rng, categorical_features)
    sizes = int((~in_b).sum()), int(in_b.sum())
    if n_permutations and min(sizes) < n_folds:
        raise ValueError(f"n_folds={n_folds} is above the number of rows of a table; A has {sizes[0]} and B {sizes[1]}")
    folds = _stratified(in_b, n_folds if n_permutations else 2, rng)
    # Given the folds and how many rows of B each has, any labels within a fold are equally likely under the null hypothesis.
    labels = np.repeat(in_b[:, None], n_permutations + 1, axis=1)
    for fold in range(folds.max() + 1):
        rows = np.flatnonzero(folds == fold)
        labels[rows, 1:] = rng.permuted(labels[rows, 1:], axis=0)
    by_fold, accuracies = [], []
    for fold in range(n_folds if n_permutations else 1):
        train = folds != fold
        scores, cut = _scores(estimator, points, labels, train)
        by_fold.append(roc_area(scores.T, labels[~train].T))
        accuracies.append(_balanced_accuracy(scores[:, 0], in_b[~train], cut))
    areas = np.mean(by_fold, axis=0)
    if n_permutations:
        p, method = permutation_p(areas), "permutation"
    else:
        p = float(mannwhitneyu(scores[in_b[~train], 0], scores[~in_b[~train], 0], alternative="greater").pvalue)
        method = "one half held out, Mann-Whitney"
    return TwoSampleTest(float(areas[0]), p, float(areas[0]), sizes, method, float(np.mean(accuracies)))


def mmd(
    A: TableLike,
    B: TableLike,
    rng: np.random.Generator | int,
    bandwidth: float | Literal["median"] = "median",
    n_permutations: int = 200,
    *,
    categorical_features: ArrayLike | None = None,
    max_rows: int = 2000,
) -> TwoSampleTest:
    """Test by maximum mean discrepancy with a Gaussian kernel.

    Parameters
    ----------
    A, B : DataFrame or array-like of shape (n, n_features), (m, n_features)
        Tables of at least 5 rows each, without missing values. Columns of data frames are matched by name, and those that hold no
        numbers are nominal; in arrays a nominal column holds a number for each category.
    rng : numpy.random.Generator or int
        Source of permutations, and of the subset where the tables are large.
    bandwidth : float or "median", default="median"
        s in the kernel ``exp(-|x - y|**2 / (2 s**2))``; by default the median of the distances above 0 between the rows of both
        tables.
    n_permutations : int, default=200
        Number of random divisions of the rows into two tables of the same sizes; at least 1. All use one matrix of the kernel.
    categorical_features : None, array-like of bool of shape (n_features,), of int, or of str, default=None
        Mask, positions or (of data frames) names of the nominal columns.
    max_rows : int, default=2000
        Largest number of rows of both tables together. Above it random subsets are tested: the smaller table keeps at most half
        of this number, the larger one the rest.

    Returns
    -------
    result : TwoSampleTest
        ``statistic`` and ``effect`` are the unbiased estimate of the squared discrepancy [1]_, equation 3; below 0 where the
        tables are more alike than chance makes them.

    Raises
    ------
    ValueError
        If the tables do not fit, are too small, hold NaN or infinity, or the bandwidth is not above 0.

    References
    ----------
    .. [1] Gretton, A., Borgwardt, K., Rasch, M., Schoelkopf, B., Smola, A. (2012). A kernel two-sample test. JMLR 13, 723-773.

    Examples
    --------
    >>> A, B = np.random.default_rng(0).normal(size=(2, 40, 3))
    >>> mmd(A, B + 1, np.random.default_rng(0)).p_value
    0.004975124378109453
    """
    if bandwidth != "median" and not (isinstance(bandwidth, numbers.Real) and 0 < bandwidth < np.inf):
        raise ValueError(f"bandwidth={bandwidth!r} must be 'median' or a finite number above 0")
    rng = as_generator(rng)
    check_count("n_permutations", n_permutations, 1)
    points, in_b = _pooled(A, B, rng, categorical_features, max_rows)
    kernel = cdist(points, points, "sqeuclidean")
    if bandwidth == "median":
        squares = kernel[np.triu_indices(len(kernel), 1)]
        squares = squares[squares > 0]
        squared_width = np.median(np.sqrt(squares)) ** 2 if len(squares) else 1.0
    else:
        squared_width = float(bandwidth) ** 2
    kernel /= -2 * squared_width
    np.exp(kernel, out=kernel)
    np.fill_diagonal(kernel, 0.0)
    within_a, within_b, between = _sums(kernel, in_b, n_permutations, rng)
    n_b = int(in_b.sum())
    n_a = len(in_b) - n_b
    squared = within_a / (n_a * (n_a - 1)) + within_b / (n_b * (n_b - 1)) - 2 * between / (n_a * n_b)
    return TwoSampleTest(float(squared[0]), permutation_p(squared), float(squared[0]), (n_a, n_b), "permutation")


def energy_distance_test(
    A: TableLike,
    B: TableLike,
    rng: np.random.Generator | int,
    n_permutations: int = 200,
    *,
    categorical_features: ArrayLike | None = None,
    max_rows: int = 2000,
) -> TwoSampleTest:
    """Test by the energy distance.

    Parameters
    ----------
    A, B : DataFrame or array-like of shape (n, n_features), (m, n_features)
        Tables of at least 5 rows each, without missing values, as in `mmd`.
    rng : numpy.random.Generator or int
        Source of permutations, and of the subset where the tables are large.
    n_permutations : int, default=200
        Number of random divisions of the rows into two tables of the same sizes; at least 1.
    categorical_features : None, array-like of bool of shape (n_features,), of int, or of str, default=None
        Mask, positions or (of data frames) names of the nominal columns.
    max_rows : int, default=2000
        Largest number of rows of both tables together; above it random subsets are tested, as in `mmd`.

    Returns
    -------
    result : TwoSampleTest
        ``statistic`` is ``2 E|X - Y| - E|X - X'| - E|Y - Y'|`` over all pairs of rows, a row with itself included, of columns
        divided by their standard deviation: the square of the energy distance, never below 0. ``effect`` is that divided by
        ``2 E|X - Y|``, in [0, 1]: the coefficient of inhomogeneity, 0 for tables with the same distribution.

    Raises
    ------
    ValueError
        If the tables do not fit, are too small, or hold NaN or infinity.

    Notes
    -----
    It hardly sees a change of the dependence between columns alone: correlations that grow from 0 to .3 among three columns, 100
    rows each, in .10 of the cases at .05. `foldshift.shift.dependence_test` sees them in .82.

    References
    ----------
    .. [1] Szekely, G.J., Rizzo, M.L. (2013). Energy statistics: a class of statistics based on distances. Journal of Statistical
       Planning and Inference 143(8), 1249-1272.

    Examples
    --------
    >>> A, B = np.random.default_rng(0).normal(size=(2, 40, 3))
    >>> energy_distance_test(A * 1e160, (B + 1) * 1e160, np.random.default_rng(0)).p_value
    0.004975124378109453
    """
    rng = as_generator(rng)
    check_count("n_permutations", n_permutations, 1)
    points, in_b = _pooled(A, B, rng, categorical_features, max_rows)
    within_a, within_b, between = _sums(cdist(points, points), in_b, n_permutations, rng)
    n_b = int(in_b.sum())
    n_a = len(in_b) - n_b
    twice_between = 2 * between / (n_a * n_b)
    squared = twice_between - within_a / n_a**2 - within_b / n_b**2
    statistic = max(float(squared[0]), 0.0)
    effect = statistic / float(twice_between[0]) if twice_between[0] > 0 else 0.0
    return TwoSampleTest(statistic, permutation_p(squared), effect, (n_a, n_b), "permutation")


def check_count(name: str, value: int, lowest: int) -> None:
    """Raise if `value` is not an integer of at least `lowest`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < lowest:
        raise ValueError(f"{name} must be an integer of at least {lowest}; got {value!r}")


def pooled_rows(
    A: TableLike,
    B: TableLike,
    rng: np.random.Generator,
    categorical_features: ArrayLike | None,
    max_rows: int | None = None,
    gaps: bool = False,
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Pool the rows in an order independent of the one given; return rows, mask of those of B, mask of the nominal columns.

    `gaps` says whether values may be missing.
    """
    A, B, nominal = _numbers(A, B, categorical_features, gaps)
    rows = np.concatenate([A, B])
    in_b = np.arange(len(rows)) >= len(A)
    order = np.lexsort((in_b, *rows.T))
    order = order[rng.permutation(len(rows))]
    rows, in_b = rows[order], in_b[order]
    if max_rows is not None:
        check_count("max_rows", max_rows, 2 * FEWEST_ROWS)
        kept = _kept(in_b, max_rows)
        rows, in_b = rows[kept], in_b[kept]
    return rows, in_b, nominal


def _numbers(
    A: TableLike, B: TableLike, categorical_features: ArrayLike | None, gaps: bool = False
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Convert both tables to finite numbers, with NaN for `gaps`, and make the mask of the nominal columns."""
    A, B = as_table(A, "first"), as_table(B, "second")
    if is_frame(A) or is_frame(B):
        columns = matched_columns(A, B, categorical_features, None)
        parts = [column.train for column in columns], [column.test for column in columns]
        tables = [np.column_stack([values.astype(np.float64) for values in part]) for part in parts]
        categorical_features = np.array([bool(column.categories) for column in columns])
    else:
        tables = [as_numbers(table, name) for name, table in zip("AB", (A, B))]
        tables = [table[:, None] if table.ndim == 1 else table for table in tables]
    shapes = [table.shape for table in tables]
    if any(table.ndim != 2 for table in tables) or shapes[0][1] != shapes[1][1] or shapes[0][1] == 0:
        raise ValueError(f"A has shape {shapes[0]} and B {shapes[1]}; expected (n, n_features) and (m, n_features)")
    for name, table in zip("AB", tables):
        if len(table) < FEWEST_ROWS:
            raise ValueError(f"{name} has {len(table)} rows; a test needs at least {FEWEST_ROWS}")
        if not (np.isfinite(table) | (np.isnan(table) if gaps else False)).all():
            raise ValueError(f"{name} holds {'' if gaps else 'NaN or '}infinite values; drop or impute them first")
    return tables[0], tables[1], nominal_columns(categorical_features, shapes[0][1])


def _pooled(
    A: TableLike, B: TableLike, rng: np.random.Generator, categorical_features: ArrayLike | None, max_rows: int | None = None
) -> tuple[FloatArray, BoolArray]:
    """Put the rows of both tables into one space (n, n_coordinates), and mark those of B.

    Numeric columns are divided by their standard deviation over both tables. With that of A alone permuting labels would not be
    exact, and mmd would reject 11 % of equal tables of 8 and 60 rows. A nominal column becomes one column per category: two rows
    that differ have a squared distance of 2, as two rows of a numeric column have on average.
    """
    rows, in_b, nominal = pooled_rows(A, B, rng, categorical_features, max_rows)
    blocks = []
    for column, is_nominal in zip(rows.T, nominal):
        if is_nominal:
            blocks.append((column[:, None] == np.unique(column)).astype(np.float64))
        else:
            column = scaled(column)
            spread = column.std(ddof=1)
            blocks.append(((column - column.mean()) / (spread if spread > 0 else 1.0))[:, None])
    return np.concatenate(blocks, axis=1), in_b


def _kept(in_b: BoolArray, max_rows: int) -> IntArray:
    """Select the positions of the first rows of either table, which are in random order."""
    n_a, n_b = int((~in_b).sum()), int(in_b.sum())
    if n_a + n_b <= max_rows:
        return np.arange(n_a + n_b)
    fewer = min(n_a, n_b, max_rows // 2)
    kept_a, kept_b = (fewer, max_rows - fewer) if n_a <= n_b else (max_rows - fewer, fewer)
    return np.sort(np.concatenate([np.flatnonzero(~in_b)[:kept_a], np.flatnonzero(in_b)[:kept_b]]))


def _sums(
    matrix: FloatArray, in_b: BoolArray, n_permutations: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sum a symmetric matrix within A, within B (ordered pairs) and between, for the labels and for every permutation of them."""
    labels = np.repeat(in_b[:, None].astype(np.float64), n_permutations + 1, axis=1)
    labels[:, 1:] = rng.permuted(labels[:, 1:], axis=0)
    from_row = matrix.sum(axis=1)
    within_b = np.einsum("ij,ij->j", labels, matrix @ labels)
    touching = from_row @ labels
    return from_row.sum() - 2 * touching + within_b, within_b, touching - within_b


def permutation_p(statistics: FloatArray) -> float:
    """Share of the permutations, the given labels among them, that reach the first statistic."""
    scale = np.abs(statistics).max()
    return float(np.mean(statistics >= statistics[0] - ROUNDING * scale))


def _stratified(in_b: BoolArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Assign a fold to every row: rows of A, then of B, are dealt out in random order."""
    folds = np.empty(len(in_b), np.int64)
    start = 0
    for label in (False, True):
        rows = rng.permutation(np.flatnonzero(in_b == label))
        folds[rows] = (start + np.arange(len(rows))) % n_folds
        start += len(rows)
    return folds


def _scores(estimator: Estimator, points: FloatArray, labels: BoolArray, train: BoolArray) -> tuple[FloatArray, float]:
    """Score the rows outside `train`, trained on each column of labels (n_tested, n_labellings); scores above the cut mean B."""
    cut = labels[train, 0].mean()
    if estimator is None:
        from sklearn.neighbors import NearestNeighbors

        n_neighbors = max(int(np.sqrt(train.sum())), 1)
        found = NearestNeighbors(n_neighbors=n_neighbors).fit(points[train]).kneighbors(points[~train], return_distance=False)
        known = labels[train].astype(np.float64)
        total = np.zeros((len(found), labels.shape[1]))
        for position in found.T:
            total += known[position]
        return total / n_neighbors, cut
    from foldshift.core.user_code.answers import class_scores_after_fit

    scores = np.empty((int((~train).sum()), labels.shape[1]))
    for column, label in enumerate(labels[train].T):
        scores[:, column], method = class_scores_after_fit(estimator, points[train], label.astype(np.int64), points[~train])
        cut = cut if method == "predict_proba" else 0.0
    return scores, cut


def _balanced_accuracy(scores: FloatArray, labels: BoolArray, cut: float) -> float:
    """Balanced accuracy; scores at the cut count one half."""
    predicted = np.sign(scores - cut) / 2 + 0.5
    return float((predicted[labels].mean() + 1 - predicted[~labels].mean()) / 2)
