"""Sensitivity of learners to shift: the index, and the numbers behind Figures 6 to 11."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from foldshift.inference.comparisons.ranks import friedman
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY, number, percent, with_error
from foldshift.reporting.table_grid import Grid, TableCell, plain_grid
from foldshift.studies.cieslak_2009.claims.claim_verdicts import order
from foldshift.studies.cieslak_2009.claims.claims_on_predictions import HIGH, LOW, UNMOVED, falls, p_by_learner
from foldshift.studies.cieslak_2009.datasets_in_print import in_order, paper_name
from foldshift.studies.cieslak_2009.row_schemas import read_rows
from foldshift.studies.cieslak_2009.shift_conditions import BASE, KIND_NAMES, NO_SHIFT, TRANSLATION, condition_kind

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

# Orders of the mean p that the paper sees: conditions before and after, in words.
ORDERS = (
    (UNMOVED, ("MAR50", "MNAR50"), "from Base and MCAR to MAR50 and MNAR50"),
    (TRANSLATION[:1], TRANSLATION[-1:], "from CS25 to CS200"),
    (LOW, HIGH, "from P2, P5 and P10 to P50, P60 and P70"),
)
TESTS = {"friedman": "friedman_p", "two_proportion": "two_proportion_p", "kruskal": "kruskal_p", "ks_scores": "ks_scores_p"}


def learners(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of sensitivity, and the numbers behind Figures 6 to 11."""
    rows = read_rows(inputs.learners, "learners", settings)
    table, p_values = (make(rows, settings["alpha"]) for make in (sensitivity_table, p_values_table))
    return {
        "learner_sensitivity": TableResult(table, sensitivity_grid(table)),
        "p_values": TableResult(p_values, plain_grid(p_values, order_notes(p_values))),
    }


def order_notes(p_values: pd.DataFrame) -> list[str]:
    """Say which orders of Figures 6 to 11 this run shows: mean p that falls, by the 95 % interval over data sets."""
    notes = []
    for test, words in (("friedman", "Friedman's p"), ("kruskal", "p of Kruskal-Wallis")):
        wide = p_by_learner(p_values, test)
        for before, after, what in ORDERS:
            found = order(falls(wide, before, after))
            verdict = "cannot be seen at this size" if found.verdict == "cannot be seen here" else found.verdict
            notes.append(f"{words} falls {what}: {verdict}.")
    return notes


