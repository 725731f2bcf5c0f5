"""The classifiers against Table III of Moreno-Torres, Saez and Herrera (2012): mean AUC of five-fold SCV on the real data sets.

The paper's column is the mean over 200 experiments of 5x2; ours over fewer partitions, with its standard error. AUC is the paper's: of the
predicted classes, per fold.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from foldshift.datasets.catalogue import load_dataset
from foldshift.evaluation import build_learner, design_matrix, evaluate_folds
from foldshift.evaluation.classification import classification_scores
from foldshift.files import write_text
from foldshift.partition import make_folds
from foldshift.planning.config import PAPER, read_learners
from foldshift.reporting.tables import to_csv
from foldshift.seeding import fit_states, seed_sequence

ROOT = Path(__file__).resolve().parents[1]
CLASSIFIERS = ("1NN", "3NN", "C4.5", "FURIA", "LDA", "PART", "PDFC", "RIPPER", "SVM")
REPAIRED = {"Mammographic": "mammographic-repaired"}
N_FOLDS = 5
MASTER_SEED = 2012


def mean_auc(data, spec, n_partitions):
    """Mean crisp AUC over folds and partitions, and its standard error over partitions."""
    names = [seed_sequence(MASTER_SEED, "folds", data.name, "SCV", N_FOLDS, seed) for seed in range(n_partitions)]
    folds = make_folds("SCV", data.X, data.y, N_FOLDS, names)
    states = fit_states(MASTER_SEED, (data.name, "SCV", N_FOLDS), range(n_partitions), N_FOLDS)
    estimator = build_learner(spec, data.scaling, data.categorical_features)
    predictions = evaluate_folds(estimator, design_matrix(data, spec["nominal"]), data.y, folds, random_states=states)
    auc = classification_scores(data.y, predictions, None, folds, N_FOLDS)["auc_crisp"].mean(axis=1)
    return auc.mean(), auc.std(ddof=1) / np.sqrt(n_partitions)


def main():
    """Compare, print, write results/table3/*.csv."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", required=True, help="folder or URL of the real data")
    parser.add_argument("--partitions", type=int, default=20, help="five-fold partitions per data set")
    parser.add_argument("--largest", type=int, default=1000, help="leave out data sets with more rows, for SVM and PDFC")
    parser.add_argument("--configuration", choices=("paper", "corrected"), default="paper", help="with or without the switches")
    parser.add_argument("--learners", default="", help="comma-separated; by default all nine")
    options = parser.parse_args()
    learners = read_learners(ROOT / "config/learners.yaml")
    printed = pd.read_csv(ROOT / "workflow/reference/moreno_torres_2012_table3_auc.csv").pivot(
        index="dataset", columns="classifier", values="auc"
    )
    rows = []
    for learner in options.learners.split(",") if options.learners else CLASSIFIERS:
        spec = learners.get(learner + PAPER, learners[learner]) if options.configuration == "paper" else learners[learner]
        for title in printed.index:
            data = load_dataset(REPAIRED.get(title, title.lower()), mirror=options.mirror, scaling="global")
            if learner in ("SVM", "PDFC") and len(data.y) > options.largest:
                continue
            start = time.perf_counter()
            ours, error = mean_auc(data, spec, options.partitions)
            seconds = time.perf_counter() - start
            # The print is a mean over 400 partitions with the spread of ours.
            both = error * np.sqrt(1 + options.partitions / 400)
            rows.append((learner, title, printed.loc[title, learner], ours, ours - printed.loc[title, learner], both, seconds))
    columns = ["learner", "dataset", "printed", "ours", "gap", "standard_error", "seconds"]
    table = pd.DataFrame(rows, columns=columns)
    table["within_2"] = (table["gap"].abs() <= 2 * table["standard_error"] + 5e-5).astype(int)
    summary = table.groupby("learner", sort=False).agg(
        sets=("gap", "size"), mean_absolute_gap=("gap", lambda gap: gap.abs().mean()), within_2_errors=("within_2", "sum")
    )
    print(summary.to_string(float_format=lambda value: f"{value:.4f}"))
    far = table[table["gap"].abs() > 3 * table["standard_error"] + 5e-5]
    print("\nFurther off than three standard errors:")
    print(far.to_string(index=False, float_format=lambda value: f"{value:.4f}") if len(far) else "none")
    write_text(ROOT / "results/table3/cells.csv", to_csv(table))
    write_text(ROOT / "results/table3/summary.csv", to_csv(summary.reset_index()))


if __name__ == "__main__":
    main()
