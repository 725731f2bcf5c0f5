"""`snakemake plan` says what a run will take, and is right about the jobs."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from foldshift.engine.costs.plan import TOGETHER
from foldshift.engine.rules.rule_functions import PAGE_RULES
from foldshift.engine.study.find import find_studies
from workflow_runner import ROOT, TINY, TINY_CLASSES, Workflow

pytestmark = pytest.mark.workflow
TARGETS = {"all", "saez_2022", "moreno_torres_2012"}
# Rules that make tables, figures and the pages that show them, which share a line.
OF_ITEMS = {f"{name}_{items.name}" for name, study in find_studies().items() for items in study.declaration().items}
OF_ITEMS |= set(PAGE_RULES)


def jobs_and_done(text):
    """Jobs, and those done, of every rule, from the printed plan."""
    rows = re.findall(r"^(\w+)\s+([\d,]+)\s+([\d,]+)\s+[\d.]+ ", text, re.MULTILINE)
    return {rule: (int(jobs.replace(",", "")), int(done.replace(",", ""))) for rule, jobs, done in rows}


def planned(workflow, target="plan"):
    done = workflow(targets=(target,), check=True)
    return jobs_and_done(done.stdout + done.stderr)


@pytest.mark.parametrize("config", [TINY, TINY_CLASSES])
def test_the_plan_counts_the_jobs_that_snakemake_would_run(config, tmp_path):
    workflow = Workflow(tmp_path, config)
    expected, plan = Counter(), workflow.plan()
    assert plan.items() >= dict.fromkeys(PAGE_RULES, 1).items()
    for rule, n in plan.items():
        if rule not in TARGETS:
            expected[TOGETHER if rule in OF_ITEMS else rule] += n
    found = planned(workflow)
    assert found.pop("all") == (sum(expected.values()), 0)
    assert {rule: jobs for rule, (jobs, _) in found.items()} == expected
    assert not (tmp_path / "results" / workflow.study).exists()  # nothing was started


def test_the_plan_counts_the_jobs_of_the_papers_configuration(tmp_path):
    command = [str(Path(sys.executable).with_name("snakemake")), "--configfile", str(ROOT / "config/paper.yaml"), "--cores", "1"]
    command += ["--snakefile", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles/default")]
    dry = subprocess.run(
        [*command, "--dry-run", "--quiet", "rules", "--", "all"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    plan = subprocess.run([*command, "--", "plan"], capture_output=True, text=True, cwd=tmp_path, check=True)
    total = int(re.search(r"^total\s+(\d+)", dry.stdout + dry.stderr, re.MULTILINE)[1])
    jobs, done = jobs_and_done(plan.stdout + plan.stderr)["all"]
    assert jobs - done + 1 == total < 300 * len(find_studies())  # and the target itself


def test_one_study_is_planned_alone(tmp_path):
    found = planned(Workflow(tmp_path, {"scale": "test", "studies": {"saez_2022": {}, "wong_2015": {}}}), "plan_saez_2022")
    assert found["evaluate"][0] > 0 and not any(rule.startswith("wong_2015") for rule in found)
    assert not (tmp_path / "results/saez_2022").exists()


def test_the_command_decides_which_studies_the_index_has(tmp_path):
    workflow = Workflow(tmp_path, {"scale": "test", "studies": {"saez_2022": {}, "wong_2015": {}}})
    one, both = workflow.plan(targets=("saez_2022",)), workflow.plan(targets=("all",))
    assert (one["write_study_page"], one["write_index"]) == (1, 1) and not any(rule.startswith("wong_2015") for rule in one)
    assert (both["write_study_page"], both["write_index"]) == (2, 1)


def test_what_is_done_is_not_planned_again(finished):
    found = planned(finished)
    assert all(jobs == done for jobs, done in found.values()) and found["evaluate"][0] > 0
