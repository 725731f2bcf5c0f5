"""Cuts forward in time, by blocks in space, and by subset: what they promise, and where scikit-learn's agree."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsRegressor

import foldshift
from foldshift.advice import rows_kept_together
from foldshift.partition import (
    CovariateBalancedKFold,
    ForwardBlockKFold,
    NNDistanceKFold,
    RepeatedCovariateBalancedKFold,
    SameOtherAllKFold,
    SpatialBlockKFold,
    as_splits,
    block_folds,
    make_folds,
)
from foldshift.partition.structure.spatial_blocks import block_codes
from foldshift.partition.structure.variogram import variogram_range

MSE = "neg_mean_squared_error"
quick = settings(deadline=None, max_examples=60, derandomize=True)


@st.composite
def times(draw):
    n = draw(st.integers(4, 60))
    values = np.array(draw(st.lists(st.integers(0, 25), min_size=n, max_size=n)))
    return values, draw(st.integers(1, 6))


def field(n, scale, seed):
    """Places in the unit square, and a smooth target that varies over distances of `scale`."""
    rng = np.random.default_rng(seed)
    places, waves = rng.random((n, 2)), rng.normal(0, 1 / scale, (200, 2))
    return places, np.cos(places @ waves.T + rng.uniform(0, 2 * np.pi, 200)).sum(axis=1) / 10


@quick
@given(times())
def test_forward_blocks_train_on_earlier_times_only_and_part_no_time(problem):
    values, n_splits = problem
    X = np.zeros((len(values), 1))
    if len(np.unique(values)) <= n_splits:
        with pytest.raises(ValueError, match="different times"):
            list(ForwardBlockKFold(n_splits).split(X, groups=values))
        return
    splits = list(ForwardBlockKFold(n_splits).split(X, groups=values))
    tested = np.concatenate([test for _, test in splits])
    assert len(splits) == n_splits and len(np.unique(tested)) == len(tested)
    for train, test in splits:
        assert values[train].max() < values[test].min()
        assert len(train) == (values < values[test].min()).sum()
        assert set(values[test]).isdisjoint(np.delete(values, test))
    latest = [values[test].min() for _, test in splits]
    assert latest == sorted(latest) and values.max() in values[splits[-1][1]]


@quick
@given(st.integers(2, 80), st.integers(2, 8), st.integers(0, 4), st.none() | st.integers(1, 20))
def test_forward_blocks_of_different_times_are_those_of_time_series_split(n, n_splits, gap, most):
    X = np.zeros((n, 1))
    ours = ForwardBlockKFold(n_splits, gap=gap, max_train_size=most)
    try:
        expected = list(TimeSeriesSplit(n_splits, gap=gap, max_train_size=most).split(X))
    except ValueError:
        with pytest.raises(ValueError, match=r"test blocks|gap"):
            list(ours.split(X))
        return
    shuffled = np.random.default_rng(n).permutation(n)
    for order, times in ((np.arange(n), None), (np.argsort(shuffled), shuffled)):
        for (train, test), (their_train, their_test) in zip(ours.split(X, groups=times), expected, strict=True):
            assert train.tolist() == sorted(order[their_train]) and test.tolist() == sorted(order[their_test])


@pytest.mark.parametrize(
    "gap", ["7D", pd.Timedelta(days=7), datetime.timedelta(days=7), np.timedelta64(7, "D"), np.timedelta64(168, "h")]
)
def test_a_gap_in_time_leaves_out_what_is_not_earlier_by_more(gap):
    days = np.datetime64("2023-01-01") + np.random.default_rng(0).permutation(90)
    for train, test in ForwardBlockKFold(4, gap=gap).split(days, groups=days):
        assert days[test].min() - days[train].max() == np.timedelta64(8, "D")


@pytest.mark.parametrize("form", ["M8[s]", "M8[ns]", "zone", "objects", "period", "polars"])
def test_dates_of_every_kind_give_the_same_blocks(form):
    days = np.datetime64("1999-12-20", "D") + np.random.default_rng(1).integers(0, 40, 60)
    series = pd.Series(days)
    given_ = {
        "zone": lambda: series.dt.tz_localize("Europe/Madrid"),
        "objects": lambda: [day.item() for day in days],
        "period": lambda: series.dt.to_period("D"),
        "polars": lambda: pytest.importorskip("polars").Series(days),
    }.get(form, lambda: days.astype(form))()
    plain = list(ForwardBlockKFold(3, gap="2D").split(days, groups=days))
    found = ForwardBlockKFold(3, gap="2D").split(days, groups=given_)
    for (train, test), (same_train, same_test) in zip(plain, found, strict=True):
        assert train.tolist() == same_train.tolist() and test.tolist() == same_test.tolist()


@pytest.mark.parametrize(
    ("options", "times", "words"),
    [
        ({"gap": 7}, np.arange("2024-01", "2024-02", dtype="M8[D]"), "gap='7D'"),
        ({"gap": "7D"}, np.arange(31), "a number in their unit"),
        ({"gap": 30}, np.arange(31), "take a smaller gap"),
        ({"max_train_size": 2}, np.arange(31) // 4, "take at least 4"),
        ({}, [f"2024-01-{day:02}" for day in range(1, 32)], "pandas.to_datetime"),
        ({}, np.r_[np.nan, np.arange(30)], "row 0"),
        ({}, np.zeros(31), "rows have 1"),
        ({}, [pd.Timestamp("2024-01-01", tz="UTC"), *pd.date_range("2024-01-02", periods=30)], "time zone"),
        ({}, np.arange(30), "samples"),
    ],
)
def test_what_cannot_be_cut_forward_is_refused_with_a_remedy(options, times, words):
    with pytest.raises(ValueError, match=words):
        list(ForwardBlockKFold(**options).split(np.zeros((31, 1)), groups=times))


@pytest.mark.parametrize("gap", [-1, np.nan, np.inf, "soon", "-2D", True, None, [1]])
def test_a_gap_that_is_none_is_refused_where_it_is_given(gap):
    with pytest.raises(ValueError, match="gap="):
        ForwardBlockKFold(gap=gap)


def test_durations_are_times_with_gaps_in_time():
    ages = np.random.default_rng(0).permutation(90).astype("m8[D]")
    for train, test in ForwardBlockKFold(4, gap="7D").split(ages, groups=ages):
        assert ages[test].min() - ages[train].max() == np.timedelta64(8, "D")


def test_a_place_far_away_leaves_blocks_to_the_others():
    places = np.vstack([np.random.default_rng(0).random((99, 2)), [[1e9, 1e9]]])
    sizes = [len(test) for _, test in SpatialBlockKFold(3, random_state=0).split(places, groups=places)]
    assert sum(sizes) == 100 and min(sizes) > 20


def test_a_million_times_are_cut_in_order_of_time():
    times = np.random.default_rng(0).integers(0, 10**7, 10**6)
    train, test = list(ForwardBlockKFold(5, gap=100, max_train_size=50_000).split(times, groups=times))[-1]
    assert times[test].min() - times[train].max() > 100 and 49_000 < len(train) <= 50_000


@quick
@given(st.integers(20, 200), st.integers(2, 5), st.floats(0.05, 0.3), st.integers(2, 3), st.integers(0, 99))
def test_blocks_go_to_folds_as_groups_do_and_none_is_parted(n, n_splits, size, n_dimensions, seed):
    places = np.random.default_rng(seed).random((n, n_dimensions))
    try:
        folds = block_folds(None, None, n_splits, [np.random.default_rng(seed)], coordinates=places, block_size=size)[0]
    except ValueError as error:
        assert "fewer than" in str(error)
        return
    blocks = block_codes(places, size, np.random.default_rng(seed).random(n_dimensions))
    assert len({(block, fold) for block, fold in zip(blocks, folds)}) == len(set(blocks))
    theirs = sorted(len(test) for _, test in GroupKFold(n_splits).split(places, groups=blocks))
    assert sorted(np.bincount(folds, minlength=n_splits)) == theirs
    turned = np.random.default_rng(0).permutation(n)
    again = block_folds(None, None, n_splits, [np.random.default_rng(seed)], coordinates=places[turned], block_size=size)[0]
    assert (again == folds[turned]).all()


@quick
@given(st.integers(30, 150), st.floats(0, 0.15, exclude_min=True), st.integers(0, 99))
def test_a_buffer_leaves_out_exactly_the_rows_within_it(n, buffer, seed):
    places = np.random.default_rng(seed).integers(0, 21, (n, 2)) / 20
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    for train, test in SpatialBlockKFold(3, block_size=0.15, buffer=buffer, random_state=seed).split(places, groups=places):
        rest = np.setdiff1d(np.arange(n), test)
        nearest = apart[np.ix_(rest, test)].min(axis=1)
        clear = np.abs(nearest - buffer) > 1e-12
        assert (np.isin(rest, train) == (nearest > buffer))[clear].all()


@pytest.mark.parametrize("scale", [0.05, 0.1, 0.2])
def test_the_default_block_is_as_long_as_the_target_is_alike(scale):
    found = [variogram_range(*field(600, scale, seed)) for seed in range(5)]
    # The covariance exp(-d^2 / (2 scale^2)) is a twentieth at 2.45 scales, and under one percent at 3.1.
    assert all(one is not None and 2 * scale < one < 5 * scale for one in found), found


def test_a_target_without_structure_gives_ten_blocks_a_fold():
    places = np.random.default_rng(0).random((500, 2))
    noise = [np.random.default_rng(seed).normal(size=500) for seed in range(20)]
    assert sum(variogram_range(places, y) is None for y in noise) >= 19
    assert variogram_range(places, places[:, 0] > 0.5) is not None
    folds = make_folds("BLOCKS", places, None, 5, [0, 1], coordinates=places)
    alone = [test for _, test in SpatialBlockKFold(5, random_state=0).split(places, groups=places)]
    assert all((folds[0, test] == fold).all() for fold, test in enumerate(alone))
    assert (folds[0] != folds[1]).any()


def test_blocks_that_cannot_be_as_long_as_targets_are_alike_are_told():
    places, y = field(300, 0.5, 0)
    with pytest.warns(UserWarning, match="give a buffer"):
        list(SpatialBlockKFold(5, random_state=0).split(places, y, places))


@pytest.mark.parametrize(
    ("options", "places", "words"),
    [
        ({}, None, "takes coordinates as groups"),
        ({}, np.zeros((30, 1)), "expected \\(n_samples, 2\\)"),
        ({}, np.zeros((30, 2)), "1 different place"),
        ({"block_size": 2}, np.random.default_rng(0).random((30, 2)), "smaller blocks"),
        ({"block_size": 1e-19}, np.random.default_rng(0).random((30, 2)), "take at least"),
        ({"block_size": 0.1, "buffer": 2}, np.random.default_rng(0).random((30, 2)), "smaller buffer"),
        ({}, [["a", "b"]] * 30, "expected numbers"),
        ({}, np.full((30, 2), np.nan), "30 of 30 rows"),
    ],
)
def test_what_cannot_be_cut_into_blocks_is_refused_with_a_remedy(options, places, words):
    with pytest.raises(ValueError, match=words):
        list(SpatialBlockKFold(**options).split(np.zeros((30, 1)), groups=places))


def distances(places, folds):
    """Distance from every sample to the nearest one of another fold."""
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    return np.where(folds[:, None] == folds, np.inf, apart).min(axis=1)


CELLS = np.stack(np.meshgrid(*[np.linspace(0, 1, 15)] * 2), axis=-1).reshape(-1, 2)
CENTRES = np.random.default_rng(3).random((12, 2))
SAMPLES = {
    "everywhere": np.random.default_rng(0).random((200, 2)),
    "in clusters": CENTRES[np.arange(200) % 12] + np.random.default_rng(1).normal(0, 0.02, (200, 2)),
}


@pytest.mark.parametrize(("name", "n_times"), [("everywhere", 1.05), ("in clusters", 0.7)])
def test_distances_to_training_rows_match_those_of_the_map_at_least_as_well_as_random_folds_and_blocks(name, n_times):
    places = SAMPLES[name]
    wanted = np.linalg.norm(CELLS[:, None] - places, axis=2).min(axis=1)
    cuts = [
        make_folds("NNDM", places, None, 5, [0], coordinates=places, prediction_points=CELLS)[0],
        make_folds("CV", places, None, 5, [0])[0],
        make_folds("BLOCKS", places, None, 5, [0], coordinates=places)[0],
    ]
    ours, *others = (wasserstein_distance(distances(places, folds), wanted) for folds in cuts)
    assert ours <= n_times * min(others)
    assert np.bincount(cuts[0]).max() <= 100 and len(np.unique(cuts[0])) == 5


def test_matched_folds_are_the_same_in_any_order_of_rows_and_by_the_splitter():
    places, turned = SAMPLES["in clusters"], np.random.default_rng(2).permutation(200)
    folds = make_folds("NNDM", places, None, 4, [3], coordinates=places, prediction_points=CELLS)[0]
    again = make_folds("NNDM", places, None, 4, [3], coordinates=places[turned], prediction_points=CELLS[::-1])[0]
    assert (again == folds[turned]).all()
    splitter = NNDistanceKFold(4, prediction_points=CELLS, random_state=3)
    assert all((folds[test] == fold).all() for fold, (_, test) in enumerate(splitter.split(places, groups=places)))


def test_a_map_farther_than_folds_can_be_apart_is_told():
    places = SAMPLES["everywhere"]
    with pytest.warns(UserWarning, match="for nearer places"):
        make_folds("NNDM", places, None, 4, [0], coordinates=places, prediction_points=CELLS + 5)


@pytest.mark.parametrize(
    ("points", "words"),
    [(None, "needs prediction_points"), (CELLS[:, :1], "prediction_points have shape"), (np.zeros((5, 3)), "2 coordinates")],
)
def test_places_to_predict_that_fit_no_sample_are_refused(points, words):
    with pytest.raises(ValueError, match=words):
        list(NNDistanceKFold(3, prediction_points=points).split(SAMPLES["everywhere"], groups=SAMPLES["everywhere"]))


def test_same_other_and_all_train_on_what_their_names_say():
    subsets = np.repeat(["b", "a", "c"], [20, 13, 9])
    y, splitter = np.arange(42) % 2, SameOtherAllKFold(3, random_state=0)
    splits, names = as_splits(splitter, y[:, None], y, subsets), splitter.split_names(subsets)
    assert len(names) == splitter.get_n_splits(groups=subsets) == len(splits.test) == 27
    for name, train, test in zip(names, splits.train, splits.test):
        same = subsets == name.subset
        assert (same[test]).all() and not (train & test).any()
        assert {"same": same, "other": ~same, "all": same | ~same}[name.trained_on][train].all()
        whole = next(t for n, t in zip(names, splits.train) if n[:2] == name[:2] and n.trained_on == "all")
        assert (train <= whole).all()
    for label in "abc":
        parts = [test for name, test in zip(names, splits.test) if name.subset == label and name.trained_on == "same"]
        assert (np.sum(parts, axis=0) == (subsets == label)).all()
        sizes, ones = np.sum(parts, axis=1), [y[test].sum() for test in parts]
        assert np.ptp(sizes) <= 1 and np.ptp(ones) <= 1


@pytest.mark.parametrize(
    ("subsets", "words"), [(["a"] * 30, "at least two"), (["a"] * 28 + ["b"] * 2, "'b' has 2"), (None, "takes subsets as groups")]
)
def test_subsets_that_cannot_be_cut_are_refused(subsets, words):
    with pytest.raises(ValueError, match=words):
        list(SameOtherAllKFold(3).split(np.zeros((30, 1)), groups=subsets))


RNG = np.random.default_rng(0)
X, Y = RNG.random((120, 3)), RNG.random(120) > 0.5
TAKE = [
    (ForwardBlockKFold(3), RNG.integers(0, 50, 120)),
    (SpatialBlockKFold(3, block_size=0.2, random_state=0), RNG.random((120, 2))),
    (NNDistanceKFold(3, prediction_points=CELLS, random_state=0), RNG.random((120, 2))),
    (SameOtherAllKFold(2, random_state=0), np.arange(120) % 2),
    (CovariateBalancedKFold(3, random_state=0), np.arange(120) // 4),
    (RepeatedCovariateBalancedKFold(3, 2, random_state=0), np.arange(120) // 4),
]


@pytest.mark.parametrize(("splitter", "groups"), TAKE)
def test_a_search_within_a_cross_validation_gets_the_groups_of_its_rows(splitter, groups):
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=splitter)
    plain = search.fit(X, Y, groups=groups).cv_results_["mean_test_score"]
    by_hand = [cross_val_score(LogisticRegression(C=C), X, Y, groups=groups, cv=splitter).mean() for C in (0.1, 1)]
    assert plain == pytest.approx(by_hand)
    outer = KFold(2, shuffle=True, random_state=0)
    expected = [search.fit(X[train], Y[train], groups=groups[train]).score(X[test], Y[test]) for train, test in outer.split(X)]
    with sklearn.config_context(enable_metadata_routing=True):
        assert cross_val_score(search, X, Y, cv=outer, params={"groups": groups}) == pytest.approx(expected)
        found = cross_validate(LogisticRegression(), X, Y, cv=splitter, params={"groups": groups})
        assert len(found["test_score"]) == splitter.get_n_splits(X, Y, groups)


def deployment(kind, seed):
    """Draw inputs, target and what belongs together, of a sample of 300 rows and of 600 rows at deployment."""
    rng, n = np.random.default_rng(seed), 900
    if kind == "space":  # new places are a strip beside the samples, farther from them than the target is alike
        places = rng.random((n, 2)) * [3, 1]
        places[300:] = places[300:] * [1, 0.2] + [0, 1.2]
        waves = rng.normal(0, 1 / 0.08, (200, 2))
        return places, np.cos(places @ waves.T + rng.uniform(0, 2 * np.pi, 200)).sum(axis=1) / 10, places
    if kind == "time":  # the target of a day is near that of the day before
        y = rng.normal(size=n)
        for day in range(1, n):
            y[day] += 0.9 * y[day - 1]
        return np.arange(n)[:, None], y, np.arange(n)
    if kind == "groups":  # visits of patients, ten each, who differ in more than their inputs say; later ones are of others
        patients = np.arange(n) // 10
        traits, effects = rng.normal(size=(n // 10, 2)), rng.normal(size=n // 10)
        x = traits[patients] + 0.1 * rng.normal(size=(n, 2))
        return x, x[:, 0] + effects[patients] + 0.5 * rng.normal(size=n), patients
    if kind == "copies":  # every second row of the sample is one before it, moved a little; the advice finds them
        x = rng.normal(size=(n, 4))
        y = x[:, 0] + rng.normal(size=n)
        x[1:300:2], y[1:300:2] = x[0:300:2] + 0.001 * rng.normal(size=(150, 4)), y[0:300:2]
        return x, y, np.append(rows_kept_together(x[:300], y[:300]), np.full(n - 300, -1))
    sites, x = np.arange(n) % 4, rng.normal(size=(n, 1))
    return x, (x[:, 0] + 1) * sites + 0.3 * rng.normal(size=n), sites


@pytest.mark.parametrize(
    ("kind", "splitter"),
    [
        ("space", SpatialBlockKFold(5, block_size=0.4, buffer=0.2, random_state=0)),
        ("time", ForwardBlockKFold(4, gap=40)),
        ("subsets", SameOtherAllKFold(5, random_state=0)),
        ("groups", CovariateBalancedKFold(5, random_state=0)),
        ("copies", CovariateBalancedKFold(5, random_state=0)),
    ],
)
def test_the_estimate_is_the_error_at_deployment_and_that_of_random_rows_is_not(kind, splitter):
    learner = KNeighborsRegressor(1)
    random, honest, true = [], [], []
    for seed in range(4 if kind == "subsets" else 10):
        X, y, groups = deployment(kind, seed)
        sample, later = np.arange(300), np.arange(340, 900)
        scores = -cross_val_score(learner, X[:300], y[:300], groups=groups[:300], cv=splitter, scoring=MSE)
        if kind == "subsets":  # each site is new once
            scores = scores[[name.trained_on == "other" for name in splitter.split_names(groups[:300])]]
            splits = [(sample[groups[:300] != site], later[groups[later] == site]) for site in range(4)]
        else:
            splits = [(sample, later)]
        true.append(-cross_val_score(learner, X, y, cv=splits, scoring=MSE).mean())
        honest.append(scores.mean())
        random.append(-cross_val_score(learner, X[:300], y[:300], cv=KFold(5, shuffle=True, random_state=0), scoring=MSE).mean())
    print(f"{kind}: by the honest cut {np.mean(honest):.3f}, at random {np.mean(random):.3f}, at deployment {np.mean(true):.3f}")
    assert np.mean(random) < 0.75 * np.mean(true)
    assert abs(np.mean(honest) / np.mean(true) - 1) < 0.1


def test_cuts_that_an_array_of_folds_cannot_say_name_their_splitter():
    for name, splitter in (("FORWARD", "ForwardBlockKFold"), ("SOAK", "SameOtherAllKFold")):
        with pytest.raises(ValueError, match=splitter):
            make_folds(name, X, Y)


def test_degrees_far_from_the_equator_are_warned_of_and_noted():
    rng = np.random.default_rng(0)
    places = pd.DataFrame({"Lon": rng.uniform(5, 12, 60), "lat": rng.uniform(58, 62, 60)})
    ratio = f"{np.cos(np.radians(places['lat'].median())):.2f}"
    with pytest.warns(UserWarning, match=f"coordinates are degrees: one of longitude is {ratio} as long"):
        list(SpatialBlockKFold(4, random_state=0).split(places, groups=places))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (places.assign(lat=places["lat"] - 60), places.set_axis(["east", "north"], axis=1), places.to_numpy()):
            list(SpatialBlockKFold(4, random_state=0).split(other, groups=other))
        table = places.assign(x=rng.normal(size=60))
        found = foldshift.advise(
            table, rng.normal(size=60), Ridge(), coordinates=places, isolate=False, budget=None, most_repetitions=1
        )
    assert [note for note in found.notes if note.startswith("coordinates are degrees")]
