"""Intervals for cross-validation estimates: exact values, targets, nested cross-validation."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student_t
from sklearn.model_selection import KFold, RepeatedKFold

from foldshift.inference.comparisons.paired import nadeau_bengio
from foldshift.inference.intervals.cross_validation import cv_intervals, nested_cv_interval
from foldshift.inference.intervals.interval import (
    ALL_ROWS_MODEL,
    NEW_SOURCE,
    THESE_K_MODELS,
    THESE_SOURCES,
    THIS_POPULATION,
    Interval,
)
from foldshift.inference.repetitions.variance import cv_variance
from foldshift.inference.simulation.source_models import mean_predictor_random

E = np.random.default_rng(1).random((5, 8))


def by_name(losses, confidence=0.95, **options):
    return {interval.name: interval for interval in cv_intervals(losses=losses, confidence=confidence, **options)}


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(2, 12), st.integers(2, 20), st.integers(0, 10**6), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_theta_a_is_the_within_fold_interval_of_bayle(K, M, seed, level):
    """Bayle et al. 2020: the mean over folds of the variances about the fold means (n/k - 1) and the variance about the mean of
    all."""
    e = np.random.default_rng(seed).random((K, M))
    n, q = K * M, norm.ppf((1 + level) / 2)
    inside = sum(((row - row.mean()) ** 2).sum() / (n / K - 1) for row in e) / K
    pairs = ((e - e.mean()) ** 2).mean()
    found = by_name(e, level)
    for name, variance in (("theta_A", inside), ("all pairs", pairs)):
        half = q * np.sqrt(variance / n)
        assert found[name].low == pytest.approx(e.mean() - half, rel=1e-12, abs=1e-13)
        assert found[name].high == pytest.approx(e.mean() + half, rel=1e-12, abs=1e-13)
        assert found[name].standard_error == pytest.approx(np.sqrt(variance / n)) and found[name].df == np.inf


def test_the_fold_level_interval_is_student_s_on_the_fold_means():
    found = by_name(E, 0.9)["S2/K"]
    means = E.mean(axis=1)
    low, high = student_t.interval(0.9, 4, loc=means.mean(), scale=means.std(ddof=1) / np.sqrt(5))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert (found.df, found.target) == (4, THIS_POPULATION) and found.note.startswith("only 5 folds")


def test_wong_s_first_example():
    x = [np.repeat([1, 0], [r, 40 - r]) for r in (32, 28, 30, 30, 32)]
    found = by_name(x, design="cvr")
    assert round(found["S2/K"].low, 4) == 0.7081 and round(found["S2/K"].high, 4) == 0.8119
    assert found["S2/K"].standard_error == pytest.approx(np.sqrt(0.00175 / 5))
    assert round(found["all pairs"].low, 4) == 0.7008 and round(found["all pairs"].high, 4) == 0.8192


def test_every_interval_names_its_target():
    """Bayle et al. (2020): theta_A and all pairs are about the mean error of the k models, not about other training sets."""
    assert [(i.name, i.target) for i in cv_intervals(losses=E)] == [
        ("theta_A", THESE_K_MODELS),
        ("theta_B", THIS_POPULATION),
        ("S2/K", THIS_POPULATION),
        ("all pairs", THESE_K_MODELS),
        ("theta_5", THIS_POPULATION),
        ("Nadeau-Bengio", THIS_POPULATION),
    ]
    assert [i.target for i in cv_intervals(losses=E, design="cvs")] == [
        f"{THESE_K_MODELS}, on {THESE_SOURCES}",
        THESE_SOURCES,
        NEW_SOURCE,
        f"{THESE_K_MODELS}, on {THESE_SOURCES}",
        THESE_SOURCES,
        NEW_SOURCE,
    ]
    for sources, folds in zip(cv_intervals(losses=E, design="cvs"), cv_intervals(losses=E)):
        np.testing.assert_array_equal(sources[2:7], folds[2:7])
    assert "only 5 sources" in by_name(E, design="cvs")["S2/K"].note
    assert "only" not in by_name(np.tile(E, (2, 1)))["S2/K"].note


def test_an_interval_whose_coverage_is_known_to_be_low_says_so_where_it_is_printed():
    found = cv_intervals(losses=np.tile(E, (2, 1)))
    for name in ("theta_A", "S2/K", "all pairs", "theta_5"):
        assert "known to be low" in found[name].note and "known to be low" in str(found[name])
    assert "known to be low" not in found["Nadeau-Bengio"].note + found["theta_B"].note
    assert ".82 for an unstable learner" in cv_intervals(losses=np.tile(E, (2, 1)), design="cvs")["S2/K"].note


def test_nadeau_and_bengio_s_interval_is_among_them():
    found = cv_intervals(losses=E)["Nadeau-Bengio"]
    expected = nadeau_bengio(E.mean(axis=1), 4, 1)
    assert (found.estimate, found.low, found.high) == pytest.approx((expected.estimate, expected.low, expected.high))


def test_scores_are_not_taken_for_losses_of_rows():
    """Before, ten folds' accuracies of ten repetitions gave [.783, .787] without a word."""
    scores = np.random.default_rng(0).normal(0.8, 0.04, (10, 10))
    for call in (lambda: cv_intervals(scores), lambda: cv_intervals(), lambda: cv_intervals(losses=scores, scores=scores)):
        with pytest.raises(TypeError, match=r"losses= \(of every test row, by fold\) or scores= \(one of every fold"):
            call()
    (found,) = cv_intervals(scores=scores)
    expected = nadeau_bengio(scores, 9, 1)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.high - found.low > 0.04
    flat = cv_intervals(scores=scores.ravel(), cv=RepeatedKFold(n_splits=10, n_repeats=10))
    assert flat == cv_intervals(scores={"test_score": scores.ravel()}, n_splits=10) == (found,)


