"""Output of the commands: answers first, in full, and with nothing in them that a terminal obeys."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from foldshift.core.printable import printable_json, printable_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def say(text: str, *, err: bool = False, as_json: bool = False) -> None:
    """Write text and a line feed to standard output, or to standard error."""
    text = text.removesuffix("\n")
    click.echo(printable_json(text) if as_json else printable_lines(text), err=err)


def answer(text: str, *, as_json: bool = False, files: dict[str, Callable[[str], Any]]) -> None:
    """Print an answer, then write it to files, each by a function of its path: a full disk loses neither.

    Where one of them fails, the others are tried, and the first error is raised.
    """
    errors: list[Exception] = []
    try:
        say(text, as_json=as_json)
    except OSError as error:
        errors.append(error)
        drop_unwritten()  # or copies of this process, which run the code of a page, fail on it
    for path, write in files.items():
        try:
            write(path)
        except (OSError, ValueError) as error:
            errors.append(error)
        else:
            say(f"Page: {path}", err=True)
    if errors:
        raise errors[0]


def drop_unwritten() -> None:
    """Drop what standard output did not take, so that Python does not try it again, and fail again, at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Known(KeyboardInterrupt):
    """Ctrl-C after some results were known, which are its text; `is_error` says that they are for standard error."""

    def __init__(self, known: list[str], is_error: bool) -> None:
        super().__init__("\n".join(known))
        self.is_error = is_error


@contextmanager
def known_at_ctrl_c(known: list[str], is_error: bool) -> Iterator[None]:
    """Raise `Known` at Ctrl-C, with the results of the list, if there are any by then."""
    try:
        yield
    except KeyboardInterrupt:
        if known:
            raise Known(known, is_error) from None
        raise
