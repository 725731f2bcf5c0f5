"""Read the experiments of the classification study and arrange them as arrays.

The AUC of experiments has shape (n_learners, n_datasets, n_experiments); NaN where a classifier was not run on a data set or a
fit failed. Held-out populations take the place of data sets, and their replicates that of experiments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.engine.layout.bundles import TRUTH
from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.convergence import CAP, EXPECTED, THRESHOLD

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, PathLike

    Values = dict[tuple[int, str], FloatArray]  # by number of folds k and partitioner
    Truth = dict[int, FloatArray]  # by k; a last axis of n_truth experiments in place of n_experiments, or none
    Counts = tuple[FloatArray, FloatArray]

CELL = ["dataset", "learner", "partitioner", "k"]
AREAS = {"paper": "auc_crisp"}  # a fold without one of the classes counts 0, in the paper's own way


class Experiments(NamedTuple):
    """Experiments of one configuration of the classifiers."""

    values: Values
    truth: Truth


def area_of(configuration: str) -> str:
    """Return the column of the AUC that a configuration judges by: but for the paper's, a fold leaves out a class it lacks."""
    return AREAS.get(configuration, "auc_corrected")


def read_experiments(
    paths: Sequence[PathLike],
    learners: Sequence[str],
    datasets: Sequence[str],
    iterations: dict[int, int],
    value: str = "auc_crisp",
    n_runs: dict[int, int] | None = None,
) -> Values:
    """Arrange seed rows by experiment, one file for each data set: the mean over the iterations of a scheme.

    `n_runs` has the number of first iterations that make an experiment, by k, where they are not all.
    """
    positions = {name: i for i, name in enumerate(learners)}
    found = {}
    for d, path in zip(range(len(datasets)), paths):
        columns = read_columns(path, (*CELL, value))
        if columns["dataset"][0] != datasets[d]:
            raise ValueError(f"{path} holds data set {columns['dataset'][0]}; expected {datasets[d]}")
        frame = pd.DataFrame(columns)
        for (learner, partitioner, k), rows in frame.groupby(["learner", "partitioner", "k"], sort=False, observed=True):
            if learner in positions and k in iterations:
                # Rows are in the order of the seeds, and the iterations of an experiment follow each other.
                runs = rows[value].to_numpy().reshape(-1, iterations[k])[:, : (n_runs or {}).get(k, iterations[k])]
                found[k, partitioner, positions[learner], d] = runs.mean(axis=1)
    values: Values = {}
    for (k, partitioner, i, d), experiments in found.items():
        shape = (len(learners), len(datasets), len(experiments))
        values.setdefault((k, partitioner), np.full(shape, np.nan))[i, d] = experiments
    return values


def all_ids(settings: dict[str, Any]) -> list[str]:
    """List the ids of the learners of all configurations, each once."""
    return list(dict.fromkeys(name for names in settings["ids"].values() for name in names.values()))


def by_configuration(
    paths: Sequence[PathLike], settings: dict[str, Any], n_runs: dict[int, int] | None = None
) -> dict[str, Experiments]:
    """Read the experiments and the truth of every configuration of the classifiers; `n_runs` as in `read_experiments`."""
    ids = all_ids(settings)
    results = {}
    for configuration, names in settings["ids"].items():
        values = read_experiments(paths, ids, settings["datasets"], settings["iterations"], area_of(configuration), n_runs)
        rows = [ids.index(names[learner]) for learner in settings["learners"]]
        chosen = {cell: array[rows] for cell, array in values.items()}
        truth = {k: chosen.pop((k, TRUTH)) for k in settings["iterations"]}
        results[configuration] = Experiments(chosen, truth)
    return results


def folds_and_classes(paths: Sequence[PathLike], settings: dict[str, Any]) -> dict[str, dict[int, Counts]]:
    """Count the test parts of a partition that a true AUC rests on, and the classes of a test part, by configuration and k.

    Both are means over the experiments, of shape (n_learners, n_datasets).
    """
    ids = all_ids(settings)
    read = [
        read_experiments(paths, ids, settings["datasets"], settings["iterations"], name)
        for name in ("n_folds_of_classes", "n_classes")
    ]
    counts: dict[str, dict[int, Counts]] = {}
    for configuration, names in settings["ids"].items():
        rows = [ids.index(names[learner]) for learner in settings["learners"]]
        counts[configuration] = {}
        for k in settings["iterations"]:
            folds, classes = (mean_present(values[k, TRUTH][rows].astype(np.float64)) for values in read)
            counts[configuration][k] = (np.where(np.isnan(folds), np.nan, k) if configuration in AREAS else folds, classes)
    return counts


def read_convergence(paths: Sequence[PathLike], ids: Sequence[str], datasets: Sequence[str]) -> Values:
    """Read the expected experiments to convergence (primary criterion of Table VII, at most 100): shape (n_ids, n_datasets)."""
    names = (*CELL, "criterion", "threshold", "rule", "experiments")
    parts = []
    for path in paths:
        rows = pd.DataFrame(read_columns(path, names))
        chosen = (rows["criterion"] == EXPECTED) & (rows["threshold"] == THRESHOLD)
        parts.append(rows[chosen].groupby(CELL, sort=False, observed=True)["experiments"].mean().reset_index())
    found = {}
    for (partitioner, k), part in pd.concat(parts).groupby(["partitioner", "k"], sort=False):
        table = part.pivot(index="learner", columns="dataset", values="experiments")
        found[k, partitioner] = np.minimum(table.reindex(index=ids, columns=datasets).to_numpy(), CAP)
    return found


def read_heldout(
    paths: Sequence[PathLike], ids: Sequence[str], iterations: dict[int, int], partitioners: Sequence[str]
) -> Experiments:
    """Read estimates and truth of samples of populations: the truth has shape (n_ids, n_populations)."""
    names = ("population", "replicate", "learner", "partitioner", "k", "estimate", "truth_part")
    rows = pd.concat([pd.DataFrame(read_columns(path, names)) for path in paths], ignore_index=True)
    populations, replicates = list(dict.fromkeys(rows["population"])), sorted(rows["replicate"].unique())
    wanted = pd.MultiIndex.from_product([ids, populations, replicates])
    shape = (len(ids), len(populations), len(replicates))

    def cube(k: int, partitioner: str, column: str) -> FloatArray:
        part = rows[(rows["k"] == k) & (rows["partitioner"] == partitioner)]
        return part.set_index(["learner", "population", "replicate"])[column].reindex(wanted).to_numpy().reshape(shape)

    values = {(k, name): cube(k, name, "estimate") for k in iterations for name in partitioners}
    truth = {k: mean_present(cube(k, partitioners[0], "truth_part")) for k in iterations}
    return Experiments(values, truth)
