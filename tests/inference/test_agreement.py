import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.inference.comparisons.wilcoxon import rank_sum_p, wilcoxon_signed_ranks
from foldshift.inference.repetitions.agreement import (
    accuracy,
    accuracy_by_repetitions,
    agreements,
    draw_experiments,
    draw_subsets,
    halves,
    jackknife_error,
    kept_datasets,
    mean_present,
    pairwise_tests,
    significant_pairs,
    subset_error,
    truth_errors,
)

FORMULAS = ("corrected", "paper")
# Two classifiers, five data sets: the first wins everywhere, p = 2 / 32.
TRUTH = np.array([[0.6, 0.7, 0.8, 0.9, 1.0], [0.59, 0.68, 0.77, 0.86, 0.95]])


def experiment(*differences):
    """Results of two classifiers with these differences."""
    return np.array([np.full(5, 0.5) + differences, np.full(5, 0.5)])[:, :, None]


def noisy(n_learners, n_datasets, n_experiments, seed, spread=0.02):
    rng = np.random.default_rng(seed)
    truth = rng.random((n_learners, n_datasets)) * 0.1 + 0.6 + 0.02 * np.arange(n_learners)[:, None]
    return truth, truth[:, :, None] + spread * rng.normal(size=(n_learners, n_datasets, n_experiments))


def test_an_experiment_agrees_if_it_is_as_significant_in_the_same_direction():
    experiments = np.concatenate(
        [
            experiment(0.01, 0.02, 0.03, 0.04, 0.05),  # the same ranks: p = .0625
            experiment(0.05, 0.04, 0.03, 0.02, 0.01),  # other differences, the same sum of ranks
            experiment(-0.01, 0.02, 0.03, 0.04, 0.05),  # one rank lost: p = .125
            experiment(-0.01, -0.02, -0.03, -0.04, -0.05),  # as significant, the wrong way
            experiment(0.0, 0.0, 0.0, 0.0, 0.0),
        ],
        axis=2,
    )
    found = agreements(TRUTH, experiments, 0.1)
    assert (found.pairs.row.tolist(), found.pairs.column.tolist()) == ([0], [1])
    assert (found.pairs.r_plus[0], found.pairs.r_minus[0], found.pairs.p_value[0]) == (15, 0, 0.0625)
    assert found.agree.tolist() == [[True, True, False, False, False]]
    assert found.opposite.tolist() == [[False, False, False, True, False]]


@pytest.mark.parametrize("formula", FORMULAS)
@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.lists(st.lists(st.integers(-4, 4), min_size=12, max_size=12), min_size=2, max_size=4))
def test_the_truth_agrees_with_itself_under_ties_and_zeros(formula, rows):
    truth = np.array(rows) / 7
    found = agreements(truth, truth[:, :, None], 0.5, formula)
    assert found.agree.all() and not found.opposite.any()


@pytest.mark.parametrize("formula", FORMULAS)
def test_many_tests_at_once_are_the_same_as_one_by_one(formula):
    truth, experiments = noisy(4, 14, 30, seed=1)
    experiments = experiments.round(2)  # ties
    truth[0, 3] = np.nan  # never run
    experiments[0, 3] = np.nan
    experiments[2, 5, 7] = np.nan  # one failed fit
    found = agreements(truth, experiments, 0.3, formula)
    assert len(found.pairs.row) > 2 and 0 < found.agree.mean() < 1
    for i, (a, b) in enumerate(zip(found.pairs.row, found.pairs.column)):
        there = ~np.isnan(truth[a] - truth[b])
        true = wilcoxon_signed_ranks((truth[a] - truth[b]).round(12)[there], np.zeros(there.sum()), formula=formula)
        assert (true.p_value, there.sum()) == (found.pairs.p_value[i], found.pairs.n_datasets[i])
        for e in range(30):
            d = (experiments[a, :, e] - experiments[b, :, e]).round(12)[there]
            assert found.judged[i, e] == (not np.isnan(d).any()) == (e != 7 or 2 not in (a, b))
            if not found.judged[i, e]:
                assert not found.agree[i, e] and not found.opposite[i, e]
                continue
            one = wilcoxon_signed_ranks(d, np.zeros(len(d)), formula=formula)
            same = np.sign(one.r_plus - one.r_minus) == np.sign(true.r_plus - true.r_minus)
            assert found.agree[i, e] == (one.p_value <= true.p_value and same)
            assert found.opposite[i, e] == (one.p_value <= true.p_value and not same)


def test_only_pairs_at_most_alpha_are_kept_and_all_pairs_are_tested():
    truth, _ = noisy(5, 20, 1, seed=2)
    tests = pairwise_tests(truth)
    kept = significant_pairs(truth, 0.1)
    assert len(tests.row) == 10 and 0 < len(kept.row) < 10
    assert sorted(kept.p_value) == sorted(tests.p_value[tests.p_value <= 0.1])
    assert tests.r_plus + tests.r_minus == pytest.approx(np.full(10, 210.0))
    assert len(significant_pairs(truth, kept.p_value.max()).row) == len(kept.row)  # "at most" includes equality


