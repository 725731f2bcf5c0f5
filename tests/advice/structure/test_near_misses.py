"""The number of equal rows that chance allows, from rows that differ in one and in two columns."""

import numpy as np
import pytest

from foldshift.advice.structure.near_misses import equal_pairs


def counted(values):
    """Pairs of rows by the number of columns in which they differ, and by the column for those that differ in one."""
    differ = values[:, None] != values[None]
    first, second = np.triu_indices(len(values), 1)
    sums = differ.sum(axis=2)[first, second]
    one = differ[first, second][sums == 1]
    return (sums == 0).sum(), one.sum(axis=0), (sums == 2).sum()


def test_pairs_are_those_that_are_counted_one_by_one():
    values = np.random.default_rng(0).integers(0, 3, (80, 5)).astype(float)
    none, one, two = counted(values)
    found, by_chance = equal_pairs(values)
    assert found == none and by_chance == pytest.approx((one.sum() ** 2 - (one**2).sum()) / (2 * two))


def test_the_bound_is_what_is_expected_of_columns_that_have_nothing_to_do_with_each_other():
    rng = np.random.default_rng(1)
    ratios = [np.divide(*equal_pairs(rng.integers(0, 2, (300, 12)).astype(float))) for _ in range(20)]
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("values", [
    np.random.default_rng(2).normal(size=(50, 3)), np.zeros((30, 1)), np.repeat(np.arange(20.0), 2)[:, None],
    np.column_stack([np.repeat(np.random.default_rng(3).normal(size=(20, 4)), 2, axis=0), np.arange(40) % 3]),
])  # fmt: skip
def test_nothing_is_allowed_where_no_pairs_differ_in_two_columns(values):
    assert equal_pairs(values)[1] == 0
