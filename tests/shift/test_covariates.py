from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import energy_distance, ks_2samp
from sklearn.metrics import roc_auc_score

from foldshift.core.compiling import compiling_always
from foldshift.core.kdtree import nearest_candidates
from foldshift.partition import make_folds
from foldshift.shift import fold_covariates, fold_hellinger_attributes, fold_ks, fold_ks_attributes, hellinger
from foldshift.shift.measures.covariates import MEASURES

RNG = np.random.default_rng(0)
MIXED = np.column_stack([RNG.normal(size=40), RNG.integers(0, 4, 40), RNG.integers(0, 3, 40) / 2, np.ones(40)])
NOMINAL = [1]
FOLDS = RNG.integers(0, 3, (4, 40)).astype(np.uint8)


def parts(folds=FOLDS, n_folds=3):
    """Seed, fold, and which samples are tested."""
    return [(s, f, folds[s] == f) for s in range(len(folds)) for f in range(n_folds)]


def heom(X, nominal):
    """Distances pair by pair, in plain Python."""
    width = np.ptp(X, axis=0)
    out = np.zeros((len(X), len(X)))
    for i, j in product(range(len(X)), repeat=2):
        for c in range(X.shape[1]):
            gap = float(X[i, c] != X[j, c]) if c in nominal else (X[i, c] - X[j, c]) / (width[c] or 1)
            out[i, j] += gap**2
    return np.sqrt(out)


def neighbour_sets(distances, i, k):
    """All sets of k nearest neighbours that some order among ties gives."""
    others = sorted((round(d, 12), j) for j, d in enumerate(distances[i]) if j != i)
    farthest = others[k - 1][0]
    near = [j for d, j in others if d < farthest]
    return [[*near, *chosen] for chosen in combinations([j for d, j in others if d == farthest], k - len(near))]


def expected_auc(distances, test, k):
    """Area under the ROC curve over every order among ties, sample by sample, by enumeration."""
    scores = [[sum(test[j] for j in chosen) for chosen in neighbour_sets(distances, i, k)] for i in range(len(test))]
    won = [np.mean([(a > b) + (a == b) / 2 for a, b in product(scores[i], scores[j])])
           for i in np.flatnonzero(test) for j in np.flatnonzero(~test)]  # fmt: skip
    return np.mean(won)


def test_attributes_have_the_statistics_of_their_two_samples():
    distances = fold_ks_attributes(MIXED, FOLDS, categorical_features=NOMINAL)
    assert distances.shape == (4, 3, 4)
    for s, f, test in parts():
        for j in (0, 2):
            assert distances[s, f, j] == pytest.approx(ks_2samp(MIXED[test, j], MIXED[~test, j]).statistic, abs=1e-12)
        shares = [[np.mean(MIXED[part, 1] == value) for value in range(4)] for part in (test, ~test)]
        assert distances[s, f, 1] == pytest.approx(np.abs(np.subtract(*shares)).sum() / 2, abs=1e-12)
    assert (distances[:, :, 3] == 0).all()


def test_with_two_categories_total_variation_is_kolmogorov_smirnov_and_numbering_does_not_matter():
    two = RNG.integers(0, 2, (40, 1)).astype(float)
    assert (fold_ks_attributes(two, FOLDS, categorical_features=[0])[:, :, 0] == fold_ks(two[:, 0], FOLDS)).all()
    renamed = MIXED.copy()
    renamed[:, 1] = np.array([7.0, -1.0, 3.0, 0.0])[MIXED[:, 1].astype(int)]
    for values, again in zip(*[fold_covariates(X, FOLDS, categorical_features=NOMINAL).values() for X in (MIXED, renamed)]):
        assert values == pytest.approx(again, abs=1e-12)


def test_hellinger_of_every_fold_is_that_of_its_two_samples():
    distances = fold_hellinger_attributes(MIXED, FOLDS, categorical_features=NOMINAL, bins=7)
    for s, f, test in parts():
        for j in range(4):
            ours = hellinger(MIXED[test, j], MIXED[~test, j], bins=7, categorical=j in NOMINAL)
            assert distances[s, f, j] == pytest.approx(ours, abs=1e-12)


def test_hellinger_bins_are_those_of_numpy_and_the_distance_is_not_normalised():
    a, b = RNG.normal(size=50), RNG.normal(size=80).round(1)
    union = np.append(a, b)
    p, q = (np.histogram(part, 30, (union.min(), union.max()))[0] / len(part) for part in (a, b))
    assert hellinger(a, b) == pytest.approx(np.linalg.norm(np.sqrt(p) - np.sqrt(q)), abs=1e-15)
    assert hellinger([0, 0], [1, 1, 1]) == pytest.approx(np.sqrt(2))
    assert hellinger(["a", "b"], ["b", "a"], categorical=True) == 0
    assert hellinger(["a", "b"], ["c"], categorical=True) == pytest.approx(np.sqrt(2))
    assert hellinger([1.0], [1.0]) == 0


