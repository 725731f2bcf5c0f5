"""Power of the test of a split: the size of a shift of one fold in one column that it would find, by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import pearson3, skew

from foldshift.core.repr import figures
from foldshift.shift.measures.random_splits import fold_tests, mean_distances, random_cuts

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, UnsignedArray

TILTS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.3, 1.7, 2.2, 3.0)
N_RANDOM, N_PLANTED = 4999, 200  # cuts
LEAST_RANDOM = 1999  # of `foldshift.shift.report.fold_drift.fold_drift`
MOST_CELLS = 80_000_000  # rows x random and planted cuts: some seconds
FEWEST = 5  # rows of a fold, on average
SHARES = (0.5, 0.9)
SEED = 0  # of a simulation that depends on the sizes of the folds alone


class Power(NamedTuple):
    """A shift and the share of cases in which it is found."""

    share: float  # share of cases, in (0, 1)
    tilt: float  # rows were drawn into the fold with odds ``exp(tilt z)``, z their normal score in the column
    size: float  # shift of the fold: mean normal score in it less that of all others, in standard deviations of the column


def power_of(folds: UnsignedArray, n_columns: int, alpha: float) -> tuple[Power, ...] | None:
    """Simulate shifts of one fold in one column that `foldshift.advice.split_shift.split_shift` finds in a share of cases.

    Only the sizes of `folds`, of shape (n,), count. `alpha` is divided among `n_columns`, the target included. Empty for folds so
    small that no shift is found; None for tables so large that the simulation would take long: their test finds any shift that
    matters.

    The column has no ties and all others are as by chance, so that Holm's correction is at its first step and the result is a
    lower bound. Rows are drawn without replacement by the largest of ``tilt z`` plus a Gumbel variable. The distance from which
    on the test says "shifted" is the quantile of Pearson's type III with mean, deviation and skewness of random cuts, and the
    share found that of another with those of planted cuts: counts in the tail would take far more of both. Source: Efraimidis,
    P.S., Spirakis, P.G. (2006). Weighted random sampling with a reservoir. Information Processing Letters 97, 181-185.
    """
    n, k = len(folds), int(folds.max()) + 1
    if n < FEWEST * k:
        return ()
    if n * (N_RANDOM + N_PLANTED * len(TILTS)) > MOST_CELLS:
        return None
    rng, ends = np.random.default_rng(SEED), np.arange(1, n + 1)

    def distances(cuts: UnsignedArray) -> FloatArray:
        return mean_distances(fold_tests(False, ends, cuts, k)[0])

    chance = np.concatenate([distances(cuts) for cuts in random_cuts(folds[None], N_RANDOM, rng)])
    # The test counts: of its R random cuts as many may be as far as leave (1 + number) / (1 + R) below alpha / 2 / n_columns.
    n_random = max(LEAST_RANDOM, int(np.ceil(4 * n_columns / alpha)) - 1)
    level = (np.ceil(alpha / 2 / n_columns * (1 + n_random)) - 1) / (1 + n_random)
    critical = pearson3.isf(level, skew(chance), chance.mean(), chance.std())
    z, size, others = ndtri((np.arange(n) + 0.5) / n), int((folds == 0).sum()), folds[folds != 0]
    shares, sizes = [0.0], [0.0]
    for tilt in TILTS:
        cuts, moved = np.zeros((N_PLANTED, n), dtype=folds.dtype), 0.0
        for cut in cuts:
            drawn = np.argpartition(-(tilt * z + rng.gumbel(size=n)), size)[:size]
            rest = np.ones(n, dtype=bool)
            rest[drawn] = False
            cut[rest] = rng.permutation(others)
            moved += (z[drawn].mean() - z[rest].mean()) / N_PLANTED
        found = distances(cuts)
        shares.append(float(pearson3.sf(critical, skew(found), found.mean(), found.std())))
        sizes.append(moved)
        if shares[-1] > max(SHARES):
            break
    rising, tilts = np.maximum.accumulate(shares), [0.0, *TILTS][: len(sizes)]
    return tuple(
        Power(share, float(np.interp(share, rising, tilts)), float(np.interp(share, rising, sizes)))
        for share in SHARES
        if share <= rising[-1]
    )


def in_words(found: tuple[Power, ...] | None) -> str:
    """Say it in one sentence; empty without a simulation."""
    if found is None:
        return ""
    if not found:
        return "With folds as small as these, no shift of one fold in one column would be found in every second case."
    often = {0.5: "every second time", 0.9: "nine times in ten"}
    parts = [f"one of {figures(one.size, 2)} {often[one.share]}" for one in found]
    return f"Of shifts of one fold in one column, this test finds {', '.join(parts)} (standard deviations; simulated)."
