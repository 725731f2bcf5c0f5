"""Rows of a table of scores that say something of the others, such as their mean: they are no data sets, folds or items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.inference.score_tables.score_columns import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from foldshift.inference.score_tables.score_columns import Columns

# Words of which a label consists that names a mean or a count of wins; others are statistics only beside one of these.
SURE = {"mean", "means", "average", "averages", "avg", "median", "overall", "total", "wtl", "std", "stdev", "stddev",
        "mittelwert", "durchschnitt", "moyenne", "media", "promedio"}  # fmt: skip
OTHERS = {"sd", "se", "sem", "stderr", "deviation", "error", "variance", "var", "min", "minimum", "max", "maximum", "sum",
          "count", "n", "rank", "ranks", "ranking", "win", "wins", "tie", "ties", "draw", "draws", "loss", "losses", "w", "t",
          "d", "l", "p", "value", "pvalue"}  # fmt: skip
WITH = {"standard", "grand", "macro", "micro", "geometric", "arithmetic", "all", "score", "scores", "of", "the", "folds",
        "datasets", "across"}  # fmt: skip
MOST = 8  # rows of statistics, of one learner


def without_statistics(frame: pd.DataFrame, found: Columns, notes: list[str]) -> pd.DataFrame:
    """Leave out rows that hold statistics of the others, by their labels, and say so.

    Labels are those of data sets, folds and items; in a table without these, of a column of texts that all differ.
    """
    columns = [name for name in (found.dataset, found.repeat, found.fold, found.item) if name is not None]
    if not columns and found.learner is None:
        columns = [name for name in frame.columns if name not in found.taken and frame[name].nunique() == len(frame)]
    for name in columns:
        frame = rows_without(frame, name, notes)
    return frame


def rows_without(frame: pd.DataFrame, name: str, notes: list[Any]) -> pd.DataFrame:
    """Leave out rows whose label in a column is the name of a statistic, and say so."""
    labels = [label for label in frame[name].dropna().unique() if isinstance(label, str)]
    gone = statistics_among(labels)
    if not gone or len(gone) == frame[name].nunique():
        return frame
    what = ", ".join(gone)
    notes.append(f"column {name!r}: {what} left out, as statistics of the other rows; give a row that is none another name")
    return frame[~frame[name].isin(gone)]


def statistics_among(labels: Sequence[str]) -> list[str]:
    """Return the labels that name statistics.

    >>> from foldshift.inference.score_tables.statistic_rows import statistics_among
    >>> statistics_among(["iris", "Average", "avg. rank", "se"]), statistics_among(["de", "se", "no"])
    (['Average', 'avg. rank', 'se'], [])
    """
    words = {label: words_of(label) for label in labels}
    if not any(some & SURE and some <= SURE | OTHERS | WITH for some in words.values()):
        return []
    found = [label for label, some in words.items() if some & (SURE | OTHERS) and some <= SURE | OTHERS | WITH]
    return found if len(found) <= MOST else []
