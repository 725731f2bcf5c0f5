"""Power of the orders that the regression study shows on embedded data, and what a heavy tail does to them.

    python validation/regression_orders.py

For every embedded data set, regressor and number of folds: the change of the error from CV to TSCV in per cent, with its Monte
Carlo standard error, and the seeds after which it lies three errors from 0. Twice: with the error as the paper has it, the mean
over folds of the root of the mean square, and with the root of the mean square over all rows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import provenance_tables as provenance
from foldshift.core.seeding import draw_seeds, fit_states
from foldshift.core.types import FloatArray, UnsignedArray
from foldshift.datasets import load_dataset
from foldshift.engine.config.learners_file import read_learners
from foldshift.evaluation import build_learner, design_matrix
from foldshift.partition import make_folds

DATASETS = ("diabetes", "friedman1", "friedman2", "friedman3", "steps", "heavy_tail")
LEARNERS, FOLDS, N_SEEDS, MASTER_SEED = ("RPART", "NN"), (2, 5, 10), 300, 20220721
WANTED = 3.0  # errors from 0


def errors_of_seeds(squares: FloatArray, folds: UnsignedArray, k: int) -> dict[str, FloatArray]:
    """Compute the error of every seed in both ways, from squared errors of shape (n_seeds, n_samples)."""
    by_fold = [np.bincount(row, found, k) / np.bincount(row, minlength=k) for row, found in zip(folds, squares)]
    return {"mean over folds of roots": np.sqrt(by_fold).mean(axis=1), "root over all rows": np.sqrt(squares.mean(axis=1))}


def main() -> None:
    """Print and write the table."""
    learners = read_learners(Path("config/learners.yaml"))
    seeds, rows = draw_seeds(MASTER_SEED, N_SEEDS).tolist(), []
    for name in DATASETS:
        data = load_dataset(name, scaling="global")
        for k in FOLDS:
            for learner in LEARNERS:
                found = {}
                for cut in ("CV", "TSCV"):
                    folds, states = make_folds(cut, None, data.y, k, seeds), fit_states(MASTER_SEED, (name, cut, k), seeds, k)
                    predicted = build_learner(learners[learner]).predict_folds(design_matrix(data), data.y, folds, states)
                    found[cut] = errors_of_seeds((predicted - data.y) ** 2, folds, k)
                for way, before in found["CV"].items():
                    after, percent = found["TSCV"][way], 100 / before.mean()
                    change = percent * (after.mean() - before.mean())
                    error = percent * np.sqrt((after.var(ddof=1) + before.var(ddof=1)) / N_SEEDS)
                    rows.append((name, learner, k, way, change, error, np.ceil(N_SEEDS * (WANTED * error / change) ** 2)))
    columns = ["dataset", "regressor", "k", "error_is", "change_percent", "standard_error", "seeds_for_three_errors"]
    table = pd.DataFrame(rows, columns=columns).round(2)
    print(table.to_string(index=False))
    provenance.write_table("regression_orders", table, n_seeds=N_SEEDS, master_seed=MASTER_SEED)


if __name__ == "__main__":
    main()
