"""Pictures of the page as SVG, in the colours of the page, light or dark; shapes carry the same information as colours.

Each is drawn twice, for a wide page and for a narrow one; the page shows the one that fits.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.repr import figures

if TYPE_CHECKING:
    from foldshift.advice.result import Advice
    from foldshift.advice.split_shift import SplitShift
    from foldshift.inference.repetitions.recommend import Repetitions
    from foldshift.shift.report.fold_drift import FoldFeature

    Scale = Callable[[float], float]  # a value to its place in the picture

WIDE, NARROW = 720, 350
SHORT = {"rows": "rows of one repetition", "fold means": "fold means", "corrected t": "fold means, corrected"}


def _number(value: float) -> str:
    return figures(value, 3)


def _ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values between two ends."""
    span = high - low
    if not np.isfinite(span) or span <= 0:
        return [low]
    step = 10.0 ** np.floor(np.log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    return (np.ceil(low / step) * step + step * np.arange(int(np.floor(high / step + 1e-9) - np.ceil(low / step)) + 1)).tolist()


def _svg(width: int, height: int, label: str, body: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label, quote=True)}" '
        f'class="{"wide" if width == WIDE else "narrow"}" xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f"{''.join(body)}</svg>"
    )


def _both(draw: Callable[[int], str]) -> str:
    """Draw a picture for a wide page and one for a narrow one."""
    return draw(WIDE) + draw(NARROW)


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{f" class={kind!r}" if kind else ""}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _dot(x: float, y: float, kind: str, r: int = 5) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" class="{kind}"/>'


def _scale(low: float, high: float, left: int, right: int) -> Scale:
    span = (high - low) or 1.0
    return lambda value: left + (value - low) / span * (right - left)


class _Rows:
    """Marks in rows over one axis: the name of a row is before them on a wide page, above them on a narrow one."""

    def __init__(self, n_rows: int, width: int, names: int, end: int = 30) -> None:
        self.wide, self.width = width == WIDE, width
        self.left, self.right = (names, width - end) if self.wide else (16, width - 20)
        self.step = 30 if self.wide else 46
        self.bottom = 12 + self.step * n_rows

    def y(self, row: int) -> int:
        return 12 + self.step * row + (12 if self.wide else 34)

    def name(self, row: int, text: str) -> str:
        if self.wide:
            return _text(self.left - 12, self.y(row) + 5, text, "end")
        return _text(self.left - 8, self.y(row) - 14, text)

    def remark(self, row: int, text: str) -> str:
        """Write a word at the end of a row."""
        if self.wide:
            return _text(self.right + 10, self.y(row) + 5, text, "start", "soft")
        return _text(self.right + 8, self.y(row) - 14, text, "end", "soft")

    def axis(self, scale: Scale, low: float, high: float, text: Callable[[float], str] = _number) -> list[str]:
        body = []
        for tick in _ticks(low, high, 6 if self.wide else 4):
            body.append(_line(scale(tick), 6, scale(tick), self.bottom, "grid"))
            body.append(_text(scale(tick), self.bottom + 17, text(tick), "middle", "soft"))
        return body

    def scale(self, low: float, high: float) -> Scale:
        return _scale(low, high, self.left, self.right)

    def svg(self, label: str, body: list[str]) -> str:
        return _svg(self.width, self.bottom + 28, label, body)


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def interval_chart(advice: Advice) -> str:
    """Draw the intervals below each other, and the baseline."""
    return _both(lambda width: _intervals(advice, width))


def _intervals(advice: Advice, width: int) -> str:
    score, intervals = advice.score, advice.intervals
    base = advice.baseline
    ends = [value for one in intervals for value in (one.low, one.high, one.estimate) if np.isfinite(value)]
    near = [] if base is None else [base]
    low, high = min(ends + near), max(ends + near)
    room = 0.06 * (high - low or abs(high) or 1)
    low, high = low - room, high + room
    rows = _Rows(len(intervals) + (base is not None), width, 260)
    scale = rows.scale(low, high)
    body = rows.axis(scale, low, high, lambda tick: score.text(tick).replace(".0 %", " %"))
    for row, one in enumerate(intervals):
        y = rows.y(row)
        body.append(rows.name(row, ("print this: " if one.use else "not: ") + SHORT[one.name]))
        if np.isfinite(one.low):
            body.append(_line(scale(one.low), y, scale(one.high), y, "main" if one.use else "bar"))
        body.append(_dot(scale(one.estimate), y, "maindot" if one.use else "dot"))
    if base is not None:
        body += [rows.name(len(intervals), "baseline"), _dot(scale(base), rows.y(len(intervals)), "open", 6)]
    return rows.svg(f"Intervals of the {score.name}", body)


