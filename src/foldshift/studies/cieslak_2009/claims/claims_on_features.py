"""Judge the claims of Cieslak and Chawla (2009) about features: KS, phi and Hellinger, Tables 2 to 6, Figures 13 to 17."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.core.counting import add_up
from foldshift.reporting.claims_ledger import Judged, by_error
from foldshift.studies.cieslak_2009.claims.claim_verdicts import (
    EXCEPTIONS,
    above_nearest,
    alike,
    all_or_part,
    are_named,
    below,
    by_condition,
    contrast,
    grows_with_distance,
    means,
    of_paper,
    order,
    own_shares,
)
from foldshift.studies.cieslak_2009.shift_conditions import BASE, BIAS, PRIORS, TRANSLATION

if TYPE_CHECKING:
    from foldshift.reporting.claims_ledger import Verdict
    from foldshift.studies.cieslak_2009.claims.claim_verdicts import Tables, Verdicts

MCAR, MOVED = BIAS[:2], BIAS[2:]
NATURAL = ("Page", "Segment")  # data sets that the paper says are biased; its Compustat is not public
SMALL_RISE = ("Oil", "Satimage", "Segment")
HARDLY, SAME, AT_LIMIT, DIGITS = 0.02, 0.01, 0.02, 0.0005  # shares of the features; half a unit of print
MANY, LITTLE, LEVEL = 0.3, 0.1, 0.05  # the paper's limit for failing features and for phi; a small share; level of a test


def judged(tables: Tables) -> Verdicts:
    """Judge the claims about features by id."""
    return {
        **_worked_examples(tables.examples),
        **_table2(by_condition(_paper(tables.ks), "value", "ours")),
        "natural_bias": _natural_bias(_paper(tables.ks)),
        **_table3(by_condition(_paper(tables.phi), "value", "ours")),
        **_table4(_paper(tables.moved), by_condition(_paper(tables.ks), "value", "ours")),
        **_by_prior(tables),
        **_distance(tables),
        **_skewness(tables.skew),
        **_power(tables.power),
    }


def _paper(table: pd.DataFrame) -> pd.DataFrame:
    """Rows by the paper's formula, of data sets of the run."""
    return table[(table["formula"] == "paper") & table["ours"].notna()]


def _worked_examples(examples: pd.DataFrame) -> Verdicts:
    """Judge the worked examples: by the paper's formula as printed, or not."""
    out = {}
    for name, quantity in (("largest_hellinger", "Hellinger distance"), ("example_ks", "D")):
        row = examples[examples["quantity"] == quantity].iloc[0]
        same = bool(np.isclose(row["printed"], row["paper"]) and np.isclose(row["printed"], row["corrected"]))
        out[name] = Judged("holds" if same else "does not hold", float(row["corrected"]))
    return out


def _table2(share: pd.DataFrame) -> Verdicts:
    """Judge the claims about features that fail when rows are removed."""
    biased = are_named(share.index, NATURAL)
    base = means(share, BASE)
    many = (share.reindex(columns=[*MOVED]) > MANY).where(share.reindex(columns=[*MOVED]).notna()).mean(axis=1)
    return {
        "mcar_reduces": order((base - means(share, "MCAR50"))[biased]),
        "mcar_hardly_raises": below((means(share, "MCAR50") - base)[~biased], HARDLY),
        "mar_raises": order(means(share, *MOVED) - base),
        "thirty_per_cent": order(many - 0.5),
        "harder_bias": order(means(share, "MAR50", "MNAR50") - means(share, "MAR25", "MNAR25")),
    }


def _natural_bias(table: pd.DataFrame) -> Judged:
    """Judge whether more features fail without any shift where the paper sees bias, by the errors over splits."""
    base = table[(table["condition"] == BASE)].dropna(subset=["value", "standard_error"])
    biased = are_named(base["ours"], NATURAL)
    if biased.all() or not biased.any():
        return Judged("cannot be seen here", remark="fewer than one data set of a kind")
    means_of, variances = ([part[name] for part in (base[biased], base[~biased])] for name in ("value", "standard_error"))
    error = np.sqrt(add_up((one**2).sum() / len(one) ** 2 for one in variances))
    return by_error(
        float(means_of[0].mean() - means_of[1].mean()), float(error), f"{biased.sum()} and {(~biased).sum()} data sets"
    )


def _table3(phi: pd.DataFrame) -> Verdicts:
    """Judge the claims about features that fail together."""
    mammography = phi[are_named(phi.index, ("Mammography",))].reindex(columns=[*MOVED])
    zero = (mammography.abs() < DIGITS).stack()
    largest = float(mammography.max(axis=None)) if mammography.size else np.nan
    return {
        "phi_low_at_mcar": below(means(phi, *MCAR), MANY),
        "phi_spikes": order(means(phi, *MOVED) - means(phi, *MCAR)),
        "phi_strong": order(means(phi, *MOVED) - MANY),
        "mammography_zero": all_or_part(zero, "conditions")._replace(effect=largest),
    }


