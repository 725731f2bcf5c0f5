"""Samples of the populations of `held_out_scores`, cross-validated, with the true scores of their models on new rows.

Predictions do not depend on any interval: they are drawn once and kept, and intervals are measured on them.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
from numba import njit  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.metrics import average_precision_score  # noqa: E402
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402

from foldshift.inference.roc import roc_area  # noqa: E402
from held_out_scores import DEVELOPMENT, HELD_OUT, LEARNERS, Population  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldshift.core.types import Array, FloatArray, IntArray

    Truth = dict[str, FloatArray]

NEW_ROWS = {
    "binary": 40,
    "classes": 40,
    "numbers": 100,
}  # per row of the sample; their error takes .003 of a coverage of .95 at most
CLIP = 1e-3  # smallest probability in the log loss
N_NEIGHBOURS, DEPTH, SMALLEST_CLASS = 5, 4, 10
GROUP_SIZE = 6


def folds_of(y: Array, task: str, k: int, rng: np.random.Generator) -> IntArray:
    """Deal rows to folds, class by class (or over sorted targets not at all: at random)."""
    folds = np.empty(len(y), dtype=int)
    order = rng.permutation(len(y))
    if task != "numbers":
        order = order[np.argsort(y[order], kind="stable")]
    folds[order] = (np.arange(len(y)) + rng.integers(k)) % k
    return folds


def probabilities(
    learner: str, X: FloatArray, y: IntArray, X_new: FloatArray, folds: IntArray, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Predict sample (from its fold's model) and new rows (from every fold's model); shapes (n, C) and (k, m, C)."""
    k = int(folds.max()) + 1
    own, new = np.zeros((len(y), n_classes)), np.zeros((k, len(X_new), n_classes))
    if learner == "5NN":
        spread = X.std(axis=0) + 1e-12
        codes = np.eye(n_classes)[y]
        for rows, out in ((X, None), (X_new, new)):
            _neighbours(X / spread, rows / spread, folds, codes, own if out is None else out)
        return own, new
    for fold in range(k):
        test = folds == fold
        model = LinearDiscriminantAnalysis() if learner == "linear" else DecisionTreeClassifier(max_depth=DEPTH, random_state=0)
        model.fit(X[~test], y[~test])
        own[np.ix_(test, model.classes_)] = model.predict_proba(X[test])
        new[fold][:, model.classes_] = model.predict_proba(X_new)
    return own, new


def values(learner: str, X: FloatArray, y: FloatArray, X_new: FloatArray, folds: IntArray) -> tuple[FloatArray, FloatArray]:
    """Predict numbers, as `probabilities`; shapes (n,) and (k, m)."""
    k = int(folds.max()) + 1
    own, new = np.zeros((len(y), 1)), np.zeros((k, len(X_new), 1))
    if learner == "5NN":
        spread = X.std(axis=0) + 1e-12
        for rows, out in ((X, own), (X_new, new)):
            _neighbours(X / spread, rows / spread, folds, y[:, None], out)
    for fold in range(k) if learner != "5NN" else ():
        test = folds == fold
        model = LinearRegression() if learner == "linear" else DecisionTreeRegressor(max_depth=DEPTH, random_state=0)
        model.fit(X[~test], y[~test])
        own[test, 0], new[fold, :, 0] = model.predict(X[test]), model.predict(X_new)
    return own[:, 0], new[..., 0]


def _neighbours(X: FloatArray, rows: FloatArray, folds: IntArray, values: FloatArray, out: FloatArray) -> None:
    """Mean values of the nearest rows outside a fold, from one search for all folds."""
    depth = min(len(X), 5 * N_NEIGHBOURS)  # a fold holds a fifth of the rows at most
    for begin in range(0, len(rows), 4000):
        part = rows[begin : begin + 4000]
        apart = ((X**2).sum(axis=1) - 2 * part @ X.T).astype(np.float32)
        near = np.argpartition(apart, depth - 1, axis=1)[:, :depth]
        near = np.take_along_axis(near, np.argsort(np.take_along_axis(apart, near, axis=1), axis=1), axis=1)
        if out.ndim == 2:
            _means_outside(near, folds, values, folds[begin : begin + 4000], out[None, begin : begin + 4000])
        else:
            _means_outside(near, folds, values, np.full(len(part), -1), out[:, begin : begin + 4000])


