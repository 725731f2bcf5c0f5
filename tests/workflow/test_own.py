"""A user's own data, learners and partitioner join by configuration alone, as the README says."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from workflow_runner import ROOT, Workflow

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def own_study(tmp_path_factory):
    """The README's example, on a table with numbers, labels, gaps and a constant column."""
    folder = tmp_path_factory.mktemp("own")
    (text,) = re.findall(r"```yaml\n# my.yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    config = yaml.safe_load(text)
    config["studies"]["saez_2022"]["n_seeds"] = 3
    config["studies"]["saez_2022"]["learners"] += ["HGB"]
    workflow = Workflow(folder, config)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.random(60), "town": rng.choice(["Ulm", "Bonn", "Jena"], 60), "one": 1})
    table["price"] = table["size"] + (table["town"] == "Bonn") + 0.1 * rng.random(60)
    table.loc[[3, 9], "size"] = np.nan
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
    assert set(error["partitioner"]) == {"CV", "SCV10", "Halves", "TSCV"} and set(error["regressor"]) == {"NN", "SVR", "HGB"}
    assert (error["n_failed_fits"] == 0).all() and error["rmse"].between(0, 1).all()


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
