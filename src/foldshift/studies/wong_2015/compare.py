"""Printed numbers of the worked examples beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.paper_vs_ours import EXPLAINED, MET, OPEN, compared_grid, join_with_print, ledger_grid, print_ledger
from foldshift.studies.wong_2015.worked_examples import as_printed, worked_examples

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

PRINT_KEYS = ("example", "item", "formula")  # of a printed number


def paper_vs_ours(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of print beside ours, and count the numbers that are met; both rest on the paper alone."""
    table = examples_vs_print()
    by_paper = table[table["formula"] == "paper"]
    ledger = print_ledger(by_paper, verdicts(by_paper))
    return {"paper_vs_ours": TableResult(table, compared_grid(table)), "print_ledger": TableResult(ledger, ledger_grid(ledger))}


def verdicts(table: pd.DataFrame) -> list[str]:
    """Judge every row: met if the printed formula gives the printed number; explained if it does not and the note says why."""
    found = []
    for note in table["note"]:
        word, _, reason = note.partition(": ")
        known = {"agrees": MET, "differs": EXPLAINED if reason else OPEN}
        found.append(known.get(word, note))
    return found


def examples_vs_print() -> pd.DataFrame:
    """Put every printed number of the worked examples beside ours."""
    theirs, here = [], []
    for row in worked_examples():
        try:
            printed = float(row.printed)
        except ValueError:
            continue
        for formula in ("paper", "corrected"):
            key, value = ("examples", row.example, row.item, formula), getattr(row, formula)
            if value is None:
                theirs.append((*key, printed, "; ".join(filter(None, ("there is no such formula", row.note)))))
                continue
            verdict = "agrees" if as_printed(row.printed, value) else "differs"
            theirs.append((*key, printed, ""))
            here.append((*key, float(value), f"{verdict}: {row.note}" if row.note else verdict))
    on = ["table", *PRINT_KEYS]
    theirs = pd.DataFrame(theirs, columns=[*on, "printed", "note"])
    return join_with_print(theirs, pd.DataFrame(here, columns=[*on, "ours", "note"]), PRINT_KEYS)
