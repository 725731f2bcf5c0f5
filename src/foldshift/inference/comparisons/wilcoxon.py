"""Exact distributions of ranks: Wilcoxon's signed-ranks test, many at once, and sums of ranks of several methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import permutations
from math import comb, factorial, log, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom, norm

from foldshift.core.arguments import check_one_of
from foldshift.core.counting import bincount, repeat
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.rows import check_pairs
from foldshift.core.repr import readable
from foldshift.inference._midranks import SAME, midranks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, Floats, Formula, IntArray

LARGEST_EXACT = 400  # pairs; above, p is that of the normal approximation
N_DRAWS = 99_999  # orders of the ranks that are drawn if there are too many sums to count
MOST_STEPS = 200  # of an interval that are looked at one by one
SEED = 20062  # of the draws; fixed, so that the same scores have the same p
MOST_STATES = 400_000  # sums times orders of a block that are looked at in one step of the count; some tenths of a second in all


@readable
class SignedRanks(NamedTuple):
    """Result of `wilcoxon_signed_ranks`; arrays if many tests were done at once.

    Examples
    --------
    >>> wilcoxon_signed_ranks([3, 1, 4, 6, 9], [1, 2, 1, 2, 4]).to_frame()["r_plus"].tolist()
    [14.0]
    """

    r_plus: Floats
    r_minus: Floats
    p_value: Floats
    method: str

    def sentences(self) -> list[str]:
        """Report the test in words."""
        if np.ndim(self.p_value):
            return [f"{np.size(self.p_value)} signed-ranks tests (Wilcoxon), p from {np.min(self.p_value):.3g}: {self.method}."]
        return [
            f"Wilcoxon's signed ranks: R+ = {self.r_plus:g} where the first is larger, R- = {self.r_minus:g} where the second "
            f"is; two-sided p = {self.p_value:.3g} ({self.method})."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test."""
        columns = {name: np.ravel(getattr(self, name)) for name in ("r_plus", "r_minus", "p_value")}
        return pd.DataFrame(columns | {"method": self.method})


