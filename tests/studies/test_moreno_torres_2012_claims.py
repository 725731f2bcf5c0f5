"""Claims of Moreno-Torres, Saez and Herrera (2012)."""

from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from foldshift.engine.study.declare import OutputGroup
from foldshift.studies.moreno_torres_2012 import claims
from foldshift.studies.moreno_torres_2012.claims import ALL_RUNS, ONE_RUN, alike, by_wilcoxon, judge_accuracy, judge_speeds, near
from foldshift.studies.moreno_torres_2012.study import STUDY

PRINTED = files("foldshift.studies.moreno_torres_2012") / "printed/claims.csv"
SENTENCES = pd.read_csv(PRINTED, keep_default_na=False)
DELIBERATELY_WITHOUT = {"figure_case"}  # the numbers stand above the figures
SPEED = {"DOB-SCV": 10.0, "DB-SCV": 11.0, "SCV": 14.0, "MS-SCV": 30.0}


def convergence_rows(n_datasets, criteria=("recall", ONE_RUN, ALL_RUNS)):
    """Rows of two classifiers; DOB-SCV is the fastest, and more folds take longer."""
    rng, rows = np.random.default_rng(0), []
    for d in range(n_datasets):
        for learner in ("A", "B"):
            for cut, speed in SPEED.items():
                for k in (2, 5, 10):
                    for criterion in criteria:
                        number = speed * k + rng.normal()
                        rows.append((f"d{d}", learner, cut, k, criterion, 0.9999, "first", number))
    columns = ["dataset", "learner", "partitioner", "k", "criterion", "threshold", "rule", "experiments"]
    return pd.DataFrame(rows, columns=columns)


def write_inputs(folder, n_datasets):
    """Tables and rows of a run on some data sets."""
    rows = []
    for d, part in convergence_rows(n_datasets).groupby("dataset"):
        rows.append(folder / f"{d}.parquet")
        part.to_parquet(rows[-1])
    names = ["SCV below DB-SCV", "SCV below DOB-SCV", "MS-SCV last", "DOB-SCV at least DB-SCV"]
    gaps = [10.0, 12.0, 30.0, 1.0] if n_datasets > 1 else [np.nan] * 4
    tables = {
        "conclusions": pd.DataFrame(
            {"change": "paper: base", "scheme": "Average", "conclusion": names, "difference": gaps, "standard_error": 1.0}
        ),
        "table5": pd.DataFrame(
            [("paper", "5x2", "DOB-SCV", "1NN", "PART", 70, 100, 2.0)],
            columns=["configuration", "scheme", "partitioner", "row", "column", "agreements", "n_experiments", "truth_error"],
        ),
        "table6": pd.DataFrame(
            [("paper", "5x2", "DOB-SCV", 80.0, 1.0, 1.0)],
            columns=["configuration", "scheme", "partitioner", "percent", "standard_error", "truth_error"],
        ),
        "shift": pd.DataFrame(
            [
                (f"d{d}", "5x2", cut, 0.01 * s * (1 + 0.1 * d), 0.02 + 0.001 * d * (cut == "DB-SCV"))
                for d in range(n_datasets)
                for cut, s in SPEED.items()
            ],
            columns=["dataset", "scheme", "partitioner", "ks_mean", "spread"],
        ),
        "heldout": pd.DataFrame(
            [("whole", "5x2", "all", "SCV", -0.01, 0.001)],
            columns=["truth", "scheme", "learner", "partitioner", "bias", "standard_error"],
        ),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return SimpleNamespace(rows=rows, printed=PRINTED, **{name: folder / f"{name}.csv" for name in tables})


def ledger(folder, n_datasets):
    made = claims.claims(write_inputs(folder, n_datasets), {"ids": {"paper": {"A": "A", "B": "B"}}})
    return made["claims_ledger"].frame.set_index("id")


def test_every_sentence_has_a_judge_or_is_deliberately_without(tmp_path):
    found = ledger(tmp_path, 8)
    without = set(found.index[found["effect"].isna()])
    assert set(found.index) == set(SENTENCES["id"]) and without == DELIBERATELY_WITHOUT
    assert found["verdict"]["scv_below_db"] == found["verdict"]["2x5_before_5x2"] == found["verdict"]["ms_slowest"] == "holds"
    assert found["verdict"]["example_mean"] == "does not hold" and found["verdict"]["example_71"] == "holds"
    assert found["verdict"]["dob_db_alike"] == found["verdict"]["underestimates"] == "holds"
    assert found["verdict"]["dob_ahead"] == "cannot be seen here"  # 1 +- 1


def test_one_data_set_shows_no_order(tmp_path):
    found = ledger(tmp_path, 1)
    assert (
        found.loc[["ms_slowest", "2x5_before_5x2", "db_less_shift", "scv_below_db"], "verdict"] == "cannot be seen here"
    ).all()


def test_every_item_that_shows_a_claim_is_one_of_the_study():
    names = {item.name for one in STUDY.items for item in (one.items if isinstance(one, OutputGroup) else (one,))}
    assert set(SENTENCES["item"]) <= names and SENTENCES["id"].is_unique


def test_verdicts_on_constructed_numbers():
    assert by_wilcoxon(np.arange(1.0, 9.0)).verdict == "holds" and by_wilcoxon(-np.arange(1.0, 9.0)).verdict == "does not hold"
    assert by_wilcoxon(np.array([1.0, -2.0, 3.0, -4.0])).verdict == "cannot be seen here"
    assert alike(0.5, 0.1, 5.0).verdict == "holds" and alike(9.0, 0.1, 5.0).verdict == "does not hold"
    assert alike(4.0, 2.0, 5.0).verdict == alike(1.0, 1.0, -1.0).verdict == "cannot be seen here"
    assert near(1.0, 1.0).verdict == "holds" and near(9.0, 1.0).verdict == "does not hold"
    assert near(np.nan, 1.0).verdict == "cannot be seen here"


def test_without_a_scheme_or_a_cut_its_claims_have_no_verdict():
    rows = convergence_rows(5)
    rows = rows[(rows["k"] != 10) & (rows["partitioner"] != "MS-SCV")]
    speeds = rows.groupby(["dataset", "partitioner", "k", "criterion"])["experiments"].mean().reset_index()
    found = judge_speeds(speeds)
    assert set(found) == {"db_faster", "dob_faster", "dob_more_effective", "2x5_before_5x2", "more_information"}
    assert judge_accuracy(pd.DataFrame(columns=["change", "scheme", "conclusion", "difference", "standard_error"]), "paper") == {}


@pytest.mark.parametrize("column", ["claim", "shown_by", "page"])
def test_sentences_are_there_and_short(column):
    assert SENTENCES[column].str.len().between(1, 120).all()
