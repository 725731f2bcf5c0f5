"""What users of other packages bring along: skore's reports, and places that take ``cv=``."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from foldshift.inference import compare, recommend_repetitions
from foldshift.inference._fold_scores import fold_scores
from foldshift.partition import ContinuousStratifiedKFold, CovariateBalancedKFold, as_folds

CV = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)


def report(estimator, X, y, cv):
    """What is used of a report of skore."""
    splits = list(cv.split(X, y))
    scores = cross_val_score(estimator, X, y, cv=splits)
    metrics = SimpleNamespace(accuracy=lambda aggregate: scores[None], roc_auc=lambda aggregate: np.stack([scores, scores]))
    return SimpleNamespace(metrics=metrics, splitter=cv, split_indices=splits)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(params=["stand-in", "skore"])
def make(request):
    if request.param == "stand-in":
        return report
    skore = pytest.importorskip("skore", reason="skore is not here: pip install skore")
    return lambda estimator, X, y, cv: skore.CrossValidationReport(estimator, X, y, splitter=cv)


def test_a_report_is_read_as_the_scores_that_it_holds(make, wine):
    scores = cross_val_score(GaussianNB(), *wine, cv=CV)
    read = fold_scores(make(GaussianNB(), *wine, CV), metric="accuracy")
    np.testing.assert_allclose(read.scores, scores.reshape(3, 5), rtol=1e-12)
    assert read.overlap == 0.25
    one = make(GaussianNB(), *wine, CV)
    assert str(recommend_repetitions(one, metric="accuracy")) == str(recommend_repetitions(scores, cv=CV))


def test_two_reports_are_compared_as_their_scores_are(make, wine):
    a, b = (make(one, *wine, CV) for one in (GaussianNB(), KNeighborsClassifier(5)))
    scores = [cross_val_score(one, *wine, cv=CV) for one in (GaussianNB(), KNeighborsClassifier(5))]
    found = compare(a, b, design="folds", metric="accuracy").to_frame()
    expected = compare(*scores, design="folds", cv=CV).to_frame()
    assert found["test"].tolist() == expected["test"].tolist()
    np.testing.assert_allclose(found["p_value"].astype(float), expected["p_value"].astype(float), rtol=1e-9)


def test_reports_of_different_folds_are_not_compared_as_pairs(make, wine):
    a, b = (make(GaussianNB(), *wine, StratifiedKFold(5, shuffle=True, random_state=seed)) for seed in (0, 1))
    with pytest.raises(ValueError, match="the two reports have different folds; give both a splitter with the same random_state"):
        compare(a, b, design="folds", metric="accuracy")


def test_a_report_has_to_be_asked_for_one_number(make, wine):
    one = make(GaussianNB(), *wine, CV)
    with pytest.raises(ValueError, match="scores is a report with several metrics; say which with metric=, such as 'accuracy'"):
        fold_scores(one)
    with pytest.raises(ValueError, match="metric='accurcy' is not among the metrics of scores"):
        fold_scores(one, metric="accurcy")
    with pytest.raises(ValueError, match=r"metric='roc_auc' of scores has \d values for each split; choose one"):
        fold_scores(one, metric="roc_auc")


def test_mlxtend_selects_features_with_these_splitters(oracle):
    selector = oracle("mlxtend.feature_selection").SequentialFeatureSelector
    X, y = load_diabetes(return_X_y=True)
    splitter = ContinuousStratifiedKFold(4, random_state=0)
    balanced = list(CovariateBalancedKFold(4, task="regression", random_state=0).split(X, y))  # by all columns, as the guide says
    found, expected = (
        selector(Ridge(), k_features=2, scoring="r2", cv=cv).fit(X, y) for cv in (splitter, list(splitter.split(X, y)))
    )
    assert found.k_feature_idx_ == expected.k_feature_idx_ and found.k_score_ == expected.k_score_
    one = selector(Ridge(), k_features=1, scoring="r2", cv=balanced).fit(X, y)
    best = max(cross_val_score(Ridge(), X[:, [j]], y, cv=balanced, scoring="r2").mean() for j in range(X.shape[1]))
    assert one.k_score_ == pytest.approx(best, rel=1e-12)


def test_optuna_tunes_with_these_splitters():
    optuna = pytest.importorskip("optuna", reason="optuna is not here: pip install optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X, y = load_diabetes(return_X_y=True)
    splitter = ContinuousStratifiedKFold(4, random_state=0)

    def error(trial):
        return cross_val_score(Ridge(trial.suggest_float("alpha", 0.01, 10)), X, y, cv=splitter).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GridSampler({"alpha": [0.1, 1.0]}))
    study.optimize(error, n_trials=2)
    assert study.best_value == max(cross_val_score(Ridge(alpha), X, y, cv=splitter).mean() for alpha in (0.1, 1.0))


@pytest.mark.filterwarnings("ignore")
def test_autogluon_bags_over_a_column_of_fold_numbers(tmp_path):
    tabular = pytest.importorskip("autogluon.tabular", reason="AutoGluon is not here: pip install autogluon.tabular")
    X, y = load_wine(return_X_y=True, as_frame=True)
    splitter = CovariateBalancedKFold(n_splits=4, random_state=0)
    folds = as_folds(splitter, X, y)[0]
    table = X.assign(target=y, fold=folds)
    one_model = {"hyperparameters": {"RF": {"n_estimators": 10}}, "num_bag_sets": 1, "fit_weighted_ensemble": False}
    local = {"fold_fitting_strategy": "sequential_local", "use_child_oof": False}
    predictor = tabular.TabularPredictor("target", groups="fold", verbosity=0, path=str(tmp_path / "models"))
    predictor.fit(table, **one_model, ag_args_ensemble=local)
    model = predictor._trainer.load_model(predictor.model_names()[0])
    children = [model.load_child(name) for name in model.models]
    assert len(children) == 4
    # Out of fold, every row has the prediction of the one model that was trained without its fold.
    found = predictor.predict_proba_oof().to_numpy()
    inputs = predictor.transform_features(table)
    predicted = [child.predict_proba(inputs) for child in children]
    for fold in range(4):
        rows = folds == fold
        assert sum(np.allclose(found[rows], each[rows], atol=1e-6) for each in predicted) == 1
