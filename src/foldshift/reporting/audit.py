"""Tables and figure of the coverage audit: which interval covers what it is about, and whether the way of cutting makes intervals more honest."""

import itertools

import numpy as np
import pandas as pd

from foldshift.inference.coverage import THESE_MODELS, TRAINING_PART, WHOLE_SAMPLE, AuditRow, audit_rows, keeps_level
from foldshift.inference.moments import LossMoments, moment_intervals
from foldshift.reporting.figures import plt, style
from foldshift.reporting.numbers import number, percent, with_error
from foldshift.reporting.tables import Cell, Grid

TARGETS = (TRAINING_PART, THESE_MODELS, WHOLE_SAMPLE)
REFERENCES = {"classification": "SCV", "regression": "CV"}
TASK_TITLES = {"classification": "Classes", "regression": "Numbers"}
PAIR = ["population", "learner"]
FIGURE_INTERVALS = ("all pairs", "Wilson", "theta_A", "S2/K", "Nadeau-Bengio")
TICKS = (0, 0.5, 0.8, 0.9, 0.95, 1)
BEYOND = 0.03  # the axis is logarithmic in the distance from here above 1: what is near the level lies apart, what covers nothing is still on it
INTERVAL_TITLES = {
    "theta_A": "theta_A: within folds, z",
    "S2/K": "S2/K: between folds, t",
    "all pairs": "all pairs: all rows, z",
    "Wilson": "Wilson: all rows",
    "Nadeau-Bengio": "Nadeau-Bengio: between folds, t",
}
MOMENTS = [name for name in LossMoments._fields if name not in ("K", "M")]
TRUTHS = ("truth_parts", "truth_whole")
AUDIT_COLUMNS = ["population", "task", "learner", *AuditRow._fields, "n_failed"]
AVERAGES = ("coverage", "distance", "bias", "width", "negative")
COMPARED = ("coverage", "distance", "bias")
DECIMALS = 12  # what is left of differences that are exactly 0 depends on the processor
PARTITIONER_COLUMNS = [
    *["task", "target", "interval", "partitioner", "n_pairs"],
    *[name for column in AVERAGES for name in (column, f"{column}_error")],
    *[name for column in COMPARED for name in (f"{column}_vs", f"{column}_vs_error")],
]
INTERVALS_NOTE = (
    "Intervals: theta_A, variance within folds (Bayle et al.); theta_B, twice that; S2/K, variance of the fold means with Student's t (Wong's at the level of "
    "folds); all pairs, variance of all losses (Wong's at the level of the data set); theta_5, Grandvalet and Bengio's, which may be negative: such an "
    "interval covers nothing; Nadeau-Bengio, S2 with the correction for overlapping training sets; Wilson, all 0/1 losses as one binomial sample."
)
AUDIT_CAPTION = (
    "Which interval from one cross-validation can be trusted? Samples of a population are cross-validated; the true errors are measured on rows outside the "
    "sample. Cells: per cent of the samples whose interval holds the target. Targets: the mean error of models trained on a training part (one number "
    "for all samples), the mean error of the models of this very cross-validation, and the error of the model trained on the whole sample, which is what a user "
    "gets. Bold: below the level by more than two Monte Carlo standard errors. Bias: mean of estimate less target, plus or minus its error."
)
PARTITIONER_CAPTION = (
    "Does the way of cutting make intervals more honest? Per cent of samples whose interval holds the target, mean over pairs of population and learner, plus or "
    "minus the standard error over these pairs; below, the difference in percentage points from the reference (SCV for classes, CV for numbers) on the same "
    "samples, pair by pair. Bold: further from 0 than two standard errors. Bias: mean of estimate less target, in units of the loss (0/1 error, or squared error "
    "as a share of the variance of the target)."
)


