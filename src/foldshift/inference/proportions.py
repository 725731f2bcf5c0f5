"""Wilson's interval for a proportion, for many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray


def wilson_interval(share: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval for a proportion; NaN without trials, and exactly 0 or 1 where the share is.

    `scipy.stats.binomtest` has the same interval, for one count at a time.
    Source: Wilson, E.B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22, 209-212.

    >>> low, high = wilson_interval(0.9, 50)
    >>> round(float(low), 3), round(float(high), 3)
    (0.786, 0.957)
    """
    return wilson_ends(share, n, -float(ndtri((1 - confidence) / 2)))


def wilson_ends(share: ArrayLike, n: ArrayLike, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval with a quantile in place of a confidence, such as Student's."""
    share, n, z = np.asarray(share, dtype=np.float64), np.asarray(n, dtype=np.float64), quantile
    n = np.where(n > 0, n, np.nan)
    scale = 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / scale
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / scale
    # The exact ends, which rounding would miss.
    low, high = np.where(share == 0, 0.0, centre - half), np.where(share == 1, 1.0, centre + half)
    return np.where(np.isnan(n), np.nan, low), np.where(np.isnan(n), np.nan, high)
