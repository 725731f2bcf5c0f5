import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from foldshift.evaluation import evaluate_folds
from foldshift.learners import NNRegressor, RandomTiesNNRegressor
from foldshift.learners.neighbours import random_ties

RNG = np.random.default_rng(20220721)
FOLDS = RNG.permuted(np.tile(np.arange(300) % 5, (4, 1)), axis=1).astype(np.uint8)
STATES = RNG.integers(0, 2**32, (4, 5)).astype(np.uint32)


def test_it_is_a_scikit_learn_estimator():
    check_estimator(RandomTiesNNRegressor())


@pytest.mark.parametrize("n_neighbors", [1, 3, 20])
def test_without_ties_it_predicts_as_the_learner_with_ties_in_row_order(n_neighbors):
    X, y = RNG.random((300, 3)), RNG.random(300)
    found = RandomTiesNNRegressor(n_neighbors).predict_folds(X, y, FOLDS, STATES)
    assert found == pytest.approx(NNRegressor(n_neighbors).predict_folds(X, y, FOLDS), abs=1e-15)


@pytest.mark.parametrize("most", [random_ties.MOST_LISTED, 0], ids=["whole_groups", "no_memory"])
@pytest.mark.parametrize("n_neighbors", [1, 3, 20])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_fits_that_share_work_decide_ties_as_fits_alone_do(n_columns, n_neighbors, most, monkeypatch):
    monkeypatch.setattr(random_ties, "MOST_LISTED", most)
    X, y = np.round(4 * RNG.random((300, n_columns))), RNG.random(300)
    model = RandomTiesNNRegressor(n_neighbors)
    shared, alone = (evaluate_folds(model, X, y, FOLDS, random_states=STATES, shared=shared) for shared in (True, False))
    assert (shared == alone).all()
    assert (shared[2:3] == model.predict_folds(X, y, FOLDS[2:3], STATES[2:3])).all()  # blocks of seeds change nothing


def test_every_sample_at_equal_distance_is_taken_equally_often_and_none_twice():
    X, y = np.array([[0.0]] * 3 + [[2.0]] * 5 + [[0.5]]), np.array([*2.0 ** np.arange(8), 0.0])
    fits = [RandomTiesNNRegressor(3, random_state=seed).fit(X, y) for seed in range(2000)]
    sums = np.array([3 * fit.predict([[1.0]])[0] for fit in fits]).round().astype(int)
    bits = sums[:, None] >> np.arange(8) & 1
    assert (bits.sum(axis=1) == 2).all()  # the nearest one always, and two of the eight
    assert bits.mean(axis=0) == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 2000))
    assert np.cov(bits.T)[np.triu_indices(8, 1)] == pytest.approx(-0.25 * 0.75 / 7, abs=0.02)


def test_the_order_of_the_rows_means_nothing_on_average():
    X, y = np.repeat([0.0, 1.0], 20)[:, None], np.arange(40.0)
    for order in (slice(None), slice(None, None, -1)):
        means = [RandomTiesNNRegressor(3, random_state=s).fit(X[order], y[order]).predict([[0.0]])[0] for s in range(3000)]
        assert np.mean(means) == pytest.approx(9.5, abs=4 * np.std(means) / np.sqrt(3000))


def test_a_prediction_does_not_depend_on_what_else_is_predicted():
    X, y = np.round(4 * RNG.random((60, 2))), RNG.random(60)
    fit = RandomTiesNNRegressor(random_state=3).fit(X, y)
    assert (fit.predict(X)[10:20] == fit.predict(X[10:20])).all()


def test_held_out_rows_are_predicted_fit_by_fit():
    assert RandomTiesNNRegressor().fold_predictor(np.zeros((4, 1)), np.zeros(4), np.zeros((2, 1))) is None
