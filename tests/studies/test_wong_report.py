"""The study of k-fold and leave-one-out inference: counts, tables, figures, simulated claims."""

import warnings
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest, norm, ttest_rel
from scipy.stats import t as student
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.jobs import isolation
from foldshift.engine.storage.score_files import write_rows
from foldshift.engine.study.declare import key
from foldshift.evaluation.cross_validate import evaluate_folds
from foldshift.inference.simulation.repeated_model import by_fold, simulate_repeated
from foldshift.inference.simulation.source_models import simulate_losses
from foldshift.inference.simulation.wong_claims import dropping_bias, repetition
from foldshift.learners import LDAClassifier, NNClassifier
from foldshift.reporting.table_grid import to_csv, to_html, to_tex
from foldshift.studies.wong_2015 import claim_tables, compare, figures, tables
from foldshift.studies.wong_2015 import worked_examples as examples
from foldshift.studies.wong_2015.accuracy_rows import CORRECT, FOLDS, PAIRS, read_folds, read_pairs, read_rows
from foldshift.studies.wong_2015.claim_tables import QUANTITIES, claims_grid, claims_table
from foldshift.studies.wong_2015.correct_counts import (
    TESTS,
    agreement_table,
    comparisons_table,
    intervals_table,
    ranks_table,
    repetitions_table,
)
from foldshift.studies.wong_2015.figures import draw_intervals, draw_ranks, draw_repetitions, draw_sigma_share
from foldshift.studies.wong_2015.measures import measure_claims, measure_counts
from foldshift.studies.wong_2015.study import STUDY
from foldshift.studies.wong_2015.tables import agreement_grid, comparisons_grid, intervals_grid, ranks_grid, repetitions_grid
from foldshift.studies.wong_2015.worked_examples import examples_grid, examples_table, textbooks_table

COUNTS = PAIRS[-4:]
NO_LIMITS = {"minutes": None, "memory_mb": None}
LEARNERS = {
    "1NN": {"import": "foldshift.learners.NNClassifier", "params": {"n_neighbors": 1}, "nominal": "native"},
    "LDA": {"import": "foldshift.learners.LDAClassifier", "params": {}, "nominal": "one_hot"},
}
RINGS = replace(draw_population("circles", 47, np.random.default_rng(1)), name="rings")
RIGHT = {  # correct predictions of 2 repetitions of 4 folds of 10 rows
    "good": [[9, 10, 8, 9], [9, 9, 9, 8]],
    "bad": [[5, 6, 5, 7], [6, 5, 6, 7]],
}
TOTALS = {"good": 36, "bad": 23}  # of leave-one-out


@pytest.fixture
def count(tmp_path):
    """Count on 47 rows; return both tables as they are read from their files."""
    write_prepared(tmp_path / "rings.npz", RINGS)

    def run(learners, max_rows=None, limits=NO_LIMITS, n_seeds=3, n_folds=(3, 5), pieces=None):
        inputs = SimpleNamespace(data=tmp_path / "rings.npz")
        whole = (list(learners), [*map(str, n_folds), "loo"], f"0-{n_seeds - 1}")
        paths = {"folds": [], "correct": []}
        for names, schemes, block in pieces or [whole]:
            chosen = {name: learners[name] for name in names}
            cell = {"schemes": "+".join(schemes), "block": block}
            rows = measure_counts.count_correct(
                inputs, cell, learners=chosen, max_rows=max_rows or {}, master_seed=1, limits=limits
            )
            for kind, path in written(tmp_path, f"{'+'.join(names)}_{schemes}_{block}", rows, measure_counts.SCHEMAS).items():
                paths[kind].append(path)
        settings = {"datasets": ["rings"], "learners": list(learners), "n_folds": list(n_folds)}
        return read_folds(paths["folds"], settings), read_pairs(paths["correct"], settings)

    return run


def written(folder, name, rows, schemas):
    """Paths of the files of all kinds of rows."""
    paths = {kind: folder / f"{name}_{kind}.parquet" for kind in rows}
    for kind, path in paths.items():
        write_rows(path, rows[kind] or {column: [] for column in schemas[kind].names}, schemas[kind])
    return paths


def declared(name):
    """Keys of the items that the study declares for one job."""
    return [key(item) for items in STUDY.items if items.name == name for item in items.items]


