"""The SLURM profile hands over every job, by what reaches a stand-in for `sbatch`; no cluster is needed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crash_runner import end_group, wait_until
from workflow_runner import ROOT

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


def test_every_ready_job_is_submitted_in_arrays_that_fit_into_an_argument(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in ("squeue", "sinfo", "sacct", "scontrol", "scancel"):
        (commands / name).write_text("#!/bin/sh\nexit 1\n")
    # One file per call: its arguments, each in a line of its own.
    (commands / "sbatch").write_text('#!/bin/sh\nfor one in "$@"; do echo "$one"; done >"$(mktemp sbatch.XXXXXX)"\necho 1\n')
    for file in commands.iterdir():
        file.chmod(0o755)
    snakemake = [str(Path(sys.executable).with_name("snakemake")), "--workflow-profile", str(ROOT / "profiles/slurm")]
    environment = os.environ | {"PATH": f"{commands}:{os.environ['PATH']}"}
    with open(tmp_path / "log", "wb") as log:
        run = subprocess.Popen(
            [*snakemake, "--default-resources", "slurm_partition=main"],
            cwd=tmp_path,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def calls():
        return [file.read_text() for file in tmp_path.glob("sbatch.*")]

    def n_tasks():
        ranges = re.findall(r"^--array=(\d+)-(\d+)$", "\n".join(calls()), re.MULTILINE)
        return sum(int(last) - int(first) + 1 for first, last in ranges)

    try:
        wait_until(lambda: n_tasks() == N_JOBS or run.poll() is not None, 120, f"{N_JOBS} submitted jobs")
    finally:
        end_group(run)
        run.wait()
    assert n_tasks() == N_JOBS
    longest = max(len(line) for call in calls() for line in call.splitlines())
    # The commands of the workflow's own jobs are up to twice as long as these.
    assert 2 * longest < MAX_ARGUMENT
