import numpy as np
import pytest
from scipy.stats import chi2

from foldshift.inference.comparisons import nadeau_bengio
from foldshift.inference.repetitions import recommend_repetitions, variance_ratio


def test_the_recommendation_is_the_formula():
    estimates = np.array([0.80, 0.82, 0.81, 0.79, 0.83])  # variance .00025
    found = recommend_repetitions(estimates, theta=0.001, eps=0.2)
    assert found.partition_variance == pytest.approx(0.00025, rel=1e-12)
    assert (found.mean, found.rho, found.most_gain) == (pytest.approx(0.81), pytest.approx(0.75), pytest.approx(0.25))
    assert found.repetitions == 7  # .25 / .04 = 6.25
    assert (found.partition_low, found.partition_high) == pytest.approx((0.001 / chi2.ppf(0.975, 4), 0.001 / chi2.ppf(0.025, 4)))
    assert (found.rho_low, found.rho_high) == pytest.approx((1 - found.partition_high * 1000, 1 - found.partition_low * 1000))
    assert found.repetitions_low <= found.repetitions <= found.repetitions_high
    assert found.repetitions_high == int(np.ceil(found.partition_high * 1000 / 0.04))
    assert (found.theta, found.theta_from, found.n_partitions) == (0.001, "given", 5)


def test_a_whole_number_of_repetitions_is_not_rounded_up_by_the_last_bit():
    for tenth in range(1, 10):
        estimates = np.array([-1.0, 1.0]) * (tenth / 20) ** 0.5  # variance tenth / 10, theta 1
        assert recommend_repetitions(estimates, theta=1.0, eps=0.1).repetitions == 10 * tenth


def test_the_partition_noise_left_after_the_recommendation_is_what_was_asked_for():
    rng = np.random.default_rng(0)
    for eps in (0.05, 0.1, 0.5):
        found = recommend_repetitions(rng.normal(0.8, 0.02, 30), theta=0.001, eps=eps)
        assert found.partition_variance / found.repetitions <= eps**2 * found.theta * (1 + 1e-9)
        if found.repetitions > 1:
            assert found.partition_variance / (found.repetitions - 1) > eps**2 * found.theta


def test_theta_from_the_folds_is_nadeau_and_bengios():
    scores = np.random.default_rng(1).normal(0.8, 0.05, (6, 10))
    found = recommend_repetitions(scores)
    each = [nadeau_bengio(row, 9, 1).standard_error ** 2 for row in scores]
    assert found.theta == pytest.approx(np.mean(each), rel=1e-12) and found.theta_from == "corrected"
    sized = recommend_repetitions(scores, n_train=80, n_test=20)
    assert sized.theta == pytest.approx(np.mean([nadeau_bengio(row, 4, 1).standard_error ** 2 for row in scores]), rel=1e-12)


def test_the_curve_falls_from_one_to_rho_and_no_further():
    r = np.array([1, 2, 10, 100, np.inf])
    assert variance_ratio(r, 0.812) == pytest.approx([1, 0.906, (1 + 9 * 0.812) / 10, 0.81388, 0.812], rel=1e-12)
    assert round(variance_ratio(10, 0.812), 3) == 0.831  # Wong's claim is 1; the stump of the specification: .830
    found = recommend_repetitions(np.random.default_rng(2).normal(size=20), theta=4.0)
    assert found.curve(10) == variance_ratio(10, found.rho)
    assert found.curve(np.inf) == found.rho == pytest.approx(1 - found.most_gain)


def test_the_curve_is_what_averaging_correlated_estimates_does():
    """Estimates = effect of the data set + effect of the partition: rho is the data set's share of the variance."""
    rng = np.random.default_rng(3)
    estimates = rng.normal(0, 0.9, (40000, 1)) + rng.normal(0, (1 - 0.81) ** 0.5, (40000, 10))
    measured = estimates.mean(axis=1).var() / estimates[:, 0].var()
    assert measured == pytest.approx(variance_ratio(10, 0.81), abs=0.015)
    spread = [recommend_repetitions(row, theta=1.0).partition_variance for row in estimates[:400]]
    assert np.mean(spread) == pytest.approx(0.19, abs=0.015)


def test_the_interval_of_the_partition_variance_covers_it():
    rng = np.random.default_rng(4)
    found = [recommend_repetitions(rng.normal(0, 0.5, 5), theta=1.0) for _ in range(1000)]
    assert np.mean([f.partition_low <= 0.25 <= f.partition_high for f in found]) == pytest.approx(0.95, abs=0.02)


def test_neither_unit_nor_origin_matters():
    scores = np.random.default_rng(5).normal(0.8, 0.05, (6, 10))
    one, other = recommend_repetitions(scores), recommend_repetitions(100 * scores + 3)
    assert other.rho == pytest.approx(one.rho, rel=1e-9) and other[10:13] == one[10:13]


def test_partitions_that_all_agree_need_no_repetition():
    loo = recommend_repetitions(np.tile(np.random.default_rng(6).integers(0, 2, 40), (3, 1)).astype(float))
    assert (loo.partition_variance, loo.rho, loo.repetitions, loo.repetitions_high, loo.most_gain) == (0, 1, 1, 1, 0)
    constant = recommend_repetitions(np.full((4, 5), 0.1))
    assert (constant.theta, constant.repetitions) == (0, 1) and np.isnan(constant.rho)
    assert "recommended repetitions    1" in str(constant)


def test_a_theta_that_is_too_small_is_said_and_not_clipped():
    found = recommend_repetitions([0.7, 0.9, 0.8], theta=0.005)
    assert found.rho == pytest.approx(-1) and "theta is too small" in found.note and "theta is too small" in str(found)


def test_the_text_says_that_repetitions_are_not_independent():
    text = str(recommend_repetitions(np.random.default_rng(7).normal(0.8, 0.05, (12, 10))))
    assert "repetitions are not independent" in text and "recommended repetitions" in text and "note" not in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recommend_repetitions([[0.8, 0.9, 0.7]]), "1 partition; two partitions of the same data are needed"),
        (lambda: recommend_repetitions([0.8], theta=1), "1 partition; two partitions"),
        (lambda: recommend_repetitions([]), r"shape \(0,\)"),
        (lambda: recommend_repetitions(np.zeros((2, 2, 2))), r"shape \(2, 2, 2\)"),
        (lambda: recommend_repetitions([0.8, 0.9]), "give theta"),
        (lambda: recommend_repetitions([[0.8], [0.9]]), "give theta"),
        (lambda: recommend_repetitions([[0.8, np.nan], [0.9, 0.7]]), r"1 NaN or infinite values, the first at \(0, 1\)"),
        (lambda: recommend_repetitions([0.8, 0.9], theta=-0.1), "theta=-0.1 must be a variance"),
        (lambda: recommend_repetitions([0.8, 0.9], theta=0), "theta is 0 although"),
        (lambda: recommend_repetitions([[0.8, 0.9], [0.7, 0.9]], n_train=9), "n_train=9 and n_test=None must both"),
        (lambda: recommend_repetitions([0.8, 0.9], theta=1, eps=0), "eps=0 must be larger than 0"),
        (lambda: recommend_repetitions([0.8, 0.9], theta=1, level=1), "level=1 must be between"),
        (lambda: variance_ratio(0, 0.5), "repetitions=0 must be 1 or more"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
