from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator
from foldshift.engine.layout.file_names import bundle_name
from foldshift.engine.storage.fold_files import write_folds
from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks
from foldshift.partition import make_folds
from foldshift.reporting.figure_style import plt
from foldshift.reporting.table_grid import to_html
from foldshift.shift import fold_covariates
from foldshift.shift.measures.covariates import MEASURES
from foldshift.shift.report.fold_drift import fold_drift
from foldshift.studies.common import measure_covariate_shift as measuring
from foldshift.studies.common.covariate_shift_tables import (
    drift_by_cell,
    feature_table,
    shift_by_cell,
    shift_grid,
    shift_summary,
    shifted_grid,
)
from foldshift.studies.moreno_torres_2012.figures import draw_covariate_shift, draw_shift_against_error
from foldshift.studies.moreno_torres_2012.shift_and_error import (
    QUESTIONS,
    correlation_grid,
    covariate_shift,
    error_by_cell,
    run_errors,
    shift_and_error,
    spearman,
)

SCHEMES = {2: 5, 5: 2}
NAMES = ["SCV", "DB-SCV", "DOB-SCV", "MS-SCV"]
DATASETS = [f"set{i}" for i in range(8)]
LEVEL = {"SCV": 2.0, "DB-SCV": 1.0, "DOB-SCV": 1.2, "MS-SCV": 9.0}
COLUMNS = ["level", "error", "scheme", "partitioner", "measure", "spearman", "standard_error", "low", "high", "n_datasets"]


def made_up(n_runs=10):
    """Shift that grows with the data set's number, and scores whose error is the shift, downwards; learners a and b."""
    rng = np.random.default_rng(0)
    shift, scores = [], []
    for d, dataset in enumerate(DATASETS):
        for k in SCHEMES:
            for learner in "ab":
                scores += [(dataset, learner, "truth", k, truth) for truth in (0.89, 0.91)]
            for name in NAMES:
                values = LEVEL[name] * (d + 1) * (1 + 0.05 * rng.random(n_runs)) / 200
                shift += [(dataset, name, k, run, *[value] * 5) for run, value in enumerate(values)]
                scores += [(dataset, learner, name, k, 0.9 - value) for learner in "ab" for value in values]
    return (
        pd.DataFrame(shift, columns=["dataset", "partitioner", "k", "run", *MEASURES]),
        pd.DataFrame(scores, columns=["dataset", "learner", "partitioner", "k", "auc_crisp"]),
    )


VERDICTS = {
    "SCV": "aaaa",
    "DB-SCV": "lllc",
    "DOB-SCV": "alac",
    "MS-SCV": "mmac",
}  # of size, town, age and still, mostly a constant
RATIO = {"m": 1.5, "l": 0.5, "a": 1.0}


def made_up_features(n_runs=20):
    """Verdicts on four inputs, the same on all data sets but the last, where SCV shifts one, and MS-SCV the target too."""
    rows = []
    for dataset in DATASETS:
        for k in SCHEMES:
            for name in NAMES:
                last = dataset == DATASETS[-1]
                verdicts = "amlc" if last and name == "SCV" else VERDICTS[name]
                target = "m" if last and name == "MS-SCV" else "l"
                for j, (feature, verdict) in enumerate(zip(("size", "town", "age", "still", "target"), verdicts + target)):
                    kind = "target" if j == 4 else "nominal" if j == 1 else "numeric"
                    chance = 0.0 if verdict == "c" else 0.04
                    distance = chance * (RATIO.get(verdict, 0.0) + (0.25 if feature == "town" and verdict == "m" else 0.0))
                    word = {"m": "more", "l": "less"}.get(verdict, "as chance")
                    rows.append((dataset, name, k, n_runs, feature, kind, distance, chance, 0.1, 0.05, 0.5, 0.5, 1.0, word))
    return pd.DataFrame(rows, columns=list(measuring.SCHEMAS["shifted_features"].names))


SHIFT, SCORES = made_up()
FEATURES = made_up_features()
DRIFT = drift_by_cell(FEATURES, SCHEMES)
ERRORS = run_errors(SCORES, NAMES, ["a", "b"])
BY_CELL, CELL_ERRORS = shift_by_cell(SHIFT, SCHEMES), error_by_cell(ERRORS, SCHEMES)
BY_CELL = BY_CELL.merge(DRIFT, on=["dataset", "scheme", "partitioner"])
CORRELATIONS = shift_and_error(SHIFT, ERRORS, SCHEMES, NAMES, n_draws=200, master_seed=0)


