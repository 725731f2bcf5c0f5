"""Pages of tables and figures: what a reader finds where there is little or nothing to show."""

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks
from foldshift.reporting.figure_style import PlainLogLocator, log_scale, plt, save_figure
from foldshift.reporting.items import FigureResult, TableResult, write_item
from foldshift.reporting.min_datasets import one_line, smallest_p, too_few
from foldshift.reporting.paper_vs_ours import OTHER_DATA, compared_grid, join_with_print
from foldshift.reporting.table_grid import Grid, TableCell, to_html, to_tex
from foldshift.studies.cieslak_2009.datasets_in_print import listed_datasets
from foldshift.studies.common.standard_items import has_print
from foldshift.studies.common.within_dataset import learner_rows, learners_grid, partitioner_rows, partitioners_grid, read_folds
from foldshift.studies.moreno_torres_2012.ablation.ablation_tables import ablation_grid, conclusions_grid
from foldshift.studies.moreno_torres_2012.figures import draw_ablation, draw_accuracy
from foldshift.studies.saez_2022.figures import convergence, draw_convergence, draw_shift_by_dataset
from foldshift.studies.saez_2022.tables import error_by_dataset, error_grid, shift_grid

RNG = np.random.default_rng(0)
FIGURE = {"name": "lines", "kind": "figure", "title": "Lines", "caption": "Two & more of {n_seeds} lines."}


@pytest.mark.parametrize("n", range(1, 8))
def test_the_smallest_p_is_that_of_differences_of_one_sign(n):
    a = np.arange(1.0, n + 1)
    assert smallest_p(n) == pytest.approx(wilcoxon_signed_ranks(a, np.zeros(n)).p_value)
    assert bool(too_few(n, 0.05)) == (n < 6) and bool(too_few(n, 0.1)) == (n < 5)


def test_too_few_data_sets_are_told_in_one_line():
    reason = too_few(3, 0.05)
    assert "3 data sets" in reason and "0.25" in reason and "level 0.05" in reason
    page = to_html(one_line(reason))
    assert page.count("<tr") == 2 and "This run has 3 data sets" in page and "no pair" not in page
    assert "1 population," in too_few(1, 0.05, "population") and "data set" not in too_few(1, 0.05, "population")


def test_the_page_of_a_figure_shows_its_caption_beside_it(tmp_path):
    figure, axis = plt.subplots()
    axis.plot([0, 1])
    write_item(FIGURE, figure, tmp_path / "lines.html", {"n_seeds": 3})
    page = (tmp_path / "lines.html").read_text()
    assert "<figcaption>Lines. Two &amp; more of 3 lines.</figcaption>" in page and page.index("<svg") < page.index("<figcaption")
    assert "<?xml" not in page and "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"|<metadata>.*?</metadata>', "", page, flags=re.S)
    assert {path.suffix for path in tmp_path.iterdir()} == {".html", ".svg", ".pdf", ".png", ".rst"}


def test_a_figure_with_nothing_to_show_is_left_out_with_its_reason(tmp_path):
    write_item(FIGURE, FigureResult(None, reason="no data set has results"), tmp_path / "lines.html", {"n_seeds": 3})
    page = (tmp_path / "lines.html").read_text()
    assert "Left out: no data set has results." in page and "<svg" not in page and "3 lines" in page
    assert all((tmp_path / f"lines.{form}").stat().st_size > 0 for form in ("svg", "pdf", "png"))


def test_long_texts_are_broken_and_heads_stand_over_their_columns():
    page = to_html(Grid(["what", "n", "note"], [["a", TableCell("1"), "w " * 50], ["b", TableCell("2"), ""]]))
    assert '<th class="text">what</th><th>n</th><th class="text">note</th>' in page
    assert page.count('class="text long"') == 1 and "td.long { white-space: normal" in page


