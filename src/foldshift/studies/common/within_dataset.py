"""Differences within single data sets: partitions are many, so that no test over data sets is needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.counting import add_up
from foldshift.engine.layout.file_names import held_scores, in_order, runs_wanted
from foldshift.engine.storage.score_files import read_columns
from foldshift.engine.storage.seed_results import select_cells
from foldshift.inference.comparisons.paired import nadeau_bengio
from foldshift.inference.corrections import adjust_p
from foldshift.inference.repetitions.recommend import recommend_repetitions
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, count, number, p_value, signed
from foldshift.reporting.table_grid import Grid, TableCell

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Inputs, PathLike, Rows
    from foldshift.inference.comparisons.paired import TTest

    Scores = dict[tuple[str, str, int], FloatArray]  # by learner, partitioner and k: (n_partitions, k)

CELL = ("learner", "partitioner", "k")
CONFIDENCE = 0.95
MAX_REPETITIONS = 10_000  # larger numbers are not printed
PARTITIONERS = [
    "dataset", "learner", "k", "partitioner", "reference", "mean", "reference_mean", "difference", "low", "high", "p_value",
    "p_holm", "p_other_samples", "spread", "reference_spread", "repetitions", "repetitions_to_settle",
]  # fmt: skip
LEARNERS = [
    "dataset", "configuration", "k", "partitioner", "row", "column", "mean_row", "mean_column", "difference", "low", "high",
    "p_value", "p_holm", "spread", "repetitions", "repetitions_recommended",
]  # fmt: skip


def differences(
    inputs: Inputs, settings: dict[str, Any], wanted: Rows, kinds: dict[str, int], value: str, reference: str
) -> dict[str, TableResult]:
    """Make both tables of differences within data sets, of partitioners against `reference` and of pairs of learners.

    ``wanted[kinds[dataset]]`` says how many of the files are those of a data set (``files``) and what is wanted of them
    (``wanted``).
    """
    ids = settings.get("ids") or {"": {name: name for name in settings["learners"]}}
    listed = list(dict.fromkeys(name for names in ids.values() for name in names.values()))
    between_cuts, between_learners, start = [], [], 0
    for dataset in settings["datasets"]:
        one = wanted[kinds[dataset]]
        files, start = inputs.scores[start : start + one["files"]], start + one["files"]
        cells = read_folds(files, one["wanted"], value)
        between_cuts += partitioner_rows(cells, dataset, listed, settings["partitioners"], reference)
        for configuration, names in ids.items():
            between_learners += learner_rows(cells, dataset, configuration, names, reference)
    partitioners, learners = pd.DataFrame(between_cuts, columns=PARTITIONERS), pd.DataFrame(between_learners, columns=LEARNERS)
    if descriptions := getattr(inputs, "descriptions", None):
        units = own_units(descriptions)
        for table in (partitioners, learners):
            table.insert(list(table).index("difference") + 1, "difference_own_units", table["difference"])
            table["difference_own_units"] *= table["dataset"].map(units).astype(float)
    alpha = settings["alpha"]
    return {
        "partitioners_by_dataset": TableResult(partitioners, partitioners_grid(partitioners, alpha)),
        "learners_by_dataset": TableResult(learners, learners_grid(learners, alpha)),
    }


def own_units(descriptions: Sequence[PathLike]) -> dict[str, float]:
    """Return by data set what errors are multiplied by to be in units of the target: its range if it was scaled, else 1."""
    found = [json.loads(Path(path).read_text(encoding="utf-8")) for path in descriptions]
    ranges = {one["name"]: (one["target_range"], one["scaling"] == "global") for one in found}
    return {name: float(high - low) if scaled else 1.0 for name, ((low, high), scaled) in ranges.items()}


def read_folds(paths: Sequence[PathLike], wanted: dict[str, dict[str, Any]], value: str) -> Scores:
    """Read a column of the scores of one data set; only partitions with all their folds are read."""
    found: dict[tuple[str, str, int], list[FloatArray]] = {}
    for path in in_order(map(Path, paths)):
        columns = read_columns(path, (*CELL, value))
        for cell, rows in select_cells(columns, CELL, runs_wanted(held_scores(path), wanted)).items():
            found.setdefault(cell, []).append(columns[value][rows].astype(np.float64).reshape(-1, cell[-1]))
    return {cell: np.concatenate(parts) for cell, parts in found.items()}


def partitioner_rows(cells: Scores, dataset: str, learners: Sequence[str], partitioners: Sequence[str], reference: str) -> Rows:
    """Compare every partitioner with the reference, by learner and number of folds; partitions with NaN are left out.

    ``low`` to ``high`` and ``p_value`` (Welch) are about the mean over all partitions of these rows, which are independent given
    the rows; ``p_holm`` is adjusted for all comparisons of the data set. ``p_other_samples`` is about other samples of this size
    (`nadeau_bengio` on the folds of both). ``spread`` is the standard deviation between partitions. After
    ``repetitions_to_settle`` the interval would leave out 0, if difference and spreads were as they are here.
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


