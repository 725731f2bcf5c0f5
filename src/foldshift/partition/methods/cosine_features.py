"""Terms of columns whose sums show whether parts of the data have the same distributions: cosines of ranks, and categories.

Two parts of the data with equal means of all cosines ``cos(pi * j * rank / n)`` of a column have equal distribution functions. A
few of them show what the Kolmogorov-Smirnov distance shows, and their sums are quickly brought up to date.

All terms are whole numbers, so that sums of them are exact: in any order of the rows, and on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.compiling import compiled, form_for
from foldshift.core.counting import bincount, repeat
from foldshift.partition.methods import deal_in_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray

WAVES = (16, 32)  # cosines of a column, fewest and most
ROWS_OF_A_WAVE = 32  # samples for one more cosine between the two: few samples have no fine structure to balance
SCALE = 256  # of a cosine that counts whole
MOST_CATEGORIES = 64  # of a nominal column, the most frequent ones
MOST_ENTRIES = 1 << 28  # of all terms together (512 MB)


def n_waves(n_samples: int, n_columns: int) -> int:
    """Choose the number of cosines of every numeric column."""
    wanted = min(max(n_samples // ROWS_OF_A_WAVE, WAVES[0]), WAVES[1])
    return max(1, min(wanted, MOST_ENTRIES // max(n_samples * n_columns, 1)))


def terms_of(X: FloatArray, nominal: BoolArray, weights: FloatArray | None = None) -> NDArray[np.int16]:
    """Turn a table into terms: whole numbers, int16, shape (n_samples, n_terms), of mean about 0.

    A numeric column gives ``cos(pi * j * u) / sqrt(j)``, j = 1, 2, ..., of the mid-rank u in (0, 1), 0 where missing. A nominal
    column gives an indicator for each category, or a single one if there are two. Where values are missing, an indicator says
    so. All are times `SCALE` and the weight of the column, which is at most 64.
    """
    weights = np.ones(X.shape[1]) if weights is None else weights
    waves, columns = n_waves(*X.shape), list(X.T)
    ends = np.cumsum([_n_terms(*one, waves) for one in zip(columns, nominal)])
    terms = np.empty((len(X), ends[-1]), dtype=np.int16)
    for start, column, is_nominal, weight in zip([0, *ends], columns, nominal, weights):
        _fill(terms, start, column, is_nominal, weight, waves)
    return terms


def group_sums(columns: list[FloatArray], nominal: BoolArray, weights: FloatArray, groups: IntArray) -> FloatArray:
    """Sum the terms of every group, one column after the other: the terms of a large table are never held together.

    Parameters
    ----------
    columns : list of ndarray of shape (n_samples,)
    nominal, weights : ndarray of shape (n_columns,)
        As in `terms_of`.
    groups : ndarray of shape (n_samples,), dtype int64
        Number of the group of every sample, from 0.

    Returns
    -------
    sums : ndarray of shape (n_groups, n_terms + 1)
        Exact sums of the terms; the last column is left to the caller, and 0.
    """
    n_groups, waves = int(groups.max()) + 1, n_waves(len(groups), len(columns))
    ends = np.cumsum([_n_terms(*one, waves) for one in zip(columns, nominal)])
    sums = np.zeros((n_groups, ends[-1] + 1))
    for start, end, column, is_nominal, weight in zip([0, *ends], ends, columns, nominal, weights):
        terms = np.empty((len(groups), end - start), dtype=np.int16)
        _fill(terms, 0, column, is_nominal, weight, waves)
        sums[:, start:end] = form_for(sums_by_group, deal_in_numpy.sums_by_group, terms.size)(terms, groups, n_groups)
    return sums


def _n_terms(column: FloatArray, is_nominal: bool, waves: int) -> int:
    """Count the terms of a column."""
    if not is_nominal:
        return waves * _varies(column) + len(_missing(column))
    counts = np.unique(column, return_counts=True)[1]
    return len(counts) - 1 if len(counts) < 3 else min(int((counts > 1).sum()), MOST_CATEGORIES)


def _fill(terms: NDArray[np.int16], start: int, column: FloatArray, is_nominal: bool, weight: float, waves: int) -> None:
    """Write the terms of one column, from the position `start` on."""
    scale = SCALE * weight
    if not is_nominal and _varies(column):
        form_for(_fill_waves, deal_in_numpy.fill_waves, len(column) * waves)(terms, start, waves, _places(column), scale)
        start += waves
    for member, height in _nominal(column) if is_nominal else _missing(column):
        terms[:, start] = np.round((member - member.mean()) * scale * height)
        start += 1


def _varies(column: FloatArray) -> bool:
    there = column[~np.isnan(column)]
    return len(there) > 1 and (there != there[0]).any()


def _places(column: FloatArray) -> FloatArray:
    """Compute mid-ranks in (0, 1) among the values that are not missing; NaN elsewhere."""
    there = ~np.isnan(column)
    places = np.full(len(column), np.nan)
    places[there] = (mid_ranks(column[there]) - 0.5) / there.sum()
    return places


def mid_ranks(values: FloatArray) -> FloatArray:
    """Rank values from 1, equal ones sharing their mean: as `scipy.stats.rankdata`, in a third of the time."""
    order = np.argsort(values)
    ordered = values[order]
    firsts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(firsts[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = repeat((firsts + ends + 1) / 2, ends - firsts)
    return ranks


def _missing(column: FloatArray) -> list[tuple[BoolArray, float]]:
    missing = np.isnan(column)
    return [(missing, 1.0)] if missing.any() and not missing.all() else []


def _nominal(column: FloatArray) -> Iterable[tuple[BoolArray, float]]:
    """List members and weight of every category, the most frequent first; missing is one of them.

    Categories of one row cannot be balanced and are left out.
    """
    codes = np.unique(column, return_inverse=True)[1]
    counts = bincount(codes)
    often = np.argsort(-counts, kind="stable")
    often = often[counts[often] > 1][:MOST_CATEGORIES]
    if len(counts) == 2:  # one term says all, for both
        return [(codes == often[0], np.sqrt(2))]
    return ((codes == category, 1.0) for category in (often if len(counts) > 1 else ()))


@compiled
def _fill_waves(terms: NDArray[np.int16], start: int, waves: int, places: FloatArray, scale: float) -> None:
    """Write the cosines of one column, by ``cos(j t) = 2 cos(t) cos((j - 1) t) - cos((j - 2) t)``."""
    heights = scale / np.sqrt(np.arange(1, waves + 1))
    for row in range(len(places)):
        if np.isnan(places[row]):
            for j in range(waves):
                terms[row, start + j] = 0
            continue
        first = np.cos(np.pi * places[row])
        before, now = 1.0, first
        for j in range(waves):
            terms[row, start + j] = np.int16(np.rint(heights[j] * now))
            before, now = now, 2 * first * now - before


@compiled
def sums_by_group(terms: NDArray[np.int16], groups: IntArray, n_groups: int) -> FloatArray:
    """Sum the terms of every group, exactly: shape (n_groups, n_terms)."""
    sums = np.zeros((n_groups, terms.shape[1]))
    for row in range(len(terms)):
        for t in range(terms.shape[1]):
            sums[groups[row], t] += terms[row, t]
    return sums
