"""How far a figure would move if the study were run again with other seeds."""

import numpy as np

from foldshift.inference.wilcoxon import wilcoxon_signed_ranks


def mean_and_error(values):
    """Mean over data sets of the mean over seeds, with its Monte Carlo standard error.

    Parameters
    ----------
    values : ndarray of shape (n_datasets, n_seeds)
        Results of seeds; NaN where a fit failed.

    Returns
    -------
    mean : float
    standard_error : float
        The data sets are fixed; only the seeds would change.
    """
    counts = (~np.isnan(values)).sum(axis=1)
    errors = np.nanvar(values, axis=1, ddof=1) / counts
    return float(np.nanmean(values, axis=1).mean()), float(np.sqrt(errors.sum()) / len(values))


def std_and_error(values):
    """Mean over data sets of the standard deviation over seeds, with its Monte Carlo standard error.

    Parameters
    ----------
    values : ndarray of shape (n_datasets, n_seeds)
        Results of seeds; NaN where a fit failed.

    Returns
    -------
    std : float
        With n - 1 in the denominator.
    standard_error : float
        By the jackknife over seeds; NaN below three seeds.
    """
    n = (~np.isnan(values)).sum(axis=1, keepdims=True)
    s2 = np.nanvar(values, axis=1, ddof=1, keepdims=True)
    squared = (values - np.nanmean(values, axis=1, keepdims=True)) ** 2
    without_one = np.sqrt(np.maximum((n - 1) * s2 - squared * n / (n - 1), 0) / np.maximum(n - 2, 1))
    spread = np.nansum((without_one - np.nanmean(without_one, axis=1, keepdims=True)) ** 2, axis=1)
    variance = np.where(n[:, 0] > 2, (n[:, 0] - 1) / n[:, 0] * spread, np.nan)
    return float(np.sqrt(s2).mean()), float(np.sqrt(variance.sum()) / len(values))


def seed_bootstrap(values, statistic, n_draws, rng):
    """Recompute a statistic of every data set on seeds drawn with replacement.

    Parameters
    ----------
    values : ndarray of shape (n_datasets, n_seeds)
        Results of seeds.
    statistic : {"mean", "std"}
        Over seeds.
    n_draws : int
        Number of bootstrap samples.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    draws : ndarray of shape (n_draws, n_datasets)
    """
    n_datasets, n_seeds = values.shape
    out = np.empty((n_draws, n_datasets))
    for draw in range(n_draws):
        sample = values[:, (rng.random(n_seeds) * n_seeds).astype(np.int64)]
        out[draw] = np.nanmean(sample, axis=1) if statistic == "mean" else np.nanstd(sample, axis=1, ddof=1)
    return out


def p_value_error(a_draws, b_draws):
    """Standard deviation of Wilcoxon's p over bootstrap draws.

    Parameters
    ----------
    a_draws, b_draws : ndarray of shape (n_draws, n_datasets)
        Draws of `seed_bootstrap` for the two methods.

    Returns
    -------
    standard_error : float
    """
    return float(wilcoxon_signed_ranks(a_draws, b_draws).p_value.std(ddof=1))


def p_values_by_repetitions(errors, reference, repetitions, n_draws, rng):
    """Wilcoxon's p against the number of repetitions, averaged over draws of the repetitions (Figure 2).

    Parameters
    ----------
    errors, reference : ndarray of shape (n_datasets, n_seeds)
        Results of the two methods.
    repetitions : sequence of int
        Numbers of repetitions r, at most n_seeds.
    n_draws : int
        Draws of r seeds without replacement, made anew for every r; both methods use the same.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    mean_p, std_p : ndarray of shape (n_repetitions,)
        Mean and standard deviation of p over the draws.

    References
    ----------
    .. [1] Saez, Romero-Bejar (2022), section 5.3.
    """
    n_seeds = errors.shape[1]
    mean_p, std_p = [], []
    for r in repetitions:
        chosen = np.argsort(rng.random((n_draws, n_seeds)), axis=1)[:, :r]
        a = np.nanmean(errors[:, chosen], axis=2).T
        b = np.nanmean(reference[:, chosen], axis=2).T
        p = wilcoxon_signed_ranks(a, b).p_value
        mean_p.append(p.mean())
        std_p.append(p.std(ddof=1) if n_draws > 1 else 0.0)
    return np.array(mean_p), np.array(std_p)
