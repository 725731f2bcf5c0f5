"""Measured job times against predicted ones."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.engine.costs.plan import Job

PRIOR = 30.0  # predicted seconds that a prediction weighs against what jobs have really taken
SHORT = 10.0  # seconds below which Snakemake has seen too little of a job to say how busy it was
OFTEN, LOOKS = 16.0, 30.0  # Snakemake looks at a job twice a second for so many seconds, then once in so many
WAITS = "fetch_dataset"  # a rule whose jobs wait for hosts: all of their time counts
KEPT = "compile_kernels"  # a rule whose cost is that of what is not kept: once it is done, it is not what was planned


class Ended(NamedTuple):
    """A job that has ended, or has run longer than predicted: its rule, and the seconds predicted and taken."""

    rule: str
    predicted: float
    taken: float


def seconds_taken(path: PathLike, waits: bool = False) -> float | None:
    """Read how long a job took, in seconds, less the time in which other work had its processor; None if nothing was recorded.

    `waits`: the job is one that waits for something else than a processor.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            row = next(csv.DictReader(file, delimiter="\t"))
        wall = float(row["s"])
    except (OSError, StopIteration, KeyError, TypeError, ValueError):
        return None
    return wall if waits or wall < SHORT else wall * _busy(row)


def _busy(row: dict[str, str]) -> float:
    """Share of its time in which a job had a processor, from Snakemake's mean load in per cent; 1 where it is not recorded.

    Snakemake divides what it saw up to its last look by the whole time; the load is that of the time up to that look.
    """
    try:
        load, wall = float(row["mean_load"]), float(row["s"])
    except (KeyError, TypeError, ValueError):
        return 1.0
    seen = wall if wall <= OFTEN else OFTEN + LOOKS * ((wall - OFTEN) // LOOKS)
    return min(load / 100 * wall / seen, 1.0) if math.isfinite(load) and load > 0 else 1.0


def ended_jobs(jobs: Sequence[Job], pace: float = 1.0) -> list[Ended]:
    """Finished jobs with a recorded time, except those that compile."""
    timed = (
        (job, seconds_taken(job.timed, job.rule.endswith(WAITS))) for job in jobs if job.timed and not job.rule.endswith(KEPT)
    )
    return [Ended(job.rule, pace * job.seconds, taken) for job, taken in timed if taken is not None]


def factors(ended: Sequence[Ended]) -> tuple[float, dict[str, float]]:
    """Return how much longer than predicted jobs take: overall, and by rule."""
    overall = (PRIOR + sum(job.taken for job in ended)) / (PRIOR + sum(job.predicted for job in ended))
    sums: dict[str, tuple[float, float]] = {}
    for job in ended:
        predicted, taken = sums.get(job.rule, (0.0, 0.0))
        sums[job.rule] = predicted + job.predicted, taken + job.taken
    return overall, {rule: (PRIOR * overall + taken) / (PRIOR + predicted) for rule, (predicted, taken) in sums.items()}
