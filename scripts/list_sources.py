"""Write beside the results where the data of a study came from, with checksums."""

import json
from typing import Any

from foldshift.core.files import write_text
from foldshift.engine.jobs.run_job import run
from foldshift.engine.storage.unit_files import texts_in


def main(job: Any) -> None:
    """Join the origins of all data sets."""
    origins = {}
    found = [json.loads(text) for path in job.input.origins for text in texts_in(path)]
    if len(found) > len(job.input.origins):  # files of units, each with many data sets
        found.sort(key=lambda origin: origin["name"])
    for origin in found:
        origins[origin["name"]] = origin
    write_text(job.output.datasets, json.dumps(origins, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
