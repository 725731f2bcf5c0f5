"""Progress of a run: how much of it is done, in jobs and in core-hours, and when it will end."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from foldshift.core.printable import printable, printable_lines
from foldshift.engine.costs.plan import simulate, unit_of
from foldshift.engine.costs.timings import Ended, factors

if TYPE_CHECKING:
    from logging import LogRecord

    from foldshift.engine.costs.plan import Job

STEP = 0.025  # share of the work that must be done between two lines: some forty lines, however long a run takes
LEAST = 0.1  # share of its expected time that a job which goes on is thought to need at least


class Estimate(NamedTuple):
    """Progress of a run and its expected time to the end."""

    done: float  # done, total: Core-seconds, of the finished jobs and of all
    total: float
    left: float | None  # seconds to the end; None while nothing tells


def estimate(
    jobs: dict[Any, Job],
    finished: dict[Any, float],
    running: dict[Any, float],
    elapsed: float,
    cores: int | None,
    before: Sequence[Ended] = (),
) -> Estimate:
    """Progress of a run and its expected time to the end.

    Jobs of earlier runs tell what a job takes on this machine alone; those of this run tell how much other work slows it down.
    """
    usual, usual_by_rule = factors(before)
    jobs = {i: job._replace(seconds=job.seconds * usual_by_rule.get(job.rule, usual)) for i, job in jobs.items()}
    ended = [Ended(jobs[i].rule, jobs[i].seconds, taken) for i, taken in finished.items()]
    late = [Ended(jobs[i].rule, jobs[i].seconds, taken) for i, taken in running.items() if taken > jobs[i].seconds]
    overall, by_rule = factors([*ended, *late])
    position: dict[Any, int] = {}
    left: list[Job] = []
    for i, job in jobs.items():
        if i not in finished:
            seconds = job.seconds * by_rule.get(job.rule, overall)
            remaining = max(seconds - running.get(i, 0.0), LEAST * max(seconds, running.get(i, 0.0)))
            position[i] = len(left)
            left.append(job._replace(seconds=remaining, needs=tuple(position[need] for need in job.needs if need in position)))
    done = sum(finished.values())
    total = done + sum(running.values()) + sum(job.seconds for job in left)
    if cores is not None:
        return Estimate(done, total, simulate(left, cores, dispatch=0.0))
    return Estimate(done, total, elapsed * (total - done) / done if done > 0 else None)


def progress_line(n_done: int, n_jobs: int, now: float, elapsed: float, state: Estimate, ended: bool = False) -> str:
    """Format the progress of a run as one line."""
    unit, size = unit_of(state.total)
    text = f"foldshift: {n_done} of {n_jobs} jobs, {state.done / size:.1f} of {state.total / size:.1f} {unit}"
    if n_done == n_jobs:
        return f"{text}, finished in {_long_duration(elapsed)}"
    if ended:
        return f"{text}, stopped after {_long_duration(elapsed)}"
    if state.left is None:
        return f"{text}, {_long_duration(elapsed)} so far"
    return f"{text}, about {_long_duration(state.left)} left ({_time_of_day(now + state.left, now)})"


class Progress(logging.Handler):
    """Log handler that follows Snakemake's jobs and reports the progress, at most every `interval` seconds.

    It waits until a share more is done.
    """

    def __init__(self, stream: IO[Any] | None = None, interval: float = 60.0, clock: Callable[..., Any] = time.time) -> None:
        super().__init__()
        self.stream, self.interval, self.clock = stream, interval, clock
        self.jobs: dict[int, Job] = {}
        self.begun: dict[int, float] = {}
        self.finished: dict[int, float] = {}
        self.cores: int | None = None
        self.before: Sequence[Ended] = ()
        self.failed: dict[int, tuple[str, list[str]]] = {}  # rule and log files of jobs that failed and were not done later
        self.started = self.looked = clock()
        self.share = -STEP

    def start(self, jobs: dict[int, Job], cores: int | None, logger: logging.Logger, before: Sequence[Ended] = ()) -> None:
        """Follow a run."""
        self.jobs, self.cores, self.before = jobs, cores, before
        self.started = self.looked = self.clock()
        logger.addHandler(self)

    def emit(self, record: Any) -> None:
        """Record jobs that begin and end; ignore everything else that is logged."""
        event, now = str(getattr(record, "event", "")), self.clock()
        if event == "job_info" and record.jobid in self.jobs:
            self.begun[record.jobid] = now
        elif event == "job_error":
            self.begun.pop(record.jobid, None)
            self.failed[record.jobid] = (str(record.rule_name), [str(path) for path in record.log or ()])
        elif event == "job_finished" and record.job_id in self.jobs:
            self.finished[record.job_id] = now - self.begun.pop(record.job_id, now)
            self.failed.pop(record.job_id, None)
            if now - self.looked >= self.interval and len(self.finished) < len(self.jobs):
                self.looked = now
                state = self.state()
                if state.done >= (self.share + STEP) * state.total:
                    self.share = state.done / state.total
                    self.say(self.line(state))

    def state(self) -> Estimate:
        """Estimate how far the run is; see `estimate`."""
        now = self.clock()
        running = {i: now - begun for i, begun in self.begun.items()}
        return estimate(self.jobs, self.finished, running, now - self.started, self.cores, self.before)

    def line(self, state: Estimate, ended: bool = False) -> str:
        """Format the progress of the run; see `progress_line`."""
        now = self.clock()
        return progress_line(len(self.finished), len(self.jobs), now, now - self.started, state, ended)

    def first_line(self) -> str:
        """Format what the run will do."""
        state = self.state()
        unit, size = unit_of(state.total)
        text = f"foldshift: {len(self.jobs)} jobs, {state.total / size:.1f} {unit}"
        if state.left is None:
            return text
        return f"{text}, about {_long_duration(state.left)} on {self.cores} core{'s' * (self.cores != 1)}"

    def words(self) -> str:
        """Say how much is done and kept; nothing where the run has not begun."""
        return f"{len(self.finished)} of {len(self.jobs)} jobs are done and kept" if self.jobs else ""

    def end(self) -> None:
        """Report how the run ended, if it began."""
        if self.jobs:
            self.say(self.line(self.state(), ended=True))

    def say(self, line: str) -> None:
        """Write a line; do nothing where the reader of the stream is gone."""
        with contextlib.suppress(OSError, ValueError):  # nobody reads on; the run goes on all the same
            stream = sys.stderr if self.stream is None else self.stream
            stream.write(printable_lines(line) + "\n")
            stream.flush()


class LastWords(logging.Handler):
    """Log handler that reports, on standard error and in one line, what ended a run that is quiet about everything else."""

    def emit(self, record: LogRecord) -> None:
        """Write the message of an exception of Snakemake; ignore everything else that is logged."""
        if getattr(record, "exception", None) is not None:
            sys.stderr.write(f"foldshift: {printable(' '.join(record.getMessage().split()))}\n")


def _long_duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(round(seconds), 1)} s"
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days {minutes % 1440 // 60} h"


def _time_of_day(then: float, now: float) -> str:
    day, today = (time.strftime("%Y-%m-%d", time.localtime(moment)) for moment in (then, now))
    return time.strftime("%H:%M", time.localtime(then)) if day == today else time.strftime("%Y-%m-%d %H:%M", time.localtime(then))
