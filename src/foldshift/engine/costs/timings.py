"""What jobs took, against what they were thought to take."""

import csv
from typing import NamedTuple

PRIOR = 30.0  # predicted seconds that a prediction weighs against what jobs have really taken
KEPT = "compile_kernels"  # a rule whose cost is that of what is not kept: once it is done, it is not what was planned


class Ended(NamedTuple):
    """A job that has ended, or goes on for longer than predicted: its rule, and the seconds predicted and taken."""

    rule: str
    predicted: float
    taken: float


def seconds_taken(path):
    """Wall time of a job as Snakemake noted it.

    Parameters
    ----------
    path : path-like
        The file that Snakemake wrote: a row of times below their names.

    Returns
    -------
    seconds : float or None
        None where the file is missing, or is not one of those.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return float(next(csv.DictReader(file, delimiter="\t"))["s"])
    except (OSError, StopIteration, KeyError, TypeError, ValueError):
        return None


def ended_jobs(jobs, pace=1.0):
    """Jobs that are done and were timed, but for those that compile.

    Parameters
    ----------
    jobs : sequence of foldshift.engine.costs.plan.Job
        Jobs that are done; the files named by `timed` are read.
    pace : float, default=1.0
        By how much jobs take longer on this machine than their `seconds`; see `foldshift.engine.costs.machine_speed`.

    Returns
    -------
    ended : list of Ended
    """
    found = [
        Ended(job.rule, pace * job.seconds, seconds_taken(job.timed)) for job in jobs if job.timed and not job.rule.endswith(KEPT)
    ]
    return [job for job in found if job.taken is not None]


def factors(ended):
    """By how much the jobs of every rule take longer than predicted.

    Parameters
    ----------
    ended : sequence of Ended

    Returns
    -------
    overall : float
        For rules of which no job has ended.
    by_rule : dict of str to float
        Drawn towards `overall`, and that towards 1, the more the less was predicted for what has ended.
    """
    overall = (PRIOR + sum(job.taken for job in ended)) / (PRIOR + sum(job.predicted for job in ended))
    sums = {}
    for job in ended:
        predicted, taken = sums.get(job.rule, (0.0, 0.0))
        sums[job.rule] = predicted + job.predicted, taken + job.taken
    return overall, {rule: (PRIOR * overall + taken) / (PRIOR + predicted) for rule, (predicted, taken) in sums.items()}
