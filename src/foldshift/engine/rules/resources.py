"""Resources of jobs: memory, time limits, expected costs. Functions in the form in which Snakemake calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foldshift.engine.costs.cost_record import Cost

Quantity = float | Cost | Callable[[Any], float | Cost]  # a number, a cost in seconds, or a function of the wildcards

OVERHEAD_MB = 500  # on a cluster, two Snakemakes of 200 MB each run beside a job, within its memory
IDLE_MB = 600  # of a process that has imported the library and holds no data
RESERVE_MB = 400  # that a learner leaves to the process around it


def _seconds(quantity: Quantity, wildcards: Any) -> float:
    """Seconds of a number, a cost, or a function of the wildcards that returns one of them."""
    value = quantity(wildcards) if callable(quantity) else quantity
    return value.seconds if isinstance(value, Cost) else value


def memory(mb: float | Callable[[Any], float]) -> Callable[[Any, int], int]:
    """Make the function for the memory of a job in MB: twice as much at every further attempt."""

    def resource(wildcards: Any, attempt: int) -> int:
        own = mb(wildcards) if callable(mb) else mb
        return round((OVERHEAD_MB + own) * 2 ** (attempt - 1))

    return resource


def expected_mb(cost: Callable[[Any], Cost], idle: float = IDLE_MB) -> Callable[[Any], float]:
    """Make the function for the expected memory of a job: an idle process, and the cost with a margin."""
    return lambda wildcards: idle + 1.5 * cost(wildcards).mb


def expected_seconds(cost: Quantity) -> Callable[[Any], float]:
    """Make the function for the expected seconds of one core: the plan and the progress read it, nothing is scheduled by it."""
    return lambda wildcards: round(_seconds(cost, wildcards), 2)


def written_mb(cost: Callable[[Any], Cost]) -> Callable[[Any], float]:
    """Make the function for the size of the files that a job writes."""
    return lambda wildcards: round(cost(wildcards).writes_mb, 3)


def minutes(seconds: Quantity, spare: float = 10) -> Callable[[Any, int], int]:
    """Make the function for the time limit of a job: five times the expected time plus `spare` minutes, and more at every
    attempt."""
    return lambda wildcards, attempt: round((spare + 5 * _seconds(seconds, wildcards) / 60) * attempt)


def current_attempt(wildcards: Any, attempt: int) -> int:
    """Return how many times the job was started; the profile for SLURM allows three."""
    return attempt


def limits_of_a_cell(cell_minutes: float | None, cell_memory_mb: float | None) -> Callable[[Any, Any], dict[str, float | None]]:
    """Make the function for the limits of a learner on one cell.

    New limits do not run again what went well, because Snakemake does not compare functions of resources. The last of three
    attempts stays below the memory of the job, so that a learner that needs more costs its cells and not the job.
    """

    def limits(wildcards: Any, resources: Any) -> dict[str, float | None]:
        mb = cell_memory_mb
        if resources.get("attempt", 1) >= 3:
            mb = min(mb or resources.mem_mb, resources.mem_mb - OVERHEAD_MB - RESERVE_MB)
        return {"minutes": cell_minutes, "memory_mb": mb}

    return limits
