"""Hierarchical models of data from several sources, with a truth about cross-validation that is known or cheap to simulate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from foldshift.core.gate.numbers import finite_numbers
from foldshift.core.seeding import as_generator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, UnsignedArray

    Model = Literal["centroid", "stump", "highdim"]

SOURCE_SEED = 12345  # of the fixed sources
CHUNK_BYTES = 2**25  # of the inputs of the data sets simulated at once


class MeanPredictorFixed(NamedTuple):
    """Expectation and variance of leave-one-source-out of the mean predictor, sources fixed; see `mean_predictor_fixed`."""

    mu_cvs: float
    sigma: FloatArray
    omega: FloatArray
    gamma: FloatArray
    sigma_term: float
    omega_term: float
    gamma_term: float
    theta: float
    theta_A: float
    theta_B: float
    theta_gamma: float


class MeanPredictorRandom(NamedTuple):
    """Expectations and variance of cross-validation of the mean predictor, sources random; see `mean_predictor_random`."""

    ose: float
    mu_cvs: float
    mu_cvr: float
    sigma: float
    omega: float
    gamma: float
    theta: float
    theta_gamma: float
    theta_A: float
    theta_B: float
    theta_5: float


def mean_predictor_fixed(beta: ArrayLike, M: int, s2: float = 1.0) -> MeanPredictorFixed:
    """Exact moments of leave-one-source-out for the mean predictor with squared loss, for given sources.

    Source k draws M values from N(beta_k, s2); every value is predicted by the mean of all other sources.

    Parameters
    ----------
    beta : array-like of shape (K,)
        Means of the sources; at least two.
    M : int
        Values per source.
    s2 : float, default=1.0
        Variance within a source.

    Returns
    -------
    mu_cvs : float
        Expected estimate.
    sigma, omega, gamma : ndarray of shape (K,), (K,), (K, K)
        Variance of a loss, covariance of two of the same source, and of two of different sources (diagonal NaN).
    sigma_term, omega_term, gamma_term, theta : float
        Parts of the variance of the estimate (equation 7) and their sum.
    theta_A, theta_B, theta_gamma : float
        Expected estimates of theta.

    Raises
    ------
    ValueError
        With fewer than two sources.

    Examples
    --------
    >>> found = mean_predictor_fixed([0.0, 0.5, 1.0], M=10)
    >>> bool(found.theta_A < found.theta_gamma < found.theta)
    True
    """
    beta = finite_numbers(beta, "beta")
    if beta.ndim != 1:
        raise ValueError(f"beta has shape {beta.shape}; expected (K,), the means of the sources")
    K = _check_sources(len(beta))
    n = (K - 1) * M
    v, w, g = s2 * (1 + 1 / n), s2 / n, -s2 * K / ((K - 1) ** 2 * M)
    b = (K * beta - beta.sum()) / (K - 1)
    mu = v + b**2
    # Squares of jointly normal variables with means b, b' and covariance c have covariance 2 c^2 + 4 b b' c.
    sigma, omega = 2 * v**2 + 4 * b**2 * v, 2 * w**2 + 4 * b**2 * w
    gamma = 2 * g**2 + 4 * np.outer(b, b) * g
    np.fill_diagonal(gamma, np.nan)
    terms = sigma.sum() / (K**2 * M), (M - 1) * omega.sum() / (K**2 * M), np.nansum(gamma) / K**2
    theta = sum(terms)
    theta_A = (sigma - omega).sum() / (K**2 * M)
    theta_gamma = theta - np.nansum(gamma) / (K * (K - 1)) + mu.var(ddof=1) / K
    return MeanPredictorFixed(
        mu_cvs=float(mu.mean()),
        sigma=sigma,
        omega=omega,
        gamma=gamma,
        sigma_term=float(terms[0]),
        omega_term=float(terms[1]),
        gamma_term=float(terms[2]),
        theta=float(theta),
        theta_A=float(theta_A),
        theta_B=float(2 * theta_A),
        theta_gamma=float(theta_gamma),
    )


def mean_predictor_random(K: int, M: int, s2: float, tau2: float) -> MeanPredictorRandom:
    """Exact moments of cross-validation for the mean predictor with squared loss, sources drawn from N(0, tau2).

    Parameters
    ----------
    K, M : int
        Number of sources (at least two) and values per source.
    s2, tau2 : float
        Variance within a source and between the means of the sources; ``tau2 = 0`` is independent data.

    Returns
    -------
    ose : float
        Out-of-source error: of the mean of all K sources on a new one.
    mu_cvs, mu_cvr : float
        Expected estimates of leave-one-source-out and of random folds.
    sigma, omega, gamma : float
        Variance of a loss of leave-one-source-out, covariance of two of the same source, and of two of different ones.
    theta : float
        Variance of the leave-one-source-out estimate.
    theta_gamma, theta_A, theta_B, theta_5 : float
        Expected estimates of theta; theta_gamma is also theta_3, and theta_A theta_4.

    Raises
    ------
    ValueError
        With fewer than two sources.

    Examples
    --------
    >>> found = mean_predictor_random(K=10, M=20, s2=1.0, tau2=0.25)
    >>> bool(found.mu_cvr < found.ose < found.mu_cvs)
    True
    """
    _check_sources(K)
    N, n = K * M, (K - 1) * M
    between = 1 + 1 / (K - 1)
    V, W = s2 * (1 + 1 / n) + tau2 * between, s2 / n + tau2 * between
    G = -s2 * K / ((K - 1) ** 2 * M) - tau2 * K / (K - 1) ** 2
    sigma, omega, gamma = 2 * V**2, 2 * W**2, 2 * G**2
    theta = sigma / N + (M - 1) * omega / N + (K - 1) * gamma / K
    theta_A = (sigma - omega) / N
    # With random folds another row shares the source of a row with probability q.
    q = (M - 1) / (N - 1)
    mu_cvr = s2 * (1 + 1 / n) + tau2 * (1 - 2 * q + 1 / n + (1 - 1 / n) * q)
    ose = s2 * (1 + 1 / N) + tau2 * (1 + 1 / K)
    return MeanPredictorRandom(
        ose, V, mu_cvr, sigma, omega, gamma, theta, theta - gamma, theta_A, 2 * theta_A, theta + omega - 2 * gamma
    )


class Setting(NamedTuple):
    """Two classes: ``x ~ N(beta_k + y (delta + eta_k), I)`` with ``beta_k ~ N(0, tau^2 I)`` and ``eta_k ~ N(0, eta^2 I)``."""

    delta: FloatArray
    tau: float
    eta: float
    one_feature: bool


MODELS = {
    "centroid": Setting(np.full(20, 0.25), 0.3, 0.15, False),
    "stump": Setting(np.linspace(0.2, 0.6, 20), 0.1, 0.1, True),
    "highdim": Setting(np.full(200, 0.08), 0.1, 0.05, False),
}


class SimulatedLosses(NamedTuple):
    """Losses of shape (R, K, M) for either design (None if not wanted) and the out-of-source error (R,)."""

    cvs: UnsignedArray | None
    cvr: UnsignedArray | None
    out_of_source: FloatArray


def simulate_losses(
    model: Model,
    K: int,
    M: int,
    n_datasets: int,
    rng: np.random.Generator | int,
    *,
    sources: Literal["iid", "fixed", "random"] = "iid",
    design: Literal["cvs", "cvr", "both"] = "cvs",
) -> SimulatedLosses:
    """Cross-validate a simple classifier on data sets drawn from a hierarchical model.

    The classifier is the nearest centroid; ``stump`` uses only the feature whose training means differ most, which makes it
    unstable on purpose.

    Parameters
    ----------
    model : {"centroid", "stump", "highdim"}
        Setting and classifier.
    K, M : int
        Number of sources, at least two, and rows of each; M is even, as half of the rows of every source are of either class.
    n_datasets : int
        Number R of data sets. The first ones of a longer run are those of a shorter run.
    rng : numpy.random.Generator or int
        Source of randomness.
    sources : {"iid", "fixed", "random"}, default="iid"
        All sources the same; different but the same in all data sets (`fixed_sources`); or drawn again for every data set.
    design : {"cvs", "cvr", "both"}, default="cvs"
        Leave one source out, random folds of M rows (not stratified), or both on the same data.

    Returns
    -------
    cvs, cvr : ndarray of shape (R, K, M), uint8, or None
        0/1 losses of the test rows of every block.
    out_of_source : ndarray of shape (R,)
        Probability that the classifier trained on all K sources errs on a row of a new source; exact, not simulated. With
        ``fixed`` the new source comes from the same distribution as the fixed ones; with ``iid`` it is the same as the others.

    Raises
    ------
    ValueError
        If a name is unknown, K is below two, or M is odd or below two.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = simulate_losses("centroid", 5, 10, 3, np.random.default_rng(0))
    >>> drawn.cvs.shape, drawn.out_of_source.shape
    ((3, 5, 10), (3,))
    """
    for name, value, allowed in (
        ("model", model, tuple(MODELS)),
        ("sources", sources, ("iid", "fixed", "random")),
        ("design", design, ("cvs", "cvr", "both")),
    ):
        if value not in allowed:
            raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, allowed))}")
    rng = as_generator(rng)
    _check_sources(K)
    if M < 2 or M % 2:
        raise ValueError(f"M={M} must be even and at least 2: half of the rows of every source are of either class")
    setting = MODELS[model]
    d, N = len(setting.delta), K * M
    tau, eta = (0.0, 0.0) if sources == "iid" else (setting.tau, setting.eta)
    y = np.tile(np.repeat([True, False], M // 2), K)
    sign = np.where(y, 1.0, -1.0)[:, None]
    source = np.repeat(np.arange(K), M)
    fixed = None
    if sources == "fixed":
        beta, offsets = fixed_sources(model, K)
        fixed = beta[source] + sign * offsets[source]
    out = {name: np.empty((n_datasets, K, M), dtype=np.uint8) for name in ("cvs", "cvr") if design in (name, "both")}
    errors = np.empty(n_datasets)
    per_chunk = max(1, CHUNK_BYTES // (8 * N * d))
    for start in range(0, n_datasets, per_chunk):
        rows = slice(start, min(start + per_chunk, n_datasets))
        size = rows.stop - start
        x = np.empty((size, N, d))
        order = np.empty((size, N), dtype=np.int64)
        drawn = np.zeros((size, 2, K, d))
        for number in range(size):  # one data set at a time, so that the draws do not depend on the chunks
            if sources == "random":
                rng.standard_normal(out=drawn[number])
            rng.standard_normal(out=x[number])
            if design != "cvs":
                order[number] = rng.permutation(N)
        x += sign * setting.delta
        if fixed is not None:
            x += fixed
        elif sources == "random":
            x += (tau * drawn[:, 0])[:, source] + sign * (eta * drawn[:, 1])[:, source]
        total = class_sums(x.reshape(size, 1, N, d), y.reshape(1, 1, N))
        if design != "cvr":
            out["cvs"][rows] = block_losses(x.reshape(size, K, M, d), y.reshape(1, K, M), total, setting.one_feature)
        if design != "cvs":
            shuffled = np.take_along_axis(x, order[:, :, None], axis=1).reshape(size, K, M, d)
            out["cvr"][rows] = block_losses(shuffled, y[order].reshape(size, K, M), total, setting.one_feature)
        direction, middle = _centroid_rule(*total, setting.one_feature)
        errors[rows] = _error_on_new_source(direction[:, 0], middle[:, 0], setting.delta, np.sqrt(1 + tau**2 + eta**2))
    return SimulatedLosses(out.get("cvs"), out.get("cvr"), errors)


def fixed_sources(model: Model, K: int, seed: int = SOURCE_SEED) -> tuple[FloatArray, FloatArray]:
    """Draw the sources of ``sources="fixed"``: beta, then eta, both (K, d)."""
    setting = MODELS[model]
    beta, eta = np.random.default_rng(seed).standard_normal((2, K, len(setting.delta)))
    return setting.tau * beta, setting.eta * eta


def _check_sources(K: int) -> int:
    if K < 2:
        raise ValueError(f"K={K} must be at least 2: leaving one source out needs another to train on")
    return K


def class_sums(x: FloatArray, y: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Sums of the features and numbers of rows of either class in every block: (..., 2, d) and (..., 2)."""
    masks = np.stack([y, ~y], axis=-2).astype(np.float64)
    return masks @ x, masks.sum(axis=-1)