def audit_table(rows, partitioners, level=0.95):
    """Bias, coverage and width of every interval against every target.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns ``population, task, learner, partitioner, replicate``, those of `LossMoments`, ``truth_parts, truth_whole``; NaN where a fit failed.
    partitioners : sequence of str
        In the order of the table.
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    table : pandas.DataFrame
        One row per population, learner, partitioner, target and interval: the columns of `AuditRow`, and ``n_failed``, samples that failed with this
        partitioner. A sample that failed with one partitioner is left out for all, unless that one has no result at all.
    """
    out = []
    for (population, task, learner), part in rows.groupby(["population", "task", "learner"], sort=False, observed=True):
        by_partitioner = {name: frame.set_index("replicate") for name, frame in part.groupby("partitioner", observed=True)}
        present = [name for name in partitioners if name in by_partitioner]
        replicates = sorted(set(part["replicate"]))
        cells = {name: by_partitioner[name].reindex(replicates) for name in present}
        good = {name: cells[name][["estimate", *TRUTHS]].notna().all(axis=1) for name in present}
        found = [name for name in present if good[name].any()]
        kept = np.all([good[name] for name in found or present], axis=0)
        for name in present:
            # What one partitioner lacks is NaN for all; a partitioner without any result has no K and M, and any will do.
            numbers = {column: np.where(kept & good[name], cells[name][column], np.nan) for column in (*MOMENTS, *TRUTHS)}
            K, M = cells[name][["K", "M"]].max() if name in found else (2, 1)
            moments = LossMoments(*(numbers[column] for column in MOMENTS), int(K), float(M))
            parts, whole = (numbers[column] for column in TRUTHS)
            intervals = moment_intervals(moments, level, binary=task == "classification")
            for row in audit_rows(intervals, dict(zip(TARGETS, (parts, parts, whole))), name):
                keys = {"population": population, "task": task, "learner": learner}
                out.append(keys | row._asdict() | {"n_failed": int((~good[name]).sum())})
    return pd.DataFrame(out, columns=AUDIT_COLUMNS)


def partitioner_table(table, level=0.95):
    """Coverage and bias by partitioner, averaged over pairs of population and learner, and against the reference.

    Parameters
    ----------
    table : pandas.DataFrame
        As `audit_table` makes it.
    level : float, default=0.95
        Confidence level, for the distance of a coverage from it.

    Returns
    -------
    by_partitioner : pandas.DataFrame
        One row per ``task``, ``target``, ``interval`` and ``partitioner``: ``n_pairs``, pairs with results of all partitioners (one without any is not waited
        for); mean and standard error over the pairs of ``coverage``, ``distance`` (of the coverage from the level, without sign), ``bias``, ``width``,
        ``negative``; ``coverage_vs``, ``distance_vs``, ``bias_vs`` and their errors: less that of SCV or CV, pair by pair; NaN for these themselves.
    """
    out = []
    table = table.assign(distance=(table["coverage"] - level).abs())
    for (task, target, interval), part in table.groupby(["task", "target", "interval"], sort=False, observed=True):
        part = part.dropna(subset=["coverage"])
        names = list(dict.fromkeys(part["partitioner"]))
        wide = part.set_index([*PAIR, "partitioner"])[list(AVERAGES)].unstack("partitioner")
        wide = wide[wide["coverage"].notna().all(axis=1)]
        reference = REFERENCES[task]
        for name in names:
            row = {"task": task, "target": target, "interval": interval, "partitioner": name, "n_pairs": len(wide)}
            for column in AVERAGES:
                row[column], row[f"{column}_error"] = _mean_and_error(wide[column, name])
            if name != reference and reference in names:
                for column in COMPARED:
                    row[f"{column}_vs"], row[f"{column}_vs_error"] = _mean_and_error(wide[column, name] - wide[column, reference])
            out.append(row)
    return pd.DataFrame(out, columns=PARTITIONER_COLUMNS).round(DECIMALS)


