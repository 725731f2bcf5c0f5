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
from foldshift.studies.common.coverage_rows import TASK_TITLES
from foldshift.studies.foldshift_2026 import measure_control, measure_methods
from foldshift.studies.foldshift_2026.bias_tables import by_learner, by_population, honesty_table, whole_samples
from foldshift.studies.foldshift_2026.coverage_tables import (
    CONTROL_RANGE,
    PAIR,
    control_table,
    coverage_table,
    interval_pairs,
    method_pairs,
)
from foldshift.studies.foldshift_2026.estimates import NUMBERS
from foldshift.studies.foldshift_2026.measure import KEYS
from foldshift.studies.foldshift_2026.partitioners import REFERENCES, UNSTRATIFIED
from foldshift.studies.foldshift_2026.verdicts import (
    COMPARED,
    MARGIN,
    OPEN,
    SHORTFALL,
    Stated,
    answers,
    by_folds,
    interval_ledger,
    ledger,
    shown_nearer,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.core.types import Inputs, PathLike

LABELS = {
    "bias_training": "bias, part",
    "bias_models": "bias, these models",
    "bias_whole": "bias, whole",
    "spread": "spread",
    "error_one": "error",
    "error_ten": "error, ten times",
    "choice": "right choice",
}
EFFECTS = (("effect", "standard_error"), ("elsewhere", "elsewhere_error"))
FAR_BEYOND, FEW = 6.0, 3  # times the median cut beyond which a cut is outside of the frame; if there are more than so many cuts
# Lines beyond the colours of `style`: hollow, with other markers.
MORE_COLOURS, MORE_MARKERS = ("#882255", *COLOURS[1:]), ("<", ">", "p", "h", "d", "8", "H")


def honesty(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult | Figure]:
    """Make all tables, and the figure."""
    cuts, level, stated = settings["cuts"], settings["level"], Stated(**settings["decided_at"])
    rows = _read(inputs.rows, (*KEYS, *NUMBERS))
    good = whole_samples(rows)
    learners = by_learner(good)
    populations = by_population(learners, good)
    by_cut, claims = honesty_table(populations, cuts), ledger(learners, populations, stated)
    folds = by_folds(learners, cuts, stated.n_sample)

    pairs = interval_pairs(whole_samples(_read(inputs.intervals, (*KEYS, *NUMBERS))), level)
    coverage = coverage_table(pairs, PAIR[:6])
    columns = (*measure_methods.KEYS, *measure_methods.ENDS, *measure_methods.TRUTH, "n_fits")
    with_fits = _read(inputs.methods, columns)
    methods_by_pair = method_pairs(with_fits)
    methods = coverage_table(methods_by_pair, ["task", "n_sample", "interval", "cut", "n_fits"])
    control = control_table(_read(inputs.control, (*measure_control.KEYS, *measure_control.VALUES)))
    plain = pairs[(pairs["target"] == WHOLE_SAMPLE) & (pairs["cut"] == pairs["task"].map(REFERENCES)) & (pairs["k"] == stated.k)]
    judged = pd.concat([plain, methods_by_pair[methods_by_pair["cut"] == UNSTRATIFIED]], ignore_index=True)
    held = interval_ledger(judged[judged["n_sample"] == stated.n_sample], stated.n_sample, level)
    advice = answers(claims, held[held["interval"].isin(set(plain["interval"]))], by_cut, stated)
    return {
        "answer": TableResult(advice, answer_grid(advice)),
        "ledger": TableResult(claims, ledger_grid(claims)),
        "interval_ledger": TableResult(held, intervals_grid(held, level)),
        "by_folds": TableResult(folds, folds_grid(folds)),
        "honesty": TableResult(by_cut, honesty_grid(by_cut, len(rows) - len(good))),
        "coverage": TableResult(coverage, coverage_grid(coverage, level)),
        "methods": TableResult(methods, methods_grid(methods, int(with_fits["estimate"].isna().sum()))),
        "control": TableResult(control, control_grid(control, level)),
        "by_population": TableResult(populations),
        "by_learner": TableResult(learners),
        "coverage_by_learner": TableResult(pd.concat([pairs, methods_by_pair], ignore_index=True)),
        "optimism (figure)": draw_optimism(by_cut, cuts, claims, stated.k),
    }


def _read(paths: Sequence[PathLike], columns: Sequence[str]) -> pd.DataFrame:
    """Read rows of a measure; texts as such."""
    rows = [pd.DataFrame(read_columns(path, columns)) for path in paths]
    if not rows:
        return pd.DataFrame(columns=list(columns))
    table = pd.concat(rows, ignore_index=True)
    for name in {"population", "task", "learner", "cut", "method", "interval"} & set(columns):
        table[name] = table[name].astype(str)
    return table


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
        "learners) ± standard error over populations. Differences from the reference (SCV for classes, CV for numbers) stand in "
        "the CSV file; what is decided stands in the ledger. Right choice: per cent of the pairs of learners that truly differ.",
    ]
    if lost:
        notes.append(f"{lost} rows of samples on which a fit failed are left out, for all cuts.")
    return Grid(["Cut", *LABELS.values()], rows, notes)


