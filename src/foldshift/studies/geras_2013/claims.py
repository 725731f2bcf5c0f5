"""Claims of Geras and Sutton (2013), judged from the tables of a run.

Sizes are the run's: small and large M are its smallest and largest, and M is not small from `NOT_SMALL` on. The verdicts are
those of naive Bayes with data sets drawn as in the paper, where a run has them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.reporting.claims_ledger import HOLDS, N_ERRORS, NOT_SEEN, Judged, by_error, claims_ledger
from foldshift.studies.geras_2013.source_rows import REVIEWS
from foldshift.studies.geras_2013.variance_estimators import ESTIMATORS_OF

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, Inputs
    from foldshift.reporting.items import TableResult

NOT_SMALL = 50  # points per source from which "M is not small"
NEGLIGIBLE = 0.25  # bias over the variance
ORDER = 10.0  # one order of magnitude
FEW_ORDERS = 2.0  # a few orders of magnitude, as log10
CHANCE_BELOW = 0.025  # share of covariances of 0 that are below it by two errors
HALVED = np.log(2)  # a spread that changes by more has changed
TABLES = ("figure2_error", "figure3_spread", "figure4_decomposition", "estimators", "table1_bias", "table2_bias", "proposition1")
Judge = Callable[["Tables"], Judged]


class Tables(NamedTuple):
    """Tables of a run for one learner and one way of drawing, in the order of `TABLES`."""

    error: pd.DataFrame
    spread: pd.DataFrame
    parts: pd.DataFrame
    estimators: pd.DataFrame
    table1: pd.DataFrame
    table2: pd.DataFrame
    chosen: pd.DataFrame

    def terms(self, design: str) -> pd.DataFrame:
        """Decomposition of one design, by M."""
        return self.parts[self.parts["design"] == design].set_index("n_points").sort_index()

    def estimator(self, name: str) -> pd.DataFrame:
        """Rows of an estimator by M: for sources, if it has the same name for random blocks."""
        design = "cvs" if name in ESTIMATORS_OF["cvs"] else "cvr"
        rows = self.estimators[(self.estimators["estimator"] == name) & (self.estimators["design"] == design)]
        return rows.set_index("n_points").sort_index()


def ledger(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the table of claims."""
    frames = [pd.read_csv(getattr(inputs, name)) for name in TABLES]
    table = claims_ledger(inputs.printed, judge_claims(frames))
    return {"claims_ledger": table._replace(words={"kind_of_reviews": REVIEWS[settings["reviews"]]})}


def judge_claims(frames: list[pd.DataFrame]) -> dict[str, Judged]:
    """Judge every claim by id; those that the run's sizes, learners or draws cannot show are left out."""
    by_learner: dict[str, dict[str, Judged]] = {}
    for learner in dict.fromkeys(frames[0]["learner"]):
        of_learner = [one[one["learner"] == learner] for one in frames]
        sampling = "with" if "with" in set(of_learner[0]["sampling"]) else "without"
        tables = Tables(*(one[one["sampling"] == sampling] for one in of_learner))
        by_learner[learner] = {name: judge(tables) for name, judge in JUDGES.items()}
    first = by_learner.get("NB") or next(iter(by_learner.values()), {})
    judged = {name: one for name, one in first.items() if one.verdict != NOT_SEEN or one.remark or np.isfinite(one.effect)}
    if {"NB", "SVM"} <= set(by_learner):
        judged["svm_too"] = same_verdicts(by_learner["NB"], by_learner["SVM"])
    return judged


def same_verdicts(one: dict[str, Judged], other: dict[str, Judged]) -> Judged:
    """Judge whether the claims that hold with one learner hold with the other one."""
    holding = [name for name, found in one.items() if found.verdict == HOLDS]
    seen = [name for name in holding if other[name].verdict != NOT_SEEN]
    if not seen:
        return Judged("cannot be seen here")
    kept = [name for name in seen if other[name].verdict == HOLDS]
    lost = [name for name in seen if name not in kept]
    remark = f"{len(kept)} of {len(seen)}" + (f"; not {', '.join(lost).replace('_', ' ')}" if lost else "")
    in_part = len(kept) > len(lost)
    return Judged("holds" if not lost else "holds in part" if in_part else "does not hold", len(kept) / len(seen), remark=remark)