def sensitivity_table(learners: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Sensitivity of every learner by data set, and over all of them (rows ``all``)."""
    keys = ["dataset", "repeat", "learner"]
    base = learners[learners["condition"] == BASE].set_index(keys)[["accuracy_test", "auc_test"]].add_prefix("base_")
    moved = learners[learners["condition"] != BASE].join(base, on=keys)
    kinds = moved["condition"].map(condition_kind)
    moved = moved.assign(
        kind=kinds,
        change=moved["accuracy_test"] - moved["base_accuracy_test"],
        auc_change=(moved["auc_test"] - moved["base_auc_test"]).abs(),
        noticed=(moved["two_proportion_p"] < alpha).where(moved["two_proportion_p"].notna()).astype(float),
    )
    moved["absolute"] = moved["change"].abs()
    measures = ["absolute", "auc_change", "noticed"]
    by_condition = moved.groupby([*keys, "kind", "condition"], sort=False, observed=True)[[*measures, "change"]].mean()
    by_kind = by_condition.groupby([*keys, "kind"], sort=False, observed=True)[measures].mean()
    shifts = [kind for kind in KIND_NAMES if kind not in NO_SHIFT and kind in set(kinds)]
    wide = {name: by_kind[name].unstack("kind").reindex(columns=[*NO_SHIFT[1:], *shifts]) for name in measures}
    index = {name: wide[name][shifts].mean(axis=1, skipna=False) for name in measures}
    names, datasets = (list(dict.fromkeys(learners[column])) for column in ("learner", "dataset"))
    worst = by_condition["change"].groupby(["dataset", "learner", "condition"], sort=False, observed=True).mean()
    out = []
    for dataset in datasets:
        of_dataset = []
        for learner in names:
            at = {"dataset": dataset, "learner": learner}
            row = {"learner": learner, "dataset": dataset}
            for column, name in (("base_accuracy", "base_accuracy_test"), ("base_auc", "base_auc_test")):
                row[column] = float(_where(base[name], at).mean())
            for column, name in (("index", "absolute"), ("auc_index", "auc_change")):
                row[column], row[f"se_{column}"] = _mean_and_error(_where(index[name], at))
            row |= {kind: float(_where(wide["absolute"][kind], at).mean()) for kind in wide["absolute"].columns}
            row["noticed"] = float(_where(index["noticed"], at).mean())
            falls = worst[[key for key in worst.index if key[:2] == (dataset, learner)]].dropna()
            row["worst"] = float(falls.min()) if len(falls) else np.nan
            row["worst_condition"] = falls.idxmin()[2] if len(falls) else ""
            of_dataset.append(row)
        frame = pd.DataFrame(of_dataset)
        for column, rank in (("index", "rank"), ("auc_index", "auc_rank")):
            complete = frame[column].notna().all()
            frame[rank] = frame[column].rank() if complete else np.nan
        out.append(frame)
    table = pd.concat(out, ignore_index=True)
    return pd.concat([_over_datasets(table, names), table], ignore_index=True)


def sensitivity_test(table: pd.DataFrame) -> tuple[float, int]:
    """Test the indices over data sets by Friedman's test: p (NaN below two data sets or learners), and number of data sets."""
    part = table[table["dataset"] != "all"].dropna(subset=["rank"])
    scores = part.pivot(index="dataset", columns="learner", values="index")
    if min(scores.shape) < 2:
        return np.nan, len(scores)
    return friedman(scores.to_numpy(), larger_is_better=False).p_chi2, len(scores)


def p_values_table(learners: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """p-values of the tests of a monitored classifier (Figures 6 to 11)."""
    long = learners.melt(["dataset", "learner", "condition"], list(TESTS.values()), "test", "p").dropna(subset=["p"])
    long = long.assign(
        test=long["test"].map({column: name for name, column in TESTS.items()}), below=(long["p"] < alpha).astype(float)
    )
    groups = long.groupby(["dataset", "learner", "condition", "test"], sort=False, observed=True)
    out = groups.agg(mean_p=("p", "mean"), median_p=("p", "median"), rejection_rate=("below", "mean"), n=("p", "size"))
    return in_order(out.reset_index(), learners)


def steadiest(table: pd.DataFrame, alpha: float = 0.05) -> set[tuple[str, str]]:
    """Data sets (``all`` for their mean) and learners whose index is surely the lowest.

    Over data sets Friedman's test and the paired 95 % interval decide, within one two standard errors over repeats.
    """
    found = set()
    for dataset, part in table.dropna(subset=["index"]).groupby("dataset", sort=False):
        first, *others = part.sort_values("index")[["learner", "index", "se_index"]].itertuples(index=False)
        if dataset == "all":
            wide = table[table["dataset"] != "all"].pivot(index="dataset", columns="learner", values="index").dropna()
            behind = wide.sub(wide[first.learner], axis=0).drop(columns=first.learner)
            n = len(behind)
            margin = student_t.isf(alpha / 2, n - 1) * behind.std(ddof=1) / np.sqrt(n) if n > 1 else np.inf
            sure = sensitivity_test(table)[0] < alpha and bool((behind.mean() > margin).all())
        else:
            sure = all(one.index - first.index > 2 * np.hypot(one.se_index, first.se_index) for one in others)
        if sure and others:
            found.add((dataset, first.learner))
    return found


def sensitivity_grid(table: pd.DataFrame) -> Grid:
    """Print `sensitivity_table`: one block for all data sets together and one for each."""
    sure = steadiest(table)
    kinds = [kind for kind in KIND_NAMES if kind in table]
    body: list[list[TableCell | str]] = []
    for dataset, part in table.groupby("dataset", sort=False):
        body.append(["mean over data sets" if dataset == "all" else f"{paper_name(dataset)} ({dataset})"])
        for _, row in part.sort_values("rank", kind="stable").iterrows():
            body.append(
                [
                    row["learner"],
                    TableCell(number(row["rank"], ".3g"), bold=(dataset, row["learner"]) in sure),
                    TableCell(with_error(100 * row["index"], 100 * row["se_index"], ".2f")),
                    *[TableCell(percent(row[kind], 2)) for kind in kinds],
                    TableCell(percent(row["base_accuracy"])),
                    TableCell(f"{100 * row['worst']:+.1f} {row['worst_condition']}" if row["worst"] == row["worst"] else EMPTY),
                    TableCell(number(row["noticed"], ".2f")),
                    TableCell(number(row["auc_rank"], ".3g")),
                    TableCell(with_error(100 * row["auc_index"], 100 * row["se_auc_index"], ".2f")),
                ]
            )
    header = [
        "Learner",
        "rank",
        "index",
        *[KIND_NAMES[kind] for kind in kinds],
        "accuracy, Base",
        "worst change",
        "noticed",
        "AUC rank",
        "AUC index",
    ]
    p, n = sensitivity_test(table)
    notes = (
        [f"Friedman's test of the ranks over {n} data sets: p = {p:.3g}."]
        if p == p
        else ["Too few data sets for a test of the ranks."]
    )
    if not any(dataset == "all" for dataset, _ in sure):
        notes.append("Which learner is the steadiest cannot be seen at this size.")
    return Grid(header, body, notes)


def _over_datasets(table: pd.DataFrame, learners: list[str]) -> pd.DataFrame:
    """Rows ``all`` of `sensitivity_table`."""
    complete = table[table["rank"].notna()]
    out = []
    for learner in learners:
        part = complete[complete["learner"] == learner]
        row = part.drop(columns=["learner", "dataset", "worst_condition"]).mean().to_dict()
        row |= {f"se_{name}": _mean_and_error(part[name])[1] for name in ("index", "auc_index")}
        lowest = part["worst"].idxmin() if part["worst"].notna().any() else None
        row |= {"worst": np.nan, "worst_condition": ""}
        if lowest is not None:
            row |= {"worst": part.loc[lowest, "worst"], "worst_condition": part.loc[lowest, "worst_condition"]}
        out.append({"learner": learner, "dataset": "all"} | row)
    return pd.DataFrame(out, columns=table.columns)


def _where(series: pd.Series, at: dict[str, str]) -> pd.Series:
    """Select the entries whose index levels have the values of `at`."""
    for name, value in at.items():
        series = series[series.index.get_level_values(name) == value]
    return series


def _mean_and_error(values: pd.Series) -> tuple[float, float]:
    """Mean without NaN, and its standard error."""
    values = values.dropna()
    if len(values) == 0:
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
