"""Confidence intervals for cross-validation estimates, each labelled with what it is about."""

from typing import NamedTuple

import numpy as np
from scipy.stats import t as student_t

from foldshift.inference.arguments import check_level
from foldshift.inference.variance import cv_variance, fold_moments

THESE_SOURCES = "these sources"
THIS_POPULATION = "this sample's population, average over training sets of this size"
NEW_SOURCE = "a new source"
DIFFERENCE = "difference"
FEW_FOLDS = 10


class Interval(NamedTuple):
    """A confidence interval and its target.

    Floats for one data set, arrays of the shape of the leading axes of the losses for many.

    Attributes
    ----------
    name : str
        Which interval.
    target : str
        What it is to cover: `THESE_SOURCES`, `THIS_POPULATION`, `NEW_SOURCE` or `DIFFERENCE`.
    estimate, low, high : float or ndarray
        NaN ends where the variance estimate is negative or does not exist.
    standard_error : float or ndarray
        NaN like the ends.
    df : float or ndarray
        Degrees of freedom of Student's t; inf for the normal distribution.
    note : str
        What a reader must know; empty if nothing.
    """

    name: str
    target: str
    estimate: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    standard_error: float | np.ndarray
    df: float | np.ndarray
    note: str


def cv_intervals(losses, level=0.95, *, design="cvs"):
    """Every interval that follows from the losses of one cross-validation.

    Parameters
    ----------
    losses : array-like of shape (..., K, M), or sequence of K arrays of shape (M_k,)
        Loss of every test row by fold or source; leading axes are independent data sets.
    level : float, default=0.95
        Confidence level.
    design : {"cvs", "cvr"}, default="cvs"
        Whether folds are sources or random. It changes targets and notes, no number: with random folds there is no source to
        generalise to, and all intervals are about `THIS_POPULATION`.

    Returns
    -------
    list of Interval
        ``theta_A``: normal, within-fold variance; with equal sizes the within-fold interval of [1]_. ``theta_B``: normal, twice
        that variance. ``S2/K``: Student's t with K - 1 degrees of freedom on the fold means; with random folds the fold-level
        interval of [2]_. ``all pairs``: normal, the all-pairs variance of [1]_, about the mean of all rows. ``theta_5``: normal.

    Raises
    ------
    ValueError
        If level is not between 0 and 1, design is unknown, or as `foldshift.inference.variance.cv_variance`.

    References
    ----------
    .. [1] Bayle, P., Bayle, A., Janson, L., Mackey, L. (2020). Cross-validation confidence intervals for test error. NeurIPS 33,
    section 4.
    .. [2] Wong, T.-T. (2015). Performance evaluation of classification algorithms by k-fold and leave-one-out cross validation.
    Pattern Recognition 48.
    .. [3] Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML.
    """
    check_level(level)
    if design not in ("cvs", "cvr"):
        raise ValueError(f"design={design!r} must be 'cvs' or 'cvr'")
    moments = cv_variance(losses)
    K, sources = moments.K, design == "cvs"
    equal = isinstance(moments.M, int)
    here, beyond = (THESE_SOURCES, NEW_SOURCE) if sources else (THIS_POPULATION, THIS_POPULATION)
    means, within, sizes = fold_moments(losses)
    N, micro = sizes.sum(), np.asarray(moments.mean_micro)
    inside = np.where(sizes > 1, (sizes - 1) * within, 0.0).sum(axis=-1)
    all_pairs = (inside + (sizes * (means - micro[..., None]) ** 2).sum(axis=-1)) / N**2
    one_row = [] if (sizes > 1).all() else ["does not exist: a fold has one row"]
    few = [f"only {K} {'sources' if sources else 'folds'}"] if K < FEW_FOLDS else []
    weighted = [] if equal else ["folds weigh by their rows"]
    negative = _negative_note(moments.theta_5) if equal else ["does not exist: folds of unequal sizes"]
    for_random = ["derived for random folds"] if sources else []
    return [
        student_interval("theta_A", here, moments.mean, moments.theta_A, np.inf, level, one_row),
        student_interval("theta_B", here, moments.mean, moments.theta_B, np.inf, level, one_row),
        student_interval("S2/K", beyond, moments.mean, moments.theta_gamma, K - 1.0, level, few),
        student_interval("all pairs", here, moments.mean_micro, all_pairs, np.inf, level, weighted),
        student_interval("theta_5", here, moments.mean, moments.theta_5, np.inf, level, (one_row or negative) + for_random),
    ]


