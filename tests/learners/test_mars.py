"""MARS: known functions, a slow reference for every step, the two paths, the edge cases. R's earth: tests/oracles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from factories import plain_predictions, random_folds
from foldshift.learners.linear._mars_passes import Settings, backward, forward, knot_grid
from foldshift.learners.linear.mars import MARSRegressor, Term, _presort, _workspace


def make_data(n_samples, n_features, seed=0, kind="even"):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features))
    y = np.abs(X[:, 0] - 0.4) + X[:, -1] ** 2 + 0.05 * rng.standard_normal(n_samples)
    if kind == "constant column":
        X[:, -1] = 0.5
    elif kind == "constant y":
        y[:] = 0.3
    elif kind == "duplicate rows":
        X[::2], y[::2] = X[0], y[0]
    elif kind == "ties":
        X = np.round(5 * X) / 5
    elif kind == "binary":
        X[:, 0] = X[:, 0] > 0.7
    elif kind == "same column twice":
        X[:, -1] = X[:, 0]
    elif kind == "noise":
        y = rng.standard_normal(n_samples)
    elif kind == "masked":  # neither of two columns shows alone what their difference shows
        hidden = rng.standard_normal(n_samples)
        X[:, 0], X[:, -1] = 5 * X[:, 0] + 0.05 * hidden, 5 * X[:, 0] - 0.05 * hidden
        y = hidden + 0.01 * rng.standard_normal(n_samples)
    return X, y


def column_of(term, X):
    x = X[:, term.feature]
    return x if term.sign == 0 else np.maximum(0, term.sign * (x - term.knot))


def forward_pass(X, y, max_terms=21, threshold=0.001, penalty=2.0):
    """Terms of the forward pass, without the intercept, and the loadings and scores for the backward pass."""
    settings = Settings(max_terms, threshold, penalty, 0, 0)
    model = forward(_presort(X), y - y.mean(), settings, _workspace(X, max_terms))
    terms = [Term(*term) for term in zip(model.features, model.knots, model.signs)]
    return terms, model.loadings, model.scores


def residual(columns, target):
    design = np.column_stack([np.ones(len(target)), *columns])
    return target - design @ np.linalg.lstsq(design, target, rcond=None)[0]


def slow_forward_pass(X, y, max_terms=21, threshold=0.001, penalty=2.0):
    """The forward pass with a new least-squares fit for every knot of every step."""

    def gcv(rss, n_terms):
        n_parameters = n_terms + penalty * (n_terms - 1) / 2
        return np.inf if n_parameters >= len(y) else rss / (1 - n_parameters / len(y)) ** 2

    values = _presort(X).values
    highest, min_span, n_knots = knot_grid(values, 0, 0)
    total = rss = np.sum((y - y.mean()) ** 2)
    last_gain = np.inf
    terms, columns = [], []
    for step in range(2, max_terms, 2):
        tolerance = 0.01 if step < 16 else 1e-5
        best = (0.0, None)
        for j in range(X.shape[1]):
            linear = residual(columns, X[:, j])
            is_new = linear @ linear >= 0.01
            with_linear = [*columns, X[:, j]] if is_new else columns
            gain = rss - np.sum(residual(with_linear, y) ** 2)
            if is_new and gain > best[0]:
                best = (gain, [Term(j, 0.0, 0)])
            for which in range(n_knots[j]):
                knot = values[j, highest[j] - which * min_span]
                hinge = np.maximum(0, X[:, j] - knot)
                left = residual(with_linear, hinge)
                if left @ left <= tolerance * np.sum((hinge - hinge.mean()) ** 2):
                    continue
                gain = rss - np.sum(residual([*with_linear, hinge], y) ** 2)
                # Equal gains (tied knots, repeated columns) differ by rounding here; the first one counts.
                if gain > best[0] + 1e-9 * total and gain < 10 * last_gain:
                    best = (gain, [Term(j, knot, 1), Term(j, knot, -1)] if is_new else [Term(j, knot, 1)])
        gain, added = best
        if added is None or gain < threshold * total:
            break
        if 1 - gcv(max(0.0, rss - gain), len(terms) + 1 + len(added)) / gcv(total, 1) < -10:
            break
        terms += added
        columns += [column_of(term, X) for term in added]
        rss -= gain
        last_gain = gain
        if rss <= threshold * total:
            break
    return terms


def test_scikit_learn_estimator_checks_pass():
    check_estimator(MARSRegressor())


def test_a_knot_on_the_grid_is_found_and_the_function_is_exact():
    x = np.linspace(0, 1, 101)
    knot = x[50]
    y = 3 + 2 * np.maximum(0, x - knot) - 5 * np.maximum(0, knot - x)
    model = MARSRegressor(min_span=1, end_span=1).fit(x[:, None], y)
    assert model.terms_ == [Term(-1, 0.0, 0), Term(0, knot, 1), Term(0, knot, -1)]
    np.testing.assert_allclose(model.coefficients_, [3, 2, -5], rtol=1e-10)


def test_str_lists_the_terms_with_their_coefficients():
    x = np.linspace(0, 1, 101)
    y = 3 + 2 * np.maximum(0, x - 0.5) - 5 * np.maximum(0, 0.5 - x)
    model = MARSRegressor(min_span=1, end_span=1)
    assert str(model) == "MARSRegressor(end_span=1, min_span=1)"
    lines = [line.split() for line in str(model.fit(x[:, None], y)).splitlines()]
    assert lines == [["(Intercept)", "3"], ["h(x0-0.5)", "2"], ["h(0.5-x0)", "-5"]]


def test_a_binary_predictor_enters_linearly():
    X = (np.arange(60)[:, None] % 3 == 0).astype(float)
    y = 1 + 4 * X[:, 0] + 0.1 * np.sin(np.arange(60))
    assert MARSRegressor().fit(X, y).terms_ == [Term(-1, 0.0, 0), Term(0, 0.0, 0)]


def test_a_predictor_enters_linearly_from_a_residual_sum_of_squares_of_one_hundredth():
    # The three models are those of earth on the same data.
    rows = np.arange(40)
    half = rows[:, None] % 2 * 1.0  # 0 and v: the sum of squares is 10 v^2
    y = half[:, 0] + 0.01 * np.sin(rows)
    assert MARSRegressor().fit(0.0317 * half, y).terms_[1:] == [Term(0, 0.0, 0)]
    assert MARSRegressor().fit(0.0316 * half, y).terms_[1:] == [Term(0, 0.0, 1)]  # the same values, as a hinge
    most = (rows[:, None] >= 10) * 1.0  # too many samples at the maximum for a knot
    assert MARSRegressor().fit(0.0365 * most, most[:, 0] + 0.01 * np.sin(rows)).terms_[1:] == []


def test_a_knot_that_gains_more_than_ten_times_the_last_step_is_passed_over_for_the_linear_term():
    X, y = make_data(200, 2, seed=1, kind="masked")
    terms, _, _ = forward_pass(X, y)
    assert [term.sign for term in terms[:3]] == [1, -1, 0]
    assert terms[0].feature != terms[2].feature


def test_noise_on_few_samples_ends_the_forward_pass_before_grsq_falls_below_minus_ten():
    X, y = make_data(14, 4, seed=3, kind="noise")
    terms, _, _ = forward_pass(X, y)
    n_parameters = 2 * (len(terms) + 1) - 1
    rss = np.sum(residual([column_of(term, X) for term in terms], y) ** 2)
    null = np.sum((y - y.mean()) ** 2) / (1 - 1 / 14) ** 2
    assert 0 < len(terms) < 8
    assert 1 - rss / (1 - n_parameters / 14) ** 2 / null >= -10


def test_a_perfect_fit_ends_the_forward_pass_even_without_a_threshold():
    x = np.linspace(0, 1, 101)
    X = np.column_stack([x, np.sin(37 * x), np.cos(59 * x)])
    y = np.maximum(0, x - x[50]) - 3 * np.maximum(0, x[50] - x)
    settings = Settings(21, 0.0, 2.0, 1, 1)
    features = forward(_presort(X), y - y.mean(), settings, _workspace(X, 21)).features
    assert features.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("n_samples", "n_features", "first_last_distance"),
    # earth's trace: minspan, and the first and last case (counted from 1) that it considers as a knot
    [(40, 1, (32, 8, 3)), (60, 2, (50, 10, 4)), (30, 1, (23, 8, 3)), (135, 17, (122, 14, 6)), (20, 17, (10, 10, 5))],
)
def test_automatic_knots_are_where_earth_puts_them(n_samples, n_features, first_last_distance):
    values = np.tile(np.arange(n_samples, dtype=float), (n_features, 1))
    highest, distance, n_knots = knot_grid(values, 0, 0)
    first = highest[0] + 1
    assert (first, first - (n_knots[0] - 1) * distance, distance) == first_last_distance


@pytest.mark.parametrize(
    ("n_samples", "min_span", "end_span", "cases"),
    [  # from earth's trace
        (20, 2, 1, [18, 16, 14, 12, 10, 8, 6, 4, 2]),
        (20, 6, 1, [16, 10, 4]),
        (21, 5, 8, [11]),
        (22, 4, 3, [17, 13, 9, 5]),
        (23, 3, 5, [18, 15, 12, 9, 6]),
        (50, 5, 8, [40, 35, 30, 25, 20, 15, 10]),
    ],
)
def test_chosen_spans_give_the_knots_of_earth(n_samples, min_span, end_span, cases):
    highest, distance, n_knots = knot_grid(np.arange(n_samples, dtype=float)[None], min_span, end_span)
    assert [highest[0] + 1 - which * distance for which in range(n_knots[0])] == cases


def test_samples_tied_at_the_maximum_count_as_one():
    # earth's trace for 60 samples of one predictor, 15 of them tied at the maximum
    values = np.minimum(np.arange(60.0), 45.0)[None]
    highest, distance, n_knots = knot_grid(values, 0, 0)
    assert [highest[0] + 1 - which * distance for which in range(n_knots[0])] == [38, 34, 30, 26, 22, 18, 14, 10]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    n_samples=st.integers(8, 90),
    n_features=st.integers(1, 4),
    kind=st.sampled_from(["even", "ties", "binary", "constant column", "duplicate rows", "same column twice", "noise", "masked"]),
    seed=st.integers(0, 10_000),
)
def test_updated_sums_lead_to_the_terms_of_a_new_fit_for_every_knot(n_samples, n_features, kind, seed):
    X, y = make_data(n_samples, n_features, seed, kind)
    assert forward_pass(X, y)[0] == slow_forward_pass(X, y)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(n_samples=st.integers(30, 120), n_features=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_loadings_and_scores_stand_for_the_terms_and_the_target(n_samples, n_features, seed):
    X, y = make_data(n_samples, n_features, seed)
    terms, loadings, scores = forward_pass(X, y)
    columns = np.column_stack([column_of(term, X) - column_of(term, X).mean() for term in terms])
    np.testing.assert_allclose(loadings.T @ loadings, columns.T @ columns, atol=1e-10)
    np.testing.assert_allclose(loadings.T @ scores, columns.T @ (y - y.mean()), atol=1e-10)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(n_terms=st.integers(1, 9), penalty=st.sampled_from([0.0, 2.0, 4.0]), seed=st.integers(0, 10_000))
def test_backward_pass_is_at_least_as_good_as_plain_elimination_and_no_better_than_all_subsets(n_terms, penalty, seed):
    rng = np.random.default_rng(seed)
    loadings = np.triu(rng.standard_normal((n_terms, n_terms))) + 3 * np.eye(n_terms)
    scores = rng.standard_normal(n_terms) * rng.random(n_terms)
    total, n_samples = np.sum(scores**2) + 2.0, 60

    def gcv(subset):
        left = scores.copy()
        if subset:
            columns = loadings[:, subset]
            left -= columns @ np.linalg.lstsq(columns, scores, rcond=None)[0]
        n_parameters = len(subset) + 1 + penalty * len(subset) / 2
        return (total - np.sum(scores**2) + left @ left) / (1 - n_parameters / n_samples) ** 2

    chosen = gcv(list(backward(loadings, scores, total, n_samples, penalty)))
    remaining = list(range(n_terms))
    eliminated = [gcv(remaining)]
    while remaining:
        remaining = min(
            ([term for term in remaining if term != out] for out in remaining),
            key=lambda subset: gcv(subset) / (1 - (len(subset) + 1 + penalty * len(subset) / 2) / n_samples) ** -2,
        )
        eliminated.append(gcv(remaining))
    best = min(gcv([term for term in range(n_terms) if mask >> term & 1]) for mask in range(2**n_terms))
    assert best * (1 - 1e-12) <= chosen <= min(eliminated) * (1 + 1e-12)


def test_backward_pass_remembers_a_leading_subset_that_elimination_left():
    # a + b is the target, and c alone is close to it: elimination drops c first and cannot come back to c alone, which
    # has the lowest GCV. Where c leads the order it was seen.
    a, b, c = np.array([1.0, 1.0, 0.1]), np.array([1.0, -1.0, -0.1]), np.array([2.0, 0.0, 0.5])
    target = np.array([2.0, 0.0, 0.0])
    for columns, expected in (([c, a, b], [0]), ([a, b, c], [0, 1])):
        rotation, loadings = np.linalg.qr(np.column_stack(columns))
        chosen = backward(loadings, rotation.T @ target, total=5.0, n_samples=30, penalty=60 / 7)
        assert chosen.tolist() == expected


def test_coefficients_are_the_least_squares_fit_on_the_chosen_terms():
    X, y = make_data(200, 3)
    model = MARSRegressor().fit(X, y)
    assert len(model.terms_) > 3
    np.testing.assert_allclose(y - model.predict(X), residual([column_of(term, X) for term in model.terms_[1:]], y), atol=1e-12)


def test_max_terms_bounds_the_forward_pass_and_a_high_penalty_leaves_the_intercept():
    X, y = make_data(200, 3)
    assert len(MARSRegressor(max_terms=3).fit(X, y).terms_) <= 3
    assert len(MARSRegressor(max_terms=2).fit(X, y).terms_) == 1
    model = MARSRegressor(penalty=50.0).fit(X, np.random.default_rng(0).standard_normal(200))
    assert model.terms_ == [Term(-1, 0.0, 0)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    n_samples=st.integers(4, 120),
    n_features=st.integers(1, 6),
    n_folds=st.integers(2, 4),
    kind=st.sampled_from(["even", "ties", "binary", "constant column", "constant y", "duplicate rows", "same column twice"]),
    dtype=st.sampled_from([np.uint8, np.uint16]),
    seed=st.integers(0, 1000),
)
def test_shared_path_gives_the_bits_of_the_plain_path(n_samples, n_features, n_folds, kind, dtype, seed):
    X, y = make_data(n_samples, n_features, seed, kind)
    folds = random_folds(n_samples, n_folds, 2, dtype)
    model = MARSRegressor()
    np.testing.assert_array_equal(model.predict_folds(X, y, folds), plain_predictions(model, X, y, folds))


def test_more_than_256_folds_and_chosen_parameters_give_the_same_bits_in_both_paths():
    X, y = make_data(300, 2)
    folds = random_folds(300, 300, 1, np.uint16)
    model = MARSRegressor(max_terms=9, threshold=0.01, penalty=3.0, min_span=2, end_span=4)
    np.testing.assert_array_equal(model.predict_folds(X, y, folds), plain_predictions(model, X, y, folds))


@pytest.mark.parametrize(("n_samples", "n_features"), [(1, 1), (1, 4), (2, 1), (2, 3), (3, 1), (5, 12)])
def test_very_few_rows_are_fitted(n_samples, n_features):
    X, y = make_data(n_samples, n_features)
    model = MARSRegressor().fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    if n_samples <= 2:
        np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)


def test_two_samples_in_two_folds_are_predicted_by_each_other():
    y = np.array([3.0, 7.0])
    predictions = MARSRegressor().predict_folds(np.array([[0.0], [1.0]]), y, np.array([[0, 1]], dtype=np.uint8))
    np.testing.assert_array_equal(predictions, [[7.0, 3.0]])


def test_constant_target_and_constant_column_give_the_mean():
    X, y = make_data(40, 2)
    np.testing.assert_allclose(MARSRegressor().fit(X, np.full(40, 0.3)).predict(X), 0.3, rtol=1e-15)
    np.testing.assert_allclose(MARSRegressor().fit(np.ones((40, 1)), y).predict(X[:, :1]), y.mean(), rtol=1e-14)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_degree": 2}, "max_degree=2 is not available; only 1"),
        ({"max_terms": 0}, "max_terms=0 must be None or an integer of at least 1"),
        ({"min_span": 1.5}, "min_span=1.5 must be None or an integer of at least 1"),
        ({"end_span": -1}, "end_span=-1 must be None or an integer of at least 1"),
        ({"threshold": -0.1}, "threshold=-0.1 must be a finite number of at least 0"),
        ({"penalty": np.nan}, "penalty=nan must be a finite number of at least 0"),
    ],
)
def test_bad_parameters_are_named_with_the_value_and_what_is_allowed(parameters, message):
    X, y = make_data(10, 2)
    with pytest.raises(ValueError, match=message):
        MARSRegressor(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=message):
        MARSRegressor(**parameters).predict_folds(X, y, random_folds(10, 2, 1))
