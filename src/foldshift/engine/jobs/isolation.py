"""Cells of a job in a process of their own: a learner that hangs, crashes or exhausts memory costs its cell, not the job."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import logging
import math
import os
import pickle
import re
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldshift.evaluation.tasks import FAILED, TIMEOUT

# Other systems have no fork, or system libraries that do not survive one, and nothing that ends a child with its parent.
ISOLATES = sys.platform.startswith("linux")
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
PERIOD = 0.2  # seconds between looks at a silent child; the end of one whose own children hold its pipe is seen no other way
HALTED = 2.0  # seconds between two looks at which this process, too, must have stood still
GRACE = 5.0  # seconds between a child's last word and its end
DONE, RAISED, MEMORY, LATE, DIED = "done", "raised", "memory", "late", "died"
SIGNALS = {one.value: one.name for one in signal.Signals}


@dataclass(frozen=True)
class Lost:
    """Placeholder for the result of a cell that was lost."""

    status: str
    message: str  # one line: what happened, and where it helps, what to do


def run_cells(
    function: Callable[..., Any],
    cells: Iterable[tuple[Any, ...]],
    *,
    minutes: float | None = None,
    memory_mb: float | None = None,
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Call a function for one cell after the other in a child process, and go on when a cell brings the process down.

    Notes
    -----
    All cells run in one child, forked from this process, until one is lost; libraries and compiled code stay loaded. A child is
    killed with the processes it started, and does not outlive this process (PR_SET_PDEATHSIG: the thread that iterates must be
    the one that stays). Its memory is limited by RLIMIT_DATA: private memory, so that shared libraries and the pages of this
    process are free. On other systems than Linux the cells run in this process, without limits.
    """
    seconds = math.inf if minutes is None else 60 * minutes
    child: _Child | _Here | None = None
    wasted: dict[Any, float] = collections.defaultdict(float)  # seconds in lost cells, by learner
    try:
        for cell in cells:
            learner = cell[0]
            if wasted[learner] >= seconds:
                yield cell, Lost(TIMEOUT, f"not tried: {learner} ran out of time on earlier cells of this data set")
                continue
            spent = 0.0
            for last_try in (False, True):
                new = child is None
                child = child or (_Child if ISOLATES else _Here)(function, memory_mb)
                kind, value, took = child.run(cell, seconds)
                spent += took
                if kind in (DONE, RAISED):
                    break
                child.end()
                child = None
                if last_try or kind == LATE or (kind == MEMORY and new):
                    break
                logging.warning("%s: %s; once more in a new process", ", ".join(map(str, cell)), value)
            if kind == RAISED:
                raise value
            if kind == DONE:
                yield cell, value
            else:
                wasted[learner] += spent
                yield cell, _lost(kind, value, minutes, memory_mb)
    finally:
        if child is not None:
            child.end()


def _lost(kind: str, text: str, minutes: float | None, memory_mb: float | None) -> Lost:
    if kind == LATE:
        return Lost(TIMEOUT, f"took longer than {minutes:g} minutes; raise cell_minutes or lower max_rows")
    if kind == MEMORY:
        return Lost(FAILED, text if memory_mb is None else f"{text}; needs more than {memory_mb:.0f} MB")
    return Lost(FAILED, f"{text}, twice; perhaps the memory ran out")


_LIFT: list[Any] = []  # in a child with a limit: what takes it away, so that the child can still say that it ran out of memory


def _outcome(function: Callable[..., Any], cell: tuple[str | int, ...]) -> tuple[str, Any]:
    """Kind and value of one call."""
    try:
        return DONE, function(cell)
    except MemoryError as error:
        for lift in _LIFT:
            lift()
        # Without the traceback, whose frames hold what filled the memory.
        text = str(error.with_traceback(None))
        return MEMORY, " ".join(f"MemoryError: {text}".split()).rstrip(":")
    except Exception as error:
        return RAISED, error


