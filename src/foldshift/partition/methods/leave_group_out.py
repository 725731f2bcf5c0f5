"""Numbers of groups of samples, and folds that leave one source out (LOSO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.partition._targets import is_missing
from foldshift.partition.fold_numbers import fold_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import IntArray, TableLike, UnsignedArray


def group_codes(groups: TableLike, n_samples: int) -> IntArray:
    """Number groups from 0, in sorted order of their labels, which are of any one type that sorts."""
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


def source_folds(n_samples: int, *, groups: ArrayLike | None = None) -> UnsignedArray:
    """Assign every sample to the fold of its source, sources in sorted order."""
    if groups is None:
        raise ValueError("partitioner LOSO needs groups, the source of every sample; got none")
    sources, folds = np.unique(np.asarray(groups), return_inverse=True)
    if folds.shape != (n_samples,):
        raise ValueError(f"groups have shape {np.shape(groups)}; expected (n_samples,) = {(n_samples,)}")
    if not 2 <= len(sources) <= 65536:
        raise ValueError(f"groups name {len(sources)} source{'' if len(sources) == 1 else 's'}; expected between 2 and 65536")
    return folds.astype(fold_dtype(len(sources)))