def frames(right=RIGHT, totals=TOTALS, dataset="a", size=10):
    """Rows as the measuring script writes them; of both right as many as can be."""
    folds, pairs = [], []
    for learner in right:
        for repetition_, counts in enumerate(right[learner]):
            for fold, count in enumerate(counts):
                status = ("failed", "ValueError: no") if np.isnan(count) else ("ok", "")
                folds.append((dataset, learner, len(counts), repetition_, fold, count, size, *status))
        n = size * len(right[learner][0])
        status = ("timeout", "too long") if np.isnan(totals[learner]) else ("ok", "")
        folds.append((dataset, learner, 0, 0, -1, totals[learner], n, *status))
    for a, b in combinations(right, 2):
        for k, sum_a, sum_b in [(len(right[a][0]), sum(right[a][0]), sum(right[b][0])), (0, totals[a], totals[b])]:
            both = min(sum_a, sum_b) - 2  # two rows that only the worse one gets right
            pairs.append((dataset, a, b, k, both, sum_a - both, sum_b - both, n - sum_a - sum_b + both))
    return pd.DataFrame(folds, columns=FOLDS), pd.DataFrame(pairs, columns=PAIRS)


def several(n_datasets=3, right=RIGHT, totals=TOTALS):
    parts = [frames(right, totals, dataset) for dataset in "abcdefgh"[:n_datasets]]
    return tuple(pd.concat(tables, ignore_index=True) for tables in zip(*parts))


def with_nothing(value, places):
    """RIGHT of the worse learner with NaN in some (repetition, fold), or everywhere."""
    lost = np.array(RIGHT["bad"], dtype=float)
    lost[places] = value
    return {"good": RIGHT["good"], "bad": lost.tolist()}


# Counting


def test_counts_are_those_of_plain_fits_and_folds_differ_by_one_row_at_most(count):
    folds, pairs = count(LEARNERS)
    assert (folds["status"] == "ok").all() and len(folds) == 2 * (3 * (3 + 5) + 1)
    sizes = folds[folds["k"] > 0].groupby(["learner", "k", "repetition"])["n_test"]
    assert (sizes.sum() == 47).all() and (sizes.max() - sizes.min() == 1).all()
    cut = measure_counts.cut(RINGS, 5, range(3), 1)
    right = {}
    for name, estimator in (("1NN", NNClassifier(n_neighbors=1)), ("LDA", LDAClassifier())):
        right[name] = evaluate_folds(estimator, RINGS.X, RINGS.y, cut, shared=False) == RINGS.y
        expected = [np.bincount(row, weights=correct) for row, correct in zip(cut, right[name])]
        np.testing.assert_array_equal(_counts(folds, name, 5), expected)
        alone = cross_val_predict(estimator, RINGS.X, RINGS.y, cv=LeaveOneOut())
        row = folds[(folds["learner"] == name) & (folds["k"] == 0)].iloc[0]
        assert (row["fold"], row["repetition"], row["n_test"], row["n_correct"]) == (-1, 0, 47, (alone == RINGS.y).sum())
    part = pairs[pairs["k"] == 5]
    for name, counted in {
        "both": right["1NN"] & right["LDA"],
        "only_a": right["1NN"] & ~right["LDA"],
        "only_b": ~right["1NN"] & right["LDA"],
        "neither": ~right["1NN"] & ~right["LDA"],
    }.items():
        assert part[name].tolist() == counted[:1].sum(axis=1).tolist()
    assert pairs["k"].tolist() == [3, 5, 0] and (pairs[list(COUNTS)].sum(axis=1) == 47).all()


def test_fewer_repetitions_are_the_first_of_more_and_learners_do_not_change_each_other(count):
    more, _ = count(LEARNERS)
    fewer, pairs = count({"LDA": LEARNERS["LDA"]}, n_seeds=2, n_folds=[5])
    expected = more[(more["learner"] == "LDA") & more["k"].isin([0, 5]) & (more["repetition"] < 2)].reset_index(drop=True)
    pd.testing.assert_frame_equal(fewer, expected)
    assert pairs.empty


def test_rows_do_not_depend_on_how_the_work_was_cut(count):
    pieces = [
        (["LDA"], ["5"], "0-1"),
        (["1NN"], ["5", "loo"], "2-2"),
        (["LDA", "1NN"], ["3", "loo"], "0-2"),
        (["LDA"], ["5", "loo"], "2-2"),
        (["1NN"], ["5"], "0-1"),
    ]
    for whole, joined in zip(count(LEARNERS), count(LEARNERS, pieces=pieces)):
        pd.testing.assert_frame_equal(whole, joined)


