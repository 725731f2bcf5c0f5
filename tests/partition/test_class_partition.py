import re
import warnings
from inspect import signature
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from foldshift.datasets import load_dataset
from foldshift.partition.methods.distance_based import REMAINDERS, db_scv_folds, dob_scv_folds, ms_scv_folds
from foldshift.partition.methods.scv import scv_folds
from foldshift.partition.neighbours import search as neighbours_module
from foldshift.partition.neighbours.metric import METRICS, make_space
from foldshift.partition.neighbours.search import DUPLICATES, LIST_LENGTH, assign_in_groups, class_neighbours
from foldshift.partition.splitters import class_splitters
from foldshift.partition.splitters.class_splitters import (
    DBSCV,
    DOBSCV,
    MSSCV,
    SCV,
    RepeatedDBSCV,
    RepeatedDOBSCV,
    RepeatedMSSCV,
    RepeatedSCV,
)

quick = settings(deadline=None, max_examples=60, derandomize=True)
thorough = settings(quick, max_examples=120)
NEIGHBOUR = {"DB": db_scv_folds, "DOB": dob_scv_folds, "MS": ms_scv_folds}
SPLITTERS = [SCV, DBSCV, DOBSCV, MSSCV]
RULES = [{"duplicates": duplicates, "remainders": remainders} for duplicates, remainders in product(DUPLICATES, REMAINDERS)]
REPEATED = [RepeatedSCV, RepeatedDBSCV, RepeatedDOBSCV, RepeatedMSSCV]


def rngs(*seeds):
    return [np.random.default_rng(seed) for seed in seeds]


class Starts:
    """Takes the place of a random generator and gives one prescribed order."""

    def __init__(self, *orders):
        self.orders = iter(orders)

    def permutation(self, n):
        order = next(self.orders)
        assert len(order) == n
        return np.array(order)


# The rules, literally and slowly
# --------------------------------------------------------------------------------------------------


def literal_distance(a, b, metric, nominal, X, y):
    total = 0.0
    for j in range(len(a)):
        column = X[:, j]
        if np.isnan(a[j]) or np.isnan(b[j]):
            assert metric == "heom"
            total += 1
        elif metric == "euclidean":
            total += (a[j] - b[j]) ** 2
        elif metric == "heom" and nominal[j]:
            total += float(a[j] != b[j])
        elif metric == "heom":
            low, high = min(v for v in column if v == v), max(v for v in column if v == v)
            scaled = [(v - low) / (high - low) if high > low else 0.0 for v in (a[j], b[j])]
            total += (scaled[0] - scaled[1]) ** 2
        elif nominal[j]:
            shares = [np.array([(y[column == v] == label).mean() for label in np.unique(y)]) for v in (a[j], b[j])]
            total += np.sqrt(((shares[0] - shares[1]) ** 2).sum())
        else:
            total += abs(a[j] - b[j]) / 4 * X.std(axis=0)[j]
    return np.sqrt(total) if metric == "keel" else total


def literal_nearest(row, free, X, y, metric, duplicates, nominal):
    """Nearest of the free rows, the lowest among equals; None if there is none."""
    distances = [(literal_distance(X[row], X[other], metric, nominal, X, y), other) for other in sorted(free)]
    allowed = [pair for pair in distances if duplicates == "neighbours" or pair[0] > 0]
    return min(allowed)[1] if allowed else None


def literal_groups(rows, group_size, hops, *problem):
    """Groups of a class; `rows` are in the order in which groups start."""
    free, groups = set(rows), []
    while free:
        row = next(row for row in rows if row in free)
        groups.append([])
        while row is not None and len(groups[-1]) < group_size:
            groups[-1].append(row)
            free.remove(row)
            row = literal_nearest(groups[-1][-1 if hops else 0], free, *problem)
    return groups


def literal_folds(method, X, y, k, rng, metric, duplicates, remainders, nominal):
    """The table of rules, sample by sample, with every distance worked out anew."""
    folds = np.full(len(y), -1)
    turn = 0
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        rows = rows[rng.permutation(len(rows))].tolist()
        first = 0 if remainders == "restart" else turn
        if method == "DOB":
            next_of_smaller = turn
            for number, group in enumerate(literal_groups(rows, k, False, X, y, metric, duplicates, nominal)):
                fold = first
                if remainders == "spread" and len(group) == k:
                    fold = turn + number
                elif remainders == "spread":
                    fold = next_of_smaller
                    next_of_smaller += len(group)
                folds[group] = (fold + np.arange(len(group))) % k
        else:
            path = [row for group in literal_groups(rows, len(rows), True, X, y, metric, duplicates, nominal) for row in group]
            if method == "DB":
                folds[path] = (first + np.arange(len(path))) % k
            else:
                for j in range(k):
                    size = len(rows) // k + (j < len(rows) % k)
                    folds[path[:size]] = (first + j) % k
                    path = path[size:]
        turn += len(rows)
    return folds


