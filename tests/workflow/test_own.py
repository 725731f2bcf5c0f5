"""A user's own data, learners and partitioner join by configuration alone, as the guide says."""

import os
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from foldshift.datasets.dataset import read_prepared
from foldshift.engine.storage.fold_files import read_folds
from workflow_runner import ROOT, Workflow

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def own_study(tmp_path_factory):
    """The guide's example, on a table with numbers, labels, gaps and a constant column."""
    folder = tmp_path_factory.mktemp("own")
    (text,) = re.findall(r"```yaml\n# my.yaml\n(.*?)```", (ROOT / "docs/guides/own_data.md").read_text(), re.DOTALL)
    config = yaml.safe_load(text)
    config["studies"]["saez_2022"]["n_seeds"] = 3
    config["studies"]["saez_2022"]["learners"] += ["HGB"]
    config["extra_datasets"]["mine"]["sources"] += "?group_on=street"
    workflow = Workflow(folder, config)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.random(60), "town": rng.choice(["Ulm", "Bonn", "Jena"], 60), "one": 1})
    table["price"] = table["size"] + (table["town"] == "Bonn") + 0.1 * rng.random(60)
    table.loc[[3, 9], "size"] = np.nan
    table["street"] = [f"street {number}" for number in rng.integers(15, size=60)]
    (folder / "data").mkdir()
    table.to_csv(folder / "data/mine.csv", index=False)
    (folder / "my_cuts.py").write_text(
        "import numpy as np\n\n\ndef halves(X, y, n_folds, rngs):\n"
        "    return np.array([rng.permutation(len(y)) % n_folds for rng in rngs])\n"
    )
    workflow(check=True)
    return workflow


def test_own_data_learners_and_partitioner_are_in_the_tables(own_study):
    tables = own_study.folder / "results/saez_2022/tables"
    sets = pd.read_csv(tables / "table1_datasets.csv").set_index("dataset")
    assert sets.loc["mine", ["attributes", "nominal", "samples", "dropped"]].tolist() == [3, 1, 58, 2]
    assert sets.loc["mine", "constant"] == "one"
    error = pd.read_csv(tables / "table5_error.csv")
    assert set(error["partitioner"]) == {"CV", "SCV10", "Halves", "TSCV", "CB-TSCV"} and set(error["regressor"]) == {
        "NN",
        "SVR",
        "HGB",
    }
    assert (error["n_failed_fits"] == 0).all() and error["rmse"].between(0, 1).all()


def test_groups_stay_together_in_the_cuts_that_heed_them_and_are_no_input(own_study):
    groups = read_prepared(own_study.folder / "resources/prepared/global/mine.npz").groups
    folds = {}
    for file in (own_study.folder / "results/saez_2022/folds/mine").rglob("*.npz"):
        folds |= read_folds(file)[0]
    assert len(np.unique(groups)) == 15

    def n_parted(name):
        return sum(len(set(row[groups == group])) > 1 for row in folds[name, 5] for group in np.unique(groups))

    assert n_parted("CB-TSCV") == 0 < n_parted("TSCV")
    sets = (own_study.folder / "results/saez_2022/tables/table1_datasets.html").read_text()
    assert "groups of column street: 15" in sets


def test_shift_of_the_inputs_is_in_the_tables(own_study):
    tables = own_study.folder / "results/saez_2022/tables"
    shift = pd.read_csv(tables / "covariate_shift.csv").set_index(["measure", "partitioner"])["mean"]
    assert shift["ks_mean", "CB-TSCV"] < shift["ks_mean", "CV"]
    features = pd.read_csv(tables / "shifted_features.csv")
    assert set(features["feature"][features["dataset"] == "mine"]) == {"size", "town", "one", "target"}


def test_the_paper_is_not_compared_with_other_data(own_study):
    results = own_study.folder / "results/saez_2022"
    assert not list(results.glob("paper_vs_ours*"))
    # Two data sets decide no test over data sets; each says something by itself, in the units of its target.
    assert "no test over data sets can show a difference" in (results / "tables/table5_error.html").read_text()
    assert "Left out: this run has" in (results / "figures/figure2_convergence.html").read_text()
    for name in ("partitioners_by_dataset", "learners_by_dataset"):
        table = pd.read_csv(results / f"tables/{name}.csv")
        assert "mine" in set(table["dataset"]) and table["difference_own_units"].notna().all()


