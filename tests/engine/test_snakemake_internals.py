"""The names of Snakemake that foldshift uses and Snakemake does not promise to keep are there, and a missing one is named."""

import json
import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from foldshift.engine.jobs.foreign_names import changed
from foldshift.engine.rules.snakemake_internals import (
    LOCK,
    PATHS,
    RUNNING_PATHS,
    TERMINAL,
    MissingInternalError,
    add_configfiles,
    choose_output,
    guard_lock,
    inside,
    is_nothing_to_do,
    is_quiet,
    is_short,
    jobs_done_before,
    shows_failed_logs,
    stop_rate_limiter,
    targets_of,
)

SNAKEFILE = """
import json
from pathlib import Path
from foldshift.engine.rules import snakemake_internals as internals

def there(paths):
    found = {}
    for path in paths:
        try:
            internals.inside(workflow, path)
            found[path] = True
        except internals.MissingInternalError:
            found[path] = False
    return found

rule one:
    "The first."
    output: "one.txt"
    resources: expected_s=2
    shell: "touch {output}"

from snakemake.logging import logger

terminal = {"terminal": internals.choose_output(logger, lambda record: True)}
Path("read.json").write_text(json.dumps(there(internals.PATHS) | terminal))
assert internals.target_rules(workflow) == ["one"] and internals.is_made(workflow, "one.txt")
assert [one.docstring for one in internals.inside(workflow, "rules")] == ["The first."]
assert internals.is_main_process(workflow) and internals.storage_name(workflow) is None
assert internals.n_cores(workflow) == 1 and internals.path_in_jobs(workflow, "results") == "results"

onstart:
    jobs = internals.jobs_to_run(workflow.dag)
    internals.stop_rate_limiter(workflow)
    assert [job.rule for job in jobs.values()] == ["one"] and [job.seconds for job in jobs.values()] == [2.0]
    assert internals.all_jobs(workflow.dag) == jobs and [job.makes for job in jobs.values()] == ["one.txt"]
    assert internals.runs_locally(workflow) and [job.rule.name for job in internals.planned_jobs(workflow)] == ["one"]
    Path("running.json").write_text(json.dumps(there(internals.RUNNING_PATHS)))
"""


@pytest.fixture(scope="module")
def looked_up(tmp_path_factory):
    """Whether each path was there, in a workflow that was read and that ran."""
    folder = tmp_path_factory.mktemp("internals")
    (folder / "Snakefile").write_text(SNAKEFILE)
    snakemake = Path(sys.executable).with_name("snakemake")
    done = subprocess.run([snakemake, "--cores", "1", "one"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "read.json").read_text()) | json.loads((folder / "running.json").read_text())


@pytest.mark.parametrize("path", [*PATHS, *RUNNING_PATHS])
def test_a_name_that_is_used_is_there_in_the_installed_version(looked_up, path):
    assert looked_up[path], f"workflow.{path} is gone: fix foldshift.engine.rules.snakemake_internals"


def test_a_name_that_is_gone_is_told_with_the_version_to_install():
    with pytest.raises(MissingInternalError, match=r"has no `workflow.dag.jobs`.* pip install 'snakemake==9"):
        inside(SimpleNamespace(dag=SimpleNamespace()), "dag.jobs")


def test_logs_are_shown_unless_everything_is_quiet():
    def workflow(shown, *quiet):
        settings = SimpleNamespace(show_failed_logs=shown, quiet=[SimpleNamespace(name=name) for name in quiet] or None)
        return SimpleNamespace(output_settings=settings)

    assert shows_failed_logs(workflow(True)) and shows_failed_logs(workflow(True, "RULES"))
    assert not shows_failed_logs(workflow(False)) and not shows_failed_logs(workflow(True, "ALL"))
    assert is_quiet(workflow(True, "ALL")) and not is_quiet(workflow(True))


def test_the_terminal_is_short_unless_it_is_asked_for_more():
    def workflow(verbose, dryrun):
        return SimpleNamespace(output_settings=SimpleNamespace(verbose=verbose, dryrun=dryrun))

    assert is_short(workflow(False, False)) and not is_short(workflow(True, False)) and not is_short(workflow(False, True))


