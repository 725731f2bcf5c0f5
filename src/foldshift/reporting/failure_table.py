"""Table of all failures of a study with their causes, from the lists of failures of its data sets."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.table_grid import Grid, TableCell

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

COLUMNS = ["dataset", "learner", "partitioner", "k", "status", "message", "n_failed", "n_fits", "n_jobs", "scores", "command"]
LONGEST = 160  # letters of a message in print; the CSV file has them all
NOTES = (
    "Lost: fits with this message, of all fits of the learner with this way of cutting and this number of folds on the data set. "
    "failed: the learner raised an "
    "error, made predictions that are not numbers, or its process ended; timeout: it did not end in time.",
    "Jobs: number of jobs in which it happened; the command runs the first of them again, alone and in the foreground, from the "
    "folder of the run; the configuration that it names is that of the run, command line included. Its log shows the error where "
    "it is. Then run the study again: the tables follow.",
)


def failures(inputs: Inputs, settings: dict[str, Any], results: str) -> dict[str, TableResult]:
    """Make the table of failures of a study; `results` is the folder of all results."""
    lists = [json.loads(Path(path).read_text(encoding="utf-8")) for path in inputs.failures]
    table = failures_table(lists, Path(results).as_posix())
    return {"failures": TableResult(table, failures_grid(table, lists))}


def failures_table(lists: Sequence[dict[str, Any]], results: str) -> pd.DataFrame:
    """List every kind of failure of a study."""
    rows = []
    for one in lists:
        for failure in one["failures"]:
            first = failure["files"][0]
            target = one.get("lost", f"{results}/{first}")  # a data set that failed as a whole: the file that it is not in
            words = ["--configfile", f"{results}/provenance/config.yaml", "--force", target]
            row = {"dataset": one["dataset"]} | failure | {"n_jobs": len(failure["files"]), "scores": first}
            rows.append(row | {"command": f"snakemake --cores 1 {shlex.join(words)}"})
    table = pd.DataFrame(rows, columns=COLUMNS)
    if table["k"].isna().any():
        table["k"] = table["k"].astype("Int64")
    return table.sort_values(COLUMNS[:6], kind="stable", ignore_index=True)


def failures_grid(table: pd.DataFrame, lists: Sequence[dict[str, Any]]) -> Grid:
    """Lay out the failures for print: a block per data set and learner, or one sentence if nothing failed."""
    n_fits = sum(one["n_fits"] for one in lists)
    header = ["Partitioner", "Folds", "Status", "Message", "Lost", "Of", "Jobs", "Run again"]
    if table.empty:
        return Grid(header, [[f"No fit failed: {n_fits} fits on {len(lists)} data sets."]])
    rows: list[list[TableCell | str]] = []
    for (dataset, learner), block in table.groupby(["dataset", "learner"], sort=False):
        rows.append([f"{learner} on {dataset}"])
        for row in block.itertuples():
            message = row.message if len(row.message) <= LONGEST else row.message[: LONGEST - 1] + "…"
            numbers = [TableCell(str(number)) for number in (row.n_failed, row.n_fits, row.n_jobs)]
            rows.append(
                [row.partitioner, TableCell("all" if row.k is pd.NA else str(row.k)), row.status, message, *numbers, row.command]
            )
    n_failed = int(table["n_failed"].sum())
    return Grid(header, rows, [f"{n_failed} of {n_fits} fits on {len(lists)} data sets failed.", *NOTES])
