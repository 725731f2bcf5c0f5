"""Check of running processes: one that has ended but was not collected by its parent does not count."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import foldshift
from foldshift.core.files import atomic_path, sweep
from foldshift.core.processes import is_running
from foldshift.engine.jobs.run_job import LEADER

WRITER = "import os, sys; from foldshift.core.files import atomic_path\n"
WRITER += "with atomic_path(sys.argv[1]) as temporary: temporary.write_text('half'); os.kill(os.getpid(), 9)"
FOLLOWER = "import time; from foldshift.engine.jobs.run_job import follow; follow(0.05); time.sleep(60)"
linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="what has ended and is not looked at is told on Linux only")


def start(code, *arguments, **environment):
    paths = {"PYTHONPATH": str(Path(foldshift.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=os.environ | paths | environment, stdout=subprocess.PIPE, text=True
    )


@pytest.fixture
def ended():
    """A process that has ended and was not collected by this one."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    yield process
    process.wait()


def test_this_process_and_the_first_one_run():
    assert is_running(os.getpid()) and is_running(1) and is_running(2**70)


@linux
def test_what_has_ended_does_not_run_before_and_after_its_parent_looks(ended):
    os.kill(ended.pid, 0)  # its number is still taken
    assert not is_running(ended.pid)
    ended.wait()
    assert not is_running(ended.pid)


@linux
def test_what_a_killed_process_left_behind_is_swept_before_its_parent_looks(tmp_path):
    with start(WRITER, str(tmp_path / "a.txt")) as writer:
        os.waitid(os.P_PID, writer.pid, os.WEXITED | os.WNOWAIT)
        (left,) = tmp_path.iterdir()
        assert sweep(tmp_path) == [left]
    with atomic_path(tmp_path / "b.txt"):
        assert sweep(tmp_path) == []


@linux
def test_a_job_ends_when_its_snakemake_has_ended_though_nobody_looked(ended):
    begun = time.monotonic()
    with start(FOLLOWER, **{LEADER: str(ended.pid)}) as job:
        assert job.wait(timeout=50) == 1
    assert time.monotonic() - begun < 50
