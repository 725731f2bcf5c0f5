"""Power of every detector under every shift, and its false alarms where nothing has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.inference.proportions import wilson_interval
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.studies.cieslak_2009.datasets_in_print import paper_name
from foldshift.studies.cieslak_2009.row_schemas import CELL, read_rows
from foldshift.studies.cieslak_2009.shift_conditions import BASE, NAMES, NO_SHIFT, WORDS, condition_kind

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Inputs


class Detector(NamedTuple):
    """A detector: its words in tables, and the kind of rows and the column that it decides by.

    The column holds a p-value, or (`counts`) a number of failing features.
    """

    words: str
    kind: Literal["shift", "learners", "multivariate"]
    column: str
    counts: bool = False


DETECTORS = {
    "ks_any_paper": Detector("KS, any feature, paper's p", "shift", "fails_paper", counts=True),
    "ks_any_holm": Detector("KS, any feature, Holm", "shift", "fails_holm", counts=True),
    "ks_any_bh": Detector("KS, any feature, Benjamini-Hochberg", "shift", "fails_bh", counts=True),
    "hellinger": Detector("Hellinger, permutation", "shift", "hellinger_p"),
    "friedman": Detector("Friedman over bootstraps (paper)", "learners", "friedman_p"),
    "two_proportion": Detector("two proportions of correct rows", "learners", "two_proportion_p"),
    "kruskal": Detector("Kruskal-Wallis on P(+)", "learners", "kruskal_p"),
    "ks_scores": Detector("KS on P(+)", "learners", "ks_scores_p"),
    "energy": Detector("energy distance", "multivariate", "energy"),
    "mmd": Detector("MMD", "multivariate", "mmd"),
    "c2st": Detector("classifier two-sample test", "multivariate", "c2st"),
}
SUPERVISED = ("friedman", "two_proportion")  # they need the classes of the test rows
COMPLETE = 0.95  # share of the cells that a detector needs to be compared on all of them


def detectors(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of rejections: where something has moved, and where nothing has."""
    alpha = settings["alpha"]
    shift, learners, multivariate = (
        read_rows(getattr(inputs, kind), kind, settings) for kind in ("shift", "learners", "multivariate")
    )
    fired = rejections(shift, learners, multivariate, alpha)
    power, alarms = power_table(fired, alpha), type_one_table(fired, alpha)
    return {"power": TableResult(power, power_grid(power, alpha)), "type_one": TableResult(alarms, type_one_grid(alarms, alpha))}


