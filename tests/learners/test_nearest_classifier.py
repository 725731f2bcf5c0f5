import math
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import check_estimator

from class_cases import sklearn_folds
from foldshift.datasets import load_dataset
from foldshift.evaluation import evaluate_folds
from foldshift.evaluation.cross_validate import iterate_fits
from foldshift.learners.neighbours import nearest_regressor
from foldshift.learners.neighbours.nearest_classifier import METRICS, NNClassifier

DATA = Path(os.environ.get("FOLDSHIFT_SHARED", Path(__file__).parents[3] / "shared")) / "data"
RNG = np.random.default_rng(20120501)


def _cases():
    X = RNG.random((60, 4))
    codes = RNG.integers(0, 4, (60, 2)).astype(float)
    two, three = (X[:, 0] > 0.5).astype(int), np.arange(60) % 3
    yield "numeric", X, two, None
    yield "nominal", codes, three, [0, 1]
    yield "mixed", np.column_stack([X, codes]), three, [4, 5]
    yield "constant column", np.column_stack([X, np.ones(60)]), two, None
    yield "constant nominal column", np.column_stack([X, np.ones(60)]), two, [4]
    yield "duplicates", np.repeat(np.column_stack([X, codes])[:20], 3, axis=0), two, [4, 5]
    yield "duplicates of other classes", np.round(X), three, None
    yield "more columns than rows", RNG.random((12, 30)), np.arange(12) % 2, None
    yield "two rows per class", X[:6], np.array([0, 0, 1, 1, 2, 2]), None
    yield "a category that a training part lacks", np.column_stack([X, np.arange(60) == 7]), two, [4]


CASES = list(_cases())


def _plain_scores(model, X, y, folds):
    scores = np.zeros((*folds.shape, len(np.unique(y))))
    for s, _, test in iterate_fits(folds):
        fitted = clone(model).fit(X[~test], y[~test])
        scores[s, test] = fitted.predict_proba(X[test])
    return scores


@pytest.mark.parametrize("model", [NNClassifier(), NNClassifier(3, "keel_hvdm", skip_zero_distance=True)], ids=["heom", "hvdm"])
def test_it_is_a_scikit_learn_estimator(model):
    check_estimator(model)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_gives_the_very_scores_of_the_plain_path(metric, case):
    _, X, y, nominal = case
    folds = sklearn_folds(y, 2 if len(y) < 12 else 3)
    for k, skip in ((1, True), (3, False), (4, True)):
        model = NNClassifier(k, metric, skip, categorical_features=nominal)
        assert (model.scores_folds(X, y, folds) == _plain_scores(model, X, y, folds)).all()
        assert (evaluate_folds(model, X, y, folds) == evaluate_folds(model, X, y, folds, shared=False)).all()


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize(("metric", "k"), [("heom", 1), ("euclidean", 3), ("euclidean", 8)])
def test_a_tree_changes_no_score(metric, k, digits, monkeypatch):
    rng = np.random.default_rng(digits)
    X, X_new = np.round(rng.random((300, 3)) * 4, digits), np.round(rng.random((50, 3)) * 4, digits)
    y, folds = rng.integers(0, 3, 300), rng.integers(0, 5, (2, 300)).astype(np.uint8)
    model = NNClassifier(k, metric)
    made = []

    def found():
        fitted = model.fit(X, y)
        made.append((model.scores_folds(X, y, folds), fitted.predict_proba(X_new), model.fold_predictor(X, y, X_new)(folds[0])))

    found()
    asked = []
    monkeypatch.setattr("foldshift.learners.neighbours.nearest_regressor.FEW_POINTS", 0)
    tree = nearest_regressor.nearest_candidates
    monkeypatch.setattr(nearest_regressor, "nearest_candidates", lambda *given: asked.append(given) or tree(*given))
    found()
    assert len(asked) == 3 and all((one == other).all() for one, other in zip(*made))


