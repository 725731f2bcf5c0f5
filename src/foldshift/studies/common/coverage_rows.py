"""Coverage of every interval on samples of populations, by population and by partitioner, for tables and figures of the audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.inference.intervals.moments import LossMoments, moment_intervals
from foldshift.inference.simulation.coverage import THESE_MODELS, TRAINING_PART, WHOLE_SAMPLE, AuditRow, audit_rows, not_refuted

if TYPE_CHECKING:
    from foldshift.core.types import IntArray

TARGETS = (TRAINING_PART, THESE_MODELS, WHOLE_SAMPLE)
REFERENCES = {"classification": "SCV", "regression": "CV"}
TASK_TITLES = {"classification": "Classes", "regression": "Numbers"}
PAIR = ["population", "learner"]
MOMENTS = [name for name in LossMoments._fields if name not in ("K", "M")]
TRUTHS = ("truth_parts", "truth_whole")
AUDIT_COLUMNS = ["population", "task", "learner", *AuditRow._fields, "n_failed"]
AVERAGES = ("coverage", "distance", "bias", "width", "negative")
COMPARED = ("coverage", "distance", "bias")
DECIMALS = 12  # what is left of differences that are exactly 0 depends on the processor
PARTITIONER_COLUMNS = [
    *["task", "target", "interval", "partitioner", "n_populations", "n_pairs", "pairs_below"],
    *[name for column in AVERAGES for name in (column, f"{column}_error")],
    *[name for column in COMPARED for name in (f"{column}_vs", f"{column}_vs_error")],
]
ROWS = ("population", "task", "learner", "partitioner", "replicate", *LossMoments._fields, *TRUTHS)


def audit_table(rows: pd.DataFrame, partitioners: Sequence[str], level: float = 0.95) -> pd.DataFrame:
    """Make the table of bias, coverage and width of every interval against every target, by population, learner, partitioner.

    `rows` has the columns `ROWS`, NaN where a fit failed; ``n_failed`` counts samples. A sample that failed with one
    partitioner is left out for all, unless that one has no result at all.
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
            numbers: dict[str, Any] = {
                column: np.where(kept & good[name], cells[name][column], np.nan) for column in (*MOMENTS, *TRUTHS)
            }
            K, M = cells[name][["K", "M"]].max() if name in found else (2, 1)
            moments = LossMoments(**{column: numbers[column] for column in MOMENTS}, K=int(K), M=float(M))
            parts, whole = (numbers[column] for column in TRUTHS)
            intervals = moment_intervals(moments, confidence=level, binary=task == "classification")
            for row in audit_rows(intervals, dict(zip(TARGETS, (parts, parts, whole))), name):
                keys = {"population": population, "task": task, "learner": learner}
                out.append(keys | row._asdict() | {"n_failed": int((~good[name]).sum())})
    return pd.DataFrame(out, columns=AUDIT_COLUMNS)


def partitioner_table(table: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Average `audit_table` over populations by partitioner, and compare with the reference, SCV or CV.

    The learners of a population share its samples: the unit of all errors is the population, whose value is the mean of its
    learners. ``n_pairs`` counts pairs of population and learner with results of all partitioners that have any; ``pairs_below``
    counts those covered less than the level by more than two Monte Carlo errors, which a mean would hide. ``distance`` is that of
    the coverage from the level, without sign; columns with ``_vs`` are less the reference, pair by pair.
    """
    out = []
    table = table.assign(distance=(table["coverage"] - level).abs(), is_below=~not_refuted(table["coverage"], table["n"], level))
    for (task, target, interval), part in table.groupby(["task", "target", "interval"], sort=False, observed=True):
        part = part.dropna(subset=["coverage"])
        names = list(dict.fromkeys(part["partitioner"]))
        wide = part.set_index([*PAIR, "partitioner"])[[*AVERAGES, "is_below"]].unstack("partitioner")
        wide = wide[wide["coverage"].notna().all(axis=1)]
        reference, populations = REFERENCES[task], pd.factorize(wide.index.get_level_values("population"))[0]
        for name in names:
            row = {"task": task, "target": target, "interval": interval, "partitioner": name}
            row |= {"n_populations": len(set(wide.index.get_level_values("population"))), "n_pairs": len(wide)}
            row["pairs_below"] = int(wide["is_below", name].sum())
            for column in AVERAGES:
                row[column], row[f"{column}_error"] = _mean_and_error(wide[column, name], populations)
            if name != reference and reference in names:
                for column in COMPARED:
                    gap = wide[column, name] - wide[column, reference]
                    row[f"{column}_vs"], row[f"{column}_vs_error"] = _mean_and_error(gap, populations)
            out.append(row)
    found = pd.DataFrame(out, columns=PARTITIONER_COLUMNS).round(DECIMALS)
    numbers = found.select_dtypes("float").columns
    found[numbers] += 0.0  # no minus in front of a zero
    return found


def _mean_and_error(values: pd.Series, populations: IntArray) -> tuple[float, float]:
    """Average over populations, with the standard error; values are by population and learner, populations by number."""
    values = values.to_numpy(dtype=np.float64)
    there = ~np.isnan(values)
    counts = np.bincount(populations[there])
    values = np.bincount(populations[there], values[there])[counts > 0] / counts[counts > 0]
    if not len(values):
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