@st.composite
def problems(draw):
    """Few values, so that ties and duplicates abound, or many; numeric, nominal and mixed columns; constant ones; up to four
    classes."""
    n, p, k = draw(st.integers(4, 32)), draw(st.integers(1, 4)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nominal = np.array(draw(st.lists(st.booleans(), min_size=p, max_size=p)))
    X = rng.normal(size=(n, p)) if draw(st.booleans()) else rng.integers(-2, draw(st.integers(-2, 3)), size=(n, p), endpoint=True)
    X = np.where(nominal, rng.integers(0, draw(st.integers(1, 4)), size=(n, p)), X).astype(float)
    y = rng.integers(0, draw(st.integers(1, 4)), size=n)
    return X, y, min(k, n), nominal, draw(st.integers(0, 1000))


def folds_or_none(method, X, y, k, seeds, nominal, remainders="restart", **options):
    """Folds of the array function; None where it refuses an empty fold, which only a restart leaves."""
    try:
        return NEIGHBOUR[method](X, y, k, rngs(*seeds), remainders=remainders, categorical_features=nominal, **options)
    except ValueError as error:
        assert remainders == "restart" and "empty" in str(error)
        return None


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(rules.values()))
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", NEIGHBOUR)
@thorough
@given(problem=problems())
def test_folds_are_those_of_the_rules_taken_literally(method, metric, rules, problem):
    X, y, k, nominal, seed = problem
    folds = folds_or_none(method, X, y, k, [seed], nominal, metric=metric, **rules)
    literal = literal_folds(method, X, y, k, np.random.default_rng(seed), metric, **rules, nominal=nominal)
    if folds is None:
        assert len(np.unique(literal)) < k
    else:
        assert folds[0].tolist() == literal.tolist()


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("method", NEIGHBOUR)
@quick
@given(problem=problems(), share=st.sampled_from([0.05, 0.3, 0.9, 1.0]))
def test_a_missing_value_is_at_distance_one_from_all_others(method, duplicates, problem, share):
    X, y, k, nominal, seed = problem
    X = np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)
    rules = {"duplicates": duplicates, "remainders": "spread"}
    literal = literal_folds(method, X, y, k, np.random.default_rng(seed), "heom", **rules, nominal=nominal)
    for seeds in ([seed], [seed] * 12):  # by the tree, and by lists of neighbours
        folds = NEIGHBOUR[method](X, y, k, rngs(*seeds), categorical_features=nominal, **rules)
        assert (folds == literal).all()


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", NEIGHBOUR)
@quick
@given(problem=problems())
def test_class_counts_and_fold_sizes_differ_by_at_most_one_if_remainders_are_spread(method, metric, duplicates, problem):
    X, y, k, nominal, seed = problem
    (folds,) = folds_or_none(method, X, y, k, [seed], nominal, "spread", metric=metric, duplicates=duplicates)
    assert_balanced(folds, y, k)


@quick
@given(problem=problems())
def test_class_counts_and_fold_sizes_of_scv_differ_by_at_most_one(problem):
    X, y, k, _, seed = problem
    assert_balanced(scv_folds(X, y, k, rngs(seed))[0], y, k)


def assert_balanced(folds, y, k):
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1 and folds.max() < k
    for label in np.unique(y):
        assert np.ptp(np.bincount(folds[y == label], minlength=k)) <= 1


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", NEIGHBOUR)
@quick
@given(problem=problems())
def test_after_a_restart_no_later_fold_receives_more_of_a_class_and_only_smaller_groups_make_it_uneven(
    method, metric, duplicates, problem
):
    X, y, k, nominal, seed = problem
    folds = folds_or_none(method, X, y, k, [seed], nominal, metric=metric, duplicates=duplicates)
    if folds is not None:
        for label in np.unique(y):
            counts = np.bincount(folds[0][y == label], minlength=k)
            assert (np.diff(counts) <= 0).all()
            assert np.ptp(counts) <= 1 or (method == "DOB" and duplicates == "skipped")


