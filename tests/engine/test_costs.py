import math

import pytest

import bench
import bench_classifiers
from foldshift.core.errors import ConfigError
from foldshift.engine.config.runs import configure
from foldshift.engine.costs.fit_costs import COLUMNS, MACHINE, REFERENCE, UNKNOWN, CostModel, read_costs
from foldshift.engine.costs.job_costs import fetch_cost, prepare_cost
from foldshift.engine.study.find import main_study

HEADER = "\t".join(COLUMNS)


def rows(law, sizes):
    return [{"n_rows": n, "n_features": p, "ms_per_fit": law(n, p), "seconds_once": 0.5, "peak_mb": 7.0} for n, p in sizes]


SIZES = [(100, 4), (150, 30), (800, 8), (1000, 60), (4000, 5), (5000, 50)]


def test_a_power_law_is_found_and_continued():
    model = CostModel({"A": rows(lambda n, p: 0.002 * n**1.3 * p**0.6, SIZES)})
    for n, p in [*SIZES, (20000, 10), (50, 2)]:
        assert model("A", n, p).seconds_per_fit == pytest.approx(2e-6 * n**1.3 * p**0.6, rel=1e-6)
    assert model("A", 300, 9).seconds_once == pytest.approx(0.5) and model("A", 300, 9).peak_mb == pytest.approx(7)


def test_a_measured_size_costs_what_was_measured():
    measured = rows(lambda n, p: n * p, SIZES)
    measured[2]["ms_per_fit"] *= 5  # a data set that is harder than its size tells
    found = CostModel({"A": measured})("A", 800, 8)
    assert found.seconds_per_fit == pytest.approx(32.0, rel=0.01) and found.measured


def test_one_measurement_sets_the_level_and_not_the_exponents():
    model = CostModel({"A": rows(lambda n, p: 4.0, [(1000, 10)])})
    assert model("A", 1000, 10).seconds_per_fit == pytest.approx(0.004)
    assert model("A", 10000, 10).seconds_per_fit == pytest.approx(0.004 * 10 ** UNKNOWN["ms_per_fit"][1])


def test_a_learner_without_measurements_is_taken_for_a_slow_one():
    found = CostModel({})("mine", *REFERENCE)
    assert found.seconds_per_fit == pytest.approx(0.05) and not found.measured
    assert CostModel({})("mine", 10000, 10).seconds_per_fit > 10 * found.seconds_per_fit


def test_zeros_are_below_what_can_be_measured():
    measured = [row | {"ms_per_fit": 0.0, "seconds_once": 0.0, "peak_mb": 0.0} for row in rows(lambda n, p: 1, SIZES)]
    found = CostModel({"A": measured})("A", 500, 5)
    assert all(0 < value < 2 and math.isfinite(value) for value in found[:3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learner\tdataset\n", "column 'n_rows' is missing"),
        (f"{HEADER}\nA\td\t10\t2\tfast\t0\t0\n", "line 2: expected numbers"),
        (f"{HEADER}\nA\td\t10\t2\t1\t0\t0\nA\td\t10\t2\t-1\t0\t0\n", "line 3: expected numbers of at least 0"),
        (f"{HEADER}\nA\td\t0\t2\t1\t0\t0\n", "line 2"),
        (f"{HEADER}\nA\td\t10\t2\tinf\t0\t0\n", "line 2"),
        (f"{HEADER}\nA\td\t10\n", "line 2"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_its_line(text, message, tmp_path):
    file = tmp_path / "costs.tsv"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_costs(file)


def test_a_table_that_is_missing_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        read_costs(tmp_path / "costs.tsv")


def test_the_table_of_the_project_knows_every_learner_of_the_papers(root):
    found = read_costs(root / "config/costs.tsv")
    assert {"RPART", "NN", "ELM", "MARS", "GBM", "FURIA", "SVM", "SVM@paper", "1NN@paper"} <= set(found)
    # What no main study has is measured on made-up tables.
    others = {"RPART7", "NB", "PET", "5NN", "LSVM", "Ridge", "Logistic", "SVC", "RFC", "RFR", "SVR", "HGB", "XGBoost"}
    assert others <= set(found)
    assert all(len(measured) >= (8 if name in others else 27) for name, measured in found.items() if name != MACHINE)


def test_fetching_and_preparing_a_large_table_of_the_users_own_is_expected_to_take_longer():
    small, large = (150, 4), (100_000, 10)
    assert fetch_cost(small).seconds < 1.6 and prepare_cost(small).seconds < 0.6
    assert 3 < fetch_cost(large).seconds < 7 and 1.2 < prepare_cost(large).seconds < 3


def test_costs_grow_at_least_with_the_rows_beyond_what_was_measured():
    flat = CostModel({"A": rows(lambda n, p: 3.0 + 0.001 * n, SIZES)})  # a constant time that small data sets hide the rest with
    largest, far = (flat("A", n, 10).seconds_per_fit for n in (5000, 500_000))
    assert far == pytest.approx(100 * largest)
    steep = CostModel({"A": rows(lambda n, p: 0.002 * n**1.3, SIZES)})
    assert steep("A", 500_000, 10).seconds_per_fit == pytest.approx(2e-6 * 500_000**1.3, rel=1e-6)


@pytest.mark.parametrize("program", [bench, bench_classifiers], ids=["regression", "classification"])
def test_the_data_sets_that_a_benchmark_names_are_those_of_its_study(program, root, request):
    study = main_study(request.node.callspec.id).id
    assert set(program.COMPARED) <= set(configure({"scale": "paper"}, root).config["studies"][study]["datasets"])
