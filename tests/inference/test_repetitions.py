import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.model_selection import KFold, RepeatedKFold

from foldshift.inference.repetitions.recommend import recommend_repetitions, variance_ratio
from foldshift.inference.simulation.repeated_model import simulate_repeated


def test_the_recommendation_is_the_formula():
    estimates = np.array([0.80, 0.82, 0.81, 0.79, 0.83])  # variance .00025
    found = recommend_repetitions(estimates, theta=0.001, eps=0.2)
    assert found.partition_variance == pytest.approx(0.00025, rel=1e-12) and found.fixed_variance == pytest.approx(0.00075)
    assert (found.mean, found.rho, found.most_gain) == (pytest.approx(0.81), pytest.approx(0.75), pytest.approx(0.25))
    assert found.plug_in == 9  # .25 / .75 / .04 = 8.33
    assert found.partition_bound == pytest.approx(0.001 / chi2.ppf(0.05, 4))  # half of the risk of one in ten
    assert found.repetitions == int(np.ceil(found.partition_bound / (0.04 * 0.00075)))
    assert (found.fixed_from, found.n_partitions, found.confidence, found.note) == ("given", 5, 0.9, "")


def test_a_whole_number_of_repetitions_is_not_rounded_up_by_the_last_bit():
    for tenth in range(1, 10):
        estimates = np.array([-1.0, 1.0, 0, 0, 0, 0]) * (tenth / 4) ** 0.5  # variance tenth / 10
        assert recommend_repetitions(estimates, theta=1 + tenth / 10, eps=0.1).plug_in == 10 * tenth


def test_the_partition_noise_left_after_the_recommendation_is_what_was_asked_for():
    rng = np.random.default_rng(0)
    for eps in (0.05, 0.1, 0.5):
        found = recommend_repetitions(rng.normal(0.8, 0.02, 30), theta=0.001, eps=eps)
        for variance, number in ((found.partition_bound, found.repetitions), (found.partition_variance, found.plug_in)):
            assert variance / number <= eps**2 * found.fixed_variance * (1 + 1e-9)
            assert number == 1 or variance / (number - 1) > eps**2 * found.fixed_variance


def test_what_repeating_cannot_remove_is_not_enlarged_by_the_overlap_of_training_sets():
    scores = np.random.default_rng(1).normal(0.8, 0.05, (6, 10))
    found = recommend_repetitions(scores)
    assert found.fixed_variance == pytest.approx(scores.var(axis=1, ddof=1).mean() / 10, rel=1e-12)
    assert found.fixed_from == "folds"


@pytest.mark.parametrize("model", ["centroid", "stump", "highdim"])
def test_the_promise_is_kept_in_nine_of_ten_studies(model):
    """Before: in 6 % (centroid), 45 % (stump) and 32 % (highdim) of them; at full size: `make validate WHAT=coverage`."""
    many = simulate_repeated(model, 10, 10, 1000, 2, np.random.default_rng(1)).losses.mean(axis=2)
    fixed = np.cov(many.T)[0, 1]
    studies = simulate_repeated(model, 10, 10, 60, 70, np.random.default_rng(2))
    kept = []
    for losses, folds in zip(studies.losses, studies.folds):
        scores = [np.bincount(f, weights=e) / 10 for e, f in zip(losses[:10], folds[:10])]
        found = recommend_repetitions(scores)
        kept.append(losses[10:].mean(axis=1).var(ddof=1) / found.repetitions <= 0.01 * fixed)
    assert np.mean(kept) >= 0.9


def test_two_repetitions_do_not_tell_and_it_is_said_in_words():
    found = recommend_repetitions(np.random.default_rng(0).normal(0.8, 0.05, (2, 10)))
    assert found.repetitions is None and found.plug_in is None and 0 <= found.rho <= 1
    text = str(found)
    assert "2 repetitions do not tell how far the estimate depends on the folds; repeat at least 5 times" in text
    assert "%" not in text and found.to_frame()["upper_bound"].isna().all()


