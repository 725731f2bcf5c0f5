"""Dots beside names: the picture of the drift reports that can be drawn into given axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dots(
    ax: Axes | None, names: list[str], values: list[float], marks: list[bool], label: str, chance: list[float] | None = None
) -> Axes:
    """Draw one dot per name, the first on top, filled where it is marked; a short vertical line shows the value by chance."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6, 1 + 0.24 * len(names)), layout="constrained")[1]
    for i, (value, mark) in enumerate(zip(values, marks)):
        ax.plot([0, value], [i, i], color="#BBBBBB", lw=1, zorder=1)
        style: dict[str, Any] = {"marker": "o", "color": "#7F7F7F", "markerfacecolor": "white"}
        ax.plot([value], [i], ls="none", zorder=3, clip_on=False, **({"marker": "s", "color": "black"} if mark else style))
        if chance is not None:
            ax.plot([chance[i]] * 2, [i - 0.32, i + 0.32], color="black", lw=1.4, zorder=2)
    ax.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel(label)
    return ax
