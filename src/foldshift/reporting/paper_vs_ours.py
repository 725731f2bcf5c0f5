"""Compare the printed numbers of a paper with ours, in one way and with the same columns for every study.

`join_with_print` puts the numbers side by side, `judge` adds a verdict and its reason to every row, and `print_ledger` counts the
rows. Two standard errors leave one right number in twenty outside, so the ledger says how many chance alone explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy.stats import norm

from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import missing
from foldshift.reporting.table_grid import plain_grid

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray
    from foldshift.reporting.table_grid import Grid

    Verdict = Literal["met", "explained", "open", "not compared"]

OTHER_DATA = "this run does not cover the paper's data sets"
NOT_IN_RUN = "not in this run"
MET, EXPLAINED, OPEN, NOT_COMPARED = VERDICTS = ("met", "explained", "open", "not compared")
NUMBERS = ("printed", "ours", "ratio", "standard_error")
COLUMNS = (*NUMBERS, "verdict", "reason", "chance")  # of a row, after `table` and its keys
N_ERRORS = 2.0
LEVEL = 0.05  # of the test of a whole table


def join_with_print(printed: pd.DataFrame, ours: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Join every printed number with ours where there is one; the reason of a number without one is `NOT_IN_RUN`.

    Reasons of both sides are joined. Verdicts are empty: `judge` gives them.
    """
    on = ["table", *keys]
    printed = printed.reindex(columns=[*on, "printed", "reason"])
    ours = ours.reindex(columns=[*on, "ours", "standard_error", "reason"])
    ours = ours.astype({name: printed[name].dtype for name in on} | {"ours": np.float64, "standard_error": np.float64})
    table = printed.merge(ours, how="left", on=on, suffixes=("_printed", "_ours"), validate="one_to_one")
    table["ratio"] = table["ours"] / table["printed"].where(table["printed"] != 0)
    both = zip(table["reason_printed"], table["reason_ours"])
    table["reason"] = ["; ".join(text for text in texts if not missing(text) and text) for texts in both]
    table.loc[table["ours"].isna() & (table["reason"] == ""), "reason"] = NOT_IN_RUN
    return table.assign(verdict="", chance=np.nan)[[*on, *COLUMNS]]


def judge(
    table: pd.DataFrame,
    met: ArrayLike,
    explanations: Sequence[str] | None = None,
    *,
    print_error: ArrayLike | None = None,
    compared: ArrayLike | None = None,
    within: str = "the printed digits",
) -> pd.DataFrame:
    """Give every row of a comparison its verdict and the reason for it.

    Parameters
    ----------
    table : DataFrame
        Rows of `join_with_print`, of one configuration; what their column ``reason`` says stays in front of the reason.
    met : array of bool of shape (n_rows,)
        Whether our number meets the printed one, where both are there.
    explanations : sequence of str, optional
        By row, the known reason of a number that is not met; empty where none is known.
    print_error : float or array of shape (n_rows,), optional
        Error of the print over ours, for the chance that a right number is not met (`chance_outside`). By default no chance is
        known, as where numbers are exact.
    compared : array of bool of shape (n_rows,), optional
        Whether a row is compared; by default, if both numbers are there.
    within : str
        Reason of a number that is met without an error of its own.

    Returns
    -------
    judged : DataFrame
        The same rows. A number that is not met, and has no explanation, counts as explained by chance if its whole table has no
        more of them than chance leaves (`whole_table_p` above `LEVEL`) and if it is no farther out than the farthest of as many
        right numbers. ``chance`` is NaN where it does not apply: not compared, or explained otherwise.
    """
    known = np.array(explanations if explanations is not None else [""] * len(table), dtype=object)
    there = (table["ours"].notna() & table["printed"].notna()).to_numpy() if compared is None else np.asarray(compared, bool)
    hit = np.asarray(met, dtype=bool) & there
    verdict = np.where(~there, NOT_COMPARED, np.where(hit, MET, np.where(known != "", EXPLAINED, OPEN))).astype(object)
    errors = _difference_error(table, 0.0 if print_error is None else print_error)
    chance = np.full(len(table), np.nan) if print_error is None else chance_outside(table, print_error)
    chance = np.where(there & (hit | (known == "")), chance, np.nan)
    why = np.where(hit, np.where(errors > 0, f"within {N_ERRORS:g} errors", within), known)
    gap = np.maximum((table["ours"] - table["printed"]).abs().to_numpy() - half_digits(table), 0)
    for rows in table.assign(place=np.arange(len(table))).groupby("table", sort=False)["place"]:
        tested = rows[1].to_numpy()[~np.isnan(chance[rows[1]])]
        outside = tested[~hit[tested]]
        counted = (
            f"{len(outside)} of {len(tested)} numbers of this table are not met, where chance leaves {chance[tested].sum():.1f}"
        )
        by_chance = whole_table_p(chance[tested], len(outside)) > LEVEL
        for place in outside:
            distance = gap[place] / errors[place]
            if by_chance and distance <= norm.isf(LEVEL / (2 * len(tested))):
                verdict[place], why[place] = EXPLAINED, f"chance: {counted}"
            else:
                why[place] = f"{distance:.1f} errors from print; {counted}"
    why[(verdict == OPEN) & (why == "")] = "no explanation is known"
    reason = ["; ".join(filter(None, (text, one))) for text, one in zip(table["reason"], np.where(there, why, ""))]
    return table.assign(verdict=verdict, reason=reason, chance=chance)


def chance_outside(table: pd.DataFrame, print_error: ArrayLike = 1.0) -> FloatArray:
    """Probability that a right number lies beyond two errors and the rounding of the print; NaN where there is no error."""
    error = _difference_error(table, print_error)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, 2 * norm.sf(N_ERRORS + half_digits(table) / error), np.nan)


