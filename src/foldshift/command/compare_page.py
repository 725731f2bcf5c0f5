"""Page of a comparison from a table of scores: intervals, the matrix of all pairs, and the critical-difference diagram."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from foldshift.core.page.svg_chart import NARROW, WIDE, Rows, both, dot, line, svg, text_at
from foldshift.core.page.web_page import figure, paragraph, section, table, whole_page
from foldshift.core.printable import printable_lines
from foldshift.core.repr import figures
from foldshift.inference.comparisons.comparison import p_text

if TYPE_CHECKING:
    from foldshift.inference.comparisons.ranks import CriticalDifference
    from foldshift.inference.score_tables.table_comparison import Pair, TableComparison

MOST_ROWS = 45  # pairs in one picture of intervals
MOST_CELLS = 16  # learners in one matrix
SHORT = 18  # letters of a name in a picture


def comparison_page(result: TableComparison, title: str) -> str:
    """Make the page as text, without any reference to a network."""
    sentences = result.sentences(door="command")
    parts = [paragraph(sentence) for sentence in sentences]
    shown = result.pairs[:MOST_ROWS]
    n_shown = "all pairs" if len(shown) == len(result.pairs) else f"the first {MOST_ROWS} of {len(result.pairs)} pairs"
    intervals = figure(
        both(lambda width: _intervals(result, shown, width)),
        f"Difference of the scores, first less second ({n_shown}), with {100 * result.confidence:g} % intervals for all.",
    )
    parts.append(section("intervals", "Differences", intervals))
    if 2 < len(result.table.learners) <= MOST_CELLS:
        caption = "Score of the row less that of the column, and p by Holm; framed where told apart."
        matrix = figure(both(lambda width: _matrix(result, width)), caption)
        parts.append(section("matrix", "Comparison matrix", matrix))
    if result.ranks is not None:
        parts.append(section("ranks", "Average ranks", figure(rank_picture(result.ranks), "Bars join learners not told apart.")))
    head = ["first", "second", "difference", "low", "high", "p", "p by Holm", "better", "worse", "ties", "verdict"]
    rows = [
        [pair.first, pair.second, *(figures(value, 3, "+") for value in pair[2:5]), p_text(pair.p_value), p_text(pair.p_adjusted),
         *map(str, pair[7:10]), pair.verdict]
        for pair in result.pairs
    ]  # fmt: skip
    parts.append(section("pairs", "All pairs", table(head, rows, numbers=range(2, 10), wide=(5, 7, 8, 9))))
    means = [[name, figures(mean)] for name, mean in result.means()]
    parts.append(section("means", "Means", table(["learner", result.metric or "score"], means, numbers=(1,))))
    return printable_lines(whole_page(title, parts, result.to_dict(door="command")))


def rank_picture(ranks: CriticalDifference) -> str:
    """Draw the critical-difference diagram as SVG; equal results give equal pictures."""
    import matplotlib
    from matplotlib.figure import Figure

    from foldshift.inference.comparisons.rank_diagram import draw_diagram, layout

    sizes = layout(ranks, f"Average ranks over {ranks.n_blocks} data sets, 1 is best.")
    with matplotlib.rc_context({"svg.hashsalt": "foldshift", "font.family": "DejaVu Sans"}):
        picture = Figure(figsize=(sizes.width, sizes.height))
        draw_diagram(picture.add_axes((0, 0, 1, 1)), ranks, sizes)
        text = io.StringIO()
        picture.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    found = text.getvalue()
    drawn = found[found.index("<svg") :]
    return drawn.replace("<svg ", '<svg role="img" aria-label="average ranks of the learners" style="background:#fff" ', 1)


def _intervals(result: TableComparison, pairs: tuple[Pair, ...], width: int) -> str:
    """Draw the interval of every pair; a filled dot is told apart."""
    ends = [x for pair in pairs for x in (pair.low, pair.high, pair.estimate) if abs(x) < float("inf")] + [0.0]
    low, high = min(ends), max(ends)
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin
    rows = Rows(len(pairs), width, 250)
    scale = rows.scale(low, high)
    body = rows.axis(scale, low, high)
    body.append(line(scale(0.0), 6, scale(0.0), rows.bottom, "axis"))
    for place, pair in enumerate(pairs):
        y = rows.y(place)
        body.append(rows.name(place, f"{_short(pair.first)} - {_short(pair.second)}"))
        apart = pair.verdict.endswith("is better")
        body.append(line(scale(max(pair.low, low)), y, scale(min(pair.high, high)), y, "main" if apart else "bar"))
        body.append(dot(scale(pair.estimate), y, "maindot" if apart else "dot"))
    return rows.svg(f"intervals of {len(pairs)} differences", body)


def _matrix(result: TableComparison, width: int) -> str:
    """Draw the matrix of all pairs."""
    names = [name for name, _ in result.means()]
    left, top = (150, 26) if width == WIDE else (84, 26)
    step = (width - left - 4) / len(names)
    small = (width == NARROW and len(names) > 4) or len(names) > 9
    body = []
    for j, name in enumerate(names):
        body.append(text_at(left + (j + 0.5) * step, 18, str(j + 1), "middle"))
        body.append(text_at(left - 8, top + 40 * j + 25, f"{_short(name, 18 if width == WIDE else 8)} {j + 1}", "end"))
    for i, row in enumerate(result.matrix()):
        for j, pair in enumerate(row):
            if pair is None:
                continue
            x, y = left + j * step, top + 40 * i
            if pair.verdict.endswith("is better"):
                body.append(
                    f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{step - 2:.1f}" height="38" fill="none" class="axis"/>'
                )
            body.append(text_at(x + step / 2, y + (25 if small else 17), figures(pair.estimate, 2, "+"), "middle"))
            if not small:
                body.append(text_at(x + step / 2, y + 33, f"p {p_text(pair.p_adjusted)}", "middle", "soft"))
    return svg(width, top + 40 * len(names) + 6, f"differences of {len(names)} learners", body)


def _short(name: str, most: int = SHORT) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
