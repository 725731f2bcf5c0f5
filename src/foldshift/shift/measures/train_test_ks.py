"""Shift between training and test part of splits that an array of folds cannot say: forward in time, with a buffer, by subset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.rows import check_rows, check_same_rows
from foldshift.partition.splits import Splits, as_splits
from foldshift.shift.measures.ks import ks_features

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Splitter, TableLike


def split_ks(values: TableLike, cv: Splitter | Splits, groups: TableLike = None) -> FloatArray:
    """Compute the shift of a target, or of inputs, between the training and the test part of every split.

    Parameters
    ----------
    values : array-like of shape (n_samples,) or (n_samples, n_features)
        Target, or a table of inputs: numbers; NaN is a missing value and left out.
    cv : splitter, what `foldshift.partition.as_splits` returns, or array-like of shape (n_seeds, n_samples)
        Splits of the same rows.
    groups : array-like, optional
        Groups, times, coordinates or subsets, for splitters that need them.

    Returns
    -------
    ks : ndarray of shape (n_splits,) or (n_splits, n_features), dtype float64
        Two-sample Kolmogorov-Smirnov statistic, in ``[0, 1]``; rows that are left out of both parts do not count. NaN where a
        part has no value.

    Raises
    ------
    ValueError
        If a value is infinite or no number, or the splits are of another number of rows.

    See Also
    --------
    fold_ks : The same for arrays of folds, faster.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import ForwardBlockKFold
    >>> from foldshift.shift import split_ks
    >>> trend = np.arange(12.0)
    >>> split_ks(trend, ForwardBlockKFold(n_splits=2)), split_ks(np.tile([0.0, 1.0], 6), ForwardBlockKFold(n_splits=2))
    (array([1., 1.]), array([0., 0.]))
    """
    check_rows(values=values, groups=groups)
    check_same_rows(values=values, cv=cv)
    table = values if hasattr(values, "iloc") else as_array(values, "values")
    numbers = as_numbers(table, "values")
    if numbers.ndim not in (1, 2) or not len(numbers):
        raise ValueError(f"values have shape {numbers.shape}; expected (n_samples,) or (n_samples, n_features)")
    splits = cv if isinstance(cv, Splits) else as_splits(cv, np.zeros((len(numbers), 1)), None, groups)
    if splits.test.shape[1] != len(numbers):
        raise ValueError(f"values have {len(numbers)} rows, and the splits {splits.test.shape[1]}; give those of the same rows")
    columns = numbers if numbers.ndim == 2 else numbers[:, None]
    found = np.array([ks_features(columns[train], columns[test]).statistic for train, test in zip(splits.train, splits.test)])
    return found if numbers.ndim == 2 else found[:, 0]
