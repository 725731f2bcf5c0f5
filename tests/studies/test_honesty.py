"""The tables of the study on honest cuts, on rows of which everything is known, and its measures on small populations."""

import csv
import hashlib
import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.linear_model import Ridge

import foldshift.studies.foldshift_2026 as study_folder
from compare_draws import pooled, verdicts_of
from foldshift.core.seeding import seed_sequence
from foldshift.datasets.synthetic.populations import POPULATIONS as GENERATED_CLASSES
from foldshift.datasets.synthetic.populations import TARGET_POPULATIONS as GENERATED_NUMBERS
from foldshift.inference.fit_losses import Sample, fold_losses, held_out_loss, squared_error
from foldshift.learners import RandomTiesNNRegressor, RPARTRegressor
from foldshift.reporting.table_grid import to_html
from foldshift.shift.measures.covariates import fold_ks_attributes
from foldshift.studies.foldshift_2026.bias_tables import MEASURES, by_learner, by_population, honesty_table, whole_samples
from foldshift.studies.foldshift_2026.coverage_tables import control_table, coverage_table, interval_pairs, method_pairs
from foldshift.studies.foldshift_2026.crossed_effects import crossed_effect
from foldshift.studies.foldshift_2026.cuts_and_methods import METHODS, n_fits
from foldshift.studies.foldshift_2026.estimates import measure_partitions
from foldshift.studies.foldshift_2026.field_claims import CLAIMS
from foldshift.studies.foldshift_2026.measure import SCHEMAS, cross_validate
from foldshift.studies.foldshift_2026.measure_control import CONTROLS, VALUES, control_intervals, measure_control
from foldshift.studies.foldshift_2026.measure_control import KEYS as CONTROL_KEYS
from foldshift.studies.foldshift_2026.measure_methods import KEYS as METHOD_KEYS
from foldshift.studies.foldshift_2026.measure_methods import SCHEMAS as METHOD_SCHEMAS
from foldshift.studies.foldshift_2026.measure_methods import measure_methods
from foldshift.studies.foldshift_2026.partitioners import N_DRAWN, cut_sample, fits
from foldshift.studies.foldshift_2026.study import cells, learners_of
from foldshift.studies.foldshift_2026.tables import honesty
from foldshift.studies.foldshift_2026.truth_noise import covered, covered_without_noise
from foldshift.studies.foldshift_2026.verdicts import (
    ANSWER,
    COVERS,
    FAILS,
    HOLDS,
    INTERVALS,
    LEDGER,
    NARROW,
    OPEN,
    SMALL,
    Stated,
    answers,
    by_folds,
    interval_ledger,
    ledger,
)

POPULATIONS = [f"population {i}" for i in range(8)]
CUTS = ["CV", "TSCV", "CB-TSCV"]
SHIFT = {"CV": 0.08, "TSCV": 0.0, "CB-TSCV": -0.08}  # of the estimate, as a share of the truth
SPREAD = {"CV": 0.16, "TSCV": 0.08, "CB-TSCV": 0.04}
TRUTH = {"a": 0.20, "b": 0.30}
STATED = Stated(100, 5)
FOLDER = Path(study_folder.__file__).parent
ROOT = Path(__file__).parents[2]
REGISTERED = "6a10679e319d8f0f002771dcd05979d755f1142a45f1440a9502270810420912"


def made_up(n_replicates=40, n_repetitions=3, task="regression"):
    """Estimates around the true error 0.2 (learner a) and 0.3 (b), by each cut off and scattered by a known amount."""
    rng = np.random.default_rng(0)
    rows = []
    for population, learner, replicate in itertools.product(POPULATIONS, TRUTH, range(n_replicates)):
        whole = TRUTH[learner] + 0.001 * rng.normal()
        for cut in CUTS:
            own = 0.08 * rng.normal()
            for repetition in range(n_repetitions):
                estimate = whole * (1 + SHIFT[cut] + own + SPREAD[cut] * rng.normal())
                row = {"population": population, "task": task, "learner": learner, "cut": cut, "n_sample": 100, "k": 5}
                row |= {"replicate": replicate, "repetition": repetition, "estimate": estimate, "estimate_micro": estimate}
                row |= {"variance": 0.1, "W": 0.1, "S2": 0.005, "K": 5, "M": 20}
                rows.append(row | {"truth_parts": 1.04 * whole, "truth_parts_noise": 0.001})
                rows[-1] |= {"truth_whole": whole, "truth_whole_noise": 0.0}
    return pd.DataFrame(rows)


