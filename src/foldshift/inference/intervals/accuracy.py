"""Wong's intervals for the accuracy from k-fold and leave-one-out cross-validation, and the conditions they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.stats import beta, norm
from scipy.stats import t as student

from foldshift.core.arguments import check_confidence, check_one_of, condition_note, joined_notes, plain
from foldshift.core.gate.numbers import as_numbers, correctness, fold_counts
from foldshift.core.gate.rows import check_pairs
from foldshift.inference.intervals.cross_validation import THIS_POPULATION, Interval
from foldshift.inference.proportions import wilson_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, TableLike

LARGE_SAMPLE = 5  # right and wrong predictions that the normal approximation needs
METHODS = ("auto", "normal", "wilson", "clopper-pearson")


def large_sample(r: ArrayLike, m: ArrayLike) -> bool | BoolArray:
    """Check that counts are large enough for the normal approximation: five or more right, and five or more wrong.

    Parameters
    ----------
    r : float or array-like
        Correct predictions per fold, or their expected number ``m * p``; the total for leave-one-out.
    m : float or array-like
        Predictions, same shape as `r` or one number.

    Returns
    -------
    large : bool or ndarray of bool

    Raises
    ------
    ValueError
        If a count is not from 0 to m.

    Examples
    --------
    >>> large_sample([9, 3], 14)
    array([ True, False])

    References
    ----------
    .. [1] Wong (2015), section 2.
    """
    r, m = as_numbers(r, "r"), as_numbers(m, "m")
    if 0 not in (r.ndim, m.ndim) and r.shape[-1] != m.shape[-1]:
        raise ValueError(f"r and m have shapes {r.shape} and {m.shape}; expected the same, or one number as m")
    bad = ~((r >= 0) & (r <= m))
    if bad.any():
        r_bad, m_bad = (np.broadcast_to(a, bad.shape)[bad][0] for a in (r, m))
        raise ValueError(f"r={r_bad:g} must be from 0 to m={m_bad:g}")
    return plain((r >= LARGE_SAMPLE) & (m - r >= LARGE_SAMPLE))


def accuracy_interval(
    r: ArrayLike,
    m: ArrayLike,
    level: Literal["dataset", "fold"] = "dataset",
    *,
    confidence: float = 0.95,
    method: Literal["auto", "normal", "wilson", "clopper-pearson"] = "auto",
    small_folds: Literal["keep", "drop"] = "keep",
) -> Interval:
    """Confidence interval for the accuracy of one learner, from the correct predictions of every fold.

    Parameters
    ----------
    r : array-like of shape (..., k)
        Correct predictions per fold; leading axes are separate data sets. A single number is one fold.
    m : int or array-like of shape (k,)
        Size of the folds.
    level : {"dataset", "fold"}, default="dataset"
        ``dataset``: all predictions are one binomial sample. ``fold``: the k accuracies are a sample, and their mean has
        Student's t with k - 1 degrees of freedom.
    confidence : float, default=0.95
        Probability of coverage aimed at.
    method : {"auto", "normal", "wilson", "clopper-pearson"}, default="auto"
        At the level of the data set. ``auto`` is ``normal`` if all folds (of all data sets) meet the large-sample conditions
        and ``wilson`` otherwise. The normal interval is not cut at 0 and 1. At the level of folds ``auto`` and ``normal`` are the
        t interval.
    small_folds : {"keep", "drop"}, default="keep"
        Treatment of folds that fail the large-sample conditions. ``drop`` is the paper's way and biased (see
        `foldshift.inference.simulation.wong_claims`).

    Returns
    -------
    interval : Interval
        NaN with a note if too few folds are left after dropping.

    Raises
    ------
    ValueError
        If a count is not a whole number from 0 to m, or an argument is not one of those above.

    Notes
    -----
    The standard error counts predictions (or folds) as independent. They are not: training sets overlap. Covariances within and
    between folds are missing, so that the interval is too narrow for unstable learners.

    Examples
    --------
    >>> interval = accuracy_interval([18, 17, 19, 16, 18], 20)
    >>> round(interval.estimate, 2), round(interval.low, 3), round(interval.high, 3)
    (0.88, 0.802, 0.93)

    References
    ----------
    .. [1] Wong (2015), Theorem 1, section 4.3.3 and Example 1; section 5.1 for leave-one-out.
    """
    check_one_of("level", level, ("dataset", "fold"))
    check_one_of("method", method, METHODS)
    check_one_of("small_folds", small_folds, ("keep", "drop"))
    check_confidence(confidence)
    if level == "fold" and method not in ("auto", "normal"):
        raise ValueError(f"method={method!r} needs level='dataset'; level='fold' takes method 'auto' or 'normal'")
    check_pairs(r=r, m=m)
    r, m = fold_counts(np.atleast_1d(as_numbers(r, "r")), m, "r")
    large = np.asarray(large_sample(r, m))
    kept = large if small_folds == "drop" else np.ones_like(large)
    note = condition_note(large, small_folds)
    if level == "fold":
        return _fold_interval(r / m, kept, confidence, note)
    if method == "auto":
        method = "normal" if large[kept].all() else "wilson"
    return _dataset_interval((r * kept).sum(axis=-1), (m * kept).sum(axis=-1), confidence, method, note)


def loo_interval(
    x: TableLike, *, confidence: float = 0.95, method: Literal["auto", "normal", "wilson", "clopper-pearson"] = "auto"
) -> Interval:
    """Confidence interval for the accuracy of one learner, from leave-one-out.

    Parameters
    ----------
    x : array-like of shape (..., n)
        1 if the prediction of an instance is right, 0 if it is wrong.
    confidence, method
        As in `accuracy_interval`; the large-sample conditions hold for the totals.

    Returns
    -------
    interval : Interval

    Examples
    --------
    >>> interval = loo_interval([1] * 45 + [0] * 5)
    >>> round(interval.estimate, 2), round(interval.low, 3), round(interval.high, 3)
    (0.9, 0.817, 0.983)

    References
    ----------
    .. [1] Wong (2015), section 5.1.
    """
    x = correctness(x, "x")
    return accuracy_interval(x.sum(axis=-1)[..., None], x.shape[-1], confidence=confidence, method=method)


def _dataset_interval(r: FloatArray, n: FloatArray, confidence: float, method: str, note: str) -> Interval:
    if np.any(n == 0):
        note = joined_notes(note, "no fold is left")
    n = np.where(n > 0, n, np.nan)
    p = r / n
    standard_error = np.sqrt(p * (1 - p) / n)
    tail = (1 - confidence) / 2
    z = norm.isf(tail)
    if method == "normal":
        low, high, name = p - z * standard_error, p + z * standard_error, "Wong, data set, z"
    elif method == "wilson":
        low, high, name = *wilson_interval(p, n, confidence), "data set, Wilson"
    else:
        low, high, name = beta.ppf(tail, r, n - r + 1), beta.isf(tail, r + 1, n - r), "data set, Clopper-Pearson"
        low, high = np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)  # exact ends, which a parameter of 0 would miss
    return Interval(name, THIS_POPULATION, plain(p), plain(low), plain(high), plain(standard_error), np.inf, note)


def _fold_interval(p: FloatArray, kept: BoolArray, confidence: float, note: str) -> Interval:
    k = kept.sum(axis=-1)
    if small_count := int((k < 2).sum()):
        if kept.all():
            raise ValueError(f"level='fold' needs at least 2 folds, got {p.shape[-1]}")
        note = joined_notes(
            note,
            f"fewer than 2 folds are left in {small_count} of {k.size} data sets" if k.ndim else "fewer than 2 folds are left",
        )
    enough = np.where(k > 1, k, np.nan)
    mean = np.where(kept, p, 0).sum(axis=-1) / enough
    variance = (np.where(kept, p - mean[..., None], 0) ** 2).sum(axis=-1) / (enough - 1)
    standard_error = np.sqrt(variance / enough)
    half = student.isf((1 - confidence) / 2, enough - 1) * standard_error
    low, high, df = plain(mean - half), plain(mean + half), plain(enough - 1)
    return Interval("Wong, folds, t", THIS_POPULATION, plain(mean), low, high, plain(standard_error), df, note)
