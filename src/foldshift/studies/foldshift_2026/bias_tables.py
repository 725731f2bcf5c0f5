"""Distance of estimates from the truth, by cut: bias against three truths, spread, error, and the right choice of two learners.

The learners of a population share its samples, and the samples of a population its quirks: the unit of every error is the
population, whose value is the mean over its learners.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.inference.corrections import adjust_p
from foldshift.studies.foldshift_2026.cuts_and_methods import RERANDOMISED
from foldshift.studies.foldshift_2026.partitioners import REFERENCES

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Rows, TableLike, Task

CELL = ["task", "n_sample", "k", "cut"]
MEASURES = ("bias_training", "bias_models", "bias_whole", "spread", "error_one", "error_ten", "choice")
REPEATED = 10  # repetitions of `error_ten`
TYPICAL = ("typical", "times", "times_error")
ENOUGH = 0.1  # share of the variance that repeating cannot remove, below which the choice of partitions does not count
FAR = 2.0  # standard errors
RATIOS = ("spread", "error_one")  # compared by how many times the one is the other
COMPARED = ("error_one", "spread", "bias_whole")  # by number of folds
PLAIN = "S2/K"  # the interval that a mean and standard deviation over folds suggest
TOLERANCE = 0.05  # by which a coverage may lie below its promise, to be called held


def whole_samples(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out samples with a failed fit, for all cuts, so that all are compared on the same samples."""
    keys = ["population", "learner", "n_sample", "replicate"]
    failed = rows["estimate"].isna() | rows["truth_parts"].isna() | rows["truth_whole"].isna()
    return rows[~failed.groupby([rows[key] for key in keys], observed=True).transform("any")]


def by_learner(rows: pd.DataFrame) -> pd.DataFrame:
    """Measures of every population, learner, size, k and cut, in per cent of the learner's true error; all but ``choice``.

    ``bias_training`` is the mean estimate less the mean error of models trained on random parts of (k - 1) / k of the sample
    (those of the reference cut), ``bias_models`` less that of these very models, ``bias_whole`` less that of models of the whole
    sample.
    ``spread`` is the standard deviation over repetitions on one sample; ``error_one`` and ``error_ten`` are root mean squared
    errors of one repetition and of the mean of ten.
    """
    one = ["population", "learner", *CELL]
    numbers = pd.DataFrame(
        {
            "estimate": rows["estimate"],
            "bias_models": rows["estimate"] - rows["truth_parts"],
            "bias_whole": rows["estimate"] - rows["truth_whole"],
            "square": (rows["estimate"] - rows["truth_whole"]) ** 2,
            "truth_parts": rows["truth_parts"],
            "truth_whole": rows["truth_whole"],
        }
    )
    keys = [rows[name] for name in one]
    table = numbers.groupby(keys, sort=False, observed=True).mean()
    between = numbers["estimate"].groupby([*keys, rows["replicate"]], sort=False, observed=True).var(ddof=1)
    table["spread"] = np.sqrt(between.groupby(level=one, sort=False, observed=True).mean())
    table["error_one"] = np.sqrt(table["square"])
    ten = table["square"] - (1 - 1 / REPEATED) * table["spread"] ** 2
    table["error_ten"] = np.sqrt(ten.clip(lower=0.0))
    table = table.reset_index()
    training = table[table["cut"] == table["task"].map(REFERENCES)]
    training = training.set_index(["population", "learner", "n_sample", "k"])["truth_parts"]
    of_row = pd.MultiIndex.from_frame(table[["population", "learner", "n_sample", "k"]])
    table["bias_training"] = table["estimate"] - training.reindex(of_row).to_numpy()
    table = table[table["truth_whole"] > 0]
    measures = list(MEASURES[:-1])
    table[measures] = 100 * table[measures].div(table["truth_whole"], axis=0)
    return table[[*one, *measures]]