def test_scores_of_one_partition_have_the_intervals_that_need_no_rows():
    found = cv_intervals(scores=1 - E.mean(axis=1), n_train=32, n_test=8)
    assert [one.name for one in found] == ["S2/K", "Nadeau-Bengio"]
    for one in found:
        other = cv_intervals(losses=E)[one.name]
        assert (1 - one.high, 1 - one.low) == pytest.approx((other.low, other.high))


def test_losses_in_the_order_of_rows_are_sorted_by_fold():
    folds = np.random.default_rng(3).permutation(np.repeat(np.arange(5), 8))
    losses = np.empty(40)
    for fold in range(5):
        losses[folds == fold] = E[fold]
    assert str(cv_intervals(losses=losses, folds=folds)) == str(cv_intervals(losses=E))
    with pytest.raises(ValueError, match=r"is a splitter; foldshift\.partition\.as_folds"):
        cv_intervals(losses=np.zeros(40), folds=KFold(5))
    with pytest.raises(ValueError, match=r"losses has shape \(40,\) and folds \(5,\)"):
        cv_intervals(losses=losses, folds=range(5))
    with pytest.raises(TypeError, match="n_splits= belongs to scores="):
        cv_intervals(losses=E, n_splits=5)
    with pytest.raises(TypeError, match="folds= belongs to losses="):
        cv_intervals(scores=E[0], folds=range(8))


def test_intervals_print_as_sentences_with_names_in_words():
    found = cv_intervals(losses=E)
    text = str(found)
    assert text.startswith("To be quoted: spread of the fold means, corrected for training sets that overlap")
    assert f"{found['theta_A'].low:.4g}" in text and THESE_K_MODELS in text
    assert list(found.to_frame()["symbol"]) == [one.name for one in found] and "<p>" in found._repr_html_()
    ax = found.plot()
    assert len(ax.get_yticklabels()) == 6 and "(theta_A)" in ax.get_yticklabels()[0].get_text()
    plt.close(ax.figure)
    many = cv_intervals(losses=np.stack([E, E]))
    assert "2 of 2 data sets" in str(many) and len(many.to_frame()) == 12
    with pytest.raises(ValueError, match="plot those of one"):
        many.plot()
    with pytest.raises(KeyError, match="there is no interval 'theta'; there are 'theta_A'"):
        found["theta"]


def test_theta_b_doubles_the_variance():
    found = by_name(E)
    assert found["theta_B"].standard_error == pytest.approx(np.sqrt(2) * found["theta_A"].standard_error)


