"""The plan: jobs as a dry run logs them, the time on some cores, and the text."""

import json
import logging

import pytest
from snakemake import benchmark

from foldshift.engine.costs.plan import Job, Recorder, duration, in_a_list, plan_text, read_jobs, simulate
from foldshift.engine.costs.timings import LOOKS, OFTEN, PRIOR, Ended, ended_jobs, seconds_taken


def job(seconds, needs=(), rule="evaluate", mb=500.0, writes_mb=1.0):
    return Job(rule, seconds, mb, writes_mb, needs)


def test_a_dry_run_is_read_back_in_an_order_in_which_it_can_run(tmp_path):
    logger = logging.Logger("snakemake")
    logger.addHandler(Recorder(tmp_path / "jobs"))

    def tell(rule, inputs, outputs, seconds, **more):
        job = {"rule_name": rule, "input": inputs, "output": outputs, "resources": {"expected_s": seconds, "mem_mb": 1000}}
        logger.info(None, extra={"event": "job_info", **job, **more})

    tell("all", ["table.csv"], [], 0)
    tell("table", ["scores/a.parquet", "scores/b.parquet", "code.py"], ["table.csv", "table.html"], 2.5)
    tell("evaluate", ["folds.npz"], ["scores/b.parquet"], 60)
    tell("evaluate", ["folds.npz"], ["scores/a.parquet"], 30, benchmark="times/a.tsv")
    tell("make_folds", ["data.npz"], ["folds.npz"], 1)
    logger.info("something else", extra={"event": "progress"})
    jobs = read_jobs(tmp_path / "jobs")
    assert [one.rule for one in jobs] == ["make_folds", "evaluate", "evaluate", "table"]
    assert [one.needs for one in jobs] == [(), (0,), (0,), (1, 2)]
    assert [one.seconds for one in jobs] == [1, 60, 30, 2.5] and jobs[0].mb == 1000 and jobs[0].writes_mb == 0
    assert {one.makes: one.timed for one in jobs} == {
        "folds.npz": "",
        "scores/a.parquet": "times/a.tsv",
        "scores/b.parquet": "",
        "table.csv": "",
    }


def test_a_dry_run_with_nothing_to_do_writes_nothing(tmp_path):
    assert read_jobs(tmp_path / "nothing") == []


def test_the_record_is_one_json_object_a_line(tmp_path):
    (tmp_path / "jobs").write_text(
        json.dumps({"rule": "a", "input": [], "output": ["x"], "expected_s": 1, "mem_mb": 2, "writes_mb": 3}) + "\n"
    )
    assert read_jobs(tmp_path / "jobs") == [Job("a", 1.0, 2.0, 3.0, (), "x")]


def test_the_time_on_some_cores_is_that_of_the_longest_chain_or_of_all_work():
    jobs = [job(10), job(10), job(10), job(5, (0, 1, 2))]
    assert simulate(jobs, 1) == pytest.approx(35, abs=0.1)
    assert simulate(jobs, 2) == pytest.approx(25, abs=0.1)
    assert simulate(jobs, 100) == pytest.approx(15, abs=0.1)
    assert simulate([], 4) == 0


def test_the_plan_says_jobs_done_core_hours_longest_memory_disk_and_times():
    everything = [job(1800), job(1800), job(3600, (0, 1), "measure", 2000.0, 500.0), job(3, (2,), "saez_2022_error")]
    left = [job(3600, (), "measure", 2000.0, 500.0), job(3, (0,), "saez_2022_error")]
    text = plan_text(everything, left, {"saez_2022_error"}, ["mine"], 3)
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line}
    assert rows["evaluate"][1:4] == ["2", "2", "0.00"]
    assert (
        rows["measure"][1:4] == ["1", "0", "1.00"]
        and "60 min" in " ".join(rows["measure"])
        and "2.0 GB" in " ".join(rows["measure"])
    )
    assert rows["tables_and_figures"][1:3] == ["1", "0"] and rows["all"][1:4] == ["4", "2", "1.00"]
    assert "0.50 GB" in " ".join(rows["all"]) and "3 cores 60 min" in text and "mine" in text


