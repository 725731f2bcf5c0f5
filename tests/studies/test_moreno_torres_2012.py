from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from foldshift.inference.repetitions.agreement import accuracy, agreements, draw_subsets
from foldshift.reporting.figure_style import plt
from foldshift.reporting.min_datasets import too_few
from foldshift.reporting.table_grid import to_csv, to_html, to_tex
from foldshift.studies.moreno_torres_2012.against_print.compare import (
    coverage,
    join,
    known_reasons,
    paper_name,
    printed_table4,
    rank_errors,
)
from foldshift.studies.moreno_torres_2012.against_print.table3_gaps import (
    auc_error,
    compare_table3,
    gaps_grid,
    is_far,
    reason_for,
    share_error,
    table3_gaps,
)
from foldshift.studies.moreno_torres_2012.experiment_accuracy import accuracy_table, agreement_table, common_subsets, error_notes
from foldshift.studies.moreno_torres_2012.figures import draw_accuracy
from foldshift.studies.moreno_torres_2012.notation import describe
from foldshift.studies.moreno_torres_2012.output_groups import BESIDE_OURS
from foldshift.studies.moreno_torres_2012.tables import (
    accuracy_grid,
    agreement_grid,
    auc_grid,
    auc_table,
    classifiers_grid,
    classifiers_table,
    read_print,
    repetitions_grid,
    repetitions_table,
    wilcoxon_grid,
    wilcoxon_table,
)

REFERENCE = "moreno_torres_2012_"
FILES = {
    "table1": "table1_datasets",
    "table3": "table3_auc",
    "table4": "table4_wilcoxon",
    "table5": "table5_dobscv_5x2_agreement",
    "table6": "table6_accuracy",
    "table7": "table7_convergence",
}
SCHEMES = {2: 5, 5: 2}
PARTITIONERS = ["SCV", "DOB-SCV"]
LEARNERS = ["1NN", "LDA", "PART"]
DATASETS = ["Bands", "crx", "mammographic-repaired", "sonar", "wdbc", "pima", "heart"]


def study(seed, n_experiments=12, n_truth=8):
    """Values and truth of a study whose classifiers differ by more than their noise."""
    rng = np.random.default_rng(seed)
    base = rng.random((1, 7)) * 0.2 + 0.6 + np.array([[0.0], [0.03], [-0.04]]) + 0.01 * rng.normal(size=(3, 7))
    draw = lambda n: base[:, :, None] + 0.02 * rng.normal(size=(3, 7, n))  # noqa: E731
    return {(k, name): draw(n_experiments) for k in SCHEMES for name in PARTITIONERS}, {k: draw(n_truth) for k in SCHEMES}


RESULTS = {"paper": study(0), "corrected": study(1)}
TABLE3 = auc_table(RESULTS, SCHEMES, LEARNERS, DATASETS)
TABLE4 = wilcoxon_table(RESULTS, SCHEMES, LEARNERS)
TABLE5 = agreement_table(RESULTS, SCHEMES, PARTITIONERS, LEARNERS, master_seed=0)
TABLE6 = accuracy_table(RESULTS, SCHEMES, PARTITIONERS, n_subsets=5, master_seed=0)


@pytest.fixture(scope="module")
def printed(shared):
    """The printed tables."""
    return {name: pd.read_csv(shared / "reference" / f"{REFERENCE}{file}.csv") for name, file in FILES.items()}


def test_table_3_is_the_mean_of_the_truth_with_its_error():
    truth = RESULTS["corrected"][1][5][1, 3]
    row = TABLE3.query("configuration == 'corrected' and scheme == '5x2' and dataset == 'sonar' and classifier == 'LDA'").iloc[0]
    assert row["auc"] == pytest.approx(truth.mean()) and row["n_experiments"] == 8
    assert row["standard_error"] == pytest.approx(truth.std(ddof=1) / np.sqrt(8))
    assert (
        list(TABLE3.columns[:5]) == ["configuration", "scheme", "dataset", "classifier", "auc"] and len(TABLE3) == 2 * 2 * 7 * 3
    )


