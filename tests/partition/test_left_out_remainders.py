"""SCV and MS-SCV with remainders left out, as Algorithms 1 and 4 are printed."""

import numpy as np
import pytest

from foldshift.partition import ms_scv_folds
from foldshift.partition.methods.distance_based import Options
from foldshift.partition.methods.left_out_remainders import left_out_folds

SIZES, K = (11, 7, 3), 3
Y = np.repeat(np.arange(len(SIZES)), SIZES)
X = np.random.default_rng(0).random((len(Y), 2))


def rngs(n=20):
    return [np.random.default_rng(seed) for seed in range(n)]


@pytest.mark.parametrize("partitioner", ["SCV", "MS-SCV"])
def test_every_fold_gets_as_many_of_a_class_and_the_rest_none(partitioner):
    folds = left_out_folds(partitioner, X, Y, K, rngs())
    for cut in folds:
        for c, size in enumerate(SIZES):
            counts = [(cut[c == Y] == fold).sum() for fold in range(-1, K)]
            assert counts == [size % K, *[size // K] * K]
    assert len(np.unique(folds, axis=0)) > 10


def test_ms_scv_walks_as_before_and_leaves_out_where_the_walk_ends():
    even = np.repeat([0, 1], [12, 9])  # multiples of K: nothing is left out
    ours = left_out_folds("MS-SCV", X, even, K, rngs())
    np.testing.assert_array_equal(ours, ms_scv_folds(X, even, K, rngs(), remainders="restart"))
    line = np.arange(5.0)[:, None]  # a walk from 0 goes to the right and ends at 4
    cut = left_out_folds("MS-SCV", line, np.zeros(5), 2, rngs())
    assert [0, 0, 1, 1, -1] in cut.tolist()


def test_a_class_with_fewer_samples_than_folds_is_in_no_fold():
    y = np.repeat([0, 1], [19, 2])
    for partitioner in ("SCV", "MS-SCV"):
        assert (left_out_folds(partitioner, X, y, K, rngs(3))[:, 19:] == -1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partitioner": "DB-SCV"}, "allowed: SCV, MS-SCV"),
        ({"options": Options(remainders="spread")}, "here they are left out"),
        ({"n_folds": 12}, "the size of a class, 11"),
    ],
)
def test_bad_arguments_have_a_message(change, message):
    given = {"partitioner": "MS-SCV", "X": X, "y": Y, "n_folds": K, "rngs": rngs(1)} | change
    with pytest.raises(ValueError, match=message):
        left_out_folds(**given)
