"""Scores as Parquet files: one row per data set, learner, partitioner, k, seed and fold."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foldshift.core.files import atomic_path
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS, METRICS

TEXT = pa.dictionary(pa.int32(), pa.string())


def score_schema(metrics):
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


def fold_rows(values, seeds, **keys):
    """Turn arrays over seeds and folds into the columns of a table.

    Parameters
    ----------
    values : dict of str to ndarray of shape (n_seeds, n_folds)
        What was measured for every fold of every seed.
    seeds : ndarray of shape (n_seeds,)
        The seeds.
    **keys : str or int
        Columns with one value throughout, e.g. ``dataset="abalone", k=5``.

    Returns
    -------
    columns : dict of str to ndarray of shape (n_seeds * n_folds,)
        Keys, ``seed``, ``fold`` and the values; seeds in their order, folds within seeds.
    """
    n_seeds, n_folds = next(iter(values.values())).shape
    columns = {
        name: np.full(n_seeds * n_folds, value, dtype=object if isinstance(value, str) else None) for name, value in keys.items()
    }
    columns["seed"] = np.repeat(seeds, n_folds)
    columns["fold"] = np.tile(np.arange(n_folds), n_seeds)
    return columns | {name: np.asarray(array).ravel() for name, array in values.items()}


def write_rows(path, columns, schema):
    """Write columns as a Parquet file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file.
    columns : dict of str to array-like, or list of such
        Columns by name, as `fold_rows` makes them; several are written one after the other.
    schema : pyarrow.Schema
        `SCORE_SCHEMA`, `CLASS_SCORE_SCHEMA` or `SHIFT_SCHEMA`.
    """
    parts = columns if isinstance(columns, list) else [columns]
    tables = [
        pa.table({name: pa.array(part[name]).cast(schema.field(name).type) for name in schema.names}, schema=schema)
        for part in parts
    ]
    with atomic_path(path) as temporary:
        pq.write_table(pa.concat_tables(tables).unify_dictionaries(), temporary)


def read_columns(path, names):
    """Read some columns of a Parquet file.

    Parameters
    ----------
    path : path-like
        The file.
    names : sequence of str
        Columns.

    Returns
    -------
    columns : dict of str to ndarray
        Text columns as objects.
    """
    table = pq.read_table(path, columns=list(names))
    columns = {}
    for name in names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
        columns[name] = column.to_numpy(zero_copy_only=False)
    return columns
