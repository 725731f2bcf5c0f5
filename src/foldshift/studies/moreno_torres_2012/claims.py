"""Judge the sentences of the paper that state a number or an order, from the tables of a run and its rows of convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks
from foldshift.inference.repetitions.convergence import RULES, THRESHOLD
from foldshift.inference.repetitions.recall_convergence import RECALL
from foldshift.reporting.claims_ledger import Judged, by_error, claims_ledger
from foldshift.studies.moreno_torres_2012.against_print.table3_gaps import share_error
from foldshift.studies.moreno_torres_2012.notation import AVERAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import FloatArray, Inputs, PathLike
    from foldshift.reporting.items import TableResult

    Verdicts = dict[str, Judged]

ALPHA = 0.05  # of "significantly"
ONE_RUN, ALL_RUNS = "recall, one run", "recall, all runs"
# Claims that the table of conclusions tests, by its names.
CONCLUDED = {
    "ms_worst": "MS-SCV last",
    "scv_below_db": "SCV below DB-SCV",
    "scv_below_dob": "SCV below DOB-SCV",
    "dob_ahead": "DOB-SCV at least DB-SCV",
}
FASTER = {  # the partitioner that needs more experiments, and the one that needs fewer
    "ms_slowest": ("MS-SCV", "SCV"),
    "ms_slower_db": ("MS-SCV", "DB-SCV"),
    "ms_slower_dob": ("MS-SCV", "DOB-SCV"),
    "db_faster": ("SCV", "DB-SCV"),
    "dob_faster": ("SCV", "DOB-SCV"),
    "shift_slower": ("MS-SCV", "SCV"),
    "dob_more_effective": ("DB-SCV", "DOB-SCV"),
}
SCHEMES = {"2x5_before_5x2": (2, 5), "2x5_before_10x1": (2, 10), "5x2_before_10x1": (5, 10)}  # numbers of folds
LESS_SHIFT = {"db_less_shift": ("SCV", "DB-SCV"), "dob_less_shift": ("SCV", "DOB-SCV"), "shift_by_cut": ("MS-SCV", "SCV")}


def claims(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Judge every claim that the run can show, with the classifiers of its first configuration."""
    configuration, ids = next(iter(settings["ids"].items()))
    speeds = read_speeds(inputs.rows, list(ids.values()))
    tables = {
        name: pd.read_csv(getattr(inputs, name))
        for name in ("conclusions", "table5", "table6", "shift", "heldout")
        if getattr(inputs, name)
    }
    judged = judge_shift(tables["shift"]) | judge_speeds(speeds)
    judged |= judge_accuracy(tables["conclusions"], configuration)
    judged |= judge_numbers(tables["table5"], tables["table6"], configuration)
    if "heldout" in tables:
        judged |= judge_bias(tables["heldout"])
    return {"claims_ledger": claims_ledger(inputs.printed, judged)}


def read_speeds(paths: Sequence[PathLike], learners: Sequence[str]) -> pd.DataFrame:
    """Average the experiments to convergence over classifiers and orders: columns of data set, criterion, cut, k and number.

    A classifier counts where no partitioner or scheme lacks it.
    """
    names = ("dataset", "learner", "partitioner", "k", "criterion", "threshold", "rule", "experiments")
    parts = []
    for path in paths:
        rows = pd.DataFrame(read_columns(path, names))
        chosen = rows["criterion"].isin([RECALL, ONE_RUN, ALL_RUNS]) & (rows["threshold"] == THRESHOLD)
        rows = rows[chosen & (rows["rule"] == RULES[0]) & rows["learner"].isin(learners)]
        lost = set(rows.loc[rows["experiments"].isna(), "learner"])
        parts.append(rows[~rows["learner"].isin(lost)])
    keys = ["dataset", "partitioner", "k", "criterion"]
    return pd.concat(parts).groupby(keys, observed=True, sort=False)["experiments"].mean().reset_index()


def judge_speeds(speeds: pd.DataFrame) -> Verdicts:
    """Judge the claims about convergence, with data sets as the unit."""
    wide = speeds.pivot_table("experiments", ["criterion", "dataset"], ["partitioner", "k"], observed=True)
    found: Verdicts = {}
    by_recall = wide.loc[RECALL] if RECALL in wide.index else wide.iloc[:0]
    for claim, (more, fewer) in FASTER.items():
        if {more, fewer} <= set(by_recall.columns.get_level_values(0)):
            found[claim] = of_differences((by_recall[more] - by_recall[fewer]).mean(axis=1).to_numpy())
    for claim, (fewer_folds, more_folds) in SCHEMES.items():
        if {fewer_folds, more_folds} <= set(by_recall.columns.get_level_values(1)):
            found[claim] = by_wilcoxon(_gap(by_recall, fewer_folds, more_folds))
    if {ONE_RUN, ALL_RUNS} <= set(wide.index.get_level_values(0)) and {2, 5} <= set(wide.columns.get_level_values(1)):
        found["more_information"] = of_differences(_gap(wide.loc[ALL_RUNS], 2, 5) - _gap(wide.loc[ONE_RUN], 2, 5))
    return found


def _gap(wide: pd.DataFrame, fewer: int, more: int) -> FloatArray:
    """Experiments with more folds less those with fewer, mean over the partitioners, by data set."""
    return (wide.xs(more, axis=1, level=1) - wide.xs(fewer, axis=1, level=1)).mean(axis=1).to_numpy()


