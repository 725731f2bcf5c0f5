"""Comparison of learners from a table of scores, as a result: pairs, ranks, power, and the text of a few lines."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.printable import printable_lines
from foldshift.core.remedies import Door, at
from foldshift.core.repr import figures, readable
from foldshift.inference.comparisons.comparison import p_text
from foldshift.inference.score_tables.score_table import WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from foldshift.inference.comparisons.ranks import CriticalDifference
    from foldshift.inference.score_tables.score_table import ScoreTable

MOST_LINES, WIDTH = 12, 118
OPEN, EQUIVALENT = "not decided", "practically equivalent"  # verdicts on a pair; else a learner "is better"
MOST_NAMED = 8  # learners in one line
ABOUT = {
    "item": "It is about new items of this kind and these trained learners; how they vary with their training set is left out",
    "fold": "It is about learners trained on other samples of this size; a rule of thumb, as training parts share rows",
    "dataset": "It is about new data sets of this kind",
}


class Pair(NamedTuple):
    """Comparison of two learners: first less second."""

    first: str
    second: str
    estimate: float  # estimate, low, high: difference of the scores and its interval, which holds for all pairs together
    low: float
    high: float
    p_value: float  # two-sided
    p_adjusted: float  # by Holm, for the number of pairs
    wins: int  # units on which the first is better, on which the second is, and ties
    losses: int
    ties: int
    verdict: str


class Power(NamedTuple):
    """Difference that an evaluation of this size finds with a given power."""

    power: float
    n_units: int
    difference: float  # that this many units show; NaN if there is no spread
    needed: dict[float, int]  # units that show this share of the difference
    decide: int  # units that would decide the difference seen; 0 if it is decided or zero


@readable
class TableComparison(NamedTuple):
    """Result of `foldshift.inference.compare` on a table of scores; ``str()`` of it is a text of a few lines.

    Examples
    --------
    >>> from foldshift.inference import compare
    >>> old, new = [0.80, 0.71, 0.92, 0.65, 0.77, 0.85], [0.82, 0.74, 0.93, 0.69, 0.76, 0.88]
    >>> found = compare(pd.DataFrame({"dataset": list("abcdef"), "old": old, "new": new}), metric="accuracy")
    >>> found.test, found.means()[0][0]
    ('Wilcoxon signed ranks', 'new')
    """

    table: ScoreTable
    test: str  # name of the test that fits the design
    pairs: tuple[Pair, ...]
    ranks: CriticalDifference | None  # of three or more learners on data sets
    power: Power
    confidence: float  # of the intervals, of all pairs together
    rope: float  # half-width of the region of practical equivalence
    metric: str

    def means(self) -> list[tuple[str, float]]:
        """Mean scores of the learners, the best first."""
        means = self.table.scores.mean(axis=0)
        order = np.argsort(-means if self.table.higher_is_better else means, kind="stable")
        return [(self.table.learners[i], float(means[i])) for i in order]

    def sentences(self, *, verbose: bool = False, door: Door = "python") -> list[str]:
        """Report the comparison in words; a list of str."""
        table, unit = self.table, WORDS[self.table.design.unit]
        clusters = "" if table.clusters is None else f" in {int(table.clusters.max()) + 1} clusters"
        direction = "higher" if table.higher_is_better else "lower"
        what = f"{len(table.learners)} learners on {table.design.words(len(table.scores))}{clusters}"
        said = [f"{what}; {self.metric or 'score'}, {direction} is better."]
        means = self.means()
        shown = ", ".join(f"{name} {figures(mean)}" for name, mean in means[: None if verbose else MOST_NAMED])
        more = "" if verbose or len(means) <= MOST_NAMED else f" and {len(means) - MOST_NAMED} more"
        said.append(f"Means: {shown}{more}.")
        said += [self._pair(self.pairs[0])] if len(self.pairs) == 1 else self._many(verbose)
        said.append(f"{ABOUT[table.design.unit]}.")
        said.append(self._power(unit))
        return said + [f"Note: {at(note, door).rstrip('.')}." for note in table.notes]

    def _pair(self, pair: Pair) -> str:
        words = {OPEN: "Which is better is not decided", EQUIVALENT: EQUIVALENT.capitalize()}
        verdict = words.get(pair.verdict, pair.verdict)  # which begins with the name of a learner
        ends = f"{100 * self.confidence:g} % interval {_signed(pair.low)} to {_signed(pair.high)}"
        ends = ends if np.isfinite(pair.high - pair.low) else "no interval from so few"
        counts = f"{pair.first} better on {pair.wins}, {pair.second} on {pair.losses}, ties {pair.ties}"
        return (
            f"{verdict}: {pair.first} - {pair.second} = {_signed(pair.estimate)}, {ends}, p = {p_text(pair.p_value)} "
            f"({self.test}; {counts})."
        )

    def _many(self, verbose: bool) -> list[str]:
        decided = [pair for pair in self.pairs if pair.verdict.endswith("is better")]
        best = self.means()[0][0]
        of_best = {self._other(pair, best): pair.verdict for pair in self.pairs if best in pair[:2]}
        told = f"{self.test}, p by Holm for {len(self.pairs)} pairs, intervals for all of them together"
        said = [f"{len(decided)} of {len(self.pairs)} pairs are told apart ({told})."]
        if self.ranks is not None:
            test = self.ranks.friedman
            order = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(self.ranks.names[:MOST_NAMED], self.ranks.average_ranks))
            said.append(f"Average ranks: {order}; Friedman's p = {p_text(test.p_chi2)}.")
        groups = {
            "better than": [name for name, verdict in of_best.items() if verdict == _wins(best)],
            "not told apart from": [name for name, verdict in of_best.items() if verdict == OPEN],
            "practically equivalent to": [name for name, verdict in of_best.items() if verdict == EQUIVALENT],
            "worse, by the test, than": [name for name, verdict in of_best.items() if verdict == _wins(name)],
        }
        listed = "; ".join(f"{words} {_named(names)}" for words, names in groups.items() if names)
        said.append(f"{best} has the best mean: it is {listed}.")
        if verbose:
            said += [self._pair(pair) for pair in self.pairs]
        return said

    def _other(self, pair: Pair, name: str) -> str:
        return pair.second if pair.first == name else pair.first

    def _power(self, unit: str) -> str:
        power = self.power
        if not power.difference > 0:
            return "Power: nothing tells which difference would be found, without spread or with so few."
        shown = figures(power.difference, 2)
        text = f"Power: {power.n_units} {unit} show a difference of {shown} in {100 * power.power:g} % of cases"
        if not power.needed:
            return f"{text}; more repetitions of the same rows add little, more rows do."
        text += "".join(f"; {n:,} show {figures(share * power.difference, 2)}" for share, n in power.needed.items())
        return text + (f"; some {power.decide:,} would decide the difference seen." if power.decide else ".")

    def text(self, *, verbose: bool = False, door: Door = "python") -> str:
        """Return the report as text of at most twelve lines; `verbose` adds all pairs and notes."""
        lines: list[str] = []
        for sentence in self.sentences(verbose=verbose, door=door):
            lines += textwrap.wrap(sentence, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        if not verbose and len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], "... more notes: " + ("--verbose" if door == "command" else ".text(verbose=True)")]
        return printable_lines("\n".join(lines))

    def __str__(self) -> str:
        return self.text()

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each pair of learners."""
        return pd.DataFrame(self.pairs, columns=Pair._fields)

    def to_dict(self, *, door: Door = "python") -> dict[str, Any]:
        """All figures as plain values, for JSON."""
        table = self.table
        design = table.design._asdict() | {"n_units": len(table.scores)}
        design["overlap"] = _finite(table.design.overlap)
        design["n_clusters"] = None if table.clusters is None else int(table.clusters.max()) + 1
        ranks = None
        if self.ranks is not None:
            ranks = {
                "average_ranks": dict(zip(self.ranks.names, map(float, self.ranks.average_ranks))),
                "friedman_p": self.ranks.friedman.p_chi2,
                "groups": [[self.ranks.names[i] for i in group] for group in self.ranks.groups],
            }
        pairs = [{key: _finite(value) for key, value in pair._asdict().items()} for pair in self.pairs]
        power = self.power._asdict() | {"difference": _finite(self.power.difference)}
        power["needed"] = [{"difference": share * self.power.difference, "n_units": n} for share, n in self.power.needed.items()]
        return {
            "metric": self.metric, "higher_is_better": table.higher_is_better, "design": design, "test": self.test,
            "confidence": self.confidence, "rope": self.rope, "means": dict(self.means()), "pairs": pairs, "ranks": ranks,
            "power": power, "notes": [at(note, door) for note in table.notes],
        }  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the comparison matrix, bold where two learners are told apart; needs matplotlib."""
        from matplotlib import pyplot as plt

        names = [name for name, _ in self.means()]
        k = len(names)
        ax = plt.subplots(figsize=(1.6 + 0.8 * k, 1 + 0.5 * k), layout="constrained")[1] if ax is None else ax
        values = self.matrix()
        top = float(np.nanmax(np.abs([[pair.estimate for pair in self.pairs]]))) or 1.0
        shades = [[0.0 if pair is None else pair.estimate for pair in row] for row in values]
        ax.imshow(shades, cmap="PuOr", vmin=-1.6 * top, vmax=1.6 * top, aspect="auto")
        for i, row in enumerate(values):
            for j, pair in enumerate(row):
                if pair is not None:
                    weight = "bold" if pair.verdict.endswith("is better") else "normal"
                    text = f"{_signed(pair.estimate, 2)}\np {p_text(pair.p_adjusted)}"
                    ax.text(j, i, text, ha="center", va="center", fontsize=7, fontweight=weight)
        labels = [name.replace("$", r"\$") for name in names]
        ax.set_xticks(range(k), labels, rotation=30, ha="right", fontsize=8)
        ax.set_yticks(range(k), labels, fontsize=8)
        ax.set_xlabel("score of row less that of column; bold: told apart")
        return ax

    def matrix(self) -> list[list[Pair | None]]:
        """Pairs as a square, learners in the order of their means: row less column; None on the diagonal."""
        by_names = {(pair.first, pair.second): pair for pair in self.pairs}
        by_names |= {(pair.second, pair.first): _turned(pair) for pair in self.pairs}
        names = [name for name, _ in self.means()]
        return [[by_names.get((row, column)) for column in names] for row in names]


def _turned(pair: Pair) -> Pair:
    """Turn a pair the other way round."""
    return pair._replace(
        first=pair.second, second=pair.first, estimate=-pair.estimate, low=-pair.high, high=-pair.low, wins=pair.losses,
        losses=pair.wins,
    )  # fmt: skip


def _signed(value: float, digits: int = 3) -> str:
    return figures(value + 0.0, digits, "+") if np.isfinite(value) else "-"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _wins(learner: str) -> str:
    return f"{learner} is better"


def _named(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
