"""Pages of published tables and figures: the layout of this version, labelled, and what is published where it does not fit."""

import json
import logging
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from foldshift.core.imports import import_object
from foldshift.engine.study.find import find_studies
from foldshift.engine.study.published import FOLDER, PublishedStudy
from foldshift.reporting.published_items import EARLIER, MOST_ROWS, read_table, show_from, title_line, write_published
from foldshift.reporting.table_grid import Grid, TableCell

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"commit": "e3f7c1b6ba3e", "ended": "2026-11-28T00:03:00+00:00", "master_seed": 7, "settings": {"alpha": 0.1}}
LABEL = "Published, full scale: commit e3f7c1b, 2026-11-28, master seed 7"
STUDIES = [study for study in find_studies().values() if (ROOT / FOLDER / study.id).is_dir()]


@pytest.fixture
def item(tmp_path):
    """A published table with its caption."""
    (tmp_path / "source.csv").write_text("name,value\nCV,1.5\nNA,\n")
    (tmp_path / "source.rst").write_text("**Table 4: shift.** Smaller D\\_n is better.")
    source = str(tmp_path / "source.csv")
    words = {
        "kind": "table",
        "name": "table4",
        "title": "Table 4: shift",
        "caption": str(tmp_path / "source.rst"),
        "arguments": {},
    }
    return words | {"source": source, "table": source}


def page(item, folder, show):
    write_published(item, folder / "page.html", show, FACTS)
    return (folder / "page.html").read_text()


def test_a_table_is_laid_out_by_its_function_and_labelled(item, tmp_path):
    def grid(frame, alpha, reference):
        return Grid(
            ["Cut", "Value"], [[row.name, TableCell(f"{row.value:.1f} {alpha} {reference}")] for row in frame.itertuples()]
        )

    text = page(item | {"arguments": {"reference": "CV"}}, tmp_path, grid)
    assert f"{LABEL}. Table 4: shift. Smaller D_n is better." in text and "<td>1.5 0.1 CV</td>" in text
    assert (tmp_path / "page.csv").read_bytes() == Path(item["source"]).read_bytes()


def test_a_table_without_a_function_is_shown_as_its_columns_are(item, tmp_path):
    text = page(item, tmp_path, None)
    assert LABEL in text and "<td>1.5</td>" in text and EARLIER not in text
    Path(item["source"]).write_text("a,b\n" + "1,x\n" * (MOST_ROWS + 7))
    text = page(item, tmp_path, None)
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 7} rows" in text and text.count("<td>1</td>") == MOST_ROWS


def test_columns_of_an_earlier_version_are_shown_as_they_are_with_a_word_in_the_log(item, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        text = page(item, tmp_path, lambda frame: frame["verdict"])
    assert EARLIER in text and "<td>1.5</td>" in text
    assert "table4: published by an earlier version, shown as it is (KeyError: 'verdict')" in caplog.text


def test_a_figure_is_drawn_anew_from_its_table_or_else_copied(item, tmp_path):
    import matplotlib.pyplot as plt

    (tmp_path / "source.svg").write_text("<svg>as published</svg>")
    figure = item | {"kind": "figure", "source": str(tmp_path / "source.svg")}
    assert "as published" in page(figure, tmp_path, None) and LABEL in page(figure, tmp_path, None)

    def draw(frame):
        drawn, axis = plt.subplots()
        axis.plot(frame["value"])
        return drawn

    text = page(figure, tmp_path, draw)
    assert "as published" not in text and "<svg" in text and "<svg" in (tmp_path / "page.svg").read_text()
    assert not (tmp_path / "page.pdf").exists()
    assert "as published" in page(figure, tmp_path, lambda frame: frame["gone"])


def test_a_column_that_is_empty_throughout_is_one_of_texts_or_of_numbers(tmp_path):
    (tmp_path / "table.csv").write_text("name,note,p\nNA,,\nCV,,\n")
    texts, numbers = read_table(tmp_path / "table.csv", empty_is_text=True), read_table(tmp_path / "table.csv")
    assert texts["note"].tolist() == ["", ""] and texts["name"].tolist() == ["NA", "CV"]
    assert numbers["p"].isna().all()


def test_parameters_are_settings_by_name():
    assert show_from(lambda frame, level, n=3: (level, n), pd.DataFrame(), {"level": 0.95, "other": 1}) == (0.95, 3)


def test_the_label_says_how_many_seeds_where_the_study_has_them():
    assert title_line(FACTS) == LABEL
    assert title_line(FACTS | {"settings": {"n_seeds": 48}}).endswith(", 48 seeds (master seed 7)")


@pytest.mark.parametrize("study", STUDIES, ids=[study.id for study in STUDIES])
def test_the_functions_of_a_study_lay_out_what_it_has_published(study, tmp_path, caplog):
    """Nearly all: columns that changed since are shown as they are, until the study is published again."""
    run = SimpleNamespace(id=study.id, found=study, declared=study.declaration(), config={"scale": "laptop", "archived": False})
    run.file = lambda path: str(tmp_path / path)
    found = PublishedStudy(run, ROOT)
    facts = json.loads(Path(found.inputs()[0]).read_text())
    laid_out = [(item, page) for item, page in zip(found.words(), found.outputs()[::2]) if item["function"]]
    for item, path in laid_out:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_published(item, path, import_object(item["function"], "published"), facts)
        text = Path(path).read_text()
        assert "Published, full scale" in text and ">nan<" not in text
    assert len(laid_out) >= 6 and len(caplog.records) <= 2 + len(laid_out) // 5
