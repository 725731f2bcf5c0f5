"""Folds stratified on classes, blind to the inputs: SCV."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.gate.targets import class_target
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype, rows_by_class

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import UnsignedArray


def scv_folds(X: Any, y: ArrayLike, n_folds: int, rngs: Iterable[np.random.Generator]) -> UnsignedArray:
    """Assign samples to folds, stratified on classes (SCV), once per generator.

    The samples of a class are shuffled and dealt to the folds in turn; the turn runs on across classes.

    Parameters
    ----------
    X : object
        Not looked at.
    y : array-like of shape (n_samples,)
        Class labels of any type that sorts; the classes are taken in sorted order.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of each sample, in ``0 .. k - 1``. Class counts and fold sizes differ by at most one. A class with fewer samples than
        folds is missing in some folds.

    Raises
    ------
    ValueError
        If `n_folds` is out of range, or y is missing somewhere or continuous.

    References
    ----------
    .. [1] Moreno-Torres, J.G., Saez, J.A., Herrera, F. (2012). Study on the impact of partition-induced dataset shift on k-fold
       cross-validation. IEEE Transactions on Neural Networks and Learning Systems 23(8), 1304-1312. Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import scv_folds
    >>> folds = scv_folds(None, ["a", "a", "b", "b"], 2, [np.random.default_rng(0)])
    >>> sorted(folds[0, :2].tolist()), sorted(folds[0, 2:].tolist())
    ([0, 1], [0, 1])
    """
    _, codes = np.unique(class_target(y), return_inverse=True)
    check_n_folds(n_folds, len(codes))
    rngs = list(rngs)
    folds = np.empty((len(rngs), len(codes)), dtype=fold_dtype(n_folds))
    turn = 0
    for rows in rows_by_class(codes):
        dealt = (turn + np.arange(len(rows))) % n_folds
        for row, rng in zip(folds, rngs):
            row[rows[rng.permutation(len(rows))]] = dealt
        turn += len(rows)
    return folds
