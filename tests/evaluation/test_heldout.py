from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foldshift.core.errors import DataError, SourceError
from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.synthetic.populations import N_CATEGORIES, POPULATIONS, draw_population
from foldshift.evaluation.held_out import (
    SampledPopulation,
    held_out_auc,
    heldout_replicate,
    sample_and_rest,
    scale_by_sample,
    training_parts,
)
from foldshift.learners import NNClassifier
from foldshift.partition import make_folds
from foldshift.studies.moreno_torres_2012.measure_heldout import SCHEMAS, measure_heldout

MANY = 200_000


def _rng(seed=0):
    return np.random.default_rng(seed)


# Populations


@pytest.mark.parametrize("name", POPULATIONS)
def test_a_population_draws_finite_rows_of_two_classes_and_the_same_ones_from_the_same_seed(name):
    data, again, other = (
        draw_population(name, 500, _rng(1)),
        draw_population(name, 500, _rng(1)),
        draw_population(name, 500, _rng(2)),
    )
    assert (data.X == again.X).all() and (data.y == again.y).all() and not (data.X == other.X).all()
    assert data.X.shape == (500, len(data.kinds)) and data.X.dtype == np.float64 and data.y.dtype == np.int64
    assert np.isfinite(data.X).all() and np.bincount(data.y, minlength=2).min() > 30 and data.y.max() == 1
    for j, n_categories in N_CATEGORIES.get(name, {}).items():
        assert data.categorical_features[j] and sorted(set(data.X[:, j])) == list(range(n_categories)) == [
            int(c) for c in data.categories[j]
        ]
    assert data.categorical_features.sum() == len(N_CATEGORIES.get(name, {}))


def _gaussian(X, mean, variance=1.0):
    """Log density but for a constant."""
    return -((X - mean) ** 2).sum(axis=1) / (2 * variance) - X.shape[1] * np.log(variance) / 2


