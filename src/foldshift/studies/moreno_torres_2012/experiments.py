"""Read the experiments of a study of classes and arrange them as arrays."""

import numpy as np
import pandas as pd

from foldshift.engine.layout.bundles import TRUTH
from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.convergence import CAP, EXPECTED, THRESHOLD

AREAS = {"paper": "auc_crisp"}  # a fold without one of the classes counts 0, in the paper's own way


def area_of(configuration):
    """Column of the seed rows that a configuration judges by: the corrected ones leave out a class where a fold lacks it."""
    return AREAS.get(configuration, "auc_corrected")


def read_experiments(paths, learners, datasets, iterations, value="auc_crisp"):
    """Arrange the seed rows of a study of classes by experiment: the mean over the iterations of a scheme.

    Parameters
    ----------
    paths : sequence of path-like
        One file of seed rows for each data set.
    learners : sequence of str
        Ids of the learners, in the order wanted.
    datasets : sequence of str
        Data sets, in the order wanted.
    iterations : dict of int to int
        Number of folds k to partitions per experiment.
    value : str, default="auc_crisp"
        Column to arrange.

    Returns
    -------
    values : dict of (int, str) to ndarray of shape (n_learners, n_datasets, n_experiments)
        By k and partitioner; NaN where a learner was not run on a data set, or where a fit of the experiment failed.
    """
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
    values = {}
    for (k, partitioner, i, d), experiments in found.items():
        shape = (len(learners), len(datasets), len(experiments))
        values.setdefault((k, partitioner), np.full(shape, np.nan))[i, d] = experiments
    return values


def by_configuration(paths, settings):
    """Experiments and truth of every configuration of a study of classes.

    Parameters
    ----------
    paths : sequence of path-like
        One file of seed rows for each data set, in the order of ``settings["datasets"]``.
    settings : dict
        ``ids`` (configuration to learner to id), ``learners``, ``datasets``, ``iterations`` (k to partitions per experiment).

    Returns
    -------
    results : dict of str to (dict of (int, str) to ndarray, dict of int to ndarray)
        By configuration: values by k and partitioner, and truth by k, arrays of shape (n_learners, n_datasets, n_experiments).
    """
    ids = list(dict.fromkeys(name for names in settings["ids"].values() for name in names.values()))
    results = {}
    for configuration, names in settings["ids"].items():
        values = read_experiments(paths, ids, settings["datasets"], settings["iterations"], area_of(configuration))
        rows = [ids.index(names[learner]) for learner in settings["learners"]]
        chosen = {cell: array[rows] for cell, array in values.items()}
        truth = {k: chosen.pop((k, TRUTH)) for k in settings["iterations"]}
        results[configuration] = (chosen, truth)
    return results


def foundation(paths, settings):
    """What the true areas rest on: test parts, and classes in them.

    Parameters
    ----------
    paths, settings
        As in `by_configuration`.

    Returns
    -------
    rests : dict of str to (dict of int to (ndarray, ndarray))
        By configuration and k: folds of a partition whose area counts, and classes of a test part, means over the experiments,
        both of shape (n_learners, n_datasets). In the paper's configuration all folds count.
    """
    ids = list(dict.fromkeys(name for names in settings["ids"].values() for name in names.values()))
    read = [
        read_experiments(paths, ids, settings["datasets"], settings["iterations"], name)
        for name in ("n_folds_of_classes", "n_classes")
    ]
    rests = {}
    for configuration, names in settings["ids"].items():
        rows = [ids.index(names[learner]) for learner in settings["learners"]]
        rests[configuration] = {}
        for k in settings["iterations"]:
            folds, classes = (mean_present(values[k, TRUTH][rows].astype(np.float64)) for values in read)
            rests[configuration][k] = (np.where(np.isnan(folds), np.nan, k) if configuration in AREAS else folds, classes)
    return rests


def read_convergence(paths, ids, datasets):
    """Experiments to convergence by the primary criterion of Table VII, as expected from the agreement between runs, 100 at most.

    Parameters
    ----------
    paths : sequence of path-like
        One file of convergence rows for each data set.
    ids, datasets : sequence of str
        Ids of learners and data sets, in the order wanted.

    Returns
    -------
    convergence : dict of (int, str) to ndarray of shape (n_ids, n_datasets)
        By k and partitioner; NaN where a fit failed.
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


def read_heldout(paths, ids, iterations, partitioners):
    """Estimates and truth of samples of populations.

    Parameters
    ----------
    paths : sequence of path-like
        One file for each population.
    ids : sequence of str
        Ids of learners, in the order wanted.
    iterations : dict of int to int
        Numbers of folds k wanted, with their iterations.
    partitioners : sequence of str

    Returns
    -------
    values : dict of (int, str) to ndarray of shape (n_ids, n_populations, n_replicates)
        Estimates by k and partitioner; NaN where a fit failed.
    truth : dict of int to ndarray of shape (n_ids, n_populations)
        By k: what training parts reach on held-out rows, mean over the samples.
    """
    names = ("population", "replicate", "learner", "partitioner", "k", "estimate", "truth_part")
    rows = pd.concat([pd.DataFrame(read_columns(path, names)) for path in paths], ignore_index=True)
    populations, replicates = list(dict.fromkeys(rows["population"])), sorted(rows["replicate"].unique())
    wanted = pd.MultiIndex.from_product([ids, populations, replicates])
    shape = (len(ids), len(populations), len(replicates))

    def cube(k, partitioner, column):
        part = rows[(rows["k"] == k) & (rows["partitioner"] == partitioner)]
        return part.set_index(["learner", "population", "replicate"])[column].reindex(wanted).to_numpy().reshape(shape)

    values = {(k, name): cube(k, name, "estimate") for k in iterations for name in partitioners}
    truth = {k: mean_present(cube(k, partitioners[0], "truth_part")) for k in iterations}
    return values, truth
