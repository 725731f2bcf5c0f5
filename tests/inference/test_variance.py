"""Estimators of the variance of a cross-validation estimate: identities, definitions, edge cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.inference.repetitions.variance import (
    ESTIMATORS,
    cv_variance,
    estimator_from_bias,
    theta_gam_kl,
    theta_om_k,
    variance_components,
)


def by_definition(e):
    """Moments and estimators as the paper defines them, with all pairs of rows."""
    K, M = e.shape
    N = K * M
    s_sig = np.array([np.mean(row**2) for row in e])
    s_om = np.array([sum(row[i] * row[j] for i in range(M) for j in range(M) if i != j) / (M * (M - 1)) for row in e])
    s_gam = np.array([[np.mean(np.outer(a, b)) for b in e] for a in e])
    between = ~np.eye(K, dtype=bool)
    s1, s2, s3 = s_sig.mean(), s_om.mean(), s_gam[between].mean()
    quad = s_sig.sum() / (K**2 * M) + (M - 1) / (K**2 * M) * s_om.sum() + s_gam[between].sum() / K**2
    return {
        "s1": s1,
        "s2": s2,
        "s3": s3,
        "theta_om_k": quad - s_om,
        "theta_gam_kl": quad - s_gam,
        "theta_om": s_sig.sum() / (K**2 * M) + (M - 1 - K * M) / (K**2 * M) * s_om.sum() + s_gam[between].sum() / K**2,
        "theta_gamma": s_sig.sum() / (K**2 * M) + (M - 1) / (K**2 * M) * s_om.sum() - s_gam[between].sum() / (K**2 * (K - 1)),
        "theta_A": (s_sig.sum() - s_om.sum()) / (K**2 * M),
        "theta_B": 2 * (s_sig.sum() - s_om.sum()) / (K**2 * M),
        "theta_1": s1 / N + (M - 1) / N * s2 + (N - M) / N * s3,
        "theta_2": s1 / N - (N + 1 - M) / N * s2 + (N - M) / N * s3,
        "theta_3": s1 / N + (M - 1) / N * s2 - M / N * s3,
        "theta_4": (s1 - s2) / N,
        "theta_5": s1 / N + (N + M - 1) / N * s2 - (N + M) / N * s3,
    }


losses_2d = st.tuples(
    st.integers(2, 6), st.integers(2, 7), st.integers(0, 10**6), st.sampled_from(["0/1", "squared", "far from 0"])
).map(lambda case: make_losses(*case))


def make_losses(K, M, seed, kind):
    rng = np.random.default_rng(seed)
    if kind == "0/1":
        return rng.integers(0, 2, (K, M)).astype(float)
    return rng.standard_normal((K, M)) ** 2 + (100.0 if kind == "far from 0" else 0.0)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(losses_2d)
def test_every_estimator_is_the_paper_s_sum_over_pairs(e):
    v, expected = cv_variance(e), by_definition(e)
    scale = 1e-12 * (1 + v.theta_1)
    for name in ("s1", "s2", "s3", *ESTIMATORS):
        assert getattr(v, name) == pytest.approx(expected[name], rel=1e-12, abs=scale), name
    np.testing.assert_allclose(theta_om_k(e), expected["theta_om_k"], rtol=1e-12, atol=scale)
    off = ~np.eye(len(e), dtype=bool)
    pairs = theta_gam_kl(e)
    assert np.isnan(pairs.diagonal()).all()
    np.testing.assert_allclose(pairs[off], expected["theta_gam_kl"][off], rtol=1e-12, atol=scale)
    assert theta_om_k(e).mean() == pytest.approx(v.theta_om, rel=1e-12, abs=scale)
    assert pairs[off].mean() == pytest.approx(v.theta_gamma, rel=1e-12, abs=scale)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(losses_2d)
def test_the_estimators_collapse_to_two_numbers(e):
    v = cv_variance(e)
    K, M = e.shape
    W, S2 = e.var(axis=1, ddof=1).mean(), e.mean(axis=1).var(ddof=1)
    near = {"rel": 1e-12, "abs": 1e-12 * (1 + v.theta_1)}
    assert (pytest.approx(W, **near), pytest.approx(S2, **near)) == (v.W, v.S2)
    assert (v.K, v.M) == (K, M)
    assert v.theta_gamma == v.theta_3 == pytest.approx(S2 / K, **near)
    assert v.theta_A == v.theta_4 == pytest.approx(W / (K * M), **near)
    assert v.theta_B == pytest.approx(2 * W / (K * M), **near)
    assert v.theta_5 == pytest.approx((1 + 1 / K) * S2 - W / M, **near)
    assert v.theta_om == v.theta_2 == pytest.approx(v.mean**2 - v.s2, **near)
    assert v.theta_5 == pytest.approx(v.theta_3 + v.s2 - v.s3, **near)
    assert v.theta_1 == pytest.approx(e.mean() ** 2, **near)
    if set(np.unique(e)) <= {0.0, 1.0}:
        p = e.mean(axis=1)
        assert pytest.approx((M * p * (1 - p) / (M - 1)).mean(), **near) == v.W


BIASES = {"theta_1": (0, 0, 0), "theta_2": (0, -1, 0), "theta_3": (0, 0, -1), "theta_5": (0, 1, -2)}


@settings(deadline=None, max_examples=40, derandomize=True)
@given(losses_2d)
def test_an_estimator_from_its_bias_recovers_the_named_ones(e):
    v = cv_variance(e)
    K = len(e)
    for name, bias in (BIASES | {"theta_4": (0, -1 / K, -(K - 1) / K)}).items():
        assert estimator_from_bias(*bias)(e) == pytest.approx(getattr(v, name), rel=1e-12, abs=1e-12 * (1 + v.s1)), name


def test_an_estimator_has_the_bias_that_was_asked_for():
    # Exact expectation over all 0/1 losses of 2 x 2 with a common cause: each fold errs with probability .2 or .6.
    outcomes = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T.reshape(-1, 2, 2)
    weights = sum(
        0.25 * np.where(outcomes[:, 0], p, 1 - p).prod(axis=1) * np.where(outcomes[:, 1], q, 1 - q).prod(axis=1) for p, q in PAIRS
    )
    assert weights.sum() == pytest.approx(1)
    mean = (outcomes * weights[:, None, None]).sum(axis=0)
    mu = mean[0, 0]
    assert mean == pytest.approx(mu)
    product = lambda a, b: (outcomes[:, a[0], a[1]] * outcomes[:, b[0], b[1]] * weights).sum() - mu**2  # noqa: E731
    sigma, omega, gamma = product((0, 0), (0, 0)), product((0, 0), (0, 1)), product((0, 0), (1, 0))
    theta = sigma / 4 + omega / 4 + gamma / 2
    for a1, a2, a3 in [(0.3, -0.2, 0.5), (0, 1, -2), (-0.25, -0.25, -0.5)]:
        expected = (estimator_from_bias(a1, a2, a3)(outcomes) * weights).sum()
        a4 = 1 + a1 + a2 + a3
        assert expected - theta == pytest.approx(a1 * sigma + a2 * omega + a3 * gamma + a4 * mu**2, abs=1e-14)


PAIRS = [(0.2, 0.2), (0.6, 0.6), (0.2, 0.6), (0.6, 0.2)]


def test_leading_axes_are_separate_data_sets():
    e = np.random.default_rng(3).integers(0, 2, (4, 3, 5, 6))
    many = cv_variance(e)
    for index in np.ndindex(4, 3):
        one = cv_variance(e[index])
        for name in ("mean", "mean_micro", "W", "S2", "s1", "s2", "s3", *ESTIMATORS):
            assert getattr(many, name)[index] == getattr(one, name), name
        assert {name for name in ESTIMATORS if many.negative[name][index]} == set(one.negative)
        np.testing.assert_array_equal(theta_om_k(e)[index], theta_om_k(e[index]))
        np.testing.assert_array_equal(theta_gam_kl(e)[index], theta_gam_kl(e[index]))
        assert estimator_from_bias(0, 1, -2)(e)[index] == estimator_from_bias(0, 1, -2)(e[index])


def test_negative_estimates_are_returned_and_named_not_clipped():
    e = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])  # equal fold means: S2 = 0, W = 1/3
    v = cv_variance(e)
    assert v.negative == ("theta_5",)
    assert v.theta_5 == pytest.approx(-1 / 12) and v.theta_3 == 0
    apart = cv_variance([[0, 0], [1, 1]])  # S2 = 1/2, W = 0
    assert apart.negative == ("theta_om", "theta_2")
    assert apart.theta_om == -0.25 and apart.theta_5 == 0.75


def test_unequal_sizes_give_the_variance_of_the_mean_of_source_means():
    rng = np.random.default_rng(5)
    e = [rng.random(n) for n in (2, 5, 9)]
    v = cv_variance(e)
    means, within = [np.mean(x) for x in e], [np.var(x, ddof=1) for x in e]
    assert v.mean == pytest.approx(np.mean(means)) and v.mean_micro == pytest.approx(np.concatenate(e).mean())
    assert v.mean != pytest.approx(v.mean_micro)
    assert (v.K, v.M.tolist()) == (3, [2, 5, 9])
    assert v.theta_gamma == pytest.approx(np.var(means, ddof=1) / 3)
    assert v.theta_A == pytest.approx((within[0] / 2 + within[1] / 5 + within[2] / 9) / 9)
    assert v.theta_B == pytest.approx(2 * v.theta_A)
    assert v.theta_om == pytest.approx(v.mean**2 - v.s2) == pytest.approx(theta_om_k(e).mean())
    assert v.s1 == pytest.approx(np.mean([np.mean(x**2) for x in e]))
    assert v.s2 == pytest.approx(np.mean([(x.sum() ** 2 - (x**2).sum()) / (len(x) * (len(x) - 1)) for x in e]))
    assert all(np.isnan(getattr(v, f"theta_{i}")) for i in (1, 2, 3, 4, 5))
    assert v.theta_om < 0 and v.negative == ("theta_om",)
    with pytest.raises(ValueError, match="folds of losses hold 2 to 9 rows; an estimator from its bias needs equal sizes"):
        estimator_from_bias(0, 0, 0)(e)


def test_a_sequence_of_equal_sizes_is_the_same_as_an_array():
    e = np.random.default_rng(6).random((4, 7))
    assert cv_variance(list(e)) == cv_variance(e) == cv_variance(e.tolist())


def test_unequal_sizes_tend_to_the_balanced_result():
    """One row more in one fold, equal to that fold's mean, moves the estimates by the order of 1/M only."""
    e = np.random.default_rng(7).random((3, 4000))
    balanced, unequal = cv_variance(e), cv_variance([np.append(e[0], e[0].mean()), e[1], e[2]])
    for name in ("mean", "mean_micro", "theta_gamma", "theta_A", "theta_om", "s1", "s2", "s3"):
        assert getattr(unequal, name) == pytest.approx(getattr(balanced, name), rel=1e-3), name


