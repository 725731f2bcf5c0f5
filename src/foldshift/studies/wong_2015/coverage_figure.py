"""Figure of the coverage audit."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine

from foldshift.reporting.figure_style import plt, style
from foldshift.reporting.items import FigureResult
from foldshift.studies.common.coverage_rows import TARGETS, TASK_TITLES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure, SubFigure

    from foldshift.core.types import FloatArray, Floats

FIGURE_INTERVALS = ("all pairs", "Wilson", "theta_A", "S2/K", "Nadeau-Bengio")
TICKS = (0, 0.5, 0.8, 0.9, 0.95, 1)
# The axis is logarithmic in the distance to 1 plus this: values near the level are apart, and 0 is on the axis as well.
BEYOND = 0.03
PAST = 0.04  # of the axis, at both ends
INTERVAL_TITLES = {
    "theta_A": "theta_A: within folds, z",
    "S2/K": "S2/K: between folds, t",
    "all pairs": "all pairs: all rows, z",
    "Wilson": "Wilson: all rows",
    "Nadeau-Bengio": "Nadeau-Bengio: between folds, t",
}


def draw_audit(table: pd.DataFrame, by_partitioner: pd.DataFrame, level: float = 0.95) -> FigureResult | Figure:
    """Draw the coverage of the main intervals by partitioner against every target; a line marks `level`."""
    tasks = [task for task in TASK_TITLES if task in set(by_partitioner["task"])]
    if not tasks:
        return FigureResult(None, reason="no population was audited")
    shown = {task: [one for one in FIGURE_INTERVALS if one in set(table["interval"][table["task"] == task])] for task in tasks}
    heights = [
        1.3 + 0.16 * len(shown[task]) * (1 + by_partitioner["partitioner"][by_partitioner["task"] == task].nunique())
        for task in tasks
    ]
    figure = plt.figure(figsize=(9, sum(heights)))
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(wspace=0.06)
    parts = figure.subfigures(len(tasks), 1, squeeze=False, height_ratios=heights)[:, 0]
    for part, task in zip(parts, tasks):
        single, means = (
            frame[(frame["task"] == task) & frame["interval"].isin(shown[task])] for frame in (table, by_partitioner)
        )
        _draw_task(part, single, means, shown[task], level)
        part.suptitle(TASK_TITLES[task], x=0.01, ha="left", fontsize=10)
    return figure


def _draw_task(part: SubFigure, table: pd.DataFrame, by_partitioner: pd.DataFrame, intervals: list[str], level: float) -> None:
    """Draw the panels of one task, one per target."""
    names = list(dict.fromkeys(by_partitioner["partitioner"]))
    half = 2 * by_partitioner["coverage_error"].fillna(0)
    by_partitioner = by_partitioner.assign(
        low=np.maximum(by_partitioner["coverage"] - half, 0), high=np.minimum(by_partitioner["coverage"] + half, 1)
    )
    lowest = min(table["coverage"].min(), by_partitioner["low"].min(), level - 0.1)
    step = 1 / (len(names) + 1)
    axes = part.subplots(1, len(TARGETS), sharex=True, sharey=True)
    for axis, target in zip(axes, TARGETS):
        means = by_partitioner[by_partitioner["target"] == target].set_index(["partitioner", "interval"])
        single = table[table["target"] == target]
        axis.axvline(level, color="#000000", lw=0.9, dashes=(6, 2), label="level" if axis is axes[0] else None)
        for (p, name), (i, interval) in itertools.product(enumerate(names), enumerate(intervals)):
            height = i + (p - (len(names) - 1) / 2) * step
            values = single["coverage"][(single["partitioner"] == name) & (single["interval"] == interval)]
            first = axis is axes[0] and i == 0
            label = "single populations and learners" if first and p == 0 else None
            axis.plot(values, [height] * len(values), "|", color="#8C8C8C", ms=6, zorder=1, label=label)
            if (name, interval) in means.index:
                row = means.loc[(name, interval)]
                look = style(p)
                axis.errorbar(
                    row["coverage"], height, xerr=[[row["coverage"] - row["low"]], [row["high"] - row["coverage"]]],
                    fmt=look["marker"], ms=5, color=look["color"], mfc="white" if p % 2 else look["color"], capsize=2,
                    elinewidth=1, label=name if first else None, zorder=3,
                    clip_on=False,
                )  # fmt: skip
        axis.set_title(target, fontsize=9)
        axis.set_xscale("function", functions=(_stretch, _shrink))
        ends = np.array([_stretch(lowest), _stretch(1)])
        axis.set_xlim(*_shrink(ends + PAST * np.ptp(ends) * np.array([-1, 1])))  # marks at the ends keep off the border
        ticks = [tick for tick in TICKS if tick >= lowest]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_xlabel("coverage (stretched towards 1)")
        axis.grid(axis="y", visible=False)
        for border in np.arange(len(intervals) - 1) + 0.5:
            axis.axhline(border, color="#DDDDDD", lw=0.6)
    axes[0].set_yticks(range(len(intervals)), [INTERVAL_TITLES[name] for name in intervals])
    axes[0].set_ylim(len(intervals) - 0.5, -0.5)
    handles, labels = axes[0].get_legend_handles_labels()
    part.legend(handles, labels, loc="outside upper center", ncols=len(handles))


def _stretch(coverage: float | FloatArray) -> Floats:
    """Place of a coverage on the axis."""
    return -np.log(1 + BEYOND - np.asarray(coverage))


def _shrink(place: FloatArray) -> FloatArray:
    """Coverage at a place on the axis: the inverse of `_stretch`."""
    return 1 + BEYOND - np.exp(-np.asarray(place))
