"""Work plan of an advice: equal calls give equal answers on any machine, and a budget only stops the work."""

import itertools
import json
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import foldshift
from foldshift.advice.learner.preprocessing import MANY_ROWS, usual
from foldshift.advice.planned_cv import Clock
from foldshift.advice.work_plan import EFFORTS, TABLE, learner_class, limited, work_plan
from foldshift.core.errors import StoppedError

RNG = np.random.default_rng(11)
X = RNG.normal(size=(110, 3))
Y = X[:, 0] + RNG.normal(size=110)
CALL = """
import json, numpy as np, foldshift
from sklearn.linear_model import LinearRegression
rng = np.random.default_rng(11)
X = rng.normal(size=(110, 3))
y = X[:, 0] + rng.normal(size=110)
print(foldshift.advise(X, y, LinearRegression(), most_repetitions=6).to_json())
"""
LOAD = "while True: sum(range(10_000))"


class SlowLinear(LinearRegression):
    """Waits in every fifth fit."""

    fits = itertools.count()

    def fit(self, X, y):
        if next(SlowLinear.fits) % 5 == 0:
            time.sleep(0.02)
        return super().fit(X, y)


class Once(BaseEstimator):
    """Not of scikit-learn."""


class Over(Clock):
    """A budget that is used up after so many looks at it."""

    def __init__(self, looks):
        super().__init__(1e6)
        self.looks = looks

    @property
    def is_over(self):
        self.looks -= 1
        return self.looks < 0


def figures(advice):
    """Everything but times."""
    found = advice if isinstance(advice, dict) else json.loads(advice.to_json())
    return json.dumps({key: value for key, value in found.items() if not key.startswith("seconds")})


@pytest.fixture(scope="module")
def linear():
    return foldshift.advise(X, Y, LinearRegression(), most_repetitions=6)


def test_equal_calls_give_equal_bytes_on_a_slow_machine(linear, monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr("foldshift.advice.planned_cv.time.perf_counter", lambda: 50.0 * next(ticks))
    assert figures(foldshift.advise(X, Y, LinearRegression(), most_repetitions=6)) == figures(linear)


def test_equal_calls_give_equal_bytes_in_a_process_beside_a_load(linear):
    load = subprocess.Popen([sys.executable, "-c", LOAD])
    try:
        out = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=True, timeout=300).stdout
    finally:
        load.kill()
        load.wait()
    assert figures(json.loads(out)) == figures(linear)


def test_a_learner_that_waits_gets_the_figures_of_one_that_does_not():
    one, two = (
        foldshift.advise(X, Y, SlowLinear(), effort="quick", budget="10min", isolate=isolate) for isolate in (True, False)
    )
    assert figures(one) == figures(two)


def test_a_step_that_is_left_out_changes_no_other_step(linear):
    quick = foldshift.advise(X, Y, LinearRegression(), effort="quick", most_repetitions=6)
    one, two = quick.to_dict(), linear.to_dict()
    assert one["split"] == two["split"] and quick.faults == linear.faults and quick.halves is None and linear.halves
    assert quick.cuts == () and len(linear.cuts) == 5


@pytest.mark.parametrize(("looks", "fits", "done"), [(20, 10, 1), (27, 14, 1), (41, 21, 2)])
def test_a_budget_stops_inside_the_repetitions_and_the_advice_says_where(looks, fits, done, linear):
    # Two fits before; then each fit of the learner is one look, and so is each of the baseline.
    advice = foldshift.advise(X, Y, LinearRegression(), most_repetitions=6, budget=Over(looks + 2), isolate=False)
    words = f"stopped by the budget after {fits} of 60 fits"
    assert all(words in text for text in (advice.stopped, advice.verdict[0], advice.methods, advice.to_dict()["stopped"]))
    assert advice.n_done == done and advice.n_repeats == 6
    assert "not made: looking for faults" in advice.stopped
    if done == 2:
        assert advice.intervals[0].estimate != linear.intervals[0].estimate


def test_of_an_unfinished_cross_validation_the_finished_folds_are_scored():
    advice = foldshift.advise(X, Y, LinearRegression(), budget=Over(2 + 2 * 4 + 1), isolate=False)
    tested = np.isfinite(advice.interval.low)
    assert tested and "after 5 of 100 fits" in advice.stopped and "after 5 of 100 fits" in advice.verdict[0]


