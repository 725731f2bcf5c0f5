"""The variance of cross-validation over several sources: what it is made of, and how good its estimators are."""

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.inference.repetitions.agreement import jackknife_error
from foldshift.inference.repetitions.variance import ESTIMATORS
from foldshift.inference.simulation.source_models import mean_predictor_fixed, mean_predictor_random
from foldshift.studies.geras_2013.rows import CELL, cells, mean_and_error, ratio_or_nan, share_and_error

LEVEL = 0.95
TERMS = ("sigma_term", "omega_term", "gamma_term")
# What is equal for blocks of equal size stands under one formula, whatever the papers call it.
FORMULAS = {
    "theta_om": "mean² - s2",
    "theta_gamma": "S2/K",
    "theta_A": "W/N",
    "theta_B": "2W/N",
    "theta_1": "mean²",
    "theta_2": "mean² - s2",
    "theta_3": "S2/K",
    "theta_4": "W/N",
    "theta_5": "(1+1/K)S2 - W/M",
}
FIGURE6 = {"cvs": ("theta_gamma", "theta_A", "theta_B"), "cvr": ("theta_3", "theta_4", "theta_5")}
ESTIMATORS_OF = {
    "cvs": ("theta_om", "theta_gamma", "theta_A", "theta_B"),
    "cvr": ("theta_1", "theta_2", "theta_3", "theta_4", "theta_B", "theta_5"),
}
STUDENT = ("theta_gamma", "theta_3")  # variances of K block means: these have K - 1 degrees of freedom
MODEL_CELL = ["model", "sources", "design", "n_points"]
EXACT_POINTS = (10, 20, 100)
EXACT_SOURCES = 10
EXACT_SPREAD = 0.25  # tau^2, of the means of random sources
ESTIMATES = (*CELL, "mean", "S2", *ESTIMATORS)
COMPONENTS = (*CELL, "kind", "k", "l", "value")
MODELS = (*MODEL_CELL, "out_of_source", "sigma_term", "mean", "S2", *ESTIMATORS)


def decomposition_table(components, n_datasets):
    """The three terms of the variance of the estimate (Figure 4), and the spread of the single covariances (Figure 5).

    Parameters
    ----------
    components : pandas.DataFrame
        ``learner, sampling, n_points, design, kind, k, l, value``, as scripts/measure_source_variance.py writes them.
    n_datasets : int
        Data sets R that the components were measured on.

    Returns
    -------
    table : pandas.DataFrame
        One row per learner, sampling, design and M: the terms, their sum ``theta``, ``..._share`` (NaN where theta is 0),
        ``omega_spread`` and ``gamma_spread`` (standard deviation over blocks and pairs of blocks; NaN for one), ``omega_noise``
        and ``gamma_noise``: the root mean squared Monte Carlo error of one of them, for block means close to normal. A spread
        about as large as its noise says nothing about differences between blocks.
    """
    out = []
    for keys, part in cells(components, CELL):
        values = {kind: of_kind.sort_values(["k", "l"])["value"].to_numpy() for kind, of_kind in part.groupby("kind")}
        row = keys | {name: float(values[name][0]) for name in (*TERMS, "theta")}
        row |= {f"{name.removesuffix('_term')}_share": ratio_or_nan(row[name], row["theta"]) for name in TERMS}
        noise = covariance_noise(values["sigma"], values["omega"], keys["n_points"], n_datasets)
        for kind, error in zip(("omega", "gamma"), noise):
            spread = values[kind].std(ddof=1) if len(values[kind]) > 1 else np.nan
            row |= {f"{kind}_spread": float(spread), f"{kind}_noise": error}
        out.append(row)
    return pd.DataFrame(out)


def covariance_noise(sigma, omega, M, n_datasets):
    """Root mean squared Monte Carlo error of one omega_k and of one gamma_kl.

    The variance of a block mean is ``c_k = (sigma_k + (M - 1) omega_k) / M``. From R data sets, and for block means close to
    normal, the variance of its estimate is ``2 c_k^2 / (R - 1)``, and that of the covariance of two means ``c_k c_l / (R - 1)``,
    where the small ``gamma_kl^2`` is left out.

    Parameters
    ----------
    sigma, omega : ndarray of shape (K,)
        Variance of a loss, and covariance of two losses of a block.
    M : int
        Points per block.
    n_datasets : int
        R, at least two.

    Returns
    -------
    omega_noise, gamma_noise : float
        NaN for blocks of one point, and for one data set.
    """
    if M < 2 or n_datasets < 2:
        return np.nan, np.nan
    c = (sigma + (M - 1) * omega) / M
    pairs = np.outer(c, c)[np.triu_indices(len(c), 1)]
    omega_noise = M / (M - 1) * np.sqrt(2 * (c**2).mean() / (n_datasets - 1))
    return float(omega_noise), float(np.sqrt(pairs.mean() / (n_datasets - 1)))