def audit_grid(table, level=0.95, populations=()):
    """`audit_table` as it is printed: coverage in per cent by population, target, learner and partitioner.

    Parameters
    ----------
    table : pandas.DataFrame
        As `audit_table` makes it.
    level : float, default=0.95
        Confidence level.
    populations : sequence of str, default=()
        All that were audited; those without a row are named in a note.

    Returns
    -------
    grid : foldshift.reporting.tables.Grid
    """
    intervals = list(dict.fromkeys(table["interval"]))
    rows = []
    for (population, target), block in table.groupby(["population", "target"], sort=False, observed=True):
        rows.append([f"{population}: {target}"])
        for (learner, partitioner), part in block.groupby(["learner", "partitioner"], sort=False, observed=True):
            cells = part.set_index("interval")
            first = cells.iloc[0]
            row = [learner, partitioner, Cell(str(int(first["n"]))), Cell(number(first["truth"]))]
            row.append(Cell(with_error(first["bias"], first["bias_error"], "+.4f")))
            for name in intervals:
                if name not in cells.index:
                    row.append(Cell(""))
                    continue
                coverage, n = cells.loc[name, "coverage"], cells.loc[name, "n"]
                below = coverage == coverage and not keeps_level(coverage, n, level)
                row.append(Cell(percent(coverage), bold=bool(below)))
            rows.append([*row, Cell(_percent_negative(cells))])
    header = ["Learner", "Partitioner", "Samples", "True error", "Bias", *intervals, "theta_5 < 0"]
    notes = [f"Level {100 * level:g} %. The CSV file has the Monte Carlo errors and the mean widths. {INTERVALS_NOTE}"]
    if "regression" in set(table["task"]):
        notes.append("Of numbers the error is the squared error as a share of the variance of the target in the population.")
    failed = int(table.drop_duplicates([*PAIR, "partitioner"])["n_failed"].sum())
    if failed:
        notes.append(f"{failed} cross-validations failed; their samples are left out for all partitioners.")
    empty = [name for name in populations if name not in set(table["population"])]
    if empty:
        notes.append(f"Nothing was measured on {', '.join(empty)}: no learner or no partitioner of the audit fits the task.")
    return Grid(AUDIT_CAPTION, header, rows, notes)


def partitioner_grid(by_partitioner, level=0.95):
    """`partitioner_table` as it is printed: coverage of every partitioner, then differences from the reference; notes count which are more honest."""
    intervals = list(dict.fromkeys(by_partitioner["interval"]))
    rows, notes = [], []
    for (task, target), block in by_partitioner.groupby(["task", "target"], sort=False, observed=True):
        n_pairs = int(block["n_pairs"].max())
        rows.append([f"{TASK_TITLES[task]}: {target}; {n_pairs} {'pair' if n_pairs == 1 else 'pairs'} of population and learner"])
        names = list(dict.fromkeys(block["partitioner"]))
        cells = block.set_index(["partitioner", "interval"])
        for name in names:
            rows.append([name, *_cells(cells, name, intervals, "", False)])
        for name in names:
            if name != REFERENCES[task] and REFERENCES[task] in names:
                rows.append([f"{name} − {REFERENCES[task]}", *_cells(cells, name, intervals, "_vs", True)])
    for (task, name), part in by_partitioner.groupby(["task", "partitioner"], sort=False, observed=True):
        change, limit = part["distance_vs"], 2 * part["distance_vs_error"]
        compared = (change.notna() & limit.notna()).sum()
        if compared:
            notes.append(
                f"{TASK_TITLES[task]}, {name} against {REFERENCES[task]}: in {compared} combinations of interval and target the coverage is closer to "
                f"{100 * level:g} % in {int((change < -limit).sum())} and further from it in {int((change > limit).sum())}, by more than two standard errors."
            )
    notes.append(
        f"Pairs share populations and learners, and two standard errors of few pairs are easily exceeded. {INTERVALS_NOTE} The CSV file has distances from the "
        "level, widths and negative estimates as well."
    )
    return Grid(PARTITIONER_CAPTION, ["Partitioner", "Bias", *intervals], rows, notes)


def draw_audit(table, by_partitioner, level=0.95):
    """Coverage of the main intervals by partitioner against every target.

    Parameters
    ----------
    table, by_partitioner : pandas.DataFrame
        As `audit_table` and `partitioner_table` make them.
    level : float, default=0.95
        Confidence level: the line.

    Returns
    -------
    figure : matplotlib.figure.Figure
        One row of panels per task, one panel per target. Large marks: mean over pairs of population and learner, with two standard errors over
        pairs; small marks: the single pairs.
    """
    tasks = [task for task in TASK_TITLES if task in set(by_partitioner["task"])]
    if not tasks:
        figure = plt.figure(figsize=(5, 1))
        figure.text(0.5, 0.5, "no population was audited", ha="center", va="center")
        return figure
    shown = {task: [one for one in FIGURE_INTERVALS if one in set(table["interval"][table["task"] == task])] for task in tasks}
    heights = [
        1.3 + 0.16 * len(shown[task]) * (1 + by_partitioner["partitioner"][by_partitioner["task"] == task].nunique())
        for task in tasks
    ]
    figure = plt.figure(figsize=(9, sum(heights)))
    figure.get_layout_engine().set(wspace=0.06)
    parts = np.atleast_1d(figure.subfigures(len(tasks), 1, height_ratios=heights))
    for part, task in zip(parts, tasks):
        single, means = (
            frame[(frame["task"] == task) & frame["interval"].isin(shown[task])] for frame in (table, by_partitioner)
        )
        _draw_task(part, single, means, shown[task], level)
        part.suptitle(TASK_TITLES[task], x=0.01, ha="left", fontsize=10)
    return figure


