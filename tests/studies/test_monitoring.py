"""The monitoring study: the split of Table 1, rows complete and reproducible, shifts that share rows, learners that fail."""

from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

import measure
from foldshift.datasets.dataset import Dataset, write_prepared
from foldshift.engine.config.learners_file import read_learners
from foldshift.learners import NNClassifier
from foldshift.shift.detectors.co_failure import failing
from foldshift.shift.detectors.monitoring_tests import category_counts, chi_square, kruskal_wallis, two_proportion
from foldshift.shift.inject.injectors import feature_scale, versions
from foldshift.shift.measures.hellinger import hellinger_features
from foldshift.studies.cieslak_2009.detectors import prediction_detectors as predictions
from foldshift.studies.cieslak_2009.detectors.feature_detectors import (
    TrainTest,
    feature_p_values,
    hellinger_permutation_p,
    shift_rows,
)
from foldshift.studies.cieslak_2009.detectors.prediction_detectors import learner_scores
from foldshift.studies.cieslak_2009.measure import feature_rows, learner_rows
from foldshift.studies.cieslak_2009.shift_conditions import CONDITIONS, UNSHIFTED
from foldshift.studies.cieslak_2009.three_part_split import Repeat, draw_repeat, positive_class, split, split_sizes

# Rows of the negative and of the positive class, and printed rows of training, validation and test part.
TABLE1 = {
    "estate": ((4686, 636), (2662, 1064, 1596)),
    "mammography": ((10923, 260), (5593, 2236, 3354)),
    "oil": ((896, 41), (470, 188, 279)),
    "page": ((4913, 560), (2738, 1094, 1641)),
    "pendigits": ((9850, 1142), (5497, 2198, 3297)),
    "phoneme": ((3818, 1586), (2702, 1081, 1621)),
    "satimage": ((5809, 626), (3218, 1287, 1930)),
    "segment": ((1980, 330), (1155, 462, 693)),
}
KEYS = ["dataset", "repeat", "condition"]
COLUMNS = {
    "shift": [
        *KEYS, "version", "n_train", "n_test", "share_positive", "tied_share", "n_tested", "fails_paper", "fails",
        "fails_holm", "fails_bh", "self_tested", "self_paper", "self_valid", "hellinger", "hellinger_expected", "hellinger_p",
        "fails_positive", "fails_negative", "tested_positive", "tested_negative",
    ],
    "readings": [*KEYS, "removed", "sides", "n_cells", "failing"],
    "co_failure": [
        *KEYS, "n_tests", "phi_paper", "phi_paper_sd", "phi", "phi_sd", "n_undefined", "jaccard", "hellinger_mean",
        "hellinger_skew", "hellinger_skew_turned",
    ],
    "learners": [
        *KEYS, "version", "learner", "accuracy_validation", "accuracy_test", "auc_test", "friedman_p", "two_proportion_p",
        "kruskal_p", "ks_scores_p", "status", "message",
    ],
    "multivariate": [*KEYS, "version", "detector", "p_value", "statistic"],
}  # fmt: skip
SMALL = {"n_bootstraps": 20, "n_permutations": 20, "n_versions_multivariate": 1, "n_repeats_multivariate": 1}
PS = ["friedman_p", "two_proportion_p", "kruskal_p", "ks_scores_p"]


