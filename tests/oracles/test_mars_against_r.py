"""MARS against R's earth, on fixed splits: same terms, same predictions."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from foldshift.learners.linear.mars import MARSRegressor

SHARED = Path(os.environ.get("FOLDSHIFT_SHARED", Path(__file__).resolve().parents[3] / "shared"))
REAL_SETS = SHARED / "data" / "scvreg"
N_FOLDS = 5
BIG = 2500  # samples; of larger sets R fits fold 0 only

EARTH = r"""
suppressMessages(library(earth))
cases <- read.csv("cases.csv", header = FALSE)
for (row in seq_len(nrow(cases))) {
  n_columns <- cases[row, 2]
  data <- matrix(scan(sprintf("%d.csv", cases[row, 1]), sep = ",", quiet = TRUE), ncol = n_columns, byrow = TRUE)
  x <- data[, 2:(n_columns - 1), drop = FALSE]
  colnames(x) <- paste0("x", seq_len(ncol(x)) - 1)
  for (fold in 0:(cases[row, 3] - 1)) {
    test <- data[, 1] == fold
    model <- suppressWarnings(earth(x[!test, , drop = FALSE], data[!test, n_columns], degree = 1 OPTIONS))
    predictions <- predict(model, x[test, , drop = FALSE])
    write(format(predictions, digits = 17), sprintf("%d_%d.txt", cases[row, 1], fold), ncolumns = 1)
  }
}
"""

needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")
needs_data = pytest.mark.skipif(not REAL_SETS.is_dir(), reason=f"no data in {REAL_SETS}; set FOLDSHIFT_SHARED")


def earth_predictions(cases, folder, options=""):
    """Predictions of earth(x, y, degree = 1, and options) for the first folds of every case, by one call of R.

    A case is (X, y, fold, number of folds to predict). Returns a list of predictions per case, one array per fold.
    """
    rows = []
    for number, (X, y, fold, n_predicted) in enumerate(cases):
        data = np.column_stack([fold, X, y])
        np.savetxt(folder / f"{number}.csv", data, fmt="%.17g", delimiter=",")
        rows.append(f"{number},{data.shape[1]},{n_predicted}")
    (folder / "cases.csv").write_text("\n".join(rows) + "\n")
    (folder / "earth.R").write_text(EARTH.replace(" OPTIONS", options))
    done = subprocess.run(["Rscript", "earth.R"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [
        [np.loadtxt(folder / f"{number}_{fold}.txt", ndmin=1) for fold in range(case[3])] for number, case in enumerate(cases)
    ]


def compare(cases, folder, options=""):
    """Greatest difference of the predictions and ratio of the errors (ours / earth's), one row per fit."""
    rows = []
    for (X, y, fold, _), expected in zip(cases, earth_predictions(cases, folder, options)):
        ours = MARSRegressor().predict_folds(X, y, fold[None])[0]
        for test, prediction in enumerate(expected):
            own, target = ours[fold == test], y[fold == test]
            errors = [np.sqrt(np.mean((p - target) ** 2)) for p in (own, prediction)]
            rows.append((np.abs(own - prediction).max(), errors[0] / errors[1] if errors[1] > 0 else 1.0))
    return np.array(rows)


def report(title, rows):
    same = rows[:, 0] < 1e-6
    print(
        f"\n{title}: {same.sum()} of {len(rows)} fits identical ({same.mean():.1%}), largest difference of those "
        f"{rows[same, 0].max():.1e}; error ratio mean {rows[:, 1].mean():.5f}, {rows[:, 1].min():.4f} to "
        f"{rows[:, 1].max():.4f}"
    )


def scale(data):
    """Min-max scaling of every column over the whole set; a constant column becomes 0."""
    spread = np.ptp(data, axis=0)
    return (data - data.min(axis=0)) / np.where(spread > 0, spread, 1)


def real_cases(seed=0):
    cases = {}
    for path in sorted(REAL_SETS.glob("*.dat")):
        data = scale(np.loadtxt(path, delimiter=",", ndmin=2))
        fold = np.random.default_rng(seed).permutation(np.arange(len(data)) % N_FOLDS).astype(np.uint8)
        cases[path.stem] = (data[:, :-1], data[:, -1], fold, N_FOLDS if len(data) <= BIG else 1)
    return cases


def synthetic_cases(n_cases, seed=0):
    """Smooth, piecewise linear, step and pure-noise targets; ties, 0/1, skewed, collinear and useless columns."""
    rng = np.random.default_rng(seed)
    cases = []
    for number in range(n_cases):
        n_samples = int(rng.choice([12, 25, 40, 80, 150, 300, 600]))
        n_features = int(rng.integers(1, 13))
        X = rng.random((n_samples, n_features))
        for j in range(n_features):
            kind = rng.choice(["even", "even", "ties", "binary", "skewed", "collinear", "repeated"])
            if kind == "ties":
                X[:, j] = np.round(X[:, j] * rng.integers(3, 20))
            elif kind == "binary":
                X[:, j] = X[:, j] < rng.choice([0.1, 0.5, 0.8])
            elif kind == "skewed":
                X[:, j] = X[:, j] ** 5
            elif kind == "collinear" and j > 0:
                X[:, j] = X[:, j - 1] + rng.choice([0.001, 0.05, 0.3]) * X[:, j]
            elif kind == "repeated":
                X[:, j] = rng.choice(X[:, j], n_samples)
        X = scale(X)
        u, v = X[:, 0], X[:, rng.integers(n_features)]
        signal = [np.sin(6 * u) + v, np.abs(u - 0.4) - np.abs(v - 0.7), (u > 0.5) + 2.0 * (v > 0.3), 0 * u][number % 4]
        y = scale(signal + rng.choice([0.01, 0.1, 0.5]) * rng.standard_normal(n_samples))
        fold = rng.permutation(np.arange(n_samples) % 4).astype(np.uint8)
        cases.append((X, y, fold, 1))
    return cases


def wide_cases(n_cases, seed=0):
    """Two predictors matter, and there are more of them than samples."""
    rng = np.random.default_rng(seed)
    cases = []
    for number in range(n_cases):
        n_samples = int(rng.choice([80, 100, 150, 200]))
        X = rng.random((n_samples, int(n_samples * rng.choice([1.1, 1.25, 1.5, 2]))))
        u, v = X[:, 0], X[:, 1]
        signal = [np.sin(6 * u) + v, np.abs(u - 0.4) - np.abs(v - 0.7), (u > 0.5) + 2.0 * (v > 0.3), 0 * u][number % 4]
        y = scale(signal + rng.choice([0.01, 0.1, 0.5]) * rng.standard_normal(n_samples))
        cases.append((X, y, rng.permutation(np.arange(n_samples) % 4).astype(np.uint8), 1))
    return cases


@pytest.mark.slow
@pytest.mark.oracle
@needs_r
@needs_data
def test_predictions_on_the_real_sets_are_those_of_earth(tmp_path):
    cases = real_cases()
    assert len(cases) == 28
    rows = compare(list(cases.values()), tmp_path)
    report("real sets", rows)
    of_set = np.repeat(list(cases), [case[3] for case in cases.values()])
    agrees = {}
    for name in cases:
        own = rows[of_set == name]
        agrees[name] = (own[:, 0] < 1e-6).all() or abs(own[:, 1].mean() - 1) < 0.01
        if not (own[:, 0] < 1e-6).all():
            print(f"  {name}: {(own[:, 0] < 1e-6).sum()} of {len(own)} identical, ratio {own[:, 1].mean():.5f}")
    assert np.mean(list(agrees.values())) >= 0.95, [name for name, agree in agrees.items() if not agree]
    assert np.mean(rows[:, 0] < 1e-6) >= 0.95
    assert abs(rows[:, 1].mean() - 1) < 0.01


@pytest.mark.oracle
@needs_r
def test_predictions_on_synthetic_sets_are_those_of_earth(tmp_path):
    rows = compare(synthetic_cases(200), tmp_path)
    report("synthetic sets", rows)
    assert np.mean(rows[:, 0] < 1e-6) >= 0.95
    assert abs(rows[:, 1].mean() - 1) < 0.01


@pytest.mark.oracle
@needs_r
def test_with_more_predictors_than_samples_predictions_are_those_of_earth_without_its_fast_mars(tmp_path):
    cases = wide_cases(20)
    rows = compare(cases, tmp_path, ", fast.k = 0")
    report("wide sets, fast.k = 0", rows)
    assert (rows[:, 0] < 1e-6).all()
    default = compare(cases, tmp_path)
    report("wide sets, earth's default fast.k = 20", default)
    assert np.mean(default[:, 0] < 1e-6) < 0.6  # the docstring says so
