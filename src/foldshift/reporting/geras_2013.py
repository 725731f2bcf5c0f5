"""Tables of the study of several sources (Geras and Sutton 2013): bias, spread, decomposition of the variance, and how good its estimators are."""

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student_t

from foldshift.inference.agreement import jackknife_error
from foldshift.inference.sources_model import mean_predictor_fixed, mean_predictor_random
from foldshift.reporting.numbers import EMPTY, count_range, number, percent, with_error
from foldshift.reporting.tables import Cell, Grid

LEVEL = 0.95
AXES = ("sources", "points")
DESIGNS = {"cvs": "CVS: every block is a source", "cvr": "CVR: random blocks"}
SAMPLING = {"with": "drawn with replacement", "without": "drawn without replacement"}
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
CELL = ["learner", "sampling", "design", "n_points"]
MODEL_CELL = ["model", "sources", "design", "n_points"]
EXACT_POINTS = (10, 20, 100)
EXACT_SOURCES = 10
EXACT_SPREAD = 0.25  # tau^2, of the means of random sources

LETTERS = (
    "K: sources (blocks); M: points of each; N = KM; W: mean over the blocks of the variance within a block; S2: variance of the K block means; "
    "s2: mean product of two losses of one block; mean: the estimate of the error."
)
ERROR_CAPTION = (
    "Does cross-validation promise too much on a source that it has not seen? A source is where data come from, here the domain of the products reviewed. "
    "CVS leaves one source out at a time; CVR cuts all points at random, so that every source is also trained on; OSE is the error that the learner, trained on "
    "all K sources, really has on a source held out. The paper: CVR < OSE < CVS everywhere. Cells: mean over draws of domains, plus or minus its standard error; "
    "differences are paired by draw. Bold: above 0 by two errors."
)
SPREAD_CAPTION = (
    "How much do the estimates vary from data set to data set when the sources stay the same? Standard deviation over data sets, mean over draws of domains, plus "
    "or minus its standard error. The paper: CVS varies more than CVR, by the same order of magnitude, and both go to 0. Bold: the paired difference is above 0 by two errors."
)
DECOMPOSITION_CAPTION = (
    "What is the variance of a cross-validation estimate made of? Losses vary by themselves (sigma), together with the others of their block (omega), and with "
    "those of other blocks (gamma); the three terms of equations 7 (CVS) and 2 (CVR) add up to the variance theta. Shares in per cent. The last columns are the "
    "spread of the single omega_k and gamma_kl, and after the slash the spread that they would show if all were equal, from measuring on finitely many data sets."
)
FIGURE6_CAPTION = (
    "The true variance of the estimate, which takes many data sets to see, and what the estimators of the paper's Figure 6 say of it from a single data set, on "
    "average. Plus or minus: Monte Carlo standard error."
)
ESTIMATORS_CAPTION = (
    "How good is an estimate of the variance made from a single data set? The paper compares means only. Ratio: mean over true variance, 1 is unbiased. "
    "CV: standard deviation over mean. Negative: share of data sets in which the estimate is below 0, which a variance cannot be. RMSE: root mean squared error "
    "over true variance. Coverage: share of data sets whose 95 % interval, mean plus or minus z times root of the estimate, holds the expectation of the "
    "mean, given the sources; with t: the same with Student's t and K - 1 degrees of freedom."
)
MODELS_CAPTION = (
    "The same on models in which the truth is known: a stable learner (centroid), an unstable one (stump), and many inputs (highdim); sources that are all alike "
    "(iid), that differ and stay the same in all data sets (fixed), or are drawn anew for each (random). Sigma: share of the variance that the estimators built "
    "on W can see. Coverage of OSE: of the error on a source not seen, what a user wants to know; "
    "only where sources are random is the variation of the sources part of the experiment."
)
EXACT_CAPTION = (
    "Exact results without random numbers: the mean predictor with squared loss, normal points with variance 1 and K = 10 sources. Fixed: source means at the normal quantiles of "
    "(k - .5)/10; random: source means with variance .25; iid: all alike. E[...]: expected estimate; terms and theta as in the decomposition of CVS; "
    "ratios: expected estimate of the variance over theta."
)


