"""Comparison of the learners of a table of scores, for the command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from foldshift.command.read_tables import read_all_columns
from foldshift.core.files import write_text
from foldshift.core.remedies import at
from foldshift.inference.score_tables.score_comparison import compare_table
from foldshift.inference.score_tables.stated_cut import with_stated_cut

if TYPE_CHECKING:
    from foldshift.command.table_options import TableOptions
    from foldshift.inference.score_tables.score_columns import TableColumns
    from foldshift.inference.score_tables.stated_cut import Sizes
    from foldshift.inference.score_tables.table_comparison import TableComparison


def compared(
    file: str, options: TableOptions, columns: TableColumns, cut: dict[str, Any], *, sizes: Sizes, **how: Any
) -> tuple[TableComparison, list[str]]:
    """Compare the learners of a table of scores, cut as stated; also return notes on how it was read."""
    table = read_all_columns(file, options)
    of_cut = with_stated_cut(table.frame, columns, sizes, cut)
    return compare_table(of_cut.frame, of_cut.columns, sizes=of_cut.sizes, **how), table.notes


def comparison_json(result: TableComparison, notes: list[str]) -> str:
    """Write all figures as JSON, with the notes on how the table was read."""
    values = result.to_dict(door="command")
    return json.dumps(
        values | {"notes": [*values["notes"], *(at(note, "command") for note in notes)]}, indent=1, ensure_ascii=False
    )


def write_page(result: TableComparison, title: str, path: str) -> None:
    """Write the page of a comparison."""
    from foldshift.command.compare_page import comparison_page

    write_text(path, comparison_page(result, title))
