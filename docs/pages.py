"""Pages of the site that are made: the reference by package, the studies with their findings, the published results.

The page of a study's results begins as that of the report (`foldshift.reporting.report_page`): question, answer, counts, claims.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import yaml

import foldshift
import question_pages
from browser_page import write_browser_page
from foldshift.core.imports import import_object
from foldshift.engine.config.merge import at_scale, resolve
from foldshift.engine.config.runs import configure
from foldshift.engine.config.schema import compose_schema
from foldshift.engine.study.find import find_studies
from foldshift.engine.study.published import PublishedStudy
from foldshift.engine.study.report_facts import first_question
from foldshift.reporting.published_items import write_published
from foldshift.reporting.report_lines import read_rows
from foldshift.reporting.report_page import ReportItem, StudyWords, claims_boxes, report_card, scroll_box
from foldshift.reporting.table_grid import html_note, table_parts

ROOT = Path(__file__).resolve().parents[1]
DOWNLOADS = "download"  # folder of the site with the wheel
MADE = "made"  # folder below docs, not in the history
TITLES = {
    "partition": "Cut: partitioners and splitters",
    "shift": "Measure: shift between parts",
    "inference": "Infer: tests, intervals, repetitions",
    "evaluation": "Evaluate: folds and a learner in, scores out",
    "learners": "Learn: estimators with a shared path",
    "datasets": "Read: data sets",
}
FINDING = re.compile(r"^\*\*(.+?)\*\*", re.MULTILINE)
WORD = re.compile(r"[a-z0-9]+")
MOST_ROWS = 400  # of a table on a page


def write(docs):
    """Write all of them, and only what has changed."""
    folder = Path(docs) / MADE
    results = ROOT / "docs" / "results"
    wanted = {"reference.md": reference(), "studies.md": studies_index(published(results))}
    for name in ("cluster.md", "scale.md", "add_a_study.md"):  # read in the repository too, where their links lead to files
        wanted[name] = _links((ROOT / "docs" / name).read_text(encoding="utf-8"))
    for study in find_studies():
        wanted[f"studies/{study}.md"] = study_page(study)
    wanted |= results_pages(results) | question_pages.site_pages(DOWNLOADS)
    for name, text in wanted.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in wanted and "generated" not in path.parts:
            path.unlink()


def wheel_name(version):
    """Name of the file of the wheel of a version."""
    return f"foldshift-{version}-py3-none-any.whl"


def install_words(version):
    """Words of the pages on how to install: a link to the wheel that the site holds, and its file."""
    file = wheel_name(version)
    return {"wheel": f'<a href="{DOWNLOADS}/{file}">{file}</a>', "wheel_file": file}


def write_downloads(folder):
    """Write what the site offers to download: the wheel and the notebooks; and the page that runs the wheel in the browser."""
    write_wheel(folder)
    question_pages.write_notebooks(folder)
    write_browser_page(folder.parent, folder / wheel_name(foldshift.__version__))


def write_wheel(folder):
    """Build the wheel of this clone for the site to offer; from a copy, since setuptools keeps old files in a folder `build`."""
    with tempfile.TemporaryDirectory() as copy:
        for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        for name in ("src", "config"):
            shutil.copytree(ROOT / name, Path(copy, name), ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "wheel", *options, copy], check=True)


REFERENCE = """# Reference

Arrays in, arrays out. Every name stands in the package that heads its table; its page has signature, shapes, errors and source.

## Advice: one page for one data set

"""
STUDIES = """# Studies and findings

What each study asks, and what was found beside the printed numbers. Every finding has an address of its own: the sign that
appears beside it.

"""
RESULTS = """
Computed between {started:.16} and {ended:.16} (UTC), in one run or resumed, last at commit {commit:.10} (foldshift {foldshift}),
on {cores} cores of {processor}. {sizes}
Every file as in the archive {name}, SHA-256 {sha256:.16}...: {{download}}`settings, machine,
checksum of every file <../../results/{study}/provenance.json>`. A click on the heading of a column sorts by it,
where a table has no groups.