@pytest.mark.parametrize("n_seeds", [1, neighbours_module.FEWEST_SEEDS])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", NEIGHBOUR)
@quick
@given(problem=problems())
def test_rules_left_open_are_those_of_the_metric(method, metric, n_seeds, problem):
    X, y, k, nominal, seed = problem
    seeds = range(seed, seed + n_seeds)
    named = dict(zip(("duplicates", "remainders"), ("skipped", "restart") if metric == "keel" else ("neighbours", "spread")))
    options = {"metric": metric, "categorical_features": nominal}
    try:
        folds = NEIGHBOUR[method](X, y, k, rngs(*seeds), **options)
    except ValueError:
        with pytest.raises(ValueError, match="remainders='restart' leaves fold"):
            NEIGHBOUR[method](X, y, k, rngs(*seeds), **options, **named)
    else:
        assert (folds == NEIGHBOUR[method](X, y, k, rngs(*seeds), **options, **named)).all()


# Made before duplicates and remainders had options of their own.
BEFORE = [
    ("DB", "heom", "21100012233332211121300003"),
    ("DB", "euclidean", "21103312130332210021201003"),
    ("DB", "keel", "11103222010333100020232301"),
    ("DOB", "heom", "20101232333311212301100020"),
    ("DOB", "euclidean", "21003332100212011031301322"),
    ("DOB", "keel", "31002112313002023230121003"),
    ("MS", "heom", "02100321032113200321032113"),
    ("MS", "euclidean", "03201321130210301321230210"),
    ("MS", "keel", "20201200100230313220311331"),
]


@pytest.mark.parametrize("n_seeds", [1, neighbours_module.FEWEST_SEEDS])
@pytest.mark.parametrize(("method", "metric", "expected"), BEFORE)
def test_folds_of_the_metrics_stay_what_they_were(method, metric, expected, n_seeds):
    row = np.arange(26)
    X, y = np.column_stack([row * 7 % 3, row * 3 % 4]), row**2 % 3
    folds = NEIGHBOUR[method](X, y, 4, rngs(*range(5, 5 + n_seeds)), metric=metric, categorical_features=[1])
    assert "".join(map(str, folds[0])) == expected


# The tree, the lists and both together
# --------------------------------------------------------------------------------------------


def tables(kind, n=700):
    rng = np.random.default_rng(3)
    if kind == "numeric":
        return rng.normal(size=(n, 3)), None
    if kind == "grid":
        return rng.integers(0, 9, size=(n, 3)).astype(float), None
    if kind == "mixed":
        X = np.column_stack([rng.normal(size=n), rng.integers(0, 3, n), rng.integers(0, 5, n), rng.integers(0, 30, n)])
        return X, [1, 2]
    if kind == "many columns":
        return rng.normal(size=(n, 40)), None
    return rng.integers(0, 2, size=(n, 2)).astype(float), [0]  # four distinct points


KINDS = ["numeric", "grid", "mixed", "many columns", "few points"]


def brute_force_order(coordinates, starts, group_size, hops, distances):
    free = np.ones(len(coordinates), bool)
    group, place, number = np.empty(len(starts), int), np.empty(len(starts), int), 0
    for start in starts:
        if not free[start]:
            continue
        last, free[start], group[start], place[start], size = start, False, number, 0, 1
        while size < group_size:
            apart = np.where(free, distances[last if hops else start], np.inf)
            row = np.argmin(apart)
            if apart[row] == np.inf:
                break
            last, free[row], group[row], place[row] = row, False, number, size
            size += 1
        number += 1
    return group, place


