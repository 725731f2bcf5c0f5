"""Kolmogorov-Smirnov distance between training and test part, exact under ties."""

import numpy as np

from foldshift.compiling import compiled


def ks_statistic(a, b):
    """Two-sample Kolmogorov-Smirnov statistic: the largest distance between two empirical distribution functions.

    Parameters
    ----------
    a, b : array-like of shape (n,), (m,)
        Samples; finite numbers, at least one each.

    Returns
    -------
    statistic : float
        ``D = max_v |F_a(v) - F_b(v)|`` over the distinct values v, in ``[0, 1]``. Computed on integer counts and rounded once.

    Raises
    ------
    ValueError
        If a sample is empty or holds NaN.

    References
    ----------
    .. [1] Saez, Romero-Bejar (2022), section 4.3: D_n = sup_x |F_X - F_Y|.
    """
    a, b = np.sort(np.asarray(a, dtype=np.float64)), np.sort(np.asarray(b, dtype=np.float64))
    for name, sample in (("a", a), ("b", b)):
        if sample.ndim != 1 or len(sample) == 0:
            raise ValueError(f"sample {name} has shape {sample.shape}; expected (n,) with n of at least 1")
        if np.isnan(sample[-1]):
            raise ValueError(f"sample {name} holds NaN; drop missing values first")
    values = np.concatenate([a, b])
    counts_a = np.searchsorted(a, values, side="right")
    counts_b = np.searchsorted(b, values, side="right")
    return float(np.abs(counts_a * len(b) - counts_b * len(a)).max() / (len(a) * len(b)))


def fold_ks(y, folds, n_folds=None):
    """Target shift of every fold of every seed: D_n between training and test part.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Target; finite numbers.
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
        Fold of every sample, one row per seed.
    n_folds : int, optional
        Number of folds; by default the largest fold number plus one.

    Returns
    -------
    d_n : ndarray of shape (n_seeds, n_folds), dtype float64
        Two-sample Kolmogorov-Smirnov statistic between the targets outside and inside each fold, in ``[0, 1]``; NaN for a
        fold that is empty or holds all samples. Step functions are compared at distinct values only.

    Notes
    -----
    With j samples up to a value, c of them in a fold of size m, the distance is ``|j m - c n| / (m (n - m))``: integers until the last
    division. Between two samples of a fold it is extreme at the ends, so one pass over the sorted targets serves all folds: O(n) per seed.
    """
    y = np.asarray(y, dtype=np.float64)
    folds = np.atleast_2d(folds)
    if y.ndim != 1 or folds.shape[1] != len(y):
        raise ValueError(f"y has shape {y.shape} and folds {folds.shape}; expected (n_samples,) and (n_seeds, n_samples)")
    if not np.isfinite(y).all():
        raise ValueError("y holds NaN or infinite values; drop them first")
    if n_folds is None:
        n_folds = int(folds.max()) + 1
    order = np.argsort(y, kind="stable")
    sorted_y = y[order]
    ends = np.append(np.flatnonzero(sorted_y[1:] != sorted_y[:-1]) + 1, len(y))
    return fold_ks_in_order(np.ascontiguousarray(folds[:, order]), ends, n_folds)


@compiled
def fold_ks_in_order(folds, ends, n_folds):
    """`fold_ks` of samples in ascending order of the target, of which `ends` says where each group of equal values ends (one past it)."""
    n_seeds, n = folds.shape
    out = np.empty((n_seeds, n_folds))
    size = np.empty(n_folds, np.int64)
    count = np.empty(n_folds, np.int64)
    largest = np.empty(n_folds, np.int64)
    seen = np.empty(n_folds, np.int64)  # last group of ties in which the fold had a sample
    touched = np.empty(n_folds, np.int64)
    for s in range(n_seeds):
        size[:] = 0
        count[:] = 0
        largest[:] = 0
        seen[:] = -1
        for i in range(n):
            size[folds[s, i]] += 1
        start = 0
        for group in range(len(ends)):
            end = ends[group]
            n_touched = 0
            for i in range(start, end):
                f = folds[s, i]
                if seen[f] != group:
                    seen[f] = group
                    touched[n_touched] = f
                    n_touched += 1
                    before = abs(start * size[f] - count[f] * n)
                    if before > largest[f]:
                        largest[f] = before
                count[f] += 1
            for t in range(n_touched):
                f = touched[t]
                after = abs(end * size[f] - count[f] * n)
                if after > largest[f]:
                    largest[f] = after
            start = end
        for f in range(n_folds):
            scale = size[f] * (n - size[f])
            out[s, f] = largest[f] / scale if scale > 0 else np.nan
    return out
