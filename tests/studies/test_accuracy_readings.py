"""Readings of Table VI beside print."""

import numpy as np
import pandas as pd
import pytest

from foldshift.inference.comparisons.wilcoxon import rank_sum_p
from foldshift.inference.repetitions.agreement import agreements, significant_pairs
from foldshift.reporting.table_grid import to_html
from foldshift.studies.moreno_torres_2012.against_print.accuracy_readings import (
    DISTANCE,
    PAIRS_IN_PRINT,
    PAPER,
    READINGS,
    printed_pairs,
    readings_grid,
    readings_table,
)
from foldshift.studies.moreno_torres_2012.against_print.compare import by_reading
from foldshift.studies.moreno_torres_2012.notation import AVERAGE, in_print_order

LEARNERS, SETS, SCHEMES = ["1NN", "LDA", "PART"], [f"d{i}" for i in range(8)], {2: 5, 5: 2}
CUTS = ["SCV", "DOB-SCV"]
SETTINGS = {
    "partitioners": CUTS, "iterations": SCHEMES, "learners": LEARNERS, "datasets": SETS, "alpha": 0.1,
    "ids": {"paper": {name: name for name in LEARNERS}},
}  # fmt: skip
TABLE4 = pd.DataFrame(
    [("1NN", "LDA", 2.0, 34.0, "0.0234"), ("1NN", "PART", 20.0, 16.0, ">0.2"), ("LDA", "PART", 33.0, 3.0, np.nan)],
    columns=["row", "column", "r_plus", "r_minus", "p_value"],
)
TABLE4 = pd.concat([TABLE4, TABLE4.rename(columns={"row": "column", "column": "row", "r_plus": "r_minus", "r_minus": "r_plus"})])
PRINTED = {
    "table1": pd.DataFrame({"dataset": SETS}),
    "table4": TABLE4,
    "table6": pd.DataFrame(
        [(s, c, 50.0) for s in ("2x5", "5x2", AVERAGE) for c in CUTS], columns=["scheme", "partitioner", "percent_same_result"]
    ),
}


def write_scores(folder, n_experiments=6):
    """Seed rows of eight data sets."""
    rng, paths = np.random.default_rng(0), []
    for d, dataset in enumerate(SETS):
        rows = []
        for i, learner in enumerate(LEARNERS):
            for cut in (*CUTS, "truth"):
                for k, r in SCHEMES.items():
                    areas = 0.7 + 0.01 * d + 0.03 * (i == 1) + 0.02 * rng.normal(size=r * n_experiments)
                    rows += [(dataset, learner, cut, k, area) for area in areas]
        paths.append(folder / f"{dataset}.parquet")
        pd.DataFrame(rows, columns=["dataset", "learner", "partitioner", "k", "auc_crisp"]).to_parquet(paths[-1])
    return paths


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    cuts = {"the study's": dict(zip(CUTS, CUTS)), "KEEL's": {"SCV": "SCV", "DOB-SCV": "DOB-SCV@keel-keel"}}
    return readings_table(write_scores(tmp_path_factory.mktemp("scores")), SETTINGS, PRINTED, cuts)


def test_printed_pairs_are_those_that_print_calls_different_with_the_p_of_its_sums():
    pairs = printed_pairs(TABLE4, LEARNERS, 8)
    assert list(zip(pairs.row, pairs.column)) == [(0, 1), (1, 2)]
    assert pairs.p_value.tolist() == [rank_sum_p(2.0, 8), rank_sum_p(33.0, 8)]


def test_given_pairs_replace_those_of_the_truth():
    rng = np.random.default_rng(1)
    truth, experiments = rng.random((3, 8)), rng.random((3, 8, 5))
    own = significant_pairs(truth, 1.0)
    assert agreements(truth, experiments, 0.1, "corrected", own).agree.shape == (3, 5)
    np.testing.assert_array_equal(
        agreements(truth, experiments, 0.1, "corrected", own).agree, agreements(truth, experiments, 1.0).agree
    )


def test_every_reading_has_its_schemes_an_average_and_its_distance(table):
    assert list(dict.fromkeys(table["reading"])) == list(READINGS) and set(table["cut"]) == {"the study's"}
    one = table[table["reading"] == PAPER].set_index(["scheme", "partitioner"])["percent"]
    gaps = one.loc[["2x5", "5x2"]] - 50
    assert one[DISTANCE].item() == pytest.approx(np.sqrt((gaps**2).mean()))
    assert one[AVERAGE, "SCV"] == pytest.approx(one.xs("SCV", level=1).loc[["2x5", "5x2"]].mean())
    pairs = table.set_index(["reading", "scheme", "partitioner"])["n_pairs"]
    assert pairs[PAPER, "5x2", "SCV"] == 2
    same = table[table["scheme"] == "5x2"].set_index(["reading", "partitioner"])["percent"]
    assert same["all runs", "SCV"] == same["one run at 2x5", "SCV"] and "as printed" in to_html(readings_grid(table))


def test_without_the_data_sets_of_print_its_table_4_judges_nothing(tmp_path):
    fewer = SETTINGS | {"datasets": SETS[:7]}
    found = readings_table(write_scores(tmp_path)[:7], fewer, PRINTED, {"the study's": dict(zip(CUTS, CUTS))})
    assert set(found["reading"]) == {name for name, one in READINGS.items() if not one.by_print}


def test_without_any_pair_the_page_says_so_in_a_line(table):
    grid = readings_grid(table.assign(percent=np.nan))
    assert len(grid.rows) == 1 and "cannot be seen at this size" in to_html(grid)


def test_the_paper_s_reading_replaces_the_rows_of_the_paper_s_classifiers_only(table):
    keys = pd.DataFrame([(c, "5x2", "SCV") for c in ("paper", "corrected")], columns=["configuration", "scheme", "partitioner"])
    ours = by_reading(keys.assign(percent=1.0, standard_error=2.0, truth_error=3.0), table, "the study's")
    expected = table[(table["reading"] == PAPER) & (table["scheme"] == "5x2") & (table["partitioner"] == "SCV")]["percent"].item()
    assert ours["percent"].tolist() == [expected, 1.0] and ours["truth_error"].tolist() == [0.0, 3.0]


def test_printed_cells_are_whole_multiples_of_the_numbers_of_pairs():
    from importlib.resources import files

    printed = pd.read_csv(files("foldshift.studies.moreno_torres_2012") / "printed/table6_accuracy.csv")
    for scheme, n in PAIRS_IN_PRINT.items():
        cells = printed.loc[printed["scheme"] == scheme, "percent_same_result"]
        whole = {m for m in range(1, 37) if all(abs(v * m - round(v * m)) <= 0.00101 * m for v in cells)}
        assert min(whole) == n
    means = printed[printed["scheme"] != AVERAGE].groupby("partitioner")["percent_same_result"].mean()
    average = printed[printed["scheme"] == AVERAGE].set_index("partitioner")["percent_same_result"]
    assert (means - average).abs().max() < 0.001


def test_columns_stand_in_the_order_of_print():
    assert in_print_order(["CB-SCV", "SCV", "MS-SCV", "DB-SCV", "DOB-SCV"]) == ["DOB-SCV", "DB-SCV", "SCV", "MS-SCV", "CB-SCV"]
