"""Figures of the study of several sources (Geras and Sutton 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.patches import Rectangle

from foldshift.reporting.figure_style import plt, style
from foldshift.reporting.items import FigureResult
from foldshift.studies.geras_2013.held_out_errors import DRAWS, error_table, spread_table
from foldshift.studies.geras_2013.source_rows import AXES, DESIGNS, GRID, REVIEWS, SAMPLING, read_rows
from foldshift.studies.geras_2013.variance_estimators import (
    COMPONENTS,
    ESTIMATES,
    FIGURE6,
    LEVEL,
    STUDENT,
    covariance_noise,
    decomposition_table,
    estimators_table,
    figure6_table,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, Inputs, TableLike

ERRORS = {"cvs": "CVS: leave one source out", "out_of_source": "OSE: error on a source held out", "cvr": "CVR: random blocks"}
SPREADS = {"sd_cvs": "CVS: leave one source out", "sd_cvr": "CVR: random blocks"}
AXIS_LABELS = {"sources": "number of sources K", "points": "points per source M"}
TERMS = {
    "theta": r"variance $\theta$: their sum",
    "sigma_term": r"$\sigma^2$: each loss by itself",
    "omega_term": r"$\omega$: with its own block",
    "gamma_term": r"$\gamma$: with other blocks",
}


class Line(NamedTuple):
    """A line of a figure: number of its style, label, and width."""

    look: int
    label: str
    width: float = 1.2


# Estimators that are equal for blocks of equal size look the same, though the papers name them twice.
SERIES = {
    "theta_gamma": Line(1, r"$\hat\theta^\gamma$ or $\hat\theta_3$ = S2/K"),
    "theta_A": Line(2, r"$\hat\theta_A$ or $\hat\theta_4$ = W/N"),
    "theta_B": Line(3, r"$\hat\theta_B$ = 2W/N"),
    "theta_5": Line(4, r"$\hat\theta_5$ = (1+1/K) S2 $-$ W/M"),
}
SERIES["theta_3"], SERIES["theta_4"] = SERIES["theta_gamma"], SERIES["theta_A"]
STUDENT_SERIES = Line(5, r"S2/K with Student's t$_{K-1}$")
# Powers of ten below the largest value that are drawn logarithmically; nearer to 0 the axis is linear and shows negative values.
DECADES = 3
BELOW_TRUTH = 10  # the axis of Figure 6 ends at the smallest true variance over this
WHITE, LIGHT, GREY, DARK = "#FFFFFF", "#DDDDDD", "#8C8C8C", "#333333"


class Panel(NamedTuple):
    """A panel of a figure, with the design and the rows of the table that it shows."""

    axis: Axes
    design: str
    rows: pd.DataFrame


def figures(inputs: Inputs, settings: dict[str, Any]) -> dict[str, FigureResult | Figure]:
    """Draw all figures."""
    draws, grid = read_rows(inputs.error, DRAWS), {name: settings[name] for name in GRID}
    estimates, components = read_rows(inputs.estimates, ESTIMATES), read_rows(inputs.components, COMPONENTS)
    n_datasets = settings["n_truth"]
    return {
        "figure1_blocks (figure)": draw_blocks(),
        "figure2_error (figure)": FigureResult(
            draw_error(error_table(draws, **grid)), {"kind_of_reviews": REVIEWS[settings["reviews"]]}
        ),
        "figure3_spread (figure)": draw_spread(spread_table(draws, **grid)),
        "figure4_decomposition (figure)": draw_decomposition(decomposition_table(components, n_datasets)),
        "figure5_covariances (figure)": draw_covariances(components, n_datasets),
        "figure6_estimators (figure)": draw_estimators(figure6_table(estimates)),
        "coverage (figure)": draw_coverage(estimators_table(estimates)),
    }


def draw_blocks(K: int = 3, M: int = 4) -> Figure:
    """Draw Figure 1: the covariance matrix of all losses, for random blocks and for sources."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.7))
    titles = ("CVR: random blocks are alike, three numbers", "CVS: every source has numbers of its own")
    for axis, title, sources in zip(axes, titles, (False, True)):
        for k in range(K):
            for l in range(K):  # noqa: E741
                _draw_block(axis, k, l, M, sources)
        axis.set_xlim(0, K * M)
        axis.set_ylim(K * M, 0)
        axis.set_aspect("equal")
        axis.grid(visible=False)
        axis.spines[:].set_visible(False)
        middles = (np.arange(K) + 0.5) * M
        names = [f"{'source' if sources else 'block'} {k + 1}" for k in range(K)]
        axis.set_xticks(middles, names)
        axis.set_yticks(middles, names, rotation=90, va="center")
        axis.tick_params(length=0)
        axis.set_title(title, fontsize=9)
    handles = [
        Rectangle((0, 0), 1, 1, fc=DARK, ec=WHITE),
        Rectangle((0, 0), 1, 1, fc=LIGHT, ec=GREY, hatch="////"),
        Rectangle((0, 0), 1, 1, fc=WHITE, ec=GREY),
    ]
    labels = [r"$\sigma^2$: a loss with itself", r"$\omega$: two losses of one block", r"$\gamma$: losses of two blocks"]
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _draw_block(axis: Axes, k: int, l: int, M: int, sources: bool) -> None:  # noqa: E741
    """Draw one block of the matrix, from row kM and column lM, with its label on an empty ground."""
    inside = k == l
    look: dict[str, Any] = {"fc": LIGHT, "ec": GREY, "hatch": "////"} if inside else {"fc": WHITE, "ec": GREY}
    axis.add_patch(Rectangle((l * M, k * M), M, M, lw=0.5, **look))
    if inside:
        for i in range(M):
            axis.add_patch(Rectangle((l * M + i, k * M + i), 1, 1, fc=DARK, ec=WHITE, lw=0.5))
    axis.add_patch(Rectangle((l * M, k * M), M, M, fc="none", ec="#000000", lw=1.2, clip_on=False))
    one, two = (str(k + 1), f"{k + 1}{l + 1}") if sources else ("", "")
    ground = {"boxstyle": "round,pad=0.15", "fc": WHITE, "ec": "none"}
    if inside:
        axis.text(
            l * M + 0.74 * M,
            k * M + 0.24 * M,
            rf"$\omega_{{{one}}}$" if one else r"$\omega$",
            ha="center",
            va="center",
            bbox=ground,
        )
        axis.text(
            l * M + 0.5,
            k * M + 0.5,
            rf"$\sigma_{{{one}}}^2$" if one else r"$\sigma^2$",
            ha="center",
            va="center",
            color=WHITE,
            fontsize=8,
        )
    else:
        axis.text(l * M + M / 2, k * M + M / 2, rf"$\gamma_{{{two}}}$" if two else r"$\gamma$", ha="center", va="center")


