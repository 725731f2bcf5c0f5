"""Record of which process holds Snakemake's lock of a folder, so that the lock of a process that is gone is cleared."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from foldshift.core.errors import FoldshiftError
from foldshift.core.files import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECORDS = "foldshift_runs"  # folder of the records, in Snakemake's own folder
SLACK = 2.0  # seconds by which two clocks may date the start of one process apart

State = Literal["gone", "running", "unknown"]


class LockedError(FoldshiftError):
    """Another run works in the folder."""


class Holder(NamedTuple):
    """Process that holds a lock, or held it."""

    host: str
    machine: str  # which start of the machine, and which container on it
    pid: int
    began: float  # seconds since the epoch
    command: str

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.began))
        return f"process {self.pid} on {self.host} since {since} ({self.command})"


def this_process(command: str) -> Holder:
    """Describe this process."""
    import psutil

    return Holder(socket.gethostname(), _machine(), os.getpid(), psutil.Process().create_time(), command)


def state_of(holder: Holder) -> State:
    """Find out whether the process of a record is running; it cannot be known of another machine or container."""
    import psutil

    if holder.host != socket.gethostname():
        return "unknown"
    boot, container = holder.machine.split(" ", 1)
    here = _machine().split(" ", 1)
    if boot != here[0]:
        return "gone"  # the machine was started again
    if container != here[1]:
        return "unknown"
    try:
        process = psutil.Process(holder.pid)
        same = abs(process.create_time() - holder.began) <= SLACK and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return "gone"
    except psutil.Error:
        return "unknown"
    return "running" if same else "gone"


@contextlib.contextmanager
def recorded_lock(
    folder: Path, command: str, locked: Callable[[], bool], clear: Callable[[], None], tell: Callable[[str], object]
) -> Iterator[None]:
    """Record that this process holds the lock of a folder; clear the lock before, if the processes that held it are gone.

    `locked` and `clear` are those of Snakemake, `folder` is its own folder, `tell` gets a line where a lock is cleared. A lock
    that another process holds, or nobody knows who, is an error.
    """
    records = folder / RECORDS
    if locked():
        holders = {file: holder for file in sorted(records.glob("*.json")) if (holder := _read(file)) is not None}
        states = {file: state_of(holder) for file, holder in holders.items()}
        alive = [holder for file, holder in holders.items() if states[file] != "gone"]
        if alive or not holders:
            raise LockedError(_refusal(folder.parent, alive, "running" in states.values()))
        clear()
        for file in holders:
            file.unlink(missing_ok=True)
        tell(f"the lock of a run that is gone was cleared: {'; '.join(map(str, holders.values()))}. Finished jobs are kept")
    own = this_process(command)
    record = records / f"{own.host}-{own.pid}.json"
    write_text(record, json.dumps(own._asdict()) + "\n")
    try:
        yield
    finally:
        record.unlink(missing_ok=True)


def _refusal(place: Path, alive: list[Holder], is_running: bool) -> str:
    if not alive:
        return (
            f"the folder {place} is locked: another run works in it, or one was killed; where none does, `snakemake --unlock` "
            "frees it"
        )
    who = f"the folder {place} is locked by {'; '.join(map(str, alive))}"
    if is_running:
        return f"{who}; wait until it ends, stop it (kill {alive[0].pid}), or run in another folder (--directory FOLDER)"
    return f"{who}, which cannot be seen from here; if it does not run any more, `snakemake --unlock` frees the folder"


def _read(file: Path) -> Holder | None:
    try:
        return Holder(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _machine() -> str:
    """Return marks of the start of the machine, and of the container within it."""
    marks = []
    for read in (lambda: Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(), _namespace):
        try:
            marks.append(read())
        except OSError:  # these files exist on Linux only
            marks.append("-")
    return " ".join(marks)


def _namespace() -> str:
    return os.readlink("/proc/self/ns/pid")
