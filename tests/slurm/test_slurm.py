"""On a SLURM cluster, whatever happens to its nodes and jobs, a run ends with the same bytes as on a laptop."""

import os
import re
import shutil
import subprocess
from collections import Counter

import pytest
from cluster_runner import BOTH, REGRESSION, TABLES, local_rules

from crash_runner import end_group, wait_until
from workflow_runner import ROOT, Workflow

pytestmark = pytest.mark.workflow
NODES = {"n1", "n2", "n3"}


def same_bytes(workflow, expected, of_targets=()):
    """Whether a run of one study or of both made all of the expected tables and figures, or the jobs of some targets theirs, and
    the same bytes of each."""
    ours = {f"{workflow.study}/{name}" if workflow.study else name: content for name, content in workflow.tables().items()}
    if of_targets:
        assert {name.removeprefix("results/") for name in of_targets} <= ours.keys()
        expected = {name: content for name, content in expected.items() if name in ours}
    differing = [name for name in ours.keys() | expected.keys() if ours.get(name) != expected.get(name)]
    print("not the same bytes:", sorted(differing) or "none", "of", len(expected))
    return bool(expected) and not differing


def compute_jobs(workflow, *arguments, **keywords):
    """Number of jobs by rule that a run would give to SLURM now."""
    return {rule: n for rule, n in workflow.plan(*arguments, **keywords).items() if rule not in local_rules()}


def complete(records, expected):
    """Whether SLURM's books hold every expected job, completed on one of the nodes, and nothing else."""
    print(sorted(Counter(record.node for record in records).items()))
    return (
        Counter(record.rule for record in records) == expected
        and {record.state for record in records} == {"COMPLETED"}
        and {record.node for record in records} <= NODES
    )


def job_by_job(cluster, folder, config, **keywords):
    """A run through the profile, job by job: the run, the jobs it should give to SLURM, and those in SLURM's books."""
    workflow = Workflow(folder, config)
    expected = compute_jobs(workflow, **keywords)
    done = cluster.run(workflow, "--slurm-array-jobs", "none", "--slurm-status-command", "sacct", check=True, **keywords)
    return workflow, expected, cluster.records(done.stdout + done.stderr)


@pytest.fixture(scope="module")
def on_cluster(cluster, tmp_path_factory):
    """Both studies through the profile, job by job."""
    return job_by_job(cluster, tmp_path_factory.mktemp("cluster"), BOTH)


def test_tables_of_one_study_are_the_same_bytes_and_every_compute_job_is_in_slurms_books(cluster, regression, tmp_path):
    workflow, expected, records = job_by_job(cluster, tmp_path, REGRESSION, targets=TABLES)
    assert complete(records, expected) and not any("_" in record.job for record in records)
    assert same_bytes(workflow, regression, TABLES)
    assert workflow.plan(targets=TABLES) == {}


@pytest.mark.thorough
def test_tables_are_the_same_bytes_and_every_compute_job_is_in_slurms_books(on_cluster, both):
    workflow, expected, records = on_cluster
    assert complete(records, expected) and not any("_" in record.job for record in records)
    assert same_bytes(workflow, both)
    assert workflow.plan() == {}


@pytest.mark.thorough
def test_job_arrays_give_the_same_bytes(cluster, on_cluster, both):
    workflow, *_ = on_cluster
    again = ["--forcerun", "evaluate", "classify"]
    expected = compute_jobs(workflow, *again)
    done = cluster.run(workflow, *again, check=True)
    records = cluster.records(done.stdout + done.stderr)
    assert complete(records, expected)
    # All of them are ready at the start, and an array takes what is ready.
    assert Counter(record.rule for record in records if "_" in record.job) == {
        rule: expected[rule] for rule in ("evaluate", "classify")
    }
    assert same_bytes(workflow, both)


@pytest.mark.thorough
def test_a_node_that_dies_in_mid_run_costs_time_only(cluster, regression, tmp_path):
    workflow, log = Workflow(tmp_path, REGRESSION), tmp_path / "run.log"
    run = cluster.start(workflow, log, targets=TABLES)
    try:
        victim = cluster.wait_for("evaluate", run)[0].node
        cluster.node("crash", victim)
        try:
            assert run.wait(timeout=600) == 0, log.read_text()[-5000:]
        finally:
            cluster.node("revive", victim)
    finally:
        end_group(run)
    states = Counter(record.state for record in cluster.records(log.read_text()))
    # Its daemon's last word may come before the controller misses the node.
    assert states["NODE_FAIL"] + states["FAILED"] >= 1, states
    assert same_bytes(workflow, regression, TABLES)


