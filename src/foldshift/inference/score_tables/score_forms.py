"""Forms of a table of scores: a row for every score, or a column for every learner; both become rows for every score."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError, unknown
from foldshift.core.remedies import Remedy
from foldshift.inference.score_tables.score_columns import (
    ROLES,
    counts_something,
    is_column_of_scores,
    is_metric,
    plain_name,
    side_columns,
)

if TYPE_CHECKING:
    from foldshift.inference.score_tables.score_columns import Columns

KEYS = ("dataset", "repeat", "fold", "item")
MOST_LEARNERS = 200
TRUTHS = (("true", "false"), ("yes", "no"), ("correct", "incorrect"), ("right", "wrong"), ("pass", "fail"), ("passed", "failed"))
# A number, and what its spread may look like: 0.95 ± 0.01, 95.3 +/- 1.2 %, 0.95 (0.01), 0.95 [0.93, 0.97].
SPREAD = re.compile(
    r"([-+]?\d*\.?\d+)\s*(%?)\s*(?:(?:±|\+/?-|\\pm)\s*\d*\.?\d+|\(\s*±?\s*\d*\.?\d+\s*%?\s*\)|"
    r"[\[(]\s*[-+]?\d*\.?\d+\s*[,;–-]\s*[-+]?\d*\.?\d+\s*[\])])\s*(%?)"
)
# What marks the best score, or a test: **0.95**, \textbf{0.95}, 0.95*, 0.95†.
MARKS = re.compile(r"\\(?:text|math)?(?:bf|it)\b|\\(?:underline|emph|bm|boldsymbol)\b|\\(?=%)|[{}$*†‡§•◦°↑↓▲▼]|^_+|_+$")
UNNAMED = re.compile(r"x\d+|Unnamed: \d+")  # names that columns without one get
COLUMN, SCORE = "column of the table", "score of the column"
COUNTS = {"tp", "fp", "tn", "fn"}  # of right and wrong rows
ROW = "row of the table"  # column of items that have no name


def named_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with named index levels as columns, and all names as texts."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    if isinstance(frame.columns, pd.MultiIndex):
        raise DataError(f"the columns of the table have {frame.columns.nlevels} levels; give one level: frame.stack() or rename")
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    frame = frame[[name for name in frame.columns if not (UNNAMED.fullmatch(name) and frame[name].isna().all())]]
    if not len(frame):
        raise DataError("the table has no rows; there is nothing to compare")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(f"two columns are named {twice[0]!r}; give each a name of its own")
    return frame


def without_spreads(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Leave out what is printed beside scores, spreads such as ``0.95 ± 0.01`` and marks such as ``0.95*``, and say so."""
    changed, told = {}, {"spreads printed behind the scores": list[str](), "marks beside the scores": list[str]()}
    for name in frame.columns:
        if ROLES.get(plain_name(name)) in KEYS or pd.api.types.is_numeric_dtype(frame[name]):
            continue
        texts = frame[name].dropna().astype(str).str.strip()
        bare = texts.map(lambda text: MARKS.sub("", text).strip())
        plain = bare.map(lambda text: SPREAD.sub(r"\1\2\3", text) if SPREAD.fullmatch(text) else text)
        if (plain == texts).all() or pd.to_numeric(plain.str.removesuffix("%"), errors="coerce").isna().any():
            continue
        values = frame[name].to_numpy(object, copy=True)
        values[frame[name].notna().to_numpy()] = plain.to_numpy(object)
        changed[name] = values
        for what, differ in zip(told, (plain != bare, bare != texts)):
            told[what] += [name] if differ.any() else []
    notes += [f"{', '.join(names)}: {what} are left out" for what, names in told.items() if names]
    return frame.assign(**changed)


def measured(frame: pd.DataFrame) -> list[str]:
    """Names of the columns of numbers that are not whole."""
    numbers = [name for name in frame.columns if pd.api.types.is_float_dtype(frame[name])]
    return [name for name in numbers if (frame[name].dropna() % 1 != 0).any()]


def rows_in_words(which: pd.Series) -> str:
    """Count rows in words."""
    return f"{(n := int(which.sum()))} {'row has' if n == 1 else 'rows have'}"