def test_differences_that_are_equal_but_for_the_order_of_summation_are_ties():
    values = np.array([[0.1 + 0.2, 0.3, 0.9], [0.3, 0.1 + 0.2, 0.1]])  # .1 + .2 is not .3 in the last bit
    tests = pairwise_tests(values)
    assert (tests.r_plus[0], tests.r_minus[0]) == (4.5, 1.5)


def test_identical_classifiers_one_data_set_and_missing_results_give_no_pair():
    same = np.repeat(TRUTH[:1], 2, axis=0)
    for truth in (same, TRUTH[:, :1], np.full((2, 5), np.nan)):
        found = agreements(truth, np.repeat(truth[:, :, None], 3, axis=2))
        assert found.agree.shape == (0, 3)
        result = accuracy(
            [(truth, np.repeat(truth[:, :, None], 3, axis=2))], draw_subsets(truth.shape[1], 5, np.random.default_rng(0))
        )
        assert np.isnan([result.percent, result.standard_error, result.opposite_percent]).all() and result.n_pairs == 0
    assert np.isnan(pairwise_tests(np.full((2, 5), np.nan)).p_value[0])
    assert pairwise_tests(same).p_value[0] == 1


def test_data_sets_without_truth_are_left_out_of_experiments():
    truth = np.column_stack([TRUTH, [np.nan, 0.9]])
    experiments = np.concatenate([experiment(0.01, 0.02, 0.03, 0.04, 0.05), np.array([[[0.1]], [[0.9]]])], axis=1)
    assert agreements(truth, experiments).agree.tolist() == [[True]]
    truth[:, 5] = 0.3, 0.3
    assert agreements(truth, experiments).agree.tolist() == [[False]]


def test_results_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 5\); expected \(n_learners, n_datasets, n_experiments\)"):
        agreements(TRUTH, TRUTH)
    with pytest.raises(ValueError, match="do not belong to a truth"):
        agreements(TRUTH, np.zeros((3, 5, 1)))


def test_accuracy_is_the_mean_over_pairs_and_its_error_that_over_experiments():
    truth, experiments = noisy(4, 12, 40, seed=3)
    subsets = draw_subsets(12, 6, np.random.default_rng(0))
    result = accuracy([(truth, experiments)], subsets)
    found = agreements(truth, experiments)
    each = 100 * found.agree.mean(axis=0)
    assert result.percent == pytest.approx(each.mean()) and 0 < result.percent < 100
    assert result.standard_error == pytest.approx(each.std(ddof=1) / np.sqrt(40))
    assert result.opposite_percent == 100 * found.opposite.mean() and result.n_pairs == len(found.pairs.row)
    once = agreements(truth[:, subsets[2]], experiments[:, subsets[2]])
    assert result.by_subset[2] == pytest.approx(100 * once.agree.mean())
    without = agreements(truth[:, 1:], experiments[:, 1:])
    assert result.without_one[0] == pytest.approx(100 * without.agree.mean())
    assert result.jackknife_error == jackknife_error(result.without_one) > 0


def test_one_experiment_has_an_accuracy_but_no_error():
    truth, experiments = noisy(4, 12, 1, seed=3, spread=0)
    result = accuracy([(truth, experiments)], draw_subsets(12, 3, np.random.default_rng(0)))
    assert result.percent == 100 and np.isnan(result.standard_error)


def test_two_parts_are_weighted_by_their_experiments():
    truth, experiments = noisy(4, 12, 9, seed=4)
    subsets = draw_subsets(12, 3, np.random.default_rng(0))
    whole = accuracy([(truth, experiments)], subsets)
    first, second = halves(9)
    assert (first.sum(), second.sum()) == (4, 5) and (first ^ second).all()
    split = accuracy([(truth, experiments[:, :, first]), (truth, experiments[:, :, second])], subsets)
    assert split.percent == pytest.approx(whole.percent) and split.by_subset == pytest.approx(whole.by_subset)
    assert split.n_experiments == 9 and split.standard_error == pytest.approx(whole.standard_error, rel=0.5)


def test_standard_errors_over_data_sets_are_right_for_a_mean():
    rng = np.random.default_rng(0)
    x = rng.normal(size=27)
    true = x.std(ddof=1) / np.sqrt(27)
    assert jackknife_error(np.array([np.delete(x, i).mean() for i in range(27)])) == pytest.approx(true)
    subsets = draw_subsets(27, 4000, rng)
    assert set(subsets.sum(axis=1)) == {18} == {kept_datasets(27)}
    assert subset_error(np.array([x[chosen].mean() for chosen in subsets]), 27) == pytest.approx(true, rel=0.05)
    assert np.isnan(subset_error(np.array([1.0, np.nan]), 27)) and np.isnan(jackknife_error(np.array([1.0])))
    assert draw_subsets(2, 9, rng).shape == (0, 2)


