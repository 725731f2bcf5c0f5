"""Printed numbers beside ours."""

import numpy as np
import pandas as pd
import pytest

from foldshift.reporting.paper_vs_ours import (
    COLUMNS,
    EXPLAINED,
    MET,
    NOT_COMPARED,
    NOT_IN_RUN,
    OPEN,
    OTHER_DATA,
    chance_outside,
    comparison_notes,
    half_digits,
    join_with_print,
    judge,
    ledger_grid,
    met_within_errors,
    print_ledger,
    whole_table_p,
)
from foldshift.reporting.table_grid import to_csv
from foldshift.studies.moreno_torres_2012.against_print.print_verdicts import verdicts as class_verdicts
from foldshift.studies.wong_2015.compare import examples_vs_print
from foldshift.studies.wong_2015.worked_examples import examples_table

PRINTED = pd.DataFrame(
    [
        ("t1", "a", 2, 0.5, ""),
        ("t1", "b", 2, 0.0, ""),
        ("t1", "b", 5, np.nan, "illegible in print"),
        ("t2", "a", 2, 1.0, "a mean"),
    ],
    columns=["table", "name", "k", "printed", "reason"],
)
OURS = pd.DataFrame(
    [
        ("t2", "a", 2, 3.0, 0.1, "on 2 data sets"),
        ("t1", "a", 2, 0.25, np.nan, ""),
        ("t1", "b", 2, 1.0, 0.2, ""),
        ("t9", "a", 2, 1.0, 0.0, ""),
    ],
    columns=["table", "name", "k", "ours", "standard_error", "reason"],
)


def test_every_printed_number_has_one_row_with_the_columns_of_the_contract():
    table = join_with_print(PRINTED, OURS, ["name", "k"])
    assert list(table) == ["table", "name", "k", *COLUMNS]
    assert table["ours"].tolist()[:2] == [0.25, 1.0] and table["ours"].isna().tolist() == [False, False, True, False]
    assert table["ratio"].tolist()[::3] == [0.5, 3.0] and table["ratio"].isna().tolist() == [False, True, True, False]
    assert table["reason"].tolist() == ["", "", "illegible in print", "a mean; on 2 data sets"]


def test_a_number_without_ours_says_so_and_a_table_without_any_as_well():
    nothing = join_with_print(PRINTED, OURS.iloc[:0], ["name", "k"])
    assert nothing["reason"].tolist() == [NOT_IN_RUN, NOT_IN_RUN, "illegible in print", "a mean"]
    # as `pandas.DataFrame([], columns=...)` makes it: an empty column has no number to take its type from
    untyped = join_with_print(PRINTED, pd.DataFrame([], columns=OURS.columns), ["name", "k"])
    assert untyped[["ours", "ratio", "standard_error"]].dtypes.eq(np.float64).all() and not met_within_errors(untyped).any()
    assert comparison_notes(nothing.assign(reason=OTHER_DATA)) == [f"Nothing can be compared: {OTHER_DATA}."]
    assert comparison_notes(join_with_print(PRINTED, OURS, ["name", "k"]))[0].startswith("3 of 4 printed numbers")


def test_columns_that_ours_has_not_are_empty_and_keys_may_be_of_other_types():
    ours = pd.DataFrame({"table": "t1", "name": "a", "k": 2.0, "ours": [0.5]})
    table = join_with_print(PRINTED, ours, ["name", "k"])
    assert (
        table["ratio"][0] == 1
        and table["standard_error"].isna().all()
        and to_csv(table).splitlines()[1] == "t1,a,2,0.5,0.5,1,,,,"
    )


@pytest.mark.parametrize(("printed", "ours"), [((0, 0), (0, 1)), ((0, 1), (1, 1))])
def test_a_number_given_twice_is_refused(printed, ours):
    with pytest.raises(pd.errors.MergeError):
        join_with_print(PRINTED.iloc[list(printed)], OURS.iloc[list(ours)], ["name", "k"])


def test_the_worked_examples_stand_beside_print():
    table, examples = examples_vs_print(), examples_table()
    cells = table.set_index(["item", "formula"])
    row = cells.loc[("variance, folds", "corrected")]
    assert (row["printed"], row["ours"], row["ratio"]) == (0.0007, pytest.approx(0.00175), pytest.approx(2.5))
    assert (row["verdict"], row["reason"]) == (EXPLAINED, "the printed fraction is 0.0070 / 4, which is .00175")
    assert cells.loc[("s^2", "paper"), "verdict"] == EXPLAINED and cells.loc[("s^2", "corrected"), "verdict"] == MET
    numbers = examples[pd.to_numeric(examples["printed"], errors="coerce").notna()]
    assert len(table) == 2 * len(numbers) > 20
    both = table.assign(agrees=table["verdict"] == MET).groupby(["example", "item"])["agrees"].all()
    assert both[list(zip(numbers["example"], numbers["item"]))].tolist() == (numbers["agrees"] == "yes").tolist()