def error_table(rows, n_sources, n_points, held_fixed):
    """Estimates of both ways of cutting beside the error on a source held out (Figure 2).

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per draw of domains: ``learner, sampling, n_sources, n_points, draw, cvs, cvr, out_of_source``.
    n_sources, n_points : sequence of int
        The two axes.
    held_fixed : dict
        ``n_sources`` and ``n_points`` while the other varies.

    Returns
    -------
    table : pandas.DataFrame
        One row per learner, sampling, ``axis`` (``sources``, ``points``) and size: means over ``n_draws`` draws of ``cvs``, ``cvr`` and ``out_of_source`` and their standard
        errors ``se_...`` (NaN for one draw), which are about draws from the domains at hand; the paired differences ``cvs_minus_ose`` and ``ose_minus_cvr``, their
        standard errors, whether each is above 0 by two errors, ``order_holds``: both are, and ``order_reversed``: one is below 0 by two errors. ``draws_in_order``: share of single draws with CVR < OSE < CVS.
    """
    out = []
    for keys, part in _along_axes(rows, n_sources, n_points, held_fixed):
        cvs, cvr, new = (part[name].to_numpy() for name in ("cvs", "cvr", "out_of_source"))
        row = keys | {"n_draws": len(part)}
        values = {"cvs": cvs, "cvr": cvr, "out_of_source": new, "cvs_minus_ose": cvs - new, "ose_minus_cvr": new - cvr}
        for name, value in values.items():
            row[name], row[f"se_{name}"] = _mean_and_error(value)
        row["cvs_above_ose"] = _above_zero(row["cvs_minus_ose"], row["se_cvs_minus_ose"])
        row["ose_above_cvr"] = _above_zero(row["ose_minus_cvr"], row["se_ose_minus_cvr"])
        row["order_holds"] = row["cvs_above_ose"] and row["ose_above_cvr"]
        row["order_reversed"] = any(_above_zero(-row[name], row[f"se_{name}"]) for name in ("cvs_minus_ose", "ose_minus_cvr"))
        out.append(row | {"draws_in_order": _share_and_error((cvr < new) & (new < cvs))[0]})
    return pd.DataFrame(out)


def spread_table(rows, n_sources, n_points, held_fixed):
    """Standard deviation of both estimates given the domains (Figure 3).

    Parameters
    ----------
    rows : pandas.DataFrame
        ``learner, sampling, n_sources, n_points, draw, sd_cvs, sd_cvr``.
    n_sources, n_points, held_fixed
        As in `error_table`.

    Returns
    -------
    table : pandas.DataFrame
        Rows as in `error_table`: mean ``sd_cvs`` and ``sd_cvr`` over draws, their standard errors and paired difference, whether it is above 0 by two errors
        (``cvs_above_cvr``), and the ``ratio`` of the means.
    """
    out = []
    for keys, part in _along_axes(rows, n_sources, n_points, held_fixed):
        cvs, cvr = part["sd_cvs"].to_numpy(), part["sd_cvr"].to_numpy()
        row = keys | {"n_draws": len(part)}
        for name, value in {"sd_cvs": cvs, "sd_cvr": cvr, "cvs_minus_cvr": cvs - cvr}.items():
            row[name], row[f"se_{name}"] = _mean_and_error(value)
        row["cvs_above_cvr"] = _above_zero(row["cvs_minus_cvr"], row["se_cvs_minus_cvr"])
        out.append(row | {"ratio": row["sd_cvs"] / row["sd_cvr"] if row["sd_cvr"] else np.nan})
    return pd.DataFrame(out)


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
        One row per learner, sampling, design and M: the terms, their sum ``theta``, ``..._share`` (NaN where theta is 0), ``omega_spread`` and
        ``gamma_spread`` (standard deviation over blocks and pairs of blocks; NaN for one), ``omega_noise`` and ``gamma_noise``: the root mean squared Monte Carlo error of
        one of them, for block means close to normal. A spread about as large as its noise says nothing about differences between blocks.
    """
    out = []
    for keys, part in _cells(components, CELL):
        values = {kind: of_kind.sort_values(["k", "l"])["value"].to_numpy() for kind, of_kind in part.groupby("kind")}
        row = keys | {name: float(values[name][0]) for name in (*TERMS, "theta")}
        row |= {f"{name.removesuffix('_term')}_share": _ratio(row[name], row["theta"]) for name in TERMS}
        noise = covariance_noise(values["sigma"], values["omega"], keys["n_points"], n_datasets)
        for kind, error in zip(("omega", "gamma"), noise):
            spread = values[kind].std(ddof=1) if len(values[kind]) > 1 else np.nan
            row |= {f"{kind}_spread": float(spread), f"{kind}_noise": error}
        out.append(row)
    return pd.DataFrame(out)


def covariance_noise(sigma, omega, M, n_datasets):
    """Root mean squared Monte Carlo error of one omega_k and of one gamma_kl.

    The variance of a block mean is ``c_k = (sigma_k + (M - 1) omega_k) / M``. From R data sets, and for block means close to normal, the variance of its estimate is
    ``2 c_k^2 / (R - 1)``, and that of the covariance of two means ``c_k c_l / (R - 1)``, where the small ``gamma_kl^2`` is left out.

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
        One row per learner, sampling, design, M and estimator of the figure: ``theta`` (variance of ``mean`` over the data sets), ``se_theta``, ``average`` of the estimator and ``se_average``.
    """
    out = []
    for keys, part in _cells(estimates, CELL):
        truth = dict(zip(("theta", "se_theta"), _variance_and_error(part["mean"].to_numpy())))
        for name in FIGURE6[keys["design"]]:
            average, error = _mean_and_error(part[name].dropna().to_numpy())
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
        One row per learner, sampling, design, M and estimator, with the columns of `judged`; the target of the intervals is the mean of all data sets.
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
        As `estimators_table`, and ``expected`` (mean of the estimates), ``out_of_source`` (mean error on a new source), ``sigma_share`` (of the variance), and where sources are
        ``random`` ``coverage_ose`` and ``coverage_ose_t`` with their errors: coverage of the mean out-of-source error. NaN elsewhere.
    """
    return _judged_table(rows, MODEL_CELL, level, models=True)


