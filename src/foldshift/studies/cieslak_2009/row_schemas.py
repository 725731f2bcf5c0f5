"""Columns of the rows that the study measures, by kind, and reading them from their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from foldshift.engine.storage.score_files import TEXT, read_columns
from foldshift.studies.cieslak_2009.shift_conditions import CONDITIONS
from foldshift.studies.common.row_order import in_order

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import PathLike

MEASURED = [condition.name for condition in CONDITIONS]


def _columns(*names: str, kind: Callable[[], pa.DataType] = pa.float64) -> list[tuple[str, pa.DataType]]:
    """Name columns of one type."""
    return [(name, kind()) for name in names]


KEYS = [("dataset", TEXT), ("repeat", pa.int32()), ("condition", TEXT)]
CELL = [name for name, _ in KEYS]
BY_CLASS = ("fails_positive", "fails_negative", "tested_positive", "tested_negative")  # NaN but for Base and prior shift
SCHEMAS = {
    # Detectors on features, one row per version of a condition.
    "shift": pa.schema(
        [
            *KEYS,
            *_columns("version", "n_train", "n_test", kind=pa.int32),
            *_columns("share_positive", "tied_share"),
            *_columns("n_tested", "fails_paper", "fails", "fails_holm", "fails_bh", "self_tested", kind=pa.int32),
            *_columns("self_paper", "self_valid", "hellinger", "hellinger_expected", "hellinger_p", *BY_CLASS),
        ]
    ),
    # Features that fail under each reading of what MAR removes and of the sides of KS.
    "readings": pa.schema([*KEYS, ("removed", TEXT), *_columns("sides", "n_cells", "failing", kind=pa.int32)]),
    # One row per condition, over its versions.
    "co_failure": pa.schema(
        [
            *KEYS,
            *_columns("n_tests", kind=pa.int32),
            *_columns("phi_paper", "phi_paper_sd", "phi", "phi_sd"),
            *_columns("n_undefined", kind=pa.int32),
            *_columns("jaccard", "hellinger_mean", "hellinger_skew", "hellinger_skew_turned"),
        ]
    ),
    # Detectors on predictions.
    "learners": pa.schema(
        [
            *KEYS,
            *_columns("version", kind=pa.int32),
            ("learner", TEXT),
            *_columns("accuracy_validation", "accuracy_test", "auc_test"),
            *_columns("friedman_p", "two_proportion_p", "kruskal_p", "ks_scores_p"),
            ("status", TEXT),
            ("message", TEXT),
        ]
    ),
    # Tests of whole tables, on some versions.
    "multivariate": pa.schema(
        [*KEYS, *_columns("version", kind=pa.int32), ("detector", TEXT), *_columns("p_value", "statistic")]
    ),
}


def read_rows(paths: Sequence[PathLike], kind: str, settings: dict[str, Any] | None = None) -> pd.DataFrame:
    """Read the rows of one kind, of all data sets and blocks; with `settings`, those of learners in the order of the settings."""
    import pandas as pd  # not needed where rows are measured

    names = SCHEMAS[kind].names
    parts = [pd.DataFrame(read_columns(path, names)) for path in paths]
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
    if kind != "learners" or settings is None:
        return rows
    orders = {"dataset": settings["datasets"], "repeat": None, "condition": MEASURED, "learner": settings["learners"]}
    return in_order(rows, orders)