ROWS = made_up()


def of_populations(rows):
    return by_population(by_learner(rows), rows)


def test_bias_spread_and_error_are_those_that_the_rows_were_made_with():
    table = honesty_table(of_populations(ROWS), CUTS).set_index("cut")
    for cut in CUTS:
        for measure, expected in (
            ("bias_whole", SHIFT[cut]),
            ("bias_models", SHIFT[cut] - 0.04),
            ("bias_training", SHIFT[cut] - 0.04),
            ("spread", SPREAD[cut]),
            ("error_one", np.sqrt(SHIFT[cut] ** 2 + 0.08**2 + SPREAD[cut] ** 2)),
            ("error_ten", np.sqrt(SHIFT[cut] ** 2 + 0.08**2 + SPREAD[cut] ** 2 / 10)),
        ):
            assert table.loc[cut, measure] == pytest.approx(100 * expected, abs=1.2), (cut, measure)
            assert table.loc[cut, f"{measure}_error"] < 1
    assert (table["n_populations"] == len(POPULATIONS)).all()
    assert table.loc["CV", "bias_whole_vs":"bias_whole_vs_error"].isna().all()
    assert table.loc["TSCV", "bias_whole_vs"] == pytest.approx(-8, abs=1.2)
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


def ledger_of(rows, stated=STATED):
    learners = by_learner(rows)
    return ledger(learners, by_population(learners, rows), stated)


LOWER = ("a stratified target lowers the estimated error", "regression")
NEARER_CLAIM = ("a stratified target brings the estimate nearer to the truth", "regression")


def test_the_ledger_says_what_was_borne_out_and_corrects_for_the_number_of_claims():
    table = ledger_of(ROWS)
    assert list(table) == LEDGER and (table["n_sample"] == 100).all() and (table["k"] == 5).all()
    assert (table["p_holm"] >= table["p_value"]).all() and (table["p_small_holm"] >= table["p_small"]).all()
    table = table.set_index(["claim", "task"])
    lower = table.loc[LOWER]
    assert lower["verdict"] == HOLDS and lower["effect"] < 0 and lower["n_learners"] == 2 and np.isnan(lower["elsewhere"])
    swapped = ROWS.assign(cut=ROWS["cut"].map({"CV": "TSCV", "TSCV": "CV", "CB-TSCV": "CB-TSCV"}))
    assert ledger_of(swapped).set_index(["claim", "task"]).loc[LOWER, "verdict"] == FAILS
    same = ROWS.assign(estimate=ROWS.groupby(["population", "learner", "replicate"])["estimate"].transform("mean"))
    same = ledger_of(same).set_index("measure")["verdict"]
    assert set(same.drop("spread")) == {SMALL}  # no difference at all


def test_a_claim_is_decided_at_one_size_and_number_of_folds():
    other = ROWS.assign(n_sample=400, estimate=2 * ROWS["truth_whole"] - ROWS["estimate"])
    more_folds = ROWS.assign(k=10, estimate=ROWS["truth_whole"] + 0.001 * ROWS["estimate"])
    both = ledger_of(pd.concat([ROWS, other, more_folds])).set_index(["claim", "task"])
    alone = ledger_of(ROWS).set_index(["claim", "task"])
    assert both.loc[LOWER, "effect"] == pytest.approx(alone.loc[LOWER, "effect"])
    assert both.loc[LOWER, "elsewhere"] == pytest.approx(-alone.loc[LOWER, "effect"])
    assert both.loc[NEARER_CLAIM, "elsewhere"] == pytest.approx(alone.loc[NEARER_CLAIM, "effect"])


