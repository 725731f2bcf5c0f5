import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import cross_val_predict

import evaluate
from foldshift.core.errors import DataError
from foldshift.datasets.dataset import Dataset, write_prepared
from foldshift.engine.jobs import isolation
from foldshift.engine.storage.fold_files import part_of_block, write_folds
from foldshift.engine.storage.score_files import SCORE_SCHEMA, fold_rows, read_columns, write_rows
from foldshift.engine.storage.seed_results import by_cell, select_cells, summarise_scores
from foldshift.evaluation import build_learner, evaluate_cell, evaluate_folds, regression_scores
from foldshift.evaluation.regression_scores import METRICS
from foldshift.evaluation.regressors import lost_scores
from foldshift.partition import ContinuousStratifiedKFold, make_folds
from foldshift.studies.saez_2022.measure import compare_scaling

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


@pytest.mark.parametrize("error", [MemoryError, SystemExit, ValueError])
def test_a_shared_path_that_raises_falls_back_to_single_fits(caplog, error):
    class Shared(Moody):
        def predict_folds(self, X, y, folds, random_states=None):
            raise error("not\ntogether")

    scores = evaluate_cell(Shared(limit=np.inf), X, Y, FOLDS)
    assert (scores["status"] == "ok").all()
    assert [one.getMessage() for one in caplog.records] == [
        f"the fits do not share work ({error.__name__}: not together); one by one now"
    ]


class Greedy(Moody):
    """Wants more memory than there is, in the shared path and in every fit."""

    n_fits = 0

    def predict_folds(self, X, y, folds, random_states=None):
        raise MemoryError("for all")

    def fit(self, X, y):
        Greedy.n_fits += 1
        raise MemoryError("for one")


def test_a_fit_without_memory_ends_the_cell_at_once_because_the_others_need_as_much():
    Greedy.n_fits = 0
    with pytest.raises(MemoryError, match="for one"):
        evaluate_cell(Greedy(), X, Y, FOLDS)
    assert Greedy.n_fits == 1


def test_a_learner_that_wants_to_leave_the_program_costs_its_fits():
    class Leaving(Moody):
        def fit(self, X, y):
            sys.exit("goodbye")

    scores = evaluate_cell(Leaving(), X, Y, FOLDS)
    assert (scores["status"] == "failed").all() and set(scores["message"].ravel()) == {"SystemExit: goodbye"}


def test_a_cell_that_was_lost_has_all_rows_with_sizes_and_without_numbers(tmp_path):
    whole, lost = evaluate_cell(LinearRegression(), X, Y, FOLDS), lost_scores(FOLDS, METRICS, "timeout", "too slow")
    assert list(lost) == list(whole)
    for name in whole:
        assert lost[name].shape == whole[name].shape == (2, 4)
        assert np.asarray(lost[name]).dtype.kind == np.asarray(whole[name]).dtype.kind
    for name in ("n_train", "n_test"):
        np.testing.assert_array_equal(lost[name], whole[name])
    assert all(np.isnan(lost[name]).all() for name in (*METRICS, "fit_seconds"))
    rows = fold_rows(lost, np.array([5, 6]), dataset="d", learner="L", partitioner="SCV4", k=4)
    write_rows(tmp_path / "a.parquet", rows, SCORE_SCHEMA)
    back = read_columns(tmp_path / "a.parquet", SCORE_SCHEMA.names)
    assert set(back["status"]) == {"timeout"} and set(back["message"]) == {"too slow"} and len(back["fold"]) == 8
    rows = select_cells(back, ("learner", "partitioner", "k"), {("L", "SCV4", 4): 2})["L", "SCV4", 4]
    means = summarise_scores({name: values[rows] for name, values in back.items()}, METRICS)
    assert np.isnan(means["rmse"]).all() and means["n_failed"].tolist() == [4, 4]


def test_a_job_takes_its_seeds_out_of_a_file_that_holds_more():
    folds = {("CV", 2): np.arange(16).reshape(8, 2), ("CV", 5): np.arange(24).reshape(24, 1)}
    seeds = {2: np.arange(8) + 100, 5: np.arange(24) + 200}
    part, chosen = part_of_block(folds, seeds, "8-15", "10-11")  # one run per seed with two folds, three with five
    assert part["CV", 2].tolist() == [[4, 5], [6, 7]] and part["CV", 5].ravel().tolist() == [6, 7, 8, 9, 10, 11]
    assert chosen[2].tolist() == [102, 103] and chosen[5].tolist() == [206, 207, 208, 209, 210, 211]
    part, chosen = part_of_block(folds, seeds, "8-15", "8-15")
    assert all((part[name] == folds[name]).all() for name in folds) and all((chosen[k] == seeds[k]).all() for k in seeds)