@pytest.mark.parametrize("with_lists", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("metric", METRICS)
def test_groups_are_the_nearest_unassigned_by_looking_at_all_pairs(metric, duplicates, kind, with_lists):
    X, nominal = tables(kind)
    X = np.ascontiguousarray(X)
    assert len(X) > 2 * LIST_LENGTH  # so that lists run out
    y = np.random.default_rng(5).integers(0, 2, len(X))
    mask = np.isin(np.arange(X.shape[1]), nominal or [])
    space = make_space(X, y, metric, mask)
    rows = np.flatnonzero(y == 1)
    neighbours = class_neighbours(space, rows, duplicates, with_lists)
    points = space.coordinates[rows]
    distances = np.zeros((len(rows), len(rows)))
    for j in range(X.shape[1]):
        a, b = points[:, None, j], points[None, :, j]
        if mask[j] and metric == "keel":
            table = space.gaps[space.starts[j] : space.starts[j] + space.n_codes[j] ** 2].reshape(space.n_codes[j], -1)
            distances += table[a.astype(int), b.astype(int)]
        elif mask[j] and metric == "heom":
            distances += a != b
        else:
            distances += abs(a - b) / 4 * X.std(axis=0)[j] if metric == "keel" else (a - b) ** 2
    if metric == "keel":
        distances = np.sqrt(distances)
    if duplicates == "skipped":
        distances[distances == 0] = np.inf
    starts = np.random.default_rng(7).permutation(len(rows))
    for group_size, hops in ((5, False), (10, False), (len(rows), True)):
        found = assign_in_groups(neighbours, starts, group_size, hops)
        expected = brute_force_order(points, starts, group_size, hops, distances)
        assert found[0].tolist() == expected[0].tolist() and found[1].tolist() == expected[1].tolist()


def test_coordinates_of_a_metric_are_the_inputs_scaled_or_as_they_are_and_category_positions():
    X = np.array([[2.0, 7, 5], [4, 3, 5], [10, 7, 5]])
    nominal = np.array([False, True, False])
    y = np.array([0, 1, 1])
    assert make_space(X, y, "heom", nominal).coordinates.tolist() == [[0, 1, 0], [0.25, 0, 0], [1, 1, 0]]
    assert make_space(X, y, "euclidean", nominal).coordinates.tolist() == X.tolist()
    space = make_space(X, y, "keel", nominal)
    assert space.coordinates.tolist() == [[2, 1, 5], [4, 0, 5], [10, 1, 5]]
    # Category 3 is all class 1, category 7 half and half.
    assert space.gaps.reshape(2, 2) == pytest.approx(np.array([[0, np.sqrt(0.5)], [np.sqrt(0.5), 0]]))


def test_euclidean_and_heom_differ_where_columns_are_unequally_wide():
    X, y = np.array([[0.0, 0], [1, 0], [0, 50], [1, 100]]), np.zeros(4, int)
    # Pairs 0 1 and 3 2; pairs 0 2 and 3 1.
    assert dob_scv_folds(X, y, 2, [Starts([0, 3, 1, 2])], metric="euclidean").tolist() == [[0, 1, 0, 1]]
    assert dob_scv_folds(X, y, 2, [Starts([0, 3, 1, 2])], metric="heom").tolist() == [[0, 0, 1, 1]]


def test_folds_do_not_depend_on_the_other_seeds_nor_on_lists():
    X, nominal = tables("mixed")
    y = np.random.default_rng(0).integers(0, 3, len(X))
    for function in NEIGHBOUR.values():
        for metric, rules in product(METRICS, RULES):
            options = {"metric": metric, "categorical_features": nominal} | rules
            together = function(X, y, 5, rngs(*range(neighbours_module.FEWEST_SEEDS + 2)), **options)
            for seed in (0, 4):
                assert (together[seed] == function(X, y, 5, rngs(seed), **options)[0]).all()
    together = scv_folds(None, y, 5, rngs(*range(5)))
    assert (together[3] == scv_folds(None, y, 5, rngs(3))[0]).all()


def test_folds_do_not_depend_on_the_layout_in_memory_nor_on_the_sign_of_zero():
    X, nominal = tables("mixed")
    y = np.random.default_rng(0).integers(0, 3, len(X))
    X[:, 0] = X[:, 0].round()
    signed = np.where((X == 0) & (np.arange(len(X)) % 2 == 0)[:, None], -0.0, X)
    assert np.signbit(signed[signed == 0]).any()
    for function in NEIGHBOUR.values():
        for metric in METRICS:
            options = {"metric": metric, "categorical_features": nominal}
            folds = function(X, y, 5, rngs(0), **options)
            for same in (np.asfortranarray(X), X.tolist(), signed):
                assert (function(same, y, 5, rngs(0), **options) == folds).all()


def test_two_hundred_thousand_samples_are_cut_without_a_table_of_pairs():
    rng = np.random.default_rng(0)
    X, y = rng.random((200_000, 5)), rng.integers(0, 2, 200_000)
    (folds,) = dob_scv_folds(X, y, 5, rngs(0))
    assert np.bincount(folds).tolist() == [40_000] * 5


# Worked by hand
# -------------------------------------------------------------------------------------------------------------------

LINE = np.array([[0.0], [1], [3], [7]])  # from 3 on: 1, 0, 7
ONE_CLASS = np.zeros(4, int)


@pytest.mark.parametrize("metric", METRICS)
def test_db_scv_gives_every_hop_to_the_next_fold(metric):
    assert db_scv_folds(LINE, ONE_CLASS, 2, [Starts([2, 0, 1, 3])], metric=metric).tolist() == [[0, 1, 0, 1]]


@pytest.mark.parametrize("metric", METRICS)
def test_ms_scv_fills_a_fold_before_the_next_one_and_the_first_folds_take_the_remainder(metric):
    assert ms_scv_folds(LINE, ONE_CLASS, 2, [Starts([2, 0, 1, 3])], metric=metric).tolist() == [[1, 0, 0, 1]]
    assert ms_scv_folds(LINE, ONE_CLASS, 3, [Starts([2, 0, 1, 3])], metric=metric).tolist() == [[1, 0, 0, 2]]


def test_dob_scv_moves_the_first_fold_on_from_group_to_group_unless_it_restarts():
    # Groups 3, 1 and 0, 7.
    assert dob_scv_folds(LINE, ONE_CLASS, 2, [Starts([2, 1, 0, 3])]).tolist() == [[1, 1, 0, 0]]
    for options in ({"metric": "keel"}, {"remainders": "restart"}, {"metric": "euclidean", "remainders": "restart"}):
        assert dob_scv_folds(LINE, ONE_CLASS, 2, [Starts([2, 1, 0, 3])], **options).tolist() == [[0, 1, 0, 1]]
    spread = {"metric": "keel", "remainders": "spread"}
    assert dob_scv_folds(LINE, ONE_CLASS, 2, [Starts([2, 1, 0, 3])], **spread).tolist() == [[1, 1, 0, 0]]


@pytest.mark.parametrize("function", NEIGHBOUR.values())
def test_the_turn_runs_on_across_classes_unless_it_restarts(function):
    X, y = np.array([[0.0], [1], [2], [10], [11], [12]]), np.array([0, 0, 0, 1, 1, 1])
    starts = [0, 1, 2], [0, 1, 2]
    for metric, rules, sizes in product(METRICS, RULES, ([3, 3], [4, 2])):
        folds = function(X, y, 2, [Starts(*starts)], metric=metric, **rules)[0]
        assert (np.bincount(folds).tolist() == sizes) == (rules["remainders"] == ("spread" if sizes == [3, 3] else "restart"))


def test_duplicates_are_neighbours_or_skipped():
    X, y = np.array([[0.0], [0], [0], [5], [6], [7]]), np.zeros(6, int)
    order = [0, 1, 2, 3, 4, 5]
    # Neighbours: groups 0 1, 2 3, 4 5; skipped: 0 with 3, 1 with 4, 2 with 5.
    for metric in METRICS:
        by_rules = [dob_scv_folds(X, y, 2, [Starts(order)], metric=metric, **rules).tolist() for rules in RULES]
        assert by_rules == [[[0, 1, 1, 0, 0, 1]], [[0, 1, 0, 1, 0, 1]], [[0, 1, 0, 1, 0, 1]], [[0, 0, 0, 1, 1, 1]]]
    assert dob_scv_folds(X, y, 2, [Starts(order)]).tolist() == [[0, 1, 1, 0, 0, 1]]
    assert dob_scv_folds(X, y, 2, [Starts(order)], metric="keel").tolist() == [[0, 0, 0, 1, 1, 1]]


def test_if_duplicates_are_skipped_a_group_ends_where_only_such_are_left_and_a_path_starts_anew():
    X, y = np.array([[0.0], [0], [0], [0], [5]]), np.zeros(5, int)
    order = [1, 0, 3, 2, 4]
    # Groups 1 4, and 0, 3, 2 alone: all in the first fold.
    assert dob_scv_folds(X, y, 2, [Starts(order)], metric="keel").tolist() == [[0, 0, 0, 0, 1]]
    for metric in METRICS:
        options = {"metric": metric, "duplicates": "skipped"}
        assert dob_scv_folds(X, y, 2, [Starts(order)], remainders="restart", **options).tolist() == [[0, 0, 0, 0, 1]]
        # The smaller groups go on where the one before ended: 0 to the first fold, 3 to the second, 2 to the first.
        assert dob_scv_folds(X, y, 2, [Starts(order)], remainders="spread", **options).tolist() == [[0, 0, 0, 1, 1]]
        # Path 1 4 0, then 3, then 2.
        assert db_scv_folds(X, y, 2, [Starts(order)], **options).tolist() == [[0, 0, 0, 1, 1]]


def test_the_lower_row_is_taken_among_equals():
    X, y = np.array([[1.0], [2], [0], [1.5]]), np.zeros(4, int)
    # From 1 to 1.5 and to the first of the equals 2 and 0; the last row is a group of its own.
    assert dob_scv_folds(X, y, 3, [Starts([0, 1, 2, 3])], metric="euclidean").tolist() == [[0, 2, 0, 1]]


def test_under_keel_the_first_fold_of_titanic_is_more_than_twice_as_large_as_the_others(shared):
    data = load_dataset("titanic", mirror=str(shared / "data"), scaling="none")
    sizes = np.array([np.bincount(folds) for folds in dob_scv_folds(data.X, data.y, 5, rngs(*range(100)), metric="keel")])
    assert (
        800 <= sizes[:, 0].mean() <= 900 and (sizes[:, 1:].mean(axis=0) >= 325).all() and (sizes[:, 1:].mean(axis=0) <= 350).all()
    )
    heom = dob_scv_folds(data.X, data.y, 5, rngs(0))[0]
    assert np.bincount(heom).tolist() == [441, 440, 440, 440, 440]


def test_balancing_lowers_and_segregating_raises_the_shift_of_plain_stratification():
    X, y = load_iris(return_X_y=True)

    def shift(folds):
        """Mean square of the distance between a fold's mean and the mean of all, class by class."""
        return np.mean(
            [
                (X[(cut == fold) & (y == label)].mean(axis=0) - X[y == label].mean(axis=0)) ** 2
                for cut in folds
                for fold in range(5)
                for label in range(3)
            ]
        )

    seeds = rngs(*range(30))
    dob, db, scv, ms = (shift(f(X, y, 5, seeds)) for f in (dob_scv_folds, db_scv_folds, scv_folds, ms_scv_folds))
    assert max(dob, db) < scv / 2 and ms > 2 * scv


# Class labels, shapes, refusals
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [scv_folds, *NEIGHBOUR.values()])
def test_labels_of_any_kind_give_the_same_folds_and_many_folds_a_wider_type(function):
    X = np.random.default_rng(0).random((400, 2))
    y = np.random.default_rng(1).integers(0, 3, 400)
    folds = function(X, y, 4, rngs(0, 1))
    assert folds.shape == (2, 400) and folds.dtype == np.uint8
    assert (folds == function(X, np.array(["ape", "bee", "cat"])[y], 4, rngs(0, 1))).all()
    assert function(X, np.zeros(400), 300, rngs(0)).dtype == np.uint16
    assert function(X, y, 4, []).shape == (0, 400)


