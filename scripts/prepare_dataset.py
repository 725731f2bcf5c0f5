"""Drop rows with missing values, bring the rows into one order, scale; describe what came of it."""

import json
import logging
from typing import Any

from foldshift.core.files import write_text
from foldshift.core.remedies import at
from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.prepare import describe, prepare
from foldshift.engine.jobs.run_job import run
from foldshift.engine.storage.raw_table_files import read_raw


def main(job: Any) -> None:
    """Prepare one data set with every kind of scaling: together they take less time than starting Python again."""
    entry, table = job.params.entry, read_raw(job.input.table)
    for scaling, file, description in zip(job.params.scalings, job.output.data, job.output.descriptions):
        data = prepare(
            table,
            entry["name"],
            entry["task"],
            scaling=scaling,
            expected_rows=entry["n_rows"],
            expected_features=entry["n_features"],
        )
        write_prepared(file, data)
        write_text(description, json.dumps(describe(data, table), indent=2, ensure_ascii=False) + "\n")
    for note in data.notes:
        logging.warning("%s: %s", data.name, at(note, "workflow"))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