@njit
def _means_outside(near: IntArray, folds: IntArray, values: FloatArray, own: IntArray, out: FloatArray) -> None:
    """Mean the values of the nearest rows outside every fold, or outside the row's own fold where it has one."""
    for row in range(near.shape[0]):
        for place in range(out.shape[0]):
            fold, found = own[row] if own[row] >= 0 else place, 0
            out[place, row] = 0.0
            for one in near[row]:
                if folds[one] != fold:
                    out[place, row] += values[one]
                    found += 1
                    if found == N_NEIGHBOURS:
                        break
            out[place, row] /= max(found, 1)


def true_scores(y: Array, new: FloatArray, task: str) -> dict[str, float]:
    """Score the models on new rows: of their mean confusion table, mean loss, or mean area."""
    if task == "numbers":
        gaps = new - y
        squared = float((gaps**2).mean())
        return {"root_mean_squared_error": squared**0.5, "mean_absolute_error": float(np.abs(gaps).mean()),
                "r2": 1 - squared / float(y.var())}  # fmt: skip
    n_classes, predicted = new.shape[2], new.argmax(axis=2)
    table = np.mean([np.bincount(y * n_classes + one, minlength=n_classes**2) for one in predicted], axis=0)
    found = table_scores(table.reshape(n_classes, n_classes) / len(y))
    found["log_loss"] = float(-np.log(np.clip(new[:, np.arange(len(y)), y], CLIP, 1)).mean())
    if n_classes == 2:
        found["brier_score"] = float(((new[:, :, 1] - y) ** 2).mean())
        found["roc_auc"] = float(np.mean([roc_area(one[:, 1], y == 1) for one in new]))
        found["average_precision"] = float(np.mean([average_precision_score(y, one[:, 1]) for one in new[::3]]))
    return found


