"""Progress of a run: what is done, of how much, and when it ends."""

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.planning.progress import Estimate, Progress, estimate, progress_line, start_progress

SECONDS = st.floats(0.1, 1e5)
NOON = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))


class Clock:
    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now


def make(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_finished_jobs_correct_the_prediction_for_the_others():
    # One core, 10 s each as predicted: two done in 25 s, and the third half done.
    assert estimate(20, [10, 10], 25, cores=1) == Estimate(20, 40, 15)
    # Everything takes twice as long as predicted.
    assert estimate(20, [10, 10], 50, cores=1) == Estimate(40, 80, 30)
    # Two cores: 80 s of the two are 160 core-seconds for 8 jobs' worth of 10.
    assert estimate(70, [10] * 4, 80, cores=2) == Estimate(140, 220, 30)
    # More cores than jobs are left: only as many work as there are jobs.
    assert estimate(80, [10], 85 / 8, cores=8) == Estimate(80, 90, 5)


def test_before_the_first_job_ends_the_prediction_stands():
    assert estimate(0, [60, 60], 0, cores=2) == Estimate(0, 120, 30)


def test_at_the_end_the_core_hours_are_those_the_run_had():
    assert estimate(80, [], 100, cores=4) == Estimate(400, 400, 0)
    assert estimate(80, [], 100) == Estimate(80, 80, 0)


def test_with_an_unknown_number_of_cores_the_finished_jobs_tell_the_end():
    assert estimate(30, [90], 10) == Estimate(30, 120, 30)
    assert estimate(0, [90], 10) == Estimate(0, 90, None)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(SECONDS, st.lists(SECONDS, min_size=1, max_size=20), SECONDS, st.integers(1, 40), st.floats(0.1, 10))
def test_a_machine_that_is_slower_by_a_factor_takes_longer_by_it(done, pending, elapsed, cores, factor):
    one, other = (estimate(done, pending, elapsed * slower, cores) for slower in (1, factor))
    assert other == pytest.approx([factor * value for value in one])
    assert 0 < one.done < one.total and one.left > 0


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.integers(1, 8), st.integers(8, 60), st.floats(0.2, 5))
def test_the_estimated_end_of_equal_jobs_is_right_to_one_job(cores, n_jobs, factor):
    predicted = 100.0
    took = predicted * factor
    for finished in range(1, n_jobs // cores):
        elapsed = (finished + 0.5) * took
        state = estimate(predicted * cores * finished, [predicted] * (n_jobs - cores * finished), elapsed, cores)
        end = -(-n_jobs // cores) * took
        assert abs(elapsed + state.left - end) <= took


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            (123, 410, NOON, 900, Estimate(1.2 * 3600, 8.3 * 3600, 2700)),
            "123 of 410 jobs, 1.2 of 8.3 core-hours, about 45 min left (12:45)",
        ),
        ((1, 9, NOON, 90, Estimate(60, 1800, 20)), "1 of 9 jobs, 1.0 of 30.0 core-minutes, about 20 s left (12:00)"),
        (
            (1, 9, NOON, 90, Estimate(3600, 36000, 13 * 3600)),
            "1 of 9 jobs, 1.0 of 10.0 core-hours, about 13 h 0 min left (2026-03-05 01:00)",
        ),
        (
            (1, 9, NOON, 90, Estimate(3600, 36000, 75 * 3600)),
            "1 of 9 jobs, 1.0 of 10.0 core-hours, about 3 days 3 h left (2026-03-07 15:00)",
        ),
        ((1, 9, NOON, 5400, Estimate(3600, 36000, None)), "1 of 9 jobs, 1.0 of 10.0 core-hours, 1 h 30 min so far"),
        ((9, 9, NOON, 5000, Estimate(36000, 36000, 0)), "9 of 9 jobs, 10.0 of 10.0 core-hours, finished in 83 min"),
        ((4, 9, NOON, 5000, Estimate(3600, 36000, 99), True), "4 of 9 jobs, 1.0 of 10.0 core-hours, stopped after 83 min"),
    ],
)
def test_the_line_names_jobs_core_hours_and_the_end(arguments, expected):
    assert progress_line(*arguments) == f"foldshift: {expected}"