@pytest.mark.parametrize(
    ("low", "high"), [(0.019, 0.17), (0.004, 0.1), (0.9, 1.1), (1e-6, 1e3), (0.2, 0.21), (1.0, 1.0), (0.05, 0.5)]
)
def test_plain_ticks_are_few_within_the_axis_and_increase(low, high):
    ticks = PlainLogLocator(5).tick_values(low, high)
    assert len(ticks) <= 5 and (ticks >= low).all() and (ticks <= high).all() and (np.diff(ticks) > 0).all()
    assert len(ticks) >= 2 or high < 1.02 * low or high / low < 1.3


def test_tick_labels_of_a_log_axis_do_not_touch():
    sizes = {"a": 300, "b": 500}
    names = ["CV", "TSCV"]
    rows = [(d, k, p, v * k / 10) for d in sizes for k in (2, 5, 10) for p, v in (("CV", 0.17), ("TSCV", 0.019))]
    figure = draw_shift_by_dataset(pd.DataFrame(rows, columns=["dataset", "k", "partitioner", "mean_dn"]), names, sizes)
    figure.canvas.draw()
    for axis in figure.axes:
        boxes = [label.get_window_extent() for label in axis.get_xticklabels(which="both") if label.get_text()]
        boxes = [box for box in boxes if axis.bbox.x0 - 1 <= (box.x0 + box.x1) / 2 <= axis.bbox.x1 + 1]
        boxes.sort(key=lambda box: box.x0)
        assert len(boxes) >= 2 and all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))
    plt.close(figure)


def test_an_axis_without_anything_above_zero_stays_linear():
    _, axis = plt.subplots()
    axis.plot([-1, 0], [0, 0])
    log_scale(axis.xaxis)
    assert axis.get_xscale() == "linear"
    plt.close()


def p_values(n_datasets=6):
    rows = [("RPART", 5, name, r, p, 0.1, 3, n_datasets) for name in ("SCV4", "TSCV") for r, p in ((10, 1.0), (20, 0.0))]
    return pd.DataFrame(
        rows, columns=["regressor", "k", "partitioner", "repetitions", "mean_p", "std_p", "n_draws", "n_datasets"]
    )


def test_marks_at_p_1_are_whole_and_the_level_has_a_name():
    figure = draw_convergence(p_values(), ["CV", "SCV4", "TSCV"], 0.05)
    low, high = figure.axes[0].get_ylim()
    assert low < 0 and high > 1 and "level 0.05" in [text.get_text() for text in figure.legends[0].get_texts()]
    plt.close(figure)


def test_figure_2_is_left_out_where_no_p_can_be_small(tmp_path):
    p_values(3).to_csv(tmp_path / "t.csv")
    settings = {"datasets": ["a", "b", "c"], "alpha": 0.05, "partitioners": ["CV", "SCV4", "TSCV"]}
    made = convergence(SimpleNamespace(table=tmp_path / "t.csv"), settings)["figure2_convergence (figure)"]
    assert made.figure is None and "0.25" in made.reason


def test_tables_4_and_5_have_no_rows_of_p_where_none_can_be_small():
    shared = {"k": 2, "partitioner": ["CV", "TSCV"], "n_datasets": 3, "n_seeds": 9}
    columns = [f"{a}{b}_vs_{c}" for a in ("", "std_") for b in ("p", "higher") for c in ("cv", "tscv")]
    shift = pd.DataFrame(shared | {"mean_dn": [0.2, 0.1], "standard_error": 0.01} | dict.fromkeys(columns, 1.0))
    few = too_few(3, 0.1)
    assert len(shift_grid(shift, 0.1).rows) == 3 and len(shift_grid(shift, 0.1, few).rows) == 1
    assert "no test over data sets" in shift_grid(shift, 0.1, few).notes[0]
    values = {"rmse": 0.2, "std": 0.1, "rmse_standard_error": 0.01, "std_standard_error": 0.01, "n_failed_fits": 0}
    error = pd.DataFrame(shared | {"regressor": "NN"} | values | dict.fromkeys(columns, 1.0))
    assert len(error_grid(error, 0.1).rows) == 4 and len(error_grid(error, 0.1, few).rows) == 2