def test_a_classifier_that_was_not_run_leaves_an_empty_cell():
    values, truth = study(0)
    truth = {k: v.copy() for k, v in truth.items()}
    truth[5][2, 1], truth[5][0, 0, :3] = np.nan, np.nan
    table = auc_table({"paper": (values, truth)}, SCHEMES, LEARNERS, DATASETS).query("scheme == '5x2'")
    cells = table.set_index(["dataset", "classifier"])
    assert np.isnan(cells.loc[("crx", "PART"), "auc"]) and cells.loc[("crx", "PART"), "n_experiments"] == 0
    assert cells.loc[("Bands", "1NN"), "n_experiments"] == 5
    grid = auc_grid(table)
    assert grid.rows[2][3].text == "–" and grid.rows[-1][0] == "mean of the 6 complete rows"
    assert "not run on the data set, or its fits failed" in grid.notes[0] and "5 to 8 experiments" in grid.notes[0]
    assert wilcoxon_table({"paper": (values, truth)}, {5: 2}, LEARNERS)["n_datasets"].tolist() == [7, 6, 7, 6, 6, 6]


def test_one_data_set_is_not_averaged_with_itself():
    one = TABLE3[TABLE3["dataset"] == DATASETS[0]]
    assert not [row for row in auc_grid(one).rows if row[0].startswith("mean")]
    two = auc_grid(TABLE3[TABLE3["dataset"].isin(DATASETS[:2])])
    assert [row[0] for row in two.rows if row[0].startswith("mean")] == ["mean of the 2 complete rows"] * 4


def test_table_4_has_every_pair_in_both_orders():
    part = TABLE4.query("configuration == 'paper' and scheme == '5x2'").set_index(["row", "column"])
    assert len(part) == 6
    for a, b in part.index:
        here, there = part.loc[(a, b)], part.loc[(b, a)]
        assert (here["r_plus"], here["r_minus"], here["p_value"]) == (there["r_minus"], there["r_plus"], there["p_value"])
        assert here["r_plus"] + here["r_minus"] == 28
    assert part.loc[("LDA", "PART"), "r_plus"] == 28 and part.loc[("LDA", "PART"), "p_value"] == 2 / 2**7


def test_table_5_counts_agreements_of_the_pairs_that_truly_differ():
    values, truth = RESULTS["paper"]
    found = agreements(truth[2].mean(axis=2), values[2, "DOB-SCV"], formula="paper")
    part = TABLE5.query("configuration == 'paper' and scheme == '2x5' and partitioner == 'DOB-SCV'")
    assert len(part) == 2 * len(found.pairs.row) > 0
    cells = part.set_index(["row", "column"])["agreements"]
    for i, (a, b) in enumerate(zip(found.pairs.row, found.pairs.column)):
        assert cells[LEARNERS[a], LEARNERS[b]] == cells[LEARNERS[b], LEARNERS[a]] == found.agree[i].sum()


def test_table_6_is_the_mean_of_table_5_and_averages_the_schemes():
    table = TABLE6.query("configuration == 'paper' and partitioner == 'SCV'").set_index("scheme")
    mean = TABLE5.query("configuration == 'paper' and partitioner == 'SCV'").groupby("scheme")["agreements"].mean() / 12 * 100
    assert table.loc["5x2", "percent"] == pytest.approx(mean["5x2"]) and table.loc["2x5", "percent"] == pytest.approx(mean["2x5"])
    assert table.loc["Average", "percent"] == pytest.approx(mean.mean())
    errors = table.loc[["2x5", "5x2"], "standard_error"]
    assert table.loc["Average", "standard_error"] == pytest.approx(np.sqrt((errors**2).sum()) / 2)
    values, truth = RESULTS["paper"]
    alone = accuracy([(truth[5].mean(axis=2), values[5, "SCV"])], common_subsets(7, 5, 0), formula="paper")
    assert table.loc["5x2", "subset_std"] == pytest.approx(alone.by_subset.std(ddof=1))
    assert table.loc["5x2", "jackknife_error"] == pytest.approx(alone.jackknife_error)
    assert table.loc["Average", "truth_error"] == pytest.approx(
        np.sqrt((table.loc[["2x5", "5x2"], "truth_error"] ** 2).sum()) / 2
    )


