"""Coverage and squared distances with the noise of the truth taken out.

A truth that is a mean over m held-out rows has the standard error s / sqrt(m). A sample and the rows left of a finite data set
are disjoint random parts of the same rows: the gap between their means has the variance of two independent samples, so that the
noise of the truth is s / sqrt(m) there, too, without a finite-population correction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, TableLike

# Weights of coverages with 0, 1 and 2 times the variance of the truth added to it: the parabola through them, read at -1 times.
WEIGHTS = (3.0, -3.0, 1.0)


def covered(low: TableLike, high: TableLike, truth: TableLike) -> FloatArray:
    """1.0 where an interval holds the truth as found, 0.0 where it does not or does not exist; NaN without truth."""
    low, high, truth = (np.asarray(values, dtype=np.float64) for values in (low, high, truth))
    return np.where(np.isnan(truth), np.nan, ((low <= truth) & (truth <= high)).astype(np.float64))


def covered_without_noise(low: TableLike, high: TableLike, truth: TableLike, noise: TableLike) -> FloatArray:
    """Terms (n,) whose mean is the coverage of truths without noise, by simulation extrapolation.

    Single terms may lie outside 0 to 1. `noise` holds standard errors of the truths, 0 for exact ones. An interval without ends
    covers nothing; NaN without truth. Normal noise of 0, 1 and 2 times the variance of the truth is added to it. Coverage with
    such noise is an exact probability, nothing is drawn. The parabola through the three is read at -1 times, where no noise would
    be left. It serves where the noise has at most a quarter of the variance of the estimate, as with rows outside five times
    those of the sample and more. Source: Cook, J.R., Stefanski, L.A. (1994). Simulation-extrapolation estimation in parametric
    measurement error models. Journal of the American Statistical Association 89(428), 1314-1328.
    """
    low, high, truth, noise = (np.asarray(values, dtype=np.float64) for values in (low, high, truth, noise))
    exact, total = covered(low, high, truth), np.zeros(np.shape(truth))
    with np.errstate(divide="ignore", invalid="ignore"):
        for times, weight in enumerate(WEIGHTS):
            scale = np.sqrt(times) * noise
            held = ndtr((high - truth) / scale) - ndtr((low - truth) / scale)
            total += weight * np.where(scale > 0, np.where(np.isnan(low), 0.0, held), exact)
    return np.where(np.isnan(truth), np.nan, total)
