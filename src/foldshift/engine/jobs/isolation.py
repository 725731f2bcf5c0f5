"""Cells of a job in a process of their own: a learner that hangs, crashes or exhausts memory costs its cell, not the job."""

from __future__ import annotations

import collections
import logging
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from foldshift.core.user_code.guarded_process import DONE, LATE, MEMORY, RAISED, CallHere, CallInChild, can_isolate
from foldshift.evaluation.tasks import FAILED, TIMEOUT


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

    All cells run in one `foldshift.core.user_code.guarded_process.CallInChild`, until one is lost; libraries and compiled code
    stay loaded. On other systems than Linux the cells run in this process, without limits.
    """
    seconds = math.inf if minutes is None else 60 * minutes
    child: CallInChild | CallHere | None = None
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
                child = child or (CallInChild if can_isolate() else CallHere)(function, memory_mb)
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
