"""Printed numbers of a paper beside ours: one way, and the same columns, for every study."""

from foldshift.reporting.numbers import missing
from foldshift.reporting.tables import plain_grid

OTHER_DATA = "this run does not cover the paper's data sets"
NOT_IN_RUN = "not in this run"
COLUMNS = ("printed", "ours", "ratio", "standard_error", "note")


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
    ours = ours.astype({name: printed[name].dtype for name in on})
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
    grid : foldshift.reporting.tables.Grid
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
