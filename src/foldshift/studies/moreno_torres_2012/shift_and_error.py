"""Tables of the covariate shift of partitioners, by feature too, and of its correlation with the error of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from foldshift.core.errors import DataError
from foldshift.core.seeding import generator
from foldshift.engine.layout.bundles import TRUTH
from foldshift.engine.storage.score_files import read_columns
from foldshift.reporting.items import TableResult
from foldshift.reporting.table_grid import Grid, TableCell, plain_grid
from foldshift.shift.measures.covariates import MEASURES
from foldshift.studies.common.covariate_shift_tables import (
    SHIFT_LABELS,
    drift_by_cell,
    feature_table,
    read_shift,
    shift_by_cell,
    shift_grid,
    shift_summary,
    shifted_grid,
)
from foldshift.studies.moreno_torres_2012.experiments import area_of
from foldshift.studies.moreno_torres_2012.notation import REFERENCE, scheme_name

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, Floats, Inputs, IntArray

SCORE_COLUMNS = ("dataset", "learner", "partitioner", "k")
INTERVAL = (2.5, 97.5)  # per cent
MIN_POINTS = 3  # of a rank correlation
EXTREME = "MS-SCV"  # it maximises the shift, so that any measure orders the partitioners if it is among them
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


def covariate_shift(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of the shift by partitioner, data set and feature, and of what it does to the error of the estimate."""
    schemes, partitioners = settings["iterations"], settings["partitioners"]
    configuration, names = next(iter(settings["ids"].items()))
    learners, area = list(names.values()), area_of(configuration)
    rows, features = read_shift(inputs.shift, inputs.features, partitioners)
    columns = (*SCORE_COLUMNS, area)
    scores = pd.concat([pd.DataFrame(read_columns(path, columns)) for path in inputs.scores], ignore_index=True)
    scores = scores.rename(columns={area: "auc_crisp"})
    try:
        errors = run_errors(scores[scores["k"].isin(schemes)], partitioners, learners)
    except ValueError as error:
        raise DataError(str(error)) from error
    cell = ["dataset", "scheme", "partitioner"]
    by_cell = shift_by_cell(rows, schemes).merge(drift_by_cell(features, schemes), on=cell, how="left")
    by_dataset = by_cell.merge(error_by_cell(errors, schemes), on=cell, how="left")
    short = by_dataset.drop(columns="shifted_features")  # too long for print; another table names them
    summary, by_feature = shift_summary(by_cell, partitioners, REFERENCE), feature_table(features, schemes)
    correlations = shift_and_error(rows, errors, schemes, partitioners, master_seed=settings["master_seed"])
    return {
        "covariate_shift": TableResult(summary, shift_grid(summary, settings["alpha"], REFERENCE)),
        "covariate_shift_by_dataset": TableResult(by_dataset, plain_grid(short)),
        "shifted_features": TableResult(by_feature, shifted_grid(by_feature, partitioners)),
        "covariate_shift_and_error": TableResult(correlations, correlation_grid(correlations)),
    }


def run_errors(scores: pd.DataFrame, partitioners: Sequence[str], learners: Sequence[str]) -> pd.DataFrame:
    """Subtract the truth, the mean of further experiments of SCV, from the estimate of every run."""
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
    """Summarise the error of the estimate by data set, scheme and partitioner, on what all partitioners have."""
    table = []
    for (dataset, k), part in error_rows[error_rows["k"].isin(schemes)].groupby(["dataset", "k"], sort=False):
        n_partitioners = part.loc[part["error"].notna(), "partitioner"].nunique()
        complete = part.groupby(["learner", "run"])["error"].transform("count") == n_partitioners
        common = part[complete & part["error"].notna()]
        for partitioner, cell in common.groupby("partitioner", sort=False):
            by_learner = cell.groupby("learner")["error"]
            row = {"dataset": dataset, "scheme": scheme_name(k, schemes[k]), "partitioner": partitioner}
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
    """Correlate every measure of shift with the error of the estimate (Spearman), at three levels.

    ``datasets``: over the data sets, within a partitioner. ``partitioners``: over the partitioners within a data set, mean over
    the data sets. ``runs``: over the runs of a data set and partitioner, mean over the data sets. Standard errors and intervals
    are those of `n_draws` bootstrap samples of the data sets, NaN below three data sets.
    """
    both = shift_by_cell(shift_rows, schemes).merge(error_by_cell(error_rows, schemes), on=["dataset", "scheme", "partitioner"])
    by_run = _run_correlations(shift_rows, error_rows, schemes)
    groups = {"all": list(partitioners)}
    if EXTREME in partitioners:
        groups[f"all but {EXTREME}"] = [name for name in partitioners if name != EXTREME]
    rows = []
    for scheme in [scheme_name(k, r) for k, r in schemes.items()]:
        part = both[both["scheme"] == scheme]
        for measure in MEASURES:
            for error, column in (("rms", "rms_error"), ("spread", "spread")):
                shift = part.pivot(index="dataset", columns="partitioner", values=measure)
                errors = part.pivot(index="dataset", columns="partitioner", values=column)
                for name in [name for name in partitioners if name in shift]:
                    key = _Correlated("datasets", error, scheme, name, measure)
                    x, y = _finite(shift[name].to_numpy(), errors[name].to_numpy())
                    rng = generator(master_seed, "bootstrap", "covariate shift", scheme, measure, error, name)
                    drawn = _resampled(len(x), n_draws, rng)
                    rows.append(_correlation_row(key, spearman(x, y), spearman(x[drawn], y[drawn]), len(x)))
                for label, names in groups.items():
                    if set(names) <= set(shift):
                        values = spearman(shift[names].to_numpy(), errors[names].to_numpy())
                        rows.append(
                            _mean_row(_Correlated("partitioners", error, scheme, label, measure), values, n_draws, master_seed)
                        )
        for measure in MEASURES:
            for error in ("absolute", "signed"):
                for name in partitioners:
                    key = _Correlated("runs", error, scheme, name, measure)
                    if key in by_run:
                        rows.append(_mean_row(key, np.array(by_run[key]), n_draws, master_seed))
    columns = [*_Correlated._fields, "spearman", "standard_error", "low", "high", "n_datasets"]
    table, order = pd.DataFrame(rows, columns=columns), {question: i for i, question in enumerate(QUESTIONS)}
    places = [order[pair] for pair in zip(table["level"], table["error"])]
    return table.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)


