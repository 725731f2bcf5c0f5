"""Statistics that compare two samples, for all features and many versions of a table at once, and the tests of a monitored classifier."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from foldshift.nominal import nominal_columns
from foldshift.shift.hellinger import bin_codes

KS_METHODS = ("auto", "exact", "asymptotic", "permutation", "paper")
LARGEST_EXACT = 10_000  # product of the two sizes up to which "auto" takes the exact distribution
LARGEST_PERMUTATION = 10_000_000  # the same under ties: below a tenth of a second for one feature
SMALL_COUNT = 5
CELLS_AT_ONCE = 4_000_000


class KSFeatures(NamedTuple):
    """Result of `ks_features`; without versions the first axis is absent.

    Attributes
    ----------
    statistic : ndarray of shape (n_versions, n_features), dtype float64
        ``D = max |F_train - F_test|``, in [0, 1]; NaN where the feature has no value in one of the parts, or is masked.
    greater : ndarray of the same shape
        One-sided, ``max (F_train - F_test)``: large where the test values are the larger ones. `scipy.stats.ks_2samp` calls it "greater".
    n_train : ndarray of shape (n_features,), dtype int64
        Values present in the training table.
    n_test : ndarray of shape (n_versions, n_features), dtype int64
        Values present in the version of the test table; 0 where masked.
    """

    statistic: np.ndarray
    greater: np.ndarray
    n_train: np.ndarray
    n_test: np.ndarray


class HellingerFeatures(NamedTuple):
    """Result of `hellinger_features`; without versions the first axis is absent, and shapes are (n_features,).

    Attributes
    ----------
    distance : ndarray of shape (n_versions, n_features), dtype float64
        In [0, sqrt(2)]; NaN where the feature has no value in one of the parts, or is masked.
    expected : ndarray of the same shape
        What two random parts of these sizes, cut from the two together, have: mean over the permutations where there are any, else
        `expected_hellinger` (exact, a root mean square, which is a little more than the mean).
    excess : ndarray of the same shape
        ``distance - expected``.
    p_value : ndarray of the same shape
        Share of the permutations, this one included, that are as far apart; NaN without permutations.
    """

    distance: np.ndarray
    expected: np.ndarray
    excess: np.ndarray
    p_value: np.ndarray


class RankTest(NamedTuple):
    """Result of `kruskal_wallis`: H, its degrees of freedom and p; arrays where many tests were done at once."""

    statistic: np.ndarray
    df: int
    p_value: np.ndarray


class ChiSquare(NamedTuple):
    """Result of `chi_square`; expected has the shape of the table without the columns that were dropped."""

    statistic: float
    df: int
    p_value: float
    expected: np.ndarray


class FriedmanBootstrap(NamedTuple):
    """Result of `friedman_bootstrap`; accuracies has shape (n_bootstraps, 2), validation first."""

    statistic: float
    df: int
    p_value: float
    accuracies: np.ndarray


class TwoProportion(NamedTuple):
    """Result of `two_proportion`; arrays where many tests were done at once.

    Attributes
    ----------
    statistic : float or ndarray
        z of the pooled score test, positive where accuracy drops.
    p_value : float or ndarray
        Two-sided.
    drop : float or ndarray
        Accuracy on the validation part minus that on the test part.
    low, high : float or ndarray
        Interval of the drop.
    method : str or ndarray of str
        ``z``, or ``fisher`` where counts are small.
    """

    statistic: np.ndarray
    p_value: np.ndarray
    drop: np.ndarray
    low: np.ndarray
    high: np.ndarray
    method: np.ndarray


def ks_features(train, test, versions=None):
    """Kolmogorov-Smirnov distance of every feature between a training table and many versions of a test table.

    Parameters
    ----------
    train : array-like of shape (n_train, n_features)
        Numbers; NaN is a missing value and left out.
    test : array-like of shape (n_test, n_features)
        As `train`.
    versions : None, Versions, or array-like of int of shape (n_versions, n_kept)
        None: the test table as it is. What `foldshift.shift.injectors.versions` returns; or the rows of every version, of which one may
        stand more than once.

    Returns
    -------
    ks : KSFeatures

    Raises
    ------
    ValueError
        If the tables have different numbers of features or none, a value is infinite, or a row does not exist.

    Notes
    -----
    Each feature is sorted once for all versions; a version is then a count of its rows along that order. D is computed on integers and
    rounded once, so that ties are exact, and it is the same whether the distribution function counts values up to x or strictly below.
    A constant feature has D = 0 if it has the same value in both tables.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108. Section 5.3.
    """
    train, test = _tables(train, test)
    plan = _plan(versions, *test.shape)
    n_versions, n_features = len(plan.feature), test.shape[1]
    statistic, greater = np.empty((2, n_versions, n_features))
    n_test = np.empty((n_versions, n_features), dtype=np.int64)
    counts = _row_counts(plan.rows, len(test))
    n_train = (~np.isnan(train)).sum(axis=0)
    for j in range(n_features):
        column, here = np.sort(train[:, j])[: n_train[j]], plan.feature == j
        statistic[:, j], greater[:, j], n_test[:, j] = _ks_column(column, test[:, j], counts)
        if plan.masked:
            statistic[here, j], greater[here, j], n_test[here, j] = np.nan, np.nan, 0
        else:
            for v in np.flatnonzero(here & (plan.offset != 0)):
                one = counts[:, [min(v, counts.shape[1] - 1)]]
                moved = _ks_column(column, test[:, j] + plan.offset[v], one)
                statistic[v, j], greater[v, j], n_test[v, j] = (a[0] for a in moved)
    if versions is None:
        return KSFeatures(statistic[0], greater[0], n_train, n_test[0])
    return KSFeatures(statistic, greater, n_train, n_test)


def ks_p_value(D, n1, n2, method="auto", ties=None):
    """p-value of the two-sample Kolmogorov-Smirnov statistic.

    Parameters
    ----------
    D : float or array-like
        Statistics, in [0, 1].
    n1, n2 : int or array-like of int
        Sizes of the samples; broadcast with D.
    method : {"auto", "exact", "asymptotic", "permutation", "paper"}, default="auto"
        ``exact``
            Two-sided, from the distribution of continuous values without ties (under ties it is too large).
        ``permutation``
            Two-sided, over all divisions of the pooled sample into parts of these sizes, given its ties: counted in full, not drawn
            at random. Without ties the same as ``exact``.
        ``asymptotic``
            Two-sided limit ``2 sum (-1)^(i-1) exp(-2 i^2 D^2 m)`` with ``m = n1 n2 / (n1 + n2)``.
        ``paper``
            Equation 7 of [1]_: ``4 D^2 m`` against a chi-square with 2 degrees of freedom, ``exp(-2 D^2 m)``. It is the limit of the
            one-sided D (`KSFeatures.greater`): the two-sided D exceeds it about twice as often as it says.
        ``auto``
            See `ks_method`.
    ties : array-like of int, optional
        Sizes of the groups of equal values of the pooled sample in ascending order of the value (`tie_sizes`); needed by ``permutation``.
        They belong to one pooled sample, so that n1 and n2 must be single numbers.

    Returns
    -------
    p_value : float or ndarray
        In (0, 1]; NaN where D is, or where a size is 0.

    Raises
    ------
    ValueError
        If D, a size, `method` or `ties` is not allowed.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.3, equation 7.
    .. [2] Schroeer, G., Trenkler, D. (1995). Exact and randomization distributions of Kolmogorov-Smirnov tests two or three samples.
       Computational Statistics & Data Analysis 20(2), 185-202.
    """
    D, n1, n2 = np.broadcast_arrays(np.asarray(D, dtype=np.float64), np.asarray(n1), np.asarray(n2))
    if ((D < 0) | (D > 1)).any():
        raise ValueError(f"D={D[(D < 0) | (D > 1)][0]:g} must be from 0 to 1")
    if n1.dtype.kind not in "ui" or n2.dtype.kind not in "ui" or (n1 < 0).any() or (n2 < 0).any():
        raise ValueError("n1 and n2 must be integers of at least 0")
    if method not in KS_METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(KS_METHODS)}")
    p = np.full(D.shape, np.nan)
    defined = ~np.isnan(D) & (n1 > 0) & (n2 > 0)
    for size1, size2 in np.unique(np.column_stack([n1[defined], n2[defined]]), axis=0).tolist():
        here = defined & (n1 == size1) & (n2 == size2)
        groups = _checked_ties(ties, size1 + size2)
        m = size1 * size2 / (size1 + size2)
        used = ks_method(size1, size2, method, groups)
        if used == "paper":
            p[here] = np.exp(-2 * D[here] ** 2 * m)
        elif used == "asymptotic":
            p[here] = special.kolmogorov(np.sqrt(m) * D[here])
        else:
            ends = np.arange(1, size1 + size2 + 1) if used == "exact" else np.cumsum(groups)
            distinct, place = np.unique(D[here], return_inverse=True)
            p[here] = _exact_p(distinct, size1, size2, ends)[place.ravel()]
    return float(p) if p.ndim == 0 else p


def ks_method(n1, n2, method="auto", ties=None):
    """Which p-value `ks_p_value` takes.

    Parameters
    ----------
    n1, n2 : int
        Sizes of the samples.
    method : str, default="auto"
        As of `ks_p_value`.
    ties : array-like of int, optional
        As of `ks_p_value`.

    Returns
    -------
    method : str
        `method` itself but for ``auto``: without ties ``exact`` while ``n1 n2`` is at most 10,000, under ties ``permutation`` while it is at most
        10,000,000, and ``asymptotic`` above (which is too large under ties). It depends on nothing else.
    """
    if method == "permutation" and ties is None:
        raise ValueError("ties is None; method='permutation' needs the sizes of the groups of equal values: tie_sizes(a, b)")
    if method != "auto":
        return method
    tied = ties is not None and (np.asarray(ties) > 1).any()
    if tied:
        return "permutation" if n1 * n2 <= LARGEST_PERMUTATION else "asymptotic"
    return "exact" if n1 * n2 <= LARGEST_EXACT else "asymptotic"


def tie_sizes(a, b):
    """Sizes of the groups of equal values of two samples together, in ascending order of the value; missing values (NaN) do not count.

    Parameters
    ----------
    a, b : array-like of shape (n,), (m,)
        Samples.

    Returns
    -------
    sizes : ndarray of int64
        All 1 where there are no ties.
    """
    pooled = np.concatenate([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    return np.unique(pooled[~np.isnan(pooled)], return_counts=True)[1]


def chi_square(table):
    """Chi-square test of homogeneity of two or more populations over the values of a nominal feature.

    Parameters
    ----------
    table : array-like of shape (n_populations, n_values)
        Counts; see `category_counts`.

    Returns
    -------
    test : ChiSquare
        ``sum (n_ij - E_ij)^2 / E_ij`` with ``E_ij = n_i. n_.j / N``, no continuity correction; values that no population has are dropped. If
        only one value is left there is nothing to compare: statistic 0, df 0 and p 1.

    Raises
    ------
    ValueError
        If the table has one population, no value, a population without rows, or a count that is negative or not finite.

    Notes
    -----
    Equation 5 of [1]_ has no square and another expectation, and is negative on the paper's own example (-5.690 for Table 5, which has
    19.0). No printed number rests on it, so that it is not offered.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.2, equations 5 and 6.
    """
    table = np.asarray(table, dtype=np.float64)
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


def category_counts(a, b):
    """Counts of every value of a nominal feature in two samples.

    Parameters
    ----------
    a, b : array-like of shape (n,), (m,)
        Samples; missing values (NaN) do not count.

    Returns
    -------
    counts : ndarray of shape (2, n_values), dtype int64
        Values in ascending order. One that only one sample has is there, with a 0 in the other: an unseen category is a shift.
    values : ndarray of shape (n_values,)
    """
    a, b = (sample[sample == sample] for sample in (np.asarray(a), np.asarray(b)))
    values, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(values)) for part in (codes[: len(a)], codes[len(a) :])]
    return np.array(counts), values


def kruskal_wallis(scores_a, scores_b):
    """Kruskal-Wallis test of two samples, corrected for ties; e.g. of predicted probabilities on validation and test rows.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (..., n), (..., m)
        Samples; leading axes are separate tests and are broadcast.

    Returns
    -------
    test : RankTest
        df is 1. Where all scores are equal the statistic is 0 and p 1. p is that of chi-square: below 5 scores in a sample it is coarse.

    Raises
    ------
    ValueError
        If a sample is empty or holds NaN.

    Notes
    -----
    It looks at mean ranks alone: a change that keeps them, such as one of spread, goes unseen. Look at `ks_features` of the scores too.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.1.2, equations 3 and 4.
    """
    a, b = np.asarray(scores_a, dtype=np.float64), np.asarray(scores_b, dtype=np.float64)
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
    return RankTest(_plain(statistic), 1, _plain(stats.chi2.sf(statistic, 1)))


def friedman_bootstrap(correct_val, correct_test, n_bootstraps, rng):
    """The paper's Friedman test of a classifier's accuracy on validation and test part, over bootstraps of its predictions.

    Parameters
    ----------
    correct_val, correct_test : array-like of shape (n,), (m,), bool or 0 and 1
        Whether every row was classified correctly.
    n_bootstraps : int
        Bootstraps, at least 2; the paper takes 100.
    rng : numpy.random.Generator
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
    **Not a valid test.** More bootstraps of the same predictions make any difference significant: with no shift at all it rejects at the
    5 % level in .64, .80 and .94 of the cases with 30, 100 and 1000 bootstraps (8000 simulations; accuracy .85, 2000 validation and
    3000 test rows). It is here because the paper's figures are made of it; `two_proportion` is the valid test.

    The rows drawn with replacement that are correct follow a binomial distribution, which is drawn from directly.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.1.1, equations 1 and 2.
    """
    from foldshift.inference import friedman

    rates, sizes = zip(*(_rate(name, sample) for name, sample in (("correct_val", correct_val), ("correct_test", correct_test))))
    if isinstance(n_bootstraps, bool) or not isinstance(n_bootstraps, int | np.integer) or n_bootstraps < 2:
        raise ValueError(f"n_bootstraps={n_bootstraps!r} must be an integer of at least 2")
    if np.ndim(rates[0]) or np.ndim(rates[1]):
        raise ValueError("correct_val and correct_test must have one axis each, one value for every row")
    accuracies = rng.binomial(sizes, rates, (n_bootstraps, 2)) / sizes
    test = friedman(accuracies)
    return FriedmanBootstrap(test.chi2, test.df, test.p_chi2, accuracies)


def two_proportion(correct_val, correct_test, *, level=0.95):
    """Test of a classifier's accuracy on validation and test part, and an interval of the drop.

    Parameters
    ----------
    correct_val, correct_test : array-like of shape (..., n), (..., m), bool or 0 and 1
        Whether every row was classified correctly; leading axes are separate tests and are broadcast.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    test : TwoProportion
        The pooled z test; where one of the four expected counts is below 5 the p-value is that of Fisher's exact test. Where both
        parts are all correct, or all wrong, statistic 0 and p 1. The interval is Newcombe's, of two Wilson intervals, in [-1, 1].

    Raises
    ------
    ValueError
        If a sample is empty or holds anything but 0 and 1, or `level` is not between 0 and 1.

    References
    ----------
    .. [1] Newcombe, R.G. (1998). Interval estimation for the difference between independent proportions: comparison of eleven methods.
       Statistics in Medicine 17, 873-890. Method 10.
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be between 0 and 1, e.g. 0.95")
    (a, n), (b, m) = _rate("correct_val", correct_val), _rate("correct_test", correct_test)
    a, b = np.broadcast_arrays(a, b)
    drop, pooled = a - b, (a * n + b * m) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    statistic = np.divide(drop, error, out=np.zeros(drop.shape), where=error > 0)
    p_value = np.array(2 * stats.norm.sf(np.abs(statistic)))
    small = min(n, m) * np.minimum(pooled, 1 - pooled) < SMALL_COUNT
    for at in np.argwhere(small):
        at = tuple(at)
        right = [round(a[at] * n), round(b[at] * m)]
        p_value[at] = stats.fisher_exact([right, [n - right[0], m - right[1]]])[1]
    z = stats.norm.ppf((1 + level) / 2)
    (low_a, high_a), (low_b, high_b) = _wilson(a, n, z), _wilson(b, m, z)
    low = drop - np.hypot(a - low_a, high_b - b)
    high = drop + np.hypot(high_a - a, b - low_b)
    method = np.where(small, "fisher", "z")
    return TwoProportion(*map(_plain, (statistic, np.minimum(p_value, 1), drop, low, high, method)))


