"""Bayesian comparisons over data sets: against baycomp, by numerical integration, and at their ends."""

import itertools

import numpy as np
import pytest
from scipy import special, stats

from foldshift.inference import bayesian_hierarchical, bayesian_signed_ranks
from foldshift.inference.comparisons.bayes import ALPHA, BETA


def test_signed_ranks_agree_with_baycomp(oracle):
    theirs = oracle("baycomp").SignedRankTest
    rng = np.random.default_rng(0)
    for n, rope in ((5, 0.01), (12, 0.01), (12, 0.0), (30, 0.005)):
        a, b = rng.normal(0.8, 0.03, (2, n))
        ours = bayesian_signed_ranks(a, b, rope=rope)
        expected = theirs.probs(b, a, rope, nsamples=20_000, random_state=1)
        expected = expected if rope else (expected[0], 0, expected[1])
        assert ours[:3] == pytest.approx(expected, abs=0.02)


def test_signed_ranks_by_hand_for_one_block():
    """One difference above the region, the prior's at 0: the first is best where 1 - (1 - w)^2 > 1/2, of w from Beta(1, 1/2)."""
    posterior = bayesian_signed_ranks([0.9], [0.5], rope=0.1, n_draws=200_000)
    assert posterior.right == pytest.approx(stats.beta.sf(1 - 0.5**0.5, 1, 0.5), abs=0.005)
    assert posterior[:3] == pytest.approx((0, 1 - posterior.right, posterior.right))


def test_swapping_turns_signed_ranks_round_and_a_wide_region_holds_all():
    a, b = np.random.default_rng(1).normal(0.8, 0.05, (2, 14))
    one, other = bayesian_signed_ranks(a, b, rope=0.02), bayesian_signed_ranks(b, a, rope=0.02)
    assert one[:3] == pytest.approx(other[2::-1]) and sum(one[:3]) == pytest.approx(1)
    assert bayesian_signed_ranks(a, b, rope=1)[:3] == (0, 1, 0)
    assert bayesian_signed_ranks(a, a)[:3] == pytest.approx((0.5, 0, 0.5))
    for scale in (1e-150, 1e150):
        assert bayesian_signed_ranks(scale * a, scale * b, rope=scale * 0.02)[:3] == pytest.approx(one[:3])


def by_integration(data, rho, rope):
    """Posterior of mu0, sigma0 and nu on a grid, everything else integrated; share of each region where it is most probable."""
    unit = np.mean([d.std(ddof=1) for d in data])
    data = [d / unit for d in data]
    top = max(np.abs(d).max() for d in data)
    # no point of mu0 at 0, where the most probable region changes
    mu0, log_sigma0 = np.linspace(-top, top, 60), np.linspace(np.log(0.001), np.log(30), 50)
    log_nu = np.linspace(np.log(0.3), np.log(1000), 9)
    alpha, beta = (np.linspace(*ends, 21) for ends in (ALPHA, BETA))
    density = alpha[:, None] * np.log(beta) - special.gammaln(alpha)[:, None] + alpha[:, None] * log_nu[:, None, None]
    prior = np.exp(density - beta * np.exp(log_nu)[:, None, None]).mean(axis=(1, 2))
    logs = np.log(prior)[None, None, :] + log_sigma0[None, :, None] + np.zeros((len(mu0), len(log_sigma0), len(log_nu)))
    quantiles = (np.arange(60) + 0.5) / 60
    for d in data:
        n = len(d)
        # sigma uniform: density of the mean proportional to (ss + (m - mu)^2 / factor)^(-(n - 1) / 2), a t with n - 2 degrees
        ss, factor = ((d - d.mean()) ** 2).sum() / (1 - rho), (1 + (n - 1) * rho) / n
        own = np.sqrt(ss * factor / (n - 2))
        for i, j in itertools.product(range(len(log_sigma0)), range(len(log_nu))):
            s, nu = np.exp(log_sigma0[i]), np.exp(log_nu[j])
            # the nodes of the integral are quantiles of the narrower of the two distributions
            if s < own:
                nodes = mu0 + s * stats.t.ppf(quantiles, nu)[:, None]
                logs[:, i, j] += np.log(stats.t.pdf((nodes - d.mean()) / own, n - 2).mean(axis=0) / own)
            else:
                nodes = d.mean() + own * stats.t.ppf(quantiles, n - 2)[:, None]
                logs[:, i, j] += np.log(stats.t.pdf((nodes - mu0) / s, nu).mean(axis=0) / s)
    weights = np.exp(logs - logs.max())
    s, nu, edge = np.exp(log_sigma0)[None, :, None], np.exp(log_nu)[None, None, :], rope / unit
    left = stats.t.cdf((-edge - mu0[:, None, None]) / s, nu)
    right = stats.t.sf((edge - mu0[:, None, None]) / s, nu)
    theta = np.stack([left, 1 - left - right, right])
    best = theta.argmax(axis=0)
    shares = [weights[best == i].sum() / weights.sum() for i in range(3)]
    average = (theta * weights).sum(axis=(1, 2, 3)) / weights.sum()
    return shares, average, (weights.sum(axis=(1, 2)) * mu0).sum() / weights.sum() * unit


