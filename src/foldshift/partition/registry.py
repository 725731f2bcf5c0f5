"""Partitioners by the names the papers print."""

import re

import numpy as np

from foldshift.errors import unknown
from foldshift.importing import import_object

# By import path, so that folds load, and rest on, the modules of the partitioners they are cut with and no others
# (`import_path`).
CLASS_PARTITIONERS = {
    "SCV": "foldshift.partition.scv.scv_folds",
    "DB-SCV": "foldshift.partition.classes.db_scv_folds",
    "DOB-SCV": "foldshift.partition.classes.dob_scv_folds",
    "MS-SCV": "foldshift.partition.classes.ms_scv_folds",
}
TARGET_PARTITIONER = "foldshift.partition.stratified.stratified_folds"
LEAVE_ONE_SOURCE_OUT = "LOSO"
KNOWN = ("CV", "SCV2", "SCV4", "SCV10", "SCV20", "SCV50", "SCV100", "TSCV")
HINT = "SCVt takes any number of strata t, for example SCV7."


def n_strata_of(name):
    """Number of strata that a regression partitioner's name stands for.

    Parameters
    ----------
    name : str
        ``CV`` (one stratum), ``SCVt`` (t strata) or ``TSCV`` (as many as samples).

    Returns
    -------
    n_strata : int or None
        None for ``TSCV``.

    Raises
    ------
    ValueError
        If the name is none of these; the message lists them.
    """
    if name == "CV":
        return 1
    if name == "TSCV":
        return None
    match = re.fullmatch(r"SCV([1-9][0-9]*)", name)
    if match is None:
        raise ValueError(unknown("partitioner", name, (*KNOWN, *CLASS_PARTITIONERS), HINT))
    return int(match.group(1))


def import_path(partitioner):
    """Import path of the function that cuts: what the folds of a partitioner rest on.

    Parameters
    ----------
    partitioner : str
        As in `make_folds`.

    Returns
    -------
    path : str
        ``package.module.function``.

    Raises
    ------
    ValueError
        If the name is unknown; the message lists those there are.
    """
    if partitioner == LEAVE_ONE_SOURCE_OUT:
        return "foldshift.partition.groups.source_folds"
    if partitioner in CLASS_PARTITIONERS:
        return CLASS_PARTITIONERS[partitioner]
    n_strata_of(partitioner)
    return TARGET_PARTITIONER


def make_folds(partitioner, X, y, n_folds=5, seeds=(0,), **options):
    """Cut the same data into folds once per seed.

    Parameters
    ----------
    partitioner : str or callable
        For a continuous target ``CV``, ``SCVt`` with any number of strata t, or ``TSCV``; for classes ``SCV``, ``DB-SCV``,
        ``DOB-SCV`` or ``MS-SCV``; for data from several sources ``LOSO``, leave one source out; or a function ``f(X, y, n_folds,
        rngs, **options) -> folds`` of the user's own.
    X : array-like of shape (n_samples, n_features) or None
        Inputs. ``DB-SCV``, ``DOB-SCV`` and ``MS-SCV`` look at them, the others do not.
    y : array-like of shape (n_samples,)
        Target.
    n_folds : int, default=5
        Number of folds, ``2 <= n_folds <= n_samples``. ``LOSO`` makes as many as there are sources, whatever is asked for.
    seeds : iterable of int, numpy.random.SeedSequence or numpy.random.Generator
        One partition is made for each; those of ``LOSO`` are all the same.
    **options
        Passed on to the partitioner: ``metric`` and ``categorical_features`` of those that look at the inputs, ``groups`` of
        ``LOSO`` (array-like of shape (n_samples,): the source of every sample).

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample in the caller's own order.

    Raises
    ------
    ValueError
        If the partitioner is unknown, or `n_folds` or the number of strata is out of range.
    """
    rngs = [np.random.default_rng(seed) for seed in seeds]
    if callable(partitioner):
        folds = np.asarray(partitioner(X, y, n_folds, rngs, **options))
        return check_folds(folds, len(rngs), len(y), n_folds)
    function = import_object(import_path(partitioner), "partitioner")
    if partitioner == LEAVE_ONE_SOURCE_OUT:
        return np.repeat(function(len(y), **options)[None], len(rngs), axis=0)
    if options and (partitioner == "SCV" or partitioner not in CLASS_PARTITIONERS):
        raise ValueError(f"partitioner {partitioner} takes no options; got {', '.join(sorted(options))}")
    if partitioner in CLASS_PARTITIONERS:
        return function(X, y, n_folds, rngs, **options)
    return function(y, n_folds, n_strata_of(partitioner), rngs)


def check_folds(folds, n_seeds, n_samples, n_folds):
    """Refuse folds that are not a partition: wrong shape, a fold number out of range, or an empty fold."""
    if folds.shape != (n_seeds, n_samples):
        raise ValueError(f"folds have shape {folds.shape}; expected (n_seeds, n_samples) = {(n_seeds, n_samples)}")
    if folds.dtype.kind not in "ui":
        raise ValueError(f"folds have dtype {folds.dtype}; expected an integer type")
    if folds.size and (folds.min() < 0 or folds.max() >= n_folds):
        raise ValueError(f"folds hold numbers from {folds.min()} to {folds.max()}; expected 0 to {n_folds - 1}")
    for row, cut in enumerate(folds):
        empty = np.flatnonzero(np.bincount(cut, minlength=n_folds) == 0)
        if len(empty):
            raise ValueError(f"fold {empty[0]} of partition {row} is empty")
    return folds