def _counts(folds, learner, k):
    part = folds[(folds["learner"] == learner) & (folds["k"] == k)]
    return part["n_correct"].to_numpy().reshape(-1, k)


def test_folds_take_no_account_of_classes():
    shuffled = replace(RINGS, y=np.random.default_rng(0).permutation(RINGS.y))
    sizes = []
    for data in (RINGS, shuffled):
        cut = measure_counts.cut(data, 5, range(400), 1)
        sizes.append(np.var([np.bincount(row[data.y == 1], minlength=5) for row in cut]))
    n_one = (RINGS.y == 1).sum()
    assert sizes == pytest.approx([n_one / 47 * (1 - n_one / 47) * 47 / 5 * (1 - (47 / 5 - 1) / 46)] * 2, rel=0.1)


def test_a_fit_that_fails_costs_its_fold_and_the_pairs_of_its_repetition(count, tmp_path):
    bad = {"import": "misbehaving.Misbehaving", "params": {"once": str(tmp_path / "once")}, "nominal": "codes"}
    folds, pairs = count({"1NN": LEARNERS["1NN"], "bad": bad})
    lost = folds[folds["n_correct"].isna()]
    assert lost[["learner", "k", "repetition", "fold", "status"]].to_numpy().tolist() == [["bad", 3, 0, 0, "failed"]]
    assert "not in the mood" in lost["message"].iloc[0] and lost["n_test"].iloc[0] == 16
    missing = pairs[pairs["both"].isna()]
    assert missing["k"].tolist() == [3] and missing[list(COUNTS)].isna().all(axis=None)


@pytest.mark.skipif(not isolation.can_isolate(), reason="cells are isolated on Linux only")
def test_a_learner_that_kills_its_process_is_rows_of_nan_with_a_message(count):
    bad = {"import": "misbehaving.Misbehaving", "params": {"way": "kill"}, "nominal": "codes"}
    folds, pairs = count({"1NN": LEARNERS["1NN"], "bad": bad}, n_folds=[3])
    part = folds[folds["learner"] == "bad"]
    assert part["n_correct"].isna().all() and (part["status"] == "failed").all() and len(part) == 3 * 3 + 1
    assert part["message"].str.contains("SIGKILL").all() and pairs["both"].isna().all()
    assert folds[folds["learner"] == "1NN"]["n_correct"].notna().all()


def test_a_learner_is_left_out_of_data_sets_that_are_too_large_for_it(count):
    folds, pairs = count(LEARNERS, max_rows={"1NN": 46})
    assert set(folds["learner"]) == {"LDA"} and pairs.empty
    folds, pairs = count(LEARNERS, max_rows={"1NN": 47})
    assert set(folds["learner"]) == {"1NN", "LDA"} and len(pairs) == 3
    folds, pairs = count(LEARNERS, max_rows=dict.fromkeys(LEARNERS, 10))
    assert folds.empty and pairs.empty


# Tables


