"""Tables of predictions beside the true values: each prediction becomes a score."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.core.remedies import Remedy
from foldshift.datasets.readers.columns.spellings import same_words
from foldshift.inference.score_tables.score_columns import (
    MAYBE_TRUE,
    NO_SCORES,
    ROLES,
    plain_name,
    side_columns,
    words_of,
)
from foldshift.inference.score_tables.score_forms import counts_rows

if TYPE_CHECKING:
    from foldshift.inference.score_tables.score_columns import Columns

ITEM, LEARNER, SCORE = "row of predictions", "learner of the column", "score of the prediction"
KNOWN = 0.95  # share of the predictions of classes that must be among the true ones


def as_labels(column: pd.Series) -> list[str]:
    """Write labels as texts; whole numbers without a point."""
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        return column.astype("Int64").astype(str).tolist()
    return column.astype(object).map(str).tolist()


def score_predictions(
    frame: pd.DataFrame, found: Columns, metric: str | None, notes: list[str]
) -> tuple[pd.DataFrame, Columns, str | None]:
    """Score predictions by the true values beside them, and name the score; a table of scores stays as it is.

    Classes are scored 1 if right and 0 if wrong, numbers by their squared error.
    """
    if found.learner is None:
        found = found._replace(truth=found.truth or _unnamed_truth(frame, found))
    if found.truth is None:
        return frame, found, metric
    if found.learner is not None:
        if found.score is not None or found.prediction is None:
            return frame, found, metric
        columns = [found.prediction]
    else:
        predicted = _predicted(frame, found)
        columns = _of_one_class(frame, predicted, notes)
        frame = frame.drop(columns=[name for name in predicted if name not in columns])
    truth, classes = frame[found.truth], all(_among(frame[name], frame[found.truth]) for name in columns)
    scored = frame.assign(
        **{name: _right(frame[name], truth) if classes else _squared_error(frame[name], truth) for name in columns}
    )
    what = "1 where a prediction is right, 0 where it is wrong" if classes else "squared errors of the predictions"
    notes.append(f"scores are {what}, by the true values in column {found.truth!r}")
    metric = metric or ("accuracy" if classes else "squared error")
    if found.learner is not None:
        return scored, found._replace(score=found.prediction), metric
    return *_a_row_each(scored, found, columns, notes), metric


def _a_row_each(frame: pd.DataFrame, found: Columns, columns: list[str], notes: list[str]) -> tuple[pd.DataFrame, Columns]:
    """Turn a column for every learner into a row for every score."""
    numbers = frame.select_dtypes("number").columns
    rest = [name for name in numbers if name not in (*columns, *found.taken) and not counts_rows(frame[name])]
    if rest:
        notes.append(f"{', '.join(rest)}: left out, beside predictions and true values")
    if found.item is None:
        if found.repeat is not None:
            raise DataError(
                f"column {found.repeat!r} says that items come again, and none says which they are; name it: ",
                Remedy("item", "COLUMN"),
            )
        frame, found = frame.assign(**{ITEM: np.arange(1, len(frame) + 1)}), found._replace(item=ITEM)
    keys = list(dict.fromkeys(found.taken))
    long = frame.melt(id_vars=keys, value_vars=columns, var_name=LEARNER, value_name=SCORE)
    return long, found._replace(learner=LEARNER, score=SCORE)


def _unnamed_truth(frame: pd.DataFrame, found: Columns) -> str | None:
    """Find true classes in a column such as `label`; refuse a column of numbers of that name, which may hold scores as well."""
    name = next((one for one in frame.columns if plain_name(one) in MAYBE_TRUE and one not in found.taken), None)
    if name is None:
        return None
    others = [one for one in frame.columns if one != name and one not in found.taken and _among(frame[one], frame[name])]
    if pd.api.types.is_numeric_dtype(frame[name]):
        raise DataError(
            f"column {name!r} may hold the true values of predictions, or the scores of a learner; if other columns are ",
            "predictions: ", Remedy("truth", name), "; else rename it, or leave it out",
        )  # fmt: skip
    return name if len(others) > 1 else None


def _predicted(frame: pd.DataFrame, found: Columns) -> list[str]:
    """Names of the columns of predictions: those of the true classes, else those of numbers."""
    truth = frame[found.truth]
    free = [name for name in frame.columns if name not in found.taken and plain_name(name) not in ROLES]
    classes = [name for name in free if _among(frame[name], truth)]
    if len(classes) > 1:
        return classes
    side = side_columns(free)
    free = [name for name in free if name not in side and not words_of(name) & (NO_SCORES - {"p"})]  # p is a probability here
    numbers = [name for name in free if pd.api.types.is_numeric_dtype(frame[name]) and not counts_rows(frame[name])]
    if pd.api.types.is_numeric_dtype(truth) and len(numbers) > 1:
        return numbers
    said = f"column {found.truth!r} is taken for the true values, and no two columns hold predictions of them; "
    if len(numbers) > 1 and truth.nunique() == 2 and all(frame[name].between(0, 1).all() for name in numbers):
        raise DataError(said + "if the others are probabilities, write 1 for the class that they are of, and 0")
    raise DataError(said + "give a column for each learner, or rename it if it holds scores")


def _of_one_class(frame: pd.DataFrame, columns: list[str], notes: list[str]) -> list[str]:
    """Leave out the probabilities of class 0 beside those of class 1, which say the same; refuse two without these names."""
    kept = list(columns)
    for one, other in combinations(columns, 2):
        both = frame[[one, other]].to_numpy()
        if both.dtype.kind != "f" or not (np.abs(both.sum(axis=1) - 1) <= 0.011).all():  # as rounded to two places
            continue
        lower = [name for name in (one, other) if re.search(r"(?:^|[^0-9])0$", name)]
        if len(lower) != 1:
            raise DataError(
                f"columns {one!r} and {other!r} add up to 1 in every row, as probabilities of two classes do; leave out that of "
                "class 0"
            )
        kept.remove(lower[0])
        notes.append(f"{lower[0]}: left out, the probability of class 0, which is 1 less that of class 1")
    if len(kept) < 2:
        raise DataError(f"{', '.join(columns)}: probabilities of two classes by one learner; give a column for each learner")
    return kept


def _among(column: pd.Series, truth: pd.Series) -> bool:
    """Say whether nearly all predictions are among the true classes; numbers with many values are no classes."""
    known = set(as_labels(truth.dropna()))
    if len(known) > len(truth) / 2 or (pd.api.types.is_float_dtype(truth) and (truth.dropna() % 1 != 0).any()):
        return False
    said = _spelled_alike(column.dropna(), known)
    return len(said) > 0 and float(np.mean([one in known for one in said])) >= KNOWN


def _spelled_alike(column: pd.Series, known: set[str]) -> list[str]:
    """Write predicted labels as the true ones are; capitals and blanks in words do not count."""
    said = as_labels(column)
    same = same_words(known, set(said))
    return [same.get(one, one) for one in said]


def _right(column: pd.Series, truth: pd.Series) -> pd.Series:
    """Score classes: 1 if right, 0 if wrong, NaN where either is missing."""
    known = (column.notna() & truth.notna()).to_numpy()
    labels = as_labels(truth[known])
    right = np.full(len(column), np.nan)
    right[known] = np.array(_spelled_alike(column[known], set(labels))) == np.array(labels)
    return pd.Series(right, index=column.index)


def _squared_error(column: pd.Series, truth: pd.Series) -> pd.Series:
    """Score numbers by their squared error; refuse texts among them."""
    for one in (column, truth):
        if not pd.api.types.is_numeric_dtype(one):
            example = one.dropna().iloc[0] if one.notna().any() else ""
            raise DataError(
                f"column {str(one.name)!r} holds {str(example)!r}; predictions are compared as numbers, or as classes of which "
                "nearly all are among the true ones"
            )
    return (column.astype(np.float64) - truth.astype(np.float64)) ** 2
