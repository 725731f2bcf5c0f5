"""Tables as CSV, HTML and LaTeX, with the marks the papers use: shading, underlining, bold, asterisks.

pandas' Styler is not used: it has no heading across a table, refuses two columns with one name, drops underlines in LaTeX, and
gives every cell of the page a name. Page, notes, headings and marks would still be ours around it, in more lines than now.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from foldshift.core.files import write_text
from foldshift.core.printable import harmless_cell
from foldshift.reporting.number_formats import EMPTY, missing

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import PathLike

DIGITS = 10  # significant digits in CSV: more than a reader needs, fewer than the last bits that differ between processors
LONG = 60  # letters; a longer text is broken into lines
CLASS_TEXT = ' class="text"'

STYLE = """
body { font: 15px/1.5 "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; margin: 1.5rem; color: #111; background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
caption { text-align: left; min-width: min(62rem, 94vw); max-width: 62rem; padding-bottom: .8rem; font-size: 14px; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #333; } th:first-child, td:first-child, td.text { text-align: left; }
tr.head td { border-top: 2px solid #333; font-weight: bold; background: #fff; }
td.best { text-decoration: underline; } td.bold { font-weight: bold; }
th.text { text-align: left; } td.long { white-space: normal; min-width: 24rem; max-width: 46rem; }
p.note { max-width: 62rem; font-size: 13px; color: #333; } p.reason { font-weight: bold; }
figure { margin: 0; } figure svg { max-width: 100%; height: auto; }
figcaption { max-width: 62rem; font-size: 14px; padding-top: .8rem; }
"""


TEX = {
    **{one: f"\\{one}" for one in "&%_#${}"},
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\\": "\\textbackslash{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "\\textquotedbl{}",
}  # special characters of LaTeX, and those that its usual font shows as others


@dataclass
class TableCell:
    """One cell of a printed table."""

    text: str  # text of the cell
    shade: float = 0.0  # from 0 (white) to 1 (the darkest grey the paper uses): better results are darker
    bold: bool = False  # bold, underline: Marks
    underline: bool = False


@dataclass
class Grid:
    """A printed table."""

    header: list[str]  # column heads
    rows: list[list[TableCell | str]]  # cells; a row with a single entry is a heading across the table
    notes: list[str] = field(default_factory=list)  # notes printed below the table
    caption: str = ""  # explanation for a reader who has not read the paper; a study's table gets the caption of its item


def shades(values: list[float], lower_is_better: bool = True) -> list[float]:
    """Compute the grey of every value, linear between the worst (0) and the best (1); NaN is white."""
    present = [v for v in values if v == v]
    low, high = (min(present), max(present)) if present else (0.0, 0.0)
    if not high > low:
        return [0.0 for _ in values]
    scaled = [(high - v) / (high - low) if lower_is_better else 1 - (high - v) / (high - low) for v in values]
    return [s if s == s else 0.0 for s in scaled]


def to_csv(frame: pd.DataFrame) -> str:
    """Write a data frame as CSV text: 10 significant digits, empty for missing, line feeds.

    Texts that a spreadsheet would take for formulas, such as a class called ``=1+2``, begin with an apostrophe; numbers stay.
    """
    shown = frame.set_axis([harmless_cell(name) for name in frame.columns], axis=1)
    for i in range(frame.shape[1]):
        before = list(frame.iloc[:, i]) if frame.dtypes.iloc[i].kind == "O" else []
        after = [harmless_cell(value) for value in before]
        if any(one is not other for one, other in zip(before, after)):  # other columns keep their type, and with it their bytes
            shown.isetitem(i, after)
    return shown.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def to_html(grid: Grid) -> str:
    """Make a self-contained HTML page with one table."""
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8"><title>',
        html.escape(grid.caption.split(". ")[0].rstrip(".")),
        "</title>",
    ]
    lines += [f"<style>{STYLE}</style></head><body><table>", f"<caption>{html.escape(grid.caption)}</caption>"]
    return "\n".join([*lines, html_rows(grid) + "</table>", *map(html_note, grid.notes)]) + "\n</body></html>\n"


def html_rows(grid: Grid) -> str:
    """Write head and body of a table, without the caption."""
    cells = list(zip(*(row for row in grid.rows if len(row) == len(grid.header))))
    texts = [bool(column) and all(isinstance(cell, str) for cell in column) for column in cells] or [False] * len(grid.header)
    heads = [f"<th{CLASS_TEXT * text}>{html.escape(name)}</th>" for name, text in zip(grid.header, texts)]
    lines = [f"<thead><tr>{''.join(heads)}</tr></thead><tbody>"]
    for row in grid.rows:
        if len(row) == 1:
            lines.append(f'<tr class="head"><td class="text" colspan="{len(grid.header)}">{html.escape(str(row[0]))}</td></tr>')
        else:
            lines.append("<tr>" + "".join(_html_cell(cell) for cell in row) + "</tr>")
    return "\n".join([*lines, "</tbody>"])


class TableParts(NamedTuple):
    """Parts of a table on its page, as HTML."""

    caption: str
    rows: str  # head and body
    notes: str


def table_parts(page: str) -> TableParts:
    """Take the page that `to_html` wrote apart, so that another page can show the table."""
    found = re.search(r"<table>\n<caption>(.*?)</caption>\n(.*?)</table>\n(.*)</body>", page, re.DOTALL)
    return TableParts(found[1], found[2], found[3].strip()) if found else TableParts("", "", "")


def html_note(note: str) -> str:
    """Write a note below a table."""
    return f'<p class="note">{html.escape(note)}</p>'


def _html_cell(cell: str | TableCell) -> str:
    if not isinstance(cell, TableCell):
        long = " long" * (len(str(cell)) > LONG)
        return f'<td class="text{long}">{html.escape(str(cell))}</td>'
    marks = (("best", cell.underline), ("bold", cell.bold), ("text long", len(cell.text) > LONG))
    classes = [name for name, on in marks if on]
    shade = f' style="background:rgb({_grey(cell.shade)},{_grey(cell.shade)},{_grey(cell.shade)})"' if cell.shade else ""
    return f"<td{' class=' + chr(34) + ' '.join(classes) + chr(34) if classes else ''}{shade}>{html.escape(cell.text)}</td>"


def _grey(shade: float) -> int:
    return round(255 - 95 * shade)


def to_tex(grid: Grid) -> str:
    """Write a LaTeX table for the packages booktabs and xcolor (option table)."""
    columns = "l" + "r" * (len(grid.header) - 1)
    lines = [
        "% \\usepackage{booktabs} \\usepackage[table]{xcolor}",
        "\\begin{table}",
        f"\\caption{{{_tex(grid.caption)}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        " & ".join(_tex(name) for name in grid.header) + " \\\\",
        "\\midrule",
    ]
    for row in grid.rows:
        if len(row) == 1:
            lines.append(f"\\multicolumn{{{len(grid.header)}}}{{l}}{{\\textbf{{{_tex(str(row[0]))}}}}} \\\\")
        else:
            lines.append(" & ".join(_tex_cell(cell) for cell in row) + " \\\\")
    lines += ["\\bottomrule", "\\end{tabular}", "\\end{table}"]
    return "\n".join(lines) + "\n"


def _tex_cell(cell: str | TableCell) -> str:
    if not isinstance(cell, TableCell):
        return _tex(str(cell))
    text = _tex(cell.text)
    if cell.underline:
        text = f"\\underline{{{text}}}"
    if cell.bold:
        text = f"\\textbf{{{text}}}"
    return f"\\cellcolor[gray]{{{_grey(cell.shade) / 255:.3f}}}{text}" if cell.shade else text


def _tex(text: str) -> str:
    """Write a text for LaTeX; its special characters become commands, control characters a blank."""
    return "".join(TEX.get(one, one if one.isprintable() else " ") for one in text).replace(" *", "$^{*}$")


def write_table(path: PathLike, frame: pd.DataFrame, grid: Grid) -> None:
    """Write a table as CSV, HTML and LaTeX."""
    for suffix, text in ((".csv", to_csv(frame)), (".html", to_html(grid)), (".tex", to_tex(grid))):
        write_text(Path(path).with_suffix(suffix), text)


def plain_grid(frame: pd.DataFrame, notes: Sequence[str] = (), digits: int = 4) -> Grid:
    """Lay out a data frame as a table without marks; heads are the names of its columns in words, ``p_value`` as "p value"."""
    rows = [[_plain(value, digits) for value in row] for row in frame.itertuples(index=False)]
    return Grid([str(name).replace("_", " ") for name in frame.columns], rows, list(notes))


def _plain(value: str | float, digits: int) -> str | TableCell:
    if isinstance(value, str):
        return value
    if missing(value):
        return TableCell(EMPTY)
    return TableCell(f"{value:.{digits}g}" if isinstance(value, float) else str(value))
