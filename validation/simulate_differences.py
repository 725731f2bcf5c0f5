"""Level and power of tests of the difference of two learners, on the binary populations of `held_out_scores`.

    python validation/simulate_differences.py --samples 60

Level: two learners that are equally good by construction: each is trained on seven tenths of the training rows, drawn at random.
Power: discriminant analysis and five nearest neighbours on all training rows; a finding is right if it has the sign of their true
difference, on new rows, over all samples of the population.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from scipy.special import expit  # noqa: E402

from foldshift.inference import mcnemar, nadeau_bengio, score_difference_interval  # noqa: E402
from foldshift.inference.comparisons.sign_flips import sign_flip_p  # noqa: E402
from foldshift.inference.intervals.score_difference import PAIRED  # noqa: E402
from held_out_scores import HELD_OUT  # noqa: E402
from provenance_tables import write_table  # noqa: E402

SIZES = (20, 40, 100, 200, 400)
N_NEW, N_NEIGHBOURS, SHARE = 2000, 5, 0.7
SMALLEST_CLASS = 10  # rows, from which on there are ten folds and not five
ALPHA, SEED = 0.05, 2026


def linear(X, y, rows):
    """Probability of class 1 by linear discriminant analysis; the pooled covariance is drawn a little to its diagonal."""
    means = [X[y == c].mean(axis=0) for c in (0, 1)]
    centred = X - np.array(means)[y]
    spread = centred.T @ centred / max(len(y) - 2, 1)
    spread += (0.01 * np.trace(spread) / len(spread) + 1e-9) * np.eye(len(spread))
    w = np.linalg.solve(spread, means[1] - means[0])
    odds = np.log(y.mean() / (1 - y.mean()))
    return expit((rows - (means[0] + means[1]) / 2) @ w + odds)


def neighbours(X, y, rows):
    """Share of class 1 among the nearest rows."""
    scale = X.std(axis=0) + 1e-12
    X, rows = X / scale, rows / scale
    apart = (X**2).sum(axis=1) - 2 * rows @ X.T
    k = min(N_NEIGHBOURS, len(X))
    return y[np.argpartition(apart, k - 1, axis=1)[:, :k]].mean(axis=1)


PAIRS = {
    "two linear learners": (linear, linear, True),
    "two nearest neighbours": (neighbours, neighbours, True),
    "linear - nearest neighbours": (linear, neighbours, False),
}


def part_of(train, y, rng):
    """Seven tenths of the training rows, with both classes."""
    while True:
        rows = rng.choice(train, max(int(SHARE * len(train)), 2), replace=False)
        if 0 < y[rows].mean() < 1:
            return rows


def one_sample(population, n, rng):
    """Out-of-fold probabilities of every pair, the folds, and the true difference of accuracies and Brier scores."""
    X, y = population.draw(n + N_NEW, rng)
    X, new, y, y_new = X[:n], X[n:], y[:n], y[n:]
    smallest = min(y.sum(), n - y.sum())
    if smallest < 3:
        return None
    k = 10 if smallest >= SMALLEST_CLASS else min(5, int(smallest))
    folds = np.empty(n, dtype=int)
    order = rng.permutation(n)
    folds[order[np.argsort(y[order], kind="stable")]] = np.arange(n) % k
    found = {}
    for name, (one, other, equal) in PAIRS.items():
        p = np.empty((2, n))
        for fold in range(k):
            train, test = np.flatnonzero(folds != fold), folds == fold
            for side, learner in enumerate((one, other)):
                rows = part_of(train, y, rng) if equal else train
                p[side, test] = learner(X[rows], y[rows], X[test])
        found[name] = p
    truth = np.array([(one(X, y, new) - y_new) ** 2 for one in (linear, neighbours)])
    errors = np.array([(one(X, y, new) > 0.5) != y_new for one in (linear, neighbours)])
    return y, folds, found, (errors[1].mean() - errors[0].mean(), truth[0].mean() - truth[1].mean())


def of_folds(d, folds):
    """Mean difference of every fold."""
    return np.array([d[folds == fold].mean() for fold in range(folds.max() + 1)])


def findings(samples):
    """Signs of what every test finds at .05 in every sample: rows of (pair, score, test, sign by sample)."""
    for name in PAIRS:
        signs = {}
        brier = []
        for y, folds, found, _ in samples:
            p = found[name]
            said = (p > 0.5).astype(int)
            right = (said == y).astype(float)
            gaps = {"accuracy": right[0] - right[1], "brier_score": (p[0] - y) ** 2 - (p[1] - y) ** 2}
            brier.append(gaps["brier_score"])
            for score, d in gaps.items():
                interval = score_difference_interval(y, *(said if score == "accuracy" else p), score)
                signs.setdefault((score, "score_difference_interval"), []).append((interval.low > 0) - (interval.high < 0))
                t = nadeau_bengio(of_folds(d, folds), folds.max(), 1)
                signs.setdefault((score, "corrected resampled t"), []).append(np.sign(t.estimate) * (t.p_value <= ALPHA))
            d = gaps["accuracy"]
            for test, method in (("mid-p McNemar", "mid_p"), ("sign flips", "exact")):  # flips of 0 and 1 are the exact binomial
                p_value = mcnemar(right[0], right[1], method).p_value
                signs.setdefault(("accuracy", test), []).append(np.sign(d.sum()) * (p_value <= ALPHA))
        d = np.array(brier).T
        signs["brier_score", "sign flips"] = (np.sign(d.sum(axis=0)) * (sign_flip_p(d, PAIRED) <= ALPHA)).tolist()
        for (score, test), found in signs.items():
            yield name, score, test, np.array(found, dtype=float)


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=60, help="samples of a population and size")
    n_samples, begun = parser.parse_args().samples, time.process_time()
    populations = [one for one in HELD_OUT if one.task == "binary"]
    rows = []
    for n, (place, population) in itertools.product(SIZES, enumerate(populations)):
        rng = np.random.default_rng([SEED, n, place])
        samples, drawn = [], 0
        while len(samples) < n_samples and drawn < 3 * n_samples:
            one, drawn = one_sample(population, n, rng), drawn + 1
            samples += [] if one is None else [one]
        if len(samples) < n_samples:  # too few positives for a sample of this size
            continue
        truths = dict(zip(("accuracy", "brier_score"), np.mean([one[3] for one in samples], axis=0)))
        for name, score, test, signs in findings(samples):
            level = PAIRS[name][2]
            truth = 0.0 if level else truths[score]
            found = np.mean(signs != 0) if level else np.mean(signs == np.sign(truth))
            wrong = 0.0 if level else np.mean(signs == -np.sign(truth))
            rows.append((n, name, score, test, "level" if level else "power", abs(truth), found, wrong))
    columns = ["n", "pair", "score", "test", "what", "true_difference", "found", "wrong_sign"]
    cells = pd.DataFrame(rows, columns=columns)
    by = cells.groupby(["what", "score", "n", "pair", "test"], sort=False)
    table = by[["true_difference", "found", "wrong_sign"]].mean().assign(populations=by.size(), highest=by["found"].max())
    minutes = round((time.process_time() - begun) / 60, 1)
    write_table(
        "score_difference_power", table.reset_index().round(4), samples=n_samples, seed=SEED, alpha=ALPHA, core_minutes=minutes
    )
    print(table.to_string(), f"{minutes} core-minutes")


if __name__ == "__main__":
    main()
