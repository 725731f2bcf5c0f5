import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from class_cases import awkward_cases, sklearn_folds
from foldshift.datasets import load_dataset
from foldshift.evaluation.classifiers import evaluate_class_cell
from foldshift.evaluation.cross_validate import iterate_fits
from foldshift.learners.kernels import svm
from foldshift.learners.kernels.pdfc import PDFClassifier
from foldshift.learners.kernels.svm import KERNELS, THRESHOLDS, SVMClassifier, forget, logistic_one_step, platt

DATA = Path(os.environ.get("FOLDSHIFT_SHARED", Path(__file__).parents[3] / "shared")) / "data"
RNG = np.random.default_rng(20120503)


CASES = list(awkward_cases(RNG))


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_it_is_a_scikit_learn_estimator(threshold):
    check_estimator(SVMClassifier(threshold=threshold))


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_shared_path_gives_the_very_scores_of_the_plain_path(case, kernel, threshold):
    _, X, y, nominal = case
    folds = sklearn_folds(y, 2 if len(y) < 12 else 3)
    model = SVMClassifier(kernel, C=10, threshold=threshold, categorical_features=nominal)
    scores = model.scores_folds(X, y, folds)
    for s, _, test in iterate_fits(folds):
        assert (scores[s, test] == clone(model).fit(X[~test], y[~test]).predict_proba(X[test])).all()


def test_a_class_that_a_training_part_lacks_has_score_zero():
    X, y = RNG.random((20, 2)), np.array([0, 1] * 9 + [2, 2])
    folds = np.array([[0] * 6 + [1] * 12 + [0, 0]], np.uint8)
    scores = SVMClassifier().scores_folds(X, y, folds)[0]
    assert (scores[folds[0] == 0, 2] == 0).all() and (scores[folds[0] == 1, 2] > 0).any()
    assert scores.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-12)


def test_it_does_not_depend_on_the_order_of_the_training_samples():
    X, y = RNG.random((40, 3)), RNG.integers(0, 2, 40)
    order = RNG.permutation(40)
    assert (SVMClassifier().fit(X, y).predict_proba(X) == SVMClassifier().fit(X[order], y[order]).predict_proba(X)).all()


def _kernel(kernel, A, B):
    squares = ((A[:, None] - B) ** 2).sum(axis=2)
    puk = 1 / (1 + (2 * np.sqrt(squares) * np.sqrt(2 ** (1 / 1.5) - 1) / 0.7) ** 2) ** 1.5
    return {"puk": puk, "rbf": np.exp(-0.3 * squares), "poly": (0.3 * A @ B.T + 2) ** 2}[kernel]


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_those_of_one_hot_columns(kernel):
    numeric, codes = RNG.random((30, 2)), np.column_stack([RNG.integers(0, 3, 30), np.arange(30) % 2])
    X = np.column_stack([numeric, codes])
    one_hot = np.column_stack([numeric, OneHotEncoder(drop="if_binary", sparse_output=False).fit_transform(codes)])
    model = SVMClassifier(kernel, sigma=0.7, omega=1.5, gamma=0.3, degree=2, coef0=2, categorical_features=[2, 3])
    units = model._units(X)
    assert units.tolist() == [0, 0, 2, 1]
    assert model._gram(X, X, units) == pytest.approx(_kernel(kernel, one_hot, one_hot), rel=1e-12)
    assert (model._gram(X[:5], X.copy(), units) == model._gram(X, X, units)[:5]).all()