def test_one_class_identical_rows_and_classes_smaller_than_the_number_of_folds_are_cut():
    for function in (scv_folds, *NEIGHBOUR.values()):
        assert np.bincount(function(np.ones((7, 2)), np.zeros(7), 3, rngs(0))[0]).tolist() == [3, 2, 2]
        assert np.bincount(function(np.arange(5.0)[:, None], np.arange(5), 5, rngs(0))[0]).tolist() == [1] * 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_folds": 1}, "n_folds=1 must be between 2 and the number of samples, 6"),
        ({"n_folds": 7}, "n_folds=7 must be between"),
        ({"metric": "cosine"}, "metric='cosine' is not known; allowed: heom, euclidean, keel"),
        ({"X": np.ones(6)}, r"X has shape \(6,\); expected \(n_samples, n_features\)"),
        ({"X": np.ones((5, 2))}, "X and y have 5 and 6 samples; expected the same number"),
        ({"X": np.full((6, 1), np.nan), "metric": "keel"}, "Input X contains NaN, for which metric='keel' has no rule.*impute"),
        ({"categorical_features": [3]}, "between 0 and 0"),
        ({"duplicates": "x"}, "^duplicates='x' is not known; allowed: neighbours, skipped$"),
        ({"remainders": "x"}, "^remainders='x' is not known; allowed: spread, restart$"),
        (
            {"X": np.ones((6, 1)), "metric": "keel"},
            "^metric='keel' with remainders='restart' leaves fold 1 of 2 empty, since every group begins with fold 0 and ends "
            "where "
            "only duplicates are left; use remainders='spread'$",
        ),
        (
            {"y": np.arange(6), "remainders": "restart"},
            "^metric='heom' with remainders='restart' leaves fold 1 of 2 empty, since every class begins with fold 0; use "
            "remainders='spread'$",
        ),
    ],
)
def test_what_cannot_be_cut_is_refused_by_name(change, message):
    arguments = {"X": np.arange(6.0)[:, None], "y": np.zeros(6), "n_folds": 2, "rngs": rngs(0)} | change
    with pytest.raises(ValueError, match=message):
        dob_scv_folds(**arguments)


