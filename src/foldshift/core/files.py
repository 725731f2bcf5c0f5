"""Atomic writing of files: a file appears whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from foldshift.core.errors import DataError
from foldshift.core.processes import is_running

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

PREFIX = ".foldshift-"
DAY = 24 * 3600.0  # seconds; jobs take minutes, and every write renews the time stamp of a file
_TEMPORARY = re.compile(rf"{re.escape(PREFIX)}(?P<host>[0-9a-f]{{8}})-(?P<pid>[0-9]+)-[a-z0-9_]{{8}}(\..*)?")


@contextlib.contextmanager
def atomic_path(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which is renamed to `path` when the block succeeds and deleted when it fails.

    The name is unique, so a job that outlived a killed run cannot write into the file of its successor. It also names the
    process, so that `sweep` can delete what a killed one left behind. Missing folders are made.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        prefix = f"{PREFIX}{_host()}-{os.getpid()}-"
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=path.suffix)
        os.close(handle)
        yield Path(temporary)
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files that only their owner can read
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}; check the folder's permissions and the free space"
        ) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def sweep(folder: PathLike, max_age: float = DAY) -> list[Path]:
    """Delete temporary files that killed processes left in a folder and below it; return their paths, sorted.

    A file of this machine is deleted if its process has ended. A file of another machine or container, or from before a restart,
    is deleted if its last write is older than `max_age` seconds. Nothing else is touched, so running jobs are safe.
    """
    deleted = []
    for here, _, names in os.walk(folder):
        for name in names:
            if match := _TEMPORARY.fullmatch(name):
                file = Path(here, name)
                with contextlib.suppress(OSError):  # another sweep was faster, or the file belongs to another user
                    if _left_behind(file, match["host"], int(match["pid"]), max_age):
                        file.unlink()
                        deleted.append(file)
    return sorted(deleted)


def write_text(path: PathLike, text: str) -> None:
    """Write text to a file as UTF-8 with line feeds, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _left_behind(file: Path, host: str, pid: int, max_age: float) -> bool:
    """Report whether the process of a temporary file has ended, or its file is old if it ran on another host."""
    if host == _host():
        return not is_running(pid)
    return time.time() - file.stat().st_mtime > max_age


@functools.cache
def _host() -> str:
    """Return eight digits that identify a machine since its start, or a container: process ids are unique within it."""
    marks = [socket.gethostname()]
    with contextlib.suppress(OSError):  # these files exist on Linux only
        marks += [Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"), os.readlink("/proc/self/ns/pid")]
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()[:8]


def _umask() -> int:
    """Read the mask of permissions for new files, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Write the entries of a folder to disk, so that a rename survives a crash of the machine."""
    with contextlib.suppress(OSError):  # some network file systems refuse; the file exists anyway
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
