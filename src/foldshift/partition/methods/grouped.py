"""Folds of whole groups, balanced: a deal by size, then exchanges between folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled, form_for
from foldshift.core.counting import bincount, repeat
from foldshift.partition.methods import deal_in_numpy
from foldshift.partition.methods._assignment import assign

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray

SWEEPS = 20  # of exchanges
MOST_WORK = 4e9  # products of one partition, about a second: sweeps are left out of large problems
FEWEST_SWEEPS = 2
NEAR = 0.1  # exchanges are among groups whose places by size differ by about this share


class _Groups(NamedTuple):
    """Groups of samples."""

    sums: FloatArray  # (n_groups, n_terms): sums of the terms
    sizes: IntArray  # (n_groups,)


class _Dealt(NamedTuple):
    """Folds so far: the fold of every group (-1: none), the sums of their terms, and their samples."""

    folds: IntArray  # (n_groups,)
    totals: FloatArray  # (n_terms, n_folds)
    in_fold: IntArray  # (n_folds,)


def folds_of_groups(sums: FloatArray, sizes: IntArray, order: FloatArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Assign groups to folds so that the folds are alike in the sums of all terms.

    The groups are sorted by size. Every run of k groups goes to k different folds, by the assignment that keeps the sums of the
    folds alike. After that, k groups of similar size, one of each fold, change places in the same way, again and again. Groups
    of equal size stay in `order`, so that a run holds groups that are near. No fold is empty, and the sizes of the folds differ
    by no more than the largest group.
    """
    n_groups = len(sizes)
    by_size = np.lexsort((order, -sizes))
    deal = np.full((-(-n_groups // n_folds), n_folds), -1)
    deal.flat[:n_groups] = by_size
    groups = _Groups(sums, sizes)
    dealt = _Dealt(np.full(n_groups, -1), np.zeros((sums.shape[1], n_folds)), np.zeros(n_folds, dtype=np.int64))
    work = 1.0 * n_groups * n_folds * sums.shape[1]
    n_sweeps = int(min(SWEEPS, max(FEWEST_SWEEPS, MOST_WORK / max(work, 1))))
    exchange = form_for(_exchange, deal_in_numpy.exchange, n_sweeps * n_groups * float(sums.shape[1]))
    exchange(groups, deal, rng.permutation(len(deal)), dealt, False)
    place = np.empty(n_groups)
    place[by_size] = np.arange(n_groups) / n_groups
    for _ in range(n_sweeps):
        tuples = _one_of_each(dealt.folds, place + NEAR * rng.random(n_groups), n_folds)
        exchange(groups, tuples, rng.permutation(len(tuples)), dealt, True)
    return rng.permutation(n_folds)[dealt.folds]


def _one_of_each(folds: IntArray, place: FloatArray, n_folds: int) -> IntArray:
    """Groups by fold (columns) and place; -1 below the last group of a fold."""
    order = np.lexsort((place, folds))
    counts = bincount(folds, minlength=n_folds)
    tuples = np.full((counts.max(), n_folds), -1)
    row = np.arange(len(folds)) - repeat(np.cumsum(counts) - counts, counts)
    tuples[row, folds[order]] = order
    return tuples


@compiled
def _exchange(all_groups: _Groups, tuples: IntArray, visits: IntArray, dealt: _Dealt, is_dealt: bool) -> None:
    """Assign each tuple of groups again, all in the tuple to different folds. Where nothing is dealt yet, only assign."""
    sums, sizes = all_groups.sums, all_groups.sizes
    folds, totals, in_fold = dealt.folds, dealt.totals, dealt.in_fold
    n_folds, n_terms = len(in_fold), sums.shape[1]
    largest = sizes.max()
    costs = np.empty((n_folds, n_folds))
    after = np.empty(n_folds, np.int64)
    for visit in visits:
        groups = tuples[visit]
        if is_dealt:
            for fold in range(n_folds):
                if groups[fold] >= 0:
                    for t in range(n_terms):
                        totals[t, fold] -= sums[groups[fold], t]
        for i in range(n_folds):
            costs[i] = 0.0
            if groups[i] >= 0:
                for t in range(n_terms):
                    for fold in range(n_folds):
                        costs[i, fold] += sums[groups[i], t] * totals[t, fold]
        chosen = assign(costs, n_folds)
        if is_dealt:
            for i in range(n_folds):
                after[i] = in_fold[i] - (sizes[groups[i]] if groups[i] >= 0 else 0)
            for i in range(n_folds):
                after[chosen[i]] += sizes[groups[i]] if groups[i] >= 0 else 0
            # The deal keeps the sizes within the largest group; so do the exchanges.
            if after.max() - after.min() > largest or after.min() == 0:
                for i in range(n_folds):
                    chosen[i] = i
        for i in range(n_folds):
            group, fold = groups[i], chosen[i]
            if group >= 0:
                if is_dealt:
                    in_fold[i] -= sizes[group]
                in_fold[fold] += sizes[group]
                folds[group] = fold
                for t in range(n_terms):
                    totals[t, fold] += sums[group, t]