def test_the_examples_are_those_of_the_specification():
    table = examples_table().set_index(["example", "item"])
    for item, printed, paper, corrected, agrees in (
        ("mean, data set", "0.76", 30.4, 0.76, "no"),
        ("variance, data set", ".000912", 0.000912, 0.000912, "yes"),
        ("standard error, data set", "0.030", 0.030199, 0.030199, "yes"),
        ("lower limit 95 %, data set", "-", 0.7008, 0.7008, ""),
        ("upper limit 95 %, data set", "-", 0.8192, 0.8192, ""),
        ("variance, folds", "0.0007", 0.00175, 0.00175, "no"),
        ("standard error, folds", "0.012", 0.018708, 0.018708, "no"),
        ("lower limit 95 %, folds", "-", 0.7081, 0.7081, ""),
        ("upper limit 95 %, folds", "-", 0.8119, 0.8119, ""),
    ):
        row = table.loc[("Example 1", item)]
        assert (row["printed"], row["agrees"]) == (printed, agrees)
        assert [float(row["paper"]), float(row["corrected"])] == pytest.approx([paper, corrected], abs=5e-5)
    second = table.loc["Example 2"]
    assert float(second.loc["z, independent", "corrected"]) == pytest.approx(-0.73621, abs=5e-6)
    assert second.loc["z, independent", "agrees"] == "yes"
    assert second.loc["frequencies of -1, 0, +1", "corrected"] == "10, 84, 6"
    assert second.loc["frequencies of -1, 0, +1", "paper"].startswith("refused: ")
    assert [second.loc[item, "corrected"] for item in ("s^2", "t, matched", "McNemar z")] == ["0.16", "-1", "-1"]
    assert float(second.loc["s^2 of the printed frequencies, squared", "corrected"]) == pytest.approx(0.56404, abs=5e-6)
    assert float(second.loc["McNemar exact p", "corrected"]) == pytest.approx(0.4545, abs=5e-5)
    assert (table.loc["Section 2", "agrees"] == "yes").all() and (table.loc["Section 4.3.2", "agrees"] == "yes").all()
    grid = examples_grid(examples_table())
    cells = {row[0]: row for row in grid.rows if len(row) > 1}
    assert cells["variance, folds"][3].text == "0.00175" and cells["variance, folds"][3].bold
    assert not cells["variance, data set"][3].bold
    assert len(textbooks_table()) == 6 and set(textbooks_table()["leave_one_out"]) == {"-"}


def test_intervals_are_the_textbooks():
    folds, _ = frames()
    table = intervals_table(folds, 0.95).set_index(["learner", "k"])
    row, z = table.loc[("bad", 4)], norm.ppf(0.975)
    p = np.array([5, 6, 5, 7]) / 10
    error = np.sqrt(0.575 * 0.425 / 40)
    assert row["n"] == 40 and row["accuracy"] == 0.575
    assert [row["dataset_low"], row["dataset_high"]] == pytest.approx([0.575 - z * error, 0.575 + z * error])
    half = student.ppf(0.975, 3) * p.std(ddof=1) / 2
    assert [row["fold_low"], row["fold_high"]] == pytest.approx([0.575 - half, 0.575 + half])
    wilson = binomtest(23, 40).proportion_ci(method="wilson")
    assert [row["wilson_low"], row["wilson_high"]] == pytest.approx([wilson.low, wilson.high])
    every = np.array(RIGHT["bad"]).ravel() / 10
    half = student.ppf(0.975, 7) * np.sqrt(every.var(ddof=1) * (1 / 8 + 1 / 3))
    assert [row["corrected_low"], row["corrected_high"]] == pytest.approx([every.mean() - half, every.mean() + half])
    assert row["repeated_accuracy"] == pytest.approx(every.mean()) and row["n_repetitions"] == 2
    assert row["n_small"] == 2 and not row["large_sample"]  # folds of 6 and 7 have too few wrong
    loo = table.loc[("bad", 0)]
    assert loo["large_sample"] and loo["dataset_low"] == pytest.approx(0.575 - z * error)
    assert loo[["fold_low", "fold_high", "corrected_low", "corrected_high", "repeated_accuracy"]].isna().all()
    assert not table.loc[("good", 0), "large_sample"]  # 36 of 40


def test_lost_folds_leave_out_what_rests_on_them_and_nothing_else():
    folds, pairs = frames(with_nothing(np.nan, (0, 1)), TOTALS | {"bad": np.nan})
    table = intervals_table(folds, 0.95).set_index(["learner", "k"])
    row = table.loc[("bad", 4)]
    assert row[["accuracy", "dataset_low", "fold_low", "wilson_low", "n_small"]].isna().all()
    assert row["n_repetitions"] == 1 and row["n_failed"] == 1 and row["message"] == "ValueError: no"
    assert row["repeated_accuracy"] == pytest.approx(0.6) and row["corrected_low"] < 0.6
    assert np.isnan(table.loc[("bad", 0), "accuracy"]) and table.loc[("bad", 0), "message"] == "too long"
    text = to_html(intervals_grid(table.reset_index()))
    assert "2 fits were lost" in text and "nan" not in text
    tests = comparisons_table(folds, pairs, 0.95)
    found = tests[tests["p_value"].notna()]
    assert found[["k", "test"]].to_numpy().tolist() == [[4, "Nadeau-Bengio"]]
    assert len(tests) == 8 and tests.loc[tests["p_value"].isna(), "rejects"].isna().all()
    assert "nan" not in to_html(comparisons_grid(tests, 0.95))
    repeated = repetitions_table(folds).set_index("learner")
    assert np.isnan(repeated.loc["bad", "rho"]) and "two partitions" in repeated.loc["bad", "note"]
    assert repeated.loc["good", "rho"] == repeated.loc["good", "rho"] and "nan" not in to_html(
        repetitions_grid(repeated.reset_index())
    )
    nothing, nobody = frames(with_nothing(np.nan, slice(None)), dict.fromkeys(TOTALS, np.nan))
    tests = comparisons_table(nothing, nobody, 0.95)
    assert tests["p_value"].isna().all()
    shares = agreement_table(tests, 0.95)
    assert (shares["n"] == 0).all() and shares["disagree_percent"].isna().all() and "nan" not in to_html(agreement_grid(shares))