def test_scores_are_read_as_scikit_learn_returns_them():
    scores = np.random.default_rng(1).normal(0.8, 0.05, (10, 5))
    expected = recommend_repetitions(scores)
    cv = RepeatedKFold(n_splits=5, n_repeats=10)
    for found in (
        recommend_repetitions(scores.ravel(), cv=cv),
        recommend_repetitions(scores.ravel(), n_splits=5),
        recommend_repetitions({"test_score": scores.ravel(), "fit_time": scores.ravel()}, cv=cv),
    ):
        assert found == expected


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


def test_the_bound_of_the_partition_variance_is_exceeded_in_half_of_the_risk():
    rng = np.random.default_rng(4)
    found = [recommend_repetitions(rng.normal(0, 0.5, 5), theta=1.0, confidence=0.8) for _ in range(1000)]
    assert np.mean([f.partition_bound >= 0.25 for f in found]) == pytest.approx(0.9, abs=0.03)


def test_neither_unit_nor_origin_matters():
    scores = np.random.default_rng(5).normal(0.8, 0.05, (6, 10))
    one, other = recommend_repetitions(scores), recommend_repetitions(100 * scores + 3)
    assert other.rho == pytest.approx(one.rho, rel=1e-9)
    assert (other.repetitions, other.plug_in) == (one.repetitions, one.plug_in)


def test_leave_one_out_needs_no_repetition_and_equal_scores_tell_nothing():
    loo = recommend_repetitions(np.tile(np.random.default_rng(6).integers(0, 2, 40), (3, 1)).astype(float))
    assert (loo.partition_variance, loo.rho, loo.repetitions, loo.plug_in, loo.most_gain) == (0, 1, 1, 1, 0)
    constant = recommend_repetitions(np.full((6, 5), 0.1))
    assert constant.repetitions is None and np.isnan(constant.rho) and "all scores are the same" in str(constant)
    assert recommend_repetitions(np.full(6, 0.1), theta=0.01).repetitions is None
    by_chance = recommend_repetitions([[0.8, 0.9], [0.85, 0.85]])  # the same mean, other folds
    assert by_chance.repetitions is None


def test_equal_estimates_allow_for_partitions_that_were_not_drawn():
    # one wrong row of a hundred, ten folds, another fold every time
    scores = np.ones((10, 10)) - 0.1 * np.eye(10)
    found = recommend_repetitions(scores, eps=0.1)
    unseen = 2 * (1 - 0.05 ** (1 / 10)) * 0.01**2
    assert found.partition_variance == 0 and found.partition_bound == pytest.approx(unseen)
    assert found.repetitions == int(np.ceil(unseen / (0.1**2 * found.fixed_variance))) > 1
    assert "not drawn" in str(found)


def test_the_promise_holds_where_the_problem_is_easy():
    # two rows of a hundred are wrong; a third one is, in one partition of six
    rng, kept = np.random.default_rng(7), []
    for _ in range(200):
        wrong = np.zeros((10, 100))
        wrong[:, :2] = 1
        wrong[:, 2] = rng.random(10) < 1 / 6
        scores = np.array([row[rng.permutation(100)].reshape(10, 10).mean(axis=1) for row in wrong])
        found = recommend_repetitions(scores, eps=0.25)
        kept.append(1 / 6 * 5 / 6 * 0.01**2 / found.repetitions <= 0.25**2 * 0.0217 * 0.9783 / 100)
    assert np.mean(kept) >= 0.88


def test_a_variance_that_is_too_small_to_compare_with_is_said():
    found = recommend_repetitions([0.7, 0.9, 0.8, 0.7, 0.9], theta=0.005)
    assert found.repetitions is None and "too small for these data" in found.note and found.note in str(found)
    flat = recommend_repetitions(np.repeat([[0.7], [0.9], [0.8], [0.7], [0.9]], 4, axis=1))
    assert flat.repetitions is None and "give theta" in flat.note


