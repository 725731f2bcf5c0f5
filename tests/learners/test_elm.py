"""ELM: the definition, the two paths, the edge cases."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from factories import plain_predictions, random_folds
from foldshift.engine.config.learners_file import read_learners
from foldshift.evaluation import evaluate_cell
from foldshift.evaluation.learner import build_learner
from foldshift.learners.linear.elm import ELMRegressor

LEARNERS = Path(__file__).parents[2] / "config" / "learners.yaml"


def make_data(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(n_samples)
    return X, (y - y.min()) / (y.max() - y.min())


def by_definition(X, y, X_new, weights, tolerance):
    """Output by a singular value decomposition of the hidden layer, with an absolute tolerance."""
    left, values, right = np.linalg.svd(np.exp(-((X @ weights) ** 2)), full_matrices=False)
    kept = values > tolerance
    output_weights = right[kept].T @ ((left[:, kept].T @ y) / values[kept])
    return np.exp(-((X_new @ weights) ** 2)) @ output_weights


def test_scikit_learn_estimator_checks_pass():
    check_estimator(ELMRegressor())


@pytest.mark.parametrize("tolerance", [0.01, 1.0])
@pytest.mark.parametrize(("n_samples", "n_features"), [(300, 4), (300, 1), (12, 6), (3, 5)])
def test_output_is_that_of_the_pseudo_inverse_with_an_absolute_tolerance(n_samples, n_features, tolerance):
    X, y = make_data(n_samples, n_features)
    model = ELMRegressor(tolerance=tolerance).fit(X, y)
    expected = by_definition(X, y, X, model.hidden_weights_, tolerance)
    np.testing.assert_allclose(model.predict(X), expected, rtol=0, atol=1e-8)


def test_tolerance_is_absolute_and_a_singular_value_equal_to_it_is_dropped():
    # One row, one unit, input 0: H = [[1]], and its singular value is exactly 1.
    X, y = np.zeros((1, 1)), np.array([3.0])
    assert ELMRegressor(n_hidden=1, tolerance=0.999).fit(X, y).predict(X)[0] == 3.0
    assert ELMRegressor(n_hidden=1, tolerance=1.0).fit(X, y).predict(X)[0] == 0.0
    # Four such rows have the singular value 2.
    X, y = np.zeros((4, 1)), np.array([3.0, 3.0, 5.0, 5.0])
    assert ELMRegressor(n_hidden=1, tolerance=1.999).fit(X, y).predict(X[:1])[0] == 4.0
    assert ELMRegressor(n_hidden=1, tolerance=2.0).fit(X, y).predict(X[:1])[0] == 0.0


def test_units_with_the_same_output_share_the_weight():
    X, y = np.zeros((3, 2)), np.full(3, 6.0)
    np.testing.assert_allclose(ELMRegressor(n_hidden=4).fit(X, y).output_weights_, 1.5, rtol=1e-12)


def test_hidden_weights_are_the_same_in_every_fit_with_the_same_random_state():
    X, y = make_data(50, 3)
    first = ELMRegressor(random_state=5).fit(X, y).hidden_weights_
    second = ELMRegressor(random_state=5).fit(X[:20], -y[:20]).hidden_weights_
    other = ELMRegressor(random_state=6).fit(X, y).hidden_weights_
    np.testing.assert_array_equal(first, np.random.RandomState(5).standard_normal((3, 20)))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    n_samples=st.integers(4, 60),
    n_features=st.integers(1, 6),
    n_folds=st.integers(2, 4),
    kind=st.sampled_from(["plain", "constant column", "constant y", "duplicates", "large y", "zero y", "outlier"]),
    dtype=st.sampled_from([np.uint8, np.uint16]),
    seed=st.integers(0, 1000),
)
def test_shared_path_gives_the_bits_of_the_plain_path(n_samples, n_features, n_folds, kind, dtype, seed):
    X, y = make_data(n_samples, n_features, seed)
    if kind == "constant column":
        X[:, -1] = 0.5
    elif kind == "constant y":
        y[:] = 0.3
    elif kind == "duplicates":
        X[::2], y[::2] = X[0], y[0]
    elif kind == "large y":
        y *= -1e9
    elif kind == "zero y":
        y[:] = 0
    elif kind == "outlier":  # the units of y differ between the fits
        y[0] = 1e6
    folds = random_folds(n_samples, n_folds, 2, dtype)
    model = ELMRegressor()
    np.testing.assert_array_equal(model.predict_folds(X, y, folds), plain_predictions(model, X, y, folds))


def test_many_rows_and_folds_give_the_same_bits_in_both_paths():
    X, y = make_data(1500, 3)
    folds = random_folds(1500, 300, 1, np.uint16)
    model = ELMRegressor()
    np.testing.assert_array_equal(model.predict_folds(X, y, folds), plain_predictions(model, X, y, folds))


def test_random_states_are_ignored_when_the_estimator_has_an_int():
    X, y = make_data(30, 2)
    folds = random_folds(30, 3, 2)
    states = np.arange(6, dtype=np.uint32).reshape(2, 3)
    with_states = ELMRegressor(random_state=1).predict_folds(X, y, folds, states)
    np.testing.assert_array_equal(with_states, ELMRegressor(random_state=1).predict_folds(X, y, folds))


def test_random_states_draw_the_weights_of_every_fit_when_the_estimator_has_none():
    X, y = make_data(30, 2)
    folds = random_folds(30, 3, 2)
    states = np.arange(6, dtype=np.uint32).reshape(2, 3)
    predictions = ELMRegressor(random_state=None).predict_folds(X, y, folds, states)
    train = folds[1] != 2
    expected = ELMRegressor(random_state=5).fit(X[train], y[train]).predict(X[~train])
    np.testing.assert_array_equal(predictions[1, ~train], expected)


def test_a_random_state_object_is_used_fit_after_fit():
    X, y = make_data(30, 2)
    folds = random_folds(30, 3, 2)
    shared = ELMRegressor(random_state=np.random.RandomState(3)).predict_folds(X, y, folds)
    np.testing.assert_array_equal(shared, plain_predictions(ELMRegressor(random_state=np.random.RandomState(3)), X, y, folds))


@pytest.mark.parametrize("n_rows", [1, 2])
def test_one_or_two_training_rows_are_fitted(n_rows):
    X, y = make_data(10, 3)
    model = ELMRegressor(tolerance=1e-4).fit(X[:n_rows], y[:n_rows])
    np.testing.assert_allclose(model.predict(X[:n_rows]), y[:n_rows], atol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_hidden": 0}, "n_hidden=0 must be an integer of at least 1"),
        ({"n_hidden": 2.5}, "n_hidden=2.5 must be an integer of at least 1"),
        ({"tolerance": -0.1}, "tolerance=-0.1 must be a finite number of at least 0"),
    ],
)
def test_bad_parameters_are_named_with_the_value_and_what_is_allowed(parameters, message):
    X, y = make_data(10, 2)
    with pytest.raises(ValueError, match=message):
        ELMRegressor(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=message):
        ELMRegressor(**parameters).predict_folds(X, y, random_folds(10, 2, 1))


def test_the_studys_error_varies_over_partitions_as_that_of_one_draw_of_the_weights_does():
    # It was the average of ten draws, which varies less (.5 to .6 times as much on the paper's data sets).
    X, y = make_data(60, 3)
    folds = random_folds(60, 2, 100)
    entry = read_learners(LEARNERS)["ELM"]
    spread = evaluate_cell(build_learner(entry), X, y, folds)["rmse"].mean(axis=1).std()
    each = []
    for draw in range(10):
        squares = (plain_predictions(ELMRegressor(n_hidden=20, tolerance=0.01, random_state=draw), X, y, folds) - y) ** 2
        each.append(
            np.mean([np.sqrt([row[fold == test].mean() for row, fold in zip(squares, folds)]) for test in (0, 1)], axis=0)
        )
    assert spread == pytest.approx(each[0].std())
    assert np.mean(each, axis=0).std() < 0.75 * np.mean([one.std() for one in each])
