"""What the functions of foldshift.shift take, and their own words for what they do not; how their results read."""

import doctest
import importlib

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from factories import public_names
from foldshift import shift
from foldshift.partition import as_folds, check_folds
from foldshift.shift import (
    DriftReport,
    chi_square,
    classifier_two_sample,
    co_failure,
    energy_distance_test,
    fold_covariates,
    fold_drift,
    fold_ks,
    fold_ks_attributes,
    friedman_bootstrap,
    hellinger,
    hellinger_features,
    inject_shift,
    kruskal_wallis,
    ks_features,
    ks_statistic,
    mmd,
    two_proportion,
    versions,
)

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(30, 2))
TEXT = np.where(NUMBERS > 0, "yes", "no").astype(object)
FRAME = pd.DataFrame({"age": pd.array(range(30), dtype="Int64"), "town": ["Ulm", "Bonn"] * 15, "size": NUMBERS[:, 0]})
FOLDS = np.arange(30)[None] % 3
Y = np.arange(30) % 2


@pytest.mark.parametrize("module", [*sorted({*public_names("shift").values()}), "table_versions", "columns"])
def test_examples_in_docstrings_are_right(module):
    module = importlib.import_module(f"foldshift.shift.{module}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", sorted({*shift.__all__} - {"adjust_p"}))
def test_every_public_function_has_an_example(name):
    assert ">>> " in getattr(shift, name).__doc__


@pytest.mark.parametrize("test", [mmd, energy_distance_test, classifier_two_sample])
def test_two_sample_tests_take_frames_by_name(test):
    other = FRAME.assign(size=NUMBERS[:, 1])
    codes = [part.assign(town=part["town"].eq("Ulm")).to_numpy(float) for part in (FRAME, other)]
    plain = test(*codes, np.random.default_rng(0), categorical_features=[1])
    framed = test(FRAME, other[["town", "size", "age"]], np.random.default_rng(0))
    assert framed.p_value == plain.p_value and framed.statistic == pytest.approx(plain.statistic, rel=1e-9)


def test_folds_of_frames_are_those_of_their_numbers():
    codes = FRAME.assign(town=FRAME["town"].eq("Ulm")).to_numpy(float)
    for name, values in fold_covariates(FRAME, FOLDS).items():
        assert values == pytest.approx(fold_covariates(codes, FOLDS, categorical_features=[1])[name], rel=1e-12)
    assert (fold_ks(FRAME["age"], FOLDS) == fold_ks(np.arange(30.0), FOLDS)).all()


