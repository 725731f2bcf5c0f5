"""Pictures of the page of advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.page.svg_chart import WIDE, Rows, both, dot, line, scale_of, svg, text_at, ticks

if TYPE_CHECKING:
    from foldshift.advice.result import Advice
    from foldshift.advice.split_shift import SplitShift
    from foldshift.inference.repetitions.recommend import Repetitions
    from foldshift.shift.report.fold_drift import FoldFeature

SHORT = {
    "naive": "the naive cut",
    "rows": "rows of one repetition",
    "fold means": "fold means",
    "corrected t": "fold means, corrected",
}


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def interval_chart(advice: Advice) -> str:
    """Draw the intervals below each other, and the baseline."""
    return both(lambda width: _intervals(advice, width))


def _intervals(advice: Advice, width: int) -> str:
    score, intervals = advice.score, advice.intervals
    if advice.both is not None:
        intervals = (*intervals, advice.both.naive._replace(name="naive", use=False))
    base = advice.baseline
    ends = [value for one in intervals for value in (one.low, one.high, one.estimate) if np.isfinite(value)]
    near = [] if base is None else [base]
    low, high = min(ends + near), max(ends + near)
    room = 0.06 * (high - low or abs(high) or 1)
    low, high = low - room, high + room
    rows = Rows(len(intervals) + (base is not None), width, 260)
    scale = rows.scale(low, high)
    body = rows.axis(scale, low, high, lambda tick: score.text(tick).replace(".0 %", " %"))
    for row, one in enumerate(intervals):
        y = rows.y(row)
        body.append(rows.name(row, ("print this: " if one.use else "not: ") + SHORT[one.name]))
        if np.isfinite(one.low):
            body.append(line(scale(one.low), y, scale(one.high), y, "main" if one.use else "bar"))
        body.append(dot(scale(one.estimate), y, "maindot" if one.use else "dot"))
    if base is not None:
        body += [rows.name(len(intervals), "baseline"), dot(scale(base), rows.y(len(intervals)), "open", 6)]
    return rows.svg(f"Intervals of the {score.name}", body)


def cuts_chart(advice: Advice, chosen: str) -> str:
    """Draw the distances of target and inputs by way of cutting."""
    return both(lambda width: _cuts(advice, chosen, width))


def _cuts(advice: Advice, chosen: str, width: int) -> str:
    cuts = advice.cuts
    high = 1.08 * max(max(one.target, one.inputs) for one in cuts) or 1.0
    rows = Rows(len(cuts), width, 170)
    scale = rows.scale(0, high)
    body = rows.axis(scale, 0, high)
    for row, one in enumerate(cuts):
        y = rows.y(row)
        body.append(rows.name(row, one.cut + (" ◂" if one.cut == chosen else "")))
        body.append(line(scale(one.target), y, scale(one.inputs), y, "axis"))
        body += [dot(scale(one.inputs), y, "open", 6), dot(scale(one.target), y, "maindot" if one.cut == chosen else "dot")]
    return rows.svg("Distance between training and test part by way of cutting", body)


def split_chart(split: SplitShift, most: int = 12) -> str:
    """Draw the columns of the split that are furthest from random cuts; empty without columns."""
    if split.drift is None:
        return ""
    shown = sorted(split.drift.features, key=lambda row: (row.p_adjusted, -abs(row.distance - row.distance_chance)))[:most]
    return both(lambda width: _columns(shown, width))


def _columns(shown: list[FoldFeature], width: int) -> str:
    high = 1.08 * max(max(row.distance, row.distance_chance) for row in shown) or 1.0
    rows = Rows(len(shown), width, 220, 150)
    scale = rows.scale(0, high)
    body = rows.axis(scale, 0, high)
    words = {"more": "more than chance", "less": "less than chance", "as chance": "as chance"}
    for row, one in enumerate(shown):
        y = rows.y(row)
        body.append(rows.name(row, _short(one.name) if one.kind != "target" else "the target"))
        body.append(line(scale(one.distance_chance), y - 8, scale(one.distance_chance), y + 8, "bar"))
        body.append(dot(scale(one.distance), y, "maindot" if one.verdict == "more" else "dot"))
        body.append(rows.remark(row, words[one.verdict]))
    return rows.svg("Distance between training and test part by column", body)


def curve_chart(found: Repetitions) -> str:
    """Draw the standard error of the mean of r repetitions against r."""
    return both(lambda width: _curve(found, width))


def _curve(found: Repetitions, width: int) -> str:
    most = int(max(20, 2 * (found.repetitions or 10)))
    r = np.arange(1, most + 1)
    rho = found.rho if np.isfinite(found.rho) else 1.0
    share = np.sqrt(rho + (1 - rho) / r)
    left, right, top, bottom = 60 if width == WIDE else 44, width - 30, 12, 230
    low = max(0.0, np.sqrt(rho) - 0.1)
    across, up = scale_of(1, most, left, right), scale_of(low, 1.02, bottom, top)
    body = []
    for tick in ticks(low, 1.0, 5):
        body += [line(left, up(tick), right, up(tick), "grid"), text_at(left - 8, up(tick) + 5, f"{tick:.2g}", "end", "soft")]
    for tick in [1, *(int(tick) for tick in ticks(1, most, 6 if width == WIDE else 4) if tick >= 2 and tick == int(tick))]:
        body.append(text_at(across(tick), bottom + 18, str(tick), "middle", "soft"))
    body.append(text_at((left + right) / 2, bottom + 38, "repetitions", "middle", "soft"))
    body.append(line(left, up(np.sqrt(rho)), right, up(np.sqrt(rho)), "axis dash"))
    points = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in zip(r.tolist(), share.tolist()))
    body.append(f'<polyline points="{points}" class="line"/>')
    if found.repetitions is not None and found.repetitions <= most:
        x = across(found.repetitions)
        body.append(dot(x, up(share[found.repetitions - 1]), "maindot", 6))
        body.append(
            text_at(
                x + 8, up(share[found.repetitions - 1]) - 10, f"enough: {found.repetitions}", "start" if x < right - 90 else "end"
            )
        )
    return svg(width, bottom + 46, "Standard error against repetitions", body)