def over_sizes(effects: ArrayLike, errors: ArrayLike, what: str = "sizes") -> Judged:
    """Judge effects at several sizes: holds if no size is against it by two errors, and half are for it.

    The effect is their mean, with an error as if sizes were independent. A claim that no size is for is refuted by the mean.
    """
    values, noise = np.asarray(effects, dtype=float), np.asarray(errors, dtype=float)
    known = np.isfinite(values) & np.isfinite(noise)
    values, noise = values[known], noise[known]
    if not len(values):
        return Judged("cannot be seen here")
    with_it, against = int((values > N_ERRORS * noise).sum()), int((values < -N_ERRORS * noise).sum())
    effect, error = float(values.mean()), float(np.sqrt((noise**2).sum()) / len(noise))
    remark = f"shown at {with_it} of {len(values)} {what}" + (f", the contrary at {against}" if against else "")
    if not with_it:
        refuted = against and effect < -N_ERRORS * error
        return Judged("does not hold" if refuted else "cannot be seen here", effect, error, remark)
    return Judged("holds" if not against and 2 * with_it >= len(values) else "holds in part", effect, error, remark)


def within(effect: float, error: float, limit: float, remark: str = "") -> Judged:
    """Judge whether a number is nearer to 0 than a limit, with two errors to spare on either side."""
    if not np.isfinite(effect) or not np.isfinite(error) or abs(abs(effect) - limit) <= N_ERRORS * error:
        return Judged("cannot be seen here", effect, error, remark)
    return Judged("holds" if abs(effect) < limit else "does not hold", effect, error, remark)


def at_least(values: ArrayLike, limit: float, remark: str = "") -> Judged:
    """Judge whether all numbers, or some, reach a limit; the effect is the smallest."""
    found = np.asarray(values, dtype=float)
    found = found[np.isfinite(found)]
    if not len(found):
        return Judged("cannot be seen here")
    reach = int((found >= limit).sum())
    remark = remark or f"{reach} of {len(found)} sizes"
    all_reach = reach == len(found)
    return Judged("holds" if all_reach else "holds in part" if reach else "does not hold", float(found.min()), remark=remark)


def _log10(values: pd.Series) -> pd.Series:
    """Decimal logarithm; NaN of what is not above 0."""
    return np.log10(values.where(values > 0))


def _intervals(old: str, new: str) -> Judge:
    """Judge whether the coverage of a new estimator is nearer to .95 than that of an old one."""

    def judge(tables: Tables) -> Judged:
        before, after = tables.estimator(old), tables.estimator(new)
        gains = (before["coverage"] - 0.95).abs() - (after["coverage"] - 0.95).abs()
        return over_sizes(gains, np.hypot(before["se_coverage"], after["se_coverage"]))

    return judge


def _less_biased(names: tuple[str, ...], new: str, table: str, largest: bool = False) -> Judge:
    """Judge whether an estimator is less biased than all of others; at all sizes or the largest."""

    def judge(tables: Tables) -> Judged:
        rows = getattr(tables, table)
        sizes = rows[rows["estimator"].isin([*names, new])].assign(
            size=lambda part: (part["bias"] / part["theta"]).abs(), error=lambda part: part["se_bias"] / part["theta"]
        )
        wide = sizes.pivot_table(index="n_points", columns="estimator", values=["size", "error"])
        if wide.empty:
            return Judged("cannot be seen here")
        best = wide["size"][list(names)].idxmin(axis=1)
        gains = wide["size"][list(names)].min(axis=1) - wide["size"][new]
        old_errors = np.array([wide["error"].loc[size, name] for size, name in best.items()])
        errors = np.hypot(old_errors, wide["error"][new])
        return by_error(float(gains.iloc[-1]), float(errors.iloc[-1])) if largest else over_sizes(gains, errors)

    return judge