@pytest.mark.parametrize("value", [0, 1, 0.1, 1e6 + 0.3])
def test_a_constant_loss_has_no_variance(value):
    v = cv_variance(np.full((3, 7), value))
    assert v.W == v.S2 == 0 and v.negative == ()
    assert all(getattr(v, name) == 0 for name in ESTIMATORS if name != "theta_1")
    assert v.mean == pytest.approx(value) and v.theta_1 == pytest.approx(value**2)
    unequal = cv_variance([np.full(3, value), np.full(5, value)])
    assert unequal.theta_A == unequal.theta_gamma == unequal.theta_om == 0 and unequal.negative == ()


def test_sources_of_one_row_have_no_pairs_within():
    v = cv_variance([[0.0], [1.0], [5.0]])
    assert v.theta_gamma == v.theta_3 == pytest.approx(7 / 3)
    assert v.theta_1 == 4 and v.s1 == pytest.approx(26 / 3) and v.s3 == pytest.approx(5 / 3)
    for name in ("W", "s2", "theta_om", "theta_A", "theta_B", "theta_2", "theta_4", "theta_5"):
        assert np.isnan(getattr(v, name)), name
    assert v.negative == ()
    assert np.isnan(theta_om_k([[0.0], [1.0]])).all()
    assert estimator_from_bias(0, 0, -1)([[0.0], [1.0], [5.0]]) == pytest.approx(7 / 3)
    one_of_them = cv_variance([[1.0], [2.0, 3.0]])
    assert np.isnan(one_of_them.theta_A) and one_of_them.theta_gamma == pytest.approx(0.5625)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([[0, 1, 1]], "losses has 1 fold; a variance needs at least two folds or sources"),
        ([], r"losses has shape \(0,\); expected \(..., folds, rows\) or one array of losses for every fold"),
        ([0, 1, 1], r"losses has shape \(3,\); expected \(..., folds, rows\) or one array of losses for every fold"),
        (np.zeros((3, 0)), r"losses has shape \(3, 0\): its folds hold no rows; every fold needs at least one"),
        ([[1, 2], []], "fold 1 of losses holds no rows; every fold needs at least one"),
        (
            [[0, np.nan], [np.nan, 1]],
            r"losses has 2 values that are NaN or infinite, the first at index \(0, 1\); every loss must be",
        ),
        (np.full((2, 2, 2), np.inf), r"losses has 8 values that are NaN or infinite, the first at index \(0, 0, 0\)"),
        ([[0, 1], [1, 0, np.nan]], "losses has 1 value that is NaN or infinite, the first at fold 1, row 2"),
        ([[[0, 1]], [1, 2, 3]], r"losses has folds of shapes \(1, 2\), \(3,\); folds of unequal sizes must be one-dimensional"),
    ],
)
def test_bad_losses_are_refused(losses, message):
    with pytest.raises(ValueError, match=message):
        cv_variance(losses)


