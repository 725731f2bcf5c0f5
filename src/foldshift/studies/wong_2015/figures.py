"""Figures of the study of k-fold and leave-one-out inference (Wong 2015)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from scipy.stats import norm

from foldshift.inference.repetitions.recommend import variance_ratio
from foldshift.reporting.critical_difference import draw_critical_difference
from foldshift.reporting.figure_style import plt, style
from foldshift.reporting.items import FigureResult
from foldshift.studies.common.coverage_rows import ROWS, audit_table, partitioner_table
from foldshift.studies.wong_2015.accuracy_rows import LEAVE_ONE_OUT, REPETITIONS, read_folds, read_rows
from foldshift.studies.wong_2015.correct_counts import intervals_table, ranks_table, repetitions_table
from foldshift.studies.wong_2015.coverage_figure import draw_audit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs
    from foldshift.inference.comparisons.ranks import CriticalDifference

CLAIMS = ("model", "claim", "n_folds", "n_points", "quantity", "value", "standard_error")  # columns of simulations
MOST_REPETITIONS = 100
NOTHING = "no result to draw"
FILLS = ("full", "none", "left", "bottom")  # of markers, by setting; their shape is the model


def figures(inputs: Inputs, settings: dict[str, Any]) -> dict[str, FigureResult | Figure]:
    """Draw all figures; those of claims and of the audit if the run has them."""
    level = settings["level"]
    folds = read_folds(inputs.folds, settings)
    intervals = intervals_table(folds, level)
    items: dict[str, FigureResult | Figure] = {
        "intervals (figure)": draw_intervals(intervals, settings["learners"][0], level),
        "repetitions (figure)": draw_repetitions(repetitions_table(folds)),
        "critical_difference (figure)": draw_ranks(ranks_table(intervals, level)[1]),
    }
    if inputs.claims:
        items["sigma_share (figure)"] = draw_sigma_share(read_rows(inputs.claims, CLAIMS), level)
    if inputs.audit:
        table = audit_table(read_rows(inputs.audit, ROWS), settings["audit"]["partitioners"], level)
        items["audit (figure)"] = draw_audit(table, partitioner_table(table, level), level)
    return items


def draw_intervals(table: pd.DataFrame, learner: str, level: float) -> FigureResult | Figure:
    """Draw a forest plot of one learner's accuracy: over the data set and the folds (largest k), and by leave-one-out."""
    part = table[table["learner"] == learner]
    if part.empty:
        return FigureResult(None, reason=f"no data set has results of {learner}")
    k = part["k"].max()
    chosen = {
        "leave-one-out, data set (z)": part[part["k"] == LEAVE_ONE_OUT].set_index("dataset")[
            ["accuracy", "dataset_low", "dataset_high"]
        ],
        f"{k} folds, data set (z)": part[part["k"] == k].set_index("dataset")[["accuracy", "dataset_low", "dataset_high"]],
        f"{k} folds, folds (t)": part[part["k"] == k].set_index("dataset")[["accuracy", "fold_low", "fold_high"]],
    }
    names = list(dict.fromkeys(part["dataset"]))
    order = {name: _first_number(name, chosen.values()) for name in names}
    names.sort(key=lambda name: (order[name], name))
    figure, axis = plt.subplots(figsize=(7.2, 1.3 + 0.42 * max(len(names), 1)))
    for i, (label, values) in enumerate(chosen.items()):
        look = style(i)
        accuracy, low, high = values.reindex(names).to_numpy(dtype=np.float64).T
        middle = (low + high) / 2 if label.endswith("(t)") else accuracy  # that over folds is centred on their mean
        height = np.arange(len(names)) + 0.22 * (1 - i)
        there = ~np.isnan(low)
        axis.errorbar(
            middle[there], height[there], xerr=np.stack([middle - low, high - middle])[:, there],
            fmt=look["marker"], ms=4.5, color=look["color"], mfc="none" if i == 1 else look["color"], capsize=2.5,
            elinewidth=1.1, label=label,
        )  # fmt: skip
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(-0.6, max(len(names), 1) - 0.4)
    axis.grid(axis="y", visible=False)
    for border in np.arange(len(names) - 1) + 0.5:
        axis.axhline(border, color="#DDDDDD", lw=0.6)
    axis.set_xlabel(f"accuracy of {learner}, {100 * level:g} % interval")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def draw_repetitions(table: pd.DataFrame) -> Figure:
    """Draw the variance of the mean of r partitions against that of one.

    A grey curve per data set and learner, the middle one, and the claim of the paper.
    """
    folds = sorted(set(table["k"])) or [None]
    figure, axes = plt.subplots(1, len(folds), figsize=(1.2 + 3.6 * len(folds), 3.6), sharey=True, squeeze=False)
    repetitions = np.arange(1, MOST_REPETITIONS + 1)
    for axis, k in zip(axes[0], folds):
        rho = table["rho"][(table["k"] == k) & table["rho"].notna()].to_numpy(dtype=np.float64)
        axis.axhline(1, color="#D55E00", lw=1.6, dashes=(6, 2), label="claim of the paper: no reduction")
        for i, value in enumerate(rho):
            axis.plot(
                repetitions,
                variance_ratio(repetitions, value),
                color="#A6A6A6",
                lw=0.8,
                label="measured, one per classifier and data set" if i == 0 else None,
            )
        if len(rho):
            axis.plot(repetitions, variance_ratio(repetitions, np.median(rho)), color="#000000", lw=1.8, label="middle one")
        else:
            axis.text(0.5, 0.5, NOTHING, ha="center", transform=axis.transAxes)
        axis.axvline(REPETITIONS, color="#7F7F7F", lw=0.9, dashes=(1, 2), label=f"{REPETITIONS} repetitions, as in the tables")
        axis.set_xscale("log")
        axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        axis.minorticks_off()
        axis.set_xlim(1, MOST_REPETITIONS)
        axis.set_ylim(0, 1.08)
        axis.set_xlabel("repetitions r")
        axis.set_title(f"k = {k}", fontsize=9)
    axes[0, 0].set_ylabel("variance of the mean of r / of one")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def draw_ranks(result: CriticalDifference | None) -> Figure | FigureResult:
    """Draw the critical-difference diagram over data sets; or say that there is nothing to compare (`result` is None)."""
    if result is None:
        return FigureResult(None, reason="fewer than two classifiers or data sets have leave-one-out results in common")
    return draw_critical_difference(result)