def accuracies(percent, error):
    rows = [("paper", "5x2", name, m, percent, error, 0.0, 2) for name in ("SCV", "DB-SCV") for m in (1, 5)]
    columns = ["configuration", "scheme", "partitioner", "experiments", "percent", "standard_error", "std_draws", "n_draws"]
    return pd.DataFrame(rows, columns=columns)


def test_bands_of_the_accuracy_end_within_the_axis():
    figure = draw_accuracy(accuracies(98.0, 5.0))
    (axis,) = figure.axes
    heights = np.concatenate([band.get_paths()[0].vertices[:, 1] for band in axis.collections])
    assert heights.max() == 100 and axis.get_ylim()[0] < 0 and axis.get_ylim()[1] > 100
    plt.close(figure)
    assert draw_accuracy(accuracies(np.nan, np.nan)).reason.startswith("no pair of classifiers truly differs")


def changes(percents):
    rows = [
        (f"{c}: {what}", c, "5x2", name, percents[what], 1.0, 2.0, 3, 5, 4, 9, 7.0)
        for c in ("paper", "corrected")
        for what in percents
        for name in ("SCV", "DB-SCV")
    ]
    columns = ["change", "configuration", "scheme", "partitioner", "percent", "standard_error", "subset_error", "n_pairs"]
    return pd.DataFrame(rows, columns=[*columns, "n_experiments", "n_datasets", "n_cells", "mean_experiments"])


def test_the_ablation_has_no_empty_rows_and_fits_a_screen():
    table = changes({f"change {i}": 50.0 for i in range(12)} | {"held-out truth": np.nan})
    figure = draw_ablation(table, "5x2")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [f"change {i}" for i in range(12)] and len(figure.axes) == 2
    assert 150 * figure.get_size_inches()[1] < 1100
    plt.close(figure)


def test_an_ablation_without_pairs_says_why_and_keeps_convergence():
    table = changes({"base": np.nan})
    assert draw_ablation(table, "5x2", "few data sets").reason == "few data sets"
    grid = ablation_grid(table, "few data sets")
    assert "no pair" not in to_html(grid) and grid.header == ["Change", "DB-SCV, experiments", "SCV, experiments"]
    assert grid.notes == ["Few data sets."]


def verdicts(**found):
    """Rows of conclusions: name of the change and conclusion to verdict."""
    rows = [(*key.split("__"), "Average", verdict, 1.0, 0.4) for key, verdict in found.items()]
    return pd.DataFrame(rows, columns=["change", "conclusion", "scheme", "verdict", "difference", "standard_error"])


def test_conclusions_without_any_verdict_are_left_out_and_named():
    table = verdicts(a__one="holds", a__two="not tested", b__one="not tested", b__two="not tested", c__one="reversed")
    grid = conclusions_grid(table)
    assert grid.header == ["Change", "one"] and [row[0] for row in grid.rows] == ["Mean over the schemes", "a", "c"]
    assert "the conclusions two" in grid.notes[0] and "the changes b" in grid.notes[1] and "not tested" not in str(grid.rows)
    nothing = conclusions_grid(verdicts(a__one="not tested"))
    assert len(nothing.rows) == 1 and "no verdict" in nothing.rows[0][0]


def test_a_comparison_shows_compared_rows_only_and_counts_the_others():
    columns = ["table", "name", "scheme", "printed", "reason"]
    printed = pd.DataFrame([("t", f"n{i}", "", 1.0, OTHER_DATA * (i > 0)) for i in range(300)], columns=columns)
    ours = pd.DataFrame([("t", "n0", "", 2.0, 0.1, "")], columns=["table", "name", "scheme", "ours", "standard_error", "reason"])
    grid = compared_grid(join_with_print(printed, ours, ["name", "scheme"]))
    assert len(grid.rows) == 1 and "scheme" not in grid.header and "299 (this run does not cover" in grid.notes[1]


