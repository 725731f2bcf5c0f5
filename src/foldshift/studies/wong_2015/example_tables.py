"""Worked examples of Wong (2015), printed and corrected, and what textbooks say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import EMPTY
from foldshift.reporting.table_grid import Cell, Grid
from foldshift.studies.wong_2015.worked_examples import worked_examples

if TYPE_CHECKING:
    from foldshift.core.types import Inputs


class Textbook(NamedTuple):
    """What a textbook says about cross-validation; "-" where it says nothing."""

    book: str
    folds: str
    fold_size: str
    averaging: str
    repetition: str
    leave_one_out: str


# Table 1.
TEXTBOOKS = (
    Textbook("Alpaydin (2010)", "10 or 30", "np >= 5 and n(1 - p) >= 5", "fold", "suggested", "-"),
    Textbook("Han et al. (2012)", "10", "-", "data set", "suggested", "-"),
    Textbook("Kantardzic (2011)", "-", "-", "fold", "-", "-"),
    Textbook("Mitchell (1997)", "-", "30", "fold", "-", "-"),
    Textbook("Tan et al. (2006)", "large", "-", "data set", "-", "-"),
    Textbook("Witten et al. (2011)", "10", "100", "fold", "suggested", "-"),
)


def examples(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """The worked examples, and Table 1."""
    worked, textbooks = examples_table(), textbooks_table()
    return {
        "examples": TableResult(worked, examples_grid(worked)),
        "table1_textbooks": TableResult(textbooks, textbooks_grid(textbooks)),
    }


def examples_table() -> pd.DataFrame:
    """The worked examples."""
    rows = []
    for row in worked_examples():
        texts = {name: _text(getattr(row, name)) for name in ("paper", "corrected")}
        agrees = (
            "" if row.printed == "-" else "yes" if all(as_printed(row.printed, getattr(row, name)) for name in texts) else "no"
        )
        rows.append(
            {"example": row.example, "item": row.item, "printed": row.printed} | texts | {"agrees": agrees, "note": row.note}
        )
    return pd.DataFrame(rows)


def examples_grid(table: pd.DataFrame) -> Grid:
    """The worked examples as they are printed, a block per example."""
    rows = []
    for example, block in table.groupby("example", sort=False):
        rows.append([example])
        for row in block.itertuples():
            values = [Cell(_shorter(value) or EMPTY, bold=row.agrees == "no") for value in (row.paper, row.corrected)]
            rows.append([row.item, Cell(row.printed), *values, row.note])
    n_wrong = int((table["agrees"] == "no").sum())
    note = f"{n_wrong} of {int((table['agrees'] != '').sum())} printed items do not agree."
    return Grid(["Item", "Printed", "Printed formula", "Corrected", "Note"], rows, [note])


def textbooks_table() -> pd.DataFrame:
    """Table 1 of the paper."""
    return pd.DataFrame(TEXTBOOKS)


def textbooks_grid(table: pd.DataFrame) -> Grid:
    """Table 1 as it is printed."""
    header = ["Textbook", "Folds", "Fold size", "Averaging over", "Repetition", "Leave-one-out"]
    return Grid(header, [[name, *map(Cell, rest)] for name, *rest in table.itertuples(index=False)])


def as_printed(printed: str, value: str | float) -> bool:
    """Whether a value is what is printed, to the digits printed."""
    if isinstance(value, str):
        return value == printed
    try:
        number = float(printed)
    except ValueError:
        return False
    digits = len(printed.partition(".")[2])
    return value is not None and abs(value - number) <= 0.5 * 10**-digits * (1 + 1e-9)


def _text(value: str | float) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.10g}"


def _shorter(text: str) -> str:
    """Six significant digits of a number in text; other text as it is."""
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text
