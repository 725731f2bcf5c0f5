"""Interval of a mean loss from the spread of rows (or whole groups) in one repetition, for any number of repetitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student_t

from foldshift.core.counting import bincount

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray

DEPENDENT, LEAST_FACTOR = 1.15, 0.8
"""Factors of the variance of rows, chosen on the development populations of `validation/held_out_scores.py`: models that share
rows err together; however far repetitions disagree, rows remain."""
UNSTABLE, SKEWED = 0.5, 1.3
"""Share that repeating takes off where the learner is unstable, and factor by which a sample underrates the third moment of the
losses; chosen on populations of the study of honest cuts and 16 data sets that `validation/held_out_sets.py` does not name."""


def dependence(rows: FloatArray) -> float:
    """Factor of the variance of rows (r, n): models that share rows err together, less where repetitions disagree."""
    return max(DEPENDENT - UNSTABLE * unstable_part(rows), LEAST_FACTOR)


def mean_loss_ends(
    losses: FloatArray, confidence: float = 0.95, groups: IntArray | None = None, factor: float = 1.0
) -> tuple[float, float, float]:
    """Estimate and interval of a mean loss from the spread of the rows within one repetition, for any number of repetitions.

    `losses` has shape (r, n). With `groups` of shape (n,) the spread is that of whole groups. `factor` multiplies the variance.

    The mean is one over all repetitions, the variance that of one: the losses of the rows in a single repetition, divided by n.
    For a stable learner repetitions agree on every row, and this is the interval of [1] about the mean error of these models. For
    an unstable one the spread of the rows' means over repetitions is far too small: the models of different folds share rows, and
    err together.

    The lower end is that of the interval of a logarithm, the upper one, where it is further, that of Student's t corrected for
    skewness [2], that of the sample times ``SKEWED``: a sample seldom holds the largest losses. With groups the variance of the
    mean is that of sums over groups [3], with one degree of freedom for each group but one. The skewness of these sums is halfway
    between their own, which few groups underrate, and that of rows, which is larger.
    Sources: [1] Bayle, P., Bayle, A., Janson, L., Mackey, L. (2020). Cross-validation confidence intervals for test error.
    NeurIPS 33. [2] Hall, P. (1992). On the removal of skewness by transformation. JRSS B 54, 221-228. [3] Cameron, A.C., Miller,
    D.L. (2015). A practitioner's guide to cluster-robust inference. Journal of Human Resources 50, section II.
    """
    mean, variance, df = mean_and_variance(losses, groups)
    variance *= factor
    quantile = float(student_t.isf((1 - confidence) / 2, df))
    if mean <= 0 or variance == 0:
        return mean, mean, mean
    ratio = np.sqrt(variance) / mean
    skewness = SKEWED * _skewness(losses, groups)
    high = mean + np.sqrt(variance * (df + 1)) * _hall(quantile, skewness, df + 1)
    return mean, mean * float(np.exp(-quantile * ratio)), max(mean * float(np.exp(quantile * ratio)), high)


def unstable_part(losses: FloatArray) -> float:
    """Part of the variance of the losses that lies between repetitions of a row, times 1 - 1 / r; 0 for one repetition."""
    r, total = len(losses), float(losses.var())
    if r < 2 or total == 0:
        return 0.0
    return min(float(losses.var(axis=0, ddof=1).mean()) / total, 1.0) * (1 - 1 / r)


def mean_and_variance(losses: FloatArray, groups: IntArray | None = None) -> tuple[float, float, int]:
    """Mean loss over all repetitions, the variance of the mean of one, and its degrees of freedom."""
    n, mean = losses.shape[1], float(losses.mean())
    if groups is None:
        return mean, float(losses.var(axis=1, ddof=1).mean()) / n, n - 1
    codes = np.unique(groups, return_inverse=True)[1].ravel()
    n_groups, sums = int(codes.max()) + 1, _group_sums(losses, codes)
    return mean, float((sums**2).sum(axis=1).mean()) * n_groups / max(n_groups - 1, 1) / n**2, max(n_groups - 1, 1)


def _skewness(losses: FloatArray, groups: IntArray | None) -> float:
    """Skewness of the losses, the mean over repetitions; with groups halfway to that of their sums, corrected for bias."""
    of_rows = _third(losses)
    if groups is None or (n_groups := int(groups.max()) + 1) < 3:
        return of_rows
    return (of_rows + _third(_group_sums(losses, groups)) * np.sqrt(n_groups * (n_groups - 1)) / (n_groups - 2)) / 2


def _third(values: FloatArray) -> float:
    third = ((values - values.mean(axis=1, keepdims=True)) ** 3).mean(axis=1)
    return float(np.mean(third / np.maximum(values.std(axis=1), 1e-300) ** 3))


def _group_sums(losses: FloatArray, groups: IntArray) -> FloatArray:
    """Sums over groups of the losses less their mean, by repetition; ndarray of shape (r, n_groups)."""
    return np.array([bincount(groups, row - row.mean(), int(groups.max()) + 1) for row in losses])


def _hall(quantile: float, skewness: float, n: int) -> float:
    """Upper end in standard deviations of a row, by the inverse of Hall's cubic transformation (1992)."""
    if abs(skewness) < 1e-9:
        return quantile / np.sqrt(n)
    inside = 1 + skewness * (-quantile / np.sqrt(n) - skewness / (6 * n))
    return -3 / skewness * (np.cbrt(inside) - 1)