def test_scaling_per_fold_and_none_run_through(own_study):
    scores = {}
    for scaling in ("fold", "none"):
        own_study(
            "--until", "evaluate", config=[f"scaling={scaling}", f"results={scaling}", "learners=NN", "datasets=mine"], check=True
        )
        scores[scaling] = pd.read_parquet(own_study.folder / scaling / "saez_2022/scores", partitioning=None)
    whole = pd.read_parquet(own_study.folder / "results/saez_2022/scores", partitioning=None).query(
        "dataset == 'mine' and learner == 'NN'"
    )
    assert scores["fold"]["rmse"].mean() == pytest.approx(whole["rmse"].mean(), rel=0.2)
    assert (scores["fold"]["rmse"].to_numpy() != whole["rmse"].to_numpy()).any()
    assert scores["none"]["rmse"].mean() > scores["fold"]["rmse"].mean()  # in the target's own unit, whose range is above 1


def test_blocks_of_places_are_cut_and_their_shift_is_in_the_tables(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(1000 * rng.random((80, 2)), columns=["east", "north"]).round(1)
    table.assign(y=table.east + 50 * rng.normal(size=80)).to_csv(tmp_path / "mine.csv", index=False)
    entry = {"task": "regression", "target": "y", "sources": "file:mine.csv?space_on=east,north"}
    study = {"datasets": ["mine"], "partitioners": ["CV", "TSCV", "BLOCKS"], "n_folds": [5], "n_seeds": 3}
    config = {"scale": "test", "studies": {"saez_2022": study}, "extra_datasets": {"mine": entry}}
    workflow = Workflow(tmp_path, config)
    workflow(targets=("results/saez_2022/tables/dn_by_dataset.csv",), check=True)
    places = read_prepared(tmp_path / "resources/prepared/global/mine.npz").coordinates
    folds = {}
    for file in (tmp_path / "results/saez_2022/folds/mine").rglob("*.npz"):
        folds |= read_folds(file)[0]
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(80, np.inf))

    def share_with_neighbour(name):
        return np.mean([row == row[apart.argmin(axis=1)] for row in folds[name, 5]])

    assert share_with_neighbour("BLOCKS") > 0.5 > share_with_neighbour("TSCV")
    shift = pd.read_csv(tmp_path / "results/saez_2022/tables/dn_by_dataset.csv").set_index("partitioner")["mean_dn"]
    assert shift["BLOCKS"] > shift["CV"] > shift["TSCV"]
    found = workflow("--dry-run", config=["datasets=[mine,diabetes]"])
    assert found.returncode != 0 and "data set diabetes has none; add space_on=COLUMN,COLUMN" in found.stdout + found.stderr


def test_cuts_by_time_and_subset_are_measured_beside_random_ones(tmp_path):
    rng = np.random.default_rng(0)
    day = pd.Series(pd.date_range("2024-01-01", periods=60)).sample(frac=1, random_state=0)
    table = pd.DataFrame({"day": day.dt.strftime("%Y-%m-%d").to_numpy(), "site": rng.choice([*"ab"], 60), "x": rng.random(60)})
    table["y"] = day.dt.day_of_year.to_numpy() + rng.random(60)
    table.to_csv(tmp_path / "mine.csv", index=False)
    entry = {"task": "regression", "target": "y", "sources": "file:mine.csv?time_on=day&subset_on=site"}
    study = {"datasets": ["mine", "diabetes"], "n_folds": [3], "n_seeds": 3}
    workflow = Workflow(tmp_path, {"scale": "test", "studies": {"saez_2022": study}, "extra_datasets": {"mine": entry}})
    workflow(targets=("saez_2022_structured_cuts",), check=True)
    found = pd.read_csv(tmp_path / "results/saez_2022/tables/structured_cuts.csv").set_index("cut")
    assert found.index.tolist() == ["CV", "FORWARD", "SAME", "OTHER", "ALL"] and set(found["dataset"]) == {"mine"}
    assert found.loc["FORWARD", "target"] > 0.9 and found.loc["CV", "target"] < 0.4
    plain = workflow.plan("--forceall", targets=("saez_2022",), config=["datasets=[diabetes]"])
    assert not any("structured" in rule for rule in plain)


def test_another_file_of_the_same_name_is_read_though_its_time_stamp_is_older(tmp_path):
    entry = {"task": "regression", "target": "y", "sources": "file:mine.csv"}
    config = {"scale": "test", "studies": {"saez_2022": {"datasets": ["mine"]}}, "extra_datasets": {"mine": entry}}
    workflow = Workflow(tmp_path, config)
    (tmp_path / "mine.csv").write_text("a,y\n" + "".join(f"{i % 7},{i}.5\n" for i in range(40)))
    target = ("resources/fetched/mine.parquet",)
    workflow(targets=target, check=True)
    assert workflow.plan(targets=target) == {}
    (tmp_path / "mine.csv").write_text("a,y\n" + "".join(f"{i % 7},{i}.7\n" for i in range(40)))
    os.utime(tmp_path / "mine.csv", (10**9, 10**9))
    assert workflow.plan(targets=target) == {"fetch_dataset": 1}
