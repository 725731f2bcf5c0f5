"""Check of a table of printed scores against the cut and the sizes that are stated, for the command."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.command.read_tables import read_all_columns
from foldshift.core.errors import DataError, unknown
from foldshift.core.printable import printable_lines
from foldshift.core.remedies import Message, Remedy, at
from foldshift.inference.score_tables.check_scores import NAMES, CheckedScores, check_scores
from foldshift.inference.score_tables.score_columns import NOTHING, ROLES, counts_something, plain_name, side_columns
from foldshift.inference.score_tables.score_forms import without_spreads
from foldshift.inference.score_tables.statistic_rows import rows_without

if TYPE_CHECKING:
    from foldshift.command.table_options import TableOptions

MOST_SHOWN = 9  # rows in the text
SIZES = {
    "n": "n", "nrows": "n", "rows": "n", "k": "k", "folds": "k", "nfolds": "k", "npositive": "positive", "positive": "positive",
    "nnegative": "negative", "negative": "negative", "npos": "positive", "nneg": "negative",
}  # fmt: skip
MEANS = ("mean", "average", "avg")  # labels of rows that are means over the folds
NO_FOLDS = ("std", "sd", "stdev", "se", "sem", "var", "variance", "min", "max", "median", "all", "overall", "total", "pooled")


class Cut(NamedTuple):
    """Cut and sizes that are stated, the same for all rows of the table; a column of the table comes first."""

    n: int | None
    k: int | None
    classes: tuple[int, int] | None
    decimals: int | None
    repeats: int
    of: Any


class CheckedTable(NamedTuple):
    """Checks of all rows of a table."""

    names: list[str]
    checks: list[CheckedScores]
    notes: list[str | Message]

    def text(self) -> str:
        """Return the answer as text: how many rows are possible, and those that are not."""
        n, verdicts = len(self.checks), [one.verdict for one in self.checks]
        count = {verdict: verdicts.count(verdict) for verdict in ("possible", "impossible", "not decided")}
        told = ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)
        lines = [f"{n} row{'s' * (n != 1)} of scores: {told}."]
        wrong = [(name, one) for name, one in zip(self.names, self.checks) if one.verdict != "possible"]
        lines += [f"  {name}: {one.sentences()[0]}" for name, one in wrong[:MOST_SHOWN]]
        if len(wrong) > MOST_SHOWN:
            lines.append(f"  and {len(wrong) - MOST_SHOWN} more; --json has all")
        lines.append("Possible is not the same as right: many scores are possible by chance, most where n is large.")
        return printable_lines("\n".join(lines))

    def to_json(self) -> str:
        """Return all checks as JSON."""
        rows = [{"row": name, **one._asdict()} for name, one in zip(self.names, self.checks)]
        for row in rows:
            row["nearest"] = {name: value if np.isfinite(value) else None for name, value in row["nearest"].items()}
        return json.dumps({"rows": rows, "notes": [at(note, "command") for note in self.notes]}, indent=1, ensure_ascii=False)


def checked_table(file: str, options: TableOptions, cut: Cut, metric: str | None) -> CheckedTable:
    """Check every row of a table of scores."""
    table = read_all_columns(file, options)
    notes = list[Any](table.notes)
    frame = _without_marks(without_spreads(table.frame, notes))
    scores = _scores_of(frame, metric, notes)
    sizes = {name: SIZES[plain_name(name)] for name in frame.columns if plain_name(name) in SIZES and name not in scores}
    for name in frame.columns:
        if name not in scores and name not in sizes and ROLES.get(plain_name(name)) not in ("fold", "learner"):
            frame = rows_without(frame, name, notes)
    frame, ways = _ways_of(frame, cut, sizes, notes)
    values = frame[list(scores)].to_numpy(np.float64)
    if not np.isfinite(values[~np.isnan(values)]).all():
        raise DataError("the table holds infinite scores; correct them")
    decimals = cut.decimals if cut.decimals is not None else _decimals(values)
    if cut.decimals is None:
        remedy = Remedy("decimals", str(decimals + 1))
        notes.append(Message(f"scores are taken for rounded to {decimals} digits; if zeros at the end were lost: ", remedy))
    _check_units(frame, scores)
    if np.nanmax(values, initial=0.0) > 1:
        notes.append("scores above 1 are taken for percents, and so are all others of the table")
        values, decimals = values / 100, decimals + 2
    labels = [name for name in frame.columns if name not in scores and name not in sizes]
    names, checks = [], []
    for i in range(len(frame)):
        own = {size: frame[name].iloc[i] for name, size in sizes.items()}
        for group in [list(scores)] if metric is None else [[name] for name in scores]:
            printed = {scores[name]: values[i, list(scores).index(name)] for name in group}
            printed = {name: float(value) for name, value in printed.items() if not np.isnan(value)}
            if not printed:
                continue
            parts = [_label(frame[name].iloc[i]) for name in labels] + ([] if metric is None else group)
            names.append(", ".join(parts) or f"row {i + 1}")
            checks.append(_check(printed, cut._replace(of=ways[i]), own, decimals))
    if not checks:
        raise DataError("the table has no scores; every cell is empty")
    return CheckedTable(names, checks, notes)


def _check_units(frame: pd.DataFrame, scores: dict[str, str]) -> None:
    """Refuse shares beside percents; errors may be below one per cent."""
    largest = {name: frame[name].max() for name in scores}
    percent = [name for name, value in largest.items() if value > 1]
    shares = [name for name, value in largest.items() if 0 < value <= 1 and scores[name] != "error"]
    if percent and shares:
        raise DataError(
            f"column {percent[0]!r} holds percents and column {shares[0]!r} shares; write both in one way, or leave one out: ",
            Remedy("drop", (shares[0],)),
        )


def _ways_of(frame: pd.DataFrame, cut: Cut, sizes: dict[str, str], notes: list[Any]) -> tuple[pd.DataFrame, list[Any]]:
    """Rows that hold scores, and what each is a score of: with a column of folds, of one fold, or the mean over all of them."""
    folds = [name for name in frame.columns if ROLES.get(plain_name(name)) == "fold" and name not in sizes]
    if not folds or cut.of is not None:
        return frame, [cut.of] * len(frame)
    words = frame[folds[0]].map(lambda value: plain_name(str(value)))
    others = words.isin(NO_FOLDS)
    if others.any():
        which = ", ".join(dict.fromkeys(frame[folds[0]][others].map(str)))
        notes.append(f"rows {which} of column {folds[0]!r} are left out, as they hold neither a fold nor the mean of folds")
    frame, words = frame[~others], words[~others]
    own = cut.k is None and "k" not in sizes.values()
    sizes |= {
        name: "n" for name in frame.columns if own and plain_name(name) in ("ntest", "testsize") and "n" not in sizes.values()
    }
    if own and not sizes:
        raise DataError("scores of folds need the number of folds, or columns with the rows of each: ", Remedy("k", "NUMBER"))
    notes.append(f"column {folds[0]!r} names the fold, so that scores are taken for those of one fold"
                 + (", and sizes for the rows of that fold" if own else ""))  # fmt: skip
    means = words.isin(MEANS)
    if means.any() and own:
        remedy = Remedy("k", "NUMBER")
        notes.append(Message("rows of means are not checked without the number of folds and the rows of all: ", remedy))
        frame, means = frame[~means], means[~means]
    return frame, ["folds" if mean else "rows" if own else "fold" for mean in means]


def _label(value: Any) -> str:
    """Write a label; whole numbers without a point."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check(printed: dict[str, float], cut: Cut, own: dict[str, Any], decimals: int) -> CheckedScores:
    """Check the scores of one row with its own sizes."""
    whole = {key: int(value) for key, value in own.items() if not pd.isna(value)}
    classes = (whole["negative"], whole["positive"]) if {"negative", "positive"} <= set(whole) else cut.classes
    n = whole.get("n", None if classes is not None and cut.n is None else cut.n)
    return check_scores(
        printed, n=n, k=whole.get("k", cut.k), classes=classes, decimals=decimals, repeats=cut.repeats, of=cut.of
    )  # fmt: skip