def test_comparisons_are_the_textbooks():
    folds, pairs = frames()
    table = comparisons_table(folds, pairs, 0.95)
    assert len(table) == len(TESTS)
    cell = table.set_index(["k", "test", "formula"])
    a, b = (np.array(RIGHT[name]) / 10 for name in ("good", "bad"))
    oracle = ttest_rel(a[0], b[0])
    row = cell.loc[(4, "matched t over folds", "paper")]
    assert [row["statistic"], row["df"], row["p_value"]] == pytest.approx([oracle.statistic, 3, oracle.pvalue])
    d = (a - b).ravel()
    t = d.mean() / np.sqrt(d.var(ddof=1) * (1 / 8 + 1 / 3))
    row = cell.loc[(4, "Nadeau-Bengio", "corrected")]
    assert [row["difference"], row["statistic"], row["p_value"]] == pytest.approx([d.mean(), t, 2 * student.sf(t, 7)])
    only_a, only_b = 36 - 23 + 2, 2
    for k in (4, 0):
        row = cell.loc[(k, "McNemar", "exact")]
        assert row["p_value"] == pytest.approx(binomtest(only_a, only_a + only_b).pvalue)
        row = cell.loc[(k, "independent z", "paper")]
        p = (36 + 23) / 80
        assert row["statistic"] == pytest.approx((36 - 23) / 40 / np.sqrt(2 * p * (1 - p) / 40))
        both, neither = 21, 2
        phi = (both * neither - only_a * only_b) / np.sqrt(36 * 4 * 23 * 17)
        assert row["phi"] == pytest.approx(phi)
    y = np.repeat([1, -1, 0], [only_a, only_b, 23])
    t = y.mean() / np.sqrt(y.var(ddof=1) / 40)
    row = cell.loc[(0, "matched t over instances", "corrected")]
    assert [row["difference"], row["statistic"], row["df"]] == pytest.approx([13 / 40, t, 39]) and row["rejects"]
    row = cell.loc[(0, "matched t over instances", "paper")]
    assert np.isinf(row["statistic"]) and row["p_value"] == 0
    text = to_html(comparisons_grid(table, 0.95))
    assert "in 2 of 2 comparisons; its median is 0.05" in text and "good - bad" in text


def test_agreement_counts_rejections_and_disagreements():
    keys = {"learner_a": "x", "learner_b": "y"}
    p_values = {  # on four data sets
        ("matched t over folds", "paper", 5): (0.01, 0.01, 0.2, 0.05),
        ("Nadeau-Bengio", "corrected", 5): (0.01, 0.2, 0.01, np.nan),
        ("McNemar", "exact", 0): (0.2, 0.2, 0.2, 0.2),
    }
    rows = [
        keys | {"dataset": i, "k": k, "test": test, "formula": formula, "p_value": p}
        for (test, formula, k), values in p_values.items()
        for i, p in enumerate(values)
    ]
    table = agreement_table(pd.DataFrame(rows), 0.95).set_index(["test_a", "test_b"])
    t, corrected, loo = (TESTS[test, formula, k == 0] for test, formula, k in p_values)
    columns = ["n", "rejects_a", "rejects_b", "only_a", "only_b", "disagree_percent"]
    assert table.loc[(t, corrected), columns].tolist() == [3, 2, 2, 1, 1, pytest.approx(200 / 3)]
    assert table.loc[(corrected, t), columns].tolist() == [3, 2, 2, 1, 1, pytest.approx(200 / 3)]
    assert table.loc[(t, loo), columns].tolist() == [4, 3, 0, 3, 0, 75]  # .05 rejects at .05
    assert table.loc[(t, t), columns].tolist() == [4, 3, 3, 0, 0, 0]
    assert table.loc[(t, TESTS["McNemar", "exact", False]), "n"] == 0 and set(table["k"]) == {5}
    grid = agreement_grid(table.reset_index())
    assert grid.rows[1][1].text == "4" and grid.rows[1][2].text == "75.0" and grid.rows[1][4].text == "66.7"


