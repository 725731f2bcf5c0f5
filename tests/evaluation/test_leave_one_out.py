import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bench_costs import peak_mb
from class_cases import awkward_cases
from foldshift.evaluation.leave_one_out import is_cheap, leave_one_out
from foldshift.learners import LDAClassifier, NaiveBayesClassifier, NNClassifier, NNRegressor, SVMClassifier

RNG = np.random.default_rng(20150105)
LEARNERS = {
    "1NN": NNClassifier(),
    "3NN": NNClassifier(3),
    "1NN, paper": NNClassifier(metric="keel_hvdm", skip_zero_distance=True, tie_order="fold"),
    "LDA": LDAClassifier(),
    "LDA, paper": LDAClassifier("first_class"),
    "NB": NaiveBayesClassifier(),
}


def _cases():
    yield from awkward_cases(RNG)
    grid = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)  # every distance is a tie
    yield "grid", grid, (grid.sum(axis=1) % 2).astype(int), None
    yield "grid, every point twice", np.repeat(grid, 2, axis=0), np.arange(32) // 3 % 3, None
    X = RNG.random((30, 3))
    yield "a class of one", X, np.where(np.arange(30) == 4, 2, X[:, 0] > 0.5).astype(int), None
    yield "all samples equal", np.ones((10, 2)), np.arange(10) % 2, None
    yield "two samples", X[:2], np.array([0, 1]), None


CASES = list(_cases())


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_predicts_as_plain_refits_do(name, case):
    _, X, y, nominal = case
    labels = np.array(["a", "b", "c"])[y]
    model = clone(LEARNERS[name])
    if "categorical_features" in model.get_params():
        model.set_params(categorical_features=nominal)
    shared = leave_one_out(model, X, labels)
    assert shared.shape == y.shape and shared.dtype == labels.dtype
    assert (shared == leave_one_out(model, X, labels, shared=False)).all()


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(NaiveBayesClassifier(), GaussianNB()), (LDAClassifier(), LinearDiscriminantAnalysis(solver="lsqr"))],
    ids=["NB", "LDA"],
)
def test_it_predicts_as_scikit_learn_does(ours, theirs, load):
    X, y = load(return_X_y=True)
    assert (leave_one_out(ours, X, y) == cross_val_predict(theirs, X, y, cv=LeaveOneOut())).all()


def test_the_nearest_neighbour_is_the_nearest_other_sample():
    X, y = RNG.random((200, 3)), RNG.integers(0, 3, 200)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (leave_one_out(NNClassifier(), X, y) == y[distances.argmin(axis=1)]).all()


def test_other_learners_are_fitted_once_per_sample():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    tree = DecisionTreeClassifier(random_state=0)
    assert (leave_one_out(tree, X, y) == cross_val_predict(tree, X, y, cv=LeaveOneOut())).all()
    assert (leave_one_out(SVMClassifier(C=1.0), X, y) == leave_one_out(SVMClassifier(C=1.0), X, y, shared=False)).all()


def test_regression_has_predictions_in_floating_point():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60].astype(int)
    nearest, tree = NNRegressor(3), DecisionTreeRegressor(random_state=0)
    assert (leave_one_out(nearest, X, y) == leave_one_out(nearest, X, y, shared=False)).all()
    assert leave_one_out(tree, X, y).dtype == np.float64
    assert (leave_one_out(tree, X, y) == cross_val_predict(tree, X, y, cv=LeaveOneOut())).all()


def test_is_cheap_says_which_learners_need_no_fits():
    assert all(is_cheap(model) for model in (*LEARNERS.values(), NNRegressor()))
    scaled = make_pipeline(MinMaxScaler(), NNClassifier())
    assert not any(is_cheap(model) for model in (SVMClassifier(), DecisionTreeClassifier(), GaussianNB(), scaled))


def test_the_estimator_is_not_changed():
    model = NaiveBayesClassifier()
    leave_one_out(model, np.arange(6.0)[:, None], [0, 1] * 3, shared=False)
    assert not hasattr(model, "classes_")


def test_refits_report_how_far_they_are(monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["foldshift.evaluation.leave_one_out"], "INTERVAL", 0.0)
    X, y, lines = np.arange(6.0)[:, None], [0, 1] * 3, []
    leave_one_out(GaussianNB(), X, y, progress=lines.append)
    assert len(lines) == 6 and lines[1].startswith("leave-one-out of GaussianNB: 2 of 6 fits, about ")
    assert lines[-1] == "leave-one-out of GaussianNB: 6 of 6 fits, about 0 s left"
    leave_one_out(GaussianNB(), X, y)
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 6
    leave_one_out(NaiveBayesClassifier(), X, y, progress=lines.append)
    assert len(lines) == 6


@pytest.mark.parametrize("n", [0, 1, 65_536])
def test_too_few_or_too_many_samples_are_refused(n):
    message = f"leave-one-out of {n} samples is not possible; 2 to 65535 are, above use k-fold cross-validation"
    with pytest.raises(ValueError, match=message):
        leave_one_out(NNClassifier(), np.zeros((n, 1)), np.zeros(n, dtype=int))


def test_inputs_and_target_of_different_length_are_refused():
    with pytest.raises(ValueError, match="X and y have 3 and 4 samples; expected the same number"):
        leave_one_out(NNClassifier(), np.zeros((3, 1)), np.zeros(4, dtype=int))


@pytest.mark.parametrize("name", LEARNERS)
def test_memory_stays_small_with_as_many_folds_as_samples(name):
    X = RNG.random((5404, 5))
    y = (X[:, 0] + X[:, 1] * RNG.random(5404) > 0.8).astype(int)
    leave_one_out(LEARNERS[name], X[:50], y[:50])  # loads what is compiled
    used = peak_mb(leave_one_out, LEARNERS[name], X, y)
    if np.isnan(used):
        pytest.skip("needs Linux to measure memory")
    assert used < 20  # one byte for every pair of samples would be 29