def test_an_effect_that_is_shown_to_be_small_is_called_so_and_a_vague_one_is_not():
    rng = np.random.default_rng(3)
    index = pd.MultiIndex.from_product([POPULATIONS, list("abcdefg")], names=["population", "learner"])
    for spread, verdict in ((0.01, SMALL), (0.3, OPEN)):
        values = np.exp(spread * rng.normal(size=len(index)))
        table = pd.DataFrame({"error_one": values, "spread": values, "bias_whole": 60 * (values - 1)}, index=index).reset_index()
        both = pd.concat([table.assign(cut="TSCV"), table.assign(cut="CV", error_one=1.0, spread=1.0, bias_whole=0.0)])
        both = both.assign(task="regression", n_sample=100, k=5)
        found = ledger(both, both.assign(choice=0.5), STATED)
        assert set(found["verdict"]) == {verdict}, found


def test_errors_and_spreads_are_compared_by_how_many_times_the_one_is_the_other():
    """A population with a tiny true error, and so with huge relative ones, counts as much as any other."""
    small = ROWS.copy()
    where = small["population"] == POPULATIONS[0]
    small.loc[where, "truth_whole"] -= 0.19
    small.loc[where, ["estimate", "estimate_micro", "truth_parts"]] -= 0.19
    tables = [ledger_of(rows).set_index("claim") for rows in (ROWS, small)]
    for table in tables:
        found = table.loc["a stratified target makes the estimate vary less between partitions"]
        assert found["effect"] == pytest.approx(100 * (SPREAD["TSCV"] / SPREAD["CV"] - 1), abs=4)
        assert found["n_populations"] == len(POPULATIONS)
    one, other = (table.loc[NEARER_CLAIM[0], "effect"] for table in tables)
    assert one == pytest.approx(other, abs=2)


def test_claims_on_the_number_of_folds_compare_the_random_cut_with_itself():
    share = np.where(ROWS["population"].isin(POPULATIONS[:4]), 0.5, 0.4)  # of the distance from the truth
    ten = ROWS.assign(k=10, estimate=ROWS["truth_whole"] + share * (ROWS["estimate"] - ROWS["truth_whole"]))
    two = ROWS.assign(k=2, estimate=ROWS["estimate"] + 0.5 * ROWS["truth_whole"])
    table = ledger_of(pd.concat([ROWS, ten, two]), Stated(100, 10)).set_index(["claim", "task"])
    nearer = table.loc[("ten folds bring the estimate nearer to the truth than five", "regression")]
    assert nearer["effect"] == pytest.approx(100 * (np.sqrt(0.5 * 0.4) - 1), abs=0.01) and nearer["verdict"] == HOLDS
    assert (nearer["lower"], nearer["higher"]) == ("CV with 10 folds", "CV with 5 folds")
    assert table.loc[("two folds make the estimate too high", "regression"), "verdict"] == HOLDS
    assert "ten folds bring the estimate nearer to the truth than five" not in set(ledger_of(ROWS)["claim"])


def test_the_noise_of_the_truth_is_taken_out_of_the_error():
    noise, sample = 0.02, ROWS.groupby(["population", "learner", "replicate"]).ngroup()
    errors = np.random.default_rng(5).normal(scale=noise, size=sample.max() + 1)[sample]
    noisy = ROWS.assign(truth_whole=ROWS["truth_whole"] + errors, truth_whole_noise=noise)
    found, exact = (honesty_table(of_populations(rows), CUTS).set_index("cut")["error_one"] for rows in (noisy, ROWS))
    left = honesty_table(of_populations(noisy.assign(truth_whole_noise=0.0)), CUTS).set_index("cut")["error_one"]
    assert found.to_numpy() == pytest.approx(exact.to_numpy(), rel=0.05) and (left > 1.06 * exact).all()


def test_draws_that_are_pooled_weigh_the_same_and_keep_their_populations():
    one = of_populations(ROWS)
    other = one.assign(error_one=one["error_one"] * np.where(one["cut"] == "TSCV", 0.5, 1.0))
    first, second, both = (
        verdicts_of(draw, STATED).set_index("claim").loc[NEARER_CLAIM[0]] for draw in (one, other, pooled([one, other]))
    )
    assert both["n_populations"] == len(POPULATIONS) and second["effect"] < both["effect"] < first["effect"]
    pd.testing.assert_frame_equal(verdicts_of(pooled([one, one]), STATED), verdicts_of(one, STATED))


