"""Experiments until the estimate is stable: criterion, cells, files, Table VII."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator
from foldshift.datasets import load_dataset
from foldshift.datasets.dataset import write_prepared
from foldshift.engine.layout.file_names import bundle_name
from foldshift.engine.storage.fold_files import read_folds, write_folds
from foldshift.engine.storage.prediction_files import read_predictions, write_predictions
from foldshift.engine.storage.score_files import write_rows
from foldshift.evaluation.class_scores import classification_scores
from foldshift.inference.repetitions import convergence, recall_convergence
from foldshift.inference.repetitions.convergence import (
    CRITERIA,
    EXPECTED,
    PRIMARY,
    THRESHOLDS,
    accumulated_correlations,
    converge_cell,
    converged_after,
    expected_runs,
)
from foldshift.inference.repetitions.recall_convergence import RECALL, RECALL_CRITERIA, converge_by_recall
from foldshift.partition import make_folds
from foldshift.reporting.figure_style import plt
from foldshift.reporting.table_grid import to_html
from foldshift.studies.moreno_torres_2012.convergence_tables import (
    DISTANCE,
    LEVEL,
    PRINTED,
    convergence_curves,
    convergence_grid,
    convergence_table,
    curves_grid,
    pair_means,
    sensitivity_grid,
    sensitivity_table,
)
from foldshift.studies.moreno_torres_2012.convergence_tables import convergence as convergence_items
from foldshift.studies.moreno_torres_2012.figures import draw_convergence_curves
from foldshift.studies.moreno_torres_2012.measure_convergence import ALL_CRITERIA, SCHEMAS, measure_convergence


def algorithm_5(experiments, threshold):
    """The loop as the paper prints it, with the average as the estimate that a union of experiments gives; None where it runs out
    of experiments."""
    if len(experiments) < 2:
        return None
    before, after = [experiments[0]], [experiments[0], experiments[1]]
    k = 2
    while correlation(np.mean(before, axis=0), np.mean(after, axis=0)) < threshold:
        if k == len(experiments):
            return None
        before = after
        after = [*after, experiments[k]]
        k += 1
    return k


def correlation(a, b):
    if np.ptp(a) < 1e-12 or np.ptp(b) < 1e-12:
        return np.nan
    return np.corrcoef(a, b)[0, 1]


# --- converged_after
# ---------------------------------------------------------------------------------------------------------------


def test_correlations_by_hand():
    # accumulated: (1,0,0), (1,1,0), (2,1,0); centred in thirds (2,-1,-1), (1,1,-2), (3,0,-3)
    vectors = [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    expected = [3 / np.sqrt(6 * 6), 9 / np.sqrt(6 * 18)]
    np.testing.assert_allclose(accumulated_correlations(vectors), expected, rtol=1e-15)
    assert converged_after(vectors, threshold=0.5) == 2
    assert converged_after(vectors, threshold=0.86) == 3
    assert converged_after(vectors, threshold=0.87) is None


def test_last_is_the_first_step_from_which_on_it_holds():
    # after three like (1,0,0) the correlation is 1, then (0,0,1) spoils it, then it rises
    vectors = np.array([[1, 0, 0]] * 3 + [[0, 0, 1]] * 3)
    correlations = accumulated_correlations(vectors)
    assert correlations[:2].tolist() == [1.0, 1.0] and correlations[2] < 0.99
    assert converged_after(vectors, threshold=0.99) == 2
    assert converged_after(vectors, threshold=0.5, rule="last") == next(
        t for t in range(2, 7) if (correlations[t - 2 :] >= 0.5).all()
    )
    assert converged_after(vectors[:4], threshold=0.99, rule="last") is None
    assert converged_after(vectors[:3], threshold=0.99, rule="last") == 2


@pytest.mark.parametrize("rule", ["first", "last"])
def test_an_undefined_correlation_counts_as_it_is_told(rule):
    same = np.ones((5, 4), dtype=bool)
    assert np.isnan(accumulated_correlations(same)).all()
    assert converged_after(same, rule=rule) == 2
    assert converged_after(same, rule=rule, undefined="not_converged") is None
    assert converged_after(np.zeros((5, 4)), rule=rule) == 2


def test_one_constant_vector_of_two_is_enough_to_be_undefined():
    vectors = [[1, 1, 1], [1, 0, 1], [1, 0, 1]]
    assert np.isnan(accumulated_correlations(vectors)).tolist() == [True, False]
    assert converged_after(vectors) == 2
    assert converged_after(vectors, undefined="not_converged") == 3  # (2,1,2) and (3,1,3) correlate perfectly


def test_sums_of_reals_that_are_equal_but_for_rounding_are_constant():
    vectors = [[0.1, 0.3, 0.2], [0.2, 0.1, 0.3], [0.3, 0.2, 0.1]]
    assert np.ptp(np.cumsum(vectors, axis=0)[-1]) > 0  # .1 + .2 + .3 is not .3 + .2 + .1
    assert np.isnan(accumulated_correlations(vectors)[1])


def test_one_run_never_converges_and_two_equal_runs_have():
    assert converged_after([[1, 0, 1]]) is None
    assert converged_after([[1, 0, 1], [1, 0, 1]]) == 2
    assert converged_after([[1, 0, 1]] * 4, threshold=1.0) == 2  # in integers a correlation of 1 is 1
    assert converged_after([[1, 0, 1]] * 3, step=3) is None
    assert converged_after([[1.0], [2.0]]) == 2  # a single entry is constant


def test_steps_are_counted_in_runs():
    rng = np.random.default_rng(0)
    runs = 0.1 * rng.random((30, 20)) + rng.random(20)
    sums = runs.reshape(10, 3, 20).sum(axis=1)
    np.testing.assert_allclose(accumulated_correlations(runs, step=3), accumulated_correlations(sums), rtol=1e-12)
    assert converged_after(runs, threshold=0.999, step=3) == 3 * converged_after(sums, threshold=0.999)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 12), st.sampled_from([0.5, 0.9, 0.99, 0.999]), st.booleans())
def test_it_is_algorithm_5(seed, n_runs, m, threshold, real):
    rng = np.random.default_rng(seed)
    p = rng.random(m)
    vectors = p + 0.3 * rng.normal(size=(n_runs, m)) if real else rng.random((n_runs, m)) < p
    assert converged_after(vectors, threshold=threshold) == algorithm_5(list(vectors.astype(float)), threshold)


def test_large_numbers_give_what_small_ones_do():
    vectors = np.random.default_rng(0).integers(0, 50, size=(20, 30))
    small = accumulated_correlations(vectors)
    np.testing.assert_allclose(accumulated_correlations(vectors * 10**12), small, rtol=1e-12)
    np.testing.assert_allclose(accumulated_correlations(vectors / 7), small, rtol=1e-12)
    np.testing.assert_allclose(accumulated_correlations(vectors + 1e6), small, rtol=1e-7)
    np.testing.assert_allclose(accumulated_correlations(vectors - 60), small, rtol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 1.1}, "threshold=1.1 must be above -1 and at most 1"),
        ({"rule": "any"}, "rule='any' must be 'first' or 'last'"),
        ({"undefined": 1}, "undefined=1 must be 'converged' or 'not_converged'"),
        ({"step": 2}, "step=2 must be at least 1 and divide the number of runs, 3"),
        ({"step": 0}, "step=0 must be at least 1"),
        ({"vectors": [1, 2]}, r"vectors have shape \(2,\); expected \(n_runs, m\)"),
        ({"vectors": np.empty((0, 3))}, "with at least one run and one entry"),
        ({"vectors": [["a", "b"]]}, "expected numbers"),
        ({"vectors": [[1.0, np.nan]]}, "NaN or infinite"),
    ],
)
def test_bad_arguments_have_a_message(arguments, message):
    with pytest.raises(ValueError, match=message):
        converged_after(**({"vectors": np.eye(3)} | arguments))


# --- a cell
# -----------------------------------------------------------------------------------------------------------------------

N_FOLDS, N_ITERATIONS, N_EXPERIMENTS = 3, 2, 12


def make_cell(n_classes, seed=0, n_samples=60, error=0.3, n_folds=N_FOLDS, n_runs=N_ITERATIONS * N_EXPERIMENTS):
    rng = np.random.default_rng(seed)
    codes = np.maximum(np.arange(n_samples) % (n_classes + 2) - 2, 0)  # three times as many of the first class
    difficulty = error * rng.beta(0.5, 0.5, size=n_samples)
    wrong = rng.random((n_runs, n_samples)) < difficulty
    predictions = np.where(wrong, (codes + 1) % n_classes, codes).astype(np.uint8)
    folds = make_folds("SCV", np.zeros((n_samples, 1)), codes, n_folds, list(range(n_runs)))
    return codes, predictions, folds


def vectors_of(name, codes, predictions, folds):
    """The vectors of a criterion, straight from its description: one row per step."""
    n_classes = codes.max() + 1
    if name.startswith("instances"):
        if "correct" in name:
            rows = predictions == codes
        elif n_classes == 2:
            rows = predictions.astype(int)
        else:
            rows = np.concatenate([predictions == c for c in range(n_classes)], axis=1)
        return rows if name.endswith("run") else rows.reshape(N_EXPERIMENTS, N_ITERATIONS, -1).sum(axis=1)
    if name == "fold x class rates":
        recall = [
            [[np.mean(p[(f == fold) & (codes == c)] == c) for c in range(n_classes)] for fold in range(N_FOLDS)]
            for p, f in zip(predictions, folds)
        ]
        return np.round(recall, 5).reshape(N_EXPERIMENTS, N_ITERATIONS, -1).mean(axis=1)
    areas = np.round(classification_scores(codes, predictions, None, folds, N_FOLDS)["auc_crisp"], 5).reshape(N_EXPERIMENTS, -1)
    return np.sort(areas, axis=1) if "sorted" in name else areas


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", list(CRITERIA))
def test_every_criterion_is_its_description(name, n_classes):
    codes, predictions, folds = make_cell(n_classes)
    orders = np.array([np.arange(N_EXPERIMENTS), np.random.default_rng(1).permutation(N_EXPERIMENTS)])
    thresholds = (0.7, 0.9, 0.99, 0.999)
    found = converge_cell(codes, predictions, folds, N_ITERATIONS, orders, thresholds)
    assert found.experiments[name].shape == (2, 4, 2)
    vectors = vectors_of(name, codes, predictions, folds)
    unit = N_ITERATIONS if name.endswith(", run") else 1
    for o, order in enumerate(orders):
        steps = (order[:, None] * unit + np.arange(unit)).ravel()
        for t, threshold in enumerate(thresholds):
            expected = algorithm_5(list(vectors[steps].astype(float)), threshold)
            assert found.experiments[name][o, t, 0] == pytest.approx(np.nan if expected is None else expected / unit, nan_ok=True)
            for r, rule in enumerate(("first", "last")):
                direct = converged_after(vectors[steps], threshold=threshold, rule=rule)
                expected = np.nan if direct is None else direct / unit
                assert found.experiments[name][o, t, r] == pytest.approx(expected, nan_ok=True)
        if name == PRIMARY:
            np.testing.assert_array_equal(found.correlations[o], accumulated_correlations(vectors[steps]))
    assert np.isfinite(found.experiments[name][:, 0]).any()  # at .7 most have converged: the comparison is not of NaN with NaN


def recall_vectors(name, codes, predictions, folds, n_iterations, fold_order):
    """The vectors of a criterion of recall, straight from its description: one row per experiment."""
    n_runs, n_folds = fold_order.shape
    n_classes = codes.max() + 1
    place = fold_order if name != "recall, folds in order" else np.tile(np.arange(n_folds), (n_runs, 1))
    used = 1 if name == "recall, one run" or (n_folds == 2 and name != "recall, all runs") else n_iterations
    rows = []
    for start in range(0, n_runs, n_iterations):
        runs = []
        for run in range(start, start + used):
            numbers = []
            for fold in place[run]:
                inside = folds[run] == fold
                recall = [round(np.mean(predictions[run][inside & (codes == c)] == c), 5) for c in range(n_classes)]
                if name == "true and false positives":
                    recall[0] = 1 - recall[0]
                numbers += [*recall, round(np.mean(recall), 5)] if name == "recall and area" else recall
            runs.append(numbers)
        rows.append(np.ravel(runs) if name == "recall, runs apart" else np.mean(runs, axis=0))
    return np.array(rows)


@pytest.mark.parametrize(("n_folds", "n_iterations"), [(2, 3), (3, 2), (4, 1)])
@pytest.mark.parametrize("name", list(RECALL_CRITERIA))
def test_every_criterion_of_recall_is_its_description(name, n_folds, n_iterations, monkeypatch):
    thresholds = (0.7, 0.9, 0.99)
    monkeypatch.setattr(recall_convergence, "THRESHOLDS", thresholds)
    codes, predictions, folds = make_cell(2, n_folds=n_folds, n_runs=12 * n_iterations)
    rng = np.random.default_rng(3)
    orders = np.array([np.arange(12), rng.permutation(12)])
    fold_order = np.argsort(rng.random((len(folds), n_folds)), axis=1)
    found = converge_by_recall(codes, predictions, folds, n_iterations, orders, fold_order)
    assert list(found) == list(RECALL_CRITERIA)
    vectors = recall_vectors(name, codes, predictions, folds, n_iterations, fold_order)
    for o, order in enumerate(orders):
        expected = [algorithm_5(list(vectors[order]), threshold) for threshold in thresholds]
        np.testing.assert_array_equal(found[name][o, :, 0], [np.nan if one is None else one for one in expected])


def test_nothing_depends_on_the_order_of_the_instances_or_on_how_many_columns_are_multiplied_at_once(monkeypatch):
    codes, predictions, folds = make_cell(3)
    orders = np.arange(N_EXPERIMENTS)[None]
    first = converge_cell(codes, predictions, folds, N_ITERATIONS, orders)
    shuffled = np.random.default_rng(0).permutation(len(codes))
    monkeypatch.setattr(convergence, "COLUMNS_AT_ONCE", 7)
    second = converge_cell(codes[shuffled], predictions[:, shuffled], folds[:, shuffled], N_ITERATIONS, orders)
    for name in CRITERIA:
        np.testing.assert_array_equal(first.experiments[name], second.experiments[name])
    np.testing.assert_array_equal(first.correlations, second.correlations)
    np.testing.assert_array_equal(first.expected, second.expected)


def test_predictions_that_never_change_converge_at_two_steps():
    codes, predictions, folds = make_cell(2)
    orders = np.arange(N_EXPERIMENTS)[None]
    for constant in (codes, np.zeros_like(codes), 1 - codes, predictions[0]):
        same = np.broadcast_to(constant, predictions.shape)
        found = converge_cell(codes, same, folds, N_ITERATIONS, orders)
        for name in CRITERIA:
            if name.startswith("instances"):
                assert (found.experiments[name] == (2 / N_ITERATIONS if name.endswith("run") else 2)).all()
        assert (found.correlations == 1).all() and (found.expected == 2 / N_ITERATIONS).all()


@pytest.mark.parametrize("n_runs", [1, 2])
def test_few_runs(n_runs):
    codes, predictions, folds = make_cell(2, n_runs=n_runs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = converge_cell(codes, predictions, folds, 1, np.arange(n_runs)[None])
    assert found.correlations.shape == (1, n_runs - 1)
    if n_runs == 1:
        assert all(np.isnan(values).all() for values in found.experiments.values()) and np.isnan(found.expected).all()


def test_a_fold_that_lacks_a_class_has_recall_and_area_0():
    codes = np.array([0, 0, 0, 1])
    folds = np.array([[0, 0, 1, 1]])
    rates, areas = convergence.fold_rates(codes, codes[None], folds, 2)
    assert rates.tolist() == [[10**5, 0, 10**5, 10**5]] and areas.tolist() == [[0, 10**5]]


def test_products_too_large_for_integers_become_real():
    vectors = np.random.default_rng(0).integers(0, 10**5, size=(50, 400))
    exact, rough = convergence.integer_products(vectors), convergence.integer_products(vectors * 1000)
    assert exact.dtype == np.int64 and rough.dtype == np.float64
    np.testing.assert_allclose(rough, exact * 1e6, rtol=1e-6)


def test_runs_that_do_not_make_whole_experiments_are_refused():
    codes, predictions, folds = make_cell(2)
    with pytest.raises(ValueError, match="24 runs do not make 7 experiments of 3 runs"):
        converge_cell(codes, predictions, folds, 3, np.arange(7)[None])
    with pytest.raises(ValueError, match="shapes differ"):
        converge_cell(codes, predictions, folds[1:], 2, np.arange(12)[None])


def test_expected_runs_are_those_that_many_instances_need():
    codes, predictions, folds = make_cell(2, n_samples=20_000, n_runs=100, n_folds=2)
    orders = np.arange(100)[None]
    found = converge_cell(codes, predictions, folds, 1, orders)
    few = converge_cell(codes, predictions[:10], folds[:10], 1, orders[:, :10])
    assert found.experiments[PRIMARY][0, 0, 0] == pytest.approx(found.expected[0], abs=2)
    assert np.isnan(few.experiments[PRIMARY][0, 0, 0]) and few.expected[0] == pytest.approx(found.expected[0], rel=0.03)


def test_expected_runs_by_hand():
    # V = 1, N = 1: 1 - 1 / t^2 must reach threshold^2
    assert expected_runs(np.ones((4, 4)) + np.eye(4), np.sqrt(1 - 1 / 100)) in (10, 11)
    assert expected_runs(np.ones((4, 4)) + np.eye(4), np.sqrt(1 - 1 / 99)) == 10
    # V = 1, N = 3: 1 - 3 / (t (t + 2)), which is 1 - 3 / 120 at t = 10
    assert expected_runs(np.ones((4, 4)) + 3 * np.eye(4), np.sqrt(1 - 3 / 119.9)) == 10
    assert expected_runs(np.ones((4, 4)) + 3 * np.eye(4), np.sqrt(1 - 3 / 120.1)) == 11
    assert expected_runs(np.eye(4), np.sqrt(1 - 1 / 99.5)) == 100  # no signal: 1 - 1 / t
    assert expected_runs(np.ones((4, 4))) == 2  # no noise
    assert expected_runs(np.zeros((4, 4))) == 2
    assert np.isnan(expected_runs(np.ones((1, 1))))


# --- files
# ------------------------------------------------------------------------------------------------------------------------

DATA = load_dataset("iris")
ITERATIONS = {2: 2, 3: 1}
PARTITIONERS = ["SCV", "DOB-SCV"]


BUNDLE = bundle_name(PARTITIONERS, [f"{k}x{r}" for k, r in ITERATIONS.items()])


def write_study(folder, blocks, learners=(("A", "B"),), n_experiments=6, failed=None):
    """Folds and predictions of iris, in blocks of experiments and groups of learners."""
    folder.mkdir()
    write_prepared(folder / "iris.npz", DATA)
    folds = {
        (name, k): make_folds(name, DATA.X, DATA.y, k, list(range(r * n_experiments)))
        for name in PARTITIONERS
        for k, r in ITERATIONS.items()
    }
    codes = {}
    for i, learner in enumerate(name for group in learners for name in group):
        for (name, k), cut in folds.items():
            rng = np.random.default_rng([i, k, len(name)])
            wrong = rng.random(cut.shape) < 0.02 + 0.4 * rng.beta(0.2, 1, size=cut.shape[1])
            codes[learner, name, k] = np.where(wrong, (DATA.y + 1) % 3, DATA.y)
    cuts = [(start, min(start + blocks, n_experiments)) for start in range(0, n_experiments, blocks)]
    paths = {"data": folder / "iris.npz", "folds": [], "predictions": []}
    for a, b in cuts:
        paths["folds"].append(folder / f"folds/{BUNDLE}/{a}-{b - 1}.npz")
        paths["folds"][-1].parent.mkdir(parents=True, exist_ok=True)
        part = {key: cut[a * ITERATIONS[key[1]] : b * ITERATIONS[key[1]]] for key, cut in folds.items()}
        write_folds(paths["folds"][-1], part, {k: np.arange(a * r, b * r) for k, r in ITERATIONS.items()})
    for group in learners:
        for a, b in cuts:
            block = f"{a}-{b - 1}"
            paths["predictions"].append(folder / f"predictions/{BUNDLE}/{block}/all/{'+'.join(group)}/{block}.npz")
            paths["predictions"][-1].parent.mkdir(parents=True, exist_ok=True)
            part = {key: c[a * ITERATIONS[key[2]] : b * ITERATIONS[key[2]]] for key, c in codes.items() if key[0] in group}
            write_predictions(paths["predictions"][-1], part, 3)
    paths["scores"] = folder / "seed_scores.parquet"
    rows = [(*key, int(key == failed and run == 3)) for key, c in codes.items() for run in range(len(c))]
    pd.DataFrame(rows, columns=["learner", "partitioner", "k", "n_failed"]).to_parquet(paths["scores"])
    return paths


def measure(folder, paths, n_orders=3):
    learners = sorted({name for path in paths["predictions"] for name in path.parent.name.split("+")})
    wanted = {
        "learners": dict(zip(learners, learners)),
        "partitioners": {name: name for name in PARTITIONERS},
        "seeds": {bundle_name([name], [f"{k}x{r}"]): 6 for name in PARTITIONERS for k, r in ITERATIONS.items()},
    }
    params = {"wanted": wanted, "iterations": ITERATIONS, "n_orders": n_orders, "master_seed": 1}
    made = measure_convergence(SimpleNamespace(**paths), {"dataset": "iris"}, **params)
    for kind, rows in made.items():
        write_rows(folder / f"{kind}.parquet", rows, SCHEMAS[kind])
    return tuple(pd.read_parquet(folder / f"{kind}.parquet") for kind in SCHEMAS)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("convergence") / "one"
    return folder, *measure(folder, write_study(folder, blocks=6))


def test_rows_have_a_value_for_every_criterion_threshold_rule_and_order(measured):
    _, rows, curves = measured
    n_cells = 2 * len(PARTITIONERS) * len(ITERATIONS)
    assert len(rows) == n_cells * (len(ALL_CRITERIA) * 3 * 2 * 3 + 3)
    assert set(rows["dataset"]) == {"iris"} and set(rows["learner"]) == {"A", "B"} and set(rows["n_experiments"]) == {6}
    cut_off = rows[rows["cut_off"]]
    assert 0 < len(cut_off) < len(rows) and (cut_off["experiments"] == 6).all()
    assert rows[rows["criterion"] != EXPECTED]["experiments"].le(6).all()
    assert curves.query("k == 2 and learner == 'A' and partitioner == 'SCV'")["experiments"].tolist() == [1, 2, 3, 5, 6]
    assert curves.query("k == 3 and learner == 'A' and partitioner == 'SCV'")["experiments"].tolist() == [2, 3, 5, 6]
    assert curves["correlation"].between(-1, 1).all()


@pytest.mark.parametrize(("learner", "partitioner", "k"), [("A", "SCV", 2), ("B", "DOB-SCV", 3)])
def test_a_cell_is_measured_in_orders_that_its_names_give(measured, learner, partitioner, k):
    folder, rows, curves = measured
    predictions = read_predictions(next(folder.glob("predictions/**/*.npz")))[learner, partitioner, k]
    folds = read_folds(folder / f"folds/{BUNDLE}/0-5.npz")[0][partitioner, k]
    orders = np.argsort(generator(1, "orders", "iris", learner, partitioner, k).random((3, 6)), axis=1)
    found = converge_cell(DATA.y, predictions, folds, ITERATIONS[k], orders)
    fold_order = np.argsort(generator(1, "order of folds", "iris", partitioner, k).random((len(folds), k)), axis=1)
    by_recall = converge_by_recall(DATA.y, predictions, folds, ITERATIONS[k], orders, fold_order)
    found = found._replace(experiments=found.experiments | by_recall)
    cell = "learner == @learner and partitioner == @partitioner and k == @k"
    for name, values in found.experiments.items():
        ours = rows[rows["criterion"] == name].query(cell)["experiments"].to_numpy().reshape(values.shape)
        np.testing.assert_array_equal(ours, np.where(np.isnan(values), 6, values))
    expected = rows.query(f"{cell} and criterion == @EXPECTED")
    assert expected["experiments"].tolist() == found.expected.tolist() and expected["threshold"].tolist() == list(THRESHOLDS)
    curve = curves.query(cell)
    for n, value in zip(curve["experiments"], curve["correlation"]):
        assert value == pytest.approx(found.correlations[:, n * ITERATIONS[k] - 2].mean())


@pytest.mark.parametrize(("blocks", "learners"), [(4, (("A", "B"),)), (1, (("A",), ("B",)))])
def test_rows_do_not_depend_on_how_experiments_are_blocked_and_learners_grouped(measured, tmp_path, blocks, learners):
    _, rows, curves = measured
    ours, our_curves = measure(tmp_path / "other", write_study(tmp_path / "other", blocks, learners))
    keys = ["learner", "partitioner", "k", "criterion", "threshold", "rule", "order"]
    for a, b, by in ((rows, ours, keys), (curves, our_curves, ["learner", "partitioner", "k", "experiments"])):
        a, b = (frame.astype({"learner": str, "partitioner": str}).sort_values(by, ignore_index=True) for frame in (a, b))
        pd.testing.assert_frame_equal(a, b, check_categorical=False)


def test_fewer_orders_are_the_first_of_more(measured, tmp_path):
    _, rows, _ = measured
    ours, _ = measure(tmp_path / "other", write_study(tmp_path / "other", 6), n_orders=2)
    pd.testing.assert_frame_equal(rows[rows["order"] < 2].reset_index(drop=True), ours)


def test_a_cell_with_a_failed_fit_has_no_number_and_the_others_are_as_before(measured, tmp_path):
    _, rows, curves = measured
    folder = tmp_path / "failed"
    lost_rows, lost_curves = measure(folder, write_study(folder, blocks=6, failed=("A", "SCV", 2)))
    for before, after, column in ((rows, lost_rows, "experiments"), (curves, lost_curves, "correlation")):
        gone = (after["learner"] == "A") & (after["partitioner"] == "SCV") & (after["k"] == 2)
        assert 0 < gone.sum() < len(after) and after.loc[gone, column].isna().all()
        pd.testing.assert_frame_equal(after[~gone], before[~gone])
    assert not lost_rows.loc[lost_rows["experiments"].isna(), "cut_off"].any()
    table = convergence_table(pair_means(lost_rows), {"one": {"A": "A", "B": "B"}}, {2: 2}, PARTITIONERS, ["iris"])
    assert table["n_pairs"].tolist() == [1] * len(PARTITIONERS)  # B only, for all partitioners
    whole = convergence_table(pair_means(rows), {"one": {"B": "B"}}, {2: 2}, PARTITIONERS, ["iris"])
    assert table["mean"].tolist() == whole["mean"].tolist()


def test_predictions_that_do_not_belong_to_the_folds_are_one_line(tmp_path):
    paths = write_study(tmp_path / "short", 3)
    with pytest.raises(
        DataError, match="predictions of A, SCV, k=2: 6 runs, but folds of 12; delete the predictions and run again"
    ):
        measure(tmp_path / "short", paths | {"predictions": paths["predictions"][:1]})
    with pytest.raises(DataError, match="predictions of A, SCV, k=2: 12 runs, but folds of 0"):
        whole = write_study(tmp_path / "whole", 6)
        measure(tmp_path / "short", paths | {"folds": [], "predictions": whole["predictions"]})


def test_three_tables_are_made_from_what_was_measured(measured):
    folder, _, _ = measured
    settings = {
        "ids": {"paper": {"A": "B", "C": "C"}, "corrected": {"A": "A", "C": "C"}},  # C was not run
        "iterations": ITERATIONS,
        "partitioners": PARTITIONERS,
        "datasets": ["iris"],
    }
    inputs = SimpleNamespace(rows=[folder / "convergence.parquet"], curves=[folder / "convergence_curves.parquet"])
    made = convergence_items(inputs, settings)
    assert list(made) == ["table7_convergence", "convergence_sensitivity", "convergence_curves"]
    assert all(to_html(one.grid) for one in made.values())
    table = made["table7_convergence"].frame
    assert table.columns[:7].tolist() == ["configuration", "scheme", "partitioner", "criterion", "mean", "std", "cut_off"]
    assert table["configuration"].tolist() == ["paper"] * 8 + ["corrected"] * 8 and (table["n_pairs"] == 1).all()
    assert set(table["scheme"]) == {"2x2", "3x1"}
    rows = measured[1].query("learner == 'B' and partitioner == 'SCV' and k == 2 and criterion == @PRIMARY and rule == 'first'")
    ours = table[table["criterion"] == PRIMARY]
    assert ours["mean"].iloc[0] == pytest.approx(rows[rows["threshold"] == 0.9999]["experiments"].mean())
    assert list(dict.fromkeys(table["criterion"])) == [RECALL, PRIMARY]
    assert table.loc[table["criterion"] == RECALL, "expected"].isna().all()


# --- tables
# ------------------------------------------------------------------------------------------------------------------------

SCHEMES = {2: 5, 5: 2}
IDS = {"paper": {"1NN": "1NN@paper", "LDA": "LDA"}, "corrected": {"1NN": "1NN", "LDA": "LDA"}}


def make_rows(values, n_experiments=100):
    """Rows of the primary criterion from experiments by (data set, learner, partitioner, k): one number per order; None is cut
    off."""
    rows = []
    for (dataset, learner, partitioner, k), numbers in values.items():
        keys = {"dataset": dataset, "learner": learner, "partitioner": partitioner, "k": k}
        for order, number in enumerate(numbers):
            row = keys | {"criterion": PRIMARY, "threshold": 0.9999, "rule": "first", "order": order}
            rows.append(
                row | {"experiments": float(number or n_experiments), "cut_off": number is None, "n_experiments": n_experiments}
            )
        row = keys | {"criterion": EXPECTED, "threshold": 0.9999, "rule": "first", "order": 0}
        rows.append(row | {"experiments": 2.0 * (numbers[0] or n_experiments), "cut_off": False, "n_experiments": n_experiments})
    return pd.DataFrame(rows)


TOY = {
    (dataset, learner, partitioner, k): [d * factor * base, d * factor * base + 2]
    for dataset, d in (("a", 1), ("b", 2), ("c", 3))
    for learner, base in (("1NN", 4), ("1NN@paper", 6), ("LDA", 10))
    for partitioner, factor in (("SCV", 1), ("MS-SCV", 2))
    for k in (2, 5)
} | {("c", "LDA", "MS-SCV", 5): [None, 98]}
ARGUMENTS = (IDS, SCHEMES, ["SCV", "MS-SCV"], ["a", "b", "c"])


def test_the_table_by_hand():
    table = convergence_table(pair_means(make_rows(TOY)), *ARGUMENTS).set_index(["configuration", "scheme", "partitioner"])
    row = table.loc["corrected", "2x5", "SCV"]
    pairs = np.array([5, 11, 9, 21, 13, 31])  # mean of the orders, 1NN and LDA of a, b, c
    assert row["mean"] == pairs.mean() and row["std"] == pytest.approx(pairs.std(ddof=1)) and row["cut_off"] == 0
    assert row["standard_error"] == pytest.approx(np.sqrt(6 * 2 / 2) / 6)  # variance of (x, x + 2) is 2, of their mean 1
    assert row["expected"] == 2 * np.mean([4, 8, 12, 10, 20, 30])
    assert (row["n_pairs"], row["n_datasets"], row["n_orders"], row["n_experiments"]) == (6, 3, 2, 100)
    assert table.loc["paper", "2x5", "SCV"]["mean"] == np.mean([7, 11, 13, 21, 19, 31])
    last = table.loc["corrected", "5x2", "MS-SCV"]
    assert last["cut_off"] == 0.5 and last["mean"] == np.mean([9, 17, 25, 21, 41, 99])
    # data sets as the unit, all of the same number of pairs: the jackknife is the standard error of their means
    means = pairs.reshape(3, 2).mean(axis=1)
    assert row["dataset_error"] == pytest.approx(means.std(ddof=1) / np.sqrt(3))


def test_pairs_that_were_not_run_are_left_out_and_counted():
    short = {key: values for key, values in TOY.items() if key[:2] != ("c", "LDA")}
    table = convergence_table(pair_means(make_rows(short)), *ARGUMENTS)
    assert (table["n_pairs"] == 5).all() and (table["n_datasets"] == 3).all()
    row = table.set_index(["configuration", "scheme", "partitioner"]).loc["corrected", "2x5", "SCV"]
    assert row["mean"] == np.mean([5, 9, 13, 11, 21])
    assert "5 pairs of 3 data sets" in to_html(convergence_grid(table))


def test_a_single_data_set_and_order_give_no_error_and_no_warning():
    one = {key: values[:1] for key, values in TOY.items() if key[0] == "a"}
    rows = make_rows(one)
    curves = rows[rows["criterion"] == PRIMARY][["dataset", "learner", "partitioner", "k"]].assign(
        experiments=10, correlation=1.0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = convergence_table(pair_means(rows), *ARGUMENTS)
        assert table[["standard_error", "dataset_error", "expected_error"]].isna().all(axis=None)
        assert "14.0 (–)" in to_html(convergence_grid(table))  # expected: twice the mean of 4 and 10
        sensitivity = sensitivity_table(pair_means(rows), *ARGUMENTS)
        assert sensitivity["standard_error"].isna().all() and sensitivity["value"].notna().all()
        to_html(sensitivity_grid(sensitivity))
        shares = convergence_curves(rows, curves, *ARGUMENTS)
        assert shares["standard_error"].isna().all() and (shares["nines_median"] == 12).all()
        to_html(curves_grid(shares))
        plt.close(draw_convergence_curves(shares))


def test_ratios_by_hand():
    table = (
        sensitivity_table(pair_means(make_rows(TOY)), *ARGUMENTS)
        .set_index(["configuration", "criterion", "quantity"])
        .sort_index()
    )
    primary = table.loc["corrected", PRIMARY]
    scv = np.mean([5, 11, 9, 21, 13, 31])
    ms = {"2x5": np.mean([9, 17, 25, 21, 41, 61]), "5x2": np.mean([9, 17, 25, 21, 41, 99])}
    assert primary["value"]["5x2 / 2x5"] == 1
    assert primary["value"]["MS-SCV / SCV, 5x2"] == pytest.approx(ms["5x2"] / scv)
    assert primary["value"]["MS-SCV / SCV"] == pytest.approx((ms["2x5"] + ms["5x2"]) / 2 / scv)
    level = np.mean([scv / 18.39, scv / 37.16, ms["2x5"] / 31.42, ms["5x2"] / 62.58])
    assert primary["value"][LEVEL] == pytest.approx(level)
    assert primary["printed"]["5x2 / 2x5"] == pytest.approx(37.16 / 18.39)
    assert primary["printed"]["MS-SCV / SCV"] == pytest.approx((31.42 / 18.39 + 62.58 / 37.16) / 2)
    assert primary["printed"][LEVEL] == 1
    assert (
        primary["cut_off_percent"].tolist() == pytest.approx([100 * 0.5 / 24] * len(primary)) and (primary["n_pairs"] == 6).all()
    )
    twice_scv, twice_ms = [8, 16, 24, 20, 40, 60], [16, 32, 48, 40, 80, 100]  # the last is 120, but counts as the paper's 100
    assert table.loc["corrected", EXPECTED]["value"]["MS-SCV / SCV, 2x5"] == pytest.approx(sum(twice_ms) / sum(twice_scv))


def test_without_the_reference_there_is_only_the_level():
    table = sensitivity_table(pair_means(make_rows(TOY)), IDS, SCHEMES, ["MS-SCV"], ["a", "b", "c"])
    assert set(table["quantity"]) == {LEVEL, DISTANCE}


def test_curves_by_hand():
    rows = make_rows(TOY)
    cells = rows[rows["criterion"] == PRIMARY].drop_duplicates(["dataset", "learner", "partitioner", "k"])
    cells = cells[["dataset", "learner", "partitioner", "k"]]
    curves = pd.concat([cells.assign(experiments=n, correlation=1 - 10.0**-n) for n in (1, 5, 12)], ignore_index=True)
    table = convergence_curves(rows, curves, *ARGUMENTS).set_index(["configuration", "scheme", "partitioner", "experiments"])
    # corrected, SCV: orders end at 4/6, 8/10, 12/14, 10/12, 20/22, 30/32
    assert table.loc["corrected", "2x5", "SCV", 1]["share"] == 0
    assert table.loc["corrected", "2x5", "SCV", 5]["share"] == pytest.approx(0.5 / 6)
    assert table.loc["corrected", "2x5", "SCV", 5]["standard_error"] == pytest.approx(np.sqrt(0.25) / 6)
    assert table.loc["corrected", "2x5", "SCV", 12]["share"] == pytest.approx((1 + 1 + 0.5 + 1) / 6)
    assert table.loc["corrected", "5x2", "MS-SCV", 5]["nines_median"] == pytest.approx(5)
    assert table.loc["corrected", "5x2", "MS-SCV", 12]["nines_high"] <= 12


def test_what_is_cut_off_has_not_converged_after_the_last_experiment():
    rows = make_rows({("a", "LDA", "SCV", 2): [None, 100]})
    curves = pd.DataFrame(
        [{"dataset": "a", "learner": "LDA", "partitioner": "SCV", "k": 2, "experiments": 100, "correlation": 0.9}]
    )
    table = convergence_curves(rows, curves, {"corrected": {"LDA": "LDA"}}, {2: 5}, ["SCV"], ["a"])
    assert table["share"].tolist() == [0.5]


def test_the_printed_numbers_are_those_of_the_reference_file(root):
    printed = pd.read_csv(root / "src/foldshift/studies/moreno_torres_2012/printed/table7_convergence.csv")
    ours = [(scheme, name, *numbers) for scheme, row in PRINTED.items() for name, numbers in row.items()]
    assert sorted(ours) == sorted(printed.itertuples(index=False, name=None))


def test_the_grid_has_the_marks_of_the_paper():
    page = to_html(convergence_grid(convergence_table(pair_means(make_rows(TOY)), *ARGUMENTS)))
    pairs = np.array([5, 11, 9, 21, 13, 31])
    assert f'<td class="bold">{pairs.mean():.2f} ± {pairs.std(ddof=1):.2f}</td>' in page and "37.16 ± 24.41" in page
    assert "every pair is the mean of 2 random orders of 100 experiments" in page and "means with many of them" not in page
    small = make_rows({key: [3, 4] for key in TOY}, n_experiments=20)
    assert "means with many of them are too small; the paper cuts off at 100" in to_html(
        convergence_grid(convergence_table(pair_means(small), *ARGUMENTS))
    )


def test_thresholds_are_in_order_and_hold_the_primary_one():
    assert THRESHOLDS == (0.999, 0.9999, 0.99999) and next(iter(CRITERIA)) == PRIMARY