def _table4(table: pd.DataFrame, share: pd.DataFrame) -> Verdicts:
    """Judge the claims about one feature moved."""
    moved, limit = (by_condition(table, value, "ours").reindex(columns=[*TRANSLATION]) for value in ("value", "limit"))
    return {
        "same_for_all_moves": alike(moved.max(axis=1) - moved.min(axis=1), SAME),
        "one_more_feature": alike((moved - limit).mean(axis=1), AT_LIMIT),
        "ks_sees_small_moves": order(means(moved, TRANSLATION[0]) - means(share, BASE)),
    }


def _by_prior(tables: Tables) -> Verdicts:
    """Judge the claims about the share of positive rows, Figures 13, 14 and 17."""
    shares = own_shares(tables)
    parts = {
        name: by_condition(tables.prior[tables.prior["part"] == name], "value") for name in ("paper", "positive", "negative")
    }
    fails, change = parts["paper"], by_condition(tables.hellinger, "change")
    grows = grows_with_distance(fails, shares)
    excepted = are_named(grows.index, EXCEPTIONS)
    within = means(parts["negative"], *PRIORS) - means(parts["positive"], *PRIORS)
    class_driven = within[are_named(within.index, EXCEPTIONS)]
    return {
        "ks_least_near_own_share": order(above_nearest(fails, shares)),
        "ks_grows_with_distance": order(grows),
        "ks_exceptions": contrast(grows[~excepted], grows[excepted]) if excepted.any() else Judged("cannot be seen here"),
        "class_driven": order(class_driven - LITTLE)._replace(effect=float(class_driven.mean())),
        "hellinger_least_near_own_share": order(above_nearest(change, shares)),
        "hellinger_grows_with_distance": order(grows_with_distance(change, shares)),
    }


def _distance(tables: Tables) -> Verdicts:
    """Judge the claims about the Hellinger distance under bias and translation, Figures 15 and 16."""
    distance, change = (by_condition(tables.hellinger, name) for name in ("distance", "change"))
    steps = [means(distance, f"{name}25", f"{name}50") for name in ("MCAR", "MNAR", "MAR")]
    both = [order(second - first) for first, second in pairwise(steps)]
    small = are_named(change.index, SMALL_RISE)
    at_most, moves = means(change, TRANSLATION[-1]), change.reindex(columns=[*TRANSLATION]).dropna()
    degree = means(change, "MAR50") - means(change, "MAR25") - (at_most - means(change, TRANSLATION[0]))
    return {
        "hellinger_low_at_mcar": order(means(change, *MOVED) - means(change, *MCAR)),
        "hellinger_order": min(both, key=lambda one: one.effect),
        "hellinger_rises_when_moved": order(means(change, TRANSLATION[0])),
        "degree_matters_little": order(degree),
        "small_when_moved": contrast(at_most[~small], at_most[small]) if small.any() else Judged("cannot be seen here"),
        "hellinger_shows_degree": all_or_part(of_paper((moves.diff(axis=1).iloc[:, 1:] > 0).all(axis=1))),
    }


def _skewness(table: pd.DataFrame) -> Verdicts:
    """Judge the claims about Table 6."""
    part = table[(table["formula"] == "skew") & table["ours"].notna()]
    skew = by_condition(part, "value", "ours").reindex(columns=[*BIAS]).mean(axis=1)
    oil = part[are_named(part["ours"], ("Oil",))]
    oil = oil[oil["condition"].isin(BIAS)].dropna(subset=["value"])
    others = skew[~are_named(skew.index, ("Oil",))]
    out = {"skew_negative": order(-skew), "negative_means_below": Judged("does not hold", remark="the median is above the mean")}
    if len(oil):
        positive, negative = oil["value"] > 2 * oil["standard_error"], oil["value"] < -2 * oil["standard_error"]
        verdict: Verdict = (
            "holds" if positive.all() and others.mean() < 0 else "does not hold" if negative.any() else "holds in part"
        )
        words = (
            f"above 0 by two errors in {int(positive.sum())} of {len(oil)} conditions; mean of the others {others.mean():+.2f}"
        )
        out["oil_skewed_otherwise"] = Judged(verdict, float(oil["value"].mean() - others.mean()), remark=words)
    return out


def _power(power: pd.DataFrame) -> Verdicts:
    """Judge the claims about which test sees which shift."""
    rates = {}
    for row in power.itertuples():  # "common" comes after "all": cells in which every detector was run
        rates[row.detector, row.condition] = row.rate, row.se_datasets, row.n_datasets
    none = (np.nan, np.nan, 0)

    def less(first: tuple[str, str], second: tuple[str, str] | float) -> Judged:
        """Judge that one rate is above another, or above a number."""
        rate, error, n = rates.get(first, none)
        other, other_error, _ = rates.get(second, none) if isinstance(second, tuple) else (second, 0.0, 0)
        found = by_error(rate - other, float(np.hypot(error, other_error)), f"{n} data sets, rate {rate:.2f}")
        return found if n > 2 else Judged("cannot be seen here", found.effect, found.standard_error, f"{n} data sets")

    ks, distance = "ks_any_holm", "hellinger"
    return {
        "ks_sees_priors": less((ks, "P70"), LEVEL),
        "hellinger_sees_priors": less((distance, "P70"), 0.5),
        "ks_better_when_moved": less((ks, "CS100"), (ks, "P50")),
        "hellinger_better_for_priors": less((distance, "P50"), (distance, "CS100")),
    }
