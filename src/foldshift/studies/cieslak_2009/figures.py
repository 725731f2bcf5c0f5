"""Figures of the monitoring study (Cieslak and Chawla 2009)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from foldshift.reporting.figure_style import plt, style
from foldshift.reporting.items import FigureResult
from foldshift.studies.cieslak_2009.datasets_in_print import listed_datasets, paper_name
from foldshift.studies.cieslak_2009.shift_conditions import BASE, BIAS, PRIORS, TRANSLATION, TRUE_MNAR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs, ObjectArray

    Drawing = Callable[
        [pd.DataFrame, pd.DataFrame, pd.DataFrame, float], FigureResult | Figure
    ]  # p-values, shares, Hellinger, alpha

BY_CLASS = ("Compustat", "E-State", "Oil", "Phoneme")  # data sets that the paper looks at in Figure 14
MOST_ROWS = 4
GREYS = ("#FFFFFF", "#E3E3E3", "#C7C7C7", "#A3A3A3", "#7F7F7F", "#4F4F4F", "#2B2B2B", "#000000")
HATCHES = ("", "....", "", "////", "", "xxxx", "", "\\\\\\\\")
NOTHING = "no data set of this run has these rows"
MISSING = "test not run"
MEAN_P, RATE = "mean p-value", "share of p-values below {:g}"
TEST_NAMES = {"friedman": "Friedman over bootstraps (paper)", "two_proportion": "two proportions", "kruskal": "Kruskal-Wallis"}


def figures(inputs: Inputs, settings: dict[str, Any]) -> dict[str, FigureResult | Figure]:
    """Draw Figures 6 to 11 and 13 to 17 from their tables."""
    p_values, prior, hellinger = (pd.read_csv(path) for path in (inputs.p_values, inputs.ks_by_prior, inputs.hellinger))
    return {f"{name} (figure)": draw(name, p_values, prior, hellinger, settings["alpha"]) for name in FIGURES}


def draw(name: str, p_values: pd.DataFrame, prior: pd.DataFrame, hellinger: pd.DataFrame, alpha: float) -> FigureResult | Figure:
    """Draw one of `FIGURES`."""
    return FIGURES[name](p_values, prior, hellinger, alpha)


def draw_p_values(
    table: pd.DataFrame, conditions: Sequence[str], paper_test: str, valid_test: str, alpha: float
) -> FigureResult | Figure:
    """Draw Figures 6 to 11: p-values of a test by condition and learner, from the lowest to the highest data set."""
    learners = list(dict.fromkeys(table["learner"]))
    table = table[table["test"].isin([paper_test, valid_test])]
    conditions = [name for name in conditions if name in set(table["condition"])]
    if not conditions:
        return FigureResult(None, reason=NOTHING)
    panels = (
        (paper_test, "mean_p", f"As in the paper: {TEST_NAMES[paper_test]}", MEAN_P),
        (valid_test, "rejection_rate", f"Corrected: {TEST_NAMES[valid_test]}, rejections", RATE.format(alpha)),
    )
    figure, axes = plt.subplots(2, 1, figsize=(8.6, 6), sharex=True, sharey=True)
    step = 0.8 / max(len(learners), 1)
    for axis, (test, column, title, label) in zip(axes, panels):
        part = table[table["test"] == test]
        for i, learner in enumerate(learners):
            groups = part[part["learner"] == learner].groupby("condition", observed=True)[column].agg(["min", "max", "mean"])
            found = groups.reindex(conditions)
            x = np.arange(len(conditions)) + step * (i - (len(learners) - 1) / 2)
            look = style(i)
            for place, low, high in zip(x, found["min"], found["max"]):
                axis.plot([place, place], [low, high], lw=1.3, ms=3, **look)
            axis.plot(x, found["mean"], "+", color=look["color"], ms=8, mew=1.6)
        axis.axhline(alpha, color="#7F7F7F", lw=0.8, dashes=(1, 2))
        axis.set_title(title, fontsize=9, loc="left")
        axis.set_ylabel(label)
        axis.set_ylim(-0.03, 1.03)
        axis.grid(axis="x", visible=False)
        for border in np.arange(len(conditions) - 1) + 0.5:
            beyond = conditions[int(border + 0.5)] == TRUE_MNAR[0]
            axis.axvline(border, color="#000000" if beyond else "#DDDDDD", lw=0.8)
        if part.empty:
            axis.text(0.5, 0.5, MISSING, ha="center", va="center", transform=axis.transAxes)
    axes[-1].set_xticks(range(len(conditions)), conditions)
    axes[-1].set_xlim(-0.5, len(conditions) - 0.5)
    if set(conditions) <= {BASE, *PRIORS}:
        axes[-1].set_xticklabels([name.removeprefix("P") for name in conditions])
        axes[-1].set_xlabel("P(+) in the test part, per cent")
    handles = [
        Line2D([], [], lw=1.3, ms=4, label=f"{name}, lowest to highest data set", **style(i)) for i, name in enumerate(learners)
    ]
    handles += [
        Line2D([], [], ls="", marker="+", color="#000000", ms=8, mew=1.6, label="mean over data sets"),
        Line2D([], [], color="#7F7F7F", lw=0.8, dashes=(1, 2), label=f"level {alpha:g}"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def draw_prior(table: pd.DataFrame) -> Figure:
    """Draw Figure 13: share of features that fail KS as the share of positive rows changes."""
    names = _datasets(table)
    titles = {"paper": "As in the paper: equation 7", "valid": "Corrected: valid two-sided p"}
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.4), sharex=True, sharey=True)
    for axis, (part, title) in zip(axes, titles.items()):
        _prior_lines(axis, table[table["part"] == part], names, "value")
        axis.set_title(title, fontsize=9)
    axes[0].set_ylabel("share of features that fail KS")
    axes[0].set_ylim(-0.03, 1.03)
    _name_prior_axes(axes, names)
    return _with_datasets(figure, names, open_mark=True)


def draw_prior_by_class(table: pd.DataFrame) -> FigureResult | Figure:
    """Draw Figure 14: the same within each class, for the data sets that the paper shows, or else the first."""
    names = _datasets(table)
    names = [name for name in names if paper_name(name) in BY_CLASS] or names[:MOST_ROWS]
    if not names:
        return FigureResult(None, reason=NOTHING)
    letters = iter("abcdefghijklmnop")
    figure, axes = plt.subplots(len(names), 2, figsize=(8.6, 1.2 + 1.9 * len(names)), sharex=True, sharey=True, squeeze=False)
    for name, pair in zip(names, axes):
        for axis, part, face in zip(pair, ("positive", "negative"), ("#000000", "#FFFFFF")):
            rows = table[(table["dataset"] == name) & (table["part"] == part)]
            base, moved = rows[rows["condition"] == BASE], rows[rows["condition"] != BASE]
            x = 100 * moved["share_positive"]
            half = 2 * moved["standard_error"].fillna(0)
            error = [np.minimum(half, moved["value"]), np.minimum(half, 1 - moved["value"])]  # a share lies between 0 and 1
            look = {"color": "#000000", "marker": "o", "mfc": face, "ms": 4.5, "lw": 1.2, "capsize": 2}
            axis.errorbar(x, moved["value"], yerr=error, **look)
            if len(base):
                axis.axhline(float(base["value"].iloc[0]), color="#7F7F7F", lw=1, dashes=(1, 2))
            axis.set_title(f"({next(letters)}) {paper_name(name)}, {part} rows", fontsize=9)
    shown = table[table["dataset"].isin(names) & table["part"].isin(["positive", "negative"])]
    highest = max(1.1 * (shown["value"] + 2 * shown["standard_error"].fillna(0)).max(), 0.25)
    axes[0, 0].set_ylim(-0.04 * min(highest, 1), min(highest, 1.04))
    _name_prior_axes(axes[-1], names)
    figure.supylabel("share of features that fail KS within the class", fontsize=9)
    handles = [
        Line2D([], [], color="#000000", marker="o", ms=4.5, label="positive class"),
        Line2D([], [], color="#000000", marker="o", mfc="#FFFFFF", ms=4.5, label="negative class"),
        Line2D([], [], color="#7F7F7F", lw=1, dashes=(1, 2), label="without shift"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def draw_hellinger(table: pd.DataFrame, conditions: Sequence[str]) -> FigureResult | Figure:
    """Draw Figures 15 and 16: change of the Hellinger distance against Base, and its excess over chance, as bars."""
    names = _datasets(table)
    if not names:
        return FigureResult(None, reason=NOTHING)
    figure, axes = plt.subplots(2, 1, figsize=(8.6, 6), sharex=True)
    panels = (
        (conditions, "change", "As in the paper: change against Base", "change, per cent"),
        ((BASE, *conditions), "excess", "Corrected: excess over what chance gives at these sizes", "excess of the distance"),
    )
    looks = {name: i for i, name in enumerate((*conditions, BASE))}
    for axis, (shown, column, title, label) in zip(axes, panels):
        values = table.set_index(["dataset", "condition"])
        width = 0.84 / len(shown)
        for i, condition in enumerate(shown):
            at = [(name, condition) for name in names]
            found = values.reindex(at)
            x = np.arange(len(names)) + width * (i - (len(shown) - 1) / 2)
            error = 2 * found[f"se_{column}"].fillna(0)
            whiskers = {"elinewidth": 0.7, "ecolor": "#D55E00"}
            axis.bar(x, found[column], width, yerr=error, error_kw=whiskers, **_fill(looks[condition], condition))
        axis.axhline(0, color="#000000", lw=0.8)
        axis.set_axisbelow(True)
        axis.set_title(title, fontsize=9, loc="left")
        axis.set_ylabel(label)
        axis.grid(axis="x", visible=False)
    axes[-1].set_xticks(range(len(names)), [paper_name(name) for name in names], rotation=0 if len(names) < 9 else 30)
    axes[-1].set_xlim(-0.6, len(names) - 0.4)
    handles = [
        Patch(**_fill(looks[name], name), label=name + (" (below)" if name == BASE else "")) for name in (BASE, *conditions)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5)
    return figure


def draw_hellinger_prior(table: pd.DataFrame) -> Figure:
    """Draw Figure 17: change of the Hellinger distance as the share of positive rows changes."""
    names = _datasets(table)
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.4), sharex=True)
    part = table[table["condition"].isin(PRIORS)]
    part = part.assign(share_positive=part["condition"].str.removeprefix("P").astype(float) / 100)
    for axis, column, title in zip(
        axes, ("change", "excess"), ("As in the paper: change against Base", "Corrected: excess over chance")
    ):
        axis.axhline(0, color="#000000", lw=0.8)
        _prior_lines(axis, part, names, column)
        axis.set_title(title, fontsize=9)
    axes[0].set_ylabel("change of the distance, per cent")
    axes[1].set_ylabel("excess of the distance")
    _name_prior_axes(axes, names)
    return _with_datasets(figure, names)


def _prior_lines(axis: Axes, part: pd.DataFrame, names: list[str], column: str) -> None:
    """Draw a line per data set over the share of positive rows, and a large open mark for Base."""
    for i, name in enumerate(names):
        rows = part[part["dataset"] == name].sort_values("share_positive")
        base, moved = rows[rows["condition"] == BASE], rows[rows["condition"] != BASE]
        look = style(i)
        axis.plot(100 * moved["share_positive"], moved[column], lw=1.2, ms=4, **look)
        axis.plot(100 * base["share_positive"], base[column], look["marker"], color=look["color"], mfc="none", ms=9, mew=1.2)


def _name_prior_axes(axes: ObjectArray, names: list[str]) -> None:
    """Label horizontal axes of shares of positive rows."""
    for axis in axes:
        axis.set_xlabel("P(+) in the test part, per cent")
        axis.set_xticks(range(0, 71, 10))
        axis.set_xlim(0, 72)
        if not names:
            axis.text(0.5, 0.5, NOTHING, ha="center", transform=axis.transAxes)


def _with_datasets(figure: Figure, names: list[str], open_mark: bool = False) -> Figure:
    """Add a legend of data sets above the panels."""
    handles = [Line2D([], [], lw=1.2, ms=4.5, label=paper_name(name), **style(i)) for i, name in enumerate(names)]
    if open_mark:
        handles.append(Line2D([], [], ls="", marker="o", color="#000000", mfc="none", ms=9, mew=1.2, label="open: without shift"))
    if handles:
        figure.legend(handles=handles, loc="outside upper center", ncols=5)
    return figure


def _fill(index: int, condition: str) -> dict[str, Any]:
    """Grey and hatching of a bar; Base has lines across."""
    if condition == BASE:
        return {"facecolor": "#FFFFFF", "edgecolor": "#000000", "linewidth": 0.7, "hatch": "----"}
    index %= len(GREYS)
    return {
        "facecolor": GREYS[index],
        "edgecolor": "#FFFFFF" if index > 5 else "#000000",
        "linewidth": 0.7,
        "hatch": HATCHES[index],
    }


def _datasets(table: pd.DataFrame) -> list[str]:
    """Data sets of a table in the order of the paper."""
    return [one.ours for one in listed_datasets(table["dataset"]) if one.ours]


def _p_values(conditions: tuple[str, ...], paper_test: str, valid_test: str) -> Drawing:
    """Make the entry of `FIGURES` for p-values."""
    return lambda p_values, prior, hellinger, alpha: draw_p_values(p_values, conditions, paper_test, valid_test, alpha)


_BIASES, _PRIORS = (BASE, *BIAS, *TRUE_MNAR), (BASE, *PRIORS)
FIGURES: dict[str, Drawing] = {
    "figure6_friedman_bias": _p_values(_BIASES, "friedman", "two_proportion"),
    "figure7_friedman_translation": _p_values((BASE, *TRANSLATION), "friedman", "two_proportion"),
    "figure8_friedman_prior": _p_values(_PRIORS, "friedman", "two_proportion"),
    "figure9_kruskal_bias": _p_values(_BIASES, "kruskal", "kruskal"),
    "figure10_kruskal_translation": _p_values((BASE, *TRANSLATION), "kruskal", "kruskal"),
    "figure11_kruskal_prior": _p_values(_PRIORS, "kruskal", "kruskal"),
    "figure13_ks_prior": lambda p_values, prior, hellinger, alpha: draw_prior(prior),
    "figure14_ks_prior_by_class": lambda p_values, prior, hellinger, alpha: draw_prior_by_class(prior),
    "figure15_hellinger_bias": lambda p_values, prior, hellinger, alpha: draw_hellinger(hellinger, (*BIAS, *TRUE_MNAR)),
    "figure16_hellinger_translation": lambda p_values, prior, hellinger, alpha: draw_hellinger(hellinger, TRANSLATION),
    "figure17_hellinger_prior": lambda p_values, prior, hellinger, alpha: draw_hellinger_prior(hellinger),
}  # fmt: skip