def wilcoxon_signed_ranks(a: ArrayLike, b: ArrayLike, *, formula: Formula = "corrected") -> SignedRanks:
    """Wilcoxon's signed-ranks test of two paired samples, two-sided.

    Parameters
    ----------
    a, b : array-like of shape (..., n)
        Paired results, e.g. the error of two methods on n data sets. Leading axes are separate tests.
    formula : {"corrected", "paper"}, default="corrected"
        Treatment of ties and zeros. ``corrected``: the exact distribution given the tied ranks (conditional).
        ``paper``: the distribution without ties; a half-integer sum of ranks takes the mean of p at the integers below and above.
        Without ties and zeros both are the same exact p.

    Returns
    -------
    r_plus, r_minus : float or ndarray of shape (...)
        Sum of the ranks of ``|a - b|`` where a is larger, and where b is. Zero differences are ranked with the rest and their
        ranks split evenly. Differences that differ only by rounding, relative to the largest input, are equal.
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
    check_one_of("formula", formula, ("corrected", "paper"))
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
    """Differences of paired samples without their rounding, in a unit of their own, and the ranks of their magnitudes."""
    check_pairs(a=a, b=b)
    a, b = as_numbers(a, "a"), as_numbers(b, "b")
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

    With ties the interval is that of the test conditional on them: it leaves 0 out exactly where `wilcoxon_signed_ranks` rejects.
    The ends are infinite if so few differences reject nothing at ``1 - confidence``, and NaN above 400 differences.
    Source: Hodges, J. L. and Lehmann, E. L. (1963). Estimates of location based on rank tests. Annals of Mathematical Statistics
    34, 598-611.

    >>> hodges_lehmann([1, 2, 4, 6, 7, 11])
    (5.0, 1.0, 11.0)
    """
    d = as_numbers(d, "d")
    n = len(d)
    if n > LARGEST_EXACT:
        return float(np.median(d)), np.nan, np.nan
    i, j = np.triu_indices(n)
    means = np.sort((d[i] + d[j]) / 2)
    estimate = float(np.median(means))
    of_zero = wilcoxon_signed_ranks(d, np.zeros(n))
    if of_zero.method == "exact":
        rejected = int((rank_sum_p(np.arange(len(means) // 2 + 1), n) <= 1 - confidence).sum())
        low, high = (means[rejected - 1], means[-rejected]) if rejected else (-np.inf, np.inf)
        return estimate, float(low), float(high)
    low, high = _ends_with_ties(d, means, 1 - confidence)
    if of_zero.p_value > 1 - confidence:
        return estimate, min(low, 0.0), max(high, 0.0)
    beside = SAME * float(np.abs(d).max())  # 0 may be an end, and is rejected
    return (estimate, max(low, beside), high) if estimate > 0 else (estimate, low, min(high, -beside))


def _ends_with_ties(d: FloatArray, means: FloatArray, alpha: float) -> tuple[float, float]:
    """Ends of the differences around the median that the test, conditional on their ties, does not reject."""
    steps = means[np.append(True, np.diff(means) > SAME * np.abs(d).max())]
    room = max(float(np.ptp(d)), float(np.abs(d).max()), 1e-300)
    between = np.concatenate([[steps[0] - room], (steps[1:] + steps[:-1]) / 2, [steps[-1] + room]])

    def kept(place: int) -> bool:
        return bool(wilcoxon_signed_ranks(d, np.full(len(d), between[place])).p_value > alpha)

    middle = int(np.searchsorted(steps, np.median(means)))
    first, last = _first_rejected(kept, middle, -1), _first_rejected(kept, middle, len(between))
    low = -np.inf if first < 0 else float(steps[first])
    high = np.inf if last == len(between) else float(steps[last - 1])
    return low, high


def _first_rejected(kept: Callable[[int], bool], begin: int, end: int) -> int:
    """Place next to `begin`, towards `end`, that is not kept; `end` if all are. By halves where they are many."""
    step = 1 if end > begin else -1
    while abs(end - begin) > MOST_STEPS:
        half = (begin + end) // 2
        begin, end = (half, end) if kept(half) else (begin, half)
    return next((place for place in range(begin, end, step) if not kept(place)), end)


def rank_sum_p(rank_sum: Floats, n: int) -> Floats:
    """Exact two-sided p of a sum of ranks without ties; a half-integer takes the mean of p at its neighbours."""
    smaller = np.minimum(rank_sum, n * (n + 1) / 2 - rank_sum)
    table = _table(n)
    return (table[np.floor(smaller).astype(np.int64)] + table[np.ceil(smaller).astype(np.int64)]) / 2


def _has_ties(ranks: FloatArray) -> bool:
    """Find tied ranks in any test: an even number of ties gives half ranks, an odd one whole ranks that repeat."""
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
    """Lists of the numbers of equal rows, in the order of their first ones; faster than sorting the rows."""
    found: dict[bytes, list[int]] = {}
    for number, row in enumerate(array):
        found.setdefault(row.tobytes(), []).append(number)
    return list(found.values())


def _normal_p(r_plus: FloatArray, ranks: FloatArray, d: FloatArray) -> FloatArray:
    variance = (ranks**2 * (d != 0)).sum(axis=-1) / 4
    mean = ranks.sum(axis=-1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(r_plus - mean) / np.sqrt(variance)
    return np.where(variance > 0, np.clip(2 * norm.sf(z), np.finfo(np.float64).tiny, 1.0), 1.0)


class RankSums(NamedTuple):
    """Distribution of the sums of ranks when every order of every block's ranks is as likely as any other."""

    # twice the sums of ranks, ascending in every row: all orders of the columns are equally likely, so a sum need not name its
    # method; shape (m, k)
    sums: IntArray
    probabilities: FloatArray  # of each row; shape (m,)
    # true if all orders were counted; else the rows are random draws, the first of them the observed sums, so that a p-value is
    # (b + 1) / (m + 1) and never 0
    exact: bool

    def spread_p(self, sums: Array) -> float:
        """P of a sum of squares about the mean as large as that of these sums (doubled, in any order), as in Friedman's test."""
        return self._p(_squares(self.sums), self.probabilities, _squares(sums))

    def difference_p(self, difference: Floats, *, control: bool = False) -> Floats:
        """P that the largest difference of two sums reaches this one (twice a difference of sums of ranks).

        With `control`: the largest difference from the sum of one method, the control.
        """
        return self._p(*self._differences(control), difference)

    def smallest_difference(self, alpha: float, *, control: bool = False) -> float:
        """Smallest of the possible differences whose p by `difference_p` is at most alpha; inf if there is none."""
        values, weights = self._differences(control)
        possible = np.unique(values)
        reached = possible[self._p(values, weights, possible) <= alpha]
        return float(reached[0]) if len(reached) else np.inf

    def _differences(self, control: bool) -> tuple[IntArray, FloatArray]:
        if not control:
            return self.sums[:, -1] - self.sums[:, 0], self.probabilities
        # the control has any of the k sums with the same probability
        k = self.sums.shape[1]
        apart = np.maximum(self.sums[:, -1:] - self.sums, self.sums - self.sums[:, :1])
        return apart.ravel(), repeat(self.probabilities / k, k)

    def _p(self, values: Array, weights: FloatArray, at: Floats) -> Floats:
        """Probability of the values that are at least `at`."""
        order = np.argsort(values, kind="stable")
        # summed from the rare end, so that small p keep their digits
        tails = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
        return np.minimum(tails[np.searchsorted(values[order], at)], 1.0)


def rank_sums(ranks: ArrayLike, *, n_draws: int = N_DRAWS, seed: int = SEED) -> RankSums:
    """Distribution of the sums of ranks of k methods over n blocks, given the ranks (and so the ties) within each block.

    Five blocks of two methods that all agree: the sign test's 2 / 2^5.

    >>> float(rank_sums([[1, 2]] * 5).difference_p(10))
    0.0625
    """
    ranks = np.asarray(ranks, dtype=np.float64)
    doubled = np.rint(2 * ranks).astype(np.int64)
    blocks = tuple(sorted(tuple(sorted(row)) for row in doubled.tolist()))
    counted = _counted(blocks)
    return _drawn(blocks, tuple(sorted(doubled.sum(axis=0).tolist())), n_draws, seed) if counted is None else counted


def orders(block: tuple[float, ...]) -> int:
    """Number of different orders of the ranks of a block."""
    return factorial(len(block)) // prod(factorial(count) for count in Counter(block).values())


@lru_cache(maxsize=32)
def _counted(blocks: tuple[tuple[int, ...], ...]) -> RankSums | None:
    """Count all sums with their probabilities, block by block; None if a step has too many."""
    k = len(blocks[0])
    if k == 2:
        # each block that is not tied adds 2 or 4 to the first sum
        different = [block for block in blocks if block[0] != block[1]]
        low = np.arange(len(different) + 1)
        sums = np.stack([sum(block[0] for block in blocks) + 2 * low, sum(block[1] for block in blocks) - 2 * low], axis=1)
        m = len(different)
        exact = m <= 1000  # whole numbers take too long above
        shares = np.array([comb(m, i) / 2**m for i in range(m + 1)] if exact else binom.pmf(low, m, 0.5))
        return RankSums(np.sort(sums, axis=1), shares, True)
    probabilities: FloatArray = np.ones(1)
    sums = np.array([blocks[0]])  # the first block may keep its order: only the others count
    for block in blocks[1:]:
        m = orders(block)
        if m * len(sums) > MOST_STATES:
            return None
        steps = np.array(sorted(set(permutations(block)))) if m > 1 else np.array([block])
        sums = np.sort((sums[:, None, :] + steps).reshape(-1, k), axis=1)
        sums, where = np.unique(sums, axis=0, return_inverse=True) if k > 8 else _merged(sums)
        probabilities = bincount(where.ravel(), repeat(probabilities / m, m)).astype(np.float64, copy=False)
    return RankSums(sums, probabilities, True)


def _merged(sums: IntArray) -> tuple[IntArray, IntArray]:
    """Different rows, and the place of every row among them, by one number for each row."""
    base = int(sums.max()) + 1
    if log(base) * sums.shape[1] > 43:
        return np.unique(sums, axis=0, return_inverse=True)
    codes = sums @ base ** np.arange(sums.shape[1], dtype=np.int64)
    _, first, where = np.unique(codes, return_index=True, return_inverse=True)
    return sums[first], where


@lru_cache(maxsize=4)
def _drawn(blocks: tuple[tuple[int, ...], ...], observed: tuple[int, ...], n_draws: int, seed: int) -> RankSums:
    rng = np.random.default_rng(seed)
    sums = np.zeros((n_draws + 1, len(observed)), dtype=np.int64)
    for block in blocks:
        sums[1:] += rng.permuted(np.tile(np.array(block), (n_draws, 1)), axis=1)
    sums[0] = observed
    sums = np.sort(sums, axis=1)
    return RankSums(sums, np.full(len(sums), 1 / len(sums)), False)


def _squares(sums: Array) -> IntArray:
    """Sum of squares about the mean, times k squared, in whole numbers: equal ones are equal."""
    sums = np.asarray(sums, dtype=np.int64)
    k = sums.shape[-1]
    return ((k * sums - sums.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