def nested_cv_interval(loss_of, folds, level=0.95, *, sources=False):
    """Interval of nested cross-validation, for the error of the classifier trained on all rows.

    Every pair of folds is left out once; one fit serves both folds of the pair, so a row of folds takes K (K + 1) / 2 fits.

    Parameters
    ----------
    loss_of : callable
        ``loss_of(train_mask, test_mask)`` trains on the rows of the first boolean mask of shape (N,) and returns the losses of
        the rows of the second, in their order.
    folds : ndarray of shape (R, N), integer
        Fold 0 .. K - 1 of every row, for R partitions into the same K, at least three, folds. Estimates are averaged over the
        partitions; [1]_ uses 200, and a single one is unstable.
    level : float, default=0.95
        Confidence level.
    sources : bool, default=False
        Folds are sources: leave two sources out. One partition. The unit is then the source: means weigh sources equally, the
        variance of a mean about its expectation is that of the source means (S2), and the quantile is Student's with K - 1
        degrees of freedom.

    Returns
    -------
    Interval
        About `THIS_POPULATION` or, with sources, `NEW_SOURCE`; in both cases for training sets of all rows. Its centre is
        corrected for the rows (sources) that training went without. The standard error ``sqrt((K - 1) / K MSE)`` is restricted to
        between that of ordinary cross-validation and sqrt(K) times as much; the note says where that happened.

    Raises
    ------
    ValueError
        If level is not between 0 and 1, folds are not such an array, a fold is empty or (random folds) has one row, or losses are
        not finite numbers, one for every test row.

    References
    ----------
    .. [1] Bates, S., Hastie, T., Tibshirani, R. (2024). Cross-validation: what does it estimate and how well does it do it? JASA
    119, algorithm 1
       and section 4.3.
    """
    check_level(level)
    folds = np.asarray(folds)
    if folds.ndim != 2 or folds.dtype.kind not in "ui" or not folds.size or folds.min() < 0:
        raise ValueError(
            f"folds has shape {folds.shape} and dtype {folds.dtype}; expected (partitions, rows) of fold numbers from 0"
        )
    if sources and len(folds) != 1:
        raise ValueError(f"folds has {len(folds)} partitions; sources are one partition")
    K = int(folds.max()) + 1
    if K < 3:
        raise ValueError(
            f"folds has {K} fold{'' if K == 1 else 's'}; nested cross-validation leaves two out and needs at least three"
        )
    fewest = 1 if sources else 2
    for number, row in enumerate(folds):
        sizes = np.bincount(row, minlength=K)
        if sizes.min() < fewest:
            raise ValueError(
                f"fold {sizes.argmin()} of partition {number} has {sizes.min()} rows; every fold needs at least {fewest}"
            )
    partitions = [_nested_moments(loss_of, row, K, sources) for row in folds]
    err_nested, err_cv, mse, naive_variance = np.mean(partitions, axis=0)
    naive = np.sqrt(naive_variance)
    unrestricted = np.sqrt(max(0.0, mse * (K - 1) / K))
    standard_error = min(max(unrestricted, naive), np.sqrt(K) * naive)
    note = []
    if mse < 0:
        note.append("the estimated mean squared error is negative: the standard error is that of ordinary cross-validation")
    elif unrestricted < naive:
        note.append("the standard error is restricted to that of ordinary cross-validation")
    elif unrestricted > standard_error:
        note.append("the standard error is restricted to sqrt(K) times that of ordinary cross-validation")
    if sources and K < FEW_FOLDS:
        note.append(f"only {K} sources")
    # An error of c + b / (training size) at K - 2 and K - 1 of K folds gives what is left to K of K.
    estimate = err_nested - (1 + (K - 2) / K) * (err_nested - err_cv)
    target, df = (NEW_SOURCE, K - 1.0) if sources else (THIS_POPULATION, np.inf)
    return student_interval("nested", target, float(estimate), float(standard_error**2), df, level, note)


def _nested_moments(loss_of, row, K, sources):
    """Nested and ordinary estimates, mean squared error and naive variance of one partition."""
    outer = [_losses(loss_of, row != k, row == k) for k in range(K)]
    inner = [[] for _ in range(K)]
    for k in range(K):
        for other in range(k + 1, K):
            held_out = (row == k) | (row == other)
            losses, of_k = _losses(loss_of, ~held_out, held_out), row[held_out] == k
            inner[k].append(losses[~of_k])
            inner[other].append(losses[of_k])
    outer_means = np.array([losses.mean() for losses in outer])
    if sources:
        inner_means = np.array([np.mean([losses.mean() for losses in parts]) for parts in inner])
        S2 = outer_means.var(ddof=1)
        return inner_means.mean(), outer_means.mean(), ((inner_means - outer_means) ** 2).mean() - S2, S2 / K
    inner = [np.concatenate(parts) for parts in inner]
    squared = [(losses.mean() - mean) ** 2 for losses, mean in zip(inner, outer_means)]
    variances = [losses.var(ddof=1) / len(losses) for losses in outer]
    every = np.concatenate(outer)
    return np.concatenate(inner).mean(), every.mean(), np.mean(squared) - np.mean(variances), every.var(ddof=1) / len(every)


def _losses(loss_of, train, test):
    losses = np.asarray(loss_of(train, test), dtype=np.float64)
    if losses.shape != (int(test.sum()),):
        raise ValueError(f"loss_of returned shape {losses.shape} for {int(test.sum())} test rows; expected one loss for each")
    if not np.isfinite(losses).all():
        raise ValueError(
            f"loss_of returned {int((~np.isfinite(losses)).sum())} losses that are NaN or infinite; every loss must be a finite "
            f"number"
        )
    return losses


def _negative_note(theta):
    """Note on negative variance estimates, as a list of none or one."""
    if np.ndim(theta) == 0:
        return ["the variance estimate is negative: no interval"] if theta < 0 else []
    count = int((theta < 0).sum())
    return [f"the variance estimate is negative in {count} of {theta.size} data sets: no interval there"] if count else []


def student_interval(name, target, estimate, variance, df, level, note=()):
    """Interval of Student's t from an estimate and its variance.

    Parameters
    ----------
    name, target : str
        As of `Interval`.
    estimate, variance : float or ndarray
        Of one data set or of many; where the variance is negative or NaN there is no interval.
    df : float or ndarray
        Degrees of freedom; inf for the normal distribution.
    level : float
        Confidence level.
    note : sequence of str
        Notes, which become one.

    Returns
    -------
    interval : Interval
    """
    standard_error = np.sqrt(np.where(np.asarray(variance) >= 0, variance, np.nan))
    half = student_t.ppf((1 + level) / 2, df) * standard_error
    low, high = estimate - half, estimate + half
    if np.ndim(estimate) == 0:
        estimate, low, high, standard_error = float(estimate), float(low), float(high), float(standard_error)
    return Interval(name, target, estimate, low, high, standard_error, df, "; ".join(note))
