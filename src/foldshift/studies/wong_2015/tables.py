"""Printed tables of intervals, comparisons and repetitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.inference.repetitions.recommend import FEWEST_PARTITIONS
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, number, p_value
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.wong_2015.accuracy_rows import LEAVE_ONE_OUT, REPETITIONS, read_folds, read_pairs
from foldshift.studies.wong_2015.correct_counts import (
    INTERVALS,
    TESTS,
    agreement_table,
    comparisons_table,
    intervals_table,
    ranks_table,
    repetitions_table,
)

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import Inputs

NO_PAIRS = "There are no two classifiers to compare."


def intervals(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of intervals, comparisons and their agreement, repetitions, and average ranks."""
    level = settings["level"]
    folds, pairs = read_folds(inputs.folds, settings), read_pairs(inputs.correct, settings)
    accuracies, comparisons = intervals_table(folds, level), comparisons_table(folds, pairs, level)
    agreement, repetitions = agreement_table(comparisons, level), repetitions_table(folds)
    ranks, _ = ranks_table(accuracies, level)
    return {
        "intervals": TableResult(accuracies, intervals_grid(accuracies)),
        "comparisons": TableResult(comparisons, comparisons_grid(comparisons, level)),
        "agreement": TableResult(agreement, agreement_grid(agreement)),
        "repetitions": TableResult(repetitions, repetitions_grid(repetitions)),
        "average_ranks": TableResult(ranks, ranks_grid(ranks)),
    }


def intervals_grid(table: pd.DataFrame) -> Grid:
    """Print the intervals, a block per data set."""
    rows: list[list[TableCell | str]] = []
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([f"{dataset}, {int(block['n'].iloc[0])} rows"])
        for row in block.to_dict("records"):
            cells = [TableCell(_range(row[f"{name}_low"], row[f"{name}_high"]) or _missing(name, row)) for name in INTERVALS]
            small = "" if np.isnan(row["n_small"]) else "hold" if row["large_sample"] else "fail"
            if small == "fail" and row["k"] != LEAVE_ONE_OUT:
                small += f" in {row['n_small']:.0f} of {row['k']}"
            rows.append(
                [row["learner"], TableCell(_cut(row["k"])), TableCell(number(row["accuracy"], ".3f")), *cells, TableCell(small)]
            )
    notes = [
        "Conditions: at least five right and five wrong predictions in every fold (leave-one-out: in all). Where they fail the "
        "paper drops the fold, which biases the estimate; here all folds are kept, and of the two binomial intervals Wilson's is "
        "the one to read. For leave-one-out there are no folds and no repetitions.",
    ]
    if lost := int(table["n_failed"].sum()):
        notes.append(f"{lost} fits were lost; what rests on them is left out. The CSV file has the messages.")
    header = ["Classifier", "k", "Accuracy", *INTERVALS.values(), "Conditions"]
    return Grid(header, rows, notes)


def comparisons_grid(table: pd.DataFrame, level: float) -> Grid:
    """Print p-values: a block per data set, a row per pair and k."""
    alpha = round(1 - level, 10)
    by_cut = {loo: [key for key in TESTS if key[2] == loo] for loo in (False, True)}
    names = list(dict.fromkeys(_column(test, formula) for test, formula, _ in TESTS))
    rows: list[list[TableCell | str]] = [] if len(table) else [[NO_PAIRS]]
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([dataset])
        for (a, b, k), part in block.groupby(["learner_a", "learner_b", "k"], sort=False):
            p = {(row.test, row.formula): row.p_value for row in part.itertuples()}
            difference = part["difference"][part["test"] == "McNemar"].iloc[0]  # of one partition
            cells = {}
            for test, formula, _ in by_cut[k == LEAVE_ONE_OUT]:
                value = p[test, formula]
                cells[_column(test, formula)] = TableCell(p_value(value), bold=bool(value <= alpha))
            numbers = [TableCell(number(value, "+.3f")) for value in (difference, part["phi"].iloc[0])]
            rows.append([f"{a} - {b}", TableCell(_cut(k)), *numbers, *[cells.get(name, TableCell("")) for name in names]])
    notes = [
        "Matched t over folds and independent z are Wong's; the first takes the folds for independent. Nadeau-Bengio uses all "
        "repetitions without counting them as independent; "
        "all other tests are of one partition, so that their p depends on the luck of the cut. McNemar: exact.",
        "Matched t over instances as printed lacks a square: its s^2 is 0 for all data, so that p is 0 for any difference and 1 "
        "for none.",
    ]
    if len(phi := table.drop_duplicates(["dataset", "learner_a", "learner_b", "k"])["phi"].dropna()):
        notes.append(
            f"Phi is above 0 (the two err on the same rows) in {int((phi > 0).sum())} of {len(phi)} comparisons; its median is "
            f"{phi.median():.2f}."
        )
    return Grid(["A - B", "k", "Difference", "Phi", *names], rows, notes)


