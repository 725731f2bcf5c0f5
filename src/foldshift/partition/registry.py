"""Partitioners by the names the papers print."""

import numbers
import re

import numpy as np

from foldshift.errors import unknown
from foldshift.importing import import_object
from foldshift.partition.arrays import check_folds
from foldshift.partition.common import check_n_folds

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
        For a continuous target ``CV`` (which takes classes too), ``SCVt`` with any number of strata t, or ``TSCV``; for classes
        ``SCV``, ``DB-SCV``, ``DOB-SCV`` or ``MS-SCV``; for data from several sources ``LOSO``, leave one source out; or a
        function ``f(X, y, n_folds, rngs, **options) -> folds`` of the user's own.
    X : array-like of shape (n_samples, n_features) or None
        Inputs. ``DB-SCV``, ``DOB-SCV`` and ``MS-SCV`` look at them, the others do not.
    y : array-like of shape (n_samples,) or (n_samples, 1)
        Target, without missing values.
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
        If the partitioner is unknown; if `n_folds` or the number of strata is out of range or no whole number; if a target is
        missing, has two columns, or is continuous where classes are wanted; if `X` and `y` differ in length; if `seeds` is one
        number.

    Notes
    -----
    The folds of a seed depend on that seed alone. A splitter with ``random_state=s`` makes those of ``seeds=[s]``. A repeated
    splitter with ``random_state=s`` makes those of ``seeds=numpy.random.SeedSequence(s).spawn(n_repeats)``, so that two of them
    with neighbouring states share no partition, and more repetitions keep the ones there were.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import RepeatedContinuousStratifiedKFold, as_folds, make_folds
    >>> y = np.arange(12.0)
    >>> make_folds("TSCV", None, y, n_folds=3, seeds=range(100)).shape
    (100, 12)
    >>> splitter = RepeatedContinuousStratifiedKFold(n_splits=3, n_repeats=4, random_state=7)
    >>> folds = make_folds("TSCV", None, y, n_folds=3, seeds=np.random.SeedSequence(7).spawn(4))
    >>> bool((folds == as_folds(splitter, y, y)).all())
    True
    """
    rngs = [np.random.default_rng(seed) for seed in _listed(seeds)]
    if partitioner != LEAVE_ONE_SOURCE_OUT:
        check_n_folds(n_folds, len(y))
    n_rows = len(y) if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != len(y):
        raise ValueError(f"X and y have {n_rows} and {len(y)} samples; expected the same number")
    if callable(partitioner):
        folds = np.asarray(partitioner(X, y, n_folds, rngs, **options))
        return check_folds(folds, len(y), n_seeds=len(rngs), n_folds=n_folds)
    function = import_object(import_path(partitioner), "partitioner")
    if partitioner == LEAVE_ONE_SOURCE_OUT:
        return np.repeat(function(len(y), **options)[None], len(rngs), axis=0)
    if options and (partitioner == "SCV" or partitioner not in CLASS_PARTITIONERS):
        raise ValueError(f"partitioner {partitioner} takes no options; got {', '.join(sorted(options))}")
    if partitioner in CLASS_PARTITIONERS:
        return function(X, y, n_folds, rngs, **options)
    return function(y, n_folds, n_strata_of(partitioner), rngs)


def _listed(seeds):
    if isinstance(seeds, numbers.Integral):
        raise ValueError(
            f"seeds={seeds} must be a list, one partition for each: seeds=[{seeds}] for one, seeds=range({seeds}) for as many"
        )
    if isinstance(seeds, (np.random.SeedSequence, np.random.Generator)):
        raise ValueError(f"seeds is one {type(seeds).__name__}; expected a list, one partition for each: seeds=[...]")
    return seeds
