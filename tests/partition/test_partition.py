import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from foldshift import shift
from foldshift.evaluation import evaluate_folds
from foldshift.inference import auc_interval, loss_difference_interval, score_interval
from foldshift.partition import (
    ContinuousStratifiedKFold,
    RepeatedContinuousStratifiedKFold,
    as_folds,
    check_folds,
    distinct_partitions,
    fold_fingerprints,
    fold_randomness,
    make_folds,
    stratified_folds,
)
from foldshift.partition.methods.stratified import strata_sizes

quick = settings(deadline=None, max_examples=60, derandomize=True)


@st.composite
def problems(draw):
    n = draw(st.integers(2, 60))
    k = draw(st.integers(2, n))
    t = draw(st.integers(1, n))
    y = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    return y, k, t


def literal_fold_sizes_by_stratum(y, k, t, rng):
    """Algorithm 3 as it is printed, sample by sample: the stratum and the fold of every sample."""
    order = np.argsort(y, kind="stable")
    folds, sizes, start = np.empty(len(y), int), np.zeros(k, int), 0
    for size in strata_sizes(len(y), t):
        for sample in rng.permutation(order[start : start + size]):
            fold = rng.choice(np.flatnonzero(sizes == sizes.min()))
            folds[sample] = fold
            sizes[fold] += 1
        start += size
    return folds


@quick
@given(problems())
def test_fold_sizes_differ_by_at_most_one_in_the_whole_and_in_every_run_of_strata(problem):
    y, k, t = problem
    (folds,) = stratified_folds(y, k, t, [np.random.default_rng(0)])
    order = np.argsort(y, kind="stable")
    ends = np.cumsum(strata_sizes(len(y), t))
    for end in ends:  # the counters run on from stratum to stratum
        counts = np.bincount(folds[order[:end]], minlength=k)
        assert counts.max() - counts.min() <= 1


@quick
@given(problems())
def test_strata_differ_by_at_most_one_and_the_first_are_larger(problem):
    y, _, t = problem
    sizes = strata_sizes(len(y), t)
    assert sizes.sum() == len(y) and len(sizes) == t
    assert (np.diff(sizes) <= 0).all() and sizes[0] - sizes[-1] <= 1


def test_folds_have_the_distribution_of_the_printed_algorithm():
    y, k, t, n_draws = np.array([3.0, 1, 2, 2, 5, 4, 0]), 3, 2, 4000
    ours = stratified_folds(y, k, t, [np.random.default_rng(s) for s in range(n_draws)])
    rng = np.random.default_rng(1)
    literal = np.array([literal_fold_sizes_by_stratum(y, k, t, rng) for _ in range(n_draws)])
    for i in range(7):
        for j in range(i):
            together = ((ours[:, i] == ours[:, j]).mean(), (literal[:, i] == literal[:, j]).mean())
            assert abs(together[0] - together[1]) < 0.045  # four standard errors of a difference
    assert np.abs(np.bincount(ours.ravel(), minlength=k) / ours.size - 1 / k).max() < 0.02


def test_total_stratification_separates_every_run_of_neighbours():
    y = np.random.default_rng(0).random(53)
    folds = make_folds("TSCV", None, y, 5, range(20))
    ordered = folds[:, np.argsort(y)]
    for start in range(0, 50, 5):
        assert (np.sort(ordered[:, start : start + 5]) == np.arange(5)).all()


def test_one_stratum_is_plain_cross_validation_and_as_many_as_samples_total_stratification():
    y = np.random.default_rng(0).random(31)
    assert (make_folds("CV", None, y, 4, [7]) == make_folds("SCV1", None, y, 4, [7])).all()
    assert (make_folds("TSCV", None, y, 4, [7]) == make_folds("SCV31", None, y, 4, [7])).all()


def test_folds_do_not_depend_on_the_other_seeds():
    y = np.random.default_rng(0).random(40)
    assert (make_folds("SCV4", None, y, 5, [1, 2, 3])[2] == make_folds("SCV4", None, y, 5, [3])[0]).all()


