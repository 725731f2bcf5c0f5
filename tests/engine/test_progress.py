"""Progress of a run: what is done, of how much, and when it ends."""

import inspect
import io
import logging
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.engine.costs.plan import Job
from foldshift.engine.costs.progress import STEP, Estimate, Progress, estimate, progress_line
from foldshift.engine.costs.timings import PRIOR, Ended, factors

NOON = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))
SECONDS = st.floats(0.1, 1e4)


def job(seconds, needs=(), rule="evaluate"):
    return Job(rule, seconds, 0.0, 0.0, needs)


class Clock:
    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now


def test_nothing_has_ended_the_prediction_stands():
    assert factors([]) == (1.0, {})
    jobs = {1: job(60), 2: job(60), 3: job(30, needs=(1,))}
    assert estimate(jobs, {}, {}, 0, 2) == Estimate(0, 150, 90)
    assert estimate(jobs, {}, {}, 0, 1) == Estimate(0, 150, 150)


def test_the_longest_chain_counts_however_many_cores_there_are():
    jobs = {1: job(10), 2: job(10, needs=(1,)), 3: job(10, needs=(2,))}
    assert estimate(jobs, {1: 10.0}, {}, 10, 64).left == pytest.approx(20)


def test_what_jobs_of_a_rule_took_corrects_the_others_of_that_rule():
    jobs = {i: job(100) for i in range(12)} | {"table": job(100, rule="table")}
    state = estimate(jobs, dict.fromkeys(range(6), 200.0), {}, 1200, 1)
    overall = (PRIOR + 1200) / (PRIOR + 600)
    of_rule = (PRIOR * overall + 1200) / (PRIOR + 600)
    assert state.done == 1200
    assert state.left == pytest.approx(6 * 100 * of_rule + 100 * overall)
    assert state.total == pytest.approx(1200 + state.left)


def test_a_job_that_takes_longer_than_predicted_tells_so_before_it_ends():
    jobs = {1: job(10), 2: job(10)}
    assert estimate(jobs, {}, {1: 100.0}, 100, 1).left > estimate(jobs, {}, {1: 5.0}, 5, 1).left


def test_what_earlier_runs_took_corrects_the_end_from_the_start():
    jobs = {1: job(100), 2: job(50, rule="table")}
    before = [Ended("evaluate", 3000.0, 6000.0)]
    overall = (PRIOR + 6000) / (PRIOR + 3000)
    of_rule = (PRIOR * overall + 6000) / (PRIOR + 3000)
    state = estimate(jobs, {}, {}, 0, 1, before)
    assert state.done == 0 and state.left == pytest.approx(100 * of_rule + 50 * overall)


def test_other_work_on_the_machine_is_seen_within_minutes_however_long_earlier_runs_were():
    jobs = {i: job(100) for i in range(100)}
    before = [Ended("evaluate", 1e5, 1e5)]
    state = estimate(jobs, dict.fromkeys(range(4), 300.0), {}, 1200, 1, before)
    assert state.left == pytest.approx(96 * 300, rel=0.1)


def test_with_an_unknown_number_of_cores_the_share_that_is_done_tells_the_end():
    jobs = {1: job(100), 2: job(100)}
    assert estimate(jobs, {}, {}, 50, None).left is None
    assert estimate(jobs, {1: 100.0}, {}, 50, None).left == pytest.approx(50)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.tuples(SECONDS, SECONDS), max_size=20), st.integers(1, 5))
