"""Make the pages of the published tables and figures of a study."""

import json
from pathlib import Path
from typing import Any

from foldshift.core.imports import import_object
from foldshift.engine.jobs.run_job import run
from foldshift.reporting.published_items import write_published


def main(job: Any) -> None:
    """Write the page of every item, and beside it the published table or the figure."""
    facts = json.loads(Path(job.input[0]).read_text(encoding="utf-8"))
    for item, page in zip(job.params.shown, job.output[::2]):
        show = import_object(item["function"], "published") if item["function"] else None
        write_published(item, page, show, facts)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
