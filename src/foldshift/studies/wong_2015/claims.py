"""Judge every claim of the paper from the tables of the study; the sentences stand in ``printed/claims.csv``."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from foldshift.core.counting import add_up
from foldshift.reporting.claims_ledger import N_ERRORS, Judged, by_error, claims_ledger
from foldshift.studies.wong_2015.accuracy_rows import LEAVE_ONE_OUT
from foldshift.studies.wong_2015.cut_tables import cut_sizes
from foldshift.studies.wong_2015.measures.schemes import INDEPENDENT, PAIRS
from foldshift.studies.wong_2015.section_rows import ALL
from foldshift.studies.wong_2015.worked_examples import TEXTBOOKS, as_printed, worked_examples

if TYPE_CHECKING:
    from foldshift.core.types import Inputs
    from foldshift.reporting.claims_ledger import Verdict
    from foldshift.reporting.items import TableResult

Verdicts = dict[str, Judged]
BY_CHANCE = 0.05  # share of right numbers beyond two errors
SMALL_VARIANCE = 0.01  # a share that one more row in a hundred is worth
# By id: example, and the items that must agree with print by the formula named.
EXAMPLES = {
    "forty_rows": ("Section 2", ("p = 0.9, n = 40",)),
    "right_of_fifty": ("Section 2", ("42 right of 50", "47 right of 50")),
    "way_1": ("Section 4.3.2", ("fold of u = 0.26", "scheme 1, sum of 38, 41, 44, 37, 43")),
    "way_2": ("Section 4.3.2", ("scheme 2, sizes",)),
    "way_3": ("Section 4.3.2", ("scheme 3, sizes",)),
    "example_1_means": ("Example 1", ("mean, data set", "mean, folds")),
    "example_1_dataset": ("Example 1", ("variance, data set", "standard error, data set")),
    "example_1_folds": ("Example 1", ("variance, folds", "standard error, folds")),
    "example_2_z": ("Example 2", ("z, independent",)),
    "example_2_frequencies": ("Example 2", ("frequencies of -1, 0, +1",)),
    "example_2_t": ("Example 2", ("t, matched",)),
}
# By id: claim and quantity of the table of claims, where the claim gives the quantity one value in every setting.
UNIVERSAL = {
    "rows_independent": ("fold_independence", "gamma_share"),
    "proposition_1": ("fold_independence", "sigma_share"),
    "theorem_1_normal": ("fold_independence", "coverage_within"),
    "theorem_2": ("scheme_independence", "coverage_folds"),
    "representations": ("scheme_independence", "phi"),
    "drop_folds": ("dropping_bias", "bias"),
    "repetition_useless": ("repetition", "variance_ratio"),
}
# By id: reason that no run of the study can judge the claim.
NOT_MEASURED = {
    "training_optimistic": "training rows are not scored",
    "bias_five_ten": "foldshift_2026 measures it: tables/by_folds",
    "simple_competitive": "all classifiers here are simple; moreno_torres_2012 has others: tables/table3_auc",
    "loo_independent": "models are simulated with ten rows in a fold or more",
    "random_splits_unbiased": "there are no random splits",
    "random_splits_dependent": "there are no random splits",
    "z_more_precise": "the tables have no t over independent folds",
    "fold_level_stability": "which classifier is more stable is not known",
}


def ledger(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of claims from the tables that the run has."""
    names = ("claims", "schemes", "three_ways", "intervals", "repetitions", "audit_by_partitioner")
    tables = {name: pd.read_csv(path) for name in names if (path := getattr(inputs, name))}
    return {"claims_ledger": claims_ledger(inputs.sentences, judge_claims(tables, settings["level"]))}


def judge_claims(tables: dict[str, pd.DataFrame], level: float) -> Verdicts:
    """Judge what the tables can show, by name of table; the paper's examples and exact numbers need none."""
    found = {name: Judged("cannot be seen here", remark=reason) for name, reason in NOT_MEASURED.items()}
    found |= examples() | books() | exact()
    by_table = {
        "claims": lambda table: simulated(table) | of_two_classifiers(table, level) | exact_binomial(table, level),
        "schemes": of_schemes,
        "three_ways": of_three_ways,
        "intervals": of_intervals,
        "repetitions": of_repetitions,
        "audit_by_partitioner": of_audit,
    }
    for name, judge in by_table.items():
        if name in tables and len(tables[name]):
            found |= judge(tables[name])
    return found


def claimed_zero(effect: float, standard_error: float, remark: str = "") -> Judged:
    """Judge an effect that a claim says is 0: refuted beyond two errors, and otherwise not seen."""
    if np.isfinite(standard_error) and abs(effect) > N_ERRORS * standard_error:
        return Judged("does not hold", effect, standard_error, remark)
    return Judged("cannot be seen here", effect, standard_error, remark)


