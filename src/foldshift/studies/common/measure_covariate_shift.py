"""Measure the shift of the inputs between training and test parts of one data set: of every run, and feature by feature."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
    from foldshift.core.types import Array, Inputs, PathLike, Rows
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


def first_runs(
    paths: Sequence[PathLike], wanted: dict[str, dict[str, Any]], n_runs: dict[int, int]
) -> tuple[dict[int, dict[str, Array]], dict[int, dict[str, Array]]]:
    """First runs of every partitioner and k.

    Parameters
    ----------
    paths : sequence of path-like
        Files of folds.
    wanted : dict
        See `foldshift.engine.layout.file_names.runs_wanted`.
    n_runs : dict of int to int
        Number of runs wanted, by k; other k are left out.

    Returns
    -------
    cuts : dict of int to dict of str to ndarray of shape (n_runs, n_samples)
        Folds, by k and partitioner; fewer where the files hold fewer.
    seeds : dict of int to dict of str to ndarray of shape (n_runs,)
    """
    folds, all_seeds = join_folds(paths, wanted, max(n_runs.values()))
    cuts, seeds = {k: {} for k in n_runs}, {k: {} for k in n_runs}
    for partitioner, k in folds:
        if k in n_runs:
            cuts[k][partitioner] = folds[partitioner, k][: n_runs[k]]
            seeds[k][partitioner] = all_seeds[partitioner, k][: n_runs[k]]
    return cuts, seeds


def feature_rows(data: Dataset, partitioner: str, cut: Array, k: int, master_seed: int) -> dict[str, list[Any]]:
    """Which features the runs of a partitioner shift, the target last.

    Parameters
    ----------
    data : foldshift.datasets.dataset.Dataset
    partitioner : str
    cut : ndarray of shape (n_runs, n_samples)
        Folds.
    k : int
        Number of folds.
    master_seed : int
        The one seed of the configuration, which the draws are derived from.

    Returns
    -------
    columns : dict of str to list
        As the kind ``shifted_features``; empty for a data set too small to be tested.
    """
    rows = []
    if len(data.y) >= FEWEST_ROWS:
        # All partitioners are compared with the same random cuts.
        rng = generator(master_seed, "fold drift", data.name, k)
        about = {"categorical_features": data.categorical_features, "feature_names": data.feature_names}
        drift = fold_drift(data.X, data.y, cut, k, task=data.task, n_random=N_RANDOM, rng=rng, **about)
        keys = {"dataset": data.name, "partitioner": partitioner, "k": k, "n_runs": len(cut)}
        rows = [keys | {"feature": row.pop("name")} | row for row in drift.to_rows()]
    return {name: [row[name] for row in rows] for name in SCHEMAS["shifted_features"].names}


def measure_covariate_shift(
    inputs: Inputs, cell: dict[str, str], *, wanted: dict[str, dict[str, Any]], runs: dict[int, int], master_seed: int
) -> dict[str, Rows]:
    """The shift of the inputs that the first runs of every partitioner make.

    Parameters
    ----------
    inputs : object
        ``data``: the prepared data set; ``folds``: files of the study's own experiments.
    cell : dict
        ``dataset``.
    wanted : dict
        What is wanted of the folds; see `foldshift.engine.layout.file_names.runs_wanted`.
    runs : dict of int to int
        Number of runs to measure, at most, by number of folds k.
    master_seed : int

    Returns
    -------
    rows : dict of str to list of dict
        Kind ``covariate_shift``: one row per partitioner, k and run. Kind ``shifted_features``: one per partitioner, k and
        feature.
    """
    data = read_prepared(inputs.data)
    parts, features = [], []
    cuts, seeds = first_runs(inputs.folds, wanted, runs)
    for k, by_partitioner in cuts.items():
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
            rows |= {"run": np.arange(len(cut)), "seed": seeds[k][partitioner]}
            parts.append(rows | {name: values[start:end].mean(axis=1) for name, values in shift.items()})
            features.append(feature_rows(data, partitioner, cut, k, master_seed))
    return {"covariate_shift": parts, "shifted_features": features}


def first_call() -> None:
    """Call what is compiled here, on three columns of made-up data."""
    X, folds = np.column_stack([np.arange(40.0), np.arange(40.0) % 3, np.arange(40.0) % 2]), np.arange(80).reshape(2, 40) % 4
    about = {"categorical_features": np.array([False, False, True])}
    for y in (X[:, 1].astype(np.int64), X[:, 0]):
        fold_drift(X, y, folds.astype(np.uint8), 4, n_random=99, rng=np.random.default_rng(0), **about)
    fold_covariates(X, folds.astype(np.uint8), 4, rng=np.random.default_rng(0), **about)
