"""Plan of a run, before anything is started: jobs, core-hours, longest job, memory, disk, and the time on some cores."""

from __future__ import annotations

import heapq
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.engine.costs.timings import ended_jobs, factors

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.engine.costs.timings import Ended

TOGETHER = "tables_and_figures"  # rules of one job each
RECORD = "FOLDSHIFT_RECORD"  # environment variable: the file that a dry run writes its jobs to
CORES = (1, 2, 4, 8, 16, 32, 64, 128)
DISPATCH = 0.02  # seconds that Snakemake takes to start one job, one after the other


class Job(NamedTuple):
    """One job of the workflow."""

    rule: str
    seconds: float  # expected seconds of one core
    mb: float  # memory in MB
    writes_mb: float  # expected size of what it writes
    needs: tuple[Any, ...]  # those that must be done before: positions in a list of jobs, or ids
    makes: str = ""  # the first of its files
    timed: str = ""  # the file that says what it took, once it is done


class Recorder(logging.Handler):
    """Log handler that writes the jobs of a dry run to a file, one JSON object a line; `read_jobs` reads them."""

    def __init__(self, path: PathLike) -> None:
        super().__init__()
        self.path = path

    def emit(self, record: Any) -> None:
        """Record a job; ignore everything else that is logged."""
        if str(getattr(record, "event", "")) != "job_info":
            return
        resources = {name: record.resources.get(name, 0) for name in ("expected_s", "mem_mb", "writes_mb")}
        job = {"rule": record.rule_name, "input": list(record.input), "output": list(record.output), **resources}
        if timed := getattr(record, "benchmark", None):
            job["timed"] = timed
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(job, default=str) + "\n")


