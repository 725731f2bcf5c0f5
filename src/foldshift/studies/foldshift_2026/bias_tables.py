"""Distance of estimates from the truth, by cut: bias against three truths, spread, error, right choices of two learners."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.studies.foldshift_2026.partitioners import REFERENCES

if TYPE_CHECKING:
    from foldshift.core.types import TableLike

CELL = ["task", "n_sample", "k", "cut"]
MEASURES = ("bias_training", "bias_models", "bias_whole", "spread", "error_one", "error_ten", "choice")
REPEATED = 10  # repetitions of `error_ten`
TYPICAL = ("typical", "times", "times_error")
FAR = 2.0  # standard errors, by which two learners truly differ
MOST_FAILED = 0.05  # share of failed samples beyond which a population and learner are left out


def whole_samples(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out samples with a failed fit, for all cuts, and pairs of population and learner with many of them."""
    pair = ["population", "learner", "n_sample"]
    failed = rows["estimate"].isna() | rows["truth_whole"].isna()
    failed |= rows["truth_parts"].isna() & (rows["repetition"] == 0)
    in_sample = failed.groupby([rows[key] for key in [*pair, "replicate"]], observed=True).transform("any")
    share = in_sample.groupby([rows[key] for key in pair], observed=True).transform("mean")
    return rows[~in_sample & (share <= MOST_FAILED)]


def by_learner(rows: pd.DataFrame) -> pd.DataFrame:
    """Measures of every population, learner, size, k and cut, in per cent of the learner's true error; all but ``choice``.

    ``bias_training`` is the mean estimate less the mean error of models trained on random parts of (k - 1) / k of the sample
    (those of the reference cut), ``bias_models`` less that of these very models, ``bias_whole`` less that of models of the whole
    sample. ``spread`` is the standard deviation over repetitions on one sample; ``error_one`` and ``error_ten`` are root mean
    squared errors of one repetition and of the mean of ten, with the noise of the truth taken out.
    """
    one = ["population", "learner", *CELL]
    numbers = pd.DataFrame(
        {
            "estimate": rows["estimate"],
            "bias_models": rows["estimate"] - rows["truth_parts"],
            "bias_whole": rows["estimate"] - rows["truth_whole"],
            "square": (rows["estimate"] - rows["truth_whole"]) ** 2 - rows["truth_whole_noise"] ** 2,
            "truth_parts": rows["truth_parts"],
            "truth_whole": rows["truth_whole"],
        }
    )
    keys = [rows[name] for name in one]
    table = numbers.groupby(keys, sort=False, observed=True).mean()
    between = numbers["estimate"].groupby([*keys, rows["replicate"]], sort=False, observed=True).var(ddof=1)
    table["spread"] = np.sqrt(between.groupby(level=one, sort=False, observed=True).mean())
    table["error_one"] = np.sqrt(table["square"].clip(lower=0.0))
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