def test_components_sum_to_the_variance_of_the_mean():
    rng = np.random.default_rng(8)
    e = (rng.random((300, 4, 1, 1)) + rng.standard_normal((300, 1, 1, 1)) + rng.standard_normal((300, 4, 6, 1)))[..., 0]
    for design in ("cvs", "cvr"):
        v = variance_components(e, design)
        C = np.cov(e.mean(axis=2), rowvar=False)
        assert v.theta == v.sigma_term + v.omega_term + v.gamma_term == pytest.approx(C.mean(), rel=1e-13)
        assert v.theta == pytest.approx(e.mean(axis=(1, 2)).var(ddof=1), rel=1e-12)
        off = ~np.eye(4, dtype=bool)
        np.testing.assert_allclose(v.gamma[off], C[off], rtol=1e-13)
        assert np.isnan(v.gamma.diagonal()).all() and v.sigma.shape == v.omega.shape == (4,)
    assert variance_components(e, "cvs").pooled is None
    sig, om, gam = v.pooled
    assert sig / 24 + 5 / 24 * om + 3 / 4 * gam == pytest.approx(v.theta, rel=1e-13)


def test_components_are_unbiased():
    """Exact expectation over all 2^8 pairs (R = 2) of 2 x 2 losses, of the model with a common cause."""
    outcomes = np.array(np.meshgrid(*[[0, 1]] * 8)).reshape(8, -1).T.reshape(-1, 2, 2, 2)
    likelihood = lambda e, p: np.where(e, p, 1 - p).prod(axis=-1)  # noqa: E731
    weight = np.ones(len(outcomes))
    for r in range(2):
        weight *= sum(
            0.25 * likelihood(outcomes[:, r, 0], p) * likelihood(outcomes[:, r, 1], q / 2) for p, q in [*PAIRS[:3], (0.2, 0.2)]
        )
    found = [variance_components(e, "cvs") for e in outcomes]
    expected = sum(w * np.array([*v.sigma, *v.omega, v.gamma[0, 1]]) for w, v in zip(weight, found))
    p, q = np.array([0.2, 0.6, 0.2, 0.2]), np.array([0.2, 0.6, 0.6, 0.2]) / 2
    exact = [p.mean() * (1 - p.mean()), q.mean() * (1 - q.mean()), p.var(), q.var(), np.cov(p, q, ddof=0)[0, 1]]
    np.testing.assert_allclose(expected, exact, atol=1e-14)