def test_subsets_are_the_same_for_all_that_compare_as_many_data_sets():
    assert (common_subsets(27, 8, 0) == common_subsets(27, 8, 0)).all() and common_subsets(27, 8, 0).sum() == 8 * 18
    assert (common_subsets(27, 8, 0) != draw_subsets(27, 8, np.random.default_rng(0))).any()


def test_one_experiment_and_one_data_set_still_make_tables():
    one = {"paper": ({(5, "SCV"): np.full((3, 1, 1), 0.7)}, {5: np.full((3, 1, 1), 0.7)})}
    table = accuracy_table(one, {5: 2}, ["SCV"], n_subsets=3, master_seed=0)
    assert table["percent"].isna().all() and (table["n_pairs"] == 0).all()
    assert accuracy_grid(table).rows[1][1].text == "no pair"
    assert len(agreement_table(one, {5: 2}, ["SCV"], LEARNERS, master_seed=0)) == 0
    assert wilcoxon_table(one, {5: 2}, LEARNERS)["p_value"].tolist() == [1.0] * 6
    repetitions = repetitions_table(one, {5: 2}, ["SCV"], master_seed=0)
    assert repetitions["experiments"].tolist() == [1]
    drawn = draw_accuracy(repetitions, too_few(1, 0.1))
    assert drawn.figure is None and drawn.reason.startswith("this run has 1 data set, and the smallest p")


def test_an_error_of_0_and_a_missing_one_are_explained_where_they_stand():
    steps = np.array([[0.9], [0.6]])[:, :, None] + np.linspace(0, 0.01, 6)[None, :, None]  # one learner ahead on all six sets
    truth = {5: np.repeat(steps, 3, axis=2)}
    few = {"paper": ({(5, "SCV"): np.repeat(steps, 6, axis=2)}, truth)}
    table = accuracy_table(few, {5: 2}, ["SCV"], n_subsets=5, master_seed=0)
    assert table["percent"].tolist() == [100, 100] and table["standard_error"].tolist() == [0, 0]
    assert table["subset_error"].isna().all()  # four sets are too few for the test
    assert accuracy_grid(table).rows[1][1].text == "100.00 ± 0.00 (–)"
    notes = " ".join(accuracy_grid(table).notes)
    assert "± 0.00: all 6 experiments of such a cell found as many pairs" in notes and "up to 39 % of other experiments" in notes
    assert "(–): no error over data sets" in notes
    assert "± 0.0: all" in " ".join(error_notes(table, "± 0.0"))
    assert (TABLE6["standard_error"] > 0).all() and "± 0.00:" not in " ".join(accuracy_grid(TABLE6).notes)


def test_grids_mark_what_the_paper_marks_and_have_one_width():
    repetitions = repetitions_table(RESULTS, SCHEMES, PARTITIONERS, repetitions=(1, 5, 12), n_draws=10, master_seed=0)
    grids = [
        auc_grid(TABLE3),
        wilcoxon_grid(TABLE4),
        agreement_grid(TABLE5, LEARNERS),
        accuracy_grid(TABLE6),
        repetitions_grid(repetitions),
    ]
    for grid in grids:
        assert {len(row) for row in grid.rows} <= {1, len(grid.header)}
        assert "nan" not in to_html(grid) and to_tex(grid).count("\\begin{tabular}") == 1
    best = [cell.underline for cell in grids[0].rows[1][1:]]
    values = [float(cell.text) for cell in grids[0].rows[1][1:]]
    assert best[int(np.argmax(values))] and sum(best) == 1
    cells = {cell.text: cell.bold for row in grids[1].rows if len(row) > 1 for cell in row[1:]}
    assert cells["-"] is False and cells["28/0/1.56E-2"] is True
    assert all(not bold for text, bold in cells.items() if text.endswith("/1.0000"))


def test_the_figure_has_a_panel_per_scheme_and_a_line_per_partitioner():
    figure = draw_accuracy(repetitions_table(RESULTS, SCHEMES, PARTITIONERS, repetitions=(1, 5), n_draws=5, master_seed=0))
    assert len(figure.axes) == 4 and all(len(axis.lines) == 2 for axis in figure.axes)
    plt.close(figure)