def test_a_budget_that_is_used_up_before_two_folds_is_a_message_with_a_remedy():
    with pytest.raises(StoppedError, match="the budget of 1e\\+06 s is used up; give a faster learner or more time") as told:
        foldshift.advise(X, Y, LinearRegression(), budget=Over(2 + 3), isolate=False)
    assert "budget=" in str(told.value)


def test_the_score_is_that_of_the_repetitions_that_are_advised(linear):
    assert linear.n_done == linear.n_repeats <= linear.repetitions.n_partitions == 6
    assert f"n_repeats={linear.n_repeats}" in linear.cv_line and linear.stopped == ""


def test_what_will_be_done_is_said_first_and_the_first_verdict_comes_before_the_looks():
    said = []
    foldshift.advise(X, Y, LinearRegression(), effort="quick", most_repetitions=2, tell=said.append)
    assert said[0].startswith("110 x 3, effort quick: 10 folds 2 times, no halves; about 22 fits") and said[0].lasting
    marks = [text.split(",")[0] for text in said]
    assert marks.index("First verdict") < marks.index("Verdict") < marks.index("looking for faults")
    assert said[marks.index("First verdict")].known


# The plan


@pytest.mark.parametrize(
    ("learner", "wanted"),
    [
        (LinearRegression(), "cheap"),
        (make_pipeline(StandardScaler(), KNeighborsRegressor()), "cheap"),
        (DecisionTreeRegressor(), "cheap"),
        (GaussianNB(), "cheap"),
        (RidgeCV(), "dear"),
        (RandomForestClassifier(), "dear"),
        (SVC(), "dear"),
        (GridSearchCV(LogisticRegression(), {"C": [1, 2]}), "dear"),
        (make_pipeline(Once(), LinearRegression()), "dear"),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), "dear"),
        (Once(), "dear"),
        (SlowLinear(), "dear"),
    ],
)
def test_learners_that_are_not_known_to_be_cheap_are_dear(learner, wanted):
    assert learner_class(learner) == wanted


@pytest.mark.parametrize("effort", EFFORTS)
def test_more_rows_and_a_dearer_learner_are_never_more_work(effort):
    sizes = [20, 500, 5_000, 50_000, 1_000_000]
    for columns in (2, 60, 2000):
        fits = [[work_plan(n, columns, "regression", [one], effort).n_fits for n in sizes] for one in (GaussianNB(), Once())]
        assert all(row == sorted(row, reverse=True) for row in fits) and all(a >= b for a, b in zip(*fits))
    assert [line[0] for line in TABLE[effort]] == sorted(line[0] for line in TABLE[effort])


def test_more_effort_is_never_less_work():
    for n in (30, 3_000, 300_000):
        for learner in (GaussianNB(), Once()):
            fits = [work_plan(n, 10, "classification", [learner], effort).n_fits for effort in EFFORTS]
            assert fits == sorted(fits)


def test_a_large_table_is_cross_validated_once():
    plan = limited(work_plan(100_000, 30, "regression", [HistGradientBoostingRegressor()]), 10, None)
    assert plan.sentence(100_000, 30).startswith("100,000 x 30, effort standard: 10 folds once, no halves")
    assert 10 <= plan.n_fits <= 12


def test_the_dearest_learner_counts_and_the_user_limits_repetitions():
    plan = work_plan(200, 5, "regression", [LinearRegression(), Once()])
    assert plan.learner_class == "dear" and limited(plan, 5, 2).start == limited(plan, 5, 2).most == 2


def test_the_default_learner_of_a_large_table_is_one_that_is_done_in_seconds():
    assert type(usual("regression", 0, MANY_ROWS)).__name__ == "RandomForestRegressor"
    assert type(usual("classification", 0, MANY_ROWS + 1)).__name__ == "HistGradientBoostingClassifier"


@pytest.mark.parametrize(("effort", "words"), [("quik", "did you mean quick"), (3, "effort=3 must be one of 'quick'")])
def test_an_effort_that_is_not_known_is_told(effort, words):
    with pytest.raises(ValueError, match=words):
        foldshift.advise(X, Y, LinearRegression(), effort=effort)
