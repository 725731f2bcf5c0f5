"""The workflow runs, gives the same bytes however it is run, and plans no more than it must."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from foldshift.engine.study.find import find_studies
from workflow_runner import ROOT, TINY, Workflow

pytestmark = pytest.mark.workflow
SNAKEMAKE = str(Path(sys.executable).with_name("snakemake"))


def test_every_table_and_figure_is_there_in_every_form(finished):
    names = set(finished.tables())
    for table in (
        "table1_datasets",
        "table4_dn",
        "dn_by_dataset",
        "table5_error",
        "error_order",
        "error_by_dataset",
        "scaling_check",
    ):
        assert {f"tables/{table}.{form}" for form in ("csv", "html", "tex")} <= names
    for figure in ("figure1_target_shift", "figure2_convergence", "dn_boxes", "dn_by_dataset"):
        assert {f"figures/{figure}.{form}" for form in ("svg", "pdf", "png")} <= names
    assert all(finished.tables().values())


def test_tables_have_the_columns_of_the_contract(finished):
    tables = finished.folder / "results/saez_2022/tables"
    shift = pd.read_csv(tables / "table4_dn.csv")
    assert shift.columns[:2].tolist() == ["k", "partitioner"] and {"mean_dn", "p_vs_cv", "p_vs_tscv"} <= set(shift)
    assert shift["partitioner"].tolist() == ["CV", "TSCV"]
    assert (shift.groupby("k")["mean_dn"].diff().dropna() < 0).all()
    error = pd.read_csv(tables / "table5_error.csv")
    assert error.columns[:3].tolist() == ["regressor", "k", "partitioner"] and {"rmse", "std", "p_vs_cv"} <= set(error)
    assert (error["n_failed_fits"] == 0).all() and (error["n_seeds"] == 8).all()
    each = pd.read_csv(tables / "dn_by_dataset.csv")
    assert each.columns[:4].tolist() == ["dataset", "k", "partitioner", "mean_dn"]


def test_the_numbers_are_those_that_other_machines_find(finished):
    tables = finished.folder / "results/saez_2022/tables"
    shift = pd.read_csv(tables / "table4_dn.csv").set_index(["k", "partitioner"])["mean_dn"]
    assert shift.to_dict() == pytest.approx({(3, "CV"): 0.0920350577, (3, "TSCV"): 0.009442556935}, rel=1e-8)
    error = pd.read_csv(tables / "table5_error.csv").set_index(["regressor", "k", "partitioner"])
    expected = {
        ("NN", 3, "CV"): (0.1188800804, 0.004683256306),
        ("NN", 3, "TSCV"): (0.1171104539, 0.003109593463),
        ("GBM", 3, "CV"): (0.09764482494, 0.002136689907),
        ("GBM", 3, "TSCV"): (0.09630071975, 0.002766271401),
    }
    for column, name in enumerate(("rmse", "std")):
        assert error[name].to_dict() == pytest.approx({keys: row[column] for keys, row in expected.items()}, rel=1e-6), name


def test_scores_are_one_parquet_data_set(finished):
    scores = pd.read_parquet(finished.folder / "results/saez_2022/scores", partitioning=None)
    expected = [
        "dataset",
        "learner",
        "partitioner",
        "k",
        "seed",
        "fold",
        "rmse",
        "mae",
        "r2",
        "n_train",
        "n_test",
        "status",
        "message",
        "fit_seconds",
    ]
    assert scores.columns.tolist() == expected
    assert len(scores) == 2 * 2 * 2 * 8 * 3
    assert (scores["status"] == "ok").all() and scores["rmse"].between(0, 1).all()


def test_provenance_says_what_the_results_came_from(finished):
    folder = finished.folder / "results/provenance"
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert config["studies"]["saez_2022"]["n_seeds"] == 8 and config["master_seed"] == 20220721
    assert json.loads((folder / "versions.json").read_text())["packages"]["numpy"]
    assert json.loads((folder / "datasets_saez_2022.json").read_text())["steps"]["source"] == "generated:steps"


def test_settings_of_the_command_line_go_over_those_of_the_folders_own_config_yaml(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(yaml.safe_dump(TINY))
    command = [SNAKEMAKE, "results/provenance/config.yaml", "--snakefile", str(ROOT / "Snakefile"), "--cores", "1"]
    subprocess.run([*command, "--config", "n_seeds=3"], cwd=tmp_path, capture_output=True, check=True)
    config = yaml.safe_load((tmp_path / "results/provenance/config.yaml").read_text())
    assert list(config["studies"]) == ["saez_2022"] and config["seeds_per_block"] == TINY["seeds_per_block"]
    assert config["studies"]["saez_2022"]["n_seeds"] == 3


def test_a_finished_run_plans_nothing(finished):
    assert finished.plan() == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("label", "settings", "cores", "env"),
    [
        pytest.param(
            *("blocks of seven seeds, one core, another hash seed", ["seeds_per_block=7"], 1, {"PYTHONHASHSEED": "7"}),
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            *("blocks of three seeds, four cores", ["seeds_per_block=3", "learners=NN,GBM"], 4, {"PYTHONHASHSEED": "8"}),
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_tables_are_the_same_bytes_however_the_run_is_cut(finished, tmp_path, label, settings, cores, env):
    other = Workflow(tmp_path / "a folder with spaces")
    other(config=settings, cores=cores, env=env, check=True)
    ours, theirs = finished.tables(), other.tables()
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


@pytest.mark.slow
def test_rows_do_not_depend_on_which_other_learners_and_partitioners_run(finished, tmp_path):
    config = yaml.safe_load(yaml.safe_dump(TINY))
    config["studies"]["saez_2022"] |= {"learners": ["GBM"], "partitioners": ["TSCV", "CV"], "datasets": ["steps"]}
    other = Workflow(tmp_path, config)
    other("--until", "evaluate", check=True)
    keys = ["dataset", "learner", "partitioner", "k", "seed", "fold", "rmse"]
    few = pd.read_parquet(tmp_path / "results/saez_2022/scores", columns=keys, partitioning=None)
    many = pd.read_parquet(finished.folder / "results/saez_2022/scores", columns=keys, partitioning=None)
    joined = few.merge(many, on=keys[:-1])
    assert len(joined) == len(few) == 2 * 8 * 3
    assert (joined["rmse_x"] == joined["rmse_y"]).all()


@pytest.mark.slow
def test_more_seeds_contain_the_fewer(finished, tmp_path):
    other = Workflow(tmp_path)
    other("--until", "evaluate", config=["n_seeds=9", "learners=NN", "datasets=steps"], check=True)
    keys = ["partitioner", "seed", "fold", "rmse"]
    more = pd.read_parquet(tmp_path / "results/saez_2022/scores", columns=keys, partitioning=None)
    filters = [("learner", "=", "NN"), ("dataset", "=", "steps")]
    fewer = pd.read_parquet(finished.folder / "results/saez_2022/scores", columns=keys, partitioning=None, filters=filters)
    assert len(more) == len(fewer) // 8 * 9
    assert len(more.merge(fewer, on=keys)) == len(fewer)


@pytest.fixture(scope="module")
def own_copy(finished, tmp_path_factory):
    """A copy of the project, with its tiny study finished: folds and scores are those of `finished`."""
    folder = tmp_path_factory.mktemp("copy") / "project"
    for part in ("src", "scripts", "workflow", "config", "profiles", "envs"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "Snakefile", folder)
    shutil.copytree(finished.folder, folder, dirs_exist_ok=True)
    workflow = Workflow(folder, TINY, root=folder)
    assert not {"make_folds", "evaluate", "measure_shift"} & set(workflow.plan())
    workflow(check=True)
    return workflow


@pytest.mark.thorough
def test_a_copy_in_another_folder_gives_the_same_bytes(finished, own_copy):
    own_copy("--forceall", check=True)
    assert own_copy.tables() == finished.tables()


DOWNSTREAM_OF_SCORES = {"collect_scores", "saez_2022"} | {
    f"saez_2022_{items}" for items in ("error", "convergence_figure", "failures", "single_datasets", "claims")
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (
            "learners/neighbours/nearest_regressor.py",
            {"evaluate", "saez_2022_compare_scaling", "saez_2022_scaling"} | DOWNSTREAM_OF_SCORES,
        ),
        (
            "engine/storage/seed_results.py",
            {"collect_shift", "saez_2022_shift", "saez_2022_shift_figures", "saez_2022_scaling", "saez_2022_target_shift_figure"}
            | DOWNSTREAM_OF_SCORES,
        ),
        (
            "studies/saez_2022/figures.py",
            {"saez_2022_target_shift_figure", "saez_2022_convergence_figure", "saez_2022_shift_figures"},
        ),
        ("learners/linear/mars.py", set()),
    ],
)
def test_an_edited_module_replans_what_rests_on_it_and_nothing_else(own_copy, module, expected):
    file = own_copy.folder / "src/foldshift" / module
    before = file.read_text()
    try:
        file.write_text(before + "\n# edited\n")
        plan = own_copy.plan()
        pages = {"write_study_page", "write_index", "saez_2022"}
        assert set(plan) == (expected | pages if expected else set())
        if module == "learners/neighbours/nearest_regressor.py":
            assert plan["evaluate"] == 2  # the other learner stays
    finally:
        file.write_text(before)
    assert own_copy.plan() == {}  # its time stamp is new, its content is not


@pytest.mark.slow
def test_touched_files_replan_nothing(own_copy):
    for part in ("src", "scripts"):
        for file in (own_copy.folder / part).rglob("*.py"):
            file.touch()
    assert own_copy.plan() == {}


def test_the_report_is_one_file_with_all_tables_and_figures(finished):
    finished("--report", "report.html", check=True)
    text = (finished.folder / "report.html").read_text()
    for item in ("table4_dn", "table5_error", "figure1_target_shift", "figure2_convergence", "partitioners_by_dataset"):
        assert item in text
    assert "Kolmogorov-Smirnov distance" in text


def test_the_page_to_read_first_is_there_and_leads_to_the_study(finished):
    results = finished.folder / "results"
    index, page = (path.read_text() for path in (results / "index.html", results / "saez_2022/index.html"))
    assert 'href="saez_2022/index.html"' in index and index.count("<article") == 1
    assert all((found.title in index) for found in find_studies().values()) and "the configuration leaves them out" in index
    assert "In regression, does it matter" in index and "In regression, does it matter" in page
    files = re.findall(r'(?:href|src)="([^"#]+)"', page)
    made = "../report.html"  # where it was asked for
    assert len(files) > 50 and [name for name in files if name != made and not (results / "saez_2022" / name).exists()] == []


@pytest.mark.slow
def test_snakemake_finds_no_fault_with_the_rules():
    done = subprocess.run([SNAKEMAKE, "--lint"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_papers_configuration_plans_below_6000_jobs():
    command = [SNAKEMAKE, "saez_2022", "--dry-run", "--quiet", "rules", "--configfile", "config/paper.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    total = int(text.split("total")[1].split()[0])
    assert 28 * 5 < total < 6000
