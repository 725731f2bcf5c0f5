"""Tables of the regression study (Saez and Romero-Bejar 2022) from results of seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.seeding import generator
from foldshift.engine.storage.rows_by_cell import read_cells
from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks
from foldshift.inference.missing import common_results, mean_present, std_present
from foldshift.inference.simulation.monte_carlo import (
    mean_and_error,
    p_value_error,
    p_values_by_repetitions,
    seed_bootstrap,
    std_and_error,
)
from foldshift.reporting.items import TableResult
from foldshift.reporting.min_datasets import one_line, sentence, too_few
from foldshift.reporting.table_grid import plain_grid
from foldshift.studies.common.within_dataset import own_units
from foldshift.studies.saez_2022.grids import REFERENCES, error_grid, read_printed, shift_grid

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Inputs

    Shift = dict[tuple[int, str], FloatArray]  # by number of folds k and partitioner: (n_datasets, n_seeds), mean over folds
    Errors = dict[tuple[str, int, str], FloatArray]  # by learner, k and partitioner: as Shift; NaN where a fit failed
    Results = dict[str, FloatArray]  # by partitioner

N_BOOTSTRAP = 100
# Share of the seeds that a draw takes, at most. Draws of r from n seeds share r / n of them, and are all the same at r = n. At a
# third, the spread of a mean over draws is still four fifths (the root of 1 - 1/3) of that over new seeds.
LARGEST_SHARE = 1 / 3
SCALING_ROWS = ("dataset", "regressor", "partitioner", "k", "n_seeds", "rmse_global", "rmse_fold")
SCALING_COLUMNS = [
    "regressor",
    "partitioner",
    "k",
    "rmse_global",
    "rmse_fold",
    "ratio",
    "largest_difference",
    "largest_in",
    "p_value",
    "n_datasets",
    "n_seeds",
]


class Repetitions(NamedTuple):
    """Numbers of repetitions behind Figure 2: ``step, 2 step, ...`` up to `maximum`, with random draws of each."""

    step: int
    maximum: int
    draws: int


def target_shift(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make Table 4, and the table of D_n by data set."""
    folds, partitioners, datasets = settings["n_folds"], settings["partitioners"], settings["datasets"]
    cells = [(k, name) for k in folds for name in partitioners]
    (shift,) = read_cells(inputs.shift, ("k", "partitioner"), ("d_n",), datasets, cells)
    table, alpha = shift_table(shift, folds, partitioners), settings["alpha"]
    return {
        "table4_dn": TableResult(table, shift_grid(table, alpha, too_few(len(datasets), alpha), read_printed(inputs.printed))),
        "dn_by_dataset": TableResult(shift_by_dataset(shift, folds, partitioners, datasets)),
    }


