"""Stops of a run: Ctrl-C, SIGTERM and a closed terminal end it with one line that says what to type to go on."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shlex
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMAND = "FOLDSHIFT_COMMAND"  # environment variable: what the user typed, where it is not `snakemake ...`
SCRIPTS = ".snakemake/scripts/"  # every job runs a copy of its script from there
CAUSES = {"SIGINT": "stopped by Ctrl-C", "SIGTERM": "stopped by SIGTERM", "SIGHUP": "stopped, since its terminal was closed"}
GRACE = 15.0  # seconds that Snakemake has to free the folder
IGNORED_BY_JOBS = "set -euo pipefail; trap '' INT; "  # Snakemake's own prefix, and no Ctrl-C: the run itself ends its jobs


def typed_command(arguments: Sequence[str]) -> str:
    """Return what the user types to run the same command again.

    >>> typed_command(["/usr/bin/snakemake", "saez_2022", "--config", "mirror=my data"])
    "snakemake saez_2022 --config 'mirror=my data'"
    """
    if command := os.environ.get(COMMAND, "").strip():
        return command
    program = Path(arguments[0]).name
    words = ["snakemake"] if program != "__main__.py" else ["python", "-m", "snakemake"]
    return shlex.join([*words, *arguments[1:]])


class Stopping:
    """Handler of signals that end a run.

    The first signal ends the jobs and lets Snakemake free the folder; a second one ends the process at once. The last line of
    the run says how it ended and what to type.
    """

    def __init__(self) -> None:
        self.cause = ""  # how the run was stopped; empty while it is not
        self.command = ""
        self.progress: Callable[[], str] = str  # how much of the run is done, in words
        self._said = False
        self._terminal = sys.stderr  # the stream of the last line

    def listen(self, arguments: Sequence[str]) -> None:
        """Handle signals from now on, but for those that the caller of the process wants ignored, as `nohup` does."""
        if not self.command:
            atexit.register(self._say)
        self.command = typed_command(arguments)
        for name in CAUSES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def shows(self, record: logging.LogRecord) -> bool:
        """Return True if the terminal shows a record: none once the run is stopped."""
        return not self.cause

    def _stop(self, number: int, frame: Any) -> None:
        if self.cause:
            self._end(number)
        self.cause = CAUSES[signal.Signals(number).name]
        # What Snakemake, asyncio and Python print while they unwind is no news: the last line of the run says it all.
        self._terminal, sys.stderr = sys.stderr, open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 open until the end
        end_jobs()
        # Python drops an exception that is raised in a finalizer: the run would go on.
        later = threading.Timer(GRACE, self._end, [number])
        later.daemon = True
        later.start()
        raise SystemExit(128 + number)

    def _end(self, number: int) -> NoReturn:
        """End the process at once; the next run frees the folder."""
        end_jobs()
        self._say()
        os._exit(128 + number)

    def _say(self) -> None:
        """Write the last line, once, if the run was stopped."""
        if not self.cause or self._said:
            return
        self._said = True
        done = self.progress() or "nothing was computed yet"
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone
            self._terminal.write(f"\nfoldshift: {self.cause}: {done}. To go on, type: {self.command}\n")
            self._terminal.flush()


def end_jobs() -> None:
    """Kill the jobs that this process started. What they were writing has a temporary name, and the next run deletes it."""
    import psutil

    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if any(SCRIPTS in word for word in child.cmdline()):
                    below = child.children(recursive=True)
                    for one in (child, *below):
                        with contextlib.suppress(psutil.Error):
                            one.kill()


STOPPING = Stopping()  # of this process