class _Watch:
    """Counts seconds, but for those in which this process stands still; it must be looked at once in every `PERIOD`."""

    def __init__(self) -> None:
        self._last, self._seconds = time.monotonic(), 0.0

    def look(self) -> float:
        """Seconds so far."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        self._seconds += passed if passed < HALTED else PERIOD
        return self._seconds


class _Here:
    """Runs cells in this process."""

    def __init__(self, function: Callable[..., Any], memory_mb: float | None) -> None:
        self._function = function

    def run(self, cell: tuple[str | int, ...], seconds: float) -> tuple[str, Any, float]:
        start = time.monotonic()
        kind, value = _outcome(self._function, cell)
        return kind, value, time.monotonic() - start

    def end(self) -> None:
        """There is nothing to end."""


class _Child:
    """A forked process that runs cells, one whenever it is asked to."""

    def __init__(self, function: Callable[..., Any], memory_mb: float | None) -> None:
        requests, self._requests = os.pipe()
        self._results, results = os.pipe()
        sys.stdout.flush()  # or the child would write it once more
        sys.stderr.flush()
        parent = os.getpid()
        self._pid: int | None = os.fork()
        self._code = 0
        if self._pid == 0:
            code = 1
            try:
                os.close(self._requests)
                os.close(self._results)
                _settle(parent, memory_mb)
                _serve(function, requests, results)
                code = 0
            except BaseException:
                logging.exception("the process of the learners ended")
            finally:
                os._exit(code)  # nothing of what this process has begun is the child's to finish
        os.close(requests)
        os.close(results)
        with contextlib.suppress(OSError):  # the child does the same; whoever comes first
            os.setpgid(self._pid, self._pid)

    def run(self, cell: tuple[str | int, ...], seconds: float) -> tuple[str, Any, float]:
        """Kind and value (the result, an exception, or a text), and the seconds that count."""
        watch = _Watch()
        kind, value = self._run(cell, watch, seconds)
        return kind, value, watch.look()

    def _run(self, cell: tuple[str | int, ...], watch: _Watch, seconds: float) -> tuple[str, Any]:
        try:
            os.write(self._requests, pickle.dumps(cell))
            return self._receive(watch, seconds)
        except TimeoutError:
            return LATE, ""
        except (BrokenPipeError, EOFError):
            deadline = time.monotonic() + GRACE
            while not self._has_ended() and time.monotonic() < deadline:
                time.sleep(0.01)
            code = self.end()
            how = f"killed by {SIGNALS.get(-code, f'signal {-code}')}" if code < 0 else f"exit code {code}"
            return DIED, f"its process died ({how})"

    def _receive(self, watch: _Watch, seconds: float) -> tuple[str, Any]:
        """The next message; EOFError if the child has died, TimeoutError if the seconds are over."""
        poll = select.poll()
        poll.register(self._results, select.POLLIN)
        data, size = bytearray(), 8
        while len(data) < size:
            ended = self._has_ended()  # before the look into the pipe, which then holds all that will ever come
            left = seconds - watch.look()
            if poll.poll(0 if ended else 1000 * max(0.0, min(PERIOD, left))):
                chunk = os.read(self._results, 1 << 20)
                if not chunk:
                    raise EOFError
                data += chunk
                if size == 8 and len(data) >= 8:
                    size += int.from_bytes(data[:8], "little")
            elif ended:
                raise EOFError
            elif left <= 0:
                raise TimeoutError
        return pickle.loads(memoryview(data)[8:])

    def _has_ended(self) -> bool:
        # Not reaped yet: its id, which is that of its process group, must not go to another process.
        assert self._pid is not None  # it runs until `end`
        return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def end(self) -> int:
        """Kill the child and the processes it started; return the exit code, or minus the signal."""
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)
            _, status = os.waitpid(self._pid, 0)
            self._pid, self._code = None, os.waitstatus_to_exitcode(status)
            os.close(self._requests)
            os.close(self._results)
        return self._code


def _settle(parent: Any, memory_mb: float | None) -> None:
    """Make the forked process a child that can be ended with all it starts, ends with its parent, and is limited."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be watched
        os._exit(1)
    logging.captureWarnings(True)  # a learner's warnings belong into the log of the job
    if memory_mb is not None:
        import resource  # here, because Windows has none

        status = Path("/proc/self/status").read_text()
        used = int(re.findall(r"VmData:\s+(\d+) kB", status)[0]) * 1024
        limit, hard = used + int(1e6 * memory_mb), resource.getrlimit(resource.RLIMIT_DATA)[1]
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
            _LIFT.append(lambda: resource.setrlimit(resource.RLIMIT_DATA, (hard, hard)))


def _serve(function: Callable[..., Any], requests: Any, results: Any) -> None:
    """Run cells until the parent is gone."""
    with open(requests, "rb") as source, open(results, "wb") as sink:
        while True:
            try:
                cell = pickle.load(source)
            except EOFError:
                return
            message = _message(function, cell)
            sys.stdout.flush()
            sys.stderr.flush()
            sink.write(len(message).to_bytes(8, "little"))
            sink.write(message)
            sink.flush()


def _message(function: Callable[..., Any], cell: tuple[str | int, ...]) -> Any:
    """Kind and value of one call, pickled; an exception that does not survive that is replaced by one with its text."""
    kind, value = _outcome(lambda cell: pickle.dumps((DONE, function(cell)), protocol=5), cell)
    if kind == DONE:
        return value
    if kind == RAISED:
        value.add_note("In the process of the learners:\n" + "".join(traceback.format_exception(value)))
        try:
            pickle.loads(pickle.dumps(value))
        except Exception:
            value = RuntimeError(f"{value}\n{value.__notes__[-1]}")
    return pickle.dumps((kind, value))