DATA = Dataset(
    name="plane",
    task="regression",
    X=(X - X.min(axis=0)) / np.ptp(X, axis=0),
    y=(Y - Y.min()) / np.ptp(Y),
    feature_names=("a", "b", "c"),
    kinds=("real",) * 3,
    categories=((),) * 3,
    classes=(),
    groups=None,
    target="y",
    target_range=(0.0, 1.0),
    feature_ranges=np.tile([0.0, 1.0], (3, 1)),
    scaling="global",
    rows=np.arange(40),
    n_dropped=0,
    constant_features=(),
    notes=(),
)


def entry(path, **params):
    return {"import": path, "params": params, "nominal": "codes"}


GOOD = {
    "NN": entry("foldshift.learners.NNRegressor"),
    "GBM": entry("foldshift.learners.GBMRegressor", n_trees=3),
    "Tree": entry("sklearn.tree.DecisionTreeRegressor", max_features=1),
}
BAD = {way: entry("misbehaving.Misbehaving", way=way) for way in ("raise", "hoard", "end", "kill", "crash", "exit")}
LIMITS = {"minutes": None, "memory_mb": 200}
SHORT = {"minutes": 0.015, "memory_mb": None}
CUTS = [(name, k) for k in (2, 3) for name in ("CV", "TSCV")]
NO_LIMITS = {"minutes": None, "memory_mb": None}


@pytest.fixture
def job(tmp_path):
    """Make the job of a script that evaluates the learners given."""
    folds = {(name, k): make_folds(name, DATA.X, DATA.y, k, [5, 6, 7, 8]) for k in (2, 3) for name in ("CV", "TSCV")}
    (tmp_path / "CV+TSCV_2x1+3x1").mkdir()
    write_folds(tmp_path / "CV+TSCV_2x1+3x1/0-3.npz", folds, {2: [5, 6, 7, 8], 3: [5, 6, 7, 8]})
    write_prepared(tmp_path / "scaled.npz", DATA)
    write_prepared(tmp_path / "raw.npz", replace(DATA, X=3 * DATA.X, y=2 * DATA.y, target_range=(0.0, 2.0), scaling="fold"))
    inputs = {"data": tmp_path / "scaled.npz", "folds": tmp_path / "CV+TSCV_2x1+3x1/0-3.npz"}

    def make(learners, name="scores", limits=LIMITS, folds=None, **params):
        return SimpleNamespace(
            input=SimpleNamespace(
                **inputs | ({"folds": folds} if folds else {}), scaled=inputs["data"], raw=tmp_path / "raw.npz"
            ),
            output=SimpleNamespace(scores=tmp_path / f"{name}.parquet", rows=tmp_path / f"{name}.csv"),
            params=SimpleNamespace(task="regression", cuts=CUTS, learners=learners, master_seed=1, limits=limits, **params),
            wildcards=SimpleNamespace(block="1-2"),
        )

    return make


def scores_of(job):
    evaluate.main(job)
    return pd.read_parquet(job.output.scores)


def rows_of_scalings(job):
    """Rows of the comparison of scalings, with the inputs and parameters of a job."""
    params = {name: value for name, value in vars(job.params).items() if name not in ("task", "cuts")}
    rows = compare_scaling(job.input, {"dataset": DATA.name}, **params)["scaling"]
    return pd.concat([pd.DataFrame(row) for row in rows], ignore_index=True)


def rows_of(learner, scores):
    """Rows of one learner without what differs from run to run."""
    rows = scores[scores["learner"] == learner].drop(columns="fit_seconds", errors="ignore").reset_index(drop=True)
    return rows.astype(dict.fromkeys(rows.select_dtypes("category"), str))


def test_rows_are_the_same_in_a_process_of_their_own_and_in_this_one(job, monkeypatch):
    apart = scores_of(job(GOOD, limits=NO_LIMITS)).drop(columns="fit_seconds")
    monkeypatch.setattr(isolation, "can_isolate", lambda: False)
    here = scores_of(job(GOOD, "here", limits=NO_LIMITS)).drop(columns="fit_seconds")
    pd.testing.assert_frame_equal(apart, here, check_exact=True)
    assert len(here) == 3 * 2 * 2 * (2 + 3) and set(here["seed"]) == {6, 7} and (here["status"] == "ok").all()


