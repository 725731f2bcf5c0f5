"""The regression study: claims, Tables 2 and 3, print beside ours, repetitions of Figure 2, explanations."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from foldshift.engine.config.learners_file import read_learners
from foldshift.engine.config.runs import configure
from foldshift.inference.simulation.monte_carlo import p_values_by_repetitions
from foldshift.reporting.paper_vs_ours import EXPLAINED, MET, OPEN
from foldshift.studies.saez_2022.claims import Tables, claims, full_orders, judge_claims, n_strata, order_steps, share
from foldshift.studies.saez_2022.compare import PRINT_KEYS, blocks_of, explanations, judge_by_block
from foldshift.studies.saez_2022.figures import convergence
from foldshift.studies.saez_2022.grids import error_grid, read_printed, shift_grid
from foldshift.studies.saez_2022.setup_tables import NOT_PRINTED, OTHER_LEARNER, experiment_table, regressors_table
from foldshift.studies.saez_2022.tables import (
    Repetitions,
    convergence_table,
    error_by_dataset,
    error_table,
    most_repetitions,
    no_repetitions,
    shift_by_dataset,
    shift_table,
)

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "src/foldshift/studies/saez_2022"
CLAIMS = STUDY / "printed/claims.csv"
SCALES = yaml.safe_load((STUDY / "study.yaml").read_text(encoding="utf-8"))["scales"]
NAMES, LEARNERS, FOLDS = ["CV", "SCV2", "SCV50", "TSCV"], ["RPART", "NN", "GBM"], [2, 5]
WITHOUT = {"fewer_strata_cheaper"}  # nothing measures the time of cutting
NEVER = {"truer_estimate"}  # another study asks it


def results(n_datasets, fall, n_seeds=60):
    """Results by learner, k and partitioner, which fall by some share from each partitioner to the next, a little more with k."""
    rng = np.random.default_rng(1)
    level = rng.random((n_datasets, 1)) + 1
    return {
        (learner, k, name): level * (1 - fall * i + 0.02 * k) + 0.01 * rng.random((n_datasets, n_seeds))
        for learner in LEARNERS
        for k in FOLDS
        for i, name in enumerate(NAMES)
    }


def settings(n_datasets):
    sets = [f"d{i}" for i in range(n_datasets)]
    return {"datasets": sets, "n_folds": FOLDS, "partitioners": NAMES, "learners": LEARNERS, "n_seeds": 60, "alpha": 0.1}


def tables(n_datasets, fall, *, error_fall=None):
    """Tables of a run in which D_n and errors fall."""
    given = settings(n_datasets)
    shift = {(k, name): values for (learner, k, name), values in results(n_datasets, fall).items() if learner == "NN"}
    errors = results(n_datasets, fall if error_fall is None else error_fall)
    none = {key: np.zeros_like(values) for key, values in errors.items()}
    sets, units = given["datasets"], dict.fromkeys(given["datasets"], 1.0)
    return Tables(
        shift_table(shift, FOLDS, NAMES),
        shift_by_dataset(shift, FOLDS, NAMES, sets),
        error_table(errors, none, LEARNERS, FOLDS, NAMES),
        error_by_dataset(errors, sets, LEARNERS, FOLDS, NAMES, units),
        convergence_table(errors, LEARNERS, FOLDS, NAMES, Repetitions(2, 20, 5), master_seed=0),
        0.1,
    )


def test_every_claim_has_a_judge_or_is_deliberately_without_and_names_an_item():
    sentences = pd.read_csv(CLAIMS)
    assert sentences["id"].is_unique and set(judge_claims(tables(6, 0.02), settings(6))) == set(sentences["id"]) - WITHOUT
    run = configure({"scale": "paper"}, ROOT).runs["saez_2022"]
    assert set(sentences["item"]) <= {item.name for _, items in run.items() for item in items}
    assert sentences["claim"].str.split().str.len().max() <= 20


def test_claims_hold_where_results_are_as_claimed_and_not_where_they_are_the_other_way():
    orders = ["shift_order", "shift_order_datasets", "shift_stratified_better", "shift_tscv_better", "shift_grows_with_k"]
    orders += ["error_order", "std_order", "other_regressors", "error_stratified_better", "error_tscv_better", "tscv_best"]
    orders.remove("std_order")  # the same noise in all
    good, bad = (judge_claims(tables(8, fall), settings(8)) for fall in (0.02, -0.02))
    assert {good[one].verdict for one in orders} == {"holds"}
    assert {bad[one].verdict for one in orders if one != "shift_grows_with_k"} == {"does not hold"}
    assert good["error_near_cv"].verdict == "does not hold"  # all tests show a difference
    equal = judge_claims(tables(8, 0.02, error_fall=0.0), settings(8))
    assert equal["error_near_tscv"].verdict == "holds"
    assert {good[one].verdict for one in NEVER} == {"cannot be seen here"}


@pytest.mark.parametrize("n_datasets", [0, 1, 2])
def test_few_data_sets_show_no_test_and_break_nothing(n_datasets):
    judged = judge_claims(tables(n_datasets, 0.02), settings(n_datasets))
    tests = ["shift_stratified_better", "shift_tscv_better", "error_stratified_better", "error_near_cv", "std_tscv_better"]
    assert {judged[one].verdict for one in [*tests, "shift_and_error", "shift_order_datasets"]} == {"cannot be seen here"}
    assert judged["shift_order"].verdict == ("holds" if n_datasets else "cannot be seen here")


def test_the_ledger_is_made_from_files(tmp_path):
    made = tables(6, 0.02)
    paths = {name: tmp_path / f"{name}.csv" for name in Tables._fields if name != "alpha"}
    for name, path in paths.items():
        getattr(made, name).to_csv(path, index=False)
    table = claims(SimpleNamespace(**paths, sentences=CLAIMS), settings(6))["claims_ledger"][0]
    assert len(table) == len(pd.read_csv(CLAIMS)) and set(table["verdict"]) <= {
        "holds", "holds in part", "does not hold", "cannot be seen here",
    }  # fmt: skip


def test_most_and_all_are_two_rules():
    assert share([1, 1, 0], "all").verdict == "holds in part" and share([1, 1, 0], "most").verdict == "holds"
    assert share([1, -1], "most").verdict == "does not hold" and share([0, 0], "all").verdict == "cannot be seen here"
    assert share([], "all").verdict == "cannot be seen here"


def test_orders_run_over_strata_whatever_the_order_of_the_rows():
    assert [n_strata(name) for name in ("CV", "SCV20", "TSCV")] == [1, 20, np.inf] and np.isnan(n_strata("CB-TSCV"))
    table = pd.DataFrame({"k": 2, "partitioner": ["TSCV", "CB-TSCV", "CV", "SCV4"], "x": [1.0, 9.0, 3.0, 2.0], "e": 0.1})
    assert order_steps(table, "x", "e", ["k"]) == [1, 1]


def test_a_share_of_one_over_few_data_sets_has_an_error():
    rows = [(f"d{i}", 2, name, x) for i in range(1) for name, x in (("CV", 0.2), ("TSCV", 0.1))]
    table = pd.DataFrame(rows, columns=["dataset", "k", "partitioner", "mean_dn"])
    assert full_orders(table).verdict == "cannot be seen here"
    many = pd.concat([table.assign(dataset=f"d{i}") for i in range(28)])
    assert full_orders(many).verdict == "holds" and full_orders(many).remark == "28 of 28 with k = 2"


def test_draws_of_repetitions_stay_below_a_third_of_the_seeds_at_every_scale():
    steps = {"step": 5, "maximum": 150, "draws": 50}
    for name, scale in SCALES.items():
        repetitions, n_seeds = Repetitions(**steps | scale.get("convergence", {})), scale["n_seeds"]
        assert not no_repetitions(repetitions, n_seeds), name
        assert min(repetitions.maximum, most_repetitions(n_seeds)) <= n_seeds / 3
    assert most_repetitions(SCALES["paper"]["n_seeds"]) > 150  # as the paper has it
    assert "n_seeds=15" in no_repetitions(Repetitions(**steps), 14)


def test_with_as_many_draws_as_seeds_all_would_be_alike_and_at_a_third_they_differ():
    rng = np.random.default_rng(0)
    a, b = rng.random((6, 30)), rng.random((6, 30))
    _, spread = p_values_by_repetitions(a, b, [most_repetitions(30), 30], 40, rng)
    assert spread[0] > 0.1 and spread[1] == pytest.approx(0)


def test_figure_2_says_how_many_seeds_it_takes(tmp_path):
    (tmp_path / "t.csv").write_text("regressor,k,partitioner,repetitions,mean_p,std_p,n_draws,n_datasets\n")
    given = settings(6) | {"n_seeds": 9, "convergence": {"step": 5, "maximum": 150, "draws": 3}}
    made = convergence(SimpleNamespace(table=tmp_path / "t.csv"), given)["figure2_convergence (figure)"]
    assert made.figure is None and "n_seeds=15" in made.reason


def test_table_2_has_every_printed_parameter_beside_ours():
    printed = pd.read_csv(STUDY / "printed/table2_regressors.csv", dtype=str, keep_default_na=False)
    learners = read_learners(ROOT / "config/learners.yaml")
    table = regressors_table(printed, {name: learners[name] for name in ("RPART", "NN", "ELM", "MARS", "RPART7")})
    found = table.set_index(["regressor", "parameter"])
    named = table[(table["ours"] != OTHER_LEARNER) & (table["printed"] != NOT_PRINTED)]
    assert (named["printed"] == named["ours"]).all() and len(named) == 11
    assert found.loc[("GBM", "bag"), "ours"] == OTHER_LEARNER and found.loc[("NN", "distance"), "ours"] == "Euclidean"
    assert found.loc[("RPART7", "min_leaf")].tolist() == [NOT_PRINTED, "7"]


def test_table_3_counts_what_the_run_varies():
    table = experiment_table(pd.read_csv(STUDY / "printed/table3_experiment.csv"), SCALES["paper"]).set_index("parameter")
    assert (table["n_printed"] == table["n_ours"]).drop("regressors").all() and table["n_ours"]["regressors"] == 6
    assert table["ours"]["folds k"] == "2, 5, 10"


def test_print_stands_beside_ours_and_the_best_is_marked_only_beyond_its_error():
    made = tables(6, 0.02)
    grid = shift_grid(made.shift, 0.1, printed=read_printed(STUDY / "printed/table4_dn.csv"))
    assert [row[0] for row in grid.rows[:6]] == [
        "2-fcv", "as printed", "vs. CV", "vs. CV, as printed", "vs. TSCV", "vs. TSCV, as printed",
    ]  # fmt: skip
    assert [cell.text for cell in grid.rows[1][1:]] == ["0.0604", "0.0491", "0.0150", "0.0055"]
    assert grid.rows[5][1].text == "7.45E-9 *" and "28 data sets" in grid.notes[-1]
    assert [cell.underline for cell in grid.rows[0][1:]] == [False, False, False, True]
    unsure = shift_grid(made.shift.assign(standard_error=1.0), 0.1)
    assert not any(cell.underline for cell in unsure.rows[0][1:]) and "cannot be seen at this size" in unsure.notes[0]
    errors = error_grid(made.error, 0.1, printed=read_printed(STUDY / "printed/table5_error.csv"))
    blocks = [row[0] for row in errors.rows]
    assert blocks.count("as printed") == 4  # two regressors and two k; the third regressor is not in print
    assert errors.rows[2][1].text == "9.2947E-2" and errors.rows[2][5].text == "3.3380E-3"


def test_numbers_of_rpart_are_explained_by_r_s_leaves_and_those_of_nn_are_not():
    rows = [
        ("RPART", "rmse", 0.0911234, 1e-6, 1e-6, MET),
        ("RPART", "rmse", 0.0921234, 1e-4, 1e-6, EXPLAINED),
        ("RPART", "std", 0.0011234, 1e-4, 1e-4, OPEN),
        ("NN", "rmse", 0.0801234, 1e-4, np.nan, OPEN),
        ("NN", "std", 0.0012345, 1e-6, np.nan, MET),
    ]
    keys = ["table", *PRINT_KEYS]

    def compared(gaps):
        found = [("table5", "", name, metric, 5, "CV", "mean", value, value + gap, 1e-6, "")
                 for (name, metric, value, *_), gap in zip(rows, gaps)]  # fmt: skip
        return pd.DataFrame(found, columns=[*keys, "printed", "ours", "standard_error", "reason"])

    table, other = compared([row[3] for row in rows]), compared([row[4] for row in rows])
    judged = judge_by_block(table, explanations(other, 1.0), 1.0)
    assert judged["verdict"].tolist() == [row[-1] for row in rows] and (judged["reason"] != "").all()
    assert set(judged["table"]) == {"table5"} and len(set(blocks_of(table))) == 4


def test_the_default_run_has_the_sets_and_seeds_that_show_the_order_of_the_error():
    given = SCALES["laptop"]
    table = pd.read_csv(ROOT / "validation/tables/regression_orders.csv")
    table = table[(table["error_is"] == "mean over folds of roots") & table["dataset"].isin(given["datasets"])]
    for (_, k), part in table.groupby(["regressor", "k"]):
        error = np.sqrt((part["standard_error"] ** 2).sum()) / len(part)
        assert len(part) == len(given["datasets"]) and k in given["n_folds"]
        assert part["change_percent"].mean() < -3.5 * error
    assert given["n_seeds"] == 300  # as the table
    assert 2.0 ** (1 - len(given["datasets"])) < 0.1  # a test over the sets can be significant