def test_the_text_is_sentences_and_the_picture_has_the_line_that_is_asked_for():
    found = recommend_repetitions(np.random.default_rng(7).normal(0.8, 0.05, (12, 10)))
    assert "repetitions are not independent" in str(found) and f"{found.repetitions} repetitions are enough" in str(found)
    assert "<p>" in found._repr_html_() and list(found.to_frame()["upper_bound"])[2] == found.repetitions
    ax = found.plot()
    assert ax.get_xlabel() == "repetitions" and f"recommended: {found.repetitions}" in ax.get_legend_handles_labels()[1]
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recommend_repetitions([[0.8, 0.9, 0.7]]), "1 partition; two partitions of the same data are needed"),
        (lambda: recommend_repetitions([0.8], theta=1), "1 partition; two partitions"),
        (lambda: recommend_repetitions([]), r"shape \(0,\)"),
        (lambda: recommend_repetitions(np.zeros((2, 2, 2))), r"shape \(2, 2, 2\)"),
        (lambda: recommend_repetitions([0.8, 0.9]), "1 partition; two partitions"),
        (lambda: recommend_repetitions(np.linspace(0.8, 0.9, 100)), "100 folds of one partition, or 50 x 2, .* Say so with cv="),
        (lambda: recommend_repetitions(np.ones((5, 10)), n_splits=5), "the other way round"),
        (lambda: recommend_repetitions([[0.8], [0.9]]), "give theta"),
        (lambda: recommend_repetitions([[0.8, np.nan], [0.9, 0.7]]), r"1 NaN or infinite values, the first at \(0, 1\)"),
        (lambda: recommend_repetitions([0.8, 0.9], theta=-0.1), "theta=-0.1 must be a variance"),
        (lambda: recommend_repetitions([0.8, 0.9], theta=1, eps=0), "eps=0 must be larger than 0"),
        (lambda: recommend_repetitions([0.8, 0.9], theta=1, confidence=1), "confidence=1 must be between"),
        (lambda: variance_ratio(0, 0.5), "repetitions=0 must be 1 or more"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_repetitions_of_one_partition_are_no_repetitions():
    cut = list(KFold(5).split(np.zeros(20)))
    scores = np.random.default_rng(0).random(50)
    with pytest.raises(ValueError, match="the 10 repetitions are one partition, cut again"):
        recommend_repetitions(scores, cv=cut * 10)
    other = [pair for seed in range(6) for pair in KFold(5, shuffle=True, random_state=seed).split(np.zeros(20))]
    found = recommend_repetitions(scores, cv=cut * 4 + other)
    assert found == recommend_repetitions(np.r_[scores[:5], scores[20:]], n_splits=5) and found.n_partitions == 7
    result = {
        "test_score": scores,
        "indices": {"train": [train for train, _ in cut * 10], "test": [test for _, test in cut * 10]},
    }
    with pytest.raises(ValueError, match="the 10 repetitions are one partition"):
        recommend_repetitions(result, n_splits=5)


def test_few_errors_ask_for_more_repetitions_and_are_said():
    rng = np.random.default_rng(4)
    few, many = rng.binomial(20, 0.01, (10, 5)) / 20, rng.binomial(20, 0.4, (10, 5)) / 20
    found = recommend_repetitions(few)
    errors = 20 * few.sum(axis=1).mean()
    assert found.n_errors == pytest.approx(errors, rel=0.5) and "errors, which tell little" in " ".join(found.sentences())
    assert found.repetitions > 1.2 * found.partition_bound / (0.1**2 * found.fixed_variance)
    assert recommend_repetitions(few - rng.permuted(few, axis=1)).n_errors == np.inf  # of two learners
    for same in (1 - few, -few, few - 1):
        assert recommend_repetitions(same)[6:8] == found[6:8]
    plain = recommend_repetitions(many)
    assert plain.n_errors == np.inf and plain.repetitions == np.ceil(plain.partition_bound / (0.1**2 * plain.fixed_variance))
    assert recommend_repetitions(few, theta=0.01).n_errors == np.inf
    assert recommend_repetitions(3 * few).n_errors == np.inf or 3 * few.max() <= 1


def test_scores_that_rest_on_less_than_one_error_get_no_number():
    scores = np.zeros((10, 5))
    scores[3, 2], scores[5, 1] = 1e-4, 0.5
    found = recommend_repetitions(scores)
    assert found.repetitions is None and found.n_errors < 1 and "rest on less than one error" in found.note
    rare = np.zeros((100, 10))
    rare[0, 0] = 1e-300  # the factor would be infinite
    rare[1, 1] = 1e-3
    assert recommend_repetitions(rare).repetitions is None