def _without_marks(frame: pd.DataFrame) -> pd.DataFrame:
    """Read columns of texts as numbers, where all of them are some, with a percent sign or all without."""
    changed: dict[str, pd.Series] = {}
    for name in frame.columns:
        texts = frame[name].dropna().astype(str).str.strip()
        if not pd.api.types.is_numeric_dtype(frame[name]) and len(texts) and texts.str.endswith("%").nunique() == 1:
            numbers = pd.to_numeric(texts.str.removesuffix("%"), errors="coerce")
            changed |= {name: numbers.reindex(frame.index)} if numbers.notna().all() else {}
    return frame.assign(**changed)


def _scores_of(frame: pd.DataFrame, metric: str | None, notes: list[Any]) -> dict[str, str]:
    """Columns of scores and the score that each holds."""
    side = side_columns(list(frame.columns))
    if metric is not None:
        if metric.lower() not in NAMES:
            raise DataError(unknown("metric", metric, NAMES))
        named = {name: NAMES[metric.lower()] for name in frame.columns if plain_name(name) == plain_name(metric)}
        free = [name for name in frame.columns if plain_name(name) not in ROLES and plain_name(name) not in SIZES]
        free = [name for name in free if pd.api.types.is_numeric_dtype(frame[name])]
        others = [name for name in free if name in side or counts_something(name)]
        found = named or {name: NAMES[metric.lower()] for name in free if name not in others}
        if others and not named:
            notes.append(f"{', '.join(others)}: left out, as their names are those of no scores")
    else:
        found = {name: NAMES[key] for name in frame.columns if name not in side and (key := _score_name(name)) in NAMES}
    if not found:
        raise DataError("no column is named as a score that can be checked; say which score the numbers are: ",
                        Remedy("metric", "accuracy"))  # fmt: skip
    if metric is None and len(set(found.values())) < len(found):
        twice = [name for name in found if list(found.values()).count(found[name]) > 1]
        raise DataError(f"columns {twice[0]!r} and {twice[1]!r} both hold the {found[twice[0]]}; leave one out: ",
                        Remedy("drop", (twice[1],)))  # fmt: skip
    for name in found:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            raise DataError(f"column {name!r} holds {str(frame[name].iloc[0])!r}, which is not a score; write numbers there")
    return found


def _score_name(name: str) -> str:
    """Reduce the name of a column to that of its score: ``Mean accuracy (%)`` to ``accuracy``."""
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word and word not in NOTHING]
    return "_".join(words)


def _decimals(values: np.ndarray) -> int:
    """Digits behind the point of the longest score."""
    texts = [np.format_float_positional(value, trim="-") for value in values[~np.isnan(values)].ravel()]
    return min(max((len(text.partition(".")[2]) for text in texts), default=0), 10)
