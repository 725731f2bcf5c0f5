"""Cells in a process of their own: what a learner does to its process costs its cell only."""

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import misbehaving
from foldshift.core.errors import DataError
from foldshift.engine.jobs import isolation
from foldshift.engine.jobs.isolation import Lost, run_cells

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(not isolation.can_isolate(), reason="cells are isolated on Linux only")
LIMIT = 0.9 / 60  # minutes
HUNG = Lost("timeout", "took longer than 0.015 minutes; raise cell_minutes or lower max_rows")


def results(function, cells, **limits):
    return dict(run_cells(function, cells, **limits))


def misbehave(cell):
    """The second entry says how; text that is no way comes back."""
    return misbehaving.WAYS[cell[1]]() if cell[1] in misbehaving.WAYS else f"{cell[1]} done"


def is_running(pid):
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid, seconds=20.0):
    deadline = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


@linux
def test_results_come_back_in_order_and_are_those_of_a_plain_call():
    def compute(cell):
        return {"array": np.random.default_rng(cell[1]).random((3, 5)), "text": np.full(2, "ok", dtype=object)}

    cells = [("a", 2), ("a", 1), ("b", 0)]
    found = list(run_cells(compute, cells, minutes=1, memory_mb=500))
    assert [cell for cell, _ in found] == cells
    for cell, result in found:
        np.testing.assert_array_equal(result["array"], compute(cell)["array"])
        assert result["text"].tolist() == ["ok", "ok"] and result["array"].flags.writeable


@linux
def test_all_cells_share_one_process_that_is_not_this_one_and_is_gone_afterwards():
    pids = set(results(lambda cell: os.getpid(), [("a", 1), ("b", 2)]).values())
    assert len(pids) == 1 and os.getpid() not in pids
    assert not is_running(pids.pop())


@linux
@pytest.mark.parametrize("n_values", [0, 1, 4_000_000])
def test_results_larger_than_a_pipe_pass_through_it(n_values):
    (array,) = results(lambda cell: np.arange(n_values), [("a",)]).values()
    np.testing.assert_array_equal(array, np.arange(n_values))


@linux
@pytest.mark.parametrize("way", ["hang", "sleep", "hang compiled"])
def test_a_cell_that_hangs_is_stopped_and_the_other_cells_of_its_learner_are_not_tried(way):
    start = time.monotonic()
    cells = [("good", "x"), ("bad", way), ("bad", "x"), ("good", "y"), ("bad", "z")]
    found = results(misbehave, cells, minutes=LIMIT)
    untried = Lost("timeout", "not tried: bad ran out of time on earlier cells of this data set")
    assert list(found.values()) == ["x done", HUNG, untried, "y done", untried]
    assert 0.9 <= time.monotonic() - start < 30


@linux
def test_a_learner_that_fails_slowly_is_not_tried_for_ever(tmp_path):
    def fail(cell):
        with open(tmp_path / "tries", "a") as file:
            file.write("x")
        time.sleep(0.5)
        os._exit(3)

    statuses = [lost.status for lost in results(fail, [("bad", i) for i in range(5)], minutes=1.9 / 60).values()]
    assert statuses[0] == "failed" and statuses[2:] == ["timeout"] * 3  # two cells with two tries take two seconds, if not more
    assert (tmp_path / "tries").read_text() in ("xx", "xxxx")


@linux
def test_time_that_the_caller_takes_between_cells_does_not_count():
    for _, result in run_cells(misbehave, [("a", "x"), ("a", "y")], minutes=LIMIT):
        time.sleep(1.2)
        assert not isinstance(result, Lost)


@linux
@pytest.mark.parametrize(
    ("way", "how"),
    [("end", "exit code 3"), ("kill", "killed by SIGKILL"), ("crash", "killed by SIGSEGV"), ("exit", "exit code 1")],
)
def test_a_cell_whose_process_dies_twice_is_lost_and_costs_no_other(way, how):
    found = results(misbehave, [("bad", "x"), ("bad", way), ("bad", "y"), ("good", "z")])
    lost = Lost("failed", f"its process died ({how}), twice; perhaps the memory ran out")
    assert list(found.values()) == ["x done", lost, "y done", "z done"]