def test_a_category_that_training_lacks_differs_from_all_others_alike():
    X = np.column_stack([np.zeros(6), [0, 1, 2, 0, 1, 2]])
    model = SVMClassifier(categorical_features=[1])
    units = model._units(X)
    assert model._gram(np.array([[0.0, 3.0]]), X, units).tolist() == [[1 / (1 + 4 * 2)] * 6]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_decides_as_libsvm_does(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[50 * (3 - n_classes) :] / 8, y[50 * (3 - n_classes) :]
    _, first = np.unique(np.column_stack([X, y]), axis=0, return_index=True)
    X, y = X[first], y[first]  # without duplicates, in the order in which the machine sees them
    ours = SVMClassifier(sigma=0.5).fit(X[::2], y[::2])
    gram = 1 / (1 + 16 * ((X[:, None] - X[::2]) ** 2).sum(axis=2))
    theirs = SVC(kernel="precomputed", C=100).fit(gram[::2], y[::2])
    assert (ours.predict(X) == theirs.predict(gram)).all()
    if n_classes == 2:
        outputs = theirs.decision_function(gram)
        assert ours.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-outputs)), abs=1e-9)


def test_merged_duplicates_leave_the_optimum_unchanged():
    X = RNG.integers(0, 3, (300, 2)) / 2
    y = (X.sum(axis=1) + RNG.normal(0, 0.7, 300) > 1).astype(int)
    grid = np.array([[a, b] for a in (0, 0.5, 1) for b in (0, 0.5, 1)])
    ours = SVMClassifier("rbf", C=3).fit(X, y)
    assert len(ours.vectors_) <= 18
    theirs = SVC(kernel="rbf", gamma=1, C=3, tol=1e-8).fit(X, y).decision_function(grid)
    outputs = np.log(ours.predict_proba(grid)[:, 1] / ours.predict_proba(grid)[:, 0])
    assert outputs == pytest.approx(theirs, abs=2e-3)  # twice libsvm's tolerance


def _data_of_outputs(gap):
    high = np.arange(200) < 60
    return RNG.normal(size=200) + gap * high, high, np.ones(200)


@pytest.mark.parametrize("gap", [0.5, 2.0, 50.0])
def test_platts_model_minimises_its_loss(gap):
    outputs, high, weights = _data_of_outputs(gap)
    targets = np.where(high, 61 / 62, 1 / 142)

    def loss(x):
        value = x[0] + x[1] * outputs
        return (np.logaddexp(0, value) - targets * value).sum()

    ours = platt(outputs, high, weights)
    assert loss(ours) <= minimize(loss, ours, method="Nelder-Mead").fun + 1e-6
    assert ours[1] > 0


def test_where_outputs_part_the_classes_one_step_puts_the_threshold_near_the_mean_output():
    outputs = np.concatenate([np.full(170, -1.0), np.full(30, 1.0)]) + 0.01 * RNG.random(200)
    intercept, slope = logistic_one_step(outputs, outputs > 0, np.ones(200))
    # A first step as long as its gradient: log odds of the start over the slope in standard deviations.
    values = (outputs - outputs.mean()) / outputs.std(ddof=1)
    start = np.log(171 / 31)
    p = 1 / (1 + np.exp(-start))
    step = np.array([((outputs < 0) - p).sum(), (((outputs < 0) - p) * values).sum()])
    threshold = outputs.mean() - (start + step[0]) / step[1] * outputs.std(ddof=1)
    assert slope == 1
    assert -intercept == pytest.approx(threshold, abs=1e-9)
    assert abs(-intercept - outputs.mean()) < 0.1


def test_where_a_first_step_leaves_something_to_gain_it_goes_on_until_the_tool_would_stop():
    # 54 outputs near 1 and 10 near -1, so that the first step's gradient is short; the ridge decides where it ends. The numbers
    # are those of a second program, written from a description of the tool's rules without this one.
    high = np.arange(64) >= 10
    outputs = np.where(high, 1.0, -1.0) + 0.01 * np.linspace(-1, 1, 64)
    intercept, slope = logistic_one_step(outputs, high, np.ones(64))
    assert slope == 1 and intercept == pytest.approx(-0.44810977836857435, rel=1e-6)
    assert -intercept < outputs.mean() - 0.2