def mean_predictor_table():
    """Exact results of the mean predictor, sources fixed, random and alike.

    Returns
    -------
    table : pandas.DataFrame
        One row per ``sources`` and M: ``out_of_source``, ``mu_cvs``, ``mu_cvr`` (NaN for fixed sources, where only ``mu_cvs`` is defined), terms, theta, and the ratios of the expected estimators to it.
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
        ``n_datasets``, ``n_undefined`` (NaN estimates, left out everywhere but in the truth), ``theta`` (variance of `means`), ``average``, ``bias``,
        ``ratio`` (average / theta), ``cv`` (standard deviation / average; NaN where the average is not positive), ``relative_rmse`` (root mean squared error / theta),
        ``negative`` (share below 0), ``coverage`` and ``coverage_t``, each but the first three with its Monte Carlo standard error ``se_...``: by jackknife over
        data sets, or of a share of independent data sets (0 where the share is 0 or 1). An interval whose variance estimate is negative covers nothing.
    """
    R, defined = len(means), ~np.isnan(estimates)
    theta = float(means.var(ddof=1)) if R > 1 else np.nan
    row = {"n_datasets": R, "n_undefined": int(R - defined.sum()), "theta": theta}
    kept_means, kept = means[defined], estimates[defined]
    row |= _moments_and_errors(means, estimates)
    row |= dict(zip(("negative", "se_negative"), _share_and_error(kept < 0)))
    for suffix, quantile in _quantiles(K, level).items():
        row |= _coverage(f"coverage{suffix}", kept_means, kept, means.mean(), quantile)
    return row


def _judged_table(rows, cell, level, models=False):
    out = []
    for keys, part in _cells(rows, cell):
        means = part["mean"].to_numpy()
        for name in ESTIMATORS_OF[keys["design"]]:
            estimates = part[name].to_numpy()
            K = _n_blocks(part) if name in STUDENT else None
            row = keys | {"estimator": name, "formula": FORMULAS[name]}
            found = judged(means, estimates, K, level)
            if models:
                ose = float(part["out_of_source"].mean())
                row |= {"expected": float(means.mean()), "out_of_source": ose}
                row |= {"sigma_share": _ratio(part["sigma_term"].iloc[0], found["theta"])}
                defined = ~np.isnan(estimates)
                target = ose if keys["sources"] == "random" else np.nan
                for suffix, quantile in _quantiles(K, level).items():
                    found |= _coverage(f"coverage_ose{suffix}", means[defined], estimates[defined], target, quantile)
            out.append(row | found)
    return pd.DataFrame(out)


def _n_blocks(part):
    """K, which rows do not hold but S2 / theta_gamma does; None where all block means were equal in all data sets."""
    blocks = _ratio(part["S2"].sum(), part["theta_gamma"].sum())
    return None if np.isnan(blocks) else round(blocks)


