"""Measure the false findings of tests on one data set for two equally good learners: `make validate WHAT=corrected-t`.

Two classes of 50 rows each, twice three inputs: the first learner sees three of them, the second the other three, with the same
distribution. So both have the same expected accuracy for any learner, and every finding is an error. The designs are 10 x 10-fold
cross-validation (in its right shape and read as one run of 100 folds), repeated hold-out (15 times 10 rows), and the conservative
Z (15 hold-outs, 10 pairs of halves).
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.inference import conservative_z, f_5x2cv, nadeau_bengio, paired_t
from provenance_tables import write_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldshift.core.types import BoolArray, FloatArray, IntArray

    Learner = Callable[[FloatArray, IntArray, IntArray, IntArray], BoolArray]  # X, y, training rows, test rows

N, D = 100, 3
SEED = 20062


def nearest(X: FloatArray, y: IntArray, train: IntArray, test: IntArray) -> BoolArray:
    """Predict by five nearest neighbours."""
    apart = ((X[test][:, None] - X[train]) ** 2).sum(axis=2)
    return np.take(y[train], np.argpartition(apart, 5, axis=1)[:, :5]).mean(axis=1) > 0.5


def lda(X: FloatArray, y: IntArray, train: IntArray, test: IntArray) -> BoolArray:
    """Predict by linear discriminant analysis with equal weights of the classes."""
    a, b = (X[train][y[train] == c] for c in (0, 1))
    within = ((len(a) - 1) * np.cov(a.T) + (len(b) - 1) * np.cov(b.T)) / (len(a) + len(b) - 2)
    w = np.linalg.solve(within, b.mean(axis=0) - a.mean(axis=0))
    return (X[test] - (a.mean(axis=0) + b.mean(axis=0)) / 2) @ w > 0


def centroid(X: FloatArray, y: IntArray, train: IntArray, test: IntArray) -> BoolArray:
    """Predict the class with the nearest mean."""
    a, b = (X[train][y[train] == c].mean(axis=0) for c in (0, 1))
    return ((X[test] - a) ** 2).sum(axis=1) > ((X[test] - b) ** 2).sum(axis=1)


def difference(learner: Learner, X: FloatArray, y: IntArray, train: IntArray, test: IntArray) -> float:
    """Compute the accuracy with the first half of the inputs minus that with the second."""
    return (learner(X[:, :D], y, train, test) == y[test]).mean() - (learner(X[:, D:], y, train, test) == y[test]).mean()


def folds(learner: Learner, X: FloatArray, y: IntArray, k: int, rng: np.random.Generator) -> list[float]:
    places = rng.permutation(len(y)) % k
    return [difference(learner, X, y, np.flatnonzero(places != fold), np.flatnonzero(places == fold)) for fold in range(k)]


def hold_outs(learner: Learner, X: FloatArray, y: IntArray, rows: IntArray, times: int, rng: np.random.Generator) -> FloatArray:
    found = []
    for _ in range(times):
        order = rng.permutation(rows)
        found.append(difference(learner, X, y, order[10:], order[:10]))
    return np.array(found)


def study(learner: Learner, rng: np.random.Generator) -> dict[str, Any]:
    """Compute the p-values of all tests on one data set."""
    y = np.arange(N) % 2
    X = rng.standard_normal((N, 2 * D)) + 0.5 * y[:, None]
    tenfold = np.array([folds(learner, X, y, 10, rng) for _ in range(10)])
    twofold = np.array([folds(learner, X, y, 2, rng) for _ in range(5)])
    subsampled = hold_outs(learner, X, y, np.arange(N), 15, rng)
    halves = []
    for _ in range(10):
        order = rng.permutation(N)
        halves.append([hold_outs(learner, X, y, half, 15, rng).mean() for half in (order[: N // 2], order[N // 2 :])])
    return {
        "paired t, 10 x 10 folds": paired_t(tenfold).p_value,
        "Nadeau-Bengio, 10 x 10 folds read as 100": nadeau_bengio(tenfold, 99, 1).p_value,
        "Nadeau-Bengio, 10 x 10 folds": nadeau_bengio(tenfold, 9, 1).p_value,
        "Nadeau-Bengio, 10 folds": nadeau_bengio(tenfold[0], 9, 1).p_value,
        "Nadeau-Bengio, 15 hold-outs of 10 rows": nadeau_bengio(subsampled, 90, 10).p_value,
        "conservative Z, 15 hold-outs of 10 rows": conservative_z(subsampled, halves).p_value,
        "5x2cv F": f_5x2cv(twofold).p_value,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=2000, help="simulated data sets (default 2000)")
    parser.add_argument("--learners", nargs="*", default=["nearest", "lda", "centroid"], choices=["nearest", "lda", "centroid"])
    arguments = parser.parse_args()
    learners, rows = {"nearest": nearest, "lda": lda, "centroid": centroid}, []
    for name in arguments.learners:
        rng = np.random.default_rng(SEED)
        found = [study(learners[name], rng) for _ in range(arguments.studies)]
        for test in found[0]:
            p = np.array([one[test] for one in found])
            rows.append({"learner": name, "test": test} | {f"share_{level}": (p <= level).mean() for level in (0.05, 0.01)})
            print("  {:10} {:<42} {:.4f} {:.4f}".format(*rows[-1].values()), flush=True)
    path = write_table("corrected_t", pd.DataFrame(rows), n_studies=arguments.studies, seed=SEED)
    print(f"wrote {path.name}; shares have a standard error of about {(0.1 * 0.9 / arguments.studies) ** 0.5:.4f}")


if __name__ == "__main__":
    sys.exit(main())