def table_scores(table: FloatArray) -> dict[str, float]:
    """Scores of a table of shares, true classes by predicted ones; written independently of the package."""
    true, predicted, right = table.sum(axis=1), table.sum(axis=0), np.diag(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        recalls = right / true
        f1 = 2 * right / (true + predicted)
        precision = right / predicted
    accuracy, chance = right.sum(), (true * predicted).sum()
    spread = (1 - (true**2).sum()) * (1 - (predicted**2).sum())
    found = {"error": 1 - accuracy, "accuracy": accuracy, "balanced_accuracy": recalls.mean(),
             "matthews_corrcoef": (accuracy - chance) / spread**0.5 if spread > 0 else 0.0,
             "cohen_kappa": (accuracy - chance) / (1 - chance) if chance < 1 else 0.0}  # fmt: skip
    if len(table) == 2:
        found |= {"f1": np.nan_to_num(f1[1]), "recall": recalls[1], "precision": precision[1], "specificity": recalls[0]}
    else:
        found |= {"f1_macro": np.nan_to_num(f1).mean(), "f1_weighted": (np.nan_to_num(f1) * true).sum()}
    return {name: float(value) for name, value in found.items()}


def in_groups(population: Population, n_groups: int, n_new: int, rng: np.random.Generator) -> tuple[FloatArray, Array, IntArray]:
    """Draw rows in groups that are alike in the first input and share an effect on the target."""
    n_all = n_groups + n_new // GROUP_SIZE
    X, y = population.draw(GROUP_SIZE * n_all, rng)
    noisy = X[:, 0] + X[:, 0].std() * rng.standard_normal(len(X))
    groups = rng.permutation(n_all)[noisy.argsort().argsort() // GROUP_SIZE]
    if population.task == "numbers":
        return X, y + 0.5 * y.std() * rng.standard_normal(n_all)[groups], groups
    exchanged = rng.random(len(X)) < 0.3 * rng.random(n_all)[groups]
    return X, np.where(exchanged, rng.permutation(y), y), groups


def one_sample(population: Population, seed: int, n_repetitions: int, n_groups: int | None) -> dict[str, Any] | None:
    """Cross-validate a sample with every learner: y, folds, groups, predictions (r, n[, C]) and true scores by learner."""
    task, n = population.task, population.n if n_groups is None else n_groups * GROUP_SIZE
    rng = np.random.default_rng([seed, n, sum(map(ord, population.name)), n_groups or 0])
    n_new = NEW_ROWS[task] * n
    if n_groups is None:
        groups = None
        X, y = population.draw(n + n_new, rng)
    else:
        X, y, groups = in_groups(population, n_groups, n_new, rng)
        order = np.argsort(groups >= n_groups, kind="stable")
        X, y, groups = X[order], y[order], groups[order]
    X, X_new, y, y_new = X[:n], X[n:], y[:n], y[n:]
    k, n_classes = 10, 0
    if task != "numbers":
        n_classes = int(max(y.max(), y_new.max())) + 1
        smallest = np.bincount(y, minlength=n_classes).min()
        if smallest < 2:
            return None
        k = 10 if smallest >= SMALLEST_CLASS else 5
    made: dict[str, Any] = {"y": y, "predictions": {}, "truth": {}, "folds": [], "groups": None if groups is None else groups[:n]}
    for _ in range(n_repetitions):
        if n_groups is None:
            folds = folds_of(y, task, k, rng)
        else:
            k = min(k, n_groups)
            folds = (rng.permutation(n_groups) % k)[groups[:n]]
            if task != "numbers" and any(len(np.unique(y[folds != fold])) < n_classes for fold in range(k)):
                return None
        made["folds"].append(folds)
        for learner in LEARNERS:
            if task == "numbers":
                own, new = values(learner, X, y, X_new, folds)
            else:
                own, new = probabilities(learner, X, y, X_new, folds, n_classes)
            made["predictions"].setdefault(learner, []).append(own.astype(np.float32).astype(float))
            made["truth"].setdefault(learner, []).append(true_scores(y_new, new, task))
    return made


def kept_samples(folder: Path, which: str, kind: str, n_samples: int, tell: Callable[[str], object] = print) -> Any:
    """Yield population, groups and samples, from the files of a folder or drawn anew.

    `kind` is rows, repeated or groups; the last two draw from every third population.
    """
    populations = HELD_OUT if which == "held out" else DEVELOPMENT
    for population in populations if kind == "rows" else populations[::3]:
        for n_groups in GROUPS if kind == "groups" else (None,):
            name = f"{which}_{kind}_{population.name}_{n_groups}_{n_samples}.json".replace(" ", "_")
            file = folder / name
            if not file.exists():
                samples, seed = [], 0
                while len(samples) < n_samples and seed < MOST_DRAWS * n_samples:
                    one = one_sample(population, seed, REPETITIONS if kind == "repeated" else 1, n_groups)
                    samples += [] if one is None else [one]
                    seed += 1
                folder.mkdir(parents=True, exist_ok=True)
                temporary = file.with_suffix(".part")
                temporary.write_text(json.dumps(samples, default=np.ndarray.tolist))
                temporary.rename(file)
                tell(f"{name}: {len(samples)} of {seed} drawn")
            yield population, n_groups, [_with_arrays(one) for one in json.loads(file.read_text())]


def _with_arrays(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {name: np.array(sample[name]) for name in ("y", "groups") if sample[name] is not None}


GROUPS = (10, 25, 60)
REPETITIONS, MOST_DRAWS = 5, 4

if __name__ == "__main__":
    for _ in kept_samples(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), lambda text: print(text, flush=True)):
        pass
