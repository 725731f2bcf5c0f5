"""Bias of estimators of the variance of cross-validation, by the formulas that Geras and Sutton (2013) print."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.inference.repetitions.variance import check_losses

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, TableLike


class LossMoments(NamedTuple):
    """Moments of the losses of K blocks, over many data sets; see `loss_moments`."""

    n_points: int  # M, rows of a block
    sigma: FloatArray  # (K,), variance of a loss
    omega: FloatArray  # (K,), covariance of two losses of a block
    gamma: FloatArray  # (K, K), covariance of losses of two blocks; 0 on the diagonal
    mu_mu: FloatArray  # (K, K), product of the means of two blocks


class TermErrors(NamedTuple):
    """Monte Carlo standard errors of the three terms of the variance and of their sum."""

    sigma_term: float
    omega_term: float
    gamma_term: float
    theta: float


def loss_moments(
    sigma: FloatArray, omega: FloatArray, gamma: FloatArray, mu: FloatArray, *, n_points: int, n_datasets: int
) -> LossMoments:
    """Collect measured moments; products of means are rid of the noise of finitely many data sets.

    `sigma`, `omega` and `mu`, of shape (K,), are the variance of a loss, the covariance of two losses of a block, and the mean
    loss; `gamma`, of shape (K, K), the covariance of losses of two blocks. Its diagonal does not count.
    """
    between = gamma.copy()
    np.fill_diagonal(between, (sigma + (n_points - 1) * omega) / n_points)  # now the covariance of the block means
    mu_mu = np.outer(mu, mu) - between / n_datasets
    np.fill_diagonal(between, 0.0)
    return LossMoments(n_points, sigma, omega, between, mu_mu)


def source_bias(moments: LossMoments) -> dict[str, float]:
    """Compute the biases printed for blocks that are sources, by estimator.

    ``theta_om`` and ``theta_gamma`` are those of Table 1 of Geras and Sutton (2013), ``theta_A`` and ``theta_B`` those below its
    equations 11 and 12.
    """
    M, sigma, omega, gamma = moments.n_points, moments.sigma.sum(), moments.omega.sum(), moments.gamma.sum()
    K = len(moments.sigma)
    means = means_differ(moments)
    return {
        "theta_om": float(-omega / K + (1 - K) * means),
        "theta_gamma": float(-gamma / (K * (K - 1)) + means),
        "theta_A": float(-omega / K**2 - gamma / K**2),
        "theta_B": float((sigma - (M + 1) * omega - M * gamma) / (K**2 * M)),
    }


def means_differ(moments: LossMoments) -> float:
    """Compute the part of the bias of theta_gamma that comes from sources with different means, and does not vanish."""
    K, squares = len(moments.sigma), moments.mu_mu.trace()
    return float((squares - (moments.mu_mu.sum() - squares) / (K - 1)) / K**2)


def single_source_bias(moments: LossMoments) -> tuple[FloatArray, FloatArray]:
    """Compute the biases printed in the first two lines of Table 1: of every source (K,), of every pair of sources (K, K)."""
    K = len(moments.sigma)
    mean = moments.mu_mu.sum() / K**2
    return -moments.omega + mean - moments.mu_mu.diagonal(), -moments.gamma + mean - moments.mu_mu


def random_block_coefficients(K: int, M: int) -> dict[str, tuple[float, float, float, float]]:
    """Give the biases printed for random blocks: factors of sigma^2, omega, gamma and mu^2 by estimator (Table 2, section 5)."""
    N = K * M
    return {
        "theta_1": (0.0, 0.0, 0.0, 1.0),
        "theta_2": (0.0, -1.0, 0.0, 0.0),
        "theta_3": (0.0, 0.0, -1.0, 0.0),
        "theta_4": (0.0, -M / N, -(N - M) / N, 0.0),
        "theta_5": (0.0, 1.0, -2.0, 0.0),
    }


def pooled(moments: LossMoments) -> tuple[float, float, float, float]:
    """Pool to the moments of random blocks, which have one mean: sigma^2, omega, gamma and mu^2.

    Blocks of a random cut differ by chance alone, so their covariances are taken about the mean of all blocks.
    """
    K, mu_squared = len(moments.sigma), float(moments.mu_mu.mean())
    squares = moments.mu_mu.trace() / K
    products = (moments.gamma.sum() + moments.mu_mu.sum() - moments.mu_mu.trace()) / (K * (K - 1))
    second = moments.sigma.mean() + squares, moments.omega.mean() + squares, products
    sigma, omega, gamma = (float(one) - mu_squared for one in second)
    return sigma, omega, gamma, mu_squared


def term_errors(losses: TableLike) -> TermErrors:
    """Compute errors of the terms of `variance_components` from the influence of data sets, losses (R, K, M); NaN if M = 1."""
    checked = np.asarray(check_losses(losses))
    R, K, M = checked.shape
    if M < 2:
        return TermErrors(np.nan, np.nan, np.nan, np.nan)
    d = checked.mean(axis=2) - checked.mean(axis=(0, 2))
    square = ((checked - checked.mean(axis=(0, 2))[:, None]) ** 2).mean(axis=(1, 2))  # of the losses of a data set
    block, whole = (d**2).mean(axis=1), d.mean(axis=1) ** 2
    omega = (M * block - square) / (M - 1)
    terms = square / (K * M), (M - 1) * omega / (K * M), whole - block / K, whole
    return TermErrors(*(float(one.std(ddof=1) / np.sqrt(R)) for one in terms))