def error(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make Table 5, the tables of its order from CV to TSCV and of the error by data set, and the p-values behind Figure 2."""
    learners, folds, partitioners = settings["learners"], settings["n_folds"], settings["partitioners"]
    cells = [(learner, k, name) for learner in learners for k in folds for name in partitioners]
    keys = ("learner", "k", "partitioner")
    errors, failed = read_cells(inputs.errors, keys, ("rmse", "n_failed"), settings["datasets"], cells)
    table = error_table(errors, failed, learners, folds, partitioners)
    seed, few = settings["master_seed"], too_few(len(settings["datasets"]), settings["alpha"])
    repetitions = Repetitions(**settings["convergence"])
    by_repetitions = convergence_table(errors, learners, folds, partitioners, repetitions, master_seed=seed)
    nothing = few or no_repetitions(repetitions, settings["n_seeds"])
    return {
        "table5_error": TableResult(table, error_grid(table, settings["alpha"], few, read_printed(inputs.printed))),
        "error_order": TableResult(order_table(table, "rmse", "rmse_standard_error", ["regressor", "k"])),
        "error_by_dataset": TableResult(
            error_by_dataset(errors, settings["datasets"], learners, folds, partitioners, own_units(inputs.descriptions))
        ),
        "figure2_convergence": TableResult(by_repetitions, one_line(nothing) if nothing else None),
    }


def scaling(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of what scaling on the whole data set leaks."""
    table = scaling_table(pd.concat([pd.DataFrame(read_columns(path, SCALING_ROWS)) for path in inputs.rows], ignore_index=True))
    few = too_few(len(settings["datasets"]), settings["alpha"])
    grid = plain_grid(table.drop(columns="p_value"), [sentence(few)]) if few else plain_grid(table)
    return {"scaling_check": TableResult(table, grid)}


def comparable_results(errors: Errors, learner: str, k: int, partitioners: Sequence[str]) -> Results:
    """Select the results by which the partitioners of one learner and k can be compared.

    Partitioners without any result are left out. The others keep the same seeds (NaN elsewhere), on the data sets on which at
    least two seeds are complete.
    """
    common = common_results({name: errors[learner, k, name] for name in partitioners})
    found = {name: values for name, values in zip(partitioners, common.values()) if not np.isnan(values).all()}
    return {name: values[(~np.isnan(values)).sum(axis=1) >= 2] for name, values in found.items()}


def compare_with_references(per_dataset: Results, partitioners: Sequence[str], prefix: str = "") -> dict[str, dict[str, float]]:
    """Test every partitioner against the references over the data sets (Wilcoxon); the columns have a prefix.

    ``higher`` is 1 where the row's partitioner has the larger values: the asterisk of the paper.
    """
    rows = {}
    for name in partitioners:
        row: dict[str, float] = {}
        for reference in REFERENCES:
            label = f"vs_{reference.lower()}"
            if name == reference or not {name, reference} <= set(per_dataset) or not len(per_dataset[name]):
                row |= {f"{prefix}p_{label}": np.nan, f"{prefix}higher_{label}": np.nan}
            else:
                test = wilcoxon_signed_ranks(per_dataset[name], per_dataset[reference])
                row |= {f"{prefix}p_{label}": float(test.p_value), f"{prefix}higher_{label}": int(test.r_plus > test.r_minus)}
        rows[name] = row
    return rows


def shift_table(shift: Shift, folds: Sequence[int], partitioners: Sequence[str]) -> pd.DataFrame:
    """Make Table 4: the target shift that partitioners induce."""
    rows = []
    for k in folds:
        tests = compare_with_references({name: shift[k, name].mean(axis=1) for name in partitioners}, partitioners)
        for name in partitioners:
            mean, error = mean_and_error(shift[k, name])
            n_datasets, n_seeds = shift[k, name].shape
            rows.append({"k": k, "partitioner": name, "mean_dn": mean, "standard_error": error} | tests[name])
            rows[-1] |= {"n_datasets": n_datasets, "n_seeds": n_seeds}
    return pd.DataFrame(rows)


def shift_by_dataset(shift: Shift, folds: Sequence[int], partitioners: Sequence[str], datasets: Sequence[str]) -> pd.DataFrame:
    """Make the table of D_n by data set, with its standard error and the standard deviation over seeds."""
    rows = []
    for i, dataset in enumerate(datasets):
        for k in folds:
            for name in partitioners:
                values = shift[k, name][i]
                std = values.std(ddof=1)
                rows.append((dataset, k, name, values.mean(), std / np.sqrt(len(values)), std))
    return pd.DataFrame(rows, columns=["dataset", "k", "partitioner", "mean_dn", "standard_error", "std_dn"])


def error_table(
    errors: Errors, failed: Errors, learners: Sequence[str], folds: Sequence[int], partitioners: Sequence[str]
) -> pd.DataFrame:
    """Make Table 5: error and its standard deviation over the seeds, on `comparable_results`; `failed` counts fits."""
    rows = []
    for learner in learners:
        for k in folds:
            cells = comparable_results(errors, learner, k, partitioners)
            tests = compare_with_references({n: mean_present(v) for n, v in cells.items()}, partitioners)
            std_tests = compare_with_references({n: std_present(v) for n, v in cells.items()}, partitioners, "std_")
            for name in partitioners:
                values = cells.get(name, np.empty((0, 0)))
                rmse, rmse_error = mean_and_error(values)
                std, std_error = std_and_error(values)
                row = {
                    "regressor": learner,
                    "k": k,
                    "partitioner": name,
                    "rmse": rmse,
                    "rmse_standard_error": rmse_error,
                } | tests[name]
                row |= {"std": std, "std_standard_error": std_error} | std_tests[name]
                row |= {"n_datasets": len(values), "n_seeds": int((~np.isnan(values)).sum(axis=1).min(initial=values.shape[1]))}
                rows.append(row | {"n_failed_fits": int(failed[learner, k, name].sum())})
    return pd.DataFrame(rows)


def p_value_errors(
    values: Results,
    partitioners: Sequence[str],
    statistic: Literal["mean", "std"],
    rng_names: tuple[str | int, ...],
    *,
    master_seed: int,
) -> dict[tuple[str, str], float]:
    """Compute the Monte Carlo standard errors of the p-values by partitioner and reference, by bootstrap over seeds."""
    draws = {
        name: seed_bootstrap(
            values[name], statistic, N_BOOTSTRAP, generator(master_seed, "bootstrap", statistic, *rng_names, name)
        )
        for name in partitioners
        if name in values
    }
    return {
        (name, reference): p_value_error(draws[name], draws[reference])
        for name in draws
        for reference in REFERENCES
        if name != reference and reference in draws
    }


def most_repetitions(n_seeds: int) -> int:
    """Return the largest number of repetitions that are drawn from some seeds.

    >>> most_repetitions(50), most_repetitions(1000)
    (16, 333)
    """
    return int(n_seeds * LARGEST_SHARE)


def no_repetitions(repetitions: Repetitions, n_seeds: int) -> str:
    """Explain why no repetitions can be drawn, without the full stop; empty where they can be."""
    if repetitions.step <= most_repetitions(n_seeds):
        return ""
    return (
        f"this run has {n_seeds} seeds, of which draws take at most a third, and the fewest repetitions are {repetitions.step}; "
        f"it takes n_seeds={3 * repetitions.step}"
    )


def convergence_table(
    errors: Errors,
    learners: Sequence[str],
    folds: Sequence[int],
    partitioners: Sequence[str],
    repetitions: Repetitions,
    *,
    master_seed: int,
) -> pd.DataFrame:
    """Make Figure 2 as a table: mean p against CV by number of repetitions."""
    step, maximum, draws = repetitions
    rows = []
    for learner in learners:
        for k in folds:
            n_seeds = errors[learner, k, "CV"].shape[1]
            counts = list(range(step, min(maximum, most_repetitions(n_seeds)) + 1, step))
            cells = comparable_results(errors, learner, k, partitioners)
            nothing = np.empty((0, n_seeds))
            reference = cells.get("CV", nothing)
            for name in partitioners:
                if name != "CV":
                    values = cells.get(name, nothing)
                    n = min(len(values), len(reference))
                    rng = generator(master_seed, "repetitions", learner, k)  # every partitioner is compared on the same draws
                    mean_p, std_p = p_values_by_repetitions(values[:n], reference[:n], counts, draws, rng)
                    rows += [(learner, k, name, r, m, s, draws, n) for r, m, s in zip(counts, mean_p, std_p)]
    columns = ["regressor", "k", "partitioner", "repetitions", "mean_p", "std_p", "n_draws", "n_datasets"]
    return pd.DataFrame(rows, columns=columns)


def error_by_dataset(
    errors: Errors,
    datasets: Sequence[str],
    learners: Sequence[str],
    folds: Sequence[int],
    partitioners: Sequence[str],
    units: dict[str, float],
) -> pd.DataFrame:
    """Make the table of the error by data set, on the seeds that all partitioners with results there have; see `own_units`."""
    rows = []
    for i, dataset in enumerate(datasets):
        for learner in learners:
            for k in folds:
                for name, values in common_results({name: errors[learner, k, name][i] for name in partitioners}).items():
                    keys = (dataset, learner, k, name)
                    mean, std = float(mean_present(values)), float(std_present(values))
                    own = mean * units[dataset], std * units[dataset]
                    rows.append((*keys, mean, std, *own, int((values == values).sum())))
    columns = ["dataset", "regressor", "k", "partitioner", "rmse", "std", "rmse_own_units", "std_own_units", "n_seeds"]
    return pd.DataFrame(rows, columns=columns)


def scaling_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Compare the error with scaling on the whole data set and on each training part, by regressor and partitioner."""
    out = []
    for (regressor, partitioner, k), part in rows.groupby(["regressor", "partitioner", "k"], sort=False):
        part = part.dropna(subset=["rmse_global", "rmse_fold"])
        if part.empty:
            out.append({"regressor": regressor, "partitioner": partitioner, "k": k, "n_datasets": 0})
            continue
        a, b = part["rmse_global"].to_numpy(), part["rmse_fold"].to_numpy()
        relative = b / a - 1
        worst = int(abs(relative).argmax())
        out.append(
            {
                "regressor": regressor,
                "partitioner": partitioner,
                "k": k,
                "rmse_global": a.mean(),
                "rmse_fold": b.mean(),
                "ratio": b.mean() / a.mean(),
                "largest_difference": relative[worst],
                "largest_in": part["dataset"].iloc[worst],
                "p_value": wilcoxon_signed_ranks(b, a).p_value,
                "n_datasets": len(part),
                "n_seeds": int(part["n_seeds"].max()),
            }
        )
    return pd.DataFrame(out, columns=SCALING_COLUMNS)


def order_table(table: pd.DataFrame, value: str, error: str, group: list[str]) -> pd.DataFrame:
    """Judge by pairs of neighbouring partitioners, from CV to TSCV, whether results fall: ``yes``, ``within error``, ``no``.

    Empty where one of the two has no result; a move of at most two standard errors of the difference is within error.
    """
    rows = []
    for keys, part in table.groupby(group, sort=False):
        part = part.reset_index(drop=True)
        for i in range(len(part) - 1):
            difference = part[value][i + 1] - part[value][i]
            both = float(np.hypot(part[error][i], part[error][i + 1]))
            verdict = "within error" if abs(difference) <= 2 * both else "yes" if difference < 0 else "no"
            verdict = "" if np.isnan(difference) else verdict
            rows.append((*np.atleast_1d(keys), part["partitioner"][i], part["partitioner"][i + 1], difference, both, verdict))
    return pd.DataFrame(rows, columns=[*group, "from", "to", "difference", "standard_error", "ordered"])
