"""Pages of published tables and figures: laid out anew by the code of this version from the published files, and labelled so."""

from __future__ import annotations

import inspect
import logging
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.core.files import write_text
from foldshift.reporting.items import FigureResult
from foldshift.reporting.table_grid import Grid, TableCell, plain_grid, to_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.core.types import PathLike

MOST_ROWS = 500  # of a table that is shown as its columns are
EARLIER = "Shown as its columns are: it was published by an earlier version, whose columns the layout of this one does not fit."
ANEW = "Laid out from the published CSV file by the code of this version."


def title_line(facts: dict[str, Any]) -> str:
    """Label what is published: commit, date and seeds of the run that made it.

    >>> facts = {"commit": "e3f7c1b6ba3e", "ended": "2026-11-28T00:03:00", "master_seed": 7, "settings": {"n_seeds": 1000}}
    >>> title_line(facts)
    'Published, full scale: commit e3f7c1b, 2026-11-28, 1000 seeds (master seed 7)'
    """
    n_seeds = facts["settings"].get("n_seeds")
    seeds = f"{n_seeds} seeds (master seed {facts['master_seed']})" if n_seeds else f"master seed {facts['master_seed']}"
    return f"Published, full scale: commit {facts['commit'][:7]}, {facts['ended'][:10]}, {seeds}"


def write_published(item: dict[str, Any], path: PathLike, show: Callable[..., Any] | None, facts: dict[str, Any]) -> None:
    """Write the page of a published item, and beside it the table as it was published or the figure.

    `item` has kind, name, title, ``source`` (the published file), ``table`` (the published table that `show` takes), ``caption``
    (reStructuredText) and ``arguments`` (further ones of `show`). `show` lays out the table, or draws the figure. Where there is
    none, or it does not fit the columns of an earlier version, the table is shown as it is, and the figure copied.
    """
    path, caption = Path(path), f"{title_line(facts)}. {published_caption(item['caption'])}".strip()
    settings = facts["settings"] | {"master_seed": facts["master_seed"]}
    made, notes = None, []
    if show is not None:
        try:
            made = _called(item, show, settings | item["arguments"])
        except Exception as error:  # columns of an earlier version may break the layout anywhere
            reason = f"{type(error).__name__}: {error}"
            logging.warning("%s: published by an earlier version, shown as it is (%s)", item["name"], reason)
            notes.append(EARLIER)
    if item["kind"] == "figure":
        _write_figure(item, path, made, caption)
    else:
        shutil.copyfile(item["source"], path.with_suffix(".csv"))
        write_text(path, to_html(replace(made if isinstance(made, Grid) else _as_it_is(item, notes), caption=caption)))


def _write_figure(item: dict[str, Any], path: Path, made: Any, caption: str) -> None:
    """Write the page of a figure and, beside it, the figure that was drawn anew or else the published one."""
    from foldshift.reporting.figure_style import save_figure, to_page

    image = path.with_suffix(".svg")
    if made is None:
        shutil.copyfile(item["source"], image)
    else:
        save_figure(image, made, ["svg"])
    write_text(path, to_page(image.read_text(encoding="utf-8"), item["title"], caption))


def _as_it_is(item: dict[str, Any], notes: list[str]) -> Grid:
    """Show a published table as its columns are."""
    frame = read_table(item["source"])
    more = [f"The first {MOST_ROWS} of {len(frame)} rows; the CSV file has them all."] * (len(frame) > MOST_ROWS)
    return plain_grid(frame.head(MOST_ROWS), notes + more)


def _called(item: dict[str, Any], show: Callable[..., Any], words: dict[str, Any]) -> Grid | Figure | None:
    """Call the function that shows an item.

    A CSV file does not say whether a column that is empty throughout is one of texts or of numbers: both are tried.
    """
    try:
        made = show_from(show, read_table(item["table"], empty_is_text=True), words)
    except Exception:
        made = show_from(show, read_table(item["table"]), words)
    if isinstance(made, Grid):
        return replace(made, rows=[[_text(cell) for cell in row] for row in made.rows], notes=[*made.notes, ANEW])
    return made.figure if isinstance(made, FigureResult) else made


def show_from(show: Callable[..., Any], frame: pd.DataFrame, words: dict[str, Any]) -> Any:
    """Call a function with a data frame and those of its further parameters that are among some words."""
    names = list(inspect.signature(show).parameters)[1:]
    return show(frame, **{name: words[name] for name in names if name in words})


def read_table(path: PathLike, empty_is_text: bool = False) -> pd.DataFrame:
    """Read a published table: only empty fields are missing, and those of a column of texts are empty texts."""
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])

    def is_text(column: pd.Series) -> bool:
        known = column.dropna()
        return empty_is_text if known.empty else all(isinstance(value, str) for value in known)

    return frame.assign(**{name: frame[name].astype(object).fillna("") for name in frame if is_text(frame[name])})


def published_caption(path: PathLike) -> str:
    """Read the published caption as plain text; empty where there is none."""
    file = Path(path)
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return re.sub(r"\\(.)", r"\1", text.replace("**", "")).strip()


def _text(cell: TableCell | str) -> TableCell | str:
    """Return a cell whose text is one: a number is written, and a missing one, as of a column of texts without any, is empty."""
    text = cell.text if isinstance(cell, TableCell) else cell
    if isinstance(text, str):
        return cell
    written = "" if text != text else f"{text:g}"
    return replace(cell, text=written) if isinstance(cell, TableCell) else written
