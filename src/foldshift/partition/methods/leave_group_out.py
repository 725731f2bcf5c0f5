"""Numbers of groups of samples, and folds that leave one source out (LOSO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.gate.targets import group_labels
from foldshift.partition.fold_numbers import fold_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import IntArray, TableLike, UnsignedArray


def group_codes(groups: TableLike, n_samples: int) -> IntArray:
    """Number groups from 0, in sorted order of their labels, which are of any one type that sorts."""
    return np.unique(group_labels(groups, n_samples), return_inverse=True)[1].astype(np.int64)


def source_folds(n_samples: int, *, groups: ArrayLike | None = None) -> UnsignedArray:
    """Assign every sample to the fold of its source, sources in sorted order."""
    if groups is None:
        raise ValueError("partitioner LOSO needs groups, the source of every sample; got none")
    sources, folds = np.unique(group_labels(groups, n_samples), return_inverse=True)
    if not 2 <= len(sources) <= 65536:
        raise ValueError(f"groups name {len(sources)} source{'' if len(sources) == 1 else 's'}; expected between 2 and 65536")
    return folds.astype(fold_dtype(len(sources)))