def draw_sigma_share(rows: pd.DataFrame, level: float) -> Figure:
    """Draw the share of the variance that Wong's formula counts against the coverage of his intervals, by model and setting.

    The shape of a mark is the model, its filling the setting. Bars: two Monte Carlo standard errors.
    """
    part = rows[rows["claim"] == "fold_independence"]
    keys = ["model", "n_folds", "n_points"]
    values, errors = (part.set_index([*keys, "quantity"])[name].unstack("quantity") for name in ("value", "standard_error"))
    titles = {"coverage_within": "over the data set (z, variance within folds)", "coverage_fold": "over the folds (t)"}
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.2), sharex=True, sharey=True)
    low = min(float(np.floor((values["sigma_share"].min() - 0.08) * 10) / 10), 0.9)
    high = max(1.05, float((values["sigma_share"] + 2 * errors["sigma_share"]).max()) + 0.02)
    shares = np.linspace(low, high, 200)
    models, settings = list(dict.fromkeys(part["model"])), list(dict.fromkeys(zip(part["n_folds"], part["n_points"])))
    fills: dict[tuple[int, int], dict[str, Any]] = {
        setting: {"fillstyle": FILLS[i % len(FILLS)], "markerfacecoloralt": "white"} for i, setting in enumerate(settings)
    }
    for axis, (quantity, title) in zip(axes, titles.items()):
        axis.axhline(level, color="#7F7F7F", lw=1, dashes=(6, 2), label="nominal")
        if quantity == "coverage_within":
            normal = 2 * norm.cdf(norm.isf((1 - level) / 2) * np.sqrt(shares)) - 1
            axis.plot(shares, normal, color="#000000", lw=1, label="if estimates are normal")
        for i, model in enumerate(models):
            look = style(i)
            for setting in settings:
                if (model, *setting) in values.index:
                    x, y, ex, ey = (
                        frame.loc[(model, *setting), name] for frame in (values, errors) for name in ("sigma_share", quantity)
                    )
                    axis.errorbar(x, y, xerr=2 * ex, yerr=2 * ey, color=look["color"], elinewidth=0.7, zorder=2)
                    axis.plot(x, y, look["marker"], color=look["color"], **fills[setting], ms=8, zorder=3)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("share of the variance that the formula counts (sigma)")
        axis.set_xlim(low, high)
    axes[0].set_ylabel(f"coverage of the {100 * level:g} % interval")
    handles, _ = axes[0].get_legend_handles_labels()
    point: dict[str, Any] = {"ls": "", "ms": 8}
    handles += [
        Line2D([], [], marker=style(i)["marker"], color=style(i)["color"], label=model, **point) for i, model in enumerate(models)
    ]
    handles += [
        Line2D([], [], marker="o", color="#7F7F7F", label=f"{k} folds of {m}", **fills[k, m], **point) for k, m in settings
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5)
    return figure


def _first_number(name: str, frames: Collection[Any]) -> float:
    """Accuracy of a data set in the first of the tables that has one; infinite where none has."""
    for frame in frames:
        if name in frame.index and not np.isnan(frame.loc[name, "accuracy"]):
            return frame.loc[name, "accuracy"]
    return np.inf
