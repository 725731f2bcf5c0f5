"""Data and folds that the tests of several classifiers share."""

import numpy as np
from sklearn.model_selection import StratifiedKFold


def sklearn_folds(y, n_folds=3, seeds=2):
    """Folds of scikit-learn's stratified cross-validation, shape (seeds, len(y))."""
    folds = np.empty((seeds, len(y)), np.uint8)
    for s in range(seeds):
        for fold, (_, test) in enumerate(StratifiedKFold(n_folds, shuffle=True, random_state=s).split(y, y)):
            folds[s, test] = fold
    return folds


def awkward_cases(rng):
    """Yield (name, X, y, nominal columns) of small data sets of every kind that classifiers stumble over."""
    X = rng.random((60, 4))
    codes = rng.integers(0, 4, (60, 2)).astype(float)
    two, three = (X[:, 0] > 0.5).astype(int), np.arange(60) % 3
    yield "numeric", X, two, None
    yield "nominal", codes, three, [0, 1]
    yield "mixed", np.column_stack([X, codes]), three, [4, 5]
    yield "constant column", np.column_stack([X, np.ones(60)]), two, None
    yield "duplicates", np.repeat(np.column_stack([X, codes])[:20], 3, axis=0), two, [4, 5]
    yield "duplicates of other classes", np.round(X), three, None
    yield "more columns than rows", rng.random((12, 30)), np.arange(12) % 2, None
    yield "two rows per class", X[:6], np.array([0, 0, 1, 1, 2, 2]), None
    yield (
        "a third category that a training part lacks",
        np.column_stack([X, (np.arange(60) % 2) + (np.arange(60) == 7)]),
        two,
        [4],
    )
