"""Items that need no rows: worked examples, a sketch of the shifts (Figures 2 to 5), the distance of two samples (Figure 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from foldshift.reporting.figure_style import plt, style
from foldshift.reporting.items import TableResult
from foldshift.studies.cieslak_2009.shift_test_examples import KS_A, KS_B, examples_grid, examples_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs

# Two classes of a hypothetical feature, for Figures 2 to 5: shares, means, standard deviations.
NEGATIVE, POSITIVE = (0.65, 0.0, 1.0), (0.35, 2.5, 0.8)
CUT = 0.25  # share of the largest values that Figure 3 removes
MOVE = 1.0  # standard deviations by which Figure 4 moves the feature


def examples(inputs: Inputs, settings: dict[str, Any]) -> dict[str, Any]:
    """Make Table 5 and the other worked examples, Figures 2 to 5 and Figure 12; `inputs` and `settings` are not used."""
    table = examples_table()
    return {
        "table5_examples": TableResult(table, examples_grid(table)),
        "figures2_to_5_shifts (figure)": draw_shifts(),
        "figure12_ks_example (figure)": draw_ks_example(),
    }


def draw_shifts() -> Figure:
    """Draw Figures 2 to 5: a feature of two classes at first, with its largest values removed, moved, with shares exchanged."""
    x = np.linspace(-4, 7, 600)
    before = [share * norm.pdf(x, mean, sd) for share, mean, sd in (NEGATIVE, POSITIVE)]
    cut = _quantile(1 - CUT)
    (w0, m0, s0), (w1, m1, s1) = NEGATIVE, POSITIVE
    spread = np.sqrt(w0 * s0**2 + w1 * s1**2 + w0 * w1 * (m1 - m0) ** 2)
    rows = {
        "Figure 2: at first": before,
        f"Figure 3: the largest {CUT:.0%} removed": [np.where(x > cut, np.nan, part / (1 - CUT)) for part in before],
        f"Figure 4: moved by {100 * MOVE:.0f} % of a standard deviation (CS{100 * MOVE:.0f})": [
            share * norm.pdf(x - MOVE * spread, mean, sd) for share, mean, sd in (NEGATIVE, POSITIVE)
        ],
        "Figure 5: shares of the classes exchanged": [
            share * norm.pdf(x, mean, sd) for share, (_, mean, sd) in zip((w1, w0), (NEGATIVE, POSITIVE))
        ],
    }
    figure, axes = plt.subplots(len(rows), 2, figsize=(8.6, 7.6), sharex=True, sharey=True)
    for (title, (negative, positive)), (left, right) in zip(rows.items(), axes):
        left.plot(x, negative, color="#000000", lw=1.4, label="negative class")
        left.plot(x, positive, color="#D55E00", lw=1.4, dashes=(6, 2), label="positive class")
        right.plot(x, sum(before), color="#8C8C8C", lw=1, dashes=(1, 1.5), label="both, before the shift")
        right.plot(x, negative + positive, color="#0072B2", lw=1.8, label="both")
        if np.isnan(positive).any():
            for axis in (left, right):
                axis.axvline(cut, color="#000000", lw=0.8, dashes=(1, 1.5))
        left.set_title(title, fontsize=9, loc="left")
    for axis in axes[-1]:
        axis.set_xlabel("value of the feature")
        axis.set_ylim(bottom=0)
    figure.supylabel("density", fontsize=9)
    handles = [handle for axis in axes[0] for handle in axis.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def draw_ks_example() -> Figure:
    """Draw Figure 12: distribution functions of the samples A and B, and the largest distance between them."""
    figure, axis = plt.subplots(figsize=(6, 3.8))
    values = np.sort(np.unique(KS_A + KS_B))
    a, b = (np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (KS_A, KS_B))
    ends = values[0] - 0.5, values[-1] + 0.5
    for i, (name, heights) in enumerate((("A", a), ("B", b))):
        look = style(i)
        x, y = np.concatenate([[ends[0]], values, [ends[1]]]), np.concatenate([[0], heights, [1]])
        axis.step(x, y, where="post", color=look["color"], dashes=look["dashes"], lw=1.5, label=f"{name}, {len(KS_A)} values")
    gaps = np.round(np.abs(a - b), 12)
    widest = int(np.flatnonzero(gaps == gaps.max())[-1])  # the distance is reached more than once
    low, high = sorted((a[widest], b[widest]))
    arrow = {"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0, "lw": 1.4}
    axis.annotate("", (values[widest], low), (values[widest], high), arrowprops=arrow)
    axis.text(values[widest] - 0.55, high - 0.05, f"D = {high - low:g}", ha="right", va="center")
    axis.set_xlabel("x")
    axis.set_ylabel("share of the values up to x")
    axis.set_xlim(*ends)
    axis.set_ylim(0, 1.02)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _quantile(share: float) -> float:
    """Quantile of both classes together, by bisection."""
    low, high = -10.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        below = sum(weight * norm.cdf(middle, mean, sd) for weight, mean, sd in (NEGATIVE, POSITIVE))
        low, high = (middle, high) if below < share else (low, middle)
    return low
