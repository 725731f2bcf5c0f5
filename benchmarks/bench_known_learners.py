"""Measure the shared paths of scikit-learn's learners against separate fits: ten seeds of ten folds, and equal predictions.

python benchmarks/bench_known_learners.py
"""

import time
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from foldshift.evaluation import evaluate_folds
from foldshift.partition import make_folds

LEARNERS = (
    Ridge(),
    LinearRegression(),
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    KNeighborsClassifier(),
    KNeighborsRegressor(),
)
SIZES = ((100, 5), (300, 10), (1000, 20), (2500, 20))
REPEATS = 3


def seconds(estimator: Any, X: np.ndarray, y: np.ndarray, folds: np.ndarray, **options: Any) -> tuple[float, np.ndarray]:
    """Least processor time of several calls, and the predictions."""
    least, found = np.inf, y
    for _ in range(REPEATS):
        start = time.process_time()
        found = evaluate_folds(estimator, X, y, folds, **options)
        least = min(least, time.process_time() - start)
    return least, found


def main() -> None:
    """Print a line for every learner and size."""
    rng = np.random.default_rng(0)
    print("learner                     rows columns  plain s  shared s  ratio  largest difference")
    for n_rows, n_columns in SIZES:
        X = rng.normal(size=(n_rows, n_columns))
        number = X[:, 0] + rng.normal(size=n_rows)
        for estimator in LEARNERS:
            y = (number > 0) * 1 if hasattr(estimator, "predict_proba") else number
            folds = make_folds("CV", X, y, 10, range(10))
            plain, expected = seconds(estimator, X, y, folds, shared=False)
            shared, found = seconds(estimator, X, y, folds)
            name, gap = type(estimator).__name__, np.abs(found - expected).max()
            print(f"{name:26s} {n_rows:5d} {n_columns:7d} {plain:8.3f} {shared:9.3f} {plain / shared:6.1f}  {gap:.1g}")


if __name__ == "__main__":
    main()