def test_factors_lie_between_one_and_what_was_seen(pairs, n_rules):
    ended = [Ended(f"rule{i % n_rules}", predicted, taken) for i, (predicted, taken) in enumerate(pairs)]
    overall, by_rule = factors(ended)
    seen = [taken / predicted for predicted, taken in pairs]
    low, high = min([1.0, *seen]), max([1.0, *seen])
    assert all(low * (1 - 1e-9) <= value <= high * (1 + 1e-9) for value in (overall, *by_rule.values()))


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.integers(1, 8), st.integers(8, 60), st.floats(0.3, 3))
def test_from_the_second_minute_on_the_end_of_equal_jobs_is_right_within_a_factor(cores, n_jobs, slower):
    predicted = 100.0
    jobs, took = {i: job(predicted) for i in range(n_jobs)}, predicted * slower
    for rounds in range(1, n_jobs // cores):
        elapsed = rounds * took + 1
        finished = dict.fromkeys(range(cores * rounds), took)
        running = {cores * rounds + i: 1.0 for i in range(min(cores, n_jobs - cores * rounds))}
        left = -(-(n_jobs - cores * rounds) // cores) * took
        assert left / 1.5 <= estimate(jobs, finished, running, elapsed, cores).left <= 1.5 * left


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((123, 410, NOON, 900, Estimate(4320, 29880, 2700)), "123 of 410 jobs, 1.2 of 8.3 core-hours, about 45 min left (12:45)"),
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


@pytest.fixture
def run():
    """A run of three jobs on one core, with Snakemake's logger and a clock of its own."""
    clock, stream, logger = Clock(), io.StringIO(), logging.Logger("snakemake")
    progress = Progress(stream, clock=clock)
    progress.start({1: job(90), 2: job(90, needs=(1,)), 3: job(90, needs=(2,))}, 1, logger)

    def tell(event, **values):
        logger.info(None, extra={"event": event} | values)

    return clock, stream, progress, tell


def test_a_line_at_most_once_a_minute_and_when_a_job_has_ended(run):
    clock, stream, _, tell = run
    tell("job_info", jobid=1)
    clock.now += 90
    assert stream.getvalue() == ""
    tell("job_finished", job_id=1)
    assert stream.getvalue() == "foldshift: 1 of 3 jobs, 1.5 of 4.5 core-minutes, about 3 min left (12:04)\n"
    tell("job_info", jobid=2)
    clock.now += 30
    tell("job_finished", job_id=2)
    assert stream.getvalue().count("\n") == 1


def test_a_long_run_has_some_forty_lines_and_a_first_one_after_a_minute():
    clock, stream, logger = Clock(), io.StringIO(), logging.Logger("snakemake")
    progress, n = Progress(stream, clock=clock), 600
    progress.start({i: job(70) for i in range(n)}, 1, logger)
    for i in range(n):
        logger.info(None, extra={"event": "job_info", "jobid": i})
        clock.now += 70
        logger.info(None, extra={"event": "job_finished", "job_id": i})
        assert i or stream.getvalue().startswith("foldshift: 1 of 600 jobs")
    assert 30 <= stream.getvalue().count("\n") <= 1 / STEP + 1


def test_the_first_line_says_what_there_is_to_do(run):
    progress = run[2]
    assert progress.first_line() == "foldshift: 3 jobs, 4.5 core-minutes, about 4 min on 1 core"
    progress.cores = None
    assert progress.first_line() == "foldshift: 3 jobs, 4.5 core-minutes"


def test_a_job_that_failed_is_named_at_the_end_unless_a_retry_went_well(run):
    _, _, progress, tell = run
    for i in (1, 2):
        tell("job_error", jobid=i, rule_name="evaluate", log=[f"{i}.log"])
    tell("job_finished", job_id=2)
    assert list(progress.failed.values()) == [("evaluate", ["1.log"])]


def test_the_last_line_says_how_the_run_ended(run):
    clock, stream, progress, tell = run
    for i in (1, 2, 3):
        tell("job_info", jobid=i)
        clock.now += 20
        tell("job_finished", job_id=i)
    progress.end()
    assert stream.getvalue().endswith("foldshift: 3 of 3 jobs, 1.0 of 1.0 core-minutes, finished in 1 min\n")


def test_a_job_that_failed_and_jobs_of_others_do_not_count(run):
    clock, stream, progress, tell = run
    tell("job_info", jobid=1)
    tell("job_info", jobid=77)
    tell("progress", done=1, total=3)
    clock.now += 100
    tell("job_finished", job_id=77)
    tell("job_error", jobid=1, rule_name="evaluate", log=[])
    assert progress.begun == {} and progress.finished == {} and stream.getvalue() == ""
    progress.end()
    assert stream.getvalue().startswith("foldshift: 0 of 3 jobs") and "stopped after 2 min" in stream.getvalue()


def test_a_stream_that_nobody_reads_does_no_harm(run):
    _, stream, progress, _ = run
    stream.close()
    progress.end()


def test_a_run_that_never_began_says_nothing():
    stream = io.StringIO()
    Progress(stream).end()
    assert stream.getvalue() == ""


def test_what_the_workflow_takes_from_snakemake_is_there():
    """Names of Snakemake that are not in its manual; where one goes, the workflow must be changed."""
    import snakemake.api  # noqa: F401  first: the modules import one another
    from snakemake.workflow import Workflow

    from snakemake.dag import DAG  # isort: skip
    from snakemake.jobs import Job as SnakemakeJob
    from snakemake.logging import logger
    from snakemake.scheduling.job_scheduler import JobScheduler
    from snakemake_interface_logger_plugins.common import LogEvent

    assert isinstance(logger, logging.Logger)
    assert {str(event) for event in LogEvent} >= {"job_info", "job_finished", "job_error"}
    assert all(hasattr(DAG, name) for name in ("needrun_jobs", "dependencies"))
    assert all(hasattr(SnakemakeJob, name) for name in ("resources", "jobid", "benchmark"))
    source = inspect.getsource(JobScheduler.__init__)
    assert "self.job_rate_limiter = " in source and "self.scheduler = JobScheduler(" in inspect.getsource(Workflow)
    names = ("main_snakefile", "is_main_process", "overwrite_configfiles", "local_exec", "cores", "current_basedir")
    assert all(hasattr(Workflow, name) for name in names)