def test_cells_have_means_and_standard_errors_over_their_runs():
    row = BY_CELL.query("dataset == 'set3' and scheme == '5x2' and partitioner == 'DB-SCV'").iloc[0]
    values = SHIFT.query("dataset == 'set3' and k == 5 and partitioner == 'DB-SCV'")["energy"]
    assert row["energy"] == pytest.approx(values.mean()) and row["n_runs"] == 10
    assert row["energy_standard_error"] == pytest.approx(values.std() / np.sqrt(10))
    assert set(shift_by_cell(SHIFT, {5: 2})["scheme"]) == {"5x2"}


def test_the_summary_averages_data_sets_and_tests_against_scv():
    summary = shift_summary(BY_CELL, NAMES, "SCV")
    row = summary.query("scheme == '2x5' and measure == 'ks_max' and partitioner == 'DOB-SCV'").iloc[0]
    wide = BY_CELL[BY_CELL["scheme"] == "2x5"].pivot(index="dataset", columns="partitioner", values="ks_max")
    errors = BY_CELL.query("scheme == '2x5' and partitioner == 'DOB-SCV'")["ks_max_standard_error"]
    assert row["mean"] == pytest.approx(wide["DOB-SCV"].mean())
    assert row["standard_error"] == pytest.approx(np.sqrt((errors**2).sum()) / 8)
    assert row["standard_error_datasets"] == pytest.approx(wide["DOB-SCV"].std() / np.sqrt(8))
    assert row["p_vs_scv"] == wilcoxon_signed_ranks(wide["DOB-SCV"], wide["SCV"]).p_value == 2 / 2**8
    assert row["higher_vs_scv"] == 0 and row["n_datasets"] == 8
    assert summary.query("partitioner == 'SCV'")["p_vs_scv"].isna().all()
    assert (summary[summary["measure"].isin(MEASURES)].query("partitioner == 'MS-SCV'")["higher_vs_scv"] == 1).all()


def test_a_data_set_that_lacks_a_partitioner_is_left_out_of_that_scheme():
    part = BY_CELL[~((BY_CELL["dataset"] == "set0") & (BY_CELL["scheme"] == "5x2") & (BY_CELL["partitioner"] == "SCV"))]
    assert shift_summary(part, NAMES, "SCV").groupby("scheme")["n_datasets"].unique().to_dict() == {"2x5": [7 + 1], "5x2": [7]}


def test_drift_of_a_cell_counts_inputs_and_names_those_that_are_shifted():
    cells = DRIFT.set_index(["dataset", "scheme", "partitioner"])
    assert DRIFT.columns.to_list()[3:] == ["features_more", "features_less", "shifted_features", "target", "distance_ratio"]
    assert len(DRIFT) == 8 * 2 * 4
    # town is shifted more than size; the constant is left out of the mean, (1.5 + 1.75 + 1) / 3
    assert cells.loc["set0", "2x5", "MS-SCV"].to_list() == [0.5, 0.0, "town, size", "less", pytest.approx(4.25 / 3)]
    assert cells.loc["set0", "5x2", "DB-SCV"].to_list() == [0.0, 0.75, "", "less", pytest.approx(0.5)]
    assert cells.loc["set7", "5x2", "SCV"].to_list() == [0.25, 0.25, "town", "less", pytest.approx(3.25 / 3)]
    assert cells.loc["set7", "2x5", "MS-SCV"]["target"] == "more"
    assert set(drift_by_cell(FEATURES, {5: 2})["scheme"]) == {"5x2"}


def test_inputs_that_are_all_constant_have_no_ratio_and_a_feature_called_target_is_an_input():
    rows = FEATURES.query("dataset == 'set0' and k == 2 and partitioner == 'MS-SCV'").copy()
    still = rows.assign(distance=0.0, distance_chance=0.0, verdict="as chance")
    assert drift_by_cell(still, SCHEMES).iloc[0, 3:].to_list() == [0, 0, "", "as chance", pytest.approx(np.nan, nan_ok=True)]
    renamed = rows.replace({"feature": {"size": "target"}})
    assert drift_by_cell(renamed, SCHEMES).iloc[0, 3:7].to_list() == [0.5, 0.0, "town, target", "less"]