def test_table_2_names_the_parameters_of_both_configurations():
    learners = {
        "1NN": {"import": "foldshift.learners.NNClassifier", "params": {"n_neighbors": 1}},
        "1NN@paper": {"import": "foldshift.learners.NNClassifier", "params": {"n_neighbors": 1, "metric": "keel_hvdm"}},
        "LR": {"import": "sklearn.linear_model.LogisticRegression", "params": {}},
    }
    ids = {"paper": {"1NN": "1NN@paper", "LR": "LR"}, "corrected": {"1NN": "1NN", "LR": "LR"}}
    table = classifiers_table(learners, ["1NN", "LR"], ids)
    assert table["algorithm"].tolist() == ["Nearest neighbour, k = 1", "LogisticRegression"]
    assert table["parameters_paper"].tolist() == ["n_neighbors = 1, metric = keel_hvdm", "none"]
    assert table["parameters_corrected"].tolist() == ["n_neighbors = 1", "none"]
    assert [len(row) for row in classifiers_grid(table).rows] == [5, 5]


def test_schemes_are_written_as_in_the_paper():
    assert describe("10x1") == "10x1 (10 folds, 1 iteration)"


def test_table_4_from_the_printed_table_3_is_the_printed_one_but_for_rounding(printed):
    table = printed_table4(printed["table3"], printed["table4"])
    assert len(table) == 36 and (table["difference"] == 0).sum() == 22
    # Three cells, all between the same three classifiers, are printed the other way round.
    transposed = table[table["transposed"] == 1]
    assert list(zip(transposed["row"], transposed["column"])) == [("3NN", "C4.5"), ("3NN", "RIPPER"), ("C4.5", "RIPPER")]
    assert (transposed["r_minus"] - transposed["printed_r_plus"]).abs().max() == 0.5
    others = table[table["transposed"] == 0]
    assert others["difference"].abs().max() == 2.0
    cells = table.set_index(["row", "column"])
    for pair, p in ((("LDA", "PART"), "9.60e-05"), (("LDA", "PDFC"), "5.94e-03"), (("PDFC", "RIPPER"), "2.59e-03")):
        assert cells.loc[pair, "printed_p"] == "" and f"{cells.loc[pair, 'p_of_printed']:.2e}" == p
    assert cells.loc[("1NN", "3NN"), "printed_p"] == "0.1001" and cells.loc[("1NN", "3NN"), "p_of_printed"] == pytest.approx(
        0.0979, abs=5e-5
    )
    # 19 pairs are used in print; the printed sums make 1NN-3NN the 20th, the printed Table III makes 3NN-SVM the 21st.
    assert table[["significant_printed", "significant_of_printed", "significant"]].sum().tolist() == [19, 20, 21]
    new = table[table["significant"] > table["significant_printed"]]
    assert list(zip(new["row"], new["column"])) == [("1NN", "3NN"), ("3NN", "SVM")]


def test_the_pairs_of_printed_table_5_are_the_significant_ones_and_make_the_first_cell_of_table_6(printed):
    table = printed_table4(printed["table3"], printed["table4"])
    pairs = set(zip(printed["table5"]["row"], printed["table5"]["column"]))
    significant = table[table["significant_printed"] == 1]
    assert {frozenset(pair) for pair in pairs} == {frozenset(pair) for pair in zip(significant["row"], significant["column"])}
    assert printed["table5"]["times_same_result"].mean() == pytest.approx(55.684, abs=5e-4)


