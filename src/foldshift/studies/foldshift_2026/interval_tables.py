"""Coverage, width and bias of the intervals that need fits of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, counted, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.common.coverage_rows import TASK_TITLES
from foldshift.studies.foldshift_2026.bias_tables import FAR, mean_and_error
from foldshift.studies.foldshift_2026.cuts_and_methods import METHODS
from foldshift.studies.foldshift_2026.measure_methods import ENDS, KEYS

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

VALUES = ("coverage", "width", "bias")
COLUMNS = ["task", "n_sample", "method", "cut", "n_fits", "n_populations", "lowest"]
COLUMNS += [f"{name}{end}" for name in VALUES for end in ("", "_error")]


def methods(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of methods."""
    columns = (*KEYS, *ENDS, "truth", "n_fits")
    rows = pd.concat([pd.DataFrame(read_columns(path, columns)) for path in inputs.rows], ignore_index=True)
    for name in KEYS[:5]:
        rows[name] = rows[name].astype(str)
    table = methods_table(rows, settings["methods"]["cuts"])
    return {"methods": TableResult(table, methods_grid(table, settings["level"], int(rows["estimate"].isna().sum())))}


def methods_table(rows: pd.DataFrame, cuts: Sequence[str]) -> pd.DataFrame:
    """Coverage of the error of the model trained on the whole sample, by task, size, method and cut.

    ``width`` and ``bias`` (estimate less truth) are per cent of the true error. Means over populations (of each over its
    learners) with their standard errors over populations; ``lowest`` is the least coverage of a population.
    """
    rows = rows.dropna(subset=["estimate", "truth"])
    rows = rows.assign(covered=((rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"])).astype(float))
    rows["wide"], rows["off"] = rows["high"] - rows["low"], rows["estimate"] - rows["truth"]
    by = ["task", "n_sample", "method", "cut", "population"]
    one = rows.groupby([*by, "learner"], sort=False)[["covered", "wide", "off", "truth", "n_fits"]].mean().reset_index()
    one = one[one["truth"] > 0]
    one["width"], one["bias"] = 100 * one["wide"] / one["truth"], 100 * one["off"] / one["truth"]
    populations = one.groupby(by, sort=False)[["covered", "width", "bias", "n_fits"]].mean().reset_index()
    table = []
    for (task, n_sample), part in populations.groupby(["task", "n_sample"], sort=True):
        for method in METHODS:
            for cut in cuts:
                own = part[(part["method"] == method) & (part["cut"] == cut)]
                if len(own):
                    row: dict[str, Any] = dict(zip(COLUMNS, (task, n_sample, method, cut, int(own["n_fits"].max()), len(own))))
                    row["lowest"] = own["covered"].min()
                    for name, column in zip(VALUES, ("covered", "width", "bias")):
                        row[name], row[f"{name}_error"] = mean_and_error(own[column])
                    table.append(row)
    return pd.DataFrame(table, columns=COLUMNS)


def methods_grid(table: pd.DataFrame, level: float, n_failed: int) -> Grid:
    """Print `methods_table`: a block for each task and size."""
    rows: list[list[TableCell | str]] = []
    for (task, n_sample), block in table.groupby(["task", "n_sample"], sort=False):
        rows.append([f"{TASK_TITLES[task]}, samples of {n_sample}; {counted(block['n_populations'].max(), 'population')}"])
        for _, row in block.iterrows():
            error = row["coverage_error"]
            is_low = row["coverage"] + FAR * (0.0 if np.isnan(error) else error) < level
            rows.append(
                [
                    row["method"],
                    row["cut"],
                    str(row["n_fits"]),
                    TableCell(with_error(100 * row["coverage"], 100 * error, ".1f"), bold=bool(is_low)),
                    f"{100 * row['lowest']:.0f}" if row["lowest"] == row["lowest"] else EMPTY,
                    with_error(row["width"], row["width_error"], ".0f"),
                    with_error(row["bias"], row["bias_error"], "+.1f"),
                ]
            )
    notes = [
        "Holds: per cent of the samples, mean over populations ± standard error over populations; bold: below the level by more "
        "than two standard errors. Lowest: of a population. Width and bias in per cent of the true error. Fits: of one sample "
        "and learner."
    ]
    if n_failed:
        notes.append(f"{n_failed} rows with a failed fit are left out.")
    return Grid(["Method", "Cut", "Fits", "Holds, %", "Lowest, %", "Width", "Bias"], rows, notes)