def test_in_one_dimension_the_energy_distance_is_that_of_scipy():
    x = RNG.normal(size=(40, 1)) * 7
    ours = fold_covariates(x, FOLDS)["energy"]
    scaled = (x[:, 0] - x.min()) / np.ptp(x)
    for s, f, test in parts():
        assert ours[s, f] == pytest.approx(energy_distance(scaled[test], scaled[~test]), rel=1e-9)


def test_the_energy_distance_of_mixed_attributes_is_that_of_all_pairs():
    ours, distances = fold_covariates(MIXED, FOLDS, categorical_features=NOMINAL)["energy"], heom(MIXED, NOMINAL)
    for s, f, test in parts():
        across, tests, trains = (distances[np.ix_(a, b)].mean() for a, b in ((test, ~test), (test, test), (~test, ~test)))
        assert ours[s, f] == pytest.approx(np.sqrt(2 * across - tests - trains), rel=1e-9)


def test_above_max_rows_the_energy_distance_is_that_of_the_rows_drawn():
    X, folds = RNG.normal(size=(60, 2)), RNG.integers(0, 2, (3, 60))
    rows = np.random.default_rng(5).permutation(60)[:30]
    X[:2] = [[-9, -9], [9, 9]]
    whole, drawn = (fold_covariates(X, folds, max_rows=m, rng=np.random.default_rng(5)) for m in (60, 30))
    distances = heom(X, ())
    for s, f, test in parts(folds, 2):
        a, b = (np.intersect1d(rows, np.flatnonzero(part)) for part in (test, ~test))
        across, tests, trains = (distances[np.ix_(*pair)].mean() for pair in ((a, b), (a, a), (b, b)))
        assert drawn["energy"][s, f] == pytest.approx(np.sqrt(2 * across - tests - trains), rel=1e-9)
    assert all((whole[name] == drawn[name]).all() for name in MEASURES if name != "energy")


@pytest.mark.parametrize("k", [1, 5])
def test_without_ties_the_two_sample_auc_is_that_of_scikit_learn(k):
    X = RNG.normal(size=(40, 3))
    ours, distances = fold_covariates(X, FOLDS, n_neighbors=k)["two_sample_auc"], heom(X, ())
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :k]
    for s, f, test in parts():
        assert ours[s, f] == pytest.approx(roc_auc_score(test, test[nearest].mean(axis=1)), abs=1e-12)


LARGE = {
    "no ties": RNG.random((300, 4)),
    "ties": np.round(RNG.random((300, 2)) * 6),
    "every row thrice": np.repeat(RNG.random((100, 3)), 3, axis=0),
    "a grid": np.array([(i, j) for i in range(18) for j in range(18)], dtype=float),
    "more copies than neighbours": np.vstack([np.zeros((40, 2)), RNG.random((200, 2))]),
    "distances that vanish": np.r_[0.0, 1e-200, RNG.random(200)][:, None],
}


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("case", LARGE)
def test_neighbours_by_a_tree_give_the_same_bits_as_a_look_at_all_pairs(case, k, monkeypatch):
    X, folds = LARGE[case], np.random.default_rng(k).integers(0, 5, (3, len(LARGE[case])))
    scanned = fold_covariates(X, folds, 5, n_neighbors=k)["two_sample_auc"]
    monkeypatch.setattr("foldshift.shift.measures.nearest_auc.MANY_ROWS", 2)
    called = []
    monkeypatch.setattr(
        "foldshift.shift.measures.nearest_auc.nearest_candidates",
        lambda *asked: called.append(asked) or nearest_candidates(*asked),
    )
    with compiling_always():
        assert fold_covariates(X, folds, 5, n_neighbors=k)["two_sample_auc"].tobytes() == scanned.tobytes() and called


@settings(deadline=None, max_examples=15, derandomize=True)
@given(st.integers(6, 11), st.integers(1, 4), st.integers(0, 1000))
def test_under_ties_the_two_sample_auc_is_the_mean_over_every_order(n, k, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 3, n) / 7, rng.integers(0, 2, n)]).astype(float)
    folds = rng.integers(0, 2, (2, n))
    ours, distances = fold_covariates(X, folds, 2, categorical_features=[1], n_neighbors=k)["two_sample_auc"], heom(X, [1])
    for s, f, test in parts(folds, 2):
        if 0 < test.sum() < n:
            assert ours[s, f] == pytest.approx(expected_auc(distances, test, min(k, n - 1)), abs=1e-12)
        else:
            assert np.isnan(ours[s, f])


