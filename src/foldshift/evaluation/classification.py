"""Scores of classifiers, fold by fold."""

import numpy as np

from foldshift.evaluation.metrics import CLASSIFICATION_METRICS
from foldshift.inference.roc import roc_area

LEAST_PROBABILITY = np.finfo(np.float64).eps  # scores are clipped to it, or a single certain error makes the log loss infinite


def classification_scores(codes, predictions, scores, folds, n_folds):
    """Scores of every fold of every seed.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), dtype int64
        Class of every sample, ``0 .. n_classes - 1``.
    predictions : ndarray of shape (n_seeds, n_samples), dtype int64
        Predicted classes.
    scores : ndarray of shape (n_seeds, n_samples, n_classes) or None
        Class scores, rows that sum to 1; None for a classifier that has none.
    folds : ndarray of shape (n_seeds, n_samples), unsigned integer
        Fold of every sample.
    n_folds : int
        Number of folds.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_seeds, n_folds), dtype float64
        ``auc_crisp``: ``(1 + TPR - FPR) / 2`` of the predicted classes, for more than two classes the mean recall; 0 where the
        fold lacks a class, as in KEEL [1]_. ``auc_corrected``: the same, but a class that the fold lacks takes no part; NaN where
        it has fewer than two. ``auc``: area under the ROC curve of the scores, for more than two classes the mean of one against
        the rest, over the classes that the fold has; NaN where it has fewer than two. ``accuracy``. ``balanced_accuracy``: mean
        recall of the classes that are there. ``log_loss``: natural logarithm, scores clipped to 2.2e-16. ``n_classes``: how many
        classes the fold has. ``auc`` and ``log_loss`` are NaN without scores.

    References
    ----------
    .. [1] Moreno-Torres, Saez, Herrera (2012), section IV.
    """
    n_classes = int(codes.max()) + 1
    out = {name: np.full((len(folds), n_folds), np.nan) for name in CLASSIFICATION_METRICS}
    for s, row in enumerate(folds):
        cell = row.astype(np.int64) * n_classes + codes  # fold and class of every sample
        counts = np.bincount(cell, minlength=n_folds * n_classes).reshape(n_folds, n_classes)
        right = np.bincount(cell, weights=predictions[s] == codes, minlength=n_folds * n_classes).reshape(n_folds, n_classes)
        recall = np.divide(right, counts, out=np.zeros_like(right), where=counts > 0)
        present = counts > 0
        complete, ranked = present.all(axis=1), present.sum(axis=1) > 1
        out["auc_crisp"][s] = np.where(complete, recall.mean(axis=1), 0.0)
        out["accuracy"][s] = right.sum(axis=1) / counts.sum(axis=1)
        out["balanced_accuracy"][s] = recall.sum(axis=1) / present.sum(axis=1)
        out["auc_corrected"][s] = np.where(ranked, out["balanced_accuracy"][s], np.nan)
        out["n_classes"][s] = present.sum(axis=1)
        if scores is not None:
            own = np.clip(scores[s, np.arange(len(codes)), codes], LEAST_PROBABILITY, 1.0)
            out["log_loss"][s] = np.bincount(row, weights=-np.log(own), minlength=n_folds) / counts.sum(axis=1)
            out["auc"][s] = _ranking_aucs(codes, scores[s], row, present)
    return out


def _ranking_aucs(codes, scores, row, present):
    """Area under the ROC curve of every fold with two classes; for more than two in all the mean of one against the rest."""
    n_folds, n_classes = present.shape
    areas = np.full(n_folds, np.nan)
    for fold in np.flatnonzero(present.sum(axis=1) > 1):
        test = row == fold
        labels = (1,) if n_classes == 2 else np.flatnonzero(present[fold])
        areas[fold] = sum(roc_area(scores[test, label], codes[test] == label) for label in labels) / len(labels)
    return areas
