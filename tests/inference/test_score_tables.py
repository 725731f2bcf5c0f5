"""Comparison of learners from tables of scores: tests that fit the design, their level, and verdicts that do not contradict."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RepeatedKFold, ShuffleSplit

from foldshift.core.errors import DataError
from foldshift.inference import compare, mcnemar, wilcoxon_signed_ranks
from foldshift.inference.comparisons.sign_flips import MOST_COUNTED, sign_flip_p
from foldshift.inference.intervals.score_difference import PAIRED
from foldshift.inference.score_tables.score_columns import higher_is_better


def wide(a, b, **more):
    return pd.DataFrame({"item": np.arange(len(a)), "A": a, "B": b, **more})


def test_sign_flips_count_all_signs_of_few_differences():
    rng = np.random.default_rng(0)
    d = rng.normal(0.4, 1, 9).round(2)
    sums = [abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=9)]
    assert sign_flip_p(d[:, None])[0] == pytest.approx(np.mean(np.array(sums) >= abs(d.sum()) - 1e-9))
    many = np.concatenate([d, np.zeros(50)])[:, None]
    assert sign_flip_p(many)[0] == sign_flip_p(d[:, None])[0]
    assert sign_flip_p(np.zeros((5, 1)))[0] == 1


def test_items_of_the_same_models_have_a_wider_spread_of_flips():
    rng = np.random.default_rng(3)
    for n in (MOST_COUNTED - 2, 40):
        d = rng.normal(0.4, 1, (n, 1))
        assert sign_flip_p(d, 1.2)[0] > sign_flip_p(d)[0] > sign_flip_p(d, 0.8)[0]
    frame = wide(rng.random(40), rng.random(40) + 0.2)
    of_folds = compare(frame.assign(fold=np.arange(40) % 5), better="higher").pairs[0]
    assert of_folds.p_value == sign_flip_p((frame["A"] - frame["B"]).to_numpy()[:, None], PAIRED)[0]
    assert of_folds.p_value > compare(frame, better="higher").pairs[0].p_value


def test_drawn_and_approximated_flips_are_near_the_counted_ones():
    rng = np.random.default_rng(1)
    d = rng.normal(0.5, 1, MOST_COUNTED)
    exact = sign_flip_p(d[:, None])[0]
    padded = np.concatenate([d, [1e-9]])[:, None]
    assert sign_flip_p(padded)[0] == pytest.approx(exact, abs=0.02)
    large = rng.normal(0.04, 1, (2001, 1))
    assert sign_flip_p(large)[0] == pytest.approx(sign_flip_p(large[:2000])[0], abs=0.05)


def test_scores_of_0_and_1_have_mcnemars_test_and_a_spread_where_all_agree():
    a = np.array([1, 1, 1, 1, 1, 1, 0, 1, 0, 1] * 6)
    b = np.where(np.arange(60) % 12 == 0, 0, a)
    found = compare(wide(a, b))
    assert found.test == "mid-p McNemar" and found.pairs[0].p_value == mcnemar(a, b, "mid_p").p_value
    same = compare(wide(a, a), rope=0.01).pairs[0]
    assert same.low < -0.01 and same.high > 0.01 and same.verdict == "not decided"
    assert compare(wide(np.tile(a, 20), np.tile(a, 20)), rope=0.01).pairs[0].verdict == "practically equivalent"


def test_clusters_widen_the_interval_where_items_of_a_cluster_agree():
    rng = np.random.default_rng(2)
    own = np.repeat(rng.normal(0.02, 0.2, 25), 8)
    a, b = 0.5 + own, np.full(200, 0.5) + rng.normal(0, 0.01, 200)
    rows, clustered = (
        compare(wide(a, b), better="higher"),
        compare(wide(a, b, c=np.arange(200) // 8), better="higher", clusters="c"),
    )
    assert clustered.pairs[0].high - clustered.pairs[0].low > 2 * (rows.pairs[0].high - rows.pairs[0].low)
    assert clustered.pairs[0].p_value > rows.pairs[0].p_value


def test_a_wrong_finding_is_rare_for_items_clusters_and_folds():
    rng = np.random.default_rng(3)
    found = {"items": 0, "clusters": 0, "right": 0}
    for _ in range(60):
        a, b = rng.standard_t(4, (2, 40))
        found["items"] += "better" in compare(wide(a, b), better="lower").pairs[0].verdict
        shift = np.repeat(rng.normal(size=15), 4)
        c = wide(rng.normal(size=60) + shift, rng.normal(size=60), c=np.arange(60) // 4)
        found["clusters"] += "better" in compare(c, better="lower", clusters="c").pairs[0].verdict
        r = (rng.random(50) < 0.8).astype(int)
        flipped = np.where(rng.random((2, 50)) < 0.15, 1 - r, r)
        found["right"] += "better" in compare(wide(*flipped)).pairs[0].verdict
    assert all(n <= 8 for n in found.values()), found  # .05 of 60, and 2.9 standard errors


def test_data_sets_have_wilcoxons_test_by_holm_and_the_direction_of_the_metric():
    rng = np.random.default_rng(4)
    scores = rng.normal(10, 2, (20, 1)) + rng.normal(0, 0.5, (20, 3)) + [0, 0, 1]
    frame = pd.DataFrame(scores, columns=["a", "b", "worse"]).assign(dataset=range(20))
    found = compare(frame, metric="rmse")
    assert [pair.verdict for pair in found.pairs] == ["not decided", "a is better", "b is better"]
    assert found.pairs[1].p_value == wilcoxon_signed_ranks(scores[:, 0], scores[:, 2]).p_value
    assert found.ranks.average_ranks[-1] > 2.5 and found.ranks.names[-1] == "worse"
    assert compare(frame, better="higher").pairs[1].verdict == "worse is better"


def test_folds_and_repetitions_are_averaged_for_data_sets_and_items():
    rng = np.random.default_rng(5)
    rows = [(d, r, f, m, rng.random()) for d in "uvwxyz" for r in range(2) for f in range(3) for m in ("A", "B")]
    frame = pd.DataFrame(rows, columns=["dataset", "repeat", "fold", "learner", "auc"])
    found = compare(frame)
    assert found.table.design.unit == "dataset" and found.table.scores.shape == (6, 2)
    means = frame.groupby(["dataset", "learner"])["auc"].mean().unstack()
    np.testing.assert_allclose(found.table.scores, means[["A", "B"]])
    with pytest.raises(DataError, match="unit='dataset'"):
        compare(frame, unit="fold")


def test_so_few_units_that_nothing_can_be_shown_are_said():
    frame = pd.DataFrame({"dataset": list("abcd"), "A": [0.9, 0.8, 0.7, 0.95], "B": [0.1, 0.2, 0.3, 0.15]})
    found = compare(frame, better="higher")
    assert found.pairs[0].verdict == "not decided" and "p cannot be below 0.125" in str(found)
    assert "nothing tells which difference" in str(found)


def test_the_power_line_is_what_simulation_finds():
    rng = np.random.default_rng(6)
    pilot = compare(wide(rng.normal(size=100), rng.normal(size=100)), better="higher")
    step = pilot.power.difference
    draws = rng.normal(size=(60, 2, 100)) + np.array([step, 0])[:, None]
    share = np.mean([compare(wide(*one), better="higher").pairs[0].verdict == "A is better" for one in draws])
    assert 0.6 < share < 0.96


def test_text_has_at_most_twelve_lines_and_cannot_steer_a_terminal():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.random((12, 40)), columns=[f"learner number {i} of many\x1b[31m" for i in range(40)]).assign(
        dataset=range(12)
    )
    found = compare(frame, better="higher")
    assert len(str(found).splitlines()) <= 12 and "\x1b" not in str(found)
    assert found.plot() is not None and len(found.to_frame()) == 780


def test_names_of_metrics_tell_the_direction():
    up, down, unknown = (
        ("accuracy", "test_roc_auc", "neg_mean_squared_error", "r2"),
        ("RMSE", "error_rate", "val_loss"),
        ("score", "q"),
    )
    assert [higher_is_better(name) for name in (*up, *down, *unknown)] == [True] * 4 + [False] * 3 + [None] * 2


def test_arguments_of_other_designs_are_refused():
    frame = wide([1, 0, 1], [1, 1, 0])
    with pytest.raises(ValueError, match="names cannot be used with a table of scores; its columns name the learners"):
        compare(frame, names=["x", "y"])
    with pytest.raises(ValueError, match="n_splits=5 says that rows are folds of one data set, but column 'item'"):
        compare(frame, n_splits=5)
    with pytest.raises(ValueError, match="clusters is for a table of scores"):
        compare([0.1, 0.2], [0.2, 0.1], design="datasets", clusters="c")
    with pytest.raises(TypeError, match="unknown argument 'cluster'; did you mean clusters"):
        compare(frame, cluster="c")
    with pytest.raises(DataError, match="rope"):
        compare(frame, rope=-1)


def test_columns_of_any_kind_have_the_same_answer():
    rng = np.random.default_rng(8)
    frame = wide((rng.random(40) < 0.8).astype(int), (rng.random(40) < 0.6).astype(int)).melt(
        id_vars="item", var_name="model", value_name="correct"
    )
    expected = compare(frame).pairs
    for other in (
        frame.assign(correct=frame.correct.astype("boolean")),
        frame.assign(correct=frame.correct.astype(str)),
        frame.astype({"model": "category", "item": "category"}),
        frame.set_index(["item", "model"]),
        frame.rename(columns=str.upper),
        frame.pivot(index="item", columns="model", values="correct"),
    ):
        assert compare(other).pairs == expected
    for size in (1e308, 1e-308):
        with pytest.raises(DataError, match="the largest score is"):
            compare(frame.assign(correct=frame.correct * size), better="higher")


def of_folds(r, k):
    """Scores of two learners in long form, a row for each fold of each repetition."""
    rng = np.random.default_rng(9)
    rows = [(m, i, j, 0.8 + 0.02 * (m == "B") + 0.02 * rng.normal()) for m in "AB" for i in range(r) for j in range(k)]
    return pd.DataFrame(rows, columns=["model", "seed", "fold", "accuracy"])


def test_the_cut_of_a_table_is_said_where_no_column_does():
    long = of_folds(3, 5)
    expected = compare(long).pairs[0]
    flat = long.assign(fold=long.fold + 5 * long.seed).drop(columns="seed")
    wide_form = flat.pivot(index="fold", columns="model", values="accuracy").reset_index(drop=True)
    cv = RepeatedKFold(n_splits=5, n_repeats=3, random_state=0)
    texts = flat.assign(fold="split " + flat.fold.astype(str))
    for found in (
        compare(long, n_splits=5),
        compare(long, cv=cv),
        compare(flat, cv=cv),
        compare(texts, n_splits=5),
        compare(flat.drop(columns="fold"), n_splits=5, n_repeats=3),
        compare(long.drop(columns="seed"), n_repeats=3),
        compare(long.drop(columns="fold"), n_splits=5),
        compare(wide_form, n_splits=5, metric="accuracy"),
    ):
        assert found.table.design.words(15) == "3 x 5 folds"
        pair = found.pairs[0]
        assert (pair.estimate, pair.low, pair.p_value) == pytest.approx((expected.estimate, expected.low, expected.p_value))
    wrong = compare(flat).pairs[0]  # read as fifteen folds, the correction is too small
    assert wrong.p_value < expected.p_value
    shuffles = compare(flat, cv=ShuffleSplit(15, test_size=0.2, random_state=0))
    assert shuffles.table.design.words(15) == "15 hold-outs" and shuffles.table.design.overlap == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: t, {"n_splits": 4}, "n_splits=4 does not fit the 15 scores of every learner; say n_splits=FOLDS"),
        (lambda t: t, {"n_splits": "5"}, "n_splits='5' must be a whole number from 1"),
        (lambda t: t, {"cv": RepeatedKFold(n_splits=5, n_repeats=3)}, "no random state.* same_folds=True"),
        (lambda t: t.assign(fold=t.fold.where(t.fold > 0)), {"n_splits": 5}, "6 rows have no value in column 'fold'"),
        (lambda t: t.assign(model=t.model.where(t.fold > 0)), {"n_splits": 5}, "6 rows have no name in column 'model'"),
        (lambda t: t, {"cv": 10}, "every learner has 15 scores, but cv=10 makes 10"),
        (lambda t: t, {"n_splits": 3, "n_repeats": 5}, "5 x 3 repetitions x folds, but the table names 3 x 5; .* say n_splits=5"),
        (lambda t: t, {"n_splits": 5, "unit": "item"}, "unit='item' that they are not; say unit='fold'"),
        (lambda t: t.drop(columns=["seed", "fold"])[1:], {"n_splits": 5}, "'B' has 15 rows and 'A' 14; .* fold='COLUMN'"),
        (lambda t: t.assign(dataset=np.arange(30) % 15), {"n_splits": 5}, "column 'dataset' holds the dataset"),
    ],
)
def test_a_cut_that_does_not_fit_the_table_is_refused(change, options, message):
    with pytest.raises(ValueError, match=message):
        compare(change(of_folds(3, 5)), **options)


SETS = [f"set {i}" for i in range(12)]
TWO = {"dataset": SETS, "rf": np.linspace(0.6, 0.8, 12).round(3), "svm": (np.linspace(0.6, 0.8, 12) ** 2).round(3)}


@pytest.mark.parametrize(
    "more",
    [
        {"rf_std": 0.1, "svm std": 0.2},
        {"diff": 0.3},
        {"rank_rf": 1, "rank_svm": 2},
        {"#instances": range(100, 1300, 100), "#Attr": 4, "classes": 2},
        {"rf_train": 0.99, "svm_train": 0.98},
        {"p": 0.04},
        {"average": 0.7},
    ],
    ids=lambda more: ", ".join(more),
)
def test_columns_that_are_no_learners_are_left_out_and_said(more):
    expected, found = (compare(pd.DataFrame(TWO | some), better="higher") for some in ({}, more))
    assert found.pairs == expected.pairs
    assert any(all(name in note for name in more) and "left out" in note for note in found.table.notes)


def test_a_learner_whose_name_has_such_a_word_is_one_if_no_other_column_is_named_like_it():
    table = pd.DataFrame(TWO).rename(columns={"rf": "RF rank", "svm": "lasso_min"})
    assert compare(table, better="higher").table.learners == ("RF rank", "lasso_min")


@pytest.mark.parametrize("names", [("test_acc", "train_acc"), ("mean_accuracy", "std_accuracy"), ("accuracy", "accuracy_se")])
def test_scores_of_training_parts_and_spreads_are_not_taken_for_the_score(names):
    rng = np.random.default_rng(0)
    table = pd.concat(pd.DataFrame({"dataset": SETS, "model": m, **{name: rng.random(12) for name in names}}) for m in "ab")
    found = compare(table)
    assert found.table.metric == names[0] and found.pairs == compare(table.drop(columns=names[1])).pairs


@pytest.mark.parametrize(
    "words", [("yes", "no"), ("Correct", "incorrect"), ("PASS", "fail"), ("True", "False"), ("right", "wrong")]
)
def test_words_for_right_and_wrong_are_scores(words):
    right = np.random.default_rng(0).integers(0, 2, 60)
    table = pd.DataFrame({"item": np.tile(np.arange(30), 2), "model": np.repeat(["a", "b"], 30), "verdict": right})
    assert compare(table.assign(verdict=np.array(words)[1 - right])).pairs == compare(table, score="verdict").pairs


@pytest.mark.parametrize("mark", ["**{}**", "{}*", "{}†", r"\textbf{{{}}}", r"$\mathbf{{{}}}$", "_{}_", r"${} \pm 0.01$"])
def test_marks_of_the_best_score_are_left_out_and_said(mark):
    table = pd.DataFrame(TWO).set_index("dataset")
    expected = compare(table.reset_index(), better="higher")
    best = table.eq(table.max(axis=1), axis=0)
    marked = table.map("{:.3f}".format).where(~best, table.map(lambda score: mark.format(f"{score:.3f}")))
    found = compare(marked.reset_index().set_axis([1] * len(table)), better="higher")
    assert found.pairs == expected.pairs and any("are left out" in note for note in found.table.notes)


@pytest.mark.parametrize(
    "form",
    [
        "{:.3f} [0.1, 0.9]",
        "{:.3f} (0.1-0.9)",
        "{:.3f} ± 0.010",
        "{:.3f}+/-0.01",
        r"${:.3f} \pm 0.01$"[1:],
        "{:.3f} (0.01)",
        "{:.3f} (±.01)",
    ],
)
def test_spreads_printed_behind_scores_are_left_out_and_said(form):
    table = pd.DataFrame(TWO)
    expected = compare(table, better="higher")
    for name in ("rf", "svm"):
        table[name] = table[name].map(form.format)
    found = compare(table, better="higher")
    assert found.pairs == expected.pairs and "rf, svm: spreads printed behind the scores are left out" in found.table.notes


def test_a_row_for_every_learner_is_compared_over_the_columns_if_the_caller_says_what_they_are():
    table = pd.DataFrame(TWO)
    turned = table.set_index("dataset").T.rename_axis(columns=None).rename_axis("model").reset_index().assign(mean=0.7)
    with pytest.raises(DataError, match=r"every learner has one row, .* unit='dataset', unit='item'; or .* score='set 0'"):
        compare(turned)
    found = compare(turned, unit="dataset", better="higher")
    assert found.pairs == compare(table, better="higher").pairs and found.table.metric == ""


@pytest.mark.parametrize("label", ["Average", "avg. rank", "Mean ± std", "Overall"])
def test_rows_of_statistics_are_no_data_sets(label):
    table = pd.DataFrame(TWO)
    expected = compare(table, better="higher")
    more = pd.concat([table, pd.DataFrame([{"dataset": label, "rf": 0.8, "svm": 0.7}, {"dataset": "se", "rf": 0.1, "svm": 0.1}])])
    renamed = more.rename(columns={"dataset": "problem set"})
    for found in (compare(more, better="higher"), compare(renamed, better="higher", unit="dataset")):
        assert found.pairs == expected.pairs and any(f"{label}, se left out, as statistics" in note for note in found.table.notes)
    long = more.melt(id_vars="dataset", var_name="model", value_name="accuracy")
    assert compare(long).pairs == expected.pairs
    states = table.assign(dataset=["se", *table["dataset"][1:]])  # the code of a country
    assert compare(states, better="higher").pairs == expected.pairs
    baseline = long.replace({"model": {"rf": "mean"}})[long["dataset"] != label]
    assert compare(baseline[baseline["dataset"] != "se"]).table.learners == ("mean", "svm")


def test_a_single_score_of_every_learner_is_refused():
    counts = pd.DataFrame({"model": ["a", "b"], "tp": [40, 45], "fn": [5, 4]})
    metrics = pd.DataFrame({"model": ["a", "b"], "accuracy": [0.9, 0.91]})
    for table in (counts, metrics):
        with pytest.raises(DataError, match="a single score does not show how much it varies"):
            compare(table)


def test_columns_without_a_name_and_values_do_not_count():
    table = pd.DataFrame(TWO).assign(x1=np.nan, **{"Unnamed: 3": np.nan})
    assert compare(table, better="higher").pairs == compare(pd.DataFrame(TWO), better="higher").pairs
