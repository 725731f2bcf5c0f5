"""Code that gives the printed score: it is run, and gives it to all digits."""

import io
from contextlib import redirect_stdout
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import make_scorer, median_absolute_error
from sklearn.naive_bayes import GaussianNB

import foldshift
from foldshift.advice.learner.preprocessing import prepared
from foldshift.advice.page.score_code import ran

RNG = np.random.default_rng(3)
N = 133  # folds of ten differ in size
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc"))
NUMBERS = X.a + RNG.normal(size=N)
NAMES = np.where(NUMBERS > 0, "yes", "no")
CODES = (NUMBERS > 0).astype(int)
THREE = np.digitize(NUMBERS, [-0.7, 0.7])
GROUPS = RNG.integers(0, 24, N)
MIXED = X.assign(town=RNG.choice(["k", "u"], N))
MIXED.loc[3, "a"] = np.nan

CALLS = {
    "a regression": (X, NUMBERS, LinearRegression(), {}),
    "absolute error": (X, NUMBERS, LinearRegression(), {"scoring": "neg_mean_absolute_error"}),
    "R2": (X, NUMBERS, LinearRegression(), {"scoring": "r2"}),
    "a scorer of ones own": (X, NUMBERS, LinearRegression(), {"scoring": make_scorer(median_absolute_error)}),
    "a score of folds": (X, NUMBERS, LinearRegression(), {"scoring": "neg_max_error"}),
    "a classification": (X, NAMES, LogisticRegression(), {}),
    "log loss of three": (X, THREE, GaussianNB(), {"scoring": "neg_log_loss"}),
    "Brier score of texts": (X, NAMES, GaussianNB(), {"scoring": "neg_brier_score"}),
    "Brier score of three": (X, THREE, GaussianNB(), {"scoring": "neg_brier_score"}),
    "AUC of distances": (X, NAMES, LogisticRegression(), {"scoring": "roc_auc"}),
    "AUC of shares": (X, NAMES, GaussianNB(), {"scoring": "roc_auc"}),
    "F1": (X, CODES, GaussianNB(), {"scoring": "f1"}),
    "groups": (X, NAMES, LogisticRegression(), {"groups": GROUPS}),
    "groups, R2": (X, NUMBERS, LinearRegression(), {"groups": GROUPS, "scoring": "r2"}),
    "groups, texts": (MIXED, NUMBERS, prepared(LinearRegression(), MIXED), {"groups": GROUPS}),
    "groups, codes": (X.round().to_numpy(), NUMBERS, LinearRegression(), {"groups": GROUPS, "categorical_features": [1]}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_code_gives_the_printed_score(name):
    table, target, learner, options = CALLS[name]
    advice = foldshift.advise(table, target, learner, effort="quick", most_repetitions=3, **options)
    assert advice.ran.is_same and advice.ran.value == pytest.approx(advice.interval.estimate, rel=1e-12)


@pytest.mark.parametrize("name", ["a regression", "a classification", "groups"])
def test_the_code_is_whole_and_prints_the_number_of_the_page(name):
    table, target, learner, options = CALLS[name]
    advice = foldshift.advise(table, target, learner, effort="quick", most_repetitions=2, **options)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(advice.code, {"X": table, "y": target, "learner": learner, "groups": options.get("groups")})
    wanted = advice.score.text(advice.interval.estimate)
    assert advice.score.text(float(printed.getvalue())) == wanted
    page = advice.to_html()
    assert f"This code was run when the page was written, and gave {wanted}." in page
    assert advice.cv_line in advice.code and advice.to_dict()["code"] == advice.code


def test_a_learner_that_draws_at_random_is_named_where_the_code_gives_another_number():
    advice = foldshift.advise(X, NUMBERS, RandomForestRegressor(5), effort="quick")
    assert not advice.ran.is_same and "the learner draws at random without a seed" in advice.ran.said


def test_a_number_that_is_the_same_by_chance_is_not_called_the_same():
    advice = foldshift.advise(X, NUMBERS, Ridge(), effort="quick")
    estimate = advice.interval.estimate
    for factor, is_same in ((1 + 1e-4, False), (1 + 1e-9, True)):
        near = SimpleNamespace(
            stopped=False, budget=None, score=advice.score, data=advice.data, declared=advice.declared, code=advice.code,
            interval=SimpleNamespace(estimate=estimate * factor),
        )  # fmt: skip
        found = ran(near, Ridge(), isolate=False)
        assert found.is_same == is_same and ("by chance" in found.said) != is_same and advice.score.text(estimate) in found.said
