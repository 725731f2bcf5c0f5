"""The site: what its pages say runs, addresses of findings stay, links of a page that lead nowhere are found."""

import os
import re
import subprocess
import sys

import pytest

import pages
from check_links import broken_links
from foldshift.studies.load import find_studies

GUIDES = sorted((pages.ROOT / "docs" / "guides").glob("*.md"))
GALLERY = sorted((pages.ROOT / "docs" / "gallery").glob("plot_*.py"))
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", [path for path in GUIDES if CODE.search(path.read_text())], ids=lambda path: path.stem)
def test_the_code_of_a_guide_runs_in_its_order(path, tmp_path):
    code = "\n".join(CODE.findall(path.read_text(encoding="utf-8")))
    environment = os.environ | {"PYTHONPATH": str(pages.ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_study_has_a_page_and_every_page_of_the_gallery_a_title():
    index = pages.studies_index()
    for study in find_studies():
        assert f"studies/{study}.md" in index and pages.study_page(study).startswith("# ")
    for path in GALLERY:
        assert re.match(r'"""\n[^\n]+\n=+\n\n', path.read_text(encoding="utf-8"))


def test_addresses_of_findings_that_were_given_out_still_lead_to_them():
    given = [line.split("\t") for line in (pages.ROOT / "docs" / "addresses.tsv").read_text(encoding="utf-8").splitlines()]
    for study, address in given:
        assert f'id="{address}"' in pages.study_page(study), f"{study}: {address} is gone; keep the place, or name it again"
    known = {tuple(row) for row in given}
    for study in find_studies():
        for address in re.findall(r'<span id="([^"]+)"', pages.study_page(study)):
            assert (study, address) in known, f"add to docs/addresses.tsv: {study}\t{address}"


def test_findings_that_begin_alike_have_addresses_of_their_own():
    seen = set()
    assert [pages.address("The order of A is B, and so on.", seen) for _ in range(2)] == [
        "the-order-of-a-is-b",
        "the-order-of-a-is-b-2",
    ]
    assert pages.address("?", seen) == "finding"


def test_results_become_tables_that_escape_what_they_hold(tmp_path):
    (tmp_path / "saez_2022" / "tables").mkdir(parents=True)
    (tmp_path / "saez_2022" / "tables" / "one.csv").write_text('name,value\n"a <b>, c",1.5\n')
    (found,) = pages.results_pages(tmp_path).values()
    assert "## one" in found and "<td>a &lt;b&gt;, c</td><td>1.5</td>" in found


def test_broken_links_are_found(tmp_path):
    (tmp_path / "index.html").write_text('<p id="here"><a href="#here">1</a><a href="#gone">2</a><a href="other.html#x">3</a>')
    (tmp_path / "other.html").write_text(
        '<a href="index.html#here">1</a><a href="lost.html">2</a><a href="https://example.org">3</a>'
    )
    assert broken_links(tmp_path) == (
        [("index.html", "#gone"), ("index.html", "other.html#x"), ("other.html", "lost.html")],
        5,
        1,
    )
