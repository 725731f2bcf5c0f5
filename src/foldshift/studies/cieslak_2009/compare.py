"""Printed numbers of Cieslak and Chawla (2009) beside ours.

The paper prints one random split, ours is a mean over many. So the standard deviation of our splits is the error of print, and
a number is met within two errors of the difference. Where these two errors would let pass most of what is printed, nothing is
decided and the number is not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.reporting.paper_vs_ours import N_ERRORS, comparison_items, join_with_print, judge, met_within_errors, print_ledger
from foldshift.studies.cieslak_2009.datasets_in_print import listed_datasets

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows
    from foldshift.reporting.items import TableResult

PRINT_KEYS = ("dataset", "ours_is", "condition", "quantity")  # of a printed number
ROWS_TOLERANCE = 0.002  # share of the rows by which a part of Table 1 may differ
DECISIVE = 0.25  # share of the range of the printed numbers that two errors may be, for a comparison to decide anything
# In 395 of 10,000 random splits of Page 3 or more features fail; `make validate WHAT=readings` measures the 136 in which 3 do.
PAGE = "three features fail without any shift in print, as three or more do in 4.0 % of 10,000 random splits; "
FORMULA_8 = "all features fail: formula 8 gives 1/(2 n - 3) = .111, print has 0"
# Explanations of single printed cells, by table, data set and condition: facts that a run or the paper shows.
KNOWN = {
    ("table2", "Page", "Base"): f"{PAGE}print is one of those",
    ("table2", "Page", "MCAR25"): f"{PAGE}after such a split .230 ± .069 fail",
    ("table2", "Page", "MCAR50"): f"{PAGE}after such a split .172 ± .068 fail",
    ("table3", "Page", "MCAR25"): f"{PAGE}after such a split phi is .088 ± .063",
    ("table3", "Page", "MCAR50"): f"{PAGE}after such a split phi is .111 ± .097",
    **{("table4", "Page", f"CS{percent}"): f"{PAGE}after such a split .370 fail" for percent in (25, 50, 100, 200)},
    ("table3", "Mammography", "MNAR25"): FORMULA_8,
    ("table3", "Mammography", "MNAR50"): FORMULA_8,
}
TABLES = ("table1", "table2", "table3", "table4", "table6")  # those that are printed
NO_VALUE = "every feature always or never fails, or there are fewer than three versions"
ONE_SPLIT = "one split has no error: two or more are needed"


class Printed(NamedTuple):
    """A kind of printed number: its table and column in print, and where ours stand."""

    table: str  # of the comparison
    source: str  # printed table, and ours
    quantity: str
    column: str  # of the printed table
    formula: str  # rows of ours
    value: str = "value"  # columns of ours
    error: str = "standard_error"
    unit: str = ""  # quantities of one unit share the range of what is printed


PRINTED = (
    Printed("table2", "table2", "proportion", "proportion", "paper", unit="share"),
    Printed("table3", "table3", "mean", "phi_mean", "paper", unit="phi"),
    Printed("table3_plus_or_minus", "table3", "plus or minus", "phi_spread", "paper", "spread", "se_spread", "error of phi"),
    Printed("table4", "table4", "proportion", "proportion", "paper", unit="share"),
    Printed("table6", "table6", "skew", "skew", "skew", unit="skewness"),
)


def paper_vs_ours(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Compare the printed tables with ours, and count the printed numbers by verdict."""
    printed, ours = (
        {name: pd.read_csv(path, keep_default_na=False, na_values=[""]) for name, path in zip(TABLES, paths)}
        for paths in (inputs.printed, inputs.ours)
    )
    table = comparison(printed, {name: table.fillna({"ours": "", "note": ""}) for name, table in ours.items()})
    return comparison_items(table, print_ledger(table))


