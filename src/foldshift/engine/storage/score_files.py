"""Scores as Parquet files: one row per data set, learner, partitioner, k, seed and fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from foldshift.engine.storage.parquet_files import read_parquet, write_parquet
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS, METRICS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, PathLike

TEXT = pa.dictionary(pa.int32(), pa.string())


def score_schema(metrics: tuple[str, ...]) -> pa.Schema:
    """Columns of a score file: one row per fold."""
    return pa.schema(
        [
            ("dataset", TEXT),
            ("learner", TEXT),
            ("partitioner", TEXT),
            ("k", pa.int32()),
            ("seed", pa.int32()),
            ("fold", pa.int32()),
            *[(name, pa.float64()) for name in metrics],
            ("n_train", pa.int32()),
            ("n_test", pa.int32()),
            ("status", TEXT),
            ("message", TEXT),
            ("fit_seconds", pa.float64()),
        ]
    )


SCORE_SCHEMA = score_schema(METRICS)
CLASS_SCORE_SCHEMA = score_schema(CLASSIFICATION_METRICS)
SHIFT_SCHEMA = pa.schema(
    [
        ("dataset", TEXT),
        ("partitioner", TEXT),
        ("k", pa.int32()),
        ("seed", pa.int32()),
        ("fold", pa.int32()),
        ("d_n", pa.float64()),
    ]
)


def fold_rows(values: dict[str, Array], seeds: Array, **keys: Any) -> dict[str, Array]:
    """Turn arrays over seeds and folds into the columns of a table."""
    n_seeds, n_folds = next(iter(values.values())).shape
    columns = {
        name: np.full(n_seeds * n_folds, value, dtype=object if isinstance(value, str) else None) for name, value in keys.items()
    }
    columns["seed"] = np.repeat(seeds, n_folds)
    columns["fold"] = np.tile(np.arange(n_folds), n_seeds)
    return columns | {name: np.asarray(array).ravel() for name, array in values.items()}


def write_rows(path: PathLike, columns: dict[str, ArrayLike] | list[Any], schema: pa.Schema) -> None:
    """Write columns as a Parquet file, whole or not at all."""
    parts = columns if isinstance(columns, list) else [columns]
    tables = [
        pa.table({name: pa.array(part[name]).cast(schema.field(name).type) for name in schema.names}, schema=schema)
        for part in parts
    ]
    write_parquet(path, pa.concat_tables(tables).unify_dictionaries())


def read_columns(path: PathLike, names: Sequence[str]) -> dict[str, Array]:
    """Read some columns of a Parquet file."""
    table = read_parquet(path, names)
    columns = {}
    for name in names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
        columns[name] = column.to_numpy(zero_copy_only=False)
    return columns