@pytest.mark.thorough
def test_a_cancelled_job_a_killed_process_and_a_job_over_its_memory_run_again(cluster, regression, tmp_path):
    workflow, log = Workflow(tmp_path, REGRESSION), tmp_path / "run.log"
    tight = "make_folds:mem_mb=60 if attempt == 1 else 1000"
    run = cluster.start(workflow, log, "--slurm-array-jobs", "none", "--set-resources", tight, targets=TABLES)
    try:
        first = cluster.wait_for("evaluate", run)[0]
        subprocess.run(["scancel", first.job], check=True)
        # Another block, or the same one again: they need not run at the same time.
        second = cluster.wait_for("evaluate", run, but=first.job)[0]
        wait_until(lambda: cluster.kill_processes(second.job, "evaluate.py") or run.poll() is not None, 120, "the job's process")
        assert run.wait(timeout=600) == 0, log.read_text()[-5000:]
    finally:
        end_group(run)
    records = cluster.records(log.read_text())
    states = {record.job: record.state for record in records}
    assert states[first.job] == "CANCELLED" and states[second.job] == "FAILED"
    folds = Counter(record.state for record in records if record.rule == "make_folds")
    n_blocks = len(list((tmp_path / "results/saez_2022/folds").rglob("*.npz")))
    assert folds["COMPLETED"] == n_blocks and sum(folds.values()) == 2 * n_blocks, folds
    logs = [file.read_text() for file in (tmp_path / "results/logs/slurm/rule_make_folds").rglob("*.log")]
    assert sum("memory limit" in text for text in logs) == n_blocks
    assert same_bytes(workflow, regression, TABLES)


def recovery_commands():
    """What docs/cluster.md tells to do after a kill, up to the command that starts the run again."""
    text = (ROOT / "docs/cluster.md").read_text(encoding="utf-8").partition("## After a kill")[2]
    return [line.strip() for line in re.search(r"^((?:    .+\n)+)", text, re.MULTILINE)[1].splitlines()]


@pytest.mark.thorough
def test_after_a_kill_of_snakemake_the_documented_commands_resume_the_run(cluster, regression, tmp_path):
    workflow, log = Workflow(tmp_path, REGRESSION), tmp_path / "run.log"
    run = cluster.start(workflow, log, targets=TABLES)
    try:
        killed = cluster.wait_for("evaluate", run)
    finally:
        end_group(run)
    run.wait()
    cancel, again = recovery_commands()
    assert again.startswith("snakemake --workflow-profile profiles/slurm")
    subprocess.run(["bash", "-c", cancel], cwd=tmp_path, check=True)
    wait_until(lambda: not {job.job for job in killed} & {job.job for job in cluster.now()}, 60, "end of the cancelled jobs")
    cluster.run(workflow, targets=TABLES, check=True)
    assert same_bytes(workflow, regression, TABLES)


@pytest.mark.skipif("FOLDSHIFT_SLURM_FULL" not in os.environ, reason="the whole default run on SLURM: make thorough WHAT=slurm")
def test_the_whole_default_configuration_gives_the_same_bytes(cluster, tmp_path):
    laptop, workflow = (Workflow(tmp_path / name, BOTH) for name in ("laptop", "cluster"))
    for each in (laptop, workflow):
        shutil.copy(ROOT / "config/config.yaml", each.folder / "my.yaml")
    expected = compute_jobs(workflow)
    subprocess.run(laptop.command(), cwd=laptop.folder, check=True)
    with open(workflow.folder / "run.log", "w+") as log:
        command = workflow.command(cores=None, profile="slurm")
        subprocess.run(command, cwd=workflow.folder, check=True, stdout=log, stderr=subprocess.STDOUT)
        log.seek(0)
        records = cluster.records(log.read())
    assert complete(records, expected)
    assert same_bytes(workflow, laptop.tables())