def rejections(shift: pd.DataFrame, learners: pd.DataFrame, multivariate: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Decide for every version of every data set which detectors fire: 1 or 0, NaN where one was not run."""
    index = [*CELL, "version"]
    rows = shift.set_index(index)
    by_kind: dict[str, pd.DataFrame] = {}
    for kind, frame in (("shift", rows), ("learners", learners)):
        fires = {}
        for name, one in _detectors(kind):
            values = frame[one.column]
            fires[name] = ((values > 0) if one.counts else (values < alpha)).where(values.notna()).astype(float)
        by_kind[kind] = pd.DataFrame(fires, index=frame.index)
    # A detector over learners fires as often as the mean of their decisions.
    over_learners = by_kind["learners"].groupby([learners[name] for name in index], sort=False, observed=True).mean()
    wide = multivariate.pivot_table(index=index, columns="detector", values="p_value", observed=True, aggfunc="first")
    wide = wide.reindex(columns=[name for name, _ in _detectors("multivariate")])
    fired = (wide < alpha).where(wide.notna()).astype(float)
    return by_kind["shift"].join(over_learners).join(fired).reindex(columns=list(DETECTORS)).astype(float)


def type_one_table(fired: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Rejection rate of every detector where nothing has moved, with its Wilson interval, by data set and over all of them."""
    by_dataset = _rates(fired)
    out = []
    for detector in DETECTORS:
        part = by_dataset[by_dataset["detector"] == detector]
        base = part[part["condition"] == BASE].set_index("dataset")
        for dataset in ("all", *base.index):
            rows = base if dataset == "all" else base.loc[[dataset]]
            rate, n = float(rows["rate"].mean()), int(rows["n_repeats"].sum())
            trials = effective_trials(rows["rate"].to_numpy(), n)
            low, high = map(float, wilson_interval(rate, trials))
            row = {
                "detector": detector,
                "dataset": dataset,
                "rate": rate,
                "low": low,
                "high": high,
                "n_splits": n,
                "n_effective": trials,
                "allowed": allowed_rate(alpha, n),
            }
            row["keeps_level"] = bool(rate <= row["allowed"]) if n else None
            for condition in ("MCAR25", "MCAR50"):
                rows = part[
                    (part["condition"] == condition) & part["dataset"].isin(base.index if dataset == "all" else [dataset])
                ]
                row[condition.lower()] = float(rows["rate"].mean())
            out.append(row)
    return pd.DataFrame(out)


def effective_trials(rates: FloatArray, n: int) -> float:
    """Number of independent trials that fix a mean rate over data sets as exactly as n splits of them do.

    The splits of a data set share its rows, and learners share a split, so that the unit of the mean is the data set:
    ``p (1 - p)`` over the squared standard error between data sets, at most n, times the squared ratio of the normal quantile to
    Student's with one degree of freedom less than there are data sets. For a single data set the splits are the trials; a
    detector over learners counts the mean of their decisions once per split, which varies less than one decision.
    Source: Korn, E. L., Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology 24, 193-201.
    """
    if len(rates) < 2:
        return float(n)
    p, error = rates.mean(), rates.std(ddof=1) / np.sqrt(len(rates))
    trials = min(n, p * (1 - p) / error**2) if error > 0 else n
    return float(trials * (norm.ppf(0.975) / student_t.ppf(0.975, len(rates) - 1)) ** 2)


def allowed_rate(alpha: float, n: int) -> float:
    """Highest rate in n independent trials that is not above alpha by more than two of its standard errors; NaN for no trials."""
    return alpha + 2 * float(np.sqrt(alpha * (1 - alpha) / n)) if n else np.nan


def power_table(fired: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Rejection rate of every detector under every condition; the best of those that keep their level are marked."""
    level = type_one_table(fired, alpha).query("dataset == 'all'").set_index("detector")
    run = [name for name in DETECTORS if fired[name].notna().any()]
    complete = [name for name in run if fired[name].notna().mean() >= COMPLETE]
    blocks = [("all", fired[complete])]
    if len(complete) < len(run):
        blocks.append(("common", fired[run].dropna()))
    out = []
    for cells, part in blocks:
        by_dataset = _rates(part)
        for condition in NAMES:
            rows = [
                {"cells": cells, "condition": condition, "detector": name}
                | _over_data_sets(by_dataset[(by_dataset["condition"] == condition) & (by_dataset["detector"] == name)])
                | {"type_one": level.loc[name, "rate"], "keeps_level": level.loc[name, "keeps_level"]}
                for name in part.columns
            ]
            found = by_dataset[by_dataset["condition"] == condition].pivot(index="dataset", columns="detector", values="rate")
            able = [
                row["detector"]
                for row in rows
                if row["keeps_level"] and row["n_splits"] and row["rate"] > allowed_rate(alpha, row["n_splits"])
            ]
            best = [] if condition_kind(condition) in NO_SHIFT else not_worse(found.reindex(columns=able))
            out += [row | {"best": row["detector"] in best, "able": row["detector"] in able} for row in rows]
    return pd.DataFrame(out)


def not_worse(rates: pd.DataFrame) -> list[str]:
    """Columns that cannot be told apart from the one with the largest mean over rows; none if that is so of all of several.

    Two columns are told apart if the 95 % interval of their mean difference over the rows (data sets) leaves out 0.
    """
    if rates.shape[1] < 2:
        return list(rates.columns)
    behind = rates.sub(rates[rates.mean().idxmax()], axis=0).mul(-1)
    n = behind.notna().sum()
    margin = student_t.isf(0.025, (n - 1).clip(lower=1)) * behind.std(ddof=1) / np.sqrt(n)
    worse = (n > 1) & (behind.mean() > margin)
    return list(rates.columns[~worse]) if worse.any() else []


def power_grid(table: pd.DataFrame, alpha: float) -> Grid:
    """Print `power_table`: a row per condition, a column per detector; shaded by rate."""
    detectors = [name for name in DETECTORS if name in set(table["detector"])]
    names = {"all": "all versions and repeats", "common": "the versions and repeats that every detector was run on"}
    body: list[list[TableCell | str]] = []
    for cells, block in table.groupby("cells", sort=False):
        body.append([names[cells]])
        for condition, part in block.groupby("condition", sort=False):
            if not part["n_splits"].any():
                body.append([condition, *[TableCell(EMPTY) for _ in detectors], EMPTY])
                continue
            by_name = part.set_index("detector")
            row: list[TableCell | str] = [condition]
            for name in detectors:
                if name not in by_name.index or by_name.loc[name, "rate"] != by_name.loc[name, "rate"]:
                    row.append(TableCell(EMPTY))
                    continue
                one = by_name.loc[name]
                error = one["se_datasets"] if one["se_datasets"] == one["se_datasets"] else one["se_repeats"]
                text = with_error(one["rate"], error, ".2f")
                row.append(TableCell(text, shade=float(one["rate"]), bold=bool(one["best"])))
            body.append([*row, _best_words(condition, part)])
    header = ["Condition", *[DETECTORS[name].words for name in detectors], "best that keeps its level"]
    level = table.drop_duplicates("detector").set_index("detector")
    broken = [
        f"{DETECTORS[name].words} ({level.loc[name, 'type_one']:.2f})" for name in detectors if not level.loc[name, "keeps_level"]
    ]
    notes = [
        f"Do not keep their level of {100 * alpha:g} %, with the rate at Base: {'; '.join(broken) if broken else 'none'}.",
        f"{' and '.join(DETECTORS[name].words for name in SUPERVISED)} need the classes of the test rows; "
        f"detectors over learners: mean over learners. {WORDS}",
    ]
    return Grid(header, body, notes)


def type_one_grid(table: pd.DataFrame, alpha: float) -> Grid:
    """Print `type_one_table`."""
    body: list[list[TableCell | str]] = []
    for detector, part in table.groupby("detector", sort=False):
        body.append([DETECTORS[detector].words + ("" if part["n_splits"].any() else ": not run")])
        for row in part[part["n_splits"] > 0].itertuples():
            rates = [TableCell(number(value, ".3f")) for value in (row.mcar25, row.mcar50)]
            body.append(
                [
                    "mean over data sets" if row.dataset == "all" else paper_name(row.dataset),
                    TableCell(f"{row.rate:.3f}", bold=not row.keeps_level),
                    TableCell(f"{row.low:.3f} to {row.high:.3f}"),
                    TableCell(str(row.n_splits)),
                    TableCell(f"{row.allowed:.3f}"),
                    *rates,
                ]
            )
    note = (
        f"Bold: above {100 * alpha:g} % on these data sets by more than two standard errors (allowed). The interval of the mean "
        "is for other data sets: its unit is the data set; of one data set it is the split. Over learners: the mean of their "
        "decisions counts once per split."
    )
    return Grid(["", "rate at Base", "95 % interval", "splits", "allowed", "MCAR25", "MCAR50"], body, [note])


def _best_words(condition: str, part: pd.DataFrame) -> str:
    """Name the best detectors under a condition."""
    if condition_kind(condition) in NO_SHIFT:
        return "nothing has moved"
    best = [DETECTORS[name].words for name in part[part["best"]]["detector"]]
    return "; ".join(best) if best else "cannot be told apart" if part["able"].any() else "none above chance"


def _detectors(kind: str) -> list[tuple[str, Detector]]:
    """Select the detectors that look at one kind of rows."""
    return [(name, one) for name, one in DETECTORS.items() if one.kind == kind]


def _rates(fired: pd.DataFrame) -> pd.DataFrame:
    """Rate by data set, condition and detector, its standard error over repeats, and their number.

    A repeat counts as the mean of its versions.
    """
    by_repeat = fired.groupby(level=CELL, sort=False, observed=True).mean()
    by_repeat = by_repeat.rename_axis(columns="detector").stack().rename("rate").dropna().reset_index()
    groups = by_repeat.groupby(["dataset", "condition", "detector"], sort=False, observed=True)["rate"]
    out = groups.agg(rate="mean", se="std", n_repeats="size").reset_index()
    return out.assign(se=out["se"] / np.sqrt(out["n_repeats"]))


def _over_data_sets(rows: pd.DataFrame) -> dict[str, float]:
    """Mean rate over data sets with both standard errors: between data sets, and of the mean for these data sets."""
    n = len(rows)
    if n == 0:
        return {"rate": np.nan, "se_datasets": np.nan, "se_repeats": np.nan, "n_datasets": 0, "n_splits": 0}
    return {
        "rate": float(rows["rate"].mean()),
        "se_datasets": float(rows["rate"].std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        "se_repeats": float(np.sqrt((rows["se"] ** 2).sum(skipna=False)) / n),
        "n_datasets": n,
        "n_splits": int(rows["n_repeats"].sum()),
    }
