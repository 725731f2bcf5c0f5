import itertools
import math
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, cross_val_score

from foldshift.partition import (
    CovariateBalancedKFold,
    RepeatedCovariateBalancedKFold,
    as_folds,
    cb_scv_folds,
    cb_table_folds,
    fold_randomness,
    make_folds,
)
from foldshift.partition.methods._assignment import assign
from foldshift.partition.methods.cosine_features import SCALE, WAVES, group_sums, mid_ranks, n_waves, sums_by_group, terms_of
from foldshift.partition.registry import options_of
from foldshift.shift import fold_ks
from foldshift.shift.measures.covariates import fold_ks_attributes

quick = settings(deadline=None, max_examples=60, derandomize=True)


def sample(n, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, X @ np.arange(1.0, n_features + 1) + rng.normal(size=n)


def sizes(folds, k):
    return np.bincount(folds, minlength=k)


@quick
@given(st.integers(1, 9), st.integers(0, 10_000))
def test_assignment_costs_as_little_as_scipys(n, seed):
    costs = np.random.default_rng(seed).integers(-20, 20, size=(n, n)).astype(float)
    columns = assign(costs, n)
    assert sorted(columns.tolist()) == list(range(n))
    assert costs[np.arange(n), columns].sum() == costs[linear_sum_assignment(costs)].sum()


def test_terms_are_cosines_of_mid_ranks_and_centred_indicators():
    X = np.array([[3.0, 1], [1.0, 0], [1.0, 2], [np.nan, 1], [9.0, 1]])
    terms = terms_of(X, np.array([False, True]))
    places = np.array([2.5, 1.0, 1.0, np.nan, 3.5]) / 4  # mid-ranks less a half, of four values
    expected = np.nan_to_num(np.rint(SCALE * np.cos(np.pi * places)))
    assert (terms[:, 0] == expected).all()
    second = np.nan_to_num(np.rint(SCALE / np.sqrt(2) * np.cos(2 * np.pi * places)))
    assert (terms[:, 1] == second).all()
    waves = n_waves(*X.shape)
    assert (terms[:, waves] == np.rint(SCALE * (np.isnan(X[:, 0]) - 0.2))).all()
    assert (terms[:, waves + 1] == np.rint(SCALE * ((X[:, 1] == 1) - 0.6))).all()
    assert terms.shape[1] == waves + 2  # categories of one row cannot be balanced


@settings(deadline=None)
@given(st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False)), max_size=60))
def test_mid_ranks_are_those_of_scipy(values):
    assert (mid_ranks(np.array(values, dtype=float)) == rankdata(values)).all()


def test_waves_grow_with_the_samples_and_stay_in_memory():
    assert n_waves(100, 5) == WAVES[0] and n_waves(10_000, 5) == WAVES[1]
    assert n_waves(10_000_000, 100) == 1


def test_constant_and_empty_columns_have_no_terms():
    X = np.column_stack([np.ones(6), np.full(6, np.nan), np.zeros(6)])
    assert terms_of(X, np.array([False, False, True])).shape == (6, 0)
    assert sizes(make_folds("CB-CV", X, np.zeros(6), 3, [0])[0], 3).tolist() == [2, 2, 2]


def test_sums_by_group_are_those_of_the_rows():
    terms = np.random.default_rng(0).integers(-300, 300, size=(50, 7)).astype(np.int16)
    groups = np.random.default_rng(1).integers(5, size=50)
    expected = [terms[groups == group].astype(int).sum(axis=0) for group in range(5)]
    assert (sums_by_group(terms, groups, 5) == expected).all()


def test_sums_column_by_column_are_those_of_all_terms():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(200, 2)), rng.integers(0, 9, 200), rng.integers(0, 2, 200), np.ones((200, 2))])
    X[::7, 1] = X[::11, 2] = np.nan
    X[0, 2] = 50  # a category of one row
    nominal, weights = np.array([False, False, True, True, True, False]), np.array([1.0, 4, 1, 4, 1, 1])
    groups = np.append(np.arange(40), rng.integers(0, 40, 160))
    sums = group_sums(list(X.T), nominal, weights, groups)
    assert (sums[:, :-1] == sums_by_group(terms_of(X, nominal, weights), groups, 40)).all() and not sums[:, -1].any()


