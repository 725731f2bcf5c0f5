"""What the covariate shift of partitioners has to do with the error of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from foldshift.core.seeding import generator
from foldshift.engine.layout.bundles import TRUTH
from foldshift.reporting.table_grid import Cell, Grid
from foldshift.shift.measures.covariates import MEASURES
from foldshift.studies.common.covariate_shift_tables import SHIFT_LABELS, shift_by_cell

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, Floats, IntArray

INTERVAL = (2.5, 97.5)  # per cent
FEWEST = 3  # points of a rank correlation, at least
EXTREME = "MS-SCV"  # made to shift: with it, any measure orders the partitioners
QUESTIONS = {
    (
        "datasets",
        "rms",
    ): "Between data sets: is the estimate worse (root-mean-square error) on data sets that are cut with more shift?",
    ("datasets", "spread"): "Between data sets: does it scatter more (standard deviation over partitions) there?",
    (
        "partitioners",
        "rms",
    ): "Between partitioners, in each data set: has the one with more shift the larger root-mean-square error?",
    ("partitioners", "spread"): "Between partitioners, in each data set: does the one with more shift scatter more?",
    ("runs", "absolute"): "Between partitions of the same data by the same partitioner: does one with more shift err more?",
    ("runs", "signed"): "Between partitions of the same data by the same partitioner: does one with more shift say a higher AUC?",
}


def run_errors(scores: pd.DataFrame, partitioners: Sequence[str], learners: Sequence[str]) -> pd.DataFrame:
    """Error of the estimate of every run against the truth."""
    truth = scores[scores["partitioner"] == TRUTH].groupby(["dataset", "learner", "k"])["auc_crisp"].mean().rename("truth")
    kept = scores[scores["partitioner"].isin(partitioners) & scores["learner"].isin(learners)]
    rows = kept.join(truth, on=["dataset", "learner", "k"])
    rows["run"] = rows.groupby(["dataset", "learner", "partitioner", "k"], sort=False).cumcount()
    known = pd.MultiIndex.from_frame(rows[["dataset", "learner", "k"]]).isin(truth.index)
    if not known.all():
        dataset, learner, k = rows.loc[~known, ["dataset", "learner", "k"]].iloc[0]
        raise ValueError(f"data set {dataset}, learner {learner}, k={k}: no rows of partitioner {TRUTH!r} to compare with")
    rows["error"] = rows["auc_crisp"] - rows["truth"]
    return rows[["dataset", "learner", "partitioner", "k", "run", "error"]].reset_index(drop=True)


def error_by_cell(error_rows: pd.DataFrame, schemes: dict[int, int]) -> pd.DataFrame:
    """Error of the estimate of every data set, scheme and partitioner, over learners and runs."""
    table = []
    for (dataset, k), part in error_rows[error_rows["k"].isin(schemes)].groupby(["dataset", "k"], sort=False):
        n_partitioners = part.loc[part["error"].notna(), "partitioner"].nunique()
        complete = part.groupby(["learner", "run"])["error"].transform("count") == n_partitioners
        common = part[complete & part["error"].notna()]
        for partitioner, cell in common.groupby("partitioner", sort=False):
            by_learner = cell.groupby("learner")["error"]
            row = {"dataset": dataset, "scheme": f"{k}x{schemes[k]}", "partitioner": partitioner}
            row |= {"rms_error": np.sqrt((cell["error"] ** 2).mean()), "bias": by_learner.mean().mean()}
            table.append(row | {"spread": np.sqrt(by_learner.var(ddof=1).mean()), "n_errors": len(cell)})
    return pd.DataFrame(table, columns=["dataset", "scheme", "partitioner", "rms_error", "bias", "spread", "n_errors"])


def shift_and_error(
    shift_rows: pd.DataFrame,
    error_rows: pd.DataFrame,
    schemes: dict[int, int],
    partitioners: Sequence[str],
    n_draws: int = 1000,
    *,
    master_seed: int,
) -> pd.DataFrame:
    """Rank correlation of every measure of shift with the error of the estimate, at three levels."""
    both = shift_by_cell(shift_rows, schemes).merge(error_by_cell(error_rows, schemes), on=["dataset", "scheme", "partitioner"])
    by_run = _run_correlations(shift_rows, error_rows, schemes)
    groups = {"all": list(partitioners)}
    if EXTREME in partitioners:
        groups[f"all but {EXTREME}"] = [name for name in partitioners if name != EXTREME]
    table = []
    for scheme in [f"{k}x{r}" for k, r in schemes.items()]:
        part = both[both["scheme"] == scheme]
        for measure in MEASURES:
            for error, column in (("rms", "rms_error"), ("spread", "spread")):
                shift = part.pivot(index="dataset", columns="partitioner", values=measure)
                errors = part.pivot(index="dataset", columns="partitioner", values=column)
                for name in [name for name in partitioners if name in shift]:
                    x, y = _finite(shift[name].to_numpy(), errors[name].to_numpy())
                    rng = generator(master_seed, "bootstrap", "covariate shift", scheme, measure, error, name)
                    drawn = _resampled(len(x), n_draws, rng)
                    draws = spearman(x[drawn], y[drawn])
                    table.append(_correlation_row("datasets", error, scheme, name, measure, spearman(x, y), draws, len(x)))
                for label, names in groups.items():
                    if set(names) <= set(shift):
                        values = spearman(shift[names].to_numpy(), errors[names].to_numpy())
                        table.append(_mean_row("partitioners", error, scheme, label, measure, values, n_draws, master_seed))
        for measure in MEASURES:
            for error in ("absolute", "signed"):
                for name in partitioners:
                    values = by_run.get((scheme, name, measure, error))
                    if values is not None:
                        table.append(_mean_row("runs", error, scheme, name, measure, np.array(values), n_draws, master_seed))
    columns = ["level", "error", "scheme", "partitioner", "measure", "spearman", "standard_error", "low", "high", "n_datasets"]
    order = {question: i for i, question in enumerate(QUESTIONS)}
    table = pd.DataFrame(table, columns=columns)
    return table.iloc[np.argsort([order[pair] for pair in zip(table["level"], table["error"])], kind="stable")].reset_index(
        drop=True
    )


def spearman(x: Array, y: Array) -> Floats:
    """Spearman's rank correlation along the last axis, average ranks for ties."""
    x, y = (rankdata(values, axis=-1) if values.size else np.zeros(values.shape) for values in (x, y))
    if x.shape[-1] < FEWEST:
        return np.full(x.shape[:-1], np.nan)[()]
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))


