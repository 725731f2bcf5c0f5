"""Tests of two learners on one data set, each with the assumption it rests on.

Differences are always first learner minus second. Every function also accepts leading axes, one test for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.arguments import check_confidence, check_one_of, plain
from foldshift.core.gate.numbers import as_numbers, check_finite, correctness
from foldshift.core.gate.rows import check_pairs
from foldshift.core.repr import readable
from foldshift.inference._midranks import SAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foldshift.core.types import FloatArray, Floats, IntArray, TableLike


@readable
class TTest(NamedTuple):
    """Result of a t test; arrays if many tests were done at once."""

    statistic: Floats
    df: float
    p_value: Floats
    estimate: Floats
    low: Floats
    high: Floats
    standard_error: Floats

    def sentences(self) -> list[str]:
        """Report the test in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "t tests")]
        interval = "" if np.isnan(self.low) else f" (interval {self.low:.4g} to {self.high:.4g})"
        return [
            f"Mean difference, first minus second: {self.estimate:.4g}{interval}; t = {self.statistic:.4g} with {self.df} "
            f"degrees of freedom, two-sided p = {self.p_value:.3g}."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test."""
        return _frame(self)


@readable
class FTest(NamedTuple):
    """Result of `f_5x2cv`."""

    statistic: Floats
    df: tuple[int, int]
    p_value: Floats
    estimate: Floats

    def sentences(self) -> list[str]:
        """Report the test in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "F tests")]
        return [
            f"Mean difference, first minus second: {self.estimate:.4g}; F = {self.statistic:.4g} with {self.df[0]} and "
            f"{self.df[1]} degrees of freedom, p = {self.p_value:.3g}."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test."""
        return _frame(self)


@readable
class CorrelatedT(NamedTuple):
    """Result of `bayesian_correlated_t`: posterior probabilities that sum to 1, and the posterior itself, a Student t."""

    left: Floats
    rope: Floats
    right: Floats
    mean: Floats
    scale: Floats
    df: int

    def interval(self, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Equal-tailed credible interval for the mean difference."""
        half = stats.t.ppf((1 + confidence) / 2, self.df) * self.scale
        return self.mean - half, self.mean + half

    def sentences(self) -> list[str]:
        """Report the posterior in words."""
        if np.ndim(self.mean):
            return [f"{np.size(self.mean)} Bayesian correlated t tests."]
        within = f", within the region of practical equivalence {self.rope:.3f}" if self.rope else ""
        return [f"Posterior probability that the second scores higher: {self.left:.3f}{within}, the first: {self.right:.3f}."]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test."""
        return _frame(self)


@readable
class McNemar(NamedTuple):
    """Result of `mcnemar`."""

    statistic: Floats
    p_value: Floats
    estimate: Floats
    low: Floats
    high: Floats
    only_a: int | IntArray
    only_b: int | IntArray
    method: str

    def sentences(self) -> list[str]:
        """Report the test in words."""
        if np.ndim(self.p_value):
            return [_many(self.p_value, "McNemar tests")]
        return [
            f"{self.only_a} rows only the first got right, {self.only_b} only the second: accuracies differ by "
            f"{self.estimate:.4g} (interval {self.low:.4g} to {self.high:.4g}), McNemar's p = {self.p_value:.3g} ({self.method})."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test."""
        return _frame(self)


def paired_t(differences: TableLike, *, confidence: float = 0.95) -> TTest:
    """Paired t test that takes the results of the folds for independent.

    They are not: the training sets overlap, and repetitions test the same rows again. The test finds differences that do not
    exist; `nadeau_bengio` corrects it. It is here because the papers use it, and for results that really are independent.

    Parameters
    ----------
    differences : array-like of shape (..., r, k) or (k,)
        Difference of the two learners' scores in every fold of every repetition.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    test : TTest
        As for `nadeau_bengio`.

    Examples
    --------
    >>> round(paired_t([0.02, 0.05, 0.01, 0.04]).p_value, 3)
    0.046

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms.
           Neural Computation 10, 1895-1923, section 3.4 (the k-fold cross-validated paired t test).
    """
    return _t_test(differences, 0.0, confidence)


def nadeau_bengio(differences: TableLike, n_train: float, n_test: float, *, confidence: float = 0.95) -> TTest:
    """Corrected resampled t test, for k-fold cross-validation, repeated or not, and for repeated hold-out (subsampling).

    ``t = mean / sqrt(s2 (1 / (k r) + n_test / n_train))`` with ``k r - 1`` degrees of freedom. The second term stands for the
    overlap of the training sets: it does not shrink with the number of repetitions, so that these are not counted as independent.

    Parameters
    ----------
    differences : array-like of shape (..., r, k) or (k,)
        Difference of the two learners' scores in every fold of every repetition; repeated hold-out has shape (r, 1) or (r,),
        and its sizes are those of its parts.
    n_train, n_test : float
        Rows in a training and in a test part; their means where folds differ by a row. Only the ratio counts: ``k - 1`` and 1 for
        k folds.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    test : TTest
        statistic, p_value (two-sided), estimate (mean difference), low, high, standard_error: float or ndarray of shape (...);
        df: int. Where all differences are the same the standard error is 0 and the interval a point: statistic 0 and p 1 if they
        are zero, else an infinite statistic and p 0.

    Raises
    ------
    ValueError
        If there are fewer than two differences, one is not finite, or a size is not positive.

    Notes
    -----
    The correction rests on a guess: two differences are correlated by the share of the rows that is tested. It is too small
    for learners that change little from one training set to the next: on simulated data the test still rejected two equally good
    learners with five nearest neighbours in 11 % of 10 x 10-fold comparisons at .05.

    Examples
    --------
    Ten repetitions of hold-out, 90 rows for training and 10 for testing each time:

    >>> d = [0.02, 0.05, 0.01, 0.04, 0.03, 0.06, 0.02, 0.05, 0.00, 0.04]
    >>> round(nadeau_bengio(d, n_train=90, n_test=10).p_value, 4)
    0.0057

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281 (the corrected
           resampled t test).
    .. [2] Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests for comparing learning
           algorithms. PAKDD, 3-12 (the form for r repetitions of k folds).
    """
    for name, size in (("n_train", n_train), ("n_test", n_test)):
        if not (np.ndim(size) == 0 and 0 < size < np.inf):
            shown = f"={size!r}" if np.size(size) < 4 else f" of shape {np.shape(size)}"
            raise ValueError(
                f"{name}{shown} must be a positive number of rows (the mean where folds differ); the scores come as differences: "
                "nadeau_bengio(scores_a - scores_b, n_train, n_test)"
            )
    return _t_test(differences, n_test / n_train, confidence)


def bayesian_correlated_t(differences: TableLike, rho: float, rope: float) -> CorrelatedT:
    """Bayesian correlated t test: the probability that one learner is better by more than a margin.

    The posterior of the mean difference is a Student t with ``k r - 1`` degrees of freedom, the mean of the differences, and
    scale ``sqrt(s2 (1 / (k r) + rho / (1 - rho)))``.

    Parameters
    ----------
    differences : array-like of shape (..., r, k) or (k,)
        Difference of the two learners' scores in every fold of every repetition.
    rho : float
        Correlation of the folds, in [0, 1): the share of the rows that is tested, ``n_test / (n_train + n_test)``, i.e. 1/k for k
        folds; the posterior is then that of `nadeau_bengio`.
    rope : float
        Half-width of the region of practical equivalence around 0, in units of the score; 0 for none.

    Returns
    -------
    posterior : CorrelatedT
        left: P(mean difference < -rope), the second learner's score is larger; rope: P(within); right: P(mean difference > rope).
        Where all differences are the same, the posterior is a point; on the border it counts as within.

    Raises
    ------
    ValueError
        If there are fewer than two differences, one is not finite, or rho or rope is out of range.

    Examples
    --------
    >>> posterior = bayesian_correlated_t([0.02, 0.05, 0.01, 0.04, 0.03], rho=1 / 5, rope=0.01)
    >>> round(posterior.right, 2)
    0.93

    References
    ----------
    .. [1] Corani, G. and Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data sets.
           Machine Learning 100, 285-304 (the Bayesian correlated t test).
    .. [2] Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017). Time for a change: a tutorial for comparing multiple
           classifiers through Bayesian analysis. JMLR 18(77), 1-36.
    """
    if not 0 <= rho < 1:
        raise ValueError(f"rho={rho!r} must be in [0, 1); for k folds it is 1/k")
    if not 0 <= rope < np.inf:
        raise ValueError(f"rope={rope!r} must be 0 or a positive number in units of the score")
    mean, s2, n, unit = _moments(differences)
    mean, scale = np.ldexp(mean, unit), np.ldexp(np.sqrt(s2 * (1 / n + rho / (1 - rho))), unit)
    spread = np.where(scale > 0, scale, 1.0)
    left = np.where(scale > 0, stats.t.cdf((-rope - mean) / spread, n - 1), mean < -rope)
    right = np.where(scale > 0, stats.t.sf((rope - mean) / spread, n - 1), mean > rope)
    within = np.maximum(1 - left - right, 0.0) if rope > 0 else ((scale == 0) & (mean == 0)).astype(float)
    return CorrelatedT(plain(left), plain(within), plain(right), plain(mean), plain(scale), n - 1)


def t_5x2cv(differences: TableLike) -> TTest:
    """Dietterich's 5x2cv paired t test.

    ``t = d[0, 0] / sqrt(mean of the five s2)`` with 5 degrees of freedom, where s2 is the variance (ddof 1) of the two
    differences of a repetition. The numerator is the first difference alone, so the result depends on the order of the
    repetitions and folds; `f_5x2cv` does not.

    Parameters
    ----------
    differences : array-like of shape (..., 5, 2)
        Difference of the two learners' scores in both halves of five repetitions of 2-fold cross-validation.

    Returns
    -------
    test : TTest
        estimate is the mean of the ten differences; low and high are NaN, because the statistic is not about that mean.
        standard_error is that of the first difference. Zero differences give statistic 0 and p 1; no spread and a first
        difference that is not zero, an infinite statistic and p 0.

    Examples
    --------
    >>> d = [[0.03, 0.01], [0.02, 0.04], [0.0, 0.02], [0.01, 0.01], [0.05, 0.01]]
    >>> round(t_5x2cv(d).p_value, 3)
    0.133

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms.
           Neural Computation 10, 1895-1923, section 3.5.
    """
    d, s2, unit = _five_by_two(differences)
    error = np.sqrt(s2.mean(axis=-1))
    t = _ratio(d[..., 0, 0], error)
    nothing = plain(np.full(t.shape, np.nan))
    mean, error = plain(np.ldexp(d.mean(axis=(-2, -1)), unit)), plain(np.ldexp(error, unit))
    return TTest(plain(t), 5, plain(2 * stats.t.sf(np.abs(t), 5)), mean, nothing, nothing, error)


def f_5x2cv(differences: TableLike) -> FTest:
    """Alpaydin's combined 5x2cv F test.

    ``F = sum of the ten squared differences / (2 sum of the five s2)`` with (10, 5) degrees of freedom; all ten take part, in any
    order.

    Parameters
    ----------
    differences : array-like of shape (..., 5, 2)
        As for `t_5x2cv`.

    Returns
    -------
    test : FTest
        statistic, p_value, estimate (mean of the ten differences): float or ndarray of shape (...); df: (10, 5). No difference at
        all gives statistic 0 and p 1; no spread otherwise, an infinite statistic and p 0.

    Examples
    --------
    >>> d = [[0.03, 0.01], [0.02, 0.04], [0.0, 0.02], [0.01, 0.01], [0.05, 0.01]]
    >>> round(f_5x2cv(d).p_value, 3)
    0.197

    References
    ----------
    .. [1] Alpaydin, E. (1999). Combined 5x2 cv F test for comparing supervised classification learning algorithms. Neural
           Computation 11, 1885-1892.
    """
    d, s2, unit = _five_by_two(differences)
    f = _ratio((d**2).sum(axis=(-2, -1)), 2 * s2.sum(axis=-1))
    return FTest(plain(f), (10, 5), plain(stats.f.sf(f, 10, 5)), plain(np.ldexp(d.mean(axis=(-2, -1)), unit)))


def mcnemar(
    x_a: TableLike,
    x_b: TableLike,
    method: Literal["exact", "mid_p", "asymptotic", "corrected"] = "exact",
    *,
    confidence: float = 0.95,
) -> McNemar:
    """McNemar's test: of the rows that only one learner gets right, are half each learner's?

    The rows are taken for independent and the two trained models for given; variation with the training set is not part of it.

    Parameters
    ----------
    x_a, x_b : array-like of shape (..., n), bool or 0/1
        True or 1 where the learner got the row right; every row once.
    method : {"exact", "mid_p", "asymptotic", "corrected"}, default="exact"
        ``exact``: binomial, two-sided. ``mid_p``: the exact p less the probability of the observed count, less conservative.
        ``asymptotic``: ``(b - c)^2 / (b + c)``, chi-square with 1 degree of freedom. ``corrected``: ``(|b - c| - 1)^2 / (b +
        c)``, Edwards' continuity correction; 0 where b equals c.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    test : McNemar
        only_a (b), only_b (c): rows that only this learner got right; statistic: b for ``exact`` and ``mid_p``, else the
        chi-square; p_value, 1 if the learners are right and wrong on the same rows; estimate: difference of the accuracies,
        ``(b - c) / n``; low, high: Bonett and Price's interval for it. float or ndarray of shape (...).

    Raises
    ------
    ValueError
        If the shapes differ, there is no row, or a value is neither 0 nor 1.

    Examples
    --------
    >>> test = mcnemar([1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1, 0])
    >>> test.only_a, test.only_b, test.p_value
    (5, 0, 0.0625)

    References
    ----------
    .. [1] McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
           Psychometrika 12, 153-157.
    .. [2] Dietterich (1998), section 3.1.
    .. [3] Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs data: mid-p and
           asymptotic are better than exact conditional. BMC Medical Research Methodology 13:91.
    .. [4] Bonett, D. G. and Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial proportions based
           on paired data. Journal of Educational and Behavioral Statistics 37, 479-488.
    """
    if np.ndim(method):
        raise ValueError("mcnemar takes which rows each learner gets right, and no target: mcnemar(labels_a == y, labels_b == y)")
    check_one_of("method", method, ("exact", "mid_p", "asymptotic", "corrected"))
    check_confidence(confidence)
    check_pairs(x_a=x_a, x_b=x_b)
    x_a, x_b = correctness(x_a, "x_a") == 1, correctness(x_b, "x_b") == 1
    if x_a.shape != x_b.shape:
        raise ValueError(f"x_a and x_b have shapes {x_a.shape} and {x_b.shape}; expected the same shape with at least one row")
    n = x_a.shape[-1]
    b, c = (x_a & ~x_b).sum(axis=-1), (x_b & ~x_a).sum(axis=-1)
    either = b + c
    if method in ("exact", "mid_p"):
        statistic = b.astype(float)
        tails, observed = 2 * stats.binom.cdf(np.minimum(b, c), either, 0.5), stats.binom.pmf(b, either, 0.5)
        p = np.minimum(tails, 1.0) if method == "exact" else np.where(b == c, 1 - observed / 2, tails - observed)
    else:
        reduced = np.maximum(np.abs(b - c) - 1, 0) if method == "corrected" else np.abs(b - c)
        statistic = _ratio(reduced.astype(float) ** 2, either.astype(float))
        p = stats.chi2.sf(statistic, 1)
    p = np.where(either == 0, 1.0, p)
    share_b, share_c = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = stats.norm.ppf((1 + confidence) / 2) * np.sqrt((share_b + share_c - (share_b - share_c) ** 2) / (n + 2))
    low, high = np.maximum(share_b - share_c - half, -1.0), np.minimum(share_b - share_c + half, 1.0)
    return McNemar(plain(statistic), plain(p), plain((b - c) / n), plain(low), plain(high), plain(b), plain(c), method)


class _Moments(NamedTuple):
    """Mean, variance (ddof 1) and number of differences in units of ``2**unit``, so that no square leaves the range."""

    mean: FloatArray
    variance: FloatArray
    n: int
    unit: NDArray[np.int32]


def _t_test(differences: TableLike, overlap: float, confidence: float) -> TTest:
    """t test of the mean with variance ``s2 (1 / n + overlap)``."""
    check_confidence(confidence)
    mean, s2, n, unit = _moments(differences)
    error = np.sqrt(s2 * (1 / n + overlap))
    t = _ratio(mean, error)
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * error
    p = plain(2 * stats.t.sf(np.abs(t), n - 1))
    mean, low, high, error = (plain(np.ldexp(value, unit)) for value in (mean, mean - half, mean + half, error))
    return TTest(plain(t), n - 1, p, mean, low, high, error)


def _moments(differences: TableLike) -> _Moments:
    """Moments of the differences of every test."""
    d = as_numbers(differences, "differences")
    if d.ndim == 1:
        d = d[None, :]
    if d.ndim < 2 or d.shape[-1] * d.shape[-2] < 2:
        raise ValueError(f"differences has shape {np.shape(differences)}; expected (r, k) or (k,) with at least two differences")
    check_finite(d, "differences", "leave them out or correct them")
    d, unit = _scaled(d.reshape(*d.shape[:-2], -1), -1)
    return _Moments(d.mean(axis=-1), _variance(d), d.shape[-1], unit)


def _scaled(d: FloatArray, axes: int | tuple[int, ...]) -> tuple[FloatArray, NDArray[np.int32]]:
    """Differences of every test divided by a power of two near the largest, which rounds nothing, and its exponent."""
    unit = np.frexp(np.abs(d).max(axis=axes, keepdims=True))[1]
    return np.ldexp(d, -unit), np.squeeze(unit, axis=axes)


def _variance(d: FloatArray) -> FloatArray:
    """Variance (ddof 1) over the last axis, exactly 0 if all differences are the same."""
    spread = d.max(axis=-1) - d.min(axis=-1)  # up to a share of SAME it is rounding
    return np.where(spread <= SAME * np.abs(d).max(axis=-1), 0.0, d.var(axis=-1, ddof=1))


def _five_by_two(differences: TableLike) -> tuple[FloatArray, FloatArray, NDArray[np.int32]]:
    """Differences in units of a power of two, the variances of the repetitions, and the exponent of the unit."""
    d = as_numbers(differences, "differences")
    if d.ndim < 2 or d.shape[-2:] != (5, 2):
        raise ValueError(f"differences has shape {d.shape}; the 5x2cv tests need five repetitions of two folds, (5, 2)")
    check_finite(d, "differences", "leave them out or correct them")
    d, unit = _scaled(d, (-2, -1))
    return d, _variance(d), unit


def _ratio(above: Floats, below: Floats) -> FloatArray:
    """Quotient with 0/0 = 0 and x/0 infinite with the sign of x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((above == 0) & (below == 0), 0.0, np.divide(above, below))


def _many(p: Floats, what: str) -> str:
    return f"{np.size(p)} {what}, p from {np.min(p):.3g}."


def _frame(test: Any) -> pd.DataFrame:
    """Table of the fields of a test, one row for each of many tests."""
    n = max(np.size(value) for value in test if not isinstance(value, tuple | str))
    columns = ((name, value, np.ndim(value) and not isinstance(value, tuple)) for name, value in zip(test._fields, test))
    return pd.DataFrame({name: np.ravel(value) if several else [value] * n for name, value, several in columns})
