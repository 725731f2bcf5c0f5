"""Means over repeats beside the printed numbers, as a tidy table and as a printed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from foldshift.reporting.number_formats import number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.cieslak_2009.datasets_in_print import listed_datasets

TOLERANCE = 0.05  # distance from a printed proportion within which a reading of the text is counted as near
N_ERRORS = 2.0
HALF_DIGIT = 0.0005 + 1e-9  # of the printed numbers


def compared(
    rows: pd.DataFrame, formulas: dict[str, str], conditions: Sequence[str], printed: pd.DataFrame, column: str
) -> pd.DataFrame:
    """Compare means over repeats with print, by data set and condition; `formulas` maps a name to its column of `rows`."""
    print_of = printed.set_index(["dataset", "condition"])[column]
    stats = {name: over_repeats(rows, values) for name, values in formulas.items()}
    out = []
    for name, ours, note in listed_datasets(rows["dataset"]):
        for condition in conditions:
            value = float(print_of.get((name, condition), np.nan))
            for formula, found in stats.items():
                row: dict[str, Any] = {"dataset": name, "ours": ours or "", "condition": condition, "formula": formula}
                if (ours, condition) in found.index:
                    row |= found.loc[(ours, condition)].to_dict()
                else:
                    row |= dict.fromkeys(found.columns, np.nan) | {"n_repeats": 0}
                out.append(row | {"printed": value, "difference": row["value"] - value, "note": note})
    return pd.DataFrame(out).astype({"n_repeats": int})


def over_repeats(rows: pd.DataFrame, value: str, keys: tuple[str, ...] = ("dataset", "condition")) -> pd.DataFrame:
    """Mean, standard error (NaN for one repeat), extremes and number of the repeats that have a value."""
    known = rows.dropna(subset=[value])
    out = known.groupby(list(keys), sort=False, observed=True)[value].agg(["mean", "std", "min", "max", "count"])
    out["std"] /= np.sqrt(out["count"])
    return out.set_axis(["value", "standard_error", "lowest", "highest", "n_repeats"], axis=1)


def compared_grid(
    table: pd.DataFrame,
    labels: dict[str, str],
    notes: list[str],
    form: str = ".3f",
    judged: Sequence[str] = ("paper",),
    printed: Callable[[pd.Series], str] | None = None,
) -> Grid:
    """Print a table of `compared`: a heading per data set, print and every formula in rows, conditions in columns.

    Bold are the `judged` formulas where they are far from print.
    """
    conditions = list(dict.fromkeys(table["condition"]))
    first = next(iter(labels))
    in_print = printed or (lambda row: number(row["printed"], form))
    table = table.assign(bold=far_from_print(table) & table["formula"].isin(judged))
    body: list[list[TableCell | str]] = []
    for (dataset, ours), part in table.groupby(["dataset", "ours"], sort=False):
        body.append([heading(dataset, ours, part["note"].iloc[0])])
        if part["printed"].notna().any():
            body.append(["as printed", *[TableCell(in_print(row)) for _, row in part[part["formula"] == first].iterrows()]])
        if not ours:
            continue
        for formula, label in labels.items():
            rows = part[part["formula"] == formula]
            body.append(
                [
                    label,
                    *[
                        TableCell(with_error(row["value"], row["standard_error"], form), bold=bool(row["bold"]))
                        for _, row in rows.iterrows()
                    ],
                ]
            )
    return Grid(["", *conditions], body, list(notes))


def far_from_print(table: pd.DataFrame) -> pd.Series:
    """Mark means that are farther from print than two errors of a single split, which print is, and half a printed digit."""
    error = N_ERRORS * table["standard_error"] * np.sqrt(1 + table["n_repeats"])
    return (table["n_repeats"] > 1) & (table["difference"].abs() > error + HALF_DIGIT)


def heading(dataset: str, ours: str, note: str) -> str:
    """Heading of a data set: its printed name, and its name in the run or why it is not there."""
    return f"{dataset}: {note}" if note else f"{dataset} ({ours})" if ours != dataset else dataset
