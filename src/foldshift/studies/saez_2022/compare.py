"""Every number that the regression paper prints beside ours, with ratio and Monte Carlo standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from foldshift.engine.storage.rows_by_cell import read_cells
from foldshift.reporting.paper_vs_ours import (
    EXPLAINED,
    MET,
    OTHER_DATA,
    comparison_items,
    join_with_print,
    judge,
    met_within_errors,
    print_ledger,
)
from foldshift.studies.saez_2022.tables import comparable_results, p_value_errors

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, PathLike
    from foldshift.reporting.items import TableResult

    Key = tuple[Any, ...]  # of a printed number: table and `PRINT_KEYS`
    Statistic = Literal["mean", "std"]

PRINTED_SEEDS = 1000
Number = TypeVar("Number")
DEFAULT_LEAVES = "RPART7"  # RPART with R's own default for the samples of a leaf, 7 where Table 2 prints 6
PRINT_KEYS = ("dataset", "regressor", "metric", "k", "partitioner", "quantity")  # of a printed number


class Ours(NamedTuple):
    """A number of ours, and whether it has an asterisk: 1 where the row's partitioner has the larger values; None for no test."""

    value: float
    asterisk: int | None = None


def printed_rows(table1: PathLike, table4: PathLike, table5: PathLike) -> pd.DataFrame:
    """Read the printed tables into one shape."""
    sets = pd.read_csv(table1).melt("dataset", var_name="quantity", value_name="value")
    sets = sets.assign(table="table1", regressor="", metric="", partitioner="", k=0, row_has_higher_rank_sum="")
    shift = pd.read_csv(table4).assign(table="table4", dataset="", regressor="", metric="dn")
    error = pd.read_csv(table5).assign(table="table5", dataset="")
    rows = pd.concat([sets, shift, error], ignore_index=True)
    rows["row_has_higher_rank_sum"] = rows["row_has_higher_rank_sum"].fillna("")
    return rows


def our_numbers(datasets: pd.DataFrame, shift: pd.DataFrame, error: pd.DataFrame) -> tuple[dict[Key, Ours], dict[Key, float]]:
    """Collect our numbers and their Monte Carlo errors by the keys of the printed ones."""
    ours, errors = {}, {}
    key: Key
    for row in datasets.itertuples():
        ours["table1", row.dataset, "", "", 0, "", "attributes"] = Ours(row.attributes)
        ours["table1", row.dataset, "", "", 0, "", "samples"] = Ours(row.samples)
    for row in shift.itertuples():
        key = ("table4", "", "", "dn", row.k, row.partitioner)
        ours[(*key, "mean_dn")], errors[(*key, "mean_dn")] = Ours(row.mean_dn), row.standard_error
        ours[(*key, "p_vs_CV")] = Ours(row.p_vs_cv, row.higher_vs_cv)
        ours[(*key, "p_vs_TSCV")] = Ours(row.p_vs_tscv, row.higher_vs_tscv)
    for row in error.itertuples():
        key = ("table5", "", row.regressor, "rmse", row.k, row.partitioner)
        ours[(*key, "mean")], errors[(*key, "mean")] = Ours(row.rmse), row.rmse_standard_error
        ours[(*key, "p_vs_CV")] = Ours(row.p_vs_cv, row.higher_vs_cv)
        ours[(*key, "p_vs_TSCV")] = Ours(row.p_vs_tscv, row.higher_vs_tscv)
        key = ("table5", "", row.regressor, "std", row.k, row.partitioner)
        ours[(*key, "mean")], errors[(*key, "mean")] = Ours(row.std), row.std_standard_error
        ours[(*key, "p_vs_CV")] = Ours(row.std_p_vs_cv, row.std_higher_vs_cv)
        ours[(*key, "p_vs_TSCV")] = Ours(row.std_p_vs_tscv, row.std_higher_vs_tscv)
    return ours, errors


def short_rows(error: pd.DataFrame, n_datasets: int) -> dict[Key, str]:
    """Write remarks on our numbers in Table 5 that rest on fewer data sets than there are."""
    return {
        (
            "table5",
            "",
            row.regressor,
            metric,
            row.k,
            row.partitioner,
            quantity,
        ): f"ours on {row.n_datasets} of {n_datasets} data sets"
        for row in error.itertuples()
        if row.n_datasets < n_datasets
        for metric in ("rmse", "std")
        for quantity in ("mean", "p_vs_CV", "p_vs_TSCV")
    }


