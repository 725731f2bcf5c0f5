"""Tests that two learners are equally good for practical purposes: two one-sided tests against a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.rows import check_pairs
from foldshift.core.repr import figures, readable
from foldshift.inference.comparisons.wilcoxon import wilcoxon_signed_ranks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray
    from foldshift.inference.comparisons.paired import TTest


@readable
class Equivalence(NamedTuple):
    """Result of `equivalence_test` and `equivalence_signed_ranks`."""

    p_value: float  # the larger of the two; equivalence is shown if it is at most alpha
    # p_below, p_above: Of the two one-sided tests: that the difference is below the margin's lower end, and above its upper end
    p_below: float
    p_above: float
    # estimate, low, high: Difference, first minus second, and its interval of confidence ``1 - 2 alpha``, which lies within the
    # margin exactly if equivalence is shown; NaN for signed ranks
    estimate: float
    low: float
    high: float
    margin: tuple[float, float]  # lower and upper end of the differences that do not matter
    alpha: float  # level

    @property
    def equivalent(self) -> bool:
        """True if equivalence is shown at alpha."""
        return bool(self.p_value <= self.alpha)

    def sentences(self) -> list[str]:
        """Report the test in words."""
        shown = "are shown to differ by less than" if self.equivalent else "are not shown to be equivalent within"
        interval = "" if np.isnan(self.low) else f"; {1 - 2 * self.alpha:g} interval {figures(self.low)} to {figures(self.high)}"
        return [
            f"The two {shown} the margin {figures(self.margin[0], 6)} to {figures(self.margin[1], 6)}: p = {self.p_value:.3g} "
            f"at alpha = {self.alpha:g} (difference {figures(self.estimate)}{interval})."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table of one row."""
        low, high = self.margin
        values = self._asdict() | {"margin": f"{low:g} to {high:g}", "equivalent": self.equivalent}
        return pd.DataFrame([values])


def equivalence_test(test: TTest, margin: float | tuple[float, float], *, alpha: float = 0.05) -> Equivalence:
    """Two one-sided t tests (TOST): is the difference shown to be smaller than a margin?

    A large p of an ordinary test shows nothing: too few data give one as well. This test can show that two learners are equally
    good for practical purposes.

    Parameters
    ----------
    test : TTest or the like
        With ``estimate``, ``standard_error`` and ``df``, e.g. of `nadeau_bengio` for the folds of one data set, `conservative_z`,
        or `paired_t` for independent results. Its assumptions are those of this test.
    margin : float or (float, float)
        Largest difference that does not matter, in units of the score, both ways; or its lower and upper end.
    alpha : float, default=0.05
        Level.

    Returns
    -------
    result : Equivalence

    Raises
    ------
    ValueError
        If the margin is empty or alpha is not between 0 and .5.

    Examples
    --------
    >>> from foldshift.inference import nadeau_bengio
    >>> d = [0.004, -0.002, 0.001, 0.003, -0.001, 0.002, 0.0, -0.003, 0.001, 0.002]
    >>> result = equivalence_test(nadeau_bengio(d, n_train=9, n_test=1), margin=0.01)
    >>> result.equivalent, result.p_value < 0.001
    (True, True)

    References
    ----------
    .. [1] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for assessing the
       equivalence of average bioavailability. Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
    """
    ends = _margin(margin, alpha)
    if np.ndim(test.estimate):
        raise ValueError(f"test holds {np.size(test.estimate)} tests; pass one at a time")
    estimate, error = float(test.estimate), float(test.standard_error)
    if error > 0:
        p_below = float(stats.t.sf((estimate - ends[0]) / error, test.df))
        p_above = float(stats.t.cdf((estimate - ends[1]) / error, test.df))
    else:
        p_below, p_above = float(estimate <= ends[0]), float(estimate >= ends[1])
    half = stats.t.isf(alpha, test.df) * error
    return Equivalence(max(p_below, p_above), p_below, p_above, estimate, estimate - half, estimate + half, ends, alpha)


def equivalence_signed_ranks(
    a: ArrayLike, b: ArrayLike, margin: float | tuple[float, float], *, alpha: float = 0.05
) -> Equivalence:
    """Two one-sided signed-ranks tests: is the typical difference over blocks shown to be smaller than a margin?

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired results on independent blocks, e.g. the accuracy of two methods on n data sets.
    margin : float or (float, float)
        As for `equivalence_test`.
    alpha : float, default=0.05
        Level.

    Returns
    -------
    result : Equivalence
        estimate is the median difference. With n blocks p cannot be below ``1 / 2^n``: five blocks or more can show something at
        .05.

    Raises
    ------
    ValueError
        As `wilcoxon_signed_ranks` and `equivalence_test`.

    Examples
    --------
    >>> result = equivalence_signed_ranks([0.81, 0.72, 0.90, 0.65, 0.77], [0.80, 0.73, 0.90, 0.66, 0.76], margin=0.05)
    >>> result.p_value, result.equivalent
    (0.03125, True)
    """
    ends = _margin(margin, alpha)
    check_pairs(a=a, b=b)
    a, b = as_numbers(a, "a"), as_numbers(b, "b")
    if a.ndim != 1:
        raise ValueError(f"a has shape {a.shape}; expected (n,), one result for each block")
    p_below, p_above = _one_sided(a, b + ends[0]), _one_sided(b + ends[1], a)
    nothing = float("nan")
    return Equivalence(max(p_below, p_above), p_below, p_above, float(np.median(a - b)), nothing, nothing, ends, alpha)


def _one_sided(larger: FloatArray, smaller: FloatArray) -> float:
    """One-sided p of the exact signed-ranks test that the first is larger; 1 if it is not larger in the sample."""
    test = wilcoxon_signed_ranks(larger, smaller)
    return test.p_value / 2 if test.r_plus > test.r_minus else 1.0


def _margin(margin: float | tuple[float, float], alpha: float) -> tuple[float, float]:
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 0.5, e.g. 0.05")
    ends: Any = margin
    low, high = (-ends, ends) if np.ndim(ends) == 0 else ends
    if not -np.inf < low < high < np.inf:
        raise ValueError(f"margin={margin!r} must be a positive number in units of the score, or a lower and a larger upper end")
    return float(low), float(high)