def test_a_cut_of_groups_never_holds_the_terms_of_all_columns():
    n, p = 40_000, 20
    X, y = np.random.default_rng(0).normal(size=(n, p)), np.arange(n) % 3
    groups = np.arange(n) % 50
    tracemalloc.start()
    cb_scv_folds(X, y, 5, [np.random.default_rng(0)], groups=groups)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    terms = n * p * WAVES[1] * 2  # bytes
    assert peak < 0.6 * terms


@pytest.mark.parametrize("n", [100, 103])
def test_every_run_of_neighbours_in_target_is_parted_as_by_total_stratification(n):
    X, y = sample(n)
    for folds in make_folds("CB-TSCV", X, y, 5, range(5)):
        ordered = folds[np.argsort(y)]
        for start in range(0, n, 5):
            run = ordered[start : start + 5].tolist()
            assert len(set(run)) == len(run)


def test_shift_of_the_target_is_that_of_total_stratification_and_of_the_inputs_far_below():
    X, y = sample(400)
    total, joint = (make_folds(name, X, y, 5, range(20)) for name in ("TSCV", "CB-TSCV"))
    assert abs(fold_ks(y, joint).mean() - fold_ks(y, total).mean()) < 0.001
    assert fold_ks_attributes(X, joint).mean() < 0.45 * fold_ks_attributes(X, total).mean()


@quick
@given(st.integers(0, 10_000), st.integers(2, 7))
def test_classes_are_spread_as_by_stratification(seed, k):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rng.integers(20, 60))
    (folds,) = make_folds("CB-SCV", rng.random((len(y), 2)), y, k, [seed])
    assert np.ptp(sizes(folds, k)) <= 1
    for label in np.unique(y):
        assert np.ptp(sizes(folds[y == label], k)) <= 1


def test_inputs_of_classes_are_balanced_and_nominal_ones_too():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 3)), rng.integers(4, size=(300, 2))])
    y = rng.integers(2, size=300)
    nominal = np.array([0, 0, 0, 1, 1], dtype=bool)
    plain = make_folds("SCV", X, y, 5, range(20))
    joint = make_folds("CB-SCV", X, y, 5, range(20), categorical_features=nominal)
    before, after = (fold_ks_attributes(X, cut, categorical_features=nominal).mean(axis=(0, 1)) for cut in (plain, joint))
    assert (after[:3] < 0.5 * before[:3]).all() and (after[3:] < 0.6 * before[3:]).all()


def test_what_is_stratified_on_is_balanced_more_than_other_inputs():
    X, y = sample(203, 6)
    plain = make_folds("CB-TSCV", X, y, 5, range(30))
    wanted = make_folds("CB-TSCV", X, y, 5, range(30), stratify=[2])
    assert fold_ks_attributes(X, wanted)[..., 2].mean() < 0.85 * fold_ks_attributes(X, plain)[..., 2].mean()


def test_missing_values_are_spread():
    X, y = sample(200)
    X[:40, 1] = np.nan
    missing = [np.ptp(sizes(folds[:40], 5)) for folds in make_folds("CB-TSCV", X, y, 5, range(20))]
    chance = [np.ptp(sizes(folds[:40], 5)) for folds in make_folds("TSCV", X, y, 5, range(20))]
    assert np.mean(missing) < 2.5 < 0.6 * np.mean(chance)


@pytest.mark.parametrize("name", ["CB-TSCV", "CB-SCV", "CB-CV"])
def test_folds_of_a_seed_do_not_depend_on_its_company_and_leave_one_out_is_one_sample_each(name):
    X, y = sample(60)
    y = y if name != "CB-SCV" else np.arange(60) % 2
    together = make_folds(name, X, y, 4, [3, 4])
    assert (together[1] == make_folds(name, X, y, 4, [4])[0]).all()
    assert (together[0] != together[1]).any()
    assert sorted(make_folds(name, X, y, 60, [0])[0].tolist()) == list(range(60))


def test_partitions_stay_random():
    X, y = sample(120)
    found = fold_randomness(make_folds("CB-TSCV", X, y, 5, range(400)))
    assert found.n_distinct == 400
    assert found.place_error < 1.3 * found.place_chance
    assert found.pair_error < 0.05 and abs(found.pairs_together - 0.2) < 0.01


def test_randomness_sees_what_is_always_the_same():
    same = np.tile(np.arange(20) % 4, (50, 1))
    renamed = np.array([np.random.default_rng(seed).permutation(4)[row] for seed, row in enumerate(same)])
    found = fold_randomness(renamed)
    assert found.n_distinct == 1 and found.bits == 0 and found.pair_error > 0.3
    with pytest.raises(ValueError, match="at least two partitions"):
        fold_randomness(same[:1])


