"""Distances of random cuts for every pattern of equal values: what a column's distance is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.shift.measures.random_splits import fold_tests, mean_distances, random_cuts

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray, UnsignedArray
    from foldshift.shift.measures.random_splits import Ranked

MANY_ROWS, NULL_ROWS = 20_000, 10_000  # rows above which distances are those of cuts of fewer rows, rescaled; and how many
FEWEST_PRESENT, FEWEST_EQUAL = 5_000, 10  # values, and rows of a category, that such a column keeps
MOST_CELLS = 4e9  # rows x cuts x patterns: above, columns that are near to chance have `FIRST_CUTS` cuts
FIRST_CUTS = 1999

Pattern = tuple[bool, bytes]  # all that the distances over random cuts depend on


@dataclass
class Null:
    """Mean distances of random cuts, and the numbers of their folds that fail a test and that were tested."""

    means: list[FloatArray] = field(default_factory=list)
    n_failed: int = 0
    n_tested: int = 0

    @cached_property
    def values(self) -> FloatArray:
        """Mean distance of every cut, in ascending order."""
        return np.sort(np.concatenate(self.means))

    @cached_property
    def mean(self) -> float:
        """Mean over all cuts."""
        return float(np.concatenate(self.means).mean())


class Parts(NamedTuple):
    """Numbers of folds and of parts, and the level of their tests."""

    n_folds: int
    n_parts: int
    alpha: float


def pattern_of(row: Ranked) -> Pattern:
    """Return all that the distribution over random cuts depends on."""
    return row.is_nominal, row.ends.astype(np.int64).tobytes()


def null_distances(patterns: Iterable[Pattern], blocks: Iterator[UnsignedArray], parts: Parts) -> dict[Pattern, Null]:
    """Test the folds of random cuts, block by block, for every pattern of equal values.

    A random cut knows no rows, only how many values are equal: columns without ties share one null distribution.
    """
    nulls = {pattern: Null() for pattern in patterns}
    for cuts in blocks if nulls else ():
        for (is_nominal, ends), null in nulls.items():
            tests = fold_tests(is_nominal, np.frombuffer(ends, dtype=np.int64), cuts, parts.n_parts)
            distance, p = (values[:, : parts.n_folds] for values in tests)
            null.means.append(mean_distances(distance))
            null.n_failed += int((p < parts.alpha).sum())
            null.n_tested += int((~np.isnan(p)).sum())
    return nulls


def nulls_of_one_cut(
    rows: list[Ranked], found: FloatArray, folds: UnsignedArray, n_random: int, parts: Parts, rng: np.random.Generator
) -> dict[Pattern, Null]:
    """Make the null distributions for one cut, `folds` of shape (1, n), whose mean distances were `found`.

    Above `MANY_ROWS` rows, the distances of columns with few ties or with large groups of equal values are those of random cuts
    of `NULL_ROWS` rows: D of m and n rows falls as one over the root of m n / (m + n), with Stephens' correction, total variation
    as that root. Where patterns are many, all have `FIRST_CUTS` cuts, and those with a two-sided p below twice alpha have all: no
    other p can be significant. Source: Stephens, M.A. (1970). Use of the Kolmogorov-Smirnov, Cramer-von Mises and related
    statistics without extensive tables. Journal of the Royal Statistical Society B 32, 115-122.
    """
    n = folds.shape[1]
    fewer_of = {pattern_of(row): _fewer(row, n) for row in rows} if n > MANY_ROWS else {}
    scaled = {pattern: fewer for pattern, fewer in fewer_of.items() if fewer is not None}
    whole = [pattern for pattern in dict.fromkeys(map(pattern_of, rows)) if pattern not in scaled]
    few = np.sort(folds, axis=1)[:, np.arange(NULL_ROWS) * n // NULL_ROWS] if scaled else folds
    n_cells = n_random * (n * len(whole) + NULL_ROWS * len(scaled))
    steps = [n_random] if n_random <= FIRST_CUTS or n_cells <= MOST_CELLS else [FIRST_CUTS, n_random]
    nulls: dict[Pattern, Null] = {}
    for n_cuts in steps:
        open_ = {
            pattern_of(row)
            for row, distance in zip(rows, found)
            if pattern_of(row) not in nulls or min(tails(nulls[pattern_of(row)].values, distance)) < parts.alpha
        }
        whole_now = [pattern for pattern in whole if pattern in open_]
        nulls |= null_distances(whole_now, random_cuts(folds, n_cuts, rng), parts)
        now = {pattern: fewer for pattern, fewer in scaled.items() if pattern in open_}
        made = null_distances(now.values(), random_cuts(few, n_cuts, rng), parts)
        for pattern, fewer in now.items():
            shrunk = _shrink(pattern[0], n, parts.n_folds)
            null = made[fewer]
            nulls[pattern] = Null([shrunk * values for values in null.means], null.n_failed, null.n_tested)
    return nulls


def tails(values: FloatArray, distance: float) -> tuple[float, float]:
    """Chances that random cuts have a mean as large, and as small; `values` are theirs in ascending order."""
    slack = 1e-12 * max(abs(distance), 1e-300)
    larger = len(values) - np.searchsorted(values, distance - slack, side="left")
    smaller = np.searchsorted(values, distance + slack, side="right")
    return float((1 + larger) / (1 + len(values))), float((1 + smaller) / (1 + len(values)))


def _fewer(row: Ranked, n: int) -> Pattern | None:
    """Pattern of `NULL_ROWS` rows like those of a column of n rows; None if it would not be like it."""
    present = int(row.ends[-1])
    ends: IntArray = np.unique(np.maximum(np.rint(row.ends * (NULL_ROWS / n)).astype(np.int64), 1))
    smallest = np.diff(row.ends, prepend=0).min() * NULL_ROWS / n
    if present * NULL_ROWS < FEWEST_PRESENT * n or (row.is_nominal and smallest < FEWEST_EQUAL):
        return None
    return row.is_nominal, ends.tobytes()


def _shrink(is_nominal: bool, n: int, n_folds: int) -> float:
    """Distance in cuts of n rows for one of 1 in cuts of `NULL_ROWS` rows."""

    def root(rows: int) -> float:
        size = float(np.sqrt(rows * (1 - 1 / n_folds) / n_folds))
        return size if is_nominal else size + 0.12 + 0.11 / size

    return root(NULL_ROWS) / root(n)
