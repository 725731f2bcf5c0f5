"""Pictures of the page as SVG: colours are those of the page, light or dark; shapes tell what colours tell."""

from html import escape

import numpy as np

from foldshift.readable import figures

WIDTH = 720
ROW = 30
SHORT = {"rows": "rows of one repetition", "fold means": "fold means", "corrected t": "fold means, corrected"}


def _number(value):
    return figures(value, 3)


def _ticks(low, high, most=6):
    """Round values between two ends."""
    span = high - low
    if not np.isfinite(span) or span <= 0:
        return [low]
    step = 10.0 ** np.floor(np.log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    return (np.ceil(low / step) * step + step * np.arange(int(np.floor(high / step + 1e-9) - np.ceil(low / step)) + 1)).tolist()


def _svg(height, label, body):
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label, quote=True)}" '
        f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}">{"".join(body)}</svg>'
    )


def _text(x, y, text, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{f" class={kind!r}" if kind else ""}>{escape(text)}</text>'


def _line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _dot(x, y, kind, r=5):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" class="{kind}"/>'


def _scale(low, high, left, right):
    span = (high - low) or 1.0
    return lambda value: left + (value - low) / span * (right - left)


def _axis(scale, low, high, top, bottom, left, text=_number):
    body = []
    for tick in _ticks(low, high):
        body.append(_line(scale(tick), top, scale(tick), bottom, "grid"))
        body.append(_text(scale(tick), bottom + 17, text(tick), "middle", "soft"))
    return body


def _short(name, most=24):
    return name if len(name) <= most else name[: most - 1] + "…"


def interval_chart(advice):
    """The intervals below each other, and the baseline."""
    score, told = advice.score, advice.intervals
    base = advice.baseline
    ends = [value for one in told for value in (one.low, one.high, one.estimate) if np.isfinite(value)]
    near = [] if base is None else [base]
    low, high = min(ends + near), max(ends + near)
    room = 0.06 * (high - low or abs(high) or 1)
    low, high = low - room, high + room
    left, right = 260, WIDTH - 30
    scale, bottom = _scale(low, high, left, right), 12 + ROW * (len(told) + (base is not None))
    body = _axis(scale, low, high, 6, bottom, left, lambda tick: score.text(tick).replace(".0 %", " %"))
    for row, one in enumerate(told):
        y = 24 + ROW * row
        body.append(_text(left - 12, y + 5, ("print this: " if one.use else "not: ") + SHORT[one.name], "end"))
        if np.isfinite(one.low):
            body.append(_line(scale(one.low), y, scale(one.high), y, "main" if one.use else "bar"))
        body.append(_dot(scale(one.estimate), y, "maindot" if one.use else "dot"))
    if base is not None:
        y = 24 + ROW * len(told)
        body += [_text(left - 12, y + 5, "baseline", "end"), _dot(scale(base), y, "open", 6)]
    return _svg(bottom + 28, f"Intervals of the {score.name}", body)


def cuts_chart(advice, chosen):
    """Distances of target and inputs by way of cutting."""
    cuts = advice.cuts
    high = 1.08 * max(max(one.target, one.inputs) for one in cuts) or 1.0
    left, right, bottom = 170, WIDTH - 30, 12 + ROW * len(cuts)
    scale = _scale(0, high, left, right)
    body = _axis(scale, 0, high, 6, bottom, left)
    for row, one in enumerate(cuts):
        y = 24 + ROW * row
        body.append(_text(left - 12, y + 5, one.cut + (" ◂" if one.cut == chosen else ""), "end"))
        body.append(_line(scale(one.target), y, scale(one.inputs), y, "axis"))
        body += [_dot(scale(one.inputs), y, "open", 6), _dot(scale(one.target), y, "maindot" if one.cut == chosen else "dot")]
    return _svg(bottom + 28, "Distance between training and test part by way of cutting", body)


def split_chart(split, most=12):
    """Columns of the split furthest from random cuts; None without columns."""
    if split.drift is None:
        return ""
    rows = sorted(split.drift.features, key=lambda row: (row.p_adjusted, -abs(row.distance - row.distance_chance)))[:most]
    high = 1.08 * max(max(row.distance, row.distance_chance) for row in rows) or 1.0
    left, right, bottom = 220, WIDTH - 150, 12 + ROW * len(rows)
    scale = _scale(0, high, left, right)
    body = _axis(scale, 0, high, 6, bottom, left)
    words = {"more": "more than chance", "less": "less than chance", "as chance": "as chance"}
    for row, one in enumerate(rows):
        y = 24 + ROW * row
        name = one.name if one.kind != "target" else "the target"
        body.append(_text(left - 12, y + 5, _short(name), "end"))
        body.append(_line(scale(one.distance_chance), y - 8, scale(one.distance_chance), y + 8, "bar"))
        body.append(_dot(scale(one.distance), y, "maindot" if one.verdict == "more" else "dot"))
        body.append(_text(right + 10, y + 5, words[one.verdict], "start", "soft"))
    return _svg(bottom + 28, "Distance between training and test part by column", body)


def curve_chart(advice):
    """Standard error of the mean of r repetitions against r."""
    found = advice.repetitions
    most = int(max(20, 2 * (found.repetitions or 10)))
    r = np.arange(1, most + 1)
    rho = found.rho if np.isfinite(found.rho) else 1.0
    share = np.sqrt(rho + (1 - rho) / r)
    left, right, top, bottom = 60, WIDTH - 30, 12, 230
    low = max(0.0, np.sqrt(rho) - 0.1)
    across, up = _scale(1, most, left, right), _scale(low, 1.02, bottom, top)
    body = []
    for tick in _ticks(low, 1.0, 5):
        body += [_line(left, up(tick), right, up(tick), "grid"), _text(left - 8, up(tick) + 5, f"{tick:.2g}", "end", "soft")]
    for tick in [1, *(int(tick) for tick in _ticks(1, most) if tick >= 2 and tick == int(tick))]:
        body.append(_text(across(tick), bottom + 18, str(tick), "middle", "soft"))
    body.append(_text((left + right) / 2, bottom + 38, "repetitions", "middle", "soft"))
    body.append(_line(left, up(np.sqrt(rho)), right, up(np.sqrt(rho)), "axis dash"))
    points = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in zip(r, share))
    body.append(f'<polyline points="{points}" class="line"/>')
    if found.repetitions is not None and found.repetitions <= most:
        x = across(found.repetitions)
        body.append(_dot(x, up(share[found.repetitions - 1]), "maindot", 6))
        body.append(
            _text(
                x + 8, up(share[found.repetitions - 1]) - 10, f"enough: {found.repetitions}", "start" if x < right - 90 else "end"
            )
        )
    return _svg(bottom + 46, "Standard error against repetitions", body)
