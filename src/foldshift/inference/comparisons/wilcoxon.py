"""Wilcoxon's signed-ranks test over data sets, exact, for many comparisons at once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from foldshift.core.repr import readable
from foldshift.inference._midranks import SAME, midranks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, Floats, Formula

LARGEST_EXACT = 400


@readable
class SignedRanks(NamedTuple):
    """Result of `wilcoxon_signed_ranks`; arrays where many tests were done at once.

    Examples
    --------
    >>> wilcoxon_signed_ranks([3, 1, 4, 6, 9], [1, 2, 1, 2, 4]).to_frame()["r_plus"].tolist()
    [14.0]
    """

    r_plus: Array
    r_minus: Array
    p_value: Array
    method: str

    def sentences(self) -> list[str]:
        """What the test says, in words."""
        if np.ndim(self.p_value):
            return [f"{np.size(self.p_value)} signed-ranks tests (Wilcoxon), p from {np.min(self.p_value):.3g}: {self.method}."]
        return [
            f"Wilcoxon's signed ranks: R+ = {self.r_plus:g} where the first is larger, R- = {self.r_minus:g} where the second "
            f"is; two-sided p = {self.p_value:.3g} ({self.method})."
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row for each test."""
        columns = {name: np.ravel(getattr(self, name)) for name in ("r_plus", "r_minus", "p_value")}
        return pd.DataFrame(columns | {"method": self.method})


def wilcoxon_signed_ranks(a: ArrayLike, b: ArrayLike, *, formula: Formula = "corrected") -> SignedRanks:
    """Wilcoxon's signed-ranks test of two paired samples, two-sided.

    Parameters
    ----------
    a, b : array-like of shape (..., n)
        Paired results, e.g. the error of two methods on n data sets. Leading axes are separate tests.
    formula : {"corrected", "paper"}, default="corrected"
        What to do under ties and zeros. ``corrected``: the exact distribution given the tied ranks (conditional).
        ``paper``: the distribution without ties; a half-integer sum of ranks takes the mean of p at the integers below and above.
        Without ties and zeros both are the same exact p.

    Returns
    -------
    r_plus, r_minus : float or ndarray of shape (...)
        Sum of the ranks of ``|a - b|`` where a is larger, and where b is. Zero differences are ranked with the rest and their
        ranks split evenly. Differences that differ by rounding only, relative to the largest input, are equal.
    p_value : float or ndarray of shape (...)
        Two-sided p-value, in (0, 1].
    method : str
        ``exact``, ``exact, conditional on ties``, ``exact, ties averaged``; ``normal approximation`` above 400 pairs.

    Raises
    ------
    ValueError
        If the shapes differ, there is no pair, or a value is not finite.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, section 3.1.3.
    .. [2] Saez, Romero-Bejar (2022), section 5.1: sums of ranks, asterisks.

    Examples
    --------
    >>> wilcoxon_signed_ranks([0.8, 0.3, 0.6, 0.9, 0.7], [0.7, 0.2, 0.5, 0.8, 0.6]).p_value
    0.0625
    """
    if formula not in ("corrected", "paper"):
        raise ValueError(f"formula={formula!r} must be 'corrected' or 'paper'")
    d, ranks = signed_differences(a, b)
    n = d.shape[-1]
    zeros = (ranks * (d == 0)).sum(axis=-1) / 2
    r_plus = (ranks * (d > 0)).sum(axis=-1) + zeros
    r_minus = (ranks * (d < 0)).sum(axis=-1) + zeros
    tied = (ranks != np.round(ranks)).any() or (d == 0).any() or _has_ties(ranks)
    smaller = np.minimum(r_plus, r_minus)
    if n > LARGEST_EXACT:
        p, method = _normal_p(r_plus, ranks, d), "normal approximation"
    elif not tied:
        p, method = _table(n)[smaller.astype(np.int64)], "exact"
    elif formula == "paper":
        p = rank_sum_p(smaller, n)
        method = "exact, ties averaged"
    else:
        p = _conditional_p(ranks.reshape(-1, n), d.reshape(-1, n), smaller.ravel()).reshape(smaller.shape)
        method = "exact, conditional on ties"
    if d.ndim == 1:
        return SignedRanks(float(r_plus), float(r_minus), float(p), method)
    return SignedRanks(r_plus, r_minus, np.asarray(p), method)


