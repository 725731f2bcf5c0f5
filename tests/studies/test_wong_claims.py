"""The ledger of claims of the study of k-fold and leave-one-out inference, the pairs of schemes, and the three ways to cut."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from foldshift.engine.storage.score_files import write_rows
from foldshift.inference.simulation.wong_claims import fold_differences, normal_coverage, uneven_folds
from foldshift.inference.simulation.wong_partitions import uneven_variance, wong_partition
from foldshift.reporting.claims_ledger import DOES_NOT_HOLD, HOLDS, IN_PART, NOT_SEEN
from foldshift.reporting.table_grid import to_html, to_tex
from foldshift.studies.wong_2015 import claims, cut_tables, scheme_tables
from foldshift.studies.wong_2015.claim_tables import COLUMNS, claims_table
from foldshift.studies.wong_2015.measures import measure_cuts, measure_schemes
from foldshift.studies.wong_2015.measures.schemes import PAIRS, EntropyIntervals, schemes_of
from foldshift.studies.wong_2015.study import STUDY

SENTENCES = Path(claims.__file__).parent / "printed" / "claims.csv"
SETTINGS = ((10, 10), (5, 20), (20, 10), (10, 50))


def simulated(shift=0.0, error=0.01):
    """Table of claims in which every quantity has the value of independence, plus a shift."""
    values = {
        "fold_independence": {"sigma_share": 1, "gamma_share": 0, "coverage_within": 0.95, "coverage_fold": 0.95},
        "scheme_independence": {
            "phi": 0, "independent_ratio": 1, "coverage_independent": 0.95, "coverage_matched": 0.95, "coverage_folds": 0.95,
        },
        "partition_independence": {"phi": 0.5},
        "repetition": {"variance_ratio": 1, "rho": 0.5},
        "dropping_bias": {"bias": 0},
    }  # fmt: skip
    rows = [
        ("stump", claim, k, m, quantity, value + shift * (1 + (k == 5)), error, np.nan)
        for claim, quantities in values.items()
        for quantity, value in quantities.items()
        for k, m in (SETTINGS if claim == "fold_independence" else SETTINGS[:1])
    ]
    return claims_table(pd.DataFrame(rows, columns=COLUMNS), 0.95)


def means(quantity, keys, value, error):
    return [
        keys | {"population": name, "quantity": quantity, "value": value, "standard_error": error} for name in ("a", claims.ALL)
    ]


def schemes(value, error=0.01):
    return pd.DataFrame([row for pair in PAIRS for row in means("phi", {"pair": pair.name}, value, error)])


def three_ways(extra, error=0.001):
    moved = {"1": 0.02 + extra, "2": 0.02 + extra, "3": 0.0, "3 again": 0.02}
    rows = []
    for way, value in moved.items():
        rows += means("moved", {"way": way, "learner": "1NN"}, value, error)
        rows += means("variance_ratio", {"way": way, "learner": "1NN"}, 1 + extra, error)
    return pd.DataFrame(rows)


def intervals(n_datasets):
    rows = [
        {"dataset": f"d{i}", "learner": "1NN", "k": k, "accuracy": 0.8 + 0.01 * (k == 0) + i / 1e3}
        | {"n_small": small + (k == 10) * i / 9, "repeated_accuracy": 0.8 + 0.001 * i * (k > 0)}
        for i in range(n_datasets)
        for k, small in ((0, 0), (5, 1), (10, 6))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_every_sentence_has_a_judge_or_is_not_measured_and_names_an_item_of_the_study():
    sentences = pd.read_csv(SENTENCES)
    assert sentences["id"].is_unique and sentences.notna().all(axis=None)
    items = {item.name for group in STUDY.items for item in group.items}
    assert set(sentences["item"]) <= items
    repetitions = pd.DataFrame(
        [("a", "1NN", k, 0.8 + k / 100, 1e-4, 10) for k in (5, 10)],
        columns=["dataset", "learner", "k", "mean", "partition_variance", "n_repetitions"],
    )
    audit = pd.DataFrame(
        [("classification", "whole sample", "SCV", 3, 0.01, 0.001)],
        columns=["task", "target", "partitioner", "n_populations", "bias", "bias_error"],
    )
    tables = {"claims": simulated(), "schemes": schemes(0.0), "three_ways": three_ways(0.0), "intervals": intervals(3)}
    judged = claims.judge_claims(tables | {"repetitions": repetitions, "audit_by_partitioner": audit}, 0.95)
    assert set(sentences["id"]) == set(judged)
    assert {
        name for name, one in judged.items() if one.verdict == NOT_SEEN and one.remark == claims.NOT_MEASURED.get(name)
    } == set(claims.NOT_MEASURED)
    assert judged["theorem_1_mean"].verdict == DOES_NOT_HOLD and judged["not_constant"].verdict == HOLDS


def test_a_run_without_tables_judges_the_papers_own_numbers():
    judged = claims.judge_claims({}, 0.95)
    assert judged["example_2_z"] == claims.Judged(HOLDS, pytest.approx(-0.73621, abs=1e-5), pytest.approx(np.nan, nan_ok=True))
    assert judged["example_1_folds"].verdict == DOES_NOT_HOLD and judged["example_1_folds"].effect == pytest.approx(0.00175)
    assert judged["example_2_t"].verdict == judged["example_1_means"].verdict == IN_PART
    assert judged["example_2_frequencies"].verdict == DOES_NOT_HOLD and judged["way_3"].verdict == HOLDS
    assert judged["books_disagree"].verdict == HOLDS and "pruning" not in judged


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, NOT_SEEN), (0.1, DOES_NOT_HOLD)])
def test_claims_of_independence_are_refuted_beyond_their_errors(shift, verdict):
    judged = claims.judge_claims({"claims": simulated(shift)}, 0.95)
    names = [*claims.UNIVERSAL, "theorem_3", "theorem_4_products", "theorem_4_normal", "any_k"]
    assert {name: judged[name].verdict for name in names} == dict.fromkeys(names, verdict)
    assert judged["proposition_1"].effect == pytest.approx(shift * 1.25) and "of 4 settings" in judged["proposition_1"].remark
    assert judged["repetition_correlated"].verdict == judged["one_split_varies"].verdict == HOLDS
    assert judged["rule_of_five"].effect == pytest.approx(normal_coverage(0.95, 100) - 0.95)


def test_pairs_of_schemes_are_judged_by_what_the_paper_says_of_them():
    for value, dependent, independent in (
        (0.3, HOLDS, DOES_NOT_HOLD),
        (0.01, NOT_SEEN, NOT_SEEN),
        (-0.3, DOES_NOT_HOLD, DOES_NOT_HOLD),
    ):
        judged = claims.judge_claims({"schemes": schemes(value)}, 0.95)
        assert (judged["pruning"].verdict, judged["growing"].verdict) == (dependent, independent)


def test_the_three_ways_differ_only_by_more_than_two_cuts_of_one_way():
    found = {extra: claims.of_three_ways(three_ways(extra)) for extra in (0.0, 0.01)}
    assert [found[extra]["ways_differ"].verdict for extra in found] == [IN_PART, HOLDS]
    assert [found[extra]["third_way_best"].verdict for extra in found] == [NOT_SEEN, HOLDS]
    assert claims.of_three_ways(three_ways(0.0, error=0.05))["ways_differ"].verdict == NOT_SEEN


def test_claims_on_data_sets_need_more_than_one():
    judged = claims.of_intervals(intervals(3))
    assert judged["more_folds_fail"].verdict == HOLDS and judged["loo_same_distribution"].verdict == DOES_NOT_HOLD
    alone = claims.of_intervals(intervals(1))
    assert {one.verdict for one in alone.values()} == {NOT_SEEN}


def test_the_ledger_reads_the_tables_of_a_run(tmp_path):
    simulated().to_csv(tmp_path / "claims.csv", index=False)
    intervals(2).to_csv(tmp_path / "intervals.csv", index=False)
    names = ("schemes", "three_ways", "repetitions", "audit_by_partitioner")
    files = {name: tmp_path / f"{name}.csv" for name in ("claims", "intervals")}
    inputs = SimpleNamespace(sentences=SENTENCES, **files, **{name: [] for name in names})
    made = claims.ledger(inputs, {"level": 0.95})["claims_ledger"]
    assert len(made.frame) == len(pd.read_csv(SENTENCES)) and f"{len(made.frame)} claims: " in made.grid.notes[0]
    assert made.frame.set_index("id").loc["pruning", "verdict"] == NOT_SEEN and "nan" not in to_html(made.grid)


# Pairs of schemes


def test_selections_of_more_than_half_of_the_features_overlap_and_the_others_do_not():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 2
    made = {pair.name: learners for pair, *learners in schemes_of(5)}
    assert list(made) == [pair.name for pair in PAIRS]
    kept = [set(np.flatnonzero(learner.fit(X, y)[0].get_support())) for learner in made["overlapping_features"]]
    assert [len(one) for one in kept] == [3, 3] and kept[0] & kept[1]
    odd, even = (
        {column for _, _, columns in learner[0].transformers for column in columns} for learner in made["disjoint_features"]
    )
    assert not odd & even and odd | even == set(range(5))
    assert "overlapping_features" not in {pair.name for pair, *_ in schemes_of(2)}


def test_entropy_cuts_where_the_classes_change():
    X = np.linspace(0, 1, 100)[:, None]
    codes = EntropyIntervals().fit(X, (X[:, 0] > 0.3).astype(int)).transform(X)
    assert set(codes[X > 0.31]) == {1} and set(codes[X < 0.3]) == {0}


def test_schemes_are_measured_and_shown(tmp_path):
    rows = measure_schemes.correlate_schemes(
        None, {"population": "circles"}, n_sample=40, n_folds=4, n_replicates=10, level=0.95, master_seed=1
    )
    write_rows(tmp_path / "schemes.parquet", rows["schemes"], measure_schemes.SCHEMAS["schemes"])
    made = scheme_tables.schemes(SimpleNamespace(rows=[tmp_path / "schemes.parquet"]), {})["schemes"]
    phi = made.frame[made.frame["quantity"] == "phi"].set_index(["pair", "population"])["value"]
    assert phi["pruning", "circles"] == phi["pruning", claims.ALL] > 0.8 and len(phi) == 2 * 6
    assert "nan" not in to_html(made.grid) and "unpruned" in to_tex(made.grid)


# Three ways to cut


def test_unequal_folds_cost_variance_as_their_sizes_say():
    assert uneven_variance(200, 5, 2) == uneven_variance(200, 5, 3) == 1
    assert uneven_variance(203, 5, 3) == pytest.approx(203 / 25 * (2 / 40 + 3 / 41))
    sizes = np.array([wong_partition(203, 5, 1, seed).sizes for seed in range(4000)])
    expected = 203 / 25 * (1 / sizes).sum(axis=1)
    assert uneven_variance(203, 5, 1) == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(4000))


def test_the_three_ways_are_measured_and_shown(tmp_path):
    cell, arguments = {"population": "circles"}, {"n_folds": 4, "level": 0.95, "master_seed": 1}
    rows = measure_cuts.cut_in_three_ways(None, cell, n_sample=43, n_replicates=10, **arguments)
    write_rows(tmp_path / "cuts.parquet", rows["cuts"], measure_cuts.SCHEMAS["cuts"])
    made = cut_tables.cuts(SimpleNamespace(rows=[tmp_path / "cuts.parquet"]), {})["three_ways"]
    found = made.frame.set_index(["population", "learner", "way", "quantity"])["value"]
    assert found["circles", "1NN", "3", "moved"] == 0 and found["circles", "1NN", "3", "variance_ratio"] == 1
    assert found["circles", "1NN", "3 again", "moved"] > 0 and "nan" not in to_html(made.grid)
    equal = measure_cuts.cut_in_three_ways(None, cell, n_sample=40, n_replicates=10, **arguments)
    assert all(len(values) == len(rows["cuts"][0]["way"]) for values in equal["cuts"][0].values())


def test_the_same_cut_changes_nothing_and_a_shift_is_found():
    rng = np.random.default_rng(2)
    accuracies = rng.binomial(20, 0.8, (500, 5)) / 20
    same = uneven_folds(accuracies, accuracies, np.zeros(500))
    assert same["moved"].value == same["difference"].value == same["failing"].value == 0 and same["variance_ratio"].value == 1
    assert same["coverage_fold"].value == pytest.approx(0.95, abs=0.04)
    assert uneven_folds(accuracies + 0.1, accuracies, np.ones(500))["difference"].value == pytest.approx(0.1)


# Exact and simulated intervals


def test_the_normal_interval_covers_as_the_binomial_says():
    r = np.arange(51)
    half = norm.ppf(0.975) * np.sqrt(r / 50 * (1 - r / 50) / 50)
    assert normal_coverage(0.9, 50) == pytest.approx(binom.pmf(r, 50, 0.9)[np.abs(r / 50 - 0.9) <= half].sum())
    assert normal_coverage(0.9, 50) < 0.9 < normal_coverage(0.5, 30)


def test_the_matched_t_over_folds_covers_the_difference_of_independent_folds():
    rng = np.random.default_rng(3)
    losses = [rng.random((2000, 10, 20)) < p for p in (0.3, 0.4)]
    coverage, error = fold_differences(*losses)["coverage_folds"]
    assert coverage == pytest.approx(0.95, abs=4 * error)
