"""What every classifier of the library must do. A new one is picked up without writing a line."""

import numpy as np
import pytest
from sklearn.base import clone

import foldshift.learners
from foldshift.evaluation import evaluate_folds

CLASSIFIERS = [name for name in foldshift.learners.__all__ if name.endswith("Classifier")]
RNG = np.random.default_rng(2012)


def _folds(codes, n_folds, n_seeds):
    """Folds that hold every class, as long as it has that many samples."""
    out = np.empty((n_seeds, len(codes)), np.uint8)
    for row in out:
        for label in np.unique(codes):
            rows = RNG.permutation(np.flatnonzero(codes == label))
            row[rows] = np.arange(len(rows)) % n_folds
    return out


def _cases():
    X = RNG.random((60, 4))
    y = (X[:, 0] + 0.3 * RNG.random(60) > 0.6).astype(int)
    nominal = np.column_stack([RNG.integers(0, 4, 60), RNG.integers(0, 2, 60), RNG.integers(0, 3, 60)]).astype(float)
    three = np.digitize(X[:, 1] + 0.1 * RNG.random(60), [0.4, 0.8])
    yield "numeric", X, y, None
    yield "three classes", X, three, None
    yield "nominal", nominal, (nominal[:, 0] + nominal[:, 1] > 2).astype(int), [0, 1, 2]
    yield "mixed", np.column_stack([X, nominal]), three, [4, 5, 6]
    yield "constant column", np.column_stack([X, np.ones(60)]), y, None
    yield "duplicate rows", np.repeat(X[:20], 3, axis=0), np.repeat(y[:20], 3), None
    yield "duplicate column", np.column_stack([X, X[:, 0]]), y, None
    yield "more columns than rows", RNG.random((20, 30)), np.arange(20) % 2, None
    yield "two rows per class and fold", X[:16], np.arange(16) % 2, None


CASES = list(_cases())


def _estimator(name, nominal):
    model = getattr(foldshift.learners, name)()
    if nominal is not None and "categorical_features" in model.get_params():
        model.set_params(categorical_features=nominal)
    return model


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_scores_and_predicts_as_the_plain_path_does(name, case):
    _, X, y, nominal = case
    labels = np.array(["a", "b", "c"])[y]
    folds = _folds(y, 4, 2)
    states = np.arange(8, dtype=np.uint32).reshape(2, 4) + 5
    model = _estimator(name, nominal)
    shared = evaluate_folds(model, X, labels, folds, random_states=states)
    plain = evaluate_folds(model, X, labels, folds, random_states=states, shared=False)
    assert (shared == plain).all()
    scores = clone(model).scores_folds(X, labels, folds, random_states=states)
    assert scores.shape == (2, len(y), len(np.unique(labels))) and scores.min() >= 0
    assert scores.sum(axis=2) == pytest.approx(1)
    for s in range(2):
        for fold in range(4):
            test = folds[s] == fold
            one = clone(model)
            if "random_state" in one.get_params() and one.random_state is None:
                one.set_params(random_state=int(states[s, fold]))
            assert scores[s, test] == pytest.approx(one.fit(X[~test], labels[~test]).predict_proba(X[test]), abs=1e-9)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_new_rows_are_predicted_by_the_models_of_the_folds_as_by_each_alone(name, case):
    _, X, y, nominal = case
    labels, model, new = np.array(["c", "a", "b"])[y], _estimator(name, nominal), X[::-2]
    predict = model.fold_predictor(X, labels, new)
    if predict is None:
        assert "random_state" in model.get_params()
        return
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fold_predictor(X, y + 0.5, new)
    # Of the second partition, one training part lacks the last class.
    for folds in (_folds(y, 3, 1)[0], np.where((y == y.max()) | (np.arange(len(y)) < len(y) // 4), 0, 1).astype(np.uint8)):
        parts = [(X[folds != f], labels[folds != f]) for f in range(folds.max() + 1)]
        if all(len(np.unique(part)) > 1 for _, part in parts):
            alone = [clone(model).fit(*part).predict(new) for part in parts]
            assert np.array_equal(list(predict(folds)), alone)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_do_not_depend_on_the_other_seeds_or_on_the_type_of_the_folds(name):
    _, X, y, nominal = CASES[3]
    folds = _folds(y, 4, 3)
    states = np.arange(12, dtype=np.uint32).reshape(3, 4)
    whole = evaluate_folds(_estimator(name, nominal), X, y, folds, random_states=states)
    alone = evaluate_folds(_estimator(name, nominal), X, y, folds[2:].astype(np.uint16), random_states=states[2:])
    assert (whole[2:] == alone).all() and whole.dtype == y.dtype