def test_the_order_of_rows_and_the_company_of_seeds_do_not_matter():
    order = RNG.permutation(40)
    whole = fold_covariates(MIXED, FOLDS, categorical_features=NOMINAL)
    again = fold_covariates(MIXED[order], FOLDS[:, order], categorical_features=NOMINAL)
    alone = fold_covariates(MIXED, FOLDS[2:3], categorical_features=NOMINAL)
    for name in MEASURES:
        assert whole[name] == pytest.approx(again[name], abs=1e-9)
        assert (whole[name][2:3] == alone[name]).all()


def test_measures_know_a_shifted_cut_from_a_random_and_a_balanced_one():
    X = np.random.default_rng(1).normal(size=(200, 2))
    shift = {
        name: fold_covariates(X, make_folds(name, X, np.zeros(200), n_folds=4, seeds=range(200)))
        for name in ("SCV", "DB-SCV", "MS-SCV")
    }
    means = {measure: [shift[name][measure].mean() for name in shift] for measure in MEASURES}
    assert all(balanced < random < shifted for random, balanced, shifted in means.values())
    assert means["two_sample_auc"][0] == pytest.approx(0.5, abs=0.02) and means["two_sample_auc"][2] > 0.8


def test_duplicates_do_not_turn_leaving_one_out_into_a_signal():
    X = np.random.default_rng(2).integers(0, 2, (600, 2)).astype(float)
    folds = make_folds("SCV", X, np.zeros(600), n_folds=2, seeds=range(40))
    assert fold_covariates(X, folds)["two_sample_auc"].mean() == pytest.approx(0.5, abs=0.01)


def test_a_fold_that_is_empty_or_holds_all_samples_has_no_shift():
    folds = np.array([[0] * 20 + [2] * 20, [1] * 40])
    for values in fold_covariates(MIXED, folds, 3, categorical_features=NOMINAL).values():
        assert np.isnan(values).tolist() == [[False, True, False], [True, True, True]]
    assert all(np.isnan(values).all() for values in fold_covariates([[1.0]], [[0]]).values())


def test_constant_inputs_have_no_shift_and_two_samples_are_enough():
    shift = fold_covariates(np.ones((6, 2)), [[0, 1] * 3], n_neighbors=50)
    assert {name: values.tolist() for name, values in shift.items() if name != "two_sample_auc"} == {
        name: [[0.0, 0.0]] for name in MEASURES[:4]
    }
    # All others are neighbours, as there are only five: two of them are test rows for a test row, three for a training row.
    assert shift["two_sample_auc"].tolist() == [[0.0, 0.0]]
    shift = fold_covariates([[0.0], [1.0]], [[0, 1]])
    assert shift["ks_mean"].tolist() == [[1, 1]] and shift["energy"] == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fold_covariates([[np.nan], [1.0]], [[0, 1]]), "X contains NaN or infinity"),
        (lambda: fold_covariates([1.0, 2.0], [[0, 1]]), r"X has shape \(2,\)"),
        (lambda: fold_covariates(np.ones((3, 0)), [[0, 1, 0]]), r"X has shape \(3, 0\)"),
        (lambda: fold_covariates(np.ones((3, 1)), [[0, 1]]), r"folds have shape \(1, 2\)"),
        (lambda: fold_covariates(np.ones((2, 1)), [[0.5, 1.0]]), "folds hold 0.5"),
        (lambda: fold_covariates(np.ones((2, 1)), [[0, 2]], 2), "folds hold numbers from 0 to 2; expected 0 to 1"),
        (lambda: fold_covariates(np.ones((2, 1)), [[0, -2]]), "folds hold numbers from -2 to 0"),
        (
            lambda: fold_covariates(np.ones((2, 1)), [[0, 1]], n_neighbors=0),
            "n_neighbors must be an integer of at least 1; got 0",
        ),
        (lambda: fold_covariates(np.ones((2, 1)), [[0, 1]], max_rows=1.5), "max_rows must be an integer"),
        (lambda: fold_covariates(np.ones((2, 1)), [[0, 1]], categorical_features=[1]), "categorical_features"),
        (lambda: fold_hellinger_attributes(np.ones((2, 1)), [[0, 1]], bins=0), "bins=0 must be at least 1"),
        (lambda: hellinger([], [1]), r"sample a has shape \(0,\)"),
        (lambda: hellinger([1.0], [np.nan]), "NaN or infinite"),
        (lambda: hellinger([1.0], [np.nan], categorical=True), "NaN"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