def figure6_table(estimates):
    """True variance of the estimate and the means of its estimators (Figure 6).

    Parameters
    ----------
    estimates : pandas.DataFrame
        One row per data set: ``learner, sampling, n_points, design, mean`` and the estimators.

    Returns
    -------
    table : pandas.DataFrame
        One row per learner, sampling, design, M and estimator of the figure: ``theta`` (variance of ``mean`` over the data sets),
        ``se_theta``, ``average`` of the estimator and ``se_average``.
    """
    out = []
    for keys, part in cells(estimates, CELL):
        truth = dict(zip(("theta", "se_theta"), _variance_and_error(part["mean"].to_numpy())))
        for name in FIGURE6[keys["design"]]:
            average, error = mean_and_error(part[name].dropna().to_numpy())
            out.append(keys | {"n_datasets": len(part)} | truth | {"estimator": name, "average": average, "se_average": error})
    return pd.DataFrame(out)


def estimators_table(estimates, level=LEVEL):
    """Bias, spread, negative values and coverage of every estimator.

    Parameters
    ----------
    estimates : pandas.DataFrame
        One row per data set: ``learner, sampling, n_points, design, mean, S2`` and the estimators.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    table : pandas.DataFrame
        One row per learner, sampling, design, M and estimator, with the columns of `judged`; the target of the intervals is the
        mean of all data sets.
    """
    return _judged_table(estimates, CELL, level)


def models_table(rows, level=LEVEL):
    """The same on the models in which the truth is known.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per data set: ``model, sources, n_points, design, out_of_source, sigma_term, mean, S2`` and the estimators.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    table : pandas.DataFrame
        As `estimators_table`, and ``expected`` (mean of the estimates), ``out_of_source`` (mean error on a new source),
        ``sigma_share`` (of the variance), and where sources are ``random`` ``coverage_ose`` and ``coverage_ose_t`` with their
        errors: coverage of the mean out-of-source error. NaN elsewhere.
    """
    return _judged_table(rows, MODEL_CELL, level, models=True)


def mean_predictor_table():
    """Exact results of the mean predictor, sources fixed, random and alike.

    Returns
    -------
    table : pandas.DataFrame
        One row per ``sources`` and M: ``out_of_source``, ``mu_cvs``, ``mu_cvr`` (NaN for fixed sources, where only ``mu_cvs`` is
        defined), terms, theta, and the ratios of the expected estimators to it.
    """
    K, out = EXACT_SOURCES, []
    beta = norm.ppf((np.arange(1, K + 1) - 0.5) / K)
    for M in EXACT_POINTS:
        found = mean_predictor_fixed(beta, M)
        row = {"sources": "fixed", "n_points": M, "out_of_source": np.nan, "mu_cvs": found.mu_cvs, "mu_cvr": np.nan}
        row |= {name: getattr(found, name) for name in TERMS} | {"theta": found.theta}
        out.append(row | _exact_ratios(found, ("theta_gamma", "theta_A", "theta_B")))
    for sources, tau2 in (("random", EXACT_SPREAD), ("iid", 0.0)):
        for M in EXACT_POINTS:
            found = mean_predictor_random(K, M, 1.0, tau2)
            terms = found.sigma / (K * M), (M - 1) * found.omega / (K * M), (K - 1) * found.gamma / K
            row = {"sources": sources, "n_points": M, "out_of_source": found.ose, "mu_cvs": found.mu_cvs, "mu_cvr": found.mu_cvr}
            row |= dict(zip(TERMS, terms)) | {"theta": found.theta}
            out.append(row | _exact_ratios(found, ("theta_gamma", "theta_A", "theta_B", "theta_5")))
    return pd.DataFrame(out)


def judged(means, estimates, K, level=LEVEL):
    """How good an estimator of the variance of a mean is, from many data sets.

    Parameters
    ----------
    means : ndarray of shape (R,)
        Cross-validation estimate of every data set. The truth is their variance, the target of the intervals their mean.
    estimates : ndarray of shape (R,)
        Estimated variance of every data set; NaN where there is none.
    K : int or None
        Blocks, for Student's t with K - 1 degrees of freedom; None leaves it out.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    row : dict
        ``n_datasets``, ``n_undefined`` (NaN estimates, left out everywhere but in the truth), ``theta`` (variance of `means`),
        ``average``, ``bias``, ``ratio`` (average / theta), ``cv`` (standard deviation / average; NaN where the average is not
        positive), ``relative_rmse`` (root mean squared error / theta), ``negative`` (share below 0), ``coverage`` and
        ``coverage_t``, each but the first three with its Monte Carlo standard error ``se_...``: by jackknife over data sets, or
        of a share of independent data sets (0 where the share is 0 or 1). An interval whose variance estimate is negative covers
        nothing.
    """
    R, defined = len(means), ~np.isnan(estimates)
    theta = float(means.var(ddof=1)) if R > 1 else np.nan
    row = {"n_datasets": R, "n_undefined": int(R - defined.sum()), "theta": theta}
    kept_means, kept = means[defined], estimates[defined]
    row |= _moments_and_errors(means, estimates)
    row |= dict(zip(("negative", "se_negative"), share_and_error(kept < 0)))
    for suffix, quantile in _quantiles(K, level).items():
        row |= _coverage(f"coverage{suffix}", kept_means, kept, means.mean(), quantile)
    return row


