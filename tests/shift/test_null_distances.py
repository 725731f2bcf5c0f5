"""Null distributions of one cut: those of fewer rows, rescaled, are those of all rows; fewer cuts change no verdict."""

import numpy as np
import pytest

from foldshift.shift import fold_drift
from foldshift.shift.measures import null_distances as nulls
from foldshift.shift.measures.null_distances import Parts, nulls_of_one_cut, pattern_of, tails
from foldshift.shift.measures.random_splits import chances, ranked

RNG = np.random.default_rng(4)
N = 30_000
COLUMNS = {
    "no ties": (RNG.normal(size=N), False),
    "ties": (RNG.normal(size=N).round(1), False),
    "gaps": (np.where(np.arange(N) % 3 == 0, np.nan, RNG.normal(size=N)), False),
    "four categories": (RNG.choice(4, N, p=[0.6, 0.3, 0.08, 0.02]).astype(float), True),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_distances_of_fewer_rows_are_those_of_all_rows_once_rescaled(name, monkeypatch):
    row, folds = ranked(*COLUMNS[name]), (np.arange(N) % 5).astype(np.uint8)[None]

    def null():
        made = nulls_of_one_cut([row], np.array([0.01]), folds, 800, Parts(5, 5, 0.05), np.random.default_rng(0))
        return made[pattern_of(row)].values

    scaled = null()
    monkeypatch.setattr(nulls, "MANY_ROWS", N)
    whole = null()
    error = whole.std() / np.sqrt(800)
    assert not np.array_equal(scaled, whole)
    assert abs(scaled.mean() - whole.mean()) < 4 * error * np.sqrt(2) + 0.004 * whole.mean()
    assert scaled.std() == pytest.approx(whole.std(), rel=0.15)


@pytest.mark.parametrize("column", [(np.arange(N) // 2.0, True), (np.where(np.arange(N) < 200, np.arange(N), np.nan), False)])
def test_many_rare_categories_and_few_values_are_compared_as_they_are(column):
    row, folds = ranked(*column), (np.arange(N) % 5).astype(np.uint8)[None]
    made = nulls_of_one_cut([row], np.array([0.01]), folds, 99, Parts(5, 5, 0.05), np.random.default_rng(0))
    again = nulls.null_distances([pattern_of(row)], nulls.random_cuts(folds, 99, np.random.default_rng(0)), Parts(5, 5, 0.05))
    assert np.array_equal(made[pattern_of(row)].values, again[pattern_of(row)].values)


def test_tails_are_the_chances_of_one_seed():
    values = np.round(RNG.normal(size=400), 1)
    for distance in (-3.0, 0.0, 0.1, values.max()):
        more, less = chances(np.array([[distance]]), values[:, None], np.zeros(401, int), 10, RNG)
        assert tails(np.sort(values), distance) == (more[0], less[0])


def test_a_shift_among_hundreds_of_coarse_columns_is_found_with_fewer_cuts_for_the_others(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.poisson(rng.uniform(1, 5, 150), size=(60, 150)).astype(float)
    folds = X[:, 7].argsort(kind="stable").argsort() * 3 // 60
    monkeypatch.setattr(nulls, "MOST_CELLS", 1.0)
    few = fold_drift(X, None, folds)
    assert [row.name for row in few.features if row.verdict == "more"] == ["feature 7"] and few.n_random > 10_000


def test_a_large_table_is_tested_with_as_many_cuts_as_its_columns_ask_for():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(25_000, 28)).round(1)
    folds = np.arange(25_000) % 5
    folds[X[:, 3] > 1.5] = 0
    drift = fold_drift(X, None, folds)
    assert drift.n_random == 2239 and [row.name for row in drift.features if row.verdict == "more"] == ["feature 3"]
