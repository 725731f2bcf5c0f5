"""The site: what its pages say runs, addresses of findings stay, links of a page that lead nowhere are found."""

import json
import os
import re
import subprocess
import sys

import pytest

import pages
from check_links import broken_links
from foldshift.core.errors import DataError
from foldshift.engine.archive.crate import write_archive
from foldshift.engine.study.find import find_studies
from publish import faults, publish

GUIDES = sorted((pages.ROOT / "docs" / "guides").glob("*.md"))
GALLERY = sorted((pages.ROOT / "docs" / "gallery").glob("plot_*.py"))
NAMED = ("CONTRIBUTING.md", "README.md", "docs/architecture.md")
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", [path for path in GUIDES if CODE.search(path.read_text())], ids=lambda path: path.stem)
def test_the_code_of_a_guide_runs_in_its_order(path, tmp_path):
    code = "\n".join(CODE.findall(path.read_text(encoding="utf-8")))
    environment = os.environ | {"PYTHONPATH": str(pages.ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def paths_named(text):
    """Paths of files and folders of the project in a page: targets of links, and words in code that begin with a place of it."""
    places = {path.name for path in pages.ROOT.iterdir() if not path.name.startswith(".")} | {".ci"}
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    codes = re.findall(r"`[^`]+`|^    .+", text.replace("```", "`"), re.MULTILINE)
    words = [word.strip("`,;()") for code in codes for word in code.split()]
    return links, [word for word in words if word.split("/")[0] in places and "<" not in word]


@pytest.mark.parametrize("page", NAMED)
def test_paths_that_a_page_names_exist(page):
    links, words = paths_named((pages.ROOT / page).read_text(encoding="utf-8"))
    assert len(links) + len(words) > 10
    made = ("build/", "results/", "resources/")
    gone = [link for link in links if not (pages.ROOT / page).parent.joinpath(link).exists()]
    gone += [word for word in words if not word.startswith(made) and not (pages.ROOT / word).exists()]
    assert gone == []


def test_functions_that_a_page_names_are_in_the_files_it_names():
    named = [
        pair
        for page in NAMED
        for pair in re.findall(
            r"((?:`\w+`(?:, | and )?)+) (?:in|of) `(src/[\w/]+\.py)`", (pages.ROOT / page).read_text(encoding="utf-8")
        )
    ]
    assert len(named) > 15
    for names, path in named:
        text = (pages.ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^(?:def {name}\(|class {name}\b|{name}\b.* = )", text, re.MULTILINE), f"{path} has no {name}"


def test_the_page_on_the_architecture_names_every_room():
    text = (pages.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    package = pages.ROOT / "src" / "foldshift"
    rooms = {path.parent.relative_to(package).as_posix() for path in package.glob("*/__init__.py")} - {"engine", "studies"}
    rooms |= {path.parent.relative_to(package).as_posix() for path in package.glob("engine/*/__init__.py")}
    assert set(re.findall(r"^\| `([\w/]+)` \|", text, re.MULTILINE)) == rooms and "`src/foldshift/studies/" in text


def test_every_study_has_a_page_and_every_page_of_the_gallery_a_title():
    index = pages.studies_index()
    for study in find_studies():
        assert f"studies/{study}.md" in index and pages.study_page(study).startswith("# ")
    for path in GALLERY:
        assert re.match(r'"""\n[^\n]+\n=+\n\n', path.read_text(encoding="utf-8"))


@pytest.mark.slow
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


def test_what_is_published_is_what_the_archives_held():
    assert faults() == []


@pytest.fixture
def archive(tmp_path):
    """An archive of a run of one study, as `snakemake archive` writes it."""

    def write(changed_files=0, table='name,value\n"a <b>, c",0.123456789\n'):
        texts = {
            "workflow/Snakefile": "",
            "results/wong_2015/tables/claims.csv": table,
            "results/wong_2015/tables/claims.html": "",
            "results/wong_2015/tables/claims.rst": "**The paper's claims.** What holds.\n",
            "results/wong_2015/figures/audit.svg": "<svg/>",
            "results/wong_2015/figures/audit.rst": "**Coverage.** By size.\n",
            "results/wong_2015/paper_vs_ours.csv": "printed,ours\n1,1\n",
            "results/wong_2015/rows.parquet": "",
            "results/provenance/config.yaml": "studies: {wong_2015: {n_folds: 5}}\n",
            "results/provenance/versions.json": '{"foldshift": "0.3.0", "packages": {}}',
            "results/provenance/run.json": json.dumps(
                {
                    "machine": {"cores": 2, "processor": "a processor"},
                    "master_seed": 1,
                    "git": {"commit": "c0ffee", "changed_files": changed_files},
                }
            ),
        }
        files = {name: tmp_path / name.replace("/", "_") for name in texts}
        for name, file in files.items():
            file.write_text(texts[name])
        outputs = [name for name in texts if name.startswith("results/wong_2015") and not name.endswith("parquet")]
        path = tmp_path / "foldshift.zip"
        versions = {"foldshift": "0.3.0", "packages": {}}
        write_archive(path, files, outputs, [], started="2026-01-01", ended="2026-01-02", versions=versions, origins=[])
        return path

    return write


def test_tables_and_figures_of_an_archive_are_published_and_shown(archive, tmp_path):
    folder = tmp_path / "docs" / "results"
    assert publish(archive(), folder)["wong_2015"] > 0
    there = {path.relative_to(folder / "wong_2015").as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {
        "tables/claims.csv",
        "tables/claims.rst",
        "figures/audit.svg",
        "figures/audit.rst",
        "paper_vs_ours.csv",
        "provenance.json",
    }
    assert faults(folder) == []
    (page,) = pages.results_pages(folder).values()
    assert "c0ffee" in page and '<td class="text">a &lt;b&gt;, c</td><td>0.1235</td>' in page and "What holds." in page
    assert "`n_folds` 5" in page and "`master_seed` 1 (there 20220721)" in page
    assert "results/wong_2015" in pages.studies_index(pages.published(folder))


def test_a_page_of_results_names_the_settings_that_are_not_those_of_the_papers_scale():
    full = {"n_seeds": 100, "ablation": {"max_rows": 1000000, "n_seeds": 20}, "datasets": ["iris", "wine"], "later": 1}
    assert pages.sizes({key: full[key] for key in ("n_seeds", "ablation", "datasets")}, full) == (
        "All settings are those of `config/paper.yaml`."
    )
    assert pages.sizes({**full, "n_seeds": 32, "ablation": {"max_rows": 5000}, "datasets": ["iris"], "old": 2}, full) == (
        "Settings are those of `config/paper.yaml` but for `n_seeds` 32 (there 100), `ablation.max_rows` 5000 (there 1000000), "
        "`datasets` iris (there iris, wine), `old` 2 (there not set)."
    )


def test_published_files_that_were_changed_lost_or_added_are_found(archive, tmp_path):
    folder = tmp_path / "docs" / "results"
    publish(archive(), folder)
    (folder / "wong_2015/tables/claims.csv").write_text("name,value\n")
    (folder / "wong_2015/figures/audit.svg").unlink()
    (folder / "wong_2015/tables/more.csv").write_text("")
    assert faults(folder) == [
        "wong_2015/tables/more.csv: not listed in provenance.json",
        "wong_2015/figures/audit.svg: missing",
        "wong_2015/tables/claims.csv: not the file of the archive",
    ]


def test_what_no_commit_holds_and_what_is_too_large_is_not_published(archive, tmp_path, monkeypatch):
    with pytest.raises(DataError, match="files that no commit holds"):
        publish(archive(changed_files=1), tmp_path / "results")
    monkeypatch.setattr("publish.MAX_BYTES", 10)
    with pytest.raises(DataError, match=r"0\.0 MB to publish .* the largest file is results/wong_2015/tables/claims"):
        publish(archive(table="a\n" + 100 * "1\n"), tmp_path / "results")
    assert not (tmp_path / "results").exists()


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
