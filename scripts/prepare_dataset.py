"""Drop rows with missing values, bring the rows into one order, scale."""

import logging

from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.preparation import prepare
from foldshift.datasets.storage import read_raw
from foldshift.jobs import run


def main(job):
    """Prepare one data set with one kind of scaling."""
    entry = job.params.entry
    data = prepare(
        read_raw(job.input.table),
        entry["name"],
        entry["task"],
        scaling=job.wildcards.scaling,
        expected_rows=entry["n_rows"],
        expected_features=entry["n_features"],
    )
    for note in data.notes:
        logging.warning("%s: %s", data.name, note)
    write_prepared(job.output.data, data)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
