"""Killed, out of disk space or without permission: a run ends with a clear message and goes on to the same bytes."""

import os
import shutil
import subprocess

import pytest

from crash_runner import SMALL, crash_and_resume, moments, planned_jobs, temporaries
from workflow_runner import Workflow

pytestmark = pytest.mark.workflow
SEED = 20220721
N_KILLS = 1  # of either kind; `make thorough WHAT=crash` has ten
# They rest on every kind of job in blocks; `make thorough WHAT=crash` makes the whole study.
TARGETS = [f"results/saez_2022/{name}" for name in ("tables/table4_dn.csv", "tables/table5_error.html", "figures/dn_boxes.svg")]
FULL = "No space left on device"


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A run that nobody killed, and the number of its jobs."""
    workflow = Workflow(tmp_path_factory.mktemp("reference"), SMALL)
    done = workflow("--verbose", targets=TARGETS, check=True)
    return workflow.tables(), planned_jobs(done.stdout + done.stderr)


def own_lines(text):
    """The program's own lines, each once."""
    return {line.partition("foldshift: ")[2].strip() for line in text.splitlines() if "foldshift: " in line}


@pytest.mark.parametrize("number", range(N_KILLS))
@pytest.mark.parametrize(
    "with_jobs", [True, pytest.param(False, marks=pytest.mark.thorough)], ids=["with its jobs", "snakemake alone"]
)
def test_a_killed_run_resumes_to_the_same_bytes_and_keeps_finished_jobs(reference, tmp_path, with_jobs, number):
    tables, n_jobs = reference
    n_finished, delay = moments(N_KILLS, n_jobs, SEED + with_jobs)[number]
    print(f"kill {delay:.2f} s after {n_finished} jobs (seed {SEED + with_jobs}, number {number})")
    workflow = Workflow(tmp_path, SMALL)
    crash = crash_and_resume(workflow, n_finished, delay, with_jobs, TARGETS)
    print(crash)
    assert len(tables) >= len(TARGETS) and workflow.tables() == tables
    # A job that was finished at the kill but not yet in Snakemake's books may run again: one per core.
    assert 0 <= crash.n_redone <= 2
    assert workflow.plan(targets=TARGETS) == {}
    assert temporaries(tmp_path) == []


def test_a_full_disk_ends_in_one_line_and_the_run_goes_on_when_there_is_space(reference, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "foldshift-test", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small disk for tests needs root and the right to mount")
    try:
        workflow = Workflow(tmp_path / "run", SMALL)
        settings = {"config": [f"results={disk}/results"], "targets": [f"{disk}/{name}" for name in TARGETS]}
        full = workflow(**settings)
        text = full.stdout + full.stderr
        assert full.returncode != 0 and "Traceback" not in text, text
        assert any(FULL in line or "the disk is full" in line for line in own_lines(text)), text
        assert all("free" in line and "space" in line for line in own_lines(text) if "the disk is full" in line or FULL in line)
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        workflow(**settings, check=True)
        assert workflow.tables(f"{disk}/results") == reference[0]
        assert temporaries(disk) == []
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def without_privilege():
    """What stands before a command so that permissions count for root too."""
    if os.geteuid() != 0:
        return []
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
    if shutil.which("setpriv") is None or subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
        pytest.skip("setpriv cannot take root's privileges away here")
    return prefix


@pytest.mark.parametrize("name", ["results", "resources/prepared", "."])
def test_an_unwritable_folder_ends_in_one_line_and_the_run_goes_on_when_it_is_writable(tmp_path, name):
    workflow = Workflow(tmp_path, SMALL)
    folder = tmp_path / name
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    command = [*without_privilege(), *workflow.command("--until", "prepare_dataset")]
    try:
        refused = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    finally:
        folder.chmod(0o755)
    text = refused.stdout + refused.stderr
    assert refused.returncode != 0 and "Traceback" not in text, text
    assert "ermission" in text or any("cannot write" in line for line in own_lines(text)), text
    subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=300, check=True)
