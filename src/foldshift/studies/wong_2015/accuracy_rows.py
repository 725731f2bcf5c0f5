"""Read the rows of the study; constants that all of its tables and figures share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.studies.common.row_order import in_order

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

LEAVE_ONE_OUT = 0  # the k of leave-one-out
REPETITIONS = 10  # for which the variance ratio is printed
FOLDS = ("dataset", "learner", "k", "repetition", "fold", "n_correct", "n_test", "status", "message")
CORRECT = ("dataset", "learner", "k", "n_rows", "right")
PAIRS = ("dataset", "learner_a", "learner_b", "k", "both", "only_a", "only_b", "neither")


def read_rows(paths: Sequence[PathLike], columns: Sequence[str]) -> pd.DataFrame:
    """Read some columns of all files, one for each cell."""
    return pd.concat([pd.DataFrame(read_columns(path, columns)) for path in paths], ignore_index=True)


def read_folds(paths: Sequence[PathLike], settings: dict[str, Any]) -> pd.DataFrame:
    """Read counts of correct predictions by fold, in the order of the configuration, whichever files hold them."""
    return in_order(read_rows(paths, FOLDS), _orders(settings) | {"repetition": None, "fold": None})


def read_pairs(paths: Sequence[PathLike], settings: dict[str, Any]) -> pd.DataFrame:
    """Count rows on which both, one or none of two learners are right in the first repetition; NaN where one lost a fit."""
    rows = []
    correct = in_order(read_rows(paths, CORRECT), _orders(settings))
    for (dataset, k), part in correct.groupby(["dataset", "k"], sort=False):
        for a, b in combinations(part.itertuples(), 2):
            rows.append((dataset, a.learner, b.learner, k, *_counts(a, b)))
    return pd.DataFrame(rows, columns=PAIRS)


def _counts(a: Any, b: Any) -> tuple[float, ...]:
    """Count rows that both, only a, only b and neither get right; `a` and `b` are rows with the fields of `CORRECT`."""
    if a.right is None or b.right is None:
        return (np.nan,) * 4
    right_a, right_b = (np.unpackbits(np.frombuffer(one.right, np.uint8), count=one.n_rows).astype(bool) for one in (a, b))
    return tuple(float((one & two).sum()) for one in (right_a, ~right_a) for two in (right_b, ~right_b))


def _orders(settings: dict[str, Any]) -> dict[str, list[Any] | None]:
    """Order of rows by column, as for `in_order`."""
    return {"dataset": settings["datasets"], "learner": settings["learners"], "k": [*settings["n_folds"], LEAVE_ONE_OUT]}
