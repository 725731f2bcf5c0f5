"""Checksums of every file that a run makes, and the check of which files are damaged, missing or of another run.

A run appends a line to ``results/provenance/checksums.jsonl`` whenever a job has ended: file, size, SHA-256. Parquet and ``.npz``
files carry checksums of their own, too, which are compared whenever they are read. CSV tables, pages, figures, JSON and LaTeX
files have no place for one: what happens to them this check alone sees.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from foldshift.core.errors import DataError, FoldshiftError
from foldshift.core.files import content_of
from foldshift.datasets.array_files import read_arrays
from foldshift.engine.storage.parquet_files import read_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from foldshift.core.files import Content
    from foldshift.core.types import PathLike

RECORD = "provenance/checksums.jsonl"  # below the folder of the results
NOT_MADE = ("logs", "benchmarks", "provenance", "archive")  # folders of the results that are not looked through

State = Literal["damaged", "replaced", "missing", "unrecorded"]


class Finding(NamedTuple):
    """File of results with which something is wrong."""

    file: str
    state: State
    reason: str


def add_checksums(results: PathLike, files: Iterable[PathLike], directory: PathLike = ".") -> None:
    """Record files as they are now."""
    lines = []
    for file in files:
        if (path := Path(directory, file)).is_file():
            size, sha256 = content_of(path)
            lines.append(json.dumps({"file": str(file), "size": size, "sha256": sha256}, ensure_ascii=False) + "\n")
    if not lines:
        return
    record = Path(directory, results, RECORD)
    record.parent.mkdir(parents=True, exist_ok=True)
    with open(record, "a+b") as target:
        target.seek(0, os.SEEK_END)
        if target.tell():
            target.seek(-1, os.SEEK_END)
            lines.insert(0, "" if target.read(1) == b"\n" else "\n")  # after a line that a killed run left half-written
        target.write("".join(lines).encode())


def recorded(results: PathLike, directory: PathLike = ".") -> dict[str, tuple[int, str]]:
    """Read the record: size and SHA-256 of every file, as written last."""
    found: dict[str, tuple[int, str]] = {}
    try:
        lines = Path(directory, results, RECORD).read_bytes().splitlines()
    except FileNotFoundError:
        return found
    for line in lines:
        try:
            row = json.loads(line)
            found[str(row["file"])] = (int(row["size"]), str(row["sha256"]))
        except (ValueError, KeyError, TypeError):
            continue  # half-written, or damaged itself: then its file is unrecorded, and said to be
    return found


def check_results(results: PathLike = "results", directory: PathLike = ".") -> list[Finding]:
    """Compare the files of results with what the runs that made them recorded; findings are sorted by file.

    ``damaged``: not what was written, and not readable or of a kind that cannot tell; ``replaced``: readable, of another run or
    edited; ``missing``; ``unrecorded``: of another run, or made before checksums were recorded.
    """
    folder = Path(directory, results)
    if not folder.is_dir():
        raise DataError(f"there is no folder of results {folder}; name it: --config results=FOLDER")
    known = recorded(results, directory)
    findings = [found for file, content in known.items() if (found := _finding(file, Path(directory, file), content)) is not None]
    for study in sorted(folder.iterdir()):
        if study.is_dir() and study.name not in NOT_MADE:
            for path in study.rglob("*"):
                file = path.relative_to(directory).as_posix()
                if path.is_file() and not path.name.startswith(".") and file not in known:
                    findings.append(Finding(file, "unrecorded", "of another run, or made before checksums were recorded"))
    return sorted(findings)


def _finding(file: str, path: Path, expected: tuple[int, str]) -> Finding | None:
    if not path.is_file():
        return Finding(file, "missing", "it was made and is not there")
    try:
        found: Content = content_of(path)
    except OSError as error:
        return Finding(file, "damaged", error.strerror or str(error))
    if tuple(found) == expected:
        return None
    differs = f"{found.size:,} bytes instead of {expected[0]:,}" if found.size != expected[0] else "other bytes than were written"
    read = READERS.get(path.suffix)
    try:
        if read is not None:
            read(path)
            return Finding(file, "replaced", f"{differs}; it can be read: of another run, or edited")
    except (FoldshiftError, OSError, ValueError) as error:
        return Finding(file, "damaged", f"{differs}; {str(error).partition('; delete it')[0]}")
    return Finding(file, "damaged", f"{differs}: damaged or edited")


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


READERS: dict[str, Callable[[Path], Any]] = {".parquet": read_parquet, ".npz": read_arrays, ".json": _read_json}


class ChecksumRecorder(logging.Handler):
    """Log handler that records the files of every job of a run that has ended; `files` are its outputs by Snakemake's id."""

    def __init__(self, results: PathLike, files: Mapping[int, Sequence[str]]) -> None:
        super().__init__()
        self.results, self.files = results, files

    def emit(self, record: Any) -> None:
        """Record the files of a job that has ended; ignore everything else that is logged."""
        if str(getattr(record, "event", "")) == "job_finished":
            try:
                add_checksums(self.results, self.files.get(record.job_id, ()))
            except OSError as error:
                logging.getLogger(__name__).warning("checksums were not recorded: %s", error.strerror or error)