@pytest.mark.slow
def test_the_hierarchical_model_agrees_with_numerical_integration():
    rng = np.random.default_rng(3)
    data = rng.normal(0.02, 0.03, (5, 1)) + rng.normal(0, 0.05, (5, 10))
    shares, average, mean = by_integration(list(data), 0.1, 0.01)
    posterior = bayesian_hierarchical(data, 0.1, 0.01, n_draws=20_000)
    assert posterior[:3] == pytest.approx(shares, abs=0.02)
    assert posterior.next_dataset == pytest.approx(average, abs=0.01)
    assert posterior.mean[0] == pytest.approx(mean, abs=0.001) and posterior.r_hat < 1.03


def test_the_hierarchical_model_draws_data_sets_to_their_mean():
    rng = np.random.default_rng(4)
    data = rng.normal(0.03, 0.01, (10, 1)) + rng.normal(0, 0.08, (10, 20))
    posterior = bayesian_hierarchical(data, 0.1, 0.01, n_draws=4000)
    frame = posterior.datasets
    assert frame["estimate"].std() < 0.6 * frame["observed"].std()
    assert (frame["low"] < frame["estimate"]).all() and (frame["estimate"] < frame["high"]).all()
    assert np.allclose(frame[["p_left", "p_rope", "p_right"]].sum(axis=1), 1) and sum(posterior[:3]) == pytest.approx(1)


def test_swapping_turns_the_hierarchical_model_round_whatever_the_scale_and_the_numbers_of_folds():
    rng = np.random.default_rng(5)
    data = [rng.normal(0.02, 0.05, (r, 5)) for r in (1, 2, 4, 2)]
    one = bayesian_hierarchical(data, 0.2, 0.01, n_draws=4000)
    other = bayesian_hierarchical([-d for d in data], 0.2, 0.01, n_draws=4000, random_state=1)
    assert one[:3] == pytest.approx(other[2::-1], abs=0.05) and one.mean[0] == pytest.approx(-other.mean[0], abs=0.004)
    for scale in (1e-100, 1e100):
        scaled = bayesian_hierarchical([scale * d for d in data], 0.2, scale * 0.01, n_draws=4000)
        assert scaled[:3] == pytest.approx(one[:3], abs=1e-9) and scaled.mean[0] / scale == pytest.approx(one.mean[0])


def test_a_data_set_without_any_spread_is_taken_for_one_within_the_region():
    rng = np.random.default_rng(6)
    data = [np.zeros(10), *rng.normal(0, 0.03, (3, 10))]
    assert np.isfinite(bayesian_hierarchical(data, 0.1, 0.01, n_draws=1000)[:3]).all()
    with pytest.raises(ValueError, match=r"differences\[0\] are all the same, so their spread is unknown; give rope > 0"):
        bayesian_hierarchical(data, 0.1, 0.0, n_draws=1000)


def test_they_read_as_sentences_and_tables():
    a, b = np.random.default_rng(7).normal(0.8, 0.05, (2, 8))
    text = str(bayesian_signed_ranks(a, b, rope=0.02))
    assert "over 8 blocks: probability that the second is better in practice" in text and "practically equivalent (within" in text
    posterior = bayesian_hierarchical(np.random.default_rng(8).normal(0, 0.05, (4, 10)), 0.1, 0.01, n_draws=1000)
    assert "Hierarchical model over 4 data sets" in str(posterior) and len(posterior.to_frame()) == 3
    assert "<table" in posterior._repr_html_()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayesian_signed_ranks([1, 2], [1]), r"shapes \(2,\) and \(1,\)"),
        (lambda: bayesian_signed_ranks([1, np.inf], [1, 2]), "finite"),
        (lambda: bayesian_signed_ranks([1], [1], rope=-1), "rope=-1 must be 0 or"),
        (lambda: bayesian_signed_ranks([1], [1], n_draws=10), "n_draws=10 must be a whole number from 100"),
        (lambda: bayesian_hierarchical([[1, 2]], 0.1, 0), "holds 1 data sets with 2 or more results"),
        (lambda: bayesian_hierarchical([[1], [2]], 0.1, 0), "holds 2 data sets with 1 or more results"),
        (lambda: bayesian_hierarchical([[1, 2], [2, np.nan]], 0.1, 0), r"differences\[1\] has 1 NaN"),
        (lambda: bayesian_hierarchical([[1, 2], [2, 3]], 1, 0), r"rho=1 must be in \[0, 1\)"),
        (lambda: bayesian_hierarchical([[1, 2], [2, 3]], 0.1, 0, confidence=95), "confidence=95 must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_fewer_than_six_blocks_are_said_to_agree_by_chance():
    few, enough = (bayesian_signed_ranks(np.arange(n) + 0.3, np.arange(n)) for n in (2, 6))
    assert "50 %" in str(few) and "too few" not in str(enough)
