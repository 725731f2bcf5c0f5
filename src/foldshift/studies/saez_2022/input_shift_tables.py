"""Tables of the shift of the inputs in the regression study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.reporting.items import TableResult
from foldshift.reporting.min_datasets import too_few
from foldshift.reporting.table_grid import plain_grid
from foldshift.studies.common.covariate_shift_tables import (
    drift_by_cell,
    feature_table,
    read_shift,
    shift_by_cell,
    shift_grid,
    shift_summary,
    shifted_grid,
)

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

REFERENCE = "CV"


def tables(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Make the tables of the shift of the inputs by partitioner, by data set and by feature."""
    schemes, partitioners, alpha = dict.fromkeys(settings["n_folds"], 1), settings["partitioners"], settings["alpha"]
    rows, features = read_shift(inputs.shift, inputs.features, partitioners)
    cells = shift_by_cell(rows, schemes).merge(
        drift_by_cell(features, schemes), on=["dataset", "scheme", "partitioner"], how="left"
    )
    summary, by_feature = shift_summary(cells, partitioners, REFERENCE), feature_table(features, schemes)
    short = cells.drop(columns="shifted_features")  # too long for print; another table names them
    return {
        "covariate_shift": TableResult(summary, shift_grid(summary, alpha, REFERENCE, too_few(len(settings["datasets"]), alpha))),
        "covariate_shift_by_dataset": TableResult(cells, plain_grid(short)),
        "shifted_features": TableResult(by_feature, shifted_grid(by_feature, partitioners)),
    }
