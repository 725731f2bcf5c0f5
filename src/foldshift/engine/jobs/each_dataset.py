"""Run a job for every data set of a unit, and give jobs that read units the files of its data sets.

The script of a rule knows one data set: it gets that one's files in a temporary folder, under the names that the job has them
under. So a unit makes what single jobs make. A data set that fails costs its own rows, and later jobs pass over it.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from foldshift.core.errors import DataError, FoldshiftError
from foldshift.core.files import scratch_folder
from foldshift.core.printable import printable
from foldshift.datasets.sources.download import UnreachableError
from foldshift.engine.storage.seed_results import lost_summary
from foldshift.engine.storage.unit_files import pack, unpack


class Named(list):
    """Files of a job, or its wildcards: a list, and attributes of its named members."""

    def __init__(self, items: Sequence[tuple[str, Any]]) -> None:
        super().__init__(value for _, value in items)
        self._items = [(name, value) for name, value in items if name]
        for name, value in self._items:
            setattr(self, name, value)

    def items(self) -> list[tuple[str, Any]]:
        """Names and values of the named members."""
        return self._items


def for_each(main: Callable[..., Any], job: Any, is_of_machine: Callable[[Exception], Any]) -> None:
    """Call ``main`` for every data set of the unit of a job, and write what came of it into the files of the unit.

    ``job.params.members`` has by data set the parameters that are its own.

    Raises
    ------
    DataError
        If every data set failed: then something is wrong with more than one of them.
    """
    unit, members = job.wildcards.dataset, job.params.members
    failed: dict[str, dict[str, str]] = {}
    done: list[str] = []
    with scratch_folder() as folder:
        for path in _paths(job.input):
            if unit in Path(path).parts or Path(path).stem == unit:
                failed |= _unpacked(path, folder)[1]
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
                files = {name: _place(folder, name, path) for name in done}
                if key == "failures":  # lists the data sets that failed as well
                    files |= {name: _lost(_place(folder, name, path), name, why, job) for name, why in failed.items()}
                pack(path, files, failed)


@contextmanager
def of_datasets(files: Any, units: Sequence[str], datasets: Sequence[str]) -> Iterator[tuple[Any, dict[str, str]]]:
    """Yield the files of a job as those of data sets, in their order, and why data sets among them failed."""
    if not any(_unit_in(path, units) for path in _paths(files)):
        yield files, {}
        return
    with scratch_folder() as folder:
        failed: dict[str, str] = {}
        found = [(name, _expanded(value, units, datasets, folder / name, failed)) for name, value in files.items()]
        yield Named(found), failed


def _expanded(value: Any, units: Sequence[str], datasets: Sequence[str], folder: Path, failed: dict[str, str]) -> Any:
    """Files of data sets in place of those of units."""
    if isinstance(value, str) or not any(_unit_in(path, units) for path in value):
        return value
    by_dataset: dict[str, list[str]] = {name: [] for name in datasets}
    for path in value:
        if _unit_in(path, units):
            found, lost = _unpacked(path, folder)
            failed |= {name: why["message"] for name, why in lost.items()}
            for name, file in found:
                by_dataset.setdefault(name, []).append(file)
        else:
            parts = [*Path(path).parts, Path(path).stem]
            by_dataset[next(part for part in parts if part in by_dataset)].append(path)
    return [file for name in datasets for file in by_dataset[name]]


def _unpacked(path: str, folder: Path) -> tuple[list[tuple[str, str]], dict[str, dict[str, str]]]:
    """Unpack the file of a unit; return data sets and their files, and the data sets that failed."""
    found: list[tuple[str, str]] = []

    def place(name: str) -> Path:
        found.append((name, str(_place(folder, name, path))))
        return Path(found[-1][1])

    lost = unpack(path, place)
    return found, lost


def _unit_in(path: str, units: Sequence[str]) -> str | None:
    """Return the unit whose file a path is."""
    return next((part for part in (*Path(path).parts, Path(path).stem) if part in units), None)


def _place(folder: Path, name: str, path: str) -> Path:
    """Place of the file of a data set: below a folder of its own, under the name that the unit's has."""
    file = Path(path)
    return folder / name / (file.relative_to(file.anchor) if file.is_absolute() else file)


def _paths(files: Any) -> list[str]:
    """List all paths of inputs or outputs."""
    return [path for one in files for path in ([one] if isinstance(one, str) else one)]


def _job_of(job: Any, name: str, folder: Path) -> SimpleNamespace:
    """The job of one data set of a unit."""
    unit = job.wildcards.dataset

    def placed(value: Any) -> Any:
        return str(_place(folder, name, value)) if isinstance(value, str) else [placed(one) for one in value]

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return [read(one) for one in value]
        return placed(value) if unit in Path(value).parts or Path(value).stem == unit else value

    own = job.params.members[name]
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