"""
HTML = """```{{raw}} html
{}
```
"""


def reference():
    """A table of the public names of every package, each with a page from its docstring."""
    parts = [REFERENCE + _summary(["foldshift.advise"])]
    for package, title in TITLES.items():
        names = sorted(getattr(foldshift, package).__all__, key=str.lower)
        parts.append(f"## {title}\n\n`foldshift.{package}`\n\n" + _summary([f"foldshift.{package}.{name}" for name in names]))
    return "\n".join(parts)


def _summary(names):
    lines = ["```{eval-rst}", ".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
    return "\n".join([*lines, *(f"   {name}" for name in names), "```", ""])


def studies_index(with_results=()):
    """Every study in a sentence, with the way to its findings and to its published results."""
    parts = [STUDIES]
    for study, found in find_studies().items():
        command = f"snakemake {study} --cores 32 --configfile config/paper.yaml"
        parts += [f"## {found.title}\n", f"*{found.title}* {found.summary.strip()}\n"]
        results = f"[Tables and figures](results/{study}.md). " if study in with_results else ""
        parts += [f"{results}[Findings, and what the text leaves open](studies/{study}.md). Run it: `{command}`.\n"]
    pages = [*(f"studies/{study}" for study in find_studies()), *(f"results/{study}" for study in with_results)]
    return "\n".join([*parts, "```{toctree}", ":hidden:", "", *pages, "```", ""])


def study_page(study):
    """Findings of a study, each with an address, what was tried and failed, if it says so, and below what its README says."""
    folder = ROOT / "src" / "foldshift" / "studies" / study
    found = (folder / "findings.md").read_text(encoding="utf-8")
    if (appendix := folder / "findings_appendix.md").exists():
        found += "\n" + re.sub(r"^#", "##", appendix.read_text(encoding="utf-8"), flags=re.MULTILINE)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    seen = set()

    def with_address(match):
        label = address(match.group(1), seen)
        link = f'<a class="address" href="#{label}" title="Address of this finding">#</a>'
        return f'<span id="{label}"></span>{match.group(0)} {link}'

    title = f"# {find_studies()[study].title}\n\n## What we found\n"
    if study in published(ROOT / "docs" / "results"):
        title += f"\n[Tables and figures of the published run](../results/{study}.md)\n"
    text = FINDING.sub(with_address, re.sub(r"\A# .*\n", title, _links(found)))
    text = re.sub(r"(?<=\d) ± (?=[\d.])", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}", text)
    return text.rstrip() + "\n\n" + re.sub(r"^#", "##", _links(readme), flags=re.MULTILINE)


def address(text, seen):
    """Address of a finding from its first six words, and a number where two begin alike."""
    words = "-".join(WORD.findall(text.lower())[:6]) or "finding"
    label, number = words, 1
    while label in seen:
        number += 1
        label = f"{words}-{number}"
    seen.add(label)
    return label


def _links(text):
    """Links to other files of the repository become words: the site has its own pages."""
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)[^)]*\)", r"\1", text)


def results_pages(folder):
    """A page with figures and sortable tables for every study below docs/results; `docs/publish.py` writes that folder."""
    found, pages = find_studies(), {}
    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text(encoding="utf-8"))
    full = resolve(at_scale({"scale": "paper"}, found), compose_schema(schema, found))
    for study in published(folder):
        place = folder / study
        about = json.loads((place / "provenance.json").read_text(encoding="utf-8"))
        ran = {**about["settings"], "master_seed": about["master_seed"]}
        there = {**full["studies"][study], "master_seed": full["master_seed"]}
        facts = {**about, **about["archive"], **about["machine"], "sizes": sizes(ran, there)}
        items = [item for item in _items(found[study]) if (place / f"{item.stem}.rst").exists()]
        parts = [_head(found[study], items, place), RESULTS.format(study=study, **facts)]
        if claims := read_rows(place / "tables/claims_ledger.csv"):
            links = {item.name: f"#{_anchor(item)}" for item in items}
            parts += ["## Claims of the paper\n", HTML.format(claims_boxes(claims, links))]
        tables = tables_of(study, place, about)
        category = None
        for item in items:
            if item.category != category:
                category = item.category
                parts.append(f"## {category.lstrip('0123456789 ')}\n")
            parts += [HTML.format(f'<span id="{_anchor(item)}"></span>'), f"### {item.title}\n", *_shown(place, item, tables)]
        pages[f"results/{study}.md"] = "\n".join(parts)
    return pages


def _head(study, items, place):
    """Title, question, answer and counts of a study, from its published tables."""
    report = study.report
    shown = [ReportItem(item.kind, item.name, item.title, item.category, item.stem) for item in items]
    question = report.question or first_question(study.summary)
    words = StudyWords(study.id, study.title, question, report.answer, [], shown, [])
    first = [item for item in items if (item.kind, item.name) in (("figure", report.figure), ("table", report.table))]
    links = ", ".join(f'<a href="#{_anchor(item)}">{html.escape(item.title)}</a>' for item in first)
    begin = f"<p>To begin with: {links}.</p>" if links else ""
    return f"# {study.title}: results\n\n{HTML.format(report_card(words, place) + begin)}"


def _anchor(item):
    """Address of an item on the page of its study."""
    return f"{item.kind}-{item.name}"


def sizes(settings, full):
    """In words: the settings of a run that are not those of the papers' scale. A setting that came later is no difference."""
    ran, there = dict(_flat(settings)), dict(_flat(full))
    other = [f"`{key}` {ran[key]} (there {there.get(key, 'not set')})" for key in ran if ran[key] != there.get(key)]
    if not other:
        return "All settings are those of `config/paper.yaml`."
    return f"Settings are those of `config/paper.yaml` but for {', '.join(other)}."


