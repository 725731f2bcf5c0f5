"""The paper on the software: as long as its venue asks, its parts are there, and what it cites and names exists."""

import re

import pytest
from click import Group

from foldshift.command.main import main

# Of the Journal of Open Source Software, as its authors' guide of 2026 lists them.
SECTIONS = (
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
)
FEWEST, MOST = 750, 1750  # words


@pytest.fixture
def body(root):
    """Text of the paper without its head."""
    return (root / "paper" / "paper.md").read_text(encoding="utf-8").split("---\n", 2)[2]


def test_the_paper_has_the_length_and_the_sections_that_its_venue_asks_for(body):
    assert tuple(re.findall(r"^# (.+)$", body, re.MULTILINE)) == SECTIONS
    assert FEWEST <= len(body.split()) <= MOST


def test_each_work_that_is_cited_is_in_the_list_and_the_other_way_round(body, root):
    entries = re.findall(r"^@\w+\{(\w+),", (root / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(set(entries)) == len(entries)
    assert set(re.findall(r"@(\w+)", body)) == set(entries)


def test_each_command_option_study_and_picture_that_is_named_exists(body, root):
    named = re.findall(r"`([^`]+)`", body)
    assert isinstance(main, Group)
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):.*##", makefile, re.MULTILINE))
    rules = {name for file in (root / "workflow").rglob("*") if file.is_file() for name in _rules(file)}
    studies = {path.parent.name for path in (root / "src/foldshift/studies").glob("*/study.yaml")}
    known = {
        "foldshift": set(main.commands),
        "make": targets,
        "snakemake": rules | studies,
    }
    alone = {"foldshift", "cv=", "cross_validate"} | studies
    for words in named:
        program, *rest = words.split()
        assert (rest and rest[0] in known.get(program, ())) or words in alone, words
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", body):
        assert (root / "paper" / picture).is_file(), picture


def _rules(file):
    """Names of the rules in a file of the workflow."""
    return re.findall(r"^\s*rule (\w+):", file.read_text(encoding="utf-8", errors="ignore"), re.MULTILINE)


def test_the_number_of_question_pages_is_that_of_the_folder(body, root):
    assert len(list((root / "docs/questions").glob("*.md"))) == 14 and "Fourteen pages answer" in body
