"""Runs that are stopped: the line that says what to type, the lock of a run that is gone, what this machine lacks."""

import json
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

import check_machine
from foldshift.engine.rules.run_lock import LockedError, recorded_lock, state_of, this_process
from foldshift.engine.rules.stopping import COMMAND, typed_command


@pytest.fixture
def lock(tmp_path):
    """Take the lock of a folder; calls of `clear` and `tell` are counted."""
    calls = []

    def take(locked=False):
        return recorded_lock(
            tmp_path / ".snakemake", "snakemake all", lambda: locked, lambda: calls.append("cleared"), calls.append
        )

    take.calls, take.records = calls, tmp_path / ".snakemake/foldshift_runs"
    return take


def leave(lock, **changes):
    """Write the record of another run."""
    lock.records.mkdir(parents=True)
    (lock.records / "other.json").write_text(json.dumps(this_process("snakemake paper")._replace(**changes)._asdict()))


def test_a_run_records_that_it_holds_the_lock_and_takes_the_record_back(lock):
    with lock():
        (record,) = lock.records.iterdir()
        assert json.loads(record.read_text())["command"] == "snakemake all"
    assert list(lock.records.iterdir()) == [] and lock.calls == []


def test_the_lock_of_a_process_that_is_gone_is_cleared_with_a_word(lock):
    child = subprocess.Popen([sys.executable, "-c", ""])
    began = psutil.Process(child.pid).create_time()
    child.wait()
    leave(lock, pid=child.pid, began=began)
    with lock(locked=True):
        pass
    assert lock.calls[0] == "cleared" and f"process {child.pid}" in lock.calls[1] and len(lock.calls) == 2
    assert list(lock.records.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "running"),
        ({"began": time.time() - 10**6}, "gone"),
        ({"machine": "another-start pid:[1]"}, "gone"),
        ({"host": "elsewhere"}, "unknown"),
    ],
    ids=["this one", "another process has its number now", "the machine was started again", "another machine"],
)
def test_it_is_known_whether_the_process_of_a_record_runs(changes, state):
    assert state_of(this_process("snakemake")._replace(**changes)) == state


@pytest.mark.parametrize("changes", [{}, {"host": "elsewhere"}])
def test_the_lock_of_a_process_that_may_run_is_kept_and_the_line_says_who_holds_it(lock, changes):
    leave(lock, **changes)
    with pytest.raises(LockedError, match=r"locked by process \d+ on .* since .*snakemake paper") as caught, lock(locked=True):
        pass
    assert lock.calls == [] and ("kill" in str(caught.value)) == (not changes)
    assert ("--unlock" in str(caught.value)) == bool(changes)


def test_a_lock_without_a_record_is_kept(lock):
    with pytest.raises(LockedError, match="`snakemake --unlock` frees it"), lock(locked=True):
        pass
    assert lock.calls == []


def test_the_command_to_go_on_is_the_one_that_was_typed(monkeypatch):
    monkeypatch.delenv(COMMAND, raising=False)
    assert typed_command(["/x/python/snakemake/__main__.py", "all"]) == "python -m snakemake all"
    monkeypatch.setenv(COMMAND, "make run ")
    assert typed_command(["snakemake", "all"]) == "make run"


STOPPED = """
import os, signal, sys, threading, time
from foldshift.engine.rules.stopping import STOPPING
STOPPING.listen(["snakemake", "saez_2022"])
STOPPING.progress = lambda: "3 of 9 jobs are done and kept"
def send():
    for _ in range({times}):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0.1)
threading.Thread(target=send).start()
try:
    time.sleep(20)
except SystemExit:
    if {times} > 1:
        time.sleep(20)
    raise
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_stop_ends_in_one_line_that_says_what_to_type(name, times):
    program = STOPPED.format(name=name, times=times)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=15)
    assert done.returncode > 128
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("foldshift: stopped") and line.endswith(
        "3 of 9 jobs are done and kept. To go on, type: snakemake saez_2022"
    )


def test_a_stop_that_python_drops_ends_the_run_all_the_same():
    program = STOPPED.replace("try:", "from foldshift.engine.rules import stopping; stopping.GRACE = 0.5\ntry:")
    program = program.format(name="SIGTERM", times=1).replace("    raise\n", "    time.sleep(20)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=15)
    assert done.returncode == 128 + 15 and done.stderr.strip().endswith("To go on, type: snakemake saez_2022")


# ---- what this machine lacks ----


def ended(*arguments, **keywords):
    """The line that the check ends with."""
    with pytest.raises(SystemExit) as caught:
        check_machine.check(["snakemake", *arguments], **keywords)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_machine_without_slurm_is_told_so_before_the_run(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    line = ended("all", executor="slurm")
    assert "sbatch, sacct, squeue" in line and "login node" in line
    (tmp_path / "sbatch").write_text("")
    (tmp_path / "sbatch").chmod(0o755)
    assert "sbatch" not in ended("all", "--executor", "slurm")
    assert check_machine.executor_problem(["snakemake", "--executor=local"], "slurm") is None
    assert check_machine.executor_problem(["snakemake", "-n"], "slurm") is None


def test_an_executor_without_its_plugin_is_told_with_the_package():
    assert "pip install snakemake-executor-plugin-nowhere" in ended("--executor", "nowhere")


@pytest.mark.parametrize("name", ["numba", "pyarrow", "matplotlib", "scikit-learn", "snakemake"])
def test_a_missing_package_is_told_with_how_to_install_it(monkeypatch, name):
    module = check_machine.MODULES.get(name, name)
    found = check_machine.importlib.util.find_spec
    monkeypatch.setattr(
        check_machine.importlib.util, "find_spec", lambda one, *more: None if one == module else found(one, *more)
    )
    line = ended("all")
    assert f"the package {name} is not installed" in line and "-m pip install" in line and f"{name}>=" in line


def test_a_package_that_some_runs_need_is_a_note(monkeypatch, capsys):
    found = check_machine.importlib.util.find_spec
    monkeypatch.setattr(
        check_machine.importlib.util, "find_spec", lambda one, *more: None if one == "openml" else found(one, *more)
    )
    assert check_machine.package_problem() is None
    assert "note: the package openml is not installed, needed for data sets of OpenML" in capsys.readouterr().err


def test_versions_that_are_too_old_are_told(monkeypatch):
    monkeypatch.setattr(check_machine.importlib.metadata, "version", lambda name: "9.2.1" if name == "snakemake" else "999")
    assert "snakemake 9.2.1 is installed, and 9.19 or later is needed" in ended("all")
    monkeypatch.setattr(check_machine, "OLDEST", (99, 1))
    assert "Python 99.1 or later is needed" in ended("all")


def test_the_check_needs_the_standard_library_alone(root):
    program = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(root / "workflow")!r})
        sys.modules |= dict.fromkeys(["numpy", "yaml", "lazy_loader", "snakemake"])
        import check_machine
        check_machine.check(["snakemake"])
        """
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "Traceback" not in done.stderr and "numpy is not installed" in done.stderr
