import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from foldshift.shift import dependence_test, energy_distance_test


def tables(seed, n=40, m=60, correlation=0.0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    b[:, 1] = correlation * b[:, 0] + np.sqrt(1 - correlation**2) * b[:, 1]
    a[:, 2], b[:, 2] = a[:, 2].round(), b[:, 2].round()
    return a, b, rng


def test_the_statistic_is_made_of_spearmans_correlations_ties_included():
    a, b, rng = tables(0, correlation=0.8)
    found = dependence_test(a, b, rng)
    gaps = (spearmanr(b).statistic - spearmanr(a).statistic)[np.triu_indices(3, 1)]
    assert found.statistic == pytest.approx((gaps**2).sum(), rel=1e-10)
    assert found.effect == pytest.approx(np.sqrt((gaps**2).mean()), rel=1e-10)
    assert found.pair == (0, 1) and found.n_rows == (40, 60) and found.p_value < 0.01
    assert (found.before, found.after) == pytest.approx([spearmanr(x[:, :2]).statistic for x in (a, b)], rel=1e-10)
    assert "between columns 0 and 1: " in str(found) and "<table" in found._repr_html_()


def test_what_a_column_does_by_itself_does_not_matter():
    a, b, _ = tables(1, correlation=0.5)
    moved = np.column_stack([np.exp(b[:, 0]) * 1e160, b[:, 1] + 9, b[:, 2] ** 3])
    assert dependence_test(a, moved, np.random.default_rng(0)).statistic == pytest.approx(
        dependence_test(a, b, np.random.default_rng(0)).statistic, rel=1e-10
    )


def test_one_in_twenty_equal_pairs_is_told_apart_also_with_ties_and_unequal_sizes():
    rejected = [dependence_test(*tables(seed, 12, 50), n_permutations=39).p_value <= 0.05 for seed in range(400)]
    assert abs(np.mean(rejected) - 0.05) <= 3 * np.sqrt(0.05 * 0.95 / 400)


def test_a_moderate_change_is_found_that_energy_does_not_see():
    found = np.zeros(2)
    for seed in range(40):
        a, b, rng = tables(seed, 80, 80, 0.6)
        found += [test(a, b, rng, n_permutations=99).p_value <= 0.05 for test in (dependence_test, energy_distance_test)]
    assert found[0] >= 36 and found[1] <= 16


def test_the_order_of_rows_does_not_matter_nor_does_the_size_of_blocks(monkeypatch):
    a, b, _ = tables(2, correlation=0.3)
    ours = dependence_test(a, b, np.random.default_rng(0))
    monkeypatch.setattr("foldshift.shift.detectors.dependence.CELLS_AT_ONCE", 1000)
    shuffle = np.random.default_rng(1)
    again = dependence_test(shuffle.permutation(a), shuffle.permutation(b), np.random.default_rng(0))
    assert again.p_value == ours.p_value and again.statistic == pytest.approx(ours.statistic, rel=1e-10)


def test_categories_are_compared_with_other_columns_and_not_among_themselves():
    rng = np.random.default_rng(3)
    town, size = rng.choice(["Bonn", "Jena", "Ulm"], 120), rng.normal(size=120)
    before = pd.DataFrame({"town": town, "size": size})
    after = before.assign(size=np.where(town == "Ulm", size + 3, size))
    assert dependence_test(before, after, rng).p_value < 0.01
    alone = before[["town"]]
    with pytest.raises(ValueError, match="the tables have 1 column; dependence needs at least 2"):
        dependence_test(alone, alone, rng)
    same = np.ones((20, 2))
    assert dependence_test(same, same, rng).p_value == 1
