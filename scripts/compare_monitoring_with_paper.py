"""Every number that the monitoring paper prints, beside ours."""

import pandas as pd

from foldshift.jobs import run
from foldshift.reporting.cieslak_2009_paper import CAPTION, judge, paper_vs_ours, summary
from foldshift.reporting.paper import comparison_notes
from foldshift.reporting.tables import plain_grid, write_table

TABLES = ("table1", "table2", "table3", "table4", "table6")


def main(job):
    """Join printed and computed tables."""
    printed, ours = (
        {name: pd.read_csv(path, keep_default_na=False, na_values=[""]) for name, path in zip(TABLES, paths)}
        for paths in (job.input.printed, job.input.ours)
    )
    ours = {name: table.fillna({"ours": "", "note": ""}) for name, table in ours.items()}
    judged = judge(printed, ours)
    table = paper_vs_ours(judged)
    write_table(job.output.html, table, plain_grid(table, CAPTION, [*comparison_notes(table), *summary(judged)]))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
