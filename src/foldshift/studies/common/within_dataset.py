"""What one data set can say: its partitions are many, so that differences can be shown without a test over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.engine.layout.file_names import held_scores, in_order, runs_wanted
from foldshift.engine.storage.score_files import read_columns
from foldshift.engine.storage.seed_results import select_cells
from foldshift.inference.comparisons.paired import nadeau_bengio
from foldshift.inference.corrections import adjust_p
from foldshift.inference.repetitions.recommend import recommend_repetitions
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, count, number, p_value, signed
from foldshift.reporting.table_grid import Cell, Grid

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, Inputs, PathLike, Rows
    from foldshift.inference.comparisons.results import TTest

CELL = ("learner", "partitioner", "k")
CONFIDENCE = 0.95
MOST = 10_000  # repetitions that are still told
PARTITIONERS = [
    "dataset", "learner", "k", "partitioner", "reference", "mean", "reference_mean", "difference", "low", "high", "p_value",
    "p_holm", "p_other_samples", "spread", "reference_spread", "repetitions", "repetitions_to_settle",
]  # fmt: skip
LEARNERS = [
    "dataset", "configuration", "k", "partitioner", "row", "column", "mean_row", "mean_column", "difference", "low", "high",
    "p_value", "p_holm", "spread", "repetitions", "repetitions_recommended",
]  # fmt: skip


def one_dataset(
    inputs: Inputs, settings: dict[str, Any], wanted: Rows, value: str, reference: str, units: dict[str, float] | None = None
) -> dict[str, TableResult]:
    """Both tables of differences within data sets.

    Parameters
    ----------
    inputs : object
        ``scores``: files of scores of all data sets.
    settings : dict
        Of the study: ``datasets``, ``partitioners``, ``learners``, ``alpha`` and, where learners have several forms, ``ids``
        (configuration to learner to id).
    wanted : list of dict
        For every data set its files and what is wanted of them: ``files`` (how many of ``scores``), ``wanted``.
    value : str
        Column of the scores.
    reference : str
        Partitioner that the others are compared with, and by which learners are compared.
    units : dict of str to float, optional
        What a difference is multiplied with to be in the target's own units, by data set.

    Returns
    -------
    items : dict of str to foldshift.reporting.items.TableResult
        ``partitioners_by_dataset``, ``learners_by_dataset``.
    """
    ids = settings.get("ids") or {"": {name: name for name in settings["learners"]}}
    listed = list(dict.fromkeys(name for names in ids.values() for name in names.values()))
    partitioners, learners, start = [], [], 0
    for dataset, one in zip(settings["datasets"], wanted):
        files, start = inputs.scores[start : start + one["files"]], start + one["files"]
        cells = read_folds(files, one["wanted"], value)
        partitioners += partitioner_rows(cells, dataset, listed, settings["partitioners"], reference)
        for configuration, names in ids.items():
            learners += learner_rows(cells, dataset, configuration, names, reference)
    partitioners, learners = pd.DataFrame(partitioners, columns=PARTITIONERS), pd.DataFrame(learners, columns=LEARNERS)
    if units:
        for table in (partitioners, learners):
            table.insert(table.columns.get_loc("difference") + 1, "difference_own_units", table["difference"])
            table["difference_own_units"] *= table["dataset"].map(units).astype(float)
    alpha = settings["alpha"]
    return {
        "partitioners_by_dataset": TableResult(partitioners, partitioners_grid(partitioners, alpha)),
        "learners_by_dataset": TableResult(learners, learners_grid(learners, alpha)),
    }


def read_folds(paths: Sequence[PathLike], wanted: dict[str, dict[str, Any]], value: str) -> dict[tuple[str, str, int], Array]:
    """Scores of the folds of one data set.

    Parameters
    ----------
    paths : sequence of path-like
        Files of scores.
    wanted : dict
        What is wanted of them, see `foldshift.engine.layout.file_names.runs_wanted`.
    value : str
        Column.

    Returns
    -------
    cells : dict of (str, str, int) to ndarray of shape (n_partitions, k)
        By learner, partitioner and k; only the partitions of which every fold has a result.
    """
    found: dict[Any, Any] = {}
    for path in in_order(paths):
        columns = read_columns(path, (*CELL, value))
        for cell, rows in select_cells(columns, CELL, runs_wanted(held_scores(path), wanted)).items():
            found.setdefault(cell, []).append(columns[value][rows].astype(np.float64).reshape(-1, cell[-1]))
    return {cell: np.concatenate(parts) for cell, parts in found.items()}


def partitioner_rows(
    cells: dict[tuple[str, str, int], Array], dataset: str, learners: Sequence[str], partitioners: Sequence[str], reference: str
) -> Rows:
    """Every partitioner against the reference, by learner and number of folds.

    Parameters
    ----------
    cells : dict of (str, str, int) to ndarray of shape (n_partitions, k)
        Scores of folds, as `read_folds` reads them; partitions with NaN are left out.
    dataset : str
    learners, partitioners : sequence of str
        In the order of the rows, whatever that of the files is.
    reference : str

    Returns
    -------
    rows : list of dict
        Keys as of `PARTITIONERS`. ``low`` to ``high`` and ``p_value`` (Welch) are about the mean over all partitions of these
        rows: partitions are independent given the rows. ``p_holm`` is adjusted for all comparisons of the data set.
        ``p_other_samples`` is about other samples of this size: `nadeau_bengio` on the folds of both. ``spread`` is the standard
        deviation between partitions. ``repetitions_to_settle``: after so many the interval would leave out 0, if difference and
        spreads were what they are here.
    """
    rows = []
    for learner, k in product(learners, sorted({k for *_, k in cells})):
        base = _complete(cells.get((learner, reference, k)))
        for name in partitioners:
            own = _complete(cells.get((learner, name, k)))
            if name == reference or min(len(base), len(own)) < 2:
                continue
            rows.append(
                {"dataset": dataset, "learner": learner, "k": k, "partitioner": name, "reference": reference}
                | _between_partitions(own.mean(axis=1), base.mean(axis=1))
                | {"p_other_samples": _corrected(own, base).p_value}
            )
    return _adjusted(rows)


def learner_rows(
    cells: dict[tuple[str, str, int], FloatArray], dataset: str, configuration: str, names: dict[str, str], partitioner: str
) -> Rows:
    """Every pair of learners on the same folds, by number of folds.

    Parameters
    ----------
    cells, dataset
        As for `partitioner_rows`.
    configuration : str
        Of the learners; empty where there is one.
    names : dict of str to str
        Learner to its id in `cells`.
    partitioner : str
        Whose folds.

    Returns
    -------
    rows : list of dict
        Keys as of `LEARNERS`. The test and its interval are Nadeau and Bengio's; ``spread`` is the standard deviation of the
        difference between partitions; ``repetitions_recommended`` as of `recommend_repetitions`, None where it cannot be told.
    """
    rows, listed = [], list(names.items())
    for k in sorted({k for *_, k in cells}):
        for i, (first, one) in enumerate(listed):
            for second, other in listed[i + 1 :]:
                found = [cells.get((name, partitioner, k)) for name in (one, other)]
                if any(array is None for array in found) or len(found[0]) != len(found[1]):
                    continue
                whole = ~np.isnan(found[0] + found[1]).any(axis=1)
                a, b = (array[whole] for array in found)
                if len(a) < 2:
                    continue
                test = nadeau_bengio(a - b, k - 1, 1)
                keys = {"dataset": dataset, "configuration": configuration, "k": k, "partitioner": partitioner}
                rows.append(
                    keys
                    | {"row": first, "column": second, "mean_row": a.mean(), "mean_column": b.mean()}
                    | {"difference": test.estimate, "low": test.low, "high": test.high, "p_value": test.p_value}
                    | {"spread": (a - b).mean(axis=1).std(ddof=1), "repetitions": len(a)}
                    | {"repetitions_recommended": _recommended(a - b)}
                )
    return _adjusted(rows)


def partitioners_grid(table: pd.DataFrame, alpha: float) -> Grid:
    """Differences of ways of cutting as they are printed: a block per data set, a row per learner, k and partitioner."""
    own = "difference_own_units" in table
    rows: list[Any] = []
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([f"{dataset}: {int(block['repetitions'].min())} partitions each, against {block['reference'].iloc[0]}"])
        for row in block.itertuples():
            shown = [row.learner, Cell(str(row.k)), row.partitioner, Cell(number(row.mean))]
            shown += [_difference(row, alpha), *([Cell(signed(row.difference_own_units))] if own else [])]
            shown += [Cell(p_value(row.p_holm)), Cell(p_value(row.p_other_samples))]
            spreads = f"{number(row.spread)} ({number(row.reference_spread)})"
            rows.append([*shown, Cell(spreads), Cell(_repetitions(row.repetitions_to_settle))])
    header: list[Any] = ["Learner", "k", "Cut", "Mean", "Difference and interval", *["In the target's units"] * own]
    header += ["p (Holm)", "p, other samples", "Spread (reference)", "Repetitions to settle"]
    return Grid(header, rows or [["No learner has two complete partitions by two ways of cutting."]], [_bold(alpha)])


def learners_grid(table: pd.DataFrame, alpha: float) -> Grid:
    """Differences of learners as they are printed: a block per data set, configuration and k, a row per pair."""
    own = "difference_own_units" in table
    rows: list[Any] = []
    for (dataset, configuration, k), block in table.groupby(["dataset", "configuration", "k"], sort=False):
        which = f", {configuration} configuration" if configuration else ""
        n = int(block["repetitions"].min())
        rows.append([f"{dataset}{which}: {k} folds by {block['partitioner'].iloc[0]}, {n} partitions"])
        for row in block.itertuples():
            shown = [f"{row.row} less {row.column}", Cell(number(row.mean_row)), Cell(number(row.mean_column))]
            shown += [_difference(row, alpha), *([Cell(signed(row.difference_own_units))] if own else [])]
            shown += [Cell(p_value(row.p_value)), Cell(p_value(row.p_holm)), Cell(number(row.spread))]
            rows.append([*shown, Cell(_repetitions(row.repetitions_recommended))])
    header: list[Any] = ["Learners", "Mean of one", "Of the other", "Difference and interval", *["In the target's units"] * own]
    header += ["p", "p (Holm)", "Spread", "Repetitions recommended"]
    return Grid(header, rows or [["No two learners have two complete partitions in common."]], [_bold(alpha)])


def _complete(scores: FloatArray) -> FloatArray:
    return np.empty((0, 1)) if scores is None else scores[~np.isnan(scores).any(axis=1)]


def _between_partitions(own: FloatArray, base: FloatArray) -> dict[str, float]:
    """Welch's interval and test of the means of two sets of partitions, and the repetitions at which it would leave out 0."""
    difference = float(own.mean() - base.mean())
    parts = own.var(ddof=1) / len(own), base.var(ddof=1) / len(base)
    error, needed = float(np.sqrt(sum(parts))), np.nan
    if error > 1e-12 * max(abs(own).max(), abs(base).max()):
        df = sum(parts) ** 2 / (parts[0] ** 2 / (len(own) - 1) + parts[1] ** 2 / (len(base) - 1))
        half, p = stats.t.ppf((1 + CONFIDENCE) / 2, df) * error, 2 * stats.t.sf(abs(difference) / error, df)
        if difference:
            share = (stats.norm.ppf((1 + CONFIDENCE) / 2) / difference) ** 2
            needed = max(2.0, float(np.ceil(share * (own.var(ddof=1) + base.var(ddof=1)))))
    else:  # partitions that all give the same
        half, p = 0.0, float(abs(difference) <= 1e-12 * abs(base).max())
        needed = 1.0 if p == 0 else np.nan
    return {
        "mean": own.mean(),
        "reference_mean": base.mean(),
        "difference": difference,
        "low": difference - half,
        "high": difference + half,
        "p_value": float(p),
        "spread": own.std(ddof=1),
        "reference_spread": base.std(ddof=1),
        "repetitions": min(len(own), len(base)),
        "repetitions_to_settle": needed,
    }


