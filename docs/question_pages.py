"""Pages of questions: code that runs, and one picture that is drawn from it when the site is made."""

import contextlib
import io
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


def site_pages():
    """Texts of all pages and of their index, by name below the folder of made pages."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in question_files()}
    listed = "\n".join(f"- [{title_of(text)}](questions/{name}.md)" for name, text in texts.items())
    index = INDEX.format(listed, "\n".join(f"questions/{name}" for name in texts))
    return {"questions.md": index} | {f"questions/{name}.md": site_page(text) for name, text in texts.items()}