def _quantiles(K, level):
    upper = (1 + level) / 2
    return {"": norm.ppf(upper), "_t": student_t.ppf(upper, K - 1) if K else np.nan}


def _coverage(name, means, estimates, target, quantile):
    """Share of intervals that hold the target, and its error; NaN without a quantile or a target."""
    if np.isnan(quantile) or np.isnan(target):
        return {name: np.nan, f"se_{name}": np.nan}
    covers = (estimates >= 0) & (np.abs(means - target) <= quantile * np.sqrt(np.maximum(estimates, 0)))
    return dict(zip((name, f"se_{name}"), _share_and_error(covers)))


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


def error_grid(table):
    """`error_table` as it is printed, with notes that say where the order CVR < OSE < CVS does not hold."""
    header = ["", "CVR", "OSE", "CVS", "OSE - CVR", "CVS - OSE", "CVR < OSE < CVS"]
    body = []
    for keys, part in _blocks(table, ["learner", "sampling", "axis"]):
        body.append([_axis_heading(*keys, part)])
        for _, row in part.iterrows():
            body.append(
                [
                    _size(keys[2], row),
                    *[_pair(row, name, ".4f") for name in ("cvr", "out_of_source", "cvs")],
                    _pair(row, "ose_minus_cvr", "+.4f", bold=row["ose_above_cvr"]),
                    _pair(row, "cvs_minus_ose", "+.4f", bold=row["cvs_above_ose"]),
                    "yes" if row["order_holds"] else "no" if row["order_reversed"] else "not shown",
                ]
            )
    return Grid(ERROR_CAPTION, header, body, order_notes(table))


def order_notes(table):
    """Where CVR < OSE < CVS holds beyond two errors, where it is not told, and where it is the other way round.

    Parameters
    ----------
    table : pandas.DataFrame
        As `error_table` makes it.

    Returns
    -------
    notes : list of str
        A count, then one line for each learner and sampling with exceptions: differences below 0 by two errors with their size, then those that are on neither
        side of 0 by two errors. A point on both axes counts once.
    """
    points = table.drop_duplicates(["learner", "sampling", "n_sources", "n_points"])
    holds = int(points["order_holds"].sum())
    notes = [
        f"CVR < OSE < CVS holds by two standard errors at {holds} of {len(points)} points "
        f"({count_range(points['n_draws'])} draw{'s' if points['n_draws'].max() > 1 else ''} of domains)."
        + (" One draw has no standard error, so that nothing is shown." if points["n_draws"].min() == 1 else "")
    ]
    for (learner, sampling), part in _blocks(points, ["learner", "sampling"]):
        reversed_, unsure = [], []
        for name, words in (("cvs_minus_ose", "CVS - OSE"), ("ose_minus_cvr", "OSE - CVR")):
            at = []
            for k, m, value, error in part[["n_sources", "n_points", name, f"se_{name}"]].itertuples(index=False):
                if _above_zero(-value, error):
                    reversed_.append(f"{words} = {value:+.4f} ± {error:.4f} at K = {k}, M = {m}")
                elif not _above_zero(value, error):
                    at.append(f"({k}, {m})")
            if at:
                unsure.append(f"{words} at (K, M) = {', '.join(at)}")
        found = [f"the other way round by two errors: {'; '.join(reversed_)}"] if reversed_ else []
        found += [f"not above 0 by two errors: {'; '.join(unsure)}"] if unsure else []
        notes += [f"{learner}, {SAMPLING[sampling]}: {'. Also '.join(found)}."] if found else []
    return notes


def spread_grid(table):
    """`spread_table` as it is printed."""
    header = ["", "sd of CVS", "sd of CVR", "CVS - CVR", "CVS / CVR"]
    body = []
    for keys, part in _blocks(table, ["learner", "sampling", "axis"]):
        body.append([_axis_heading(*keys, part)])
        for _, row in part.iterrows():
            cells = [_pair(row, name, ".4f") for name in ("sd_cvs", "sd_cvr")]
            difference = _pair(row, "cvs_minus_cvr", "+.4f", bold=row["cvs_above_cvr"])
            body.append([_size(keys[2], row), *cells, difference, Cell(number(row["ratio"], ".2f"))])
    points = table.drop_duplicates(["learner", "sampling", "n_sources", "n_points"])
    note = f"CVS varies more than CVR by two standard errors at {int(points['cvs_above_cvr'].sum())} of {len(points)} points."
    return Grid(SPREAD_CAPTION, header, body, [note])


