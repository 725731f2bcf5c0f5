"""Classifiers over many partitions: predictions, scores, failures, files."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import evaluate
from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs import isolation
from foldshift.engine.storage.fold_files import write_folds
from foldshift.engine.storage.prediction_files import read_predictions, write_predictions
from foldshift.engine.storage.score_files import CLASS_SCORE_SCHEMA, fold_rows, read_columns, write_rows
from foldshift.engine.storage.seed_results import seed_schema, summarise_scores
from foldshift.evaluation.class_scores import classification_scores
from foldshift.evaluation.classifiers import evaluate_class_cell, predict_classes
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS
from foldshift.learners import C45Classifier, LDAClassifier, NNClassifier
from foldshift.partition import SCV, make_folds
from foldshift.studies.moreno_torres_2012.experiments import by_configuration, folds_and_classes, read_experiments
from foldshift.studies.moreno_torres_2012.measure_heldout import measure_heldout
from foldshift.studies.moreno_torres_2012.tables import absent_classes, auc_table

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(60, 3)), 1)
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(np.int64)
THREE = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=60), [-0.5, 0.5])
X_FIRST = X[0].sum()
FOLDS = make_folds("SCV", X, Y, 4, [5, 6])


class Moody(ClassifierMixin, BaseEstimator):
    """Raises where the first training sample is that of the whole data set; gives NaN scores instead if asked to."""

    def __init__(self, quietly=False):
        self.quietly = quietly

    def fit(self, X, y):
        self.sulks_ = X[0].sum() == X_FIRST
        if self.sulks_ and not self.quietly:
            raise RuntimeError("not in\nthe mood")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan if self.sulks_ else 1 / len(self.classes_))

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class SharedMoody(Moody):
    """The same with a shared path that always raises."""

    def scores_folds(self, X, y, folds, random_states=None):
        raise RuntimeError("the shared path fails")


class Greedy(Moody):
    """Wants more memory than there is, in the shared path and in every fit."""

    n_fits = 0

    def scores_folds(self, X, y, folds, random_states=None):
        raise MemoryError("for all")

    def fit(self, X, y):
        Greedy.n_fits += 1
        raise MemoryError("for one")


@pytest.mark.parametrize("y", [Y, THREE])
def test_predictions_and_scores_are_those_of_scikit_learn(y):
    folds = make_folds("SCV", X, y, 4, [5, 6])
    predictions, scores, failures = predict_classes(LogisticRegression(), X, y, folds)
    assert failures == {}
    for s, seed in enumerate((5, 6)):
        for method, ours in (("predict", predictions[s]), ("predict_proba", scores[s])):
            theirs = cross_val_predict(LogisticRegression(), X, y, cv=SCV(4, random_state=seed), method=method)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("y", [Y, THREE])
@pytest.mark.parametrize("estimator", [LogisticRegression(), NNClassifier(3), C45Classifier(), LDAClassifier()])
def test_metrics_are_those_of_scikit_learn(estimator, y):
    folds = make_folds("SCV", X, y, 4, [5, 6])
    predictions, rows = evaluate_class_cell(estimator, X, y, folds)
    _, scores, _ = predict_classes(estimator, X, y, folds)
    for s in range(2):
        for fold in range(4):
            test = folds[s] == fold
            truth, score = y[test], scores[s, test]
            assert rows["balanced_accuracy"][s, fold] == pytest.approx(balanced_accuracy_score(truth, predictions[s, test]))
            assert rows["auc_crisp"][s, fold] == pytest.approx(balanced_accuracy_score(truth, predictions[s, test]))
            assert rows["accuracy"][s, fold] == pytest.approx((truth == predictions[s, test]).mean())
            labels = range(int(y.max()) + 1)
            assert rows["log_loss"][s, fold] == pytest.approx(log_loss(truth, score, labels=labels))
            area = np.mean([roc_auc_score(truth == c, score[:, c]) for c in labels])
            assert rows["auc"][s, fold] == pytest.approx(area)


def test_a_fold_without_a_class_has_no_ranking_auc_and_the_papers_zero():
    y = np.zeros(12, dtype=np.int64)
    y[:3] = 1
    folds = make_folds("SCV", None, y, 4, [1])
    _, rows = evaluate_class_cell(LogisticRegression(), X[:12], y, folds)
    lacking = [fold for fold in range(4) if not y[folds[0] == fold].any()]
    assert len(lacking) == 1
    assert rows["auc_crisp"][0, lacking[0]] == 0 and np.isnan(rows["auc"][0, lacking[0]])
    assert np.isfinite(np.delete(rows["auc"][0], lacking[0])).all()


@pytest.mark.parametrize("estimator", [Moody(), Moody(quietly=True), SharedMoody()])
def test_a_fit_that_fails_is_a_row_and_costs_no_other(estimator):
    failed = np.array([[X[FOLDS[s] != f][0].sum() == X_FIRST for f in range(4)] for s in range(2)])
    assert 0 < failed.sum() < 8
    predictions, rows = evaluate_class_cell(estimator, X, Y, FOLDS)
    assert (rows["status"] == np.where(failed, "failed", "ok")).all()
    assert (np.isnan(rows["auc_crisp"]) == failed).all()
    message = "class scores of Moody are not finite" if estimator.quietly else "RuntimeError: not in the mood"
    assert set(rows["message"][failed]) == {message} and set(rows["message"][~failed]) == {""}
    assert (predictions == 0).all()


def test_a_fit_without_memory_ends_the_cell_at_once_because_the_others_need_as_much():
    Greedy.n_fits = 0
    with pytest.raises(MemoryError, match="for one"):
        evaluate_class_cell(Greedy(), X, Y, FOLDS)
    assert Greedy.n_fits == 1


def test_a_class_that_a_training_part_lacks_has_no_chance_there():
    y = np.array([0] * 10 + [1] * 10 + [2])
    _, scores, failures = predict_classes(DecisionTreeClassifier(random_state=0), X[:21], y, make_folds("SCV", None, y, 3, [1]))
    assert failures == {}
    assert (scores[0, 20] == np.where(np.arange(3) == 2, 0, scores[0, 20])).all() and scores[0, 20].sum() == pytest.approx(1)


def test_a_classifier_without_class_scores_has_no_ranking_auc():
    predictions, rows = evaluate_class_cell(LinearSVC(), X, Y, FOLDS)
    assert (rows["status"] == "ok").all() and np.isfinite(rows["auc_crisp"]).all()
    assert np.isnan(rows["auc"]).all() and np.isnan(rows["log_loss"]).all()
    assert set(np.unique(predictions)) == {0, 1}


def test_random_states_reach_every_fit():
    states = np.arange(8, dtype=np.uint32).reshape(2, 4)
    tree = DecisionTreeClassifier(max_features=1)
    first, _ = evaluate_class_cell(tree, X, Y, FOLDS, random_states=states)
    again, _ = evaluate_class_cell(tree, X, Y, FOLDS, random_states=states)
    other, _ = evaluate_class_cell(tree, X, Y, FOLDS, random_states=states + 100)
    assert (first == again).all() and (first != other).any()


@pytest.mark.parametrize(("n_classes", "n_runs"), [(2, 1), (2, 17), (3, 8), (5, 9), (300, 3)])
def test_predictions_come_back_as_they_were_written(tmp_path, n_classes, n_runs):
    codes = np.random.default_rng(1).integers(0, n_classes, size=(n_runs, 23))
    codes[0, 0] = n_classes - 1
    write_predictions(
        tmp_path / "a.npz", {("C4.5@paper", "DOB-SCV@keel-balanced", 5): codes, ("1NN", "SCV", 2): codes[:1]}, n_classes
    )
    back = read_predictions(tmp_path / "a.npz")
    assert list(back) == [("C4.5@paper", "DOB-SCV@keel-balanced", 5), ("1NN", "SCV", 2)]
    np.testing.assert_array_equal(back["C4.5@paper", "DOB-SCV@keel-balanced", 5], codes)
    np.testing.assert_array_equal(back["1NN", "SCV", 2], codes[:1])


def test_two_classes_take_one_bit_per_prediction(tmp_path):
    codes = np.random.default_rng(1).integers(0, 2, size=(800, 500))  # nothing to compress
    write_predictions(tmp_path / "a.npz", {("1NN", "SCV", 2): codes}, 2)
    assert (tmp_path / "a.npz").stat().st_size < 1.05 * 800 * 500 / 8 + 1000


def test_score_rows_keep_all_metrics(tmp_path):
    _, scores = evaluate_class_cell(NNClassifier(), X, Y, FOLDS)
    write_rows(
        tmp_path / "a.parquet", fold_rows(scores, [5, 6], dataset="d", learner="1NN", partitioner="SCV", k=4), CLASS_SCORE_SCHEMA
    )
    back = read_columns(tmp_path / "a.parquet", CLASS_SCORE_SCHEMA.names)
    np.testing.assert_array_equal(back["auc"], scores["auc"].ravel())


def entry(path, **params):
    return {"import": path, "params": params, "nominal": "codes"}


GOOD = {
    "1NN": entry("foldshift.learners.NNClassifier"),
    "LDA": entry("foldshift.learners.LDAClassifier"),
    "Tree": entry("sklearn.tree.DecisionTreeClassifier", max_features=1),
}
BAD = {way: entry("misbehaving.Misbehaving", way=way) for way in ("raise", "hoard", "kill")}
LIMITS = {"minutes": None, "memory_mb": 200}
SHORT = {"minutes": 0.015, "memory_mb": None}
SLEEP = {"sleep": entry("misbehaving.Misbehaving", way="sleep")}
NO_LIMITS = {"minutes": None, "memory_mb": None}
linux = pytest.mark.skipif(not isolation.can_isolate(), reason="cells are isolated on Linux only")


@pytest.fixture
def run_classify(tmp_path):
    """Run the script on the learners given; return scores and predictions."""
    data = replace(draw_population("circles", 60, np.random.default_rng(1)), name="rings")
    write_prepared(tmp_path / "rings.npz", data)
    folds = {(name, k): make_folds(name, data.X, data.y, k, [1, 2, 3, 4]) for k in (2, 3) for name in ("SCV", "DOB-SCV")}
    write_folds(tmp_path / "0-1.npz", folds, {2: [1, 2, 3, 4], 3: [1, 2, 3, 4]})

    def main(learners, limits=LIMITS):
        job = SimpleNamespace(
            input=SimpleNamespace(data=tmp_path / "rings.npz", folds=tmp_path / "0-1.npz"),
            output=SimpleNamespace(scores=tmp_path / "scores.parquet", predictions=tmp_path / "predictions.npz"),
            params=SimpleNamespace(task="classification", cuts=list(folds), learners=learners, master_seed=1, limits=limits),
            wildcards=SimpleNamespace(block="1-1"),
        )
        evaluate.main(job)
        return pd.read_parquet(job.output.scores), read_predictions(job.output.predictions)

    return main


def rows_of(learner, scores):
    """Rows of one learner without what differs from run to run."""
    rows = scores[scores["learner"] == learner].drop(columns="fit_seconds", errors="ignore").reset_index(drop=True)
    return rows.astype(dict.fromkeys(rows.select_dtypes("category"), str))


def test_rows_and_predictions_are_the_same_in_a_process_of_their_own_and_in_this_one(run_classify, monkeypatch):
    scores, predictions = run_classify(GOOD, NO_LIMITS)
    monkeypatch.setattr(isolation, "can_isolate", lambda: False)
    expected_scores, expected = run_classify(GOOD, NO_LIMITS)
    scores, expected_scores = (rows.drop(columns="fit_seconds") for rows in (scores, expected_scores))
    pd.testing.assert_frame_equal(scores, expected_scores, check_exact=True)
    assert len(scores) == 3 * 2 * 2 * (2 + 3) and (scores["status"] == "ok").all()
    assert list(predictions) == list(expected) and len(predictions) == 3 * 2 * 2
    assert all((predictions[cell] == expected[cell]).all() and len(predictions[cell]) == 2 for cell in expected)


@linux
def test_classifiers_that_misbehave_cost_their_own_rows_and_predictions_only(run_classify):
    good, expected = run_classify(GOOD, NO_LIMITS)
    order = ["raise", "1NN", "LDA", "hoard", "Tree", "kill"]
    mixed, predictions = run_classify({name: (GOOD | BAD)[name] for name in order})
    for name in GOOD:
        pd.testing.assert_frame_equal(rows_of(name, mixed), rows_of(name, good), check_exact=True)
    assert all((predictions[cell] == expected[cell]).all() for cell in expected)
    bad = mixed[mixed["learner"].isin(list(BAD))]
    assert len(bad) == 3 * 20 and bad[list(CLASSIFICATION_METRICS)].isna().all(axis=None)
    assert bad.groupby(["learner", "partitioner", "k", "seed"], observed=True)["n_test"].sum().eq(60).all()
    assert set(bad["status"]) == {"failed"}
    assert all(not predictions[name, p, k].any() for name in BAD for p in ("SCV", "DOB-SCV") for k in (2, 3))


@linux
def test_a_classifier_that_hangs_costs_its_time_limit_once(run_classify):
    rows, predictions = run_classify(SLEEP, SHORT)
    assert len(rows) == 20 and set(rows["status"]) == {"timeout"} and rows[list(CLASSIFICATION_METRICS)].isna().all(axis=None)
    assert rows["message"].astype(str).str.startswith("took longer than").sum() == 4
    assert len(predictions) == 4 and not any(codes.any() for codes in predictions.values())


@linux
def test_classifiers_that_misbehave_have_no_estimates_in_the_held_out_measurement():
    def measure(learners, limits=LIMITS):
        made = measure_heldout(
            SimpleNamespace(data=[]),
            {"population": "circles"},
            n_sample=40,
            n_replicates=2,
            n_parts=2,
            schemes={2: 2, 3: 1},
            partitioners={"SCV": {"partitioner": "SCV", "options": {}}},
            learners=learners,
            master_seed=7,
            limits=limits,
        )
        return pd.concat([pd.DataFrame(rows) for rows in made["held_out"]], ignore_index=True)

    good = measure({"1NN": GOOD["1NN"]}, NO_LIMITS)
    mixed = measure({"raise": BAD["raise"], "1NN": GOOD["1NN"], "kill": BAD["kill"]})
    names = [name for _ in range(2) for name in ("raise", "1NN", "kill") for _ in range(2)]
    assert mixed["learner"].astype(str).tolist() == names
    pd.testing.assert_frame_equal(rows_of("1NN", mixed), rows_of("1NN", good), check_exact=True)
    numbers = ["estimate", "truth_part", "truth_whole"]
    assert measure(SLEEP, SHORT)[numbers].isna().all(axis=None)
    assert good[numbers].notna().all(axis=None) and mixed[mixed["learner"] != "1NN"][numbers].isna().all(axis=None)


def seed_rows(folder, counts, k=10):
    """Seed rows of a classifier that knows all classes but the last, for classes of these sizes."""
    codes = np.repeat(np.arange(len(counts)), counts)
    folds = make_folds("SCV", None, codes, k, range(4))
    predictions = np.where(codes == len(counts) - 1, 0, codes)[None].repeat(4, axis=0)
    metrics = classification_scores(codes, predictions, None, folds, k)
    cell = {name: values.ravel() for name, values in metrics.items()} | {"status": np.full(4 * k, "ok", dtype=object)}
    cell |= {name: np.full(4 * k, name, dtype=object) for name in ("dataset", "learner")}
    cell |= {"partitioner": np.full(4 * k, "truth", dtype=object), "k": np.full(4 * k, k), "seed": np.repeat(range(4), k)}
    rows = summarise_scores(cell, CLASSIFICATION_METRICS)
    write_rows(folder / "rows.parquet", rows, seed_schema(CLASSIFICATION_METRICS))
    return cell, rows


def test_a_class_with_fewer_rows_than_folds_does_not_pull_the_corrected_area_to_zero(tmp_path):
    _, rows = seed_rows(tmp_path, (40, 19, 1))
    assert rows["auc_crisp"].max() < 0.1
    np.testing.assert_allclose(rows["auc_corrected"], (9 + 2 / 3) / 10)
    assert rows["n_folds_of_classes"].tolist() == [10] * 4
    np.testing.assert_allclose(rows["n_classes"], 2.1)
    settings = {"ids": {"paper": {"1NN": "learner"}, "corrected": {"1NN": "learner"}}, "learners": ["1NN"]}
    settings |= {"datasets": ["dataset"], "iterations": {10: 2}}
    results = by_configuration([tmp_path / "rows.parquet"], settings)
    rests = folds_and_classes([tmp_path / "rows.parquet"], settings)
    table = auc_table(results, {10: 2}, ["1NN"], ["dataset"], rests).set_index("configuration")
    assert table.loc["paper", "auc"] < 0.1 and table.loc["corrected", "auc"] == pytest.approx((9 + 2 / 3) / 10)
    assert table["folds"].tolist() == [10, 10] and table["classes"].tolist() == pytest.approx([2.1, 2.1])
    (note,) = absent_classes(table.reset_index())
    assert note.startswith("dataset, ") and "they have 2.10 on average; paper configuration: such a part counts 0" in note


def test_folds_of_one_class_are_left_out_and_failed_ones_are_not_hidden(tmp_path):
    cell, rows = seed_rows(tmp_path, (38, 2))
    assert rows["n_folds_of_classes"].tolist() == [2] * 4 and rows["auc_corrected"].tolist() == [0.5] * 4
    cell["status"][0], cell["auc_corrected"][0] = "failed", np.nan
    assert np.isnan(summarise_scores(cell, CLASSIFICATION_METRICS)["auc_corrected"]).tolist() == [True, False, False, False]


def test_experiments_are_means_over_the_iterations_of_a_scheme(tmp_path):
    import pandas as pd

    rows = [
        {"dataset": "a", "learner": learner, "partitioner": "SCV", "k": k, "auc_crisp": value}
        for learner, shift in (("1NN", 0.0), ("SVM", 0.5))
        for k, values in ((5, [0.1, 0.3, 0.2, 0.4]), (10, [0.1, 0.2]))
        for value in np.array(values) + shift
    ]
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame(rows)[:6].assign(dataset="b").to_parquet(tmp_path / "b.parquet")  # SVM was not run on b
    values = read_experiments([tmp_path / "a.parquet", tmp_path / "b.parquet"], ["SVM", "1NN"], ["a", "b"], {5: 2, 10: 1})
    assert values.keys() == {(5, "SCV"), (10, "SCV")}
    np.testing.assert_allclose(values[5, "SCV"], [[[0.7, 0.8], [np.nan, np.nan]], [[0.2, 0.3], [0.2, 0.3]]])
    np.testing.assert_allclose(values[10, "SCV"][0, 0], [0.6, 0.7])
    with pytest.raises(ValueError, match="holds data set b; expected a"):
        read_experiments([tmp_path / "b.parquet"], ["1NN"], ["a"], {5: 2})
