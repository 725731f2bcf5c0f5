"""Folds stratified on a continuous target: CV, SCV_t and TSCV."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.counting import repeat
from foldshift.core.gate.targets import class_target, numeric_target, one_column
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, IntArray, UnsignedArray


def strata_sizes(n_samples: int, n_strata: int) -> IntArray:
    """Compute the number of samples in each stratum."""
    if not 1 <= n_strata <= n_samples:
        raise ValueError(
            f"n_strata={n_strata} must be between 1 (plain k-fold) and the number of samples, {n_samples} (total stratification)"
        )
    sizes = np.full(n_strata, n_samples // n_strata, dtype=np.int64)
    sizes[: n_samples % n_strata] += 1
    return sizes


def stratified_folds(y: ArrayLike, n_folds: int, n_strata: int | None, rngs: Iterable[np.random.Generator]) -> UnsignedArray:
    """Assign samples to folds, stratified on a continuous target (SCV_t), once per generator.

    The samples are sorted by target and cut into strata of neighbours. Stratum by stratum, in random order inside each, every
    sample goes to one of the currently smallest folds, at random among ties. The fold sizes run on from stratum to stratum;
    so each run of `n_folds` samples fills every fold once, in an order that is random and independent of all others, which is
    how it is computed here.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Target, finite numbers; one stratum takes class labels too. Ties keep their order in the sort: where copies of a sample
        are side by side, many strata part them more often than chance would, so shuffle such rows first.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    n_strata : int or None
        Number of strata t, ``1 <= t <= n_samples``; 1 is plain k-fold (CV), n_samples or None total stratification (TSCV).
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of each sample, in ``0 .. k - 1``. Fold sizes differ by at most one.

    Raises
    ------
    ValueError
        If `n_folds` or `n_strata` is out of range (the message names both bounds), or a target is missing or not a number.

    References
    ----------
    .. [1] Saez, J.A., Romero-Bejar, J.L. (2022). Impact of regressand stratification in dataset shift caused by
       cross-validation. Mathematics 10(14), 2538. Algorithms 1 to 3.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import stratified_folds
    >>> y = np.array([9.0, 1.0, 8.0, 2.0])
    >>> folds = stratified_folds(y, 2, None, [np.random.default_rng(seed) for seed in range(5)])
    >>> folds.shape
    (5, 4)
    >>> bool((folds[:, 0] != folds[:, 2]).all() and (folds[:, 1] != folds[:, 3]).all())  # neighbours in target are parted
    True
    """
    y = one_stratum_target(y) if n_strata == 1 else numeric_target(y)
    n_samples = len(y)
    check_n_folds(n_folds, n_samples)
    if n_strata is None:
        n_strata = n_samples
    stratum = repeat(np.arange(n_strata, dtype=np.float64), strata_sizes(n_samples, n_strata))
    by_target = np.argsort(y, kind="stable")
    n_rounds = -(-n_samples // n_folds)
    dtype = fold_dtype(n_folds)
    rows = []
    for rng in rngs:
        if n_strata == n_samples:
            order = by_target
        else:
            # In random order within each stratum: sort by (stratum, random number).
            order = by_target[np.argsort(stratum + rng.random(n_samples), kind="stable")]
        # A random permutation of the folds for every round of n_folds samples.
        dealt = np.argsort(rng.random((n_rounds, n_folds)), axis=1).ravel()[:n_samples]
        folds = np.empty(n_samples, dtype=dtype)
        folds[order] = dealt
        rows.append(folds)
    return np.array(rows, dtype=dtype).reshape(len(rows), n_samples)


def one_stratum_target(y: ArrayLike) -> Array:
    """Check the target of plain k-fold, which is not looked at; return numbers, or the codes of class labels."""
    y = one_column(y)
    return np.unique(class_target(y), return_inverse=True)[1] if y.dtype.kind in "OSU" else numeric_target(y)