def decomposition_grid(table):
    """`decomposition_table` as it is printed."""
    header = [
        "M",
        "sigma term",
        "omega term",
        "gamma term",
        "theta",
        "sigma %",
        "omega %",
        "gamma %",
        "omega spread",
        "gamma spread",
    ]
    body = []
    for (learner, sampling, design), part in _blocks(table, CELL[:3]):
        body.append([f"{learner}, {SAMPLING[sampling]}; {DESIGNS[design]}"])
        for _, row in part.iterrows():
            cells = [Cell(number(row[name], ".2e")) for name in (*TERMS, "theta")]
            cells += [Cell(percent(row[f"{name}_share"])) for name in ("sigma", "omega", "gamma")]
            for name in ("omega", "gamma"):
                spread, noise = (number(row[f"{name}_{what}"], ".1e") for what in ("spread", "noise"))
                cells.append(Cell(f"{spread} / {noise}"))
            body.append([str(row["n_points"]), *cells])
    note = "A covariance, and so a term, can be below 0: truly, or because it was measured on finitely many data sets."
    return Grid(DECOMPOSITION_CAPTION, header, body, [note])


def figure6_grid(table):
    """`figure6_table` as it is printed: one row per M."""
    body = []
    names = dict.fromkeys(name for design in FIGURE6 for name in FIGURE6[design])
    for (learner, sampling, design), part in _blocks(table, CELL[:3]):
        body.append([f"{learner}, {SAMPLING[sampling]}; {DESIGNS[design]}"])
        for n_points, of_points in part.groupby("n_points"):
            row, by_name = of_points.iloc[0], of_points.set_index("estimator")
            cells = [
                Cell("") if name not in FIGURE6[design] else _pair(by_name.loc[name], "average", ".2e", ".0e") for name in names
            ]
            body.append([str(n_points), _pair(row, "theta", ".2e", ".0e"), *cells])
    header = ["M", "true theta", *[f"{name} = {FORMULAS[name]}" for name in names]]
    return Grid(FIGURE6_CAPTION, header, body, [f"{count_range(table['n_datasets'])} data sets. {LETTERS}"])


def estimators_grid(table):
    """`estimators_table` as it is printed."""
    body = []
    for (learner, sampling, design), part in _blocks(table, CELL[:3]):
        body.append([f"{learner}, {SAMPLING[sampling]}; {DESIGNS[design]}"])
        for _, row in part.iterrows():
            body.append([_estimator(row), str(row["n_points"]), *_judged_cells(row), *_coverage_cells(row, "coverage")])
    header = ["Estimator", "M", "Ratio", "CV", "Negative", "RMSE", "Coverage", "with t"]
    return Grid(ESTIMATORS_CAPTION, header, body, _judged_notes(table))


def models_grid(table):
    """`models_table` as it is printed."""
    body = []
    for (model, sources, design), part in _blocks(table, MODEL_CELL[:3]):
        body.append([f"{model}, sources {sources}; {DESIGNS[design]}"])
        for _, row in part.iterrows():
            body.append(
                [
                    _estimator(row),
                    str(row["n_points"]),
                    *[Cell(number(row[name], empty="")) for name in ("expected", "out_of_source")],
                    Cell(number(row["sigma_share"], ".2f")),
                    *_judged_cells(row),
                    *_coverage_cells(row, "coverage"),
                    *_coverage_cells(row, "coverage_ose"),
                ]
            )
    header = ["Estimator", "M", "Mean", "OSE", "Sigma", "Ratio", "CV", "Negative", "RMSE", "Coverage", "with t"]
    return Grid(MODELS_CAPTION, [*header, "Coverage of OSE", "OSE with t"], body, _judged_notes(table))


def mean_predictor_grid(table):
    """`mean_predictor_table` as it is printed."""
    columns = list(table.columns[2:])
    heads = {"out_of_source": "OSE", "mu_cvs": "E[CVS]", "mu_cvr": "E[CVR]"}
    header = ["M", *[heads.get(name, _exact_head(name)) for name in columns]]
    body = []
    for (sources,), part in _blocks(table, ["sources"]):
        body.append([f"sources {sources}"])
        body += [
            [str(row["n_points"]), *[Cell(number(row[name], ".6g", empty="")) for name in columns]] for _, row in part.iterrows()
        ]
    note = "Where sources are random, E[CVR] < OSE < E[CVS] at every M: Figure 2 without random numbers. Fixed sources have no new source."
    return Grid(EXACT_CAPTION, header, body, [note])