@linux
@pytest.mark.parametrize("way", ["end", "kill", "crash"])
def test_a_stray_kill_changes_nothing_and_is_in_the_log(tmp_path, caplog, way):
    def once(cell):
        marker = tmp_path / str(cell[1])
        if not marker.exists():
            marker.touch()
            misbehaving.WAYS[way]()
        return cell[1]

    assert list(results(once, [("a", 1), ("a", 2)]).values()) == [1, 2]
    assert [record.getMessage()[:23] for record in caplog.records] == ["a, 1: its process died ", "a, 2: its process died "]


@linux
def test_a_process_that_is_killed_between_two_cells_is_replaced():
    values = []
    for _, pid in run_cells(lambda cell: os.getpid(), [("a", 1), ("a", 2)]):
        values.append(pid)
        os.kill(pid, signal.SIGKILL)
        assert ends(pid)
    assert len(set(values)) == 2


@linux
@pytest.mark.parametrize("way", ["hoard", "hoard objects"])
def test_a_cell_that_exhausts_memory_is_lost_and_costs_no_other(way):
    found = results(misbehave, [("bad", "x"), ("bad", way), ("bad", "y")], memory_mb=100)
    assert [found["bad", "x"], found["bad", "y"]] == ["x done", "y done"]
    lost = found["bad", way]
    assert (
        lost.status == "failed" and lost.message.startswith("MemoryError") and lost.message.endswith("; needs more than 100 MB")
    )


@linux
def test_memory_that_earlier_cells_keep_does_not_lose_a_cell():
    kept = []

    def keep(cell):
        kept.append(np.ones(5_000_000))  # 40 MB
        return len(kept)

    found = list(results(keep, [("a", i) for i in range(9)], memory_mb=100).values())
    assert not any(isinstance(result, Lost) for result in found)
    assert found.count(1) >= 3  # a new process whenever the old one is full


@linux
def test_the_memory_of_this_process_does_not_count():
    ballast = np.ones(30_000_000)  # 240 MB
    assert results(lambda cell: float(ballast.sum()), [("a",)], memory_mb=100) == {("a",): 30_000_000.0}


@linux
def test_without_limits_a_crash_is_still_isolated():
    assert results(misbehave, [("a", "kill"), ("a", "x")])["a", "x"] == "x done"


@linux
def test_an_error_that_is_no_learners_ends_the_job_with_the_traceback_of_the_child():
    def wrong(cell):
        return {}["no such key"]

    with pytest.raises(KeyError, match="no such key") as caught:
        results(wrong, [("a",)])
    assert "in wrong" in caught.value.__notes__[0]
    with pytest.raises(DataError, match=r"^name it"):
        results(lambda cell: (_ for _ in ()).throw(DataError("name it")), [("a",)])


class TwoArguments(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)


@linux
def test_an_error_that_cannot_be_pickled_ends_the_job_with_its_text():
    with pytest.raises(RuntimeError, match=r"(?s)onetwo.*TwoArguments"):
        results(lambda cell: (_ for _ in ()).throw(TwoArguments("one", "two")), [("a",)])


@linux
def test_a_result_that_cannot_be_pickled_is_an_error():
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        results(lambda cell: lambda: None, [("a",)])


@linux
def test_what_a_cell_started_ends_with_the_last_cell():
    (pid,) = results(lambda cell: subprocess.Popen(["sleep", "1000"]).pid, [("a",)]).values()
    assert ends(pid)


@linux
def test_what_a_cell_that_hangs_started_ends_with_it(tmp_path):
    def start(cell):
        child = subprocess.Popen(["sleep", "1000"])
        (tmp_path / "pid").write_text(str(child.pid))
        misbehaving.hang()

    assert results(start, [("a",)], minutes=LIMIT) == {("a",): HUNG}
    assert ends(int((tmp_path / "pid").read_text()))


@linux
def test_a_child_that_dies_is_noticed_although_its_own_child_holds_its_pipe(tmp_path):
    def leave(cell):
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(4)

    start = time.monotonic()
    (lost,) = results(leave, [("a",)]).values()
    assert lost.message.startswith("its process died (exit code 4), twice") and time.monotonic() - start < 30


