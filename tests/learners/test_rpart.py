"""RPART: hand-computed trees, the definition of the pruned tree, the two paths, the edge cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from factories import plain_predictions, random_folds, tied_regression
from foldshift.learners.trees._presort import presort, to_units
from foldshift.learners.trees.rpart import RPARTRegressor

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


def by_definition(X, y, min_split, min_leaf, complexity, max_depth):
    """Grow in full, then keep, from the bottom up, the subtrees that earn their splits; predictions of the training rows."""
    out = np.empty(len(y))

    def squared(rows):
        return ((y[rows] - y[rows].mean()) ** 2).sum()

    price = complexity * squared(np.arange(len(y)))

    def subtree(rows, depth):
        """Squared error and number of splits below, and the leaves."""
        leaf = squared(rows), 0, [rows]
        if len(rows) < min_split or depth == max_depth:
            return leaf
        best = (1e-9 * max(price, 1e-300), None)
        for f in range(X.shape[1]):
            for a in np.unique(X[rows, f])[1:]:
                left, right = rows[X[rows, f] < a], rows[X[rows, f] >= a]
                if min(len(left), len(right)) >= min_leaf:
                    gain = squared(rows) - squared(left) - squared(right)
                    if gain > best[0] * (1 + 1e-9):
                        best = (gain, (left, right))
        if best[1] is None:
            return leaf
        (risk_a, splits_a, leaves_a), (risk_b, splits_b, leaves_b) = (subtree(part, depth + 1) for part in best[1])
        splits = splits_a + splits_b + 1
        if squared(rows) - risk_a - risk_b > splits * price:
            return risk_a + risk_b, splits, leaves_a + leaves_b
        return leaf

    for rows in subtree(np.arange(len(y)), 0)[2]:
        out[rows] = y[rows].mean()
    return out


def test_scikit_learn_estimator_checks_pass():
    check_estimator(RPARTRegressor())


def test_a_step_is_split_midway_and_printed():
    X = np.arange(20.0)[:, None]
    y = np.where(X[:, 0] < 8, 1.0, 3.0)
    model = RPARTRegressor().fit(X, y)
    assert str(model.tree_).splitlines() == [
        "node) split n deviance mean (* leaf)",
        "1) root 20 19.2 2.2",
        "  2) x0 < 7.5 8 0 1 *",
        "  3) x0 >= 7.5 12 0 3 *",
    ]
    np.testing.assert_array_equal(model.predict([[7.4], [7.5], [-1.0]]), [1.0, 3.0, 1.0])


def test_leaves_hold_at_least_min_leaf_samples():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] < 3).astype(float)
    model = RPARTRegressor().fit(X, y)
    assert model.tree_.threshold[0] == 5.5
    np.testing.assert_allclose(model.predict(X[[0, 19]]), [0.5, 0.0], atol=1e-13)


@pytest.mark.parametrize(("n_samples", "n_nodes"), [(19, 1), (20, 3)])
def test_a_node_with_fewer_samples_than_min_split_is_a_leaf(n_samples, n_nodes):
    X = np.arange(float(n_samples))[:, None]
    model = RPARTRegressor().fit(X, (X[:, 0] < 9).astype(float))
    assert len(model.tree_.feature) == n_nodes


@pytest.mark.parametrize(("complexity", "n_nodes"), [(0.81, 1), (0.79, 3)])
def test_a_split_must_earn_more_than_complexity_times_the_error_of_the_root(complexity, n_nodes):
    # Root error 20 * 1.25 = 25, the split at 9.5 leaves 2 * 10 * 0.25 = 5: it earns 0.8 of the root's error.
    X, y = np.arange(20.0)[:, None], np.repeat([0.0, 1.0, 2.0, 3.0], 5)
    model = RPARTRegressor(min_split=11, complexity=complexity).fit(X, y)
    assert len(model.tree_.feature) == n_nodes


def test_a_weak_split_stays_when_the_splits_below_it_earn_enough_for_both():
    # Exclusive or, slightly unbalanced: the first split earns next to nothing, the two below it the rest.
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0) for _ in range(10)])
    y = (X[:, 0] != X[:, 1]) + 0.02 * X[:, 0]
    tree = RPARTRegressor().fit(X, y).tree_
    assert list(tree.feature) == [0, 1, -1, -1, 1, -1, -1]
    assert len(RPARTRegressor(complexity=0.34).fit(X, y).tree_.feature) == 1


@pytest.mark.parametrize(("max_depth", "n_leaves"), [(1, 2), (2, 4), (3, 8)])
def test_depth_is_limited(max_depth, n_leaves):
    X = np.arange(256.0)[:, None]
    tree = RPARTRegressor(complexity=0, max_depth=max_depth).fit(X, X[:, 0]).tree_
    assert (tree.feature < 0).sum() == n_leaves


@pytest.mark.parametrize("sign", [1, -1])
def test_of_columns_that_part_the_samples_alike_the_first_is_split(sign):
    rng = np.random.default_rng(0)
    x, y = rng.random(200), rng.random(200)
    tree = RPARTRegressor(complexity=0.001).fit(np.column_stack([x, sign * x]), y).tree_
    assert len(tree.feature) > 5
    assert set(tree.feature) == {-1, 0}


def test_a_threshold_between_neighbouring_floats_parts_them():
    a = 1.0 + np.finfo(float).eps
    b = np.nextafter(a, 2)
    assert (a + b) / 2 in (a, b)
    X = np.repeat([np.nextafter(a, 0), a, b], 10)[:, None]
    y = np.repeat([0.0, 0.0, 1.0], 10)
    np.testing.assert_array_equal(RPARTRegressor().fit(X, y).predict(X), y)
    y = np.repeat([0.0, 1.0, 1.0], 10)
    np.testing.assert_array_equal(RPARTRegressor().fit(X, y).predict(X), y)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["continuous", "constant column", "constant y"]),
    n_samples=st.integers(1, 70),
    n_features=st.integers(1, 3),
    min_split=st.integers(2, 12),
    min_leaf=st.integers(1, 5),
    complexity=st.sampled_from([0.0, 0.003, 0.01, 0.05, 0.2]),
    max_depth=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)
def test_the_tree_is_the_fully_grown_one_pruned(kind, n_samples, n_features, min_split, min_leaf, complexity, max_depth, seed):
    X, y = tied_regression(kind, n_samples, n_features, seed)
    # No two splits with equal gain: the definition above leaves those to rounding.
    y = y if kind == "constant y" else y + np.random.default_rng(seed).standard_normal(n_samples)
    parameters = {"min_split": min_split, "min_leaf": min_leaf, "complexity": complexity, "max_depth": max_depth}
    fitted = RPARTRegressor(**parameters).fit(X, y).predict(X)
    np.testing.assert_allclose(fitted, by_definition(X, y, **parameters), rtol=0, atol=1e-11)


@pytest.mark.parametrize("complexity", [0.005, 0.02, 0.05, 0.1])
def test_growth_stops_early_only_where_pruning_would_undo_it(complexity):
    # Parities: splits that earn little or nothing by themselves, above splits that earn much.
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (150, 4)) + 0.1 * rng.integers(0, 2, (150, 4))
        parity = (X[:, 0] > 1) ^ (X[:, 1] > 1) ^ (X[:, 2] > 1.5)
        y = parity + rng.uniform(0.05, 0.6) * rng.standard_normal(150)
        parameters = {"min_split": 4, "min_leaf": 2, "complexity": complexity, "max_depth": 6}
        fitted = RPARTRegressor(**parameters).fit(X, y).predict(X)
        np.testing.assert_allclose(fitted, by_definition(X, y, **parameters), rtol=0, atol=1e-11)


def test_the_best_split_of_many_positions_is_found():
    for seed in range(200):
        X, y = tied_regression("continuous", 700, 3, seed)
        left_sums = [np.cumsum((y - y.mean())[np.argsort(column)])[5:-6] for column in X.T]
        n_left = np.arange(6, 695)
        gains = np.array(left_sums) ** 2 / (n_left * (700 - n_left))
        best = gains.argmax() // len(n_left)
        tree = RPARTRegressor(complexity=0, max_depth=1).fit(X, y).tree_
        assert (tree.feature[0], tree.n_samples[1]) == (best, n_left[gains[best].argmax()])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(KINDS),
    n_samples=st.integers(4, 120),
    n_features=st.integers(1, 5),
    n_folds=st.integers(2, 4),
    dtype=st.sampled_from([np.uint8, np.uint16]),
    complexity=st.sampled_from([0.0, 0.01]),
    seed=st.integers(0, 10**6),
)
def test_shared_path_gives_the_bits_of_the_plain_path(kind, n_samples, n_features, n_folds, dtype, complexity, seed):
    X, y = tied_regression(kind, n_samples, n_features, seed)
    folds = random_folds(n_samples, n_folds, 2, dtype)
    model = RPARTRegressor(min_split=6, min_leaf=2, complexity=complexity)
    np.testing.assert_array_equal(model.predict_folds(X, y, folds), plain_predictions(model, X, y, folds))


def test_many_folds_and_two_rows_per_fold_give_the_bits_of_the_plain_path():
    X, y = tied_regression("grid", 600, 3, 1)
    folds = random_folds(600, 300, 1, np.uint16)
    np.testing.assert_array_equal(RPARTRegressor().predict_folds(X, y, folds), plain_predictions(RPARTRegressor(), X, y, folds))


def test_more_columns_than_rows_are_fitted():
    X, y = tied_regression("continuous", 30, 50, 2)
    folds = random_folds(30, 3, 2)
    model = RPARTRegressor(min_split=4, min_leaf=2)
    np.testing.assert_array_equal(model.predict_folds(X, y, folds), plain_predictions(model, X, y, folds))


def test_without_a_split_the_prediction_is_the_mean():
    X, y = tied_regression("continuous", 19, 2, 3)
    half_unit = np.ptp(y) * 2.0**-46  # the unit is at most 2**-45 of the range
    np.testing.assert_allclose(RPARTRegressor().fit(X, y).predict(X), y.mean(), rtol=0, atol=half_unit)
    assert RPARTRegressor().fit(X[:1], y[:1]).predict(X[5:6])[0] == y[0]
    assert RPARTRegressor().fit(X, np.full(19, 0.1)).predict(X)[0] == 0.1


@pytest.mark.parametrize(("scale", "shift"), [(1e-300, 0.0), (1e-9, 1.0), (1e9, 1e9), (1e150, 0.0), (1.0, -1e6)])
def test_the_tree_does_not_depend_on_the_unit_of_the_target(scale, shift):
    X, y = tied_regression("continuous", 300, 3, 4)
    expected, got = RPARTRegressor().fit(X, y).tree_, RPARTRegressor().fit(X, y * scale + shift).tree_
    np.testing.assert_array_equal(got.feature, expected.feature)
    np.testing.assert_array_equal(got.threshold, expected.threshold)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_split": 0}, "min_split=0 must be an integer of at least 1"),
        ({"min_leaf": 2.0}, "min_leaf=2.0 must be an integer of at least 1"),
        ({"max_depth": True}, "max_depth=True must be an integer of at least 1"),
        ({"complexity": -0.1}, "complexity=-0.1 must be a finite number of at least 0"),
        ({"complexity": "a"}, "complexity='a' must be a finite number of at least 0"),
    ],
)
def test_an_impossible_parameter_is_named_with_its_value(parameters, message):
    X, y = tied_regression("grid", 10, 2, 5)
    with pytest.raises(ValueError, match=f"^{message}$"):
        RPARTRegressor(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=f"^{message}$"):
        RPARTRegressor(**parameters).predict_folds(X, y, random_folds(10, 2, 1))


def test_presort_orders_every_column_and_codes_its_distinct_values():
    X = np.array([[3.0, 1.0], [1.0, 1.0], [3.0, 1.0], [2.0, 1.0]])
    order, codes, values = presort(X)
    np.testing.assert_array_equal(order, [[1, 3, 0, 2], [0, 1, 2, 3]])
    np.testing.assert_array_equal(codes, [[2, 0, 2, 1], [0, 0, 0, 0]])
    np.testing.assert_array_equal(values, [[1, 2, 3, np.nan], [1, np.nan, np.nan, np.nan]])


def test_units_are_powers_of_two_and_leave_room_for_the_sum():
    y = np.array([0.3, -0.7, 5.0, 0.3])
    units = np.full(4, -1)
    low, unit = to_units(y, np.array([True, True, False, True]), units)
    assert (low, unit) == (-0.7, 2.0**-46)
    np.testing.assert_array_equal(units, [2**46, 0, -1, 2**46])
    many = np.zeros(2**16)
    many[0] = 1.0
    units = np.empty(2**16, dtype=np.int64)
    assert to_units(many, np.ones(2**16, bool), units)[1] == 2.0**-43
    assert units[0] == 2**43