def read_jobs(path: PathLike) -> list[Job]:
    """Read the jobs of a dry run, without those that make no file."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if row["output"]]
    except FileNotFoundError:
        rows = []
    makers = {output: i for i, row in enumerate(rows) for output in row["output"]}
    needs = [{makers[name] for name in row["input"] if name in makers} for row in rows]
    waiting = [len(some) for some in needs]
    after: list[list[int]] = [[] for _ in rows]
    for i, some in enumerate(needs):
        for need in some:
            after[need].append(i)
    order = [i for i, n in enumerate(waiting) if not n]
    for i in order:  # grows while it is read
        for later in after[i]:
            waiting[later] -= 1
            if not waiting[later]:
                order.append(later)
    position = {i: place for place, i in enumerate(order)}
    return [
        Job(
            rows[i]["rule"],
            float(rows[i]["expected_s"]),
            float(rows[i]["mem_mb"]),
            float(rows[i]["writes_mb"]),
            tuple(sorted(position[need] for need in needs[i])),
            rows[i]["output"][0],
            rows[i].get("timed", ""),
        )
        for i in order
    ]


def in_a_list(jobs: Mapping[int, Job]) -> list[Job]:
    """List jobs that are given by id, each after those that it needs, without those that make no file."""
    position = {i: place for place, i in enumerate(i for i, job in jobs.items() if job.makes)}
    return [jobs[i]._replace(needs=tuple(position[need] for need in jobs[i].needs if need in position)) for i in position]


def simulate(jobs: Sequence[Job], n_cores: int, dispatch: float = DISPATCH) -> float:
    """Simulate the time until the last job is done, if the longest job that is ready always goes first."""
    waiting: dict[int, int] = {}
    after: dict[int, list[int]] = {}
    ready: list[tuple[float, int]] = []
    for i, job in enumerate(jobs):
        waiting[i] = len(set(job.needs))
        for need in set(job.needs):
            after.setdefault(need, []).append(i)
        if not waiting[i]:
            heapq.heappush(ready, (-job.seconds, i))
    running: list[tuple[float, int]] = []
    now = started = 0.0
    while ready or running:
        while ready and len(running) < n_cores:
            _, i = heapq.heappop(ready)
            started = max(started + dispatch, now)
            heapq.heappush(running, (started + jobs[i].seconds, i))
        now, i = heapq.heappop(running)
        for later in after.get(i, ()):
            waiting[later] -= 1
            if not waiting[later]:
                heapq.heappush(ready, (-jobs[later].seconds, later))
    return now


def plan_text(
    everything: Sequence[Job],
    left: Sequence[Job],
    reporting: Collection[str],
    unmeasured: Sequence[str],
    n_cores: int,
    pace: float = 1.0,
) -> str:
    """Format the plan as text for a terminal."""
    to_run = {job.makes for job in left}
    done = [job for job in everything if job.makes not in to_run]  # their costs are those of the table
    there = sum(job.seconds for job in left)
    ended = ended_jobs(done)
    overall, by_rule = factors([job._replace(predicted=pace * job.predicted) for job in ended])
    left = [job._replace(seconds=pace * by_rule.get(job.rule, overall) * job.seconds) for job in left]

    def members_of(jobs: Any) -> dict[str, list[Any]]:
        rules: dict[Any, Any] = {}
        for job in jobs:
            rules.setdefault(TOGETHER if job.rule in reporting else job.rule, []).append(job)
        return rules

    def times_of(some: list[Ended]) -> tuple[float, float]:
        return sum(job.predicted for job in some), sum(job.taken for job in some)

    rules, to_do = members_of(everything), members_of(left)
    times_by_rule = {rule: times_of(some) for rule, some in members_of(ended).items()}
    all_planned, all_taken = times_of(ended)
    unit, size = unit_of(max(sum(job.seconds for job in left), all_taken))
    lines = [f"{'rule':36}{'jobs':>7}{'done':>7}{unit:>14}{'longest':>10}{'memory':>10}{'disk':>10}{'took':>9}{'of plan':>9}"]
    for rule, members, some, (planned, taken) in (
        *((rule, members, to_do.get(rule, []), times_by_rule.get(rule, (0, 0))) for rule, members in rules.items()),
        ("all", everything, left, (all_planned, all_taken)),
    ):
        longest, largest = (max((getattr(job, one) for job in some), default=0) for one in ("seconds", "mb"))
        lines.append(
            f"{rule:36}{len(members):>7,}{len(members) - len(some):>7,}{sum(job.seconds for job in some) / size:>14.2f}"
            f"{duration(longest):>10}{largest / 1000:>7.1f} GB"
            f"{sum(job.writes_mb for job in some) / 1000:>7.2f} GB"
            + (f"{taken / size:>9.2f}{taken / planned:>9.2f}" if planned else "")
        )
    times = {n: simulate(left, n) for n in sorted({*CORES, n_cores})}
    lines += [
        "",
        "Time, if nothing else runs: "
        + ", ".join(f"{n} cores {duration(seconds)}" if n > 1 else f"1 core {duration(seconds)}" for n, seconds in times.items()),
        f"{unit.capitalize()}, longest job and disk are those of the jobs that are left; memory is that of the largest job. "
        f"Times are those of this machine, which has just done a fixed piece of work in {pace:.2f} times what it takes where the "
        f"costs were measured; there: {there / size:.2f} {unit}.",
    ]
    if all_planned:
        lines.append(
            f"Took: {unit} of the jobs that are done, as far as they were timed, less the time in which other work had their "
            f"processor ({all_taken / size:.2f} where {all_planned / size:.2f} were planned by costs as they stand); of plan: "
            f"the ratio of the two. What is left is taken to go as they went: {overall:.2f} times what costs and machine say, "
            "each rule more by its own jobs."
        )
    if unmeasured:
        lines.append(
            f"Without measurements, taken for slow (50 ms per fit with 1,000 rows and 10 columns): {', '.join(unmeasured)}."
        )
    lines.append("Done is what this configuration would not run again.")
    return "\n".join(lines)


def unit_of(seconds: float) -> tuple[str, float]:
    """Choose the unit of core-time: its name and its seconds."""
    return ("core-hours", 3600.0) if seconds >= 3600 else ("core-minutes", 60.0)


def duration(seconds: float) -> str:
    """Format a duration: ``45 s``, ``12 min``, ``3.4 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