def _centroid_rule(sums: FloatArray, counts: FloatArray, one_feature: bool) -> tuple[FloatArray, FloatArray]:
    """Direction w and threshold c of the rule "first class if x . w > c", from sums and counts of the two classes.

    If a class has no row, w is 0 and c decides for the other one.
    """
    means = sums / np.maximum(counts, 1)[..., None]
    w = means[..., 0, :] - means[..., 1, :]
    if one_feature:
        w = np.where(np.arange(w.shape[-1]) == np.abs(w).argmax(axis=-1)[..., None], w, 0.0)
    c = (w * means.sum(axis=-2)).sum(axis=-1) / 2
    first, second = counts[..., 0] > 0, counts[..., 1] > 0
    both = first & second
    return np.where(both[..., None], w, 0.0), np.where(both, c, np.where(first, -1.0, 1.0))


def block_losses(x: FloatArray, y: BoolArray, total: tuple[FloatArray, FloatArray], one_feature: bool) -> BoolArray:
    """0/1 losses of every block under the rule of the other blocks: statistics of all minus those of the block."""
    sums, counts = class_sums(x, y)
    w, c = _centroid_rule(total[0] - sums, total[1] - counts, one_feature)
    return ((x @ w[..., None])[..., 0] > c[..., None]) != y


def _error_on_new_source(w: FloatArray, c: FloatArray, delta: FloatArray, spread: float) -> FloatArray:
    """Error of the rules on balanced rows of a new source; projections on w are normal with deviation ``spread |w|``."""
    scale = spread * np.sqrt((w**2).sum(axis=-1))
    mean = w @ delta
    return (ndtr((c - mean) / scale) + ndtr((-mean - c) / scale)) / 2
