"""Measure the shift of the inputs between training and test parts of one data set, by run and by feature."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from foldshift.core.seeding import generator
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.storage.fold_files import join_folds
from foldshift.engine.storage.score_files import TEXT
from foldshift.shift.measures.covariates import MEASURES, fold_covariates
from foldshift.shift.report.fold_drift import FoldFeature, fold_drift
from foldshift.shift.table_versions import FEWEST_ROWS

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, IntArray, PathLike, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset

N_RANDOM = 499  # random cuts that say what chance gives

CELL = [("dataset", TEXT), ("partitioner", TEXT), ("k", pa.int32())]
SCHEMAS = {
    "covariate_shift": pa.schema(
        [*CELL, ("run", pa.int32()), ("seed", pa.int32()), *[(name, pa.float64()) for name in MEASURES]]
    ),
    "shifted_features": pa.schema(
        [
            *CELL,
            ("n_runs", pa.int32()),
            ("feature", TEXT),
            ("kind", TEXT),
            *[(name, pa.float64()) for name in FoldFeature._fields[2:-1]],
            ("verdict", TEXT),
        ]
    ),
}


class Runs(NamedTuple):
    """Runs of one number of folds, by partitioner."""

    folds: dict[str, UnsignedArray]  # (n_runs, n_samples)
    seeds: dict[str, IntArray]  # (n_runs,)


def first_runs(paths: Sequence[PathLike], wanted: dict[str, dict[str, Any]], n_runs: dict[int, int]) -> dict[int, Runs]:
    """Read the first runs of every partitioner and k; `n_runs`: how many, at most, by k; other k are left out."""
    folds, seeds = join_folds(paths, wanted, max(n_runs.values()))
    runs = {k: Runs({}, {}) for k in n_runs}
    for partitioner, k in folds:
        if k in n_runs:
            runs[k].folds[partitioner] = folds[partitioner, k][: n_runs[k]]
            runs[k].seeds[partitioner] = seeds[partitioner, k][: n_runs[k]]
    return runs


def feature_rows(data: Dataset, partitioner: str, cut: UnsignedArray, k: int, master_seed: int) -> dict[str, list[Any]]:
    """Find the features that the runs of a partitioner shift, the target last; no rows for a data set too small to be tested."""
    rows = []
    if len(data.y) >= FEWEST_ROWS:
        # All partitioners are compared with the same random cuts.
        rng = generator(master_seed, "fold drift", data.name, k)
        drift = fold_drift(
            data.X,
            data.y,
            cut,
            k,
            categorical_features=data.categorical_features,
            feature_names=data.feature_names,
            task=data.task,
            n_random=N_RANDOM,
            rng=rng,
        )
        keys = {"dataset": data.name, "partitioner": partitioner, "k": k, "n_runs": len(cut)}
        rows = [keys | {"feature": row.pop("name")} | row for row in drift.to_rows()]
    return {name: [row[name] for row in rows] for name in SCHEMAS["shifted_features"].names}


def measure_covariate_shift(
    inputs: Inputs, cell: dict[str, str], *, wanted: dict[str, dict[str, Any]], runs: dict[int, int], master_seed: int
) -> dict[str, Rows]:
    """Measure the shift of the inputs that the first runs of every partitioner make; `runs`: how many, at most, by k."""
    data = read_prepared(inputs.data)
    parts, features = [], []
    for k, (by_partitioner, seeds) in first_runs(inputs.folds, wanted, runs).items():
        if not by_partitioner:
            continue
        # All partitioners at once: distances and neighbours are the same.
        shift = fold_covariates(
            data.X,
            np.concatenate(list(by_partitioner.values())),
            k,
            categorical_features=data.categorical_features,
            rng=generator(master_seed, "covariate shift", data.name),
        )
        end = 0
        for partitioner, cut in by_partitioner.items():
            start, end = end, end + len(cut)
            logging.info("%s, k=%d: %d runs", partitioner, k, len(cut))
            rows = {"dataset": [data.name] * len(cut), "partitioner": [partitioner] * len(cut), "k": [k] * len(cut)}
            rows |= {"run": np.arange(len(cut)), "seed": seeds[partitioner]}
            parts.append(rows | {name: values[start:end].mean(axis=1) for name, values in shift.items()})
            features.append(feature_rows(data, partitioner, cut, k, master_seed))
    return {"covariate_shift": parts, "shifted_features": features}


def first_call() -> None:
    """Call the compiled functions of this module on three columns of made-up data."""
    X, folds = np.column_stack([np.arange(40.0), np.arange(40.0) % 3, np.arange(40.0) % 2]), np.arange(80).reshape(2, 40) % 4
    nominal = np.array([False, False, True])
    for y in (X[:, 1].astype(np.int64), X[:, 0]):
        rng = np.random.default_rng(0)
        fold_drift(X, y, folds.astype(np.uint8), 4, categorical_features=nominal, n_random=99, rng=rng)
    fold_covariates(X, folds.astype(np.uint8), 4, categorical_features=nominal, rng=np.random.default_rng(0))
