"""Score classifiers fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.counting import bincount
from foldshift.core.gate.arrays import as_array, missing
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.targets import class_labels
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS, scored_folds
from foldshift.inference.roc import roc_area_by_group

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, TableLike

LEAST_PROBABILITY = np.finfo(np.float64).eps  # scores are clipped to it, or a single certain error makes the log loss infinite


@np.errstate(invalid="ignore")  # a fold without samples has no accuracy: NaN
def classification_scores(
    codes: TableLike, predictions: TableLike, scores: Array | None, folds: TableLike, n_folds: int
) -> dict[str, FloatArray]:
    """Compute the scores of a classifier in every fold of every seed.

    Parameters
    ----------
    codes : array-like of shape (n_samples,)
        Class of every sample: codes ``0 .. n_classes - 1``, 0 among them, or labels of any other sortable kind, such as texts.
    predictions : array-like of shape (n_seeds, n_samples)
        Predicted classes, of the same kind. A label that no sample has is an error.
    scores : ndarray of shape (n_seeds, n_samples, n_classes) or None
        Class scores, each row with sum 1, in the sorted order of the labels; None for a classifier that has none.
    folds : array-like of shape (n_seeds, n_samples), integer
        Fold of every sample; samples with -1 are left out.
    n_folds : int
        Number of folds.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_seeds, n_folds), dtype float64
        ``auc_crisp``: ``(1 + TPR - FPR) / 2`` of the predicted classes, for more than two classes the mean recall; 0 where the
        fold lacks a class, as in KEEL [1]_. ``auc_corrected``: the same without the classes that the fold lacks; NaN where it has
        fewer than two. ``auc``: area under the ROC curve of the scores, for more than two classes the mean of one against the
        rest, over the classes that the fold has; NaN where it has fewer than two. ``accuracy``: share of correct predictions.
        ``balanced_accuracy``: mean recall of the classes in the fold. ``log_loss``: natural logarithm, scores clipped to 2.2e-16.
        ``n_classes``: number of classes in the fold. ``auc`` and ``log_loss`` are NaN without scores.

    Raises
    ------
    ValueError
        If the folds are not integers below `n_folds`, or the shapes do not fit.

    References
    ----------
    .. [1] Moreno-Torres, Saez, Herrera (2012), section IV.

    Examples
    --------
    >>> from foldshift.evaluation import classification_scores
    >>> y, predicted = ["no", "no", "yes", "yes"], [["no", "yes", "yes", "yes"]]
    >>> classification_scores(y, predicted, None, [[0, 1, 0, 1]], n_folds=2)["accuracy"]
    array([[1. , 0.5]])
    """
    codes, predictions = class_labels(codes, "codes"), as_array(predictions, "predictions")
    if codes.ndim != 1:
        raise ValueError(f"codes have shape {codes.shape}; expected (n_samples,)")
    wanted, (folds, n_folds) = n_folds, scored_folds(folds, n_folds, len(codes), predictions.shape)
    if predictions.dtype.kind == "c":
        raise ValueError("predictions hold complex numbers; expected the classes of codes")
    unknown = missing(predictions) & (folds < wanted)
    if unknown.any():
        raise ValueError(f"predictions have no label for {int(unknown.sum())} tested rows; leave out the fits that failed")
    codes, predictions, n_classes = _as_codes(codes, predictions)
    scores = None if scores is None else _checked_scores(scores, (*folds.shape, n_classes), folds == wanted)
    out = {name: np.full((len(folds), n_folds), np.nan) for name in CLASSIFICATION_METRICS}
    for s, row in enumerate(folds):
        cell = row.astype(np.int64) * n_classes + codes  # fold and class of every sample
        counts = bincount(cell, minlength=n_folds * n_classes).reshape(n_folds, n_classes)
        right = bincount(cell, weights=predictions[s] == codes, minlength=n_folds * n_classes).reshape(n_folds, n_classes)
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
            out["log_loss"][s] = bincount(row, weights=-np.log(own), minlength=n_folds) / counts.sum(axis=1)
            out["auc"][s] = _ranking_aucs(codes, scores[s], row, present)
    return {name: values[:, :wanted] for name, values in out.items()}


def _as_codes(y: Array, predictions: Array) -> tuple[IntArray, Array, int]:
    """Code classes and predictions as ``0 .. n_classes - 1``; -1 for a predicted label that no sample has."""
    if y.dtype.kind in "ui" and predictions.dtype.kind in "ui" and y.min() == 0:
        return y.astype(np.int64, copy=False), predictions, int(y.max()) + 1
    classes, codes = np.unique(y, return_inverse=True)
    place = {label: code for code, label in enumerate(classes.tolist())}
    found = [place.get(label, -1) for label in predictions.ravel().tolist()]
    return codes, np.array(found, dtype=np.int64).reshape(predictions.shape), len(classes)


def _checked_scores(scores: FloatArray, shape: tuple[int, int, int], never: BoolArray) -> FloatArray:
    """Check the shape of class scores; those of samples that are never tested become 0."""
    scores = as_numbers(scores, "scores")
    if scores.shape != shape:
        raise ValueError(f"scores have shape {scores.shape}; expected (n_seeds, n_samples, n_classes) = {shape}")
    return np.where(never[..., None], 0.0, scores) if never.any() else scores


def _ranking_aucs(codes: IntArray, scores: FloatArray, row: Array, present: BoolArray) -> FloatArray:
    """Area under the ROC curve of every fold with two classes; with more classes the mean of one against the rest."""
    n_folds, n_classes = present.shape
    labels = (1,) if n_classes == 2 else range(n_classes)
    areas = [roc_area_by_group(scores[:, label], codes == label, row, n_folds) for label in labels]
    if n_classes == 2:
        return areas[0]
    ranked = np.where(present.sum(axis=1) > 1, present.sum(axis=1), np.nan)
    return sum(np.where(there, area, 0.0) for area, there in zip(areas, present.T)) / ranked
