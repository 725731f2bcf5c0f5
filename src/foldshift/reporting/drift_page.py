"""One page on the drift between two tables, or on the features that a cut into folds shifts; readable in grey print."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from foldshift.reporting.figure_style import COLOURS, plt
from foldshift.reporting.number_formats import p_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from foldshift.shift.columns import Column
    from foldshift.shift.report.drift_report import DriftReport
    from foldshift.shift.report.fold_drift import FoldDrift

WIDTH = 8.3  # all lengths in inches
MARGIN = 0.3
LINE = 0.16
ROW = 0.2
NAMES = 2.2  # room for the names of the features
LONGEST = 26  # characters of a name in the usual size
SMALL_LINE = 40  # in a small line
PANEL = 1.95
MOST = 40  # features drawn
TOP = 3
MOST_CATEGORIES = 6
TEXT = 120  # characters in a line of text
DARK, LIGHT, SECOND = COLOURS[0], "#7F7F7F", COLOURS[1]
MARKERS = {True: {"marker": "s", "ms": 5, "color": DARK}, False: {"marker": "o", "ms": 4.5, "color": LIGHT, "mfc": "white"}}


def draw_drift(report: DriftReport) -> Figure:
    """Draw one page of a drift report: verdict, effects of the features, three features in detail, tests of whole tables."""
    rows = sorted(
        (row for row in report.features if not np.isnan(row.effect)), key=lambda row: (-row.effect, not row.moved, row.name)
    )
    shown, hidden = _split(rows, [row.moved for row in rows])
    panels = sorted((row for row in rows if row.kind != "missing"), key=lambda row: (not row.moved, -row.effect, row.name))[:TOP]
    n_features = len(report.columns)
    title = (
        f"{report.n_train} training rows against {report.n_test} test rows, {n_features} feature{'s' * (n_features != 1)}; "
        f"level {report.alpha:g}"
    )
    foot = [
        f"{row.name}: p {p_value(row.p_adjusted)} (corrected){', moved' if row.moved else ''}; {row.change}"
        for row in report.global_tests
    ]
    figure, top = _page(title, report.verdict, foot, max(ROW * len(shown) + (0.95 if hidden else 0.8), PANEL * len(panels)))
    if shown:
        axis = _axes(figure, (MARGIN + NAMES, top + 0.2, 2.6, ROW * len(shown)))
        _dots(axis, [row.name for row in shown], [row.effect for row in shown], [row.moved for row in shown])
        axis.set_xlabel(
            "largest difference in probability" + (f"\n{_rest(hidden, [row.moved for row in hidden])}" if hidden else "")
        )
        _key(axis, ("moved", "not moved"))
    columns = {column.name: column for column in report.columns}
    for number, row in enumerate(panels):
        axis = _axes(figure, (MARGIN + NAMES + 3.2, top + 0.2 + PANEL * number, 2.25, 1.2))
        _draw_column(axis, columns[row.name])
    return figure


def draw_fold_drift(drift: FoldDrift) -> Figure:
    """Draw one page of the drift of folds: distances of the parts, shares of failed tests, and the same of random cuts."""
    order = sorted(
        range(len(drift.features)),
        key=lambda j: (drift.features[j].distance_chance - drift.features[j].distance, drift.features[j].name),
    )
    rows = [drift.features[j] for j in order]
    shown, hidden = _split(rows, [row.verdict != "as chance" for row in rows])
    n_seeds, n_folds, _ = drift.p_values.shape
    title = f"{n_folds} folds, {n_seeds} seed{'s' * (n_seeds != 1)}: training part against test part; level {drift.alpha:g}"
    figure, top = _page(title, drift.verdict, _pairs(drift), ROW * len(shown) + (0.95 if hidden else 0.8))
    names = [row.name for row in shown]
    marks = [row.verdict for row in shown]
    axis = _axes(figure, (MARGIN + NAMES, top + 0.2, 2.7, ROW * len(shown)))
    _dots(axis, names, [row.distance for row in shown], marks, [row.distance_chance for row in shown])
    axis.set_xlabel("mean distance" + (f"\n{_rest(hidden, [row.verdict != 'as chance' for row in hidden])}" if hidden else ""))
    _key(axis, ("more than chance", "as chance", "less than chance", "random cuts"))
    axis = _axes(figure, (MARGIN + NAMES + 2.95, top + 0.2, 2.5, ROW * len(shown)))
    _dots(axis, [""] * len(shown), [row.failing for row in shown], marks, [row.failing_chance for row in shown])
    axis.set_xlabel(f"share of folds that fail a test at {drift.alpha:g}")
    return figure


def _split(rows: list[Any], marked: list[bool]) -> tuple[list[Any], list[Any]]:
    """Split rows into those drawn, marked ones first, and the rest; both parts keep the order given."""
    drawn = set(sorted(range(len(rows)), key=lambda i: (not marked[i], i))[:MOST])
    return [row for i, row in enumerate(rows) if i in drawn], [row for i, row in enumerate(rows) if i not in drawn]


def _page(title: str, verdict: str, foot: list[str], body: float) -> tuple[Figure, float]:
    """Make a figure with its text, and return the distance of the body from the upper edge."""
    head = wrap(verdict, TEXT)
    foot = [line for text in foot for line in wrap(text, TEXT + 12, subsequent_indent="    ")]
    top = MARGIN + LINE * (len(head) + 2.6)
    figure = plt.figure(figsize=(WIDTH, top + body + LINE * (len(foot) + 1) + MARGIN), layout="none")
    _write(figure, MARGIN, [title], weight="bold")
    _write(figure, MARGIN + 1.5 * LINE, head)
    _write(figure, top + body + LINE, foot, size=8)
    return figure, top


def _write(figure: Figure, top: float, lines: list[str], size: int = 9, weight: str = "normal") -> None:
    height = figure.get_size_inches()[1]
    for number, line in enumerate(lines):
        y = 1 - (top + number * LINE) / height
        figure.text(MARGIN / WIDTH, y, _plain(line), ha="left", va="top", fontsize=size, weight=weight)


def _axes(figure: Figure, place: tuple[float, float, float, float]) -> Axes:
    """Add axes at left, top, width and height in inches."""
    left, top, width, tall = place
    height = figure.get_size_inches()[1]
    return figure.add_axes((left / WIDTH, 1 - (top + tall) / height, width / WIDTH, tall / height))


def _dots(axis: Axes, names: list[str], values: list[float], marks: list[Any], chance: list[float] | None = None) -> None:
    """Draw one line per feature, the first on top; `marks` are True and False, or the verdicts of folds."""
    for i, (value, mark) in enumerate(zip(values, marks)):
        axis.plot([0, value], [i, i], color="#BBBBBB", lw=1, zorder=1)
        if chance is not None:
            axis.plot([chance[i]] * 2, [i - 0.32, i + 0.32], color=DARK, lw=1.4, zorder=2)
        axis.plot([value], [i], ls="none", zorder=3, clip_on=False, **_marker(mark))
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_yticks(range(len(names)), [""] * len(names))
    for i, name in enumerate(names if any(names) else []):
        _name(axis, name, -0.02, i)
    axis.set_xlim(0, max(1.06 * max([*values, *(chance if chance is not None else [])]), 0.05))
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="y", visible=False)


def _marker(mark: bool | str) -> dict[str, Any]:
    if mark == "less":
        return {"marker": "v", "ms": 5.5, "color": DARK}
    return MARKERS[mark is True or mark == "more"]


def _key(axis: Axes, labels: tuple[str, ...]) -> None:
    marks = {
        "moved": MARKERS[True],
        "not moved": MARKERS[False],
        "more than chance": MARKERS[True],
        "as chance": MARKERS[False],
        "less than chance": _marker("less"),
        "random cuts": {"marker": "|", "ms": 8, "mew": 1.4, "color": DARK},
    }
    handles = [Line2D([], [], ls="none", label=label, **marks[label]) for label in labels]
    axis.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(labels), fontsize=8, borderaxespad=0.2,
        handletextpad=0.1, columnspacing=1,
    )  # fmt: skip


def _rest(hidden: list[Any], marks: list[bool]) -> str:
    return f"and {len(hidden)} more, {sum(marks)} of them marked"


def _draw_column(axis: Axes, column: Column) -> None:
    """Draw the distribution functions of a numeric column, or the shares of the categories of a nominal one."""
    lines = _lines(column.name)
    axis.set_title(
        _plain("\n".join(lines)), fontsize=9 if len(lines) == 1 and len(lines[0]) <= LONGEST else 6.5, loc="left", pad=4
    )
    if column.kind == "numeric":
        for values, label, colour, dashes, width in (
            (column.train, "training", DARK, "-", 1.4),
            (column.test, "test", SECOND, "--", 1.8),
        ):
            values = np.sort(values[~np.isnan(values)])
            share = np.arange(len(values) + 1) / len(values)
            axis.plot(np.r_[values[0], values], share, drawstyle="steps-post", label=label, color=colour, ls=dashes, lw=width)
        axis.set_ylim(0, 1.02)
        axis.legend(loc="lower right", fontsize=7, handlelength=2.2, borderaxespad=0.1)
        axis.set_ylabel("share below", fontsize=8)
    else:
        shares = np.array(
            [np.bincount(part, minlength=len(column.categories)) / len(part) for part in (column.train, column.test)]
        )
        chosen = np.sort(np.argsort(-np.abs(shares[1] - shares[0]), kind="stable")[:MOST_CATEGORIES])
        at = np.arange(len(chosen))
        axis.bar(at - 0.2, shares[0, chosen], 0.38, color=DARK, label="training")
        axis.bar(at + 0.2, shares[1, chosen], 0.38, color="white", edgecolor=SECOND, hatch="////", label="test")
        axis.set_xticks(at)
        axis.set_xticklabels([_plain(_short(str(column.categories[c]), 8)) for c in chosen])
        axis.set_ylim(0, 1.35 * max(shares[:, chosen].max(), 0.01))
        axis.legend(loc="upper right", fontsize=7, ncols=2, borderaxespad=0.1)
        axis.set_ylabel("share", fontsize=8)
        axis.grid(axis="x", visible=False)
        n_left = len(column.categories) - len(chosen)
        if n_left:
            axis.set_xlabel(f"the {len(chosen)} that changed most, of {len(column.categories)}", fontsize=7)
    axis.tick_params(labelsize=7)


def _pairs(drift: FoldDrift) -> list[Any]:
    """The features that fail together most, in words."""
    names = [row.name for row in drift.features]
    pairs = [
        (drift.phi[i, j], drift.jaccard[i, j], names[i], names[j])
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if drift.phi[i, j] > 0.3 and "more" in (drift.features[i].verdict, drift.features[j].verdict)
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[2:]))
    if not pairs:
        return []
    return ["Fail together: " + "; ".join(f"{a} and {b} (phi {phi:.2f}, Jaccard {share:.2f})" for phi, share, a, b in pairs[:5])]


def _name(axis: Axes, name: str, x: float, y: int) -> None:
    """Write a name to the left of an axis: small, and in two lines, where it is long."""
    lines = _lines(name)
    small = len(lines) > 1 or len(lines[0]) > LONGEST
    axis.text(
        x, y, _plain("\n".join(lines)), transform=axis.get_yaxis_transform(), ha="right", va="center",
        fontsize=6.2 if small else 8, linespacing=0.95,
    )  # fmt: skip


def _lines(name: str) -> list[str]:
    """Wrap a name into at most two lines; a longer one loses its middle, since names mostly differ at their ends."""
    if len(name) > 2 * SMALL_LINE:
        name = name[: SMALL_LINE - 2] + "… " + name[-SMALL_LINE:].strip()
    lines = wrap(name, SMALL_LINE, break_on_hyphens=False)
    return lines if len(lines) <= 2 else [name[:SMALL_LINE], name[SMALL_LINE:]]


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _plain(text: str) -> str:
    """Escape dollars, which would start a formula."""
    return text.replace("$", r"\$")