def test_the_best_possible_errors_are_those_of_the_literature():
    a, signs = 2 / np.sqrt(20), 1 - 2 * (np.arange(20) % 2)
    X, y = POPULATIONS["twonorm"](MANY, _rng())
    assert np.mean((X.sum(axis=1) < 0) != y) == pytest.approx(0.0228, abs=0.0015)  # Breiman: 2.3 %
    X, y = POPULATIONS["ringnorm"](MANY, _rng())
    assert np.mean((_gaussian(X, a) > _gaussian(X, 0, 4)) != y) == pytest.approx(0.013, abs=0.001)  # 1.3 %
    X, y = POPULATIONS["threenorm"](MANY, _rng())
    two = np.logaddexp(_gaussian(X, a), _gaussian(X, -a)) - np.log(2)
    assert np.mean((_gaussian(X, a * signs) > two) != y) == pytest.approx(0.105, abs=0.002)  # 10.5 %
    X, y = POPULATIONS["sparse_signal"](MANY // 4, _rng())
    assert np.mean((X[:, :5].sum(axis=1) > 2.5) != y) == pytest.approx(0.1318, abs=0.005)  # the normal tail beyond sqrt(5) / 2


def test_the_waves_have_the_means_of_their_triangles():
    X, y = POPULATIONS["waveform"](MANY, _rng())
    place = np.arange(1, 22)
    waves = {centre: np.maximum(6 - abs(place - centre), 0) for centre in (7, 11, 15)}
    for label, other in ((0, 15), (1, 7)):
        assert X[y == label].mean(axis=0) == pytest.approx((waves[11] + waves[other]) / 2, abs=0.02)


def test_labels_follow_their_rules_but_for_the_stated_noise():
    X, y = POPULATIONS["checkerboard"](MANY, _rng())
    assert np.mean((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2 != y) == pytest.approx(0.1, abs=0.003)
    X, y = POPULATIONS["mixed_attributes"](MANY, _rng())
    age, education = X[:, 2], X[:, 3]
    young, old = age < 40, age >= 60
    rule = (young & (education <= 1)) | (~young & ~old & (education >= 1) & (education <= 3)) | (old & (education >= 2))
    assert np.mean(rule != y) == pytest.approx(0.1, abs=0.003)
    assert ((X[:, 1] == 0) == (X[:, 0] >= 75_000)).all() and X[:, 6].min() >= 50_000 and X[:, 6].max() <= 1_350_000
    assert POPULATIONS["unequal_gaussians"](MANY, _rng())[1].mean() == pytest.approx(0.2, abs=0.004)


def test_the_shapes_are_where_they_should_be():
    X, y = POPULATIONS["xor_blobs"](MANY, _rng())
    assert X[y == 0].prod(axis=1).mean() == pytest.approx(1, abs=0.02) and X[y == 1].prod(axis=1).mean() == pytest.approx(
        -1, abs=0.02
    )
    X, y = POPULATIONS["circles"](MANY, _rng())
    squared = (X**2).sum(axis=1)  # radius and two coordinates of noise
    assert squared[y == 0].mean() == pytest.approx(1.08, abs=0.01) and squared[y == 1].mean() == pytest.approx(0.33, abs=0.01)
    X, y = POPULATIONS["spirals"](MANY, _rng())
    radius = np.hypot(*X.T)
    turned = np.angle(np.exp(1j * (np.arctan2(X[:, 1], X[:, 0]) - 3 * np.pi * radius - np.pi * y)))
    outer = radius > 0.5
    assert abs(turned[outer]).mean() < 0.8 and np.mean(abs(turned[outer]) > np.pi / 2) < 0.15


def test_the_grid_has_many_duplicates_of_either_class():
    X, y = POPULATIONS["integer_grid"](4000, _rng())
    cells, cell = np.unique(X, axis=0, return_inverse=True)
    share = np.bincount(cell.ravel(), weights=y) / np.bincount(cell.ravel())
    assert len(cells) == 125 and np.mean((share > 0) & (share < 1)) > 0.8


def test_a_population_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(SourceError, match=r"unknown generated population 'twonrm'; did you mean twonorm"):
        draw_population("twonrm", 10, _rng())


# Samples, training parts, truths


def test_sample_and_rest_have_no_row_in_common_and_the_rest_is_capped():
    sample, rest = sample_and_rest(50, 20, 100, _rng())
    assert sorted([*sample, *rest]) == list(range(50)) and len(sample) == 20
    sample, rest = sample_and_rest(50, 20, 7, _rng())
    assert len(sample) == 20 and len(rest) == 7 and not set(sample) & set(rest)


def test_inputs_are_scaled_over_the_sample_alone():
    X = np.array([[0.0, 2, 5], [10, 1, 5], [20, 0, 6]])
    scaled = scale_by_sample(X, [0, 1], [False, True, False])
    assert scaled.tolist() == [[0, 2, 0], [1, 1, 0], [2, 0, 1]]
    assert X[0, 2] == 5 and scaled.flags.c_contiguous


def test_a_training_part_holds_its_share_of_every_class_and_k_parts_leave_out_every_row_once():
    y = np.repeat([0, 1], [40, 20])[_rng().permutation(60)]
    parts = training_parts(y, 5, 7, _rng())
    assert [np.bincount(y[part]).tolist() for part in parts] == [[32, 16]] * 7
    left_out = [set(range(60)) - set(part.tolist()) for part in parts]
    assert sorted(row for rows in left_out[:5] for row in rows) == list(range(60))
    assert left_out[5] not in left_out[:5]


def test_the_fold_that_is_left_out_is_a_random_one():
    y = np.array([0, 1] * 5 + [0])  # SCV's first fold is larger
    sizes = {len(training_parts(y, 2, 1, _rng(seed))[0]) for seed in range(20)}
    assert sizes == {5, 6}


def test_training_parts_stand_fold_after_fold_and_class_after_class():
    y = np.repeat([0, 1], 30)[_rng(3).permutation(60)]
    (part,) = training_parts(y, 3, 1, _rng())  # two folds of 10 rows of either class
    assert y[part].tolist() == ([0] * 10 + [1] * 10) * 2
    assert all((np.diff(block) > 0).all() for block in part.reshape(4, 10))


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes what it is fitted on."""

    seen = []  # noqa: RUF012

    def __init__(self, tie_order="row"):
        self.tie_order = tie_order

    def fit(self, X, y):
        self.seen.append((X[:, 0].astype(int).tolist(), y.tolist()))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=np.int64)


@pytest.mark.parametrize("tie_order", ["row", "fold"])
def test_a_classifier_whose_ties_go_by_fold_meets_the_rows_of_a_part_in_that_order(tie_order):
    X, y = np.arange(40.0)[:, None], np.array([0, 1] * 20)
    sample, rest = np.arange(30)[::-1], np.arange(30, 40)
    parts = {5: training_parts(y[sample], 5, 2, _rng())}
    Recorder.seen.clear()
    heldout_replicate(Recorder(tie_order), SampledPopulation(X, y, sample, rest), {}, parts, _rng())
    rows = [seen for seen, _ in Recorder.seen]
    assert rows[2] == sample.tolist()
    expected = [sample[part if tie_order == "fold" else np.sort(part)].tolist() for part in parts[5]]
    assert rows[:2] == expected
    assert [labels for _, labels in Recorder.seen] == [y[row].tolist() for row in rows]


class Broken(Recorder):
    """Cannot be fitted on more than 30 rows."""

    def fit(self, X, y):
        if len(X) > 30:
            raise RuntimeError("too much")
        return super().fit(X, y)


def _small():
    data = draw_population("unequal_gaussians", 300, _rng(5))
    sample, rest = sample_and_rest(300, 60, 200, _rng(6))
    partitions = {("SCV", k): make_folds("SCV", data.X[sample], data.y[sample], k, range(r)) for k, r in ((2, 3), (5, 2))}
    parts = {k: training_parts(data.y[sample], k, 3, _rng(k)) for k in (2, 5)}
    return data, sample, rest, partitions, parts


def test_estimates_and_truths_are_those_of_scikit_learn_worked_out_by_hand():
    data, sample, rest, partitions, parts = _small()
    X, y = data.X, data.y
    estimates, truth_part, truth_whole = heldout_replicate(
        GaussianNB(), SampledPopulation(X, y, sample, rest), partitions, parts, _rng()
    )
    for k, folds in ((2, partitions["SCV", 2]), (5, partitions["SCV", 5])):
        values = []
        for row in folds:
            for fold in range(k):
                train, test = sample[row != fold], sample[row == fold]
                values.append(balanced_accuracy_score(y[test], GaussianNB().fit(X[train], y[train]).predict(X[test])))
        assert estimates["SCV", k] == pytest.approx(np.mean(values))
        true = [GaussianNB().fit(X[sample[p]], y[sample[p]]).predict(X[rest]) for p in parts[k]]
        assert truth_part[k] == pytest.approx(np.mean([balanced_accuracy_score(y[rest], one) for one in true]))
    assert truth_whole == pytest.approx(balanced_accuracy_score(y[rest], GaussianNB().fit(X[sample], y[sample]).predict(X[rest])))
    assert truth_whole == held_out_auc(GaussianNB(), X, y, sample, rest)


def test_a_fit_that_fails_costs_no_more_than_its_own_number():
    data, sample, rest, partitions, parts = _small()
    estimates, truth_part, truth_whole = heldout_replicate(
        Broken(), SampledPopulation(data.X, data.y, sample, rest), partitions, parts, _rng()
    )
    assert estimates["SCV", 2] == truth_part[2] == 0.5  # 30 rows
    assert np.isnan([estimates["SCV", 5], truth_part[5], truth_whole]).all()


def test_random_states_come_from_the_generator():
    data, sample, rest, partitions, parts = _small()
    tree = DecisionTreeClassifier(max_features=1)
    first, again, other = (
        heldout_replicate(tree, SampledPopulation(data.X, data.y, sample, rest), partitions, parts, _rng(seed))
        for seed in (1, 1, 2)
    )
    assert first == again and first != other


def test_scv_is_unbiased_against_training_parts_and_db_scv_is_not():
    """Training part and test part of a random stratified cut are draws of the same kind as a part of the sample and new rows."""
    gaps = {name: [] for name in ("SCV", "DB-SCV", "DOB-SCV", "MS-SCV")}
    for replicate in range(200):
        data = draw_population("spirals", 660, _rng(replicate))
        sample, rest = np.arange(60), np.arange(60, 660)
        X, y = data.X[sample], data.y[sample]
        partitions = {(name, 2): make_folds(name, X, y, 2, [replicate]) for name in gaps}
        parts = {2: training_parts(y, 2, 2, _rng(1000 + replicate))}
        estimates, truth_part, _ = heldout_replicate(
            NNClassifier(), SampledPopulation(data.X, data.y, sample, rest), partitions, parts, _rng()
        )
        for name, values in gaps.items():
            values.append(estimates[name, 2] - truth_part[2])
    in_errors = {name: np.mean(values) / (np.std(values, ddof=1) / np.sqrt(200)) for name, values in gaps.items()}
    assert abs(in_errors["SCV"]) < 2.5 and in_errors["DB-SCV"] > 4 and in_errors["DOB-SCV"] > 4 and in_errors["MS-SCV"] < -4


# The measure


def _measure(population, data=(), n_sample=40):
    choices = {"SCV": {"partitioner": "SCV", "options": {}}, "DB": {"partitioner": "DB-SCV", "options": {"metric": "heom"}}}
    learners = {
        "NB": {"import": "sklearn.naive_bayes.GaussianNB", "params": {}, "nominal": "one_hot"},
        "1NN": {"import": "foldshift.learners.NNClassifier", "params": {"n_neighbors": 1}, "nominal": "native"},
    }
    params = {
        "n_sample": n_sample,
        "n_replicates": 3,
        "n_parts": 2,
        "schemes": {2: 2, 5: 1},
        "master_seed": 7,
        "limits": {"minutes": None, "memory_mb": None},
    }
    inputs = SimpleNamespace(data=data)
    (rows,) = measure_heldout(inputs, {"population": population}, **params, partitioners=choices, learners=learners)["held_out"]
    return {name: np.array(values) for name, values in rows.items()}


def test_there_is_one_row_per_replicate_learner_partitioner_and_k_the_same_every_time():
    names = SCHEMAS["held_out"].names
    rows, repeated = _measure("mixed_attributes"), _measure("mixed_attributes")
    assert list(rows) == names
    assert len(rows["k"]) == 3 * 2 * 2 * 2 and set(rows["population"]) == {"mixed_attributes"}
    assert {len(set(zip(rows["replicate"], rows["learner"], rows["partitioner"], rows["k"])))} == {24}
    assert all((rows[name] > 0.2).all() and (rows[name] < 1).all() for name in names[5:])
    assert all((rows[name] == repeated[name]).all() for name in names)
    one = (rows["replicate"] == 0) & (rows["learner"] == "NB")
    assert len(set(rows["truth_whole"][one])) == 1 and len(set(rows["truth_part"][one])) == 2


def test_a_data_set_is_sampled_and_one_that_is_too_small_refused(tmp_path):
    data = replace(draw_population("circles", 100, _rng()), name="rings")
    write_prepared(tmp_path / "rings.npz", data)
    assert set(_measure("rings", tmp_path / "rings.npz")["population"]) == {"rings"}
    with pytest.raises(DataError, match="population rings: 100 rows are too few for samples of 51"):
        _measure("rings", tmp_path / "rings.npz", n_sample=51)
