"""Another workflow, in another folder, uses this one as a module: nothing is edited, and nothing of it stands in this clone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from workflow_runner import ROOT, TINY, Workflow

pytestmark = [pytest.mark.workflow, pytest.mark.thorough]
SNAKEFILE = f"""
configfile: "config.yaml"

module foldshift:
    snakefile: "{ROOT}/workflow/Snakefile"
    config: config["foldshift"]

use rule * from foldshift as foldshift_*

rule summary:
    default_target: True
    input:
        rules.foldshift_saez_2022.input,
        table="foldshift/results/saez_2022/tables/table5_error.csv",
    output: "summary.csv"
    shell: "head -n 1 {{input.table}} > {{output}}"
"""


PLACES = {"results": "foldshift/results", "resources": "foldshift/resources"}


class Other:
    """A workflow of somebody else, with neither profile nor configuration of ours."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "workflow").mkdir(parents=True)
        (folder / "workflow/Snakefile").write_text(SNAKEFILE)
        self.configure({})

    def configure(self, more):
        """Write its configuration."""
        (self.folder / "config.yaml").write_text(yaml.safe_dump({"foldshift": TINY | PLACES | more}))

    def plan(self):
        """Number of jobs of every rule that a run would do now."""
        return {name: int(n) for name, n in re.findall(r"^(\w+)\s+(\d+)\s*$", self("--dry-run"), re.MULTILINE)}

    def __call__(self, *arguments):
        command = [str(Path(sys.executable).with_name("snakemake")), "--cores", "2", *arguments]
        environment = os.environ | {"PYTHONPATH": ""}
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=environment, timeout=1800)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return Other(tmp_path_factory.mktemp("other workflow"))


def test_another_workflow_plans_and_runs_a_study_to_the_same_bytes(other, finished):
    ours = {"evaluate": 4, "saez_2022_compare_scaling": 2, "saez_2022_error": 1}
    assert other.plan().items() >= {"summary": 1, **{f"foldshift_{rule}": n for rule, n in ours.items()}}.items()
    assert not (other.folder / "foldshift/results/saez_2022").exists()
    other()
    assert (other.folder / "summary.csv").read_text().startswith("regressor,k,partitioner,rmse")
    # Snakemake runs no `onstart` of a module: what labels stand for is not recorded, and nothing needs it.
    assert not (other.folder / "foldshift/results/provenance/labels.json").exists()
    made = Workflow(other.folder / "unused", TINY)
    made.folder = other.folder
    assert made.tables("foldshift/results") == finished.tables()
    assert "Nothing to be done" in other()


def test_its_plan_says_what_is_left_of_our_jobs(other):
    text = other("foldshift_plan")
    assert re.search(r"^foldshift_evaluate +4 +4 ", text, re.MULTILINE)
    assert re.search(r"^tables_and_figures +13 +13 ", text, re.MULTILINE)


def test_more_seeds_plan_the_added_seeds_only(other):
    other.configure({"n_seeds": 16})
    planned = other.plan()
    assert planned["foldshift_make_folds"] == 2 and planned["foldshift_evaluate"] == 4
    assert not {"foldshift_fetch_dataset", "foldshift_prepare_dataset", "foldshift_compile_kernels"} & planned.keys()
