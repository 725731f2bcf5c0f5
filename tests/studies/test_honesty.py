"""The tables of the study on honest cuts, on rows of which everything is known, and its measure on a small population."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from foldshift.core.seeding import seed_sequence
from foldshift.reporting.table_grid import to_html
from foldshift.shift.measures.covariates import fold_ks_attributes
from foldshift.studies.foldshift_2026.bias_tables import (
    ANSWER,
    CLAIMS,
    FAILS,
    HOLDS,
    LEDGER,
    MEASURES,
    OPEN,
    answer,
    by_folds,
    by_learner,
    by_population,
    honesty_table,
    ledger,
    whole_samples,
)
from foldshift.studies.foldshift_2026.compare_draws import pooled
from foldshift.studies.foldshift_2026.cuts_and_methods import METHODS, n_fits
from foldshift.studies.foldshift_2026.interval_tables import COLUMNS, methods_table
from foldshift.studies.foldshift_2026.interval_tables import methods as tables_of_methods
from foldshift.studies.foldshift_2026.measure import SCHEMAS, cross_validate
from foldshift.studies.foldshift_2026.measure_methods import KEYS as METHOD_KEYS
from foldshift.studies.foldshift_2026.measure_methods import SCHEMAS as METHOD_SCHEMAS
from foldshift.studies.foldshift_2026.measure_methods import measure_methods
from foldshift.studies.foldshift_2026.partitioners import N_DRAWN, cut_sample, fits
from foldshift.studies.foldshift_2026.study import cells, learners_of
from foldshift.studies.foldshift_2026.tables import honesty

POPULATIONS = [f"population {i}" for i in range(8)]
CUTS = ["CV", "TSCV", "CB-TSCV"]
SHIFT = {"CV": 0.02, "TSCV": 0.0, "CB-TSCV": -0.02}  # of the estimate
SPREAD = {"CV": 0.04, "TSCV": 0.02, "CB-TSCV": 0.01}
TRUTH = {"a": 0.20, "b": 0.30}


def made_up(n_replicates=40, n_repetitions=3, task="regression"):
    """Estimates around the true error 0.2 (learner a) and 0.3 (b), by each cut off and scattered by a known amount."""
    rng = np.random.default_rng(0)
    rows = []
    for population, learner, replicate in itertools.product(POPULATIONS, TRUTH, range(n_replicates)):
        whole = TRUTH[learner] + 0.001 * rng.normal()
        for cut in CUTS:
            own = 0.02 * rng.normal()
            for repetition in range(n_repetitions):
                estimate = whole + SHIFT[cut] + own + SPREAD[cut] * rng.normal()
                row = {"population": population, "task": task, "learner": learner, "cut": cut, "n_sample": 100, "k": 5}
                row |= {"replicate": replicate, "repetition": repetition, "estimate": estimate, "estimate_micro": estimate}
                row |= {"variance": 0.1, "W": 0.1, "S2": 0.005, "K": 5, "M": 20}
                rows.append(row | {"truth_parts": whole + 0.01, "truth_whole": whole})
    return pd.DataFrame(rows)


ROWS = made_up()


def of_populations(rows):
    return by_population(by_learner(rows), rows)


def test_bias_spread_and_error_are_those_that_the_rows_were_made_with():
    table = honesty_table(of_populations(ROWS), CUTS).set_index("cut")
    mean_truth = np.mean([1 / truth for truth in TRUTH.values()])  # per cent of each learner's error, then their mean
    for cut in CUTS:
        for measure, expected in (
            ("bias_whole", SHIFT[cut]),
            ("bias_models", SHIFT[cut] - 0.01),
            ("bias_training", SHIFT[cut] - 0.01),
            ("spread", SPREAD[cut]),
            ("error_one", np.sqrt(SHIFT[cut] ** 2 + 0.02**2 + SPREAD[cut] ** 2)),
            ("error_ten", np.sqrt(SHIFT[cut] ** 2 + 0.02**2 + SPREAD[cut] ** 2 / 10)),
        ):
            assert table.loc[cut, measure] == pytest.approx(100 * expected * mean_truth, abs=0.8), (cut, measure)
            assert table.loc[cut, f"{measure}_error"] < 1
    assert (table["n_populations"] == len(POPULATIONS)).all()
    assert table.loc["CV", "bias_whole_vs":"bias_whole_vs_error"].isna().all()
    assert table.loc["TSCV", "bias_whole_vs"] == pytest.approx(-100 * 0.02 * mean_truth, abs=0.8)
    assert (table["choice"] > 0.9).all() and table.loc["CB-TSCV", "choice"] > table.loc["CV", "choice"]


def test_the_unit_of_the_error_is_the_population():
    populations = of_populations(ROWS)
    table = honesty_table(populations, CUTS).set_index("cut")
    own = populations[populations["cut"] == "TSCV"]["bias_whole"]
    assert table.loc["TSCV", "bias_whole_error"] == pytest.approx(own.std(ddof=1) / np.sqrt(8))
    twice = pd.concat([ROWS, ROWS.assign(learner=ROWS["learner"] + "'")])
    again = honesty_table(of_populations(twice), CUTS).set_index("cut")
    assert again.loc["TSCV", "bias_whole_error"] == pytest.approx(table.loc["TSCV", "bias_whole_error"])


def test_a_sample_that_failed_with_one_cut_is_left_out_for_all():
    rows = ROWS.copy()
    where = (rows["population"] == POPULATIONS[0]) & (rows["learner"] == "a") & (rows["replicate"] == 7)
    rows.loc[rows.index[where & (rows["cut"] == "TSCV")][:1], "estimate"] = np.nan
    good = whole_samples(rows)
    assert len(rows) - len(good) == where.sum() == len(CUTS) * 3


def test_the_ledger_says_what_was_borne_out_and_corrects_for_the_number_of_claims():
    table = ledger(of_populations(ROWS)).set_index(["claim", "task"])
    assert list(table.reset_index().columns.sort_values()) == sorted(LEDGER)
    lower = table.loc[("a stratified target lowers the estimated error", "regression")]
    assert lower["verdict"] == HOLDS and lower["difference"] < 0 and lower["verdict_of_half"] == HOLDS
    assert (table["p_holm"] >= table["p_value"]).all()
    for half, own in (("difference_of_half", POPULATIONS[::2]), ("difference_of_other_half", POPULATIONS[1::2])):
        alone = ledger(of_populations(ROWS[ROWS["population"].isin(own)])).set_index(["claim", "task"])
        assert table[half].to_numpy() == pytest.approx(alone["difference"].to_numpy())
    swapped = ROWS.assign(cut=ROWS["cut"].map({"CV": "TSCV", "TSCV": "CV", "CB-TSCV": "CB-TSCV"}))
    table = ledger(of_populations(swapped)).set_index(["claim", "task"])
    assert table.loc[("a stratified target lowers the estimated error", "regression"), "verdict"] == FAILS
    same = ROWS.assign(estimate=ROWS.groupby(["population", "learner", "replicate"])["estimate"].transform("mean"))
    assert set(ledger(of_populations(same))["verdict"]) == {OPEN}


def test_the_ledger_names_populations_that_a_verdict_turns_on():
    """Of ten populations one is far off the other way: with it nothing is decided, without it all is."""
    rng = np.random.default_rng(1)
    rows = pd.concat(
        [ROWS, ROWS[ROWS["population"].isin(POPULATIONS[:2])].replace({"population": {POPULATIONS[0]: "8", POPULATIONS[1]: "9"}})]
    )
    off = (rows["population"] == "9") & (rows["cut"] == "TSCV")
    rows.loc[off, "estimate"] += 0.3 + 0.001 * rng.normal(size=off.sum())
    claim = ("a stratified target lowers the estimated error", "regression")
    table = ledger(of_populations(rows)).set_index(["claim", "task"])
    assert table.loc[claim, ["verdict", "turned_by"]].tolist() == [OPEN, "9"]
    alone = ledger(of_populations(rows[rows["population"] != "9"])).set_index(["claim", "task"])
    assert alone.loc[claim, ["verdict", "turned_by"]].tolist() == [HOLDS, ""]


def test_errors_and_spreads_are_compared_by_how_many_times_the_one_is_the_other():
    """A population with a tiny true error, and so with huge relative ones, counts as much as any other."""
    small = ROWS.copy()
    where = small["population"] == POPULATIONS[0]
    small.loc[where, "truth_whole"] -= 0.19
    small.loc[where, ["estimate", "estimate_micro", "truth_parts"]] -= 0.19
    tables = [ledger(of_populations(rows)).set_index("claim") for rows in (ROWS, small)]
    for table in tables:
        found = table.loc["a stratified target makes the estimate vary less between partitions"]
        assert found["difference"] == pytest.approx(100 * (SPREAD["TSCV"] / SPREAD["CV"] - 1), abs=4)
        assert found["verdict"] == HOLDS and found["n_populations"] == len(POPULATIONS)
    one, other = (table.loc["a stratified target brings the estimate nearer to the truth", "difference"] for table in tables)
    assert one == pytest.approx(other, abs=2)


def test_claims_on_the_number_of_folds_compare_the_random_cut_with_itself():
    share = np.where(ROWS["population"].isin(POPULATIONS[:4]), 0.5, 0.4)  # of the distance from the truth
    ten = ROWS.assign(k=10, estimate=ROWS["truth_whole"] + share * (ROWS["estimate"] - ROWS["truth_whole"]))
    two = ROWS.assign(k=2, estimate=ROWS["estimate"] + 0.1)
    table = ledger(of_populations(pd.concat([ROWS, ten, two]))).set_index(["claim", "task"])
    nearer = table.loc[("ten folds bring the estimate nearer to the truth than five", "regression")]
    assert nearer["difference"] == pytest.approx(100 * (np.sqrt(0.5 * 0.4) - 1), abs=0.01) and nearer["verdict"] == HOLDS
    assert (nearer["lower"], nearer["higher"]) == ("CV with 10 folds", "CV with 5 folds")
    assert table.loc[("two folds make the estimate too high", "regression"), "verdict"] == HOLDS
    assert "ten folds bring the estimate nearer to the truth than five" not in set(ledger(of_populations(ROWS))["claim"])


def test_draws_that_are_pooled_weigh_the_same_and_keep_their_populations():
    one = of_populations(ROWS)
    other = one.assign(error_one=one["error_one"] * np.where(one["cut"] == "TSCV", 0.5, 1.0))
    claim = "a stratified target brings the estimate nearer to the truth"
    first, second, both = (ledger(draw).set_index("claim").loc[claim] for draw in (one, other, pooled([one, other])))
    assert both["n_populations"] == len(POPULATIONS)
    ratios = [1 + row["difference"] / 100 for row in (first, second, both)]
    assert ratios[2] == pytest.approx(np.sqrt(ratios[0] * ratios[1]))
    pd.testing.assert_frame_equal(ledger(pooled([one, one])), ledger(one))


def test_two_populations_decide_nothing():
    table = ledger(of_populations(ROWS[ROWS["population"].isin(POPULATIONS[:2])]))
    assert set(table["verdict"]) == {OPEN} and table["p_value"].isna().all()


def test_claims_name_known_cuts_and_measures():
    for claim, source, task, measure, lower, higher in CLAIMS:
        assert measure in MEASURES and source and claim
        assert all(cut is None or isinstance(cut, int) or fits(cut, task) for cut in (lower, higher))


@pytest.mark.parametrize("rows", [ROWS, ROWS[ROWS["population"] == POPULATIONS[0]], ROWS[:0]], ids=["all", "one", "none"])
def test_all_items_are_made_of_many_populations_one_and_none(rows, tmp_path):
    rows.assign(estimate_micro=rows["estimate"]).to_parquet(tmp_path / "rows.parquet")
    items = honesty(SimpleNamespace(rows=[tmp_path / "rows.parquet"]), {"cuts": CUTS, "level": 0.95})
    for name in ("answer", "ledger", "by_folds", "honesty", "coverage"):
        assert "nan" not in to_html(items[name].grid).lower().replace("random", "")
    assert list(items["answer"].frame) == ["learner", *ANSWER]
    assert items["answer"].frame["learner"].tolist() == (["all", "a", "b"] if len(rows) else [])
    if len(rows) == len(ROWS):
        best = items["answer"].frame.iloc[0]
        assert best["cut"] == "TSCV" and best["decided"] == "yes" and best["k"] == 5
        assert best["repetitions"] == 10  # .02**2 / (.1 * .02**2)


def test_the_answer_counts_the_choice_of_the_best_and_calls_no_interval_held_that_was_not_shown_to():
    row = {
        "task": "regression",
        "n_sample": 100,
        "k": 5,
        "spread": 1.0,
        "error_one": 9.0,
        "n_populations": 3,
        "bias_whole": 0.5,
        "typical": 9.0,
    }
    few = [row | {"cut": "CV", "times": np.nan, "times_error": np.nan}]
    smaller = {"error_one": 6.0, "typical": 6.0, "times": -0.3, "times_error": 0.04}
    few += [row | smaller | {"cut": cut} for cut in CUTS[1:]]
    same = {"task": "regression", "n_sample": 100, "k": 5, "partitioner": "TSCV"}
    coverage = pd.DataFrame(
        [
            same | {"interval": "narrow", "coverage": 0.94, "coverage_error": 0.03, "width": 1.0},
            same | {"interval": "wide", "coverage": 0.96, "coverage_error": 0.02, "width": 2.0},
        ]
    )
    found = answer(pd.DataFrame(few), coverage, 0.95).iloc[0]
    # t = 7.5 with two degrees of freedom: p is .017, of the best of two .035.
    assert found["cut"] == "TSCV" and found["decided"] == "yes" and found["interval"] == "wide" and found["holds"] == "yes"
    more = pd.DataFrame([*few, few[-1] | {"cut": "ABA"}])
    found = answer(more, coverage[:1], 0.95).iloc[0]
    assert found["decided"] == "no" and found["nearest"] == "TSCV"
    # What was not shown to be nearer is no advice, and neither is its interval.
    assert found["cut"] == "CV" and found["error"] == 9.0 and found["interval"] == "none"
    found = answer(more, coverage[:1].assign(partitioner="CV"), 0.95).iloc[0]
    assert found["interval"] == "narrow" and found["holds"] == "not shown"
    # Of ten times as many questions, the same is not decided; what it costs to do otherwise stands beside.
    assert answer(pd.DataFrame(few), coverage, 0.95, 10).iloc[0]["decided"] == "no"
    folds = pd.DataFrame([*more.to_dict("records"), few[0] | {"k": 2, "typical": 20.0}])
    folds.loc[folds["cut"] == "ABA", "bias_whole"] = -4.0
    plain = coverage[:1].assign(partitioner="CV", interval="S2/K", coverage=0.8)
    found = answer(folds, plain, 0.95).iloc[0]
    assert (found["fewest_k"], found["fewest_error"]) == (2, 20.0)
    assert (found["lowest"], found["lowest_bias"], found["lowest_error"]) == ("ABA", -4.0, 6.0) and found["plain_coverage"] == 0.8
    two = pd.DataFrame(few).assign(n_populations=2)
    assert answer(two, coverage, 0.95).iloc[0]["decided"] == "no"


def of_numbers(X, y, task):
    return SimpleNamespace(name="made-up", X=X, y=y, task=task, categorical_features=np.zeros(X.shape[1], dtype=bool))


def test_rerandomised_cuts_are_the_most_balanced_of_some_random_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    data, rows = of_numbers(X, rng.normal(size=60), "regression"), np.arange(60)
    seeds = [seed_sequence(0, "test", i) for i in range(10)]
    chosen, plain = (cut_sample(name, data, rows, 4, seeds) for name in ("Rerandomised", "CV"))
    assert chosen.shape == (10, 60) and N_DRAWN > 1
    assert fold_ks_attributes(X, chosen).mean() < 0.9 * fold_ks_attributes(X, plain).mean()
    assert (chosen[3] == cut_sample("Rerandomised", data, rows, 4, seeds[3:4])[0]).all()


def test_a_random_cut_is_blind_to_classes():
    y = np.arange(40) // 20
    data = of_numbers(np.zeros((40, 1)), y, "classification")
    seeds = [seed_sequence(0, "test", i) for i in range(50)]
    assert fits("CV", "classification")
    shares = [np.ptp([y[folds == fold].mean() for fold in range(4)]) for folds in cut_sample("CV", data, np.arange(40), 4, seeds)]
    assert np.mean(shares) > 0.15


def test_large_samples_are_fewer_and_slow_learners_are_left_out_of_them():
    run = SimpleNamespace(
        settings={"populations": ["twonorm"], "sample_sizes": [50, 1000], "n_replicates": 20, "sampled_rows": 8000,
                  "fitted": ["1NN", "SVC"], "max_sample": {"SVC": 50}},
        catalogue={},
        blocks=lambda name, n, size: [f"{name}:{n}"],
    )  # fmt: skip
    few, many = cells(run)
    assert few["block"].endswith(":20") and many["block"].endswith(":8")
    run.settings["sampled_rows"] = 1000
    assert cells(run)[1]["block"].endswith(":5")
    assert learners_of(run, few) == ["1NN", "SVC"] and learners_of(run, many) == ["1NN"]


def test_a_population_is_measured_with_the_cuts_and_learners_that_fit():
    learners = {
        "NN": {"import": "foldshift.learners.NNRegressor", "params": {}, "tasks": ["regression"], "nominal": "codes"},
        "1NN": {"import": "foldshift.learners.NNClassifier", "params": {}, "tasks": ["classification"], "nominal": "native"},
    }
    made = cross_validate(
        SimpleNamespace(data=[]),
        {"population": "friedman_1991", "n_sample": "30", "block": "2-4"},
        folds=[3, 20],
        n_repetitions=2,
        cuts=["CV", "SCV", "CB-TSCV", "Rerandomised"],
        learners=learners,
        master_seed=0,
        limits={"minutes": None, "memory_mb": None},
    )
    rows = pd.DataFrame(made["estimates"][0])
    assert list(rows) == SCHEMAS["estimates"].names
    assert set(rows["cut"]) == {"CV", "CB-TSCV", "Rerandomised"} and set(rows["learner"]) == {"NN"} and set(rows["k"]) == {3}
    assert len(rows) == 3 * 2 * 3 and (rows["status"] == "ok").all()
    assert rows["estimate"].between(0.1, 3).all() and (rows["truth_parts"] > 0.9 * rows["truth_whole"]).mean() > 0.7
    assert rows.groupby("replicate")["truth_whole"].nunique().to_dict() == {2: 1, 3: 1, 4: 1}


def methods_of(population="friedman_1991", n_sample=40, learner="NNRegressor", block="0-4", **changes):
    spec = {
        "import": f"foldshift.learners.{learner}",
        "params": {},
        "tasks": ["regression", "classification"],
        "nominal": "codes",
    }
    settings = {"cuts": ["CV", "TSCV", "SCV"], "n_partitions": 1, "n_holdouts": 3, "n_halves": 2, "level": 0.95} | changes
    cell = {"population": population, "n_sample": str(n_sample), "block": block}
    limits = {"minutes": None, "memory_mb": None}
    made = measure_methods(SimpleNamespace(data=[]), cell, **settings, learners={"one": spec}, master_seed=0, limits=limits)
    return pd.DataFrame(made["methods"][0])


def test_methods_that_need_fits_of_their_own_are_measured_with_every_cut():
    rows = methods_of()
    assert list(rows) == METHOD_SCHEMAS["methods"].names and (rows["status"] == "ok").all()
    assert len(rows) == 5 * 2 * len(METHODS) and set(rows["cut"]) == {"CV", "TSCV"} and set(rows["replicate"]) == set(range(5))
    assert (rows["low"] < rows["estimate"]).all() and (rows["estimate"] < rows["high"]).all()
    assert rows.groupby("replicate")["truth"].nunique().eq(1).all()
    assert n_fits(1, 3, 2) == {"nested": 15, "corrected t": 3, "conservative Z": 15} and set(rows["n_fits"]) == {15, 3}
    # Hold-outs of the corrected t test and of conservative Z are the same ones.
    wide = rows.pivot(index=["replicate", "cut"], columns="method", values="estimate")
    assert np.allclose(wide["corrected t"], wide["conservative Z"]) and not np.allclose(wide["nested"], wide["corrected t"])
    later = methods_of(block="3-4")
    assert later.equals(rows[rows["replicate"] >= 3].reset_index(drop=True))


def test_a_method_whose_fits_fail_is_a_row():
    rows = methods_of(learner="LDAClassifier", n_holdouts=2, block="0-0")
    assert (rows["status"] == "failed").all() and rows["estimate"].isna().all() and rows["message"].str.len().min() > 10


@pytest.mark.parametrize("n_populations", [0, 1, 3])
def test_the_table_of_methods_counts_what_it_should(n_populations, tmp_path):
    rows = []
    for population, learner, replicate in itertools.product(range(n_populations), "ab", range(10)):
        for method in METHODS:
            low = 0.1 if replicate < 8 + (learner == "a") else 0.3
            row = dict(zip(METHOD_KEYS, (f"P{population}", "regression", learner, "CV", method, 50, replicate)))
            row |= {"estimate": 0.22, "low": low, "high": 0.5, "truth": 0.2}
            rows.append(row | {"n_fits": 7, "status": "ok", "message": ""})
    frame = pd.DataFrame(rows, columns=METHOD_SCHEMAS["methods"].names)
    table = methods_table(frame, ["CV", "TSCV"])
    assert list(table) == COLUMNS and len(table) == (len(METHODS) if n_populations else 0)
    for _, row in table.iterrows():
        assert row["coverage"] == pytest.approx(0.85) and row["lowest"] == pytest.approx(0.85) and row["n_fits"] == 7
        assert row["bias"] == pytest.approx(10) and row["width"] == pytest.approx(100 * np.mean([0.38, 0.36]) / 0.2)
        assert row["n_populations"] == n_populations and np.isnan(row["coverage_error"]) == (n_populations == 1)
    frame.to_parquet(tmp_path / "rows.parquet")
    shown = tables_of_methods(
        SimpleNamespace(rows=[tmp_path / "rows.parquet"]), {"methods": {"cuts": ["CV", "TSCV"]}, "level": 0.95}
    )
    assert "nan" not in to_html(shown["methods"].grid).lower()


def test_cuts_are_compared_with_the_reference_of_as_many_folds():
    """Half as far from the truth with two folds, as far with five; with neither the sizes nor the learners as the unit."""
    share = np.where(ROWS["cut"] != "TSCV", 1.0, np.where(ROWS["population"].isin(POPULATIONS[:4]), 0.5, 0.4))
    close = ROWS["truth_whole"] + share * (0.02 + 0.01 * np.tile([1, 0, -1], len(ROWS) // 3))
    two = ROWS.assign(k=2, estimate=close)
    far = np.where(ROWS["population"].isin(POPULATIONS[:4]), 1.1, 1 / 1.1)
    five = ROWS.assign(estimate=ROWS["truth_whole"] + np.where(ROWS["cut"] == "TSCV", 0.02 * far, -0.02))
    table = by_folds(of_populations(pd.concat([two, five])), CUTS).set_index(["k", "cut"])
    assert list(table.index) == [(2, "TSCV"), (2, "CB-TSCV"), (5, "TSCV"), (5, "CB-TSCV")]
    assert table.loc[(2, "TSCV"), ["error_one", "spread"]].to_numpy(float) == pytest.approx([100 * np.sqrt(0.2) - 100] * 2)
    assert table.loc[(5, "TSCV"), "error_one"] == pytest.approx(0, abs=1e-9)
    populations = of_populations(two)
    truth = populations.pivot(index="population", columns="cut", values="bias_whole")
    assert table.loc[(2, "TSCV"), "bias_whole"] == pytest.approx((truth["TSCV"] - truth["CV"]).mean())
    assert (table["n_populations"] == len(POPULATIONS)).all()
    assert by_folds(of_populations(two[two["cut"] != "CV"]), CUTS).empty
    lone = by_folds(of_populations(two[two["population"] == POPULATIONS[0]]), CUTS)
    assert lone["error_one_error"].isna().all() and lone["error_one_p"].isna().all()