def test_a_run_has_a_comparison_only_with_a_data_set_of_the_paper(tmp_path):
    (tmp_path / "t.csv").write_text("dataset,n\nIris,150\n")
    run = SimpleNamespace(printed=lambda name: tmp_path / "t.csv", datasets=["mine"])
    assert not has_print(run, str.lower) and has_print(SimpleNamespace(**vars(run) | {"datasets": ["iris"]}), str.lower)


def test_own_data_stand_in_no_list_of_the_papers_data_sets():
    assert listed_datasets(["mine", "wine"]) == [("mine", "mine", ""), ("wine", "wine", "")]
    assert ("Oil", "oil", "") in listed_datasets(["oil"]) and len(listed_datasets(["oil"])) == 9


def test_errors_of_a_data_set_stand_in_the_targets_own_units_as_well():
    errors = {("NN", 2, name): np.array([[0.1, 0.3]]) for name in ("CV", "TSCV")}
    row = error_by_dataset(errors, ["mine"], ["NN"], [2], ["CV", "TSCV"], {"mine": 50.0}).iloc[0]
    assert row["rmse"] == pytest.approx(0.2) and row["rmse_own_units"] == pytest.approx(10)
    assert row["std_own_units"] == pytest.approx(50 * row["std"])


def folds(mean, r=200, k=5, spread=0.01, rng=RNG):
    return mean + spread * rng.normal(size=(r, k))


def test_one_data_set_shows_a_difference_between_ways_of_cutting_and_says_how_many_repetitions_it_takes():
    cells = {("NN", "CV", 5): folds(0.5), ("NN", "TSCV", 5): folds(0.49), ("NN", "SCV4", 5): folds(0.5)}
    rows = partitioner_rows(cells, "mine", ["NN"], ["CV", "SCV4", "TSCV"], "CV")
    same, other = rows
    assert (same["partitioner"], other["partitioner"]) == ("SCV4", "TSCV")
    assert other["difference"] == pytest.approx(-0.01, abs=0.002) and other["low"] < other["difference"] < other["high"] < 0
    assert other["p_holm"] < 1e-6 and same["p_holm"] > 0.05 and other["p_other_samples"] > other["p_value"]
    # Two spreads of .01 / sqrt(5): 1.96^2 * 2 * .00002 / .01^2 = 1.5 repetitions, two at least.
    assert other["repetitions_to_settle"] in (2.0, 3.0) and other["spread"] == pytest.approx(0.01 / 5**0.5, rel=0.2)
    table = pd.DataFrame(rows)
    grid = partitioners_grid(table, 0.05)
    assert "against CV" in grid.rows[0][0] and [row[4].bold for row in grid.rows[1:]] == [False, True]
    assert {len(row) for row in grid.rows} == {1, len(grid.header)} and "nan" not in to_html(grid) + to_tex(grid)


def test_the_interval_within_a_data_set_keeps_its_level():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        cells = {("NN", name, 5): folds(0.5, 10, rng=rng) for name in ("CV", "TSCV")}
        (row,) = partitioner_rows(cells, "mine", ["NN"], ["CV", "TSCV"], "CV")
        hits += row["low"] <= 0 <= row["high"]
    assert 0.92 <= hits / 400 <= 0.98  # 95 % within three Monte Carlo errors


def test_learners_are_compared_by_the_corrected_test_on_the_same_folds():
    base = folds(0.5)
    cells = {("a", "CV", 5): base, ("b", "CV", 5): base + 0.02 + 0.01 * RNG.normal(size=base.shape)}
    (row,) = learner_rows(cells, "mine", "", {"A": "a", "B": "b"}, "CV")
    d = cells["a", "CV", 5] - cells["b", "CV", 5]
    t = d.mean() / np.sqrt(d.var(ddof=1) * (1 / d.size + 1 / 4))
    half = (row["high"] - row["low"]) / 2
    assert abs(row["difference"]) / half * 1.962 == pytest.approx(abs(t), rel=1e-3)  # 999 degrees of freedom
    assert (row["row"], row["column"], row["repetitions"]) == ("A", "B", 200)
    grid = learners_grid(pd.DataFrame([row]), 0.05)
    assert grid.rows[0] == ["mine: 5 folds by CV, 200 partitions"] and grid.rows[1][0] == "A less B"


