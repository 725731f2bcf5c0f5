"""The test of spread: its figures, its level where ties and few rows make it hard, and what it sees."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import binom, rankdata

from foldshift.shift import DriftReport, spread_test


def plain(A, B, labellings):
    """The statistic of every labelling (True: B), by loops."""
    rows = np.concatenate([A, B])
    largest = np.zeros(len(labellings))
    for column in rows.T:
        scores = ndtri((rankdata(column) - 0.5) / len(column))
        change = []
        for in_b in labellings:
            a, b = (part.std() for part in (scores[~in_b], scores[in_b]))
            change.append(b - a)
        change = np.array(change)
        largest = np.maximum(largest, np.abs(change - change.mean()) / change.std())
    return largest


def test_the_statistic_is_that_of_loops_over_the_same_permutations():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(9, 3)).round(1), rng.normal(size=(6, 3)).round(1) * [1, 3, 1]
    found = spread_test(A, B, 5, 49)
    own = np.random.default_rng(5)
    rows = np.concatenate([A, B])
    order = np.lexsort((np.arange(15) >= 9, *rows.T))
    order = order[own.permutation(15)]
    labels = np.repeat((order >= 9)[:, None], 50, axis=1)
    labels[:, 1:] = own.permuted(labels[:, 1:], axis=0)
    back = np.empty((15, 50), dtype=bool)
    back[order] = labels
    wanted = plain(A, B, back.T)
    assert found.statistic == pytest.approx(wanted[0], rel=1e-9)
    assert found.p_value == np.mean(wanted >= wanted[0] - 1e-9)


def rejections(make, n_tables, **options):
    return sum(spread_test(*make(np.random.default_rng(seed)), seed, 99, **options).p_value <= 0.05 for seed in range(n_tables))


LEVEL = {
    "five rows each": lambda rng: rng.normal(size=(2, 5, 3)),
    "rounded": lambda rng: (rng.normal(size=(30, 3)).round(), rng.normal(size=(20, 3)).round()),
    "rare values": lambda rng: tuple(rng.choice([0, 1, 2], (n, 3), p=[0.8, 0.1, 0.1]) for n in (30, 20)),
    "heavy tails": lambda rng: (rng.standard_cauchy((30, 3)), rng.standard_cauchy((20, 3))),
    "gaps": lambda rng: tuple(np.where(rng.random((n, 3)) < 0.2, np.nan, rng.normal(size=(n, 3))) for n in (30, 20)),
}


@pytest.mark.parametrize("make", LEVEL.values(), ids=LEVEL)
def test_equal_tables_are_told_apart_at_most_once_in_twenty(make):
    assert rejections(make, 200) <= binom(200, 0.05).ppf(0.999)


def test_one_wide_column_of_five_is_found_in_seven_of_ten():
    def wide(rng):
        return rng.normal(size=(80, 5)), rng.normal(size=(60, 5)) * [1.82, 1, 1, 1, 1]

    found = [spread_test(*wide(np.random.default_rng(seed)), seed, 199) for seed in range(60)]
    assert np.mean([one.p_value <= 0.0125 for one in found]) >= 0.7  # as one of two tests in half of the level of a report
    assert np.mean([one.column == 0 for one in found]) > 0.9


def test_shift_scale_and_order_do_not_matter_and_odd_input_is_named():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(40, 3)), rng.normal(size=(30, 3)) * [1, 1, 3]
    found = spread_test(A, B, 0)
    assert found == spread_test(A[::-1], B[::-1], 0) == spread_test(A * 1e150, B * 1e150, 0)
    assert found.column == 2 and "of column 2: times" in str(found)
    frame = spread_test(pd.DataFrame(A, columns=list("abc")), pd.DataFrame(B, columns=list("abc")), 0)
    assert frame == found and frame.to_frame().shape == (1, 6)
    assert spread_test(np.ones((9, 2)), np.ones((9, 2)), 0).p_value == 1
    with pytest.raises(ValueError, match="no column of numbers"):
        spread_test(A, B, 0, categorical_features=[0, 1, 2])
    with pytest.raises(ValueError, match="A holds infinite values"):
        spread_test(A * np.inf, B, 0)


def test_a_change_of_the_share_of_two_values_is_no_change_of_spread():
    rng = np.random.default_rng(0)
    A, B = (np.column_stack([rng.random(n) < share, rng.normal(size=n)]).astype(float) for n, share in ((80, 0.2), (70, 0.6)))
    assert spread_test(A, B, 0).column == 1 and spread_test(A, B, 0).p_value > 0.05
    with pytest.raises(ValueError, match="no column of numbers but those of two values"):
        spread_test(A[:, :1], B[:, :1], 0)
    report = DriftReport(pd.DataFrame(A, columns=["c", "d"]), pd.DataFrame(B, columns=["c", "d"]))
    assert "c" in report.verdict and "spread" not in report.verdict