def test_a_tree_is_not_asked_for_other_distances(monkeypatch):
    monkeypatch.setattr("foldshift.learners.neighbours.nearest_regressor.FEW_POINTS", 0)
    monkeypatch.setattr(nearest_regressor, "nearest_candidates", lambda *given: pytest.fail("a tree is Euclidean"))
    X, y = np.round(RNG.random((100, 2)) * 3), np.arange(100) % 2
    for model in (
        NNClassifier(1, "manhattan"),
        NNClassifier(1, "heom", categorical_features=[1]),
        NNClassifier(1, "heom", skip_zero_distance=True),
        NNClassifier(1, "keel_hvdm"),
        NNClassifier(99, "heom"),
    ):
        assert model.fit(X, y).predict(X).shape == (100,)


@pytest.mark.parametrize("metric", METRICS)
def test_tie_order_by_fold_is_the_plain_path_on_rows_sorted_by_fold_and_class(metric):
    X, y = np.round(RNG.random((80, 3)) * 3), RNG.integers(0, 3, 80)
    model = NNClassifier(1, metric, True, "fold", [2])
    folds = sklearn_folds(y, 4)
    shared = model.predict_folds(X, y, folds)
    changed = (shared != NNClassifier(1, metric, True, "row", [2]).predict_folds(X, y, folds)).any()
    assert changed
    for s, fold, test in iterate_fits(folds):
        rows = np.lexsort((y, folds[s]))
        rows = rows[folds[s, rows] != fold]
        assert (model.fit(X[rows], y[rows]).predict(X[test]) == shared[s, test]).all()


def _random_data(rng, n):
    """Ties, duplicates, nominal columns, categories and values that some training parts lack, one column constant in some."""
    X = np.column_stack(
        [
            np.round(rng.random((n, 2)), 1),
            rng.random(n),
            rng.integers(0, 4, (n, 2)),
            rng.choice(6, n, p=[0.5, 0.46, 0.01, 0.01, 0.01, 0.01]),
        ]
    )
    X = X[rng.integers(0, n, n)][:, : rng.integers(3, 7)]
    if rng.random() < 0.3:
        X = np.column_stack([X[:, :1] * 0, X])
        X[rng.integers(n), 0] = 1.0
    nominal = [j for j in range(X.shape[1]) if (X[:, j] == X[:, j].astype(int)).all() and rng.random() < 0.8]
    return X, rng.integers(0, rng.integers(2, 5), n), nominal


def _plain_by_fold(model, X, y, folds):
    """Scores of the plain path on training parts sorted by fold and class."""
    y = np.unique(y, return_inverse=True)[1]
    scores = np.zeros((*folds.shape, y.max() + 1))
    for s, fold, test in iterate_fits(folds):
        rows = np.lexsort((y, folds[s]))
        rows = rows[folds[s, rows] != fold]
        fitted = clone(model).fit(X[rows], y[rows])
        scores[s, np.flatnonzero(test)[:, None], fitted.classes_] = fitted.predict_proba(X[test])
    return scores


@pytest.mark.parametrize("length", [1, 4, 64])
@pytest.mark.parametrize("metric", ["keel_hvdm", "heom"])
def test_lists_of_a_lower_metric_change_no_score(metric, length, monkeypatch):
    monkeypatch.setattr("foldshift.learners.neighbours.nearest_classifier.LOWER_LENGTH", length)
    rng = np.random.default_rng(length)
    for _ in range(12):
        X, y, nominal = _random_data(rng, int(rng.integers(12, 150)))
        folds = rng.permuted(np.arange(len(y)) % rng.integers(2, 6) + np.zeros((4, 1), np.int64), axis=1).astype(np.uint8)
        for k, skip in ((1, True), (3, True), (2, False)):
            model = NNClassifier(k, metric, skip, "fold", nominal)
            shared = model.scores_folds(X, y, folds)
            assert shared.tobytes() == _plain_by_fold(model, X, y, folds).tobytes()
            # One seed has no lists.
            assert shared.tobytes() == b"".join(model.scores_folds(X, y, row[None]).tobytes() for row in folds)


