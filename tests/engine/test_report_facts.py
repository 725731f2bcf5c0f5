"""Facts behind the report: words of a study, what a run has and lacks, files of a page."""

import pytest
import yaml

from foldshift.core.errors import ConfigError
from foldshift.engine.config.runs import configure
from foldshift.engine.study import report_facts
from foldshift.engine.study.declare import Figure, OutputGroup, Study, Table
from foldshift.engine.study.find import find_studies
from foldshift.engine.study.report_words import ReportWords, check_items, read_report
from foldshift.reporting.report_page import ReportItem, StudyWords
from foldshift.reporting.verdicts import VERDICTS
from workflow_runner import ROOT

ANSWER = {"claim": "falls", **dict.fromkeys(VERDICTS, "words")}


def test_the_words_of_a_study_may_be_left_out():
    assert read_report("study.yaml", None) == read_report("study.yaml", {}) == ReportWords()
    words = read_report("study.yaml", {"question": "Does\n  it fall?", "answer": ANSWER})
    assert words.question == "Does it fall?" and words.answer == ANSWER and words.figure is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"questoin": "x"}, "study.yaml: unknown key in report 'questoin'; did you mean question"),
        ([1], r"report=\[1\] must be keys and values"),
        ({"question": 3}, "report.question=3 must be text"),
        ({"answer": {"claim": "a", "holds": "x"}}, "report.answer: key 'holds in part' is missing"),
        ({"answer": ANSWER | {"hold": "x"}}, "unknown key in report.answer 'hold'; did you mean holds"),
        ({"answer": {"table": "a", "count": {}, "text": "x"}}, "report.answer.count={} must not be empty"),
        ({"answer": {"table": "a", "count": {"b": 1}, "text": "{n}"}}, "report.answer.text='{n}' may have {count} and {rows}"),
    ],
    ids=["key", "list", "number", "verdict missing", "verdict", "count", "braces"],
)
def test_mistakes_in_the_words_are_named(given, message):
    with pytest.raises(ConfigError, match=message):
        read_report("study.yaml", given)


def test_names_that_the_study_does_not_declare_are_refused():
    items = [("table", "main"), ("figure", "lines")]
    check_items("study.yaml", ReportWords(figure="lines", table="main", answer={"table": "main"}), items)
    with pytest.raises(ConfigError, match=r"unknown figure in study.yaml, report.figure 'line'; did you mean lines\?"):
        check_items("study.yaml", ReportWords(figure="line"), items)
    with pytest.raises(ConfigError, match=r"unknown table in study.yaml, report.answer.table 'lines'"):
        check_items("study.yaml", ReportWords(answer={"table": "lines"}), items)


@pytest.mark.parametrize("study", find_studies().values(), ids=lambda study: study.id)
def test_every_study_says_what_its_page_shows(study):
    study.declaration()  # its names are those of items
    assert study.report.question.endswith("?") and study.report.figure and study.report.table
    sentences = study.folder / "printed/claims.csv"
    if study.report.answer and "claim" in study.report.answer and sentences.exists():
        assert f"\n{study.report.answer['claim']}," in sentences.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def runs():
    return configure({"scale": "test"}, ROOT).runs


def test_the_facts_of_every_study_are_plain_and_name_its_items(runs):
    for run in runs.values():
        facts = report_facts.page_facts(run)
        assert yaml.safe_load(yaml.safe_dump(facts)) == facts  # as a parameter of a rule
        words = StudyWords(**facts | {key: [ReportItem(*one) for one in facts[key]] for key in ("main", "items")})
        names = {(one.kind, one.name) for one in words.items}
        assert len(names) == sum(len(some) for _, some in run.items())
        assert [one.kind for one in words.main] == ["figure", "table"]
        assert {(one.kind, one.name) for one in words.main} <= names or any("leave" in line for line in words.left_out)
        files = report_facts.page_files(run)
        assert {path for paths in files.values() for path in paths} <= set(run.outputs())


def test_what_a_run_lacks_is_named_with_its_reason(runs):
    facts = report_facts.page_facts(runs["saez_2022"])  # no data set of the paper
    assert any(line.startswith("Paper versus ours: no printed number is compared") for line in facts["left_out"])
    assert "data sets 2 (28)" in facts["size"] and "seeds 8 (1,000)" in facts["size"]
    titles = {"saez_2022": "Saez 2022", "wong_2015": "Wong 2015", "other_2020": "Other 2020"}
    assert report_facts.absent_studies(runs, ["saez_2022"], titles) == [
        "Other 2020 (other_2020): the configuration leaves them out; add them to its studies.",
        "Wong 2015 (wong_2015): the command names other studies; snakemake all makes them.",
    ]
    assert report_facts.absent_studies(runs, [*runs], {"saez_2022": "Saez 2022"}) == []


def test_further_pages_of_a_study_are_listed(runs):
    assert report_facts.page_facts(runs["advice"])["pages"] and not report_facts.page_facts(runs["saez_2022"])["pages"]


def test_without_words_the_first_question_figure_and_table_are_taken(runs, monkeypatch):
    run = runs["saez_2022"]
    monkeypatch.setattr(run, "found", run.found._replace(report=ReportWords()))
    facts = report_facts.page_facts(run)
    assert facts["question"] == "In regression, does it matter whether the folds are stratified on the target?"
    tables = [name for kind, name, *_ in facts["items"] if kind == "table" and name not in report_facts.SECONDARY]
    assert [name for _, name, *_ in facts["main"]] == ["figure1_target_shift", tables[0]] and facts["answer"] is None
    monkeypatch.setattr(run, "declared", Study(items=()))
    facts = report_facts.page_facts(run)
    assert facts["main"] == facts["items"] == []


@pytest.mark.parametrize(
    ("summary", "question"),
    [
        ("asks: does it fall? It does. Really?", "Does it fall?"),
        ("Everything is measured. And more.", "Everything is measured."),
        ("asks", "Asks"),
    ],
)
def test_the_question_is_the_first_of_the_summary(summary, question):
    assert report_facts.first_question(summary) == question


def test_the_size_of_a_run_is_told_against_the_papers_scale():
    full = {"n_seeds": 1000, "datasets": ["a", "b"], "scaling": "global", "more": {"n": 3}}
    assert report_facts.size_line({"n_seeds": 50, "datasets": ["c", "d"]}, full) == (
        "Not the full scale, which is in brackets: seeds 50 (1,000), other data sets. "
        "The full scale: --configfile config/paper.yaml."
    )
    assert report_facts.size_line(full, full) == "At the paper's scale." and report_facts.size_line(full, None) == ""


def test_items_of_a_paper_that_cannot_be_compared_are_one_line(runs, monkeypatch):
    compared = OutputGroup(
        "compare",
        function="x.y",
        message="",
        items=(
            Table("paper_vs_ours", title="Paper versus ours", category="2", caption="", when=lambda run: False),
            Table("print_ledger", title="Printed numbers that are met", category="2", caption="", when=lambda run: False),
        ),
    )
    other = OutputGroup("other", function="x.y", message="", items=(Figure("f", "F", "1", "", when=lambda run: False),))
    run = runs["saez_2022"]
    monkeypatch.setattr(run, "declared", Study(items=(compared, other)))
    lines = report_facts.page_facts(run)["left_out"]
    assert len(lines) == 2 and lines[0].startswith("Paper versus ours") and lines[1].startswith("F: the settings")