def _ratio(name: str, position: int, sign: int = 1) -> Callable[[Tables], tuple[float, float]]:
    """Give the ratio of an estimator less 1, at the smallest (0) or largest (-1) M, and its error."""

    def find(tables: Tables) -> tuple[float, float]:
        rows = tables.estimator(name)
        if rows.empty:
            return np.nan, np.nan
        row = rows.iloc[position]
        return sign * float(row["ratio"] - 1), float(row["se_ratio"])

    return find


def _error_differences(name: str) -> Judge:
    """Judge a difference of Figure 2 at all sizes."""
    return lambda tables: _over_points(tables.error, name)


def _points(table: pd.DataFrame, *names: str) -> list[FloatArray]:
    """Columns of every point once; both axes share one."""
    once = table.drop_duplicates(["n_sources", "n_points"])
    return [once[name].to_numpy(dtype=float) for name in names]


def _over_points(table: pd.DataFrame, name: str) -> Judged:
    """Judge a column with its errors at every point."""
    values, errors = _points(table, name, f"se_{name}")
    return over_sizes(values, errors, "points")


def _cvs_unbiased(tables: Tables) -> Judged:
    found = _over_points(tables.error, "cvs_minus_ose")
    if found.verdict == NOT_SEEN:
        return found
    return found._replace(verdict="does not hold", remark=f"above OSE: {found.remark}")


def _standard_fails(tables: Tables) -> Judged:
    rows = tables.estimator("theta_gamma")
    if len(rows) < 2:
        return Judged("cannot be seen here")
    first, last = rows.iloc[0], rows.iloc[-1]
    return by_error(last["ratio"] - first["ratio"], float(np.hypot(first["se_ratio"], last["se_ratio"])))


def _naive_poor(tables: Tables) -> Judged:
    rows = tables.table1[tables.table1["estimator"].isin(["theta_om_k", "theta_gam_kl"])]
    rows = rows[rows["n_points"] == rows["n_points"].max()]
    if rows.empty:
        return Judged("cannot be seen here")
    return by_error(float((rows["bias"] / rows["theta"]).abs().median() - 1), float((rows["se_bias"] / rows["theta"]).median()))


def _gamma_keeps_bias(tables: Tables) -> Judged:
    rows = tables.table1[tables.table1["estimator"] == "theta_gamma"].sort_values("n_points")
    if rows.empty:
        return Judged("cannot be seen here")
    return by_error(float(rows["bias"].iloc[-1]), float(rows["se_bias"].iloc[-1]))


def _single_above(kind: str) -> Judge:
    """Judge whether the single covariances of sources are above 0: most of them, or at least their mean, by two errors."""

    def judge(tables: Tables) -> Judged:
        rows = tables.terms("cvs").query(f"n_points >= {NOT_SMALL}")
        n = int(rows[f"n_{kind}"].sum())
        if not n:
            return Judged("cannot be seen here")
        above, below = int(rows[f"n_{kind}_above"].sum()), int(rows[f"n_{kind}_below"].sum())
        mean = over_sizes(rows[f"{kind}_term"], rows[f"se_{kind}_term"])
        remark = f"{above} of {n} above 0 by two errors, {below} below; their mean {mean.remark}"
        if below > 2 * CHANCE_BELOW * n:  # more than chance leaves if none is below 0
            return Judged("does not hold" if below > above else "holds in part", above / n, remark=remark)
        if 2 * above > n:
            return Judged("holds", above / n, remark=remark)
        return Judged("holds in part" if mean.verdict == HOLDS else "cannot be seen here", above / n, remark=remark)

    return judge


def _b_terms_cancel(tables: Tables) -> Judged:
    parts, found = tables.terms("cvs"), tables.estimator("theta_B")
    points = parts.index.to_numpy()
    terms = np.stack([parts["sigma_term"], parts["omega_term"] * (points + 1) / (points - 1), parts["gamma_term"]])
    left = (np.abs(terms).min(axis=0) - found["bias"].abs()) / found["theta"]
    return over_sizes(left, found["se_bias"] / found["theta"])