# Splitters
# ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", SPLITTERS + REPEATED)
def test_splitters_partition_the_rows_in_the_callers_order(make):
    X, y = load_iris(return_X_y=True)
    splitter = make(4, random_state=0) if make in SPLITTERS else make(4, 3, random_state=0)
    splits = list(splitter.split(X, y))
    assert len(splits) == splitter.get_n_splits(X, y) == (4 if make in SPLITTERS else 12)
    for start in range(0, len(splits), 4):
        assert (np.sort(np.concatenate([test for _, test in splits[start : start + 4]])) == np.arange(150)).all()
    for train, test in splits:
        assert (np.sort(np.concatenate([train, test])) == np.arange(150)).all()
    assert all((a[1] == b[1]).all() for a, b in zip(splits, splitter.split(X, y)))
    if make in REPEATED:
        assert len({test.tobytes() for _, test in splits}) == 12


@pytest.mark.parametrize(("make", "function"), list(zip(SPLITTERS, [scv_folds, *NEIGHBOUR.values()])))
def test_a_splitter_with_an_integer_state_makes_the_folds_of_that_seed(make, function):
    X, y = load_iris(return_X_y=True)
    folds = function(X, y, 5, rngs(11))[0]
    for fold, (_, test) in enumerate(make(random_state=11).split(X, y)):
        assert (test == np.flatnonzero(folds == fold)).all()


