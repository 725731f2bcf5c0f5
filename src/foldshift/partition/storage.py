"""Folds as files."""

import numpy as np

from foldshift.files import atomic_path


def write_folds(path, folds, seeds):
    """Write the folds of a block of seeds.

    Parameters
    ----------
    path : path-like
        File in NumPy's ``.npz`` format with the arrays ``folds`` and ``seeds``, compressed.
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
        Fold of every sample.
    seeds : array-like of shape (n_seeds,)
        The seeds that made them.
    """
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, folds=folds, seeds=np.asarray(seeds, dtype=np.int64))


def read_folds(path):
    """Read folds that `write_folds` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
    seeds : ndarray of shape (n_seeds,), dtype int64
    """
    with np.load(path, allow_pickle=False) as archive:
        return archive["folds"], archive["seeds"]
