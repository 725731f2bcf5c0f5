"""What failed in a study, and why, as a table."""

import json
from pathlib import Path

from foldshift.jobs import run
from foldshift.reporting.failures import failures_grid, failures_table
from foldshift.reporting.tables import write_table


def main(job):
    """Join the failures of all data sets."""
    lists = [json.loads(Path(path).read_text(encoding="utf-8")) for path in job.input.failures]
    table = failures_table(lists, Path(job.output.html).parents[2].as_posix())
    write_table(job.output.html, table, failures_grid(table, lists))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
