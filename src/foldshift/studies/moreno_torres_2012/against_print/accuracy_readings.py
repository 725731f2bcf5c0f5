"""Readings of Table VI beside print: the runs of an experiment at 2x5, and the pairs and thresholds it is judged by.

Two facts stand in the paper. Table V judges DOB-SCV at 5x2 on the 19 pairs of the printed Table IV, at their p. And the cells of
a row of Table VI are whole multiples of one number only: 1/16, 1/19 and 1/21 of a per cent at 2x5, 5x2 and 10x1. The readings
take nothing else but the literal reading of Table VII, a single run of two folds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.inference.comparisons.wilcoxon import rank_sum_p
from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.agreement import ALPHA, PairTests, agreements
from foldshift.inference.repetitions.recall_convergence import runs_of_experiment
from foldshift.reporting.min_datasets import one_line
from foldshift.reporting.number_formats import number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.moreno_torres_2012.experiment_accuracy import comparable_results
from foldshift.studies.moreno_torres_2012.experiments import by_configuration
from foldshift.studies.moreno_torres_2012.notation import AVERAGE, NO_PAIR, in_print_order, scheme_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import PathLike
    from foldshift.studies.moreno_torres_2012.experiments import Truth, Values

PAPER = "paper"
TRUTH_FOLDS = 5  # of the scheme that Table IV is printed for
DISTANCE = "distance"
READING_KEYS = ("cut", "reading", "scheme", "partitioner")
COLUMNS = (*READING_KEYS, "percent", "standard_error", "printed", "n_pairs", "n_experiments")


class Reading(NamedTuple):
    """Reading of Table VI: the runs of an experiment at two folds, and the schemes that the printed Table IV judges."""

    runs_of_two_folds: int | None = None  # the first of an experiment; None: all
    by_print: tuple[int, ...] = ()  # numbers of folds


READINGS = {
    PAPER: Reading(runs_of_experiment(2, 5), (TRUTH_FOLDS,)),
    "all runs": Reading(),
    "two runs at 2x5": Reading(2),
    "one run at 2x5": Reading(runs_of_experiment(2, 5)),
    "5x2 by the printed Table IV": Reading(None, (TRUTH_FOLDS,)),
    "paper, 2x5 by the printed Table IV too": Reading(runs_of_experiment(2, 5), (2, TRUTH_FOLDS)),
}


def printed_pairs(table4: pd.DataFrame, learners: Sequence[str], n_datasets: int, alpha: float = ALPHA) -> PairTests:
    """Read the pairs that differ in the printed Table IV, with the exact p of their printed sums of ranks.

    The printed p decides which pairs differ, and where it is illegible the sums do.
    """
    found = []
    for row in table4.itertuples():
        if row.row not in learners or row.column not in learners or learners.index(row.row) > learners.index(row.column):
            continue
        exact = float(rank_sum_p(float(row.r_plus), n_datasets))
        text = "" if pd.isna(row.p_value) else str(row.p_value)
        p = exact if text == "" else 1.0 if text.startswith(">") else float(text)
        if p <= alpha:
            found.append((learners.index(row.row), learners.index(row.column), float(row.r_plus), float(row.r_minus), exact))
    first, second, plus, minus, exact_p = np.array(found).reshape(-1, 5).T
    sizes = np.full(len(found), n_datasets)
    return PairTests(first.astype(np.int64), second.astype(np.int64), plus, minus, exact_p, sizes, ["exact"] * len(found))


def readings_table(
    paths: Sequence[PathLike], settings: dict[str, Any], printed: dict[str, pd.DataFrame], cuts: dict[str, dict[str, str]]
) -> pd.DataFrame:
    """Count the experiments that find the true differences under every reading, beside the printed Table VI.

    `cuts` name the partitioners of a cut by their ids. The last row of a reading has its distance: the root mean square gap to
    the printed cells. Readings that need the printed Table IV are left out unless the run has its data sets and classifiers.
    """
    printed6 = printed["table6"].set_index(["scheme", "partitioner"])["percent_same_result"]
    limits = None
    if set(printed["table4"]["row"]) == set(settings["learners"]) and len(settings["datasets"]) == len(printed["table1"]):
        limits = printed_pairs(printed["table4"], list(settings["learners"]), len(settings["datasets"]), settings["alpha"])
    rows: list[tuple[Any, ...]] = []
    for reading, (n_runs, by_print) in READINGS.items():
        if by_print and limits is None:
            continue
        results = by_configuration(paths, settings, {2: n_runs} if n_runs else None)
        values, truth = results.get(PAPER, next(iter(results.values())))
        for cut, names in cuts.items():
            present = [k for k in settings["iterations"] if all((k, one) in values for one in names.values())]
            chosen = {(k, name): values[k, one] for k in present for name, one in names.items()}
            if chosen:
                schemes = {k: settings["iterations"][k] for k in present}
                given: dict[int, PairTests | None] = dict.fromkeys(by_print, limits)
                rows += [
                    (cut, reading, *row) for row in _reading_rows(chosen, truth, schemes, given, printed6, settings["alpha"])
                ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _reading_rows(
    values: Values, truth: Truth, schemes: dict[int, int], given: dict[int, PairTests | None], printed: pd.Series, alpha: float
) -> list[tuple[Any, ...]]:
    """Make the rows of a reading without cut and name; `given` are the pairs and thresholds of print, by number of folds."""
    partitioners = in_print_order(dict.fromkeys(name for _, name in values))
    values, truth = comparable_results(values, truth, schemes, partitioners)
    rows: list[tuple[Any, ...]] = []
    for k, r in schemes.items():
        for name in partitioners:
            found = agreements(mean_present(truth[k]), values[k, name], alpha, "paper", given.get(k))
            each = 100 * mean_present(np.where(found.judged, found.agree, np.nan), axis=0)
            each = each[~np.isnan(each)]
            error = each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
            scheme = scheme_name(k, r)
            percent = each.mean() if len(each) else np.nan
            rows.append((scheme, name, percent, error, printed.get((scheme, name), np.nan), len(found.pairs.row), len(each)))
    by_name = [[row for row in rows if row[1] == name] for name in partitioners]
    for name, parts in zip(partitioners, by_name):
        error = np.sqrt(np.sum([row[3] ** 2 for row in parts])) / len(parts)
        whole = set(printed.index.get_level_values(0)) <= {AVERAGE, *(row[0] for row in parts)}
        print_mean = printed.get((AVERAGE, name), np.nan) if whole else np.nan
        pairs, least = float(np.mean([row[5] for row in parts])), min(row[6] for row in parts)
        rows.append((AVERAGE, name, float(np.mean([row[2] for row in parts])), error, print_mean, pairs, least))
    gaps = np.array([row[2] - row[4] for row in rows if row[0] != AVERAGE])
    there = gaps[~np.isnan(gaps)]
    distance = float(np.sqrt(np.mean(there**2))) if len(there) else np.nan
    return [*rows, (DISTANCE, "", distance, np.nan, np.nan, np.nan, min(row[6] for row in rows))]


def readings_grid(table: pd.DataFrame) -> Grid:
    """Print the readings of Table VI: schemes by partitioners, with the number of pairs and the distance to print."""
    if table["percent"].isna().all():
        return one_line(NO_PAIR)
    partitioners = in_print_order(name for name in dict.fromkeys(table["partitioner"]) if name)
    rows: list[list[TableCell | str]] = []
    for (cut, reading), block in table.groupby(["cut", "reading"], sort=False):
        distance = block.loc[block["scheme"] == DISTANCE, "percent"].iloc[0]
        rows.append([f"{cut} cut, {reading}; distance to print {number(distance, '.1f')} points"])
        for scheme, part in block[block["scheme"] != DISTANCE].groupby("scheme", sort=False):
            part = part.set_index("partitioner").reindex(partitioners)
            cells = [TableCell(with_error(p, e, ".1f")) for p, e in zip(part["percent"], part["standard_error"])]
            rows.append([str(scheme), TableCell(number(part["n_pairs"].iloc[0], ".3g")), *cells])
    printed = table[table["printed"].notna()].drop_duplicates(["scheme", "partitioner"])
    if len(printed):
        rows.append(["as printed"])
        for scheme, part in printed.groupby("scheme", sort=False):
            part = part.set_index("partitioner").reindex(partitioners)
            cells = [TableCell(number(p, ".3f", empty="")) for p in part["printed"]]
            rows.append([str(scheme), TableCell(str(PAIRS_IN_PRINT.get(str(scheme), ""))), *cells])
    notes = [
        "Pairs: of classifiers that differ in truth. Those of print follow from its cells, which are whole multiples of 1/16, "
        "1/19 and 1/21 of a per cent; so 2x5 and 10x1 were judged by truths of their own, not by the printed Table IV.",
        f"Distance: root mean square gap to the printed cells. {PAPER}: one run of two folds is an experiment at 2x5, as in "
        "Table VII, and 5x2 is judged by the pairs and p of the printed Table IV, as in Table V. No reading was chosen by its "
        "distance.",
    ]
    return Grid(["CV scheme", "Pairs", *partitioners], rows, notes)


PAIRS_IN_PRINT = {"2x5": 16, "5x2": 19, "10x1": 21}