def long_form(frame: pd.DataFrame, found: Columns, metric: str | None) -> tuple[pd.DataFrame, Columns, str]:
    """Take the scores of one metric from a table with a row for every score."""
    if found.score is None:
        numbers = [name for name in frame.columns if name not in found.taken and _is_numbers(frame[name])]
        if len(numbers) != 1:
            listed = f"; columns of numbers: {', '.join(numbers[:8])}" if numbers else "; no other column holds numbers"
            raise DataError(
                "no column is named as one of scores", listed, "; say which: ", Remedy("score", (numbers or ["COLUMN"])[0])
            )
        found = found._replace(score=numbers[0])
    told = metric or ("" if found.score in (None, SCORE) else found.score)
    if found.metric is not None:
        there = list(dict.fromkeys(frame[found.metric].dropna().astype(str)))
        if metric is None and len(there) > 1:
            shown = ", ".join(there[:8])
            raise DataError(
                f"column {found.metric!r} names {len(there)} metrics ({shown}); choose one: ", Remedy("metric", there[0])
            )
        if metric is not None and metric not in there:
            raise DataError(unknown("metric", metric, there))
        told = metric or (there[0] if there else told)
        frame = frame[frame[found.metric].astype(str) == told]
    frame = frame.assign(**{str(found.score): _numbers(frame[found.score], str(found.score), frame)})
    empty = frame[found.learner].isna()
    if empty.any():
        raise DataError(f"{rows_in_words(empty)} no name in column {found.learner!r}; fill it in or leave these rows out")
    return frame, found, told


def row_each(frame: pd.DataFrame, found: Columns, unit: str | None) -> tuple[pd.DataFrame, Columns]:
    """Turn a column for every data set, item or fold, and a row for every learner, into a row for every score.

    A table of another form stays as it is.
    """
    keys = [getattr(found, role) for role in KEYS if getattr(found, role) is not None]
    if found.learner is None or found.score is not None or keys or frame[found.learner].duplicated().any():
        return frame, found
    columns = [name for name in frame.columns if name not in found.taken and _is_numbers(frame[name])]
    columns = [name for name in columns if name not in side_columns(columns) and not counts_something(name)]
    if len(columns) < 2:
        return frame, found
    if unit is None and all(is_metric(name) or plain_name(name) in COUNTS for name in columns):
        check_several(frame, found)
    if unit is None:
        shown = f"{', '.join(columns[:4])}{', ...' if len(columns) > 4 else ''}"
        raise DataError(
            f"every learner has one row, and columns {shown} hold numbers; say what each of them is: ", Remedy("unit", "dataset"),
            ", ", Remedy("unit", "item"), "; or which one is the score: ", Remedy("score", columns[0]),
        )  # fmt: skip
    long = frame.melt(id_vars=[found.learner], value_vars=columns, var_name=COLUMN, value_name=SCORE)
    return long, found._replace(**{unit: COLUMN, "score": SCORE})


def check_several(frame: pd.DataFrame, found: Columns) -> None:
    """Refuse a table of which every learner has one row."""
    if not frame[found.learner].duplicated().any():
        raise DataError(
            "every learner has one row: a single score does not show how much it varies; give the scores, or the predictions, of "
            "every item, fold or data set"
        )


def wide_form(frame: pd.DataFrame, found: Columns, metric: str | None, notes: list[str]) -> tuple[pd.DataFrame, Columns, str]:
    """Turn a table with a column for every learner into one with a row for every score."""
    rest = [name for name in frame.columns if name not in found.taken and not counts_rows(frame[name])]
    others = [name for name in rest if counts_something(name)]
    others += side_columns([name for name in rest if name not in others])
    if others:
        what = "its name is that of no learner" if len(others) == 1 else "their names are those of no learners"
        notes.append(f"{', '.join(others)}: left out, as {what}; rename a learner that is named so")
        rest = [name for name in rest if name not in others]
    scores = [name for name in rest if _holds_scores(frame[name])]
    texts = [name for name in rest if name not in scores]
    labels = [name for name in texts if 2 <= frame[name].nunique() <= min(MOST_LEARNERS, len(frame) / 2)]
    of_all = [name for name in scores if is_column_of_scores(name)] or (scores if all(map(is_metric, scores)) else scores[:1])
    if scores and (len(scores) == 1 or any(map(is_column_of_scores, scores)) or all(map(is_metric, scores))):
        what = (
            f"no column names the learner, and {' and '.join(map(repr, of_all[:4]))} look{'s' * (len(of_all) == 1)} like scores; "
        )
        if labels:
            raise DataError(what, "say which column does: ", Remedy("learner", labels[0]))
        raise DataError(what, "add a column of learners, or give a column of scores for every learner, named by it")
    if len(scores) < 2:
        text = next((name for name in texts if name not in labels), None)
        if text is not None:
            _numbers(frame[text], text, frame)
        raise DataError("the table has no scores of two learners; give a column of numbers for each, or a row for every score")
    keys = [name for name in found.taken if name is not None]
    frame = frame.assign(**{name: _numbers(frame[name], name, frame) for name in scores})
    if found.item is None and found.fold is None and found.dataset is None and found.repeat is None:
        frame, keys, found = frame.assign(**{ROW: np.arange(1, len(frame) + 1)}), [*keys, ROW], found
        found = found._replace(item=ROW)
    long = frame.melt(id_vars=keys, value_vars=scores, var_name="learner of the column", value_name=SCORE)
    return long, found._replace(learner="learner of the column", score=SCORE), metric or ""


