import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import cross_val_predict

from foldshift.evaluation import build_learner, evaluate_cell, evaluate_folds, regression_scores
from foldshift.evaluation.metrics import METRICS
from foldshift.evaluation.storage import SCORE_SCHEMA, fold_rows, read_columns, write_rows
from foldshift.evaluation.summary import by_cell, split_cells, summarise_scores
from foldshift.partition import ContinuousStratifiedKFold, make_folds

X = np.random.default_rng(0).random((40, 3))
Y = X @ [1.0, 2.0, 3.0] + np.random.default_rng(1).normal(size=40)
FOLDS = make_folds("SCV4", X, Y, 4, [5, 6])


class Moody(RegressorMixin, BaseEstimator):
    """Raises where the first target of the training part is above a limit."""

    def __init__(self, limit=0.0, infinite=False):
        self.limit = limit
        self.infinite = infinite

    def fit(self, X, y):
        if y[0] > self.limit and not self.infinite:
            raise RuntimeError("not in\nthe mood")
        self.value_ = np.inf if self.infinite and y[0] > self.limit else y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


def test_predictions_are_those_of_scikit_learns_cross_validation():
    ours = evaluate_folds(LinearRegression(), X, Y, FOLDS)
    for row, seed in zip(ours, (5, 6)):
        theirs = cross_val_predict(LinearRegression(), X, Y, cv=ContinuousStratifiedKFold(4, 4, random_state=seed))
        assert row == pytest.approx(theirs, abs=1e-12)


def test_scores_are_those_of_scikit_learns_metrics():
    predictions = evaluate_folds(LinearRegression(), X, Y, FOLDS)
    scores = regression_scores(Y, predictions, FOLDS, 4, unit=2.0)
    for s in range(2):
        for fold in range(4):
            test = FOLDS[s] == fold
            truth, predicted = Y[test], predictions[s, test]
            assert scores["rmse"][s, fold] == pytest.approx(root_mean_squared_error(truth, predicted) / 2)
            assert scores["mae"][s, fold] == pytest.approx(mean_absolute_error(truth, predicted) / 2)
            assert scores["r2"][s, fold] == pytest.approx(r2_score(truth, predicted))


@pytest.mark.parametrize("infinite", [False, True])
def test_a_fit_that_fails_is_a_row_and_costs_no_other(infinite):
    limit = np.median([Y[FOLDS[s] != f][0] for s in range(2) for f in range(4)])
    scores = evaluate_cell(Moody(limit, infinite), X, Y, FOLDS)
    failed = np.array([[Y[FOLDS[s] != f][0] > limit for f in range(4)] for s in range(2)])
    assert 0 < failed.sum() < 8
    assert (scores["status"] == np.where(failed, "failed", "ok")).all()
    assert (np.isnan(scores["rmse"]) == failed).all()
    expected = "predictions are not finite" if infinite else "RuntimeError: not in the mood"
    assert set(scores["message"][failed]) == {expected}


def test_a_shared_path_that_raises_falls_back_to_single_fits():
    class Shared(Moody):
        def predict_folds(self, X, y, folds, random_states=None):
            raise MemoryError

    scores = evaluate_cell(Shared(limit=np.inf), X, Y, FOLDS)
    assert (scores["status"] == "ok").all()


def test_replicates_are_averaged_over_the_states_zero_one_and_so_on():
    class Drawn(Moody):
        def __init__(self, random_state=None):
            self.random_state = random_state

        def fit(self, X, y):
            self.value_ = np.random.default_rng(self.random_state).normal()
            return self

    each = [evaluate_cell(Drawn(r), X, Y, FOLDS)["rmse"] for r in range(3)]
    assert evaluate_cell(Drawn(), X, Y, FOLDS, replicates=3)["rmse"] == pytest.approx(np.mean(each, axis=0))


def test_scaling_per_fold_does_not_see_the_test_part():
    y = Y.copy()
    folds = FOLDS[:1]
    estimator = build_learner({"import": "sklearn.neighbors.KNeighborsRegressor", "params": {"n_neighbors": 2}}, "fold")
    before = evaluate_folds(estimator, X, y, folds)
    test = folds[0] == 0
    moved = X.copy()
    moved[np.flatnonzero(test)[0], 0] = 100.0  # one test row far outside the range
    after = evaluate_folds(estimator, moved, y, folds)
    unchanged = test.copy()
    unchanged[np.flatnonzero(test)[0]] = False
    assert (before[0, unchanged] == after[0, unchanged]).all()


def test_a_learner_that_cannot_be_built_is_named():
    with pytest.raises(ValueError, match=r"cannot import 'sklearn.svm.SRV'"):
        build_learner({"import": "sklearn.svm.SRV"})
    with pytest.raises(ValueError, match=r"learner sklearn.svm.SVR: .*'c'"):
        build_learner({"import": "sklearn.svm.SVR", "params": {"c": 1}})


def test_rows_come_back_as_they_were_written_and_summarised_by_seed(tmp_path):
    scores = evaluate_cell(LinearRegression(), X, Y, FOLDS)
    rows = fold_rows(scores, np.array([5, 6]), dataset="d", learner="L", partitioner="SCV4", k=4)
    write_rows(tmp_path / "a.parquet", rows, SCORE_SCHEMA)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
    back = read_columns(tmp_path / "a.parquet", SCORE_SCHEMA.names)
    assert back["seed"].tolist() == [5] * 4 + [6] * 4 and back["fold"].tolist() == [0, 1, 2, 3] * 2
    assert (back["rmse"] == scores["rmse"].ravel()).all() and set(back["dataset"]) == {"d"}
    (means,) = (summarise_scores(cell, METRICS) for cell in split_cells(back))
    assert means["rmse"] == pytest.approx(scores["rmse"].mean(axis=1)) and means["n_failed"].tolist() == [0, 0]
    arrays = by_cell(means, ("learner", "k"), "rmse", ["d"], [("L", 4)])
    assert arrays[("L", 4)].shape == (1, 2)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="40, 40 and 39 samples"):
        evaluate_folds(LinearRegression(), X, Y, FOLDS[:, :39])


def test_a_random_learner_inside_another_gets_the_state_of_its_fit():
    spec = {"import": "foldshift.learners.GBMRegressor", "params": {"n_trees": 5}}
    states = np.arange(8, dtype=np.uint32).reshape(2, 4)
    first, second = (evaluate_folds(build_learner(spec, "fold"), X, Y, FOLDS, random_states=states) for _ in range(2))
    assert (first == second).all()
    assert (first != evaluate_folds(build_learner(spec, "fold"), X, Y, FOLDS, random_states=states + np.uint32(9))).any()


def test_a_classifier_predicts_labels():
    labels = np.where(np.median(Y) < Y, "high", "low")
    predictions = evaluate_folds(build_learner({"import": "sklearn.naive_bayes.GaussianNB"}), X, labels, FOLDS)
    assert predictions.shape == FOLDS.shape and set(predictions.ravel()) == {"high", "low"}
