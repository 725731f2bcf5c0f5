"""Whatever scikit-learn's own functions take is taken here, with the same results; what is not is refused in a line."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from foldshift.evaluation import classification_scores, evaluate_folds, leave_one_out, regression_scores, score_folds
from foldshift.learners import ELMRegressor, NaiveBayesClassifier, NNClassifier, NNRegressor
from foldshift.partition import (
    DBSCV,
    DOBSCV,
    MSSCV,
    SCV,
    ContinuousStratifiedKFold,
    RepeatedContinuousStratifiedKFold,
    RepeatedDBSCV,
    RepeatedDOBSCV,
    RepeatedMSSCV,
    RepeatedSCV,
    as_folds,
    check_folds,
    make_folds,
)

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
IRIS_X, IRIS_Y = IRIS_X[::3], IRIS_Y[::3]
NAMES = ["a", "b", "c", "d"]
SPECIES = np.array(["setosa", "versicolor", "virginica"])[IRIS_Y]
FOLDS = make_folds("SCV", None, IRIS_Y, 5, seeds=[3])
SPLITS = [(np.flatnonzero(FOLDS[0] != fold), np.flatnonzero(FOLDS[0] == fold)) for fold in range(5)]


def polars_frame(X):
    return pytest.importorskip("polars").DataFrame(dict(zip(NAMES, X.T)))  # no dependency: tested where it is at hand


KINDS = {
    "array": lambda X: X,
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES, index=np.arange(len(X)) * 7 + 3),
    "nullable": lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "objects": lambda X: X.astype(object),
    "polars": polars_frame,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
}
TARGETS = {
    "array": np.asarray,
    "list": list,
    "pandas": lambda y: pd.Series(y, index=np.arange(len(y)) * 2 + 1),
    "nullable": lambda y: pd.Series(y).convert_dtypes(dtype_backend="numpy_nullable"),
    "category": lambda y: pd.Series(y).astype("category"),
    "polars": lambda y: pytest.importorskip("polars").Series(y),
}
ESTIMATORS = {
    "logistic": LogisticRegression(max_iter=5000),
    "tree": DecisionTreeClassifier(random_state=0),
    "own 1NN": NNClassifier(),
    "own NB": NaiveBayesClassifier(),
}


# Evaluators
# ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["logistic", "tree"])
def test_inputs_of_every_kind_give_scikit_learns_predictions(kind, name):
    X = KINDS[kind](IRIS_X)
    theirs = cross_val_predict(ESTIMATORS[name], X, IRIS_Y, cv=SPLITS)
    assert (evaluate_folds(ESTIMATORS[name], X, IRIS_Y, FOLDS)[0] == theirs).all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("csr", "csc", "coo")])
@pytest.mark.parametrize("name", ["own 1NN", "own NB"])
def test_inputs_of_every_kind_give_the_same_by_the_shared_path(kind, name):
    X = KINDS[kind](IRIS_X)
    theirs = cross_val_predict(ESTIMATORS[name], X, IRIS_Y, cv=SPLITS)
    for shared in (True, False):
        assert (evaluate_folds(ESTIMATORS[name], X, IRIS_Y, FOLDS, shared=shared)[0] == theirs).all()


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("labels", [IRIS_Y, SPECIES], ids=["numbers", "texts"])
@pytest.mark.parametrize("name", ["logistic", "own 1NN"])
def test_targets_of_every_kind_give_scikit_learns_predictions(kind, labels, name):
    y = TARGETS[kind](labels)
    theirs = cross_val_predict(ESTIMATORS[name], IRIS_X, y, cv=SPLITS)
    ours = evaluate_folds(ESTIMATORS[name], IRIS_X, y, FOLDS)
    assert ours.shape == (1, 50) and (ours[0] == theirs).all()
    assert (evaluate_folds(ESTIMATORS[name], IRIS_X, y, FOLDS.tolist(), shared=False)[0] == theirs).all()


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "decision_function"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_scores_are_scikit_learns(method, n_classes):
    rows = np.isin(IRIS_Y, range(n_classes))
    X, y = IRIS_X[rows], SPECIES[rows]
    cv = KFold(4, shuffle=True, random_state=0)
    estimator = LogisticRegression()
    theirs = cross_val_predict(estimator, X, y, cv=cv, method=method)
    ours = evaluate_folds(estimator, X, y, cv, response_method=method)[0]
    assert ours.shape == theirs.shape and ours == pytest.approx(theirs)


@pytest.mark.filterwarnings("ignore:Number of classes in training fold:RuntimeWarning")
def test_class_scores_where_a_training_part_lacks_a_class_are_scikit_learns():
    cv = KFold(3)  # the classes stand one after the other
    for estimator in (LogisticRegression(), NNClassifier()):
        theirs = cross_val_predict(estimator, IRIS_X, SPECIES, cv=cv, method="predict_proba")
        with pytest.warns(UserWarning, match="training parts lack a class: its predict_proba is 0"):
            ours = evaluate_folds(estimator, IRIS_X, SPECIES, cv, response_method="predict_proba")[0]
        assert ours == pytest.approx(theirs)
    with pytest.raises(ValueError, match="holds 2 of 3 classes"):
        evaluate_folds(LinearSVC(), IRIS_X, SPECIES, cv, response_method="decision_function")


def test_the_shared_class_scores_are_those_of_fit_by_fit():
    ours = evaluate_folds(NaiveBayesClassifier(), IRIS_X, SPECIES, FOLDS, response_method="predict_proba")[0]
    theirs = cross_val_predict(NaiveBayesClassifier(), IRIS_X, SPECIES, cv=SPLITS, method="predict_proba")
    assert ours == pytest.approx(theirs)


def test_several_outputs_are_predicted_as_scikit_learn_does():
    X, y = load_diabetes(return_X_y=True)
    outputs = np.column_stack([y, X[:, 0], y**2])
    for target in (outputs, pd.DataFrame(outputs), outputs.tolist()):
        for estimator in (LinearRegression(), MultiOutputRegressor(Ridge())):
            ours = evaluate_folds(estimator, X, target, KFold(3))
            assert ours.shape == (1, 442, 3)
            assert ours[0] == pytest.approx(cross_val_predict(estimator, X, target, cv=KFold(3)))
    assert leave_one_out(LinearRegression(), X[:20], outputs[:20]).shape == (20, 3)
    labels = np.column_stack([IRIS_Y, IRIS_Y == 1])
    with pytest.raises(ValueError, match="one column of y at a time"):
        evaluate_folds(KNeighborsClassifier(), IRIS_X, labels, FOLDS, response_method="predict_proba")


def test_data_frames_reach_the_estimator_untouched():
    X = pd.DataFrame({"size": IRIS_X[:, 0], "kind": pd.Series(SPECIES).astype("category"), "text": SPECIES})
    y = (IRIS_X[:, 2] > 4).astype(int)
    estimator = make_pipeline(make_column_transformer((OneHotEncoder(), ["text"]), remainder="drop"), LogisticRegression())
    assert (evaluate_folds(estimator, X, y, FOLDS)[0] == cross_val_predict(estimator, X, y, cv=SPLITS)).all()
    boosting = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    assert (leave_one_out(boosting, X[["size", "kind"]][:12], y[:12]) >= 0).all()

    class Seeing(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            assert isinstance(X, pd.DataFrame) and isinstance(y, pd.Series) and X.dtypes["kind"] == "category"
            return self

        def predict(self, X):
            assert isinstance(X, pd.DataFrame) and list(X.columns) == ["size", "kind", "text"]
            return X.index.to_numpy(dtype=float)

    assert (evaluate_folds(Seeing(), X, pd.Series(y), FOLDS)[0] == np.arange(50)).all()
    assert (leave_one_out(Seeing(), X, pd.Series(y)) == np.arange(50)).all()


def test_missing_values_reach_the_estimator_that_takes_them_and_are_refused_by_the_one_that_does_not():
    X = np.where(np.random.default_rng(0).random(IRIS_X.shape) < 0.1, np.nan, IRIS_X)
    boosting = HistGradientBoostingClassifier(max_iter=3)
    assert (evaluate_folds(boosting, X, IRIS_Y, FOLDS)[0] == cross_val_predict(boosting, X, IRIS_Y, cv=SPLITS)).all()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        evaluate_folds(NNRegressor(), X, IRIS_X[:, 0], FOLDS)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        leave_one_out(NNClassifier(), X, IRIS_Y)


def test_weights_and_jobs_are_scikit_learns():
    weights = np.random.default_rng(0).random(50) ** 3
    estimator = LogisticRegression()
    theirs = cross_val_predict(estimator, IRIS_X, IRIS_Y, cv=SPLITS, params={"sample_weight": weights}, method="predict_proba")
    for given in (weights, pd.Series(weights), weights.tolist()):
        ours = evaluate_folds(
            estimator, IRIS_X, IRIS_Y, FOLDS, params={"sample_weight": given}, response_method="predict_proba", n_jobs=1
        )
        assert ours[0] == pytest.approx(theirs)
    assert ours[0] != pytest.approx(cross_val_predict(estimator, IRIS_X, IRIS_Y, cv=SPLITS, method="predict_proba"))
    together = evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, FOLDS, n_jobs=2)
    assert (together == evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, FOLDS)).all()
    one = leave_one_out(GaussianNB(), IRIS_X, IRIS_Y, params={"sample_weight": weights}, response_method="predict_proba")
    assert one.shape == (50, 3)


@pytest.mark.parametrize("kind", ["array", "pandas", "nullable", "polars", "csr"])
@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss", ["accuracy", "roc_auc_ovr"]])
def test_scores_are_those_of_cross_validate(kind, scoring):
    X = KINDS[kind](IRIS_X)
    folds = make_folds("SCV", None, IRIS_Y, 5, seeds=[3, 4])
    ours = score_folds(LogisticRegression(max_iter=5000), X, IRIS_Y, folds, scoring=scoring)
    theirs = cross_validate(LogisticRegression(max_iter=5000), X, IRIS_Y, cv=SPLITS, scoring=scoring)
    for name, values in (ours if isinstance(ours, dict) else {"score": ours}).items():
        assert values.shape == (2, 5) and values[0] == pytest.approx(theirs[f"test_{name}"], abs=1e-12)
    assert isinstance(ours, dict) == isinstance(scoring, list)


def test_scores_are_nan_where_a_seed_has_no_such_fold():
    folds = np.vstack([FOLDS[0], np.minimum(FOLDS[0], 3)])
    scores = score_folds(GaussianNB(), IRIS_X, IRIS_Y, folds)
    assert np.isnan(scores).tolist() == [[False] * 5, [False] * 4 + [True]]


@pytest.mark.parametrize("kind", KINDS)
def test_leave_one_out_takes_what_scikit_learn_takes(kind):
    X, y = KINDS[kind](IRIS_X[::2]), SPECIES[::2]
    names = ["tree"] + ([] if kind in ("csr", "csc", "coo") else ["own NB"])
    for name in names:
        theirs = cross_val_predict(ESTIMATORS[name], X, y, cv=LeaveOneOut())
        assert (leave_one_out(ESTIMATORS[name], X, pd.Series(y)) == theirs).all()


# A shared path is used only where it gives the same as fit by fit
# ------------------------------------------------------------------------------------------------------------------------


class Upside(NNClassifier):
    """A subclass whose own ``predict`` the shared path knows nothing of."""

    def predict(self, X):
        return super().predict(X)[::-1]


def test_a_subclass_with_its_own_predict_is_evaluated_fit_by_fit():
    folds = KFold(5, shuffle=True, random_state=0)
    theirs = cross_val_predict(Upside(), IRIS_X, IRIS_Y, cv=folds)
    assert (evaluate_folds(Upside(), IRIS_X, IRIS_Y, folds)[0] == theirs).all()
    assert (evaluate_folds(NNClassifier(), IRIS_X, IRIS_Y, folds)[0] != theirs).any()
    assert (leave_one_out(Upside(), IRIS_X, IRIS_Y) == leave_one_out(NNClassifier(), IRIS_X, IRIS_Y)).all()


def test_a_generator_as_random_state_starts_every_fit_alike():
    X, y = load_diabetes(return_X_y=True)
    estimator = ELMRegressor(5, random_state=np.random.RandomState(3))
    assert evaluate_folds(estimator, X, y, KFold(4))[0] == pytest.approx(cross_val_predict(estimator, X, y, cv=KFold(4)))


def test_a_training_part_that_lacks_a_class_does_not_know_of_it():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]]), ["a", "a", "b", "b", "c"]
    folds = [0, 1, 0, 1, 0]
    for estimator in (NaiveBayesClassifier(), NNClassifier()):
        plain = evaluate_folds(estimator, X, y, folds, shared=False)
        assert (evaluate_folds(estimator, X, y, folds) == plain).all()


# Folds
# ------------------------------------------------------------------------------------------------------------------------


def test_samples_that_are_never_tested_are_nan_and_train_every_model():
    test_fold = np.array([-1, 0, 1, 0, 1] * 10)
    for estimator in (LinearRegression(), NNRegressor()):
        ours = evaluate_folds(estimator, IRIS_X[:, :3], IRIS_X[:, 3], test_fold)
        assert (np.isnan(ours[0]) == (test_fold < 0)).all()
        for train, test in PredefinedSplit(test_fold).split():
            expected = estimator.fit(IRIS_X[train, :3], IRIS_X[train, 3]).predict(IRIS_X[test, :3])
            assert ours[0, test] == pytest.approx(expected)
        again = evaluate_folds(estimator, IRIS_X[:, :3], IRIS_X[:, 3], PredefinedSplit(test_fold))
        assert again == pytest.approx(ours, nan_ok=True)


def test_labels_of_samples_that_are_never_tested_are_refused_or_asked_for():
    test_fold = np.array([-1, 0, 1, 0, 1] * 10)
    for y in (IRIS_Y, SPECIES, IRIS_Y == 1):
        with pytest.raises(ValueError, match=r"10 of 50 samples are in no test part \(fold -1\), .*untested='nan'"):
            evaluate_folds(GaussianNB(), IRIS_X, y, test_fold)
        ours = evaluate_folds(NNClassifier(), IRIS_X, y, test_fold, untested="nan")[0]
        assert ours.dtype == object and all(value != value for value in ours[test_fold < 0])
        for train, test in PredefinedSplit(test_fold).split():
            assert (ours[test] == NNClassifier().fit(IRIS_X[train], y[train]).predict(IRIS_X[test])).all()
    proba = evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, test_fold, response_method="predict_proba")
    assert np.isnan(proba[0, test_fold < 0]).all() and np.isfinite(proba[0, test_fold >= 0]).all()
    with pytest.raises(ValueError, match="untested='drop' must be 'raise' or 'nan'"):
        evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, test_fold, untested="drop")


BAD_FOLDS = [
    (FOLDS + 0.5, r"folds hold 0?.?\d*\.5; expected whole numbers"),
    (np.where(FOLDS == 0, np.nan, FOLDS), "folds hold nan; expected whole numbers"),
    (FOLDS.astype(int) - 2, "folds hold numbers from -2 to 2; expected 0 to 49"),
    (FOLDS.astype(int) + 50, "folds hold numbers from 50 to 54; expected 0 to 49"),
    (FOLDS[:, :40], "have 50, 50 and 40 samples|expected the same number|folds have shape"),
    (FOLDS[None], "folds have shape|predictions have shape"),
    (FOLDS > 2, "folds have dtype bool; expected an integer type"),
    (FOLDS.astype(str), "folds have dtype <U3; expected an integer type"),
    (np.full((1, 50), "a", dtype=object), "folds hold 'a'; expected whole numbers"),
]


@pytest.mark.parametrize(("folds", "message"), BAD_FOLDS)
def test_folds_are_checked_wherever_they_come_in(folds, message):
    for attempt in (
        lambda: evaluate_folds(NNClassifier(), IRIS_X, IRIS_Y, folds),
        lambda: evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, folds),
        lambda: score_folds(GaussianNB(), IRIS_X, IRIS_Y, folds),
        lambda: classification_scores(IRIS_Y, IRIS_Y[None], None, folds, 50),
        lambda: regression_scores(IRIS_Y, IRIS_Y[None], folds, 50),
        lambda: make_folds(lambda *_: folds, None, IRIS_Y, 50, [0]),
    ):
        with pytest.raises(ValueError, match=None if "make_folds" in attempt.__code__.co_names else message):
            attempt()


def test_folds_that_leave_nothing_to_train_on_or_are_no_folds_are_refused():
    with pytest.raises(ValueError, match="row 1 of folds puts all samples into fold 2: nothing is left to train on"):
        evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, np.vstack([FOLDS[0], np.full(50, 2)]))
    with pytest.raises(ValueError, match=r"folds=5 must hold the fold of every sample.*make_folds.*KFold\(5\)"):
        evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, 5)
    with pytest.raises(ValueError, match=r"TimeSeriesSplit trains on .* of the .* rows outside a test part"):
        evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, TimeSeriesSplit(3))


def test_folds_of_every_kind_are_the_same_folds():
    expected = evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, FOLDS)
    for folds in (FOLDS[0], FOLDS[0].tolist(), pd.Series(FOLDS[0], dtype="Int64"), FOLDS.astype(float), FOLDS + 1, 3 * FOLDS):
        assert (evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, folds) == expected).all()
        for name in ("own 1NN", "own NB"):
            plain = evaluate_folds(ESTIMATORS[name], IRIS_X, IRIS_Y, folds, shared=False)
            assert (evaluate_folds(ESTIMATORS[name], IRIS_X, IRIS_Y, folds) == plain).all()
    assert check_folds(FOLDS, 50, n_seeds=1, n_folds=5) is not None
    with pytest.raises(ValueError, match=r"folds have shape \(1, 50\); expected \(n_seeds, n_samples\) = \(2, 50\)"):
        check_folds(FOLDS, 50, n_seeds=2)


def test_a_splitter_becomes_the_array_of_its_folds():
    repeated = as_folds(RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0), IRIS_X, IRIS_Y)
    assert repeated.shape == (3, 50) and (np.sort(repeated, axis=1) == np.repeat(np.arange(5), 10)).all()
    pairs = list(KFold(4).split(IRIS_X))
    assert (as_folds(pairs, IRIS_X) == as_folds(KFold(4), sparse.csr_array(IRIS_X))).all()
    shuffled = as_folds(ShuffleSplit(3, test_size=0.5, random_state=0), IRIS_X)
    assert ((shuffled >= 0).sum(axis=1) == 25).all() and shuffled.min() == -1
    with pytest.raises(ValueError, match="list makes no test part"):
        as_folds([], IRIS_X)


def test_scores_leave_out_samples_that_are_never_tested():
    folds = np.array([[-1, 0, 0, 1, 1, 1]])
    y, predicted = np.array([9.0, 1, 2, 3, 4, 5]), np.array([[np.nan, 1, 3, 3, 4, 5]])
    assert regression_scores(y, predicted, folds, 3)["mae"] == pytest.approx(np.array([[0.5, 0, np.nan]]), nan_ok=True)
    labels = np.array(["a", "b", "a", "b", "a", "b"])
    ours = classification_scores(labels, [["b", "b", "b", "b", "a", "b"]], np.full((1, 6, 2), 0.5), folds, 3)
    assert ours["accuracy"] == pytest.approx(np.array([[0.5, 1, np.nan]]), nan_ok=True)
    assert ours["log_loss"] == pytest.approx(np.array([[np.log(2), np.log(2), np.nan]]), nan_ok=True)


@pytest.mark.parametrize("labels", [SPECIES, SPECIES.astype(object), IRIS_Y + 1, IRIS_Y - 1, IRIS_Y / 2])
def test_labels_of_any_kind_are_scored_as_codes_are(labels):
    folds = make_folds("SCV", None, IRIS_Y, 5, range(3))
    codes = evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, folds)
    scores = evaluate_folds(GaussianNB(), IRIS_X, IRIS_Y, folds, response_method="predict_proba")
    expected = classification_scores(IRIS_Y, codes, scores, folds, 5)
    ours = classification_scores(labels, np.unique(labels)[codes], scores, folds, 5)
    for name, values in expected.items():
        assert (ours[name] == values).all() and (values > 0).all()


def test_a_predicted_label_that_no_sample_has_is_an_error():
    ours = classification_scores(["a", "b"], [["a", "z"]], None, [[0, 0]], 1)
    assert ours["accuracy"].tolist() == [[0.5]] and ours["auc_crisp"].tolist() == [[0.5]]


# Splitters
# ------------------------------------------------------------------------------------------------------------------------

CLASS_SPLITTERS = (SCV, DBSCV, DOBSCV, MSSCV, RepeatedSCV, RepeatedDBSCV, RepeatedDOBSCV, RepeatedMSSCV)
TARGET_SPLITTERS = (ContinuousStratifiedKFold, RepeatedContinuousStratifiedKFold)


def cut_by(splitter, X, y):
    return [test.tolist() for _, test in splitter.split(X, y)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", CLASS_SPLITTERS + TARGET_SPLITTERS)
def test_splitters_cut_inputs_of_every_kind_alike(kind, make):
    y = SPECIES if make in CLASS_SPLITTERS else IRIS_X[:, 0]
    splitter, X = make(3, random_state=0), KINDS[kind](IRIS_X)
    if kind in ("csr", "csc", "coo") and "DB" in make.__name__ + "DB" * ("OB" in make.__name__ or "MS" in make.__name__):
        with pytest.raises(ValueError, match=r"X is a sparse matrix of shape \(50, 4\); .*toarray.*SCV"):
            next(splitter.split(X, y))
        return
    assert cut_by(splitter, X, y) == cut_by(splitter, IRIS_X, y)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("make", CLASS_SPLITTERS + TARGET_SPLITTERS)
def test_splitters_cut_targets_of_every_kind_alike(kind, make):
    if make in TARGET_SPLITTERS and kind == "category":
        kind = "nullable"
    y = SPECIES if make in CLASS_SPLITTERS else IRIS_X[:, 0]
    assert cut_by(make(3, random_state=0), IRIS_X, TARGETS[kind](y)) == cut_by(make(3, random_state=0), IRIS_X, y)
    name = "DOB-SCV" if make in CLASS_SPLITTERS else "TSCV"
    assert (make_folds(name, IRIS_X, TARGETS[kind](y), 3, [1]) == make_folds(name, IRIS_X, y, 3, [1])).all()


def mixed():
    frame = pd.DataFrame(IRIS_X[:, :2], columns=["a", "b"])
    frame["colour"] = np.array(["red", "blue", "green"])[np.arange(50) % 3]
    frame["kind"] = pd.Series(np.array(["x", "y"])[np.arange(50) % 2]).astype("category")
    return frame, np.column_stack([frame[["a", "b"]], np.arange(50) % 3, np.arange(50) % 2])


@pytest.mark.parametrize("metric", ["heom", "keel"])
def test_nominal_columns_by_name_by_type_and_by_position_are_the_same(metric):
    frame, codes = mixed()
    options = {"metric": metric, "remainders": "spread", "random_state": 0}
    expected = cut_by(DOBSCV(3, categorical_features=[2, 3], **options), codes, SPECIES)
    assert expected != cut_by(DOBSCV(3, **options), codes, SPECIES)
    for wanted in ("from_dtype", ["colour", "kind"], [2, 3], [False, False, True, True], np.array(["colour", "kind"])):
        assert cut_by(DOBSCV(3, categorical_features=wanted, **options), frame, SPECIES) == expected
    assert cut_by(DOBSCV(3, categorical_features="from_dtype", **options), frame.to_numpy(dtype=object), SPECIES) == expected
    named = pd.DataFrame(codes, columns=list(frame))
    assert cut_by(DOBSCV(3, categorical_features=["colour", "kind"], **options), named, SPECIES) == expected
    nullable = frame.astype({"a": "Float64", "b": "Float64", "colour": "string"})
    assert cut_by(DOBSCV(3, categorical_features="from_dtype", **options), nullable, SPECIES) == expected
    polars = pytest.importorskip("polars")
    for theirs in (
        polars.DataFrame(frame.to_dict("list")),
        polars.DataFrame(frame.to_dict("list"), schema_overrides={"kind": polars.Categorical}),
    ):
        for wanted in ("from_dtype", ["colour", "kind"]):
            assert cut_by(DOBSCV(3, categorical_features=wanted, **options), theirs, SPECIES) == expected


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (mixed()[0], {}, "column 'colour' of X holds 'red', not numbers: name it in categorical_features, or say .*'from_dtype'"),
        (mixed()[0].drop(columns="colour"), {}, "column 'kind' of X is of the type category"),
        (mixed()[0], {"categorical_features": ["color", "kind"]}, "unknown column 'color'; did you mean colour"),
        (mixed()[1], {"categorical_features": ["colour"]}, "names a column, 'colour'; X is not a data frame .*positions"),
        (mixed()[0], {"categorical_features": "colour"}, "categorical_features='colour' must be 'from_dtype', or a list"),
        (
            mixed()[0].assign(colour=pd.Timestamp(0)),
            {"categorical_features": ["kind"]},
            "column 'colour' of X holds dates or times",
        ),
        (np.where(mixed()[1] > 7.5, np.inf, mixed()[1]), {}, r"Input X contains infinity \(row \d+, column 0\)"),
        (IRIS_X[:, :0], {}, "X has no columns"),
    ],
)
def test_inputs_that_cannot_be_measured_are_refused_in_a_line(X, options, message):
    for attempt in (
        lambda: next(DBSCV(2, **options).split(X, IRIS_Y)),
        lambda: make_folds("DB-SCV", X, IRIS_Y, 2, [0], **options),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            attempt()
        assert "\n" not in str(caught.value)


def test_groups_that_are_ignored_are_warned_about():
    for make in CLASS_SPLITTERS + TARGET_SPLITTERS:
        splitter, y = make(2, random_state=0), IRIS_Y
        with pytest.warns(UserWarning, match=f"The groups parameter is ignored by {make.__name__}"):
            next(splitter.split(IRIS_X, y, groups=np.arange(50)))
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="The groups")
            next(splitter.split(IRIS_X, y))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("TSCV", {"y": [1.0, np.nan, 3.0, 4.0]}, r"y contains NaN: 1 of 4 rows \(the first is row 1\)"),
        ("TSCV", {"y": [1.0, np.inf, 3.0, 4.0]}, "y contains infinity in row 1"),
        ("CV", {"y": [1.0, None, 3.0, 4.0]}, "y contains NaN"),
        ("SCV", {"y": ["a", None, "a", "b"]}, "y contains NaN"),
        ("SCV", {"y": pd.Series([1, pd.NA, 1, 2], dtype="Int64")}, "y contains NaN"),
        ("SCV", {"y": [0.5, 1.5, 2.5, 3.5]}, "Got 'continuous' instead.*TSCV.*y holds 0.5"),
        ("DOB-SCV", {"y": [0.5, 1.5, 2.5, 3.5]}, "Got 'continuous' instead"),
        ("SCV", {"y": np.array(["a", 1, "a", 1], dtype=object)}, "y mixes labels of type int and str"),
        ("TSCV", {"y": ["a", "b", "a", "b"]}, "y must hold numbers to be stratified on.*such as 'a'.*For classes use SCV"),
        ("CV", {"n_folds": 2.5}, "n_folds=2.5 must be a whole number between 2 and the number of samples, 4"),
        ("SCV", {"n_folds": "2"}, "n_folds='2' must be a whole number"),
        ("TSCV", {"y": np.ones((4, 2))}, r"y has shape \(4, 2\); expected one column"),
        ("SCV", {"y": np.ones((4, 2))}, r"y has shape \(4, 2\); expected one column"),
        ("CV", {"seeds": 3}, r"seeds=3 must be a list, one partition for each: seeds=\[3\] for one, seeds=range\(3\)"),
        ("CV", {"seeds": np.random.default_rng(0)}, "seeds is one Generator; expected a list"),
        ("CV", {"X": np.ones((5, 1))}, "X and y have 5 and 4 samples"),
    ],
)
def test_make_folds_checks_as_strictly_as_the_splitters(name, change, message):
    arguments = {"X": np.arange(4.0)[:, None], "y": [0, 1, 0, 1], "n_folds": 2, "seeds": [0]} | change
    with pytest.raises(ValueError, match=message):
        make_folds(name, **arguments)


def test_a_column_is_a_target_and_plain_k_fold_takes_classes():
    column = IRIS_Y[:, None]
    for name in ("CV", "SCV", "TSCV"):
        assert (make_folds(name, None, column, 3, [0]) == make_folds(name, None, IRIS_Y, 3, [0])).all()
    assert (make_folds("CV", None, SPECIES, 3, [0]) == make_folds("CV", None, IRIS_Y, 3, [0])).all()
    assert len(list(ContinuousStratifiedKFold(3, 1).split(IRIS_X, SPECIES))) == 3


def test_objects_that_are_numbers_are_numbers():
    y = IRIS_X[:, 0].astype(object)
    assert (make_folds("TSCV", None, y, 3, [0]) == make_folds("TSCV", None, IRIS_X[:, 0], 3, [0])).all()
    assert cut_by(ContinuousStratifiedKFold(3, random_state=0), IRIS_X, y)
    assert (make_folds("SCV", None, IRIS_Y.astype(object), 3, [0]) == make_folds("SCV", None, IRIS_Y, 3, [0])).all()
    with pytest.raises(ValueError, match="continuous"):
        make_folds("SCV", None, y, 3, [0])


def test_a_repeated_splitter_and_make_folds_agree_as_documented():
    for make, name, y in (
        (RepeatedContinuousStratifiedKFold, "TSCV", IRIS_X[:, 0]),
        (RepeatedSCV, "SCV", IRIS_Y),
        (RepeatedDOBSCV, "DOB-SCV", IRIS_Y),
    ):
        for n_repeats in (1, 4):
            folds = make_folds(name, IRIS_X, y, 5, np.random.SeedSequence(7).spawn(n_repeats))
            assert (as_folds(make(5, n_repeats, random_state=7), IRIS_X, y) == folds).all()


class Wanting(ClassifierMixin, BaseEstimator):
    """Takes part without a target, as clusterers do."""

    def fit(self, X, y=None):
        self.n_ = len(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.n_)


def test_an_estimator_without_target_is_evaluated():
    assert (evaluate_folds(Wanting(), IRIS_X, None, FOLDS) == 40).all()
    assert (leave_one_out(Wanting(), IRIS_X, None) == 49).all()


@pytest.mark.parametrize("function", [evaluate_folds, score_folds, lambda model, X, y, folds: leave_one_out(model, X, y)])
def test_a_class_a_name_or_a_table_in_the_place_of_an_estimator_is_named(function):
    folds = np.arange(30) % 3
    for given, message in (
        (GaussianNB, r"estimator is the class GaussianNB; give an instance, GaussianNB\(\)"),
        ("GaussianNB", "estimator is 'GaussianNB', which has no fit"),
        (IRIS_X[:30], r"estimator is of shape \(30, 4\), which has no fit"),
    ):
        with pytest.raises(ValueError, match=message):
            function(given, IRIS_X[:30], np.arange(30) % 2, folds)
