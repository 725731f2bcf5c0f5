"""Advice for one data set: rules, faults, intervals, the page, and what is handed in by mistake."""

import json
import re
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.special import ndtri
from scipy.stats import rankdata, skew
from scipy.stats import t as student_t
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import foldshift
import foldshift.studies.advice.study as study
from foldshift.advice.data import as_data
from foldshift.advice.expected import expected_of
from foldshift.advice.given_split import given_split
from foldshift.advice.issues import find_faults
from foldshift.advice.learner.learner_calls import fit, fit_and_score, losses_on
from foldshift.advice.learner.learner_warnings import warned
from foldshift.advice.learner.preprocessing import LARGE, on_all_cores, prepared, usual
from foldshift.advice.planned_cv import seconds_of
from foldshift.advice.power import in_words, power_of
from foldshift.advice.rules import FACTS, cautions, decide, read_rules
from foldshift.advice.score import as_score
from foldshift.advice.split_half import on_half
from foldshift.advice.split_shift import cut, split_shift
from foldshift.advice.wording import summary
from foldshift.advice.work_plan import TABLE
from foldshift.inference.intervals.mean_loss import DEPENDENT, _skewness, mean_and_variance
from foldshift.inference.intervals.score_ends import row_interval
from foldshift.inference.proportions import wilson_interval
from foldshift.partition import as_folds, make_folds
from planted_faults import PLANTED, clean_sets, found_codes
from write_expected import made

RNG = np.random.default_rng(5)
X_CLASSES = pd.DataFrame(RNG.normal(size=(120, 3)), columns=["a", "b", "c"])
Y_CLASSES = np.where(X_CLASSES.a + RNG.normal(size=120) > 0, "yes", "no")
Y_NUMBERS = 3 * X_CLASSES.b.to_numpy() + RNG.normal(size=120)
LOGISTIC = LogisticRegression()
KNOWN = {"L1": "the column that gives the target away is known"}


@pytest.fixture(scope="module")
def classes():
    return foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, compare=GaussianNB(), cv=KFold(5), most_repetitions=12)


@pytest.fixture(scope="module")
def numbers():
    return foldshift.advise(X_CLASSES, Y_NUMBERS, LinearRegression(), effort="thorough", most_repetitions=12)


# Rules


def facts(**changed):
    usual = {
        "task": "regression",
        "score": "loss",
        "groups": False,
        "n": 500,
        "repetitions": 10,
        "smallest_class": 500,
        "n_groups": 500,
    }
    return {**usual, "baseline": True, **changed}


DECISIONS = {
    "cut-groups-numbers": ("cut", facts(groups=True), "CB-TSCV"),
    "cut-groups-classes": ("cut", facts(groups=True, task="classification"), "CB-SCV"),
    "cut-classes": ("cut", facts(task="classification"), "SCV"),
    "cut-numbers": ("cut", facts(), "TSCV"),
    "folds-few-rows-of-a-class": ("folds", facts(task="classification", smallest_class=9), 5),
    "folds-few-groups": ("folds", facts(groups=True, n_groups=19), 5),
    "folds": ("folds", facts(), 10),
    "repetitions-same": ("repetitions", facts(one_partition=True), "one"),
    "repetitions-one": ("repetitions", facts(repetitions=1), "one"),
    "repetitions": ("repetitions", facts(repetitions=2), "recommend_repetitions"),
    "interval-folds": ("interval", facts(score="folds"), "corrected t"),
    "interval-pooled": ("interval", facts(score="pooled", groups=True), "rows"),
    "interval-groups": ("interval", facts(groups=True), "rows"),
    "interval-rows": ("interval", facts(), "rows"),
    "difference": ("difference", facts(), "paired rows"),
}
CAUTIONS = {
    "caution-small": (facts(n=99), facts(n=100)),
    "caution-groups": (facts(groups=True), facts()),
    "caution-more-rows": (facts(), None),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_rule_decides_what_it_says(name):
    part, known, advice = DECISIONS[name]
    rule = decide(part, known)
    assert (rule.id, rule.advice) == (name, advice)


@pytest.mark.parametrize("name", CAUTIONS)
def test_a_caution_is_said_when_it_holds_and_not_else(name):
    holds, holds_not = CAUTIONS[name]
    assert name in [rule.id for rule in cautions(holds)]
    assert holds_not is None or name not in [rule.id for rule in cautions(holds_not)]


def test_every_rule_has_a_test_words_and_evidence():
    assert {rule.id for rule in read_rules()} == set(DECISIONS) | set(CAUTIONS)
    for rule in read_rules():
        assert rule.say.endswith(".") and len(rule.shown) > 20, rule.id
        assert set(rule.when) <= set(FACTS)


@settings(deadline=None)
@given(
    st.sampled_from(["regression", "classification"]),
    st.sampled_from(["share", "loss", "pooled", "folds"]),
    st.booleans(),
    *[st.integers(1, 10**6)] * 4,
)
def test_every_part_is_decided_whatever_the_facts(task, score, groups, n, repetitions, smallest, n_groups):
    known = facts(task=task, score=score, groups=groups, n=n, repetitions=repetitions, smallest_class=smallest, n_groups=n_groups)
    for part in ("cut", "folds", "repetitions", "interval", "difference"):
        assert decide(part, known).part == part


# Faults


@pytest.mark.parametrize("code", PLANTED)
def test_a_planted_fault_is_found(code):
    assert code in found_codes(*PLANTED[code](np.random.default_rng(7)))


@pytest.mark.parametrize("n", [20, 60, 200])
@pytest.mark.parametrize("of_target", [lambda y: y, lambda y: -1e9 * y, np.exp, lambda y: y.round(2)])
def test_the_target_in_another_unit_is_found_in_few_rows(n, of_target):
    rng = np.random.default_rng(n)
    X, y = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]), rng.normal(size=n)
    assert "given_away" in found_codes(X.assign(c=of_target(y)), y)
    assert "given_away" not in found_codes(X.assign(c=y + rng.normal(size=n) / 4), y)


