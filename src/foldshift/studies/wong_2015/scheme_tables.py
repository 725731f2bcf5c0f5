"""Table of learning schemes that the paper takes to be right independently of each other, or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.wong_2015.accuracy_rows import read_rows
from foldshift.studies.wong_2015.measures.schemes import PAIRS
from foldshift.studies.wong_2015.section_rows import ALL, with_means

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

COLUMNS = ("population", "pair", "n_samples", "quantity", "value", "standard_error")
N_ERRORS = 2


def schemes(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of pairs of schemes."""
    table = schemes_table(read_rows(inputs.rows, COLUMNS))
    return {"schemes": TableResult(table, schemes_grid(table))}


def schemes_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Add to every quantity what the paper says of its pair, and the means over populations; pairs in the order of `PAIRS`."""
    about = pd.DataFrame(PAIRS, columns=["pair", "title", "paper", "reason"])
    table = about.merge(with_means(rows, ["pair"]), on="pair")
    return table[["pair", "title", "paper", "reason", *[name for name in COLUMNS if name != "pair"]]]


def schemes_grid(table: pd.DataFrame) -> Grid:
    """Print one row per pair: phi as a mean over populations and its range, and what Theorem 3's variance is of the true one."""
    rows: list[list[TableCell | str]] = []
    for _, block in table.groupby("pair", sort=False):
        first, single = block.iloc[0], block[(block["quantity"] == "phi") & (block["population"] != ALL)]
        (phi, error), (ratio, ratio_error) = (_mean_and_error(block, name) for name in ("phi", "independent_ratio"))
        above = int((single["value"] > N_ERRORS * single["standard_error"]).sum())
        contradicted = first["paper"] == "independent" and abs(phi) > N_ERRORS * error
        rows.append(
            [
                first["title"],
                first["paper"],
                TableCell(with_error(phi, error), bold=bool(contradicted)),
                TableCell(f"{number(single['value'].min(), '.2f')} to {number(single['value'].max(), '.2f')}"),
                TableCell(f"{above} of {len(single)}"),
                TableCell(with_error(ratio, ratio_error, ".2f", ".2f")),
                first["reason"],
            ]
        )
    notes = [
        "Phi is the correlation of being right on the same row; independent schemes have 0. The paper says nothing of phi for "
        "“either”: a tree and rules may be independent if their preferences are.",
        "Variance ratio: the variance of Theorem 3, which takes phi for 0, over the true variance of the difference of the two "
        "accuracies. Two things move it: phi makes it too large, training sets that overlap make it too small.",
    ]
    header = ["Schemes", "The paper says", "Phi", "Over populations", "Phi above 0", "Variance ratio", "The paper's reason"]
    return Grid(header, rows, notes)


def _mean_and_error(block: pd.DataFrame, quantity: str) -> tuple[float, float]:
    """Return the mean over populations with its error; NaN where too few samples were drawn for the quantity."""
    rows = block[(block["quantity"] == quantity) & (block["population"] == ALL)]
    return (rows["value"].iloc[0], rows["standard_error"].iloc[0]) if len(rows) else (float("nan"), float("nan"))
