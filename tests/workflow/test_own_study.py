"""The study of docs/add_a_study.md, taken from the text as it stands, from outside the clone."""

import re

import pandas as pd
import pytest

from workflow_runner import ROOT, Workflow

pytestmark = pytest.mark.workflow
TEXT = (ROOT / "docs/add_a_study.md").read_text(encoding="utf-8")


@pytest.fixture
def workflow(tmp_path):
    """A working directory, and the example's folder outside of it and of the clone."""
    files = re.findall(r"\*\*`fold_means/([\w.]+)`\*\*.*?```\w+\n(.*?)```", TEXT, re.DOTALL)
    assert [name for name, _ in files] == ["study.yaml", "study.py", "measure.py", "show.py"]
    folder = tmp_path / "elsewhere/fold_means"
    folder.mkdir(parents=True)
    for name, text in files:
        (folder / name).write_text(text)
    return Workflow(tmp_path / "run", {"studies_from": ["../elsewhere/fold_means"], "studies": {"fold_means": {"n_seeds": 3}}})


def test_the_example_runs_and_replans_exactly(workflow):
    assert workflow.plan()["fold_means_measure_means"] == 2
    workflow(check=True)
    table = pd.read_csv(workflow.folder / "results/fold_means/tables/scatter.csv").set_index(["dataset", "k", "partitioner"])[
        "scatter"
    ]
    assert len(table) == 4 and (table.xs("TSCV", level=2) < table.xs("CV", level=2)).all()
    assert (workflow.folder / "results/fold_means/figures/scatter.svg").stat().st_size > 1000
    assert "mean over 3 partitions" in (workflow.folder / "results/fold_means/tables/scatter.html").read_text()
    page = (workflow.folder / "results/fold_means/index.html").read_text()
    assert "How far is the mean target of a fold" in page and "figures/scatter.svg" in page and "<table>" in page
    assert "The means of stratified folds scatter less in 2 cases." in page
    index = (workflow.folder / "results/index.html").read_text()
    assert (
        "How far is the mean target of a fold" in index
        and "Wong 2015 (wong_2015)" in index
        and "the configuration leaves them out" in index
    )
    assert workflow.plan() == {}
    for name, expected in {
        "show.py": {"fold_means_scatter": 1},
        "measure.py": {"fold_means_measure_means": 2, "fold_means_scatter": 1},
    }.items():
        file = workflow.folder.parent / "elsewhere/fold_means" / name
        text = file.read_text()
        file.write_text(text + "\n# edited\n")
        assert workflow.plan() == {**expected, "write_study_page": 1, "write_index": 1, "fold_means": 1}
        file.write_text(text)
    done = workflow(targets=("plan",), check=True)
    assert re.search(r"fold_means_measure_means +2 +2 ", done.stdout + done.stderr)
    workflow("--report", "report.html", check=True)
    assert "How far means of folds scatter" in (workflow.folder / "report.html").read_text()


def test_mistakes_of_an_own_study_are_told_in_a_line(workflow):
    file = workflow.folder.parent / "elsewhere/fold_means/show.py"
    file.write_text(file.read_text().replace('return {"scatter": table, ', "return {"))
    done = workflow()
    assert (
        done.returncode
        and "fold_means.show.scatter must return a dictionary with 'scatter'; got 'scatter (figure)'" in done.stderr
    )
    assert "fault of the program" not in done.stdout + done.stderr
