"""Figures of the regression study (Saez and Romero-Bejar 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.partition.methods.stratified import stratified_folds
from foldshift.reporting.figure_style import MARKERS, log_scale, plt, style
from foldshift.reporting.items import FigureResult
from foldshift.reporting.min_datasets import too_few
from foldshift.shift.measures.ks import fold_ks
from foldshift.studies.saez_2022.tables import Repetitions, no_repetitions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs

# Figure 1 is made-up data that show an idea, no result: it is the same whatever the master seed.
FIGURE1_SEED = 2022
FIGURE1_CUTS = range(20)  # seeds of plain cross-validation, of which the fold with the largest shift is shown
FIGURE1_TOTAL = 0  # seed of total stratification


def target_shift(inputs: Inputs, settings: dict[str, Any]) -> dict[str, Figure]:
    """Draw Figure 1."""
    return {"figure1_target_shift (figure)": draw_target_shift()}


def convergence(inputs: Inputs, settings: dict[str, Any]) -> dict[str, Figure | FigureResult]:
    """Draw Figure 2 from its table."""
    table = pd.read_csv(inputs.table)
    few = too_few(len(settings["datasets"]), settings["alpha"])
    if nothing := few or no_repetitions(Repetitions(**settings["convergence"]), settings["n_seeds"]):
        return {"figure2_convergence (figure)": FigureResult(None, reason=nothing)}
    return {"figure2_convergence (figure)": draw_convergence(table, settings["partitioners"], settings["alpha"])}


def shift(inputs: Inputs, settings: dict[str, Any]) -> dict[str, Figure]:
    """Draw D_n over the data sets and by data set, from the table ``dn_by_dataset``; ``datasets`` is Table 1."""
    table, partitioners = pd.read_csv(inputs.table), settings["partitioners"]
    sizes = pd.read_csv(inputs.datasets).set_index("dataset")["samples"].to_dict()
    return {
        "dn_boxes (figure)": draw_shift_boxes(table, partitioners),
        "dn_by_dataset (figure)": draw_shift_by_dataset(table, partitioners, sizes),
    }


def draw_target_shift(rng_seed: int = FIGURE1_SEED) -> Figure:
    """Draw Figure 1: target shift between training and test part, on made-up data cut by the real partitioners."""
    rng = np.random.default_rng(rng_seed)
    x = np.sort(rng.random(60))
    y = 0.15 + 0.7 * x**2 + 0.06 * rng.normal(size=60)
    extreme = (y > np.quantile(y, 0.8)).astype(np.uint8)[None, :]
    plain = stratified_folds(y, 5, 1, [np.random.default_rng(seed) for seed in FIGURE1_CUTS])
    shift = fold_ks(y, plain)
    seed, fold = np.unravel_index(shift.argmax(), shift.shape)
    total = stratified_folds(y, 5, None, [np.random.default_rng(FIGURE1_TOTAL)])
    panels = [
        ("(a) the data set", None, None),
        ("(b) high target shift: only large y are tested", extreme[0] == 1, fold_ks(y, extreme)[0, 1]),
        ("(c) moderate: a fold of plain cross-validation", plain[seed] == fold, shift[seed, fold]),
        ("(d) low: a fold of total stratification (TSCV)", total[0] == 0, fold_ks(y, total)[0, 0]),
    ]
    figure, axes = plt.subplots(2, 2, figsize=(8, 6), sharex=True, sharey=True)
    for axis, (title, test, d_n) in zip(axes.flat, panels):
        train = np.ones(60, dtype=bool) if test is None else ~test
        axis.plot(
            x[train], y[train], "o", color="#7F7F7F", mfc="none", ms=5, label="training part" if test is not None else "samples"
        )
        if test is not None:
            axis.plot(x[test], y[test], "s", color="#000000", ms=5, label="test part")
        axis.set_title(title if d_n is None else f"{title}, D$_n$ = {d_n:.2f}", fontsize=9)
        axis.legend(loc="upper left")
    for axis in axes[1]:
        axis.set_xlabel("input x")
    for axis in axes[:, 0]:
        axis.set_ylabel("target y")
    return figure


def draw_convergence(table: pd.DataFrame, partitioners: Sequence[str], alpha: float) -> Figure:
    """Draw Figure 2: mean p-value against CV by number of repetitions, one panel per k and regressor."""
    folds, learners = list(dict.fromkeys(table["k"])), list(dict.fromkeys(table["regressor"]))
    names = [name for name in partitioners if name != "CV"]
    rows, columns = max(len(folds), 1), max(len(learners), 1)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.6 * columns + 0.6, 2.2 * rows + 0.7), sharex=True, sharey=True, squeeze=False
    )
    for i, k in enumerate(folds):
        for j, learner in enumerate(learners):
            axis = axes[i, j]
            for index, name in enumerate(names):
                part = table[(table["k"] == k) & (table["regressor"] == learner) & (table["partitioner"] == name)]
                every = max(len(part) // 6, 1)
                axis.plot(
                    part["repetitions"],
                    part["mean_p"],
                    lw=1.2,
                    ms=4,
                    markevery=(index % every, every),
                    label=name,
                    **style(index),
                )
            axis.axhline(alpha, color="#000000", lw=0.6, label=f"level {alpha:g}")
            n = table.loc[(table["k"] == k) & (table["regressor"] == learner), "n_datasets"].max()
            lost = f" ({n:g} data sets)" if n < table["n_datasets"].max() else ""
            axis.set_title(f"{learner}, k = {k}{lost}", fontsize=9)
            axis.set_ylim(-0.04, 1.04)  # marks at 0 and 1 are whole
    figure.supxlabel("repetitions of cross-validation", fontsize=9)
    figure.supylabel("mean p against CV", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=len(names) + 1, handlelength=4)
    return figure


def draw_shift_boxes(table: pd.DataFrame, partitioners: Sequence[str]) -> Figure:
    """Draw box plots of D_n over the data sets, one panel per k."""
    folds = list(dict.fromkeys(table["k"]))
    figure, axes = plt.subplots(1, len(folds), figsize=(max(3.2 * len(folds), 4), 3.6), sharey=True, squeeze=False)
    for axis, k in zip(axes[0], folds):
        parts = [table[(table["k"] == k) & (table["partitioner"] == name)]["mean_dn"].to_numpy() for name in partitioners]
        axis.boxplot(
            parts,
            tick_labels=list(partitioners),
            showmeans=True,
            medianprops={"color": "#000000", "lw": 1.5},
            boxprops={"color": "#333333"},
            meanprops={"marker": "D", "mfc": "#7F7F7F", "mec": "#000000", "ms": 5},
            flierprops={"marker": "o", "ms": 3, "mec": "#555555"},
        )
        axis.set_title(f"k = {k}", fontsize=9)
        axis.tick_params(axis="x", rotation=60)
    axes[0, 0].set_ylim(0, 1.05 * table["mean_dn"].max())
    axes[0, 0].set_ylabel("mean D$_n$ of a data set")
    return figure


def draw_shift_by_dataset(table: pd.DataFrame, partitioners: Sequence[str], sizes: dict[str, int]) -> Figure:
    """Draw D_n of every data set by partitioner, data sets ordered by size."""
    folds = list(dict.fromkeys(table["k"]))
    datasets = sorted(sizes, key=lambda name: (sizes[name], name))
    figure, axes = plt.subplots(
        1, len(folds), figsize=(3.2 * len(folds) + 1.2, 0.22 * len(datasets) + 1.6), sharey=True, squeeze=False
    )
    for axis, k in zip(axes[0], folds):
        for index, name in enumerate(partitioners):
            part = table[(table["k"] == k) & (table["partitioner"] == name)].set_index("dataset")
            look = style(index)
            axis.plot(
                part["mean_dn"].reindex(datasets), range(len(datasets)), ls="none", marker=MARKERS[index % 8], ms=5,
                color=look["color"], mfc="none" if index % 2 else look["color"], label=name,
            )  # fmt: skip
        log_scale(axis.xaxis)
        axis.set_title(f"k = {k}", fontsize=9)
        axis.set_xlabel("mean D$_n$ (log scale)")
    axes[0, 0].set_yticks(range(len(datasets)), [f"{name} ({sizes[name]})" for name in datasets])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=min(len(partitioners), 8))
    return figure
