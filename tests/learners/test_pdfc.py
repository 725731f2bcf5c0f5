import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from class_cases import awkward_cases, sklearn_folds
from foldshift.datasets import load_dataset
from foldshift.evaluation.cross_validate import iterate_fits
from foldshift.learners.kernels.pdfc import REFERENCES, PDFClassifier

DATA = Path(os.environ.get("FOLDSHIFT_SHARED", Path(__file__).parents[3] / "shared")) / "data"
RNG = np.random.default_rng(20120504)


CASES = list(awkward_cases(RNG))


def test_it_is_a_scikit_learn_estimator():
    check_estimator(PDFClassifier())


@pytest.mark.parametrize("reference", ["symmetric_triangle", "gaussian"])
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_gives_the_very_scores_of_the_plain_path(case, reference):
    _, X, y, nominal = case
    folds = sklearn_folds(y, 2 if len(y) < 12 else 3)
    model = PDFClassifier(reference, C=10, categorical_features=nominal)
    scores = model.scores_folds(X, y, folds)
    for s, _, test in iterate_fits(folds):
        assert (scores[s, test] == clone(model).fit(X[~test], y[~test]).predict_proba(X[test])).all()


# Table I of Chen and Wang, for u above 0.
TABLE_1 = {
    "symmetric_triangle": lambda u: np.maximum(1 - 0.7 * u, 0),
    "gaussian": lambda u: np.exp(-0.7 * u**2),
    "cauchy": lambda u: 1 / (1 + 0.7 * u**2),
    "laplace": lambda u: np.exp(-0.7 * u),
    "hyperbolic_secant": lambda u: 2 / (np.exp(0.7 * u) + np.exp(-0.7 * u)),
    "squared_sinc": lambda u: np.sinc(0.7 * u / np.pi) ** 2,
}


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_kernel_is_the_product_of_memberships_and_positive_definite(reference):
    A, B = RNG.random((20, 3)) * 2, RNG.random((10, 3)) * 2
    model = PDFClassifier(reference, d=0.7)
    units = np.zeros(3, np.int64)
    expected = TABLE_1[reference](np.abs(A[:, None] - B)).prod(axis=2)
    assert model._gram(A, B, units) == pytest.approx(expected, rel=1e-12)
    gram = model._gram(A, A, units)
    assert (np.diag(gram) == 1).all() and np.linalg.eigvalsh(gram).min() > -1e-12


def test_another_category_has_the_membership_at_distance_one_squared_if_there_are_more_than_two():
    X = np.array([[0.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1], [0.0, 0, 2]])
    model = PDFClassifier(categorical_features=[1, 2])
    assert model._gram(X[:1], X, model._units(X)).tolist() == [[1, 0.75, 0.75**2, 0.75**2]]


def test_two_classes_are_decided_as_libsvm_does_with_the_same_kernel():
    X, y = np.unique(RNG.random((80, 3)), axis=0), RNG.integers(0, 2, 80)
    gram = np.maximum(1 - 0.25 * np.abs(X[:, None] - X), 0).prod(axis=2)
    theirs = SVC(kernel="precomputed", C=100).fit(gram, y).decision_function(gram)
    assert PDFClassifier().fit(X, y).predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-theirs)), abs=1e-6)


def test_the_rules_give_the_decisions_of_every_pair_of_classes():
    X, y = load_iris(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = PDFClassifier().fit(X[::2], names[::2])
    assert [rules.classes for rules in model.rules_] == [
        ("setosa", "versicolor"),
        ("setosa", "virginica"),
        ("versicolor", "virginica"),
    ]
    wins = dict.fromkeys(model.classes_, 0)
    for rules in model.rules_:
        membership = np.maximum(1 - 0.25 * np.abs(X[1::2, None] - rules.centres), 0).prod(axis=2)
        positive = membership @ rules.consequents + rules.bias > 0
        assert (np.abs(rules.consequents) <= 100 * 3).all() and abs(rules.consequents.sum()) < 1e-9
        wins[rules.classes[1]] = wins[rules.classes[1]] + positive
        wins[rules.classes[0]] = wins[rules.classes[0]] + ~positive
    most = model.classes_[np.column_stack([wins[name] for name in model.classes_]).argmax(axis=1)]
    assert (model.predict(X[1::2]) == most).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reference": "triangle"}, "reference='triangle' is not known; allowed: symmetric_triangle, gaussian"),
        ({"d": 0}, "d=0 must be a number above 0"),
        ({"C": "1"}, "C='1' must be a number above 0"),
        ({"categorical_features": [3]}, "must be a mask or positions between 0 and 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PDFClassifier(**parameters).fit([[0.5], [1.0]], [0, 1])


@pytest.mark.parametrize(("name", "printed"), [("sonar", 0.8735), ("heart", 0.8035), ("housevotes", 0.9506)])
def test_it_reaches_the_printed_auc(name, printed):
    if not DATA.exists():
        pytest.skip(f"needs the shared data in {DATA}")
    data = load_dataset(name, mirror=str(DATA), scaling="global")
    model = PDFClassifier(categorical_features=data.categorical_features)
    predictions = model.predict_folds(data.X, data.y, sklearn_folds(data.y, 5, 10))
    rates = [(predictions[:, data.y == c] == c).mean() for c in (0, 1)]
    assert np.mean(rates) == pytest.approx(printed, abs=0.015)
