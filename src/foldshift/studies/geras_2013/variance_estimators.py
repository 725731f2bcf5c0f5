"""Variance of cross-validation over several sources: its terms, and the quality of its estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.inference.repetitions.agreement import jackknife_error
from foldshift.inference.repetitions.variance import ESTIMATORS
from foldshift.inference.simulation.source_models import mean_predictor_fixed, mean_predictor_random
from foldshift.studies.geras_2013.source_rows import CELL, cells, mean_and_error, ratio_or_nan, share_and_error

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Rows
    from foldshift.inference.simulation.source_models import MeanPredictorFixed, MeanPredictorRandom

LEVEL = 0.95
TERMS = ("sigma_term", "omega_term", "gamma_term")
# Estimators that are equal for blocks of equal size have one formula, whatever the papers call them.
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


def decomposition_table(components: pd.DataFrame, n_datasets: int) -> pd.DataFrame:
    """Terms of the variance of the estimate (Figure 4), and the spread of the single covariances (Figure 5).

    Spreads are standard deviations over blocks and pairs of blocks (NaN for one), beside the spread that Monte Carlo error alone
    would give (noise).
    """
    out = []
    for keys, part in cells(components, CELL):
        values = {kind: of_kind.sort_values(["k", "l"])["value"].to_numpy() for kind, of_kind in part.groupby("kind")}
        row = keys | {name: float(values[name][0]) for term in (*TERMS, "theta") for name in (term, f"se_{term}")}
        row |= {f"{name.removesuffix('_term')}_share": ratio_or_nan(row[name], row["theta"]) for name in TERMS}
        noise = covariance_noise(values["sigma"], values["omega"], keys["n_points"], n_datasets)
        for kind, error in zip(("omega", "gamma"), noise):
            spread = values[kind].std(ddof=1) if len(values[kind]) > 1 else np.nan
            row |= {f"{kind}_spread": float(spread), f"{kind}_noise": error}
        out.append(row | _single_components(values, keys["n_points"], n_datasets) | _magnitudes(values, keys["n_points"]))
    return pd.DataFrame(out)


def covariance_noise(sigma: FloatArray, omega: FloatArray, M: int, n_datasets: int) -> tuple[float, float]:
    """Root mean squared Monte Carlo error of one omega_k and of one gamma_kl; NaN for blocks of one point, and for one data set.

    The variance of a block mean is ``c_k = (sigma_k + (M - 1) omega_k) / M``. From R data sets, and for block means close to
    normal, the variance of its estimate is ``2 c_k^2 / (R - 1)``, and that of the covariance of two means ``c_k c_l / (R - 1)``,
    where the small ``gamma_kl^2`` is left out.
    """
    if M < 2 or n_datasets < 2:
        return np.nan, np.nan
    c = (sigma + (M - 1) * omega) / M
    pairs = np.outer(c, c)[np.triu_indices(len(c), 1)]
    omega_noise = M / (M - 1) * np.sqrt(2 * (c**2).mean() / (n_datasets - 1))
    return float(omega_noise), float(np.sqrt(pairs.mean() / (n_datasets - 1)))


def _single_components(values: dict[Any, FloatArray], M: int, n_datasets: int) -> dict[str, int]:
    """Count blocks, and single omega_k and gamma_kl above and below 0 by two Monte Carlo errors of their own."""
    K, row = len(values["omega"]), {"n_blocks": len(values["omega"])}
    c = (values["sigma"] + (M - 1) * values["omega"]) / M
    one, other = np.triu_indices(K, 1)
    scale = np.sqrt(1 / max(n_datasets - 1, 1))
    errors = {"omega": M / max(M - 1, 1) * np.sqrt(2) * c * scale, "gamma": np.sqrt(np.maximum(c[one] * c[other], 0)) * scale}
    for kind, error in errors.items():
        row[f"n_{kind}"] = len(values[kind])
        row[f"n_{kind}_above"] = int((values[kind] > 2 * error).sum())
        row[f"n_{kind}_below"] = int((values[kind] < -2 * error).sum())
    return row


def _magnitudes(values: dict[Any, FloatArray], M: int) -> dict[str, float]:
    """Compare the smallest mean squared with the variance and its largest single term, the smallest sigma with covariances."""
    K, smallest = len(values["mu"]), float((values["mu"] ** 2).min())
    covariances = float(max(np.abs(values["omega"]).max(), np.abs(values["gamma"]).max()))
    singles = (values["sigma"] / M, (M - 1) / M * values["omega"], values["gamma"])
    return {
        "mu_over_theta": ratio_or_nan(smallest, values["theta"][0]),
        "mu_over_terms": ratio_or_nan(smallest, float(max(np.abs(one).max() for one in singles)) / K**2),
        "sigma_over_covariances": ratio_or_nan(float(values["sigma"].min()), covariances),
    }


def figure6_table(estimates: pd.DataFrame) -> pd.DataFrame:
    """True variance of the estimate and the means of its estimators (Figure 6)."""
    out = []
    for keys, part in cells(estimates, CELL):
        truth = dict(zip(("theta", "se_theta"), _variance_and_error(part["mean"].to_numpy())))
        for name in FIGURE6[keys["design"]]:
            average, error = mean_and_error(part[name].dropna().to_numpy())
            out.append(keys | {"n_datasets": len(part)} | truth | {"estimator": name, "average": average, "se_average": error})
    return pd.DataFrame(out)


def estimators_table(estimates: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Bias, spread, negative values and coverage of every estimator."""
    return _judged_table(estimates, CELL, level)


