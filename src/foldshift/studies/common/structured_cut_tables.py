"""Table of the shift that cuts by structure make: forward in time, blocks of places, groups and subsets left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, counted, percent, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.common.measure_structured_cuts import AT_RANDOM, SCHEMAS, SHIFTS

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

SHOWN = {"target": "target", "ks_mean": "inputs, KS mean", "energy": "inputs, energy", "two_sample_auc": "two-sample AUC"}
WORDS = {
    AT_RANDOM: "at random",
    "GROUPS": "whole groups left out",
    "FORWARD": "forward in time",
    "BLOCKS": "blocks of places",
    "SAME": "trained on the same subset",
    "OTHER": "trained on the other subsets",
    "ALL": "trained on all subsets",
}
KEYS = ["dataset", "k", "cut"]


def tables(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of cuts by structure."""
    names = SCHEMAS["structured_cuts"].names
    rows = pd.concat([pd.DataFrame(read_columns(path, names)) for path in inputs.rows], ignore_index=True)
    table = by_cut(rows)
    return {"structured_cuts": TableResult(table, structured_grid(table))}


def by_cut(rows: pd.DataFrame) -> pd.DataFrame:
    """Average the runs by data set, number of folds and cut; ``<shift>_ratio`` is the shift over that of random parts."""
    table = []
    for keys, cut in rows.groupby(KEYS, sort=False):
        n = len(cut)
        row: dict[str, Any] = dict(zip(KEYS, keys)) | {"n_runs": n if not cut["problem"].iloc[0] else 0}
        row |= {name: cut[name].mean() for name in ("n_parts", "train_share", "test_share")}
        for name in SHIFTS:
            chance = cut[f"{name}_chance"].mean()
            error = cut[name].std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
            row |= {name: cut[name].mean(), f"{name}_standard_error": error, f"{name}_chance": chance}
            row[f"{name}_ratio"] = row[name] / chance if chance > 0 else np.nan
        table.append(row | {"problem": cut["problem"].iloc[0]})
    return pd.DataFrame(table)


def structured_grid(table: pd.DataFrame) -> Grid:
    """Print a block for each data set and number of folds, a row for each cut."""
    rows: list[list[TableCell | str]] = []
    for (dataset, k), block in table.groupby(["dataset", "k"], sort=False):
        rows.append([f"{dataset}, {k} folds"])
        for row in block.to_dict("records"):
            words = f"{row['cut']}: {WORDS[row['cut']]}"
            if row["problem"]:
                rows.append([words, TableCell(row["problem"]), *[TableCell(EMPTY)] * (len(SHOWN) + 1)])
                continue
            runs = counted(row["n_runs"], "run") + f" of {counted(row['n_parts'], 'part')}"
            shares = TableCell(f"{percent(row['train_share'], 0)}, {percent(row['test_share'], 0)}")
            rows.append([words, TableCell(runs), shares, *[TableCell(_shift(row, name)) for name in SHOWN]])
    notes = [
        "Mean over runs and test parts ± how far other runs would move it; in brackets, the same rows parted at random in the "
        "same sizes. A cut forward in time has one run.",
        "Target: D_n, or for classes half the sum of the differences between their shares. Distances of inputs are over the "
        "rows that train or are tested. For the two-sample AUC chance is about .5.",
        "A cut that imitates the use of a model should shift as that use does: a large shift is no fault of the cut. It says "
        "what a cut at random hides.",
    ]
    return Grid(["Cut", "runs", "train, test %", *SHOWN.values()], rows, notes)


def _shift(row: dict[str, Any], name: str) -> str:
    """Write a shift with its error, and what chance gives."""
    error = row[f"{name}_standard_error"]
    value = with_error(row[name], error, ".3f") if error == error else f"{row[name]:.3f}"
    return f"{value} ({row[f'{name}_chance']:.3f})"
