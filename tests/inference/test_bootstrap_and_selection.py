"""The .632+ bootstrap against its formulas, and the error of a chosen learner where all of them guess."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from foldshift.inference.intervals.bootstrap import bootstrap_632plus
from foldshift.inference.intervals.selection import selection_corrected_error


def _rng(seed=0):
    return np.random.default_rng(seed)


def test_labels_that_have_nothing_to_do_with_the_inputs_give_half_and_not_the_third_of_632():
    """Efron and Tibshirani's example: nearest neighbour, coin flips. .632 gives .632 * .5 = .316."""
    X, y = _rng(1).standard_normal((40, 5)), np.arange(40) % 2
    found = [bootstrap_632plus(KNeighborsClassifier(1), X, y, n_bootstraps=40, rng=_rng(seed)) for seed in range(3)]
    assert {one.training for one in found} == {0.0} and {one.no_information for one in found} == {0.5}
    assert all(one.plain_632 == pytest.approx(0.632 * one.left_out) for one in found)
    for one in found:
        bounded = min(one.left_out, 0.5)
        R = bounded / 0.5
        assert one.overfitting == pytest.approx(R)
        # .632 estimate (of the bounded error) and what is added to it
        extra = bounded * 0.368 * 0.632 * R / (1 - 0.368 * R)
        assert one.estimate == pytest.approx(0.632 * bounded + extra)
    assert np.mean([one.estimate for one in found]) > 0.42


def test_a_constant_prediction_has_one_error_whatever_is_left_out():
    y = np.r_[np.zeros(30), np.ones(10)]
    found = bootstrap_632plus(DummyClassifier(strategy="constant", constant=0), np.zeros((40, 1)), y, rng=_rng())
    assert found[:5] == pytest.approx((0.25,) * 5) and found.overfitting == 0


def test_the_no_information_error_of_a_regression_is_the_mean_over_all_pairs():
    X = _rng(2).standard_normal((30, 2))
    y = X @ [1.0, 2] + _rng(3).standard_normal(30)
    found = bootstrap_632plus(LinearRegression(), X, y, n_bootstraps=30, rng=_rng())
    predicted = LinearRegression().fit(X, y).predict(X)
    assert found.no_information == pytest.approx(((y[:, None] - predicted) ** 2).mean())
    assert found.training == pytest.approx(((y - predicted) ** 2).mean()) and found.training < found.estimate < found.left_out


def test_frames_are_passed_on_and_the_seed_decides():
    X = pd.DataFrame({"a": _rng().standard_normal(30), "b": np.arange(30.0)})
    y = np.where(X["a"] > 0, "yes", "no")
    once, again, array = (bootstrap_632plus(KNeighborsClassifier(3), data, y, rng=_rng(5)) for data in (X, X, X.to_numpy()))
    assert once == again == array and "no interval" in str(once)


def test_rows_that_are_in_every_sample_and_other_mistakes_are_named():
    X, y = np.zeros((30, 1)), np.zeros(30)
    for arguments, options, message in (
        ((X, y), {"n_bootstraps": 2}, "rows are in every bootstrap sample; raise n_bootstraps=2"),
        ((X, y), {"n_bootstraps": 1}, "n_bootstraps=1 must be at least 2"),
        ((X, y[:5]), {}, "one target for every row of X"),
        ((X, y), {"loss": lambda y, p: y * np.nan}, "losses are NaN or infinite"),
    ):
        with pytest.raises(ValueError, match=message):
            bootstrap_632plus(DummyRegressor(), *arguments, rng=_rng(), **options)


def test_the_best_of_many_guesses_is_not_better_than_guessing():
    """Fifty learners with true error .5: the smallest error looks like .4."""
    found = [
        selection_corrected_error(_rng(seed).random((100, 50)) < 0.5, n_bootstraps=200, rng=_rng(seed)) for seed in range(60)
    ]
    assert np.mean([one.apparent for one in found]) < 0.41
    assert np.mean([one.estimate for one in found]) == pytest.approx(0.5, abs=0.02)
    assert np.mean([one.low <= 0.5 <= one.high for one in found]) >= 0.93


def test_one_learner_is_not_corrected_and_its_interval_is_that_of_rows_left_out():
    losses = _rng().random((200, 1))
    found = selection_corrected_error(losses, rng=_rng())
    assert found.apparent == losses.mean() and found.estimate == pytest.approx(losses.mean(), abs=0.005)
    assert found.low < found.estimate < found.high and found.chosen == 0


def test_repetitions_are_averaged_by_row_and_the_text_names_the_choice():
    losses = _rng().random((3, 50, 4))
    losses[..., 2] -= 0.5
    found = selection_corrected_error(losses, n_bootstraps=100, rng=_rng(1))
    assert found == selection_corrected_error(losses.mean(axis=0), n_bootstraps=100, rng=_rng(1))
    assert "Learner 2 has the smallest cross-validated error of 4" in str(found)


@pytest.mark.parametrize(
    ("losses", "options", "message"),
    [
        (np.zeros(5), {}, r"losses has shape \(5,\)"),
        (np.zeros((1, 5)), {}, "two rows"),
        (np.full((5, 2), np.nan), {}, "10 NaN or infinite values"),
        (np.zeros((5, 2)), {"n_bootstraps": 1}, "n_bootstraps=1 must be"),
        (np.zeros((5, 2)), {"confidence": 1}, "confidence=1 must be between"),
    ],
)
def test_bad_losses_are_named(losses, options, message):
    with pytest.raises(ValueError, match=message):
        selection_corrected_error(losses, rng=_rng(), **options)