def of_differences(differences: FloatArray, remark: str = "") -> Judged:
    """Judge a mean difference over data sets by its standard error."""
    differences = differences[~np.isnan(differences)]
    n = len(differences)
    error = float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    counted = f"above 0 on {int((differences > 0).sum())} of {n} data sets"
    return by_error(float(differences.mean()) if n else np.nan, error, remark or (counted if n else ""))


def by_wilcoxon(differences: FloatArray) -> Judged:
    """Judge a claim of significance by Wilcoxon's signed-ranks test over data sets."""
    differences = differences[~np.isnan(differences)]
    found = of_differences(differences)
    if len(differences) < 2:
        return found
    test = wilcoxon_signed_ranks(differences, np.zeros_like(differences))
    remark = f"{found.remark}, p {float(test.p_value):.2g}"
    if test.p_value > ALPHA:
        return Judged("cannot be seen here", found.effect, found.standard_error, remark)
    return Judged("holds" if found.effect > 0 else "does not hold", found.effect, found.standard_error, remark)


def judge_accuracy(conclusions: pd.DataFrame, configuration: str) -> Verdicts:
    """Judge the claims about single experiments from the table of conclusions, mean over the schemes."""
    base = conclusions[(conclusions["change"] == f"{configuration}: base") & (conclusions["scheme"] == AVERAGE)]
    rows = base.set_index("conclusion")[["difference", "standard_error"]]
    found = {claim: by_error(*rows.loc[name]) for claim, name in CONCLUDED.items() if name in rows.index}
    if "ms_worst" in found:
        found["shift_less_reliable"] = found["ms_worst"]
    if {"SCV below DB-SCV", "SCV below DOB-SCV", "DOB-SCV at least DB-SCV"} <= set(rows.index):
        lead = min(rows["difference"]["SCV below DB-SCV"], rows["difference"]["SCV below DOB-SCV"])
        gap, error = rows.loc["DOB-SCV at least DB-SCV"]
        # Alike: the gap with its two errors stays within half of the smaller lead over SCV.
        found["dob_db_alike"] = alike(gap, error, lead / 2)
    return found


def alike(gap: float, error: float, limit: float) -> Judged:
    """Judge whether a gap is small: it is if it lies within the limit with two errors, and is not if it lies beyond with them."""
    if not np.isfinite([gap, error, limit]).all() or limit <= 0:
        return Judged("cannot be seen here", gap, error)
    if abs(gap) + 2 * error < limit:
        return Judged("holds", gap, error)
    return Judged("does not hold" if abs(gap) - 2 * error > limit else "cannot be seen here", gap, error)


def judge_numbers(table5: pd.DataFrame, table6: pd.DataFrame, configuration: str) -> Verdicts:
    """Judge the numbers that the text itself gives, where the run has the scheme and the pair."""
    found: Verdicts = {}
    chosen = table5.query("configuration == @configuration and scheme == '5x2' and partitioner == 'DOB-SCV'")
    pair = chosen.query("row == '1NN' and column == 'PART' and n_experiments > 0")
    if len(pair):
        row = pair.iloc[0]
        error = np.hypot(100 * share_error(row["agreements"], row["n_experiments"]), np.nan_to_num(row["truth_error"]))
        found["example_71"] = near(100 * row["agreements"] / row["n_experiments"] - 71, float(error))
    chosen = table6.query("configuration == @configuration and scheme == '5x2' and partitioner == 'DOB-SCV'").dropna(
        subset="percent"
    )
    if len(chosen):
        row = chosen.iloc[0]
        error = np.hypot(row["standard_error"], np.nan_to_num(row["truth_error"]))
        found["example_mean"] = near(row["percent"] - 55.684, float(error))
    return found


def near(gap: float, error: float, remark: str = "with the study's own distance; paper_vs_ours has the tool's") -> Judged:
    """Judge whether our number is the printed one, within two errors of both sides, the print's being as large as ours."""
    if not np.isfinite([gap, error]).all():
        return Judged("cannot be seen here", gap, error)
    return Judged("holds" if abs(gap) <= 2 * np.sqrt(2) * error else "does not hold", gap, error, remark)


def judge_shift(shift: pd.DataFrame) -> Verdicts:
    """Judge the claims about the shift itself, with data sets as the unit, mean over the schemes."""
    found: Verdicts = {}
    means = shift.pivot_table("ks_mean", "dataset", "partitioner")
    for claim, (more, fewer) in LESS_SHIFT.items():
        if {more, fewer} <= set(means):
            found[claim] = of_differences((means[more] - means[fewer]).to_numpy())
    others = [name for name in ("SCV", "DB-SCV", "DOB-SCV") if name in means]
    if "MS-SCV" in means and others:
        found["ms_most_shift"] = of_differences((means["MS-SCV"] - means[others].max(axis=1)).to_numpy())
    spread = shift.pivot_table("spread", "dataset", "partitioner")
    if {"DB-SCV", "DOB-SCV"} <= set(spread):
        found["dob_steadier"] = of_differences((spread["DB-SCV"] - spread["DOB-SCV"]).to_numpy())
    return found


def judge_bias(heldout: pd.DataFrame) -> Verdicts:
    """Judge whether cross-validation underestimates what training on the whole sample reaches, mean over the schemes."""
    rows = heldout.query("truth == 'whole' and learner == 'all' and partitioner == 'SCV'")
    if rows.empty:
        return {}
    error = float(rows["standard_error"].mean())  # the schemes share the samples
    return {"underestimates": by_error(-float(rows["bias"].mean()), error)}
