"""The SLURM profile hands over every job, by what reaches a stand-in for `sbatch`; no cluster is needed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crash_runner import end_group, wait_until
from workflow_runner import ROOT, TINY, Workflow

pytestmark = pytest.mark.workflow
N_JOBS = 300
SCORES = "results/saez_2022/scores/a_data_set/CV+TSCV/one_learner+another_learner/{block}-1000.parquet"
SNAKEFILE = f"""
rule all:
    input: expand("{SCORES}", block=range({N_JOBS}))

rule evaluate:
    output: "{SCORES}"
    resources: mem_mb=2000, runtime=30
    shell: "touch {{output}}"

rule classify:
    output: "classified"
    shell: "touch {{output}}"
"""
MAX_ARGUMENT = 131072  # bytes; MAX_ARG_STRLEN of Linux


@pytest.fixture
def environment(tmp_path):
    """Environment with a stand-in for SLURM that takes jobs and never runs them; `calls` reads what reached it."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in ("squeue", "sinfo", "sacct", "scontrol", "scancel"):
        (commands / name).write_text("#!/bin/sh\nexit 1\n")
    # One file per call: its arguments, each in a line of its own.
    sbatch = f'#!/bin/sh\nfor one in "$@"; do echo "$one"; done >"$(mktemp {tmp_path}/sbatch.XXXXXX)"\necho 1\n'
    (commands / "sbatch").write_text(sbatch)
    for file in commands.iterdir():
        file.chmod(0o755)
    return {"PATH": f"{commands}:{os.environ['PATH']}"}


def calls(folder):
    """Arguments of every call of sbatch."""
    return [file.read_text() for file in folder.glob("sbatch.*")]


def test_every_ready_job_is_submitted_in_arrays_that_fit_into_an_argument(environment, tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    snakemake = [str(Path(sys.executable).with_name("snakemake")), "--workflow-profile", str(ROOT / "profiles/slurm")]
    with open(tmp_path / "log", "wb") as log:
        run = subprocess.Popen(
            [*snakemake, "--default-resources", "slurm_partition=main"],
            cwd=tmp_path,
            env=os.environ | environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def n_tasks():
        ranges = re.findall(r"^--array=(\d+)-(\d+)$", "\n".join(calls(tmp_path)), re.MULTILINE)
        return sum(int(last) - int(first) + 1 for first, last in ranges)

    try:
        wait_until(lambda: n_tasks() == N_JOBS or run.poll() is not None, 120, f"{N_JOBS} submitted jobs")
    finally:
        end_group(run)
        run.wait()
    assert n_tasks() == N_JOBS
    longest = max(len(line) for call in calls(tmp_path) for line in call.splitlines())
    # The commands of the workflow's own jobs are up to twice as long as these.
    assert 2 * longest < MAX_ARGUMENT


def test_the_workflow_fetches_data_itself_and_hands_over_the_next_jobs_with_the_cores_of_a_small_node(
    environment, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", environment["PATH"])
    workflow = Workflow(tmp_path, TINY)
    log = tmp_path / "log"
    run = workflow.start(log, "--default-resources", "slurm_partition=main", cores=None, profile="slurm")

    def handed_over():
        return {
            name: text for text in calls(tmp_path) for name in re.findall(r"^rule_(\w+?)(?:_wildcards_\S+)?$", text, re.MULTILINE)
        }

    try:
        wait_until(lambda: len(handed_over()) == 2 or run.poll() is not None, 120, "the first jobs")
    finally:
        end_group(run)
        run.wait()
    assert set(handed_over()) == {"compile_kernels", "prepare_dataset"}, log.read_text()[-3000:]
    assert "--cpus-per-task=2" in handed_over()["compile_kernels"] and "--cpus-per-task=1" in handed_over()["prepare_dataset"]
