"""Folds stratified on a continuous target: CV, SCV_t and TSCV."""

import numpy as np

from foldshift.partition.common import check_n_folds, fold_dtype


def strata_sizes(n_samples, n_strata):
    """Number of samples in each stratum.

    Parameters
    ----------
    n_samples, n_strata : int
        ``1 <= n_strata <= n_samples``.

    Returns
    -------
    sizes : ndarray of shape (n_strata,), dtype int64
        ``floor(n/t)`` each; the first ``n - t * floor(n/t)`` strata get one more.
    """
    if not 1 <= n_strata <= n_samples:
        raise ValueError(
            f"n_strata={n_strata} must be between 1 (plain k-fold) and the number of samples, {n_samples} (total stratification)"
        )
    sizes = np.full(n_strata, n_samples // n_strata, dtype=np.int64)
    sizes[: n_samples % n_strata] += 1
    return sizes


def stratified_folds(y, n_folds, n_strata, rngs):
    """Assign samples to folds, stratified on a continuous target (SCV_t), once per generator.

    The samples are sorted by target and cut into strata of neighbours. Stratum by stratum, in random order inside each, every
    sample goes to one of the currently smallest folds, at random among ties. The fold sizes run on from stratum to stratum;
    so each run of `n_folds` samples fills every fold once, in an order that is random and independent of all others, which is
    how it is computed here.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Target. Ties keep their order in the sort.
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
        If `n_folds` or `n_strata` is out of range; the message names both bounds.

    References
    ----------
    .. [1] Saez, J.A., Romero-Bejar, J.L. (2022). Impact of regressand stratification in dataset shift caused by
       cross-validation. Mathematics 10(14), 2538. Algorithms 1 to 3.
    """
    y = np.asarray(y)
    n_samples = len(y)
    check_n_folds(n_folds, n_samples)
    if n_strata is None:
        n_strata = n_samples
    stratum = np.repeat(np.arange(n_strata, dtype=np.float64), strata_sizes(n_samples, n_strata))
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