def cuts_chart(advice: Advice, chosen: str) -> str:
    """Draw the distances of target and inputs by way of cutting."""
    return _both(lambda width: _cuts(advice, chosen, width))


def _cuts(advice: Advice, chosen: str, width: int) -> str:
    cuts = advice.cuts
    high = 1.08 * max(max(one.target, one.inputs) for one in cuts) or 1.0
    rows = _Rows(len(cuts), width, 170)
    scale = rows.scale(0, high)
    body = rows.axis(scale, 0, high)
    for row, one in enumerate(cuts):
        y = rows.y(row)
        body.append(rows.name(row, one.cut + (" ◂" if one.cut == chosen else "")))
        body.append(_line(scale(one.target), y, scale(one.inputs), y, "axis"))
        body += [_dot(scale(one.inputs), y, "open", 6), _dot(scale(one.target), y, "maindot" if one.cut == chosen else "dot")]
    return rows.svg("Distance between training and test part by way of cutting", body)


def split_chart(split: SplitShift, most: int = 12) -> str:
    """Draw the columns of the split that are furthest from random cuts; empty without columns."""
    if split.drift is None:
        return ""
    shown = sorted(split.drift.features, key=lambda row: (row.p_adjusted, -abs(row.distance - row.distance_chance)))[:most]
    return _both(lambda width: _columns(shown, width))


def _columns(shown: list[FoldFeature], width: int) -> str:
    high = 1.08 * max(max(row.distance, row.distance_chance) for row in shown) or 1.0
    rows = _Rows(len(shown), width, 220, 150)
    scale = rows.scale(0, high)
    body = rows.axis(scale, 0, high)
    words = {"more": "more than chance", "less": "less than chance", "as chance": "as chance"}
    for row, one in enumerate(shown):
        y = rows.y(row)
        body.append(rows.name(row, _short(one.name) if one.kind != "target" else "the target"))
        body.append(_line(scale(one.distance_chance), y - 8, scale(one.distance_chance), y + 8, "bar"))
        body.append(_dot(scale(one.distance), y, "maindot" if one.verdict == "more" else "dot"))
        body.append(rows.remark(row, words[one.verdict]))
    return rows.svg("Distance between training and test part by column", body)


def curve_chart(found: Repetitions) -> str:
    """Draw the standard error of the mean of r repetitions against r."""
    return _both(lambda width: _curve(found, width))


def _curve(found: Repetitions, width: int) -> str:
    most = int(max(20, 2 * (found.repetitions or 10)))
    r = np.arange(1, most + 1)
    rho = found.rho if np.isfinite(found.rho) else 1.0
    share = np.sqrt(rho + (1 - rho) / r)
    left, right, top, bottom = 60 if width == WIDE else 44, width - 30, 12, 230
    low = max(0.0, np.sqrt(rho) - 0.1)
    across, up = _scale(1, most, left, right), _scale(low, 1.02, bottom, top)
    body = []
    for tick in _ticks(low, 1.0, 5):
        body += [_line(left, up(tick), right, up(tick), "grid"), _text(left - 8, up(tick) + 5, f"{tick:.2g}", "end", "soft")]
    for tick in [1, *(int(tick) for tick in _ticks(1, most, 6 if width == WIDE else 4) if tick >= 2 and tick == int(tick))]:
        body.append(_text(across(tick), bottom + 18, str(tick), "middle", "soft"))
    body.append(_text((left + right) / 2, bottom + 38, "repetitions", "middle", "soft"))
    body.append(_line(left, up(np.sqrt(rho)), right, up(np.sqrt(rho)), "axis dash"))
    points = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in zip(r.tolist(), share.tolist()))
    body.append(f'<polyline points="{points}" class="line"/>')
    if found.repetitions is not None and found.repetitions <= most:
        x = across(found.repetitions)
        body.append(_dot(x, up(share[found.repetitions - 1]), "maindot", 6))
        body.append(
            _text(
                x + 8, up(share[found.repetitions - 1]) - 10, f"enough: {found.repetitions}", "start" if x < right - 90 else "end"
            )
        )
    return _svg(width, bottom + 46, "Standard error against repetitions", body)
