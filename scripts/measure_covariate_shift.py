"""Measure the shift of the inputs between training and test parts of one data set: of every run, and feature by feature."""

import logging

import numpy as np
import pyarrow as pa

from foldshift.datasets.dataset import read_prepared
from foldshift.evaluation.storage import TEXT, write_rows
from foldshift.jobs import run
from foldshift.partition.storage import join_folds
from foldshift.seeding import generator
from foldshift.shift.covariates import MEASURES, fold_covariates
from foldshift.shift.drift import FoldFeature, fold_drift
from foldshift.shift.two_sample import FEWEST_ROWS

N_RANDOM = 499  # random cuts that say what chance gives

SCHEMA = pa.schema(
    [
        ("dataset", TEXT),
        ("partitioner", TEXT),
        ("k", pa.int32()),
        ("run", pa.int32()),
        ("seed", pa.int32()),
        *[(name, pa.float64()) for name in MEASURES],
    ]
)
FEATURE_SCHEMA = pa.schema(
    [
        ("dataset", TEXT),
        ("partitioner", TEXT),
        ("k", pa.int32()),
        ("n_runs", pa.int32()),
        ("feature", TEXT),
        ("kind", TEXT),
        *[(name, pa.float64()) for name in FoldFeature._fields[2:-1]],
        ("verdict", TEXT),
    ]
)


def first_runs(paths, wanted, n_runs):
    """First runs of every partitioner and k.

    Parameters
    ----------
    paths : sequence of path-like
        Files of folds.
    wanted : dict
        See `foldshift.planning.names.runs_wanted`.
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


def feature_rows(data, partitioner, cut, k):
    """Which features the runs of a partitioner shift, the target last.

    Parameters
    ----------
    data : foldshift.datasets.dataset.Dataset
    partitioner : str
    cut : ndarray of shape (n_runs, n_samples)
        Folds.
    k : int
        Number of folds.

    Returns
    -------
    columns : dict of str to list
        As `FEATURE_SCHEMA`; empty for a data set too small to be tested.
    """
    rows = []
    if len(data.y) >= FEWEST_ROWS:
        # All partitioners are compared with the same random cuts.
        rng = generator(0, "fold drift", data.name, k)
        about = {"categorical_features": data.categorical_features, "feature_names": data.feature_names}
        drift = fold_drift(data.X, data.y, cut, k, n_random=N_RANDOM, rng=rng, **about)
        keys = {"dataset": data.name, "partitioner": partitioner, "k": k, "n_runs": len(cut)}
        rows = [keys | {"feature": row.pop("name")} | row for row in drift.to_rows()]
    return {name: [row[name] for row in rows] for name in FEATURE_SCHEMA.names}


def main(job):
    """One row per partitioner, k and run; and one per partitioner, k and feature."""
    data = read_prepared(job.input.data)
    parts, features = [], []
    cuts, seeds = first_runs(job.input.folds, job.params.wanted, job.params.runs)
    for k, by_partitioner in cuts.items():
        if not by_partitioner:
            continue
        # All partitioners at once: distances and neighbours are the same.
        shift = fold_covariates(
            data.X,
            np.concatenate(list(by_partitioner.values())),
            k,
            categorical_features=data.categorical_features,
            rng=generator(0, "covariate shift", data.name),
        )
        end = 0
        for partitioner, cut in by_partitioner.items():
            start, end = end, end + len(cut)
            logging.info("%s, k=%d: %d runs", partitioner, k, len(cut))
            rows = {"dataset": [data.name] * len(cut), "partitioner": [partitioner] * len(cut), "k": [k] * len(cut)}
            rows |= {"run": np.arange(len(cut)), "seed": seeds[k][partitioner]}
            parts.append(rows | {name: values[start:end].mean(axis=1) for name, values in shift.items()})
            features.append(feature_rows(data, partitioner, cut, k))
    write_rows(job.output.shift, parts, SCHEMA)
    write_rows(job.output.features, features, FEATURE_SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
