"""Results in a bucket and no shared file system: the same bytes, few calls, nothing is done again without need."""

import importlib.util
import shutil
import subprocess
import sys

import pytest

from crash_runner import end_group, finished_jobs, group_lives, wait_until
from workflow_runner import ROOT, Workflow

NEEDED = {"snakemake_storage_plugin_s3": "snakemake-storage-plugin-s3", "moto": "moto[server]", "flask": "moto[server]"}
MISSING = sorted({package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None})
INSTALL = "pip install -e '.[cloud]' -r tests/s3_requirements.txt"
pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}; {INSTALL}"),
]
STUDY = "saez_2022"
SLICE = {"datasets": ["steps"], "learners": ["NN"], "n_seeds": 2}
CONFIG = {"scale": "test", "seeds_per_block": 100, "studies": {STUDY: SLICE}}
# Some five calls for each of the 128 objects; the plugin alone makes 2,060.
MOST_CALLS = 900


def project(folder):
    """A copy of the project that may be edited, as git knows it: what is deployed without a shared file system."""
    for part in ("src", "scripts", "workflow", "config", "profiles", "envs"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    return Workflow(folder, CONFIG, root=folder)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Tables and figures of a run on the local file system."""
    workflow = Workflow(tmp_path_factory.mktemp("local"), CONFIG)
    workflow(check=True)
    return workflow.tables()


@pytest.fixture(scope="module")
def server():
    from s3_server import S3Server

    with S3Server() as server:
        yield server


@pytest.fixture(scope="module")
def killed(server, tmp_path_factory):
    """A run with a bucket that was killed with its jobs when some were finished, and resumed."""
    from s3_server import KEYS

    workflow = project(tmp_path_factory.mktemp("s3") / "project")
    log, keywords = workflow.folder / "killed.log", {"env": KEYS, "profile": "s3"}
    run = workflow.start(log, "--verbose", *server.options(), **keywords)
    try:
        wait_until(lambda: finished_jobs(log) >= 7 or run.poll() is not None, 120, "seven finished jobs")
    finally:
        end_group(run)
        run.wait()
    wait_until(lambda: not group_lives(run), 20, "end of the killed run")
    n_finished = finished_jobs(log)
    workflow(*server.options(), "--unlock", check=True, **keywords)
    left = workflow.plan(*server.options(), **keywords)
    workflow(*server.options(), check=True, **keywords)
    return workflow, keywords, n_finished, left


def test_a_killed_run_resumes_to_the_same_bytes_keeps_finished_jobs_and_asks_little(killed, server, reference):
    from s3_server import tables

    workflow, keywords, n_finished, left = killed
    assert tables(server.objects(), STUDY) == reference and len(reference) > 50
    n_jobs = 24
    assert n_finished >= 7 and n_jobs - n_finished <= sum(left.values()) <= n_jobs - n_finished + 2
    assert server.calls.total() < MOST_CALLS
    server.calls.clear()
    assert workflow.plan(*server.options(), **keywords) == {}
    assert server.calls.total() < 10


def test_code_is_no_object_and_an_edited_module_replans_exactly_what_rests_on_it(killed, server):
    workflow, keywords, *_ = killed
    assert not [name for name in server.objects() if name.endswith(".py")]
    assert planned_after_an_edit(workflow, "src/foldshift/learners/trees/gbm.py", server, keywords) == {}
    again = planned_after_an_edit(workflow, "src/foldshift/shift/measures/ks.py", server, keywords)
    assert again["measure_shift"] == again["collect_shift"] == again["saez_2022_shift"] == 1
    assert not {"make_folds", "evaluate", "collect_scores", "prepare_dataset"} & set(again)


def planned_after_an_edit(workflow, module, server, keywords):
    """What a run would do once the module has one line more; the module is put back."""
    file = workflow.folder / module
    text = file.read_text()
    try:
        file.write_text(text + "\n# edited\n")
        return workflow.plan(*server.options(), **keywords)
    finally:
        file.write_text(text)


@pytest.mark.thorough
@pytest.mark.skipif(
    importlib.util.find_spec("snakemake_executor_plugin_cluster_generic") is None or shutil.which("git") is None,
    reason="not installed: snakemake-executor-plugin-cluster-generic or git; " + INSTALL,
)
def test_jobs_that_share_nothing_but_the_bucket_make_the_same_bytes(reference, tmp_path):
    from s3_server import KEYS, S3Server, tables

    workflow = project(tmp_path / "project")
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=workflow.folder, check=True)
    pod = f"{sys.executable} {ROOT / 'tests/pod.py'}"
    executor = ["--executor", "cluster-generic", "--jobs", "2", "--seconds-between-status-checks", "1"]
    executor += [f"--cluster-generic-{what}-cmd={pod} {what} {tmp_path / 'pods'}" for what in ("submit", "status")]
    with S3Server() as server:
        keywords = {"env": KEYS, "profile": "s3", "cores": None}
        workflow(*server.options(), *executor, check=True, **keywords)
        assert tables(server.objects(), STUDY) == reference
        assert workflow.plan(*server.options(), **keywords) == {}
    assert len(list((tmp_path / "pods").iterdir())) > 8
