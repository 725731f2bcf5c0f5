"""The classification study runs end to end, and gives the same bytes however it is run."""

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from foldshift.datasets.dataset import read_prepared
from foldshift.engine.storage.fold_files import read_folds
from foldshift.engine.storage.prediction_files import read_predictions
from workflow_runner import ROOT, TINY_CLASSES, Workflow

pytestmark = pytest.mark.workflow
STUDY = "moreno_torres_2012"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The tiny classification study, run once."""
    workflow = Workflow(tmp_path_factory.mktemp("classes"), TINY_CLASSES)
    workflow(check=True)
    return workflow


def read(done, name):
    return pd.read_csv(done.folder / "results" / STUDY / f"{name}.csv")


def changed(**changes):
    config = copy.deepcopy(TINY_CLASSES)
    config["studies"][STUDY] |= changes
    return config


def test_every_table_and_figure_is_there_in_every_form(done):
    names = set(done.tables())
    for table in (
        "table1_datasets",
        "table2_classifiers",
        "table3_auc",
        "table4_wilcoxon",
        "table5_agreement",
        "table6_accuracy",
        "table7_convergence",
        "convergence_sensitivity",
        "covariate_shift",
        "shifted_features",
        "covariate_shift_and_error",
        "ablation",
        "conclusions",
        "partitioner_bias",
        "heldout_bias",
        "claims_ledger",
    ):
        assert {f"tables/{table}.{form}" for form in ("csv", "html", "tex")} <= names
    for figure in (
        "figure1_extreme_shift",
        "figure2_artificial",
        "figure3_db_scv",
        "figure4_dob_scv",
        "accuracy_by_repetitions",
        "convergence_curves",
        "covariate_shift",
        "ablation",
    ):
        assert {f"figures/{figure}.{form}" for form in ("svg", "pdf", "png")} <= names
    assert all(done.tables().values())


@pytest.mark.parametrize(
    ("table", "columns", "rows"),
    [
        ("table3_auc", ["scheme", "dataset", "classifier", "auc"], 2 * 2 * 3 * 4),
        ("table4_wilcoxon", ["scheme", "row", "column", "r_plus", "r_minus", "p_value"], 2 * 2 * 12),
        ("table5_agreement", ["scheme", "partitioner", "row", "column", "agreements"], None),
        ("table6_accuracy", ["scheme", "partitioner", "percent"], None),
        ("table7_convergence", ["scheme", "partitioner", "criterion", "mean", "std", "cut_off"], 2 * 2 * 2 * 4),
    ],
)
def test_tables_have_the_columns_of_the_contract(done, table, columns, rows):
    frame = read(done, f"tables/{table}")
    assert frame.columns[0] == "configuration" and set(columns) <= set(frame)
    if table != "table5_agreement":  # on three data sets no pair of classifiers can differ at .1
        assert set(frame["configuration"]) == {"paper", "corrected"}
        assert set(frame["scheme"]) - {"Average"} == {"2x2", "3x1"}
    assert rows is None or len(frame) == rows


def test_scores_are_one_parquet_data_set_with_a_row_per_fold(done):
    scores = pd.read_parquet(done.folder / "results" / STUDY / "scores", partitioning=None)
    assert {"auc_crisp", "auc", "accuracy", "balanced_accuracy", "log_loss", "n_train", "n_test", "status", "message"} <= set(
        scores
    )
    # 4 partitioners x 4 experiments, the truth's 6, 3 variants x 3, of 2 x 2 and 3 folds; 6 variants x 2 experiments of 3 folds
    assert len(scores) == 3 * 8 * ((4 * 4 + 6 + 3 * 3) * (2 * 2 + 3) + 6 * 2 * 3)  # four classifiers in two configurations
    assert (scores["status"] == "ok").all() and scores["auc_crisp"].between(0, 1).all()


def test_the_table_of_the_truth_is_the_mean_of_the_scores(done):
    scores = pd.read_parquet(done.folder / "results" / STUDY / "scores", partitioning=None).query("partitioner == 'truth'")
    table = read(done, "tables/table3_auc").set_index(["configuration", "scheme", "dataset", "classifier"])["auc"]
    for configuration, learner in (("paper", "C4.5@paper"), ("corrected", "C4.5")):
        mean = scores[(scores["learner"] == learner) & (scores["k"] == 2) & (scores["dataset"] == "wine")]["auc_crisp"].mean()
        assert table[configuration, "2x2", "wine", "C4.5"] == pytest.approx(mean)


def test_the_kept_predictions_give_the_scores(done):
    folder = done.folder / "results" / STUDY
    data = read_prepared(done.folder / "resources/prepared/none/iris.npz")
    (bundle,) = (path.name for path in (folder / "folds/iris").iterdir() if path.name.startswith("SCV"))
    folds, seeds = read_folds(next((folder / "folds/iris" / bundle).iterdir()))
    for path in (folder / "predictions/iris" / bundle).rglob("*.npz"):
        scores = pd.read_parquet(folder / "scores" / path.relative_to(folder / "predictions").with_suffix(".parquet"))
        for (learner, partitioner, k), codes in read_predictions(path).items():
            assert codes.shape == folds[partitioner, k].shape == (4 * {2: 2, 3: 1}[k], 150)
            rows = scores[(scores["learner"] == learner) & (scores["partitioner"] == partitioner) & (scores["k"] == k)]
            right = [
                (codes[s] == data.y)[folds[partitioner, k][s] == fold].mean() for s in range(len(codes)) for fold in range(k)
            ]
            np.testing.assert_allclose(rows["accuracy"], right)
            assert rows["seed"].tolist() == np.repeat(seeds[k], k).tolist()


def test_the_truth_has_its_own_partitions(done):
    folder = done.folder / "results" / STUDY / "folds/wine"
    truth, truth_seeds = read_folds(next((folder / "truth_2x2+3x1").iterdir()))
    (own,) = (path for path in folder.iterdir() if path.name.startswith("SCV"))
    folds, seeds = read_folds(next(own.iterdir()))
    assert seeds[2][0] == truth_seeds[2][0]
    assert (truth["truth", 2][0] != folds["SCV", 2][0]).any()


def test_a_finished_run_plans_nothing(done):
    assert done.plan() == {}


@pytest.mark.thorough
def test_tables_are_the_same_bytes_however_the_run_is_cut(done, tmp_path):
    other = Workflow(tmp_path / "a folder with spaces", changed(learners_per_job=5))
    other(config=["seeds_per_block=4", "partitioners_per_job=5"], env={"PYTHONHASHSEED": "7"}, check=True)
    ours, theirs = done.tables(), other.tables()
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


@pytest.mark.thorough
def test_a_slow_learner_is_left_out_of_large_data_sets_and_the_tables_say_so(done, tmp_path):
    few = {"schemes": ["2x2"], "n_seeds": 2, "n_truth": 2, "ablation": {"n_seeds": 0}, "held_out": {"populations": []}}
    other = Workflow(tmp_path, changed(max_rows={"LDA": 200}, configurations=["paper"], **few))
    other(targets=[f"results/{STUDY}/tables/{name}.csv" for name in ("table3_auc", "table4_wilcoxon")], check=True)
    auc = read(other, "tables/table3_auc")
    assert auc.query("dataset == 'monk-2' and classifier == 'LDA'")["auc"].isna().all()
    assert auc.query("dataset != 'monk-2' or classifier != 'LDA'")["auc"].notna().all()
    pairs = read(other, "tables/table4_wilcoxon").set_index(["scheme", "row", "column"])["n_datasets"]
    assert pairs["2x2", "1NN", "LDA"] == 2 and pairs["2x2", "1NN", "C4.5"] == 3


def test_provenance_names_the_data_of_the_study(done):
    sources = json.loads((done.folder / f"results/provenance/datasets_{STUDY}.json").read_text())
    assert set(sources) == {"iris", "monk-2", "wine"}


ROWS = "a,b,class\n" + "".join(f"{i % 7},{i % 5},{'yes' if i % 3 else 'no'}\n" for i in range(30))


CANNOT_BE_CUT = {
    "one_class": ("a,b,class\n1,2,x\n2,3,x\n", "all rows are of class 'x'; at least two classes are needed"),
    "two_rows": ("a,b,class\n1,2,x\n2,3,y\n", "n_folds=3 must be between 2 and the number of samples, 2"),
    "infinite": (ROWS.replace("3,3,", "inf,3,"), "input 'a' holds 1 infinite value, the first in row 4"),
    "missing": ("a,b,class\n?,2,x\n1,?,y\n", "all 2 rows have missing values"),
}
ODD = {
    "identical": "a,b,class\n" + "".join(f"1,1,{'yes' if i % 3 else 'no'}\n" for i in range(30)),
    # A class smaller than the number of folds.
    "small": "a,b,class\n" + "".join(f"{i},u{i % 4},{'yes' if i > 1 else 'no'}\n" for i in range(30)),
    # Every category unseen at predict time.
    "unseen": "a,b,class\n" + "".join(f"{i % 4},v{i},{'yes' if i % 2 else 'no'}\n" for i in range(30)),
    "lacking": "a,b,class\n,1,yes\n" + ROWS.split("\n", 1)[1],
}


def with_files(folder, contents, **changes):
    """The tiny study on files of a user's own, written to a folder."""
    config = changed(datasets=list(contents), held_out={"populations": []}, schemes=["3x1"], **changes)
    config["studies"][STUDY]["ablation"] = {"n_seeds": 0}
    config["extra_datasets"] = {
        name: {"task": "classification", "target": "class", "sources": f"file:{name}.csv"} for name in contents
    }
    for name, content in contents.items():
        (folder / f"{name}.csv").write_text(content)
    return Workflow(folder, config)