def test_a_job_is_done_when_its_output_appears(tmp_path):
    clock = Clock()
    files = [tmp_path / "a b" / name for name in ("1.parquet", "2.parquet")] + [tmp_path / "c/1.parquet"]
    progress = Progress([(file, 1800) for file in files], cores=2, clock=clock)
    assert not progress.look() and progress.n_done == 0
    make(tmp_path / "a b" / ".foldshift-12345678-1-abcdefgh.parquet")
    make(tmp_path / "a b" / "another.parquet")
    assert not progress.look()
    make(files[0])
    clock.now += 1800
    assert progress.look() and progress.n_done == 1 and not progress.look()
    # Two cores, half an hour: one core-hour for one job and two half ones.
    assert progress.line() == "foldshift: 1 of 3 jobs, 0.5 of 1.5 core-hours, about 15 min left (12:45)"
    files[0].unlink()  # what was done stays done
    make(files[1])
    make(files[2])
    assert progress.look() and progress.n_done == 3
    assert progress.line() == "foldshift: 3 of 3 jobs, 1.0 of 1.0 core-hours, finished in 30 min"


def test_an_output_that_is_out_of_date_is_done_only_when_it_is_a_new_file(tmp_path):
    make(tmp_path / "a.parquet", "old")
    progress = Progress([(tmp_path / "a.parquet", 60)], cores=1)
    assert not progress.look()
    make(tmp_path / "new", "new")
    os.replace(tmp_path / "new", tmp_path / "a.parquet")
    assert progress.look()


def test_more_cores_than_jobs_do_not_count(tmp_path):
    clock = Clock()
    progress = Progress([(tmp_path / "a", 3600)], cores=64, clock=clock)
    make(tmp_path / "a")
    clock.now += 3600
    assert progress.look() and "1.0 of 1.0 core-hours" in progress.line()


def test_a_look_at_5000_jobs_takes_a_call_per_folder(tmp_path, monkeypatch):
    calls = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: calls.append(folder) or scandir(folder))
    jobs = [(tmp_path / f"{n // 100}/{n % 100}.parquet", 1.0) for n in range(5000)]
    progress = Progress(jobs, cores=2)
    for n in range(100):
        make(tmp_path / f"0/{n}.parquet")
    calls.clear()
    assert progress.look() and progress.n_done == 100 and len(calls) == 50
    calls.clear()
    assert not progress.look() and len(calls) == 49  # a folder without pending jobs is left alone


def test_lines_come_only_after_a_change_and_once_at_the_end(tmp_path):
    stream = io.StringIO()
    stop = start_progress([(tmp_path / "a", 60), (tmp_path / "b", 60)], cores=1, stream=stream, interval=0.02)
    time.sleep(0.2)
    assert stream.getvalue() == ""
    make(tmp_path / "a")
    deadline = time.monotonic() + 10
    while not stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    stop()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r"foldshift: 1 of 2 jobs, .* left \(.*\)", lines[0])
    assert re.fullmatch(r"foldshift: 1 of 2 jobs, .* stopped after 1 s", lines[1])


def test_a_closed_stream_harms_nothing(tmp_path):
    stream = io.StringIO()
    stream.close()
    start_progress([(tmp_path / "a", 60)], cores=1, stream=stream)()


SNAKEFILE = """
from foldshift.planning.progress import start_progress

onstart:
    if not workflow.touch:
        start_progress([(job.output[0], 6) for job in workflow.dag.needrun_jobs() if job.output], workflow.cores, interval=0.1)

rule all:
    input: "a.txt", "b.txt", "c.txt"

rule shell:
    output: "{x}.txt"
    wildcard_constraints: x="a|b"
    shell: "sleep 0.5; echo > {output}"

rule spawn:
    output: "c.txt"
    run:
        open(output[0], "w").close()
"""


@pytest.mark.workflow
def test_snakemake_prints_progress_in_its_main_process_and_for_real_runs_only(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "a.txt").touch()  # done before: no work of this run

    def snakemake(*arguments):
        command = [str(Path(sys.executable).with_name("snakemake")), *arguments, "--cores", "1", "--workflow-profile", "none"]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        assert "foldshift:" not in done.stdout
        return [line for line in done.stderr.splitlines() if line.startswith("foldshift:")]

    assert snakemake("--dry-run") == [] and snakemake("--touch", "a.txt") == []
    lines = snakemake()
    assert all(re.match(r"foldshift: [12] of 2 jobs, ", line) for line in lines)
    assert re.search(r" finished in \d+ s$", lines[-1]) and sum("finished" in line for line in lines) == 1
    assert len(lines) <= 3  # one per job at most, and the last: the process of `spawn` prints none of its own
