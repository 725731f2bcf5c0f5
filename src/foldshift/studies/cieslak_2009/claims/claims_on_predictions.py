"""Judge the claims of Cieslak and Chawla (2009) about learners: Friedman's test and Kruskal-Wallis, Figures 6 to 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.inference.comparisons.ranks import friedman
from foldshift.reporting.claims_ledger import Judged
from foldshift.studies.cieslak_2009.claims.claim_verdicts import (
    EXCEPTIONS,
    alike,
    all_or_part,
    any_of,
    below,
    correlated,
    means,
    named,
    nearest_condition,
    of_paper,
    order,
    own_shares,
)
from foldshift.studies.cieslak_2009.shift_conditions import BASE, BIAS, PRIORS, TRANSLATION

if TYPE_CHECKING:
    from foldshift.studies.cieslak_2009.claims.claim_verdicts import Tables, Verdicts

UNMOVED, MOVED = (BASE, *BIAS[:2]), BIAS[2:]
LOW, HIGH = PRIORS[:3], ("P50", "P60", "P70")
STEADY, OTHERS = ("PET", "5NN"), ("NB", "LSVM")
ZERO, CONFIDENT, LEVEL, ALIKE = 0.01, 0.15, 0.05, 0.1  # of p: about 0; 85 %; the paper's level; a small difference


def judged(tables: Tables) -> Verdicts:
    """Judge the claims about learners by id."""
    by_friedman, by_kruskal = (p_by_learner(tables.p_values, test) for test in ("friedman", "kruskal"))
    return {
        **_under_bias(by_friedman, by_kruskal),
        **_when_moved(by_friedman, by_kruskal, tables),
        **_of_priors(by_friedman, by_kruskal, tables),
    }


def p_by_learner(p_values: pd.DataFrame, test: str, value: str = "mean_p") -> pd.DataFrame:
    """Mean p of a test: a row per data set and learner, a column per condition."""
    part = p_values[p_values["test"] == test]
    return part.pivot_table(value, ["dataset", "learner"], "condition", aggfunc="first", observed=True)


def falls(wide: pd.DataFrame, before: tuple[str, ...], after: tuple[str, ...]) -> pd.Series:
    """Mean p under some conditions less that under others, by data set, mean over learners."""
    return _by_dataset(means(wide, *before) - means(wide, *after))


def _under_bias(by_friedman: pd.DataFrame, by_kruskal: pd.DataFrame) -> Verdicts:
    """Judge the claims about rows removed."""
    at_most = by_friedman.reindex(columns=[*MOVED]).min(axis=1).groupby(level="dataset").min()
    of_learner = _by_learner(by_friedman, MOVED)
    steadier = of_learner.reindex(columns=[*STEADY]).mean(axis=1, skipna=False)
    return {
        "friedman_falls_with_bias": order(falls(by_friedman, UNMOVED, ("MAR50", "MNAR50"))),
        "friedman_falls_with_degree": order(falls(by_friedman, ("MAR25", "MNAR25"), ("MAR50", "MNAR50"))),
        "trees_and_neighbours_steadier": order(steadier - of_learner.reindex(columns=[*OTHERS]).mean(axis=1, skipna=False)),
        "some_fail_completely": any_of(of_paper(at_most.dropna() < ZERO)),
        "all_fail_at_mnar50": _all_fail(by_friedman),
        "kruskal_alike_at_mcar": alike(falls(by_kruskal, (BASE,), BIAS[:2]), ALIKE),
        "kruskal_differs_at_mar": order(falls(by_kruskal, UNMOVED, MOVED)),
        "kruskal_falls_with_degree": order(falls(by_kruskal, ("MAR25", "MNAR25"), ("MAR50", "MNAR50"))),
        "kruskal_and_friedman": correlated(_pairs(by_friedman, by_kruskal, (BASE, *BIAS))),
    }


def _all_fail(by_friedman: pd.DataFrame) -> Judged:
    """Judge whether all fail at MNAR50, and say how many do without any shift."""
    found = all_or_part(of_paper(means(by_friedman, "MNAR50").dropna() < CONFIDENT), "data sets and learners")
    without = of_paper(means(by_friedman, BASE).dropna() < CONFIDENT)
    return found._replace(remark=f"{found.remark}; without any shift {int(without.sum())}")


def _when_moved(by_friedman: pd.DataFrame, by_kruskal: pd.DataFrame, tables: Tables) -> Verdicts:
    """Judge the claims about one feature moved."""
    of_learner = _by_learner(by_friedman, TRANSLATION)
    rest = of_learner.drop(columns="LSVM", errors="ignore")
    next_best = rest[rest.mean().idxmax()] if rest.size and rest.notna().any(axis=None) else pd.Series(dtype=float)
    bayes = by_friedman[by_friedman.index.get_level_values("learner") == "NB"].droplevel("learner")
    some = by_friedman[by_friedman.index.get_level_values("learner").isin(OTHERS)].reindex(columns=[*TRANSLATION])
    rejections = p_by_learner(tables.p_values, "friedman", "rejection_rate")
    without = _by_dataset(means(rejections, BASE)).mean()
    return {
        "friedman_falls_with_move": order(falls(by_friedman, TRANSLATION[:1], TRANSLATION[-1:])),
        "svm_most_resilient": order(of_learner.reindex(columns=["LSVM"])["LSVM"] - next_best),
        "nb_well_on_some": any_of(of_paper(bayes.reindex(columns=[*TRANSLATION[:2]]).max(axis=1).dropna() > LEVEL)),
        "some_resilient": any_of(of_paper((some.max(axis=1).dropna() > LEVEL).groupby(level="dataset").any())),
        "fail_when_moved": order(_by_dataset(means(rejections, *TRANSLATION)) - 0.5, f"without any shift {without:.2f} reject"),
        "kruskal_falls_with_move": order(falls(by_kruskal, TRANSLATION[:1], TRANSLATION[-1:])),
        "learners_differ_when_moved": _learners_differ(_by_learner(by_kruskal, TRANSLATION)),
    }


def _of_priors(by_friedman: pd.DataFrame, by_kruskal: pd.DataFrame, tables: Tables) -> Verdicts:
    """Judge the claims about shares of the classes."""
    shares = own_shares(tables)
    nearest = pd.Series({name: nearest_condition(share) in LOW for name, share in shares.items()}, dtype=bool)
    worst = tables.sensitivity[tables.sensitivity["dataset"] != "all"].dropna(subset=["worst"]).set_index("dataset")
    by_dataset = by_friedman.groupby(level="dataset").mean()
    fall = means(by_friedman, *LOW) - means(by_friedman, *HIGH)
    by_learner = [order(part.droplevel("learner")) for _, part in fall.groupby(level="learner")]
    at_nearest = {name: by_dataset.loc[name].get(nearest_condition(shares[name]), np.nan) for name in by_dataset.index}
    return {
        "nearest_shares": all_or_part(of_paper(nearest)),
        "friedman_falls_with_prior": min(by_learner, key=lambda one: one.effect, default=Judged("cannot be seen here")),
        "highest_at_low_shares": order(_step(by_dataset)),
        "accuracy_falls_with_prior": all_or_part(of_paper(worst["worst_condition"].isin(HIGH)), "data sets and learners"),
        "nb_spikes": _spikes(by_friedman),
        "kruskal_low_from_20": below(_by_dataset(means(by_kruskal, *PRIORS[3:])), LEVEL),
        "spikes_correlate": correlated(_pairs(by_friedman, by_kruskal, PRIORS)),
        "kruskal_same_sets": _spikes(by_kruskal),
        "low_shares_conserved": order(pd.Series(at_nearest, dtype=float) - means(by_dataset, "P70")),
    }


def _spikes(wide: pd.DataFrame) -> Judged:
    """Judge where naive Bayes has a p above 0 at large shares: on the data sets that the paper names, and on no other."""
    bayes = wide[wide.index.get_level_values("learner") == "NB"].droplevel("learner")
    highest = bayes.reindex(columns=[*HIGH]).max(axis=1).dropna()
    if not any(named(name, EXCEPTIONS) for name in highest.index):
        return Judged("cannot be seen here", remark="none of the data sets named")
    found = pd.Series({name: bool(p > ZERO) == named(name, EXCEPTIONS) for name, p in highest.items()}, dtype=bool)
    return all_or_part(found)._replace(remark=f"above 0 on {any_of(highest > ZERO).remark}")


def _step(by_dataset: pd.DataFrame) -> pd.Series:
    """Mean p at the lowest of P2, P5 and P10 less that at the highest of the other shares, chosen by the means."""
    low, rest = (by_dataset.reindex(columns=[*names]) for names in (LOW, PRIORS[3:]))
    if low.isna().all(axis=None) or rest.isna().all(axis=None):
        return pd.Series(dtype=float)
    return low[low.mean().idxmin()] - rest[rest.mean().idxmax()]


def _learners_differ(of_learner: pd.DataFrame) -> Judged:
    """Judge by Friedman's test over data sets whether learners differ."""
    known = of_learner.dropna()
    if min(known.shape) < 2:
        return Judged("cannot be seen here", remark=f"{len(known)} data sets")
    p = friedman(known.to_numpy(), larger_is_better=True).p_chi2
    return Judged("holds" if p < LEVEL else "cannot be seen here", p, remark=f"{len(known)} data sets")


def _by_learner(wide: pd.DataFrame, conditions: tuple[str, ...]) -> pd.DataFrame:
    """Mean over conditions: a row per data set, a column per learner."""
    return means(wide, *conditions).unstack("learner")


def _by_dataset(values: pd.Series) -> pd.Series:
    """Mean over learners by data set."""
    return values.groupby(level="dataset").mean()


def _pairs(by_friedman: pd.DataFrame, by_kruskal: pd.DataFrame, conditions: tuple[str, ...]) -> pd.DataFrame:
    """Mean p of both tests under some conditions, a row per data set, learner and condition."""
    both = {"friedman": by_friedman, "kruskal": by_kruskal}
    parts = [pd.DataFrame({name: wide.get(one) for name, wide in both.items()}) for one in conditions if one in by_friedman]
    names = ["dataset", "learner"]
    return pd.concat(parts) if parts else pd.DataFrame(columns=[*both], index=pd.MultiIndex.from_arrays([[], []], names=names))
