"""Wong's claims, on a small simulator of the specification's models without sources (section 2c, N = 100, K = M = 10)."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from foldshift.inference.intervals.accuracy import accuracy_interval
from foldshift.inference.simulation.wong_claims import (
    CLAIMS,
    dropping_bias,
    fold_independence,
    repetition,
    scheme_independence,
)

K = M = 10
N = K * M
R = 2000
MODELS = {
    "centroid": ("centroid", np.full(20, 0.25)),
    "stump": ("stump", np.linspace(0.2, 0.6, 20)),
    "highdim": ("centroid", np.full(200, 0.08)),
}


def draw(n_datasets, delta, rng):
    """Points x ~ N(y delta, I) of n_datasets data sets, 50 of each class; the first 50 are of class +1."""
    y = np.repeat([1, -1], N // 2)
    return rng.standard_normal((n_datasets, N, len(delta))) + y[:, None] * delta, y


def one_partition(x, y, rule, rng):
    """Losses (n_datasets, N) of random 10-fold cross-validation, in the order of the instances."""
    folds = rng.permuted(np.tile(np.repeat(np.arange(K), M), (len(x), 1)), axis=1)
    member = (folds[:, None, :] == np.arange(K)[:, None]).astype(float)  # (R, K, N)
    means = []
    for label in (1, -1):
        inside = member * (y == label)
        sums, counts = inside @ x, inside.sum(axis=2)
        means.append((sums.sum(axis=1, keepdims=True) - sums) / (counts.sum(axis=1, keepdims=True) - counts)[..., None])
    difference, middle = means[0] - means[1], (means[0] + means[1]) / 2
    if rule == "stump":
        best = np.abs(difference).argmax(axis=2)
        difference = np.where(np.arange(x.shape[2]) == best[..., None], difference, 0)
    scores = x @ difference.transpose(0, 2, 1) - (difference * middle).sum(axis=2)[:, None]  # (R, N, K)
    score = np.take_along_axis(scores, folds[..., None].astype(np.int64), axis=2)[..., 0]
    return (np.sign(score) != y), folds


def simulate(model, n_partitions, n_datasets=R, seed=1):
    """Losses (R, r, N) and folds (R, r, N)."""
    rule, delta = MODELS[model]
    rng = np.random.default_rng(seed)
    losses, folds = [], []
    for _ in range(n_datasets // 200):
        x, y = draw(200, delta, rng)
        cuts = [one_partition(x, y, rule, rng) for _ in range(n_partitions)]
        losses.append(np.stack([cut[0] for cut in cuts], axis=1))
        folds.append(np.stack([cut[1] for cut in cuts], axis=1))
    return np.concatenate(losses), np.concatenate(folds)


def by_fold(losses, folds):
    """(R, N) losses in the order of the instances to (R, K, M)."""
    return np.take_along_axis(losses, np.argsort(folds, axis=1, kind="stable"), axis=1).reshape(-1, K, M)


@pytest.fixture(scope="module")
def simulated():
    return {model: simulate(model, 1 if model == "highdim" else 10) for model in MODELS}


@pytest.mark.parametrize(
    ("model", "share", "coverage"), [("centroid", 0.98, 0.94), ("highdim", 0.65, 0.88), ("stump", 0.52, 0.83)]
)
def test_wongs_variance_is_the_sigma_term_alone_and_covers_accordingly(simulated, model, share, coverage):
    losses, folds = simulated[model]
    measured = fold_independence(by_fold(losses[:, 0], folds[:, 0]))
    assert measured["sigma_share"].value == pytest.approx(share, abs=0.10)
    assert measured["coverage_within"].value == pytest.approx(coverage, abs=0.025)
    assert measured["sigma_share"].standard_error < 0.04 and measured["coverage_within"].standard_error < 0.015
    parts = [measured[f"{name}_share"].value for name in ("sigma", "omega", "gamma")]
    assert sum(parts) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(("model", "ratio"), [("stump", 0.830), ("centroid", 0.909)])
def test_repeating_reduces_the_variance(simulated, model, ratio):
    measured = repetition(simulated[model][0])
    value, error = measured["variance_ratio"]
    assert value == pytest.approx(ratio, abs=0.10)  # the specification's tolerance for ratios
    assert error < 0.005 and value < 1 - 10 * error
    rho = measured["rho"].value
    assert value == pytest.approx((1 + 9 * rho) / 10, rel=1e-12) and rho < value
    assert measured["coverage_counted"].value < measured["coverage_1"].value - 0.2


def test_the_stumps_ratio_and_correlation_are_within_their_monte_carlo_error(simulated):
    measured = repetition(simulated["stump"][0])
    for quantity, expected in (("variance_ratio", 0.830), ("rho", 0.812)):
        value, error = measured[quantity]
        assert abs(value - expected) < 3 * error


def test_the_coverage_over_the_data_set_jumps_as_the_truth_crosses_the_end_of_an_interval():
    losses = np.random.default_rng(0).random((R, K, M)) < 0.3
    end = accuracy_interval([60], N, method="normal").high
    below, above = (fold_independence(losses, truth=end + step)["coverage_dataset"].value for step in (-1e-9, 1e-9))
    assert below - above == pytest.approx((losses.sum(axis=(1, 2)) == 40).mean(), abs=1e-12)
    assert below - above > 0.005


def test_two_learners_fail_on_the_same_instances():
    """A centroid and a stump have different representations, and yet depend on each other."""
    rng = np.random.default_rng(3)
    a, b = [], []
    for _ in range(R // 200):
        x, y = draw(200, MODELS["stump"][1] / 2, rng)
        a.append(one_partition(x, y, "centroid", rng)[0])
        b.append(one_partition(x, y, "stump", rng)[0])
    measured = scheme_independence(np.concatenate(a), np.concatenate(b))
    assert measured["phi"].value > 20 * measured["phi"].standard_error > 0
    assert measured["zero"].value > measured["zero_product"].value + 0.02
    assert measured["minus"].value + measured["zero"].value + measured["plus"].value == pytest.approx(1, rel=1e-12)
    ratio = measured["independent_ratio"].value / measured["matched_ratio"].value
    assert ratio > 1.05  # Theorem 3's variance leaves out the covariance


def test_two_partitions_of_one_learner_are_far_from_independent(simulated):
    losses = simulated["stump"][0]
    measured = scheme_independence(losses[:, 0], losses[:, 1])
    assert measured["phi"].value > 0.3
    assert measured["covariance"].value > 10 * measured["covariance"].standard_error
    assert measured["independent_ratio"].value > 1.2


def test_the_numbers_of_two_learners_are_those_of_their_table_of_losses():
    rng = np.random.default_rng(0)
    common = rng.random((60, 8))
    a, b = (common < 0.3), (common < 0.5) ^ (rng.random((60, 8)) < 0.1)
    measured = scheme_independence(a, b)
    x_a, x_b = 1 - a.astype(int), 1 - b.astype(int)
    y = x_a - x_b
    assert measured["phi"].value == pytest.approx(np.corrcoef(x_a.ravel(), x_b.ravel())[0, 1], rel=1e-9)
    for name, value in (("minus", -1), ("zero", 0), ("plus", 1)):
        assert measured[name].value == pytest.approx((y == value).mean(), rel=1e-9)
    p_a, p_b = x_a.mean(), x_b.mean()
    for name, value in (("minus", (1 - p_a) * p_b), ("zero", p_a * p_b + (1 - p_a) * (1 - p_b)), ("plus", p_a * (1 - p_b))):
        assert measured[f"{name}_product"].value == pytest.approx(value, rel=1e-9)
    theta = y.mean(axis=1).var(ddof=1)
    assert measured["matched_ratio"].value == pytest.approx(y.var(axis=1, ddof=1).mean() / 8 / theta, rel=1e-9)
    assert measured["independent_ratio"].value == pytest.approx((x_a.var(axis=1) + x_b.var(axis=1)).mean() / 8 / theta, rel=1e-9)


def test_independent_losses_agree_with_every_claim():
    rng = np.random.default_rng(0)
    losses = rng.random((R, 4, K, M)) < 0.3
    folds = fold_independence(losses[:, 0], truth=0.7)
    for quantity, expected in (("sigma_share", 1), ("omega_share", 0), ("gamma_share", 0), ("variance", 0.21 / N)):
        assert abs(folds[quantity].value - expected) < 4 * folds[quantity].standard_error
    assert folds["coverage_dataset"].value == pytest.approx(0.95, abs=0.025)
    flat = losses.reshape(R, 4, N)
    pair = scheme_independence(flat[:, 0], flat[:, 1])
    for quantity, expected in (("phi", 0), ("independent_ratio", 1), ("matched_ratio", 1)):
        assert abs(pair[quantity].value - expected) < 4 * pair[quantity].standard_error
    repeated = repetition(flat)
    assert abs(repeated["rho"].value) < 4 * repeated["rho"].standard_error
    assert repeated["coverage_counted"].value == pytest.approx(0.95, abs=0.025)


def test_the_shares_are_those_of_the_whole_covariance_matrix():
    losses = (np.random.default_rng(0).random((40, 3, 4)) < np.random.default_rng(1).random((40, 3, 1))).astype(int)
    covariance = np.cov(losses.reshape(40, 12).T)
    same_fold = np.kron(np.eye(3), np.ones((4, 4)))
    theta, diagonal = covariance.mean(), np.cov(losses.mean(axis=2).T).diagonal().mean()
    measured = fold_independence(losses)
    assert measured["variance"].value == pytest.approx(theta, rel=1e-9)
    between = (covariance * (1 - same_fold)).sum() / 144
    assert measured["gamma_share"].value == pytest.approx(between / theta, rel=1e-9)
    p = losses.mean()
    within = diagonal / 3 - p * (1 - p) / 12
    assert measured["omega_share"].value == pytest.approx(within / theta, rel=1e-9)


def test_the_jackknife_gives_the_error_of_a_mean():
    losses = np.random.default_rng(0).random((R, 2, 5)) < 0.4
    error = scheme_independence(losses[:, 0], losses[:, 1])["accuracy_a"].standard_error
    assert error == pytest.approx(losses[:, 0].mean(axis=1).std(ddof=1) / np.sqrt(R), rel=0.35)


@pytest.mark.parametrize(("p", "m", "bias"), [("0.95", 100, -0.0151), ("0.90", 40, -0.0499)])
def test_dropping_folds_biases_the_mean(p, m, bias):
    """Against the sum in rational numbers, of which the specification gives four decimals (cut off, not rounded)."""
    exact_p = Fraction(p)
    weights = {r: comb(m, r) * exact_p**r * (1 - exact_p) ** (m - r) for r in range(5, m - 4)}
    expected = sum(w * Fraction(r, m) for r, w in weights.items()) / sum(weights.values()) - exact_p
    result = dropping_bias(float(p), m, 10)
    assert result.bias == pytest.approx(float(expected), abs=1e-12)
    assert result.fold_kept == pytest.approx(float(sum(weights.values())), rel=1e-9)
    assert result.none_kept == pytest.approx(float((1 - sum(weights.values())) ** 10), rel=1e-9)
    assert int(result.bias * 10_000) / 10_000 == bias
    assert result.bias_keeping_all == pytest.approx(0, abs=1e-12)


def test_the_bias_from_dropping_is_symmetric_in_right_and_wrong():
    assert dropping_bias(0.5, 20, 10).bias == pytest.approx(0, abs=1e-12)
    assert dropping_bias(0.05, 100, 10).bias == pytest.approx(-dropping_bias(0.95, 100, 10).bias, rel=1e-9)


def test_the_exact_bias_is_that_of_the_interval_that_drops():
    rng = np.random.default_rng(0)
    r = rng.binomial(40, 0.9, (20_000, 10))
    estimates = accuracy_interval(r, 40, small_folds="drop").estimate
    exact = dropping_bias(0.9, 40, 10)
    left = ~np.isnan(estimates)
    assert (~left).mean() == pytest.approx(exact.none_kept, abs=4 * np.sqrt(exact.none_kept / 20_000))
    error = estimates[left].std() / np.sqrt(left.sum())
    assert abs(estimates[left].mean() - 0.9 - exact.bias) < 4 * error


def test_every_claim_names_a_quantity_that_its_function_measures():
    losses = np.random.default_rng(0).random((50, 3, 6)) < 0.3
    results = {
        "fold_independence": fold_independence(losses),
        "scheme_independence": scheme_independence(losses[:, 0], losses[:, 1]),
        "repetition": repetition(losses),
        "dropping_bias": dropping_bias(0.9, 40, 10)._asdict(),
    }
    for claim in CLAIMS:
        assert claim.quantity in results[claim.function]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fold_independence(np.zeros((5, 4))), r"losses has shape \(5, 4\); expected \(R, K, M\) with at least 2"),
        (lambda: fold_independence(np.zeros((5, 4, 1))), r"expected \(R, K, M\) with at least 2 along each axis"),
        (lambda: fold_independence(np.full((5, 4, 3), 0.5)), "losses must hold 0 .right. and 1 .wrong. only, got 0.5"),
        (lambda: fold_independence(np.zeros((5, 4, 3))), "losses does not vary between data sets"),
        (lambda: repetition(np.zeros((5, 1, 3))), r"expected \(R, r, N\)"),
        (lambda: repetition(np.zeros((5, 2, 3))), "losses does not vary between data sets"),
        (lambda: scheme_independence(np.zeros((5, 4)), np.zeros((5, 3))), r"shapes \(5, 4\) and \(5, 3\)"),
        (
            lambda: scheme_independence(np.full((5, 4), np.nan), np.zeros((5, 4))),
            "losses_a must hold 0 .right. and 1 .wrong. only, got nan",
        ),
        (lambda: dropping_bias(1.0, 40, 10), "p=1.0 must be between 0 and 1"),
        (lambda: dropping_bias(0.9, 9, 10), "m=9 must be at least 10"),
        (lambda: dropping_bias(0.9, 40, 0), "k=0 must be at least 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