def omega_and_gamma(tables: Tables) -> pd.DataFrame:
    """Give omega and gamma of random blocks with their errors, and their difference with its own, by M."""
    parts = tables.terms("cvr")
    points, K = parts.index.to_numpy(), parts["n_blocks"]
    rows = pd.DataFrame(index=parts.index)
    for name, factor in (("omega", K * points / (points - 1)), ("gamma", K / (K - 1))):
        rows[name], rows[f"se_{name}"] = parts[f"{name}_term"] * factor, parts[f"se_{name}_term"] * factor
    # omega - gamma is the mean of S2 - W/M, that is of theta_5 - theta_3, and S2 has nearly all of the error of theta_5.
    five, three = tables.estimator("theta_5"), tables.estimator("theta_3")
    return rows.assign(difference=five["average"] - three["average"], se_difference=five["se_average"] * K / (K + 1))


def _omega_above_gamma(tables: Tables) -> Judged:
    rows = omega_and_gamma(tables)
    scale = rows["gamma"].abs()
    return over_sizes(rows["difference"] / scale, rows["se_difference"] / scale)


def _similar_magnitude(tables: Tables) -> Judged:
    rows = omega_and_gamma(tables)
    ratio = rows["omega"] / rows["gamma"]
    error = np.sqrt(rows["se_omega"] ** 2 + (ratio * rows["se_gamma"]) ** 2) / rows["gamma"].abs()
    inside = (ratio - N_ERRORS * error > 1 / ORDER) & (ratio + N_ERRORS * error < ORDER)
    outside = (ratio + N_ERRORS * error < 1 / ORDER) | (ratio - N_ERRORS * error > ORDER)
    if ratio.empty:
        return Judged("cannot be seen here")
    last = float(ratio.iloc[-1]), float(error.iloc[-1])
    remark = f"within a factor of ten at {int(inside.sum())} of {len(ratio)} sizes, beyond at {int(outside.sum())}; largest M"
    if outside.any():
        return Judged("holds in part" if inside.any() else "does not hold", *last, remark)
    return Judged("holds" if 2 * inside.sum() >= len(ratio) else "cannot be seen here", *last, remark)


def _five_better(tables: Tables) -> Judged:
    three, five = tables.estimator("theta_3"), tables.estimator("theta_5")
    gains = three["relative_rmse"] - five["relative_rmse"]
    return over_sizes(gains, np.hypot(three["se_relative_rmse"], five["se_relative_rmse"]))


def _cvs_better(tables: Tables) -> Judged:
    cvr, cvr_error, cvs, cvs_error = _points(
        tables.error, "ose_minus_cvr", "se_ose_minus_cvr", "cvs_minus_ose", "se_cvs_minus_ose"
    )
    return over_sizes(np.abs(cvr) - np.abs(cvs), np.hypot(cvr_error, cvs_error), "points")


def _ends(table: pd.DataFrame, name: str) -> list[tuple[float, float, float, float]]:
    """Value and error of a column at the smallest and at the largest size of both axes."""
    out = []
    for axis, size in (("sources", "n_sources"), ("points", "n_points")):
        rows = table[table["axis"] == axis].sort_values(size)
        if len(rows) > 1:
            first, last = rows.iloc[0], rows.iloc[-1]
            out.append((first[name], first[f"se_{name}"], last[name], last[f"se_{name}"]))
    return out


def _cvs_converges(tables: Tables) -> Judged:
    ends = _ends(tables.error, "cvs_minus_ose")
    return over_sizes([one[0] - one[2] for one in ends], [np.hypot(one[1], one[3]) for one in ends], "axes")


def _cvr_elsewhere(tables: Tables) -> Judged:
    ends = _ends(tables.error, "ose_minus_cvr")
    return over_sizes([one[2] for one in ends], [one[3] for one in ends], "axes")


