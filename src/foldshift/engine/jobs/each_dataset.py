"""Run a job for every data set of a unit.

The script of a rule knows one data set: it gets that one's files in a temporary folder, under the names that the job has them
under. So a unit makes what single jobs make. A data set that fails costs its own rows, and later jobs pass over it.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from foldshift.core.errors import DataError, FoldshiftError
from foldshift.core.files import scratch_folder
from foldshift.core.printable import printable
from foldshift.datasets.sources.download import UnreachableError
from foldshift.engine.jobs.unit_inputs import Named, paths_of, place_of, unit_in, unpacked
from foldshift.engine.jobs.warm_up import load_kernels
from foldshift.engine.storage.seed_results import lost_summary
from foldshift.engine.storage.unit_files import pack


def for_each(main: Callable[..., Any], job: Any, is_of_machine: Callable[[Exception], Any]) -> None:
    """Call ``main`` for every data set of the unit of a job, and write what came of it into the files of the unit.

    ``job.params.members["datasets"]`` has by data set the parameters that are its own.

    Raises
    ------
    DataError
        If every data set failed: then something is wrong with more than one of them.
    """
    unit, members = job.wildcards.dataset, job.params.members["datasets"]
    failed: dict[str, dict[str, str]] = {}
    done: list[str] = []
    given = dict(job.params.items())
    if learners := given.get("learners") or given.get("arguments", {}).get("learners"):
        load_kernels(learners, given.get("task"))
    with scratch_folder() as folder:
        for path in paths_of(job.input):
            if unit_in(path, [unit]):
                failed |= unpacked(path, folder)[1]
        for name in members:
            if name in failed:
                continue
            logging.info("data set %s", name)
            try:
                main(_job_of(job, name, folder))
            except Exception as error:
                if is_of_machine(error) or isinstance(error, UnreachableError):
                    raise
                failed[name] = {"message": _message(error), "file": str(job.output[0])}
                line = printable(f"data set {name} is left out: {failed[name]['message']}")
                logging.info(line)
                print(line, file=sys.stderr)
            else:
                done.append(name)
        if not done:
            name, why = next(iter(failed.items()))
            raise DataError(f"all {len(failed)} data sets of {unit} failed; {name}: {why['message']}")
        for key, paths in job.output.items():
            for path in [paths] if isinstance(paths, str) else paths:
                files = {name: place_of(folder, name, path) for name in done}
                if key == "failures":  # lists the data sets that failed as well
                    files |= {name: _lost(place_of(folder, name, path), name, why, job) for name, why in failed.items()}
                pack(path, files, failed)


def _job_of(job: Any, name: str, folder: Path) -> SimpleNamespace:
    """The job of one data set of a unit."""
    unit = job.wildcards.dataset

    def placed(value: Any) -> Any:
        return str(place_of(folder, name, value)) if isinstance(value, str) else [placed(one) for one in value]

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return [read(one) for one in value]
        return placed(value) if unit_in(value, [unit]) else value

    own = job.params.members["datasets"][name]
    return SimpleNamespace(
        input=Named([(key, read(value)) for key, value in job.input.items()]),
        output=Named([(key, placed(value)) for key, value in job.output.items()]),
        wildcards=Named([(key, name if key == "dataset" else value) for key, value in job.wildcards.items()]),
        params=SimpleNamespace(**dict(job.params.items()) | own),
        log=job.log,
    )


def _lost(file: Path, name: str, why: dict[str, str], job: Any) -> Path:
    """Write the summary of a data set that failed; return the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(lost_summary(name, why["message"], why["file"], job.params.wanted)), encoding="utf-8")
    return file


def _message(error: Exception) -> str:
    """One line on what went wrong; a fault of the program keeps its traceback in the log."""
    if isinstance(error, FoldshiftError):
        return error.at("workflow")
    logging.error(traceback.format_exc())
    return " ".join(f"{type(error).__name__}: {error}".split())