@pytest.mark.parametrize("code", PLANTED)
def test_a_fault_is_told_whole(code):
    X, y, *rest = PLANTED[code](np.random.default_rng(8))
    groups, cv = [*rest, None, None][:2]
    data = as_data(X, y, groups=groups)
    cv = cv or KFold(5, shuffle=True, random_state=0)
    fault = next(one for one in find_faults(data, as_folds(cv, np.zeros((data.n, 1)))) if one.code == code)
    assert all(text.endswith(".") for text in (fault.found, fault.how, fault.why, fault.remedy))


def test_no_fault_is_cried_in_clean_sets():
    cried = {name: codes for name, X, y in clean_sets() if (codes := found_codes(X, y, grave=True))}
    assert cried == {}


def test_no_fault_is_cried_in_clean_sets_of_other_hosts(shared):
    cried = {name: codes for name, X, y in clean_sets(shared / "data") if (codes := found_codes(X, y, grave=True))}
    # Known: zeros of pima stand for missing values (a body mass of 0); rows of laser are windows of one series that overlap.
    assert cried == {"pima": {"sentinel"}, "laser": {"space"}}


# The score and its interval


def test_row_interval_of_shares_is_that_of_wilson_with_fewer_rows():
    losses = np.zeros((3, 50))
    losses[:, :5] = 1.0
    mean, low, high = row_interval(losses, kind="share")
    assert (mean, low, high) == pytest.approx((0.1, *map(float, wilson_interval(0.1, 50 / DEPENDENT))))


def test_repetitions_that_disagree_shorten_the_row_interval_of_shares_as_far_as_they_average():
    agreed = np.repeat(np.arange(40) < 20, 4).astype(float).reshape(1, 160)
    one, two = (row_interval(np.repeat(agreed, r, axis=0), kind="share") for r in (1, 2))
    assert one == pytest.approx(two)
    rows = np.array([np.roll(agreed[0], 80 * r) for r in range(2)])  # every row right once and wrong once
    # Variance between repetitions of a row .5, of all losses .25: all of it, halved by two repetitions.
    wanted = wilson_interval(0.5, 160 / (DEPENDENT - 0.5 * 0.5))
    assert row_interval(rows, kind="share") == pytest.approx((0.5, *map(float, wanted)))


def test_row_interval_of_losses_has_the_lower_end_of_a_logarithm():
    losses = RNG.exponential(size=(1, 200))
    mean, low, _ = row_interval(losses)
    ratio = losses.std(ddof=1) / np.sqrt(200 / DEPENDENT) / mean
    assert low == pytest.approx(mean * np.exp(-student_t.isf(0.025, 199) * ratio))


def test_repetitions_do_not_shorten_the_row_interval():
    losses = RNG.exponential(size=(1, 80))
    once, often = row_interval(losses), row_interval(np.repeat(losses, 20, axis=0))
    assert once == pytest.approx(often)


def test_row_interval_of_skewed_losses_reaches_further_up():
    mean, low, high = row_interval(RNG.lognormal(sigma=1.5, size=(2, 100)))
    assert 0 < low < mean < high and high - mean > mean - low


def test_skewness_with_groups_is_halfway_between_that_of_rows_and_of_sums():
    losses = np.random.default_rng(3).exponential(size=(2, 60)) ** 2
    groups = np.arange(60) // 4
    sums = losses.reshape(2, 15, 4).sum(axis=2)
    of_rows, of_sums = skew(losses, axis=1).mean(), skew(sums, axis=1, bias=False).mean()
    assert _skewness(losses, groups) == pytest.approx((of_rows + of_sums) / 2)
    assert _skewness(losses, None) == pytest.approx(of_rows) == _skewness(losses, np.arange(60) % 2)
    # The interval does not depend on what groups are called.
    assert row_interval(losses, groups=groups) == row_interval(losses, groups=7 * groups + 100)


