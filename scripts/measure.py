"""Measure one cell of a study: call the function that the study declares, write the rows that it returns."""

from pathlib import Path
from typing import Any

from foldshift.core.errors import require_keys
from foldshift.core.files import atomic_path
from foldshift.core.imports import import_object
from foldshift.engine.jobs.run_job import run
from foldshift.engine.jobs.user_code import MEASURE, ROWS, call_own
from foldshift.engine.storage.score_files import write_rows


def main(job: Any) -> None:
    """Write one file for every kind of rows; a kind without rows makes a file without rows."""
    function = import_object(job.params.function, "measure")
    schemas = import_object(job.params.function.rpartition(".")[0] + ".SCHEMAS", "measure")
    arguments = job.params.arguments | ({"limits": job.params.limits} if job.params.limited else {})
    rows = call_own(job.params.function, MEASURE, function, job.input, dict(job.wildcards.items()), **arguments)
    kinds = dict(job.output.items())
    require_keys(rows, kinds, f"{job.params.function} must return")
    texts = {kind: path for kind, path in kinds.items() if path.endswith(".html")}
    kinds = {kind: path for kind, path in kinds.items() if kind not in texts}
    require_keys(schemas, kinds, f"SCHEMAS beside {job.params.function} must be")
    for kind, path in texts.items():
        with atomic_path(path) as temporary:
            Path(temporary).write_text(rows[kind], encoding="utf-8")
    for kind, path in kinds.items():
        columns = rows[kind] or {name: [] for name in schemas[kind].names}
        call_own(job.params.function, ROWS, write_rows, path, columns, schemas[kind])


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
