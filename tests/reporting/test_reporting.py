import numpy as np
import pandas as pd
import pytest

from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks
from foldshift.inference.simulation.monte_carlo import (
    mean_and_error,
    p_value_error,
    p_values_by_repetitions,
    seed_bootstrap,
    std_and_error,
)
from foldshift.reporting.paper_vs_ours import COLUMNS, OTHER_DATA
from foldshift.reporting.table_grid import Grid, TableCell, plain_grid, shades, to_csv, to_html, to_tex, write_table
from foldshift.studies.saez_2022.compare import PRINT_KEYS, join
from foldshift.studies.saez_2022.tables import (
    Repetitions,
    convergence_table,
    error_grid,
    error_table,
    order_table,
    shift_grid,
    shift_table,
)

RNG = np.random.default_rng(0)
NAMES = ["CV", "SCV4", "TSCV"]
# Eight data sets, thirty seeds: the results fall from CV to TSCV by more than their noise.
BASE = RNG.random((8, 1)) + 1
RESULTS = {name: BASE - 0.1 * i + 0.01 * RNG.normal(size=(8, 30)) for i, name in enumerate(NAMES)}
SHIFT = {(k, name): values for k in (2, 5) for name, values in RESULTS.items()}
ERRORS = {("NN", k, name): values for (k, name), values in SHIFT.items()}
NONE_FAILED = {key: np.zeros_like(values) for key, values in ERRORS.items()}


def test_standard_errors_cover_what_other_seeds_would_give():
    rng = np.random.default_rng(1)
    draws = [rng.normal(size=(5, 40)) * [[1], [2], [3], [4], [5]] for _ in range(2000)]
    for statistic in (mean_and_error, std_and_error):
        results = np.array([statistic(draw) for draw in draws])
        assert results[:, 1].mean() == pytest.approx(results[:, 0].std(), rel=0.05)


def test_a_seed_whose_fit_failed_is_left_out_of_mean_and_deviation():
    values = np.array([[1.0, 3.0, np.nan], [2.0, 2.0, 5.0]])
    assert mean_and_error(values)[0] == pytest.approx((2 + 3) / 2)
    assert std_and_error(values)[0] == pytest.approx((np.sqrt(2) + np.sqrt(3)) / 2)


def test_bootstrap_draws_spread_as_the_standard_error_says():
    values = RNG.normal(size=(6, 50))
    draws = seed_bootstrap(values, "mean", 3000, np.random.default_rng(0))
    assert draws.std(axis=0) == pytest.approx(values.std(axis=1) / np.sqrt(50), rel=0.06)
    assert p_value_error(draws[:100], draws[:100] - 1) == 0.0  # every data set differs in every draw


def test_with_all_repetitions_the_p_value_is_that_of_the_table():
    rng = np.random.default_rng(0)
    mean_p, std_p = p_values_by_repetitions(RESULTS["TSCV"], RESULTS["CV"], [5, 30], 10, rng)
    whole = wilcoxon_signed_ranks(RESULTS["TSCV"].mean(axis=1), RESULTS["CV"].mean(axis=1)).p_value
    assert mean_p[1] == pytest.approx(whole) and std_p[1] == pytest.approx(0)


def test_table_4_has_means_exact_p_and_asterisks():
    table = shift_table(SHIFT, (2, 5), NAMES)
    row = table.query("k == 5 and partitioner == 'CV'").iloc[0]
    assert row["mean_dn"] == pytest.approx(RESULTS["CV"].mean())
    assert np.isnan(row["p_vs_cv"]) and row["p_vs_tscv"] == 2 / 2**8 and row["higher_vs_tscv"] == 1
    assert table.query("k == 5 and partitioner == 'TSCV'").iloc[0]["higher_vs_cv"] == 0


def test_table_5_counts_what_it_rests_on_and_survives_failed_fits():
    errors = {key: values.copy() for key, values in ERRORS.items()}
    failed = {key: values.copy() for key, values in NONE_FAILED.items()}
    errors["NN", 5, "CV"][0, :3] = np.nan  # three seeds of one data set
    failed["NN", 5, "CV"][0, :3] = 2
    errors["NN", 2, "SCV4"][1] = np.nan  # a whole data set
    table = error_table(errors, failed, ["NN"], (2, 5), NAMES)
    assert table.query("k == 2")["n_datasets"].tolist() == [7, 7, 7]
    assert table.query("k == 5")["n_datasets"].tolist() == [8, 8, 8]
    assert table.query("k == 5 and partitioner == 'CV'")["n_failed_fits"].item() == 6
    assert table["rmse"].notna().all()
    grid = error_grid(table, 0.1)
    assert "7 to 8 data sets" in grid.notes[1] and "6 fits failed" in grid.notes[1]


