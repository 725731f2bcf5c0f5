"""The distribution of sums of ranks under the null hypothesis: exact, or Monte Carlo where there is too much to count."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import permutations
from math import comb, factorial, log, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import binom

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, Floats, IntArray

N_DRAWS = 99_999
SEED = 20062
MOST_STATES = 400_000  # sums times orders of a block that are looked at in one step of the count; some tenths of a second in all


class RankSums(NamedTuple):
    """Distribution of the sums of ranks when every order of every block's ranks is as likely as any other.

    Attributes
    ----------
    sums : ndarray of shape (m, k), int64
        Twice the sums of ranks, ascending in every row: which method has which sum does not matter, all orders of the columns
        being as likely.
    probabilities : ndarray of shape (m,)
        Of each row.
    exact : bool
        Whether all orders were counted; else the rows are random draws, the first of them the sums that were observed, so that a
        p-value is (b + 1) / (m + 1) and never 0.
    """

    sums: IntArray
    probabilities: Array
    exact: bool

    def spread_p(self, sums: FloatArray) -> float:
        """P of a sum of squares about the mean as large as that of these sums (doubled, in any order), as in Friedman's test."""
        return self._p(_squares(self.sums), self.probabilities, _squares(sums))

    def difference_p(self, difference: FloatArray, *, control: bool = False) -> FloatArray:
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
        return apart.ravel(), np.repeat(self.probabilities / k, k)

    def _p(self, values: Array, weights: FloatArray, at: int | Array) -> Floats:
        order = np.argsort(values, kind="stable")
        # summed from the rare end, so that small p keep their digits
        tails = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
        return np.minimum(tails[np.searchsorted(values[order], at)], 1.0)


def rank_sums(ranks: ArrayLike, *, n_draws: int = N_DRAWS, seed: int = SEED) -> RankSums:
    """Distribution of the sums of ranks of k methods over n blocks, given the ranks (and so the ties) within each block.

    Examples
    --------
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
    """Number of different orders of a block's ranks."""
    return factorial(len(block)) // prod(factorial(count) for count in Counter(block).values())


@lru_cache(maxsize=32)
def _counted(blocks: tuple[tuple[int, ...], ...]) -> RankSums | None:
    """All sums with their probabilities, block by block; None where a step has too many."""
    k = len(blocks[0])
    if k == 2:
        # each block that is not tied adds 2 or 4 to the first sum
        different = [block for block in blocks if block[0] != block[1]]
        low = np.arange(len(different) + 1)
        sums = np.stack([sum(block[0] for block in blocks) + 2 * low, sum(block[1] for block in blocks) - 2 * low], axis=1)
        m = len(different)
        exact = m <= 1000  # whole numbers take too long above
        probabilities = [comb(m, i) / 2**m for i in range(m + 1)] if exact else binom.pmf(low, m, 0.5)
        return RankSums(np.sort(sums, axis=1), np.array(probabilities), True)
    sums, probabilities = np.array([blocks[0]]), np.ones(1)  # the first block may stand still: only the others' orders count
    for block in blocks[1:]:
        m = orders(block)
        if m * len(sums) > MOST_STATES:
            return None
        steps = np.array(sorted(set(permutations(block)))) if m > 1 else np.array([block])
        sums = np.sort((sums[:, None, :] + steps).reshape(-1, k), axis=1)
        sums, where = np.unique(sums, axis=0, return_inverse=True) if k > 8 else _merged(sums)
        probabilities = np.bincount(where.ravel(), np.repeat(probabilities / m, m))
    return RankSums(sums, probabilities, True)


def _merged(sums: IntArray) -> tuple[IntArray, IntArray]:
    """Rows that are different and the place of every row among them, by one number for each row."""
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


def _squares(sums: Array) -> IntArray | int:
    """Sum of squares about the mean, times k squared, in whole numbers: equal ones are equal."""
    sums = np.asarray(sums, dtype=np.int64)
    k = sums.shape[-1]
    return ((k * sums - sums.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