def models_table(rows: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Bias, spread, negative values and coverage on the models in which the truth is known.

    Where sources are random, the coverage of the mean out-of-source error as well.
    """
    return _judged_table(rows, MODEL_CELL, level, models=True)


def mean_predictor_table() -> pd.DataFrame:
    """Exact results of the mean predictor, sources fixed, random and alike; NaN where a quantity is not defined."""
    K = EXACT_SOURCES
    out: Rows = []
    beta = norm.ppf((np.arange(1, K + 1) - 0.5) / K)
    for M in EXACT_POINTS:
        fixed = mean_predictor_fixed(beta, M)
        row = {"sources": "fixed", "n_points": M, "out_of_source": np.nan, "mu_cvs": fixed.mu_cvs, "mu_cvr": np.nan}
        row |= {name: getattr(fixed, name) for name in TERMS} | {"theta": fixed.theta}
        out.append(row | _exact_ratios(fixed, ("theta_gamma", "theta_A", "theta_B")))
    for sources, tau2 in (("random", EXACT_SPREAD), ("iid", 0.0)):
        for M in EXACT_POINTS:
            found = mean_predictor_random(K, M, 1.0, tau2)
            terms = found.sigma / (K * M), (M - 1) * found.omega / (K * M), (K - 1) * found.gamma / K
            row = {"sources": sources, "n_points": M, "out_of_source": found.ose, "mu_cvs": found.mu_cvs, "mu_cvr": found.mu_cvr}
            row |= dict(zip(TERMS, terms)) | {"theta": found.theta}
            out.append(row | _exact_ratios(found, ("theta_gamma", "theta_A", "theta_B", "theta_5")))
    return pd.DataFrame(out)


def judged(means: FloatArray, estimates: FloatArray, K: int | None, level: float = LEVEL) -> dict[str, float]:
    """Judge an estimator of the variance of a mean, from many data sets.

    The truth is the variance of `means` over data sets; the target of the intervals is their mean. `estimates` may be NaN. K is
    the number of blocks, for Student's t with K - 1 degrees of freedom; None leaves it out.
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


def _judged_table(rows: pd.DataFrame, cell: list[str], level: float, models: bool = False) -> pd.DataFrame:
    """Judge every estimator in every cell."""
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


def _n_blocks(part: pd.DataFrame) -> int | None:
    """Number of blocks K, which is S2 / theta_gamma; None where all block means were equal in all data sets."""
    blocks = ratio_or_nan(part["S2"].sum(), part["theta_gamma"].sum())
    return None if np.isnan(blocks) else round(blocks)


def _quantiles(K: int | None, level: float) -> dict[str, float]:
    """Quantiles of intervals by suffix of a column: normal, and (``_t``) Student's."""
    upper = (1 + level) / 2
    return {"": norm.ppf(upper), "_t": student_t.ppf(upper, K - 1) if K else np.nan}


def _coverage(name: str, means: FloatArray, estimates: FloatArray, target: float, quantile: float) -> dict[str, float]:
    """Share of intervals that hold the target, and its error; NaN without a quantile or a target."""
    if np.isnan(quantile) or np.isnan(target):
        return {name: np.nan, f"se_{name}": np.nan}
    covers = (estimates >= 0) & (np.abs(means - target) <= quantile * np.sqrt(np.maximum(estimates, 0)))
    return dict(zip((name, f"se_{name}"), share_and_error(covers)))


def _moments_and_errors(means: FloatArray, estimates: FloatArray) -> dict[str, float]:
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


def _moment_statistics(sums: FloatArray, centre: float) -> FloatArray:
    """Average, bias, ratio, cv and relative RMSE, from sums of shape (6, n); NaN where they are not defined."""
    n, d1, d2, m, c1, c2 = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = (d2 - d1**2 / n) / (n - 1)
        average = centre + c1 / m
        std = np.sqrt(np.maximum(c2 - c1**2 / m, 0) / (m - 1))
        error = np.sqrt(np.maximum(c2 / m - 2 * c1 / m * (theta - centre) + (theta - centre) ** 2, 0))
        found = np.stack([average, average - theta, average / theta, np.where(average > 0, std / average, np.nan), error / theta])
    return np.where(np.isfinite(found), found, np.nan)


def _variance_and_error(values: FloatArray) -> tuple[float, float]:
    """Variance (n - 1) and its jackknife error; NaN for fewer than two values, and the error for two."""
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    squares = (values - values.mean()) ** 2
    without_one = (squares.sum() - squares * n / (n - 1)) / (n - 2) if n > 2 else np.array([np.nan])
    return float(squares.sum() / (n - 1)), jackknife_error(without_one)


def _exact_ratios(found: MeanPredictorFixed | MeanPredictorRandom, names: tuple[str, ...]) -> dict[str, float]:
    """Ratios of expected estimators to the true variance."""
    return {f"ratio_{name}": getattr(found, name) / found.theta for name in names}
