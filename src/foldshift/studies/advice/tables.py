"""Table and figure of the advice over all data sets and learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.reporting.figure_style import COLOURS, plt
from foldshift.reporting.items import FigureResult, TableResult
from foldshift.reporting.number_formats import EMPTY
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.advice.measure import SCHEMAS, TEXTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs

TASKS = {"classification": "Classes: error rate, per cent", "regression": "Quantities: root mean square error"}


def summary(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult | FigureResult | Figure]:
    """Make the table, and the figure."""
    names = SCHEMAS["advice"].names
    rows = pd.concat([pd.DataFrame(read_columns(path, names)) for path in inputs.rows], ignore_index=True)
    rows = rows.sort_values(["task", "dataset", "learner"], ignore_index=True)
    rows = rows.astype(dict.fromkeys(TEXTS, str))
    return {"advice": TableResult(rows, advice_grid(rows)), "intervals (figure)": draw(rows)}


def advice_grid(rows: pd.DataFrame) -> Grid:
    """Print the table: a block for each task."""
    shown: list[list[TableCell | str]] = []
    for task, block in rows.groupby("task", sort=True):
        shown.append([TASKS[task]])
        for _, row in block.iterrows():
            if row["status"] != "ok":
                shown.append([row["dataset"], row["learner"], *[EMPTY] * 5, TableCell(f"{row['status']}: {row['message']}")])
                continue
            beware = "; ".join(filter(None, [row["faults"], f"shifted: {row['shifted']}" if row["shifted"] else ""]))
            scale, form = (100, ".1f") if task == "classification" else (1, "#.4g")
            values = [f"{scale * row[name]:{form}}" if row[name] == row[name] else EMPTY for name in ("estimate", "low", "high")]
            cut = f"{row['cut']}, {row['k']} folds"
            shown.append(
                [row["dataset"], row["learner"], cut, str(row["n_repeats"]), values[0], f"{values[1]} to {values[2]}",
                 TableCell(row["against_baseline"], bold=row["against_baseline"] == "better"), beware or EMPTY]
            )  # fmt: skip
    notes = ["Times: repetitions that are enough. Shifted: columns that scikit-learn's default split shifts by more than chance."]
    return Grid(["Data set", "Learner", "Cut", "Times", "Score", "95 % interval", "Against baseline", "Beware"], shown, notes)


def draw(rows: pd.DataFrame) -> FigureResult | Figure:
    """Draw scores relative to the baseline's with their intervals, a line for each data set and learner."""
    good = rows[(rows["status"] == "ok") & (rows["baseline"] > 0)]
    if good.empty:
        return FigureResult(None, {}, "No data set has advice")
    figure, axis = plt.subplots(figsize=(7, 0.9 + 0.26 * len(good)))
    for place, (_, row) in enumerate(good.iterrows()):
        axis.plot([row["low"] / row["baseline"], row["high"] / row["baseline"]], [place, place], color=COLOURS[0], lw=1.4)
        axis.plot(row["estimate"] / row["baseline"], place, "o", color=COLOURS[0], ms=4)
    axis.axvline(1, color="#7F7F7F", dashes=(6, 2), lw=1)
    axis.set_yticks(range(len(good)), [f"{row['dataset']}, {row['learner']}" for _, row in good.iterrows()], fontsize=7)
    axis.set_ylim(len(good) - 0.5, -0.5)
    axis.set_xlabel("error relative to the baseline's")
    return figure
