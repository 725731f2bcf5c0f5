"""Page of a drift report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.page.svg_chart import Rows, both, dot, line
from foldshift.core.page.web_page import figure, paragraph, section, table, whole_page
from foldshift.shift.report.drift_text import counted, p_in_words, shortened

if TYPE_CHECKING:
    from foldshift.shift.detectors.feature_tests import FeatureDrift
    from foldshift.shift.report.drift_report import DriftReport

DRAWN = 20  # features in the picture
LISTED = 200  # features in the table; all are in the JSON at the end of the page


def drift_page(report: DriftReport) -> str:
    """Make the page as text: the verdict, the features by their effect, the tests of whole tables, and the notes."""
    rows = sorted(report.features, key=lambda row: (not row.moved, -np.nan_to_num(row.effect, nan=-1), row.name))
    title = f"Drift between {counted(report.n_train, 'training row')} and {counted(report.n_test, 'test row')}"
    about = f"{counted(len(report.columns), 'feature')}; level {report.alpha:g} of the whole report."
    parts = [
        f"<section id='verdict' class='verdict'>{paragraph(report.verdict)}</section>",
        paragraph(about, "soft"),
        _features(rows),
        _tables_together(report),
        section("notes", "Notes", *map(paragraph, report.notes)) if report.notes else "",
    ]
    return whole_page(title, parts, report.to_dict())


def _features(rows: list[FeatureDrift]) -> str:
    """Draw and list the features."""
    drawn = [row for row in rows if not np.isnan(row.effect)][:DRAWN]
    listed = [
        (row.name, "moved" if row.moved else row.note if np.isnan(row.p_value) or row.note == "constant" else "not moved",
         row.change, row.test, _p(row.p_adjusted), "" if np.isnan(row.effect) else f"{row.effect:.3f}")
        for row in rows[:LISTED]
    ]  # fmt: skip
    more = [f"and {len(rows) - LISTED} more, which have smaller effects."] if len(rows) > LISTED else []
    caption = (
        f"Largest difference in probability between the tables{f', the {DRAWN} largest' * (len(rows) > len(drawn))}: 0 for equal "
        "distributions, 1 for tables that share no value. Filled: moved."
    )
    return section(
        "features",
        "Features",
        figure(both(lambda width: _chart(drawn, width)), caption) if drawn else "",
        table(["feature", "", "change", "test", "p, corrected", "effect"], listed, (4, 5), (3,)),
        *(paragraph(one, "soft") for one in more),
    )


def _chart(rows: list[FeatureDrift], width: int) -> str:
    high = 1.08 * max(row.effect for row in rows) or 1.0
    chart = Rows(len(rows), width, 220)
    scale = chart.scale(0, high)
    body = chart.axis(scale, 0, high)
    for at, row in enumerate(rows):
        body.append(chart.name(at, shortened(row.name, 24)))
        body.append(line(scale(0), chart.y(at), scale(row.effect), chart.y(at), "axis"))
        body.append(dot(scale(row.effect), chart.y(at), "maindot" if row.moved else "open"))
    return chart.svg("Largest difference in probability by feature", body)


def _tables_together(report: DriftReport) -> str:
    if not report.global_tests:
        return ""
    rows = [
        (row.name, "moved" if row.moved else "not moved", row.change, f"{row.statistic:.4g}", _p(row.p_adjusted))
        for row in report.global_tests
    ]
    return section(
        "together", "Predictions, target and all features together",
        table(["test", "", "found", "statistic", "p, corrected"], rows, (3, 4)),
    )  # fmt: skip


def _p(p: float) -> str:
    return "" if np.isnan(p) else p_in_words(p)