def test_gaps_count_standard_errors_of_both_sides():
    table = pd.DataFrame(
        {
            "configuration": "paper",
            "scheme": "5x2",
            "dataset": ["crx", "Sonar", "heart", "wisconsin", "iris"],
            "classifier": "PART",
            "auc": [0.51, 0.55, 0.6, 0.7, 0.9],
            "standard_error": np.array([0.02, 0.02, 0.0, 0.0, 0.1]) / np.sqrt(200),
            "std": [0.02, 0.02, 0.0, 0.0, 0.1],
            "n_experiments": 200,
        }
    )
    printed = pd.DataFrame(
        {"dataset": ["Crx", "Sonar", "Heart", "Wisconsin"], "classifier": "PART", "auc": [0.5, 0.54995, 0.60004, 0.6]}
    )
    cells = compare_table3(printed, table)
    assert cells["standard_error"].tolist()[:2] == pytest.approx([0.002, 0.002])
    assert cells["standard_errors"].tolist() == pytest.approx([(0.01 - 5e-5) / 0.002, 0.0, 0.0, np.nan], nan_ok=True)
    assert ["order of the rows" in reason for reason in cells["reason"]] == [True, False, False, True]
    assert cells["reason"][3].startswith("all 200 experiments of ours give the same, so that there is no standard error; ")
    assert is_far(cells).tolist() == [True, False, False, True] and "inf" not in to_csv(cells)
    summary = table3_gaps(cells).iloc[0]
    assert (summary["n_datasets"], summary["within_2"], summary["within_3"], summary["further"]) == (4, 2, 2, "crx wisconsin")
    assert summary["mean_absolute_gap"] == pytest.approx((0.01 + 0.00005 + 0.00004 + 0.1) / 4)
    notes = gaps_grid(table3_gaps(cells), cells).notes
    assert (
        len(notes) == 3
        and notes[1].startswith("PART on crx: +0.0100; 5.0 standard errors; the value moves")
        and "all 200 experiments of ours give the same" in notes[2]
    )


def test_reasons_are_found_by_data_set_then_by_classifier():
    assert ".5000" in reason_for("corrected", "LDA", "crx") and "indicators" in reason_for("corrected", "LDA", "german")
    assert "BI-RADS" in reason_for("paper", "LDA", "mammographic-repaired") and reason_for("paper", "1NN", "crx") == ""
    assert reason_for("corrected", "LDA", "iris", {"nominal": 0, "real": 4}) == ""  # no reason from columns that are not there
    assert "indicators" in reason_for("corrected", "LDA", "german", {"nominal": 13, "real": 0})
    assert "25" not in reason_for("corrected", "C4.5", "tic-tac-toe", {"nominal": 9, "real": 0, "integer": 0})
    assert reason_for("mine", "LDA", "crx") == "" and paper_name("Mammographic-repaired") == "mammographic"


def test_errors_of_table_4_are_the_spread_over_other_truths():
    errors = rank_errors(RESULTS, LEARNERS, 5, 60, rng=np.random.default_rng(0))
    assert errors["paper", "1NN", "LDA"] == errors["paper", "LDA", "1NN"] >= 0
    assert len(errors) == 2 * 6
    values, truth = study(0)
    truth[5] = truth[5] + np.array([0, 1, 0])[:, None, None]  # LDA wins everywhere in every draw
    certain = rank_errors({"paper": (values, truth)}, LEARNERS, 5, 10, rng=np.random.default_rng(0))
    assert certain["paper", "LDA", "PART"] == 0


def test_an_area_at_its_bound_in_all_experiments_is_not_certain():
    row = pd.Series({"auc": 1.0, "standard_error": 0.0, "n_experiments": 10})
    assert auc_error(row) == share_error(10, 10) == pytest.approx(np.sqrt(11 / 12 / 12 / 10))
    assert auc_error(row.replace(1.0, 0.5)) == 0  # the same in every experiment, and not at a bound
    assert share_error(0, 100) == pytest.approx(share_error(100, 100)) and share_error(0, 100) > 0


