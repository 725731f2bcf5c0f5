"""Jobs of the workflow: what their logs say, and the command that runs one alone."""

import contextlib
import errno
import logging
import os
import re
import shlex
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

from foldshift.core.errors import DataError
from foldshift.engine.jobs.run_job import LEADER, MACHINE, RERUN, SHOWN, job_command, machine_fault, rerun_command, run

SNAKEMAKE = Path(sys.executable).with_name("snakemake")


@pytest.fixture
def job(tmp_path, monkeypatch):
    monkeypatch.delenv(RERUN, raising=False)
    monkeypatch.delenv(SHOWN, raising=False)
    yield types.SimpleNamespace(log=[str(tmp_path / "log.txt")], output=["results/a b/x.parquet", "results/y.npz"], params=None)
    for handler in logging.getLogger().handlers[:]:  # those of `run`
        if type(handler).__module__ == "foldshift.engine.jobs.run_job" or type(handler) is logging.StreamHandler:
            logging.getLogger().removeHandler(handler)
            with contextlib.suppress(OSError):  # /dev/full, which takes nothing when it is closed either
                handler.close()


def fail(error):
    def main(job):
        raise error

    return main


def log_of(main, job):
    with pytest.raises(SystemExit) as stopped:
        run(main, job)
    assert stopped.value.code == 1
    return Path(job.log[0]).read_text()


def test_a_users_mistake_ends_a_job_with_one_line(job, capsys):
    text = log_of(fail(DataError("data set x: no rows")), job)
    assert text.endswith("foldshift: data set x: no rows\n") and text.count("\n") == 1
    assert text == capsys.readouterr().err


def test_a_fault_of_the_program_has_a_traceback_in_the_log(job, capsys):
    text = log_of(fail(KeyError("y")), job)
    assert "please report it" in text and "Traceback" in text and text == capsys.readouterr().err


@pytest.mark.parametrize("code", sorted(MACHINE))
def test_a_fault_of_the_machine_is_one_line_that_says_what_to_do(job, code):
    text = log_of(fail(OSError(code, os.strerror(code), "/data/x.npz")), job)
    assert text.count("\n") == 1 and "Traceback" not in text and "please report" not in text
    assert f"foldshift: /data/x.npz: {MACHINE[code]}; then start the run again: finished jobs are kept" in text


def test_an_array_that_is_too_large_is_a_lack_of_memory(job):
    text = log_of(lambda job: np.empty((1 << 28, 1 << 31)), job)
    assert "foldshift: the memory is used up: run fewer jobs at once (--cores)" in text and text.count("\n") == 1


def test_a_file_that_a_program_forgot_is_not_the_machines_fault():
    assert machine_fault(FileNotFoundError(errno.ENOENT, "No such file", "x")) is None
    assert machine_fault(OSError("text only")) is None and machine_fault(ValueError()) is None


def test_a_job_that_succeeds_says_no_more_than_how_long_it_took(job, monkeypatch, capsys):
    monkeypatch.setenv(RERUN, "--cores 1")
    run(lambda job: logging.info("3 fits"), job)
    assert re.fullmatch(
        r"\S+ \S+ 3 fits\n\S+ \S+ done in \d+\.\d s, \d+\.\d\d s of processor time, and \d+\.\d\d s of it to start\n",
        Path(job.log[0]).read_text(),
    )
    assert capsys.readouterr().err == ""


def test_a_log_that_cannot_be_written_is_one_line(job, tmp_path):
    job.log = [str(tmp_path / "missing" / "log.txt")]
    with pytest.raises(SystemExit, match=r"foldshift: cannot write .*log.txt: No such file.*; check the folder's permissions"):
        run(fail(DataError("x")), job)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_does_not_bury_the_message(job, capsys):
    job.log = ["/dev/full"]
    with pytest.raises(SystemExit):
        run(fail(DataError("data set x: no rows")), job)
    text = capsys.readouterr().err
    assert text.endswith("foldshift: data set x: no rows\n") and text.count("\n") == 1


def test_a_failed_job_says_how_to_run_it_alone(job, monkeypatch, capsys):
    monkeypatch.setenv(RERUN, "--cores 1 --snakefile /s")
    expected = f"to run this job alone, when the run has ended: {job_command(job.output, '--cores 1 --snakefile /s')}\n"
    for error in (DataError("x"), KeyError("y"), MemoryError()):
        assert log_of(fail(error), job).endswith(expected)
        assert capsys.readouterr().err.endswith(expected)
    assert expected.endswith("snakemake 'results/a b/x.parquet' --cores 1 --snakefile /s\n")