def test_two_populations_decide_nothing():
    table = ledger_of(ROWS[ROWS["population"].isin(POPULATIONS[:2])])
    assert set(table["verdict"]) == {OPEN} and table["p_value"].isna().all()


def test_a_pair_that_often_fails_leaves_its_population_out():
    rows = ROWS.copy()
    where = (rows["population"] == POPULATIONS[0]) & (rows["learner"] == "a") & (rows["replicate"] < 4)
    rows.loc[where, "estimate"] = np.nan
    assert len(ROWS) - len(whole_samples(rows)) == ((ROWS["population"] == POPULATIONS[0]) & (ROWS["learner"] == "a")).sum()
    assert (ledger_of(whole_samples(rows)).query("measure != 'choice'")["n_populations"] == len(POPULATIONS) - 1).all()


def crossed(P, L, rng, of_population, of_learner, rest):
    index = pd.MultiIndex.from_product([range(P), range(L)], names=["population", "learner"])
    values = of_population * rng.normal(size=(P, 1)) + of_learner * rng.normal(size=(1, L)) + rest * rng.normal(size=(P, L))
    return pd.Series(values.ravel(), index=index)


def test_the_mixed_model_gives_a_known_answer():
    """Two populations and two learners by hand: mean squares 4, 1 and .25."""
    index = pd.MultiIndex.from_product([["p", "q"], ["a", "b"]], names=["population", "learner"])
    effect = crossed_effect(pd.Series([0.25, 1.75, 2.75, 3.25], index=index))
    assert effect.mean == 2.0 and (effect.n_populations, effect.n_learners) == (2, 2)
    assert effect.error == pytest.approx(np.sqrt((4 + 1 - 0.25) / 4))
    assert effect.df == pytest.approx(4.75**2 / (4**2 + 1**2 + 0.25**2))
    # Learners that differ by no more than the rest: means of populations.
    effect = crossed_effect(pd.Series([0.0, 2.0, 3.0, 1.0], index=index))
    assert effect.error == pytest.approx(np.std([1.0, 2.0], ddof=1) / np.sqrt(2)) and effect.df == 1
    lacking = crossed_effect(pd.Series([0.25, 1.75, 2.75], index=index[:3]))
    assert lacking.n_populations == 1 and np.isnan(lacking.error) and np.isnan(lacking.p_two_sided())


@pytest.mark.parametrize("scales", [(1.0, 0.0, 1.0), (1.0, 0.6, 1.0), (0.3, 1.0, 0.5)])
def test_the_mixed_model_keeps_its_level(scales):
    rng = np.random.default_rng(11)
    p_values = np.array([crossed_effect(crossed(18, 5, rng, *scales)).p_two_sided() for _ in range(1000)])
    assert (p_values <= 0.05).mean() <= 0.065
    far = [crossed_effect(crossed(18, 5, rng, *scales) + 2.5).p_two_sided() for _ in range(50)]
    assert np.mean(np.array(far) <= 0.05) > 0.8


def test_claims_name_known_cuts_and_measures():
    for claim, source, task, measure, lower, higher in CLAIMS:
        assert measure in MEASURES and source and claim
        assert all(cut is None or isinstance(cut, int) or fits(cut, task) for cut in (lower, higher))


def made_control(populations=POPULATIONS):
    rng = np.random.default_rng(2)
    rows = []
    for population, replicate in itertools.product(populations, range(30)):
        keys = {"population": population, "task": "regression", "n_sample": 100, "replicate": replicate}
        rows += [keys | one for one in control_intervals(rng.exponential(size=2000), 100, 0.95, rng)]
    return pd.DataFrame(rows, columns=[*CONTROL_KEYS, *VALUES])


