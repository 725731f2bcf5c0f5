"""Tell while a run goes on how much of it is done, in jobs and in core-hours, and when it will end."""

import atexit
import contextlib
import os
import sys
import threading
import time
from typing import NamedTuple

HOUR = 3600.0


class Estimate(NamedTuple):
    """Where a run stands.

    Attributes
    ----------
    done, total : float
        Core-seconds, of the finished jobs and of all.
    left : float or None
        Seconds to the end; None while nothing tells.
    """

    done: float
    total: float
    left: float | None


def estimate(done, pending, elapsed, cores=None):
    """Correct predicted core-seconds by what the finished jobs took.

    On every core a job is under way, and on the average half of it is done. Finished and half-finished jobs together took
    `elapsed` times `cores`; the ratio of that to what was predicted for them holds for the others too.

    Parameters
    ----------
    done : float
        Predicted core-seconds of the finished jobs.
    pending : sequence of float
        Predicted core-seconds of every other job.
    elapsed : float
        Seconds since the start.
    cores : int, optional
        Cores that work at once. None if nobody knows (a cluster with a queue): core-hours then stay as predicted, and the time
        left follows from the finished jobs alone.

    Returns
    -------
    estimate : Estimate
    """
    remaining = sum(pending)
    if not pending:
        used = done if cores is None else elapsed * cores
        return Estimate(used, used, 0.0)
    if cores is None:
        return Estimate(done, done + remaining, elapsed * remaining / done if done > 0 else None)
    busy = min(cores, len(pending))
    under_way = busy * remaining / len(pending) / 2
    if done + under_way <= 0 or elapsed <= 0:
        return Estimate(done, done + remaining, (remaining - under_way) / busy)
    factor = elapsed * cores / (done + under_way)
    return Estimate(factor * done, factor * (done + remaining), factor * (remaining - under_way) / busy)


def progress_line(n_done, n_jobs, now, elapsed, state, ended=False):
    """One line on where a run stands.

    Parameters
    ----------
    n_done, n_jobs : int
        Finished jobs and all jobs of this run.
    now : float
        Seconds since the epoch.
    elapsed : float
        Seconds since the start.
    state : Estimate
    ended : bool, default=False
        Whether the run is over, with or without all of its jobs.

    Returns
    -------
    line : str
        Without the line feed.
    """
    unit, size = ("core-hours", HOUR) if state.total >= HOUR else ("core-minutes", 60.0)
    text = f"foldshift: {n_done} of {n_jobs} jobs, {state.done / size:.1f} of {state.total / size:.1f} {unit}"
    if n_done == n_jobs:
        return f"{text}, finished in {_duration(elapsed)}"
    if ended:
        return f"{text}, stopped after {_duration(elapsed)}"
    if state.left is None:
        return f"{text}, {_duration(elapsed)} so far"
    return f"{text}, about {_duration(state.left)} left ({_time_of_day(now + state.left, now)})"


class Progress:
    """Watch the outputs of the jobs of one run.

    A job is done when its output is there and is not the file that was there at the start, which was planned anew because it is
    out of date. Only folders in which something is still missing are listed, each with one call.

    Parameters
    ----------
    jobs : iterable of (path-like, float)
        One output of every job that is to run, and its predicted core-seconds.
    cores : int, optional
        See `estimate`.
    clock : callable, default=time.time
        Seconds since the epoch.
    """

    def __init__(self, jobs, cores=None, clock=time.time):
        self.clock, self.start = clock, clock()
        self._folders = {}
        for path, seconds in jobs:
            folder, name = os.path.split(os.path.abspath(path))
            self._folders.setdefault(folder, {})[name] = float(seconds)
        self.n_jobs = sum(len(names) for names in self._folders.values())
        self.cores = None if cores is None else min(cores, self.n_jobs)  # more have nothing to do
        self.n_done, self.done = 0, 0.0
        self._old = {
            (folder, entry.name): _stamp(entry)
            for folder, names in self._folders.items()
            for entry in _entries(folder)
            if entry.name in names
        }

    def look(self):
        """Look for new outputs.

        Returns
        -------
        changed : bool
            Whether a job has ended since the last look.
        """
        before = self.n_done
        for folder, names in list(self._folders.items()):
            for entry in _entries(folder):
                old = self._old.get((folder, entry.name))
                if entry.name in names and (old is None or _stamp(entry) not in (old, None)):
                    self.done += names.pop(entry.name)
                    self.n_done += 1
            if not names:
                del self._folders[folder]
        return self.n_done > before

    def line(self, ended=False):
        """Where the run stands, as far as the last look saw; see `progress_line`."""
        now = self.clock()
        pending = [seconds for names in self._folders.values() for seconds in names.values()]
        state = estimate(self.done, pending, now - self.start, self.cores)
        return progress_line(self.n_done, self.n_jobs, now, now - self.start, state, ended)


def start_progress(jobs, cores=None, stream=None, interval=60.0):
    """Print where a run stands: at most once per interval, only when a job has ended, and when the process ends.

    Call it in Snakemake's ``onstart``, which only the process that was started by the user runs, and not for a dry run.

    Parameters
    ----------
    jobs : iterable of (path-like, float)
        One output of every job that is to run, and its predicted core-seconds. Jobs that were finished before do not belong here.
    cores : int, optional
        See `estimate`.
    stream : file, optional
        Default: standard error.
    interval : float, default=60.0
        Seconds.

    Returns
    -------
    stop : callable
        Prints the last line and ends the thread; called by itself when the process ends.
    """
    progress = Progress(jobs, cores)
    stream = sys.stderr if stream is None else stream
    over = threading.Event()

    def say(ended=False):
        with contextlib.suppress(OSError, ValueError):  # nobody reads on; the run goes on all the same
            stream.write(progress.line(ended) + "\n")
            stream.flush()

    def watch():
        while not over.wait(interval):
            if progress.look() and progress.n_done < progress.n_jobs:  # else `stop` comes soon
                say()

    thread = threading.Thread(target=watch, name="foldshift-progress", daemon=True)

    def stop():
        atexit.unregister(stop)
        over.set()
        thread.join()
        progress.look()
        say(ended=True)

    if progress.n_jobs:
        atexit.register(stop)
        thread.start()
    return stop


def _entries(folder):
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # not there yet, or a network file system that is away for a moment
        return []


def _stamp(entry):
    """What changes when a file is replaced; None when it has just gone."""
    try:
        status = entry.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _duration(seconds):
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(round(seconds), 1)} s"
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days {minutes % 1440 // 60} h"


def _time_of_day(then, now):
    day, today = (time.strftime("%Y-%m-%d", time.localtime(moment)) for moment in (then, now))
    return time.strftime("%H:%M", time.localtime(then)) if day == today else time.strftime("%Y-%m-%d %H:%M", time.localtime(then))
