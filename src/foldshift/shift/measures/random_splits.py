"""Distances between training and test part of every fold of many cuts, of one column, and the same of random cuts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special
from scipy.stats import chi2

from foldshift.core.compiling import compiled, form_for
from foldshift.shift.measures import in_numpy
from foldshift.shift.measures.ks import ks_of_ranks

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, IntArray, UnsignedArray

CELLS_AT_ONCE = 20_000_000  # fold numbers in memory at the same time


class Ranked(NamedTuple):
    """A column reduced to the order of its values and the groups of equal ones, which is all that matters for a cut."""

    is_nominal: bool
    order: IntArray  # rows whose value is not missing, in ascending order of the value; shape (n_present,)
    ends: IntArray  # end (one past) of each group of equal values in that order; shape (n_values,)


def ranked(values: FloatArray, is_nominal: bool) -> Ranked:
    """Rank a column of numbers, or of codes of categories; NaN is missing."""
    order = np.argsort(values, kind="stable")
    order = order[: len(order) - int(np.isnan(values).sum())]
    ordered = values[order]
    return Ranked(is_nominal, order, np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(order)))


def fold_tests(is_nominal: bool, ends: IntArray, folds: UnsignedArray, n_folds: int) -> tuple[FloatArray, FloatArray]:
    """Compute distance (D or total variation) and p of every fold of every cut, (n_cuts, n_folds); NaN where a part is empty.

    `folds` (n_cuts, n) holds the samples with a value first, in ascending order of it; `ends` is that of `Ranked`. p is that of
    the limit of D, or of chi-square.
    """
    if is_nominal:
        distance, statistic = form_for(_fold_shares_in_order, in_numpy.fold_shares, folds.size)(folds, ends, n_folds)
        p = chi2.sf(statistic, len(ends) - 1) if len(ends) > 1 else np.ones(statistic.shape)
        return distance, np.where(np.isnan(statistic), np.nan, p)
    distance = ks_of_ranks(folds, ends, n_folds)
    weights = form_for(_weights, in_numpy.fold_weights, folds.size)(folds, int(ends[-1]), n_folds)
    return distance, special.kolmogorov(np.sqrt(weights) * distance)


@compiled
def _weights(folds: Array, n: int, n_folds: int) -> FloatArray:
    """Compute m (n - m) / n for every fold, which holds m of the first n samples."""
    out = np.empty((len(folds), n_folds))
    size = np.empty(n_folds, np.int64)
    for s in range(len(folds)):
        size[:] = 0
        for i in range(n):
            size[folds[s, i]] += 1
        for f in range(n_folds):
            out[s, f] = (n - size[f]) * size[f] / n
    return out


@compiled
def _fold_shares_in_order(folds: Array, ends: IntArray, n_folds: int) -> tuple[FloatArray, FloatArray]:
    """Compute total variation and chi-square of every fold; NaN where a part is empty."""
    n = ends[-1]
    distance, statistic = np.empty((len(folds), n_folds)), np.empty((len(folds), n_folds))
    size, count, apart = np.empty(n_folds, np.int64), np.empty(n_folds, np.int64), np.empty(n_folds, np.int64)
    squares = np.empty(n_folds)
    for s in range(len(folds)):
        size[:] = 0
        for i in range(n):
            size[folds[s, i]] += 1
        apart[:] = 0
        squares[:] = 0.0
        start = 0
        for end in ends:
            count[:] = 0
            for i in range(start, end):
                count[folds[s, i]] += 1
            for f in range(n_folds):
                gap = count[f] * n - (end - start) * size[f]
                apart[f] += abs(gap)
                squares[f] += float(gap) * gap / (end - start)
            start = end
        for f in range(n_folds):
            scale = size[f] * (n - size[f])
            distance[s, f] = apart[f] / (2 * scale) if scale > 0 else np.nan
            statistic[s, f] = squares[f] / scale if scale > 0 else np.nan
    return distance, statistic


def mean_distances(distance: FloatArray) -> FloatArray:
    """Average over the folds of every cut (n_cuts,); 0 where no fold can be compared with the rest."""
    defined = ~np.isnan(distance)
    return np.where(defined, distance, 0.0).sum(axis=1) / np.maximum(defined.sum(axis=1), 1)


def random_cuts(folds: UnsignedArray, n_random: int, rng: np.random.Generator) -> Iterator[UnsignedArray]:
    """Yield random cuts in blocks that fit in memory; cut i has the fold sizes of row ``i % n_seeds``."""
    sizes, step = np.sort(folds, axis=1), max(1, CELLS_AT_ONCE // folds.shape[1])
    states = rng.integers(2**64, size=n_random, dtype=np.uint64)
    for first in range(0, n_random, step):
        part = np.arange(first, min(first + step, n_random))
        cuts = sizes[part % len(folds)]
        form_for(_shuffle, in_numpy.shuffle, cuts.size)(cuts, states[part])
        yield cuts


@compiled
def _shuffle(cuts: UnsignedArray, states: UnsignedArray) -> None:
    """Shuffle every row in place by Fisher and Yates, with SplitMix64 started from the state of the row.

    `numpy.random.Generator.permuted` takes five times as long. Numbers below a bound are Lemire's, without bias.
    Sources: [1] Steele, G.L., Lea, D., Flood, C.H. (2014). Fast splittable pseudorandom number generators. OOPSLA, 453-472. [2]
    Lemire, D. (2019). Fast random integer generation in an interval. ACM Transactions on Modeling and Computer Simulation 29(1),
    3. Algorithm 5.
    """
    low_half = np.uint64(0xFFFFFFFF)
    for s in range(len(cuts)):
        state, row = states[s], cuts[s]
        for i in range(len(row) - 1, 0, -1):
            bound = np.uint64(i + 1)
            while True:
                state += np.uint64(0x9E3779B97F4A7C15)
                mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                product = (mixed >> np.uint64(32)) * bound
                if (product & low_half) >= bound or (product & low_half) >= (low_half - bound + np.uint64(1)) % bound:
                    break
            j = np.int64(product >> np.uint64(32))
            row[i], row[j] = row[j], row[i]


def chances(
    found: FloatArray, by_chance: FloatArray, kinds: IntArray, n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Compute the chances (n_columns,) that random cuts have a mean as large, and as small, as the given cuts.

    `found` (n_seeds, n_columns) is a statistic of the given cuts, `by_chance` (n_random, n_columns) that of random cuts. `kinds`
    numbers all cuts: only those with the same number, that is with folds of the same sizes, are exchanged.

    If the given cuts are random, nothing but their place distinguishes them from the `n_random` ones: given the S + R values of
    the statistic, every choice of S of them is equally likely to be the given ones. So the mean over the S is compared with its
    distribution over these choices, all S + R of them for one seed, else `n_draws` at random and the actual one:
    ``p = (1 + number that reach it) / (1 + n_draws)``, and ``P(p <= alpha) <= alpha`` at any S and R. The random cuts are on both
    sides of the comparison, and their own error with them. (Means of S cuts taken from the R random ones alone, with replacement,
    have variance s^2 / S about the mean of the R, where the mean over the S has s^2 / S + s^2 / R: at S = R the test would take
    1.4 standard errors for 2.) Choices are drawn by Floyd's algorithm, without replacement.
    """
    values, n_seeds = np.concatenate([found, by_chance]), len(found)
    if n_seeds == 1:
        means = values[1:]
    else:
        step = max(1, CELLS_AT_ONCE // len(values))
        sizes = [min(step, n_draws - first) for first in range(0, n_draws, step)]
        means = np.concatenate([_chosen_sums(values, kinds, n_seeds, size, rng) for size in sizes]) / n_seeds
    mean = found.mean(axis=0)
    slack = 1e-12 * np.maximum(np.abs(mean), 1e-300)
    more, less = ((1 + (side * (means - mean) >= -slack).sum(axis=0)) / (1 + len(means)) for side in (1, -1))
    return more, less


def _chosen_sums(values: FloatArray, kinds: IntArray, n_seeds: int, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Sum values (n_draws, n_columns) over random choices of as many cuts of each kind as are among the first `n_seeds`."""
    sums = np.zeros((n_draws, values.shape[1]))
    chosen = np.zeros((n_draws, len(kinds)), dtype=bool)
    draws = np.arange(n_draws)
    for kind in np.unique(kinds[:n_seeds]):
        members = np.flatnonzero(kinds == kind)
        for last in range(len(members) - int((members < n_seeds).sum()), len(members)):
            drawn = members[rng.integers(last + 1, size=n_draws)]
            drawn = np.where(chosen[draws, drawn], members[last], drawn)
            chosen[draws, drawn] = True
            sums += values[drawn]
    return sums
