"""Every number that the regression paper prints, beside ours, with ratio and Monte Carlo standard error."""

import pandas as pd

from foldshift.jobs import run
from foldshift.reporting.rows import read_cells
from foldshift.reporting.saez_2022 import comparable_results, p_value_errors, paper_vs_ours
from foldshift.reporting.tables import plain_grid, write_table

CAPTION = (
    "Printed numbers of Tables 1, 4 and 5 beside ours. The standard error says how far our number would move with other seeds; the paper's own numbers move "
    "as well. p-values carry a bootstrap error and compare in order of magnitude only."
)
OTHER_DATA = "this run does not cover the 28 data sets of the paper"


def printed_rows(table1, table4, table5):
    """The printed tables in one shape."""
    sets = pd.read_csv(table1).melt("dataset", var_name="quantity", value_name="value").rename(columns={"dataset": "partitioner"})
    sets = sets.assign(table="table1", regressor="", metric="", k=0, row_has_higher_rank_sum="")
    shift = pd.read_csv(table4).assign(table="table4", regressor="", metric="dn")
    error = pd.read_csv(table5).assign(table="table5")
    rows = pd.concat([sets, shift, error], ignore_index=True)
    rows["row_has_higher_rank_sum"] = rows["row_has_higher_rank_sum"].fillna("")
    return rows


def our_numbers(datasets, shift, error):
    """Our numbers and Monte Carlo errors by the keys of the printed ones."""
    ours, errors = {}, {}
    for row in datasets.itertuples():
        ours["table1", "", "", 0, row.dataset, "attributes"] = (row.attributes, None)
        ours["table1", "", "", 0, row.dataset, "samples"] = (row.samples, None)
    for row in shift.itertuples():
        key = ("table4", "", "dn", row.k, row.partitioner)
        ours[(*key, "mean_dn")], errors[(*key, "mean_dn")] = (row.mean_dn, None), row.standard_error
        ours[(*key, "p_vs_CV")] = (row.p_vs_cv, row.higher_vs_cv)
        ours[(*key, "p_vs_TSCV")] = (row.p_vs_tscv, row.higher_vs_tscv)
    for row in error.itertuples():
        key = ("table5", row.regressor, "rmse", row.k, row.partitioner)
        ours[(*key, "mean")], errors[(*key, "mean")] = (row.rmse, None), row.rmse_standard_error
        ours[(*key, "p_vs_CV")] = (row.p_vs_cv, row.higher_vs_cv)
        ours[(*key, "p_vs_TSCV")] = (row.p_vs_tscv, row.higher_vs_tscv)
        key = ("table5", row.regressor, "std", row.k, row.partitioner)
        ours[(*key, "mean")], errors[(*key, "mean")] = (row.std, None), row.std_standard_error
        ours[(*key, "p_vs_CV")] = (row.std_p_vs_cv, row.std_higher_vs_cv)
        ours[(*key, "p_vs_TSCV")] = (row.std_p_vs_tscv, row.std_higher_vs_tscv)
    return ours, errors


def short_rows(error, n_datasets):
    """What to say of our numbers in Table 5 that rest on fewer data sets than there are."""
    return {
        ("table5", row.regressor, metric, row.k, row.partitioner, quantity): f"ours on {row.n_datasets} of {n_datasets} data sets"
        for row in error.itertuples()
        if row.n_datasets < n_datasets
        for metric in ("rmse", "std")
        for quantity in ("mean", "p_vs_CV", "p_vs_TSCV")
    }


def bootstrap_errors(job, settings):
    """Monte Carlo errors of all p-values."""
    folds, partitioners, datasets = settings["n_folds"], settings["partitioners"], settings["datasets"]
    learners = [name for name in settings["learners"] if name in ("RPART", "NN")]
    (shift,) = read_cells(
        job.input.shift, ("k", "partitioner"), ("d_n",), datasets, [(k, name) for k in folds for name in partitioners]
    )
    cells = [(learner, k, name) for learner in learners for k in folds for name in partitioners]
    (errors,) = read_cells(job.input.errors, ("learner", "k", "partitioner"), ("rmse",), datasets, cells)
    out, seed = {}, job.config["master_seed"]
    for k in folds:
        of_k = p_value_errors({name: shift[k, name] for name in partitioners}, partitioners, "mean", ("dn", k), master_seed=seed)
        out |= {("table4", "", "dn", k, name, f"p_vs_{ref}"): value for (name, ref), value in of_k.items()}
        for learner in learners:
            values = comparable_results(errors, learner, k, partitioners)
            for metric, statistic in (("rmse", "mean"), ("std", "std")):
                of_k = p_value_errors(values, partitioners, statistic, (learner, k), master_seed=seed)
                out |= {("table5", learner, metric, k, name, f"p_vs_{ref}"): value for (name, ref), value in of_k.items()}
    return out


def main(job):
    """Join printed and computed tables."""
    settings = job.params.settings
    printed = printed_rows(*job.input.printed)
    datasets, shift, error = (pd.read_csv(path) for path in (job.input.datasets, job.input.table4, job.input.table5))
    ours, errors = our_numbers(datasets, shift, error)
    wanted = set(printed[printed["table"] == "table1"]["partitioner"])
    comparable = set(settings["datasets"]) == wanted
    if comparable:
        errors |= bootstrap_errors(job, settings)
    table = paper_vs_ours(printed, ours, errors, comparable, OTHER_DATA, short_rows(error, len(datasets)))
    write_table(job.output.html, table, plain_grid(table, CAPTION))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