@pytest.mark.parametrize("rows", [ROWS, ROWS[ROWS["population"] == POPULATIONS[0]], ROWS[:0]], ids=["all", "one", "none"])
def test_all_items_are_made_of_many_populations_one_and_none(rows, tmp_path):
    rows.to_parquet(tmp_path / "rows.parquet")
    made_control(rows["population"].unique()).to_parquet(tmp_path / "control.parquet")
    paths = {"rows": "rows", "intervals": "rows", "control": "control"}
    inputs = SimpleNamespace(methods=[], **{kind: [tmp_path / f"{name}.parquet"] for kind, name in paths.items()})
    items = honesty(inputs, {"cuts": CUTS, "level": 0.95, "decided_at": STATED._asdict()})
    for name in ("answer", "ledger", "interval_ledger", "by_folds", "honesty", "coverage", "methods", "control"):
        assert "nan" not in to_html(items[name].grid).lower().replace("random", "")
    assert list(items["answer"].frame) == ANSWER and list(items["interval_ledger"].frame) == INTERVALS
    if len(rows) == len(ROWS):
        answer = items["answer"].frame.set_index("question")["answer"]
        nearer = items["ledger"].frame.query("measure == 'error_one' and higher == 'CV' and verdict == @HOLDS")
        assert answer["Which cut?"] == nearer.loc[nearer["effect"].idxmin(), "lower"] and answer["How many folds?"] == "5"


def test_the_answer_is_that_of_the_ledger():
    claim = {"task": "regression", "measure": "error_one", "higher": "CV", "standard_error": 1.0, "claim": "nearer"}
    folds = claim | {"lower": "CV with 10 folds", "higher": "CV with 5 folds", "effect": 3.0}
    keys = {"task": "regression", "n_sample": 100, "k": 10}
    honest = pd.DataFrame(keys | {"cut": CUTS, "spread": 1.0, "error_one": [3.0, 2.0, 2.0]})
    interval = {"task": "regression", "coverage": 0.95, "standard_error": 0.01}
    held = [interval | {"interval": name, "width": width, "verdict": verdict}
            for name, width, verdict in (("narrow", 1.0, NARROW), ("good", 2.0, COVERS), ("wide", 3.0, COVERS))]  # fmt: skip

    def found(verdicts, folds_verdict=OPEN, intervals=held):
        nearer = [claim | {"lower": cut, "effect": effect, "verdict": verdict} for (cut, effect), verdict in verdicts.items()]
        table = pd.DataFrame([*nearer, folds | {"verdict": folds_verdict}])
        return answers(table, pd.DataFrame(intervals), honest, Stated(100, 10))["answer"].tolist()

    assert found({("TSCV", -9.0): OPEN, ("CB-TSCV", -2.0): OPEN}) == ["CV", "10", "2", "good"]
    assert found({("TSCV", -9.0): OPEN, ("CB-TSCV", -2.0): HOLDS}, HOLDS)[:3] == ["CB-TSCV", "10", "4"]
    assert found({("TSCV", -9.0): HOLDS, ("CB-TSCV", -2.0): HOLDS}, FAILS)[:2] == ["TSCV", "5"]
    assert found({("TSCV", 9.0): FAILS}, SMALL, held[:1]) == ["CV", "10", "2", "none was shown to hold"]


def test_the_verdict_on_an_interval_is_one_of_its_coverage_without_noise():
    rng = np.random.default_rng(4)
    rows = []
    for interval, mean in (("good", 0.95), ("short", 0.9), ("between", 0.935)):
        for population, learner in itertools.product(POPULATIONS, "ab"):
            coverage = mean + 0.005 * rng.normal() + 0.01 * (interval == "between") * (population > POPULATIONS[3])
            rows.append({"interval": interval, "population": population, "learner": learner, "coverage": coverage})
    pairs = pd.DataFrame(rows).assign(task="regression", found=0.5, width=1.0)
    table = interval_ledger(pairs, 100, 0.95).set_index("interval")
    assert table["verdict"].to_dict() == {"good": COVERS, "short": NARROW, "between": COVERS} and (table["found"] == 0.5).all()
    few = interval_ledger(pairs[pairs["population"].isin(POPULATIONS[:2])], 100, 0.95)
    assert set(few["verdict"]) == {OPEN} and (table["lowest"] < table["coverage"]).all()


