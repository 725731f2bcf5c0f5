"""How often cross-validation should be repeated with new partitions, and the most that repeating can gain.

The estimates of different partitions of the same data share the data. With theta the variance of the estimate of one partition
and rho the correlation of two, ``Var(mean of r) = theta (1 + (r - 1) rho) / r``: repeating removes the partition variance ``(1 -
rho) theta`` and nothing else.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2


class Repetitions(NamedTuple):
    """Result of `recommend_repetitions`.

    Attributes
    ----------
    n_partitions : int
        Partitions the estimates come from.
    mean : float
        Mean estimate of the partitions.
    partition_variance, partition_low, partition_high : float
        Variance of the estimate between partitions of these data, with its chi-square interval (the estimates taken for normal).
        Another data set of the same size may have another one; that is not in the interval.
    theta : float
        Variance of the estimate of one partition, over data sets and partitions.
    theta_from : {"given", "corrected"}
        Whether theta was given or is that of Nadeau and Bengio, from the scores of the folds.
    rho, rho_low, rho_high : float
        Correlation of the estimates of two partitions, ``1 - partition_variance / theta``, theta taken for known. It is also the
        variance that is left after infinitely many repetitions, as a share of that of one. Not clipped: below 0, theta is too
        small for these data. NaN where theta is 0.
    repetitions, repetitions_low, repetitions_high : int
        Recommended number: ``ceil(partition_variance / (eps^2 theta))``, at least 1; and for the ends of the interval.
    eps : float
        Standard deviation that the choice of partitions may leave in the mean, as a share of sqrt(theta).
    level : float
        Level of the interval.
    note : str
        What to beware of; empty if nothing.
    """

    n_partitions: int
    mean: float
    partition_variance: float
    partition_low: float
    partition_high: float
    theta: float
    theta_from: str
    rho: float
    rho_low: float
    rho_high: float
    repetitions: int
    repetitions_low: int
    repetitions_high: int
    eps: float
    level: float
    note: str

    @property
    def most_gain(self):
        """The most that repeating can take off the variance of one partition, as a share of it: ``1 - rho``."""
        return 1 - self.rho

    def curve(self, repetitions):
        """Variance of the mean of r partitions as a share of that of one, see `variance_ratio`."""
        return variance_ratio(repetitions, self.rho)

    def __str__(self):
        share = f"{self.level:g} interval"
        lines = [
            f"mean of {self.n_partitions} partitions       {self.mean:.6g}",
            f"sd between partitions      {self.partition_variance**0.5:.4g} ({share} {self.partition_low**0.5:.4g} to "
            f"{self.partition_high**0.5:.4g})",
            f"sd of one estimate         {self.theta**0.5:.4g} "
            f"({'given' if self.theta_from == 'given' else 'Nadeau-Bengio, from the folds'})",
            f"recommended repetitions    {self.repetitions} ({share} {self.repetitions_low} to {self.repetitions_high}) "
            f"for eps = {self.eps:g}",
        ]
        if np.isfinite(self.rho):
            lines += [
                f"variance left with them    {self.curve(self.repetitions):.3f} of that of one partition",
                f"variance no number removes {self.rho:.3f} ({share} {self.rho_low:.3f} to {self.rho_high:.3f}): repetitions are "
                f"not independent",
            ]
        return "\n".join(lines + ([f"note: {self.note}"] if self.note else []))


def variance_ratio(repetitions, rho):
    """Variance of the mean of r partitions as a share of that of one, ``(1 + (r - 1) rho) / r``.

    Parameters
    ----------
    repetitions : array-like of int
        r, 1 or more; ``numpy.inf`` gives rho.
    rho : float
        Correlation of the estimates of two partitions of the same data.

    Returns
    -------
    ratio : float or ndarray
        1 at r = 1, falling to rho.

    References
    ----------
    .. [1] Wong, T.-T. (2015). Performance evaluation of classification algorithms by k-fold and leave-one-out cross validation.
    Pattern Recognition 48,
           section 4.3, which claims that the variance does not fall; this is what it does.
    """
    r = np.asarray(repetitions, dtype=np.float64)
    if not (r >= 1).all():
        raise ValueError(f"repetitions={repetitions!r} must be 1 or more")
    ratio = rho + (1 - rho) / r
    return float(ratio) if ratio.ndim == 0 else ratio


def recommend_repetitions(scores, *, theta=None, n_train=None, n_test=None, eps=0.1, level=0.95):
    """Number of repetitions after which the choice of partitions hardly matters any more.

    The mean of r partitions is taken for settled when the standard deviation that the choice of partitions leaves in it is at
    most eps times the standard deviation of one estimate: beyond that, repeating makes a figure more exact that does not get
    nearer to the truth.

    Parameters
    ----------
    scores : array-like of shape (r, k) or (r,)
        Scores of the k folds of r partitions of the same data (differences of two learners as well), or the estimates of the
        partitions, which need theta. Folds of equal weight.
    theta : float, optional
        Variance of the estimate of one partition, in squared units of the score, e.g. from
        `foldshift.inference.variance.cv_variance`. Default: that of Nadeau and Bengio from the scores, ``s2 (1 / k + n_test /
        n_train)`` with s2 the variance of the folds within a partition, averaged over partitions. On simulated sets of 100 rows
        in 10 folds its mean was 1.0 times the truth for an unstable learner (a stump) and 1.9 times for a stable one (nearest
        centroid), whose recommendation is too small by that factor; give theta where you know better.
    n_train, n_test : float, optional
        Rows in a training and in a test part, for the default of theta; k - 1 and 1 unless given.
    eps : float, default=0.1
        See above; larger than 0.
    level : float, default=0.95
        Level of the interval of the partition variance.

    Returns
    -------
    recommendation : Repetitions
        Where all partitions give the same estimate (leave-one-out, a learner that never errs), 1 repetition, whatever theta.

    Raises
    ------
    ValueError
        If there are fewer than two partitions, a score is not finite, theta is needed and not given, theta is negative, or it is
        0 although the estimates differ.

    References
    ----------
    .. [1] Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests for comparing learning
    algorithms. PAKDD, 3-12.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim not in (1, 2) or scores.size == 0:
        raise ValueError(f"scores has shape {scores.shape}; expected (r, k), the folds of r partitions, or (r,), their estimates")
    n_partitions = len(scores)
    if n_partitions < 2:
        raise ValueError(
            "scores comes from 1 partition; two partitions of the same data are needed to see how far the estimate depends on "
            "the partition"
        )
    bad = ~np.isfinite(scores)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"scores has {bad.sum()} NaN or infinite values, the first at {first}; leave those partitions out")
    if not 0 < eps < np.inf:
        raise ValueError(f"eps={eps!r} must be larger than 0, e.g. 0.1")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be between 0 and 1, e.g. 0.95")
    estimates = scores if scores.ndim == 1 else scores.mean(axis=1)
    variance = _variance(estimates, np.abs(scores).max())
    theta, theta_from = _theta(scores, n_train, n_test) if theta is None else (float(theta), "given")
    if not 0 <= theta < np.inf:
        raise ValueError(f"theta={theta!r} must be a variance, 0 or more; a negative estimate of it cannot be used here")
    if theta == 0 and variance > 0:
        raise ValueError(
            f"theta is 0 although the estimates of the partitions differ (their variance is {variance:.3g}); give another theta"
        )
    df = n_partitions - 1
    bounds = df * variance / chi2.ppf([(1 + level) / 2, (1 - level) / 2], df)
    spread = np.array([variance, *bounds])
    rho = 1 - spread / theta if theta > 0 else np.full(3, np.nan)
    # the share is rounded before it is cut up, or 10.000000000000002 repetitions would become 11
    wanted = [max(1, int(np.ceil(round(v / (eps**2 * theta), 9)))) if v > 0 else 1 for v in spread]
    notes = []
    if rho[0] < 0:
        notes.append(
            "the partitions differ by more than theta, so theta is too small for these data and rho, which cannot be negative, is"
        )
    if n_partitions < 10:
        notes.append(f"{n_partitions} partitions tell the partition variance only within the interval shown")
    return Repetitions(
        n_partitions,
        float(estimates.mean()),
        float(variance),
        *map(float, bounds),
        theta,
        theta_from,
        float(rho[0]),
        float(rho[2]),
        float(rho[1]),
        *wanted,
        eps,
        level,
        "; ".join(notes),
    )


def _theta(scores, n_train, n_test):
    if scores.ndim == 1 or scores.shape[1] < 2:
        raise ValueError(
            f"scores has shape {scores.shape}, without folds to tell theta from; give theta, the variance of one estimate"
        )
    k = scores.shape[1]
    if (n_train is None) != (n_test is None):
        raise ValueError(f"n_train={n_train!r} and n_test={n_test!r} must both be given or neither")
    overlap = 1 / (k - 1) if n_train is None else n_test / n_train
    within = np.mean([_variance(row, np.abs(scores).max()) for row in scores])
    return float(within * (1 / k + overlap)), "corrected"


def _variance(values, size):
    """Variance with ddof 1; exactly 0 where the values differ by rounding only."""
    return 0.0 if np.ptp(values) <= 1e-12 * size else float(values.var(ddof=1))
