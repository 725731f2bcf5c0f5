"""Monte Carlo errors: the movement of a figure if the study were run again with other seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from foldshift.inference.comparisons.wilcoxon import equal_rows, wilcoxon_signed_ranks
from foldshift.inference.missing import mean_present, std_present

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray


def mean_and_error(values: Array) -> tuple[float, float]:
    """Mean over data sets of the mean over seeds, with its Monte Carlo standard error; NaN without a data set.

    Values are (n_datasets, n_seeds), NaN where a fit failed, with two results or more for every data set.
    """
    if not len(values):
        return np.nan, np.nan
    counts = (~np.isnan(values)).sum(axis=1)
    errors = np.nanvar(values, axis=1, ddof=1) / counts
    return float(np.nanmean(values, axis=1).mean()), float(np.sqrt(errors.sum()) / len(values))


def std_and_error(values: Array) -> tuple[float, float]:
    """Mean over data sets of the standard deviation over seeds, with its standard error by the jackknife over seeds."""
    if not len(values):
        return np.nan, np.nan
    n = (~np.isnan(values)).sum(axis=1, keepdims=True)
    s2 = np.nanvar(values, axis=1, ddof=1, keepdims=True)
    squared = (values - np.nanmean(values, axis=1, keepdims=True)) ** 2
    without_one = np.sqrt(np.maximum((n - 1) * s2 - squared * n / (n - 1), 0) / np.maximum(n - 2, 1))
    spread = np.nansum((without_one - np.nanmean(without_one, axis=1, keepdims=True)) ** 2, axis=1)
    variance = np.where(n[:, 0] > 2, (n[:, 0] - 1) / n[:, 0] * spread, np.nan)
    return float(np.sqrt(s2).mean()), float(np.sqrt(variance.sum()) / len(values))


def seed_bootstrap(values: Array, statistic: Literal["mean", "std"], n_draws: int, rng: np.random.Generator) -> Array:
    """Recompute a statistic of every data set on seeds drawn with replacement, shape (n_draws, n_datasets)."""
    n_datasets, n_seeds = values.shape
    out = np.empty((n_draws, n_datasets))
    for draw in range(n_draws):
        sample = values[:, (rng.random(n_seeds) * n_seeds).astype(np.int64)]
        out[draw] = mean_present(sample) if statistic == "mean" else std_present(sample)
    return out


def p_value_error(a_draws: Array, b_draws: Array) -> float:
    """Standard deviation of Wilcoxon's p over the bootstrap draws of two methods."""
    return float(std_present(_p_values(a_draws, b_draws)))


def _p_values(a: FloatArray, b: FloatArray) -> FloatArray:
    """Wilcoxon's p of every row over the columns with a result on both sides; NaN if there is none."""
    p, both = np.full(len(a), np.nan), ~np.isnan(a - b)
    for rows in equal_rows(both):
        columns = both[rows[0]]
        if columns.any():
            p[rows] = wilcoxon_signed_ranks(a[rows][:, columns], b[rows][:, columns]).p_value
    return p


def p_values_by_repetitions(
    errors: Array, reference: Array, repetitions: Sequence[int], n_draws: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Mean and standard deviation of Wilcoxon's p over draws of r seeds without replacement, by number r (Figure 2).

    Source: Saez, Romero-Bejar (2022), section 5.3.
    """
    n_seeds = errors.shape[1]
    mean_p, std_p = [], []
    for r in repetitions:
        chosen = np.argsort(rng.random((n_draws, n_seeds)), axis=1)[:, :r]
        p = _p_values(mean_present(errors[:, chosen]).T, mean_present(reference[:, chosen]).T)
        mean_p.append(mean_present(p))
        std_p.append(std_present(p) if n_draws > 1 else 0.0)
    return np.array(mean_p), np.array(std_p)