def _corrected(own: FloatArray, base: FloatArray) -> TTest:
    """Nadeau and Bengio's test of the folds of as many partitions of both; folds of two cuts have no pairs, any order will do."""
    n, k = min(len(own), len(base)), own.shape[1]
    return nadeau_bengio(own[:n] - base[:n], k - 1, 1)


def _recommended(differences: FloatArray) -> float:
    """Recommended repetitions; NaN where it cannot be told."""
    try:
        found = recommend_repetitions(differences).repetitions
    except ValueError:
        return np.nan
    return np.nan if found is None else float(found)


def _adjusted(rows: Rows) -> Rows:
    if rows:
        for row, p in zip(rows, adjust_p([float(row["p_value"]) for row in rows], method="holm")):
            row["p_holm"] = float(p)
    return rows


def _difference(row: Any, alpha: float) -> Cell:
    text = f"{number(row.difference, '+.4f')} [{number(row.low, '+.4f')}, {number(row.high, '+.4f')}]"
    return Cell(text, bold=bool(row.p_holm <= alpha))


def _repetitions(n: float) -> str:
    return EMPTY if np.isnan(n) else f"above {MOST}" if n > MOST else count(n)


def _bold(alpha: float) -> str:
    return (
        f"Bold: p at most {alpha:g} after Holm's correction for all comparisons of the data set (and configuration). "
        f"{EMPTY}: cannot be told, because there is no difference, no spread, or too few partitions."
    )
