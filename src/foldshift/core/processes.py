"""Whether another process of this machine still runs."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether there is a process of this number that runs.

    One that has ended is none, though its number stays taken until its parent looks: in a container orphans may wait for that for
    seconds, or for good.
    """
    try:
        os.kill(pid, 0)  # sends nothing, only asks
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    with contextlib.suppress(OSError):  # there on Linux only
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        return state not in ("Z", "X")
    return True
