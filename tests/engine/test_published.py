"""Published results that come with the clone: which are shown, and where their pages are."""

import json
from types import SimpleNamespace

import pytest

from foldshift.engine.study.declare import Figure, OutputGroup, Study, Table
from foldshift.engine.study.published import PublishedStudy

ITEMS = (
    Table("shown", title="Shown", category="", caption="", show="tables.grid", shown_with={"reference": "CV"}),
    Table("plain", title="Plain", category="", caption=""),
    Table("new", title="New", category="", caption="", show="tables.grid"),
    Table("paper_vs_ours", title="Paper", category="", caption=""),
    Figure("drawn", title="Drawn", category="", caption="", draw="figures.draw", drawn_from="plain"),
    Figure("copied", title="Copied", category="", caption=""),
    Figure("lost", title="Lost", category="", caption="", draw="figures.draw", drawn_from="new"),
)


@pytest.fixture
def published(tmp_path):
    """The clone with some published files, and the function that looks at them under a configuration."""
    folder = tmp_path / "docs/results/one_2020"
    files = ("tables/shown", "tables/plain", "paper_vs_ours", "figures/drawn", "figures/copied", "figures/lost")
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.{'svg' if name.startswith('figures') else 'csv'}").write_text("a\n1\n")
    (folder / "tables/shown.rst").write_text("**Shown.** Words.")
    (folder / "provenance.json").write_text(json.dumps({}))

    def look(root=tmp_path, **config):
        return PublishedStudy(
            SimpleNamespace(
                id="one_2020",
                declared=Study(items=(OutputGroup("all", "tables.all", ITEMS, ""),)),
                config={"scale": "laptop", "archived": False} | config,
                found=SimpleNamespace(path=lambda name: f"one_2020.{name}"),
                file=lambda path: f"<results>/one_2020/{path}",
            ),
            root,
        )

    return look


def test_declared_items_that_are_published_have_a_page_and_their_file(published):
    found = published()
    assert [item.name for item in found.items] == ["shown", "plain", "paper_vs_ours", "drawn", "copied", "lost"]
    assert found.outputs()[:2] == [f"<results>/one_2020/published/tables/shown.{ending}" for ending in ("html", "csv")]
    assert "<results>/one_2020/published/tables/paper_vs_ours.html" in found.outputs()
    assert found.outputs()[-1] == "<results>/one_2020/published/figures/lost.svg"


def test_a_job_rests_on_the_published_files_and_on_the_functions_that_show_them(published):
    found = published()
    names = [path.rpartition("one_2020/")[2] for path in found.inputs()]
    assert names[0] == "provenance.json" and {"tables/shown.csv", "tables/shown.rst", "figures/copied.svg"} <= set(names)
    assert len(names) == len(set(names))
    assert found.functions() == ["one_2020.tables.grid", "one_2020.figures.draw"]
    words = {item["name"]: item for item in found.words()}
    assert words["shown"]["arguments"] == {"reference": "CV"} and words["plain"]["function"] == ""
    assert words["drawn"]["table"].endswith("tables/plain.csv") and words["lost"]["function"] == ""  # its table is not there


@pytest.mark.parametrize("config", [{"scale": "paper"}, {"scale": "test"}, {"archived": True}])
def test_nothing_is_shown_beside_a_run_that_is_no_small_one(published, config):
    found = published(**config)
    assert found.items == [] and found.outputs() == [] and found.functions() == []


def test_nothing_is_made_where_nothing_is_published(published, tmp_path):
    assert published(tmp_path / "installed").items == []
