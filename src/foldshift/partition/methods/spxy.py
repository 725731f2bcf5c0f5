"""The partition that spreads the extremes over the folds, as chemometrics cuts once, to compare with: SPXY."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.gate.rows import check_rows
from foldshift.partition.fold_numbers import check_n_folds
from foldshift.partition.methods._scaling import complete, renamed, scaled, target_column

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray, TableLike, Task, UnsignedArray


def spxy_folds(
    X: TableLike,
    y: TableLike,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    *,
    categorical_features: TableLike = None,
    task: Task | None = None,
) -> UnsignedArray:
    """Assign samples to folds that each span inputs and target (SPXY), once per generator.

    Every fold begins with a sample far from the centre: the farthest ones, in turn. Then the folds take, in turn, the sample
    that is farthest from the nearest one they hold.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs without missing values.
    y : array-like of shape (n_samples,) or None
        Target: its distances count as much as those of the inputs; of classes 0 or 1. None: inputs only, which is the rule of
        Kennard and Stone.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Nominal columns, coded as a column for each category.
    task : {None, "classification", "regression"}
        What the target is; None: classes where it holds text, truth values or whole numbers.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``. Fold sizes differ by at most one.

    Raises
    ------
    ValueError
        If `n_folds` is out of range, X is not a dense table of numbers, values are missing, or the target is not of the task.

    Notes
    -----
    Columns are scaled to mean 0 and standard deviation 1. There is one partition: seeds differ in the names of the folds alone.
    Published is the choice of one training set; that all folds choose in turn, as two sets do in [3]_, is its natural extension
    to k. Time grows with the square of the number of samples, memory does not.

    References
    ----------
    .. [1] Kennard, R.W., Stone, L.A. (1969). Computer aided design of experiments. Technometrics 11(1), 137-148.
    .. [2] Galvao, R.K.H., et al. (2005). A method for calibration and validation subset partitioning. Talanta 67(4), 736-740.
       Equation 3: distances in inputs and target, each over its maximum, are added.
    .. [3] Snee, R.D. (1977). Validation of regression models: methods and examples. Technometrics 19(4), 415-428. DUPLEX.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import spxy_folds
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> (folds,) = spxy_folds(X, None, 2, [np.random.default_rng(0)])
    >>> bool(folds[0] != folds[1] and folds[2] != folds[3])  # each fold has a low and a high one
    True
    """
    check_rows(X=X, y=y)
    points = scaled(*complete(X, categorical_features))
    check_n_folds(n_folds, len(points))
    parts = [points] if y is None else [points, _target(y, task)]
    dealt = _take_turns(parts, n_folds)
    return renamed(dealt, n_folds, rngs)


def _target(y: TableLike, task: Task | None) -> FloatArray:
    """Make points whose distances are those of the target; different classes are all at the same distance."""
    column, is_class = target_column(y, task)
    return np.eye(column.max() + 1)[column] if is_class else column[:, None].astype(np.float64)


def _take_turns(parts: list[FloatArray], n_folds: int) -> IntArray:
    n_samples = len(parts[0])
    largest = [_diameter(part) for part in parts]
    weights = [1 / one if one > 0 else 0.0 for one in largest]

    def distances(i: int) -> FloatArray:
        return sum(weight * np.linalg.norm(part - part[i], axis=1) for weight, part in zip(weights, parts))

    centre = sum(weight * np.linalg.norm(part - part.mean(axis=0), axis=1) for weight, part in zip(weights, parts))
    folds, left = np.full(n_samples, -1), np.ones(n_samples, dtype=bool)
    nearest = np.full((n_folds, n_samples), np.inf)
    for turn in range(n_samples):
        fold = turn % n_folds
        far = centre if turn < n_folds else nearest[fold]
        chosen = int(np.where(left, far, -1.0).argmax())
        folds[chosen], left[chosen] = fold, False
        np.minimum(nearest[fold], distances(chosen), out=nearest[fold])
    return folds


def _diameter(points: FloatArray) -> float:
    """The largest distance between two points."""
    return max(float(np.linalg.norm(points - point, axis=1).max()) for point in points)
