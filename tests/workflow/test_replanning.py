"""An edited module replans exactly the jobs that rest on it, and jobs rest on exactly the modules that they load."""

import io
import json
import re
import shutil
import subprocess

import pandas as pd
import pytest
import yaml

from workflow_runner import ROOT, Workflow

pytestmark = pytest.mark.workflow

CONFIG = {
    "learners_file": "learners.yaml",
    "studies": {
        "saez_2022": {
            "datasets": ["steps"],
            "partitioners": ["CV", "TSCV"],
            "learners": ["NN", "Mine"],
            "learners_per_job": 1,
            "n_folds": [3],
            "n_seeds": 2,
        },
        "moreno_torres_2012": {
            "datasets": ["iris"],
            "partitioners": ["SCV", "DB-SCV"],
            "learners": ["1NN", "LDA"],
            "configurations": ["corrected"],
            "learners_per_job": 1,
            "schemes": ["2x1"],
            "n_seeds": 2,
            "n_truth": 2,
            "ablation": {"n_seeds": 0},
            "held_out": {"populations": []},
        },
    },
}
PARTS = ("src", "scripts", "workflow", "config", "profiles", "envs")
RESULTS_OF_ENGINE = r"(saez_2022|moreno_torres_2012)/(folds|shift|scores|seed_scores)/"
ENGINE = ("--until", "measure_shift", "collect_scores")
LEARNER = """
from sklearn.dummy import DummyRegressor

from kit import helper


class Mine(DummyRegressor):
    def predict(self, X):
        return helper.same(super().predict(X))
"""
# Changes what it rests on while it is at work, once.
EDITING_LEARNER = """
from pathlib import Path

from sklearn.dummy import DummyRegressor

import helper


class Mine(DummyRegressor):
    def fit(self, X, y):
        file = Path(helper.__file__)
        if "edited" not in file.read_text():
            file.write_text(file.read_text() + "# edited\\n")
        return super().fit(X, y)
"""
# Loaded by their packages, whether used or not; what these say decides which files a job rests on, and is no file of it.
BY_PACKAGES = {"src/foldshift/shift/measures/hellinger.py"}


def project(folder):
    """A copy of the project that may be edited."""
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    return folder


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A copy of the project with its engine's jobs done, and what they loaded."""
    folder = project(tmp_path_factory.mktemp("replanning") / "project")
    learners = yaml.safe_load((folder / "config/learners.yaml").read_text())
    learners["Mine"] = {"import": "mine.Mine", "tasks": ["regression"], "nominal": "codes"}
    (folder / "learners.yaml").write_text(yaml.safe_dump(learners))
    (folder / "mine.py").write_text(LEARNER)
    (folder / "kit").mkdir()
    (folder / "kit/__init__.py").write_text("")
    (folder / "kit/helper.py").write_text("from .deeper import same\n")
    (folder / "kit/deeper.py").write_text("def same(values):\n    return values\n")
    (folder / "kit/unused.py").write_text("")
    workflow = Workflow(folder, CONFIG, root=folder)
    every = planned(workflow)
    return workflow, every, workflow.watched(*ENGINE)


def planned(workflow):
    """Outputs of the engine's jobs that a run would do now; by the summary, since a dry run shows messages, not outputs."""
    table = pd.read_csv(io.StringIO(workflow("--summary", check=True).stdout), sep="\t")
    pending = table.loc[table["plan"] == "update pending", "output_file"].str.removeprefix("results/")
    return {output for output in pending if re.match(RESULTS_OF_ENGINE, output)}


def after_an_edit(workflow, module):
    """What a run would do once the module has one line more; the module is put back."""
    file = workflow.folder / module
    text = file.read_text()
    try:
        file.write_text(text + "\n# edited\n")
        return planned(workflow)
    finally:
        file.write_text(text)


def test_what_is_finished_plans_nothing(done):
    workflow, every, _ = done
    assert len(every) >= 12 and planned(workflow) == set()


