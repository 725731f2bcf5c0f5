"""Compare leave-one-out of 1NN, LDA and naive Bayes in one pass with scikit-learn's fits one by one.

Times are processor seconds of one thread. scikit-learn is timed on some of the fits, all of full size, and scaled to all of them.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bench_classifiers import load, timed
from bench_costs import peak_mb
from foldshift.core.files import write_text
from foldshift.engine.config.learners_file import read_learners
from foldshift.evaluation import build_learner
from foldshift.evaluation.leave_one_out import leave_one_out
from foldshift.reporting.table_grid import to_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_classifiers import Data
    from foldshift.core.types import Array, Estimator

ROOT = Path(__file__).resolve().parents[1]
DATASETS = ("phoneme", "banana")  # all columns numeric
REPEATS = 3  # of the shared path, the median counts
THEIRS = {
    "1NN": KNeighborsClassifier(n_neighbors=1),
    "LDA": LinearDiscriminantAnalysis(solver="lsqr"),
    "NB": GaussianNB(),
}


def predict_some(estimator: Estimator, X: Array, y: Array, n_fits: int) -> Array:
    """Make the first predictions of scikit-learn's leave-one-out.

    `cross_val_predict` needs every sample in one test part: samples that are not measured form a last one, for a model that is
    fitted to few samples and costs next to nothing.
    """
    splits = list(islice(LeaveOneOut().split(X), n_fits))
    if n_fits < len(y):
        splits.append((np.arange(n_fits), np.arange(n_fits, len(y))))
    return cross_val_predict(estimator, X, y, cv=splits)[:n_fits]


def bench(data: Iterable[Data], learners: dict[str, dict[str, Any]], n_fits: int) -> pd.DataFrame:
    """Measure a row per data set and learner: seconds of both, their ratio, memory, and the number of different predictions."""
    rows = []
    for item in data:
        # In the order of the file, the first samples may be of one class only.
        order = np.random.default_rng(0).permutation(len(item.y))
        X, y = np.ascontiguousarray(item.X[order]), item.y[order]
        compared = min(n_fits, len(y))
        for name, theirs in THEIRS.items():
            ours = build_learner(learners[name], categorical_features=item.categorical_features)
            leave_one_out(ours, X[:50], y[:50])  # compile before the clock runs
            seconds = np.median([timed(leave_one_out, ours, X, y) for _ in range(REPEATS)])
            part = timed(predict_some, theirs, X, y, compared)
            differences = (predict_some(theirs, X, y, compared) != leave_one_out(ours, X, y)[:compared]).sum()
            scaled = part / compared * len(y)
            memory = peak_mb(leave_one_out, ours, X, y)
            rows.append((item.name, *X.shape, name, seconds, memory, compared, scaled, scaled / seconds, differences))
    columns = ["dataset", "n_rows", "n_features", "learner", "seconds", "peak_mb", "compared_fits"]
    return pd.DataFrame(rows, columns=[*columns, "seconds_sklearn", "sklearn_over_shared", "differences"])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, write results/bench/leave_one_out.csv."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", default="", help="folder or URL of the real data")
    parser.add_argument("--fits", type=int, default=500, help="fits of scikit-learn that are timed (default: %(default)s)")
    options = parser.parse_args(argv)
    if options.fits < 2:
        parser.error(f"--fits {options.fits} is not possible; at least 2 are needed")
    print(f"Data: {'real, from ' + options.mirror if options.mirror else 'made up in the sizes of the real ones'}")
    table = bench(load(DATASETS, options.mirror), read_learners(ROOT / "config/learners.yaml"), options.fits)
    print("\nLeave-one-out: processor seconds of the shared path against scikit-learn's cross_val_predict(LeaveOneOut())")
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    write_text(Path("results/bench") / "leave_one_out.csv", to_csv(table))


if __name__ == "__main__":
    main()