@settings(deadline=None, max_examples=1000, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from(["CB-TSCV", "CB-SCV", "CB-CV", "table"]))
def test_no_group_is_in_two_folds_and_sizes_differ_by_the_largest_group_at_most(seed, name):
    rng = np.random.default_rng(seed)
    n_groups = rng.integers(2, 12)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 9, size=n_groups))
    k = int(rng.integers(2, n_groups + 1))
    X = rng.random((len(groups), 2))
    y = rng.random(len(groups)) if name == "CB-TSCV" else rng.integers(3, size=len(groups))
    if name == "table":
        (folds,) = cb_table_folds(X, rng.integers(2, size=(len(groups), 2)), k, [rng], groups=groups)
    else:
        (folds,) = make_folds(name, X, y, k, [rng], groups=groups)
    assert all(len(set(folds[groups == group])) == 1 for group in range(n_groups))
    counts = sizes(folds, k)
    assert counts.min() > 0 and np.ptp(counts) <= np.bincount(groups).max()


def grouped(n_groups=200, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n)
    X = rng.normal(size=(n, 4)) + rng.normal(size=(n_groups, 4))[groups]
    y = X @ np.arange(1.0, 5) + rng.normal(size=n) + 2 * rng.normal(size=n_groups)[groups]
    return X, y, groups


def test_shift_of_groups_is_at_most_half_of_group_k_folds():
    X, y, groups = grouped()
    deciles = np.searchsorted(np.quantile(y, np.arange(0.1, 1, 0.1)), y)
    ours = as_folds(RepeatedCovariateBalancedKFold(5, 5, random_state=0), X, y, groups)
    group = as_folds(GroupKFold(5), X, y, groups)
    stratified = np.concatenate(
        [as_folds(StratifiedGroupKFold(5, shuffle=True, random_state=seed), X, deciles, groups) for seed in range(5)]
    )
    assert fold_ks(y, ours).mean() < 0.5 * fold_ks(y, group).mean()
    assert fold_ks(y, ours).mean() < fold_ks(y, stratified).mean()
    assert fold_ks_attributes(X, ours).mean() < 0.6 * fold_ks_attributes(X, stratified).mean()


@pytest.mark.parametrize("name", ["CB-TSCV", "CB-SCV", "CB-CV"])
def test_groups_are_cut_alike_in_whatever_order_the_rows_stand(name):
    X, y, groups = grouped(40, 300)
    y = y if name != "CB-SCV" else np.digitize(y, [-3, 3])
    order = np.random.default_rng(5).permutation(300)
    labels = np.array([f"g{group:03d}" for group in groups])
    before = make_folds(name, X, y, 4, range(3), groups=labels)
    after = make_folds(name, X[order], y[order], 4, range(3), groups=labels[order])
    assert (before[:, order] == after).all()


def test_labels_that_come_together_are_spread():
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 6)) < [0.5, 0.3, 0.1, 0.05, 0.02, 0.2]).astype(int)
    for folds in cb_table_folds(None, Y, 5, map(np.random.default_rng, range(3))):
        assert np.ptp(sizes(folds, 5)) <= 1
        for column in Y.T:
            assert np.ptp(np.bincount(folds[column == 1], minlength=5)) <= 3


def test_labels_are_spread_as_evenly_as_by_iterative_stratification(oracle):
    iterstrat = pytest.importorskip("iterstrat.ml_stratifiers", reason="iterative-stratification is not installed: an oracle")
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 6)) < [0.5, 0.3, 0.1, 0.05, 0.02, 0.2]).astype(int)
    X = rng.normal(size=(500, 4))
    theirs = as_folds(iterstrat.MultilabelStratifiedKFold(5, shuffle=True, random_state=0), X, Y)
    ours = as_folds(CovariateBalancedKFold(5, random_state=0), X, Y)

    def unevenness(folds):
        return np.mean([np.std([Y[folds[0] == fold, j].sum() for fold in range(5)]) for j in range(6)])

    assert unevenness(ours) <= unevenness(theirs) + 0.3
    assert fold_ks_attributes(X, ours).mean() < 0.6 * fold_ks_attributes(X, theirs).mean()


