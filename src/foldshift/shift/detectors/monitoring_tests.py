"""Tests of a monitored classifier and of nominal features, and the skewness of a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.arguments import check_confidence, plain
from foldshift.core.counting import bincount
from foldshift.core.gate.arrays import as_array, missing
from foldshift.core.gate.numbers import correctness
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.inference.comparisons.ranks import friedman
from foldshift.inference.corrections import adjust_p as adjust_p
from foldshift.inference.proportions import wilson_interval
from foldshift.shift.report.drift_text import counted, p_in_words, percent
from foldshift.shift.table_versions import as_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, Floats, IntArray, StrArray, TableLike

SMALL_COUNT = 5  # expected count in a cell below which the approximation is rough


@readable
class RankTest(NamedTuple):
    """Result of `kruskal_wallis`: H, its degrees of freedom and p; arrays where many tests were done at once."""

    statistic: Floats
    df: int
    p_value: Floats

    def sentences(self) -> list[str]:
        """Return the result in words."""
        if np.ndim(self.p_value):
            return [_many("Kruskal-Wallis tests", self.p_value)]
        return [
            f"Mean ranks of the two samples: H {self.statistic:.4g}, p {p_in_words(self.p_value)} (chi-square, df {self.df})."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each test."""
        return _frame(statistic=self.statistic, df=self.df, p_value=self.p_value)


@readable
class ChiSquare(NamedTuple):
    """Result of `chi_square`; expected has the shape of the table without the columns that were dropped."""

    statistic: float
    df: int
    p_value: float
    expected: FloatArray

    def sentences(self) -> list[str]:
        """Return the result in words."""
        if self.df == 0:
            return ["All populations have one and the same value: there is nothing to compare, p 1."]
        small = int((self.expected < SMALL_COUNT).sum())
        note = f"; {counted(small, 'expected count')} below {SMALL_COUNT}, p is rough" if small else ""
        return [f"Chi-square {self.statistic:.4g}, p {p_in_words(self.p_value)} (df {self.df}){note}."]

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        return _frame(statistic=self.statistic, df=self.df, p_value=self.p_value)


