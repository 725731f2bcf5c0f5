"""The report: the page of a study and the index, with everything, with little, and with nothing."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

import write_index
import write_study_page
from foldshift.reporting.claims_ledger import Judged, claims_ledger
from foldshift.reporting.figure_style import plt
from foldshift.reporting.items import FigureResult, TableResult, write_item
from foldshift.reporting.paper_vs_ours import join_with_print, judge, ledger_grid, print_ledger
from foldshift.reporting.report_lines import claims_line, find_answer, ledger_line, total_rows
from foldshift.reporting.report_page import ReportItem, StudyWords, card_of, index_page, study_page
from foldshift.reporting.table_grid import Grid, TableCell, table_parts, to_html
from foldshift.reporting.verdicts import VERDICTS

SENTENCES = pd.DataFrame(
    {
        "id": ["falls", "always", "unseen"],
        "page": ["p. 3", "p. 4", "p. 5"],
        "claim": ["The more strata <t>, the less & less shift", "In every data set", "After 150 repetitions"],
        "shown_by": ["difference of means", "share of data sets", "p-value"],
        "item": ["main", "main", "nowhere"],
    }
)
JUDGED = {"falls": Judged("holds", 0.0123, 0.0011), "always": Judged("holds in part", 0.5, remark="1 of 2 data sets")}
ANSWER = {"claim": "falls", "holds": "Yes, it falls.", "holds in part": "a", "does not hold": "No.", "cannot be seen here": "b"}


def item(kind, name, category="1 Results"):
    folder = {"table": "tables", "figure": "figures"}[kind]
    stem = name if name == "paper_vs_ours" else f"{folder}/{name}"
    return ReportItem(kind, name, f"Title of {name} <&>", category, stem)


def write(folder, kind, name, made):
    about = {"kind": kind, "name": name, "title": f"Title of {name}", "caption": "What to look at."}
    path = folder / item(kind, name).stem
    path.parent.mkdir(parents=True, exist_ok=True)
    write_item(about, made, path.with_suffix(".html"), {})


def words(**changes):
    about = {
        "id": "mine_2026",
        "title": "Mine & yours 2026",
        "question": "Does it fall <much>?",
        "answer": ANSWER,
        "main": [item("figure", "lines"), item("table", "main")],
        "items": [item("table", "main"), item("figure", "lines"), item("figure", "empty")],
        "left_out": ["Other table: not here."],
        "size": "1 data set (full scale: 28).",
    }
    return StudyWords(**about | changes)


@pytest.fixture
def folder(tmp_path):
    """Results of a study with a paper: a table, a figure, an empty figure, claims and a comparison with print."""
    write(tmp_path, "table", "main", TableResult(pd.DataFrame({"x": ["<b>", "c"], "y": [0.25, 0.5]})))
    figure, axis = plt.subplots()
    axis.plot([0, 1])
    write(tmp_path, "figure", "lines", figure)
    write(tmp_path, "figure", "empty", FigureResult(None, reason="no data set has results"))
    sentences = tmp_path / "claims.csv"
    SENTENCES.to_csv(sentences, index=False)
    write(tmp_path, "table", "claims_ledger", claims_ledger(sentences, JUDGED))
    printed = pd.DataFrame({"table": ["t"] * 2, "row": [1, 2], "printed": [0.5, 0.9], "reason": [""] * 2})
    ours = printed.rename(columns={"printed": "ours"}).assign(ours=[0.5, 0.1], standard_error=[0.1, 0.1])
    ledger = print_ledger(judge(join_with_print(printed, ours, ["row"]), [True, False], print_error=1.0))
    write(tmp_path, "table", "print_ledger", TableResult(ledger, ledger_grid(ledger)))
    return tmp_path


def test_a_page_gives_question_answer_figure_table_and_verdicts(folder):
    page = study_page(words(), folder)
    order = ["Does it fall &lt;much&gt;?", "Yes, it falls.", "2 printed numbers: 1 met", "3 claims: 1 holds, 1 holds in part"]
    order += ["1 data set (full scale", "figures/lines.svg", "Title of main. What to look at.", "&lt;b&gt;", "1 of 2 data sets"]
    order += ["1 that this run cannot show", "After 150 repetitions", "Not in this run", "Other table: not here."]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "Yes, it falls. <small>(difference of means: 0.0123 ± 0.0011)</small>" in page
    assert "strata &lt;t&gt;, the less &amp; less" in page and '<a href="tables/main.html">difference of means</a>' in page
    assert "Title of empty &lt;&amp;&gt;: no data set has results." in page


def test_a_page_links_every_table_and_figure_and_asks_for_no_address(folder):
    page = study_page(words(pages=["pages/a b.html"]), folder)
    for path in ("tables/main.html", "tables/main.csv", "tables/main.tex", "figures/lines.svg", "figures/empty.pdf"):
        assert f'href="{path}"' in page
    assert 'href="pages/a b.html"' in page and 'href="../report.html"' in page and 'href="../index.html"' in page
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page) and "@import" not in page and "url(" not in page


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_run_decides_the_answer(verdict):
    rows = [{"id": "falls", "verdict": verdict, "shown_by": "a", "effect": "", "standard_error": ""}]
    answer = find_answer(ANSWER, rows, [])
    assert (answer.text, answer.verdict, answer.effect) == (ANSWER[verdict], verdict, "")


def test_an_answer_counts_rows_of_a_table():
    rule = {"table": "ledger", "count": {"verdict": "holds", "k": 5}, "text": "{count} of {rows} hold."}
    rows = [{"verdict": "holds", "k": "5"}, {"verdict": "holds", "k": "2"}, {"verdict": "not decided", "k": "5"}]
    assert find_answer(rule, [], rows).text == "1 of 3 hold."
    assert find_answer(rule, [], []) is None and find_answer(rule, [], [{"other": "1"}]) is None


def test_a_page_without_claims_print_figure_and_table_still_stands(tmp_path):
    page = study_page(words(), tmp_path)  # the run has none of the files
    assert "Does it fall" in page and "Yes, it falls" not in page and "Claims" not in page and "<img" not in page
    bare = study_page(words(items=[], main=[], answer=None, left_out=[], size=""), tmp_path)
    assert "This study declares none." in bare and "Not in this run" not in bare and "<dl" not in bare


def test_published_items_stand_beside_those_of_the_run(folder):
    assert "full scale</h3>" not in study_page(words(), folder)
    write(folder / "published", "table", "main", TableResult(pd.DataFrame({"x": ["published row"]})))
    page = study_page(words(), folder)
    section = page[page.index("<h2>Table</h2>") : page.index("<h2>Claims")]
    assert (
        section.index("This run")
        < section.index("&lt;b&gt;")
        < section.index("Published, full scale")
        < section.index("published row")
    )
    assert 'href="published/tables/main.html"' in page and "<h3>This run" not in page[: page.index("<h2>Table</h2>")]


def test_the_published_answer_and_counts_stand_below_those_of_the_run(folder):
    rows = pd.read_csv(folder / "tables/claims_ledger.csv").assign(verdict="does not hold", effect=-0.5)
    write(folder / "published", "table", "claims_ledger", TableResult(rows))
    card = card_of(study_page(words(), folder))
    assert (
        card.index("Yes, it falls.")
        < card.index("At full scale, as published:")
        < card.index("No. <small>(difference of means: -0.5")
    )
    assert "3 claims: 0 hold, 0 hold in part, 3 do not hold" in card and "Print, full scale" not in card


def test_a_published_item_is_shown_where_the_run_has_none(tmp_path):
    write(tmp_path, "table", "main", TableResult(pd.DataFrame({"x": ["a", "of an earlier run"]})))
    write(tmp_path / "published", "table", "main", TableResult(pd.DataFrame({"x": ["published row"]})))
    page = study_page(words(items=[]), tmp_path)
    assert "published row" in page and "This run</h3>" not in page and "of an earlier run" not in page


def test_the_index_has_the_head_of_every_page(folder):
    card = card_of(study_page(words(), folder))
    assert card.startswith('<p class="question">') and "<h1" not in card and "src=" not in card
    page = index_page({"mine_2026": ("Mine & yours 2026", card)}, ["Other 2020: the configuration <leaves> it out."])
    assert '<a href="mine_2026/index.html">Mine &amp; yours 2026</a>' in page and card in page
    assert "Other 2020: the configuration &lt;leaves&gt; it out." in page and 'href="report.html"' in page
    assert page.count("<article") == page.count("</article>") == page.count("<h1") == 1
    assert "<article" not in index_page({}, [])


def test_the_scripts_write_a_page_and_an_index_with_the_cards_of_earlier_runs_too(folder):
    facts = words()._asdict() | {key: [list(one) for one in getattr(words(), key)] for key in ("main", "items")}
    place = folder.rename(folder.with_name("mine_2026"))
    output = SimpleNamespace(page=str(place / "index.html"), index=str(place.parent / "index.html"))
    write_study_page.main(SimpleNamespace(output=output, params=SimpleNamespace(facts=facts)))
    earlier = place.parent / "earlier_2020" / "index.html"
    earlier.parent.mkdir()
    earlier.write_text(study_page(words(question="An earlier one?"), earlier.parent))
    titles = {"earlier_2020": "Earlier 2020", "never_2021": "Never 2021", "mine_2026": "Mine 2026"}
    params = SimpleNamespace(studies=titles, earlier=[str(earlier)], left_out=["Never 2021: left out."])
    write_index.main(SimpleNamespace(input=SimpleNamespace(pages=[output.page]), output=output, params=params))
    index = (place.parent / "index.html").read_text()
    assert index.index("An earlier one?") < index.index("Does it fall &lt;much&gt;?") < index.index("Never 2021: left out.")
    assert index.count("<article") == 2 and (place / "index.html").read_text() == study_page(words(), place)


def test_the_line_on_print_counts_the_papers_configuration_and_names_chance():
    head = ["configuration", "table", "numbers", "met", "explained", "open", "not_compared", "outside", "expected_by_chance"]
    rows = [
        dict(zip(head, row))
        for row in (
            ("paper", "t1", "5", "4", "0", "1", "0", "1", "0.2"),
            ("paper", "t2", "5", "5", "0", "0", "0", "0", "0.2"),
            ("paper", "all", "10", "9", "0", "1", "0", "1", "0.4"),
            ("corrected", "all", "10", "2", "0", "8", "0", "1", "0.4"),
        )
    ]
    assert ledger_line(rows) == (
        "10 printed numbers: 9 met, 0 explained, 1 open, 0 not compared. 1 lie beyond two errors, where chance leaves 0.4."
    )
    assert [row["table"] for row in total_rows(rows[:2])] == ["t1", "t2"]  # a ledger without a sum is summed
    assert ledger_line([{"table": "all", "numbers": "3", "met": "3", "not_explained": "0"}]) == ""  # of an earlier version
    assert ledger_line([{**rows[0], "expected_by_chance": ""}]).endswith("0 not compared.") and ledger_line([]) == ""
    assert claims_line([]) == "" and claims_line([{"verdict": "does not hold"}] * 2).startswith(
        "2 claims: 0 hold, 0 hold in part, 2"
    )


def test_a_table_is_taken_from_its_page_as_it_was_written():
    grid = Grid(["a", "b"], [["<x>", TableCell("1", bold=True)], ["head"]], ["A note."], "What it is. More.")
    parts = table_parts(to_html(grid))
    assert parts.caption == "What it is. More." and parts.notes == '<p class="note">A note.</p>'
    assert parts.rows.startswith("<thead>") and parts.rows.endswith("</tbody>") and '<td class="bold">1</td>' in parts.rows
    assert table_parts("something else") == ("", "", "")


def test_long_text_is_broken_into_lines_in_every_cell():
    assert 'class="text long"' in to_html(Grid(["a", "b"], [["x", TableCell("word " * 30)]]))
