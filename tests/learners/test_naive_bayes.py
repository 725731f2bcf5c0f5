import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from class_cases import awkward_cases, sklearn_folds
from foldshift.evaluation.cross_validate import iterate_fits
from foldshift.learners.linear.naive_bayes import NaiveBayesClassifier

RNG = np.random.default_rng(20150104)


def _cases():
    yield from awkward_cases(RNG)
    X = RNG.random((60, 4))
    two, three = (X[:, 0] > 0.5).astype(int), np.arange(60) % 3
    one = np.arange(60) == 7
    yield "constant within classes", np.column_stack([X, 0.1 * three]), three, None
    yield "nearly constant within classes", np.column_stack([X, three + 1e-7 * X[:, 0]]), three, None
    yield "constant in one training part", np.column_stack([0.1 + one]), two, None
    yield "constant in a class in one training part", np.column_stack([X, 0.3 * two + one]), two, None
    yield "one huge value", np.column_stack([X, np.where(one, 1e9, X[:, 0] ** 2)]), two, None
    yield "far from the origin", X + 1e6, two, None
    yield "very different scales", X * [1e-6, 1, 1e6, 1e12], three, None
    yield "a class of two", X, np.where(np.arange(60) < 2, 2, two), None


CASES = list(_cases())


def _same_on_both_paths(model, X, y, folds):
    scores, predictions = model.scores_folds(X, y, folds), model.predict_folds(X, y, folds)
    classes = np.unique(y)
    for s, _, test in iterate_fits(folds):
        plain = clone(model).fit(X[~test], y[~test])
        expected = np.zeros((test.sum(), len(classes)))
        expected[:, np.searchsorted(classes, plain.classes_)] = plain.predict_proba(X[test])
        assert scores[s, test] == pytest.approx(expected, abs=1e-9)
        assert (predictions[s, test] == plain.predict(X[test])).all()


def test_it_is_a_scikit_learn_estimator():
    check_estimator(NaiveBayesClassifier(), on_skip=None)


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_scores_and_decides_as_the_plain_path_does(case):
    _, X, y, nominal = case
    _same_on_both_paths(NaiveBayesClassifier(nominal), X, y, sklearn_folds(y, 2))
    _same_on_both_paths(NaiveBayesClassifier(nominal), X, y, np.arange(len(y), dtype=np.uint16)[None])


@given(
    arrays(np.float64, (9, 3), elements=st.sampled_from([0.0, 1.0, 2.0])),
    arrays(np.int64, 9, elements=st.integers(0, 2)),
    arrays(np.uint8, (2, 9), elements=st.integers(0, 2)),
    st.sampled_from([None, [0], [0, 1, 2]]),
)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_ties_duplicates_and_lost_classes_decide_as_on_the_plain_path(X, y, folds, nominal):
    folds[:, :2] = [0, 1]  # no fold holds all samples
    _same_on_both_paths(NaiveBayesClassifier(nominal), X, y, folds)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_on_numeric_columns_it_gives_the_probabilities_of_gaussian_nb(load):
    X, y = load(return_X_y=True)
    theirs, ours = GaussianNB().fit(X[::2], y[::2]), NaiveBayesClassifier().fit(X[::2], y[::2])
    assert ours.predict_proba(X[1::2]) == pytest.approx(theirs.predict_proba(X[1::2]), abs=1e-10)
    assert (ours.predict(X[1::2]) == theirs.predict(X[1::2])).all()
    assert ours.theta_ == pytest.approx(theirs.theta_, rel=1e-12) and ours.var_ == pytest.approx(theirs.var_, rel=1e-10)
    wide = NaiveBayesClassifier(var_smoothing=0.01).fit(X, y).predict_proba(X)
    assert wide == pytest.approx(GaussianNB(var_smoothing=0.01).fit(X, y).predict_proba(X), abs=1e-10)


@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_on_nominal_columns_it_gives_the_probabilities_of_categorical_nb(alpha):
    X = RNG.integers(0, [2, 4, 7, 3], (80, 4))
    X[:, 2][X[:, 2] == 3] = 6  # a code in the middle that no sample has
    y = (X[:, 0] + X[:, 1] + RNG.integers(0, 2, 80)) % 3
    theirs, ours = CategoricalNB(alpha=alpha).fit(X, y), NaiveBayesClassifier([0, 1, 2, 3], alpha=alpha).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-10)
    assert all((a == b).all() for a, b in zip(ours.category_count_, theirs.category_count_, strict=True))
    assert (ours.class_count_ == theirs.class_count_).all()


