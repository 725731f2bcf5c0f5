"""A run says little on the terminal: warnings and failures in full, progress in few lines, and where the results are."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from foldshift.engine.rules.short_output import MOST_FAILURES, TerminalChoice, failure_lines, result_lines
from foldshift.engine.study.declare import Figure, OutputGroup, Table


def record(level, event=None):
    found = logging.LogRecord("snakemake", level, __file__, 1, "text", None, None)
    found.event = event
    return found


@pytest.mark.parametrize(
    ("level", "event", "before", "running"),
    [
        (logging.INFO, "job_info", False, False),
        (logging.INFO, "job_finished", False, False),
        (logging.INFO, "run_info", False, False),
        (logging.INFO, None, True, False),
        (logging.WARNING, None, True, True),
        (logging.ERROR, "job_error", True, True),
        (logging.ERROR, None, True, True),
    ],
)
def test_events_of_jobs_are_kept_back_and_warnings_and_failures_are_shown(level, event, before, running):
    choice = TerminalChoice()
    assert choice(record(level, event)) is before
    choice.running = True
    assert choice(record(level, event)) is running


def test_failed_jobs_are_named_with_their_logs_up_to_a_number():
    lines = failure_lines([("evaluate", [f"logs/{i}.log"]) for i in range(MOST_FAILURES + 3)])
    assert lines[0] == "failed: evaluate, log logs/0.log" and lines[-1] == "failed: 3 more" and len(lines) == MOST_FAILURES + 1
    assert failure_lines([]) == []


def study(n_tables):
    tables = tuple(Table(f"table{i}", title=f"Table {i}", category="", caption="") for i in range(n_tables))
    groups = [(OutputGroup("numbers", "tables.numbers", tables, ""), tables)]
    figure = (Figure("boxes", title="Boxes", category="", caption=""),)
    groups.append((OutputGroup("pictures", "figures.pictures", figure, ""), figure))
    return SimpleNamespace(id="one_2020", items=lambda: groups)


def test_few_items_are_named_one_by_one_and_many_by_their_folders(tmp_path):
    few = result_lines(Path("results"), [study(2)], {"one_2020_numbers", "one_2020_pictures"})
    assert few == [
        "Table 0: results/one_2020/tables/table0.html",
        "Table 1: results/one_2020/tables/table1.html",
        "Boxes: results/one_2020/figures/boxes.html",
    ]
    many = result_lines(Path("results"), [study(7)], {"one_2020_numbers", "one_2020_pictures", "archive", "one_2020_published"})
    assert many == [
        "one_2020: 7 tables in results/one_2020/tables, 1 figure in results/one_2020/figures",
        "one_2020: published ones, full scale, in results/one_2020/published",
        "archive: results/archive/foldshift.zip",
    ]


def test_what_the_command_asks_for_by_name_is_listed_alone():
    page = "results/one_2020/figures/boxes.html"
    assert result_lines(Path("results"), [study(7)], {"one_2020_numbers", "one_2020_pictures"}, [page]) == [page]


def test_the_report_comes_last_and_a_plan_has_no_results(tmp_path):
    (tmp_path / "report.html").touch()
    assert result_lines(tmp_path, [study(1)], {"their_one_2020_pictures"})[-1] == f"report: {tmp_path / 'report.html'}"
    (tmp_path / "index.html").touch()
    assert result_lines(tmp_path, [study(1)], {"one_2020_pictures"})[-1] == f"report: {tmp_path / 'index.html'}"
    assert result_lines(tmp_path, [study(1)], {"plan"}) == []