def spearman(x: Array, y: Array) -> Floats:
    """Compute Spearman's rank correlation along the last axis, with average ranks for ties; NaN below three points."""
    x, y = _ranks(x), _ranks(y)
    if x.shape[-1] < MIN_POINTS:
        return np.full(x.shape[:-1], np.nan)[()]
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))


def _ranks(values: Array) -> FloatArray:
    return rankdata(values, axis=-1) if values.size else np.zeros(values.shape)


class _Correlated(NamedTuple):
    """Keys of a correlation."""

    level: str
    error: str
    scheme: str
    partitioner: str
    measure: str


def _run_correlations(
    shift_rows: pd.DataFrame, error_rows: pd.DataFrame, schemes: dict[int, int]
) -> dict[_Correlated, list[float]]:
    """Correlate over the runs of every data set: a correlation for each of them."""
    found: dict[_Correlated, list[float]] = {}
    shift_cells = dict(iter(shift_rows.groupby(["dataset", "k", "partitioner"], sort=False)))
    for (dataset, k, partitioner), cell in error_rows.groupby(["dataset", "k", "partitioner"], sort=False):
        if k not in schemes or (dataset, k, partitioner) not in shift_cells:
            continue
        wide = cell.pivot(index="run", columns="learner", values="error").dropna(axis=1, how="all").dropna()
        shift = shift_cells[dataset, k, partitioner].set_index("run")
        runs = wide.index.intersection(shift.index)
        if wide.shape[1] == 0:
            continue
        errors = {"absolute": wide.loc[runs].abs().mean(axis=1).to_numpy(), "signed": wide.loc[runs].mean(axis=1).to_numpy()}
        for measure in MEASURES:
            x = shift.loc[runs, measure].to_numpy()
            for error, y in errors.items():
                key = _Correlated("runs", error, scheme_name(k, schemes[k]), partitioner, measure)
                found.setdefault(key, []).append(spearman(x, y))
    return found


def _finite(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    usable = np.isfinite(x) & np.isfinite(y)
    return x[usable], y[usable]


def _resampled(n: int, n_draws: int, rng: np.random.Generator) -> IntArray:
    return (rng.random((n_draws, n)) * n).astype(np.int64)


def _mean_row(key: _Correlated, values: FloatArray, n_draws: int, master_seed: int) -> tuple[float | str, ...]:
    """Average correlations over data sets; data sets are drawn for its interval."""
    values = values[np.isfinite(values)]
    names = key.level, key.scheme, key.measure, key.error, key.partitioner
    rng = generator(master_seed, "bootstrap", "covariate shift", *names)
    draws = values[_resampled(len(values), n_draws, rng)].mean(axis=1) if len(values) else np.empty(0)
    return _correlation_row(key, values.mean() if len(values) else np.nan, draws, len(values))


def _correlation_row(key: _Correlated, estimate: float, draws: FloatArray, n_datasets: int) -> tuple[float | str, ...]:
    """Make a row: keys, estimate, standard error and interval over the draws, and the number of data sets."""
    draws = draws[np.isfinite(draws)] if n_datasets >= MIN_POINTS else draws[:0]
    low, high = np.percentile(draws, INTERVAL) if len(draws) else (np.nan, np.nan)
    deviation = draws.std(ddof=1) if len(draws) > 1 else np.nan
    return *key, estimate, deviation, low, high, n_datasets


def correlation_grid(table: pd.DataFrame) -> Grid:
    """Print the correlations: a block per question, a column per measure, intervals that leave out 0 bold."""
    rows: list[list[TableCell | str]] = []
    for (level, error), block in table.groupby(["level", "error"], sort=False):
        rows.append([QUESTIONS[level, error]])
        for (scheme, partitioner), part in block.groupby(["scheme", "partitioner"], sort=False):
            part = part.set_index("measure")
            cells = [_correlation_cell(part.loc[name]) if name in part.index else TableCell("") for name in MEASURES]
            rows.append([f"{scheme}, {partitioner}", *cells, TableCell(str(part["n_datasets"].min()))])
    notes = [
        "Spearman's rank correlation, from -1 to 1, with the interval (2.5 to 97.5 per cent) of a bootstrap over the data sets; "
        "bold where the interval leaves out 0. No correction for the number of cells: one of twenty is bold by chance.",
        "Error: AUC of the estimate minus the truth, the mean of further experiments of SCV. The root-mean-square error counts a "
        "partitioner's bias against that truth, the standard deviation does not.",
        "Between data sets size matters: small ones tend to have both more shift and more error, without the one being the cause "
        "of the other.",
    ]
    return Grid(["", *[SHIFT_LABELS[name] for name in MEASURES], "data sets"], rows, notes)


def _correlation_cell(row: pd.Series) -> TableCell:
    if not np.isfinite(row["spearman"]):
        return TableCell("")
    if not np.isfinite(row["low"]):
        return TableCell(f"{row['spearman']:.2f}")
    clear = bool(row["low"] > 0 or row["high"] < 0)
    return TableCell(f"{row['spearman']:.2f} [{row['low']:.2f}, {row['high']:.2f}]", bold=clear)
