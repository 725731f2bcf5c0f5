"""Bad learners, partitioners and splitters are refused in own words at every door, and odd ones work: nothing is silent."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

import foldshift
from bad_code import LEARNERS, PARTITIONERS, REFUSED, SPLITTERS, Classifier, Splitter, plain_cut
from bad_code_doors import CLASSES, DEADLY, DOORS, NUMBERS, Outcome, X, by_advise, outcomes
from foldshift.core.errors import LearnerError, StoppedError
from foldshift.core.user_code.guarded_process import call_guarded
from foldshift.engine.jobs import isolation
from foldshift.evaluation import evaluate_folds
from foldshift.partition import make_folds

pytestmark = pytest.mark.skipif(not isolation.can_isolate(), reason="learners are isolated on Linux only")
# Quick ones; `make thorough` takes all.
SOME = {
    "advise": (
        "ExitsWithNought",
        "EndsInFit",
        "CrashesInFit",
        "PredictsOne",
        "PredictsAColumn",
        "SharesAddToTwo",
        "ChangesGlobals",
    ),
    "advise_cv": ("exits", "ends", "writes into X", "trains on test rows", "lists"),
    "command": ("ExitsWithNought", "PrintsFloods"),
}


def wrong(found):
    """Outcomes that are not as they should be."""
    return [one for one in found if not one.is_right]


def test_there_are_as_many_ways_to_go_wrong_as_we_say():
    assert sum(expected == REFUSED for _, expected, _ in LEARNERS.values()) >= 31
    assert sum(expected == REFUSED for _, expected in PARTITIONERS.values()) >= 20
    assert len(SPLITTERS) >= 15 and set(SOME) < set(DOORS)


@pytest.mark.parametrize("door", [door for door in DOORS if door not in SOME])
def test_nothing_is_silent_and_nothing_is_a_traceback(door):
    found = list(outcomes([door]))
    assert len(found) > 15 and not wrong(found)


@pytest.mark.parametrize(("door", "name"), [(door, name) for door, names in SOME.items() for name in names])
def test_advice_refuses_what_is_bad_and_takes_what_looks_odd(door, name):
    assert not wrong([DOORS[door][0](name)])


@pytest.mark.thorough
@pytest.mark.parametrize("door", SOME)
def test_advice_refuses_all_that_is_bad(door):
    assert not wrong(outcomes([door]))


def test_a_driver_that_sees_a_silent_one_says_so():
    assert not Outcome("advise", "a", REFUSED, "silent", 0, "").is_right
    assert not Outcome("advise", "a", "works", REFUSED, 0, "").is_right
    assert not Outcome("advise", "a", REFUSED, "late", 0, "").is_right


@pytest.mark.parametrize("name", ["HangsInFit", "HangsInPredict"])
def test_a_learner_that_hangs_is_stopped_with_the_budget_and_the_message_says_how_to_go_on(name):
    with pytest.raises(StoppedError, match=rf"{name} was stopped after 5 s in one fit: the budget of 5 s is used up") as caught:
        foldshift.advise(X, CLASSES, LEARNERS[name][0](), budget=5)
    assert caught.value.at("command").endswith("--budget 1min") and caught.value.at("python").endswith("budget='1min'")
    found = by_advise("ExitsInFit")
    assert found.seconds < 5 and "SystemExit" in found.said


def test_a_learner_that_hangs_after_some_fits_leaves_the_repetitions_that_were_finished():
    advice = foldshift.advise(X, CLASSES, HangsLater(), budget=5, most_repetitions=40)
    assert advice.n_done == 1 and "stopped by the budget after" in advice.verdict[0]


class HangsLater(Classifier):
    """Hangs in a fit after the first cross-validation."""

    fits = 0

    def in_fit(self, X, y):
        HangsLater.fits += 1
        if HangsLater.fits > 20:
            LEARNERS["SleepsInFit"][0]().in_fit(X, y)


@pytest.mark.parametrize("name", ["KeepsState", "DrawsWithoutASeed"])
def test_a_learner_that_predicts_differently_each_time_is_named_in_a_note(name):
    advice = foldshift.advise(X, NUMBERS, LEARNERS[name][0](), budget=5, most_repetitions=1)
    assert any(f"two fits of {name} on the same rows predicted different values" in note for note in advice.notes)
    assert not any("two fits" in note for note in foldshift.advise(X, CLASSES, Classifier(), budget=5, most_repetitions=1).notes)


def test_advice_in_a_process_of_its_own_is_that_of_this_process():
    ours, theirs = (foldshift.advise(X, CLASSES, Classifier(), most_repetitions=2, isolate=isolate) for isolate in (True, False))
    assert ours.to_dict()["intervals"] == theirs.to_dict()["intervals"] and ours.verdict == theirs.verdict


def test_a_learner_that_writes_into_its_input_changes_nothing_of_the_user():
    before, folds = X.copy(), np.arange(len(X)) % 3
    evaluate_folds(LEARNERS["WritesIntoItsInput"][0](), X, CLASSES, folds)
    assert (before == X).all() and X.flags.writeable and "HangsInFit".startswith(DEADLY)


def test_a_partitioner_cannot_write_into_frames_either():
    pd = pytest.importorskip("pandas")
    frame, target = pd.DataFrame(X, columns=list("abc")), pd.Series(NUMBERS)

    def writes(X, y, n_folds, rngs):
        X["a"], y[:] = 0.0, 0.0
        return np.array([plain_cut(rng, len(y), n_folds) for rng in rngs])

    make_folds(writes, frame, target, 3, range(2))
    assert (frame.to_numpy() == X).all() and (target == NUMBERS).all()
    with pytest.raises(LearnerError, match=r"X and y are read-only: change a copy, X = X\.copy\(\)"):
        make_folds(PARTITIONERS["writes into X"][0], X, NUMBERS, 3, range(2))
    assert X.flags.writeable


def test_a_copy_of_the_process_that_a_learner_makes_does_not_go_on(tmp_path):
    code = (
        f"import sys; sys.path[:0] = {[str(Path(__file__).parents[1])]!r}\n"
        "import bad_code, numpy as np\nfrom foldshift.evaluation import evaluate_folds\n"
        "X = np.random.default_rng(0).normal(size=(30, 2)); y = np.arange(30) % 2\n"
        "evaluate_folds(bad_code.ComesBackTwice(), X, y, np.arange(30) % 3)\nprint('done')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=os.environ, timeout=120)
    assert done.stdout == "done\n", done.stderr


def test_a_learner_may_use_several_cores_although_this_process_did_so_before():
    def search():
        return cross_val_score(Ridge(), X, NUMBERS, n_jobs=2).tolist()

    assert call_guarded(search, "the search", None) == call_guarded(search, "the search", 60.0)


def test_a_splitter_of_scikit_learn_is_given_what_the_user_gave():
    assert foldshift.partition.as_folds(Splitter(lambda train, test, fold: (train, test)), X).shape == (1, 60)