def test_shares_of_features_in_the_summary_are_the_means_of_the_cells():
    summary = shift_summary(BY_CELL, NAMES, "SCV")
    assert summary["measure"].drop_duplicates().to_list() == [*MEASURES, "features_more", "features_less"]
    for measure in ("features_more", "features_less"):
        for scheme, name in ((scheme, name) for scheme in ("2x5", "5x2") for name in NAMES):
            row = summary[
                (summary["scheme"] == scheme) & (summary["measure"] == measure) & (summary["partitioner"] == name)
            ].iloc[0]
            values = DRIFT[(DRIFT["scheme"] == scheme) & (DRIFT["partitioner"] == name)][measure].to_numpy()
            scv = DRIFT[(DRIFT["scheme"] == scheme) & (DRIFT["partitioner"] == "SCV")][measure].to_numpy()
            assert row["mean"] == pytest.approx(values.mean()) and row["n_datasets"] == 8
            assert row["standard_error_datasets"] == pytest.approx(values.std(ddof=1) / np.sqrt(8)) and np.isnan(
                row["standard_error"]
            )
            if name != "SCV":
                assert row["p_vs_scv"] == wilcoxon_signed_ranks(values, scv).p_value
    found = summary.query("scheme == '2x5' and measure == 'features_more'").set_index("partitioner")
    assert found["mean"].to_dict() == {"SCV": 1 / 32, "DB-SCV": 0, "DOB-SCV": 0, "MS-SCV": 0.5}
    assert found.loc["MS-SCV", "higher_vs_scv"] == 1 and found.loc["MS-SCV", "p_vs_scv"] == 2 / 2**8


def test_the_feature_table_has_a_row_for_every_scheme_and_feature():
    table = feature_table(FEATURES, {5: 2})
    assert len(table) == 8 * 4 * 5 and set(table["scheme"]) == {"5x2"} and "k" not in table
    assert set(table.columns) - {"scheme", "distance_ratio"} == set(FEATURES.columns) - {"k"}
    row = table.query("dataset == 'set3' and partitioner == 'MS-SCV' and feature == 'town'").iloc[0]
    assert row["distance_ratio"] == pytest.approx(1.75) and row["verdict"] == "more" and row["n_runs"] == 20
    assert table.query("distance_chance == 0")["distance_ratio"].isna().all()


def test_the_grid_of_features_says_in_words_what_is_shifted():
    rows = FEATURES[~((FEATURES["dataset"] == "set1") & (FEATURES["partitioner"] == "SCV"))]
    grid = shifted_grid(feature_table(rows, SCHEMES), NAMES)
    assert grid.header == ["Data set", "features", *NAMES] and len(grid.rows) == 2 * (1 + 8)
    assert grid.rows[0] == ["2x5 (2 folds), 20 partitions of each data set"]
    cells = {row[0]: row[1:] for row in grid.rows[1:9]}
    texts = {name: [cell.text for cell in row] for name, row in cells.items()}
    assert texts["set0"] == ["4", "as chance", "3 balanced", "1 balanced", "2 shifted, most town ×1.75"]
    assert texts["set1"][1] == "–"
    assert texts["set7"][1:] == [
        "1 shifted, most town ×1.75; 1 balanced",
        "3 balanced",
        "1 balanced",
        "2 shifted, most town ×1.75; target shifted",
    ]
    assert [cell.bold for cell in cells["set7"]] == [False, True, False, False, True]
    some = FEATURES.assign(n_runs=np.where(FEATURES["dataset"] == "set0", 10, 20))
    assert shifted_grid(feature_table(some, {5: 2}), NAMES).rows[0] == ["5x2 (5 folds), 10 to 20 partitions of each data set"]


def test_errors_are_the_estimate_minus_the_mean_of_the_truth():
    row = ERRORS.query("dataset == 'set2' and learner == 'b' and partitioner == 'SCV' and k == 2 and run == 4").iloc[0]
    shift = SHIFT.query("dataset == 'set2' and partitioner == 'SCV' and k == 2 and run == 4")["energy"].item()
    assert row["error"] == pytest.approx(-shift)
    with pytest.raises(ValueError, match="data set set1, learner a, k=5: no rows of partitioner 'truth'"):
        run_errors(SCORES.query("not (dataset == 'set1' and learner == 'a' and k == 5 and partitioner == 'truth')"), NAMES, ["a"])