def test_repetitions_follow_from_the_variance_between_partitions():
    folds, _ = frames()
    table = repetitions_table(folds).set_index("learner")
    assert list(table["k"]) == [4, 4]
    scores = np.array(RIGHT["bad"]) / 10
    between, fixed = scores.mean(axis=1).var(ddof=1), scores.var(axis=1, ddof=1).mean() / 4
    row = table.loc["bad"]
    names = ["partition_variance", "fixed_variance", "rho"]
    assert [row[name] for name in names] == pytest.approx([between, fixed, fixed / (between + fixed)])
    assert row["ratio_10"] == pytest.approx((1 + 9 * row["rho"]) / 10) and row["most_gain"] == pytest.approx(1 - row["rho"])
    assert np.isnan(row["repetitions"]) and "2 repetitions do not tell" in row["note"]
    more = [*RIGHT["bad"], *RIGHT["bad"][::-1], [5, 5, 5, 6]]
    told = repetitions_table(frames({"bad": more}, {"bad": 30})[0]).set_index("learner").loc["bad"]
    assert told["repetitions"] > told["plug_in"] >= 1 and told["note"] == ""


def test_ranks_rest_on_data_sets_that_all_learners_have():
    folds, _ = several(4)
    third = {"good": RIGHT["good"], "bad": RIGHT["bad"], "third": RIGHT["bad"]}
    more = pd.concat([folds[folds["dataset"] != "a"], frames(third, TOTALS | {"third": 30}, "a")[0]], ignore_index=True)
    table, result = ranks_table(intervals_table(folds, 0.95), 0.95)
    assert table["learner"].tolist() == ["good", "bad"] and table["average_rank"].tolist() == [1, 2]
    assert table["mean_accuracy"].tolist() == [0.9, 0.575] and (table["n_datasets"] == 4).all()
    # four data sets cannot tell two learners apart: the sign test's smallest p is 1/8
    assert table["critical_difference"].iloc[0] == np.inf and table["groups"].tolist() == ["a", "a"]
    assert table["p_chi2"].iloc[0] == table["p_from_best"].iloc[1] == 0.125
    note = ranks_grid(table).notes[0]
    assert result.n_blocks == 4 and "4 data sets" in note and "no difference of average ranks can reach the level" in note
    one, nobody = ranks_table(intervals_table(more, 0.95), 0.95)  # the third has one data set, which is too few
    assert one.empty and nobody is None and "Fewer than two" in to_html(ranks_grid(one))
    never = frames(third, TOTALS | {"third": np.nan}, "a")[0]
    table, _ = ranks_table(intervals_table(pd.concat([folds[folds["dataset"] != "a"], never]), 0.95), 0.95)
    assert table["learner"].tolist() == ["good", "bad"]  # one without any result is not waited for


def test_tables_without_pairs_say_so():
    folds, pairs = frames({"good": RIGHT["good"]})
    table = comparisons_table(folds, pairs, 0.95)
    shares = agreement_table(table, 0.95)
    assert table.empty and shares.empty
    for grid in (comparisons_grid(table, 0.95), agreement_grid(shares)):
        assert "no two classifiers" in to_html(grid)


