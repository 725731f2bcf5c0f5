"""The report that is read in five minutes: a page for every study, and an index with a card for each. Static HTML, no network.

`study_page` reads the tables and figures of a run from their files; what is not there is left out. The card of a study on the
index is the head of its page.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.reporting.report_lines import Answer, Row, claims_line, effect_text, find_answer, ledger_line, read_rows
from foldshift.reporting.report_style import PAGE_STYLE, SCRIPT
from foldshift.reporting.table_grid import table_parts
from foldshift.reporting.verdicts import NOT_SEEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CARD = ("<!-- card -->", "<!-- end of card -->")
PUBLISHED = "published"  # folder of the published tables and figures, below the results of a study
FORMS = {"table": ("html", "csv", "tex"), "figure": ("html", "svg", "pdf", "png")}
FORM_NAMES = {"html": "page", "tex": "LaTeX"}
HINT = '<p class="hint" hidden>Wider than the page: scroll the box.</p>'
escape = html.escape


class ReportItem(NamedTuple):
    """Table or figure of a study."""

    kind: str  # ``table`` or ``figure``
    name: str
    title: str
    category: str
    stem: str  # path of its files below the results of the study, without the ending


class StudyWords(NamedTuple):
    """Facts about a study in a run that its page needs beside the results."""

    id: str
    title: str
    question: str
    answer: Mapping[str, Any] | None  # rule that decides the answer; see `foldshift.reporting.report_lines.find_answer`
    main: Sequence[ReportItem]  # figure and table that the page shows, also where only the published ones are there
    items: Sequence[ReportItem]  # in the order of the report
    left_out: Sequence[str]  # what this run does not have, and why: a line each
    size: str = ""  # how this run differs from the paper's scale, in a line
    pages: Sequence[str] = ()  # further pages below the results of the study


def study_page(words: StudyWords, folder: Path) -> str:
    """Make the page of a study whose results are in a folder."""
    claims = read_rows(folder / "tables/claims_ledger.csv")
    links = {item.name: f"{item.stem}.html" for item in words.items}
    reasons = [*words.left_out, *_empty_figures(words.items, folder)]
    body = [
        '<nav><a href="../index.html">All studies of this run</a></nav>',
        f"<h1>{escape(words.title)}</h1>",
        *CARD[:1],
        report_card(words, folder),
        *CARD[1:],
        *(line for item in words.main for line in _section(item, folder, item in words.items)),
        *(["<h2>Claims of the paper</h2>", f"<p>{claims_line(claims)}</p>", claims_boxes(claims, links)] if claims else []),
        *_ledger(folder, words.items),
        *([f"<h2>Not in this run</h2><ul>{_list(reasons)}</ul>"] if reasons else []),
        *_all_items(words, folder),
        _footer(words.id),
    ]
    return _page(words.title, body)


def card_of(page: str) -> str:
    """Take the card out of the page of a study."""
    return page.partition(CARD[0])[2].partition(CARD[1])[0].strip()


def index_page(cards: Mapping[str, tuple[str, str]], left_out: Sequence[str]) -> str:
    """Make the index from the title and the card of every study, by id; `left_out` says what is not in this run, and why."""
    body = [
        "<h1>foldshift: what the way you cut data into folds does to results</h1>",
        "<p>Each card gives a question, the answer of this run, how many printed numbers of the paper it meets, and which of the "
        "paper's claims it sees. All of it comes from the tables of this run, but for lines that say full scale.</p>",
    ]
    for study, (title, card) in cards.items():
        link = f'<a href="{study}/index.html">'
        body += [
            f"<article><h2>{link}{escape(title)}</a></h2>",
            card,
            f"<p>{link}Figure, table, claims and all results</a></p></article>",
        ]
    body += [f"<h2>Not in this run</h2><ul>{_list(left_out)}</ul>"] if left_out else []
    return _page("foldshift: the report", [*body, _footer()])


def _page(title: str, body: Iterable[str]) -> str:
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{PAGE_STYLE}</style></head><body>",
            *body,
            f"<script>{SCRIPT}</script></body></html>\n",
        ]
    )


class _Found(NamedTuple):
    """Answer and lines that the tables of a folder give."""

    answer: Answer | None
    ledger: str
    claims: str


def _found(words: StudyWords, folder: Path) -> _Found:
    claims = read_rows(folder / "tables/claims_ledger.csv")
    table = words.answer.get("table") if words.answer else None
    answer = find_answer(words.answer, claims, read_rows(folder / f"tables/{table}.csv") if table else [])
    return _Found(answer, ledger_line(read_rows(folder / "tables/print_ledger.csv")), claims_line(claims))


def report_card(words: StudyWords, folder: Path) -> str:
    """Write the head of a page: question, answer, and a line each on print, claims and size; those of full scale below."""
    here, published = _found(words, folder), _found(words, folder / PUBLISHED)
    lines = [f'<p class="question">{escape(words.question)}</p>']
    lines += [f'<p class="answer">{_answer(here.answer)}</p>'] if here.answer else []
    lines += [f'<p class="answer full">At full scale, as published: {_answer(published.answer)}</p>'] if published.answer else []
    facts = {"Print": here.ledger, "Claims": here.claims, "Size": words.size}
    facts |= {"Print, full scale": published.ledger, "Claims, full scale": published.claims}
    shown = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts.items() if text)
    return "\n".join([*lines, *([f'<dl class="facts">{shown}</dl>'] if shown else [])])


def _answer(answer: Answer) -> str:
    effect = f" <small>({escape(answer.effect)})</small>" if answer.effect else ""
    return f"{verdict_badge(answer.verdict)}{escape(answer.text)}{effect}"


def verdict_badge(verdict: str) -> str:
    """Write a verdict as a coloured word; the words alone tell it as well."""
    kinds = {"holds": "holds", "holds in part": "in-part", "does not hold": "does-not-hold"}
    return f'<span class="verdict {kinds.get(verdict, "")}">{escape(verdict)}</span> ' if verdict else ""


def scroll_box(content: str, label: str) -> str:
    """Put something that may be wide into a box of its own that scrolls, and says so."""
    return f'{HINT}<div class="scroll" tabindex="0" role="region" aria-label="{escape(label, quote=True)}">{content}</div>'


def table_box(page: str, label: str) -> str:
    """Show the table of a page that `foldshift.reporting.table_grid.to_html` wrote: caption, table in a box, notes."""
    parts = table_parts(page)
    return f'<p class="caption">{parts.caption}</p>{scroll_box(f"<table>{parts.rows}</table>", label)}{parts.notes}'


def _section(item: ReportItem, folder: Path, is_here: bool) -> list[str]:
    """Show one item, if the run has it, with the published one beside it, if there is one."""
    head = item.kind.capitalize()
    here = _shown(item, folder, item.stem) if is_here else ""
    published = _shown(item, folder, _published(item))
    if not published:
        return [f"<h2>{head}</h2>", here] if here else []
    both = (("This run", here), ("Published, full scale", published))
    parts = [f"<section><h3>{title}</h3>{one}</section>" for title, one in both if one]
    return [f'<h2>{head}</h2><div class="beside">', *parts, "</div>"]


def _shown(item: ReportItem, folder: Path, stem: str) -> str:
    page = folder / f"{stem}.html"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    if item.kind == "table":
        return table_box(text, item.title) if text else ""
    if not (folder / f"{stem}.svg").exists():
        return ""
    caption = re.search(r"<figcaption>(.*?)</figcaption>", text, re.DOTALL)
    if (reason := _reason(text)) is not None:
        return f'<p class="reason">{reason}</p>'
    picture = f'<img src="{stem}.svg" alt="{escape(item.title, quote=True)}">'
    return f"<figure>{scroll_box(picture, item.title)}<figcaption>{caption[1] if caption else ''}</figcaption></figure>"


def _published(item: ReportItem) -> str:
    """Path of the files of a published item; the comparison with print is a table like the others there."""
    return f"{PUBLISHED}/{item.stem}" if "/" in item.stem else f"{PUBLISHED}/tables/{item.name}"


def _reason(page: str) -> str | None:
    found = re.search(r'<p class="reason">(.*?)</p>', page, re.DOTALL)
    return found[1] if found else None


def _empty_figures(items: Iterable[ReportItem], folder: Path) -> list[str]:
    """List the figures that have nothing to draw, with their reasons."""
    lines = []
    for item in items:
        page = folder / f"{item.stem}.html"
        if item.kind == "figure" and page.exists() and (reason := _reason(page.read_text(encoding="utf-8"))) is not None:
            lines.append(f"{item.title}: {html.unescape(reason).removeprefix('Left out: ')}")
    return lines


def claims_boxes(claims: Sequence[Row], links: Mapping[str, str]) -> str:
    """Show the claims that a run judges, and fold those that it cannot; `links` are the addresses of items by name."""
    judged = [row for row in claims if row["verdict"] != NOT_SEEN]
    others = [row for row in claims if row["verdict"] == NOT_SEEN]
    lines = [scroll_box(_claims_table(judged, links), "Claims of the paper")] if judged else []
    if others:
        table = scroll_box(_claims_table(others, links), "Claims that cannot be seen here")
        lines.append(f"<details><summary>{len(others)} that this run cannot show</summary>{table}</details>")
    return "\n".join(lines)


def _claims_table(claims: Sequence[Row], links: Mapping[str, str]) -> str:
    heads = ("Verdict", "Claim", "Where", "Effect", "Remark", "Shown by")
    lines = ['<table class="claims"><thead><tr>', *(f'<th class="text">{head}</th>' for head in heads), "</tr></thead><tbody>"]
    for row in claims:
        shown = escape(row["shown_by"])
        link = links.get(row["item"])
        cells = (
            ("text", verdict_badge(row["verdict"]).strip()),
            ("text claim", escape(row["claim"])),
            ("text", escape(row["page"])),
            ("", escape(effect_text(row))),
            ("text free", escape(row["remark"])),
            ("text free", f'<a href="{link}">{shown or escape(row["item"])}</a>' if link else shown),
        )
        lines.append("<tr>" + "".join(_claim_cell(head, *cell) for head, cell in zip(heads, cells)) + "</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def _claim_cell(head: str, kind: str, content: str) -> str:
    """Write a cell that carries the head of its column, for narrow screens, where a claim is a block and not a row."""
    return f'<td class="{kind}{" empty" * (not content)}" data-head="{head}">{content}</td>'


def _ledger(folder: Path, items: Iterable[ReportItem]) -> list[str]:
    """Fold the printed numbers by table, with the way to all of them."""
    names = {item.name: item.stem for item in items}
    page = folder / "tables/print_ledger.html"
    if "print_ledger" not in names or not page.exists():
        return []
    whole = '<p><a href="paper_vs_ours.html">Every printed number beside ours</a></p>' if "paper_vs_ours" in names else ""
    table = table_box(page.read_text(encoding="utf-8"), "Printed numbers by table")
    return [f"<details><summary>Printed numbers by table</summary>{table}{whole}</details>"]


def _all_items(words: StudyWords, folder: Path) -> list[str]:
    """Fold the list of all tables and figures of the run, by part of the report, with links to their files."""
    lines, category = [f"<details><summary>All {len(words.items)} tables and figures, with their files</summary>"], None
    for item in words.items:
        if item.category != category:
            lines += ["</ul>"] if category else []
            category = item.category
            lines += [f"<h3>{escape(category.lstrip('0123456789 '))}</h3>", '<ul class="items">']
        links = [f'<a href="{item.stem}.{form}">{FORM_NAMES.get(form, form.upper())}</a>' for form in FORMS[item.kind]]
        published = f"{_published(item)}.html"
        links += [f'<a href="{published}">published, full scale</a>'] if (folder / published).exists() else []
        lines.append(f"<li>{escape(item.title)} ({item.kind}): {', '.join(links)}</li>")
    lines += ["</ul>"] if category else ["<p>This study declares none.</p>"]
    if words.pages:
        links = [f'<li><a href="{escape(page, quote=True)}">{escape(page)}</a></li>' for page in words.pages]
        lines += ["<h3>Pages</h3>", f'<ul class="items">{"".join(links)}</ul>']
    return [*lines, "</details>"]


def _footer(study: str | None = None) -> str:
    """Link what stands beside the pages: the origin of the results, and Snakemake's report, which is made on demand."""
    up = "../" if study else ""
    data = f' · <a href="../provenance/datasets_{study}.json">sources of the data</a>' if study else ""
    return (
        f'<footer><p>What this came from: <a href="{up}provenance/config.yaml">configuration</a> · '
        f'<a href="{up}provenance/versions.json">versions</a>{data}. '
        f'Snakemake\'s report, with captions and steps: <a href="{up}report.html">report.html</a>, where it was made '
        "(<code>make run</code>, or <code>snakemake --report results/report.html</code>).</p></footer>"
    )


def _list(lines: Iterable[str]) -> str:
    return "".join(f"<li>{escape(line)}</li>" for line in lines)
