"""Run a script's `main` as one job of the workflow: a log, a plain line instead of a traceback where the program is not at fault,
and after a failure the command that runs the job alone."""

from __future__ import annotations

import errno
import logging
import os
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.errors import FoldshiftError
from foldshift.core.imports import import_object
from foldshift.core.printable import printable_lines
from foldshift.core.processes import is_running

if TYPE_CHECKING:
    from logging import LogRecord

    from foldshift.core.types import PathLike

LEADER = "FOLDSHIFT_LEADER"  # environment variable: the process id of the Snakemake that starts jobs
SHOWN = "FOLDSHIFT_LOGS_SHOWN"  # environment variable: Snakemake shows the log of a job that failed
RERUN = "FOLDSHIFT_RERUN"  # environment variable: what `rerun_command` made, from the main process to its jobs
NO_MEMORY = (
    "the memory is used up: run fewer jobs at once (--cores) or cut smaller blocks (seeds_per_block); "
    "on a cluster, give the rule more (--set-resources RULE:mem_mb=N)"
)
MACHINE = {
    errno.ENOMEM: NO_MEMORY,
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "the disk quota is used up: free some space",
    errno.EROFS: "the file system is read-only: name another folder",
    errno.EACCES: "permission denied: check who owns the file or folder",
    errno.EPERM: "permission denied: check who owns the file or folder",
    errno.EIO: "the disk does not answer as it should: check it",
    errno.ESTALE: "the network file system lost track of a file: check the mount",
    errno.ENOTCONN: "the network file system is gone: check the mount",
    errno.EMFILE: "too many open files: raise the limit (ulimit -n)",
    errno.ENFILE: "too many open files on this machine: run fewer jobs at once (--cores)",
}


class _Lines(logging.Formatter):
    """Formatter of lines that a terminal can show, whatever names are in them: Snakemake prints logs of failed jobs."""

    def format(self, record: LogRecord) -> str:
        """Format a record."""
        return printable_lines(super().format(record))


class _LogFile(logging.FileHandler):
    def handleError(self, record: LogRecord) -> None:
        """Write to standard error what a full disk keeps out of the log, unless it is there already."""
        if os.environ.get(SHOWN):
            print(self.format(record), file=sys.stderr)


def run(main: Callable[..., Any], job: Any) -> None:
    """Call ``main(job)`` with a log file; a fault of the user or of the machine ends the job with one line."""
    follow()
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers[0].setLevel(logging.ERROR)
    if job.log:
        try:
            handlers.append(_LogFile(job.log[0], mode="w", encoding="utf-8"))
            if os.environ.get(SHOWN):  # or everything would be said twice
                del handlers[0]
        except OSError as error:
            sys.exit(f"foldshift: cannot write {job.log[0]}: {error.strerror}; check the folder's permissions and the free space")
    for handler in handlers:
        handler.setFormatter(_Lines("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    start, work = time.perf_counter(), processor_time()
    try:
        if members := getattr(job.params, "members", None):  # one job for many data sets
            import_object(members["run"], "job")(main, job, machine_fault)
        else:
            main(job)
    except Exception as error:
        if isinstance(error, FoldshiftError):
            logging.error("foldshift: %s", error.at("workflow"))
        elif cause := machine_fault(error):
            logging.error("foldshift: %s; then start the run again: finished jobs are kept", cause)
        else:
            logging.exception("foldshift: this is a fault of the program; please report it with this log")
        if job.output and (tail := os.environ.get(RERUN)):
            logging.error("to run this job alone, when the run has ended: %s", job_command(job.output, tail))
        raise SystemExit(1) from None
    seconds = time.perf_counter() - start
    logging.info("done in %.1f s, %.2f s of processor time, and %.2f s of it to start", seconds, processor_time() - work, work)


def processor_time() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def machine_fault(error: BaseException) -> str | None:
    """Say what the machine lacks, if that is what an exception is about."""
    if isinstance(error, MemoryError):
        return NO_MEMORY
    if isinstance(error, OSError) and error.errno in MACHINE:
        return (f"{error.filename}: " if error.filename else "") + MACHINE[error.errno]
    return None


def rerun_command(
    snakefile: PathLike,
    directory: PathLike,
    configfiles: Sequence[PathLike] = (),
    config: Sequence[str] = (),
    profile: PathLike | None = None,
) -> str:
    """Return the end of a command line, after the targets, that runs single jobs of a run in the foreground."""
    words = ["--cores", "1", "--snakefile", os.path.abspath(snakefile), "--directory", os.path.abspath(directory)]
    if profile is not None:
        words += ["--workflow-profile", os.path.abspath(profile)]
    if configfiles:
        words += ["--configfile", *(os.path.abspath(file) for file in configfiles)]
    if config:
        words += ["--config", *config]
    return shlex.join(words)


def job_command(output: Sequence[str], tail: str) -> str:
    """The command that makes the output of one job again."""
    snakemake = "snakemake" if shutil.which("snakemake") else str(Path(sys.executable).with_name("snakemake"))
    # Targets stand first: options that take a list would swallow them.
    return f"{shlex.join([snakemake, str(output[0])])} {tail}"


def follow(interval: float = 0.5) -> None:
    """End this process soon after the Snakemake that started it is gone, so that a killed run leaves no process behind."""
    leader = int(os.environ.get(LEADER, 0))

    def watch() -> None:
        while is_running(leader):
            time.sleep(interval)
        os._exit(1)

    if leader:
        threading.Thread(target=watch, name="foldshift-leader", daemon=True).start()
