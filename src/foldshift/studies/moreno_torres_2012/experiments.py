"""Read the experiments of a study of classes and arrange them as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.engine.layout.bundles import TRUTH
from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.convergence import CAP, EXPECTED, THRESHOLD

if TYPE_CHECKING:
    from pathlib import Path

    from foldshift.core.types import Array, PathLike

AREAS = {"paper": "auc_crisp"}  # a fold without one of the classes counts 0, in the paper's own way


def area_of(configuration: str) -> str:
    """Column of the seed rows that a configuration judges by: the corrected ones leave out a class where a fold lacks it."""
    return AREAS.get(configuration, "auc_corrected")


def read_experiments(
    paths: Sequence[PathLike],
    learners: Sequence[str],
    datasets: Sequence[str],
    iterations: dict[int, int],
    value: str = "auc_crisp",
) -> dict[tuple[int, str], Array]:
    """Arrange the seed rows of a study of classes by experiment: the mean over the iterations of a scheme."""
    positions = {name: i for i, name in enumerate(learners)}
    found = {}
    for d, path in zip(range(len(datasets)), paths):
        columns = read_columns(path, ("dataset", "learner", "partitioner", "k", value))
        if columns["dataset"][0] != datasets[d]:
            raise ValueError(f"{path} holds data set {columns['dataset'][0]}; expected {datasets[d]}")
        frame = pd.DataFrame(columns)
        for (learner, partitioner, k), rows in frame.groupby(["learner", "partitioner", "k"], sort=False, observed=True):
            if learner in positions and k in iterations:
                # Blocks stand in the order of the seeds, and a scheme's iterations one after the other.
                found[k, partitioner, positions[learner], d] = rows[value].to_numpy().reshape(-1, iterations[k]).mean(axis=1)
    values: dict[Any, Any] = {}
    for (k, partitioner, i, d), experiments in found.items():
        shape = (len(learners), len(datasets), len(experiments))
        values.setdefault((k, partitioner), np.full(shape, np.nan))[i, d] = experiments
    return values


def by_configuration(
    paths: Sequence[PathLike], settings: dict[str, Any]
) -> dict[str, tuple[dict[tuple[int, str], Array], dict[int, Array]]]:
    """Experiments and truth of every configuration of a study of classes."""
    ids = list(dict.fromkeys(name for names in settings["ids"].values() for name in names.values()))
    results = {}
    for configuration, names in settings["ids"].items():
        values = read_experiments(paths, ids, settings["datasets"], settings["iterations"], area_of(configuration))
        rows = [ids.index(names[learner]) for learner in settings["learners"]]
        chosen = {cell: array[rows] for cell, array in values.items()}
        truth = {k: chosen.pop((k, TRUTH)) for k in settings["iterations"]}
        results[configuration] = (chosen, truth)
    return results


def foundation(paths: list[Path], settings: dict[str, Any]) -> dict[str, dict[int, tuple[Array, Array]]]:
    """What the true areas rest on: test parts, and classes in them."""
    ids = list(dict.fromkeys(name for names in settings["ids"].values() for name in names.values()))
    read = [
        read_experiments(paths, ids, settings["datasets"], settings["iterations"], name)
        for name in ("n_folds_of_classes", "n_classes")
    ]
    rests: dict[Any, Any] = {}
    for configuration, names in settings["ids"].items():
        rows = [ids.index(names[learner]) for learner in settings["learners"]]
        rests[configuration] = {}
        for k in settings["iterations"]:
            folds, classes = (mean_present(values[k, TRUTH][rows].astype(np.float64)) for values in read)
            rests[configuration][k] = (np.where(np.isnan(folds), np.nan, k) if configuration in AREAS else folds, classes)
    return rests


def read_convergence(paths: Sequence[PathLike], ids: Sequence[str], datasets: Sequence[str]) -> dict[tuple[int, str], Array]:
    """Experiments to convergence by the primary criterion of Table VII, as expected from the agreement between runs, 100 at
    most.
    """
    names = ("dataset", "learner", "partitioner", "k", "criterion", "threshold", "rule", "experiments")
    keys = ["dataset", "learner", "partitioner", "k"]
    parts = []
    for path in paths:
        rows = pd.DataFrame(read_columns(path, names))
        chosen = (rows["criterion"] == EXPECTED) & (rows["threshold"] == THRESHOLD)
        parts.append(rows[chosen].groupby(keys, sort=False, observed=True)["experiments"].mean().reset_index())
    found = {}
    for (partitioner, k), part in pd.concat(parts).groupby(["partitioner", "k"], sort=False):
        table = part.pivot(index="learner", columns="dataset", values="experiments")
        found[k, partitioner] = np.minimum(table.reindex(index=ids, columns=datasets).to_numpy(), CAP)
    return found


def read_heldout(
    paths: Sequence[PathLike], ids: Sequence[str], iterations: dict[int, int], partitioners: Sequence[str]
) -> tuple[dict[tuple[int, str], Array], dict[int, Array]]:
    """Estimates and truth of samples of populations."""
    names = ("population", "replicate", "learner", "partitioner", "k", "estimate", "truth_part")
    rows = pd.concat([pd.DataFrame(read_columns(path, names)) for path in paths], ignore_index=True)
    populations, replicates = list(dict.fromkeys(rows["population"])), sorted(rows["replicate"].unique())
    wanted = pd.MultiIndex.from_product([ids, populations, replicates])
    shape = (len(ids), len(populations), len(replicates))

    def cube(k: int, partitioner: str, column: str) -> Any:
        part = rows[(rows["k"] == k) & (rows["partitioner"] == partitioner)]
        return part.set_index(["learner", "population", "replicate"])[column].reindex(wanted).to_numpy().reshape(shape)

    values = {(k, name): cube(k, name, "estimate") for k in iterations for name in partitioners}
    truth = {k: mean_present(cube(k, partitioners[0], "truth_part")) for k in iterations}
    return values, truth