def whole_table_p(chance: FloatArray, n_outside: int) -> float:
    """Probability that chance alone leaves at least so many of a table's numbers outside, if they are independent."""
    counts = np.ones(1)
    for one in chance:
        counts = np.convolve(counts, (1 - one, one))
    return float(min(1.0, counts[n_outside:].sum()))


def compared_grid(table: pd.DataFrame, notes: Sequence[str] = ()) -> Grid:
    """Lay out the rows with both numbers for print, and count the others by reason."""
    both = table["ours"].notna() & (table["printed"].notna() | (table["verdict"] != NOT_COMPARED))
    shown = table[both].drop(columns="chance")
    keys = [name for name in shown if name not in ("table", *COLUMNS)]
    shown = shown.drop(columns=[name for name in keys if not shown[name].astype(bool).any()])
    counts = table.loc[~both, "reason"].value_counts(sort=False)
    reasons = "; ".join(f"{n} ({reason})" for reason, n in counts.items())
    left_out = [f"Not shown, and in the CSV file, are printed numbers without one of ours: {reasons}."] if reasons else []
    return plain_grid(shown, [*comparison_notes(table), *left_out, *notes])


def comparison_notes(table: pd.DataFrame) -> list[str]:
    """Count the printed numbers that are compared, in one sentence for the notes below the table."""
    n = int((table["printed"].notna() & table["ours"].notna()).sum())
    if n:
        return [f"{n} of {len(table)} printed numbers have one of ours beside them."]
    return [f"Nothing can be compared: {'; '.join(dict.fromkeys(table['reason']))}."]


def met_within_errors(table: pd.DataFrame, print_error: ArrayLike = 1.0, n_errors: float = N_ERRORS) -> BoolArray:
    """Mark our numbers that differ from print by no more than their errors and the rounding of the print."""
    gap = np.abs(table["ours"] - table["printed"]).to_numpy()
    return gap <= n_errors * _difference_error(table, print_error) + half_digits(table) * (1 + 1e-9)


def _difference_error(table: pd.DataFrame, print_error: ArrayLike) -> FloatArray:
    """Error of ours less print; 0 where ours has none. `print_error` is the error of the print over that of ours."""
    return table["standard_error"].fillna(0.0).to_numpy() * np.sqrt(1 + np.square(print_error))


def half_digits(table: pd.DataFrame) -> FloatArray:
    """Half a unit of the last printed digit, by table and last key: that of the number with the most decimals there."""
    last = [name for name in table if name not in COLUMNS][-1]
    texts = [f"{value:.15g}" for value in table["printed"]]
    decimals = pd.Series([-1 if "e" in text else len(text.partition(".")[2]) for text in texts], index=table.index)
    most = decimals.groupby([table["table"], table[last]]).transform("max")
    own = [len(text.partition("e")[0].partition(".")[2]) - int(text.partition("e")[2]) if "e" in text else -1 for text in texts]
    return 0.5 * 10.0 ** -np.where(decimals < 0, own, most).astype(np.float64)


def print_ledger(table: pd.DataFrame, by: Sequence[str] = ("table",)) -> pd.DataFrame:
    """Count the rows of a judged comparison by verdict.

    ``outside`` and ``expected_by_chance`` count the numbers with an error and without another explanation: those that are not
    met, and those that chance leaves. ``p_whole_table`` is the probability of at least so many by chance. The last row of every
    group of `by` but its last key sums the others, where there are several.
    """
    by = list(by)
    ledger = [_count(part, dict(zip(by, key))) for key, part in table.groupby(by, sort=False)]
    wholes = table.groupby(by[:-1], sort=False) if by[:-1] else [((), table)]
    for key, part in wholes:
        if part[by[-1]].nunique() > 1:
            ledger.append(_count(part, dict(zip(by, (*key, "all")))))
    columns = ("numbers", *(name.replace(" ", "_") for name in VERDICTS), "outside", "expected_by_chance", "p_whole_table")
    return pd.DataFrame(ledger, columns=[*by, *columns, "why_not"])


def _count(part: pd.DataFrame, keys: dict[str, str]) -> dict[str, object]:
    """Make one row of the ledger."""
    counts = {name.replace(" ", "_"): int((part["verdict"] == name).sum()) for name in VERDICTS}
    others = part.loc[part["verdict"] == NOT_COMPARED, "reason"].value_counts()
    chance = part["chance"].to_numpy()
    tested = ~np.isnan(chance)
    outside = int((tested & (part["verdict"] != MET).to_numpy()).sum())
    of_chance = {"outside": outside, "expected_by_chance": chance[tested].sum(), "p_whole_table": np.nan}
    if tested.any():
        of_chance["p_whole_table"] = whole_table_p(chance[tested], outside)
    why_not = "; ".join(f"{n} {reason}" for reason, n in others.items())
    return {**keys, "numbers": len(part), **counts, **of_chance, "why_not": why_not}


def comparison_items(table: pd.DataFrame, ledger: pd.DataFrame) -> dict[str, TableResult]:
    """Make the table of print beside ours, and its ledger."""
    return {"paper_vs_ours": TableResult(table, compared_grid(table)), "print_ledger": TableResult(ledger, ledger_grid(ledger))}


def ledger_grid(ledger: pd.DataFrame) -> Grid:
    """Lay out the counts for print."""
    rounded = ledger.assign(expected_by_chance=ledger["expected_by_chance"].round(1))
    return plain_grid(rounded.rename(columns={"why_not": "why not compared", "p_whole_table": "p of the whole table"}), digits=3)
