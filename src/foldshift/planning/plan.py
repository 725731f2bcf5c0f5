"""What a run will take, before anything is started: jobs, core-hours, longest job, memory, disk, and the time on some cores."""

import heapq

from foldshift.planning.jobs import TABLE_JOBS

REPORTING = {rule for jobs in TABLE_JOBS.values() for rule in jobs}
TOGETHER = "tables_and_figures"  # rules of one job each
CORES = (1, 2, 4, 8, 16, 32, 64, 128)
DISPATCH = 0.02  # seconds that Snakemake takes to start one job, one after the other


def simulate(jobs, n_cores):
    """Time until the last of some jobs is done, if the longest of those that are ready always goes first.

    Parameters
    ----------
    jobs : sequence of foldshift.planning.jobs.Job
        In an order in which they can run; each takes one core.
    n_cores : int

    Returns
    -------
    seconds : float
    """
    waiting, after = {}, {}
    ready = []
    for i, job in enumerate(jobs):
        waiting[i] = len(set(job.needs))
        for need in set(job.needs):
            after.setdefault(need, []).append(i)
        if not waiting[i]:
            heapq.heappush(ready, (-job.seconds, i))
    running, now, started = [], 0.0, 0.0
    while ready or running:
        while ready and len(running) < n_cores:
            _, i = heapq.heappop(ready)
            started = max(started + DISPATCH, now)
            heapq.heappush(running, (started + jobs[i].seconds, i))
        now, i = heapq.heappop(running)
        for later in after.get(i, ()):
            waiting[later] -= 1
            if not waiting[later]:
                heapq.heappush(ready, (-jobs[later].seconds, later))
    return now


def remaining(jobs, done):
    """The jobs that are not done, with their needs among themselves.

    Parameters
    ----------
    jobs : sequence of foldshift.planning.jobs.Job
    done : sequence of bool

    Returns
    -------
    jobs : list of foldshift.planning.jobs.Job
    """
    position, left = {}, []
    for i, (job, is_done) in enumerate(zip(jobs, done)):
        if not is_done:
            position[i] = len(left)
            left.append(job._replace(needs=tuple(position[need] for need in job.needs if need in position)))
    return left


def plan_text(jobs, done, unmeasured, n_cores):
    """The plan as text for a terminal.

    Parameters
    ----------
    jobs : sequence of foldshift.planning.jobs.Job
    done : sequence of bool
        Whether the output of each job exists.
    unmeasured : sequence of str
        Learners that the table of costs does not know.
    n_cores : int
        Cores of this run; a column of their own in the list of times.

    Returns
    -------
    text : str
    """
    lines = [f"{'rule':30}{'jobs':>7}{'done':>7}{'core-hours':>12}{'longest':>10}{'memory':>10}{'disk':>10}"]
    rules = {}
    for job, is_done in zip(jobs, done):
        rules.setdefault(TOGETHER if job.rule in REPORTING else job.rule, []).append((job, is_done))
    for rule, members in (*rules.items(), ("all", list(zip(jobs, done)))):
        left = [job for job, is_done in members if not is_done]
        lines.append(
            f"{rule:30}{len(members):>7,}{len(members) - len(left):>7,}{sum(job.seconds for job in left) / 3600:>12.2f}"
            f"{duration(max((job.seconds for job in left), default=0)):>10}{max((job.mb for job in left), default=0) / 1000:>7.1f} GB"
            f"{sum(job.megabytes for job in left) / 1000:>7.2f} GB"
        )
    left = remaining(jobs, done)
    times = {n: simulate(left, n) for n in sorted({*CORES, n_cores})}
    lines += [
        "",
        "Time, if nothing else runs: "
        + ", ".join(f"{n} cores {duration(seconds)}" if n > 1 else f"1 core {duration(seconds)}" for n, seconds in times.items()),
    ]
    lines.append(
        "Core-hours, longest job and disk are those of the jobs that are left; memory is that of the largest job. Times are those of the machine of config/costs.tsv."
    )
    if unmeasured:
        lines.append(
            f"Without measurements, taken for slow (50 ms per fit with 1,000 rows and 10 columns): {', '.join(unmeasured)}."
        )
    lines.append(
        "Nothing was started. A file that exists counts as done; `snakemake --dry-run` says which of them are out of date."
    )
    return "\n".join(lines)


def duration(seconds):
    """A time for people: ``45 s``, ``12 min``, ``3.4 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