def test_on_mixed_columns_densities_and_frequencies_are_multiplied_with_one_prior():
    numeric, nominal = RNG.random((60, 3)), RNG.integers(0, 3, (60, 2))
    y = np.arange(60) % 4 // 3 + (numeric[:, 0] > 0.8)
    gaussian, categorical = GaussianNB().fit(numeric, y), CategoricalNB().fit(nominal, y)
    joint = (
        gaussian.predict_joint_log_proba(numeric) + categorical.predict_joint_log_proba(nominal) - np.log(gaussian.class_prior_)
    )
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    X = np.column_stack([nominal[:, 0], numeric, nominal[:, 1]])
    ours = NaiveBayesClassifier([True, False, False, False, True]).fit(X, y).predict_proba(X)
    assert ours == pytest.approx(joint / joint.sum(axis=1, keepdims=True), abs=1e-10)


def test_two_classes_with_equal_spread_part_at_the_midpoint_shifted_by_the_log_odds():
    X, y = np.array([[-1.0], [1.0], [3.0], [5.0], [3.0], [5.0]]), [0, 0, 1, 1, 1, 1]
    model = NaiveBayesClassifier(var_smoothing=1e-15).fit(X, y)
    # Variance 1, means 0 and 4: the boundary is 2 - log(4 / 2) / 4.
    assert model.predict_proba([[2 - math.log(2) / 4]])[0] == pytest.approx([0.5, 0.5], abs=1e-12)


def test_a_nan_in_predict_leaves_the_feature_out():
    numeric = RNG.random((50, 3)) * [1, 1, 5]  # the last one is the most variable, which decides how much is added to variances
    X = np.column_stack([numeric, RNG.integers(0, 3, (50, 2))])
    y = (X[:, 0] > 0.5) + (X[:, 3] > 1).astype(int)
    model = NaiveBayesClassifier([3, 4]).fit(X, y)
    masked = X.copy()
    masked[:, [1, 4]] = np.nan
    without = NaiveBayesClassifier([2]).fit(X[:, [0, 2, 3]], y)
    assert model.predict_proba(masked) == pytest.approx(without.predict_proba(X[:, [0, 2, 3]]), abs=1e-12)
    assert (model.predict(masked) == without.predict(X[:, [0, 2, 3]])).all()
    assert model.predict_proba(np.full((1, 5), np.nan))[0] == pytest.approx(np.bincount(y) / 50, abs=1e-15)


def test_a_nan_in_training_is_left_out_of_counts_means_and_variances():
    X = np.array([[0.0, 0], [2.0, 1], [np.nan, 1], [5.0, np.nan], [7.0, 1], [9.0, 0]])
    model = NaiveBayesClassifier([1], var_smoothing=1e-12).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.class_count_.tolist() == [3, 3]  # the priors: a row counts, whatever it lacks
    assert model.theta_[:, 0] == pytest.approx([1, 7]) and model.var_[:, 0] == pytest.approx([1, 8 / 3])
    likelihood = np.array([2 + 1, 1 + 1]) / (np.array([3, 2]) + 2)  # of category 1: two of three known, one of two
    assert model.predict_proba([[np.nan, 1]])[0] == pytest.approx(likelihood / likelihood.sum())


def test_a_numeric_column_of_which_a_class_has_no_value_is_left_out():
    rng = np.random.default_rng(3)
    X, y = rng.random((40, 3)), np.arange(40) % 2
    X[y == 1, 2] = np.nan
    model, without = (
        NaiveBayesClassifier(var_smoothing=1e-15).fit(X, y),
        NaiveBayesClassifier(var_smoothing=1e-15).fit(X[:, :2], y),
    )
    assert model.predict_proba(rng.random((5, 3))).shape == (5, 2)
    assert model.predict_proba(X) == pytest.approx(without.predict_proba(X[:, :2]), abs=1e-9)


def test_a_nominal_column_without_any_value_is_left_out():
    X, y = np.column_stack([np.arange(8.0), np.full(8, np.nan)]), np.arange(8) % 2
    expected = NaiveBayesClassifier().fit(X[:, :1], y).predict_proba(X[:, :1])
    assert NaiveBayesClassifier([1]).fit(X, y).predict_proba(np.column_stack([X[:, 0], np.zeros(8)])) == pytest.approx(expected)


