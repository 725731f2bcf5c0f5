"""Figures of results, each from the table of the same content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from foldshift.inference.repetitions.convergence import THRESHOLD
from foldshift.reporting.figure_style import MARKERS, log_scale, plt, style
from foldshift.reporting.items import FigureResult
from foldshift.reporting.min_datasets import too_few
from foldshift.shift.measures.covariates import MEASURES
from foldshift.studies.common.covariate_shift_tables import CHANCE_IS_HALF, SHIFT_LABELS, by_partitioner
from foldshift.studies.moreno_torres_2012.notation import ALL, AVERAGE, NO_PAIR, scheme_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs, ObjectArray

LINEAR = 0.05  # AUC up to which the axis of the bias is linear: on a linear axis, the bias of MS-SCV would hide the others
TICKS = (-0.4, -0.2, -0.1, -0.05, -0.02, 0, 0.02, 0.05, 0.1, 0.2, 0.4)
GREYS = ("#000000", "#FFFFFF", "#7F7F7F", "#D0D0D0")


def results(inputs: Inputs, settings: dict[str, Any]) -> dict[str, Figure | FigureResult]:
    """Draw the figures of results."""
    partitioners, schemes = settings["partitioners"], [scheme_name(k, r) for k, r in settings["iterations"].items()]
    shift, ablation, accuracy = (pd.read_csv(path) for path in (inputs.shift, inputs.ablation, inputs.accuracy))
    nothing = too_few(len(settings["datasets"]), settings["alpha"]) or NO_PAIR
    figures = {
        "accuracy_by_repetitions (figure)": draw_accuracy(accuracy, nothing),
        "convergence_curves (figure)": draw_convergence_curves(pd.read_csv(inputs.convergence)),
        "covariate_shift (figure)": draw_covariate_shift(shift, partitioners, schemes),
        "covariate_shift_and_error (figure)": draw_shift_against_error(shift, partitioners, schemes),
        "ablation (figure)": draw_ablation(ablation, common_scheme(ablation), nothing),
    }
    if inputs.heldout:
        figures["heldout_bias (figure)"] = draw_bias(pd.read_csv(inputs.heldout))
    return figures


def common_scheme(table: pd.DataFrame) -> str:
    """Return the first scheme that all changes of the ablation were run with, or their average if there is none."""
    counts = table.groupby("scheme", sort=False)["change"].nunique()
    return next((name for name, n in counts.items() if name != AVERAGE and n == table["change"].nunique()), AVERAGE)


def draw_accuracy(table: pd.DataFrame, nothing: str = NO_PAIR) -> Figure | FigureResult:
    """Draw the accuracy by number of experiments averaged: a column per scheme, a row per configuration."""
    if table["percent"].isna().all():
        return FigureResult(None, reason=nothing)
    configurations, schemes = list(dict.fromkeys(table["configuration"])), list(dict.fromkeys(table["scheme"]))
    names = list(dict.fromkeys(table["partitioner"]))
    figure, axes = plt.subplots(
        len(configurations),
        len(schemes),
        figsize=(3.0 * len(schemes) + 0.8, 2.5 * len(configurations) + 0.8),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    ticks = sorted(table["experiments"].unique())
    for i, configuration in enumerate(configurations):
        for j, scheme in enumerate(schemes):
            axis = axes[i, j]
            for index, name in enumerate(names):
                part = table[
                    (table["configuration"] == configuration) & (table["scheme"] == scheme) & (table["partitioner"] == name)
                ]
                look = style(index)
                axis.plot(part["experiments"], part["percent"], lw=1.3, ms=4, label=name, **look)
                low, high = (np.clip(part["percent"] + sign * part["standard_error"], 0, 100) for sign in (-1, 1))
                axis.fill_between(part["experiments"], low, high, color=look["color"], alpha=0.15, lw=0)
            axis.set_xscale("log")
            axis.set_xticks(ticks, [str(m) for m in ticks])
            axis.minorticks_off()
            axis.set_ylim(-3, 103)
            axis.set_title(f"{configuration}, {scheme}", fontsize=9)
    figure.supxlabel("experiments averaged", fontsize=9)
    figure.supylabel("agreement with the truth (%)", fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(names), handlelength=4)
    return figure


def draw_convergence_curves(table: pd.DataFrame) -> Figure:
    """Draw the converged pairs and their correlation by number of experiments: a column per scheme, two rows a configuration."""
    configurations, schemes = list(dict.fromkeys(table["configuration"])), list(dict.fromkeys(table["scheme"]))
    names = list(dict.fromkeys(table["partitioner"]))
    ticks = [n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= table["experiments"].max()]
    n_rows, n_columns = 2 * len(configurations), len(schemes)
    size = (2.9 * n_columns + 0.9, 2.1 * n_rows + 0.8)
    figure, axes = plt.subplots(n_rows, n_columns, figsize=size, sharex=True, sharey="row", squeeze=False)
    for (i, configuration), (j, scheme) in [(a, b) for a in enumerate(configurations) for b in enumerate(schemes)]:
        above, below = axes[2 * i, j], axes[2 * i + 1, j]
        block = table[(table["configuration"] == configuration) & (table["scheme"] == scheme)]
        for index, name in enumerate(names):
            part = block[block["partitioner"] == name]
            look = style(index)
            error = 100 * part["standard_error"].fillna(0)
            above.plot(part["experiments"], 100 * part["share"], lw=1.3, ms=4, label=name, **look)
            above.fill_between(
                part["experiments"],
                np.maximum(100 * part["share"] - error, 0),
                np.minimum(100 * part["share"] + error, 100),
                color=look["color"],
                alpha=0.2,
                lw=0,
            )
            below.plot(part["experiments"], part["nines_median"], lw=1.3, ms=4, **look)
        above.set_title(f"{scheme}, {configuration} configuration", fontsize=9)
        above.set_ylim(-3, 103)
        below.axhline(-np.log10(1 - THRESHOLD), color="#000000", lw=0.8)
        below.set_xscale("log")
        below.set_xticks(ticks, [str(n) for n in ticks])
        below.minorticks_off()
    for i in range(len(configurations)):
        axes[2 * i, 0].set_ylabel("pairs converged (%)")
        axes[2 * i + 1, 0].set_ylabel("$-\\log_{10}(1-\\rho)$, median")
    figure.supxlabel("experiments", fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(names), handlelength=4)
    return figure


def draw_covariate_shift(by_cell: pd.DataFrame, partitioners: Sequence[str], schemes: Sequence[str]) -> Figure:
    """Draw box plots of the shift over the data sets: a column per measure, a row per scheme."""
    figure, axes = _panels(schemes, sharex=True, sharey="col")
    for i, scheme in enumerate(schemes):
        for axis, measure in zip(axes[i], MEASURES):
            wide = by_partitioner(by_cell[by_cell["scheme"] == scheme], measure, partitioners)
            axis.boxplot(
                [wide[name].to_numpy() for name in partitioners],
                manage_ticks=False,
                widths=0.6,
                showmeans=True,
                medianprops={"color": "#000000", "lw": 1.5},
                boxprops={"color": "#333333"},
                meanprops={"marker": "D", "mfc": "#7F7F7F", "mec": "#000000", "ms": 4},
                flierprops={"marker": "o", "ms": 3, "mec": "#555555"},
            )
            if measure == CHANCE_IS_HALF:
                axis.axhline(0.5, color="#000000", lw=0.6)
            else:
                log_scale(axis.yaxis)
            axis.set_xticks(range(1, len(partitioners) + 1), partitioners, rotation=60)
    _name_panels(axes, schemes, "shift")
    return figure


def draw_shift_against_error(by_cell: pd.DataFrame, partitioners: Sequence[str], schemes: Sequence[str]) -> Figure:
    """Draw mean shift against root-mean-square error of the estimate: a point per data set and partitioner."""
    both = by_cell.dropna(subset="rms_error")
    figure, axes = _panels(schemes, sharex="col", sharey="row")
    for i, scheme in enumerate(schemes):
        for axis, measure in zip(axes[i], MEASURES):
            for index, name in enumerate(partitioners):
                part = both[(both["scheme"] == scheme) & (both["partitioner"] == name)]
                look = style(index)
                axis.plot(
                    part[measure], part["rms_error"], ls="none", marker=look["marker"], ms=4.5, mew=1, color=look["color"],
                    mfc="none" if index % 2 else look["color"], label=name,
                )  # fmt: skip
            log_scale(axis.yaxis)
            if measure == CHANCE_IS_HALF:
                axis.axvline(0.5, color="#000000", lw=0.6)
            else:
                log_scale(axis.xaxis, most=4)
    _name_panels(axes, schemes, "rms error of AUC")
    figure.supxlabel("mean shift of a data set", fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(partitioners))
    return figure


def _panels(schemes: Sequence[str], sharex: bool | Literal["col"], sharey: Literal["row", "col"]) -> tuple[Figure, ObjectArray]:
    """Make panels with a row per scheme and a column per measure."""
    size = (2.3 * len(MEASURES) + 0.6, 2.1 * len(schemes) + 1)
    return plt.subplots(len(schemes), len(MEASURES), figsize=size, sharex=sharex, sharey=sharey, squeeze=False)


def _name_panels(axes: ObjectArray, schemes: Sequence[str], what: str) -> None:
    for axis, measure in zip(axes[0], MEASURES):
        axis.set_title(SHIFT_LABELS[measure], fontsize=9)
    for axis, scheme in zip(axes[:, 0], schemes):
        axis.set_ylabel(f"{scheme}: {what}")


def draw_bias(table: pd.DataFrame, learner: str = ALL) -> Figure:
    """Draw the bias of every partitioner and scheme against both truths, with bars of two standard errors over populations."""
    partitioners, schemes = list(dict.fromkeys(table["partitioner"])), list(dict.fromkeys(table["scheme"]))
    learners = [name for name in dict.fromkeys(table["learner"]) if name != ALL] if learner == ALL else []
    titles = {"part": "training part of the scheme's size", "whole": "whole sample"}
    step = 1 / (len(partitioners) + 1)
    shown = table[table["learner"].isin([learner, *learners])]
    bar = 2 * shown["standard_error"].where(shown["learner"] == learner, 0).fillna(0)
    low, high = np.fmin((shown["bias"] - bar).min(), -LINEAR / 2), np.fmax((shown["bias"] + bar).max(), LINEAR / 2)
    ticks = [tick for tick in TICKS if 1.1 * low <= tick <= 1.1 * high]
    figure, axes = plt.subplots(1, len(titles), figsize=(8.6, 1.5 + 1.25 * len(schemes)), sharex=True, sharey=True)
    for axis, truth in zip(axes, titles):
        cells = table[table["truth"] == truth].set_index(["learner", "scheme", "partitioner"])
        axis.axvline(0, color="#000000", lw=0.8)
        for p, name in enumerate(partitioners):
            look = style(p)
            height = np.arange(len(schemes)) + (p - (len(partitioners) - 1) / 2) * step
            for other in learners:
                values = [cells.loc[(other, scheme, name), "bias"] for scheme in schemes]
                label = "single classifiers" if p == 0 and other == learners[0] else None
                axis.plot(values, height, "|", color="#8C8C8C", ms=6, zorder=1, label=label)
            part = cells.loc[[(learner, scheme, name) for scheme in schemes]]
            axis.errorbar(
                part["bias"], height, xerr=2 * part["standard_error"].fillna(0), fmt=look["marker"], ms=5, color=look["color"],
                mfc="none" if p % 2 else look["color"], capsize=2, elinewidth=1, label=name, zorder=2,
            )  # fmt: skip
        axis.set_title(f"against new data: {titles[truth]}", fontsize=9)
        axis.set_xscale("symlog", linthresh=LINEAR, linscale=1)
        axis.set_xlim(1.1 * low, 1.1 * high)
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
        axis.set_xlabel(f"estimate minus true AUC (logarithmic beyond ±{LINEAR:g})")
        axis.grid(axis="y", visible=False)
        for border in np.arange(len(schemes) - 1) + 0.5:
            axis.axhline(border, color="#DDDDDD", lw=0.6)
    axes[0].set_yticks(range(len(schemes)), schemes)
    axes[0].set_ylim(len(schemes) - 0.5, -0.5)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(handles))
    return figure


def draw_ablation(table: pd.DataFrame, scheme: str = AVERAGE, nothing: str = NO_PAIR) -> Figure | FigureResult:
    """Draw the per cent of agreements of the partitioners under every change."""
    part = table[(table["scheme"] == scheme) & table["percent"].notna()]
    if part.empty:
        return FigureResult(None, reason=nothing)
    part = part.assign(what=[text.partition(": ")[2] or text for text in part["change"]])
    configurations, partitioners = (list(dict.fromkeys(part[name])) for name in ("configuration", "partitioner"))
    changes = list(dict.fromkeys(part["what"]))
    size = (2.6 + 3.1 * len(configurations), 0.46 * len(changes) + 1.2)
    figure, axes = plt.subplots(1, len(configurations), figsize=size, sharex=True, sharey=True, squeeze=False)
    for axis, configuration in zip(axes[0], configurations):
        block = part[part["configuration"] == configuration]
        for index, name in enumerate(partitioners):
            rows = block[block["partitioner"] == name].set_index("what")
            y = np.array([changes.index(one) for one in rows.index]) + 0.19 * (index - (len(partitioners) - 1) / 2)
            for column, width in (("subset_error", 0.7), ("standard_error", 2.4)):
                spread = 2 * rows[column].fillna(0).to_numpy()
                ends = np.maximum(rows["percent"] - spread, 0), np.minimum(rows["percent"] + spread, 100)
                axis.hlines(y, *ends, color="#555555", lw=width, zorder=2)
            marker, colour = MARKERS[index % len(MARKERS)], GREYS[index % len(GREYS)]
            axis.plot(rows["percent"], y, marker, mfc=colour, mec="#000000", ms=5, label=name, zorder=3)
        for i, change in enumerate(changes):
            if change not in set(block["what"]):
                axis.text(50, i, "not in this configuration", ha="center", va="center", color="#7F7F7F", fontsize=8)
        for line in np.arange(len(changes) - 1) + 0.5:
            axis.axhline(line, color="#BBBBBB", lw=0.6)
        axis.set_title(f"{configuration} configuration", fontsize=9)
        axis.grid(False, axis="y")
    axes[0, 0].set_yticks(range(len(changes)), changes)
    axes[0, 0].set_ylim(len(changes) - 0.5, -0.5)
    axes[0, 0].set_xlim(-3, 103)
    words = "agreement of single experiments with the truth (%)" + ("" if scheme == AVERAGE else f", {scheme}")
    figure.supxlabel(words, fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(partitioners))
    return figure
