"""Hellinger distance between two samples of one attribute."""

import numpy as np


def hellinger(a, b, *, bins=30, categorical=False):
    """Hellinger distance between the histograms of two samples.

    Parameters
    ----------
    a, b : array-like of shape (n,), (m,)
        Samples, at least one value each; finite numbers, or labels of any type that sorts where `categorical` is true.
    bins : int, default=30
        Bins of equal width between the smallest and the largest value of both samples together. Not used for categories.
    categorical : bool, default=False
        Whether every distinct value is a bin of its own.

    Returns
    -------
    distance : float
        ``sqrt(sum over bins of (sqrt(p) - sqrt(q))**2)``, in ``[0, sqrt(2)]``: not divided by sqrt(2), as some libraries do.

    Raises
    ------
    ValueError
        If a sample is empty or holds NaN or infinity, or `bins` is below 1.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108. Equation 9, Algorithm 1.
    """
    a, b = np.asarray(a), np.asarray(b)
    for name, sample in (("a", a), ("b", b)):
        if sample.ndim != 1 or len(sample) == 0:
            raise ValueError(f"sample {name} has shape {sample.shape}; expected (n,) with n of at least 1")
    codes, n_codes = bin_codes(np.concatenate([a, b]), bins, categorical)
    p = np.bincount(codes[: len(a)], minlength=n_codes) / len(a)
    q = np.bincount(codes[len(a) :], minlength=n_codes) / len(b)
    return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum()))


def bin_codes(values, bins, categorical):
    """Number of the bin of every value.

    Parameters
    ----------
    values : ndarray of shape (n,)
        One attribute of all samples.
    bins : int
        Bins of equal width between the smallest and the largest value, closed below, the last one on both sides.
    categorical : bool
        Whether every distinct value is a bin of its own.

    Returns
    -------
    codes : ndarray of shape (n,), dtype int64
        From 0.
    n_codes : int
        Number of bins.
    """
    if categorical:
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError("the samples hold NaN; drop missing values first")
        categories, codes = np.unique(values, return_inverse=True)
        return codes, len(categories)
    if bins < 1:
        raise ValueError(f"bins={bins!r} must be at least 1")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("the samples hold NaN or infinite values; drop them first")
    edges = np.linspace(values.min(), values.max(), bins + 1)
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1), bins