def decided(is_true: bool, effect: float, standard_error: float = np.nan, remark: str = "") -> Judged:
    """Judge a claim that exact numbers decide."""
    return Judged("holds" if is_true else "does not hold", float(effect), standard_error, remark)


def over_units(values: pd.Series) -> tuple[float, float]:
    """Mean over data sets or populations, and its standard error over them; NaN for fewer than two."""
    values = values.dropna()
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def joint(part: pd.DataFrame) -> tuple[float, float]:
    """Mean of independent quantities, and the Monte Carlo error of the mean."""
    return float(part["value"].mean()), float(np.sqrt((part["standard_error"] ** 2).sum()) / len(part))


# The paper's own numbers


def examples() -> Verdicts:
    """Judge the worked examples: whether the corrected numbers, and those of the printed formula, are the printed ones."""
    rows = {(row.example, row.item): row for row in worked_examples()}
    found = {}
    for name, (example, items) in EXAMPLES.items():
        chosen = [rows[example, item] for item in items]
        right = [as_printed(row.printed, row.corrected) for row in chosen]
        both = [is_right and as_printed(row.printed, row.paper) for row, is_right in zip(chosen, right)]
        verdict: Verdict = "holds" if all(both) else "holds in part" if any(right) else "does not hold"
        remark = "" if all(both) else "; ".join(dict.fromkeys(row.note for row in chosen if row.note))
        value = chosen[0].corrected
        found[name] = Judged(verdict, value if isinstance(value, float) else np.nan, np.nan, remark)
    return found


def books() -> Verdicts:
    """Judge what Table 1 says of the textbooks."""
    factors = [(book.folds, book.fold_size, book.averaging, book.repetition) for book in TEXTBOOKS]
    same = sum(a == b for a, b in combinations(factors, 2))
    say = sum(book.leave_one_out != "-" for book in TEXTBOOKS)
    return {name: decided(not n, float(n)) for name, n in (("books_disagree", same), ("books_no_inference", say))}


def exact() -> Verdicts:
    """Judge what needs no data: what unequal folds cost independent rows, and what is so by construction."""
    variance = cut_sizes().set_index(["rows", "way"])["variance"]
    small, large = (float(variance[n, 1] - variance[n, 3]) for n in (203, 2003))
    ordered = variance[203, 3] < variance[203, 2] < variance[203, 1]
    return {
        "levels_agree": Judged(
            "holds", 0.0, np.nan, "the same number where folds are of one size; Theorem 1 says of which distribution"
        ),
        "loo_constant": Judged("holds", 0.0, np.nan, "there is one partition only"),
        "more_folds_cost": Judged("holds", remark="a fit per fold; classifiers that share work between fits lose less"),
        "kfold_cheaper": Judged("holds", remark="a fit per row; nearest neighbours and others share the work"),
        "equal_sizes": decided(ordered, small, np.nan, "exact; a small gain"),
        "many_rows": decided(large < SMALL_VARIANCE, large, np.nan, "exact"),
    }


# Simulated models


def simulated(table: pd.DataFrame) -> Verdicts:
    """Judge claims that give one value in every setting, and those on folds, repetitions and partitions."""
    found = {}
    for name, (claim, quantity) in UNIVERSAL.items():
        part = table[(table["claim"] == claim) & (table["quantity"] == quantity) & (table["standard_error"] > 0)]
        if not len(part):
            continue
        refuted = int((part["verdict"] == "refuted").sum())
        effect, error = joint(part.assign(value=part["value"] - part["claimed"]))
        verdict: Verdict = "does not hold" if refuted else "cannot be seen here"
        found[name] = Judged(verdict, effect, error, f"refuted in {refuted} of {len(part)} settings")
    rho, same = (_rows(table, *key) for key in (("repetition", "rho"), ("partition_independence", "phi")))
    for name, part in (("repetition_correlated", rho), ("training_sets", same)):
        if len(part):
            found[name] = by_error(*joint(part))
    return found | _of_folds(table)


