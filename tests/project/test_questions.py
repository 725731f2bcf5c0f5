"""Pages of questions: each has its parts, its code runs, its picture is drawn from it, and its evidence is there."""

import json
import re

import nbformat
import pytest

import question_pages as pages

FILES = pages.question_files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_code_of_a_page_runs_and_its_picture_is_drawn(path):
    text = path.read_text(encoding="utf-8")
    answer = re.search(r"\A# .+\n\n(.+)\n", text)[1]
    assert len(re.findall(r"[.?!](?: |$)", answer)) == 2, "the answer is two sentences"
    assert "**Evidence.**" in text and len(pages.PICTURE.findall(text)) == 1
    page = pages.site_page(text)
    assert page.count("<svg") == 1 and "It prints:" in page and "<!-- picture" not in page
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link).exists(), link


def test_the_code_block_stays_whole_where_it_is_shown_with_what_it_prints():
    text = '# A title\n\n```python\nprint(1)\n```\n\n<!-- picture: Words.\n{"a": 1, "b": (0, 2, 3)}\n-->\n'
    page = pages.site_page(text)
    assert "```python\nprint(1)\n```\n\nIt prints:\n\n```text\n1\n```" in page and page.count("```") % 2 == 0
    assert page.count('class="maindot"') == 2 and page.count('class="main"') == 1


@pytest.mark.parametrize("name", pages.NOTEBOOKS)
def test_a_notebook_has_the_code_of_its_page_and_its_words(name):
    text = (pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    made = json.loads(pages.notebook(text))
    nbformat.validate(made)
    cells = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert cells == [block.strip() for block in pages.CODE.findall(text)]
    words = "".join("".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "markdown")
    assert words.startswith(f"# {pages.title_of(text)}") and "](" not in words and "<!--" not in words
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
