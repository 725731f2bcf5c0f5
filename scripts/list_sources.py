"""Write beside the results where the data of a study came from, with checksums."""

import json
from typing import Any

from foldshift.core.files import write_text
from foldshift.engine.jobs.run_job import run


def main(job: Any) -> None:
    """Join the origins of all data sets."""
    origins = {}
    for path in job.input.origins:
        with open(path, encoding="utf-8") as file:
            origin = json.load(file)
        origins[origin["name"]] = origin
    write_text(job.output.datasets, json.dumps(origins, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