def test_a_cut_without_chance_has_no_best_spread_and_the_note_says_so():
    errors = {key: values.copy() for key, values in ERRORS.items()}
    for k in (2, 5):
        same = errors["NN", k, "SCV4"][:, :1]
        errors["NN", k, "SCV4"] = same + 1e-17 * np.arange(errors["NN", k, "SCV4"].shape[1])
    table = error_table(errors, NONE_FAILED, ["NN"], (2, 5), NAMES)
    grid = error_grid(table, 0.1)
    column = grid.header.index("Std SCV4")
    cells = [row[column] for row in grid.rows if len(row) > 1]
    assert all(not (cell.underline or cell.bold or cell.shade) for cell in cells)
    assert {cell.text for cell in cells} == {"0.0000E+0", ""}
    assert grid.notes[-1].startswith("SCV4: all seeds gave the same errors") and "is not marked" in grid.notes[-1]
    assert not any(
        "same errors" in note for note in error_grid(error_table(ERRORS, NONE_FAILED, ["NN"], (2, 5), NAMES), 0.1).notes
    )


def test_a_learner_that_never_works_leaves_an_empty_row_and_no_crash():
    errors = {key: np.full_like(values, np.nan) for key, values in ERRORS.items()}
    table = error_table(errors, NONE_FAILED, ["NN"], (2, 5), NAMES)
    assert (table["n_datasets"] == 0).all()


def test_the_order_is_judged_against_the_monte_carlo_error():
    table = pd.DataFrame({"k": 2, "partitioner": list("abcde"), "x": [3.0, 2.0, 2.1, 4.0, 3.99], "e": 0.1})
    # A fall of a tenth of a standard error shows nothing.
    assert order_table(table, "x", "e", ["k"])["ordered"].tolist() == ["yes", "within error", "no", "within error"]


def test_convergence_goes_up_to_a_third_of_the_seeds():
    table = convergence_table(ERRORS, ["NN"], (2, 5), NAMES, Repetitions(step=5, maximum=150, draws=3), master_seed=0)
    assert table["repetitions"].unique().tolist() == [5, 10]  # of 30 seeds
    assert set(table["partitioner"]) == {"SCV4", "TSCV"} and table["mean_p"].between(0, 1).all()


def test_every_printed_number_gets_ours_or_the_reason_why_not():
    printed = pd.DataFrame(
        [
            ("table4", "", "", "dn", 2, "CV", "mean_dn", 0.06, ""),
            ("table4", "", "", "dn", 2, "CV", "p_vs_TSCV", 7e-9, "*"),
            ("table4", "", "", "dn", 2, "SCV4", "p_vs_TSCV", 7e-9, "*"),
        ],
        columns=["table", *PRINT_KEYS, "value", "row_has_higher_rank_sum"],
    )
    key = ("table4", "", "", "dn", 2, "CV")
    ours = {(*key, "mean_dn"): (0.03, None), (*key, "p_vs_TSCV"): (0.5, 0)}
    table = join(printed, ours, {(*key, "mean_dn"): 0.01}, True, {(*key, "mean_dn"): "ours on 2 of 3 data sets"})
    assert list(table) == ["table", *PRINT_KEYS, *COLUMNS]
    assert table["ratio"].tolist()[0] == 0.5 and table["standard_error"].tolist()[0] == 0.01
    assert table["reason"].tolist() == ["ours on 2 of 3 data sets", "asterisk in print only", "not in this run"]
    table = join(printed, ours, {}, False)
    assert table["ours"].isna().all() and table["reason"].tolist() == [OTHER_DATA, *[f"{OTHER_DATA}; asterisk in print"] * 2]


def test_shades_run_from_the_worst_to_the_best():
    assert shades([3.0, 1.0, 2.0]) == [0.0, 1.0, 0.5] and shades([1.0, 1.0]) == [0.0, 0.0]
    assert shades([3.0, 1.0], lower_is_better=False) == [1.0, 0.0]


def test_the_three_forms_say_the_same_and_escape_what_they_must(tmp_path):
    grid = Grid(
        ["<x>", "y_1"],
        [["head"], ["a<b", TableCell("1 *", 1.0, bold=True, underline=True)]],
        ["note & more"],
        caption="A & B. More",
    )
    page, tex = to_html(grid), to_tex(grid)
    assert "a&lt;b" in page and "A &amp; B" in page and 'class="best bold"' in page and "rgb(160,160,160)" in page
    assert "y\\_1" in tex and "\\textbf{\\underline{1$^{*}$}}" in tex and "A \\& B" in tex
    frame = pd.DataFrame({"a": ["x"], "b": [1 / 3]})
    assert to_csv(frame) == "a,b\nx,0.3333333333\n"
    write_table(tmp_path / "t.html", frame, plain_grid(frame))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.html", "t.tex"]


def test_the_printed_form_of_table_4_marks_the_best_and_the_significant():
    grid = shift_grid(shift_table(SHIFT, (2, 5), NAMES), 0.1)
    means, against_cv = grid.rows[0], grid.rows[1]
    assert [cell.underline for cell in means[1:]] == [False, False, True] and means[3].shade == 1
    assert against_cv[1].text == "" and against_cv[3].bold and "*" not in against_cv[3].text
    assert grid.rows[2][1].text.endswith("*")
