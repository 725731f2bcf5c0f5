from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import measure_covariate_shift
import tabulate_covariate_shift
from foldshift.errors import DataError
from foldshift.evaluation.storage import read_columns
from foldshift.inference.wilcoxon import wilcoxon_signed_ranks
from foldshift.partition import make_folds
from foldshift.partition.storage import write_folds
from foldshift.reporting.covariate_shift import (
    QUESTIONS,
    correlation_grid,
    draw_covariate_shift,
    draw_shift_against_error,
    error_by_cell,
    run_errors,
    shift_and_error,
    shift_by_cell,
    shift_grid,
    shift_summary,
    spearman,
)
from foldshift.reporting.figures import plt
from foldshift.reporting.tables import to_html
from foldshift.shift import fold_covariates
from foldshift.shift.covariates import MEASURES

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


SHIFT, SCORES = made_up()
ERRORS = run_errors(SCORES, NAMES, ["a", "b"])
BY_CELL, CELL_ERRORS = shift_by_cell(SHIFT, SCHEMES), error_by_cell(ERRORS, SCHEMES)
CORRELATIONS = shift_and_error(SHIFT, ERRORS, SCHEMES, NAMES, n_draws=200)


def test_cells_have_means_and_standard_errors_over_their_runs():
    row = BY_CELL.query("dataset == 'set3' and scheme == '5x2' and partitioner == 'DB-SCV'").iloc[0]
    values = SHIFT.query("dataset == 'set3' and k == 5 and partitioner == 'DB-SCV'")["energy"]
    assert row["energy"] == pytest.approx(values.mean()) and row["n_runs"] == 10
    assert row["energy_standard_error"] == pytest.approx(values.std() / np.sqrt(10))
    assert set(shift_by_cell(SHIFT, {5: 2})["scheme"]) == {"5x2"}


def test_the_summary_averages_data_sets_and_tests_against_scv():
    summary = shift_summary(BY_CELL, NAMES)
    row = summary.query("scheme == '2x5' and measure == 'ks_max' and partitioner == 'DOB-SCV'").iloc[0]
    wide = BY_CELL[BY_CELL["scheme"] == "2x5"].pivot(index="dataset", columns="partitioner", values="ks_max")
    errors = BY_CELL.query("scheme == '2x5' and partitioner == 'DOB-SCV'")["ks_max_standard_error"]
    assert row["mean"] == pytest.approx(wide["DOB-SCV"].mean())
    assert row["standard_error"] == pytest.approx(np.sqrt((errors**2).sum()) / 8)
    assert row["standard_error_datasets"] == pytest.approx(wide["DOB-SCV"].std() / np.sqrt(8))
    assert row["p_vs_scv"] == wilcoxon_signed_ranks(wide["DOB-SCV"], wide["SCV"]).p_value == 2 / 2**8
    assert row["higher_vs_scv"] == 0 and row["n_datasets"] == 8
    assert summary.query("partitioner == 'SCV'")["p_vs_scv"].isna().all()
    assert (summary.query("partitioner == 'MS-SCV'")["higher_vs_scv"] == 1).all()


def test_a_data_set_that_lacks_a_partitioner_is_left_out_of_that_scheme():
    part = BY_CELL[~((BY_CELL["dataset"] == "set0") & (BY_CELL["scheme"] == "5x2") & (BY_CELL["partitioner"] == "SCV"))]
    assert shift_summary(part, NAMES).groupby("scheme")["n_datasets"].unique().to_dict() == {"2x5": [7 + 1], "5x2": [7]}


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
    table = shift_and_error(SHIFT, errors, SCHEMES, NAMES, n_draws=50)
    found = table.query("level == 'partitioners' and error == 'rms'").groupby("partitioner")["spearman"].mean()
    assert found["all"] == pytest.approx(0.4) and found["all but MS-SCV"] == pytest.approx(-0.5)


def test_noise_has_an_interval_around_zero_of_the_width_its_data_sets_give():
    shift = SHIFT.copy()
    shift[list(MEASURES)] = np.random.default_rng(3).random((len(shift), 5))
    runs = shift_and_error(shift, ERRORS, SCHEMES, NAMES).query("level == 'runs' and error == 'signed'")
    # The correlation of 10 independent pairs has the standard deviation 1/3, the mean over 8 data sets an eighth of its variance.
    assert runs["standard_error"].mean() == pytest.approx(1 / 3 / np.sqrt(8), rel=0.15)
    assert ((runs["low"] < 0) & (runs["high"] > 0)).mean() > 0.8


def test_runs_in_which_a_fit_failed_and_learners_that_never_work_are_left_out():
    errors = ERRORS.copy()
    errors.loc[(errors["learner"] == "b") & (errors["dataset"] == "set0"), "error"] = np.nan
    errors.loc[(errors["learner"] == "a") & (errors["run"] == 3), "error"] = np.nan
    table = shift_and_error(SHIFT, errors, SCHEMES, NAMES, n_draws=50).query("level == 'runs'")
    assert table["spearman"].abs().to_numpy() == pytest.approx(1) and (table["n_datasets"] == 8).all()


def test_one_data_set_gives_correlations_without_intervals_and_tables_that_print():
    shift, errors = (frame[frame["dataset"] == "set0"] for frame in (SHIFT, ERRORS))
    table = shift_and_error(shift, errors, SCHEMES, NAMES)
    assert table["low"].isna().all() and table.query("level == 'datasets'")["spearman"].isna().all()
    assert table.query("level == 'runs'")["spearman"].notna().all()
    assert "nan" not in to_html(correlation_grid(table, "Caption.")).lower()
    single = shift_summary(shift_by_cell(shift[shift["run"] == 0], SCHEMES), NAMES)
    assert "nan" not in to_html(shift_grid(single, 0.1, "Caption.")).lower()