def agreement_grid(table: pd.DataFrame) -> Grid:
    """Print rejections and disagreements: a block per k, tests by number."""
    tests = list(TESTS.values())
    rows: list[list[TableCell | str]] = [] if len(table) else [[NO_PAIRS]]
    for k, block in table.groupby("k", sort=False):
        rows.append([f"k = {k}"])
        cells = block.set_index(["test_a", "test_b"])
        for i, a in enumerate(tests):
            own = cells.loc[(a, a)]
            rejects = TableCell(f"{100 * own['rejects_a'] / own['n']:.1f}" if own["n"] else EMPTY)
            others = [
                TableCell("") if i == j else TableCell(number(cells.loc[(a, b), "disagree_percent"], ".1f"))
                for j, b in enumerate(tests)
            ]
            rows.append([f"{i + 1} {a}", TableCell(f"{own['n']:.0f}"), rejects, *others])
    header = ["Test", "Pairs", "Rejects, %", *[str(i + 1) for i in range(len(tests))]]
    note = (
        "Numbers 1 to 8 head the columns of the tests: per cent of pairs on which the test of the row and that of the column "
        "decide differently."
    )
    return Grid(header, rows, [note])


def repetitions_grid(table: pd.DataFrame) -> Grid:
    """Print the gain of repeating, a block per data set."""
    rows: list[list[TableCell | str]] = []
    for dataset, block in table.groupby("dataset", sort=False):
        rows.append([dataset])
        for row in block.to_dict("records"):
            spread = [number(row[name] ** 0.5, ".4f") for name in ("partition_variance", "fixed_variance")]
            shares = [number(row[name], ".3f") for name in ("rho", f"ratio_{REPETITIONS}", "most_gain")]
            wanted = [number(row[name], ".0f") for name in ("repetitions", "plug_in")]
            cells = [TableCell(text) for text in (*spread, *shares, *wanted)]
            rows.append([row["learner"], TableCell(str(row["k"])), TableCell(str(row["n_repetitions"])), *cells])
    notes = [
        f"What repeating cannot remove: from the spread of the folds of a repetition, which leaves out what their training sets "
        f"have in common, so that it is not too large. Enough: the standard deviation that the choice of folds leaves is then at "
        f"most a tenth of the one that stays, in 90 % of such studies; plug-in: the same without that promise. A dash: fewer "
        f"than {FEWEST_PARTITIONS} repetitions cannot tell. The paper claims a ratio of 1."
    ]
    header = [
        "Classifier",
        "k",
        "Repetitions",
        "sd between partitions",
        "sd that repeating cannot remove",
        "rho",
        f"Ratio at {REPETITIONS}",
        "Most to gain",
        "Enough",
        "Plug-in",
    ]
    return Grid(header, rows, notes)


def ranks_grid(table: pd.DataFrame) -> Grid:
    """Print average ranks."""
    header = ["Classifier", "Average rank", "Mean accuracy", "Groups", "p against the best"]
    if table.empty:
        return Grid(header, [["Fewer than two classifiers or data sets have leave-one-out results in common."]])
    rows = [
        [
            row.learner,
            TableCell(f"{row.average_rank:.2f}"),
            TableCell(f"{row.mean_accuracy:.3f}"),
            TableCell(row.groups),
            TableCell("" if i == 0 else p_value(row.p_from_best)),
        ]
        for i, row in enumerate(table.itertuples())
    ]
    one = table.iloc[0]
    difference = f"Critical difference of average ranks: {one['critical_difference']:.2f}."
    if one["critical_difference"] == np.inf:
        difference = "With so few data sets no difference of average ranks can reach the level."
    note = (
        f"{one['n_datasets']} data sets. Friedman: chi-square {one['chi2']:.2f}, p {p_value(one['p_chi2'])}; Iman-Davenport: F "
        f"{one['f']:.2f}, p {p_value(one['p_f'])}. "
        f"{difference}"
    )
    return Grid(header, rows, [note])


def _column(test: str, formula: str) -> str:
    """Head of a test's column; only the matched t over instances has both formulas."""
    return f"{test}, as printed" if (test, formula) == ("matched t over instances", "paper") else test


def _cut(k: int) -> str:
    return "leave-one-out" if k == LEAVE_ONE_OUT else str(k)


def _range(low: float, high: float) -> str:
    return "" if np.isnan(low) or np.isnan(high) else f"{low:.3f} to {high:.3f}"


def _missing(name: str, row: dict[str, Any]) -> str:
    """Text of a cell without an interval: empty where there cannot be one."""
    return "" if row["k"] == LEAVE_ONE_OUT and name in ("fold", "corrected") else EMPTY
