"""Names of all metrics, and the errors of regressors, fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.gate.numbers import as_numbers, finite_numbers
from foldshift.partition.folds import check_folds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, TableLike

METRICS = ("rmse", "mae", "r2")
CLASSIFICATION_METRICS = ("auc_crisp", "auc_corrected", "auc", "accuracy", "balanced_accuracy", "log_loss", "n_classes")
OF_CLASSES = ("auc_corrected", "auc")  # NaN, though nothing failed, in folds with fewer than two classes: means leave these out


@np.errstate(divide="ignore", invalid="ignore")  # a fold without samples has no error: NaN
def regression_scores(y: Array, predictions: Array, folds: TableLike, n_folds: int, unit: float = 1.0) -> dict[str, FloatArray]:
    """Compute the errors of a regressor in every fold of every seed.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Target.
    predictions : ndarray of shape (n_seeds, n_samples)
        Cross-validated predictions.
    folds : array-like of shape (n_seeds, n_samples), integer
        Fold of every sample; samples with -1 are left out.
    n_folds : int
        Number of folds.
    unit : float, default=1.0
        Errors are divided by this: the range of the target if it is not scaled yet.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_seeds, n_folds), dtype float64
        ``rmse`` and ``mae`` in units of `unit`; ``r2`` against the mean of the fold's own targets, NaN where they are all equal.
        All are NaN where a fold has no samples.

    Raises
    ------
    ValueError
        If the folds are not integers below `n_folds`, or their shape is not that of the predictions.

    Examples
    --------
    >>> from foldshift.evaluation import regression_scores
    >>> scores = regression_scores([1.0, 2.0, 3.0, 4.0], [[1.0, 2.0, 3.0, 6.0]], [[0, 0, 1, 1]], n_folds=2)
    >>> scores["mae"]
    array([[0., 1.]])
    """
    y, predictions = finite_numbers(y, "y"), as_numbers(predictions, "predictions")
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; expected (n_samples,)")
    wanted, (folds, n_folds) = n_folds, scored_folds(folds, n_folds, len(y), predictions.shape)
    out = {name: np.empty((len(folds), n_folds)) for name in METRICS}
    for s, row in enumerate(folds):
        size = bincount(row, minlength=n_folds).astype(np.float64)
        error = y - predictions[s]
        squared = bincount(row, weights=error**2, minlength=n_folds)
        mean = bincount(row, weights=y, minlength=n_folds) / size
        spread = bincount(row, weights=(y - mean[row]) ** 2, minlength=n_folds)
        out["rmse"][s] = np.sqrt(squared / size) / unit
        out["mae"][s] = bincount(row, weights=np.abs(error), minlength=n_folds) / size / unit
        out["r2"][s] = np.where(spread > 0, 1 - squared / spread, np.nan)
    return {name: values[:, :wanted] for name, values in out.items()}


def scored_folds(folds: ArrayLike, n_folds: int, n_samples: int, shape: tuple[int, ...]) -> tuple[Array, int]:
    """Check folds, move samples that are never tested into a fold of their own behind the others, and count the folds."""
    folds = check_folds(folds, n_samples, untested=True)
    if folds.shape != tuple(shape):
        raise ValueError(f"predictions have shape {tuple(shape)} and folds {folds.shape}; expected (n_seeds, n_samples) of both")
    if folds.size and folds.max() >= n_folds:
        raise ValueError(
            f"folds hold numbers from {folds.min()} to {folds.max()}; expected 0 to {n_folds - 1} (n_folds={n_folds})"
        )
    if folds.size == 0 or folds.min() >= 0:
        return folds, n_folds
    return np.where(folds < 0, n_folds, folds), n_folds + 1
