"""Tables of the monitoring study: which features fail, how learners react, which detector finds what."""

import json

import pandas as pd

from foldshift.evaluation.storage import read_columns
from foldshift.jobs import run
from foldshift.reporting import cieslak_2009 as report
from foldshift.reporting.tables import plain_grid, write_table


def read_rows(paths, columns):
    """Rows of all data sets and blocks."""
    parts = [pd.DataFrame(read_columns(path, columns)) for path in paths]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))


def read_sizes(paths):
    """Rows of every data set by its name."""
    sizes = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        sizes[data["name"]] = data["n_rows"]
    return sizes


def main(job):
    """Join the rows of all jobs, write every table."""
    alpha, printed = job.params.settings["alpha"], [pd.read_csv(path) for path in job.input.printed]
    table1, table2, table3, table4, table6 = printed
    shift, readings, co_failure, learners, multivariate = (
        read_rows(paths, columns)
        for paths, columns in (
            (job.input.shift, report.SHIFT_COLUMNS),
            (job.input.readings, report.READING_COLUMNS),
            (job.input.co_failure, report.CO_FAILURE_COLUMNS),
            (job.input.learners, report.LEARNER_COLUMNS),
            (job.input.multivariate, report.MULTIVARIATE_COLUMNS),
        )
    )
    shares = report.failing_shares(shift)
    fired = report.rejections(shift, learners, multivariate, alpha)
    tables = {
        "table1_datasets": (report.datasets_table(shift, read_sizes(job.input.descriptions), table1), report.datasets_grid),
        "table2_ks_failing": (
            report.ks_table(shares, table2),
            lambda table: report.ks_grid(table, report.self_failures(shares)),
        ),
        "ks_readings": (report.readings_table(readings, table2), report.readings_grid),
        "table3_phi": (report.phi_table(co_failure, table3), report.phi_grid),
        "table4_ks_translation": (report.translation_table(shares, table4), report.translation_grid),
        "table5_examples": (report.examples_table(), report.examples_grid),
        "table6_hellinger_skew": (report.skew_table(co_failure, table6), report.skew_grid),
        "learner_sensitivity": (report.sensitivity_table(learners, alpha), report.sensitivity_grid),
        "power": (report.power_table(fired, alpha), lambda table: report.power_grid(table, alpha)),
        "type_one": (report.type_one_table(fired, alpha), lambda table: report.type_one_grid(table, alpha)),
        "p_values": (report.p_values_table(learners, alpha), lambda table: plain_grid(table, report.P_VALUES_CAPTION)),
        "ks_by_prior": (report.prior_table(shift), lambda table: plain_grid(table, report.PRIOR_CAPTION)),
        "hellinger": (
            report.hellinger_table(shift),
            lambda table: plain_grid(table, report.HELLINGER_CAPTION, report.order_notes(table)),
        ),
    }
    for name, (table, grid) in tables.items():
        write_table(getattr(job.output, name), table, grid(table))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