def hellinger_features(train, test, versions=None, *, n_bins=30, rng=None, n_permutations=0, categorical_features=None):
    """Hellinger distance of every feature between a training table and many versions of a test table, and what chance alone gives.

    Parameters
    ----------
    train, test, versions
        As of `ks_features`.
    n_bins : int, default=30
        Bins of equal width between the smallest and the largest value of both parts together, for every version anew.
    rng : numpy.random.Generator, optional
        Source of the permutations.
    n_permutations : int, default=0
        Random divisions of the pooled rows into parts of the same sizes, for p-values. A division changes how many of the values of
        a bin are in the test part, which follow a multivariate hypergeometric distribution: drawn directly.
    categorical_features : None, array-like of bool of shape (n_features,) or of int, default=None
        Mask or positions of the nominal features, whose distinct values are bins; one that only one part has is a bin too.

    Returns
    -------
    hellinger : HellingerFeatures
        The paper's distance of two tables is the mean over the features: ``numpy.nanmean(distance, axis=-1)``.

    Raises
    ------
    ValueError
        As `ks_features`; or if an argument is below what is allowed, or there are permutations without `rng`.

    Notes
    -----
    With no shift the distance is about ``sqrt((n_bins - 1) / 4 (1 / n_train + 1 / n_test))``, and not 0: dropping rows alone makes
    it larger. Compare the excess. A constant feature with the same value in both parts has distance, expected distance and excess 0.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 5.4, equation 9 and Algorithm 1.
    """
    train, test = _tables(train, test)
    for name, value, least in (("n_bins", n_bins, 1), ("n_permutations", n_permutations, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    if n_permutations and rng is None:
        raise ValueError(
            f"rng is None; n_permutations={n_permutations} needs a numpy.random.Generator, e.g. numpy.random.default_rng(0)"
        )
    plan = _plan(versions, *test.shape)
    nominal = nominal_columns(categorical_features, test.shape[1])
    shape = (len(plan.feature), test.shape[1])
    distance, expected, p_value = (np.full(shape, np.nan) for _ in range(3))
    for j in range(test.shape[1]):
        offset = np.where(plan.feature == j, plan.offset, 0.0)
        present = np.full(shape[0], True) if not plan.masked else plan.feature != j
        for of_versions, totals, counts in _histograms(train[:, j], test[:, j], plan.rows, offset, present, n_bins, nominal[j]):
            n_test = counts.sum(axis=1)
            distance[of_versions, j] = _hellinger(totals, counts, n_test)
            if n_permutations:
                for v, total, size, found in zip(of_versions, totals, n_test, distance[of_versions, j]):
                    drawn = rng.multivariate_hypergeometric(total, size, n_permutations, method="marginals")
                    null = _hellinger(total[None], drawn, np.full(n_permutations, size))
                    expected[v, j] = null.mean()
                    p_value[v, j] = (1 + (null >= found - 1e-12).sum()) / (1 + n_permutations)
            else:
                expected[of_versions, j] = expected_hellinger(totals, n_test)
    found = HellingerFeatures(distance, expected, distance - expected, p_value)
    return HellingerFeatures(*(a[0] for a in found)) if versions is None else found


def expected_hellinger(totals, n_test, *, formula="exact"):
    """Hellinger distance that chance alone gives: root of the mean square over all random divisions of the pooled rows.

    Parameters
    ----------
    totals : array-like of int of shape (..., n_bins)
        Values in every bin, both parts together.
    n_test : int or array-like of shape (...)
        Values in the test part; the rest is the training part.
    formula : {"exact", "approximate"}, default="exact"
        ``exact``: ``E H^2 = 2 - 2 sum_b E sqrt(X_b (T_b - X_b)) / sqrt(n_train n_test)`` with X_b hypergeometric.
        ``approximate``: ``(B - 1) / 4 (1 / n_train + 1 / n_test)`` with the B bins that are not empty, for bins with many values.

    Returns
    -------
    expected : float or ndarray of shape (...)
        The mean distance is a little smaller than this root mean square. NaN where a part is empty.
    """
    if formula not in ("exact", "approximate"):
        raise ValueError(f"formula={formula!r} must be 'exact' or 'approximate'")
    totals = np.asarray(totals)
    if totals.ndim == 0 or totals.dtype.kind not in "ui" or (totals < 0).any():
        raise ValueError(
            f"totals has shape {totals.shape} and type {totals.dtype}; expected (..., n_bins) integers of at least 0"
        )
    n_test = np.broadcast_to(n_test, totals.shape[:-1])
    n_train = totals.sum(axis=-1) - n_test
    if (n_test < 0).any() or (n_train < 0).any():
        raise ValueError("n_test must be from 0 to the sum of totals")
    squared = np.full(totals.shape[:-1], np.nan)
    if formula == "approximate":
        two = (n_test > 0) & (n_train > 0)
        occupied = (totals > 0).sum(axis=-1)
        squared[two] = (occupied[two] - 1) / 4 * (1 / n_train[two] + 1 / n_test[two])
        return _plain(np.sqrt(squared))
    for size, rest in np.unique(np.column_stack([n_test.ravel(), n_train.ravel()]), axis=0).tolist():
        here = (n_test == size) & (n_train == rest)
        if size and rest:
            distinct, place = np.unique(totals[here], return_inverse=True)
            overlap = np.array([_expected_root(total, size, rest) for total in distinct.tolist()])[place].reshape(
                totals[here].shape
            )
            squared[here] = np.maximum(2 - 2 * overlap.sum(axis=-1) / np.sqrt(size * rest), 0)
    return _plain(np.where(squared < 1e-13, 0.0, np.sqrt(squared)))


def adjust_p(p, method="bh"):
    """p-values corrected for their number.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values; leading axes are separate families. NaN is no test: it stays and does not count.
    method : {"bh", "holm", "none"}, default="bh"
        ``bh``: Benjamini and Hochberg, the rate of false discoveries. ``holm``: Holm, the chance of a single one.

    Returns
    -------
    adjusted : ndarray of shape (..., m)
        In [0, 1].

    Raises
    ------
    ValueError
        If `method` is not known or a p-value is not from 0 to 1.
    """
    if method not in ("bh", "holm", "none"):
        raise ValueError(f"method={method!r} must be 'bh', 'holm' or 'none'")
    p = np.array(p, dtype=np.float64)
    bad = (p < 0) | (p > 1)
    if p.ndim == 0 or bad.any():
        raise ValueError(
            f"p has shape {p.shape}{f' and holds {p[bad][0]:g}' if bad.any() else ''}; expected (..., m) from 0 to 1"
        )
    if method == "none" or p.size == 0:
        return p
    return np.apply_along_axis(_adjusted, -1, p, method)


def skew(values):
    """Skewness ``m3 / m2^1.5`` of the values along the last axis, as Table 6 of the paper has it (biased, without correction for n).

    Parameters
    ----------
    values : array-like of shape (..., n)
        E.g. the mean Hellinger distance of every version. NaN does not count.

    Returns
    -------
    skewness : float or ndarray of shape (...)
        NaN for fewer than three values, or if they are all equal. Negative with a tail of values below the mean, with more of
        them above it.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 0:
        raise ValueError("values must have an axis, e.g. shape (n_versions,)")
    if values.shape[-1] == 0:
        return _plain(np.full(values.shape[:-1], np.nan))
    return _plain(np.apply_along_axis(_skew, -1, values))


class _Plan(NamedTuple):
    """Versions in the form the kernels take; rows has one row where all versions have the same rows."""

    rows: np.ndarray
    feature: np.ndarray
    offset: np.ndarray
    masked: bool


def _plan(versions, n, n_features):
    if versions is None:
        return _Plan(np.arange(n)[None], np.array([-1]), np.zeros(1), False)
    if hasattr(versions, "rows"):
        rows, feature, offset, masked = versions.rows, versions.feature, versions.offset, versions.masked
        if len(feature) and feature.max() >= n_features:
            raise ValueError(f"versions are of feature {feature.max()}; the tables have {n_features} features")
    else:
        rows = np.asarray(versions)
        if rows.ndim != 2 or rows.dtype.kind not in "ui":
            raise ValueError(f"versions has shape {rows.shape} and type {rows.dtype}; expected (n_versions, n_kept) row numbers")
        feature, offset, masked = np.full(len(rows), -1), np.zeros(len(rows)), False
    if 0 in rows.shape:
        raise ValueError(f"versions has shape {rows.shape}; expected a version and a row at least")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"versions holds rows from {rows.min()} to {rows.max()}; the test table has rows 0 to {n - 1}")
    return _Plan(rows[:1] if rows.strides[0] == 0 else rows, feature, offset, masked)


def _tables(train, test):
    train, test = np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64)
    if train.ndim != 2 or test.ndim != 2 or train.shape[1] != test.shape[1] or 0 in train.shape or 0 in test.shape:
        raise ValueError(
            f"train has shape {train.shape} and test {test.shape}; expected (n_train, n_features) and (n_test, n_features), none of them 0"
        )
    for name, table in (("train", train), ("test", test)):
        if np.isinf(table).any():
            raise ValueError(f"{name} holds infinite values; drop them, or mark them as missing with NaN")
    return train, test


def _row_counts(rows, n):
    """How often every row stands in every version, (n, n_versions)."""
    n_versions = len(rows)
    flat = (np.arange(n_versions)[:, None] * n + rows).ravel()
    counts = np.bincount(flat, minlength=n_versions * n).reshape(n_versions, n)
    return np.ascontiguousarray(counts.T.astype(np.uint8 if counts.max() < 256 else np.int64))


def _ks_column(train, test, counts):
    """D two-sided and one-sided, and number of values, of every version of one column; `train` is sorted and has no NaN, `counts` is (n, n_versions)."""
    n_train, n_versions = len(train), counts.shape[1]
    order = np.argsort(test)  # NaN last
    values = test[order]
    n_present = len(values) - int(np.isnan(values).sum())
    values, present = values[:n_present], order[:n_present]
    sizes = counts.take(present, axis=0).sum(axis=0, dtype=np.int64)
    statistic, greater = np.full((2, n_versions), np.nan)
    if n_train == 0 or n_present == 0:
        return statistic, greater, sizes
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]), n_present - 1)
    # The distance is extreme just before or at a value of the test table, as the training function alone moves in between.
    distinct = values[ends]
    upto = np.searchsorted(train, distinct, side="right")
    below = upto.copy()
    shared = np.flatnonzero((upto > 0) & (train[upto - 1] == distinct))
    below[shared] = np.searchsorted(train, distinct[shared], side="left")
    kind = (
        np.int32 if n_train * int(sizes.max()) < 2**31 else np.int64
    )  # of products of counts; the smaller type is twice as fast
    upto, below = upto.astype(kind), below.astype(kind)
    step = max(1, CELLS_AT_ONCE // n_present)
    for first in range(0, n_versions, step):
        part = slice(first, first + step)
        n_test = sizes[part].astype(kind)[:, None]
        # Sums run fastest down the columns, maxima along the rows.
        cumulated = np.cumsum(counts[:, part].take(present, axis=0), axis=0, dtype=kind)
        cumulated = np.ascontiguousarray((cumulated.take(ends, axis=0) if len(ends) < n_present else cumulated).T)
        cumulated *= kind(n_train)
        at = n_test * upto
        at -= cumulated
        before = n_test * below
        before[:, 1:] -= cumulated[:, :-1]
        above = np.maximum(at.max(axis=1), before.max(axis=1))
        largest = np.maximum.reduce([above, -at.min(axis=1), -before.min(axis=1)])
        for found, out in ((largest, statistic), (above, greater)):
            np.divide(found, n_train * sizes[part], out=out[part], where=sizes[part] > 0)
    return statistic, greater, sizes


def _checked_ties(ties, n):
    if ties is None:
        return None
    ties = np.asarray(ties)
    if ties.ndim != 1 or ties.dtype.kind not in "ui" or (ties < 1).any() or ties.sum() != n:
        raise ValueError(f"ties must be the sizes of the groups of equal values, at least 1 each, with sum n1 + n2 = {n}")
    return ties


def _exact_p(D, n1, n2, ends):
    """P(distance >= D) over all equally likely orders of the pooled sample, looked at where a group of equal values ends.

    The pooled values are gone through in order; state i is how many of them belong to the smaller sample. What is too far apart leaves, and the sum of
    what left is p, which keeps small p accurate.
    """
    n1, n2 = min(n1, n2), max(n1, n2)
    scale = n1 * n2
    threshold = np.ceil(D * scale - 1e-6)[:, None]  # D is a multiple of 1 / (n1 n2)
    p = np.zeros(len(D))
    is_end = np.zeros(n1 + n2 + 1, dtype=bool)
    is_end[ends] = True
    i = np.arange(n1 + 1)
    step = max(1, CELLS_AT_ONCE // (n1 + 1))
    for first in range(0, len(D), step):
        part = slice(first, first + step)
        state = np.zeros((len(D[part]), n1 + 1))
        state[:, 0] = 1.0
        for t in range(n1 + n2):
            left = n1 + n2 - t
            moved = state[:, :-1] * ((n1 - i[:-1]) / left)
            state *= np.maximum(n2 - t + i, 0) / left
            state[:, 1:] += moved
            if is_end[t + 1]:
                far = np.abs(i * n2 - (t + 1 - i) * n1) >= threshold[part]
                p[part] += np.where(far, state, 0.0).sum(axis=1)
                state[far] = 0.0
    return np.where(threshold[:, 0] <= 0, 1.0, np.minimum(p, 1.0))


def _rate(name, correct):
    correct = np.asarray(correct)
    if correct.ndim == 0 or correct.shape[-1] == 0:
        raise ValueError(f"{name} has shape {correct.shape}; expected (..., n) with n of at least 1")
    if correct.dtype != bool and not np.isin(correct, (0, 1)).all():
        raise ValueError(f"{name} must hold True and False, or 1 and 0, for rows classified correctly or not")
    return correct.mean(axis=-1), correct.shape[-1]


def _wilson(share, n, z):
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # The exact ends, which rounding would miss.
    return np.where(share == 0, 0.0, centre - half), np.where(share == 1, 1.0, centre + half)


def _histograms(train, test, rows, offset, present, n_bins, nominal):
    """Versions of one column in groups of the same bins: their numbers, bins of both parts together, and of the test part alone.

    Versions without a value, masked, or without a training value, are left out.
    """
    train = train[~np.isnan(train)]
    values = test[rows]
    n_values = np.broadcast_to((~np.isnan(values)).sum(axis=1), len(offset))
    usable = present & (n_values > 0) & (len(train) > 0)
    if not usable.any():
        return
    lowest = np.broadcast_to(np.where(np.isnan(values), np.inf, values).min(axis=1), len(offset)) + offset
    highest = np.broadcast_to(np.where(np.isnan(values), -np.inf, values).max(axis=1), len(offset)) + offset
    if nominal:
        keys = np.column_stack([offset, offset])  # categories are bins as they are, whatever the rows
    else:
        keys = np.column_stack([np.minimum(lowest, train.min()), np.maximum(highest, train.max()), offset])
    groups = np.unique(keys[usable], axis=0)
    for key in groups:
        of_versions = np.flatnonzero(usable & (keys == key).all(axis=1))
        moved = test + key[-1]
        inside = ~np.isnan(moved)
        if not nominal:
            inside &= (moved >= key[0]) & (moved <= key[1])
        ends = [] if nominal else [key[0], key[1]]  # the bins span just these, as some rows of the table may lie outside
        codes, n_codes = bin_codes(np.concatenate([train, moved[inside], ends]), n_bins, nominal)
        of_train = np.bincount(codes[: len(train)], minlength=n_codes)
        code = np.full(len(test), n_codes)  # the last bin is for what is missing
        code[inside] = codes[len(train) : len(train) + inside.sum()]
        picked = code[rows[of_versions] if len(rows) > 1 else rows]
        flat = (np.arange(len(picked))[:, None] * (n_codes + 1) + picked).ravel()
        counts = np.bincount(flat, minlength=len(picked) * (n_codes + 1)).reshape(len(picked), n_codes + 1)[:, :-1]
        counts = np.broadcast_to(counts, (len(of_versions), n_codes))
        yield of_versions, of_train + counts, counts


def _hellinger(totals, counts, n_test):
    """Distance of the parts with `counts` from the rest of `totals`."""
    rest = totals - counts
    p, q = counts / n_test[:, None], rest / rest.sum(axis=1, keepdims=True)
    return np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=1))


@lru_cache(maxsize=100_000)
def _expected_root(total, n_test, n_train):
    """E sqrt(X (T - X)) of X hypergeometric: how many of the T values of a bin are in the test part."""
    n = n_test + n_train
    x = np.arange(max(0, total - n_train), min(total, n_test) + 1)
    log = _log_factorials(n)
    chance = log[total] - log[x] - log[total - x] + log[n - total] - log[n_test - x] - log[n_train - total + x]
    chance = np.exp(chance - chance.max())
    return float((np.sqrt(x * (total - x)) * chance).sum() / chance.sum())


@lru_cache(maxsize=4)
def _log_factorials(n):
    return special.gammaln(np.arange(n + 1) + 1.0)


def _adjusted(p, method):
    tests = ~np.isnan(p)
    m = int(tests.sum())
    if m == 0:
        return p
    adjusted = p.copy()
    if method == "bh":
        adjusted[tests] = stats.false_discovery_control(p[tests], method="bh")
    else:
        order = np.argsort(p[tests], kind="stable")
        stepped = np.empty(m)
        stepped[order] = np.minimum(np.maximum.accumulate(p[tests][order] * np.arange(m, 0, -1)), 1)
        adjusted[tests] = stepped
    return adjusted


def _skew(values):
    values = values[~np.isnan(values)]
    if len(values) < 3 or np.ptp(values) == 0:
        return np.nan
    return stats.skew(values, bias=True)


def _plain(value):
    """Arrays as they are, single values as Python's own."""
    value = np.asarray(value)
    return value.item() if value.ndim == 0 else value