def test_partitions_with_a_failed_fit_are_left_out_and_too_few_make_no_row():
    broken = folds(0.5, 5)
    broken[0, 2] = np.nan
    cells = {("NN", "CV", 5): broken, ("NN", "TSCV", 5): folds(0.5, 5), ("SVM", "CV", 5): np.full((5, 5), np.nan)}
    (row,) = partitioner_rows(cells, "mine", ["NN"], ["CV", "TSCV"], "CV")
    assert row["repetitions"] == 4
    assert learner_rows(cells, "mine", "", {"NN": "NN", "SVM": "SVM"}, "CV") == []
    columns = ["dataset", "configuration", "k"]
    assert "No two learners" in learners_grid(pd.DataFrame(columns=columns), 0.05).rows[0][0]
    assert "No learner" in partitioners_grid(pd.DataFrame(columns=["dataset"]), 0.05).rows[0][0]


def test_partitions_that_all_give_the_same_differ_surely_or_not_at_all():
    cells = {("NN", name, 5): np.full((4, 5), value) for name, value in (("CV", 0.5), ("A", 0.5), ("B", 0.25))}
    same, other = partitioner_rows(cells, "mine", ["NN"], ["CV", "A", "B"], "CV")
    assert (same["p_value"], same["low"], same["high"]) == (1.0, 0.0, 0.0) and np.isnan(same["repetitions_to_settle"])
    assert (other["p_value"], other["repetitions_to_settle"]) == (0.0, 1.0)


def test_folds_are_read_by_cell_in_the_order_of_their_seeds(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    folder = tmp_path / "CV_2x1" / "0-3" / "all" / "NN-1612"
    folder.mkdir(parents=True)
    for first in (0, 2):
        values = np.arange(4.0) + 10 * first
        columns = {"learner": ["NN"] * 4, "partitioner": ["CV"] * 4, "k": pa.array([2] * 4, pa.int32()), "rmse": values}
        pq.write_table(pa.table(columns), folder / f"{first}-{first + 1}.parquet")
    wanted = {"partitioners": {"CV": "CV"}, "learners": {"NN-1612": "NN"}, "seeds": {"CV_2x1": 3}}
    found = read_folds(sorted(folder.iterdir(), reverse=True), wanted, "rmse")
    assert found["NN", "CV", 2].tolist() == [[0, 1], [2, 3], [20, 21]]


def test_shown_items_keep_their_three_forms(tmp_path):
    item = {"name": "t", "kind": "table", "title": "T", "caption": "About."}
    write_item(item, TableResult(pd.DataFrame({"a": [1]}), one_line("nothing")), tmp_path / "t.html", {})
    assert Path(tmp_path / "t.csv").read_text() == "a\n1\n" and "Nothing." in (tmp_path / "t.tex").read_text()
    save_figure(tmp_path / "f.svg", plt.figure())


def test_rows_come_in_the_order_that_is_asked_for_whatever_that_of_the_files_is():
    cells = {(name, cut, k): folds(0.5, k=k) for k in (5, 2) for name in ("RPART", "NN") for cut in ("TSCV", "CV")}
    rows = partitioner_rows(cells, "mine", ["NN", "RPART"], ["CV", "TSCV"], "CV")
    assert [(row["learner"], row["k"]) for row in rows] == [("NN", 2), ("NN", 5), ("RPART", 2), ("RPART", 5)]
    pairs = learner_rows(cells, "mine", "", {"NN": "NN", "RPART": "RPART"}, "CV")
    assert [row["k"] for row in pairs] == [2, 5]
