"""Say at the end of a run how many fits failed, why most of them, and where all of them are listed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from foldshift.engine.storage.parquet_files import read_parquet
from foldshift.engine.storage.unit_files import failed_in, holds_rows, texts_in

if TYPE_CHECKING:
    from foldshift.core.types import PathLike
    from foldshift.engine.study.declare import Measure
    from foldshift.engine.study.run import Run

LONGEST = 200  # letters of a message in the line; the table has them all


def lost_fits_line(study: str, lists: Sequence[dict[str, Any]], table: str) -> str | None:
    """One line on the failed fits of a study.

    >>> failure = {"learner": "SVR", "status": "failed", "message": "ValueError: no", "n_failed": 3}
    >>> lost_fits_line("mine", [{"dataset": "iris", "n_fits": 10, "failures": [failure]}], "failures.html")
    'mine: 3 of 10 fits failed, SVR on iris: ValueError: no; tables leave them out and say so; all of them: failures.html'
    """
    lost: Counter[str] = Counter()
    learners: dict[str, dict[str, None]] = {}
    sets: dict[str, dict[str, None]] = {}
    for one in lists:
        for failure in one["failures"]:
            lost[failure["message"]] += failure["n_failed"]
            learners.setdefault(failure["message"], {})[failure["learner"]] = None
            sets.setdefault(failure["message"], {})[one["dataset"]] = None
    if not lost:
        return None
    (message, most), n_fits = lost.most_common(1)[0], sum(one["n_fits"] for one in lists)
    which = f", {most:,} of them" if len(lost) > 1 else ""
    short = _short(message)
    where = f"{_some(learners[message], 'learners')} on {_some(sets[message], 'data sets')}"
    return (
        f"{study}: {lost.total():,} of {n_fits:,} fits failed{which}, {where}: {short}; tables leave them out and say so; all of "
        f"them: {table}"
    )


def _short(message: str) -> str:
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"


def _some(names: dict[str, None], kind: str) -> str:
    """Up to three names, else how many of a kind."""
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} {kind}"


def lost_fits(results: PathLike, runs: Iterable[Run]) -> list[str]:
    """Lines on the failed fits of some studies."""
    lines = []
    for run in runs:
        paths = run.units.stored_files(run.per_dataset("failures", "json"))
        files = [Path(path.replace("<results>", str(results))) for path in paths]
        lists = [json.loads(text) for file in files if file.is_file() for text in texts_in(file)]
        lines.append(lost_fits_line(run.id, lists, f"{results}/{run.id}/tables/failures.html"))
    return [line for line in lines if line]


def _row_files(run: Run, measure: Measure) -> list[str]:
    """Files of the rows of a measure."""
    return [path for kind in measure.rows for path in run.units.stored_files(run.rows(kind))]


def _failed_datasets(results: Path, run: Run, measure: Measure) -> list[str]:
    """Line on the data sets, within units, that a measure failed on: tables of other rows have them."""
    paths = [path.replace("<results>", str(results)) for path in _row_files(run, measure)] if run.units.members else []
    failed = {
        name: why["message"]
        for path in paths
        if {Path(path).stem, *Path(path).parts} & run.units.members.keys() and Path(path).is_file()
        for name, why in failed_in(path).items()
        if why["file"] in paths
    }
    if not failed:
        return []
    first, message = next(iter(failed.items()))
    which = _some(dict.fromkeys(failed), "data sets")
    return [f"{run.id}: {measure.name} failed on {which}; {first}: {_short(message)}; its tables leave them out"]


def lost_rows(results: Path, runs: list[Any]) -> list[str]:
    """Lines on the rows that studies' own measures lost to failed fits: those of files with a column ``status``."""
    lines = []
    for run in runs:
        for measure in run.measures():
            lost: Counter[str] = Counter()
            learners: dict[str, dict[str, None]] = {}
            n_rows = 0
            lines += _failed_datasets(Path(results), run, measure)
            for file in (Path(path.replace("<results>", str(results))) for path in _row_files(run, measure)):
                names = pq.read_schema(file).names if file.suffix != ".html" and file.is_file() and holds_rows(file) else ()
                if "status" not in names:
                    continue
                wanted = [name for name in ("status", "message", "learner") if name in names]
                columns = read_parquet(file, wanted).to_pydict()
                n_rows += len(columns["status"])
                for i, status in enumerate(columns["status"]):
                    if status != "ok":
                        message = columns.get("message", columns["status"])[i] or status
                        lost[message] += 1
                        if "learner" in columns:
                            learners.setdefault(message, {})[columns["learner"][i]] = None
            if lost:
                message, most = lost.most_common(1)[0]
                which = f", {most:,} of them" if len(lost) > 1 else ""
                of = f" of {_some(learners[message], 'learners')}" if message in learners else ""
                lines.append(
                    f"{run.id}: {lost.total():,} of {n_rows:,} rows of {measure.name} lost to failed fits{which}{of}: "
                    f"{_short(message)}; tables leave them out and say so"
                )
    return lines
