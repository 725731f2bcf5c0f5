"""A run that is stopped or killed in the middle: its last line says what to type, and that goes on."""

import os
import signal

import pytest

from crash_runner import SMALL, end_group, group_lives, wait_until
from workflow_runner import Workflow

pytestmark = pytest.mark.workflow


def start(workflow, log):
    """Start a run and wait for its first job."""
    run = workflow.start(log)
    wait_until(lambda: " jobs, " in log.read_text(encoding="utf-8"), 120, "the first job")
    return run


def test_a_run_that_is_stopped_or_killed_goes_on_with_the_same_command(tmp_path):
    workflow, log = Workflow(tmp_path, SMALL), tmp_path / "run.log"
    run = start(workflow, log)
    second = workflow()
    assert second.returncode and "Traceback" not in second.stderr
    assert f"is locked by process {run.pid} on " in second.stderr.strip().splitlines()[-1]
    end_group(run)
    run.wait()
    run = start(workflow, log)
    said = log.read_text(encoding="utf-8")
    assert f"the lock of a run that is gone was cleared: process {run.pid}" not in said
    assert "the lock of a run that is gone was cleared: process " in said
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(60) != 0
    said = log.read_text(encoding="utf-8").strip()
    assert "Traceback" not in said and "Error" not in said
    assert "stopped by Ctrl-C: " in said.splitlines()[-1] and "To go on, type: snakemake saez_2022 " in said.splitlines()[-1]
    wait_until(lambda: not group_lives(run), 20, "the end of the jobs")
    assert workflow.plan()
