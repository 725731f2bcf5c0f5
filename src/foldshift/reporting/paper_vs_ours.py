"""Printed numbers of a paper beside ours: one way, and the same columns, for every study."""

import numpy as np
import pandas as pd

from foldshift.reporting.number_formats import missing
from foldshift.reporting.table_grid import plain_grid

OTHER_DATA = "this run does not cover the paper's data sets"
NOT_IN_RUN = "not in this run"
COLUMNS = ("printed", "ours", "ratio", "standard_error", "note")
MET, EXPLAINED, OPEN = VERDICTS = ("met", "explained", "not explained")
VERDICT_COLUMNS = {MET: "met", EXPLAINED: "explained", OPEN: "not_explained"}


def join_with_print(printed, ours, keys):
    """Every printed number, and ours where there is one.

    Parameters
    ----------
    printed : pandas.DataFrame
        ``table``, the keys, ``printed`` (float64; NaN where the print is illegible) and, where something is to be said of the
        printed number or of why it cannot be compared, ``note``. One row per number.
    ours : pandas.DataFrame
        ``table``, the keys, ``ours`` and, where known, ``standard_error`` (Monte Carlo, of our number) and ``note``; at most one
        row per printed number. Rows that are not in print are left out.
    keys : sequence of str
        Columns that name a number within a table.

    Returns
    -------
    table : pandas.DataFrame
        ``table, <keys>, printed, ours, ratio, standard_error, note``, in the order of print. ``ratio`` is ours by printed,
        NaN where that is 0. A number without ours always has a note: its own, or `NOT_IN_RUN`.

    Raises
    ------
    pandas.errors.MergeError
        If a number is given twice.
    """
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


def compared_grid(table, notes=()):
    """The rows of which there are two numbers, as they are printed; the others are counted by reason.

    Parameters
    ----------
    table : pandas.DataFrame
        As `join_with_print` makes it.
    notes : sequence of str
        Shown below, after what `comparison_notes` says.

    Returns
    -------
    grid : foldshift.reporting.table_grid.Grid
    """
    both = table["ours"].notna() & (table["printed"].notna() | (table["note"] != ""))
    shown = table[both]
    keys = [name for name in shown if name == "note" or name not in ("table", *COLUMNS)]
    shown = shown.drop(columns=[name for name in keys if not shown[name].astype(bool).any()])
    counts = table.loc[~both, "note"].value_counts(sort=False)
    left_out = "; ".join(f"{n} ({reason})" for reason, n in counts.items())
    left_out = [f"Not shown, and in the CSV file, are printed numbers without one of ours: {left_out}."] if left_out else []
    return plain_grid(shown, [*comparison_notes(table), *left_out, *notes])


def comparison_notes(table):
    """How much of the print is compared, in one sentence for below the table.

    Parameters
    ----------
    table : pandas.DataFrame
        As `join_with_print` makes it.

    Returns
    -------
    notes : list of str
    """
    n = int((table["printed"].notna() & table["ours"].notna()).sum())
    if n:
        return [f"{n} of {len(table)} printed numbers have one of ours beside them."]
    return [f"Nothing can be compared: {'; '.join(dict.fromkeys(table['note']))}."]


def met_within_errors(table, print_error=1.0, n_errors=2):
    """Which of our numbers differ from print by no more than their errors and the rounding of the print.

    Parameters
    ----------
    table : pandas.DataFrame
        As `join_with_print` makes it; where there is no ``standard_error`` a number must agree to the digits printed.
    print_error : float or array-like of float, default=1.0
        Error of the printed number, in errors of ours: 1 where both rest on as many draws, 0 where print is exact.
    n_errors : float, default=2
        So many errors of the difference are allowed. Of numbers that differ by chance alone, one in twenty is further off than
        two.

    Returns
    -------
    met : ndarray of bool
        False where one of the two is missing.
    """
    errors = table["standard_error"].fillna(0.0).to_numpy() * np.sqrt(1 + np.square(print_error))
    gap = np.abs(table["ours"] - table["printed"]).to_numpy()
    return gap <= n_errors * errors + half_digits(table) * (1 + 1e-9)


def half_digits(table):
    """Half a unit of the last digit that is printed, by table and last key: of the number with the most decimals there.

    Parameters
    ----------
    table : pandas.DataFrame
        As `join_with_print` makes it.

    Returns
    -------
    half : ndarray of float
        Of a number printed with an exponent, half a unit of its own last digit.
    """
    last = [name for name in table if name not in COLUMNS][-1]
    texts = [f"{value:.15g}" for value in table["printed"]]
    decimals = pd.Series([-1 if "e" in text else len(text.partition(".")[2]) for text in texts], index=table.index)
    most = decimals.groupby([table["table"], table[last]]).transform("max")
    own = [len(text.partition("e")[0].partition(".")[2]) - int(text.partition("e")[2]) if "e" in text else -1 for text in texts]
    return 0.5 * 10.0 ** -np.where(decimals < 0, own, most).astype(np.float64)


def print_ledger(table, verdicts):
    """How many of the printed numbers are met, by table.

    Parameters
    ----------
    table : pandas.DataFrame
        As `join_with_print` makes it.
    verdicts : sequence of str
        One of `VERDICTS` by row; what else stands there is why the number cannot be compared.

    Returns
    -------
    ledger : pandas.DataFrame
        ``table, numbers``, one column for each of `VERDICTS`, ``not_compared`` and ``why_not``: the reasons, the most frequent
        first. The last row, ``all``, has the sums.
    """
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


def ledger_grid(ledger):
    """The counts as they are printed."""
    return plain_grid(ledger.rename(columns={"why_not": "why not compared"}))