def _draw_task(part, table, by_partitioner, intervals, level):
    names = list(dict.fromkeys(by_partitioner["partitioner"]))
    half = 2 * by_partitioner["coverage_error"].fillna(0)
    by_partitioner = by_partitioner.assign(
        low=np.maximum(by_partitioner["coverage"] - half, 0), high=np.minimum(by_partitioner["coverage"] + half, 1)
    )
    lowest = min(table["coverage"].min(), by_partitioner["low"].min(), level - 0.1)
    step = 1 / (len(names) + 1)
    axes = part.subplots(1, len(TARGETS), sharex=True, sharey=True)
    for axis, target in zip(axes, TARGETS):
        means = by_partitioner[by_partitioner["target"] == target].set_index(["partitioner", "interval"])
        single = table[table["target"] == target]
        axis.axvline(level, color="#000000", lw=0.9, dashes=(6, 2), label="level" if axis is axes[0] else None)
        for (p, name), (i, interval) in itertools.product(enumerate(names), enumerate(intervals)):
            height = i + (p - (len(names) - 1) / 2) * step
            values = single["coverage"][(single["partitioner"] == name) & (single["interval"] == interval)]
            first = axis is axes[0] and i == 0
            label = "single populations and learners" if first and p == 0 else None
            axis.plot(values, [height] * len(values), "|", color="#8C8C8C", ms=6, zorder=1, label=label)
            if (name, interval) in means.index:
                row = means.loc[(name, interval)]
                look = style(p)
                axis.errorbar(
                    row["coverage"], height, xerr=[[row["coverage"] - row["low"]], [row["high"] - row["coverage"]]], fmt=look["marker"], ms=5,
                    color=look["color"], mfc="white" if p % 2 else look["color"], capsize=2, elinewidth=1, label=name if first else None, zorder=3,
                    clip_on=False,
                )  # fmt: skip
        axis.set_title(target, fontsize=9)
        axis.set_xscale("function", functions=(_stretch, _shrink))
        axis.set_xlim(lowest, 1)
        ticks = [tick for tick in TICKS if tick >= lowest]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_xlabel("coverage (stretched towards 1)")
        axis.grid(axis="y", visible=False)
        for border in np.arange(len(intervals) - 1) + 0.5:
            axis.axhline(border, color="#DDDDDD", lw=0.6)
    axes[0].set_yticks(range(len(intervals)), [INTERVAL_TITLES[name] for name in intervals])
    axes[0].set_ylim(len(intervals) - 0.5, -0.5)
    handles, labels = axes[0].get_legend_handles_labels()
    part.legend(handles, labels, loc="outside upper center", ncols=len(handles))


def _stretch(coverage):
    return -np.log(1 + BEYOND - np.asarray(coverage))


def _shrink(place):
    return 1 + BEYOND - np.exp(-np.asarray(place))


def _cells(cells, name, intervals, suffix, difference):
    """Bias, then coverage by interval in per cent, of one partitioner."""
    row = cells.loc[name].iloc[0]
    values = [(row[f"bias{suffix}"], row[f"bias{suffix}_error"], "+.4f", ".4f")]
    for interval in intervals:
        if (name, interval) not in cells.index:
            values.append(None)
            continue
        row = cells.loc[(name, interval)]
        values.append(
            (
                100 * row[f"coverage{suffix}"],
                100 * row[f"coverage{suffix}_error"],
                "+.1f" if difference else ".1f",
                ".1f",
            )
        )
    return [
        Cell("") if one is None else Cell(with_error(*one), bold=bool(difference and abs(one[0]) > 2 * one[1])) for one in values
    ]


def _mean_and_error(values):
    values = values.dropna().to_numpy(dtype=np.float64)
    if not len(values):
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def _percent_negative(cells):
    return percent(cells["negative"].get("theta_5", np.nan))
