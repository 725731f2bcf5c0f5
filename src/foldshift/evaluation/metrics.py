"""Names of all metrics, and the errors of regressors, fold by fold."""

import numpy as np

METRICS = ("rmse", "mae", "r2")
CLASSIFICATION_METRICS = ("auc_crisp", "auc_corrected", "auc", "accuracy", "balanced_accuracy", "log_loss", "n_classes")
OF_CLASSES = ("auc_corrected", "auc")  # absent, not failed, where a fold has fewer than two classes: means go over the others


def regression_scores(y, predictions, folds, n_folds, unit=1.0):
    """Error of every fold of every seed.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Target.
    predictions : ndarray of shape (n_seeds, n_samples)
        Cross-validated predictions.
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
        Fold of every sample.
    n_folds : int
        Number of folds.
    unit : float, default=1.0
        Errors are divided by it: the range of the target if that is not scaled yet.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_seeds, n_folds), dtype float64
        ``rmse`` and ``mae`` in units of `unit`; ``r2`` against the mean of the fold's own targets, NaN where they are all the
        same.
    """
    out = {name: np.empty((len(folds), n_folds)) for name in METRICS}
    for s, row in enumerate(folds):
        size = np.bincount(row, minlength=n_folds).astype(np.float64)
        error = y - predictions[s]
        squared = np.bincount(row, weights=error**2, minlength=n_folds)
        mean = np.bincount(row, weights=y, minlength=n_folds) / size
        spread = np.bincount(row, weights=(y - mean[row]) ** 2, minlength=n_folds)
        out["rmse"][s] = np.sqrt(squared / size) / unit
        out["mae"][s] = np.bincount(row, weights=np.abs(error), minlength=n_folds) / size / unit
        with np.errstate(divide="ignore", invalid="ignore"):
            out["r2"][s] = np.where(spread > 0, 1 - squared / spread, np.nan)
    return out