def bootstrap_errors(inputs: Inputs, settings: dict[str, Any]) -> dict[Key, float]:
    """Compute the Monte Carlo errors of all p-values."""
    folds, partitioners, datasets = settings["n_folds"], settings["partitioners"], settings["datasets"]
    learners = [name for name in settings["learners"] if name in ("RPART", "NN", DEFAULT_LEAVES)]
    (shift,) = read_cells(
        inputs.shift, ("k", "partitioner"), ("d_n",), datasets, [(k, name) for k in folds for name in partitioners]
    )
    cells = [(learner, k, name) for learner in learners for k in folds for name in partitioners]
    (errors,) = read_cells(inputs.errors, ("learner", "k", "partitioner"), ("rmse",), datasets, cells)
    metrics: dict[str, Statistic] = {"rmse": "mean", "std": "std"}
    seed = settings["master_seed"]
    out: dict[Key, float] = {}
    for k in folds:
        of_k = p_value_errors({name: shift[k, name] for name in partitioners}, partitioners, "mean", ("dn", k), master_seed=seed)
        out |= {("table4", "", "", "dn", k, name, f"p_vs_{ref}"): value for (name, ref), value in of_k.items()}
        for learner in learners:
            values = comparable_results(errors, learner, k, partitioners)
            for metric, statistic in metrics.items():
                of_k = p_value_errors(values, partitioners, statistic, (learner, k), master_seed=seed)
                out |= {("table5", "", learner, metric, k, name, f"p_vs_{ref}"): value for (name, ref), value in of_k.items()}
    return out


def paper_vs_ours(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Compare the printed tables with ours, and count the printed numbers that are met."""
    printed = printed_rows(*inputs.printed)
    datasets, shift, error = (pd.read_csv(path) for path in (inputs.datasets, inputs.table4, inputs.table5))
    ours, errors = our_numbers(datasets, shift, error)
    wanted = set(printed[printed["table"] == "table1"]["dataset"])
    comparable = set(settings["datasets"]) == wanted
    if comparable:
        errors |= bootstrap_errors(inputs, settings)
    table = join(printed, ours, errors, comparable, short_rows(error, len(datasets)))
    other = join(printed, as_rpart(ours), as_rpart(errors), comparable)
    print_error = np.sqrt(settings["n_seeds"] / PRINTED_SEEDS)
    table = judge_by_block(table, explanations(other, print_error), print_error)
    return comparison_items(table, print_ledger(table.assign(table=blocks_of(table))))


def as_rpart(numbers: dict[Key, Number]) -> dict[Key, Number]:
    """Return the numbers of `DEFAULT_LEAVES` under the keys of RPART, and no others."""
    return {(*key[:2], "RPART", *key[3:]): value for key, value in numbers.items() if key[2] == DEFAULT_LEAVES}


def judge_by_block(table: pd.DataFrame, known: list[str], print_error: float) -> pd.DataFrame:
    """Judge every number; chance is weighed by block of a printed table, so that one that is off leaves the others alone."""
    judged = judge(table.assign(table=blocks_of(table)), met_within_errors(table, print_error), known, print_error=print_error)
    return judged.assign(table=table["table"])


def blocks_of(table: pd.DataFrame) -> list[str]:
    """Name the blocks of the printed tables: Table 5 has one for every regressor and metric."""
    metrics = {"rmse": "error", "std": "standard deviation"}
    return [
        f"{name}, {regressor}, {metrics[metric]}" if regressor else name
        for name, regressor, metric in zip(table["table"], table["regressor"], table["metric"])
    ]


def explanations(other: pd.DataFrame, print_error: float) -> list[str]:
    """Explain numbers of RPART by R's own default for the samples of a leaf, by row; `other` has it in place of the printed 6.

    It explains a number that it meets, or misses by no more than chance does over its block of the table.
    """
    judged = judge_by_block(other, [""] * len(other), print_error)
    texts = {
        MET: "{:.4g} with 7 samples in a leaf, R's default",
        EXPLAINED: "{:.4g} with 7 samples in a leaf, which chance explains",
    }
    return [texts.get(verdict, "").format(value) for value, verdict in zip(other["ours"], judged["verdict"])]


def join(
    printed: pd.DataFrame,
    ours: dict[Key, Ours],
    errors: dict[Key, float],
    comparable: bool,
    remarks: dict[Key, str] | None = None,
) -> pd.DataFrame:
    """Put every printed number beside ours; if a run is not `comparable`, only the sizes of the data sets are compared.

    The reason tells which p-values have an asterisk, in print and here.
    """
    on = ["table", *PRINT_KEYS]
    remarks = remarks or {}
    starred = dict(zip(printed[on].itertuples(index=False, name=None), printed["row_has_higher_rank_sum"] == "*"))
    rows = []
    for key, (value, asterisk) in ours.items():
        if not comparable and key[0] != "table1":
            continue
        stars = _stars(starred.get(key, False), asterisk == 1) if key[-1].startswith("p_") and value == value else ""
        rows.append((*key, value, errors.get(key, np.nan), "; ".join(filter(None, (remarks.get(key, ""), stars)))))
    printed = printed.rename(columns={"value": "printed"})
    if not comparable:
        notes = [OTHER_DATA + "; asterisk in print" * star for star in printed["row_has_higher_rank_sum"] == "*"]
        printed["reason"] = np.where(printed["table"] == "table1", "", notes)
    here = pd.DataFrame(rows, columns=[*on, "ours", "standard_error", "reason"])
    return join_with_print(printed, here, PRINT_KEYS)


def _stars(in_print: bool, here: bool) -> str:
    return {(True, True): "asterisk in both", (True, False): "asterisk in print only", (False, True): "asterisk here only"}.get(
        (in_print, here), ""
    )
