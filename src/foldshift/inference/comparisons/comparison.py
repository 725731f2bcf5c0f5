"""Comparison of learners as a result: one row for each test, with the reason why it applies or not."""

from __future__ import annotations

from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.printable import printable_lines
from foldshift.core.repr import figures, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from foldshift.inference.comparisons.paired import TTest


class Row(NamedTuple):
    """One test of a `Comparison`."""

    test: str  # name of the test
    # true if its assumptions hold well enough for the design. Numbers of a test that does not apply are shown for those who find
    # them in a paper
    applies: bool
    reason: str  # reason why it applies or does not
    statistic: float = np.nan  # statistic, p_value: NaN if the test cannot be done or has none. p is two-sided
    df: float | tuple[float, ...] = np.nan  # degrees of freedom; NaN if there are none
    p_value: float = np.nan
    # estimate, low, high: Difference of the scores, first learner minus second, and its interval; NaN if the test has none
    estimate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    probabilities: tuple[float, ...] | None = None  # bayesian test only: P(difference < -rope), P(within), P(difference > rope)

    @classmethod
    def of_t(cls, name: str, applies: bool, reason: str, test: TTest) -> Row:
        """Row with the figures of a t test."""
        return cls(name, applies, reason, test.statistic, test.df, test.p_value, test.estimate, test.low, test.high)


@readable
class Comparison(NamedTuple):
    """Result of `compare`; ``str()`` of it is a table to read, a notebook shows it as a page."""

    names: tuple[str, ...]  # learners
    design: str  # unit that a score belongs to
    shape: str  # numbers of learners, folds and blocks, in words
    confidence: float  # of the intervals
    rows: list[Row]  # one for each test
    rope: float = 0.0  # half-width of the region of practical equivalence; 0 for none

    def row(self, test: str) -> Row:
        """Return the row of the test of this name."""
        found = {row.test: row for row in self.rows}
        if test not in found:
            raise ValueError(f"test={test!r} is not in this comparison; it has {', '.join(found)}")
        return found[test]

    def sentences(self) -> list[str]:
        """Report the comparison, the tests that apply, and the names of those that do not; a list of str."""
        told = [
            f"{row.test}{_numbers(row, self.confidence)}. {row.reason[:1].upper()}{row.reason[1:]}." for row in self._of(True)
        ]
        left = ", ".join(row.test for row in self._of(False))
        return [f"{self._title()}.", *told, *([f"These do not apply, for the reasons in the table: {left}."] if left else [])]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test, those that apply first."""
        columns = ["test", "applies", "p_value", "estimate", "low", "high", "statistic", "df"]
        shares = ("p_smaller", "p_within", "p_larger")
        rows = [
            {column: getattr(row, column) for column in columns}
            | dict(zip(shares, row.probabilities or (np.nan,) * 3))
            | {"reason": row.reason}
            for row in self._of(True) + self._of(False)
        ]
        return pd.DataFrame(rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the intervals of the tests that apply, with the region of practical equivalence; needs matplotlib."""
        from matplotlib import pyplot as plt

        rows = [row for row in self._of(True) if not np.isnan(row.low)]
        if ax is None:
            _, ax = plt.subplots(figsize=(7, 1.2 + 0.35 * max(len(rows), 1)), layout="constrained")
        ends = [x for row in rows for x in (row.low, row.high, row.estimate) if np.isfinite(x)] + [-self.rope, self.rope]
        margin = 0.08 * (max(ends) - min(ends)) or 1.0
        edges = min(ends) - margin, max(ends) + margin
        if self.rope > 0:
            ax.axvspan(-self.rope, self.rope, color="#DDDDDD", label="practically equivalent")
            ax.legend(loc="best", fontsize="small")
        ax.axvline(0, color="#7F7F7F", lw=0.8)
        for y, row in enumerate(reversed(rows)):
            ax.plot([max(row.low, edges[0]), min(row.high, edges[1])], [y, y], color="#000000", lw=1.5)
            ax.plot(row.estimate, y, "o", color="#000000")
        ax.set(xlim=edges, ylim=(-0.6, max(len(rows), 1) - 0.4), yticks=range(len(rows)))
        ax.set_yticklabels([row.test.replace("$", r"\$") for row in reversed(rows)])
        pair = " - ".join(self.names) if len(self.names) == 2 else "first - second"
        ax.set_xlabel(f"difference of scores, {pair} ({self.confidence:g} intervals)".replace("$", r"\$"))
        if not rows:
            ax.text(0.5, 0.5, "no test that applies has an interval", ha="center", va="center", transform=ax.transAxes)
        return ax

    def _of(self, applies: bool) -> list[Row]:
        return [row for row in self.rows if row.applies is applies]

    def _title(self) -> str:
        return f"{' - '.join(self.names) if len(self.names) == 2 else ', '.join(self.names)}: {self.shape}"

    def __str__(self) -> str:
        lines = [self._title()]
        for applies, title in ((True, "These apply:"), (False, "These do not:")):
            chosen = self._of(applies)
            if chosen:
                lines += ["", title]
            texts = [(row.test + _numbers(row, self.confidence), row.reason, row.test) for row in chosen]
            for reason, same in groupby(texts, key=lambda text: text[1]):
                heads = [(head, head == test) for head, _, test in same]
                # tests without figures that share a reason share a line
                bare = all(without_figures for _, without_figures in heads)
                lines += [f"  {', '.join(head for head, _ in heads)}"] if bare else [f"  {head}" for head, _ in heads]
                lines.append(fill(reason, 110, initial_indent="      ", subsequent_indent="      "))
        return printable_lines("\n".join(lines))


def _numbers(row: Row, confidence: float) -> str:
    parts = []
    if not np.isnan(row.statistic):
        df = "" if np.ndim(row.df) == 0 and np.isnan(row.df) else f" (df {', '.join(f'{x:g}' for x in np.atleast_1d(row.df))})"
        parts.append(f"statistic {row.statistic:.4g}{df}")
    if not np.isnan(row.p_value):
        parts.append(f"p {p_text(row.p_value)}")
    if row.probabilities:
        parts.append("P(smaller) {:.3f}, P(within) {:.3f}, P(larger) {:.3f}".format(*row.probabilities))
    if not np.isnan(row.estimate):
        interval = "" if np.isnan(row.low) else f" [{figures(row.low)}, {figures(row.high)}] at {confidence:g}"
        parts.append(f"difference {figures(row.estimate)}{interval}")
    return ": " + ", ".join(parts) if parts else ""


def p_text(p: float) -> str:
    """Format a p-value for sentences."""
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