def test_a_negative_variance_estimate_gives_no_interval_and_says_so():
    negative, positive = np.array([[0, 1, 0, 1], [1, 0, 1, 0]]), np.array([[0, 0, 0, 1], [1, 1, 1, 1]])
    found = by_name(negative)["theta_5"]
    assert np.isnan([found.low, found.high, found.standard_error]).all() and found.estimate == 0.5
    assert found.note.startswith("the variance estimate is negative: no interval")
    assert "negative: no" not in by_name(positive)["theta_5"].note
    both = by_name(np.stack([negative, positive, positive]), design="cvr")["theta_5"]
    assert np.isnan(both.low).tolist() == [True, False, False]
    assert both.note.startswith("the variance estimate is negative in 1 of 3 data sets: no interval there")
    assert by_name(positive, design="cvs")["theta_5"].note.startswith("derived for random folds")


def test_leading_axes_are_separate_data_sets():
    e = np.random.default_rng(2).integers(0, 2, (3, 2, 4, 6))
    many = cv_intervals(losses=e)
    for index in np.ndindex(3, 2):
        for all_of_them, one in zip(many, cv_intervals(losses=e[index])):
            for name in ("estimate", "low", "high", "standard_error"):
                np.testing.assert_array_equal(getattr(all_of_them, name)[index], getattr(one, name))
            assert all_of_them.df == one.df
    assert isinstance(cv_intervals(losses=E)[0].low, float)


def test_unequal_sizes_are_weighted_as_stated():
    e = [E[0, :3], E[1], E[2, :5]]
    found, moments, every = by_name(e), cv_variance(e), np.concatenate(e)
    assert found["theta_A"].estimate == found["S2/K"].estimate == moments.mean
    assert found["theta_A"].standard_error == pytest.approx(np.sqrt(moments.theta_A))
    assert found["all pairs"].estimate == pytest.approx(every.mean())
    assert found["all pairs"].standard_error == pytest.approx(every.std() / 4)
    assert found["all pairs"].note.startswith("folds weigh by their rows")
    assert np.isnan(found["theta_5"].low) and found["theta_5"].note.startswith("does not exist: folds of unequal sizes")


def test_sources_of_one_row_have_the_intervals_that_need_no_pairs_within():
    e = [[0.0], [1.0], [5.0]]
    found = by_name(e)
    assert np.isnan([found[name].low for name in ("theta_A", "theta_B", "theta_5")]).all()
    assert found["theta_A"].note.startswith("does not exist: a fold has one row")
    assert found["S2/K"].low == pytest.approx(2 - student_t.ppf(0.975, 2) * np.sqrt(7 / 3))
    assert found["all pairs"].standard_error == pytest.approx(np.sqrt(14 / 9))


def test_a_constant_loss_gives_intervals_of_length_zero():
    for interval in cv_intervals(losses=np.full((4, 5), 0.1)):
        assert interval.low == interval.high == pytest.approx(0.1) and interval.standard_error == 0


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, np.nan])
def test_probabilities_outside_0_and_1_are_refused(confidence):
    with pytest.raises(ValueError, match=f"confidence={confidence} must be between 0 and 1".replace(".", r"\.")):
        cv_intervals(losses=E, confidence=confidence)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="design='loso' must be 'cvr' or 'cvs'"):
        cv_intervals(losses=E, design="loso")
    with pytest.raises(ValueError, match="losses has 1 fold; a variance needs at least two folds or sources"):
        cv_intervals(losses=E[:1])


def random_folds(R, N, K, seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(np.arange(N) % K) for _ in range(R)]).astype(np.uint8)


def mean_predictor(y):
    return lambda train, test: (y[test] - y[train].mean()) ** 2


