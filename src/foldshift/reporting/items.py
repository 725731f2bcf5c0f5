"""Tables and figures as studies return them, and their files: every form of an item carries its one caption."""

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
    """A table as a function of a study returns it.

    Attributes
    ----------
    frame : pandas.DataFrame
        The tidy table, one value per row with its keys.
    grid : foldshift.reporting.table_grid.Grid or None
        The same as it is printed; None: as it is. Its caption is that of the item.
    words : dict of str to object
        Words of the caption beside the settings.
    """

    frame: pd.DataFrame
    grid: Grid | None = None
    words: dict[str, Any] | None = None


class FigureResult(NamedTuple):
    """A figure as a function of a study returns it.

    Attributes
    ----------
    figure : matplotlib.figure.Figure or None
        None where this run has nothing to draw.
    words : dict of str to object
        Words of the caption beside the settings.
    reason : str
        Why there is nothing to draw: a sentence without its full stop, which stands in place of the figure.
    """

    figure: Figure | None
    words: dict[str, Any] | None = None
    reason: str = ""


def write_item(
    item: dict[str, str], made: pd.DataFrame | TableResult | FigureResult | Figure, path: PathLike, settings: dict[str, int]
) -> None:
    """Write a table or a figure in all its forms, each with the one caption."""
    kind = FigureResult if item["kind"] == "figure" else TableResult
    made = made if isinstance(made, kind) else kind(made)
    caption = caption_text(item, settings | (made.words or {}))
    if kind is FigureResult:
        from foldshift.reporting.figure_style import reason_figure, save_figure, to_page

        save_figure(path, made.figure or reason_figure(made.reason))
        svg = Path(path).with_suffix(".svg").read_text(encoding="utf-8")
        write_text(Path(path).with_suffix(".html"), to_page(svg, item["title"], caption, made.reason))
    else:
        from foldshift.reporting.table_grid import plain_grid, write_table

        write_table(path, made.frame, dataclasses.replace(made.grid or plain_grid(made.frame), caption=caption))
    write_text(Path(path).with_suffix(".rst"), to_rst(caption, item["title"]) + "\n")


def caption_text(item: dict[str, str], words: dict[str, Any]) -> str:
    """Title and caption as plain text, with the words in braces filled in."""
    try:
        caption = " ".join(item["caption"].split()).format(**words)
    except (KeyError, IndexError, ValueError) as error:
        raise DataError(
            f"caption of {item['name']}: {{{error}}} is no setting of the study and no word that its function returns; write a "
            f"brace that is meant as such twice. Known: {', '.join(sorted(words))}"
        ) from error
    end = "" if item["title"].endswith(("?", "!", ".")) else "."
    return f"{item['title']}{end} {caption}".strip()


def to_rst(text: str, title: str) -> str:
    """A caption as reStructuredText: the title bold, nothing else marked up."""
    head, rest = text[: len(title)], text[len(title) :]
    end = rest[:1] if rest[:1] == "." else ""
    return f"**{_escape(head)}{end}**{_escape(rest[len(end) :])}"


def _escape(text: str) -> str:
    return re.sub(r"([\\*`|_])", r"\\\1", text)
