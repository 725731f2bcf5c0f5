"""Options of every command that reads a user's table: the vocabulary of reading, and the kind of the target."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from foldshift.datasets.readers.read_options import SETTINGS

if TYPE_CHECKING:
    from foldshift.core.types import Task

READING = (
    "sep", "header", "names", "encoding", "decimal", "thousands", "missing", "sheet", "skip_rows", "keep", "drop", "types",
    "nominal", "member",
)  # fmt: skip


class TableOptions(NamedTuple):
    """Choices about a table: how it is read, as given, and the task."""

    reading: dict[str, Any]
    task: Task | None = None


def _option(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    setting = SETTINGS[name]
    text = setting.meaning[:-1] + ("; can be given again." if setting.several else ".")
    return click.option(f"--{name.replace('_', '-')}", metavar=setting.metavar, multiple=setting.several, help=text)


TARGET = (
    click.option("--target", "-t", metavar="COLUMN", help="The column to predict; the last one by default."),
    click.option("--groups", "-g", metavar="COLUMN", help="The column that says which rows belong together."),
    click.option("--task", type=click.Choice(["classification", "regression"]), help="Kind of the target."),
)


def table_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading and of the target; it gets them as one argument, ``options``."""
    return _with_options(function, (*TARGET, *map(_option, READING)), (*READING, "target", "groups"))


def reading_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading; it gets them as one argument, ``options``."""
    return _with_options(function, tuple(map(_option, READING)), READING)


def _with_options(
    function: Callable[..., None], options: tuple[Callable[..., Any], ...], reading: tuple[str, ...]
) -> Callable[..., None]:
    @functools.wraps(function)
    def run(**arguments: Any) -> None:
        chosen = {name: arguments.pop(name) for name in reading}
        function(options=TableOptions(chosen, arguments.pop("task", None)), **arguments)

    for option in reversed(options):
        run = option(run)
    return run
