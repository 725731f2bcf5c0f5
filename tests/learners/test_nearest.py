import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import check_estimator

from foldshift.learners import NNRegressor
from foldshift.learners.neighbours.nearest_regressor import nearest_rows


def test_it_is_a_scikit_learn_estimator():
    check_estimator(NNRegressor())


def test_without_ties_it_predicts_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    X, y, new = rng.random((200, 4)), rng.random(200), rng.random((50, 4))
    for k in (1, 3, 7):
        theirs = KNeighborsRegressor(k, algorithm="brute").fit(X, y).predict(new)
        assert NNRegressor(k).fit(X, y).predict(new) == pytest.approx(theirs, abs=1e-12)


def test_ties_go_to_the_earlier_training_row():
    X, y = np.array([[0.0], [2.0], [2.0], [0.0]]), np.array([1.0, 2.0, 4.0, 8.0])
    assert NNRegressor(1).fit(X, y).predict([[1.0]]) == [1.0]
    assert NNRegressor(3).fit(X, y).predict([[1.0]]) == [(1 + 2 + 4) / 3]


def test_a_small_training_part_uses_all_its_rows():
    assert NNRegressor(3).fit([[0.0], [1.0]], [2.0, 4.0]).predict([[9.0]]) == [3.0]


def in_order(queries, points, length, skip_self=False):
    """Neighbours by a stable sort of all distances, each a sum over the columns in their order."""
    found = []
    for i, query in enumerate(queries):
        distances = sum((query[c] - points[:, c]) ** 2 for c in range(points.shape[1]))
        rows = np.argsort(distances, kind="stable")
        found.append(rows[rows != i][:length] if skip_self else rows[:length])
    return np.array(found)


@pytest.mark.parametrize(("few", "many"), [(0, 10_000), (0, 100), (500, 10_000)], ids=["tree", "in_place", "all_points"])
@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize("n_columns", [1, 2, 9])
def test_neighbours_are_exact_under_duplicates_and_ties(n_columns, digits, few, many, monkeypatch):
    monkeypatch.setattr("foldshift.learners.neighbours.nearest_regressor.FEW_POINTS", few)
    monkeypatch.setattr("foldshift.core.kdtree.MANY_POINTS", many)
    rng = np.random.default_rng(digits)
    points, queries = (np.round(rng.random((300, n_columns)) * 4, digits) for _ in range(2))
    assert (nearest_rows(points, points, 32, skip_self=True) == in_order(points, points, 32, skip_self=True)).all()
    assert (nearest_rows(queries, points, 5) == in_order(queries, points, 5)).all()
    assert (nearest_rows(queries, points[:4], 4) == in_order(queries, points[:4], 4)).all()


@pytest.mark.parametrize("value", [0, 1.5, True])
def test_a_number_of_neighbours_that_makes_no_sense_is_refused(value):
    with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1"):
        NNRegressor(value).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("n_neighbors", [1, 3, 40])
@pytest.mark.parametrize("decimals", [0, 6])
def test_new_rows_are_predicted_by_the_models_of_the_folds_as_by_each_alone(n_neighbors, decimals):
    rng = np.random.default_rng(3)
    X, new, y = (np.round(4 * rng.random((n, 2)), decimals) for n in (50, 30, 50))
    y, model = y[:, 0], NNRegressor(n_neighbors)
    predict = model.fold_predictor(X, y, new)
    for folds in (np.arange(50) % 2, np.where(X[:, 0] < 3.5, 0, 1), np.arange(50) % 10):
        folds = folds.astype(np.uint8)
        alone = [NNRegressor(n_neighbors).fit(X[folds != f], y[folds != f]).predict(new) for f in range(folds.max() + 1)]
        assert (predict(folds) == alone).all()
