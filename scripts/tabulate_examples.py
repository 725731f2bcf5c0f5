"""Worked examples of Wong (2015), printed and corrected; the table of textbooks."""

from foldshift.jobs import run
from foldshift.reporting.tables import write_table
from foldshift.reporting.wong_2015 import examples_grid, examples_table, textbooks_grid, textbooks_table


def main(job):
    """Compute the examples, write both tables."""
    table = examples_table()
    write_table(job.output.examples, table, examples_grid(table))
    table = textbooks_table()
    write_table(job.output.textbooks, table, textbooks_grid(table))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
