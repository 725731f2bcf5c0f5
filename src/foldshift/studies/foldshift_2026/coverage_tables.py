"""Coverage of intervals, as found and with the noise of the truth taken out, and the control of independent losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.inference.intervals.moments import LossMoments, moment_intervals
from foldshift.inference.simulation.coverage import THESE_MODELS, WHOLE_SAMPLE
from foldshift.studies.foldshift_2026.crossed_effects import population_effect
from foldshift.studies.foldshift_2026.truth_noise import covered, covered_without_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import Rows

MOMENTS = [name for name in LossMoments._fields if name not in ("K", "M")]
TARGETS = {WHOLE_SAMPLE: ("truth_whole", "truth_whole_noise"), THESE_MODELS: ("truth_parts", "truth_parts_noise")}
PAIR = ["task", "n_sample", "k", "cut", "target", "interval", "population", "learner"]
VALUES = ("found", "coverage", "width", "bias")
COVERAGE = [*PAIR[:6], "n_populations", "n_learners", "least_samples", "lowest"]
COVERAGE += [f"{name}{end}" for name in VALUES for end in ("", "_error")]
CONTROL = [
    "n_sample",
    "interval",
    "n_populations",
    "least_samples",
    "found",
    "found_error",
    "coverage",
    "coverage_error",
    "passes",
]
CONTROL_RANGE = (0.945, 0.955)


def interval_pairs(rows: pd.DataFrame, level: float) -> pd.DataFrame:
    """Coverage, width and bias of every interval of one cross-validation, by population and learner.

    ``found`` is the share of samples whose interval holds the truth as it was measured, ``coverage`` the same with the noise of
    the truth taken out; width and bias (estimate less truth) in per cent of the mean truth.
    """
    out: Rows = []
    first = rows[rows["repetition"] == 0]
    for keys, part in first.groupby(["task", "n_sample", "k", "cut", "population", "learner"], sort=False, observed=True):
        own = dict(zip([*PAIR[:4], *PAIR[6:]], keys))
        numbers: dict[str, Any] = {name: part[name].to_numpy() for name in MOMENTS}
        moments = LossMoments(**numbers, K=int(part["K"].max()), M=float(part["M"].max()))
        for interval in moment_intervals(moments, confidence=level, binary=own["task"] == "classification"):
            for target, (truth, noise) in TARGETS.items():
                ends = pd.DataFrame({"estimate": interval.estimate, "low": interval.low, "high": interval.high})
                ends["truth"], ends["truth_noise"] = part[truth].to_numpy(), part[noise].to_numpy()
                out.append(own | {"target": target, "interval": interval.name} | pair_values(ends))
    return pd.DataFrame(out, columns=[*PAIR, *VALUES, "n_samples"])


def pair_values(ends: pd.DataFrame) -> dict[str, float]:
    """Compute `VALUES` of the samples of one population and learner; ``n_samples`` are those with a truth and an estimate."""
    ends = ends[ends["estimate"].notna() & ends["truth"].notna()]
    truth, scale = ends["truth"], 100 / ends["truth"].mean() if ends["truth"].mean() > 0 else np.nan
    return {
        "found": covered(ends["low"], ends["high"], truth).mean() if len(ends) else np.nan,
        "coverage": (
            covered_without_noise(ends["low"], ends["high"], truth, ends["truth_noise"]).mean() if len(ends) else np.nan
        ),
        "width": scale * (ends["high"] - ends["low"]).mean(),
        "bias": scale * (ends["estimate"] - truth).mean(),
        "n_samples": len(ends),
    }


def coverage_table(pairs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Means of `VALUES` over populations, of each over its learners, by some columns; ``lowest`` of a population."""
    out: Rows = []
    for keys, part in pairs.groupby(list(by), sort=False, observed=True):
        values = part.set_index(["population", "learner"])
        row = dict(zip(by, keys)) | {"least_samples": int(values["n_samples"].min())}
        row["lowest"] = values["coverage"].groupby("population").mean().min()
        for name in VALUES:
            effect = population_effect(values[name].dropna())
            row[name], row[f"{name}_error"] = effect.mean, effect.error
            if name == "coverage":
                row |= {"n_populations": effect.n_populations, "n_learners": effect.n_learners}
        out.append(row)
    rest = [name for name in COVERAGE if name not in PAIR]
    return pd.DataFrame(out, columns=[*by, *rest])


def method_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Compute the values of `pair_values` of intervals that need fits of their own, by population and learner."""
    out: Rows = []
    keys = ["task", "n_sample", "method", "cut", "population", "learner"]
    for values, part in rows.groupby(keys, sort=False, observed=True):
        own = dict(zip(["task", "n_sample", "interval", "cut", "population", "learner"], values))
        out.append(own | {"n_fits": int(part["n_fits"].max())} | pair_values(part))
    columns = ["task", "n_sample", "interval", "cut", "population", "learner", "n_fits", *VALUES, "n_samples"]
    return pd.DataFrame(out, columns=columns)


def control_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage of the control by size and interval: means over populations with their standard errors."""
    rows = rows.assign(
        found=covered(rows["low"], rows["high"], rows["truth"]),
        coverage=covered_without_noise(rows["low"], rows["high"], rows["truth"], rows["truth_noise"]),
    )
    out: Rows = []
    for (n_sample, interval), part in rows.groupby(["n_sample", "interval"], sort=False, observed=True):
        by_population = part.groupby("population", observed=True)
        row = {"n_sample": n_sample, "interval": interval, "least_samples": int(by_population.size().min())}
        for name in ("found", "coverage"):
            effect = population_effect(pd.concat({"none": by_population[name].mean()}, names=["learner"]))
            row[name], row[f"{name}_error"], row["n_populations"] = effect.mean, effect.error, effect.n_populations
        low, high = CONTROL_RANGE
        out.append(row | {"passes": "yes" if low <= round(row["coverage"], 4) <= high else "no"})
    return pd.DataFrame(out, columns=CONTROL)
