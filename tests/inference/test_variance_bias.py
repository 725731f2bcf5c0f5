import numpy as np
import pytest

from foldshift.inference.repetitions import variance_bias as bias
from foldshift.inference.repetitions.variance import (
    cv_variance,
    estimator_from_bias,
    theta_gam_kl,
    theta_om_k,
    variance_components,
)


def _losses(R=30, K=4, M=6, seed=0):
    """0/1 losses whose sources differ, and which vary together within a data set."""
    rng = np.random.default_rng(seed)
    chance = np.linspace(0.1, 0.6, K)[:, None] + rng.normal(0, 0.08, (R, 1, 1)) + rng.normal(0, 0.05, (R, K, 1))
    return (rng.random((R, K, M)) < chance).astype(np.uint8)


def _moments(losses, design="cvs"):
    parts = variance_components(losses, design)
    return bias.loss_moments(
        parts.sigma, parts.omega, parts.gamma, losses.mean(axis=(0, 2)), n_points=losses.shape[2], n_datasets=len(losses)
    )


def _measured(losses, estimates):
    return np.asarray(estimates).mean(axis=0) - losses.mean(axis=(1, 2)).var(ddof=1)


@pytest.mark.parametrize("name", ["theta_om", "theta_gamma", "theta_A", "theta_B"])
def test_printed_biases_for_sources_are_those_of_any_losses(name):
    losses = _losses()
    expected = _measured(losses, getattr(cv_variance(losses), name))
    assert bias.source_bias(_moments(losses))[name] == pytest.approx(expected, rel=1e-9)


def test_printed_biases_of_single_sources_and_pairs_are_those_of_any_losses():
    losses = _losses()
    of_source, of_pair = bias.single_source_bias(_moments(losses))
    pairs = np.triu_indices(4, 1)
    assert of_source == pytest.approx(_measured(losses, theta_om_k(losses)), rel=1e-9)
    assert of_pair[pairs] == pytest.approx(_measured(losses, theta_gam_kl(losses))[pairs], rel=1e-9)


@pytest.mark.parametrize("name", ["theta_1", "theta_2", "theta_3", "theta_4", "theta_5"])
def test_printed_biases_for_random_blocks_hold_with_one_mean(name):
    losses = _losses()
    coefficients = bias.random_block_coefficients(4, 6)[name]
    expected = _measured(losses, getattr(cv_variance(losses), name))
    assert np.dot(coefficients, bias.pooled(_moments(losses))) == pytest.approx(expected, rel=1e-9)
    assert sum(coefficients[:3]) - coefficients[3] == pytest.approx(-1)  # Proposition 1


@pytest.mark.parametrize("chosen", [(0.3, -0.7, 1.1), (0, 1, -2), (-1, 0, 0)])
def test_an_estimator_has_the_bias_that_it_was_made_for(chosen):
    losses = _losses()
    promised = np.dot((*chosen, 1 + sum(chosen)), bias.pooled(_moments(losses)))
    assert _measured(losses, estimator_from_bias(*chosen)(losses)) == pytest.approx(promised, rel=1e-9)


def test_pooled_moments_decompose_the_variance():
    losses = _losses()
    sigma, omega, gamma, _ = bias.pooled(_moments(losses))
    assert sigma / 24 + 5 * omega / 24 + 3 * gamma / 4 == pytest.approx(losses.mean(axis=(1, 2)).var(ddof=1), rel=1e-9)


def test_sources_with_equal_means_leave_no_bias_that_lasts():
    moments = bias.LossMoments(5, np.ones(3), np.zeros(3), np.zeros((3, 3)), np.full((3, 3), 0.04))
    assert bias.means_differ(moments) == pytest.approx(0, abs=1e-15)
    assert bias.means_differ(moments._replace(mu_mu=np.outer([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]))) > 0


def test_errors_of_the_terms_are_their_spread_over_repetitions():
    rng = np.random.default_rng(5)
    names = ("sigma_term", "omega_term", "gamma_term", "theta")
    values, errors = [], []
    for seed in rng.integers(10**6, size=150):
        losses = _losses(R=60, seed=int(seed))
        parts = variance_components(losses, "cvs")
        values.append([getattr(parts, name) for name in names])
        errors.append(bias.term_errors(losses))
    assert np.sqrt((np.array(errors) ** 2).mean(axis=0)) == pytest.approx(np.std(values, axis=0), rel=0.2)


def test_blocks_of_one_row_have_no_errors():
    assert np.isnan(bias.term_errors(np.ones((5, 3, 1)))).all()