def test_variance_with_groups_of_one_row_is_that_of_rows():
    losses = RNG.normal(size=(2, 40))
    mean, variance, df = mean_and_variance(losses, np.arange(40))
    assert (mean, variance, df) == pytest.approx(mean_and_variance(losses))


def test_alike_rows_in_groups_widen_the_interval():
    groups = np.repeat(np.arange(30), 10)
    losses = np.repeat(RNG.exponential(size=(1, 30)), 10, axis=1)
    _, rows_low, rows_high = row_interval(losses)
    _, low, high = row_interval(losses, groups=groups)
    assert high - low > 2.5 * (rows_high - rows_low)


def test_trees_of_a_large_table_are_grown_on_all_cores_and_give_the_same_losses():
    rng = np.random.default_rng(4)
    data = as_data(rng.normal(size=(LARGE // 50, 50)), rng.normal(size=LARGE // 50))
    score, rows = as_score(None, "regression"), np.arange(100)
    learner = usual("regression").set_params(n_estimators=8)
    plain = losses_on(fit(learner, data, np.arange(100, data.n)), data, score, rows)
    with on_all_cores(LARGE - 1):
        assert joblib.Parallel().n_jobs == 1
    with on_all_cores(LARGE):
        assert joblib.Parallel().n_jobs == -1
        assert (losses_on(fit(learner, data, np.arange(100, data.n)), data, score, rows) == plain).all()


def test_folds_of_equal_scores_give_no_interval():
    X = pd.DataFrame({"a": np.tile([0.0, 1.0], 60), "b": RNG.normal(size=120)})
    scorer = make_scorer(balanced_accuracy_score)
    advice = foldshift.advise(X, np.tile(["n", "y"], 60), LOGISTIC, scoring=scorer, effort="quick", mute=KNOWN)
    assert advice.interval.estimate == 1 and np.isnan(advice.interval.low) and "no interval" in advice.interval.why
    assert "–" in advice.verdict[1] and "<svg" in advice.to_html()


def test_a_perfect_pooled_score_has_an_interval():
    X = pd.DataFrame({"a": np.tile([0.0, 1.0], 60), "b": RNG.normal(size=120)})
    asked = {"scoring": "balanced_accuracy", "effort": "quick", "most_repetitions": 2, "mute": KNOWN}
    advice = foldshift.advise(X, np.tile(["n", "y"], 60), LOGISTIC, **asked)
    assert advice.interval.estimate == 1 == advice.interval.high and 0.9 < advice.interval.low < 1
    assert advice.differences[-1].verdict == "better"


def test_the_estimate_is_that_of_scikit_learn(classes):
    again = 1 - cross_val_score(LOGISTIC, X_CLASSES, Y_CLASSES, cv=foldshift.partition.RepeatedSCV(
        n_splits=classes.n_splits, n_repeats=classes.n_done, random_state=0))  # fmt: skip
    assert classes.interval.estimate == pytest.approx(again.mean(), abs=1e-12)


def test_the_recommended_splitter_is_the_one_of_the_line(numbers):
    made = eval(numbers.cv_line, {"foldshift": foldshift})
    folds = [as_folds(one, X_CLASSES, Y_NUMBERS) for one in (made, numbers.cv)]
    assert (folds[0] == folds[1]).all() and folds[0].shape == (numbers.n_repeats, 120)


@pytest.mark.parametrize(
    ("scoring", "kind"),
    [("accuracy", "share"), ("neg_log_loss", "loss"), ("neg_brier_score", "loss"), ("roc_auc", "pooled"), ("f1_macro", "pooled")],
)
def test_scorers_give_the_score_of_scikit_learn(scoring, kind):
    y = (Y_CLASSES == "yes").astype(int)
    advice = foldshift.advise(X_CLASSES, y, LOGISTIC, scoring=scoring, effort="quick")
    cv = foldshift.partition.RepeatedSCV(n_splits=10, n_repeats=advice.n_done, random_state=0)
    found = cross_val_score(LOGISTIC, X_CLASSES, y, cv=cv, scoring=scoring).mean()
    assert advice.score.kind == kind
    # Folds differ by a row in size, over which scikit-learn averages.
    assert abs(advice.interval.estimate) == pytest.approx(abs(found), rel=0.02)
    assert advice.interval.low <= advice.interval.estimate <= advice.interval.high


# The split


def test_a_shifted_split_is_told_and_a_random_one_is_not():
    data = as_data(X_CLASSES, Y_CLASSES)
    by_b = X_CLASSES.b.to_numpy().argsort().argsort() * 5 // 120
    assert split_shift(data, by_b[None], np.random.default_rng(0)).shifted == ("b",)
    random = np.random.default_rng(3).permutation(120) % 5
    assert split_shift(data, random[None], np.random.default_rng(0)).shifted == ()


def in_turn(n, k):
    return (np.arange(n) % k).astype(np.uint8)


def test_the_shift_that_is_found_in_nine_of_ten_cases_is_found_that_often():
    # Planted in a column that is not normal, and looked for with all that the test does.
    n, n_cuts, rng, found = 120, 100, np.random.default_rng(4), 0
    for _ in range(n_cuts):
        X = pd.DataFrame(rng.exponential(size=(n, 2)), columns=["a", "b"])
        data = as_data(X, rng.normal(size=n))
        nine = power_of(in_turn(n, 5), 3, 0.05)[1]
        odds = np.exp(nine.tilt * ndtri((rankdata(X.a) - 0.5) / n))
        folds = np.full(n, -1)
        folds[rng.choice(n, n // 5, replace=False, p=odds / odds.sum())] = 0
        folds[folds < 0] = 1 + rng.permutation(n - n // 5) % 4
        found += "a" in split_shift(data, folds[None], rng).shifted
    assert nine.share == 0.9 and 80 <= found <= 98  # five sixths to all but two: within 3 standard errors of 90


def test_smaller_shifts_are_found_with_more_rows_and_fewer_columns():
    sizes = [power_of(in_turn(n, 5), m, 0.05)[0].size for n, m in ((100, 4), (400, 4), (1600, 4))]
    assert sizes == sorted(sizes, reverse=True) and 1.7 < sizes[0] / sizes[1] < 2.4  # as 1 / sqrt(n)
    assert power_of(in_turn(400, 5), 40, 0.05)[0].size > sizes[1]


def test_what_small_folds_and_large_tables_are_told_of_power():
    assert power_of(in_turn(40, 10), 3, 0.05) == () and "no shift" in in_words(())
    assert power_of(in_turn(200_000, 5), 3, 0.05) is None and in_words(None) == ""


def test_the_text_and_the_page_say_what_shift_would_be_found(numbers):
    said = in_words(numbers.split.power)
    assert (
        said.startswith("Of shifts of one fold in one column, this test finds one of ")
        and said in str(numbers)
        and said in numbers.to_html()
    )
    assert [one["share"] for one in numbers.to_dict()["split"]["power"]] == [0.5, 0.9]


def test_a_shifted_cut_of_groups_is_told_among_many_columns():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 3)
    X = pd.DataFrame(rng.normal(size=(180, 12)), columns=[f"c{j}" for j in range(12)]).assign(age=rng.normal(size=60)[groups])
    data = as_data(X, rng.normal(size=180), groups=groups)
    by_age = (X.age.to_numpy()[::3].argsort().argsort() * 5 // 60)[groups]
    assert "age" in split_shift(data, by_age[None], rng).shifted
    assert split_shift(data, rng.permutation(np.arange(60) % 5)[groups][None], rng).shifted == ()


def test_groups_are_kept_together_and_compared_with_cuts_of_groups():
    groups = np.repeat(np.arange(24), 5)
    X = X_CLASSES.assign(of_group=np.random.default_rng(0).normal(size=24)[groups])
    advice = foldshift.advise(X, Y_CLASSES, LOGISTIC, groups=groups, effort="quick")
    assert "CovariateBalanced" in advice.cv_line and advice.split.shifted == ()
    for train, test in advice.cv.split(X, Y_CLASSES, groups):
        assert not set(groups[train]) & set(groups[test])
    by_rows = foldshift.advise(X, Y_CLASSES, LOGISTIC, groups=groups, cv=KFold(5, shuffle=True, random_state=0), effort="quick")
    assert by_rows.faults[0].code == "groups_cut"
    assert (
        foldshift.advise(X, Y_CLASSES, LOGISTIC, groups=groups, cv=GroupKFold(4), effort="quick").split_name
        == "your split (GroupKFold)"
    )


def test_the_spread_of_a_cut_is_that_of_its_partitions(numbers):
    spreads = {one.cut: one.spread for one in numbers.cuts}
    X, y = X_CLASSES.to_numpy(), Y_NUMBERS
    for name in ("CV", "TSCV"):
        folds = make_folds(name, X, y, 10, np.random.SeedSequence(0).spawn(10))
        errors = [
            np.sqrt(np.mean((cross_val_predict(LinearRegression(), X, y, cv=PredefinedSplit(row)) - y) ** 2)) for row in folds
        ]
        assert spreads[name] == pytest.approx(np.std(errors, ddof=1), rel=1e-9)
    assert spreads["ABA"] == 0 and "one partition</td>" in numbers.to_html()


class NeedsRows(GaussianNB):
    """Refuses training parts of fewer rows, such as those of halves."""

    def __init__(self, least=80):
        super().__init__()
        self.least = least

    def fit(self, X, y):
        if len(y) < self.least:
            raise ValueError("too few rows")
        return super().fit(X, y)


def test_a_cut_that_loses_a_class_has_no_spread_and_spoils_no_advice():
    # Of three classes the smallest has eleven rows: random folds leave it out of some test part, and that score needs it.
    y = np.repeat([0, 1, 2], [60, 49, 11])
    advice = foldshift.advise(X_CLASSES, y, GaussianNB(), scoring="roc_auc_ovr", most_repetitions=5)
    spreads = {one.cut: one.spread for one in advice.cuts}
    assert np.isnan(spreads["CV"]) and np.isfinite(spreads["SCV"])


def test_a_learner_that_needs_more_rows_than_a_half_has_is_advised_on_without_halves():
    assert foldshift.advise(X_CLASSES, Y_CLASSES, GaussianNB(), most_repetitions=2).halves is not None
    advice = foldshift.advise(X_CLASSES, Y_CLASSES, NeedsRows(), most_repetitions=2)
    assert advice.halves is None and len(advice.verdict) == 3
    assert np.isnan([one.bias for one in advice.cuts]).all()


def test_the_study_expects_as_much_as_the_plan_makes():
    works = [work for line in TABLE["standard"] for work in line[1:]]
    wanted = max(work.spreads for work in works), max(work.pairs for work in works), max(work.bias_pairs for work in works)
    assert wanted == (study.N_SPREAD, study.N_PAIRS, 0)


def test_the_bias_of_every_cut_is_that_on_halves_of_the_table(numbers):
    found = {one.cut: one for one in numbers.cuts}
    assert all(np.isfinite([one.bias, one.bias_error]).all() for one in found.values())
    assert (found["TSCV"].bias, found["TSCV"].bias_error) == (numbers.halves["bias"], numbers.halves["bias_error"])
    data, score, learner = as_data(X_CLASSES, Y_NUMBERS), as_score(None, "regression"), LinearRegression()
    half, other = np.arange(0, 120, 2), np.arange(1, 120, 2)
    losses, truth = on_half(partial(fit_and_score, learner, data, score), data, "CV", 5, (half, other, 7))
    (folds,) = make_folds("CV", X_CLASSES.iloc[half], Y_NUMBERS[half], n_folds=5, seeds=[7])
    of_rows, of_others = np.empty(60), np.empty((5, 60))
    for f in range(5):
        model = LinearRegression().fit(X_CLASSES.iloc[half[folds != f]], Y_NUMBERS[half[folds != f]])
        squares = (model.predict(X_CLASSES) - Y_NUMBERS) ** 2
        of_rows[folds == f], of_others[f] = squares[half[folds == f]], squares[other]
    assert np.allclose(losses, of_rows) and np.allclose(truth, of_others.mean(axis=0))
    assert "bias on halves" in numbers.to_html()


def test_a_split_that_does_not_train_on_the_rest_is_not_judged():
    advice = foldshift.advise(X_CLASSES, Y_NUMBERS, LinearRegression(), cv=TimeSeriesSplit(4), effort="quick")
    assert advice.split is None and "TimeSeriesSplit" in " ".join(advice.notes)
    assert advice.verdict[2].startswith("Beware: Your split (TimeSeriesSplit) tests rows behind those that it trains on")


@pytest.mark.parametrize("pairs", ["list", "generator"])
def test_pairs_that_go_forward_in_time_are_known_by_their_rows(pairs):
    data = as_data(X_CLASSES, Y_NUMBERS)
    made = TimeSeriesSplit(3).split(X_CLASSES)
    given = given_split(list(made) if pairs == "list" else made, data)
    assert given.forward and given.notes == ("your split was not judged: it does not train on all rows outside a test part",)
    backward = [(test, train) for train, test in TimeSeriesSplit(3).split(X_CLASSES)]
    assert not given_split(backward, data).forward


def test_warnings_of_a_learner_are_one_finding_and_are_not_printed(recwarn):
    far = X_CLASSES * [1, 1e3, 1e6]
    advice = foldshift.advise(far, Y_CLASSES, LogisticRegression(max_iter=2, C=1e6), effort="quick")
    assert not [one for one in recwarn if "lbfgs" in str(one.message)]
    (fault,) = [fault for fault in advice.faults if fault.code == "warnings"]
    assert fault.severity == "note" and "ConvergenceWarning, " in fault.found and "lbfgs failed to converge" in fault.found
    assert fault.found in str(advice) and "[note] warnings: While models were fitted" in str(advice)


def test_few_kinds_of_warnings_are_told_and_the_others_counted():
    (fault,) = warned([("A", "one.\nmore"), ("A", "one"), ("B", ""), ("C", "x"), ("D", "y"), ("E", "z")])
    assert fault.found == "While models were fitted: A, 2 times: one; B, 1 time; C, 1 time: x. 2 other warnings too."
    assert warned([]) == ()


def test_a_shift_of_what_nobody_asked_for_is_no_verdict_on_the_split_of_the_user():
    X = X_CLASSES.sort_values("b", ignore_index=True)
    y = 3 * X.a + np.random.default_rng(0).normal(size=120)
    asked = {"effort": "quick", "most_repetitions": 2}
    default, own = (foldshift.advise(X, y, LinearRegression(), cv=cv, **asked) for cv in (None, KFold(5)))
    assert default.split.shifted == own.split.shifted == ("b",)
    assert own.verdict[2].startswith("Your split (KFold) is shifted: b differs between training and test parts")
    shifted = "Scikit-learn's default (five folds, not shuffled) is shifted: b differs between training and test parts"
    assert default.verdict[2].startswith(f"No fault was found. {shifted}")
    assert "<h2>The default split is shifted" in default.to_html() and "<h2>Your split is shifted" in own.to_html()
    assert (default.to_dict()["split"]["is_given"], own.to_dict()["split"]["is_given"]) == (False, True)


def test_without_a_budget_none_is_said(numbers):
    assert numbers.budget is None and numbers.to_dict()["budget"] is None and "of a budget" not in numbers.to_html()


def test_the_methods_section_names_every_step_of_the_learner():
    learner = GridSearchCV(make_pipeline(StandardScaler(), PCA(2), LogisticRegression()), {"pca__n_components": [1, 2]}, cv=3)
    advice = foldshift.advise(X_CLASSES, Y_CLASSES, learner, effort="quick", most_repetitions=1)
    assert advice.methods.startswith("GridSearchCV of LogisticRegression behind StandardScaler, PCA was evaluated by")


# What is read


def test_the_verdict_is_three_sentences_and_the_text_has_the_paragraph(classes):
    assert len(classes.verdict) == 3 and all(text.endswith(".") for text in classes.verdict)
    assert classes.methods in str(classes) and "10-fold cross-validation on 120 rows" in classes.methods
    assert "RepeatedSCV(n_splits=10" in classes.verdict[0]


def test_intervals_bear_the_confidence_that_was_asked_for(classes):
    advice = foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, compare=GaussianNB(), confidence=0.8, effort="quick")
    said = [advice.verdict[1], advice.methods, *(one.said for one in advice.differences)]
    said += [told.sentence(advice.score) for told in advice.intervals]
    assert all("80 % " in text and not re.search(r"95 % (confidence )?interval", text) for text in said)
    assert "with 80 % intervals" in advice.to_html() and "95 % interval" not in advice.to_html()
    assert (advice.interval.high - advice.interval.low) < (classes.interval.high - classes.interval.low)


# What the study found on data of this kind


def test_what_is_expected_is_what_is_published(root):
    written = root / "src" / "foldshift" / "advice" / "expected.csv"
    assert written.read_text(encoding="utf-8") == made(), "run: python validation/write_expected.py"


@pytest.mark.parametrize("n, nearest", [(20, 100), (199, 100), (201, 400), (10**6, 400)])
def test_what_is_expected_is_of_the_nearest_size(n, nearest):
    found = expected_of(facts(n=n), 10)
    assert {one.n_sample for one in found.values()} == {nearest} and {"TSCV", "CV", "CB-TSCV"} <= set(found)


@pytest.mark.parametrize("changed, k", [({"groups": True}, 10), ({"score": "folds"}, 10), ({}, 3)])
def test_nothing_is_expected_where_the_study_looked_at_nothing_alike(changed, k):
    assert expected_of(facts(**changed), k) == {}


def test_the_page_and_the_json_say_what_is_expected_of_every_cut(classes):
    found = classes.to_dict()["expected"]
    one = found["SCV"]
    assert one["n_sample"] == 100 and {cut.cut for cut in classes.cuts} <= set(found)
    assert f"{one['bias']:+.1f} ± {one['bias_error']:.1f} %</td>" in classes.to_html()
    assert "samples of 100 rows, 10 folds, where the truth is known" in classes.to_html()


def test_the_page_is_one_file_without_a_network(classes, numbers, tmp_path):
    for advice in (classes, numbers):
        text = advice.to_html(tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
        assert not re.findall(r'(?:src|href)="|@import|url\(', text) and "http" not in text.replace(
            "http://www.w3.org/2000/svg", ""
        )
        order = re.findall(r"<section id='(\w+)'", text)
        wanted = ["verdict", "faults", "data", "split", "cuts", "repetitions", "score", "difference", "rows", "methods"]
        assert [name for name in order if name in wanted] == wanted
        assert (
            text.count("<svg") >= 4 and text.count("aria-label") >= 4 and "nan" not in re.sub(r"<script.*", "", text, flags=re.S)
        )
        drawn = [len(re.findall(f'<svg viewBox[^>]+class="{width}"', text)) for width in ("wide", "narrow")]
        assert drawn[0] == drawn[1] == text.count("<figure>")
        figures = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.S)[1])
        assert figures["intervals"][0]["use"] and figures["cv"] == advice.cv_line


def test_the_answer_comes_first_and_is_short(classes, numbers):
    for advice in (classes, numbers):
        begin = re.search(r"<main>(.*?)<details", advice.to_html(), re.S)[1]
        assert re.findall("<section id='verdict'|<pre>|<figure>", begin) == ["<section id='verdict'", "<pre>", "<figure>"]
        words = re.sub(r"<svg.*?</svg>|<[^>]+>", " ", begin, flags=re.S).split()
        assert 60 < len(words) <= 400
        lines = summary(advice)
        assert len(lines) <= 12 and [line.split()[0] for line in lines if line[0] != " "][:2] == ["Split", "Score"]
        assert lines[-2].endswith(advice.cv_line) and max(map(len, lines[:-2])) <= 110


def test_texts_of_the_user_do_not_become_part_of_the_page():
    X = X_CLASSES.rename(columns={"a": "<script>alert(1)</script>"})
    text = foldshift.advise(X, Y_CLASSES, LOGISTIC, effort="quick").to_html()
    assert "<script>alert" not in text


def test_json_has_no_nan_and_the_same_figures(numbers):
    plain = json.loads(numbers.to_json(), parse_constant=pytest.fail)
    assert plain["intervals"][0]["estimate"] == numbers.interval.estimate
    assert plain["cv"] == numbers.cv_line and plain["data"]["n_rows"] == 120


def test_a_table_of_all_kinds_of_columns():
    X = X_CLASSES.assign(
        town=pd.Categorical(RNG.choice(["Köln", "Ulm"], 120)),
        day=pd.date_range("2020-01-01", periods=120),
        gap=np.nan,
        n=range(120),
    )
    X.loc[3, "a"] = np.nan
    advice = foldshift.advise(X, Y_CLASSES, effort="quick")
    assert {"time", "identifier", "constant"} <= {fault.code for fault in advice.faults}
    assert advice.learner == "RandomForestClassifier" and np.isfinite(advice.interval.low)


def test_a_fold_among_the_inputs_is_found():
    X = X_CLASSES.assign(fold=np.arange(120) % 5)
    found = [check for check in foldshift.advise(X, Y_CLASSES, LOGISTIC, effort="quick").checks if check.code == "I1"]
    assert [check.columns for check in found] == [("fold",)] and found[0].severity == "beware"
    assert found[0].text.startswith("'fold' says how the rows were cut") and [*found[0].remedies[0].values] == ["fold"]


def test_what_is_already_left_out_is_not_to_be_left_out():
    out = foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, effort="quick", left_out={"day": "a date"})
    still_in = foldshift.advise(X_CLASSES.assign(day=pd.date_range("2020-01-01", periods=120)), Y_CLASSES, effort="quick")
    remedies = [next(fault.remedy for fault in advice.faults if fault.code == "time") for advice in (out, still_in)]
    assert "Else nothing" in remedies[0] and "leave" not in remedies[0]
    assert remedies[1].endswith("Else leave the column out of X.")


def test_sparse_tables_are_cross_validated_and_not_looked_at():
    advice = foldshift.advise(csr_matrix(X_CLASSES.to_numpy()), Y_CLASSES, LOGISTIC, effort="quick")
    assert advice.split is None and advice.cuts == () and "sparse" in advice.notes[0]


def test_three_classes_and_lists():
    X, y = load_iris(return_X_y=True)
    advice = foldshift.advise(X.tolist(), y.tolist(), GaussianNB(), effort="quick")
    assert advice.data.classes == [0, 1, 2] and advice.interval.high < 0.15


# Mistakes


class Duck:
    """Fits and predicts, and is no scikit-learn estimator."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X


WRONG = {
    "no X": (lambda: foldshift.advise(None, Y_CLASSES), "X is None"),
    "no y": (lambda: foldshift.advise(X_CLASSES, None), "y is None"),
    "a column": (lambda: foldshift.advise(X_CLASSES.a, Y_CLASSES), "rows and columns"),
    "too few rows": (lambda: foldshift.advise(X_CLASSES[:10], Y_CLASSES[:10]), "at least 20"),
    "lengths": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES[:50]), "120 rows"),
    "another order": (lambda: foldshift.advise(X_CLASSES, pd.Series(Y_CLASSES)[::-1]), "y.loc[X.index]"),
    "groups in another order": (
        lambda: foldshift.advise(X_CLASSES, Y_CLASSES, groups=pd.Series(range(120)).sample(frac=1, random_state=0)),
        "X and groups have the same row labels in another order",
    ),
    "gaps in y": (lambda: foldshift.advise(X_CLASSES, np.where(Y_NUMBERS > 0, np.nan, 1.5)), "missing values"),
    "one class": (lambda: foldshift.advise(X_CLASSES, ["a"] * 120), "one class"),
    "constant y": (lambda: foldshift.advise(X_CLASSES, np.full(120, 2.5)), "nothing to predict"),
    "names of rows": (
        lambda: foldshift.advise(X_CLASSES, [f"{i:03}" for i in range(61)] + ["no"] * 59),
        "names rows, not classes",
    ),
    "a class": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LogisticRegression), "give an instance"),
    "no learner": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, "ridge"), "no fit"),
    "regressor": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LinearRegression()), "give a classifier"),
    "classifier": (lambda: foldshift.advise(X_CLASSES, Y_NUMBERS, LOGISTIC), "give a regressor"),
    "other regressor": (
        lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, compare=LinearRegression()),
        "LinearRegression is a regressor, and the target is one of classification",
    ),
    "other classifier": (
        lambda: foldshift.advise(X_CLASSES, Y_NUMBERS, LinearRegression(), compare=prepared(LOGISTIC, X_CLASSES)),
        "LogisticRegression is a classifier, and the target is one of regression",
    ),
    "clusterer": (
        lambda: foldshift.advise(X_CLASSES, [0, 1, 2] * 40, KMeans(3)),
        "KMeans is a clusterer, which predicts no target; give a classifier or a regressor",
    ),
    "no scikit-learn estimator": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, Duck()), "Duck cannot be copied for every fold"),
    "outliers": (
        lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, compare=IsolationForest()),
        "IsolationForest is a detector of outliers",
    ),
    "text for a regressor": (
        lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LinearRegression()),
        "holds 'no', which is not a number",
    ),
    "one group of texts": (
        lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, groups=np.full(120, "a")),
        "groups is 'a' in every row",
    ),
    "infinite": (
        lambda: foldshift.advise(X_CLASSES.assign(d=np.r_[np.zeros(9), np.inf, np.zeros(110)]), Y_CLASSES, LOGISTIC),
        "column 'd' of X holds 1 infinite value, the first in row 10",
    ),
    "dates": (lambda: foldshift.advise(X_CLASSES.assign(d=pd.Timestamp("2020-01-01")), Y_CLASSES, LOGISTIC), "dates"),
    "scoring": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, scoring="acuracy"), "accuracy"),
    "other task": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, scoring="r2"), "for regression"),
    "scorings": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, scoring=["accuracy"]), "one name"),
    "cv of 1": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, cv=1), "between 2 and 120"),
    "cv as text": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, cv="five"), "a splitter"),
    "groups": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, groups=[1, 2]), "groups have shape"),
    "one group": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, groups=[1] * 120), "one group"),
    "gaps in groups": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, groups=[None] + [1] * 119), "groups contain NaN"),
    "budget": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, budget="soon"), "is not a time"),
    "no budget": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, budget=1), "at least 5 s"),
    "confidence": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, confidence=95), "confidence"),
    "rope": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, rope=-1), "rope"),
    "seed": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, LOGISTIC, random_state=None), "random_state"),
    "gaps": (lambda: foldshift.advise(X_CLASSES.assign(d=np.nan), Y_CLASSES, LOGISTIC), "prepared"),
    "texts": (lambda: foldshift.advise(X_CLASSES.assign(d="x"), Y_CLASSES, LOGISTIC), "prepared"),
    "task": (lambda: foldshift.advise(X_CLASSES, Y_CLASSES, task="ranking"), "task"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_told_in_one_line(name):
    call, words = WRONG[name]
    with pytest.raises(ValueError, match=re.escape(words)) as told:
        call()
    assert "\n" not in str(told.value)


def test_budgets_in_words():
    assert [seconds_of(text) for text in (30, "90s", "2 min", "1h")] == [30, 90, 120, 3600]


def test_a_score_in_words():
    assert as_score("accuracy", "classification").text(0.91234) == "91.2 %"
    assert as_score("r2", "regression").kind == "pooled" and as_score("explained_variance", "regression").kind == "folds"


def test_cuts_of_the_advice_are_those_of_the_library():
    data = as_data(X_CLASSES, Y_NUMBERS)
    folds = cut("TSCV", data.codes, data, 5, [3])
    assert (folds == foldshift.partition.make_folds("TSCV", None, Y_NUMBERS, 5, [3])).all()


@pytest.mark.parametrize("n_groups, n_rows", [(10, 30), (12, 60)])
def test_repetitions_that_are_few_partitions_are_said_to_be_few(n_groups, n_rows):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n_groups), n_rows // n_groups)
    X = rng.normal(size=(n_rows, 2))
    y = X[:, 0] + rng.normal(size=n_rows)
    advice = foldshift.advise(X, y, LinearRegression(), groups=groups, most_repetitions=6)
    seeds = np.random.SeedSequence(0).spawn(6)
    folds = make_folds("CB-TSCV", X, y, n_folds=advice.n_splits, seeds=seeds, groups=groups)
    n = len({frozenset(frozenset(groups[row == fold]) for fold in set(row)) for row in folds})
    assert advice.partitions.n_different == n < 6
    assert "times with different" not in advice.methods
    values = advice.to_dict()
    assert (values["n_different"], values["n_possible"]) == (n, advice.partitions.n_possible)
    if n == 1:
        assert advice.n_repeats == advice.n_done == 1 and "once, as 6 seeds gave the same partition" in advice.methods
        assert next(rule for rule in advice.rules if rule.part == "repetitions").id == "repetitions-same"
        assert "one partition</td>" in advice.to_html()
    else:
        assert f"repeated 6 times, with {n} different partitions" in advice.methods
