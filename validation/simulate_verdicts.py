"""Promise of `recommend_repetitions` by cell, easy problems among them; tables on which a rank test and its interval agree.

    python validation/simulate_verdicts.py --studies 400

Promise: what the choice of partitions leaves in the mean of so many repetitions is at most a tenth of what none removes. Both are
measured: on `N_MORE` further partitions of the same data, and as the variance over studies of the mean over all partitions.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np
import pandas as pd
from scipy.stats import norm

from foldshift.inference import recommend_repetitions, wilcoxon_signed_ranks
from foldshift.inference.comparisons.wilcoxon import hodges_lehmann
from foldshift.inference.proportions import wilson_interval
from provenance_tables import write_table

ERRORS = (0.005, 0.01, 0.02, 0.05, 0.2)  # of the best rule
SIZES, FOLDS, LEARNERS = (60, 200), (5, 10), ("centroid", "3NN")
N_PILOT, N_MORE, EPS = 10, 100, 0.1
N_TABLES, SEED = 3000, 2026


def partitions(y, k, n, rng):
    """Folds of n random stratified partitions, shape (n, rows)."""
    order = np.argsort(rng.random((n, len(y))) + y, axis=1)
    folds = np.empty((n, len(y)), dtype=np.int64)
    np.put_along_axis(folds, order, (np.arange(len(y)) + rng.integers(k, size=(n, 1))) % k, axis=1)
    return folds


def wrong_by_centroid(X, y, folds, k):
    """Whether every row is wrong under the nearest centroid of the other folds, for every partition."""
    inside = folds[:, :, None] == np.arange(k)
    near = []
    for c in (0, 1):
        own = y == c
        totals = X[own].sum(axis=0) - np.einsum("pnk,nj->pkj", inside[:, own], X[own])
        counts = own.sum() - inside[:, own].sum(axis=1)
        centres = np.take_along_axis(totals / counts[:, :, None], folds[:, :, None], axis=1)
        near.append(((X - centres) ** 2).sum(axis=2))
    return (near[1] < near[0]) != y


def wrong_by_neighbours(X, y, folds, k):
    """The same under the three nearest rows of other folds."""
    apart = ((X[:, None] - X) ** 2).sum(axis=2)
    order = apart.argsort(axis=1, kind="stable")[:, : min(len(X), 3 + 2 * (len(X) // k + 1))]
    allowed = folds[:, order] != folds[:, :, None]
    chosen = allowed & (allowed.cumsum(axis=2) <= 3)
    return ((chosen * y[order]).sum(axis=2) >= 2) != y


def study(error, n, k, learner, rng):
    """Errors of all folds of all partitions of one data set, shape (n_partitions, k)."""
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 2))
    X[:, 0] += 2 * norm.isf(error) * y
    folds = partitions(y, k, N_PILOT + N_MORE, rng)
    wrong = (wrong_by_centroid if learner == "centroid" else wrong_by_neighbours)(X, y, folds, k)
    return np.stack([np.where(folds == fold, wrong, 0).sum(axis=1) / (folds == fold).sum(axis=1) for fold in range(k)], axis=1)


def promise(n_studies):
    """Share of studies that keep the promise, by cell."""
    rows = []
    for place, (error, n, k, learner) in enumerate(itertools.product(ERRORS, SIZES, FOLDS, LEARNERS)):
        rng = np.random.default_rng([SEED, place])
        scores = np.array([study(error, n, k, learner, rng) for _ in range(n_studies)])
        means = scores.mean(axis=2)
        between = means[:, N_PILOT:].var(axis=1, ddof=1)
        fixed = means.mean(axis=1).var(ddof=1) - between.mean() / means.shape[1]
        found = [recommend_repetitions(one[:N_PILOT]).repetitions for one in scores]
        told = np.array([one is not None for one in found])
        numbers = np.array([one or np.nan for one in found])[told]
        kept = between[told] / numbers <= EPS**2 * fixed
        equal = np.ptp(means[:, :N_PILOT], axis=1) < 1e-12
        low, high = wilson_interval(kept.mean(), len(kept)) if len(kept) else (np.nan, np.nan)
        enough = np.where(between[told] > 0, np.ceil(between[told] / (EPS**2 * fixed)), 1)
        row = {"error": error, "rows": n, "folds": k, "learner": learner, "measured_error": scores.mean(), "studies": n_studies}
        row |= {"told": told.mean(), "equal": equal.mean(), "ones": float((numbers == 1).mean()), "kept": kept.mean()}
        row |= {
            "kept_low": float(low),
            "kept_high": float(high),
            "median": np.median(numbers),
            "median_enough": np.median(enough),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def rounded_tables(n_tables):
    """Count rounded tables on which the interval of Hodges and Lehmann contradicts the test of signed ranks."""
    rng, against, rejected = np.random.default_rng(SEED), 0, 0
    for _ in range(n_tables):
        n, digits = int(rng.integers(4, 40)), int(rng.integers(1, 4))
        a = np.round(0.8 + 0.05 * rng.standard_normal(n), digits)
        b = np.round(a + rng.choice([0, 0.01, 0.02, 0.03]) + rng.choice([0.01, 0.03]) * rng.standard_normal(n), digits)
        _, low, high = hodges_lehmann(a - b)
        rejects = wilcoxon_signed_ranks(a, b).p_value <= 0.05
        rejected += rejects
        against += (low <= 0 <= high) == rejects
    return pd.DataFrame([{"tables": n_tables, "rejected": rejected, "contradictions": against}])


def main():
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400, help="studies of a cell")
    n_studies = parser.parse_args().studies
    table = promise(n_studies)
    write_table("repetitions_by_cell", table.round(5), studies=n_studies, seed=SEED, eps=EPS, pilot=N_PILOT, further=N_MORE)
    print(table.to_string())
    tables = rounded_tables(N_TABLES)
    write_table("rounded_tables", tables, seed=SEED)
    print(tables.to_string(index=False))


if __name__ == "__main__":
    main()
