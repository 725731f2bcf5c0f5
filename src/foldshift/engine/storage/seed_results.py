"""From scores of folds to results of seeds: one cross-validation, one number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.engine.layout.file_names import bundle_of, scheme_of
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.regression_scores import OF_CLASSES
from foldshift.evaluation.tasks import FAILED
from foldshift.inference.missing import mean_present

if TYPE_CHECKING:
    from foldshift.core.types import Array, Rows

MOST_MESSAGES = 5  # of a cell: a message that names a number that differs from fit to fit would fill a table by itself


def seed_schema(metrics: tuple[str, ...]) -> pa.Schema:
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


def select_cells(
    columns: dict[str, Array], keys: Sequence[str], runs: dict[tuple[Any, ...], int]
) -> dict[tuple[Any, ...], slice]:
    """Find the rows of some cells, which stand one after the other."""
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


def fold_means(values: Array, n_folds: int) -> Array:
    """Mean over the folds of every seed."""
    return np.asarray(values, dtype=np.float64).reshape(-1, n_folds).mean(axis=1)


def class_means(values: Array, status: Array, n_folds: int) -> Array:
    """Mean over the folds of every seed that have two classes at least."""
    values, failed = values.reshape(-1, n_folds), (status != "ok").reshape(-1, n_folds).any(axis=1)
    means = values.mean(axis=1)  # the same bits as other means where nothing is absent
    return np.where(np.isnan(means) & ~failed, mean_present(values), means)


def summarise_scores(cell: dict[str, Array], metrics: Sequence[str]) -> dict[str, Array]:
    """One row per seed from the score rows of a cell."""
    n_folds = int(cell["k"][0])
    rows = {name: cell[name][::n_folds] for name in ("dataset", "learner", "partitioner", "k", "seed")}
    for name in metrics:
        of_classes = name in OF_CLASSES
        rows[name] = class_means(cell[name], cell["status"], n_folds) if of_classes else fold_means(cell[name], n_folds)
    if "n_classes" in metrics:
        rows["n_folds_of_classes"] = (np.nan_to_num(cell["n_classes"]) > 1).reshape(-1, n_folds).sum(axis=1)
    rows["n_failed"] = (cell["status"] != "ok").reshape(-1, n_folds).sum(axis=1)
    return rows


def count_failures(
    failed: dict[str, dict[str, Array]], n_fits: dict[tuple[str, str, int], int], kept: int = MOST_MESSAGES
) -> Rows:
    """Failed fits of one data set, by cell and message."""
    found: dict[Any, Any] = {}
    for path, columns in failed.items():
        cells = zip(columns["learner"], columns["partitioner"], columns["k"].tolist(), columns["status"])
        for key, message in zip(cells, columns["message"]):
            found.setdefault(key, {}).setdefault(message, []).append(path)
    failures = []
    for (learner, partitioner, k, status), messages in found.items():
        by_number = sorted(messages, key=lambda message: (-len(messages[message]), message))
        groups = {message: messages[message] for message in by_number[:kept]}
        others = [path for message in by_number[kept:] for path in messages[message]]
        if others:
            groups[f"({len(by_number) - kept} other messages)"] = others
        for message, paths in groups.items():
            keys: dict[str, Any] = {"learner": learner, "partitioner": partitioner, "k": k, "status": status, "message": message}
            numbers = {"n_failed": len(paths), "n_fits": n_fits[learner, partitioner, k], "files": sorted(set(paths))}
            failures.append(keys | numbers)
    return sorted(failures, key=lambda one: tuple(one.values())[:5])


def lost_summary(dataset: str, message: str, file: str, wanted: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Summary of a data set that failed as a whole, as `count_failures` makes them: `file` is the one that it is not in."""
    n_fits = 0
    for cell, n_seeds in wanted["seeds"].items():
        k, iterations = scheme_of(bundle_of(cell)[1][0])
        n_fits += n_seeds * k * iterations * len(wanted["learners"])
    failure: dict[str, Any] = {"learner": "all learners", "partitioner": "all", "k": None, "status": FAILED, "message": message}
    failure |= {"n_failed": n_fits, "n_fits": n_fits, "files": [file]}
    return {"dataset": dataset, "n_fits": n_fits, "failures": [failure], "lost": file}


def summarise_shift(cell: Any) -> Any:
    """One row per seed from the shift rows of a cell, as `summarise_scores` does for scores: keys and the mean D_n."""
    n_folds = int(cell["k"][0])
    rows = {name: cell[name][::n_folds] for name in ("dataset", "partitioner", "k", "seed")}
    return rows | {"d_n": fold_means(cell["d_n"], n_folds)}


def by_cell(
    columns: dict[str, Array], keys: Sequence[str], value: str, datasets: Sequence[str], cells: Iterable[tuple[Any, ...]]
) -> dict[tuple[Any, ...], Array]:
    """Arrange rows of seeds as arrays over data sets and seeds."""
    index: dict[Any, Any] = {}
    labels = list(zip(columns["dataset"], *[columns[key] for key in keys]))
    for row, label in enumerate(labels):
        index.setdefault(label, []).append(row)
    return {cell: np.array([columns[value][index[(dataset, *cell)]] for dataset in datasets]) for cell in cells}
