"""Judge the paper's claims from the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom, spearmanr

from foldshift.reporting.claims_ledger import N_ERRORS, Judged, by_error, claims_ledger
from foldshift.reporting.min_datasets import smallest_p
from foldshift.studies.saez_2022.tables import order_table

if TYPE_CHECKING:
    from foldshift.core.types import Inputs
    from foldshift.reporting.items import TableResult

    Rule = Literal["all", "most"]

SHOWN, OTHERS = ("RPART", "NN"), ("ELM", "MARS", "GBM")  # regressors whose results are printed, and the others
FEWEST, NEAR_TSCV = ("SCV2", "SCV4"), ("SCV50", "SCV100")
PANEL = ["regressor", "k"]
CHANCE = 0.025  # that a comparison without any difference lies beyond two errors in one direction
LEVEL = 0.05  # at which a number of comparisons is more than chance


class Tables(NamedTuple):
    """Tables of a run that the claims are about, and the level of its tests."""

    shift: pd.DataFrame  # table4_dn
    shift_by_dataset: pd.DataFrame
    error: pd.DataFrame  # table5_error
    error_by_dataset: pd.DataFrame
    convergence: pd.DataFrame  # figure2_convergence
    alpha: float


def claims(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of claims."""
    found = {name: pd.read_csv(getattr(inputs, name)) for name in Tables._fields if name != "alpha"}
    tables = Tables(**found, alpha=settings["alpha"])
    return {"claims_ledger": claims_ledger(inputs.sentences, judge_claims(tables, settings))}


def judge_claims(tables: Tables, settings: dict[str, Any]) -> dict[str, Judged]:
    """Judge every claim that the tables can show; the time of cutting is not measured."""
    printed = tables._replace(
        error=only(tables.error, SHOWN), error_by_dataset=only(tables.error_by_dataset, SHOWN),
        convergence=only(tables.convergence, SHOWN),
    )  # fmt: skip
    error, alpha = printed.error, tables.alpha
    tscv = error_steps(error, "TSCV") + error_steps(tables.shift, "TSCV", "mean_dn", "standard_error", ["k"])
    return {
        "results_count": results_count(settings),
        "shift_order": share(order_steps(tables.shift, "mean_dn", "standard_error", ["k"]), "all"),
        "shift_order_datasets": full_orders(tables.shift_by_dataset),
        "shift_stratified_better": share(marks_of_tests(tables.shift, "cv", alpha), "all", alpha / 2),
        "shift_tscv_better": share(marks_of_tests(tables.shift, "tscv", alpha), "all", alpha / 2),
        "shift_grows_with_k": share(steps_in_k(tables.shift), "all"),
        "error_order": share(order_steps(error, "rmse", "rmse_standard_error", PANEL), "all"),
        "std_order": share(order_steps(error, "std", "std_standard_error", PANEL), "most"),
        "other_regressors": share(
            order_steps(only(tables.error, OTHERS), "rmse", "rmse_standard_error", PANEL), "most"
        ),
        "error_stratified_better": share(marks_of_tests(error, "cv", alpha), "most", alpha / 2),
        "error_near_cv": no_difference(only(error, FEWEST, "partitioner"), "cv", alpha),
        "error_tscv_better": share(marks_of_tests(error, "tscv", alpha), "most", alpha / 2),
        "error_near_tscv": no_difference(only(error, NEAR_TSCV, "partitioner"), "tscv", alpha),
        "std_stratified_better": share(marks_of_tests(error, "cv", alpha, "std_"), "most", alpha / 2),
        "std_tscv_better": share(marks_of_tests(error, "tscv", alpha, "std_"), "most", alpha / 2),
        "shift_and_error": shift_and_error(printed),
        "truer_estimate": Judged("cannot be seen here", remark="a lower estimate need not be a truer one: see foldshift_2026"),
        "p_falls_with_strata": fall_with_strata(printed.convergence, mean_p),
        "unsteady_with_few_strata": fall_with_strata(printed.convergence, roughness),
        "faster_with_strata": fall_with_strata(printed.convergence, lambda p: repetitions_needed(p, alpha)),
        "p_grows_with_k": growth_with_k(printed.convergence, mean_p),
        "unsteady_with_k": growth_with_k(printed.convergence, roughness),
        "tscv_best": share(tscv, "most"),
        "fewer_strata_good": share(marks_of_tests(error[error["partitioner"] != "TSCV"], "cv", alpha), "most", alpha / 2),
    }  # fmt: skip


def only(table: pd.DataFrame, values: Sequence[str], column: str = "regressor") -> pd.DataFrame:
    """Select the rows with some values of a column."""
    return table[table[column].isin(values)].reset_index(drop=True)


