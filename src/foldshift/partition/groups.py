"""Folds that leave one source of the data out: LOSO."""

import numpy as np

from foldshift.partition.common import fold_dtype


def source_folds(n_samples, *, groups=None):
    """Leave one source out: the fold of a sample is the number of its source, in sorted order.

    Parameters
    ----------
    n_samples : int
    groups : array-like of shape (n_samples,)
        Source of every sample.

    Returns
    -------
    folds : ndarray of shape (n_samples,), dtype uint8 (uint16 above 256 sources)

    Raises
    ------
    ValueError
        If the sources are not given, are fewer than two, or their number is not that of the samples.
    """
    if groups is None:
        raise ValueError("partitioner LOSO needs groups, the source of every sample; got none")
    sources, folds = np.unique(np.asarray(groups), return_inverse=True)
    if folds.shape != (n_samples,):
        raise ValueError(f"groups have shape {np.shape(groups)}; expected (n_samples,) = {(n_samples,)}")
    if not 2 <= len(sources) <= 65536:
        raise ValueError(f"groups name {len(sources)} source{'' if len(sources) == 1 else 's'}; expected between 2 and 65536")
    return folds.astype(fold_dtype(len(sources)))
