"""The error with scaling on the whole data set and on each training part, side by side."""

import pandas as pd

from foldshift.inference.wilcoxon import wilcoxon_signed_ranks
from foldshift.jobs import run
from foldshift.reporting.tables import plain_grid, write_table

CAPTION = (
    "What scaling on the whole data set leaks: mean root mean squared error over the data sets with inputs and target scaled to [0, 1] before "
    "cutting (global, as the paper does) and with the scaling fitted on each training part (fold), on the same folds, both in units of the target's whole "
    "range; their ratio, the largest relative difference of a data set, and Wilcoxon's p over the data sets."
)
COLUMNS = ["regressor", "partitioner", "k", "rmse_global", "rmse_fold", "ratio", "largest_difference", "largest_in", "p_value"]
COLUMNS += ["n_datasets", "n_seeds"]


def summarise(rows):
    """One row per regressor and partitioner."""
    out = []
    for (regressor, partitioner, k), part in rows.groupby(["regressor", "partitioner", "k"], sort=False):
        part = part.dropna(subset=["rmse_global", "rmse_fold"])
        if part.empty:
            out.append({"regressor": regressor, "partitioner": partitioner, "k": k, "n_datasets": 0})
            continue
        a, b = part["rmse_global"].to_numpy(), part["rmse_fold"].to_numpy()
        relative = b / a - 1
        worst = int(abs(relative).argmax())
        out.append(
            {
                "regressor": regressor,
                "partitioner": partitioner,
                "k": k,
                "rmse_global": a.mean(),
                "rmse_fold": b.mean(),
                "ratio": b.mean() / a.mean(),
                "largest_difference": relative[worst],
                "largest_in": part["dataset"].iloc[worst],
                "p_value": wilcoxon_signed_ranks(b, a).p_value,
                "n_datasets": len(part),
                "n_seeds": int(part["n_seeds"].max()),
            }
        )
    return pd.DataFrame(out, columns=COLUMNS)


def main(job):
    """Join the rows of all data sets and learners."""
    table = summarise(pd.concat([pd.read_csv(path) for path in job.input.rows], ignore_index=True))
    write_table(job.output.html, table, plain_grid(table, CAPTION))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