def draw_error(table: pd.DataFrame) -> Figure:
    """Draw Figure 2: both estimates and the error on a source held out, by number of sources and of points.

    Rings at the bottom: the paired differences do not show CVR < OSE < CVS by two errors; crosses: they show the contrary.
    """
    return _draw_along_axes(table, ERRORS, "error", mark_order=True)


def draw_spread(table: pd.DataFrame) -> Figure:
    """Draw Figure 3: standard deviation of both estimates given the domains."""
    figure = _draw_along_axes(table, SPREADS, "standard deviation")
    figure.axes[0].set_ylim(bottom=0)
    return figure


def draw_decomposition(table: pd.DataFrame) -> Figure:
    """Draw Figure 4: the three terms of the variance and their sum, left for sources and right for random blocks."""
    figure, panels = _by_design(table, "part of the variance")
    for axis, _, part in panels:
        for index, (name, label) in enumerate(TERMS.items()):
            _draw_line(axis, _aside(part["n_points"], index - 1.5), part, name, Line(index, label))
        _size_axis(axis, sorted(set(table["n_points"])), logarithmic=True)
    _show_signs(panels, list(TERMS))
    return _with_legend(figure, 2)


def draw_covariances(components: pd.DataFrame, n_datasets: int) -> Figure:
    """Draw Figure 5: every omega_k and gamma_kl by number of points."""
    figure, panels = _by_design(components, "covariance")
    shown = {
        "omega": ("o", DARK, DARK, r"$\omega_k$: within block k"),
        "gamma": ("s", "#0072B2", WHITE, r"$\gamma_{kl}$: between blocks k and l"),
    }
    n_points = sorted(set(components["n_points"]))
    for axis, _, part in panels:
        axis.axhline(0, color="#000000", lw=0.8)
        for M in sorted(set(part["n_points"])):
            place = n_points.index(M)
            values = {
                kind: of.sort_values(["k", "l"])["value"].to_numpy() for kind, of in part[part["n_points"] == M].groupby("kind")
            }
            noise = covariance_noise(values["sigma"], values["omega"], M, n_datasets)
            for (kind, (marker, colour, face, label)), error, shift in zip(shown.items(), noise, (-0.22, 0.22)):
                dots = values[kind]
                # Not a jitter: the order of the blocks, so that the figure is the same every time.
                x = place + shift + (np.linspace(-0.14, 0.14, len(dots)) if len(dots) > 1 else np.zeros(1))
                band = Rectangle((place + shift - 0.18, dots.mean() - 2 * error), 0.36, 4 * error, fc=LIGHT, ec="none", zorder=1)
                if not np.isnan(error):
                    axis.add_patch(band)
                axis.plot(x, dots, marker, color=colour, mfc=face, ms=3, mew=0.7, label=label, zorder=2)
        axis.set_xticks(range(len(n_points)), [str(M) for M in n_points])
        axis.set_xlim(-0.6, len(n_points) - 0.4)
        axis.grid(axis="x", visible=False)
    band = Rectangle((0, 0), 1, 1, fc=LIGHT, ec="none", label="two Monte Carlo errors about the mean")
    return _with_legend(figure, 3, [band])