def test_the_variance_of_a_0_1_loss_follows_from_its_mean():
    e = np.random.default_rng(9).integers(0, 2, (500, 3, 8))
    v, p = variance_components(e, "cvs"), e.mean(axis=(0, 2))
    np.testing.assert_allclose(v.sigma, p * (1 - p) + e.mean(axis=2).var(axis=0, ddof=1) / 500, rtol=1e-12)


def test_components_of_folds_of_one_row():
    e = np.random.default_rng(10).random((50, 3, 1))
    v = variance_components(e, "cvs")
    np.testing.assert_allclose(v.sigma, e[..., 0].var(axis=0, ddof=1), rtol=1e-12)
    assert np.isnan(v.omega).all() and v.omega_term == 0
    assert v.theta == pytest.approx(e.mean(axis=(1, 2)).var(ddof=1), rel=1e-12)


@pytest.mark.parametrize(
    ("losses", "design", "message"),
    [
        (np.zeros((5, 3, 2)), "CVS", "design='CVS' must be 'cvs' or 'cvr'"),
        (np.zeros((3, 2)), "cvs", r"losses has shape \(3, 2\); expected \(data sets, folds, rows\) with at least two data sets"),
        (np.zeros((1, 3, 2)), "cvr", r"losses has shape \(1, 3, 2\); expected"),
        ([[1, 2], [1, 2, 3]], "cvs", "losses has folds of unequal sizes; expected"),
        (np.zeros((5, 1, 2)), "cvs", "losses has 1 fold; a variance needs at least two folds or sources"),
    ],
)
def test_bad_arguments_of_the_decomposition_are_refused(losses, design, message):
    with pytest.raises(ValueError, match=message):
        variance_components(losses, design)
