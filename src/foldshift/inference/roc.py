"""Area under the ROC curve, for many rankings at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from foldshift.core.counting import bincount

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray


def roc_area(scores: ArrayLike, positive: ArrayLike) -> FloatArray:
    """Chance that a positive row has the higher score, ties counting one half; NaN if a class is absent."""
    scores, positive = np.broadcast_arrays(scores, positive)
    n_positive = positive.sum(axis=-1, dtype=np.int64)  # a product of two such numbers may exceed 32 bits
    pairs = n_positive * (positive.shape[-1] - n_positive)
    above = np.where(positive, rankdata(scores, axis=-1), 0).sum(axis=-1) - n_positive * (n_positive + 1) / 2
    return np.divide(above, pairs, out=np.full(np.shape(pairs), np.nan), where=pairs > 0)


def roc_area_by_group(scores: FloatArray, positive: BoolArray, groups: Array, n_groups: int) -> FloatArray:
    """Area within each group of rows, such as a fold, equal to `roc_area` to the last bit; NaN if a score of the group is."""
    # One sort for all groups; pairs are counted in whole numbers and divided once.
    order = np.lexsort((scores, groups))
    scores, positive, groups = scores[order], positive[order], groups[order]
    new = np.ones(len(scores), dtype=bool)
    new[1:] = (scores[1:] != scores[:-1]) | (groups[1:] != groups[:-1])
    tie, ties = np.cumsum(new) - 1, np.count_nonzero(new)  # rows that share group and score
    up, down = bincount(tie[positive], minlength=ties), bincount(tie[~positive], minlength=ties)
    group = groups[new]
    n_up, n_down = (bincount(group, weights=count, minlength=n_groups) for count in (up, down))
    below = np.cumsum(down) - down - (np.cumsum(n_down) - n_down)[group]  # negative rows of the group with a lower score
    above = bincount(group, weights=up * (2 * below + down), minlength=n_groups) / 2
    above[groups[np.isnan(scores)]] = np.nan
    pairs = n_up * n_down
    return np.divide(above, pairs, out=np.full(n_groups, np.nan), where=pairs > 0)