def algorithm_1(loss_of, folds, level):
    """Nested cross-validation as the paper prints it, with every ordered pair fitted apart."""
    K, N = int(folds.max()) + 1, folds.shape[1]
    a_list, b_list, es, cv = [], [], [], []
    for row in folds:
        for k in range(K):
            e_in = [loss_of((row != k) & (row != j), row == j) for j in range(K) if j != k]
            e_out = loss_of(row != k, row == k)
            a_list.append((np.concatenate(e_in).mean() - e_out.mean()) ** 2)
            b_list.append(e_out.var(ddof=1) / len(e_out))
            es.append(np.concatenate(e_in))
            cv.append(e_out)
    mse = np.mean(a_list) - np.mean(b_list)
    err_ncv, err_cv = np.concatenate(es).mean(), np.concatenate(cv).mean()
    naive = np.sqrt(np.mean([np.concatenate(cv[r * K : (r + 1) * K]).var(ddof=1) / N for r in range(len(folds))]))
    se = min(max(np.sqrt(max(mse, 0) * (K - 1) / K), naive), np.sqrt(K) * naive)
    centre = err_ncv - (1 + (K - 2) / K) * (err_ncv - err_cv)
    half = norm.ppf((1 + level) / 2) * se
    return centre, centre - half, centre + half, mse, naive


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("N", "K"), [(24, 4), (20, 3), (23, 5)])
def test_nested_cross_validation_is_algorithm_1(N, K, seed):
    y = np.random.default_rng(seed).standard_normal(N)
    folds = random_folds(3, N, K, seed)
    found = nested_cv_interval(mean_predictor(y), folds, confidence=0.9)
    centre, low, high, _, _ = algorithm_1(mean_predictor(y), folds, 0.9)
    assert (found.estimate, found.low, found.high) == (pytest.approx(centre), pytest.approx(low), pytest.approx(high))
    assert isinstance(found, Interval) and (found.target, found.df) == (ALL_ROWS_MODEL, np.inf)


def test_a_pair_of_folds_is_fitted_once():
    y, calls = np.random.default_rng(0).standard_normal(20), []
    nested_cv_interval(
        lambda train, test: calls.append((train, test)) or mean_predictor(y)(train, test), random_folds(2, 20, 5, 0)
    )
    assert len(calls) == 2 * 5 * 6 / 2
    assert all((train ^ test).all() for train, test in calls)


@pytest.mark.parametrize("sources", [False, True])
def test_the_bias_correction_is_exact_for_an_error_linear_in_one_over_the_training_size(sources):
    noise = np.random.default_rng(3).random(30)
    loss_of = lambda train, test: np.full(test.sum(), 0.2 + 7 / train.sum())  # noqa: E731
    found = nested_cv_interval(loss_of, np.arange(30)[None] % 5, sources=sources)
    assert found.estimate == pytest.approx(0.2 + 7 / 30)
    wiggly = nested_cv_interval(lambda train, test: loss_of(train, test) + noise[test], np.arange(30)[None] % 5, sources=sources)
    assert wiggly.estimate == pytest.approx(0.2 + 7 / 30 + noise.mean())


def test_the_standard_error_is_restricted_and_the_note_says_where():
    # Losses that do not depend on training: (K-1)/K MSE = S2 - (K-1)/K W/M exactly, against the naive var/N.
    loss_of = lambda values: lambda train, test: values[test]  # noqa: E731
    folds = np.repeat(np.arange(4), 5)[None]
    same = np.tile([0.0, 0.25, 0.5, 0.75, 1.0], 4)
    found = nested_cv_interval(loss_of(same), folds)
    assert found.standard_error == pytest.approx(same.std(ddof=1) / np.sqrt(20))
    assert found.note == "the estimated mean squared error is negative: the standard error is that of ordinary cross-validation"
    apart = same + 10 * folds[0]
    found = nested_cv_interval(loss_of(apart), folds)
    assert found.standard_error == pytest.approx(2 * apart.std(ddof=1) / np.sqrt(20))
    assert found.note == "the standard error is restricted to sqrt(K) times that of ordinary cross-validation"
    notes = set()
    for shift in np.linspace(0, 1, 101):
        values = same + shift * folds[0]
        found = nested_cv_interval(loss_of(values), folds)
        e = values.reshape(4, 5)
        free = e.mean(axis=1).var(ddof=1) - 0.75 * e.var(axis=1, ddof=1).mean() / 5
        naive = values.std(ddof=1) / np.sqrt(20)
        assert found.standard_error == pytest.approx(np.clip(np.sqrt(max(free, 0)), naive, 2 * naive))
        notes.add(found.note)
    assert "" in notes and "the standard error is restricted to that of ordinary cross-validation" in notes