def share(marks: Sequence[int], rule: Rule, chance: float = CHANCE) -> Judged:
    """Judge a claim about many comparisons: 1 where one comes out as claimed beyond its error, -1 the other way, 0 within it.

    ``all``: it holds if every one is 1; ``most``: if more than half are. It does not hold if more are -1 than 1; between the two
    it holds in part. It cannot be seen where no more are 1, or -1, than `chance` leaves for each without any difference.
    """
    yes, no, n = marks.count(1), marks.count(-1), len(marks)
    remark = f"{yes} of {n} as claimed, {no} the other way" if n else ""
    if not any(count and binom.sf(count - 1, n, chance) <= LEVEL for count in (yes, no)):
        return Judged("cannot be seen here", yes / n if n else np.nan, remark=remark)
    if no >= yes:
        return Judged("does not hold", yes / n, remark=remark)
    holds = yes == n if rule == "all" else yes > n / 2
    return Judged("holds" if holds else "holds in part", yes / n, remark=remark)


def order_steps(table: pd.DataFrame, value: str, error: str, group: list[str]) -> list[int]:
    """Mark the steps from a partitioner to the next one with more strata: 1 where the value falls by more than two errors."""
    marks = {"yes": 1, "no": -1, "within error": 0}
    return [marks[one] for one in order_table(in_order_of_strata(table), value, error, group)["ordered"] if one in marks]


def in_order_of_strata(table: pd.DataFrame) -> pd.DataFrame:
    """Select CV, SCVt and TSCV, and sort each group of rows by the number of strata."""
    ranks = table["partitioner"].map(n_strata)
    return table.assign(strata=ranks)[ranks.notna()].sort_values("strata", kind="stable").reset_index(drop=True)


def n_strata(partitioner: str) -> float:
    """Return the number of strata; NaN for a partitioner of another kind."""
    if partitioner in ("CV", "TSCV"):
        return {"CV": 1.0, "TSCV": np.inf}[partitioner]
    number = partitioner.removeprefix("SCV")
    return float(number) if number.isdigit() and number != partitioner else np.nan


def marks_of_tests(table: pd.DataFrame, reference: Literal["cv", "tscv"], alpha: float, prefix: str = "") -> list[int]:
    """Mark the tests against a reference: 1 where the partitioner with more strata has the smaller values at the level."""
    table = in_order_of_strata(table)
    p, higher = table[f"{prefix}p_vs_{reference}"], table[f"{prefix}higher_vs_{reference}"]
    able = (table["n_datasets"].map(smallest_p) <= alpha) & p.notna()
    better = higher == (0 if reference == "cv" else 1)
    return [(1 if good else -1) if low else 0 for good, low in zip(better[able], p[able] < alpha)]


def no_difference(table: pd.DataFrame, reference: Literal["cv", "tscv"], alpha: float) -> Judged:
    """Judge that some tests against a reference show no difference."""
    marks = marks_of_tests(table, reference, alpha)
    if not marks:
        return Judged("cannot be seen here")
    return Judged(
        "holds" if 0 in marks else "does not hold", marks.count(0) / len(marks), remark=f"{marks.count(0)} of {len(marks)}"
    )


def beyond_errors(values: Sequence[float], errors: Sequence[float]) -> list[int]:
    """Mark differences by their sign where they are beyond two errors, and by 0 where they are not; leave NaN out."""
    return [int(np.sign(x)) * int(abs(x) > N_ERRORS * error) for x, error in zip(values, errors) if not np.isnan(x)]


def steps_in_k(table: pd.DataFrame) -> list[int]:
    """Mark the steps from a k to the next: 1 where D_n rises by more than two errors."""
    marks = []
    for _, part in table.sort_values("k", kind="stable").groupby("partitioner", sort=False):
        rises = np.diff(part["mean_dn"])
        errors = np.hypot(part["standard_error"].to_numpy()[1:], part["standard_error"].to_numpy()[:-1])
        marks += beyond_errors(rises, errors)
    return marks


def error_steps(
    table: pd.DataFrame, best: str, value: str = "rmse", error: str = "rmse_standard_error", group: list[str] = PANEL
) -> list[int]:
    """Mark the comparisons of one partitioner with all others: 1 where it is lower by more than two errors."""
    marks = []
    for _, part in table.groupby(group, sort=False):
        part = part.set_index("partitioner")
        for name in part.index.drop(best, errors="ignore") if best in part.index else ():
            gap, error_of_gap = part[value][name] - part[value][best], np.hypot(part[error][name], part[error][best])
            marks += beyond_errors([gap], [error_of_gap])
    return marks


