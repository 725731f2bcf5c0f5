"""Compare the printed numbers of a paper with ours, in one way and with the same columns for every study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.reporting.number_formats import missing
from foldshift.reporting.table_grid import plain_grid

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray
    from foldshift.reporting.table_grid import Grid

OTHER_DATA = "this run does not cover the paper's data sets"
NOT_IN_RUN = "not in this run"
COLUMNS = ("printed", "ours", "ratio", "standard_error", "note")
MET, EXPLAINED, OPEN = VERDICTS = ("met", "explained", "not explained")
VERDICT_COLUMNS = {MET: "met", EXPLAINED: "explained", OPEN: "not_explained"}


def join_with_print(printed: pd.DataFrame, ours: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Join every printed number with ours where there is one; the note of a number without one is `NOT_IN_RUN`."""
    on = ["table", *keys]
    printed = printed.reindex(columns=[*on, "printed", "note"])
    ours = ours.reindex(columns=[*on, "ours", "standard_error", "note"])
    ours = ours.astype({name: printed[name].dtype for name in on} | {"ours": np.float64, "standard_error": np.float64})
    table = printed.merge(ours, how="left", on=on, suffixes=("_printed", "_ours"), validate="one_to_one")
    table["ratio"] = table["ours"] / table["printed"].where(table["printed"] != 0)
    both = zip(table["note_printed"], table["note_ours"])
    table["note"] = ["; ".join(text for text in texts if not missing(text) and text) for texts in both]
    table.loc[table["ours"].isna() & (table["note"] == ""), "note"] = NOT_IN_RUN
    return table[[*on, *COLUMNS]]


def compared_grid(table: pd.DataFrame, notes: Sequence[str] = ()) -> Grid:
    """Lay out the rows with both numbers for print, and count the others by reason."""
    both = table["ours"].notna() & (table["printed"].notna() | (table["note"] != ""))
    shown = table[both]
    keys = [name for name in shown if name == "note" or name not in ("table", *COLUMNS)]
    shown = shown.drop(columns=[name for name in keys if not shown[name].astype(bool).any()])
    counts = table.loc[~both, "note"].value_counts(sort=False)
    reasons = "; ".join(f"{n} ({reason})" for reason, n in counts.items())
    left_out = [f"Not shown, and in the CSV file, are printed numbers without one of ours: {reasons}."] if reasons else []
    return plain_grid(shown, [*comparison_notes(table), *left_out, *notes])


def comparison_notes(table: pd.DataFrame) -> list[str]:
    """Count the printed numbers that are compared, in one sentence for the notes below the table."""
    n = int((table["printed"].notna() & table["ours"].notna()).sum())
    if n:
        return [f"{n} of {len(table)} printed numbers have one of ours beside them."]
    return [f"Nothing can be compared: {'; '.join(dict.fromkeys(table['note']))}."]


def met_within_errors(table: pd.DataFrame, print_error: ArrayLike = 1.0, n_errors: float = 2) -> BoolArray:
    """Mark our numbers that differ from print by no more than their errors and the rounding of the print."""
    errors = table["standard_error"].fillna(0.0).to_numpy() * np.sqrt(1 + np.square(print_error))
    gap = np.abs(table["ours"] - table["printed"]).to_numpy()
    return gap <= n_errors * errors + half_digits(table) * (1 + 1e-9)


def half_digits(table: pd.DataFrame) -> FloatArray:
    """Half a unit of the last printed digit, by table and last key: that of the number with the most decimals there."""
    last = [name for name in table if name not in COLUMNS][-1]
    texts = [f"{value:.15g}" for value in table["printed"]]
    decimals = pd.Series([-1 if "e" in text else len(text.partition(".")[2]) for text in texts], index=table.index)
    most = decimals.groupby([table["table"], table[last]]).transform("max")
    own = [len(text.partition("e")[0].partition(".")[2]) - int(text.partition("e")[2]) if "e" in text else -1 for text in texts]
    return 0.5 * 10.0 ** -np.where(decimals < 0, own, most).astype(np.float64)


def print_ledger(table: pd.DataFrame, verdicts: Sequence[str]) -> pd.DataFrame:
    """Count the printed numbers that are met, by table."""
    rows = []
    for name, part in pd.Series(list(verdicts), index=table.index).groupby(table["table"], sort=False):
        others = part[~part.isin(VERDICTS)]
        counts = {VERDICT_COLUMNS[one]: int((part == one).sum()) for one in VERDICTS}
        why = "; ".join(f"{n} {reason}" for reason, n in others.value_counts().items())
        rows.append({"table": name, "numbers": len(part), **counts, "not_compared": len(others), "why_not": why})
    ledger = pd.DataFrame(rows, columns=["table", "numbers", *VERDICT_COLUMNS.values(), "not_compared", "why_not"])
    if len(ledger) > 1:
        sums = ledger.select_dtypes("number").sum().to_dict()
        ledger = pd.concat([ledger, pd.DataFrame([{"table": "all", **sums, "why_not": ""}])], ignore_index=True)
    return ledger


def ledger_grid(ledger: pd.DataFrame) -> Grid:
    """Lay out the counts for print."""
    return plain_grid(ledger.rename(columns={"why_not": "why not compared"}))