def test_many_folds_need_a_wider_type():
    y = np.arange(400.0)
    assert make_folds("CV", None, y, 256, [0]).dtype == np.uint8
    folds = make_folds("CV", None, y, 400, [0])
    assert folds.dtype == np.uint16 and (np.sort(folds[0]) == np.arange(400)).all()


@pytest.mark.parametrize(
    ("name", "k", "message"),
    [
        ("CV", 1, "n_folds=1 must be between 2 and the number of samples, 10"),
        ("CV", 11, "n_folds=11 must be between 2 and the number of samples, 10"),
        ("SCV11", 2, "n_strata=11 must be between 1 .* and the number of samples, 10"),
        ("SCV0", 2, "unknown partitioner 'SCV0'"),
        ("TCSV", 2, "unknown partitioner 'TCSV'; did you mean TSCV"),
    ],
)
def test_a_partition_that_cannot_be_made_is_refused_by_name(name, k, message):
    with pytest.raises(ValueError, match=message):
        make_folds(name, None, np.arange(10.0), k, [0])


def test_a_partitioner_of_the_users_own_is_checked():
    def halves(X, y, n_folds, rngs):
        return np.array([np.arange(len(y)) % n_folds for _ in rngs])

    assert make_folds(halves, None, np.arange(6.0), 2, [0, 1]).tolist() == [[0, 1, 0, 1, 0, 1]] * 2
    with pytest.raises(ValueError, match="fold 1 of partition 0 is empty"):
        make_folds(lambda X, y, k, rngs: np.zeros((1, 6), int), None, np.arange(6.0), 2, [0])
    with pytest.raises(ValueError, match="numbers from 0 to 2; expected 0 to 1"):
        make_folds(lambda X, y, k, rngs: np.arange(6)[None] % 3, None, np.arange(6.0), 2, [0])


@pytest.mark.parametrize(
    "splitter", [ContinuousStratifiedKFold(4, random_state=0), RepeatedContinuousStratifiedKFold(4, 3, 5, random_state=0)]
)
def test_splitters_partition_the_rows_in_the_callers_order(splitter):
    y = np.random.default_rng(0).random(30)
    X = np.arange(30)[:, None]
    splits = list(splitter.split(X, y))
    assert len(splits) == splitter.get_n_splits(X, y)
    for start in range(0, len(splits), 4):
        tests = [test for _, test in splits[start : start + 4]]
        assert (np.sort(np.concatenate(tests)) == np.arange(30)).all()
    for train, test in splits:
        assert (np.sort(np.concatenate([train, test])) == np.arange(30)).all()
    assert all((a[1] == b[1]).all() for a, b in zip(splits, splitter.split(X, y)))


def test_a_splitter_with_an_integer_state_makes_the_folds_of_that_seed():
    y = np.random.default_rng(0).random(30)
    folds = make_folds("SCV3", None, y, 4, [11])[0]
    for fold, (_, test) in enumerate(ContinuousStratifiedKFold(4, 3, random_state=11).split(y, y)):
        assert (test == np.flatnonzero(folds == fold)).all()


def test_repetitions_differ_and_a_state_that_moves_on_gives_new_folds():
    y = np.random.default_rng(0).random(30)
    tests = [test.tolist() for _, test in RepeatedContinuousStratifiedKFold(2, 5, random_state=0).split(y, y)]
    assert len({tuple(test) for test in tests}) == 10
    splitter = ContinuousStratifiedKFold(2, random_state=np.random.RandomState(0))
    first, second = ([test.tolist() for _, test in splitter.split(y, y)] for _ in range(2))
    assert first != second