@pytest.mark.parametrize("times", [0.02, 0.25, 1.0])
@pytest.mark.parametrize("losses", ["normal", "absolute", "rare"])
def test_an_exact_interval_of_independent_losses_covers_its_promise_whatever_the_noise_of_the_truth(times, losses):
    """The truth is measured on n / times rows: its variance is so many times that of the estimate."""
    rng, n, n_samples = np.random.default_rng(8), 100, 20_000
    scale = {"normal": 1.0, "absolute": np.sqrt(1 - 2 / np.pi), "rare": 0.3}[losses]
    if losses == "normal":
        mean, truth = rng.normal(scale=0.1, size=n_samples), rng.normal(scale=np.sqrt(times) * 0.1, size=n_samples)
    elif losses == "absolute":
        mean = np.abs(rng.normal(size=(n_samples, n))).mean(axis=1)
        truth = np.sqrt(2 / np.pi) + rng.normal(scale=np.sqrt(times / n) * scale, size=n_samples)
    else:
        mean = (rng.binomial(n, 0.1, size=n_samples) + rng.uniform(-0.5, 0.5, size=n_samples)) / n
        truth = rng.binomial(int(n / times), 0.1, size=n_samples) / int(n / times)
    half, noise = 1.96 * scale / np.sqrt(n), np.full(n_samples, np.sqrt(times / n) * scale)
    clean = covered_without_noise(mean - half, mean + half, truth, noise).mean()
    assert clean == pytest.approx(0.95, abs=0.01)
    assert covered(mean - half, mean + half, truth).mean() < 0.95 - 0.1 * min(times, 0.9) + 0.01
    if times > 0.25:
        return
    short = covered_without_noise(mean - half / 2, mean + half / 2, truth, noise).mean()
    assert short == pytest.approx(0.673, abs=0.015)  # an interval half as wide is not made to hold


def test_coverage_without_noise_is_the_share_found_where_the_truth_is_exact():
    low, high, truth = np.array([0.0, 0.0, np.nan, 0.0]), np.array([1.0, 1.0, np.nan, 1.0]), np.array([0.5, 1.5, 0.5, np.nan])
    for noise in (np.zeros(4), np.full(4, 1e-9)):
        assert np.array_equal(covered_without_noise(low, high, truth, noise), [1, 0, 0, np.nan], equal_nan=True)


@pytest.mark.parametrize("name", ["unequal_gaussians", "friedman_1991"])
def test_the_control_holds_what_it_promises(name):
    cell = {"population": name, "n_sample": "100", "block": "0-2999"}
    made = measure_control(SimpleNamespace(data=[]), cell, truth_rows=2000, level=0.95, master_seed=0)["control"]
    table = control_table(pd.DataFrame(made[0])).set_index("interval")
    assert table.loc[CONTROLS[0], "coverage"] == pytest.approx(0.95, abs=0.012)
    assert table.loc[CONTROLS[0], "found"] < table.loc[CONTROLS[0], "coverage"]
    later = measure_control(SimpleNamespace(data=[]), cell | {"block": "60-2999"}, truth_rows=2000, level=0.95, master_seed=0)
    assert pd.DataFrame(later["control"][0]).equals(pd.DataFrame(made[0])[120:].reset_index(drop=True))


def test_a_finite_data_set_needs_no_correction_of_its_own():
    """Samples of a fifth of 500 rows: the truth of the rows left is as noisy as that of as many fresh rows."""
    rng = np.random.default_rng(0)
    losses = rng.gamma(4.0, size=500)
    rows = pd.DataFrame([one for _ in range(4000) for one in control_intervals(losses, 100, 0.95, rng)])
    known = rows[rows["interval"] == CONTROLS[0]]
    gap = (known["low"] + known["high"]) / 2 - known["truth"]
    assert gap.var() == pytest.approx(losses.var() * (1 / 100 + 1 / 400), rel=0.06)
    clean = covered_without_noise(known["low"], known["high"], known["truth"], known["truth_noise"]).mean()
    assert clean == pytest.approx(0.95, abs=0.01)


