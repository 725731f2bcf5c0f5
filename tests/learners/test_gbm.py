"""GBM: hand-computed trees, boosting by definition, the drawing of samples, the two paths, the edge cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from factories import plain_predictions, random_folds, tied_regression
from foldshift.learners.trees.gbm import GBMRegressor, leave_out

KINDS = [
    "grid",
    "continuous",
    "constant column",
    "constant y",
    "duplicate rows",
    "duplicate columns",
    "mirrored column",
    "outlier",
]


def by_definition(X, y, n_trees, learning_rate, bag_fraction, min_node, random_state):
    """Boosting by exhaustive search in the same bags; predictions of the training rows."""
    n = len(y)
    n_out = n - max(1, int(bag_fraction * n))
    rows, state = np.arange(n, dtype=np.uint32), np.uint64(random_state)
    prediction = np.full(n, y.mean())
    for _ in range(n_trees):
        state = np.uint64(leave_out(rows, n_out, state))
        bag = np.sort(rows[n_out:])
        residual = y[bag] - prediction[bag]
        best, step = 1e-12 * (y**2).sum(), np.full(n, residual.mean())
        for f in range(X.shape[1]):
            x = X[bag, f]
            distinct = np.unique(x)
            for threshold in (distinct[1:] + distinct[:-1]) / 2:
                left = x < threshold
                if min(left.sum(), (~left).sum()) >= min_node:
                    means = residual[left].mean(), residual[~left].mean()
                    gain = (residual**2).sum() - ((residual - np.where(left, *means)) ** 2).sum()
                    if gain > best * (1 + 1e-9):
                        best, step = gain, np.where(X[:, f] < threshold, *means)
        prediction = prediction + learning_rate * step
    return prediction


def test_scikit_learn_estimator_checks_pass():
    check_estimator(GBMRegressor())


def test_one_tree_of_all_samples_splits_midway_and_steps_by_the_learning_rate():
    X = np.arange(20.0)[:, None]
    y = np.where(X[:, 0] < 8, 1.0, 3.0)
    model = GBMRegressor(n_trees=2, bag_fraction=1, min_node=5).fit(X, y)
    assert model.init_ == pytest.approx(2.2, abs=1e-13)
    np.testing.assert_array_equal(model.features_, [0, 0])
    np.testing.assert_array_equal(model.thresholds_, [7.5, 7.5])
    np.testing.assert_allclose(model.steps_, [[-0.12, 0.08], [-0.108, 0.072]], rtol=0, atol=1e-13)
    np.testing.assert_allclose(model.predict([[7.4], [7.5]]), [1.972, 2.352], rtol=0, atol=1e-13)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    n_samples=st.integers(1, 60),
    n_features=st.integers(1, 4),
    learning_rate=st.sampled_from([0.05, 0.1, 0.5, 1.0]),
    bag_fraction=st.sampled_from([0.3, 0.8, 1.0]),
    min_node=st.integers(1, 12),
    seed=st.integers(0, 10**6),
)
def test_it_is_boosting_by_exhaustive_search(n_samples, n_features, learning_rate, bag_fraction, min_node, seed):
    X, y = tied_regression("continuous", n_samples, n_features, seed)
    parameters = {
        "n_trees": 8,
        "learning_rate": learning_rate,
        "bag_fraction": bag_fraction,
        "min_node": min_node,
        "random_state": seed,
    }
    fitted = GBMRegressor(**parameters).fit(X, y).predict(X)
    np.testing.assert_allclose(fitted, by_definition(X, y, **parameters), rtol=0, atol=1e-11)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(KINDS),
    n_samples=st.integers(4, 120),
    n_features=st.integers(1, 5),
    n_folds=st.integers(2, 4),
    bag_fraction=st.sampled_from([0.1, 0.5, 0.8, 1.0]),
    min_node=st.sampled_from([1, 3, 10]),
    dtype=st.sampled_from([np.uint8, np.uint16]),
    seed=st.integers(0, 10**6),
)
def test_shared_path_gives_the_bits_of_the_plain_path(kind, n_samples, n_features, n_folds, bag_fraction, min_node, dtype, seed):
    X, y = tied_regression(kind, n_samples, n_features, seed)
    folds = random_folds(n_samples, n_folds, 2, dtype)
    states = np.random.default_rng(seed).integers(0, 2**32, (2, n_folds), dtype=np.uint32)
    model = GBMRegressor(n_trees=15, bag_fraction=bag_fraction, min_node=min_node)
    np.testing.assert_array_equal(model.predict_folds(X, y, folds, states), plain_predictions(model, X, y, folds, states))


def test_many_folds_and_two_rows_per_fold_give_the_bits_of_the_plain_path():
    X, y = tied_regression("grid", 600, 3, 1)
    folds = random_folds(600, 300, 1, np.uint16)
    states = np.arange(300, dtype=np.uint32)[None]
    model = GBMRegressor(n_trees=20)
    np.testing.assert_array_equal(model.predict_folds(X, y, folds, states), plain_predictions(model, X, y, folds, states))


def test_more_columns_than_rows_are_fitted():
    X, y = tied_regression("continuous", 30, 50, 2)
    folds = random_folds(30, 3, 2)
    states = np.arange(6, dtype=np.uint32).reshape(2, 3)
    model = GBMRegressor(min_node=2)
    np.testing.assert_array_equal(model.predict_folds(X, y, folds, states), plain_predictions(model, X, y, folds, states))


def test_the_same_random_state_gives_the_same_model_and_another_one_another():
    X, y = tied_regression("continuous", 100, 3, 3)
    first = GBMRegressor(random_state=5).fit(X, y).predict(X)
    np.testing.assert_array_equal(GBMRegressor(random_state=5).fit(X, y).predict(X), first)
    np.testing.assert_array_equal(GBMRegressor(random_state=np.int64(5)).fit(X, y).predict(X), first)
    assert not np.array_equal(GBMRegressor(random_state=6).fit(X, y).predict(X), first)


def test_without_random_states_every_fit_uses_the_int_of_the_estimator():
    X, y = tied_regression("continuous", 60, 3, 4)
    folds = random_folds(60, 3, 2)
    states = np.full((2, 3), 9, dtype=np.uint32)
    expected = GBMRegressor().predict_folds(X, y, folds, states)
    np.testing.assert_array_equal(GBMRegressor(random_state=9).predict_folds(X, y, folds), expected)


def test_a_random_state_object_is_used_fit_after_fit():
    X, y = tied_regression("continuous", 60, 3, 4)
    folds = random_folds(60, 3, 2)
    one_by_one = np.empty(folds.shape)
    model = GBMRegressor(random_state=np.random.RandomState(3))
    for row, fold in enumerate(folds):
        for test in range(3):
            one_by_one[row, fold == test] = model.fit(X[fold != test], y[fold != test]).predict(X[fold == test])
    shared = GBMRegressor(random_state=np.random.RandomState(3)).predict_folds(X, y, folds)
    np.testing.assert_array_equal(shared, one_by_one)


def test_none_draws_anew_for_every_fit():
    X, y = tied_regression("continuous", 60, 3, 4)
    folds = np.repeat(random_folds(60, 2, 1), 2, axis=0)
    first, second = GBMRegressor().predict_folds(X, y, folds)
    assert not np.array_equal(first, second)


def test_every_set_of_rows_is_left_out_equally_often():
    n, n_out, n_draws = 7, 3, 70_000
    state = np.uint64(1)
    left_out = np.zeros((n_draws, n), dtype=int)
    for draw in left_out:
        rows = np.arange(n, dtype=np.uint32)  # afresh: a biased draw from the last order could be even in the long run
        state = np.uint64(leave_out(rows, n_out, state))
        draw[rows[:n_out]] = 1
    assert (left_out.sum(axis=1) == n_out).all()
    sets = left_out @ 2 ** np.arange(n)
    counts = np.bincount(sets, minlength=2**n)
    counts = counts[counts > 0]
    assert len(counts) == 35
    # Chi-squared with 34 degrees of freedom: above 73.5 once in ten thousand.
    assert ((counts - 2000) ** 2 / 2000).sum() < 73.5


@pytest.mark.parametrize(
    ("n_samples", "bag_fraction", "n_drawn"), [(1, 0.8, 1), (4, 0.8, 3), (9, 0.5, 4), (7, 1, 7), (5, 0.1, 1)]
)
def test_a_tree_draws_the_floor_of_its_share_but_at_least_one_sample(n_samples, bag_fraction, n_drawn):
    # Without a permitted split a tree steps to the mean of its bag. Targets are powers of two, so the mean tells who was drawn.
    y = 2.0 ** np.arange(n_samples)
    X = np.zeros((n_samples, 1))
    drawn = set()
    for seed in range(40):
        model = GBMRegressor(n_trees=1, learning_rate=1, bag_fraction=bag_fraction, random_state=seed).fit(X, y)
        assert model.features_[0] == -1
        total = model.predict(X[:1])[0] * n_drawn
        assert abs(total - round(total)) < 1e-9
        assert bin(round(total)).count("1") == n_drawn
        drawn.add(round(total))
    assert (len(drawn) > 1) == (n_drawn < n_samples)


@pytest.mark.parametrize(("n_samples", "splits"), [(19, False), (20, True)])
def test_either_side_of_a_split_holds_at_least_min_node_drawn_samples(n_samples, splits):
    X = np.arange(float(n_samples))[:, None]
    model = GBMRegressor(bag_fraction=1, n_trees=1).fit(X, (X[:, 0] < 2).astype(float))
    assert (model.features_[0] == 0) == splits
    if splits:
        assert model.thresholds_[0] == 9.5


@pytest.mark.parametrize("sign", [1, -1])
def test_of_columns_that_part_the_samples_alike_the_first_is_split(sign):
    rng = np.random.default_rng(0)
    x, y = rng.random(200), rng.random(200)
    model = GBMRegressor(random_state=0).fit(np.column_stack([x, sign * x]), y)
    assert set(model.features_) == {0}


def test_constant_target_is_predicted_exactly():
    X, y = tied_regression("constant y", 40, 3, 6)
    np.testing.assert_array_equal(GBMRegressor(random_state=0).fit(X, y).predict(X), 0.1)
    folds = random_folds(40, 2, 1)
    np.testing.assert_array_equal(GBMRegressor(random_state=0).predict_folds(X, y, folds), 0.1)


def test_a_single_training_row_is_predicted():
    assert GBMRegressor(random_state=0).fit([[1.0]], [3.0]).predict([[2.0]])[0] == 3.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trees": 0}, "n_trees=0 must be an integer of at least 1"),
        ({"min_node": 1.5}, "min_node=1.5 must be an integer of at least 1"),
        ({"learning_rate": 0}, "learning_rate=0 must be a number above 0 and at most 1"),
        ({"bag_fraction": 1.1}, "bag_fraction=1.1 must be a number above 0 and at most 1"),
        ({"max_depth": 2}, "max_depth=2 must be 1: GBMRegressor boosts trees of one split only"),
    ],
)
def test_an_impossible_parameter_is_named_with_its_value(parameters, message):
    X, y = tied_regression("grid", 10, 2, 5)
    with pytest.raises(ValueError, match=f"^{message}$"):
        GBMRegressor(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=f"^{message}$"):
        GBMRegressor(**parameters).predict_folds(X, y, random_folds(10, 2, 1))


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_outside_32_bits_is_refused(seed):
    with pytest.raises(ValueError, match="Seed must be between 0 and"):
        GBMRegressor(random_state=seed).fit([[0.0], [1.0]], [0.0, 1.0])
