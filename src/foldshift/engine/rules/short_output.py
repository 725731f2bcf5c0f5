"""Lines of a run on the terminal: little progress, warnings and failures in full, and at the end where the results are."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from foldshift.engine.study.declare import OutputGroup, Table
    from foldshift.engine.study.run import Run

MOST_FILES = 4  # items of a study that are named one by one; of more, the folders are
MOST_FAILURES = 10  # failed jobs that the end of a run names one by one
REPORTS = ("index.html", "report.html")  # below the folder of the results: the first that exists is named


class TerminalChoice:
    """Choice of Snakemake's log records that the terminal shows; its log file has all of them.

    Shown are warnings, errors and, while no jobs run, messages that are no event of a job: one line per job is kept back.
    """

    def __init__(self) -> None:
        self.running = False  # whether jobs run

    def __call__(self, record: logging.LogRecord) -> bool:
        """Return True if the terminal shows a record."""
        return record.levelno >= logging.WARNING or not (self.running or getattr(record, "event", None))


def failure_lines(failed: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Format jobs that failed, each a rule and its log files, for the end of a run.

    >>> failure_lines([("evaluate", ["results/logs/a.log"]), ("archive", [])])
    ['failed: evaluate, log results/logs/a.log', 'failed: archive']
    """
    lines = [", log ".join((f"failed: {rule}", *logs[:1])) for rule, logs in failed[:MOST_FAILURES]]
    return lines + [f"failed: {len(failed) - MOST_FAILURES} more"] * (len(failed) > MOST_FAILURES)


def result_lines(results: Path, runs: Iterable[Run], rules: Collection[str], named: Sequence[str] = ()) -> list[str]:
    """Say where the results are that some rules made; nothing for rules without results, as a plan's.

    Another workflow may have put a prefix in front of the names of the rules. `named`: pages of tables and figures that the
    command asks for by name: then what comes with them is not listed.
    """
    lines = list(named)
    for run in runs if not named else ():
        made = [(group, some) for group, some in run.items() if _has(rules, f"{run.id}_{group.name}")]
        lines += _item_lines(results / run.id, run, made)
        if _has(rules, f"{run.id}_published"):
            lines.append(f"{run.id}: published ones, full scale, in {results / run.id / 'published'}")
    if archive := [results / "archive/foldshift.zip"] * _has(rules, "archive"):
        lines += [f"archive: {archive[0]}"]
    reports = [results / name for name in REPORTS if (results / name).is_file()]
    return [*lines, *(f"report: {path}" for path in reports[:1])] if lines else []


def _item_lines(folder: Path, run: Run, made: Sequence[tuple[OutputGroup, Sequence[Table]]]) -> list[str]:
    """Name the items of a study one by one, or else the folders that they are in."""
    items = [item for _, some in made for item in some]
    if len(items) <= MOST_FILES:
        return [f"{item.title}: {folder / item.files()[0]}" for item in items]
    counts = {kind: sum(item.kind == kind for item in items) for kind in ("table", "figure")}
    parts = [f"{n} {kind}{'s' * (n > 1)} in {folder / kind}s" for kind, n in counts.items() if n]
    return [f"{run.id}: {', '.join(parts)}"]


def _has(rules: Collection[str], name: str) -> bool:
    return any(rule.endswith(name) for rule in rules)
