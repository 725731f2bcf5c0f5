"""Printed numbers of the worked examples beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.reporting.paper_vs_ours import comparison_items, join_with_print, judge, print_ledger
from foldshift.studies.wong_2015.worked_examples import as_printed, worked_examples

if TYPE_CHECKING:
    from foldshift.core.types import Inputs
    from foldshift.reporting.items import TableResult

NO_FORMULA = "there is no such formula"
PRINT_KEYS = ("example", "item", "formula")  # of a printed number


def paper_vs_ours(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of print beside ours, and count the numbers that are met; both rest on the paper alone."""
    table = examples_vs_print()
    return comparison_items(table, print_ledger(table, by=("formula", "table")))


def examples_vs_print() -> pd.DataFrame:
    """Put every printed number of the worked examples beside ours; the note of an example is the reason where they differ."""
    theirs, here, met, notes = [], [], [], []
    for row in worked_examples():
        try:
            printed = float(row.printed)
        except ValueError:
            continue
        for formula in ("paper", "corrected"):
            key, value = ("examples", row.example, row.item, formula), getattr(row, formula)
            theirs.append((*key, printed, "" if value is not None else "; ".join(filter(None, (NO_FORMULA, row.note)))))
            met.append(value is not None and as_printed(row.printed, value))
            notes.append(row.note)
            if value is not None:
                here.append((*key, float(value)))
    on = ["table", *PRINT_KEYS]
    theirs = pd.DataFrame(theirs, columns=[*on, "printed", "reason"])
    return judge(join_with_print(theirs, pd.DataFrame(here, columns=[*on, "ours"]), PRINT_KEYS), met, notes)
