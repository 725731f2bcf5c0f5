"""Every number of the worked examples that is printed, beside ours."""

import pandas as pd

from foldshift.reporting.items import Shown
from foldshift.reporting.paper_vs_ours import EXPLAINED, MET, OPEN, compared_grid, join_with_print, ledger_grid, print_ledger
from foldshift.studies.wong_2015.example_tables import as_printed
from foldshift.studies.wong_2015.worked_examples import worked_examples

PRINT_KEYS = ("example", "item", "formula")  # of a printed number


def paper_vs_ours(inputs, settings):
    """The table of print beside ours; it rests on the paper alone."""
    table = examples_vs_print()
    by_paper = table[table["formula"] == "paper"]
    ledger = print_ledger(by_paper, verdicts(by_paper))
    return {"paper_vs_ours": Shown(table, compared_grid(table)), "print_ledger": Shown(ledger, ledger_grid(ledger))}


def verdicts(table):
    """Met where the printed formula gives the printed number; explained where it does not and the note says why."""
    found = []
    for note in table["note"]:
        word, _, reason = note.partition(": ")
        known = {"agrees": MET, "differs": EXPLAINED if reason else OPEN}
        found.append(known.get(word, note))
    return found


def examples_vs_print():
    """Every number of the worked examples that is printed beside ours.

    Returns
    -------
    table : pandas.DataFrame
        As `foldshift.reporting.paper_vs_ours.join_with_print` makes it, with `PRINT_KEYS`: ``formula`` is ``paper`` for what
        the printed
        formula gives for the data stated, ``corrected`` for what is right. Both are exact, so that there is no standard error.
        The note says which differ from print to the digits printed. Words and lists that the paper prints stand in
        `foldshift.studies.wong_2015.example_tables.examples_table` alone.
    """
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