def _of_folds(table: pd.DataFrame) -> Verdicts:
    """Judge claims that compare settings or intervals of the same simulated folds."""
    found = {}
    shares = _rows(table, "fold_independence", "sigma_share").set_index(["model", "n_folds", "n_points"])
    ten, five = (shares.xs(setting, level=("n_folds", "n_points")) for setting in ((10, 10), (5, 20)))
    gaps = pd.DataFrame(
        {"value": ten["value"] - five["value"], "standard_error": np.hypot(ten["standard_error"], five["standard_error"])}
    ).dropna()
    if len(gaps):
        apart = int((gaps["value"].abs() > N_ERRORS * gaps["standard_error"]).sum())
        verdict: Verdict = "does not hold" if apart else "cannot be seen here"
        clearest = int((gaps["value"].abs() / gaps["standard_error"]).argmax())
        effect, error = (float(gaps[name].iloc[clearest]) for name in ("value", "standard_error"))
        found["any_k"] = Judged(verdict, effect, error, f"differs on {apart} of {len(gaps)} models; the clearest is shown")
    gamma = _rows(table, "fold_independence", "gamma_share")
    if len(gamma):
        ratio = gamma["n_folds"] * (
            1 - gamma["value"]
        )  # as the variance of one fold is that of all, less the pairs between folds
        least = ratio.idxmin()
        single = float(gamma["n_folds"][least] * gamma["standard_error"][least])
        found["one_split_varies"] = by_error(float(ratio[least]) - 1, single, "the least of all settings; a split of one fold")
    return found


def of_two_classifiers(table: pd.DataFrame, level: float) -> Verdicts:
    """Judge Theorems 3 and 4 from two classifiers on the same folds."""
    by_quantity = {name: _rows(table, "scheme_independence", name) for name in ("phi", "independent_ratio")}
    covered = {name: _rows(table, "scheme_independence", f"coverage_{name}") for name in ("independent", "matched")}
    found = {}
    if len(phi := by_quantity["phi"]):
        found["theorem_4_products"] = claimed_zero(*joint(phi))
    if len(ratio := by_quantity["independent_ratio"]):
        found["theorem_3"] = claimed_zero(*joint(ratio.assign(value=ratio["value"] - 1)), "both omissions together")
    if len(matched := covered["matched"]):
        gaps = {name: part.set_index("model")["value"] - level for name, part in covered.items()}
        found["theorem_4_normal"] = claimed_zero(*joint(matched.assign(value=matched["value"] - level)))
        better = gaps["independent"].abs() - gaps["matched"].abs()
        error = float(np.hypot(joint(covered["independent"])[1], joint(matched)[1]))
        remark = "the independent variance is too small by less, as one omission hides part of the other"
        found["matched_better"] = by_error(float(better.mean()), error, remark if better.mean() < 0 else "")
    return found


def exact_binomial(table: pd.DataFrame, level: float) -> Verdicts:
    """Judge the rule of five from exact binomial numbers."""
    part = table[table["claim"] == "large_sample"]
    if not len(part):
        return {}
    cells = part.set_index(["quantity", "model", "n_points"]).sort_index()
    counted = table.loc[table["quantity"] == "counted_variance", "value"].min() - 1
    gap, kept = cells.loc["coverage_normal", "value"] - level, cells.loc["fold_kept", "value"]
    meets = gap.drop(index=[("binomial, p = 0.9", 40), ("binomial, p = 0.99", 200)])
    usual = float(kept["binomial, p = 0.5", 20])
    fails = 1 - float(kept["binomial, p = 0.99", 200])
    thirty = float(gap["binomial, p = 0.5", 30])
    return {
        "rule_of_five": decided(meets.min() >= -SMALL_VARIANCE, float(meets.min()), np.nan, "exact; the worst of the cases"),
        "dropping_variance": decided(counted > 0, counted, np.nan, "exact; the least of the cases"),
        "thirty_rows": decided(abs(thirty) < SMALL_VARIANCE, thirty, np.nan, "exact"),
        "twenty_rows": decided(usual > 0.5, usual, np.nan, "exact"),
        "two_hundred_rows": decided(fails > 0, fails, np.nan, "exact"),
    }


def _rows(table: pd.DataFrame, claim: str, quantity: str) -> pd.DataFrame:
    return table[(table["claim"] == claim) & (table["quantity"] == quantity) & table["value"].notna()]


# Samples of populations


def of_schemes(table: pd.DataFrame) -> Verdicts:
    """Judge pairs of schemes: phi is 0 in every population if they are independent, and above 0 if they are not."""
    found = {}
    phi = table[table["quantity"] == "phi"].set_index(["pair", "population"])[["value", "standard_error"]]
    for pair in PAIRS:
        if pair.name not in phi.index.get_level_values("pair"):
            continue
        single = phi.loc[pair.name].drop(index=ALL)
        effect, error = phi.loc[(pair.name, ALL)]
        apart = int((single["value"].abs() > 3 * single["standard_error"]).sum())
        least, largest = single["value"].min(), single["value"].max()
        remark = f"phi from {least:.2f} to {largest:.2f}; not 0 in {apart} of {len(single)} populations"
        if pair.paper == INDEPENDENT:
            found[pair.name] = Judged("does not hold" if apart else "cannot be seen here", effect, error, remark)
        else:
            found[pair.name] = by_error(effect, error, remark)
    return found