def test_both_paths_agree_where_values_are_missing():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.random((60, 3)), rng.integers(0, 3, (60, 2))])
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, 3, 60)
    _same_on_both_paths(NaiveBayesClassifier([3, 4]), X, y, sklearn_folds(y, 2))


def test_an_infinite_value_is_refused():
    X = np.array([[0.0], [np.inf], [1.0], [2.0]])
    with pytest.raises(ValueError, match="X has 1 infinite values; give finite numbers, or NaN for none"):
        NaiveBayesClassifier().predict_folds(X, [0, 1, 0, 1], np.array([[0, 0, 1, 1]], np.uint8))
    with pytest.raises(ValueError, match="infinity"):
        NaiveBayesClassifier().fit([[0.0], [1.0]], [0, 1]).predict([[np.inf]])


def test_constant_numeric_columns_leave_the_priors():
    model = NaiveBayesClassifier().fit(np.full((4, 2), 0.1), [0, 1, 1, 1])
    assert model.predict_proba([[0.1, 0.1], [7.0, -1e300]]) == pytest.approx(np.array([[0.25, 0.75]] * 2), abs=1e-15)


def test_a_category_without_training_samples_has_a_count_of_zero_also_above_the_highest_code():
    X, y = [[0], [0], [2], [0], [2]], [0, 0, 0, 1, 1]
    model = NaiveBayesClassifier([0]).fit(X, y)
    # Priors 3/5 and 2/5; three categories, so that an empty one has the frequency 1 / (3 + 3) and 1 / (2 + 3).
    expected = np.array([3 / 5 / 6, 2 / 5 / 5]) / (3 / 5 / 6 + 2 / 5 / 5)
    assert model.predict_proba([[1], [3], [1e300]]) == pytest.approx(np.array([expected] * 3), abs=1e-15)


def test_ties_go_to_the_lower_class():
    X = np.array([[0.1], [0.3], [0.7], [0.9]])
    assert NaiveBayesClassifier().fit(X, [1, 1, 0, 0]).predict([[0.5]]) == [0]
    assert NaiveBayesClassifier().fit(X, [0, 0, 1, 1]).predict([[0.5]]) == [0]


def test_values_far_from_every_class_still_get_a_class():
    model = NaiveBayesClassifier().fit([[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1])
    assert np.isfinite(model.predict_proba([[1e300], [-1e300]])).all()
    assert model.predict_proba([[1e6]])[0] == pytest.approx([0, 1])  # the wider one


def test_a_class_that_a_training_part_lacks_has_score_zero():
    X, y = RNG.random((20, 2)), np.array([0, 1] * 9 + [2, 2])
    folds = np.array([[0] * 6 + [1] * 12 + [0, 0]], np.uint8)
    scores = NaiveBayesClassifier().scores_folds(X, y, folds)[0]
    assert (scores[folds[0] == 0, 2] == 0).all() and scores.sum(axis=1) == pytest.approx(1)


def test_one_fold_is_refused():
    with pytest.raises(
        ValueError, match="one fold holds all samples, so that none are left for training; make at least two folds"
    ):
        NaiveBayesClassifier().predict_folds(np.array([[0.0], [1.0]]), [0, 1], np.zeros((1, 2), np.uint8))


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, True, "1"])
@pytest.mark.parametrize("name", ["var_smoothing", "alpha"])
def test_a_smoothing_that_is_not_above_zero_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name}={value!r} must be a number above 0"):
        NaiveBayesClassifier(**{name: value}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("value", [-1.0, 0.5])
def test_nominal_columns_must_hold_codes(value):
    message = "nominal columns must hold category codes 0, 1, ...; got a negative number or a fraction"
    with pytest.raises(ValueError, match=message):
        NaiveBayesClassifier([0]).fit([[0.0], [value]], [0, 1])
    with pytest.raises(ValueError, match=message):
        NaiveBayesClassifier([0]).fit([[0.0], [1.0]], [0, 1]).predict([[value]])


def test_numbers_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match=r"the largest number is 1e\+200; scale numeric columns to at most 1e\+150"):
        NaiveBayesClassifier().fit([[0.0], [1e200]], [0, 1])
