"""The `keel` metric against the 10-fold DOB-SCV partitions that KEEL distributes.

The test parts keep the order in which KEEL assigned the samples: row g of a class in part i is the i-th member of group g. So
part 1 holds the random starts in order. What is left to the partitioner is all the rest, and with these starts it gives every
part exactly.
"""

import numpy as np
import pytest

from foldshift.partition.methods.distance_based import dob_scv_folds

pytestmark = pytest.mark.oracle

WHOLE = {"iris": "partitions/iris/iris.dat", "wine": "partitions/wine/wine.dat", "bupa": "classification/bupa.dat"}
N_CHOICES = {"iris": 135, "wine": 159, "bupa": 310}  # samples less one start per group


def read_keel(path):
    rows = [line.split(",") for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    return np.array([[float(value) for value in row[:-1]] for row in rows]), np.array([row[-1].strip() for row in rows])


def published_groups(shared, name):
    """The data, and a list of groups of row numbers in KEEL's order, by class; equal rows are numbered in the order they are
    needed."""
    X, y = read_keel(shared / "data" / "keel" / WHOLE[name])
    parts = [read_keel(shared / f"data/keel/partitions/{name}/{name}-10dobscv-{i}tst.dat") for i in range(1, 11)]
    groups, free = {label: [] for label in np.unique(y)}, np.ones(len(y), bool)
    for label, members in groups.items():
        columns = [X_part[y_part == label] for X_part, y_part in parts]
        for number in range(len(columns[0])):
            members.append([])
            for values in (column[number] for column in columns if number < len(column)):
                row = np.flatnonzero(free & (y == label) & (values == X).all(axis=1))[0]
                free[row] = False
                members[-1].append(row)
    assert not free.any()
    return X, y, groups


class Starts:
    """Takes the place of a random generator: classes are started with these members, the others follow."""

    def __init__(self, starts_by_class):
        self.starts_by_class = iter(starts_by_class)

    def permutation(self, n):
        starts = next(self.starts_by_class)
        return np.concatenate([starts, np.setdiff1d(np.arange(n), starts)])


def folds_from_starts(X, y, groups, metric):
    starts = [np.searchsorted(np.flatnonzero(y == label), [group[0] for group in groups[label]]) for label in groups]
    return dob_scv_folds(X, y, 10, [Starts(starts)], metric=metric)[0]


def published_folds(y, groups):
    folds = np.empty(len(y), int)
    for members in groups.values():
        for group in members:
            folds[group] = np.arange(len(group))
    return folds


@pytest.mark.parametrize("name", WHOLE)
def test_from_the_published_starts_the_keel_metric_gives_every_published_part(shared, name):
    X, y, groups = published_groups(shared, name)
    assert (folds_from_starts(X, y, groups, "keel") == published_folds(y, groups)).all()


def keel(a, X, sd):
    return np.sqrt((abs(X - a) / 4 * sd).sum(axis=1))


def textbook_hvdm(a, X, sd):
    return np.sqrt(((abs(X - a) / (4 * sd)) ** 2).sum(axis=1))


def manhattan_hvdm(a, X, sd):
    return (abs(X - a) / (4 * sd)).sum(axis=1)


def heom(a, X, sd):
    return (((X - a) / np.ptp(X, axis=0)) ** 2).sum(axis=1)


def n_explained(X, y, groups, distance):
    """Choices of a neighbour that the rule explains: the published one is the nearest unassigned, lowest row first."""
    free, n = np.ones(len(y), bool), 0
    for label, members in groups.items():
        for group in members:
            free[group[0]] = False
            distances = distance(X[group[0]], X, X.std(axis=0))
            distances[(y != label) | (distances == 0)] = np.inf
            for row in group[1:]:
                nearest = np.argmin(np.where(free, distances, np.inf))
                n += (X[nearest] == X[row]).all()
                free[row] = False
    return n


@pytest.mark.parametrize("name", WHOLE)
def test_every_published_choice_of_a_neighbour_follows_the_rule_and_other_distances_explain_fewer(shared, name):
    X, y, groups = published_groups(shared, name)
    assert n_explained(X, y, groups, keel) == N_CHOICES[name]
    for other in (textbook_hvdm, manhattan_hvdm, heom):
        assert n_explained(X, y, groups, other) < 0.75 * N_CHOICES[name]


@pytest.mark.parametrize("name", WHOLE)
def test_published_groups_are_full_but_for_the_last_and_every_group_begins_with_the_first_fold(shared, name):
    _, _, groups = published_groups(shared, name)
    for members in groups.values():
        assert all(len(group) == 10 for group in members[:-1]) and 1 <= len(members[-1]) <= 10
