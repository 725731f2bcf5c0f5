"""Options of every command that reads a user's table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from foldshift.core.types import Task


class TableOptions(NamedTuple):
    """Choices about the columns of a table; columns by name."""

    target: str | None = None
    groups: str | None = None
    task: Task | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()


OPTIONS = (
    click.option("--target", "-t", metavar="COLUMN", help="The column to predict; the last one by default."),
    click.option("--groups", "-g", metavar="COLUMN", help="The column that says which rows belong together."),
    click.option("--task", type=click.Choice(["classification", "regression"]), help="Kind of the target."),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Leave out a column; can be given again."),
    click.option("--keep", metavar="COLUMN", multiple=True, help="Keep a column that does not look like an input."),
    click.option("--nominal", metavar="COLUMN", multiple=True, help="Read the numbers in this column as labels."),
)


def table_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; it gets them as one argument, ``options``."""

    @functools.wraps(function)
    def run(**arguments: Any) -> None:
        chosen = {name: arguments.pop(name) for name in TableOptions._fields}
        function(options=TableOptions(**chosen), **arguments)

    for option in reversed(OPTIONS):
        run = option(run)
    return run
