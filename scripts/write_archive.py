"""Put scores, configuration, provenance, tables and figures into one file, a Workflow Run RO-Crate."""

import json
import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import foldshift
from foldshift.core.files import content_of
from foldshift.engine.archive.crate import workflow_files, write_archive
from foldshift.engine.jobs.code_digest import module_files
from foldshift.engine.jobs.run_job import run
from foldshift.engine.layout.labels import units_file
from foldshift.engine.storage.unit_files import texts_in

ROOT = Path(foldshift.__file__).parents[2]


def renamed(path: str | Path, folders: dict[str, str]) -> str:
    """Name in the archive: folders have their default names there, wherever they are here."""
    for name, folder in folders.items():
        if Path(folder) in Path(path).parents:
            return f"{name}/{Path(path).relative_to(folder).as_posix()}"
    raise AssertionError(path)


def own_modules(imports: Sequence[str]) -> dict[str, Path]:
    """Modules of learners and partitioners of the user's own, and what they import, by their place below the working directory or
    the import path."""
    files = [Path(file) for file in module_files(objects=imports)]
    folders = [Path.cwd(), *(Path(folder).resolve() for folder in sys.path)]
    return {
        file.relative_to(next(folder for folder in folders if folder in file.parents)).as_posix(): file
        for file in files
        if ROOT / "src" not in file.parents
    }


def own_studies(folders: dict[str, str]) -> dict[str, Path]:
    """Files of studies of the user's own, for the record: `make reproduce` runs no code of an archive."""
    return {
        f"studies/{study}/{file.relative_to(folder).as_posix()}": file
        for study, folder in folders.items()
        for file in sorted(Path(folder).rglob("*"))
        if file.suffix in {".py", ".yaml", ".csv", ".md"}
    }


def moment(times: float) -> str:
    """ISO 8601 text, in UTC, of a time in seconds."""
    return datetime.fromtimestamp(times, UTC).isoformat(timespec="seconds")


def read(path: str | Path) -> Any:
    """A JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def main(job: Any) -> None:
    """Name everything, write the archive, log its size and checksum."""
    given, folders = job.input, job.params.folders
    files = workflow_files(ROOT) | own_modules(job.params.imports) | own_studies(job.params.studies)
    objects = {"config/datasets.tsv": given.catalogue, "config/learners.yaml": given.learners, "config/costs.tsv": given.costs}
    for path in (*given.outputs, *given.rows, *given.descriptions, *given.origins, *given.provenance):
        files[renamed(path, folders)] = path
    if (units := units_file(folders["results"])).is_file():  # which data sets are in one file
        files[renamed(units, folders)] = units
    times = [Path(path).stat().st_mtime for path in (*given.rows, *given.outputs)]
    write_archive(
        job.output.archive,
        files | objects,
        [renamed(path, folders) for path in given.outputs],
        [*objects, "results/provenance/config.yaml"],
        started=moment(min(times)),
        ended=moment(max(times)),
        versions=read(next(path for path in given.provenance if Path(path).name == "versions.json")),
        origins=[json.loads(text) for path in given.origins for text in texts_in(path)],
    )
    content = content_of(job.output.archive)
    logging.info("%d files, %.1f MB, SHA-256 %s", len(files | objects), content.size / 1e6, content.sha256)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