def test_error_of_a_cell_splits_into_bias_and_spread():
    row = CELL_ERRORS.query("dataset == 'set7' and scheme == '2x5' and partitioner == 'MS-SCV'").iloc[0]
    values = SHIFT.query("dataset == 'set7' and k == 2 and partitioner == 'MS-SCV'")["energy"].to_numpy()
    assert row["bias"] == pytest.approx(-values.mean()) and row["spread"] == pytest.approx(values.std(ddof=1))
    assert row["rms_error"] == pytest.approx(np.sqrt((values**2).mean()))


def test_a_learner_that_one_partitioner_lacks_does_not_count_for_the_others():
    errors = ERRORS.copy()
    gone = (errors["dataset"] == "set1") & (errors["learner"] == "a")
    errors.loc[gone, "error"] = 5.0
    errors.loc[gone & (errors["partitioner"] == "SCV"), "error"] = np.nan
    found, expected = error_by_cell(errors, SCHEMES), CELL_ERRORS.copy()
    expected.loc[expected["dataset"] == "set1", "n_errors"] = 10  # of one learner; of two elsewhere
    pd.testing.assert_frame_equal(found, expected)


def test_a_run_that_failed_for_one_partitioner_does_not_count_for_the_others():
    errors = ERRORS.copy()
    of_run = (errors["dataset"] == "set1") & (errors["learner"] == "a") & (errors["run"] == 3) & (errors["k"] == 2)
    errors.loc[of_run, "error"] = 5.0
    errors.loc[of_run & (errors["partitioner"] == "MS-SCV"), "error"] = np.nan
    without = ERRORS[~((ERRORS["dataset"] == "set1") & (ERRORS["learner"] == "a") & (ERRORS["run"] == 3) & (ERRORS["k"] == 2))]
    found = error_by_cell(errors, SCHEMES)
    pd.testing.assert_frame_equal(found, error_by_cell(without, SCHEMES))
    assert found.query("dataset == 'set1' and scheme == '2x5'")["n_errors"].tolist() == [19] * 4


def test_rank_correlation_is_that_of_scipy_along_the_last_axis():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, (20, 9)).astype(float), rng.random((20, 9))
    assert spearman(x, y) == pytest.approx([spearmanr(a, b).statistic for a, b in zip(x, y)])
    assert np.isnan(spearman(np.ones(5), np.arange(5.0))) and np.isnan(spearman(np.arange(2.0), np.arange(2.0)))
    assert np.isnan(spearman(np.array([1, 2, np.nan]), np.arange(3.0)))


def test_known_dependence_is_found_at_every_level():
    assert CORRELATIONS.columns.to_list() == COLUMNS
    assert CORRELATIONS[["level", "error"]].drop_duplicates().apply(tuple, axis=1).to_list() == list(QUESTIONS)
    found = CORRELATIONS.set_index(["level", "error"])["spearman"]
    for question in [*list(QUESTIONS)[:1], ("partitioners", "rms"), ("runs", "absolute")]:
        assert found[question].to_numpy() == pytest.approx(1)
    assert found["runs", "signed"].to_numpy() == pytest.approx(-1)
    assert (CORRELATIONS["n_datasets"] == 8).all() and CORRELATIONS.query("error == 'rms'")["low"].to_numpy() == pytest.approx(1)
    assert set(CORRELATIONS.query("level == 'partitioners'")["partitioner"]) == {"all", "all but MS-SCV"}


def test_the_extreme_partitioner_can_hide_the_order_of_the_others():
    errors = ERRORS.copy()
    errors.loc[errors["partitioner"] == "DB-SCV", "error"] *= 2.5  # least shift, larger error than SCV
    table = shift_and_error(SHIFT, errors, SCHEMES, NAMES, n_draws=50, master_seed=0)
    found = table.query("level == 'partitioners' and error == 'rms'").groupby("partitioner")["spearman"].mean()
    assert found["all"] == pytest.approx(0.4) and found["all but MS-SCV"] == pytest.approx(-0.5)