def _measured(row: pd.Series, name: str) -> str:
    """Print a measure ± its error."""
    scale = 100 if name == "choice" else 1
    if row[name] != row[name]:
        return EMPTY
    return with_error(scale * row[name], scale * row[f"{name}_error"], "+.1f" if name.startswith("bias") else ".1f")


def coverage_grid(table: pd.DataFrame, level: float) -> Grid:
    """Print the coverage of the error of the model trained on the whole sample, with the noise of the truth taken out."""
    table = table[table["target"] == WHOLE_SAMPLE]
    intervals = list(dict.fromkeys(table["interval"]))
    rows: list[list[TableCell | str]] = []
    for (task, n_sample, k), block in table.groupby(["task", "n_sample", "k"], sort=False):
        title = f"{TASK_TITLES[task]}, samples of {n_sample}, {k} folds; {counted(block['n_populations'].max(), 'population')}"
        rows.append([f"{title}, {block['least_samples'].min()} samples of a cell or more"])
        for name, part in block.groupby("cut", sort=False):
            cells = part.set_index("interval")
            rows.append([name, *(_held(cells.loc[one]) if one in cells.index else EMPTY for one in intervals)])
    notes = [
        f"Per cent of the samples whose {100 * level:g} % interval holds the error of the model trained on the whole sample, the "
        "noise of that error taken out; mean over populations ± their standard error; in brackets the share "
        "as found, with that noise. The CSV file has one more target (these very models), widths, biases, and the lowest "
        "population. What is decided stands in the ledger of intervals.",
    ]
    return Grid(["Cut", *intervals], rows, notes)


def _held(row: pd.Series) -> str:
    """Print a coverage in per cent ± its error, and as found."""
    if row["coverage"] != row["coverage"]:
        return EMPTY
    return f"{with_error(100 * row['coverage'], 100 * row['coverage_error'], '.1f')} ({100 * row['found']:.1f})"


def methods_grid(table: pd.DataFrame, n_failed: int) -> Grid:
    """Print the coverage of intervals that need fits of their own: a block for each task and size."""
    rows: list[list[TableCell | str]] = []
    for (task, n_sample), block in table.groupby(["task", "n_sample"], sort=False):
        title = f"{TASK_TITLES[task]}, samples of {n_sample}; {counted(block['n_populations'].max(), 'population')}"
        rows.append([f"{title}, {block['least_samples'].min()} samples of a cell or more"])
        for _, row in block.iterrows():
            sizes = (with_error(row[name], row[f"{name}_error"], form) for name, form in (("width", ".0f"), ("bias", "+.1f")))
            rows.append(
                [row["interval"], row["cut"], str(row["n_fits"]), _held(row), _number(100 * row["lowest"], ".0f"), *sizes]
            )
    notes = [
        "Holds: as in the table of coverage. Lowest: of a population. Width and bias in per cent of the true error. Fits: of one "
        "sample and learner."
    ]
    if n_failed:
        notes.append(f"{n_failed} rows with a failed fit are left out.")
    return Grid(["Method", "Cut", "Fits", "Holds, %", "Lowest, %", "Width", "Bias"], rows, notes)


