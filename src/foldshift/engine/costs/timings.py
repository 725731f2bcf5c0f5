"""Measured job times against predicted ones."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.engine.costs.plan import Job

PRIOR = 30.0  # predicted seconds that a prediction weighs against what jobs have really taken
KEPT = "compile_kernels"  # a rule whose cost is that of what is not kept: once it is done, it is not what was planned


class Ended(NamedTuple):
    """A job that has ended, or has run longer than predicted: its rule, and the seconds predicted and taken."""

    rule: str
    predicted: float
    taken: float


def seconds_taken(path: PathLike) -> float | None:
    """Read the wall time of a job, in seconds, that Snakemake recorded; None if the file is missing or damaged."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return float(next(csv.DictReader(file, delimiter="\t"))["s"])
    except (OSError, StopIteration, KeyError, TypeError, ValueError):
        return None


def ended_jobs(jobs: Sequence[Job], pace: float = 1.0) -> list[Ended]:
    """Finished jobs with a recorded time, except those that compile."""
    timed = ((job, seconds_taken(job.timed)) for job in jobs if job.timed and not job.rule.endswith(KEPT))
    return [Ended(job.rule, pace * job.seconds, taken) for job, taken in timed if taken is not None]


def factors(ended: Sequence[Ended]) -> tuple[float, dict[str, float]]:
    """Return how much longer than predicted jobs take: overall, and by rule."""
    overall = (PRIOR + sum(job.taken for job in ended)) / (PRIOR + sum(job.predicted for job in ended))
    sums: dict[str, tuple[float, float]] = {}
    for job in ended:
        predicted, taken = sums.get(job.rule, (0.0, 0.0))
        sums[job.rule] = predicted + job.predicted, taken + job.taken
    return overall, {rule: (PRIOR * overall + taken) / (PRIOR + predicted) for rule, (predicted, taken) in sums.items()}