def _flat(settings, above=""):
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def published(folder):
    """Ids of the studies whose results are below a folder, in the order of the studies."""
    return [study for study in find_studies() if (folder / study / "provenance.json").exists()]


def _items(study):
    """Tables and figures of a study in the order of the report."""
    items = [item for group in study.declaration().items for item in group.items]
    return sorted(items, key=lambda item: item.category)


@cache
def _runs():
    """Runs of all studies in the default configuration, which know what is published and how it is laid out."""
    return configure({}, ROOT).runs


def tables_of(study, place, facts):
    """Published tables of a study by name, laid out as in the paper from their CSV files."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for item in PublishedStudy(_runs()[study], place.parents[2]).words():
            if item["kind"] == "table":
                path = Path(folder, f"{item['name']}.html")
                write_published(item, path, import_object(item["function"], "table") if item["function"] else None, facts)
                found[item["name"]] = _table_box(path.read_text(encoding="utf-8"), item["title"])
    return found


def _table_box(page, title):
    """Take the first rows of a table from its page, in a box of their own, and its notes."""
    parts = table_parts(page)
    first, *rows = re.split(r"(?=\n<tr)", parts.rows.removesuffix("\n</tbody>"))
    kind = "" if '<tr class="head"' in parts.rows else ' class="sortable"'
    table = f"<table{kind}>{first}{''.join(rows[:MOST_ROWS])}</tbody></table>"
    more = html_note(f"The first {MOST_ROWS} of {len(rows):,} rows; the file has all of them.") if len(rows) > MOST_ROWS else ""
    return f"{scroll_box(table, title)}{more}{parts.notes}"


def _shown(place, item, tables):
    """Lines of one item: picture or table, then the caption; the title stands above them already."""
    link = f"../../results/{place.name}/{item.stem}"
    if item.kind == "figure":
        yield f"![{item.title}]({link}.svg)\n"
    else:
        yield HTML.format(tables[item.name])
        yield f"\n{{download}}`{item.name}.csv <{link}.csv>`\n"
    text = (place / f"{item.stem}.rst").read_text(encoding="utf-8")
    yield "\n".join(["```{eval-rst}", re.sub(r"\A\*\*.*?\*\*\s*", "", text).strip(), "```", ""])