def test_data_that_cannot_be_cut_are_one_line(tmp_path):
    done = with_files(tmp_path, {name: content for name, (content, _) in CANNOT_BE_CUT.items()})("--keep-going")
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in text
    said = [line.split("foldshift: ", 1)[1] for line in text.splitlines() if "foldshift: " in line]
    for name, (_, expected) in CANNOT_BE_CUT.items():
        assert [line for line in said if name in line and expected in line], (name, said)


# Tables of a single data set have less to show than those of four.
@pytest.mark.thorough
@pytest.mark.parametrize("names", [["identical"], list(ODD)], ids=["one", "four"])
def test_odd_data_run_through(tmp_path, names):
    learners = ["1NN", "LDA", "C4.5", "PART", "RIPPER", "SVM"]
    workflow = with_files(tmp_path, {name: ODD[name] for name in names}, learners=learners)
    workflow(check=True)
    scores = pd.read_parquet(tmp_path / "results" / STUDY / "scores", partitioning=None)
    assert (scores["status"] == "ok").all() and scores["auc_crisp"].between(0, 1).all()
    assert read(workflow, "tables/table1_datasets")["samples"].tolist() == [30] * len(names)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["datasets=diabetes"], "diabetes is a regression data set; moreno_torres_2012 takes classification data sets"),
        (["partitioners=SCV,DOBSCV"], "unknown partitioner in moreno_torres_2012.partitioners 'DOBSCV'; did you mean DOB-SCV"),
        (["n_folds=7"], "k=7 has no scheme in moreno_torres_2012; allowed: 2, 3, or add 7x1 to its schemes"),
        (["learners=C45"], "unknown learner in moreno_torres_2012.learners 'C45'; did you mean C4.5"),
        (["scaling=fold"], "scaling='fold' must be one of global, none"),
    ],
)
def test_a_mistake_in_configuration_is_found_before_planning(tmp_path, settings, expected):
    done = Workflow(tmp_path, TINY_CLASSES)(config=settings)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and expected in text and "Traceback" not in text and "Job stats" not in text


