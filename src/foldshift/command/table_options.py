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
    click.option("--groups", "--group-on", "-g", metavar="COLUMN", help="The column that says which rows belong together."),
    click.option("--task", type=click.Choice(["classification", "regression"]), help="Kind of the target."),
)


class Structure(NamedTuple):
    """Columns that say which rows belong together, beside the groups, and how far parts are kept apart."""

    time_on: str | None = None
    space_on: tuple[str, ...] = ()
    subset_on: str | None = None
    stratify_on: tuple[str, ...] = ()
    gap: float | None = None
    block_size: float | None = None
    buffer: float | None = None
    test_size: float | None = None
    validation_size: float | None = None

    @property
    def named(self) -> list[tuple[str, str]]:
        """Options with every column that they name."""
        found = [("time_on", self.time_on), ("subset_on", self.subset_on)]
        found += [("space_on", name) for name in self.space_on] + [("stratify_on", name) for name in self.stratify_on]
        return [(option, name) for option, name in found if name is not None]

    def words(self, option: str) -> str | tuple[str, ...]:
        """Columns of one option, as a message shows them."""
        value: str | tuple[str, ...] = getattr(self, option)
        return value


SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
STRUCTURE = (
    click.option("--time-on", metavar="COLUMN", help="The column of the time: test parts are later than what trains."),
    click.option("--space-on", nargs=2, metavar="COLUMN COLUMN", help="The columns of the place: test parts are blocks of it."),
    click.option("--subset-on", metavar="COLUMN", help="The column of the subset: train on the same one, on others, on all."),
    click.option("--stratify-on", multiple=True, metavar="COLUMN", help="A column to balance like the target; again for more."),
    click.option("--test-size", type=SHARE, metavar="SHARE", help="One test part of this share, in place of folds."),
    click.option("--validation-size", type=SHARE, metavar="SHARE", help="Share of a validation part beside the test part."),
    click.option("--gap", type=click.FloatRange(0), metavar="T", help="Time left out before a test part; days for dates."),
    click.option(
        "--block-size", type=click.FloatRange(0, min_open=True), metavar="X", help="Side of a block; by default by the target."
    ),
    click.option(
        "--buffer", type=click.FloatRange(0, min_open=True), metavar="X", help="Distance to test rows within which none trains."
    ),
)


def structure_columns(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that name columns of time, place and subset; it gets them as one argument, ``structure``."""

    @functools.wraps(function)
    def run(**arguments: Any) -> None:
        chosen = {name: arguments.pop(name) for name in ("time_on", "space_on", "subset_on")}
        function(structure=Structure(**chosen | {"space_on": chosen["space_on"] or ()}), **arguments)

    for option in reversed(STRUCTURE[:3]):
        run = option(run)
    return run


def structure_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of structure; it gets them as one argument, ``structure``."""

    @functools.wraps(function)
    def run(**arguments: Any) -> None:
        chosen = {name: arguments.pop(name) for name in Structure._fields}
        function(structure=Structure(**chosen | {"space_on": chosen["space_on"] or ()}), **arguments)

    for option in reversed(STRUCTURE):
        run = option(run)
    return run


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