def _cvs_varies_more(tables: Tables) -> Judged:
    difference, error, scale = _points(tables.spread, "cvs_minus_cvr", "se_cvs_minus_cvr", "sd_cvr")
    return over_sizes(difference / scale, error / scale, "points")


def _same_order(tables: Tables) -> Judged:
    cvs, cvs_error, cvr, cvr_error = _points(tables.spread, "sd_cvs", "se_sd_cvs", "sd_cvr", "se_sd_cvr")
    known = (cvs > 0) & (cvr > 0) & np.isfinite(cvs_error) & np.isfinite(cvr_error)
    if not known.any():
        return Judged("cannot be seen here")
    ratios = 2 * np.abs(np.log(cvs[known] / cvr[known]))  # of variances
    errors = 2 * np.hypot(cvs_error[known] / cvs[known], cvr_error[known] / cvr[known])
    most = float(np.exp(ratios.max()))
    if (ratios - N_ERRORS * errors > np.log(ORDER)).any():
        return Judged("does not hold", most)
    return Judged("holds" if (ratios + N_ERRORS * errors < np.log(ORDER)).all() else "cannot be seen here", most)


def _spread_vanishes(tables: Tables) -> Judged:
    rows = tables.spread[tables.spread["axis"] == "points"].sort_values("n_points")
    if len(rows) < 2:
        return Judged("cannot be seen here")
    first, last = rows.iloc[0], rows.iloc[-1]
    falls = {name: float(last[name] / first[name]) for name in ("sd_cvs", "sd_cvr")}
    expected = float(np.sqrt(first["n_points"] / last["n_points"]))
    remark = f"CVS; CVR {falls['sd_cvr']:.2f}, root of M alone {expected:.2f}"
    error = falls["sd_cvs"] * float(np.hypot(first["se_sd_cvs"] / first["sd_cvs"], last["se_sd_cvs"] / last["sd_cvs"]))
    found = by_error(1 - falls["sd_cvs"], error)
    return Judged(found.verdict, falls["sd_cvs"], error, remark)


def _terms_differ(tables: Tables) -> Judged:
    parts = tables.terms("cvs")
    differ = pd.Series(True, index=parts.index)
    for one, other in combinations(("sigma_term", "omega_term", "gamma_term"), 2):
        differ &= (parts[one] - parts[other]).abs() > N_ERRORS * np.hypot(parts[f"se_{one}"], parts[f"se_{other}"])
    n, shown = len(differ), int(differ.sum())
    if not shown:
        return Judged("cannot be seen here")
    return Judged("holds" if shown == n else "holds in part", shown / n, remark=f"{shown} of {n} sizes")


def _omega_cvs(tables: Tables) -> Judged:
    cvs, cvr = tables.terms("cvs"), tables.terms("cvr")
    difference = (cvs["omega_term"] - cvr["omega_term"]) / cvs["theta"]
    found = over_sizes(difference, np.hypot(cvs["se_omega_term"], cvr["se_omega_term"]) / cvs["theta"])
    ratio = cvs["omega_term"].iloc[-1] / cvr["omega_term"].iloc[-1] if len(cvs) else np.nan
    return found._replace(remark=f"{found.remark}; {ratio:.1f} times at the largest M")


def spread_falls(tables: Tables, kind: str) -> tuple[float, float, str]:
    """Give the log of the spread of single covariances at a small M over that at the largest, its error, and both M.

    Noise is taken away: that of n equal covariances has the squared spread noise^2, and of all with the spread tau the variance
    ``(2 noise^4 + 4 noise^2 tau^2) / (n - 1)``. The small M is the first at which there is more than noise by two errors.
    """
    rows = tables.terms("cvs")
    noise = rows[f"{kind}_noise"] ** 2
    left = rows[f"{kind}_spread"] ** 2 - noise
    error = np.sqrt((2 * noise**2 + 4 * noise * left.clip(lower=0)) / (rows[f"n_{kind}"] - 1))
    seen = rows.index[left > N_ERRORS * error]
    if len(seen) < 2 or seen[-1] != rows.index[-1]:
        return np.nan, np.nan, "no more than noise" if len(rows) > 1 else ""
    ends = [seen[0], seen[-1]]
    value = np.log(left[ends[0]] / left[ends[1]]) / 2
    return float(value), float(np.hypot(*(error[ends] / left[ends])) / 2), f"M = {ends[0]} and {ends[1]}; less is noise"