def full_orders(table: pd.DataFrame) -> Judged:
    """Judge that most data sets show the whole order of D_n, by the k where fewest do."""
    table, counts = in_order_of_strata(table), {}
    if table["partitioner"].nunique() < 2:
        return Judged("cannot be seen here")
    for k, part in table.groupby("k", sort=False):
        falls = [bool((np.diff(one["mean_dn"]) < 0).all()) for _, one in part.groupby("dataset", sort=False)]
        counts[k] = (sum(falls), len(falls))
    full, n = min(counts.values(), key=lambda one: one[0] / one[1])
    near = (full + 1) / (n + 2)  # a share of 0 or 1 has an error as well
    remark = "; ".join(f"{found} of {all_} with k = {k}" for k, (found, all_) in counts.items())
    judged = by_error(full / n - 0.5, float(np.sqrt(near * (1 - near) / n)), remark)
    return judged._replace(effect=full / n)


def results_count(settings: dict[str, Any]) -> Judged:
    """Count the results of a run at the paper's measure: an error for every regressor and one D_n, in millions."""
    n = np.prod([len(settings[name]) for name in ("datasets", "n_folds", "partitioners")], dtype=float) * settings["n_seeds"]
    n_regressors = len({*settings["learners"]} & {*SHOWN, *OTHERS})
    millions = n * (n_regressors + 1) / 1e6
    return Judged("holds" if millions > 4 else "cannot be seen here", millions, remark=f"{n_regressors} regressors and D_n")


def shift_and_error(tables: Tables) -> Judged:
    """Judge that data sets whose D_n falls more from CV to TSCV also have an error that falls more, in parts of that of CV."""
    falls = []
    for table, value, keys in (
        (tables.shift_by_dataset, "mean_dn", ["dataset", "k"]),
        (tables.error_by_dataset, "rmse", ["dataset", "k", "regressor"]),
    ):
        wide = table.pivot_table(value, keys, "partitioner").reindex(columns=["CV", "TSCV"])
        falls.append((wide["CV"] - wide["TSCV"]) / (1 if value == "mean_dn" else wide["CV"]))
    both = falls[1].rename("error").reset_index().merge(falls[0].rename("shift").reset_index(), on=["dataset", "k"]).dropna()
    found = [spearmanr(part["shift"], part["error"]).statistic for _, part in both.groupby(PANEL) if len(part) > 2]
    found = [one for one in found if not np.isnan(one)]
    if not found:
        return Judged("cannot be seen here")
    # The panels share their data sets, so that their mean has the error of one of them.
    return by_error(float(np.mean(found)), 1 / np.sqrt(both["dataset"].nunique() - 1), f"{len(found)} panels")


def mean_p(p: np.ndarray) -> float:
    """Average the p of a curve."""
    return float(np.mean(p))


def roughness(p: np.ndarray) -> float:
    """Average how far a curve of p turns from one number of repetitions to the next; NaN for fewer than three."""
    return float(np.abs(np.diff(p, 2)).mean()) if len(p) > 2 else np.nan


def repetitions_needed(p: np.ndarray, alpha: float) -> float:
    """Count the steps after which p stays below the level; infinite if it never does."""
    above = np.flatnonzero(~(p < alpha))
    after = int(above[-1]) + 1 if len(above) else 0
    return float(after) if after < len(p) else np.inf


def fall_with_strata(table: pd.DataFrame, measure: Callable[[np.ndarray], float]) -> Judged:
    """Judge that a measure of the curves falls with the number of strata, over panels of a regressor and k."""
    found = []
    for _, part in in_order_of_strata(table).groupby(PANEL, sort=False):
        curves = part.dropna(subset="mean_p").groupby("partitioner", sort=False)
        values = [(one["strata"].iloc[0], measure(one["mean_p"].to_numpy())) for _, one in curves]
        strata, measured = np.array(values).reshape(-1, 2).T
        if len(values) > 2 and not np.isnan(measured).any() and len(set(measured)) > 1:
            found.append(-spearmanr(strata, measured).statistic)
    return over(found, "panels")


def growth_with_k(table: pd.DataFrame, measure: Callable[[np.ndarray], float]) -> Judged:
    """Judge that a measure of the curves grows from one k to the next, over curves of a regressor and partitioner."""
    found: list[float] = []
    for _, part in table.dropna(subset="mean_p").groupby(["regressor", "partitioner"], sort=False):
        found += np.diff([measure(one["mean_p"].to_numpy()) for _, one in part.groupby("k")]).tolist()
    return over([one for one in found if not np.isnan(one)], "steps")


def over(values: list[float], unit: str) -> Judged:
    """Judge a mean over panels or steps by their spread; fewer than three show nothing."""
    if len(values) < 3:
        return Judged("cannot be seen here")
    rising = sum(value > 0 for value in values)
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return by_error(float(np.mean(values)), error, f"{rising} of {len(values)} {unit} as claimed")