def test_options_and_nominal_columns_reach_the_partitioner():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.integers(0, 9, 90), rng.random(90)]), rng.integers(0, 2, 90)
    X[45:] = X[:45]
    for options in (
        {"metric": "keel"},
        {"metric": "euclidean"},
        {"duplicates": "skipped"},
        {"remainders": "restart"},
        {"categorical_features": [0]},
        {"categorical_features": [True, False]},
    ):
        folds = dob_scv_folds(X, y, 3, rngs(5), **options)[0]
        assert (folds != dob_scv_folds(X, y, 3, rngs(5))[0]).any()
        children = [np.random.default_rng(child) for child in np.random.SeedSequence(5).spawn(2)]
        first = dob_scv_folds(X, y, 3, children, **options)[0]  # does not depend on how many repetitions follow
        for splitter, expected in (
            (DOBSCV(3, random_state=5, **options), folds),
            (RepeatedDOBSCV(3, 1, random_state=5, **options), first),
            (RepeatedDOBSCV(3, 2, random_state=5, **options), first),
        ):
            tests = [test.tolist() for _, test in splitter.split(X, y)][:3]
            assert tests == [np.flatnonzero(expected == fold).tolist() for fold in range(3)]


def test_a_state_that_moves_on_gives_new_folds():
    X, y = load_iris(return_X_y=True)
    splitter = DOBSCV(2, random_state=np.random.RandomState(0))
    first, second = ([test.tolist() for _, test in splitter.split(X, y)] for _ in range(2))
    assert first != second


def test_splitters_work_where_scikit_learn_takes_cv():
    X, y = load_iris(return_X_y=True)
    for make in SPLITTERS:
        assert cross_val_score(KNeighborsClassifier(), X, y, cv=make(3, random_state=0)).shape == (3,)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=RepeatedDOBSCV(2, 2, metric="keel", random_state=0))
    assert search.fit(X, np.array(["ape", "bee", "cat"])[y]).n_splits_ == 4
    assert "metric='keel'" in repr(DOBSCV(3, metric="keel")) and "remainders=None" in repr(DOBSCV(3))
    assert "duplicates='skipped'" in repr(RepeatedMSSCV(3, duplicates="skipped"))
    assert "n_repeats=7" in repr(RepeatedDBSCV(3, 7))


