"""Pages of the site that are made: the reference by package, the studies with their findings, the published results."""

import csv
import html
import re
from pathlib import Path

import foldshift
from foldshift.studies.load import find_studies

ROOT = Path(__file__).resolve().parents[1]
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


def write(docs):
    """Write all of them, and only what has changed."""
    folder = Path(docs) / MADE
    wanted = {"reference.md": reference(), "studies.md": studies_index()}
    for name in ("cluster.md", "add_a_study.md"):  # read in the repository too, where their links lead to files
        wanted[name] = _links((ROOT / "docs" / name).read_text(encoding="utf-8"))
    for study in find_studies():
        wanted[f"studies/{study}.md"] = study_page(study)
    wanted |= results_pages(ROOT / "docs" / "results")
    for name, text in wanted.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in wanted and "generated" not in path.parts:
            path.unlink()


REFERENCE = """# Reference

Arrays in, arrays out. Every name stands in the package that heads its table; its page has signature, shapes, errors and source.

## Advice: one page for one data set

"""
STUDIES = """# Studies and findings

What each study asks, and what was found beside the printed numbers. Every finding has an address of its own: the sign that
appears beside it.

"""


def reference():
    """A table of the public names of every package, each with a page from its docstring."""
    parts = [REFERENCE + _summary(["foldshift.advise"])]
    for package, title in TITLES.items():
        names = sorted(getattr(foldshift, package).EXPORTS, key=str.lower)
        parts.append(f"## {title}\n\n`foldshift.{package}`\n\n" + _summary([f"foldshift.{package}.{name}" for name in names]))
    return "\n".join(parts)


def _summary(names):
    lines = ["```{eval-rst}", ".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
    return "\n".join([*lines, *(f"   {name}" for name in names), "```", ""])


def studies_index():
    """Every study in a sentence, with the way to its findings."""
    parts = [STUDIES]
    for study, found in find_studies().items():
        command = f"snakemake {study} --cores 32 --configfile config/paper.yaml"
        parts += [f"## {found.title}\n", f"*{found.title}* {found.summary.strip()}\n"]
        parts += [f"[Findings, and what the text leaves open](studies/{study}.md). Run it: `{command}`.\n"]
    return "\n".join([*parts, "```{toctree}", ":hidden:", "", *(f"studies/{study}" for study in find_studies()), "```", ""])


def study_page(study):
    """Findings of a study, each with an address, and below what its README says."""
    folder = ROOT / "src" / "foldshift" / "studies" / study
    found = (folder / "findings.md").read_text(encoding="utf-8")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    seen = set()

    def with_address(match):
        label = address(match.group(1), seen)
        link = f'<a class="address" href="#{label}" title="Address of this finding">#</a>'
        return f'<span id="{label}"></span>{match.group(0)} {link}'

    title = f"# {find_studies()[study].title}\n\n## What we found\n"
    text = FINDING.sub(with_address, re.sub(r"\A# .*\n", title, _links(found)))
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
    """A page with sortable tables for every study below docs/results."""
    pages = {}
    for study in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not study.is_dir():
            continue
        parts = [f"# Results: {study.name}", ""]
        for figure in sorted(study.glob("figures/*.svg")):
            parts += [f"![{figure.stem}](../../results/{study.name}/figures/{figure.name})", ""]
        for table in sorted(study.glob("tables/*.csv")):
            parts += [f"## {table.stem}", "", *_table(table), ""]
        pages[f"results/{study.name}.md"] = "\n".join(parts)
    return pages


def _table(path):
    with open(path, encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    cells = lambda tag, row: "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)  # noqa: E731
    yield '<table class="sortable">'
    yield f"<thead><tr>{cells('th', head)}</tr></thead><tbody>"
    yield from (f"<tr>{cells('td', row)}</tr>" for row in rows)
    yield "</tbody></table>"