def test_every_printed_number_stands_beside_ours_or_says_why_not(printed):
    remarks = {"paper": "", "corrected": "ours with SVM on 21 of the 27 data sets"}
    ours = {
        "table1": pd.DataFrame({"dataset": ["sonar", "mammographic-repaired"], "attributes": [60, 5], "samples": [208, 830]}),
        "table3": TABLE3,
        "table4": TABLE4,
        "table5": TABLE5,
        "table6": TABLE6,
        "table7": pd.DataFrame({"configuration": ["paper"], "scheme": "5x2", "partitioner": "SCV", "mean": 18.58, "std": 12.0}),
    }
    table = join(printed, ours, remarks, rank_errors(RESULTS, LEARNERS, 5, 5, rng=np.random.default_rng(0)))
    one = 27 * 5
    per_configuration = 243 + 36 + 19 + len(printed["table6"]) + 24  # pairs of classifiers in Tables IV and V
    assert len(table) == one + 2 * per_configuration
    assert (table["ours"].notna() | (table["reason"] != "")).all()
    cells = table.set_index(["table", "configuration", "scheme", "row", "column", "quantity"]).sort_index()
    assert cells.loc[("table1", "", "", "mammographic", "", "examples"), "ratio"].item() == 1.0
    sonar = cells.loc[("table1", "", "", "sonar", "", "attributes")]
    assert (sonar["ratio"], sonar["reason"]) == (20.0, "misprint: the row has 60 real attributes")
    ten = TABLE5.query(
        "configuration == 'corrected' and scheme == '5x2' and partitioner == 'DOB-SCV' and row == 'LDA' and column == 'PART'"
    )
    row = cells.loc[("table5", "corrected", "5x2", "LDA", "PART", "agreements of DOB-SCV, of 100")]
    assert row["ours"] == pytest.approx(100 * ten["agreements"].item() / 12) and row["reason"] == remarks["corrected"]
    # What is missing in one configuration does not follow into the next.
    lost = join(printed, ours | {"table5": TABLE5[TABLE5["configuration"] == "corrected"]}, {"paper": "", "corrected": ""})
    lost = lost[(lost["table"] == "table5") & (lost["configuration"] == "corrected") & lost["ours"].notna()]
    assert len(lost) and (lost["reason"] == "").all()
    assert cells.loc[("table7", "paper", "5x2", "SCV", "", "mean"), "ratio"].item() == pytest.approx(0.5)
    assert np.isnan(cells.loc[("table6", "paper", "5x2", "MS-SCV", "", "percent"), "ratio"].item())
    others = join(printed, ours, {"paper": None})
    assert others[others["table"] == "table6"]["ours"].isna().all() and others[others["table"] == "table3"]["ours"].notna().any()


def test_print_stands_below_ours_in_its_own_block(tmp_path):
    folder = files("foldshift.studies.moreno_torres_2012") / "printed"
    paths = [folder / f"{name}.csv" for name in BESIDE_OURS]
    some = read_print(paths, DATASETS)
    assert some.auc["sonar", "PART"] == "0.5416" and not some.tests and not some.agreements
    whole = read_print(paths, [name for name, _ in some.auc])
    assert whole.agreements["1NN", "PART"] == "71" and whole.tests["1NN", "PART"] == "375/3/7.45E-08"
    for grid in (auc_grid(TABLE3, whole.auc), wilcoxon_grid(TABLE4, printed=whole.tests)):
        head, below = "", set()
        for row in grid.rows:
            head = row[0] if len(row) == 1 else head
            below |= {head} if row[0] == "as printed" else set()
        assert below == {"paper configuration, 5x2 (5 folds, 2 iterations)"}
    rows = [row[0] for row in agreement_grid(TABLE5, LEARNERS, printed=whole.agreements).rows]
    assert rows.count("as printed") == len(LEARNERS)


def test_a_number_that_the_paper_s_classifiers_meet_is_explained_with_others():
    keys = ["table", "configuration", "scheme", "row", "column", "quantity"]
    one = ("5x2", "1NN", "LDA", "r_plus")
    before = pd.DataFrame([("table4", "paper", *one)], columns=keys).assign(verdict="met")
    rows = pd.DataFrame(
        [("table4", "corrected", *one), ("table4", "corrected", "5x2", "1NN", "PART", "r_plus"),
         ("table3", "corrected", "5x2", "sonar", "1NN", "auc")], columns=keys,
    )  # fmt: skip
    reasons = known_reasons(rows, [before], {})
    assert reasons[:2] == ["met with the paper's classifiers", ""] and "neighbours" in reasons[2]


def test_coverage_says_what_a_run_lacks():
    values = np.zeros((2, 3, 4))
    assert coverage(values, ["a", "B", "c-repaired"], ["1NN", "SVM"], ["A", "b", "C"]) == ""
    values[1, 2] = np.nan
    assert coverage(values, ["a", "b", "c"], ["1NN", "SVM"], ["A", "b", "C"]) == "ours with SVM on 2 of the 3 data sets"
    assert coverage(values, ["a", "b", "d"], ["1NN", "SVM"], ["A", "b", "C"]) is None