def test_tables_and_figures_are_made_without_a_warning(tmp_path):
    totals = {"a": TOTALS | {"bad": np.nan}, "b": TOTALS, "c": TOTALS}
    rights = {"a": with_nothing(np.nan, (0, 1)), "b": RIGHT, "c": RIGHT}
    paths = {"folds": [], "correct": []}
    for i, name in enumerate(totals):
        folds, _ = frames(rights[name], totals[name], name)
        correct = [
            (name, learner, k, 40, None if np.isnan(total) else np.packbits(np.arange(40) < total).tobytes())
            for learner in RIGHT
            for k, total in ((4, np.sum(rights[name][learner][0])), (0, totals[name][learner]))
        ]
        rows = {"folds": [folds.to_dict("list")], "correct": [pd.DataFrame(correct, columns=CORRECT).to_dict("list")]}
        for kind, path in written(tmp_path, i, rows, measure_counts.SCHEMAS).items():
            paths[kind].append(path)
    settings = {"level": 0.95, "datasets": list(totals), "learners": ["bad", "good"], "n_folds": [4]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        made = tables.intervals(SimpleNamespace(**paths), settings)
        drawn = figures.figures(SimpleNamespace(folds=paths["folds"], claims=[], audit=[]), settings)
    assert sorted(made) == sorted(declared("intervals"))
    assert set(drawn) == set(declared("figures")) - {"sigma_share (figure)", "audit (figure)"}
    assert all(to_html(shown.grid) and to_tex(shown.grid) for shown in made.values())
    assert len(made["intervals"].frame) == 3 * 2 * 2 and len(made["average_ranks"].frame) == 2


def test_worked_examples_and_textbooks_need_no_rows():
    made = examples.examples(None, {}) | compare.paper_vs_ours(None, {})
    assert list(made) == declared("examples") + declared("compare")
    assert "0.00175" in to_csv(made["examples"].frame) and "Alpaydin" in to_tex(made["table1_textbooks"].grid)
    assert "printed numbers have one of ours beside them" in made["paper_vs_ours"].grid.notes[0]


def test_figures_without_results_are_sentences():
    folds, _ = frames()
    assert draw_intervals(intervals_table(folds, 0.95), "1NN", 0.95).reason == "no data set has results of 1NN"
    assert draw_ranks(None).figure is None and "fewer than two" in draw_ranks(None).reason
    lost = repetitions_table(frames(with_nothing(np.nan, slice(None)))[0])
    figure = draw_repetitions(lost[lost["learner"] == "bad"])
    assert "no result to draw" in _texts(figure)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "10 repetitions, as in the tables" in names  # every line has a name


def _texts(figure):
    return [text.get_text() for axis in figure.axes for text in axis.texts]


def test_the_forest_plot_shows_the_three_intervals():
    folds, _ = several(3)
    figure = draw_intervals(intervals_table(folds, 0.95), "bad", 0.95)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["leave-one-out, data set (z)", "4 folds, data set (z)", "4 folds, folds (t)"]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["a", "b", "c"]
    points = [container.lines[0].get_xdata() for container in figure.axes[0].containers]
    assert [list(x) for x in points] == [pytest.approx([0.575] * 3)] * 3


# Claims


def test_one_repetition_is_the_other_simulator():
    simulated = simulate_repeated("stump", 5, 4, 40, 1, np.random.default_rng(3))
    expected = simulate_losses("stump", 5, 4, 40, np.random.default_rng(3), design="cvr").cvr
    found = by_fold(simulated.losses[:, 0], simulated.folds[:, 0], 5)  # in the order of the rows, the other in that of the cut
    np.testing.assert_array_equal(np.sort(found, axis=2), np.sort(expected, axis=2))
    assert (np.sort(simulated.folds, axis=2) == np.repeat(np.arange(5), 4)).all()


def test_more_data_sets_begin_with_fewer_and_the_other_rule_differs():
    few, more = (simulate_repeated("highdim", 4, 4, n, 3, np.random.default_rng(3)) for n in (5, 9))
    for a, b in zip(few, more):
        np.testing.assert_array_equal(a, b[:5])
    assert (more.losses[:, 0] != more.losses[:, 1]).any() and (more.losses[:, 0] != more.other).any()
    stump, centroid = (simulate_repeated(model, 10, 10, 300, 1, np.random.default_rng(1)) for model in ("stump", "centroid"))
    assert stump.other.mean() < stump.losses.mean() - 0.05 and centroid.other.mean() > centroid.losses.mean() + 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree", 5, 4, 2, 2), "model='tree' must be 'centroid', 'stump' or 'highdim'"),
        (("stump", 1, 4, 2, 2), "K=1 must be at least 2"),
        (("stump", 5, 3, 2, 2), "M=3 must be even, as for simulate_losses"),
        (("stump", 5, 4, 2, 0), "n_repetitions=0 must be at least 1"),
    ],
)
def test_a_simulation_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate_repeated(*arguments, np.random.default_rng(0))