FOLDS = {
    "saez": r"saez_2022/folds/",
    "truth": r"moreno_torres_2012/folds/iris/truth_",
    "cuts": r"moreno_torres_2012/folds/iris/(?!truth)",
}
SAEZ_SCORES, SAEZ_END = r"saez_2022/scores/", r"saez_2022/seed_scores/"
MORENO_SCORES, MORENO_END = r"moreno_torres_2012/scores/", r"moreno_torres_2012/seed_scores/"
SHIFT = r"saez_2022/shift/"


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("src/foldshift/partition/neighbours/search.py", [FOLDS["cuts"], MORENO_SCORES + "iris/(?!truth)", MORENO_END]),
        ("src/foldshift/partition/methods/distance_based.py", [FOLDS["cuts"], MORENO_SCORES + "iris/(?!truth)", MORENO_END]),
        ("src/foldshift/core/gate/categorical.py", [FOLDS["cuts"], MORENO_SCORES + "iris/((?!truth)|.*1NN)", MORENO_END]),
        ("src/foldshift/partition/methods/scv.py", [FOLDS["cuts"], FOLDS["truth"], MORENO_SCORES, MORENO_END]),
        ("src/foldshift/partition/methods/stratified.py", [FOLDS["saez"], SHIFT, SAEZ_SCORES, SAEZ_END]),
        ("src/foldshift/learners/linear/lda.py", [MORENO_SCORES + ".*LDA", MORENO_END]),
        (
            "src/foldshift/learners/neighbours/nearest_regressor.py",
            [SAEZ_SCORES + ".*/NN", SAEZ_END, MORENO_SCORES + ".*/1NN", MORENO_END],
        ),
        ("src/foldshift/learners/neighbours/random_ties.py", [SAEZ_SCORES + ".*/NN", SAEZ_END]),
        ("kit/helper.py", [SAEZ_SCORES + ".*/Mine-", SAEZ_END]),
        ("kit/deeper.py", [SAEZ_SCORES + ".*/Mine-", SAEZ_END]),
        ("kit/unused.py", []),
        ("src/foldshift/shift/measures/ks.py", [SHIFT]),
        ("src/foldshift/reporting/table_grid.py", []),
        ("src/foldshift/learners/trees/gbm.py", []),
    ],
)
def test_an_edited_module_replans_exactly_what_rests_on_it(done, module, expected):
    workflow, every, _ = done
    wanted = {output for output in every if any(re.match(pattern, output) for pattern in expected)}
    assert all(any(re.match(pattern, output) for output in wanted) for pattern in expected)
    assert after_an_edit(workflow, module) == wanted


def test_a_touched_module_replans_nothing(done):
    workflow, _, _ = done
    (workflow.folder / "kit/deeper.py").touch()
    assert planned(workflow) == set()


def test_what_is_edited_while_a_job_runs_is_seen_by_the_next_run(tmp_path):
    study = {"datasets": ["steps"], "partitioners": ["CV", "TSCV"], "learners": ["Mine"], "n_folds": [3], "n_seeds": 2}
    (tmp_path / "learners.yaml").write_text(
        yaml.safe_dump({"Mine": {"import": "mine.Mine", "tasks": ["regression"], "nominal": "codes"}})
    )
    (tmp_path / "mine.py").write_text(EDITING_LEARNER)
    (tmp_path / "helper.py").write_text("")
    workflow = Workflow(tmp_path, {"learners_file": "learners.yaml", "studies": {"saez_2022": study}})
    workflow("--until", "evaluate", check=True)
    assert "edited" in (tmp_path / "helper.py").read_text()
    assert any("/scores/steps/" in output for output in planned(workflow))
    workflow("--until", "evaluate", check=True)
    assert not any("/scores/steps/" in output for output in planned(workflow))
    shutil.rmtree(tmp_path / ".snakemake")
    assert "results holds files of saez_2022, and .snakemake no record" in workflow("--dry-run").stdout


def test_jobs_load_no_module_that_they_do_not_rest_on(done):
    workflow, every, jobs = done
    assert {output.removeprefix("results/") for _, output, _, _ in jobs} >= every
    for rule, output, loaded, declared in jobs:
        if rule == "compile_kernels":  # its stamp stands for an order: code is kept by the content of its source
            continue
        missing = {file.removeprefix(f"{workflow.folder}/") for file in loaded - declared} - BY_PACKAGES
        assert not missing, f"{rule}, {output}"


def test_jobs_rest_on_few_modules_that_they_do_not_load(done):
    workflow, _, jobs = done
    spare = {
        (rule, file.removeprefix(f"{workflow.folder}/src/foldshift/"))
        for rule, output, loaded, declared in jobs
        for file in declared - loaded
        if "/scripts/" not in file and not file.endswith("/__init__.py")
    }
    # Imported when a catalogue's entry is of that kind.
    assert spare <= {("fetch_dataset", "datasets/synthetic/generated.py")}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_new_commit_is_written_down_though_nothing_else_is_made_again(tmp_path):
    """Whatever stands in the results is what the commit makes that the last run was made with."""
    folder = project(tmp_path / "project")

    def git(*command):
        who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
        return subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()

    def written():
        return json.loads((folder / "results/provenance/run.json").read_text())["git"]

    git("init", "--quiet")
    git("add", *PARTS, "Snakefile")
    git("commit", "--quiet", "-m", "first")
    workflow = Workflow(folder, root=folder)
    workflow(targets=("write_provenance",), check=True)
    first = git("rev-parse", "HEAD")
    assert written() == {"commit": first, "changed_files": 0}
    assert workflow.plan(targets=("write_provenance",)) == {}
    git("commit", "--quiet", "--allow-empty", "-m", "second")
    workflow(targets=("write_provenance",), check=True)
    assert written() == {"commit": git("rev-parse", "HEAD"), "changed_files": 0} and written()["commit"] != first
    (folder / "Snakefile").write_text((folder / "Snakefile").read_text() + "\n# edited\n")
    workflow(targets=("write_provenance",), check=True)
    assert written()["changed_files"] == 1