def draw_estimators(table: pd.DataFrame) -> Figure:
    """Draw Figure 6: true variance and the means of its estimators; what is far below every variance is an arrow."""
    figure, panels = _by_design(table, "variance of the estimate, logarithmic")
    for i in range(0, len(panels), len(DESIGNS)):
        row = panels[i : i + len(DESIGNS)]
        truths = np.concatenate([panel.rows["theta"].to_numpy(dtype=float) for panel in row])
        floor = truths[truths > 0].min() / BELOW_TRUTH if (truths > 0).any() else -np.inf
        for axis, design, part in row:
            truth = part.drop_duplicates("n_points")
            _draw_line(axis, truth["n_points"], truth, "theta", Line(0, r"true variance $\theta$", width=2))
            for step, name in enumerate(FIGURE6[design], start=1):
                of = part[part["estimator"] == name]
                shown = of.assign(average=of["average"].where(~(of["average"] < floor)))
                _draw_line(axis, _aside(of["n_points"], step), shown, "average", SERIES[name])
                _mark_below(axis, of[of["average"] < floor], SERIES[name])
            _size_axis(axis, sorted(set(table["n_points"])), logarithmic=True)
        if np.isfinite(floor):
            row[0].axis.set_yscale("log")  # the row shares its axis
            highest = np.concatenate([panel.rows[["theta", "average"]].to_numpy(dtype=float).ravel() for panel in row])
            row[0].axis.set_ylim(floor, 2 * np.nanmax(highest))
    return _with_legend(figure, 3)


def _mark_below(axis: Axes, rows: pd.DataFrame, line: Line) -> None:
    """Mark means below the axis: an arrow at its foot, and the value in words."""
    for n_points, average in rows[["n_points", "average"]].itertuples(index=False):
        colour, place = style(line.look)["color"], axis.get_xaxis_transform()
        axis.plot([n_points], [0.06], marker="$\u2193$", color=colour, ms=8, transform=place)
        words = f"{average:.0e}, below 0" if average < 0 else f"{average:.0e}, below"
        look: dict[str, Any] = {"xytext": (-6, 0), "textcoords": "offset points", "ha": "right", "va": "center", "fontsize": 7}
        axis.annotate(words, (n_points, 0.06), xycoords=place, color=colour, **look)


def draw_coverage(table: pd.DataFrame, level: float = LEVEL) -> Figure:
    """Draw the coverage of the intervals that the estimators give; `level` is the nominal one."""
    figure, panels = _by_design(table, "coverage")
    for axis, design, part in panels:
        axis.axhline(level, color="#000000", lw=1.2, label=f"nominal: {level:g}")
        for step, name in enumerate(FIGURE6[design], start=-1):
            of = part[part["estimator"] == name]
            _draw_line(axis, _aside(of["n_points"], step), of, "coverage", SERIES[name], most=1)
            if name in STUDENT:
                _draw_line(axis, _aside(of["n_points"], step - 1), of, "coverage_t", STUDENT_SERIES, most=1)
        _size_axis(axis, sorted(set(table["n_points"])), logarithmic=True)
    low = min(axis.get_ylim()[0] for axis in figure.axes)
    for axis in figure.axes:
        axis.set_ylim(max(low, -0.03), 1.03)
    return _with_legend(figure, 3)


def _draw_along_axes(table: pd.DataFrame, series: dict[str, str], label: str, mark_order: bool = False) -> Figure:
    """Draw a row of panels per learner and sampling: left by number of sources, right by points."""
    rows = list(table.groupby(["learner", "sampling"], sort=False))
    figure, axes = plt.subplots(len(rows), 2, figsize=(8.6, 1.2 + 2.3 * len(rows)), sharex="col", sharey=True, squeeze=False)
    for ((learner, sampling), of_row), pair in zip(rows, axes):
        for axis, name in zip(pair, AXES):
            part = of_row[of_row["axis"] == name]
            sizes = part[f"n_{name}"].to_numpy(dtype=float)
            for index, (column, text) in enumerate(series.items()):
                step = index - (len(series) - 1) / 2
                x = sizes + 0.09 * step if name == "sources" else _aside(sizes, step)
                _draw_line(axis, x, part, column, Line(index, text))
            _size_axis(axis, sizes, logarithmic=name == "points")
            axis.margins(y=0.12)
            axis.set_title(f"{learner}, {SAMPLING[sampling]}", fontsize=9)
            if mark_order:
                _mark_order(axis, sizes, part["order_holds"].to_numpy(dtype=bool), part["order_reversed"].to_numpy(dtype=bool))
    for axis, name in zip(axes[-1], AXES):
        axis.set_xlabel(AXIS_LABELS[name])
    figure.supylabel(label, fontsize=9)
    return _with_legend(figure, 2)