def _run_correlations(
    shift_rows: pd.DataFrame, error_rows: pd.DataFrame, schemes: dict[int, int]
) -> dict[tuple[str, str, str, str], list[float]]:
    """Correlation over the runs of every data set: lists by scheme, partitioner, measure and kind of error."""
    found: dict[Any, Any] = {}
    shift_cells = dict(iter(shift_rows.groupby(["dataset", "k", "partitioner"], sort=False)))
    for key, cell in error_rows.groupby(["dataset", "k", "partitioner"], sort=False):
        _, k, partitioner = key
        if k not in schemes or key not in shift_cells:
            continue
        wide = cell.pivot(index="run", columns="learner", values="error").dropna(axis=1, how="all").dropna()
        shift = shift_cells[key].set_index("run")
        runs = wide.index.intersection(shift.index)
        if wide.shape[1] == 0:
            continue
        errors = {"absolute": wide.loc[runs].abs().mean(axis=1).to_numpy(), "signed": wide.loc[runs].mean(axis=1).to_numpy()}
        for measure in MEASURES:
            x = shift.loc[runs, measure].to_numpy()
            for error, y in errors.items():
                found.setdefault((f"{k}x{schemes[k]}", partitioner, measure, error), []).append(spearman(x, y))
    return found


def _finite(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    usable = np.isfinite(x) & np.isfinite(y)
    return x[usable], y[usable]


def _resampled(n: int, n_draws: int, rng: np.random.Generator) -> IntArray:
    return (rng.random((n_draws, n)) * n).astype(np.int64)


def _mean_row(
    level: str, error: str, scheme: str, partitioner: str, measure: str, values: FloatArray, n_draws: int, master_seed: int
) -> tuple[float | str, ...]:
    """Row of a mean over data sets."""
    values = values[np.isfinite(values)]
    rng = generator(master_seed, "bootstrap", "covariate shift", level, scheme, measure, error, partitioner)
    draws = values[_resampled(len(values), n_draws, rng)].mean(axis=1) if len(values) else np.empty(0)
    mean = values.mean() if len(values) else np.nan
    return _correlation_row(level, error, scheme, partitioner, measure, mean, draws, len(values))


def _correlation_row(
    level: str, error: str, scheme: str, partitioner: str, measure: str, estimate: float, draws: FloatArray, n_datasets: int
) -> tuple[float | str, ...]:
    draws = draws[np.isfinite(draws)] if n_datasets >= FEWEST else draws[:0]
    low, high = np.percentile(draws, INTERVAL) if len(draws) else (np.nan, np.nan)
    deviation = draws.std(ddof=1) if len(draws) > 1 else np.nan
    return level, error, scheme, partitioner, measure, estimate, deviation, low, high, n_datasets


def correlation_grid(table: pd.DataFrame) -> Grid:
    """The correlations as they are printed: a block per question, a column per measure, intervals that leave out 0 bold."""
    rows: list[Any] = []
    for (level, error), block in table.groupby(["level", "error"], sort=False):
        rows.append([QUESTIONS[level, error]])
        for (scheme, partitioner), part in block.groupby(["scheme", "partitioner"], sort=False):
            part = part.set_index("measure")
            cells = [_correlation_cell(part.loc[name]) if name in part.index else Cell("") for name in MEASURES]
            rows.append([f"{scheme}, {partitioner}", *cells, Cell(str(part["n_datasets"].min()))])
    notes: list[Any] = [
        "Spearman's rank correlation, from -1 to 1, with the interval (2.5 to 97.5 per cent) of a bootstrap over the data sets; "
        "bold where the interval leaves out 0. No correction for the number of cells: one of twenty is bold by chance.",
        "Error: AUC of the estimate minus the truth, the mean of further experiments of SCV. The root-mean-square error counts a "
        "partitioner's bias against that truth, the standard deviation does not.",
        "Between data sets size matters: small ones tend to have both more shift and more error, without the one being the cause "
        "of the other.",
    ]
    return Grid(["", *[SHIFT_LABELS[name] for name in MEASURES], "data sets"], rows, notes)


def _correlation_cell(row: pd.Series) -> Cell:
    if not np.isfinite(row["spearman"]):
        return Cell("")
    if not np.isfinite(row["low"]):
        return Cell(f"{row['spearman']:.2f}")
    clear = bool(row["low"] > 0 or row["high"] < 0)
    return Cell(f"{row['spearman']:.2f} [{row['low']:.2f}, {row['high']:.2f}]", bold=clear)
