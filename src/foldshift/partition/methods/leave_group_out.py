"""Groups of samples: numbered; and folds that leave one of them out, LOSO."""

import numpy as np

from foldshift.partition._targets import is_missing
from foldshift.partition.fold_numbers import fold_dtype


def group_codes(groups, n_samples):
    """Groups as numbers from 0, in sorted order of their labels.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Label of every sample's group, of any one type that sorts.
    n_samples : int

    Returns
    -------
    codes : ndarray of shape (n_samples,), dtype int64

    Raises
    ------
    ValueError
        If there is not one label for each sample, or one is missing; the message says where.
    """
    groups = np.asarray(groups)
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups[:, 0]
    if groups.shape != (n_samples,):
        raise ValueError(f"groups have shape {groups.shape}; expected (n_samples,) = {(n_samples,)}, one label for each sample")
    missing = np.array([is_missing(label) for label in groups.tolist()], dtype=bool)
    if missing.any():
        raise ValueError(
            f"groups contain NaN: {missing.sum()} of {n_samples} rows (the first is row {missing.argmax()}) have no group; drop "
            "them, or give each a group of its own"
        )
    kinds = sorted({type(label).__name__ for label in groups.tolist()}) if groups.dtype.kind == "O" else []
    if len(kinds) > 1:
        raise ValueError(f"groups mix labels of type {' and '.join(kinds)}; make them all text: [str(label) for label in groups]")
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


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