def test_noise_has_an_interval_around_zero_of_the_width_its_data_sets_give():
    shift = SHIFT.copy()
    shift[list(MEASURES)] = np.random.default_rng(3).random((len(shift), 5))
    runs = shift_and_error(shift, ERRORS, SCHEMES, NAMES, master_seed=0).query("level == 'runs' and error == 'signed'")
    # The correlation of 10 independent pairs has the standard deviation 1/3, the mean over 8 data sets an eighth of its variance.
    assert runs["standard_error"].mean() == pytest.approx(1 / 3 / np.sqrt(8), rel=0.15)
    assert ((runs["low"] < 0) & (runs["high"] > 0)).mean() > 0.8


def test_runs_in_which_a_fit_failed_and_learners_that_never_work_are_left_out():
    errors = ERRORS.copy()
    errors.loc[(errors["learner"] == "b") & (errors["dataset"] == "set0"), "error"] = np.nan
    errors.loc[(errors["learner"] == "a") & (errors["run"] == 3), "error"] = np.nan
    table = shift_and_error(SHIFT, errors, SCHEMES, NAMES, n_draws=50, master_seed=0).query("level == 'runs'")
    assert table["spearman"].abs().to_numpy() == pytest.approx(1) and (table["n_datasets"] == 8).all()


def test_one_data_set_gives_correlations_without_intervals_and_tables_that_print():
    shift, errors = (frame[frame["dataset"] == "set0"] for frame in (SHIFT, ERRORS))
    table = shift_and_error(shift, errors, SCHEMES, NAMES, master_seed=0)
    assert table["low"].isna().all() and table.query("level == 'datasets'")["spearman"].isna().all()
    assert table.query("level == 'runs'")["spearman"].notna().all()
    assert "nan" not in to_html(correlation_grid(table)).lower()
    single = shift_by_cell(shift[shift["run"] == 0], SCHEMES).merge(DRIFT, on=["dataset", "scheme", "partitioner"])
    single = shift_summary(single, NAMES, "SCV")
    assert "nan" not in to_html(shift_grid(single, 0.1, "SCV")).lower()


def test_grids_mark_the_least_shift_and_the_clear_correlations():
    grid = shift_grid(shift_summary(BY_CELL, NAMES, "SCV"), 0.1, "SCV")
    assert grid.header == ["Measure", *NAMES] and grid.rows[0] == ["2x5 (2 folds), 8 data sets"]
    assert [cell.underline for cell in grid.rows[1][1:]] == [False, True, False, False] and grid.rows[1][2].shade == 1
    assert grid.rows[2][2].bold and grid.rows[2][2].text == "7.81E-3" and grid.rows[2][4].text == "7.81E-3 *"
    shifted, balanced = grid.rows[11], grid.rows[13]
    assert [shifted[0], *[cell.text for cell in shifted[1:]]] == ["features shifted", "0.0312", "0.0000", "0.0000", "0.5000"]
    assert [cell.underline for cell in shifted[1:]] == [False, True, True, False]  # the fewest
    assert balanced[0] == "features balanced" and [cell.underline for cell in balanced[1:]] == [
        False,
        True,
        False,
        False,
    ]  # the most
    assert balanced[2].shade == 1 and grid.rows[14][2].text.endswith("*")
    grid = correlation_grid(CORRELATIONS)
    assert grid.header == ["", "KS, mean", "KS, largest", "Hellinger", "energy", "two-sample AUC", "data sets"]
    assert sum(len(row) == 1 for row in grid.rows) == len(QUESTIONS)
    assert grid.rows[1][0] == "2x5, SCV" and grid.rows[1][1].bold and grid.rows[1][1].text == "1.00 [1.00, 1.00]"


def test_figures_have_a_panel_per_scheme_and_measure():
    for figure in (
        draw_covariate_shift(BY_CELL, NAMES, ["2x5", "5x2"]),
        draw_shift_against_error(BY_CELL.merge(CELL_ERRORS), NAMES, ["2x5", "5x2"]),
    ):
        assert len(figure.axes) == 2 * len(MEASURES)
        figure.canvas.draw()
        plt.close(figure)


def test_without_any_shift_or_error_the_figures_are_drawn_all_the_same():
    still = BY_CELL.assign(**dict.fromkeys(MEASURES, 0.0))
    draw_covariate_shift(still, NAMES, ["2x5"]).canvas.draw()
    draw_shift_against_error(still.assign(rms_error=np.nan), NAMES, ["2x5"]).canvas.draw()
    plt.close("all")