def of_three_ways(table: pd.DataFrame) -> Verdicts:
    """Judge the three ways by what they move beyond chance, and by the variance of the accuracy; mean over learners."""
    means = table[table["population"] == ALL].set_index(["quantity", "way", "learner"])[["value", "standard_error"]].sort_index()

    def of(quantity: str, *ways: str) -> tuple[float, float]:
        chosen = pd.concat([means.loc[quantity, way] for way in ways])
        return float(chosen["value"].mean()), float(chosen["standard_error"].mean())  # learners share the samples

    (moved, error), (chance, chance_error) = of("moved", "1", "2"), of("moved", "3 again")
    extra = by_error(moved - chance, float(np.hypot(error, chance_error)))
    differ: Verdict = (
        "cannot be seen here" if moved <= N_ERRORS * error else "holds" if extra.verdict == "holds" else "holds in part"
    )
    remark = "" if differ == "holds" else "they differ, but two cuts in the third way differ as much"
    ratio, ratio_error = of("variance_ratio", "1", "2")
    return {
        "ways_differ": extra._replace(verdict=differ, remark=remark),
        "third_way_best": by_error(ratio - 1, ratio_error, "exact numbers say that the gain is small"),
    }


def of_audit(table: pd.DataFrame) -> Verdicts:
    """Judge the bias of the estimate, stratified folds, against the error of the model of the whole sample."""
    part = table[(table["task"] == "classification") & (table["partitioner"] == "SCV") & (table["target"] == "whole sample")]
    if not len(part):
        return {}
    row = part.iloc[0]
    remark = f"of the error; {int(row['n_populations'])} populations, stratified folds"
    return {"theorem_1_mean": claimed_zero(row["bias"], row["bias_error"], remark)}


# Data sets


def of_intervals(table: pd.DataFrame) -> Verdicts:
    """Judge claims on the number of folds over data sets; of each the mean over classifiers."""
    folds = sorted(set(table["k"]) - {LEAVE_ONE_OUT})
    found = {}

    def by_dataset(column: str, k: int) -> pd.Series:
        part = table[table["k"] == k]
        return part.set_index(["dataset", "learner"])[column]

    def gap(a: pd.Series, b: pd.Series) -> tuple[float, float]:
        return over_units((a - b).dropna().groupby("dataset").mean())

    if len(folds) > 1:
        few, most = folds[0], folds[-1]
        shares = (by_dataset("n_small", k) / k for k in (most, few))
        found["more_folds_fail"] = by_error(*gap(*shares), f"{most} folds less {few}")
    if folds and LEAVE_ONE_OUT in set(table["k"]):
        alone = gap(by_dataset("accuracy", LEAVE_ONE_OUT), by_dataset("repeated_accuracy", folds[-1]))
        found["loo_same_distribution"] = claimed_zero(*alone, f"less {folds[-1]} folds")
    return found


def of_repetitions(table: pd.DataFrame) -> Verdicts:
    """Judge whether partitions of the same data differ, and whether the number of folds moves the estimate of a data set."""
    variance = table["partition_variance"].dropna()
    if not len(variance):
        return {}
    differ = int((variance > 0).sum())
    verdict: Verdict = "holds" if differ == len(variance) else "holds in part" if differ else "does not hold"
    text = f"{differ} of {len(variance)} classifiers and numbers of folds; standard deviation shown"
    found = {"not_constant": Judged(verdict, float(np.sqrt(variance).mean()), np.nan, text)}
    by_k = table.set_index(["dataset", "learner", "k"])[["mean", "partition_variance", "n_repetitions"]].unstack("k").dropna()
    few, most = table["k"].min(), table["k"].max()
    if most > few and len(by_k):
        gap = (by_k["mean", most] - by_k["mean", few]).abs()
        error = np.sqrt(add_up(by_k["partition_variance", k] / by_k["n_repetitions", k] for k in (few, most)))
        moved = int((gap > N_ERRORS * error).sum())
        p = binomtest(moved, len(gap), BY_CHANCE, alternative="greater").pvalue
        text = f"{moved} of {len(gap)} beyond two errors, {BY_CHANCE * len(gap):.0f} by chance"
        found["factors_matter"] = Judged("holds" if p < BY_CHANCE else "cannot be seen here", float(gap.mean()), np.nan, text)
    return found