def signed_differences(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Differences of paired samples without their rounding, and the ranks of their magnitudes."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape or a.ndim == 0 or a.shape[-1] == 0:
        raise ValueError(f"a and b have shapes {a.shape} and {b.shape}; expected the same shape with at least one pair")
    if not (np.isfinite(a) & np.isfinite(b)).all():
        raise ValueError("a and b must hold finite numbers; a value is NaN or infinite")
    largest = np.maximum(np.abs(a), np.abs(b)).max(axis=-1)
    unit = np.frexp(largest)[1][..., None]  # a power of two, so that nothing is rounded
    d = np.ldexp(a, -unit) - np.ldexp(b, -unit)
    d = np.where(np.abs(d) <= SAME, 0.0, d)
    return d, midranks(np.abs(d), np.ones_like(largest))


def hodges_lehmann(d: ArrayLike, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Median of the means of all pairs of differences, and the interval that belongs to the signed-ranks test.

    Examples
    --------
    >>> hodges_lehmann([1, 2, 4, 6, 7, 11])
    (5.0, 1.0, 11.0)

    References
    ----------
    .. [1] Hodges, J. L. and Lehmann, E. L. (1963). Estimates of location based on rank tests. Annals of Mathematical Statistics
       34, 598-611.
    """
    d = np.asarray(d, dtype=np.float64)
    n = len(d)
    if n > LARGEST_EXACT:
        return float(np.median(d)), np.nan, np.nan
    i, j = np.triu_indices(n)
    means = np.sort((d[i] + d[j]) / 2)
    rejected = int((rank_sum_p(np.arange(len(means) // 2 + 1), n) <= 1 - confidence).sum())
    low, high = (means[rejected - 1], means[-rejected]) if rejected else (-np.inf, np.inf)
    return float(np.median(means)), float(low), float(high)


def rank_sum_p(rank_sum: float | Array, n: int) -> Floats:
    """Exact two-sided p of a sum of ranks, from the distribution without ties."""
    smaller = np.minimum(rank_sum, n * (n + 1) / 2 - rank_sum)
    table = _table(n)
    return (table[np.floor(smaller).astype(np.int64)] + table[np.ceil(smaller).astype(np.int64)]) / 2


def _has_ties(ranks: FloatArray) -> bool:
    """Whether any test has tied ranks: an even number of ties gives half ranks, an odd one whole ranks that repeat."""
    ordered = np.sort(ranks, axis=-1)
    return bool((ordered[..., 1:] == ordered[..., :-1]).any())


@lru_cache(maxsize=64)
def _table(n: int) -> FloatArray:
    """Two-sided p of every smaller rank sum ``0 .. ceil(n (n + 1) / 4)`` without ties."""
    return _two_sided(tuple(range(1, n + 1)))


@lru_cache(maxsize=4096)
def _two_sided(weights: tuple[int, ...]) -> FloatArray:
    """``min(1, 2 P(R <= r))`` for r = 0, 1, ... where R sums each weight with probability one half."""
    total = sum(weights)
    probability = np.zeros(total + 1)
    probability[0] = 1.0
    for weight in weights:
        shifted = np.zeros_like(probability)
        shifted[weight:] = probability[: total + 1 - weight]
        probability = (probability + shifted) / 2
    return np.minimum(1.0, 2 * np.cumsum(probability))


def _conditional_p(ranks: FloatArray, d: FloatArray, smaller: FloatArray) -> FloatArray:
    """Exact p given the ranks, one distribution for all tests with the same tied ranks.

    Doubled ranks are integers; zeros contribute half their rank to either side and do not vary.
    """
    varying = np.sort(np.where(d != 0, np.round(2 * ranks), 0).astype(np.int32), axis=1)
    fixed = np.round((ranks * (d == 0)).sum(axis=1)).astype(np.int64)  # twice half of the ranks of the zeros
    sums = np.round(2 * smaller).astype(np.int64) - fixed
    p = np.empty(len(d))
    for rows in equal_rows(varying):
        pattern = varying[rows[0]]
        p[rows] = _two_sided(tuple(pattern[pattern > 0].tolist()))[sums[rows]]
    return p


def equal_rows(array: Array) -> list[list[int]]:
    """Lists of the numbers of rows that are equal, in the order of their first ones; faster than sorting the rows."""
    found: dict[Any, Any] = {}
    for number, row in enumerate(array):
        found.setdefault(row.tobytes(), []).append(number)
    return list(found.values())


def _normal_p(r_plus: float, ranks: FloatArray, d: FloatArray) -> FloatArray:
    variance = (ranks**2 * (d != 0)).sum(axis=-1) / 4
    mean = ranks.sum(axis=-1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(r_plus - mean) / np.sqrt(variance)
    return np.where(variance > 0, np.clip(2 * norm.sf(z), np.finfo(np.float64).tiny, 1.0), 1.0)
