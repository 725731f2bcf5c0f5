"""Shared paths for learners of scikit-learn: the predictions of separate fits, and separate fits where they would not be."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from foldshift.datasets import prepare, read_file
from foldshift.evaluation import design_matrix, evaluate_folds
from foldshift.evaluation.known_learners import predict_known
from foldshift.partition import make_folds

REGRESSORS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    Ridge(alpha=1e-3, solver="cholesky"),
    Ridge(alpha=50, fit_intercept=False),
    KNeighborsRegressor(),
    KNeighborsRegressor(1, algorithm="brute"),
]
CLASSIFIERS = [
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    GaussianNB(var_smoothing=1e-3),
    KNeighborsClassifier(),
    KNeighborsClassifier(2, algorithm="ball_tree"),
    KNeighborsClassifier(1, metric="euclidean"),
]


def noisy(X, seed=0):
    """The same inputs with untied distances, and columns far from 0."""
    rng = np.random.default_rng(seed)
    return X + 1e-3 * X.std(axis=0) * rng.normal(size=X.shape) + np.arange(X.shape[1])


def both(estimator, X, y, folds):
    return predict_known(estimator, X, y, folds), evaluate_folds(estimator, X, y, folds, shared=False)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
@pytest.mark.parametrize("k", [2, 7])
def test_numbers_are_those_of_separate_fits(estimator, k):
    X, y = load_diabetes(return_X_y=True)
    X = noisy(100 * X)
    folds = make_folds("CV", X, y, k, range(3))
    shared, plain = both(estimator, X, y, folds)
    np.testing.assert_allclose(shared, plain, rtol=1e-9)
    np.testing.assert_array_equal(evaluate_folds(estimator, X, y, folds), shared)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_labels_are_those_of_separate_fits(estimator, load):
    X, y = load(return_X_y=True)
    X, y = noisy(X), np.array(["low", "mid", "high"])[y]
    folds = make_folds("SCV", X, y, 5, range(3))
    shared, plain = both(estimator, X, y, folds)
    assert (shared == plain).all() and shared.dtype.kind == plain.dtype.kind
    assert (evaluate_folds(estimator, pd.DataFrame(X), pd.Series(y), folds) == plain).all()


@pytest.mark.parametrize("seed", range(5))
def test_made_tables_of_every_shape_agree(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(30, 120)), int(rng.integers(1, 60))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + 10.0 ** rng.integers(-2, 4, p)
    y = X @ rng.normal(size=p) / np.abs(X).max() + rng.normal(size=n)
    label = (y > np.median(y)) * 1
    numbers = [(one, y) for one in (Ridge(), LinearRegression(), KNeighborsRegressor(3))]
    for estimator, target in (*numbers, (GaussianNB(), label), (LinearDiscriminantAnalysis(), label)):
        folds = make_folds("CV", X, target, int(rng.integers(2, 9)), [seed])
        plain = evaluate_folds(estimator, X, target, folds, shared=False)
        np.testing.assert_allclose(evaluate_folds(estimator, X, target, folds), plain, rtol=1e-7, atol=1e-9)


def test_ties_for_the_last_neighbour_are_left_to_scikit_learn():
    X = np.repeat(np.arange(20.0), 3)[:, None]
    y = np.arange(60) % 4
    folds = make_folds("SCV", X, y, 3, [0])
    assert predict_known(KNeighborsClassifier(2), X, y, folds) is None
    plain = evaluate_folds(KNeighborsClassifier(2), X, y, folds, shared=False)
    assert (evaluate_folds(KNeighborsClassifier(2), X, y, folds) == plain).all()


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearDiscriminantAnalysis()], ids=repr)
def test_rows_between_two_classes_are_left_to_scikit_learn(estimator):
    half = np.random.default_rng(0).normal(1.0, size=(20, 2))
    X, y = np.concatenate([half, -half, half, -half, np.zeros((2, 2))]), np.repeat([0, 1, 0, 1, 0, 1], [20, 20, 20, 20, 1, 1])
    folds = np.repeat([0, 1, 2], [40, 40, 2]).astype(np.uint8)[None]  # the last two rows lie in the middle of both classes
    assert predict_known(estimator, X, y, folds) is None
    assert predict_known(estimator, X[:-2], y[:-2], folds[:, :-2]) is not None


class _Own(Ridge):
    def predict(self, X):
        return super().predict(X) + 1


@pytest.mark.parametrize(
    "estimator",
    [
        _Own(),
        LogisticRegression(),
        Ridge(alpha=0),
        Ridge(solver="lsqr"),
        Ridge(positive=True, solver="lbfgs"),
        Ridge(alpha=[1.0]),
        GaussianNB(priors=[0.5, 0.5]),
        LinearDiscriminantAnalysis(solver="lsqr"),
        LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
        LinearDiscriminantAnalysis(tol=0.1),
        LinearRegression(positive=True),
        KNeighborsClassifier(weights="distance"),
        KNeighborsRegressor(p=1),
        KNeighborsRegressor(metric="cosine"),
        KNeighborsRegressor(55),
    ],
    ids=repr,
)
def test_others_are_fitted_by_themselves(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    assert predict_known(estimator, X, y, make_folds("CV", X, y, 5, [0])) is None


@pytest.mark.parametrize("kind", ["float32", "bool", "Int64", "text", "gap"])
def test_inputs_in_which_scikit_learn_computes_otherwise_are_left_to_it(kind):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    column = {
        "float32": X.a.astype("float32"), "bool": X.a > 0, "Int64": (X.a > 0).astype("Int64"),
        "text": X.a.astype(str), "gap": X.a.where(X.a > 0),
    }[kind]  # fmt: skip
    assert predict_known(Ridge(), X.assign(a=column), X.b.to_numpy(), make_folds("CV", X, X.b, 5, [0])) is None


@pytest.mark.parametrize("estimator", [GaussianNB(), KNeighborsClassifier(), LinearDiscriminantAnalysis()], ids=repr)
def test_labels_of_several_kinds_are_reported_as_ever(estimator):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.array(["a", 1] * 30, dtype=object)
    folds = make_folds("CV", X, np.arange(60.0), 5, [0])
    found = []
    for shared in (True, False):
        with pytest.raises(ValueError) as error:
            evaluate_folds(estimator, X, y, folds, shared=shared)
        found.append(str(error.value))
    assert found[0] == found[1]


def test_collinear_inputs_agree_or_are_left_to_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    X = np.column_stack([X, X[:, 0] * (1 + 1e-9), X[:, 1] + X[:, 2]])
    y = X[:, 0] + rng.normal(size=80)
    folds = make_folds("CV", X, y, 5, [0])
    assert predict_known(Ridge(alpha=1e-9), X, y, folds) is None
    np.testing.assert_allclose(*both(Ridge(alpha=1e-3), X, y, folds), rtol=1e-8)
    assert predict_known(LinearRegression(), X, y, folds) is None
    assert predict_known(LinearDiscriminantAnalysis(), X, (y > 0) * 1, folds) is None


@pytest.mark.parametrize("case", ["class of one row", "constant in a training part", "more columns than rows", "collinear means"])
def test_discriminants_that_scikit_learn_would_cut_short_are_left_to_it(case):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    if case == "class of one row":
        y[-1] = 3
        assert predict_known(GaussianNB(), X, y, make_folds("CV", X, y, 5, range(3))) is None
    elif case == "constant in a training part":
        X[:, 0] = np.arange(60) == 7
    elif case == "more columns than rows":
        X = rng.normal(size=(60, 80))
    else:
        X = X * [1, 1e-9, 1] + np.outer(100 * y, [1, 1, 1])
    folds = make_folds("CV", X, y, 5, range(3))
    assert predict_known(LinearDiscriminantAnalysis(), X, y, folds) is None


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_predictions_on_the_papers_data_sets_are_those_of_separate_fits(shared, kind):
    files = sorted((shared / f"data/keel/{kind}").glob("*.dat"))
    taken = {}
    for file in files:
        data = prepare(read_file(file), file.stem, kind)
        X = design_matrix(data, "onehot")
        if len(X) > 3000:
            continue
        folds = make_folds("CV" if kind == "regression" else "SCV", X, data.y, 5, range(2))
        numbers = (Ridge(), LinearRegression(), KNeighborsRegressor())
        labels = (GaussianNB(), KNeighborsClassifier(), LinearDiscriminantAnalysis())
        for estimator in numbers if kind == "regression" else labels:
            found, plain = both(estimator, X, data.y, folds)
            taken.setdefault(type(estimator).__name__, []).append(found is not None)
            if found is not None:
                np.testing.assert_allclose(found, plain, rtol=1e-8, atol=1e-10, err_msg=file.stem)
    assert all(any(some) for some in taken.values())
