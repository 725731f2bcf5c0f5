"""Nadeau and Bengio's conservative Z, with a variance measured on halves of the data that share no row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from foldshift.core.arguments import check_confidence
from foldshift.core.gate.numbers import as_numbers
from foldshift.inference.comparisons.paired import TTest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import TableLike


def conservative_z(differences: ArrayLike, halves: TableLike, *, confidence: float = 0.95) -> TTest:
    """Conservative Z test of two learners from repeated hold-out: the variance is measured on disjoint halves of the data.

    The mean of J hold-outs of all rows is compared with a variance measured on halves of the rows. Results on two halves without
    a common row are independent, so the variance is not guessed as by `nadeau_bengio`; it belongs to half as many rows, so it is
    too large for all of them, and the test finds too little rather than too much.

    Parameters
    ----------
    differences : array-like of shape (J,) or (J, 1)
        Difference of the two learners' scores in J hold-outs of all rows, n_test rows each.
    halves : array-like of shape (M, 2)
        For each of M random cuts of the rows into two halves without a common row, the mean difference of J hold-outs within
        each half, again with n_test rows to test and the rest of the half to train.
    confidence : float, default=0.95
        For the interval.

    Returns
    -------
    test : TTest
        statistic, the mean over the root of ``sum((first - second)^2) / (2 M)``; df is inf, p that of a normal.

    Raises
    ------
    ValueError
        If there is no difference or no pair, or a value is not finite.

    Notes
    -----
    The authors take J = 15 and M = 10: M pairs of halves train 2 M J + J times.

    Examples
    --------
    >>> test = conservative_z([0.03, 0.05, 0.04], [[0.02, 0.05], [0.06, 0.03], [0.01, 0.04]])
    >>> round(test.statistic, 3), round(test.standard_error, 4)
    (1.886, 0.0212)

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281, section 4.2
       (conservative Z) and equation 13.
    """
    check_confidence(confidence)
    d, halves = as_numbers(differences, "differences").ravel(), as_numbers(halves, "halves")
    if d.size == 0 or halves.ndim != 2 or halves.shape[1] != 2 or len(halves) == 0:
        raise ValueError(
            f"differences and halves have shapes {np.shape(differences)} and {halves.shape}; expected (J,) and (M, 2), one or "
            "more of both"
        )
    if not (np.isfinite(d).all() and np.isfinite(halves).all()):
        raise ValueError("differences and halves must hold finite numbers; a value is NaN or infinite")
    unit = np.frexp(max(np.abs(d).max(), np.abs(halves).max()))[1]  # a power of two: no square leaves the range of numbers
    d, halves = np.ldexp(d, -unit), np.ldexp(halves, -unit)
    mean, error = d.mean(), np.sqrt(((halves[:, 0] - halves[:, 1]) ** 2).sum() / (2 * len(halves)))
    if error > 0:
        z = mean / error
    else:
        z = np.sign(mean) * np.inf if mean else 0.0
    half = stats.norm.isf((1 - confidence) / 2) * error
    mean, low, high, error = (float(np.ldexp(value, unit)) for value in (mean, mean - half, mean + half, error))
    return TTest(float(z), np.inf, float(2 * stats.norm.sf(abs(z))), mean, low, high, error)
