"""Verdicts on claims from values by data set: orders, equalities, correlations, and statements about all or some."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student_t
from scipy.stats import ttest_ind

from foldshift.reporting.claims_ledger import Judged
from foldshift.studies.cieslak_2009.datasets_in_print import PAPER_DATASETS, paper_name
from foldshift.studies.cieslak_2009.shift_conditions import BASE, PRIORS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldshift.core.types import BoolArray
    from foldshift.reporting.claims_ledger import Verdict

    Verdicts = dict[str, Judged]

CONFIDENCE = 0.95
QUITE = 0.5  # correlation from which on two quantities are "quite correlated"
EXCEPTIONS = ("E-State", "Oil", "Phoneme")  # data sets that the paper names where shares change; its Compustat is not public


class Tables(NamedTuple):
    """Tables of a run, as the declaration of the study names them."""

    ks: pd.DataFrame
    phi: pd.DataFrame
    moved: pd.DataFrame
    examples: pd.DataFrame
    skew: pd.DataFrame
    prior: pd.DataFrame
    hellinger: pd.DataFrame
    sensitivity: pd.DataFrame
    p_values: pd.DataFrame
    power: pd.DataFrame


def order(values: pd.Series, remark: str = "") -> Judged:
    """Judge an effect that should be positive from its values by data set, by the 95 % interval of their mean."""
    values = values.dropna()
    mean, error, margin = _interval(values)
    if len(values) < 2:
        return Judged("cannot be seen here", mean, error, "no data set" if values.empty else "one data set")
    words = remark or f"{int((values > 0).sum())} of {len(values)} data sets"
    if abs(mean) <= margin:
        return Judged("cannot be seen here", mean, error, words)
    return Judged("holds" if mean > 0 else "does not hold", mean, error, words)


def below(values: pd.Series, limit: float) -> Judged:
    """Judge that the mean over data sets of `values` is below a limit."""
    values = values.dropna()
    found = order(limit - values, f"{int((values < limit).sum())} of {len(values)} data sets")
    return found._replace(effect=float(values.mean()))


def alike(values: pd.Series, margin: float) -> Judged:
    """Judge that the mean of differences by data set is within a margin of 0: its 95 % interval lies in it, or outside."""
    values = values.dropna()
    mean, error, half = _interval(values)
    if len(values) < 2 or (abs(mean) - half <= margin < abs(mean) + half):
        return Judged("cannot be seen here", mean, error, f"{len(values)} data sets")
    words = f"{int((values.abs() <= margin).sum())} of {len(values)} data sets"
    return Judged("holds" if abs(mean) + half <= margin else "does not hold", mean, error, words)


def contrast(first: pd.Series, second: pd.Series) -> Judged:
    """Judge that one group of data sets has larger values than another, by Welch's interval."""
    first, second = first.dropna(), second.dropna()
    if min(len(first), len(second)) < 2:
        return Judged("cannot be seen here", remark="fewer than two data sets of a kind")
    found = ttest_ind(first, second, equal_var=False)
    low, high = found.confidence_interval(CONFIDENCE)
    effect = float(first.mean() - second.mean())
    error = float(np.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second)))
    verdict: Verdict = "holds" if low > 0 else "does not hold" if high < 0 else "cannot be seen here"
    return Judged(verdict, effect, error, f"{len(first)} and {len(second)} data sets")


def all_or_part(flags: pd.Series, what: str = "data sets") -> Judged:
    """Judge a claim about every member of a list: all, some or none have it."""
    if flags.empty:
        return Judged("cannot be seen here", remark=f"no {what}")
    verdict: Verdict = "holds" if flags.all() else "holds in part" if flags.any() else "does not hold"
    return Judged(verdict, float(flags.mean()), remark=f"{int(flags.sum())} of {len(flags)} {what}")


def any_of(flags: pd.Series) -> Judged:
    """Judge a claim about some data sets: it holds if one has it."""
    if flags.empty:
        return Judged("cannot be seen here", remark="no data set")
    names = ", ".join(paper_name(name) for name in flags.index[flags])
    return Judged(
        "holds" if flags.any() else "does not hold", float(flags.mean()), remark=names or f"none of {len(flags)} data sets"
    )


