"""Measure what scaling on the whole data set leaks: errors with it, and with scaling fitted on each training part."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.core.seeding import fit_states
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.storage.fold_files import join_folds
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.regressors import evaluate_cell

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows

DIGITS = 10  # significant digits of an error: its last bits differ between equal fits, and a test would count the difference

SCHEMAS = {
    "scaling": pa.schema(
        [
            ("dataset", TEXT),
            ("regressor", TEXT),
            ("partitioner", TEXT),
            ("k", pa.int32()),
            ("n_seeds", pa.int32()),
            ("rmse_global", pa.float64()),
            ("rmse_fold", pa.float64()),
        ]
    )
}


def compare_scaling(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    learners: dict[str, dict[str, Any]],
    partitioners: Sequence[str],
    wanted: dict[str, dict[str, Any]],
    k: int,
    n_seeds: int,
    master_seed: int,
    limits: dict[str, float | None],
) -> dict[str, Rows]:
    """Measure the error with both kinds of scaling, on the same folds with the same random states; NaN where a fit fails."""
    whole, raw = read_prepared(inputs.scaled), read_prepared(inputs.raw)
    folds, seeds = join_folds(inputs.folds, wanted, n_seeds)

    def mean_errors(cell: tuple[str, str]) -> list[float]:
        """Average the RMSE over folds and seeds, in units of the target's range, scaled as a whole and by training part."""
        learner, name = cell
        spec = learners[learner]
        states = fit_states(master_seed, (whole.name, name, k), seeds[name, k].tolist(), k)
        errors = []
        for data in (whole, raw):
            try:
                estimator = build_learner(spec, data.scaling, data.categorical_features)
            except ValueError as error:
                raise DataError(f"learner {learner}: {error}") from error
            X, cut = design_matrix(data, spec["nominal"]), folds[name, k]
            scores = evaluate_cell(estimator, X, data.y, cut, random_states=states, unit=data.unit)
            errors.append(float(f"{np.mean(scores['rmse']):.{DIGITS}g}"))
        return errors

    rows = []
    for (learner, name), result in run_cells(
        mean_errors, [(learner, name) for learner in learners for name in partitioners], **limits
    ):
        if isinstance(result, Lost):
            logging.warning("%s, %s: %s: %s", learner, name, result.status, result.message)
            result = (np.nan, np.nan)
        values = (whole.name, learner, name, k, len(seeds[name, k]), *result)
        rows.append({column: [value] for column, value in zip(SCHEMAS["scaling"].names, values)})
    return {"scaling": rows}
