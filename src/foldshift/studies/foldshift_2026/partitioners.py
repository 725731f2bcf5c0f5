"""The cuts of the study: the library's, and re-randomisation."""

import numpy as np

from foldshift.partition.registry import find_partitioner, make_folds, options_of
from foldshift.shift.measures.covariates import fold_ks_attributes
from foldshift.studies.foldshift_2026.constants import RERANDOMISED

N_DRAWN = 20  # random cuts of which the best is taken
REFERENCES = {"classification": "SCV", "regression": "CV"}
UNSTRATIFIED = "CV"  # blind to classes, it cuts them all the same: what stratified classes are held against


def fits(cut, task):
    """Whether a cut is one for a task.

    Parameters
    ----------
    cut : str
        A partitioner's name, or ``Rerandomised``. ``CV`` fits both tasks.
    task : {"classification", "regression"}

    Returns
    -------
    fits : bool

    Raises
    ------
    ValueError
        If nobody knows the name; the message lists those there are.
    """
    return cut in (RERANDOMISED, UNSTRATIFIED) or task in find_partitioner(cut).tasks


def cut_sample(cut, X, y, n_folds, seeds, task, nominal):
    """Cut one sample once per seed.

    Parameters
    ----------
    cut : str
        One that `fits` the task.
    X, y : ndarray of shape (n_samples, n_features), (n_samples,)
        The sample.
    n_folds : int
    seeds : sequence of numpy.random.SeedSequence
    task : {"classification", "regression"}
    nominal : ndarray of shape (n_features,), dtype bool
        Nominal columns.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
    """
    if cut != RERANDOMISED:
        return make_folds(cut, X, y, n_folds, seeds, **options_of(cut, categorical_features=nominal, task=task))
    chosen = []
    for seed in seeds:
        own = [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i)) for i in range(N_DRAWN)]
        drawn = make_folds(REFERENCES[task], X, y, n_folds, own)
        shift = fold_ks_attributes(X, drawn, n_folds, categorical_features=nominal).mean(axis=(1, 2))
        chosen.append(drawn[shift.argmin()])
    return np.array(chosen)