def by_population(learners: pd.DataFrame, rows: pd.DataFrame | None) -> pd.DataFrame:
    """Mean measures over the learners of every population, size, k and cut, with ``choice``; NaN without `rows`.

    ``choice`` is the share of pairs of learners of which one repetition finds the truly better one. Pairs differ truly by more
    than two standard errors; an even result counts half.
    """
    keys = ["population", *CELL]
    table = learners.groupby(keys, sort=False, observed=True)[list(MEASURES[:-1])].mean().reset_index()
    if rows is None or not len(rows):
        return table.assign(choice=np.nan)
    found = [_right_choices(part) for _, part in rows.groupby(["population", "task", "n_sample", "k"], sort=False, observed=True)]
    return table.merge(pd.concat(found, ignore_index=True), on=keys, how="left")


def _right_choices(part: pd.DataFrame) -> pd.DataFrame:
    """Compute ``choice`` of every cut, for one population, size and k."""
    truth = part.drop_duplicates(["learner", "replicate"]).pivot(index="replicate", columns="learner", values="truth_whole")
    wide = part.pivot(index=["cut", "replicate", "repetition"], columns="learner", values="estimate")
    shares = []
    for a, b in itertools.combinations(truth.columns, 2):
        gap = (truth[a] - truth[b]).dropna()
        if len(gap) > 1 and abs(gap.mean()) > FAR * gap.std(ddof=1) / math.sqrt(len(gap)):
            found = ((wide[b] - wide[a]) * (1 if gap.mean() < 0 else -1)).dropna()  # above 0: the truly better one
            shares.append(((found > 0) + 0.5 * (found == 0)).groupby(level="cut", observed=True).mean())
    choice = pd.concat(shares, axis=1).mean(axis=1) if shares else pd.Series(np.nan, index=part["cut"].unique())
    keys = part[["population", "task", "n_sample", "k"]].iloc[0].to_dict()
    return choice.rename_axis("cut").rename("choice").reset_index().assign(**keys)


