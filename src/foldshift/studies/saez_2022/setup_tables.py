"""Tables 2 and 3 of the regression study: regressors and their parameters, and what the experiment varies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY
from foldshift.reporting.table_grid import Grid

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

OTHER_LEARNER, NOT_PRINTED = "not in this run", "not in print"
MEASURES = ("RMSE", "D_n")


def tables(inputs: Inputs, settings: dict[str, Any], learners: dict[str, dict[str, Any]]) -> dict[str, TableResult]:
    """Make Tables 2 and 3 beside print."""
    regressors, experiment = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in inputs.printed)
    table2, table3 = regressors_table(regressors, learners), experiment_table(experiment, settings)
    return {
        "table2_regressors": TableResult(table2, _grid(table2, ["Regressor", "Parameter", "In print", "Here"])),
        "table3_experiment": TableResult(
            table3, _grid(table3, ["Parameter", "In print", "Here", "Number in print", "Number here"])
        ),
    }


def regressors_table(printed: pd.DataFrame, learners: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Put every printed parameter beside that of our learner, and add the parameters that print does not name.

    The column ``ours`` of `printed` names our parameter, or what our learner always does.
    """
    rows = []
    for name in dict.fromkeys((*printed["regressor"], *learners)):
        named = printed[printed["regressor"] == name]
        params = learners[name]["params"] if name in learners else {}
        for row in named.itertuples():
            here = params.get(row.ours, row.ours) if name in learners else OTHER_LEARNER
            rows.append((name, row.parameter, row.printed, str(here)))
        rows += [(name, key, NOT_PRINTED, str(value)) for key, value in params.items() if key not in set(named["ours"])]
    return pd.DataFrame(rows, columns=["regressor", "parameter", "printed", "ours"])


def experiment_table(printed: pd.DataFrame, settings: dict[str, Any]) -> pd.DataFrame:
    """Put what the paper varied beside what this run varies, with the number of values."""
    ours = {
        "data sets": settings["datasets"],
        "folds k": settings["n_folds"],
        "partitioners": settings["partitioners"],
        "regressors": settings["learners"],
        "measures": MEASURES,
    }
    rows = []
    for row in printed.itertuples():
        seeds = row.parameter == "seeds"
        values = row.printed if seeds else ", ".join(map(str, ours[row.parameter]))
        n_here = settings["n_seeds"] if seeds else len(ours[row.parameter])
        rows.append((row.parameter, row.printed, values, int(row.number), n_here))
    return pd.DataFrame(rows, columns=["parameter", "printed", "ours", "n_printed", "n_ours"])


def _grid(table: pd.DataFrame, header: list[str]) -> Grid:
    return Grid(header, [[str(value) or EMPTY for value in row] for row in table.itertuples(index=False)])
