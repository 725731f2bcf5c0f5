import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import check_estimator

from class_cases import sklearn_folds
from foldshift.datasets import load_dataset
from foldshift.evaluation.cross_validate import iterate_fits
from foldshift.learners.linear.lda import SINGULAR, LDAClassifier

DATA = Path(os.environ.get("FOLDSHIFT_SHARED", Path(__file__).parents[3] / "shared")) / "data"
RNG = np.random.default_rng(20120502)


def _cases():
    X = RNG.random((60, 4))
    codes = RNG.integers(0, 4, (60, 2)).astype(float)
    two, three = (X[:, 0] > 0.5).astype(int), np.arange(60) % 3
    yield "numeric", X, two
    yield "nominal codes", codes, three
    yield "mixed", np.column_stack([X, codes]), three
    yield "constant column", np.column_stack([X, np.full(60, 0.1)]), two
    yield "constant within classes", np.column_stack([X, 0.1 * three]), three
    yield "constant in one training part", np.column_stack([X, np.arange(60) == 7]), two
    yield "one huge value", np.column_stack([X, np.where(np.arange(60) == 7, 1e9, X[:, 0] ** 2)]), two
    yield "far from the origin", X + 1e6, two
    yield "sum of columns", np.column_stack([X, X.sum(axis=1)]), two
    yield "duplicates", np.repeat(X[:20], 3, axis=0), two
    yield "more columns than rows", RNG.random((12, 30)), np.arange(12) % 2
    yield "two rows per class", X[:6], np.array([0, 0, 1, 1, 2, 2])


CASES = list(_cases())


@pytest.mark.parametrize("singular", SINGULAR)
def test_it_is_a_scikit_learn_estimator(singular):
    check_estimator(LDAClassifier(singular))


@pytest.mark.parametrize("singular", SINGULAR)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_decides_as_the_plain_path_does(singular, case):
    _, X, y = case
    folds = sklearn_folds(y, 2 if len(y) < 12 else 3)
    model = LDAClassifier(singular)
    scores, predictions = model.scores_folds(X, y, folds), model.predict_folds(X, y, folds)
    for s, _, test in iterate_fits(folds):
        plain = clone(model).fit(X[~test], y[~test])
        # Sums that leave a fold out are added in another order; nothing else may differ.
        assert scores[s, test] == pytest.approx(plain.predict_proba(X[test]), abs=1e-7)
        assert (predictions[s, test] == plain.predict(X[test])).all()


def test_a_class_that_a_training_part_lacks_has_score_zero():
    X, y = RNG.random((20, 2)), np.array([0, 1] * 9 + [2, 2])
    folds = np.array([[0] * 6 + [1] * 12 + [0, 0]], np.uint8)
    scores = LDAClassifier().scores_folds(X, y, folds)[0]
    assert (scores[folds[0] == 0, 2] == 0).all() and (scores[folds[0] == 1, 2] > 0).any()


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_it_gives_the_probabilities_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X[::2], y[::2]).predict_proba(X[1::2])
    assert LDAClassifier().fit(X[::2], y[::2]).predict_proba(X[1::2]) == pytest.approx(theirs, abs=1e-8)


def test_on_singular_data_the_pseudo_inverse_decides_as_scikit_learns_singular_values_do():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 3.0)])
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(X[::2], y[::2]).predict(X[1::2])
    assert (LDAClassifier().fit(X[::2], y[::2]).predict(X[1::2]) == theirs).all()


def test_two_classes_with_equal_spread_part_at_the_midpoint_shifted_by_the_log_odds():
    X, y = np.array([[-1.0], [1.0], [3.0], [5.0], [3.0], [5.0]]), [0, 0, 1, 1, 1, 1]
    # Variance 1, means 0 and 4: the boundary is 2 - log(4 / 2) / 4.
    boundary = 2 - np.log(2) / 4
    assert (LDAClassifier().fit(X, y).predict([[boundary - 1e-6], [boundary + 1e-6]]) == [0, 1]).all()
    assert LDAClassifier().fit(X, y).predict_proba([[boundary]])[0] == pytest.approx([0.5, 0.5], abs=1e-12)


@pytest.mark.parametrize("extra", ["constant", "constant within classes", "sum"])
def test_a_singular_training_part_sends_all_samples_to_the_first_class_on_demand(extra):
    X, y = RNG.random((40, 3)), np.arange(40) % 2
    column = {"constant": np.full(40, 0.1), "constant within classes": 0.7 * y, "sum": X.sum(axis=1)}[extra]
    X = np.column_stack([X, column])
    model = LDAClassifier("first_class").fit(X, y + 5)
    assert (model.predict(X) == 5).all() and (model.predict_proba(X) == [1, 0]).all()
    assert np.isnan(model.coef_).all()
    assert set(LDAClassifier().fit(X, y + 5).predict(X)) == {5, 6}


def test_ties_go_to_the_lower_class():
    X, y = np.array([[0.1], [0.3], [0.7], [0.9]]), [1, 1, 0, 0]
    assert LDAClassifier().fit(X, y).predict([[0.5]]) == [0]
    assert LDAClassifier().fit(X, [0, 0, 1, 1]).predict([[0.5]]) == [0]


def test_an_unknown_way_with_singular_data_is_refused():
    with pytest.raises(ValueError, match="singular='drop' is not known; allowed: pseudo_inverse, first_class"):
        LDAClassifier("drop").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("name", "printed"), [("heart", 0.8365), ("housevotes", 0.9712), ("titanic", 0.6996), ("crx", 0.5)])
def test_it_reaches_the_printed_auc(name, printed):
    if not DATA.exists():
        pytest.skip(f"needs the shared data in {DATA}")
    data = load_dataset(name, mirror=str(DATA), scaling="none")
    predictions = LDAClassifier("first_class").predict_folds(data.X, data.y, sklearn_folds(data.y, 5, 20))
    rates = [(predictions[:, data.y == c] == c).mean() for c in (0, 1)]
    assert np.mean(rates) == pytest.approx(printed, abs=0.005)