def test_a_feature_is_injected_by_name():
    numbers = FRAME[["age", "size"]]
    named = inject_shift(numbers, Y, "mar", severity=25, feature="size", rng=np.random.default_rng(0))
    placed = inject_shift(numbers.to_numpy(float), Y, "mar", severity=25, feature=1, rng=np.random.default_rng(0))
    assert (named.X == placed.X).all() and (named.rows == placed.rows).all()
    with pytest.raises(ValueError, match="feature='weight' is no column; columns are 'age', 'size'"):
        inject_shift(numbers, Y, "mar", severity=25, feature="weight", rng=RNG)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: DriftReport(csr_array(NUMBERS), NUMBERS), "the training table is sparse; give the columns"),
        (lambda: DriftReport(NUMBERS, 5), "the test table is a int; expected a data frame or an array of rows and columns"),
        (
            lambda: DriftReport(*[pd.DataFrame({"x": [[1], [2]] * 9})] * 2),
            "column 'x' holds neither numbers nor categories, but e.g.",
        ),
        (lambda: energy_distance_test(TEXT, TEXT, RNG), "A holds '(yes|no)', which is no number; give numbers"),
        (lambda: mmd(np.where(NUMBERS > 1, np.nan, NUMBERS), NUMBERS, RNG), "A holds NaN or infinite values; drop or impute"),
        (lambda: mmd(FRAME, FRAME.drop(columns="age"), RNG), "the test table lacks 'age'"),
        (lambda: classifier_two_sample(csr_array(NUMBERS), NUMBERS, RNG), "the first table is sparse"),
        (lambda: ks_statistic(["a"], [1.0]), "sample a holds 'a', which is no number"),
        (lambda: fold_ks(FRAME["town"], FOLDS), "y holds 'Ulm', which is no number"),
        (lambda: fold_ks(Y, FOLDS - 2), "folds hold numbers from -2 to 0; expected 0 to 29, or -1"),
        (lambda: fold_ks(Y, FOLDS, 2), "n_folds=2 must be an integer of at least 1 and above the largest fold, 2"),
        (lambda: ks_features(FRAME, FRAME), "train holds 'Ulm', which is no number"),
        (lambda: hellinger_features(NUMBERS, TEXT), "test holds '(yes|no)', which is no number"),
        (lambda: hellinger(["a"], ["b"]), "a holds 'a', which is no number"),
        (lambda: kruskal_wallis(["a"], [1.0]), "scores_a holds 'a', which is no number"),
        (lambda: kruskal_wallis(pd.to_datetime(["2020-01-01"]), [1.0]), "scores_a holds 2020-01-01"),
        (lambda: chi_square([["a", 1], [2, 3]]), "table holds 'a', which is no number"),
        (lambda: fold_ks_attributes(TEXT, FOLDS), "X holds '(yes|no)', which is no number"),
        (lambda: versions(TEXT, Y, "mar", 25, rng=RNG), "X holds '(yes|no)', which is no number"),
        (lambda: two_proportion([True], [True], confidence=95), "confidence=95 must be between 0 and 1"),
        (lambda: fold_drift(FRAME, Y, FOLDS, n_folds=2.5), "n_folds=2.5 must be an integer of at least 2"),
    ],
)
def test_what_is_not_taken_is_refused_in_own_words(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_splitter_is_taken_for_its_folds():
    cv, X = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), NUMBERS
    folds = as_folds(cv, X)
    np.testing.assert_array_equal(fold_ks(Y, cv), fold_ks(Y, folds))
    np.testing.assert_array_equal(fold_ks_attributes(X, cv), fold_ks_attributes(X, folds))
    np.testing.assert_array_equal(fold_covariates(X, cv)["energy"], fold_covariates(X, folds)["energy"])
    assert str(fold_drift(X, Y, cv)) == str(fold_drift(X, Y, folds))
    once = ShuffleSplit(1, random_state=0)  # most rows are in the training part only
    test = as_folds(once, X)[0] == 0
    assert fold_ks(Y, once).tolist() == [[ks_statistic(Y[~test], Y[test])]]
    assert fold_drift(X, Y, once).p_values.shape[:2] == (1, 1)
    with pytest.raises(ValueError, match=r"folds=KFold\(.* is a splitter; foldshift.partition.as_folds"):
        check_folds(KFold(3), 30)


RESULTS = {
    "energy": lambda: energy_distance_test(NUMBERS, NUMBERS + 1, RNG),
    "classifier": lambda: classifier_two_sample(NUMBERS, NUMBERS, RNG, n_permutations=9),
    "ks": lambda: ks_features(NUMBERS, NUMBERS + 1),
    "ks of versions": lambda: ks_features(NUMBERS, NUMBERS, versions(NUMBERS, Y, "mnar", 25, rng=RNG)),
    "hellinger": lambda: hellinger_features(NUMBERS, NUMBERS + 1),
    "chi-square": lambda: chi_square([[3, 4], [5, 6]]),
    "nothing to compare": lambda: chi_square([[3], [5]]),
    "kruskal": lambda: kruskal_wallis(NUMBERS[:, 0], NUMBERS[:, 1]),
    "many kruskal": lambda: kruskal_wallis(NUMBERS, NUMBERS),
    "friedman": lambda: friedman_bootstrap(Y, Y, 9, RNG),
    "proportions": lambda: two_proportion(Y, Y),
    "many proportions": lambda: two_proportion(np.tile(Y, (3, 1)), Y),
    "failures": lambda: co_failure(TEXT == "yes"),
    "never a failure": lambda: co_failure(np.zeros((3, 2))),
    "injected": lambda: inject_shift(NUMBERS, Y, "mnar", severity=25, feature=0, rng=RNG),
    "versions": lambda: versions(NUMBERS, Y, "mar", 25, rng=RNG),
    "drift": lambda: DriftReport(FRAME, FRAME, n_permutations=9),
    "folds": lambda: fold_drift(FRAME, Y, FOLDS, n_random=99),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_every_result_reads_as_sentences_and_a_table(result):
    found = result()
    sentences = found.sentences()
    assert sentences and all(sentence.endswith(".") for sentence in sentences)
    assert "<table" in found._repr_html_() and len(found.to_frame()) >= 1
    assert sentences[0].split(";")[0] in str(found)
    assert not {"nan", "NaN"} & set(" ".join(sentences).replace(",", " ").split())