def learner_rows(cells: Scores, dataset: str, configuration: str, names: dict[str, str], partitioner: str) -> Rows:
    """Compare every pair of learners on the same folds, by number of folds; `names` maps a learner to its id in `cells`.

    Test and interval are those of Nadeau and Bengio; ``spread`` is the standard deviation of the difference between partitions;
    ``repetitions_recommended`` is NaN where `recommend_repetitions` has no answer.
    """
    rows = []
    for k in sorted({k for *_, k in cells}):
        for (first, one), (second, other) in combinations(names.items(), 2):
            a, b = cells.get((one, partitioner, k)), cells.get((other, partitioner, k))
            if a is None or b is None or len(a) != len(b):
                continue
            whole = ~np.isnan(a + b).any(axis=1)
            a, b = a[whole], b[whole]
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
    """Print the differences of partitioners: a block per data set, a row per learner, k and partitioner."""
    own = "difference_own_units" in table
    rows: list[list[TableCell | str]] = []
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([f"{dataset}: {int(block['repetitions'].min())} partitions each, against {block['reference'].iloc[0]}"])
        for row in block.itertuples():
            shown = [row.learner, TableCell(str(row.k)), row.partitioner, TableCell(number(row.mean))]
            shown += [_difference(row, alpha), *([TableCell(signed(row.difference_own_units))] if own else [])]
            shown += [TableCell(p_value(row.p_holm)), TableCell(p_value(row.p_other_samples))]
            spreads = f"{number(row.spread)} ({number(row.reference_spread)})"
            rows.append([*shown, TableCell(spreads), TableCell(_repetitions(row.repetitions_to_settle))])
    header = ["Learner", "k", "Cut", "Mean", "Difference and interval", *["In the target's units"] * own]
    header += ["p (Holm)", "p, other samples", "Spread (reference)", "Repetitions to settle"]
    return Grid(header, rows or [["No learner has two complete partitions by two ways of cutting."]], [_bold(alpha)])


def learners_grid(table: pd.DataFrame, alpha: float) -> Grid:
    """Print the differences of learners: a block per data set, configuration and k, a row per pair."""
    own = "difference_own_units" in table
    rows: list[list[TableCell | str]] = []
    for (dataset, configuration, k), block in table.groupby(["dataset", "configuration", "k"], sort=False):
        which = f", {configuration} configuration" if configuration else ""
        n = int(block["repetitions"].min())
        rows.append([f"{dataset}{which}: {k} folds by {block['partitioner'].iloc[0]}, {n} partitions"])
        for row in block.itertuples():
            shown: list[TableCell | str] = [
                f"{row.row} less {row.column}",
                TableCell(number(row.mean_row)),
                TableCell(number(row.mean_column)),
            ]
            shown += [_difference(row, alpha), *([TableCell(signed(row.difference_own_units))] if own else [])]
            shown += [TableCell(p_value(row.p_value)), TableCell(p_value(row.p_holm)), TableCell(number(row.spread))]
            rows.append([*shown, TableCell(_repetitions(row.repetitions_recommended))])
    header = ["Learners", "Mean of one", "Of the other", "Difference and interval", *["In the target's units"] * own]
    header += ["p", "p (Holm)", "Spread", "Repetitions recommended"]
    return Grid(header, rows or [["No two learners have two complete partitions in common."]], [_bold(alpha)])


def _complete(scores: FloatArray | None) -> FloatArray:
    """Select the partitions without NaN; none if there are no scores."""
    return np.empty((0, 1)) if scores is None else scores[~np.isnan(scores).any(axis=1)]


def _between_partitions(own: FloatArray, base: FloatArray) -> dict[str, float]:
    """Compare the means of two sets of partitions by Welch's interval and test; find the repetitions that leave out 0."""
    difference = float(own.mean() - base.mean())
    parts = own.var(ddof=1) / len(own), base.var(ddof=1) / len(base)
    error, needed = float(np.sqrt(add_up(parts))), np.nan
    if error > 1e-12 * max(abs(own).max(), abs(base).max()):
        df = add_up(parts) ** 2 / (parts[0] ** 2 / (len(own) - 1) + parts[1] ** 2 / (len(base) - 1))
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
    """Compare folds of equally many partitions (Nadeau and Bengio); folds of two cuts have no pairs: any order will do."""
    n, k = min(len(own), len(base)), own.shape[1]
    return nadeau_bengio(own[:n] - base[:n], k - 1, 1)


def _recommended(differences: FloatArray) -> float:
    """Recommend repetitions; NaN if there is no answer."""
    try:
        found = recommend_repetitions(differences).repetitions
    except ValueError:
        return np.nan
    return np.nan if found is None else float(found)


def _adjusted(rows: Rows) -> Rows:
    """Add the p-values after Holm's correction for all rows."""
    if rows:
        for row, p in zip(rows, adjust_p([float(row["p_value"]) for row in rows], method="holm")):
            row["p_holm"] = float(p)
    return rows


def _difference(row: Any, alpha: float) -> TableCell:
    text = f"{number(row.difference, '+.4f')} [{number(row.low, '+.4f')}, {number(row.high, '+.4f')}]"
    return TableCell(text, bold=bool(row.p_holm <= alpha))


def _repetitions(n: float) -> str:
    return EMPTY if np.isnan(n) else f"above {MAX_REPETITIONS}" if n > MAX_REPETITIONS else count(n)


def _bold(alpha: float) -> str:
    return (
        f"Bold: p at most {alpha:g} after Holm's correction for all comparisons of the data set (and configuration). "
        f"{EMPTY}: cannot be told, because there is no difference, no spread, or too few partitions."
    )