def _compared(*rows):
    return pd.DataFrame(rows, columns=["table", "name", "quantity", "printed", "ours", "ratio", "standard_error", "reason"])


def test_a_number_is_met_within_the_errors_of_both_and_the_rounding_of_the_print():
    table = _compared(
        ("t1", "a", "mean", 0.5, 0.52, 1, 0.01, ""),  # two decimals are printed, so that .005 is rounding
        ("t1", "b", "mean", 0.25, 0.2834, 1, 0.01, ""),  # the error of the difference of two such means is .0141
        ("t1", "c", "mean", 0.25, 0.2832, 1, 0.01, ""),
        ("t1", "d", "mean", 0.25, 0.2551, 1, np.nan, ""),
        ("t1", "e", "mean", 0.25, 0.2549, 1, np.nan, ""),
        ("t1", "f", "rows", 12.0, 12.0, 1, np.nan, ""),
        ("t1", "g", "rows", 12.0, 13.0, 1, np.nan, ""),
        ("t1", "h", "p", 1.2e-9, 1.24e-9, 1, np.nan, ""),
        ("t1", "i", "p", 1.2e-9, 1.26e-9, 1, np.nan, ""),
        ("t1", "j", "p", 0.5, np.nan, np.nan, 0.1, "not in this run"),
        ("t1", "k", "p", np.nan, 0.5, np.nan, 0.1, "illegible in print"),
    )
    assert half_digits(table.iloc[:9]).tolist() == pytest.approx([0.005] * 5 + [0.5] * 2 + [5e-11] * 2)
    expected = [True, False, True, False, True, True, False, True, False, False, False]
    assert met_within_errors(table).tolist() == expected
    assert met_within_errors(table, 0.0).tolist() == [True, False, False, *expected[3:]]
    assert met_within_errors(table, np.arange(11.0)).tolist()[:2] == [True, False]


def test_every_row_gets_a_verdict_and_a_reason():
    table = _compared(
        ("t1", "a", "mean", 0.5, 0.51, 1, 0.01, "a mean"),
        ("t1", "b", "mean", 0.25, 0.75, 3, 0.01, ""),
        ("t1", "c", "mean", 0.25, 0.75, 3, 0.01, ""),
        ("t1", "d", "mean", 0.25, np.nan, np.nan, np.nan, NOT_IN_RUN),
        ("t2", "e", "rows", 12.0, 12.0, 1, np.nan, ""),
        ("t2", "f", "rows", 12.0, 13.0, 1, np.nan, ""),
    )
    judged = judge(table, met_within_errors(table), ["", "", "a misprint", "", "", ""], print_error=1.0)
    assert judged["verdict"].tolist() == [MET, OPEN, EXPLAINED, NOT_COMPARED, MET, OPEN]
    assert judged["reason"].tolist() == [
        "a mean; within 2 errors",
        "35.0 errors from print; 1 of 2 numbers of this table are not met, where chance leaves 0.0",
        "a misprint",
        NOT_IN_RUN,
        "the printed digits",
        "no explanation is known",
    ]
    assert judged["chance"].notna().tolist() == [True, True, False, False, False, False]


def _many(n, n_outside, distance, seed=1):
    """Rows of one table, of which some lie `distance` errors from print, the others near it."""
    gaps = np.where(np.arange(n) < n_outside, distance, 0.5) * 0.01 * np.sqrt(2)
    rows = [("t1", str(i), "mean", 0.12345, 0.12345 + gap, 1, 0.01, "") for i, gap in enumerate(gaps)]
    return _compared(*rows)


@pytest.mark.parametrize(
    ("n_outside", "distance", "verdict"),
    [(5, 2.3, EXPLAINED), (20, 2.3, OPEN), (5, 9.0, OPEN), (0, 9.0, MET)],
    ids=["as many as chance leaves", "more than chance leaves", "farther than chance goes", "none"],
)
def test_what_chance_leaves_outside_needs_no_other_explanation(n_outside, distance, verdict):
    table = _many(100, n_outside, distance)
    judged = judge(table, met_within_errors(table), print_error=1.0)
    assert judged["verdict"].iloc[0] == verdict and (judged["verdict"] == MET).sum() == 100 - n_outside
    ledger = print_ledger(judged)
    assert ledger["outside"].tolist() == [n_outside] and ledger["expected_by_chance"][0] == pytest.approx(4.55, abs=0.01)
    assert (ledger["p_whole_table"][0] > 0.05) == (n_outside <= 8)


