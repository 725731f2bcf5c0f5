"""Check of whether another process of this machine is running."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path
from typing import Any


def is_running(pid: int) -> bool:
    """Report whether the process with an id is running; True if this cannot be found out.

    A process that has ended does not count, though its id stays taken until its parent collects it. In a container that may take
    seconds, or never happen.
    """
    if sys.platform == "win32":
        return _runs_on_windows(pid)
    try:
        os.kill(pid, 0)  # sends no signal, only checks
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    with contextlib.suppress(OSError):  # the file exists on Linux only
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        return state not in ("Z", "X")
    return True


QUERY_LIMITED_INFORMATION = 0x1000  # <winnt.h>
INVALID_PARAMETER = 87  # <winerror.h>: no process has this id
STILL_ACTIVE = 259  # <minwinbase.h>


def _runs_on_windows(pid: int) -> bool:
    """Report whether a process runs; `os.kill` with signal 0 would send it a Ctrl-C there."""
    kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(QUERY_LIMITED_INFORMATION, False, pid & 0xFFFFFFFF)
    if not handle:
        return ctypes.get_last_error() != INVALID_PARAMETER  # type: ignore[attr-defined]
    code = ctypes.c_ulong()
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return not known or code.value == STILL_ACTIVE
