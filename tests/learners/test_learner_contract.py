"""What every regressor of the library must do. A new learner is picked up without writing a line."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import foldshift.learners
from foldshift.evaluation import evaluate_folds
from foldshift.partition import make_folds

REGRESSORS = [name for name in foldshift.learners.__all__ if name.endswith("Regressor")]
RNG = np.random.default_rng(20220721)


def _numeric(n=60, p=4):
    X = RNG.random((n, p))
    return X, X @ np.arange(1, p + 1) + 0.1 * RNG.normal(size=n)


def _cases():
    X, y = _numeric()
    yield "numeric", X, y
    codes = np.column_stack([RNG.integers(0, 3, 60), RNG.integers(0, 2, 60)]).astype(float)
    yield "nominal codes", codes, codes[:, 0] + RNG.random(60)
    yield "mixed", np.column_stack([X, codes]), y + codes[:, 0]
    yield "constant column", np.column_stack([X, np.ones(60)]), y
    yield "duplicate column", np.column_stack([X, X[:, 0]]), y
    yield "duplicate rows", np.repeat(X[:20], 3, axis=0), np.repeat(y[:20], 3)
    yield "more columns than rows", RNG.random((12, 30)), RNG.random(12)
    yield "two rows per fold", X[:10], y[:10]
    yield "one row per fold", X[:5], y[:5]
    yield "constant target", X, np.full(60, 0.25)
    yield "ties everywhere", np.round(X, 1), np.round(y, 0)


CASES = list(_cases())


def _estimator(name):
    return getattr(foldshift.learners, name)()


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_predicts_as_the_plain_path_does(name, case):
    _, X, y = case
    folds = make_folds("TSCV", X, y, 5, range(3))
    states = np.arange(15, dtype=np.uint32).reshape(3, 5) + 7
    shared = evaluate_folds(_estimator(name), X, y, folds, random_states=states)
    plain = evaluate_folds(_estimator(name), X, y, folds, random_states=states, shared=False)
    assert shared.shape == folds.shape and np.isfinite(shared).all()
    # Sums that leave a fold out are added in another order; nothing else may differ.
    assert shared == pytest.approx(plain, abs=1e-8 * max(1.0, np.abs(y).max()))


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_new_rows_are_predicted_by_the_models_of_the_folds_as_by_each_alone(name, case):
    _, X, y = case
    model, new = _estimator(name), np.concatenate([X[::2], RNG.permuted(X, axis=0)])
    predict = model.fold_predictor(X, y, new)
    if "random_state" in model.get_params():
        assert predict is None
        return
    for folds in (np.arange(len(y)) % 2, np.where(np.arange(len(y)) < len(y) - 2, 0, 1)[::-1]):
        alone = [clone(model).fit(X[folds != f], y[folds != f]).predict(new) for f in range(2)]
        assert np.array_equal(list(predict(folds.astype(np.uint8))), alone)


@pytest.mark.parametrize("name", REGRESSORS)
def test_predictions_do_not_depend_on_the_other_seeds_or_on_the_type_of_the_folds(name):
    _, X, y = CASES[2]
    folds = make_folds("CV", X, y, 4, range(5))
    states = np.arange(20, dtype=np.uint32).reshape(5, 4)
    whole = evaluate_folds(_estimator(name), X, y, folds, random_states=states)
    alone = evaluate_folds(_estimator(name), X, y, folds[3:4].astype(np.uint16), random_states=states[3:4])
    assert (whole[3:4] == alone).all()


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_same_call_twice_gives_the_same_bytes(name):
    _, X, y = CASES[2]
    folds = make_folds("CV", X, y, 4, range(2))
    states = np.arange(8, dtype=np.uint32).reshape(2, 4)
    first, second = (evaluate_folds(_estimator(name), X, y, folds, random_states=states) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize(
    "model", [foldshift.learners.GBMRegressor(random_state=3), foldshift.learners.RandomTiesNNRegressor(random_state=3)]
)
def test_a_random_state_that_the_user_has_set_stays(model):
    _, X, y = CASES[2]
    folds = make_folds("CV", X, y, 4, range(2))
    states = np.arange(8, dtype=np.uint32).reshape(2, 4)
    for shared in (True, False):
        with_states = evaluate_folds(model, X, y, folds, random_states=states, shared=shared)
        assert (with_states == evaluate_folds(model, X, y, folds, shared=False)).all()


@pytest.mark.parametrize("name", foldshift.learners.__all__)
def test_a_frame_with_names_works_and_text_and_sparse_inputs_are_refused_in_one_line(name):
    X = pd.DataFrame(RNG.random((40, 3)), columns=["height", "width", "depth"])
    y = np.where(X["height"] > 0.5, "tall", "small") if name.endswith("Classifier") else X["height"].to_numpy()
    folds = (np.arange(40) % 4)[None].astype(np.uint8)
    model = _estimator(name)
    assert model.fit(X, y).predict(X).dtype == np.asarray(y).dtype and list(model.feature_names_in_) == list(X.columns)
    assert model.predict_folds(X, y, folds).shape == (1, 40)
    text = X.assign(width="red")
    for call in (lambda X: model.fit(X, y), lambda X: model.predict_folds(X, y, folds)):
        with pytest.raises(TypeError, match=rf"^{name}: X is a sparse matrix, which it does not take; give X\.toarray\(\)$"):
            call(csr_matrix(X.to_numpy()))
        with pytest.raises(ValueError, match=rf"^{name}: X holds the text 'red'; give category codes 0, 1, \.\.\. .*$"):
            call(text)
