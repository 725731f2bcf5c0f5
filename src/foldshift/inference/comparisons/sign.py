"""The exact sign test of two methods over independent blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from foldshift.core.arguments import check_confidence, plain
from foldshift.core.repr import readable
from foldshift.inference.comparisons.wilcoxon import signed_differences

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Floats, IntArray


@readable
class SignTest(NamedTuple):
    """Result of `sign_test`; arrays if many tests were done at once."""

    # wins, losses, ties: Blocks on which the first is larger, on which the second is, and on which they are equal
    wins: int | IntArray
    losses: int | IntArray
    ties: int | IntArray
    p_value: Floats  # two-sided, in (0, 1]
    # estimate, low, high: Share of wins among the blocks that are not tied, and its exact interval; NaN, 0 and 1 if all are tied
    estimate: Floats
    low: Floats
    high: Floats
    confidence: float  # of the interval

    def sentences(self) -> list[str]:
        """Report the test in words."""
        if np.ndim(self.p_value):
            return [f"{np.size(self.p_value)} exact sign tests, two-sided p from {np.min(self.p_value):.3g}."]
        share = "no block is left to compare on"
        if not np.isnan(self.estimate):
            share = (
                f"the first wins {self.estimate:.3g} of the blocks that are not tied ({self.confidence:g} interval "
                f"{self.low:.3g} to {self.high:.3g})"
            )
        return [
            f"Sign test: {self.wins} wins, {self.losses} losses, {self.ties} ties: {share}; exact two-sided p = "
            f"{self.p_value:.3g}."
        ]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each test."""
        return pd.DataFrame({name: np.ravel(getattr(self, name)) for name in self._fields[:-1]})


def sign_test(a: ArrayLike, b: ArrayLike, *, confidence: float = 0.95) -> SignTest:
    """Exact sign test of two paired samples, two-sided: is each as likely to be larger as the other?

    It assumes less than `wilcoxon_signed_ranks`: differences on different data sets need not be on one scale.

    Parameters
    ----------
    a, b : array-like of shape (..., n)
        Paired results, e.g. the accuracy of two methods on n data sets. Leading axes are separate tests.
    confidence : float, default=0.95
        For the interval of the share of wins.

    Returns
    -------
    test : SignTest
        Ties (differences that are 0 but for rounding, relative to the largest input) are left out: p is that of the binomial of
        the others, given their number. The interval is Clopper and Pearson's.

    Raises
    ------
    ValueError
        If the shapes differ, there is no pair, or a value is not finite.

    Examples
    --------
    >>> test = sign_test([0.9, 0.8, 0.7, 0.9, 0.6], [0.8, 0.7, 0.6, 0.5, 0.5])
    >>> test.wins, test.p_value
    (5, 0.0625)

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, section 3.1.4.
    .. [2] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the
       binomial. Biometrika 26, 404-413.
    """
    check_confidence(confidence)
    d, _ = signed_differences(a, b)
    wins, losses, ties = (d > 0).sum(axis=-1), (d < 0).sum(axis=-1), (d == 0).sum(axis=-1)
    m = wins + losses
    p = np.clip(2 * stats.binom.cdf(np.minimum(wins, losses), m, 0.5), np.finfo(np.float64).tiny, 1.0)
    tail = (1 - confidence) / 2
    share = np.divide(wins, m, out=np.full(np.shape(m), np.nan), where=m > 0)
    low = np.where(wins == 0, 0.0, stats.beta.ppf(tail, np.maximum(wins, 1), losses + 1))
    high = np.where(losses == 0, 1.0, stats.beta.isf(tail, wins + 1, np.maximum(losses, 1)))
    counts = plain(wins), plain(losses), plain(ties)
    return SignTest(*counts, plain(p), plain(share), plain(low), plain(high), confidence)
