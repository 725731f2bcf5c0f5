"""From scores of folds to results of seeds: one cross-validation, one number."""

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.regression_scores import OF_CLASSES
from foldshift.inference.missing import mean_present

MOST_MESSAGES = 5  # of a cell: a message that names a number that differs from fit to fit would fill a table by itself


def seed_schema(metrics):
    """Columns of a file of results of seeds."""
    return pa.schema(
        [
            ("dataset", TEXT),
            ("learner", TEXT),
            ("partitioner", TEXT),
            ("k", pa.int32()),
            ("seed", pa.int32()),
            *[(name, pa.float64()) for name in metrics],
            *([("n_folds_of_classes", pa.int32())] if "n_classes" in metrics else []),
            ("n_failed", pa.int32()),
        ]
    )


SEED_SHIFT_SCHEMA = pa.schema(
    [("dataset", TEXT), ("partitioner", TEXT), ("k", pa.int32()), ("seed", pa.int32()), ("d_n", pa.float64())]
)


def select_cells(columns, keys, runs):
    """Find the rows of some cells, which stand one after the other.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
        Score or shift rows of one file.
    keys : sequence of str
        Columns that make a cell; the last one is ``k``, the number of folds.
    runs : dict of tuple to int
        Cells that are wanted, to the number of partitions: the first ones.

    Returns
    -------
    rows : dict of tuple to slice
        Rows of every cell that is wanted, folds within seeds.

    Raises
    ------
    DataError
        If rows of a cell are missing.
    """
    parts = [columns[key] for key in keys]
    changes = np.flatnonzero(np.logical_or.reduce([part[1:] != part[:-1] for part in parts])) + 1
    found = {}
    for start, stop in zip([0, *changes.tolist()], [*changes.tolist(), len(parts[0])]):
        cell = (*(part[start] for part in parts[:-1]), int(parts[-1][start]))
        if cell in runs and start + runs[cell] * cell[-1] <= stop:
            found[cell] = slice(start, start + runs[cell] * cell[-1])
    for cell in runs.keys() - found.keys():
        raise DataError(
            f"rows of {', '.join(map(str, cell))} are not those that the name of the file promises; delete the file and run again"
        )
    return found


def fold_means(values, n_folds):
    """Mean over the folds of every seed.

    Parameters
    ----------
    values : ndarray of shape (n_seeds * n_folds,)
        Folds within seeds.
    n_folds : int
        Number of folds.

    Returns
    -------
    means : ndarray of shape (n_seeds,)
        NaN where a fold is missing: a mean over fewer folds would be another quantity.
    """
    return np.asarray(values, dtype=np.float64).reshape(-1, n_folds).mean(axis=1)


def class_means(values, status, n_folds):
    """Mean over the folds of every seed that have two classes at least.

    Parameters
    ----------
    values, status : ndarray of shape (n_seeds * n_folds,)
        Folds within seeds; a value that is NaN though its fit went well is of a fold with fewer than two classes.
    n_folds : int
        Number of folds.

    Returns
    -------
    means : ndarray of shape (n_seeds,)
        NaN where a fit failed, or no fold has two classes.
    """
    values, failed = values.reshape(-1, n_folds), (status != "ok").reshape(-1, n_folds).any(axis=1)
    means = values.mean(axis=1)  # the same bits as other means where nothing is absent
    return np.where(np.isnan(means) & ~failed, mean_present(values), means)


def summarise_scores(cell, metrics):
    """One row per seed from the score rows of a cell.

    Parameters
    ----------
    cell : dict of str to ndarray of shape (n_seeds * n_folds,)
        Score rows of one data set, learner, partitioner and k, folds within seeds.
    metrics : sequence of str
        Columns to average.

    Returns
    -------
    rows : dict of str to ndarray of shape (n_seeds,)
        Keys, the mean of every metric over the folds, ``n_failed``; of classifiers ``n_folds_of_classes``, the number of folds
        with two classes at least, over which the means of `OF_CLASSES` go.
    """
    n_folds = int(cell["k"][0])
    rows = {name: cell[name][::n_folds] for name in ("dataset", "learner", "partitioner", "k", "seed")}
    for name in metrics:
        of_classes = name in OF_CLASSES
        rows[name] = class_means(cell[name], cell["status"], n_folds) if of_classes else fold_means(cell[name], n_folds)
    if "n_classes" in metrics:
        rows["n_folds_of_classes"] = (np.nan_to_num(cell["n_classes"]) > 1).reshape(-1, n_folds).sum(axis=1)
    rows["n_failed"] = (cell["status"] != "ok").reshape(-1, n_folds).sum(axis=1)
    return rows


def count_failures(failed, n_fits, kept=MOST_MESSAGES):
    """Failed fits of one data set, by cell and message.

    Parameters
    ----------
    failed : dict of str to (dict of str to ndarray of shape (n_rows,))
        By the path of the file: ``learner, partitioner, k, status, message`` of those score rows whose status is not ``ok``, one
        row per fit.
    n_fits : dict of (str, str, int) to int
        Number of all fits by learner, partitioner and k.
    kept : int, default=5
        Messages that are kept of a cell and status, the most frequent first; the others are counted together.

    Returns
    -------
    failures : list of dict
        Sorted by ``learner, partitioner, k, status, message``; ``n_failed`` fits of the ``n_fits`` of the cell, ``files``: the
        paths with such rows.
    """
    found = {}
    for path, columns in failed.items():
        keys = zip(columns["learner"], columns["partitioner"], columns["k"].tolist(), columns["status"])
        for key, message in zip(keys, columns["message"]):
            found.setdefault(key, {}).setdefault(message, []).append(path)
    failures = []
    for (learner, partitioner, k, status), messages in found.items():
        by_number = sorted(messages, key=lambda message: (-len(messages[message]), message))
        groups = {message: messages[message] for message in by_number[:kept]}
        others = [path for message in by_number[kept:] for path in messages[message]]
        if others:
            groups[f"({len(by_number) - kept} other messages)"] = others
        for message, paths in groups.items():
            keys = {"learner": learner, "partitioner": partitioner, "k": k, "status": status, "message": message}
            numbers = {"n_failed": len(paths), "n_fits": n_fits[learner, partitioner, k], "files": sorted(set(paths))}
            failures.append(keys | numbers)
    return sorted(failures, key=lambda one: tuple(one.values())[:5])


def summarise_shift(cell):
    """One row per seed from the shift rows of a cell, as `summarise_scores` does for scores: keys and the mean D_n."""
    n_folds = int(cell["k"][0])
    rows = {name: cell[name][::n_folds] for name in ("dataset", "partitioner", "k", "seed")}
    return rows | {"d_n": fold_means(cell["d_n"], n_folds)}


def by_cell(columns, keys, value, datasets, cells):
    """Arrange rows of seeds as arrays over data sets and seeds.

    Parameters
    ----------
    columns : dict of str to ndarray
        Rows of all data sets; within a cell the seeds stand in the order of their draw.
    keys : sequence of str
        Columns that make a cell, e.g. ``("learner", "k", "partitioner")``.
    value : str
        Column to arrange.
    datasets : sequence of str
        Data sets, in the order wanted.
    cells : iterable of tuple
        Cells wanted.

    Returns
    -------
    arrays : dict of tuple to ndarray of shape (n_datasets, n_seeds)
    """
    index = {}
    labels = list(zip(columns["dataset"], *[columns[key] for key in keys]))
    for row, label in enumerate(labels):
        index.setdefault(label, []).append(row)
    return {cell: np.array([columns[value][index[(dataset, *cell)]] for dataset in datasets]) for cell in cells}