def test_the_rest_of_the_command_is_quoted_and_has_absolute_paths(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    config = ["learners=NN,GBM", 'studies={"a": [1, 2]}', "mirror=it's here"]
    words = shlex.split(rerun_command("Snakefile", "a b", ["x.yaml", "/y z.yaml"], config, "profiles/default"))
    here = str(tmp_path)
    assert words[:6] == ["--cores", "1", "--snakefile", f"{here}/Snakefile", "--directory", f"{here}/a b"]
    assert words[6:11] == ["--workflow-profile", f"{here}/profiles/default", "--configfile", f"{here}/x.yaml", "/y z.yaml"]
    assert words[11:] == ["--config", *config]
    assert shlex.split(rerun_command("/s", "/d")) == ["--cores", "1", "--snakefile", "/s", "--directory", "/d"]


SNAKEFILE = """
import os
from foldshift.engine.jobs.run_job import RERUN, rerun_command

if workflow.is_main_process:
    settings = workflow.config_settings
    os.environ[RERUN] = rerun_command(
        workflow.main_snakefile, os.getcwd(), settings.configfiles, settings.config_args or (), config["profile"]
    )

rule all:
    input: "out/a b.txt", "out/c.txt"

rule job:
    output: "out/{name}.txt"
    log: "logs/{name}.log"
    params: text=config["text"], which=config["which"]
    script: "job.py"
"""
SCRIPT = """
import os
from foldshift.core.errors import DataError
from foldshift.core.files import write_text
from foldshift.engine.jobs.run_job import run

def main(job):
    if not os.path.exists("mended"):
        raise DataError(f"{job.wildcards.name}: {job.params.text}, {job.params.which}")
    write_text(job.output[0], job.params.text)

run(main, snakemake)
"""


@pytest.mark.workflow
def test_the_printed_command_repeats_the_failure_and_after_mending_makes_the_output(root, tmp_path):
    code, work, away = tmp_path / "the code", tmp_path / "the work", tmp_path / "away"
    for folder in (code, work, away):
        folder.mkdir()
    (code / "Snakefile").write_text(SNAKEFILE)
    (code / "job.py").write_text(SCRIPT)
    (tmp_path / "my config.yaml").write_text(f"text: none\nprofile: {root}/profiles/default\n")
    command = [SNAKEMAKE, "--snakefile", "../the code/Snakefile", "--directory", "../the work", "--cores", "1", "--keep-going"]
    command += ["--configfile", "../my config.yaml", "--config", "text=it's $HOME", "which=[1, 2]"]
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    environment.pop(RERUN, None)
    done = subprocess.run([*command, "--workflow-profile", "none"], capture_output=True, text=True, cwd=away, env=environment)
    assert done.returncode == 1
    message = "foldshift: a b: it's $HOME, ['1', '2']\n"
    log = (work / "logs/a b.log").read_text()
    assert message in log
    (printed,) = re.findall(r"to run this job alone, when the run has ended: (.*)\n", log)

    def repeat():
        return subprocess.run(["bash", "-c", printed], capture_output=True, text=True, cwd=tmp_path, env=environment)

    again = repeat()
    assert again.returncode == 1 and message in again.stderr and printed in again.stderr
    (work / "mended").touch()
    mended = repeat()
    assert mended.returncode == 0, mended.stderr
    assert [path.name for path in (work / "out").iterdir()] == ["a b.txt"]  # this job and no other
    assert (work / "out/a b.txt").read_text() == "it's $HOME"


ORPHAN = """
import sys, time, types
from foldshift.engine.jobs.run_job import run
run(lambda job: (open(sys.argv[1], "w").close(), time.sleep(60)), types.SimpleNamespace(log=[], output=[], params=None))
"""


@pytest.mark.parametrize("late", [False, True])
def test_a_job_ends_soon_after_the_snakemake_that_started_it(tmp_path, late):
    started = tmp_path / "started"
    leader = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    if late:  # it was killed while the job was still importing
        leader.kill()
        leader.wait()
    job = subprocess.Popen([sys.executable, "-c", ORPHAN, started], env=os.environ | {LEADER: str(leader.pid)})
    try:
        if not late:
            deadline = time.monotonic() + 60
            while not started.exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert job.poll() is None
            leader.kill()
            leader.wait()
        assert job.wait(30) == 1
    finally:
        job.kill()
        leader.kill()
        leader.wait()


def test_what_snakemake_shows_of_the_log_is_not_said_on_standard_error_too(job, capsys, monkeypatch):
    monkeypatch.setenv(SHOWN, "1")
    with pytest.raises(SystemExit):
        run(fail(DataError("data set x: no rows")), job)
    assert capsys.readouterr().err == "" and "foldshift: data set x: no rows" in Path(job.log[0]).read_text()
    if os.path.exists("/dev/full"):
        job.log = ["/dev/full"]
        with pytest.raises(SystemExit):
            run(fail(DataError("data set x: no rows")), job)
        assert capsys.readouterr().err.count("foldshift: data set x: no rows") == 1


def test_a_failed_job_without_files_says_its_message_alone(job, monkeypatch, capsys):
    monkeypatch.setenv(RERUN, "--cores 1 --snakefile /s")
    job.output = []
    assert log_of(fail(DataError("x")), job).endswith("foldshift: x\n")