def test_jobs_by_id_become_a_list_without_those_that_make_no_file():
    jobs = {7: Job("a", 1.0, 0.0, 0.0, (), "a"), 9: Job("all", 0.0, 0.0, 0.0, (7,)), 4: Job("b", 2.0, 0.0, 0.0, (7, 9), "b")}
    assert [(job.rule, job.needs) for job in in_a_list(jobs)] == [("a", ()), ("b", (0,))]


def timed(path, text):
    path.write_text(text)
    return str(path)


def test_a_plan_tells_what_jobs_that_are_done_took_beside_what_was_planned(tmp_path):
    slow = timed(tmp_path / "slow.tsv", "s\th:m:s\tcpu_time\n7200\t2:00:00\t7000\n")
    fast = timed(tmp_path / "fast.tsv", "s\th:m:s\tcpu_time\n1800\t0:30:00\t1700\n")
    everything = [
        Job("evaluate", 3600.0, 500.0, 0.0, (), "a", slow),
        Job("evaluate", 3600.0, 500.0, 0.0, (), "b", str(tmp_path / "not there")),
        Job("measure", 3600.0, 500.0, 0.0, (), "c", fast),
        Job("measure", 3600.0, 500.0, 0.0, (), "d", slow),  # an earlier run's: the job is to be run again
        Job("collect", 10.0, 500.0, 0.0, (), "e"),
        Job("their_compile_kernels", 1.0, 500.0, 0.0, (), "f", slow),  # planned at what is not kept: nothing, by now
    ]
    text = plan_text(everything, [everything[3]], set(), [], 2, pace=2.0)
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line}
    assert rows["evaluate"][-2:] == ["2.00", "2.00"] and rows["measure"][-2:] == ["0.50", "0.50"]
    assert rows["all"][-2:] == ["2.50", "1.25"] and rows["collect"][-1] == "GB"
    assert "2.50 where 2.00 were planned" in text
    assert ended_jobs(everything[:3], 2.0) == [Ended("evaluate", 7200.0, 7200.0), Ended("measure", 7200.0, 1800.0)]
    # What is left goes as the jobs of its rule went on this machine: a quarter of what costs and pace say.
    overall = (PRIOR + 9000) / (PRIOR + 14400)
    of_rule = (PRIOR * overall + 1800) / (PRIOR + 7200)
    assert rows["measure"][3] == f"{2 * of_rule:.2f}" == "0.50" and f"{overall:.2f} times" in text
    assert "there: 1.00 core-hours" in text
    assert "Took" not in plan_text(everything, everything, set(), [], 2)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("s\tmean_load\n12\t25\n", 3),  # beside other work
        ("s\tmean_load\n40\t20\n", 20),  # Snakemake last looked after 16 s: 8 s of processor time until then
        ("s\tmean_load\n100\t19\n", 25),  # after 76 s
        ("s\tmean_load\n100\t180\n", 100),  # several threads
        ("s\tmean_load\n100\t0\n", 100),  # not seen
        ("s\tmean_load\n100\tNA\n", 100),
        ("s\tmean_load\n9\t25\n", 9),  # too short for Snakemake to see how busy it was
    ],
)
def test_the_time_in_which_other_work_had_the_processor_does_not_count(tmp_path, text, seconds):
    path = timed(tmp_path / "times.tsv", text)
    assert seconds_taken(path) == pytest.approx(seconds)
    jobs = [Job(rule, 50.0, 0.0, 0.0, (), rule, path) for rule in ("evaluate", "foldshift_fetch_dataset")]
    wall = float(text.split()[2])
    assert [job.taken for job in ended_jobs(jobs)] == pytest.approx([seconds, wall])  # a download waits for its host


def test_snakemake_looks_at_a_job_as_often_as_is_taken_into_account():
    assert (31 * benchmark.BENCHMARK_INTERVAL_SHORT, benchmark.BENCHMARK_INTERVAL) == (OFTEN - 0.5, LOOKS)


@pytest.mark.parametrize("text", ["", "s\th:m:s\n", "h:m:s\tcpu_time\n0:00:01\t1\n", "s\nNA\n", "\x00"])
def test_a_file_without_times_says_nothing(tmp_path, text):
    assert seconds_taken(timed(tmp_path / "times.tsv", text)) is None
    assert seconds_taken(tmp_path / "not there") is None


def test_times_are_readable():
    assert [duration(s) for s in (0, 45, 720, 12240)] == ["0 s", "45 s", "12 min", "3.4 h"]
