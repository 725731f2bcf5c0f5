"""Statistics that a library has for one case at a time, or by another way: the vectorised ones agree with it."""

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control
from sklearn.metrics import roc_auc_score

from foldshift.inference.corrections import adjust_p
from foldshift.inference.proportions import wilson_interval
from foldshift.inference.roc import roc_area, roc_area_by_group


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilsons_interval_is_scipys_for_every_count(level):
    for n in (1, 2, 7, 40, 1000):
        counts = np.unique(np.linspace(0, n, 8).astype(int))
        low, high = wilson_interval(counts / n, n, level)
        theirs = [binomtest(int(count), n).proportion_ci(level, method="wilson") for count in counts]
        assert low == pytest.approx([interval.low for interval in theirs], rel=1e-12, abs=1e-15)
        assert high == pytest.approx([interval.high for interval in theirs], rel=1e-12)


def test_wilsons_interval_ends_at_0_and_1_exactly_and_does_not_exist_without_trials():
    low, high = wilson_interval([0.0, 1.0, np.nan, 0.5], [9, 9, 0, 0])
    assert low[0] == 0 and high[1] == 1
    assert np.isnan(low[2:]).all() and np.isnan(high[2:]).all()


def test_the_area_is_scikit_learns_with_ties_and_many_rankings_at_once():
    rng = np.random.default_rng(3)
    scores, labels = rng.integers(0, 5, (4, 30)).astype(float), rng.random((4, 30)) < 0.4
    assert roc_area(scores, labels) == pytest.approx([roc_auc_score(*pair) for pair in zip(labels, scores)], rel=1e-12)
    assert roc_area(scores[0], labels) == pytest.approx([roc_auc_score(label, scores[0]) for label in labels], rel=1e-12)


def test_the_area_does_not_exist_where_a_class_is_absent():
    area = roc_area([[0.1, 0.2], [0.1, 0.2], [0.1, 0.2]], [[True, True], [False, False], [False, True]])
    assert np.isnan(area[:2]).all() and area[2] == 1


@pytest.mark.parametrize("values", [2, 7, 10**6])
def test_the_areas_of_groups_are_those_of_each_alone_to_the_last_bit(values):
    rng = np.random.default_rng(values)
    scores, positive, groups = rng.integers(0, values, 300) / values, rng.random(300) < 0.2, rng.integers(0, 12, 300)
    scores[groups == 3] = [0.0, -0.0] * (np.sum(groups == 3) // 2) + [0.5] * (np.sum(groups == 3) % 2)  # one value, two signs
    positive[groups == 5], positive[groups == 6], groups[groups == 7] = True, False, 8
    scores[np.flatnonzero(groups == 9)[0]] = np.nan
    alone = [roc_area(scores[groups == group], positive[groups == group]) for group in range(12)]
    found = roc_area_by_group(scores, positive, groups, 12)
    np.testing.assert_array_equal(found, alone)
    assert np.flatnonzero(np.isnan(found)).tolist() == [5, 6, 7, 9]
    assert np.isnan(roc_area_by_group(scores[:0], positive[:0], groups[:0], 2)).all()


def test_corrections_leave_out_what_was_not_tested():
    p = np.array([[0.01, np.nan, 0.04, 0.03], [0.5, 0.001, 0.02, 0.9]])
    bh = adjust_p(p, "bh")
    assert bh[0, [0, 2, 3]] == pytest.approx(false_discovery_control(p[0, [0, 2, 3]]), rel=1e-12)
    assert bh[1] == pytest.approx(false_discovery_control(p[1]), rel=1e-12)
    holm = adjust_p(p, "holm")
    assert holm[0, [0, 2, 3]] == pytest.approx([0.03, 0.06, 0.06], rel=1e-12)
    assert np.isnan(bh[0, 1]) and np.isnan(holm[0, 1])
