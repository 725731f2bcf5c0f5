"""Where a table has structure, both cuts run: the honest one is the headline, the naive one stands beside it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import foldshift
from foldshift.advice.data import as_data
from foldshift.advice.learner.preprocessing import prepared
from foldshift.advice.score import usual_scoring

N = 150
RNG = np.random.default_rng(3)
PLAIN = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc"))
NUMBERS = PLAIN.a + RNG.normal(size=N)
NAMES = np.where(NUMBERS > 0, "yes", "no")
PATIENTS = np.repeat(np.arange(30), 5)
OF_PATIENTS = pd.DataFrame(RNG.normal(size=(30, 4))[PATIENTS], columns=list("abcd")).assign(e=RNG.normal(size=N))
SICK = RNG.integers(0, 2, 30)[PATIENTS]  # says nothing of a new patient
FEW = np.arange(20.0).reshape(10, 2)
FOREST = RandomForestClassifier(20, random_state=0)


def advise(*args, **options):
    return foldshift.advise(*args, effort="quick", most_repetitions=2, **options)


@pytest.fixture(scope="module")
def patients():
    return advise(OF_PATIENTS.assign(patient=PATIENTS), SICK, FOREST)


def test_groups_that_are_found_are_left_out_and_the_naive_score_stands_beside(patients):
    both = patients.both
    assert both.kind == "groups" and both.naive.estimate < 0.1 < 0.3 < both.honest.estimate
    assert patients.interval == both.honest and patients.interval.low <= 0.5 <= patients.interval.high
    naive = patients.score.text(both.naive.estimate)
    assert (
        f"The naive cut, {both.naive_name}, gives {naive}" in patients.verdict[1]
        and "groups that were left out" in patients.verdict[1]
    )
    assert "A naive cut" in patients.methods and "no estimate for groups that were left out" in patients.methods
    assert patients.methods.index(patients.score.text(both.honest.estimate)) < patients.methods.index("A naive cut")
    assert patients.ran.is_same and "groups = X['patient']" in patients.code
    assert f"Error rate {patients.score.text(both.honest.estimate)}, not {naive}" in patients.to_html()


def test_the_splitter_of_the_advice_keeps_what_was_found_together(patients):
    for train, test in patients.cv.split(OF_PATIENTS, SICK, PATIENTS):
        assert not set(PATIENTS[train]) & set(PATIENTS[test])


def test_declared_groups_have_both_scores_too():
    advice = advise(OF_PATIENTS, SICK, FOREST, groups=PATIENTS)
    assert advice.both.naive.estimate < 0.1 < 0.3 < advice.both.honest.estimate == advice.interval.estimate
    assert "A naive cut" in advice.methods and "Covariate" in advice.cv_line and advice.ran.is_same


LEAKING = PLAIN.assign(treated=(NUMBERS > 0) * 1.0)


@pytest.mark.parametrize(("table", "learner"), [
    (LEAKING, LogisticRegression()),
    (LEAKING, prepared(LogisticRegression(), LEAKING)),
    (np.column_stack([PLAIN, NUMBERS > 0]), LogisticRegression()),
])  # fmt: skip
def test_a_column_that_leaks_is_left_out_of_the_headline(table, learner):
    advice = advise(table, NAMES, learner)
    plain = advise(PLAIN, NAMES, learner)
    assert advice.both.naive.estimate == 0 and plain.both is None
    assert abs(advice.interval.estimate - plain.interval.estimate) < 0.05 and advice.ran.is_same


def test_a_learner_that_refuses_the_table_without_a_column_is_told_of():
    by_name = make_pipeline(ColumnTransformer([("all", "passthrough", list(LEAKING.columns))]), LogisticRegression())
    advice = advise(LEAKING, NAMES, by_name)
    assert advice.both is None and any("the score without treated was not measured" in note for note in advice.notes)


def test_an_order_that_is_found_and_cannot_be_cut_is_said_and_one_that_is_declared_is_refused():
    y = np.where(np.arange(N) < 90, 0, (np.arange(N) // 6) % 2)
    advice = advise(PLAIN, y, LogisticRegression())
    assert advice.both is None and "T2" in {check.code for check in advice.checks if check.result == "found"}
    assert advice.not_respected[0].startswith("the score with blocks forward in time, with a gap was not measured: Logistic")
    with pytest.raises(ValueError, match="rows trained on are all 0: groups, times or places part the classes"):
        advise(PLAIN, y, LogisticRegression(), times=np.arange(N))


def test_copies_are_kept_together_and_a_single_one_is_no_structure():
    many = pd.concat([PLAIN, PLAIN[:75]], ignore_index=True)
    advice = advise(many, np.r_[NUMBERS, NUMBERS[:75]], LinearRegression())
    assert advice.both.kind == "copies" and "rows that are no copies" in advice.methods and advice.ran.is_same
    one = pd.concat([PLAIN, PLAIN[:1]], ignore_index=True)
    assert advise(one, np.r_[NUMBERS, NUMBERS[:1]], LinearRegression()).both is None


def test_what_is_muted_is_no_structure_and_the_page_prints_the_reason():
    table = OF_PATIENTS.assign(patient=PATIENTS)
    advice = advise(table, SICK, FOREST, mute={"G2": "all patients are known"})
    muted = [check for check in advice.checks if check.result == "muted"]
    assert advice.both is None and [check.code for check in muted] == ["G2"]
    assert "muted: all patients are known" in advice.to_html()
    with pytest.raises(ValueError, match="mute names the check 'Z9'"):
        advise(table, SICK, FOREST, mute={"Z9": "no"})


def test_every_check_is_in_the_json_with_its_result(patients):
    found = {check["code"]: check["result"] for check in patients.to_dict()["checks"]}
    assert found["G2"] == "found" and found["D1"] == "passed" and len(found) > 10
    assert patients.to_dict()["both"]["naive"]["estimate"] == patients.both.naive.estimate


SUBSETS = np.repeat(list("uvwxyz"), 25)
SLOPES = np.repeat([1, -1, 1, -1, 1, -1], 25)
SIGNS = PLAIN.a * SLOPES + 0.1 * NUMBERS  # the sign of a slope says nothing of the next subset's


@pytest.fixture(scope="module")
def subsets():
    return advise(PLAIN, SIGNS, LinearRegression(), subsets=SUBSETS)


def test_subsets_are_left_out_as_a_whole_and_the_code_does_so_too(subsets):
    assert subsets.both.kind == "subsets" and "subsets that were left out" in subsets.verdict[1]
    assert subsets.ran.is_same and "groups = subsets" in subsets.code
    assert "in 6 subsets, which were kept together" in subsets.methods and "A naive cut" in subsets.methods


def test_models_of_the_same_the_other_and_all_subsets_are_compared_on_the_same_rows(subsets):
    found = subsets.subsets
    assert found.same.estimate < 0.5 < found.other.estimate and found.same_less_all.verdict == "better"
    assert (found.n_folds, found.n_tested, found.n_subsets) == (2, 6, 6) and "do not pool them" in found.said
    assert found.said in subsets.methods and "on the same one" in subsets.to_html()
    assert subsets.to_dict()["subsets"]["other"]["estimate"] == found.other.estimate
    alike = advise(PLAIN, NUMBERS, LinearRegression(), subsets=SUBSETS).subsets
    assert alike.other_less_all.verdict != "worse" and alike.same_less_all.verdict != "better"


def test_subsets_of_one_class_have_no_score_of_their_own():
    y = np.where(SUBSETS == "u", "yes", NAMES)
    found = advise(PLAIN, y, LogisticRegression(), subsets=SUBSETS).subsets
    assert found.same is None and found.same_less_all is None and found.other.estimate > 0


def test_subsets_are_compared_without_copies_and_without_columns_that_leak():
    leaking = PLAIN.assign(leak=2.0 * SIGNS)
    doubled = pd.concat([leaking, leaking[:75]], ignore_index=True)
    y, labels = np.r_[SIGNS, SIGNS[:75]], np.r_[SUBSETS, SUBSETS[:75]]
    found = advise(doubled, y, LinearRegression(), subsets=labels)
    once = advise(PLAIN, SIGNS, LinearRegression(), subsets=SUBSETS)
    assert found.subsets.other.estimate == pytest.approx(once.subsets.other.estimate) and found.ran.is_same


def test_groups_must_lie_within_subsets():
    advice = advise(PLAIN, SIGNS, LinearRegression(), subsets=SUBSETS, groups=np.arange(N) // 5)
    assert advice.facts["n_groups"] == 6
    with pytest.raises(ValueError, match="7 of 7 groups have rows in more than one subset"):
        advise(PLAIN, SIGNS, LinearRegression(), subsets=SUBSETS, groups=np.arange(N) % 7)
    with pytest.raises(ValueError, match="X and subsets have the same row labels in another order"):
        advise(PLAIN, SIGNS, LinearRegression(), subsets=pd.Series(SUBSETS)[::-1])
    alone = advise(PLAIN, SIGNS, LinearRegression(), subsets=np.arange(N))
    assert alone.subsets is None and any("a subset has one row" in note for note in alone.notes)


def test_the_score_of_a_rare_class_is_no_error_rate():
    y = np.where(np.arange(N) < 6, "sick", "well")
    assert usual_scoring(as_data(PLAIN, y), LogisticRegression()) == "roc_auc"
    assert usual_scoring(as_data(PLAIN, NAMES), LogisticRegression()) is None
    assert advise(PLAIN, y, LogisticRegression()).score.metric == "roc_auc"
    assert (
        usual_scoring(as_data(PLAIN, np.where(np.arange(N) < 6, 2, np.arange(N) % 2)), LogisticRegression())
        == "balanced_accuracy"
    )


@pytest.mark.parametrize(("name", "value"), [("times", [1, 2]), ("coordinates", FEW), ("subsets", [1, 2])])
def test_what_was_declared_must_fit_the_rows(name, value):
    with pytest.raises(ValueError, match=r"shape|rows"):
        advise(PLAIN, NUMBERS, LinearRegression(), **{name: value})


def test_what_was_declared_and_is_not_respected_is_named():
    advice = advise(OF_PATIENTS, SICK, FOREST, groups=PATIENTS, times=np.arange(N))
    assert any(note.startswith("times were declared, too; the cut is by groups") for note in advice.notes)


@pytest.mark.parametrize("kind", ["time", "space"])
def test_later_rows_and_other_places_are_predicted_by_the_code_of_the_page(kind):
    steps = np.cumsum(RNG.normal(size=N)) / 3
    given = {"times": np.arange(N)} if kind == "time" else {"coordinates": np.random.default_rng(0).random((N, 2))}
    advice = advise(PLAIN, NUMBERS + steps, LinearRegression(), **given)
    assert advice.both.kind == kind and advice.ran.is_same and advice.both.naive != advice.both.honest
    for train, test in advice.cv.split(PLAIN, groups=next(iter(given.values()))):
        assert kind == "space" or train.max() < test.min()
