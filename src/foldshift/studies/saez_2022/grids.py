"""Tables 4 and 5 of the regression study as the paper prints them, with print beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.reporting.min_datasets import sentence
from foldshift.reporting.number_formats import EMPTY, count_range, number, p_value
from foldshift.reporting.table_grid import Grid, TableCell, shades

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import PathLike

    Row = list[TableCell | str]

REFERENCES = ("CV", "TSCV")
IN_PRINT = "as printed"
N_ERRORS = 2.0  # of a difference, from which the best result is told from the next
ROUNDING = 1e-9  # of an error; standard deviations up to here are rounding
PRINTED_SETS, PRINTED_SEEDS = 28, 1000


def read_printed(path: PathLike) -> pd.DataFrame:
    """Read a printed table of means and p-values."""
    return pd.read_csv(path).fillna({"row_has_higher_rank_sum": ""})


def shift_grid(table: pd.DataFrame, alpha: float, few: str = "", printed: pd.DataFrame | None = None) -> Grid:
    """Print Table 4 as the paper does: means shaded and the best underlined, p below alpha bold, asterisks.

    `few` says why no p can be below alpha; the rows of p are then left out. `printed` adds the rows of the paper.
    """
    partitioners = list(dict.fromkeys(table["partitioner"]))
    rows: list[Row] = []
    for k, part in table.groupby("k", sort=False):
        part = part.set_index("partitioner")
        here: list[Row] = [[f"{k}-fcv", *_value_cells(part, "mean_dn", "standard_error", partitioners, ".4f")]]
        here += [] if few else _p_rows(part, partitioners, alpha, "")
        print_ = None if printed is None else printed[printed["k"] == k]
        rows += _beside(here, [_printed_cells(print_, "mean_dn", partitioners, ".4f", few)])
    return Grid(["Folds", *partitioners], rows, _notes(table, rows, alpha, few))


def error_grid(table: pd.DataFrame, alpha: float, few: str = "", printed: pd.DataFrame | None = None) -> Grid:
    """Print Table 5 as the paper does: error and standard deviation side by side, a block per regressor; as `shift_grid`."""
    partitioners = list(dict.fromkeys(table["partitioner"]))
    rows: list[Row] = []
    told: set[str] = set()
    for regressor, block in table.groupby("regressor", sort=False):
        rows.append([f"{regressor}"])
        for k, part in block.groupby("k", sort=False):
            part = part.set_index("partitioner")
            cells = _value_cells(part, "rmse", "rmse_standard_error", partitioners, ".4E")
            still = still_partitioners(part)
            told |= set(still)
            cells += _value_cells(part, "std", "std_standard_error", partitioners, ".4E", still)
            here: list[Row] = [[f"{k}-fcv", *cells]]
            if not few:
                both = zip(_p_rows(part, partitioners, alpha, ""), _p_rows(part, partitioners, alpha, "std_", still))
                here += [[*error_row, *std_row[1:]] for error_row, std_row in both]
            halves = []
            for metric in ("rmse", "std"):
                print_ = None
                if printed is not None:
                    print_ = printed[(printed["k"] == k) & (printed["regressor"] == regressor) & (printed["metric"] == metric)]
                halves.append(_printed_cells(print_, "mean", partitioners, ".4E", few))
            rows += _beside(here, halves)
    header = ["", *[f"Error {name}" for name in partitioners], *[f"Std {name}" for name in partitioners]]
    return Grid(header, rows, _notes(table, rows, alpha, few) + _still_note([name for name in partitioners if name in told]))


def still_partitioners(part: pd.DataFrame) -> list[str]:
    """Select the partitioners whose errors are the same for all seeds but for rounding, as those of one partition are."""
    return [str(name) for name, row in part.iterrows() if row["std"] <= ROUNDING * abs(row["rmse"]) and row["n_seeds"] > 1]


def _still_note(names: list[str]) -> list[str]:
    if not names:
        return []
    return [
        f"{', '.join(names)}: all seeds gave the same errors, as they do where every seed makes the same partition. A standard "
        "deviation of 0 then says nothing about the cut; it is not marked."
    ]


def _beside(here: list[Row], printed: list[list[list[str]]]) -> list[Row]:
    """Put below every row of ours the row of print, where print has one; `printed` holds the rows of every half of the table."""
    rows: list[Row] = []
    for i, row in enumerate(here):
        rows.append(row)
        cells = [cell for half in printed for cell in (half[i] if half else ())]
        if len(cells) == len(row) - 1:
            name = IN_PRINT if i == 0 else f"{row[0]}, {IN_PRINT}"
            rows.append([name, *map(TableCell, cells)])
    return rows


def _printed_cells(printed: pd.DataFrame | None, value: str, partitioners: list[str], form: str, few: str) -> list[list[str]]:
    """Write the printed means, and below them the p-values against both references; nothing where print has none."""
    if printed is None or printed.empty:
        return []
    found = {(row.partitioner, row.quantity): (row.value, row.row_has_higher_rank_sum == "*") for row in printed.itertuples()}
    nothing = (np.nan, False)
    rows = [[number(found.get((name, value), nothing)[0], form, empty="") for name in partitioners]]
    for reference in () if few else REFERENCES:
        cells = [found.get((name, f"p_vs_{reference}"), nothing) for name in partitioners]
        rows.append(["" if np.isnan(p) else p_value(p, star, decimals_from=np.inf) for p, star in cells])
    return rows


def _value_cells(
    part: pd.DataFrame, value: str, error: str, partitioners: list[str], form: str, still: Sequence[str] = ()
) -> list[TableCell]:
    """Shade the results, and underline the best one where it is lower than every other by more than two errors.

    Those of the partitioners in `still` are 0, but for rounding, and have no mark.
    """
    part = part.assign(**{value: part[value].mask(part.index.isin(still))})
    found, errors = part[value].reindex(partitioners), part[error].reindex(partitioners)
    present = found.dropna()
    best = present.idxmin() if len(present) else None
    others = present.index.drop(best) if len(present) else []
    clear = best is not None and all(found[one] - found[best] > N_ERRORS * np.hypot(errors[one], errors[best]) for one in others)
    return [
        TableCell(number(0.0 if name in still else found[name], form), shade, underline=bool(clear and name == best))
        for name, shade in zip(partitioners, shades(found.tolist()))
    ]


def _p_rows(part: pd.DataFrame, partitioners: list[str], alpha: float, prefix: str, still: Sequence[str] = ()) -> list[Row]:
    rows: list[Row] = []
    for reference in REFERENCES:
        label = f"vs_{reference.lower()}"
        cells = []
        for name in partitioners:
            p, higher = part[f"{prefix}p_{label}"][name], part[f"{prefix}higher_{label}"][name]
            if name in still or reference in still:
                cells.append(TableCell(""))
                continue
            cells.append(
                TableCell("" if name == reference else p_value(p, higher == 1, decimals_from=np.inf), bold=bool(p < alpha))
            )
        rows.append([f"vs. {reference}", *cells])
    return rows


def _notes(table: pd.DataFrame, rows: list[Row], alpha: float, few: str) -> list[str]:
    """Write what the marks mean, what the printed rows rest on, and how much stands behind the numbers."""
    marks = (
        "Darker cells are better. The best is underlined where it is lower than every other by more than two standard errors; "
        "where none is, the best cannot be seen at this size."
    )
    tests = (
        f"Below each row of results: p of Wilcoxon's signed-ranks test over the data sets (exact, two-sided) against CV and "
        f"TSCV; bold below {alpha:g}; an asterisk where the column's method has the larger values (does worse)."
    )
    notes = [f"{marks} {sentence(few) if few else tests}", _counts_note(table)]
    if any(str(row[0]).endswith(IN_PRINT) for row in rows):
        notes.append(f"Rows {IN_PRINT} rest on the paper's {PRINTED_SETS} data sets and {PRINTED_SEEDS:,} seeds.")
    return notes


def _counts_note(table: pd.DataFrame) -> str:
    failed = int(table["n_failed_fits"].sum()) if "n_failed_fits" in table else 0
    sets = count_range(table["n_datasets"])
    text = f"Ours rest on {sets} data set{'s' if sets != '1' else ''} and {count_range(table['n_seeds'])} seeds per cell."
    if failed:
        text += f" {failed} fits failed; seeds and data sets that they leave incomplete are left out for all partitioners of the "
        text += f"regressor. {EMPTY}: no result."
    return text
