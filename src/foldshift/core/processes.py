"""Check of whether another process of this machine is running."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def is_running(pid: int) -> bool:
    """Report whether the process with an id is running; True if this cannot be found out.

    A process that has ended does not count, though its id stays taken until its parent collects it. In a container that may take
    seconds, or never happen.
    """
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