def test_what_the_terminal_shows_is_chosen_on_its_handler_alone(looked_up):
    logger, shown = logging.Logger("snakemake"), []
    for name in (TERMINAL, "file"):
        handler = logging.Handler()
        handler.name, handler.emit = name, lambda record, name=name: shown.append((name, record.msg))
        logger.addHandler(handler)
    assert choose_output(logger, lambda record: record.msg != "job")
    logger.warning("job")
    logger.warning("failure")
    assert shown == [("file", "job"), (TERMINAL, "failure"), ("file", "failure")]
    assert not choose_output(logging.Logger("a plugin's"), bool)
    assert looked_up["terminal"]


def test_nothing_to_do_is_known_by_snakemakes_own_message():
    from snakemake.common import NOTHING_TO_BE_DONE_MSG

    record = logging.LogRecord("snakemake", logging.INFO, "", 1, NOTHING_TO_BE_DONE_MSG, None, None)
    assert is_nothing_to_do(record)
    record.msg = "something"
    assert not is_nothing_to_do(record)


def test_files_that_are_added_lie_below_those_of_the_command_line(tmp_path):
    for name, text in (("low.yaml", "scale: paper\nstudies: {a: {}}\n"), ("mine.yaml", "studies: {b: {}}\nn_seeds: 3\n")):
        (tmp_path / name).write_text(text)
    settings = SimpleNamespace(configfiles=[tmp_path / "mine.yaml"], config={"n_seeds": 5}, overwrite_config={})
    config = {"scale": "laptop", "minutes_per_job": 1}
    for _ in range(2):  # a plan names them again
        add_configfiles(SimpleNamespace(config_settings=settings), config, [tmp_path / "low.yaml"])
    assert config == settings.overwrite_config == {"scale": "paper", "studies": {"a": {}, "b": {}}, "n_seeds": 5}
    assert settings.configfiles == [tmp_path / "low.yaml", tmp_path / "mine.yaml"]


def test_the_rate_limiter_is_taken_away_and_a_line_says_where_there_is_none():
    scheduler = SimpleNamespace(job_rate_limiter="timers")
    assert stop_rate_limiter(SimpleNamespace(scheduler=scheduler)) is None and scheduler.job_rate_limiter is None
    line = stop_rate_limiter(SimpleNamespace(scheduler=SimpleNamespace()))
    assert "workflow.scheduler has no job_rate_limiter" in line and "pip install 'snakemake==9" in line


def test_a_lock_of_another_kind_is_left_as_it_is_and_a_line_says_so(monkeypatch):
    from snakemake.persistence import PersistenceBase

    def theirs(self, patience):
        raise NotImplementedError

    monkeypatch.setattr(PersistenceBase, "lock", theirs)
    line = guard_lock(None)
    assert "PersistenceBase.lock takes (self, patience) and not (self)" in line and "snakemake --unlock" in line
    assert PersistenceBase.lock is theirs


def test_targets_are_those_that_snakemake_reads():
    assert targets_of(["/bin/snakemake", "all", "more", "--cores", "2"]) == ["all", "more"]
    assert targets_of(["pytest", "all"]) == [] and targets_of(["snakemake", "--no-such-option"]) == []


def test_jobs_of_an_earlier_run_count_with_the_time_that_it_noted(tmp_path):
    (tmp_path / "one.tsv").write_text("s\th:m:s\n4.5\t0:00:04\n")

    class Job:
        def __init__(self, name, timed):
            self.resources = {"expected_s": 2.0}
            self.rule, self.benchmark, self.output = SimpleNamespace(name=name), timed, []

    done, left = Job("one", tmp_path / "one.tsv"), Job("two", None)
    graph = SimpleNamespace(jobs=[done, left], needrun_jobs=lambda: [left])
    (found,) = jobs_done_before(graph, pace=1.5)
    assert (found.rule, found.predicted, found.taken) == ("one", 3.0, 4.5)


def test_what_guards_the_lock_and_prefixes_jobs_is_there_in_the_installed_version():
    from snakemake.persistence import PersistenceBase
    from snakemake.persistence.file import FilePersistence
    from snakemake.shell import shell

    assert changed(PersistenceBase, LOCK) is None
    assert "_lockdir" in Path(sys.modules[FilePersistence.__module__].__file__).read_text(encoding="utf-8")
    assert callable(shell.prefix) and callable(shell.get_executable)
