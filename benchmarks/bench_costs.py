"""Part of `make bench` behind the cost model: memory of a learner, and one table of the costs of fits."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.core.files import write_text
from foldshift.engine.config.learners_file import PAPER
from foldshift.engine.costs.fit_costs import COLUMNS, MACHINE
from foldshift.engine.costs.machine_speed import WORKS, milliseconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldshift.core.types import PathLike

STATUS = Path("/proc/self/status")


def peak_mb(function: Callable[..., Any], *arguments: Any) -> float:
    """Measure the peak memory in MB that a call adds to the process, in a forked process (Linux only, NaN elsewhere)."""
    if not sys.platform.startswith("linux"):
        return np.nan
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
            before = _resident("VmRSS")
            function(*arguments)
            os.write(sink, str((_resident("VmHWM") - before) / 1000).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(sink)
    with open(source, "rb") as file:
        text = file.read()
    os.waitpid(child, 0)
    return float(text) if text else np.nan


def _resident(field: str) -> int:
    return int(re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())[1])


def learner_ids(fits: pd.DataFrame, learners: dict[str, dict[str, Any]]) -> list[str]:
    """Make the ids of the rows of the classifiers' table; those of the paper configuration end in ``@paper`` if they differ."""
    return [
        name + PAPER if configuration == "paper" and name + PAPER in learners else name
        for configuration, name in zip(fits["configuration"], fits["learner"])
    ]


def cost_table(fits: pd.DataFrame) -> pd.DataFrame:
    """Average the columns `COLUMNS` over the numbers of folds: one row per learner and data set."""
    keys, values = list(COLUMNS[:4]), list(COLUMNS[4:])
    table = fits.groupby(keys, sort=False)[values].mean().reset_index()
    for name in values:
        table[name] = [f"{value:.3g}" for value in table[name]]
    return table


def write_costs(path: PathLike, tables: Sequence[pd.DataFrame]) -> None:
    """Write the tables of both studies as one, in the form of ``config/costs.tsv``, with rows on the speed of this machine."""
    works = [(MACHINE, name, 1, 1, f"{milliseconds_of(work):.3g}", 0, 0) for name, work in WORKS.items()]
    whole = pd.concat([pd.DataFrame(works, columns=list(COLUMNS)), *map(cost_table, tables)]).drop_duplicates(list(COLUMNS[:2]))
    write_text(path, whole.to_csv(sep="\t", index=False, lineterminator="\n"))