RUNS = {2: 5, 5: 20}


class Prepared(SimpleNamespace):
    """What the measure needs of a prepared data set."""

    task = "classification"


def measure(folder, data, folds, parts, runs, monkeypatch):
    """Rows by kind, of folds of six seeds that are cut into files."""
    monkeypatch.setattr(measuring, "read_prepared", lambda path: data)
    names, sizes = (list(dict.fromkeys(key[i] for key in folds)) for i in (0, 1))
    bundle = bundle_name(names, [f"{k}x1" for k in sizes])
    (folder / bundle).mkdir(parents=True)
    paths = []
    for part in parts:
        seeds = {k: np.arange(6)[part] + 100 * k for k in sizes}
        paths.append(folder / f"{bundle}/{part.start}-{part.stop - 1}.npz")
        write_folds(paths[-1], {key: cut[part] for key, cut in folds.items()}, seeds)
    wanted = {
        "partitioners": dict(zip(names, names)),
        "seeds": {bundle_name([name], [f"{k}x1"]): 6 for k in sizes for name in names},
    }
    inputs = SimpleNamespace(data="", folds=paths)
    made = measuring.measure_covariate_shift(inputs, {"dataset": "made"}, wanted=wanted, runs=runs, master_seed=0)
    return {kind: pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True) for kind, parts in made.items()}


@pytest.fixture
def measured(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 30)
    X = np.column_stack([rng.random(30), rng.integers(0, 3, 30)])
    data = Prepared(name="made", X=X, y=y, categorical_features=np.array([False, True]), feature_names=("size", "town"))
    folds = {(name, k): make_folds(name, data.X, y, n_folds=k, seeds=range(6)) for name in NAMES[:2] for k in (2, 5)}
    return data, folds, measure(tmp_path / "job", data, folds, (slice(0, 4), slice(4, 6)), RUNS, monkeypatch)


def test_the_first_runs_are_measured_over_the_files_in_order(measured):
    data, folds, made = measured
    rows = made["covariate_shift"]
    assert list(rows) == measuring.SCHEMAS["covariate_shift"].names
    assert rows.groupby(["k", "partitioner"]).size().to_dict() == {
        (2, "SCV"): 5,
        (2, "DB-SCV"): 5,
        (5, "SCV"): 6,
        (5, "DB-SCV"): 6,
    }
    cell = rows[(rows["k"] == 2) & (rows["partitioner"] == "DB-SCV")]
    expected = fold_covariates(data.X, folds["DB-SCV", 2][:5], 2, categorical_features=[1])
    assert cell["run"].to_list() == list(range(5)) and cell["seed"].to_list() == [200, 201, 202, 203, 204]
    for name in MEASURES:
        assert cell[name].to_numpy() == pytest.approx(expected[name].mean(axis=1), abs=1e-15)


def test_the_rows_of_features_are_those_of_fold_drift(measured):
    data, folds, made = measured
    rows = made["shifted_features"]
    assert rows.groupby(["k", "partitioner"])["n_runs"].unique().map(list).to_dict() == {
        (2, "SCV"): [5],
        (2, "DB-SCV"): [5],
        (5, "SCV"): [6],
        (5, "DB-SCV"): [6],
    }
    labels = np.array(["no", "yes"])[data.y]
    table = pd.DataFrame({"size": data.X[:, 0], "town": np.array(["Bonn", "Jena", "Ulm"])[data.X[:, 1].astype(int)]})
    for name, k in folds:
        found = rows[(rows["k"] == k) & (rows["partitioner"] == name)]
        rng = generator(0, "fold drift", "made", k)
        expected = fold_drift(table, labels, folds[name, k][: 5 if k == 2 else 6], k, n_random=499, rng=rng).features
        assert set(found["dataset"]) == {"made"} and found["kind"].to_list() == ["numeric", "nominal", "target"]
        assert found["feature"].to_list() == ["size", "town", "target"] == [row.name for row in expected]
        for column in ("distance", "distance_chance", "failing", "failing_chance", "p_more", "p_less", "p_adjusted", "verdict"):
            assert found[column].to_list() == [getattr(row, column) for row in expected]