def _any_bias(tables: Tables) -> Judged:
    holds = tables.chosen["holds"].to_numpy(dtype=bool)
    if not len(holds):
        return Judged("cannot be seen here")
    return Judged("holds" if holds.all() else "does not hold", float(holds.mean()), remark=f"{holds.sum()} of {len(holds)}")


def _b_small_m(tables: Tables) -> Judged:
    new, old = _ratio("theta_B", 0)(tables), _ratio("theta_gamma", 0)(tables)
    return by_error(new[0] - old[0], float(np.hypot(new[1], old[1])))


def _a_optimistic(tables: Tables) -> Judged:
    rows = tables.estimator("theta_A")
    return over_sizes(1 - rows["ratio"], rows["se_ratio"])


JUDGES: dict[str, Judge] = {
    "intervals_cvs": _intervals("theta_gamma", "theta_B"),
    "intervals_cvr": _intervals("theta_3", "theta_5"),
    "cvs_unbiased": _cvs_unbiased,
    "standard_fails": _standard_fails,
    "mean_error_large": lambda tables: at_least(_log10(tables.terms("cvs")["mu_over_theta"]).head(1), 1.0, "smallest M"),
    "naive_poor": _naive_poor,
    "gamma_keeps_bias": _gamma_keeps_bias,
    "mu_orders": lambda tables: at_least(
        _log10(tables.terms("cvs").query(f"n_points >= {NOT_SMALL}")["mu_over_terms"]), FEW_ORDERS
    ),
    "sigma_largest": lambda tables: at_least(_log10(tables.terms("cvs")["sigma_over_covariances"]), 0.0),
    "omega_positive": _single_above("omega"),
    "gamma_positive": _single_above("gamma"),
    "b_terms_cancel": _b_terms_cancel,
    "b_least_biased": _less_biased(("theta_om", "theta_gamma"), "theta_B", "table1"),
    "any_bias": _any_bias,
    "omega_above_gamma": _omega_above_gamma,
    "similar_magnitude": _similar_magnitude,
    "five_least_biased": _less_biased(("theta_1", "theta_2", "theta_3", "theta_4"), "theta_5", "table2"),
    "five_better": _five_better,
    "cvs_better": _cvs_better,
    "cvs_converges": _cvs_converges,
    "cvr_elsewhere": _cvr_elsewhere,
    "cvr_optimistic": _error_differences("ose_minus_cvr"),
    "cvs_pessimistic": _error_differences("cvs_minus_ose"),
    "cvs_varies_more": _cvs_varies_more,
    "same_order": _same_order,
    "spread_vanishes": _spread_vanishes,
    "terms_differ": _terms_differ,
    "omega_cvs": _omega_cvs,
    "gamma_spread": lambda tables: by_error(*spread_falls(tables, "gamma")),
    "omega_spread": lambda tables: within(*spread_falls(tables, "omega")[:2], HALVED, spread_falls(tables, "omega")[2]),
    "sigma_orders": lambda tables: at_least(_log10(tables.terms("cvs")["sigma_over_covariances"]).tail(1), FEW_ORDERS),
    "gamma_overestimates": lambda tables: by_error(*_ratio("theta_gamma", -1)(tables)),
    "a_closer": _less_biased(("theta_gamma",), "theta_A", "table1", largest=True),
    "a_optimistic": _a_optimistic,
    "b_small_m": _b_small_m,
    "b_negligible": lambda tables: within(*_ratio("theta_B", -1)(tables), NEGLIGIBLE),
    "five_unbiased": lambda tables: within(*_ratio("theta_5", 0)(tables), NEGLIGIBLE),
}