def _judged_table(rows, cell, level, models=False):
    out = []
    for keys, part in cells(rows, cell):
        means = part["mean"].to_numpy()
        for name in ESTIMATORS_OF[keys["design"]]:
            estimates = part[name].to_numpy()
            K = _n_blocks(part) if name in STUDENT else None
            row = keys | {"estimator": name, "formula": FORMULAS[name]}
            found = judged(means, estimates, K, level)
            if models:
                ose = float(part["out_of_source"].mean())
                row |= {"expected": float(means.mean()), "out_of_source": ose}
                row |= {"sigma_share": ratio_or_nan(part["sigma_term"].iloc[0], found["theta"])}
                defined = ~np.isnan(estimates)
                target = ose if keys["sources"] == "random" else np.nan
                for suffix, quantile in _quantiles(K, level).items():
                    found |= _coverage(f"coverage_ose{suffix}", means[defined], estimates[defined], target, quantile)
            out.append(row | found)
    return pd.DataFrame(out)


def _n_blocks(part):
    """K, which rows do not hold but S2 / theta_gamma does; None where all block means were equal in all data sets."""
    blocks = ratio_or_nan(part["S2"].sum(), part["theta_gamma"].sum())
    return None if np.isnan(blocks) else round(blocks)


def _quantiles(K, level):
    upper = (1 + level) / 2
    return {"": norm.ppf(upper), "_t": student_t.ppf(upper, K - 1) if K else np.nan}


def _coverage(name, means, estimates, target, quantile):
    """Share of intervals that hold the target, and its error; NaN without a quantile or a target."""
    if np.isnan(quantile) or np.isnan(target):
        return {name: np.nan, f"se_{name}": np.nan}
    covers = (estimates >= 0) & (np.abs(means - target) <= quantile * np.sqrt(np.maximum(estimates, 0)))
    return dict(zip((name, f"se_{name}"), share_and_error(covers)))


def _moments_and_errors(means, estimates):
    """Average, bias, ratio, cv and relative RMSE, with jackknife errors over data sets."""
    names = ("average", "bias", "ratio", "cv", "relative_rmse")
    defined = ~np.isnan(estimates)
    if len(means) < 2 or not defined.any():
        return {key: np.nan for name in names for key in (name, f"se_{name}")}
    # About their means, so that sums of squares do not cancel.
    centre = estimates[defined].mean()
    d = means - means.mean()
    c = np.where(defined, estimates - centre, 0.0)
    moments = np.stack([np.ones(len(d)), d, d**2, defined.astype(float), c, c**2])
    whole = moments.sum(axis=1)
    values = _moment_statistics(whole[:, None], centre)[:, 0]
    without_one = _moment_statistics(whole[:, None] - moments, centre) if len(d) > 2 else np.full((len(names), 1), np.nan)
    row = {}
    for name, value, without in zip(names, values, without_one):
        row[name], row[f"se_{name}"] = float(value), jackknife_error(without)
    return row


def _moment_statistics(sums, centre):
    """Average, bias, ratio, cv and relative RMSE, from sums of shape (6, n); NaN where they are not defined."""
    n, d1, d2, m, c1, c2 = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = (d2 - d1**2 / n) / (n - 1)
        average = centre + c1 / m
        std = np.sqrt(np.maximum(c2 - c1**2 / m, 0) / (m - 1))
        error = np.sqrt(np.maximum(c2 / m - 2 * c1 / m * (theta - centre) + (theta - centre) ** 2, 0))
        found = np.stack([average, average - theta, average / theta, np.where(average > 0, std / average, np.nan), error / theta])
    return np.where(np.isfinite(found), found, np.nan)


def _variance_and_error(values):
    """Variance (n - 1) and its jackknife error; NaN for fewer than two values, and the error for two."""
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    squares = (values - values.mean()) ** 2
    without_one = (squares.sum() - squares * n / (n - 1)) / (n - 2) if n > 2 else np.array([np.nan])
    return float(squares.sum() / (n - 1)), jackknife_error(without_one)


def _exact_ratios(found, names):
    return {f"ratio_{name}": getattr(found, name) / found.theta for name in names}
