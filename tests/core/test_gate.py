"""The gate: what comes in is converted or refused in one place: numbers, masks, labels of rows, folds."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import ks_2samp, ttest_1samp

from foldshift.core.gate.arrays import as_array, as_list, is_missing, missing, na_as_nan, refuse_dates, refuse_masks
from foldshift.core.gate.folds import check_folds, is_tested, named_folds
from foldshift.core.gate.numbers import as_numbers, correctness, finite_numbers, fold_counts, whole_numbers
from foldshift.core.gate.rows import check_pairs, check_rows, check_same_rows
from foldshift.core.gate.targets import class_labels, class_target, group_labels, one_column
from foldshift.evaluation import classification_scores, evaluate_folds, regression_scores
from foldshift.inference import auc_interval, cv_intervals, loss_difference_interval, paired_t, wilcoxon_signed_ranks
from foldshift.learners import ELMRegressor, GBMRegressor, RPARTRegressor
from foldshift.shift import fold_covariates, fold_drift, fold_ks, fold_ks_attributes

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (MASKED, [1, np.nan, 3]),
        ([MASKED, MASKED], [[1, np.nan, 3]] * 2),
        (np.ma.array([1, 2], mask=[True, False]), [np.nan, 2]),
        ([1, None, 2], [1, np.nan, 2]),
        (pd.Series([1, None], dtype="Int64"), [1, np.nan]),
        (pd.Series([1.5, None], dtype="float64[pyarrow]"), [1.5, np.nan]),
        (pd.Categorical([2, 3]), [2, 3]),
        ([Decimal("1.5"), True], [1.5, 1]),
        (np.array([1, 2], dtype=">i2"), [1, 2]),
        (np.array([0.5], dtype=np.float16), [0.5]),
        (pd.NaT, np.nan),
    ],
)
def test_numbers_of_any_type_are_float64_with_nan_where_missing(given, plain):
    found = as_numbers(given, "a")
    assert found.dtype == np.float64 and found.dtype.isnative
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["1", "2"], "a holds '1', which is no number; give numbers"),
        (np.array([1 + 2j]), r"a holds \(1\+2j\), which is no number"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "a holds 2020-01-01, which is no number"),
        (np.array([3], dtype="m8[s]"), "a holds 3 seconds, which is no number"),
        ([10**400], "a holds a number that is too large for 64 bits"),
        ([[1, 2], [3]], "a is a list that makes no array of one shape"),
        ({1, 2}, "a is a set; expected an array or a list, in a certain order"),
        ((x for x in [1]), "a is a generator; expected an array or a list"),
        (sparse.csr_array(np.eye(2)), r"a is a sparse matrix of shape \(2, 2\); give an array: a.toarray\(\)"),
    ],
)
def test_what_is_no_number_is_refused_by_name(given, message):
    with pytest.raises(ValueError, match=message):
        as_numbers(given, "a")


def test_a_mask_is_never_dropped():
    assert is_missing(np.ma.masked) and missing(as_array(np.ma.array(["a", "b"], mask=[True, False]), "a")).tolist() == [
        True,
        False,
    ]
    with pytest.raises(ValueError, match=r"differences has 1 NaN or infinite values"):
        paired_t(MASKED)
    with pytest.raises(ValueError, match=r"y contains NaN: 1 of 3 rows"):
        class_target(np.ma.array([0, 1, 1], mask=[False, False, True]))
    with pytest.raises(ValueError, match=r"X has 1 masked values, .* give X.filled\(np.nan\)"):
        refuse_masks(MASKED)
    assert evaluate_of(np.ma.array([[1.0], [2], [3], [4]], mask=False)) == evaluate_of(np.array([[1.0], [2], [3], [4]]))


def evaluate_of(X):
    return evaluate_folds(RPARTRegressor(), X, [1.0, 2, 3, 4], [0, 1, 0, 1]).tolist()


@pytest.mark.parametrize("learner", [RPARTRegressor(), GBMRegressor(), ELMRegressor(n_hidden=3)])
def test_a_target_with_none_trains_nothing(learner):
    X, y = np.arange(20.0)[:, None], np.arange(20.0).astype(object)
    y[3] = None
    folds = np.arange(20)[None] % 4
    for call in (
        lambda: learner.fit(X, y),
        lambda: learner.predict_folds(X, y, folds),
        lambda: evaluate_folds(learner, X, y, folds),
    ):
        with pytest.raises(ValueError, match=r"y contains NaN: 1 of 20 rows .the first is row 3. have no target"):
            call()


def test_dates_in_inputs_of_a_learner_are_no_numbers():
    with pytest.raises(ValueError, match=r"X holds dates or times"):
        RPARTRegressor().fit(np.arange(4).astype("M8[D]")[:, None], [1.0, 2, 3, 4])
    refuse_dates(pd.DataFrame({"a": [1, 2], "b": [0.5, None]}))
    found = na_as_nan(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}))
    np.testing.assert_array_equal(found.to_numpy(dtype=float), [[1], [np.nan]])


# ---- labels of rows ----


def test_labelled_pairs_in_another_order_are_refused():
    a = pd.Series(np.arange(8.0), index=list("abcdefgh"))
    b = a - np.linspace(0.1, 0.8, 8)
    assert wilcoxon_signed_ranks(a, b).p_value == 2 / 2**8
    with pytest.raises(ValueError, match=r"same row labels in another order; bring them into one: b.loc\[a.index\]"):
        wilcoxon_signed_ranks(a, b.sample(frac=1, random_state=1))
    with pytest.raises(ValueError, match=r"a and b share only 7 of 8 row labels"):
        wilcoxon_signed_ranks(a, b.rename({"a": "z"}))
    columns = pd.DataFrame({"x": [1, 2], "y": [3, 4]})
    with pytest.raises(ValueError, match=r"same column labels in another order; bring them into one: b\[a.columns\]"):
        check_pairs(a=columns, b=columns[["y", "x"]])


def test_labels_that_say_nothing_are_no_hindrance():
    check_same_rows(a=pd.Series([1, 2]), b=pd.Series([1, 2], index=[7, 9]), c=[3, 4])
    check_same_rows(a=pd.Series([1, 2, 3]), b=pd.Series([1, 2, 3], index=[1, 2, 7]))  # the first was never labelled
    check_same_rows(a=pd.Series([1, 2], index=["a", "b"]), b=pd.Series([1, 2], index=["c", "d"]))


def test_lengths_are_compared_by_name():
    with pytest.raises(ValueError, match=r"X, y and groups have 3, 3 and 2 samples; expected the same number"):
        check_rows(X=np.ones((3, 1)), y=[1, 2, 3], groups=[1, 2], other=None)
    with pytest.raises(ValueError, match=r"y is 3.0; expected a value for every sample"):
        check_rows(X=[[1]], y=3.0)


# ---- folds ----


def test_minus_one_is_never_tested_everywhere():
    rng = np.random.default_rng(0)
    n = 40
    folds, y, x = rng.permutation(np.arange(n) % 4), np.arange(n) % 2, rng.normal(size=n)
    folds[:9] = -1
    kept = folds >= 0
    for function in (
        lambda rows: cv_intervals(losses=x[rows], folds=folds[rows])["Nadeau-Bengio"],
        lambda rows: loss_difference_interval(x[rows], x[rows] ** 2, folds[rows]),
        lambda rows: auc_interval(y[rows], x[rows], folds[rows]),
    ):
        assert function(np.arange(n)) == function(kept)
    scores = regression_scores(x, [x**2], [folds], 4)
    of_rows = regression_scores(x[kept], [x[kept] ** 2], [folds[kept]], 4)
    np.testing.assert_array_equal(scores["rmse"], of_rows["rmse"])
    # In shift the row is in the training part of every fold, as in evaluation.
    wanted = [ks_2samp(x[folds != fold], x[folds == fold]).statistic for fold in range(4)]
    np.testing.assert_allclose(fold_ks(x, folds)[0], wanted)
    np.testing.assert_allclose(fold_ks_attributes(x[:, None], folds)[0, :, 0], wanted)
    assert all(values.shape == (1, 4) for values in fold_covariates(x[:, None], folds).values())
    drift = fold_drift(x[:, None], None, folds, n_random=99)
    assert drift.p_values.shape == (1, 4, 1) and drift.features[0].distance == pytest.approx(np.mean(wanted))


def test_scores_of_rows_that_are_never_tested_may_be_missing():
    y, x, folds = np.arange(20) % 2, np.random.default_rng(0).random(20), np.repeat([0, 1, -1, 2], 5)
    assert auc_interval(y, np.where(folds < 0, np.nan, x), folds) == auc_interval(y, x, folds)
    predictions = np.where(folds < 0, None, y).astype(object)[None]
    assert (classification_scores(y, predictions, None, folds[None], 3)["accuracy"] == 1).all()
    with pytest.raises(ValueError, match=r"predictions have no label for 15 tested rows"):
        classification_scores(y, np.full((1, 20), None), None, folds[None], 3)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([0, 1, -2, 1], "folds hold -2; expected numbers from 0, or -1"),
        ([0, 1, 0.5, 1], "folds hold 0.5; expected whole numbers, the fold of every sample"),
        (np.ma.array([0, 1, 0, 1], mask=[1, 0, 0, 0]), "folds have no value for 1 rows"),
        (np.array([True, False]), "folds have dtype bool; expected an integer type"),
        (["a", None], "folds have no value for 1 rows"),
        (np.array(["a", 1], dtype=object), "folds mixes labels of type int and str"),
    ],
)
def test_folds_that_are_none_are_refused(folds, message):
    with pytest.raises(ValueError, match=message):
        named_folds(folds)


def test_folds_may_have_names_where_they_are_only_told_apart():
    losses = [0.1, 0.4, 0.2, 0.9]
    assert cv_intervals(losses=losses, folds=["x", "x", "y", "y"])[0] == cv_intervals(losses=losses, folds=[0, 0, 1, 1])[0]
    assert is_tested(named_folds(["x", "y"])).all()
    with pytest.raises(ValueError, match=r"folds hold -1 in every row: no row is tested"):
        is_tested(named_folds([-1, -1]))


def test_folds_of_other_byte_orders_and_types_are_the_same():
    wanted = check_folds([0, 1, 0, 1], 4).tolist()
    for folds in (np.array([0, 1, 0, 1], dtype=">i8"), np.array([0, 1, 0, 1.0]), pd.Series([0, 1, 0, 1], dtype="Int64")):
        found = check_folds(folds, 4)
        assert found.tolist() == wanted and found.dtype.isnative


# ---- targets and counts ----


def test_targets_are_checked_in_one_way():
    assert one_column(np.array([[1], [2]], dtype=object)).tolist() == [1, 2]
    assert one_column(np.array([1.5], dtype=np.longdouble)).dtype == np.float64
    assert class_labels([["a", "b"]], "y").shape == (1, 2)
    for check in (one_column, lambda y: class_labels(y, "y")):
        with pytest.raises(ValueError, match=r"y holds complex numbers"):
            check(np.array([1j, 2]))
    with pytest.raises(ValueError, match=r"groups contain NaN: 1 of 2 rows .the first is row 1. have no group"):
        group_labels(["a", None], 2)


def test_counts_and_correctness_are_checked_in_one_way():
    assert [part.tolist() for part in fold_counts([3, 4], 5, "r")] == [[3, 4], [5, 5]]
    assert correctness([True, False], "x").tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"x must hold 1 \(right\) and 0 \(wrong\) only, got nan"):
        correctness(np.ma.array([1, 0], mask=[1, 0]), "x")
    with pytest.raises(ValueError, match=r"sizes hold 1.5; expected whole numbers, sizes of groups"):
        whole_numbers([1.5], "sizes", "sizes of groups")
    with pytest.raises(ValueError, match=r"a has 1 NaN or infinite values, the first at \(1,\); drop it"):
        finite_numbers([1, np.inf], "a", "drop it")


def test_parts_of_a_sequence_are_listed():
    assert as_list({"a": [1], "b": [2]}, "losses") == [[1], [2]]
    assert [part.tolist() for part in as_list(pd.DataFrame([[1, 2], [3, 4]]), "losses")] == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match=r"losses is 3; expected a sequence of arrays"):
        as_list(3, "losses")


def test_forms_of_one_content_give_one_result():
    d = np.random.default_rng(1).normal(size=9).round(2)
    wanted = ttest_1samp(d, 0).pvalue
    frozen = d.copy()
    frozen.flags.writeable = False
    for given in (d[::-1][::-1], frozen, d.astype(">f8"), d.astype(object), pd.Series(d, dtype="Float64"), list(d)):
        assert paired_t(given).p_value == pytest.approx(wanted)
