"""Area under the ROC curve, for many rankings at once."""

import numpy as np
from scipy.stats import rankdata


def roc_area(scores, positive):
    """Area under the ROC curve: the chance that a positive row has the higher score, ties counting one half.

    Parameters
    ----------
    scores : array-like of shape (..., n)
        Scores of the rows, no NaN; leading axes are separate rankings.
    positive : array-like of bool of shape (..., n)
        Which rows are positive; broadcast with `scores`.

    Returns
    -------
    area : ndarray of shape (...)
        In [0, 1]; NaN where one of the classes is absent. Rank sums are exact, so that there is one rounding.
    """
    scores, positive = np.broadcast_arrays(scores, positive)
    n_positive = positive.sum(axis=-1)
    pairs = n_positive * (positive.shape[-1] - n_positive)
    above = np.where(positive, rankdata(scores, axis=-1), 0).sum(axis=-1) - n_positive * (n_positive + 1) / 2
    return np.divide(above, pairs, out=np.full(np.shape(pairs), np.nan), where=pairs > 0)
