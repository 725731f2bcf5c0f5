"""Cuts of the study: those of the library, and re-randomisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.errors import DataError
from foldshift.partition.registry import find_partitioner, make_folds, options_of
from foldshift.shift.measures.covariates import fold_ks_attributes
from foldshift.studies.foldshift_2026.cuts_and_methods import RERANDOMISED

if TYPE_CHECKING:
    from foldshift.core.types import IntArray, Task, UnsignedArray
    from foldshift.datasets.dataset import Dataset

N_DRAWN = 20  # random cuts of which the best is taken
REFERENCES = {"classification": "SCV", "regression": "CV"}
UNSTRATIFIED = "CV"  # blind to classes, so that it cuts both tasks: stratified classes are compared with it


def fits(cut: str, task: Task) -> bool:
    """True if a cut is made for a task."""
    return cut in (RERANDOMISED, UNSTRATIFIED) or task in find_partitioner(cut).tasks


def cut_sample(cut: str, data: Dataset, rows: IntArray, n_folds: int, seeds: Sequence[np.random.SeedSequence]) -> UnsignedArray:
    """Cut some rows of a population once per seed: folds of shape (n_seeds, n_rows)."""
    X, y, nominal = data.X[rows], data.y[rows], data.categorical_features
    try:
        if cut != RERANDOMISED:
            return make_folds(cut, X, y, n_folds, seeds, **options_of(cut, categorical_features=nominal, task=data.task))
        chosen = []
        for seed in seeds:
            own = [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i)) for i in range(N_DRAWN)]
            drawn = make_folds(REFERENCES[data.task], X, y, n_folds, own)
            shift = fold_ks_attributes(X, drawn, n_folds, categorical_features=nominal).mean(axis=(1, 2))
            chosen.append(drawn[shift.argmin()])
        return np.array(chosen)
    except ValueError as error:
        raise DataError(f"population {data.name}, cut {cut}, k={n_folds}: {error}") from error
