"""Coverage of every interval on samples of populations, and by partitioner."""

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.inference.moments import LossMoments
from foldshift.jobs import run
from foldshift.reporting.audit import audit_grid, audit_table, draw_audit, partitioner_grid, partitioner_table
from foldshift.reporting.figures import save_figure
from foldshift.reporting.tables import write_table

COLUMNS = ("population", "task", "learner", "partitioner", "replicate", *LossMoments._fields, "truth_parts", "truth_whole")


def main(job):
    """Join the populations, write both tables, draw the coverage."""
    settings, level = job.params.settings["audit"], job.params.settings["level"]
    rows = pd.concat([pd.DataFrame(read_columns(path, COLUMNS)) for path in job.input.rows], ignore_index=True)
    table = audit_table(rows, settings["partitioners"], level)
    write_table(job.output.audit, table, audit_grid(table, level, settings["populations"]))
    by_partitioner = partitioner_table(table, level)
    write_table(job.output.by_partitioner, by_partitioner, partitioner_grid(by_partitioner, level))
    save_figure(job.output.figure, draw_audit(table, by_partitioner, level))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