def mean_and_error(values: TableLike) -> tuple[float, float]:
    """Mean over populations and its standard error, without NaN; NaN for no value, and the error is NaN for one."""
    values = np.asarray(values, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def honesty_table(populations: pd.DataFrame, cuts: Sequence[str]) -> pd.DataFrame:
    """Measures by task, size, k and cut, and differences from the reference on the same samples; `cuts` in their order."""
    table = []
    for (task, n_sample, k), part in populations.groupby(CELL[:3], sort=True, observed=True):
        wide = part.pivot(index="population", columns="cut", values=list(MEASURES))
        for cut in [one for one in cuts if one in set(part["cut"])]:
            row: dict[str, Any] = {"task": task, "n_sample": n_sample, "k": k, "cut": cut, "n_populations": len(wide)}
            for name in MEASURES:
                row[name], row[f"{name}_error"] = mean_and_error(wide[name, cut])
                gap = wide[name, cut] - wide[name, REFERENCES[task]] if (name, REFERENCES[task]) in wide else [np.nan]
                of_reference = (np.nan, np.nan) if cut == REFERENCES[task] else mean_and_error(gap)
                row[f"{name}_vs"], row[f"{name}_vs_error"] = of_reference
            table.append(row | _typical(wide["error_one"], cut, REFERENCES[task]))
    columns = [f"{name}{end}" for name in MEASURES for end in ("", "_error", "_vs", "_vs_error")] + list(TYPICAL)
    return pd.DataFrame(table, columns=[*CELL, "n_populations", *columns])


def _typical(errors: pd.DataFrame, cut: str, reference: str) -> dict[str, float]:
    """Compute `TYPICAL` of one cut, from errors by population and cut."""
    logs = np.log(errors.where(errors > 0))
    gap = logs[cut] - logs[reference] if reference in logs and cut != reference else [np.nan]
    times, times_error = mean_and_error(gap)
    return dict(zip(TYPICAL, (np.exp(mean_and_error(logs[cut])[0]), times, times_error)))


SAEZ, MORENO, TWINS, ANTI = "Saez 2022", "Moreno-Torres 2012", "Vakayil 2022", "anticlustering"
CLUSTERS, CHEMISTRY, DISCREPANCY, KOHAVI = "Spezia 2025", "Galvao 2005", "Guo 2019", "Kohavi 1995"
OURS, FOLKLORE = "this project", "folklore"
NUMBERS, CLASSES = "regression", "classification"


class FieldClaim(NamedTuple):
    """A claim of the field, as one comparison: in a measure, `lower` is below `higher`.

    Both are cuts; None: the reference of the task; a number: the reference with so many folds.
    """

    claim: str
    source: str
    task: Task
    measure: str
    lower: str | int | None
    higher: str | int | None


CLAIMS = tuple(
    FieldClaim._make(one)
    for one in (
        ("a stratified target lowers the estimated error", SAEZ, NUMBERS, "bias_whole", "TSCV", None),
        ("a stratified target makes the estimate vary less between partitions", SAEZ, NUMBERS, "spread", "TSCV", None),
        ("a stratified target brings the estimate nearer to the truth", SAEZ, NUMBERS, "error_one", "TSCV", None),
        ("ten strata do as much as total stratification", FOLKLORE, NUMBERS, "error_one", "TSCV", "SCV10"),
        ("neighbours in different folds bring the estimate nearer to the truth", MORENO, CLASSES, "error_one", "DOB-SCV", None),
        ("so do neighbours along a path", MORENO, CLASSES, "error_one", "DB-SCV", None),
        ("neighbours in different folds make it vary less", MORENO, CLASSES, "spread", "DOB-SCV", None),
        ("neighbours in the same fold make it too high", MORENO, CLASSES, "bias_whole", None, "MS-SCV"),
        ("neighbours in different folds make it too low", OURS, CLASSES, "bias_whole", "DOB-SCV", None),
        ("twins in different folds make the estimate too low", OURS, NUMBERS, "bias_whole", "Twinning", None),
        ("twins in different folds make the estimate too low", OURS, CLASSES, "bias_whole", "Twinning", None),
        ("twins in different folds bring the estimate nearer to the truth", TWINS, NUMBERS, "error_one", "Twinning", None),
        ("twins in different folds bring the estimate nearer to the truth", TWINS, CLASSES, "error_one", "Twinning", None),
        ("equal means of the inputs bring the estimate nearer to the truth", ANTI, NUMBERS, "error_one", "ABA", None),
        ("equal means of the inputs bring the estimate nearer to the truth", ANTI, CLASSES, "error_one", "ABA", None),
        ("a share of every cluster brings the estimate nearer to the truth", CLUSTERS, CLASSES, "error_one", "CBDSCV", None),
        ("a share of every cluster of a class brings it nearer", CLUSTERS, CLASSES, "error_one", "SCBCV", None),
        ("a share of every cluster of a class makes it vary less", CLUSTERS, CLASSES, "spread", "SCBCV", None),
        ("folds that each span the data bring the estimate nearer to the truth", CHEMISTRY, NUMBERS, "error_one", "SPXY", None),
        ("balance of target and inputs brings the estimate nearer to the truth", OURS, NUMBERS, "error_one", "CB-TSCV", None),
        ("balance of classes and inputs brings the estimate nearer to the truth", OURS, CLASSES, "error_one", "CB-SCV", None),
        ("balance of target and inputs makes it vary less", OURS, NUMBERS, "spread", "CB-TSCV", None),
        ("balance of classes and inputs makes it vary less", OURS, CLASSES, "spread", "CB-SCV", None),
        ("balance of target and inputs makes it lower", OURS, NUMBERS, "bias_whole", "CB-TSCV", None),
        ("balance of classes and inputs makes it lower", OURS, CLASSES, "bias_whole", "CB-SCV", None),
        ("balance of target and inputs finds the better learner more often", OURS, NUMBERS, "choice", None, "CB-TSCV"),
        ("balance of classes and inputs finds the better learner more often", OURS, CLASSES, "choice", None, "CB-SCV"),
        ("stratified classes bring the estimate nearer to the truth", KOHAVI, CLASSES, "error_one", None, "CV"),
        ("stratified classes make it vary less", KOHAVI, CLASSES, "spread", None, "CV"),
        ("ten folds bring the estimate nearer to the truth than five", KOHAVI, NUMBERS, "error_one", 10, 5),
        ("ten folds bring the estimate nearer to the truth than five", KOHAVI, CLASSES, "error_one", 10, 5),
        ("two folds make the estimate too high", KOHAVI, NUMBERS, "bias_whole", 10, 2),
        ("two folds make the estimate too high", KOHAVI, CLASSES, "bias_whole", 10, 2),
        ("a sequence of least discrepancy makes the estimate lower", DISCREPANCY, CLASSES, "bias_whole", "BDSCV", "CV"),
        ("a sequence of least discrepancy brings it nearer to the truth", DISCREPANCY, CLASSES, "error_one", "BDSCV", "CV"),
        ("a sequence of least discrepancy brings it nearer to the truth", DISCREPANCY, NUMBERS, "error_one", "BDSCV", None),
        ("the best of twenty random cuts brings it nearer to the truth", FOLKLORE, NUMBERS, "error_one", RERANDOMISED, None),
        ("the best of twenty random cuts brings it nearer to the truth", FOLKLORE, CLASSES, "error_one", RERANDOMISED, None),
    )
)
HOLDS, FAILS, OPEN = "holds", "the opposite", "not decided"


def ledger(populations: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
    """Judge the claims of the field whose cuts were run: by how much they hold, and p corrected by Holm for their number.

    ``difference`` is the mean over populations (of each over sizes and k) of the measure of ``lower`` less that of ``higher``: in
    percentage points of the true error for bias, of the pairs of learners for ``choice``; for `RATIOS` in per cent of ``higher``.
    """
    rows: Rows = []
    gaps = []
    for one in CLAIMS:
        own_task = populations[populations["task"] == one.task]
        (lower, below), (higher, above) = (_claim_side(own_task, one, side) for side in (one.lower, one.higher))
        if below.empty or above.empty:
            continue
        own = _gaps(below, above, one.measure)
        difference, error = _difference(own, one.measure)
        row = one._asdict() | {"lower": lower, "higher": higher}
        row |= {"difference": difference, "standard_error": error, "n_populations": len(own)}
        rows.append(row | {name: _difference(own[start::2], one.measure)[0] for start, name in enumerate(HALVES)})
        gaps.append(own)
    p_values, p_holm, verdicts = _verdicts(gaps, alpha)
    without = {
        name: _verdicts([own.drop(name, errors="ignore") for own in gaps], alpha)[2]
        for name in populations["population"].unique()
    }
    turned_by = [", ".join(name for name, other in without.items() if other[i] != one) for i, one in enumerate(verdicts)]
    table = pd.DataFrame(rows, columns=LEDGER[:-5])
    table["p_value"], table["p_holm"], table["verdict"] = p_values, p_holm, verdicts
    return table.assign(turned_by=turned_by, verdict_of_half=_verdicts([own[::2] for own in gaps], alpha)[2])


def _verdicts(gaps: list[pd.Series], alpha: float) -> tuple[FloatArray, FloatArray, list[str]]:
    """Test each claim on the gaps of its populations: p, p corrected by Holm for the number of claims, and verdict."""
    p_values = np.array([_p_value(own) for own in gaps], dtype=np.float64)
    corrected = adjust_p(p_values, "holm") if len(gaps) else p_values
    signs = [own.sum() for own in gaps]
    return p_values, corrected, [OPEN if not p <= alpha else HOLDS if sign < 0 else FAILS for p, sign in zip(corrected, signs)]


HALVES = ("difference_of_half", "difference_of_other_half")
LEDGER = ["claim", "source", "task", "measure", "lower", "higher", "difference", "standard_error", "n_populations", *HALVES]
LEDGER += ["p_value", "p_holm", "verdict", "turned_by", "verdict_of_half"]


def _claim_side(part: pd.DataFrame, claim: FieldClaim, side: str | int | None) -> tuple[str, pd.Series]:
    """Name one side of a claim, and select its measure by population, size and (if the sides have equal ones) k."""
    reference = REFERENCES[claim.task]
    if isinstance(side, int):
        values = part[(part["cut"] == reference) & (part["k"] == side)].set_index(["population", "n_sample"])[claim.measure]
        return f"{reference} with {side} folds", values
    cut = side or reference
    return cut, _of_cut(part, cut, claim.measure)


def _of_cut(part: pd.DataFrame, cut: str, measure: str) -> pd.Series:
    """Select a measure of one cut, by population, size and k."""
    return part[part["cut"] == cut].set_index(["population", "n_sample", "k"])[measure]


def _gaps(below: pd.Series, above: pd.Series, measure: str) -> pd.Series:
    """Mean over sizes and k of a difference, or of the logarithm of a ratio, by population."""
    if measure in RATIOS:
        gaps = np.log(below[below > 0]) - np.log(above[above > 0])
    else:
        gaps = (below - above) * (100 if measure == "choice" else 1)
    return gaps.dropna().groupby(level="population", sort=False).mean()


def _difference(gaps: pd.Series, measure: str) -> tuple[float, float]:
    """Mean over populations and its standard error, in per cent for ratios."""
    mean, error = mean_and_error(gaps)
    return (100 * math.expm1(mean), 100 * math.exp(mean) * error) if measure in RATIOS else (mean, error)


def by_folds(populations: pd.DataFrame, cuts: Sequence[str]) -> pd.DataFrame:
    """Compare each cut with the reference with as many folds, over all sizes.

    Differences as in the `ledger`, with standard error over populations and p of Student's t, two-sided and not corrected.
    """
    table = []
    for (task, k), part in populations.groupby(["task", "k"], sort=True, observed=True):
        if (part["cut"] == REFERENCES[task]).any():
            for cut in (one for one in cuts if one != REFERENCES[task] and one in set(part["cut"])):
                row: dict[str, Any] = {"task": task, "k": k, "cut": cut}
                for measure in COMPARED:
                    gaps = _gaps(_of_cut(part, cut, measure), _of_cut(part, REFERENCES[task], measure), measure)
                    row["n_populations"] = max(len(gaps), row.get("n_populations", 0))
                    row[measure], row[f"{measure}_error"] = _difference(gaps, measure)
                    row[f"{measure}_p"] = _p_value(gaps)
                table.append(row)
    columns = [f"{measure}{end}" for measure in COMPARED for end in ("", "_error", "_p")]
    return pd.DataFrame(table, columns=["task", "k", "cut", "n_populations", *columns])


def _p_value(gaps: pd.Series) -> float:
    """p of Student's t over populations, two-sided; NaN for fewer than three."""
    if len(gaps) < 3:
        return np.nan
    spread = gaps.std(ddof=1)
    return float(stats.ttest_1samp(gaps, 0.0).pvalue) if spread > 0 else 1.0 if not gaps.any() else 0.0


def answer(honesty: pd.DataFrame, coverage: pd.DataFrame, level: float, n_questions: int = 1) -> pd.DataFrame:
    """Recommend cut, number of folds, repetitions and interval by task and size, with the cost of doing otherwise.

    Errors are root mean squares of one repetition, geometric means over populations. `n_questions` is the number of learners for
    which such a table is made: the best of many is chosen, so that p is multiplied by it.
    """
    table = []
    for (task, n_sample), part in honesty.groupby(["task", "n_sample"], sort=False):
        part = part.dropna(subset=["typical"])
        if part.empty:
            continue
        nearest, references = part.loc[part["typical"].idxmin()], part[part["cut"] == REFERENCES[task]]
        is_reference = nearest["cut"] == REFERENCES[task]
        row = {"task": task, "n_sample": n_sample, "nearest": nearest["cut"], "nearest_k": nearest["k"]}
        row["gain"] = 0.0 if is_reference else -100 * math.expm1(nearest["times"])
        row["gain_error"] = 100 * math.exp(nearest["times"]) * nearest["times_error"]
        n_chosen_from = n_questions * (len(part) - len(references))
        is_gain = not is_reference and _is_gain(nearest, n_chosen_from)
        row["decided"] = "reference" if is_reference else "yes" if is_gain else "no"
        # A cut that was not shown to be nearer is not recommended.
        best = nearest if is_gain or references.empty else references.loc[references["typical"].idxmin()]
        fixed = best["error_one"] ** 2 - best["spread"] ** 2
        repetitions = max(math.ceil(best["spread"] ** 2 / (ENOUGH * fixed)), 1) if fixed > 0 else np.nan
        row |= {"cut": best["cut"], "k": best["k"], "error": best["typical"]}
        row |= {"repetitions": repetitions, "fits": best["k"] * repetitions}
        own = coverage[(coverage[["task", "n_sample", "k"]] == [task, n_sample, best["k"]]).all(axis=1)]
        own = own[(own["partitioner"] == best["cut"])].dropna(subset=["coverage", "width"])
        shown = own[own["coverage"] - FAR * own["coverage_error"] >= level - TOLERANCE]
        if len(shown):
            chosen = shown.loc[shown["width"].idxmin()]
        else:
            chosen = own.loc[own["coverage"].idxmax()] if len(own) else {"interval": "none", "coverage": np.nan}
        row |= {"interval": chosen["interval"], "coverage": chosen["coverage"], "holds": "yes" if len(shown) else "not shown"}
        plain = own[own["interval"] == PLAIN]["coverage"]
        table.append(row | _otherwise(part, references, best) | {"plain_coverage": plain.iloc[0] if len(plain) else np.nan})
    return pd.DataFrame(table, columns=ANSWER)


ANSWER = ["task", "n_sample", "cut", "k", "error", "repetitions", "fits", "interval", "coverage", "holds"]
ANSWER += ["nearest", "nearest_k", "gain", "gain_error", "decided"]
ANSWER += ["fewest_k", "fewest_error", "lowest", "lowest_bias", "lowest_error", "plain_coverage"]


def _otherwise(part: pd.DataFrame, references: pd.DataFrame, best: pd.Series) -> dict[str, Any]:
    """Errors of common habits: few folds, and the cut that gives the lowest estimate."""
    fewest = (references if len(references) else part).sort_values("k").iloc[0]
    same_k = part[part["k"] == best["k"]].dropna(subset=["bias_whole"])
    lowest = same_k.loc[same_k["bias_whole"].idxmin()]
    found = {"fewest_k": fewest["k"], "fewest_error": fewest["typical"]}
    return found | {"lowest": lowest["cut"], "lowest_bias": lowest["bias_whole"], "lowest_error": lowest["typical"]}


def _is_gain(nearest: pd.Series, n_chosen_from: int, alpha: float = 0.05) -> bool:
    """True if the best of several cuts beats the reference, with p corrected for the choice among them."""
    if nearest["n_populations"] < 3 or not nearest["times_error"] > 0:
        return False
    t = -nearest["times"] / nearest["times_error"]
    return 2 * stats.t.sf(t, nearest["n_populations"] - 1) * n_chosen_from <= alpha