def test_the_populations_are_those_of_the_rule():
    scales = yaml.safe_load((FOLDER / "study.yaml").read_text(encoding="utf-8"))["scales"]["paper"]
    with open(ROOT / "config/datasets.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    # One has 2.3 % of the rarer class, the other the rows of mortgage.
    small, same = "mammography", "treasury"
    large = [row for row in rows if int(row["n_rows"]) >= 1000 and int(row["n_features"]) <= 60]
    large = [row for row in large if row["name"] not in (small, same)]
    drawn = []
    for task in ("classification", "regression"):
        own = [row for row in large if row["task"] == task]
        # The counts that the catalogue makes titanic of are published data.
        names = [row["name"] for row in own if not row["sources"].startswith("generated:") or row["name"] == "titanic"]
        assert len(names) == 12
        drawn += sorted(names, key=lambda name: hashlib.sha256(f"foldshift_2026/2029/{name}".encode()).hexdigest())[:8]
    generated = [*GENERATED_CLASSES, *GENERATED_NUMBERS]
    assert sorted(scales["populations"]) == sorted([*generated, *drawn])
    assert sorted(scales["methods"]["populations"]) == sorted(generated)


def test_the_protocol_is_the_one_that_was_registered():
    """It is not changed after the draw of its master seed."""
    assert hashlib.sha256((FOLDER / "protocol.md").read_bytes()).hexdigest() == REGISTERED


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
        truth_rows=4000,
        part_rows=1000,
        cuts=["CV", "SCV", "CB-TSCV", "Rerandomised"],
        learners=learners,
        master_seed=0,
        limits={"minutes": None, "memory_mb": None},
    )
    rows = pd.DataFrame(made["estimates"][0])
    assert list(rows) == SCHEMAS["estimates"].names
    assert set(rows["cut"]) == {"CV", "CB-TSCV", "Rerandomised"} and set(rows["learner"]) == {"NN"} and set(rows["k"]) == {3}
    assert len(rows) == 3 * 2 * 3 and (rows["status"] == "ok").all()
    first = rows[rows["repetition"] == 0]
    assert rows["estimate"].between(0.1, 3).all() and (first["truth_parts"] > 0.85 * first["truth_whole"]).mean() > 0.7
    assert first["truth_parts"].notna().all() and rows[rows["repetition"] == 1]["truth_parts"].isna().all()
    assert rows["truth_whole_noise"].between(0.001, 0.1).all() and (first["truth_parts_noise"] > first["truth_whole_noise"]).all()
    assert rows.groupby("replicate")["truth_whole"].nunique().to_dict() == {2: 1, 3: 1, 4: 1}


def methods_of(population="friedman_1991", n_sample=40, learner="NNRegressor", block="0-4", **changes):
    spec = {
        "import": f"foldshift.learners.{learner}",
        "params": {},
        "tasks": ["regression", "classification"],
        "nominal": "codes",
    }
    settings = {"cuts": ["CV", "TSCV", "SCV"], "n_partitions": 1, "n_holdouts": 3, "n_halves": 2, "level": 0.95}
    settings |= {"truth_rows": 2000} | changes
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


def test_hold_outs_are_predicted_as_by_a_fit_of_their_own(monkeypatch):
    learners = {"population": "twonorm", "learner": "LDAClassifier", "cuts": ["SCV"], "block": "0-1"}
    quick = methods_of(**learners)
    monkeypatch.setattr("foldshift.studies.foldshift_2026.measure_methods.fold_predictor", lambda *_: None)
    pd.testing.assert_frame_equal(methods_of(**learners), quick)


@pytest.mark.parametrize("learner", [RPARTRegressor(), RandomTiesNNRegressor(), Ridge()])
def test_partitions_are_measured_together_as_each_alone(learner):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(260, 3)), rng.normal(size=260)
    sample = Sample(X[:60], y[:60], X[60:], y[60:])
    partitions = {("CV", k, i): rng.permutation(np.arange(60) % k).astype(np.uint8) for k in (3, 5) for i in range(2)}
    together = measure_partitions(learner, sample, partitions, 100, np.random.default_rng(1))
    for (key, folds), found in zip(partitions.items(), together):
        states = (np.random.default_rng(1).random(6) * 2**32).astype(np.uint32).tolist()
        near = sample._replace(X_rest=X[60:160], y_rest=y[60:160])
        losses, truth = fold_losses(learner, near, folds, states[: key[1]], squared_error)
        assert found["estimate"] == pytest.approx(np.mean([own.mean() for own in losses]), rel=1e-9) and not found["message"]
        assert found["truth_parts"] == (pytest.approx(truth, rel=1e-9) if key[2] == 0 else pytest.approx(np.nan, nan_ok=True))
        assert found["truth_whole"] == pytest.approx(held_out_loss(learner, sample, states[-1], squared_error), rel=1e-9)


