"""Page of a result: one file of HTML with pictures in it, no network, light and dark, for screens of any width and for paper."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any


@cache
def _style() -> str:
    return "\n" + files(__package__).joinpath("web_page.css").read_text(encoding="utf-8")


def whole_page(title: str, parts: Sequence[str], values: dict[str, Any]) -> str:
    """Make a page of its parts, of which empty ones are left out, with all values as JSON at its end."""
    held = json.dumps(values, ensure_ascii=False).replace("<", "\\u003c")  # no text in them can end the element
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(part for part in parts if part)
        + f'\n</main>\n<script type="application/json" id="figures">{held}</script>\n</body>\n</html>\n'
    )


def paragraph(text: str, kind: str = "") -> str:
    """Make a paragraph."""
    return f"<p{f' class={kind!r}' if kind else ''}>{escape(text)}</p>"


def section(name: str, title: str, *parts: str) -> str:
    """Make a section of its parts, of which empty ones are left out."""
    return f"<section id='{name}'><h2>{escape(title)}</h2>\n" + "\n".join(part for part in parts if part) + "\n</section>"


def folded(name: str, title: str, *parts: str) -> str:
    """Make a section that shows its title, and its parts once the title is opened; on paper it is open."""
    inside = "\n".join(part for part in parts if part)
    return f"<section id='{name}'><details><summary><h2>{escape(title)}</h2></summary>\n{inside}\n</details></section>"


def figure(svg: str, caption: str) -> str:
    """Make a figure with its caption."""
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = (), wide: Collection[int] = ()) -> str:
    """Make a table; the columns `numbers` are aligned right, those in `wide` are left out on narrow screens."""
    kinds = [" class=n" if j in numbers else " class=wide" if j in wide else "" for j in range(len(head))]
    cells = "".join(f"<th{kind} scope='col'>{escape(name)}</th>" for kind, name in zip(kinds, head))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{escape(value)}</td>" for kind, value in zip(kinds, row)) + "</tr>" for row in rows
    )
    return f"<div class='scroll'><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"
