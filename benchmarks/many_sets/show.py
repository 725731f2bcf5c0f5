"""The table of the study."""

from typing import Any

import pandas as pd

from foldshift.engine.storage.score_files import read_columns


def errors(inputs: Any, settings: Any) -> dict[str, pd.DataFrame]:
    """Summarise errors and target shift over the data sets."""
    scores, shift = (
        pd.concat([pd.DataFrame(read_columns(path, ["dataset", *columns])) for path in paths], ignore_index=True)
        for paths, columns in (
            (inputs.scores, ("learner", "partitioner", "k", "rmse")),
            (inputs.shift, ("partitioner", "k", "d_n")),
        )
    )
    keys = ["learner", "k", "partitioner"]
    means = scores.groupby(["dataset", *keys], sort=False)["rmse"].mean()
    table = means.groupby(keys, sort=False).describe(percentiles=[0.25, 0.5, 0.75])[["count", "mean", "25%", "50%", "75%"]]
    table = table.rename(columns={"count": "datasets", "25%": "lower_quartile", "50%": "median", "75%": "upper_quartile"})
    mean_dn = shift.groupby(["k", "partitioner"], sort=False)["d_n"].mean()
    return {"errors": table.reset_index().merge(mean_dn.rename("mean_dn").reset_index(), on=["k", "partitioner"])}
