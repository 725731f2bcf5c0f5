"""Printed tables of the coverage audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from foldshift.inference.simulation.coverage import not_refuted
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import number, percent, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.common.coverage_rows import PAIR, REFERENCES, ROWS, TASK_TITLES, audit_table, partitioner_table
from foldshift.studies.wong_2015.accuracy_rows import read_rows

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import Floats, Inputs, IntArray

FEWEST_POPULATIONS = 5  # with fewer, Student's t asks for more than 2.8 errors, and the table says that little can be seen
INTERVALS_NOTE = (
    "Intervals: theta_A, variance within folds (Bayle et al.); theta_B, twice that; S2/K, variance of the fold means with "
    "Student's t (Wong's at the level of "
    "folds); all pairs, variance of all losses (Wong's at the level of the data set); theta_5, Grandvalet and Bengio's, which "
    "may be negative: such an "
    "interval covers nothing; Nadeau-Bengio, S2 with the correction for overlapping training sets; Wilson, all 0/1 losses as one "
    "binomial sample."
)


def audit(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of coverage: of every interval, and by partitioner."""
    chosen, level = settings["audit"], settings["level"]
    table = audit_table(read_rows(inputs.rows, ROWS), chosen["partitioners"], level)
    by_partitioner = partitioner_table(table, level)
    return {
        "audit": TableResult(table, audit_grid(table, level, chosen["populations"])),
        "audit_by_partitioner": TableResult(by_partitioner, partitioner_grid(by_partitioner, level)),
    }


def audit_grid(table: pd.DataFrame, level: float = 0.95, populations: Sequence[str] = ()) -> Grid:
    """Print `audit_table`: coverage in per cent by population, target, learner and partitioner.

    `populations` are all that were audited; those without a row are named in a note.
    """
    intervals = list(dict.fromkeys(table["interval"]))
    rows: list[list[TableCell | str]] = []
    for (population, target), block in table.groupby(["population", "target"], sort=False, observed=True):
        rows.append([f"{population}: {target}"])
        for (learner, partitioner), part in block.groupby(["learner", "partitioner"], sort=False, observed=True):
            cells = part.set_index("interval")
            first = cells.iloc[0]
            row: list[TableCell | str] = [
                learner,
                partitioner,
                TableCell(str(int(first["n"]))),
                TableCell(number(first["truth"])),
            ]
            row.append(TableCell(with_error(first["bias"], first["bias_error"], "+.4f")))
            for name in intervals:
                if name not in cells.index:
                    row.append(TableCell(""))
                    continue
                coverage, n = cells.loc[name, "coverage"], cells.loc[name, "n"]
                below = coverage == coverage and not not_refuted(coverage, n, level)
                row.append(TableCell(percent(coverage), bold=bool(below)))
            rows.append([*row, TableCell(_percent_negative(cells))])
    header = ["Learner", "Partitioner", "Samples", "True error", "Bias", *intervals, "theta_5 < 0"]
    notes = [f"Level {100 * level:g} %. The CSV file has the Monte Carlo errors and the mean widths. {INTERVALS_NOTE}"]
    if "regression" in set(table["task"]):
        notes.append("Of numbers the error is the squared error as a share of the variance of the target in the population.")
    failed = int(table.drop_duplicates([*PAIR, "partitioner"])["n_failed"].sum())
    if failed:
        notes.append(f"{failed} cross-validations failed; their samples are left out for all partitioners.")
    empty = [name for name in populations if name not in set(table["population"])]
    if empty:
        notes.append(f"Nothing was measured on {', '.join(empty)}: no learner or no partitioner of the audit fits the task.")
    return Grid(header, rows, notes)


def partitioner_grid(by_partitioner: pd.DataFrame, level: float = 0.95) -> Grid:
    """Print `partitioner_table`: coverage of every partitioner, then differences from the reference.

    Notes count the combinations in which coverage is closer to the level, and further from it.
    """
    intervals = list(dict.fromkeys(by_partitioner["interval"]))
    rows: list[list[TableCell | str]] = []
    notes = []
    for (task, target), block in by_partitioner.groupby(["task", "target"], sort=False, observed=True):
        n, n_pairs = (int(block[name].max()) for name in ("n_populations", "n_pairs"))
        counted = f"{counted_populations(n)}, {n_pairs} {'pair' if n_pairs == 1 else 'pairs'} with a learner"
        rows.append([f"{TASK_TITLES[task]}: {target}; {counted}"])
        names = list(dict.fromkeys(block["partitioner"]))
        cells = block.set_index(["partitioner", "interval"])
        for name in names:
            rows.append([name, *_cells(cells, name, intervals, "", False)])
        for name in names:
            if name != REFERENCES[task] and REFERENCES[task] in names:
                rows.append([f"{name} − {REFERENCES[task]}", *_cells(cells, name, intervals, "_vs", True)])
    for (task, name), part in by_partitioner.groupby(["task", "partitioner"], sort=False, observed=True):
        change, limit = part["distance_vs"], beyond_chance(part["n_populations"]) * part["distance_vs_error"]
        compared = (change.notna() & limit.notna()).sum()
        if compared:
            notes.append(
                f"{TASK_TITLES[task]}, {name} against {REFERENCES[task]}: in {compared} combinations of interval and target the "
                "coverage is closer to "
                f"{100 * level:g} % in {int((change < -limit).sum())} and further from it in {int((change > limit).sum())}, by "
                "more than chance allows (Student's t over populations)."
            )
    for task, part in by_partitioner.groupby("task", sort=False, observed=True):
        if (n := int(part["n_populations"].max())) < FEWEST_POPULATIONS:
            notes.append(f"{TASK_TITLES[task]}: differences cannot be seen at this size, with {counted_populations(n)}.")
    notes.append(
        f"The unit of the errors is the population. {INTERVALS_NOTE} The CSV file has distances from the level, widths and "
        "negative estimates as well."
    )
    return Grid(["Partitioner", "Bias", *intervals], rows, notes)


def beyond_chance(n_populations: int | IntArray) -> Floats:
    """Errors that a difference over so many populations must exceed at .05; infinite for one."""
    n = np.asarray(n_populations)
    return np.where(n > 1, student.ppf(0.975, np.maximum(n - 1, 1)), np.inf)


def counted_populations(n: int) -> str:
    """Write a number of populations."""
    return f"{n} {'population' if n == 1 else 'populations'}"


def _cells(cells: pd.DataFrame, name: str, intervals: list[str], suffix: str, difference: bool) -> list[TableCell]:
    """Print bias, then coverage by interval in per cent, of one partitioner."""
    row = cells.loc[name].iloc[0]
    limit = float(beyond_chance(row["n_populations"]))
    values: list[tuple[float, float, str, str] | None] = [(row[f"bias{suffix}"], row[f"bias{suffix}_error"], "+.4f", ".4f")]
    for interval in intervals:
        if (name, interval) not in cells.index:
            values.append(None)
            continue
        row = cells.loc[(name, interval)]
        values.append(
            (
                100 * row[f"coverage{suffix}"],
                100 * row[f"coverage{suffix}_error"],
                "+.1f" if difference else ".1f",
                ".1f",
            )
        )
    return [
        TableCell("") if one is None else TableCell(with_error(*one), bold=bool(difference and abs(one[0]) > limit * one[1]))
        for one in values
    ]


def _percent_negative(cells: pd.DataFrame) -> str:
    """Per cent of samples in which theta_5 is negative."""
    return percent(cells["negative"].get("theta_5", np.nan))
