"""Results of the functions that make tables and figures, and their files; every form of an item carries its one caption."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foldshift.core.errors import DataError
from foldshift.core.files import write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from foldshift.core.types import PathLike
    from foldshift.reporting.table_grid import Grid


class TableResult(NamedTuple):
    """Table that a function of a study returns."""

    frame: pd.DataFrame  # the tidy table, one value per row with its keys
    grid: Grid | None = None  # the same laid out for print; None: the data frame as it is. Its caption is that of the item
    words: dict[str, Any] | None = None  # words of the caption in addition to the settings


class FigureResult(NamedTuple):
    """Figure that a function of a study returns."""

    figure: Figure | None  # none where this run has nothing to draw
    words: dict[str, Any] | None = None  # words of the caption in addition to the settings
    reason: str = ""  # reason for an empty figure, shown in its place: a sentence without its full stop


def write_item(
    item: dict[str, str], made: pd.DataFrame | TableResult | FigureResult | Figure, path: PathLike, settings: dict[str, int]
) -> None:
    """Write a table or a figure in all its forms, each with the one caption; `item` holds kind, name, title and caption."""
    result: TableResult | FigureResult
    if isinstance(made, TableResult | FigureResult):
        result = made
    else:
        result = FigureResult(made) if item["kind"] == "figure" else TableResult(made)
    caption = caption_text(item, settings | (result.words or {}))
    if isinstance(result, FigureResult):
        from foldshift.reporting.figure_style import reason_figure, save_figure, to_page

        save_figure(path, result.figure or reason_figure(result.reason))
        svg = Path(path).with_suffix(".svg").read_text(encoding="utf-8")
        write_text(Path(path).with_suffix(".html"), to_page(svg, item["title"], caption, result.reason))
    else:
        from foldshift.reporting.table_grid import plain_grid, write_table

        write_table(path, result.frame, dataclasses.replace(result.grid or plain_grid(result.frame), caption=caption))
    write_text(Path(path).with_suffix(".rst"), to_rst(caption, item["title"]) + "\n")


def caption_text(item: dict[str, str], words: dict[str, Any]) -> str:
    """Join title and caption as plain text, with the words in braces filled in."""
    try:
        caption = " ".join(item["caption"].split()).format(**words)
    except (KeyError, IndexError, ValueError) as error:
        raise DataError(
            f"caption of {item['name']}: {{{error}}} is no setting of the study and no word that its function returns; write a "
            f"literal brace twice. Known: {', '.join(sorted(words))}"
        ) from error
    end = "" if item["title"].endswith(("?", "!", ".")) else "."
    return f"{item['title']}{end} {caption}".strip()


def to_rst(text: str, title: str) -> str:
    """Write a caption as reStructuredText: the title bold, nothing else marked up."""
    head, rest = text[: len(title)], text[len(title) :]
    end = rest[:1] if rest[:1] == "." else ""
    return f"**{_escape(head)}{end}**{_escape(rest[len(end) :])}"


def _escape(text: str) -> str:
    return re.sub(r"([\\*`|_])", r"\\\1", text)
