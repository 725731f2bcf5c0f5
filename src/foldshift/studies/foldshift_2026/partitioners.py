"""The cuts of the study: the library's, and re-randomisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from foldshift.partition.registry import find_partitioner, make_folds, options_of
from foldshift.shift.measures.covariates import fold_ks_attributes
from foldshift.studies.foldshift_2026.cuts_and_methods import RERANDOMISED

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, Task, UnsignedArray

N_DRAWN = 20  # random cuts of which the best is taken
REFERENCES = {"classification": "SCV", "regression": "CV"}
UNSTRATIFIED = "CV"  # blind to classes, it cuts them all the same: what stratified classes are held against


def fits(cut: str, task: Task) -> bool:
    """Whether a cut is one for a task."""
    return cut in (RERANDOMISED, UNSTRATIFIED) or task in find_partitioner(cut).tasks


def cut_sample(
    cut: str, X: Array, y: Array, n_folds: int, seeds: Sequence[np.random.SeedSequence], task: Task, nominal: BoolArray
) -> UnsignedArray:
    """Cut one sample once per seed."""
    if cut != RERANDOMISED:
        return make_folds(cut, X, y, n_folds, seeds, **options_of(cut, categorical_features=nominal, task=task))
    chosen = []
    for seed in seeds:
        own = [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i)) for i in range(N_DRAWN)]
        drawn = make_folds(REFERENCES[task], X, y, n_folds, own)
        shift = fold_ks_attributes(X, drawn, n_folds, categorical_features=nominal).mean(axis=(1, 2))
        chosen.append(drawn[shift.argmin()])
    return np.array(chosen)
