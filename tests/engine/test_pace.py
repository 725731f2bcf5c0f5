"""How fast this machine is: the factor, where it comes from, and what is told with it."""

from types import SimpleNamespace
from typing import NamedTuple

import pandas as pd
import pytest

from bench_costs import write_costs
from foldshift.core.errors import ConfigError
from foldshift.engine.costs.fit_costs import COLUMNS, MACHINE, CostModel, read_costs, works_of
from foldshift.engine.costs.machine_speed import WORKS, compute, fill, interpret, milliseconds_of, pace
from foldshift.engine.costs.plan import Job, plan_text
from foldshift.engine.rules.snakemake_internals import jobs_to_run


def test_the_factor_is_the_geometric_mean_of_the_ratios():
    taken = {interpret: 40.0, compute: 5.0, fill: 40.0}
    assert pace([10.0, 5.0, 20.0], taken.get) == pytest.approx(2.0)
    assert pace([80.0, 10.0, 80.0], taken.get) == pytest.approx(0.5)


def test_costs_that_do_not_say_where_they_were_measured_are_taken_as_they_are():
    assert pace([], measure=None) == 1.0


def test_a_machine_has_its_own_pace():
    here = [min(milliseconds_of(work) for _ in range(3)) for work in WORKS.values()]
    assert all(0.1 < milliseconds < 1000 for milliseconds in here)
    assert pace(here) == pytest.approx(1.0, rel=0.7)  # other processes share its caches


def test_the_works_are_the_same_every_time():
    assert interpret() == interpret() and compute() == compute() and fill() == fill()


def test_what_make_bench_writes_is_read_back(tmp_path):
    fits = pd.DataFrame([("NN", "dee", 365, 6, 0.5, 0.01, 3.0)], columns=list(COLUMNS))
    write_costs(tmp_path / "costs.tsv", [fits])
    rows = read_costs(tmp_path / "costs.tsv")
    assert len(works_of(rows)) == len(WORKS) and CostModel(rows).works == works_of(rows)
    assert not CostModel(rows)(MACHINE, 1, 1).measured  # it is no learner


@pytest.mark.parametrize("values", [("1",), ("1", "2"), ("1", "0", "3")])
def test_a_table_with_other_works_is_refused(values, tmp_path):
    lines = ["\t".join(COLUMNS), *(f"{MACHINE}\twork\t1\t1\t{value}\t0\t0" for value in values)]
    (tmp_path / "costs.tsv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ConfigError, match="expected one above 0 for each of fill, interpret, compute"):
        read_costs(tmp_path / "costs.tsv")


def test_the_table_of_the_project_says_on_which_machine_it_was_measured(root):
    assert len(works_of(read_costs(root / "config/costs.tsv"))) == len(WORKS)


def test_a_plan_is_told_for_this_machine_and_for_the_one_of_the_costs():
    jobs = [Job("evaluate", 3600.0, 500.0, 0.0, ())]
    text = plan_text(jobs, jobs, set(), [], 2, pace=0.5)
    row = next(line.split() for line in text.splitlines() if line.startswith("evaluate"))
    assert row[3] == "30.00" and "1 core 30 min" in text and "core-minutes" in text.splitlines()[0]
    assert "in 0.50 times" in text and "there: 60.00 core-minutes" in text


class Waiting(NamedTuple):
    """A job of Snakemake's, as far as it is read."""

    jobid: int
    output: tuple[str, ...] = ()
    benchmark: str | None = None

    @property
    def rule(self):
        return SimpleNamespace(name="evaluate")

    @property
    def resources(self):
        return {"expected_s": 12.0}


def test_the_time_left_begins_with_the_pace_of_this_machine():
    one = Waiting(7)
    graph = SimpleNamespace(dependencies={one: []}, needrun_jobs=lambda: [one])
    assert jobs_to_run(graph, pace=0.5)[7].seconds == 6.0 and jobs_to_run(graph)[7].seconds == 12.0