def test_grids_mark_the_least_shift_and_the_clear_correlations():
    grid = shift_grid(shift_summary(BY_CELL, NAMES), 0.1, "Caption.")
    assert grid.header == ["Measure", *NAMES] and grid.rows[0] == ["2x5 (2 folds), 8 data sets"]
    assert [cell.underline for cell in grid.rows[1][1:]] == [False, True, False, False] and grid.rows[1][2].shade == 1
    assert grid.rows[2][2].bold and grid.rows[2][2].text == "7.81E-3" and grid.rows[2][4].text == "7.81E-3 *"
    grid = correlation_grid(CORRELATIONS, "Caption.")
    assert sum(len(row) == 1 for row in grid.rows) == len(QUESTIONS)
    assert grid.rows[1][0] == "2x5, SCV" and grid.rows[1][1].bold and grid.rows[1][1].text == "1.00 [1.00, 1.00]"


def test_figures_have_a_panel_per_scheme_and_measure():
    for figure in (
        draw_covariate_shift(BY_CELL, NAMES, ["2x5", "5x2"]),
        draw_shift_against_error(BY_CELL, CELL_ERRORS, NAMES, ["2x5", "5x2"]),
    ):
        assert len(figure.axes) == 2 * len(MEASURES)
        figure.canvas.draw()
        plt.close(figure)


def test_without_any_shift_or_error_the_figures_are_drawn_all_the_same():
    still = BY_CELL.assign(**dict.fromkeys(MEASURES, 0.0))
    draw_covariate_shift(still, NAMES, ["2x5"]).canvas.draw()
    draw_shift_against_error(still, CELL_ERRORS.iloc[:0], NAMES, ["2x5"]).canvas.draw()
    plt.close("all")


class Prepared(SimpleNamespace):
    """What the script needs of a prepared data set."""


@pytest.fixture
def measured(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    data = Prepared(name="made", X=rng.random((30, 2)), categorical_features=np.zeros(2, bool))
    monkeypatch.setattr(measure_covariate_shift, "read_prepared", lambda path: data)
    y = rng.integers(0, 2, 30)
    folds = {(name, k): make_folds(name, data.X, y, n_folds=k, seeds=range(6)) for name in NAMES[:2] for k in (2, 5)}
    for number, part in enumerate((slice(0, 4), slice(4, 6))):
        seeds = {k: np.arange(6)[part] + 100 * k for k in (2, 5)}
        write_folds(tmp_path / f"{number}.npz", {key: cut[part] for key, cut in folds.items()}, seeds)
    job = SimpleNamespace(
        input=SimpleNamespace(data="", folds=[tmp_path / "0.npz", tmp_path / "1.npz"]),
        output=SimpleNamespace(shift=tmp_path / "shift.parquet"),
        params=SimpleNamespace(runs={2: 5, 5: 20}),
    )
    measure_covariate_shift.main(job)
    return data, folds, job


def test_the_script_measures_the_first_runs_over_the_files_in_order(measured):
    data, folds, job = measured
    names = ("dataset", "partitioner", "k", "run", "seed", *MEASURES)
    rows = pd.DataFrame(read_columns(job.output.shift, names))
    assert rows.groupby(["k", "partitioner"]).size().to_dict() == {
        (2, "SCV"): 5,
        (2, "DB-SCV"): 5,
        (5, "SCV"): 6,
        (5, "DB-SCV"): 6,
    }
    cell = rows[(rows["k"] == 2) & (rows["partitioner"] == "DB-SCV")]
    expected = fold_covariates(data.X, folds["DB-SCV", 2][:5], 2)
    assert cell["run"].to_list() == list(range(5)) and cell["seed"].to_list() == [200, 201, 202, 203, 204]
    for name in MEASURES:
        assert cell[name].to_numpy() == pytest.approx(expected[name].mean(axis=1), abs=1e-15)


def test_the_script_writes_all_tables_and_figures_from_what_was_measured(measured, tmp_path):
    _, _, job = measured
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(
        [("made", "a", name, k, s, rng.random()) for name in ("SCV", "DB-SCV", "truth") for k in (2, 5) for s in range(6)],
        columns=["dataset", "learner", "partitioner", "k", "seed", "auc_crisp"],
    )
    scores.to_parquet(tmp_path / "scores.parquet")
    outputs = {"html": "covariate_shift", "by_dataset": "by_dataset", "correlation": "correlation"}
    outputs = {key: tmp_path / f"{name}.html" for key, name in outputs.items()}
    outputs |= {key: tmp_path / f"{key}.svg" for key in ("figure", "scatter")}
    params = SimpleNamespace(alpha=0.1, schemes={2: 5, 5: 2}, partitioners=NAMES[:2], learners=["a"])
    inputs = SimpleNamespace(shift=[job.output.shift], errors=[tmp_path / "scores.parquet"])
    tabulate_covariate_shift.main(SimpleNamespace(input=inputs, output=SimpleNamespace(**outputs), params=params))
    assert all(path.is_file() for path in outputs.values())
    table = pd.read_csv(tmp_path / "by_dataset.csv")
    assert len(table) == 4 and table["rms_error"].notna().all() and (tmp_path / "correlation.tex").is_file()
    scores[scores["partitioner"] != "truth"].to_parquet(tmp_path / "scores.parquet")
    with pytest.raises(DataError, match="data set made, learner a, k=2: no rows of partitioner 'truth'"):
        tabulate_covariate_shift.main(SimpleNamespace(input=inputs, output=SimpleNamespace(**outputs), params=params))
