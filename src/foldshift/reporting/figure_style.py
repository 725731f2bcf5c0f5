"""Style of all figures: the same bytes every time, readable in grey print and by colour-blind readers."""

from __future__ import annotations

import html
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from foldshift.core.types import FloatArray, PathLike

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the backend is chosen
import numpy as np
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator, NullLocator

from foldshift.core.files import atomic_path
from foldshift.reporting.table_grid import STYLE

FORMATS = ("svg", "pdf", "png")
# Okabe and Ito's colours, ordered so that their greys differ; line styles and markers repeat the distinction.
COLOURS = ("#000000", "#D55E00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#E69F00", "#7F7F7F")
DASHES = ((None, None), (6, 2), (2, 2), (6, 2, 1.5, 2), (1, 1.5), (9, 3), (4, 1.5, 1, 1.5, 1, 1.5), (12, 2))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

matplotlib.rcParams.update(
    {
        "svg.hashsalt": "foldshift",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
)


def style(index: int) -> dict[str, Any]:
    """Choose line colour, dashes and marker of the index-th series."""
    dashes = DASHES[index % len(DASHES)]
    return {
        "color": COLOURS[index % len(COLOURS)],
        "dashes": dashes if dashes[0] else (None, None),
        "marker": MARKERS[index % len(MARKERS)],
    }


class PlainLogLocator(Locator):
    """Place ticks at plain numbers of a logarithmic axis: as many as are readable (`most`), and at least two."""

    # Digits of a decade, from many to few.
    STEPS = ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))

    def __init__(self, most: int = 5) -> None:
        self.most = most

    def __call__(self) -> Sequence[float]:
        """Place the ticks of the range in view."""
        low, high = self.axis.get_view_interval()  # type: ignore[union-attr]  # a locator is called with an axis only
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """Place the ticks between two numbers above 0; an ndarray, which Matplotlib's own annotation lacks."""
        return self._ticks(vmin, vmax)  # type: ignore[return-value]

    def _ticks(self, vmin: float, vmax: float) -> FloatArray:
        low, high = sorted((vmin, vmax))
        if not low > 0:
            return np.empty(0)
        powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        for digits in self.STEPS:
            ticks = np.sort(np.outer(digits, powers).ravel())
            ticks = ticks[(low <= ticks) & (ticks <= high)]
            if len(ticks) <= self.most:
                break
        if len(ticks) < 2:
            ticks = np.asarray(MaxNLocator(3).tick_values(low, high))
            return ticks[(low <= ticks) & (ticks <= high)]
        return ticks[:: -(-len(ticks) // self.most)]


def log_scale(axis: Axis, most: int = 5) -> None:
    """Make an axis logarithmic with plain numbers at its ticks; left as it is where there is nothing above 0."""
    if not axis.get_data_interval()[1] > 0:
        return
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # type: ignore[attr-defined]  # missing in Matplotlib's stubs
    axis.set_major_locator(PlainLogLocator(most))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def save_figure(path: PathLike, figure: Figure, forms: Sequence[str] = FORMATS) -> None:
    """Write a figure as SVG, PDF and PNG without dates, and close it."""
    without_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {"Software": None}}
    for form in forms:
        with atomic_path(Path(path).with_suffix(f".{form}")) as temporary:
            figure.savefig(temporary, format=form, dpi=150, metadata=without_date[form])
    plt.close(figure)


def reason_figure(reason: str) -> Figure:
    """Draw the reason why there is no figure, for programs that need the file."""
    lines = textwrap.wrap(f"Left out: {reason}.", 90)
    figure, axis = plt.subplots(figsize=(7, 0.6 + 0.2 * len(lines)))
    axis.axis("off")
    axis.text(0, 0.5, "\n".join(lines), va="center")
    return figure


def to_page(svg: str, title: str, caption: str, reason: str = "") -> str:
    """Make a self-contained HTML page with one figure and its caption below."""
    shown = f'<p class="reason">Left out: {html.escape(reason)}.</p>' if reason else svg[svg.index("<svg") :].strip()
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>',
            f"<style>{STYLE}</style></head><body><figure>",
            shown,
            f"<figcaption>{html.escape(caption)}</figcaption>",
            "</figure></body></html>\n",
        ]
    )