def test_repeating_the_stump_meets_the_specification():
    measured = repetition(simulate_repeated("stump", 10, 10, 2000, 10, np.random.default_rng(11)).losses)
    for quantity, expected in (("variance_ratio", 0.830), ("rho", 0.812)):
        value, error = measured[quantity]
        assert error < 0.01 and abs(value - expected) < 3 * error


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Rows of two models, few data sets."""
    folder = tmp_path_factory.mktemp("claims")
    paths = []
    for model in ("centroid", "stump"):
        rows = measure_claims.simulate_claims(None, {"model": model}, n_simulations=200, level=0.95, master_seed=1)
        paths.append(written(folder, model, rows, measure_claims.SCHEMAS)["claims"])
    return paths


def test_claims_are_judged(simulated):
    rows = pd.concat([pq.read_table(path).to_pandas() for path in simulated])
    assert set(rows["claim"]) == set(QUANTITIES)
    stump = rows[(rows["model"] == "stump") & (rows["n_points"] == 10) & (rows["n_folds"] == 10)].set_index(["claim", "quantity"])
    assert stump.loc[("fold_independence", "sigma_share"), "value"] == pytest.approx(0.52, abs=0.2)
    assert stump.loc[("fold_independence", "sigma_share"), "expected"] == 0.52
    assert stump.loc[("repetition", "rho"), "expected"] == 0.812 and np.isnan(stump.loc[("repetition", "coverage_1"), "expected"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        made = claim_tables.claims(SimpleNamespace(rows=simulated), {"level": 0.95})
        draw_sigma_share(read_rows(simulated, claim_tables.COLUMNS), 0.95)
    assert list(made) == declared("claims")
    table, grid = made["claims"].frame, made["claims"].grid
    exact = table[(table["claim"] == "dropping_bias") & (table["standard_error"] == 0) & (table["quantity"] == "bias")]
    assert exact["value"].tolist() == pytest.approx([dropping_bias(p, m, 10).bias for p, m in ((0.95, 100), (0.90, 40))])
    assert exact["value"].tolist() == pytest.approx([-0.0151, -0.0499], abs=1e-4) and (exact["verdict"] == "refuted").all()
    schemes = table[(table["claim"] == "scheme_independence") & (table["model"] == "stump")].set_index("quantity")
    assert (
        schemes.loc["phi", "verdict"] == "refuted" and (schemes["verdict"] != "").sum() == 1 + 4
    )  # the rest has other causes too
    assert schemes.loc["independent_ratio", "value"] > schemes.loc["matched_ratio", "value"]
    text = to_html(grid)
    assert "Refuted on centroid; stump; binomial folds" in text or "Refuted on centroid; binomial folds" in text
    assert "nan" not in text and "\\textbf" in to_tex(grid)


def test_a_claim_is_refuted_beyond_three_standard_errors_only():
    rows = []
    for model, value in (("a", 0.971), ("b", 0.969), ("c", np.nan)):
        rows.append((model, "repetition", 10, 10, "variance_ratio", value, 0.01, np.nan))
    table = claims_table(pd.DataFrame(rows, columns=claim_tables.COLUMNS), 0.95)
    verdicts = table[table["claim"] == "repetition"].set_index("model")["verdict"]
    assert verdicts.tolist() == ["not refuted", "refuted", ""]
    assert "Refuted on b." in to_html(claims_grid(table)) and "Claimed" in to_tex(claims_grid(table))


def test_dropping_folds_biases_as_the_binomial_says():
    rng = np.random.default_rng(4)
    losses = rng.random((4000, 10, 50)) < 0.1
    measured = measure_claims.dropping(losses, 0.95)
    value, error = measured["bias"]
    assert value < -10 * error < 0 and value == pytest.approx(dropping_bias(0.9, 50, 10).bias, abs=4 * error)
    assert measured["accuracy"].value == pytest.approx(0.9, abs=0.002)


def test_the_figure_of_shares_has_a_mark_for_every_model_and_setting(simulated):
    rows = pd.concat([pq.read_table(path).to_pandas() for path in simulated])
    figure = draw_sigma_share(rows, 0.95)
    for axis in figure.axes:
        marks = [line for line in axis.lines if line.get_marker() in ("o", "s") and len(line.get_xdata()) == 1]
        assert len(marks) == 2 * 4
    assert len(figure.legends[0].get_texts()) == 2 + 2 + 4