def _along_axes(rows, n_sources, n_points, held_fixed):
    """Keys and rows of every learner, sampling, axis and size."""
    wanted = {
        "sources": [(k, held_fixed["n_points"]) for k in sorted(set(n_sources))],
        "points": [(held_fixed["n_sources"], m) for m in sorted(set(n_points))],
    }
    for (learner, sampling), part in _blocks(rows, ["learner", "sampling"]):
        for axis in AXES:
            for k, m in wanted[axis]:
                draws = part[(part["n_sources"] == k) & (part["n_points"] == m)]
                yield {"learner": learner, "sampling": sampling, "axis": axis, "n_sources": k, "n_points": m}, draws


def _blocks(frame, names):
    """Groups in the order of appearance, with their keys as tuples."""
    return frame.groupby(names, sort=False, observed=True)


def _cells(rows, names):
    """Keys as a dictionary and rows of every cell, in the order of appearance but for M, which ascends."""
    *outer, inner = names
    for keys, part in _blocks(rows, outer):
        for n_points, cell in part.groupby(inner):
            yield dict(zip(outer, keys)) | {inner: int(n_points)}, cell


def _mean_and_error(values):
    """Mean and standard error; NaN for no value, and the error for one."""
    if len(values) == 0:
        return np.nan, np.nan
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def _variance_and_error(values):
    """Variance (n - 1) and its jackknife error; NaN for fewer than two values, and the error for two."""
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    squares = (values - values.mean()) ** 2
    without_one = (squares.sum() - squares * n / (n - 1)) / (n - 2) if n > 2 else np.array([np.nan])
    return float(squares.sum() / (n - 1)), jackknife_error(without_one)


def _share_and_error(which):
    if len(which) == 0:
        return np.nan, np.nan
    share = float(which.mean())
    return share, float(np.sqrt(share * (1 - share) / len(which)))


def _above_zero(value, error):
    """Whether a difference is above 0 by two errors; without an error it is not shown."""
    return bool(value > 2 * error and value > 0)


def _ratio(above, below):
    return float(above / below) if below else np.nan


def _exact_ratios(found, names):
    return {f"ratio_{name}": getattr(found, name) / found.theta for name in names}


def _exact_head(name):
    return f"{name.removeprefix('ratio_')} / theta" if name.startswith("ratio_") else name.replace("_", " ")


def _axis_heading(learner, sampling, axis, part):
    fixed = f"M = {part['n_points'].iloc[0]} points" if axis == "sources" else f"K = {part['n_sources'].iloc[0]} sources"
    return f"{learner}, {SAMPLING[sampling]}; {fixed}"


def _size(axis, row):
    return f"K = {row['n_sources']}" if axis == "sources" else f"M = {row['n_points']}"


def _estimator(row):
    return f"{row['estimator']} = {row['formula']}"


def _judged_cells(row):
    return [
        _pair(row, "ratio", ".2f"),
        Cell(number(row["cv"], ".2f")),
        Cell(number(row["negative"], ".3f")),
        Cell(number(row["relative_rmse"], ".2f")),
    ]


def _coverage_cells(row, name):
    return [_pair(row, column, ".3f", empty="") for column in (name, f"{name}_t")]


def _judged_notes(table):
    undefined = int(table["n_undefined"].sum())
    notes = [
        f"{count_range(table['n_datasets'])} data sets; plus or minus: Monte Carlo standard error. An interval whose variance estimate is negative covers nothing: it counts "
        "as a miss. The CSV file has the bias and all errors.",
        f"{LETTERS} Under other names the same numbers: theta_2 is theta_om, theta_3 is theta_gamma, theta_4 is theta_A.",
    ]
    return notes + ([f"{undefined} estimates do not exist and are left out."] if undefined else [])


def _pair(row, name, form, error_form=None, bold=False, empty=EMPTY):
    """A number ± its error, from the columns `name` and ``se_<name>``."""
    return Cell(with_error(row[name], row[f"se_{name}"], form, error_form, empty=empty), bold=bool(bold))
