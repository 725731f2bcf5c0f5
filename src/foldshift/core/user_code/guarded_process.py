"""Calls in a process of their own: code that hangs, crashes, exits or exhausts memory costs its call, not this process."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import pickle
import platform
import re
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from foldshift.core.errors import LearnerError, StoppedError

# Other systems have no fork, or system libraries that do not survive one, and nothing that ends a child with its parent.
ISOLATES = sys.platform.startswith("linux")
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
PERIOD = 0.2  # seconds between looks at a silent child; the end of one whose own children hold its pipe is seen no other way
HALTED = 2.0  # seconds between two looks at which this process, too, must have stood still
GRACE = 5.0  # seconds between a child's last word and its end
DONE, RAISED, MEMORY, LATE, DIED = "done", "raised", "memory", "late", "died"
SIGNALS = {one.value: one.name for one in signal.Signals}


def can_isolate() -> bool:
    """Report whether this system can make calls in processes of their own; warn of what is missing where it cannot.

    A browser needs no warning: its tab has limits of its own, and can be closed.
    """
    if not (ISOLATES or sys.platform == "emscripten"):
        warnings.warn(
            f"on {platform.system()} learners run in this process: one that hangs is not stopped, one that crashes ends Python, "
            "and memory has no limit (Linux has all three; isolate=False of advise leaves out this warning)",
            stacklevel=3,
        )
    return ISOLATES


@contextlib.contextmanager
def no_copies() -> Iterator[None]:
    """End a copy of this process that code inside makes and that comes back from it: it would do the rest once more."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)


def free_memory_mb() -> float | None:
    """Memory that is free on this machine, in MB; None where the system does not tell."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return None
    return int(found[1]) / 1000 if found else None


_LIFT: list[Any] = []  # in a child with a limit: what takes it away, so that the child can still say that it ran out of memory


def _outcome(function: Callable[..., Any], cell: tuple[Any, ...]) -> tuple[str, Any]:
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


class CallHere:
    """Makes calls in this process."""

    def __init__(self, function: Callable[..., Any], memory_mb: float | None = None, *, quiet: bool = False) -> None:
        self._function = function

    def run(self, cell: tuple[Any, ...], seconds: float) -> tuple[str, Any, float]:
        start = time.monotonic()
        kind, value = _outcome(self._function, cell)
        return kind, value, time.monotonic() - start

    def end(self) -> None:
        """There is nothing to end."""


class CallInChild:
    """A forked process that makes calls, one whenever it is asked to.

    It shares what this process holds in memory. It is killed with the processes it started, and does not outlive this process
    (PR_SET_PDEATHSIG: the thread that calls must be the one that stays). Its memory is limited by RLIMIT_DATA: private memory, so
    that shared libraries and the pages of this process are free. Where it is `quiet`, what it prints goes nowhere, and libraries
    use one thread: one that has threads in this process may wait for them for ever in a copy of it.
    """

    def __init__(self, function: Callable[..., Any], memory_mb: float | None = None, *, quiet: bool = False) -> None:
        requests, self._requests = os.pipe()
        self._results, results = os.pipe()
        sys.stdout.flush()  # or the child would write it once more
        sys.stderr.flush()
        parent = os.getpid()
        with warnings.catch_warnings():
            # Python 3.12 and later warn where this process has threads; the child uses none of them.
            warnings.filterwarnings("ignore", message=r".*use of fork\(\)", category=DeprecationWarning)
            self._pid: int | None = os.fork()
        self._code = 0
        if self._pid == 0:
            code = 1
            try:
                os.close(self._requests)
                os.close(self._results)
                _settle(parent, memory_mb)
                if quiet:
                    _be_quiet()
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

    def run(self, cell: tuple[Any, ...], seconds: float) -> tuple[str, Any, float]:
        """Kind and value (the result, an exception, or a text), and the seconds that count."""
        watch = _Watch()
        kind, value = self._run(cell, watch, seconds)
        return kind, value, watch.look()

    def _run(self, cell: tuple[Any, ...], watch: _Watch, seconds: float) -> tuple[str, Any]:
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


def call_guarded(function: Callable[[], Any], what: str, seconds: float | None) -> Any:
    """Call a function in a process of its own, and return what it returns; its exceptions are raised here.

    Raise LearnerError, which begins with `what`, if it ends or exhausts its process, and StoppedError after `seconds`. Without
    `seconds`, and on systems that have no copies of processes, it is called in this process.
    """
    if seconds is None or not can_isolate():
        return function()
    process = CallInChild(lambda _: function(), free_memory_mb(), quiet=True)
    try:
        kind, value, _ = process.run((), max(seconds, PERIOD))
    finally:
        process.end()
    if kind == RAISED:
        raise value
    if kind == LATE:
        raise StoppedError(f"{what} was stopped after {seconds:.0f} s; give it more time, or see why it does not return")
    if kind != DONE:
        raise LearnerError(f"{what} did not return: {value or 'its process died'}")
    return value


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


def _be_quiet() -> None:
    """Drop what this process prints, let libraries use one thread, and joblib threads in place of processes."""
    from joblib import parallel_config  # here, because jobs of the workflow have one thread anyway
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    # The processes that joblib has started belong to the original of this one, and new ones would outlast it.
    parallel_config("threading")
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    sys.stdout = sys.stderr = os.fdopen(null, "w", encoding="utf-8")  # a notebook's own streams do not end in these two


def _serve(function: Callable[..., Any], requests: Any, results: Any) -> None:
    """Answer calls until the parent is gone; the folder and the environment are the same for each of them."""
    process, folder, environment = os.getpid(), os.getcwd(), dict(os.environ)
    with open(requests, "rb") as source, open(results, "wb") as sink:
        while True:
            try:
                cell = pickle.load(source)
            except EOFError:
                return
            message = _message(function, cell)
            if os.getpid() != process:  # a copy that the function made and that came back from it: one answer is enough
                os._exit(0)
            _restore(folder, environment)
            sys.stdout.flush()
            sys.stderr.flush()
            sink.write(len(message).to_bytes(8, "little"))
            sink.write(message)
            sink.flush()


def _restore(folder: str, environment: dict[str, str]) -> None:
    """Undo a change of the working directory or of the environment."""
    with contextlib.suppress(OSError):
        if os.getcwd() != folder:
            os.chdir(folder)
    if dict(os.environ) != environment:
        os.environ.clear()
        os.environ.update(environment)


def _message(function: Callable[..., Any], cell: tuple[Any, ...]) -> Any:
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