@pytest.mark.parametrize(
    ("outputs", "high"),
    [
        ([1.0, 1.0], [True, False]),  # nothing to tell them by
        ([-1.0, 1.0], [False, True]),
        ([1e-300, -1e-300, 0.0], [True, False, True]),
        ([1e8, -1e8, 2e8], [True, False, True]),
        ([0.0, 0.0, 0.0, 5.0], [False, False, False, True]),
    ],
)
def test_the_optimiser_ends_with_numbers_whatever_the_outputs(outputs, high):
    intercept, slope = logistic_one_step(np.array(outputs), np.array(high), np.ones(len(high)))
    assert np.isfinite(intercept) and slope in (-1, 0, 1)


def test_where_outputs_overlap_the_optimiser_reaches_the_maximum_likelihood():
    outputs, high, weights = _data_of_outputs(1.0)
    intercept, slope = logistic_one_step(outputs, high, weights)
    value = minimize(
        lambda x: (np.logaddexp(0, x[0] + x[1] * outputs) - high * (x[0] + x[1] * outputs)).sum(), [0, 0], tol=1e-10
    ).x
    assert slope == 1 and intercept == pytest.approx(value[0] / value[1], abs=1e-4)


def test_weights_are_repetitions():
    outputs, high, _ = _data_of_outputs(1.0)
    weights = RNG.integers(1, 4, 200)
    repeated = [np.repeat(part, weights) for part in (outputs, high)]
    for fit in (platt, logistic_one_step):
        assert fit(outputs, high, weights.astype(float)) == pytest.approx(fit(*repeated, np.ones(weights.sum())), rel=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "linear"}, "kernel='linear' is not known; allowed: puk, rbf, poly"),
        ({"threshold": "one_step"}, "threshold='one_step' is not known; allowed: zero, logistic, logistic_one_step"),
        ({"C": 0}, "C=0 must be a number above 0"),
        ({"sigma": -1}, "sigma=-1 must be a number above 0"),
        ({"degree": 1.5}, "degree=1.5 must be an integer of at least 1"),
        ({"coef0": -1}, "coef0=-1 must be a number of at least 0"),
        ({"categorical_features": [0]}, "nominal columns must hold category codes"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SVMClassifier(**parameters).fit([[0.5], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("name", "printed", "n_partitions"),
    [
        ("spectfheart", 0.7589, 10),
        ("sonar", 0.8709, 10),
        ("heart", 0.7869, 10),
        ("hepatitis", 0.7410, 100),
        ("bands-declared", 0.7060, 40),
    ],
)
def test_with_the_one_step_threshold_it_reaches_the_printed_auc(name, printed, n_partitions):
    if not DATA.exists():
        pytest.skip(f"needs the shared data in {DATA}")
    data = load_dataset(name, mirror=str(DATA), scaling="global")
    model = SVMClassifier(threshold="logistic_one_step", categorical_features=data.categorical_features)
    predictions = model.predict_folds(data.X, data.y, sklearn_folds(data.y, 5, n_partitions))
    rates = [(predictions[:, data.y == c] == c).mean() for c in (0, 1)]
    assert np.mean(rates) == pytest.approx(printed, abs=0.015)


@pytest.mark.parametrize("cls", [SVMClassifier, PDFClassifier])
def test_more_memory_than_allowed_is_refused_before_it_is_taken(cls):
    X, y = np.arange(20_000.0)[:, None] / 20_000, np.arange(20_000) % 2
    message = (
        rf"^{cls.__name__}: the kernel matrix of 20,000 distinct samples needs 6,400 MB, more than max_memory_mb=4000; raise it, "
        rf"or give at most 15,811 samples$"
    )
    with pytest.raises(ValueError, match=message):
        cls().fit(X, y)
    with pytest.raises(ValueError, match=message):
        cls().predict_folds(X, y, (np.arange(20_000) % 5)[None].astype(np.uint8))
    model = clone(cls(max_memory_mb=0.16))  # 100 distinct samples, however often they occur
    assert model.get_params()["max_memory_mb"] == 0.16
    X, y = np.repeat(np.arange(100.0), 3)[:, None] / 100, np.repeat(np.arange(100) % 2, 3)
    assert model.fit(X, y).score(X, y) == cls().fit(X, y).score(X, y)
    with pytest.raises(ValueError, match="101 distinct samples"):
        model.fit(np.arange(101.0)[:, None], np.arange(101) % 2)
    for wrong in (0, -1, True, "1 GB", None):
        with pytest.raises(ValueError, match=r"max_memory_mb=.* must be a number above 0"):
            cls(max_memory_mb=wrong).fit(X, y)


@pytest.mark.parametrize("cls", [SVMClassifier, PDFClassifier])
def test_scores_do_not_depend_on_the_memory_that_is_allowed(cls):
    rng = np.random.default_rng(0)
    X, new = rng.random((40, 3)), rng.random((1000, 3))
    y = (X[:, 0] > X[:, 1]).astype(int)
    assert (cls(max_memory_mb=0.0256).fit(X, y).predict_proba(new) == cls().fit(X, y).predict_proba(new)).all()


def test_a_second_kernel_takes_the_place_of_the_first_where_memory_is_short():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.random(30), np.arange(30) % 2])
    X[:2, 1] = 2.0  # only the folds that train on these rows know a third category
    y, folds = np.arange(30) % 3 == 0, np.array([np.arange(30) // 2 % 5, np.arange(30) % 5], dtype=np.uint8)
    short = SVMClassifier(categorical_features=[1], max_memory_mb=16 * 30 * 30 / 1e6)
    roomy = SVMClassifier(categorical_features=[1])
    assert (short.scores_folds(X, y, folds) == roomy.scores_folds(X, y, folds)).all()


def test_a_study_counts_fits_without_memory_as_failed_and_goes_on():
    X, y = RNG.random((40, 2)), np.arange(40) % 2
    folds = (np.arange(40) // 2 % 4)[None].astype(np.uint8)
    _, scores = evaluate_class_cell(SVMClassifier(max_memory_mb=0.001), X, y, folds)
    assert (scores["status"] == "failed").all()
    assert all("max_memory_mb=0.001; raise it" in message and "\n" not in message for message in scores["message"].ravel())


def test_a_training_part_of_one_class_has_no_machine_of_another_part():
    X, y = RNG.random((12, 2)), np.array([0, 1] * 5 + [0, 0])
    folds = np.array([[0, 1] * 5 + [2, 2], [0, 0, 1, 1] * 3, [1, 0] * 6], np.uint8)  # in the first and last a part has one class
    alone = {}
    for threshold in THRESHOLDS:
        forget()
        alone[threshold] = SVMClassifier(threshold=threshold).scores_folds(X, y, folds)
    for threshold in THRESHOLDS:
        assert (SVMClassifier(threshold=threshold).scores_folds(X, y, folds) == alone[threshold]).all()


def test_another_threshold_takes_the_machines_of_the_last_call(monkeypatch):
    X, y = RNG.random((60, 3)), np.arange(60) % 3
    folds, other = sklearn_folds(y), sklearn_folds(y, 4)
    expected = {}
    for threshold in THRESHOLDS:
        forget()
        expected[threshold] = SVMClassifier(threshold=threshold).scores_folds(X, y, folds)
    monkeypatch.setattr(svm, "train_machine", None)  # from here on nothing can be trained
    for threshold in THRESHOLDS:
        assert (SVMClassifier(threshold=threshold).scores_folds(X, y, folds) == expected[threshold]).all()
    for model, *changed in (
        (SVMClassifier(C=1.0), X, y, folds),
        (SVMClassifier(kernel="rbf"), X, y, folds),
        (SVMClassifier(), X, y[::-1], folds),
        (SVMClassifier(), X + 1e-9, y, folds),
        (SVMClassifier(), X, y, other),
    ):
        with pytest.raises(TypeError, match="NoneType"):
            model.scores_folds(*changed)