def test_rows_do_not_depend_on_how_seeds_are_blocked(measured, tmp_path, monkeypatch):
    data, folds, made = measured
    parts = [slice(i, i + 1) for i in range(6)]
    other = measure(tmp_path / "other", data, folds, parts, RUNS, monkeypatch)
    for kind, rows in made.items():
        pd.testing.assert_frame_equal(rows, other[kind], check_exact=True)


def test_a_cut_that_shifts_a_feature_is_told_from_scv_and_names_the_feature(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.random((60, 3)), rng.integers(0, 2, 60)
    data = Prepared(name="made", X=X, y=y, categorical_features=np.zeros(3, bool), feature_names=("size", "age", "height"))
    rank = X[:, 1].argsort().argsort()
    folds = {("SCV", k): make_folds("SCV", X, y, n_folds=k, seeds=range(6)) for k in (2, 5)}
    folds |= {("sorted", k): np.tile((rank * k // 60).astype(np.uint8), (6, 1)) for k in (2, 5)}
    made = measure(tmp_path / "job", data, folds, [slice(0, 6)], {2: 6, 5: 6}, monkeypatch)
    cells = drift_by_cell(made["shifted_features"], SCHEMES).set_index(["scheme", "partitioner"])
    for scheme in ("2x5", "5x2"):
        assert cells.loc[(scheme, "sorted"), "shifted_features"].split(", ")[0] == "age"
        assert cells.loc[(scheme, "SCV"), "shifted_features"] == "" and cells.loc[(scheme, "SCV"), "target"] == "less"


def test_a_data_set_too_small_to_be_tested_has_no_rows_of_features(tmp_path, monkeypatch):
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    data = Prepared(name="made", X=X, y=y, categorical_features=np.zeros(1, bool), feature_names=("size",))
    folds = {("SCV", 2): make_folds("SCV", X, y, n_folds=2, seeds=range(6))}
    made = measure(tmp_path / "job", data, folds, [slice(0, 6)], {2: 6}, monkeypatch)
    features = made["shifted_features"]
    assert len(features) == 0
    cells = shift_by_cell(made["covariate_shift"], SCHEMES).merge(
        drift_by_cell(features, SCHEMES), on=["dataset", "scheme", "partitioner"], how="left"
    )
    summary = shift_summary(cells, ["SCV"], "SCV")
    assert summary.set_index("measure")["n_datasets"].to_dict() == dict.fromkeys(MEASURES, 1) | {
        "features_more": 0,
        "features_less": 0,
    }
    assert "nan" not in to_html(shift_grid(summary, 0.1, "SCV")).lower()
    assert shifted_grid(feature_table(features, SCHEMES), ["SCV"]).rows == []


def test_all_tables_are_made_from_what_was_measured(measured, tmp_path):
    _, _, made = measured
    for kind, rows in made.items():
        rows.to_parquet(tmp_path / f"{kind}.parquet")
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(
        [("made", "a", name, k, s, rng.random()) for name in ("SCV", "DB-SCV", "truth") for k in (2, 5) for s in range(6)],
        columns=["dataset", "learner", "partitioner", "k", "seed", "auc_crisp"],
    )
    scores.to_parquet(tmp_path / "scores.parquet")
    settings = {
        "alpha": 0.1,
        "iterations": {2: 5, 5: 2},
        "partitioners": NAMES[:2],
        "ids": {"paper": {"A": "a"}},
        "master_seed": 0,
    }
    names = {"shift": "covariate_shift", "features": "shifted_features", "scores": "scores"}
    inputs = SimpleNamespace(**{key: [tmp_path / f"{name}.parquet"] for key, name in names.items()})
    items = covariate_shift(inputs, settings)
    assert all(to_html(one.grid) for one in items.values())
    table, features = items["covariate_shift_by_dataset"].frame, items["shifted_features"]
    assert len(table) == 4 and table["rms_error"].notna().all() and len(items["covariate_shift_and_error"].frame)
    assert {"features_more", "features_less", "shifted_features", "target", "distance_ratio"} <= set(table)
    assert len(features.frame) == 2 * 2 * 3 and "20 partitions" not in to_html(features.grid)
    scores[scores["partitioner"] != "truth"].to_parquet(tmp_path / "scores.parquet")
    with pytest.raises(DataError, match="data set made, learner a, k=2: no rows of partitioner 'truth'"):
        covariate_shift(inputs, settings)