def test_right_numbers_are_seldom_found_wrong():
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(200):
        ours = 0.5 + 0.01 * rng.standard_normal(40)
        printed = (0.5 + 0.01 * rng.standard_normal(40)).round(5)
        table = _compared(*[("t1", str(i), "mean", a, b, b / a, 0.01, "") for i, (a, b) in enumerate(zip(printed, ours))])
        wrong += (judge(table, met_within_errors(table), print_error=1.0)["verdict"] == OPEN).any()
    assert wrong <= 26  # two tests of level .05 each: 20 expected at most


def test_the_chance_of_a_right_number_counts_the_rounding_of_the_print():
    table = _compared(("t1", "a", "mean", 0.5, 0.5, 1, 0.1, ""), ("t1", "a", "mean", 0.5, 0.5, 1, np.nan, ""))
    chance = chance_outside(table, 0.0)
    assert chance[0] == pytest.approx(2 * (1 - 0.9937903), abs=1e-6) and np.isnan(chance[1])  # 2.5 errors
    assert whole_table_p(np.array([0.5, 0.5]), 1) == 0.75 and whole_table_p(np.array([]), 0) == 1


def test_the_ledger_is_a_count_of_the_rows():
    table = join_with_print(PRINTED, OURS, ["name", "k"])
    judged = judge(table, [True, False, False, False], ["", "", "", "known"], print_error=1.0)
    ledger = print_ledger(judged)
    counts = judged.groupby("table")["verdict"].value_counts().unstack(fill_value=0)
    for name in (MET, EXPLAINED, OPEN, NOT_COMPARED):
        assert (
            ledger.set_index("table")[name.replace(" ", "_")][["t1", "t2"]].tolist() == counts.get(name, 0 * counts[MET]).tolist()
        )
    assert ledger["table"].tolist() == ["t1", "t2", "all"] and ledger["numbers"].tolist() == [3, 1, 4]
    assert ledger["why_not"].tolist() == ["1 illegible in print", "", "1 illegible in print"]
    assert print_ledger(judged.iloc[:0]).empty and len(print_ledger(judged.iloc[:1])) == 1
    assert ledger_grid(ledger).header[-1] == "why not compared"
    by_name = print_ledger(judged, by=("name", "table"))
    assert by_name["table"].tolist() == ["t1", "t1", "t2", "all"] and by_name["numbers"].tolist() == [1, 2, 1, 2]


def test_of_the_worked_examples_every_number_is_met_or_explained():
    ledger = print_ledger(examples_vs_print().query("formula == 'paper'"))
    assert ledger["open"].sum() == 0 and ledger["met"].sum() > 0 < ledger["explained"].sum()
    assert (ledger[["met", "explained", "not_compared"]].sum(axis=1) == ledger["numbers"]).all()


def test_verdicts_on_the_classification_study_take_its_reasons():
    keys = ["table", "configuration", "scheme", "row", "column", "quantity"]
    rows = [
        (("table1", "", "", "sonar", "", "attributes"), 50.0, 60.0, np.nan, "misprint: the row has 60 real attributes"),
        (("table3", "paper", "5x2", "iris", "LDA", "auc"), 0.9123, 0.9124, 0.001, ""),
        (("table3", "paper", "5x2", "iris", "SVM", "auc"), 0.9123, 0.95, 0.001, ""),
        (("table3", "paper", "5x2", "wine", "SVM", "auc"), 0.9123, 0.95, 0.001, ""),
        (("table4", "paper", "5x2", "3NN", "RIPPER", "r_plus"), 100.0, 200.0, 1.0, ""),
        (("table7", "paper", "5x2", "SCV", "", "mean"), 10.0, np.nan, np.nan, "not in this run"),
    ]
    table = pd.DataFrame([(*key, *rest) for key, *rest in rows], columns=[*keys, "printed", "ours", "standard_error", "reason"])
    reasons = ["", "", "the threshold is an emulation", "", "", ""]
    found = class_verdicts(table, reasons, 100, 200)
    assert found["verdict"].tolist() == [EXPLAINED, MET, EXPLAINED, OPEN, EXPLAINED, NOT_COMPARED]
    assert (found["reason"] != "").all()
