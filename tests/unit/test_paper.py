"""Printed numbers beside ours."""

import numpy as np
import pandas as pd
import pytest

from foldshift.reporting.paper import COLUMNS, NOT_IN_RUN, OTHER_DATA, comparison_notes, join_with_print
from foldshift.reporting.tables import to_csv
from foldshift.studies.wong_2015.compare import examples_vs_print
from foldshift.studies.wong_2015.examples import examples_table

PRINTED = pd.DataFrame(
    [
        ("t1", "a", 2, 0.5, ""),
        ("t1", "b", 2, 0.0, ""),
        ("t1", "b", 5, np.nan, "illegible in print"),
        ("t2", "a", 2, 1.0, "a mean"),
    ],
    columns=["table", "name", "k", "printed", "note"],
)
OURS = pd.DataFrame(
    [
        ("t2", "a", 2, 3.0, 0.1, "on 2 data sets"),
        ("t1", "a", 2, 0.25, np.nan, ""),
        ("t1", "b", 2, 1.0, 0.2, ""),
        ("t9", "a", 2, 1.0, 0.0, ""),
    ],
    columns=["table", "name", "k", "ours", "standard_error", "note"],
)


def test_every_printed_number_has_one_row_with_the_columns_of_the_contract():
    table = join_with_print(PRINTED, OURS, ["name", "k"])
    assert list(table) == ["table", "name", "k", *COLUMNS]
    assert table["ours"].tolist()[:2] == [0.25, 1.0] and table["ours"].isna().tolist() == [False, False, True, False]
    assert table["ratio"].tolist()[::3] == [0.5, 3.0] and table["ratio"].isna().tolist() == [False, True, True, False]
    assert table["note"].tolist() == ["", "", "illegible in print", "a mean; on 2 data sets"]


def test_a_number_without_ours_says_so_and_a_table_without_any_as_well():
    nothing = join_with_print(PRINTED, OURS.iloc[:0], ["name", "k"])
    assert nothing["note"].tolist() == [NOT_IN_RUN, NOT_IN_RUN, "illegible in print", "a mean"]
    assert comparison_notes(nothing.assign(note=OTHER_DATA)) == [f"Nothing can be compared: {OTHER_DATA}."]
    assert comparison_notes(join_with_print(PRINTED, OURS, ["name", "k"]))[0].startswith("3 of 4 printed numbers")


def test_columns_that_ours_has_not_are_empty_and_keys_may_be_of_other_types():
    ours = pd.DataFrame({"table": "t1", "name": "a", "k": 2.0, "ours": [0.5]})
    table = join_with_print(PRINTED, ours, ["name", "k"])
    assert (
        table["ratio"][0] == 1 and table["standard_error"].isna().all() and to_csv(table).splitlines()[1] == "t1,a,2,0.5,0.5,1,,"
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
    assert row["note"] == "differs: the printed fraction is 0.0070 / 4"
    assert cells.loc[("s^2", "paper"), "note"].startswith("differs") and cells.loc[("s^2", "corrected"), "note"].startswith(
        "agrees"
    )
    numbers = examples[pd.to_numeric(examples["printed"], errors="coerce").notna()]
    assert len(table) == 2 * len(numbers) > 20
    both = table.assign(agrees=table["note"].str.startswith("agrees")).groupby(["example", "item"])["agrees"].all()
    assert both[list(zip(numbers["example"], numbers["item"]))].tolist() == (numbers["agrees"] == "yes").tolist()