def _mark_order(axis: Axes, sizes: FloatArray, holds: BoolArray, reversed_: BoolArray) -> None:
    """Mark sizes at the bottom: a ring if CVR < OSE < CVS is not shown, a cross if it is refuted."""
    for marker, face, marked, label in (
        ("o", WHITE, ~holds & ~reversed_, "CVR < OSE < CVS not shown by two errors"),
        ("X", "#000000", reversed_, "contrary to it by two errors"),
    ):
        if marked.any():
            axis.plot(
                sizes[marked], np.full(marked.sum(), 0.05), marker, color="#000000", mfc=face, ms=6,
                transform=axis.get_xaxis_transform(), label=label,
            )  # fmt: skip


def _by_design(table: pd.DataFrame, label: str) -> tuple[Figure, list[Panel]]:
    """Make a figure with a row of panels per learner and sampling, left CVS and right CVR, and list its panels."""
    rows = list(table.groupby(["learner", "sampling"], sort=False))
    figure, axes = plt.subplots(
        len(rows), len(DESIGNS), figsize=(8.6, 1.2 + 2.4 * len(rows)), sharex=True, sharey="row", squeeze=False
    )
    panels = []
    for ((learner, sampling), of_row), pair in zip(rows, axes):
        for axis, (design, text) in zip(pair, DESIGNS.items()):
            part = of_row[of_row["design"] == design]
            axis.set_title(f"{learner}, {SAMPLING[sampling]}\n{text}", fontsize=9)
            panels.append(Panel(axis, design, part))
    for axis in axes[-1]:
        axis.set_xlabel(AXIS_LABELS["points"])
    figure.supylabel(label, fontsize=9)
    return figure, panels


def _draw_line(axis: Axes, x: ArrayLike, rows: pd.DataFrame, column: str, line: Line, most: float = np.inf) -> None:
    """Draw a column with bars of two standard errors (``se_<column>``), which end at `most`, the largest value there can be."""
    values, look = rows[column], style(line.look)
    axis.plot(x, values, lw=line.width, ms=4, label=line.label, **look)
    half = 2 * rows[f"se_{column}"].fillna(0)
    bars = [half, np.minimum(half, most - values)]
    axis.errorbar(x, values, yerr=bars, fmt="none", ecolor=look["color"], elinewidth=1, capsize=2)


def _aside(sizes: ArrayLike, step: float) -> FloatArray:
    """Move sizes on a logarithmic axis, so that bars are side by side."""
    return np.asarray(sizes, dtype=float) * 1.04**step


def _size_axis(axis: Axes, sizes: TableLike, logarithmic: bool) -> None:
    """Put ticks at the sizes."""
    if logarithmic:
        axis.set_xscale("log")
    axis.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axis.minorticks_off()


def _show_signs(panels: list[Panel], columns: list[str]) -> None:
    """Make the vertical axes of a row of panels logarithmic; with values below 0, linear about 0 and logarithmic beyond."""
    for i in range(0, len(panels), len(DESIGNS)):
        row = panels[i : i + len(DESIGNS)]
        values = np.concatenate([panel.rows[columns].to_numpy(dtype=float).ravel() for panel in row])
        values = values[~np.isnan(values)]
        if not values.any():
            continue
        first = row[0].axis  # the row shares its axis
        if (values > 0).all():
            first.set_yscale("log")
            first.set_ylabel("logarithmic", fontsize=8)
            continue
        top = np.abs(values).max()
        first.set_yscale("symlog", linthresh=top / 10**DECADES)
        first.autoscale_view(scalex=False)
        low, high = first.get_ylim()
        # Powers of ten on the logarithmic part: those below it are too close to 0 for a label.
        powers = 10.0 ** np.arange(np.floor(np.log10(top)) - DECADES + 1, np.floor(np.log10(top)) + 1)
        first.set_yticks([tick for tick in (*-powers[::-1], 0, *powers) if low <= tick <= high])
        first.set_ylabel(f"linear within ±{top / 10**DECADES:.1g}", fontsize=8)
        for panel in row:
            panel.axis.minorticks_off()
            panel.axis.axhline(0, color="#000000", lw=0.8)


def _with_legend(figure: Figure, columns: int, extra: Sequence[Any] = ()) -> Figure:
    """Add one legend above all panels."""
    handles: dict[Any, Any] = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    handles |= {handle.get_label(): handle for handle in extra}
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=columns, handlelength=4)
    return figure