def test_leaving_two_sources_out_equals_s2_over_k_where_training_does_not_matter():
    values = np.random.default_rng(4).random(30)
    groups = np.repeat(np.arange(6), 5)
    found = nested_cv_interval(lambda train, test: values[test], groups[None], sources=True)
    fold_level = by_name(values.reshape(6, 5))["S2/K"]
    assert (found.low, found.high) == (pytest.approx(fold_level.low), pytest.approx(fold_level.high))
    assert (found.target, found.df) == (NEW_SOURCE, 5) and found.note.endswith("only 6 sources")


def test_leaving_two_sources_out_weighs_unequal_sources_equally():
    values = np.random.default_rng(5).random(20)
    groups = np.repeat(np.arange(4), [1, 3, 7, 9])
    found = nested_cv_interval(lambda train, test: values[test], groups[None], sources=True)
    assert found.estimate == pytest.approx(np.mean([values[groups == g].mean() for g in range(4)]))


def test_leaving_two_sources_out_centres_on_the_out_of_source_error():
    """The mean predictor's error is linear in 1/K, so the corrected centre has no bias; 4000 data sets, exact expectation as
    target."""
    K, M, rng = 5, 4, np.random.default_rng(6)
    exact = mean_predictor_random(K, M, 1.0, 0.25)
    groups, centres = np.repeat(np.arange(K), M), []
    for _ in range(4000):
        y = rng.standard_normal(K * M) + np.repeat(0.5 * rng.standard_normal(K), M)
        centres.append(nested_cv_interval(mean_predictor(y), groups[None], sources=True).estimate)
    error = np.std(centres) / np.sqrt(4000)
    assert abs(np.mean(centres) - exact.ose) < 3 * error, (np.mean(centres), exact.ose, exact.mu_cvs, error)


FOLDS = np.arange(12)[None] % 4


@pytest.mark.parametrize(
    ("folds", "options", "message"),
    [
        (FOLDS[0], {}, r"folds has shape \(12,\) and dtype int64; expected \(partitions, rows\) of fold numbers from 0"),
        (FOLDS - 1, {}, "expected .partitions, rows. of fold numbers from 0"),
        (FOLDS * 1.0, {}, "dtype float64; expected"),
        (FOLDS[:, :0], {}, r"folds has shape \(1, 0\)"),
        (FOLDS % 2, {}, "folds has 2 folds; nested cross-validation leaves two out and needs at least three"),
        (FOLDS * 0, {}, "folds has 1 fold; nested"),
        (FOLDS * 2, {}, "fold 1 of partition 0 has 0 rows; every fold needs at least 2"),
        (np.arange(12)[None], {}, "fold 0 of partition 0 has 1 rows; every fold needs at least 2"),
        (np.repeat(FOLDS, 2, axis=0), {"sources": True}, "folds has 2 partitions; sources are one partition"),
        (FOLDS, {"confidence": 95}, "confidence=95 must be between 0 and 1"),
    ],
)
def test_bad_folds_are_refused(folds, options, message):
    with pytest.raises(ValueError, match=message):
        nested_cv_interval(mean_predictor(np.arange(12.0)), folds, **options)


def test_bad_losses_of_the_callable_are_refused():
    with pytest.raises(ValueError, match=r"loss_of returned shape \(\) for 3 test rows; expected one loss for each"):
        nested_cv_interval(lambda train, test: 0.5, FOLDS)
    with pytest.raises(
        ValueError, match="loss_of returned 3 losses that are NaN or infinite; every loss must be a finite number"
    ):
        nested_cv_interval(lambda train, test: np.full(test.sum(), np.nan), FOLDS)


def test_an_end_outside_the_shares_is_said():
    scores = [0.99, 0.8, 1.0, 0.98, 1.0]
    found = cv_intervals(scores=scores, cv=5)["Nadeau-Bengio"]
    assert found.high > 1 and "an end is outside 0 to 1: of shares, read it as 0 or 1" in found.note
    assert "outside" not in cv_intervals(scores=100 * np.array(scores), cv=5)["Nadeau-Bengio"].note
    wrong = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert all(("outside" in one.note) == (one.low < 0 or one.high > 1) for one in cv_intervals(losses=wrong))


def test_losses_come_as_a_data_frame_too():
    losses = np.random.default_rng(0).integers(0, 2, (5, 8))
    table = pd.DataFrame(losses, columns=list("abcdefgh"))
    assert [one.low for one in cv_intervals(losses=table)] == [one.low for one in cv_intervals(losses=losses)]