@pytest.mark.parametrize("name", ["breast", "sonar", "titanic", "german", "wisconsin", "spectfheart", "bands"])
def test_lists_of_a_lower_metric_change_no_score_of_real_data(name):
    if not DATA.exists():
        pytest.skip(f"needs the shared data in {DATA}")
    data = load_dataset(name, mirror=str(DATA), scaling="global")
    for n_folds in (2, 10):
        folds = sklearn_folds(data.y, n_folds, 5)
        for k in (1, 3):
            model = NNClassifier(k, "keel_hvdm", True, "fold", data.categorical_features)
            assert model.scores_folds(data.X, data.y, folds).tobytes() == _plain_by_fold(model, data.X, data.y, folds).tobytes()


def test_a_list_of_neighbours_that_are_all_in_the_own_fold_is_not_the_end():
    X = np.concatenate([np.zeros(80), [1.0, 2.0, 3.0, 4.0]])[:, None]
    y = np.array([0] * 80 + [1, 0, 1, 0])
    folds = np.array([[0] * 80 + [1] * 4], np.uint8)
    assert (NNClassifier().predict_folds(X, y, folds)[0, :80] == 1).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "heom"])
def test_without_ties_it_votes_as_scikit_learn_does(metric):
    X, y, new = RNG.random((150, 4)), RNG.integers(0, 2, 150), RNG.random((60, 4))
    for k in (1, 3, 7):
        theirs = KNeighborsClassifier(k, algorithm="brute", metric="manhattan" if metric == "manhattan" else "euclidean").fit(
            X, y
        )
        ours = NNClassifier(k, metric).fit(X, y)
        assert (ours.predict(new) == theirs.predict(new)).all()
        assert ours.predict_proba(new) == pytest.approx(theirs.predict_proba(new), abs=1e-12)


def test_ties_go_to_the_earlier_training_row_and_vote_ties_to_the_lower_class():
    X = [[1.0], [-1.0], [3.0]]
    assert NNClassifier(1).fit(X, ["b", "a", "c"]).predict([[0.0]]) == ["b"]
    assert NNClassifier(2).fit(X, ["b", "a", "c"]).predict([[0.0]]) == ["a"]


def test_heom_counts_a_nominal_difference_as_one_and_euclidean_as_the_difference_of_codes():
    X, y = np.array([[0.0, 2.0], [0.9, 1.0]]), [0, 1]
    assert NNClassifier(metric="heom", categorical_features=[1]).fit(X, y).predict([[0.0, 0.0]]) == [0]
    assert NNClassifier(metric="euclidean", categorical_features=[1]).fit(X, y).predict([[0.0, 0.0]]) == [1]


def test_samples_at_distance_zero_are_skipped_only_on_demand():
    X, y = [[0.0], [1.0], [5.0]], [0, 1, 1]
    assert NNClassifier(1).fit(X, y).predict([[0.0]]) == [0]
    assert NNClassifier(1, skip_zero_distance=True).fit(X, y).predict([[0.0]]) == [1]
    # Nothing is left: the first training sample takes all places.
    assert NNClassifier(2, skip_zero_distance=True).fit([[0.0], [0.0]], [1, 0]).predict([[0.0]]) == [1]


def _hvdm(a, b, X, y, nominal):
    """The published sentence, word by word."""
    total = 0.0
    for j in range(len(a)):
        if j in nominal:
            shares = [
                [np.mean(y[X[:, j] == v] == c) if (X[:, j] == v).any() else math.nan for c in np.unique(y)] for v in (a[j], b[j])
            ]
            total += math.sqrt(sum((p - q) ** 2 for p, q in zip(*shares)))
        else:
            total += abs(a[j] - b[j]) / (4 * math.sqrt(np.mean(X[:, j] ** 2) - np.mean(X[:, j]) ** 2))
    return math.sqrt(total)


