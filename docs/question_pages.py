"""Pages of questions: code that runs, and one picture that is drawn from it when the site is made."""

import contextlib
import io
import json
import re
import warnings
from pathlib import Path

from foldshift.core.page.svg_chart import WIDE, Rows, dot, line

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "questions"
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"<!-- picture: (.*?)\n(.*?)\n-->", re.DOTALL)
TITLE = re.compile(r"\A# (.+)\n")
STUDY = re.compile(r"\]\(\.\./\.\./src/foldshift/studies/(\w+)/findings\.md\)")
GALLERY = re.compile(r"\]\(\.\./gallery/(\w+)\.py\)")
NOTEBOOKS = ("confidence_interval", "stratified_regression", "two_models", "fair_split")  # the questions asked most often
LINK = '<p><a href="../../{}/{}.ipynb" download>This page as a notebook</a></p>'
INDEX = """# Questions

Answers in two sentences, code to copy, one picture, and the evidence. Every block of code is run before a page is published.

{}

```{{toctree}}
:hidden:

{}
```
"""


def question_files():
    """Pages of questions, by name."""
    return sorted(FOLDER.glob("*.md"))


def title_of(text):
    """Title of a page."""
    return TITLE.match(text)[1]


def run(text):
    """Run the code of a page; return its names, and what it printed."""
    names, printed = {"__name__": "question"}, io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in CODE.findall(text):
            exec(compile(block, "question", "exec"), names)
    return names, printed.getvalue()


def picture(text, names):
    """Draw the picture of a page: its caption, and an SVG of values or intervals by name."""
    caption, expression = PICTURE.search(text).groups()
    values = {str(name): value if isinstance(value, tuple) else (value,) * 3 for name, value in eval(expression, names).items()}
    ends = [end for three in values.values() for end in three]
    rows = Rows(len(values), WIDE, 30 + 8 * max(map(len, values)))
    low, high = min(ends), max(ends)
    margin = (high - low or 1) * 0.08
    low, high = (0.0 if 0 <= low < 0.4 * high else low - margin), high + margin
    scale = rows.scale(low, high)
    body = rows.axis(scale, low, high)
    for number, (name, (least, value, most)) in enumerate(values.items()):
        body.append(rows.name(number, name))
        if most > least:
            body.append(line(scale(least), rows.y(number), scale(most), rows.y(number), "main"))
        body.append(dot(scale(value), rows.y(number), "maindot"))
    return caption, rows.svg(caption, body)


def notebook(text):
    """Notebook of a page, as JSON: its text and its code; the picture and links into the project are left out."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", PICTURE.sub("", text))
    cells = []
    for number, part in enumerate(CODE.split(text)):
        if part.strip():
            kind = {"cell_type": "code", "outputs": [], "execution_count": None} if number % 2 else {"cell_type": "markdown"}
            source = re.sub(r"\n{3,}", "\n\n", part.strip()).splitlines(keepends=True)
            cells.append(kind | {"id": f"cell-{number}", "metadata": {}, "source": source})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return (
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}, indent=1, ensure_ascii=False) + "\n"
    )


def write_notebooks(folder):
    """Write the notebooks of the questions asked most often, for the site to offer."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NOTEBOOKS:
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        (folder / f"{name}.ipynb").write_text(notebook(text), encoding="utf-8")


def site_page(text):
    """Text of a page for the site: its picture is drawn, what it prints is shown, links lead to pages of the site."""
    names, printed = run(text)
    caption, drawn = picture(text, names)
    figure = f'<figure class="picture">{drawn}<figcaption>{caption}</figcaption></figure>'
    text = PICTURE.sub(lambda match: f"```{{raw}} html\n{figure}\n```", text)
    shown = f"```\n\nIt prints:\n\n```text\n{printed.rstrip()}\n```\n"
    text = CODE.sub(lambda match: f"```python\n{match[1]}" + shown, text, count=1)
    text = STUDY.sub(r"](../studies/\1.md)", text)
    text = GALLERY.sub(r"](../../auto_gallery/\1.rst)", text)
    text = text.replace("](../guides/", "](../../guides/")
    return re.sub(r"\[([^\]]+)\]\(\.\./\.\./validation/[^)]*\)", r"\1", text)


def site_pages(downloads):
    """Texts of all pages and of their index, by name below the folder of made pages; notebooks are in the folder `downloads`."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in question_files()}
    listed = "\n".join(f"- [{title_of(text)}](questions/{name}.md)" for name, text in texts.items())
    index = INDEX.format(listed, "\n".join(f"questions/{name}" for name in texts))
    pages = {f"questions/{name}.md": site_page(text) for name, text in texts.items()}
    for name in NOTEBOOKS:
        pages[f"questions/{name}.md"] += f"\n```{{raw}} html\n{LINK.format(downloads, name)}\n```\n"
    return {"questions.md": index} | pages
