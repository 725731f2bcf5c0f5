"""Critical-difference diagrams for two to a dozen methods with names of any length; equal results give equal pictures."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from foldshift.inference.comparisons.ranks import CriticalDifference

WIDTH = 4.6  # of the axis of ranks; all lengths in inches
LINE = 0.16
PAD = 0.12
ABOVE = 0.85  # the axis, for the scale and the critical difference
LONGEST = 30  # characters in a line of a name


class _DiagramLayout(NamedTuple):
    """Lines of text and sizes of a diagram, in inches."""

    labels: list[list[str]]  # lines of the label of every method
    margins: list[float]  # left and right of the axis
    footer: list[str]
    rows: list[int]  # of the bars, one for every group
    bars: float  # depth that they take below the axis
    width: float
    height: float


def layout(result: CriticalDifference, footer: str) -> _DiagramLayout:
    """Lay a diagram out, with a footer below it."""
    labels = [_lines(f"{name} ({rank:.2f})") for name, rank in zip(result.names, result.average_ranks)]
    sides = _sides(len(labels))
    margins = [max(_width(line) for i in side for line in labels[i]) + 3 * PAD for side in sides]
    lines = wrap(footer, max(int((sum(margins) + WIDTH) / 0.075), 40))
    rows = _rows(result)
    bars = 0.22 + 0.11 * len(set(rows))
    depth = bars + LINE / 2 + max(sum(len(labels[i]) * LINE + 0.08 for i in side) for side in sides)
    return _DiagramLayout(labels, margins, lines, rows, bars, sum(margins) + WIDTH, ABOVE + depth + LINE * len(lines) + PAD)


def draw_diagram(axis: Axes, result: CriticalDifference, layout: _DiagramLayout) -> None:
    """Draw the average ranks, with bars that join methods not told apart; the limits of the axis become inches."""
    k = len(result.names)
    labels, margins, width = layout.labels, layout.margins, layout.width
    bottom = ABOVE - layout.height
    axis.set(xlim=(0, width), ylim=(bottom, ABOVE))
    axis.axis("off")

    def place(rank: float) -> float:
        return margins[0] + WIDTH * (rank - 1) / (k - 1)

    line: dict[str, Any] = {"color": "#000000", "solid_capstyle": "butt"}
    axis.plot([place(1), place(k)], [0, 0], lw=1.2, **line)
    for half in range(2 * k - 1):
        rank = 1 + half / 2
        axis.plot([place(rank)] * 2, [0, 0.09 if half % 2 == 0 else 0.05], lw=0.8, **line)
        if half % 2 == 0:
            axis.text(place(rank), 0.12, f"{rank:g}", ha="center", va="bottom")
    _draw_scale(axis, result, place, line)
    for side, edge, sign in zip(_sides(k), (margins[0] - PAD / 2, width - margins[1] + PAD / 2), (-1, 1)):
        y = -layout.bars - LINE / 2
        for i in side:
            x = place(result.average_ranks[i])
            tall = len(labels[i]) * LINE
            middle = y - tall / 2
            axis.plot([x, x, edge], [0, middle, middle], lw=0.8, **line)
            axis.text(edge + sign * PAD / 2, middle, "\n".join(labels[i]), ha="right" if sign < 0 else "left", va="center")
            y -= tall + 0.08
    for group, row in zip(result.groups, layout.rows):
        y = -0.16 - 0.11 * row
        members = [place(result.average_ranks[i]) for i in group]
        axis.plot([members[0], members[-1]], [y, y], lw=2.6, color="#7F7F7F", solid_capstyle="round", zorder=3)
        axis.plot(members, [y] * len(members), "o", ms=4.5, color="#000000", zorder=4)
    axis.text(PAD, bottom + PAD / 2, "\n".join(layout.footer), ha="left", va="bottom", fontsize=8, color="#333333")


def _sides(k: int) -> tuple[list[int], list[int]]:
    """Methods on the left and on the right, both from the outside in."""
    n_left = (k + 1) // 2
    return list(range(n_left)), list(range(k - 1, n_left - 1, -1))


def _lines(label: str) -> list[str]:
    """Wrap a label into lines; a dollar in a name is a dollar, not the start of a formula."""
    return [line.replace("$", r"\$") for line in wrap(label, LONGEST, break_on_hyphens=False)]


def _draw_scale(axis: Axes, result: CriticalDifference, place: Callable[[float], float], line: dict[str, Any]) -> None:
    """Draw Nemenyi's difference as a length from rank 1 on, or say in words that it is longer than the axis or missing."""
    k = len(result.names)
    if result.method == "holm":
        axis.text(place(1), 0.5, "no single critical difference (Holm)", ha="left", va="center", fontsize=8)
    elif result.difference == np.inf:
        text = f"no difference of ranks can reach {result.alpha:g} with {result.n_blocks} blocks"
        axis.text(place(1), 0.5, text, ha="left", va="center", fontsize=8)
    elif result.difference > k - 1:
        text = f"CD = {result.difference:.2f}, longer than the axis: no pair can be told apart"
        axis.text(place(1), 0.5, text, ha="left", va="center", fontsize=8)
    else:
        start, end = place(1), place(1 + result.difference)
        axis.plot([start, end], [0.42, 0.42], lw=1.2, **line)
        for x in (start, end):
            axis.plot([x, x], [0.37, 0.47], lw=1.2, **line)
        axis.text(start, 0.52, f"CD = {result.difference:.2f}", ha="left", va="bottom", fontsize=8)


def _rows(result: CriticalDifference) -> list[int]:
    """Row of every bar: the first one where it meets no other bar."""
    ends: list[float] = []
    rows = []
    for group in result.groups:
        start, end = result.average_ranks[group[0]], result.average_ranks[group[-1]]
        gap = 0.04 * (len(result.names) - 1)
        row = next((i for i, taken in enumerate(ends) if start > taken + gap), len(ends))
        ends[row : row + 1] = [end]
        rows.append(row)
    return rows


def _width(text: str) -> float:
    """Width of a label in inches, by the outlines of its letters, which depend on no backend."""
    return TextPath((0, 0), text, size=9, prop=FontProperties(family="DejaVu Sans")).get_extents().width / 72
