from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.partition import make_folds
from foldshift.partition.neighbours.search import DUPLICATES
from foldshift.partition.neighbours.visiting_order import exploration
from foldshift.reporting.figure_style import plt
from foldshift.shift.measures.covariates import fold_covariates
from foldshift.studies.moreno_torres_2012.partitioner_figures import (
    ARTIFICIAL,
    START,
    artificial_cuts,
    artificial_shift,
    draw_extreme_shift,
    worst_starts,
)

PARTITIONERS = ["DB-SCV", "DOB-SCV", "MS-SCV"]
quick = settings(deadline=None, max_examples=60, derandomize=True)


@st.composite
def problems(draw):
    """Whole numbers, so that distances are exact and ties and duplicates abound; up to three classes, named by letters."""
    n, p, k = draw(st.integers(4, 30)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(1, 9)), size=(n, p), endpoint=True).astype(float)
    y = np.array(list("cab"))[rng.integers(0, draw(st.integers(1, 3)), size=n)]
    return X, y, k, draw(st.integers(0, 1000))


def explore(partitioner, problem, **options):
    X, y, k, seed = problem
    return exploration(partitioner, X, y, k, np.random.default_rng(seed), metric="euclidean", **options)


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("partitioner", PARTITIONERS)
@quick
@given(problem=problems())
def test_folds_are_those_of_the_partitioner_with_the_same_seed(partitioner, duplicates, problem):
    X, y, k, seed = problem
    path = explore(partitioner, problem, duplicates=duplicates)
    (folds,) = make_folds(partitioner, X, y, k, seeds=[seed], metric="euclidean", duplicates=duplicates)
    assert sorted(path.rows) == list(range(len(y)))
    assert path.folds.dtype == folds.dtype and path.folds.tolist() == folds[path.rows].tolist()


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_options_left_open_are_those_of_the_partitioner(partitioner):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)) * [1, 50], rng.integers(0, 2, 40)
    path = exploration(partitioner, X, y, 3, np.random.default_rng(7))
    assert path.folds.tolist() == make_folds(partitioner, X, y, 3, seeds=[7])[0, path.rows].tolist()


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("partitioner", PARTITIONERS)
@quick
@given(problem=problems())
def test_every_hop_goes_to_the_nearest_unassigned_sample_of_the_class(partitioner, duplicates, problem):
    X, y = problem[:2]
    path = explore(partitioner, problem, duplicates=duplicates)
    free = set(range(len(y)))
    for row, source in zip(path.rows, path.sources):
        if source >= 0:
            distance = ((X - X[source]) ** 2).sum(axis=1)
            allowed = [(distance[i], i) for i in free if y[i] == y[source] and (duplicates == "neighbours" or distance[i] > 0)]
            assert min(allowed)[1] == row
        free.remove(row)


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("partitioner", PARTITIONERS)
@quick
@given(problem=problems())
def test_a_start_comes_where_the_rules_say(partitioner, duplicates, problem):
    X, y, k, _ = problem
    path = explore(partitioner, problem, duplicates=duplicates)
    assert y[path.rows].tolist() == sorted(y)
    since = 0  # hops since the last start
    for step, source in enumerate(path.sources):
        before = path.rows[step - 1]
        if source >= 0:
            since += 1
            assert source == (path.rows[step - since] if partitioner == "DOB-SCV" else before)
            assert since < k or partitioner != "DOB-SCV"
            continue
        if step > 0:
            rest = path.rows[step:]
            origin = path.rows[step - 1 - since] if partitioner == "DOB-SCV" else before
            reachable = [i for i in rest if y[i] == y[before] and (duplicates == "neighbours" or (X[i] != X[origin]).any())]
            assert not reachable or (partitioner == "DOB-SCV" and since == k - 1)
        since = 0


def test_starts_are_random_and_flagged():
    X = np.arange(8.0)[:, None]
    first = set()
    for seed, partitioner in product(range(60), PARTITIONERS):
        path = exploration(partitioner, X, [1] * 8, 4, np.random.default_rng(seed))
        assert path.is_start.sum() == (2 if partitioner == "DOB-SCV" else 1) and path.is_start[0]
        first.add(path.rows[0])
    assert first == set(range(8))


def test_a_partitioner_that_explores_nothing_is_refused():
    with pytest.raises(ValueError, match=r"unknown partitioner 'SCV'.*DB-SCV, DOB-SCV, MS-SCV"):
        exploration("SCV", np.zeros((4, 1)), [0, 0, 1, 1], 2, np.random.default_rng(0))


# Figures 1 to 4 -----------------------------------------------------------------------------------------------------------------


def test_in_figure_1_every_cross_of_the_test_part_is_classified_wrongly():
    figure = draw_extreme_shift()
    assert "wrong: 6 of 6 crosses, 0 of 6 circles" in figure.axes[2].get_title()
    plt.close(figure)


def test_on_the_artificial_samples_db_scv_spirals_and_cuts_worse_than_dob_scv_with_the_worst_second_start():
    db, dob = artificial_cuts("DB-SCV"), artificial_cuts("DOB-SCV")
    assert list(db) == [(start,) for start in range(8)] and len(dob) == 8 * 4
    spiral = db[START,]
    hops = np.diff(ARTIFICIAL[spiral.rows], axis=0)
    turns = hops[:-1, 0] * hops[1:, 1] - hops[:-1, 1] * hops[1:, 0]
    assert (turns > 0).all()  # always to the left
    angles = np.arctan2(*(ARTIFICIAL[spiral.rows] - ARTIFICIAL.mean(axis=0)).T[::-1])
    assert 1.25 < np.diff(np.unwrap(angles)).sum() / (2 * np.pi) < 2  # more than once around the centre
    same = [starts for starts in dob if starts[0] == START]
    for measure in range(2):
        values = [artificial_shift(dob[starts])[measure] for starts in same]
        assert artificial_shift(dob[worst_starts()])[measure] == max(values) < artificial_shift(spiral)[measure]


def test_neighbours_in_the_artificial_samples_are_nearest_by_a_clear_margin():
    distance = np.linalg.norm(ARTIFICIAL[:, None] - ARTIFICIAL[None], axis=2)
    for path in (artificial_cuts("DB-SCV")[START,], artificial_cuts("DOB-SCV")[worst_starts()]):
        for step, (row, source) in enumerate(zip(path.rows, path.sources)):
            rest = path.rows[step + 1 :]
            assert source < 0 or (distance[source, rest] > 1.1 * distance[source, row]).all()


def test_on_eight_samples_at_random_db_scv_cuts_better_than_dob_scv_on_average():
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(100):
        X, y = rng.random((8, 2)), np.zeros(8, dtype=int)
        shift = [fold_covariates(X, make_folds(name, X, y, 4, seeds=range(20)), 4) for name in ("DB-SCV", "DOB-SCV")]
        gaps.append([shift[1][measure].mean() - shift[0][measure].mean() for measure in ("ks_mean", "energy")])
    assert (np.mean(gaps, axis=0) > 5 * np.std(gaps, axis=0) / np.sqrt(100)).all()