def counts_rows(column: pd.Series) -> bool:
    """Say whether a column counts the rows in their order."""
    return len(column) > 2 and pd.api.types.is_numeric_dtype(column) and bool((column.astype(np.float64).diff()[1:] == 1).all())


def _holds_scores(column: pd.Series) -> bool:
    """Say whether a column holds numbers, truth values, or texts of which most are numbers."""
    if pd.api.types.is_numeric_dtype(column) or _as_truth(column) is not None:
        return True
    texts = column.dropna().astype(str).str.strip().str.removesuffix("%")
    return len(texts) > 0 and bool(pd.to_numeric(texts, errors="coerce").notna().mean() > 0.5)


def _is_numbers(column: pd.Series) -> bool:
    """Say whether a column holds numbers or truth values alone."""
    return pd.api.types.is_numeric_dtype(column) or _as_truth(column) is not None


def _as_truth(column: pd.Series) -> pd.Series | None:
    """Read a column of truth values, also written as texts; None if it holds something else."""
    texts = column.dropna().astype(str).str.strip().str.lower()
    right = next((yes for yes, no in TRUTHS if len(texts) and texts.isin((yes, no)).all()), None)
    if right is None:
        return None
    return column.astype(object).map(lambda value: np.nan if pd.isna(value) else float(str(value).strip().lower() == right))


def _numbers(column: pd.Series, name: str, frame: pd.DataFrame) -> pd.Series:
    """Read a column of scores; refuse texts and infinite values, with a remedy."""
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        if pd.api.types.is_complex_dtype(column):
            raise DataError(f"column {name!r} holds complex numbers; scores are real")
        values = column.astype(np.float64)
    else:
        truth = _as_truth(column)
        if truth is not None:
            return truth
        texts = column.astype(object).map(lambda value: value if pd.isna(value) else str(value).strip())
        present = texts.dropna()
        percent = present.str.endswith("%") if len(present) else present
        if len(present) and percent.any() and not percent.all():
            bare = present[~percent].iloc[0]
            raise DataError(f"column {name!r} has scores with and without a percent sign, such as {bare!r}; write all in one way")
        values = pd.to_numeric(texts.where(texts.isna(), texts.astype(str).str.removesuffix("%")), errors="coerce").astype(
            np.float64
        )
        bad = values.isna() & texts.notna()
        if bad.any():
            others = [
                one
                for one in frame.columns
                if one != name and _is_numbers(frame[one]) and (plain_name(one) not in ROLES or is_column_of_scores(one))
            ]
            what = f"column {name!r} holds {str(texts[bad].iloc[0])!r}, which is not a score; "
            if others and bad.sum() > len(values) / 2:
                raise DataError(what, "name the column of numbers: ", Remedy("score", others[0]))
            raise DataError(what, "write a number there, or leave it empty")
        values = values / 100 if len(present) and percent.all() else values
    if np.isinf(values).any():
        raise DataError(f"column {name!r} holds infinite scores; leave them empty (a failed fit has no score) or correct them")
    return values


def check_keys(frame: pd.DataFrame, found: Columns) -> None:
    """Refuse keys without a value, a column that marks training and test scores, and a single learner."""
    for role in KEYS:
        name = getattr(found, role)
        if name is not None and frame[name].isna().any():
            raise DataError(
                f"{rows_in_words(frame[name].isna())} no value in column {name!r}, the {role}; fill it in or leave these rows out"
            )
    if found.fold is not None:
        words = set(frame[found.fold].astype(str).str.lower())
        if len(words) > 1 and words <= {"train", "training", "test", "valid", "validation", "val", "dev"}:
            raise DataError(
                f"column {found.fold!r} holds {' and '.join(sorted(words))}; only scores of test rows can be compared: keep those"
            )
    learners = frame[found.learner].astype(str).unique()
    if len(learners) < 2:
        raise DataError(
            f"column {found.learner!r} names one learner, {learners[0]!r}; a comparison needs the scores of two on the same rows"
        )
    if len(learners) > MOST_LEARNERS:
        what = f"column {found.learner!r} names {len(learners)} learners, more than {MOST_LEARNERS}; name the right column: "
        raise DataError(what, Remedy("learner", "COLUMN"))