def comparison(printed: dict[str, pd.DataFrame], ours: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Put every printed number beside ours, with its verdict and the reason for it."""
    found = cells(printed, ours)
    both = [_judged_sizes(sizes(printed["table1"], ours["table1"])), _judged_cells(found)]
    return pd.concat(both, ignore_index=True)


def cells(printed: dict[str, pd.DataFrame], ours: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """List the numbers of Tables 2 to 6: printed, ours, the error of ours, the number of splits, and whether it decides."""
    rows: Rows = []
    for of in PRINTED:
        part = ours[of.source][ours[of.source]["formula"] == of.formula]
        by_cell = part[part["ours"] != ""].set_index(["dataset", "ours", "condition"])
        for row in printed[of.source].to_dict("records"):
            for key, note in _datasets_of_run(ours[of.source], row["dataset"]):
                cell = (row["dataset"], key, row["condition"])
                one = by_cell.loc[cell].to_dict() if cell in by_cell.index else {}
                names = dict(zip(PRINT_KEYS, (*cell, of.quantity)))
                value, error, n = (one.get(name, np.nan) for name in (of.value, of.error, "n_repeats"))
                numbers = {"printed": float(row[of.column]), "ours": value, "standard_error": error, "n_splits": n}
                rows.append({"table": of.table, "unit": of.unit, **names, **numbers, "note": note, "known": bool(one)})
    table = pd.DataFrame(rows)
    ranges = table.groupby("unit")["printed"].agg(np.ptp)
    errors = N_ERRORS * table["standard_error"] * np.sqrt(1 + table["n_splits"])
    return table.assign(two_errors=errors, most=DECISIVE * table["unit"].map(ranges))


def _judged_cells(found: pd.DataFrame) -> pd.DataFrame:
    """Judge the rows of `cells`: a printed number is one split, of which the splits of ours give the error."""
    on = ["table", *PRINT_KEYS]
    decides = found["two_errors"] <= found["most"]
    theirs = found[[*on, "printed"]].assign(reason=[_circumstance(row) for row in found.itertuples()])
    table = join_with_print(theirs, found[[*on, "ours", "standard_error"]], PRINT_KEYS)
    ratio = np.sqrt(found["n_splits"].fillna(1).to_numpy())
    known = [KNOWN.get((row.table, row.dataset, row.condition), "") for row in found.itertuples()]
    compared = (found["ours"].notna() & decides).to_numpy()
    return judge(table, met_within_errors(table, ratio), known, print_error=ratio, compared=compared)


def _circumstance(row: Any) -> str:
    """Say how much single splits differ, or why a number of `cells` is not compared."""
    if np.isnan(row.ours):
        return row.note or (NO_VALUE if row.known else "not measured")
    if row.n_splits < 2:
        return ONE_SPLIT
    if row.two_errors > row.most:
        return f"cannot be decided: two errors of a single split are more than {row.most:.3f}, a quarter of the printed range"
    return f"single splits differ by {row.standard_error * np.sqrt(row.n_splits):.3f}"


def sizes(printed: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """List the sizes of Table 1, printed and ours, with the rows by which they may differ."""
    rows: Rows = []
    for row in printed.to_dict("records"):
        for one in ours[ours["dataset"] == row["dataset"]].to_dict("records"):
            slack = ROWS_TOLERANCE * (row["training"] + row["validation"] + row["testing"])
            for part in ("training", "validation", "testing", "features"):
                names = dict(zip(PRINT_KEYS, (row["dataset"], one["ours"], "", part)))
                numbers = {"printed": float(row[part]), "ours": one[part], "slack": 0.0 if part == "features" else slack}
                rows.append({"table": "table1", **names, **numbers, "reason": one["note"]})
    return pd.DataFrame(rows)


def _judged_sizes(found: pd.DataFrame) -> pd.DataFrame:
    """Judge the rows of `sizes`."""
    on = ["table", *PRINT_KEYS]
    ours = found[[*on, "ours"]].assign(standard_error=np.nan)
    table = join_with_print(found[[*on, "printed", "reason"]], ours, PRINT_KEYS)
    met = (found["ours"] - found["printed"]).abs() <= found["slack"]
    return judge(table, met.to_numpy(), within="within two rows in a thousand; features are the same")


def _datasets_of_run(table: pd.DataFrame, dataset: str) -> list[tuple[str, str]]:
    """Data sets of the run that are a printed one; an empty name and the reason if there is none."""
    names = list(dict.fromkeys(name for name in table["ours"] if name))
    return [(ours or "", note) for name, ours, note in listed_datasets(names) if name == dataset]