@linux
def test_the_child_ends_when_the_caller_stops_early():
    cells = run_cells(lambda cell: os.getpid(), [("a", 1), ("a", 2)])
    _, pid = next(cells)
    assert is_running(pid)
    cells.close()
    assert not is_running(pid)


HANGING_JOB = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background inherit that it is ignored
sys.path[:0] = {paths!r}
import misbehaving
from foldshift.engine.jobs.isolation import run_cells

def hang(cell):
    with open(sys.argv[1] + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.replace(sys.argv[1] + ".part", sys.argv[1])
    misbehaving.hang()

list(run_cells(hang, [("a",)], minutes=10))
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_child_outlives_its_job(tmp_path, number):
    code = HANGING_JOB.format(paths=[str(ROOT / "src"), str(ROOT / "tests")])
    job = subprocess.Popen([sys.executable, "-c", code, tmp_path / "pid"], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        pid = int((tmp_path / "pid").read_text())
        assert is_running(pid)
        job.send_signal(number)
        assert job.wait(60) != 0
        assert ends(pid)
    finally:
        job.kill()
        job.wait()


HALTED_JOB = """
import os, sys, time
sys.path[:0] = {paths!r}
from foldshift.engine.jobs.isolation import run_cells

def work(cell):
    with open(sys.argv[1] + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.replace(sys.argv[1] + ".part", sys.argv[1])
    for _ in range(40):
        time.sleep(0.02)
    return "done"

print(*dict(run_cells(work, [("a",)], minutes=3 / 60)).values())
"""


@linux
def test_time_in_which_a_job_is_halted_with_its_learner_does_not_count(tmp_path):
    code = HALTED_JOB.format(paths=[str(ROOT / "src")])
    job = subprocess.Popen([sys.executable, "-c", code, tmp_path / "pid"], stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        both = [job.pid, int((tmp_path / "pid").read_text())]
        for signum in (signal.SIGSTOP, signal.SIGCONT):
            for pid in both:
                os.kill(pid, signum)
            time.sleep(4 if signum == signal.SIGSTOP else 0)
        assert job.communicate(timeout=60)[0] == "done\n"
    finally:
        job.kill()
        job.wait()


@linux
def test_log_lines_and_warnings_of_the_child_reach_the_log(tmp_path):
    handler = logging.FileHandler(tmp_path / "log", mode="w")
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    try:

        def warn(cell):
            logging.warning("from the child")
            warnings.warn("a learner warns", UserWarning, stacklevel=1)

        logging.warning("before")
        results(warn, [("a",)])
        logging.warning("after")
    finally:
        root.removeHandler(handler)
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[:2] == ["WARNING before", "WARNING from the child"] and lines[-1] == "WARNING after"
    assert any("UserWarning: a learner warns" in line for line in lines)


@linux
def test_output_that_waits_in_a_buffer_is_written_once(tmp_path):
    code = f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}]\n"
    code += "from foldshift.engine.jobs.isolation import run_cells\n"
    code += "print('before')\nfor cell in run_cells(lambda cell: print('inside'), [('a',)]): print('after')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["before", "inside", "after"] and done.stderr == ""


@linux
def test_a_thread_of_this_process_does_not_disturb_the_child():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside a thread
            assert results(misbehave, [("a", "x")], minutes=1) == {("a", "x"): "x done"}
    finally:
        stop.set()
        thread.join()


def test_on_other_systems_cells_run_here_and_errors_of_memory_are_still_rows(monkeypatch):
    monkeypatch.setattr(isolation, "can_isolate", lambda: False)

    def here(cell):
        if cell[1] == "full":
            raise MemoryError("no room")
        return os.getpid()

    found = results(here, [("a", "x"), ("a", "full"), ("a", "y")], minutes=1, memory_mb=100)
    assert found["a", "x"] == found["a", "y"] == os.getpid()
    assert found["a", "full"] == Lost("failed", "MemoryError: no room; needs more than 100 MB")
    with pytest.raises(ZeroDivisionError):
        results(lambda cell: 1 / 0, [("a",)])
