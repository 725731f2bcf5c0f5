"""Things that the tests of several rooms need, made in one place."""

import ast
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import foldshift

PACKAGE = Path(foldshift.__file__).parent


def public_names(package):
    """Public names of a package of the library, to the module that each is defined in, as its stub says."""
    stub = PACKAGE / package / "__init__.pyi"
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}


def random_folds(n_samples, n_folds, n_seeds, dtype=np.uint8):
    """Random folds of about the same size, one row per seed."""
    rng = np.random.default_rng(7)
    return np.array([rng.permutation(np.arange(n_samples) % n_folds) for _ in range(n_seeds)], dtype=dtype)


def class_folds(y, n_folds, n_seeds):
    """Folds stratified on classes, one row per seed."""
    folds = np.empty((n_seeds, len(y)), np.uint8)
    for row in range(n_seeds):
        shuffled = np.random.default_rng(row).permutation(len(y))
        shuffled = shuffled[np.argsort(y[shuffled], kind="stable")]
        folds[row, shuffled] = np.arange(len(y)) % n_folds
    return folds


def tied_regression(kind, n_samples, n_features, seed):
    """Inputs and target on coarse grids, so that ties are common, with one difficulty more."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(2, 12), (n_samples, n_features)) / 7
    y = X[:, 0] + (X[:, -1] > 0.5) + rng.integers(0, 4, n_samples) / 3
    if kind == "continuous":
        X, y = rng.standard_normal((n_samples, n_features)), rng.standard_normal(n_samples)
    elif kind == "constant column":
        X[:, 0] = 0.5
    elif kind == "constant y":
        y[:] = 0.1
    elif kind == "duplicate rows":
        X[1::2], y[1::2] = X[0], y[0]
    elif kind == "duplicate columns":
        X[:, -1] = X[:, 0]
    elif kind == "mirrored column":
        X[:, -1] = -X[:, 0]
    elif kind == "outlier":
        y[0] = 1e9
    return X, y


def patterned_classes(kind, n_classes, seed=0):
    """Inputs, classes and nominal columns, with a pattern and noise."""
    rng = np.random.default_rng(seed)
    n = 24 if kind == "more columns than rows" else 150
    X = rng.random((n, 40 if kind == "more columns than rows" else 4))
    nominal = np.zeros(X.shape[1], dtype=bool)
    if kind in ("nominal", "mixed"):
        nominal[: 4 if kind == "nominal" else 2] = True
        X[:, nominal] = rng.integers(0, 4, (n, nominal.sum()))
        X[:3, 0] = 9  # a category that some training parts lack
    y = np.digitize(X[:, 0] / X[:, 0].max() + 0.3 * X[:, 1] / X[:, 1].max(), np.linspace(0.3, 1, n_classes + 1)[1:-1])
    y = np.where(rng.random(n) < 0.15, rng.integers(0, n_classes, n), y)
    if kind == "constant column":
        X[:, 1] = 7.0
    elif kind == "duplicates":
        X, y = np.repeat(X[: n // 3], 3, axis=0), np.repeat(y[: n // 3], 3)
        X[:, 3] = X[:, 0]
    elif kind == "two rows per class":
        X, y = X[: 2 * n_classes], np.repeat(np.arange(n_classes), 2)
    elif kind == "few values":
        X = np.round(X, 1)
    return X, y, nominal


def plain_predictions(model, X, y, folds, random_states=None):
    """Prediction of every sample by a model fitted on the other folds."""
    predictions = np.empty(folds.shape)
    for row, fold in enumerate(folds):
        for test in np.unique(fold):
            own = {} if random_states is None else {"random_state": int(random_states[row, test])}
            fitted = type(model)(**{**model.get_params(), **own}).fit(X[fold != test], y[fold != test])
            predictions[row, fold == test] = fitted.predict(X[fold == test])
    return predictions


def plain_scores(model, X, y, folds, random_states=None):
    """Class scores of every sample by a model fitted on the other folds, 0 for a class that those lack."""
    classes = np.unique(y)
    scores = np.zeros((*folds.shape, len(classes)))
    for row, fold in enumerate(folds):
        for test in np.unique(fold):
            is_open = random_states is not None and model.random_state is None
            own = {"random_state": int(random_states[row, test])} if is_open else {}
            fitted = type(model)(**{**model.get_params(), **own}).fit(X[fold != test], y[fold != test])
            columns = np.searchsorted(classes, fitted.classes_)
            scores[np.ix_([row], fold == test, columns)] = fitted.predict_proba(X[fold == test])
    return scores


def one_row(table, /, **values):
    """The one row of a table with these values in its columns."""
    for name, value in values.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def write_table(path, frame, schema=None):
    """Write a data frame as a file of rows, with the columns and types of a schema if there is one; return its path."""
    pq.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False), path)
    return path