def test_a_class_with_fewer_members_than_folds_is_warned_about_and_cut():
    X, y = np.arange(12.0)[:, None], [0] * 9 + [1] * 3
    for make in SPLITTERS:
        with pytest.warns(UserWarning, match="least populated class in y has only 3 members, which is less than n_splits=5"):
            tests = [test for _, test in make(5, random_state=0).split(X, y)]
        assert sorted(np.concatenate(tests)) == list(range(12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(DOBSCV(3, random_state=0).split(X, y))) == 3


def first_split(splitter, X=((0.0,),) * 6, y=(0, 1) * 3):
    return next(splitter.split(np.array(X), y))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: DOBSCV(1), "n_splits must be at least 2; got n_splits=1"),
        (lambda: SCV(2.5), "n_splits must be an integer of at least 2; got 2.5 of type float"),
        (lambda: RepeatedSCV(2, 0), "n_repeats must be at least 1; got n_repeats=0"),
        (lambda: RepeatedMSSCV(2, 0), "n_repeats must be at least 1; got n_repeats=0"),
        (lambda: DBSCV(metric="cosine"), "metric='cosine' is not known; allowed: heom, euclidean, keel"),
        (lambda: DBSCV(duplicates="x"), "duplicates='x' is not known; allowed: neighbours, skipped"),
        (lambda: RepeatedMSSCV(remainders="x"), "remainders='x' is not known; allowed: spread, restart"),
        (lambda: first_split(DOBSCV(7)), "n_splits=7 greater than the number of samples: n_samples=6"),
        (lambda: first_split(DOBSCV(4)), "n_splits=4 cannot be greater than the number of members in each class"),
        (lambda: first_split(SCV(2), y=None), "'y' parameter should not be None: SCV stratifies on it"),
        (lambda: first_split(DBSCV(2), y=np.arange(6) + 0.5), "Got 'continuous' instead. For a continuous target use Cont"),
        (lambda: first_split(DBSCV(2), y=np.eye(6)), r"y has shape \(6, 6\); expected one column"),
        (lambda: first_split(MSSCV(2), y=[0, 1, 0, 1, 0]), "samples; expected the same number"),
        (lambda: first_split(MSSCV(2), y=[0, 1, 0, 1, 0, np.nan]), r"y contains NaN: 1 of 6 rows \(the first is row 5\)"),
        (lambda: first_split(MSSCV(2, metric="euclidean"), X=((np.nan,),) * 6), "Input X contains NaN.*metric='heom'"),
        (lambda: first_split(MSSCV(2), X=((np.inf,),) * 6), "Input X contains infinity"),
        (lambda: first_split(MSSCV(2), X=(0.0,) * 6), "Expected 2D array"),
        (lambda: first_split(DOBSCV(2, categorical_features=[2])), "between 0 and 0"),
        (lambda: first_split(DOBSCV(2, categorical_features=[True, False])), "mask of shape"),
        (lambda: first_split(DOBSCV(2, metric="keel")), "leaves fold 1 of 2 empty"),
    ],
)
def test_splitters_say_what_is_wrong(attempt, message):
    with pytest.raises(ValueError, match=message):
        attempt()


def test_scv_looks_at_the_length_of_the_inputs_only():
    X = np.array([["a"], [None], ["b"], ["c"]], dtype=object)
    assert len(list(SCV(2, random_state=0).split(X, [0, 1, 0, 1]))) == 2


def test_every_public_splitter_documents_its_parameters():
    for make in SPLITTERS + REPEATED:
        assert make.__module__ == class_splitters.__name__
        assert all(re.search(rf"\b{name}\b", make.__doc__) for name in signature(make).parameters)


@pytest.mark.parametrize("name", ["SCV", "DB-SCV", "DOB-SCV", "MS-SCV"])
def test_make_folds_knows_the_partitioners_of_classes_by_the_papers_names(name):
    from foldshift.partition import make_folds

    rng = np.random.default_rng(0)
    X, y = rng.random((40, 2)), np.arange(40) % 2
    folds = make_folds(name, X, y, 4, [3, 4])
    assert folds.shape == (2, 40) and folds.dtype == np.uint8
    for row in folds:
        assert (np.bincount(row * 2 + y) == 5).all()