def control_grid(table: pd.DataFrame, level: float) -> Grid:
    """Print `control_table`."""
    rows: list[list[TableCell | str]] = []
    for _, row in table.iterrows():
        covers = [with_error(100 * row[name], 100 * row[f"{name}_error"], ".2f") for name in ("coverage", "found")]
        passes = row["passes"] if row["interval"] == measure_control.CONTROLS[0] else EMPTY
        rows.append(
            [str(row["n_sample"]), row["interval"], *covers, str(row["n_populations"]), str(row["least_samples"]), passes]
        )
    low, high = (100 * end for end in CONTROL_RANGE)
    notes = [
        f"Per cent of the samples whose {100 * level:g} % interval holds the true mean loss, ± standard error over populations. "
        f"Passes: with known spread, {low:g} to {high:g} with the noise of the truth taken out. The plain interval takes the "
        "spread from the sample and may fall short, which is its own fault."
    ]
    return Grid(["Rows", "Interval", "Holds, %", "As found", "Populations", "Samples", "Passes"], rows, notes)


def intervals_grid(table: pd.DataFrame, level: float) -> Grid:
    """Print `interval_ledger`."""
    rows: list[list[TableCell | str]] = []
    for task, part in table.groupby("task", sort=True):
        rows.append([f"{TASK_TITLES[task]}, samples of {part['n_sample'].iloc[0]}"])
        for _, row in part.iterrows():
            held = with_error(100 * row["coverage"], 100 * row["standard_error"], ".1f")
            numbers = [_number(100 * row["found"], ".1f"), _number(100 * row["lowest"], ".0f"), _number(row["width"], ".0f")]
            p_values = [_p(row[name]) for name in ("p_holds_holm", "p_narrow_holm")]
            verdict = TableCell(row["verdict"], bold=row["verdict"] != OPEN)
            rows.append([row["interval"], held, *numbers, str(row["n_populations"]), *p_values, verdict])
    least = f"{100 * (level - SHORTFALL):g}"
    notes = [
        "Holds: coverage in per cent with the noise of the truth taken out, mean over populations ± their standard error. An "
        f"interval holds where a coverage above {least} is shown, and is too narrow where one below "
        f"{100 * level:g} "
        "is, and the first is not: p of one-sided tests, each corrected by Holm for the number of rows. Lowest: of a population."
    ]
    header = ["Interval", "Holds, %", "As found, %", "Lowest, %", "Width, %", "Populations", f"p (above {least})"]
    return Grid([*header, f"p (below {100 * level:g})", "Verdict"], rows, notes)


def ledger_grid(table: pd.DataFrame) -> Grid:
    """Print `ledger`."""
    rows: list[list[TableCell | str]] = []
    for task, part in table.groupby("task", sort=True):
        rows.append([f"{TASK_TITLES[task]}, samples of {part['n_sample'].iloc[0]}, {counted(part['k'].iloc[0], 'fold')}"])
        for _, row in part.iterrows():
            what = f"{row['lower']} below {row['higher']}, {LABELS[row['measure']]}"
            effects = [with_error(row[name], row[error], "+.1f") if row[name] == row[name] else EMPTY for name, error in EFFECTS]
            p_values = [_p(row[name]) for name in ("p_holm", "p_small_holm")]
            verdict = TableCell(row["verdict"], bold=row["verdict"] != OPEN)
            rows.append([TableCell(row["claim"]), row["source"], what, *effects, str(row["n_populations"]), *p_values, verdict])
    notes = [
        "Effect: of bias in percentage points of the true error, of right choices in points of the pairs of learners, of error "
        "and spread in per cent of those of the second cut (geometric mean); mean over populations and learners ± standard "
        "error, both as random effects. Elsewhere: the same at the largest other size, which decides nothing. p: the effect is "
        f"not 0, and it is smaller than {MARGIN:g} either way, each corrected by Holm for the number of rows. A claim holds "
        "where "
        "the first cut is lower and the first p is at most .05; it is too small to matter where only the second is.",
    ]
    header = ["Claim", "By", "Tested", "Effect", "Elsewhere", "Populations", "p (Holm)", f"p (below {MARGIN:g})", "Verdict"]
    return Grid(header, rows, notes)


