"""Pictures of a page as SVG, in the colours of the page, light or dark; shapes carry the same information as colours.

Each is drawn twice, for a wide page and for a narrow one; the page shows the one that fits.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np

from foldshift.core.repr import figures

Scale = Callable[[float], float]  # a value to its place in the picture
WIDE, NARROW = 720, 350


def number(value: float) -> str:
    """Write a number with three digits."""
    return figures(value, 3)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values between two ends."""
    span = high - low
    if not np.isfinite(span) or span <= 0:
        return [low]
    step = 10.0 ** np.floor(np.log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    return (np.ceil(low / step) * step + step * np.arange(int(np.floor(high / step + 1e-9) - np.ceil(low / step)) + 1)).tolist()


def svg(width: int, height: int, label: str, body: list[str]) -> str:
    """Make a picture of its elements."""
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label, quote=True)}" '
        f'class="{"wide" if width == WIDE else "narrow"}" xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f"{''.join(body)}</svg>"
    )


def both(draw: Callable[[int], str]) -> str:
    """Draw a picture for a wide page and one for a narrow one."""
    return draw(WIDE) + draw(NARROW)


def text_at(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    """Write a text at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{f" class={kind!r}" if kind else ""}>{escape(text)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Draw a line between two points."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def dot(x: float, y: float, kind: str, r: int = 5) -> str:
    """Draw a dot."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" class="{kind}"/>'


def scale_of(low: float, high: float, left: int, right: int) -> Scale:
    """Make the scale that takes the values between two ends to places between two others."""
    span = (high - low) or 1.0
    return lambda value: left + (value - low) / span * (right - left)


class Rows:
    """Marks in rows over one axis: the name of a row is before them on a wide page, above them on a narrow one."""

    def __init__(self, n_rows: int, width: int, names: int, end: int = 30) -> None:
        self.wide, self.width = width == WIDE, width
        self.left, self.right = (names, width - end) if self.wide else (16, width - 20)
        self.step = 30 if self.wide else 46
        self.bottom = 12 + self.step * n_rows

    def y(self, row: int) -> int:
        """Return the height of a row."""
        return 12 + self.step * row + (12 if self.wide else 34)

    def name(self, row: int, text: str) -> str:
        """Write the name of a row."""
        if self.wide:
            return text_at(self.left - 12, self.y(row) + 5, text, "end")
        return text_at(self.left - 8, self.y(row) - 14, text)

    def remark(self, row: int, text: str) -> str:
        """Write a word at the end of a row."""
        if self.wide:
            return text_at(self.right + 10, self.y(row) + 5, text, "start", "soft")
        return text_at(self.right + 8, self.y(row) - 14, text, "end", "soft")

    def axis(self, scale: Scale, low: float, high: float, text: Callable[[float], str] = number) -> list[str]:
        """Draw the axis with its marks."""
        body = []
        for tick in ticks(low, high, 6 if self.wide else 4):
            body.append(line(scale(tick), 6, scale(tick), self.bottom, "grid"))
            body.append(text_at(scale(tick), self.bottom + 17, text(tick), "middle", "soft"))
        return body

    def scale(self, low: float, high: float) -> Scale:
        """Make the scale of the axis."""
        return scale_of(low, high, self.left, self.right)

    def svg(self, label: str, body: list[str]) -> str:
        """Make the picture of the rows."""
        return svg(self.width, self.bottom + 28, label, body)
