"""Figures that are the same bytes every time, readable in grey print and by the colour-blind."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the backend is chosen

from foldshift.files import atomic_path

FORMATS = ("svg", "pdf", "png")
# Okabe and Ito's colours, ordered so that their greys differ; line styles and markers say the same again.
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


def style(index):
    """Line colour, dashes and marker of the index-th series."""
    dashes = DASHES[index % len(DASHES)]
    return {
        "color": COLOURS[index % len(COLOURS)],
        "dashes": dashes if dashes[0] else (None, None),
        "marker": MARKERS[index % len(MARKERS)],
    }


def save_figure(path, figure):
    """Write a figure as SVG, PDF and PNG without dates, and close it.

    Parameters
    ----------
    path : path-like
        Path of one of the three; the others stand beside it.
    figure : matplotlib.figure.Figure
    """
    without_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {"Software": None}}
    for form in FORMATS:
        with atomic_path(Path(path).with_suffix(f".{form}")) as temporary:
            figure.savefig(temporary, format=form, dpi=150, metadata=without_date[form])
    plt.close(figure)