def _p(value: float) -> str:
    return p_value(value, False) if value == value else EMPTY


def folds_grid(table: pd.DataFrame) -> Grid:
    """Print `by_folds`: a block for each task and measure, a column for each number of folds."""
    ks = sorted(set(table["k"]))
    rows: list[list[TableCell | str]] = []
    for (task, own), measure in itertools.product(table.groupby("task", sort=True), COMPARED):
        rows.append([f"{TASK_TITLES[task]}, {LABELS[measure]}; {counted(own['n_populations'].max(), 'population')}"])
        for cut, part in own.groupby("cut", sort=False):
            cells = part.set_index("k")
            shown = [cells.loc[k, [measure, f"{measure}_error"]].tolist() if k in cells.index else [np.nan] * 2 for k in ks]
            rows.append([cut, *(with_error(value, error, "+.1f") if value == value else EMPTY for value, error in shown)])
    notes = [
        "Against the reference (SCV for classes, CV for numbers) with as many folds, at the size where claims are decided: of "
        "error and spread in per cent of the reference's (geometric mean), of bias in percentage points of the true error; "
        "mean over "
        "populations and learners ± standard error over both. What is decided stands in the ledger.",
    ]
    return Grid(["Cut", *(counted(k, "fold") for k in ks)], rows, notes)


def answer_grid(table: pd.DataFrame) -> Grid:
    """Print `answers`: a block for each task."""
    rows: list[list[TableCell | str]] = []
    for task, block in table.groupby("task", sort=False):
        rows.append([TASK_TITLES[task]])
        for _, row in block.iterrows():
            effect = EMPTY if row["effect"] != row["effect"] else with_error(row["effect"], row["standard_error"], "+.1f")
            rows.append([row["question"], str(row["answer"]), row["because"], effect, row["verdict"]])
    notes = [
        "The reference (SCV for classes, CV for numbers), unless another cut was shown to be nearer to the truth; of several, "
        "the "
        "one with the largest effect. Effect and verdict are those of the ledgers, which say what was tested where. Advice takes "
        "TSCV for numbers; the findings say why."
    ]
    return Grid(["Question", "Answer", "Because", "Effect", "Verdict"], rows, notes)


def _number(value: float, form: str) -> str:
    """Format a number; a missing one is `EMPTY`."""
    return EMPTY if value != value else format(value, form)


def draw_optimism(table: pd.DataFrame, cuts: Sequence[str], claims: pd.DataFrame, k: int) -> Figure:
    """Draw bias, and error against that of the reference, by size of the sample, for the stated number of folds.

    Above the errors stand the cuts that the ledger shows to be nearer to the truth.
    """
    tasks = [task for task in TASK_TITLES if task in set(table["task"])] or ["classification"]
    figure, axes = plt.subplots(2, len(tasks), figsize=(5.2 * len(tasks), 6.6), squeeze=False, sharex="col")
    # A cut looks the same for classes and for numbers; the references come last among the others.
    looks = {cut: i for i, cut in enumerate(sorted(cuts, key=lambda cut: cut in REFERENCES.values()), start=1)}
    table = table.assign(
        against=100 * np.expm1(table["times"].fillna(0.0)), against_error=100 * np.exp(table["times"]) * table["times_error"]
    )
    for column, task in enumerate(tasks):
        own = table[table["task"] == task]
        own = own[own["k"] == k]
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
            if row == 1:
                names = shown_nearer(claims, task)["lower"].tolist()
                axis.set_title(f"shown to be nearer: {', '.join(names) or 'none'}", fontsize=8, loc="left")
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