def test_splitters_work_where_scikit_learn_takes_cv():
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(Ridge(), X, y, cv=ContinuousStratifiedKFold(3, random_state=0)).shape == (3,)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=RepeatedContinuousStratifiedKFold(2, 2, 10, random_state=0)).fit(
        X, y
    )
    assert search.n_splits_ == 4
    assert "n_strata=7" in repr(ContinuousStratifiedKFold(3, 7))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ContinuousStratifiedKFold(1), "n_splits must be at least 2; got n_splits=1"),
        (lambda: ContinuousStratifiedKFold(2.5), "n_splits must be an integer of at least 2; got 2.5 of type float"),
        (lambda: ContinuousStratifiedKFold(True), "n_splits must be an integer"),
        (lambda: ContinuousStratifiedKFold(3, 0), "n_strata must be at least 1; got n_strata=0"),
        (lambda: RepeatedContinuousStratifiedKFold(3, 0), "n_repeats must be at least 1; got n_repeats=0"),
        (
            lambda: next(ContinuousStratifiedKFold(5).split(np.ones((4, 1)), np.arange(4.0))),
            "n_splits=5 greater than .* n_samples=4",
        ),
        (
            lambda: next(ContinuousStratifiedKFold(2, 5).split(np.ones((4, 1)), np.arange(4.0))),
            "n_strata=5 greater than .* n_samples=4",
        ),
        (lambda: next(ContinuousStratifiedKFold(2).split(np.ones((4, 1)))), "'y' parameter should not be None"),
        (
            lambda: next(ContinuousStratifiedKFold(2).split(np.ones((4, 1)), list("abcd"))),
            "y must hold numbers .* StratifiedKFold",
        ),
        (lambda: next(ContinuousStratifiedKFold(2).split(np.ones((4, 1)), [1, 2, np.nan, 3])), "y contains NaN"),
        (lambda: next(ContinuousStratifiedKFold(2).split(np.ones((4, 1)), np.arange(5.0))), "X and y have 4 and 5 samples"),
    ],
)
def test_splitters_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_words_of_scikit_learn_groups_and_seeds_have_remedies():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    for options, message in (
        ({"n_splits": 5}, "here n_splits is n_folds"),
        ({"groups": y}, "those that take groups: CB-TSCV, CB-SCV, CB-CV, LOSO"),
        ({"seeds": [0.5]}, r"seeds holds 0\.5; expected whole numbers from 0"),
        ({"seeds": [-1]}, "seeds holds -1; expected"),
        ({"seeds": 0}, r"seeds=\[0\] for one, seeds=range\(10\) for ten"),
    ):
        with pytest.raises(ValueError, match=message):
            make_folds("SCV", X, y, **options)
    with pytest.raises(ValueError, match=r"y\.argmax\(axis=1\)"):
        make_folds("SCV", X, np.eye(2)[y])
    with pytest.raises(ValueError, match="holds dates or times, not numbers: drop it"):
        make_folds("DOB-SCV", pd.DataFrame(X).assign(day=pd.date_range("2020-01-01", periods=20)), y)


def test_pairs_of_a_splitter_are_taken_or_refused_with_what_makes_an_array():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(23, 2))
    target, folds = X[:, 0] > 0, as_folds(KFold(5), X)
    for pairs_of in (lambda: list(KFold(5).split(X)), lambda: KFold(5).split(X)):
        assert np.array_equal(shift.fold_ks(X[:, 0], pairs_of()), shift.fold_ks(X[:, 0], folds))
        assert np.array_equal(evaluate_folds(GaussianNB(), X, target, pairs_of()), evaluate_folds(GaussianNB(), X, target, folds))
        for refuse in (
            lambda pairs: check_folds(pairs, 23),
            fold_randomness,
            distinct_partitions,
            fold_fingerprints,
            lambda pairs: score_interval(target, target, "accuracy", folds=pairs),
            lambda pairs: auc_interval(target, X[:, 0], pairs),
            lambda pairs: loss_difference_interval(target, target, pairs),
        ):
            with pytest.raises(ValueError, match="folds are pairs of training and test rows"):
                refuse(pairs_of())
    assert np.array_equal(check_folds([[0, 1], [1, 0]], 2), [[0, 1], [1, 0]])