@pytest.mark.parametrize("n_populations", [0, 1, 3])
def test_the_table_of_methods_counts_what_it_should(n_populations):
    rows = []
    for population, learner, replicate in itertools.product(range(n_populations), "ab", range(10)):
        for method in METHODS:
            low = 0.1 if replicate < 8 + (learner == "a") else 0.3
            row = dict(zip(METHOD_KEYS, (f"P{population}", "regression", learner, "CV", method, 50, replicate)))
            row |= {"estimate": 0.22, "low": low, "high": 0.5, "truth": 0.2, "truth_noise": 0.0}
            rows.append(row | {"n_fits": 7, "status": "ok", "message": ""})
    frame = pd.DataFrame(rows, columns=METHOD_SCHEMAS["methods"].names)
    table = coverage_table(method_pairs(frame), ["task", "n_sample", "interval", "cut", "n_fits"])
    assert len(table) == (len(METHODS) if n_populations else 0)
    for _, row in table.iterrows():
        assert row["coverage"] == row["found"] == pytest.approx(0.85) == row["lowest"] and row["n_fits"] == 7
        assert row["bias"] == pytest.approx(10) and row["width"] == pytest.approx(100 * np.mean([0.38, 0.36]) / 0.2)
        assert row["n_populations"] == n_populations and np.isnan(row["coverage_error"]) == (n_populations == 1)
        assert row["least_samples"] == 10


def test_coverage_counts_the_first_repetition_alone():
    later = ROWS["repetition"] > 0
    pairs = interval_pairs(ROWS, 0.95)
    assert interval_pairs(ROWS.assign(estimate=ROWS["estimate"] + 9.0 * later), 0.95).equals(pairs)
    assert (pairs["n_samples"] == 40).all() and pairs["coverage"].between(-0.5, 1.5).all()


def test_cuts_are_compared_with_the_reference_of_as_many_folds():
    """Half as far from the truth with two folds, as far with five; with neither the sizes nor the learners as the unit."""
    share = np.where(ROWS["cut"] != "TSCV", 1.0, np.where(ROWS["population"].isin(POPULATIONS[:4]), 0.5, 0.4))
    close = ROWS["truth_whole"] + share * (0.02 + 0.01 * np.tile([1, 0, -1], len(ROWS) // 3))
    two = ROWS.assign(k=2, estimate=close)
    far = np.where(ROWS["population"].isin(POPULATIONS[:4]), 1.1, 1 / 1.1)
    five = ROWS.assign(estimate=ROWS["truth_whole"] + np.where(ROWS["cut"] == "TSCV", 0.02 * far, -0.02))
    table = by_folds(by_learner(pd.concat([two, five])), CUTS, 100).set_index(["k", "cut"])
    assert list(table.index) == [(2, "TSCV"), (2, "CB-TSCV"), (5, "TSCV"), (5, "CB-TSCV")]
    assert table.loc[(2, "TSCV"), ["error_one", "spread"]].to_numpy(float) == pytest.approx([100 * np.sqrt(0.2) - 100] * 2)
    assert table.loc[(5, "TSCV"), "error_one"] == pytest.approx(0, abs=1e-9)
    populations = of_populations(two)
    truth = populations.pivot(index="population", columns="cut", values="bias_whole")
    assert table.loc[(2, "TSCV"), "bias_whole"] == pytest.approx((truth["TSCV"] - truth["CV"]).mean())
    assert (table["n_populations"] == len(POPULATIONS)).all()
    assert by_folds(by_learner(two[two["cut"] != "CV"]), CUTS, 100).empty and by_folds(by_learner(two), CUTS, 50).empty
    lone = by_folds(by_learner(two[two["population"] == POPULATIONS[0]]), CUTS, 100)
    assert lone["error_one_error"].isna().all()