def correlated(pairs: pd.DataFrame) -> Judged:
    """Judge that two columns of a table are quite correlated: surely above `QUITE`, or (in part) surely above 0.

    The error is the jackknife's, which leaves out one data set at a time.
    """
    pairs = pairs.dropna()
    names = list(dict.fromkeys(pairs.index.get_level_values("dataset")))
    if len(names) < 3:
        return Judged("cannot be seen here", remark="fewer than three data sets")
    found = _correlation(pairs)
    without = [_correlation(pairs[pairs.index.get_level_values("dataset") != name]) for name in names]
    error = float(np.sqrt((len(names) - 1) / len(names) * np.sum(np.square(np.array(without) - np.mean(without)))))
    margin = student_t.isf((1 - CONFIDENCE) / 2, len(names) - 1) * error
    if not np.isfinite(found) or abs(found) <= margin:
        return Judged("cannot be seen here", found, error, f"{len(names)} data sets")
    verdict: Verdict = "holds" if found - margin > QUITE else "holds in part" if found > 0 else "does not hold"
    return Judged(verdict, found, error, f"{len(names)} data sets")


def of_paper(values: pd.Series) -> pd.Series:
    """Select the data sets of the paper: a claim about all or some of them says nothing of others."""
    names = values.index.get_level_values("dataset") if "dataset" in values.index.names else values.index
    return values[are_named(names, PAPER_DATASETS)]


def are_named(datasets: Iterable[object], names: Iterable[str]) -> BoolArray:
    """Mark the data sets that are the paper's with these names."""
    return np.array([named(str(one), names) for one in datasets], dtype=bool)


def named(dataset: str, names: Iterable[str]) -> bool:
    """Return True if a data set of the run is one of the paper's with these names."""
    return paper_name(dataset) in set(names)


def nearest_condition(share: float) -> str:
    """Condition of changed shares that is nearest to a data set's own share of positive rows."""
    return min(PRIORS, key=lambda name: abs(int(name[1:]) / 100 - share))


def by_condition(table: pd.DataFrame, value: str, key: str = "dataset") -> pd.DataFrame:
    """Spread a table: a row per data set of the run, a column per condition."""
    known = table.dropna(subset=[key])
    return known.pivot_table(value, key, "condition", aggfunc="first", observed=True).reindex(columns=_order_of(known))


def means(wide: pd.DataFrame, *conditions: str) -> pd.Series:
    """Mean over conditions by row; NaN where one is missing."""
    return wide.reindex(columns=list(conditions)).mean(axis=1, skipna=False)


def own_shares(tables: Tables) -> pd.Series:
    """Share of positive rows without shift, by data set."""
    base = tables.prior[(tables.prior["condition"] == BASE) & (tables.prior["part"] == "valid")]
    return base.set_index("dataset")["share_positive"]


def grows_with_distance(wide: pd.DataFrame, shares: pd.Series) -> pd.Series:
    """Rank correlation of a quantity with the distance of the shares of the classes from the own ones, by data set."""
    priors = [name for name in PRIORS if name in wide]
    out = {}
    for name in wide.index.intersection(shares.index):
        distance = [abs(int(one[1:]) / 100 - shares[name]) for one in priors]
        out[name] = pd.Series(distance).corr(pd.Series(wide.loc[name, priors].to_numpy(float)), method="spearman")
    return pd.Series(out, dtype=float)


def above_nearest(wide: pd.DataFrame, shares: pd.Series) -> pd.Series:
    """Value at the largest share of positive rows less that at the share nearest to the own one, by data set."""
    names = wide.index.intersection(shares.index) if PRIORS[-1] in wide else wide.index[:0]
    at = {name: nearest_condition(shares[name]) for name in names}
    return pd.Series({name: wide.loc[name, PRIORS[-1]] - wide.loc[name].get(at[name], np.nan) for name in names}, dtype=float)


def _interval(values: pd.Series) -> tuple[float, float, float]:
    """Mean, standard error and half of the 95 % interval."""
    n = len(values)
    if n < 2:
        return float(values.mean()) if n else np.nan, np.nan, np.nan
    error = float(values.std(ddof=1) / np.sqrt(n))
    return float(values.mean()), error, float(student_t.isf((1 - CONFIDENCE) / 2, n - 1) * error)


def _correlation(pairs: pd.DataFrame) -> float:
    """Correlation of the two columns; NaN where one does not vary."""
    first, second = (pairs[name].to_numpy() for name in pairs)
    return float(np.corrcoef(first, second)[0, 1]) if np.ptp(first) and np.ptp(second) else np.nan


def _order_of(table: pd.DataFrame) -> list[str]:
    """Conditions of a table in its order."""
    return list(dict.fromkeys(table["condition"]))
