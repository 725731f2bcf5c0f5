"""One verdict for every claim of the protocol, and the answers that follow from the verdicts by its rules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.inference.corrections import adjust_p
from foldshift.studies.foldshift_2026.crossed_effects import Effect, crossed_effect, population_effect
from foldshift.studies.foldshift_2026.field_claims import CLAIMS, FieldClaim
from foldshift.studies.foldshift_2026.partitioners import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import Rows

RATIOS = ("spread", "error_one")  # compared by how many times the one is the other
COMPARED = ("error_one", "spread", "bias_whole")  # by number of folds
HOLDS, FAILS, SMALL, OPEN = "holds", "the opposite", "too small to matter", "not decided"
COVERS, NARROW = "holds", "too narrow"
ALPHA = 0.05  # of each family
MARGIN = 5.0  # per cent or points, below which an effect does not matter
SHORTFALL = 0.02  # by which a coverage may lie below its promise
ENOUGH = 0.1  # share of the variance that repeating cannot remove, below which the choice of partitions does not count
NEARER = "error_one"
LEDGER = ["claim", "source", "task", "measure", "lower", "higher", "n_sample", "k", "effect", "standard_error", "df"]
LEDGER += [
    "n_populations",
    "n_learners",
    "p_value",
    "p_holm",
    "p_small",
    "p_small_holm",
    "verdict",
    "elsewhere",
    "elsewhere_error",
]
INTERVALS = ["task", "interval", "n_sample", "found", "coverage", "standard_error", "df", "n_populations", "n_learners", "lowest"]
INTERVALS += ["width", "p_holds", "p_holds_holm", "p_narrow", "p_narrow_holm", "verdict"]
ANSWER = ["task", "question", "answer", "because", "effect", "standard_error", "verdict"]


class Stated(NamedTuple):
    """Size and number of folds at which claims are decided."""

    n_sample: int
    k: int


def ledger(learners: pd.DataFrame, populations: pd.DataFrame, stated: Stated) -> pd.DataFrame:
    """Judge the claims whose cuts were run, at the stated size and number of folds.

    `learners` has the measures of every population and learner, `populations` the shares of right choices. ``effect`` is the
    mean over both of the measure of ``lower`` less that of ``higher``: in percentage points of the true error for bias, of the
    pairs of learners for ``choice``; for `RATIOS` in per cent of ``higher``. ``elsewhere`` is that at the largest other size.
    """
    rows: Rows = []
    effects: list[Effect] = []
    others = sorted(set(learners["n_sample"]) - {stated.n_sample})
    for one in CLAIMS:
        found = _effect_of(one, learners, populations, stated)
        if found is None:
            continue
        lower, higher, effect = found
        other = _effect_of(one, learners, populations, stated._replace(n_sample=others[-1])) if others else None
        keys = one._asdict() | {"lower": lower, "higher": higher} | stated._asdict()
        shown = dict(zip(("effect", "standard_error"), _shown(effect, one.measure)))
        shown |= dict(zip(("elsewhere", "elsewhere_error"), _shown(other[2], one.measure) if other else (np.nan, np.nan)))
        rows.append(keys | shown | {"df": effect.df, "n_populations": effect.n_populations, "n_learners": effect.n_learners})
        effects.append(effect)
    table = pd.DataFrame(rows, columns=[name for name in LEDGER if not name.startswith("p_") and name != "verdict"])
    margins = [math.log1p(MARGIN / 100) if measure in RATIOS else MARGIN for measure in table["measure"]]
    table["p_value"] = [effect.p_two_sided() for effect in effects]
    table["p_small"] = [effect.p_within(margin) for effect, margin in zip(effects, margins)]
    for name in ("p_value", "p_small"):
        table[f"{name.removesuffix('_value')}_holm"] = _holm(table[name])
    differs, is_small = table["p_holm"] <= ALPHA, table["p_small_holm"] <= ALPHA
    table["verdict"] = np.select([differs & (table["effect"] < 0), differs, is_small], [HOLDS, FAILS, SMALL], OPEN)
    return table[LEDGER]


def _effect_of(
    claim: FieldClaim, learners: pd.DataFrame, populations: pd.DataFrame, at: Stated
) -> tuple[str, str, Effect] | None:
    """Name both sides of a claim, and compare them; None where one of them was not run."""
    measures = populations.assign(learner="pairs") if claim.measure == "choice" else learners
    own = measures[(measures["task"] == claim.task) & (measures["n_sample"] == at.n_sample)]
    reference, sides = REFERENCES[claim.task], []
    for side in (claim.lower, claim.higher):
        k = side if isinstance(side, int) else at.k
        cut = side if isinstance(side, str) else reference
        name = f"{reference} with {k} folds" if isinstance(side, int) else cut
        sides.append((name, of_cut(own, cut, k, claim.measure)))
    (lower, below), (higher, above) = sides
    if below.empty or above.empty:
        return None
    return lower, higher, crossed_effect(compared(below, above, claim.measure))


def of_cut(measures: pd.DataFrame, cut: str, k: int, measure: str) -> pd.Series:
    """Select a measure of one cut and number of folds, by population and learner."""
    own = measures[(measures["cut"] == cut) & (measures["k"] == k)]
    return own.set_index(["population", "learner"])[measure].dropna()


def compared(below: pd.Series, above: pd.Series, measure: str) -> pd.Series:
    """Difference of two sides, or logarithm of their ratio, by population and learner."""
    if measure in RATIOS:
        return (np.log(below[below > 0]) - np.log(above[above > 0])).dropna()
    return ((below - above) * (100 if measure == "choice" else 1)).dropna()


def _shown(effect: Effect, measure: str) -> tuple[float, float]:
    """Effect and standard error as tables have them: in per cent for ratios."""
    if measure not in RATIOS:
        return effect.mean, effect.error
    return 100 * math.expm1(effect.mean), 100 * math.exp(effect.mean) * effect.error


def _holm(p_values: pd.Series) -> Any:
    """Correct the p-values of a family."""
    return adjust_p(p_values.to_numpy(dtype=np.float64), "holm") if len(p_values) else p_values


def by_folds(learners: pd.DataFrame, cuts: Sequence[str], n_sample: int) -> pd.DataFrame:
    """Compare each cut with the reference with as many folds, at one size; effects as in the `ledger`."""
    table = []
    for (task, k), part in learners[learners["n_sample"] == n_sample].groupby(["task", "k"], sort=True, observed=True):
        for cut in (one for one in cuts if one != REFERENCES[task] and one in set(part["cut"])):
            row: dict[str, Any] = {"task": task, "n_sample": n_sample, "k": k, "cut": cut, "n_populations": 0}
            for measure in COMPARED:
                gaps = compared(of_cut(part, cut, k, measure), of_cut(part, REFERENCES[task], k, measure), measure)
                effect = crossed_effect(gaps)
                row["n_populations"] = max(effect.n_populations, row["n_populations"])
                row[measure], row[f"{measure}_error"] = _shown(effect, measure)
            if row["n_populations"]:
                table.append(row)
    columns = [f"{measure}{end}" for measure in COMPARED for end in ("", "_error")]
    return pd.DataFrame(table, columns=["task", "n_sample", "k", "cut", "n_populations", *columns])


def interval_ledger(pairs: pd.DataFrame, n_sample: int, level: float) -> pd.DataFrame:
    """Judge every interval by its coverage with the noise of the truth taken out.

    `pairs` has ``found``, ``coverage`` and ``width`` of every task, interval, population and learner at this size.
    """
    rows: Rows = []
    for (task, interval), part in pairs.groupby(["task", "interval"], sort=False, observed=True):
        values = part.set_index(["population", "learner"])
        effect = population_effect(values["coverage"].dropna())
        row: dict[str, Any] = {"task": task, "interval": interval, "n_sample": n_sample, "found": values["found"].mean()}
        row |= dict(zip(("coverage", "standard_error", "df", "n_populations", "n_learners"), effect))
        row["lowest"], row["width"] = values["coverage"].groupby("population").mean().min(), values["width"].mean()
        rows.append(row | {"p_holds": effect.p_above(level - SHORTFALL), "p_narrow": effect.p_below(level)})
    table = pd.DataFrame(rows, columns=[name for name in INTERVALS if not name.endswith("_holm") and name != "verdict"])
    for name in ("p_holds", "p_narrow"):
        table[f"{name}_holm"] = _holm(table[name])
    table["verdict"] = np.select([table["p_holds_holm"] <= ALPHA, table["p_narrow_holm"] <= ALPHA], [COVERS, NARROW], OPEN)
    return table[INTERVALS]


def answers(claims: pd.DataFrame, intervals: pd.DataFrame, honesty: pd.DataFrame, stated: Stated) -> pd.DataFrame:
    """Answer four questions for each task, by the rules of the protocol and from nothing but the ledgers and `honesty`.

    `intervals` are those of one cross-validation with the reference cut.
    """
    rows: Rows = []
    for task in sorted(set(claims["task"])):
        own = claims[claims["task"] == task]
        cut, row = _which_cut(own, task)
        rows += [row, _how_many_folds(own, task, stated.k)]
        rows.append(_how_many_repetitions(honesty, task, cut, stated))
        rows.append(_which_interval(intervals[intervals["task"] == task], task))
    return pd.DataFrame(rows, columns=ANSWER)


def shown_nearer(claims: pd.DataFrame, task: str) -> pd.DataFrame:
    """Claims of cuts that are shown to be nearer to the truth than the reference, the largest effect first."""
    nearer = claims[(claims["task"] == task) & (claims["measure"] == NEARER) & (claims["higher"] == REFERENCES[task])]
    return nearer[nearer["verdict"] == HOLDS].sort_values("effect", kind="stable")


def _which_cut(claims: pd.DataFrame, task: str) -> tuple[str, dict[str, Any]]:
    """Choose the reference, or of the cuts that are shown to be nearer the one with the largest effect."""
    reference, shown = REFERENCES[task], shown_nearer(claims, task)
    row = {"task": task, "question": "Which cut?"}
    if shown.empty:
        because = "no cut was shown to be nearer to the truth"
        return reference, row | {"answer": reference, "because": because, "verdict": OPEN}
    best = shown.iloc[0]
    return best["lower"], row | {"answer": best["lower"], "because": best["claim"]} | _evidence(best)


def _how_many_folds(claims: pd.DataFrame, task: str, k: int) -> dict[str, Any]:
    """Choose the stated number of folds, unless fewer are shown to be nearer."""
    row = {"task": task, "question": "How many folds?", "answer": str(k)}
    found = claims[(claims["measure"] == NEARER) & claims["lower"].str.contains(" with ")]
    if found.empty:
        return row | {"because": "other numbers were not compared", "verdict": OPEN}
    one = found.iloc[0]
    if one["verdict"] == FAILS:
        row["answer"] = one["higher"].split(" with ")[1].removesuffix(" folds")
    return row | {"because": f"{one['lower']} nearer than {one['higher']}"} | _evidence(one)


def _evidence(claim: pd.Series) -> dict[str, Any]:
    return {name: claim[name] for name in ("effect", "standard_error", "verdict")}


def _how_many_repetitions(honesty: pd.DataFrame, task: str, cut: str, stated: Stated) -> dict[str, Any]:
    """Count repetitions until the variance between partitions is a small share of what repeating cannot remove."""
    row = {"task": task, "question": "How many repetitions?", "answer": "not known", "verdict": "described"}
    row["because"] = f"of {cut}: after these, the variance between partitions is a tenth of what repeating cannot remove"
    own = honesty[(honesty[["task", "n_sample", "k", "cut"]] == [task, stated.n_sample, stated.k, cut]).all(axis=1)]
    if len(own):
        spread, error = own.iloc[0]["spread"] ** 2, own.iloc[0]["error_one"] ** 2
        if error > spread:
            row["answer"] = str(max(math.ceil(spread / (ENOUGH * (error - spread))), 1))
    return row


def _which_interval(intervals: pd.DataFrame, task: str) -> dict[str, Any]:
    """Choose the narrowest interval that holds."""
    row = {"task": task, "question": "Which interval?"}
    shown = intervals[intervals["verdict"] == COVERS]
    if shown.empty:
        return row | {"answer": "none was shown to hold", "because": f"of {len(intervals)} intervals", "verdict": OPEN}
    best = shown.loc[shown["width"].idxmin()]
    numbers = {"effect": 100 * best["coverage"], "standard_error": 100 * best["standard_error"]}
    return (
        row
        | {"answer": best["interval"], "because": "the narrowest that holds; its coverage in per cent", "verdict": COVERS}
        | numbers
    )