def test_keel_hvdm_is_the_stated_sum():
    X = np.column_stack([RNG.random((50, 2)) * [1, 100], RNG.integers(0, 3, 50)])
    y, new = RNG.integers(0, 3, 50), np.column_stack([RNG.random((30, 2)) * [1, 100], RNG.integers(0, 3, 30)])
    model = NNClassifier(1, "keel_hvdm", categorical_features=[2]).fit(X, y)
    nearest = [min(range(50), key=lambda i, a=a: _hvdm(a, X[i], X, y, [2])) for a in new]
    assert (model.predict(new) == y[nearest]).all()


def test_under_keel_hvdm_a_category_that_training_lacks_leaves_the_vote_to_the_first_training_row():
    X, y = np.array([[0.0, 0], [1.0, 1], [2.0, 1], [3.0, 0]]), [1, 0, 0, 0]
    for k in (1, 3):
        model = NNClassifier(k, "keel_hvdm", categorical_features=[1]).fit(X, y)
        assert (model.predict([[3.0, 2], [3.0, 9], [3.0, 0]]) == [1, 1, 0]).all()


def test_under_keel_hvdm_a_numeric_column_constant_in_training_leaves_all_votes_to_the_first_training_row():
    X, y = np.column_stack([RNG.random(40), np.full(40, 0.1)]), np.arange(40) % 2
    for new in ([[0.5, 0.1]], [[0.5, 0.2]]):
        assert NNClassifier(1, "keel_hvdm").fit(X, 1 - y).predict(new) == [1]
        assert NNClassifier(3, "keel_hvdm").fit(X, y).predict(new) == [0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1; got 0"),
        ({"metric": "hvdm"}, "metric='hvdm' is not known; allowed: heom, euclidean, manhattan, keel_hvdm"),
        ({"tie_order": "file"}, "tie_order='file' is not known; allowed: row, fold"),
        ({"categorical_features": [0]}, "nominal columns must hold category codes"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        NNClassifier(**parameters).fit([[0.5], [1.0]], [0, 1])


@pytest.mark.parametrize(("name", "k", "printed"), [("monk-2", 1, 0.7419), ("monk-2", 3, 0.9509), ("housevotes", 1, 0.9505)])
def test_keel_hvdm_reaches_the_printed_auc(name, k, printed):
    if not DATA.exists():
        pytest.skip(f"needs the shared data in {DATA}")
    data = load_dataset(name, mirror=str(DATA), scaling="global")
    folds = sklearn_folds(data.y, 5, 20)
    predictions = NNClassifier(k, "keel_hvdm", True, "fold", data.categorical_features).predict_folds(data.X, data.y, folds)
    rates = [(predictions[:, data.y == c] == c).mean() for c in (0, 1)]
    assert np.mean(rates) == pytest.approx(printed, abs=0.01)


@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": 3}, {"metric": "manhattan"}, {"skip_zero_distance": True}], ids=str)
@pytest.mark.parametrize("name, X, y, nominal", CASES, ids=[case[0] for case in CASES])
def test_new_rows_are_predicted_by_the_models_of_the_folds_as_by_each_alone(name, X, y, nominal, parameters):
    model, labels = NNClassifier(categorical_features=nominal, **parameters), np.array(["c", "a", "b"])[y]
    new = np.concatenate([X[::3], RNG.permuted(X, axis=0)])
    predict = model.fold_predictor(X, labels, new)
    for folds in (np.arange(len(y)) % 2, np.where(np.arange(len(y)) < len(y) - 3, 0, 1), np.arange(len(y)) % 5):
        folds = folds.astype(np.uint8)
        alone = [clone(model).fit(X[folds != f], labels[folds != f]).predict(new) for f in range(folds.max() + 1)]
        assert (predict(folds) == alone).all()


def test_distances_that_depend_on_the_training_part_are_not_shared():
    assert NNClassifier(metric="keel_hvdm").fold_predictor(*CASES[0][1:3], CASES[0][1]) is None
    assert NNClassifier(tie_order="fold").fold_predictor(*CASES[0][1:3], CASES[0][1]) is None
