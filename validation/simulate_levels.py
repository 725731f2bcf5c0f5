"""Measure the real levels of the tests over data sets where all methods are equally good: `make validate WHAT=levels`.

For every number of data sets n = 3 to 15 and of methods k = 2 to 6, with normal scores and with heavy ties (three values), this
prints the share of simulated studies in which a test finds something at .05 and at .01: Friedman, Iman-Davenport's F, Nemenyi,
Holm over Wilcoxon's pairs (any pair), Wilcoxon and the sign test (one pair). For comparison it prints chi-square, F and the
studentized range, which hold for many data sets only. A share is marked if it is above the level by more than three standard
errors.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.inference import sign_test, wilcoxon_signed_ranks
from foldshift.inference._midranks import midranks
from foldshift.inference.comparisons.ranks import SMALL
from foldshift.inference.comparisons.wilcoxon import N_DRAWS, rank_sums
from foldshift.inference.corrections import adjust_p

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray

ALPHAS = (0.05, 0.01)
EXACT = ("Friedman, F", "Nemenyi", "Holm", "Wilcoxon", "sign test")


def draw(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw scores of equally good methods."""
    return rng.standard_normal(shape) if kind == "normal" else rng.integers(0, 3, shape).astype(float)


def approximate(ranks: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute p of chi-square, F and the studentized range for the largest difference, one per study."""
    n, k = ranks.shape[1:]
    sums = ranks.sum(axis=1)
    within = (ranks**2).sum(axis=(1, 2)) - n * k * (k + 1) ** 2 / 4
    between = ((sums - n * (k + 1) / 2) ** 2).sum(axis=1)
    chi2 = np.divide((k - 1) * between, within, out=np.zeros(len(ranks)), where=within > 0)
    left = n * (k - 1) - chi2
    f = np.where(left > 1e-9, (n - 1) * chi2 / np.maximum(left, 1e-9), np.inf)
    q = np.ptp(sums, axis=1) / n / np.sqrt(k * (k + 1) / (6 * n)) * 2**0.5
    values, where = np.unique(q.round(9), return_inverse=True)
    p_range = 2 * stats.norm.sf(values / 2**0.5) if k == 2 else stats.studentized_range.sf(values, k, np.inf)
    return stats.chi2.sf(chi2, k - 1), stats.f.sf(f, k - 1, (k - 1) * (n - 1)), p_range[where]


def cell(kind: str, n: int, k: int, n_studies: int, n_draws: int, seed: list[int]) -> tuple[dict[str, FloatArray], str]:
    """Compute the p-values of all tests in every study of one size, and name the origin of those of Friedman and Nemenyi."""
    scores = draw(kind, np.random.default_rng(seed), (n_studies, n, k))
    ranks = midranks(-scores, np.abs(scores).max(axis=2))
    chi2, f, q = approximate(ranks)
    found = {"chi-square": chi2, "F": f, "studentized range": q}
    source = "approximation"
    if k == 2 or n * k <= SMALL:
        p_sums, p_range, sources = np.empty(n_studies), np.empty(n_studies), set()
        order = np.sort(2 * ranks, axis=2).astype(int).reshape(n_studies, -1)
        _, pattern = np.unique(order, axis=0, return_inverse=True)
        for number in range(pattern.max() + 1):
            rows = np.flatnonzero(pattern.ravel() == number)
            sums = np.rint(2 * ranks[rows].sum(axis=1)).astype(int)
            # one large set of draws for all studies without ties, one of its own for every study with them
            shared = len(rows) == n_studies
            null = rank_sums(ranks[rows[0]], n_draws=N_DRAWS if shared else n_draws)
            sources.add("exact" if null.exact else "Monte Carlo")
            if null.exact or shared:
                p_sums[rows], p_range[rows] = null.spread_p(sums), null.difference_p(np.ptp(sums, axis=1))
            else:
                for row, own in zip(rows, sums):
                    null = rank_sums(ranks[row], n_draws=n_draws, seed=int(row))
                    p_sums[row], p_range[row] = null.spread_p(own), null.difference_p(np.ptp(own))
        found |= {"Friedman, F": p_sums, "Nemenyi": p_range}
        source = " and ".join(sorted(sources))
    rows, columns = np.triu_indices(k, 1)
    pairs = wilcoxon_signed_ranks(*(np.moveaxis(scores[:, :, c], 1, 2) for c in (rows, columns))).p_value
    found |= {"Holm": adjust_p(pairs, "holm").min(axis=1), "Wilcoxon": pairs[:, 0]}
    found["sign test"] = sign_test(scores[:, :, 0], scores[:, :, 1]).p_value
    return found, source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=4000, help="simulated studies of each size (default 4000)")
    parser.add_argument("--draws", type=int, default=999, help="random draws behind a Monte Carlo p with ties (default 999)")
    parser.add_argument("--n", type=int, nargs="*", default=range(3, 16), help="numbers of data sets (default 3 to 15)")
    parser.add_argument("--k", type=int, nargs="*", default=range(2, 7), help="numbers of methods (default 2 to 6)")
    parser.add_argument("--kinds", nargs="*", default=["normal", "ties"], choices=["normal", "ties"])
    parser.add_argument("--csv", help="file for the table")
    arguments = parser.parse_args()
    start, parts = time.time(), []
    for kind, k in itertools.product(arguments.kinds, arguments.k):
        rows = []
        for n in arguments.n:
            seed = [20062, n, k, kind == "ties"]
            found, source = cell(kind, n, k, arguments.studies, arguments.draws, seed)
            rows += [(kind, k, n, test, source, alpha, (p <= alpha).mean()) for test, p in found.items() for alpha in ALPHAS]
        part = pd.DataFrame(rows, columns=["kind", "k", "n", "test", "source", "alpha", "share"])
        part["error"] = np.sqrt(part["alpha"] * (1 - part["alpha"]) / arguments.studies)
        part["above"] = part["share"] > part["alpha"] + 3 * part["error"]
        parts.append(part)
        # Each as soon as it is there: ties of many methods take an hour.
        print(f"\n{kind} scores, k = {k}, {arguments.studies} studies of each size, {time.time() - start:.0f} s")
        print(summary(part).to_string(float_format="{:.4f}".format), flush=True)
        if arguments.csv:
            pd.concat(parts).to_csv(arguments.csv, index=False)
    table = pd.concat(parts)
    faults = table[table["above"] & table["test"].isin(EXACT)]
    print("\nExact tests above their level by more than three errors:", "none" if faults.empty else f"\n{faults.to_string()}")
    return int(len(faults) > 0)


def summary(part: pd.DataFrame) -> pd.DataFrame:
    """Summarise the shares of the tests over the numbers of data sets, and count those above the level."""
    return part.groupby(["alpha", "test"], sort=False).agg(
        sizes=("share", "size"),
        smallest=("share", "min"),
        mean=("share", "mean"),
        largest=("share", "max"),
        standard_error=("error", "first"),
        above=("above", "sum"),
    )


if __name__ == "__main__":
    sys.exit(main())