def test_more_repetitions_lead_from_the_single_experiment_to_the_mean_of_all():
    truth, experiments = noisy(5, 20, 40, seed=5, spread=0.06)
    m, percent, std, error = accuracy_by_repetitions(truth, experiments, (1, 5, 20, 40, 80), 60, np.random.default_rng(0))
    assert m.tolist() == [1, 5, 20, 40]
    single = accuracy([(truth, experiments)], draw_subsets(20, 2, np.random.default_rng(0)))
    assert (percent[0], error[0]) == (pytest.approx(single.percent), pytest.approx(single.standard_error))
    assert percent[3] == pytest.approx(100 * agreements(truth, experiments.mean(axis=2, keepdims=True)).agree.mean())
    assert percent[2] > percent[0] + 10 and np.isnan([std[3], error[3]]).all()


def test_repetitions_beyond_the_experiments_are_left_out():
    truth, experiments = noisy(3, 10, 2, seed=0)
    assert all(len(column) == 0 for column in accuracy_by_repetitions(truth, experiments, (5,), 3, np.random.default_rng(0)))


def test_the_mean_of_nothing_is_nan_without_a_warning():
    assert mean_present(np.array([[1.0, np.nan, 3.0], [np.nan] * 3])).tolist()[0] == 2.0
    assert np.isnan(mean_present(np.array([[np.nan, np.nan]]))).all()


def test_p_of_a_sum_of_ranks_is_the_same_from_either_side():
    sums = np.array([0, 3, 26, 52, 105, 189, 189.5])
    assert (rank_sum_p(sums, 27) == rank_sum_p(378 - sums, 27)).all()
    assert rank_sum_p(0.0, 27) == 2 / 2**27 and f"{rank_sum_p(38.0, 27):.2e}" == "9.60e-05"


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_error_of_the_truth_is_the_spread_over_truths_of_drawn_experiments(formula):
    _, truth = noisy(4, 14, 12, seed=2, spread=0.05)
    _, experiments = noisy(4, 14, 25, seed=2, spread=0.05)
    truth[0, 3], experiments[0, 3] = np.nan, np.nan  # never run
    experiments[2, 5, 7] = np.nan  # one failed fit
    drawn = draw_experiments(12, 30, np.random.default_rng(0))
    percents, shares = [], {}
    for chosen in drawn:
        mean = np.where(np.isnan(truth).all(axis=2), np.nan, truth[:, :, chosen].mean(axis=2))
        found = agreements(mean, experiments, 0.3, formula)
        percents.append(accuracy([(mean, experiments)], draw_subsets(14, 1, np.random.default_rng(0)), 0.3, formula).percent)
        for i, pair in enumerate(zip(found.pairs.row.tolist(), found.pairs.column.tolist())):
            shares.setdefault(pair, []).append(100 * found.agree[i].sum() / found.judged[i].sum())
    errors = truth_errors(truth, experiments, drawn, 0.3, formula)
    assert errors.percent == pytest.approx(np.std(percents, ddof=1)) and errors.percent > 0
    kept = {pair: np.std(share, ddof=1) for pair, share in shares.items() if len(share) > 1}
    assert len(kept) > 3
    for (a, b), error in kept.items():
        assert errors.by_pair[a, b] == errors.by_pair[b, a] == pytest.approx(error, abs=1e-9)
    assert np.isnan(errors.by_pair).sum() == 16 - 2 * len(kept)


def test_the_error_of_the_truth_is_what_other_truths_would_change():
    mean, experiments = noisy(5, 20, 60, seed=3, spread=0.05)
    rng = np.random.default_rng(4)
    percents, errors = [], []
    for i in range(40):
        truth = mean[:, :, None] + 0.05 * rng.normal(size=(5, 20, 10))
        percents.append(accuracy([(truth.mean(axis=2), experiments)], draw_subsets(20, 1, rng), 0.1).percent)
        if i < 10:
            errors.append(truth_errors(truth, experiments, draw_experiments(10, 60, rng), 0.1).percent)
    assert 0.6 < np.mean(errors) / np.std(percents, ddof=1) < 1.7


def test_a_truth_of_one_experiment_has_no_known_error():
    truth, experiments = noisy(3, 8, 5, seed=0)
    errors = truth_errors(truth[:, :, None], experiments, draw_experiments(1, 50, np.random.default_rng(0)))
    assert np.isnan(errors.percent) and np.isnan(errors.by_pair).all()