@pytest.mark.skipif(not isolation.can_isolate(), reason="cells are isolated on Linux only")
def test_learners_that_misbehave_cost_their_own_rows_only(job):
    good = scores_of(job(GOOD, limits=NO_LIMITS))
    order = ["raise", "NN", "hoard", "GBM", "end", "kill", "crash", "Tree", "exit"]
    mixed = scores_of(job({name: (GOOD | BAD)[name] for name in order}, "mixed"))
    for name in GOOD:
        pd.testing.assert_frame_equal(rows_of(name, mixed), rows_of(name, good), check_exact=True)
    bad = mixed[mixed["learner"].isin(list(BAD))]
    assert len(bad) == 6 * 20 and bad[list(METRICS)].isna().all(axis=None)
    assert (bad["n_train"] + bad["n_test"] == 40).all() and bad.groupby(["learner", "partitioner", "k", "seed"], observed=True)[
        "n_test"
    ].sum().eq(40).all()
    assert set(bad["status"]) == {"failed"}
    texts = bad.astype(str).groupby("learner")["message"].unique().to_dict()
    memory = texts.pop("hoard")
    assert all(text.startswith("MemoryError: Unable to allocate") and text.endswith("more than 200 MB") for text in memory)
    died = "its process died ({}), twice; perhaps the memory ran out"
    assert {name: sorted(found) for name, found in texts.items()} == {
        "raise": ["RuntimeError: not in the mood"],
        "end": [died.format("exit code 3")],
        "kill": [died.format("killed by SIGKILL")],
        "crash": [died.format("killed by SIGSEGV")],
        "exit": ["SystemExit: 3"],
    }


@pytest.mark.skipif(not isolation.can_isolate(), reason="cells are isolated on Linux only")
def test_a_learner_that_hangs_costs_its_time_limit_once(job):
    rows = scores_of(job({"hang": entry("misbehaving.Misbehaving", way="hang")}, limits=SHORT))
    assert len(rows) == 20 and set(rows["status"]) == {"timeout"} and rows[["rmse", "fit_seconds"]].isna().all(axis=None)
    late, untried = (
        "took longer than 0.015 minutes; raise cell_minutes or lower max_rows",
        "not tried: hang ran out of time on earlier",
    )
    assert rows["message"].astype(str).tolist() == [late] * 4 + [f"{untried} cells of this data set"] * 16


def test_an_error_outside_of_the_learners_fails_the_job(job, monkeypatch):
    def broken(*arguments):
        raise RuntimeError("metrics are broken")

    monkeypatch.setattr("foldshift.evaluation.regressors.regression_scores", broken)
    with pytest.raises(RuntimeError, match="metrics are broken"):
        scores_of(job(GOOD))


@pytest.mark.skipif(not isolation.can_isolate(), reason="cells are isolated on Linux only")
def test_learners_that_misbehave_have_no_errors_in_the_comparison_of_scalings(job, tmp_path):
    wanted = {"partitioners": {"CV": "CV", "TSCV": "TSCV"}, "seeds": {"CV_3x1": 2, "TSCV_3x1": 2}}
    folds = [tmp_path / "CV+TSCV_2x1+3x1/0-3.npz"]
    params = {"k": 3, "n_seeds": 2, "partitioners": ["CV", "TSCV"], "wanted": wanted, "folds": folds}
    good = job({"NN": GOOD["NN"]}, "good", NO_LIMITS, **params)
    mixed = job({"raise": BAD["raise"], "NN": GOOD["NN"], "kill": BAD["kill"]}, "mixed", **params)
    hanging = job({"hang": entry("misbehaving.Misbehaving", way="hang")}, "hanging", SHORT, **params)
    good, mixed, hanging = map(rows_of_scalings, (good, mixed, hanging))
    assert (
        mixed["regressor"].tolist() == ["raise"] * 2 + ["NN"] * 2 + ["kill"] * 2 and hanging["regressor"].tolist() == ["hang"] * 2
    )
    assert hanging[["rmse_global", "rmse_fold"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(mixed.query("regressor == 'NN'").reset_index(drop=True), good, check_exact=True)
    assert good[["rmse_global", "rmse_fold"]].notna().all(axis=None)
    assert mixed.query("regressor != 'NN'")[["rmse_global", "rmse_fold"]].isna().all(axis=None)


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
    rows = select_cells(back, ("learner", "partitioner", "k"), {("L", "SCV4", 4): 2})["L", "SCV4", 4]
    means = summarise_scores({name: values[rows] for name, values in back.items()}, METRICS)
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


def test_only_the_first_partitions_of_the_cells_that_are_wanted_are_selected():
    columns = {"learner": np.repeat(["a", "b"], 6), "k": np.tile([2, 2, 2, 2, 3, 3], 2)}
    columns["k"][[4, 5, 10, 11]] = 1
    found = select_cells(columns, ("learner", "k"), {("a", 2): 1, ("b", 1): 2})
    assert found == {("a", 2): slice(0, 2), ("b", 1): slice(10, 12)}
    for wanted in ({("a", 2): 3}, {("c", 2): 1}):
        with pytest.raises(DataError, match="are not those that the name of the file promises; delete the file and run again"):
            select_cells(columns, ("learner", "k"), wanted)
