"""Covariate shift of partitioners, by feature too, and what it has to do with the error of the estimate: tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.core.errors import DataError
from foldshift.engine.storage.score_files import read_columns
from foldshift.reporting.items import TableResult
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
from foldshift.studies.moreno_torres_2012.experiments import area_of
from foldshift.studies.moreno_torres_2012.notation import REFERENCE
from foldshift.studies.moreno_torres_2012.shift_and_error import correlation_grid, error_by_cell, run_errors, shift_and_error

if TYPE_CHECKING:
    from foldshift.core.types import Inputs

SCORE_COLUMNS = ("dataset", "learner", "partitioner", "k")


def covariate_shift(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Shift by partitioner, by data set and by feature, and its correlation with the error of the estimate."""
    schemes, partitioners = settings["iterations"], settings["partitioners"]
    configuration, names = next(iter(settings["ids"].items()))
    learners, area = list(names.values()), area_of(configuration)
    rows, features = read_shift(inputs.shift, inputs.features, partitioners)
    columns = (*SCORE_COLUMNS, area)
    scores = pd.concat([pd.DataFrame(read_columns(path, columns)) for path in inputs.scores], ignore_index=True)
    scores = scores.rename(columns={area: "auc_crisp"})
    try:
        errors = run_errors(scores[scores["k"].isin(schemes)], partitioners, learners)
    except ValueError as error:
        raise DataError(str(error)) from error
    cell = ["dataset", "scheme", "partitioner"]
    by_cell = shift_by_cell(rows, schemes).merge(drift_by_cell(features, schemes), on=cell, how="left")
    by_dataset = by_cell.merge(error_by_cell(errors, schemes), on=cell, how="left")
    short = by_dataset.drop(columns="shifted_features")  # too long for print; another table names them
    summary, by_feature = shift_summary(by_cell, partitioners, REFERENCE), feature_table(features, schemes)
    correlations = shift_and_error(rows, errors, schemes, partitioners, master_seed=settings["master_seed"])
    return {
        "covariate_shift": TableResult(summary, shift_grid(summary, settings["alpha"], REFERENCE)),
        "covariate_shift_by_dataset": TableResult(by_dataset, plain_grid(short)),
        "shifted_features": TableResult(by_feature, shifted_grid(by_feature, partitioners)),
        "covariate_shift_and_error": TableResult(correlations, correlation_grid(correlations)),
    }
