"""Resources of jobs: exact values, in the form in which Snakemake calls them."""

from types import SimpleNamespace

from foldshift.engine.costs.cost_record import Cost
from foldshift.engine.rules.resources import (
    OVERHEAD_MB,
    current_attempt,
    expected_mb,
    expected_seconds,
    limits_of_a_cell,
    memory,
    minutes,
    written_mb,
)

COST = Cost(120.0, mb=100.0, writes_mb=0.12345)


def test_memory_doubles_at_every_attempt():
    assert [memory(1000)(None, attempt) for attempt in (1, 2, 3)] == [1500, 3000, 6000]
    assert memory(lambda wildcards: wildcards.mb)(SimpleNamespace(mb=250), 1) == 750


def test_time_limits_are_five_times_the_expected_time_and_some_to_spare():
    assert minutes(60)(None, 1) == 15 and minutes(60)(None, 2) == 30
    assert minutes(COST, spare=0)(None, 1) == 10 and minutes(lambda wildcards: COST, spare=1)(None, 1) == 11


def test_expected_costs_are_numbers_whatever_they_are_declared_as():
    assert expected_seconds(3)(None) == 3 and expected_seconds(COST)(None) == 120.0
    assert expected_seconds(lambda wildcards: COST)(None) == 120.0 and expected_seconds(lambda wildcards: 1.239)(None) == 1.24
    assert expected_mb(lambda wildcards: COST)(None) == 750.0 and written_mb(lambda wildcards: COST)(None) == 0.123
    assert current_attempt(None, 2) == 2


class Resources(dict):
    mem_mb = 4000


def test_the_last_attempt_keeps_a_learner_below_the_memory_of_its_job():
    limits = limits_of_a_cell(5.0, 10_000)
    assert limits(None, Resources(attempt=1)) == {"minutes": 5.0, "memory_mb": 10_000}
    assert limits(None, Resources(attempt=3)) == {"minutes": 5.0, "memory_mb": 4000 - OVERHEAD_MB - 400}
    assert limits_of_a_cell(None, None)(None, Resources(attempt=3))["memory_mb"] == 4000 - OVERHEAD_MB - 400