@readable
class FriedmanBootstrap(NamedTuple):
    """Result of `friedman_bootstrap`; accuracies has shape (n_bootstraps, 2), validation first."""

    statistic: float
    df: int
    p_value: float
    accuracies: FloatArray

    def sentences(self) -> list[str]:
        """Return the result in words, with a warning that the test is not valid."""
        before, after = self.accuracies.mean(axis=0)
        return [
            f"Over {len(self.accuracies)} bootstraps accuracy is {before:.3f}, then {after:.3f}; Friedman's p "
            f"{p_in_words(self.p_value)}.",
            "This is no valid test: more bootstraps make any difference significant. two_proportion is one.",
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row."""
        return _frame(statistic=self.statistic, df=self.df, p_value=self.p_value)


@readable
class TwoProportion(NamedTuple):
    """Result of `two_proportion`; arrays where many tests were done at once."""

    statistic: Floats  # z of the pooled score test, positive where accuracy drops
    p_value: Floats  # two-sided
    drop: Floats  # accuracy on the validation part minus that on the test part
    low: Floats  # low, high: Interval of the drop
    high: Floats
    method: str | StrArray  # ``z``, or ``fisher`` where counts are small

    def sentences(self) -> list[str]:
        """Return the result in words."""
        if np.ndim(self.p_value):
            return [_many("tests of two proportions", self.p_value)]
        how = "Fisher's exact test" if self.method == "fisher" else "z test"
        return [
            f"Accuracy {'falls' if self.drop >= 0 else 'rises'} by {percent(abs(self.drop))}, interval of the drop "
            f"{percent(self.low)} to {percent(self.high)}; p {p_in_words(self.p_value)} ({how})."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each test."""
        return _frame(**self._asdict())


def _frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({name: np.ravel(values) for name, values in zip(columns, np.broadcast_arrays(*columns.values()))})


def _many(tests: str, p_values: FloatArray) -> str:
    return f"{np.size(p_values)} {tests}: {counted(int((np.asarray(p_values) < 0.05).sum()), 'p-value')} below .05, uncorrected."


def chi_square(table: TableLike) -> ChiSquare:
    """Test two or more populations for homogeneity over the values of a nominal feature by chi-square.

    Parameters
    ----------
    table : array-like of shape (n_populations, n_values)
        Counts; `foldshift.shift.detectors.monitoring_tests.category_counts` makes them.

    Returns
    -------
    test : ChiSquare
        ``sum (n_ij - E_ij)^2 / E_ij`` with ``E_ij = n_i. n_.j / N``, without continuity correction; values that no population has
        are dropped. If only one value is left there is nothing to compare: statistic 0, df 0 and p 1.

    Raises
    ------
    ValueError
        If the table has one population, no value, a population without rows, or a count that is negative or not finite.

    Notes
    -----
    Equation 5 of [1]_ has no square and another expectation, and is negative for the paper's own example (-5.690 for Table 5,
    which has 19.0). No printed number rests on it, so it is not offered.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.2, equations 5 and 6.

    Examples
    --------
    >>> print(chi_square([[6, 4, 0], [0, 0, 9]]).sentences()[0])
    Chi-square 19, p 7e-05 (df 2); 6 expected counts below 5, p is rough.
    """
    table = as_numbers(table, "table")
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise ValueError(f"table has shape {table.shape}; expected (n_populations, n_values), two populations or more")
    bad = ~np.isfinite(table) | (table < 0)
    if bad.any():
        raise ValueError(f"table holds {table[bad][0]:g}; expected counts of at least 0")
    if (table.sum(axis=1) == 0).any():
        raise ValueError(
            f"population {int(np.argmin(table.sum(axis=1)))} of table has no rows; every population needs one at least"
        )
    table = table[:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    if df == 0:
        return ChiSquare(0.0, 0, 1.0, expected)
    statistic = float(((table - expected) ** 2 / expected).sum())
    return ChiSquare(statistic, df, float(stats.chi2.sf(statistic, df)), expected)


def category_counts(a: ArrayLike, b: ArrayLike) -> tuple[IntArray, Array]:
    """Count every value of a nominal feature in two samples (2, n_values), and list the values; NaN is left out."""
    first, second = (sample[~missing(sample)] for sample in (as_array(a, "a"), as_array(b, "b")))
    values, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    counts = [bincount(part, minlength=len(values)) for part in (codes[: len(first)], codes[len(first) :])]
    return np.array(counts), values


def kruskal_wallis(scores_a: ArrayLike, scores_b: ArrayLike) -> RankTest:
    """Test two samples by Kruskal-Wallis, corrected for ties; e.g. predicted probabilities on validation and test rows.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (..., n), (..., m)
        Samples; leading axes are separate tests and are broadcast.

    Returns
    -------
    test : RankTest
        df is 1. Where all scores are equal the statistic is 0 and p 1. p is that of chi-square, which is coarse for fewer than 5
        scores in a sample.

    Raises
    ------
    ValueError
        If a sample is empty or holds NaN.

    Notes
    -----
    The test compares mean ranks alone and does not see a change that keeps them, such as one of spread. Use `ks_features` of the
    scores too.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.1.2, equations 3 and 4.

    Examples
    --------
    >>> print(kruskal_wallis([0.1, 0.2, 0.3, 0.4, 0.5], [0.6, 0.7, 0.8, 0.9, 0.95]).sentences()[0])
    Mean ranks of the two samples: H 6.818, p 0.009 (chi-square, df 1).
    """
    a, b = as_numbers(scores_a, "scores_a"), as_numbers(scores_b, "scores_b")
    for name, sample in (("scores_a", a), ("scores_b", b)):
        if sample.ndim == 0 or sample.shape[-1] == 0:
            raise ValueError(f"{name} has shape {sample.shape}; expected (..., n) with n of at least 1")
        if np.isnan(sample).any():
            raise ValueError(f"{name} holds NaN; drop missing scores first")
    leading = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    n, m = a.shape[-1], b.shape[-1]
    pooled = np.concatenate([np.broadcast_to(a, (*leading, n)), np.broadcast_to(b, (*leading, m))], axis=-1)
    ranks = stats.rankdata(pooled, axis=-1) - (n + m + 1) / 2
    between = ranks[..., :n].sum(axis=-1) ** 2 / n + ranks[..., n:].sum(axis=-1) ** 2 / m
    within = (ranks**2).sum(axis=-1)
    statistic = (n + m - 1) * np.divide(between, within, out=np.zeros(within.shape), where=within > 0)
    return RankTest(plain(statistic), 1, plain(stats.chi2.sf(statistic, 1)))


def friedman_bootstrap(
    correct_val: TableLike, correct_test: TableLike, n_bootstraps: int, rng: np.random.Generator | int
) -> FriedmanBootstrap:
    """Compare a classifier's accuracy on validation and test part by the paper's Friedman test over bootstraps.

    Parameters
    ----------
    correct_val, correct_test : array-like of shape (n,), (m,), bool or 0 and 1
        True for every row that was classified correctly.
    n_bootstraps : int
        Number of bootstraps, at least 2; the paper takes 100.
    rng : numpy.random.Generator or int
        Source of randomness.

    Returns
    -------
    test : FriedmanBootstrap
        Friedman's test with the bootstraps as blocks and the two parts as methods.

    Raises
    ------
    ValueError
        If a sample is empty or holds anything but 0 and 1, or there are fewer than two bootstraps.

    Notes
    -----
    **Not a valid test.** More bootstraps of the same predictions make any difference significant: with no shift at all it rejects
    at the 5 % level in .64, .80 and .94 of the cases with 30, 100 and 1000 bootstraps (8000 simulations; accuracy .85, 2000
    validation and 3000 test rows). It is here because the paper's figures rest on it; `two_proportion` is the valid test.

    The number of correct rows in a bootstrap follows a binomial distribution, which is drawn from directly.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.1.1, equations 1 and 2.

    Examples
    --------
    >>> right = np.arange(100) < 90
    >>> friedman_bootstrap(right, right, 100, np.random.default_rng(0)).accuracies.shape
    (100, 2)
    """
    rng = as_generator(rng)
    (rate_val, n_val), (rate_test, n_test) = _rate("correct_val", correct_val), _rate("correct_test", correct_test)
    if isinstance(n_bootstraps, bool) or not isinstance(n_bootstraps, int | np.integer) or n_bootstraps < 2:
        raise ValueError(f"n_bootstraps={n_bootstraps!r} must be an integer of at least 2")
    if np.ndim(rate_val) or np.ndim(rate_test):
        raise ValueError("correct_val and correct_test must have one axis each, one value for every row")
    sizes = (n_val, n_test)
    accuracies = rng.binomial(sizes, (rate_val, rate_test), (n_bootstraps, 2)) / sizes
    test = friedman(accuracies, distribution="approximation")  # as in the paper, for any number of bootstraps
    return FriedmanBootstrap(test.chi2, test.df, test.p_chi2, accuracies)


def two_proportion(correct_val: TableLike, correct_test: TableLike, *, confidence: float = 0.95) -> TwoProportion:
    """Compare a classifier's accuracy on validation and test part by two proportions, with an interval of the drop.

    Parameters
    ----------
    correct_val, correct_test : array-like of shape (..., n), (..., m), bool or 0 and 1
        True for every row that was classified correctly; leading axes are separate tests and are broadcast.
    confidence : float, default=0.95
        Level of the interval.

    Returns
    -------
    test : TwoProportion
        The pooled z test; where one of the four expected counts is below 5 the p-value is that of Fisher's exact test. Where both
        parts are all correct, or all wrong, statistic 0 and p 1. The interval is Newcombe's, of two Wilson intervals, in [-1, 1].

    Raises
    ------
    ValueError
        If a sample is empty or holds anything but 0 and 1, or `confidence` is not between 0 and 1.

    References
    ----------
    .. [1] Newcombe, R.G. (1998). Interval estimation for the difference between independent proportions: comparison of eleven
       methods. Statistics in Medicine 17, 873-890. Method 10.

    Examples
    --------
    >>> print(two_proportion(np.arange(100) < 90, np.arange(80) < 60).sentences()[0])
    Accuracy falls by 15 %, interval of the drop 3.93 % to 26.4 %; p 0.007 (z test).
    """
    check_confidence(confidence)
    (a, n), (b, m) = _rate("correct_val", correct_val), _rate("correct_test", correct_test)
    a, b = np.broadcast_arrays(a, b)
    drop, pooled = a - b, (a * n + b * m) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    statistic = np.divide(drop, error, out=np.zeros(drop.shape), where=error > 0)
    p_value = np.array(2 * stats.norm.sf(np.abs(statistic)))
    small = min(n, m) * np.minimum(pooled, 1 - pooled) < SMALL_COUNT
    for place in map(tuple, np.argwhere(small)):
        right = [round(float(a[place]) * n), round(float(b[place]) * m)]
        p_value[place] = stats.fisher_exact([right, [n - right[0], m - right[1]]])[1]
    (low_a, high_a), (low_b, high_b) = wilson_interval(a, n, confidence), wilson_interval(b, m, confidence)
    low = drop - np.hypot(a - low_a, high_b - b)
    high = drop + np.hypot(high_a - a, b - low_b)
    method = np.where(small, "fisher", "z")
    return TwoProportion(*map(plain, (statistic, np.minimum(p_value, 1), drop, low, high, method)))


def skew(values: ArrayLike) -> Floats:
    """Compute the skewness ``m3 / m2^1.5`` along the last axis, as in Table 6 of the paper (biased, not corrected for n)."""
    values = as_numbers(values, "values")
    if values.ndim == 0:
        raise ValueError("values must have an axis, e.g. shape (n_versions,)")
    if values.shape[-1] == 0:
        return plain(np.full(values.shape[:-1], np.nan))
    return plain(np.apply_along_axis(_skew, -1, values))


def _rate(name: str, correct: ArrayLike) -> tuple[Floats, int]:
    correct = correctness(correct, name)
    return correct.mean(axis=-1), correct.shape[-1]


def _skew(values: FloatArray) -> float:
    values = values[~np.isnan(values)]
    if len(values) < 3 or np.ptp(values) == 0:
        return np.nan
    return stats.skew(values, bias=True)