def make_data(n=240, n_features=3, n_categories=0, share=0.3, seed=0):
    """A made-up data set of two classes; with categories, a last column that is nominal."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(np.int64)
    X = rng.normal(size=(n, n_features)) * 10.0 ** np.arange(n_features) + y[:, None]
    kinds = ["real"] * n_features
    if n_categories:
        X = np.column_stack([X, (rng.integers(0, n_categories, n) + y) % n_categories])
        kinds.append("nominal")
    labels = tuple(map(str, range(n_categories)))
    return Dataset(
        name="made-up",
        task="classification",
        X=np.ascontiguousarray(X),
        y=y,
        feature_names=tuple(f"x{j}" for j in range(len(kinds))),
        kinds=tuple(kinds),
        categories=tuple(labels if kind == "nominal" else () for kind in kinds),
        classes=("no", "yes"),
        groups=None,
        target="y",
        target_range=(0.0, 0.0),
        feature_ranges=np.column_stack([X.min(axis=0), X.max(axis=0)]),
        scaling="none",
        rows=np.arange(n),
        n_dropped=0,
        constant_features=(),
        notes=(),
    )


@pytest.fixture(scope="module")
def learners(root):
    known = read_learners(root / "config/learners.yaml")
    return {name: known[name] for name in ("PET", "NB", "5NN", "LSVM")}


@pytest.fixture(scope="module")
def data():
    return make_data()


def measure_repeat(data, learners, master_seed, number, *, mask="median", n_bootstraps=100, **settings):
    """All rows of one repeat."""
    repeat = draw_repeat(data, master_seed, number)
    both = {name: settings[name] for name in ("removed", "progress") if name in settings}
    of_learners = learner_rows(repeat, learners, mask=mask, n_bootstraps=n_bootstraps, **both)
    return feature_rows(repeat, **settings) | {"learners": of_learners}


@pytest.fixture(scope="module")
def measured(data, learners):
    return measure_repeat(data, learners, 1, 0, **SMALL)


def picked(rows, **wanted):
    """Columns of the rows with the wanted values."""
    found = np.logical_and.reduce([rows[name] == value for name, value in wanted.items()])
    return {name: column[found] for name, column in rows.items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


class BadAtFitting(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("cannot\nlearn")


# ---- the split ----


@pytest.mark.parametrize("name", TABLE1)
def test_parts_have_the_sizes_of_table_1_to_two_rows_in_a_thousand(name):
    classes, printed = TABLE1[name]
    ours = np.sum([split_sizes(n) for n in classes], axis=0)
    assert ours.sum() == sum(classes)
    assert np.abs(ours - printed).max() <= 0.002 * sum(classes)


def test_the_sizes_of_a_class_are_50_20_and_30_per_cent_rounded_up_but_for_the_last():
    assert [split_sizes(n) for n in (4, 5, 10, 41, 896)] == [(2, 1, 1), (3, 1, 1), (5, 2, 3), (21, 9, 11), (448, 180, 268)]
    with pytest.raises(ValueError, match=r"^a class has 3 rows; 4 or more are needed"):
        split_sizes(3)


def test_the_parts_are_disjoint_together_whole_and_stratified():
    y = np.repeat([False, True], [70, 30])
    parts = split(y, np.random.default_rng(0))
    assert sorted(np.concatenate(parts)) == list(range(100))
    assert [(len(part), int(y[part].sum())) for part in parts] == [(50, 15), (20, 6), (30, 9)]
    assert not any((np.diff(part) > 0).all() for part in parts)  # in random order


def test_the_rarest_class_is_positive_unless_another_is_named(data):
    assert positive_class(data).sum() == 72
    assert positive_class(data, "no").sum() == 168
    with pytest.raises(ValueError, match=r"^positive_class='maybe' must be a class of data set made-up: no, yes$"):
        positive_class(data, "maybe")


# ---- rows ----


def test_conditions_are_those_of_the_study():
    names = "Base MCAR25 MCAR50 MAR25 MAR50 MNAR25 MNAR50 CS25 CS50 CS100 CS200 P2 P5 P10 P20 P30 P40 P50 P60 P70 MNARC25 MNARC50"
    assert [condition.name for condition in CONDITIONS] == names.split()


def test_rows_are_complete(data, learners, measured):
    assert {kind: list(rows) for kind, rows in measured.items()} == COLUMNS
    there = [
        condition for condition in CONDITIONS if condition.name not in ("P2", "P5")
    ]  # 50 negative test rows allow 1 or 3 positive ones
    per_condition = {c.name: 1 if c is UNSHIFTED or c.kind == "prior" else 3 for c in there}
    cells = [(name, version) for name, n in per_condition.items() for version in range(n)]
    assert list(zip(measured["shift"]["condition"], measured["shift"]["version"])) == cells
    assert list(measured["co_failure"]["condition"]) == list(per_condition)
    rows = measured["learners"]
    assert sorted(zip(rows["condition"], rows["version"], rows["learner"])) == sorted(
        (*cell, name) for cell in cells for name in learners
    )
    rows = measured["multivariate"]
    assert list(zip(rows["condition"], rows["version"], rows["detector"])) == [
        (name, 0, detector) for name in per_condition for detector in ("energy", "mmd", "c2st")
    ]


def test_values_are_missing_only_where_they_must_be(measured):
    shift = measured["shift"]
    by_class = np.array([name == "Base" or name.startswith("P") for name in shift["condition"]])
    own = np.array([name.startswith(("MAR", "CS", "MNARC")) for name in shift["condition"]])
    for name in ("fails_positive", "fails_negative", "tested_positive", "tested_negative"):
        np.testing.assert_array_equal(np.isnan(shift[name]), ~by_class)
    for name in ("self_paper", "self_valid"):
        np.testing.assert_array_equal(np.isnan(shift[name]), ~own)
    np.testing.assert_array_equal(shift["self_tested"], own)
    np.testing.assert_array_equal(np.isnan(shift["hellinger_p"]), shift["version"] > 0)
    for rows in (measured["learners"], measured["multivariate"]):
        for name, column in rows.items():
            assert column.dtype.kind != "f" or np.isfinite(column).all(), name
    assert set(measured["learners"]["status"]) == {"ok"}
    assert np.isfinite(measured["co_failure"]["phi_paper"]).all()


def test_counts_and_shares_are_those_of_the_injectors(measured):
    counts = {"Base": 71, "MCAR25": 54, "MCAR50": 36, "MAR50": 36, "MNAR25": 54, "CS200": 71, "P50": 42, "P70": 30, "MNARC50": 61}
    shift = measured["shift"]
    assert set(shift["n_train"]) == {120}
    for name, n in counts.items():
        assert set(picked(shift, condition=name)["n_test"]) == {n}
    assert picked(shift, condition="P50")["share_positive"].tolist() == [0.5]
    assert picked(shift, condition="P70")["share_positive"].tolist() == [21 / 30]
    assert set(picked(shift, condition="MNAR50")["n_tested"]) == {2}
    assert set(picked(shift, condition="MAR50")["n_tested"]) == {3}


def test_features_and_learners_react_to_a_strong_shift_and_not_to_none(measured):
    shift, rows = measured["shift"], measured["learners"]
    assert picked(shift, condition="CS200")["self_paper"].tolist() == [1, 1, 1]
    assert picked(shift, condition="MAR50")["self_valid"].tolist() == [1, 1, 1]
    assert picked(shift, condition="CS200", version=0)["hellinger_p"][0] == 1 / 21
    moved = picked(rows, condition="CS200", learner="NB")
    still = picked(rows, condition="Base", learner="NB")
    assert moved["kruskal_p"][:2].max() < 0.001 < still["kruskal_p"][0]  # the class hardly shows in the third feature
    assert all((rows[name] >= 0).all() and (rows[name] <= 1).all() for name in PS)


def test_masking_removes_just_the_failures_of_the_features_on_themselves(measured):
    shift = measured["shift"]
    for p in (25, 50):
        mar, mnar = (picked(shift, condition=f"{kind}{p}") for kind in ("MAR", "MNAR"))
        np.testing.assert_array_equal(mar["fails_paper"] - mnar["fails_paper"], mar["self_paper"])
        np.testing.assert_array_equal(mar["fails"] - mnar["fails"], mar["self_valid"])
        np.testing.assert_array_equal(mar["share_positive"], mnar["share_positive"])
        np.testing.assert_array_equal(mar["n_tested"] - mnar["n_tested"], 1)


def test_the_readings_hold_the_rows_of_the_study_and_those_of_its_mirror(data, learners, measured):
    shift, readings = measured["shift"], measured["readings"]
    conditions = ["Base", "MCAR25", "MCAR50", "MAR25", "MAR50", "MNAR25", "MNAR50"]
    assert list(dict.fromkeys(readings["condition"])) == conditions and len(readings["sides"]) == 4 * len(conditions)
    other = measure_repeat(data, {"NB": learners["NB"]}, 1, 0, removed="largest", **SMALL)
    for removed, found in (("smallest", shift), ("largest", other["shift"])):
        for condition in conditions:
            rows, here = picked(found, condition=condition), {"condition": condition, "removed": removed}
            assert picked(readings, **here, sides=1)["failing"].tolist() == [rows["fails_paper"].sum()]
            assert (picked(readings, **here, sides=2)["failing"] >= rows["fails"].sum()).all()  # equation 7 is the milder one
            assert picked(readings, **here)["n_cells"].tolist() == [rows["n_tested"].sum()] * 2
    assert_same(other["readings"], readings)
    # What is moved upwards, and what has lost its smallest values, is seen by one side; what has lost its largest is not.
    assert picked(shift, condition="MAR50")["self_paper"].tolist() == [1, 1, 1]
    assert picked(other["shift"], condition="MAR50")["self_paper"].tolist() == [0, 0, 0]
    assert picked(other["shift"], condition="MAR50")["self_valid"].tolist() == [1, 1, 1]


def test_the_same_names_give_the_same_rows_and_learners_do_not_touch_each_other(data, learners, measured):
    again = measure_repeat(data, {"NB": learners["NB"]}, 1, 0, **SMALL)
    for kind in ("shift", "readings", "co_failure", "multivariate"):
        assert_same(again[kind], measured[kind])
    assert_same(again["learners"], picked(measured["learners"], learner="NB"))
    other = measure_repeat(data, {"NB": learners["NB"]}, 1, 1, **SMALL | {"n_repeats_multivariate": 0})
    assert not np.array_equal(other["shift"]["hellinger"], measured["shift"]["hellinger"])


def test_without_multivariate_tests_there_are_no_rows_of_them(data, learners):
    rows = measure_repeat(data, {"NB": learners["NB"]}, 1, 3, **SMALL)
    assert rows["multivariate"] == {}
    assert np.isnan(rows["shift"]["hellinger_p"]).all()


def test_a_condition_that_leaves_too_few_rows_of_a_class_is_left_out_and_said(learners):
    said = []
    rows = measure_repeat(make_data(n=100, share=0.2), {"NB": learners["NB"]}, 1, 0, **SMALL, progress=said.append)
    assert [line.split()[2] for line in said] == ["P2", "P5", "P10", "P60", "P70", "MNARC50"]
    assert "would leave" in said[0]
    assert not {"P2", "P5"} & set(rows["shift"]["condition"])


# ---- learners ----


def one_split(data, seed=0):
    y = positive_class(data)
    parts = split(y, np.random.default_rng(seed))
    return Repeat(data, 0, 0, y, parts, feature_scale(data.X[parts.train]))


def test_a_learner_that_fails_costs_its_own_rows_only(data, learners, measured, monkeypatch):
    monkeypatch.setattr(
        predictions, "build_learner", lambda spec, **keys: spec["make"]() if "make" in spec else build(spec, **keys)
    )
    bad = {"make": BadAtFitting, "nominal": "native"}
    said = []
    rows = measure_repeat(data, {"bad": bad, "NB": learners["NB"]}, 1, 0, **SMALL, progress=said.append)
    assert_same(picked(rows["learners"], learner="NB"), picked(measured["learners"], learner="NB"))
    lost = picked(rows["learners"], learner="bad")
    assert len(lost["status"]) == len(measured["learners"]["status"]) / 4
    assert set(lost["status"]) == {"failed"} and set(lost["message"]) == {"RuntimeError: cannot learn"}
    assert all(np.isnan(lost[name]).all() for name in (*PS, "accuracy_validation", "accuracy_test", "auc_test"))
    assert said.count("repeat 0: bad failed: RuntimeError: cannot learn") == 1


build = predictions.build_learner


def test_with_missing_values_only_naive_bayes_meets_a_mask(data, learners, measured):
    rows = measure_repeat(data, learners, 1, 0, mask="missing", **SMALL)["learners"]
    masked = np.array([name in ("MNAR25", "MNAR50") for name in rows["condition"]])
    lost = masked & (rows["learner"] != "NB")
    np.testing.assert_array_equal(rows["status"] == "failed", lost)
    assert all("NaN" in text for text in rows["message"][lost])
    assert np.isnan(rows["accuracy_test"][lost]).all() and np.isfinite(rows["accuracy_validation"]).all()
    for name in PS:  # all else is as with the median
        np.testing.assert_array_equal(rows[name][~lost], measured["learners"][name][~lost])


def test_a_mask_or_translation_is_scored_as_if_the_table_were_changed(learners):
    data = make_data(n=300, n_features=4)
    repeat = one_split(data)
    train, _, test = (data.X[rows] for rows in repeat.parts)
    low, width = train.min(axis=0), np.ptp(train, axis=0)
    scores = learner_scores(learners["5NN"], repeat)
    model = NNClassifier(5).fit((train - low) / width, repeat.y[repeat.parts.train])
    for j in range(4):
        table = test.copy()
        table[:, j] = np.median(train[:, j])
        np.testing.assert_allclose(scores.masked[j], model.predict_proba((table - low) / width)[:, 1], atol=1e-12)
        for q in (25, 200):
            table[:, j] = test[:, j] + q / 100 * repeat.scale[j]
            np.testing.assert_allclose(scores.translated[q][j], model.predict_proba((table - low) / width)[:, 1], atol=1e-12)
    np.testing.assert_allclose(scores.test, model.predict_proba((test - low) / width)[:, 1], atol=1e-12)


def test_few_training_rows_are_all_neighbours(learners):
    spec = learners["5NN"] | {"params": {"n_neighbors": 9}}
    scores = learner_scores(spec, one_split(make_data(n=8, share=0.5)))
    assert set(scores.test) == {0.5} and set(scores.masked.ravel()) == {0.5}


def test_a_linear_machine_has_platts_probabilities_of_its_outputs(data, learners):
    repeat = one_split(data)
    y, parts = repeat.y, repeat.parts
    train, validation, _ = (data.X[rows] for rows in parts)
    low, width = train.min(axis=0), np.ptp(train, axis=0)
    scores = learner_scores(learners["LSVM"], repeat)
    model = LinearSVC(loss="hinge", max_iter=100_000, random_state=0).fit((train - low) / width, y[parts.train])
    outputs = model.decision_function((validation - low) / width)
    logit = np.log(scores.validation / (1 - scores.validation))
    slope, intercept = np.polyfit(outputs, logit, 1)
    np.testing.assert_allclose(logit, intercept + slope * outputs, atol=1e-6)
    assert slope > 0
    trained = 1 / (1 + np.exp(-intercept - slope * model.decision_function((train - low) / width)))
    assert abs(trained.mean() - y[parts.train].mean()) < 0.02  # a fitted logistic model reproduces the share of positives


def test_rows_of_a_learner_are_its_statistics(data, learners, measured):
    from foldshift.core.seeding import fit_states, generator

    y = positive_class(data)
    parts = split(y, generator(1, "cieslak_2009", "made-up", "split", 0))
    train, test, y_test = data.X[parts.train], data.X[parts.test], y[parts.test]
    state = fit_states(1, ("cieslak_2009", "made-up", "PET"), [0], 1)[0, 0]
    scores = learner_scores(learners["PET"], Repeat(data, 1, 0, y, parts, feature_scale(train)), random_state=state)
    rng = generator(1, "cieslak_2009", "made-up", "rows", 0, "mar", 25)
    shifted = versions(test, y_test, "mar", 25, rng=rng, removed="smallest")
    for condition, found in (("MAR25", [scores.test] * 3), ("MNAR25", scores.masked)):
        rows = picked(measured["learners"], condition=condition, learner="PET")
        for v in range(3):
            kept, truth = found[v][shifted.rows[v]], y_test[shifted.rows[v]]
            correct = (kept > 0.5) == truth
            assert rows["accuracy_test"][v] == correct.mean()
            assert rows["auc_test"][v] == pytest.approx(roc_auc_score(truth, kept), abs=1e-12)
            assert rows["two_proportion_p"][v] == two_proportion(scores.correct, correct).p_value
            assert rows["kruskal_p"][v] == kruskal_wallis(scores.validation, kept).p_value
            assert rows["accuracy_validation"][v] == scores.correct.mean()


# ---- features ----


def test_constant_and_missing_features_and_nominal_ones(learners):
    data = make_data(n=240, n_features=3, n_categories=3)
    data.X[:, 1] = 7.0
    rows = measure_repeat(data, learners, 1, 0, **SMALL)
    assert set(rows["learners"]["status"]) == {"ok"}
    constant = picked(rows["shift"], condition="CS200", version=1)
    assert constant["self_valid"][0] == 0 and constant["n_tested"][0] == 4  # it has no spread to be moved by
    np.testing.assert_array_equal(  # nor has a nominal one
        picked(rows["shift"], condition="CS200", version=3)["hellinger"], picked(rows["shift"], condition="Base")["hellinger"]
    )
    assert picked(rows["shift"], condition="MAR50", version=1)["tied_share"][0] == 1
    data.X[:, 1] = np.nan
    said = []
    rows = measure_repeat(data, learners, 1, 0, **SMALL, progress=said.append)
    failed = {name for name, status in zip(rows["learners"]["learner"], rows["learners"]["status"]) if status == "failed"}
    assert failed == set(learners) - {"NB"}  # naive Bayes leaves out what is missing
    assert len([line for line in said if "failed" in line]) == len(failed)
    assert set(picked(rows["shift"], condition="MCAR25")["n_tested"]) == {3}
    assert np.isfinite(rows["shift"]["hellinger"]).all() and np.isfinite(rows["multivariate"]["p_value"]).all()


def test_nominal_features_are_compared_by_chi_square():
    data = make_data(n=200, n_features=2, n_categories=3)
    train, test = data.X[:120], data.X[120:]
    kept = np.stack([np.arange(40), np.arange(40, 80)])
    paper, two_sided, valid = feature_p_values(train, test, kept, data.categorical_features)
    for v in range(2):
        p = chi_square(category_counts(train[:, 2], test[kept[v], 2])[0]).p_value
        assert paper[v, 2] == two_sided[v, 2] == valid[v, 2] == p
    assert (two_sided[:, :2] < valid[:, :2]).all()  # the limit of the one-sided D, applied to the two-sided one
    assert (two_sided[:, :2] <= paper[:, :2]).all()


def test_failures_by_class_are_those_of_the_classes_alone(data, measured):
    from foldshift.core.seeding import generator

    y = positive_class(data)
    parts = split(y, generator(1, "cieslak_2009", "made-up", "split", 0))
    row = picked(measured["shift"], condition="Base")
    for name, label in (("positive", True), ("negative", False)):
        train, test = (data.X[part[y[part] == label]] for part in (parts.train, parts.test))
        valid = feature_p_values(train, test, np.arange(len(test))[None], np.zeros(3, dtype=bool)).valid
        assert row[f"fails_{name}"][0] == failing(valid).sum() and row[f"tested_{name}"][0] == 3


def test_the_turned_skewness_is_over_features_and_the_other_over_versions():
    rng = np.random.default_rng(0)
    X, y, nominal = rng.normal(size=(200, 6)) ** 3, np.arange(200) % 2 == 0, np.zeros(6, dtype=bool)
    shifted = versions(X[100:], y[100:], "mar", 25, rng=rng, removed="smallest")
    distance = hellinger_features(X[:100], X[100:], shifted, n_bins=30, categorical_features=nominal).distance
    _, rows = shift_rows(TrainTest(X[:100], X[100:], y[:100], y[100:], nominal), shifted, 0.05)
    assert rows["hellinger_skew"] == pytest.approx(stats.skew(distance.mean(axis=1)))
    assert rows["hellinger_skew_turned"] == pytest.approx(-stats.skew(distance.mean(axis=0)))


def test_the_permutation_test_of_the_mean_hellinger_distance_keeps_its_level_and_finds_a_shift():
    rng = np.random.default_rng(0)
    nominal = np.array([False, True, False])
    p_null, p_moved = [], []
    for _ in range(200):
        X = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), rng.normal(size=60)])
        p_null.append(hellinger_permutation_p(X[:35], X[35:], rng, 39, nominal))
    for _ in range(10):
        X = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300), rng.normal(size=300)])
        X[200:, 2] += 2
        p_moved.append(hellinger_permutation_p(X[:200], X[200:], rng, 39, nominal))
    assert np.mean(np.array(p_null) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert 0.4 < np.mean(p_null) < 0.6
    assert max(p_moved) == 1 / 40


# ---- the job ----


def test_rows_do_not_depend_on_how_repeats_are_blocked(tmp_path, learners):
    write_prepared(tmp_path / "data.npz", make_data(n=120))
    same = {"master_seed": 1, "positive": None}
    settings = {
        "measure_learners": same | {"learners": {"NB": learners["NB"]}, "n_bootstraps": SMALL["n_bootstraps"]},
        "measure_shifts": same | {name: value for name, value in SMALL.items() if name != "n_bootstraps"},
    }

    def written(block):
        files = {kind: str(tmp_path / block / f"{kind}.parquet") for kind in COLUMNS}
        for name, arguments in settings.items():
            make = f"foldshift.studies.cieslak_2009.measure.{name}"
            measure.main(
                SimpleNamespace(
                    input=SimpleNamespace(data=tmp_path / "data.npz"),
                    output={kind: file for kind, file in files.items() if (kind == "learners") == (name == "measure_learners")},
                    params=SimpleNamespace(function=make, arguments=arguments, limited=False),
                    wildcards={"dataset": "made-up", "block": block},
                )
            )
        return {kind: pq.read_table(file).to_pandas() for kind, file in files.items()}

    both, first, second = (written(block) for block in ("0-1", "0-0", "1-1"))
    for kind, columns in COLUMNS.items():
        assert list(both[kind]) == list(second[kind]) == columns
        joined = [part[kind].astype(dict.fromkeys(part[kind].select_dtypes("category"), str)) for part in (first, second, both)]
        assert len(joined[0]) + len(joined[1]) == len(joined[2])
        for name in columns:
            np.testing.assert_array_equal(
                np.concatenate([part[name].to_numpy() for part in joined[:2]]), joined[2][name].to_numpy()
            )
    assert len(second["multivariate"]) == 0
