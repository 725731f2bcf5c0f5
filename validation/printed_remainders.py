"""Effect of the printed remainder rule of SCV and MS-SCV: areas of two classifiers with remainders spread and left out.

    python validation/printed_remainders.py --mirror FOLDER

Algorithms 1 and 4 of Moreno-Torres, Saez and Herrera (2012) leave ``count mod k`` samples of a class without a fold. The samples
that MS-SCV leaves out are those where its walk ends, far from the others.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from foldshift.datasets import load_dataset
from foldshift.partition import make_folds
from foldshift.partition.methods.left_out_remainders import left_out_folds
from provenance_tables import write_table

SETS = ("appendicitis", "haberman", "hepatitis-declared")
RUNS = {2: 60, 10: 30}  # by number of folds
CLASSIFIERS = {"1NN": KNeighborsClassifier(1), "LDA": LinearDiscriminantAnalysis()}


def areas(classifier, data, folds, n_folds):
    """Area under the curve of predicted classes, mean over the folds: shape (n_runs,)."""
    found = []
    for cut in folds:
        recalls = []
        for fold in range(n_folds):
            tested = cut == fold
            right = classifier.fit(data.X[~tested], data.y[~tested]).predict(data.X[tested]) == data.y[tested]
            recalls += [right[data.y[tested] == c].mean() for c in (0, 1)]
        found.append(np.mean(recalls))
    return np.array(found)


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, help="folder with the data files")
    mirror = parser.parse_args().mirror
    rows = []
    for name in SETS:
        data = load_dataset(name, mirror=mirror, scaling="global")
        for cut in ("SCV", "MS-SCV"):
            for k, n in RUNS.items():
                spread = make_folds(cut, data.X, data.y, k, range(n))
                left_out = left_out_folds(cut, data.X, data.y, k, [np.random.default_rng(seed) for seed in range(n)])
                for learner, classifier in CLASSIFIERS.items():
                    one, other = (areas(classifier, data, folds, k) for folds in (spread, left_out))
                    error = np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / n)
                    share = (left_out == -1).mean()
                    rows.append((name, cut, k, learner, n, share, one.mean(), other.mean(), other.mean() - one.mean(), error))
    columns = ["dataset", "partitioner", "k", "learner", "n_runs", "share_left_out", "auc_spread", "auc_left_out"]
    table = pd.DataFrame(rows, columns=[*columns, "difference", "standard_error"])
    write_table("printed_remainders", table.round(5), seeds="0 to n_runs - 1")


if __name__ == "__main__":
    main()