def test_splitters_stand_wherever_scikit_learn_takes_them():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    splitter = CovariateBalancedKFold(5, task="regression", categorical_features=["sex"], random_state=1)
    assert len(cross_val_score(Ridge(), X, y, cv=splitter)) == 5
    (folds,) = as_folds(splitter, X, y.astype(float) + 0.5)
    assert (folds == make_folds("CB-TSCV", X, y + 0.5, 5, [1], categorical_features=["sex"])[0]).all()
    more = as_folds(RepeatedCovariateBalancedKFold(5, 3, random_state=1), X, y + 0.5)
    fewer = as_folds(RepeatedCovariateBalancedKFold(5, 2, random_state=1), X, y + 0.5)
    assert (more[:2] == fewer).all() and (more[0] != more[2]).any()
    assert splitter.get_n_splits() == 5 and RepeatedCovariateBalancedKFold(5, 3).get_n_splits() == 15
    assert "CovariateBalancedKFold(categorical_features=['sex']" in repr(splitter)


def test_the_target_decides_what_is_balanced():
    X, y = sample(60)
    labels = np.array(["a", "b", "c"])[np.arange(60) % 3]

    def cut(y, **options):
        return as_folds(CovariateBalancedKFold(3, random_state=2, **options), X, y)[0]

    assert (cut(None) == make_folds("CB-CV", X, y, 3, [2])[0]).all()
    assert (cut(y) == make_folds("CB-TSCV", X, y, 3, [2])[0]).all()
    assert (cut(labels) == make_folds("CB-SCV", X, labels, 3, [2])[0]).all()
    counts = np.arange(60)
    with pytest.warns(UserWarning, match="60 different whole numbers in 60 rows.*task='regression'"):
        cut(counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (cut(counts, task="regression") == make_folds("CB-TSCV", X, counts, 3, [2])[0]).all()
    with pytest.warns(UserWarning, match="least populated class in y has only 2 members"):
        cut(np.repeat([0, 1], [58, 2]))


def test_frames_with_text_and_missing_values_are_taken():
    frame = pd.DataFrame({"size": [1.0, None, 3.0, 4.0, 5.0, 6.0], "colour": ["red", "blue", None, "red", "blue", "red"]})
    y = np.arange(6.0)
    splitter = CovariateBalancedKFold(
        2, task="regression", categorical_features="from_dtype", stratify=["colour"], random_state=0
    )
    assert as_folds(splitter, frame, y).shape == (1, 6)
    with pytest.raises(ValueError, match="name it in categorical_features"):
        make_folds("CB-TSCV", frame, y, 2, [0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": np.arange(39)}, "X, y and groups have 40, 40 and 39 samples; expected the same number"),
        ({"groups": np.append(np.arange(39.0), np.nan)}, "groups contain NaN: 1 of 40 rows .the first is row 39"),
        ({"groups": np.arange(40) % 3}, "n_folds=4 is greater than the number of groups, 3"),
        ({"groups": np.array(["a", 1] * 20, dtype=object)}, "groups mix labels of type int and str"),
        ({"stratify": ["colour"]}, "stratify names a column, 'colour'; X is not a data frame"),
        ({"stratify": "colour"}, r"stratify='colour' must be a list .*\['colour'\]"),
        ({"stratify": [7]}, "stratify=.7. must be a mask or positions between 0 and 3"),
        ({"metric": "heom"}, "partitioner CB-TSCV takes only groups, stratify, categorical_features; got metric"),
    ],
)
def test_mistakes_are_named(options, message):
    X, y = sample(40)
    with pytest.raises(ValueError, match=message):
        make_folds("CB-TSCV", X, y, 4, [0], **options)


def test_mistakes_in_tables_are_named():
    X, y = sample(40)
    for call, message in (
        (lambda: make_folds("CB-TSCV", None, y, 4, [0]), "partitioner CB-TSCV looks at the inputs; X is None"),
        (lambda: make_folds("CB-TSCV", np.where(X > 2, np.inf, X), y, 4, [0]), "contains infinity"),
        (lambda: make_folds("CB-SCV", X, y, 4, [0]), "continuous"),
        (lambda: make_folds("CB-TSCV", X, np.append(y[1:], np.nan), 4, [0]), "y contains NaN"),
        (lambda: cb_table_folds(X, np.full((40, 2), np.nan), 4, [np.random.default_rng(0)]), "y contains NaN: row 0"),
        (lambda: CovariateBalancedKFold(1), "n_splits must be at least 2"),
        (lambda: CovariateBalancedKFold(3, task="class"), "task='class' must be"),
        (lambda: list(CovariateBalancedKFold(50).split(X, y)), "greater than the number of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("name", ["ABA", "Twinning", "CBDSCV", "SCBCV", "SPXY", "BDSCV"])
def test_cuts_of_others_are_partitions_of_equal_size(name):
    X, y = sample(103)
    X[:, 3] = np.arange(103) % 3
    y = (y > 0).astype(int) if name == "SCBCV" else y
    for folds in make_folds(name, X, y, 5, range(4), categorical_features=[3]):
        assert sorted(set(folds.tolist())) == list(range(5)) and np.ptp(sizes(folds, 5)) <= 1
    with pytest.raises(ValueError, match="contains NaN"):
        make_folds(name, np.where(np.arange(4) == 0, np.nan, X), y, 5, [0])


def test_every_fold_has_its_share_of_every_cluster_and_class():
    rng = np.random.default_rng(0)
    cluster, y = np.arange(120) % 3, np.arange(120) // 60
    X = rng.normal(size=(120, 2)) + 30 * np.array([[0, 0], [1, 0], [0, 1]])[cluster]
    for name, parts in (("CBDSCV", [cluster]), ("SCBCV", [cluster, y])):
        cuts = make_folds(name, X, y, 3, range(20))
        assert len({tuple(folds) for folds in cuts}) > 1
        for folds, part in itertools.product(cuts, parts):
            counts = np.array([np.bincount(folds[part == value], minlength=3) for value in set(part.tolist())])
            assert np.ptp(counts, axis=1).max() <= 1 + (name == "SCBCV" and part is cluster)
    few = make_folds("SCBCV", np.zeros((12, 1)), np.arange(12) % 2, 3, [0])[0]  # one point: one cluster
    assert np.bincount(few).tolist() == [4, 4, 4]


def test_folds_that_span_the_data_are_those_of_the_rule_by_hand():
    X, y = sample(40)
    folds = make_folds("SPXY", X, y, 3, range(2))
    assert len({tuple(np.unique(row, return_index=True)[1][row].tolist()) for row in folds}) == 1  # names differ alone
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    inputs = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    target = abs(y[:, None] - y[None])
    gaps = inputs / inputs.max() + target / target.max()
    centre = np.linalg.norm(Z, axis=1) / inputs.max() + abs(y - y.mean()) / target.max()
    held, left = [[], [], []], set(range(40))
    for turn in range(40):
        own = held[turn % 3]
        best = max(sorted(left), key=lambda i: min(gaps[i, j] for j in own) if own else centre[i])
        own.append(best)
        left.remove(best)
    assert {frozenset(np.flatnonzero(folds[0] == fold).tolist()) for fold in range(3)} == {frozenset(own) for own in held}


def test_cuts_that_do_not_look_at_the_target_need_none():
    X = sample(40)[0]
    for name in ("CV", "CB-CV", "ABA", "BDSCV"):
        assert (make_folds(name, X, None, 4, range(3)) == make_folds(name, X, np.zeros(40), 4, range(3))).all()
    own = make_folds(lambda X, y, k, rngs: [np.arange(len(X)) % k if y is None else None], X, None, 4, [0])
    assert np.bincount(own[0]).tolist() == [10] * 4
    assert make_folds("LOSO", X, None, groups=np.arange(40) % 3, seeds=[0]).max() == 2
    for call, message in (
        (lambda: make_folds("TSCV", X, None, 4, [0]), "partitioner TSCV looks at the target; y is None. Without one: CV, CB-CV"),
        (lambda: make_folds("SCV0", X, None, 4, [0]), "unknown partitioner 'SCV0'"),
        (lambda: make_folds("CV", None, None, 4, [0]), "X and y are None"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_folds_of_least_discrepancy_are_those_of_the_rule_by_hand():
    X = np.random.default_rng(0).normal(size=(23, 3)) * [5, 1, 0.2]
    folds = make_folds("BDSCV", X, X[:, 0], 4, range(3))
    assert len({tuple(np.unique(row, return_index=True)[1][row].tolist()) for row in folds}) == 1  # names differ alone
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    along = np.linalg.svd(unit - unit.mean(axis=0))[2][0]  # the first principal component
    order = sorted(range(23), key=lambda i: float(unit[i] @ along) * (1 if along[abs(along).argmax()] > 0 else -1))
    parts = [math.e * i - math.floor(math.e * i) for i in range(1, 24)]
    visited = [order[sorted(parts).index(part)] for part in parts]
    runs = [visited[:6], visited[6:12], visited[12:18], visited[18:]]
    assert {frozenset(np.flatnonzero(folds[0] == fold).tolist()) for fold in range(4)} == {frozenset(run) for run in runs}
    line = make_folds("BDSCV", np.arange(1000.0)[:, None], np.zeros(1000), 5, [0])[0]
    centres = [np.flatnonzero(line == fold).mean() for fold in range(5)]
    assert np.abs(np.array(centres) - 499.5).max() < 5  # each fold spans the line; at random the standard error is 18
    same = make_folds("BDSCV", np.ones((12, 2)), np.zeros(12), 3, [0])[0]
    assert np.bincount(same).tolist() == [4, 4, 4]


def test_anticlusters_have_equal_means():
    X, y = sample(200)
    plain, balanced = (make_folds(name, X, y, 5, range(10)) for name in ("CV", "ABA"))

    def spread_of_means(cuts):
        return np.mean([np.std([X[folds == fold].mean(axis=0) for fold in range(5)], axis=0) for folds in cuts])

    assert spread_of_means(balanced) < 0.1 * spread_of_means(plain)


def test_twins_go_to_different_folds():
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 3)), 2, axis=0)
    X[1::2] += 1e-9
    folds = make_folds("Twinning", X, X[:, 0], 2, range(5))
    assert (folds[:, ::2] != folds[:, 1::2]).all()


@pytest.mark.parametrize("name", ["Twinning", "SPXY"])
def test_whole_numbers_are_what_the_task_says(name):
    rng = np.random.default_rng(0)
    X, rings = rng.normal(size=(60, 2)), rng.integers(1, 30, 60)
    as_numbers, as_classes, unsaid = (
        make_folds(name, X, rings, 3, [0], **({"task": task} if task else {})) for task in ("regression", "classification", None)
    )
    assert (as_numbers == make_folds(name, X, rings / 2, 3, [0])).all()
    assert (as_classes == make_folds(name, X, np.char.zfill(rings.astype(str), 2), 3, [0])).all() and (as_classes == unsaid).all()
    assert (as_numbers != as_classes).any()
    with pytest.raises(ValueError, match="task='numbers' must be 'classification' or 'regression'"):
        make_folds(name, X, rings, 3, [0], task="numbers")
    with pytest.raises(ValueError, match="y must hold numbers"):
        make_folds(name, X, rings.astype(str), 3, [0], task="regression")


def test_options_are_what_a_partitioner_takes_of_what_is_known():
    known = {"categorical_features": [True, False], "groups": [1, 1, 2], "task": "regression"}
    assert options_of("TSCV", **known) == options_of("SCV7", **known) == options_of(print, **known) == {}
    assert options_of("LOSO", **known) == {"groups": [1, 1, 2]}
    assert options_of("SPXY", **known) == {"categorical_features": [True, False], "task": "regression"}
    assert options_of("CB-SCV", **known | {"groups": None}) == {"categorical_features": [True, False]}
    with pytest.raises(ValueError, match="unknown partitioner 'SCV0'"):
        options_of("SCV0")


def test_twinning_is_that_of_its_authors(oracle):
    twinning = pytest.importorskip("twinning", reason="the package twinning is not installed (optional oracle)")
    rng = np.random.default_rng(0)
    table = rng.normal(size=(240, 4))
    for k in (2, 3, 5, 10):
        for seed in range(5):
            starts = np.random.default_rng(seed)
            parts, left = np.full(240, k - 1), np.arange(240)
            scaled = (table - table.mean(axis=0)) / table.std(axis=0)
            for fold in range(k - 1):
                # One part after the other, as their function for many parts does, from the starts that ours draws.
                taken = twins(twinning, scaled[left], k - fold, int(starts.integers(len(left))))
                parts[left[taken]] = fold
                left = np.delete(left, taken)
            assert (parts == make_folds("Twinning", table[:, :3], table[:, 3], k, [seed])[0]).all()


def twins(twinning, data, r, start):
    """Their function on data that are scaled already."""
    module = __import__("twinning.twinning", fromlist=["twin"])
    before, module._data_format = module._data_format, np.ascontiguousarray
    try:
        return twinning.twin(data, r, u1=start).astype(np.int64)
    finally:
        module._data_format = before
