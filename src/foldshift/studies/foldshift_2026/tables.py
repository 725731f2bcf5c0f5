"""Printed tables, and the figure, of the study on honest cuts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.simulation.coverage import WHOLE_SAMPLE
from foldshift.reporting.figure_style import COLOURS, plt, style
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, counted, p_value, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.common.coverage_rows import PARTITIONER_COLUMNS, TASK_TITLES, audit_table, partitioner_table
from foldshift.studies.common.samples import NUMBERS
from foldshift.studies.foldshift_2026.bias_tables import (
    ANSWER,
    COMPARED,
    FAR,
    HALVES,
    OPEN,
    PLAIN,
    answer,
    by_folds,
    by_learner,
    by_population,
    honesty_table,
    ledger,
    whole_samples,
)
from foldshift.studies.foldshift_2026.measure import KEYS
from foldshift.studies.foldshift_2026.partitioners import REFERENCES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs

    Audits = dict[tuple[int, int], pd.DataFrame]  # by rows of the sample and k

LABELS = {
    "bias_training": "bias, part",
    "bias_models": "bias, these models",
    "bias_whole": "bias, whole",
    "spread": "spread",
    "error_one": "error",
    "error_ten": "error, ten times",
    "choice": "right choice",
}
ALL = "all"  # learners
FAR_BEYOND, FEW = 6.0, 3  # times the median cut beyond which a cut is outside of the frame; if there are more than so many cuts
# Lines beyond the colours of `style`: hollow, with other markers.
MORE_COLOURS, MORE_MARKERS = ("#882255", *COLOURS[1:]), ("<", ">", "p", "h", "d", "8", "H")


def honesty(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult | Figure]:
    """Make all tables, and the figure."""
    cuts, level = settings["cuts"], settings["level"]
    rows = pd.concat([pd.DataFrame(read_columns(path, (*KEYS, *NUMBERS))) for path in inputs.rows], ignore_index=True)
    for name in KEYS[:4]:
        rows[name] = rows[name].astype(str)
    good = whole_samples(rows)
    learners, audits = by_learner(good), audits_of(good, cuts, level)
    populations = by_population(learners, good)
    by_cut, coverage = honesty_table(populations, cuts), coverage_table(audits, level)
    claims, folds = ledger(populations), by_folds(populations, cuts)
    advice = answers(learners, audits, cuts, level)
    lost = len(rows) - len(good)
    return {
        "answer": TableResult(advice, answer_grid(advice)),
        "ledger": TableResult(claims, ledger_grid(claims)),
        "by_folds": TableResult(folds, folds_grid(folds)),
        "honesty": TableResult(by_cut, honesty_grid(by_cut, lost)),
        "coverage": TableResult(coverage, coverage_grid(coverage, level)),
        "by_population": TableResult(populations),
        "optimism (figure)": draw_optimism(by_cut, cuts),
    }


def audits_of(rows: pd.DataFrame, cuts: Sequence[str], level: float) -> Audits:
    """Audit every interval of the first repetition, for every population and learner: bias, coverage and width."""
    first = rows[rows["repetition"] == 0].rename(columns={"cut": "partitioner"})
    return {key: audit_table(part, cuts, level) for key, part in first.groupby(["n_sample", "k"], sort=True)}


def coverage_table(audits: Audits, level: float, learner: str | None = None) -> pd.DataFrame:
    """Coverage of every interval of one cross-validation, by size, k and cut, averaged over populations.

    Of one learner, or of all, each population by the mean over its learners.
    """
    found = []
    for (n_sample, k), audit in audits.items():
        table = partitioner_table(audit if learner is None else audit[audit["learner"] == learner], level)
        found.append(table.assign(n_sample=n_sample, k=k))
    columns = ["n_sample", "k", *PARTITIONER_COLUMNS]
    return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)


def answers(measures: pd.DataFrame, audits: Audits, cuts: Sequence[str], level: float) -> pd.DataFrame:
    """Recommend cuts, folds, repetitions and intervals, over all learners and for each of them."""
    found = []
    audits = {key: audit[audit["target"] == WHOLE_SAMPLE] for key, audit in audits.items()}
    learners = sorted(set(measures["learner"]))
    for learner in [None, *learners] if len(learners) > 1 else [None]:
        own = measures if learner is None else measures[measures["learner"] == learner]
        by_cut = honesty_table(by_population(own, None), cuts)
        table = answer(by_cut, coverage_table(audits, level, learner), level, 1 if learner is None else len(learners))
        found.append(table.assign(learner=ALL if learner is None else learner))
    table = pd.concat(found, ignore_index=True)[["learner", *ANSWER]]
    return table.sort_values("task", kind="stable", ignore_index=True)


def honesty_grid(table: pd.DataFrame, lost: int) -> Grid:
    """Print `honesty_table`: a block for each task, size and k."""
    rows: list[list[TableCell | str]] = []
    for (task, n_sample, k), block in table.groupby(["task", "n_sample", "k"], sort=False):
        rows.append(
            [f"{TASK_TITLES[task]}, samples of {n_sample}, {k} folds; {counted(block['n_populations'].max(), 'population')}"]
        )
        for _, row in block.iterrows():
            cells = [_measured(row, name) for name in LABELS]
            rows.append([row["cut"], *cells])
    notes = [
        "Per cent of the true error of the model trained on the whole sample, mean over populations (of each over its "
        "learners) ± standard error over populations. Bold: further from the reference (SCV for classes, CV for numbers) than "
        "two standard errors of the difference, which stands in the CSV file. Right choice: per cent of the pairs of learners "
        "that truly differ.",
    ]
    if lost:
        notes.append(f"{lost} rows of samples on which a fit failed are left out, for all cuts.")
    return Grid(["Cut", *LABELS.values()], rows, notes)


def _measured(row: pd.Series, name: str) -> TableCell:
    """Print a measure ± its error; bold if it is far from the reference."""
    scale = 100 if name == "choice" else 1
    if row[name] != row[name]:
        return TableCell(EMPTY)
    far = abs(row[f"{name}_vs"]) > FAR * row[f"{name}_vs_error"]
    form = "+.1f" if name.startswith("bias") else ".1f"
    return TableCell(with_error(scale * row[name], scale * row[f"{name}_error"], form), bold=bool(far))


def coverage_grid(table: pd.DataFrame, level: float) -> Grid:
    """Print the coverage of the error of the model trained on the whole sample."""
    table = table[table["target"] == WHOLE_SAMPLE]
    intervals = list(dict.fromkeys(table["interval"]))
    rows: list[list[TableCell | str]] = []
    for (task, n_sample, k), block in table.groupby(["task", "n_sample", "k"], sort=False):
        rows.append(
            [f"{TASK_TITLES[task]}, samples of {n_sample}, {k} folds; {counted(block['n_populations'].max(), 'population')}"]
        )
        for name, part in block.groupby("partitioner", sort=False):
            cells = part.set_index("interval")
            shown: list[TableCell | str] = [name]
            for interval in intervals:
                if interval not in cells.index or cells.loc[interval, "coverage"] != cells.loc[interval, "coverage"]:
                    shown.append(TableCell(EMPTY))
                    continue
                one = cells.loc[interval]
                error = one["coverage_error"] if one["coverage_error"] == one["coverage_error"] else 0
                low = one["coverage"] + FAR * error < level
                shown.append(TableCell(with_error(100 * one["coverage"], 100 * one["coverage_error"], ".1f"), bold=bool(low)))
            rows.append(shown)
    notes = [
        f"Per cent of the samples whose {100 * level:g} % interval holds the error of the model trained on the whole sample, "
        "mean over populations ± standard error over populations. Bold: below the level by more than two standard errors. "
        "The CSV file has the two other targets (the average over training parts, and these very models), widths and "
        "differences from the reference.",
    ]
    return Grid(["Cut", *intervals], rows, notes)


def ledger_grid(table: pd.DataFrame) -> Grid:
    """Print `ledger`."""
    rows: list[list[TableCell | str]] = []
    for task, row in ((task, row) for task, part in table.groupby("task", sort=True) for _, row in part.iterrows()):
        if [TASK_TITLES[task]] not in rows:
            rows.append([TASK_TITLES[task]])
        what = f"{row['lower']} below {row['higher']}, {LABELS[row['measure']]}"
        decided = row["verdict"] != OPEN
        rows.append(
            [
                TableCell(row["claim"]),
                row["source"],
                what,
                with_error(row["difference"], row["standard_error"], "+.2f"),
                str(int(row["n_populations"])),
                p_value(row["p_holm"], False) if row["p_holm"] == row["p_holm"] else EMPTY,
                TableCell(row["verdict"], bold=decided),
                str(len(row["turned_by"].split(", ")) if row["turned_by"] else 0),
                ", ".join(_number(row[name], "+.1f") for name in HALVES),
            ]
        )
    notes = [
        "Difference: of bias in percentage points of the true error, of right choices in percentage points of the pairs of "
        "learners, of error and spread in per cent of those of the second cut (geometric mean); ± standard error over "
        "populations; p by Student's t over populations, two-sided, corrected by Holm for the number of rows. A claim holds "
        "where the first cut is lower and p is at most .05. Turned by: how many of the populations there are without any "
        "one of which the verdict would be another; the CSV file names them. Halves: the difference from every second "
        "population, and from the others.",
    ]
    return Grid(["Claim", "By", "Tested", "Difference", "Populations", "p (Holm)", "Verdict", "Turned by", "Halves"], rows, notes)


def folds_grid(table: pd.DataFrame) -> Grid:
    """Print `by_folds`: a block for each task and measure, a column for each number of folds."""
    ks = sorted(set(table["k"]))
    rows: list[list[TableCell | str]] = []
    for (task, own), measure in itertools.product(table.groupby("task", sort=True), COMPARED):
        rows.append([f"{TASK_TITLES[task]}, {LABELS[measure]}; {counted(own['n_populations'].max(), 'population')}"])
        for cut, part in own.groupby("cut", sort=False):
            cells = part.set_index("k")
            rows.append([cut, *(_against(cells.loc[k], measure) if k in cells.index else TableCell(EMPTY) for k in ks)])
    notes = [
        "Against the reference (SCV for classes, CV for numbers) with as many folds, over all sizes of samples: of error "
        "and spread in per cent of the reference's (geometric mean over populations), of bias in percentage points of the "
        "true error; ± standard error over populations. Bold: further from 0 than two standard errors. The CSV file has p, "
        "which is not corrected: the verdicts are those of the ledger.",
    ]
    return Grid(["Cut", *(counted(k, "fold") for k in ks)], rows, notes)


def _against(row: pd.Series, measure: str) -> TableCell:
    """Print a difference from the reference ± its error."""
    if row[measure] != row[measure]:
        return TableCell(EMPTY)
    error = row[f"{measure}_error"]
    return TableCell(with_error(row[measure], error, "+.1f"), bold=bool(abs(row[measure]) > FAR * error))


def answer_grid(table: pd.DataFrame) -> Grid:
    """Print `answers`: a block for each task and learner."""
    rows: list[list[TableCell | str]] = []
    for (task, learner), block in table.groupby(["task", "learner"], sort=False):
        rows.append([f"{TASK_TITLES[task]}, {'all learners' if learner == ALL else learner}"])
        for _, row in block.iterrows():
            gain = "is the reference" if row["decided"] == "reference" else with_error(row["gain"], row["gain_error"], "+.1f")
            rows.append(
                [
                    str(row["n_sample"]),
                    row["cut"],
                    str(row["k"]),
                    _number(row["error"], ".1f"),
                    _number(row["repetitions"], ".0f"),
                    _number(row["fits"], ".0f"),
                    row["interval"] if row["holds"] == "yes" else f"none shown; closest: {row['interval']}",
                    _number(100 * row["coverage"], ".0f"),
                    f"{row['nearest']}, {row['nearest_k']}",
                    TableCell(gain, bold=row["decided"] == "yes"),
                    f"{row['fewest_k']}: {_number(row['fewest_error'], '.1f')}",
                    f"{row['lowest']}: {_number(row['lowest_bias'], '+.1f')}",
                    _number(100 * row["plain_coverage"], ".0f"),
                ]
            )
    notes = [
        "Cut: the reference (SCV for classes, CV for numbers) with the number of folds of its least error, unless another "
        "one was shown to be nearer to the truth. Nearest: cut and number of folds with the least error of one repetition; "
        "its gain: by how many per cent that error is smaller than with the reference and as many folds, ± standard error "
        "over populations. It is the best of many, chosen on the same rows that its gain is read from, so that gains are "
        "too large by something; shown, and bold: p is at most .05 by Student's t of the logarithms over populations, times "
        "the number of cuts, folds and learners chosen from. Interval: the narrowest whose coverage, less two standard "
        "errors, is at most .05 below its promise.",
        "To do otherwise costs: with the fewest folds, the error after the colon; with the cut that gives the lowest estimates "
        "(with as many folds), the bias after the colon; with the mean of the folds plus or minus Student's t times their spread "
        f"({PLAIN}), the last column of the samples are held.",
    ]
    header = [
        "Rows",
        "Cut",
        "Folds",
        "Error, %",
        "Repetitions",
        "Fits",
        "Interval",
        "Holds, %",
        "Nearest",
        "Its gain, %",
    ]
    return Grid([*header, "Fewest folds: error", "Lowest estimate: bias", f"{PLAIN} holds, %"], rows, notes)


def _number(value: float, form: str) -> str:
    """Format a number; a missing one is `EMPTY`."""
    return EMPTY if value != value else format(value, form)


def draw_optimism(table: pd.DataFrame, cuts: Sequence[str]) -> Figure:
    """Draw bias, and error against that of the reference, by size of the sample, for five folds or the most there are."""
    tasks = [task for task in TASK_TITLES if task in set(table["task"])] or ["classification"]
    figure, axes = plt.subplots(2, len(tasks), figsize=(5.2 * len(tasks), 6.6), squeeze=False, sharex="col")
    # A cut looks the same for classes and for numbers; the references come last among the others.
    looks = {cut: i for i, cut in enumerate(sorted(cuts, key=lambda cut: cut in REFERENCES.values()), start=1)}
    table = table.assign(
        against=100 * np.expm1(table["times"].fillna(0.0)), against_error=100 * np.exp(table["times"]) * table["times_error"]
    )
    for column, task in enumerate(tasks):
        own = table[table["task"] == task]
        ks = own["k"]
        own = own[ks == (5 if (ks == 5).any() else ks.max())]
        reference = REFERENCES[task]
        for row, (name, label) in enumerate(
            (("bias_whole", "bias, % of the true error"), ("against", f"error against that of {reference}, %"))
        ):
            axis = axes[row, column]
            shown = [cut for cut in dict.fromkeys([reference, *cuts]) if cut in set(own["cut"])]
            far = _beyond(own, name)
            for place, cut in enumerate(shown):
                i = 0 if cut == reference else looks[cut]
                part = own[own["cut"] == cut].sort_values("n_sample")
                look: dict[str, Any] = {"lw": 2.2 if i == 0 else 0.9}  # only the reference is black
                if (more := i - len(COLOURS)) >= 0:
                    look |= {"color": MORE_COLOURS[more % len(MORE_COLOURS)], "marker": MORE_MARKERS[more % len(MORE_MARKERS)]}
                    look["markerfacecolor"] = "white"
                axis.errorbar(
                    part["n_sample"] * (1 + 0.02 * (place - 4)),
                    part[name] * (np.nan if cut in far else 1.0),
                    yerr=part[f"{name}_error"],
                    label=cut,
                    **style(i) | look,
                )
            if far:
                words = [f"{cut} {low:+.0f} to {high:+.0f}" for cut, (low, high) in far.items()]
                axis.set_title(f"beyond the frame: {', '.join(words)}", fontsize=7, loc="right", pad=2, y=1.0)
            axis.axhline(0, color="#7F7F7F", lw=0.8)
            if row == 0:
                axis.set_title(TASK_TITLES[task] if len(own) else "nothing was measured", loc="left")
            axis.set_ylabel(label)
            if len(own):
                axis.set_xscale("log")
                axis.set_xticks(sorted(set(own["n_sample"])), [str(n) for n in sorted(set(own["n_sample"]))])
                axis.minorticks_off()
        axes[1, column].set_xlabel("rows of the sample")
        if len(own):
            axes[1, column].legend(fontsize=7, ncol=3, loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False)
    return figure


def _beyond(own: pd.DataFrame, name: str) -> dict[str, tuple[float, float]]:
    """Find cuts whose values are so many times the median that they would press all others together: least and largest value."""
    largest = own[name].abs().groupby(own["cut"]).max()
    far = largest[largest > FAR_BEYOND * largest.median()].index if len(largest) > FEW else []
    return {cut: (own.loc[own["cut"] == cut, name].min(), own.loc[own["cut"] == cut, name].max()) for cut in far}