def test_an_unknown_population_is_found_before_planning(tmp_path):
    done = Workflow(tmp_path, changed(held_out={"populations": ["twonrom"]}))()
    text = done.stdout + done.stderr
    assert "unknown population in moreno_torres_2012.held_out.populations 'twonrom'; did you mean twonorm" in text
    assert "Traceback" not in text


def test_the_guides_example_with_classes_of_ones_own_runs(tmp_path):
    (text,) = re.findall(r"```yaml\n# classes.yaml\n(.*?)```", (ROOT / "docs/guides/own_data.md").read_text(), re.DOTALL)
    config = yaml.safe_load(text)
    config["studies"][STUDY] |= {"n_seeds": 2, "n_truth": 2, "ablation": {"n_seeds": 0}, "held_out": {"populations": []}}
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.random(60), "town": rng.choice(["Ulm", "Bonn", "Jena"], 60)})
    table["class"] = np.where(table["size"] + (table["town"] == "Bonn") > 0.9, "yes", "no")
    (tmp_path / "data").mkdir()
    table.to_csv(tmp_path / "data/ours.csv", index=False)
    workflow = Workflow(tmp_path, config)
    workflow(targets=[f"results/{STUDY}/tables/{name}.csv" for name in ("table1_datasets", "learners_by_dataset")], check=True)
    sets = read(workflow, "tables/table1_datasets").set_index("dataset")
    assert sets.loc["ours", ["attributes", "real", "nominal", "samples"]].tolist() == [2, 1, 1, 60]
    assert set(read(workflow, "tables/learners_by_dataset")["dataset"]) == set(config["studies"][STUDY]["datasets"])
