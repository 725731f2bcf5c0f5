"""Atomic writing of files: a file appears whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from foldshift.core.errors import DataError
from foldshift.core.printable import printable
from foldshift.core.processes import is_running

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

PREFIX = ".foldshift-"
DAY = 24 * 3600.0  # seconds; jobs take minutes, and every write renews the time stamp of a file
_CHUNK = 1 << 20
_TEMPORARY = re.compile(rf"{re.escape(PREFIX)}(?P<host>[0-9a-f]{{8}})-(?P<pid>[0-9]+)-[a-z0-9_]{{8}}(\..*)?")


@contextlib.contextmanager
def atomic_path(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which is renamed to `path` when the block succeeds and deleted when it fails.

    The name is unique, so a job that outlived a killed run cannot write into the file of its successor. It also names the
    process, so that `sweep` can delete what a killed one left behind. Missing folders are made. A device or pipe, such as
    ``/dev/stdout``, gets the content and stays what it is; a link stays, and the file that it leads to is replaced.
    """
    given, temporary = path, None
    try:
        check_target(path)
        is_stream = _is_stream(Path(path))
        path = Path(path) if is_stream else Path(os.path.realpath(path))
        folder = Path(tempfile.gettempdir()) if is_stream else path.parent
        folder.mkdir(parents=True, exist_ok=True)
        prefix = f"{PREFIX}{_host()}-{os.getpid()}-"
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=path.suffix)
        os.close(handle)
        yield Path(temporary)
        if is_stream:
            _append(Path(temporary), path)
            return
        is_kept = not any(part.startswith(PREFIX) for part in path.parent.parts)  # not in a `scratch_folder`
        if is_kept:
            with open(temporary, "r+b") as file:  # Windows syncs files that are open for writing only
                os.fsync(file.fileno())
        # mkstemp makes files that only their owner can read
        os.chmod(temporary, stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
        if is_kept:
            _sync_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"cannot write {printable(given)}: {error.strerror or error}; check the folder's permissions and the free space"
        ) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def check_target(path: PathLike) -> None:
    """Raise an error if a path cannot be that of a new or replaced file: before time is spent on what is to be written."""
    name, shown = os.fspath(path), printable(path)
    if not name or "\0" in name:
        raise DataError(f"cannot write {shown!r}: that is not the name of a file; give one, such as page.html")
    if os.path.isdir(name):
        raise DataError(f"cannot write {shown}: that is a folder; name a file in it, such as {Path(shown, 'page.html')}")
    if os.path.exists(name) and not os.access(name, os.W_OK):
        raise DataError(f"cannot write {shown}: the file is read-only; name another one")


def _is_stream(path: Path) -> bool:
    """Report whether a path names a device, a pipe or an open file of this process, which cannot be replaced."""
    parts = Path(os.path.abspath(path)).parts[:2]
    return path.exists() and (not path.is_file() or parts in (("/", "dev"), ("/", "proc")))


def _append(source: Path, stream: Path) -> None:
    """Copy a file to a device or pipe, which is neither made nor emptied."""
    sys.stdout.flush()
    with open(source, "rb") as file, open(os.open(stream, os.O_WRONLY | os.O_APPEND), "wb") as target:
        shutil.copyfileobj(file, target)


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


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a folder for temporary files of this process; those of processes that have ended are deleted first."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}{_host()}-*"):
        if left.is_dir() and (match := _TEMPORARY.fullmatch(left.name)) and not is_running(int(match["pid"])):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{_host()}-{os.getpid()}-") as folder:
        yield Path(folder)


def write_text(path: PathLike, text: str) -> None:
    """Write text to a file as UTF-8 with line feeds, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


class Content(NamedTuple):
    """Size in bytes and SHA-256 (hexadecimal) of a file."""

    size: int
    sha256: str


def content_of(path: PathLike) -> Content:
    """Size and checksum of a file."""
    with open(path, "rb") as file:
        return copy_stream(file, None)


def copy_stream(source: IO[Any], target: Any) -> Content:
    """Copy a stream, or only read it, and tell its size and checksum."""
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if target is not None:
            target.write(chunk)
    return Content(size, digest.hexdigest())


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
    """Read the mask of permissions for new files, which can only be read by setting it; their owner may read and write them.

    Python in a browser reports a mask of 0o777, and does not use it.
    """
    mask = os.umask(0)
    os.umask(mask)
    return mask & ~(stat.S_IRUSR | stat.S_IWUSR)


def _sync_folder(folder: Path) -> None:
    """Write the entries of a folder to disk, so that a rename survives a crash of the machine."""
    with contextlib.suppress(OSError):  # some network file systems refuse; the file exists anyway
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_is_path(file: Any) -> None:
    """Refuse what is no name of a file, such as a table that is in memory already."""
    if not isinstance(file, str | os.PathLike):
        table = "; a table in memory goes to foldshift.advise(X, y) as it is" if hasattr(file, "shape") else ""
        raise DataError(f"a file is named by a text or a path; got {type(file).__name__}{table}")
